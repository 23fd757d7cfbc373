"""The catalogue of stages: profiles in TOML, the docs and the checks read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scrubjay import pipeline
from scrubjay.pipeline import Part, when
from scrubjay.stages.fuse import rrf, weigh
from scrubjay.stages.present import at_least, check_files, load, passages, pool, top
from scrubjay.stages.recall import keyword, look_up, nothing_searched, vector
from scrubjay.stages.understand import embed_query, keywords

STAGES: dict[str, Callable[..., Part[Any]]] = {
    make.__name__: make
    for make in (
        keywords,
        embed_query,
        pipeline.recall,  # `recall` here is the module of that name
        keyword,
        vector,
        when,
        nothing_searched,
        rrf,
        look_up,
        weigh,
        pool,
        top,
        at_least,
        load,
        passages,
        check_files,
    )
}
