"""Conversations: two lists as one, ranks to scores, and what says the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import InvalidInput, Memory
from scrubjay.search.pipeline import Run
from scrubjay.search.profiles import Profile
from scrubjay.search.stages.conversation import by_rank, distinct, merge, near_enough
from scrubjay.text.analysis import fold_text
from scrubjay.types import Candidate, Found, Query, RankedList, Row


def run(*lists, pool=(), text="q"):
    return Run(Query(text), lists=tuple(lists), pool=tuple(pool))


def rows(*pairs):
    return tuple(Row(id_, score, chunk=0) for id_, score in pairs)


class TestMerge:
    def test_both_lists_become_one_by_cosine_each_memory_once(self):
        """CG-4: immediate recall is merged into the vector list by cosine."""
        near = RankedList("vector", rows(("a", 0.9), ("b", 0.5)))
        said = RankedList("immediate", rows(("c", 0.7), ("b", 0.6)))
        words = RankedList("keyword", rows(("a", 3.0)))

        after = merge()(run(words, near, said))

        assert [one.name for one in after.lists] == ["keyword", "vector"]
        assert [(row.id, row.score) for row in after.lists[1].rows] == [
            ("a", 0.9),
            ("c", 0.7),
            ("b", 0.6),
        ]
        assert after.counts == {"immediate": 2}

    def test_equals_stand_by_age_then_id(self):
        """R-5: newer first, then by id, to six places."""
        near = RankedList("vector", (Row("b", 0.5, 0, 1), Row("z", 0.5, 0, 2)))
        said = RankedList("immediate", (Row("a", 0.5 + 1e-8, 0, 1),))

        assert [row.id for row in merge()(run(near, said)).lists[0].rows] == ["z", "a", "b"]

    @pytest.mark.parametrize(("one", "other", "both"), [(0, 0, 0), (1, 0, 1), (0, 1, 1)])
    def test_it_was_searched_when_either_was(self, one, other, both):
        """R-6: only where neither could be asked is it lost."""
        near = RankedList("vector", searched=bool(one))
        said = RankedList("immediate", searched=bool(other))

        assert merge()(run(near, said)).lists[0].searched is bool(both)


class TestNearEnough:
    def test_what_is_less_alike_leaves_the_vector_list_alone(self):
        """CG-10: under 0.3 it is no longer in the vector list; words keep theirs."""
        near = RankedList("vector", rows(("a", 0.31), ("b", 0.3), ("c", 0.299)))
        words = RankedList("keyword", rows(("c", 0.1)))

        after = near_enough()(run(near, words))

        assert [row.id for row in after.lists[0].rows] == ["a", "b"]
        assert [row.id for row in after.lists[1].rows] == ["c"]
        assert after.notes["dropped"] == 1

    def test_a_cosine_that_is_none_is_refused(self):
        """It says what is right."""
        with pytest.raises(InvalidInput, match="between -1 and 1"):
            near_enough(cosine=3)(run())


class TestByRank:
    def test_first_in_both_has_the_sum_of_the_weights(self):
        """CG-4: .70 (k+1)/(k+rank_v) + .30 (k+1)/(k+rank_b), k = 10; an absent list gives 0."""
        near = RankedList("vector", rows(("a", 0.9), ("b", 0.8), ("c", 0.7)))
        words = RankedList("keyword", rows(("a", 5.0), ("d", 2.0), ("b", 1.0)))

        after = by_rank()(run(near, words))

        assert {one.id: one.score for one in after.pool} == pytest.approx(
            {
                "a": 1.0,
                "b": 0.7 * 11 / 12 + 0.3 * 11 / 13,
                "c": 0.7 * 11 / 13,
                "d": 0.3 * 11 / 12,
            }
        )
        assert [one.id for one in after.pool] == ["a", "b", "c", "d"]
        second = after.pool[1]
        assert second.why == pytest.approx({"vector": 0.7 * 11 / 12, "keyword": 0.3 * 11 / 13})
        assert second.found == {"vector": Found(2, 0.8), "keyword": Found(3, 1.0)}

    def test_what_only_the_time_found_has_no_score_yet(self):
        """Its place in that list says nothing of how well it fits."""
        after = by_rank()(run(RankedList("moment", rows(("a", 1.0)))))

        assert [(one.id, one.score, one.why) for one in after.pool] == [("a", 0.0, {})]

    @pytest.mark.parametrize("numbers", [{"k": -1}, {"vector": -0.1}, {"vector": 0, "keyword": 0}])
    def test_numbers_that_cannot_be_are_refused_when_a_profile_is_built(self, numbers):
        """Not when it is searched."""
        with pytest.raises(InvalidInput, match="by_rank"):
            Profile("mine", (by_rank(**numbers),))


class TestDistinct:
    @staticmethod
    def said(*texts):
        return [
            Candidate(str(at), 1.0 / at, memory=Memory(text, str(at)))
            for at, text in enumerate(texts, 1)
        ]

    def test_the_best_of_those_that_say_the_same_stays(self):
        """CG-8: case, spaces and punctuation at the ends do not count."""
        pool = self.said("Anna lives in Rome.", "anna  lives in ROME", "Anna lives in Pisa")

        after = distinct()(run(pool=pool))

        assert [one.id for one in after.pool] == ["1", "3"]
        assert (after.counts["same"], after.counts["echoes"]) == (1, 0)

    def test_what_only_says_what_was_asked_is_dropped(self):
        """CG-8: an echo is no answer, though it matches best."""
        pool = self.said("where does Anna live", "Anna lives in Rome")

        after = distinct()(run(pool=pool, text="Where does Anna live?"))

        assert [one.id for one in after.pool] == ["2"]
        assert after.counts["echoes"] == 1

    def test_punctuation_inside_counts(self):
        """Version 2.3 is not version 23."""
        assert fold_text("v2.3!") == "v2.3" != fold_text("v23")

    def test_texts_of_marks_alone_are_told_apart(self):
        """A thumb up is no thumb down, and `?` no `!`."""
        pool = self.said("?", "!", "👍", "👎")

        assert len(distinct()(run(pool=pool)).pool) == 4

    @given(st.text(), st.sampled_from("aß9語"))
    def test_a_text_says_the_same_in_any_dress(self, text, letter):
        """Whatever it holds, if that is more than marks."""
        said = f"{letter}{text}{letter}"

        assert fold_text(f"  «{said}»\n!") == fold_text(said)
        assert fold_text(fold_text(said)) == fold_text(said)
