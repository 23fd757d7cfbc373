"""A store in Postgres that several use at once, whose connections are cut, and what texts it takes."""

from __future__ import annotations

import multiprocessing
import random
import string
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from backends import InPostgres, a_memory, pieces
from places import SUPPORT

import scrubjay
from scrubjay import InvalidInput, StoreError
from scrubjay.types import Scope

TESTS = str(SUPPORT)
OURS = "datname = current_database() AND application_name = 'scrubjay'"
WRITING = """
import sys
import scrubjay
with scrubjay.open(sys.argv[1], embedder=False) as store:
    for n in range(20):
        store.add(f"child says {n}", id=f"child{n}", topics=["said"])
"""
HALF_DONE = """
import sys, time
sys.path.insert(0, sys.argv[2])
from backends import InPostgres, a_memory, pieces
store = InPostgres(sys.argv[1])
with store.records.transaction():
    store.records.put(a_memory("half", "half done"), pieces("half done"))
    print(store.db.in_write, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def store(emptied_postgres_url):
    """An empty store."""
    opened = InPostgres(emptied_postgres_url)
    yield opened
    opened.close()


@pytest.fixture
def words(emptied_postgres_url):
    """An empty store without a model, as a caller has it."""
    with scrubjay.open(emptied_postgres_url, embedder=False) as opened:
        yield opened


def put(store, *ids):
    for id_ in ids:
        store.records.put(a_memory(id_), pieces("some text"))


def stored(store):
    return {one.id for one in store.records.scan(Scope(), 1000)}


def cut_connections(url):
    """End every connection of ours, as a server does that is started anew, and wait for it."""
    with psycopg.connect(url, autocommit=True) as boss:
        boss.execute(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE {OURS}")


def connections(url):
    with psycopg.connect(url) as boss:
        return boss.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {OURS}").fetchone()[0]


def test_threads_and_processes_write_at_once(words, emptied_postgres_url):
    """One after the other: nothing is lost, and what is counted is what is there."""
    child = subprocess.Popen([sys.executable, "-c", WRITING, emptied_postgres_url])
    with ThreadPoolExecutor(2) as threads:
        list(
            threads.map(
                lambda n: words.add(f"thread says {n}", id=f"thread{n}", topics=["said"]),
                range(40),
            )
        )
    assert child.wait(60) == 0

    assert len(words.ls(limit=100)) == 60
    assert len(words.search("says", limit=100)) == 60
    with psycopg.connect(emptied_postgres_url) as db:
        held = db.execute("SELECT token, held_by FROM scrubjay.terms").fetchall()
        noted = db.execute("SELECT value FROM scrubjay.meta WHERE key = 'indexed_memories'")
        assert noted.fetchone() == (60,)
    assert {held_by for token, held_by in held if token in ("", "say", "said")} == {60}


def test_a_killed_writer_leaves_nothing_and_holds_up_nobody(store, emptied_postgres_url):
    """Its transaction ends with it, and with that its lock."""
    line = [sys.executable, "-c", HALF_DONE, emptied_postgres_url, TESTS]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "True\n"
        assert stored(store) == set()
        child.kill()
    put(store, "whole")

    assert stored(store) == {"whole"}


def test_sixteen_search_and_four_write_without_an_error(words):
    """And no search sees less than what was there before."""
    words.add_many({"text": f"first {n}", "id": f"first{n}"} for n in range(20))

    def write(number):
        for n in range(5):
            words.add(f"later {number} {n}", id=f"later{number}x{n}")
        return 20

    def search(number):
        return min(len(words.search("first", limit=50)) for _ in range(5))

    with ThreadPoolExecutor(20) as threads:
        jobs = [threads.submit(write if n < 4 else search, n) for n in range(20)]
        assert {job.result() for job in jobs} == {20}
    assert len(words.ls(limit=100)) == 40


def test_a_connection_that_was_cut_while_idle_is_replaced(words, emptied_postgres_url):
    """A server that was started anew between two calls is no error for a caller."""
    words.add("kept", id="a")
    for _ in range(2):
        cut_connections(emptied_postgres_url)
        assert [hit.id for hit in words.search("kept")] == ["a"]
    cut_connections(emptied_postgres_url)
    words.add("kept as well", id="b")

    assert {hit.id for hit in words.search("kept")} == {"a", "b"}


def test_a_connection_that_is_cut_in_a_write_leaves_nothing(store):
    """It says what happened; the next write goes through."""

    def half_done():
        with store.records.transaction():
            put(store, "half")
            cut_connections(store.path)
            put(store, "other half")

    with pytest.raises(StoreError, match=r"does not answer: .*terminat"):
        half_done()

    assert stored(store) == set()
    put(store, "whole")
    assert stored(store) == {"whole"}


def test_a_statement_that_fails_in_a_write_is_what_is_reported(store):
    """Nobody waits for it, so that later ones fail for its sake: but it is the one that is named."""

    def wrong(then):
        with store.db.write() as db:
            db.execute("INSERT INTO topics (topic, memory) VALUES ('a', 12345)")
            then(db)

    many = [
        lambda db: None,
        lambda db: put(store, "a"),
        lambda db: db.execute("SELECT 1").fetchone(),
    ]
    for then in many:
        with pytest.raises(StoreError, match="topics_memory_fkey"):
            wrong(then)
        assert stored(store) == set()
    with pytest.raises(ZeroDivisionError):
        wrong(lambda db: 1 / 0)
    put(store, "a")
    assert stored(store) == {"a"}


def test_rows_that_are_inserted_together_are_those_that_were_given(store):
    """However many there are: they go to the server several in one statement."""
    for count in (0, 1, 2, 3, 63, 64, 65, 201):
        with store.db.write() as db:
            db.execute("DELETE FROM kept")
            db.executemany(
                "INSERT INTO kept (kind, key, value, at_us) VALUES ('k', ?, '(?)', ?)",
                [(f"{n:03}", n) for n in range(count)],
            )
            db.executemany(
                "INSERT OR IGNORE INTO kept (kind, key, value, at_us) VALUES ('k', ?, 'again', ?)",
                [("000", -1), ("000", -2), ("x", -1), ("x", -2)],
            )
            rows = db.execute("SELECT key, value, at_us FROM kept ORDER BY key").fetchall()
        assert rows == [
            *([(f"{n:03}", "(?)", n) for n in range(count)] or [("000", "again", -1)]),
            ("x", "again", -1),
        ]


def test_how_many_rows_were_changed_is_known_in_a_write(store):
    """Though nobody waits for a statement there."""
    with store.db.write() as db:
        for key in "abc":
            db.execute("INSERT INTO kept (kind, key, value, at_us) VALUES ('k', ?, '', 1)", (key,))
        assert db.execute("DELETE FROM kept WHERE key < 'c'").rowcount == 2
        assert db.execute("DELETE FROM kept").rowcount == 1


def test_close_leaves_neither_a_thread_nor_a_connection(emptied_postgres_url):
    """Also of a store that was used by many threads."""
    before = set(threading.enumerate())
    store = InPostgres(emptied_postgres_url)
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda n: put(store, f"m{n}") or stored(store), range(12)))
    assert connections(emptied_postgres_url) > 0
    store.close()
    store.close()

    assert set(threading.enumerate()) == before
    assert connections(emptied_postgres_url) == 0
    with pytest.raises(StoreError, match="is closed"):
        stored(store)


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_is_told_to_open_the_store_anew(store):
    """Two processes on one connection would read each other's answers."""
    put(store, "a")
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_ask, args=(store, answers))
    child.start()
    said = answers.get(timeout=60)
    child.join(60)

    assert "was opened before this process was forked" in said
    assert stored(store) == {"a"}


