"""The second look: which passages are read, how many, and how its score is mixed in."""

from __future__ import annotations

import numpy as np
import pytest
from clocks import Clock
from fakes import ScriptedReranker, TokenEmbedder
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import InvalidInput
from scrubjay.models.breaker import MemoryNotes
from scrubjay.models.guard import GuardedEmbedder, GuardedReranker
from scrubjay.search.pipeline import Kit, Run, advance
from scrubjay.search.stages.fuse import gather, over_best, rank_bonus, rrf, similarity
from scrubjay.search.stages.min_max import min_max
from scrubjay.search.stages.recall import look_up
from scrubjay.search.stages.rerank import blend, cross_encoder, late_interaction
from scrubjay.text.token_vectors import pack, unpack
from scrubjay.types import Candidate, Chunk, Found, Memory, Query, RankedList, Row


class Shelf:
    """Records of these texts, each cut into these chunks."""

    def __init__(self, texts, chunks=None):
        self.texts = texts
        self.cut = chunks or {}

    def get(self, ids, scope):
        return {id_: Memory(self.texts[id_], id=id_) for id_ in ids if id_ in self.texts}

    def chunks(self, places):
        found = {}
        for id_, ordinal in places:
            cuts = self.cut.get(id_, [(0, len(self.texts.get(id_, "")))])
            if ordinal < len(cuts):
                found[id_, ordinal] = Chunk(ordinal, *cuts[ordinal], 1, 1)
        return found

    def chunks_of(self, id_):
        return list(self.chunks((id_, n) for n in range(len(self.cut[id_]))).values())


def pool(count, score=lambda place: 1 / place):
    """So many candidates, m01 first."""
    return tuple(
        Candidate(f"m{n:02}", score(n), why={"rrf": score(n)}) for n in range(1, 1 + count)
    )


class TestBlend:
    @staticmethod
    def blended(count, scored, rerank, fusion=0.5):
        """Blend so many candidates of equal fusion, the first of them reranked at one score."""
        candidates = [
            Candidate(f"m{n:02}", fusion, why={"rrf": fusion}, rerank_score=rerank)
            if n <= scored
            else Candidate(f"m{n:02}", fusion, why={"rrf": fusion})
            for n in range(1, count + 1)
        ]
        after = blend()(Run(Query("q"), pool=tuple(candidates)))
        return {int(one.id[1:]): one for one in after.pool}

    @pytest.mark.parametrize(
        ("place", "score"),
        # fusion 0.5, rerank 0.9: 0.75 * 0.5 + 0.25 * 0.9 = 0.6 and so on.
        [(1, 0.6), (3, 0.6), (4, 0.66), (10, 0.66), (11, 0.74), (20, 0.74), (21, 0.2), (30, 0.2)],
    )
    def test_shares_by_fused_place(self, place, score):
        """GN-11: 75/25 to 3, 60/40 to 10, 40/60 from 11; beyond the reranked 20 only 0.40 x fusion."""
        after = self.blended(30, 20, 0.9)

        assert after[place].score == pytest.approx(score)

    def test_the_parts_add_up(self):
        """R-7: what fusion gave, and what the reranker gave."""
        after = self.blended(21, 20, 0.9)

        assert after[4].why == pytest.approx({"rrf": 0.3, "rerank": 0.36})
        assert after[21].why == pytest.approx({"rrf": 0.2})

    def test_a_score_of_0_is_a_score(self):
        """Not the same as none: the first keeps 0.75 of its fusion, not 0.40."""
        after = self.blended(2, 2, 0.0, fusion=1.0)

        assert after[1].score == pytest.approx(0.75)
        assert after[1].why == pytest.approx({"rrf": 0.75, "rerank": 0})

    def test_fewer_than_twenty_reranked_leave_the_rest_below(self):
        """GN-11: who was not read keeps 0.40 x fusion, at whatever place."""
        after = self.blended(5, 2, 1.0, fusion=1.0)

        assert [round(after[n].score, 6) for n in (1, 2, 3, 4, 5)] == [1, 1, 0.4, 0.4, 0.4]

    def test_it_is_sorted_anew(self):
        """R-2: the second passes the first where the reranker says so by enough."""
        first = Candidate("a", 1.0, why={"rrf": 1.0}, rerank_score=0.0)
        second = Candidate("b", 0.9, why={"rrf": 0.9}, rerank_score=1.0)

        after = blend()(Run(Query("q"), pool=(first, second)))

        assert [(one.id, round(one.score, 6)) for one in after.pool] == [("b", 0.925), ("a", 0.75)]

    def test_where_nothing_was_reranked_fusion_stays(self):
        """GN-15: no reranker, fusion; not 0.40 of it."""
        run = Run(Query("q"), pool=pool(5))

        assert blend()(run).pool == run.pool
        assert blend()(Run(Query("q"))).pool == ()

    @pytest.mark.parametrize("share", [{"top3": 1.5}, {"top10": -0.1}, {"beyond": 2}])
    def test_a_share_outside_0_to_1_is_refused(self, share):
        """One sentence."""
        with pytest.raises(InvalidInput, match="blend"):
            blend(**share)(Run(Query("q"), pool=pool(1)))

    POOLS = st.lists(
        st.tuples(st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1))), min_size=1, max_size=40
    )

    @given(POOLS)
    def test_scores_stay_in_0_to_1_are_sorted_and_the_sum_of_their_parts(self, scored):
        """GN-11, R-2, R-7: whatever the fused and the reranked scores are."""
        fused = sorted((one for one, _ in scored), reverse=True)
        candidates = tuple(
            Candidate(f"m{n:02}", score, why={"rrf": score}, rerank_score=reranked)
            for n, (score, (_, reranked)) in enumerate(zip(fused, scored, strict=True))
        )

        after = blend()(Run(Query("q"), pool=candidates)).pool

        shown = [round(one.score, 6) for one in after]
        assert shown == sorted(shown, reverse=True)
        assert all(0 <= one <= 1 for one in shown)
        assert {one.id for one in after} == {one.id for one in candidates}
        for one in after:
            assert one.score == pytest.approx(sum(one.why.values()))


