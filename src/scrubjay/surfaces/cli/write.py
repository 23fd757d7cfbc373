"""`add`, `update`, `undo`, `say`, `done`, `undone`, `forget` and `extract`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from json import loads
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.runtime.command_hints import to_type
from scrubjay.runtime.progress import ProgressBar
from scrubjay.store import Store
from scrubjay.surfaces.cli import common
from scrubjay.surfaces.cli.common import open_store, text_of
from scrubjay.surfaces.cli.vectors import make_vectors
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render import json as shapes
from scrubjay.surfaces.render.memories import changed_back, memories
from scrubjay.surfaces.render.terminal import Screen, err, one_line, out
from scrubjay.surfaces.verbs.write import Marked, marked_json
from scrubjay.types import Messages
from scrubjay.types.reports import Extracted

# Endings of files that `ingest` reads and that people name without a folder. No .js: "Node.js" is a name.
_ENDINGS = (
    *(".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".pdf", ".docx", ".json", ".jsonl"),
    *(".py", ".java", ".go", ".rs", ".c", ".h", ".cpp", ".rb", ".sh", ".toml", ".yaml", ".yml"),
)
_ENTRY_FIELDS = "severity domain context valid_from valid_until source"
_ADD_FIELDS = f"id title type topics namespace collection session created_at {_ENTRY_FIELDS}"
_SAY_FIELDS = ("session", "owner", "agent")
_OPTIONS = {"topics": "--topic", "created_at": "--at"}
_AS_TEXT = "--text stores the words themselves"
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
        raise InvalidInput(f"there is no file or folder {args.text[0]}; {_AS_TEXT}")
    given = {name: getattr(args, name) for name in _ADD_FIELDS.split()}
    with open_store(args.db, args.user, embed=not args.no_embed, make=True) as store:
        stored = store.add_many([{"text": text_of(args.text), **given}])
        likely = [] if stored.known or args.no_embed else store.likely_changes(stored)
        left, why = _embed(store, args)
    (memory,) = stored
    if args.json:
        out(shapes.dumps(shapes.added(memory, left, why, stored.known, likely)))
        return 0
    place = facts.place(memory)
    place = f" {one_line(place)}, which you share" if place else ""
    before = "replaced" if args.id else "already stored:"
    done = screen.green(before if stored.known else "stored")
    out(f"{done} {one_line(memory.id)}{place}  {screen.dim(_findable(left))}")
    for line in map(facts.likely_change, likely):
        out(screen.dim(line))
    return 0


def _embed(store: Store, args: Namespace) -> tuple[int | None, str]:
    """Return how many chunks are not embedded, or None if that is left for later; and why."""
    left = make_vectors(store, common.settings_of(args), later=args.no_embed)
    return left, store.why_unembedded()


def _findable(left: int | None) -> str:
    later = "" if left == 0 else "; better vectors follow"
    return f"found by keyword and by meaning{later}"


def _ingest(args: Namespace, screen: Screen) -> int:
    for name in _ADD_FIELDS.split():  # a file has its own title, type and time
        if name not in ("namespace", "collection") and getattr(args, name):
            option = _OPTIONS.get(name) or f"--{name.replace('_', '-')}"
            raise InvalidInput(f"{option} does not go with files; {_AS_TEXT}")
    names = ", ".join(map(one_line, args.text))
    err(f"scrubjay: reading {names} as files ({_AS_TEXT})")
    from scrubjay.surfaces.cli.ingest import ingest

    args.paths, args.watch = args.text, False
    return ingest(args, screen)


def _looks_like_a_path(word: str) -> bool:
    begins = word.startswith(("./", "../", "~/", "/", ".\\", "..\\"))
    return not any(map(str.isspace, word)) and (begins or word.lower().endswith(_ENDINGS))


def update(args: Namespace, screen: Screen) -> int:
    changes = _changes(args)
    with open_store(args.db, args.user, embed=not args.no_embed) as store:
        id_ = store.resolve(args.id)
        if args.add_topics is not None:
            topics = changes.get("topics", store.get(id_).topics)
            changes["topics"] = [*topics, *args.add_topics]
        memory = store.update(id_, **changes)
        left, why = _embed(store, args)
    if args.json:
        out(shapes.dumps(shapes.added(memory, left, why)))
    else:
        out(memories([memory], screen, ends=True))
    return 0


def undo(args: Namespace, screen: Screen) -> int:
    with open_store(args.db, args.user, embed=not args.no_embed) as store:
        id_ = store.resolve(args.id)
        before = store.get(id_)
        memory = store.undo(id_)
        left, why = _embed(store, args)
    if args.json:
        out(shapes.dumps(shapes.changed_back(before, memory, left, why)))
        return 0
    fields = shapes.changed_fields(before, memory)
    out(f"{screen.green('undone')} {one_line(id_)}")
    out("\n".join(changed_back(before, memory, fields, screen)))
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
    if args.words and args.text is not None:
        raise InvalidInput(
            "the new text was given twice, after the id and with --text; choose one"
        )
    if args.words or args.text is not None:
        changes["text"] = text_of(args.words or [args.text])
    if not changes and args.add_topics is None:
        raise InvalidInput(
            "no change was given; name one, such as a text after the id, or --valid-until 2027-12-31"
        )
    return changes


def say(args: Namespace, screen: Screen) -> int:
    messages = _messages(args)
    with open_store(args.db, args.user, embed=not args.no_embed, make=True) as store:
        stored = store.add_messages(messages, **common.options_of(args, _SAY_FIELDS))
        left, why = _embed(store, args)
    if args.json:
        out(shapes.dumps(shapes.messages(stored, left, why)))
    else:
        out(_stored_messages(stored, left, screen))
    common.warn(stored.warnings)
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
    """Return the messages of a JSON list, of one object, or of JSON lines.

    If the first line is no JSON, the error is that of the whole text.
    """
    try:
        whole = loads(text)
        return whole if isinstance(whole, list) else [whole]
    except (ValueError, RecursionError) as error:
        broken = error
    messages: list[Any] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            message = loads(line)
        except (ValueError, RecursionError) as error:
            if messages:
                raise _wrong(number, f"no JSON ({error})") from error
            raise _wrong(getattr(broken, "lineno", number), f"no JSON ({broken})") from error
        if not isinstance(message, dict):
            raise _wrong(number, "no message")
        messages.append(message)
    return messages


def _wrong(line: int, what: str) -> InvalidInput:
    where = f"line {line} of standard input"
    return InvalidInput(f"{where} is {what}; {_JSON_MESSAGES}; nothing was stored")


def done(args: Namespace, screen: Screen) -> int:
    with open_store(args.db, args.user) as store:
        ids, missing = common.resolve_ids(store, args.ids)
        mark = store.done if args.command == "done" else store.undone
        before = store.get_many(ids)
        marked = Marked(before, [mark(memory.id) for memory in before])
    marked = marked._replace(missing=[*missing, *before.missing])
    if args.json:
        out(shapes.dumps(marked_json(marked)))
    elif marked.after:
        out(memories([*marked.after], screen))
    common.warn_missing(marked.missing)
    return common.NOTHING_FOUND if marked.missing else 0


def forget(args: Namespace, screen: Screen) -> int:
    """Delete memories by id, by a query, or of a session; ids need no confirmation off a terminal."""
    if bool(args.ids) + (args.query is not None) + (args.session is not None) != 1:
        raise InvalidInput("give the memories to forget: either ids, --query, or --session")
    with open_store(args.db, args.user) as store:
        ids, missing = _matches(store, args)
        found = store.get_many(ids)
        extracted = store.only_of([memory.id for memory in found])
        if found and not args.json:
            err(memories([*found, *extracted], screen))
        agreed = bool(found) and _agreed(args, len(found) + len(extracted))
        count = store.forget([memory.id for memory in found]) if agreed else 0
    missing = [*missing, *found.missing]
    if args.json:
        out(shapes.dumps(shapes.forgotten(found, extracted, missing, count, done=agreed)))
    elif agreed:
        source = "it" if count == 1 else "them"
        more = f" and {facts.plural(len(extracted), 'fact')} extracted from {source}"
        forgot = f"{screen.green('forgot')} {facts.plural(count, 'memory')}"
        out(forgot + more if extracted else forgot)
        if any(memory.type == "document" and memory.source for memory in found):
            err("scrubjay: a file that still exists is ingested again by `scrubjay ingest`;")
            err("scrubjay: name it in a .scrubjayignore to leave it out")
    common.warn_missing(missing)
    if found and not agreed:
        err("scrubjay: nothing was forgotten; to forget them add: --yes")
        return common.USAGE
    if not found and not missing:
        err("scrubjay: nothing matches, nothing was forgotten")
    return 0 if found and not missing else common.NOTHING_FOUND


def _agreed(args: Namespace, count: int) -> bool:
    if args.ids and (args.json or not sys.stdin.isatty()):
        return True
    what = "this memory" if count == 1 else f"these {count} memories"
    return common.confirmed(args, f"Forget {what} for good?")


def _matches(store: Store, args: Namespace) -> tuple[list[str], list[str]]:
    """Return the ids to forget, and given ids that do not exist."""
    if args.ids:
        return common.resolve_ids(store, args.ids)
    if args.session is not None:
        found = store.ls(session=args.session, namespace=args.namespace, limit=_MOST_FORGOTTEN)
        return [memory.id for memory in found], []
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
    return [hit.id for hit in hits], []


def extract(args: Namespace, screen: Screen) -> int:
    with open_store(args.db, args.user) as store:
        with ProgressBar("extracting") as bar:
            report = store.extract(session=args.session, retry=args.retry, progress=bar)
        if report.added or report.updated or report.superseded:
            make_vectors(store, common.settings_of(args), later=False)
    text = shapes.dumps(shapes.plain(report)) if args.json else _extracted(report, screen, args.db)
    out(text)
    common.warn([report.outage] if report.outage else [])
    return int(bool(report.outage or report.failed))


def _extracted(report: Extracted, screen: Screen, db: str | None) -> str:
    changes = [(report.added, "added"), (report.updated, "updated")]
    changes += [(report.superseded, "superseded"), (report.folded, "known already")]
    read = f"{screen.bold('read')} {facts.plural(report.messages, 'message')}"
    lines = [f"{read}; facts: {facts.counted(changes) or 'none'}"]
    for title, reasons in (("rejected", report.rejected), ("failed", report.failures)):
        mark = f"  {screen.yellow(title)}"
        lines += [f"{mark} {count:,}: {one_line(why)}" for why, count in reasons.items()]
    if report.failed:
        lines.append("  Messages that failed are kept as they were said.")
    if report.given_up:
        given_up = f"{facts.plural(report.given_up, 'message')} given up after repeated failures"
        lines.append(f"  {given_up}; to retry: {to_type('extract --retry', db)}")
    if report.left:
        left = facts.plural(report.left, "message")
        lines.append(f"  {left} left; to read them: {to_type('extract', db)}")
    return "\n".join(lines)
