"""What a person may ask for by name: what is known, to keep something, to look back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import mcp_types as types

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.mcp.text import DATA, brief, landscape
from scrubjay.surfaces.mcp.verdict import sure
from scrubjay.surfaces.render.json import plain
from scrubjay.surfaces.verbs.kinds import QUERY
from scrubjay.text.recall_tags import format_hits, wrap_recalled
from scrubjay.text.validation import did_you_mean

if TYPE_CHECKING:
    from scrubjay.store import Store

_MOST_CHARS = 8_000
_RECAPPED = 20

Given = Mapping[str, str]


class _Prompt(NamedTuple):
    title: str
    told: str
    arguments: dict[str, str]
    made: Callable[[Store, Given], str]


def listed() -> list[types.Prompt]:
    """Return the prompts with their arguments, none of which must be given."""
    return [
        types.Prompt(
            name=name,
            title=one.title,
            description=one.told,
            arguments=[
                types.PromptArgument(name=its, description=about, required=False)
                for its, about in one.arguments.items()
            ],
        )
        for name, one in _PROMPTS.items()
    ]


def made(store: Store, *, name: str, given: Given) -> types.GetPromptResult:
    """Return a prompt with what is stored now; InvalidInput for what is not one."""
    if name not in _PROMPTS:
        known = ", ".join(_PROMPTS)
        raise InvalidInput(f"there is no prompt {name[:100]!r}; the prompts are {known}")
    one = _PROMPTS[name]
    for its in given:
        if its not in one.arguments:
            raise InvalidInput(
                f"{name} has no argument {its[:100]!r}{did_you_mean(its[:100], one.arguments)};"
                f" it takes: {', '.join(one.arguments)}"
            )
    words = types.TextContent(type="text", text=one.made(store, given))
    return types.GetPromptResult(
        description=one.told, messages=[types.PromptMessage(role="user", content=words)]
    )


def _context(store: Store, given: Given) -> str:
    question = QUERY.take("question", given.get("question", "")).strip()
    if not question:
        return f"This is what my memory holds. {landscape(store)}"
    answer = store.search(question)
    found = format_hits(answer.hits, _MOST_CHARS) or "Nothing is stored about it."
    how = sure(answer.confidence, answer.degraded)
    return f"This is what my memory holds on: {question}\n{DATA} {how}".rstrip() + f"\n\n{found}"


def _remember(_: Store, given: Given) -> str:
    about = given.get("about", "").strip()
    what = f"what was said about {about}" if about else "what will matter later"
    return (
        f"Keep {what} from this conversation in memory. Search first: change what is there already with"
        " memory_update. Store each new fact by itself with memory_store: one that can be understood"
        " without this conversation, with names and dates, its type and topics. Keep no passwords or keys."
    )


def _recap(store: Store, given: Given) -> str:
    topic = given.get("topic", "").strip()
    latest = store.ls(topics=[topic] if topic else None, limit=_RECAPPED)
    if topic and not latest:
        there = ", ".join(list(store.topics(limit=_RECAPPED))) or "none"
        topics = wrap_recalled(there, "topics")
        return f"Nothing is stored about the topic {topic}; the topics are: {topics}. {DATA}"
    lines = "\n".join(brief(plain(one), _MOST_CHARS // _RECAPPED) for one in latest)
    about = f" about {topic}" if topic else ""
    return f"Recap what was stored last{about}, newest first. {DATA}\n\n{lines or 'Nothing is stored.'}"


_PROMPTS = {
    "context": _Prompt(
        "What is known",
        "What memory holds, in short, or what it holds on a question.",
        {"question": "what it is about; everything in short without it"},
        _context,
    ),
    "remember": _Prompt(
        "Remember this",
        "Keep what matters of this conversation.",
        {"about": "only what was said about this"},
        _remember,
    ),
    "recap": _Prompt(
        "Recap",
        "What was stored last.",
        {"topic": "only of this topic"},
        _recap,
    ),
}
