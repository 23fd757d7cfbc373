"""vault: three tiers beside one vault of the same entries, and all vectors beside numpy."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import scrubjay
from bench.corpus import Corpus, Vectors, generate
from bench.measure import cpu_s, middle
from bench.report import Row, times
from bench.systems import BATCH, Precomputed, add_vectors

TIERS = ("agent", "project", "team")
TIERS_GOAL = 2.0
VECTORS_GOAL = 2.0
_SEVERITIES = ("critical", "warning", "suggestion")
_DOMAINS = ("security", "testing", "design", "operations")
_TAGS = 200
_FOUND = 30

Say = Callable[[str], None]


class Plan(NamedTuple):
    """How much is measured."""

    entries: int = 100_000
    queries: int = 30
    rounds: int = 2


def measure(home: Path, say: Say, *, quick: bool) -> list[Row]:
    """Return all rows about vault; the stores are made below `home`."""
    plan = Plan(5_000, 5, 1) if quick else Plan()
    home.mkdir(parents=True, exist_ok=True)
    corpus = generate(len(TIERS) * plan.entries)
    files = {name: home / f"{name}.db" for name in TIERS}
    parts = _parts(len(corpus.texts), plan.entries)
    for name, part in zip(TIERS, parts, strict=True):
        say(f"vault: filling the tier {name} with {plan.entries:,} entries")
        _fill(files[name], corpus, part)
    say(f"vault: filling one vault with {len(corpus.texts):,} entries")
    one = home / "one.db"
    _fill(one, corpus, range(len(corpus.texts)))
    say("vault: asking both")
    return [*_tiers(one, files, corpus, plan), _vectors(files["agent"], corpus, plan)]


def _parts(count: int, each: int) -> list[range]:
    return [range(start, start + each) for start in range(0, count, each)]


def _fill(path: Path, corpus: Corpus, rows: range) -> None:
    """Write entries with severity, domain and tags, and their vectors."""
    chance = np.random.default_rng(rows.start)
    with scrubjay.open(str(path), embedder=False) as store:
        for start in range(rows.start, rows.stop, BATCH):
            store.add_many(
                {
                    "id": f"entry-{row}",
                    "title": " ".join(corpus.texts[row].split()[:4]),
                    "text": corpus.texts[row],
                    "severity": _SEVERITIES[row % 3],
                    "domain": _DOMAINS[row % 4],
                    "topics": [f"tag{tag}" for tag in chance.integers(0, _TAGS, 2)],
                }
                for row in range(start, min(start + BATCH, rows.stop))
            )
    add_vectors(path, corpus.vectors[rows.start : rows.stop])


def _tiers(one: Path, files: dict[str, Path], corpus: Corpus, plan: Plan) -> list[Row]:
    """Ask the same questions of three tiers and of one vault, in turns, with vectors and without."""
    rows = []
    given = {name: str(path) for name, path in files.items()}
    for how, embedder in (
        ("words and vectors", Precomputed(corpus.queries, corpus.query_vectors)),
        ("words alone", False),
    ):
        with (
            scrubjay.open(str(one), profile="vault", embedder=embedder) as vault,
            scrubjay.open(tiers=given, profile="vault", embedder=embedder) as tiers,
        ):
            spent = _turns((tiers, vault), corpus.queries[: plan.queries], plan.rounds)
        of_tiers, of_one = spent
        ratio = middle(of_tiers.cpu_s) / middle(of_one.cpu_s)
        wall = middle(of_tiers.wall_s) / middle(of_one.wall_s)
        what = (
            f"three tiers of {plan.entries:,} entries beside one vault of"
            f" {len(corpus.texts):,}, {how}, CPU p50"
        )
        figure = f"{times(ratio)} (wall p50 {times(wall)})"
        rows.append(Row(what, figure, f"under {TIERS_GOAL:g}x", max(ratio, wall) < TIERS_GOAL))
    return rows


class _Spent(NamedTuple):
    cpu_s: list[float]
    wall_s: list[float]


def _turns(
    stores: Sequence[scrubjay.Store], queries: Sequence[str], rounds: int
) -> tuple[_Spent, ...]:
    """Ask each store in turn, after a warm-up; an answer that lacks something is an error."""
    spent = tuple(_Spent([], []) for _ in stores)
    for number in range(rounds + 1):
        for query in queries:
            for store, sums in zip(stores, spent, strict=True):

                def ask(store: scrubjay.Store = store, query: str = query) -> None:
                    answer = store.search(query, limit=10, tags=["tag7"], domain="testing")
                    lacks = [one for one in answer.degraded if "embedder=False" not in one]
                    if lacks or not len(answer):
                        raise RuntimeError(f"{query}: {len(answer)} hits, {answer.degraded}")

                _time(sums if number else _Spent([], []), ask)
    return spent


def _time(spent: _Spent, do: Callable[[], object]) -> None:
    """Note the wall time of a call, and the CPU time of all threads until they rest."""
    took_s: list[float] = []

    def timed() -> None:
        began = time.perf_counter()
        do()
        took_s.append(time.perf_counter() - began)

    spent.cpu_s.append(cpu_s(timed))
    spent.wall_s.append(took_s[0])


def _vectors(path: Path, corpus: Corpus, plan: Plan) -> Row:
    """Compare a query with every stored vector, and with a float32 matrix in numpy."""
    from scrubjay.storage.sqlite.connection import SqliteDatabase
    from scrubjay.storage.sqlite.vectors import SqliteVector
    from scrubjay.types import Scope

    matrix = np.ascontiguousarray(corpus.vectors[: plan.entries])
    asked = corpus.query_vectors
    with closing(SqliteDatabase(str(path))) as db:
        index = SqliteVector(db)

        def ours(at: int) -> list[str]:
            found = index.search(asked[at], Precomputed.name, Scope(), _FOUND)
            return [row.id for row in found.rows]

        def numpys(at: int) -> list[str]:
            best = _nearest(matrix, asked[at])
            return [f"entry-{row}" for row in best]

        for at in range(len(asked)):
            if set(ours(at)) != set(numpys(at)):
                raise RuntimeError(f"query {at}: not the nearest {_FOUND}")
        mine, theirs = _Spent([], []), _Spent([], [])
        for _ in range(plan.rounds):
            for at in range(len(asked)):
                _time(mine, partial(ours, at))
                _time(theirs, partial(numpys, at))
    wall = middle(theirs.wall_s) / middle(mine.wall_s)
    cpu = middle(theirs.cpu_s) / middle(mine.cpu_s)
    what = (
        f"nearest {_FOUND} of {plan.entries:,} vectors, all compared: numpy float32, product and"
        " argpartition, beside scrubjay, ids and ages read as well, wall p50"
    )
    figure = f"{times(wall)} (CPU of all threads {times(cpu)})"
    return Row(what, figure, f"at least {VECTORS_GOAL:g}x", wall >= VECTORS_GOAL)


def _nearest(matrix: Vectors, query: Vectors) -> list[int]:
    scores = matrix @ query
    best = np.argpartition(scores, -_FOUND)[-_FOUND:]
    return [int(row) for row in best[np.argsort(-scores[best])]]
