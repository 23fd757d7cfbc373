"""The vault profile beside a plain model of its rows, over random stores: same hits, order and scores."""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from clocks import NOON, Clock
from fakes import HashingEmbedder

import scrubjay

# Words that no stemmer changes, none of which is a stop word.
WORDS = [a + b + c for a in "bdkm" for b in ("rokt", "lumb", "wezk") for c in ("ap", "ik")]
TAGS = ["red", "green", "blue", "gold"]
MEMORIES = ("message", "session", "context")
ACTIONS = ("accepted", "modified", "dismissed")
TIERS = {"agent": 1.0, "project": 0.8, "team": 0.6}
BY_WORD = dict.fromkeys(("severity", "temporal_decay", "tag_overlap", "domain_match"), 0.15)

Entry = dict[str, Any]


def said(chance, count):
    return " ".join(chance.choice(WORDS) for _ in range(count))


def made_up(chance, id_):
    """Return an entry with some of all that one may have."""
    created = NOON - timedelta(days=chance.randint(0, 900))
    entry: Entry = {
        "id": id_,
        "text": said(chance, chance.randint(1, 8)),
        "title": said(chance, 2) if chance.random() < 0.6 else "",
        "context": said(chance, 3) if chance.random() < 0.4 else "",
        "topics": chance.sample(TAGS, chance.randint(0, 3)),
        "severity": chance.choice(["critical", "warning", "suggestion", None]),
        "domain": chance.choice(["sec", "ops", "Sec", None]),
        "type": chance.choice(["fact", "fact", "preference", *MEMORIES]),
        "created_at": created,
        "updated_at": chance.choice([created, NOON - timedelta(days=chance.randint(0, 400))]),
        "valid_from": None,
        "valid_until": None,
    }
    window = chance.random()
    if window < 0.25:
        entry["valid_from"] = NOON - timedelta(days=chance.randint(-10, 50))
    if window < 0.15:
        entry["valid_until"] = entry["valid_from"] + timedelta(days=chance.randint(1, 100))
    elif window > 0.9:
        entry["valid_until"] = NOON + timedelta(days=chance.randint(-20, 50))
    return entry


class Model:
    """SV-4 to SV-13 in plain Python, over tiers as (weight, entries by id), the highest first."""

    def __init__(self, tiers, tally, model):
        self.tiers = tiers
        self.model = model
        base = {"semantic": 0.40, **BY_WORD}
        if model:
            base = {"semantic": 0.25, "vector": 0.15, **BY_WORD}
        self.weights = self.learned(base, tally)
        entries = [entry for _, held in tiers for entry in held.values()]
        self.held_by = Counter(token for one in entries for token in self.bag(one))
        self.memories = len(entries)

    @staticmethod
    def learned(weights, tally):
        if sum(tally) < 30:
            return weights
        rate = (tally[0] + tally[1] / 2) / sum(tally)
        text = weights["semantic"] + min(max((rate - 0.5) * 0.3, -0.15), 0.15)
        times = (1 - text) / (1 - weights["semantic"])
        return {
            name: text if name == "semantic" else weight * times
            for name, weight in weights.items()
        }

    @staticmethod
    def bag(entry):
        fields = (entry["title"], entry["text"], entry["context"], *entry["topics"])
        return Counter(" ".join(fields).split())

    def cosine(self, query, entry):
        def idf(token):
            return math.log((self.memories + 1) / (self.held_by[token] + 1)) + 1

        asked = Counter(token for token in query.split() if self.held_by[token])
        held = self.bag(entry)
        length = math.prod(
            math.sqrt(sum((count * idf(token)) ** 2 for token, count in bag.items()))
            for bag in (asked, held)
        )
        shared = sum(count * held[token] * idf(token) ** 2 for token, count in asked.items())
        return shared / length if length else 0.0

    @staticmethod
    def decay(entry):
        begins, ends = entry["valid_from"], entry["valid_until"]
        if begins and ends:
            return min(max((ends - NOON) / (ends - begins) / 0.25, 0), 1)
        return 0.5 ** ((NOON - entry["updated_at"]) / timedelta(days=365))

    def signals(self, query, entry, tags, domain):
        either = {*tags, *entry["topics"]}
        own = (entry["domain"] or "").lower()
        found = {
            "semantic": self.cosine(query, entry),
            "severity": {"critical": 1.0, "warning": 0.7}.get(entry["severity"], 0.4),
            "temporal_decay": self.decay(entry),
            "tag_overlap": len({*tags} & {*entry["topics"]}) / len(either) if tags else 0.0,
            "domain_match": float(bool(domain) and own == domain.lower()),
        }
        if self.model:
            text = f"{entry['title']} {entry['text']} {entry['context']}"
            asked, vector = self.model.embed([query])[0], self.model.embed([text])[0]
            found["vector"] = max(float(asked @ vector), 0.0)
        return found

    def has_word(self, query, entry):
        return bool({*query.split()} & {*self.bag(entry), entry["id"]})

    def finds(self, query, entry):
        return self.has_word(query, entry) or (
            self.model is not None and entry["type"] not in MEMORIES
        )

    def search(self, query, *, tags, domain, limit, lets_through):
        """Return (score, id) as the profile should show them."""
        found = {
            id_
            for _, held in self.tiers
            for id_, entry in held.items()
            if lets_through(entry) and self.finds(query, entry)
        }
        rows, seen, full_text = [], set(), 0
        for weight, held in self.tiers:
            for id_, entry in held.items():
                if id_ in seen:
                    continue
                seen.add(id_)
                if id_ in found and lets_through(entry):
                    signals = self.signals(query, entry, tags, domain)
                    score = sum(self.weights[name] * signals[name] for name in self.weights)
                    score = 0.5 if entry["type"] in MEMORIES else score
                    rows.append((score * weight, entry["updated_at"], id_))
                    full_text += self.has_word(query, entry)
        rows.sort(key=lambda row: (-round(row[0], 6), -row[1].timestamp(), row[2]))
        few = limit is None and full_text < 50 and full_text - 10 > full_text / 2
        return [(score, id_) for score, _, id_ in (rows if few else rows[: limit or 10])]


