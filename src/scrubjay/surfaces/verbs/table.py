"""All verbs, by name, and the methods of a store that are no verbs, each with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs import Verb, checked
from scrubjay.surfaces.verbs import conversations as talking
from scrubjay.surfaces.verbs import feedback as learning
from scrubjay.surfaces.verbs import map as picturing
from scrubjay.surfaces.verbs import read as reading
from scrubjay.surfaces.verbs import search as finding
from scrubjay.surfaces.verbs import share as sharing
from scrubjay.surfaces.verbs import store as keeping
from scrubjay.surfaces.verbs import write as writing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

# In the order in which doors list them: what most people want comes first.
_ALL = (
    *(finding.SEARCH, finding.CONTEXT),
    *(reading.GET, reading.GET_MANY, reading.LS, reading.LANDSCAPE),
    *(writing.ADD, writing.ADD_MANY, writing.UPDATE, writing.FORGET),
    *(writing.DONE, writing.UNDONE, writing.LINK, writing.UNLINK, reading.NEIGHBORS),
    *(talking.ADD_MESSAGE, talking.ADD_MESSAGES, talking.SESSIONS, talking.AROUND),
    *(learning.FEEDBACK, learning.FEEDBACKS, learning.UNDO_FEEDBACK, learning.RESET_FEEDBACK),
    *(learning.WEIGHTS, learning.FREEZE_WEIGHTS, learning.THAW_WEIGHTS),
    *(reading.TOPICS, sharing.RENAME_TOPIC, reading.HISTORY, reading.EXPIRING),
    *(sharing.COLLECTIONS, sharing.CREATE_COLLECTION, sharing.RENAME_COLLECTION),
    *(sharing.REMOVE_COLLECTION, sharing.MEMBERS, sharing.SHARE, sharing.UNSHARE),
    *(sharing.PUBLISH, sharing.UNPUBLISH, reading.COVERAGE),
    *(keeping.STATUS, keeping.PENDING, keeping.PROFILES, keeping.HITS, keeping.TIERS),
    *(keeping.SERVERS, picturing.MAP, picturing.SURROUNDINGS),
    *(keeping.REINDEX, keeping.EXTRACT, keeping.DOCTOR),
)
VERBS: dict[str, Verb] = {one.name: one for one in _ALL}

_PATHS = "it reads or writes files of the server's machine"
LEFT_OUT = {
    "ingest": _PATHS,
    "export_md": _PATHS,
    "export_jsonl": f"{_PATHS}; `ls` lists everything, page by page, and `get_many` has the links",
    "import_entries": f"{_PATHS}; `add_many` takes entries with their ids, times and links",
    "backup": _PATHS,
    "share_models": "how models are loaded is up to who runs the server",
    "connect": "it opens another file of the server's machine",
    "disconnect": "which files are open is up to who runs the server",
    "close": "who runs the server closes it",
    "calibrate": "it measures the machine, while others are searching on it",
    "get_all": "`get` and `get_many` say the same",
    "holds": "`get` says it",
    "resolve": "it completes what a person types; over a wire ids are whole",
    "only_of": "`forget` says which facts went along",
    "unembedded": "`add`, `status` and `pending` say it",
    "why_unembedded": "`add` and `status` say it",
    "learned": "it is what `weights` answers",
    "count_every_search": "what is counted is up to who runs the server",
    "watch_failure": "nothing is watched over a wire",
}


def ask(store: Store, verb: Verb, given: Mapping[str, object]) -> Json:
    """Do what a verb says with what was given, once that is checked."""
    from collections.abc import Mapping

    if not isinstance(given, Mapping):
        raise InvalidInput(f"{verb.name} takes an object with its parameters, such as {{}}")
    return verb.call(store, checked(verb.name, verb.params, verb.aliases, given))
