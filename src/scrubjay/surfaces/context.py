"""Context for a prompt: the best memories for a question, or an overview without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

_CHARS_PER_TOKEN = 4  # as in a hit
_TOKENS_PER_HIT = 25  # of a short hit with its tag
_MIN_HITS, _MAX_HITS = 10, 100


def question_context(store: Store, question: str, tokens: int, search: Mapping[str, Any]) -> Json:
    """Return the best hits as tagged text, as many as fit, and how many did not."""
    from scrubjay.text.recall_tags import fit_hits

    limit = min(max(tokens // _TOKENS_PER_HIT, _MIN_HITS), _MAX_HITS)
    results = store.search(question, **{"limit": limit, **search})
    lines = fit_hits(results.hits, tokens * _CHARS_PER_TOKEN)
    text = "\n".join(lines.values())
    return {
        "question": question,
        "tokens": tokens,
        "token_estimate": -(-len(text) // _CHARS_PER_TOKEN),
        "ids": list(lines),
        "scores": [hit.score for hit in results.hits if hit.id in lines],
        "left_out": len(results.hits) - len(lines),
        "confidence": results.confidence,
        "degraded": list(results.degraded),
        "text": text,
    }


def overview_context(store: Store, tokens: int, namespace: str | None) -> Json:
    landscape = store.landscape(tokens=tokens, namespace=namespace)
    sections = ("preferences", "tasks", "summaries", "decisions")
    return {
        "question": None,
        "tokens": tokens,
        "token_estimate": landscape.token_estimate,
        "ids": [memory.id for name in sections for memory in getattr(landscape, name)],
        "scores": [],
        "left_out": sum(landscape.left_out.get(name, 0) for name in sections),
        "confidence": None,
        "degraded": [],
        "text": landscape.text,
    }