def _ask(store, answers):
    try:
        stored(store)
    except StoreError as error:
        answers.put(str(error))
    else:
        answers.put("nothing was said")
    store.close()


@pytest.mark.parametrize(
    "text",
    [
        "a \0 b \x1a c \x1a0 d \x1a1",
        "percent %s %% question ? ?1 back \\ quote ' \" dollar $1 :x",
        "ein Überblick, 日本語のテキスト, العربية, हिन्दी, 😀 \u0301",
        "word " * 200_000,
        " ".join(f"w{n % 15_000}" for n in range(29_000)),
    ],
    ids=["nul", "marks", "scripts", "a-megabyte", "29000-tokens"],
)
def test_any_text_comes_back_as_it_was(words, text):
    """NUL, signs that a statement could take for its own, other scripts, and however long."""
    added = words.add(
        text, id="日本/é?%s", topics=["日本語", "naïve ?"], metadata={"k": "\0 %s ✓"}
    )

    kept = words.get("日本/é?%s")
    assert (kept.text, kept.topics, kept.metadata) == (text, added.topics, {"k": "\0 %s ✓"})
    last = text.split()[-1]
    assert [hit.id for hit in words.search(last)] in ([kept.id], [])
    assert [hit.id for hit in words.search("日本語")] == [kept.id]


def test_half_of_a_surrogate_pair_is_refused(words):
    """It is no character, and no store can keep it."""
    with pytest.raises(InvalidInput, match="surrogate"):
        words.add("half \ud800 of one")
    assert len(words.ls(limit=100)) == 0


def noise(chars, letters=string.ascii_letters):
    """A text that no server can store in fewer bytes."""
    return "".join(random.Random(7).choices(letters, k=chars))


def test_a_document_with_a_long_link_is_read(words, tmp_path):
    """A tree of Postgres takes no value above 2,704 bytes: all that was to be read was not."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(f"# Pump\n\nSee [this](files/{noise(6_000)}.md)\n")
    (tmp_path / "docs" / "b.md").write_text("# Valve\n\nSee [that](a.md)\n")
    assert words.ingest(tmp_path / "docs").failed == ()
    (pump,) = words.search("pump")
    (valve,) = words.search("valve")
    assert [one.id for one in words.neighbors(valve.id)] == [pump.id]


def test_a_name_that_is_too_long_is_refused(words):
    """What is bounded is said; a row of names too long for an index is no server that does not answer."""
    with pytest.raises(InvalidInput, match="session has 5000 characters; at most 512"):
        words.add("one thing", type="message", session=noise(5_000))
    long = noise(500, "абвгдежзиклмнопрстуфхцчшщъыьэюя")
    with pytest.raises(InvalidInput, match=r"value is too long: .*; shorten"):
        words.add("a thing", type="message", session=long, owner=long, agent=long, namespace=long)
    assert len(words.ls(limit=100)) == 0
