"""`import`: entries that `export` wrote, and what other products stored."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import add
from typing import Any

from scrubjay.errors import NotFound
from scrubjay.runtime.progress import ProgressBar
from scrubjay.store import Store
from scrubjay.store.transfer import check_entries, source_path
from scrubjay.surfaces.cli.common import FAILED, open_store, options_of, settings_of
from scrubjay.surfaces.cli.transfer import listed
from scrubjay.surfaces.cli.vectors import make_vectors
from scrubjay.surfaces.render.facts import counted, plural
from scrubjay.surfaces.render.json import dumps, plain, reasons
from scrubjay.surfaces.render.terminal import Screen, out, path_line
from scrubjay.types.formats import check_format
from scrubjay.types.reports import Imported, ImportedFile, ImportedFrom

Take = Callable[[Store, dict[str, Any]], Imported | ImportedFrom]
_MOST_FILES = 20  # --json lists all


def import_(args: Namespace, screen: Screen) -> int:
    take = _checked_entries(args) if args.format is None else _checked_sources(args)
    with _store_to_import(args) as store:
        with ProgressBar("importing") as bar:
            how = options_of(args, ("namespace", "collection", "dry_run"))
            done = take(store, {**how, "progress": bar})
        left = None
        if not args.dry_run:
            left = make_vectors(store, settings_of(args), later=args.no_embed, further=True)
    if args.json:
        shape = reasons(plain(done), "failed", "notes")
        out(dumps({**shape, "dry_run": args.dry_run, "pending": left}))
    else:
        out("\n".join(_imported(done, args.dry_run, screen)))
    return FAILED if done.failed else 0


# Both are checked before a store is created for nothing.


def _checked_entries(args: Namespace) -> Take:
    stdin = getattr(sys.stdin, "buffer", sys.stdin)  # as bytes: one bad line must not end it
    sources = [stdin if path == "-" else path for path in args.paths]
    check_entries(sources)
    return lambda store, how: store.import_entries(*sources, **how)


def _checked_sources(args: Namespace) -> Take:
    format, paths = check_format(args.format), list(map(source_path, args.paths))

    def take(store: Store, how: dict[str, Any]) -> ImportedFrom:
        return _together(store.import_from(format, path, **how) for path in paths)

    return take


def _together(parts: Iterable[ImportedFrom]) -> ImportedFrom:
    total = ImportedFrom()
    for part in parts:
        total = ImportedFrom(*map(add, total, part))
    return total


def _store_to_import(args: Namespace) -> Store:
    if not args.dry_run:
        return open_store(args.db, args.user, embed=not args.no_embed, make=True)
    try:
        return open_store(args.db, args.user, embed=False)
    except NotFound:  # a dry run leaves no file behind
        return open_store(":memory:", args.user, embed=False)


def _imported(done: Imported | ImportedFrom, dry_run: bool, screen: Screen) -> list[str]:
    counts = [(done.added, "new"), (done.changed, "changed"), (done.unchanged, "unchanged")]
    text = counted([*counts, (len(done.failed), "failed")]) or "nothing there"
    head = f"{screen.bold('would import' if dry_run else 'imported')}  {text}"
    lines = [head, *_files(done.files if isinstance(done, ImportedFrom) else ())]
    return [*lines, *listed(done.failed, screen.red), *listed(done.notes, screen.yellow)]


def _files(files: Sequence[ImportedFile]) -> list[str]:
    """Return a line for each file, and what was left out of all of them, by reason."""
    lines = [f"  {path_line(file.path)}: {_counts(file)}" for file in files[:_MOST_FILES]]
    if more := len(files) - len(lines):
        lines.append(f"  … and {plural(more, 'other')}: --json lists all")
    total = sum((Counter(file.left_out) for file in files), Counter[str]())
    return [*lines, *(f"  {count:,} left out: {why}" for why, count in total.most_common())]


def _counts(file: ImportedFile) -> str:
    counts = [(file.added, "new"), (file.changed, "changed"), (file.unchanged, "unchanged")]
    left_out = sum(file.left_out.values())
    return counted([*counts, (file.failed, "failed"), (left_out, "left out")]) or "nothing there"
