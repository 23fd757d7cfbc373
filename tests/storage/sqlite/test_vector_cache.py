"""The vector cache beside a store: it never changes a result, and nothing forgotten stays in it."""

from __future__ import annotations

import json
import logging
import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from backends import Sqlite, a_memory, pieces
from clocks import NOON

from scrubjay.storage.codec import Codec
from scrubjay.storage.sqlite import vectors as sqlite_vectors
from scrubjay.storage.sqlite.backup import back_up
from scrubjay.storage.sqlite.cache import build as vector_build
from scrubjay.storage.sqlite.cache import cells as vector_cells
from scrubjay.storage.sqlite.cache import copies as vector_copies
from scrubjay.storage.sqlite.cache.file import VectorFile
from scrubjay.storage.sqlite.cache.mapped import CachedVectors
from scrubjay.storage.sqlite.cache.notes import files_of
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.restore import restore_file
from scrubjay.types import Scope

EVERYTHING = Scope()
COUNT, DIMS = 1200, 48
SCOPES = {
    "everything": EVERYTHING,
    "namespace": Scope(namespaces=("team3",)),
    "namespaces": Scope(namespaces=("team1", "team2")),
    "collection": Scope(collection="c5"),
    "type": Scope(types=("note", "task")),
    "as_of": Scope(valid_us=int((NOON + timedelta(days=400)).timestamp() * 1e6)),
    "since": Scope(since=NOON + timedelta(minutes=1000)),
    "nothing": Scope(namespaces=("no such",)),
}


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch):
    """Caches are made of hundreds of vectors, so that a test need not store many thousands."""
    monkeypatch.setattr(vector_copies, "MIN_CACHED", 300)
    monkeypatch.setattr(vector_copies, "MIN_BEHIND", 300)
    monkeypatch.setattr(vector_copies, "_RETRY_S", 0.0)


@pytest.fixture
def cells(monkeypatch):
    """Cells are made of hundreds of vectors, though they spare less of so few."""
    monkeypatch.setattr(vector_cells, "MIN_CELLED", 300)
    monkeypatch.setattr(vector_cells, "_MAX_SHARE", 0.8)


