"""`serve` and `mcp`: the store over HTTP and MCP, or to one agent over standard input and output."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any

from scrubjay import config
from scrubjay.config import Settings
from scrubjay.errors import InvalidInput, MissingExtra
from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.callers import OpenStores, Principal, store_opener
from scrubjay.surfaces.render.json import line
from scrubjay.surfaces.render.terminal import Screen, err, out
from scrubjay.text.urls import check_tenant

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from scrubjay.surfaces.http.metrics import Monitoring
    from scrubjay.surfaces.http.settings import ServerSettings


def serve(args: Namespace, screen: Screen) -> int:
    from scrubjay.surfaces.http.settings import server_settings

    # A tenant that is typed chooses the store that is served. API keys are where `key` stores them: in
    # the database without a tenant, or in that of the tenant of the settings.
    config.typed = config.typed._replace(tenant=None)
    settings = config.load(db=args.db)
    own = _own(args, settings)
    typed = {name: getattr(args, name) for name in ("host", "port", "tools", "allow_hosts")}
    typed |= {"rate_per_s": args.rate, "max_body_mb": args.max_body_mb}
    wanted = server_settings(settings.server, typed, settings.config_file)
    try:
        from scrubjay.surfaces.http.metrics import Monitoring
        from scrubjay.surfaces.mcp.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("scrubjay"):
            raise
        raise MissingExtra("The server", 'pip install "scrubjay[server]"') from error
    monitoring = Monitoring()
    stores = monitoring.open_stores(store_opener(args.db, own.user), own.tenant)
    with closing(monitoring), closing(stores):
        return _serve(stores, own, wanted, monitoring, make_server, args)


def _own(args: Namespace, settings: Settings) -> Principal:
    """Return the principal of callers without an API key: all users, or the typed or configured one."""
    tenant = None if args.tenant is None else check_tenant(args.tenant)
    if tenant is not None and settings.tenant not in (None, tenant):
        raise InvalidInput(
            f"the settings name the tenant {settings.tenant}, whose store has no API keys for {tenant};"
            " remove the tenant from the settings, or serve without --tenant"
        )
    user = args.user if args.user is not None else settings.user
    return Principal(tenant=tenant or settings.tenant, user=user)


def _serve(
    stores: OpenStores,
    own: Principal,
    wanted: ServerSettings,
    monitoring: Monitoring,
    make_server: Callable[..., Server[Any]],
    args: Namespace,
) -> int:
    from scrubjay.surfaces.http import listen
    from scrubjay.surfaces.http.app import ServerContext, make_app
    from scrubjay.surfaces.http.auth import ApiKeyLookup
    from scrubjay.surfaces.http.logins import web_ui_url
    from scrubjay.surfaces.http.mcp_mount import principal_in, threads_of

    with listen.bind(wanted.host, wanted.port) as socket:
        loopback = listen.is_loopback(socket)
        keys = ApiKeyLookup(stores, loopback=loopback, own=own)
        with stores.lend(own):  # fails now if it cannot be opened; begins to load the model
            keys.requires_key()
        if not loopback and not keys.has_key():
            words = f"key create NAME --tenant {args.tenant}" if args.tenant else "key create NAME"
            raise InvalidInput(
                f"{wanted.host} can be reached from other machines, and there is no API key; create one"
                f" first: {to_type(words, args.db)}, or serve on 127.0.0.1"
            )
        url = listen.url_of(socket)
        context = ServerContext.create(
            stores, keys, wanted, monitoring, own=own, names=(wanted.host, *wanted.allow_hosts)
        )
        # The reader of this link started the server; if keys are required, the web UI asks for one.
        code = context.logins.new_link_code() if keys(None) is not None else ""
        here, *elsewhere = listen.browser_urls(socket, wanted.allow_hosts)
        web_ui = web_ui_url(here, code)
        threads = threads_of(context.workers)
        context = context._replace(mcp=make_server(stores, principal_in, wanted.tools, threads))

        def listening() -> None:
            if args.json:
                out(line({"url": url, "pid": os.getpid(), "page": web_ui}))
                sys.stdout.flush()
            err(f"scrubjay listens on {url} (Ctrl-C stops)")
            err(f"web UI: {web_ui}")
            for place in elsewhere:
                err(f"from other machines: {web_ui_url(place)}")

        listen.log_to_stderr()
        server = listen.http_server(make_app(context), listening)
        server.run([socket])
    if context.workers.close(server.left_s) and context.auth_workers.close(1.0):
        err("scrubjay: stopped; everything answered is stored")
        return 0
    # A thread that hangs would keep the stopped process alive.
    err(f"scrubjay: stopped; a request still ran after {listen.SHUTDOWN_S} seconds")
    os._exit(1)


def mcp(args: Namespace, screen: Screen) -> int:
    """Serve one agent until it closes the connection; the store is opened by its first call."""
    from scrubjay.surfaces.mcp.pipes import take_pipes

    pipes = take_pipes()  # before an import that may print
    try:
        from scrubjay.surfaces.mcp.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise MissingExtra("mcp", 'pip install "scrubjay[mcp]"') from None
    from scrubjay.surfaces.mcp.stdio import serve

    stores = OpenStores(store_opener(args.db, args.user))
    caller = Principal(tenant=args.tenant, user=args.user)
    with closing(stores):
        serve(make_server(stores, lambda _: caller, args.tools), pipes)
    return 0
