"""Language detection, so that the words of a text are stemmed by the right rules.

The script decides where it can. Where languages share a script, function words and letters are counted,
and the best language must lead the second clearly: a wrong answer means wrong stems, and so lost
documents, whereas "" (unsure) only means stemming in every language of the store.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from unicodedata import normalize

# ISO 639-1 to Snowball. The Serbian stemmer began as a Croatian one and handles both standards.
STEMMERS: Mapping[str, str] = MappingProxyType(
    dict(
        pair.split(":")
        for pair in """ar:arabic bs:serbian ca:catalan cs:czech da:danish de:german el:greek
        en:english eo:esperanto es:spanish et:estonian eu:basque fa:persian fi:finnish fr:french
        ga:irish hi:hindi hr:serbian hu:hungarian hy:armenian id:indonesian it:italian
        lt:lithuanian nb:norwegian ne:nepali nl:dutch nn:norwegian no:norwegian pl:polish
        pt:portuguese ro:romanian ru:russian sr:serbian st:sesotho sv:swedish ta:tamil tr:turkish
        yi:yiddish""".split()
    )
)

_SAMPLE_CHARS = 4_000
_READ_CHARS = 3 * _SAMPLE_CHARS  # room for code blocks, which are removed from the sample

# The first code point of each script, in order; a language code where the script decides.
_BLOCKS = (
    (0x00AA, "latin"), (0x0250, ""), (0x0370, "el"), (0x0400, "cyrillic"), (0x0530, "hy"),
    (0x0590, "hebrew"), (0x0600, "arabic"), (0x0700, ""), (0x0750, "arabic"), (0x0780, ""),
    (0x08A0, "arabic"), (0x0900, "devanagari"), (0x0980, "bn"), (0x0A00, "pa"), (0x0A80, "gu"),
    (0x0B00, "or"), (0x0B80, "ta"), (0x0C00, "te"), (0x0C80, "kn"), (0x0D00, "ml"),
    (0x0D80, "si"), (0x0E00, "th"), (0x0E80, "lo"), (0x0F00, "bo"), (0x1000, "my"),
    (0x10A0, "ka"), (0x1100, "ko"), (0x1200, "am"), (0x13A0, ""), (0x1780, "km"), (0x1800, ""),
    (0x1E00, "latin"), (0x1F00, "el"), (0x2000, ""), (0x3041, "kana"), (0x3100, ""),
    (0x3131, "ko"), (0x3190, ""), (0x3400, "han"), (0xA000, ""), (0xAC00, "ko"), (0xD7B0, ""),
    (0xF900, "han"), (0xFB00, ""), (0xFB1D, "hebrew"), (0xFB50, "arabic"), (0xFE00, ""),
    (0xFE70, "arabic"), (0xFF00, ""), (0xFF66, "kana"), (0xFF9E, ""), (0x20000, "han"), (0x40000, ""),
)  # fmt: skip
_STARTS = [start for start, _ in _BLOCKS]
_SHARED = {
    "cyrillic": "ru uk be bg sr mk kk ky mn tg tt",
    "arabic": "ar fa ur ps ug ku",
    "devanagari": "hi mr ne",
    "hebrew": "he yi",
}

# Code in fences and backticks, tags, URLs. Compiled and cached by `re` when first needed.
_NOT_PROSE = (
    r"(?s)```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|</?[a-zA-Z!][^<>]{0,200}>|\b[a-z]+://\S+"
)
_STATEMENT = r"(?m)^(?:[^\S\n]*[\w.\[\]\"']+\s?[:+*-]?=.*|.{0,160}(?:[;{}]|\)\s?:))[^\S\n]*$"
_EDGES = ".,;:!?\"'’‘“”„«»‹›()[]{}<>*_¿¡…-–—،؛؟۔।॥·|#/\\"
_IN_CODE = frozenset("0123456789_./\\:@=+*#$%&<>|{}()[]~^")
_JOINTS = "'’ʼ‘-"

# Evidence is counted in words that only one language has. A text needs this much, and this share per word
# (less in a long text, which has more rare words); the best language must lead the second by this much, and
# by this share of its own evidence.
_LEAST, _LEAST_SHARE = 1.1, 0.25
_LEAST_LEAD, _LEAST_LEAD_SHARE = 0.5, 0.15
_OTHER_SCRIPTS = 0.6  # needs less evidence: few names and loan words come in another script
_ENDING = 0.35
_ONE_LETTER = 0.6
_FOREIGN = 0.6  # counted against a language for a letter that it does not have

_MAX_CACHED, _MAX_CACHED_CHARS = 32_768, 64

_Owners = dict[str, tuple[str, ...]]


def detect(text: str, among: Collection[str] | None = None) -> str:
    """Return the ISO 639-1 code of a text's language, or "" when unsure.

    With `among`, only these can be the answer: for a query, the languages of the store. Norwegian is "no"
    in both its forms. Code, URLs and identifiers do not count.
    """
    sample = _prose(text[:_READ_CHARS])[:_SAMPLE_CHARS]
    if sample.isascii():
        return _by_words(_words(sample), "latin", among)
    sample = normalize("NFC", sample)
    script, share = _script(sample)
    if script != "latin" and share < 0.5:
        # Half and half: Latin words beside another script are often only names.
        latin = _by_words(_words(sample), "latin", among)
        return "" if latin and share > 0.25 else latin or _by_script(sample, script, among)
    return _by_script(sample, script, among)


def stop_words(code: str) -> frozenset[str]:
    """Return the function words of a language, lower case with accents; none for English (STOP_WORDS)."""
    if code == "en":
        return frozenset()
    words = word_lists().get("no" if code in ("nb", "nn") else code, "").partition("|")[0].split()
    # Without those that end in an apostrophe: C' is not a word, C is a language.
    return frozenset(word for word in words if not word.endswith("'"))


def _prose(text: str) -> str:
    if "`" in text or "://" in text or "<" in text or "~~~" in text:
        return re.sub(_NOT_PROSE, " ", text)
    return text


def _words(text: str) -> list[str]:
    """Return the words of a text as written, without statements and identifiers; l'homme is two."""
    if ";" in text or "}" in text or "{" in text or "=" in text or "):" in text:
        text = re.sub(_STATEMENT, " ", text)
    found: list[str] = []
    for chunk in text.split():
        word = chunk.strip(_EDGES)
        if word.isalpha():
            # Not camelCase. Nearly every word is decided by the first question.
            if word.islower() or word[1:].islower() or word.isupper() or word == word.lower():
                found.append(word)
        elif _IN_CODE.isdisjoint(word):
            for joint in _JOINTS:
                word = word.replace(joint, " ")
            found.extend(word.split())
    return found


