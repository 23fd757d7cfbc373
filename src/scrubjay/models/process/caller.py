"""Calls of the model process: connect, elect one where none runs, and give up where none can be had."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from scrubjay.config import device
from scrubjay.errors import Unavailable
from scrubjay.models.process.messages import BadMessage, receive, send
from scrubjay.models.process.place import (
    VARIABLE,
    Place,
    Refused,
    can_share,
    connect,
    make_folder,
    place,
)
from scrubjay.runtime.paths import cache_dir

log = logging.getLogger(__name__)

# Busy, it says each second that it is at work: one that is silent for longer hangs. With eight processes
# for each core, it was once silent for 5 s while it loaded a tokenizer.
_SILENCE_S = 15.0
_START_S = 30.0
_POLL_S = 0.01
_ATTEMPTS = 4
_PAUSE_S = 60.0  # before another one is started, where one did not start
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")
_OWN = "SCRUBJAY_"


class Reply(NamedTuple):
    """What the model process answered."""

    result: Any
    header: Mapping[str, Any]
    content: bytearray


class _Silent(Exception):
    """The model process has not answered in time."""


class _Caller:
    """The connections of this process to the model process. Each is used by one thread at a time."""

    def __init__(self) -> None:
        self.starts = False
        self._lock = threading.Lock()
        self._starting = threading.Lock()
        self._idle: list[socket.socket] = []
        self.children: list[subprocess.Popen[bytes]] = []
        self._paused_until = 0.0
        self._warned = False

    def ask(self, header: Mapping[str, Any]) -> Reply | None:
        """Return the answer; None where the caller has to do the work itself."""
        if not can_share():
            return None
        for attempt in range(_ATTEMPTS):  # if it dies before it answers, another one is elected
            try:
                if attempt:  # one that is being killed accepts connections to its last moment
                    time.sleep(_POLL_S * attempt)
                sock = self._take() or self._start()
                if sock is None:
                    return None
                return self._exchange(sock, header)
            except (OSError, EOFError):
                self.hang_up()
            except (Refused, BadMessage, _Silent) as error:
                self.hang_up()
                self._warn(str(error))
                return None
        return None

    def is_there(self) -> bool:
        """True where a model process runs that this process may use."""
        try:
            sock = self._take() if can_share() else None
        except Refused:
            return False
        if sock is None:
            return False
        with self._lock:
            self._idle.append(sock)
        return True

    def hang_up(self) -> None:
        """Close all connections that are not in use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for sock in idle:
            sock.close()

    def _take(self) -> socket.socket | None:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return connect(place())

    def _exchange(self, sock: socket.socket, header: Mapping[str, Any]) -> Reply:
        try:
            sock.settimeout(_SILENCE_S)
            send(sock, header)
            answer, content = receive(sock)
            while answer.get("wait"):
                answer, content = receive(sock)
        except TimeoutError as error:
            sock.close()
            raise _Silent(f"it has not answered for {_SILENCE_S:g} s") from error
        except BaseException:
            sock.close()
            raise
        with self._lock:
            self._idle.append(sock)
        if "unavailable" in answer:
            raise Unavailable(str(answer["unavailable"]))
        if "result" not in answer:
            raise BadMessage(str(answer.get("refused", "an answer without a result")))
        return Reply(answer["result"], answer, content)

    def _start(self) -> socket.socket | None:
        """Start a model process and return a connection; None where that is not allowed or fails.
        Of several that start at once, the one that gets the lock stays, and all connect to it."""
        if not self.starts or not sys.executable or getattr(sys, "frozen", False):
            return None
        with self._starting:
            at = place()
            if (sock := connect(at)) is not None:  # another thread was faster
                return sock
            if time.monotonic() < self._paused_until:
                return None
            make_folder(at)
            self.children = [one for one in self.children if one.poll() is None]
            self.children.append(child := _spawn(at))
            until = time.monotonic() + _START_S
            while time.monotonic() < until:
                if (sock := connect(at)) is not None:
                    return sock
                if child.poll() not in (None, 0):  # 0: another one is there already
                    break
                time.sleep(_POLL_S)
            self._paused_until = time.monotonic() + _PAUSE_S
            raise Refused("it did not start")

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            log.warning("models run in this process, and not in the model process: %s", reason)


def _spawn(at: Place) -> subprocess.Popen[bytes]:
    """Start a process of its own session: it outlives this one while others use it."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_OWN) and not any(word in name.upper() for word in _SECRET)
    }
    # What it imports does not depend on the folder it was started in.
    paths = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if imported := os.pathsep.join(map(os.path.abspath, paths)):
        kept["PYTHONPATH"] = imported
    own = {"CACHE": os.path.abspath(cache_dir()), "DEVICE": device(), "OFFLINE": "1"}
    command = [sys.executable, "-P", "-m", "scrubjay.models.process", *at]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=at.folder,
        env={**kept, VARIABLE: "0", **{f"{_OWN}{name}": value for name, value in own.items()}},
        start_new_session=True,
    )


_caller = _Caller()


def _after_fork() -> None:
    """Give a forked child connections of its own: two processes cannot share one."""
    global _caller
    starts, _caller = _caller.starts, _Caller()
    _caller.starts = starts


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def ask(header: Mapping[str, Any]) -> Reply | None:
    """Ask the model process; None where there is none, or it does not answer as it should.
    Unavailable if the model itself failed there, as it would have here."""
    return _caller.ask(header)


def is_there() -> bool:
    """True where a model process runs that this process may use; none is started."""
    return _caller.is_there()


def status() -> Mapping[str, Any] | None:
    """Return what the model process says about itself; None where none answers. None is started."""
    reply = ask({"call": "status"}) if is_there() else None
    return None if reply is None or not isinstance(reply.result, dict) else reply.result


def start_when_needed() -> None:
    """Let this process start the model process: it stays, and others may come.
    A process that runs one command uses the model process that it finds, and starts none."""
    _caller.starts = True


def hang_up() -> None:
    """Close the connections of this process; the model process ends when all have done so."""
    _caller.hang_up()
