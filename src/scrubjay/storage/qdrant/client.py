"""Client of a Qdrant server: requests by HTTP, which is as fast as gRPC here, and our collections."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from scrubjay.errors import InvalidInput, MissingExtra, Unavailable
from scrubjay.text.urls import ServerAddress

if TYPE_CHECKING:
    from httpx import Request, Response
    from qdrant_client.http import SyncApis
    from qdrant_client.http.models import CollectionInfo

    Apis = SyncApis[Any]

T = TypeVar("T")
_IMPORTING = threading.Lock()

# Indexes know tenants from 1.11 on; nothing older than 1.13 was tried.
MIN_VERSION = (1, 13)
_MAX_CONNECTIONS = 64
_CREATE_S = 30.0  # a collection and its indexes are files, which take longer than a request
_MAX_REPLY_CHARS = 200
# The sparse vectors of a collection of words (docs/decisions/046-sparse-words.md).
BM25, COVER_DENSITY = "bm25", "cover_density"
_NAME = re.compile(r"[\w.-]{1,120}", re.ASCII)
_KEYWORDS = "id namespace type session owner agent collection topics domain_label".split()
_NUMBERS = ("created_us", "valid_from_us", "valid_until_us")


class NoCollection(Unavailable):
    """The server has no such collection."""


def import_client() -> None:
    """Import Qdrant's client completely, in one thread: two that began with different parts deadlocked."""
    with _IMPORTING:
        import qdrant_client  # noqa: F401


class QdrantServer:
    """One server, connected to at the first call. It may be used by any number of threads."""

    def __init__(self, address: ServerAddress) -> None:
        if find_spec("qdrant_client") is None:
            raise MissingExtra("qdrant-client", 'pip install "scrubjay[qdrant]"')
        if not _NAME.fullmatch(address.name):
            raise InvalidInput(
                f"{address.shown}: {address.name!r} is not a valid collection name; use up to 120"
                " letters, digits, dots, dashes and underscores"
            )
        self.address = address
        self._connecting = threading.Lock()
        self._apis: Apis | None = None
        self._version_checked = False
        self._verified: set[str] = set()
        self._created: set[str] = set()

    def call(self, function: Callable[[Apis], T]) -> T:
        """Send requests; a time-out and every other failure is Unavailable."""
        apis = self._connected()
        from json import JSONDecodeError

        from httpx import HTTPError
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http import exceptions

        unusable = (exceptions.ApiException, QdrantException, JSONDecodeError, UnicodeDecodeError)
        try:
            self._check_version(apis)
            return function(apis)
        except exceptions.UnexpectedResponse as error:
            self._raise_refused(error.status_code or 0, error.content)
        except exceptions.ResponseHandlingException as error:
            self._raise_failed(error.source)
        except (HTTPError, *unusable) as error:
            self._raise_failed(error)

    def ping(self) -> None:
        """Send a request that needs the API key: without one, a server only reports its version."""
        name = self.address.name
        self.call(lambda apis: apis.collections_api.collection_exists(name))

    def collection_name(self, model: str, dims: int) -> str:
        slug = re.sub(r"[^a-z0-9]+", "-", model.casefold()).strip("-")[:60]
        if slug != model:  # two models may get the same slug
            from hashlib import sha256

            slug = f"{slug}-{sha256(model.encode()).hexdigest()[:6]}".lstrip("-")
        return f"{self.address.name}-{slug}-{dims}"

    def words_collection_name(self) -> str:
        return f"{self.address.name}-words"

    def has_collection(self, name: str, dims: int | None) -> bool:
        """True when a collection exists; Unavailable when it is not as we create them. Without
        `dims`, it is one of words."""
        if name in self._verified:
            return True
        try:
            found = self.call(lambda apis: apis.collections_api.get_collection(name).result)
        except NoCollection:
            return False
        if found is None:
            return False
        _check_collection(found, self.address.shown, name, dims)
        self._verified.add(name)
        return True

    def create_collection(self, name: str, dims: int | None) -> None:
        """Create a collection with its indexes, or complete one that was left half-made."""
        if name not in self._created:
            self.call(lambda apis: _create_collection(apis, name, dims))
            self.has_collection(name, dims)
            self._created.add(name)

    def forget_collection(self, name: str) -> None:
        self._verified.discard(name)
        self._created.discard(name)

    def close(self) -> None:
        with self._connecting:
            apis, self._apis = self._apis, None
        if apis is not None:
            apis.close()

    def __repr__(self) -> str:
        return f"QdrantServer({self.address.shown!r})"

    def _connected(self) -> Apis:
        with self._connecting:
            if self._apis is None:
                self._apis = self._connect()
            return self._apis

    def _connect(self) -> Apis:
        import_client()
        from httpx import Limits
        from qdrant_client.http import SyncApis

        at = self.address
        host = f"[{at.host}]" if ":" in at.host else at.host
        # Not compressed: the server sends a compressed reply in pieces and waits for an
        # acknowledgement of each. A reply took 44 ms instead of 4.
        headers = {"Accept-Encoding": "identity"}
        if at.password:
            headers["api-key"] = at.password
        apis: Apis = SyncApis(
            host=f"{'https' if at.tls else 'http'}://{host}:{at.port}",
            headers=headers,
            timeout=at.timeout_s,
            limits=Limits(max_connections=_MAX_CONNECTIONS),
        )
        apis.client.add_middleware(self._send)
        return apis

    def _send(self, request: Request, send: Callable[[Request], Response]) -> Response:
        """Send a request, and again if its connection broke and time is left. All can be repeated."""
        from httpx import NetworkError, RemoteProtocolError, Timeout
        from qdrant_client.http.exceptions import ResponseHandlingException

        creates = request.method == "PUT" and not request.url.path.endswith("/points")
        timeout_s = max(self.address.timeout_s, _CREATE_S) if creates else self.address.timeout_s
        deadline = time.monotonic() + timeout_s
        request.extensions["timeout"] = Timeout(timeout_s).as_dict()
        try:
            return send(request)
        except ResponseHandlingException as error:
            left_s = deadline - time.monotonic()
            broke = isinstance(error.source, (NetworkError, RemoteProtocolError))
            if not broke or left_s <= 0:
                raise
        request.extensions["timeout"] = Timeout(left_s).as_dict()
        return send(request)

    def _check_version(self, apis: Apis) -> None:
        if self._version_checked:
            return
        version = apis.service_api.root().version
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < MIN_VERSION:
            raise Unavailable(
                f"{self.address.shown} is Qdrant {version}; scrubjay needs"
                f" {'.'.join(map(str, MIN_VERSION))} or later: update the server"
            )
        self._version_checked = True

    def _raise_refused(self, status: int, content: bytes) -> NoReturn:
        if status in (401, 403):
            problem = "refuses the API key" if self.address.password else "requires an API key"
            raise Unavailable(
                f"{self.address.shown} {problem}; set the right one in"
                f" {self.address.kind.secret_env}"
            ) from None
        reply = content[:_MAX_REPLY_CHARS].decode("utf-8", "replace")
        if found := re.search(r'"error":\s*"((?:[^"\\]|\\.)*)', reply):
            reply = found[1]
        # Before the version is checked, a 404 means that the server is not a Qdrant.
        kind = NoCollection if status == 404 and self._version_checked else Unavailable
        raise kind(
            self._masked(f"{self.address.shown} answered {status}: {reply}; see the log of Qdrant")
        ) from None

    def _raise_failed(self, error: Exception) -> NoReturn:
        from httpx import RemoteProtocolError, TimeoutException, TransportError

        at, advice = self.address, "check that it runs and that the address is right"
        if isinstance(error, TimeoutException):
            problem = f"did not answer within {at.timeout_s:g} s"
        elif isinstance(error, TransportError):
            problem = f"cannot be reached: {str(error) or type(error).__name__}"
            if "certificate" in problem:
                advice = "set SSL_CERT_FILE to a file of trusted certificates"
            elif "SSL" in problem:
                advice = "write qdrant:// for a server without TLS"
            elif isinstance(error, RemoteProtocolError) and not at.tls:
                advice = "check that it runs, and write qdrants:// for a server with TLS"
        else:
            problem = f"gave an answer that cannot be used: {str(error).splitlines()[0]}"
        raise Unavailable(self._masked(f"{at.shown} {problem}; {advice}")) from None

    def _masked(self, text: str) -> str:
        return text.replace(self.address.password, "***") if self.address.password else text


