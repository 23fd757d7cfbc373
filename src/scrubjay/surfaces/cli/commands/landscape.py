"""`landscape`: what is stored, in few words, for the beginning of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.cli.session import (
    fetch_model,
    open_store,
    profile_of,
    settings_of,
    words_of,
)
from scrubjay.surfaces.render.terminal import clean, err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen

_NOTHING_FOUND = 3


def landscape(args: Namespace, screen: Screen) -> int:
    """Print topics, preferences, open tasks and what is new, in at most so many tokens.

    With a question, what a search finds on it, marked for a prompt.
    """
    if args.question:
        return _on_question(args)
    with open_store(args.db, args.user) as store:
        seen = store.landscape(tokens=args.tokens, namespace=args.namespace)
    if args.json:
        from scrubjay.surfaces.render.json import dumps, plain

        out(dumps(plain(seen)))
    else:  # without colours: it is made to be pasted
        out(clean(seen.text))
    return 0 if seen.memories else _NOTHING_FOUND


def _on_question(args: Namespace) -> int:
    from scrubjay.insight.landscape import check_tokens
    from scrubjay.surfaces.context import question_context

    check_tokens(args.tokens)
    settings = settings_of(args)
    with open_store(args.db, args.user) as store:
        if profile_of(settings.profile, None).uses("embed_query"):
            fetch_model(settings)  # what is missing afterwards is in the answer's own notes
        where = {} if args.namespace is None else {"namespace": args.namespace}
        shape = question_context(store, words_of(args.question), args.tokens, where)
    if args.json:
        from scrubjay.surfaces.render.json import dumps

        out(dumps(shape))
    elif shape["text"]:
        out(clean(shape["text"]))
    for why in shape["degraded"]:
        err(f"scrubjay: {one_line(why)}")
    return 0 if shape["ids"] else _NOTHING_FOUND
