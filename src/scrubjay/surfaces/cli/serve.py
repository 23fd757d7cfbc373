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
from scrubjay.errors import InvalidInput, MissingExtra, StoreError
from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.callers import OpenStores, Principal, store_opener
from scrubjay.surfaces.render.json import line
from scrubjay.surfaces.render.terminal import Screen, err, out
from scrubjay.text.urls import check_tenant

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from scrubjay.surfaces.http.metrics import Monitoring
    from scrubjay.surfaces.http.settings import ServerSettings
    from scrubjay.surfaces.owner_key import OwnerKey

_SAME_NAME = (
    "host",
    "port",
    "tools",
    "allow_hosts",
    "max_body_mb",
    "max_answer_mb",
    "socket",
    "recall_tags",
)


def serve(args: Namespace, screen: Screen) -> int:
    from scrubjay.surfaces.http.settings import server_settings

    # A tenant that is typed chooses the store that is served. API keys are where `key` stores them: in
    # the database without a tenant, or in that of the tenant of the settings.
    config.typed = config.typed._replace(tenant=None)
    settings = config.load(db=args.db)
    own = _own(args, settings)
    typed = {name: getattr(args, name) for name in _SAME_NAME}
    typed |= {"rate_per_s": args.rate, "no_auth": args.no_auth or None}
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
    from scrubjay.surfaces.http import listen, unix_socket
    from scrubjay.surfaces.http.app import ServerContext, make_app
    from scrubjay.surfaces.http.auth import ApiKeyLookup
    from scrubjay.surfaces.http.logins import web_ui_url
    from scrubjay.surfaces.http.mcp_mount import principal_in, threads_of

    path = wanted.socket
    binding = unix_socket.bind_path(path) if path else listen.bind(wanted.host, wanted.port)
    with binding as socket:
        loopback = bool(path) or listen.is_loopback(socket)
        if wanted.no_auth and not loopback:
            raise InvalidInput(
                f"{wanted.host} can be reached from other machines, so --no-auth does not apply; serve"
                " on 127.0.0.1, or leave it out"
            )
        owner = _owner_key(stores, wanted)
        # Who can connect to the socket of a path is the owner: the system has checked it.
        keys = ApiKeyLookup(
            stores,
            loopback=loopback,
            own=own,
            owner_key=owner and owner.secret,
            no_auth=wanted.no_auth or bool(path),
        )
        with stores.lend(own):  # fails now if it cannot be opened; begins to load the model
            keys.requires_key()
        if not loopback and not keys.has_key():
            words = f"key create NAME --tenant {args.tenant}" if args.tenant else "key create NAME"
            raise InvalidInput(
                f"{wanted.host} can be reached from other machines, and there is no API key; create one"
                f" first: {to_type(words, args.db)}, or serve on 127.0.0.1"
            )
        url = unix_socket.URL if path else listen.url_of(socket)
        context = ServerContext.create(
            stores,
            keys,
            wanted,
            monitoring,
            own=own,
            names=(wanted.host, *wanted.allow_hosts),
            owner_key=owner and owner.secret,
        )
        # The reader of this link started the server; if the store has API keys, the web UI asks for one.
        has_link = loopback and not path and not keys.asks_for_api_keys()
        code = context.logins.new_link_code() if has_link else ""
        places = [url] if path else listen.browser_urls(socket, wanted.allow_hosts)
        web_ui = web_ui_url(places[0], code)
        threads = threads_of(context.workers)
        context = context._replace(
            mcp=make_server(stores, principal_in, wanted.tools, threads, wanted.recall_tags)
        )

        def listening() -> None:
            if args.json:
                files = {"key_file": owner and owner.path, "socket": path}
                out(line({"url": url, "pid": os.getpid(), "page": web_ui, **files}))
                sys.stdout.flush()
            for told in _welcome(url, web_ui, path, owner, keyless=keys(None) is not None):
                err(told)
            for place in places[1:]:
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


def _owner_key(stores: OpenStores, wanted: ServerSettings) -> OwnerKey | None:
    """Return the owner's key, created where it is needed; a server of API keys alone starts without it."""
    from scrubjay.surfaces.callers import UNRESTRICTED
    from scrubjay.surfaces.owner_key import ensure_owner_key, read_owner_key

    is_needed = not wanted.no_auth and not wanted.socket
    try:
        return ensure_owner_key() if is_needed else read_owner_key()
    except StoreError as error:
        with stores.lend(UNRESTRICTED) as store:
            if is_needed and store.api_keys.asks() is None:
                raise
        err(f"scrubjay: serving without the owner's key: {error}")
        return None


def _welcome(
    url: str, web_ui: str, path: str | None, owner: OwnerKey | None, *, keyless: bool
) -> list[str]:
    """Return where the server listens, and the command that calls it; no secret but the code of the link."""
    from shlex import quote

    if path:
        command = f"curl --unix-socket {quote(path)} {url}/v1/status"
        lines = [f"scrubjay listens on {path} (Ctrl-C stops)"]
    else:
        command = f"curl {url}/v1/status"
        lines = [f"scrubjay listens on {url} (Ctrl-C stops)", f"web UI: {web_ui}"]
    if not keyless and owner is not None:
        command = command.replace("curl ", f"curl -H {quote('@' + owner.header_path)} ", 1)
        lines.append(f"API key of the owner: {owner.path}")
    if keyless or owner is not None:
        lines.append(f"try it: {command}")
    return lines


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
    server = make_server(stores, lambda _: caller, args.tools, recall_tags=args.recall_tags)
    with closing(stores):
        serve(server, pipes)
    return 0
