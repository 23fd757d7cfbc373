"""Names of embedders: the key of an index, with every setting that changes its vectors."""

from __future__ import annotations

import hashlib
import json

from scrubjay.config import EmbedderAccess

_MAX_PROMPT = 40


def index_name(model: str, access: EmbedderAccess) -> str:
    """Return the name of a model under these settings, such as `owner/name[dims=256]`.
    The prompt of queries is not part of it: no stored vector depends on it."""
    changes = [
        f"{setting}={value}"
        for setting, value in (
            ("dims", access.dims),
            ("pooling", access.pooling),
            ("text_prompt", _shown(access.text_prompt)),
            ("window", access.window),
        )
        if value
    ]
    return f"{model}[{', '.join(changes)}]" if changes else model


def _shown(prompt: str | None) -> str:
    if prompt is None:
        return ""
    if len(prompt) <= _MAX_PROMPT:
        return json.dumps(prompt, ensure_ascii=False)
    return hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:8]
