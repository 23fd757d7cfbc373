"""`python -m tools.soak [--minutes N] [--only NAME] [--seed N] [--tries N] [--write]`: run the attacks.

The exit status is 1 when anything was lost or wrong; the seed and the command that repeats it are printed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tools.run_tests import IN_MEMORY, has_room
from tools.soak import calls, table
from tools.soak.bit_flips import bit_flips
from tools.soak.forks import Forks
from tools.soak.kills import io_errors, kills
from tools.soak.power_cuts import power_cuts
from tools.soak.processes import processes
from tools.soak.rounds import Bench, Outcome, Round
from tools.soak.servers import servers

ROUNDS = (
    Round("kills", "`kill -9` before a random call that changes a file", "kills", kills, 2.0),
    Round("io-errors", "a write, sync or rename fails: EIO, ENOSPC", "errors", io_errors),
    Round("power-cuts", "unsynced sectors and names dropped", "cuts", power_cuts),
    Round("bit-flips", "bits, bytes, sectors and pages changed in the file", "damages", bit_flips),
    Round("processes", "ten processes on one store, some killed", "kills", processes, 2.0),
    Round(
        "servers",
        "commands killed, and Postgres, Qdrant, FalkorDB under them",
        "kills",
        servers,
        2.5,
    ),
)
SHOWN = 8


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="for all attacks (default: 10)"
    )
    parser.add_argument("--only", action="append", choices=[one.name for one in ROUNDS])
    parser.add_argument("--seed", type=int, help="repeat the run with this seed")
    parser.add_argument("--tries", type=int, help="the number of tries of each attack")
    parser.add_argument("--write", action="store_true", help="write the table into docs/soak.md")
    return parser.parse_args(words)


def soak(
    attacks: Sequence[Round], minutes: float, seed: int, tries: int | None, folder: Path
) -> list[tuple[Round, Outcome]]:
    """Run the attacks one after another; each gets its share of the time."""
    results = []
    whole = sum(one.share for one in attacks)
    with Forks(folder, calls.build(folder)) as forks:
        for attack in attacks:
            here = folder / attack.name
            here.mkdir()
            begun = time.monotonic()
            until = begun + minutes * 60 * attack.share / whole
            outcome = attack.run(Bench(here, forks, seed, until, tries))
            results.append((attack, outcome))
            print(summary(attack, outcome, seed, time.monotonic() - begun), flush=True)
    return results


def summary(attack: Round, outcome: Outcome, seed: int, took_s: float) -> str:
    """Return what an attack did, and how to repeat one that found something."""
    if outcome.skipped:
        return f"{attack.name}: skipped, {outcome.skipped}"
    lines = [
        f"{attack.name}: {outcome.tried:,} {attack.unit}, {outcome.acknowledged:,} writes"
        f" acknowledged, {len(outcome.problems)} lost or wrong, {took_s:.0f} s"
    ]
    lines += [f"  {problem}" for problem in outcome.problems[:SHOWN]]
    if outcome.problems:
        again = f"--only {attack.name} --seed {seed} --tries {outcome.tried + 1}"
        lines.append(f"  repeat it: python -m tools.soak {again}")
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    given = arguments(words)
    attacks = [one for one in ROUNDS if not given.only or one.name in given.only]
    seed = random.SystemRandom().randrange(1 << 31) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    where = IN_MEMORY if has_room(IN_MEMORY) else None
    with tempfile.TemporaryDirectory(
        prefix="soak-", dir=where, ignore_cleanup_errors=True
    ) as made:
        results = soak(attacks, given.minutes, seed, given.tries, Path(made))
    print(table.table(results))
    if given.write:
        table.write(results, f"`make soak`, {given.minutes:g} minutes, seed {seed}:")
    return int(any(outcome.problems for _, outcome in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
