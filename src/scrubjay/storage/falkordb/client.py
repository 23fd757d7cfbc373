"""Client of a FalkorDB server: queries within a time-out, and one graph for each store."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrubjay.errors import MissingExtra, Unavailable
from scrubjay.text.urls import FALKORDB, ServerAddress

if TYPE_CHECKING:
    import falkordb

MIN_VERSION = 4_00_00  # of the module, in its own notation
_MAX_CONNECTIONS = 16
_MAX_REPLY_CHARS = 200  # a server's error repeats the query
_NO_GRAPH = "empty key"


class FalkorServer:
    """The graph of one store (id in hexadecimal digits) on a server, connected to at the first query."""

    def __init__(
        self, address: ServerAddress, store: str, *, min_version: int = MIN_VERSION
    ) -> None:
        self.address = address
        self.key = f"{address.name}:{store}"
        self._min_version = min_version
        self._timeout_ms: int | None = max(1, round(address.timeout_s * 1000))
        self._connecting = threading.Lock()
        self._graph: falkordb.Graph | None = None

    def read(self, query: str, arguments: Mapping[str, object]) -> list[list[Any]] | None:
        """Run a read-only query; None when the server has no graph of this store."""
        with self._errors() as redis:
            graph = self._connected()
            try:
                found = graph.ro_query(query, dict(arguments), self._timeout_ms)
            except redis.ResponseError as error:
                if _NO_GRAPH in str(error):
                    return None
                if "TIMEOUT_MAX" not in str(error):
                    raise
                self._timeout_ms = None  # ours is above the server's limit, which applies then
                found = graph.ro_query(query, dict(arguments))
            rows: list[list[Any]] = found.result_set
            return rows

    def write(self, query: str, arguments: Mapping[str, object]) -> None:
        with self._errors():
            self._connected().query(query, dict(arguments))

    def create_index(self, label: str, field: str) -> None:
        with self._errors(ignored="already indexed"):
            self._connected().query(f"CREATE INDEX FOR (m:{label}) ON (m.{field})")

    def drop(self) -> None:
        with self._errors(ignored=_NO_GRAPH):
            self._connected().delete()

    def ping(self) -> None:
        with self._errors():
            self._connected().client.connection.ping()

    def close(self) -> None:
        with self._connecting:
            graph, self._graph = self._graph, None
        if graph is not None:
            graph.client.connection.connection_pool.disconnect()

    def _connected(self) -> falkordb.Graph:
        with self._connecting:
            if self._graph is None:
                self._graph = self._connect()
            return self._graph

    def _connect(self) -> falkordb.Graph:
        import falkordb
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        at = self.address
        tls: dict[str, Any] = {}
        if at.tls:
            tls = {"connection_class": redis.SSLConnection, "ssl_check_hostname": True}
        pool_class: Any = redis.BlockingConnectionPool  # which has no types
        pool = pool_class(
            max_connections=_MAX_CONNECTIONS,
            timeout=at.timeout_s,
            host=at.host,
            port=at.port,
            username=at.user or None,
            password=at.password or None,
            socket_timeout=at.timeout_s,
            socket_connect_timeout=at.timeout_s,
            # Once: the server may have been restarted since the connection was made. What timed out
            # is not sent again.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
            decode_responses=True,
            protocol=2,
            **tls,
        )
        try:
            server = falkordb.FalkorDB(connection_pool=pool)
            self._check_version(server.connection)
        except BaseException:
            pool.disconnect()
            raise
        return server.select_graph(self.key)

    def _check_version(self, server: Any) -> None:
        from redis import exceptions

        try:
            modules = server.execute_command("MODULE", "LIST")
        except exceptions.NoPermissionError:
            return  # then the answers to queries show it
        versions = {m[m.index("name") + 1]: m[m.index("ver") + 1] for m in modules}
        if "graph" not in versions:
            raise self._no_module()
        if versions["graph"] < self._min_version:
            raise Unavailable(
                f"{self.address.shown} has FalkorDB {_shown(versions['graph'])}, which is too old;"
                f" update it to {_shown(self._min_version)} or later"
            )

    def _no_module(self) -> Unavailable:
        return Unavailable(
            f"{self.address.shown} is a Redis without the FalkorDB module; start FalkorDB there, or"
            " give the address of one"
        )

    @contextmanager
    def _errors(self, ignored: str = "") -> Iterator[Any]:
        """Give the redis module; turn its errors, unless they are ignored, into Unavailable with advice."""
        try:
            import falkordb  # noqa: F401
            import redis
        except ImportError:
            raise MissingExtra("falkordb", 'pip install "scrubjay[falkordb]"') from None
        try:
            yield redis
        except redis.RedisError as error:
            if ignored and ignored in str(error):
                return
            raise self._explained(error) from None

    def _explained(self, error: Exception) -> Unavailable:
        import redis
        from redis.exceptions import NoPermissionError

        message, at = _message(error), self.address
        lower, secret = message.casefold(), f"in the URL or in {FALKORDB.secret_env}"
        cut_off = isinstance(error, redis.ConnectionError)
        if isinstance(error, (redis.AuthenticationError, NoPermissionError)):
            problem = f"refused the user or the password ({message}); give the right one {secret}"
        elif isinstance(error, redis.TimeoutError) or ("timed out" in lower and not cut_off):
            problem = (
                f"did not answer within {at.timeout_s:g} s; check that it runs, or set a longer"
                " time-out with ?timeout_s= in the URL"
            )
        elif cut_off:
            problem = f"cannot be reached ({message}); start it, or correct the address"
        elif "unknown command" in lower:
            return self._no_module()
        elif "NOAUTH" in message or "WRONGPASS" in message:
            problem = f"requires a password; give it {secret}"
        else:
            problem = f"refused a query: {message}; see the log of FalkorDB"
        return Unavailable(f"{at.shown} {problem}")


def _message(error: Exception) -> str:
    message = " ".join(str(error).split()).rstrip(".")
    return message if len(message) <= _MAX_REPLY_CHARS else f"{message[:_MAX_REPLY_CHARS]}…"


def _shown(version: int) -> str:
    return f"{version // 10_000}.{version // 100 % 100}.{version % 100}"
