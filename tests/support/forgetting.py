"""Adds, updates, undoes and forgets memories in random order, and looks for what is left in the files.

`python tests/support/forgetting.py 20000 FOLDER` forgets twenty thousand.
"""

from __future__ import annotations

import random
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from residue import Residue, areas, residues

import scrubjay

_LETTERS = "bcdfghjklmnpqrtvwxz"  # no stemmer changes such words
_ALIVE = 250


class Forgetting:
    """A store in a folder, the texts that it should hold, and those that it should not."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.path = folder / "notes.db"
        self.forgotten = 0
        self._folder = folder
        self._random = random.Random(seed)
        self._alive: dict[str, list[dict[str, Any]]] = {}  # every version of each memory
        self._gone: list[str] = []

    def forget(self, store: scrubjay.Store, count: int) -> None:
        """Forget so many memories, and add, update and undo others between them."""
        until = self.forgotten + count
        while self.forgotten < until:
            self._add(store)
            if self._random.random() < 0.3:
                self._update(store)
            if self._random.random() < 0.1:
                self._undo(store)
            if len(self._alive) > _ALIVE:
                # Mostly one, sometimes many, which empties pages.
                several = int(self._random.paretovariate(0.8))
                self._forget(store, min(several, until - self.forgotten, _ALIVE // 2))

    def left(self) -> list[Residue]:
        """Return what is left in the files of texts that are gone."""
        kept = (memory for versions in self._alive.values() for memory in versions)
        alive = [text for memory in kept for text in _texts(memory)]
        return residues(self._folder, self._gone, alive)

    def _add(self, store: scrubjay.Store) -> None:
        memories = [self._memory() for _ in range(self._random.randint(1, 7))]
        added = store.add_many(memories)
        self._alive |= {memory.id: [given] for memory, given in zip(added, memories, strict=True)}

    def _update(self, store: scrubjay.Store) -> None:
        id_ = self._random.choice(list(self._alive))
        after = self._memory()
        store.update(id_, **after)
        self._alive[id_].append(after)

    def _undo(self, store: scrubjay.Store) -> None:
        id_ = self._random.choice(list(self._alive))
        with suppress(scrubjay.NotFound):  # it was never changed, or every change was undone
            store.undo(id_)

    def _forget(self, store: scrubjay.Store, count: int) -> None:
        ids = self._random.sample(list(self._alive), count)
        self.forgotten += store.forget(ids)
        for id_ in ids:
            self._gone += [text for one in self._alive.pop(id_) for text in _texts(one)]

    def _memory(self) -> dict[str, Any]:
        some = self._random.random
        words = int(min(self._random.paretovariate(0.9) * 5, 300))
        return {
            "text": " ".join(self._word() for _ in range(words)),
            "title": " ".join(self._word() for _ in range(9)) if some() < 0.3 else "",
            "topics": [self._word(20)] if some() < 0.4 else [],
            "metadata": {"about": self._word(40)} if some() < 0.3 else {},
            "source": f"file:///{self._word(30)}" if some() < 0.3 else None,
        }

    def _word(self, length: int = 0) -> str:
        if not length:
            length = 24 if self._random.random() < 0.05 else self._random.randint(3, 9)
        return "".join(self._random.choices(_LETTERS, k=length))


def _texts(memory: dict[str, Any]) -> list[str]:
    texts = [memory["text"], memory["title"], memory["source"] or ""]
    return [*texts, *memory["topics"], *memory["metadata"].values()]


def main(count: int, folder: Path) -> None:
    """Forget `count` memories in a new store, and print what is left every thousand."""
    work = Forgetting(folder, seed=count)
    started = time.perf_counter()
    with scrubjay.open(work.path, embedder=False) as store:
        while work.forgotten < count:
            work.forget(store, min(1_000, count - work.forgotten))
            left = work.left()
            seconds = time.perf_counter() - started
            say(f"{work.forgotten} forgotten in {seconds:.0f} s, {len(left)} pieces left")
            for area in sorted(set(areas(work.path, [found.at for found in left]))):
                say(area)
    say(f"closed, {len(work.left())} pieces left")


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
