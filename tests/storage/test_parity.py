"""The same memories, embedded and on servers: a search gives the same, tier by tier and as a whole.

All four stores hold the same rows, which is what moving a store makes of them. What is guaranteed:

- vectors and links: the same ids in the same order, with the same scores;
- words: the same matches under the same filters, in the same order, with the same scores. Postgres
  counts by `ts_rank_cd`, but what it counts are our tokens, and the formula around it is that of FTS5;
- so whole profiles give the same hits, but for novamem on Postgres: its words are ranked by `ts_rank_cd`
  alone. The same memories match there; and ranked by BM25 they give the same hits, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import combinations
from typing import Any, NamedTuple

import pytest
from clocks import Clock
from fakes import HashingEmbedder
from parity_data import MEMORIES, PEOPLE, QUERIES, Question, fill, questions
from tools.servers import FalkorDB, Postgres, Qdrant

import scrubjay
from scrubjay.ops.promote.mirror import mirror
from scrubjay.storage.postgres.connection import PostgresDatabase
from scrubjay.storage.sql.mirror import take
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.text.urls import POSTGRES, parse_server_url

NEAR = 1e-6
PROFILES = ("default", "novamem", "gnosis", "cognis", "vault", "gno:fast")
SERVERS = ("pgvector", "postgres and servers", "sqlite and servers")
BM25 = {"keyword.ranking": "bm25", "graph.ranking": "bm25"}
QUESTIONS = questions()
SEEDS = 10  # of a walk: the best of the same lists
_LIMIT = {"keyword": 2, "vectors": 3}  # which argument says how many


class Call(NamedTuple):
    """What a search asked one of its tiers, and what that said."""

    tier: str
    user: str | None
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    rows: list[tuple[str, float]]


class Heard:
    """Stands before a tier, and keeps what it is asked."""

    def __init__(self, tier: str, to: Any, user: str | None, calls: list[Call]) -> None:
        self._tier, self._to, self._user, self._calls = tier, to, user, calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._to, name)

    def search(self, *arguments: Any, **named: Any) -> Any:
        """Ask for words or vectors."""
        found = self._to.search(*arguments, **named)
        if arguments[_LIMIT[self._tier]] > SEEDS:
            rows = [(row.id, row.score) for row in found.rows]
            self._calls.append(Call(self._tier, self._user, arguments, named, rows))
        return found

    def search_by_cover_density(self, *arguments: Any) -> Any:
        """Ask for words as novamem does: in SQLite that is BM25."""
        return self.search(*arguments, every_first=False)

    def walk(self, *arguments: Any) -> Any:
        """Ask for links."""
        found = self._to.walk(*arguments)
        rows = [(one.id, one.score) for one in found]
        self._calls.append(Call(self._tier, self._user, arguments, {}, rows))
        return found


class Place:
    """One store, opened for each of its users."""

    def __init__(self, path: str, embedder: HashingEmbedder, **servers: str) -> None:
        self._path, self._embedder, self._servers = path, embedder, servers
        self._opened: dict[str | None, scrubjay.Store] = {}

    def open(self, user: str | None) -> scrubjay.Store:
        """Open it for somebody."""
        return scrubjay.open(
            self._path,
            embedder=self._embedder,
            reranker=False,
            generator=False,
            clock=Clock(),
            user=user,
            **self._servers,  # type: ignore[arg-type]
        )

    def of(self, user: str | None) -> scrubjay.Store:
        """Return it as somebody sees it."""
        if user not in self._opened:
            self._opened[user] = self.open(user)
        return self._opened[user]

    def search(self, asked: Question, profile: str, **more: Any) -> scrubjay.Results:
        """Ask a question."""
        filters = {"limit": 20, **asked.filters, **more}
        return self.of(asked.user).search(asked.text, profile=profile, **filters)

    def close(self) -> None:
        """Close what was opened."""
        for store in self._opened.values():
            store.close()


class Places(NamedTuple):
    """The embedded store, the same on servers, and what the first says, also tier by tier."""

    embedded: Place
    served: dict[str, Place]
    calls: list[Call]
    found: list[scrubjay.Results]


@pytest.fixture(scope="module")
def places(
    postgres: Postgres,
    qdrant: Qdrant,
    falkordb: FalkorDB,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Places]:
    """The same memories in four places."""
    path = str(tmp_path_factory.mktemp("parity") / "notes.db")
    embedder = HashingEmbedder(64)
    embedded = Place(path, embedder)
    fill(embedded.open)
    postgres.execute("CREATE DATABASE parity TEMPLATE template0")
    url = postgres.url_of("parity")
    with (
        closing(SqliteDatabase(path)) as here,
        closing(PostgresDatabase(parse_server_url(url, POSTGRES, "store"))) as there,
    ):
        take(there, 1)
        mirror(here, there, 1)
        assert there.vectors is not None  # pgvector has them before anybody asks
    at = {"vectors": f"{qdrant.url}/parity", "graph": f"{falkordb.url}/parity"}
    # A machine that does other things too is slow now and then, which is not what this is about.
    servers = {tier: f"{place}?timeout_s=60" for tier, place in at.items()}
    served = {
        "pgvector": Place(url, embedder),
        "postgres and servers": Place(url, embedder, **servers),
        "sqlite and servers": Place(path, embedder, **servers),
    }
    assert served["postgres and servers"].of(None).pending() == 0
    # Both stores have one id and the same memories, so what the servers know holds for both.
    with closing(SqliteDatabase(path)) as here, here.write() as db:
        db.executemany("INSERT INTO projections (tier, place) VALUES (?, ?)", at.items())
    found = [embedded.search(asked, _profile(n)) for n, asked in enumerate(QUESTIONS)]
    yield Places(embedded, served, _heard(embedded), found)
    for place in (embedded, *served.values()):
        place.close()
    postgres.execute("DROP DATABASE parity WITH (FORCE)")


def _profile(question: int) -> str:
    """Return the profile by which a question is asked: one after the other."""
    return PROFILES[question % len(PROFILES)]


def _heard(embedded: Place) -> list[Call]:
    """Ask every question, and return what tiers were asked on the way: novamem asks all three."""
    calls: list[Call] = []
    for user in (None, *PEOPLE):
        store = embedded.of(user)
        tables = store._context.tables
        plain = {name: getattr(tables, name) for name in ("keyword", "vectors", "graph")}
        _replace(store, {name: Heard(name, tier, user, calls) for name, tier in plain.items()})
        for asked in QUESTIONS:
            if asked.user == user:
                embedded.search(asked, "novamem")
        _replace(store, plain)
    return calls


def _replace(store: Any, parts: dict[str, Any]) -> None:
    """Put other parts in place, and have the search kits made of them again."""
    store._search._kits.clear()
    store._context._kits.clear()
    tables = vars(store._context.tables)
    for name in ("kit", "light_kit"):
        tables.pop(name, None)
    tables.update(parts)


def _again(place: Place, call: Call, limit: int | None = None) -> list[tuple[str, float]]:
    """Ask the same of the same tier elsewhere."""
    tier = getattr(place.of(call.user)._context.tables, call.tier)
    if call.tier == "graph":
        return [(one.id, one.score) for one in tier.walk(*call.arguments)]
    arguments = list(call.arguments)
    if limit is not None:
        arguments[_LIMIT[call.tier]] = limit
    return [(row.id, row.score) for row in tier.search(*arguments, **call.named).rows]


def _same(here: Sequence[tuple[str, float]], there: Sequence[tuple[str, float]]) -> bool:
    return [id_ for id_, _ in here] == [id_ for id_, _ in there] and all(
        abs(a - b) <= NEAR for (_, a), (_, b) in zip(here, there, strict=True)
    )


def kendall(here: Sequence[str], there: Sequence[str]) -> float:
    """Return how alike two orders are: 1 for the same, -1 for the reverse. Both have the same ids."""
    place = {id_: n for n, id_ in enumerate(there)}
    pairs = [place[a] < place[b] for a, b in combinations(here, 2)]
    return 2 * sum(pairs) / len(pairs) - 1 if pairs else 1.0


def test_there_is_something_to_compare(places: Places):
    """Most questions find something in each tier, also under filters and as each user."""
    status = places.embedded.of(None).status()
    assert status.memories >= MEMORIES
    assert len(QUESTIONS) == QUERIES
    for tier, least in (("keyword", 120), ("vectors", 140), ("graph", 100)):
        found = [call for call in places.calls if call.tier == tier and call.rows]
        assert len(found) >= least
        assert {call.user for call in found} == {None, *PEOPLE}


@pytest.mark.parametrize("name", SERVERS)
def test_vectors_and_links_are_found_alike(places: Places, name: str):
    """The same ids in the same order, with the same scores."""
    different = [
        (call, found)
        for call in places.calls
        if call.tier != "keyword"
        and not _same(call.rows, found := _again(places.served[name], call))
    ]
    assert different == []


def test_words_are_ranked_alike(places: Places):
    """The same order with the same scores, and so a rank correlation of 1 for each question."""
    words = [call for call in places.calls if call.tier == "keyword"]
    found = [_again(places.served["pgvector"], call) for call in words]
    different = [
        (call, there)
        for call, there in zip(words, found, strict=True)
        if not _same(call.rows, there)
    ]
    assert different == []
    taus = [
        kendall([id_ for id_, _ in call.rows], [id_ for id_, _ in there])
        for call, there in zip(words, found, strict=True)
    ]
    assert min(taus) == 1.0


def test_the_same_memories_match_words(places: Places):
    """Every memory that matches, not only the best: the same set under the same filters."""
    words = [call for call in places.calls if call.tier == "keyword"]
    for call in words[::6]:
        here, there = (
            {id_ for id_, _ in _again(place, call, limit=MEMORIES)}
            for place in (places.embedded, places.served["pgvector"])
        )
        assert here == there, call


def test_novamem_on_postgres_matches_the_same_and_ranks_by_cover_density(places: Places):
    """NM-2: the same set under the same filters, in the order of other scores."""
    words = [call for call in places.calls if call.tier == "keyword"][1::6]
    reordered = 0
    for call in words:
        index = places.served["pgvector"].of(call.user)._context.tables.keyword
        terms, scope, _, weights = call.arguments

        there = index.search_by_cover_density(terms, scope, MEMORIES, weights)

        here = [id_ for id_, _ in _again(places.embedded, call, limit=MEMORIES)]
        assert {row.id for row in there.rows} == set(here)
        assert there.rows == tuple(
            sorted(there.rows, key=lambda row: (-row.score, -row.updated_us, row.id))
        )
        reordered += [row.id for row in there.rows] != here
    assert reordered > len(words) / 2


@pytest.mark.parametrize("name", SERVERS)
def test_whole_profiles_give_the_same_hits(places: Places, name: str):
    """Each question by one profile after the other: the same hits, with the same scores and parts.
    NM-2: novamem in Postgres where it is told to rank by BM25 as well."""
    for n, (asked, here) in enumerate(zip(QUESTIONS, places.found, strict=True)):
        profile = _profile(n)
        ranked = {"overrides": BM25} if profile == "novamem" and "sqlite" not in name else {}
        there = places.served[name].search(asked, profile, **ranked)
        assert there.degraded == here.degraded
        assert _same(*([(hit.id, hit.score) for hit in one] for one in (here, there))), (
            profile,
            asked,
        )
        assert [(hit.text, hit.lines) for hit in here] == [(hit.text, hit.lines) for hit in there]
