"""The gno profile from end to end: documents, variants of the query, a second look, by its document."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from datetime import timedelta
from statistics import median

import pytest
from clocks import NOON, Clock
from endpoints import EndpointServer
from fakes import (
    BrokenEmbedder,
    HashingEmbedder,
    ScriptedGenerator,
    ScriptedReranker,
    TokenEmbedder,
)
from traces import steps

import scrubjay
from scrubjay.surfaces.cli import main

WEIGHTS = {"keyword": 2.0, "vector": 2.0, "lexical": 1.0, "semantic": 1.0, "hyde": 1.4}
THINGS = "ferry boat ship crane rope anchor mast sail deck tide".split()
SAYS = json.dumps(
    {
        "lexical": ["harbour ferry", "old crane", "harbour rope"],
        "semantic": ["where do ships lie", "boats at the quay", "a place for sails"],
        "hyde": "The old ship lies in the harbour of the town.",
    }
)


def notes(count=30):
    """Short documents about one harbour, of several lengths."""
    return [
        {
            "id": f"d{n:02}",
            "text": f"The {THINGS[n % 10]} lies in the {'old ' * (n % 3)}harbour of town{n}."
            + f" {THINGS[n % 7]} and rope." * (n % 4),
            "created_at": NOON - timedelta(hours=n),
        }
        for n in range(count)
    ]


def by_length(query, texts):
    """A reranker without taste: the share of a text's characters in 200, so that all differ."""
    return [min(len(text) / 200, 1.0) for text in texts]


@pytest.fixture
def opened(tmp_path, clock):
    """Open a stocked store of the gno profile, with these models; closed when the test ends."""
    stores = []

    def make(documents=None, *, name="gno.db", **models):
        models = {"embedder": HashingEmbedder(), "reranker": False, "generator": False} | models
        store = scrubjay.open(tmp_path / name, profile="gno", clock=clock, **models)
        stores.append(store)
        store.add_many(notes() if documents is None else documents)
        if models["embedder"] is not False and not isinstance(models["embedder"], BrokenEmbedder):
            assert store.pending(wait=True) == 0
        return store

    yield make
    for one in stores:
        one.close()


def ids(results):
    return [hit.id for hit in results]


def fused_by_hand(results):
    """GN-9: weight / (60 + rank) over the lists, the bonus by the best rank in a list of the query itself,
    over the best; by id, best first."""
    fused = {
        hit.id: sum(
            WEIGHTS[name.partition(":")[0]] / (60 + place.rank)
            for name, place in hit.found.items()
            if place.rank is not None
        )
        for hit in results
    }
    age = {hit.id: hit.updated_at for hit in results}

    def ordered(scores):
        return sorted(scores, key=lambda id_: (-round(scores[id_], 6), NOON - age[id_], id_))

    for hit in results:
        own = (hit.found[name] for name in ("keyword", "vector") if name in hit.found)
        best = min((place.rank for place in own if place.rank), default=99)
        fused[hit.id] += {1: 0.05, 2: 0.02, 3: 0.02}.get(best, 0.0)
    best = max(fused.values())
    fused = {id_: score / best for id_, score in fused.items()}
    return {id_: fused[id_] for id_ in ordered(fused)}


def blended_by_hand(results):
    """GN-11: 75/25, 60/40, 40/60 by fused place; 0.40 of fusion for those that were not read; all over
    the best of them."""
    reranked = {hit.id: hit.rerank_score for hit in results}
    scores = {}
    for place, (id_, fusion) in enumerate(fused_by_hand(results).items(), start=1):
        share = 0.75 if place <= 3 else 0.60 if place <= 10 else 0.40
        if reranked[id_] is None:
            scores[id_] = 0.40 * fusion
        else:
            scores[id_] = share * fusion + (1 - share) * reranked[id_]
    best = max(scores.values())
    return {id_: score / best for id_, score in scores.items()}


