"""Keyword search beside FTS5 and tantivy, as texts get many: `python -m bench.keyword 10000 100000`.

Words have natural frequencies: the n-th most frequent one is as frequent as 1/n. Queries are words of one
text. Times are CPU time of this process: the median and the 95th percentile of the first half of the
searches, which fill the caches, and of the others. tantivy is measured where it is installed.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from unittest import mock

import numpy as np

from scrubjay.storage.sql import keyword_ranking
from scrubjay.storage.sqlite import keyword, prepare
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.postings import migration
from scrubjay.storage.sqlite.postings.arithmetic import Plain
from scrubjay.types import Scope, Term

_VOCABULARY = 300_000
_LIMIT = 40
_BATCH = 5000
_QUERIES = 400  # half of them first, to fill caches
_MEMORY = (
    "INSERT INTO memories (n, id, namespace, type, text, title, context, topics, metadata, language,"
    " content_hash, created_us, updated_us) VALUES (?, ?, 'default', 'fact', '', '', '', '[]', '{}',"
    " 'en', '', 0, ?)"
)
_WORDS = "INSERT INTO words (rowid, title, text, topics, context, ident) VALUES (?, ?, ?, ?, ?, ?)"

Lines = tuple[int, str, str, str, str, str]


def texts(count: int) -> Iterator[list[Lines]]:
    """Yield batches of token lines."""
    chance = np.random.default_rng(7)
    shares = 1.0 / np.arange(1, _VOCABULARY + 1)
    ends = np.cumsum(shares / shares.sum())
    for start in range(0, count, _BATCH):
        size = min(_BATCH, count - start)
        lengths = chance.integers(12, 80, size)
        drawn = np.searchsorted(ends, chance.random(int(lengths.sum())))
        names = np.char.add("w", drawn.astype(str)).tolist()
        batch: list[Lines] = []
        at = 0
        for n, length in enumerate(lengths.tolist(), start + 1):
            words = names[at : at + length]
            at += length
            batch.append((n, " ".join(words[:4]), " ".join(words[4:]), words[5], "", f"id{n}"))
        yield batch


def queries(count: int) -> list[list[str]]:
    """Return two to seven words of random texts each, none left out for being frequent."""
    chance = np.random.default_rng(11)
    made: list[list[str]] = []
    for batch in texts(min(count, 20_000)):
        for at in chance.integers(0, len(batch), _QUERIES // 4):
            words = list(dict.fromkeys(batch[at][2].split()))
            picked = chance.permutation(words)[: int(chance.integers(2, 8))]
            made.append([str(word) for word in picked])
    return [query for query in made if query][:_QUERIES]


def fill(path: str, count: int, *, fts5: bool) -> float:
    """Write texts to a file, and its index to the end; return the CPU seconds of the index."""
    spent = 0.0
    with closing(SqliteDatabase(path)) as db:
        for batch in texts(count):
            with db.write() as writer:
                writer.executemany(_MEMORY, [(line[0], line[5], line[0]) for line in batch])
            began = time.process_time()
            with db.write() as writer:
                if fts5:
                    writer.executemany(_WORDS, batch)
                else:
                    db.words.put_lines(batch)
            spent += time.process_time() - began
        began = time.process_time()
        while not fts5:
            with db.write() as writer:
                if not migration.is_due(writer):
                    break
                migration.step(writer)
        return spent + time.process_time() - began


def times(
    search: Callable[[Sequence[str]], object], asked: Sequence[Sequence[str]]
) -> dict[str, list[float]]:
    """Return the median and the 95th percentile of the CPU milliseconds of one search."""
    spent = []
    for words in asked:
        began = time.process_time()
        search(words)
        spent.append(1000 * (time.process_time() - began))
    halves = {"first": spent[: len(spent) // 2], "then": spent[len(spent) // 2 :]}
    return {
        name: [round(float(np.percentile(half, at)), 2) for at in (50, 95)]
        for name, half in halves.items()
    }


def in_store(path: str, asked: Sequence[Sequence[str]]) -> dict[str, list[float]]:
    with closing(SqliteDatabase(path)) as db:

        def search(words: Sequence[str]) -> object:
            terms = [Term(((word,),)) for word in words]
            return db.keyword.search(terms, Scope(), _LIMIT, {"title": 3.0})

        return times(search, asked)


def in_tantivy(folder: str, count: int, asked: Sequence[Sequence[str]]) -> object:
    try:
        import tantivy  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    builder.add_integer_field("n", stored=True)
    index = tantivy.Index(builder.build(), path=folder)
    writer = index.writer(128_000_000, 1)
    for batch in texts(count):
        for n, title, text, *_ in batch:
            writer.add_document(tantivy.Document(text=f"{title} {text}", n=n))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    return times(
        lambda words: searcher.search(index.parse_query(" ".join(words), ["text"]), _LIMIT).hits,
        asked,
    )


def measure(count: int, folder: str) -> Iterator[dict[str, object]]:
    """Yield what was measured of each index."""
    asked = queries(count)
    ours, theirs, tantivy = (Path(folder, name) for name in ("ours.db", "fts5.db", "tantivy"))
    spent = fill(str(ours), count, fts5=False)
    size = round(ours.stat().st_size / 1e6)
    searched = in_store(str(ours), asked)
    peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
    yield {"of": "ours", "index_cpu_s": round(spent, 1), "megabytes": size, "search_ms": searched}
    yield {"of": "ours", "peak_megabytes": peak}
    with mock.patch.object(keyword, "_arithmetic", return_value=Plain()):
        yield {"of": "ours without numpy", "search_ms": in_store(str(ours), asked[:40])}
    ours.unlink()
    tantivy.mkdir()
    yield {"of": "tantivy", "search_ms": in_tantivy(str(tantivy), count, asked)}
    with mock.patch.object(prepare, "SCHEMA_VERSION", 14):
        spent = fill(str(theirs), count, fts5=True)
        size = round(theirs.stat().st_size / 1e6)
        searched = in_store(str(theirs), asked[:100])
    yield {"of": "FTS5", "index_cpu_s": round(spent, 1), "megabytes": size, "search_ms": searched}


def main(sizes: Sequence[int]) -> None:
    keyword_ranking.SMALL_STORE = 0
    for count in sizes:
        with tempfile.TemporaryDirectory() as folder:
            for measured in measure(count, folder):
                print(json.dumps({"memories": count, **measured}), flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [10_000, 100_000])
