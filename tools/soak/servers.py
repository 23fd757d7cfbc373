"""Kill commands, and servers under them: a real Postgres, Qdrant and FalkorDB.

A store is moved from its file to Postgres and back, filled and indexed, while its commands are killed, or a
server is killed and started again in the middle of one. After a move that was cut short exactly one of the
two places accepts writes, and another run finishes it. Nothing acknowledged is missing, and the replicas
find everything once they were filled again.
"""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import scrubjay
from scrubjay.errors import ScrubjayError
from scrubjay.ops.promote.run import parse_place
from tools.servers import CannotRun, FalkorDB, Postgres, Qdrant, Server
from tools.soak.commands import Command, Series
from tools.soak.embedder import SoakEmbedder
from tools.soak.forks import Ended, Forks, Request
from tools.soak.rounds import Bench, Outcome
from tools.soak.states import Key, States, Value, problems

STEPS = 24  # of one store
FIRST = 6  # of them fill it
CLIENTS = ("psycopg", "psycopg_pool", "qdrant_client", "falkordb")
VERBS = ("add", "add", "update", "forget", "link", "feedback", "key", "import", "ingest")
REPLICA_COMMANDS = (
    ("reindex", "vectors"),
    ("reindex", "graph"),
    ("reindex", "vectors", "--drop"),
    ("reindex", "graph", "--drop"),
)
LIKELY_S = 1.0  # how long a command takes that was not measured yet
SEARCHED = 5


@dataclass
class Servers:
    """The three servers of a round."""

    postgres: Postgres
    qdrant: Qdrant
    falkordb: FalkorDB

    @property
    def replicas(self) -> list[str]:
        return ["--vectors", f"{self.qdrant.url}/soak", "--graph", f"{self.falkordb.url}/soak"]


@dataclass
class Moving:
    """One store, at its place now, with what it must hold."""

    bench: Bench
    servers: Servers
    forks: Forks
    chance: random.Random
    outcome: Outcome
    file: str
    url: str
    series: Series
    states: States = field(default_factory=States)
    usual_s: dict[str, float] = field(default_factory=dict)
    probes: int = 0

    def __post_init__(self) -> None:
        self.place = self.file

    def run(self, *words: str, calm: bool = False) -> Ended:
        """Run a command at the place of the store, and disturb it."""
        request = Request([[*words, "--db", self.place, *self.servers.replicas]])
        usual_s = self.usual_s.get(words[0], LIKELY_S)
        how = "calm" if calm else self.chance.choice(("calm", "kill", "server"))
        begun = time.monotonic()
        if how == "kill":
            request.kill_after_s = self.chance.uniform(0, usual_s)
        self.forks.begin(request)
        if how == "server":
            server = self._server(words[0])
            time.sleep(self.chance.uniform(0, usual_s))
            server.kill()
            server.start()
            self.note(server.name)
        ended = self.forks.end()
        if how == "calm":
            self.usual_s[words[0]] = time.monotonic() - begun
        elif how == "kill" and ended.signal:
            self.note(words[0])
        self.look_at(ended, words, calm=how == "calm")
        return ended

    def _server(self, verb: str) -> Server:
        servers = self.servers
        if verb in ("promote", "demote"):
            return self.chance.choice((servers.postgres, servers.qdrant, servers.falkordb))
        replicas: tuple[Server, ...] = (servers.qdrant, servers.falkordb)
        return self.chance.choice(
            replicas if self.place == self.file else (*replicas, servers.postgres)
        )

    def note(self, kind: str) -> None:
        self.outcome.tried += 1
        self.outcome.kinds[kind] += 1

    def look_at(self, ended: Ended, words: tuple[str, ...], *, calm: bool) -> None:
        how = " ".join(words)[:100]
        if ended.traceback:
            self.wrong(f"`{how}` ended with a traceback:\n{ended.traceback}")
        elif ended.hung:
            self.wrong(f"`{how}` did not end")
        elif calm and ended.codes == [1] and words[0] not in ("promote", "demote"):
            self.wrong(f"`{how}` failed undisturbed: {ended.err[-300:]}")

    def wrong(self, problem: str) -> None:
        self.outcome.problems.append(problem)

    def write(self, command: Command, *, calm: bool = False) -> None:
        """Run a command that writes."""
        self.states.begin(command.effects)
        if self.run(*command.words, calm=calm).codes == [0]:
            self.states.done(command.effects)
            self.outcome.acknowledged += 1

    def move(self) -> None:
        """Move the store to its other place; where that is cut short, look at both and finish it."""
        source = self.place
        verb, target = ("promote", self.url) if source == self.file else ("demote", self.file)
        ended = self.run(verb, "--to", target)
        if ended.codes != [0] and not self.outcome.problems:
            self.check_one(source, target)
            again = self.run(verb, "--to", target, calm=True)
            if again.codes != [0] and "moved to" not in again.err:
                self.wrong(f"{verb} did not finish when it was run again: {again.err[-500:]}")
        if not self.outcome.problems and self.accepts(source):
            self.wrong(f"after {verb} the old place still accepts writes")
        self.place = target
        if not self.outcome.problems:
            self.outcome.problems += problems(target, self.states)

    def check_one(self, source: str, target: str) -> None:
        """Exactly one place accepts writes; to open one may finish the move."""
        places = [source, target]
        self.chance.shuffle(places)
        begun = parse_place(target).record() or parse_place(source).note()
        if begun is None:  # the target is no store yet: to open it would make one
            places = [source]
        accepted = [place for place in places if self.accepts(place)]
        if not accepted and self.accepts(target):
            accepted = [target]
        if len(accepted) != 1:
            where = "both places accept" if accepted else "no place accepts"
            self.wrong(f"{where} writes after a move that was cut short")

    def accepts(self, place: str) -> bool:
        """Add a memory; False where the store is moved, or on its way."""
        self.probes += 1
        id_, text = f"p{self.probes}", f"probe{self.probes} of the store"
        effects: dict[Key, Value] = {("memory", id_): text}
        try:
            with scrubjay.open(place, embedder=SoakEmbedder()) as store:
                store.add(text, id=id_)
        except ScrubjayError as error:
            if "move" not in str(error):
                self.wrong(f"a store does not say that it is moved: {error}")
            return False
        self.states.done(effects)
        self.outcome.acknowledged += 1
        return True

    def check(self) -> None:
        """Compare the store, fill its replicas, and search there."""
        self.outcome.problems += problems(self.place, self.states)
        for words in (("reindex", "vectors"), ("reindex", "graph"), ("verify",)):
            if not self.outcome.problems and self.run(*words, calm=True).codes != [0]:
                self.wrong(f"`{' '.join(words)}` failed in the end")
        if not self.outcome.problems:
            self.outcome.problems += self.unfound()

    def unfound(self) -> list[str]:
        """Return memories that the replicas do not find."""
        vectors, graph = self.servers.replicas[1::2]
        found = []
        with scrubjay.open(
            self.place, embedder=SoakEmbedder(), vectors=vectors, graph=graph
        ) as store:
            store.pending(wait=True)
            listed = store.ls(limit=1_000)
            for memory in self.chance.sample(listed, min(SEARCHED, len(listed))):
                results = store.search(memory.text, mode="vector", limit=50)
                if memory.id not in {hit.id for hit in results}:
                    found.append(f"Qdrant does not find {memory.id}: {results.degraded}")
                elif results.degraded:
                    found.append(f"a search is degraded in the end: {results.degraded}")
        return found