def lists(**ids):
    """Ranked lists, by name."""
    return tuple(
        RankedList(
            name.replace("_", ":"),
            tuple(Row(id_, 1.0 / at) for at, id_ in enumerate(of, start=1)),
        )
        for name, of in ids.items()
    )


WEIGHTS = {"keyword": 2.0, "vector": 2.0, "lexical": 1.0, "semantic": 1.0, "hyde": 1.4}


class TestFusion:
    def test_weights_by_kind_of_list(self):
        """GN-9: original 2.0, each variant 1.0, HyDE 1.4, k = 60."""
        found = lists(
            keyword="ab", vector="ba", lexical_1="ca", lexical_2="a", semantic_1="cb", hyde_1="dc"
        )
        after = rrf(k=60, weights=WEIGHTS)(Run(Query("q"), lists=found))

        assert {one.id: one.score for one in after.pool} == pytest.approx(
            {
                "a": 2 / 61 + 2 / 62 + 1 / 62 + 1 / 61,
                "b": 2 / 62 + 2 / 61 + 1 / 62,
                "c": 1 / 61 + 1 / 61 + 1.4 / 62,
                "d": 1.4 / 61,
            }
        )

    def test_the_bonus_is_for_places_in_the_lists_of_the_query(self):
        """GN-9: 0.05 for the first of either list, 0.02 for a second or third, whatever its fused place;
        nothing for the fourth, nor for a place in the list of a variant."""
        found = lists(keyword="abcd", vector="ebxy", lexical_1="z")
        fused = rrf(k=60, weights=WEIGHTS)(Run(Query("q"), lists=found))
        before = {one.id: one.score for one in fused.pool}

        after = rank_bonus(first=0.05, next=0.02)(fused)

        bonus = {one.id: one.score - before[one.id] for one in after.pool}
        assert bonus == pytest.approx(
            {"a": 0.05, "b": 0.02, "c": 0.02, "d": 0, "e": 0.05, "x": 0.02, "y": 0, "z": 0}
        )
        assert fused.pool[0].id == "b"  # second in both lists
        assert all(("bonus" in one.why) == (bonus[one.id] > 0) for one in after.pool)

    def test_the_identifier_beats_a_page_that_is_second_and_third(self):
        """GN-9: the page that is first for it by word wins over one that is second and third."""
        found = lists(
            keyword=["defines", "mentions"], vector=["x", "y", "mentions", *"abcdef", "defines"]
        )
        fused = rrf(k=60, weights=WEIGHTS)(Run(Query("SCRUBJAY_QDRANT_API_KEY"), lists=found))

        after = rank_bonus(first=0.05, next=0.02)(fused)

        assert [one.id for one in fused.pool[:2]] == ["mentions", "defines"]
        assert [one.id for one in after.pool[:2]] == ["defines", "mentions"]

    @given(st.lists(st.floats(0, 1), max_size=12), st.floats(0, 1), st.floats(0, 1))
    def test_a_bonus_keeps_what_is_shown_sorted(self, scores, first, following):
        """R-2: also where the second's bonus is larger than the first's."""
        fused = sorted(scores, reverse=True)
        candidates = tuple(
            Candidate(
                f"m{n:02}", score, why={"rrf": score}, found={"keyword": Found(n + 1, score)}
            )
            for n, score in enumerate(fused)
        )

        run = rank_bonus(first=first, next=following)(Run(Query("q"), pool=candidates))
        after = over_best()(run).pool

        shown = [round(one.score, 6) for one in after]
        assert shown == sorted(shown, reverse=True)
        assert all(0 <= one <= 1 for one in shown)
        if any(one.score > 0 for one in run.pool):
            assert shown[0] == 1
        for one in after:
            assert one.score == pytest.approx(sum(one.why.values()))

    def test_over_best_divides_by_the_highest(self):
        """GN-11: fusion divided by its maximum; the trace has it."""
        run = Run(Query("q"), pool=pool(2, lambda place: 0.04 / place))
        after, step = advance(over_best(), run)

        assert [one.score for one in after.pool] == pytest.approx([1.0, 0.5])
        assert after.pool[1].why == pytest.approx({"rrf": 0.5})
        assert step.notes["best"] == pytest.approx(0.04)

    def test_the_best_chunk_has_the_highest_fused_sum(self):
        """GN-10: 2/61 for chunk 1; 1/61 + 1.4/61 for chunk 5, which is more."""
        found = (
            RankedList("vector", (Row("a", 0.9, 1),)),
            RankedList("semantic:1", (Row("a", 0.8, 5),)),
            RankedList("hyde:1", (Row("a", 0.7, 5),)),
            RankedList("keyword", (Row("a", 9.0),)),
        )

        assert gather(found, k=60, weights=WEIGHTS)[0].best_chunk == 5
        assert gather(found[:2], k=60, weights=WEIGHTS)[0].best_chunk == 1
        assert gather(found[3:], k=60, weights=WEIGHTS)[0].best_chunk is None

    def test_what_a_variant_chose_is_not_overruled_by_a_looked_up_cosine(self):
        """GN-10: a passage in a list has a fused score, one that was only looked up has none."""

        class Index:
            def search(self, vector, model, scope, limit, *, shortlist=None):
                return RankedList("vector", tuple(Row(id_, 0.4, 7) for id_ in scope.ids))

        candidates = (
            Candidate("a", 1.0, best_chunk=5, found={"semantic:1": Found(1, 0.9)}),
            Candidate("b", 0.9, found={"keyword": Found(1, 3.0)}),
        )
        kit = Kit(vectors=Index(), embedder=GuardedEmbedder(TokenEmbedder()))
        query = Query("q", vector=np.ones(256, np.float32))

        after = look_up()(Run(query, kit, pool=candidates))

        assert [one.best_chunk for one in after.pool] == [5, 7]
        assert [one.found["vector"] for one in after.pool] == [Found(None, 0.4)] * 2


