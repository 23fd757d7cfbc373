"""A store whose vectors and links are on servers: found, told, lagging, rebuilt."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from clocks import Clock
from fakes import HashingEmbedder

import scrubjay
from scrubjay.surfaces.cli import main

TEXTS = {
    "launch": "The launch of the rocket is in May",
    "fuel": "The rocket burns methane and oxygen",
    "party": "After the launch there is a party with cake",
    "cake": "Carrot cake is the favourite of the team",
}


@pytest.fixture(params=["sqlite", "postgres"])
def truth(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the records are: a file, or a database of Postgres."""
    if request.param == "sqlite":
        return str(tmp_path / "notes.db")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def servers(qdrant_url: str, falkordb_url: str) -> dict[str, str]:
    """Where the other tiers are; a busy machine may take its time."""
    return {"vectors": f"{qdrant_url}?timeout_s=30", "graph": f"{falkordb_url}?timeout_s=30"}


@pytest.fixture
def served(
    truth: str, servers: dict[str, str], embedder: HashingEmbedder, clock: Clock
) -> Iterator[scrubjay.Store]:
    """A store with both of its other tiers on servers."""
    with scrubjay.open(truth, embedder=embedder, clock=clock, **servers) as store:
        for id_, text in TEXTS.items():
            store.add(text, id=id_)
        store.link("launch", "fuel", 0.8)
        store.link("launch", "party", 0.5)
        assert store.pending() == 0
        yield store


def test_all_three_tiers_find(served: scrubjay.Store):
    """NM-1: keyword, vector and graph each contribute, with the servers asked."""
    served.search("rocket", profile="novamem")  # from now on memories are linked by likeness
    assert served.pending() == 0
    found = served.search("rocket launch", profile="novamem", limit=4)
    assert found.degraded == ()
    assert {hit.id for hit in found} >= {"launch", "fuel", "party"}
    assert all(found.hits[0].why[tier] > 0 for tier in ("keyword", "vector"))
    assert any(hit.why.get("graph", 0) > 0 for hit in found)


def test_it_finds_what_an_embedded_store_finds(
    served: scrubjay.Store, memory: scrubjay.Store, truth: str
):
    """The same ids in the same order, with the same scores; NM-2: novamem ranks words in Postgres by
    `ts_rank_cd`, so there it is told to rank by BM25 as well."""
    for id_, text in TEXTS.items():
        memory.add(text, id=id_)
    memory.link("launch", "fuel", 0.8)
    memory.link("launch", "party", 0.5)
    for one in (memory, served):  # from the first such search on, memories are linked by likeness
        one.search("rocket", profile="novamem")
        assert one.pending() == 0
    by_bm25 = {"keyword.ranking": "bm25", "graph.ranking": "bm25"}
    for profile in ("novamem", "default", "gnosis", "cognis"):
        changes = by_bm25 if profile == "novamem" and truth.startswith("postgres") else None
        for query in ("rocket launch", "cake of the team", "methane", "what is in May?"):
            here, there = (
                [
                    (hit.id, round(hit.score, 6))
                    for hit in one.search(query, profile=profile, overrides=overrides)
                ]
                for one, overrides in ((memory, None), (served, changes))
            )
            assert here == there, (profile, query)


def test_links_that_say_what_replaced_what_are_told_as_any_other(served: scrubjay.Store):
    """By hand and detected: the default profile folds, a walk follows them, `as_of` filters."""
    from scrubjay.storage.changes import Compared, SqlChanges

    served.add("The cake of the team is a cheesecake now", id="cheese")
    served.link("cheese", "cake", kind="supersedes")
    changes = SqlChanges(served._context.db)
    changes.activate()
    served.add("The launch of the rocket moved to June", id="june")
    assert served.pending() == 0
    [model] = served.status().models
    [of] = [one for one in changes.waiting(model, 100) if one.id == "june"]
    assert changes.put([Compared(of, {"launch": 0.9})], 0) == 1
    assert served.pending() == 0

    for query, new, old in (("cake", "cheese", "cake"), ("launch rocket", "june", "launch")):
        found = served.search(query, limit=10)
        assert found.degraded == ()
        assert old not in {hit.id for hit in found}
        assert next(hit for hit in found if hit.id == new).supersedes == (old,)
        assert {new, old} <= {hit.id for hit in served.search(query, limit=10, history=True)}
        assert {near.id for near in served.neighbors(new)} >= {old}
        assert {new, old} <= {hit.id for hit in served.search(query, profile="novamem")}
        assert not served.search(query, profile="novamem", as_of="2001-01-01").hits
    served.unlink("june", "launch")
    assert served.pending() == 0
    assert "june" not in {near.id for near in served.neighbors("launch")}


