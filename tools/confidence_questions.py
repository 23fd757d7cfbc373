"""Questions for `tools.calibrate`, with and without an answer in their store."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from training.plain import worlds as plain_worlds

from scrubjay.text.analysis import STOP_WORDS, fold, words

_LARGE = 600  # passages of the largest store of a file
_SMALL = (30, 60, 200, 40, 120, 30)
_ASKED = 200  # of the large store, as many with an answer as without


class Asked(NamedTuple):
    """A question, the ids that answer it (none: it is not stored), when it is asked, and the ids that
    are about the matter but do not hold any more."""

    text: str
    right: frozenset[str]
    at: datetime | None = None
    stale: frozenset[str] = frozenset()


class World(NamedTuple):
    """A small store with its questions; its group counts as one in the fit."""

    group: str
    name: str
    notes: list[dict[str, Any]]
    questions: list[Asked]


def worlds(folder: Path) -> Iterator[World]:
    """Worlds of dated memories, and parts of them: the fewest notes that someone begins with. Those
    that are made from the templates beside the folder come last, as in the training of the reader."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            yield from _whole_and_part(json.loads(line))
    for world in plain_worlds(folder.parent / "plain"):
        yield from _whole_and_part(world)


def _whole_and_part(world: Any) -> Iterator[World]:
    notes = [
        {key: note[key] for key in ("id", "text", "type")}
        | {"created_at": note["at"]}
        | ({"metadata": {"speaker": note["by"]}} if note["by"] else {})
        for note in world["notes"]
    ]
    questions = [
        Asked(
            one["q"],
            frozenset((*one["best"], *one["also"])),
            _evening(one["asked"]),
            frozenset(one["stale"]),
        )
        for one in world["questions"]
    ]
    yield World("worlds", world["world"], notes, questions)
    yield _part(world["world"], notes, questions)


def _evening(day: str) -> datetime:
    return datetime.fromisoformat(day[:10]).replace(tzinfo=UTC) + timedelta(hours=20)


def _part(name: str, notes: list[dict[str, Any]], questions: list[Asked]) -> World:
    """Return a store of one to six notes, and the questions of the whole world."""
    chance = random.Random(name)
    kept = chance.sample(notes, min(len(notes), chance.choice((1, 2, 2, 3, 4, 6))))
    ids = {note["id"] for note in kept}
    answered = [one for one in questions if one.right & ids]
    others = [one for one in questions if not one.right & ids]
    others = chance.sample(others, min(len(others), max(1, len(answered))))
    asked = [
        one._replace(right=one.right & ids, stale=one.stale & ids) for one in (*answered, *others)
    ]
    return World("tiny", name, kept, asked)


def pairs(file: Path) -> Iterator[World]:
    """One large store of passages and several small ones; half of the questions have no answer in
    theirs. A part of the questions is cut to keywords."""
    with file.open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    chance = random.Random(7)
    kind = file.stem.partition("_")[0]
    large = chance.sample(found, 2 * _LARGE)
    yield _halved(f"{kind} large", f"{kind}-large", large[:_LARGE], large[_LARGE:], _ASKED, chance)
    found.sort(key=lambda one: one.get("title", ""))
    for number, size in enumerate(_SMALL):
        # Neighbours in the file are of one article, so that what is not stored is near to what is.
        start = chance.randrange(len(found) - 2 * size)
        here = found[start : start + 2 * size]
        chance.shuffle(here)
        yield _halved(f"{kind} small", f"{kind}-{number}", here[:size], here[size:], 40, chance)


def _halved(
    group: str,
    name: str,
    stored: list[dict[str, Any]],
    absent: list[dict[str, Any]],
    asked: int,
    chance: random.Random,
) -> World:
    notes = [
        {"id": f"p{n}", "title": _title(one), "text": one["passage"]}
        for n, one in enumerate(stored)
    ]
    questions = []
    for n, one in enumerate(stored[:asked]):
        text = _question(one, chance)
        same = (m for m, other in enumerate(stored) if _asks(other, one))
        questions.append(Asked(text, frozenset({f"p{n}", *(f"p{m}" for m in same)})))
    questions += [Asked(_question(one, chance), frozenset()) for one in absent[:asked]]
    return World(group, name, notes, questions)


