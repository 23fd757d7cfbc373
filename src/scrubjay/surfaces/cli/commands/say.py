"""`say`: messages of a conversation, kept as they were said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scrubjay.conversations.messages import TIMES
from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.session import make_vectors, open_store, settings_of, words_of
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types import Messages

_RIGHT = (
    'a message a line is right, {"role": "user", "text": "…"}, or a list of them; a plain text that'
    " begins with { or [ goes behind say, not into standard input"
)


def say(args: Namespace, screen: Screen) -> int:
    """Keep one message, or each of those in JSON from standard input."""
    messages = _messages(args)
    settings = settings_of(args)
    with open_store(args.db, args.user, embed=not args.no_embed, make=True) as store:
        stored = store.add_messages(
            messages, session=args.session, owner=args.owner, agent=args.agent
        )
        left = make_vectors(store, settings, later=args.no_embed)
        why = store.why_unembedded()
    if args.json:
        from scrubjay.surfaces.render.json import dumps
        from scrubjay.surfaces.render.json_memories import said

        out(dumps(said(stored, left, why)))
    else:
        out(_said(stored, left, screen))
    for why in stored.warnings:
        err(f"scrubjay: {one_line(why)}")
    return 0


def _said(stored: Messages, left: int | None, screen: Screen) -> str:
    if not stored:
        return "Nothing was said that could be kept."
    places = ", ".join(dict.fromkeys(one_line(one.session or "") for one in stored))
    what = facts.short_id(stored[0].id) if len(stored) == 1 else f"{len(stored):,} messages"
    state = "stored, found by word and by meaning" if left == 0 else "stored, found by word"
    return f"{screen.green('said')} {what} in {places}  {screen.dim(state)}"


def _messages(args: Namespace) -> list[Any]:
    """Return what was said: the words that were typed, or what standard input holds."""
    text = words_of(args.text)
    if args.text == ["-"]:
        text = text.removeprefix("\ufeff")
        if text.lstrip()[:1] in ("{", "["):
            return [_with_usual(one, args) for one in _in_json(text)]
    return [{"text": text, "role": args.role, "at": args.at}]


def _with_usual(message: object, args: Namespace) -> object:
    """Give a message the role and the time that were typed, where it has none itself."""
    if not isinstance(message, dict):
        return message
    message = {key: value for key, value in message.items() if key != "role" or value is not None}
    timed = any(message.get(name) is not None for name in TIMES)
    return {"role": args.role, **({} if timed else {"at": args.at}), **message}


def _in_json(text: str) -> list[Any]:
    """Return the messages of a JSON array, of one object, or of lines of JSON."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _lines(text, error)
    return whole if isinstance(whole, list) else [whole]


def _lines(text: str, broken: Exception) -> list[Any]:
    """Return the messages of lines of JSON; where the first is none, all of it is `broken`."""
    found: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            read = json.loads(line)
        except (ValueError, RecursionError) as error:
            at = number if found else getattr(broken, "lineno", number)
            why = error if found else broken
            raise InvalidInput(
                f"line {at} of standard input is no JSON ({why}); {_RIGHT}; nothing was stored"
            ) from error
        if not isinstance(read, dict):
            raise InvalidInput(
                f"line {number} of standard input is no message; {_RIGHT}; nothing was stored"
            )
        found.append(read)
    return found
