"""`verify` names each kind of damage, and `doctor --repair` mends what is derived, in place."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from fakes import TokenEmbedder
from verb_answers import VALIDATORS

import scrubjay
from scrubjay import config
from scrubjay.ops.doctor.run import examine
from scrubjay.ops.repair import Verified
from scrubjay.ops.repair.run import repair_store, verify_store
from scrubjay.ops.repair.verify import _Checks
from scrubjay.surfaces.cli import main

OF_OWNED = "(SELECT n FROM memories WHERE id = 'owned')"
CHUNK = f"(SELECT n FROM chunks WHERE memory = {OF_OWNED})"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "notes.db"
    with scrubjay.open(place, embedder=TokenEmbedder(32)) as store:
        for n in range(6):
            store.add(f"pears of the orchard number {n}", id=f"pear-{n}", topics=["fruit"])
        store.add("plums of the owner", id="owned", topics=["plum"], metadata={"a": 1})
        for n in range(3):
            store.add_message(f"said {n} about plums", session="chat", owner="ann")
        for title in ("Plums", "Prunes", ""):
            store.update("owned", title=title)
        store.link("pear-1", "owned")
        store.feedback("plums", "owned", "accepted")
        store.pending(wait=True)
    return place


def write(path: Path, *statements: str) -> None:
    """Change the file as no scrubjay would."""
    with closing(sqlite3.connect(path)) as db:
        db.create_function("label", 1, lambda text: text, deterministic=True)
        triggers = db.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            db.execute(statement)
        for _, made in triggers:
            db.execute(made)
        db.commit()


def verified(path: Path) -> Verified:
    return verify_store(config.load(db=str(path)))


def test_a_whole_store_has_no_problem(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(path).problems == ()
    assert main(["verify", "--db", str(path)]) == 0
    assert "ok" in capsys.readouterr().out


# What is damaged, how, and whether the repair happens in place.
DAMAGE = {
    "content": (f"UPDATE memories SET text = 'prunes of the owner' WHERE n = {OF_OWNED}", True),
    "keyword index": (f"DELETE FROM words WHERE rowid = {OF_OWNED}", True),
    "chunks": (f"DELETE FROM chunks WHERE memory = {OF_OWNED}", True),
    "vectors": (f"UPDATE vectors SET vector = x'0102' WHERE chunk = {CHUNK}", True),
    "token vectors": (f"UPDATE tokens SET codes = x'01' WHERE chunk = {CHUNK}", True),
    "topics": (f"DELETE FROM topics WHERE memory = {OF_OWNED}", True),
    "counts": ("UPDATE terms SET held_by = held_by + 3", True),
    "links": ("INSERT INTO edges VALUES (1, 777, 'related', 1.0, 'hand', NULL)", True),
    "versions": ("UPDATE versions SET earlier = '{' WHERE n = 2", True),
    "references": (
        "INSERT INTO versions VALUES (777, 1, 0, 'edited', '', 'default', 1, '{}')",
        True,
    ),
    "memories": (f"UPDATE memories SET metadata = 'no json' WHERE n = {OF_OWNED}", False),
}


@pytest.mark.parametrize("check", DAMAGE)
def test_each_damage_is_named_and_repaired(path: Path, check: str) -> None:
    statement, in_place = DAMAGE[check]
    write(path, statement)
    found = {problem.check: problem for problem in verified(path).problems}
    assert check in found
    if check not in ("counts", "links", "references"):
        assert "owned" in found[check].ids

    repairs = list(repair_store(config.load(db=str(path)), dry_run=False))

    assert {repair.state for repair in repairs} == {"repaired"}
    assert verified(path).problems == ()
    assert path.with_name("notes.db.damaged").exists() is not in_place
    with scrubjay.open(path, embedder=TokenEmbedder(32)) as store:
        store.pending(wait=True)
        assert "owned" in {hit.id for hit in store.search("owner", mode="keyword")}
        assert "owned" in {hit.id for hit in store.search("owner", mode="vector")}
        assert not store.search("plums").degraded
    assert verified(path).problems == ()


@pytest.mark.parametrize("strength", ["9e999", "1e300", "x'00'"])
def test_a_link_with_an_impossible_strength_is_removed(path: Path, strength: str) -> None:
    write(path, f"UPDATE edges SET strength = {strength} WHERE made = 'hand'")
    (problem,) = verified(path).problems
    assert (problem.check, problem.detail) == ("links", "are damaged")
    list(repair_store(config.load(db=str(path)), dry_run=False))
    assert verified(path).problems == ()


def test_a_rescued_text_that_does_not_match_its_hash_is_named(path: Path) -> None:
    """Also where other fields of the memory are damaged, as on one overwritten page."""
    write(path, DAMAGE["memories"][0], DAMAGE["content"][0])
    repairs = list(repair_store(config.load(db=str(path)), dry_run=False))
    (content,) = (repair.detail for repair in repairs if repair.component == "content")
    assert "owned" in content


def test_a_dry_run_changes_nothing(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(path, DAMAGE["memories"][0])
    before = path.read_bytes()
    main(["doctor", "--repair", "--dry-run", "--db", str(path), "--json"])
    answer = json.loads(capsys.readouterr().out)
    VALIDATORS["doctor"].validate(answer)
    assert [repair["state"] for repair in answer["repairs"]] == ["planned"]
    assert path.read_bytes() == before


def test_the_command_lists_ids_and_fails(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(path, DAMAGE["vectors"][0])
    assert main(["verify", "--db", str(path), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    VALIDATORS["verified"].validate(answer)
    (problem,) = answer["problems"]
    assert problem["ids"] == ["owned"]
    assert main(["verify", "--db", str(path)]) == 1
    assert "doctor --repair" in capsys.readouterr().out


def test_doctor_names_rows_that_cannot_be_read(path: Path) -> None:
    write(path, DAMAGE["memories"][0], DAMAGE["vectors"][0])
    (rows,) = (one for one in examine(config.load(db=str(path))) if one.component == "rows")
    assert rows.state == "failed"
    assert "owned" in rows.detail
    assert "doctor --repair" in rows.fix


def test_a_search_names_a_hit_whose_text_does_not_match_its_hash(path: Path) -> None:
    write(path, DAMAGE["content"][0])
    with scrubjay.open(path, embedder=TokenEmbedder(32)) as store:
        results = store.search("owner")
        assert "prunes of the owner" in [hit.text for hit in results]
        (said,) = results.degraded
        assert "owned" in said
        assert "scrubjay verify" in said
        assert store.search("orchard", mode="keyword").degraded == ()


def test_what_others_write_during_a_check_is_no_damage(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every check reads one state of the store."""
    read = _Checks.lines
    with scrubjay.open(path, embedder=TokenEmbedder(32)) as store:

        def changed_meanwhile(table: _Checks, numbers: list[int]) -> object:
            monkeypatch.undo()  # once is enough
            store.update("owned", text="plums and prunes of the owner")
            store.forget("pear-1")
            store.add("figs of another writer")
            return read(table, numbers)

        monkeypatch.setattr(_Checks, "lines", changed_meanwhile)
        assert verified(path).problems == ()
    assert verified(path).problems == ()