def is_valid(entry):
    begins, ends = entry["valid_from"], entry["valid_until"]
    return (begins is None or begins <= NOON) and (ends is None or ends > NOON)


FILTERS = (
    ({}, lambda _: True),
    ({}, lambda _: True),
    ({"only_domain": "sec"}, lambda entry: (entry["domain"] or "").lower() == "sec"),
    ({"topics": ["red", "gold"]}, lambda entry: bool({"red", "gold"} & {*entry["topics"]})),
    ({"types": ["fact", "message"]}, lambda entry: entry["type"] in ("fact", "message")),
    (
        {"since": NOON - timedelta(days=300)},
        lambda entry: entry["created_at"] >= NOON - timedelta(days=300),
    ),
)


def opened(tmp_path, chance, model):
    """Return a store over one to four random files, and the same as tiers of the model."""
    names, clock = [*TIERS, "handbook"][: chance.choice([1, 1, 2, 3, 4])], Clock()
    files, held = {}, {}
    for name in names:
        numbers = chance.sample(range(26), chance.randint(0, 25) if len(names) > 1 else 25)
        held[name] = {f"e{number}": made_up(chance, f"e{number}") for number in numbers}
        files[name] = str(tmp_path / f"{name}.db")
        with scrubjay.open(files[name], embedder=model or False, clock=clock) as store:
            store.add_many(held[name].values())
            store.pending()
    how = {"profile": "vault", "embedder": model or False, "clock": clock}
    if len(names) == 1:
        return scrubjay.open(files["agent"], **how), [(1.0, held["agent"])]
    store = scrubjay.open(tiers={name: files[name] for name in names if name in TIERS}, **how)
    weights = dict(TIERS)
    if "handbook" in names:
        weights["handbook"] = chance.choice([0.3, 0.7, 0.9])
        store.connect(files["handbook"], name="handbook", priority=weights["handbook"])
    order = sorted(names, key=lambda name: -weights[name])
    return store, [(weights[name], held[name]) for name in order]


def feedback_on(store, tiers, chance):
    """Give some feedback, or none; return how much of each kind."""
    ids = [id_ for _, held in tiers for id_ in held]
    tally = [0, 0, 0]
    for _ in range(chance.choice([0, 29, 30, 45]) if ids else 0):
        kind = chance.randrange(3)
        store.feedback("asked", chance.choice(ids), ACTIONS[kind])
        tally[kind] += 1
    return tally


@pytest.mark.parametrize("seed", range(24))
def test_it_answers_as_its_rows_say(tmp_path, seed):
    """SV-4 to SV-13, R-2, R-3, R-5: by word and by meaning, alone and in tiers, filtered, learned."""
    chance = random.Random(seed)
    model = HashingEmbedder(64) if chance.random() < 0.5 else None
    store, tiers = opened(tmp_path, chance, model)
    with store:
        by_hand = Model(tiers, feedback_on(store, tiers, chance), model)
        for _ in range(6):
            query = said(chance, chance.randint(1, 4))
            asked = {
                "tags": chance.sample(TAGS, chance.randint(0, 2)),
                "domain": chance.choice(["sec", "SEC", "ops", None]),
                "limit": chance.choice([None, 1, 3, 10, 30]),
            }
            expired = chance.random() < 0.2
            filters, passes = chance.choice(FILTERS)
            expected = by_hand.search(
                query,
                **asked,
                lets_through=lambda one: passes(one) and (expired or is_valid(one)),  # noqa: B023
            )

            mode = chance.choice(["scan", "full"])
            found = store.search(query, mode=mode, include_expired=expired, **filters, **asked)

            assert [hit.id for hit in found] == [id_ for _, id_ in expected]
            assert [hit.score for hit in found] == pytest.approx(
                [score for score, _ in expected], abs=2e-6
            )
