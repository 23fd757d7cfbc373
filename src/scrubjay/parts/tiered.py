"""Several files under one store: which there are, and which of them holds an id."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from scrubjay.config import BUILT_IN_TIERS, PRIORITY, tier_setting
from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.parts.store_parts import StoreParts
from scrubjay.sharing.tiers.files import Reached
from scrubjay.text.validation import check_name

if TYPE_CHECKING:
    from scrubjay.parts.tables import Tables
    from scrubjay.search.pipeline import Tier
    from scrubjay.types import Memory, Scope
    from scrubjay.types.reports import TierState

_RESERVED = (*BUILT_IN_TIERS, "own")
T = TypeVar("T")


class Tiered(StoreParts):
    """The verbs of tiers. A store writes to its own file only, and reads them all."""

    def connect(
        self, path: str | os.PathLike[str], *, name: str, priority: float = PRIORITY
    ) -> None:
        """Search another store's file as well, from now on; it is never made or migrated.

        Nothing is written there but the feedback on what it holds. Its scores are multiplied by
        `priority`, above 0 and at most 1.
        """
        named = check_name("name", name, "handbook")
        if named in _RESERVED:
            raise InvalidInput(
                f"the name {named!r} is not for a connected vault; agent, project and team are given"
                " as open(tiers={…})"
            )
        setting = tier_setting(named, path, priority)
        if not os.path.exists(setting.path):
            raise NotFound(f"there is no file {setting.path}; connect takes one that is there")
        self._tiers.connect(setting)

    def disconnect(self, name: str) -> None:
        """Search a connected vault, or another tier than the store's own, no longer."""
        if name == self._tiers.own.tier.name and self._tiers.several:
            raise InvalidInput(f"{name!r} is the store's own file; close the store to leave it")
        if not self._tiers.disconnect(name):
            others = [one.tier.name for one in self._tiers.in_order() if not one.tier.own]
            raise NotFound(f"no tier is called {name!r}; there are: {', '.join(others) or 'none'}")

    def tiers(self) -> list[TierState]:
        """Return every file of the store, the highest tier first, and why one cannot be asked."""
        states = []
        for one in self._tiers.reached():
            try:
                states.append(state_of(one, self._mine))
            except StoreError as damaged:  # it opens, and is damaged further inside
                lost = one.tier._replace(lost=str(damaged))
                states.append(state_of(Reached(lost, one.path), self._mine))
        return states

    def _tier_of(self, id: str) -> Tier:
        """Return the highest tier that holds an id, with its stores; NotFound if none does."""
        return self._holder(id).tier

    def _holder(self, id: str) -> Reached:
        unasked: list[str] = []
        for one in self._reached(unasked):
            if self._ask(one, unasked, lambda its: its.records.get([id], self._mine)):
                return one
        raise nothing_with(id, unasked)

    def _ask(self, one: Reached, unasked: list[str], ask: Callable[[Tables], T]) -> T | None:
        """Ask a tier. One that turns out to be damaged is noted as lost ones are, unless it is the own."""
        if one.tables is None:
            return None
        try:
            return ask(one.tables)
        except StoreError as damaged:
            if one.tier.own:
                raise
            unasked.append(f"tier {one.tier.name}: {damaged}")
            return None

    def _held(self, ids: Sequence[str]) -> tuple[dict[str, tuple[Memory, Reached]], list[str]]:
        """Return who has which of these ids, the highest tier's version of each; and what was not asked."""
        held: dict[str, tuple[Memory, Reached]] = {}
        unasked: list[str] = []
        for one in self._reached(unasked):
            left = [id_ for id_ in ids if id_ not in held]
            if not left:
                break
            found = self._ask(one, unasked, partial(_read, left, self._mine))
            held |= {id_: (memory, one) for id_, memory in (found or {}).items()}
        return held, unasked

    def _reached(self, unasked: list[str]) -> Iterable[Reached]:
        """Yield the tiers one by one, the highest first; note those that cannot be asked."""
        if not self._tiers.several:
            yield self._own_reached()
            return
        for file in self._tiers.in_order():
            one = self._own_reached() if file.tier.own and self._db.in_write else file.reached()
            if one.tier.lost is not None:
                unasked.append(f"tier {one.tier.name}: {one.tier.lost}")
            yield one

    def _refuse_others(self, ids: Iterable[str]) -> None:
        """Refuse to change what another tier holds: its file is somebody else's to write."""
        if not self._tiers.several:
            return
        for id_, (_, one) in self._held(list(ids))[0].items():
            if not one.tier.own:
                raise InvalidInput(
                    f"{id_} is of the tier {one.tier.name}, which is not written from here; open"
                    f" {one.path} itself to change it, at the shell: --db {one.path}"
                )


def _read(ids: Sequence[str], scope: Scope, tables: Tables) -> dict[str, Memory]:
    return tables.records.get(ids, scope)


def state_of(one: Reached, scope: Scope) -> TierState:
    """Say how a tier is, with the number of memories that a caller sees there."""
    from scrubjay.search.stages.tiers import weight_of
    from scrubjay.types.reports import TierState

    return TierState(
        one.tier.name,
        one.path,
        weight_of(one.tier),
        one.tier.own,
        "open" if one.tier.lost is None else "lost",
        one.tier.lost or "",
        None if one.tables is None else sum(one.tables.records.counts("type", scope).values()),
    )


def nothing_with(id: str, unasked: Sequence[str] = ()) -> NotFound:
    """Return the error that an id leads nowhere; it says which tiers may hold it all the same."""
    said = f"no memory has the id {id!r}"
    if unasked:
        said += f"; not every tier could be asked: {'; '.join(unasked)}"
    return NotFound(said, of="memory")
