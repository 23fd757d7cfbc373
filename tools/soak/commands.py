"""A seeded series of commands that write, each with what it changes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools.soak.states import ABSENT, Key, States, Value

WORDS = "kettle harbour lantern orchard sparrow violin glacier copper meadow anchor".split()
IMPORTED = 6
INGESTED = 3


@dataclass(frozen=True)
class Command:
    """The words of a command, without `--db`, and the values it sets."""

    words: tuple[str, ...]
    effects: Mapping[Key, Value] = field(default_factory=dict)
    copy: Path | None = None  # the store that it writes beside the one it is run on
    of: Path | None = None  # the backup that it reads; without one it copies the store itself

    @property
    def verb(self) -> str:
        return self.words[0]


class Series:
    """Makes commands that fit what was stored before, whether or not those before ended."""

    def __init__(self, seed: int, folder: Path, first: int = 0) -> None:
        self._chance = random.Random(seed)
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._number = first  # two series on one store begin at numbers far apart
        self._kept: list[str] = []  # never forgotten, so that links and feedback hold
        self._loose: list[str] = []
        self._backups: list[Path] = []

    def __iter__(self) -> Iterator[Command]:
        yield self.add()
        yield self.add()
        while True:
            yield self.next()

    def next(self, verb: str | None = None) -> Command:
        """Make a command, of this verb or any."""
        if len(self._kept) < 2 or not self._loose:
            return self.add()
        return MAKERS[verb or self._chance.choice(MANY)](self)

    def add(self) -> Command:
        id_, text = self._fresh()
        (self._loose if self._number % 2 else self._kept).append(id_)
        return Command(("add", "--id", id_, "--text", text), {("memory", id_): text})

    def update(self) -> Command:
        id_ = self._chance.choice(self._kept)
        _, text = self._fresh()
        return Command(("update", id_, "--text", text), {("memory", id_): text})

    def forget(self) -> Command:
        id_ = self._loose.pop(self._chance.randrange(len(self._loose)))
        return Command(("forget", id_, "--yes"), {("memory", id_): ABSENT})

    def link(self) -> Command:
        a, b = self._chance.sample(self._kept, 2)
        return Command(("link", a, b), {("link", f"{a} {b}"): ""})

    def feedback(self) -> Command:
        id_ = self._chance.choice(self._kept)
        query = self._chance.choice(WORDS)
        return Command(("feedback", "accepted", id_, "--query", query), {("feedback", id_): ""})

    def key(self) -> Command:
        self._number += 1
        name = f"key{self._number}"
        return Command(("key", "create", name), {("key", name): ""})

    def import_(self) -> Command:
        entries = [self._fresh() for _ in range(IMPORTED)]
        path = self._folder / f"import{self._number}.jsonl"
        lines = [json.dumps({"id": id_, "text": text}) for id_, text in entries]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        self._kept += [id_ for id_, _ in entries]
        return Command(("import", str(path)), {("memory", id_): text for id_, text in entries})

    def ingest(self) -> Command:
        self._number += 1
        folder = self._folder / f"notes{self._number}"
        folder.mkdir()
        marks = [f"document{self._number}x{n}" for n in range(INGESTED)]
        for mark in marks:
            text = f"{mark} tells of the {self._chance.choice(WORDS)} in the {mark}\n"
            (folder / f"{mark}.md").write_text(text, "utf-8")
        return Command(("ingest", str(folder)), {("document", mark): "" for mark in marks})

    def backup(self) -> Command:
        self._number += 1
        path = self._folder / f"backup{self._number}.db"
        self._backups.append(path)
        return Command(("backup", str(path)), {("copy", str(path)): ""}, copy=path)

    def restore(self) -> Command:
        if not self._backups:
            return self.backup()
        backup = self._chance.choice(self._backups)
        path = backup.with_name(f"restored-{backup.name}")  # a second time it replaces the first
        words = ("restore", str(backup), "--to", str(path))
        return Command(words, {("copy", str(path)): ""}, copy=path, of=backup)

    def reindex(self) -> Command:
        return Command(("reindex", self._chance.choice(("words", "vectors", "graph"))))

    def _fresh(self) -> tuple[str, str]:
        self._number += 1
        words = " ".join(self._chance.choices(WORDS, k=self._chance.choice((3, 8, 60))))
        return f"m{self._number:05}", f"note{self._number} of the {words}"


MAKERS: dict[str, Callable[[Series], Command]] = {
    "add": Series.add,
    "update": Series.update,
    "forget": Series.forget,
    "link": Series.link,
    "feedback": Series.feedback,
    "key": Series.key,
    "import": Series.import_,
    "ingest": Series.ingest,
    "backup": Series.backup,
    "restore": Series.restore,
    "reindex": Series.reindex,
}
# Small ones are made more often, so that there is something to lose.
MANY = [*MAKERS, "add", "add", "update", "forget"]


def states_of(commands: list[Command], begun: int, done: int) -> States:
    """Return what holds when the first `done` commands were acknowledged and `begun` were begun."""
    states = States()
    for command in commands[:done]:
        states.done(command.effects)
    for command in commands[done:begun]:
        states.begin(command.effects)
    return states


def copies_of(commands: Iterable[tuple[Command, States]]) -> dict[Path, States]:
    """Return what each backup and each restored file must hold; with a command comes what held before."""
    copies: dict[Path, States] = {}
    for command, before in commands:
        if command.copy is not None:
            copies[command.copy] = before if command.of is None else copies[command.of]
    return copies
