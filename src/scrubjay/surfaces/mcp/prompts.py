"""Prompts that a person calls by name: context, remember, recap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import mcp_types as types

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.context import question_context
from scrubjay.surfaces.mcp.text import DATA, brief, confidence_text, landscape
from scrubjay.surfaces.render.json import plain
from scrubjay.surfaces.render.redaction import redact
from scrubjay.surfaces.verbs.kinds import QUERY
from scrubjay.surfaces.verbs.search import SEARCH_TOKENS
from scrubjay.text.recall_tags import wrap_recalled
from scrubjay.text.validation import did_you_mean

if TYPE_CHECKING:
    from scrubjay.store import Store

_MAX_CHARS = 8_000
_RECAP_MEMORIES = 20


class _Prompt(NamedTuple):
    title: str
    description: str
    argument: str  # its only one, always optional
    argument_description: str
    render: Callable[[Store, str, bool], str]  # the last: the caller may see paths


def list_prompts() -> list[types.Prompt]:
    return [
        types.Prompt(
            name=name,
            title=prompt.title,
            description=prompt.description,
            arguments=[
                types.PromptArgument(
                    name=prompt.argument, description=prompt.argument_description, required=False
                )
            ],
        )
        for name, prompt in _PROMPTS.items()
    ]


def get_prompt(
    store: Store, *, name: str, given: Mapping[str, str], is_admin: bool = True
) -> types.GetPromptResult:
    """Return a prompt with the present state of the store; InvalidInput for an unknown one.
    Without `is_admin` no paths are shown."""
    prompt = _PROMPTS.get(name)
    if prompt is None:
        raise InvalidInput(f"no prompt {name[:100]!r}; the prompts are {', '.join(_PROMPTS)}")
    argument = prompt.argument
    if unknown := [other[:100] for other in given if other != argument]:
        hint = did_you_mean(unknown[0], [argument])
        raise InvalidInput(f"{name} has no argument {unknown[0]!r}{hint}; it takes: {argument}")
    text = prompt.render(store, given.get(argument, "").strip(), is_admin)
    message = types.PromptMessage(role="user", content=text_content(text))
    return types.GetPromptResult(description=prompt.description, messages=[message])


def text_content(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _context(store: Store, question: str, is_admin: bool) -> str:
    question = QUERY.take("question", question).strip()
    if not question:
        return f"This is what my memory contains. {landscape(store)}"
    found = question_context(store, question, SEARCH_TOKENS, {})
    shown = redact(found, "context", is_admin=is_admin, store=store)
    how = confidence_text(shown["confidence"], shown["verdict"])
    head = f"This is what my memory contains on: {question}\n{DATA} {how}".rstrip()
    return f"{head}\n\n{shown['text'] or 'Nothing is stored about it.'}"


def _remember(_: Store, about: str, __: bool) -> str:
    what = f"what was said about {about}" if about else "what will matter later"
    return (
        f"Store {what} from this conversation in memory. Search first: change existing memories with"
        " memory_update. Store each new fact separately with memory_store: understandable without this"
        " conversation, with names and dates, its type and topics. Store no passwords or keys."
    )


def _recap(store: Store, topic: str, is_admin: bool) -> str:
    latest = store.ls(topics=[topic] if topic else None, limit=_RECAP_MEMORIES)
    if topic and not latest:
        topics = ", ".join(store.topics(limit=_RECAP_MEMORIES)) or "none"
        known = wrap_recalled(topics, "topics")
        return f"Nothing is stored about the topic {topic}; the topics are: {known}. {DATA}"
    shown = redact({"memories": plain(latest)}, "memories", is_admin=is_admin, store=store)
    each = _MAX_CHARS // _RECAP_MEMORIES
    lines = "\n".join(brief(memory, each) for memory in shown["memories"])
    about = f" about {topic}" if topic else ""
    return f"Recap what was stored last{about}, newest first. {DATA}\n\n{lines or 'Nothing is stored.'}"


_PROMPTS = {
    "context": _Prompt(
        "Get context",
        "What memory contains on a question, or an overview.",
        "question",
        "what it is about; an overview without it",
        _context,
    ),
    "remember": _Prompt(
        "Remember this",
        "Store what matters of this conversation.",
        "about",
        "only what was said about this",
        _remember,
    ),
    "recap": _Prompt("Recap", "What was stored last.", "topic", "only of this topic", _recap),
}