def _script(text: str) -> tuple[str, float]:
    """Return the script other than Latin with the most letters, and its share; or Latin."""
    from bisect import bisect

    counts: dict[str, float] = {"latin": 0.0}
    for letter in set(text):
        if letter.isalpha():
            at = ord(letter)
            name = "latin" if at < 0x250 else _BLOCKS[bisect(_STARTS, at) - 1][1]
            # A Han character carries as much as half a word of letters.
            weight = 2.5 if name == "han" else 1.0
            counts[name] = counts.get(name, 0.0) + weight * text.count(letter)
    counts.pop("", None)
    if kana := counts.pop("kana", 0.0):
        han = counts.pop("han", 0.0)
        counts["ja" if kana >= 0.04 * han else "han"] = kana + han
    if "han" in counts:
        counts["zh"] = counts.pop("han")
    latin, total = counts.pop("latin"), sum(counts.values())
    if not total or total < 0.1 * latin:
        return "latin", 1.0
    return max(counts, key=lambda name: counts[name]), total / (total + latin)


def _by_script(text: str, script: str, among: Collection[str] | None) -> str:
    if script == "latin" or script in _SHARED:
        return _by_words(_words(text), script, among)
    if among is None or script in among:
        return script
    # Japanese can be written without kana, in a question more than in a text.
    return "ja" if script == "zh" and "ja" in among else ""


