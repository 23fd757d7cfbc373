"""Words out of text, the same way for what is stored and for what is asked.

A plain word becomes its Snowball stem. An identifier (`snake_case`, `camelCase`, `foo.bar`, `v1.2.3`,
`C++`) becomes itself and its parts, so that it is found whole and by part. Scripts that do not put
spaces between words become overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any, NamedTuple

# Stored beside the index: a store indexed by another version of these rules is indexed again.
ANALYZER_VERSION = 1

# Letters and digits, and the marks that \w leaves out: accents, vowel signs of Indic scripts, Thai.
_LETTERS = (
    r"\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
    r"\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u200c\u200d"
)
_SYMBOLS = r"[\u2190-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]"
# Han, kana, Hangul, Thai, Lao, Khmer, Burmese: no spaces, or endings glued to the word.
_UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_POINTS = r"[\u0591-\u05c7\u064b-\u065f\u0670]"  # Hebrew and Arabic vowel signs
_LATIN_OR_GREEK_MARKS = r"([A-Za-z\u0370-\u03ff])[\u0300-\u036f]+"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+$")
_SPACES = re.compile(r"\s+")


def _word(letters: str, more: str = "") -> str:
    # A word may go on through these when more of it follows: pre-edit, foo.bar, a/b, don't, user@host.
    return rf"[{letters}]+(?:[.\-'’/:@&+#][{letters}]+|(?<=\d),(?=\d)\w+)*(?:\+\+|#)?{more}"


class _Patterns(NamedTuple):
    word: re.Pattern[str]
    split: re.Pattern[str]
    plain: re.Pattern[str]


_ASCII = _Patterns(
    re.compile(_word(r"\w")), re.compile(r"\W+|_+"), re.compile(r"[^\W\d_][^\W_]*$")
)


@lru_cache(maxsize=1)
def _unicode() -> _Patterns:
    # Large character classes take longer to compile than a search takes: only where they are needed.
    return _Patterns(
        re.compile(_word(_LETTERS, f"|{_SYMBOLS}")),
        re.compile(rf"[^{_LETTERS}]+|_+"),
        re.compile(rf"[^\W\d_](?:(?!_)[{_LETTERS}])*$"),
    )


def _patterns(text: str) -> _Patterns:
    return _ASCII if text.isascii() else _unicode()


def _is_unspaced(word: str) -> bool:
    return not word.isascii() and re.search(_UNSPACED, word) is not None


# The Snowball stemmer of a word, by the script of its first letter.
_STEMMERS = (
    (0x0370, 0x03FF, "greek"),
    (0x0400, 0x04FF, "russian"),
    (0x0530, 0x058F, "armenian"),
    (0x0600, 0x06FF, "arabic"),
    (0x0900, 0x097F, "hindi"),
    (0x0B80, 0x0BFF, "tamil"),
)
_LONGEST_TOKEN_CHARS = 128

STOP_WORDS = frozenset(
    """a about above after again against all am an and any are aren't as at be because been before
    being below between both but by can can't could couldn't did didn't do does doesn't doing don't
    down during each few for from further had hadn't has hasn't have haven't having he her here hers
    herself him himself his how i if in into is isn't it its itself just let me more most my myself
    no nor not now of off on once only or other our ours ourselves out over own same shall she
    should shouldn't so some such than that the their theirs them themselves then there these they
    this those through to too under until up us very was wasn't we were weren't what when where
    which while who whom whose why will with won't would wouldn't you your yours yourself
    yourselves""".split()
)


def normalise(text: str) -> str:
    """Return the form under which two texts count as the same: composed, spaces folded, ends trimmed."""
    return _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()


def fold(word: str) -> str:
    """Lower-case a word and drop the accents of Latin and Greek letters."""
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word).casefold()
    bare = re.sub(_POINTS, "", re.sub(_LATIN_OR_GREEK_MARKS, r"\1", apart))
    return unicodedata.normalize("NFC", bare).replace("’", "'")


def tokens(text: str) -> list[str]:
    """Return the index tokens of a text, in order."""
    return [token for word in _patterns(text).word.findall(text) for token in _tokens_of(word)]


def terms(query: str) -> tuple[str, ...]:
    """Return the distinct tokens to search for: no stop words, unless there is nothing else."""
    words = _patterns(query).word.findall(query)
    telling = [word for word in words if fold(word) not in STOP_WORDS]
    return tuple(dict.fromkeys(token for word in telling or words for token in _asked(word)))


@lru_cache(maxsize=65536)
def _tokens_of(word: str) -> tuple[str, ...]:
    """Return every token under which a word can be found."""
    if _is_unspaced(word):
        return tuple(_unspaced(word, singles=True))
    if not word.strip("_"):
        return ()
    whole, parts = _whole_and_parts(word)
    return tuple(token for token in (whole, *parts) if token.strip())


@lru_cache(maxsize=4096)
def _asked(word: str) -> tuple[str, ...]:
    """Return the tokens to look for when a query holds this word."""
    if _is_unspaced(word):
        return tuple(_unspaced(word, singles=False))
    return tuple(token for token in _tokens_of(word) if token not in STOP_WORDS) or _tokens_of(
        word
    )


def _whole_and_parts(word: str) -> tuple[str, list[str]]:
    if _THOUSANDS.match(word):
        word = word.replace(",", "")
    folded = fold(word)
    if folded.endswith("'s"):
        word, folded = word[:-2], folded[:-2]
    shapes = _patterns(word)
    pieces = [piece for run in shapes.split.split(word) for piece in _CAMEL.split(run) if piece]
    whole = _stem(folded) if shapes.plain.match(folded) else folded[:_LONGEST_TOKEN_CHARS]
    if pieces == [word]:
        return whole, []
    return whole, [_stem(fold(piece)) for piece in pieces if len(piece) > 1 or piece.isdigit()]


def _unspaced(word: str, *, singles: bool) -> list[str]:
    """Pairs of neighbouring characters; single ones too in the index, so that one character is findable."""
    found: list[str] = []
    end = 0
    for run in re.finditer(_UNSPACED, word):
        found.extend(_tokens_of(word[end : run.start()]) if run.start() > end else ())
        characters = unicodedata.normalize("NFKC", run.group())
        if singles or len(characters) == 1:
            found.extend(characters)
        found.extend(characters[at : at + 2] for at in range(len(characters) - 1))
        end = run.end()
    found.extend(_tokens_of(word[end:]) if end < len(word) else ())
    return found


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    word = word[:_LONGEST_TOKEN_CHARS]
    if not word or word.isdigit():
        return word
    stemmed: str = _stemmer(language_of_word(word)).stemWord(word)
    return stemmed or word


@lru_cache(maxsize=16)
def _stemmer(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(language)


def language_of_word(word: str) -> str:
    """Return the Snowball language for a word, from the script of its first letter."""
    first = ord(word[0])
    for low, high, language in _STEMMERS:
        if low <= first <= high:
            return language
    return "english"


def storable(text: str) -> bool:
    """True when a text is valid Unicode: half a surrogate pair cannot be written as UTF-8."""
    return (
        not any(0xD800 <= ord(letter) <= 0xDFFF for letter in text) if not text.isascii() else True
    )


def readable(text: str) -> str:
    """Return a text with halves of surrogate pairs replaced, so that any string can be asked for."""
    return text if storable(text) else text.encode("utf-8", "replace").decode("utf-8")


def mark(text: str, wanted: tuple[str, ...], before: str, after: str) -> str:
    """Put `before` and `after` around each word of a text that one of the wanted terms matches."""
    chosen = set(wanted)

    def marked(word: re.Match[str]) -> str:
        hit = not chosen.isdisjoint(_tokens_of(word.group()))
        return f"{before}{word.group()}{after}" if hit else word.group()

    return _patterns(text).word.sub(marked, text)


def matches(text: str, wanted: tuple[str, ...]) -> int:
    """Return how many of the wanted terms a text holds."""
    return len(set(wanted).intersection(tokens(text))) if wanted else 0


def snippet(text: str, wanted: tuple[str, ...], width_chars: int = 240) -> str:
    """Return the stretch of a text, cut at words, that holds the most of the wanted terms."""
    if len(text) <= width_chars:
        return text
    start = _densest(text, set(wanted), width_chars)
    stop = min(len(text), start + width_chars)
    if stop < len(text):
        stop = max(text.rfind(" ", start + width_chars // 2, stop), start + width_chars // 2 + 1)
    return ("…" if start else "") + text[start:stop].strip() + ("…" if stop < len(text) else "")


def _densest(text: str, wanted: set[str], width_chars: int) -> int:
    """Return where the window with the most distinct wanted terms begins; the first such one."""
    places = [
        (match.start(), frozenset(wanted.intersection(_tokens_of(match.group()))))
        for match in _patterns(text).word.finditer(text)
    ]
    places = [(at, found) for at, found in places if found]
    best, best_at = 0, 0
    for index, (at, _) in enumerate(places):
        seen: set[str] = set()
        for later, found in places[index : index + 64]:
            if later - at >= width_chars * 3 // 4:
                break
            seen |= found
        if len(seen) > best:
            best, best_at = len(seen), at
    if not best_at:
        return 0
    lead = max(0, best_at - width_chars // 5)  # a little of what comes before the first match
    return text.find(" ", lead, best_at) + 1 or lead
