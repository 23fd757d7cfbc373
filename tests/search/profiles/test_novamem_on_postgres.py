"""The novamem profile on a real Postgres: which memories match, and how its keyword list is ranked."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from math import log
from typing import Any

import psycopg
import pytest
from clocks import NOON, Clock

import scrubjay
from scrubjay import InvalidInput, Link
from scrubjay.storage.postgres import connection as postgres

# Their stems are themselves, and a stem is what is stored.
WORDS = "amber copper silver garnet coral flint basalt chalk".split()
MEMORIES = 150
BM25 = {"keyword.ranking": "bm25", "graph.ranking": "bm25"}
# The vector of a memory, made here from its words alone; A to D are weighed 1, 1, 0.5 and 1.
RANKED = """
WITH vectors AS (
  SELECT m.id, m.updated_us, setweight(to_tsvector('simple', w.title), 'A')
    || setweight(to_tsvector('simple', w.topics), 'B')
    || setweight(to_tsvector('simple', w.context), 'C')
    || to_tsvector('simple', w.text) || to_tsvector('simple', w.ident) AS vector
  FROM scrubjay.words AS w JOIN scrubjay.memories AS m ON m.n = w.rowid
), ranked AS (
  SELECT *, ts_rank_cd('{1, 0.5, 1, 1}', vector, %(any)s::tsquery, 1) AS score FROM vectors
  WHERE vector @@ %(any)s::tsquery
)
SELECT id, score FROM ranked ORDER BY round(score::numeric, 6) DESC, updated_us DESC, id
"""


def memories() -> list[dict[str, Any]]:
    """Texts of 1 to 60 words, with titles, topics and contexts; many say a word several times."""
    chance = random.Random(11)

    def some(most: int) -> list[str]:
        return chance.choices(WORDS, range(len(WORDS), 0, -1), k=chance.randint(1, most))

    return [
        {
            "id": f"m{n:03}",
            "text": " ".join((*some(60), "end")),
            "title": " ".join(some(4)) if n % 3 else "",
            "topics": tuple(dict.fromkeys(some(2))) if n % 4 == 0 else (),
            "context": " ".join(some(8)) if n % 5 == 0 else "",
            "type": "note" if n % 7 == 0 else "fact",
            "namespace": ("default", "work/api", "work/web")[n % 3],
            "created_at": NOON - timedelta(hours=n % 6),
        }
        for n in range(MEMORIES)
    ]


def open_store(place: object) -> scrubjay.Store:
    return scrubjay.open(place, profile="novamem", embedder=False, clock=Clock())


@pytest.fixture
def served(postgres_url: str) -> Iterator[scrubjay.Store]:
    """An empty store in Postgres."""
    with open_store(postgres_url) as store:
        yield store


@pytest.fixture
def both(served, tmp_path) -> Iterator[tuple[scrubjay.Store, scrubjay.Store]]:
    """The same memories in a file and in Postgres."""
    with open_store(tmp_path / "n.db") as embedded:
        for store in (embedded, served):
            store.add_many(memories())
        yield embedded, served


def by_words(store, query, **arguments):
    """Return ids and raw scores of the whole keyword list, in its order."""
    found = store.search(query, weights="exact_id", limit=1000, **arguments)
    places = {hit.id: hit.found["keyword"] for hit in found}
    in_order = sorted(places, key=lambda id_: places[id_].rank)
    assert [places[id_].rank for id_ in in_order] == [*range(1, len(places) + 1)]
    return [(id_, places[id_].score) for id_ in in_order]


def by_sql(url, words):
    """Return ids and ranks as Postgres has them, by a statement of this test."""
    with psycopg.connect(url) as db:
        return db.execute(RANKED, {"any": " | ".join(words.split())}).fetchall()


@pytest.mark.parametrize("words", ["amber", "chalk flint", "copper basalt chalk garnet"])
def test_words_are_ranked_by_ts_rank_cd_over_the_length_of_a_text(both, postgres_url, words):
    """NM-2: terms joined by OR, fields by weight, divided by ln(1 + length): the ranks of Postgres."""
    right = by_sql(postgres_url, words)

    found = by_words(both[1], words)

    assert len(right) > 40
    assert [id_ for id_, _ in found] == [id_ for id_, _ in right]
    assert dict(found) == pytest.approx(dict(right), abs=2e-6)
    assert [id_ for id_, _ in by_words(both[0], words)] != [id_ for id_, _ in found]


def test_a_word_counts_as_often_as_it_occurs_and_less_in_a_longer_text(served):
    """NM-2: by hand; ten words are divided by ln 11, and how rare a word is has no part in it."""
    served.add("amber amber copper", id="a")
    served.add("amber one two three four five six seven eight", id="b")
    served.add_many({"text": f"copper {word}", "id": word} for word in ("c", "d", "e"))

    found = dict(by_words(served, "amber copper"))

    # The id is a word of each.
    assert found == pytest.approx(
        {"a": 3 / log(5), "b": 1 / log(11), **dict.fromkeys("cde", 1 / log(4))}, abs=2e-6
    )


@pytest.mark.parametrize(
    ("query", "filters"),
    [
        ("amber copper", {}),
        ("chalk flint", {"types": ["note"]}),
        ("chalk flint", {"namespace": "work/api"}),
        ("chalk flint", {"namespace": "work/"}),
        ("chalk flint", {"topics": ["amber"]}),
        ("chalk flint", {"until": NOON - timedelta(hours=3)}),
        ('"copper amber" chalk', {}),
        ("chalk -garnet", {}),
        ('silver -"amber amber"', {}),
        ("bas* flint", {}),
        ("m017", {}),
        ("chalk_m019", {}),  # an identifier that is stored nowhere: its parts are searched
    ],
)
def test_the_same_memories_match_as_in_a_file(both, query, filters):
    """NM-2, R-3: words, phrases, negations, prefixes, identifiers and filters match what they match
    there; only the order inside the list is of Postgres."""
    embedded, served = (by_words(store, query, **filters) for store in both)

    assert 0 < len(embedded) < MEMORIES
    assert {id_ for id_, _ in served} == {id_ for id_, _ in embedded}
    assert [score for _, score in served] == sorted((score for _, score in served), reverse=True)


def test_no_namespace_of_others_is_matched(postgres_url):
    """NM-2, R-3: a user's list has what the user may read."""
    for user in ("ann", "ben"):
        with scrubjay.open(postgres_url, user=user, embedder=False) as store:
            store.add("amber", id=user)
    with scrubjay.open(postgres_url, user="ann", profile="novamem", embedder=False) as store:
        assert [id_ for id_, _ in by_words(store, "amber")] == ["ann"]


