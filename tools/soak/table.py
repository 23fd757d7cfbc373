"""The table of a soak, printed and written into docs/soak.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tools.soak.rounds import Outcome, Round

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "soak.md"
BEGIN, END = "<!-- soak -->\n", "<!-- soak end -->\n"
HEAD = "| attack | what is done | tried | acknowledged writes | lost or wrong |\n|---|---|--:|--:|--:|\n"


def table(results: Sequence[tuple[Round, Outcome]]) -> str:
    """Return one row per attack."""
    rows = []
    for attack, outcome in results:
        if outcome.skipped:
            rows.append(f"| {attack.name} | {attack.what} | skipped: {outcome.skipped} | | |\n")
            continue
        kinds = ", ".join(f"{kind} {times:,}" for kind, times in sorted(outcome.kinds.items()))
        what = f"{attack.what} ({kinds})" if kinds else attack.what
        rows.append(
            f"| {attack.name} | {what} | {outcome.tried:,} {attack.unit} | {outcome.acknowledged:,} |"
            f" {len(outcome.problems):,} |\n"
        )
    return HEAD + "".join(rows)


def write(results: Sequence[tuple[Round, Outcome]], line: str) -> None:
    """Replace the table of the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{line}\n\n{table(results)}{END}{after}", "utf-8")