def tiers(truth: str) -> tuple[str, ...]:
    """What the servers keep: of a store in Postgres, words as well."""
    return ("graph", "vectors", "words") if "://" in truth else ("graph", "vectors")


def test_what_is_forgotten_or_moved_is_not_found_any_more(served: scrubjay.Store):
    served.forget("fuel")
    served.update("party", namespace="elsewhere")
    here = served.search("rocket launch party", profile="novamem", namespace="default")
    assert {hit.id for hit in here} & {"fuel", "party"} == set()
    assert served.pending() == 0
    assert {one.behind for one in served.servers()} == {0}


def test_what_lags_is_said_and_made_up_for(
    served: scrubjay.Store,
    servers: dict[str, str],
    truth: str,
    clock: Clock,
    embedder: HashingEmbedder,
):
    """Another process that does not know the servers writes; the next one that does tells them."""
    served.close()
    with scrubjay.open(truth, embedder=embedder, clock=clock) as other:
        assert {one.tier: one.behind for one in other.servers()} == dict.fromkeys(tiers(truth), 0)
        other.add("The rocket is called Nightjar", id="name")
        other.pending()
        assert all(one.behind > 0 for one in other.servers())
        assert other.status().servers == other.servers()
    with scrubjay.open(truth, embedder=embedder, clock=clock, **servers) as again:
        assert again.pending() == 0
        found = again.search("Nightjar", profile="novamem", weights="semantic")
        assert found.hits[0].id == "name"
        assert again.pending() == 0  # that search has linked memories to their nearest
        assert {one.behind for one in again.servers()} == {0}


def test_servers_are_rebuilt_from_the_truth(served: scrubjay.Store):
    copies = served._context.tables.replicas
    assert copies is not None
    while copies.worker.running:  # it would notice by itself that something is lost
        time.sleep(0.01)
    for one in copies._replicas.values():
        one.clear()
    gone = served.search("rocket", profile="novamem", weights={"vector": 1})
    assert len(gone) == 0
    done = served.reindex()
    assert (done.done, done.left) == (("words", "vectors", "graph"), 0)
    found = served.search("rocket", profile="novamem", weights={"vector": 1})
    assert {"launch", "fuel"} <= {hit.id for hit in found}
    assert {one.id for one in served.neighbors("launch")} == {"fuel", "party"}


def test_another_place_for_a_tier_is_refused(
    served: scrubjay.Store, truth: str, servers: dict[str, str], embedder: HashingEmbedder
):
    """Of two, each process would tell another one, and both would lack something."""
    other = {**servers, "vectors": servers["vectors"].replace("127.0.0.1", "localhost")}
    with pytest.raises(scrubjay.InvalidInput, match="scrubjay reindex vectors --drop"):
        scrubjay.open(truth, embedder=embedder, **other)
    assert served.search("rocket", mode="vector").degraded == ()


def test_to_look_at_a_store_takes_no_server_for_it(
    truth: str, servers: dict[str, str], embedder: HashingEmbedder
):
    """The first write or search does, once the server has answered; a wrong address is not kept."""
    dead = {**servers, "vectors": "qdrant://127.0.0.1:1/nothing"}
    with scrubjay.open(truth, embedder=embedder, **dead) as store:
        assert {one.tier: bool(one.reason) for one in store.servers()} == {
            one: one != "graph" for one in tiers(truth)
        }
        store.add("The rocket is called Nightjar", id="name")
        found = store.search("Nightjar", profile="novamem")
        assert [hit.id for hit in found] == ["name"]
        assert any("127.0.0.1:1" in one for one in found.degraded)
    with scrubjay.open(truth, embedder=embedder, **servers) as store:
        assert store.pending() == 0
        found = store.search("Nightjar", profile="novamem", weights="semantic")
        assert ([hit.id for hit in found], found.degraded) == (["name"], ())


def test_a_copy_of_a_file_takes_nothing_from_the_original(
    tmp_path: Path, servers: dict[str, str], embedder: HashingEmbedder
):
    """It is a store of its own for the servers."""
    with scrubjay.open(tmp_path / "one.db", embedder=embedder, **servers) as one:
        one.add(TEXTS["launch"], id="launch")
        one.add(TEXTS["fuel"], id="fuel")
        assert one.pending() == 0
    shutil.copy(tmp_path / "one.db", tmp_path / "two.db")
    with scrubjay.open(tmp_path / "two.db", embedder=embedder, **servers) as two:
        two.forget("fuel")
        assert two.pending() == 0
        assert [hit.id for hit in two.search("rocket", mode="vector")] == ["launch"]
    with scrubjay.open(tmp_path / "one.db", embedder=embedder, **servers) as one:
        found = one.search("rocket", profile="novamem", weights="semantic")
        assert {hit.id for hit in found} == {"launch", "fuel"}


