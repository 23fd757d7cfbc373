"""The copy of a store's vectors in Qdrant: told what the truth says, memory by memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID, uuid5

from scrubjay.storage.qdrant.client import NotThere, load
from scrubjay.storage.replicas.outbox import SqlOutbox

if TYPE_CHECKING:
    from qdrant_client.http.models import Filter, PointStruct, ScrollResult

    from scrubjay.storage.database import Database
    from scrubjay.storage.protocols import Edge, Projected
    from scrubjay.storage.qdrant.client import Apis, QdrantServer

T = TypeVar("T")

_POINTS_AT_ONCE = 256  # about 2 MB as JSON
_IDS_AT_ONCE = 512
_READ_AT_ONCE = 4096
_POINTS = UUID("5f0b3f0e-6d0c-4c58-9d5e-0a9c3f4f7c11")


class QdrantProjection:
    """Feeds the server with the vectors of one store, a collection for each model."""

    tier = "vectors"

    def __init__(self, db: Database, server: QdrantServer) -> None:
        self._db = db
        self._server = server
        self._store = SqlOutbox(db).store()
        self.place = server.address.shown

    def put(self, memories: Sequence[Projected]) -> None:
        """Let the server have the vectors of these memories as they are now, and no others of them."""
        latest = {memory.id: memory for memory in memories}
        for model, dims in self._models().items():
            name = self._server.collection(model, dims)
            kept = {
                memory.id: [(at, values) for of, at, values in memory.vectors if of == model]
                for memory in latest.values()
            }
            if any(kept.values()):
                self._server.make(name, dims)
            elif not self._server.has(name, dims):
                continue
            points = chain.from_iterable(
                self._points(latest[id_], vectors) for id_, vectors in kept.items()
            )
            for some in _parts(points, _POINTS_AT_ONCE):
                self._upsert(name, dims, some)
            for ids in _parts(kept, _IDS_AT_ONCE):
                self._delete_others(name, ids, {id_: [at for at, _ in kept[id_]] for id_ in ids})

    def remove(self, ids: Sequence[str]) -> None:
        """Let the server forget memories."""
        for name in self._collections():
            for some in _parts(ids, _IDS_AT_ONCE):
                self._delete_others(name, some, {})

    def put_edges(self, pairs: Sequence[tuple[str, str]], edges: Sequence[Edge]) -> None:
        """Do nothing: vectors have no links."""

    def clear(self) -> None:
        """Let the server forget all of this store; what others keep there stays."""
        load()
        from qdrant_client.http.models import Filter

        from scrubjay.storage.qdrant.filter import of_store

        for name in self._collections():
            self._delete(name, Filter(must=[of_store(self._store)]))

    def count(self) -> int:
        """Return how many memories of this store the server knows a vector of."""
        counts = {name: self._counted(name) for name in self._collections()}
        counts = {name: count for name, count in counts.items() if count}
        if len(counts) <= 1:
            return sum(counts.values())
        return len({id_ for name in counts for id_ in self._ids(name)})  # models share memories

    def ping(self) -> None:
        """Ask for next to nothing: whether it is there, and has nothing else under our names."""
        self._server.ping()
        for model, dims in self._models().items():
            self._server.has(self._server.collection(model, dims), dims)

    def _models(self) -> dict[str, int]:
        with self._db.read() as db:
            return dict(db.execute("SELECT name, dims FROM models").fetchall())

    def _collections(self) -> list[str]:
        """Return the collections that are there of the models that the truth knows."""
        named = [
            (self._server.collection(model, dims), dims) for model, dims in self._models().items()
        ]
        for name, _ in named:
            self._server.forget(name)  # somebody may have deleted it meanwhile
        return [name for name, dims in named if self._server.has(name, dims)]

    def _points(
        self, memory: Projected, vectors: Sequence[tuple[int, Any]]
    ) -> Iterator[PointStruct]:
        from qdrant_client.http.models import PointStruct

        from scrubjay.storage.qdrant.filter import ALWAYS_US, NEVER_US

        begins, ends = memory.valid_from_us, memory.valid_until_us
        payload = memory._asdict() | {
            "store": self._store,
            "topics": list(memory.topics),
            "valid_from_us": ALWAYS_US if begins is None else begins,
            "valid_until_us": NEVER_US if ends is None else ends,
        }
        del payload["vectors"]
        payload = {field: value for field, value in payload.items() if value is not None}
        first = min((ordinal for ordinal, _ in vectors), default=0)
        for ordinal, values in vectors:
            # Not checked again: that takes a fifth of the time, and these are plain numbers.
            yield PointStruct.model_construct(
                _fields_set=None,
                id=self._point(memory.id, ordinal),
                vector=values.tolist(),
                payload={**payload, "ordinal": ordinal, "first": ordinal == first},
            )

    def _point(self, id_: str, ordinal: int) -> str:
        return str(uuid5(_POINTS, f"{self._store}\0{id_}\0{ordinal}"))

    def _upsert(self, name: str, dims: int, points: Sequence[PointStruct]) -> None:
        from qdrant_client.http.models import PointsList

        body = PointsList.model_construct(_fields_set=None, points=list(points))

        def upsert(apis: Apis) -> None:
            apis.points_api.upsert_points(name, wait=True, point_insert_operations=body)

        try:
            self._server.ask(upsert)
        except NotThere:  # somebody has deleted it meanwhile
            self._server.forget(name)
            self._server.make(name, dims)
            self._server.ask(upsert)

    def _delete_others(self, name: str, ids: Sequence[str], kept: dict[str, list[int]]) -> None:
        """Delete the points of these memories, but for those that are kept."""
        from qdrant_client.http.models import Filter, HasIdCondition

        from scrubjay.storage.qdrant.filter import of_store, of_these

        spared = [self._point(id_, at) for id_, ordinals in kept.items() for at in ordinals]
        self._delete(
            name,
            Filter(
                must=[of_store(self._store), of_these("id", ids)],
                must_not=[HasIdCondition(has_id=[*spared])] if spared else None,
            ),
        )

    def _delete(self, name: str, which: Filter) -> None:
        from qdrant_client.http.models import FilterSelector

        try:
            self._server.ask(
                lambda apis: apis.points_api.delete_points(
                    name, wait=True, points_selector=FilterSelector(filter=which)
                )
            )
        except NotThere:  # somebody has deleted it meanwhile, with all its points
            self._server.forget(name)

    def _first(self) -> Filter:
        """Return the filter of one point for each memory."""
        from qdrant_client.http.models import FieldCondition, Filter, MatchValue

        from scrubjay.storage.qdrant.filter import of_store

        first = FieldCondition(key="first", match=MatchValue(value=True))
        return Filter(must=[of_store(self._store), first])

    def _counted(self, name: str) -> int:
        from qdrant_client.http.models import CountRequest

        request = CountRequest(filter=self._first(), exact=True)
        counted = self._server.ask(
            lambda apis: apis.points_api.count_points(name, count_request=request).result
        )
        return counted.count if counted is not None else 0

    def _ids(self, name: str) -> Iterator[str]:
        from qdrant_client.http.models import ScrollRequest

        request = ScrollRequest(filter=self._first(), limit=_READ_AT_ONCE, with_payload=["id"])

        def scroll(apis: Apis) -> ScrollResult | None:
            return apis.points_api.scroll_points(name, scroll_request=request).result

        while found := self._server.ask(scroll):
            yield from ((point.payload or {})["id"] for point in found.points)
            if found.next_page_offset is None:
                return
            request.offset = found.next_page_offset


def _parts(values: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(values)
    while part := list(islice(left, size)):
        yield part
