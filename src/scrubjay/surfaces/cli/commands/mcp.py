"""`mcp`: the store as tools for one agent, over the pipes of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.mcp.pipes import take_pipes

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen


def mcp(args: Namespace, screen: Screen) -> int:
    """Serve until the client hangs up; the store is opened when it is first asked for."""
    pipes = take_pipes()  # before anything is imported that may print
    try:
        from scrubjay.surfaces.mcp.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        from scrubjay.errors import MissingExtra

        raise MissingExtra("mcp", 'pip install "scrubjay[mcp]"') from None
    from scrubjay.surfaces.callers import OpenStores, Principal, store_opener
    from scrubjay.surfaces.mcp.stdio import serve

    stores = OpenStores(store_opener(args.db, args.user))
    me = Principal(tenant=args.tenant, user=args.user)
    try:
        serve(make_server(stores, lambda _: me, args.tools), pipes)
    finally:
        stores.close()
    return 0
