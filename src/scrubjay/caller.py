"""Who is asking: what a caller may see, and where what they write goes."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.times import When, parse
from scrubjay.types import Scope


class Caller:
    """One person's own file sees everything; a named user sees their own namespace."""

    def __init__(self, user: str | None) -> None:
        self.sees = Scope() if user is None else Scope(namespaces=(personal(user),))

    def narrowed(
        self,
        *,
        namespaces: tuple[str, ...] | None,
        types: Sequence[str] | str | None = None,
        topics: Sequence[str] | str | None = None,
        collection: str | None = None,
        session: str | None = None,
        owner: str | None = None,
        agent: str | None = None,
        domain: str | None = None,
        since: When | None = None,
        until: When | None = None,
    ) -> Scope:
        """Return what the caller may see of what these filters ask for."""
        return self.sees._replace(
            namespaces=self._visible(namespaces),
            types=several(types, "types"),
            topics=_topics(topics),
            collection=collection,
            session=session,
            owner=owner,
            agent=agent,
            domain=domain,
            since=parse(since, "since"),
            until=parse(until, "until", end_of_day=True),
        )

    def placed(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return what the caller writes, in the namespace where it belongs."""
        mine = self.sees.namespaces
        if mine is None:
            return given
        if given.get("namespace") not in (None, "default", *mine):
            raise InvalidInput(
                f"namespace is {given['namespace']!r}; this store was opened for one user, whose"
                f" namespace is {mine[0]!r}"
            )
        return {**given, "namespace": mine[0]}

    def _visible(self, wanted: tuple[str, ...] | None) -> tuple[str, ...] | None:
        mine = self.sees.namespaces
        if wanted is None:
            return mine
        return wanted if mine is None else tuple(one for one in wanted if one in mine)


def personal(user: str) -> str:
    """Return the namespace of a user's own memories."""
    if not user.strip() or not user.isprintable():
        raise InvalidInput(f"user is {user!r}; give a printable name")
    return f"user:{user.strip()}"


def several(given: Any, name: str) -> tuple[str, ...] | None:
    """Return one or more texts as a tuple; None is no limit, an empty list lets nothing through."""
    if given is None:
        return None
    if not isinstance(given, Sequence) or not all(isinstance(one, str) for one in given):
        raise InvalidInput(f"{name} is {given!r}; give a text or a list of texts")
    return (given,) if isinstance(given, str) else tuple(given)


def check_number(name: str, value: object) -> None:
    """Refuse what is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise InvalidInput(f"{name} is {value!r}; give a number such as 0.2")


def both(some: tuple[str, ...] | None, more: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return two lists as one; None stands for no list at all."""
    return more if some is None else some + (more or ())


def _topics(given: Sequence[str] | str | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    from scrubjay.write.remember import topics_of

    return topics_of(given)
