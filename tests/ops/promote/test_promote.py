"""A live store moved to Postgres and back: nothing is lost, whatever happens in between."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from fakes import TokenEmbedder

import scrubjay
from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.ops.promote import run as promoting
from scrubjay.ops.promote.compare import QUERIES, Digest, digests
from scrubjay.ops.promote.run import demote, parse_place, promote
from scrubjay.storage.sqlite import backup as sqlite_backup
from scrubjay.storage.sqlite.connection import SqliteDatabase

WORKERS = Path(__file__).with_name("workers.py")
ASKED = ("kettle near the harbour", "what was on day 17?", "boats", "violin")


@pytest.fixture(autouse=True)
def few_queries(monkeypatch):
    """Most of these tests are about something else."""
    monkeypatch.setattr(promoting, "QUERIES", 3)


def digests_in(place: object, tenant: str | None = None) -> dict[str, Digest]:
    """What is in a store, table by table."""
    db = parse_place(str(place), tenant).existing()
    assert db is not None
    with closing(db):
        return digests(db)


def found(place: object, query: str) -> list[tuple[str, float]]:
    """What a search finds, with its scores to 1e-4."""
    with scrubjay.open(place, embedder=TokenEmbedder(32), user="ann") as store:
        return [(hit.id, round(hit.score, 4)) for hit in store.search(query)]


def start(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKERS), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def kill_after(process: subprocess.Popen[str], steps: int | None) -> str:
    """Kill a process without warning after so many lines, or after the copy is complete."""
    assert process.stdout is not None
    line = ""
    for count, line in enumerate(process.stdout, 1):
        if count == steps or line.startswith("complete"):
            break
    process.kill()
    with process:
        return line


def test_a_store_is_moved_and_comes_back_the_same(notes, postgres_url, monkeypatch):
    """Issue 8, parity: every row by hash, and what searches find; the old store is put aside."""
    monkeypatch.setattr(promoting, "QUERIES", QUERIES)
    answers = [found(notes, query) for query in ASKED]
    before = digests_in(notes)

    done = promote(notes, postgres_url)

    assert done.aside == f"{notes}.promoted"
    assert done.memories == before["memories"].rows
    assert done.rows == sum(digest.rows for digest in before.values())
    assert done.searches > 40
    assert digests_in(postgres_url) == before
    assert digests_in(f"{notes}.promoted") == before
    assert not [file for file in os.listdir(notes.parent) if file.endswith(("-wal", "filling"))]
    assert [found(postgres_url, query) for query in ASKED] == answers
    there = digests_in(postgres_url)

    back = demote(postgres_url, notes)

    assert back.aside == "scrubjay.demoted"
    assert digests_in(notes) == there
    assert [found(notes, query) for query in ASKED] == answers
    with pytest.raises(StoreError, match=f"were moved to {notes}; open that"):
        scrubjay.open(postgres_url, embedder=False)
    assert promote(notes, postgres_url).aside == f"{notes}.promoted-2"


def test_a_file_that_was_promoted_says_where_its_memories_are(notes, postgres_url):
    """An empty store made in its place would be taken for it, and remember things that nobody finds."""
    with scrubjay.open(notes, embedder=False) as open_before:
        promote(notes, postgres_url)
        with pytest.raises(StoreError, match=r"notes\.db was replaced while it was open"):
            open_before.add("too late")
        assert open_before.get("m1").id == "m1"  # who only reads may finish
    for again in (scrubjay.open, SqliteDatabase):
        with pytest.raises(StoreError, match=r"were moved to postgres://.*; open that"):
            again(str(notes))
    with pytest.raises(NotFound, match=r"no store in .*; its memories were moved to postgres://"):
        promote(notes, postgres_url)


@pytest.mark.slow
def test_what_is_killed_goes_on_when_it_is_run_again(notes, postgres_url):
    """Issue 8: killed half-way at any moment, several times, nothing is lost, in both directions."""
    before = digests_in(notes)
    random = Random(8)
    for there in (postgres_url, notes):
        job, here = ("promote", notes) if there == postgres_url else ("demote", postgres_url)
        for steps in random.sample(range(1, 80), 2 if job == "promote" else 1):
            assert kill_after(start(job, here, there), steps).startswith("step")
            assert digests_in(here) == before
            assert parse_place(str(there)).existing() is None
        # Now before the last two steps: the copy is complete, and the source is still in its place.
        assert kill_after(start(job, here, there), None).startswith("complete")
        assert digests_in(here) == before
        assert parse_place(str(there)).existing() is None
        done = (promote if job == "promote" else demote)(here, there)
        assert done.aside is not None
        assert digests_in(there) == before
        assert parse_place(str(here)).existing() is None


@pytest.mark.slow
def test_what_is_added_meanwhile_is_moved_or_refused(notes, postgres_url):
    """Issue 8: each memory that a writer was told is stored is in the target; the next is refused."""
    writer = start("write", notes)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    for _ in range(5):
        writer.stdout.readline()

    promote(notes, postgres_url)

    with writer:
        *added, last = writer.stdout.read().splitlines()
    assert last.startswith("refused")
    assert "replaced while it was open" in last
    assert len(added) > 5
    with scrubjay.open(postgres_url, embedder=False, user="ann") as store:
        stored = {memory.id for memory in store.ls(limit=100_000)}
        assert {line.split()[1] for line in added} <= stored
        assert len(store.search("live3 remembered", mode="keyword")) > 0


@pytest.mark.slow
def test_a_writer_of_postgres_is_refused_after_a_demotion(notes, postgres_url, tmp_path):
    """The same the other way round: nothing is acknowledged that the file has not."""
    promote(notes, postgres_url)
    writer = start("write", postgres_url)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    for _ in range(5):
        writer.stdout.readline()

    demote(postgres_url, tmp_path / "back.db")

    with writer:
        *added, last = writer.stdout.read().splitlines()
    assert last.startswith("refused")
    assert "was moved or removed while it was open" in last
    with scrubjay.open(tmp_path / "back.db", embedder=False, user="ann") as store:
        stored = {memory.id for memory in store.ls(limit=100_000)}
    assert {line.split()[1] for line in added} <= stored


def test_a_target_with_other_memories_is_refused(notes, postgres_url, tmp_path):
    """An empty store may be in its place; one with memories of somebody else stays as it is."""
    with scrubjay.open(postgres_url, embedder=False, tenant="acme"):
        pass
    promote(notes, postgres_url, tenant=None, keep=True)
    other = tmp_path / "other.db"
    with scrubjay.open(other, embedder=False) as store:
        store.add("something else", id="else")
    before = digests_in(postgres_url)
    with pytest.raises(StoreError, match="holds other memories"):
        promote(other, postgres_url)
    with pytest.raises(StoreError, match="holds other memories"):
        demote(postgres_url, other)
    assert digests_in(postgres_url) == before
    with scrubjay.open(other, embedder=False) as store:
        assert store.get("else").text == "something else"


def test_a_store_that_is_kept_is_a_copy(notes, postgres_url):
    """To promote it again does nothing while both are the same, and is refused once they are not."""
    done = promote(notes, postgres_url, keep=True)
    assert done.aside is None
    assert promote(notes, postgres_url, keep=True) == done
    with scrubjay.open(notes, embedder=False) as store:
        store.add("only here")
    with pytest.raises(StoreError, match="holds this store already, and both were used since"):
        promote(notes, postgres_url)
    with scrubjay.open(notes, embedder=False) as store:
        assert store.search("only here", mode="keyword")[0].text == "only here"


def test_a_tenant_is_moved_alone(notes, postgres_url):
    """The file of the tenant goes into the schema of the tenant."""
    own = notes.with_name("notes.acme.db")
    with scrubjay.open(notes, tenant="acme", embedder=False) as store:
        store.add("of acme", id="theirs")
    done = promote(notes, postgres_url, tenant="acme")
    assert (done.source, done.memories) == (str(own), 1)
    assert done.target.endswith("#scrubjay_acme")
    assert notes.exists()
    assert parse_place(postgres_url).existing() is None
    with scrubjay.open(postgres_url, tenant="acme", embedder=False) as store:
        assert store.get("theirs").text == "of acme"


@pytest.mark.parametrize("broken", ["row", "search"])
def test_a_difference_leaves_everything_in_place(notes, postgres_url, monkeypatch, broken):
    """The table or the search that differs is named; there is no store at the target."""
    mirror = promoting.mirror
    times = []

    def damaged(source, target, mark, progress=None):
        done = mirror(source, target, mark, progress)
        times.append(1)
        if len(times) == 2:
            with target.write() as db:
                if broken == "row":
                    db.execute("UPDATE versions SET what = 'other'")
                else:
                    db.execute("DELETE FROM embeddings")
        return done

    before = digests_in(notes)
    monkeypatch.setattr(promoting, "mirror", damaged)
    said = "table versions" if broken == "row" else "a search by the vector of"
    with pytest.raises(StoreError, match=said):
        promote(notes, postgres_url)
    assert digests_in(notes) == before
    assert parse_place(postgres_url).existing() is None
    monkeypatch.undo()
    if broken == "row":
        assert promote(notes, postgres_url).memories == before["memories"].rows


def test_where_open_files_cannot_be_renamed_they_are_closed_first(
    notes, postgres_url, monkeypatch
):
    """As on Windows: the file is renamed before the last rows are read, and back if anything fails."""
    for module in (promoting, sqlite_backup):
        monkeypatch.setattr(module, "open_files_stay", lambda: True)
    before = digests_in(notes)
    same_rows = promoting.same_rows

    def fails(*_):
        raise StoreError("not the same")

    monkeypatch.setattr(promoting, "same_rows", fails)
    with pytest.raises(StoreError, match="not the same"):
        promote(notes, postgres_url)
    assert digests_in(notes) == before
    monkeypatch.setattr(promoting, "same_rows", same_rows)
    assert promote(notes, postgres_url).aside == f"{notes}.promoted"
    assert digests_in(postgres_url) == digests_in(f"{notes}.promoted") == before
    demote(postgres_url, notes)
    assert digests_in(notes) == before


def test_servers_are_told_everything(notes, postgres_url, qdrant_url, falkordb_url):
    """Vectors and links come to Qdrant and FalkorDB in the same step, and are counted there."""
    done = promote(notes, postgres_url, vectors=qdrant_url, graph=falkordb_url)
    with closing(parse_place(postgres_url).existing()) as db, db.read() as connection:
        (embedded,) = connection.execute(
            "SELECT count(DISTINCT c.memory) FROM chunks AS c JOIN vectors AS v ON v.chunk = c.n"
        ).fetchone()
    assert dict(done.servers) == {"vectors": embedded, "graph": done.memories}
    assert dict(done.unfed) == {}


def test_a_server_that_does_not_answer_is_told_later(notes, postgres_url):
    """The store is moved all the same, and what is to be told stays noted."""
    done = promote(notes, postgres_url, graph="falkordb://127.0.0.1:1/nobody")
    assert "127.0.0.1:1" in done.unfed["graph"]
    with closing(parse_place(postgres_url).existing()) as db, db.read() as connection:
        assert connection.execute("SELECT count(*) FROM outbox").fetchone()[0] > done.memories


WRONG = (
    (lambda f, u: promote(u, u), InvalidInput, "use demote"),
    (lambda f, u: promote(f, f), InvalidInput, "use demote"),
    (lambda f, u: demote(f, u), InvalidInput, "use promote"),
    (lambda f, u: promote(":memory:", u), InvalidInput, "in memory cannot be moved"),
    (lambda f, u: promote("", u), InvalidInput, "is empty"),
    (lambda f, u: promote(f, u, tenant="A B"), InvalidInput, "the tenant is 'A B'"),
    (lambda f, u: promote(f, u, vectors="x://y"), InvalidInput, "Qdrant URL"),
    (lambda f, u: promote(f"{f}.no", u), NotFound, "there is no store in"),
    (lambda f, u: promote(f, "postgres://127.0.0.1:1/x"), StoreError, "does not answer"),
    (lambda f, u: demote(u, f"{f}.new"), NotFound, "there is no store in postgres://"),
)


def test_wrong_places_are_refused(notes, postgres_url):
    """One sentence says what is wrong, and nothing has changed."""
    before = notes.read_bytes()
    for call, error, said in WRONG:
        with pytest.raises(error, match=said):
            call(str(notes), postgres_url)
        assert notes.read_bytes() == before
    assert parse_place(postgres_url).existing() is None
    assert os.listdir(notes.parent) == [notes.name]
