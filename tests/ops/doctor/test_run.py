"""doctor of a store that is open: of its own place, and of no more than who asks should know."""

from __future__ import annotations

import json

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.config import load
from scrubjay.ops.doctor import Finding
from scrubjay.ops.doctor.run import examine, examine_store


def by_component(found: list[Finding]) -> dict[str, Finding]:
    return {one.component: one for one in found}


def test_it_says_of_an_open_store_what_it_says_of_its_file(tmp_path):
    """The same findings, whatever the settings name."""
    path = tmp_path / "notes.db"
    with scrubjay.open(path) as store:
        store.add("The kettle whistles")
        from_inside = by_component(examine_store(store))
        from_outside = by_component(examine(load(db=str(path))))

    assert set(from_inside) == set(from_outside)
    for part in ("integrity", "writing", "sqlite", "settings"):
        assert from_inside[part] == from_outside[part], part
    assert from_inside["store"].state == "ok"  # its size may have changed in between
    assert str(path) in from_inside["store"].detail


def test_the_vectors_are_those_of_the_model_in_use(tmp_path):
    """Not of the one that the settings name."""
    with scrubjay.open(tmp_path / "notes.db", embedder=HashingEmbedder()) as store:
        store.add("The kettle whistles")
        store.pending()
        found = by_component(examine_store(store))
    assert found["vectors"] == Finding("vectors", "ok", "none is pending")


@pytest.mark.parametrize("bound", [{"user": "ann"}, {"tenant": "acme"}])
def test_who_is_bound_learns_of_their_store_only(tmp_path, bound):
    """Nothing of the machine: neither its Python, nor its packages, nor its settings."""
    with scrubjay.open(tmp_path / "notes.db", embedder=HashingEmbedder(), **bound) as store:
        found = by_component(examine_store(store))
    assert set(found) == {"store", "integrity", "writing", "vectors"}


def test_files_that_changed_since_they_were_read_are_told_of(tmp_path):
    """As a search tells of them, with the command that reads them anew; of others' nothing is said."""
    notes, db = tmp_path / "notes", tmp_path / "notes.db"
    notes.mkdir()
    for name in ("tea", "bread", "jam"):
        (notes / f"{name}.md").write_text(f"On {name}.", encoding="utf-8")
    with scrubjay.open(db, embedder=HashingEmbedder()) as store:
        store.ingest(notes)
        assert "documents" not in by_component(examine_store(store))
        (notes / "tea.md").write_text("On tea, and more.", encoding="utf-8")
        (notes / "jam.md").unlink()
        found = by_component(examine_store(store))["documents"]
        with scrubjay.open(db, embedder=HashingEmbedder(), user="ann") as hers:
            assert "documents" not in by_component(examine_store(hers))
    assert (found.state, found.fix) == ("degraded", f"scrubjay ingest --db {db}")
    assert found.detail.startswith("2 files have changed")


def test_a_damaged_settings_file_does_not_hide_the_rest(tmp_path, monkeypatch):
    """A server goes on with what it has read; whoever edits the file is told."""
    with scrubjay.open(":memory:", embedder=False) as store:
        settings = tmp_path / "broken.toml"
        settings.write_text("db = [", encoding="utf-8")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(settings))
        found = examine_store(store)
    assert [(one.component, one.state) for one in found] == [("settings", "failed")]


def test_tiers_are_examined_as_they_are_connected(tmp_path):
    """Also one that was added to the open store."""
    for name in ("own", "handbook"):
        with scrubjay.open(tmp_path / f"{name}.db", embedder=False) as made:
            made.add(f"of {name}")
    with scrubjay.open(tmp_path / "own.db", embedder=False) as store:
        store.connect(tmp_path / "handbook.db", name="handbook")
        found = by_component(examine_store(store))
    assert found["tier handbook"].state == "ok"


def test_a_store_in_postgres_is_examined_without_its_password(postgres_url):
    """By the login that it was opened with."""
    with scrubjay.open(postgres_url, embedder=False) as store:
        store.add("The kettle whistles")
        found = examine_store(store)
        password = store._context.db.address.password
    one = by_component(found)["store"]
    assert (one.state, "pgvector" in one.detail) == ("ok", True)
    assert not password or password not in json.dumps([str(each) for each in found])
