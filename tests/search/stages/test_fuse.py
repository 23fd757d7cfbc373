"""Ranked lists into one pool: numbers in, numbers out."""

from __future__ import annotations

from math import log, sqrt

import pytest
from fakes import HashingEmbedder
from hypothesis import given
from hypothesis import strategies as st

import scrubjay
from scrubjay import InvalidInput
from scrubjay.search.pipeline import Run
from scrubjay.search.profiles import default
from scrubjay.search.stages.fuse import gather, rrf, weigh
from scrubjay.types import Found, Query, RankedList, Row


def ranked(name, *ids, best=1.0, searched=True):
    """A list of these ids, or of (id, score) pairs, in this order."""
    rows = [one if isinstance(one, tuple) else (one, 1.0 / at) for at, one in enumerate(ids, 1)]
    return RankedList(name, tuple(Row(id_, score) for id_, score in rows), searched, best)


def run(*lists):
    return Run(Query("q"), lists=tuple(lists))


def scores(after):
    return {one.id: one.score for one in after.pool}


class TestGather:
    def test_one_candidate_a_memory_with_every_rank_and_raw_score(self):
        """R-1, R-4: ranks count from 1; the best chunk of whichever list names one is kept."""
        words = RankedList("keyword", (Row("a", 7.5, None, 11), Row("b", 3.0, None, 12)))
        near = RankedList("vector", (Row("b", 0.9, 4, 12), Row("c", 0.8, 2, 13)))

        pool = {one.id: one for one in gather((words, near))}

        assert set(pool) == {"a", "b", "c"}
        assert pool["a"].found == {"keyword": Found(1, 7.5)}
        assert pool["b"].found == {"keyword": Found(2, 3.0), "vector": Found(1, 0.9)}
        assert [pool[one].best_chunk for one in "abc"] == [None, 4, 2]
        assert [pool[one].updated_us for one in "abc"] == [11, 12, 13]

    def test_a_list_without_chunks_does_not_forget_the_best_chunk(self):
        """Whichever order the lists come in."""
        near, words = RankedList("vector", (Row("a", 0.9, 4),)), RankedList("k", (Row("a", 1.0),))

        assert gather((near, words))[0].best_chunk == 4
        assert gather((words, near))[0].best_chunk == 4


