"""Rate and time left of a task."""

from __future__ import annotations

import pytest

from scrubjay.runtime.pace import Pace, duration, per_second


@pytest.fixture
def moments():
    return [0.0]


@pytest.fixture
def pace(moments):
    return Pace(lambda: moments[0])


def at(moments, pace, second, done):
    moments[0] = second
    pace.add(done)


def test_nothing_is_known_before_a_second_of_work(moments, pace):
    assert pace.rate() is None
    at(moments, pace, 0.0, 0)
    at(moments, pace, 0.9, 90)
    assert (pace.rate(), pace.left_s(10)) == (None, None)
    at(moments, pace, 1.0, 100)
    assert (pace.rate(), pace.left_s(50)) == (100.0, 0.5)


def test_what_was_done_before_does_not_count(moments, pace):
    """A task that resumes at 900 of 1,000 did not do those 900 now."""
    at(moments, pace, 0.0, 900)
    at(moments, pace, 10.0, 950)
    assert (pace.rate(), pace.left_s(50)) == (5.0, 10.0)


def test_the_rate_is_that_of_the_last_half_minute(moments, pace):
    for second in range(61):
        at(moments, pace, float(second), second * 100)
    for second in range(61, 121):
        at(moments, pace, float(second), 6000 + (second - 60) * 10)
    assert pace.rate() == pytest.approx(10.0)


def test_a_task_that_stands_still_gets_slower_until_its_rate_is_unknown(moments, pace):
    at(moments, pace, 0.0, 0)
    at(moments, pace, 10.0, 100)
    at(moments, pace, 20.0, 100)
    assert pace.rate() == 5.0
    at(moments, pace, 100.0, 100)
    assert (pace.rate(), pace.left_s(10)) == (None, None)


def test_a_count_that_begins_again_is_another_task(moments, pace):
    at(moments, pace, 0.0, 0)
    at(moments, pace, 10.0, 1000)
    at(moments, pace, 20.0, 0)
    assert pace.rate() is None
    at(moments, pace, 30.0, 20)
    assert pace.rate() == 2.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0.1 s"),
        (3.14, "3.1 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (250, "4 min 10 s"),
        (3599.6, "1 h 0 min"),
        (7530, "2 h 5 min"),
    ],
)
def test_a_duration_in_words(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("rate", "words"), [(0.05, "0.05/s"), (3.14, "3.1/s"), (95.4, "95/s"), (1234.5, "1,234/s")]
)
def test_a_rate_in_words(rate, words):
    assert per_second(rate) == words
