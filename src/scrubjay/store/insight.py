"""Insight into a store: status, map, and what waits for the background workers."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.runtime.progress import Progress, silent
from scrubjay.storage.sql.overview import Gauges, SqlCounts, gauges
from scrubjay.store.context import Context
from scrubjay.types import Filters
from scrubjay.types.map import Map
from scrubjay.types.reports import Embedded, Status

_MOST_POINTS = 100_000
_NO_ANSWER = "the model does not answer"


class Insight:
    """Status and map of one store."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def status(self) -> Status:
        from scrubjay.insight.status import drawing, model_of_settings, named, status
        from scrubjay.store.models import change_under_way

        context = self._context
        context.embedding.follow()
        records, given = context.tables.records, sum(context.tables.feedback.tally())
        own = (context.path, context.db, records, context.embedding)
        state = status(*own, context.sees, given)
        counted = context.hit_counts.report()
        reranker, generator = named(
            lambda: context.models, context.embedding, bundled=context.reranks_by_default()
        )
        return state._replace(
            extraction=drawing(context.db, context.extraction, context.sees),
            searches=counted.searches,
            hits=counted.tiers,
            servers=context.replicas().states(),
            reranker=reranker,
            generator=generator,
            failed_files=context.folders.count_failed(),
            change=change_under_way(context.embedding),
            settings_model=model_of_settings(context.embedding),
            why_uncompared=context.why_uncompared(),
        )

    def gauges(self) -> Gauges:
        """Return counts of rows for metrics; needs no model and no replica."""
        return gauges(self._context.db)

    def map(self, query: str | None, limit: int, points: bool, filters: Filters) -> Map:
        if query is not None and not isinstance(query, str):
            raise InvalidInput(f"query is {query!r}; it must be a text")
        if type(limit) is not int or not 1 <= limit <= _MOST_POINTS:
            raise InvalidInput(f"limit is {limit!r}; give a whole number of 1 to {_MOST_POINTS}")
        if type(points) is not bool:
            raise InvalidInput(f"points is {points!r}; it must be True or False")
        context = self._context
        scope = context.scope(filters)
        embedder = context.embedding.embedder
        if embedder is None:
            raise Unavailable(f"no map can be drawn: {context.embedding.ready()[1]}")
        context.embedding.prepare_search()
        from scrubjay.insight.map.draw import landing_of

        drawn = context.maps.drawn(scope, embedder.name, limit)
        landing, why_not = None, ""
        if query is not None:
            try:
                ready = context.embedding.ready()
                landing = landing_of(query, drawn, *ready, context.tables.vectors, scope)
            except Unavailable as error:
                why_not = f"the query has no place on the map: {error}"
        layout = drawn.layout
        return Map(
            drawn.points if points else (),
            drawn.memories,
            drawn.left_out,
            embedder.name,
            layout and layout.kept and round(layout.kept, 4),
            layout and layout.explained and round(layout.explained, 4),
            drawn.state,
            landing,
            (why_not,) if why_not else (),
        )

    def pending(
        self,
        wait: bool,
        timeout_s: float | None,
        progress: Callable[[int, int], None] | None,
        further: bool = True,
    ) -> int:
        """Return how many vectors, links and replica changes are left, after waiting for them or now."""
        embedding, replicas = self._context.embedding, self._context.tables.replicas
        embedding.activate()
        if not wait:
            unsent = 0 if replicas is None else replicas.worker.pending()
            uncompared = embedding.uncompared() if further else 0
            return embedding.left() + embedding.unlinked() + uncompared + unsent
        left = embedding.wait(timeout_s, progress, further=further)
        uncompared = embedding.uncompared() if further else 0
        if replicas is None:
            return left + uncompared
        unsent = replicas.worker.wait(timeout_s)
        if embedding.unlinked(most=1) and not unsent:
            # A replica finds the nearest of a memory once it has the vectors.
            embedding.wait(timeout_s, progress, further=further)
            unsent = replicas.worker.wait(timeout_s)
            uncompared = embedding.uncompared() if further else 0
        # Counted now: what waited for a replica may have been linked in the background meanwhile.
        return embedding.left() + embedding.unlinked() + uncompared + unsent

    def embed(self, progress: Progress | None) -> Embedded:
        """Embed everything that is pending, and report what was done."""
        embedding, began = self._context.embedding, monotonic()
        if embedding.embedder is None:
            raise Unavailable(f"nothing can be embedded: {embedding.ready()[1]}")
        model, unlinked = embedding.embedder.name, embedding.unlinked()
        counts = SqlCounts(self._context.db)
        tally = _Tally(lambda: counts.queued_memories(model), progress or silent)
        self.pending(True, None, tally)
        left, failed = embedding.queue.left(model)
        return Embedded(
            passages=max(tally.passages - left, 0),
            memories=max(tally.memories - counts.queued_memories(model), 0),
            linked=max(unlinked - embedding.unlinked(), 0),
            model=model,
            seconds=round(monotonic() - began, 3),
            pending=left - failed,
            failed=failed,
            failures=tuple(embedding.queue.failures(model)),
            why_pending=(embedding.why_pending() or _NO_ANSWER) if left > failed else "",
        )


class _Tally:
    """A progress that counts what is queued at its first call, with what is tried again."""

    def __init__(self, count_memories: Callable[[], int], progress: Progress) -> None:
        self._count_memories = count_memories
        self._progress = progress
        self._begun = False
        self.passages = self.memories = 0

    def __call__(self, done: int, total: int) -> None:
        if not self._begun:
            self._begun = True
            self.passages, self.memories = total - done, self._count_memories()
        self._progress(done, total)
