"""Slow and failed models: how long they are waited for, and left alone."""

from __future__ import annotations

import json

import pytest
from clocks import Clock
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import Unavailable
from scrubjay.models.breaker import Breaker, MemoryNotes

RESTS_S = [30, 60, 120, 240, 480, 600, 600, 600]


class Model:
    """Fails while it is told to, and counts its calls."""

    def __init__(self):
        self.calls = 0
        self.broken = True

    def __call__(self):
        self.calls += 1
        if self.broken:
            raise Unavailable(f"failure {self.calls}")
        return "answer"


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def notes():
    return MemoryNotes()


@pytest.fixture
def breaker(notes, clock):
    return Breaker("tiny", "reranker tiny", notes, clock)


def refused(breaker, model):
    """Return what is said instead of an answer."""
    with pytest.raises(Unavailable) as caught:
        breaker.call(model)
    return str(caught.value)


class TestBreaker:
    def test_a_failed_model_is_not_asked_again_while_it_rests(self, breaker, model, clock):
        """R-6: it says what failed, and for how long it is left alone."""
        assert refused(breaker, model) == "failure 1"
        clock.advance(seconds=3)

        said = refused(breaker, model)

        assert model.calls == 1
        assert said == "tiny is paused for another 27 s after a failure: failure 1"

    def test_rests_double_up_to_ten_minutes(self, breaker, model, clock):
        """30 s, 60 s … 600 s; to the very second."""
        for asked, rest_s in enumerate(RESTS_S, start=1):
            assert refused(breaker, model) == f"failure {asked}"
            clock.advance(seconds=rest_s - 0.001)
            assert "another 1 s" in refused(breaker, model)
            assert model.calls == asked
            clock.advance(seconds=0.001)

    def test_success_resets_it(self, breaker, model, clock, notes):
        """The next failure rests for half a minute again."""
        for rest_s in RESTS_S[:3]:
            refused(breaker, model)
            clock.advance(seconds=rest_s)
        model.broken = False
        assert breaker.call(model) == "answer"
        assert notes.get("outage", "reranker tiny") is None
        model.broken = True

        refused(breaker, model)

        assert "another 30 s" in refused(breaker, model)

    def test_reset_gives_another_chance_at_once(self, breaker, model):
        """Whoever has just mended it need not wait."""
        refused(breaker, model)
        model.broken = False
        breaker.reset()

        assert breaker.call(model) == "answer"

    def test_another_breaker_on_the_same_notes_knows_it(self, breaker, model, notes, clock):
        """As another process on the same file does; another model's failure is its own."""
        refused(breaker, model)
        same = Breaker("tiny", "reranker tiny", notes, clock)
        other = Breaker("tiny", "generator tiny", notes, clock)
        model.broken = False

        assert "paused" in refused(same, model)
        assert other.call(model) == "answer"

    def test_a_clock_that_was_wrong_does_not_let_it_rest_for_years(self, breaker, model, clock):
        """A failure noted in 2031 by a machine whose clock was off; it is asked again."""
        clock.advance(days=2000)
        refused(breaker, model)
        clock.advance(days=-2000)
        model.broken = False

        assert breaker.call(model) == "answer"

    def test_only_unavailable_counts_as_a_failure(self, breaker, notes):
        """A mistake of ours is seen, and the model is not to blame."""

        def mistake():
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            breaker.call(mistake)
        assert notes.get("outage", "reranker tiny") is None

    def test_the_note_is_plain(self, breaker, model, notes, clock):
        """Failures in a row, until when, why: `doctor` reads it too."""
        refused(breaker, model)

        failures, until_us, reason = json.loads(notes.get("outage", "reranker tiny"))

        assert (failures, reason) == (1, "failure 1")
        assert until_us == int(clock().timestamp() * 1_000_000) + 30_000_000

    @given(
        st.lists(st.tuples(st.floats(0, 700), st.booleans()), min_size=1, max_size=30),
    )
    def test_it_never_calls_during_a_rest_and_always_after(self, moments):
        """Whatever happens when: a second book of the rests, kept by hand."""
        clock, model = Clock(), Model()
        breaker = Breaker("tiny", "k", MemoryNotes(), clock)
        free_at, failures = clock(), 0
        for wait_s, broken in moments:
            now = clock.advance(seconds=round(wait_s, 3))
            model.broken = broken
            before = model.calls
            try:
                breaker.call(model)
                failures = 0
            except Unavailable:
                if now >= free_at:
                    rest_s = min(30 * 2**failures, 600)
                    failures += 1
                    assert model.calls == before + 1
                    free_at = clock.advance(seconds=rest_s)
                    clock.advance(seconds=-rest_s)
                    continue
            assert model.calls == before + (now >= free_at)
