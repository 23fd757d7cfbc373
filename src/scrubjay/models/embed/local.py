"""Local embedder: all-MiniLM-L6-v2 as an ONNX graph on the CPU, and the windows it reads texts in."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.models.download.pull import MINILM, ModelCard, is_cached, pull
from scrubjay.models.onnx_session import (
    batches,
    default_threads,
    open_session,
    required_packages,
    runtime_errors,
)
from scrubjay.runtime.progress import Progress

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from scrubjay.models import Matrix

_OVERLAP = 24  # tokens that two windows share at most: a sentence on the seam is whole in one
_SURROGATE = re.compile("[\ud800-\udfff]")
_SENTENCE_ENDS = ".!?…。！？؟।"

# How good a place to cut a text is.
_IN_A_WORD, _WORD_END, _LINE_END, _SENTENCE_END, _PARAGRAPH_END = range(5)


class OnnxEmbedder:
    """all-MiniLM-L6-v2 on onnxruntime: the mean of a text's token vectors, scaled to length one.
    Creating one costs nothing: the model is downloaded and loaded at the first text. It may be
    shared between threads. The vector of a text does not depend on the texts beside it."""

    _batch_tokens = 1024
    texts_at_once = 16  # a slow machine should be stoppable within seconds

    def __init__(
        self,
        card: ModelCard = MINILM,
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        # The precision is part of the name: vectors of different precision are never mixed.
        self.name = f"{card.name}/fp32"
        self.languages = card.languages
        self.dims = card.dims
        self.window = card.window
        self.token_dims = card.token_dims or card.dims
        self.card = card
        self._threads = threads or default_threads()
        self._progress = progress
        self._loading = threading.Lock()
        self._loaded: tuple[WindowedTokenizer, Any] | None = None

    def is_here(self) -> bool:
        return self._loaded is not None or is_cached(self.card)

    def fetch(self) -> None:
        """Download the model without loading it; raises Unavailable if it cannot."""
        pull(self.card, progress=self._progress)

    def load(self) -> None:
        """Download and load the model now rather than later; raises Unavailable if it cannot."""
        self._parts()

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return one unit vector a text; this model reads questions and answers alike.
        A text longer than the window is read in windows, and its vector is their average by number
        of tokens; `split` returns them."""
        return self._encode(texts, keep_tokens=False)[0]

    def tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[Matrix]:
        """Return the unit vectors of each text's tokens, without the special ones and padding."""
        return self._encode(texts, keep_tokens=True)[1]

    def embed_with_tokens(
        self, texts: Sequence[str], *, as_query: bool = False
    ) -> tuple[Matrix, list[Matrix]]:
        """Return what `embed` and `tokens` return, from one forward pass."""
        return self._encode(texts, keep_tokens=True)

    @property
    def rotation(self) -> Matrix:
        """The matrix that rotates token vectors so that their first dimensions carry most."""
        import numpy as np

        matrix: Matrix = np.load(Path(__file__).with_name("minilm_rotation.npy"))
        return matrix.astype(np.float32)

    def split(self, text: str) -> list[Window]:
        """Return the windows in which the model reads a text: all of it, in pieces that fit."""
        return self._parts()[0].split(text)

    def fits(self, text: str) -> bool:
        return self.count_tokens(text) <= self._parts()[0].room

    def count_tokens(self, text: str) -> int:
        return self._parts()[0].count(text)

    def _parts(self) -> tuple[WindowedTokenizer, Any]:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = self._open(pull(self.card, progress=self._progress))
        return self._loaded

    def _open(self, folder: Path) -> tuple[WindowedTokenizer, Any]:
        with required_packages(self.name):
            tokenizer = WindowedTokenizer(load_tokenizer(folder / "tokenizer.json"), self.window)
        graph = self._graph()
        return tokenizer, open_session(self.name, graph, threads=self._threads, weights=folder)

    def _graph(self) -> bytes:
        return Path(__file__).with_name("minilm.onnx").read_bytes()

    def _encode(self, texts: Sequence[str], *, keep_tokens: bool) -> tuple[Matrix, list[Matrix]]:
        import numpy as np

        pieces: list[list[int]] = []
        owners: list[int] = []
        for number, text in enumerate(texts):
            pieces += self._parts()[0].pieces(text)
            owners += [number] * (len(pieces) - len(owners))
        pooled = np.zeros((len(pieces), self.dims), np.float32)
        tokens = [pooled[:0]] * len(pieces)
        for index, rows in self._forward(pieces):
            pooled[index] = _unit(rows.mean(axis=0)) * len(rows)
            if keep_tokens:
                tokens[index] = _unit(rows[1:-1])
        # The windows of one text lie side by side: add up the vectors, join the tokens.
        starts = np.searchsorted(owners, range(len(texts) + 1))
        return (
            _unit(np.add.reduceat(pooled, starts[:-1])) if pieces else pooled,
            [np.concatenate(tokens[a:b]) for a, b in itertools.pairwise(starts)],
        )

    def _forward(self, pieces: Sequence[Sequence[int]]) -> Iterator[tuple[int, Matrix]]:
        """Run the model over pieces of similar length together; yield each with its rows, unpadded."""
        import numpy as np

        _, session = self._parts()
        lengths = [len(piece) for piece in pieces]
        for batch in [[0]] if len(lengths) == 1 else batches(lengths, self._batch_tokens):
            longest = max(len(pieces[index]) for index in batch)
            ids = np.zeros((len(batch), longest), np.int64)
            mask = np.zeros((len(batch), longest), np.int32)
            for row, index in enumerate(batch):
                ids[row, : len(pieces[index])] = pieces[index]
                mask[row, : len(pieces[index])] = 1
            try:
                (tokens,) = session.run(None, {"ids": ids, "mask": mask})
            except runtime_errors() as error:
                raise Unavailable(f"onnxruntime failed on {self.name}: {error}") from error
            for row, index in enumerate(batch):
                yield index, tokens[row, : len(pieces[index])]


