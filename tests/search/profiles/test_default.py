"""Our own profile: words, meaning and single tokens in equal parts, and a reranker if there is one."""

from __future__ import annotations

import pytest
from fakes import HashingEmbedder, ScriptedGenerator, ScriptedReranker, TokenEmbedder

import scrubjay
from scrubjay.search.profiles import get

TEXTS = (
    "the harbour is closed on mondays",
    "a ship left the harbour at dawn",
    "the canteen is closed at night",
    "mondays are for planning",
    "eels swim up the river",
)
QUERY = "harbour closed mondays"


class Spoken(TokenEmbedder):
    """A model that was made for English."""

    languages = ("en",)


@pytest.fixture
def opened(tmp_path, clock):
    """Open one store of the texts with any models; what it is opened with does not change it."""
    stores = []

    def open_it(embedder=None, **models):
        chosen = TokenEmbedder() if embedder is None else embedder
        store = scrubjay.open(tmp_path / "notes.db", embedder=chosen, clock=clock, **models)
        store.add_many({"text": text, "id": str(n)} for n, text in enumerate(TEXTS))
        store.pending()
        stores.append(store)
        return store

    yield open_it
    for store in stores:
        store.close()


def ranked(found):
    return [(hit.id, hit.score) for hit in found]


def test_three_parts_count_alike_and_add_up(opened):
    """R-7: each over the best found, in thirds; the sum is the score."""
    found = opened().search(QUERY)

    assert found.degraded == ()
    assert list(found[0].why) == ["keyword", "vector", "late"]
    assert found[0].id == "0"
    assert found[0].why["late"] == pytest.approx(found[0].why["keyword"])
    for hit in found:
        assert sum(hit.why.values()) == pytest.approx(hit.score, abs=1e-6)
        assert hit.rerank_score == hit.found["late"].score


def test_tokens_are_counted_from_what_unrelated_texts_have(opened):
    """By hand: one of three words is a MaxSim of 1/3, below the floor; two of three (2/3 - .38) / .62."""
    store = opened()
    store.add("the harbour is closed for ever", id="two")
    store.pending()
    found = {hit.id: hit for hit in store.search(QUERY)}

    assert found["2"].rerank_score == 0.0
    assert found["two"].rerank_score == pytest.approx((2 / 3 - 0.38) / 0.62, abs=0.01)
    assert found["0"].rerank_score == pytest.approx(1.0, abs=0.01)


def test_without_a_second_look_it_is_fast(opened):
    """GN-14: `rerank` left out, no reranker, or a model without tokens: the same answer, undegraded."""
    store = opened()
    fast = store.search(QUERY, mode="fast")
    left_out = store.search(QUERY, overrides={"rerank": False})
    without = opened(reranker=False).search(QUERY)

    assert ranked(left_out) == ranked(without) == ranked(fast)
    assert left_out.degraded == without.degraded == fast.degraded == ()
    assert all(hit.rerank_score is None for hit in without)


def test_a_model_without_tokens_is_not_a_degradation(opened):
    """Late interaction is what an embedder may offer, not what it must."""
    store = opened(HashingEmbedder())
    found = store.search(QUERY)

    assert found.degraded == ()
    assert ranked(found) == ranked(store.search(QUERY, mode="fast"))


def test_a_reranker_is_a_fourth_part(opened):
    """One call, the best passages first, its scores beside the others."""
    reranker = ScriptedReranker(lambda _query, texts: [float("eels" in text) for text in texts])
    found = opened(reranker=reranker).search(QUERY)

    assert len(reranker.asked) == 1
    assert reranker.asked[0][0] == QUERY
    assert reranker.asked[0][1][0] == TEXTS[0]
    assert len(reranker.asked[0][1]) == len(found)
    eels = next(hit for hit in found if hit.id == "4")
    assert eels.rerank_score == 1.0
    assert eels.why["cross_encoder"] > eels.score / 2
    assert next(hit for hit in found if hit.id == "0").why["cross_encoder"] == 0.0


