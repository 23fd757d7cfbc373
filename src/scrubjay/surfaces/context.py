"""Context for a prompt: the best memories for a question, or an overview without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

_TOKENS_PER_HIT = 25  # of a short hit with its tag
_MIN_HITS, _MAX_HITS = 10, 100


def question_context(store: Store, question: str, tokens: int, search: Mapping[str, Any]) -> Json:
    """Return whole passages of the best hits as tagged text, and how many hits did not fit."""
    from scrubjay.surfaces.render.json import plain
    from scrubjay.text.passage_tags import format_passages
    from scrubjay.text.tokens import estimate_tokens

    limit = min(max(tokens // _TOKENS_PER_HIT, _MIN_HITS), _MAX_HITS)
    results = store.search(question, **{"limit": limit, **search})
    passages = results.passages(tokens)
    text = format_passages(passages)
    shown = {id_ for passage in passages for id_ in passage.ids}
    return {
        "question": question,
        "tokens": tokens,
        "token_estimate": estimate_tokens(text),
        "ids": [passage.id for passage in passages],
        "scores": [passage.score for passage in passages],
        "left_out": sum(hit.id not in shown for hit in results.hits),
        "confidence": results.confidence,
        "verdict": results.verdict,
        "degraded": list(results.degraded),
        "passages": plain(passages),
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
        "verdict": None,
        "degraded": [],
        "passages": [],
        "text": landscape.text,
    }