class TestRrf:
    def test_a_list_gives_weight_over_k_plus_rank(self):
        """R-1: ranks from 1; an absent list gives 0."""
        after = rrf(k=60)(run(ranked("keyword", "a", "b"), ranked("vector", "b", "c")))

        assert scores(after) == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62})
        assert [one.id for one in after.pool] == ["b", "a", "c"]
        assert after.pool[0].why == pytest.approx({"rrf_keyword": 1 / 62, "rrf_vector": 1 / 61})

    def test_weights_are_by_list_and_one_where_none_is_given(self):
        """R-1: `weight / (k + rank)`."""
        lists = run(ranked("keyword", "a"), ranked("vector", "b"))

        after = rrf(k=10, weights={"keyword": 2.0})(lists)

        assert scores(after) == pytest.approx({"a": 2 / 11, "b": 1 / 11})

    def test_no_lists_or_empty_ones_give_no_pool(self):
        """Nothing was found."""
        assert rrf(k=60)(run()).pool == ()
        assert rrf(k=60)(run(ranked("keyword"))).pool == ()

    def test_a_negative_k_is_refused(self):
        """It could divide by nothing."""
        with pytest.raises(InvalidInput, match=r"rrf\.k is -1"):
            rrf(k=-1)(run(ranked("keyword", "a")))

    LISTS = st.lists(
        st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8), min_size=1, max_size=4
    )

    @given(lists=LISTS, order=st.randoms(use_true_random=False))
    def test_the_order_of_the_lists_does_not_matter(self, lists, order):
        """R-1: a sum has no first summand; the pool is the same to the last place."""
        named = [ranked(f"list{n}", *ids) for n, ids in enumerate(lists)]
        mixed = order.sample(named, len(named))

        one, two = rrf(k=60)(run(*named)).pool, rrf(k=60)(run(*mixed)).pool

        assert [c.id for c in one] == [c.id for c in two]
        assert [c.score for c in one] == pytest.approx([c.score for c in two])
        assert [dict(c.found) for c in one] == [dict(c.found) for c in two]

    @given(lists=LISTS, k=st.floats(0, 1000))
    def test_scores_agree_with_the_formula_and_are_sorted(self, lists, k):
        """R-1, R-2: computed a second time from the ids alone."""
        after = rrf(k=k)(run(*(ranked(f"list{n}", *ids) for n, ids in enumerate(lists))))

        right = {
            id_: sum(1 / (k + ids.index(id_) + 1) for ids in lists if id_ in ids)
            for id_ in {one for ids in lists for one in ids}
        }
        assert scores(after) == pytest.approx(right)
        shown = [round(one.score, 6) for one in after.pool]
        assert shown == sorted(shown, reverse=True)

    @given(lists=LISTS)
    def test_being_found_by_one_more_list_never_hurts(self, lists):
        """A floor of fusion: a further list raises what it holds, and lowers nothing."""
        before = scores(rrf(k=60)(run(*(ranked(f"l{n}", *ids) for n, ids in enumerate(lists)))))
        more = [*lists, ["a", "b"]]
        after = scores(rrf(k=60)(run(*(ranked(f"l{n}", *ids) for n, ids in enumerate(more)))))

        assert all(after[id_] >= score for id_, score in before.items())
        assert after["a"] > before.get("a", 0)


