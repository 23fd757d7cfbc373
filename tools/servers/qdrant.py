"""Qdrant, for tests and figures."""

from __future__ import annotations

import json
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import quote

from tools.servers import programs
from tools.servers.process import Command, Server
from tools.servers.programs import CannotRun


class Qdrant(Server):
    """A Qdrant of one's own; `port` speaks HTTP, `second_port` gRPC. It may ask for a key."""

    name = "Qdrant"

    def __init__(self, folder: Path | None = None, *, api_key: str | None = None) -> None:
        super().__init__(folder)
        self._api_key = api_key
        self._program = programs.qdrant()

    @property
    def url(self) -> str:
        """The address, without a collection; the key is its password."""
        who = f":{self._api_key}@" if self._api_key else ""
        return f"qdrant://{who}127.0.0.1:{self.port}"

    def _prepare(self) -> None:
        (self.folder / "storage").mkdir(exist_ok=True)

    def _command(self) -> Command:
        settings = {
            "SERVICE__HOST": "127.0.0.1",
            "SERVICE__HTTP_PORT": str(self.port),
            "SERVICE__GRPC_PORT": str(self.second_port),
            "STORAGE__STORAGE_PATH": str(self.folder / "storage"),
            "STORAGE__SNAPSHOTS_PATH": str(self.folder / "snapshots"),
            "STORAGE__TEMP_PATH": str(self.folder / "temporary"),
            "TELEMETRY_DISABLED": "true",
            "LOG_LEVEL": "WARN",
        }
        if self._api_key:
            settings["SERVICE__API_KEY"] = self._api_key
        return Command(
            [self._program], {f"QDRANT__{name}": value for name, value in settings.items()}
        )

    def drop(self, beginning: str) -> None:
        """Remove the collections whose names begin so: each takes 100 MB, even with one vector."""
        answer = json.loads(self._ask("GET", "/collections"))
        for one in answer["result"]["collections"]:
            if one["name"].startswith(beginning):
                self._ask("DELETE", f"/collections/{quote(one['name'])}")

    def _ask(self, method: str, path: str) -> bytes:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(connection):
            connection.request(method, path, headers={"api-key": self._api_key or ""})
            answer = connection.getresponse()
            said = answer.read()
        if answer.status != 200:
            raise CannotRun(f"Qdrant answered {answer.status} to {method} {path}: {said!r}")
        return said

    def _answers(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()
