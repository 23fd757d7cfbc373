"""A replica that was dropped stays dropped, in every process, until it is asked for again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import HashingEmbedder
from places import SUPPORT

import scrubjay
from scrubjay.storage.replicas.replicas import Replicas
from scrubjay.surfaces.cli import main

TEXTS = {"launch": "The launch of the rocket is in May", "fuel": "The rocket burns methane"}
# Another process: opens the store with its servers, does one thing, and ends.
FRESH = f"""
import json, sys
sys.path.insert(0, {str(SUPPORT)!r})
from fakes import HashingEmbedder
import scrubjay
path, servers, what, kind = sys.argv[1:]
with scrubjay.open(path, embedder=HashingEmbedder(), **json.loads(servers)) as store:
    if what == "drop":
        store.reindex(kind, drop=True)
    elif what == "use":
        store.add("The rocket is called Nightjar", id="name")
        store.search("rocket", profile="novamem")  # from now on memories are linked to their nearest
        assert store.pending() == 0
        found = store.search("rocket Nightjar", profile="novamem")
        print(json.dumps([sorted(hit.id for hit in found), found.degraded]))
    elif what == "fill":
        print(store.reindex(kind).left)
"""


@pytest.fixture
def servers(qdrant_url: str, falkordb_url: str) -> dict[str, str]:
    return {"vectors": f"{qdrant_url}?timeout_s=30", "graph": f"{falkordb_url}?timeout_s=30"}


@pytest.fixture
def path(tmp_path: Path, servers: dict[str, str], embedder: HashingEmbedder) -> str:
    """A store whose replicas have everything."""
    file = str(tmp_path / "notes.db")
    with scrubjay.open(file, embedder=embedder, **servers) as store:
        for id_, text in TEXTS.items():
            store.add(text, id=id_)
        store.link("launch", "fuel", 0.8)
        assert store.pending() == 0
    return file


def fresh(path: str, servers: dict[str, str], what: str, kind: str) -> str:
    words = [sys.executable, "-c", FRESH, path, json.dumps(servers), what, kind]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def replicas_of(store: scrubjay.Store) -> Replicas:
    replicas = store._context.tables.replicas
    assert replicas is not None
    return replicas


def stored(store: scrubjay.Store, kind: str) -> int:
    """How many memories the server has."""
    return replicas_of(store)._replicas[kind].count()


@pytest.mark.parametrize("kind", ["vectors", "graph"])
def test_fresh_processes_do_not_fill_it_again(
    kind: str, path: str, servers: dict[str, str], embedder: HashingEmbedder
):
    """Neither the one that drops it, whose own commit woke the worker, nor those that use it later."""
    fresh(path, servers, "drop", kind)
    found, degraded = json.loads(fresh(path, servers, "use", kind))
    assert {"name", "launch"} <= set(found)
    assert degraded == []
    with scrubjay.open(path, embedder=embedder, **servers) as store:
        assert stored(store, kind) == 0
        state = {one.tier: (one.dropped, one.behind, one.reason) for one in store.servers()}
        assert state == {
            "vectors": (kind == "vectors", 0, ""),
            "graph": (kind == "graph", 0, ""),
        }
        # Everything is still found, by the database itself.
        hits = store.search("Nightjar", profile="novamem", weights="semantic")
        assert (hits[0].id, hits.degraded) == ("name", ())
        assert [one.id for one in store.neighbors("launch")][:1] == ["fuel"]


@pytest.mark.parametrize("kind", ["vectors", "graph"])
def test_reindexing_it_by_name_fills_it_again(
    kind: str, path: str, servers: dict[str, str], embedder: HashingEmbedder
):
    with scrubjay.open(path, embedder=embedder, **servers) as store:
        store.reindex(kind, drop=True)
        store.reindex()  # rebuilds the indexes that are in use
        assert stored(store, kind) == 0
    assert fresh(path, servers, "fill", kind).strip() == "0"
    with scrubjay.open(path, embedder=embedder, **servers) as store:
        assert stored(store, kind) == len(TEXTS)
        assert not any(one.dropped or one.behind for one in store.servers())
        assert replicas_of(store).vectors is not None
        assert replicas_of(store).graph is not None


def test_another_address_is_used_after_a_drop(
    path: str, servers: dict[str, str], embedder: HashingEmbedder
):
    """That is how a replica moves: the old one is dropped, and the settings name the new one."""
    with scrubjay.open(path, embedder=embedder, **servers) as store:
        store.reindex("vectors", drop=True)
    moved = {**servers, "vectors": servers["vectors"].replace("127.0.0.1", "localhost")}
    with scrubjay.open(path, embedder=embedder, **moved) as store:
        assert store.pending() == 0
        assert stored(store, "vectors") == len(TEXTS)
        assert not any(one.dropped for one in store.servers())


def test_an_open_store_does_not_fill_what_another_process_dropped(
    path: str, servers: dict[str, str], embedder: HashingEmbedder
):
    """It was opened before, and has sent nothing yet."""
    with scrubjay.open(path, embedder=embedder, **servers) as store:
        fresh(path, servers, "drop", "vectors")
        store.add("The rocket is called Nightjar", id="name")
        assert store.pending() == 0
        assert stored(store, "vectors") == 0
        notes = store.search("rocket", profile="novamem").degraded
        assert any("open the store again" in note for note in notes)


def test_data_that_was_left_behind_is_deleted_by_a_second_drop(
    path: str, servers: dict[str, str], embedder: HashingEmbedder
):
    """The first did not name the server; its note says to drop it again with the address."""
    with scrubjay.open(path, embedder=embedder) as store:
        assert "--vectors" in store.reindex("vectors", drop=True).note
    with scrubjay.open(path, embedder=embedder, **servers) as store:
        assert stored(store, "vectors") == len(TEXTS)
        assert store.reindex("vectors", drop=True).note == ""
        assert stored(store, "vectors") == 0
        with pytest.raises(scrubjay.InvalidInput, match="nothing to drop"):
            store.reindex("vectors", drop=True)


def test_a_batch_on_its_way_during_the_drop_is_deleted(
    path: str, servers: dict[str, str], embedder: HashingEmbedder
):
    """The server has nothing of the store in the end, whoever was faster."""
    with scrubjay.open(path, embedder=embedder, **servers) as feeding:
        replica = replicas_of(feeding)._replicas["vectors"]
        put = replica.put

        def slow(memories: object) -> None:
            fresh(path, servers, "drop", "vectors")
            put(memories)  # type: ignore[arg-type]

        replica.put = slow  # type: ignore[method-assign]
        feeding.add("The rocket is called Nightjar", id="name")
        feeding.pending()
        while replicas_of(feeding).worker.running:
            replicas_of(feeding).worker._worker.join(0.1)
        assert stored(feeding, "vectors") == 0


def test_the_shell_says_what_to_run(
    path: str,
    servers: dict[str, str],
    embedder: HashingEmbedder,
    capsys: pytest.CaptureFixture[str],
):
    with scrubjay.open(path, embedder=embedder, **servers) as store:
        store.reindex("vectors", drop=True)
    where = ["--db", path, "--vectors", servers["vectors"]]
    assert main([*where, "status"]) == 0
    assert "dropped; to fill it again, run: scrubjay reindex vectors" in capsys.readouterr().out
    main([*where, "doctor"])
    assert "was dropped" in capsys.readouterr().out
