"""What a reader gets to see: how many, above what score, which passage."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import InvalidInput
from scrubjay.pipeline import Run
from scrubjay.stages.present import at_least, passages, pool, top
from scrubjay.types import Candidate, Chunk, Memory, Query


def run(*scores, limit=10, min_score=None, terms=()):
    candidates = tuple(Candidate(f"m{n}", score=score) for n, score in enumerate(scores))
    return Run(Query("q", limit=limit, min_score=min_score, terms=terms), pool=candidates)


def left(after):
    return [one.score for one in after.pool]


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(1, 40), st.integers(1, 40))
def test_the_pool_keeps_so_many_or_as_many_as_were_asked_for(scores, size, limit):
    """R-3: a small pool never makes an answer shorter than its limit."""
    assert left(pool(size=size)(run(*scores, limit=limit))) == scores[: max(size, limit)]


def test_a_pool_of_nothing_is_refused():
    """At least one."""
    with pytest.raises(InvalidInput, match=r"pool\.size is 0"):
        pool(size=0)(run(0.5))


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(1, 40))
def test_top_keeps_the_first_so_many(scores, limit):
    """R-3: limit means limit."""
    assert left(top()(run(*scores, limit=limit))) == scores[:limit]


def test_at_least_drops_what_scores_below():
    """What scores exactly as much stays, also where only the shown places are equal."""
    assert left(at_least()(run(0.9, 0.5, 0.4999999, 0.49, min_score=0.5))) == [0.9, 0.5, 0.4999999]
    assert left(at_least()(run(0.9, 0.0))) == [0.9, 0.0]
    assert left(at_least()(run(0.9, -0.1, min_score=0.0))) == [0.9]


TEXT = "A first line.\n" + "filler " * 60 + "\nthe harbour is closed\n" + "filler " * 60


def shown(memory, chunk=None, terms=("harbour",), width=80):
    one = Candidate("a", memory=memory, chunk=chunk)
    asked = Run(Query("q", terms=terms), pool=(one,))
    return passages(width_chars=width)(asked).pool[0]


def test_a_snippet_is_cut_around_the_words_of_the_query():
    """And marked as a part of the whole."""
    one = shown(Memory(TEXT))

    assert "harbour is closed" in one.snippet
    assert (one.snippet[0], one.snippet[-1], one.complete) == ("…", "…", False)


def test_a_snippet_comes_from_the_best_chunk():
    """R-4: the chunk that was remembered."""
    one = shown(Memory(TEXT), Chunk(0, 0, 13, 1, 1))

    assert (one.snippet, one.complete) == ("A first line.", False)


def test_a_short_text_is_shown_whole():
    """`complete` says so."""
    assert shown(Memory("the harbour"))[-3:-1] == ("the harbour", True)


def test_without_a_record_there_is_nothing_to_show():
    """It was deleted meanwhile."""
    assert shown(None).snippet == ""
