"""What a score is worth: by hand, number by number, and what of it a reader gets to see."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import InvalidInput
from scrubjay.search.pipeline import Run
from scrubjay.search.stages.adjust import (
    base_type,
    fewer_than,
    keyword_floor,
    keywords_of,
    literal_terms,
    multiply,
    needs_keywords,
    stands_in,
    verdict,
)
from scrubjay.search.stages.present import at_least, count_candidates, pool, preview, previews
from scrubjay.search.stages.understand import keywords
from scrubjay.text.analysis import fold
from scrubjay.types import Candidate, Found, Memory, Query, RankedList

BOTH = (RankedList("vector"), RankedList("topics"))


def asking(query, *candidates, **fields):
    """A run whose query has been understood."""
    return keywords()(Run(Query(query, **fields), lists=BOTH))._replace(pool=candidates)


def one(id_="a", score=0.5, *, type="fact", text="a text", read=None, cosine=None):
    """A candidate with one part in its score; `read` is what a reranker said."""
    return Candidate(
        id_,
        score,
        why={"rrf_vector": score},
        memory=Memory(text, id=id_, type=type),
        rerank_score=read,
        found={} if cosine is None else {"vector": Found(1, cosine)},
    )


def scores(run):
    return {one.id: one.score for one in run.pool}


def parts_add_up(run):
    return all(sum(one.why.values()) == pytest.approx(one.score, abs=1e-12) for one in run.pool)


class TestMultiply:
    BOOST = multiply(types={"preference": 1.25, "summary": 1.3}, cap=1.0, unread_cap=0.70)
    DEMOTE = multiply(types={"result": 0.6}, suffixes={"_done": 0.7})

    @pytest.mark.parametrize(
        ("type_", "score", "right"),
        [
            ("fact", 0.5, 0.5),
            ("preference", 0.4, 0.5),  # 0.4 x 1.25
            ("summary", 0.5, 0.65),  # 0.5 x 1.3
            ("preference", 0.9, 1.0),  # 1.125, capped
            ("summary", 0.8, 1.0),  # 1.04, capped
            ("result", 0.5, 0.3),  # 0.5 x 0.6
            ("task_done", 0.5, 0.35),  # 0.5 x 0.7
            ("preference_done", 0.4, 0.35),  # 0.4 x 1.25 x 0.7 = 0.4 x 0.875
            ("summary_done", 0.5, 0.455),  # 0.5 x 1.3 x 0.7
            ("result_done", 0.5, 0.21),  # 0.5 x 0.6 x 0.7
            ("preferences", 0.5, 0.5),  # another word
            ("done", 0.5, 0.5),  # without the line it is a type like any other
        ],
    )
    def test_each_type_has_its_factor_and_what_is_done_counts_as_its_base(
        self, type_, score, right
    ):
        """GS-10: boosts with their cap, then demotions, stacked."""
        run = self.DEMOTE(
            self.BOOST(Run(Query("q"), pool=(one(score=score, type=type_, read=1),)))
        )

        assert scores(run) == {"a": pytest.approx(right)}
        assert parts_add_up(run)

    def test_before_the_cut_done_ones_are_lifted_like_their_base(self):
        """GS-8: preferences x1.3, summaries x1.4."""
        run = multiply(types={"preference": 1.3, "summary": 1.4})(
            Run(
                Query("q"),
                pool=(
                    one("fact", 0.0130),
                    one("preference", 0.0100, type="preference_done"),
                    one("summary", 0.0100, type="summary"),
                ),
            )
        )

        assert [(c.id, round(c.score, 6)) for c in run.pool] == [
            ("summary", 0.014),
            ("fact", 0.013),
            ("preference", 0.013),
        ]

    @pytest.mark.parametrize(
        ("score", "read", "right"),
        [(0.60, None, 0.70), (0.50, None, 0.625), (0.60, 0.6, 0.75), (0.75, None, 0.75)],
    )
    def test_what_no_reranker_has_read_is_lifted_to_0_70_at_most(self, score, read, right):
        """GS-12: 0.6 x 1.25 = 0.75, capped; what is above already is not lowered."""
        run = self.BOOST(Run(Query("q"), pool=(one(score=score, type="preference", read=read),)))

        assert scores(run) == {"a": pytest.approx(right)}

    def test_each_part_has_the_name_of_what_multiplied(self):
        """R-7: listed twice, the stage leaves parts of different names; the same name adds up."""
        start = Run(Query("q"), pool=(one(score=0.4, type="preference_done", read=0.4),))
        run = self.DEMOTE(self.BOOST(start))
        assert run.pool[0].why == pytest.approx(
            {"rrf_vector": 0.4, "preference": 0.1, "_done": -0.15}
        )

        again = self.BOOST(run)  # 0.35 x 1.25 = 0.4375
        assert again.pool[0].why["preference"] == pytest.approx(0.1 + 0.0875)
        assert parts_add_up(again)

    def test_it_sorts_again(self):
        """GS-10: after each group."""
        run = Run(Query("q"), pool=(one("r", 0.5, type="result", read=1), one("f", 0.4, read=1)))

        assert [c.id for c in self.DEMOTE(run).pool] == ["f", "r"]

    def test_without_a_record_nothing_changes_and_negative_factors_are_refused(self):
        """There is no type to look at."""
        bare = Run(Query("q"), pool=(Candidate("a", 0.5),))

        assert self.DEMOTE(bare).pool == bare.pool
        with pytest.raises(InvalidInput, match="multiply"):
            multiply(types={"fact": -1})(bare)

    def test_the_base_of_a_type(self):
        """A type that is nothing but the mark stays as it is."""
        assert [base_type(t) for t in ("task_done", "task", "_done")] == ["task", "task", "_done"]


class TestKeywordFloor:
    @staticmethod
    def floored(query, text, score=0.008):
        run = keyword_floor(floor=0.30)(asking(query, one(score=score, text=text, read=score)))
        assert parts_add_up(run)
        return run.pool[0].score

    @pytest.mark.parametrize(
        ("query", "text", "right"),
        [
            ("harper", "Harper likes her tea strong.", 0.30),
            ("harper", "HARPER", 0.30),
            ("harper", "That is Harper's cup.", 0.30),
            ("harper's", "Harper came late.", 0.30),
            ("harper’s cup", "Harper came late.", 0.15),
            ("harper tea", "Harper came late.", 0.15),  # one of two terms
            ("harper tea", "Tea for Harper.", 0.30),
            ("harper tea cup", "Tea for Harper.", 0.20),
            ("harper harper tea", "Harper came late.", 0.15),  # each word once
            ("harper", "The harpers of Harperton.", 0.008),
            ("how", "Show me.", 0.008),  # nothing else was asked, but the word is not there
            ("how", "This is how.", 0.30),
            ("how is harper", "how is it", 0.008),  # stop words are no terms beside others
            ("what about harper", "Harper came late.", 0.30),
            ("postgres", "See postgres-db, postgres/conf.", 0.30),
            ("retries", "max_retries = 3", 0.008),  # an underscore is inside a word
            ("max_retries", "set MAX_RETRIES to 3", 0.30),
            ("useEffect", "useEffectOnce runs once", 0.008),
            ("useEffect", "call useEffect() first", 0.30),
            ("C++", "Written in C++, mostly.", 0.30),
            ("--force", "git push --force", 0.30),
            ("v1.2.3", "Since v1.2.3 it works.", 0.30),
            ("user@host.org", "Mail user@host.org now.", 0.30),
            ("résumé", "My RESUME is old.", 0.30),  # accents do not count
            ("resume", "Mon résumé est vieux.", 0.30),
            ("straße", "STRASSE", 0.30),
            ("конфиг", "Файл конфиг лежит там", 0.30),
            ("конфиг", "Файл конфигурации", 0.008),
            ('"connection pool"', "the connection pool is full", 0.30),
            ('"connection pool" harper', "the pool", 0.10),  # a phrase's words count one by one
            ("tea -harper", "Tea for Harper.", 0.30),  # what is left out is no term
            ("config*", "our configuration", 0.30),
            ("config*", "reconfigured", 0.008),
            ("काम", "काम हो गया", 0.30),
            ("काम", "कामना है", 0.008),  # a vowel sign goes on with the word
            ("कम", "कमी है", 0.008),
            ("harper ___", "Harper", 0.30),  # a line is no word
            ("AWS", "我们使用AWS部署", 0.30),
            ("部署", "我们使用AWS部署", 0.30),
            ("東京天気", "東京は晴れ", 0.10),  # one of its three pairs
            ("...", "...", 0.008),
        ],
    )
    def test_words_that_stand_there_literally_raise_the_score(self, query, text, right):
        """GS-11: 0.30 x matched / terms, whole words, without case."""
        assert self.floored(query, text) == pytest.approx(right)

    @given(st.floats(0, 1))
    def test_it_is_a_floor_and_never_a_boost(self, score):
        """GS-11: never lowering, and above 0.30 without effect."""
        assert self.floored("harper", "Harper", score) == max(score, 0.30)
        assert self.floored("harper", "nobody", score) == score

    def test_it_sorts_again_and_names_its_part(self):
        """R-2, R-7."""
        run = asking("harper", one("a", 0.2, text="x"), one("b", 0.008, text="Harper"))

        after = keyword_floor(floor=0.30)(run)

        assert [c.id for c in after.pool] == ["b", "a"]
        assert after.pool[0].why == pytest.approx({"rrf_vector": 0.008, "keyword_floor": 0.292})
        assert after.notes["terms"] == ("harper",)

    def test_a_done_or_result_memory_still_sinks(self):
        """GS-11: the floor comes before the multipliers. 0.30 x 0.7, 0.30 x 0.6."""
        run = keyword_floor(floor=0.30)(
            asking(
                "harper",
                one("done", 0.01, text="Harper", type="task_done"),
                one("result", 0.01, text="Harper", type="result"),
                one("fact", 0.01, text="Harper"),
            )
        )

        assert scores(TestMultiply.DEMOTE(run)) == pytest.approx(
            {"fact": 0.30, "done": 0.21, "result": 0.18}
        )

    def test_only_so_many_words_are_looked_for(self):
        """A pasted page is a legal query, too."""
        page = " ".join(f"word{n}" for n in range(500))
        after = keyword_floor(floor=0.30, most=64)(asking(page, one(text="word0", score=0.0)))

        assert after.pool[0].score == pytest.approx(0.30 / 64)

    @pytest.mark.parametrize("wrong", [{"floor": 1.5}, {"floor": -0.1}, {"most": 0}])
    def test_wrong_numbers_are_refused(self, wrong):
        """With what would be right."""
        with pytest.raises(InvalidInput, match=r"keyword_floor\.\w+ is .*must be"):
            keyword_floor(**wrong)(asking("q"))

    @given(st.text(max_size=20), st.text(max_size=40))
    def test_any_query_and_any_text_can_be_compared(self, query, text):
        """And a text that is the term itself holds it."""
        for term in literal_terms(Query(query)):
            stands_in(term, fold(text))
            assert stands_in(term, term.removesuffix("*"))


class TestNeedsKeywords:
    @pytest.mark.parametrize(
        ("query", "there"),
        [
            ("auth", "only 'auth'"),
            ("what about the auth", "only 'auth'"),
            ("Auth AUTH auth", "only 'auth'"),
            ("auth -refactor", "only 'auth'"),
            ("how is it", "none"),
            ("", "none"),
        ],
    )
    def test_one_keyword_is_refused_with_what_to_do(self, query, there):
        """GS-1: stop words, repetitions and negations do not count."""
        with pytest.raises(InvalidInput, match=r"needs 2 or more keywords") as caught:
            needs_keywords(least=2)(asking(query))
        assert f"has {there} " in str(caught.value)
        assert "keywords" in str(caught.value)

    @pytest.mark.parametrize(
        "query", ["auth refactor", '"auth refactor"', "the auth refactor", "数据库"]
    )
    def test_two_are_enough(self, query):
        """GS-1: also inside a phrase; scripts without spaces count by pairs."""
        assert len(keywords_of(asking(query).query)) == 2
        assert needs_keywords(least=2)(asking(query)).notes["keywords"]


def synthetic(x):
    """GS-12, written down a second time."""
    return 0.40 + 0.30 / (1 + exp(-10 * (x - 0.4)))


class TestVerdict:
    BEST = 2 / 61 * 1.4

    @staticmethod
    def judged(*candidates, lists=BOTH):
        return verdict()(Run(Query("q"), lists=lists, pool=candidates))

    def test_what_was_read_has_the_rerankers_score(self):
        """GS-9: nothing of fusion is left in it."""
        run = self.judged(one("a", 0.03, read=0.2), one("b", 0.01, read=0.9))

        assert [(c.id, c.score, c.why) for c in run.pool] == [
            ("b", 0.9, {"rerank": 0.9}),
            ("a", 0.2, {"rerank": 0.2}),
        ]
        assert run.counts["reranked"] == 2

    @pytest.mark.parametrize(
        ("score", "cosine", "x"),
        [
            (2 / 61 * 1.4, 1.0, 1.0),  # first in both lists, a summary, the same text
            (2 / 61, 1.0, 1 / 1.4),
            (1 / 61, None, 1 / 2.8),  # first by topic alone: no cosine
            (1 / 61, 0.6, 0.8 / 2.8),  # first by vector alone: times 0.5 + 0.3
            (1 / 61, -1.0, 0.0),
            (1 / 61 + 1 / 62, 0.5, (1 / 61 + 1 / 62) / (2 / 61 * 1.4) * 0.75),
        ],
    )
    def test_what_was_not_read_has_a_synthetic_one(self, score, cosine, x):
        """GS-12: fused over the highest possible, by cosine where there is one, through the sigmoid."""
        run = self.judged(one(score=score, cosine=cosine))

        assert run.pool[0].score == pytest.approx(synthetic(x))
        assert run.pool[0].why == {"synthetic": run.pool[0].score}
        assert (run.pool[0].rerank_score, run.counts["reranked"]) == (None, 0)

    def test_some_of_the_numbers_as_digits(self):
        """GS-12: x = 0.4 is the middle; the best possible is 0.045902."""
        assert round(self.BEST, 6) == 0.045902
        assert self.judged(one(score=0.4 * self.BEST)).pool[0].score == pytest.approx(0.55)
        # x = 1/2.8 = 0.357143: 1/(1 + e^0.428571) = 0.394468, and 0.40 + 0.30 x that.
        assert self.judged(one(score=1 / 61)).pool[0].score == pytest.approx(0.518340, abs=1e-6)

    @given(st.floats(0, 1), st.one_of(st.none(), st.floats(-1, 1)))
    def test_it_lies_between_0_40_and_0_70(self, score, cosine):
        """GS-12: never above, whatever came before."""
        assert 0.40 <= self.judged(one(score=score, cosine=cosine)).pool[0].score <= 0.70

    def test_one_list_alone_has_a_lower_best(self):
        """GS-12: the sum goes over the lists that the profile has."""
        run = self.judged(one(score=1 / 61), lists=BOTH[:1])

        assert run.pool[0].score == pytest.approx(synthetic(1 / 1.4))

    @pytest.mark.parametrize(
        "wrong", [{"k": -1}, {"boost": 0}, {"low": 0.8}, {"high": 1.1}, {"low": -0.1}]
    )
    def test_wrong_numbers_are_refused_and_large_ones_do_no_harm(self, wrong):
        """No division by zero, no overflow."""
        with pytest.raises(InvalidInput, match=r"verdict\."):
            verdict(**wrong)(Run(Query("q"), pool=(one(),)))
        steep = verdict(steepness=1e9, centre=1e9)(Run(Query("q"), pool=(one(),)))
        assert steep.pool[0].score == 0.40


def test_fewer_than_counts_candidates():
    """GS-12: 4 are fewer than 5, 5 are not; nothing is fewer than 0."""
    four = Run(Query("q"), pool=tuple(one(f"m{n}") for n in range(4)))

    assert fewer_than(candidates=5)(four)
    assert not fewer_than(candidates=4)(four)
    assert not fewer_than(candidates=0)(Run(Query("q")))


def test_a_score_floor_drops_what_lies_below_it():
    """GS-13: 0.03 stays; the caller's minimum may be higher, never lower."""
    some = tuple(one(f"m{n}", score) for n, score in enumerate((0.5, 0.03, 0.029999, 0.0)))

    def left(min_score):
        run = Run(Query("q", min_score=min_score), pool=some)
        return [c.score for c in at_least(score=0.03)(run).pool]

    assert left(None) == [0.5, 0.03]
    assert left(0.1) == [0.5]
    assert left(0.001) == [0.5, 0.03]


