"""The verbs that draw: the map of all memories, and the graph around one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.verbs import READ, Given, Param, Verb
from scrubjay.surfaces.verbs.fields import ID, THE_ID
from scrubjay.surfaces.verbs.kinds import FLAG, LIMIT, NAME, QUERY, TEXTS, TIME, whole
from scrubjay.surfaces.verbs.search import MANY, WHERE

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

_MOST_POINTS = 20_000  # more are too much for a page, and for one answer


def map_of(store: Store, given: Given) -> Json:
    """Return the memories as points of a plane."""
    from scrubjay.surfaces.render.json import plain

    shape: Json = plain(store.map(**given))
    return shape


def surroundings(store: Store, given: Given) -> Json:
    """Return the graph around a memory."""
    from scrubjay.surfaces.render.json import plain

    shape: Json = plain(store.surroundings(**given))
    return shape


MAP = Verb(
    "map",
    "Return the memories as points of a plane, where what is alike lies together.",
    READ,
    (
        Param("query", QUERY, "with where this lands, and what is nearest to it"),
        Param("limit", whole(1, _MOST_POINTS), "a fair sample of at most so many (10000)"),
        Param("points", FLAG, "false leaves the points out: only where the query lands (true)"),
        Param("namespace", NAME, "only there; `project/` is all of a project"),
        Param("collection", NAME, "only in this collection"),
        Param("types", TEXTS, "any of these"),
        Param("topics", TEXTS, "any of these"),
        Param("session", NAME, "only of this conversation"),
        Param("owner", NAME, "only what is of this person"),
        Param("agent", NAME, "only what is of this agent"),
        Param("since", TIME, "not before that day or moment"),
        Param("until", TIME, "not after that day or moment"),
    ),
    "map",
    map_of,
    WHERE
    | MANY
    | {"q": "query", "type": "types", "topic": "topics", "tags": "topics"}
    | {"after": "since", "before": "until"},
)
SURROUNDINGS = Verb(
    "surroundings",
    "Return the graph around a memory: what its links reach, and the links among these.",
    READ,
    (
        THE_ID,
        Param("depth", whole(1, 3), "over so many links (1)"),
        Param("limit", LIMIT, "at most so many beside the memory itself (50)"),
    ),
    "graph",
    surroundings,
    ID | MANY | {"hops": "depth"},
)