class TestWeigh:
    HALVES = weigh(weights={"keyword": 0.5, "vector": 0.5}, least={"keyword": 0.2, "vector": 0.3})

    def test_the_first_scores_by_its_own_strength_and_the_others_relative_to_it(self):
        """a: 6 of 8 by word and a cosine of 0.5; the parts stand beside each score."""
        lists = run(
            ranked("keyword", ("a", 6.0), ("b", 3.0), best=8.0),
            ranked("vector", ("c", 0.8), ("a", 0.4)),
        )

        after = self.HALVES(rrf(k=60)(lists))

        first = 1 - (1 - 6 / 8) * (1 - 0.4)
        relative = {"a": 0.5 + 0.5 * 0.4 / 0.8, "b": 0.5 * 3 / 6, "c": 0.5}
        right = {id_: share / relative["a"] * first for id_, share in relative.items()}
        assert scores(after) == pytest.approx(right)
        assert [one.id for one in after.pool] == ["a", "c", "b"]
        assert all(one.score == pytest.approx(sum(one.why.values())) for one in after.pool)
        assert after.notes["strength"] == pytest.approx(first)

    def test_a_list_that_found_nothing_gives_its_weight_to_the_others(self):
        """R-6: without vectors, or with a word that nobody wrote, the other list decides."""
        for other in (ranked("vector", searched=False), ranked("vector")):
            lists = run(ranked("keyword", ("a", 8.0), ("b", 4.0), best=8.0), other)

            assert scores(self.HALVES(rrf(k=60)(lists))) == pytest.approx({"a": 1.0, "b": 0.5})

    def test_a_weak_best_is_not_blown_up(self):
        """A cosine of 0.1 at the top of its list is not as good as the best word."""
        lists = run(
            ranked("keyword", ("a", 8.0), best=8.0), ranked("vector", ("b", 0.1), ("a", 0.05))
        )

        after = self.HALVES(rrf(k=60)(lists))

        relative = {"a": 0.5 + 0.5 * 0.05 / 0.3, "b": 0.5 * 0.1 / 0.3}
        assert scores(after) == pytest.approx({"a": 1.0, "b": relative["b"] / relative["a"]})

    def test_the_nearest_of_many_passages_is_near_by_chance(self):
        """A page of nine passages must be nearer than a sentence by 0.05 times the root of 2 ln 9."""
        by_chance = 0.05 * sqrt(2 * log(9))
        stage = weigh(weights={"vector": 1.0}, spread={"vector": 0.05})
        lists = run(ranked("vector", ("page", 0.6), ("sentence", 0.55)))
        found = rrf(k=60)(lists)
        pool = tuple(one._replace(passages=9 if one.id == "page" else 1) for one in found.pool)

        after = stage(found._replace(pool=pool))

        assert [one.id for one in after.pool] == ["sentence", "page"]
        relative = (0.6 - by_chance) / 0.55
        assert scores(after) == pytest.approx({"sentence": 0.55, "page": 0.55 * relative})
        assert after.pool[1].found["vector"].score == 0.6  # shown as it was found

    def test_a_single_passage_loses_nothing(self):
        """The logarithm of one is none."""
        plain, spread = (
            weigh(weights={"vector": 1.0}),
            weigh(weights={"vector": 1.0}, spread={"vector": 0.05}),
        )
        found = rrf(k=60)(run(ranked("vector", ("a", 0.6), ("b", 0.3))))

        assert spread(found).pool == plain(found).pool

    def test_a_negative_cosine_counts_as_nothing(self):
        """It is not evidence against."""
        after = self.HALVES(rrf(k=60)(run(ranked("vector", ("a", -0.3)))))

        assert scores(after) == {"a": 0.0}

    def test_nothing_found_stays_nothing(self):
        """No pool, no score, no error."""
        assert self.HALVES(rrf(k=60)(run(ranked("keyword"), ranked("vector")))).pool == ()

    def test_a_foreign_query_is_weighed_by_the_foreign_weights(self):
        """And the trace says by which; without such weights, or for a known language, by the usual."""
        lists = run(
            ranked("keyword", ("a", 8.0), ("b", 4.0), best=8.0),
            ranked("vector", ("b", 0.8), ("a", 0.4)),
        )
        abroad = lists._replace(query=lists.query._replace(foreign=True))
        usual, other = {"keyword": 0.5, "vector": 0.5}, {"keyword": 0.8, "vector": 0.2}
        weighing = weigh(weights=usual, foreign=other)

        def weights(after):
            return {name: after.notes[name]["weight"] for name in usual}

        assert weights(weighing(rrf(k=60)(lists))) == pytest.approx(usual)
        assert weights(weighing(rrf(k=60)(abroad))) == pytest.approx(other)
        assert weights(weigh(weights=usual)(rrf(k=60)(abroad))) == pytest.approx(usual)

        after = weighing(rrf(k=60)(abroad))
        relative = {"a": 0.8 + 0.2 * 0.4 / 0.8, "b": 0.8 * 0.5 + 0.2}
        first = 1 - (1 - 1.0) * (1 - 0.4)
        assert scores(after) == pytest.approx(
            {id_: share / relative["a"] * first for id_, share in relative.items()}
        )

    def test_foreign_weights_are_checked_when_they_are_used(self):
        """As the others are."""
        lists = run(ranked("vector", "a"))
        abroad = lists._replace(query=lists.query._replace(foreign=True))
        with pytest.raises(InvalidInput, match="0 or more"):
            weigh(weights={"vector": 1.0}, foreign={"vector": -1.0})(abroad)

    def test_a_negative_weight_is_refused(self):
        """It would turn a list upside down."""
        with pytest.raises(InvalidInput, match="0 or more"):
            weigh(weights={"vector": -1.0})(run(ranked("vector", "a")))

    @given(
        st.lists(
            st.tuples(st.floats(0, 10), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1)),
            min_size=1,
            max_size=8,
        )
    )
    def test_scores_lie_between_nothing_and_everything(self, rows):
        """R-2: 0..1 whatever the lists gave, and sorted."""
        words = sorted(((f"m{n}", row[0]) for n, row in enumerate(rows)), key=lambda one: -one[1])
        near = sorted(((f"m{n}", row[1]) for n, row in enumerate(rows)), key=lambda one: -one[1])
        lists = run(ranked("keyword", *words, best=10.0), ranked("vector", *near))

        after = self.HALVES(rrf(k=60)(lists))

        assert all(-1e-9 <= one.score <= 1 + 1e-9 for one in after.pool)
        shown = [round(one.score, 6) for one in after.pool]
        assert shown == sorted(shown, reverse=True)