class TestScores:
    QUERY = "old harbour ferry"

    def test_fast_is_fusion_over_its_best(self, opened):
        """GN-9, GN-14: computed a second time, from the ranks alone."""
        results = opened().search(self.QUERY, mode="fast", limit=30)

        right = fused_by_hand(results)
        assert len(results) == 30
        assert ids(results) == list(right)
        assert [hit.score for hit in results] == pytest.approx(list(right.values()), abs=1e-6)
        assert results[0].score == 1.0
        assert results.degraded == ()

    @pytest.mark.parametrize("mode", ["default", "thorough"])
    def test_reranked_scores_can_be_computed_by_hand(self, opened, mode):
        """GN-9, GN-11, R-7: fused, blended, and those beyond 20 left below."""
        store = opened(reranker=ScriptedReranker(by_length), generator=ScriptedGenerator(SAYS))

        results = store.search(self.QUERY, mode=mode, limit=30)

        right = blended_by_hand(results)
        assert len(results) == 30
        assert sum(hit.rerank_score is None for hit in results) == 10
        assert results[0].score == 1.0
        for hit in results:
            assert hit.score == pytest.approx(right[hit.id], abs=2e-6)
            assert hit.score == pytest.approx(sum(hit.why.values()), abs=2e-6)
            if hit.rerank_score is not None:
                assert hit.rerank_score == pytest.approx(min(len(hit.text) / 200, 1.0))
        assert results.degraded == ()

    @pytest.mark.parametrize("mode", ["fast", "default", "thorough", "keyword", "vector"])
    def test_scores_are_sorted_and_in_0_to_1(self, opened, mode):
        """GN-11, GN-12, R-2."""
        store = opened(reranker=ScriptedReranker(by_length), generator=ScriptedGenerator(SAYS))

        scores = [hit.score for hit in store.search(self.QUERY, mode=mode, limit=25)]

        assert scores == sorted(scores, reverse=True)
        assert all(0 <= one <= 1 for one in scores)

    def test_keyword_scores_run_from_the_worst_to_the_best(self, opened):
        """GN-12: (raw - worst) / (best - worst) over what was retrieved."""
        results = opened().search(self.QUERY, mode="keyword", limit=30)

        raw = {hit.id: hit.found["keyword"].score for hit in results}
        best, worst = max(raw.values()), min(raw.values())
        assert results[0].score == 1.0
        assert results[-1].score == 0.0
        for hit in results:
            assert hit.score == pytest.approx((raw[hit.id] - worst) / (best - worst), abs=1e-6)

    def test_equal_keyword_scores_are_all_1(self, opened):
        """GN-12: the same text twice."""
        store = opened([{"text": "a red kite", "id": "a"}, {"text": "a red kite", "id": "b"}])

        assert {hit.id: hit.score for hit in store.search("kite", mode="keyword")} == {
            "a": 1.0,
            "b": 1.0,
        }

    def test_vector_scores_are_half_of_one_plus_cosine(self, opened):
        """GN-12: 1 - distance / 2."""
        model = HashingEmbedder()
        results = opened(embedder=model).search(self.QUERY, mode="vector")

        query = model.embed([self.QUERY])[0]
        for hit in results:
            cosine = float(model.embed([hit.text])[0] @ query)
            assert hit.score == pytest.approx(1 - (1 - cosine) / 2, abs=1e-5)

    def test_the_numbers_of_the_document_are_in_the_trace(self, opened):
        """GN-9, GN-10, GN-11, R-7: each stage with its own."""
        store = opened(reranker=ScriptedReranker(by_length), generator=ScriptedGenerator(SAYS))
        found = steps(store.search(self.QUERY, mode="thorough"))

        assert found["rrf"].numbers == {"k": 60, "weights": WEIGHTS}
        assert found["rank_bonus"].numbers == {"first": 0.05, "next": 0.02}
        assert found["blend"].numbers == {"top3": 0.75, "top10": 0.60, "beyond": 0.40}
        assert found["cross_encoder"].numbers["depth"] == 20
        assert found["cross_encoder"].numbers["chars"] == 4000


RARE = "zebra quagga okapi bongo eland"


class TestStrongSignal:
    @pytest.fixture
    def scribe(self):
        return ScriptedGenerator(SAYS)

    @pytest.fixture
    def store(self, opened, scribe):
        more = [
            {"id": "rare", "text": f"{RARE} graze"},
            {"id": "twin1", "text": "gnu kudu oryx nyala impala graze"},
            {"id": "twin2", "text": "gnu kudu oryx nyala impala drink"},
        ]
        return opened([*notes(), *more], generator=scribe)

    @staticmethod
    def strengths(store, query):
        """b / (b + half) of the keyword hits, with the half that the trace names."""
        step = steps(store.search("graze", mode="thorough"))["expand"]
        asked = re.fullmatch(
            r"strong_signal\(top=5, score=0\.84, gap=0\.14, half=([\d.]+)\)", step.notes["test"]
        )
        half = float(asked[1])
        raw = [hit.found["keyword"].score for hit in store.search(query, mode="keyword")]
        return [b / (b + half) for b in raw] + [0.0, 0.0]

    def test_one_hit_that_stands_out_needs_no_language_model(self, store, scribe):
        """GN-1: explain says `skipped_strong`; the generator is not called."""
        first, second, *_ = self.strengths(store, RARE)
        assert first >= 0.84
        assert first - second >= 0.14
        scribe.prompts.clear()

        results = store.search(RARE, mode="thorough")

        assert scribe.prompts == []
        assert results[0].id == "rare"
        assert "skipped_strong" in steps(results)
        assert "rephrase" not in steps(results)
        assert steps(results)["expand"].notes["held"] is True

    @pytest.mark.parametrize("query", ["gnu kudu oryx nyala impala", "zebra", "old harbour"])
    def test_no_clear_answer_is_rephrased(self, store, scribe, query):
        """GN-1: two that are equally good; one weak hit alone; words that all have."""
        first, second, *_ = self.strengths(store, query)
        assert first < 0.84 or first - second < 0.14
        scribe.prompts.clear()

        results = store.search(query, mode="thorough")

        assert len(scribe.prompts) == 1
        assert "skipped_strong" not in steps(results)
        assert steps(results)["rephrase"].lost is None

    def test_a_filter_binds_the_quick_search_too(self, store, scribe):
        """GN-1, R-3: what stands out in another namespace is no answer here."""
        store.add("unrelated", namespace="mine")

        store.search(RARE, mode="thorough", namespace="mine")

        assert len(scribe.prompts) == 1

    def test_explain_on_the_shell_says_it(self, store, shell):
        """GN-1: `skipped_strong` in --explain."""
        store.close()

        assert "skipped_strong" in shell("query", "--thorough", "--explain", RARE).out


