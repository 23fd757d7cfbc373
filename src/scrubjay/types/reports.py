"""What verbs other than search answer: data only, and none of it is needed by a cold search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from scrubjay.types import NOTHING, Results


class ShortVectors(NamedTuple):
    """The short vectors by which a model's shortlists are made, and how good these are.

    `recall` is the share of the ten nearest that a shortlist held, in so many trials. Where a search
    compares whole vectors instead, `why_not` says why.
    """

    dims: int
    short_dims: int | None = None
    shortlist: int | None = None
    recall: float | None = None
    trials: int = 0
    fitted_on: int = 0
    why_not: str = ""


class Drawing(NamedTuple):
    """What a language model still has to read: messages that wait, and those that it failed on.

    `model` is None where no generator is configured: then turns are the memories. `failures` says why,
    with how many messages each.
    """

    model: str | None = None
    waiting: int = 0
    failed: int = 0
    failures: Mapping[str, int] = NOTHING


class HitsOfHour(NamedTuple):
    """The searches of the hour that begins `at`, and how many of their results each tier found."""

    at: datetime
    searches: int
    tiers: Mapping[str, int]


class Hits(NamedTuple):
    """How many searches there were, and how many of their results each tier found, by the hour too.

    A result that two tiers found counts for both. Searches of profiles that count are in it, and all that
    were asked of a server.
    """

    searches: int = 0
    tiers: Mapping[str, int] = NOTHING
    hours: tuple[HitsOfHour, ...] = ()


class ServerState(NamedTuple):
    """A server that holds a copy of a tier: how many changes it has yet to be told, and why it is not."""

    tier: str
    place: str
    behind: int
    reason: str = ""


class Status(NamedTuple):
    """The state of a store, as `scrubjay status` shows it.

    `unlinked` memories still wait for their links; `searches` and `hits` are the totals of `hits()`.
    `why_pending` says what vectors wait for; it is empty where none do, and where they are made now.
    `reranker` and `generator` are those that are configured, here or not; None of a wrong setting, too.
    """

    path: str
    schema: int
    memories: int
    documents: int
    messages: int
    sessions: int
    chunks: int
    links: int
    feedback: int
    namespaces: Mapping[str, int]
    types: Mapping[str, int]
    collections: Mapping[str, int]
    model: str | None
    models: Mapping[str, int]
    short_vectors: Mapping[str, ShortVectors]
    pending: int
    failed: int
    failures: tuple[str, ...]
    size_bytes: int
    extraction: Drawing = Drawing()
    unlinked: int = 0
    searches: int = 0
    hits: Mapping[str, int] = NOTHING
    servers: tuple[ServerState, ...] = ()
    why_pending: str = ""
    reranker: str | None = None
    generator: str | None = None


class Reindexed(NamedTuple):
    """What was made anew, how many changes servers have yet to be told, and how each server is.

    `note` says what a server keeps that was let go.
    """

    done: tuple[str, ...]
    left: int
    servers: tuple[ServerState, ...] = ()
    note: str = ""


class TierState(NamedTuple):
    """One file of a store: `state` is open, or lost with a `reason`; `own` is the one written to."""

    name: str
    path: str
    weight: float
    own: bool
    state: str
    reason: str = ""
    memories: int | None = None


class Session(NamedTuple):
    """One conversation: how many messages, when the first and the last was said, whose they are."""

    session: str
    namespace: str
    messages: int
    first_at: datetime
    last_at: datetime
    owners: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()


class Covered(NamedTuple):
    """One file that `ingest` met: `state` is indexed, skipped or failed, `reason` says why not."""

    path: str
    state: str
    reason: str = ""
    collection: str | None = None
    ids: tuple[str, ...] = ()
    size_bytes: int = 0


class Collection(NamedTuple):
    """A named group of memories, and the files and folders that were read into it.

    One that people share has `members`, each with a role: owner, writer or reader.
    """

    name: str
    memories: int
    documents: int
    folders: tuple[str, ...] = ()
    indexed_at: datetime | None = None
    shared: bool = False
    members: Mapping[str, str] = NOTHING


class Ingested(NamedTuple):
    """What one `ingest` did, file by file where something went wrong.

    A file with a note is indexed, without what the note names.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    moved: int = 0
    removed: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


class FeedbackGiven(NamedTuple):
    """What somebody thought of a result: accepted, modified or dismissed. `number` is for `undo`.

    `user` is None for who owns the file; `tier` says which file it is in, where there are several.
    """

    number: int
    at: datetime
    query: str
    id: str
    action: str
    user: str | None = None
    tier: str | None = None


