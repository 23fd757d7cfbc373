"""Keeps an index in step with folders while they change."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence

from scrubjay.errors import MissingExtra, ScrubjayError

# Editors save in several steps, and checkouts touch many files: wait until it has been quiet.
_QUIET_MS = 400
_AT_MOST_MS = 5_000
_LOOK_MS = 500  # how often the wish to stop is looked at


def check_watchable() -> None:
    """Say at once, not after a long first reading, that a package is missing."""
    try:
        import watchfiles  # noqa: F401
    except ImportError:
        raise MissingExtra("watchfiles", 'pip install "scrubjay[files]"') from None


class Watcher:
    """A thread that calls `refresh` whenever something below one of the paths changes."""

    def __init__(
        self, paths: Sequence[str], own: Collection[str], refresh: Callable[[], None]
    ) -> None:
        self._paths = paths
        # Some systems tell of changes by other paths than they were asked about: links resolved.
        self._own = {*own, *map(os.path.realpath, own)}
        self._refresh = refresh
        self._stopping = threading.Event()
        self.failure: str | None = None
        self._thread = threading.Thread(target=self._run, name="scrubjay-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish the refresh under way and stop."""
        self._stopping.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        try:
            for number, changes in enumerate(self._changes()):
                # What changed before the watch had begun is seen by looking once when it has.
                if self._stopping.is_set():
                    return
                if changes or number == 0:
                    self._refresh()
        except (OSError, ScrubjayError) as error:  # the folder is gone, or the disk is full
            self.failure = str(error)
        except Exception as error:  # what is called after a change may raise anything
            self.failure = f"{type(error).__name__}: {error}"
            raise

    def _is_own(self, path: str) -> bool:
        return path in self._own or os.path.realpath(path) in self._own

    def _changes(self) -> Iterator[set[object]]:
        from watchfiles import watch

        return watch(  # type: ignore[return-value]  # a set of pairs, of which only the number counts
            *self._paths,
            watch_filter=lambda _, path: not self._is_own(path),
            debounce=_AT_MOST_MS,
            step=_QUIET_MS,
            stop_event=self._stopping,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
