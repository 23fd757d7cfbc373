"""The table: ratios and bytes only, because times on a shared machine mean nothing to a reader."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

MEMORIES = "bench"
DOCUMENTS = "bench of documents"
MODES = "bench of modes"
GNOSIS = "bench of gnosis"
VAULT = "bench of vault"
TWO_PASS = "bench of two passes"
VECTORS = "bench of vectors"
SERVERS = "bench of servers"
DOORS = "bench of doors"
MODELS = "bench of models"
START = "bench of the start"
AGENTS = "bench of agents"
MILLION = "bench of a million"
WORDS = "bench of words on servers"
WRITING = "bench of writing"
_PARTS = (
    MEMORIES,
    START,
    DOCUMENTS,
    MODES,
    GNOSIS,
    VAULT,
    TWO_PASS,
    VECTORS,
    SERVERS,
    DOORS,
    AGENTS,
    MODELS,
    WRITING,
    MILLION,
    WORDS,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `met` stays None where there is no goal."""

    what: str
    figure: str
    goal: str = ""
    met: bool | None = None

    def markdown(self) -> str:
        """Return the line as Markdown."""
        verdict = {None: "", True: "yes", False: "**no**"}[self.met]
        return f"| {self.what} | {self.figure} | {self.goal} | {verdict} |"


def times(ratio: float) -> str:
    """Write a ratio: two figures are all that a shared machine supports."""
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"


def size(count: float) -> str:
    """Write a number of bytes."""
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count:,.0f} bytes"


def table(rows: Iterable[Row]) -> str:
    """Return the whole table as Markdown."""
    head = "| measured | figure | goal | met |\n|---|---|---|---|"
    return "\n".join([head, *(row.markdown() for row in rows)])


def machine(packages: Sequence[str]) -> str:
    """Say what the figures were measured on, in one paragraph."""
    cores = os.cpu_count() or 1
    parts = [
        f"{_cpu_model()}, {cores} core{'s' if cores > 1 else ''}, {platform.system()}",
        f"Python {platform.python_version()}",
        *(f"{name} {_version(name)}" for name in packages),
        f"measured on {datetime.now(UTC):%Y-%m-%d}",
    ]
    return "; ".join(parts) + "."


def publish(page: Path, text: str, part: str = MEMORIES) -> None:
    """Put the text between a part's markers in a page; a page that is not there yet is begun."""
    before = page.read_text(encoding="utf-8") if page.exists() else _new_page()
    opening, closing = _markers(part)
    head, begin, rest = before.partition(opening)
    _, end, tail = rest.partition(closing)
    if not (begin and end):
        raise ValueError(f"{page} has no lines {opening} and {closing} to write between")
    page.write_text(f"{head}{opening}\n{text}\n{closing}{tail}", encoding="utf-8")


def _markers(part: str) -> tuple[str, str]:
    return f"<!-- {part}: begin -->", f"<!-- {part}: end -->"


def _new_page() -> str:
    places = ("\n".join(_markers(part)) for part in _PARTS)
    return "# Figures: speed, size, memory\n\n" + "\n\n".join(places) + "\n"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _cpu_model() -> str:
    """Return the processor's name; the standard library knows it only on some systems."""
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        for line in listed.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