class TestExpansion:
    def test_each_variant_is_a_list_of_its_own(self, opened):
        """GN-2: searched by word or by meaning, and named after its kind."""
        store = opened(generator=ScriptedGenerator(SAYS))
        results = store.search("old harbour", mode="thorough", limit=30)

        lists = [f"{kind}:{n}" for kind in ("lexical", "semantic") for n in (1, 2, 3)]
        assert [one.stage for one in steps(results)["recall"].branches] == [
            *("keyword", "vector"),
            *lists,
            "hyde:1",
        ]
        assert all(results.counts[name] > 0 for name in lists)

    def test_a_variant_finds_what_the_query_does_not(self, opened):
        """GN-2: the vocabulary gap, by word and by meaning."""
        documents = [*notes(), {"id": "quay", "text": "Moorings are let by the jetty warden."}]
        says = json.dumps({"lexical": ["harbour jetty moorings"], "semantic": [], "hyde": ""})
        asked = {"query": "renting a harbour place", "mode": "thorough", "limit": 40}

        assert "quay" not in ids(opened(documents, embedder=False).search(**asked))
        found = opened(
            documents, embedder=False, name="b.db", generator=ScriptedGenerator(says)
        ).search(**asked)
        assert "quay" in ids(found)

    @pytest.mark.parametrize(
        ("narrow", "allowed"),
        [
            ({"query": "harbour -crane"}, lambda hit: "crane" not in hit.text),
            ({"query": 'harbour "old old"'}, lambda hit: "old old" in hit.text),
            ({"query": "harbour anch*"}, lambda hit: "anch" in hit.text),
            ({"query": "harbour", "types": ["rule"]}, lambda hit: hit.type == "rule"),
            ({"query": "harbour", "topics": ["tide"]}, lambda hit: "tide" in hit.topics),
            ({"query": "harbour", "namespace": "n1"}, lambda hit: hit.namespace == "n1"),
            ({"query": "harbour", "collection": "c1"}, lambda hit: hit.collection == "c1"),
            (
                {"query": "harbour", "since": NOON - timedelta(hours=9)},
                lambda hit: hit.updated_at >= NOON - timedelta(hours=9),
            ),
        ],
        ids=lambda given: str(given)[:45] if isinstance(given, dict) else "",
    )
    @pytest.mark.parametrize("mode", ["fast", "default", "thorough", "keyword", "vector"])
    def test_no_path_escapes_the_scope(self, opened, narrow, allowed, mode):
        """GN-5, R-3: a variant that asks for cranes brings none where the query forbids them."""
        documents = [
            {
                **one,
                "type": "rule" if n % 2 else "fact",
                "topics": ["tide"] if n % 3 == 0 else [],
                "namespace": f"n{n % 2}",
                "collection": f"c{n % 3}",
            }
            for n, one in enumerate(notes())
        ]
        store = opened(
            documents,
            generator=ScriptedGenerator(SAYS),
            reranker=ScriptedReranker(by_length),
        )

        results = store.search(mode=mode, limit=30, **narrow)

        assert 0 < len(results) < 30
        assert all(allowed(hit) for hit in results)
        assert results.degraded == ()
        # No list had more than that either: what is excluded takes nobody's place.
        lists = [n for name, n in results.counts.items() if name.partition(":")[0] in WEIGHTS]
        assert max(lists) == len(results)

    @pytest.mark.parametrize(
        "reranker", [False, ScriptedReranker(by_length)], ids=["", "reranked"]
    )
    def test_the_guardrails_are_seen_in_the_trace(self, opened, reranker):
        """GN-5: signs and identifiers come back, a stranger goes, semantic ones may wander."""
        says = json.dumps(
            {
                "lexical": ["harbour dues", "banana split"],
                "semantic": ["banana split"],
                "hyde": "Bananas.",
            }
        )
        store = opened(generator=ScriptedGenerator(says), reranker=reranker)

        results = store.search("harbour E0502 -crane", mode="thorough")

        step = steps(results)["rephrase"]
        assert step.notes["lexical"] == ("harbour dues E0502 -crane",)
        assert step.notes["semantic"] == ("banana split",)
        assert any("'banana split' dropped" in said for said in step.notes["changes"])
        assert {"lexical:1", "semantic:1", "hyde:1"} <= set(results.counts)
        assert "lexical:2" not in results.counts

    def test_the_prompt_is_in_the_language_of_the_query(self, opened):
        """GN-3: end to end, in a store of English notes."""
        scribe = ScriptedGenerator(SAYS)
        store = opened(generator=scribe)
        for query in (
            "what are the old ferries in the harbour for?",
            "Wofür sind die alten Fähren in dem Hafen da?",
            "港口里的旧渡轮是做什么用的",
        ):
            store.search(query, mode="thorough")

        heads = ("Write English", "Du hilfst einer Suchmaschine", "same language and script")
        assert [[head in one for head in heads] for one in scribe.prompts] == [
            [True, False, False],
            [False, True, False],
            [False, False, True],
        ]
        assert "ISO 639-1: zh" in scribe.prompts[2]

    def test_an_expansion_is_kept_in_the_file(self, opened, tmp_path, clock):
        """GN-4: another Store object on it does not ask again; another model does."""
        scribe, second, other = (
            ScriptedGenerator(SAYS),
            ScriptedGenerator(SAYS),
            ScriptedGenerator(SAYS, name="other"),
        )
        first = opened(generator=scribe).search("old harbour", mode="thorough")
        calls = []
        for model in (second, other):
            with scrubjay.open(
                tmp_path / "gno.db",
                profile="gno:thorough",
                clock=clock,
                embedder=HashingEmbedder(),
                reranker=False,
                generator=model,
            ) as store:
                again = store.search("old harbour")
                calls.append((len(model.prompts), steps(again)["rephrase"].notes["kept"]))
                assert ids(again) == ids(first)
                assert [hit.score for hit in again] == [hit.score for hit in first]

        assert calls == [(0, True), (1, False)]

    def test_the_hybrid_path_uses_the_same_kept_answer(self, opened):
        """GN-4: whatever the limit and the filters are."""
        scribe = ScriptedGenerator(SAYS)
        store = opened(generator=scribe)
        store.search("old harbour", mode="thorough")
        store.search("old harbour", mode="thorough", limit=3, types=["fact"])
        store.search("old harbour", profile="gno:thorough", overrides={"rerank": False})

        assert len(scribe.prompts) == 1


