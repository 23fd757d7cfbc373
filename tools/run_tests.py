"""Runs every test, in two processes, with what they write in memory where there is plenty.

`python -m tools.run_tests [--retry-alone] [PYTEST'S OPTIONS]`; `python -m pytest tests/test_x.py` runs some
of them, in one process and on the disk. With `--retry-alone`, a few tests that fail run once more, in one
process: those that only fail beside others are named, and do not fail the run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

# A worker steals tests that the other one has not begun, from the end of its list: both are busy
# to the end, and a file that shares something costly between its tests is rarely torn apart.
TOGETHER = ("-n", "2", "--dist", "worksteal")
IN_MEMORY = Path("/dev/shm")
# Tests write about 1 GiB; the rest is for the tests themselves and for whoever else works here.
LEAST_FREE_BYTES = 6 << 30
RETRY = "--retry-alone"
MOST_RETRIED = 5  # more failures are no accident of a busy machine
TESTS_FAILED = 1


def main(options: list[str]) -> int:
    """Run the tests; the exit status is pytest's."""
    plain = [option for option in options if option != RETRY]
    status = run([*TOGETHER, *plain])
    if status != TESTS_FAILED or RETRY not in options:
        return status
    failed = last_failed()
    if not 0 < len(failed) <= MOST_RETRIED:
        return status
    print(f"\n{len(failed)} failed; once more, alone:", *failed, sep="\n  ", flush=True)
    status = run(["-q", *failed])
    if status == 0:
        print("They fail beside other tests only: look what they do not wait for.", flush=True)
    return status


def last_failed() -> list[str]:
    """Return the tests that failed in the last run, by name."""
    try:
        return list(json.loads(Path(".pytest_cache/v/cache/lastfailed").read_bytes()))
    except (OSError, ValueError):
        return []


def run(options: list[str]) -> int:
    """Run pytest with these options, in memory where there is room."""
    with in_memory() if has_room(IN_MEMORY) else nullcontext() as folder:
        environment = os.environ if folder is None else {**os.environ, "TMPDIR": folder}
        # A short path: tests compare what is printed, and a long one would be wrapped.
        here = [] if folder is None else [f"--basetemp={folder}/t"]
        with subprocess.Popen(
            [sys.executable, "-m", "pytest", *here, *options], env=environment
        ) as tests:
            while True:
                try:
                    return tests.wait()
                except KeyboardInterrupt:  # pytest had it too, and says how far it came
                    continue


def in_memory() -> tempfile.TemporaryDirectory[str]:
    """A folder that is gone in the end: a store waits for the disk at each write, tests need not."""
    made = tempfile.TemporaryDirectory(prefix="jay-", dir=IN_MEMORY, ignore_cleanup_errors=True)
    Path(made.name).chmod(0o711)  # the servers of root run as somebody else
    return made


def has_room(folder: Path) -> bool:
    """Whether much can be written there, and what is written can be run."""
    import psutil

    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    room = os.statvfs(folder)
    free_bytes = min(room.f_bavail * room.f_frsize, psutil.virtual_memory().available)
    return free_bytes >= LEAST_FREE_BYTES and not room.f_flag & os.ST_NOEXEC


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