def test_candidates_are_counted_before_the_cut():
    """GS-15: the Y of "Reranked X of Y"."""
    run = Run(Query("q", limit=1), pool=tuple(one(f"m{n}") for n in range(7)))

    after = pool(size=3)(count_candidates()(run))

    assert (len(after.pool), after.counts) == (3, {"candidates": 7})


class TestPreviews:
    LONG = "word " * 100  # 500 characters

    @staticmethod
    def seen(*candidates, **numbers):
        run = previews(**numbers)(Run(Query("q"), pool=candidates))
        return {c.id: (len(c.snippet), c.complete) for c in run.pool}

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("a short one ", "a short one "),
            ("x" * 200, "x" * 200),
            ("word " * 50, ("word " * 40).rstrip()),  # 200 characters end behind a space
            ("a" * 199 + " b", "a" * 199),
            ("a" * 200 + " b", "a" * 200),  # a word ends exactly there
            ("a" * 150 + " " + "b" * 100, "a" * 150),
            ("a" * 150 + "\n" + "b" * 100, "a" * 150),
            ("See " + "b" * 300, "See " + "b" * 196),  # no end of a word nearby
            ("東" * 300, "東" * 200),
            ("", ""),
        ],
    )
    def test_a_preview_is_the_first_200_characters_cut_at_a_word(self, text, shown):
        """GS-14: `complete` says that it is all."""
        run = previews()(Run(Query("q"), pool=(one(text=text),)))

        assert (run.pool[0].snippet, run.pool[0].complete) == (shown, shown == text)

    @given(st.text(max_size=60), st.integers(1, 50))
    def test_a_preview_begins_as_the_text_does(self, text, width):
        """And is never longer than it may be."""
        assert text.startswith(preview(text, width))
        assert len(preview(text, width)) <= width

    def test_the_first_three_sure_ones_are_given_whole(self):
        """GS-14: above 0.80, not at it; five in deep."""
        sure = [one(f"m{n}", 0.9, read=0.9, text=self.LONG) for n in range(6)]
        few = one("few", 0.80, read=0.9, text=self.LONG)

        assert list(self.seen(few, *sure).values()) == [
            (199, False),
            *[(500, True)] * 3,
            *[(199, False)] * 3,
        ]
        assert sum(whole for _, whole in self.seen(*sure, expand_top=5).values()) == 5
        assert sum(whole for _, whole in self.seen(*sure, expand_top=0).values()) == 0

    def test_a_long_text_is_not_given_whole_and_takes_no_place(self):
        """GS-14: under 2,048 characters; the next ones move up."""
        texts = ["a " * 1024, "a " * 1023 + "a", self.LONG, self.LONG, self.LONG]
        seen = self.seen(*(one(f"m{n}", 0.9, read=0.9, text=t) for n, t in enumerate(texts)))

        assert [whole for _, whole in seen.values()] == [False, True, True, True, False]

    def test_the_final_score_decides_and_a_reranker_must_have_read_it(self):
        """GS-14, GS-12: a boost may lift it, a demotion lower it; nothing unread is given whole."""
        seen = self.seen(
            one("unread", 0.9, text=self.LONG),
            one("lifted", 0.9, read=0.72, text=self.LONG),
            one("lowered", 0.6, read=1.0, text=self.LONG),
        )

        assert {id_: whole for id_, (_, whole) in seen.items()} == {
            "unread": False,
            "lifted": True,
            "lowered": False,
        }

    def test_nothing_to_show_says_what_was_searched(self):
        """GS-13: an empty answer is a signal."""
        lists = (RankedList("vector"), RankedList("topics", searched=False))
        empty = Run(Query("q"), lists=lists, counts={"candidates": 7})

        assert previews()(empty).notes["nothing_found"] == (
            "vector 0; 7 candidates, none of them good enough"
        )

    def test_wrong_numbers_are_refused(self):
        """With what would be right."""
        for wrong in ({"expand_top": -1}, {"preview_chars": 0}):
            with pytest.raises(InvalidInput, match="previews"):
                previews(**wrong)(Run(Query("q")))
