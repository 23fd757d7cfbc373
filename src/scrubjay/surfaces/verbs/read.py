"""Verbs that read: memories by id, lists, sessions, links, the map; and the commands of reading."""

from __future__ import annotations

from functools import partial
from typing import Any

from scrubjay.store import Store
from scrubjay.surfaces.render import json as render
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import READ, Command, Given, Param, command_of, params, verb
from scrubjay.surfaces.verbs.kinds import (
    ANY_NUMBER,
    FLAG,
    IDS,
    MOST_HITS,
    NAME,
    QUERY,
    TEXT,
    choice,
    whole,
)
from scrubjay.types import Memories

_MOST_TURNS = 100
_MOST_POINTS = 20_000  # more are too many for the web UI, and for one response
_LIST_ALIASES = {"type": "types", "topic": "topics", "tags": "topics"}


def _with_history(store: Store, found: Memories) -> Json:
    history = {memory.id: changes for memory in found if (changes := store.history(memory.id))}
    return render.got(found, history)


_STATE = Param("state", choice("indexed", "skipped", "failed"), "only files in this state")
_DEPTH = Param("depth", whole(1, 3), "maximum number of links to follow", default=1)
_LS_FILTERS = params.filters("namespace types topics collection session owner agent")


@verb(READ, "memories", params.THE_ID, aliases=params.ID_ALIASES)
def get(store: Store, given: Given) -> Json:
    """Return one memory in full."""
    return _with_history(store, store.get_all([given["id"]]))


@verb(
    READ,
    "memories",
    Param("ids", IDS, "a list of ids", required=True),
    aliases={"id": "ids", "memory_ids": "ids", "memory_id": "ids"},
)
def get_many(store: Store, given: Given) -> Json:
    """Return memories by their ids, and the ids that do not exist."""
    return _with_history(store, store.get_many(list(dict.fromkeys(given["ids"]))))


@verb(
    READ,
    "memories",
    *_LS_FILTERS,
    params.limit(50),
    params.SKIP,
    aliases=params.SCOPE_ALIASES | params.LIMIT_ALIASES | params.SKIP_ALIASES | _LIST_ALIASES,
)
def ls(store: Store, given: Given) -> Json:
    """List memories, newest first; of a session, the latest messages in their order."""
    return render.listed(store.ls(**given))


@verb(
    READ,
    "links",
    params.THE_ID,
    _DEPTH,
    params.limit(MOST_HITS),
    aliases=params.ID_ALIASES | params.LIMIT_ALIASES | {"hops": "depth"},
)
def neighbors(store: Store, given: Given) -> Json:
    """Return the memories that the links of a memory reach, best path first."""
    depth, most = given.get("depth", 1), given.get("limit", MOST_HITS)
    return render.neighbors(store, given["id"], depth=depth, limit=most)


@verb(READ, "history", params.THE_ID, aliases=params.ID_ALIASES)
def history(store: Store, given: Given) -> Json:
    """Return the changes of a memory, oldest first."""
    return render.listing("changes", store.history(given["id"]), id=given["id"])


@verb(
    READ,
    "sessions",
    *params.filters("namespace owner agent"),
    params.limit(50),
    params.SKIP,
    aliases=params.OWNER_ALIASES | params.LIMIT_ALIASES | params.SKIP_ALIASES,
    shape=partial(render.listing, "sessions"),
    found=bool,
)
def sessions(store: Store, given: Given) -> Any:
    """List the sessions, the one with the newest message first."""
    return store.sessions(**given)


@verb(
    READ,
    "memories",
    params.THE_ID,
    Param("turns", whole(0, _MOST_TURNS), "number of messages on each side", default=2),
    aliases=params.ID_ALIASES | {"depth": "turns", "n": "turns"},
)
def around(store: Store, given: Given) -> Json:
    """Return a message with the messages before and after it."""
    return render.listed(store.around(**given))


@verb(
    READ,
    "memories",
    Param(
        "within",
        NAME,
        "hours, days or weeks, such as 12h, 30d or 2w (default: 30d; expired: any time)",
        usage="--within TIME",
    ),
    Param("expired", FLAG, "memories that have expired, the latest first"),
    params.limit(),
    aliases=params.LIMIT_ALIASES,
    shape=render.of_tiers,
    found=bool,
)
def expiring(store: Store, given: Given) -> Memories:
    """List memories that expire soon, or have expired."""
    found = store.expiring(given.get("within"), expired=given.get("expired", False))
    most = given.get("limit", MOST_HITS)  # None, of the CLI, is all
    return Memories(found[:most], found.missing, found.unasked, found.tiers)


