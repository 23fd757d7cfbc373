"""Store: every verb of scrubjay in one class. The CLI, the servers and the web UI only translate."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from scrubjay.config import (
    CHUNK_OVERLAP_TOKENS,
    CHUNK_TOKENS,
    FILE_MEMORY_MB,
    FILE_TIMEOUT_S,
    PRIORITY,
    SHORT_TURN_CHARS,
    check_chunk_sizes,
    check_file_limits,
    check_short_turn,
)
from scrubjay.errors import Unavailable
from scrubjay.sharing.permissions import check_user
from scrubjay.sharing.tiers.files import open_own
from scrubjay.store.context import ChosenModels, Context
from scrubjay.store.read import Reader, check_page, ids_of
from scrubjay.store.search import Request, Search
from scrubjay.text.urls import parse_replica_urls
from scrubjay.text.validation import check_text
from scrubjay.times import When, parse_bound
from scrubjay.types import Filters, Link, Memories, Memory, Messages, Neighbor, Results, Stored

if TYPE_CHECKING:
    from scrubjay.config import TierSetting
    from scrubjay.conversations.messages import Message
    from scrubjay.insight.landscape import Landscape
    from scrubjay.models import Embedder, Generator, Reranker
    from scrubjay.models.shared import SharedModels
    from scrubjay.sharing.api_keys import ApiKeys
    from scrubjay.store.feedback import Feedback
    from scrubjay.store.files import Files
    from scrubjay.store.insight import Insight
    from scrubjay.store.share import Share
    from scrubjay.store.transfer import Transfer
    from scrubjay.store.write import Writer
    from scrubjay.text.lines import Lines
    from scrubjay.types import changes as change_types
    from scrubjay.types import reports
    from scrubjay.types.map import Graph, Map

_TELL_S = 0.5  # for what new memories probably update

Path = str | os.PathLike[str]
Progress = Callable[[int, int], None]
FileProgress = Callable[[int, int, str], None]


class Store:
    """A store of memories. Threads may share it, and many processes may open it at the same time."""

    def __init__(
        self,
        path: str | None,
        *,
        tiers: Sequence[TierSetting] = (),
        made_by: str | None = None,
        profile: str = "default",
        embedder: Embedder | str | bool | None = None,
        reranker: Reranker | str | bool | None = None,
        generator: Generator | str | bool | None = None,
        clock: Callable[[], datetime] | None = None,
        user: str | None = None,
        tenant: str | None = None,
        vectors: str | None = None,
        graph: str | None = None,
        chunk_tokens: int = CHUNK_TOKENS,
        chunk_overlap_tokens: int = CHUNK_OVERLAP_TOKENS,
        short_turn_chars: int = SHORT_TURN_CHARS,
        file_timeout_s: float = FILE_TIMEOUT_S,
        file_memory_mb: int = FILE_MEMORY_MB,
    ) -> None:
        person = None if user is None else check_user(user)
        sizes = check_chunk_sizes(chunk_tokens, chunk_overlap_tokens)
        limits = check_file_limits(file_timeout_s, file_memory_mb)
        opened = open_own(
            path,
            tiers,
            person,
            made_by=made_by,
            short_turn_chars=check_short_turn(short_turn_chars),
            tenant=tenant,
            servers=parse_replica_urls(vectors, graph),
        )
        models = ChosenModels(embedder, reranker, generator)
        self._context = Context(*opened, person, tenant, profile, clock, sizes, limits, models)
        self._search = Search(self._context)
        self._read = Reader(self._context)

    # -- parts that a search does not need, imported and made when first used ------------------

    @cached_property
    def _write(self) -> Writer:
        from scrubjay.store.write import Writer

        return Writer(self._context, self._read)

    @cached_property
    def _share(self) -> Share:
        from scrubjay.store.share import Share

        return Share(self._context, self._read)

    @cached_property
    def files(self) -> Files:
        """Memories as text files with paths below /memories."""
        from scrubjay.store.files import Files

        return Files(self._context, self._read, self._write, self._search)

    @cached_property
    def _feedback(self) -> Feedback:
        from scrubjay.store.feedback import Feedback

        return Feedback(self._context)

    @cached_property
    def _transfer(self) -> Transfer:
        from scrubjay.store.transfer import Transfer

        return Transfer(self._context, self._write)

    @cached_property
    def _insight(self) -> Insight:
        from scrubjay.store.insight import Insight

        return Insight(self._context)

    # -- the store itself ---------------------------------------------------------------------

    @property
    def path(self) -> str:
        """The file of the store, or the URL of its Postgres without the password."""
        return self._context.path

    @property
    def profile(self) -> str:
        """The profile of searches that name none."""
        return self._context.profile

    @profile.setter
    def profile(self, name: str) -> None:
        self._context.profile = name

    @property
    def tenant(self) -> str | None:
        """The tenant whose store this is."""
        return self._context.tenant

    @property
    def user(self) -> str | None:
        """The user for whom the store is open; None sees everything."""
        return self._context.permissions.user

    @property
    def on_search(self) -> Callable[[Results], None] | None:
        """Called with the results of each search; an error that it raises is logged."""
        return self._search.on_search

    @on_search.setter
    def on_search(self, observer: Callable[[Results], None] | None) -> None:
        self._search.on_search = observer

    @property
    def api_keys(self) -> ApiKeys:
        """The API keys that this store holds."""
        return self._context.api_keys

    def share_models(self, models: SharedModels) -> None:
        """Use models that several stores share; from then on no search waits for a model to load.

        Call it before anything else.
        """
        self._context.share_models(models)

    def count_every_search(self) -> None:
        """Count the hits of each source for every profile from now on, as a server does."""
        self._search.counts_every_search = True

    def close(self) -> None:
        """Finish what is under way and close every file; closing twice is fine."""
        self._context.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

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
        """Store a text. It is durable and can be found by its words when this returns."""
        what = {"text": text, "id": id, "title": title, "type": type, "topics": topics}
        where = {
            "namespace": namespace,
            "collection": collection,
            "session": session,
            "role": role,
        }
        who = {"owner": owner, "agent": agent, "source": source, "context": context}
        entry = {"severity": severity, "domain": domain, "metadata": metadata, "links": links}
        stored = {"created_at": created_at, "updated_at": updated_at}
        event = {"event_time": event_time, "event_until": event_until}
        valid = {"valid_from": valid_from, "valid_until": valid_until}
        return self.add_many([{**what, **where, **who, **entry, **stored, **event, **valid}])[0]

    def add_many(self, memories: Iterable[Mapping[str, Any] | Memory]) -> Stored:
        """Store many memories, one transaction for each batch; return them in order.

        `.known` has the ids of those that existed already.
        """
        return self._write.add_many(memories)

    def add_message(
        self,
        text: str,
        *,
        session: str,
        role: str = "user",
        at: When | float | None = None,
        owner: str | None = None,
        agent: str | None = None,
    ) -> Memory:
        """Store one message of a session verbatim; it can be found by its words when this returns.

        `at` is when it was sent, now by default; a number is seconds since 1970. The warnings of
        `add_messages` are logged.
        """
        message = {"text": text, "session": session, "role": role, "at": at}
        stored = self.add_messages([{**message, "owner": owner, "agent": agent}])
        for warning in stored.warnings:
            import logging

            logging.getLogger(__name__).warning("%s", warning)
        return stored[0]

    def add_messages(
        self,
        messages: Iterable[Message],
        *,
        session: str | None = None,
        owner: str | None = None,
        agent: str | None = None,
    ) -> Messages:
        """Store many messages, given as mappings or as pairs of role and text; return them in order.

        A mapping has the names of `add_message` or those of chat programs: `content`, also in parts,
        and `timestamp`, `created_at` or `created`. The arguments fill in what it lacks. A message
        without a time gets that of the message before it in its session, else of the one after it,
        else the present. All are checked before any is stored. `.warnings` names what was left out,
        times in the future, and messages that are not neighbors of the one before.
        """
        from scrubjay.conversations.messages import prepare, separated
        from scrubjay.storage.sql.messages import SqlMessages

        defaults = {"session": session, "owner": owner, "agent": agent}
        memories, names, warnings = prepare(messages, defaults, self._context.clock())
        stored = self.add_many(memories) if memories else []
        apart = separated(SqlMessages(self._context.db), names, stored)
        return Messages(stored, [*warnings, *apart])

    def ingest(
        self,
        path: Path | None = None,
        *,
        collection: str | None = None,
        namespace: str | None = None,
        watch: bool = False,
        progress: FileProgress | None = None,
        on_change: Callable[[reports.Ingested], None] | None = None,
    ) -> reports.Ingested:
        """Index a file or a folder; a second run reads only what changed and drops what was deleted.

        Without a path, every folder that was ingested before is brought up to date. With `watch`, a
        thread follows changes until the store is closed, and calls `on_change` after each.
        """
        if watch:
            from scrubjay.write.ingest.watch import check_watchable

            check_watchable()
        context = self._context

        def changed(done: reports.Ingested) -> None:
            context.embedding.wake()
            if on_change:
                on_change(done)

        context.embedding.activate()
        done = context.folders.ingest(path, collection, namespace, progress)
        context.embedding.wake()
        if watch:
            context.folders.watch(path, collection, namespace, done, changed)
        return done

    @property
    def watch_failure(self) -> str | None:
        """Why a watch has ended; None while all of them run."""
        return self._context.folders.failure

    def update(self, id: str, **changes: Any) -> Memory:
        """Change fields of a memory; the others stay. The fields are those of `add`.

        What was there before is kept: `history` returns it, and `undo` takes the change back.
        """
        return self._write.update(id, changes)

    def undo(self, id: str) -> Memory:
        """Take the last change of a memory back; again, the one before it.

        This is a change, too, and a version of its own: `history` has what was taken back. NotFound
        where every change was taken back.
        """
        return self._write.undo(id)

    def done(self, id: str) -> Memory:
        """Mark a memory as done: a `task` becomes a `task_done`."""
        return self._write.mark(id, done=True)

    def undone(self, id: str) -> Memory:
        """Remove the mark: a `task_done` becomes a `task` again."""
        return self._write.mark(id, done=False)

    def forget(self, id: str | Iterable[str]) -> int:
        """Delete memories and everything derived from them; return how many. NotFound for an unknown id.

        Facts that only these messages support are deleted, too, and not counted: `only_of` names them.
        So are published copies in collections in which the caller may write.
        """
        return self._write.forget(id)

    def only_of(self, id: str | Iterable[str]) -> list[Memory]:
        """Return the facts that would be deleted with these messages: no other message supports them."""
        return self._write.only_of(id)

    def link(self, a: str, b: str, strength: float = 1.0, kind: str = "related") -> None:
        """Link two memories; links are walked in both directions."""
        self._write.link(a, b, strength, kind)

    def unlink(self, a: str, b: str, kind: str | None = None) -> int:
        """Remove the links between two memories, of one kind or of all; return how many."""
        return self._write.unlink(a, b, kind)

    def rename_topic(self, old: str, new: str) -> int:
        """Rename a topic, or merge it into another; return how many memories had it."""
        return self._write.rename_topic(old, new)

    # -- searching ----------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        profile: str | None = None,
        mode: str | None = None,
        limit: int | None = None,
        namespace: str | None = None,
        namespaces: Sequence[str] | None = None,
        collection: str | None = None,
        topics: Sequence[str] | str | None = None,
        types: Sequence[str] | str | None = None,
        owner: str | None = None,
        agent: str | None = None,
        since: When | None = None,
        until: When | None = None,
        session: str | None = None,
        only_domain: str | None = None,
        min_score: float | None = None,
        overrides: Mapping[str, Any] | None = None,
        tags: Sequence[str] | str | None = None,
        domain: str | None = None,
        weights: Mapping[str, float] | str | None = None,
        include_expired: bool = False,
        as_of: When | None = None,
        history: bool = False,
    ) -> Results:
        """Find memories. Every string is a legal query; `degraded` names what could not be searched.

        `tags`, `domain` and `weights` score, in profiles with stages for them; weights are a mapping or
        the name of a pattern: exact_id, semantic, roaming. A namespace that ends in a slash stands for
        a whole project. Memories that are not valid now are left out, unless `include_expired` is True.
        `as_of` searches what was stored and valid at that time. With `history`, memories that were
        superseded or are not valid now are hits, too.
        """
        filters = (namespace, namespaces, collection, topics, types, owner, agent, session)
        scoring = (min_score, overrides, tags, domain, weights, include_expired, as_of, history)
        return self._search.run(
            Request(query, profile, mode, limit, *scoring),
            Filters(*filters, since, until, only_domain),
        )

    def feedback(self, query: str, id: str, action: str) -> reports.FeedbackGiven:
        """Record whether a result helped: accepted, modified or dismissed; return the record."""
        return self._feedback.add(query, id, action)

    def feedbacks(self, *, limit: int = 50) -> reports.Feedbacks:
        """Return the caller's feedback in all tiers that can be read, newest first."""
        return self._feedback.newest(limit)

    def undo_feedback(
        self, number: int | None = None, *, tier: str | None = None
    ) -> reports.FeedbackGiven:
        """Remove one feedback record, by its number, or the last one; return it.

        Each tier has its own numbers; without a tier, a number is one of the store's own database.
        """
        return self._feedback.undo(number, tier)

    def reset_feedback(self, *, tier: str | None = None) -> int:
        """Remove the caller's feedback in the store's own database or in another tier; return how many."""
        return self._feedback.reset(tier)

    def weights(self, profile: str | None = None) -> Mapping[str, float]:
        """Return the weights now in force for a profile.

        In a profile that weighs signals these are the signals' weights, as feedback has moved them.
        In others they are those of the stage that fuses the lists; empty where it weighs none.
        """
        return self.learned(profile).weights

    def learned(self, profile: str | None = None) -> reports.Learned:
        """Return a profile's weights as feedback has moved them, with the counts behind them."""
        return self._feedback.learned(profile)

    def freeze_weights(self, profile: str | None = None) -> float:
        """Keep the weights as they are now, whatever feedback follows; return how far they are moved.

        The numbers are those of the profile if it learns, else those of vault.
        """
        return self._feedback.freeze(profile)

    def thaw_weights(self) -> bool:
        """Let the weights follow feedback again; False where they did already."""
        return self._context.tables.feedback.thaw()

    def hits(self, *, since: When | None = None) -> reports.Hits:
        """Return how many hits each source found, by hour, since a moment or in all.

        Searches of profiles with the stage `count_hits` are counted; a server counts every search.
        """
        return self._context.hit_counts.report(parse_bound(since, "since", self._context.clock))

    # -- reading ------------------------------------------------------------------------------

    def get(self, id: str) -> Memory:
        """Return one memory with its links, from the highest tier that has it; else NotFound."""
        return self.get_all(ids_of([id]))[0]

    def lines(self, id: str, first: int = 1, last: int | None = None) -> Lines:
        """Return some lines of a memory, by default all, with `first`, `last` and the `total`.

        Lines count from 1. A `last` beyond the end means the last line; InvalidInput if `first` is beyond.
        """
        from scrubjay.text.lines import cut_lines

        return cut_lines(id, self.get(id).text, first, last)

    def get_many(self, ids: Iterable[str]) -> Memories:
        """Return the memories that exist, in order; `.missing` has the other ids."""
        return self._read.get_many(ids)

    def get_all(self, ids: Sequence[str]) -> Memories:
        """Return all of these memories; NotFound names the first that does not exist."""
        return self._read.get_all(ids)

    def holds(self, id: str) -> bool:
        """True when the store's own database has a memory with this id that the caller may see."""
        return bool(self._context.tables.records.get([id], self._context.sees))

    def resolve(self, prefix: str) -> str:
        """Return the one id that begins with this prefix of at least four characters."""
        return self._read.resolve(prefix)

    def ls(
        self,
        *,
        namespace: str | None = None,
        types: Sequence[str] | str | None = None,
        topics: Sequence[str] | str | None = None,
        collection: str | None = None,
        session: str | None = None,
        owner: str | None = None,
        agent: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Memory]:
        """Return memories, newest first; of a session, its latest messages in their order.

        That order is by time, then by the order of writing. `offset` skips the newest.
        """
        filters = (collection, topics, types, owner, agent, session)
        return self._read.ls(Filters(namespace, None, *filters), limit, offset)

    def expiring(
        self, within: timedelta | str | None = None, *, expired: bool = False
    ) -> Memories:
        """Return memories that are valid for no longer than `within` ("30d" by default), soonest first.

        With `expired`, those whose validity has ended, the latest first: all, or within that time.
        """
        return self._read.expiring(within, expired)

    def topics(
        self, *, namespace: str | None = None, limit: int | None = None
    ) -> Mapping[str, int]:
        """Return every topic with the number of memories that have it, most first."""
        return self._read.topics(namespace, limit)

    def landscape(self, *, tokens: int = 800, namespace: str | None = None) -> Landscape:
        """Return an overview of what is stored within a budget of tokens, for an agent's first turn.

        Memories that are not valid now are left out.
        """
        return self._read.landscape(tokens, namespace)

    def history(self, id: str) -> list[reports.Version]:
        """Return the versions of a memory, newest first: the first one is the memory as it is now.

        Each change is a version: a new text or other field, done and undone, superseded by a fact that
        was extracted later. Documents have no versions of earlier contents of their files.
        """
        return self._read.history(id)

    def changes(self, *, since: When | None = None) -> list[change_types.Change]:
        """Return which memory was taken to replace which, the latest first: links `supersedes` and
        `updates`.

        `since` selects those made since a time. `unlink(new, old)` takes one back.
        """
        return self._read.changes(since)

    def neighbors(self, id: str, *, depth: int = 1, limit: int | None = None) -> list[Neighbor]:
        """Return the memories that a memory's links reach, best path first."""
        return self._read.neighbors(id, depth, limit)

    def surroundings(self, id: str, *, depth: int = 1, limit: int = 50) -> Graph:
        """Return the graph around a memory: the best memories its links reach, and the links among them.

        The memory itself comes first. Scores are those of `neighbors`.
        """
        return self._read.surroundings(id, depth, limit)

    def around(self, id: str, turns: int = 2) -> list[Memory]:
        """Return a message with this many messages before and after it, in the order of the session."""
        from scrubjay.conversations.messages import check_turns

        return self._read.around(id, check_turns(turns))

    def sessions(
        self,
        *,
        namespace: str | None = None,
        owner: str | None = None,
        agent: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[reports.Session]:
        """Return the sessions whose messages the caller may see, the most recent first."""
        from scrubjay.storage.sql.messages import SqlMessages

        check_page(limit, offset)
        scope = self._context.scope(Filters(namespace, owner=owner, agent=agent))
        return SqlMessages(self._context.db).sessions(scope, limit, offset)

    def map(
        self,
        *,
        query: str | None = None,
        limit: int = 10_000,
        points: bool = True,
        namespace: str | None = None,
        collection: str | None = None,
        types: Sequence[str] | str | None = None,
        topics: Sequence[str] | str | None = None,
        session: str | None = None,
        owner: str | None = None,
        agent: str | None = None,
        since: When | None = None,
        until: When | None = None,
    ) -> Map:
        """Return the memories of the store's own database as points on a plane; similar ones are close.

        A plane cannot keep all distances: `kept` is the share of a memory's ten nearest that are near it
        on the map, and `explained` the variance along the two longest axes. Points stay in place until
        a tenth of the memories has changed. Above `limit`, the same fair sample is drawn every time.
        With `query`, `landing` says where the query lands and what is nearest; with `points=False` that
        is all. Unavailable without an embedder.
        """
        filters = (namespace, None, collection, topics, types, owner, agent, session, since, until)
        return self._insight.map(query, limit, points, Filters(*filters))

    def coverage(
        self,
        *,
        state: str | None = None,
        collection: str | None = None,
        namespace: str | None = None,
    ) -> list[reports.Covered]:
        """Return every file that `ingest` met, by path: indexed, skipped or failed, and why."""
        return self._context.folders.coverage(state, collection, namespace)

    # -- collections and users ----------------------------------------------------------------

    def collections(self) -> list[reports.Collection]:
        """Return the collections, by name."""
        return self._context.folders.collections()

    def create_collection(self, name: str) -> reports.Collection:
        """Create a shared collection; the caller becomes its owner."""
        return self._share.create_collection(name)

    def rename_collection(self, name: str, new_name: str, *, namespace: str | None = None) -> int:
        """Rename a collection; return how many memories are in it.

        Where an own and a shared collection have the same name, the namespace selects one.
        """
        return self._context.folders.rename(name, new_name, namespace)

    def remove_collection(self, name: str, *, namespace: str | None = None) -> int:
        """Delete every memory of a collection and stop following its folders; return how many."""
        removed = self._context.folders.remove(name, namespace)
        self._context.db.purge()
        return removed

    def members(self, name: str) -> Mapping[str, str]:
        """Return the members of a shared collection with their roles, owners first."""
        return self._share.members(name)

    def share(self, name: str, user: str, role: str = "reader") -> Mapping[str, str]:
        """Add a user to a collection, or change their role; return the members."""
        return self._share.share(name, user, role)

    def unshare(self, name: str, user: str) -> Mapping[str, str]:
        """Remove a user from a collection, or leave it; return the members."""
        return self._share.unshare(name, user)

    def publish(self, id: str, name: str) -> Memory:
        """Copy a memory into a shared collection for all of its members; return the copy.

        The copy stays as it is when the memory changes, and is deleted when the memory is forgotten.
        """
        return self._share.publish(id, name)

    def unpublish(self, id: str, name: str) -> None:
        """Remove a published memory from a collection, by its own id or by that of the copy."""
        self._share.unpublish(id, name)

    # -- tiers --------------------------------------------------------------------------------

    def connect(self, path: Path, *, name: str, priority: float = PRIORITY) -> None:
        """Search another store's file as well from now on; it is never created or migrated.

        Only feedback on its memories is written there. Its scores are multiplied by `priority`, above
        0 and at most 1.
        """
        self._context.tiers.connect(path, name, priority)

    def disconnect(self, name: str) -> None:
        """Stop searching a connected tier."""
        self._context.tiers.disconnect(name)

    def tiers(self) -> list[reports.TierState]:
        """Return every database of the store, the highest tier first, and why one cannot be read."""
        return self._context.tiers.states(self._context.sees)

    # -- export, import, backup ---------------------------------------------------------------

    def backup(
        self, path: Path, *, force: bool = False, progress: Progress | None = None
    ) -> reports.BackedUp:
        """Copy the whole store into another file, as it is now, while others go on writing.

        The copy is a store with vectors, links, feedback, history and API keys. An existing file is
        replaced only with `force`.
        """
        return self._transfer.backup(path, force, progress)

    def export_md(
        self,
        folder: Path,
        *,
        namespace: str | None = None,
        types: Sequence[str] | str | None = None,
        topics: Sequence[str] | str | None = None,
        collection: str | None = None,
        session: str | None = None,
        force: bool = False,
        prune: bool = False,
        progress: FileProgress | None = None,
    ) -> reports.Exported:
        """Write memories into a folder, one Markdown file each; a second run writes only changes.

        A file that is not an entry is refused, and an entry that was edited by hand is kept until it is
        imported, unless `force` is given. With `prune`, files of other entries are removed.
        """
        filters = Filters(namespace, None, collection, topics, types, session=session)
        return self._transfer.export_md(folder, filters, force, prune, progress)

    def export_jsonl(
        self,
        to: Path | TextIO,
        *,
        namespace: str | None = None,
        types: Sequence[str] | str | None = None,
        topics: Sequence[str] | str | None = None,
        collection: str | None = None,
        session: str | None = None,
        force: bool = False,
        progress: FileProgress | None = None,
    ) -> reports.Exported:
        """Write memories as JSON lines, into a file or a stream."""
        filters = Filters(namespace, None, collection, topics, types, session=session)
        return self._transfer.export_jsonl(to, filters, force, progress)

    def export_mem0(
        self,
        to: Path | TextIO,
        *,
        namespace: str | None = None,
        types: Sequence[str] | str | None = None,
        topics: Sequence[str] | str | None = None,
        collection: str | None = None,
        session: str | None = None,
        force: bool = False,
        progress: FileProgress | None = None,
    ) -> reports.Exported:
        """Write memories as the JSON of mem0's `get_all`; what it has no field for is in its metadata."""
        filters = Filters(namespace, None, collection, topics, types, session=session)
        return self._transfer.export_mem0(to, filters, force, progress)

    def import_entries(
        self,
        *sources: Path | TextIO | BinaryIO,
        namespace: str | None = None,
        collection: str | None = None,
        dry_run: bool = False,
        progress: FileProgress | None = None,
    ) -> reports.Imported:
        """Import entries: folders of Markdown files, `.md` and `.jsonl` files, streams of JSON lines.

        Each is checked and stored as `add` does, an existing id is replaced, and a wrong entry does not
        stop the others. `namespace` and `collection` take precedence over those of the entries.
        """
        return self._transfer.import_entries(sources, namespace, collection, dry_run, progress)

    def import_from(
        self,
        name: str,
        path: Path,
        *,
        namespace: str | None = None,
        collection: str | None = None,
        dry_run: bool = False,
        progress: FileProgress | None = None,
    ) -> reports.ImportedFrom:
        """Import what another product stored: `name` is its format, such as `mem0` or `claude-code`.

        Ids are made from those of the source, so that a second run changes nothing and continues one
        that was stopped. What cannot be read is in `failed`, and the rest is stored. A folder of
        `obsidian` or `basic-memory` is ingested. `dry_run` stores nothing.
        """
        return self._transfer.import_from(name, path, namespace, collection, dry_run, progress)

    # -- models, background work, replicas ----------------------------------------------------

    def status(self) -> reports.Status:
        """Return counts, models, what is pending, sizes."""
        return self._insight.status()

    def pending(
        self,
        wait: bool = True,
        *,
        timeout_s: float | None = None,
        progress: Progress | None = None,
        further: bool = True,
    ) -> int:
        """Wait until all vectors and links are made and the replicas have them; return how many are left.

        Without `wait`, only count. Without `further`, do not wait for multilingual vectors, nor for the
        index of the model that the store changes to; neither is counted.
        """
        return self._insight.pending(wait, timeout_s, progress, further)

    def embed(self, *, progress: Progress | None = None) -> reports.Embedded:
        """Embed everything that is pending, as `pending` does, and return what was done."""
        return self._insight.embed(progress)

    def use_model(
        self,
        name: str,
        *,
        wait: bool = False,
        timeout_s: float | None = None,
        progress: Progress | None = None,
    ) -> reports.ModelChange:
        """Change the embedding model of the store, for every process that opens it without an embedder.

        The model is checked with one sentence first. Its index is built in the background, by every
        process that has the store open, or here with `wait`. Until it is complete the old index answers.
        """
        from scrubjay.store.models import use_model

        return use_model(self._context, name, wait, timeout_s, progress)

    def prune_models(self, name: str | None = None) -> list[reports.PrunedModel]:
        """Remove the indexes of former models and an unfinished one, or only that of `name`; return them."""
        from scrubjay.store.models import prune_models

        return prune_models(self._context, name)

    def likely_changes(self, memories: Sequence[Memory]) -> list[change_types.Likely]:
        """Return which earlier memories these new ones probably update, or nearly repeat, as far as
        that is known right after they were stored; empty where changes are not detected."""
        embedding = self._context.embedding
        if embedding.changes is None or embedding.static is None:
            return []
        return embedding.changes.likely(memories, embedding.static.embedder.name, _TELL_S)

    def unembedded(self) -> int | None:
        """Return how many chunks have no vector yet; None without an embedder."""
        embedding = self._context.embedding
        return embedding.left() if embedding.embedder is not None else None

    def why_unembedded(self) -> str:
        """Return what the vectors wait for; empty where none wait, or where they are made now."""
        return self._context.embedding.why_pending() if self.unembedded() else ""

    def extract(
        self,
        *,
        session: str | None = None,
        retry: bool = False,
        progress: Progress | None = None,
    ) -> reports.Extracted:
        """Extract facts from waiting messages now, with the generator, and report what came of it.

        With `retry`, also from messages that were given up. Unavailable without a generator.
        """
        if session is not None:
            check_text("session", session)
        return self._context.extraction().run(session=session, retry=retry, progress=progress)

    def calibrate(self) -> float:
        """Measure the reranker's speed, in milliseconds for a thousand characters, and store it."""
        reranker, why_not = self._context.models.reranker()
        reranker = reranker or self._context.models.bundled_reranker()
        if reranker is None:
            raise Unavailable(why_not)
        return reranker.calibrate()

    def servers(self) -> tuple[reports.ServerState, ...]:
        """Return the state of each replica: how many changes it lacks, and why."""
        return self._context.replicas().states()

    def reindex(
        self,
        what: str | None = None,
        *,
        drop: bool = False,
        progress: Progress | None = None,
    ) -> reports.Reindexed:
        """Rebuild indexes from the records: words, vectors, graph, or all of them.

        A replica is sent everything again; `left` is what it does not have yet. With `drop`, a replica
        is sent nothing from now on.
        """
        db, records = self._context.db, self._context.tables.records
        db.check_writable()
        return self._context.replicas().reindex(records, db, what, drop=drop, progress=progress)