def _unit(rows: Matrix) -> Matrix:
    """Scale to length one; a row of zeros stays one."""
    import numpy as np

    norm = np.linalg.norm(rows, axis=-1, keepdims=True)
    scaled: Matrix = (rows / np.maximum(norm, 1e-12)).astype(np.float32, copy=False)
    return scaled


class Window(NamedTuple):
    """A stretch of a text, `text[start:end]`, that the model reads in one piece."""

    start: int
    end: int
    tokens: int


class WindowedTokenizer:
    """A tokenizer that cuts texts into windows a model can read."""

    def __init__(self, tokenizer: Tokenizer, window: int) -> None:
        self._tokenizer = tokenizer
        self._first, self._last = tokenizer.encode("").ids
        self.room = window - 2  # without the two special tokens around every text

    def pieces(self, text: str) -> list[list[int]]:
        """Return the token ids of each window of a text, special tokens included."""
        ids, _ = self._encode(text)
        if len(ids) <= self.room:
            return [[self._first, *ids, self._last]]
        windows = (text[window.start : window.end] for window in self.split(text))
        return [[self._first, *self._encode(window)[0], self._last] for window in windows]

    def count(self, text: str) -> int:
        return len(self._encode(text)[0])

    def split(self, text: str) -> list[Window]:
        """Cut a text into windows that fit, at line, sentence or word ends where there are any."""
        ids, spans = self._encode(text)
        if len(ids) <= self.room:
            return [Window(0, len(text), len(ids))]
        windows: list[Window] = []
        begin = 0
        while True:
            end = self._end(text, spans, begin)
            start = spans[begin][0] if windows else 0
            windows.append(Window(start, _limit(text, spans, end), end - begin))
            if end == len(spans):
                return windows
            # The next window starts a little before the last one ended, at the best place there.
            lowest = max(begin + 1, end - _OVERLAP)
            begin = max(range(lowest, end + 1), key=lambda at: (_seam(text, spans, at), -at))

    def _end(self, text: str, spans: Sequence[tuple[int, int]], begin: int) -> int:
        """Return the token before which the window that starts at `begin` ends."""
        limit = min(begin + self.room, len(spans))
        if limit < len(spans):
            # The last of the best places to cut in the second half of the window.
            lowest = begin + self.room // 2
            limit = max(range(lowest, limit + 1), key=lambda at: (_seam(text, spans, at), at))
        # A stretch cut out of the middle of a word can have more tokens than it had there.
        while limit - begin > 1 and self.room < self.count(
            text[spans[begin][0] : _limit(text, spans, limit)]
        ):
            limit -= 1
        return limit

    def _encode(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        # Half of a surrogate pair cannot be encoded; replacing it by one character keeps offsets.
        encoding = self._tokenizer.encode(_SURROGATE.sub("\ufffd", text), add_special_tokens=False)
        return encoding.ids, encoding.offsets


def _limit(text: str, spans: Sequence[tuple[int, int]], end: int) -> int:
    """Return the character before which a window ends; it includes characters without a token."""
    return spans[end][0] if end < len(spans) else len(text)


def _seam(text: str, spans: Sequence[tuple[int, int]], at: int) -> int:
    """Rate the place between token `at` and the one before it as a place to cut."""
    before = spans[at - 1][1]
    gap, last = text[before : spans[at][0]], text[before - 1 : before]
    if gap.count("\n") > 1:
        return _PARAGRAPH_END
    if last and last in _SENTENCE_ENDS and (gap or not last.isascii()):
        return _SENTENCE_END
    if "\n" in gap:
        return _LINE_END
    return _WORD_END if gap else _IN_A_WORD


def load_tokenizer(path: Path) -> Tokenizer:
    """Load a tokenizer that neither truncates nor pads, and reads words of any length.
    WordPiece turns a "word" longer than it accepts (a key, Thai without spaces) into one unknown
    token, which silently drops text; in pieces it is read."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer.from_file(str(path))
    # The file may ask for any length; the windows take care of it.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if isinstance(tokenizer.model, models.WordPiece):
        longest = tokenizer.model.max_input_chars_per_word
        pieces = pre_tokenizers.Split(Regex(f"[\\s\\S]{{1,{longest}}}"), "isolated")
        own = [tokenizer.pre_tokenizer] if tokenizer.pre_tokenizer is not None else []
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*own, pieces])
    return tokenizer
