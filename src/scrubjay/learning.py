"""What a store learns from its results: feedback, and the weights that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrubjay import profiles
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.profiles.overrides import flat
from scrubjay.sharing import Sharing
from scrubjay.text import readable
from scrubjay.tiered import nothing_with
from scrubjay.times import micros

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.profiles import Profile
    from scrubjay.reports import FeedbackGiven, Learned
    from scrubjay.stores.sqlite_feedback import SqliteFeedback

FEEDBACK = ("accepted", "modified", "dismissed")
_LEARNS, _SIGNALS = "adaptive", "signals"
_LEARNER = "vault"
_FUSES = ("weigh", "rrf", "min_max")


class Learning(Sharing):
    """The verbs of feedback. A person's is theirs alone; who owns the file sees and counts all."""

    def feedback(self, query: str, id: str, action: str) -> FeedbackGiven:
        """Note what became of a result: accepted, modified or dismissed; return what was noted."""
        if action not in FEEDBACK:
            raise InvalidInput(f"action is {action!r}; it must be one of {', '.join(FEEDBACK)}")
        if not isinstance(query, str):
            raise InvalidInput(f"query is {query!r}; it must be the text that was searched for")
        # Inside a write of the own file: where that is lost, nothing is written anywhere.
        with self._records.transaction():
            _, _, tables = self._holder(id)
            feedback = self._feedback if tables is None else tables.feedback
            given = feedback.add(id, readable(query), action, micros(self._clock()))
        if given is None:  # somebody forgot it in this very moment
            raise NotFound(nothing_with(id))
        return given

    def feedbacks(self, *, limit: int = 50) -> list[FeedbackGiven]:
        """Return the caller's feedback in every tier that can be asked, newest first."""
        if type(limit) is not int or limit < 1:
            raise InvalidInput(f"limit is {limit!r}; it must be a whole number of 1 or more")
        given = [one for tier, of in self._heard() for one in _named(of.newest(limit), tier)]
        return sorted(given, key=_age, reverse=True)[:limit]

    def undo_feedback(
        self, number: int | None = None, *, tier: str | None = None
    ) -> FeedbackGiven:
        """Take back one feedback, by its number, or the last; return what it was.

        Tiers count each for themselves: where two have the number, `tier` says which is meant.
        """
        if number is not None and (type(number) is not int or number < 1):
            raise InvalidInput(f"number is {number!r}; give one that `feedbacks` lists, such as 1")
        heard = self._heard(tier)
        has = [(name, of) for name, of in heard if of.has(number)]
        if number is not None and len(has) > 1:
            names = " and ".join(str(name) for name, _ in has)
            raise InvalidInput(f"the tiers {names} both have a feedback {number}; say which tier")
        newest = [(one, of) for name, of in has for one in _named(of.newest(1), name)]
        if newest:
            last, of = max(newest, key=lambda pair: _age(pair[0]))
            gone = of.undo(number)
            if gone is not None:
                return gone._replace(tier=last.tier)
        which = "" if number is None else f" with the number {number}"
        raise NotFound(f"there is no feedback{which}; `scrubjay feedback list` lists them")

    def reset_feedback(self, *, tier: str | None = None) -> int:
        """Remove all of the caller's feedback; return how many there were.

        Of several tiers only the own one is touched, unless `tier` names another.
        """
        if tier is None:
            return self._feedback.reset()
        return sum(of.reset() for _, of in self._heard(tier))

    def _heard(self, tier: str | None = None) -> list[tuple[str | None, SqliteFeedback]]:
        """Return the feedback of every tier that can be asked, or of one; a store alone has no name."""
        if not self._tiers.several and tier is None:
            return [(None, self._feedback)]
        reached = self._tiers.reached() if self._tiers.several else []
        if tier is not None and tier not in (one.tier.name for one in reached):
            names = ", ".join(one.tier.name for one in reached) or "none"
            raise NotFound(f"no tier is called {tier!r}; there are: {names}")
        return [
            (one.tier.name, one.tables.feedback)
            for one in reached
            if one.tables is not None and tier in (None, one.tier.name)
        ]

    def freeze_weights(self, profile: str | None = None) -> float:
        """Keep the weights as they are now, whatever feedback comes; return how far they are moved.

        How far that is follows from the numbers of a profile: the store's own if it learns, or vault.
        """
        from scrubjay.stages.adaptive import gathered, shift

        chosen = profiles.get(profile or self.profile)
        numbers = _numbers(chosen, _LEARNS)
        if numbers is None:
            chosen = profiles.get(_LEARNER)
            numbers = _numbers(chosen, _LEARNS) or {}
        with self._records.transaction():
            moved = self._feedback.frozen()
            if moved is None:
                moved = shift(gathered(self._kit(chosen, self._tiers_of(chosen))).tally, **numbers)
                self._feedback.freeze(moved, micros(self._clock()))
        return moved

    def thaw_weights(self) -> bool:
        """Let the weights follow the feedback again; False where they did already."""
        return self._feedback.thaw()

    def weights(self, profile: str | None = None) -> Mapping[str, float]:
        """Return the weights now in force for a profile.

        Where it weighs signals these are theirs, moved by feedback; the set with vectors where a model
        is here to make them. Elsewhere they are those of the stage that makes one pool of the lists,
        nothing where it weighs none.
        """
        return self.learned(profile).weights

    def learned(self, profile: str | None = None) -> Learned:
        """Return what feedback has made of a profile's weights, with the counts it follows from."""
        from scrubjay.reports import Learned
        from scrubjay.stages.adaptive import adapted, gathered, rate, shift

        chosen = profiles.get(profile or self.profile)
        kit = self._kit(chosen, self._tiers_of(chosen))
        tally, frozen, _ = gathered(kit)
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
        )


def _named(given: list[FeedbackGiven], tier: str | None) -> list[FeedbackGiven]:
    return [one._replace(tier=tier) for one in given]


def _age(one: FeedbackGiven) -> tuple[datetime, int]:
    return one.at, one.number


def _numbers(profile: Profile, stage: str) -> dict[str, Any] | None:
    """Return the numbers of a stage of this name; None where a profile has none."""
    parts = flat(profile.stages)
    return next((dict(one.numbers) for one in parts if one.name == stage), None)


def _base(profile: Profile, *, with_vectors: bool) -> dict[str, float]:
    """Return the weights of a profile before anything was learned."""
    signals = _numbers(profile, _SIGNALS)
    if signals is not None:
        return dict(signals["with_vectors" if with_vectors else "keyword_only"])
    # What stands in for a lost tier, further inside, is not how the profile weighs.
    own = {one.name: one.numbers for one in profile.stages}
    weighed = (own[stage]["weights"] for stage in _FUSES if stage in own)
    return dict(next(filter(None, weighed), {}))
