"""`export` and `import`: memories into files, and out of them."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.surfaces.cli.session import make_vectors, open_store, settings_of
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.terminal import one_line, out, path_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import Exported, Imported

_FAILED, _NOTHING_FOUND = 1, 3
_MOST_SHOWN = 20  # of each kind; --json lists all


def export(args: Namespace, screen: Screen) -> int:
    """Write what is stored into a folder, a file, or to standard output."""
    if args.prune and args.md is None:
        raise InvalidInput(
            "--prune goes with --md: it removes Markdown files of entries that are gone"
        )
    lines = io.StringIO()
    with open_store(args.db, args.user, embed=False) as store:
        if args.md is not None or args.jsonl not in (None, "-"):
            done = _to_files(store, args)
        else:
            done = _to_stream(store, args, lines if args.json else sys.stdout)
    place = args.md or (None if args.jsonl == "-" else args.jsonl)
    if args.json:
        from scrubjay.surfaces.render.json import dumps, plain, reasons

        form = "md" if args.md else "jsonl" if place else "json"
        memories = None if place else _memories(lines.getvalue())
        shape = reasons(plain(done), "kept")
        out(dumps({"form": form, "path": place, **shape, "memories": memories}))
    elif place:
        out(f"{screen.bold(path_line(place))}  {_exported(done, args.md is not None)}")
        for line in _named(done.kept, screen.red):
            out(line)
    if done.kept:
        return _FAILED
    return 0 if done.entries else _NOTHING_FOUND


def import_(args: Namespace, screen: Screen) -> int:
    """Take in what files say; what is wrong in one is named, and the others are taken all the same."""
    from scrubjay.runtime.progress import ProgressBar
    from scrubjay.write.entries.import_entries import checked_sources

    settings = settings_of(args)
    piped = getattr(sys.stdin, "buffer", sys.stdin)  # as bytes: one bad line is not the end of all
    sources = [piped if path == "-" else path for path in args.path]
    checked_sources(sources)  # before a store is made for nothing
    with _store_for(args) as store:
        with ProgressBar("importing") as bar:
            done = store.import_entries(
                *sources,
                namespace=args.namespace,
                collection=args.collection,
                dry_run=args.dry_run,
                progress=lambda count, total, _: bar(count, total),
            )
        left = None if args.dry_run else make_vectors(store, settings, later=args.no_embed)
    if args.json:
        from scrubjay.surfaces.render.json import dumps, plain, reasons

        shape = reasons(plain(done), "failed", "notes")
        out(dumps({**shape, "dry_run": args.dry_run, "pending": left}))
    else:
        out("\n".join(_imported(done, args.dry_run, screen)))
    return _FAILED if done.failed else 0


def _store_for(args: Namespace) -> Store:
    if not args.dry_run:
        return open_store(args.db, args.user, embed=not args.no_embed, make=True)
    try:
        return open_store(args.db, args.user, embed=False)
    except NotFound:  # a rehearsal leaves no file behind
        return open_store(":memory:", args.user, embed=False)


def _to_files(store: Store, args: Namespace) -> Exported:
    from scrubjay.runtime.progress import ProgressBar

    with ProgressBar("exporting") as bar:
        if args.md is not None:
            return store.export_md(
                args.md,
                **_filters(args),
                force=args.force,
                prune=args.prune,
                progress=lambda done, total, _: bar(done, total),
            )
        return store.export_jsonl(
            args.jsonl,
            **_filters(args),
            force=args.force,
            progress=lambda done, total, _: bar(done, total),
        )


def _to_stream(store: Store, args: Namespace, stream: Any) -> Exported:
    from scrubjay.runtime.progress import ProgressBar

    # Where the lines go to the same terminal, a bar would stand among them.
    if args.json or sys.stdout.isatty():
        return store.export_jsonl(stream, **_filters(args))
    with ProgressBar("exporting") as bar:
        return store.export_jsonl(
            stream, **_filters(args), progress=lambda done, total, _: bar(done, total)
        )


def _filters(args: Namespace) -> dict[str, Any]:
    return {
        "namespace": args.namespace,
        "types": args.type,
        "topics": args.topic,
        "collection": args.collection,
        "session": args.session,
    }


def _memories(lines: str) -> list[Any]:
    import json

    from scrubjay.surfaces.render.json import plain

    return [plain(json.loads(line)) for line in lines.split("\n") if line]


def _exported(done: Exported, in_files: bool) -> str:
    entries = render.plural(done.entries, "entry")
    if not in_files:
        return entries
    parts = (
        (done.written, "written"),
        (done.unchanged, "unchanged"),
        (done.removed, "removed"),
        (len(done.kept), "kept"),
    )
    said = ", ".join(f"{count:,} {what}" for count, what in parts if count)
    return f"{entries}: {said}" if said else entries


def _imported(done: Imported, rehearsal: bool, screen: Screen) -> list[str]:
    parts = [
        (done.added, "new"),
        (done.changed, "changed"),
        (done.unchanged, "unchanged"),
        (len(done.failed), "failed"),
    ]
    counts = ", ".join(f"{count:,} {what}" for count, what in parts if count) or "nothing there"
    lines = [f"{screen.bold('would import' if rehearsal else 'imported')}  {counts}"]
    for named, paint in ((done.failed, screen.red), (done.notes, screen.yellow)):
        lines += _named(named, paint)
    return lines


def _named(named: Sequence[tuple[str, str]], paint: Any) -> list[str]:
    shown = [f"  {paint(path_line(at))}: {one_line(why)}" for at, why in named[:_MOST_SHOWN]]
    more = len(named) - len(shown)
    return [*shown, f"  … and {render.plural(more, 'other')}: --json lists all"] if more else shown
