"""The verbs that draw: the map of all memories, and the graph around one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.parts.talking import Talking
from scrubjay.sharing.permissions import only
from scrubjay.times import When

if TYPE_CHECKING:
    from scrubjay.insight.map.draw import Drawn, Maps
    from scrubjay.types import Scope
    from scrubjay.types.map import Graph, Landing, Map

MOST_POINTS = 100_000
MOST_NODES = 1000
_NEAREST = 10


class Picturing(Talking):
    """What is drawn of a store."""

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
        """Return the memories of the store's own file as points of a plane: what is alike lies together.

        A plane cannot show all that sets texts apart: `kept` says which share of a memory's ten nearest
        is still near it on the map, a third to two thirds of them for thousands of texts. The two longest
        axes, of which the map is not made but from which it begins, would keep a tenth or less;
        `explained` says how much of the variance they hold. Points stay where they are until a tenth of
        what is stored has changed. Above `limit`, a fair sample is drawn, the same every time.
        With `query`, `landing` says where that lands and what is nearest there; without `points`, a page
        that has them already is told no more than that. Unavailable where no model makes vectors.
        """
        if query is not None and not isinstance(query, str):
            raise InvalidInput(f"query is {query!r}; it must be a text")
        if type(limit) is not int or not 1 <= limit <= MOST_POINTS:
            raise InvalidInput(f"limit is {limit!r}; give a whole number of 1 to {MOST_POINTS}")
        if type(points) is not bool:
            raise InvalidInput(f"points is {points!r}; it must be True or False")
        scope = self._caller.narrowed(
            namespaces=only(namespace, "namespace"),
            types=types,
            topics=topics,
            collection=collection,
            session=session,
            owner=owner,
            agent=agent,
            since=since,
            until=until,
        )
        embedder = self._embedding.embedder
        if embedder is None:
            raise Unavailable(f"no map can be drawn: {self._embedding.ready()[1]}")
        self._embedding.prepare_search()
        from scrubjay.types.map import Map

        drawn = self._maps.drawn(scope, embedder.name, limit)
        landing, why_not = None, ""
        if query is not None:
            try:
                landing = self._landing(query, scope, drawn)
            except Unavailable as gone:
                why_not = f"the query has no place on the map: {gone}"
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

    @cached_property
    def _maps(self) -> Maps:
        from scrubjay.insight.map.draw import Maps

        return Maps(self._db)

    def _landing(self, query: str, scope: Scope, drawn: Drawn) -> Landing | None:
        """Return where a query lands: in the midst of its nearest, the more so the nearer they are."""
        from math import exp

        from scrubjay.text.analysis import terms, valid_unicode
        from scrubjay.types.map import Landing

        text = valid_unicode(query)
        if not terms(text):
            raise Unavailable("it holds no word")
        embedder, why_not = self._embedding.ready()
        if embedder is None:
            raise Unavailable(why_not)
        if not drawn.points:
            return None
        vector = embedder.embed([text[:_MOST_QUERY_CHARS]], as_query=True)[0]
        if not abs(float(vector @ vector)) > 0:
            raise Unavailable(f"{embedder.name} gave a vector without direction for it")
        if len(drawn.points) == drawn.memories:
            found = self._vectors.search(vector, embedder.name, scope, _NEAREST)
            near = [(row.score, row.id) for row in found.rows]
        else:  # the nearest of all may not be in the sample
            ids = {n: id_ for id_, n in drawn.numbers.items()}
            best = self._vectors.nearest_of(list(ids), vector, embedder.name, _NEAREST)
            near = sorted(((cosine, ids[n]) for n, (cosine, _) in best.items()), reverse=True)
        near = [one for one in near if one[1] in drawn.places][:_NEAREST]
        if not near:
            return None
        pull = [exp((cosine - near[0][0]) / _PULL_COSINE) for cosine, _ in near[:_AMONG]]
        places = [drawn.places[id_] for _, id_ in near[:_AMONG]]
        x, y = (
            sum(one * place[side] for one, place in zip(pull, places, strict=True)) / sum(pull)
            for side in (0, 1)
        )
        return Landing(round(x, 4), round(y, 4), tuple(id_ for _, id_ in near))

    def surroundings(self, id: str, *, depth: int = 1, limit: int = 50) -> Graph:
        """Return the graph around a memory: what its links reach, the best so many, and all links among.

        The memory itself comes first. Scores are those of `neighbors`.
        """
        if type(limit) is not int or not 1 <= limit <= MOST_NODES:
            raise InvalidInput(f"limit is {limit!r}; give a whole number of 1 to {MOST_NODES}")
        from scrubjay.insight.map.draw import titled
        from scrubjay.types.map import Graph, Node

        reached = self.neighbors(id, depth=depth)
        tables = self._holder(id).tables or self._tables
        far = {id: (1.0, 0), **{one.id: (one.score, one.depth) for one in reached[:limit]}}
        found = tables.records.get(list(far), self._mine)
        nodes = tuple(
            Node(id_, titled(one.title or one.text[:400]), one.type, *far[id_])
            for id_ in far
            if (one := found.get(id_)) is not None
        )
        edges = tables.graph.between([one.id for one in nodes])
        return Graph(nodes, tuple(edges), max(len(reached) - limit, 0))


_MOST_QUERY_CHARS = 4000
_AMONG = 3
_PULL_COSINE = 0.05  # of a memory that is less near by so much, a third counts