def units(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def clustered(count, seed=3):
    """Vectors in clusters of very different sizes, as those of texts are."""
    chance = np.random.default_rng(seed)
    centres = units(np.random.default_rng(1).normal(size=(24, DIMS)))
    sizes = 1 / (1 + np.arange(24)) ** 0.8
    of = chance.choice(24, count, p=sizes / sizes.sum())
    return units(centres[of] + 0.5 * units(chance.normal(size=(count, DIMS))))


VECTORS, QUERIES = clustered(COUNT), clustered(12, seed=5)


def put(store, start, vectors, **fields):
    """One memory a vector, in ten namespaces and twenty collections; every third ends after a year."""
    store.activate("m", DIMS)
    with store.records.transaction():
        for n in range(start, start + len(vectors)):
            at = NOON + timedelta(minutes=n)
            usual = {
                "namespace": f"team{n % 10}",
                "collection": f"c{n % 20}",
                "type": ("note", "task", "fact")[n % 3],
                "created_at": at,
                "updated_at": at,
                "valid_until": NOON + timedelta(days=365) if n % 3 == 0 else None,
            }
            store.records.put(a_memory(f"v{n:05}", f"t{n}", **usual | fields), pieces("tttt"))
    store.embed("m", {f"v{n:05}": [row] for n, row in enumerate(vectors, start)})


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Twelve hundred memories with their vectors, to be copied: to write them takes longer."""
    path = tmp_path_factory.mktemp("filled") / "notes.db"
    store = Sqlite(str(path))
    put(store, 0, VECTORS)
    store.db.purge_log()
    store.close()
    return path


@pytest.fixture
def path(filled, tmp_path):
    shutil.copy(filled, tmp_path / "notes.db")
    return str(tmp_path / "notes.db")


@pytest.fixture
def opened(path):
    """Opens the store, as another process would each time."""
    stores = []

    def open_():
        stores.append(Sqlite(path))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


@pytest.fixture
def cached(opened):
    """A store whose cache is built and in use."""

    def open_():
        store = opened()
        store.vectors.copies.build("m")
        assert isinstance(copy_of(store), CachedVectors)
        return store

    return open_


@pytest.fixture
def exhaustive(filled, tmp_path, monkeypatch):
    """Answers of the same memories without a cache; `change` does to them what was done to the others."""

    def answers(change=lambda store: None, queries=QUERIES):
        with monkeypatch.context() as without:
            without.setattr(vector_copies, "MIN_CACHED", 10**9)
            shutil.copy(filled, tmp_path / "plain.db")
            store = Sqlite(str(tmp_path / "plain.db"))
            change(store)
            found = asked(store, queries)
            assert not isinstance(copy_of(store), CachedVectors)
            store.close()
            return found

    return answers


def copy_of(store):
    return store.vectors.copies.refreshed("m")


def asked(store, queries=QUERIES, limit=10, scopes=SCOPES):
    return {
        name: [list(store.vectors.search(query, "m", scope, limit).rows) for query in queries]
        for name, scope in scopes.items()
    }


def the_file(path):
    (found,) = files_of(path)
    return found


def flip(file, at):
    with open(file, "r+b") as opened:
        opened.seek(at)
        (before,) = opened.read(1)
        opened.seek(at)
        opened.write(bytes([before ^ 0x10]))


def start_of(file, section):
    return VectorFile(file)._places_of[section][0]


def rebuilt(store):
    """Wait for the cache that is built in the background."""
    copy_of(store)
    store.vectors.copies.wait()
    return isinstance(copy_of(store), CachedVectors)


def test_a_cache_answers_exactly_as_the_store(cached, exhaustive):
    """R-3, R-8: below the size from which cells are used, with every filter, the same rows and scores."""
    answers = exhaustive()
    assert all(answers[name][0] for name in SCOPES if name != "nothing")
    assert asked(cached()) == answers


def test_a_filtered_search_loses_nothing_in_cells(cells, cached, exhaustive, monkeypatch):
    """R-3: it compares exactly the allowed vectors, and fewer than a search of everything."""
    store, answers = cached(), exhaustive()
    assert copy_of(store).has_cells
    monkeypatch.setattr(vector_cells, "MIN_CELLED", COUNT)

    found = asked(store)
    assert {name: found[name] for name in SCOPES if name != "everything"} == {
        name: answers[name] for name in SCOPES if name != "everything"
    }
    rare = store.vectors.sets.visible(SCOPES["collection"])
    assert len(copy_of(store).scan(QUERIES[0], rare).scores) == COUNT // 20


def test_cells_find_nearly_all_and_compare_a_part(cells, cached, exhaustive):
    """The recall is the one that the store has measured, also where a broad filter excludes some."""
    store, answers = cached(), exhaustive()
    known = store.vectors.copies.note("m")
    assert (known.rows, known.trials) == (COUNT, vector_cells.TRIALS)
    assert 0 < known.probed < known.cells
    assert known.recall >= vector_cells.GOOD_RECALL
    for name in ("everything", "as_of", "type"):
        found = asked(store, scopes={name: SCOPES[name]})[name]
        pairs = list(zip(found, answers[name], strict=True))
        held = sum(len({r.id for r in mine} & {r.id for r in right}) for mine, right in pairs)
        assert held >= 0.97 * sum(len(right) for _, right in pairs)
    compared = [len(copy_of(store).scan(query, None).scores) for query in QUERIES]
    assert sum(compared) < 0.8 * COUNT * len(compared)


def test_equal_vectors_are_ranked_by_time_in_and_out_of_a_cache(cells, cached):
    """R-5: the latest first, in cells, in the file and in memory alike."""
    store = cached()
    for start in (5000, 6000):
        put(store, start, np.repeat(QUERIES[:1], 5, axis=0), namespace="twins")
    wanted = [f"v{n:05}" for n in (*range(6004, 5999, -1), *range(5004, 4999, -1))]
    for _ in range(2):
        for scope in (EVERYTHING, Scope(namespaces=("twins",))):
            found = store.vectors.search(QUERIES[0], "m", scope, 10).rows
            assert [row.id for row in found] == wanted
        put(store, 7000, clustered(400, seed=9))
        assert rebuilt(store)
        assert store.vectors.copies.note("m").rows >= COUNT + 400


def test_another_process_sees_changes_at_once(cells, cached, opened, exhaustive):
    """Vectors added, replaced and deleted since the cache was written, in both directions."""
    one, other = cached(), opened()

    def change(store):
        put(store, 2000, QUERIES[:8])
        store.records.delete(
            ["v00007", "v00011", "v00012", *(f"v{n:05}" for n in range(100, 140))]
        )
        put(store, 12, -VECTORS[12:13])

    assert asked(other, QUERIES[:2], scopes={"c": SCOPES["collection"]})
    change(one)
    answers = exhaustive(change)
    for store in (one, other):
        found = asked(store)
        assert found["everything"][0][0].id == "v02000"
        assert {**found, "everything": 0, "as_of": 0, "type": 0} == {
            **answers,
            "everything": 0,
            "as_of": 0,
            "type": 0,
        }
    assert isinstance(copy_of(other), CachedVectors)
    assert copy_of(other).in_memory == 9


@pytest.mark.parametrize(
    "section", ["header", "codes", "places", "centroids", "checksums", "size"]
)
def test_a_damaged_cache_changes_nothing_and_is_rebuilt(
    section, cells, cached, opened, exhaustive, path, caplog
):
    """R-6: one flipped bit anywhere, or a missing end, is noticed, reported and repaired."""
    store = cached()
    answers = asked(store)
    store.close()
    file = the_file(path)
    if section == "size":
        os.truncate(file, os.path.getsize(file) - 100)
    else:
        flip(file, 40 if section == "header" else start_of(file, section) + 2)

    with caplog.at_level(logging.WARNING):
        other = opened()
        right = exhaustive()
        for name, scope in SCOPES.items():
            if section != "codes":  # a search of cells need not touch the block
                assert asked(other, scopes={name: scope})[name] == right[name]
            other.vectors.search(QUERIES[0], "m", Scope(not_types=("x",)), 10)
            copy_of(other).scan(QUERIES[0], np.ones(COUNT + 2, np.bool_))
    copies = other.vectors.copies
    copies.ask("m", lambda copy: copy.stored())
    assert "vectors are read from the store" in caplog.text
    assert rebuilt(other)
    assert the_file(path) != file
    assert asked(other) == answers


def test_a_cache_of_another_store_is_not_used(cells, cached, exhaustive, path, tmp_path, caplog):
    """R-6: nor one of the same store, of another state: it is built again."""
    store = cached()
    store.close()
    other = Sqlite(str(tmp_path / "other.db"))
    put(other, 0, clustered(COUNT, seed=8))
    assert rebuilt(other)
    other.close()
    shutil.copy(the_file(other.path), the_file(path))

    store = Sqlite(path)
    assert asked(store) == exhaustive()
    assert "belongs to another store" in caplog.text
    assert rebuilt(store)
    store.close()


def test_a_backup_put_back_does_not_go_with_a_later_cache(cells, cached, exhaustive, path):
    """R-6: vectors that were erased since are in the store again, and are found again."""
    store = cached()
    store.close()
    shutil.copy(path, f"{path}.before")
    store = Sqlite(path)
    nearest = [row.id for row in asked(store)["everything"][0]]
    store.records.delete(nearest)
    forget(store)
    assert isinstance(copy_of(store), CachedVectors)
    store.close()
    shutil.copy(f"{path}.before", path)

    store = Sqlite(path)
    assert asked(store)["collection"] == exhaustive()["collection"]
    assert [row.id for row in asked(store)["everything"][0]] == nearest
    store.close()


def forget(store):
    """Erase what was deleted, as `forget` does."""
    with store.db.write():
        store.db.mark_deleted(words=False)
    store.db.purge()


def test_a_forgotten_vector_is_erased_from_the_file_at_once(cells, cached, opened, path):
    """Its bytes are in no file beside the store; other processes go on with the cache."""
    store, other = cached(), opened()
    asked(other)
    file = VectorFile(the_file(path))
    rows = file.rows_of([8, 900])
    codes = file.codes[rows].copy()
    assert all(one.tobytes() in Path(file.path).read_bytes() for one in codes)
    Path(f"{path}-vectors-cafe0123").write_bytes(
        codes[0].tobytes()
    )  # by a process that was killed

    store.records.delete(["v00007", "v00899"])
    forget(store)

    (name,) = files_of(path)
    written = Path(name).read_bytes()
    assert name == file.path
    assert not any(one.tobytes() in written for one in codes)
    for copy in (copy_of(other), copy_of(store), copy_of(opened())):
        assert isinstance(copy, CachedVectors)
        assert copy.unused == 2
        copy.stored()  # every checksum is right


def test_a_vector_forgotten_during_a_build_is_not_in_the_file(cells, opened, path, monkeypatch):
    """The cache is written from a copy that was taken before."""
    store, other = opened(), opened()
    codes = copy_of(store).stored()[0].codes[7].tobytes()
    store.vectors.copies.wait()
    for file in files_of(path):
        os.unlink(file)
    real = vector_build._cells

    def slowly(*args):
        other.records.delete(["v00007"])
        forget(other)
        return real(*args)

    monkeypatch.setattr(vector_build, "_cells", slowly)
    copies = opened()
    assert rebuilt(copies)
    assert codes not in Path(the_file(path)).read_bytes()
    assert copy_of(copies).unused == 1
    assert copies.vectors.nearest_of([8], VECTORS[7], "m", 5) == {}


def test_of_two_processes_one_builds(cells, opened, path):
    """The other waits for its cache, and one file is left."""
    one, other = opened(), opened()
    with one.db.write() as db:
        db.execute(
            "INSERT INTO meta (key, value) VALUES ('vector_caches_lease', ?)", (time.time() + 60,)
        )
    assert not other.vectors.copies.build("m")
    assert files_of(path) == []
    with one.db.write() as db:
        db.execute("DELETE FROM meta WHERE key = 'vector_caches_lease'")

    building = [
        threading.Thread(target=store.vectors.copies.build, args=("m",)) for store in (one, other)
    ]
    for thread in building:
        thread.start()
    for thread in building:
        thread.join()
    assert isinstance(copy_of(one), CachedVectors)
    assert isinstance(copy_of(other), CachedVectors)
    assert copy_of(one).file.path == copy_of(other).file.path == the_file(path)


KILLED = """
import os, sys
from scrubjay.storage.sqlite.cache import build as vector_build
from scrubjay.storage.sqlite.cache import copies as vector_copies
from scrubjay.storage.sqlite.connection import SqliteDatabase

vector_copies.MIN_CACHED = 300
whole = vector_build.in_blocks
vector_build.in_blocks = lambda rows: (block if block is None else os._exit(9) for block in whole(rows))
SqliteDatabase(sys.argv[1]).vectors.copies.build("m")
"""


def test_a_killed_build_leaves_nothing_that_is_used(opened, exhaustive, path, monkeypatch):
    """R-6: half a file lies there, and the lease; the next process builds and removes both."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([sys.executable, "-c", KILLED, path], env=environment, check=False)
    assert killed.returncode == 9
    half = the_file(path)

    store = opened()
    assert asked(store) == exhaustive()
    monkeypatch.setattr(vector_build, "_LEASE_S", 0.0)
    assert rebuilt(store)
    assert the_file(path) != half
    assert asked(store) == exhaustive()


def test_a_folder_that_cannot_be_written_has_no_cache(opened, exhaustive, path, monkeypatch):
    """R-6: the vectors are read from the store, as before."""

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("scrubjay.storage.sqlite.cache.file.open_private", refuse)
    store = opened()
    assert asked(store) == exhaustive()
    assert not rebuilt(store)
    assert files_of(path) == []
    assert not store.vectors.fit_is_due("m", ())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
@pytest.mark.parametrize("mode", [0o600, 0o660])
def test_a_cache_has_the_mode_of_its_store(mode, cached, path):
    os.chmod(path, mode)
    cached()
    assert stat.S_IMODE(os.stat(the_file(path)).st_mode) == mode


class Sealed(Codec):
    name = "sealed"


def test_vectors_of_an_encrypted_store_are_not_cached(path):
    """They would lie there as they are."""
    db = SqliteDatabase(path, codec=Sealed())
    assert not db.vectors.copies.build("m")
    assert not isinstance(db.vectors.copies.refreshed("m"), CachedVectors)
    assert files_of(path) == []
    db.close()


def test_a_namespace_lies_in_one_piece(cells, cached):
    """A search of one namespace scans one run of rows, without copying them."""
    file = copy_of(cached()).file
    for team in range(10):
        memories = np.arange(team, COUNT, 10) + 1
        rows = np.flatnonzero(np.isin(file.contents.places[1], memories))
        assert len(rows) == COUNT // 10
        assert rows[-1] - rows[0] == len(rows) - 1


def test_a_cache_far_behind_is_built_again(cached, exhaustive, path):
    """And the one before is removed."""
    store = cached()
    first = the_file(path)
    change = lambda store: put(store, 3000, clustered(400, seed=9))  # noqa: E731
    change(store)
    assert asked(store) == exhaustive(change)
    assert rebuilt(store)
    assert the_file(path) != first
    assert copy_of(store).in_memory == 0
    assert asked(store) == exhaustive(change)


def test_cells_make_shortlists(cells, cached, monkeypatch):
    """CG-1: then no rotation is fitted, and `status` says why."""
    monkeypatch.setattr(sqlite_vectors, "MIN_ROTATED", 300)
    store = cached()
    found = store.vectors.search(QUERIES[0], "m", EVERYTHING, 10, shortlist=50)
    assert len(found.rows) == 10
    assert "vectors, whole, by cells" in found.compared
    assert not store.vectors.fit_is_due("m", (16,))
    assert store.vectors.rotations.why_not("m", (16,)) == "the nearest cells make shortlists"


def test_a_cache_is_built_after_the_last_chunk_is_embedded(opened, path):
    """By the thread that fits rotations: a process that only writes leaves a cache to those that search."""
    store = opened()
    assert store.vectors.fit_is_due("m", ())
    assert store.vectors.fit("m", ())
    assert not store.vectors.fit_is_due("m", ())
    assert os.path.getsize(the_file(path)) > COUNT * DIMS


def test_status_shows_what_a_search_compares(cells, cached, path):
    """The cells, their recall and the size of the cache, as text and as JSON."""
    cached()
    ran = [
        subprocess.run(
            [sys.executable, "-m", "scrubjay", "--db", path, "status", *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for arguments in ((), ("--json",))
    ]
    shown = json.loads(ran[1])["vector_cells"]["m"]
    assert shown["vectors"] == COUNT
    assert 0 < shown["probed"] < shown["cells"]
    assert shown["recall"] >= vector_cells.GOOD_RECALL
    nearest = f"m: the nearest {shown['probed']} of {shown['cells']} are compared, recall 0.99"
    assert f"cells        {nearest}" in ran[0] or "recall 1.000" in ran[0]


def test_a_restored_backup_begins_without_a_cache(cells, cached, exhaustive, path, tmp_path):
    """Nothing would erase what is forgotten from one that lies beside another file."""
    store = cached()
    back_up(store.db, str(tmp_path / "backup.db"), force=False, progress=None)
    store.records.delete(["v00005"])
    store.close()
    assert files_of(path)

    restore_file(str(tmp_path / "backup.db"), path)
    assert files_of(path) == files_of(str(tmp_path / "backup.db")) == []
    store = Sqlite(path)
    assert asked(store) == exhaustive()
    store.close()


def test_a_long_list_compares_as_many_cells_as_it_needs(cells, cached):
    """R-3: a limit is a limit, also where the nearest cells have fewer memories."""
    store = cached()
    for scope in (EVERYTHING, SCOPES["type"]):
        found = store.vectors.search(QUERIES[0], "m", scope, COUNT).rows
        assert len(found) == (COUNT if scope is EVERYTHING else COUNT * 2 // 3)
