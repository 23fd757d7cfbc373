"""Pairs of a query and a text: how a cross-encoder's tokenizer makes them, and its graph scores them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.models.embed.windows import WindowedTokenizer, load_tokenizer
from scrubjay.models.onnx_session import (
    as_declared,
    batches,
    depends_on_neighbours,
    open_session,
    runtime_errors,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from scrubjay.models.rerank.cross_encoder import RerankerConfig

    Scores = NDArray[np.float64]

_CHARS_PER_TOKEN = 8  # more than the words of any language have on average: it fills a window
_LONGEST_STEP = 100  # characters within which the start of a word is looked for
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_BATCH_TOKENS = 4096


class Pair(NamedTuple):
    """The input of the model: token ids, and which of the two texts each belongs to."""

    ids: Sequence[int]
    types: Sequence[int]


class PairTokenizer:
    """Pairs a query with each window of a text, by the tokenizer's own template.
    Of a text with more windows than `most_windows`, that many are read, spread evenly over it."""

    def __init__(self, path: Path, window: int, most_windows: int) -> None:
        self._tokenizer = load_tokenizer(path)
        # A text that contains "[SEP]" or "<s>" contains these letters; it does not start a third text.
        self._tokenizer.encode_special_tokens = True
        self._window = window
        self._most_windows = most_windows
        self._room = window - self._tokenizer.num_special_tokens_to_add(is_pair=True)
        if self._room < 2:  # not one token of each
            raise Unavailable(f"a window of {window} tokens has no room for two texts")

    def pairs(self, query: str, texts: Sequence[str]) -> list[list[Pair]]:
        """Return the pairs of each text; a query keeps at most half of the window."""
        query_windows = _Windows(self._tokenizer, self._room // 2)
        query = query_windows.beginning(_readable(query))
        windows = _Windows(self._tokenizer, self._room - query_windows.count(query))
        return [
            [self._pair(query, part) for part in self._parts(windows, _readable(text))]
            for text in texts
        ]

    def _pair(self, query: str, text: str) -> Pair:
        encoding = self._tokenizer.encode(query, text)
        return Pair(encoding.ids[: self._window], encoding.type_ids[: self._window])

    def _parts(self, windows: _Windows, text: str) -> list[str]:
        reach = windows.room * _CHARS_PER_TOKEN
        if len(text) <= reach * self._most_windows:
            found = windows.split(text)
            chosen = (found[at] for at in _evenly(len(found), self._most_windows))
            return [text[window.start : window.end] for window in chosen]
        # A book is not tokenized as a whole for a few windows.
        starts = [
            _word_start(text, at) for at in _evenly(len(text) - reach + 1, self._most_windows)
        ]
        parts = [windows.beginning(text[at : at + reach]) for at in starts]
        if len(parts) > 1:
            parts[-1] = windows.ending(text[starts[-1] :])
        return parts


class _Windows(WindowedTokenizer):
    """Windows of `room` tokens, whatever the model's own window."""

    def __init__(self, tokenizer: Tokenizer, room: int) -> None:
        self._tokenizer = tokenizer
        self.room = room

    def beginning(self, text: str) -> str:
        text = text[: self.room * _LONGEST_STEP]  # the rest could not be in the first window
        return text[: self.split(text)[0].end]

    def ending(self, text: str) -> str:
        return text[self.split(text)[-1].start :]


def _evenly(length: int, most: int) -> list[int]:
    """Return positions of 0..length-1: all of them, or `most`, the first and the last included."""
    if length <= most:
        return list(range(length))
    return [round(step * (length - 1) / max(most - 1, 1)) for step in range(most)]


def _word_start(text: str, at: int) -> int:
    """Return where a word starts at or shortly after a place."""
    blank = text.find(" ", at, at + _LONGEST_STEP)
    return at if at == 0 or blank < 0 else blank + 1


def _readable(text: str) -> str:
    """Replace halves of surrogate pairs, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


class NoCrossEncoder(Unavailable):
    """The graph is that of another kind of model."""


class PairGraph:
    """The graph of a cross-encoder: pairs in, one score in 0..1 a pair out.
    Its output is read as logits: one goes through the logistic function, two through softmax.
    Raises Unavailable where the graph is not that of a cross-encoder."""

    def __init__(self, name: str, path: Path, config: RerankerConfig, *, threads: int) -> None:
        self._name = name
        self._config = config
        self._session = open_session(f"{name} ({path.name})", path, threads=threads)
        self._inputs = {node.name: node.type for node in self._session.get_inputs()}
        self._output = self._output_name()
        alone = depends_on_neighbours(path, self._inputs)
        self._batch_tokens = 0 if alone else _BATCH_TOKENS

    def scores(self, pairs: Sequence[Pair]) -> Scores:
        """Return the score of each pair, running pairs of similar length together."""
        import numpy as np

        scores = np.zeros(len(pairs))
        for batch in batches([len(pair.ids) for pair in pairs], self._batch_tokens):
            inputs = self._inputs_of([pairs[index] for index in batch])
            try:
                (logits,) = self._session.run([self._output], inputs)
            except runtime_errors() as error:
                raise Unavailable(f"onnxruntime failed on {self._name}: {error}") from error
            scores[batch] = self._probabilities(logits, len(batch))
        return scores

    def _output_name(self) -> str:
        if "input_ids" not in self._inputs or not {*self._inputs} <= {*_INPUTS}:
            raise NoCrossEncoder(
                f"{self._name} cannot be used: its graph takes {', '.join(self._inputs)}; "
                f"a cross-encoder takes input_ids and optionally {' and '.join(_INPUTS[1:])}"
            )
        outputs = self._session.get_outputs()
        output = next((node for node in outputs if node.name == "logits"), outputs[0])
        shape = output.shape
        # A length that is not fixed is a string or None; a missing shape is known when it runs.
        if shape and (len(shape) != 2 or (isinstance(shape[1], int) and shape[1] not in (1, 2))):
            raise NoCrossEncoder(self._wrong_shape(shape))
        return str(output.name)

    def _inputs_of(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        """Return the inputs that the graph declares, in their types, padded to the longest pair."""
        import numpy as np

        shape = (len(pairs), max(len(pair.ids) for pair in pairs))
        values = {name: np.zeros(shape, np.int64) for name in _INPUTS}
        values["input_ids"][:] = self._config.pad_id
        for row, pair in enumerate(pairs):
            values["input_ids"][row, : len(pair.ids)] = pair.ids
            values["attention_mask"][row, : len(pair.ids)] = 1
            values["token_type_ids"][row, : len(pair.ids)] = pair.types
        return as_declared(values, self._inputs)

    def _probabilities(self, logits: Any, count: int) -> Scores:
        import numpy as np

        if logits.shape not in ((count, 1), (count, 2)):
            raise NoCrossEncoder(self._wrong_shape(logits.shape))
        values = logits.astype(np.float64)
        with np.errstate(invalid="ignore"):
            margin = values[:, 0]
            if values.shape[1] > 1:
                margin = values[:, self._config.relevant] - values[:, 1 - self._config.relevant]
            # The logistic function, and the softmax of two, in a form that never overflows.
            scores: Scores = (1 + np.tanh(margin / 2)) / 2
        if np.isnan(scores).any():
            raise Unavailable(f"{self._name} gave a score that is not a number")
        return scores

    def _wrong_shape(self, shape: Sequence[object]) -> str:
        return (
            f"{self._name} is not a cross-encoder: it gives an array of shape {tuple(shape)}, "
            "not one or two logits a pair; choose a model made for reranking"
        )
