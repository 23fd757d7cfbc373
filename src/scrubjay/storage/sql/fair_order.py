"""Fair order of queued chunks: namespaces take turns, and so do the memories of each.

In the order of their numbers, three long texts of one writer would keep the vectors of everyone else
waiting until the last of their thousands of chunks is embedded.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable

# Chunks of a namespace in one turn, and of one memory in it. Not one by one: the text of a memory is
# read again in each batch that has a chunk of it.
TURN = 16
SHARE = 8

Queued = tuple[int, int, str]  # chunk, memory, namespace


class FairOrder:
    """Chunks that wait, as far as they are known. Each turn ends at the back of the line, so a
    namespace waits for one turn of every other one at most, whatever others add."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, OrderedDict[int, deque[int]]] = OrderedDict()
        self._known: set[int] = set()

    def __len__(self) -> int:
        return len(self._known)

    def add(self, queued: Iterable[Queued]) -> None:
        """Add chunks, those of a memory in their order; those that are known keep their places."""
        for chunk, memory, namespace in queued:
            if chunk not in self._known:
                self._known.add(chunk)
                line = self._lines.setdefault(namespace, OrderedDict())
                line.setdefault(memory, deque()).append(chunk)

    def take(self, most: int) -> list[int]:
        """Remove the next chunks and return them."""
        taken: list[int] = []
        while self._lines and len(taken) < most:
            namespace, line = self._lines.popitem(last=False)
            turn = min(TURN, most - len(taken))
            while line and turn:
                memory, chunks = line.popitem(last=False)
                share = [chunks.popleft() for _ in range(min(SHARE, turn, len(chunks)))]
                taken += share
                turn -= len(share)
                if chunks:
                    line[memory] = chunks
            if line:
                self._lines[namespace] = line
        self._known.difference_update(taken)
        return taken
