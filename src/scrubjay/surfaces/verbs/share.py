"""Verbs of topics, collections and sharing; and their commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scrubjay.store import Store
from scrubjay.surfaces.render import json as render
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import (
    ADMIN,
    READ,
    WRITE,
    Action,
    Command,
    Given,
    Param,
    Verb,
    command_of,
    verb,
)
from scrubjay.surfaces.verbs.kinds import MOST_HITS, NAME, TEXTS, choice
from scrubjay.surfaces.verbs.params import ID_ALIASES, LIMIT_ALIASES, NAMESPACE, THE_ID, YES, limit
from scrubjay.types import READER, ROLES, Memory
from scrubjay.types.reports import Collection


class Topics(NamedTuple):
    """The topics now, and how many memories had the one that was renamed."""

    topics: Mapping[str, int]
    done: str = "listed"
    memories: int = 0

    def json(self) -> Json:
        topics = [{"topic": name, "memories": count} for name, count in self.topics.items()]
        return {"topics": topics, "done": self.done, "memories": self.memories}


class Collections(NamedTuple):
    """The collections now, what was done to one, and with how many memories."""

    collections: Sequence[Collection]
    done: str = "listed"
    memories: int = 0

    def json(self) -> Json:
        return render.listing(
            "collections", self.collections, done=self.done, memories=self.memories
        )


class Members(NamedTuple):
    """The members of a collection now, with their roles."""

    collection: str
    members: Mapping[str, str]
    done: str = "listed"

    def json(self) -> Json:
        return {"collection": self.collection, "members": dict(self.members), "done": self.done}


class Published(NamedTuple):
    """The copy of a memory in a collection, or None if it was removed."""

    id: str
    collection: str
    copy: Memory | None

    def json(self) -> Json:
        done = "unpublished" if self.copy is None else "published"
        return {**self._asdict(), "copy": render.plain(self.copy), "done": done}


_NAME = Param("name", NAME, "the name of a collection", required=True, usage="name")
_USER = Param("user", NAME, "the name of a person", required=True, usage="person")
_WHICH = Param("namespace", NAME, "which one, if your own and a shared one have the same name")
_NAME_ALIASES = {"collection": "name"}
_USER_ALIASES = _NAME_ALIASES | {"person": "user", "user_id": "user"}


@verb(
    READ,
    "topics",
    NAMESPACE,
    limit(),
    aliases=LIMIT_ALIASES | {"project": "namespace"},
    shape=Topics.json,
    found=lambda result: result.topics,
)
def topics(store: Store, given: Given) -> Topics:
    """List topics with the number of their memories, most used first."""
    return Topics(store.topics(**{"limit": MOST_HITS, **given}))


@verb(
    WRITE,
    "topics",
    Param("old", NAME, "the topic to rename", required=True, usage="old"),
    Param("new", NAME, "its new name, or a topic to merge it into", required=True, usage="new"),
    aliases={"topic": "old", "name": "old", "new_name": "new"},
    shape=Topics.json,
)
def rename_topic(store: Store, given: Given) -> Topics:
    """Rename a topic, or merge it into another."""
    count = store.rename_topic(**given)
    return Topics(store.topics(limit=MOST_HITS), "renamed", count)


@verb(READ, "collections", shape=Collections.json, found=lambda result: result.collections)
def collections(store: Store, _: Given) -> Collections:
    """List the collections."""
    return Collections(store.collections())


@verb(WRITE, "collections", _NAME, aliases=_NAME_ALIASES, shape=Collections.json)
def create_collection(store: Store, given: Given) -> Collections:
    """Create a collection that can be shared."""
    store.create_collection(**given)
    return Collections(store.collections(), "created")


@verb(
    WRITE,
    "collections",
    _NAME,
    Param("new_name", NAME, "the new name", required=True, usage="new_name"),
    _WHICH,
    aliases=_NAME_ALIASES | {"new": "new_name"},
    shape=Collections.json,
)
def rename_collection(store: Store, given: Given) -> Collections:
    """Rename a collection."""
    count = store.rename_collection(**given)
    return Collections(store.collections(), "renamed", count)


@verb(ADMIN, "collections", _NAME, _WHICH, aliases=_NAME_ALIASES, shape=Collections.json)
def remove_collection(store: Store, given: Given) -> Collections:
    """Delete a collection with all its memories, permanently."""
    count = store.remove_collection(**given)
    return Collections(store.collections(), "removed", count)


@verb(READ, "members", _NAME, aliases=_NAME_ALIASES, shape=Members.json)
def members(store: Store, given: Given) -> Members:
    """List the members of a collection."""
    return Members(given["name"], store.members(given["name"]))


@verb(
    WRITE,
    "members",
    _NAME,
    _USER,
    Param(
        "role",
        choice(*ROLES),
        "reader reads, writer also writes, owner also invites (default: reader)",
        usage="--role ROLE",
    ),
    aliases=_USER_ALIASES,
    shape=Members.json,
)
def share(store: Store, given: Given) -> Members:
    """Invite a person into a collection, or change their role."""
    name, user = given["name"], given["user"]
    role = given.get("role", READER)
    if role is None:  # of the CLI without --role: a member keeps their role
        role = store.members(name).get(user.strip(), READER)
    return Members(name, store.share(name, user, role), "shared")


@verb(WRITE, "members", _NAME, _USER, aliases=_USER_ALIASES, shape=Members.json)
def unshare(store: Store, given: Given) -> Members:
    """Remove a person from a collection."""
    return Members(given["name"], store.unshare(**given), "unshared")


@verb(WRITE, "published", THE_ID, _NAME, aliases=ID_ALIASES | _NAME_ALIASES, shape=Published.json)
def publish(store: Store, given: Given) -> Published:
    """Copy a memory into a shared collection."""
    return Published(given["id"], given["name"], store.publish(**given))


@verb(WRITE, "published", THE_ID, _NAME, aliases=ID_ALIASES | _NAME_ALIASES, shape=Published.json)
def unpublish(store: Store, given: Given) -> Published:
    """Remove the copy of a memory from a shared collection."""
    store.unpublish(**given)
    return Published(given["id"], given["name"], None)


_KEY = Param("name", NAME, "the name of the key: laptop, ci", usage="name", required=True)


def _key(name: str, *params: Param) -> Action:
    """Return an action of `key`: it has parameters only, because keys are no verbs of a store."""
    return Action(Verb(name, "", ADMIN, params, "tokens", lambda *_: None))


_KEY_ACTIONS = {
    "create": _key(
        "create",
        _KEY,
        Param(
            "scopes",
            TEXTS,
            "read, write (includes read) or admin (everything) (default: read)",
            usage="--scope SCOPE",
        ),
        Param("expires", NAME, "12h, 90d, 2w or a date (default: never)", usage="--expires TIME"),
    ),
    "list": _key("list"),
    "revoke": _key("revoke", _KEY),
    "open": _key("open"),
}
_KEY_DESCRIPTION = (
    "Create an API key for callers of a server over HTTP or MCP, list the keys, or revoke one. The secret"
    " of a new key is shown once. With --tenant a key opens the store of that tenant; with --user it sees"
    " what that person sees; list shows only such keys then. Keys of all tenants are stored in the"
    " database without a tenant, unless the settings name one. Once a key has been created, servers"
    " require one, even after the last is revoked; open allows callers on this machine without a key again."
)
COMMANDS = (
    Command(
        "topics",
        "list topics, or rename one",
        actions={"list": Action(topics), "rename": Action(rename_topic)},
        default_action="list",
    ),
    Command(
        "collections",
        "list collections; create, rename or remove one; list its members",
        actions={
            "list": Action(collections),
            "create": Action(create_collection),
            "members": Action(members),
            "rename": Action(rename_collection),
            "remove": Action(remove_collection, (YES,)),
        },
        default_action="list",
    ),
    command_of(share),
    command_of(unshare),
    command_of(publish),
    command_of(unpublish),
    Command(
        "key",
        "create, list or revoke API keys for a server, or open it without",
        actions=_KEY_ACTIONS,
        run="keys:key",
        description=_KEY_DESCRIPTION,
    ),
    Command("token", "alias for key", actions=_KEY_ACTIONS, run="keys:key"),
)
