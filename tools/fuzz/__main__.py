"""`python -m tools.fuzz [--minutes N] [--only NAME] [--keep]`: look for inputs that break a target.

Each target runs in a process of its own, guided by the coverage of the package (atheris). With `--keep`,
the shortest inputs that reach all the code reached go into tests/fuzz/corpus. The exit status is 1 when
something was found; the inputs and tracebacks stay in the folder that is printed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from tools.fuzz.arcs import line_coverage, smallest
from tools.fuzz.target import Target, read_corpus, write_corpus
from tools.fuzz.targets import TARGETS

_MOST_KEPT_BYTES = 20_000  # of each target
_SHOWN = 2000


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=14.0, help="for all targets (default: 14)"
    )
    parser.add_argument("--only", action="append", choices=list(TARGETS))
    parser.add_argument("--keep", action="store_true", help="update tests/fuzz/corpus")
    return parser.parse_args(words)


def fuzz(target: Target, seconds: float, folder: Path, *, keep: bool) -> bool:
    """Fuzz one target; print what was reached and found; return whether nothing was found."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    for data in (*target.seeds, *read_corpus(target.name)):
        (corpus / sha256(data).hexdigest()[:16]).write_bytes(data)
    environment = {**os.environ, "SCRUBJAY_HOME": str(folder / "home")}
    log = folder / "log"
    with log.open("wb") as out:
        hunted = subprocess.run(
            [sys.executable, "-m", "tools.fuzz.hunt", target.name, f"{seconds:.0f}", str(folder)],
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            check=False,
        )
    said = log.read_text(encoding="utf-8", errors="replace")
    print(f"{target.name}: {_figures(said)}", flush=True)
    found = sorted(one for one in (folder / "found").glob("*") if one.suffix != ".txt")
    for one in found:
        why = one.with_suffix(".txt")
        text = why.read_text(encoding="utf-8") if why.exists() else "it took too long, or crashed"
        print(f"  {one}: {one.read_bytes()[:200]!r}\n{text[-_SHOWN:]}", flush=True)
    if hunted.returncode and not found:
        print(said[-_SHOWN:], flush=True)
    is_linear = not target.grows or _is_linear(target, folder, seconds, environment)
    if keep:
        kept = smallest(target, (one.read_bytes() for one in corpus.iterdir()), _MOST_KEPT_BYTES)
        size = write_corpus(target.name, kept)
        run, lines = line_coverage(target, kept)
        print(f"  {len(kept)} inputs kept, {size:,} bytes; {run} of {lines} lines", flush=True)
    return not found and not hunted.returncode and is_linear


def _figures(said: str) -> str:
    executed = re.findall(r"number_of_executed_units: (\d+)", said)
    reached = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", said)
    cov, features, inputs = reached[-1] if reached else ("?", "?", "?")
    count = f"{int(executed[-1]):,}" if executed else "?"
    return f"{count} inputs, {cov} edges, {features} features, {inputs} inputs reach them"


def _is_linear(target: Target, folder: Path, seconds: float, environment: dict[str, str]) -> bool:
    seconds = max(10.0, seconds / 4)
    command = [sys.executable, "-m", "tools.fuzz.growth", target.name, str(folder), str(seconds)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, check=False, timeout=seconds + 60
        )
    except subprocess.TimeoutExpired as hung:
        print(f"  repeated inputs hang:\n{(hung.stdout or b'').decode()[-_SHOWN:]}", flush=True)
        return False
    print(
        "  " + (done.stdout + done.stderr).decode(errors="replace").strip()[-_SHOWN:], flush=True
    )
    return not done.returncode


def main(words: Sequence[str]) -> int:
    given = arguments(words)
    chosen = [TARGETS[name] for name in given.only or TARGETS]
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    print(f"{folder}", flush=True)
    os.environ["SCRUBJAY_HOME"] = str(folder / "home")
    seconds = given.minutes * 60 / len(chosen)
    passed = [fuzz(one, seconds, folder / one.name, keep=given.keep) for one in chosen]
    return int(not all(passed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
