"""Slow and failed models: how long they are waited for, and left alone."""

from __future__ import annotations

import json
import threading
import time

import pytest
from clocks import Clock
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import Unavailable
from scrubjay.models.patience import Breaker, InMemory, within

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
    return InMemory()


@pytest.fixture
def breaker(notes, clock):
    return Breaker("tiny", "reranker tiny", notes, clock)


def refused(breaker, model):
    """Return what is said instead of an answer."""
    with pytest.raises(Unavailable) as caught:
        breaker.through(model)
    return str(caught.value)


class TestBreaker:
    def test_a_failed_model_is_not_asked_again_while_it_rests(self, breaker, model, clock):
        """R-6: it says what failed, and for how long it is left alone."""
        assert refused(breaker, model) == "failure 1"
        clock.advance(seconds=3)

        said = refused(breaker, model)

        assert model.calls == 1
        assert said == "tiny is left alone for another 27 s, since it failed: failure 1"

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
        assert breaker.through(model) == "answer"
        assert notes.get("outage", "reranker tiny") is None
        model.broken = True

        refused(breaker, model)

        assert "another 30 s" in refused(breaker, model)

    def test_reset_gives_another_chance_at_once(self, breaker, model):
        """Whoever has just mended it need not wait."""
        refused(breaker, model)
        model.broken = False
        breaker.reset()

        assert breaker.through(model) == "answer"

    def test_another_breaker_on_the_same_notes_knows_it(self, breaker, model, notes, clock):
        """As another process on the same file does; another model's failure is its own."""
        refused(breaker, model)
        same = Breaker("tiny", "reranker tiny", notes, clock)
        other = Breaker("tiny", "generator tiny", notes, clock)
        model.broken = False

        assert "left alone" in refused(same, model)
        assert other.through(model) == "answer"

    def test_a_clock_that_was_wrong_does_not_let_it_rest_for_years(self, breaker, model, clock):
        """A failure noted in 2031 by a machine whose clock was off; it is asked again."""
        clock.advance(days=2000)
        refused(breaker, model)
        clock.advance(days=-2000)
        model.broken = False

        assert breaker.through(model) == "answer"

    def test_only_unavailable_counts_as_a_failure(self, breaker, notes):
        """A mistake of ours is seen, and the model is not to blame."""

        def mistake():
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            breaker.through(mistake)
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
        breaker = Breaker("tiny", "k", InMemory(), clock)
        free_at, failures = clock(), 0
        for wait_s, broken in moments:
            now = clock.advance(seconds=round(wait_s, 3))
            model.broken = broken
            before = model.calls
            try:
                breaker.through(model)
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


class TestWithin:
    def test_it_returns_what_the_call_returns(self):
        """None is an answer too."""
        assert within(5, lambda: "yes", "it") == "yes"
        assert within(5, lambda: None, "it") is None

    def test_it_raises_what_the_call_raises(self):
        """In the thread that waits."""
        with pytest.raises(KeyError, match="gone"):
            within(5, lambda: {}["gone"], "it")

    def test_a_call_that_takes_longer_is_given_up(self):
        """It says after how long; the call may go on, its answer is dropped."""
        ends = threading.Event()
        try:
            with pytest.raises(Unavailable, match=r"^it did not answer within 0\.05 s$"):
                within(0.05, ends.wait, "it")
        finally:
            ends.set()

    def test_it_does_not_keep_the_process_from_ending(self):
        """The thread is a daemon."""
        ends = threading.Event()
        with pytest.raises(Unavailable):
            within(0.01, ends.wait, "it")
        waiting = [one for one in threading.enumerate() if one.name == "scrubjay-waiting"]
        assert waiting
        assert all(one.daemon for one in waiting)
        ends.set()

    def test_the_same_thread_is_asked_again(self):
        """A model may set up much in each thread: torch takes longer for that than for reading."""
        first = within(5, threading.get_ident, "it")
        assert {within(5, threading.get_ident, "it") for _ in range(20)} == {first}

    def test_a_thread_that_never_came_back_is_not_waited_for(self):
        """Another one does the next call, and the lost one serves again when it is free."""
        ends, began = threading.Event(), []

        def hang():
            began.append(threading.get_ident())
            ends.wait()

        with pytest.raises(Unavailable):
            within(0.05, hang, "it")
        assert within(5, threading.get_ident, "it") != began[0]
        ends.set()

    @pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
    def test_what_would_end_the_process_is_a_failure_of_the_model_only(self, error):
        """A panic in a tokenizer written in Rust is no Exception, nor is `sys.exit` in a plug-in."""

        def call():
            raise error

        with pytest.raises(Unavailable, match=f"it failed: {type(error).__name__}"):
            within(5, call, "it")

    def test_many_at_once(self):
        """Each waits for its own."""
        answers = {}

        def ask(number):
            answers[number] = within(10, lambda: time.sleep(0.01) or number, "it")

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

        assert answers == {number: number for number in range(20)}
