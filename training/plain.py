"""Plain worlds: small stores of short notes about facts that change, made from templates.

The templates in `training/data/plain` say one matter in many ways: what holds, that it changed, that
something else holds for a while, that it is mentioned, planned, repeated or ended. Worlds that people
write are rich and indirect; these are what most notes look like.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

COUNT = 100  # worlds
LINES, FEWEST_LINES = 7, 4  # matters in a world
MOST_STRANGERS = 8  # pairs about two entities
DAY_BEGAN, LATEST_HOUR = datetime(2023, 2, 1), 22
# How often an event follows a state, for each of them.
EVENTS = {
    "update": 0.42,
    "temporary": 0.16,
    "mention": 0.14,
    "plan": 0.09,
    "add": 0.07,
    "repeat": 0.05,
    "correction": 0.05,
    "end": 0.02,
}
MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
}
BETWEEN_MONTH_AND_YEAR = {"es": " de ", "pt": " de "}

Matter = dict[str, Any]
World = dict[str, Any]


@dataclass
class Note:
    """One note: when it was written, what it says, and its name in the world."""

    at: datetime
    text: str
    id: str = ""


@dataclass
class Line:
    """The story of one entity in one matter."""

    matter: Matter
    entity: str
    notes: list[Note] = field(default_factory=list)
    states: list[Note] = field(default_factory=list)  # what held, one after another
    values: list[str] = field(default_factory=list)
    supports: list[Note] = field(default_factory=list)  # says the same as the last state
    pairs: list[tuple[Note, Note, str]] = field(default_factory=list)
    has_ended: bool = False

    def say(self, kind: str, at: datetime, rng: random.Random, value: str = "") -> Note:
        """Add a note of a kind, and return it."""
        text = rng.choice(self.matter[kind])
        note = Note(at, self.filled(text, value))
        self.notes.append(note)
        return note

    def filled(self, text: str, value: str = "", month: str = "") -> str:
        """Return a template with its names; the value that held until now is the last one."""
        held = self.values[-1] if self.values else value
        for mark, name in (("{E}", self.entity), ("{V}", value), ("{O}", held), ("{M}", month)):
            text = text.replace(mark, name)
        return text[:1].upper() + text[1:] if text[:1] == self.entity[:1] else text


def worlds(folder: Path, count: int = COUNT, seed: int = 7) -> list[World]:
    """Return worlds made from the templates in a folder."""
    matters = [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.open(encoding="utf-8")
        if line.strip()
    ]
    rng = random.Random(seed)
    languages = [matter["lang"] for matter in matters]
    return [
        world(number, [one for one in matters if one["lang"] == lang], rng)
        for number, lang in enumerate(rng.choices(languages, k=count))
    ]


def world(number: int, matters: list[Matter], rng: random.Random) -> World:
    """Return one world: a few matters, some of them of two entities."""
    chosen = rng.sample(matters, min(len(matters), rng.randint(FEWEST_LINES, LINES)))
    lines = [
        line(matter, entity, rng)
        for matter in chosen
        for entity in rng.sample(matter["entities"], 2 if rng.random() < 0.45 else 1)
    ]
    notes = sorted((note for one in lines for note in one.notes), key=lambda note: note.at)
    for place, note in enumerate(notes, 1):
        note.id = f"n{place}"
    asked = notes[-1].at + timedelta(days=rng.uniform(1, 120))
    pairs = [(new.id, old.id, kind) for one in lines for new, old, kind in one.pairs]
    others = strangers(lines)
    pairs += rng.sample(others, min(MOST_STRANGERS, len(others)))
    return {
        "world": f"plain-{number}",
        "lang": matters[0]["lang"],
        "notes": [
            {
                "id": one.id,
                "at": one.at.isoformat(timespec="minutes"),
                "by": "",
                "type": "fact",
                "text": one.text,
            }
            for one in notes
        ],
        "pairs": pairs,
        "questions": [made for one in lines for made in questions(one, asked, rng)],
    }


def line(matter: Matter, entity: str, rng: random.Random) -> Line:
    """Return the story of one entity: a state, and what was said of it later."""
    made = Line(matter, entity)
    at = DAY_BEGAN + timedelta(days=rng.uniform(0, 700))
    value, *others = rng.sample(matter["values"], min(8, len(matter["values"])))
    made.states.append(made.say("state", at, rng, value))
    made.values.append(value)
    for kind in rng.choices(list(EVENTS), list(EVENTS.values()), k=rng.randint(0, 5)):
        if made.has_ended or not matter.get(kind):
            continue
        at += timedelta(days=rng.choice((1, 6, 20, 60, 150)) * rng.uniform(0.4, 1.6))
        at = at.replace(hour=rng.randint(7, LATEST_HOUR), minute=rng.randint(0, 59))
        happen(made, kind, at, others, rng)
    return made


def happen(made: Line, kind: str, at: datetime, others: list[str], rng: random.Random) -> None:
    """Let one thing be said, and note what it does to the state and to what repeats it."""
    state = made.states[-1]
    if kind in ("update", "correction", "end"):
        if kind == "correction":
            at = max(state.at, made.notes[-1].at) + timedelta(hours=rng.uniform(0.2, 20))
        returns = len(made.values) > 1 and rng.random() < 0.15
        value = made.values[-2] if returns else others.pop() if others else made.values[0]
        if value == made.values[-1]:
            return
        note = made.say(kind, at, rng, value)
        does = {"update": "replaces", "correction": "corrects", "end": "ends"}[kind]
        earlier = [*made.supports, *made.states[-3:]]
        made.pairs += [
            (note, old, "returns" if old in made.states and said == value else does)
            for old, said in (
                (old, made.values[made.states.index(old)] if old in made.states else "")
                for old in earlier
            )
        ]
        made.states.append(note)
        made.values.append(value)
        made.supports.clear()
        made.has_ended = kind == "end"
        return
    value = rng.choice(others) if others else made.values[0]
    note = made.say(kind, at, rng, value)
    does = {"mention": "mentions", "add": "adds", "repeat": "repeats"}.get(kind, kind)
    made.pairs.append((note, state, does))
    if kind == "repeat":
        made.supports.append(note)
    if kind == "temporary" and rng.random() < 0.3 and made.matter.get("over"):
        back = made.say("over", at + timedelta(days=rng.uniform(3, 14)), rng, value)
        made.pairs += [(back, note, "over"), (back, state, "returns")]
        made.supports.append(back)


def strangers(lines: list[Line]) -> list[tuple[str, str, str]]:
    """Return pairs of two entities in the same matter: neither changes the other."""
    found = []
    for one in lines:
        for other in lines:
            if one is not other and one.matter is other.matter:
                found += [
                    (new.id, old.id, "other")
                    for new in one.states
                    for old in other.states[-2:]
                    if new.at > old.at
                ]
    return found


def questions(one: Line, asked: datetime, rng: random.Random) -> list[Any]:
    """Return what may be asked about one entity in one matter."""
    matter, state = one.matter, one.states[-1]
    earlier, changed = one.states[:-1], len(one.states) > 1
    aside = [note.id for note in one.notes if note not in one.states and note not in one.supports]
    made = []

    def ask(text: str, kind: str, best: list[Note], **more: list[str]) -> None:
        made.append(
            {
                "q": text,
                "kind": kind,
                "asked": asked.isoformat(timespec="minutes"),
                "best": [note.id for note in best],
                "also": [],
                "stale": [],
                "tempting": [],
                **more,
            }
        )

    for template in rng.sample(matter["ask_now"], min(2, len(matter["ask_now"]))):
        ask(
            one.filled(template),
            "current" if changed else "unchanged",
            [state],
            also=[note.id for note in one.supports],
            stale=[note.id for note in earlier],
            tempting=aside,
        )
    if len(one.states) == 2 and matter.get("ask_past"):
        template = rng.choice(matter["ask_past"])
        text = one.filled(template, one.values[-1])
        ask(text, "past", earlier, tempting=[state.id])
    if changed and (month := month_between(earlier[-1].at, state.at, matter["lang"])):
        text = one.filled(rng.choice(matter["ask_then"]), month=month)
        ask(
            text,
            "as_of",
            [earlier[-1]],
            stale=[note.id for note in earlier[:-1]],
            tempting=[state.id],
        )
    if matter.get("ask_other") and rng.random() < 0.5:
        text = one.filled(rng.choice(matter["ask_other"]))
        ask(text, "not_stored", [], tempting=[note.id for note in one.notes])
    return made


def month_between(first: datetime, last: datetime, language: str) -> str:
    """Return a month, in words, that lies wholly between two times."""
    begins = (first.replace(day=1) + timedelta(days=32)).replace(day=1)
    ends = (begins + timedelta(days=32)).replace(day=1)
    if ends > last.replace(hour=0):
        return ""
    between = BETWEEN_MONTH_AND_YEAR.get(language, " ")
    return f"{MONTHS[language].split()[begins.month - 1]}{between}{begins.year}"
