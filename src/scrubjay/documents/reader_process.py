"""The process that reads foreign formats: its limits, and its messages to and from its parent.

`isolated.py` starts it. A request is a path and the bytes of a file, an answer is JSON: the parent
must not unpickle what a process sends that a hostile file may have taken over.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from queue import SimpleQueue
from typing import Any, BinaryIO, NamedTuple

from scrubjay.documents import Document, GaveUp, Target, Unreadable
from scrubjay.documents.read import read

MAX_TEXT_CHARS = 30_000_000  # of one file; indexing as many takes 15 s
OUT_OF_MEMORY = 77  # exit status
_HEADER = struct.Struct(">Q")
# The parent ends a process that takes too long. If the parent was killed, this does.
_GRACE_S = 5.0
_COPIED = ("text", "title", "name", "format", "topics", "targets", "metadata", "notes")
_TIMES = ("created_at", "updated_at")


class Request(NamedTuple):
    """A file to read, and how long that may take."""

    path: str
    limit_s: float
    data: bytes


def serve(memory_bytes: int) -> None:
    """Answer requests until the parent closes the pipe or is gone."""
    answers = _answer_pipe()
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which kills us
    _limit_memory(memory_bytes)
    inbox: SimpleQueue[Request] = SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, inbox), daemon=True).start()
    send(answers, b"{}")  # ready
    while True:
        request = inbox.get()
        _alarm(request.limit_s + _GRACE_S)
        try:
            answer = _answer(request)
            send(answers, answer)
        except (MemoryError, SystemError):
            os._exit(OUT_OF_MEMORY)
        _alarm(0)
        del request, answer  # the bytes of the last file count against the limit of the next


def pack(request: Request) -> bytes:
    head = json.dumps([request.path, request.limit_s]).encode()
    return head + b"\n" + request.data


def send(pipe: BinaryIO, message: bytes) -> None:
    pipe.write(_HEADER.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def receive(pipe: BinaryIO, most_bytes: int) -> bytes | None:
    """Return the next message; None at the end, and for a message that is too long."""
    header = pipe.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    (size,) = _HEADER.unpack(header)
    message = pipe.read(size) if size <= most_bytes else b""
    return message if len(message) == size else None


def unpack(answer: bytes) -> list[Document]:
    """Return the documents of an answer, or raise what the reader raised.
    Raises ValueError, KeyError or TypeError for anything that is not an answer."""
    values = json.loads(answer)
    if "reason" in values:
        reason, failed, gave_up = str(values["reason"]), bool(values["failed"]), values["gave_up"]
        raise GaveUp(reason) if gave_up else Unreadable(reason, failed=failed)
    return [_document(one) for one in values["documents"]]


def _document(values: Mapping[str, Any]) -> Document:
    fields: dict[str, Any] = {name: values[name] for name in _COPIED}
    fields["topics"] = tuple(map(str, values["topics"]))
    fields["notes"] = tuple(map(str, values["notes"]))
    fields["targets"] = tuple(Target(str(kind), str(text)) for kind, text in values["targets"])
    for name in _TIMES:
        fields[name] = values[name] and datetime.fromisoformat(values[name])
    return Document(**fields)


def _answer(request: Request) -> bytes:
    try:
        documents = read(request.path, request.data)
        if sum(len(one.text) for one in documents) > MAX_TEXT_CHARS:
            raise GaveUp(f"its text has more than {MAX_TEXT_CHARS:,} characters")
    except (MemoryError, SystemError):  # the latter where a C function lost the former
        raise
    except Unreadable as left_out:
        gave_up = isinstance(left_out, GaveUp)
        return _json({"reason": left_out.reason, "failed": left_out.failed, "gave_up": gave_up})
    except Exception as error:  # noqa: BLE001  # what a library raises must not end the whole ingest
        reason = f"its reader failed: {type(error).__name__}: {error}"[:500]
        return _json({"reason": reason, "failed": True, "gave_up": True})
    return _json({"documents": [_values(one) for one in documents]})


def _values(document: Document) -> dict[str, Any]:
    values = document._asdict()
    times = {name: values[name] and values[name].isoformat() for name in _TIMES}
    return {name: values[name] for name in _COPIED} | times | {"metadata": dict(document.metadata)}


def _json(values: object) -> bytes:
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")


def _answer_pipe() -> BinaryIO:
    """Return the standard output, and let what libraries print go nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    return answers


def _receive(pipe: BinaryIO, inbox: SimpleQueue[Request]) -> None:
    """Put the requests into the inbox. This thread also notices, during a long read, that the parent
    is gone."""
    try:
        while (message := receive(pipe, sys.maxsize)) is not None:
            head, _, data = message.partition(b"\n")
            path, limit_s = json.loads(head)
            inbox.put(Request(path, limit_s, data))
            del message, data
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    os._exit(0)


def _alarm(seconds: float) -> None:
    """End this process after a time, even while a library holds the lock of the interpreter."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(more_bytes: int) -> None:
    """Limit the address space, where the system can, to its present size and `more_bytes`."""
    try:
        import resource
    except ImportError:  # Windows: only time is limited
        return
    most = _address_space() + more_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    with suppress(ValueError, OSError):  # macOS refuses some values
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    # macOS accepts the limit and does not enforce it.
    if sys.platform == "darwin":
        threading.Thread(target=_watch_memory, args=(most,), daemon=True).start()


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as pages:
            return int(pages.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _watch_memory(most_bytes: int) -> None:
    import resource
    import time

    while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < most_bytes:  # bytes on macOS
        time.sleep(0.05)
    os._exit(OUT_OF_MEMORY)
