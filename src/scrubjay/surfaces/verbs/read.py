"""Verbs that read: memories by id, lists, sessions, links, the map; and the commands of reading."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from scrubjay.store import Store
from scrubjay.surfaces.render import json as render
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import READ, Command, Given, Param, command_of, params, verb
from scrubjay.surfaces.verbs.kinds import (
    ANY_NUMBER,
    BOUND,
    FLAG,
    IDS,
    MOST_HITS,
    NAME,
    QUERY,
    TEXT,
    choice,
    whole,
)
from scrubjay.text.lines import split_id
from scrubjay.types import Memories
from scrubjay.types.formats import EXPORTED
from scrubjay.types.reports import Version


class Versions(NamedTuple):
    """The versions of a memory, newest first."""

    id: str
    versions: list[Version]


def _versions_json(found: Versions) -> Json:
    return render.listing("versions", found.versions, id=found.id)


_MOST_TURNS = 100
_MOST_POINTS = 20_000  # more are too many for the web UI, and for one response
_LIST_ALIASES = {"type": "types", "topic": "topics", "tags": "topics"}


def _with_history(store: Store, found: Memories, given: Given) -> Json:
    versions, ids = {}, {memory.id for memory in found}
    if given.get("history"):
        versions = {id_: many for id_ in sorted(ids) if len(many := store.history(id_)) > 1}
    if not given.get("changes"):
        return render.got(found, versions)
    changes = [one for one in store.changes() if not ids.isdisjoint((one.new, one.old))]
    return {**render.got(found, versions), **render.listing("changes", changes)}


def _read(store: Store, asked: Sequence[str], given: Given, *, all_of: bool) -> Json:
    """Return memories by id, or the lines that `lines` or an id such as `ID:10-40` names."""
    lines = given.get("lines")
    wanted = [(one, lines or "") if lines or store.holds(one) else split_id(one) for one in asked]
    ids = list(dict.fromkeys(id_ for id_, _ in wanted))
    found = store.get_all(ids) if all_of else store.get_many(ids)
    return render.with_lines(_with_history(store, found, given), wanted)


_LINES = Param("lines", NAME, "only these lines, such as 10-40; they count from 1")
_HISTORY = Param("history", FLAG, "also the versions of those that were changed")
_CHANGES = Param("changes", FLAG, "also what they replaced, and what replaced them")
_STATE = Param("state", choice("indexed", "skipped", "failed"), "only files in this state")
_SHORT_ID = params.THE_ID._replace(help="a memory, or the first four or more characters of its id")
_DEPTH = Param("depth", whole(1, 3), "maximum number of links to follow", default=1)
_LS_FILTERS = params.filters("namespace types topics collection session owner agent")


@verb(READ, "memories", params.THE_ID, _LINES, _HISTORY, _CHANGES, aliases=params.ID_ALIASES)
def get(store: Store, given: Given) -> Json:
    """Return one memory in full, or lines of it."""
    return _read(store, [given["id"]], given, all_of=True)


@verb(
    READ,
    "memories",
    Param("ids", IDS, "a list of ids", required=True),
    _LINES,
    _HISTORY,
    _CHANGES,
    aliases={"id": "ids", "memory_ids": "ids", "memory_id": "ids"},
)
def get_many(store: Store, given: Given) -> Json:
    """Return memories by their ids, or lines of them, and the ids that do not exist."""
    return _read(store, given["ids"], given, all_of=False)


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


@verb(READ, "history", params.THE_ID, aliases=params.ID_ALIASES, shape=_versions_json)
def history(store: Store, given: Given) -> Versions:
    """Return the versions of a memory, newest first."""
    return Versions(given["id"], store.history(given["id"]))


@verb(
    READ,
    "changes",
    Param(
        "since",
        BOUND,
        "made on or after this: a date, a time, or words such as yesterday",
        usage="--since TIME",
    ),
    aliases={"after": "since"},
    shape=partial(render.listing, "changes"),
    found=bool,
)
def changes(store: Store, given: Given) -> Any:
    """List which memory was taken to replace which, the latest first."""
    return store.changes(**given)


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
            _LINES._replace(
                help="only these lines, such as 10-40; the same as ID:10-40", usage="--lines RANGE"
            ),
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
    command_of(
        history._replace(params=(_SHORT_ID,)),
        embed=False,
        description="Show the versions of a memory, newest first: when it was changed, by whom, and what it"
        " was before.",
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
    command_of(changes, embed=False),
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
        "unlink",
        "remove the links between two memories; a detected change is not detected again",
        (
            Param("id", NAME, "a memory", usage="id"),
            Param("other", NAME, "the other memory", usage="other"),
            Param("kind", NAME, "only links of this kind, such as updates (default: all)"),
        ),
        run="read:unlink",
    ),
    Command(
        "export",
        "write memories as Markdown files or JSON lines",
        (
            Param("path", TEXT, "a .jsonl file, or a folder for Markdown files", usage="[path]"),
            Param("to", choice(*EXPORTED), "the form of what is written to path", usage="--to"),
            Param("md", TEXT, "one Markdown file each, in this folder", usage="--md DIR"),
            Param("jsonl", TEXT, "JSON lines (default: standard output)", usage="--jsonl FILE"),
            *params.filters("namespace collection types topics session"),
            Param("force", FLAG, "replace files that exist, even if edited by hand"),
            Param("prune", FLAG, "with --md: delete files of entries that are not exported"),
        ),
        run="transfer:export",
        exclusive=(("md", "jsonl", "to"),),
    ),
)
