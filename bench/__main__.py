"""`python -m bench`: measure everything in one run, print the table, write it to docs/bench.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import cold, hybrid, write
from bench.corpus import generate
from bench.peers import PEERS, installed
from bench.report import Row, machine, publish, table
from bench.systems import SCRUBJAY, System

PAGE = Path("docs") / "bench.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark as the options say."""
    options = _parser().parse_args(arguments)
    peers, absent = _peers(options.no_peers)
    for line in absent:
        print(line)
    systems = (SCRUBJAY, *peers)
    with tempfile.TemporaryDirectory(prefix="scrubjay-bench-", ignore_cleanup_errors=True) as home:
        rows = _measure(systems, Path(home), quick=options.quick)
    text = f"{table(rows)}\n\n{_notes(systems)}"
    print(text)
    page: Path | None = options.out
    if page is None and not (options.quick or absent):
        page = PAGE
    if page is not None:
        publish(page, text)
        print(f"\nwritten to {page}", file=sys.stderr)
    return 0


def _measure(systems: Sequence[System], home: Path, *, quick: bool) -> list[Row]:
    """Measure at two sizes; the smaller store also serves the cold shell and the writes."""
    sizes = (1_000, 5_000) if quick else (10_000, 100_000)
    first: list[Row] = []
    second: list[Row] = []
    for count in sizes:
        _say(f"{count:,} memories: writing the corpus, filling the stores, asking")
        corpus = generate(count)
        folder = home / str(count)
        corpus.save(folder / "corpus")
        outcomes = hybrid.race(systems, corpus, folder / "corpus", folder, 1 if quick else 2)
        first += hybrid.rows(outcomes, corpus)
        if count == sizes[0]:
            _say("the cold shell, and writing")
            database = folder / SCRUBJAY.folder / "memories.db"
            first = [*cold.measure(database, corpus, 5 if quick else 21), *first]
            second += write.measure(corpus, folder / "write", 60 if quick else 600)
        else:
            second += hybrid.footprint(outcomes, corpus)
    return [*first, *second]


def _peers(none: bool) -> tuple[tuple[System, ...], list[str]]:
    """Return the peers to race, and a line for what is left out and why."""
    if none:
        return (), ["peers left out: --no-peers"]
    there = tuple(peer for peer in PEERS if installed(peer))
    missing = sorted({peer.package for peer in PEERS} - {peer.package for peer in there})
    return there, [f"{name} not installed: pip install {name}" for name in missing]


def _notes(systems: Sequence[System]) -> str:
    """Say on what machine and in what way each system was asked."""
    packages = dict.fromkeys(["numpy", *(system.package for system in systems)])
    ways = "\n".join(f"- {system.name}: {system.how}." for system in systems)
    return f"Machine: {machine([*packages])}\n\nHow each was asked:\n\n{ways}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1k and 5k memories, few runs")
    parser.add_argument("--no-peers", action="store_true", help="scrubjay alone")
    parser.add_argument(
        "--out",
        type=Path,
        help="the page to write; by default docs/bench.md, after a full run with all peers",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
