"""Collections that people share: who belongs to them, and what is published into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.parts.reading import Reading
from scrubjay.sharing.permissions import person_named
from scrubjay.storage.sql.collections import OWNER, READER, ROLES, WRITER
from scrubjay.text.validation import check_name
from scrubjay.times import micros
from scrubjay.types import Memories, Memory, Scope

if TYPE_CHECKING:
    from scrubjay.storage.sql.collections import Shared
    from scrubjay.types.reports import Collection


class Sharing(Reading):
    """The verbs of shared collections. A reader sees, a writer also writes, an owner also invites."""

    def create_collection(self, name: str) -> Collection:
        """Make a collection to share; the caller becomes its owner."""
        name = check_name("collection", name, "team")
        with self._records.transaction():
            made = None
            if name not in (one.name for one in self.collections()):
                made = self._people.create(name, micros(self._clock()))
            if made is None:
                raise InvalidInput(f"there is a collection {name!r} already; give another name")
            if self._caller.user is not None:
                self._people.join(made, self._caller.user, OWNER)
            return next(one for one in self.collections() if one.shared and one.name == name)

    def members(self, name: str) -> Mapping[str, str]:
        """Return who belongs to a shared collection, each with their role; owners first."""
        return self._people.members(self._caller.collection(name))

    def share(self, name: str, user: str, role: str = READER) -> Mapping[str, str]:
        """Invite somebody into a collection, or give them another role; return who belongs to it now."""
        if role not in ROLES:
            raise InvalidInput(f"role is {role!r}; it must be one of {', '.join(ROLES)}")
        person = person_named(user)
        with self._records.transaction():
            shared = self._caller.collection(name)
            self._caller.check_role(shared, OWNER)
            if role != OWNER:
                self._refuse_to_orphan(shared, person)
            self._people.join(shared, person, role)
            return self._people.members(shared)

    def unshare(self, name: str, user: str) -> Mapping[str, str]:
        """Remove somebody from a collection, or leave it oneself; return who still belongs to it."""
        person = person_named(user)
        with self._records.transaction():
            shared = self._caller.collection(name)
            if person != self._caller.user:
                self._caller.check_role(shared, OWNER)
            if person not in self._people.members(shared):
                there = ", ".join(self._people.members(shared)) or "nobody"
                raise NotFound(f"{person!r} is not in the collection {shared.name!r}: {there}")
            self._refuse_to_orphan(shared, person)
            self._people.leave(shared, person)
            return self._people.members(shared)

    def _refuse_to_orphan(self, shared: Shared, person: str) -> None:
        owners = [who for who, role in self._people.members(shared).items() if role == OWNER]
        if owners == [person]:
            raise InvalidInput(
                f"{person} is the last owner of the collection {shared.name!r}; make somebody else"
                " an owner first, or remove the collection"
            )

    def publish(self, id: str, name: str) -> Memory:
        """Copy a memory into a shared collection, for everybody in it; return the copy.

        The copy stays as it is when the memory changes, and goes when the memory is forgotten.
        """
        from scrubjay.write.remember import new_id, write_memory

        self._embedding.activate()
        with self._records.transaction():
            memory = self.get(id)
            self._refuse_others([id])
            shared = self._caller.collection(name)
            self._caller.check_role(shared, WRITER)
            self._refuse_twice(memory, shared)
            copy = memory._replace(
                namespace=shared.namespace, collection=shared.name, session=None, links=()
            )
            copy = copy._replace(id=new_id(self._records, copy))
            write_memory(self._shelf(), copy)
            self._copies.note(copy.id, memory.id)
        self._embedding.wake()
        return self.get(copy.id)

    def unpublish(self, id: str, name: str) -> None:
        """Take a memory out of a collection again, by its own id or by that of the copy."""
        with self._records.transaction():
            memory = self.get(id)
            self._refuse_others([id])
            shared = self._caller.collection(name)
            self._caller.check_role(shared, WRITER)
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
        self._db.purge_log()

    def _refuse_twice(self, memory: Memory, shared: Shared) -> None:
        """Refuse to publish what is in a collection already: itself, its copy, or the same text and type."""
        if memory.namespace == shared.namespace:
            raise InvalidInput(f"{memory.id} is in the collection {shared.name!r} itself already")
        copies = self._copies.of([memory.id], Scope(namespaces=(shared.namespace,)))
        if copies:
            raise InvalidInput(
                f"{memory.id} is in the collection {shared.name!r} already, as {copies[0]}; to"
                " publish it anew, unpublish it first"
            )
        same = self._records.same(memory.content_hash, memory.type, shared.namespace)
        if same is not None and memory.type != "message":
            raise InvalidInput(
                f"the same text is in the collection {shared.name!r} already, as {same}:"
                " everybody there finds it"
            )

    def _to_change(self, ids: Sequence[str]) -> Memories:
        """Return these memories if the caller may change all of them."""
        found = self.get_all(ids)
        self._refuse_others(ids)
        allowed = self._records.get(ids, self._caller.changes)
        for one in found:
            if one.id not in allowed:
                shared = self._people.of_namespace(one.namespace)
                if shared is None:  # it was removed in this very moment
                    raise NotFound(f"no memory has the id {one.id!r}", of="memory")
                self._caller.check_role(shared, WRITER)
        return found
