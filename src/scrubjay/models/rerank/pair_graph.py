"""The graph of a cross-encoder: pairs of texts in, one score in 0..1 a pair out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import Unavailable
from scrubjay.models.onnx_session import batches, open_session, runtime_errors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from scrubjay.models.rerank.config import RerankerConfig
    from scrubjay.models.rerank.pairs import Pair

    Scores = NDArray[np.float64]

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_BATCH_TOKENS = 4096


class PairGraph:
    """An open graph; raises `Unavailable` where it is no cross-encoder's.

    Its output is read as logits: one is put through the logistic function, two through softmax.
    """

    def __init__(self, name: str, path: Path, config: RerankerConfig, *, threads: int) -> None:
        self._name = name
        self._config = config
        self._session = open_session(f"{name} ({path.name})", path, threads=threads)
        self._inputs = {one.name: one.type for one in self._session.get_inputs()}
        self._output = self._logits()
        self._batch_tokens = 0 if self._is_one_by_one(path) else _BATCH_TOKENS

    def scores(self, pairs: Sequence[Pair]) -> Scores:
        """Return the score of each pair, running like-sized ones together."""
        import numpy as np

        scores = np.zeros(len(pairs))
        for batch in batches([len(pair.ids) for pair in pairs], self._batch_tokens):
            inputs = self._filled([pairs[index] for index in batch])
            try:
                (logits,) = self._session.run([self._output], inputs)
            except runtime_errors() as error:
                raise Unavailable(f"onnxruntime failed on {self._name}: {error}") from error
            scores[batch] = self._probabilities(logits, len(batch))
        return scores

    def _logits(self) -> str:
        """Return the name of the output to read."""
        if "input_ids" not in self._inputs or not {*self._inputs} <= {*_INPUTS}:
            raise Unavailable(
                f"{self._name} cannot be used: its graph wants {', '.join(self._inputs)}; "
                f"a cross-encoder here wants input_ids and perhaps {' and '.join(_INPUTS[1:])}"
            )
        outputs = self._session.get_outputs()
        output = next((one for one in outputs if one.name == "logits"), outputs[0])
        shape = output.shape
        # A length that is not fixed is a string or None; no shape at all is known when it runs.
        if shape and (len(shape) != 2 or (isinstance(shape[1], int) and shape[1] not in (1, 2))):
            raise Unavailable(self._no_cross_encoder(shape))
        return str(output.name)

    def _is_one_by_one(self, path: Path) -> bool:
        """Say whether pairs in one batch would change each other's scores.

        Without a mask a pair sees its padding. A graph that quantizes as it runs takes its scale
        from the whole batch; the names of its operators stand in the file as they are.
        """
        import mmap

        if "attention_mask" not in self._inputs:
            return True
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return content.find(b"DynamicQuantize") >= 0

    def _filled(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        """Return what the graph declares, in the types it declares, padded to the longest pair."""
        import numpy as np

        shape = (len(pairs), max(len(pair.ids) for pair in pairs))
        values = {name: np.zeros(shape, np.int64) for name in _INPUTS}
        values["input_ids"][:] = self._config.pad_id
        for row, pair in enumerate(pairs):
            values["input_ids"][row, : len(pair.ids)] = pair.ids
            values["attention_mask"][row, : len(pair.ids)] = 1
            values["token_type_ids"][row, : len(pair.ids)] = pair.types
        kinds: dict[str, Any] = {
            "tensor(int32)": np.int32,
            "tensor(float)": np.float32,
            "tensor(float16)": np.float16,
            "tensor(bool)": np.bool_,
        }
        return {
            name: values[name].astype(kinds.get(kind, np.int64))
            for name, kind in self._inputs.items()
        }

    def _probabilities(self, logits: Any, count: int) -> Scores:
        import numpy as np

        if logits.shape not in ((count, 1), (count, 2)):
            raise Unavailable(self._no_cross_encoder(logits.shape))
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

    def _no_cross_encoder(self, shape: Sequence[object]) -> str:
        return (
            f"{self._name} is not a cross-encoder: it gives an array of shape {tuple(shape)}, "
            "not one or two logits a pair; choose a model made for reranking"
        )
