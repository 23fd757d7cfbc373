"""Servers that cannot be used: one sentence that says which, what it said, what to do; no password."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from clocks import Clock
from fakes import HashingEmbedder
from running import running
from tools.servers import FalkorDB, Postgres, Qdrant

import scrubjay
from scrubjay.storage.falkordb.client import FalkorServer
from scrubjay.storage.postgres import login as postgres_login
from scrubjay.storage.postgres import vectors as postgres_vector
from scrubjay.storage.qdrant import client as qdrant
from scrubjay.storage.qdrant.client import QdrantServer
from scrubjay.surfaces.cli import main
from scrubjay.text.urls import QDRANT, parse_server_url

SECRET = "S3cret-of-ours"
NOWHERE = 9  # a port on which nobody listens


class Guarded(NamedTuple):
    """The three servers, each with a password that is not SECRET."""

    postgres: Postgres
    qdrant: Qdrant
    falkordb: FalkorDB


@pytest.fixture(scope="module")
def guarded() -> Iterator[Guarded]:
    """ReplicaAddresses that ask for a password; in Postgres there are roles with few rights."""
    for one in running(lambda: Postgres(password="right")):  # type: ignore[arg-type,type-var]
        for two in running(lambda: Qdrant(api_key="right")):  # type: ignore[arg-type,type-var]
            for three in running(lambda: FalkorDB(password="right")):  # type: ignore[arg-type,type-var]
                one.execute("CREATE DATABASE notes")
                one.add_role("guest", SECRET)
                one.add_role("member", SECRET)
                one.execute("GRANT CREATE ON DATABASE notes TO member")
                yield Guarded(one, two, three)


class Bad(NamedTuple):
    """A store that cannot be opened, and what is said of it."""

    url: Callable[[Guarded], str]
    said: str
    advice: str
    code: int = 1


RECORDS = {
    "not a Postgres URL": Bad(
        lambda _: f"mysql://ann:{SECRET}@127.0.0.1/notes",
        "mysql, not a Postgres URL",
        "write postgres://user@host:5432/database",
        2,
    ),
    "a port that is none": Bad(
        lambda _: f"postgres://ann:{SECRET}@127.0.0.1:port/notes",
        "port",
        "write postgres://user@host:5432/database",
        2,
    ),
    "nobody there": Bad(
        lambda _: f"postgres://ann:{SECRET}@127.0.0.1:{NOWHERE}/notes",
        f"postgres://ann@127.0.0.1:{NOWHERE}/notes does not answer: Connection refused",
        "check that Postgres runs",
    ),
    "a refused password": Bad(
        lambda at: f"postgres://postgres:{SECRET}@127.0.0.1:{at.postgres.port}/notes",
        'password authentication failed for user "postgres"',
        "SCRUBJAY_POSTGRES_PASSWORD",
    ),
    "no such database": Bad(
        lambda at: at.postgres.url_of("nothere"),
        'database "nothere" does not exist',
        "createdb nothere",
    ),
    "no rights": Bad(
        lambda at: at.postgres.url_of("notes", role="guest", password=SECRET),
        "permission denied for database notes",
        "GRANT CREATE ON DATABASE notes TO guest",
    ),
    "no pgvector": Bad(
        lambda at: at.postgres.url_of("notes", role="member", password=SECRET),
        "has no pgvector (permission denied to create extension",
        "CREATE EXTENSION vector",
    ),
}


def _is_one_sentence(said: str, *parts: str) -> None:
    assert "\n" not in said
    assert SECRET not in said
    for part in parts:
        assert part in said


@pytest.mark.parametrize("case", RECORDS)
def test_records_that_cannot_be_had(
    case: str, guarded: Guarded, capsys: pytest.CaptureFixture[str]
):
    """At the library an error of ours, at the shell its text and a code; never a password."""
    bad = RECORDS[case]
    url = bad.url(guarded)
    with pytest.raises((scrubjay.StoreError, scrubjay.InvalidInput)) as raised:
        scrubjay.open(url, embedder=False)
    _is_one_sentence(str(raised.value), bad.said, bad.advice)
    if bad.code == 1:
        host = url.rpartition("@")[2]
        assert f"@{host}" in str(raised.value)
    assert main(["--store", url, "add", "a rocket", "--no-embed"]) == bad.code
    told = capsys.readouterr()
    assert told.out == ""
    _is_one_sentence(told.err.removesuffix("\n"), bad.said, bad.advice)


def test_what_is_advised_to_a_second_user_helps(
    guarded: Guarded, embedder: HashingEmbedder, clock: Clock
):
    """One who may not make a store may use that of another, after what the message says."""
    guarded.postgres.execute("CREATE DATABASE shared")
    guarded.postgres.add_role("second", SECRET)
    owners = guarded.postgres.url_of("shared")
    theirs = guarded.postgres.url_of("shared", role="second", password=SECRET)
    with scrubjay.open(owners, embedder=embedder, clock=clock) as store:
        store.add("The launch of the rocket is in May", id="launch")
        assert store.pending() == 0
    with pytest.raises(scrubjay.StoreError) as raised:
        scrubjay.open(theirs, embedder=embedder, clock=clock)
    _is_one_sentence(str(raised.value), "permission denied for schema scrubjay")
    grants = str(raised.value).partition("run: ")[2].split("; ")
    guarded.postgres.execute(*grants[:1], database="shared")
    with pytest.raises(scrubjay.StoreError) as raised:
        scrubjay.open(theirs, embedder=embedder, clock=clock)
    _is_one_sentence(str(raised.value), "permission denied for table meta", "; ".join(grants))
    guarded.postgres.execute(*grants, database="shared")
    with scrubjay.open(theirs, embedder=embedder, clock=clock) as store:
        store.add("The rocket burns methane", id="fuel")
        assert store.pending() == 0
        assert {hit.id for hit in store.search("rocket")} == {"launch", "fuel"}
        assert store.forget("launch") == 1


def test_a_pool_without_a_server_says_nothing_by_itself(
    postgres: Postgres, postgres_url: str, capfd: pytest.CaptureFixture[str]
):
    """One sentence is raised; lines of the client on standard error would hide it."""
    import logging

    with scrubjay.open(postgres_url, embedder=False) as store:
        store.add("a rocket")
        postgres.stop()
        with pytest.raises(scrubjay.StoreError, match="does not answer"):
            store.search("rocket")
        time.sleep(1.2)  # in which the pool tries again
    quiet = logging.getLogger("psycopg.pool").handlers
    assert any(isinstance(one, logging.NullHandler) for one in quiet)
    assert capfd.readouterr().err == ""


class BadTier(NamedTuple):
    """A tier that cannot be asked: its option, its URL, what is said and what is to be done."""

    tier: str
    url: Callable[[Guarded], str]
    said: str
    advice: str


TIERS = {
    "Qdrant: nobody there": BadTier(
        "vectors",
        lambda _: f"qdrant://:{SECRET}@127.0.0.1:{NOWHERE}/notes",
        f"qdrant://127.0.0.1:{NOWHERE}/notes cannot be reached",
        "check that it runs",
    ),
    "Qdrant: a refused key": BadTier(
        "vectors",
        lambda at: f"qdrant://:{SECRET}@127.0.0.1:{at.qdrant.port}/notes",
        "/notes refuses the API key",
        "SCRUBJAY_QDRANT_API_KEY",
    ),
    "Qdrant: no key": BadTier(
        "vectors",
        lambda at: f"qdrant://127.0.0.1:{at.qdrant.port}/notes",
        "/notes requires an API key",
        "SCRUBJAY_QDRANT_API_KEY",
    ),
    "Qdrant: another kind of server": BadTier(
        "vectors",
        lambda at: f"qdrant://:{SECRET}@127.0.0.1:{at.falkordb.port}/notes",
        "/notes ",
        "check that it runs",
    ),
    "FalkorDB: nobody there": BadTier(
        "graph",
        lambda _: f"falkordb://:{SECRET}@127.0.0.1:{NOWHERE}/notes",
        f"falkordb://127.0.0.1:{NOWHERE}/notes cannot be reached",
        "start it, or correct the address",
    ),
    "FalkorDB: a refused password": BadTier(
        "graph",
        lambda at: f"falkordb://:{SECRET}@127.0.0.1:{at.falkordb.port}/notes",
        "/notes refused the user or the password",
        "SCRUBJAY_FALKORDB_PASSWORD",
    ),
    "FalkorDB: no password": BadTier(
        "graph",
        lambda at: f"falkordb://127.0.0.1:{at.falkordb.port}/notes",
        "/notes refused the user or the password",
        "SCRUBJAY_FALKORDB_PASSWORD",
    ),
}


@pytest.mark.parametrize("case", TIERS)
def test_tiers_that_cannot_be_asked(
    case: str,
    guarded: Guarded,
    memory: scrubjay.Store,
    embedder: HashingEmbedder,
    clock: Clock,
    capsys: pytest.CaptureFixture[str],
):
    """NM-6: the search answers and says it; what was to be told waits, with the same sentence."""
    bad = TIERS[case]
    url = bad.url(guarded)
    memory.add("The launch of the rocket is in May", id="launch")
    memory.pending()
    servers = {bad.tier: url}
    with scrubjay.open(
        memory.path,
        embedder=embedder,
        clock=clock,
        vectors=servers.get("vectors"),
        graph=servers.get("graph"),
    ) as store:
        found = store.search("rocket", profile="novamem")
        assert [hit.id for hit in found] == ["launch"]
        name = {"vectors": "vector", "graph": "graph"}[bad.tier]
        said = next(one for one in found.degraded if one.startswith(f"{name}: "))
        _is_one_sentence(said, bad.said, bad.advice)
        store.pending()
        state = next(one for one in store.servers() if one.tier == bad.tier)
        assert state.behind > 0
        _is_one_sentence(state.reason, bad.said, bad.advice)
    assert main(["--store", memory.path, f"--{bad.tier}", url, "reindex", bad.tier]) == 1
    told = "".join(capsys.readouterr())
    assert SECRET not in told
    assert bad.advice in told
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("tier", "url", "said"),
    [
        ("vectors", f"http://ann:{SECRET}@127.0.0.1/notes", "write qdrant://host:6333/collection"),
        ("vectors", f"qdrant://:{SECRET}@127.0.0.1:port/x", "vectors has an invalid port"),
        ("vectors", f"qdrant://:{SECRET}@127.0.0.1/a/b", "more than one name"),
        ("vectors", f"qdrant://:{SECRET}@127.0.0.1/x?ssl=1", "option 'ssl'"),
        ("graph", f"redis://:{SECRET}@127.0.0.1/notes", "write falkordb://host:6379/graph"),
        ("graph", f"falkordb://:{SECRET}@/notes", "graph has no host"),
        ("graph", f"falkordb://:{SECRET}@127.0.0.1/x?timeout_s=0", "timeout_s is '0'"),
    ],
)
def test_wrong_urls_of_tiers(
    tier: str, url: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Refused before anything is opened."""
    path = tmp_path / "notes.db"
    servers = {tier: url}
    with pytest.raises(scrubjay.InvalidInput) as raised:
        scrubjay.open(
            path,
            embedder=False,
            vectors=servers.get("vectors"),
            graph=servers.get("graph"),
        )
    _is_one_sentence(str(raised.value), said)
    assert not path.exists()
    scrubjay.open(path, embedder=False).close()
    assert main(["--store", str(path), f"--{tier}", url, "search", "rocket"]) == 2
    _is_one_sentence(capsys.readouterr().err.removesuffix("\n"), said)