@verb(
    READ,
    "coverage",
    _STATE,
    *params.filters("collection namespace"),
    params.limit(MOST_HITS),
    params.SKIP,
    aliases=params.LIMIT_ALIASES | params.SKIP_ALIASES | {"project": "namespace"},
)
def coverage(store: Store, given: Given) -> Json:
    """List the ingested files, and those that were skipped or failed, with the reason."""
    rest = dict(given)
    offset, most = rest.pop("offset", 0), rest.pop("limit", MOST_HITS)
    files = render.in_order(store.coverage(**rest))
    return render.coverage(files, files[offset : offset + most])


@verb(
    READ,
    "map",
    Param("query", QUERY, "also return the point of this query, and its neighbors"),
    params.limit(10_000, whole(1, _MOST_POINTS), "maximum number of points, a random sample"),
    Param("points", FLAG, "false: only the point of the query (default: true)"),
    *params.filters("namespace collection types topics session owner agent since until"),
    aliases=params.SCOPE_ALIASES
    | params.LIMIT_ALIASES
    | _LIST_ALIASES
    | {"q": "query", "after": "since", "before": "until"},
)
def map(store: Store, given: Given) -> Any:
    """Return the memories as points of a plane; similar ones are close together."""
    return store.map(**given)


@verb(
    READ,
    "graph",
    params.THE_ID,
    _DEPTH,
    params.limit(50),
    aliases=params.ID_ALIASES | params.LIMIT_ALIASES | {"hops": "depth"},
)
def surroundings(store: Store, given: Given) -> Any:
    """Return the graph around a memory: what its links reach, and the links among these."""
    return store.surroundings(**given)


COMMANDS = (
    Command(
        "get",
        "show memories in full",
        (
            Param("ids", IDS, params.PREFIXES, usage="id..."),
            Param("md", FLAG, "print Markdown"),
            Param(
                "around",
                whole(0, _MOST_TURNS),
                "of a message, also this many messages before and after it",
                usage="--around N",
            ),
            params.TIERS,
        ),
        run="read:get",
    ),
    Command(
        "ls",
        "list memories, newest first",
        (
            *_LS_FILTERS,
            params.limit(help="maximum number of results (default: 50; --coverage: all)"),
            params.SKIP,
            Param("coverage", FLAG, "list ingested files instead, and whether they were indexed"),
            _STATE._replace(help="with --coverage: only files in this state"),
        ),
        run="read:ls",
        description="List memories, newest first; with --session, the latest messages of a session in"
        " their order.",
    ),
    command_of(sessions),
    command_of(expiring, params.TIERS, embed=False),
    Command(
        "link",
        "link two memories, remove a link, or show linked memories",
        (
            Param("id", NAME, "a memory", usage="id"),
            Param("other", NAME, "the memory to link it with", usage="[other]"),
            Param("kind", NAME, "the kind of the link (default: related)"),
            Param(
                "strength", ANY_NUMBER, "above 0 and at most 1", default=1.0, usage="--strength N"
            ),
            Param("unlink", FLAG, "remove the link"),
            Param("show", FLAG, "show linked memories"),
            _DEPTH._replace(help="with --show: maximum number of links to follow"),
        ),
        run="read:link",
        exclusive=(("unlink", "show"),),
    ),
    Command(
        "export",
        "write memories as Markdown files or JSON lines",
        (
            Param("path", TEXT, "a .jsonl file, or a folder for Markdown files", usage="[path]"),
            Param("md", TEXT, "one Markdown file each, in this folder", usage="--md DIR"),
            Param("jsonl", TEXT, "JSON lines (default: standard output)", usage="--jsonl FILE"),
            *params.filters("namespace collection types topics session"),
            Param("force", FLAG, "replace files that exist, even if edited by hand"),
            Param("prune", FLAG, "with --md: delete files of entries that are not exported"),
        ),
        run="transfer:export",
        exclusive=(("md", "jsonl"),),
    ),
)