def servers(bench: Bench) -> Outcome:
    """Start the servers, and disturb one store after another."""
    chance = random.Random(bench.seed)
    outcome = Outcome()
    with ExitStack() as opened:
        try:
            started = Servers(
                opened.enter_context(Postgres(durable=True)),
                opened.enter_context(Qdrant()),
                opened.enter_context(FalkorDB()),
            )
        except CannotRun as error:
            return Outcome(skipped=str(error).splitlines()[0])
        forks = opened.enter_context(
            Forks(made(bench, "forks"), bench.forks.library, modules=CLIENTS)
        )
        number = 0
        while bench.more(outcome.tried) and not outcome.problems:
            number += 1
            started.postgres.execute(f"CREATE DATABASE soak{number} TEMPLATE template0")
            folder = made(bench, f"store{number}")
            moving = Moving(
                bench,
                started,
                forks,
                random.Random(chance.randrange(1 << 30)),
                outcome,
                str(folder / "notes.db"),
                started.postgres.url_of(f"soak{number}"),
                Series(chance.randrange(1 << 30), folder / "input"),
            )
            disturb(moving)
            started.qdrant.drop("soak")
    return outcome


def disturb(moving: Moving) -> None:
    """Let one store live: fill it, write to it, index it and move it."""
    chance, outcome = moving.chance, moving.outcome
    for number in range(STEPS):
        if outcome.problems or not moving.bench.more(outcome.tried):
            break
        what = chance.choice(("write", "write", "replica", "move"))
        if number < FIRST or what == "write":
            moving.write(moving.series.next(chance.choice(VERBS)), calm=number < FIRST)
        elif what == "replica":
            moving.run(*chance.choice(REPLICA_COMMANDS))
        else:
            moving.move()
    if not outcome.problems:
        moving.check()


def made(bench: Bench, name: str) -> Path:
    folder = bench.folder / name
    folder.mkdir()
    return folder
