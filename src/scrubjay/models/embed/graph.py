"""Graph of an embedder: windows of token ids in, a vector and token vectors of each out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.models.device import device_of
from scrubjay.models.embed.pooling import pool
from scrubjay.models.onnx_session import (
    as_declared,
    depends_on_neighbours,
    open_session,
    runtime_errors,
)

if TYPE_CHECKING:
    from scrubjay.models import Matrix
    from scrubjay.models.embed.model_config import EmbedderConfig
    from scrubjay.models.embed.windows import Piece

_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_SENTENCE = "sentence_embedding"
_TOKENS = ("last_hidden_state", "token_embeddings", "hidden_states")


class Encoded(NamedTuple):
    """The vector of a window, and one row a token where the graph gives them."""

    vector: Matrix
    rows: Matrix | None


class EmbedderGraph:
    """The graph of an embedder. With `pools_itself`, an output that is pooled already is not used.
    Raises Unavailable where the graph is not that of an embedder."""

    def __init__(
        self, name: str, path: Path, config: EmbedderConfig, *, pools_itself: bool, threads: int
    ) -> None:
        self._name = name
        self._config = config
        self._session = open_session(f"{name} ({path.name})", path, threads=threads)
        self.device = device_of(self._session)
        self._inputs = {node.name: node.type for node in self._session.get_inputs()}
        self._check_inputs()
        outputs = {node.name: node.shape for node in self._session.get_outputs()}
        self._tokens = _token_output(outputs)
        self._sentence = _SENTENCE if _SENTENCE in outputs else ""
        if pools_itself and self._tokens:
            self._sentence = ""
        self._check_outputs(outputs)
        self.runs_alone = depends_on_neighbours(path, self._inputs)

    def run(self, pieces: Sequence[Piece]) -> list[Encoded]:
        """Return what the graph gives for each piece, without padding."""
        import numpy as np

        names = [name for name in (self._sentence, self._tokens) if name]
        try:
            given = self._session.run(names, self._inputs_of(pieces))
        except runtime_errors() as error:
            raise Unavailable(f"onnxruntime failed on {self._name}: {error}") from error
        arrays = dict(
            zip(names, (array.astype(np.float32, copy=False) for array in given), strict=True)
        )
        vectors, rows = arrays.get(self._sentence), arrays.get(self._tokens)
        if (vectors is not None and vectors.ndim != 2) or (rows is not None and rows.ndim != 3):
            raise Unavailable(f"{self._name} is not an embedder: {self._shapes(arrays)}")
        return [
            self._encoded(
                piece,
                None if vectors is None else vectors[at],
                None if rows is None else rows[at, : len(piece.ids)],
            )
            for at, piece in enumerate(pieces)
        ]

    def _encoded(self, piece: Piece, vector: Matrix | None, rows: Matrix | None) -> Encoded:
        if vector is None:
            assert rows is not None  # the graph has one of the two
            modes = self._config.pooling
            skips = piece.has_prompt and not self._config.pools_prompt and "cls" not in modes
            vector = pool(rows[piece.start :] if skips else rows, modes)
        return Encoded(vector, rows)

    def _inputs_of(self, pieces: Sequence[Piece]) -> dict[str, Any]:
        """Return the inputs that the graph declares, padded to the longest piece."""
        import numpy as np

        shape = (len(pieces), max(len(piece.ids) for piece in pieces))
        values = {name: np.zeros(shape, np.int64) for name in _INPUTS}
        values["input_ids"][:] = self._config.pad_id
        values["position_ids"][:] = np.arange(shape[1]) + self._config.first_position
        for row, piece in enumerate(pieces):
            values["input_ids"][row, : len(piece.ids)] = piece.ids
            values["attention_mask"][row, : len(piece.ids)] = 1
        return as_declared(values, self._inputs)

    def _check_inputs(self) -> None:
        if "input_ids" not in self._inputs or not {*self._inputs} <= {*_INPUTS}:
            unknown = [name for name in self._inputs if name not in _INPUTS]
            raise Unavailable(
                f"{self._name} cannot be used: its graph asks for {', '.join(unknown[:4])};"
                f" an embedder takes input_ids and optionally {', '.join(_INPUTS[1:])};"
                " choose another export of the model, or run it on a server"
            )

    def _check_outputs(self, outputs: dict[str, Any]) -> None:
        if not self._sentence and not self._tokens:
            hint = ""
            if any(name in ("logits", "score") for name in outputs):
                hint = "; it looks like a reranker, which is set by reranker ="
            raise Unavailable(
                f"{self._name} is not an embedder: its graph gives {', '.join(outputs)}, and"
                f" neither {_SENTENCE} nor {_TOKENS[0]}{hint}"
            )
        if not self._sentence and self._config.modules:
            raise Unavailable(
                f"{self._name} cannot be used: after pooling it needs"
                f" {', '.join(self._config.modules)}, which its ONNX export does not contain; choose"
                f" an export with the output {_SENTENCE}, or run the model on a server"
            )

    def _shapes(self, arrays: dict[str, Any]) -> str:
        return ", ".join(f"{name} has the shape {array.shape}" for name, array in arrays.items())


def _token_output(outputs: dict[str, Any]) -> str:
    """Return the output with one row a token; of an unusual name, the first with three axes."""
    named = [name for name in _TOKENS if name in outputs]
    deep = [
        name
        for name, shape in outputs.items()
        if shape and len(shape) == 3 and not name.startswith(("present", "past"))
    ]
    others = [name for name in deep if name not in ("logits", _SENTENCE)]
    return next(iter(named + others), "")
