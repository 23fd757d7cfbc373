"""Qdrant as a replica of the vectors of a store, and of its words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from scrubjay.storage.database import Database
from scrubjay.storage.qdrant.client import NoCollection, QdrantServer, import_client
from scrubjay.storage.replicas.outbox import VECTORS, Outbox, ReplicaLink, ReplicaRecord, batches
from scrubjay.text.urls import is_server_url

if TYPE_CHECKING:
    from qdrant_client.http.models import Filter, PointStruct, ScrollResult

    from scrubjay.storage.qdrant.client import Apis

_POINTS_PER_REQUEST = 256  # about 2 MB of JSON
_IDS_PER_REQUEST = 512
_POINTS_PER_PAGE = 4096
_POINT_NAMESPACE = UUID("5f0b3f0e-6d0c-4c58-9d5e-0a9c3f4f7c11")


class QdrantPoints(ABC):
    """Points of one store on a server, in one collection or several."""

    kind: str

    def __init__(self, db: Database, server: QdrantServer) -> None:
        self._db = db
        self._server = server
        self._store = Outbox(db).store_id()
        self.place = server.address.shown

    @abstractmethod
    def _named(self) -> list[tuple[str, int | None]]:
        """Return the names of all collections that may have points of this store, and their dimensions."""

    def remove(self, ids: Sequence[str]) -> None:
        for name in self._collections():
            for some in batches(ids, _IDS_PER_REQUEST):
                self._delete_except(name, some, ())

    def put_links(  # noqa: B027
        self, pairs: Sequence[tuple[str, str]], links: Sequence[ReplicaLink]
    ) -> None:
        """Do nothing: this replica has no links."""

    def clear(self) -> None:
        """Delete everything of this store; other stores on the server stay."""
        import_client()
        for name in self._collections():
            self._delete_all(name)

    def count(self) -> int:
        counts = {name: self._count(name) for name in self._collections()}
        counts = {name: count for name, count in counts.items() if count}
        if len(counts) <= 1:
            return sum(counts.values())
        return len({id_ for name in counts for id_ in self._ids(name)})  # models share memories

    def ping(self) -> None:
        """Check that the server answers, and that collections of our names are ours."""
        self._server.ping()
        for name, dims in self._named():
            self._server.has_collection(name, dims)

    def is_outdated(self) -> bool:
        """False: what was sent stays right until it changes."""
        return False

    def _collections(self) -> list[str]:
        named = self._named()
        for name, _ in named:
            self._server.forget_collection(name)  # it may have been deleted meanwhile
        return [name for name, dims in named if self._server.has_collection(name, dims)]

    def _payload(self, memory: ReplicaRecord) -> dict[str, Any]:
        """Return what filters compare."""
        from scrubjay.storage.qdrant.filter import ALWAYS_US, NEVER_US

        begins, ends = memory.valid_from_us, memory.valid_until_us
        payload = memory._asdict() | {
            "store": self._store,
            "topics": list(memory.topics),
            "valid_from_us": ALWAYS_US if begins is None else begins,
            "valid_until_us": NEVER_US if ends is None else ends,
        }
        del payload["vectors"]
        return {field: value for field, value in payload.items() if value is not None}

    def _put_points(self, name: str, dims: int | None, points: Iterable[PointStruct]) -> None:
        for some in batches(points, _POINTS_PER_REQUEST):
            self._upsert(name, dims, some)

    def _point_id(self, id_: str, ordinal: int) -> str:
        return str(uuid5(_POINT_NAMESPACE, f"{self._store}\0{id_}\0{ordinal}"))

    def _upsert(self, name: str, dims: int | None, points: Sequence[PointStruct]) -> None:
        from qdrant_client.http.models import PointsList

        body = PointsList.model_construct(_fields_set=None, points=list(points))

        def upsert(apis: Apis) -> None:
            apis.points_api.upsert_points(name, wait=True, point_insert_operations=body)

        try:
            self._server.call(upsert)
        except NoCollection:  # it was deleted meanwhile
            self._server.forget_collection(name)
            self._server.create_collection(name, dims)
            self._server.call(upsert)

    def _delete_except(self, name: str, ids: Sequence[str], kept: Sequence[str]) -> None:
        """Delete the points of these memories, except some."""
        from scrubjay.storage.qdrant.filter import memories_except

        self._delete(name, memories_except(self._store, ids, kept))

    def _delete_all(self, name: str) -> None:
        from qdrant_client.http.models import Filter

        from scrubjay.storage.qdrant.filter import of_store

        self._delete(name, Filter(must=[of_store(self._store)]))

    def _delete(self, name: str, which: Filter) -> None:
        from qdrant_client.http.models import FilterSelector

        try:
            self._server.call(
                lambda apis: apis.points_api.delete_points(
                    name, wait=True, points_selector=FilterSelector(filter=which)
                )
            )
        except NoCollection:  # it was deleted meanwhile, with all its points
            self._server.forget_collection(name)

    def _count(self, name: str) -> int:
        from qdrant_client.http.models import CountRequest

        from scrubjay.storage.qdrant.filter import one_per_memory

        request = CountRequest(filter=one_per_memory(self._store), exact=True)
        result = self._server.call(
            lambda apis: apis.points_api.count_points(name, count_request=request).result
        )
        return result.count if result is not None else 0

    def _ids(self, name: str) -> Iterator[str]:
        from qdrant_client.http.models import ScrollRequest

        from scrubjay.storage.qdrant.filter import one_per_memory

        request = ScrollRequest(
            filter=one_per_memory(self._store), limit=_POINTS_PER_PAGE, with_payload=["id"]
        )

        def scroll(apis: Apis) -> ScrollResult | None:
            return apis.points_api.scroll_points(name, scroll_request=request).result

        while page := self._server.call(scroll):
            yield from ((point.payload or {})["id"] for point in page.points)
            if page.next_page_offset is None:
                return
            request.offset = page.next_page_offset


class QdrantReplica(QdrantPoints):
    """The vectors of one store on a server, a collection for each model."""

    kind = VECTORS

    def put(self, memories: Sequence[ReplicaRecord]) -> None:
        """Write the vectors of these memories, and delete all others of them."""
        latest = {memory.id: memory for memory in memories}
        for model, name, dims in self._models():
            vectors = {
                memory.id: [(at, values) for of, at, values in memory.vectors if of == model]
                for memory in latest.values()
            }
            if any(vectors.values()):
                self._server.create_collection(name, dims)
            elif not self._server.has_collection(name, dims):
                continue
            points = (self._points(latest[id_], values) for id_, values in vectors.items())
            self._put_points(name, dims, chain.from_iterable(points))
            for ids in batches(vectors, _IDS_PER_REQUEST):
                kept = [self._point_id(id_, at) for id_ in ids for at, _ in vectors[id_]]
                self._delete_except(name, ids, kept)

    def clear(self) -> None:
        """Delete all vectors; of a file also the words that it had on the server as a store in Postgres."""
        super().clear()
        words = self._server.words_collection_name()
        if not is_server_url(self._db.path) and self._server.has_collection(words, None):
            self._delete_all(words)

    def _named(self) -> list[tuple[str, int | None]]:
        return [(name, dims) for _, name, dims in self._models()]

    def _models(self) -> list[tuple[str, str, int]]:
        """Return each model, the name of its collection, and its dimensions. Of a former main model
        there are no vectors to send: what the server has of it is deleted."""
        with self._db.read() as db:
            rows = db.execute(
                "SELECT name, dims FROM models WHERE role IN ('main', 'kept')"
            ).fetchall()
        return [(name, self._server.collection_name(name, dims), dims) for name, dims in rows]

    def _points(
        self, memory: ReplicaRecord, vectors: Sequence[tuple[int, Any]]
    ) -> Iterator[PointStruct]:
        from qdrant_client.http.models import PointStruct

        payload = self._payload(memory)
        first = min((ordinal for ordinal, _ in vectors), default=0)
        for ordinal, values in vectors:
            # Not validated: that takes a fifth of the time, and these are plain numbers.
            yield PointStruct.model_construct(
                _fields_set=None,
                id=self._point_id(memory.id, ordinal),
                vector=values.tolist(),
                payload={**payload, "ordinal": ordinal, "first": ordinal == first},
            )
