"""Measure every profile on every set, and write the table.

    SCRUBJAY_EVAL_DATA=…/eval python -m evals [SET …] [--profiles default,default:keyword]

Indexes are kept under .cache/evals, so a second run only searches.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

import scrubjay
from evals.measures import MEASURES
from evals.sets import Part, find
from scrubjay.config import load
from scrubjay.text import ANALYZER_VERSION

PROFILES = ("default:keyword", "default:vector", "default")
CACHE = Path(".cache/evals")
TABLE = Path("docs/evals.md")
BEGIN, END = "<!-- begin table -->", "<!-- end table -->"

Scores = dict[str, list[float]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="evals", description="Quality on public test sets.")
    parser.add_argument("sets", nargs="*", help="names of sets, or the beginnings of names")
    parser.add_argument("--profiles", default=",".join(PROFILES), help="which profiles, by comma")
    parser.add_argument("--write", action="store_true", help=f"write the table into {TABLE}")
    given = parser.parse_args(arguments)
    root = os.environ.get("SCRUBJAY_EVAL_DATA", "")
    if not root:
        print("skipped: set SCRUBJAY_EVAL_DATA to a folder of test sets (corpus.jsonl, …)")
        return 0
    if not Path(root).is_dir():
        print(f"SCRUBJAY_EVAL_DATA names {root}, which is not a folder", file=sys.stderr)
        return 2
    sets = find(Path(root), given.sets)
    if not sets:
        print(f"no test set below {root} has such a name", file=sys.stderr)
        return 2
    profiles = given.profiles.split(",")
    rows = []
    for name, parts in sets.items():
        measured = {profile: measure(parts, profile) for profile in profiles}
        rows.append((name, measured))
        line = "  ".join(f"{p} {mean(of['nDCG@10']):.3f}" for p, of in measured.items())
        print(f"{name:20} {line}", file=sys.stderr, flush=True)
    table = render(rows, profiles)
    print(table)
    if given.write:
        write(table)
    return 0


def measure(parts: Sequence[Part], profile: str) -> Scores:
    """Return each measure for every question of a set."""
    scores: Scores = {name: [] for name in MEASURES}
    for part in parts:
        judged = part.judgements()
        with index(part) as store:
            for question in part.questions():
                hits = store.search(question["text"], profile=profile, limit=10)
                ranked = [hit.id for hit in hits]
                for name, of in MEASURES.items():
                    scores[name].append(of(ranked, judged[question["id"]]))
    return scores


def index(part: Part) -> scrubjay.Store:
    """Open the index of a corpus, made once."""
    CACHE.mkdir(parents=True, exist_ok=True)
    name = part.name.replace("/", "-")
    rules = f"{ANALYZER_VERSION}-{load().chunk_tokens}+{load().chunk_overlap_tokens}"
    store = scrubjay.open(CACHE / f"{name}-{part.fingerprint()}-{rules}.db")
    documents = part.documents()
    if store.status().memories < len(documents):
        store.add_many(_memory(document) for document in documents)
    store.pending(wait=True)
    return store


def _memory(document: dict[str, object]) -> dict[str, object]:
    text = str(document["text"])
    markdown = str(document["id"]).endswith(".md")
    return {
        "id": document["id"],
        "title": document.get("title") or None,
        "text": text if text.strip() else (document.get("title") or "(empty)"),
        "created_at": "2026-01-01",
        "metadata": {"format": "markdown"} if markdown else {},
    }


def render(rows: list[tuple[str, dict[str, Scores]]], profiles: Sequence[str]) -> str:
    """Return a Markdown table: a row a set, a column a measure and profile, and the average."""
    head = [f"{measure} {profile}" for measure in MEASURES for profile in profiles]
    lines = [
        "| set | questions | " + " | ".join(head) + " |",
        "|---|---" + "|---" * len(head) + "|",
    ]
    columns: list[list[float]] = [[] for _ in head]
    for name, measured in rows:
        values = [mean(measured[profile][of]) for of in MEASURES for profile in profiles]
        for column, value in zip(columns, values, strict=True):
            column.append(value)
        count = len(next(iter(measured.values()))["MRR"])
        lines.append(f"| {name} | {count} | " + " | ".join(f"{v:.3f}" for v in values) + " |")
    averages = " | ".join(f"**{mean(column):.3f}**" for column in columns)
    lines.append(f"| **average of {len(rows)}** | | {averages} |")
    return "\n".join(lines)


def write(table: str) -> None:
    """Put the table between the marks in the docs."""
    page = TABLE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    TABLE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
