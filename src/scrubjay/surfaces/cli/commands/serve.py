"""`serve`: the store over HTTP and MCP, until it is told to stop."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from scrubjay import config
from scrubjay.errors import InvalidInput, MissingExtra
from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.render.terminal import err, out

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from typing import Any

    from mcp.server.lowlevel import Server

    from scrubjay.config import Settings
    from scrubjay.surfaces.callers import OpenStores, Principal
    from scrubjay.surfaces.http.metrics import Monitoring
    from scrubjay.surfaces.http.settings import ServerSettings
    from scrubjay.surfaces.render.terminal import Screen


def serve(args: Namespace, screen: Screen) -> int:
    """Listen, answer, and stop in good order; 1 where something was still under way at the end."""
    from scrubjay.surfaces.cli.session import settings_of
    from scrubjay.surfaces.http.settings import server_settings

    # A tenant that is typed says whose store is served. The tokens are where `token` keeps them: in the
    # store without one, or in that of the tenant of the settings.
    config.typed = config.typed._replace(tenant=None)
    settings = settings_of(args)
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
    from scrubjay.surfaces.callers import store_opener

    watch = Monitoring()
    stores = watch.open_stores(store_opener(args.db, own.user), own.tenant)
    try:
        return _serve(stores, own, wanted, watch, make_server, args)
    finally:
        stores.close()
        watch.close()


def _own(args: Namespace, settings: Settings) -> Principal:
    """Return whoever asks without a token: everybody, or who was typed or is in the settings."""
    from scrubjay.surfaces.callers import Principal
    from scrubjay.text.urls import check_tenant

    tenant = None if args.tenant is None else check_tenant(args.tenant)
    if tenant is not None and settings.tenant not in (None, tenant):
        raise InvalidInput(
            f"the settings name the tenant {settings.tenant}, whose store keeps no token for {tenant};"
            " take the tenant out of the settings, or serve without --tenant"
        )
    user = args.user if args.user is not None else settings.user
    return Principal(tenant=tenant or settings.tenant, user=user)


def _serve(
    stores: OpenStores,
    own: Principal,
    wanted: ServerSettings,
    watch: Monitoring,
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
        admission = ApiKeyLookup(stores, loopback=loopback, own=own)
        with stores.lend(
            own
        ):  # one that cannot be opened says so now; its model is loaded from now on
            admission.requires_key()
        if not loopback and not admission.has_key():
            words = (
                f"token create NAME --tenant {args.tenant}" if args.tenant else "token create NAME"
            )
            raise InvalidInput(
                f"{wanted.host} can be reached from other machines, and there is no token; make one"
                f" first: {to_type(words, args.db)}, or serve on 127.0.0.1"
            )
        url = listen.url_of(socket)
        doors = ServerContext.create(
            stores,
            admission,
            wanted,
            watch,
            own=own,
            names=(wanted.host, *wanted.allow_hosts),
        )
        # Whoever reads this is who started it; where tokens are asked for, the page asks for one.
        code = doors.logins.new_link_code() if admission(None) is not None else ""
        here, *elsewhere = listen.browser_urls(socket, wanted.allow_hosts)
        page = web_ui_url(here, code)
        asked_in = threads_of(doors.workers)
        doors = doors._replace(mcp=make_server(stores, principal_in, wanted.tools, asked_in))

        def listening() -> None:
            if args.json:
                from scrubjay.surfaces.render.json import line

                out(line({"url": url, "pid": os.getpid(), "page": page}))
                sys.stdout.flush()
            err(f"scrubjay listens on {url} (Ctrl-C stops)")
            err(f"open the page in a browser: {page}")
            for place in elsewhere:
                err(f"from other machines: {web_ui_url(place)}")

        listen.log_to_stderr()
        listener = listen.http_server(make_app(doors), listening)
        listener.run([socket])
    if doors.workers.close(listener.left_s) and doors.auth_workers.close(1.0):
        err("scrubjay: stopped; what was answered is stored")
        return 0
    # A thread that hangs would keep the process, which was told to stop, for ever.
    err(f"scrubjay: stopped; something still ran after {listen.SHUTDOWN_S} seconds and was left")
    os._exit(1)
