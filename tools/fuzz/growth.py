"""`python -m tools.fuzz.growth NAME FOLDER SECONDS`: repeat inputs until they are long.

The time may grow as the length does, but not faster.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tools.fuzz.target import Check
from tools.fuzz.targets import TARGETS

_CHARS = 20_000
_MOST_RATIO = 3.0  # of the time for twice the length
_SLOW_S = 0.5
_HOPELESS_S = 5.0


def main(name: str, folder: Path, seconds: float) -> int:
    """Print each input whose time grows faster than its length."""
    until = time.monotonic() + seconds
    inputs = sorted({one.read_bytes() for one in (folder / "corpus").iterdir()}, key=len)
    tried = worse = 0
    with TARGETS[name].open() as check:
        for data in inputs:
            if time.monotonic() > until:
                break
            tried += 1
            for why in grows(check, data):
                worse += 1
                print(f"{data!r}: {why}", flush=True)
    print(f"{tried} of {len(inputs)} inputs repeated, {worse} grow faster than their length")
    return int(worse > 0)


def grows(check: Check, data: bytes) -> Iterator[str]:
    """Yield why the time for repetitions of an input is too long, if it is."""
    if not data:
        return
    short, long = (data * (chars // len(data) + 1) for chars in (_CHARS, 2 * _CHARS))
    first = _cpu_s(check, short)
    if first > _HOPELESS_S:
        yield f"{len(short)} bytes take {first:.1f} s"
    elif first > _SLOW_S / 4:
        second = _cpu_s(check, long)
        if second > _SLOW_S and second > _MOST_RATIO * first:
            yield f"{len(short)} bytes take {first:.2f} s, {len(long)} take {second:.2f} s"


def _cpu_s(check: Check, data: bytes) -> float:
    begun = time.process_time()
    check(data)
    return time.process_time() - begun


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])))
