"""Configuration of an embedder, read from the files that sentence-transformers writes beside a model."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NamedTuple

from scrubjay.config import POOLINGS, EmbedderAccess
from scrubjay.errors import Unavailable
from scrubjay.models.download.hub import WantedFile
from scrubjay.models.embed.families import Family, family_of
from scrubjay.models.model_files import (
    OFFSET_TYPES,
    WANTED,
    count,
    read_json,
    read_pad_id,
    read_table,
    read_window,
)

log = logging.getLogger(__name__)

EMBEDDER_FILES = (
    *WANTED,
    WantedFile("list of modules", ("modules.json",), optional=True),
    WantedFile("configuration of pooling", ("1_Pooling/config.json",), optional=True),
    WantedFile("configuration of the window", ("sentence_bert_config.json",), optional=True),
    WantedFile("prompts", ("config_sentence_transformers.json",), optional=True),
)
# A longer window is possible by setting: attention takes memory by the square of its length.
_MAX_WINDOW = 2048
_USUAL_WINDOW = 512
# What happens after pooling without weights, and is done for every vector anyway.
_HARMLESS = ("Transformer", "Pooling", "Normalize")
_OF_QUERIES = ("query", "search_query", "retrieval.query", "retrieval_query", "s2p_query")
_OF_TEXTS = ("document", "passage", "search_document", "retrieval.passage", "corpus", "text")


class EmbedderConfig(NamedTuple):
    """What embedding needs to know of a model."""

    window: int
    """Tokens it reads at once, special ones included."""
    pad_id: int
    query_prompt: str
    text_prompt: str
    pooling: tuple[str, ...]
    """Ways to make one vector of token vectors; the results of several are put side by side."""
    pools_prompt: bool
    """True when the tokens of the prompt count as well."""
    matryoshka: tuple[int, ...]
    modules: tuple[str, ...]
    """Modules after pooling that have weights of their own."""
    first_position: int
    """The number of the first position, where the graph asks for positions."""


def read_embedder_config(folder: Path, access: EmbedderAccess) -> EmbedderConfig:
    """Read a model's files; what the settings say comes first, what is usual for its family last."""
    model = read_table(folder / "config.json")
    sentences = read_table(folder / "config_sentence_transformers.json")
    pooling = read_table(folder / "1_Pooling/config.json")
    family, pad_id = family_of(access.spec), read_pad_id(model)
    query_prompt, text_prompt = _prompts(sentences, family)
    has_offset = model.get("model_type") in OFFSET_TYPES
    return EmbedderConfig(
        window=_window(folder, model, access.window),
        pad_id=pad_id or 0,
        query_prompt=query_prompt if access.query_prompt is None else access.query_prompt,
        text_prompt=text_prompt if access.text_prompt is None else access.text_prompt,
        pooling=(access.pooling,) if access.pooling else _pooling(access.spec, pooling, family),
        pools_prompt=pooling.get("include_prompt") is not False,
        matryoshka=_matryoshka(model) or _matryoshka(sentences) or family.matryoshka,
        modules=_weighty_modules(folder),
        first_position=1 + (1 if pad_id is None else pad_id) if has_offset else 0,
    )


def _window(folder: Path, model: dict[str, Any], chosen: int) -> int:
    if chosen:
        return read_window(model, {}, [chosen])
    stated = count(read_table(folder / "sentence_bert_config.json").get("max_seq_length"))
    tokenizer = read_table(folder / "tokenizer_config.json")
    # Positions are a hard limit; the length that the model was trained for is often less.
    limits = [_MAX_WINDOW] if stated is None else [_MAX_WINDOW, stated]
    window = read_window(model, {} if stated else tokenizer, limits)
    return window if stated or model or tokenizer else _USUAL_WINDOW


def _prompts(sentences: dict[str, Any], family: Family) -> tuple[str, str]:
    """Return the prompts for queries and texts; files that state none leave them to the family."""
    given = sentences.get("prompts")
    prompts = {
        str(name).lower(): prompt
        for name, prompt in (given.items() if isinstance(given, dict) else ())
        if isinstance(prompt, str)
    }
    if not any(prompts.values()):
        return family.query_prompt, family.text_prompt
    default = prompts.get(str(sentences.get("default_prompt_name")).lower(), "")
    return (
        next((prompts[name] for name in _OF_QUERIES if name in prompts), default),
        next((prompts[name] for name in _OF_TEXTS if name in prompts), default),
    )


def _pooling(name: str, pooling: dict[str, Any], family: Family) -> tuple[str, ...]:
    stated = pooling.get("pooling_mode")
    if isinstance(stated, str):  # how newer versions write it
        chosen = [part.strip() for part in stated.split("+")]
    else:
        modes = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
        modes |= {"mean_sqrt_len": "mean_sqrt_len_tokens", "weightedmean": "weightedmean_tokens"}
        modes |= {"lasttoken": "lasttoken"}
        # In this order several of them are put side by side.
        order = ("cls", "max", "mean", "mean_sqrt_len", "weightedmean", "lasttoken")
        chosen = [mode for mode in order if pooling.get(f"pooling_mode_{modes[mode]}") is True]
    if unknown := [mode for mode in chosen if mode not in POOLINGS]:
        raise Unavailable(
            f"{name} pools its tokens by {unknown[0]!r}, which is not supported; set"
            f" embedder_pooling to one of {', '.join(POOLINGS)} if one of them is right"
        )
    if not chosen and not family.pooling:
        log.info("%s does not state how its tokens are pooled; the mean is used", name)
    return tuple(chosen) or (family.pooling or "mean",)


def _matryoshka(stated: dict[str, Any]) -> tuple[int, ...]:
    for name in ("matryoshka_dims", "matryoshka_dimensions"):
        dims = stated.get(name)
        if isinstance(dims, list):
            return tuple(sorted({size for size in map(count, dims) if size}))
    return ()


def _weighty_modules(folder: Path) -> tuple[str, ...]:
    modules = read_json(folder / "modules.json")
    kinds = [
        str(module.get("type", "")).rpartition(".")[2]
        for module in (modules if isinstance(modules, list) else ())
        if isinstance(module, dict)
    ]
    return tuple(kind for kind in kinds if kind not in _HARMLESS)
