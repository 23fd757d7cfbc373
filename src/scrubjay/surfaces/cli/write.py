"""`add`, `update`, `say`, `done`, `undone`, `forget` and `extract`."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.store import Store
from scrubjay.surfaces.cli.session import (
    NOTHING_FOUND,
    USAGE,
    confirmed,
    open_store,
    resolve_ids,
    settings_of,
    text_of,
    warn,
    warn_missing,
)
from scrubjay.surfaces.cli.vectors import make_vectors
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.terminal import Screen, err, one_line, out
from scrubjay.types import Messages

if TYPE_CHECKING:
    from scrubjay.types.reports import Extracted

# Endings of files that `ingest` reads and that people name without a folder. No .js: "Node.js" is a name.
_ENDINGS = (
    *(".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".pdf", ".docx", ".json", ".jsonl"),
    *(".py", ".java", ".go", ".rs", ".c", ".h", ".cpp", ".rb", ".sh", ".toml", ".yaml", ".yml"),
)
_ENTRY_FIELDS = "severity domain context valid_from valid_until source"
_ADD_FIELDS = f"id title type topics namespace collection session created_at {_ENTRY_FIELDS}"
_OPTIONS = {"topics": "--topic", "created_at": "--at"}
_MOST_FORGOTTEN = 1_000_000_000
_JSON_MESSAGES = (
    'right is one message a line, {"role": "user", "text": "…"}, or a list of them; a plain text that'
    " begins with { or [ goes after say, not into standard input"
)


def add(args: Namespace, screen: Screen) -> int:
    # os.path: pathlib is not worth its import here.
    if not args.as_text and all(os.path.exists(word) for word in args.text):
        return _ingest(args, screen)
    if not args.as_text and len(args.text) == 1 and _looks_like_a_path(args.text[0]):
        raise InvalidInput(
            f"there is no file or folder {args.text[0]}; --text stores the words themselves"
        )
    settings = settings_of(args)
    with open_store(args.db, args.user, embed=not args.no_embed, make=True) as store:
        given = {name: getattr(args, name) for name in _ADD_FIELDS.split()}
        stored = store.add_many([{"text": text_of(args.text), **given}])
        (memory,) = stored
        left = make_vectors(store, settings, later=args.no_embed)
        why = store.why_unembedded()
    if args.json:
        from scrubjay.surfaces.render.json import added, dumps

        out(dumps(added(memory, left, why, stored.known)))
        return 0
    place = facts.place(memory)
    place = f" {one_line(place)}, which you share" if place else ""
    before = "replaced" if args.id else "already stored:"
    done = screen.green(before if stored.known else "stored")
    out(f"{done} {one_line(memory.id)}{place}  {screen.dim(_findable(left))}")
    return 0


def _findable(left: int | None) -> str:
    return "found by keyword and by meaning" if left == 0 else "found by keyword"


def _ingest(args: Namespace, screen: Screen) -> int:
    for name in _ADD_FIELDS.split():  # a file has its own title, type and time
        if name not in ("namespace", "collection") and getattr(args, name):
            option = _OPTIONS.get(name) or f"--{name.replace('_', '-')}"
            raise InvalidInput(
                f"{option} does not go with files; --text stores the words themselves"
            )
    names = ", ".join(map(one_line, args.text))
    err(f"scrubjay: reading {names} as files (--text stores the words themselves)")
    from scrubjay.surfaces.cli.ingest import read

    return read(args, args.text, screen)


def _looks_like_a_path(word: str) -> bool:
    begins = word.startswith(("./", "../", "~/", "/", ".\\", "..\\"))
    return not any(map(str.isspace, word)) and (begins or word.lower().endswith(_ENDINGS))


def update(args: Namespace, screen: Screen) -> int:
    changes = _changes(args)
    settings = settings_of(args)
    with open_store(args.db, args.user, embed=not args.no_embed) as store:
        id_ = store.resolve(args.id)
        if args.add_topics is not None:
            topics = changes.get("topics", store.get(id_).topics)
            changes["topics"] = [*topics, *args.add_topics]
        memory = store.update(id_, **changes)
        left = make_vectors(store, settings, later=args.no_embed)
        why = store.why_unembedded()
    if args.json:
        from scrubjay.surfaces.render.json import added, dumps

        out(dumps(added(memory, left, why)))
    else:
        from scrubjay.surfaces.render.memories import memories

        out(memories([memory], screen, ends=True))
    return 0


def _changes(args: Namespace) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for name in f"title type {_ENTRY_FIELDS}".split():
        given = getattr(args, name)
        if given == "" and name == "type":
            raise InvalidInput("--type is empty; every memory has one, such as fact")
        if given is not None:
            changes[name] = given or None
    if args.topics is not None:
        changes["topics"] = args.topics
    if args.text is not None:
        changes["text"] = text_of([args.text])
    if not changes and args.add_topics is None:
        raise InvalidInput("no change was given; name one, such as --valid-until 2027-12-31")
    return changes


def say(args: Namespace, screen: Screen) -> int:
    messages = _messages(args)
    settings = settings_of(args)
    with open_store(args.db, args.user, embed=not args.no_embed, make=True) as store:
        stored = store.add_messages(
            messages, session=args.session, owner=args.owner, agent=args.agent
        )
        left = make_vectors(store, settings, later=args.no_embed)
        why = store.why_unembedded()
    if args.json:
        from scrubjay.surfaces.render import json

        out(json.dumps(json.messages(stored, left, why)))
    else:
        out(_stored_messages(stored, left, screen))
    warn(stored.warnings)
    return 0


def _stored_messages(stored: Messages, left: int | None, screen: Screen) -> str:
    if not stored:
        return "No message was stored."
    sessions = ", ".join(dict.fromkeys(one_line(message.session or "") for message in stored))
    what = one_line(stored[0].id) if len(stored) == 1 else f"{len(stored):,} messages"
    return f"{screen.green('stored')} {what} in {sessions}  {screen.dim(_findable(left))}"


def _messages(args: Namespace) -> list[Any]:
    text = text_of(args.text)
    if args.text == ["-"]:
        text = text.removeprefix("\ufeff")
        if text.lstrip()[:1] in ("{", "["):
            return [_with_options(message, args) for message in _parse_messages(text)]
    return [{"text": text, "role": args.role, "at": args.at}]


def _with_options(message: object, args: Namespace) -> object:
    """Give a message the role and the time of the options if it has none."""
    from scrubjay.conversations.messages import TIMES

    if not isinstance(message, dict):
        return message
    message = {key: value for key, value in message.items() if key != "role" or value is not None}
    timed = any(message.get(name) is not None for name in TIMES)
    return {"role": args.role, **({} if timed else {"at": args.at}), **message}


def _parse_messages(text: str) -> list[Any]:
    import json

    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _parse_lines(text, error)
    return whole if isinstance(whole, list) else [whole]


def _parse_lines(text: str, broken: Exception) -> list[Any]:
    """Return the messages of JSON lines; if the first line is none, the error is that of the whole."""
    import json

    messages: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            at = number if messages else getattr(broken, "lineno", number)
            why = error if messages else broken
            raise InvalidInput(
                f"line {at} of standard input is no JSON ({why}); {_JSON_MESSAGES}; nothing was stored"
            ) from error
        if not isinstance(message, dict):
            raise InvalidInput(
                f"line {number} of standard input is no message; {_JSON_MESSAGES}; nothing was stored"
            )
        messages.append(message)
    return messages


def done(args: Namespace, screen: Screen) -> int:
    from scrubjay.surfaces.verbs.write import Marked, marked_json

    with open_store(args.db, args.user) as store:
        ids, missing = resolve_ids(store, args.ids)
        mark = store.done if args.command == "done" else store.undone
        before = store.get_many(ids)
        marked = Marked(before, [mark(memory.id) for memory in before])
    marked = marked._replace(missing=[*missing, *before.missing])
    if args.json:
        from scrubjay.surfaces.render.json import dumps

        out(dumps(marked_json(marked)))
    elif marked.after:
        from scrubjay.surfaces.render.memories import memories

        out(memories([*marked.after], screen))
    warn_missing(marked.missing)
    return NOTHING_FOUND if marked.missing else 0


def forget(args: Namespace, screen: Screen) -> int:
    """Delete memories by id, by a query, or of a session; ids need no confirmation off a terminal."""
    from scrubjay.surfaces.render.json import dumps, forgotten
    from scrubjay.surfaces.render.memories import memories
    from scrubjay.surfaces.render.results import plural

    if bool(args.ids) + (args.query is not None) + (args.session is not None) != 1:
        raise InvalidInput("give the memories to forget: either ids, --query, or --session")
    with open_store(args.db, args.user) as store:
        ids, missing = resolve_ids(store, args.ids) if args.ids else (_matches(store, args), [])
        found = store.get_many(ids)
        extracted = store.only_of([memory.id for memory in found])
        if found and not args.json:
            err(memories([*found, *extracted], screen))
        agreed = bool(found) and _agreed(args, len(found) + len(extracted))
        count = store.forget([memory.id for memory in found]) if agreed else 0
    missing = [*missing, *found.missing]
    if args.json:
        out(dumps(forgotten(found, extracted, missing, count, done=agreed)))
    elif agreed:
        source = "it" if count == 1 else "them"
        more = (
            f" and {plural(len(extracted), 'fact')} extracted from {source}" if extracted else ""
        )
        out(f"{screen.green('forgot')} {plural(count, 'memory')}{more}")
        if any(memory.type == "document" and memory.source for memory in found):
            err("scrubjay: a file that still exists is ingested again by `scrubjay ingest`;")
            err("scrubjay: name it in a .scrubjayignore to leave it out")
    warn_missing(missing)
    if not found:
        warn([] if missing else ["nothing matches, nothing was forgotten"])
        return NOTHING_FOUND
    if not agreed:
        err("scrubjay: nothing was forgotten; to forget them add: --yes")
        return USAGE
    return NOTHING_FOUND if missing else 0


def _agreed(args: Namespace, count: int) -> bool:
    import sys

    if args.ids and (args.json or not sys.stdin.isatty()):
        return True
    what = "this memory" if count == 1 else f"these {count} memories"
    return confirmed(args, f"Forget {what} for good?")


def _matches(store: Store, args: Namespace) -> list[str]:
    if args.session is not None:
        found = store.ls(session=args.session, namespace=args.namespace, limit=_MOST_FORGOTTEN)
        return [memory.id for memory in found]
    # By keyword only: a search by meaning always finds something, and this deletes what it finds.
    # Expired memories are stored too.
    hits = store.search(
        args.query,
        profile="default",
        mode="keyword",
        limit=args.limit,
        namespace=args.namespace,
        include_expired=True,
    )
    return [hit.id for hit in hits]


def extract(args: Namespace, screen: Screen) -> int:
    from scrubjay.runtime.progress import ProgressBar
    from scrubjay.surfaces.render.json import dumps, plain

    with open_store(args.db, args.user) as store:
        with ProgressBar("extracting") as bar:
            report = store.extract(session=args.session, retry=args.retry, progress=bar)
        if report.added or report.updated or report.superseded:
            make_vectors(store, settings_of(args), later=False)
    out(dumps(plain(report)) if args.json else _extracted(report, screen, args.db))
    if report.outage:
        warn([report.outage])
    return int(bool(report.outage or report.failed))


def _extracted(report: Extracted, screen: Screen, db: str | None) -> str:
    from scrubjay.runtime.command_hints import to_type
    from scrubjay.surfaces.render.results import plural

    counts = (
        ("added", report.added),
        ("updated", report.updated),
        ("superseded", report.superseded),
        ("known already", report.folded),
    )
    changed = ", ".join(f"{count:,} {what}" for what, count in counts if count) or "none"
    lines = [f"{screen.bold('read')} {plural(report.messages, 'message')}; facts: {changed}"]
    for title, reasons in (("rejected", report.rejected), ("failed", report.failures)):
        lines += [
            f"  {screen.yellow(title)} {count:,}: {one_line(why)}"
            for why, count in reasons.items()
        ]
    if report.failed:
        lines.append("  Messages that failed are kept as they were said.")
    if report.given_up:
        given_up = f"{plural(report.given_up, 'message')} given up after repeated failures"
        lines.append(f"  {given_up}; to retry: {to_type('extract --retry', db)}")
    if report.left:
        left = plural(report.left, "message")
        lines.append(f"  {left} left; to read them: {to_type('extract', db)}")
    return "\n".join(lines)
