"""Detection of changes in the background: each memory is compared with a few others once it has a vector.

A model reads the older and the newer text, and says whether the newer one replaces the older one. That
becomes a link `updates` with a strength. Memories are compared oldest first, each with those that are
older, and with later ones that were compared already: an older memory may be stored late. A process that
is killed leaves its memories in the queue; two processes at once make the same links.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from scrubjay.errors import StoreError, Unavailable
from scrubjay.models import Passage
from scrubjay.models.guard import GuardedNoteReader
from scrubjay.models.registry import load_reader
from scrubjay.runtime.worker import Worker
from scrubjay.storage.changes import Compared, SqlChanges, UncomparedMemory
from scrubjay.times import micros
from scrubjay.types import Memory, Scope
from scrubjay.types.changes import Likely
from scrubjay.write.changes import judge
from scrubjay.write.changes.candidates import NOT_COMPARED, Candidates, is_comparable
from scrubjay.write.changes.judge import Pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models import NoteReader, Relation
    from scrubjay.models.shared import ModelLoader, SharedModels
    from scrubjay.storage.sql.keyword_ranking import KeywordIndex
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.vectors import SqlVectors

BATCH = 16
MOST_PAIRS = 2  # that a model reads for one memory, in each direction of time
LEAST = 0.3  # strength of a link
# The same where one is a turn of a dialogue: turns lean on their neighbors, and speak of the same matters
# again and again. nDCG on LoCoMo was .639 without any links, .589 with 0.3, and is .635.
LEAST_IN_DIALOGUES = 0.7
_REPEATS = 0.6  # probability from which a memory is said to repeat another
_MOST_SETTLED = 32
_MOST_TOLD = 5  # new memories of one call, whose probable updates the caller gets
_EVERYTHING = Scope()
_PLAIN = (Passage("The door is red", None), Passage("The door is green", None))


class ChangeDetection:
    """The queue of memories that are not compared yet, and the worker that compares them."""

    def __init__(
        self,
        changes: SqlChanges,
        candidates: Candidates,
        records: SqlRecords,
        vectors: SqlVectors,
        reader: GuardedNoteReader,
        loader: ModelLoader[NoteReader] | None,
        clock: Callable[[], datetime],
        main: Callable[[], str],
    ) -> None:
        """`main` returns the name of the main model, whose vectors are used."""
        self._changes, self._candidates = changes, candidates
        self._records, self._vectors = records, vectors
        self._reader, self._loader = reader, loader
        self._clock, self._main = clock, main
        self._working = threading.Lock()
        self._worker = Worker("changes", self._step, owner=self)
        self.outage = ""

    def reader_of_searches(self) -> GuardedNoteReader | None:
        """Return the reader for a search, which does not wait for a server to load it."""
        if self._loader is not None and not self._loader.ready():
            self._loader.begin()
            return None
        return self._reader

    def activate(self, wait_s: float | None = None) -> None:
        """Queue every memory from now on; in an older store, all of them."""
        self._changes.activate(wait_s)

    def left(self, scope: Scope | None = None, most: int | None = None) -> int:
        """Return how many memories have a vector and are not compared yet; `most` stops counting."""
        return self._changes.left(self._main(), scope, most)

    def go_on(self) -> None:
        """Compare what is queued in the background."""
        if not self.left(most=1):
            return
        if self._loader is not None:
            self._loader.when_ready(self._wake)
        else:
            self._wake()

    def _wake(self) -> None:
        self.outage = ""  # a model that failed gets another chance
        self._worker.wake()

    def wait(self, timeout_s: float | None = None) -> int:
        """Compare until nothing is left, the model fails, or time is up; return how many are left."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        self.outage = ""
        if self._loader is not None and self.left(most=1):
            self._loader.wait(timeout_s)
        while not self._worker.stopping.is_set() and not self.outage:
            if deadline is not None and time.monotonic() > deadline:
                break
            if not self._compare_batch():
                break
        return self.left()

    def settle(self, timeout_s: float) -> None:
        """Compare the last few memories before the store is closed, but not for long."""
        if self.left(most=_MOST_SETTLED + 1) <= _MOST_SETTLED:
            self.wait(timeout_s)

    def stop(self, wait_s: float | None = None) -> None:
        self._worker.stop(wait_s)

    def likely(self, memories: Sequence[Memory], model: str, within_s: float) -> list[Likely]:
        """Return what the first few of these new memories probably update or repeat, by the vectors
        of a model that has read them already; nothing while the reader is loaded elsewhere."""
        if self._loader is not None and not self._loader.ready():
            self._loader.begin()
            return []
        deadline = time.monotonic() + within_s
        told: list[Likely] = []
        for memory in memories[:_MOST_TOLD]:
            try:
                told += self._likely(memory, model)
            except (StoreError, Unavailable):
                break  # it is stored, and compared again in the background
            if time.monotonic() > deadline:
                break
        return told

    def _likely(self, memory: Memory, model: str) -> list[Likely]:
        older = [pair for pair in self._pairs([memory], model)[0] if pair.newer.id == memory.id]
        told = []
        relations = self._read(older)
        strengths = judge.strengths(older, relations)
        for (old, new), relation, strength in zip(older, relations, strengths, strict=True):
            least = LEAST if strength < LEAST else self._least(Pair(old, new))
            found = ("updates", strength, least), ("repeats", relation.repeats, _REPEATS)
            kind = next((one for one in found if one[1] >= one[2]), None)
            if kind is not None:
                told.append(Likely(new.id, old.id, *kind[:2], old.created_at))
        return told

    # -- comparing --------------------------------------------------------------------------------

    def _step(self) -> float | None:
        """Compare one batch in the background; None when there is nothing left to do."""
        try:
            return 0.0 if not self.outage and self._compare_batch() else None
        except StoreError:
            return None  # the store was closed or its disk is full; the queue stays stored

    def _compare_batch(self) -> bool:
        """Compare the oldest memories of the queue; False when there are none, or the model fails."""
        with self._working:
            model = self._main()
            # A replica that lacks vectors would find nothing near.
            waiting = self._changes.waiting(model, BATCH) if self._vectors.is_current() else []
            if not waiting:
                return False
            try:
                done = self._compared(waiting, model)
            except Unavailable as failure:
                if not self._reads_a_plain_pair():
                    self.outage = str(failure)
                    return False
                done = [of for one in waiting for of in self._compared_alone(one, model)]
            self._changes.put(done, micros(self._clock()))
            return True

    def _compared_alone(self, of: UncomparedMemory, model: str) -> list[Compared]:
        """Compare one memory; a text that breaks the model is compared with nothing."""
        try:
            return self._compared([of], model)
        except Unavailable:
            return [Compared(of, {})]

    def _reads_a_plain_pair(self) -> bool:
        """True when the model itself works: then it was a text that broke it."""
        try:
            self._reader.relations([_PLAIN])
        except Unavailable:
            return False
        return True

    def _compared(self, waiting: Sequence[UncomparedMemory], model: str) -> list[Compared]:
        found = self._records.get([of.id for of in waiting], _EVERYTHING)
        if any(memory.type in NOT_COMPARED for memory in found.values()):
            self._changes.skip(NOT_COMPARED)  # all of them, not only those of this batch
        # One that was written again meanwhile is compared with nothing, and stays in the queue.
        states = {id_: self._records.stored_hash(now.content_hash) for id_, now in found.items()}
        same = [of for of in waiting if states.get(of.id) == of.state]
        memories = [found[of.id] for of in same]
        pairs = self._pairs(memories, model)
        links: list[tuple[dict[str, float], dict[str, float]]] = [({}, {}) for _ in same]
        relations = iter(self._read([pair for several in pairs for pair in several]))
        for memory, several, (updates, updated_by) in zip(memories, pairs, links, strict=True):
            # The pairs of one memory alone: a result must not depend on what is in the batch.
            strengths = judge.strengths(several, list(islice(relations, len(several))))
            for pair, strength in zip(several, strengths, strict=True):
                if strength < LEAST or strength < self._least(pair):
                    continue
                if pair.newer.id == memory.id:
                    updates[pair.older.id] = strength
                else:
                    updated_by[pair.newer.id] = strength
        done = [Compared(of, *link) for of, link in zip(same, links, strict=True)]
        # A damaged one cannot be compared.
        return [*done, *(Compared(of, {}) for of in waiting if of.id not in found)]

    def _pairs(self, memories: Sequence[Memory], model: str) -> list[list[Pair]]:
        """Return for each memory the pairs that a model should read: its nearest candidates."""
        compared = [memory for memory in memories if is_comparable(memory)]
        ids = [memory.id for memory in compared]
        vectors = self._vectors.first_of(model, ids) if ids else {}
        refused = self._changes.refused(ids) if ids else set()
        return [
            self._pairs_of(memory, vectors[memory.id], model, refused)
            if memory.id in vectors
            else []
            for memory in memories
        ]

    def _pairs_of(
        self,
        memory: Memory,
        vector: NDArray[np.float32],
        model: str,
        refused: Collection[frozenset[str]],
    ) -> list[Pair]:
        without = {id_ for pair in refused if memory.id in pair for id_ in pair} - {memory.id}
        near = self._candidates.of(memory, vector, model, without)
        older = [one for one in near if _is_older(one.memory, memory)]
        later = [one for one in near if _is_older(memory, one.memory)]
        # The others are compared with this one when it is their turn.
        known = self._changes.compared([one.memory.id for one in later]) if later else set()
        later = [one for one in later if one.memory.id in known]
        return [
            *(Pair(one.memory, memory) for one in older[:MOST_PAIRS]),
            *(Pair(memory, one.memory) for one in later[:MOST_PAIRS]),
        ]

    def _least(self, pair: Pair) -> float:
        """Return the strength from which a link is stored."""
        in_dialogue = self._candidates.in_dialogue
        return LEAST_IN_DIALOGUES if in_dialogue(pair.older) or in_dialogue(pair.newer) else LEAST

    def _read(self, pairs: Sequence[Pair]) -> list[Relation]:
        return self._reader.relations(
            [(_passage(pair.older), _passage(pair.newer)) for pair in pairs]
        )


def _is_older(one: Memory, other: Memory) -> bool:
    assert one.created_at is not None  # both are comparable
    assert other.created_at is not None
    return one.created_at < other.created_at


def _passage(memory: Memory) -> Passage:
    return Passage(memory.text, memory.created_at)


def change_detection(
    changes: SqlChanges,
    records: SqlRecords,
    vectors: SqlVectors,
    keyword: KeywordIndex,
    clock: Callable[[], datetime],
    main: Callable[[], str],
    models: SharedModels | None,
) -> ChangeDetection | None:
    """Return the detection of changes of a store; None where its model is not installed."""
    try:
        loader = None if models is None else models.reader()
        reader = GuardedNoteReader(load_reader() if loader is None else loader.model)
    except Unavailable:
        return None
    candidates = Candidates(records, vectors, keyword)
    return ChangeDetection(changes, candidates, records, vectors, reader, loader, clock, main)
