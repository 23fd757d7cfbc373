"""The verbs about the store itself: how it is, what it owes, how it searches, its indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.verbs import ADMIN, READ, WRITE, Given, Param, Verb
from scrubjay.surfaces.verbs.kinds import FLAG, MAPPING, NAME, TIME, choice, number
from scrubjay.surfaces.verbs.search import named

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

_WAIT_S, _MOST_WAIT_S = 30.0, 60
_SECONDS = number(
    f"a number of seconds, 0 to {_MOST_WAIT_S}",
    {"minimum": 0, "maximum": _MOST_WAIT_S},
    lambda value: 0 <= value <= _MOST_WAIT_S,
)
_INDEXES = ("words", "vectors", "graph")


def status(store: Store, _: Given) -> Json:
    """Return counts, models, what is pending, sizes."""
    from scrubjay.surfaces.render.json import plain

    shape: Json = plain(store.status())
    return shape


def pending(store: Store, given: Given) -> Json:
    """Wait until what was written is embedded, but not for ever; return how much is left."""
    wait, timeout_s = given.get("wait", True), given.get("timeout_s", _WAIT_S)
    return {"pending": store.pending(wait, timeout_s=timeout_s)}


def tiers(store: Store, _: Given) -> Json:
    """Return the files of the store, the highest tier first."""
    from scrubjay.surfaces.render.json import listing

    return listing("tiers", store.tiers())


def servers(store: Store, _: Given) -> Json:
    """Return the servers that hold copies of tiers, and what they have yet to be told."""
    from scrubjay.surfaces.render.json import listing

    return listing("servers", store.servers())


def hits(store: Store, given: Given) -> Json:
    """Return how many results each tier found."""
    from scrubjay.surfaces.render.json import plain

    shape: Json = plain(store.hits(**given))
    return shape


def profiles(_: Store, given: Given) -> Json:
    """Return the profiles, or one of them with other numbers."""
    from scrubjay.errors import InvalidInput
    from scrubjay.search.profiles import get, names
    from scrubjay.surfaces.render import json_lists as shapes_kept

    if "name" not in given:
        if given:
            raise InvalidInput("overrides change one profile; say which with name")
        return shapes_kept.profiles([get(name) for name in names()])
    with named():
        return shapes_kept.profiles([get(given["name"], given.get("overrides"))])


def reindex(store: Store, given: Given) -> Json:
    """Make indexes anew from the records."""
    from scrubjay.surfaces.render.json import plain

    shape: Json = plain(store.reindex(**given))
    return shape


def extract(store: Store, given: Given) -> Json:
    """Draw facts from the messages that wait, with the configured model."""
    from scrubjay.surfaces.render.json import plain

    shape: Json = plain(store.extract(**given))
    return shape


def doctor(store: Store, _: Given) -> Json:
    """Examine the store and, for who is bound to no tenant and no person, the installation."""
    from scrubjay.ops.doctor.open_store import examine_store
    from scrubjay.surfaces.render import json_lists as shapes_kept

    return shapes_kept.findings(examine_store(store))


STATUS = Verb(
    "status", "Say what is stored, which models, what is pending.", READ, (), "status", status
)
PENDING = Verb(
    "pending",
    "Wait until what was written is embedded, and say how much is left.",
    WRITE,
    (
        Param("wait", FLAG, "false only counts (true)"),
        Param("timeout_s", _SECONDS, f"wait at most so many seconds ({_WAIT_S:g})"),
    ),
    "pending",
    pending,
    {"timeout": "timeout_s"},
)
TIERS = Verb("tiers", "List the files of the store.", READ, (), "tiers", tiers)
SERVERS = Verb(
    "servers", "List the servers that hold copies of tiers.", READ, (), "servers", servers
)
HITS = Verb(
    "hits",
    "Say how many results each tier found, by the hour.",
    READ,
    (Param("since", TIME, "from that day or moment on"),),
    "hits",
    hits,
    {"after": "since"},
)
PROFILES = Verb(
    "profiles",
    "List the ways of searching, with their stages and numbers.",
    READ,
    (
        Param("name", NAME, "only this one, such as gno:thorough"),
        Param("overrides", MAPPING, "with other numbers, such as {'rrf': {'k': 30}}"),
    ),
    "profiles",
    profiles,
    {"profile": "name"},
)
REINDEX = Verb(
    "reindex",
    "Make indexes anew from the records.",
    ADMIN,
    (
        Param("what", choice(*_INDEXES), "one of them; all by itself"),
        Param("drop", FLAG, "tell the server of this tier nothing from now on"),
    ),
    "reindexed",
    reindex,
)
EXTRACT = Verb(
    "extract",
    "Draw facts from the messages that wait, with the configured language model.",
    ADMIN,
    (
        Param("session", NAME, "only of this conversation"),
        Param("retry", FLAG, "those that were given up, too"),
    ),
    "extracted",
    extract,
    {"session_id": "session", "run_id": "session"},
)
DOCTOR = Verb(
    "doctor",
    "Examine the store and what serves it, and say which command would fix what is not well.",
    ADMIN,
    (),
    "doctor",
    doctor,
)
