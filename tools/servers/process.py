"""A server as a process: started, awaited, paused, stopped, and never left behind."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from tools.servers.programs import CannotRun
from tools.servers.watcher import Watcher

# Below the ports that Linux gives to clients: otherwise a stopped server's port is soon some
# connection's own end, and the server cannot come back on it.
PORTS = range(20_000, 32_000)
LANES = 16
START_TIMEOUT_S = 60.0  # a busy machine; a quiet one needs a second
STOP_TIMEOUT_S = 30.0
ASK_EVERY_S = 0.02
MOST_TRIES = 5


class Command(NamedTuple):
    """What to run, and as whom."""

    line: Sequence[str | Path]
    environment: Mapping[str, str] = {}
    user: str | None = None


class Server(ABC):
    """One server on this machine; `with` starts it, and leaves nothing of it behind.

    Without a folder it has one of its own, which `close` removes. `stop`, `kill` and `start` keep
    the data, the port and so the URL.
    """

    name: ClassVar[str]

    def __init__(self, folder: Path | None = None) -> None:
        self._own_folder = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix=f"scrubjay-{self.name.lower()}-"))
        self.port, self.second_port = _free_ports()
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher = Watcher()
        self._forgetting = threading.Lock()
        self._prepared = False

    @property
    @abstractmethod
    def url(self) -> str:
        """The address as a store takes it."""

    @abstractmethod
    def _prepare(self) -> None:
        """Make ready what the first start needs."""

    @abstractmethod
    def _command(self) -> Command:
        """What to run."""

    @abstractmethod
    def _answers(self) -> bool:
        """Whether it takes requests."""

    def _ask_to_stop(self, process: subprocess.Popen[bytes]) -> None:
        """Ask for an orderly end."""
        process.send_signal(signal.SIGTERM)

    def start(self) -> Self:
        """Run it and wait until it answers; on the same port and data as before."""
        if self._process is not None and self._process.poll() is None:
            return self
        if not self._prepared:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._prepare()
            self._prepared = True
            atexit.register(self.close)
        for _ in range(MOST_TRIES):
            self._run()
            if self._wait_until_it_answers():
                return self
            self.kill()
            if "in use" not in self.log():
                break
            self.port, self.second_port = _free_ports()  # someone was quicker
        raise CannotRun(f"{self.name} did not start. The end of its log:\n{self.log()}")

    def stop(self) -> None:
        """End it in good order; a paused one goes on first."""
        process = self._process
        if process is None:
            return
        self.resume()
        self._ask_to_stop(process)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            if self._process is process:
                self.kill()
        self._forget(process)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        process = self._process
        self._signal(signal.SIGKILL, self._pids())
        if process is not None:
            process.wait()
            self._forget(process)

    def pause(self) -> None:
        """Let it hang: connections stay open, and nothing is answered."""
        pids = self._pids()
        with self._forgetting:
            self._watcher.watch(pids)  # a worker of a paused server does not see that it died
        self._signal(signal.SIGSTOP, pids)
        # Whoever was started between the question and the signal.
        self._signal(signal.SIGSTOP, self._pids())

    def resume(self) -> None:
        """Let it go on after `pause`."""
        process = self._process
        self._signal(signal.SIGCONT, self._pids())
        with self._forgetting:
            if process is not None and self._process is process:
                self._watcher.watch([process.pid])

    def close(self) -> None:
        """Stop it, and remove its folder if that was its own."""
        self.stop()
        atexit.unregister(self.close)
        if self._own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def log(self, most_chars: int = 2_000) -> str:
        """The end of what it printed."""
        path = self.folder / "log"
        return path.read_text("utf-8", "replace")[-most_chars:] if path.exists() else ""

    def cpu_s(self) -> float:
        """CPU seconds that it and its workers have used since it was started."""
        import psutil

        spent_s = 0.0
        for number, pid in enumerate(self._pids()):
            with suppress(psutil.NoSuchProcess):
                used = psutil.Process(pid).cpu_times()
                spent_s += used.user + used.system
                if not number:  # workers that have ended count with the server
                    spent_s += used.children_user + used.children_system
        return spent_s

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        command = self._command()
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                command.line,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **command.environment},
                start_new_session=True,  # so that Ctrl-C ends the tests first
                user=command.user,
                group=group_of(command.user),
                extra_groups=None if command.user is None else [],
            )
        self._watcher.watch([self._process.pid])

    def _wait_until_it_answers(self) -> bool:
        until = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < until:
            if self._process is None or self._process.poll() is not None:
                return False
            if self._answers():
                return True
            time.sleep(ASK_EVERY_S)
        return False

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        # One thread may kill what another has asked to stop, and start it anew.
        with self._forgetting:
            if self._process is process:
                self._process = None
                self._watcher.end()

    def _pids(self) -> list[int]:
        """The server and its workers, the server first, so that it starts no others."""
        import psutil

        process = self._process
        if process is None or process.poll() is not None:
            return []
        try:
            workers = psutil.Process(process.pid).children(recursive=True)
        except psutil.NoSuchProcess:  # another thread has waited for it meanwhile
            return []
        return [process.pid, *(worker.pid for worker in workers)]

    def _signal(self, number: signal.Signals, pids: Sequence[int]) -> None:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def unprivileged_user() -> str | None:
    """Who may run what refuses to run as root; None where we are not root."""
    return "nobody" if os.geteuid() == 0 else None


def group_of(user: str | None) -> int | None:
    """The group that goes with a user of this machine."""
    import pwd

    return None if user is None else pwd.getpwnam(user).pw_gid


def _free_ports() -> tuple[int, int]:
    """Two ports on which nobody listens."""
    found: list[int] = []
    # Tests that run side by side have ports of their own: a stopped server comes back on its port.
    lane = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % LANES
    for port in random.sample(PORTS[lane::LANES], len(PORTS) // LANES):
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == 2:
            return found[0], found[1]
    raise CannotRun("No port of this machine is free.")
