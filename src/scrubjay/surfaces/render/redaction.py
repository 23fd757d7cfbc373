"""Redaction: hide paths, server addresses and reasons from callers without the scope admin.

Of an ingested file they see its path from its folder on (`notes/2026/may.md`), of any other path the name.
What users have stored themselves (texts, titles, metadata) is not touched, except an absolute `source`.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.runtime.paths import cache_dir, config_dir, data_dir
from scrubjay.text.passage_tags import format_passages, passages_in
from scrubjay.text.urls import is_server_url

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

SEE_LOG = "the log of the server has the reason"
NEEDS_ADMIN = "an API key with the scope admin shows the reason"
FETCHED = "fetched"  # an answer whose metadata are fields of ours, such as the source
_ABOUT_THE_STORE = ("status", "tiers", "servers")
_STORED = ("metadata", "text", "snippet", "title", "context")
_MESSAGES = (
    "degraded",
    "unasked",
    "warnings",
    "warning",
    "notes",
    "note",
    "lost",
    "why_pending",
    "why_uncompared",
)
_NUMBERS = ("why", "found", "sum", "marks", "counts", "lines", "rerank_score")
_MODELS = ("model", "reranker", "generator", "before", "settings_model")
_PLACES = frozenset(("source", "path", "place", "folders", "reason", *_MESSAGES, *_MODELS))
_ABSOLUTE = re.compile(r"/|\\\\|[A-Za-z]:[\\/]")
# A path of two parts or more inside a message; not what follows the host of a URL.
_PATH_IN_TEXT = re.compile(
    r"(?<![\w./\\~:-])(?:[A-Za-z]:[\\/]|/)(?:[^\s\\/\"'`<>|;,()]+[\\/])+([^\s\\/\"'`<>|;,()]*)"
)


def error_message(error: ScrubjayError, *, is_admin: bool) -> str:
    """Return the message of an error; errors of a store name files and servers."""
    if is_admin:
        return str(error)
    if isinstance(error, InvalidInput | NotFound):
        return _without_own_folders(str(error))
    return f"the store cannot be read or written now; {SEE_LOG}"


def redact(shape: Json, answer: str, *, is_admin: bool, store: Store | None = None) -> Json:
    """Redact the JSON of a verb: a path keeps its name or its end, a server address its kind.
    With the store, paths of ingested files start at their folder."""
    if is_admin:
        return shape
    redacted: Json = _Redaction(answer, store).value("", shape)
    if redacted.get("passages") and "text" in redacted:  # whose tags name files
        redacted["text"] = format_passages(passages_in(redacted))
    return redacted


class _Redaction:
    def __init__(self, answer: str, store: Store | None) -> None:
        self._answer = answer
        self._store = store

    @cached_property
    def _roots(self) -> list[str]:
        """The ingested files and folders, outermost first; read only where a path is absolute."""
        return [] if self._store is None else sorted(self._store._context.folders.roots(), key=len)

    def value(self, name: str, value: Any) -> Any:
        if isinstance(value, dict):
            is_stored = name in _STORED and self._answer != FETCHED
            return value if is_stored else self._fields(value)
        if isinstance(value, list):
            return [self.value(name, item) for item in value]
        return self._text(name, value) if isinstance(value, str) else value

    def _fields(self, fields: Json) -> Json:
        redacted = dict(fields)
        for name, item in fields.items():  # most of a search's answer is passed over
            is_text = type(item) is str
            if name in _PLACES if is_text else item and name not in _NUMBERS:
                redacted[name] = self.value(name, item)
        if self._answer not in _ABOUT_THE_STORE:
            return redacted
        for name in ("reason", "why_pending", "why_uncompared"):
            if redacted.get(name):
                redacted[name] = NEEDS_ADMIN
        match redacted.get("failures"):
            case [_, *_]:
                redacted["failures"] = [NEEDS_ADMIN]
            case {**counts} if counts:
                redacted["failures"] = {NEEDS_ADMIN: sum(counts.values())}
        return redacted

    def _text(self, name: str, text: str) -> str:
        if name == "source":
            return self._path(text) if _ABSOLUTE.match(text) else text
        if name in _MESSAGES:
            return self._names_only(text)
        match self._answer, name:
            case ("coverage", "path") | ("collections", "folders"):
                return self._path(text)
            case ("coverage", "reason"):
                return self._names_only(text)
            case (about, "path" | "place") if about in _ABOUT_THE_STORE:
                return text.partition("://")[0] if is_server_url(text) else os.path.basename(text)
            case ("status", model) if model in _MODELS:
                return _model_name(text)
        return text

    def _path(self, path: str) -> str:
        for root in self._roots:
            if path == root or path.startswith(os.path.join(root, "")):
                return path[len(os.path.join(os.path.dirname(root), "")) :]
        return re.split(r"[\\/]", path.rstrip("\\/"))[-1]

    def _names_only(self, text: str) -> str:
        if "/" not in text and "\\" not in text:
            return text
        own = "" if self._store is None else os.path.dirname(self._store.path)
        return _PATH_IN_TEXT.sub(r"\1", _without_own_folders(text, own))


def _model_name(spec: str) -> str:
    """Return the name of a model; of one on a server or in a folder not where that is."""
    if "://" in spec:
        place, _, name = spec.partition("#")
        return name or place.partition("://")[0]
    return re.split(r"[\\/]", spec.rstrip("\\/"))[-1] if _ABSOLUTE.match(spec) else spec


def _without_own_folders(text: str, *more: str) -> str:
    """Return a text without the folders of scrubjay, whose names may contain spaces."""
    settings = os.path.dirname(os.environ.get("SCRUBJAY_CONFIG", ""))
    for folder in (*more, settings, config_dir(), data_dir(), cache_dir()):
        if folder.strip(os.sep):
            text = text.replace(folder.rstrip(os.sep) + os.sep, "")
    return text
