"""Several parts are closed, even if one of them fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrubjay.errors import StoreError
from scrubjay.runtime.closing import close_all


def failing(error: BaseException, log: list[str]) -> Callable[[], None]:
    def step() -> None:
        log.append(f"{error}")
        raise error

    return step


def test_every_step_is_taken_in_order():
    log: list[str] = []
    close_all([lambda: log.append("one"), lambda: log.append("two")])
    assert log == ["one", "two"]


def test_the_first_error_is_raised_with_the_others_as_notes():
    log: list[str] = []
    steps = [
        failing(StoreError("first"), log),
        failing(OSError("second"), log),
        lambda: log.append("last"),
    ]
    with pytest.raises(StoreError, match="first") as caught:
        close_all(steps)
    assert log == ["first", "second", "last"]
    assert caught.value.__notes__ == ["closing also failed with OSError: second"]


def test_an_interruption_is_raised_in_place_of_an_error():
    log: list[str] = []
    steps = [failing(StoreError("first"), log), failing(KeyboardInterrupt(), log)]
    with pytest.raises(KeyboardInterrupt) as caught:
        close_all([*steps, failing(OSError("third"), log)])
    assert len(log) == 3
    assert caught.value.__notes__ == [
        "closing also failed with StoreError: first",
        "closing also failed with OSError: third",
    ]


def test_notes_of_several_levels_are_kept():
    with pytest.raises(StoreError) as caught:
        close_all(
            [
                lambda: close_all([failing(StoreError("a"), []), failing(OSError("b"), [])]),
                failing(OSError("c"), []),
            ]
        )
    assert [note[-1] for note in caught.value.__notes__] == ["b", "c"]
