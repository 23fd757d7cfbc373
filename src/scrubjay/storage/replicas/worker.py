"""Background worker that sends changes to the replicas, in batches, from one process at a time.

A change is in the database and in the outbox before this begins. Each batch is read from the database
as it is then, sent, and only then deleted from the outbox. If the process is killed in between, the
next one sends the batch again, which does no harm. A server that does not answer is tried again after
a growing delay, and gets everything when it is back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from scrubjay.errors import InvalidInput, StoreError, Unavailable
from scrubjay.runtime.backoff import Backoff
from scrubjay.runtime.progress import Progress
from scrubjay.runtime.worker import Worker
from scrubjay.storage.replicas.outbox import (
    EVERYTHING,
    REBUILT,
    Change,
    Outbox,
    Replica,
    ReplicaSource,
)

THREAD = "replicas"
BATCH = 1_000
LEASE_S = 15.0  # renewed during a batch; after a crash other processes wait no longer than this
CHECK_S = 5.0  # how often a replica is checked for lost memories
REST_S, MAX_REST_S = 0.5, 30.0  # while a server does not answer
_OTHERS_S = 0.25  # how often to check whether another process still holds the lease
_SETTLE_S = 1.0
_MAX_SETTLED = 1_000


class ReplicaWorker:
    """Feeds the replicas of one store. `owner` identifies this process in leases."""

    def __init__(
        self, outbox: Outbox, source: ReplicaSource, replicas: Sequence[Replica], owner: str
    ) -> None:
        self._outbox = outbox
        self._source = source
        self._owner = owner
        self._feeds = [_Feed(replica) for replica in replicas]
        self._worker = Worker(THREAD, self._step)
        self._broken = False  # the last step failed
        # Called when a replica has everything.
        self.on_caught_up: Callable[[], None] = lambda: None

    @property
    def outage(self) -> dict[str, str]:
        return {feed.kind: feed.outage for feed in self._feeds if feed.outage}

    @property
    def running(self) -> bool:
        return self._worker.running

    def wake(self) -> None:
        if self._feeds:
            if not self._worker.running:
                self._broken = False
            self._worker.wake()

    def stop(self) -> None:
        if self._worker.stop():
            self._release_leases()

    def pending(self) -> int:
        return sum(self.pending_for(feed.kind) for feed in self._feeds)

    def pending_for(self, kind: str) -> int:
        """Return the number of changes that one replica does not have; a new one has nothing."""
        return self.behind(kind) or 0

    def behind(self, kind: str) -> int | None:
        """Return the number of changes that one replica does not have; None if it was dropped."""
        if kind in self._outbox.attached():
            return self._outbox.count(kind)
        return None if self.is_dropped(kind) else self._source.count(kind)

    def is_dropped(self, kind: str) -> bool:
        """True when a replica that is named here was detached, by any process."""
        return any(feed.kind == kind and self._is_dropped(feed) for feed in self._feeds)

    def _is_dropped(self, feed: _Feed) -> bool:
        if feed.kind in self._outbox.attached():
            return False
        return feed.attached or self._outbox.is_dropped(feed.kind, feed.replica.place)

    def recheck(self, kind: str) -> None:
        for feed in self._feeds:
            if feed.kind == kind:
                feed.checked_s = None
        self.wake()

    def wait(self, timeout_s: float | None = None, progress: Progress | None = None) -> int:
        """Wait until replicas have everything, do not answer, or time is up; return what is left."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        for feed in self._feeds:
            feed.try_now()
        self.wake()
        total = self.pending()
        while True:
            left = self.pending()
            if progress:
                progress(max(total - left, 0), total)
            late = deadline is not None and time.monotonic() >= deadline
            if (not left and self._all_attached()) or late or self._worker.stopping.is_set():
                return left
            if self._gave_up():
                return self.pending()
            if not self._worker.running:
                self.wake()  # it ended just before the change was recorded
            # Counting many changes takes a while, too.
            time.sleep(0.02 if left <= BATCH else 0.25)

    def settle(self) -> None:
        """Wait briefly for a few last changes: the process may end now."""
        deadline = time.monotonic() + _SETTLE_S
        while self._worker.running and time.monotonic() < deadline:
            left = sum(self._outbox.count(feed.kind) for feed in self._feeds if not feed.outage)
            if not 0 < left <= _MAX_SETTLED:
                return
            time.sleep(0.01)

    def _all_attached(self) -> bool:
        attached = self._outbox.attached()
        return all(
            feed.attached or feed.kind in attached or self._is_dropped(feed)
            for feed in self._feeds
        )

    def _gave_up(self) -> bool:
        return self._broken or all(
            feed.outage
            or (feed.attached and not self._outbox.next(feed.kind, 1))
            or self._is_dropped(feed)
            for feed in self._feeds
        )

    def _step(self) -> float | None:
        """Send a batch to each replica; return the seconds to pause, or None when all is done."""
        pause_s, broken = None, True
        try:
            sent = [self._send_batch(feed) for feed in self._feeds]
            pause_s = 0.0 if any(sent) else self._pause_s()
            broken = False
        except StoreError:
            pass  # the store was closed or its disk is full; the outbox keeps the changes
        finally:
            self._broken = broken
            if pause_s is None or self._worker.stopping.is_set():
                self._release_leases()
        return pause_s

    def _pause_s(self) -> float | None:
        pauses = [
            feed.backoff.left_s if feed.failed else _OTHERS_S
            for feed in self._feeds
            if not self._is_dropped(feed)
            and (feed.failed or not feed.attached or self._outbox.next(feed.kind, 1))
        ]
        return min(pauses, default=None)

    def _release_leases(self) -> None:
        with suppress(StoreError):  # the leases expire
            for feed in self._feeds:
                if feed.leased:
                    self._outbox.release(feed.kind, self._owner)
                    feed.leased = False

    def _send_batch(self, feed: _Feed) -> bool:
        if self._worker.stopping.is_set() or feed.backoff.left_s:
            return False
        if not feed.attached and not self._attach(feed):
            return False
        changes = self._outbox.next(feed.kind, BATCH)
        if not changes and feed.checked:
            return False
        if not self._outbox.lease(feed.kind, self._owner, LEASE_S):
            return False
        feed.leased = True
        try:
            if feed.failed:
                # It may still be working on what was sent when it did not answer: wait for that.
                feed.replica.ping()
            with self._renewing_lease(feed):
                if changes:
                    # Read again under the lease: another process may have sent these meanwhile.
                    changes = self._outbox.next(feed.kind, BATCH)
                    self._send(feed.replica, changes)
                else:
                    self._check(feed)
        except (Unavailable, InvalidInput) as error:  # or it holds something else under our name
            feed.fail(str(error))
            self._outbox.release(feed.kind, self._owner)
            feed.leased = False
            return False
        feed.succeed()
        feed.leased = self._outbox.done(feed.kind, changes, self._owner, LEASE_S)
        if not feed.leased and self._outbox.is_dropped(feed.kind, feed.replica.place):
            self._clear_late_batch(feed)
            return False
        if changes and not self._outbox.next(feed.kind, 1):
            self.on_caught_up()
        return True

    def _attach(self, feed: _Feed) -> bool:
        """Attach a replica once it has answered: the address may be wrong. A dropped one stays dropped."""
        place = feed.replica.place
        try:
            if not self._outbox.is_attached(feed.kind, place):
                if self._outbox.is_dropped(feed.kind, place):
                    return False
                feed.replica.ping()
                if not self._outbox.attach_unless_dropped(feed.kind, place):
                    return False
        except (Unavailable, InvalidInput) as error:
            feed.fail(str(error))
            return False
        feed.attached = True
        feed.succeed()
        return True

    def _clear_late_batch(self, feed: _Feed) -> None:
        """Delete a batch that was on its way while the replica was dropped and cleared."""
        try:
            feed.replica.clear()
        except (Unavailable, InvalidInput) as error:
            feed.fail(str(error))

    @contextmanager
    def _renewing_lease(self, feed: _Feed) -> Iterator[None]:
        """Hold the lease during a batch: processes that lost theirs to each other sent everything again."""

        def renew() -> float | None:
            try:
                self._outbox.renew(feed.kind, self._owner, LEASE_S)
            except StoreError:
                return None  # the lease expires
            return 0.0

        renewing = Worker(THREAD, renew, delay_s=LEASE_S / 3)
        renewing.wake()
        try:
            yield
        finally:
            renewing.stop(None)

    def _send(self, replica: Replica, changes: Sequence[Change]) -> None:
        if any(change.id == EVERYTHING for change in changes):
            replica.clear()
        ids = dict.fromkeys(c.id for c in changes if c.id != EVERYTHING and not c.other)
        rebuilt = dict.fromkeys(c.id for c in changes if c.other == REBUILT)
        pairs = dict.fromkeys((c.id, c.other) for c in changes if c.other)
        memories, deleted = self._source.memories(list(ids), vectors=replica.kind == "vectors")
        replica.remove(list({**rebuilt, **dict.fromkeys(deleted)}))
        replica.put(memories)
        links = dict.fromkeys(
            (*self._source.links_between(pairs), *self._source.links_of(list(rebuilt)))
        )
        pairs.update(((link.a, link.b), None) for link in links)
        replica.put_links(list(pairs), list(links))

    def _check(self, feed: _Feed) -> None:
        """Fill a replica again that has lost memories, such as one without a disk after a restart."""
        stored = feed.replica.count()
        expected = self._source.count(feed.kind)
        if self._outbox.next(feed.kind, 1):
            return  # those first
        if stored < expected or feed.replica.is_outdated():
            self._outbox.add_everything(feed.kind)
        feed.checked_s = time.monotonic()


class _Feed:
    """A replica and the state of its feed. Only the worker's thread writes here."""

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        self.kind = replica.kind
        self.outage = ""
        self.failed = False  # at the last call
        self.backoff = Backoff(REST_S, MAX_REST_S)
        self.leased = False
        self.attached = False
        self.checked_s: float | None = None  # when it was last seen to have lost nothing

    @property
    def checked(self) -> bool:
        return self.checked_s is not None and time.monotonic() - self.checked_s < CHECK_S

    def fail(self, reason: str) -> None:
        self.outage = reason
        self.failed = True
        self.checked_s = None
        self.backoff.failed()

    def succeed(self) -> None:
        self.outage = ""
        self.failed = False
        self.backoff.succeeded()

    def try_now(self) -> None:
        self.outage = ""
        self.backoff.try_now()
