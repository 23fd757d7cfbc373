"""A keyword search from a cold shell, beside the least that Python over SQLite can cost."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from bench.corpus import COMMON_WORDS, STOP_WORDS, Corpus
from bench.measure import child_s, middle
from bench.report import Row, times

GOAL = 4.0


def measure(database: Path, corpus: Corpus, runs: int) -> list[Row]:
    """Time `scrubjay search WORD` in turns with `import sqlite3`, and look at its imports."""
    search = [*_scrubjay(), "search", _word(corpus), "--db", str(database)]
    bare = [sys.executable, "-c", "import sqlite3"]
    env = _shell(database.parent / "bytecode")
    for command in (search, bare):  # so that byte code is compiled and files are in memory
        child_s(command, env=env)
    taken = [(child_s(search, env=env)[0], child_s(bare, env=env)[0]) for _ in range(runs)]
    searched, started = zip(*taken, strict=True)
    ratio = middle(searched) / middle(started)
    at_best = min(searched) / min(started)
    loaded = "numpy" in _imports(search, env)
    count = f"{len(corpus.texts) // 1000}k"
    return [
        Row(
            f"cold `scrubjay search` over {count} memories, CPU, beside"
            ' `python -c "import sqlite3"`',
            f"{times(ratio)} (median of {runs}), {times(at_best)} (best of each)",
            f"at most {GOAL:.0f}x",
            ratio <= GOAL,
        ),
        Row("numpy imported by it", "yes" if loaded else "no", "no", not loaded),
    ]


def _shell(bytecode: Path) -> dict[str, str]:
    """Return an environment in which byte code is kept, as it is for an installed package.

    Some machines switch that off (PYTHONDONTWRITEBYTECODE), and a source tree may be read-only;
    then every run would compile scrubjay again, and nothing of the standard library.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(bytecode)}


def _imports(command: list[str], env: Mapping[str, str]) -> set[str]:
    """Return the names of all modules that a Python command imports."""
    _, done = child_s(command, env={**env, "PYTHONPROFILEIMPORTTIME": "1"})
    return set(re.findall(r"^import time:.*\|\s+([\w.]+)$", done.stderr, re.MULTILINE))


def _scrubjay() -> list[str]:
    """Return the installed command of this interpreter, as a person's shell would start it."""
    beside = shutil.which("scrubjay", path=str(Path(sys.executable).parent))
    return [beside] if beside else [sys.executable, "-m", "scrubjay"]


def _word(corpus: Corpus) -> str:
    """Choose a word that about one memory in a hundred contains, no stop word."""
    counts: Counter[str] = Counter()
    for text in corpus.texts[:1000]:
        counts.update(set(re.findall(r"[a-z]{4,}", text)))
    plain = (word for word in counts if word not in {*STOP_WORDS, *COMMON_WORDS})
    return min(plain, key=lambda word: (abs(counts[word] - 10), word))