def _asks(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return "query" in one and one["query"] == other["query"]


def _title(one: dict[str, Any]) -> str:
    return str(one.get("title", "")).replace("_", " ")


def _question(one: dict[str, Any], chance: random.Random) -> str:
    text: str = chance.choice(one["queries"]) if "queries" in one else one["query"]
    if chance.random() > 0.3:
        return text
    content = [word for word in words(text) if fold(word) not in STOP_WORDS]
    first = chance.randrange(max(len(content) - 3, 0) + 1)
    return " ".join(content[first : first + chance.choice((2, 3, 3, 4))]) or text


# --- identifiers ------------------------------------------------------------------------------

_AREAS = "cache auth queue parser shard index mail disk token route".split()
_FAULTS = "timeout invalid missing locked stale refused overflow duplicate expired".split()
_SAYINGS = (
    "{} means that two workers warm the same shard",
    "we hit {} again during the deploy, a restart helped",
    "{}: the content type must be a string or a pattern",
    "Set {} in the environment of the worker, never in the code.",
    "ticket {} is about the slow export on Mondays",
    "the invoice {} was paid on the second reminder",
    "{} moved to the new host in spring",
    "Maya owns {} and reviews every change of it",
    "part {} fits both the old and the new pump",
    "the fix for the login loop shipped in {}",
)
_ASKING = ("{}", "what does {} mean?", "{} ?", "who owns {}", "what about {}", "where is {} set")
_PLAIN = (
    "The greenhouse door sticks when it rains, lift it a little.",
    "Grandma's soup needs half an hour less than the recipe says.",
    "Standup is at nine thirty, on Fridays without cameras.",
    "The blue bicycle has a slow puncture in the back tyre.",
    "We agreed to write release notes before the tag, not after.",
)


def identifiers() -> Iterator[World]:
    """Small stores of notes on codes, tickets, versions and settings; of half of those that are asked
    for, nothing is stored, though their neighbours are."""
    for number in range(30):
        chance = random.Random(number)
        style = chance.choice(_STYLES)
        made = list(dict.fromkeys(style(chance) for _ in range(30)))
        stored, absent = made[: len(made) // 2], made[len(made) // 2 :]
        stored = stored[: chance.choice((2, 4, 8, 12, 15))]
        texts = [chance.choice(_SAYINGS).format(code) for code in stored]
        notes = [{"id": f"c{n}", "text": text} for n, text in enumerate(texts)]
        notes += [{"id": f"o{n}", "text": text} for n, text in enumerate(_PLAIN)]
        asked = [
            Asked(chance.choice(_ASKING).format(code), frozenset({f"c{n}"}))
            for n, code in enumerate(stored[:6])
        ]
        asked += [Asked(chance.choice(_ASKING).format(one), frozenset()) for one in absent[:6]]
        yield World("identifiers", f"identifiers-{number}", notes, asked)


def _constant(chance: random.Random) -> str:
    parts = ["ERR", chance.choice(_AREAS), chance.choice(_FAULTS), chance.choice(_AREAS)]
    return "_".join(parts[: chance.choice((3, 4))]).upper()


def _numbered(chance: random.Random) -> str:
    return f"E_{chance.choice(_AREAS).upper()}_{chance.randrange(1000, 9999)}"


def _ticket(chance: random.Random) -> str:
    return f"{chance.choice(('OPS', 'WEB', 'INV', 'KB'))}-{chance.randrange(100, 9999)}"


def _version(chance: random.Random) -> str:
    return f"v{chance.randrange(1, 6)}.{chance.randrange(30)}.{chance.randrange(20)}"


def _function(chance: random.Random) -> str:
    verb = chance.choice(("get", "set", "load", "parse"))
    return f"{verb}{chance.choice(_AREAS).title()}{chance.choice(_FAULTS).title()}"


def _option(chance: random.Random) -> str:
    return (
        f"--{chance.choice(_AREAS)}-{chance.choice(_FAULTS)}-{chance.choice(('ms', 'dir', 'max'))}"
    )


_STYLES = (_constant, _numbered, _ticket, _version, _function, _option)
