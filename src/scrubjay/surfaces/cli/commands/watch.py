"""`ingest --watch`: a report after each batch of changes, until Ctrl-C."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError
from scrubjay.surfaces.render.terminal import err

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrubjay.types.reports import Ingested

_WAKE_S = 0.5  # Windows delivers Ctrl-C only between two waits


class Changes:
    """What the watching threads saw, for the one thread that embeds and prints."""

    def __init__(self, failure: Callable[[], str | None] = lambda: None) -> None:
        self._failure = failure
        self._seen: SimpleQueue[tuple[str | None, Ingested]] = SimpleQueue()

    def of(self, path: str | None) -> Callable[[Ingested], None]:
        """Return what the store calls after each batch below this path."""
        return lambda done: self._seen.put((path, done))

    def __iter__(self) -> Iterator[tuple[str | None, Ingested]]:
        while True:
            try:
                yield self._seen.get(timeout=_WAKE_S)
            except Empty:
                if reason := self._failure():
                    raise StoreError(f"the watch has ended: {reason}") from None


class News:
    """What a batch brought, without what was said before: a file that fails, fails every time."""

    def __init__(self, said: Iterable[tuple[str | None, Ingested]]) -> None:
        self._left_out = {path: {*done.skipped, *done.failed} for path, done in said}

    def of(self, path: str | None, done: Ingested) -> Ingested | None:
        """Return what is new in a batch, or None where nothing is."""
        before = self._left_out.get(path, set())
        self._left_out[path] = {*done.skipped, *done.failed}
        fresh = done._replace(
            unchanged=0,
            skipped=tuple(one for one in done.skipped if one not in before),
            failed=tuple(one for one in done.failed if one not in before),
        )
        return fresh if any(fresh) else None


def follow(
    changes: Iterable[tuple[str | None, Ingested]],
    report: Callable[[str | None, Ingested], None],
    label: str,
) -> None:
    """Report each batch as it comes; Ctrl-C is how a person ends this, so it is no failure."""
    try:
        err(f"watching {label}; Ctrl-C stops")
        for path, done in changes:
            report(path, done)
    except KeyboardInterrupt:
        err("\nscrubjay: no longer watching; what was read stays")
