"""What a server costs that hangs: the first search, those after it, and the way back."""

from __future__ import annotations

import time
from typing import Any

from tools.servers import Server

from bench.corpus import Corpus
from bench.measure import middle, percentile
from bench.report import Row, times
from bench.served import Machines, Way
from bench.systems import Precomputed

TIMEOUT_S = 1.0
REST_S = 1.0  # between the failure and the first ping; twice as long after each that fails
_BACK_MOST_S = 60.0
_GOAL = 1.25
_NOT_SLOWER = 1.1


def measure(way: Way, machines: Machines, corpus: Corpus) -> list[Row]:
    """Let each server hang in the middle of searches, and come back."""
    rows: list[Row] = []
    embedder = Precomputed(corpus.queries, corpus.query_vectors)
    with way.impatient(TIMEOUT_S).open(embedder, "novamem") as store:
        for server in (machines.qdrant, machines.falkordb):
            rows += _outage(store, server, corpus)
    return rows


def _outage(store: Any, server: Server, corpus: Corpus) -> list[Row]:
    for query in corpus.queries[:8]:
        _search_s(store, query, lacks=False)
    normal = [_search_s(store, query, lacks=False) for query in corpus.queries]
    server.pause()
    try:
        stopped = time.monotonic()
        first_s = _search_s(store, corpus.queries[0], lacks=True)
        after = [_search_s(store, query, lacks=True) for query in corpus.queries]
    finally:
        server.resume()
    back = time.monotonic()
    while store.search(corpus.queries[0]).degraded:
        if time.monotonic() - back > _BACK_MOST_S:
            raise RuntimeError(f"{server.name} answers again, and is not asked")
        time.sleep(0.02)
    noticed_s = time.monotonic() - back
    # Usual ones are timed before and after: a shared machine is not the same for long.
    normal += [_search_s(store, query, lacks=False) for query in corpus.queries]
    extra = (first_s - middle(normal)) / TIMEOUT_S
    slower = middle(after) / middle(normal)
    slowest = percentile(after, 0.95) / percentile(normal, 0.95)
    return [
        Row(
            f"{server.name} hangs: the first search beyond a usual one, in time-outs",
            times(extra),
            "one time-out",
            extra <= _GOAL,
        ),
        Row(
            f"{server.name} hangs: the {len(after)} searches after that beside usual ones, wall p50",
            f"{times(slower)} (p95 {times(slowest)})",
            "no more than a usual one",
            slower <= _NOT_SLOWER,
        ),
        Row(
            f"{server.name} answers again after {(back - stopped) / REST_S:.0f} rests: noticed after",
            f"{times(noticed_s / REST_S)} the first rest between pings",
        ),
    ]


def _search_s(store: Any, query: str, *, lacks: bool) -> float:
    """Search, and make sure that the answer lacks something or not."""
    began = time.perf_counter()
    answer = store.search(query)
    took_s = time.perf_counter() - began
    if bool(answer.degraded) != lacks or not len(answer):
        raise RuntimeError(f"{query}: {len(answer)} hits, {answer.degraded}")
    return took_s
