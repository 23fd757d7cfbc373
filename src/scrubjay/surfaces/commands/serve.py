"""`serve`: the store over HTTP and MCP, until it is told to stop."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, MissingExtra
from scrubjay.surfaces.terminal import err, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.callers import OpenStores
    from scrubjay.surfaces.http.settings import ServerSettings
    from scrubjay.surfaces.terminal import Screen


def serve(args: Namespace, screen: Screen) -> int:
    """Listen, answer, and stop in good order; 1 where something was still under way at the end."""
    from scrubjay.surfaces.callers import OpenStores
    from scrubjay.surfaces.http.settings import server_settings
    from scrubjay.surfaces.opened import opener
    from scrubjay.surfaces.session import settings_of

    settings = settings_of(args)
    typed = {name: getattr(args, name) for name in ("host", "port", "tools", "allow_hosts")}
    typed |= {"rate_per_s": args.rate, "max_body_mb": args.max_body_mb}
    wanted = server_settings(settings.server, typed, settings.config_file)
    stores = OpenStores(opener(args.db, args.user))
    try:
        return _serve(stores, wanted, as_json=args.json)
    finally:
        stores.close()


def _serve(stores: OpenStores, wanted: ServerSettings, *, as_json: bool) -> int:
    try:
        from scrubjay.surfaces.http import serving
        from scrubjay.surfaces.http.app import Doors, make_app
        from scrubjay.surfaces.http.mounting import principal_in
        from scrubjay.surfaces.mcp.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("scrubjay"):
            raise
        raise MissingExtra("The server", 'pip install "scrubjay[server]"') from error
    from scrubjay.surfaces.http.admission import admission, has_tokens

    socket = serving.bind(wanted.host, wanted.port)
    with socket:
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
            names=(wanted.host, *wanted.allow_hosts),
            mcp=make_server(stores, principal_in, wanted.tools),
        )

        def listening() -> None:
            if as_json:
                from scrubjay.surfaces.shapes import line

                out(line({"url": url, "pid": os.getpid()}))
                sys.stdout.flush()
            serving.say_where(url)

        serving.log_to_stderr()
        serving.listener(make_app(doors), listening).run([socket])
    if doors.workers.close(serving.FINISH_S) and doors.desk.close(1.0):
        err("scrubjay: stopped; what was answered is stored")
        return 0
    # A thread that hangs would keep the process, which was told to stop, for ever.
    err(f"scrubjay: stopped; something still ran after {serving.FINISH_S} seconds and was left")
    os._exit(1)
