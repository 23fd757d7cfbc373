"""What can be drawn of a store: the map of its memories, and the graph around one. Data only."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Point(NamedTuple):
    """One memory on the map; `x` and `y` are in -1..1. `topic` is its first, if it has any."""

    id: str
    x: float
    y: float
    type: str
    topic: str | None
    title: str
    created_at: datetime
    updated_at: datetime


class Landing(NamedTuple):
    """Where a query lands on the map: among the memories of the map that are nearest to it, best first."""

    x: float
    y: float
    nearest: tuple[str, ...]


class Map(NamedTuple):
    """The memories of a store as points: what is alike lies side by side, as well as a plane allows.

    `memories` is how many there are to draw, of which `points` has all or a fair sample; `left_out` are
    those beside them that have no vector yet. `kept` says how far to trust the picture: the share of a
    memory's ten nearest that are among the fifty nearest points of the map, measured on some of it.
    `explained` is the share of the variance that the two longest axes hold, which is why the map is not
    drawn on those alone. Both are None where there is too little to measure. `state` changes whenever the
    points do. `degraded` says why a query has no landing.
    """

    points: tuple[Point, ...] = ()
    memories: int = 0
    left_out: int = 0
    model: str = ""
    kept: float | None = None
    explained: float | None = None
    state: str = ""
    landing: Landing | None = None
    degraded: tuple[str, ...] = ()


class Node(NamedTuple):
    """One memory of a graph: `score` is the product of strengths along the best path from the middle."""

    id: str
    title: str
    type: str
    score: float
    depth: int


class Edge(NamedTuple):
    """A link between two memories of a graph; `made` is hand, text (a document links) or likeness.

    Only a link that supersedes has a direction: `a` supersedes `b`.
    """

    a: str
    b: str
    kind: str
    strength: float
    made: str


class Graph(NamedTuple):
    """What is linked around one memory: that one first, then the best reached, and all links among them.

    `left_out` is how many more are reached.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    left_out: int = 0
