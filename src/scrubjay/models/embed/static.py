"""Static embedder: the vector of a text is the mean of fixed vectors of its tokens.

The table is part of the package (docs/decisions/034-static-vectors.md), so it needs no download, no
onnxruntime and no waiting: a text has its vector in the transaction that stores it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from scrubjay.models import Matrix

_HERE = Path(__file__).parent
CODES, SCALES = _HERE / "static_codes.npy", _HERE / "static_scales.npy"
VOCABULARY = _HERE / "static_tokens.txt"
# Of model.safetensors in minishlab/potion-base-8M, from which tools/build_static_table.py makes the table.
WEIGHTS_SHA256 = "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2"
NAME = "potion-base-8M/int8"
DIMS = 256
_MAX_CHARS = 20_000  # of a text: a mean of more tokens says no more
_MAX_WORD_CHARS = 100  # a longer word, such as a key, has no token of its own
_MAX_SEEN = 32_768


class StaticEmbedder:
    """potion-base-8M as an int8 table. It may be shared between threads."""

    name = NAME
    dims = DIMS
    languages = ("en",)
    is_instant = True  # token vectors cost so little that none are stored

    def __init__(self) -> None:
        self._seen: dict[str, list[int]] = {}

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Matrix:
        """Return one unit vector a text; zeros for a text without a known token."""
        import numpy as np

        sums = np.zeros((len(texts), DIMS), np.float32)
        # One text after the other: the rows of a thousand do not fit into a cache, which took four times
        # as long. `sum` would round in another way than the vectors that are stored.
        for number, piece in enumerate(self._pieces(texts)):
            if piece:
                sums[number] = np.add.reduceat(self._rows(np.asarray(piece)), [0])[0]
        return _unit(sums)

    def tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[Matrix]:
        """Return the unit vectors of each text's tokens; of a query, scaled by their weights.

        The length of a row says how much its token tells: "the" is short, "mortgage" long.
        """
        import numpy as np

        tokens = [self._rows(np.asarray(piece, np.int64)) for piece in self._pieces(texts)]
        return [_weighted(rows) if as_query else _unit(rows) for rows in tokens]

    def _rows(self, ids: NDArray[np.int64]) -> Matrix:
        codes, scales = self._table
        rows: Matrix = codes[ids] * scales[ids, None]
        return rows

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text. None has a space in it, and most words were seen before."""
        runs = [text[:_MAX_CHARS].encode("utf-8", "replace").decode().split(" ") for text in texts]
        wanted = set(itertools.chain.from_iterable(runs))
        ids = {run: seen for run in wanted if (seen := self._seen.get(run)) is not None}
        new = list(wanted - ids.keys())
        ids |= {run: [] for run in new}
        # In one call: one for each run takes ten times as long.
        encoding = self._tokenizer.encode(new, is_pretokenized=True, add_special_tokens=False)
        for place, number in zip(encoding.word_ids, encoding.ids, strict=True):
            if place is not None and number != self._unknown:
                ids[new[place]].append(number)
        if len(self._seen) > _MAX_SEEN:
            self._seen.clear()
        self._seen.update((run, ids[run]) for run in new if len(run) <= _MAX_WORD_CHARS)
        return [list(itertools.chain.from_iterable(map(ids.__getitem__, of))) for of in runs]

    @cached_property
    def _table(self) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        import numpy as np

        # Mapped, not read: a query touches a few rows, and processes share the pages.
        return np.load(CODES, mmap_mode="r"), np.load(SCALES)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

        tokens = VOCABULARY.read_text("utf-8").split("\n")[:-1]
        vocabulary = {token: number for number, token in enumerate(tokens)}
        tokenizer = Tokenizer(
            models.WordPiece(
                vocabulary, unk_token="[UNK]", max_input_chars_per_word=_MAX_WORD_CHARS
            )
        )
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return tokenizer

    @cached_property
    def _unknown(self) -> int:
        number = self._tokenizer.token_to_id("[UNK]")
        return -1 if number is None else int(number)


def _weighted(rows: Matrix) -> Matrix:
    """Return unit rows times their weights, the squares of their lengths, which are 1 on average."""
    import numpy as np

    weights = np.square(np.linalg.norm(rows, axis=-1, keepdims=True))
    mean = max(float(weights.mean()), 1e-12) if len(weights) else 1.0
    weighted: Matrix = _unit(rows) * (weights / mean).astype(np.float32)
    return weighted


def _unit(rows: Matrix) -> Matrix:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    units: Matrix = (rows / np.maximum(lengths, 1e-12)).astype(np.float32, copy=False)
    return units
