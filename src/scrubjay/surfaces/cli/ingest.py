"""`ingest`: read files and folders, report what was read, and with `--watch` follow their changes."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import NamedTuple

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.runtime.command_hints import to_type
from scrubjay.runtime.progress import ProgressBar
from scrubjay.store import Store
from scrubjay.surfaces.cli.common import open_store, options_of, settings_of
from scrubjay.surfaces.cli.vectors import make_vectors
from scrubjay.surfaces.render import json as shapes
from scrubjay.surfaces.render.facts import counted, plural
from scrubjay.surfaces.render.terminal import Screen, err, one_line, out, path_line
from scrubjay.types.reports import Ingested

Batch = tuple[str | None, Ingested]
"""A path that was named, or None for everything ingested before, and its report."""

_MOST_SHOWN = 10  # of each kind: a folder of photos must not fill the screen
_FEW_FOLDERS = 3
_WAKE_S = 0.5  # Windows delivers Ctrl-C only between two waits
_NO_FOLDER = "no folder was ingested before; name one: scrubjay ingest PATH"


def ingest(args: Namespace, screen: Screen) -> int:
    settings = settings_of(args)
    try:
        opened = open_store(args.db, args.user, embed=not args.no_embed, make=bool(args.paths))
    except NotFound as error:
        raise InvalidInput(_NO_FOLDER) from error
    with opened as store:
        names = [path_line(path) for path in args.paths] or _known_folders(store)
        many = len(names) > _FEW_FOLDERS
        label = plural(len(names), "folder") if many else ", ".join(names)
        report = _Report(args, screen, label)
        changes = Changes(lambda: store.watch_failure)
        how = options_of(args, ("collection", "namespace", "watch"))
        batches: list[Batch] = []
        for path in args.paths or (None,):
            on_change = changes.of(path) if args.watch else None
            with ProgressBar("reading") as bar:
                done = store.ingest(path, progress=bar, on_change=on_change, **how)
            batches.append((path, done))
        left = make_vectors(store, settings, later=args.no_embed, further=True)
        report(batches, left)
        if not args.watch:
            return int(any(done.failed or _nothing_read(done) for _, done in batches))
        news = News(batches)

        def on_batch(path: str | None, done: Ingested) -> None:
            if (fresh := news.of(path, done)) is None:
                return
            if left == 0:
                pending = make_vectors(store, settings, later=False)
            else:  # a missing model was reported once; the store keeps trying
                pending = None if args.no_embed else store.pending(wait=False)
            report([(path, fresh)], pending)

        follow(changes, on_batch, label)
    return 0


def _known_folders(store: Store) -> list[str]:
    folders = {path_line(folder) for known in store.collections() for folder in known.folders}
    if not folders:
        raise InvalidInput(_NO_FOLDER)
    return sorted(folders)


class _Report(NamedTuple):
    """Print what was read: lines for a person, JSON for a program, one document a line if it goes on."""

    args: Namespace
    screen: Screen
    label: str

    def __call__(self, batches: Sequence[Batch], left: int | None) -> None:
        if self.args.json:
            ingested = [shapes.ingested(path, done) for path, done in batches]
            shape = {"ingested": ingested, "pending": left}
            out(shapes.line(shape) if self.args.watch else shapes.dumps(shape))
        else:
            for path, done in batches:
                name = self.label if path is None else path_line(path)
                head = f"{self.screen.bold(name)}  {counts(done)}"
                out("\n".join((head, *left_out(done, self.screen, self.args.db))))
        sys.stdout.flush()


def counts(done: Ingested) -> str:
    parts = [(done.added, "new"), (done.updated, "changed"), (done.moved, "moved")]
    parts += [(done.unchanged, "unchanged"), (done.removed, "removed")]
    parts += [(len(done.skipped), "skipped"), (len(done.failed), "failed")]
    return counted(parts) or "nothing to read"


def left_out(done: Ingested, screen: Screen, db: str | None) -> list[str]:
    """Return lines about files that were not read, or not completely; failed ones first, not all."""
    lines = []
    kinds = ((done.failed, screen.red), (done.skipped, screen.yellow), (done.notes, screen.yellow))
    for files, paint in kinds:
        shown = files[:_MOST_SHOWN]
        lines += [f"  {paint(path_line(path))}: {one_line(why)}" for path, why in shown]
    more = sum(len(files) for files, _ in kinds) - len(lines)
    if more:
        lines.append(f"  … and {more:,} more: {to_type('ls --coverage', db)}")
    return lines


def _nothing_read(done: Ingested) -> bool:
    read = (done.added, done.updated, done.moved, done.unchanged, done.removed)
    return bool(done.skipped) and not any(read)


# --- --watch ----------------------------------------------------------------------------------


class Changes:
    """Changes seen by the watching threads, for the one thread that embeds and prints."""

    def __init__(self, failure: Callable[[], str | None] = lambda: None) -> None:
        self._failure = failure
        self._seen: SimpleQueue[Batch] = SimpleQueue()

    def of(self, path: str | None) -> Callable[[Ingested], None]:
        return lambda done: self._seen.put((path, done))

    def __iter__(self) -> Iterator[Batch]:
        while True:
            try:
                yield self._seen.get(timeout=_WAKE_S)
            except Empty:
                if reason := self._failure():
                    raise StoreError(f"the watch has ended: {reason}") from None


class News:
    """Batches without what was reported before: a file that fails, fails every time."""

    def __init__(self, reported: Iterable[Batch]) -> None:
        self._left_out = {path: {*done.skipped, *done.failed} for path, done in reported}

    def of(self, path: str | None, done: Ingested) -> Ingested | None:
        before = self._left_out.get(path, set())
        self._left_out[path] = {*done.skipped, *done.failed}
        fresh = done._replace(
            unchanged=0,
            skipped=tuple(file for file in done.skipped if file not in before),
            failed=tuple(file for file in done.failed if file not in before),
        )
        return fresh if any(fresh) else None


def follow(
    changes: Iterable[Batch], report: Callable[[str | None, Ingested], None], label: str
) -> None:
    """Report each batch; Ctrl-C ends this, and is no failure."""
    try:
        err(f"watching {label}; Ctrl-C stops")
        for path, done in changes:
            report(path, done)
    except KeyboardInterrupt as interrupt:
        err(f"\nscrubjay: stopped watching; {str(interrupt) or 'what was read is kept'}")
