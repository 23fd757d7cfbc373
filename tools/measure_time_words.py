"""Measure time words on conversations: do questions and turns speak of the time that they should.

    SCRUBJAY_EVAL_DATA=…/eval python -m tools.measure_time_words

First table: how many questions hold a time expression, and of those, how many resolve, seen from the
last day of their conversation, to a range that contains an evidence turn: the day it was said, or the
event that it speaks of. Second table: of temporal questions whose answer is a date, how often an
evidence turn speaks of that date.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from scrubjay.text.dates import Window, events_in, window_of

_TEMPORAL = {"locomo": "temporal", "beam_100k": "temporal_reasoning"}


class Asked(NamedTuple):
    """A question with what is known of it: its answer, the day it is asked, its evidence turns."""

    category: str
    text: str
    answer: str
    now: datetime
    evidence: list[tuple[str, datetime | None]]


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file, one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def moment(written: str | None) -> datetime | None:
    """Return a date of the test sets as noon, a time as it is."""
    if not written:
        return None
    read = datetime.fromisoformat(written)
    return read.replace(tzinfo=UTC, hour=read.hour if "T" in written else 12)


def asked(folder: Path) -> Iterator[Asked]:
    """Give the questions of one conversation that have evidence."""
    turns = {one["id"]: one for one in lines(folder / "corpus.jsonl")}
    dates = [moment(one["metadata"].get("date")) for one in turns.values()]
    last = max((date for date in dates if date), default=None)
    evidence = defaultdict(list)
    for row in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        question, turn, _ = row.split("\t")
        if turn in turns:
            evidence[question].append(turns[turn])
    for one in lines(folder / "queries.jsonl"):
        known = one["metadata"]
        now = moment(known.get("last_session_date")) or last
        if evidence[one["id"]] and now:
            found = [
                (
                    turn["metadata"].get("utterance") or turn["text"],
                    moment(turn["metadata"]["date"]),
                )
                for turn in evidence[one["id"]]
            ]
            answer = str(known.get("answer") or "")
            yield Asked(known["category"], one["text"], answer, now, found)


def overlap(one: Window, other: Window | None) -> bool:
    """True when two ranges have a moment in common."""
    return other is not None and one.begins < other.ends and other.begins < one.ends


def day_of(date: datetime) -> Window:
    """Return the day of a moment."""
    begins = date.replace(hour=0, minute=0)
    return Window(begins, begins + timedelta(days=1), "")


def spoken(text: str, date: datetime | None) -> Window | None:
    """Return what a turn speaks of; without a day of its own nothing is known."""
    return events_in(text, date) if date else None


def questions(all_asked: list[Asked]) -> list[int]:
    """Count questions, those with a time, those whose time has evidence said then, spoken of, or either."""
    timed = said = about = either = 0
    for one in all_asked:
        window = window_of(one.text, one.now)
        if window is None:
            continue
        timed += 1
        was_said = any(date and overlap(window, day_of(date)) for _, date in one.evidence)
        is_about = any(overlap(window, spoken(text, date)) for text, date in one.evidence)
        said += was_said
        about += is_about
        either += was_said or is_about
    return [len(all_asked), timed, said, about, either]


def answers(all_asked: list[Asked]) -> list[int]:
    """Count answers that are dates, those whose evidence speaks of any time, of it, or was said then."""
    dated = speaks = right = said = either = 0
    for one in all_asked:
        bare_year = one.answer.isdecimal() and len(one.answer) == 4
        window = window_of(f"in {one.answer}" if bare_year else one.answer, one.now)
        if window is None:
            continue
        dated += 1
        found = [spoken(text, date) for text, date in one.evidence]
        is_right = any(overlap(window, one) for one in found)
        was_said = any(date and overlap(window, day_of(date)) for _, date in one.evidence)
        speaks += any(found)
        right += is_right
        said += was_said
        either += is_right or was_said
    return [len(all_asked), dated, speaks, right, said, either]


def table(head: str, rows: list[tuple[str, list[int]]]) -> str:
    """Return a Markdown table."""
    columns = head.split(", ")
    ruled = ["---"] + ["---:"] * (len(columns) - 1)
    body = [[name, *map(str, counts)] for name, counts in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, ruled, *body))


def main() -> int:
    """Print both tables."""
    root = os.environ.get("SCRUBJAY_EVAL_DATA")
    if not root:
        print("skipped: set SCRUBJAY_EVAL_DATA to a folder of test sets", file=sys.stderr)
        return 0
    first, second = [], []
    for name, temporal in _TEMPORAL.items():
        folders = sorted(one.parent for one in Path(root, name).glob("*/queries.jsonl"))
        everything = [one for folder in folders for one in asked(folder)]
        timed = [one for one in everything if one.category == temporal]
        first.append((f"{name}, {temporal}", questions(timed)))
        first.append((f"{name}, all", questions(everything)))
        second.append((name, answers(timed)))
    print(table("set, questions, with a time, evidence said then, speaks of it, either", first))
    print()
    print(
        table(
            "set, temporal questions, answer is a date, evidence speaks of a time,"
            " of that date, said then, either",
            second,
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
