"""Text analysis: words, tokens and stems, the same for stored texts and for queries.

A plain word becomes its Snowball stem in the language of its text. An identifier (`snake_case`,
`camelCase`, `foo.bar`, `v1.2.3`, `C++`, `--force`) becomes itself and its parts, so that both match.
Text in scripts without spaces between words becomes overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from scrubjay.text.languages import STEMMERS

# As `random` of the standard library does: hashlib loads OpenSSL, which takes as long as SQLite, and a
# search checks the hashes of ten short texts.
try:
    from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]  # Python 3.12
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from hashlib import sha256

# Stored with the index: a store that was indexed by another version of these rules is reindexed.
ANALYZER_VERSION = 2

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
_LATIN_OR_GREEK_MARKS = r"(?<=[A-Za-z\u0370-\u03ff])[\u0300-\u036f]+"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TAIL = re.compile(r"-(\w+)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+$")


def _word(letters: str, more: str = "") -> str:
    # A word may begin with the dashes of an option (-rf, --force) and continue after these marks:
    # pre-edit, foo.bar, a/b, don't, user@host.
    option = rf"(?<![{letters}-])--?(?=[^\W\d_])"
    return rf"(?:{option})?[{letters}]+(?:[.\-'’/:@&+#][{letters}]+|(?<=\d),(?=\d)\w+)*(?:\+\+|#)?{more}"


class _Patterns(NamedTuple):
    word: re.Pattern[str]
    split: re.Pattern[str]
    plain: re.Pattern[str]


_ASCII = _Patterns(
    *(re.compile(each, re.ASCII) for each in (_word(r"\w"), r"\W+|_+", r"[^\W\d_][^\W_]*$"))
)


@lru_cache(maxsize=1)
def _unicode() -> _Patterns:
    # Compiled only when needed: these large character classes take longer to compile than a search.
    return _Patterns(
        re.compile(_word(_LETTERS, f"|{_SYMBOLS}")),
        re.compile(rf"[^{_LETTERS}]+|_+"),
        re.compile(rf"[^\W\d_](?:(?!_)[{_LETTERS}])*$"),
    )


def _patterns(text: str) -> _Patterns:
    # The ellipsis of a snippet is no letter.
    return _ASCII if text.isascii() or text.replace("…", "").isascii() else _unicode()


def is_unspaced(word: str) -> bool:
    """True when a word has characters of a script without spaces between words."""
    return not word.isascii() and re.search(_UNSPACED, word) is not None


# Code points of a script, its usual Snowball stemmer, and its other stemmers.
_SCRIPTS = (
    (0x0370, 0x03FF, "greek", ()),
    (0x0400, 0x04FF, "russian", ("serbian",)),
    (0x0530, 0x058F, "armenian", ()),
    (0x0590, 0x05FF, "", ("yiddish",)),
    (0x0600, 0x06FF, "arabic", ("persian",)),
    (0x0900, 0x097F, "hindi", ("nepali",)),
    (0x0B80, 0x0BFF, "tamil", ()),
)
_NOT_LATIN = frozenset(name for *_, usual, others in _SCRIPTS for name in (usual, *others)) - {""}
_LATIN_WITHOUT_STEMMER = frozenset("af cy is lv ms mt sk sl sq sw tl vi".split())
MAX_TOKEN_CHARS = 128
MAX_CACHED_WORDS = 32768

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


def normalize(text: str) -> str:
    """Return a text in NFC with single spaces; two texts that are equal after this count as the same."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def content_hash(text: str) -> str:
    """Return the hash by which a stored text is compared with others, and with itself later."""
    return hash_of(normalize(text))


def hash_of(normalized: str) -> str:
    """Return the hash of a text that `normalize` returned."""
    digest: str = sha256(normalized.encode()).hexdigest()
    return digest


def fold_label(text: str) -> str:
    """Return a label, such as a topic, for comparison: normalized, without case."""
    return normalize(text).casefold()


def fold_text(text: str) -> str:
    """Return a text as a label, without punctuation at its ends; `?` alone stays, and is not `!`."""
    folded = fold_label(text)
    marks = "".join(one for one in set(folded) if unicodedata.category(one)[0] in "PZ")
    return folded.strip(marks) or folded


