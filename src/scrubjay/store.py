"""Store: every verb of scrubjay, in one place; the shell, the servers and the page only translate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.parts.serving import Serving
from scrubjay.text.validation import check_text
from scrubjay.times import When, micros
from scrubjay.types import Link, Memory, Stored

if TYPE_CHECKING:
    from scrubjay.types.reports import Extracted, Ingested, Status

_BATCH = 500
_BATCH_CHARS = 1_000_000  # a transaction is kept short: others want to write


class Store(Serving):
    """Memories in one file. Safe to share between threads, and to open in many processes at once."""

    # -- writing ------------------------------------------------------------------------------

    def add(
        self,
        text: str,
        *,
        id: str | None = None,
        title: str | None = None,
        type: str = "fact",
        topics: Iterable[str] = (),
        namespace: str | None = None,
        collection: str | None = None,
        session: str | None = None,
        role: str | None = None,
        owner: str | None = None,
        agent: str | None = None,
        severity: str | None = None,
        domain: str | None = None,
        context: str | None = None,
        created_at: When | None = None,
        updated_at: When | None = None,
        event_time: When | None = None,
        event_until: When | None = None,
        valid_from: When | None = None,
        valid_until: When | None = None,
        source: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        links: Sequence[str | tuple[str, float] | Link] = (),
    ) -> Memory:
        """Remember a text. It is durable and findable by word when this returns."""
        given = {key: value for key, value in locals().items() if key != "self"}
        return self.add_many([given])[0]

    def add_many(self, memories: Iterable[Mapping[str, Any] | Memory]) -> Stored:
        """Remember many, one transaction a batch; return them in order, and which were known."""
        from scrubjay.write.fields import draft
        from scrubjay.write.remember import remember

        written: list[Memory] = []
        known: list[str] = []
        self._embedding.activate()
        shelf = self._shelf()
        batch: list[Memory] = []
        chars = 0
        shares = bool(self._people.seen(self._mine))

        def flush() -> None:
            with self._records.transaction():
                for place in {one.namespace for one in batch}:
                    self._caller.check_place(place)
                kept = [remember(shelf, one, self._mine, self._caller.changes) for one in batch]
                stored = [one.memory for one in kept]
                self._part_copies(stored)
            written.extend(stored)
            known.extend(one.memory.id for one in kept if one.known)
            batch.clear()

        for one in memories:
            if not isinstance(one, Memory | Mapping):
                raise InvalidInput(
                    f"{one!r} is neither a mapping nor a Memory; give {{'text': …}}"
                )
            given = one._asdict() if isinstance(one, Memory) else dict(one)
            batch.append(draft(self._placed(given, shares)))
            chars += len(batch[-1].text)
            if len(batch) == _BATCH or chars > _BATCH_CHARS:
                flush()
                chars = 0
        flush()
        self._embedding.wake()
        if any(one.type == "message" for one in written):
            self._extract_later()
        return Stored(written, known)

    def ingest(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        collection: str | None = None,
        namespace: str | None = None,
        watch: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
        on_change: Callable[[Ingested], None] | None = None,
    ) -> Ingested:
        """Index a file or a folder; a second run takes only what changed, and drops what is gone.

        Without a path, every folder that was read before is brought up to date. With `watch`, a thread
        keeps up with changes until the store is closed, and calls `on_change` after each.
        """
        if watch:
            from scrubjay.write.ingest.watch import check_watchable

            check_watchable()

        def changed(done: Ingested) -> None:
            self._embedding.wake()
            if on_change:
                on_change(done)

        self._embedding.activate()
        done = self._following.ingest(path, collection, namespace, progress)
        self._embedding.wake()
        if watch:
            self._following.watch(path, collection, namespace, done, changed)
        return done

    def update(self, id: str, **changes: Any) -> Memory:
        """Change fields of a memory; the rest stays. The fields are those of `add`."""
        from scrubjay.write.fields import draft
        from scrubjay.write.remember import update_times, write_memory

        with self._records.transaction():
            now = self._clock()
            before = self._to_change([id])[0]._replace(links=())
            if before.type == "message" and changes.get("text", before.text) != before.text:
                self._unsay(id)
            given = {**before._asdict(), "updated_at": None, **changes, "id": id}
            if not changes.keys().isdisjoint(("namespace", "collection")):
                given = self._caller.moved(given, before, changes)
            after = update_times(before, draft(given), changes, now)
            after = after._replace(updated_at=after.updated_at or now)
            write_memory(self._shelf(), after, self._mine)
            self._copies.part([id])
            # Old texts are not stored: rewriting one may be meant to get rid of it.
            if before.type != after.type:
                self._history().note(id, micros(now), "type", before.type, after.type)
        self._embedding.wake()
        return self.get(id)

    def _unsay(self, id: str) -> None:
        """Forget the facts that only this message says: it says something else now."""
        facts = self._facts()
        drawn = facts.lose({id})
        facts.spans.drop(id)
        if drawn:
            self._records.delete([*drawn, *self._copies.of(drawn, self._caller.changes)])

    def done(self, id: str) -> Memory:
        """Mark a memory as done: a `task` becomes a `task_done`. What is done already is not changed."""
        from scrubjay.write.fields import done_type

        return self._retyped(id, done_type)

    def undone(self, id: str) -> Memory:
        """Take the mark away: a `task_done` becomes a `task` again. What is not done is not changed."""
        from scrubjay.write.fields import open_type

        return self._retyped(id, open_type)

    def _retyped(self, id: str, change: Callable[[str], str]) -> Memory:
        with self._records.transaction():  # nobody else marks it between the look and the change
            before = self.get(id)
            wanted = change(before.type)
            return before if wanted == before.type else self.update(id, type=wanted)

    def rename_topic(self, old: str, new: str) -> int:
        """Give a topic another name, or that of another, which it then joins; return how many had it."""
        from scrubjay.write.fields import topics_of

        named = [topics_of([old]), topics_of([new])]
        if not all(named):
            raise InvalidInput(
                f"the topics are {old!r} and {new!r}; neither may be empty: give a name such as 'python'"
            )
        (before,), (after,) = named
        renamed = self._topics.rename(before, after, self._caller.changes)
        if not renamed:
            raise NotFound(f"no memory has the topic {before!r}; `scrubjay topics` lists them")
        return renamed

    def forget(self, id: str | Iterable[str]) -> int:
        """Remove memories and everything made from them; return how many. An unknown id is an error.

        Facts that only these messages say go too, which are not counted: `only_of` names them. So do
        copies that were published, from the collections in which the caller may write.
        """
        from scrubjay.write.document_links import resolve_later

        ids = [id] if isinstance(id, str) else list(dict.fromkeys(id))
        with self._records.transaction():
            found = self._to_change(ids)
            resolve_later(self._shelf(), found)
            messages = {one.id for one in found if one.type == "message"}
            drawn = self._facts().lose(messages) if messages else []
            copies = self._copies.of([*ids, *drawn], self._caller.changes)
            self._records.delete(list(dict.fromkeys((*ids, *drawn, *copies))))
        self._db.purge_log()
        return len(ids)

    def only_of(self, id: str | Iterable[str]) -> list[Memory]:
        """Return the facts that forgetting these memories would take along: drawn from nothing else."""
        ids = {id} if isinstance(id, str) else set(id)
        found = self._records.get(self._facts().only_of(ids), self._caller.changes)
        return [one for one in found.values() if one.id not in ids]

    def link(self, a: str, b: str, strength: float = 1.0, kind: str = "related") -> None:
        """Connect two memories; links are walked both ways."""
        from scrubjay.write.fields import check_strength

        check_strength(strength)
        if a == b:
            raise InvalidInput(f"{a} cannot be linked to itself; give two different ids")
        if not kind.strip():
            raise InvalidInput("kind is empty; give a word such as 'related'")
        with self._records.transaction():
            self._check_ends(a, b)
            self._graph.link(a, b, float(strength), kind)

    def unlink(self, a: str, b: str, kind: str | None = None) -> int:
        """Remove the links between two memories, of one kind or of all; return how many."""
        with self._records.transaction():
            self._check_ends(a, b)
            return self._graph.unlink(a, b, kind)

    def _check_ends(self, a: str, b: str) -> None:
        """Refuse to touch a link between memories of which the caller may change neither."""
        self.get_all([a, b])
        self._refuse_others([a, b])
        if not self._records.get([a, b], self._caller.changes):
            self._to_change([a])

    # -- reading ------------------------------------------------------------------------------

    @property
    def watch_failure(self) -> str | None:
        """Why a watch ended by itself; None while all is well."""
        return self._following.failure

    def rename_collection(self, name: str, new_name: str, *, namespace: str | None = None) -> int:
        """Give a collection another name; return how many memories are in it.

        Where one's own and a shared one have the same name, the namespace says which is meant.
        """
        return self._following.rename(name, new_name, namespace)

    def remove_collection(self, name: str, *, namespace: str | None = None) -> int:
        """Forget everything in a collection, and no longer follow its folders; return how many memories."""
        gone = self._following.remove(name, namespace)
        self._db.purge_log()
        return gone

    def pending(
        self,
        wait: bool = True,
        *,
        timeout_s: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Make the vectors and links that are still wanted, and let servers know of them.

        Returns how many are left; without `wait`, only that.
        """
        self._embedding.activate()
        replicas = self._tables.replicas
        if not wait:
            unsent = 0 if replicas is None else replicas.worker.pending()
            return self._embedding.left() + self._embedding.unlinked() + unsent
        left = self._embedding.wait(timeout_s, progress)
        if replicas is None:
            return left
        unsent = replicas.worker.wait(timeout_s)
        if self._embedding.unlinked(most=1) and not unsent:
            # A server finds what a memory is like once it knows the vectors.
            self._embedding.wait(timeout_s, progress)
            unsent = replicas.worker.wait(timeout_s)
        # Counted now: what waited for a server may have been linked in the background meanwhile.
        return self._embedding.left() + self._embedding.unlinked() + unsent

    def unembedded(self) -> int | None:
        """Return how many passages still want a vector; None where no model makes any."""
        return self._embedding.left() if self._embedding.embedder is not None else None

    def why_unembedded(self) -> str:
        """Say what vectors wait for; nothing where none do, or where they are made now."""
        return self._embedding.why_pending() if self.unembedded() else ""

    def extract(
        self,
        *,
        session: str | None = None,
        retry: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Extracted:
        """Draw facts from the messages that wait, now, with the generator; say what came of it.

        With `retry`, also from those that were given up. Unavailable where no generator is configured.
        """
        if session is not None:
            check_text("session", session)
        return self._extraction().run(session=session, retry=retry, progress=progress)

    def status(self) -> Status:
        """Return counts, models, what is pending, sizes."""
        from scrubjay.insight.status import drawing, named, status

        given = sum(self._feedback.tally())
        state = status(self.path, self._db, self._records, self._embedding, self._mine, given)
        counted = self.hits()
        reranker, generator = named(lambda: self._assistants, self._embedding)
        return state._replace(
            extraction=drawing(self._db, self._extraction, self._mine),
            searches=counted.searches,
            hits=counted.tiers,
            servers=self.servers(),
            reranker=reranker,
            generator=generator,
        )

    def calibrate(self) -> float:
        """Measure the reranker's speed anew, in milliseconds for a thousand characters, and keep it."""
        reranker, why_not = self._assistants.reranker()
        if reranker is None:
            raise Unavailable(why_not)
        return reranker.calibrate()

    def close(self) -> None:
        """Finish what is under way and close every file; closing twice is fine."""
        if self._following_made is not None:
            self._following_made.stop()
        if self._extracting_made is not None and not self._db.closed:
            self._extracting_made.stop()
        if self._embedding_made is not None and not self._db.closed:
            self._embedding_made.close()
        if self._hit_counts_made is not None and not self._db.closed:
            self._hit_counts_made.stop()
        if self._tables.replicas is not None and not self._db.closed:
            self._tables.replicas.close()
        self._tiers.close()
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
