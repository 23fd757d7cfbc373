"""Texts as lines of tokens, as the keyword index takes them in."""

from __future__ import annotations

from collections.abc import Callable

from scrubjay.text.analysis import (
    LONGEST_TOKEN_CHARS,
    MOST_KNOWN_WORDS,
    made_tokens,
    stemming,
    words,
)


class TokenLines:
    """Makes lines of tokens, each token as `written` writes it."""

    def __init__(self, written: Callable[[str], str]) -> None:
        self._written = written
        self._known: dict[str, _KnownWords] = {}

    def of(self, text: str, language: str = "") -> str:
        """Return the tokens of a text in a language, in order, with spaces between."""
        stems = stemming(language)
        if stems not in self._known:
            self._known[stems] = _KnownWords(stems, self._written)
        return " ".join(filter(None, map(self._known[stems].__getitem__, words(text))))


class _KnownWords(dict[str, str]):
    """The tokens of words met before: a folder says the same ones over and over."""

    def __init__(self, stems: str, written: Callable[[str], str]) -> None:
        self._stems = stems
        self._written = written

    def __missing__(self, word: str) -> str:
        line = " ".join(map(self._written, made_tokens(word, self._stems)))
        if len(self) >= MOST_KNOWN_WORDS:
            self.clear()
        if len(word) <= LONGEST_TOKEN_CHARS:  # a blob of a megabyte is not met again
            self[word] = line
        return line
