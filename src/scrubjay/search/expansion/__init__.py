"""Other ways to ask the same: what a language model is asked for, how its answer is read and guarded."""

from __future__ import annotations

from typing import Final, NamedTuple

MOST_QUERY_CHARS: Final = (
    2_000  # what a model reads of a query, and what its answer is held against
)


class Expansion(NamedTuple):
    """What a model made of a query: words to look for, sentences that mean the same, a made-up answer.

    `lexical` goes to the keyword index, `semantic` and `hyde` to the vectors; each may be empty.
    """

    lexical: tuple[str, ...] = ()
    semantic: tuple[str, ...] = ()
    hyde: str = ""
