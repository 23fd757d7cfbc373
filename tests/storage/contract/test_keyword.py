"""What every keyword index does; its scores agree with a second BM25, written here from the formula."""

from __future__ import annotations

import random
from math import log
from operator import attrgetter

import pytest
from backends import a_memory, asking, pieces

from scrubjay.storage.sql import keyword_ranking
from scrubjay.text.analysis import terms, tokens
from scrubjay.types import Scope, Term

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
    holding = {
        term: sum(any(term in field for field in of) for of in documents.values())
        for term in asked
    }
    scores = {}
    for id_, fields in documents.items():
        score = 0.0
        for term in asked:
            often = sum(
                weights.get(name, 1.0) * field.count(term)
                for name, field in zip(FIELDS, fields, strict=True)
            )
            if often:
                norm = 1.2 * (1 - 0.75 + 0.75 * lengths[id_] / mean)
                score += idf(len(documents), holding[term]) * often * 2.2 / (often + norm)
        if score:
            scores[id_] = score
    return scores


def all_terms_first(memories, asked, scores):
    """GN-6: what holds every term stands above what holds only some, and keeps its own order."""
    held = {one.id: set().union(*fields_of(one)) for one in memories}
    complete = {id_ for id_ in scores if held[id_].issuperset(asked)}
    others = [score for id_, score in scores.items() if id_ not in complete]
    if not complete or not others:
        return scores
    highest = max(others)
    if min(scores[id_] for id_ in complete) > highest + 2e-6:
        return scores
    return {
        id_: max(score, highest) + 2e-6 + 0.001 * score if id_ in complete else score
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
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
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
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    whole = backend.keyword.search(asking("tent"), EVERYTHING, 500, {}).rows

    assert list(whole) == sorted(
        whole, key=lambda row: (-round(row.score, 6), -row.updated_us, row.id)
    )
    for limit in (1, 3, 10, 50):
        assert backend.keyword.search(asking("tent"), EVERYTHING, limit, {}).rows == whole[:limit]


@pytest.mark.parametrize("small", [True, False], ids=["small-store", "large-store"])
def test_scores_do_not_depend_on_how_many_are_asked_for(backend, corpus, monkeypatch, small):
    """R-5: those of a longer list were a little higher once it reached memories of no score."""
    if not small:
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    for n in range(50):
        one = a_memory(f"z{n}", "zebra" if n < 25 else "other", context="zebra", hours=n)
        backend.records.put(one, pieces(one.text))
    weights = {"context": 0.0}

    whole = backend.keyword.search(asking("zebra"), EVERYTHING, 500, weights).rows

    assert len(whole) == 50
    assert whole[-1].score == 0
    assert backend.keyword.search(asking("zebra"), EVERYTHING, 3, weights).rows == whole[:3]


@pytest.mark.parametrize("small", [True, False], ids=["small-store", "large-store"])
def test_equal_texts_are_cut_by_age_and_id(backend, monkeypatch, small):
    """R-5: a hundred equal scores, and always the same ones shown."""
    if not small:
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
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


def test_any_token_is_legal(backend, corpus):
    """What comes in as a token is never read as syntax."""
    for term in ('"', "a b", "NEAR(", "*", "^x", "AND", "x:y", "'", "\\", "{", "-"):
        backend.keyword.search(asking(term, "tent"), EVERYTHING, 10, {})
        assert backend.keyword.search(asking("tent", term), EVERYTHING, 10, {}).rows, term


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


SIZES = pytest.mark.parametrize("small", [True, False], ids=["small-store", "large-store"])


def put(backend, **texts):
    for id_, text in texts.items():
        backend.records.put(a_memory(id_, text), pieces(text))


def search(backend, *terms, scope=EVERYTHING, limit=50):
    return backend.keyword.search(terms, scope, limit, {})


def ids(found):
    return [row.id for row in found.rows]


class TestTerms:
    """GN-6: what a term may be, in any store."""

    @pytest.fixture(autouse=True)
    def texts(self, backend, monkeypatch, request):
        if not request.getfixturevalue("small"):
            monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
        put(
            backend,
            near="red kettle on a stove",
            apart="red stove under a kettle",
            begun="kettledrum in the hall",
            parts="user of some name",
            flag="rm -rf build",
            bare="rm rf build",
            **{f"filler{n}": f"nothing number{n}" for n in range(20)},
        )

    @SIZES
    def test_a_run_of_tokens_is_a_phrase(self, backend, small):
        """Side by side and in order."""
        assert ids(search(backend, Term((("red", "kettl"),)))) == ["near"]
        assert ids(search(backend, Term((("kettl", "red"),)))) == []

    @SIZES
    def test_any_of_several_forms_will_do(self, backend, small):
        """One term, several ways to be written."""
        found = search(backend, Term((("kettl",), ("kettledrum",), ("zebra",))))

        assert set(ids(found)) == {"near", "apart", "begun"}
        assert all(0 < row.score <= found.best for row in found.rows)

    @SIZES
    def test_a_beginning_stands_for_every_word_so_begun(self, backend, small):
        """And a star alone is only a star."""
        assert set(ids(search(backend, Term((("kettl*",),))))) == {"near", "apart", "begun"}
        assert ids(search(backend, Term((("red", "kettl*"),)))) == ["near"]
        assert ids(search(backend, Term((("*",),)))) == []

    @SIZES
    def test_parts_are_asked_for_where_the_whole_is_nowhere_in_the_scope(self, backend, small):
        """R-3: elsewhere does not count."""
        term = Term((("kettl",),), parts=((("user",),), (("name",),)))

        assert set(ids(search(backend, term))) == {"near", "apart"}
        assert ids(search(backend, term, scope=Scope(ids=("parts", "begun")))) == ["parts"]

    @SIZES
    def test_a_negation_spares_its_literal_form(self, backend, small):
        """GN-6: rm -rf."""
        lacking = Scope(lacks=(Term((("rf",),), unless=("-rf", "--rf")),))

        assert ids(search(backend, *asking("rm"), scope=lacking)) == ["flag"]
        assert set(ids(search(backend, *asking("rm")))) == {"flag", "bare"}

    @SIZES
    def test_what_must_be_there_and_what_must_not_narrow_together(self, backend, small):
        """With any other filter."""
        scope = Scope(
            namespaces=("default",),
            holds=(Term((("stove",),)), Term((("red",),))),
            lacks=(Term((("red", "kettl"),)),),
        )

        assert ids(search(backend, *asking("kettl"), scope=scope)) == ["apart"]
        assert ids(search(backend, *asking("kettl"), scope=scope._replace(types=("x",)))) == []

    @SIZES
    def test_complete_texts_stand_clearly_above_the_others(self, backend, small):
        """R-2, R-5: by more than scores are rounded to, and never above the best possible."""
        put(backend, loud="red red red red red", long="red " + "filler " * 300 + "kettl")

        found = search(backend, *asking("red", "kettl"))

        complete = {"near", "apart", "long"}
        assert set(ids(found)[:3]) == complete
        lowest = min(row.score for row in found.rows if row.id in complete)
        highest = max(row.score for row in found.rows if row.id not in complete)
        assert round(lowest, 6) > round(highest, 6)
        assert max(map(attrgetter("score"), found.rows)) <= found.best


@SIZES
def test_several_forms_of_a_term_are_weighed_by_how_many_hold_any(
    backend, corpus, monkeypatch, small
):
    """R-9: in a small store as the formula says; the form that says most counts."""
    if not small:
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    forms = ("torn", "bulk")
    either = {one.id for one in corpus if set(forms) & set().union(*fields_of(one))}
    alone = [bm25(corpus, [form], {}, lambda n, holding: 1.0) for form in forms]

    found = search(backend, Term(tuple((form,) for form in forms)), limit=500)

    assert {row.id for row in found.rows} == either
    if small:
        idf = never_zero(len(corpus), len(either))
        for row in found.rows:
            right = idf * max(scores.get(row.id, 0.0) for scores in alone)
            assert row.score == pytest.approx(right, rel=1e-5)
            assert row.score <= found.best


@SIZES
def test_complete_texts_are_not_cut_off_among_many_of_little_worth(backend, monkeypatch, small):
    """GN-6: where most texts hold a term it is worth next to nothing, and still all terms come first."""
    if not small:
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    for n in range(120):
        text = "amber bronze" if n < 3 else "amber" if n % 2 else "bronze"
        one = a_memory(f"m{n:03}", text, hours=n)
        backend.records.put(one, pieces(one.text))

    found = backend.keyword.search(asking("amber", "bronz"), EVERYTHING, 5, {})

    assert {row.id for row in found.rows[:3]} == {"m000", "m001", "m002"}


@pytest.mark.parametrize("many", [0, 10**9])
@SIZES
def test_a_scope_is_the_same_however_it_is_bound(backend, corpus, monkeypatch, small, many):
    """R-3: one memory at a time where few match, all in sight at once where many do."""
    if not small:
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    monkeypatch.setattr(keyword_ranking, "MANY", many)
    half = tuple(one.id for one in corpus[::2])
    asked = asking("torn", "bulk")

    found = backend.keyword.search(asked, Scope(ids=half), 500, {})
    everywhere = backend.keyword.search(asked, EVERYTHING, 500, {})

    wanted = {one.id for one in corpus if {"torn", "bulk"} & set().union(*fields_of(one))}
    assert {row.id for row in found.rows} == wanted & set(half)
    assert {row.id for row in everywhere.rows} == wanted
