"""`demo`: remember, read, ask twice, explain, and check the answers."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scrubjay.surfaces.cli.demo_data import QUESTIONS, SAMPLES, Question
from scrubjay.surfaces.cli.session import embed_pending, open_store, settings_of
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.terminal import err, one_line, out
from scrubjay.text.analysis import terms, tokens

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types import Results

_HITS = 3


def demo(args: Namespace, screen: Screen) -> int:
    """Show scrubjay on sample memories; fails where an answer does not come first."""
    if args.keep:
        os.makedirs(os.path.dirname(args.keep) or ".", exist_ok=True)
        return _run(args.keep, args, screen)
    with tempfile.TemporaryDirectory(prefix="scrubjay-demo-") as folder:
        return _run(os.path.join(folder, "demo.db"), args, screen)


def _run(db: str, args: Namespace, screen: Screen) -> int:
    say = (lambda _: None) if args.json else out
    with open_store(db, make=True) as store:
        now = datetime.now(UTC)
        store.add_many([sample.fields(now) for sample in SAMPLES])
        say(f"Remembered {render.plural(len(SAMPLES), 'memory')} of an invented team.")
        if args.docs:
            read = store.ingest(args.docs, collection="docs")
            count = read.added + read.updated + read.unchanged
            say(f"Read {render.plural(count, 'document')} in {one_line(args.docs)}.")
        embed_pending(store, settings_of(args))
        asked = [(question, _ask(store, question)) for question in QUESTIONS]
    wrong = [question for question, found in asked if not _right(question, found)]
    if args.json:
        from scrubjay.surfaces.render.json import dumps

        shapes = [_shape(question, found) for question, found in asked]
        out(dumps({"ok": not wrong, "memories": len(SAMPLES), "questions": shapes}))
    for question, found in asked:
        say(f"\n{screen.bold('? ' + question.text)}   {screen.dim(question.shows)}\n")
        say(render.results(found, screen, explain=True))
    for question in wrong:
        err(f"scrubjay: the demo failed: {question.text!r} should find first: {question.answer}")
    if not wrong:
        say(f'\n{screen.green("Both answers came first.")} Now yours: scrubjay add "…"')
    return int(bool(wrong))


def _ask(store: Store, question: Question) -> Results:
    return store.search(question.text, profile="default", limit=_HITS)


def _right(question: Question, found: Results) -> bool:
    """Say whether the answer came first, and honestly: by meaning means without a shared word."""
    first = found.hits[0].text if found.hits else ""
    shared = set(terms(question.text)).intersection(tokens(question.answer))
    return first == question.answer and not (question.shares_no_word and shared)


def _shape(question: Question, found: Results) -> dict[str, Any]:
    from scrubjay.surfaces.render.json import results

    return {
        "question": question.text,
        "shows": question.shows,
        "expected": question.answer,
        "passed": _right(question, found),
        "results": results(found, mode="default", explain=True, full=False),
    }
