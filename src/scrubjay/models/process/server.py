"""The model process: answers the processes of its user, and ends when none is connected any more."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from scrubjay._version import __version__
from scrubjay.errors import ScrubjayError, Unavailable
from scrubjay.models.onnx_session import default_threads
from scrubjay.models.process.answers import Answer, Wanted, answer_of, make, read_request
from scrubjay.models.process.messages import BEAT, BadMessage, receive, send
from scrubjay.models.process.place import (
    Place,
    Refused,
    check_folder,
    check_peer,
    connect,
    is_socket,
)
from scrubjay.models.process.shareable import Shareable

IDLE_S = 30.0
_BEAT_S = 1.0
_ELECTION_S = 5.0
_MOST_CONNECTIONS = 256


def serve(at: Place, idle_s: float = IDLE_S) -> int:
    """Answer until no process has been connected for `idle_s`; 0 also where another one does already."""
    check_folder(at)
    with _elected(at) as is_elected:
        if is_elected:
            _Server(at, idle_s).run()
    return 0


@contextmanager
def _elected(at: Place) -> Iterator[bool]:
    """Hold the lock of the name; False where the process that holds it answers."""
    import fcntl

    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    lock = os.open(at.lock, flags, 0o600)
    try:
        until = time.monotonic() + _ELECTION_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # It may be about to end: then its socket is gone, and its lock soon.
                if (other := connect(at)) is not None or time.monotonic() > until:
                    if other is not None:
                        other.close()
                    yield False
                    return
                time.sleep(0.02)
            else:
                yield True
                return
    finally:
        os.close(lock)


class _Connection:
    """One connection, and since when it waits for an answer."""

    def __init__(self, sock: socket.socket, pid: int) -> None:
        self.sock, self.pid = sock, pid
        self.since: float | None = None
        self.sending = threading.Lock()

    def beat(self, now: float) -> None:
        """Say that the answer is being computed, if it takes long."""
        if not self.sending.acquire(blocking=False):
            return
        try:
            if self.since is not None and now - self.since >= _BEAT_S:
                with suppress(OSError):
                    self.sock.send(BEAT, socket.MSG_DONTWAIT)
        finally:
            self.sending.release()


class _Server:
    """The socket, the connections and the models."""

    def __init__(self, at: Place, idle_s: float) -> None:
        self._at, self._idle_s = at, idle_s
        self._lock = threading.Lock()
        self._making = threading.Lock()
        self._connections: set[_Connection] = set()
        self._models: dict[Wanted, Shareable] = {}
        self._idle_since = time.monotonic()
        # More at once would need more memory, and finish no earlier.
        self._running = threading.Semaphore(default_threads())

    def run(self) -> None:
        if is_socket(self._at):  # of one that was killed: its lock was free
            os.unlink(self._at.socket)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(self._at.socket)
        try:
            os.chmod(self._at.socket, 0o600)
            listening.listen(64)
            listening.settimeout(min(_BEAT_S, self._idle_s / 2))
            threading.Thread(target=self._beat, daemon=True).start()
            while not self._is_idle():
                with suppress(TimeoutError):
                    self._accept(listening.accept()[0])
        finally:
            with suppress(OSError):
                os.unlink(self._at.socket)
            listening.close()

    def _is_idle(self) -> bool:
        with self._lock:
            quiet_s = time.monotonic() - self._idle_since
            return not self._connections and quiet_s >= self._idle_s

    def _accept(self, sock: socket.socket) -> None:
        try:
            connection = _Connection(sock, check_peer(sock))
        except (OSError, Refused):
            sock.close()
            return
        with self._lock:
            if len(self._connections) >= _MOST_CONNECTIONS:
                sock.close()
                return
            self._connections.add(connection)
        threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: _Connection) -> None:
        """Answer one connection until it ends, or sends something else than a request."""
        try:
            connection.sock.settimeout(None)
            while True:
                request, _ = receive(connection.sock)
                connection.since = time.monotonic()
                header, arrays = self._answer(request, connection)
                with connection.sending:
                    connection.since = None
                    send(connection.sock, header, arrays)
        except (OSError, EOFError, BadMessage):
            pass
        finally:
            connection.sock.close()
            with self._lock:
                self._connections.discard(connection)
                self._idle_since = time.monotonic()

    def _answer(
        self, request: Mapping[str, Any], asking: _Connection
    ) -> tuple[dict[str, Any], list[Any]]:
        """Return an answer for any request; one that cannot be answered does not end the process."""
        if request.get("call") == "status":
            return {"result": self._status(asking)}, []
        try:
            wanted, call, arguments = read_request(request)
            model = self._model(wanted)
            if call == "load":
                return {"result": model.about()}, []
            if len(arguments.get("texts", ())) == 1:  # a question waits for no batch
                return _answered(model, call, arguments)
            with self._running:
                return _answered(model, call, arguments)
        except _Failed as error:
            return {"unavailable": str(error)}, []
        except (BadMessage, ScrubjayError) as error:
            return {"refused": str(error)}, []
        except Exception as error:  # noqa: BLE001  # the asking process then runs the model itself
            return {"refused": f"{type(error).__name__}: {error}"}, []

    def _model(self, wanted: Wanted) -> Shareable:
        """Return a loaded model; its errors are no answer, since it may load in the process that asks."""
        with self._making:
            model = self._models.get(wanted) or make(wanted)
        model.load()
        with self._making:
            return self._models.setdefault(wanted, model)

    def _status(self, asking: _Connection) -> dict[str, Any]:
        """Describe this process; the one that asks is not counted among those that use it."""
        with self._lock:
            others = {one.pid or id(one) for one in self._connections - {asking}} - {asking.pid}
        with self._making:
            names = [str(getattr(model, "name", "")) for model in self._models.values()]
        return {
            "pid": os.getpid(),
            "version": __version__,
            "models": sorted(names),
            "memory_bytes": memory_bytes(),
            "processes": len(others),
        }

    def _beat(self) -> None:
        while True:
            time.sleep(_BEAT_S)
            with self._lock:
                connections = list(self._connections)
            now = time.monotonic()
            for connection in connections:
                connection.beat(now)


class _Failed(Exception):
    """A loaded model failed, as it would have failed in the process that asks."""


def _answered(model: Shareable, call: str, arguments: Mapping[str, Any]) -> Answer:
    try:
        return answer_of(model, call, arguments)
    except Unavailable as error:
        raise _Failed(str(error)) from error


def memory_bytes() -> int:
    """Return the memory of this process, with its part of what it shares; 0 where that is not known."""
    try:
        with open("/proc/self/smaps_rollup", encoding="ascii") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0
