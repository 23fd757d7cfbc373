"""models: embedders beside all-MiniLM-L6-v2, static vectors beside writing, the reader beside a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import fmean
from typing import NamedTuple

import scrubjay
from bench.corpus import generate
from bench.measure import cpu_s, middle
from bench.report import Row, times
from scrubjay.models import Answers, Embedder, Passage, Relation
from scrubjay.models.registry import load_embedder

TEACHER, ENCODER, MULTILINGUAL, STATIC = (
    "all-MiniLM-L6-v2",
    "scrubjay-encoder-1",
    "use-multilingual-3",
    "potion-base-8M",
)
SPEED_GOAL, READ_GOAL = 4.0, 1.15
_WORDS = 64  # of the made-up vocabulary; about 128 tokens
_AT_ONCE = 8

Say = Callable[[str], None]


class Plan(NamedTuple):
    """How much is measured."""

    texts: int = 80
    memories: int = 10_000
    matters: int = 60
    rounds: int = 5


class Unread:
    """A reader that gives every note the same probability: what a search costs without reading."""

    name = "unread"

    def answers(self, question: str, asked_at: datetime, notes: Sequence[Passage]) -> Answers:
        return Answers(0.5, tuple(0.5 / len(notes) for _ in notes))

    def relations(self, pairs: Sequence[tuple[Passage, Passage]]) -> list[Relation]:
        raise NotImplementedError("searches ask for answers only")


def measure(say: Say, *, quick: bool) -> list[Row]:
    """Return all rows about models."""
    plan = Plan(16, 500, 10, 2) if quick else Plan()
    say("models: embedding texts of 128 tokens")
    rows = _embedders(plan)
    say(f"models: writing {plan.memories:,} memories with and without static vectors")
    rows.append(_static(plan))
    say("models: searching where memories were replaced")
    rows.append(_reading(plan))
    return rows


def _embedders(plan: Plan) -> list[Row]:
    texts = [" ".join(text.split()[:_WORDS]) for text in _long_texts(plan.texts)]
    models = {name: load_embedder(name) for name in (TEACHER, ENCODER, MULTILINGUAL, STATIC)}
    for model in models.values():
        model.embed(texts[:2])
    rows = []
    for name in (ENCODER, MULTILINGUAL, STATIC):
        for at_once in (1, _AT_ONCE):
            # In turns: another process on the machine slows both down alike.
            spent: dict[str, list[float]] = {TEACHER: [], name: []}
            for _ in range(plan.rounds):
                for which, found in spent.items():
                    found.append(cpu_s(partial(_embed, models[which], texts, at_once)))
            ratio = middle(spent[TEACHER]) / middle(spent[name])
            what = f"{name}: speed beside {TEACHER}, texts of 128 tokens, {at_once} at a time"
            goal = name == ENCODER
            rows.append(
                Row(
                    what,
                    times(ratio),
                    f"at least {times(SPEED_GOAL)}" if goal else "",
                    ratio >= SPEED_GOAL if goal else None,
                )
            )
    return rows


def _long_texts(count: int) -> list[str]:
    made = generate(count * 8).texts
    return [" ".join(made[start : start + 8]) for start in range(0, len(made), 8)]


def _embed(model: Embedder, texts: Sequence[str], at_once: int) -> None:
    for start in range(0, len(texts), at_once):
        model.embed(texts[start : start + at_once])


def _static(plan: Plan) -> Row:
    """Compare writing memories that are found by meaning at once with writing them for words alone."""
    texts = generate(plan.memories).texts

    def write(embedder: str | bool) -> None:
        with scrubjay.open(":memory:", embedder=embedder) as store:
            store.add_many({"text": text} for text in texts)

    write(STATIC)
    spent: dict[str | bool, list[float]] = {STATIC: [], False: []}
    for _ in range(2):
        for embedder, found in spent.items():
            found.append(cpu_s(partial(write, embedder)))
    ratio = middle(spent[STATIC]) / middle(spent[False])
    return Row(
        f"writing {plan.memories:,} short memories with static vectors, beside without",
        times(ratio),
    )


def _reading(plan: Plan) -> Row:
    """Compare searches whose first hits are linked as updates, read by the model and not."""
    now = datetime(2026, 6, 1, tzinfo=UTC)
    names = [text.split()[0] for text in generate(plan.matters * 3).texts]
    things = list(dict.fromkeys(names))[: plan.matters]
    with scrubjay.open(":memory:", clock=lambda: now) as store:
        for at, thing in enumerate(things):
            day = now - timedelta(days=400 - at)
            store.add(f"The {thing} server runs in the rack {at} of the hall", created_at=day)
            day += timedelta(days=90)
            store.add(f"The {thing} server was moved to the rack {at + 500}", created_at=day)
        store.pending(wait=True)
        linked = len(store.changes())
        questions = [f"in which rack does the {thing} server run?" for thing in things]
        reader = store._context.reader
        if reader is None or not linked:
            raise RuntimeError(
                "no memory was found to update another: is scrubjay-models installed?"
            )
        spent: dict[str, list[float]] = {"read": [], "unread": []}
        for _ in range(plan.rounds + 1):
            for how, found in spent.items():
                store._context.use_reader(reader if how == "read" else Unread())
                store.search(questions[0])
                found.append(fmean(cpu_s(partial(store.search, one)) for one in questions[1:]))
    ratio = middle(spent["read"][1:]) / middle(spent["unread"][1:])
    return Row(
        f"a search whose first hits may have been replaced ({linked} links), beside the same unread",
        times(ratio),
        f"at most {times(READ_GOAL)}",
        ratio <= READ_GOAL,
    )
