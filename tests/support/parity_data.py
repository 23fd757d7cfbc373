"""Five thousand memories of every kind, and two hundred questions with every filter; always the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from clocks import NOON

import scrubjay

MEMORIES = 5_000
QUERIES = 200
LIKE = 500  # are linked to their nearest
PEOPLE = ("ada", "bob", "cyd")
WORDS = {
    "english": """server launch rocket payment invoice harbour garden deploy schedule backup password
        contract meeting budget customer release pipeline latency database index carrot bicycle
        handles burns stores crashed migrated decided prefers postponed""",
    "german": """Häuser Straße Rechnung Garten Vertrag Lieferung Fahrrad Brücke Kühlschrank Bäcker
        Zahlungen Sitzung Haushalt Kunde Fehler Sicherung Schlüssel läuft speichert verschoben""",
    "french": """maison facture jardin contrat livraison vélo réunion château élève déploiement
        sauvegarde mémoire clé erreur panne horaire décidé préfère repoussé""",
    "russian": """сервер счёт договор встреча ёлка велосипед мост ключ ошибка сад дом доставка
        решил хранит отложил бюджет клиент""",
    "japanese": "東京都 会議 請求書 契約 自転車 庭 障害 予算 顧客 鍵 配達 延期 決定 保存",
}
WORDS = {language: pool.split() for language, pool in WORDS.items()}
GLUE = {
    "english": "the of and for in with because after which".split(),
    "german": "der die und für in mit weil nach welche".split(),
    "french": "le la et pour dans avec parce après qui".split(),
    "russian": "и в для с после который потому на".split(),
    "japanese": "の は を に で と".split(),
}
IDENTIFIERS = [
    *(f"ERR-{n}" for n in range(4000, 4040)),
    *(f"v2.{n}.{n % 7}" for n in range(20)),
    *(f"get{a}{b}" for a in ("User", "Order", "Cart") for b in ("Name", "ById", "Total")),
    *(f"src/{a}_{b}.py" for a in ("payment", "order", "user") for b in ("service", "model")),
    "max_connections", "HTTP2", "node.js", "C++", "10.0.0.7", "kubectl", "ISO-8601",
]  # fmt: skip
TYPES = ("fact", "fact", "decision", "preference", "question", "event")
TOPICS = ("deploy", "billing", "garden", "Ärger", "team/infra", "sea", "budget")
NAMESPACES = ("default", "default", "work/api", "work/web", "home")
DOMAINS = (None, None, "Straße", "ops", "Billing")
DIALOGUE = ("user", "assistant")


class Question(NamedTuple):
    """A query, what it is narrowed to, and who asks it."""

    text: str
    filters: dict[str, Any]
    user: str | None = None


def sentence(chance: random.Random, language: str, words: int) -> str:
    """Make up a sentence: words of a language, glue between them, now and then an identifier."""
    parts: list[str] = []
    for _ in range(words):
        parts.append(chance.choice(WORDS[language]))
        if chance.random() < 0.5:
            parts.append(chance.choice(GLUE[language]))
    if chance.random() < 0.3:
        parts.insert(chance.randrange(len(parts)), chance.choice(IDENTIFIERS))
    return ("" if language == "japanese" else " ").join(parts) + "."


def _memory(chance: random.Random, n: int) -> dict[str, Any]:
    language = chance.choices(tuple(WORDS), (5, 2, 1, 1, 1))[0]
    long = n % 100 == 7  # a document of several passages
    text = (
        "\n\n".join(
            f"## {chance.choice(IDENTIFIERS)}\n\n"
            + " ".join(sentence(chance, language, 40) for _ in range(4))
            for _ in range(4)
        )
        if long
        else sentence(chance, language, chance.randrange(3, 14))
    )
    # Many of the same moment, so that ids decide; and the same text in several namespaces.
    at = NOON - timedelta(hours=chance.randrange(900))
    begins, ends = chance.choice(((None, None), (None, None), (-30, None), (-30, -2), (9, 40)))
    some = {
        "id": f"m{n:05}",
        "text": text,
        "title": sentence(chance, language, 2) if chance.random() < 0.3 else "",
        "type": "document" if long else chance.choice(TYPES),
        "topics": tuple(chance.sample(TOPICS, chance.randrange(3))),
        "namespace": chance.choice(NAMESPACES),
        "collection": chance.choice((None, None, "notes", "logs")),
        "owner": chance.choice((None, "ann", "ben")),
        "agent": chance.choice((None, None, "helper")),
        "domain": chance.choice(DOMAINS),
        "created_at": at,
        "updated_at": at,
        "valid_from": None if begins is None else NOON + timedelta(days=begins),
        "valid_until": None if ends is None else NOON + timedelta(days=ends),
    }
    return {name: value for name, value in some.items() if value is not None}


def fill(open_as: Callable[[str | None], scrubjay.Store]) -> None:
    """Write all of it through a store: `open_as` opens it for one user, or for its owner."""
    chance = random.Random(8)
    drafts = [_memory(chance, n) for n in range(MEMORIES)]
    with open_as("ada") as ada:
        for name in ("team", "club"):
            ada.create_collection(name)
        ada.share("team", "bob", "writer")
        ada.share("club", "cyd")
    for person in PEOPLE:
        with open_as(person) as store:
            mine = [drafts.pop() for _ in range(300)]
            for draft in mine:
                del draft["namespace"]
                draft["collection"] = "team" if person == "bob" and chance.random() < 0.3 else None
            store.add_many(mine)
            with store._context.tables.records.transaction():
                for _ in range(200):
                    a, b = (draft["id"] for draft in chance.sample(mine, 2))
                    store.link(a, b, round(1 - chance.random(), 3) or 0.5)
            if person == "ada":
                for draft in mine[:40]:
                    store.publish(draft["id"], chance.choice(("team", "club")))
    with open_as(None) as store:
        talks = [drafts.pop() for _ in range(400)]
        for n, draft in enumerate(talks):
            said = NOON - timedelta(minutes=len(talks) - n)
            draft.clear()
            draft.update(
                text=sentence(chance, "english", 8),
                session=f"talk-{n // 20}",
                role=DIALOGUE[n % 2],
                at=said,
            )
        store.add_messages(talks)
        store.add_many(drafts[LIKE:])
        store.pending()
        # As a search by links does, but only for what comes after: to link all takes a while.
        with store._context.db.write() as db:
            db.execute("INSERT INTO meta (key, value) VALUES ('links', 1)")
        store.add_many(drafts[:LIKE])
        ids = [draft["id"] for draft in drafts]
        with store._context.tables.records.transaction():
            for _ in range(4_000):
                a, b = chance.sample(ids, 2)
                store.link(
                    a,
                    b,
                    round(1 - chance.random(), 3) or 0.5,
                    chance.choice(("related", "causes")),
                )
            for other in chance.sample(ids[1:], 150):  # a hub
                store.link(ids[0], other, 0.5)
            gone = chance.sample(ids, 20)
            store.forget(gone)
            for id_ in chance.sample(sorted({*ids} - {*gone}), 20):
                store.update(id_, text=sentence(chance, "english", 9), namespace="work/api")
        assert store.pending() == 0


def questions() -> list[Question]:
    """Make up the questions."""
    chance = random.Random(31)
    made = []
    for n in range(QUERIES):
        user = chance.choice((None, None, None, *PEOPLE))
        text, filters = _asked(chance, n), _filters(chance)
        if user is not None and "namespace" in "".join(filters):
            filters = {}  # of others, who are not seen anyway
        made.append(Question(text, filters, user))
    return made


def _asked(chance: random.Random, n: int) -> str:
    language = chance.choices(tuple(WORDS), (5, 2, 1, 1, 1))[0]
    between = "" if language == "japanese" else " "
    some = [chance.choice(WORDS[language]) for _ in range(chance.randrange(1, 6))]
    identifier = chance.choice(IDENTIFIERS)
    kinds = (
        between.join(some),
        between.join(some),
        sentence(chance, language, 4),
        f"which {chance.choice(some)} and {identifier}?",
        identifier,
        f"{between.join(some)} {identifier.lower()}",
        f'"{chance.choice(some)}" {chance.choice(WORDS["english"])}',
        f'"{chance.choice(GLUE[language])}{between}{chance.choice(some)}"',
        f"{between.join(some)} -{chance.choice(WORDS['english'])}",
        f"{some[0][:4]}* {some[-1]}",
    )
    return kinds[n % len(kinds)]


def _filters(chance: random.Random) -> dict[str, Any]:
    since = NOON - timedelta(hours=chance.randrange(300, 900))
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {},
        {"namespace": chance.choice(NAMESPACES)},
        {"namespaces": ["work/", "home"]},
        {"types": ["decision", "question", "document"]},
        {"topics": [chance.choice(TOPICS)]},
        {"collection": chance.choice(("notes", "logs", "team"))},
        {"session": f"talk-{chance.randrange(20)}"},
        {"owner": chance.choice(("ann", "ben"))},
        {"agent": "helper", "types": ["fact"]},
        {"only_domain": chance.choice(("strasse", "Billing"))},
        {"since": since},
        {"since": since, "until": since + timedelta(hours=200)},
        {"include_expired": True},
        {"namespace": "default", "topics": ["billing", "sea"], "owner": "ann"},
    )
    return chance.choice(kinds)
