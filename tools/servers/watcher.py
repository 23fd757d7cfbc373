"""Ends a server when the program that started it is gone, even if that was killed."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

# It reads process ids from us, a list a line. When we are gone the pipe closes, and it kills the
# last list. The kernel's own parent-death signal would come too early: when the thread ends that
# started the server.
SCRIPT = 'while read -r line; do pids=$line; done; [ -z "$pids" ] || kill -9 $pids 2>/dev/null'


class Watcher:
    """A shell that outlives us by a moment."""

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None

    def watch(self, pids: Sequence[int]) -> None:
        """End these when we are gone; they replace those named before."""
        if self._shell is None:
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", SCRIPT], stdin=subprocess.PIPE, cwd="/", start_new_session=True
            )
        self._say(" ".join(map(str, pids)))

    def end(self) -> None:
        """There is nothing left to end."""
        if self._shell is not None:
            self._say("")
            assert self._shell.stdin is not None
            self._shell.stdin.close()
            self._shell.wait()
            self._shell = None

    def _say(self, line: str) -> None:
        assert self._shell is not None
        assert self._shell.stdin is not None
        self._shell.stdin.write(f"{line}\n".encode())
        self._shell.stdin.flush()