class TestNormalised:
    @staticmethod
    def scored(*scores):
        rows = tuple(Row(f"m{n}", score, None, n) for n, score in enumerate(scores))
        run = Run(Query("q"), lists=(RankedList("keyword", rows),))
        after = min_max(weights={"keyword": 1.0})(run)
        return {one.id: one.score for one in after.pool}

    def test_from_the_worst_to_the_best(self):
        """GN-12: (raw - worst) / (best - worst): 1, (5 - 2) / (8 - 2), 0."""
        assert self.scored(8.0, 5.0, 2.0) == pytest.approx({"m0": 1.0, "m1": 0.5, "m2": 0.0})

    @pytest.mark.parametrize("scores", [(3.0,), (3.0, 3.0, 3.0), (0.0, 0.0)])
    def test_all_equal_gives_1(self, scores):
        """GN-12: nobody is worse."""
        assert set(self.scored(*scores).values()) == {1.0}

    def test_differences_that_the_order_does_not_see_are_none(self):
        """R-5: scores within 1e-6 are equal, so their list may stand in any order; none is above 1."""
        close = self.scored(1.0e-6, 1.4e-6, 0.6e-6)  # newest first, as the index orders equals

        assert set(close.values()) == {1.0}

    @given(st.lists(st.floats(0, 1e-5) | st.floats(0, 50), min_size=1, max_size=12))
    def test_it_is_always_in_0_to_1_and_the_best_has_1(self, scores):
        """GN-12: whatever BM25 gives."""
        ordered = sorted(scores, key=lambda one: -round(one, 6))

        found = self.scored(*ordered)

        assert max(found.values()) == 1.0
        assert min(found.values()) >= 0.0

    @pytest.mark.parametrize(("cosine", "score"), [(1.0, 1.0), (0.5, 0.75), (0, 0.5), (-1.0, 0.0)])
    def test_vectors_by_distance(self, cosine, score):
        """GN-12: 1 - distance / 2, with distance = 1 - cosine."""
        run = Run(Query("q"), lists=(RankedList("vector", (Row("a", cosine, 0),)),))

        assert similarity()(run).pool[0].score == pytest.approx(score)


