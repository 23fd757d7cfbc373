"""Searches over HTTP beside calls of the library, of the same store with the same questions."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psutil

from bench.door_processes import Served, lacks_meaning
from bench.measure import percentile
from bench.report import Row, times

PROFILES = ("default", "default:keyword")
CROWDS = (1, 8)
_LIMIT = 10
_LEARN_S = 60.0

Ask = Callable[[str, str], Any]


class Taken(NamedTuple):
    """The seconds of every request and of all of them together, and the CPU seconds of who answered."""

    each_s: list[float]
    all_s: float
    cpu_s: float

    @property
    def a_second(self) -> float:
        """Requests a second."""
        return len(self.each_s) / self.all_s

    @property
    def cpu_of_one_s(self) -> float:
        """CPU seconds of a request."""
        return self.cpu_s / len(self.each_s)


def measure(
    database: Path, env: Mapping[str, str], queries: Sequence[str], rounds: int
) -> list[Row]:
    """Ask by both ways in turns, alone and eight at once."""
    rows: list[Row] = []
    spawned = get_context("spawn")  # a forked child would begin with our threads
    with Served(database, env) as served, ProcessPoolExecutor(1, mp_context=spawned) as pool:
        pool.submit(_open, str(database)).result()
        with ThreadPoolExecutor(max(CROWDS)) as threads:
            door, server = _Door(served.url), psutil.Process(served.pid)
            for profile in PROFILES:
                _learn(door, profile)
                for crowd in CROWDS:
                    by_call, by_door = [], []
                    for _ in range(rounds):
                        given = (profile, list(queries), crowd)
                        by_call.append(pool.submit(_called, *given).result())
                        by_door.append(
                            _asked(door.search, *given, threads, lambda: _cpu_s(server))
                        )
                    rows.append(_row(profile, crowd, by_call, by_door))
        pool.submit(_close).result()
    return rows


def _row(profile: str, crowd: int, by_call: list[Taken], by_door: list[Taken]) -> Row:
    library, http_ = _joined(by_call), _joined(by_door)
    many = "1 client" if crowd == 1 else f"{crowd} clients"
    thread = "1 thread" if crowd == 1 else f"{crowd} threads"

    def beside(share: float) -> str:
        return times(percentile(http_.each_s, share) / percentile(library.each_s, share))

    return Row(
        f"`POST /v1/search`, `{profile}`, {many}, beside `search()` in one process, {thread}:"
        " requests a second",
        f"{times(http_.a_second / library.a_second)}"
        f" (p50 of a request {beside(0.5)}, p95 {beside(0.95)}, CPU of the answering process"
        f" {times(http_.cpu_of_one_s / library.cpu_of_one_s)})",
    )


def _joined(some: list[Taken]) -> Taken:
    each_s = [one for each in some for one in each.each_s]
    return Taken(each_s, sum(one.all_s for one in some), sum(one.cpu_s for one in some))


def _cpu_s(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)


class _Door:
    """Clients of a server, each thread with a connection that it keeps."""

    def __init__(self, url: str) -> None:
        self._place = urlsplit(url)
        self._mine = threading.local()

    def search(self, query: str, profile: str) -> Any:
        """Have one query answered."""
        body = json.dumps({"query": query, "profile": profile, "limit": _LIMIT})
        try:
            status, read = self._post(body)
        except (
            ConnectionError
        ):  # the server hung up, as it does while the library is asked for long
            del self._mine.link
            status, read = self._post(body)
        if status != 200:
            raise RuntimeError(f"{status}: {read[:400]!r}")
        return json.loads(read)

    def _post(self, body: str) -> tuple[int, bytes]:
        link: http.client.HTTPConnection | None = getattr(self._mine, "link", None)
        if link is None:
            link = http.client.HTTPConnection(str(self._place.hostname), self._place.port)
            self._mine.link = link
        link.request("POST", "/v1/search", body, {"Content-Type": "application/json"})
        answer = link.getresponse()
        return answer.status, answer.read()


def _learn(door: _Door, profile: str) -> None:
    """Ask until the server has loaded its model and its vectors."""
    until = time.monotonic() + _LEARN_S
    while lacks_meaning(door.search("the first question of all", profile)["degraded"]):
        if time.monotonic() > until:
            raise RuntimeError("the server did not load its model")
        time.sleep(0.05)


def _asked(
    ask: Ask,
    profile: str,
    queries: Sequence[str],
    crowd: int,
    threads: ThreadPoolExecutor,
    cpu_s: Callable[[], float],
) -> Taken:
    """Ask everything, so many at once."""
    waiting = iter(queries)
    next_one = threading.Lock()
    each_s: list[float] = []

    def go_on() -> None:
        while True:
            with next_one:
                query = next(waiting, None)
            if query is None:
                return
            began = time.perf_counter()
            ask(query, profile)
            each_s.append(time.perf_counter() - began)

    began, used_s = time.perf_counter(), cpu_s()
    for one in [threads.submit(go_on) for _ in range(crowd)]:
        one.result()
    return Taken(each_s, time.perf_counter() - began, cpu_s() - used_s)


_OPEN: list[Any] = []


def _open(path: str) -> None:
    import scrubjay

    store = scrubjay.open(path)
    for profile in PROFILES:
        found = store.search("the first question of all", profile=profile)
        if lacks_meaning(list(found.degraded)):
            raise RuntimeError(f"{profile}: {found.degraded}")
    _OPEN.append(store)


def _called(profile: str, queries: Sequence[str], crowd: int) -> Taken:
    """Ask the library, as many threads at once as there are clients elsewhere."""

    def ask(query: str, profile: str) -> Any:
        return _OPEN[0].search(query, profile=profile, limit=_LIMIT)

    with ThreadPoolExecutor(crowd) as threads:
        return _asked(ask, profile, queries, crowd, threads, time.process_time)


def _close() -> None:
    _OPEN.pop().close()
