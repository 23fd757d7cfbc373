"""Lookup by id over the tiers of a store, the highest tier first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.search.tables import Tables
from scrubjay.sharing.tiers.files import Reached, TierFiles
from scrubjay.types import Memory, Scope

T = TypeVar("T")
Found = dict[str, tuple[Memory, Reached]]


class TierLookup:
    """Finds which tier has a memory. A store writes to its own database only, and reads all tiers.

    A tier that cannot be read is added to the list `unasked`, with the reason.
    """

    def __init__(self, tiers: TierFiles, own: Tables, sees: Scope) -> None:
        self._tiers = tiers
        self._own = own
        self._sees = sees

    def holder(self, id: str) -> Reached:
        unasked: list[str] = []
        for tier in self.reached(unasked):
            if ask(tier, unasked, partial(self._read, [id])):
                return tier
        raise no_memory(id, unasked)

    def tables_of(self, id: str) -> Tables:
        return self.holder(id).tables or self._own

    def find(self, ids: Sequence[str]) -> tuple[Found, list[str]]:
        """Return each memory from the highest tier that has it, and which tiers were not asked."""
        found: Found = {}
        unasked: list[str] = []
        for tier in self.reached(unasked):
            left = [id_ for id_ in ids if id_ not in found]
            if not left:
                break
            memories = ask(tier, unasked, partial(self._read, left)) or {}
            found |= {id_: (memory, tier) for id_, memory in memories.items()}
        return found, unasked

    def tiers_by_id(self, found: Found) -> Mapping[str, str]:
        """Return the tier of each memory; nothing where the store is one database."""
        if not self._tiers.named:
            return {}
        return {id_: tier.tier.name for id_, (_, tier) in found.items()}

    def reached(self, unasked: list[str]) -> Iterable[Reached]:
        if not self._tiers.several:
            yield self._own_tier()
            return
        for file in self._tiers.in_order():
            in_write = file.tier.own and self._own.db.in_write
            tier = self._own_tier() if in_write else file.reached()
            if tier.tier.lost is not None:
                unasked.append(f"tier {tier.tier.name}: {tier.tier.lost}")
            yield tier

    def refuse_others(self, ids: Iterable[str]) -> None:
        """Refuse to change a memory of another tier: this store does not write to its database."""
        if not self._tiers.several:
            return
        for id_, (_, tier) in self.find(list(ids))[0].items():
            if not tier.tier.own:
                raise InvalidInput(
                    f"{id_} is in the tier {tier.tier.name}, which this store only reads; to change"
                    f" it, open {tier.path} itself: --db {tier.path}"
                )

    def _read(self, ids: Sequence[str], tables: Tables) -> dict[str, Memory]:
        return tables.records.get(ids, self._sees)

    def _own_tier(self) -> Reached:
        tier = self._tiers.own.tier._replace(kit=self._own.kit)
        return Reached(tier, self._own.db.path, self._own)


def ask(tier: Reached, unasked: list[str], read: Callable[[Tables], T]) -> T | None:
    """Read from a tier. A damaged one is added to `unasked`; if it is the own one, the error is raised."""
    if tier.tables is None:
        return None
    try:
        return read(tier.tables)
    except StoreError as damaged:
        if tier.tier.own:
            raise
        unasked.append(f"tier {tier.tier.name}: {damaged}")
        return None


def no_memory(id: str, unasked: Sequence[str] = ()) -> NotFound:
    message = f"no memory has the id {id!r}"
    if unasked:
        message += f"; some tiers could not be searched: {'; '.join(unasked)}"
    return NotFound(message, of="memory")
