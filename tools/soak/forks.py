"""Runs commands of the shell in forks of one process, so that Python starts only once.

`Forks` starts `python -m tools.soak.forks`, which reads one request a line and answers with what became
of it. A fork is killed after a time, or at a call that changes a file (calls.c).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from tools.soak import calls, embedder
from tools.soak.calls import Mode

ROOT = Path(__file__).resolve().parent.parent.parent
TIMEOUT_S = 60.0
CRASHED = 70
ASK_EVERY_S = 0.002
SHORT_LEASE_S = 0.3  # what a killed command had claimed is free again after this time


@dataclass
class Request:
    """Commands to run one after another in one fork, and what to do to it."""

    commands: list[list[str]]
    mode: int = Mode.OFF
    at: int = 0
    error: int = 5
    root: str = ""
    log: str = ""
    kill_after_s: float | None = None
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Ended:
    """What became of a request: the exit codes of the commands that ended, and what was printed."""

    codes: list[int]
    signal: int
    hung: bool
    out: str
    err: str
    calls: int

    @property
    def traceback(self) -> str:
        """The end of a traceback, which no command may print."""
        return self.err[-1500:] if "Traceback (most recent" in self.err else ""


class Forks:
    """The process that forks, from the side of a soak."""

    def __init__(self, folder: Path, library: Path | None, *, modules: Sequence[str] = ()) -> None:
        self.folder = folder
        self.library = library
        plugin = embedder.write_plugin(folder)
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), str(plugin)])
        mine = {name: value for name, value in os.environ.items() if "SCRUBJAY" not in name}
        self.environment = {
            **mine,
            "PYTHONPATH": path,
            "SCRUBJAY_HOME": str(folder / "home"),
            "SCRUBJAY_EMBEDDER": embedder.NAME,
            "SCRUBJAY_OFFLINE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.soak.forks", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            cwd=ROOT,
            env=self.environment | ({"LD_PRELOAD": str(library)} if library else {}),
        )

    def run(self, request: Request) -> Ended:
        """Run the commands in a fork, and wait for its end."""
        self.begin(request)
        return self.end()

    def begin(self, request: Request) -> None:
        """Start a fork; `end` waits for it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(request)) + "\n")
        self._process.stdin.flush()

    def end(self) -> Ended:
        """Wait for the fork that `begin` started."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that runs the commands has ended")
        return Ended(**json.loads(line))

    def command(self, *words: str) -> Ended:
        """Run one command undisturbed."""
        return self.run(Request([list(words)]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()


def run_commands(request: Request, report: int) -> None:
    """The fork: run each command, and report its exit code before the next."""
    from scrubjay.surfaces.cli import main as scrubjay

    os.environ.update(request.environment)
    if request.mode:
        calls.watch(Mode(request.mode), request.at, request.root, request.log, request.error)
    for number, words in enumerate(request.commands):
        if request.mode == Mode.RECORD:
            calls.mark(f"begin {number}")
        code = scrubjay(words)
        if request.mode == Mode.RECORD:
            calls.mark(f"done {number} {code}")
        count = calls.count() if request.mode else 0
        os.write(report, f"{code} {count}\n".encode())


def fork(request: Request) -> Ended:
    """Run a request in a fork and watch over it."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            code = 0
            sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the fork ends
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.close(reading)
            try:
                run_commands(request, writing)
            except BaseException:  # noqa: BLE001 - the fork must end here, whatever happened
                traceback.print_exc()
                code = CRASHED
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        os.close(writing)
        status, hung = wait(child, request.kill_after_s)
        with os.fdopen(reading, "rb") as reports:
            lines = [line.split() for line in reports.read().decode().splitlines()]
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    codes = [int(code) for code, _ in lines]
    return Ended(codes, number, hung, texts[0], texts[1], int(lines[-1][1]) if lines else 0)


def wait(child: int, kill_after_s: float | None) -> tuple[int, bool]:
    """Return the status of a fork, and whether it hung; kill it when its time is up."""
    begun = time.monotonic()
    limit_s = TIMEOUT_S if kill_after_s is None else kill_after_s
    killed = False
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status, killed and kill_after_s is None
        if not killed and time.monotonic() - begun > limit_s:
            os.kill(child, signal.SIGKILL)
            killed = True
        time.sleep(ASK_EVERY_S)


def preload(modules: Sequence[str]) -> None:
    """Import what the commands need, and modules that some of them need, so that a fork does not."""
    import importlib

    from scrubjay.write import embed_worker

    embed_worker.LEASE_S = SHORT_LEASE_S
    for name in ("store", "store.write", "store.transfer", "store.search", "write.ingest"):
        importlib.import_module(f"scrubjay.{name}")
    for name in (
        "common",
        "ingest",
        "keys",
        "operate",
        "read",
        "search",
        "transfer",
        "verbs",
        "write",
    ):
        importlib.import_module(f"scrubjay.surfaces.cli.{name}")
    for name in modules:
        importlib.import_module(name)


def main(modules: Sequence[str]) -> None:
    """Answer one request a line until the input ends."""
    preload(modules)
    for line in sys.stdin:
        ended = fork(Request(**json.loads(line)))
        sys.stdout.write(json.dumps(asdict(ended)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
