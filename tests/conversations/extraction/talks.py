"""Conversations and what a scripted model makes of them."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from clocks import NOON


def offer(turn: Any, quote: Any, text: Any, action: Any = "add", id: Any = "") -> dict[str, Any]:
    """One fact as a model gives it."""
    return {"turn": turn, "quote": quote, "text": text, "action": action, "id": id}


def says(*offers: Any) -> str:
    """A model's answer with these facts."""
    return json.dumps({"facts": list(offers)}, ensure_ascii=False)


def talk(store, *texts, session="talk", start=NOON, role="user", **more):
    """Write turns a minute apart; return their ids."""
    return [
        store.add(
            text,
            type="message",
            session=session,
            role=role,
            created_at=start + timedelta(minutes=minute),
            **more,
        ).id
        for minute, text in enumerate(texts)
    ]


def facts(store):
    """Every fact that is stored, as text."""
    return sorted(one.text for one in store.ls(types="fact", limit=1000))


def outcomes(store):
    """What became of each message, by its text."""
    with store._context.db.read() as db:
        rows = db.execute(
            "SELECT m.text, x.outcome, x.tries, x.reason FROM extractions AS x"
            " JOIN memories AS m ON m.n = x.message ORDER BY m.n"
        )
        return {text: (outcome, tries, reason) for text, outcome, tries, reason in rows}
