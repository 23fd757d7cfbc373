"""What the files beside a cross-encoder say of it: its window, its padding, its labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrubjay.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

_OFFSET_TYPES = frozenset(
    "camembert data2vec-text longformer mpnet roberta roberta-prelayernorm"
    " xlm-roberta xlm-roberta-xl xmod".split()
)
"""Kinds of model that count positions from the number of the padding token plus one."""
_RELEVANT = frozenset({"relevant", "positive", "yes", "true", "match"})


@dataclass(frozen=True, slots=True)
class RerankerConfig:
    """The little that scoring needs to know of a model."""

    window: int
    """Tokens it reads at once, special ones included."""
    pad_id: int
    relevant: int
    """Which of two labels means that a text answers the query."""


def read_config(folder: Path, most_tokens: int) -> RerankerConfig:
    """Read `config.json` and `tokenizer_config.json`, either of which may be missing."""
    model = _json(folder / "config.json")
    tokenizer = _json(folder / "tokenizer_config.json")
    pad_id = _count(model.get("pad_token_id"))
    return RerankerConfig(
        window=_window(model, tokenizer, most_tokens),
        pad_id=0 if pad_id is None else pad_id,
        relevant=_relevant(model.get("id2label")),
    )


def _window(model: Mapping[str, Any], tokenizer: Mapping[str, Any], most_tokens: int) -> int:
    positions = _count(model.get("max_position_embeddings"))
    if positions is not None and model.get("model_type") in _OFFSET_TYPES:
        pad_id = _count(model.get("pad_token_id"))
        positions -= 1 + (1 if pad_id is None else pad_id)
    limits = (positions, _count(tokenizer.get("model_max_length")))
    return min([most_tokens, *(limit for limit in limits if limit is not None)])


def _relevant(id2label: object) -> int:
    """Return the label that is named so; without such a name it is 1, as is the custom."""
    names = id2label if isinstance(id2label, dict) else {}
    named = [at for at in (0, 1) if str(names.get(str(at), "")).strip().lower() in _RELEVANT]
    return named[0] if len(named) == 1 else 1


def _count(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return None


def _json(path: Path) -> dict[str, Any]:
    import json

    try:
        said = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Unavailable(f"{path} cannot be read: {error}") from error
    return said if isinstance(said, dict) else {}
