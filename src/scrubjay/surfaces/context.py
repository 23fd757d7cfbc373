"""What an agent is told before it answers: what is stored on a question, or what is stored at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

_CHARS_A_TOKEN = 4  # as in a hit
_TOKENS_A_HIT = 25  # of a short one with its mark: so many hits could fit
_LEAST_HITS, _MOST_HITS = 10, 100


def on_question(store: Store, question: str, tokens: int, search: Mapping[str, Any]) -> Json:
    """Return the best hits as marked text for a prompt, as many as fit, and how many did not.

    `search` is what else `Store.search` is told.
    """
    from scrubjay.text.recall_tags import fitting

    could_fit = min(max(tokens // _TOKENS_A_HIT, _LEAST_HITS), _MOST_HITS)
    found = store.search(question, **{"limit": could_fit, **search})
    lines = fitting(found.hits, tokens * _CHARS_A_TOKEN)
    text = "\n".join(lines.values())
    return {
        "question": question,
        "tokens": tokens,
        "token_estimate": -(-len(text) // _CHARS_A_TOKEN),
        "ids": list(lines),
        "scores": [hit.score for hit in found.hits if hit.id in lines],
        "left_out": len(found.hits) - len(lines),
        "confidence": found.confidence,
        "degraded": list(found.degraded),
        "text": text,
    }


def at_the_beginning(store: Store, tokens: int, namespace: str | None) -> Json:
    """Return what is stored at all, in the same shape: the landscape."""
    seen = store.landscape(tokens=tokens, namespace=namespace)
    noted = (*seen.preferences, *seen.tasks, *seen.summaries, *seen.decisions)
    shown = ("preferences", "tasks", "summaries", "decisions")
    return {
        "question": None,
        "tokens": tokens,
        "token_estimate": seen.token_estimate,
        "ids": [one.id for one in noted],
        "scores": [],
        "left_out": sum(seen.left_out.get(section, 0) for section in shown),
        "confidence": None,
        "degraded": [],
        "text": seen.text,
    }
