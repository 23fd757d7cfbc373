"""The doors: a search over HTTP beside the library, and the MCP handshake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench import door_handshake, door_speed
from bench.corpus import generate
from bench.door_processes import environment
from bench.report import Row
from bench.systems import fill_scrubjay, open_scrubjay

Say = Callable[[str], None]


class Plan(NamedTuple):
    """How much is measured."""

    memories: int = 5_000
    rounds: int = 4
    starts: int = 15


def measure(home: Path, say: Say, *, quick: bool) -> list[Row]:
    """Return all rows about the doors; the store is made below `home`, with the model of the settings."""
    plan = Plan(300, 2, 5) if quick else Plan()
    home.mkdir(parents=True, exist_ok=True)
    corpus = generate(plan.memories)
    database = home / "memories.db"
    say(f"doors: writing {plan.memories:,} memories with their vectors")
    with open_scrubjay(database, None) as store:
        fill_scrubjay(store, corpus.texts)
    env = environment(home / "bytecode")
    rows: list[Row] = []
    say("doors: MCP handshakes")
    rows += door_handshake.measure(database, env, plan.starts)
    say("doors: searches over HTTP, and by calling the library")
    rows += door_speed.measure(database, env, corpus.queries, plan.rounds)
    return rows
