"""`serve`: the store over HTTP and MCP, until it is told to stop."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, MissingExtra
from scrubjay.surfaces.terminal import err, out

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from typing import Any

    from mcp.server.lowlevel import Server

    from scrubjay.surfaces.callers import OpenStores
    from scrubjay.surfaces.http.settings import ServerSettings
    from scrubjay.surfaces.http.watching import Watch
    from scrubjay.surfaces.terminal import Screen


def serve(args: Namespace, screen: Screen) -> int:
    """Listen, answer, and stop in good order; 1 where something was still under way at the end."""
    from scrubjay.surfaces.http.settings import server_settings
    from scrubjay.surfaces.session import settings_of

    settings = settings_of(args)
    typed = {name: getattr(args, name) for name in ("host", "port", "tools", "allow_hosts")}
    typed |= {"rate_per_s": args.rate, "max_body_mb": args.max_body_mb}
    wanted = server_settings(settings.server, typed, settings.config_file)
    try:
        from scrubjay.surfaces.http.watching import Watch
        from scrubjay.surfaces.mcp.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("scrubjay"):
            raise
        raise MissingExtra("The server", 'pip install "scrubjay[server]"') from error
    from scrubjay.surfaces.opened import opener

    watch = Watch()
    stores = watch.stores(opener(args.db, args.user))
    try:
        return _serve(stores, wanted, watch, make_server, as_json=args.json)
    finally:
        stores.close()
        watch.close()


def _serve(
    stores: OpenStores,
    wanted: ServerSettings,
    watch: Watch,
    make_server: Callable[..., Server[Any]],
    *,
    as_json: bool,
) -> int:
    from scrubjay.surfaces.http import serving
    from scrubjay.surfaces.http.admission import admission, has_tokens
    from scrubjay.surfaces.http.app import Doors, make_app
    from scrubjay.surfaces.http.mounting import principal_in, threads_of

    with serving.bind(wanted.host, wanted.port) as socket:
        loopback = serving.is_loopback(socket)
        if not has_tokens(stores) and not loopback:
            raise InvalidInput(
                f"{wanted.host} can be reached from other machines, and the store has no token; make one"
                " first: scrubjay token create NAME, or serve on 127.0.0.1"
            )
        url = serving.url_of(socket)
        doors = Doors.of(
            stores,
            admission(stores, loopback=loopback),
            wanted,
            watch,
            names=(wanted.host, *wanted.allow_hosts),
        )
        asked_in = threads_of(doors.workers)
        doors = doors._replace(mcp=make_server(stores, principal_in, wanted.tools, asked_in))

        def listening() -> None:
            if as_json:
                from scrubjay.surfaces.shapes import line

                out(line({"url": url, "pid": os.getpid()}))
                sys.stdout.flush()
            err(f"scrubjay listens on {url} (Ctrl-C stops)")

        serving.log_to_stderr()
        listener = serving.listener(make_app(doors), listening)
        listener.run([socket])
    if doors.workers.close(listener.left_s) and doors.desk.close(1.0):
        err("scrubjay: stopped; what was answered is stored")
        return 0
    # A thread that hangs would keep the process, which was told to stop, for ever.
    err(f"scrubjay: stopped; something still ran after {serving.FINISH_S} seconds and was left")
    os._exit(1)
