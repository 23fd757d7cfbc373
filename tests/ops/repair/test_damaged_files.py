"""Files with flipped bits, random, zeroed and missing pages: repaired, with every row that was readable."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from fakes import HashingEmbedder
from tools.soak.pages import TABLE_INTERIOR, Pages

import scrubjay
from scrubjay import config
from scrubjay.errors import ScrubjayError, StoreError
from scrubjay.ops.doctor import Repair
from scrubjay.ops.repair import new_file
from scrubjay.ops.repair.run import repair_store, verify_store
from scrubjay.surfaces.cli import main

PAGE = 8192
MEMORIES = 90
WORDS = "apple pear plum grape fig date lime kiwi melon berry".split()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with short and long memories, links, feedback and vectors."""
    path = tmp_path_factory.mktemp("whole") / "whole.db"
    draw = random.Random(1)
    with scrubjay.open(path, embedder=HashingEmbedder(64)) as store:
        store.add_many(
            {
                "id": f"m{n}",
                "text": f"unique{n} "
                + " ".join(draw.choices(WORDS, k=draw.choice((5, 60, 1500)))),
                "topics": [f"topic{n % 7}"],
                "metadata": {"n": n},
            }
            for n in range(MEMORIES)
        )
        for n in range(30):
            store.link(f"m{n}", f"m{n + 1}")
        store.feedback("apple", "m3", "accepted")
        store.pending(wait=True)
    return path


@pytest.fixture
def path(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "notes.db"))