def _create_collection(apis: Apis, name: str, dims: int | None) -> None:
    """Create a collection (cosine, int8 in memory; or sparse) and the indexes that filters need."""
    from qdrant_client.http import models
    from qdrant_client.http.exceptions import UnexpectedResponse

    if dims is None:
        # Without the modifier IDF: it would count the memories of all stores in the collection.
        wanted = models.CreateCollection(
            vectors={},
            sparse_vectors={name: models.SparseVectorParams() for name in (BM25, COVER_DENSITY)},
        )
    else:
        wanted = models.CreateCollection(
            vectors=models.VectorParams(size=dims, distance=models.Distance.COSINE),
            quantization_config=models.ScalarQuantization(
                scalar=models.ScalarQuantizationConfig(
                    type=models.ScalarType.INT8, always_ram=True
                )
            ),
        )
    try:
        apis.collections_api.create_collection(name, create_collection=wanted)
    except UnexpectedResponse as error:
        if error.status_code != 409:  # another process has created it
            raise
    existing = apis.collections_api.get_collection(name).result
    indexed = existing.payload_schema if existing is not None else {}
    indexes: dict[str, Any] = {
        # Every search filters by store, so the points of one store lie together.
        "store": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
        "first": models.PayloadSchemaType.BOOL,
        **dict.fromkeys(_KEYWORDS, models.PayloadSchemaType.KEYWORD),
        **dict.fromkeys(_NUMBERS, models.PayloadSchemaType.INTEGER),
    }
    for field, schema in indexes.items():
        if field not in indexed:
            # The server builds them in order, and before any point that comes later.
            apis.indexes_api.create_field_index(
                name,
                wait=False,
                create_field_index=models.CreateFieldIndex(field_name=field, field_schema=schema),
            )


def _check_collection(found: CollectionInfo, server: str, name: str, dims: int | None) -> None:
    from qdrant_client.http import models

    vectors = found.config.params.vectors
    if dims is None:
        if not {BM25, COVER_DENSITY} <= {*(found.config.params.sparse_vectors or ())}:
            raise Unavailable(
                f"{server}: collection {name} has no sparse vectors of words; give another name in"
                " the URL, or delete the collection"
            )
        return
    if isinstance(vectors, models.VectorParams):
        actual = f"{vectors.size} dimensions and {vectors.distance.value} distance"
        right = vectors.size == dims and vectors.distance == models.Distance.COSINE
    else:
        actual, right = "named vectors", False
    if not right:
        raise Unavailable(
            f"{server}: collection {name} has {actual}, not {dims} dimensions and Cosine distance;"
            " give another name in the URL, or delete the collection"
        )
