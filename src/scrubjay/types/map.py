"""Data of the map of all memories, and of the graph around one."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Point(NamedTuple):
    """One memory on the map; `x` and `y` are in -1..1. `topic` is its first topic, if any."""

    id: str
    x: float
    y: float
    type: str
    topic: str | None
    title: str
    created_at: datetime
    updated_at: datetime


class Landing(NamedTuple):
    """Place of a query on the map, and the ids of the nearest memories, best first."""

    x: float
    y: float
    nearest: tuple[str, ...]


class Map(NamedTuple):
    """The memories of a store as points: similar ones lie close together.
    `memories` is the number of memories with a vector, of which `points` has all or a sample;
    `left_out` have no vector yet. `kept` measures the quality: the share of a memory's ten nearest
    that are among the fifty nearest points. `explained` is the share of the variance on the two
    longest axes. Both are None if there is too little to measure. `state` changes whenever the
    points do. `degraded` has the reasons why a query has no landing."""

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
    """One memory of a graph; `score` is the product of strengths on the best path to the
    center."""

    id: str
    title: str
    type: str
    score: float
    depth: int


class Edge(NamedTuple):
    """A link between two memories of a graph; `made` is hand, text (a document links) or likeness.
    A link that supersedes or updates has a direction: `a` supersedes `b`."""

    a: str
    b: str
    kind: str
    strength: float
    made: str


class Graph(NamedTuple):
    """The memories linked to one memory, which comes first, and all links among them.
    `left_out` is the number of further memories within reach."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    left_out: int = 0