def test_records_of_a_version_that_is_too_old(postgres_url: str, monkeypatch: pytest.MonkeyPatch):
    """Of Postgres and of pgvector: which it is, and which is needed."""
    with monkeypatch.context() as older:
        older.setattr(postgres_login, "MIN_VERSION", 99)
        with pytest.raises(scrubjay.StoreError, match=r"is PostgreSQL \d+; scrubjay needs 99"):
            scrubjay.open(postgres_url, embedder=False)
    scrubjay.open(postgres_url, embedder=False).close()
    monkeypatch.setattr(postgres_vector, "MIN_VERSION", (99, 0))
    with pytest.raises(scrubjay.StoreError, match=r"needs 99\.0 or newer: ALTER EXT"):
        scrubjay.open(postgres_url, embedder=False)


def test_tiers_of_a_version_that_is_too_old(
    memory: scrubjay.Store,
    qdrant_url: str,
    falkordb_url: str,
    embedder: HashingEmbedder,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
):
    """Which it is, which is needed, and that it has to be updated. NM-6: a search goes on without."""
    monkeypatch.setattr(qdrant, "MIN_VERSION", (99, 0))
    monkeypatch.setitem(FalkorServer.__init__.__kwdefaults__, "min_version", 99_00_00)
    memory.add("The launch of the rocket is in May", id="launch")
    memory.pending()
    with scrubjay.open(
        memory.path, embedder=embedder, clock=clock, vectors=qdrant_url, graph=falkordb_url
    ) as store:
        store.pending()
        found = store.search("rocket", profile="novamem")
        reasons = {one.tier: one.reason for one in store.servers()}
    assert [hit.id for hit in found] == ["launch"]
    assert any("scrubjay needs 99.0 or later: update the server" in one for one in found.degraded)
    assert "scrubjay needs 99.0 or later: update the server" in reasons["vectors"]
    assert "which is too old; update it to 99.0.0 or later" in reasons["graph"]


