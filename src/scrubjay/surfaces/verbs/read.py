"""The verbs that look up what is stored: by id, in lists, over links, in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.verbs import READ, Given, Param, Verb
from scrubjay.surfaces.verbs.fields import ID, THE_ID
from scrubjay.surfaces.verbs.kinds import (
    FLAG,
    IDS,
    LIMIT,
    MOST_HITS,
    NAME,
    OFFSET,
    TEXTS,
    choice,
    whole,
)
from scrubjay.surfaces.verbs.search import MANY, TOKENS, WHERE

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json
    from scrubjay.types import Memories

_PAGE = (
    Param("limit", LIMIT, "at most so many"),
    Param("offset", OFFSET, "skip so many"),
)
_SKIP = {"skip": "offset"}


def _got(store: Store, found: Memories) -> Json:
    from scrubjay.surfaces.render.json_memories import got

    history = {one.id: changes for one in found if (changes := store.history(one.id))}
    return got(found, history)


def get(store: Store, given: Given) -> Json:
    """Return one memory with its links and changes; NotFound if there is none."""
    return _got(store, store.get_all([given["id"]]))


def get_many(store: Store, given: Given) -> Json:
    """Return the memories that are there, and the ids that are not."""
    return _got(store, store.get_many(list(dict.fromkeys(given["ids"]))))


def ls(store: Store, given: Given) -> Json:
    """List memories, newest first."""
    from scrubjay.surfaces.render.json_memories import listed

    return listed(store.ls(**given))


def neighbors(store: Store, given: Given) -> Json:
    """Return what the links of a memory reach."""
    from scrubjay.surfaces.render.json_memories import neighbors

    depth, limit = given.get("depth", 1), given.get("limit", MOST_HITS)
    return neighbors(store, given["id"], depth=depth, limit=limit)


def history(store: Store, given: Given) -> Json:
    """Return the changes of a memory, oldest first."""
    from scrubjay.surfaces.render.json import listing

    return listing("changes", store.history(given["id"]), id=given["id"])


def expiring(store: Store, given: Given) -> Json:
    """Return what is soon no longer valid, or what is not already."""
    from scrubjay.surfaces.render.json_memories import of_tiers
    from scrubjay.types import Memories

    found = store.expiring(given.get("within"), expired=given.get("expired", False))
    most = given.get("limit", MOST_HITS)
    shown = Memories(found[:most], found.missing, found.unasked, found.tiers)
    return of_tiers(shown)


def topics(store: Store, given: Given) -> Json:
    """Return the topics, most used first."""
    from scrubjay.surfaces.render.json_lists import topics

    return topics(store.topics(**{"limit": MOST_HITS, **given}))


def landscape(store: Store, given: Given) -> Json:
    """Return what is stored, in at most so many tokens."""
    from scrubjay.surfaces.render.json import plain

    shape: Json = plain(store.landscape(**given))
    return shape


def coverage(store: Store, given: Given) -> Json:
    """Return the files that were read, those with a problem first."""
    from scrubjay.surfaces.render.json_lists import coverage, in_order

    rest = dict(given)
    offset, limit = rest.pop("offset", 0), rest.pop("limit", MOST_HITS)
    files = in_order(store.coverage(**rest))
    return coverage(files, files[offset : offset + limit])


GET = Verb("get", "Return one memory, whole.", READ, (THE_ID,), "memories", get, ID)
GET_MANY = Verb(
    "get_many",
    "Return memories by their ids; those that are not there are named.",
    READ,
    (Param("ids", IDS, "a list of ids", required=True),),
    "memories",
    get_many,
    {"id": "ids", "memory_ids": "ids", "memory_id": "ids"},
)
LS = Verb(
    "ls",
    "List memories, newest first; of a session, its latest, in the order in which they were said.",
    READ,
    (
        Param("namespace", NAME, "only there; `project/` is all of a project"),
        Param("types", TEXTS, "any of these"),
        Param("topics", TEXTS, "any of these"),
        Param("collection", NAME, "only in this collection"),
        Param("session", NAME, "only of this conversation"),
        Param("owner", NAME, "only what is of this person"),
        Param("agent", NAME, "only what is of this agent"),
        *_PAGE,
    ),
    "memories",
    ls,
    WHERE | MANY | _SKIP | {"type": "types", "topic": "topics", "tags": "topics"},
)
NEIGHBORS = Verb(
    "neighbors",
    "Return what the links of a memory reach, best path first.",
    READ,
    (
        THE_ID,
        Param("depth", whole(1, 3), "over so many links (1)"),
        Param("limit", LIMIT, f"at most so many ({MOST_HITS})"),
    ),
    "links",
    neighbors,
    ID | MANY | {"hops": "depth"},
)
HISTORY = Verb(
    "history", "Return the changes of a memory.", READ, (THE_ID,), "history", history, ID
)
EXPIRING = Verb(
    "expiring",
    "Return what is soon no longer valid, soonest first.",
    READ,
    (
        Param("within", NAME, "hours, days or weeks, such as 12h, 30d or 2w (30d)"),
        Param("expired", FLAG, "what is over already, the latest first"),
        Param("limit", LIMIT, f"at most so many ({MOST_HITS})"),
    ),
    "memories",
    expiring,
    MANY,
)
TOPICS = Verb(
    "topics",
    "Return the topics with how many memories have each, most first.",
    READ,
    (
        Param("namespace", NAME, "only there"),
        Param("limit", LIMIT, f"at most so many ({MOST_HITS})"),
    ),
    "topics",
    topics,
    MANY | {"project": "namespace"},
)
LANDSCAPE = Verb(
    "landscape",
    "Say what is stored: types, topics, preferences, open tasks, summaries, decisions.",
    READ,
    (
        Param("tokens", TOKENS, "at most so many, at four characters each (800)"),
        Param("namespace", NAME, "only what is there"),
    ),
    "landscape",
    landscape,
    {"project": "namespace", "max_tokens": "tokens", "token_budget": "tokens"},
)
COVERAGE = Verb(
    "coverage",
    "Return the files that were read, or were not, and why.",
    READ,
    (
        Param("state", choice("indexed", "skipped", "failed"), "only those"),
        Param("collection", NAME, "only of this collection"),
        Param("namespace", NAME, "only there"),
        *_PAGE,
    ),
    "coverage",
    coverage,
    MANY | _SKIP | {"project": "namespace"},
)
