"""`get`, `ls` and `link`: memories as they are stored, ingested files, and links."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.store import Store
from scrubjay.surfaces.cli import common
from scrubjay.surfaces.cli.common import NOTHING_FOUND, open_store
from scrubjay.surfaces.render import facts, markdown
from scrubjay.surfaces.render import json as shapes
from scrubjay.surfaces.render import memories as render
from scrubjay.surfaces.render.layout import pad, table
from scrubjay.surfaces.render.terminal import Screen, clean, one_line, out, path_line
from scrubjay.text.lines import split_id
from scrubjay.types import Memories, Memory
from scrubjay.types.reports import Covered, Version

_LIMIT = 50


def get(args: Namespace, screen: Screen) -> int:
    if args.json and args.md:
        raise InvalidInput("--json and --md are two forms of output; choose one")
    with open_store(args.db, args.user, tiers=args.tiers) as store:
        wanted, missing = _wanted(store, args)
        ids = list(dict.fromkeys(id_ for id_, _ in wanted))
        found = store.get_many([*ids, *missing])
        if args.around is not None:
            found = _with_messages_around(store, found, args.around)
        versions = {memory.id: _history(store, memory.id) for memory in found}
        history = {id_: many for id_, many in versions.items() if len(many) > 1}
    tier = found.tiers.get
    if any(lines for _, lines in wanted):
        _show_lines(shapes.with_lines(shapes.got(found, history), wanted), args, screen)
    elif args.json:
        out(shapes.dumps(shapes.got(found, history)))
    elif args.md and found:
        out("\n\n".join(markdown.memory(memory, tier=tier(memory.id)) for memory in found))
    elif found:
        rule = "\n\n" + screen.dim("─" * screen.width) + "\n\n"
        texts = (
            render.memory(memory, screen, history=versions[memory.id], tier=tier(memory.id))
            for memory in found
        )
        out(rule.join(texts))
    common.warn_missing(found.missing)
    common.warn(found.unasked)
    return NOTHING_FOUND if found.missing else 0


def _wanted(store: Store, args: Namespace) -> tuple[list[tuple[str, str]], list[str]]:
    """Return id and lines of each argument such as `ID:10-40`, and the ids that do not exist."""
    wanted: list[tuple[str, str]] = []
    missing: list[str] = []
    for given in args.ids:
        lines = args.lines or ""
        ids, none = common.resolve_ids(store, [given])
        if none and not lines:
            prefix, lines = split_id(given)
            ids, none = common.resolve_ids(store, [prefix]) if lines else (ids, none)
        wanted += [(id_, lines) for id_ in ids]
        missing += none
    if any(lines for _, lines in wanted) and (args.md or args.around is not None):
        raise InvalidInput("lines go with --json, not with --md or --around")
    return wanted, missing


def _show_lines(shape: shapes.Json, args: Namespace, screen: Screen) -> None:
    """Print parts of texts, each below a line that says which and of how many."""
    if args.json:
        out(shapes.dumps(shape))
        return
    for memory in shape["memories"]:
        first, last = memory.get("lines") or (1, memory["text"].count("\n") + 1)
        where = memory["source"] or memory["id"]
        of = f" of {memory['line_count']:,}" if "line_count" in memory else ""
        out(screen.dim(f"{one_line(where)}: lines {first:,} to {last:,}{of}"))
        out(clean(memory["text"]))


def _with_messages_around(store: Store, found: Memories, turns: int) -> Memories:
    """Add the messages around each message, without duplicates; other memories stay alone."""
    shown: dict[str, Memory] = {}
    for memory in found:
        is_message = memory.type == "message" and memory.session is not None
        for near in store.around(memory.id, turns) if is_message else [memory]:
            shown.setdefault(near.id, near)
    return Memories([*shown.values()], found.missing, found.unasked, found.tiers)


def _history(store: Store, id_: str) -> Sequence[Version]:
    try:
        return store.history(id_)
    except StoreError as damaged:  # the memory itself could be read
        common.warn([str(damaged)])
        return ()


def ls(args: Namespace, screen: Screen) -> int:
    if args.coverage:
        return _coverage(args, screen)
    if args.state:
        raise InvalidInput("--state goes with --coverage: scrubjay ls --coverage --state failed")
    limit = _LIMIT if args.limit is None else args.limit
    with open_store(args.db, args.user) as store:
        found = store.ls(limit=limit, offset=args.offset, **common.options_of(args))
    if args.json:
        out(shapes.dumps(shapes.listed(found)))
    else:
        out(render.memories(found, screen) if found else "No memory matches.")
    return 0 if found else NOTHING_FOUND


def _coverage(args: Namespace, screen: Screen) -> int:
    for option, value in (("--type", args.types), ("--topic", args.topics)):
        if value:
            raise InvalidInput(f"{option} does not go with --coverage, which lists files")
    if args.offset < 0 or (args.limit is not None and args.limit < 1):
        raise InvalidInput(f"limit is {args.limit} and offset {args.offset}; at least 1 and 0")
    where = {name: getattr(args, name) for name in ("state", "collection", "namespace")}
    with open_store(args.db, args.user) as store:
        files = shapes.in_order(store.coverage(**where))
        any_file = bool(files) or bool(store.coverage())
    shown = files[args.offset : None if args.limit is None else args.offset + args.limit]
    if args.json:
        out(shapes.dumps(shapes.coverage(files, shown)))
    elif files:
        counts = facts.counted((n, state) for state, n in shapes.counts(files).items())
        out("\n".join([*(_file_line(file, screen) for file in shown), screen.dim(counts)]))
    elif any_file:
        out("No ingested file matches.")
    else:
        out("No file was ingested yet; this ingests some: scrubjay ingest PATH")
    return 0 if files else NOTHING_FOUND


def _file_line(file: Covered, screen: Screen) -> str:
    paint = {"failed": screen.red, "skipped": screen.yellow}.get(file.state, screen.green)
    about = one_line(file.reason)
    if file.state == "indexed":  # of a file with many memories, the first id and the count
        first, *others = file.ids or ("",)
        about = screen.dim(one_line(first) + (f" and {len(others):,} more" if others else ""))
    path = path_line(facts.relative(file.path))
    return f"{paint(pad(file.state, 7))}  {path}  {about}".rstrip()


def link(args: Namespace, screen: Screen) -> int:
    if args.other is None and args.unlink:
        raise InvalidInput("--unlink takes two memories: scrubjay link --unlink ID OTHER")
    if args.other is not None and args.show:
        raise InvalidInput("--show takes one memory: scrubjay link --show ID")
    with open_store(args.db, args.user) as store:
        start = store.resolve(args.id)
        if args.other is None:
            return _show_links(store, start, args, screen)
        end = store.resolve(args.other)
        if args.unlink:
            store.unlink(start, end, kind=args.kind)
        else:
            store.link(start, end, strength=args.strength, kind=args.kind or "related")
    if args.json:
        out(shapes.dumps(shapes.linked(start, end, "unlinked" if args.unlink else "linked")))
    else:
        words = screen.green("no longer linked with" if args.unlink else "linked with")
        out(f"{one_line(start)} {words} {one_line(end)}")
    return 0


def unlink(args: Namespace, screen: Screen) -> int:
    with open_store(args.db, args.user) as store:
        start, end = store.resolve(args.id), store.resolve(args.other)
        count = store.unlink(start, end, kind=args.kind)
    if args.json:
        out(shapes.dumps(shapes.linked(start, end, "unlinked")))
    else:
        words = screen.green("no longer linked with") if count else "was not linked with"
        out(f"{one_line(start)} {words} {one_line(end)}")
    return 0 if count else NOTHING_FOUND


def _show_links(store: Store, start: str, args: Namespace, screen: Screen) -> int:
    shape = shapes.neighbors(store, start, depth=args.depth)
    near = shape["neighbors"]
    if args.json:
        out(shapes.dumps(shape))
    elif not near:
        out(f"Nothing is linked with {one_line(start)}.")
    else:
        known = {memory.id: memory for memory in store.get_many([one["id"] for one in near])}
        shown = [one for one in near if one["id"] in known]
        lines = render.memories([known[one["id"]] for one in shown], screen).split("\n")
        rows = [
            (f"{one['score']:.2f}", ", ".join(map(one_line, one["kinds"])), line)
            for one, line in zip(shown, lines, strict=False)
        ]
        out("\n".join(table(rows)))
    return 0 if near else NOTHING_FOUND