def ranked(shelf, candidates, *, answer=None, notes=None, terms=(), **numbers):
    """Run the cross-encoder over candidates; return the run, the step, and what was read."""
    inner = ScriptedReranker(answer or (lambda query, texts: [0.5] * len(texts)))
    kept = MemoryNotes()
    if notes:
        kept.put("speed", inner.name, str(notes), 0)
    kit = Kit(records=shelf, reranker=GuardedReranker(inner, kept, Clock()))
    run, step = advance(
        cross_encoder(**numbers),
        Run(Query("which one?", terms=terms), kit, pool=tuple(candidates)),
    )
    return run, step, inner.asked


MANY = {f"m{n:02}": f"text number {n} " * 10 for n in range(1, 41)}


class TestCrossEncoder:
    def test_the_first_twenty_in_one_call(self):
        """GN-10: one batched call; the twenty-first is not read."""
        run, step, asked = ranked(Shelf(MANY), pool(30))

        ((query, texts),) = asked
        assert query == "which one?"
        assert texts == [MANY[f"m{n:02}"] for n in range(1, 21)]
        assert [one.rerank_score for one in run.pool] == [0.5] * 20 + [None] * 10
        assert run.pool[0].found["cross_encoder"] == Found(None, 0.5)
        assert run.counts == {"reranked": 20}
        assert (step.notes["by"], step.notes["pairs"], step.notes["of"]) == ("scripted", 20, 20)

    def test_each_gets_the_score_of_its_own_text(self):
        """In the order of the pool, which stays as it is."""
        run, _, _ = ranked(
            Shelf(MANY),
            pool(3),
            answer=lambda query, texts: [0.1 * (1 + at) for at in range(len(texts))],
        )

        assert [(one.id, one.rerank_score) for one in run.pool] == [
            ("m01", pytest.approx(0.1)),
            ("m02", pytest.approx(0.2)),
            ("m03", pytest.approx(0.3)),
        ]

    LONG = " ".join(f"w{n:05}" for n in range(5000))  # 34,999 characters, seven a word

    @pytest.mark.parametrize("chunk", [(0, 700), (14000, 14700), (34299, 34999)])
    def test_the_best_chunk_with_what_stands_around_it(self, chunk):
        """GN-10: about 4,000 characters, all of the chunk among them, cut at a word's beginning."""
        shelf = Shelf({"a": self.LONG}, {"a": [(0, 7), chunk]})
        _, _, (((_, (text,))),) = ranked(shelf, [Candidate("a", 1.0, best_chunk=1)])

        assert self.LONG[slice(*chunk)] in text
        assert text in self.LONG
        assert 3990 <= len(text) <= 4000
        assert text.startswith("w")

    @given(
        words=st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=60),
        ends=st.tuples(st.floats(0, 1), st.floats(0, 1)),
        chars=st.integers(1, 400),
    )
    def test_the_passage_holds_the_chunk_and_no_more_than_there_is_room_for(
        self, words, ends, chars
    ):
        """GN-10: wherever the chunk stands, however long it and its document are."""
        text = " ".join(words)
        start, stop = sorted(int(one * len(text)) for one in ends)
        shelf = Shelf({"a": text}, {"a": [(start, stop)]})

        _, _, (((_, (read,))),) = ranked(shelf, [Candidate("a", 1.0, best_chunk=0)], chars=chars)

        assert text[start:stop] in read
        assert read in text
        assert len(read) <= max(chars, stop - start)
        # No whole word more would have fitted, unless all of the document is there.
        assert len(read) >= min(len(text), chars) - 9

    def test_room_is_shared_between_before_and_after(self):
        """A chunk in the middle has about as much on either side."""
        shelf = Shelf({"a": self.LONG}, {"a": [(14000, 14700)]})
        _, _, (((_, (text,))),) = ranked(shelf, [Candidate("a", 1.0, best_chunk=0)])

        before = text.index(self.LONG[14000:14700])
        assert 1640 <= before <= 1650

    def test_a_chunk_longer_than_that_is_read_as_it_is(self):
        """Nothing of the best chunk is cut off."""
        shelf = Shelf({"a": self.LONG}, {"a": [(7000, 14000)]})
        _, _, (((_, (text,))),) = ranked(shelf, [Candidate("a", 1.0, best_chunk=0)])

        assert text == self.LONG[7000:14000]

    def test_whole_documents_by_a_large_number(self):
        """GN-10: whole-document reranking is an option."""
        shelf = Shelf({"a": self.LONG}, {"a": [(14000, 14700)]})
        _, _, (((_, (text,))),) = ranked(
            shelf, [Candidate("a", 1.0, best_chunk=0)], chars=1_000_000
        )

        assert text == self.LONG

    def test_one_without_a_known_chunk_is_read_where_the_words_of_the_query_are(self):
        """GN-10: found by word alone, in a store without vectors."""
        text = f"{'nothing here. ' * 600}The harbour is closed. {'nothing there. ' * 600}"
        at = text.index("The harbour")
        cuts = [(0, at), (at, at + 22), (at + 22, len(text))]
        _, _, (((_, (read,))),) = ranked(
            Shelf({"a": text}, {"a": cuts}), [Candidate("a", 1.0)], terms=("harbour",)
        )

        assert "The harbour is closed." in read
        assert 3900 <= len(read) <= 4000

    def test_one_whose_words_are_nowhere_is_read_from_its_beginning(self):
        """Nothing better is known."""
        shelf = Shelf({"a": "nothing " * 1000}, {"a": [(0, 4800), (4800, 8000)]})
        _, _, (((_, (read,))),) = ranked(shelf, [Candidate("a", 1.0)])

        assert read == ("nothing " * 1000)[:4000]

    def test_one_that_was_just_deleted_has_no_text(self):
        """The others keep their own scores."""
        run, step, (((_, texts)),) = ranked(
            Shelf({"m02": "here"}), pool(2), answer=lambda query, texts: [0.1, 0.9]
        )

        assert texts == ["", "here"]
        assert step.lost is None
        assert [one.rerank_score for one in run.pool] == [0.1, 0.9]

    def test_an_empty_pool_asks_nobody(self):
        """Nothing to read."""
        _, step, asked = ranked(Shelf({}), ())

        assert asked == []
        assert step.lost is None

    @pytest.mark.parametrize(
        ("speed_ms", "deadline_ms", "pairs"),
        [
            # 20 texts of 1,000 characters at 100 ms each: 2,000 ms are just enough.
            (100, 2000, 20),
            (101, 2000, 19),
            (200, 2000, 10),
            (1000, 2000, 2),
            (1000, 1500, 1),
            (50_000, 2000, 1),
            (0.001, 2000, 20),
            (50_000, None, 20),
        ],
    )
    def test_how_many_are_read_follows_from_the_stored_speed(self, speed_ms, deadline_ms, pairs):
        """R-12: fixed before the call, at least one; shown in the trace and the counts."""
        shelf = Shelf({f"m{n:02}": "x" * 1000 for n in range(1, 31)})
        run, step, asked = ranked(shelf, pool(30), notes=speed_ms, deadline_ms=deadline_ms)

        assert [len(texts) for _, texts in asked] == [pairs]
        assert run.counts == {"reranked": pairs}
        assert step.notes["pairs"] == pairs
        if deadline_ms is not None:
            assert step.notes["ms_per_1000_chars"] == speed_ms
        assert step.lost is None

    def test_short_texts_cost_as_much_as_200_characters(self):
        """R-12: 10 ms a thousand is 2 ms each; ten fit 20 ms."""
        shelf = Shelf({f"m{n:02}": "hi" for n in range(1, 31)})
        run, _, _ = ranked(shelf, pool(30), notes=10, deadline_ms=20)

        assert run.counts == {"reranked": 10}

    @pytest.mark.parametrize(
        "numbers",
        [{"depth": 0}, {"chars": 0}, {"deadline_ms": 0}, {"deadline_ms": -1}, {"give_up_s": 0}],
    )
    def test_numbers_that_cannot_work_are_refused(self, numbers):
        """One sentence."""
        with pytest.raises(InvalidInput, match=r"cross_encoder\.\w+ is "):
            ranked(Shelf(MANY), pool(2), **numbers)


