"""A damaged row in Postgres costs itself: it is named by searches and doctor, and the rest is repaired."""

from __future__ import annotations

import numpy as np
import psycopg
import pytest
from fakes import TokenEmbedder

import scrubjay
from scrubjay import config
from scrubjay.ops.doctor.run import examine
from scrubjay.ops.repair.run import repair_store, verify_store

OF_MEMORY = "SELECT c.n FROM chunks AS c JOIN memories AS m ON m.n = c.memory WHERE m.id"
VECTOR_OF_OWL = f"chunk IN ({OF_MEMORY} = 'owl')"


@pytest.fixture
def url(postgres_url: str) -> str:
    with scrubjay.open(postgres_url, embedder=TokenEmbedder(64)) as store:
        for name in ("owl", "fox", "elk"):
            store.add(f"the {name} lives in the forest", id=name)
        store.pending(wait=True)
    return postgres_url


def damage(url: str, statement: str, *values: object) -> None:
    with psycopg.connect(url, options="-c search_path=scrubjay,public") as connection:
        connection.execute(statement.encode(), values)


def search(url: str, **how: object) -> tuple[set[str], str]:
    with scrubjay.open(url, embedder=TokenEmbedder(64)) as store:
        found = store.search("the owl in the forest", **how)
        return {hit.id for hit in found}, " ".join(found.degraded)


@pytest.mark.parametrize(
    "vector",
    [b"", b"\x00" * 7, np.full(64, np.nan, "<f4").tobytes(), np.full(64, 1e30, "<f4").tobytes()],
    ids=["empty", "short", "nan", "huge"],
)
@pytest.mark.parametrize("copied", [True, False], ids=["after its copy", "before its copy"])
def test_a_damaged_vector_is_named(url, vector, copied):
    """Also where pgvector has no copy of it, as after `reindex`."""
    damage(url, f"UPDATE vectors SET vector = %s WHERE {VECTOR_OF_OWL}", vector)
    if not copied:
        damage(url, "DELETE FROM embeddings")

    found, degraded = search(url)

    assert found == {"owl", "fox", "elk"}  # the owl by its words
    assert "1 vector is damaged and not searched (owl)" in degraded
    assert search(url, mode="vector")[0] == {"fox", "elk"}


def test_a_damaged_vector_is_not_named_once_it_is_repaired(url):
    damage(url, f"UPDATE vectors SET vector = %s WHERE {VECTOR_OF_OWL}", b"")
    with scrubjay.open(url, embedder=TokenEmbedder(64)) as store:
        assert "owl" in " ".join(store.search("owl forest").degraded)
        list(repair_store(config.load(db=url), dry_run=False))
        store.pending(wait=True)
        assert not store.search("owl forest").degraded


def test_a_copy_of_another_width_ends_no_search(url):
    """pgvector compares only vectors of one width, and would refuse the whole search."""
    damage(url, "UPDATE embeddings SET v = '[1,2,3]' WHERE memory = 1")
    found, _ = search(url)
    assert found == {"owl", "fox", "elk"}


@pytest.mark.parametrize("copy", ["v = '[1,2,3]'", "v = v * v"], ids=["width", "numbers"])
def test_a_copy_that_differs_is_found_and_made_again(url, copy):
    damage(url, f"UPDATE embeddings SET {copy} WHERE memory = 1")
    settings = config.load(db=url)

    (problem,) = verify_store(settings).problems
    assert (problem.check, problem.ids) == ("vectors", ("owl",))
    assert [done.state for done in repair_store(settings, dry_run=False)] == ["repaired"]

    assert not verify_store(settings).problems
    assert search(url, mode="vector")[0] == {"owl", "fox", "elk"}


def test_doctor_names_damaged_rows(url):
    damage(url, "UPDATE memories SET metadata = 'no json {' WHERE id = 'owl'")
    damage(url, f"UPDATE vectors SET vector = %s WHERE {VECTOR_OF_OWL.replace('owl', 'fox')}", b"")
    (rows,) = (one for one in examine(config.load(db=url)) if one.component == "rows")
    assert rows.state == "failed"
    assert "1 cannot be read (owl)" in rows.detail
    assert "1 are damaged (fox)" in rows.detail


def test_doctor_is_content_with_a_whole_store(url):
    (rows,) = (one for one in examine(config.load(db=url)) if one.component == "rows")
    assert rows.state == "ok"


def test_a_repair_rebuilds_the_rest_beside_a_row_that_cannot_be_read(url):
    """The row stays as it is: it is the only copy."""
    damage(url, "UPDATE memories SET metadata = 'no json {' WHERE id = 'owl'")
    damage(url, "UPDATE memories SET content_hash = 'changed' WHERE id = 'fox'")
    settings = config.load(db=url)
    assert {one.repair for one in verify_store(settings).problems if one.check == "memories"} == {
        "leaves them as they are: forget them, or use a backup"
    }

    done = {one.component: one for one in repair_store(settings, dry_run=False)}

    assert done["content"].state == "repaired"
    assert done["memories"].state == "failed"
    assert "owl" in done["memories"].detail
    assert [one.check for one in verify_store(settings).problems] == ["memories"]
    with scrubjay.open(url, embedder=False) as store:
        assert store.forget("owl") == 1
    assert not verify_store(settings).problems
