"""Indexes made anew from the records: of words here, of vectors and links where a server has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.storage.replicas.replicas import TIERS
from scrubjay.types.reports import Reindexed

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.storage.replicas.replicas import Served
    from scrubjay.storage.sql.records import SqlRecords

WORDS = "words"
WHAT = (WORDS, *TIERS)


def reindex(
    records: SqlRecords,
    db: Database,
    served: Served,
    what: str | None,
    *,
    drop: bool,
    progress: Callable[[int, int], None] | None,
) -> Reindexed:
    """Make one index anew, or all of them; or let go of a server."""
    if what is not None and what not in WHAT:
        from scrubjay.text.validation import did_you_mean

        raise InvalidInput(
            f"there is no index {what!r}{did_you_mean(what, WHAT)}; there are: {', '.join(WHAT)}"
        )
    if drop:
        return _dropped(served, what)
    here = {state.tier for state in served.states()}
    done: list[str] = []
    if what in (None, WORDS):
        records.index_again(always=True)
        done.append(WORDS)
    for tier in TIERS:
        if what not in (None, tier):
            continue
        if served.serves(tier):
            served.rebuild(tier)
        elif tier in here:
            raise InvalidInput(
                f"the {tier} are on a server that this store was opened without; name it with --{tier}"
            )
        elif tier == "vectors":
            db.vectors.reindex()
        done.append(tier)
    left = served.projecting.wait(progress=progress)
    return Reindexed(tuple(done), left, served.states())


def _dropped(served: Served, tier: str | None) -> Reindexed:
    if tier not in TIERS:
        raise InvalidInput(f"say which server is told nothing any more: {' or '.join(TIERS)}")
    return Reindexed((), 0, served.states(), served.drop(tier))