def test_a_server_that_lost_everything_is_told_again(served: scrubjay.Store):
    """A search says so, and the next ones find everything again."""
    copies = served._context.tables.replicas
    assert copies is not None
    while copies.worker.running:
        time.sleep(0.01)
    server = copies.vectors._server  # type: ignore[union-attr]
    for name in list(server._verified):
        server.call(lambda apis, name=name: apis.collections_api.delete_collection(name))
    found = served.search("rocket", profile="novamem", weights="semantic")
    told_already = {"launch", "fuel"} <= {hit.id for hit in found}  # the worker may be faster
    said = ("has no vectors of this store", "behind")  # the latter where it is being told
    assert told_already or any(part in one for one in found.degraded for part in said), (
        [hit.id for hit in found],
        found.degraded,
    )
    until = time.monotonic() + 60
    while found.degraded and time.monotonic() < until:
        found = served.search("rocket", profile="novamem", weights="semantic")
        time.sleep(0.1)
    assert {"launch", "fuel"} <= {hit.id for hit in found}


def test_what_was_linked_in_the_background_meanwhile_is_not_left(
    served: scrubjay.Store, monkeypatch: pytest.MonkeyPatch
):
    """It waited for a server to know its vector when it was counted, and was still said to wait."""
    served.search("rocket", profile="novamem")  # from now on memories are linked by likeness
    assert served.pending() == 0
    copies = served._context.tables.replicas
    assert copies is not None
    told = copies.worker.wait

    def told_and_linked(timeout_s: float | None = None) -> int:
        untold = told(timeout_s)
        until = time.monotonic() + 60
        while served._context.embedding.unlinked() and time.monotonic() < until:
            time.sleep(0.01)
        return untold

    monkeypatch.setattr(copies.worker, "wait", told_and_linked)
    for n in range(5):
        served.add(f"The rocket of crew {n} is called Nightjar {n}")
        assert served.pending() == 0


def test_a_server_is_dropped(served: scrubjay.Store):
    served.reindex("graph", drop=True)
    dropped = {one.tier for one in served.servers() if one.dropped}
    assert dropped == {"graph"}
    with pytest.raises(scrubjay.InvalidInput, match="nothing to drop"):
        served.reindex("graph", drop=True)
    with pytest.raises(scrubjay.InvalidInput, match="vectors or graph"):
        served.reindex(drop=True)


def test_the_shell_takes_the_same_addresses(
    truth: str,
    servers: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    served: scrubjay.Store,
):
    tiers = (word for tier, url in servers.items() for word in (f"--{tier}", url))
    where = ["--store", truth, *tiers]
    assert main([*where, "search", "rocket"]) == 0
    assert main([*where, "status"]) == 0
    said = capsys.readouterr().out
    assert "launch of the rocket" in said
    assert "vectors at qdrant://" in said
    assert main([*where, "reindex", "vectors", "--json"]) == 0
    assert '"left": 0' in capsys.readouterr().out
    assert main(["reindex", "colours", *where]) == 2


def test_the_doctor_examines_the_servers(
    truth: str, servers: dict[str, str], served: scrubjay.Store, capsys: pytest.CaptureFixture[str]
):
    """One that answers is well; one that does not is named, with what it said."""
    tiers = [word for tier, url in servers.items() for word in (f"--{tier}", url)]
    main(["doctor", "--store", truth, *tiers])
    said = capsys.readouterr().out
    assert "qdrant://" in said
    assert "falkordb://" in said
    assert said.count("answers") == 2
    if truth.startswith("postgres"):
        assert "PostgreSQL 18" in said
    assert main(["doctor", "--store", truth, "--vectors", "qdrant://127.0.0.1:1/nothing"]) == 1
    assert "127.0.0.1:1" in capsys.readouterr().out


def test_the_doctor_makes_nothing(postgres_url: str, capsys: pytest.CaptureFixture[str]):
    main(["doctor", "--store", postgres_url])
    assert "nothing is stored yet" in capsys.readouterr().out
    main(["doctor", "--store", postgres_url])
    assert "nothing is stored yet" in capsys.readouterr().out


def test_words_that_are_indexed_again_are_told_to_no_server(memory: scrubjay.Store):
    """They are not on servers: to tell these every memory again would take hours for nothing."""
    with scrubjay.open(memory.path, embedder=False, vectors="qdrant://127.0.0.1:1/notes") as store:
        store.add("The launch of the rocket is in May")
        with store._context.db.write() as db:
            db.execute("DELETE FROM outbox")
        store._context.tables.replicas.worker.stop()  # type: ignore[union-attr]
        assert store.reindex("words").done == ("words",)
        assert [one.behind for one in store.servers()] == [0]
        assert len(store.search("rocket", mode="keyword")) == 1
