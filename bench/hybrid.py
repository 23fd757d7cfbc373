"""Hybrid queries beside the peers: same texts and vectors, a process a system, in turns."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.corpus import Corpus
from bench.measure import disk_bytes, percentile
from bench.report import Row, size, times
from bench.systems import LIMIT, SCRUBJAY, System
from bench.workers import Answer, Worker, build

GOAL = 3.0
GOAL_FROM = 10_000
WARM_UP = 8


@dataclass(slots=True)
class Outcome:
    """What one system did with all queries of one corpus."""

    system: System
    count: int
    answers: list[Answer] = field(default_factory=list)
    nearest: list[list[str]] = field(default_factory=list)
    peak: int | None = None
    disk: int = 0

    def cpu(self, share: float) -> float:
        """CPU seconds of a query, at a percentile."""
        return percentile([answer.cpu_s for answer in self.answers], share)

    def wall(self, share: float) -> float:
        """Wall seconds of a query, at a percentile."""
        return percentile([answer.wall_s for answer in self.answers], share)


def race(
    systems: Sequence[System], corpus: Corpus, saved: Path, home: Path, rounds: int
) -> list[Outcome]:
    """Fill every store, then put each query to each system in turn, `rounds` times over."""
    build(systems, saved, home)
    outcomes = [Outcome(system, len(corpus.texts)) for system in systems]
    questions = list(zip(corpus.queries, corpus.query_vectors, strict=True))
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(system, home)) for system in systems]
        lanes = list(zip(workers, outcomes, strict=True))
        for text, vector in questions[:WARM_UP]:
            for worker in workers:
                worker.ask("hybrid", text, vector)
        for turn in range(rounds * len(questions)):
            text, vector = questions[turn % len(questions)]
            # Another one begins each time: who follows a large scan finds the processor's cache empty.
            first = turn % len(lanes)
            for worker, outcome in (*lanes[first:], *lanes[:first]):
                outcome.answers.append(worker.ask("hybrid", text, vector))
        for text, vector in questions:
            for worker, outcome in lanes:
                outcome.nearest.append(worker.ask("nearest", text, vector).ids)
    for worker, outcome in lanes:
        outcome.peak = worker.peak
        outcome.disk = disk_bytes(home / outcome.system.folder)
    return outcomes


def rows(outcomes: Sequence[Outcome], corpus: Corpus) -> list[Row]:
    """Set every peer beside scrubjay: how many times its CPU, and how alike the answers are."""
    own = next(one for one in outcomes if one.system is SCRUBJAY)
    count = f"{own.count // 1000}k"
    nearest = exact(corpus)
    found = [
        Row(
            f"hybrid query, {count}: scrubjay's p95 beside its own p50, CPU",
            times(own.cpu(0.95) / own.cpu(0.5)),
        )
    ]
    for peer in (one for one in outcomes if one is not own):
        ratio = peer.cpu(0.5) / own.cpu(0.5)
        judged = peer.system.judged and own.count >= GOAL_FROM
        found.append(
            Row(
                f"hybrid query, {count}: {peer.system.name} beside scrubjay, CPU p50",
                f"{times(ratio)} (p95 {times(peer.cpu(0.95) / own.cpu(0.95))},"
                f" wall p50 {times(peer.wall(0.5) / own.wall(0.5))})",
                f"at least {GOAL:.0f}x" if judged else "",
                ratio >= GOAL if judged else None,
            )
        )
    recalls = [f"{one.system.name} {overlap(one.nearest, nearest):.3f}" for one in outcomes]
    found.append(Row(f"vector list, {count}: share of the exact top {LIMIT}", ", ".join(recalls)))
    ours = [answer.ids for answer in own.answers]
    alike = [
        f"{one.system.name} {overlap([answer.ids for answer in one.answers], ours):.2f}"
        for one in outcomes
        if one is not own
    ]
    if alike:
        what = f"hybrid query, {count}: share of scrubjay's top {LIMIT} that a peer has too"
        found.append(Row(what, ", ".join(alike)))
    return found


def footprint(outcomes: Sequence[Outcome], corpus: Corpus) -> list[Row]:
    """Set memory beside the int8 matrix that an exact scan must read, and disk beside raw data."""
    matrix = corpus.vectors.size
    count = f"{len(corpus.texts) // 1000}k"
    found = []
    for one in outcomes:
        if one.peak is not None:
            what = f"peak memory of a search process, {count}: {one.system.name}"
            ratio = f"{times(one.peak / matrix)} the int8 vectors"
            found.append(Row(what, f"{size(one.peak)}, {ratio}"))
    shown: set[str] = set()
    for one in outcomes:
        if one.system.folder not in shown:
            shown.add(one.system.folder)
            name = one.system.name.partition(" `")[0].rstrip(",")
            ratio = f"{times(one.disk / corpus.raw_bytes)} the raw text and float32 vectors"
            found.append(
                Row(
                    f"file size a memory, {count}: {name}",
                    f"{size(one.disk / one.count)}, {ratio}",
                )
            )
    return found


def exact(corpus: Corpus) -> list[list[str]]:
    """Return the true nearest by comparing every vector in float32."""
    scores = corpus.query_vectors @ corpus.vectors.T
    best = np.argsort(-scores, axis=1, kind="stable")[:, :LIMIT]
    return [[str(row) for row in line] for line in best.tolist()]


def overlap(found: Sequence[list[str]], wanted: Sequence[list[str]]) -> float:
    """Return the mean share of the wanted ids that were found."""
    shares = [len({*a} & {*b}) / max(1, len(b)) for a, b in zip(found, wanted, strict=True)]
    return float(np.mean(shares))
