"""Servers told what changed: in batches, by one thread of one process, resumed by whoever comes next.

A change is safe in the records, and noted for each server, before this begins. Each batch is read from
the records as they stand then, told, and only then struck: whatever is killed in between, the next one
tells it again, which does no harm. A server that does not answer is asked again later and later, and
told everything when it is back.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, StoreError, Unavailable
from scrubjay.storage.replicas.outbox import ANEW, EVERYTHING, Note, SqlOutbox

if TYPE_CHECKING:
    from scrubjay.storage.protocols import Projection
    from scrubjay.storage.replicas.records import SqlProjected

Progress = Callable[[int, int], None]

BATCH = 1_000
LEASE_S = 15.0  # renewed while a server is told; after a crash others wait no longer than this
CHECK_S = 5.0  # how often a server that is told things is asked whether it still knows the others
REST_S, MOST_REST_S = 0.5, 30.0  # while a server does not answer
STOP_S = 10.0
_OTHERS_S = 0.25  # how often we look whether another process still feeds a server
_SETTLE_S = 1.0
_SETTLE_MOST = 1_000


class Projecting:
    """Feeds the servers of one store. `who` tells this process from all others."""

    def __init__(
        self,
        outbox: SqlOutbox,
        truth: SqlProjected,
        projections: Sequence[Projection],
        who: str,
    ) -> None:
        self._outbox = outbox
        self._truth = truth
        self._who = who
        self._servers = [_Server(one) for one in projections]
        self._starting = threading.Lock()
        self._stirred = threading.Event()
        self._stopping = False
        self._wished = False
        self._broken = False  # the last thread ended before all was told
        self._thread: threading.Thread | None = None
        self.on_told: Callable[[], None] = lambda: None  # when a server knows everything again

    @property
    def outage(self) -> dict[str, str]:
        """Why servers are not told now, by tier."""
        return {one.tier: one.outage for one in self._servers if one.outage}

    def wake(self) -> None:
        """Start the thread that tells the servers, or let it look again."""
        if not self._servers:
            return
        with self._starting:
            self._wished = True
            if self._thread is None and not self._stopping:
                thread = threading.Thread(
                    target=self._in_background, name="scrubjay-projecting", daemon=True
                )
                self._broken = False
                thread.start()
                self._thread = thread
        self._stirred.set()

    def stop(self) -> None:
        """Finish the batch at hand and stop."""
        with self._starting:
            self._stopping = True
            thread = self._thread
        self._stirred.set()
        if thread is not None:
            thread.join(STOP_S)

    def left(self) -> int:
        """Return how much the servers have yet to be told."""
        return sum(self.behind(one.tier) for one in self._servers)

    def behind(self, tier: str) -> int:
        """Return how much one server has yet to be told; one that nobody has used yet, everything."""
        if tier in self._outbox.attached():
            return self._outbox.lag(tier)
        return 0 if self.is_dropped(tier) else self._truth.expected(vectors=tier == "vectors")

    def is_dropped(self, tier: str) -> bool:
        """True when somebody has let go of a server that is used here: it is told nothing any more."""
        used = any(one.tier == tier and one.attached for one in self._servers)
        return used and tier not in self._outbox.attached()

    def recheck(self, tier: str) -> None:
        """Look whether a server has lost something, and tell it again then."""
        for one in self._servers:
            if one.tier == tier:
                one.checked_s = None
        self.wake()

    def wait(self, timeout_s: float | None = None, progress: Progress | None = None) -> int:
        """Wait until servers know everything, do not answer, or time is up; return how much is left."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        for one in self._servers:
            one.try_now()
        self.wake()
        total = self.left()
        while True:
            left = self.left()
            if progress:
                progress(max(total - left, 0), total)
            late = deadline is not None and time.monotonic() >= deadline
            if (not left and self._all_attached()) or late or self._stopping:
                return left
            if self._gave_up():
                return self.left()
            if self._thread is None:
                self.wake()  # it had ended a moment before this was noted
            # Many take a while to be counted, too.
            time.sleep(0.02 if left <= BATCH else 0.25)

    def settle(self) -> None:
        """Wait a little for what was written just before, if that is little: a process may end now."""
        deadline = time.monotonic() + _SETTLE_S
        while self._thread is not None and time.monotonic() < deadline:
            waiting = sum(self._outbox.lag(one.tier) for one in self._servers if not one.outage)
            if not 0 < waiting <= _SETTLE_MOST:
                return
            time.sleep(0.01)

    def _gave_up(self) -> bool:
        """True when nobody can work here, or all that is left is for servers that do not answer."""
        return self._broken or all(
            one.outage or (one.attached and not self._outbox.next(one.tier, 1))
            for one in self._servers
        )

    def _all_attached(self) -> bool:
        known = self._outbox.attached()
        return all(one.attached or one.tier in known for one in self._servers)

    def _in_background(self) -> None:
        try:
            while not self._stopping:
                self._wished = False
                told = [self._feed(one) for one in self._servers]
                if any(told):
                    continue
                rest_s = self._rest_s()
                with self._starting:
                    # What was wished for during the last look is looked for again.
                    if rest_s is None and not self._wished:
                        self._thread = None
                        return
                if rest_s is not None and not self._wished:
                    self._stirred.wait(rest_s)
                self._stirred.clear()
        except StoreError:
            return  # the store was closed or its disk filled up; what is noted stays noted
        finally:
            self._let_go()
            with self._starting:  # whatever ended this thread, the next wish must find another
                if self._thread is threading.current_thread():
                    self._thread = None
                    self._broken = True

    def _rest_s(self) -> float | None:
        """Return for how long there is nothing to do; None when there is nothing at all."""
        now = time.monotonic()
        rests = [
            max(one.next_try - now, 0.0) if one.failed else _OTHERS_S
            for one in self._servers
            if one.failed or not one.attached or self._outbox.next(one.tier, 1)
        ]
        return min(rests, default=None)

    def _let_go(self) -> None:
        try:
            for one in self._servers:
                if one.leased:
                    self._outbox.release(one.tier, self._who)
        except StoreError:
            pass  # the lease runs out by itself

    def _feed(self, server: _Server) -> bool:
        """Tell a server one batch; False when there was none to be told, or it does not answer."""
        if self._stopping or time.monotonic() < server.next_try:
            return False
        if not server.attached and not self._attach(server):
            return False
        notes = self._outbox.next(server.tier, BATCH)
        if not notes and server.checked:
            return False
        if not self._outbox.lease(server.tier, self._who, LEASE_S):
            return False
        server.leased = True
        try:
            if server.failed:
                # What it was told when it did not answer, it may do yet: newer things come after that.
                server.to.ping()
            with self._keeping(server):
                if notes:
                    # Read after that: another may have told these meanwhile.
                    notes = self._outbox.next(server.tier, BATCH)
                    self._tell(server.to, notes)
                else:
                    self._check(server)
        except (Unavailable, InvalidInput) as gone:  # or it has something else under our name
            server.rest(str(gone))
            self._outbox.release(server.tier, self._who)
            server.leased = False
            return False
        server.answered()
        more = self._outbox.done(server.tier, notes, self._who, LEASE_S)
        server.leased = more
        if notes and not self._outbox.next(server.tier, 1):
            self.on_told()
        return True

    def _attach(self, server: _Server) -> bool:
        """Have a server told of a tier from now on, once it has answered: it may be a wrong address."""
        try:
            if not self._outbox.is_attached(server.tier, server.to.place):
                server.to.ping()
                self._outbox.attach(server.tier, server.to.place)
        except (Unavailable, InvalidInput) as gone:
            server.rest(str(gone))
            return False
        server.attached = True
        server.answered()
        return True

    @contextmanager
    def _keeping(self, server: _Server) -> Iterator[None]:
        """Stay the one who feeds a server for as long as that takes.

        Two who lost their leases to each other in turn told everything again and again.
        """
        told = threading.Event()

        def renew() -> None:
            try:
                while not told.wait(LEASE_S / 3):
                    self._outbox.renew(server.tier, self._who, LEASE_S)
            except StoreError:
                return  # the lease runs out

        keeper = threading.Thread(target=renew, name="scrubjay-projecting", daemon=True)
        keeper.start()
        try:
            yield
        finally:
            told.set()
            keeper.join()

    def _tell(self, server: Projection, notes: Sequence[Note]) -> None:
        """Let a server know how everything stands that the notes name."""
        if any(note.id == EVERYTHING for note in notes):
            server.clear()
        ids = dict.fromkeys(n.id for n in notes if n.id != EVERYTHING and not n.other)
        anew = dict.fromkeys(n.id for n in notes if n.other == ANEW)
        pairs = dict.fromkeys((n.id, n.other) for n in notes if n.other)
        memories, gone = self._truth.memories(list(ids), vectors=server.tier == "vectors")
        server.remove(list({**anew, **dict.fromkeys(gone)}))
        server.put(memories)
        edges = dict.fromkeys((*self._truth.between(pairs), *self._truth.of(list(anew))))
        pairs.update(((edge.a, edge.b), None) for edge in edges)
        server.put_edges(list(pairs), list(edges))

    def _check(self, server: _Server) -> None:
        """Have a server told everything again that has lost it: one without a disk, started anew."""
        known = server.to.count()
        expected = self._truth.expected(vectors=server.tier == "vectors")
        if self._outbox.next(server.tier, 1):
            return  # that first
        if known < expected:
            self._outbox.again(server.tier)
        server.checked_s = time.monotonic()


class _Server:
    """A server, and how it stands with it. One thread writes here."""

    def __init__(self, to: Projection) -> None:
        self.to = to
        self.tier = to.tier
        self.outage = ""
        self.failed = False  # when it was asked last
        self.next_try = 0.0
        self.leased = False
        self.attached = False
        self.checked_s: float | None = None  # when it was seen last that it has lost nothing
        self._rest_s = REST_S

    def rest(self, reason: str) -> None:
        """Ask it again after a while, which is longer each time."""
        self.outage = reason
        self.failed = True
        self.checked_s = None
        self.next_try = time.monotonic() + self._rest_s
        self._rest_s = min(2 * self._rest_s, MOST_REST_S)

    @property
    def checked(self) -> bool:
        """True when it was seen a moment ago that it has lost nothing."""
        return self.checked_s is not None and time.monotonic() - self.checked_s < CHECK_S

    def answered(self) -> None:
        """Note that it is there."""
        self.outage = ""
        self.failed = False
        self._rest_s = REST_S

    def try_now(self) -> None:
        """Rest no longer, and give it a new chance."""
        self.outage = ""
        self.next_try = 0.0
