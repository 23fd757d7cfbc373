"""Flip bits and overwrite bytes, sectors and pages of a store; then read, verify and repair it.

A memory none of whose pages was hit must come back exactly as it was. One whose pages were hit may be lost
or altered, but `verify` and `doctor --repair` must say so, and what a search returns altered it must name.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import scrubjay
from scrubjay.errors import ScrubjayError
from scrubjay.text.analysis import normalize
from tools.soak.commands import Series
from tools.soak.embedder import SoakEmbedder
from tools.soak.forks import Request
from tools.soak.pages import Pages
from tools.soak.repaired import check_repair, check_verify
from tools.soak.rounds import Bench, Outcome

COMMANDS = 40
TRIES_PER_STORE = 12
SECTOR = 512
VERBS = ("add", "add", "add", "update", "forget", "link", "feedback", "import", "ingest")
ID_INDEX = "sqlite_autoindex_memories_1"


@dataclass(frozen=True)
class Whole:
    """A store before the damage: its bytes, its texts, and the pages of each."""

    data: bytes
    page_size: int
    texts: dict[str, str]
    numbers: dict[str, int]
    pages: dict[str, frozenset[int]]
    index: frozenset[int]
    forgotten: frozenset[str]

    def hit(self, damaged: bytes) -> frozenset[int]:
        """Return the numbers of the pages that differ."""
        size = self.page_size
        return frozenset(
            at // size + 1
            for at in range(0, len(self.data), size)
            if self.data[at : at + size] != damaged[at : at + size]
        )


@dataclass(frozen=True)
class Damaged:
    """A damaged copy: its file, the pages that were hit, and what SQLite alone still reads of it."""

    whole: Whole
    path: Path
    data: bytes
    hit: frozenset[int]

    def may_be_lost(self, id_: str) -> bool:
        return bool(self.whole.pages[id_] & self.hit)

    def altered(self) -> dict[str, str]:
        """Return the texts that SQLite reads without an error, and that are not what was stored."""
        found = {}
        uri = f"{self.path.as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as db:
            for id_, number in self.whole.numbers.items():
                try:
                    row = db.execute("SELECT text FROM memories WHERE n = ?", (number,)).fetchone()
                except (sqlite3.Error, UnicodeDecodeError):
                    continue
                text = row and row[0]
                # The hash is of the normalized text: another kind of white space counts as the same.
                if isinstance(text, str) and normalize(text) != normalize(self.whole.texts[id_]):
                    found[id_] = text
        return found


Damage = Callable[[bytearray, random.Random, int], None]


def flip_bits(data: bytearray, chance: random.Random, page: int) -> None:
    for _ in range(chance.choice((1, 5, 30))):
        data[somewhere(data, chance, page)] ^= 1 << chance.randrange(8)


def overwrite_bytes(data: bytearray, chance: random.Random, page: int) -> None:
    for _ in range(chance.choice((1, 4))):
        at = somewhere(data, chance, page)
        size = min(chance.choice((1, 2, 16)), len(data) - at)
        data[at : at + size] = chance.randbytes(size)


def overwrite_sectors(data: bytearray, chance: random.Random, page: int) -> None:
    for _ in range(chance.choice((1, 3))):
        at = chance.randrange(len(data) // SECTOR) * SECTOR
        data[at : at + SECTOR] = chance.choice((bytes(SECTOR), chance.randbytes(SECTOR)))


def overwrite_page(data: bytearray, chance: random.Random, page: int) -> None:
    at = chance.randrange(len(data) // page) * page
    other = chance.randrange(len(data) // page) * page  # a write that went to the wrong place
    data[at : at + page] = chance.choice(
        (bytes(page), chance.randbytes(page), data[other : other + page])
    )


DAMAGES: dict[str, Damage] = {
    "bits": flip_bits,
    "bytes": overwrite_bytes,
    "sectors": overwrite_sectors,
    "pages": overwrite_page,
}


def somewhere(data: bytearray, chance: random.Random, page: int) -> int:
    """Choose a byte: any, or one at the beginning of a page, where few bytes say what the others mean."""
    if chance.random() < 0.7:
        return chance.randrange(len(data))
    return chance.randrange(len(data) // page) * page + chance.randrange(100)


def bit_flips(bench: Bench) -> Outcome:
    """Fill stores, and damage copies of each."""
    chance = random.Random(bench.seed)
    outcome = Outcome()
    while bench.more(outcome.tried) and not outcome.problems:
        folder = bench.folder / f"store{outcome.tried}"
        folder.mkdir()
        whole = fill(bench, outcome, folder, chance)
        for number in range(TRIES_PER_STORE if whole else 0):
            if not bench.more(outcome.tried) or outcome.problems or whole is None:
                break
            here = folder / f"copy{number}"
            here.mkdir()
            kind = chance.choice(list(DAMAGES))
            data = bytearray(whole.data)
            while data == whole.data:  # zeros in the place of zeros are no damage
                DAMAGES[kind](data, chance, whole.page_size)
            outcome.tried += 1
            outcome.kinds[kind] += 1
            outcome.problems += [
                f"{kind}: {one}" for one in attempt(bench, whole, here, bytes(data))
            ]
            shutil.rmtree(here, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def fill(bench: Bench, outcome: Outcome, folder: Path, chance: random.Random) -> Whole | None:
    """Make a store by commands."""
    path = folder / "notes.db"
    series = Series(chance.randrange(1 << 30), folder / "input")
    commands = [series.next(chance.choice(VERBS)) for _ in range(COMMANDS)]
    ended = bench.forks.run(Request([[*one.words, "--db", str(path)] for one in commands]))
    if ended.codes != [0] * len(commands):
        outcome.problems.append(f"the commands failed undisturbed: {ended.err[-500:]}")
        return None
    outcome.acknowledged += len(commands)
    with scrubjay.open(path, embedder=SoakEmbedder()) as store:
        store.pending(wait=True)
        texts = {one.id: one.text for one in store.ls(limit=100_000)}
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        numbers = dict(db.execute("SELECT id, n FROM memories").fetchall())
    pages = Pages(path)
    rows = pages.of_rows("memories")
    forgotten = {one.words[1] for one in commands if one.verb == "forget"}
    return Whole(
        path.read_bytes(),
        pages.size,
        texts,
        numbers,
        {id_: rows[number] for id_, number in numbers.items()},
        frozenset(pages.of_tree(ID_INDEX)),
        frozenset(forgotten),
    )


def attempt(bench: Bench, whole: Whole, folder: Path, data: bytes) -> list[str]:
    """Read a damaged copy by every command, then verify and repair another one."""
    hit = whole.hit(data)
    for name in ("read.db", "repair.db"):
        (folder / name).write_bytes(data)
    damaged = Damaged(whole, folder / "repair.db", data, hit)
    return (
        check_commands(bench, whole, folder / "read.db")
        or check_searches(whole, folder / "read.db")
        or check_verify(bench.forks, damaged)
        or check_repair(bench.forks, damaged)
    )


def check_commands(bench: Bench, whole: Whole, path: Path) -> list[str]:
    """Run what reads: an error is allowed, a traceback or a command that hangs is not."""
    some = sorted(whole.texts)
    words = [
        ["search", "kettle harbour"],
        ["query", "lantern of the orchard", "--json"],
        ["ls"],
        ["get", some[0], some[-1]],
        ["export", str(path.with_suffix(".jsonl"))],
        ["status"],
        ["doctor"],
        ["verify"],
    ]
    ended = bench.forks.run(Request([[*one, "--db", str(path)] for one in words]))
    last = " ".join(words[min(len(ended.codes), len(words) - 1)])
    if ended.traceback:
        return [f"`{last}` ended with a traceback:\n{ended.traceback}"]
    if ended.hung:
        return [f"`{last}` did not end"]
    if len(ended.codes) != len(words):
        return [f"`{last}` died: signal {ended.signal}, {ended.err[-300:]}"]
    return []


def check_searches(whole: Whole, path: Path) -> list[str]:
    """Search; each hit is as it was stored, or named in `degraded`."""
    found = []
    for query in ("kettle harbour lantern", "violin", "note1 note2 note3 note4 note5"):
        try:
            with scrubjay.open(path, embedder=SoakEmbedder()) as store:
                results = store.search(query, limit=50)
        except ScrubjayError:
            continue  # it says that the file is damaged; check_commands has looked at that
        named = " ".join(results.degraded)
        for hit in results:
            right = whole.texts.get(hit.id)
            altered = right is None or normalize(right) != normalize(hit.text)
            if altered and hit.id not in named:
                found.append(
                    f"a search returned {hit.id} altered and did not say so: {hit.text[:80]!r}"
                )
    return found
