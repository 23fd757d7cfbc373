"""Two passes beside one: how many of the nearest a shortlist by short vectors holds, and how fast."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.corpus import Vectors
from bench.measure import cpu_s, middle
from bench.report import Row, times
from bench.sentences import embedded, sentences
from scrubjay.storage.sql.records import SqlRecords
from scrubjay.storage.sql.vectors import SqlEmbeddingQueue
from scrubjay.storage.sqlite.cache import copies as vector_copies
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.vectors import SqliteVector
from scrubjay.types import Chunk, Memory, Scope

GOAL = 2.0
LEAST_RECALL = 0.99
_MODEL = "bench"
_AT = datetime(2026, 1, 1, tzinfo=UTC)
_TOP, _DEEP = 10, 64
_SHORT = (32, 64, 128)
_LISTS = (100, 200, 400)
_DEEP_LISTS = (200, 400, 800)
_EVERYTHING = Scope()
_BLOCK = 10

Say = Callable[[str], None]
Numbers = NDArray[np.int64]


class Plan(NamedTuple):
    """How much is measured."""

    vectors: int = 100_000
    queries: int = 500
    timed: int = 100


def measure(home: Path, say: Say, *, folder: Path | None, quick: bool) -> list[Row]:
    """Return all rows about two passes; the store is made below `home`."""
    from scrubjay.models.embed.local import OnnxEmbedder
    from scrubjay.models.guard import is_ready

    if not is_ready(OnnxEmbedder()):
        return [Row("two passes", "the model is not here: scrubjay models pull")]
    plan = Plan(22_000, 50, 10) if quick else Plan()
    say("sentences, and their vectors unless they are kept from before")
    texts = sentences(plan.vectors + plan.queries, folder)
    if len(texts) < 2 * plan.queries + 20_000:
        return [Row("two passes", f"there are {len(texts):,} sentences here, too few")]
    every = embedded(texts)
    stored, queries = every[: -plan.queries], every[-plan.queries :]
    say(f"storing {len(stored):,} vectors, and fitting a rotation")
    vector_copies.MIN_CACHED = len(stored) + 1  # cells would make the shortlists
    home.mkdir(parents=True, exist_ok=True)
    with closing(SqliteDatabase(str(home / "vectors.db"))) as db:
        index = _filled(db, stored)
        index.fit(_MODEL, ())
        fitted = index.rotations.of(_MODEL)
        if fitted is None:
            raise RuntimeError("no rotation was fitted")
        usual = fitted.short_dims
        what = f"{len(stored):,} sentences, {stored.shape[1]} numbers a vector"
        say("asking")
        for short in {*_SHORT, usual}:  # copies are made in the background at the first search
            index.search(stored[0], _MODEL, _EVERYTHING, 1, shortlist=1, short_dims=short)
        index.short.wait()
        best = _nearest(stored, queries, _DEEP)
        return [
            Row(
                f"{what}: recall@{_TOP} as `status` shows it, {fitted.short_dims} numbers, shortlist"
                f" {fitted.shortlist}, {fitted.trials} stored vectors asked",
                f"{fitted.recall:.4f}",
                f"at least {LEAST_RECALL}",
                fitted.recall >= LEAST_RECALL,
            ),
            *_recalls(index, queries, best, _TOP, sorted({*_SHORT, usual}), _LISTS),
            *_recalls(index, queries, best, _DEEP, dict.fromkeys((64, usual, 128)), _DEEP_LISTS),
            *_times(
                index, stored, queries, plan, _TOP, [*((usual, one) for one in _LISTS), (64, 200)]
            ),
            *_times(index, stored, queries, plan, _DEEP, [(usual, one) for one in _DEEP_LISTS]),
        ]


def _filled(db: SqliteDatabase, vectors: Vectors) -> SqliteVector:
    """Store a memory for each vector."""
    records, index = SqlRecords(db), SqliteVector(db)
    SqlEmbeddingQueue(db).activate(_MODEL, vectors.shape[1])
    with records.transaction():
        for n in range(len(vectors)):
            memory = Memory(text="-", id=str(n), created_at=_AT, updated_at=_AT)
            records.put(memory, [Chunk(0, 0, 1, 1, 1, "")])
    with db.read() as reading:
        chunks = reading.execute(
            "SELECT c.n, m.id FROM chunks AS c JOIN memories AS m ON m.n = c.memory"
        ).fetchall()
    index.add(_MODEL, [(chunk, vectors[int(id_)]) for chunk, id_ in chunks])
    return index


def _nearest(stored: Vectors, queries: Vectors, most: int) -> list[Numbers]:
    """Return the nearest of each query by whole float32 vectors, best first."""
    found = []
    for query in queries:
        cosines = stored @ query
        near = np.argpartition(-cosines, most)[:most]
        found.append(near[np.argsort(-cosines[near])])
    return found


def _recalls(
    index: SqliteVector,
    queries: Vectors,
    best: Sequence[Numbers],
    limit: int,
    shorts: Iterable[int],
    lists: Sequence[int],
) -> list[Row]:
    """Compare what two passes find with the nearest of all."""
    rows = []
    for short in shorts:
        shares = []
        for shortlist in lists:
            held = 0
            for query, right in zip(queries, best, strict=True):
                found = index.search(
                    query, _MODEL, _EVERYTHING, limit, shortlist=shortlist, short_dims=short
                )
                held += len({int(row.id) for row in found.rows} & {*right[:limit].tolist()})
            shares.append(held / limit / len(queries))
        shown = ", ".join(
            f"{share:.4f} of {shortlist}" for share, shortlist in zip(shares, lists, strict=True)
        )
        goal = short == 64 and limit == _TOP
        rows.append(
            Row(
                f"recall@{limit} of a shortlist by {short} numbers, {len(queries)} sentences asked"
                " that are not stored",
                shown,
                f"at least {LEAST_RECALL} of 200" if goal else "",
                shares[lists.index(200)] >= LEAST_RECALL if goal else None,
            )
        )
    return rows


def _times(
    index: SqliteVector,
    stored: Vectors,
    queries: Vectors,
    plan: Plan,
    limit: int,
    shorts: Sequence[tuple[int, int]],
) -> list[Row]:
    """Ask in one pass, in two, and by numpy, in turns, a block of queries each."""
    ask = partial(index.search, model=_MODEL, scope=_EVERYTHING, limit=limit)
    one, bare = "one pass, int8, all numbers", "numpy float32, product and argpartition"
    ways: Mapping[str, Callable[[Vectors], object]] = {
        one: ask,
        bare: lambda query: np.argpartition(-(stored @ query), limit)[:limit],
        **{
            _two(short, count): partial(ask, shortlist=count, short_dims=short)
            for short, count in shorts
        },
    }
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    wall: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(plan.timed // _BLOCK):
        for shift, (name, way) in enumerate(ways.items()):
            # A block of queries each: who asks one way only has the caches of the processor to itself.
            # Another query each time: a scan is kept for who asks the same again.
            for at in range(_BLOCK):
                query = queries[(turn * _BLOCK + at + 37 * shift) % len(queries)]
                took: list[float] = []
                clocked = partial(_clocked, way, query, took)
                # Only numpy's threads go on after its answer, and have to be waited for.
                spent_s = cpu_s(clocked) if name == bare else _cpu_s(clocked)
                if at:  # the first of a block does not count
                    cpu[name].append(spent_s)
                    wall[name].append(took[0])
    rows = []
    for place, (short, count) in enumerate(shorts):
        two = _two(short, count)
        goal = place == 1 and limit == _TOP  # the usual shortlist by the usual numbers
        for other in (one, bare):
            ratio, by_wall = (middle(of[other]) / middle(of[two]) for of in (cpu, wall))
            of_cpu = f"CPU p50 {times(ratio)}, wall p50 {times(by_wall)}"
            row = Row(f"nearest {limit}: {other}, beside {two}", of_cpu)
            if goal and other == one:
                row = Row(row.what, of_cpu, f"at least {GOAL:.0f}x", min(ratio, by_wall) >= GOAL)
            rows.append(row)
    return rows


def _cpu_s(do: Callable[[], object]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began


def _two(short: int, shortlist: int) -> str:
    return f"two passes, {short} numbers, shortlist {shortlist}"


def _clocked(way: Callable[[Vectors], object], query: Vectors, took_s: list[float]) -> None:
    began = time.perf_counter()
    way(query)
    took_s.append(time.perf_counter() - began)
