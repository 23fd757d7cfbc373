"""Shared collections: members, roles, and published memories."""

from __future__ import annotations

from collections.abc import Mapping

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.sharing.permissions import check_user
from scrubjay.storage.sql.collections import SharedCollection
from scrubjay.store.context import Context
from scrubjay.store.read import Reader
from scrubjay.text.validation import check_name
from scrubjay.times import micros
from scrubjay.types import OWNER, READER, ROLES, WRITER, Memory, Scope
from scrubjay.types.reports import Collection
from scrubjay.write.remember import new_id, write_memory


class Share:
    """Shared collections. A reader reads, a writer also writes, an owner also invites."""

    def __init__(self, context: Context, reader: Reader) -> None:
        self._context = context
        self._permissions = context.permissions
        self._people = context.tables.people
        self._copies = context.tables.copies
        self._records = context.tables.records
        self._read = reader

    def create_collection(self, name: str) -> Collection:
        name = check_name("collection", name, "team")
        with self._records.transaction():
            made = None
            if name not in (known.name for known in self._context.folders.collections()):
                made = self._people.create(name, micros(self._context.clock()))
            if made is None:
                raise InvalidInput(f"a collection {name!r} exists already; give another name")
            if self._permissions.user is not None:
                self._people.set_member(made, self._permissions.user, OWNER)
            return next(
                known
                for known in self._context.folders.collections()
                if known.shared and known.name == name
            )

    def members(self, name: str) -> Mapping[str, str]:
        return self._people.members(self._permissions.collection(name))

    def share(self, name: str, user: str, role: str = READER) -> Mapping[str, str]:
        if role not in ROLES:
            raise InvalidInput(f"role is {role!r}; it must be one of {', '.join(ROLES)}")
        person = check_user(user)
        with self._records.transaction():
            shared = self._permissions.collection(name)
            self._permissions.check_role(shared, OWNER)
            if role != OWNER:
                self._check_last_owner(shared, person)
            self._people.set_member(shared, person, role)
            return self._people.members(shared)

    def unshare(self, name: str, user: str) -> Mapping[str, str]:
        person = check_user(user)
        with self._records.transaction():
            shared = self._permissions.collection(name)
            if person != self._permissions.user:
                self._permissions.check_role(shared, OWNER)
            if person not in self._people.members(shared):
                members = ", ".join(self._people.members(shared)) or "none"
                raise NotFound(
                    f"{person!r} is not a member of {shared.name!r}; the members are: {members}"
                )
            self._check_last_owner(shared, person)
            self._people.remove_member(shared, person)
            return self._people.members(shared)

    def _check_last_owner(self, shared: SharedCollection, person: str) -> None:
        owners = [user for user, role in self._people.members(shared).items() if role == OWNER]
        if owners == [person]:
            raise InvalidInput(
                f"{person} is the last owner of the collection {shared.name!r}; make another"
                " member an owner first, or remove the collection"
            )

    def publish(self, id: str, name: str) -> Memory:
        self._context.embedding.activate()
        with self._records.transaction():
            memory = self._read.get_all([id])[0]
            self._context.lookup.refuse_others([id])
            shared = self._permissions.collection(name)
            self._permissions.check_role(shared, WRITER)
            self._refuse_twice(memory, shared)
            copy = memory._replace(
                namespace=shared.namespace, collection=shared.name, session=None, links=()
            )
            copy = copy._replace(id=new_id(self._records, copy))
            write_memory(self._context.shelf, copy)
            self._copies.add(copy.id, memory.id)
        self._context.embedding.wake()
        return self._read.get_all([copy.id])[0]

    def unpublish(self, id: str, name: str) -> None:
        with self._records.transaction():
            memory = self._read.get_all([id])[0]
            self._context.lookup.refuse_others([id])
            shared = self._permissions.collection(name)
            self._permissions.check_role(shared, WRITER)
            inside = Scope(namespaces=(shared.namespace,))
            copies = self._copies.of([id], inside) or self._copies.among([id], inside)
            if not copies and memory.namespace == shared.namespace:
                raise InvalidInput(
                    f"{id} was written in the collection {shared.name!r}, not published there;"
                    " `forget` removes it"
                )
            if not copies:
                raise NotFound(f"{id} is not published in the collection {shared.name!r}")
            self._records.delete(copies)
        self._context.db.purge()

    def _refuse_twice(self, memory: Memory, shared: SharedCollection) -> None:
        """Refuse what is in the collection already: the memory, its copy, or the same text and type."""
        if memory.namespace == shared.namespace:
            raise InvalidInput(f"{memory.id} is in the collection {shared.name!r} already")
        copies = self._copies.of([memory.id], Scope(namespaces=(shared.namespace,)))
        if copies:
            raise InvalidInput(
                f"{memory.id} is in the collection {shared.name!r} already, as {copies[0]}; to"
                " publish it again, unpublish it first"
            )
        same = self._records.find_duplicate((memory.content_hash, memory.type, shared.namespace))
        if same is not None and memory.type != "message":
            raise InvalidInput(
                f"the same text is in the collection {shared.name!r} already, as {same}"
            )
