"""Servers beside a file: queries, writing, many clients at once, and what a hanging server costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench import served_clients, served_outages, served_queries, served_writing
from bench.corpus import Corpus, generate
from bench.report import Row
from bench.served import Machines, Way, copy_file, fill
from bench.served_writing import Rate, fed, seconds, written

_NEW_SEED = 21

Say = Callable[[str], None]


class Plan(NamedTuple):
    """How much is measured."""

    memories: int = 100_000
    rounds: int = 2
    written: int = 5_000
    linked: int = 1_000
    crowd_s: float = 60.0


def measure(home: Path, say: Say, *, quick: bool) -> list[Row]:
    """Return all rows about servers, which are started for it; files are made below `home`."""
    plan = Plan(5_000, 1, 500, 200, 10.0) if quick else Plan()
    corpus, new = generate(plan.memories), generate(plan.written, _NEW_SEED)
    corpus.save(home / "corpus")
    new.save(home / "new")
    rows: list[Row] = []

    def keep(found: list[Row]) -> None:
        """Show figures as they come: all of it takes long."""
        rows.extend(found)
        for row in found:
            say(row.markdown())

    with Machines() as machines:
        ways, promoted, told = _filled(machines, home, corpus, say)
        say("servers: waiting until Qdrant has built its indexes")
        machines.settle()
        say("servers: asking all four")
        keep(served_queries.race(ways, machines, corpus, plan.rounds))
        say("servers: a server hangs")
        keep(served_outages.measure(ways[2], machines, corpus))
        say(f"servers: {served_clients.PROCESSES * served_clients.THREADS} clients at once")
        # The exact path last: to it, what Qdrant has of the words is forgotten.
        crowd = [ways[2], ways[0], ways[2].exact()]
        keep(served_clients.measure(crowd, home / "corpus", home / "new", plan.crowd_s))
        plain = _writing(machines, home, new, say, links=False)
        linked = _writing(machines, home, _first(new, plan.linked), say, links=True)
        keep(served_writing.rows(plain, linked, promoted, told))
    return rows


def _writing(
    machines: Machines, home: Path, corpus: Corpus, say: Say, *, links: bool
) -> list[tuple[Way, Rate]]:
    """Write into an empty store of each kind."""
    rates = []
    name = "linked" if links else "plain"
    for way in machines.ways(name, home / name):
        say(f"servers: writing {len(corpus.texts):,} memories: {way.name}")
        if way.path.startswith("postgres"):
            machines.database(way)
        rates.append((way, written(way, corpus, links=links)))
    return rates


def _filled(
    machines: Machines, home: Path, corpus: Corpus, say: Say
) -> tuple[list[Way], Rate, list[tuple[Way, Rate]]]:
    """Fill a file, promote a copy of it to Postgres, and let the servers of the others know."""
    from scrubjay.ops.promote.run import promote

    file, one, three, and_two = ways = machines.ways("all", home / "all")
    count = len(corpus.texts)
    say(f"servers: filling a file with {count:,} memories")
    fill(file.path, corpus)
    copy_file(file, and_two)
    machines.database(one)
    say("servers: promoting it to Postgres")
    took_s = seconds(lambda: promote(file.path, one.path, keep=True))
    machines.database(three, template=one)
    told = []
    for way in ways:
        say(f"servers: making ready: {way.name}")
        rate = fed(way, corpus)
        if way in (three, and_two):
            told.append((way, rate))
    return ways, Rate(count, took_s), told


def _first(corpus: Corpus, count: int) -> Corpus:
    return Corpus(
        corpus.texts[:count],
        corpus.vectors[:count],
        corpus.queries,
        corpus.query_vectors,
        corpus.topics[:count],
    )
