"""Close several parts, even if one of them fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def close_all(steps: Iterable[Callable[[], object]]) -> None:
    """Take every step in order; then raise the first error, with the others as notes.

    A step that fails must not leave the parts after it open: their threads would go on, and their files
    would stay locked. An interruption is raised in place of an error, as it came from the user.
    """
    first: BaseException | None = None
    for step in steps:
        try:
            step()
        except BaseException as error:  # noqa: BLE001  # raised below, once all is closed
            if first is None:
                first = error
            elif isinstance(first, Exception) and not isinstance(error, Exception):
                _note(error, first)
                first = error
            else:
                _note(first, error)
    if first is not None:
        raise first


def _note(raised: BaseException, other: BaseException) -> None:
    raised.add_note(f"closing also failed with {type(other).__name__}: {other}")
    for note in getattr(other, "__notes__", ()):
        raised.add_note(note)
