"""A Qdrant server: reached over HTTP, within a time-out, and its collections made and checked.

HTTP and not gRPC: over a kept connection both are as fast, and it needs no second port.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from scrubjay.errors import InvalidInput, MissingExtra, Unavailable

if TYPE_CHECKING:
    from httpx import Request, Response
    from qdrant_client.http import SyncApis

    from scrubjay.text.urls import ServerAddress

    Apis = SyncApis[Any]

T = TypeVar("T")
_LOADING = threading.Lock()

# Tenants as an index know from 1.11 on; what is older than 1.13 nobody has tried.
LEAST_VERSION = (1, 13)
_MOST_CONNECTIONS = 64
_MAKING_S = 30.0  # a collection and its indexes are files; nobody waits for those
_MOST_SAID_CHARS = 200
_NAME = re.compile(r"[\w.-]{1,120}", re.ASCII)


class NotThere(Unavailable):
    """The server has no such collection."""


def load() -> None:
    """Import Qdrant's client, before anything of it is named: by one thread, whole.

    Of two threads that began with different parts of it, each waited for the other, and one was told
    that this is a deadlock.
    """
    with _LOADING:
        import qdrant_client  # noqa: F401


class QdrantServer:
    """One server; nothing is asked of it before the first call. Any number of threads may ask."""

    def __init__(self, address: ServerAddress) -> None:
        if find_spec("qdrant_client") is None:
            raise MissingExtra("qdrant-client", 'pip install "scrubjay[qdrant]"')
        if not _NAME.fullmatch(address.name):
            raise InvalidInput(
                f"{address.shown}: {address.name!r} is no name of a collection;"
                " write up to 120 letters, digits, dots, dashes and underscores"
            )
        self.address = address
        self._making = threading.Lock()
        self._apis: Apis | None = None
        self._checked = False
        self._good: set[str] = set()
        self._made: set[str] = set()

    def ask(self, call: Callable[[Apis], T]) -> T:
        """Ask it something; a time-out and whatever else goes wrong is Unavailable."""
        apis = self._opened()
        from json import JSONDecodeError

        from httpx import HTTPError
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import (
            ApiException,
            ResponseHandlingException,
            UnexpectedResponse,
        )

        try:
            self._check_version(apis)
            return call(apis)
        except UnexpectedResponse as error:
            self._refused(error.status_code or 0, error.content)
        except ResponseHandlingException as error:
            self._silent(error.source)
        except (ApiException, QdrantException, HTTPError) as error:
            self._silent(error)
        except (JSONDecodeError, UnicodeDecodeError) as error:  # its client lets these through
            self._silent(error)

    def ping(self) -> None:
        """Ask for next to nothing, by the key: without one, a server only tells its version."""
        name = self.address.name
        self.ask(lambda apis: apis.collections_api.collection_exists(name))

    def collection(self, model: str, dims: int) -> str:
        """Return the name of the collection of a model's vectors."""
        slug = re.sub(r"[^a-z0-9]+", "-", model.casefold()).strip("-")[:60]
        if slug != model:  # two names may be spelled alike then
            from hashlib import sha256

            slug = f"{slug}-{sha256(model.encode()).hexdigest()[:6]}".lstrip("-")
        return f"{self.address.name}-{slug}-{dims}"

    def has(self, name: str, dims: int) -> bool:
        """True when a collection is there; refuse one that is not as ours are."""
        if name in self._good:
            return True
        try:
            found = self.ask(lambda apis: apis.collections_api.get_collection(name).result)
        except NotThere:
            return False
        if found is None:
            return False
        from scrubjay.storage.qdrant.collections import check

        check(found, self.address.shown, name, dims)
        self._good.add(name)
        return True

    def make(self, name: str, dims: int) -> None:
        """Make a collection with its indexes, where it is not there or was left half-made."""
        from scrubjay.storage.qdrant.collections import make

        if name not in self._made:
            self.ask(lambda apis: make(apis, name, dims))
            self.has(name, dims)
            self._made.add(name)

    def forget(self, name: str) -> None:
        """Look again whether a collection is there."""
        self._good.discard(name)
        self._made.discard(name)

    def close(self) -> None:
        """Close its connections; twice is fine."""
        with self._making:
            apis, self._apis = self._apis, None
        if apis is not None:
            apis.close()

    def __repr__(self) -> str:
        """Show where it is, without its key."""
        return f"QdrantServer({self.address.shown!r})"

    def _opened(self) -> Apis:
        with self._making:
            if self._apis is None:
                self._apis = self._connected()
            return self._apis

    def _connected(self) -> Apis:
        load()
        from httpx import Limits
        from qdrant_client.http import SyncApis

        at = self.address
        host = f"[{at.host}]" if ":" in at.host else at.host
        # Not compressed: then the server sends an answer in pieces, and each waits for the other side
        # to say that it has the last one. An answer took 44 ms instead of 4.
        headers = {"Accept-Encoding": "identity"}
        if at.password:
            headers["api-key"] = at.password
        apis: Apis = SyncApis(
            host=f"{'https' if at.tls else 'http'}://{host}:{at.port}",
            headers=headers,
            timeout=at.timeout_s,
            limits=Limits(max_connections=_MOST_CONNECTIONS),
        )
        apis.client.add_middleware(self._within_time)
        return apis

    def _within_time(self, request: Request, send: Callable[[Request], Response]) -> Response:
        """Send a request; once more if its connection broke and time is left. All of ours bear it."""
        from httpx import NetworkError, RemoteProtocolError, Timeout
        from qdrant_client.http.exceptions import ResponseHandlingException

        makes = request.method == "PUT" and not request.url.path.endswith("/points")
        bound_s = max(self.address.timeout_s, _MAKING_S) if makes else self.address.timeout_s
        until = time.monotonic() + bound_s
        request.extensions["timeout"] = Timeout(bound_s).as_dict()
        try:
            return send(request)
        except ResponseHandlingException as error:
            left_s = until - time.monotonic()
            broke = isinstance(error.source, (NetworkError, RemoteProtocolError))
            if not broke or left_s <= 0:
                raise
        request.extensions["timeout"] = Timeout(left_s).as_dict()
        return send(request)

    def _check_version(self, apis: Apis) -> None:
        if self._checked:
            return
        version = apis.service_api.root().version
        if tuple(int(one) for one in re.findall(r"\d+", version)[:2]) < LEAST_VERSION:
            least = ".".join(map(str, LEAST_VERSION))
            raise Unavailable(
                f"{self.address.shown} is Qdrant {version}; scrubjay needs {least} or later:"
                " update the server"
            )
        self._checked = True

    def _refused(self, status: int, content: bytes) -> NoReturn:
        """Say what the server answered, without our key."""
        if status in (401, 403):
            env = self.address.kind.secret_env
            key = "refuses the API key" if self.address.password else "asks for an API key"
            raise Unavailable(
                f"{self.address.shown} {key}; put the right one into {env}"
            ) from None
        said = content[:_MOST_SAID_CHARS].decode("utf-8", "replace")
        if found := re.search(r'"error":\s*"((?:[^"\\]|\\.)*)', said):
            said = found[1]
        # Before it has said what it is, a server that has nothing there is no Qdrant.
        kind = NotThere if status == 404 and self._checked else Unavailable
        raise kind(
            self._hidden(f"{self.address.shown} answered {status}: {said}; its log may say more")
        ) from None

    def _silent(self, error: Exception) -> NoReturn:
        """Say how the server could not be asked, without our key."""
        from httpx import RemoteProtocolError, TimeoutException, TransportError

        at, advice = self.address, "see whether it runs and the address is right"
        if isinstance(error, TimeoutException):
            said = f"did not answer within {at.timeout_s:g} s"
        elif isinstance(error, TransportError):
            said = f"cannot be reached: {str(error) or type(error).__name__}"
            if "certificate" in said:
                advice = "name a file of those to trust in SSL_CERT_FILE"
            elif "SSL" in said:
                advice = "write qdrant:// where it speaks no TLS"
            elif isinstance(error, RemoteProtocolError) and not at.tls:
                advice = "see whether it runs, and write qdrants:// where it speaks TLS"
        else:
            said = f"gave an answer that cannot be used: {str(error).splitlines()[0]}"
        raise Unavailable(self._hidden(f"{at.shown} {said}; {advice}")) from None

    def _hidden(self, text: str) -> str:
        return text.replace(self.address.password, "***") if self.address.password else text