def fold(word: str) -> str:
    """Lower-case a word and drop the accents of Latin and Greek letters."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word).casefold()
    plain = re.sub(_POINTS, "", re.sub(_LATIN_OR_GREEK_MARKS, "", decomposed))
    return unicodedata.normalize("NFC", plain).replace("’", "'")


def tokens(text: str, language: str = "") -> list[str]:
    stemmer = stemmer_for(language)
    return [token for word in words(text) for token in word_tokens(word, stemmer)]


def words(text: str) -> list[str]:
    return word_pattern(text).findall(text)


def word_pattern(text: str) -> re.Pattern[str]:
    return _patterns(text).word


def terms(
    query: str, language: str = "", stop_words: frozenset[str] = STOP_WORDS
) -> tuple[str, ...]:
    """Return the distinct tokens to search for, without stop words unless there is nothing else."""
    stemmer = stemmer_for(language)
    used = without_stop_words(words(query), stop_words)
    return tuple(dict.fromkeys(token for word in used for token in query_tokens(word, stemmer)))


def has_terms(query: str) -> bool:
    """True when a query has a token to search for; stops at the first."""
    return any(query_tokens(word) for word in without_stop_words(words(query)))


def without_stop_words(words: list[str], stop_words: frozenset[str] = STOP_WORDS) -> list[str]:
    """Return words without stop words, or all of them if there is nothing else."""
    return [word for word in words if fold(word) not in stop_words] or words


@lru_cache(maxsize=MAX_CACHED_WORDS)
def word_tokens(word: str, stemmer: str = "english") -> tuple[str, ...]:
    return make_tokens(word, stemmer)


def make_tokens(word: str, stemmer: str) -> tuple[str, ...]:
    """Return every index token of a word, uncached: indexing meets too many words to cache."""
    if word.isascii() and word.isalpha() and not _CAMEL.search(word):
        return (stem(word, stemmer),)
    if is_unspaced(word):
        return tuple(_unspaced_tokens(word, stemmer, singles=True))
    if not word.strip("_"):
        return ()
    whole, parts = whole_and_parts(word, stemmer)
    # With these, `-edit` in a query does not exclude texts that contain it literally: pre-edit, --edit.
    tails = [f"-{fold(run)}" for run in _TAIL.findall(word[1:])] if "-" in word[1:] else []
    return tuple(token for token in (whole, *tails, *parts) if token.strip())


@lru_cache(maxsize=4096)
def query_tokens(word: str, stemmer: str = "english") -> tuple[str, ...]:
    if is_unspaced(word):
        return tuple(_unspaced_tokens(word, stemmer, singles=False))
    if not word.strip("_"):
        return ()
    whole, parts = whole_and_parts(word, stemmer)
    found = tuple(token for token in (whole, *parts) if token.strip())
    return tuple(token for token in found if token not in STOP_WORDS) or found


def whole_and_parts(word: str, stemmer: str = "english") -> tuple[str, list[str]]:
    """Return the token of a word, and the tokens of its parts if it is an identifier."""
    if _THOUSANDS.match(word):
        word = word.replace(",", "")
    folded = fold(word)
    if folded.endswith("'s"):
        word, folded = word[:-2], folded[:-2]
    patterns = _patterns(word)
    is_plain = patterns.plain.match(folded)
    if is_plain and not _CAMEL.search(word):
        return stem(word, stemmer), []
    parts = [part for run in patterns.split.split(word) for part in _CAMEL.split(run) if part]
    whole = stem(word, stemmer) if is_plain else folded[:MAX_TOKEN_CHARS]
    if parts == [word]:
        return whole, []
    is_option = word.startswith("-")  # a single letter is a word in an option: -v
    return whole, [
        stem(part, stemmer) for part in parts if is_option or len(part) > 1 or part.isdigit()
    ]


def _unspaced_tokens(word: str, stemmer: str, *, singles: bool) -> list[str]:
    """Return pairs of adjacent characters; the index has single ones too, so that one can be found."""
    return [
        token
        for characters, pairs in unspaced_runs(word, stemmer)
        for token in (*(characters if singles else ""), *pairs)
    ]


def unspaced_runs(word: str, stemmer: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each run of a word as its characters and as the tokens that are adjacent in the index."""
    end = 0
    for run in re.finditer(_UNSPACED, word):
        if run.start() > end:
            yield "", list(make_tokens(word[end : run.start()], stemmer))
        characters = unicodedata.normalize("NFKC", run.group())
        if len(characters) == 1:
            yield "", [characters]
        else:
            yield characters, [characters[at : at + 2] for at in range(len(characters) - 1)]
        end = run.end()
    if end < len(word):
        yield "", list(make_tokens(word[end:], stemmer))


def split_by_script(word: str) -> list[str]:
    return [part for part in re.split(f"({_UNSPACED})", word) if part]


def stemmer_for(language: str) -> str:
    """Return the Snowball stemmer of Latin words in a text of this language; "" means no stemming."""
    known = STEMMERS.get(language)
    if known:
        return known
    # In a language of another script, Latin words are mostly English.
    return "" if language in _LATIN_WITHOUT_STEMMER else "english"


def stem(word: str, stemmer: str = "english") -> str:
    """Return the folded stem of a word; a word in another script is stemmed as that script is."""
    return _stem(word[:MAX_TOKEN_CHARS], stemmer)


@lru_cache(maxsize=MAX_CACHED_WORDS)
def _stem(word: str, stemmer: str) -> str:
    folded = fold(word)
    algorithm = _algorithm(folded[:1] or " ", stemmer)
    if not folded or folded.isdigit() or not algorithm:
        return folded
    if algorithm == "english" or algorithm in _NOT_LATIN - {"serbian"}:
        stemmed = _stemmer(algorithm).stemWord(folded)
    else:  # the stemmers of other languages need the accents
        accented = unicodedata.normalize("NFC", word).lower()
        stemmed = fold(_stemmer(algorithm).stemWord(accented))
    return stemmed or folded


def _algorithm(letter: str, stemmer: str) -> str:
    """Return the Snowball algorithm for a word, by its first letter and the stemmer of its text."""
    for low, high, usual, others in () if letter.isascii() else _SCRIPTS:
        if low <= ord(letter[0]) <= high:
            return stemmer if stemmer in others else usual
    return "english" if stemmer in _NOT_LATIN and stemmer != "serbian" else stemmer


@lru_cache(maxsize=40)
def _stemmer(algorithm: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(algorithm)


def splice(text: str, places: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with other text at these places, given in order as start, stop and text."""
    parts: list[str] = []
    end = 0
    for start, stop, other in places:
        parts += (text[end:start], other)
        end = stop
    return "".join((*parts, text[end:]))


def is_valid_unicode(text: str) -> bool:
    """True when a text can be written as UTF-8: it has no half of a surrogate pair."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def valid_unicode(text: str) -> str:
    """Return a text with each half of a surrogate pair replaced by `?`."""
    return text if is_valid_unicode(text) else text.encode("utf-8", "replace").decode("utf-8")
