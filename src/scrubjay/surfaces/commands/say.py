"""`say`: messages of a conversation, kept as they were said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.surfaces import facts
from scrubjay.surfaces.session import make_vectors, open_store, settings_of, words_of
from scrubjay.surfaces.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.terminal import Screen
    from scrubjay.types import Messages

_RIGHT = 'a message a line is right: {"role": "user", "text": "…"}'


def say(args: Namespace, screen: Screen) -> int:
    """Keep one message, or each line of JSON from standard input."""
    messages = _messages(args)
    settings = settings_of(args)
    with open_store(args.db, args.user, embed=not args.no_embed, make=True) as store:
        stored = store.add_messages(
            messages, session=args.session, owner=args.owner, agent=args.agent
        )
        left = make_vectors(store, settings, later=args.no_embed)
    if args.json:
        from scrubjay.surfaces.shapes import dumps, listing

        found = {"keyword_indexed": True, "embedded": left == 0, "pending": left}
        out(dumps(listing("messages", stored, warnings=stored.warnings, stored=True, **found)))
    else:
        out(_said(stored, left, screen))
    for why in stored.warnings:
        err(f"scrubjay: {one_line(why)}")
    return 0


def _said(stored: Messages, left: int | None, screen: Screen) -> str:
    places = ", ".join(dict.fromkeys(one_line(one.session or "") for one in stored))
    what = facts.short_id(stored[0].id) if len(stored) == 1 else f"{len(stored):,} messages"
    state = "stored, found by word and by meaning" if left == 0 else "stored, found by word"
    return f"{screen.green('said')} {what} in {places}  {screen.dim(state)}"


def _messages(args: Namespace) -> list[dict[str, Any]]:
    """Return what was said: the words that were typed, or what standard input holds."""
    text = words_of(args.text)
    lines = _lines(text) if args.text == ["-"] else []
    if not lines:
        return [{"text": text, "role": args.role, "at": args.at}]
    if args.at is not None:
        raise InvalidInput("--at goes with one message; a line of JSON has its own: at")
    return [{"role": args.role, **line} for line in lines]


def _lines(text: str) -> list[dict[str, Any]]:
    """Return the messages of lines of JSON; none where the first line is no such thing."""
    found: list[dict[str, Any]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            read = json.loads(line)
        except (ValueError, RecursionError) as error:
            if not found:
                return []
            raise InvalidInput(
                f"line {number} of standard input is no JSON ({error}); {_RIGHT}; nothing was stored"
            ) from error
        if not isinstance(read, dict):
            if not found:
                return []
            raise InvalidInput(
                f"line {number} of standard input is no message; {_RIGHT}; nothing was stored"
            )
        found.append(read)
    return found
