"""`demo`: store sample memories, search twice, explain, and check the results."""

from __future__ import annotations

import os
import tempfile
from argparse import Namespace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from scrubjay.runtime.private_files import make_private_folder
from scrubjay.surfaces.cli.common import open_store, settings_of
from scrubjay.surfaces.cli.vectors import embed_pending
from scrubjay.surfaces.render import json as shapes
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.facts import plural
from scrubjay.surfaces.render.terminal import Screen, err, one_line, out
from scrubjay.text.analysis import terms, tokens
from scrubjay.types import Results

_LIMIT = 3


class Sample(NamedTuple):
    """A memory of an invented team with an invented product."""

    text: str
    type: str
    topics: tuple[str, ...]
    days_ago: int


class Question(NamedTuple):
    """A question, the memory that answers it, and what the question shows."""

    text: str
    answer: str
    shows: str
    shares_no_word: bool = False


def demo(args: Namespace, screen: Screen) -> int:
    if args.keep:
        make_private_folder(os.path.dirname(args.keep) or ".")
        return _run(args.keep, args, screen)
    with tempfile.TemporaryDirectory(prefix="scrubjay-demo-") as folder:
        return _run(os.path.join(folder, "demo.db"), args, screen)


def _run(db: str, args: Namespace, screen: Screen) -> int:
    say = (lambda _: None) if args.json else out
    with open_store(db, make=True) as store:
        now = datetime.now(UTC)
        entries = [sample._asdict() for sample in SAMPLES]
        for entry in entries:
            entry["created_at"] = now - timedelta(days=entry.pop("days_ago"))
        store.add_many(entries)
        say(f"Stored {plural(len(SAMPLES), 'memory')} of an invented team.")
        if args.docs:
            read = store.ingest(args.docs, collection="docs")
            count = read.added + read.updated + read.unchanged
            say(f"Read {plural(count, 'document')} in {one_line(args.docs)}.")
        embed_pending(store, settings_of(args))
        searches = [
            (question, store.search(question.text, profile="default", limit=_LIMIT))
            for question in QUESTIONS
        ]
    wrong = [question for question, found in searches if not _is_right(question, found)]
    if args.json:
        questions = [_shape(question, found) for question, found in searches]
        out(shapes.dumps({"ok": not wrong, "memories": len(SAMPLES), "questions": questions}))
    for question, found in searches:
        say(f"\n{screen.bold('? ' + question.text)}   {screen.dim(question.shows)}\n")
        say(render.results(found, screen, explain=True))
    for question in wrong:
        err(f"scrubjay: the demo failed: {question.text!r} should find first: {question.answer}")
    if not wrong:
        say(f'\n{screen.green("Both answers came first.")} Now yours: scrubjay add "…"')
    return int(bool(wrong))


def _is_right(question: Question, found: Results) -> bool:
    """Tell whether the answer came first; by meaning means without a shared word."""
    first = found.hits[0].text if found.hits else ""
    shared = set(terms(question.text)).intersection(tokens(question.answer))
    return first == question.answer and not (question.shares_no_word and shared)


def _shape(question: Question, found: Results) -> dict[str, Any]:
    return {
        "question": question.text,
        "shows": question.shows,
        "expected": question.answer,
        "passed": _is_right(question, found),
        "results": shapes.results(found, mode="default", explain=True, full=False),
    }


SAMPLES = (
    Sample("Oriel must never eat shrimp, crab or mussels: her throat swells within minutes.",
           "fact", ("oriel", "health"), 210),
    Sample("Tamsin prefers Go for command-line tools and Python for everything with data.",
           "preference", ("tamsin", "languages"), 180),
    Sample("Bram works from Lisbon on Mondays and is offline until ten in the morning.",
           "fact", ("bram", "calendar"), 95),
    Sample("We store invoices in Postgres, because an audit has to join them with orders.",
           "decision", ("database", "billing"), 160),
    Sample("Lantern raises E_CACHE_4417 when two workers warm the same shard; restart the warmer "
           "with --single to clear it.", "fact", ("lantern", "errors"), 33),
    Sample("E_CACHE_4471 is harmless: the shard was evicted before anyone read it.",
           "fact", ("lantern", "errors"), 31),
    Sample("Releases leave on Tuesdays. Nothing is deployed after Thursday noon.",
           "decision", ("release",), 140),
    Sample("Keep the dashboard dark by default; Wren gets headaches from white screens.",
           "preference", ("dashboard", "wren"), 77),
    Sample("Rotate the signing key of the mobile app before the first of March.",
           "task", ("security", "mobile"), 12),
    Sample("The nightly import of the harbour feed takes forty minutes since the schema grew.",
           "fact", ("imports", "performance"), 26),
    Sample("Retry a payment at most three times, then hand it to a person.",
           "decision", ("billing", "retries"), 118),
    Sample("Ask Quill to review everything that touches the scheduler.",
           "preference", ("review", "quill"), 54),
    Sample("The staging cluster sleeps from eight in the evening to save money.",
           "fact", ("staging", "costs"), 63),
    Sample("parse_tide_table() counts stations from zero, the printed almanac from one.",
           "fact", ("code", "tides"), 41),
    Sample("Feature flags are removed two sprints after they reach everybody.",
           "decision", ("flags", "process"), 132),
    Sample("Write the handbook for the new pump controller.",
           "task", ("docs", "hardware"), 8),
    Sample("Tamsin likes short pull requests and answers them before breakfast.",
           "preference", ("tamsin", "review"), 90),
    Sample("The customer in Bergen pays yearly and wants a paper contract.",
           "fact", ("customers", "contracts"), 201),
    Sample("Alerts go to the person on duty first and to the channel after ten minutes.",
           "decision", ("alerts", "on-call"), 47),
    Sample("Replace the hand-written retry loop in the uploader with the shared one.",
           "task", ("uploader", "retries"), 15),
    Sample("The old search box dropped every query that held a quotation mark.",
           "fact", ("bugs", "interface"), 250),
    Sample("Bram wants diagrams before prose in any design document.",
           "preference", ("bram", "design"), 70),
    Sample("Sensor clocks drift by about two seconds a day and are set right at midnight.",
           "fact", ("sensors", "time"), 36),
    Sample("We name services after lighthouses, and tables after what a row is.",
           "decision", ("names",), 300),
)  # fmt: skip

QUESTIONS = (
    Question(
        "who is allergic to seafood?",
        SAMPLES[0].text,
        "by meaning: the answer shares no word with the question",
        shares_no_word=True,
    ),
    Question("E_CACHE_4417", SAMPLES[4].text, "by an exact identifier: one digit decides"),
)
