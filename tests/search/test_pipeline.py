"""The engine: stages in order, a trace of each, a lost tier noted; and what holds for every search."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from clocks import NOON, Clock
from fakes import HashingEmbedder
from hypothesis import given, settings
from hypothesis import strategies as st

import scrubjay
from scrubjay import StoreError, Unavailable
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.search.pipeline import Kit, Run, recall, search, stage, when
from scrubjay.search.stages.fuse import rrf
from scrubjay.search.stages.present import load, top
from scrubjay.search.stages.recall import vector
from scrubjay.types import Candidate, Memory, Query, RankedList, Row

MODES = ("keyword", "vector", "default")


@stage
def tag(run: Run, *, word: str) -> Run:
    """Leave a mark, so that the order of stages can be read."""
    longer = run.query._replace(text=run.query.text + word)
    return run._replace(query=longer).noting(said=word)


@stage
def lost(run: Run, *, reason: str = "no model; fetch it with: scrubjay models pull") -> Run:
    """Be a stage whose model is not there."""
    raise Unavailable(reason)


@stage
def found(run: Run, *, ids: str) -> RankedList:
    """Be a source that finds these ids, one letter each."""
    return RankedList("found", tuple(Row(id_, 1.0 / at) for at, id_ in enumerate(ids, 1)))


@stage
def gone(run: Run) -> RankedList:
    """Be a source whose server is down."""
    raise Unavailable("the server does not answer")


@stage
def broken(run: Run) -> RankedList:
    """Be a source with a mistake in it."""
    raise ZeroDivisionError("a mistake of ours")


@stage
def asks_for(run: Run, *, word: str) -> bool:
    """True when the query holds a word."""
    return word in run.query.text


class OneShelf:
    """Records of a single letter each."""

    def get(self, ids, scope):
        return {id_: Memory(f"text of {id_}", id=id_) for id_ in ids}

    def chunks(self, places):
        return {}


def ask(*stages, text="q", kit=None, limit=10):
    return search(Query(text, limit=limit), "test", tuple(stages), kit or Kit(records=OneShelf()))


class TestStages:
    def test_stages_run_in_the_order_of_the_list(self):
        """The list is the documentation."""
        answer = ask(tag(word="a"), tag(word="b").named("second"), tag(word="c").named("third"))

        assert answer.query == "qabc"
        assert [step.stage for step in answer.trace] == ["tag", "second", "third"]

    def test_the_trace_has_numbers_counts_notes_and_times(self):
        """R-7: each stage's name with its numbers, time, how many in and out."""
        answer = ask(recall(sources=(found(ids="abc"),)), rrf(k=30), top(), limit=2)

        first, second, third = answer.trace
        assert [(one.stage, one.came_out) for one in first.branches] == [("found", 3)]
        assert first.branches[0].numbers == {"ids": "abc"}
        assert (second.stage, second.numbers) == ("rrf", {"k": 30, "weights": None})
        assert (second.went_in, second.came_out) == (3, 3)
        assert (third.went_in, third.came_out) == (3, 2)
        assert all(step.took_ms >= 0 for step in answer.trace)
        assert ask(tag(word="x")).trace[0].notes == {"said": "x"}

    def test_notes_belong_to_one_stage_only(self):
        """A later stage does not repeat what an earlier one said."""
        answer = ask(tag(word="x"), top())

        assert answer.trace[1].notes == {}

    def test_numbers_are_given_by_name(self):
        """`rrf(60)` could mean anything; `rrf(k=60)` cannot."""
        with pytest.raises(scrubjay.InvalidInput, match="rrf takes its numbers by name"):
            rrf(60)

    def test_a_part_prints_as_the_call_that_made_it(self):
        """So that a profile can be read, stored and compared."""
        assert str(rrf(k=30)) == "rrf(k=30, weights=None)"
        assert str(recall(sources=(found(ids="a"),))) == "recall(sources=[found(ids='a')])"
        assert rrf(k=30) == rrf(k=30) != rrf(k=31)