def test_nothing_is_created_where_there_is_no_store(tmp_path: Path) -> None:
    for name, contents in (("empty.db", b""), ("foreign.txt", b"hello " * 500)):
        place = tmp_path / name
        place.write_bytes(contents)
        main(["verify", "--db", str(place)])
        main(["doctor", "--repair", "--db", str(place)])
        assert place.read_bytes() == contents
    assert main(["verify", "--db", str(tmp_path / "none.db")]) == 3
    assert not (tmp_path / "none.db").exists()


def test_another_programs_database_is_not_repaired(tmp_path: Path) -> None:
    place = tmp_path / "other.db"
    with closing(sqlite3.connect(place)) as db:
        db.execute("CREATE TABLE things (a, b)")
        db.commit()
    before = place.read_bytes()
    main(["doctor", "--repair", "--db", str(place)])
    assert place.read_bytes() == before


def test_postgres_is_verified_and_rebuilt(postgres_url: str) -> None:
    """The same statements serve there."""
    with scrubjay.open(postgres_url, embedder=TokenEmbedder(32)) as store:
        for n in range(4):
            store.add(f"pears of the orchard number {n}", id=f"pear-{n}", topics=["fruit"])
        store.pending(wait=True)
        settings = config.load(db=postgres_url)
        assert verify_store(settings).problems == ()
        with store._context.db.write() as db:
            db.execute("UPDATE vectors SET vector = ? WHERE n = 1", (b"\x01",))
            db.execute("UPDATE terms SET held_by = held_by + 2")
            db.execute("UPDATE memories SET text = 'plums' WHERE id = 'pear-2'")
        found = {problem.check for problem in verify_store(settings).problems}
        assert {"vectors", "content", "keyword index"} <= found
        repairs = list(repair_store(settings, dry_run=False))
        assert {repair.state for repair in repairs} == {"repaired"}
        store.pending(wait=True)
        assert verify_store(settings).problems == ()
        assert store.search("plums", mode="keyword").hits[0].id == "pear-2"


def test_a_flipped_bit_in_a_vector_is_found_by_its_length(path: Path) -> None:
    """Such a vector is finite and short enough to be searched, and still wrong."""
    with closing(sqlite3.connect(path)) as db:
        ((n, vector),) = db.execute(
            f"SELECT n, vector FROM vectors WHERE chunk = {CHUNK}"
        ).fetchall()
    place = max(range(3, len(vector), 4), key=lambda at: vector[at] & 0x7F)
    flipped = vector[: place - 1] + bytes([vector[place - 1] ^ 0x80]) + vector[place:]
    write(path, f"UPDATE vectors SET vector = x'{flipped.hex()}' WHERE n = {n}")

    (problem,) = verified(path).problems

    assert (problem.check, problem.ids) == ("vectors", ("owned",))
