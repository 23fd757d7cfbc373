"""The novamem profile on real SQLite, row by row of its requirements."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from clocks import NOON
from fakes import BrokenEmbedder, HashingEmbedder

import scrubjay
from scrubjay import InvalidInput, Link, Unavailable
from scrubjay.search import profiles
from scrubjay.search.profiles import novamem
from scrubjay.search.stages import min_max

TEXTS = {
    "both": "a red car",
    "meaning": "an automobile, red",
    "word": "car insurance papers and a long list of other things",
    "far": "bread and butter for breakfast",
}


@pytest.fixture
def model():
    """For this model "car" and "automobile" mean the same."""
    return HashingEmbedder(meanings={"automobil": "car"})


@pytest.fixture
def memory(tmp_path, clock, model):
    """An empty store that is searched as novamem does."""
    with scrubjay.open(tmp_path / "n.db", profile="novamem", embedder=model, clock=clock) as store:
        yield store


@pytest.fixture
def filled(memory):
    for n, (id_, text) in enumerate(TEXTS.items()):
        memory.add(text, id=id_, created_at=NOON - timedelta(days=n + 1))
    memory.pending()
    return memory


@pytest.fixture
def words(tmp_path, clock):
    """Without any model, nothing is linked by itself."""
    with scrubjay.open(tmp_path / "w.db", profile="novamem", embedder=False, clock=clock) as store:
        yield store


def ids(found):
    return [hit.id for hit in found]


def raw(found, tier):
    return {hit.id: hit.found[tier].score for hit in found if tier in hit.found}


def step(found, name):
    return next(one for one in found.trace if one.stage == name)


class TestScores:
    def test_every_score_can_be_worked_out_from_the_raw_ones(self, filled):
        """NM-3, NM-4: min-max inside each list, .3 keyword + .6 vector + .1 graph, 0 where absent."""
        found = filled.search("red car")

        assert set(ids(found)) == set(TEXTS)
        for hit in found:
            parts = {}
            for tier, weight in {"keyword": 0.3, "vector": 0.6, "graph": 0.1}.items():
                scores = raw(found, tier)
                worst, best = min(scores.values()), max(scores.values())
                parts[tier] = (
                    weight * (scores[hit.id] - worst) / (best - worst) if hit.id in scores else 0.0
                )
            assert hit.why == pytest.approx(parts)
            assert hit.score == pytest.approx(sum(parts.values()), abs=1e-6)
        assert "far" not in raw(found, "keyword")
        assert found[0].id == "both"

    def test_words_are_joined_by_or_and_ranked_by_bm25_alone(self, words):
        """NM-2, R-10: what holds all of the words is not put before what scores more."""
        words.add("kettle kettle kettle kettle", id="one")
        words.add("a kettle, some tea and " + "other things " * 80, id="all")
        words.add_many({"text": f"a cup of tea number {n}"} for n in range(30))

        found = words.search("kettle tea", weights="exact_id")

        assert ids(found)[:2] == ["one", "all"]
        assert len(found) == 10

    def test_cosines_are_clamped(self, filled, model, monkeypatch):
        """NM-2: 0..1, though a cosine may be below 0."""
        embed = model.embed
        monkeypatch.setattr(model, "embed", lambda texts, **of: -embed(texts, **of))

        found = filled.search("red car", weights={"vector": 1})

        assert raw(found, "vector") == dict.fromkeys(TEXTS, 0.0)
        assert {hit.score for hit in found} == {1.0}

    def test_the_tiers_know_nothing_of_each_other(self, filled):
        """NM-1: each gives the same list whether or not the others are asked."""
        together = filled.search("red car")

        for tier in ("keyword", "vector", "graph"):
            alone = filled.search("red car", weights={tier: 1})
            assert raw(alone, tier) == raw(together, tier)
            assert set(alone.counts) >= {tier}
            assert not {"keyword", "vector", "graph"} - {tier} & set(alone.counts) - {tier}

    def test_the_constants_are_those_of_the_document(self):
        """NM-4, and the fuse is a small file: NM-9."""
        assert novamem.WEIGHTS == {"keyword": 0.3, "vector": 0.6, "graph": 0.1}
        assert len(Path(min_max.__file__).read_text("utf-8").splitlines()) <= 200
        numbers = {
            part.name: part.numbers for part in profiles.flat(profiles.get("novamem").stages)
        }
        assert numbers["graph"]["seeds"] == 10
        assert numbers["graph"]["steps"] == 2


class TestGraph:
    @pytest.fixture
    def chain(self, words):
        """A seed, and a chain of memories that no word finds."""
        words.add("the red kettle", id="seed")
        for id_, before, strength in (("b", "seed", 0.5), ("c", "b", 0.8), ("d", "c", 0.5)):
            words.add(f"something else {id_}", id=id_, links=[Link(before, strength)])
        return words

    @pytest.mark.parametrize(
        ("steps", "reached"),
        [
            (1, {"b": 0.5}),
            (2, {"b": 0.5, "c": 0.4}),
            (3, {"b": 0.5, "c": 0.4, "d": 0.2}),
        ],
    )
    def test_a_walk_multiplies_strengths_and_is_bounded(self, chain, steps, reached):
        """NM-1, NM-2: from seeds of its own, the product along the path, both ways, 1 to 3 steps."""
        found = chain.search("kettle", overrides={"graph.steps": steps})

        assert raw(found, "graph") == pytest.approx(reached)
        assert raw(chain.search("kettle"), "graph") == pytest.approx({"b": 0.5, "c": 0.4})

    @pytest.mark.parametrize("steps", [0, 4, -1])
    def test_other_depths_are_refused(self, chain, steps):
        """NM-2: bounded, 1 to 3."""
        with pytest.raises(InvalidInput, match=r"graph\.steps is .* it must be 1, 2 or 3"):
            chain.search("kettle", overrides={"graph.steps": steps})

    def test_the_best_of_several_paths_counts(self, chain):
        """NM-2: 0.9 x 0.9 beats 0.5 x 0.8."""
        chain.add("a way round", id="round", links=[Link("seed", 0.9), Link("c", 0.9)])

        assert raw(chain.search("kettle"), "graph")["c"] == pytest.approx(0.81)

    def test_a_tie_is_broken_by_the_stronger_link(self, words):
        """The document's reason for a graph: equal by word and meaning, the central one is first."""
        words.add("red car", id="a")
        words.add("car red", id="b")
        words.add("the engine of a car and some more words", id="engine")
        words.link("a", "engine", 0.2)
        words.link("b", "engine", 0.9)

        found = words.search("red car")

        assert raw(found, "keyword")["a"] == raw(found, "keyword")["b"]
        assert raw(found, "graph") == pytest.approx({"a": 0.2, "b": 0.9, "engine": 0.9})
        assert ids(found)[:2] == ["b", "a"]

    def test_seeds_are_found_by_meaning_too(self, memory):
        """NM-1: the top 10 of a look-up by word and of one by meaning."""
        memory.add("an automobile", id="seed")
        memory.add("bread", id="bread")
        memory.pending()
        memory.link("seed", "bread", 0.7)

        found = memory.search("car", weights={"graph": 1})

        assert raw(found, "graph")["bread"] == pytest.approx(0.7)

    def test_a_walk_stays_inside_the_filters(self, chain):
        """R-3: what a filter hides is neither found nor walked through."""
        chain.update("b", type="note")

        assert raw(chain.search("kettle", types=["fact"]), "graph") == {}

    def test_only_the_best_seeds_are_walked_from(self, words):
        """NM-1: ten, a number of the stage."""
        words.add("kettle kettle", id="best")
        words.add("one kettle among many other words of a text", id="other")
        words.add("bread", id="bread", links=[Link("other", 1.0)])

        assert "bread" in ids(words.search("kettle"))
        assert "bread" not in ids(words.search("kettle", overrides={"graph.seeds": 1}))