class TestLostTiers:
    def test_one_source_down_leaves_the_others(self):
        """R-6: the answer is there, and names what is missing and why."""
        answer = ask(recall(sources=(gone(), found(ids="ab"))), rrf(k=60), load())

        assert [hit.id for hit in answer] == ["a", "b"]
        assert answer.degraded == ("gone: the server does not answer",)
        assert answer.counts == {"gone": 0, "found": 2, "returned": 2}
        assert answer.trace[0].branches[0].lost == "the server does not answer"

    def test_all_sources_down_is_an_empty_answer_and_no_error(self):
        """R-6: a search never fails because of a missing piece."""
        answer = ask(recall(sources=(gone(), gone().named("also_gone"))), rrf(k=60), load())

        assert len(answer) == 0
        assert answer.degraded == (
            "gone: the server does not answer",
            "also_gone: the server does not answer",
        )

    def test_a_lost_stage_passes_on_what_it_was_given(self):
        """A reranker that is not there leaves the order as it was."""
        answer = ask(recall(sources=(found(ids="ab"),)), rrf(k=60), lost(), load())

        assert [hit.id for hit in answer] == ["a", "b"]
        assert answer.degraded == ("lost: no model; fetch it with: scrubjay models pull",)

    def test_a_missing_component_names_itself_or_its_reason(self):
        """`Kit.need` says what is not there, and `why_not` what to do."""
        with pytest.raises(Unavailable, match="no reranker is configured"):
            Kit().need("reranker")
        with pytest.raises(Unavailable, match=r"^pull it$"):
            Kit(why_not={"embedder": "pull it"}).need("embedder")

    def test_the_record_store_being_down_is_an_error(self):
        """R-6: only that one is fatal."""

        class Down(OneShelf):
            def get(self, ids, scope):
                raise StoreError("notes.db is damaged")

        with pytest.raises(StoreError, match="damaged"):
            ask(
                recall(sources=(found(ids="a"),)),
                rrf(k=60),
                load(),
                kit=Kit(records=Down()),
            )

    @pytest.mark.parametrize(
        "sources", [(broken(),), (broken(), found(ids="a")), (found(ids="a"), broken())]
    )
    def test_a_mistake_is_not_taken_for_a_lost_tier(self, sources):
        """Only Unavailable is forgiven; a bug must be seen, in whichever thread it happens."""
        with pytest.raises(ZeroDivisionError, match="mistake of ours"):
            ask(recall(sources=sources))

    def test_sources_are_asked_at_the_same_time(self):
        """Each waits for the other, which only works side by side."""
        meet = threading.Barrier(2, timeout=60)

        @stage
        def waits(run: Run) -> RankedList:
            meet.wait()
            return RankedList("waits")

        answer = ask(recall(sources=(waits(), waits().named("too"))))

        assert answer.counts == {"waits": 0, "too": 0, "returned": 0}


class TestWhen:
    STAGE = when(
        test=asks_for(word="deep"), then=(tag(word="!"),), otherwise=(tag(word="?").named("no"),)
    )

    @pytest.mark.parametrize(
        ("text", "after", "name", "held"),
        [("deep", "deep!", "tag", True), ("q", "q?", "no", False)],
    )
    def test_one_list_of_stages_or_the_other(self, text, after, name, held):
        """The trace shows the test, how it came out, and what ran inside."""
        answer = ask(self.STAGE, text=text)

        assert answer.query == after
        step = answer.trace[0]
        assert step.notes["held"] is held
        assert step.notes["test"] == "asks_for(word='deep')"
        assert [inner.stage for inner in step.branches] == [name]

    def test_what_is_lost_inside_is_named(self):
        """R-6 holds at every depth."""
        answer = ask(when(test=asks_for(word="q"), then=(lost(),)))

        assert answer.degraded == ("lost: no model; fetch it with: scrubjay models pull",)

    def test_recall_inside_keeps_its_sources_in_the_trace(self):
        """A nested step has its own branches."""
        answer = ask(when(test=asks_for(word="q"), then=(recall(sources=(gone(),)),)))

        assert answer.trace[0].branches[0].branches[0].stage == "gone"
        assert answer.degraded == ("gone: the server does not answer",)


TEXTS = (
    "The staging database moved to port 5433",
    "Staging is rebuilt every night; the database is copied",
    "Ask Noor before deleting the archive bucket",
    "Prefers tabs over spaces in every language",
    "The archive bucket of the database is encrypted",
    "Port numbers of all services are in the wiki",
    "An automobile needs a port to charge",
    "The car is parked at the harbour",
)


@pytest.fixture
def stocked(memory):
    """Eight memories, an hour apart."""
    for n, text in enumerate(TEXTS):
        memory.add(text, id=f"m{n}", created_at=NOON - timedelta(hours=n))
    assert memory.pending(wait=True) == 0
    return memory


