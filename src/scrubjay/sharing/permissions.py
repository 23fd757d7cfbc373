"""Permissions of a caller: what they may read, and where they write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.storage.sql.scope import personal_namespace
from scrubjay.text.validation import check_name, check_text, did_you_mean, several
from scrubjay.times import parse
from scrubjay.types import DEFAULT_NAMESPACE, OWNER, ROLES, SHARED_PREFIX, WRITER, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

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
    ) -> None:
        self.user = user
        self._of_project = of_project
        self.sees = Scope(reader=self.user)
        self.changes = Scope(writer=self.user)
        self._people = people

    def narrowed(self, filters: Filters) -> Scope:
        """Return what the caller may see of what the filters select."""
        named = several(filters.namespaces, "namespaces")
        one = None if filters.namespace is None else (check_text("namespace", filters.namespace),)
        return self.sees._replace(
            namespaces=self._expanded(one if named is None else named + (one or ())),
            types=several(filters.types, "types"),
            topics=None if filters.topics is None else topics_of(filters.topics),
            collection=_text("collection", filters.collection),
            session=_text("session", filters.session),
            owner=_text("owner", filters.owner),
            agent=_text("agent", filters.agent),
            domain=_text("only_domain", filters.only_domain),
            since=parse(filters.since, "since"),
            until=parse(filters.until, "until", end_of_day=True),
        )

    def _expanded(self, namespaces: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Return all namespaces of a project for `project/`; where there are none, that itself."""
        if namespaces is None or not any(map(_is_project, namespaces)):
            return namespaces
        found = [
            (self._of_project(one) or (one,)) if _is_project(one) else (one,) for one in namespaces
        ]
        return tuple(dict.fromkeys(name for some in found for name in some))

    def unmatched(self, namespaces: tuple[str, ...] | None) -> list[str]:
        """Say of each project that has nothing to see so, and which others there are."""
        lost = [one for one in namespaces or () if _is_project(one) and not self._of_project(one)]
        if not lost:
            return []
        names = (one.partition("/") for one in self._of_project(""))
        known = sorted({f"{project}/" for project, slash, _ in names if slash})
        shown = ", ".join(known[:_MOST_SHOWN]) or "none"
        more = " …" if len(known) > _MOST_SHOWN else ""
        return [
            f"no namespace begins with {one!r}{did_you_mean(one, known)}; projects are: {shown}{more}"
            for one in lost
        ]

    def half_named(self, namespaces: tuple[str, ...] | None) -> list[str]:
        """Say of each project that was named without its slash how all of it is named."""
        bare = (one for one in namespaces or () if one and not _is_project(one))
        return [
            f"there is no namespace {one!r}; did you mean {f'{one}/'!r}, all of that project?"
            for one in bare
            if self._of_project(f"{one}/") and one not in self._of_project(one)
        ]

    def placed(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return what the caller writes, in the namespace where it belongs.

        What names a collection that the caller belongs to, and no namespace, goes there, if they may
        write in it. Any other name of a collection is a label on their own memories.
        """
        asked, own = _stripped(given.get("namespace")), self.personal
        if asked in (None, DEFAULT_NAMESPACE):
            shared = self._meant(given.get("collection"))
        else:
            shared = self._namespace_of_a_collection(asked)
        if shared is not None:
            self.check_role(shared, WRITER)
            return {**given, "namespace": shared.namespace, "collection": shared.name}
        if own is None:
            return given
        if asked not in (None, DEFAULT_NAMESPACE, own):
            raise InvalidInput(
                f"namespace is {asked!r}; this store was opened for one user, whose namespace is"
                f" {own!r}"
            )
        return {**given, "namespace": own}

    def check_place(self, namespace: str) -> None:
        """Refuse a namespace in which the caller may not write now; asked inside the transaction."""
        if (
            namespace.startswith(SHARED_PREFIX)
            and self._people.by_namespace(namespace) is not None
        ):
            self.placed({"namespace": namespace})
        elif namespace.startswith(SHARED_PREFIX):
            raise NotFound(f"the collection of the namespace {namespace!r} was removed meanwhile")

    def moved(
        self, given: dict[str, Any], before: Memory, changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return a changed memory where it belongs now: another collection may be another namespace."""
        here = before.namespace
        leaves = here in (DEFAULT_NAMESPACE, self.personal) or self._people.by_namespace(here)
        if "namespace" not in changes and leaves:
            given = {**given, "namespace": None}
        return self.placed(given)

    @property
    def personal(self) -> str | None:
        """The namespace of the caller's own memories; None for who owns the file."""
        return None if self.user is None else personal_namespace(self.user)

    def collection(self, name: object) -> SharedCollection:
        """Return a shared collection of the caller's; one that is not theirs is not there."""
        asked = check_name("collection", name, "team")
        found = self.shared(asked)
        if found is None:
            known = ", ".join(self._people.visible(self.sees)) or "none"
            raise NotFound(
                f"there is no shared collection {asked!r} that you belong to; yours are: {known}"
            )
        return found

    def shared(self, name: str) -> SharedCollection | None:
        """Return a shared collection, if the caller belongs to one of this name."""
        return self._of_mine(self._people.by_name(name.strip()))

    def _meant(self, name: object) -> SharedCollection | None:
        """Return the shared collection that a name is of, if it can be of no other."""
        shared = self.shared(name) if isinstance(name, str) else None
        if shared is not None:
            self.check_one_name(shared)
        return shared

    def check_one_name(self, shared: SharedCollection) -> None:
        """Refuse to guess which collection is meant: somebody may be invited into one of a name they use.

        What they wrote for themselves would be read by others from then on.
        """
        own = self.personal or DEFAULT_NAMESPACE
        if self._people.is_label(shared.name, own):
            raise InvalidInput(
                f"there are two collections {shared.name!r}, one of your own and one that you share;"
                f" say which with namespace={own!r} or namespace={shared.namespace!r}"
            )

    def role(self, shared: SharedCollection) -> str | None:
        """Return the caller's role in a collection; who owns the file may do everything."""
        return OWNER if self.user is None else self._people.members(shared).get(self.user)

    def check_role(self, shared: SharedCollection, least: str) -> None:
        """Refuse what the caller's role does not allow, and say whom to ask."""
        role = self.role(shared)
        if role is None or ROLES.index(role) > ROLES.index(least):
            owners = [who for who, of in self._people.members(shared).items() if of == OWNER]
            owners = owners or ["who owns the file"]
            raise InvalidInput(
                f"you are a {role} of the collection {shared.name!r}, and this takes"
                f" {'an' if least == OWNER else 'a'} {least}; ask {' or '.join(owners)}"
            )

    def _of_mine(self, shared: SharedCollection | None) -> SharedCollection | None:
        return shared if shared is not None and self.role(shared) is not None else None

    def _namespace_of_a_collection(self, namespace: object) -> SharedCollection | None:
        """Return the collection that a namespace is of; refuse one of a collection that is not there."""
        if not isinstance(namespace, str) or not namespace.startswith(SHARED_PREFIX):
            return None
        found = self._of_mine(self._people.by_namespace(namespace))
        if found is None and self.user is None:
            raise InvalidInput(
                f"namespace is {namespace!r}, but there is no such shared collection;"
                " `create_collection` makes one"
            )
        return found


def _is_project(namespace: str) -> bool:
    return namespace.endswith("/")


def _stripped(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def person_named(user: object) -> str:
    """Return the name of a person without the spaces around it; refuse one that cannot be shown."""
    return check_name("user", user, "ann")


def _text(name: str, given: object) -> str | None:
    return None if given is None else check_text(name, given)


def topics_of(given: Sequence[str] | str | None, name: str = "topics") -> tuple[str, ...]:
    """Return topics in the form in which they are stored; None is none."""
    if given is None:
        return ()
    from scrubjay.write.fields import topics_of

    return topics_of(given, name)
