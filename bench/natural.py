"""A corpus of up to millions: words as frequent as in natural text, clustered vectors, in parts on disk.

Nothing is downloaded and no evaluation data is read. Words follow Zipf's law in Mandelbrot's form over a
vocabulary that has no end in practice, so a few words are in most memories and most words in one: that is
what makes keyword search cost what it costs. `bench.corpus` draws its words more evenly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.corpus import COMMON_WORDS, DIMS, QUESTIONS, STOP_WORDS, Vectors, unit

PART = 10_000
QUERIES = 50
NEAREST = 10
_SEED = 25
_VOCABULARY = 3_000_000
# English: the commonest word is one in twenty, half of all words are not stop words.
_EXPONENT, _OFFSET = 1.12, 2.7
_OF_TOPIC = 0.25
_TOPIC_WORDS = 40
_TOPIC_FROM, _TOPIC_TO = 200, 50_000
_PER_TOPIC = 150
_ONSETS = "b c d f g h k l m n p r s t v w br ch cl dr fl gr pl pr sh st th tr".split()
_NUCLEI = "a e i o u ai ea io ou".split()
# Questions are made of them, so they are among the commonest words that are searched.
_COMMONEST = [*STOP_WORDS, *COMMON_WORDS]
_SYLLABLES = [onset + nucleus for onset in _ONSETS for nucleus in _NUCLEI]
_STRIDE = 1_999_993  # prime, so that words of neighbouring ranks do not look alike


class Part(NamedTuple):
    """Some memories of a corpus; `first` is the number of the first."""

    first: int
    texts: list[str]
    vectors: Vectors


class Questions(NamedTuple):
    """Questions, a vector for each, and the numbers of the memories that are exactly nearest."""

    texts: list[str]
    vectors: Vectors
    nearest: list[list[int]]


class Natural:
    """A corpus of one size in a folder. A part is written once, so that a killed run goes on."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder = folder
        self.size = size

    def make(self) -> None:
        """Write what is not there yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draw = _Draw(self.size)
        for number in range(self._parts()):
            if not self._texts(number).exists():
                texts, vectors = draw.part(number, min(PART, self.size - number * PART))
                np.save(self._vectors(number), vectors)
                _write(self._texts(number), texts)
        if not (self.folder / "questions.json").exists():
            self._make_questions(draw)

    def parts(self, first: int = 0) -> Iterator[Part]:
        """Yield the memories from the part on that contains number `first`."""
        for number in range(first // PART, self._parts()):
            texts = json.loads(self._texts(number).read_text("utf-8"))
            yield Part(number * PART, texts, np.load(self._vectors(number)))

    def questions(self) -> Questions:
        """Return the questions."""
        texts, nearest = json.loads((self.folder / "questions.json").read_text("utf-8"))
        return Questions(texts, np.load(self.folder / "questions.npy"), nearest)

    def raw_bytes(self) -> int:
        """Return the bytes of all texts and float32 vectors, without any index."""
        texts = sum(len(text.encode()) for part in self.parts() for text in part.texts)
        return texts + self.size * DIMS * 4

    def _make_questions(self, draw: _Draw) -> None:
        rng = np.random.default_rng((_SEED, self.size, 1))
        rows = np.sort(rng.choice(self.size, QUERIES, replace=False))
        texts: list[str] = []
        targets: list[Vectors] = []
        for part in self.parts():
            for row in rows[(rows >= part.first) & (rows < part.first + len(part.texts))]:
                at = int(row) - part.first
                texts.append(_question(rng, part.texts[at], len(texts)))
                targets.append(part.vectors[at])
        wobble = unit(rng.standard_normal((QUERIES, DIMS), dtype=np.float32))
        vectors = unit(0.8 * np.array(targets) + 0.6 * wobble)
        np.save(self.folder / "questions.npy", vectors)
        _write(self.folder / "questions.json", [texts, self._nearest(vectors)])

    def _nearest(self, asked: Vectors) -> list[list[int]]:
        """Compare every vector in float32."""
        scores: NDArray[Any] = np.empty((len(asked), 0), np.float32)
        rows: NDArray[Any] = np.empty((len(asked), 0), np.int64)
        for part in self.parts():
            numbers = np.arange(part.first, part.first + len(part.texts))
            rows = np.hstack([rows, np.broadcast_to(numbers, (len(asked), len(numbers)))])
            scores = np.hstack([scores, asked @ part.vectors.T])
            best = np.argsort(-scores, axis=1, kind="stable")[:, :NEAREST]
            rows, scores = (np.take_along_axis(one, best, axis=1) for one in (rows, scores))
        found: list[list[int]] = rows.tolist()
        return found

    def _parts(self) -> int:
        return -(-self.size // PART)

    def _texts(self, number: int) -> Path:
        return self.folder / f"texts-{number:04}.json"

    def _vectors(self, number: int) -> Path:
        return self.folder / f"vectors-{number:04}.npy"


class _Draw:
    """Draws the parts of one corpus; the same part is the same in every process."""

    def __init__(self, size: int) -> None:
        rng = np.random.default_rng((_SEED, size))
        topics = max(64, size // _PER_TOPIC)
        weights = 1.0 / (np.arange(_VOCABULARY) + _OFFSET) ** _EXPONENT
        self._reach = np.cumsum(weights) / weights.sum()
        low, high = self._reach[_TOPIC_FROM], self._reach[_TOPIC_TO]
        self._topical = self._ranks(rng.uniform(low, high, (topics, _TOPIC_WORDS)))
        self._centres = unit(rng.standard_normal((topics, DIMS), dtype=np.float32))
        # Sentence embeddings share a direction, so unrelated texts have a small positive cosine.
        self._common = unit(rng.standard_normal((1, DIMS), dtype=np.float32))
        self._size = size

    def part(self, number: int, count: int) -> tuple[list[str], Vectors]:
        rng = np.random.default_rng((_SEED, self._size, 2, number))
        topics = rng.integers(0, len(self._centres), count)
        lengths = rng.integers(12, 49, count)
        tokens = int(lengths.sum())
        drawn = self._ranks(rng.random(tokens))
        own = self._topical[np.repeat(topics, lengths), rng.integers(0, _TOPIC_WORDS, tokens)]
        ranks = np.where(rng.random(tokens) < _OF_TOPIC, own, drawn)
        words = [_word(rank) for rank in ranks.tolist()]
        texts: list[str] = []
        start = 0
        for at, length in enumerate(lengths.tolist()):
            # The number makes each text another one: equal ones would be one memory in scrubjay alone.
            text = " ".join(words[start : start + length])
            texts.append(f"{text[0].upper()}{text[1:]} {number * PART + at}.")
            start += length
        noise = unit(rng.standard_normal((count, DIMS), dtype=np.float32))
        return texts, unit(0.35 * self._common + 0.75 * self._centres[topics] + 0.65 * noise)

    def _ranks(self, drawn: NDArray[Any]) -> NDArray[np.int64]:
        return np.searchsorted(self._reach, drawn).astype(np.int64)


def _word(rank: int) -> str:
    """Return the word of a rank: a common one, or syllables, of which rarer words have more."""
    if rank < len(_COMMONEST):
        return _COMMONEST[rank]
    base = len(_SYLLABLES)
    width = 2 if rank < base**2 else 3
    left = (rank * _STRIDE) % base**width
    word = ""
    for _ in range(width):
        left, at = divmod(left, base)
        word += _SYLLABLES[at]
    return word


def _question(rng: np.random.Generator, text: str, number: int) -> str:
    """Ask about a memory: two to four of its content words, common or rare as they are."""
    content = [word for word in text.rstrip(".").split()[:-1] if word.lower() not in STOP_WORDS]
    form = QUESTIONS[number % len(QUESTIONS)]
    holes = form.count("{}")
    chosen = rng.choice(content or ["nothing"], holes, replace=len(content) < holes)
    return form.format(*(str(word) for word in chosen))


def _write(path: Path, value: object) -> None:
    """Write a file that is whole or not there."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(value), "utf-8")
    draft.replace(path)
