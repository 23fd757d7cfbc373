"""Writing without a transformer: memories for each second of CPU, where the time goes, and Postgres.

`python -m bench.writing FILE` writes notes into a store and prints the rate; the rate with static vectors is
that of a process of its own, which has no model but the table of the package.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from tools.servers import CannotRun, Postgres

from bench.measure import middle
from bench.notes import notes
from bench.report import Row, times
from bench.systems import open_scrubjay
from bench.write import beside_inserts
from scrubjay.storage.sql import messages, records, topics, words
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.write import fields, remember, static_vectors

Notes = Sequence[dict[str, Any]]
BATCH = 1000
_GOAL = 8_000
_ADD_GOAL, _POSTGRES_GOAL = 5, 3
_KEYWORD_ROWS = "keyword rows"

# The functions of a write that do not call each other, each with the name of its step.
_STEPS: dict[Callable[..., Any], str] = {
    fields.draft: "checks of the fields",
    remember.with_times: "time expressions",
    records.language_of: "language",
    remember.chunks_of: "chunks",
    remember._Known.__init__: "ids, and whether the text is stored",
    records.SqlRecords._values: "rows of `memories`",
    words.SqlWords.lines_of: "tokens",
    words.SqlWords.put_lines: _KEYWORD_ROWS,
    words.TermChanges.gain: "counts of tokens",
    words.TermChanges.write: "counts of tokens",
    topics.TopicHashes.replace: "hashes of topics",
    records.SqlRecords._insert_chunks: "rows of `chunks`, and the embedding queue",
    messages.SqlMessages.on_put: "neighbors of messages",
    static_vectors._NewChunks.write: "static vectors",
    SqliteDatabase._commit: "commit",
}


def measure(home: Path, say: Callable[[str], None], *, quick: bool) -> list[Row]:
    """Return the rows about batches, steps, single adds and Postgres."""
    home.mkdir(parents=True, exist_ok=True)
    made = notes(3 * BATCH if quick else 11 * BATCH)
    found: list[Row] = []
    for batch in (1, 50, BATCH):
        say(f"adding {batch:,} at a time")
        some = made if batch > 1 else made[: 2 * BATCH]
        found.append(
            _rate_row(f"`add_many` of {batch:,}", rate(home / f"{batch}.db", some, batch))
        )
    say("with static vectors")
    found.append(
        _rate_row(f"`add_many` of {BATCH:,}, static vectors too", _static_rate(home, quick))
    )
    say("the steps")
    found += _shares(home / "steps.db", made)
    say("one by one, beside a bare insert")
    found.append(_single(home, made[: 60 if quick else 600]))
    say("Postgres")
    found += _postgres(home / "beside.db", made)
    return found


def rate(path: Path | str, made: Notes, batch: int, embedder: bool | None = False) -> float:
    """Return how many notes the writing thread adds in a second of its CPU time, in the middle."""
    with open_scrubjay(path, embedder) as store:
        store.add_many(made[:BATCH])  # what is imported and compiled late is now
        spent = [_cpu_s(store, part) / len(part) for part in _batches(made[BATCH:], batch)]
    return 1 / middle(spent)


def _cpu_s(store: Any, part: Notes) -> float:
    began = time.thread_time()
    store.add_many(part)
    return time.thread_time() - began


def _batches(made: Notes, batch: int) -> Iterator[Notes]:
    yield from (made[at : at + batch] for at in range(0, len(made), batch))


def _rate_row(what: str, found: float) -> Row:
    figure = f"{found:,.0f} memories a CPU second"
    is_judged = f"{BATCH:,}" in what
    return Row(
        f"{what}, notes of 30 words",
        figure,
        f"at least {_GOAL:,}" if is_judged else "",
        found >= _GOAL if is_judged else None,
    )


def _static_rate(home: Path, quick: bool) -> float:
    """Measure in a process that finds no model on this machine."""
    env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home), "SCRUBJAY_OFFLINE": "1"}
    command = [sys.executable, "-m", "bench.writing", str(home / "static.db")]
    count = str(3 * BATCH if quick else 11 * BATCH)
    done = subprocess.run([*command, count], env=env, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _shares(path: Path, made: Notes) -> list[Row]:
    """Return how the time of `add_many` divides into its steps, as a profiler sees it."""
    profile = cProfile.Profile()
    with open_scrubjay(path, False) as store:
        store.add_many(made[:BATCH])
        profile.enable()
        for part in _batches(made[BATCH:], BATCH):
            store.add_many(part)
        profile.disable()
    stats: dict[Any, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    whole = sum(own_s for _, _, own_s, *_ in stats.values())
    spent = dict.fromkeys(_STEPS.values(), 0.0)
    for function, step in _STEPS.items():
        assert isinstance(function, FunctionType)
        code = function.__code__
        found = stats.get((code.co_filename, code.co_firstlineno, code.co_name))
        spent[step] += found[3] if found else 0.0
    spent["everything else"] = whole - sum(spent.values())
    return [
        Row(f"share of `add_many` of {BATCH:,}: {step}", f"{seconds / whole:.0%}")
        for step, seconds in sorted(spent.items(), key=lambda item: -item[1])
        if seconds > 0
    ]


def _single(home: Path, made: Notes) -> Row:
    """Compare `add` without an embedder with a bare insert, one durable commit each."""
    wall, cpu = beside_inserts(home, False, [note["text"] for note in made])
    return Row(
        "`add` without an embedder beside a bare SQLite insert, one commit with `synchronous=FULL` each",
        f"{times(wall)} wall, {times(cpu)} CPU",
        f"at most {_ADD_GOAL}x CPU",
        cpu <= _ADD_GOAL,
    )


def _postgres(path: Path, made: Notes) -> list[Row]:
    """Write the same batches into a file and into Postgres in turns; its server's CPU counts."""
    try:
        server = Postgres(durable=True)
    except CannotRun as error:
        return [Row("Postgres", f"left out: {error}")]
    with server:
        server.execute("CREATE DATABASE writing")
        url = server.url_of("writing")
        with open_scrubjay(path, False) as file, open_scrubjay(url, False) as remote:
            costs: list[tuple[float, float, float, float]] = []
            for part in _batches(made, BATCH):
                first = time.perf_counter(), time.thread_time()
                file.add_many(part)
                then = time.perf_counter(), time.thread_time(), server.cpu_s()
                remote.add_many(part)
                last = time.perf_counter(), time.thread_time(), server.cpu_s()
                cpu_s = last[1] - then[1] + last[2] - then[2]
                costs.append((then[0] - first[0], then[1] - first[1], last[0] - then[0], cpu_s))
    wall, cpu, remote_wall, remote_cpu = (middle([c[n] for c in costs[1:]]) for n in range(4))
    ratio = remote_cpu / cpu
    return [
        Row(
            f"`add_many` of {BATCH:,} into Postgres, its server counted, beside a file",
            f"{times(ratio)} CPU, {times(remote_wall / wall)} wall",
            f"at most {_POSTGRES_GOAL}x CPU",
            ratio <= _POSTGRES_GOAL,
        )
    ]


if __name__ == "__main__":
    print(rate(sys.argv[1], notes(int(sys.argv[2])), BATCH, None))