def test_a_collection_of_other_dimensions(
    memory: scrubjay.Store, qdrant_url: str, embedder: HashingEmbedder, clock: Clock
):
    """Whose it is cannot be known, so it is left alone and said; NM-6: a search goes on without it."""
    from qdrant_client.http import models

    server = QdrantServer(parse_server_url(qdrant_url, QDRANT, "vectors"))
    name = server.collection_name(embedder.name, embedder.dims)
    vectors = models.VectorParams(size=7, distance=models.Distance.COSINE)
    wanted = models.CreateCollection(vectors=vectors)
    server.call(
        lambda apis: apis.collections_api.create_collection(name, create_collection=wanted)
    )
    memory.add("The launch of the rocket is in May", id="launch")
    memory.pending()
    said = f"collection {name} has 7 dimensions and Cosine distance, not 256 dimensions"
    with scrubjay.open(memory.path, embedder=embedder, clock=clock, vectors=qdrant_url) as store:
        found = store.search("rocket", profile="novamem")
        assert [hit.id for hit in found] == ["launch"]
        why = next(one for one in found.degraded if said in one)
        assert server.address.shown in why
        assert store.pending() > 0
        assert said in store.servers()[0].reason
    there = server.call(lambda apis: apis.collections_api.get_collection(name).result)
    assert there is not None
    assert there.points_count == 0
    server.close()


@pytest.mark.parametrize(
    ("weights", "typed", "said"),
    [
        ({"keyword": -1}, "keyword=-1", "the weight of keyword is -1"),
        ({"keyword": 0, "vector": 0}, "keyword=0,vector=0", "one of them must be above 0"),
        ({"colour": 1}, "colour=1", "there are keyword, vector, graph"),
    ],
)
def test_weights_that_weigh_nothing(
    weights: dict[str, float],
    typed: str,
    said: str,
    memory: scrubjay.Store,
    capsys: pytest.CaptureFixture[str],
):
    """NM-4: below 0, all 0, or of no tier."""
    with pytest.raises(scrubjay.InvalidInput, match=said):
        memory.search("rocket", profile="novamem", weights=weights)
    line = ["query", "rocket", "--profile", "novamem", "--weights", typed]
    assert main(["--store", memory.path, *line]) == 2
    _is_one_sentence(capsys.readouterr().err.removesuffix("\n"), said)
