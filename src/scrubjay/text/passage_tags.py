"""Passages as tagged text for a prompt: where each is from and of when stands in its tag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scrubjay.text.recall_tags import wrap_recalled
from scrubjay.types import DEFAULT_NAMESPACE
from scrubjay.types.passages import Passage

_ATTRIBUTE_CHARS = 200
_BRIEF_CHARS = 25
# Where little fits, the rest says less than the text that it would push out.
_BRIEF = ("source", "title", "lines", "stored", "said", "event", "cut")


def passages_in(answer: Mapping[str, Any]) -> list[Passage]:
    """Return the passages of an answer in JSON."""
    return [Passage(**fields) for fields in answer.get("passages", ())]


def format_passages(passages: Iterable[Passage]) -> str:
    return "\n".join(map(format_passage, passages))


def format_passage(passage: Passage) -> str:
    text = passage.text
    if passage.type == "message" and passage.role:
        text = f"{passage.role}: {text}"
    text = "\n".join((*passage.before, text, *passage.after))
    return wrap_recalled(text, passage.id, _attributes(passage), keep_lines=True)


def _attributes(passage: Passage) -> dict[str, str]:
    most = _BRIEF_CHARS if passage.brief else _ATTRIBUTE_CHARS
    values = _values(passage)
    if passage.brief:
        values = {name: values[name] for name in _BRIEF if name in values}
    return {name: _shortened(value, most, name) for name, value in values.items()}


def _values(passage: Passage) -> dict[str, str]:
    """Return what stands in the tag of a passage; its title only where no file names it."""
    values = {
        "type": passage.type,
        "title": "" if passage.source else passage.title,
        "topics": ", ".join(passage.topics),
        "namespace": "" if passage.namespace == DEFAULT_NAMESPACE else passage.namespace,
        "source": passage.source or "",
        "page": "" if passage.page is None else str(passage.page),
        "lines": "{}-{}".format(*passage.lines) if passage.lines else "",
        "heading": passage.heading,
        "session": passage.session or "",
        "said" if passage.type == "message" else "stored": passage.stored,
        "event": passage.event,
        "validity": passage.validity,
        "stale": passage.stale or "",
        "score": f"{passage.score:.4g}",
        "replaces": ", ".join(passage.supersedes),
        "may_be_outdated": _newer(passage),
        "similar": ", ".join(passage.near_duplicates),
        "also": ", ".join(id_ for id_ in passage.ids if id_ != passage.id),
        "cut": "yes" if passage.cut else "",
    }
    return {name: value for name, value in values.items() if value}


def _newer(passage: Passage) -> str:
    if not passage.superseded_by:
        return ""
    when = f" of {passage.superseded_at}" if passage.superseded_at else ""
    return f"see {passage.superseded_by}{when}"


def _shortened(value: str, most: int, name: str) -> str:
    """Return a value on one line; of a path the end says more than the beginning.
    The dots are ASCII, because any other character makes the estimate of the tokens larger."""
    value = " ".join(value.split())
    if len(value) <= most:
        return value
    return f"...{value[3 - most :]}" if name == "source" else f"{value[: most - 3]}..."
