"""Read foreign formats in a process of their own, with limits of time and memory.

A small file can take a parser minutes and gigabytes, or crash it. Such a file ends that process only.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from queue import Empty, SimpleQueue
from typing import BinaryIO

from scrubjay.config import FileLimits
from scrubjay.documents import Document, GaveUp
from scrubjay.documents.read import is_foreign, read
from scrubjay.documents.reader_process import (
    MAX_TEXT_CHARS,
    OUT_OF_MEMORY,
    Request,
    pack,
    receive,
    send,
    unpack,
)
from scrubjay.errors import ScrubjayError

# A bomb is small. An ordinary page of 10 MB takes more than 40 s on a slow machine.
_S_PER_MB = 10.0
_START_S = 60.0
_SLOW_S = 0.5  # a file that takes longer gives time to store the ones before it
_WAKE_S = 0.2  # Windows delivers Ctrl-C only between two waits
_END_S = 5.0
_MAX_FILES = 200  # of one process: libraries leak
_MAX_ANSWER_BYTES = 8 * MAX_TEXT_CHARS
# What an interpreter and its libraries need; keys and passwords are not passed on.
_ENVIRONMENT = frozenset(
    """PATH PYTHONHOME LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH LANG LC_ALL LC_CTYPE
    TMPDIR TEMP TMP SYSTEMROOT WINDIR SYSTEMDRIVE""".split()
)
# For glibc. Each arena reserves address space, which is limited; and PDFium allocates and frees so much
# that keeping what was freed makes it a quarter faster.
_MALLOC = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TRIM_THRESHOLD_": "100000000",
    "MALLOC_TOP_PAD_": "10000000",
}
_PROGRAM = (
    "import json, sys\n"
    "sys.path[:], memory_bytes = json.loads(sys.stdin.buffer.readline())\n"
    "from scrubjay.documents.reader_process import serve\n"
    "serve(memory_bytes)\n"
)


class Stopped(ScrubjayError):
    """Reading was stopped from another thread."""


class IsolatedReader:
    """Reads files, those of foreign formats in another process, which the first of them starts.

    Use it as a context: leaving it ends the process. When `stopping` is set, by another thread, the
    read under way ends with Stopped.
    """

    def __init__(self, limits: FileLimits, stopping: threading.Event | None = None) -> None:
        self._limits = limits
        self._stopping = stopping or threading.Event()
        self._process: _ReaderProcess | None = None
        self._why_not_started: OSError | None = None

    def __enter__(self) -> IsolatedReader:
        return self

    def __exit__(self, *exc: object) -> None:
        self._end()

    def read(self, path: str, data: bytes, meanwhile: Callable[[], None]) -> list[Document]:
        """Return the documents of a file; raise Unreadable, or OSError where no process can start.
        `meanwhile` is called if it takes long."""
        if not is_foreign(path, data) or not _interpreter():
            return read(path, data)
        if self._stopping.is_set():
            raise Stopped("reading was stopped")
        limit_s = self._limits.timeout_s + _S_PER_MB * (len(data) // 1_000_000)
        request = Request(path, limit_s, data)
        is_first = self._process is None
        answer = self._ask(request, meanwhile)
        if isinstance(answer, int) and not is_first:
            # Files before it may have left it too little memory.
            answer = self._ask(request, meanwhile)
        match answer:
            case bytes():
                try:
                    return unpack(answer)
                except (ValueError, KeyError, TypeError):
                    self._end()
                    raise GaveUp("its reader gave an invalid answer") from None
            case None:
                raise GaveUp(
                    f"it takes longer than {limit_s:g} s to read; to allow more, set file_timeout_s"
                )
            case int():
                raise GaveUp(_why_ended(answer, self._limits.memory_mb))

    def _ask(self, request: Request, meanwhile: Callable[[], None]) -> bytes | int | None:
        process = self._started()
        is_usable = False
        try:
            answer = process.ask(request, self._stopping, meanwhile)
            is_usable = isinstance(answer, bytes) and process.asked < _MAX_FILES
        finally:
            if not is_usable:  # it failed, was interrupted, or has read enough
                self._end()
        return answer

    def _started(self) -> _ReaderProcess:
        if self._why_not_started is not None:
            raise self._why_not_started
        if self._process is None:
            try:
                self._process = _ReaderProcess(self._limits.memory_mb * 1_000_000)
            except OSError as error:
                self._why_not_started = error
                raise
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


class _ReaderProcess:
    """A running process, and the thread that writes to its pipe and reads from it."""

    def __init__(self, memory_bytes: int) -> None:
        import subprocess  # imported only if there is such a file
        import tempfile

        self.asked = 0
        self._requests: SimpleQueue[bytes | None] = SimpleQueue()
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                [_interpreter(), "-P", "-c", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environment(),
            )
            assert self._process.stdin is not None and self._process.stdout is not None  # noqa: PT018
            pipes = (self._process.stdin, self._process.stdout)
            self._thread = threading.Thread(
                target=self._exchange, args=pipes, name="scrubjay-reader", daemon=True
            )
            self._thread.start()
            paths = [os.path.abspath(path) for path in sys.path]
            self._requests.put(json.dumps([paths, memory_bytes]).encode() + b"\n")
            try:
                ready = self._wait(_START_S, threading.Event(), bool)
            except BaseException:
                self.kill()
                raise
            if not isinstance(ready, bytes):
                self.kill()
                errors.seek(0)
                why = errors.read()[-2000:].decode("utf-8", "replace").strip().rpartition("\n")[2]
                raise OSError(f"the process that reads such files does not start: {why or ready}")

    def ask(
        self, request: Request, stopping: threading.Event, meanwhile: Callable[[], object]
    ) -> bytes | int | None:
        """Return the answer, the exit status of a process that ended, or None when it took too long."""
        self.asked += 1
        self._requests.put(pack(request))
        return self._wait(request.limit_s, stopping, meanwhile)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._requests.put(None)
        self._thread.join(_END_S)  # it reads the end of the pipe
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not written yet has no reader any more
                    pipe.close()

    def _wait(
        self, limit_s: float, stopping: threading.Event, meanwhile: Callable[[], object]
    ) -> bytes | int | None:
        start = time.monotonic()
        wait_s = min(_SLOW_S, limit_s)
        was_slow = False
        while (left_s := start + limit_s - time.monotonic()) > 0:
            try:
                answer = self._answers.get(timeout=min(wait_s, left_s))
            except Empty:
                if not was_slow:
                    meanwhile()
                if stopping.is_set():
                    raise Stopped("reading was stopped") from None
                was_slow, wait_s = True, _WAKE_S
            else:
                return self._exit_status() if answer is None else answer
        return None

    def _exit_status(self) -> int | None:
        from subprocess import TimeoutExpired

        try:
            return self._process.wait(_END_S)
        except TimeoutExpired:  # it has closed its pipe, and goes on
            return None

    def _exchange(self, to: BinaryIO, back: BinaryIO) -> None:
        """Write each request and put its answer, None when the process has ended."""
        try:
            first = self._requests.get()
            if first is not None:
                to.write(first)
                to.flush()
                self._answers.put(receive(back, _MAX_ANSWER_BYTES))
            while (request := self._requests.get()) is not None:
                send(to, request)
                self._answers.put(receive(back, _MAX_ANSWER_BYTES))
        except OSError:  # it was killed while we wrote
            self._answers.put(None)


@cache
def _interpreter() -> str:
    """Return the interpreter to start; "" in a frozen program, which would start itself, and in one
    that embeds Python without an interpreter beside it: these read in their own process."""
    if getattr(sys, "frozen", False):
        return ""
    beside = ("python.exe", "Scripts/python.exe") if os.name == "nt" else ("bin/python3",)
    near = [os.path.join(sys.exec_prefix, *name.split("/")) for name in beside]
    for program in (sys.executable or "", *near):
        name = os.path.basename(program).lower()
        if name.startswith(("python", "pypy")) and os.path.exists(program):
            return program
    return ""


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name.upper() in _ENVIRONMENT}
    return kept | _MALLOC


def _why_ended(status: int, memory_mb: int) -> str:
    why = f"it takes more than {memory_mb:,} MB of memory to read"
    if status != OUT_OF_MEMORY:  # libraries in C do not survive a failed allocation
        ended = _signal(-status) if status < 0 else f"status {status}"
        why += f", or is damaged (its reader ended with {ended})"
    return f"{why}; to allow more, set file_memory_mb"


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