class Stored:
    """Token vectors of these places."""

    def __init__(self, of):
        self._of = of

    def of(self, model, places):
        return {place: self._of[place] for place in places if place in self._of}


def near(texts, *, query, missing=(), embedder=None, depth=64, count=None):
    """Late interaction over texts; those in `missing` have no stored tokens."""
    model = embedder or TokenEmbedder()
    guarded = GuardedEmbedder(model)
    stored = {
        (id_, 0): unpack(pack(model.tokens([text])[0]), model.dims)
        for id_, text in texts.items()
        if id_ not in missing
    }
    kit = Kit(records=Shelf(texts), tokens=Stored(stored), embedder=guarded)
    candidates = tuple(Candidate(id_, 1.0, best_chunk=0) for id_ in texts)
    asked = Query(query, tokens=guarded.encode([query], as_query=True)[1][0])
    return advance(late_interaction(depth=depth), Run(asked, kit, pool=candidates))


COLOURS = {"a": "red ferry harbour", "b": "red boat", "c": "green hill"}


class TestLateInteraction:
    def test_the_share_of_query_tokens_that_are_found(self):
        """With tokens that are near to themselves only, MaxSim is 2/2, 1/2, 0/2."""
        run, step = near(COLOURS, query="red harbour")

        assert [one.rerank_score for one in run.pool] == pytest.approx([1.0, 0.5, 0.0], abs=0.01)
        assert run.pool[0].found["late"].rank is None
        assert step.notes["passages"] == 3
        assert step.lost is None

    def test_only_the_first_so_many_are_looked_at(self):
        """The rest has no score."""
        run, _ = near(COLOURS, query="red harbour", depth=2)

        assert [one.rerank_score is None for one in run.pool] == [False, False, True]

    def test_a_few_that_are_missing_are_made_on_the_spot(self):
        """With the same numbers as if they were stored."""
        texts = {f"m{n}": f"word{n} harbour" for n in range(12)}
        whole, _ = near(texts, query="word3 harbour")
        model = TokenEmbedder()
        some, step = near(
            texts, query="word3 harbour", missing=[f"m{n}" for n in range(8)], embedder=model
        )

        assert [one.rerank_score for one in some.pool] == [one.rerank_score for one in whole.pool]
        assert step.lost is None
        assert [len(texts) for texts in model.encoded] == [1, 8]

    def test_many_that_are_missing_are_not_waited_for(self):
        """R-6: it says how many; the pool is as it was."""
        texts = {f"m{n}": f"word{n} harbour" for n in range(12)}
        run, step = near(texts, query="word3 harbour", missing=[f"m{n}" for n in range(9)])

        assert step.lost.startswith("9 of 12 passages have no token vectors yet")
        assert all(one.rerank_score is None for one in run.pool)

    def test_no_tokens_of_the_query_is_unavailable(self):
        """R-6: the reason is in the trace."""
        kit = Kit(records=Shelf({}), tokens=Stored({}), embedder=GuardedEmbedder(TokenEmbedder()))
        _, step = advance(late_interaction(), Run(Query("q"), kit, pool=pool(1)))

        assert step.lost == "the query has no token vectors"

    def test_stored_tokens_of_another_width_are_unavailable(self):
        """Another version of the same model may write to the same file meanwhile."""
        model = GuardedEmbedder(TokenEmbedder())
        other = unpack(pack(np.eye(4, dtype=np.float32)), 4)
        kit = Kit(records=Shelf({"m01": "x"}), tokens=Stored({("m01", 0): other}), embedder=model)
        query = Query("q", tokens=np.eye(256, dtype=np.float32)[:1])

        _, step = advance(late_interaction(), Run(query, kit, pool=pool(1)))

        assert step.lost is not None
        assert "width" in step.lost

    def test_a_depth_of_0_is_refused(self):
        """One sentence."""
        with pytest.raises(InvalidInput, match=r"late_interaction\.depth is 0"):
            near(COLOURS, query="red", depth=0)
