"""Memory while a large folder goes in, in a fresh process: `python -m bench.growth FOLDER DB BYTES`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from bench.measure import disk_bytes, peak_bytes

MARKS = (50_000_000, 100_000_000, 250_000_000, 500_000_000)


def main(folder: str, database: str, size: int) -> None:
    """Read a folder of files that are alike, and tell the peak memory as it goes on."""
    import scrubjay

    peaks: dict[int, int | None] = {}
    began = time.process_time()

    def note(number: int, total: int, path: str) -> None:
        for mark in MARKS:
            # A little before the mark, as the last file only begins at it.
            if mark not in peaks and number * size >= 0.999 * mark * total:
                peaks[mark] = peak_bytes()
                spent = time.process_time() - began
                print(f"  {mark // 1_000_000} MB after {spent:.0f} s of CPU", file=sys.stderr)

    with scrubjay.open(database, embedder=False) as store:
        at_start = peak_bytes()
        store.ingest(folder, progress=note)
    told = {
        "start": at_start,
        "peaks": peaks,
        "cpu_s": time.process_time() - began,
        "disk": disk_bytes(Path(database)),
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
