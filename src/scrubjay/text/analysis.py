"""Words out of text, the same way for what is stored and for what is asked.

A plain word becomes its Snowball stem in the language of its text. An identifier (`snake_case`,
`camelCase`, `foo.bar`, `v1.2.3`, `C++`, `--force`) becomes itself and its parts, so that it is found
whole and by part. Scripts that do not put spaces between words become overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from scrubjay.text.languages import STEMMERS

# Stored beside the index: a store indexed by another version of these rules is indexed again.
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
    # A word may begin with the dashes of an option, -rf or --force, and may go on through these marks
    # when more of it follows: pre-edit, foo.bar, a/b, don't, user@host.
    option = rf"(?<![{letters}-])--?(?=[^\W\d_])"
    return rf"(?:{option})?[{letters}]+(?:[.\-'’/:@&+#][{letters}]+|(?<=\d),(?=\d)\w+)*(?:\+\+|#)?{more}"


class _Patterns(NamedTuple):
    word: re.Pattern[str]
    split: re.Pattern[str]
    plain: re.Pattern[str]


_ASCII = _Patterns(
    *(re.compile(one, re.ASCII) for one in (_word(r"\w"), r"\W+|_+", r"[^\W\d_][^\W_]*$"))
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


def is_unspaced(word: str) -> bool:
    """True when a word has characters of a script that puts no spaces between words."""
    return not word.isascii() and re.search(_UNSPACED, word) is not None


# The Snowball stemmer of a word by the script of its first letter, and others of that script.
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
LONGEST_TOKEN_CHARS = 128
MOST_KNOWN_WORDS = 32768

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
    return " ".join(unicodedata.normalize("NFC", text).split())


def label(text: str) -> str:
    """Return the form under which two labels, such as topics or domains, count as the same: no case."""
    return normalise(text).casefold()


def bare(text: str) -> str:
    """Return the form under which two texts say the same: no case, spaces folded, no marks at the ends.

    A text of marks alone keeps them: `?` is not `!`.
    """
    said = label(text)
    begin, end = 0, len(said)
    while begin < end and _is_mark(said[begin]):
        begin += 1
    while end > begin and _is_mark(said[end - 1]):
        end -= 1
    return said[begin:end] or said


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PZ"


def fold(word: str) -> str:
    """Lower-case a word and drop the accents of Latin and Greek letters."""
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word).casefold()
    bare = re.sub(_POINTS, "", re.sub(_LATIN_OR_GREEK_MARKS, "", apart))
    return unicodedata.normalize("NFC", bare).replace("’", "'")


def tokens(text: str, language: str = "") -> list[str]:
    """Return the index tokens of a text in a language, in order."""
    stems = stemming(language)
    return [token for word in words(text) for token in tokens_of(word, stems)]


def words(text: str) -> list[str]:
    """Return the words of a text as written, identifiers whole."""
    return word_pattern(text).findall(text)


def word_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern that finds the words of a text."""
    return _patterns(text).word


def terms(
    query: str, language: str = "", stop_words: frozenset[str] = STOP_WORDS
) -> tuple[str, ...]:
    """Return the distinct tokens to search for: no stop words, unless there is nothing else."""
    stems = stemming(language)
    return tuple(
        dict.fromkeys(
            token for word in telling(words(query), stop_words) for token in asked(word, stems)
        )
    )


def has_terms(query: str) -> bool:
    """True when there is a token to search for; the first says it, however many follow."""
    return any(asked(word) for word in telling(words(query)))


def telling(of: list[str], stop_words: frozenset[str] = STOP_WORDS) -> list[str]:
    """Return words without stop words, or all of them if there is nothing else."""
    return [word for word in of if fold(word) not in stop_words] or of


@lru_cache(maxsize=MOST_KNOWN_WORDS)
def tokens_of(word: str, stems: str = "english") -> tuple[str, ...]:
    """Return every token under which a word can be found."""
    return made_tokens(word, stems)


def made_tokens(word: str, stems: str) -> tuple[str, ...]:
    """Return the same without keeping it: indexing meets more words than are worth it."""
    if is_unspaced(word):
        return tuple(_unspaced(word, stems, singles=True))
    if not word.strip("_"):
        return ()
    whole, parts = whole_and_parts(word, stems)
    # So that `-edit` in a query can spare what holds it literally: pre-edit, --edit.
    tails = [f"-{fold(run)}" for run in _TAIL.findall(word[1:])] if "-" in word[1:] else []
    return tuple(token for token in (whole, *tails, *parts) if token.strip())