ASK = """
import json, sys
import scrubjay
with scrubjay.open(sys.argv[1], embedder=False) as store:
    found = store.search(sys.argv[2], profile="gno", mode="thorough")
    print(json.dumps([[hit.id for hit in found], dict(found.counts), found.degraded]))
"""


@pytest.mark.slow
def test_an_expansion_is_kept_across_processes(opened, tmp_path):
    """GN-4: the second process sends no request, and has the same variants."""
    opened(embedder=False).close()
    with EndpointServer() as server:
        server.says = SAYS
        env = {**os.environ, "SCRUBJAY_GENERATOR": f"{server.url}/v1#tiny"}
        said = [
            json.loads(
                subprocess.run(
                    [sys.executable, "-c", ASK, str(tmp_path / "gno.db"), query],
                    env=env,
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=True,
                ).stdout
            )
            for query in ("old harbour", "old harbour", "old harbours")
        ]
        asked = len(server.requests)

    assert asked == 2
    assert said[0][1]["lexical:1"] > 0
    assert said[0][:2] == said[1][:2]


class TestDocuments:
    GUIDE = "# Guide\n\n" + "\n\n".join(
        f"## Part {n}\n\n" + f"{word} " * 150
        for n, word in enumerate("walrus heron osprey badger otter".split())
    )

    @pytest.fixture
    def store(self, opened):
        return opened(
            [
                {"id": "guide", "title": "Shore animals", "text": self.GUIDE, "type": "document"},
                {"id": "loud", "text": "walrus walrus walrus walrus walrus"},
                {"id": "rf", "text": "never run rm -rf near a badger"},
                *notes(10),
            ]
        )

    @pytest.mark.parametrize("mode", ["keyword", "fast", "default"])
    def test_terms_may_stand_in_different_sections(self, store, mode):
        """GN-6: by whole document; what holds all terms comes before what says one of them often."""
        results = store.search("walrus otter", mode=mode)

        assert results[0].id == "guide"
        assert results[0].found["keyword"].rank == 1

    def test_any_term_is_the_fall_back(self, store):
        """GN-6: a natural question never returns nothing."""
        found = store.search("how many walruses are there in zanzibar", mode="keyword")

        assert set(ids(found)) == {"guide", "loud"}

    @pytest.mark.parametrize("mode", ["keyword", "vector", "fast", "default"])
    def test_negation_spares_what_holds_it_literally(self, store, mode):
        """GN-6: -rf does not exclude `rm -rf`; -walrus excludes the walruses, on every path."""
        assert "rf" in ids(store.search("badger -rf", mode=mode))
        assert not {"guide", "loud"} & set(ids(store.search("badger -walrus", mode=mode)))

    def test_a_query_of_negations_only_is_taken_literally(self, store):
        """GN-6: it looks for `-rf`."""
        assert ids(store.search("-rf", mode="keyword")) == ["rf"]

    @pytest.mark.parametrize("query", ['"', "-", "*", '"" -"" *', "AND OR NOT", "a:b(c", "NEAR("])
    def test_no_input_is_a_syntax_error(self, store, query):
        """GN-6: whatever was typed."""
        for mode in ("keyword", "vector", "fast", "default", "thorough"):
            assert len(store.search(query, mode=mode)) >= 0

    def test_stems_match(self, store):
        """GN-6: "badgers" finds "badger"."""
        assert set(ids(store.search("badgers", mode="keyword"))) == {"guide", "rf"}

    def test_each_chunk_is_embedded_with_its_title_in_front(self, opened):
        """GN-7: a chunk about otters in a document about the shore is told from one about zoos."""
        read = []

        class Reading(HashingEmbedder):
            def embed(self, texts, *, as_query=False):
                if not as_query:
                    read.extend(texts)
                return super().embed(texts, as_query=as_query)

        opened(
            [{"id": "guide", "title": "Shore animals", "text": self.GUIDE, "type": "document"}],
            embedder=Reading(),
        )

        assert len(read) >= 5
        assert all(one.startswith("Shore animals\n") for one in read)

    def test_the_title_is_found_by_meaning_in_a_chunk_that_does_not_say_it(self, store):
        """GN-7: the vector has it."""
        found = store.search("shore", mode="vector", limit=1)

        assert ids(found) == ["guide"]


