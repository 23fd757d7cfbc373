"""What feedback makes of the weights: the more results are taken as they are, the more the text counts."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

from scrubjay.errors import InvalidInput, StoreError, Unavailable
from scrubjay.search.pipeline import Kit, Run, checked_by, stage
from scrubjay.storage.sql.feedback import SqlFeedback, Tally
from scrubjay.types import NOTHING

TEXT = "semantic"  # the signal whose weight moves; the others make room


class Gathered(NamedTuple):
    """The feedback of all databases of a search; `lost` are the tiers that could not be counted, and why.

    `frozen` is where the caller has frozen the weights in the own one; None where they follow.
    """

    tally: Tally = Tally()
    frozen: float | None = None
    lost: Mapping[str, str] = NOTHING


def check_adaptive(*, after: int, times: float, most: float) -> None:
    """Refuse numbers that make no sense."""
    if after < 1:
        raise InvalidInput(f"adaptive.after is {after}; it must be 1 or more, 30 is usual")
    if not isfinite(times) or times < 0:
        raise InvalidInput(f"adaptive.times is {times}; it must be 0 or more, 0.3 is usual")
    if not 0 <= most <= 1:
        raise InvalidInput(f"adaptive.most is {most}; it must be from 0 to 1, 0.15 is usual")


def rate(tally: Tally) -> float | None:
    """Return the share of results that were taken, those with changes for half; None without any."""
    given = sum(tally)
    return (tally.accepted + tally.modified / 2) / given if given else None


def shift(tally: Tally, *, after: int = 30, times: float = 0.3, most: float = 0.15) -> float:
    """Return how far the weight of the text moves: (rate - 0.5) x times, within +-most.

    It is 0 while there are fewer than `after` feedbacks.
    """
    check_adaptive(after=after, times=times, most=most)
    taken = rate(tally)
    if taken is None or sum(tally) < after:
        return 0.0
    return min(max((taken - 0.5) * times, -most), most)


def adapted(weights: Mapping[str, float], shift: float) -> dict[str, float]:
    """Return weights with that of the text moved, and the others scaled such that the sum is 1."""
    before = weights.get(TEXT, 0.0)
    after = min(max(before + shift, 0.0), 1.0)
    if not shift or before >= 1:  # without any other, there is nothing to take from
        return dict(weights)
    times = (1 - after) / (1 - before)
    return {name: after if name == TEXT else one * times for name, one in weights.items()}


def gathered(kit: Kit) -> Gathered:
    """Count the feedback of the caller in every database of a search that can be asked."""
    if not kit.tiers:
        alone: SqlFeedback = kit.need("feedback")
        return Gathered(alone.tally(), alone.frozen())
    tallies, frozen = [Tally()], None
    lost: dict[str, str] = {}
    for tier in kit.tiers:
        if tier.lost is not None:
            continue
        try:
            one: SqlFeedback = tier.kit.need("feedback")
            tallies.append(one.tally())
            frozen = one.frozen() if tier.own else frozen
        except (StoreError, Unavailable) as error:  # the others count all the same
            lost[tier.name] = str(error)
    return Gathered(Tally(*map(sum, zip(*tallies, strict=True))), frozen, lost)


@stage
@checked_by(check_adaptive)
def adaptive(run: Run, *, after: int = 30, times: float = 0.3, most: float = 0.15) -> Run:
    """Move the weight of the text by (rate - 0.5) x times, within +-most, from `after` feedbacks on.

    The rate is the share of results that were accepted; modified ones count half. Every feedback counts.
    While the caller's weights are frozen they stay as they were.
    """
    found = gathered(run.kit)
    moved = shift(found.tally, after=after, times=times, most=most)
    if found.frozen is not None:
        moved = found.frozen
    run = run._replace(query=run.query._replace(shift=moved)).noting(
        **found.tally._asdict(),
        rate=rate(found.tally),
        shift=moved,
        frozen=found.frozen is not None,
    )
    if not found.lost:
        return run
    why = "; ".join(f"{name}: {reason}" for name, reason in found.lost.items())
    return run.noting(warning=f"not all feedback was counted ({why})")
