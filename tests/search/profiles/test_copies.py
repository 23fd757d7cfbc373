"""Collections full of copies change nothing in what is found: GS-5 and GS-6."""

from __future__ import annotations

import random

import pytest
from clocks import Clock
from fakes import ScriptedReranker, TokenEmbedder

import scrubjay

TOPICS = ("harbour", "weather", "engine", "crew")
WORDS = ("mast", "rope", "tide", "buoy", "anchor", "deck", "sail", "fog", "chart", "radio")
QUESTIONS = ("harbour rope and tide", "weather fog on deck", "engine radio chart", "crew anchor")
HOW_MANY = 150  # more than a pool of 64, so that copies could take the place of other memories


def texts():
    rng = random.Random(7)
    for number in range(HOW_MANY):
        said = " ".join(rng.choices(WORDS, k=6))
        yield f"{said} {number}", rng.sample(TOPICS, 2)


def half_the_words(query, texts):
    """Score by the share of the query's words, so that a reranker reads as the test expects."""
    asked = set(query.split())
    return [len(asked & set(text.split())) / len(asked) for text in texts]


def fill(path, collections):
    """Ann's memories, and a copy of each in as many collections as are named."""
    clock = Clock()
    ann = scrubjay.open(
        path,
        user="ann",
        embedder=TokenEmbedder(),
        reranker=ScriptedReranker(half_the_words),
        clock=clock,
    )
    for number, (text, topics) in enumerate(texts()):
        clock.advance(minutes=1)
        ann.add(text, id=f"m{number:03}", topics=topics)
    for name in collections:
        ann.create_collection(name)
        for number in range(HOW_MANY):
            ann.publish(f"m{number:03}", name)
    ann.pending()
    return ann


@pytest.fixture(scope="module")
def alone_and_with_copies(tmp_path_factory):
    """The same memories: without any collection, with one, and with three full of copies."""
    folder = tmp_path_factory.mktemp("copies")
    stores = [
        fill(folder / f"{number}.db", [f"c{one}" for one in range(number)]) for number in (0, 1, 3)
    ]
    yield stores
    for store in stores:
        store.close()


def answer(store, query, **how):
    found = store.search(query, **how)
    lists = {
        branch.stage: branch.came_out
        for step in found.trace
        if step.stage == "recall"
        for branch in step.branches
    }
    return (
        [(hit.id, hit.score, _rounded(hit.cosine), hit.namespace) for hit in found],
        lists,
        dict(found.counts),
        found.compact()[1],
    )


def _rounded(cosine):
    # The same product in a matrix of other size may differ in its last bit.
    return None if cosine is None else round(cosine, 5)


@pytest.mark.parametrize("query", QUESTIONS)
@pytest.mark.parametrize(
    "how",
    [
        {"profile": "gnosis"},
        {"profile": "gnosis", "mode": "deep"},
        {"profile": "gno", "mode": "vector", "limit": 40},
        {"mode": "vector", "limit": 40},
    ],
    ids=str,
)
def test_copies_displace_nothing(alone_and_with_copies, query, how):
    """GS-6: the same candidates, with the same scores, under the ids of the personal copies.

    One collection is what fetching twice as much is enough for; with three, sources are asked again.
    """
    alone, *others = (answer(store, query, **how) for store in alone_and_with_copies)
    assert len(alone[0]) > 20
    assert {namespace for *_, namespace in alone[0]} == {"user:ann"}
    for other in others:
        assert other == alone


def test_the_lists_are_cut_back_to_the_pool(alone_and_with_copies):
    """GS-6: 64 and 48 rows, whatever was fetched to get them."""
    for store in alone_and_with_copies:
        _, lists, counts, line = answer(store, "harbour weather rope", profile="gnosis")
        assert lists == {"vector": 64, "topics": 48}
        assert (counts["vector"], counts["topics"], counts["reranked"]) == (64, 48, 64)
        assert line.startswith("Reranked 64 of ")


def test_the_fetch_grows_only_where_there_are_collections(alone_and_with_copies):
    """GS-6: twice as much; the trace says for which collections."""
    noted = []
    for store in alone_and_with_copies:
        trace = store.search("harbour", profile="gnosis").trace
        step = next(one for one in trace if one.stage == "fan_out")
        noted.append((step.numbers["times"], step.notes.get("collections")))
    assert noted == [(2, None), (2, ("c0",)), (2, ("c0", "c1", "c2"))]


def test_without_folding_copies_would_displace(alone_and_with_copies):
    """What GS-6 is there for: without the stage, half of the candidates are copies."""
    _, one, _ = alone_and_with_copies
    found = one.search("harbour rope", profile="gnosis", overrides={"fan_out": False})
    assert len({hit.text for hit in found}) < len(found)


def test_what_only_a_collection_holds_is_found_beside_ones_own(tmp_path):
    """GS-5, GS-6: folding is of copies; another text of the collection takes its rightful place."""
    with fill(tmp_path / "x.db", ["c0"]) as ann:
        other = ann.add("harbour pilot of the collection", collection="c0", topics=["harbour"])
        found = ann.search("harbour pilot", profile="gnosis")
        assert found[0].id == other.id
        assert found[0].collection == "c0"


def test_a_copy_that_others_hold_counts_once(tmp_path):
    """GS-6: where one has no copy of one's own, the oldest stands for all."""
    path = tmp_path / "team.db"
    with (
        scrubjay.open(path, user="ann", embedder=TokenEmbedder()) as ann,
        scrubjay.open(path, user="ben", embedder=TokenEmbedder()) as ben,
    ):
        ann.add("the pilot boards at noon", id="pilot", topics=["pilot"])
        copies = []
        for name in ("a", "b", "c"):
            ann.create_collection(name)
            ann.share(name, "ben")
            copies.append(ann.publish("pilot", name).id)
        ann.pending()

        for how in ({}, {"profile": "gnosis"}, {"mode": "keyword"}, {"profile": "gno"}):
            assert [hit.id for hit in ben.search("pilot", **how)] == copies[:1]
            assert [hit.id for hit in ann.search("pilot", **how)] == ["pilot"]
        assert [hit.id for hit in ben.search("pilot", collection="b")] == [copies[1]]
        mine = ben.add("the pilot boards at noon")
        assert [hit.id for hit in ben.search("pilot")] == [mine.id]


def test_messages_are_not_copies_of_each_other(tmp_path):
    """Two people may say the same, and both said it."""
    with scrubjay.open(tmp_path / "x.db", user="ann", embedder=False) as ann:
        ann.create_collection("chat")
        for role in ("user", "assistant"):
            ann.add("aye", type="message", collection="chat", role=role)
        assert len(ann.search("aye")) == 2
