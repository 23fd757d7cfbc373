"""Builds the static token table of the package from the weights of potion-base-8M.

    python -m tools.build_static_table FOLDER

FOLDER has `model.safetensors` and `tokenizer.json` of minishlab/potion-base-8M (MIT licence). Each row of
the table becomes int8 with a scale of its own: 7.6 MB instead of 30. Rows of special tokens are left out
of every text, so they become zeros.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scrubjay.models.embed.static import CODES, SCALES, VOCABULARY, WEIGHTS_SHA256

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def read_weights(path: Path) -> NDArray[np.float32]:
    """Return the one tensor of a safetensors file of float32."""
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != WEIGHTS_SHA256:
        raise SystemExit(f"{path} has the checksum {found}, not {WEIGHTS_SHA256}")
    (size,) = struct.unpack_from("<Q", data)
    head = json.loads(data[8 : 8 + size])
    (tensor,) = (of for name, of in head.items() if name != "__metadata__")
    begin, end = (8 + size + offset for offset in tensor["data_offsets"])
    return np.frombuffer(data[begin:end], "<f4").reshape(tensor["shape"])


def read_tokens(path: Path) -> list[str]:
    """Return the tokens of a WordPiece tokenizer by number."""
    vocabulary = json.loads(path.read_text("utf-8"))["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.__getitem__)


def main(arguments: Sequence[str]) -> int:
    """Write the three files of the table into the package."""
    (folder,) = map(Path, arguments)
    weights, tokens = (
        read_weights(folder / "model.safetensors"),
        read_tokens(folder / "tokenizer.json"),
    )
    if len(tokens) != len(weights):
        raise SystemExit(f"{len(tokens)} tokens, but {len(weights)} rows")
    scales = np.abs(weights).max(axis=1) / 127
    scales[[tokens.index(token) for token in SPECIAL if token in tokens]] = 0
    codes = np.rint(weights / np.maximum(scales, 1e-12)[:, None]).clip(-127, 127).astype(np.int8)
    codes[scales == 0] = 0
    np.save(CODES, codes)
    np.save(SCALES, scales.astype(np.float32))
    VOCABULARY.write_text("\n".join(tokens) + "\n", "utf-8", newline="\n")
    print(f"{len(tokens):,} tokens, {codes.shape[1]} dimensions, {CODES.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
