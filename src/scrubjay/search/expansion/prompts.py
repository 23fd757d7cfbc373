"""Prompts for query expansion, in English, in German, or for any language; texts in `prompts.toml`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.search.expansion import MOST_QUERY_CHARS, Expansion
from scrubjay.text.analysis import valid_unicode

PROMPT_VERSION: Final = 1  # part of the cache key: raise it when a prompt changes
MOST_VARIANTS: Final = 5
_FENCE = "~~~"

_VARIANTS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "maxItems": MOST_VARIANTS,
}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"lexical": _VARIANTS, "semantic": _VARIANTS, "hyde": {"type": "string"}},
    "required": ["lexical", "semantic", "hyde"],
    "additionalProperties": False,
}


class _Prompt(NamedTuple):
    task: str
    example_title: str
    example_query: str
    warning: str
    query_title: str
    answer_title: str
    example: Expansion


def _load() -> dict[str, _Prompt]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    prompts = {}
    for language, table in tables.items():
        example = table.pop("example")
        lists = {field: tuple(example[field]) for field in ("lexical", "semantic")}
        prompts[language] = _Prompt(**table, example=Expansion(**lists, hyde=example["hyde"]))
    return prompts


_PROMPTS = _load()
EXAMPLES: Final = tuple(prompt.example for prompt in _PROMPTS.values())


def prompt_language(language: str) -> str:
    """Return the prompt for a language code: "en", "de", or "multilingual" for all others and ""."""
    base = language.lower().replace("_", "-").partition("-")[0]
    return base if base in ("en", "de") else "multilingual"


def prompt_for(query: str, language: str, *, lexical: int = 3, semantic: int = 3) -> str:
    """Return the prompt that asks for this many variants of a query; a very long query is cut.
    `language` is the detected code of the query, or "" if it is uncertain."""
    for name, number in (("lexical", lexical), ("semantic", semantic)):
        if not 0 <= number <= MOST_VARIANTS:
            raise InvalidInput(f"{name} is {number}; it must be between 0 and {MOST_VARIANTS}")
    prompt = _PROMPTS[prompt_language(language)]
    example = prompt.example._replace(
        lexical=prompt.example.lexical[:lexical], semantic=prompt.example.semantic[:semantic]
    )
    asked = valid_unicode(query[:MOST_QUERY_CHARS]).strip()
    code = f" (ISO 639-1: {language})" if language.isalpha() else ""
    fence = _fence(asked)
    return "\n".join(
        (
            prompt.task.format(lexical=lexical, semantic=semantic, language=code),
            f"\n{prompt.example_title}\n{_FENCE}\n{prompt.example_query}\n{_FENCE}",
            f"{prompt.answer_title}\n{json.dumps(example._asdict(), ensure_ascii=False)}",
            f"\n{prompt.warning.format(fence=fence)}",
            f"{prompt.query_title}\n{fence}\n{asked}\n{fence}",
            f"{prompt.answer_title}\n",
        )
    )


def _fence(query: str) -> str:
    """Return a fence that the query does not contain, so that it cannot end its own quotation."""
    fence = _FENCE
    while fence in query:
        fence += "~"
    return fence
