"""Clocks and scales: CPU time of children, percentiles, peak memory, bytes on disk."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

try:
    import resource
except ImportError:  # Windows has none: child time falls back to wall time, memory to "not known"
    resource = None  # type: ignore[assignment]

QUIET_S = 0.12


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie, by nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def middle(values: Sequence[float]) -> float:
    """Return the median, which one slow run of a shared machine does not move."""
    return float(median(values))


def children_s() -> float:
    """CPU seconds of all ended children so far; wall time where the system does not count."""
    if resource is None:
        return time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def child_s(
    command: Sequence[str], *, ok: Sequence[int] = (0,), env: Mapping[str, str] | None = None
) -> tuple[float, subprocess.CompletedProcess[str]]:
    """Run a command to its end and return its CPU seconds; an exit code not in `ok` raises."""
    before = children_s()
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", env=env, check=False
    )
    spent = children_s() - before
    if done.returncode not in ok:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr[-400:]}")
    return spent, done


def peak_bytes() -> int | None:
    """Return the most memory this process ever held, or None where the system does not say."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss on Linux: a child starts with its parent's figure there.
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if resource is None:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def disk_bytes(path: Path) -> int:
    """Return the size of a file with its journals beside it, or of all files in a folder."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return sum(file.stat().st_size for file in path.parent.glob(path.name + "*"))


def cpu_s(do: Callable[[], object]) -> float:
    """CPU seconds of a call, all threads counted, until they rest.

    The threads of a large matrix product go on waiting in a busy loop for most of a tenth of a second.
    Without a pause, the next call in turn paid for that: late interaction looked cheap, and keyword
    search dear.
    """
    began = time.process_time()
    do()
    time.sleep(QUIET_S)
    return time.process_time() - began
