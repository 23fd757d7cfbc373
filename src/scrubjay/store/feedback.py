"""Feedback on results, and the weights that follow from it."""

from __future__ import annotations

from typing import Any

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.search import profiles
from scrubjay.search.pipeline import Kit, flat
from scrubjay.search.profiles import Profile
from scrubjay.search.stages.signals import adapted, gathered, rate, shift
from scrubjay.sharing.tiers.lookup import ask, no_memory
from scrubjay.storage.sql.feedback import SqlFeedback
from scrubjay.store.context import Context
from scrubjay.store.read import check_count
from scrubjay.text.analysis import valid_unicode
from scrubjay.times import micros
from scrubjay.types.reports import FeedbackGiven, Feedbacks, Learned

FEEDBACK = ("accepted", "modified", "dismissed")
_LEARNS, _SIGNALS = "adaptive", "signals"
_LEARNER = "vault"
_FUSES = ("weigh", "rrf", "min_max")


class Feedback:
    """Feedback of one store. A user sees their own; without a user, all of it is seen."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lookup = context.lookup
        self._tiers = context.tiers

    @property
    def _own(self) -> SqlFeedback:
        return self._context.tables.feedback

    def add(self, query: str, id: str, action: str) -> FeedbackGiven:
        if action not in FEEDBACK:
            raise InvalidInput(f"action is {action!r}; it must be one of {', '.join(FEEDBACK)}")
        if not isinstance(query, str):
            raise InvalidInput(f"query is {query!r}; it must be the text that was searched for")
        self._context.db.check_writable()  # where the own database is lost, nothing is written
        # Each tier stores its own feedback.
        tier, _, tables = self._lookup.holder(id)
        table = self._own if tables is None else tables.feedback
        given = table.add(id, valid_unicode(query), action, micros(self._context.clock()))
        if given is None:  # it was forgotten a moment ago
            raise no_memory(id)
        return given._replace(tier=tier.name if self._tiers.named else None)

    def _of_tier(self, tier: str) -> tuple[str | None, SqlFeedback]:
        if not self._tiers.named:
            if tier != self._tiers.own.tier.name:
                raise NotFound(f"no tier is called {tier!r}; this store has one file")
            return None, self._own
        reached = {each.tier.name: each for each in self._tiers.reached()}
        if tier not in reached:
            raise NotFound(f"no tier is called {tier!r}; there are: {', '.join(reached)}")
        tables = reached[tier].tables
        if tables is None:
            raise StoreError(f"tier {tier}: {reached[tier].tier.lost}")
        return tier, tables.feedback

    def newest(self, limit: int) -> Feedbacks:
        check_count("limit", limit)
        given: list[FeedbackGiven] = []
        unasked: list[str] = []
        for tier in self._lookup.reached(unasked):
            name = tier.tier.name if self._tiers.named else None
            newest = ask(tier, unasked, lambda tables: tables.feedback.newest(limit))
            given += (record._replace(tier=name) for record in newest or ())
        # Those of one database are in order: of the same moment, the last one stored is the newer.
        given.sort(key=lambda record: record.at, reverse=True)
        return Feedbacks(given[:limit], unasked)

    def undo(self, number: int | None, tier: str | None) -> FeedbackGiven:
        if number is not None and (type(number) is not int or number < 1):
            raise InvalidInput(f"number is {number!r}; give one that `feedbacks` lists, such as 1")
        where = self._tiers.own.tier.name if tier is None and number is not None else tier
        if where is None:
            own = self._tiers.own.tier.name
            where = next((record.tier or own for record in self.newest(1)), None)
        name, table = (None, None) if where is None else self._of_tier(where)
        removed = None if table is None else table.undo(number)
        if removed is None:
            which = "" if number is None else f" with the number {number}"
            raise NotFound(f"there is no feedback{which}; `scrubjay feedback list` lists all")
        return removed._replace(tier=name)

    def reset(self, tier: str | None) -> int:
        return self._of_tier(tier or self._tiers.own.tier.name)[1].reset()

    def freeze(self, profile: str | None) -> float:
        chosen = profiles.get(profile or self._context.profile)
        if not chosen.uses(_LEARNS):
            chosen = profiles.get(_LEARNER)
        with self._context.tables.records.transaction():
            moved = self._own.frozen()
            if moved is None:
                tally = gathered(self._kit(chosen)).tally
                moved = shift(tally, **(_numbers(chosen, _LEARNS) or {}))
                self._own.freeze(moved, micros(self._context.clock()))
        return moved

    def _kit(self, profile: Profile) -> Kit:
        """Return a kit that counts feedback, whatever the profile does with it."""
        kit = self._context.kit(profile, self._context.tiers_of(profile))
        return kit._replace(feedback=self._own)

    def learned(self, profile: str | None) -> Learned:
        chosen = profiles.get(profile or self._context.profile)
        kit = self._kit(chosen)
        tally, frozen, damaged = gathered(kit)
        lost = {tier.name: tier.lost for tier in kit.tiers if tier.lost is not None}
        learns = _numbers(chosen, _LEARNS) if chosen.uses(_SIGNALS) else None
        base = _base(chosen, with_vectors=kit.embedder is not None)
        moved = 0.0
        if learns is not None:
            moved = shift(tally, **learns) if frozen is None else frozen
        return Learned(
            profile=chosen.name,
            accepted=tally.accepted,
            modified=tally.modified,
            dismissed=tally.dismissed,
            needed=learns["after"] if learns else None,
            rate=rate(tally),
            shift=moved,
            frozen=frozen is not None,
            weights=adapted(base, moved),
            base=base,
            unasked=tuple(f"tier {name}: {why}" for name, why in {**lost, **damaged}.items()),
        )


def _numbers(profile: Profile, stage: str) -> dict[str, Any] | None:
    parts = flat(profile.stages)
    return next((dict(part.numbers) for part in parts if part.name == stage), None)


def _base(profile: Profile, *, with_vectors: bool) -> dict[str, float]:
    signals = _numbers(profile, _SIGNALS)
    if signals is not None:
        return dict(signals["with_vectors" if with_vectors else "keyword_only"])
    # The stages inside `tiers` that stand in for a lost tier do not count.
    own = {part.name: part.numbers for part in profile.stages}
    weighed = (own[stage]["weights"] for stage in _FUSES if stage in own)
    return dict(next(filter(None, weighed), {}))
