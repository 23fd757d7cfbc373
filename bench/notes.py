"""Made-up notes as agents write them: about 30 words each, several languages, repeats, dates, topics.

The function words of a language are real, because language detection and stemming look at them; all
other words are made up, and drawn with the frequencies of natural text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.corpus import Rng, syllable, zipf
from scrubjay.text.languages import word_lists

WORDS = 30
_LANGUAGES = ("en", "de", "fr", "es", "ru", "pl")
_ENGLISH = 0.90  # the others share the rest
_REPEATED, _ALIKE = 0.01, 0.05
_DATED, _TAGGED, _ANNOTATED = 0.10, 0.30, 0.20
_VOCABULARY = 30_000  # of one language
_FUNCTION_WORDS = 0.45
_TIMES = (
    "on 12 March {year}",
    "yesterday",
    "in {year}",
    "last week",
    "on {year}-05-17",
    "two days ago",
    "next Monday",
)
_TOPICS = 400


def notes(count: int, seed: int = 44) -> list[dict[str, Any]]:
    """Return notes as `add_many` takes them; the same arguments give the same notes."""
    rng = np.random.default_rng(seed)
    drawn = rng.random(count)
    share = (1 - _ENGLISH) / (len(_LANGUAGES) - 1)
    languages = np.minimum(np.maximum(drawn - _ENGLISH, -share) // share + 1, 5).astype(int)
    texts: dict[int, list[str]] = {}
    for number, language in enumerate(_LANGUAGES):
        rows = np.flatnonzero(languages == number)
        written = _texts(rng, language, len(rows))
        texts.update(zip(rows.tolist(), written, strict=True))
    kinds = rng.random(count)
    made: list[dict[str, Any]] = []
    for row in range(count):
        words = texts[row]
        if row and kinds[row] < _REPEATED:
            made.append(dict(made[int(rng.integers(row))]))
            continue
        if row and kinds[row] < _REPEATED + _ALIKE:
            words = made[int(rng.integers(row))]["text"].split()
            words[int(rng.integers(len(words)))] = texts[row][0]
        if rng.random() < _DATED:
            time = _TIMES[int(rng.integers(len(_TIMES)))]
            words = [*words, time.format(year=int(rng.integers(2019, 2027)))]
        made.append({"text": " ".join(words), **_fields(rng)})
    return made


def _fields(rng: Rng) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if rng.random() < _TAGGED:
        topics = zipf(rng, _TOPICS, (int(rng.integers(1, 4)),), 10.0)
        fields["topics"] = [f"topic {number}" for number in topics.tolist()]
    if rng.random() < _ANNOTATED:
        fields["metadata"] = {"ticket": int(rng.integers(10_000)), "origin": "chat"}
    return fields


def _texts(rng: Rng, language: str, count: int) -> list[list[str]]:
    """Return the words of texts in a language."""
    function = word_lists()[language].split("|")[0].replace("'", "").split()
    table = np.array([*function, *_content_words(rng, language)], dtype=object)
    lengths = rng.integers(WORDS - 10, WORDS + 11, count)
    tokens = int(lengths.sum())
    common = zipf(rng, len(function), (tokens,), 3.0)
    content = len(function) + zipf(rng, _VOCABULARY, (tokens,), 20.0, 1.2)
    words = table[np.where(rng.random(tokens) < _FUNCTION_WORDS, common, content)].tolist()
    ends = np.cumsum(lengths).tolist()
    starts = [0, *ends[:-1]]
    return [_sentence(words[start:end]) for start, end in zip(starts, ends, strict=True)]


def _sentence(words: Sequence[str]) -> list[str]:
    return [words[0].capitalize(), *words[1:-1], f"{words[-1]}."]


_CYRILLIC = str.maketrans("abcdefghijklmnoprstuvwyz", "абцдефгхийклмнопрстувывыз"[:24])


def _content_words(rng: Rng, language: str) -> list[str]:
    """Return made-up words by falling frequency; one in 18 is a name."""
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        syllables = 1 + (len(words) > 500) + int(rng.integers(2))  # the commonest words are short
        word = "".join(syllable(rng) for _ in range(syllables))
        if language == "ru":
            word = word.translate(_CYRILLIC)
        if len(words) % 18 == 4:
            word = word.capitalize()
        if len(word) > 2:
            words.setdefault(word)
    return list(words)
