"""Permissions of a caller: what they may read, and where they write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.storage.sql.scope import personal_namespace
from scrubjay.text.validation import check_name, check_text, did_you_mean, several
from scrubjay.times import parse_bound, system_clock
from scrubjay.types import DEFAULT_NAMESPACE, OWNER, ROLES, SHARED_PREFIX, WRITER, Scope

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.storage.sql.collections import SharedCollection, SqlCollections
    from scrubjay.types import Filters, Memory

_MOST_SHOWN = 10


class Permissions:
    """What one caller may see and change.

    Without a user that is everything. A user sees their own namespace and the collections they belong to.
    """

    def __init__(
        self,
        user: str | None,
        people: SqlCollections,
        of_project: Callable[[str], Sequence[str]] = lambda _: (),
        clock: Callable[[], datetime] = system_clock,
    ) -> None:
        self.user = user
        self._of_project, self._clock = of_project, clock
        self.sees = Scope(reader=self.user)
        self.changes = Scope(writer=self.user)
        self._people = people

    def narrowed(self, filters: Filters) -> Scope:
        return self.expanded(self.checked(filters))

    def checked(self, filters: Filters) -> Scope:
        """Check filters without asking the store; `project/` is not yet all of that project."""
        named = several(filters.namespaces, "namespaces")
        one = None if filters.namespace is None else (check_text("namespace", filters.namespace),)
        return self.sees._replace(
            namespaces=one if named is None else named + (one or ()),
            ids=None if filters.ids is None else tuple(filters.ids),
            types=several(filters.types, "types"),
            topics=None if filters.topics is None else topics_of(filters.topics),
            collection=_text("collection", filters.collection),
            session=_text("session", filters.session),
            owner=_text("owner", filters.owner),
            agent=_text("agent", filters.agent),
            domain=_text("only_domain", filters.only_domain),
            since=parse_bound(filters.since, "since", self._clock),
            until=parse_bound(filters.until, "until", self._clock, end_of_day=True),
        )

    def expanded(self, scope: Scope) -> Scope:
        """Replace `project/` by all namespaces of that project, if there are any."""
        if scope.namespaces is None or not any(map(_is_project, scope.namespaces)):
            return scope
        found = [
            (_is_project(name) and self._of_project(name)) or (name,) for name in scope.namespaces
        ]
        return scope._replace(namespaces=tuple(dict.fromkeys(chain.from_iterable(found))))

    def unmatched(self, namespaces: tuple[str, ...] | None) -> list[str]:
        """Name each project without a namespace that the caller sees, and the projects that exist."""
        missing = [
            name for name in namespaces or () if _is_project(name) and not self._of_project(name)
        ]
        if not missing:
            return []
        names = (name.partition("/") for name in self._of_project(""))
        known = sorted({f"{project}/" for project, slash, _ in names if slash})
        shown = ", ".join(known[:_MOST_SHOWN]) or "none"
        more = " …" if len(known) > _MOST_SHOWN else ""
        return [
            f"no namespace begins with {name!r}{did_you_mean(name, known)}; projects are: {shown}{more}"
            for name in missing
        ]

    def half_named(self, namespaces: tuple[str, ...] | None) -> list[str]:
        """Name each project that was given without its slash."""
        bare = (name for name in namespaces or () if name and not _is_project(name))
        return [
            f"there is no namespace {name!r}; did you mean the whole project, {f'{name}/'!r}?"
            for name in bare
            if self._of_project(f"{name}/") and name not in self._of_project(name)
        ]

    def placed(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return a memory with the namespace that the caller writes it to.

        A memory that names a shared collection of the caller, and no namespace, is written there, if
        their role allows it. Any other collection is a label on their own memories.
        """
        asked, own = given.get("namespace"), self.personal
        asked = asked.strip() if isinstance(asked, str) else asked
        if asked in (None, DEFAULT_NAMESPACE):
            shared = self._named(given.get("collection"))
        else:
            shared = self._by_namespace(asked)
        if shared is not None:
            self.check_role(shared, WRITER)
            return {**given, "namespace": shared.namespace, "collection": shared.name}
        if own is None:
            return given
        if asked not in (None, DEFAULT_NAMESPACE, own):
            raise InvalidInput(
                f"namespace is {asked!r}; this store is open for one user, whose namespace is"
                f" {own!r}"
            )
        return {**given, "namespace": own}

    def check_place(self, namespace: str) -> None:
        """Refuse a namespace in which the caller may not write; called inside the transaction."""
        if namespace.startswith(SHARED_PREFIX):
            if self._people.by_namespace(namespace) is None:
                raise NotFound(f"the collection with the namespace {namespace!r} was removed")
            self.placed({"namespace": namespace})

    def moved(
        self, given: dict[str, Any], before: Memory, changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return a changed memory with its namespace: another collection may be another namespace."""
        here = before.namespace
        leaves = here in (DEFAULT_NAMESPACE, self.personal) or self._people.by_namespace(here)
        if "namespace" not in changes and leaves:
            given = {**given, "namespace": None}
        return self.placed(given)

    @property
    def personal(self) -> str | None:
        """The namespace of the caller's own memories; None without a user."""
        return None if self.user is None else personal_namespace(self.user)

    def collection(self, name: object) -> SharedCollection:
        """Return a shared collection that the caller belongs to; NotFound for any other."""
        asked = check_name("collection", name, "team")
        found = self.shared(asked)
        if found is None:
            known = ", ".join(self._people.visible(self.sees)) or "none"
            raise NotFound(f"you belong to no shared collection {asked!r}; yours are: {known}")
        return found

    def shared(self, name: str) -> SharedCollection | None:
        return self._if_member(self._people.by_name(name.strip()))

    def _named(self, name: object) -> SharedCollection | None:
        """Return the shared collection with this name; refuse a name with two meanings."""
        shared = self.shared(name) if isinstance(name, str) else None
        if shared is not None:
            self.check_one_name(shared)
        return shared

    def check_one_name(self, shared: SharedCollection) -> None:
        """Refuse a name that is also a label of the caller's own memories.

        A user may be added to a collection whose name they use already. What they then wrote for
        themselves would be read by others.
        """
        own = self.personal or DEFAULT_NAMESPACE
        if self._people.is_label(shared.name, own):
            raise InvalidInput(
                f"there are two collections {shared.name!r}, your own and a shared one;"
                f" select one with namespace={own!r} or namespace={shared.namespace!r}"
            )

    def role(self, shared: SharedCollection) -> str | None:
        return OWNER if self.user is None else self._people.members(shared).get(self.user)

    def check_role(self, shared: SharedCollection, least: str) -> None:
        """Refuse what the caller's role does not allow, and name the owners."""
        role = self.role(shared)
        if role is None or ROLES.index(role) > ROLES.index(least):
            members = self._people.members(shared).items()
            owners = [user for user, held in members if held == OWNER] or ["the owner of the file"]
            raise InvalidInput(
                f"you are a {role} of the collection {shared.name!r}, which needs"
                f" {'an' if least == OWNER else 'a'} {least} for this; ask {' or '.join(owners)}"
            )

    def _if_member(self, shared: SharedCollection | None) -> SharedCollection | None:
        return shared if shared is not None and self.role(shared) is not None else None

    def _by_namespace(self, namespace: object) -> SharedCollection | None:
        """Return the collection with this namespace; refuse the namespace of none."""
        if not isinstance(namespace, str) or not namespace.startswith(SHARED_PREFIX):
            return None
        found = self._if_member(self._people.by_namespace(namespace))
        if found is None and self.user is None:
            raise InvalidInput(
                f"namespace is {namespace!r}, but no shared collection has it; `create_collection`"
                " creates one"
            )
        return found


def _is_project(namespace: str) -> bool:
    return namespace.endswith("/")


def check_user(user: object) -> str:
    """Return the name of a user without the spaces around it; refuse one that cannot be printed."""
    return check_name("user", user, "ann")


def _text(name: str, given: object) -> str | None:
    return None if given is None else check_text(name, given)


def topics_of(given: Sequence[str] | str, name: str = "topics") -> tuple[str, ...]:
    from scrubjay.write.fields import topics_of

    return topics_of(given, name)