def by_hand(results):
    """Recompute all final scores from the trace and the hits' raw scores, and nothing else."""
    (step,) = [one for one in results.trace if one.stage == "weigh"]
    weights, least = step.numbers["weights"], step.numbers["least"]
    powers = step.numbers["powers"]
    possible = {name: n["best_possible"] for name, n in step.notes.items() if name in weights}
    whole = sum(weights[name] for name in possible)

    def raw(hit, name):
        return max(hit.found[name].score, 0.0) if name in hit.found else 0.0

    def relative(hit):
        return sum(
            weights[name]
            / whole
            * raw(hit, name)
            / max(*(raw(one, name) for one in results), least[name] * best, 1e-9)
            for name, best in possible.items()
        )

    first = max(results, key=relative)
    lacking = 1.0
    for name, best in possible.items():
        lacking *= 1 - min(raw(first, name) / best, 1.0) ** powers[name]
    return [relative(hit) * (1 - lacking) / relative(first) for hit in results]


class TestScores:
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        "query", ["staging database port", "car", "who to ask about archives"]
    )
    def test_every_final_score_can_be_recomputed_by_hand(self, stocked, mode, query):
        """R-7: from the trace, the ranks and the raw scores alone."""
        results = stocked.search(query, mode=mode, limit=8)

        assert len(results) > 0
        assert [hit.score for hit in results] == pytest.approx(by_hand(results), abs=1e-6)
        for hit in results:
            assert hit.score == round(sum(hit.why.values()), 6)
            assert hit.why.keys() <= hit.found.keys()

    @pytest.mark.parametrize("mode", ["vector", "default"])
    def test_the_cosine_is_the_models_own(self, stocked, embedder, mode):
        """R-9, R-7: the raw vector score is the exact cosine; higher is better."""
        query = embedder.embed(["staging database port"])[0]

        for hit in stocked.search("staging database port", mode=mode, limit=8):
            exact = float(embedder.embed([hit.text])[0] @ query)
            assert hit.cosine == pytest.approx(exact, abs=1e-6)

    @pytest.mark.parametrize("mode", MODES)
    def test_ranks_count_from_one_in_the_order_of_the_raw_scores(self, stocked, mode):
        """R-1: the rank shown is the place in that list."""
        results = stocked.search("staging database port archive", mode=mode, limit=8)

        for name in {name for hit in results for name in hit.found}:
            ranked = sorted(
                (hit.found[name].rank, -round(hit.found[name].score, 6))
                for hit in results
                if name in hit.found and hit.found[name].rank is not None
            )
            assert [rank for rank, _ in ranked] == list(range(1, len(ranked) + 1))
            assert [score for _, score in ranked] == sorted(score for _, score in ranked)

    @pytest.mark.parametrize("mode", MODES)
    def test_the_score_shown_is_the_score_sorted_by(self, stocked, mode):
        """R-2: it never increases down the list, and lies in 0..1."""
        scores = [hit.score for hit in stocked.search("staging database port", mode=mode)]

        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)

    def test_min_score_drops_what_lies_below(self, stocked):
        """And nothing else."""
        everything = stocked.search("staging database port")
        bar = everything[2].score

        assert [hit.id for hit in stocked.search("staging database port", min_score=bar)] == [
            hit.id for hit in everything if hit.score >= bar
        ]

    @pytest.mark.parametrize("mode", MODES)
    def test_limit_means_limit(self, stocked, mode):
        """R-3: never more; and the best stay."""
        whole = [hit.id for hit in stocked.search("the database port", mode=mode, limit=8)]

        for limit in range(1, 9):
            part = stocked.search("the database port", mode=mode, limit=limit)
            assert [hit.id for hit in part] == whole[:limit]

    def test_a_limit_above_the_most_is_cut_and_counted(self, stocked):
        """R-3: `counts` says from what."""
        assert stocked.search("port", limit=5000).counts["limit_cut_from"] == 5000
        assert "limit_cut_from" not in stocked.search("port", limit=1000).counts

    @pytest.mark.parametrize("limit", [0, -1, 2.5, "3", True])
    def test_a_limit_that_is_none_is_refused(self, stocked, limit):
        """A whole number of 1 or more."""
        with pytest.raises(scrubjay.InvalidInput, match="whole number of 1 or more"):
            stocked.search("port", limit=limit)

    def test_terms_are_joined_by_or(self, stocked):
        """R-10: one matching word is enough."""
        hits = stocked.search("harbour zeppelin nonexistent", mode="keyword")

        assert [hit.text for hit in hits] == ["The car is parked at the harbour"]

    def test_topics_are_counted_over_the_results(self, memory):
        """Most frequent first."""
        memory.add("port one", topics=["db", "net"])
        memory.add("port two", topics=["net"])

        assert list(memory.search("port").topics.items()) == [("net", 2), ("db", 1)]

    def test_all_that_can_be_found_by_word_is_indexed_once(self, memory):
        """R-11: title, text, topics, context and id feed the same index, whatever the profile."""
        memory.add(
            "body", id="identword", title="titleword", topics=["topicword"], context="contextword"
        )
        for word in ("identword", "titleword", "topicword", "contextword", "body", "bodies"):
            for mode in ("keyword", "default", "fast", "thorough"):
                assert [hit.id for hit in memory.search(word, mode=mode)] == ["identword"], word

    def test_the_embedding_form_has_title_and_context(self, memory, embedder):
        """R-11: what a model reads is title, heading, context and text."""
        memory.add("it is slow", id="a", title="Charging the car", context="garage notes")
        memory.pending(wait=True)

        (hit,) = memory.search("car garage", mode="vector")
        read = embedder.embed(["Charging the car\ngarage notes\nit is slow"])[0]
        assert hit.cosine == pytest.approx(
            float(read @ embedder.embed(["car garage"])[0]), abs=1e-6
        )


