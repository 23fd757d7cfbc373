"""Query expansion by a language model: the prompt, parsing of the answer, guardrails."""

from __future__ import annotations

from typing import Final, NamedTuple

MOST_QUERY_CHARS: Final = 2_000  # what a model reads of a query


class Expansion(NamedTuple):
    """Variants of a query: keyword lists, sentences of the same meaning, a hypothetical answer.
    `lexical` is searched by keyword, `semantic` and `hyde` by vector; each may be empty."""

    lexical: tuple[str, ...] = ()
    semantic: tuple[str, ...] = ()
    hyde: str = ""