class TestWeights:
    @pytest.mark.parametrize(
        ("pattern", "same"),
        [
            ("exact_id", {"keyword": 1}),
            ("semantic", {"vector": 1, "keyword": 0, "graph": 0}),
            ("roaming", {"vector": 0.5, "graph": 0.5}),
        ],
    )
    def test_patterns_of_the_document_have_names(self, filled, pattern, same):
        """NM-4: a name left out is 0."""
        found = filled.search("red car", weights=pattern)

        assert [(hit.id, hit.score) for hit in found] == [
            (hit.id, hit.score) for hit in filled.search("red car", weights=same)
        ]
        assert all(set(hit.why) == {name for name in same if same[name]} for hit in found)
        assert max(hit.score for hit in found) == pytest.approx(1.0)

    def test_a_tier_without_weight_is_not_asked_and_no_model_is_needed(self, tmp_path, clock):
        """NM-4: an exact id is found at once, whatever the model does."""
        with scrubjay.open(
            tmp_path / "x.db", profile="novamem", embedder=BrokenEmbedder(), clock=clock
        ) as store:
            store.add("order 4711 has been sent", id="order")
            found = store.search("4711", weights={"keyword": 1, "vector": 0, "graph": 0})

        assert ids(found) == ["order"]
        assert found.degraded == ()
        assert not any(one.stage == "embed_query" for one in found.trace)
        assert [one.stage for one in step(found, "recall").branches] == ["keyword"]

    @pytest.mark.parametrize(
        ("weights", "said"),
        [
            (
                {"keywrod": 1},
                r"no weight for 'keywrod' \(did you mean 'keyword'\?\); there are key",
            ),
            ({"keyword": -1}, "the weight of keyword is -1; give a number of 0 or more"),
            ({"keyword": 0, "vector": 0, "graph": 0}, "one of them must be above 0"),
            ({}, "one of them must be above 0"),
            ({"vector": float("nan")}, "the weight of vector is nan"),
            ({"vector": "much"}, "the weight of vector is 'much'"),
            ("exactid", r"no pattern of weights 'exactid' \(did you mean 'exact_id'\?\)"),
            (
                0.5,
                "weights is 0.5; give .* {'keyword': 1} in Python, or exact_id, semantic, roaming",
            ),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, words, weights, said):
        """NM-4."""
        with pytest.raises(InvalidInput, match=said):
            words.search("x", weights=weights)

    def test_profiles_without_tiers_to_weigh_refuse_weights(self, words):
        """And say which one has them."""
        with pytest.raises(InvalidInput, match="weights; use profile novamem"):
            words.search("x", profile="default", weights={"keyword": 1})

    def test_the_weights_of_a_profile_of_ones_own_stay_otherwise(self, filled):
        """NM-4: `weights=` is of one call."""
        before = filled.search("red car")
        filled.search("red car", weights="semantic")

        assert [hit.score for hit in filled.search("red car")] == [hit.score for hit in before]
        mine = filled.search("red car", overrides={"min_max.weights": {"keyword": 2.0}})
        assert mine[0].score == pytest.approx(2.0)


class TestNamespaces:
    @pytest.fixture
    def spread(self, words):
        for place in ("default", "work/api", "work/web", "home"):
            words.add(f"a kettle in {place}", namespace=place, id=place)
        return words

    def test_without_a_namespace_every_one_is_searched_and_named(self, spread):
        """NM-5."""
        found = spread.search("kettle")

        assert set(ids(found)) == {"default", "work/api", "work/web", "home"}
        seen = ("default", "home", "work/api", "work/web")
        assert step(found, "namespaces").notes["namespaces"] == seen

    def test_it_is_default_where_nothing_is_written(self, words):
        """NM-5."""
        assert step(words.search("kettle"), "namespaces").notes["namespaces"] == ("default",)

    def test_a_person_searches_what_they_may_see(self, tmp_path, clock):
        """NM-5: visible entries only, by name too."""
        path = tmp_path / "p.db"
        for user in ("ann", "ben"):
            with scrubjay.open(path, user=user, embedder=False, clock=clock) as store:
                store.add("a kettle", id=user)
        with scrubjay.open(
            path, profile="novamem", user="ann", embedder=False, clock=clock
        ) as store:
            found = store.search("kettle")

        assert ids(found) == ["ann"]
        assert step(found, "namespaces").notes["namespaces"] == ("user:ann",)

    def test_a_slash_at_the_end_stands_for_a_project(self, spread):
        """NM-5: in one namespace or among several, in searches and lists."""
        found = spread.search("kettle", namespace="work/")

        assert set(ids(found)) == {"work/api", "work/web"}
        assert step(found, "namespaces").notes["namespaces"] == ("work/api", "work/web")
        several = spread.search("kettle", namespaces=["work/", "home"], profile="default")
        assert set(ids(several)) == {"work/api", "work/web", "home"}
        assert {one.id for one in spread.ls(namespace="work/")} == {"work/api", "work/web"}
        assert spread.landscape(namespace="work/").memories == 2

    def test_a_project_that_is_not_there_is_empty_and_near_ones_are_named(self, spread):
        """NM-5: nothing else is searched in its place."""
        found = spread.search("kettle", namespace="wrok/")

        assert ids(found) == []
        assert found.degraded[-1] == (
            "no namespace begins with 'wrok/' (did you mean 'work/'?); projects are: work/"
        )
        assert spread.ls(namespace="wrok/") == []
        half = spread.search("kettle", namespace="work")
        assert ids(half) == []
        assert half.degraded[-1] == (
            "there is no namespace 'work'; did you mean the whole project, 'work/'?"
        )
        nothing = spread.search("teapot", namespace="work/api", mode="keyword", profile="default")
        assert nothing.degraded == ()

    def test_nothing_is_written_into_a_whole_project(self, words):
        """It would be in none of its namespaces."""
        with pytest.raises(InvalidInput, match="project"):
            words.add("a kettle", namespace="work/")

    def test_many_namespaces_are_not_all_listed(self, spread):
        """A store may have one for each of many people."""
        notes = step(spread.search("kettle", overrides={"namespaces.most": 2}), "namespaces").notes

        assert notes["namespaces"] == ("default", "home")
        assert notes["more"] == "not all of them are listed"


class TestDegradation:
    def test_words_and_links_go_on_without_a_model(self, tmp_path, clock):
        """NM-6, R-6: seeds by word alone; the answer says what is missing."""
        with scrubjay.open(
            tmp_path / "b.db", profile="novamem", embedder=BrokenEmbedder(), clock=clock
        ) as store:
            store.add("a red car", id="a")
            store.add("bread", id="b", links=[Link("a", 0.5)])
            found = store.search("car")

        assert raw(found, "keyword").keys() == {"a"}
        assert raw(found, "graph") == {"b": 0.5}
        assert found[0].score == pytest.approx(0.3)
        assert any("broken" in reason for reason in found.degraded)

    def test_a_vector_index_that_is_lost_is_said_for_each_tier_that_lacks_it(
        self, filled, monkeypatch
    ):
        """NM-6: the graph goes on from the seeds by word."""

        def lost(*_arguments, **_more):
            raise Unavailable("the index is away")

        monkeypatch.setattr(filled._context.tables.vectors, "search", lost)

        found = filled.search("red car")

        assert found.degraded == (
            "vector: the index is away",
            "graph: no seeds by vector: the index is away",
        )
        assert raw(found, "graph")
        assert not raw(found, "vector")

    def test_a_graph_that_is_lost_leaves_words_and_meaning(self, filled, monkeypatch):
        """NM-6."""

        def lost(*_arguments):
            raise Unavailable("the graph is away")

        monkeypatch.setattr(filled._context.tables.graph, "walk", lost)

        found = filled.search("red car")

        assert found.degraded == ("graph: the graph is away",)
        assert found[0].score == pytest.approx(0.9)