@pytest.mark.parametrize("profile", ["default:keyword", "gno:keyword", "cognis", "vault"])
def test_other_profiles_rank_by_bm25_in_both(both, profile):
    """NM-2: the ranking is a number of this profile, and of no other."""
    for query in ("amber copper", "chalk flint basalt"):
        embedded, served = (
            [
                (hit.id, round(hit.found["keyword"].score, 6))
                for hit in store.search(query, profile=profile, limit=20)
            ]
            for store in both
        )
        assert served == embedded
        assert len(served) == 20


def test_the_ranking_is_a_number_of_the_profile(both):
    """NM-2: with `bm25` a store in Postgres answers as a file does, to the last hit; another is refused."""
    embedded, served = (
        [(hit.id, round(hit.score, 6)) for hit in store.search("chalk flint", overrides=BM25)]
        for store in both
    )

    assert served == embedded
    assert served != [(hit.id, round(hit.score, 6)) for hit in both[1].search("chalk flint")]
    for stage in ("keyword", "graph"):
        with pytest.raises(InvalidInput, match="must be bm25 or cover_density"):
            both[1].search("chalk", overrides={f"{stage}.ranking": "tf"})


def test_the_graph_begins_where_words_rank_highest(served):
    """NM-1, NM-2: the seeds by word are the first of the same ranking, not of BM25."""
    served.add("amber amber amber", id="often")
    served.add("copper", id="rare")
    served.add_many({"text": f"amber number {n}"} for n in range(20))
    served.add("nothing of it", id="beside_often", links=[Link("often", 0.9)])
    served.add("nothing else of it", id="beside_rare", links=[Link("rare", 0.9)])
    one_seed = {"graph.seeds": 1}

    found = served.search("amber copper", weights="roaming", overrides=one_seed)
    by_bm25 = served.search("amber copper", weights="roaming", overrides=one_seed | BM25)

    assert [hit.id for hit in found] == ["beside_often"]
    assert [hit.id for hit in by_bm25] == ["beside_rare"]


def test_a_list_is_cut_behind_the_last_tie_that_is_newest(served):
    """R-5: of a hundred equal ranks, the latest and then the first ids."""
    served.add_many(
        {"text": "amber", "id": f"{n:03}", "created_at": NOON - timedelta(hours=n % 10)}
        for n in range(100)
    )

    found = served.search("amber", weights="exact_id", limit=12, overrides={"keyword.depth": 12})

    assert [hit.id for hit in found] == [*(f"{n:03}" for n in range(0, 100, 10)), "001", "011"]


def test_an_explanation_says_how_the_list_was_ranked(both):
    """R-7, NM-2: the raw scores of the two stores are of two kinds."""
    notes = [
        branch.notes
        for store in both
        for step in store.search("amber", weights="exact_id").trace
        for branch in step.branches
    ]

    assert notes == [{"ranked_by": "BM25"}, {"ranked_by": "ts_rank_cd"}]


def test_a_store_of_the_first_version_in_postgres_is_ranked_so(postgres_url, monkeypatch):
    """NM-2: an older store is migrated when it is opened, and nothing needs to be written again."""
    with monkeypatch.context() as older:
        older.setattr(postgres, "SCHEMA_VERSION", 10)
        older.setattr(postgres, "MIGRATIONS", {10: postgres.MIGRATIONS[10]})
        with scrubjay.open(postgres_url, embedder=False) as store:
            store.add_many(memories())

    with open_store(postgres_url) as store:
        found = by_words(store, "chalk flint")

    assert [id_ for id_, _ in found] == [id_ for id_, _ in by_sql(postgres_url, "chalk flint")]