LONG = "\n\n".join(
    f"# Part {n}\n\n" + " ".join(f"{word} shared" for _ in range(120))
    for n, word in enumerate("ant bee cat dog eel fox gnu hen ibis jay kiwi lynx".split())
)


class TestOneRowPerMemory:
    @pytest.mark.parametrize("mode", MODES)
    def test_many_matching_chunks_are_one_hit(self, memory, mode):
        """R-4: whatever number of its chunks matched; the best chunk gives snippet and lines."""
        memory.add(LONG, id="long", type="document", metadata={"format": "markdown"})
        memory.add("shared by a short one", id="short")
        memory.pending(wait=True)

        hits = memory.search("hens", mode=mode)

        assert [hit.id for hit in hits] == (["long"] if mode == "keyword" else ["long", "short"])
        long = hits[0]
        assert "hen" in long.snippet
        if mode != "keyword":
            first = LONG[: LONG.index("# Part 7")].count("\n") + 1
            last = first + LONG[LONG.index("# Part 7") : LONG.index("# Part 8")].count("\n")
            assert long.lines is not None
            assert first <= long.lines[0] <= long.lines[1] <= last

    @pytest.mark.parametrize("chunky", [1, 30])
    def test_a_memory_of_many_chunks_does_not_crowd_out_the_others(self, memory, chunky):
        """R-4: lists are fused at document level, so a limit counts memories, not chunks."""
        for n in range(chunky):
            memory.add(f"{LONG} number {n}", id=f"long{n}")
        for n in range(9):
            memory.add(f"shared short note {n}", id=f"s{n}")
        memory.pending(wait=True)

        hits = memory.search("shared", mode="vector", limit=9 + chunky)

        assert len({hit.id for hit in hits}) == len(hits) == 9 + chunky


