"""Back-off: each failure in a row makes the next try wait longer."""

from __future__ import annotations

import time

import pytest

from scrubjay.runtime.backoff import Backoff, delay_after


@pytest.fixture
def now(monkeypatch):
    """A clock that stands still until it is moved."""
    at = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: at[0])
    return at


def test_the_delay_doubles_up_to_a_limit():
    assert [delay_after(n, 0.5, 30) for n in range(1, 9)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert delay_after(10_000, 1, 600) == 600  # no overflow


def test_nothing_waits_before_the_first_failure(now):
    assert Backoff(1, 30).left_s == 0


def test_each_failure_waits_longer_and_a_success_starts_over(now):
    backoff = Backoff(1, 30)
    for expected in (1, 2, 4):
        backoff.failed()
        assert backoff.left_s == expected
        now[0] += expected
        assert backoff.left_s == 0
    backoff.succeeded()
    backoff.failed()
    assert backoff.left_s == 1


def test_a_try_allowed_at_once_still_counts_as_one_more(now):
    backoff = Backoff(1, 30)
    backoff.failed()
    backoff.try_now()
    assert backoff.left_s == 0
    backoff.failed()
    assert backoff.left_s == 2
