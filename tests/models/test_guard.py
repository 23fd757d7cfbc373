"""Rerankers and generators of others: every lie, failure and long wait is Unavailable, once."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from itertools import repeat

import numpy as np
import pytest
from clocks import Clock
from fakes import HashingEmbedder, ScriptedGenerator, ScriptedReranker
from hypothesis import given
from hypothesis import strategies as st

import scrubjay
from scrubjay import InvalidInput, Unavailable
from scrubjay.models.breaker import MemoryNotes
from scrubjay.models.guard import GuardedEmbedder, GuardedGenerator, GuardedReranker

TEXTS = ["one", "two", "three"]


def reranker(answer, *, notes=None, clock=None, calibrates=False):
    """A guarded reranker that answers so, and the one inside."""
    inner = ScriptedReranker(answer)
    made = GuardedReranker(inner, notes or MemoryNotes(), clock or Clock(), calibrates=calibrates)
    return made, inner


def complaint(answer):
    """What is said when a reranker gives such an answer; and it is not asked again at once."""
    made, inner = reranker(answer)
    with pytest.raises(Unavailable) as caught:
        made.score("q", TEXTS, within_s=5)
    with pytest.raises(Unavailable, match="scripted is paused for another 30 s"):
        made.score("q", TEXTS, within_s=5)
    assert len(inner.asked) == 1
    return str(caught.value)


class Rude:
    """A number that does not want to be one."""

    def __float__(self):
        raise RuntimeError("no")


GOOD = [
    [0.1, 0.5, 1.0],
    (0.1, 0.5, 1.0),
    np.array([0.1, 0.5, 1.0]),
    np.array([0.1, 0.5, 1.0], np.float16),
    [np.float32(0.1), np.float64(0.5), 1],
]


class TestScores:
    @pytest.mark.parametrize("answer", GOOD, ids=lambda answer: type(answer).__name__)
    def test_any_row_of_numbers_will_do(self, answer):
        """Lists, tuples, arrays of any precision; what comes out are plain floats."""
        made, inner = reranker(lambda query, texts: answer)

        scores = made.score("q", TEXTS, within_s=5)

        assert scores == pytest.approx([0.1, 0.5, 1.0], abs=1e-3)
        assert [type(one) for one in scores] == [float] * 3
        assert inner.asked == [("q", TEXTS)]

    def test_a_generator_object_is_read_in_time(self):
        """It is run out where the clock ticks."""
        made, _ = reranker(lambda query, texts: (len(text) / 5 for text in texts))

        assert made.score("q", TEXTS, within_s=5) == [0.6, 0.6, 1.0]

    def test_a_float32_that_steps_over_the_edge_is_put_back(self):
        """A sigmoid may give 1.0000001."""
        made, _ = reranker(lambda query, texts: [1.0000001, -1e-7, 0.5])

        assert made.score("q", TEXTS, within_s=5) == [1.0, 0.0, 0.5]

    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            ([0.1, 0.2], "gave 2 scores for 3 texts"),
            ([0.1] * 4, "gave more scores than the 3 texts"),
            ([], "gave 0 scores for 3 texts"),
            ([0.1, math.nan, 0.2], "not a number; scores must be between 0 and 1"),
            ([0.1, math.inf, 0.2], "gave inf; scores must be between 0 and 1"),
            ([0.1, -math.inf, 0.2], "gave -inf"),
            ([0.1, 1.5, 0.2], "gave 1.5; scores must be between 0 and 1"),
            ([0.1, -0.01, 0.2], "gave -0.01"),
            ([7.2, -3.0, 0.4], "gave 7.2"),
            (["high", "low", "low"], "not a number"),
            ([0.1, None, 0.2], "not a number"),
            ([[0.1], [0.2], [0.3]], "not a number"),
            ([0.1, 10**400, 0.2], "not a number"),
            ([0.1, Rude(), 0.2], "not a number"),
            (None, "TypeError"),
            (0.7, "TypeError"),
            ({"scores": [1]}, "gave"),
            (np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), "not a number"),
            ([0.1, 0.2 + 1j, 0.3], "not a number"),
        ],
        ids=lambda given: repr(given)[:20],
    )
    def test_a_wrong_answer_is_named_and_not_asked_for_again_at_once(self, answer, says):
        """R-6: the count, NaN, infinity, outside of 0..1, no numbers, nothing at all."""
        assert says in complaint(lambda query, texts: answer)

    @pytest.mark.parametrize(
        "error",
        [
            RuntimeError("CUDA out of memory"),
            KeyError("x"),
            StopIteration(),
            MemoryError(),
            RecursionError(),
            asyncio.CancelledError(),
            SystemExit(1),
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
            AssertionError(),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_whatever_it_raises_is_unavailable(self, error):
        """R-6: the name of the error is in the reason."""
        assert type(error).__name__ in complaint(lambda query, texts: error)

    def test_its_own_unavailable_keeps_its_words(self):
        """They say what to do."""
        gone = Unavailable("no GPU; plug one in")
        assert complaint(lambda query, texts: gone) == "no GPU; plug one in"

    def test_an_answer_that_never_ends_is_given_up(self):
        """R-12: the hard deadline; nobody waits for a stuck model twice."""
        ends = threading.Event()
        made, inner = reranker(lambda query, texts: [ends.wait() or 0.1 for _ in texts])
        try:
            with pytest.raises(Unavailable, match=r"did not answer within 0\.05 s"):
                made.score("q", TEXTS, within_s=0.05)
            with pytest.raises(Unavailable, match="paused"):
                made.score("q", TEXTS, within_s=3600)
        finally:
            ends.set()
        assert len(inner.asked) == 1

    def test_an_endless_row_of_scores_is_not_collected(self):
        """It would fill the memory; one too many is enough to know."""
        said = complaint(lambda query, texts: repeat(0.5))

        assert "more scores than the 3 texts" in said

    def test_the_texts_it_was_given_are_its_own(self):
        """A model that changes its list changes nothing of ours."""
        mine = ["one", "two"]
        made, _ = reranker(lambda query, texts: [texts.clear() or 0.5, 0.5])

        made.score("q", mine, within_s=5)

        assert mine == ["one", "two"]

    @given(st.lists(st.floats() | st.integers() | st.text(max_size=3) | st.none(), max_size=4))
    def test_whatever_comes_scores_lie_in_0_to_1_or_it_is_unavailable(self, answer):
        """There is no third way."""
        made, _ = reranker(lambda query, texts: answer)
        try:
            scores = made.score("q", TEXTS, within_s=5)
        except Unavailable:
            return
        assert len(scores) == 3
        assert all(0 <= one <= 1 for one in scores)

    @pytest.mark.parametrize("lacks", ["name", "score"])
    def test_what_is_no_reranker_is_refused(self, lacks):
        """InvalidInput says what it needs."""

        class Half:
            pass

        half = Half()
        if lacks == "score":
            half.name = "half"
        with pytest.raises(InvalidInput, match=f"has no '{lacks}'; it needs name and score"):
            GuardedReranker(half, MemoryNotes(), Clock())


class TestSpeed:
    def test_a_configured_one_is_measured_once_and_the_number_is_kept(self, clock):
        """R-12: a warm-up, then eight pairs; later ones read the note, whoever they are."""
        notes = MemoryNotes()
        made, inner = reranker(lambda query, texts: [0.5] * len(texts), notes=notes)
        twin, silent = reranker(
            lambda query, texts: [0.5] * len(texts), notes=notes, calibrates=True
        )
        made._calibrates = True

        first = made.ms_per_1000_chars(10)

        assert [len(texts) for _, texts in inner.asked] == [1, 8]
        assert all(900 < len(text) < 1100 for _, texts in inner.asked for text in texts)
        assert first == pytest.approx(float(notes.get("speed", "scripted")), rel=1e-4)
        assert made.ms_per_1000_chars(10) == twin.ms_per_1000_chars(10)
        assert len(inner.asked) == 2
        assert silent.asked == []

    def test_the_number_is_time_for_a_thousand_characters(self, monkeypatch):
        """Eight texts of 1008 characters in 403.2 s are 50 s each: 50,000 ms a thousand."""
        ticks = iter([100.0, 503.2])
        monkeypatch.setattr(time, "perf_counter", lambda: next(ticks))
        made, inner = reranker(lambda query, texts: [0.5] * len(texts))

        speed_ms = made.calibrate()

        chars = len(inner.asked[1][1][0])
        assert speed_ms == pytest.approx(403_200 / 8 / (chars / 1000))

    def test_a_callers_own_is_never_measured_by_itself(self):
        """R-12: it is called for searches only."""
        made, inner = reranker(lambda query, texts: [0.5] * len(texts))

        assert made.ms_per_1000_chars(10) is None
        assert inner.asked == []
        made.calibrate()
        assert made.ms_per_1000_chars(10) is not None

    def test_one_that_can_be_measured_rests_no_longer(self):
        """Who has mended it and measures it need not wait ten minutes."""
        broken = [True]
        made, _ = reranker(lambda query, texts: None if broken else [0.5] * len(texts))
        with pytest.raises(Unavailable):
            made.score("q", TEXTS, within_s=5)
        broken.clear()
        with pytest.raises(Unavailable, match="paused"):
            made.score("q", TEXTS, within_s=5)

        made.calibrate()

        assert made.score("q", TEXTS, within_s=5) == [0.5] * 3

    def test_a_measurement_that_fails_is_a_failure(self):
        """R-6: it is left alone, and no number is kept."""
        notes = MemoryNotes()
        made, inner = reranker(lambda query, texts: None, notes=notes, calibrates=True)
        with pytest.raises(Unavailable):
            made.ms_per_1000_chars(10)
        with pytest.raises(Unavailable, match="paused"):
            made.ms_per_1000_chars(10)
        with pytest.raises(Unavailable, match="paused"):
            made.score("q", TEXTS, within_s=5)
        assert len(inner.asked) == 1
        assert notes.get("speed", "scripted") is None


class TestGenerator:
    @staticmethod
    def ask(*says, clock=None, read=str.upper, within_s=5.0):
        inner = ScriptedGenerator(*says)
        made = GuardedGenerator(inner, MemoryNotes(), clock or Clock())
        return inner, lambda: made.complete("p", schema={}, within_s=within_s, read=read)

    def test_it_returns_what_is_read_from_the_answer(self):
        """`read` makes something of the text."""
        inner, ask = self.ask("yes")

        assert ask() == "YES"
        assert inner.prompts == ["p"]

    @pytest.mark.parametrize("said", [None, b"bytes", 7, ["a"], {"lexical": []}], ids=repr)
    def test_what_is_no_text_is_a_failure(self, said):
        """GN-2: None and bytes too; the kind is named."""
        inner, ask = self.ask(said)
        with pytest.raises(Unavailable, match=f"gave {type(said).__name__} instead of a text"):
            ask()
        with pytest.raises(Unavailable, match="paused"):
            ask()
        assert len(inner.prompts) == 1

    @pytest.mark.parametrize("error", [OSError("down"), StopIteration(), SystemExit(2)])
    def test_whatever_it_raises_is_unavailable(self, error):
        """GN-2: failure means no expansion, not an error."""
        _, ask = self.ask(error)
        with pytest.raises(Unavailable, match=f"scribe failed: {type(error).__name__}"):
            ask()

    def test_an_answer_that_cannot_be_read_lets_it_rest_and_success_ends_that(self, clock):
        """GN-2: asked again after half a minute, and then as if nothing had been."""

        def read(text):
            if text == "prose":
                raise Unavailable("no JSON")
            return text

        inner, ask = self.ask("prose", "{}", "prose", clock=clock, read=read)
        with pytest.raises(Unavailable, match="no JSON"):
            ask()
        with pytest.raises(Unavailable, match="paused for another 30 s after a failure: no"):
            ask()
        clock.advance(seconds=31)
        assert ask() == "{}"
        with pytest.raises(Unavailable, match=r"^no JSON"):
            ask()
        with pytest.raises(Unavailable, match="another 30 s"):
            ask()
        assert len(inner.prompts) == 3

    def test_one_that_hangs_is_given_up(self):
        """GN-2: a time limit."""
        ends = threading.Event()

        class Hangs:
            name = "stuck"

            def complete(self, prompt, *, schema=None):
                ends.wait()

        made = GuardedGenerator(Hangs(), MemoryNotes(), Clock())
        try:
            with pytest.raises(Unavailable, match=r"stuck did not answer within 0\.05 s"):
                made.complete("p", within_s=0.05, read=str)
        finally:
            ends.set()

    def test_what_is_no_generator_is_refused(self):
        """InvalidInput says what it needs."""
        with pytest.raises(InvalidInput, match="has no 'complete'; it needs name and complete"):
            GuardedGenerator(ScriptedReranker(None), MemoryNotes(), Clock())


@pytest.mark.parametrize("stated", [True, 1.5, "256", (True,), (0,), (10_000,)])
def test_lengths_that_are_none_are_refused(stated):
    """CG-1: with what would be right."""
    model = HashingEmbedder()
    model.matryoshka = stated

    with pytest.raises(InvalidInput, match="whole numbers"):
        GuardedEmbedder(model)


def test_a_store_refuses_such_a_model_at_its_first_call(tmp_path):
    """CG-1: through the library; nothing is stored."""
    model = HashingEmbedder()
    model.matryoshka = True
    with scrubjay.open(tmp_path / "a.db", embedder=model) as store:
        for call in (store.add, store.search):
            with pytest.raises(InvalidInput, match="matryoshka of embedder"):
                call("a lamp")
    with scrubjay.open(tmp_path / "a.db", embedder=False) as store:
        assert store.status().memories == 0
