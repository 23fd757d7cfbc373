"""Documents: how fast files go in, what an unchanged folder costs, and whether memory stays flat."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench import folders
from bench.corpus import generate
from bench.folders import FILES, SUBFOLDERS, Folder
from bench.growth import MARKS
from bench.measure import middle, percentile
from bench.report import Row, size, times
from bench.systems import LIMIT, open_scrubjay

RESCAN_GOAL_S = 2.0
FLAT_GOAL = 1.25
_FEW_FILES = 2_000
_BATCH = 50

Say = Callable[[str], None]


def measure(home: Path, say: Say, *, quick: bool) -> list[Row]:
    """Return all rows about documents; the folders are made below `home`."""
    corpus = generate(5_000 if quick else 20_000)
    say("documents: reading folders of each kind")
    found = _kinds(home / "kinds", corpus.texts, quick=quick)
    say(f"documents: {FILES:,} files, once and again")
    found += _rescan(home / "many", corpus.texts, 3)
    say("documents: searching beside files")
    found += _searching(home / "many", corpus.queries)
    shutil.rmtree(home / "many")
    total = MARKS[0] if quick else MARKS[-1]
    say(f"documents: {total // 1_000_000} MB in a fresh process; this takes minutes")
    return found + _growth(home / "large", corpus.texts, total)


def _kinds(home: Path, sentences: Sequence[str], *, quick: bool) -> list[Row]:
    """Read a folder of each kind without a model, then a small one with it."""
    found = []
    large = folders.make(home / "words", sentences, 1_000_000 if quick else 3_000_000)
    for folder in large:
        rounds = [_in_turns(folder, home, number) for number in range(1 if quick else 2)]
        ours, bare = (min(costs) for costs in zip(*rounds, strict=True))
        found.append(
            Row(
                f"`ingest` of {folder.kind}, {size(folder.bytes)} in {len(folder.files)} files, no"
                " model, beside reading, hashing and a bare FTS5 insert",
                f"{_speed(folder, ours)}, {times(ours / bare)} the CPU",
            )
        )
    if not _has_model():
        return [
            *found,
            Row("`ingest` with vectors", "the model is not here: scrubjay models pull"),
        ]
    for folder in folders.make(home / "meaning", sentences, 20_000 if quick else 60_000):
        words = _ingest_s(folder, home / "words.db", False)
        both = _ingest_s(folder, home / "meaning.db", None)
        found.append(
            Row(
                f"`ingest` of {folder.kind}, {size(folder.bytes)}, vectors of the default model"
                " too, beside none",
                f"{_speed(folder, both)}, {times(both / words)} the CPU",
            )
        )
    return found


def _in_turns(folder: Folder, home: Path, number: int) -> tuple[float, float]:
    """CPU seconds of reading a folder, and of the least that makes its words findable."""
    ours = _ingest_s(folder, home / f"{folder.kind}-{number}.db", False)
    return ours, _cpu_s(lambda: _bare(folder, home / f"{folder.kind}-{number}-bare.db"))


def _ingest_s(folder: Folder, database: Path, embedder: bool | None) -> float:
    """CPU seconds until a folder is in, with its vectors where there is a model."""
    database.unlink(missing_ok=True)
    with open_scrubjay(database, embedder) as store:
        store.search("warm up")  # so that the model is loaded

        def read() -> None:
            done = store.ingest(folder.path)
            if done.added != len(folder.files) - len(done.skipped) or done.failed:
                raise RuntimeError(f"{folder.kind}: {done}")
            store.pending(wait=True)

        return _cpu_s(read)


def _bare(folder: Folder, database: Path) -> None:
    """Read and hash each file, and put its words into a keyword index, no more."""
    with closing(sqlite3.connect(database, isolation_level=None)) as plain:
        plain.execute("PRAGMA journal_mode=WAL")
        plain.execute("PRAGMA synchronous=FULL")
        plain.execute("CREATE VIRTUAL TABLE words USING fts5(text, digest, tokenize='porter')")
        for at in range(0, len(folder.files), _BATCH):
            digests = [
                sha256(one.read_bytes()).hexdigest() for one in folder.files[at : at + _BATCH]
            ]
            plain.execute("BEGIN IMMEDIATE")
            rows = zip(folder.texts[at : at + _BATCH], digests, strict=True)
            plain.executemany("INSERT INTO words VALUES (?, ?)", rows)
            plain.execute("COMMIT")


def _has_model() -> bool:
    from scrubjay.models.guard import is_ready
    from scrubjay.models.registry import load_embedder

    return is_ready(load_embedder())


def _rescan(home: Path, sentences: Sequence[str], rounds: int) -> list[Row]:
    """Look at a folder again in which nothing changed, in turns with a bare walk over it."""
    tree = home / "tree"
    folders.notes(tree, sentences, FILES, 1_000)
    with open_scrubjay(home / "many.db", False) as store:
        first = _cpu_s(lambda: store.ingest(tree))
        costs = []
        for _ in range(rounds):
            again = _cpu_s(lambda: _same(store.ingest(tree)))
            costs.append((again, _cpu_s(lambda: _walk(tree))))
    again, bare = (middle(one) for one in zip(*costs, strict=True))
    what = f"{FILES:,} unchanged files in {SUBFOLDERS} folders"
    return [
        Row(
            f"`ingest` of {what} again, CPU",
            f"{again:.2f} s, {first / again:.0f} times less than the first time",
            f"under {RESCAN_GOAL_S:.0f} s",
            again < RESCAN_GOAL_S,
        ),
        Row(f"`ingest` of {what} again, beside bare `os.walk` and `os.stat`", times(again / bare)),
    ]


def _same(done: Any) -> None:
    if done.unchanged != FILES:
        raise RuntimeError(f"something changed meanwhile: {done}")


def _walk(tree: Path) -> None:
    for folder, _, files in os.walk(tree):
        for one in files:
            os.stat(os.path.join(folder, one))


def _searching(home: Path, queries: Sequence[str]) -> list[Row]:
    """Search by word with files to be checked and without, in the same store otherwise."""
    found = []
    parts = sorted((home / "tree").glob("part-*"))[: SUBFOLDERS * _FEW_FILES // FILES]
    with open_scrubjay(home / "few.db", False) as store:
        for part in parts:
            store.ingest(part)
    for count, name in ((_FEW_FILES, "few"), (FILES, "many")):
        _without_files(home / f"{name}.db", home / f"{name}-bare.db")
        with (
            open_scrubjay(home / f"{name}.db", False) as beside,
            open_scrubjay(home / f"{name}-bare.db", False) as alone,
        ):
            costs = list(_asked(beside, alone, queries))[len(queries) // 5 :]
        mine, bare = (percentile(one, 0.5) for one in zip(*costs, strict=True))
        what = (
            f"keyword search beside {count:,} files, their state checked, beside the same without"
        )
        found.append(Row(f"{what}, CPU p50", times(mine / bare)))
    return found


def _asked(beside: Any, alone: Any, queries: Sequence[str]) -> Iterator[tuple[float, float]]:
    for query in [*queries, *queries]:
        yield (
            _cpu_s(lambda: beside.search(query, mode="keyword", limit=LIMIT)),  # noqa: B023 at once
            _cpu_s(lambda: alone.search(query, mode="keyword", limit=LIMIT)),  # noqa: B023 at once
        )


def _without_files(database: Path, copy: Path) -> None:
    """Copy a store and forget that its documents came out of files."""
    shutil.copy(database, copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as plain:
        plain.execute("DELETE FROM files")


def _growth(home: Path, sentences: Sequence[str], total: int) -> list[Row]:
    """Read a large folder in a process of its own and compare its memory as it goes on."""
    chars = 50_000
    folders.notes(home / "tree", sentences, total // chars, chars + chars // 50)
    weight = sum(one.stat().st_size for one in (home / "tree").rglob("*.md"))
    command = [
        sys.executable,
        "-m",
        "bench.growth",
        str(home / "tree"),
        str(home / "large.db"),
        str(weight),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    told = json.loads(done.stdout)
    peaks = {int(mark): peak for mark, peak in told["peaks"].items()}
    if None in peaks.values() or MARKS[0] not in peaks:
        return [Row("memory while a large folder goes in", "this system does not tell")]
    shown = ", ".join(f"{mark // 1_000_000} MB {size(peak)}" for mark, peak in peaks.items())
    growth = peaks[max(peaks)] / peaks[MARKS[0]]
    judged = len(peaks) == len(MARKS)
    what = f"a folder of {total // 1_000_000} MB goes in"
    return [
        Row(f"peak memory while {what}, after", f"{shown} ({size(told['start'])} when opened)"),
        Row(
            f"peak memory while {what}: at the end beside after {MARKS[0] // 1_000_000} MB",
            times(growth),
            f"at most {FLAT_GOAL}x" if judged else "",
            growth <= FLAT_GOAL if judged else None,
        ),
        Row(
            f"file size after {what}, no vectors",
            f"{size(told['disk'])}, {times(told['disk'] / weight)} the files",
        ),
    ]


def _speed(folder: Folder, cpu_s: float) -> str:
    speed = folder.bytes / cpu_s
    shown = f"{speed / 1e6:.2f} MB" if speed > 1e5 else f"{speed / 1e3:.1f} kB"
    return f"{shown} of text a second of CPU"


def _cpu_s(do: Callable[[], object]) -> float:
    """CPU seconds of a call, all threads of this process counted."""
    began = time.process_time()
    do()
    return time.process_time() - began
