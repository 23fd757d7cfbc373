"""Commands from a cold shell, beside the least that Python over SQLite can cost."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.corpus import COMMON_WORDS, STOP_WORDS, Corpus, generate
from bench.measure import child_s, middle
from bench.report import Row, times
from bench.systems import fill_scrubjay, open_scrubjay

SEARCH_GOAL, HELP_GOAL = 3.0, 2.0


def measure(home: Path, say: Callable[[str], None], *, quick: bool) -> list[Row]:
    """Time `scrubjay search WORD` and `scrubjay --help` in turns with `import sqlite3`."""
    home.mkdir(parents=True, exist_ok=True)
    corpus, runs = generate(1_000 if quick else 10_000), 5 if quick else 41
    database = home / "memories.db"
    say(f"start: writing {len(corpus.texts):,} memories")
    with open_scrubjay(database, embedder=False) as store:
        fill_scrubjay(store, corpus.texts)
    bare = [sys.executable, "-c", "import sqlite3"]
    words = ["search", _word(corpus), "--db", str(database)]
    module = [sys.executable, "-m", "scrubjay"]
    commands = {
        f"`scrubjay search` over {len(corpus.texts) // 1000}k memories": [*_scrubjay(), *words],
        "the same by `python -m scrubjay`": [*module, *words],
        "`scrubjay --help`": [*_scrubjay(), "--help"],
    }
    env = _shell(home / "bytecode")
    say("start: in turns")
    for command in (
        bare,
        *commands.values(),
    ):  # so that byte code is compiled and files are in memory
        child_s(command, env=env)
    turns = [[child_s(one, env=env)[0] for one in (bare, *commands.values())] for _ in range(runs)]
    started, *taken = zip(*turns, strict=True)
    rows = []
    for name, spent in zip(commands, taken, strict=True):
        goal = HELP_GOAL if "help" in name else SEARCH_GOAL
        ratio, at_best = middle(spent) / middle(started), min(spent) / min(started)
        rows.append(
            Row(
                f'cold {name}, CPU, beside `python -c "import sqlite3"`',
                f"{times(ratio)} (median of {runs}), {times(at_best)} (best of each)",
                f"at most {goal:.0f}x",
                ratio <= goal,
            )
        )
    loaded = "numpy" in _imports([*_scrubjay(), *words], env)
    rows.append(Row("numpy imported by the search", "yes" if loaded else "no", "no", not loaded))
    return rows


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