class TestTies:
    @pytest.mark.parametrize("mode", MODES)
    def test_equal_scores_are_ordered_by_age_then_id(self, memory, mode):
        """R-5: score rounded to 1e-6, then newer `updated_at`, then id."""
        day = timedelta(days=1)
        for id_, age in (("d", 2 * day), ("b", day), ("c", day), ("a", 3 * day), ("e", 0 * day)):
            # The id is indexed as well: one letter more or less would be another length.
            memory.add("equal words here", id=id_, type=f"t{id_}", updated_at=NOON - age)
        memory.pending(wait=True)

        hits = memory.search("equal words", mode=mode)

        assert [hit.id for hit in hits] == ["e", "b", "c", "d", "a"]
        assert len({round(hit.score, 6) for hit in hits}) == 1

    def test_scores_that_differ_by_less_than_a_millionth_are_equal(self):
        """R-5: rounding noise never decides."""
        noisy = Candidate("b", score=0.5 + 1e-9, updated_us=1)
        newer = Candidate("a", score=0.5, updated_us=2)

        assert sorted([noisy, newer], key=lambda one: one.order) == [newer, noisy]

    def test_vectors_of_two_models_that_tie_are_ordered_by_age(self):
        """R-5: texts that only static vectors find stand among the others as one list."""

        class Index:
            def search(self, vector, model, scope, limit, *, shortlist=None):
                return RankedList("vector", (Row("old", 0.5 + 4e-7, 0, 1),))

            def stand_ins(self, vector, model, instead_of, scope, limit):
                return [Row("newest", 0.5 - 4e-7, 0, 3), Row("newer", 0.5, 0, 2)]

        kit = Kit(
            vectors=Index(),
            embedder=GuardedEmbedder(HashingEmbedder()),
            static=GuardedEmbedder(HashingEmbedder()),
        )
        query = Query("q", vector=np.ones(4), static=np.ones(4), limit=2)

        rows = vector(depth=2)(Run(query, kit)).rows

        assert [row.id for row in rows] == ["newest", "newer"]

    @pytest.mark.parametrize("mode", MODES)
    def test_ties_at_the_cut_are_broken_the_same_way(self, memory, mode):
        """R-5: which of a hundred equal ones are shown does not depend on the limit."""
        memory.add_many(
            {
                "text": "equal words here",
                "id": f"{n:03}",
                "type": f"t{n}",
                "created_at": NOON - timedelta(minutes=(n * 37) % 100),
            }
            for n in range(100)
        )
        memory.pending(wait=True)
        right = sorted((f"{n:03}" for n in range(100)), key=lambda id_: int(id_) * 37 % 100)

        for limit in (1, 5, 64, 100):
            hits = memory.search("equal words", mode=mode, limit=limit)
            assert [hit.id for hit in hits] == right[:limit]


class TestDeterminism:
    def test_two_stores_built_alike_answer_alike(self, tmp_path):
        """R-8: with a fixed clock and model, ids, scores, order and explanations are equal."""

        def build(name):
            store = scrubjay.open(tmp_path / name, embedder=HashingEmbedder(), clock=Clock())
            store.add_many({"text": text, "topics": ["t"]} for text in TEXTS)
            store.add(LONG, type="document")
            store.pending(wait=True)
            return store

        with build("a.db") as one, build("b.db") as two:
            for mode in MODES:
                for query in ("staging database", "the car", "shared hen", "wiki?"):
                    first, second = (m.search(query, mode=mode, limit=20) for m in (one, two))
                    assert first.hits == second.hits
                    assert first.degraded == second.degraded == ()
                    assert [s.stage for s in first.trace] == [s.stage for s in second.trace]
                    assert one.search(query, mode=mode, limit=20).hits == first.hits

    def test_the_order_of_writing_does_not_matter(self, tmp_path):
        """R-5, R-8: the same memories in another order give the same answer."""
        stores = []
        for name, order in (("a.db", TEXTS), ("b.db", TEXTS[::-1])):
            store = scrubjay.open(tmp_path / name, embedder=HashingEmbedder(), clock=Clock())
            for text in order:
                store.add(text)
            store.pending(wait=True)
            stores.append(store)
        for mode in MODES:
            first, second = (one.search("the database port", mode=mode) for one in stores)
            assert [(h.id, round(h.score, 9)) for h in first] == [
                (h.id, round(h.score, 9)) for h in second
            ]
        for store in stores:
            store.close()


WORDS = ("apple", "banana", "cherry", "damson")
DAYS = [datetime(2026, 1, day, 12, tzinfo=UTC) for day in (1, 2, 3)]
MEMORIES = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
            "namespace": st.sampled_from(["default", "work", "user:ada"]),
            "type": st.sampled_from(["fact", "decision"]),
            "topics": st.lists(st.sampled_from(["red", "green"]), max_size=2, unique=True),
            "created_at": st.sampled_from(DAYS),
            "session": st.sampled_from([None, "s1", "s2"]),
            "owner": st.sampled_from([None, "ada", "bob"]),
            "agent": st.sampled_from([None, "planner"]),
            "collection": st.sampled_from([None, "notes"]),
            "domain": st.sampled_from([None, "law"]),
        }
    ),
    min_size=1,
    max_size=12,
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "namespace": st.sampled_from(["default", "work", "nowhere"]),
        "namespaces": st.lists(st.sampled_from(["default", "work", "user:ada"]), min_size=1),
        "types": st.lists(st.sampled_from(["fact", "decision", "other"]), min_size=1),
        "topics": st.lists(st.sampled_from(["red", "GREEN", "blue"]), min_size=1),
        "since": st.sampled_from([*DAYS, "2026-01-02"]),
        "until": st.sampled_from([*DAYS, "2026-01-02"]),
        "session": st.sampled_from(["s1", "s2"]),
        "owner": st.sampled_from(["ada", "bob"]),
        "agent": st.just("planner"),
        "collection": st.just("notes"),
        "only_domain": st.just("law"),
    },
)


