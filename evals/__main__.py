"""Measure every profile on every set, and write the tables.

    SCRUBJAY_EVAL_DATA=…/eval python -m evals [SET …] [--profiles default,gno] [--reranker FOLDER]
    SCRUBJAY_EVAL_DATA=…/eval python -m evals [SET …] --conversations
    SCRUBJAY_EVAL_DATA=…/eval python -m evals [SET …] --embedder potion-base-8M --most 100
    SCRUBJAY_EVAL_DATA=…/eval python -m evals across --most 120 [--profiles default]
    SCRUBJAY_EVAL_DATA=…/eval python -m evals changes [--profiles default,gno]

Indexes are kept under .cache/evals, so a second run only searches. A reranker adds a column: the
last profile with it. It reads pairs for a long time, so `--most` takes fewer questions of each set,
spread over all of them. With `--conversations`, only sets of conversations are measured: stored as
messages in their sessions, asked an hour after the last of them, with a row for each kind of
question. Otherwise each of their turns is a memory by itself. `across` asks the texts of each
language in every other one.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import scrubjay
from evals import changes
from evals.conversations import by_kind, clock_after, messages
from evals.measures import MEASURES, Scores
from evals.sets import Part, across_languages, find
from scrubjay.config import DEFAULT_EMBEDDER, load
from scrubjay.ops.eval.questions import memories
from scrubjay.text.analysis import ANALYZER_VERSION

PROFILES = (
    "default:keyword",
    "default:vector",
    "default:fast",
    "default",
    "gno:fast",
    "gno",
    "gnosis",
    "vault",
    "cognis",
    "novamem",
)
OF_CONVERSATIONS = ("default:keyword", "default:vector", "default", "cognis")
CACHE = Path(".cache/evals")
PAGE = Path("docs/evals.md")
TABLE, RERANKED, EXPANDED, CONVERSATIONS = "table", "reranked", "expanded", "conversations"
STATIC, CHANGES, ACROSS = "static", "changes", "across"
# How many are read must not follow from the speed of the machine that measures quality.
NO_DEADLINE = {"cross_encoder.deadline_ms": None, "cross_encoder.give_up_s": 600}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    given = _parser().parse_args(arguments)
    root = os.environ.get("SCRUBJAY_EVAL_DATA", "")
    if not root:
        print("skipped: set SCRUBJAY_EVAL_DATA to a folder of test sets (corpus.jsonl, …)")
        return 0
    if not Path(root).is_dir():
        print(f"SCRUBJAY_EVAL_DATA names {root}, which is not a folder", file=sys.stderr)
        return 2
    if given.embedder:
        os.environ["SCRUBJAY_EMBEDDER"] = given.embedder
    if given.sets == [CHANGES]:
        return of_changes(Path(root) / CHANGES, given)
    across = given.sets == [ACROSS]
    sets = across_languages(Path(root)) if across else find(Path(root), given.sets)
    if given.conversations:
        sets = {name: parts for name, parts in sets.items() if messages(parts[0].documents())}
    if not sets:
        print(f"no test set below {root} has such a name", file=sys.stderr)
        return 2
    profiles = given.profiles or ",".join(OF_CONVERSATIONS if given.conversations else PROFILES)
    columns: dict[str, tuple[str, str | None, str | None]] = {
        name: (name, None, None) for name in profiles.split(",")
    }
    more = " + ".join(Path(one).name for one in (given.reranker, given.generator) if one)
    if more:
        last = [*columns][-1]
        columns[f"{last} + {more}"] = (last, given.reranker, given.generator)
    rows = []
    for name, parts in sets.items():
        measured = {
            column: measure(parts, *of, most=given.most, as_messages=given.conversations)
            for column, of in columns.items()
        }
        rows.append((name, measured))
        if given.conversations:
            rows += by_kind(name, chosen(parts, given.most), measured)
        line = "  ".join(f"{p} {mean(of['nDCG@10']):.3f}" for p, of in measured.items())
        print(f"{name:20} {line}", file=sys.stderr, flush=True)
    # Kinds of questions are parts of a set: to average them with it would count them twice.
    averaged = not given.conversations
    tables = "\n\n".join(render(rows, [*columns], of, averaged) for of in MEASURES)
    print(tables)
    if given.write:
        write(tables, _place(given))
    return 0


def of_changes(root: Path, given: argparse.Namespace) -> int:
    """Print what comes first in worlds of facts that change."""
    worlds = changes.read_worlds(root)
    profiles = (given.profiles or "default").split(",")
    shown = changes.table({name: changes.measure(worlds, name) for name in profiles})
    print(shown)
    if given.write:
        write(shown, CHANGES)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evals", description="Quality on public test sets.")
    parser.add_argument("sets", nargs="*", help="names of sets, or the beginnings of names")
    parser.add_argument("--profiles", default=None, help="which profiles, by comma")
    parser.add_argument("--reranker", default=None, help="a folder or a name: one more column")
    parser.add_argument("--generator", default=None, help="corpus, or a URL: one more column")
    parser.add_argument("--embedder", default=None, help="a name: in place of the configured one")
    parser.add_argument("--most", type=int, default=None, help="so many questions of each set")
    parser.add_argument(
        "--conversations", action="store_true", help="messages of sessions, by kind of question"
    )
    parser.add_argument("--write", action="store_true", help=f"write the tables into {PAGE}")
    return parser


def _place(given: argparse.Namespace) -> str:
    if given.sets == [ACROSS]:
        return ACROSS
    if given.embedder:
        return STATIC
    if given.conversations:
        return CONVERSATIONS
    return RERANKED if given.reranker else EXPANDED if given.generator else TABLE


def chosen(parts: Sequence[Part], most: int | None) -> list[tuple[Part, list[dict[str, Any]]]]:
    """Return the questions of each part that are asked: all, or about `most`, spread over all of them."""
    every = max(1, round(sum(len(part.questions()) for part in parts) / most)) if most else 1
    asked, picked = 0, []
    for part in parts:
        questions = []
        for question in part.questions():
            asked += 1
            if asked % every == 0:
                questions.append(question)
        picked.append((part, questions))
    return picked


def measure(
    parts: Sequence[Part],
    profile: str,
    reranker: str | None = None,
    generator: str | None = None,
    *,
    most: int | None = None,
    as_messages: bool = False,
) -> Scores:
    """Return each measure for every question of a set, or for `most` of them."""
    scores: Scores = {name: [] for name in MEASURES}
    overrides: dict[str, Any] | None = NO_DEADLINE if reranker else None
    for part, questions in chosen(parts, most):
        judged = part.judgements()
        with index(part, reranker, generator, profile, as_messages=as_messages) as store:
            for question in questions:
                hits = store.search(
                    question["text"], profile=profile, limit=10, overrides=overrides
                )
                ranked = [hit.id for hit in hits]
                for name, of in MEASURES.items():
                    scores[name].append(of(ranked, judged[question["id"]]))
    return scores


def index(
    part: Part,
    reranker: str | None = None,
    generator: str | None = None,
    profile: str | None = None,
    *,
    as_messages: bool = False,
) -> scrubjay.Store:
    """Open the index of a corpus, made once, with the links that a profile walks."""
    CACHE.mkdir(parents=True, exist_ok=True)
    name = part.name.replace("/", "-")
    rules = f"{ANALYZER_VERSION}-{load().chunk_tokens}+{load().chunk_overlap_tokens}"
    if load().embedder != DEFAULT_EMBEDDER:
        rules += f"-{load().embedder.replace('/', '-')}"
    documents = part.documents()
    turns = messages(documents) if as_messages else []
    if turns:
        rules += f"-turns{load().short_turn_chars}"
    path = CACHE / f"{name}-{part.fingerprint()}-{rules}.db"
    store = scrubjay.open(
        path, profile=profile, reranker=reranker, generator=generator, clock=clock_after(turns)
    )
    if store.status().memories < len(documents):
        store.add_many(turns or memories(part.folder))
    store.pending(wait=True)
    return store


def render(
    rows: list[tuple[str, dict[str, Scores]]], columns: Sequence[str], of: str, averaged: bool
) -> str:
    """Return a Markdown table of one measure: a row a set, a column a profile, and maybe the average."""
    lines = [
        f"| {of} | questions | " + " | ".join(columns) + " |",
        "|---|---" + "|---" * len(columns) + "|",
    ]
    averages: list[list[float]] = [[] for _ in columns]
    for name, measured in rows:
        values = [mean(measured[column][of]) for column in columns]
        for column, value in zip(averages, values, strict=True):
            column.append(value)
        count = len(next(iter(measured.values()))[of])
        lines.append(f"| {name} | {count} | " + " | ".join(f"{v:.3f}" for v in values) + " |")
    if averaged:
        last = " | ".join(f"**{mean(column):.3f}**" for column in averages)
        lines.append(f"| **average of {len(rows)}** | | {last} |")
    return "\n".join(lines)


def write(tables: str, where: str) -> None:
    """Put tables between their marks in the docs."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- begin {where} -->", f"<!-- end {where} -->"
    before, rest = page.split(begin)
    _, after = rest.split(end)
    PAGE.write_text(f"{before}{begin}\n{tables}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