class Watched:
    """An index that tells of every search before it answers."""

    def __init__(self, inner, tell):
        self._inner = inner
        self._tell = tell

    def search(self, *given, **named):
        self._tell(*given)
        return self._inner.search(*given, **named)

    def __getattr__(self, name):
        return getattr(self._inner, name)


def watched(store, monkeypatch, tell_word, tell_vector):
    """Let a store's indexes tell of their searches."""
    real = store._context.kit

    def kit(profile, tiers):
        parts = real(profile)
        return parts._replace(
            keyword=Watched(parts.keyword, tell_word), vectors=Watched(parts.vectors, tell_vector)
        )

    monkeypatch.setattr(store._context, "kit", kit)


class TestRetrieval:
    def test_all_lists_are_searched_at_the_same_time(self, opened, monkeypatch):
        """GN-8: nine searches that wait for each other come to an end only side by side."""
        store = opened(generator=ScriptedGenerator(SAYS))
        meet = threading.Barrier(9, timeout=60)

        def by_word(terms, scope, limit, weights):
            if limit != 5:  # the quick look for a strong signal comes before
                meet.wait()

        def by_meaning(vector, model, scope, limit):
            if scope.ids is None:  # looked up afterwards, by id
                meet.wait()

        watched(store, monkeypatch, by_word, by_meaning)

        results = store.search("old harbour", mode="thorough")

        assert len(steps(results)["recall"].branches) == 9
        assert results.degraded != ()  # no reranker, and nothing else:
        assert all(one.startswith("late_interaction") for one in results.degraded)

    @pytest.mark.parametrize("limit", [1, 3, 10])
    def test_depths_follow_from_the_limit(self, opened, monkeypatch, limit):
        """GN-13: originals twice the limit, each variant and HyDE once; all that exist are there."""
        store = opened(notes(60), generator=ScriptedGenerator(SAYS))
        words, near = [], []
        watched(
            store,
            monkeypatch,
            lambda terms, scope, depth, weights: words.append(depth),
            lambda vector, model, scope, depth: near.append((depth, scope.ids)),
        )

        results = store.search("old harbour", mode="thorough", limit=limit)

        assert sorted(words[1:]) == [limit] * 3 + [2 * limit]  # the first is the strong signal
        assert sorted(depth for depth, only in near if only is None) == [limit] * 4 + [2 * limit]
        assert (results.counts["keyword"], results.counts["vector"]) == (2 * limit, 2 * limit)
        assert (results.counts["semantic:1"], results.counts["hyde:1"]) == (limit, limit)
        assert len(results) == limit

    def test_all_unique_documents_go_into_fusion(self, opened):
        """GN-13: nothing is cut before; R-4: each once."""
        store = opened(notes(60), generator=ScriptedGenerator(SAYS))
        few = store.search("old harbour", mode="thorough", limit=4)
        rows = sum(n for name, n in few.counts.items() if name.partition(":")[0] in WEIGHTS)

        unique = steps(few)["rrf"].came_out

        assert rows == 4 * 2 * 2 + 4 * 7
        assert 8 < unique < rows
        assert steps(few)["blend"].went_in == unique
        assert steps(few)["top"].went_in == unique

    def test_twenty_are_read_in_one_call(self, opened):
        """GN-10: though sixty were found."""
        judge = ScriptedReranker(by_length)
        results = opened(notes(60), reranker=judge).search("old harbour", limit=30)

        ((query, texts),) = judge.asked
        assert query == "old harbour"
        assert len(texts) == 20
        assert results.counts["reranked"] == 20
        assert sum(hit.rerank_score is not None for hit in results) == 20

    def test_the_best_chunk_is_read_with_about_4000_characters(self, opened):
        """GN-10: of a long document, the part that answers; the whole of it on request."""
        parts = "walrus heron osprey badger otter marten weasel stoat".split()
        text = "\n\n".join(f"# On the {one}\n\n" + f"the {one} sleeps. " * 60 for one in parts)
        judge = ScriptedReranker(by_length)
        store = opened([{"id": "long", "text": text, "type": "document"}], reranker=judge)
        assert len(text) > 8000

        store.search("stoat")
        store.search("stoat", overrides={"cross_encoder": {"chars": 1_000_000}})

        (_, (some,)), (_, (whole,)) = judge.asked
        assert some in text
        assert 3900 <= len(some) <= 4000
        assert "stoat" in some
        assert "walrus" not in some
        assert whole == text

    def test_the_best_chunk_is_the_one_with_the_highest_fused_sum(self, opened):
        """GN-10: HyDE and a semantic variant (1.4 + 1.0 at rank 1) outweigh the original (2.0)."""
        text = "# A\n\n" + "walrus coast " * 100 + "\n\n# B\n\n" + "badger forest " * 100
        says = json.dumps({"lexical": [], "semantic": ["badger"], "hyde": "forest badger"})
        chars = {"cross_encoder": {"chars": 300}}
        read = []
        for generator in (False, ScriptedGenerator(says)):
            judge = ScriptedReranker(by_length)
            store = opened(
                [{"id": "long", "text": text, "type": "document"}],
                name=f"{bool(generator)}.db",
                reranker=judge,
                generator=generator,
            )
            store.search("coast", mode="thorough", overrides=chars)
            read.append(judge.asked[0][1][0])

        assert "walrus" in read[0]
        assert "badger" not in read[0]
        assert "badger" in read[1]
        assert "walrus" not in read[1]


