"""What vault does with the number of entries, and with what is no entry."""

from __future__ import annotations

import pytest

import scrubjay
from scrubjay.search.pipeline import Run
from scrubjay.search.stages.entries import description, fixed_score, scan, top_or_all, widen
from scrubjay.types import Candidate, Found, Memory, Query, RankedList, Row


def found(count, by_vector=0, **query):
    """Return a run with this many hits by keyword, and more that only vectors found."""
    ids = [f"e{n:03}" for n in range(count + by_vector)]
    pool = tuple(
        Candidate(
            id_,
            1 - n / 1000,
            memory=Memory(f"text {n}", id=id_),
            found={"keyword" if n < count else "vector": Found(n + 1, 1.0)},
        )
        for n, id_ in enumerate(ids)
    )
    lists = tuple(
        RankedList(name, tuple(Row(id_, 1.0, 0) for id_ in some))
        for name, some in (("keyword", ids[:count]), ("vector", ids[count:]))
    )
    return Run(Query("q", limit=10, **query), lists=lists, pool=pool)


class TestSmallCorpus:
    @pytest.mark.parametrize(
        ("there", "shown"), [(5, 5), (10, 10), (19, 10), (20, 10), (21, 21), (49, 49), (50, 10)]
    )
    def test_few_are_all_shown_where_no_limit_was_given(self, there, shown):
        """SV-11: fewer than 50, and the limit would drop more than half."""
        assert len(top_or_all()(found(there, limited=False)).pool) == shown

    @pytest.mark.parametrize(
        ("there", "shown"), [(0, 10), (5, 10), (20, 10), (21, 81), (49, 109), (50, 10)]
    )
    def test_what_only_vectors_found_is_not_counted(self, there, shown):
        """SV-11: full-text hits decide whether all are shown, with and without vectors."""
        run = top_or_all()(found(there, by_vector=60, limited=False))

        assert len(run.pool) == shown

    def test_those_below_the_minimum_score_are_hits_of_full_text_too(self):
        """SV-11: sixty were found, so the corpus is not small, whatever a minimum leaves of them."""
        run = found(60, limited=False)

        assert len(top_or_all()(run._replace(pool=run.pool[:30])).pool) == 10

    @pytest.mark.parametrize("there", [21, 49])
    def test_a_limit_of_the_caller_is_obeyed(self, there):
        """SV-11, R-3: the guard holds where the caller gave none."""
        assert len(top_or_all()(found(there, limited=True)).pool) == 10

    def test_at_least_fifty_are_fetched_without_a_limit(self):
        """SV-11: the guard counts those that were fetched."""
        assert widen()(found(1, limited=False)).query.least == 50
        assert widen()(found(1, limited=True)).query.least == 0

    def test_wrong_numbers_are_refused(self):
        for make, numbers in (
            (top_or_all, {"few": -1}),
            (top_or_all, {"share": 2}),
            (widen, {"unlimited": 0}),
            (scan, {"chars": 0}),
        ):
            with pytest.raises(scrubjay.InvalidInput):
                make(**numbers)


class TestFixedScore:
    def test_memories_stand_at_one_score_among_the_entries(self):
        """SV-13: merged at 0.5, sorted by score; ties by age and id."""
        run = found(3)
        message = Memory("said", id="said", type="message")
        pool = (*run.pool, Candidate("said", 0.01, memory=message, why={"semantic": 0.01}))
        low = run.pool[2]._replace(score=0.2)

        after = fixed_score(types=("message",))(run._replace(pool=(*pool[:2], low, pool[3])))

        assert [one.id for one in after.pool] == ["e000", "e001", "said", "e002"]
        assert after.pool[2].score == 0.5
        assert after.pool[2].why == {"semantic": 0.01, "memory": 0.5}
        assert "memory" not in after.pool[0].why


class TestScan:
    def test_it_shows_the_first_characters_and_nothing_more(self):
        """SV-1: first 120 characters of the description."""
        long = Memory("x" * 119 + "yz", id="long")
        run = Run(Query("q"), pool=(Candidate("long", memory=long),))

        (one,) = scan()(run).pool

        assert one.snippet == "x" * 119 + "y"
        assert (one.complete, one.brief) == (False, True)

    def test_of_a_file_it_shows_the_body(self):
        """SV-1: the description of an ingested entry does not begin with its front matter."""
        text = "---\ntitle: Retry\n---\n\nRetry with backoff."

        assert description(Memory(text, metadata={"format": "markdown"})) == "Retry with backoff."
        assert description(Memory(text)) == text
