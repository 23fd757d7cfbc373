"""`landscape`: what is stored, in few words, for the beginning of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.session import open_store
from scrubjay.surfaces.terminal import clean, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.terminal import Screen

_NOTHING_FOUND = 3


def landscape(args: Namespace, screen: Screen) -> int:
    """Print topics, preferences, open tasks and what is new, in at most so many tokens."""
    with open_store(args.db, args.user) as store:
        seen = store.landscape(tokens=args.tokens, namespace=args.namespace)
    if args.json:
        from scrubjay.surfaces.shapes import dumps, plain

        out(dumps(plain(seen)))
    else:  # without colours: it is made to be pasted
        out(clean(seen.text))
    return 0 if seen.memories else _NOTHING_FOUND