class English(HashingEmbedder):
    """A model that knows one language, and says so."""

    languages = ("en",)


GERMAN = (
    "Im Sommer wurden die alten Häuser am Hafen von der Stadt renoviert.",
    "Der Hund schläft den ganzen Tag auf dem alten Teppich in der Küche.",
    "Am Hafen liegt seit dem Sommer ein Schiff, das niemand mehr haben will.",
)
QUESTION = "Wo stehen die alten Häuser am Hafen?"


HALVES = {"keyword": 0.5, "vector": 0.5}  # of a model without tokens


class TestForeignQueries:
    @pytest.fixture
    def opened(self):
        def store(model):
            made = scrubjay.open(":memory:", embedder=model)
            made.add_many({"text": text} for text in GERMAN)
            made.add("The old houses at the harbour were renovated by the city in the summer.")
            made.pending(wait=True)
            return made

        return store

    def weights(self, results):
        notes = next(step.notes for step in results.trace if step.stage == "weigh")
        return {name: notes[name]["weight"] for name in ("keyword", "vector")}

    def test_a_question_in_a_language_the_model_does_not_know_leans_on_words(self, opened):
        """R-7: the trace shows the weights, and which language it was."""
        with opened(English()) as store:
            abroad = store.search(QUESTION)
            home = store.search("where are the old houses at the harbour?")

        assert self.weights(abroad) == pytest.approx({"keyword": 0.7, "vector": 0.3})
        assert self.weights(home) == pytest.approx(HALVES)
        step = next(step for step in abroad.trace if step.stage == "embed_query")
        assert step.notes["foreign"] == "de is not among en"

    def test_a_model_that_does_not_say_what_it_knows_is_trusted(self, opened):
        """No `languages`, no foreign weights."""
        with opened(HashingEmbedder()) as store:
            assert self.weights(store.search(QUESTION)) == pytest.approx(HALVES)

    @pytest.mark.parametrize("model", [English, HashingEmbedder])
    @pytest.mark.parametrize("query", [QUESTION, "Häuser Hafen", "alten Sommer Hund", "houses"])
    def test_every_score_can_be_computed_by_hand(self, opened, model, query):
        """R-7: from `found` and the numbers of the trace, lifted keyword scores and all."""
        with opened(model()) as store:
            results = store.search(query)

        step = next(step for step in results.trace if step.stage == "weigh")
        lists = {name: step.notes[name] for name in ("keyword", "vector") if name in step.notes}
        assert len(results) >= 2
        for at, hit in enumerate(results):
            parts = {
                name: numbers["weight"] * max(hit.found[name].score, 0) / numbers["of"]
                for name, numbers in lists.items()
                if name in hit.found
            }
            if at == 0:
                lacking = 1.0
                for name, numbers in lists.items():
                    share = min(max(hit.found[name].score / numbers["best_possible"], 0), 1)
                    lacking *= 1 - share ** default.POWERS[name]
                assert hit.score == pytest.approx(1 - lacking, abs=2e-6)
                assert step.notes["strength"] == pytest.approx(1 - lacking)
            assert hit.score == pytest.approx(sum(parts.values()) * step.notes["times"], abs=2e-6)
            assert hit.score == pytest.approx(sum(hit.why.values()), abs=2e-6)
