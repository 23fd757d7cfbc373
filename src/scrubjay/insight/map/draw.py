"""Map of a store: computed once, and cached until the database changes.

The web UI requests it with every query; only the query is embedded then. After a small change the points
stay where they are, so that a user finds them again, and new ones are placed among them.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from math import exp
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.storage.sql.overview import EmbeddedMemory, SqlMap
from scrubjay.text.analysis import terms, valid_unicode
from scrubjay.text.snippets import preview
from scrubjay.times import moment
from scrubjay.types.map import Landing, Point

if TYPE_CHECKING:
    from scrubjay.insight.map.layout import Layout, Rows
    from scrubjay.models.guard import GuardedEmbedder
    from scrubjay.storage.database import Database
    from scrubjay.storage.sql.vectors import SqlVectors
    from scrubjay.types import Scope

MOST_LAID_OUT = 10_000  # a layout compares all pairs; further memories are placed among these
_ENOUGH = 0.9  # of those laid out must still exist, or all are laid out again
_MOST_KEPT = 4  # maps of different scopes
_AT_ONCE = 2048
_TITLE_CHARS = 80
_MOST_QUERY_CHARS = 4000
_NEAREST = 10
_AMONG = 3
_PULL_COSINE = 0.05  # a memory whose cosine is lower by this counts for a third

Place = tuple[float, float]


class Drawn(NamedTuple):
    """A map without a query; `places` and `numbers` are by id."""

    points: tuple[Point, ...]
    places: Mapping[str, Place]
    numbers: Mapping[str, int]
    memories: int
    left_out: int
    layout: Layout | None
    state: str


class _Kept(NamedTuple):
    number: int | None
    drawn: Drawn
    laid_out: dict[int, int]  # by memory, the newest vector that it had
    placed: Mapping[int, tuple[int, Place]]


class Maps:
    """The maps of one store, cached by scope, model and limit; one thread computes at a time."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._table = SqlMap(db)
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[Scope, str, int], _Kept] = OrderedDict()

    def drawn(self, scope: Scope, model: str, limit: int) -> Drawn:
        """Return the map of a scope with up to `limit` points."""
        key = (scope, model, limit)
        with self._lock:
            with self._db.watched() as (_, number):
                before = self._kept.get(key)
                if before is not None and number is not None and before.number == number:
                    self._kept.move_to_end(key)
                    return before.drawn
            # What is read from here on is at least as new as the number.
            after = self._draw(scope, model, limit, before)._replace(number=number)
            if number is not None:
                self._kept[key] = after
                self._kept.move_to_end(key)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
            return after.drawn

    def _draw(self, scope: Scope, model: str, limit: int, before: _Kept | None) -> _Kept:
        found, left_out = self._table.embedded(model, scope)
        chosen = sample(found, limit)
        wanted = {one.memory: one.newest for one in chosen}
        layout, laid_out = None, dict[int, int]()
        placed: dict[int, tuple[int, Place]] = {}
        if before is not None and _will_do(before, wanted):
            layout, laid_out = before.drawn.layout, before.laid_out
            placed = {n: of for n, of in before.placed.items() if wanted.get(n) == of[0]}
        elif chosen:
            layout, laid_out, placed = self._lay_out(model, sample(chosen, MOST_LAID_OUT))
        if layout is not None:
            others = [n for n in wanted if n not in placed]
            placed |= self._among(layout, model, others, wanted)
        points = self._points(placed)
        shown = tuple(points.values())
        places = {point.id: (point.x, point.y) for point in shown}
        numbers = {point.id: n for n, point in points.items()}
        state = hashlib.blake2b(repr(shown).encode(), digest_size=8).hexdigest()
        drawn = Drawn(shown, places, numbers, len(found), left_out, layout, state)
        return _Kept(None, drawn, laid_out, placed)

    def _lay_out(
        self, model: str, chosen: Sequence[EmbeddedMemory]
    ) -> tuple[Layout | None, dict[int, int], dict[int, tuple[int, Place]]]:
        from scrubjay.insight.map.layout import laid_out

        newest = {one.memory: one.newest for one in chosen}
        there, rows = self._table.vectors(model, list(newest))
        if not there:  # all were deleted a moment ago
            return None, {}, {}
        layout = laid_out(rows)
        return layout, {n: newest[n] for n in there}, _placed(there, layout.places, newest)

    def _among(
        self, layout: Layout, model: str, memories: Sequence[int], newest: Mapping[int, int]
    ) -> dict[int, tuple[int, Place]]:
        """Place other memories among those laid out, in batches: a store may have many vectors."""
        placed: dict[int, tuple[int, Place]] = {}
        for start in range(0, len(memories), _AT_ONCE):
            there, rows = self._table.vectors(model, memories[start : start + _AT_ONCE])
            if there:
                placed |= _placed(there, layout.among(rows), newest)
        return placed

    def _points(self, placed: Mapping[int, tuple[int, Place]]) -> dict[int, Point]:
        """Return the points by the numbers of their memories, in order of storing."""
        called = self._table.labels(sorted(placed))
        points: dict[int, Point] = {}
        for n, one in sorted(called.items()):
            created_at, updated_at = moment(one.created_us), moment(one.updated_us)
            if created_at is None or updated_at is None:
                continue
            x, y = (round(side, 4) + 0.0 for side in placed[n][1])  # and no -0.0
            label = (one.type, one.topic, titled(one.words))
            points[n] = Point(one.id, x, y, *label, created_at, updated_at)
        return points