class Feedbacks(list[FeedbackGiven]):
    """What `feedbacks` returns; `unasked` says of each tier that has more why it could not be asked."""

    def __init__(self, given: Sequence[FeedbackGiven], unasked: Sequence[str] = ()) -> None:
        super().__init__(given)
        self.unasked = tuple(unasked)


class Learned(NamedTuple):
    """What feedback has made of a profile's weights, and the counts it follows from.

    `needed` is the number of feedbacks from which weights move, None where the profile does not learn;
    `rate` is None without any feedback. `shift` is how far the weight of the text has moved.
    `unasked` says of each tier whose feedback is not in it why it could not be asked.
    """

    profile: str
    accepted: int
    modified: int
    dismissed: int
    needed: int | None
    rate: float | None
    shift: float
    frozen: bool
    weights: Mapping[str, float]
    base: Mapping[str, float]
    unasked: tuple[str, ...] = ()


class Exported(NamedTuple):
    """What one export did: how many entries, and how many files were written, as they were, or removed.

    `kept` are pairs of a file that a person changed, which was left as it is, and the reason.
    """

    entries: int = 0
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    kept: tuple[tuple[str, str], ...] = ()


class BackedUp(NamedTuple):
    """A copy of a store's file: where it is, how large, and how many memories it holds."""

    path: str
    bytes: int
    memories: int


class Imported(NamedTuple):
    """What one import did; `failed` and `notes` are pairs of a place and a reason.

    What failed is not stored; what has a note is, but for what the note says.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


class Extracted(NamedTuple):
    """What one `extract` did: messages that were read, and the facts that came of them.

    A fact that was known already is `folded` into the one that is there. `rejected` and `failures` say
    why, with how many facts, or messages, each; a message that failed stays a memory as it was said.
    `left` are messages still to be read, `given_up` those that failed too often and wait for `retry`;
    `outage` says why the model was not asked further.
    """

    messages: int = 0
    added: int = 0
    updated: int = 0
    superseded: int = 0
    folded: int = 0
    rejected: Mapping[str, int] = NOTHING
    failed: int = 0
    failures: Mapping[str, int] = NOTHING
    left: int = 0
    outage: str = ""
    given_up: int = 0


class Moved(NamedTuple):
    """What `promote` or `demote` did: where the memories were, and where they are now.

    `rows` were compared in so many `tables`, by count and by hash, and so many `searches` gave the same
    on both sides. `aside` is where the old store was put; None where it was kept. `servers` has, by
    tier, how many memories a server knows now; `unfed` says of those that do not know all why.
    """

    source: str
    target: str
    memories: int
    tables: int
    rows: int
    searches: int
    aside: str | None
    servers: Mapping[str, int] = NOTHING
    unfed: Mapping[str, str] = NOTHING


class ScorePart(NamedTuple):
    """One part of a score: its amount, and in `working` how the amount was calculated."""

    name: str
    amount: float
    working: tuple[str, ...] = ()


class ScoreSum(NamedTuple):
    """The parts that add up to a score; `where` explains the numbers in their workings."""

    parts: tuple[ScorePart, ...]
    where: tuple[str, ...] = ()


OTHER = "other"  # the part of a score that no stage has explained


def score_sum(
    score: float,
    amounts: Mapping[str, float],
    workings: Mapping[str, Sequence[str]] = NOTHING,
    where: Sequence[str] = (),
) -> ScoreSum:
    """Return a score as a sum; what its parts leave over is one more part."""
    parts = [ScorePart(*part, tuple(workings.get(part[0], ()))) for part in amounts.items()]
    rest = score - sum(amounts.values())
    if abs(rest) > 1e-6:  # the precision at which scores are compared
        parts.append(ScorePart(OTHER, rest))
    return ScoreSum(tuple(parts), tuple(where))


def hits_by_source(results: Results) -> Mapping[str, int]:
    """Return how many hits each source found; a hit of two sources counts for both.

    A source that only scored a hit afterwards did not find it. Lists for several query variants count as
    one source.
    """
    for step in results.trace:
        if step.stage == "count_hits":  # the profile has counted them
            counted: Mapping[str, int] = step.notes["hits"]
            return counted
    counts: Counter[str] = Counter()
    for hit in results.hits:
        counts.update(
            {name.partition(":")[0] for name, at in hit.found.items() if at.rank is not None}
        )
    return counts
