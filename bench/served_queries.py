"""Hybrid queries through servers beside the same through a file, in turns, a process each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

from bench.corpus import Corpus
from bench.hybrid import exact, overlap
from bench.measure import percentile
from bench.report import Row, times
from bench.served import Asked, Client, Machines, Way

PROFILES = (("default", "fast"), ("novamem", None))
_WARM_UP = 8


class _Lane(NamedTuple):
    client: Client
    answers: list[Asked]
    server_cpu_s: list[float]

    def wall(self, share: float) -> float:
        return percentile([one.wall_s for one in self.answers], share)

    def cpu(self) -> float:
        """Return the CPU of all queries, that of the servers with it."""
        return sum(one.cpu_s for one in self.answers) + sum(self.server_cpu_s)

    def ids(self) -> list[list[str]]:
        return [one.ids for one in self.answers]


def race(ways: Sequence[Way], machines: Machines, corpus: Corpus, rounds: int) -> list[Row]:
    """Put each query to each way in turn; the first way is what the others are set beside."""
    rows: list[Row] = []
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(way, corpus)) for way in ways]
        rows += _cold(clients, corpus)
        for profile, mode in PROFILES:
            lanes = _asked(clients, machines, corpus, rounds, profile, mode)
            rows += _beside(lanes, len(corpus.texts), f"`{profile}{f':{mode}' if mode else ''}`")
        wanted = exact(corpus)
        recalls = []
        for client in clients:
            found = [client.ask(query, "default", "vector").ids for query in corpus.queries]
            recalls.append(f"{client.way.name} {overlap(found, wanted):.3f}")
    size = f"{len(corpus.texts) // 1000}k"
    rows.append(Row(f"vector tier, {size}: recall@10", "; ".join(recalls)))
    return rows


def _cold(clients: Sequence[Client], corpus: Corpus) -> list[Row]:
    """Say what a process has spent when it has its first answer: what is imported, opened, read."""
    spent = [client.ask(corpus.queries[0], "novamem", None).process_cpu_s for client in clients]
    return [
        Row(
            f"a process up to its first answer, `novamem`: {client.way.name} beside"
            f" {clients[0].way.name}, CPU of the process",
            times(cpu_s / spent[0]),
        )
        for client, cpu_s in zip(clients[1:], spent[1:], strict=True)
    ]


def _asked(
    clients: Sequence[Client],
    machines: Machines,
    corpus: Corpus,
    rounds: int,
    profile: str,
    mode: str | None,
) -> list[_Lane]:
    lanes = [_Lane(client, [], []) for client in clients]
    for query in corpus.queries[:_WARM_UP]:
        for client in clients:
            client.ask(query, profile, mode)
    for turn in range(rounds * len(corpus.queries)):
        query = corpus.queries[turn % len(corpus.queries)]
        first = turn % len(lanes)  # who follows a large scan finds the processor's cache empty
        for lane in (*lanes[first:], *lanes[:first]):
            before_s = machines.cpu_s()
            lane.answers.append(lane.client.ask(query, profile, mode))
            lane.server_cpu_s.append(machines.cpu_s() - before_s)
    return lanes


def _beside(lanes: Sequence[_Lane], count: int, profile: str) -> list[Row]:
    own = lanes[0]
    rows = []
    for lane in lanes[1:]:
        same = [a == b for a, b in zip(lane.ids(), own.ids(), strict=True)]
        wall = lane.wall(0.5) / own.wall(0.5)
        figure = (
            f"{times(wall)} (p95 {times(lane.wall(0.95) / own.wall(0.95))},"
            f" CPU with that of the servers {times(lane.cpu() / own.cpu())})"
        )
        what = f"hybrid query, {count // 1000}k, {profile}: {lane.client.way.name}"
        rows.append(Row(f"{what} beside {own.client.way.name}, wall p50", figure))
        rows.append(
            Row(
                f"{what}: queries with the same ten ids in the same order",
                f"{sum(same) / len(same):.0%} (share of the ten that are the same:"
                f" {overlap(lane.ids(), own.ids()):.3f})",
            )
        )
    return rows
