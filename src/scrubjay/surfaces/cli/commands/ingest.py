"""`ingest`: read files and folders, say what became of them, and keep up with them if asked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.cli.session import make_vectors, open_store, settings_of
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.terminal import one_line, out, path_line

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from scrubjay.config import Settings
    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import Ingested

    Done = tuple[str | None, Ingested]
    """What was named, or None for everything that was read before, and what became of it."""

_MOST_SHOWN = 10  # of each kind: a folder of photos must not fill the screen
_FEW_FOLDERS = 3
_NO_FOLDER = "no folder was read so far; say which: scrubjay ingest PATH"


def ingest(args: Namespace, screen: Screen) -> int:
    """Read files and folders; without any, bring all that were read before up to date."""
    return read(args, args.path, screen, watch=args.watch)


def read(args: Namespace, paths: list[str], screen: Screen, *, watch: bool = False) -> int:
    """Read what was named and report it; with `watch`, go on until Ctrl-C."""
    settings = settings_of(args)
    with _store_for(args, paths) as store:
        names = [path_line(path) for path in paths] or _known_folders(store)
        report = _Report(args, screen, names, in_lines=watch)
        if watch:
            return _watch(store, settings, args, paths, report)
        done = [(path, _read(store, path, args)) for path in paths or (None,)]
        left = make_vectors(store, settings, later=args.no_embed)
    report(done, left)
    return int(any(one.failed or _in_vain(one) for _, one in done))


def _watch(
    store: Store, settings: Settings, args: Namespace, paths: list[str], report: _Report
) -> int:
    from scrubjay.surfaces.cli.commands.watch import Changes, News, follow

    changes = Changes(lambda: store.watch_failure)
    done = [(path, _read(store, path, args, changes.of(path))) for path in paths or (None,)]
    left = make_vectors(store, settings, later=args.no_embed)
    report(done, left)
    news = News(done)

    def batch(path: str | None, one: Ingested) -> None:
        if (fresh := news.of(path, one)) is None:
            return
        if left == 0:
            owed = make_vectors(store, settings, later=False)
        else:  # where the model is missing that was said once; the store itself goes on trying
            owed = None if args.no_embed else store.pending(wait=False)
        report([(path, fresh)], owed)

    follow(changes, batch, report.label)
    return 0


def _store_for(args: Namespace, paths: list[str]) -> Store:
    try:
        return open_store(args.db, args.user, embed=not args.no_embed, make=bool(paths))
    except NotFound as error:  # no store yet, so nothing to bring up to date
        raise InvalidInput(_NO_FOLDER) from error


def _known_folders(store: Store) -> list[str]:
    folders = {path_line(one) for each in store.collections() for one in each.folders}
    if not folders:
        raise InvalidInput(_NO_FOLDER)
    return sorted(folders)


def _read(
    store: Store,
    path: str | None,
    args: Namespace,
    on_change: Callable[[Ingested], None] | None = None,
) -> Ingested:
    from scrubjay.runtime.progress import ProgressBar

    with ProgressBar("reading") as bar:
        return store.ingest(
            path,
            collection=args.collection,
            namespace=args.namespace,
            watch=on_change is not None,
            progress=lambda done, total, _: bar(done, total),
            on_change=on_change,
        )


class _Report:
    """Says what was read: to a person in lines, to a program in JSON, one a line if it goes on."""

    def __init__(
        self, args: Namespace, screen: Screen, names: list[str], *, in_lines: bool
    ) -> None:
        self._args, self._screen, self._in_lines = args, screen, in_lines
        many = len(names) > _FEW_FOLDERS
        self.label = render.plural(len(names), "folder") if many else ", ".join(names)

    def __call__(self, done: Sequence[Done], left: int | None) -> None:
        if self._args.json:
            from scrubjay.surfaces.render.json import dumps, ingested, line

            shape = {"ingested": [ingested(path, one) for path, one in done], "pending": left}
            out(line(shape) if self._in_lines else dumps(shape))
        else:
            for path, one in done:
                name = self.label if path is None else path_line(path)
                out(f"{self._screen.bold(name)}  {counts(one)}")
                for text in left_out(one, self._screen, self._args.db):
                    out(text)
        sys.stdout.flush()


def counts(done: Ingested) -> str:
    """Say how many files were new, changed and so on."""
    parts = [
        (done.added, "new"),
        (done.updated, "changed"),
        (done.moved, "moved"),
        (done.unchanged, "unchanged"),
        (done.removed, "removed"),
        (len(done.skipped), "skipped"),
        (len(done.failed), "failed"),
    ]
    return ", ".join(f"{count:,} {what}" for count, what in parts if count) or "nothing to read"


def left_out(done: Ingested, screen: Screen, db: str | None) -> list[str]:
    """Show the files that were not read, or not in full, and why: failed ones first, not all of many."""
    lines = []
    kinds = ((done.failed, screen.red), (done.skipped, screen.yellow), (done.notes, screen.yellow))
    for files, paint in kinds:
        shown = files[:_MOST_SHOWN]
        lines += [f"  {paint(path_line(where))}: {one_line(why)}" for where, why in shown]
    more = sum(len(files) for files, _ in kinds) - len(lines)
    if more:
        lines.append(f"  … and {more:,} more: {to_type('ls --coverage', db)}")
    return lines


def _in_vain(done: Ingested) -> bool:
    """Say whether everything that was named was left out."""
    return bool(done.skipped) and not (
        done.added or done.updated or done.moved or done.unchanged or done.removed
    )
