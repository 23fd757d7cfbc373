"""What a store learns from its results: feedback, and the weights that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.parts.sharing import Sharing
from scrubjay.parts.tiered import nothing_with
from scrubjay.search import profiles
from scrubjay.search.pipeline import flat
from scrubjay.text.analysis import valid_unicode
from scrubjay.times import micros

if TYPE_CHECKING:
    from scrubjay.search.pipeline import Kit
    from scrubjay.search.profiles import Profile
    from scrubjay.storage.sql.feedback import SqlFeedback
    from scrubjay.types.reports import FeedbackGiven, Feedbacks, Learned

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
        self._db.check_writable()  # where the own file is lost, nothing is written anywhere
        # Each vault keeps its own.
        tier, _, tables = self._holder(id)
        kept = self._feedback if tables is None else tables.feedback
        given = kept.add(id, valid_unicode(query), action, micros(self._clock()))
        if given is None:  # somebody forgot it in this very moment
            raise nothing_with(id)
        return given._replace(tier=tier.name if self._tiers.named else None)

    def _feedback_in(self, tier: str) -> tuple[str | None, SqlFeedback]:
        """Return the feedback of one file, with the name of its tier where there are several."""
        if not self._tiers.named:
            if tier != self._tiers.own.tier.name:
                raise NotFound(f"no tier is called {tier!r}; this store has one file")
            return None, self._feedback
        reached = {one.tier.name: one for one in self._tiers.reached()}
        if tier not in reached:
            raise NotFound(f"no tier is called {tier!r}; there are: {', '.join(reached)}")
        tables = reached[tier].tables
        if tables is None:
            raise StoreError(f"tier {tier}: {reached[tier].tier.lost}")
        return tier, tables.feedback

    def feedbacks(self, *, limit: int = 50) -> Feedbacks:
        """Return the caller's feedback in all tiers that can be asked, newest first."""
        from scrubjay.types.reports import Feedbacks

        if type(limit) is not int or limit < 1:
            raise InvalidInput(f"limit is {limit!r}; it must be a whole number of 1 or more")
        given: list[FeedbackGiven] = []
        unasked: list[str] = []
        for one in self._reached(unasked):
            name = one.tier.name if self._tiers.named else None
            newest = self._ask(one, unasked, lambda its: its.feedback.newest(limit))
            given += (each._replace(tier=name) for each in newest or ())
        # Of one file they come in order: at one moment, the one that was noted last is the newer.
        given.sort(key=lambda one: one.at, reverse=True)
        return Feedbacks(given[:limit], unasked)

    def undo_feedback(
        self, number: int | None = None, *, tier: str | None = None
    ) -> FeedbackGiven:
        """Take back one feedback, by its number, or the last; return what it was.

        Each tier counts its own; a number without a tier is of the store's own file.
        """
        if number is not None and (type(number) is not int or number < 1):
            raise InvalidInput(f"number is {number!r}; give one that `feedbacks` lists, such as 1")
        where = self._tiers.own.tier.name if tier is None and number is not None else tier
        if where is None:
            own = self._tiers.own.tier.name
            where = next((one.tier or own for one in self.feedbacks(limit=1)), None)
        name, kept = (None, None) if where is None else self._feedback_in(where)
        gone = None if kept is None else kept.undo(number)
        if gone is None:
            which = "" if number is None else f" with the number {number}"
            raise NotFound(f"there is no feedback{which}; `scrubjay feedback list` lists them")
        return gone._replace(tier=name)

    def reset_feedback(self, *, tier: str | None = None) -> int:
        """Remove the caller's feedback in the store's own file, or in another tier; return how many."""
        where = tier or self._tiers.own.tier.name
        return self._feedback_in(where)[1].reset()

    def freeze_weights(self, profile: str | None = None) -> float:
        """Keep the weights as they are now, whatever feedback comes; return how far they are moved.

        How far that is follows from the numbers of a profile: the store's own if it learns, or vault.
        """
        from scrubjay.search.stages.signals import gathered, shift

        chosen = profiles.get(profile or self.profile)
        if not chosen.uses(_LEARNS):
            chosen = profiles.get(_LEARNER)
        with self._records.transaction():
            moved = self._feedback.frozen()
            if moved is None:
                tally = gathered(
                    self._kit(chosen, self._tiers_of(chosen))._replace(feedback=self._feedback)
                ).tally
                moved = shift(tally, **(_numbers(chosen, _LEARNS) or {}))
                self._feedback.freeze(moved, micros(self._clock()))
        return moved

    def _counting_kit(self, profile: Profile) -> Kit:
        """Return the kit of a search that counts feedback, whatever the profile does with it."""
        return self._kit(profile, self._tiers_of(profile))._replace(feedback=self._feedback)

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
        from scrubjay.search.stages.signals import adapted, gathered, rate, shift
        from scrubjay.types.reports import Learned

        chosen = profiles.get(profile or self.profile)
        kit = self._counting_kit(chosen)
        tally, frozen, damaged = gathered(kit)
        lost = {one.name: one.lost for one in kit.tiers if one.lost is not None}
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