def allowed(memory, filters):
    """What a filter means, said a second time and in plain Python."""
    names = {*filters.get("namespaces", ()), *filter(None, [filters.get("namespace")])}
    first, last = (
        datetime(2026, 1, 2, *clock, tzinfo=UTC) if isinstance(bound, str) else bound
        for bound, clock in (
            (filters.get("since", DAYS[0]), (0, 0)),
            (filters.get("until", DAYS[-1]), (23, 59, 59)),
        )
    )
    return (
        (not names or memory["namespace"] in names)
        and ("types" not in filters or memory["type"] in filters["types"])
        and (
            "topics" not in filters
            or {one.lower() for one in filters["topics"]} & set(memory["topics"])
        )
        and first <= memory["created_at"] <= last
        and all(
            memory[key] == filters[name]
            for name, key in (
                ("session", "session"),
                ("owner", "owner"),
                ("agent", "agent"),
                ("collection", "collection"),
                ("only_domain", "domain"),
            )
            if name in filters
        )
    )


class TestFilters:
    @settings(max_examples=60)
    @given(memories=MEMORIES, filters=FILTERS, word=st.sampled_from(WORDS))
    def test_filters_bind_every_path(self, memories, filters, word):
        """R-3: nothing that a filter excludes is ever returned, by word, by meaning or by both;

        and everything that it lets through and that holds the word is.
        """
        with scrubjay.open(":memory:", embedder=HashingEmbedder(dims=32)) as store:
            store.add_many({**one, "id": f"m{n}"} for n, one in enumerate(memories))
            assert store.pending(wait=True) == 0
            may = {f"m{n}" for n, one in enumerate(memories) if allowed(one, filters)}
            must = {f"m{n}" for n, one in enumerate(memories) if word in one["text"]} & may
            for mode in MODES:
                hits = {hit.id for hit in store.search(word, mode=mode, limit=20, **filters)}
                assert hits <= may, mode
                assert must <= hits, mode
            assert {
                hit.id for hit in store.search(word, mode="keyword", limit=20, **filters)
            } == must

    def test_a_narrow_filter_finds_what_lies_deep_in_the_index(self, memory):
        """R-3: a filter is not applied to a list that was cut before."""
        memory.add_many({"text": f"apple pie {n}", "type": "recipe"} for n in range(300))
        memory.add("an apple a day, as they say in the countryside", id="x", type="proverb")
        memory.pending(wait=True)

        for mode in MODES:
            hits = memory.search("apple pie", mode=mode, types="proverb")
            assert [hit.id for hit in hits] == ["x"], mode

    def test_what_was_deleted_while_searching_is_not_shown(self, stocked):
        """The records are asked again under the same scope."""
        hits = ask(
            recall(sources=(found(ids="ab"),)),
            rrf(k=60),
            load(),
            kit=Kit(records=stocked._context.tables.records),
        )

        assert len(hits) == 0


def test_a_query_vector_without_direction_is_a_lost_tier(memory):
    """R-6: a model that gives zeros for a query cannot rank; words still do."""
    memory.add("port 5433", id="a")
    memory.pending(wait=True)
    memory._context.embedding.embedder.inner.embed = lambda texts, *, as_query=False: np.zeros(
        (len(texts), 256), np.float32
    )

    results = memory.search("port")

    assert [hit.id for hit in results] == ["a"]
    assert any("without direction" in reason for reason in results.degraded)


def test_a_stage_that_drops_everything_says_so(words_only):
    """R-7: what went in and what came out, also where nothing is left."""
    words_only.add("the kettle whistles")
    trace = words_only.search("kettle", min_score=0.999).trace
    counts = {step.stage: (step.went_in, step.came_out) for step in trace}
    assert counts["at_least"] == (1, 0)
    assert counts["top"] == (0, 0)
