"""All verbs by name, and the methods of a store that are not verbs, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs import (
    Verb,
    checked,
    feedback,
    files,
    operate,
    read,
    search,
    share,
    verbs_in,
    write,
)

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

# In the order in which HTTP and MCP list them.
VERBS: dict[str, Verb] = {
    verb.name: verb
    for module in (search, read, write, files, feedback, share, operate)
    for verb in verbs_in(module)
}

_PATHS = "it reads or writes files of the server's machine"
LEFT_OUT = {
    "ingest": _PATHS,
    "export_md": _PATHS,
    "export_jsonl": f"{_PATHS}; `ls` lists everything in pages, and `get_many` returns the links",
    "export_mem0": f"{_PATHS}; `ls` lists everything in pages",
    "import_entries": f"{_PATHS}; `add_many` takes entries with their ids, times and links",
    "import_from": f"{_PATHS}; `add_many` takes memories with their ids, times and links",
    "backup": _PATHS,
    "files": "`view_file`, `create_file` and the other verbs of files do the same",
    "share_models": "the operator of the server decides how models are loaded",
    "use_model": "it loads or downloads a model on the server's machine; `status` shows its progress",
    "prune_models": "the operator of the server decides which indexes are kept",
    "connect": "it opens another file of the server's machine",
    "disconnect": "the operator of the server decides which files are open",
    "close": "the operator of the server closes it",
    "calibrate": "it measures the machine while others are searching on it",
    "embed": "`pending` does the same, with a limit of time",
    "get_all": "`get` and `get_many` do the same",
    "lines": "`get` takes `lines`",
    "holds": "`get` does the same",
    "resolve": "it completes ids that a person types; programs send whole ids",
    "only_of": "`forget` returns the facts that were deleted too",
    "unembedded": "`add`, `status` and `pending` return it",
    "why_unembedded": "`add` and `status` return it",
    "likely_changes": "`add` and `add_many` return it",
    "learned": "`weights` returns it",
    "count_every_search": "the operator of the server decides what is counted",
    "watch_failure": "no folder is watched over a network",
    "path": "`status` returns it",
    "profile": "a search names its profile",
    "tenant": "the API key of a caller decides it",
    "user": "the API key of a caller decides it",
    "on_search": "it takes a function",
    "api_keys": "the operator of the server creates keys",
}


def ask(store: Store, verb: Verb, given: Mapping[str, object]) -> Json:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"{verb.name} takes an object with its parameters, such as {{}}")
    return verb.call(store, checked(verb.name, verb.params, verb.aliases, given))
