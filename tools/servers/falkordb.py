"""FalkorDB, which is Redis with a module, for tests and figures."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

from tools.servers import programs
from tools.servers.process import Command, Server


class FalkorDB(Server):
    """A FalkorDB of one's own; `stop` writes its graphs to the folder, `kill` loses them."""

    name = "FalkorDB"

    def __init__(self, folder: Path | None = None, *, password: str | None = None) -> None:
        super().__init__(folder)
        self._password = password
        self._redis, self._module = programs.falkordb()

    @property
    def url(self) -> str:
        """The address, without a graph."""
        who = f":{self._password}@" if self._password else ""
        return f"falkordb://{who}127.0.0.1:{self.port}"

    def _prepare(self) -> None:
        (self.folder / "data").mkdir(exist_ok=True)

    def _command(self) -> Command:
        line: list[str | Path] = [self._redis, "--port", str(self.port), "--bind", "127.0.0.1"]
        line += ["--dir", self.folder / "data", "--save", "", "--loadmodule", self._module]
        if self._password:
            line += ["--requirepass", self._password]
        return Command(line)

    def _answers(self) -> bool:
        try:
            return self._say("PING").startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False

    def _ask_to_stop(self, process: subprocess.Popen[bytes]) -> None:
        try:
            self._say("SHUTDOWN SAVE")
        except OSError:  # it may close the connection before it is read
            process.terminate()

    def _say(self, command: str) -> bytes:
        """Send one line and read the first answer."""
        lines = [f"AUTH {self._password}", command] if self._password else [command]
        with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
            answer = b""
            for line in lines:
                connection.sendall(f"{line}\r\n".encode())
                answer = connection.recv(1_000)
            return answer
