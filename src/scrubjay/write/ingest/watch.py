"""Watch folders: call a function whenever a file in them changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence

from scrubjay.errors import MissingExtra, ScrubjayError
from scrubjay.runtime.worker import Worker

# Editors save in several steps, and checkouts change many files: wait until nothing changes.
_QUIET_MS = 400
_AT_MOST_MS = 5_000
_STOP_CHECK_MS = 500  # how often the thread checks whether it should stop


def check_watchable() -> None:
    """Raise MissingExtra before the first long read, not after it."""
    try:
        import watchfiles  # noqa: F401
    except ImportError:
        raise MissingExtra("watchfiles", 'pip install "scrubjay[files]"') from None


class Watcher:
    """A thread that calls `refresh` whenever a file below one of the paths changes, except `own` files."""

    def __init__(
        self, paths: Sequence[str], own: Collection[str], refresh: Callable[[], None]
    ) -> None:
        self._paths = paths
        # Some systems report changes with links resolved, not by the paths that were watched.
        self._own = {*own, *map(os.path.realpath, own)}
        self._refresh = refresh
        self.failure: str | None = None
        self._worker = Worker("watch", self._run)
        self._worker.wake()

    def stop(self) -> None:
        """Stop after the current refresh."""
        self._worker.stop()
        self._worker.join()

    def _run(self) -> None:
        try:
            for number, changes in enumerate(self._changes()):
                if self._worker.stopping.is_set():
                    return
                # The first refresh finds what changed before the watch began.
                if changes or number == 0:
                    self._refresh()
        except (OSError, ScrubjayError) as error:  # the folder was deleted, or the disk is full
            self.failure = str(error)
        except Exception as error:  # the caller's `on_change` may raise anything
            self.failure = f"{type(error).__name__}: {error}"
            raise

    def _is_own(self, path: str) -> bool:
        return path in self._own or os.path.realpath(path) in self._own

    def _changes(self) -> Iterator[set[object]]:
        from watchfiles import watch

        return watch(  # type: ignore[return-value]  # only whether the set is empty matters
            *self._paths,
            watch_filter=lambda _, path: not self._is_own(path),
            debounce=_AT_MOST_MS,
            step=_QUIET_MS,
            stop_event=self._worker.stopping,
            rust_timeout=_STOP_CHECK_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