def _placed(
    memories: Sequence[int], places: Rows, newest: Mapping[int, int]
) -> dict[int, tuple[int, Place]]:
    pairs = zip(memories, places.tolist(), strict=True)
    return {n: (newest[n], (x, y)) for n, (x, y) in pairs}


def _will_do(before: _Kept, wanted: Mapping[int, int]) -> bool:
    """True when most of the memories that would be laid out have a place already."""
    known = sum(wanted.get(n) == newest for n, newest in before.laid_out.items())
    least = _ENOUGH * max(min(len(wanted), MOST_LAID_OUT), len(before.laid_out))
    return bool(known) and known >= least


def landing_of(
    query: str,
    drawn: Drawn,
    embedder: GuardedEmbedder | None,
    why_not: str,
    vectors: SqlVectors,
    scope: Scope,
) -> Landing | None:
    """Return the place of a query: the mean of its nearest memories, weighted by cosine."""
    text = valid_unicode(query)
    if not terms(text):
        raise Unavailable("it contains no word")
    if embedder is None:
        raise Unavailable(why_not)
    if not drawn.points:
        return None
    vector = embedder.embed([text[:_MOST_QUERY_CHARS]], as_query=True)[0]
    if not abs(float(vector @ vector)) > 0:
        raise Unavailable(f"{embedder.name} returned a zero vector for it")
    if len(drawn.points) == drawn.memories:
        found = vectors.search(vector, embedder.name, scope, _NEAREST)
        near = [(row.score, row.id) for row in found.rows]
    else:  # the nearest of all may not be in the sample
        ids = {n: id_ for id_, n in drawn.numbers.items()}
        best = vectors.nearest_of(list(ids), vector, embedder.name, _NEAREST)
        near = sorted(((cosine, ids[n]) for n, (cosine, _) in best.items()), reverse=True)
    near = [(cosine, id_) for cosine, id_ in near if id_ in drawn.places][:_NEAREST]
    if not near:
        return None
    pulls = [exp((cosine - near[0][0]) / _PULL_COSINE) for cosine, _ in near[:_AMONG]]
    places = [drawn.places[id_] for _, id_ in near[:_AMONG]]
    x, y = (
        sum(pull * place[side] for pull, place in zip(pulls, places, strict=True)) / sum(pulls)
        for side in (0, 1)
    )
    return Landing(round(x, 4), round(y, 4), tuple(id_ for _, id_ in near))


def titled(words: str) -> str:
    """Return a title on one line, shortened to the end of a word."""
    line = " ".join(words.split())
    short = preview(line, _TITLE_CHARS - 1)
    return line if len(line) <= _TITLE_CHARS else f"{short}…"


def sample(found: Sequence[EmbeddedMemory], most: int) -> list[EmbeddedMemory]:
    """Return `most` memories of all ages, in their order; the same ones every time."""
    if len(found) <= most:
        return list(found)
    drawn = sorted(found, key=lambda one: hashlib.blake2b(one.id.encode(), digest_size=8).digest())
    return sorted(drawn[:most])
