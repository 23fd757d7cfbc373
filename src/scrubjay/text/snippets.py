"""Snippets: find the terms of a query in a text, count and highlight them, cut the densest passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from unicodedata import normalize

from scrubjay.text import analysis
from scrubjay.text.analysis import is_unspaced, splice, word_pattern


class TermMatcher:
    """The terms of a query, to be found in texts; a term that ends in * is a prefix."""

    def __init__(self, terms: tuple[str, ...], language: str = "") -> None:
        self._tokens = {term for term in terms if not term.endswith("*")}
        self._prefixes = tuple(term[:-1] for term in terms if term.endswith("*"))
        self._stemmer = analysis.stemmer_for(language)

    def __bool__(self) -> bool:
        return bool(self._tokens or self._prefixes)

    def terms_in(self, word: str) -> set[str]:
        # Sentences without spaces and blobs do not come again, so they are not cached.
        is_cached = len(word) <= analysis.MAX_TOKEN_CHARS and not is_unspaced(word)
        tokens = (analysis.word_tokens if is_cached else analysis.make_tokens)(word, self._stemmer)
        begun = (one for one in self._prefixes if any(token.startswith(one) for token in tokens))
        return self._tokens.intersection(tokens).union(begun)

    def places(self, text: str) -> Iterator[tuple[int, int, set[str]]]:
        """Yield the start and the end of each match in a text, and the terms it matches."""
        for match in word_pattern(text).finditer(text):
            word, at = match.group(), match.start()
            found = self.terms_in(word)
            if not found:
                continue
            if not is_unspaced(word):
                yield at, match.end(), found
                continue
            for start, stop in list(self._within(word)) or [(0, len(word))]:
                yield at + start, at + stop, self.terms_in(word[start:stop]) or found

    def _within(self, word: str) -> Iterator[tuple[int, int]]:
        """Yield the matches inside a run of characters without spaces, which may be a whole sentence."""
        matched: set[int] = set()
        for unspaced, run in groupby(range(len(word)), lambda at: is_unspaced(word[at])):
            places = list(run)
            lengths = (1, 2) if unspaced else (len(places),)
            for at in places if unspaced else places[:1]:
                for length in lengths:
                    characters = word[at : at + length]
                    if at + length <= places[-1] + 1 and self._matches(characters, unspaced):
                        matched.update(range(at, at + length))
        for at in sorted(matched):
            if at - 1 not in matched:
                start = at
            if at + 1 not in matched:
                yield start, at + 1

    def _matches(self, characters: str, unspaced: bool) -> bool:
        if unspaced:
            return normalize("NFKC", characters) in self._tokens
        return bool(self.terms_in(characters))


def highlight(
    text: str, terms: tuple[str, ...], before: str, after: str, language: str = ""
) -> str:
    places = TermMatcher(terms, language).places(text)
    return splice(text, ((at, end, f"{before}{text[at:end]}{after}") for at, end, _ in places))


def count_matches(texts: Sequence[str], terms: tuple[str, ...], language: str = "") -> list[int]:
    matcher = TermMatcher(terms, language)
    if not matcher:
        return [0] * len(texts)
    # A long document repeats its words: each is matched once.
    distinct = [set(analysis.words(text)) for text in texts]
    matching = {
        word: found for word in set().union(*distinct) if (found := matcher.terms_in(word))
    }
    return [
        len(set().union(*(matching[word] for word in of & matching.keys()))) for of in distinct
    ]


def snippet(text: str, terms: tuple[str, ...], width_chars: int = 240, language: str = "") -> str:
    if len(text) <= width_chars:
        return text
    start = _densest(text, TermMatcher(terms, language), width_chars)
    stop = min(len(text), start + width_chars)
    if stop < len(text):
        stop = max(text.rfind(" ", start + width_chars // 2, stop), start + width_chars // 2 + 1)
    return ("…" if start else "") + text[start:stop].strip() + ("…" if stop < len(text) else "")


def _densest(text: str, matcher: TermMatcher, width_chars: int) -> int:
    places = list(matcher.places(text)) if matcher else []
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
    lead = max(0, best_at - width_chars // 5)  # some text before the first match
    return text.find(" ", lead, best_at) + 1 or lead


def preview(text: str, width_chars: int) -> str:
    if len(text) <= width_chars:
        return text
    beginning = text[: width_chars + 1]
    cut = next((at for at in range(width_chars, 0, -1) if beginning[at].isspace()), 0)
    # A long URL, or a script without spaces, has no end of a word nearby.
    return text[: cut if cut > width_chars // 2 else width_chars].rstrip()


def embedding_text(title: str, heading: str, context: str, passage: str) -> str:
    """Return a chunk for a model: title, heading and context first, unless it begins with them."""
    opening = passage.lstrip("# \t\n")
    front = [
        part
        for part in dict.fromkeys((title, heading, context))
        if part and not opening.startswith(part)
    ]
    return "\n".join([*front, passage])