def test_a_broken_reranker_leaves_the_other_three(opened):
    """R-6: the same answer as without it, and the reason."""
    broken = opened(reranker=ScriptedReranker(lambda _query, _texts: [0.5]))
    found = broken.search(QUERY)

    assert ranked(found) == ranked(opened().search(QUERY))
    assert found.degraded == ("cross_encoder: scripted gave 1 scores for 5 texts",)


@pytest.mark.parametrize("profile", ["default", "gno"])
def test_in_a_language_that_the_model_does_not_know_tokens_count_nothing(opened, profile):
    """An English model reads German letter by letter: as a reranker it would be worse than none."""
    store = opened(Spoken())
    store.add("Der Hafen ist am Montag wegen des Sturms geschlossen", id="de")
    store.pending()
    found = store.search(
        "Warum ist der Hafen am Montag geschlossen und nicht offen?", profile=profile
    )

    assert found[0].id == "de"
    assert "late" not in found[0].found
    assert "late" not in found[0].why
    assert found.degraded == ()


def test_thorough_asks_a_generator_only_if_there_is_one(opened):
    """And is not degraded without: no language model is ever needed."""
    writes = ScriptedGenerator('{"lexical": ["planning eels"], "semantic": [], "hyde": ""}')
    alone = opened().search("mondays planning", mode="thorough")
    helped = opened(generator=writes).search("mondays planning", mode="thorough")

    assert alone.degraded == helped.degraded == ()
    assert len(writes.prompts) == 1
    assert helped.counts["lexical:1"] == 2
    assert helped[0].id == alone[0].id == "3"


@pytest.mark.parametrize("mode", ["keyword", "vector", "fast"])
def test_the_quick_modes_ask_no_reranker_and_no_generator(mode):
    """GN-14: they have no stage for either."""
    profile = get("default", mode=mode)

    assert not any(
        map(profile.uses, ("late_interaction", "cross_encoder", "rephrase", "borrow_words"))
    )


def test_a_reranker_counts_in_every_language(opened):
    """Whether it knows one is its own affair: many do."""
    judge = ScriptedReranker(lambda _query, texts: [float("Hafen" in text) for text in texts])
    store = opened(Spoken(), reranker=judge)
    store.add("Der Hafen ist am Montag wegen des Sturms geschlossen", id="de")
    store.pending()
    found = store.search("Warum ist der Hafen am Montag geschlossen und nicht offen?")

    assert found[0].why["cross_encoder"] > 0


def test_a_reranker_that_likes_nothing_changes_little(opened):
    """The best of very low scores is not blown up to the best there could be."""
    judge = ScriptedReranker(lambda _query, texts: [0.001] + [0.0] * (len(texts) - 1))
    found = opened(reranker=judge).search(QUERY)

    assert found[0].why["cross_encoder"] < 0.001
    assert [hit.id for hit in found] == [hit.id for hit in opened().search(QUERY)]


def test_a_reranker_reads_no_more_than_a_page_of_the_query(opened):
    """A server may refuse more, and would then be left alone by everybody."""
    judge = ScriptedReranker(lambda _query, texts: [0.5] * len(texts))
    opened(reranker=judge).search("harbour " * 10_000)

    assert len(judge.asked[0][0]) == 2000


def test_a_sentence_is_not_lost_beside_pages(tmp_path):
    """Each passage of a page is another chance to be near: the page needs more than that to be first."""
    page = "\n\n".join(f"Paragraph {n} on gardens, birds and tea. " * 12 for n in range(12))
    with scrubjay.open(tmp_path / "p.db", embedder=HashingEmbedder()) as store:
        store.add(page, id="page", type="document")
        store.add("birds gardens harbour quay rope sail", id="sentence")
        store.pending()

        found = store.search("birds gardens", mode="vector")
        notes = {step.stage: step.notes for step in found.trace}

    assert [hit.id for hit in found] == ["sentence", "page"]
    assert found[0].cosine < found[1].cosine
    assert notes["count_passages"]["of_several"] == 1
    assert [hit.passages for hit in found] == [1, found[1].passages]
    assert found[1].passages > 2
    assert notes["weigh"]["vector"]["spread"] == 0.05
