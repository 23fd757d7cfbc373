"""FalkorDB as a replica of the memories and links of a store."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.storage.falkordb.client import FalkorServer
from scrubjay.storage.replicas.outbox import GRAPH, ReplicaLink, ReplicaRecord, batches

BATCH = 1_000

_PUT = "UNWIND $rows AS row MERGE (m:Memory {id: row.id}) SET m = row"
_REMOVE = "UNWIND $ids AS id MATCH (m:Memory {id: id}) DETACH DELETE m"
# In one query, so that no search sees the pairs without their links. Both ends are looked up first:
# from one end alone, the server would follow every link of a hub.
_PUT_LINKS = (
    "UNWIND $pairs AS pair"
    " MATCH (a:Memory {id: pair[0]}) MATCH (b:Memory {id: pair[1]})"
    " WITH a, b MATCH (a)-[e:LINK]-(b) DELETE e WITH count(e) AS gone"
    " UNWIND $edges AS edge MERGE (a:Memory {id: edge[0]}) MERGE (b:Memory {id: edge[1]})"
    " CREATE (a)-[:LINK {kind: edge[2], strength: edge[3]}]->(b)"
)


class FalkorReplica:
    """The graph of one store on a server."""

    kind = GRAPH

    def __init__(self, server: FalkorServer) -> None:
        self._server = server
        self.place = server.address.shown

    def put(self, memories: Sequence[ReplicaRecord]) -> None:
        for part in batches(memories, BATCH):
            self._create_index()
            self._server.write(_PUT, {"rows": [_properties(memory) for memory in part]})

    def remove(self, ids: Sequence[str]) -> None:
        for part in batches(ids, BATCH):
            self._server.write(_REMOVE, {"ids": [plain(id_) for id_ in part]})

    def put_links(self, pairs: Sequence[tuple[str, str]], links: Sequence[ReplicaLink]) -> None:
        """Replace all links between each of these pairs; missing ends are created."""
        between: dict[tuple[str, str], list[ReplicaLink]] = {_sorted(*pair): [] for pair in pairs}
        for link in links:
            between.setdefault(_sorted(link.a, link.b), []).append(link)
        for part in batches(between, BATCH):
            some = [link for pair in part for link in between[pair]]
            self._create_index()
            self._server.write(
                _PUT_LINKS,
                {
                    "pairs": [[plain(end) for end in pair] for pair in part],
                    "edges": [[plain(x.a), plain(x.b), plain(x.kind), x.strength] for x in some],
                },
            )

    def clear(self) -> None:
        self._server.drop()

    def count(self) -> int:
        rows = self._server.read("MATCH (m:Memory) RETURN count(m)", {})
        return int(rows[0][0]) if rows else 0

    def ping(self) -> None:
        self._server.ping()

    def is_outdated(self) -> bool:
        """False: what was sent stays right until it changes."""
        return False

    def _create_index(self) -> None:
        # Each time: the server may have lost everything since, or another process has cleared it, and
        # without an index a batch takes minutes.
        self._server.create_index("Memory", "id")


def plain(text: str) -> str:
    """Return a text without NUL: the server reads nothing after it."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def _properties(memory: ReplicaRecord) -> dict[str, object]:
    fields = memory._asdict()
    del fields["vectors"]
    fields["topics"] = list(map(plain, memory.topics))
    return {k: plain(v) if isinstance(v, str) else v for k, v in fields.items()}


def _sorted(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)
