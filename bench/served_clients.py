"""Many clients at once: searches with some writes among them, from several processes."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.corpus import Corpus
from bench.measure import percentile
from bench.report import Row, times
from bench.served import Way
from bench.served_queries import PROFILES
from bench.systems import Precomputed

PROCESSES = 4
THREADS = 4
_ONE_WRITE_IN = 10
_WARM_UP = 4
# What a search says of memories that were written a moment ago; that is no failure.
_NOT_YET = (" behind", "still wait for", "still waits for")


class Log(NamedTuple):
    """What some clients saw: how long each search and each write took, and what went wrong."""

    searches_s: list[float]
    writes_s: list[float]
    errors: Counter[str]
    not_yet: int

    def __add__(self, other: Log) -> Log:  # type: ignore[override]
        """Return what both saw."""
        return Log(
            self.searches_s + other.searches_s,
            self.writes_s + other.writes_s,
            self.errors + other.errors,
            self.not_yet + other.not_yet,
        )


def measure(ways: Sequence[Way], corpus: Path, new: Path, seconds: float) -> list[Row]:
    """Let sixteen clients work on each of these stores, then one client alone on the same."""
    rows: list[Row] = []
    for number, way in enumerate(ways):
        one = _crowd(way, corpus, new, seconds / 4, 1, 1, 2 * number)
        all_ = _crowd(way, corpus, new, seconds, PROCESSES, THREADS, 2 * number + 1)
        rows += _rows(way, one, all_, seconds)
    return rows


def _rows(way: Way, one: Log, all_: Log, seconds: float) -> list[Row]:
    crowd = f"{PROCESSES * THREADS} clients ({PROCESSES} processes of {THREADS} threads)"
    what = f"{crowd} for {seconds:.0f} s, {way.name}"
    failed = all_.errors.total()
    said = f": {all_.errors.most_common(3)}" if failed else ""
    p50, p95 = (percentile(all_.searches_s, share) for share in (0.5, 0.95))
    wrote50, wrote95 = (percentile(all_.writes_s, share) for share in (0.5, 0.95))
    gain = 4 * len(one.searches_s)
    alone = percentile(one.searches_s, 0.5)
    return [
        Row(
            f"{what}: errors",
            f"{failed} of {len(all_.searches_s):,} searches and {len(all_.writes_s):,} writes{said}",
            "none",
            not failed,
        ),
        Row(f"{what}: p95 of a search beside its p50, wall", times(p95 / p50)),
        Row(f"{what}: p95 of a write beside its p50, wall", times(wrote95 / wrote50)),
        Row(
            f"{what}: searches a second beside one client",
            f"{times(len(all_.searches_s) / gain)} ({len(all_.searches_s) / seconds:.1f} a second;"
            f" p50 of a search {times(p50 / alone)})",
        ),
        Row(
            f"{what}: answers that say that something new is not there yet",
            f"{all_.not_yet / max(1, len(all_.searches_s)):.0%}",
        ),
    ]


def _crowd(
    way: Way, corpus: Path, new: Path, seconds: float, processes: int, threads: int, run: int
) -> Log:
    spawn = get_context("spawn")
    with spawn.Manager() as manager, ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        start = manager.Barrier(processes)
        parts = [
            pool.submit(_process, way, corpus, new, seconds, threads, (run, number), start)
            for number in range(processes)
        ]
        logs = [part.result() for part in parts]
    return sum(logs[1:], logs[0])


def _process(
    way: Way,
    corpus: Path,
    new: Path,
    seconds: float,
    threads: int,
    who: tuple[int, int],
    start: Any,
) -> Log:
    """Open the store once, and let threads share it."""
    asked, fresh = Corpus.load(corpus), Corpus.load(new)
    embedder = Precomputed(
        [*asked.queries, *fresh.texts], np.vstack([asked.query_vectors, fresh.vectors])
    )
    logs = [Log([], [], Counter(), 0) for _ in range(threads)]
    with way.open(embedder, "novamem") as store:
        for query in asked.queries[:_WARM_UP]:
            store.search(query)
        start.wait()
        until = time.monotonic() + seconds
        running = [
            threading.Thread(
                target=_client,
                args=(store, asked.queries, fresh.texts, until, (*who, number), logs, number),
            )
            for number in range(threads)
        ]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    return sum(logs[1:], logs[0])


def _client(
    store: Any,
    queries: Sequence[str],
    texts: Sequence[str],
    until: float,
    who: tuple[int, ...],
    logs: list[Log],
    number: int,
) -> None:
    """Search and write until time is up; whatever is raised is counted, and work goes on."""
    from scrubjay.errors import ScrubjayError

    chance = random.Random(repr(who))
    turn, spent, log = 0, (list[float](), list[float]()), logs[number]
    not_yet = 0
    while time.monotonic() < until:
        turn += 1
        writes = chance.randrange(_ONE_WRITE_IN) == 0
        profile, mode = PROFILES[turn % len(PROFILES)]
        began = time.perf_counter()
        try:
            if writes:
                # The same text twice would be one memory.
                store.add(chance.choice(texts), id="-".join(map(str, (*who, turn))))
                lacks: tuple[str, ...] = ()
            else:
                lacks = store.search(chance.choice(queries), profile=profile, mode=mode).degraded
        except ScrubjayError as error:
            log.errors[str(error)] += 1
            continue
        spent[writes].append(time.perf_counter() - began)
        wrong = [one for one in lacks if not any(said in one for said in _NOT_YET)]
        log.errors.update(wrong[:1])
        not_yet += bool(lacks) and not wrong
    logs[number] = log._replace(searches_s=spent[0], writes_s=spent[1], not_yet=not_yet)