def _by_words(words: list[str], script: str, among: Collection[str] | None) -> str:
    possible = _codes(script)
    if among is not None:
        possible &= {"no" if code in ("nb", "nn") else code for code in among}
    if script != "latin" and len(possible) == 1:
        return next(iter(possible))
    letters = ""
    if not (text := " ".join(words)).isascii():
        words = [word for word in words if (word[0] < "\u0250") == (script == "latin")]
        text, letters = " ".join(words), _letters(words)
    most = 1 + len(words) // 20  # repeating a word in a short text is no further evidence
    counts = Counter(text.lower().replace("i̇", "i").split())
    amounts = {
        word: 1.0 if count == 1 else min(count, most) ** 0.5 for word, count in counts.items()
    }
    scores = _scores(amounts, letters, possible)
    best, code = max(zip(scores.values(), scores, strict=True), default=(0.0, ""))
    scores.pop(code, None)
    second = max(scores.values(), default=0.0)
    ease = 1.0 if script == "latin" else _OTHER_SCRIPTS
    enough = max(_LEAST * ease, _LEAST_SHARE * sum(amounts.values()) ** 0.8)
    lead = max(_LEAST_LEAD * ease, _LEAST_LEAD_SHARE * best)
    if best >= enough and best - max(second, 0.0) >= lead:
        return code
    # Nearly every text in Hebrew letters is Hebrew; Yiddish needs evidence.
    return "he" if "he" in possible else ""


def _letters(words: list[str]) -> str:
    """Return the letters of all words but names, whose letters only show where a name comes from."""
    plain = [word for word in words if not word[0].isupper()]
    if plain and words[0] != plain[0] == words[1]:
        plain.append(words[0].lower())  # the first word of a sentence is not a name
    return "".join(plain)


def _scores(amounts: dict[str, float], letters: str, possible: frozenset[str]) -> dict[str, float]:
    """Return the evidence for each language: its words, endings and letters, the rarer the more."""
    evidence, alphabet = _tables(possible)
    scores: dict[str, float] = {}
    for word, amount in amounts.items():
        codes, value, root = evidence[word]
        if codes:
            gain = value * amount / root
            for code in codes:
                scores[code] = scores.get(code, 0.0) + gain
    for letter in alphabet.keys() & set(letters):
        owners, amount = alphabet[letter], letters.count(letter) ** 0.7
        for code in possible:
            change = amount / len(owners) if code in owners else -_FOREIGN * amount
            scores[code] = scores.get(code, 0.0) + change
    return scores


@lru_cache(maxsize=1)
def word_lists() -> dict[str, str]:
    path = os.path.join(os.path.dirname(__file__), "function_words.txt")
    with open(path, encoding="utf-8") as file:
        text = "".join(line for line in file if line[0] != "#")
    blocks = (block.partition(":") for block in text.strip().split("\n\n"))
    return {code: lists for code, _, lists in blocks}


@lru_cache(maxsize=8)
def _codes(script: str) -> frozenset[str]:
    if script != "latin":
        return frozenset(_SHARED[script].split())
    others = {code for codes in _SHARED.values() for code in codes.split()}
    # Serbian is written in both scripts.
    return (frozenset(word_lists()) - others - {name for _, name in _BLOCKS}) | {"sr"}


class _Evidence(dict[str, tuple[tuple[str, ...], float, float]]):
    """For each word seen before: its languages, its value, and by what that is divided."""

    def __init__(self, known: _Owners, endings: _Owners) -> None:
        self._known = known
        self._endings = endings

    def __missing__(self, word: str) -> tuple[tuple[str, ...], float, float]:
        codes, value = self._known.get(word, ()), _ONE_LETTER if len(word) == 1 else 1.0
        if not codes and len(word) > 4:
            codes = self._endings.get(word[-4:]) or self._endings.get(word[-3:], ())
            value = _ENDING
        found = (codes, value, len(codes) ** 0.5)
        if len(self) >= _MAX_CACHED:
            self.clear()
        if len(word) <= _MAX_CACHED_CHARS:
            self[word] = found
        return found


@lru_cache(maxsize=16)
def _tables(possible: frozenset[str]) -> tuple[_Evidence, _Owners]:
    """Return what words tell about these languages, and which of them have a letter."""
    lists = word_lists()
    tables: tuple[_Owners, _Owners, _Owners] = ({}, {}, {})
    for code in possible:
        function, common, endings, letters = (*lists[code].split("|"), "", "", "")[:4]
        words = f"{function} {common}".replace("'", " ").split()
        for table, items in zip(tables, (words, endings.split(), letters.strip()), strict=True):
            for item in dict.fromkeys(items):
                table[item] = (*table.get(item, ()), code)
    known, endings_of, alphabet = tables
    return _Evidence(known, endings_of), alphabet
