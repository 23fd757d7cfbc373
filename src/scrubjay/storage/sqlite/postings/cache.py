"""Lists of postings that searches of this process have decoded, as long as the index is the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, Protocol, TypeVar

_MAX_BYTES = 96 << 20  # the frequent words of a million memories


class _Sized(Protocol):
    @property
    def bytes(self) -> int: ...


T = TypeVar("T", bound=_Sized)


class Cache(Generic[T]):
    """Decoded lists by token, those that were searched last. `stamp` is a number that changes with the
    postings: what was decoded under another one is not returned."""

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._lists: OrderedDict[str, T] = OrderedDict()
        self._stamp = 0
        self._bytes = 0

    def get(self, stamp: int, token: str) -> T | None:
        with self._lock:
            if stamp != self._stamp or token not in self._lists:
                return None
            self._lists.move_to_end(token)
            return self._lists[token]

    def put(self, stamp: int, token: str, decoded: T) -> None:
        with self._lock:
            if stamp != self._stamp:
                self._lists.clear()
                self._stamp, self._bytes = stamp, 0
            if token in self._lists:
                self._bytes -= self._lists.pop(token).bytes
            self._lists[token] = decoded
            self._bytes += decoded.bytes
            while self._bytes > self._max_bytes:
                _, dropped = self._lists.popitem(last=False)
                self._bytes -= dropped.bytes