def readable(path: Path) -> dict[str, str]:
    """Return id and text of each memory that SQLite alone can still read, one by one."""
    found = {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        db.text_factory = bytes
        for n in range(1, MEMORIES + 1):
            try:
                row = db.execute("SELECT id, text FROM memories WHERE n = ?", (n,)).fetchone()
                found[row[0].decode()] = row[1].decode()
            except (sqlite3.Error, UnicodeDecodeError, TypeError, AttributeError):
                continue
    return found


def repaired(path: Path) -> list[Repair]:
    return list(repair_store(config.load(db=str(path)), dry_run=False))


def flip_bits(data: bytearray, draw: random.Random) -> bytearray:
    for _ in range(20):
        data[draw.randrange(PAGE // 16, len(data))] ^= 1 << draw.randrange(8)
    return data


def randomize_pages(data: bytearray, draw: random.Random) -> bytearray:
    for _ in range(3):
        at = draw.randrange(1, len(data) // PAGE) * PAGE
        data[at : at + PAGE] = draw.randbytes(PAGE)
    return data


def zero_a_page(data: bytearray, draw: random.Random) -> bytearray:
    at = draw.randrange(1, len(data) // PAGE) * PAGE
    data[at : at + PAGE] = bytes(PAGE)
    return data


DAMAGES = (flip_bits, randomize_pages, zero_a_page)


@pytest.mark.parametrize("seed", range(30))
def test_every_memory_that_was_readable_is_found_again(path: Path, seed: int) -> None:
    damage = DAMAGES[seed % len(DAMAGES)]
    damaged = bytes(damage(bytearray(path.read_bytes()), random.Random(seed)))
    path.write_bytes(damaged)
    before = readable(path)

    repairs = repaired(path)

    assert verify_store(config.load(db=str(path))).problems == ()
    with scrubjay.open(path, embedder=False) as store:
        after = {memory.id: memory.text for memory in store.ls(limit=1000)}
        assert before.items() <= after.items()
        for id_ in before.keys() & {f"m{n}" for n in range(0, MEMORIES, 10)}:
            word = before[id_].split()[0]
            assert id_ in {hit.id for hit in store.search(word, mode="keyword")}, word
    if any(repair.component == "store" for repair in repairs):
        assert path.with_name("notes.db.damaged").read_bytes() == damaged


def test_a_file_that_was_cut_off_keeps_what_is_before_the_cut(path: Path) -> None:
    data = path.read_bytes()
    counts = []
    for share in (1.0, 0.5, 0.3):
        path.write_bytes(data[: int(len(data) * share)])
        repaired(path)
        with scrubjay.open(path, embedder=False) as store:
            counts.append(len(store.ls(limit=1000)))
    assert counts[0] == MEMORIES > counts[1] > counts[2] > 0


def test_lost_memories_are_named(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * 0.6)])
    (lost,) = (one for one in repaired(path) if one.component == "memories")
    assert lost.state == "failed"
    assert "m89" in lost.detail or "more" in lost.detail


def test_memories_are_read_from_their_pages_without_the_first_one(path: Path) -> None:
    """The first page has the list of tables: without it, SQLite opens nothing."""
    data = bytearray(path.read_bytes())
    data[:PAGE] = bytes(PAGE)
    path.write_bytes(data)
    with pytest.raises(ScrubjayError):
        scrubjay.open(path, embedder=False)
    repaired(path)
    with scrubjay.open(path, embedder=False) as store:
        assert len(store.ls(limit=1000)) == MEMORIES
        assert store.search("unique77", mode="keyword").hits[0].id == "m77"


def test_memories_that_sqlite_passes_by_without_an_error_are_found(path: Path) -> None:
    """A page that leads to others, but says that it leads to one only."""
    data = bytearray(path.read_bytes())
    root = next(iter(Pages(path).of_tree("memories")))
    at = (root - 1) * PAGE
    assert data[at] == TABLE_INTERIOR
    assert int.from_bytes(data[at + 3 : at + 5], "big") > 2
    data[at + 3 : at + 5] = (1).to_bytes(2, "big")
    path.write_bytes(data)
    repaired(path)
    with scrubjay.open(path, embedder=False) as store:
        assert len(store.ls(limit=1000)) == MEMORIES


def test_a_repair_without_the_list_of_ids_says_that_others_may_be_lost(path: Path) -> None:
    data = bytearray(path.read_bytes())
    leaf = Pages(path).of_rows("memories")[7]
    for page in (1, min(leaf)):
        data[(page - 1) * PAGE : page * PAGE] = bytes(PAGE)
    path.write_bytes(data)
    failed = [one.detail for one in repaired(path) if one.state == "failed"]
    assert any("others may be lost" in detail for detail in failed)


def test_doctor_reports_a_list_of_tables_that_cannot_be_decoded(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite quotes it in its message, and Python cannot decode that."""
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE memories (", b"CREATE TABLE memories \xf4"))
    assert main(["doctor", "--db", str(path)]) == 1
    assert "malformed database schema" in capsys.readouterr().out
    assert main(["status", "--db", str(path)]) == 1


def test_a_damaged_table_of_notes_is_reported_when_the_store_is_opened(path: Path) -> None:
    pages = Pages(path)
    meta = next(iter(pages.of_tree("meta")))
    data = bytearray(path.read_bytes())
    data[(meta - 1) * PAGE : meta * PAGE] = b"\xff" * PAGE
    path.write_bytes(data)
    with pytest.raises(StoreError, match="is damaged"):
        scrubjay.open(path, embedder=False)


def test_status_and_doctor_pass_by_damaged_notes_and_counts(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE models SET name = x'ff'")
        db.execute("INSERT INTO kept (kind, key, value, at_us) VALUES ('outage', 'x', '[', 1)")
        db.execute("INSERT INTO hits (hour_us, tier, count) VALUES ('x', 'keyword', 1)")
        db.execute("INSERT INTO hits (hour_us, tier, count) VALUES (0, x'ff', 'y')")
        db.commit()
    assert main(["status", "--db", str(path)]) == 0
    main(["doctor", "--db", str(path)])
    assert "memories" in capsys.readouterr().out


def test_what_was_forgotten_does_not_come_back(path: Path) -> None:
    with scrubjay.open(path, embedder=False) as store:
        for n in range(0, MEMORIES, 3):
            store.forget(f"m{n}")
    data = bytearray(path.read_bytes())
    data[:PAGE] = bytes(PAGE)
    path.write_bytes(data)
    repaired(path)
    with scrubjay.open(path, embedder=False) as store:
        found = {memory.id for memory in store.ls(limit=1000)}
    assert found == {f"m{n}" for n in range(MEMORIES) if n % 3}


def test_links_feedback_and_vectors_survive(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE memories SET metadata = 'no json' WHERE id = 'm5'")
        db.commit()
    repaired(path)
    with scrubjay.open(path, embedder=HashingEmbedder(64)) as store:
        assert store.pending(wait=False) == 0  # no vector is made again
        assert {near.id for near in store.neighbors("m5")} == {"m4", "m6"}
        assert [given.id for given in store.feedbacks()] == ["m3"]
        assert store.get("m5").metadata == {}


def test_a_store_in_use_is_not_repaired_under_a_writer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE memories SET metadata = 'no json' WHERE id = 'm5'")
        db.commit()
    monkeypatch.setattr(new_file, "_WAIT_S", 0.2)
    monkeypatch.setattr("scrubjay.ops.repair.run._WAIT_S", 0.2)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert [repair.state for repair in repaired(path)] == ["failed"]
        assert not path.with_name("notes.db.damaged").exists()
        writer.execute("ROLLBACK")
    assert repaired(path)[0].state == "repaired"


def test_an_open_store_refuses_to_write_to_the_old_file(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE memories SET metadata = 'no json' WHERE id = 'm5'")
        db.commit()
    with scrubjay.open(path, embedder=False) as store:
        repaired(path)
        with pytest.raises(StoreError, match="replaced"):
            store.add("lost?")
    with scrubjay.open(path, embedder=False) as store:
        store.add("not lost")


def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(path.read_bytes())
    data[20 * PAGE : 24 * PAGE] = bytes(4 * PAGE)
    path.write_bytes(data)

    def full(_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(new_file, "rebuild", full)
    (repair,) = repaired(path)
    assert repair.state == "failed"
    assert "full" in repair.detail
    assert path.read_bytes() == data
    assert sorted(file.name for file in path.parent.glob("notes*") if "-" not in file.name) == [
        "notes.db"
    ]


def test_a_repair_that_is_killed_leaves_one_complete_file(path: Path) -> None:
    """At any moment the name leads to the old file or to the complete new one."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE memories SET metadata = 'no json' WHERE id = 'm5'")
        db.commit()
    words = [sys.executable, "-m", "scrubjay", "doctor", "--repair", "--db", str(path)]
    for delay_s in (0.15, 0.25, 0.35):
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay_s)
        child.kill()
        child.wait()
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT count(*) FROM memories").fetchone() == (MEMORIES,)
    repaired(path)
    assert verify_store(config.load(db=str(path))).problems == ()
    assert not os.path.exists(f"{path}.repairing")
