"""What every keyword index does; its scores agree with a second BM25, written here from the formula."""

from __future__ import annotations

import random
from math import log

import pytest

from backends import a_memory, asking, pieces
from scrubjay.stores import sqlite_keyword
from scrubjay.text import terms, tokens
from scrubjay.types import Scope

EVERYTHING = Scope()
FIELDS = ("title", "text", "topics", "context", "ident")
VOCABULARY = [f"{a}{b}" for a in "bdfghklmnprst" for b in ("orn", "ulk", "ist", "ent")]


def fields_of(memory):
    """The five fields of a memory as the index splits them."""
    texts = (memory.title, memory.text, " ".join(memory.topics), memory.context, memory.id)
    return [tokens(one) for one in texts]


def bm25(memories, asked, weights, idf):
    """Okapi BM25 with k1 = 1.2 and b = 0.75; a word counts as often as its field weighs."""
    documents = {one.id: fields_of(one) for one in memories}
    lengths = {id_: sum(map(len, fields)) for id_, fields in documents.items()}
    mean = sum(lengths.values()) / len(lengths)
    scores = {}
    for id_, fields in documents.items():
        score = 0.0
        for term in asked:
            holding = sum(any(term in field for field in of) for of in documents.values())
            often = sum(
                weights.get(name, 1.0) * field.count(term)
                for name, field in zip(FIELDS, fields, strict=True)
            )
            if often:
                norm = 1.2 * (1 - 0.75 + 0.75 * lengths[id_] / mean)
                score += idf(len(documents), holding) * often * 2.2 / (often + norm)
        if score:
            scores[id_] = score
    return scores


def all_terms_first(memories, asked, scores):
    """GN-6: what holds every term stands above what holds only some, and keeps its own order."""
    held = {one.id: set().union(*fields_of(one)) for one in memories}
    complete = {id_ for id_ in scores if held[id_].issuperset(asked)}
    highest = max((score for id_, score in scores.items() if id_ not in complete), default=0.0)
    if not complete or min(scores[id_] for id_ in complete) > highest:
        return scores
    return {
        id_: max(score, highest) + 0.001 * score if id_ in complete else score
        for id_, score in scores.items()
    }


def never_zero(n, holding):
    return log(1 + (n - holding + 0.5) / (holding + 0.5))


def as_fts5(n, holding):
    return max(log((n - holding + 0.5) / (holding + 0.5)), 1e-6)


@pytest.fixture
def corpus(backend):
    """Two hundred memories of random words; some words are in most of them."""
    chance = random.Random(5)
    made = []
    for n in range(200):
        words = chance.choices(VOCABULARY, weights=range(1, len(VOCABULARY) + 1), k=30)
        made.append(
            a_memory(
                f"id{n}",
                " ".join(words[: chance.randint(3, 30)]),
                hours=n % 7,
                title=" ".join(words[:2]) if n % 3 else "",
                topics=tuple(words[3:4]),
                context=words[5] if n % 4 else "",
            )
        )
    with backend.records.transaction():
        for one in made:
            backend.records.put(one, pieces(one.text))
    return made


@pytest.mark.parametrize("small", [True, False], ids=["small-store", "large-store"])
@pytest.mark.parametrize(
    "weights", [{}, {"title": 3.0, "topics": 2.0, "context": 0.5, "ident": 0.0}]
)
def test_scores_agree_with_an_independent_bm25(backend, corpus, monkeypatch, small, weights):
    """R-9, GN-6: higher is better, what holds every term first, to six places and in the same order."""
    if not small:
        monkeypatch.setattr(sqlite_keyword, "SMALL_STORE", 0)
    for query in ("born", "tulk torn", "sent rist bulk pork", "nulk zebra", "id7"):
        asked = terms(query)
        right = all_terms_first(
            corpus, asked, bm25(corpus, asked, weights, never_zero if small else as_fts5)
        )

        found = backend.keyword.search(asking(*asked), EVERYTHING, 500, weights)

        scored = {row.id: row.score for row in found.rows}
        positive = {id_: score for id_, score in right.items() if score > 1e-9}
        assert scored.keys() >= positive.keys()
        for id_, score in scored.items():
            assert score == pytest.approx(right.get(id_, 0.0), abs=1e-5, rel=1e-5)
        assert all(row.score <= found.best for row in found.rows)


@pytest.mark.parametrize("small", [True, False], ids=["small-store", "large-store"])
def test_the_order_is_score_then_newer_then_id_wherever_it_is_cut(
    backend, corpus, monkeypatch, small
):
    """R-5: a shorter list is the beginning of a longer one."""
    if not small:
        monkeypatch.setattr(sqlite_keyword, "SMALL_STORE", 0)
    whole = backend.keyword.search(asking("tent"), EVERYTHING, 500, {}).rows

    assert list(whole) == sorted(
        whole, key=lambda row: (-round(row.score, 6), -row.updated_us, row.id)
    )
    for limit in (1, 3, 10, 50):
        assert backend.keyword.search(asking("tent"), EVERYTHING, limit, {}).rows == whole[:limit]


@pytest.mark.parametrize("small", [True, False], ids=["small-store", "large-store"])
def test_equal_texts_are_cut_by_age_and_id(backend, monkeypatch, small):
    """R-5: a hundred equal scores, and always the same ones shown."""
    if not small:
        monkeypatch.setattr(sqlite_keyword, "SMALL_STORE", 0)
    for n in range(100):
        one = a_memory(f"{n:03}", "same words", hours=n % 10)
        backend.records.put(one, pieces(one.text))

    rows = backend.keyword.search(asking("same"), EVERYTHING, 12, {}).rows

    newest = [f"{n:03}" for n in range(100) if n % 10 == 9] + ["008", "018"]
    assert [row.id for row in rows] == newest


def test_one_row_a_memory_whatever_its_chunks(backend):
    """R-4: words of different sections count together."""
    text = "apple here. " * 20 + "banana there. " * 20
    backend.records.put(a_memory("a", text), pieces(text, 8))

    rows = backend.keyword.search(asking("appl", "banana"), EVERYTHING, 10, {}).rows

    assert [row.id for row in rows] == ["a"]


def test_no_terms_find_nothing(backend, corpus):
    """And neither does a word that nobody wrote."""
    assert backend.keyword.search([], EVERYTHING, 10, {}).rows == ()
    assert backend.keyword.search(asking("zebra"), EVERYTHING, 10, {}).rows == ()


@pytest.mark.parametrize(
    "term", ['"', "a b", "NEAR(", "*", "^x", "AND", "x:y", "'", "\\", "{", "-"]
)
def test_any_token_is_legal(backend, corpus, term):
    """What comes in as a token is never read as syntax."""
    backend.keyword.search(asking(term, "tent"), EVERYTHING, 10, {})
    assert backend.keyword.search(asking("tent", term), EVERYTHING, 10, {}).rows


def test_a_change_is_searchable_at_once_from_elsewhere(backend):
    """A write in one process is found by the next search in another."""
    other = backend.again()
    backend.records.put(a_memory("a", "zebra"), pieces("zebra"))
    assert [row.id for row in other.keyword.search(asking("zebra"), EVERYTHING, 5, {}).rows] == [
        "a"
    ]
    backend.records.delete(["a"])
    assert other.keyword.search(asking("zebra"), EVERYTHING, 5, {}).rows == ()
    other.close()
