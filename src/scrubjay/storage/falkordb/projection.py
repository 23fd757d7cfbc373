"""Memories and links as a FalkorDB has copies of them: told in batches, twice as well as once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from scrubjay.storage.protocols import Edge, Projected

if TYPE_CHECKING:
    from scrubjay.storage.falkordb.client import FalkorServer

BATCH = 1_000
T = TypeVar("T")

_PUT = "UNWIND $rows AS row MERGE (m:Memory {id: row.id}) SET m = row"
_REMOVE = "UNWIND $ids AS id MATCH (m:Memory {id: id}) DETACH DELETE m"
# In one query, so that nobody sees the pairs without their links. Both ends are looked up first: from
# one end alone, a hub would be walked for each of its links.
_PUT_EDGES = (
    "UNWIND $pairs AS pair"
    " MATCH (a:Memory {id: pair[0]}) MATCH (b:Memory {id: pair[1]})"
    " WITH a, b MATCH (a)-[e:LINK]-(b) DELETE e WITH count(e) AS gone"
    " UNWIND $edges AS edge MERGE (a:Memory {id: edge[0]}) MERGE (b:Memory {id: edge[1]})"
    " CREATE (a)-[:LINK {kind: edge[2], strength: edge[3]}]->(b)"
)


class FalkorProjection:
    """Feeds one store's graph."""

    tier = "graph"

    def __init__(self, server: FalkorServer) -> None:
        self._server = server
        self.place = server.address.shown

    def put(self, memories: Sequence[Projected]) -> None:
        """Let the server know these memories as they are now, in place of what it knew of them."""
        for part in _batches(memories):
            self._index()
            self._server.tell(_PUT, {"rows": [_properties(one) for one in part]})

    def remove(self, ids: Sequence[str]) -> None:
        """Let the server forget memories, with their links."""
        for part in _batches(ids):
            self._server.tell(_REMOVE, {"ids": [plain(id_) for id_ in part]})

    def put_edges(self, pairs: Sequence[tuple[str, str]], edges: Sequence[Edge]) -> None:
        """Let these be all the links between each of these pairs; ends that are missing are made."""
        between: dict[tuple[str, str], list[Edge]] = {_both(*pair): [] for pair in pairs}
        for edge in edges:
            between.setdefault(_both(edge.a, edge.b), []).append(edge)
        for part in _batches(list(between)):
            given = [edge for pair in part for edge in between[pair]]
            self._index()
            self._server.tell(
                _PUT_EDGES,
                {
                    "pairs": [[plain(end) for end in pair] for pair in part],
                    "edges": [[plain(e.a), plain(e.b), plain(e.kind), e.strength] for e in given],
                },
            )

    def clear(self) -> None:
        """Let the server forget all of this store."""
        self._server.drop()

    def count(self) -> int:
        """Return how many memories of this store the server knows."""
        rows = self._server.ask("MATCH (m:Memory) RETURN count(m)", {})
        return int(rows[0][0]) if rows else 0

    def ping(self) -> None:
        """Ask for next to nothing."""
        self._server.ping()

    def _index(self) -> None:
        # Each time: the server may have lost everything since, or somebody else has cleared it, and
        # without an index a batch takes minutes.
        self._server.index("Memory", "id")


def plain(text: str) -> str:
    """Return a text as the server takes it: it reads none beyond a NUL."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _properties(memory: Projected) -> dict[str, object]:
    fields = memory._asdict()
    del fields["vectors"]
    fields["topics"] = list(map(plain, memory.topics))
    return {k: plain(v) if isinstance(v, str) else v for k, v in fields.items()}


def _both(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)


def _batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]
