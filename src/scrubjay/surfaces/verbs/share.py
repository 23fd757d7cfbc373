"""The verbs of collections and topics, and of who shares a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.storage.sql.collections import ROLES
from scrubjay.surfaces.verbs import ADMIN, READ, WRITE, Given, Param, Verb
from scrubjay.surfaces.verbs.fields import ID, THE_ID
from scrubjay.surfaces.verbs.kinds import NAME, choice

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

_NAME = Param("name", NAME, "the name of a collection", required=True)
_USER = Param("user", NAME, "the name of a person", required=True)
_WHERE = Param("namespace", NAME, "which, where one's own and a shared one have the same name")
_COLLECTION = {"collection": "name"}
_PERSON = _COLLECTION | {"person": "user", "user_id": "user"}


def collections(store: Store, _: Given) -> Json:
    """Return the collections."""
    from scrubjay.surfaces.render.json_lists import collections

    return collections(store.collections())


def create_collection(store: Store, given: Given) -> Json:
    """Make a collection to share, and return all that there are."""
    from scrubjay.surfaces.render.json_lists import collections

    store.create_collection(given["name"])
    return collections(store.collections(), "created")


def rename_collection(store: Store, given: Given) -> Json:
    """Give a collection another name, and return all that there are."""
    from scrubjay.surfaces.render.json_lists import collections

    count = store.rename_collection(**given)
    return collections(store.collections(), "renamed", count)


def remove_collection(store: Store, given: Given) -> Json:
    """Forget everything in a collection, and return those that are left."""
    from scrubjay.surfaces.render.json_lists import collections

    count = store.remove_collection(**given)
    return collections(store.collections(), "removed", count)


def members(store: Store, given: Given) -> Json:
    """Return who belongs to a collection."""
    from scrubjay.surfaces.render.json_lists import members

    return members(given["name"], store.members(given["name"]))


def share(store: Store, given: Given) -> Json:
    """Invite somebody, or give them another role."""
    from scrubjay.surfaces.render.json_lists import members

    return members(given["name"], store.share(**given), "shared")


def unshare(store: Store, given: Given) -> Json:
    """Remove somebody from a collection."""
    from scrubjay.surfaces.render.json_lists import members

    return members(given["name"], store.unshare(**given), "unshared")


def publish(store: Store, given: Given) -> Json:
    """Copy a memory into a collection."""
    from scrubjay.surfaces.render.json_lists import published

    return published(given["id"], given["name"], store.publish(**given))


def unpublish(store: Store, given: Given) -> Json:
    """Take a copy out of a collection again."""
    from scrubjay.surfaces.render.json_lists import published

    store.unpublish(**given)
    return published(given["id"], given["name"], None)


def rename_topic(store: Store, given: Given) -> Json:
    """Give a topic another name, and return all that there are."""
    from scrubjay.surfaces.render.json_lists import topics
    from scrubjay.surfaces.verbs.kinds import MOST_HITS

    count = store.rename_topic(**given)
    return topics(store.topics(limit=MOST_HITS), "renamed", count)


COLLECTIONS = Verb("collections", "List the collections.", READ, (), "collections", collections)
CREATE_COLLECTION = Verb(
    "create_collection",
    "Make a collection to share.",
    WRITE,
    (_NAME,),
    "collections",
    create_collection,
    _COLLECTION,
)
RENAME_COLLECTION = Verb(
    "rename_collection",
    "Give a collection another name.",
    WRITE,
    (_NAME, Param("new_name", NAME, "what it is called from now on", required=True), _WHERE),
    "collections",
    rename_collection,
    _COLLECTION | {"new": "new_name"},
)
REMOVE_COLLECTION = Verb(
    "remove_collection",
    "Forget everything in a collection, for good.",
    ADMIN,
    (_NAME, _WHERE),
    "collections",
    remove_collection,
    _COLLECTION,
)
MEMBERS = Verb(
    "members", "Say who belongs to a collection.", READ, (_NAME,), "members", members, _COLLECTION
)
SHARE = Verb(
    "share",
    "Invite somebody into a collection, or give them another role.",
    WRITE,
    (
        _NAME,
        _USER,
        Param("role", choice(*ROLES), "a reader sees, a writer writes, an owner invites (reader)"),
    ),
    "members",
    share,
    _PERSON,
)
UNSHARE = Verb(
    "unshare",
    "Remove somebody from a collection.",
    WRITE,
    (_NAME, _USER),
    "members",
    unshare,
    _PERSON,
)
PUBLISH = Verb(
    "publish",
    "Copy a memory into a shared collection.",
    WRITE,
    (THE_ID, _NAME),
    "published",
    publish,
    ID | _COLLECTION,
)
UNPUBLISH = Verb(
    "unpublish",
    "Take a memory out of a shared collection again.",
    WRITE,
    (THE_ID, _NAME),
    "published",
    unpublish,
    ID | _COLLECTION,
)
RENAME_TOPIC = Verb(
    "rename_topic",
    "Give a topic another name, or that of another, which it then joins.",
    WRITE,
    (
        Param("old", NAME, "a topic", required=True),
        Param("new", NAME, "its new name", required=True),
    ),
    "topics",
    rename_topic,
    {"topic": "old", "name": "old", "new_name": "new"},
)