@pytest.fixture
def shell(tmp_path, clock, capsys, monkeypatch):
    """Run commands on the store gno.db with fixed models; `shell.scribe`, `shell.judge` count."""
    real_open = scrubjay.open

    class Shell:
        scribe = ScriptedGenerator(SAYS)
        judge = ScriptedReranker(by_length)

        def __call__(self, command, *words):
            capsys.readouterr()
            given = ["--db", str(tmp_path / "gno.db"), command, "--profile", "gno", *words]
            self.code = main(given)
            self.out = capsys.readouterr().out
            return self

        @property
        def stages(self):
            found = []

            def walk(some):
                for step in some:
                    found.append(step["stage"])
                    walk(step["branches"])

            walk(json.loads(self.out)["trace"])
            return found

    made = Shell()

    def with_fakes(path, **given):
        models = {"embedder": HashingEmbedder(), "reranker": made.judge, "generator": made.scribe}
        # A command names no clock; a test that stocks the store does.
        return real_open(path, **({"clock": clock} | models if "clock" not in given else given))

    monkeypatch.setattr(scrubjay, "open", with_fakes)
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "hashing-256")
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "200")
    return made


class TestModes:
    @pytest.mark.parametrize(
        ("asked", "expands", "reranks"),
        [
            ({}, False, True),
            ({"mode": "default"}, False, True),
            ({"mode": "fast"}, False, False),
            ({"mode": "thorough"}, True, True),
            ({"mode": "thorough", "overrides": {"rerank": False}}, True, False),
            ({"mode": "thorough", "overrides": {"expand": False}}, False, True),
            ({"overrides": {"rerank": False}}, False, False),
            ({"mode": "keyword"}, False, False),
            ({"mode": "vector"}, False, False),
            ({"profile": "gno:thorough"}, True, True),
        ],
        ids=str,
    )
    def test_what_each_mode_does(self, opened, asked, expands, reranks):
        """GN-14: fast neither, default reranks, thorough both; each can be left out."""
        scribe, judge = ScriptedGenerator(SAYS), ScriptedReranker(by_length)
        store = opened(generator=scribe, reranker=judge)

        results = store.search("old harbour", **asked)

        assert (len(scribe.prompts), len(judge.asked)) == (int(expands), int(reranks))
        assert ("rephrase" in steps(results)) is expands
        assert ("cross_encoder" in steps(results)) is reranks
        assert any("rerank" in hit.why for hit in results) is reranks
        assert results.degraded == ()
        assert len(results) == 10

    def test_without_the_second_look_it_is_fast_mode(self, opened):
        """GN-14: `--no-rerank` trusts fusion: the same ids and scores."""
        store = opened(reranker=ScriptedReranker(by_length))
        fast = store.search("old harbour", mode="fast")
        trusting = store.search("old harbour", overrides={"rerank": False})

        assert [(hit.id, hit.score) for hit in fast] == [(hit.id, hit.score) for hit in trusting]

    def test_min_score_and_limit(self, opened):
        """GN-14: nothing below, never more."""
        store = opened(reranker=ScriptedReranker(by_length))
        whole = store.search("old harbour", limit=30)
        bar = whole[7].score

        assert ids(store.search("old harbour", limit=30, min_score=bar)) == [
            hit.id for hit in whole if hit.score >= bar
        ]
        assert len(store.search("old harbour", limit=2)) == 2

    @pytest.mark.parametrize(
        ("words", "expands", "reranks"),
        [
            ((), False, True),
            (("--fast",), False, False),
            (("--thorough",), True, True),
            (("--thorough", "--no-expand"), False, True),
            (("--thorough", "--no-rerank"), True, False),
            (("--thorough", "--no-expand", "--no-rerank"), False, False),
            (("--no-rerank",), False, False),
            (("--no-expand",), False, True),
            (("--fast", "--no-rerank", "--no-expand"), False, False),
            (("--mode", "thorough"), True, True),
        ],
        ids=str,
    )
    def test_the_flags_of_query(self, opened, shell, words, expands, reranks):
        """GN-14: --fast, --thorough, --no-expand, --no-rerank, --explain, -n, --min-score."""
        opened().close()

        said = shell("query", "--json", "--explain", *words, "-n", "4", "old", "harbour")

        assert said.code == 0
        assert ("rephrase" in said.stages) is expands
        assert ("cross_encoder" in said.stages) is reranks
        assert (len(shell.scribe.prompts) > 0) is expands
        answer = json.loads(said.out)
        assert len(answer["hits"]) == 4
        least = answer["hits"][1]["score"]
        fewer = shell(
            "query", "--json", *words, "-n", "4", "--min-score", str(least), "old harbour"
        )
        assert len(json.loads(fewer.out)["hits"]) == 2

    @pytest.mark.parametrize(("command", "only"), [("search", "keyword"), ("vsearch", "vector")])
    def test_search_and_vsearch_ask_one_list(self, opened, shell, command, only):
        """GN-14: keyword only, vector only."""
        opened().close()

        said = shell(command, "--json", "--explain", "old", "harbour")

        answer = json.loads(said.out)
        assert said.code == 0
        assert all(list(hit["found"]) == [only] for hit in answer["hits"])
        assert shell.scribe.prompts == []
        assert shell.judge.asked == []
        assert answer["profile"] == f"gno:{only}"

    def test_explain_shows_every_stage_to_a_person(self, opened, shell):
        """GN-14, R-7: with the sum of each score."""
        opened().close()

        said = shell("query", "--thorough", "--explain", "old", "harbour").out

        for name in (
            "rephrase",
            "lexical:1",
            "hyde:1",
            "rrf",
            "rank_bonus",
            "cross_encoder",
            "blend",
        ):
            assert name in said


