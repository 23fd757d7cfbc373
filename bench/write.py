"""Writing: durable adds beside bare SQLite inserts in the same run, and what a memory weighs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from bench.corpus import Corpus
from bench.measure import disk_bytes, middle
from bench.report import Row, size, times
from bench.systems import BATCH, Precomputed, fill_scrubjay, open_scrubjay

BLOCK = 20


Write = Callable[[Sequence[str]], None]


def measure(corpus: Corpus, home: Path, adds: int) -> list[Row]:
    """Return the rows about adding one by one, adding in batches, and bytes without vectors."""
    home.mkdir(parents=True, exist_ok=True)
    return [_singles(corpus, home, adds), _batches(corpus, home), _size(corpus, home)]


def _singles(corpus: Corpus, home: Path, adds: int) -> Row:
    """One durable commit a memory, in turns with one durable commit a row."""
    texts = corpus.texts[:adds]
    wall, cpu = beside_inserts(home, Precomputed(texts, corpus.vectors[:adds]), texts)
    what = "`add` beside a bare SQLite insert, one commit with `synchronous=FULL` each"
    return Row(what, f"{times(wall)} wall, {times(cpu)} CPU")


def beside_inserts(
    home: Path, embedder: Precomputed | bool, texts: Sequence[str]
) -> tuple[float, float]:
    """Return how many times the wall and CPU time of a bare insert an `add` takes."""
    with open_scrubjay(home / "single.db", embedder) as store, bare(home / "bare.db") as plain:

        def add(block: Sequence[str]) -> None:
            for text in block:
                store.add(text)

        def insert(block: Sequence[str]) -> None:
            for text in block:
                insert_rows(plain, [text])

        return turns(add, insert, texts, BLOCK)


def _batches(corpus: Corpus, home: Path) -> Row:
    """One transaction a batch and all its vectors, in turns with `executemany` of the texts."""
    count = min(len(corpus.texts), 5 * BATCH)
    texts = corpus.texts[:count]
    embedder = Precomputed(texts, corpus.vectors[:count])
    with open_scrubjay(home / "many.db", embedder) as store, bare(home / "plain.db") as plain:

        def add(block: Sequence[str]) -> None:
            store.add_many([{"text": text} for text in block])
            store.pending(wait=True)

        def insert(block: Sequence[str]) -> None:
            insert_rows(plain, block)

        wall, cpu = turns(add, insert, texts, count // 5)
    what = (
        f"`add_many` of {count // 5}, vectors stored too, beside bare `executemany` of the texts"
    )
    return Row(what, f"{times(wall)} wall, {times(cpu)} CPU")


def _size(corpus: Corpus, home: Path) -> Row:
    """Weigh a store without an embedder: text, record and keyword index."""
    path = home / "wordy.db"
    with open_scrubjay(path, False) as store:
        fill_scrubjay(store, corpus.texts)
    count = len(corpus.texts)
    weight = disk_bytes(path) / count
    raw = sum(len(text.encode()) for text in corpus.texts) / count
    what = f"file size a memory, {count // 1000}k: scrubjay without vectors"
    return Row(what, f"{size(weight)}, {times(weight / raw)} the raw text")


def turns(ours: Write, theirs: Write, texts: Sequence[str], step: int) -> tuple[float, float]:
    """Let both write each block in turn; return how many times their wall and CPU ours took."""
    blocks = [texts[start : start + step] for start in range(0, len(texts), step)]
    costs = [(_cost(ours, block), _cost(theirs, block)) for block in blocks]
    wall, cpu = (
        middle([our[clock] for our, _ in costs]) / middle([their[clock] for _, their in costs])
        for clock in (0, 1)
    )
    return wall, cpu


def _cost(write: Write, block: Sequence[str]) -> tuple[float, float]:
    """Wall and CPU seconds of one block, background threads of this process counted."""
    wall, cpu = time.perf_counter(), time.process_time()
    write(block)
    return time.perf_counter() - wall, time.process_time() - cpu


@contextmanager
def bare(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the least that stores a text durably: one table, a journal, and no index."""
    plain = sqlite3.connect(path, isolation_level=None)
    with closing(plain):
        plain.execute("PRAGMA journal_mode=WAL")
        plain.execute("PRAGMA synchronous=FULL")
        plain.execute("CREATE TABLE memory (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
        yield plain


def insert_rows(plain: sqlite3.Connection, texts: Sequence[str]) -> None:
    plain.execute("BEGIN IMMEDIATE")
    plain.executemany("INSERT INTO memory (text) VALUES (?)", [(text,) for text in texts])
    plain.execute("COMMIT")