@lru_cache(maxsize=4096)
def asked(word: str, stems: str = "english") -> tuple[str, ...]:
    """Return the tokens to look for when a query holds this word."""
    if is_unspaced(word):
        return tuple(_unspaced(word, stems, singles=False))
    if not word.strip("_"):
        return ()
    whole, parts = whole_and_parts(word, stems)
    found = tuple(token for token in (whole, *parts) if token.strip())
    return tuple(token for token in found if token not in STOP_WORDS) or found


def whole_and_parts(word: str, stems: str = "english") -> tuple[str, list[str]]:
    """Return the token of a word, and those of its parts where it is an identifier."""
    if _THOUSANDS.match(word):
        word = word.replace(",", "")
    folded = fold(word)
    if folded.endswith("'s"):
        word, folded = word[:-2], folded[:-2]
    shapes = _patterns(word)
    if shapes.plain.match(folded) and not _CAMEL.search(word):
        return stem(word, stems), []
    pieces = [piece for run in shapes.split.split(word) for piece in _CAMEL.split(run) if piece]
    whole = stem(word, stems) if shapes.plain.match(folded) else folded[:LONGEST_TOKEN_CHARS]
    if pieces == [word]:
        return whole, []
    option = word.startswith("-")  # its one letter is a word of its own: -v
    return whole, [stem(one, stems) for one in pieces if option or len(one) > 1 or one.isdigit()]


def _unspaced(word: str, stems: str, *, singles: bool) -> list[str]:
    """Pairs of neighbouring characters; single ones too in the index, so that one character is findable."""
    found: list[str] = []
    for characters, pairs in unspaced_runs(word, stems):
        found.extend(characters if singles else ())
        found.extend(pairs)
    return found


def unspaced_runs(word: str, stems: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each stretch of a word as characters and as the tokens that are neighbours in the index."""
    end = 0
    for run in re.finditer(_UNSPACED, word):
        if run.start() > end:
            yield "", list(made_tokens(word[end : run.start()], stems))
        characters = unicodedata.normalize("NFKC", run.group())
        if len(characters) == 1:
            yield "", [characters]
        else:
            yield characters, [characters[at : at + 2] for at in range(len(characters) - 1)]
        end = run.end()
    if end < len(word):
        yield "", list(made_tokens(word[end:], stems))


def stretches(word: str) -> list[str]:
    """Return a word cut where a script that puts no spaces between words begins or ends."""
    return [one for one in re.split(f"({_UNSPACED})", word) if one]


def stemming(language: str) -> str:
    """Return how Latin words in a text of some language are stemmed; "" means not at all."""
    known = STEMMERS.get(language)
    if known:
        return known
    # In a language of another script, Latin words are mostly English.
    return "" if language in _LATIN_WITHOUT_STEMMER else "english"


def stem(word: str, stems: str = "english") -> str:
    """Return the folded stem of a word; a word in another script is stemmed as that script is."""
    return _stem(word[:LONGEST_TOKEN_CHARS], stems)


@lru_cache(maxsize=MOST_KNOWN_WORDS)
def _stem(word: str, stems: str) -> str:
    bare = fold(word)
    algorithm = _algorithm(bare[:1] or " ", stems)
    if not bare or bare.isdigit() or not algorithm:
        return bare
    if algorithm == "english" or algorithm in _NOT_LATIN - {"serbian"}:
        stemmed = _stemmer(algorithm).stemWord(bare)
    else:  # the endings of other languages are told by their accents
        accented = unicodedata.normalize("NFC", word).lower()
        stemmed = fold(_stemmer(algorithm).stemWord(accented))
    return stemmed or bare


def _algorithm(first: str, stems: str) -> str:
    """Return the Snowball algorithm for a word, from its first letter and the language of its text."""
    for low, high, usual, others in _SCRIPTS:
        if low <= ord(first[0]) <= high:
            return stems if stems in others else usual
    return "english" if stems in _NOT_LATIN and stems != "serbian" else stems


@lru_cache(maxsize=40)
def _stemmer(algorithm: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(algorithm)


def storable(text: str) -> bool:
    """True when a text is valid Unicode: half a surrogate pair cannot be written as UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def readable(text: str) -> str:
    """Return a text with halves of surrogate pairs replaced, so that any string can be asked for."""
    return text if storable(text) else text.encode("utf-8", "replace").decode("utf-8")