def without(store, monkeypatch, **parts):
    """Take components away from every search of a store."""
    real = store._context.kit
    monkeypatch.setattr(
        store._context, "kit", lambda profile, tiers: real(profile)._replace(**parts)
    )


class TestDegraded:
    QUERY = "old harbour"

    def test_an_explanation_says_nothing_of_a_blend_where_none_was_reranked(self, opened):
        """GN-15, R-7: the score is that of fusion."""
        results = opened(reranker=False).search(self.QUERY)

        where = results.explain(results[0]).where
        assert any("1, which the best fused score is made" in line for line in where)
        assert not any("blended" in line for line in where)

    @pytest.mark.parametrize("mode", ["fast", "default", "thorough", "vector"])
    def test_no_vector_support_is_keyword_only(self, opened, monkeypatch, mode):
        """GN-15: and says so."""
        store = opened()
        expected = ids(store.search(self.QUERY, mode="keyword"))
        without(store, monkeypatch, vectors=None)

        results = store.search(self.QUERY, mode=mode)

        assert ids(results) == expected
        assert "vector: no vectors is configured" in results.degraded
        assert {name for hit in results for name in hit.found} == {"keyword"}

    @pytest.mark.parametrize("mode", ["fast", "default", "thorough", "vector"])
    @pytest.mark.parametrize(
        ("embedder", "reason"),
        [
            (False, "embed_query: there is no embedder: the store was opened with embedder=False"),
            (BrokenEmbedder(), "embed_query: the broken model does not answer; start it"),
        ],
        ids=["none", "broken"],
    )
    def test_no_embedding_model_turns_vectors_off(self, opened, mode, embedder, reason):
        """GN-15: the hits are those of the words."""
        store = opened(embedder=embedder)
        expected = ids(store.search(self.QUERY, mode="keyword"))

        results = store.search(self.QUERY, mode=mode)

        assert ids(results) == expected
        assert reason in results.degraded
        assert results.counts.get("vector", 0) == 0

    @pytest.mark.parametrize("mode", ["default", "thorough"])
    def test_no_reranker_is_fusion(self, opened, mode):
        """GN-15: the same hits and scores as without the stage; the reason is named."""
        store = opened(reranker=False)

        results = store.search(self.QUERY, mode=mode)
        trusting = store.search(self.QUERY, mode=mode, overrides={"rerank": False})

        assert [(hit.id, hit.score) for hit in results] == [
            (hit.id, hit.score) for hit in trusting
        ]
        assert (
            "late_interaction: there is no reranker: the store was opened with reranker=False"
            in results.degraded
        )
        assert not any("late_interaction" in one for one in trusting.degraded)

    def test_no_language_model_is_no_expansion(self, opened):
        """GN-15: thorough is then the default; the reason is named."""
        store = opened(generator=False, reranker=ScriptedReranker(by_length))

        thorough = store.search(self.QUERY, mode="thorough")
        default = store.search(self.QUERY)

        assert [(hit.id, hit.score) for hit in thorough] == [
            (hit.id, hit.score) for hit in default
        ]
        assert thorough.degraded == (
            "rephrase: there is no generator: the store was opened with generator=False",
        )
        assert default.degraded == ()

    def test_what_is_not_configured_says_how_to(self, opened):
        """GN-15: the setting and the variable."""
        store = opened(generator=None, reranker=None)

        said = " ".join(store.search(self.QUERY, mode="thorough").degraded)

        assert "set generator in scrubjay.toml or SCRUBJAY_GENERATOR" in said
        assert "set reranker in scrubjay.toml or SCRUBJAY_RERANKER" in said
        assert "hashing-256 gives no token vectors" in said

    def test_everything_gone_still_answers(self, opened, monkeypatch):
        """GN-15, R-6: words are left."""
        store = opened(embedder=False)

        results = store.search(self.QUERY, mode="thorough")

        assert len(results) == 10
        assert [one.partition(":")[0] for one in results.degraded] == [
            *("embed_query", "rephrase", "late_interaction"),
        ]

    def test_late_interaction_stands_in_where_no_reranker_is_named(self, opened):
        """GN-15: with a model of token vectors; hits then have a rerank score."""
        store = opened(embedder=TokenEmbedder(), reranker=None)

        results = store.search(self.QUERY, limit=30)

        assert results.degraded == ()
        assert sum(hit.rerank_score is not None for hit in results) == 20
        right = blended_by_hand(results)
        assert [hit.score for hit in results] == pytest.approx(
            [right[hit.id] for hit in results], abs=2e-6
        )

    @pytest.mark.slow
    def test_keyword_mode_needs_no_numpy(self, opened, tmp_path):
        """GN-15: on a machine without vectors, words work; nothing heavy is even imported."""
        opened(embedder=False).close()
        code = (
            "import sys, scrubjay\n"
            "sys.modules['numpy'] = None\n"
            "with scrubjay.open(sys.argv[1], embedder=False) as store:\n"
            "    found = store.search('old harbour', profile='gno', mode='keyword')\n"
            "    print(len(found), found.degraded)\n"
        )
        said = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "gno.db")],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )

        assert said.stdout == "10 ()\n"


