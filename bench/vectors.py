"""Vector search alone, at any size: the cache and its cells, filters, memory; beside LanceDB and Chroma.

Vectors are clustered, with a power law of cluster sizes and themes above them, and queries are others of the
same kind. They are stored in bulk, without texts. Every system answers in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.chroma import CHROMA
from bench.corpus import DIMS, Vectors
from bench.lance import LANCEDB
from bench.measure import disk_bytes, middle, peak_bytes, percentile
from bench.peers import installed
from bench.report import Row, size, times

MODEL = "bench"
TOP = 10
QUERIES = 200
GOOD_RECALL = 0.99
_ROWS = 20_000
_NAMESPACES = 100  # with one of a hundred memories each
_MOST_FOR_CHROMA = 100_000  # more take it an hour to store
# Settings of peers, the cheapest first: the first that finds as much as we do is measured.
_LANCE = tuple((probes, refine) for refine in (10, 50, 150) for probes in (20, 60, 200))
_CHROMA = (100, 200, 400, 800)

Say = Callable[[str], None]
Ask = Callable[[Vectors], list[int]]


class Asked(NamedTuple):
    """What a process measured: seconds of CPU of each query, and how much of the exact result it found."""

    opened_s: float
    opened_cpu_s: float
    cpu_s: list[float]
    recall: float
    peak: int
    how: str


def measure(home: Path, say: Say, *, sizes: tuple[int, ...], peers: bool) -> list[Row]:
    """Return all rows about vectors; the stores are made below `home`."""
    rows = []
    for count in sizes:
        rows += _measured(home / str(count), count, say, peers=peers)
    return rows


def _measured(home: Path, count: int, say: Say, *, peers: bool) -> list[Row]:
    home.mkdir(parents=True, exist_ok=True)
    name = f"{count:,} vectors"
    say(f"{name}: making and storing them")
    stored, queries = clustered(count)
    np.save(home / "queries.npy", queries)
    np.save(home / "exact.npy", _nearest(stored, queries))
    path = home / "vectors.db"
    _fill(path, stored)
    before = disk_bytes(path)
    built = _child("build", home)
    say(f"{name}: asking")
    first = _child("everything", home)
    ours = _asked("everything", home)
    note = built["note"]
    cells = f"the nearest {note[5]} of {note[4]} cells" if note and note[5] else "all compared"
    known = f", {note[6]:.4f} as `status` shows it" if note and note[5] else ""
    rows = [
        Row(
            f"{name}: recall@{TOP}, {cells}",
            f"{ours.recall:.4f}{known}",
            "at least 0.99",
            ours.recall >= GOOD_RECALL,
        ),
        Row(f"{name}: search, CPU p50", _ms(ours)),
        Row(
            f"{name}: open and first search, wall",
            f"{first['opened_s']:.2f} s, {first['opened_cpu_s']:.2f} s of CPU",
            "at most 0.5 s",
            first["opened_s"] <= 0.5,
        ),
        Row(
            f"{name}: peak memory of a process that has asked {QUERIES} times",
            size(ours.peak),
            "at most 700 MB",
            ours.peak <= 700e6,
        ),
        Row(
            f"{name}: building the cache",
            f"{built['cpu_s']:.1f} s of CPU, {size(built['peak'])} of"
            f" memory; it has {size(disk_bytes(path) - before)} beside a file of {size(before)}",
        ),
    ]
    for filtered, part in (
        ("namespace", "1 %"),
        ("collection", "1 %, anywhere in the file"),
        ("half", "half"),
    ):
        one = _asked(filtered, home)
        ratio = middle(one.cpu_s) / middle(ours.cpu_s)
        what = f"{name}: a filter that keeps {part} beside a search of everything, CPU p50"
        goal = ("less", ratio < 1) if "1 %" in part else ("", None)
        rows.append(Row(what, f"{times(ratio)}, {_ms(one)}, recall {one.recall:.4f}", *goal))
    for mode, system in (("lance", LANCEDB), ("chroma", CHROMA)) if peers else ():
        if not installed(system) or (mode == "chroma" and count > _MOST_FOR_CHROMA):
            continue
        say(f"{name}: {system.package}")
        theirs = _asked(mode, home, min(ours.recall, GOOD_RECALL))
        least = 4.0 if count <= 10_000 else 3.0
        ratio = middle(theirs.cpu_s) / middle(ours.cpu_s)
        rows.append(
            Row(
                f"{name}: {system.package} with its index, {theirs.how}, beside scrubjay, CPU p50",
                f"{times(ratio)}, {_ms(theirs)}, recall {theirs.recall:.4f}, {size(theirs.peak)}",
                f"at least {least:.0f}x",
                ratio >= least,
            )
        )
    return rows


def clustered(count: int, seed: int = 7) -> tuple[Vectors, Vectors]:
    """Return vectors of so many memories, and queries: topics of very different sizes below themes."""
    rng = np.random.default_rng(seed)
    topics = max(16, count // 400)
    weights = 1.0 / (np.arange(topics) + 3) ** 1.1
    common = _unit(rng.standard_normal((1, DIMS), dtype=np.float32))
    themes = _unit(rng.standard_normal((max(4, topics // 20), DIMS), dtype=np.float32))
    own = _unit(rng.standard_normal((topics, DIMS), dtype=np.float32))
    centres = _unit(0.35 * common + 0.6 * themes[rng.integers(0, len(themes), topics)] + 0.7 * own)
    of = rng.choice(topics, count + QUERIES, p=weights / weights.sum())
    made = np.empty((count + QUERIES, DIMS), np.float32)
    for some in _slices(len(made)):
        noise = _unit(rng.standard_normal((some.stop - some.start, DIMS), dtype=np.float32))
        made[some] = _unit(0.8 * centres[of[some]] + 0.6 * noise)
    return made[:count], made[count:]


def _unit(rows: NDArray[Any]) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _slices(count: int) -> Iterator[slice]:
    for start in range(0, count, _ROWS):
        yield slice(start, min(start + _ROWS, count))


def _nearest(stored: Vectors, queries: Vectors) -> NDArray[np.int64]:
    """Return the numbers of the nearest by float32: of all, and of each part that a filter keeps."""
    numbers = np.arange(1, len(stored) + 1)
    found = []
    for query in queries:
        cosines = stored @ query
        lists = []
        for kept in (
            numbers > 0,
            _is_in_namespace(numbers),
            _is_in_collection(numbers),
            numbers % 2 == 0,
        ):
            among = np.flatnonzero(kept)
            near = among[np.argpartition(-cosines[among], TOP)[:TOP]]
            lists.append(numbers[near])
        found.append(lists)
    return np.array(found)


def _is_in_namespace(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    kept: NDArray[np.bool_] = (numbers % 2 == 1) & (numbers // 2 % (_NAMESPACES // 2) == 7)
    return kept


def _is_in_collection(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    kept: NDArray[np.bool_] = numbers * 7919 // 13 % 100 == 6
    return kept


def _fill(path: Path, stored: Vectors) -> None:
    """Store a memory for each vector, with the numbers that count from one."""
    from scrubjay.storage.sql.vectors import SqlEmbeddingQueue
    from scrubjay.storage.sqlite.connection import SqliteDatabase

    with closing(SqliteDatabase(str(path))) as db:
        SqlEmbeddingQueue(db).activate(MODEL, DIMS)
        for some in _slices(len(stored)):
            numbers = np.arange(some.start + 1, some.stop + 1)
            teams = (numbers // 2 % (_NAMESPACES // 2)).tolist()
            listed = _is_in_collection(numbers).tolist()
            rows = numbers.tolist()
            with db.write() as writing:
                writing.executemany(
                    "INSERT INTO memories (n, id, namespace, type, text, title, context, topics,"
                    " metadata, collection, language, content_hash, created_us, updated_us)"
                    " VALUES (?, ?, ?, 'note', '-', '', '', '[]', '{}', ?, 'en', ?, ?, ?)",
                    [
                        (
                            n,
                            str(n),
                            f"team{team}" if n % 2 else "all",
                            "listed" if one else None,
                            str(n),
                            n,
                            n,
                        )
                        for n, team, one in zip(rows, teams, listed, strict=True)
                    ],
                )
                writing.executemany(
                    "INSERT INTO chunks (n, memory, ordinal, start, stop, first_line, last_line,"
                    " heading) VALUES (?, ?, 0, 0, 1, 1, 1, '')",
                    [(n, n) for n in rows],
                )
                writing.executemany(
                    "INSERT INTO vectors (model, chunk, vector) VALUES (1, ?, ?)",
                    [(n, stored[n - 1].astype("<f4").tobytes()) for n in rows],
                )


def _asked(mode: str, home: Path, least: float = 0.0) -> Asked:
    found = _child(mode, home, least)
    return Asked(*(found[name] for name in Asked._fields))


def _child(mode: str, home: Path, least: float = 0.0) -> dict[str, Any]:
    """Run a part of this file in a process of its own."""
    command = [sys.executable, "-m", "bench.vectors", mode, str(home), str(least)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _ms(asked: Asked) -> str:
    return f"{middle(asked.cpu_s) * 1e3:.2f} ms (p95 {percentile(asked.cpu_s, 0.95) * 1e3:.2f})"


def _build(home: Path) -> dict[str, Any]:
    from scrubjay.storage.sqlite.connection import SqliteDatabase

    with closing(SqliteDatabase(str(home / "vectors.db"))) as db:
        began = time.process_time()
        db.vectors.copies.build(MODEL)
        note = db.vectors.copies.note(MODEL)
        return {"cpu_s": time.process_time() - began, "peak": peak_bytes() or 0, "note": note}


def _ours(home: Path, mode: str) -> tuple[Ask, str]:
    from scrubjay.storage.sqlite.connection import SqliteDatabase
    from scrubjay.types import Scope

    index = SqliteDatabase(str(home / "vectors.db")).vectors
    scope = {
        "everything": Scope(),
        "namespace": Scope(namespaces=("team7",)),
        "collection": Scope(collection="listed"),
        "half": Scope(namespaces=("all",)),
    }[mode]
    return lambda query: [int(row.id) for row in index.search(query, MODEL, scope, TOP).rows], ""


def _lance(home: Path, least: float) -> tuple[Ask, str]:
    # It warns about its own default at every query; printing that would be counted against it.
    os.environ.setdefault("LANCEDB_LOG", "error")
    import lancedb
    import pyarrow as pa
    from lancedb.index import IvfPq

    folder = home / "lance"
    stored = _stored(home)
    flat = pa.FixedSizeListArray.from_arrays(pa.array(stored.ravel()), DIMS)
    rows = pa.table({"id": np.arange(1, len(stored) + 1), "vector": flat})
    table = lancedb.connect(str(folder)).create_table("vectors", rows, mode="overwrite")
    table.create_index("vector", config=IvfPq(distance_type="cosine"))

    def ask(probes: int, refine: int) -> Ask:
        def answer(query: Vectors) -> list[int]:
            asked = table.search(query).distance_type("cosine").nprobes(probes)
            found = asked.refine_factor(refine).select(["id"]).limit(TOP).to_arrow()
            return [int(one) for one in found["id"].to_pylist()]

        return answer

    for probes, refine in _LANCE:
        if _recall(ask(probes, refine), home, 0, 50) >= least:
            break
    return ask(probes, refine), f"{probes} probes, refined {refine}x"


def _chroma(home: Path, least: float) -> tuple[Ask, str]:
    import chromadb
    from chromadb.config import Settings

    stored = _stored(home)
    client = chromadb.PersistentClient(str(home / "chroma"), Settings(anonymized_telemetry=False))
    collection = client.create_collection(
        "vectors", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )
    for start in range(0, len(stored), 5000):
        ids = [str(n + 1) for n in range(start, min(start + 5000, len(stored)))]
        collection.add(ids=ids, embeddings=stored[start : start + 5000])

    def answer(query: Vectors) -> list[int]:
        found = collection.query(query_embeddings=[query], n_results=TOP, include=["distances"])
        return [int(one) for one in found["ids"][0]]

    for ef in _CHROMA:
        collection.modify(configuration={"hnsw": {"ef_search": ef}})
        if _recall(answer, home, 0, 50) >= least:
            break
    return answer, f"ef_search {ef}"


def _stored(home: Path) -> Vectors:
    import sqlite3

    with closing(sqlite3.connect(home / "vectors.db")) as db:
        rows = db.execute("SELECT vector FROM vectors ORDER BY n").fetchall()
    return np.frombuffer(b"".join(row for (row,) in rows), "<f4").reshape(len(rows), DIMS)


def _recall(ask: Ask, home: Path, column: int, most: int) -> float:
    queries, exact = np.load(home / "queries.npy")[:most], np.load(home / "exact.npy")
    held = sum(
        len({*ask(query)} & {*right[column].tolist()})
        for query, right in zip(queries, exact, strict=False)
    )
    return held / (TOP * len(queries))


def _worker(mode: str, home: Path, least: float) -> dict[str, Any]:
    """Answer all queries once, after each has been asked once, and count."""
    if mode == "build":
        return _build(home)
    parts = ("everything", "namespace", "collection", "half")
    queries = np.load(home / "queries.npy")
    began, spent = time.perf_counter(), time.process_time()
    if mode in parts:
        ask, how = _ours(home, mode)
    else:
        ask, how = (_lance if mode == "lance" else _chroma)(home, least)
    ask(queries[0])
    opened = (time.perf_counter() - began, time.process_time() - spent)
    recall = _recall(ask, home, parts.index(mode) if mode in parts else 0, len(queries))
    cpu_s = []
    for query in queries:
        before = time.process_time()
        ask(query)
        cpu_s.append(time.process_time() - before)
    return Asked(*opened, cpu_s, recall, peak_bytes() or 0, how)._asdict()


if __name__ == "__main__":
    print(json.dumps(_worker(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))))
