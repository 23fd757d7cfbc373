"""A made-up corpus: short memories, questions about them, and vectors for both, from one seed.

Nothing is downloaded and no evaluation data is read: speed depends on the shape of the text (a
Zipf vocabulary, stop words, names, identifiers) and of the vectors (clusters on the unit sphere),
and both are imitated here. Quality is measured elsewhere, on real text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIMS = 384
QUERIES = 50
CONTENT_WORDS = 20_000
COMMONEST = 300
WORDS_OF_A_TOPIC = 40

Vectors = NDArray[np.float32]
Rng = np.random.Generator


def _words(line: str) -> list[str]:
    return line.split()


STOP_WORDS = _words(
    "the of and to a in is that for it was on are as with be at this have from or by not but we "
    "they she he you his her which will an were been their has would what there can all if when "
    "so no my out up about who into them then some could our after only also did"
)
QUESTIONS = (
    "what did we say about {} and {} for the {}?",
    "who decided that {} should be used with {}?",
    "when was the {} of {} changed?",
    "how do I set up {} so that {} works?",
    "which {} does {} prefer for {} and {}?",
    "where is the note about {} in {} {}",
    "why did {} fail after {} was updated",
    "{} {}",
)
# What questions are made of besides stop words and names: among the commonest words of any text.
COMMON_WORDS = _words(
    "use say decide note set work change update prefer fail used changed updated"
)
_ONSETS = _words("b c d f g h k l m n p r s t v w br ch cl dr fl gr pl pr sh st th tr")
_NUCLEI = _words("a e i o u ai ea io ou")
_CODAS = ["", "", "", "n", "r", "s", "t", "l", "m", "nd", "st"]
_SUFFIXES = ["", "", "", "ing", "ed", "s", "er", "tion", "ly"]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Memories and questions with one unit vector each; row i of `vectors` is text i.

    Texts with the same number in `topics` share words, and their vectors lie in one cluster.
    """

    texts: list[str]
    vectors: Vectors
    queries: list[str]
    query_vectors: Vectors
    topics: NDArray[np.int64]

    @property
    def raw_bytes(self) -> int:
        """What the bare data weighs: UTF-8 text and float32 vectors, with no index at all."""
        return sum(len(text.encode()) for text in self.texts) + self.vectors.nbytes

    def save(self, folder: Path) -> None:
        """Write the corpus to a folder, so that another process can read it."""
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "vectors.npy", self.vectors)
        np.save(folder / "query_vectors.npy", self.query_vectors)
        np.save(folder / "topics.npy", self.topics)
        words = json.dumps({"texts": self.texts, "queries": self.queries})
        (folder / "words.json").write_text(words, encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Corpus:
        """Read a corpus that `save` wrote."""
        words: dict[str, Any] = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        return cls(
            words["texts"],
            np.load(folder / "vectors.npy"),
            words["queries"],
            np.load(folder / "query_vectors.npy"),
            np.load(folder / "topics.npy"),
        )


def generate(size: int, seed: int = 20) -> Corpus:
    """Make `size` memories and fifty questions; the same arguments give the same bytes."""
    rng = np.random.default_rng(seed)
    words = _vocabulary(rng)
    topics = max(8, size // 150)
    topic_of = rng.integers(0, topics, size)
    topic_words = zipf(rng, len(words), (topics, WORDS_OF_A_TOPIC), 500.0)
    texts = _texts(rng, words, topic_words[topic_of])
    centres = unit(rng.standard_normal((topics, DIMS), dtype=np.float32))
    # Sentence embeddings share a direction, so unrelated texts have a small positive cosine.
    common = unit(rng.standard_normal((1, DIMS), dtype=np.float32))
    noise = unit(rng.standard_normal((size, DIMS), dtype=np.float32))
    vectors = unit(0.35 * common + 0.75 * centres[topic_of] + 0.65 * noise)
    asked = rng.choice(size, QUERIES, replace=size < QUERIES)
    queries = [_question(rng, texts[row], number) for number, row in enumerate(asked)]
    wobble = unit(rng.standard_normal((QUERIES, DIMS), dtype=np.float32))
    query_vectors = unit(0.8 * vectors[asked] + 0.6 * wobble)
    return Corpus(texts, vectors, queries, query_vectors, topic_of)


def unit(rows: NDArray[Any]) -> Vectors:
    """Scale each row to length one."""
    scaled = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(scaled, dtype=np.float32)


def zipf(
    rng: Rng, words: int, shape: tuple[int, ...], offset: float, exponent: float = 1.0
) -> NDArray[np.int64]:
    """Draw word numbers by Zipf's law in Mandelbrot's form: rank r as 1 / (r + offset)."""
    weights = 1.0 / (np.arange(words) + offset) ** exponent
    drawn = np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(shape))
    return np.minimum(drawn, words - 1).astype(np.int64)


def _vocabulary(rng: Rng) -> list[str]:
    """Content words by falling frequency; past the commonest, some are names or identifiers."""
    seen = dict.fromkeys(COMMON_WORDS)
    while len(seen) < CONTENT_WORDS:
        word = "".join(syllable(rng) for _ in range(int(rng.integers(1, 4))))
        word += _pick(rng, _SUFFIXES)
        kind = len(seen) % 18 if len(seen) > COMMONEST else 0
        if kind in (4, 13):
            word = word.capitalize()
        elif kind == 8:
            word = _identifier(rng, word)
        if len(word) > 2 and word not in STOP_WORDS:
            seen.setdefault(word)
    return list(seen)


def _pick(rng: Rng, parts: Sequence[str]) -> str:
    return parts[int(rng.integers(len(parts)))]


def syllable(rng: Rng) -> str:
    return _pick(rng, _ONSETS) + _pick(rng, _NUCLEI) + _pick(rng, _CODAS)


def _identifier(rng: Rng, word: str) -> str:
    """Dress a word as something from code or a ticket."""
    number = int(rng.integers(1, 5000))
    forms = (f"{word}_id", f"{word.upper()}-{number}", f"{word}.py", f"get_{word}", f"v{number}")
    return forms[number % len(forms)]


def _question(rng: Rng, text: str, number: int) -> str:
    """Ask about a memory: two to four of its content words, among stop words."""
    content = [word for word in text.rstrip(".").split() if word.lower() not in STOP_WORDS]
    form = QUESTIONS[number % len(QUESTIONS)]
    holes = form.count("{}")
    chosen = rng.choice(content or ["nothing"], holes, replace=len(content) < holes)
    return form.format(*(str(word) for word in chosen))


def _texts(rng: Rng, words: list[str], topical: NDArray[np.int64]) -> list[str]:
    """Write one memory a row of `topical`: nearly half stop words, the rest half of its topic."""
    lengths = rng.integers(10, 41, len(topical))
    tokens = int(lengths.sum())
    # One flat draw for all tokens: drawing text by text would take longer than the benchmark.
    table = np.array([*STOP_WORDS, *words], dtype=object)
    stops = zipf(rng, len(STOP_WORDS), (tokens,), 5.0)
    general = len(STOP_WORDS) + zipf(rng, len(words), (tokens,), 30.0)
    column = rng.integers(0, WORDS_OF_A_TOPIC, tokens)
    own = len(STOP_WORDS) + topical[np.repeat(np.arange(len(topical)), lengths), column]
    kinds = rng.random(tokens)
    drawn = table[np.where(kinds < 0.45, stops, np.where(kinds < 0.72, own, general))].tolist()
    seen: set[str] = set()
    texts: list[str] = []
    start = 0
    for length in lengths.tolist():
        text = " ".join(drawn[start : start + length])
        start += length
        # The same text twice would be folded into one memory by scrubjay and by nobody else.
        while text.casefold() in seen:
            text += f" {int(rng.integers(10_000))}"
        seen.add(text.casefold())
        texts.append(f"{text[0].upper()}{text[1:]}.")
    return texts