class TestSpeed:
    @staticmethod
    def cpu_ms(call):
        took = []
        for _ in range(15):
            started = time.process_time()
            call()
            took.append((time.process_time() - started) * 1000)
        return median(took)

    @pytest.mark.parametrize(("mode", "most_ms"), [("keyword", 20), ("vector", 50)])
    def test_within_the_bounds_of_the_document(self, opened, mode, most_ms):
        """GN-16: keyword under 20 ms, vector under 50 ms without the embedding of the query."""
        store = opened(notes(400))
        store.search("old harbour", mode=mode)

        assert self.cpu_ms(lambda: store.search("old harbour ferry", mode=mode)) < most_ms

    def test_fast_is_no_more_than_both(self, opened):
        """GN-16: 0.7 s by the document; here the two lists and their fusion."""
        store = opened(notes(400))
        store.search("old harbour", mode="fast")

        assert self.cpu_ms(lambda: store.search("old harbour ferry", mode="fast")) < 700


def test_equal_stores_give_equal_answers(opened):
    """R-8, R-12: two stores of the same texts, models and clock; to the last score."""
    answers = []
    for name in ("one.db", "two.db"):
        store = opened(
            name=name,
            embedder=TokenEmbedder(),
            generator=ScriptedGenerator(SAYS),
            reranker=ScriptedReranker(by_length),
        )
        found = store.search("old harbour", mode="thorough", limit=30)
        answers.append([(hit.id, hit.score, hit.why, hit.found) for hit in found])

    assert answers[0] == answers[1]


def test_searches_at_the_same_time_give_the_answers_of_searches_alone(opened):
    """R-8, GN-8: sixteen threads share the pool of threads, the caches and the kept answers."""
    store = opened(
        embedder=TokenEmbedder(),
        generator=ScriptedGenerator(SAYS),
        reranker=ScriptedReranker(by_length),
    )
    queries = [f"old harbour town{n}" for n in range(4)]

    def ask(query):
        return [(hit.id, hit.score) for hit in store.search(query, mode="thorough")]

    alone = [ask(query) for query in queries]
    together = {}

    def several(number):
        together[number] = [ask(query) for query in queries]

    threads = [threading.Thread(target=several, args=(number,)) for number in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert together == dict.fromkeys(range(16), alone)


def test_the_clock_of_a_test_is_the_clock_of_the_store(opened):
    """R-8: what is kept has its time."""
    store = opened(generator=ScriptedGenerator(SAYS))
    store.search("old harbour", mode="thorough")

    with store._context.db.read() as db:
        (at_us,) = db.execute("SELECT at_us FROM kept WHERE kind = 'expansion'").fetchone()
    assert at_us == int(Clock()().timestamp() * 1_000_000)
