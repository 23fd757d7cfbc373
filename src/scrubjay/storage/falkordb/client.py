"""A FalkorDB server: connections that end in time, and errors a person can act on.

Each store has a graph of its own there, so that several stores can share one server.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrubjay.errors import MissingExtra, Unavailable
from scrubjay.text.urls import FALKORDB, ServerAddress

if TYPE_CHECKING:
    import falkordb

LEAST_VERSION = 4_00_00  # of the module, as it counts itself
_MOST_CONNECTIONS = 16
_MOST_CHARS = 200  # of what a server says: it repeats what it was asked
_NO_GRAPH = "empty key"


class FalkorServer:
    """One store's graph on a server, which is reached when it is first asked.

    `store` is the id of the store, in hexadecimal digits.
    """

    def __init__(
        self, address: ServerAddress, store: str, *, least_version: int = LEAST_VERSION
    ) -> None:
        self.address = address
        self.key = f"{address.name}:{store}"
        self._least_version = least_version
        self._timeout_ms: int | None = max(1, round(address.timeout_s * 1000))
        self._connecting = threading.Lock()
        self._graph: falkordb.Graph | None = None

    def ask(self, query: str, arguments: Mapping[str, object]) -> list[list[Any]] | None:
        """Run a query that changes nothing; None where the server has no graph of this store."""
        with self._errors() as redis:
            graph = self._connected()
            try:
                return _rows(graph.ro_query(query, dict(arguments), self._timeout_ms))
            except redis.ResponseError as error:
                if _NO_GRAPH in str(error):
                    return None
                if "TIMEOUT_MAX" not in str(error):
                    raise
            self._timeout_ms = (
                None  # the server allows no query as long as ours: its own limit holds
            )
            return _rows(graph.ro_query(query, dict(arguments)))

    def tell(self, query: str, arguments: Mapping[str, object]) -> None:
        """Run a query that changes the graph, which is made where it is not there."""
        with self._errors():
            self._connected().query(query, dict(arguments))

    def index(self, label: str, field: str) -> None:
        """Index a field of nodes, unless it is indexed already."""
        with self._errors() as redis:
            try:
                self._connected().query(f"CREATE INDEX FOR (m:{label}) ON (m.{field})")
            except redis.ResponseError as error:
                if "already indexed" not in str(error):
                    raise

    def drop(self) -> None:
        """Remove the graph of this store, if there is one."""
        with self._errors() as redis:
            try:
                self._connected().delete()
            except redis.ResponseError as error:
                if _NO_GRAPH not in str(error):
                    raise

    def ping(self) -> None:
        """Ask for next to nothing."""
        with self._errors():
            self._connected().client.connection.ping()

    def close(self) -> None:
        """Close every connection; twice is fine."""
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
        blocking: Any = redis.BlockingConnectionPool  # which has no types
        pool = blocking(
            max_connections=_MOST_CONNECTIONS,
            timeout=at.timeout_s,
            host=at.host,
            port=at.port,
            username=at.user or None,
            password=at.password or None,
            socket_timeout=at.timeout_s,
            socket_connect_timeout=at.timeout_s,
            # Once: the server may have been started anew since the connection was made. What did not
            # come in time is not asked for again.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
            decode_responses=True,
            protocol=2,
            **tls,
        )
        try:
            server = falkordb.FalkorDB(connection_pool=pool)
            self._check(server.connection)
        except BaseException:
            pool.disconnect()
            raise
        return server.select_graph(self.key)

    def _check(self, server: Any) -> None:
        """Refuse a server that knows no graphs, or is too old."""
        from redis import exceptions

        try:
            modules = server.execute_command("MODULE", "LIST")
        except exceptions.NoPermissionError:
            return  # then its answers to queries have to tell
        versions = {m[m.index("name") + 1]: m[m.index("ver") + 1] for m in modules}
        if "graph" not in versions:
            raise self._no_module()
        if versions["graph"] < self._least_version:
            raise Unavailable(
                f"{self.address.shown} has FalkorDB {_shown(versions['graph'])}, which is too old;"
                f" update it to {_shown(self._least_version)} or later"
            )

    def _no_module(self) -> Unavailable:
        return Unavailable(
            f"{self.address.shown} is a Redis without the FalkorDB module; start FalkorDB there, or"
            " give the address of one"
        )

    @contextmanager
    def _errors(self) -> Iterator[Any]:
        """Give the module of the client; whatever it raises becomes a sentence about this server."""
        try:
            import falkordb  # noqa: F401
            import redis
            from redis import exceptions
        except ImportError:
            raise MissingExtra("falkordb", 'pip install "scrubjay[falkordb]"') from None
        shown = self.address.shown
        try:
            yield redis
        except (redis.AuthenticationError, exceptions.NoPermissionError) as error:
            raise Unavailable(
                f"{shown} refused the user or the password ({_said(error)}); give the right one in"
                f" the URL or in {FALKORDB.secret_env}"
            ) from None
        except redis.TimeoutError:
            raise self._late() from None
        except redis.ConnectionError as error:
            raise Unavailable(
                f"{shown} cannot be reached ({_said(error)}); start it, or correct the address"
            ) from None
        except redis.RedisError as error:
            said = _said(error)
            if "unknown command" in said.casefold():
                raise self._no_module() from None
            if "NOAUTH" in said or "WRONGPASS" in said:
                raise Unavailable(
                    f"{shown} wants a password; give it in the URL or in {FALKORDB.secret_env}"
                ) from None
            if "timed out" in said.casefold():
                raise self._late() from None
            raise Unavailable(
                f"{shown} refused a query: {said}; see the log of FalkorDB"
            ) from None

    def _late(self) -> Unavailable:
        return Unavailable(
            f"{self.address.shown} did not answer within {self.address.timeout_s:g} s; check that it"
            " runs, or give it longer with ?timeout_s= in the URL"
        )


def _rows(result: falkordb.QueryResult) -> list[list[Any]]:
    rows: list[list[Any]] = result.result_set
    return rows


def _said(error: Exception) -> str:
    """Return what a server or a client said, in one line that is not too long."""
    said = " ".join(str(error).split()).rstrip(".")
    return said if len(said) <= _MOST_CHARS else f"{said[:_MOST_CHARS]}…"


def _shown(version: int) -> str:
    return f"{version // 10_000}.{version // 100 % 100}.{version % 100}"
