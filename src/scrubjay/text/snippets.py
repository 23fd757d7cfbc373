"""The words of a query in a text: how many of them, where they are densest, and marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from unicodedata import normalize

from scrubjay.text.analysis import (
    MAX_TOKEN_CHARS,
    is_unspaced,
    make_tokens,
    stemmer_for,
    word_pattern,
    word_tokens,
    words,
)


class TermMatcher:
    """The terms of a query, ready to be looked for in texts; a term that ends in * is a beginning."""

    def __init__(self, terms: tuple[str, ...], language: str = "") -> None:
        self._whole = {term for term in terms if not term.endswith("*")}
        self._beginnings = tuple(term[:-1] for term in terms if term.endswith("*"))
        self._stems = stemmer_for(language)

    def __bool__(self) -> bool:
        return bool(self._whole or self._beginnings)

    def found(self, word: str) -> set[str]:
        """Return the terms that a word of a text answers."""
        # Whole sentences without spaces, and blobs, are not met again: they are not kept.
        keep = len(word) <= MAX_TOKEN_CHARS and not is_unspaced(word)
        tokens = (word_tokens if keep else make_tokens)(word, self._stems)
        hits = self._whole.intersection(tokens)
        if self._beginnings:
            hits.update(
                one for one in self._beginnings if any(token.startswith(one) for token in tokens)
            )
        return hits

    def places(self, text: str) -> Iterator[tuple[int, int, set[str]]]:
        """Yield each stretch of a text that answers a term, from where to where, and which it answers."""
        for match in word_pattern(text).finditer(text):
            word, at = match.group(), match.start()
            hits = self.found(word)
            if not hits:
                continue
            if not is_unspaced(word):
                yield at, match.end(), hits
                continue
            for start, stop in list(self._within(word)) or [(0, len(word))]:
                yield at + start, at + stop, self.found(word[start:stop]) or hits

    def _within(self, word: str) -> Iterator[tuple[int, int]]:
        """Yield the stretches of a run of characters without spaces that were asked for.

        A whole sentence may be one run; a reader wants to see where in it.
        """
        asked: set[int] = set()
        for unspaced, run in groupby(range(len(word)), lambda at: is_unspaced(word[at])):
            places = list(run)
            lengths = (1, 2) if unspaced else (len(places),)
            for at in places if unspaced else places[:1]:
                for length in lengths:
                    characters = word[at : at + length]
                    if at + length <= places[-1] + 1 and self._asked(characters, unspaced):
                        asked.update(range(at, at + length))
        for at in sorted(asked):
            if at - 1 not in asked:
                start = at
            if at + 1 not in asked:
                yield start, at + 1

    def _asked(self, characters: str, unspaced: bool) -> bool:
        return (
            normalize("NFKC", characters) in self._whole
            if unspaced
            else bool(self.found(characters))
        )


def highlight(
    text: str, terms: tuple[str, ...], before: str, after: str, language: str = ""
) -> str:
    """Put `before` and `after` around each word of a text that one of the terms matches."""
    shown: list[str] = []
    end = 0
    for start, stop, _ in TermMatcher(terms, language).places(text):
        shown += (text[end:start], before, text[start:stop], after)
        end = stop
    return "".join((*shown, text[end:]))


def count_matches(texts: Sequence[str], terms: tuple[str, ...], language: str = "") -> list[int]:
    """Return how many of the terms each of several texts holds."""
    wanted = TermMatcher(terms, language)
    # A long document says the same words over and over: each is looked at once.
    said = [set(words(text)) for text in texts] if wanted else [set[str]() for _ in texts]
    telling = {word: hits for word in set().union(*said) if (hits := wanted.found(word))}
    return [len(set().union(*(telling[word] for word in of & telling.keys()))) for of in said]


def snippet(text: str, terms: tuple[str, ...], width_chars: int = 240, language: str = "") -> str:
    """Return the stretch of a text, cut at words, that holds the most of the terms."""
    if len(text) <= width_chars:
        return text
    start = _densest(text, TermMatcher(terms, language), width_chars)
    stop = min(len(text), start + width_chars)
    if stop < len(text):
        stop = max(text.rfind(" ", start + width_chars // 2, stop), start + width_chars // 2 + 1)
    return ("…" if start else "") + text[start:stop].strip() + ("…" if stop < len(text) else "")


def _densest(text: str, wanted: TermMatcher, width_chars: int) -> int:
    """Return where the window with the most distinct terms begins; the first such one."""
    places = list(wanted.places(text)) if wanted else []
    best, best_at = 0, 0
    for index, (at, *_) in enumerate(places):
        seen: set[str] = set()
        for later, _, found in places[index : index + 64]:
            if later - at >= width_chars * 3 // 4:
                break
            seen |= found
        if len(seen) > best:
            best, best_at = len(seen), at
    if not best_at:
        return 0
    lead = max(0, best_at - width_chars // 5)  # a little of what comes before the first match
    return text.find(" ", lead, best_at) + 1 or lead


def preview(text: str, width_chars: int) -> str:
    """Return how a text begins: its first characters up to the end of a word, or all of a short one."""
    if len(text) <= width_chars:
        return text
    begins = text[: width_chars + 1]
    cut = next((at for at in range(width_chars, 0, -1) if begins[at].isspace()), 0)
    # A long address, or a script without spaces, has no end of a word nearby.
    return text[: cut if cut > width_chars // 2 else width_chars].rstrip()


def embedding_text(title: str, heading: str, context: str, passage: str) -> str:
    """Return what a model reads of a chunk: its title and heading first, unless it begins with them."""
    opening = passage.lstrip("# \t\n")
    front = [
        part
        for part in dict.fromkeys((title, heading, context))
        if part and not opening.startswith(part)
    ]
    return "\n".join([*front, passage])
