"""Answers of the model process: what a request may ask for, and how a model answers it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.config import Access, EmbedderAccess
from scrubjay.models import Passage
from scrubjay.models.bundled import find_bundled
from scrubjay.models.process.messages import BadMessage
from scrubjay.models.process.shareable import Shareable, fingerprint
from scrubjay.models.registry import (
    load_bundled_reranker,
    load_embedder,
    load_reader,
    load_reranker,
)

if TYPE_CHECKING:
    from scrubjay.models import Matrix

Answer = tuple[dict[str, Any], list["Matrix"]]


class Wanted(NamedTuple):
    """A model: its role, what it is made from as JSON, and the fingerprint of its files."""

    role: str
    made_from: str
    files: str


def read_request(request: Mapping[str, Any]) -> tuple[Wanted, str, Mapping[str, Any]]:
    """Return the model, the call and its arguments; BadMessage where one is missing."""
    try:
        given = dict(request["model"])
        role, files = str(given.pop("role")), str(given.pop("files"))
        call, arguments = str(request["call"]), dict(request["arguments"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadMessage(f"a request without {error}") from error
    return Wanted(role, json.dumps(given, sort_keys=True), files), call, arguments


def make(wanted: Wanted) -> Shareable:
    """Make a model as the asking process made it; BadMessage if its files are not the same."""
    given = json.loads(wanted.made_from)
    model: object
    # One for the process is not enough: its files may have been replaced since it was made.
    for kept in (find_bundled, load_bundled_reranker, load_reader):
        kept.cache_clear()
    match wanted.role:
        case "embedder":
            model = load_embedder(EmbedderAccess(**given))
        case "reranker":
            model = load_reranker(Access(**given))
        case "reader":
            model = load_reader()
        case _:
            raise BadMessage(f"there is no role {wanted.role!r}")
    if not isinstance(model, Shareable):
        raise BadMessage("this model is not shared")
    if fingerprint(model.model_files()) != wanted.files:
        raise BadMessage("the files of the model are not the same")
    return model


def answer_of(model: Shareable, call: str, arguments: Mapping[str, Any]) -> Answer:
    """Return what a model answers to a call; BadMessage for a call that it does not have."""
    match call:
        case "encode":
            return _encode(model, **arguments)
        case "score":
            return {"result": [*model.score(**arguments)]}, []  # type: ignore[attr-defined]
        case "relations":
            pairs = [(_passage(*older), _passage(*newer)) for older, newer in arguments["pairs"]]
            return {"result": [*model.relations(pairs)]}, []  # type: ignore[attr-defined]
        case "answers":
            notes = [_passage(*note) for note in arguments["notes"]]
            asked_at = datetime.fromisoformat(arguments["asked_at"])
            found = model.answers(arguments["question"], asked_at, notes)  # type: ignore[attr-defined]
            return {"result": found}, []
    raise BadMessage(f"there is no call {call!r}")


def _encode(model: Any, texts: list[str], *, as_query: bool, keep_tokens: bool) -> Answer:
    if not keep_tokens:
        return {"result": None}, [model.embed(texts, as_query=as_query)]
    import numpy as np

    vectors, tokens = model.embed_with_tokens(texts, as_query=as_query)
    return {"result": [len(rows) for rows in tokens]}, [vectors, np.concatenate(tokens)]


def _passage(text: str, at: str | None) -> Passage:
    return Passage(text, None if at is None else datetime.fromisoformat(at))
