"""Results of the verbs other than search; a cold search needs none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from scrubjay.types import NOTHING, Results


class ShortVectors(NamedTuple):
    """The short vectors that make shortlists for a model, and their quality.
    `recall` is the share of the ten nearest that a shortlist contained, in `trials` trials.
    `why_not` is the reason why searches compare whole vectors instead."""

    dims: int
    short_dims: int | None = None
    shortlist: int | None = None
    recall: float | None = None
    trials: int = 0
    fitted_on: int = 0
    why_not: str = ""


class VectorCells(NamedTuple):
    """The cache of a model's vectors beside an SQLite file, and its cells.
    A search compares the `probed` nearest of `cells` cells, and all vectors where both are 0. `recall` is
    the share of the ten nearest that this found in `trials` trials on the store's own vectors."""

    vectors: int
    cells: int
    probed: int
    recall: float
    trials: int
    cache_bytes: int


class Drawing(NamedTuple):
    """State of fact extraction: messages that wait, and messages that failed.
    `model` is None without a generator: then turns are the memories. `failures` counts messages by
    reason."""

    model: str | None = None
    waiting: int = 0
    failed: int = 0
    failures: Mapping[str, int] = NOTHING


class HitsOfHour(NamedTuple):
    """The searches of the hour that begins `at`, and the number of results by tier."""

    at: datetime
    searches: int
    tiers: Mapping[str, int]


class Hits(NamedTuple):
    """Number of searches, and of results by tier, in all and by the hour.
    A result of two tiers counts for both. Searches of profiles that count hits are included, and
    all searches of a server."""

    searches: int = 0
    tiers: Mapping[str, int] = NOTHING
    hours: tuple[HitsOfHour, ...] = ()


class ServerState(NamedTuple):
    """State of a replica: number of changes in its outbox, and the reason for a failure.
    One that was `dropped` gets no changes, and the database searches in its place."""

    tier: str
    place: str
    behind: int
    reason: str = ""
    dropped: bool = False


class ModelChange(NamedTuple):
    """A change of a store's embedding model. `state` is "in_use", or "building" while the index of the
    new model is made and that of the old one answers; `done` of `total` chunks are embedded, `failed`
    cannot be. `before` is the model in use when the change was asked for. `reason` is why it does not
    go on, "" while it does."""

    model: str
    state: str
    done: int
    total: int
    failed: int = 0
    before: str | None = None
    reason: str = ""


class PrunedModel(NamedTuple):
    """An index that `models prune` removed, and the size of its vectors."""

    model: str
    vectors: int
    size_bytes: int


class Status(NamedTuple):
    """The state of a store, as `scrubjay status` shows it.
    `unlinked` memories wait for their automatic links; `searches` and `hits` are the totals of
    `hits()`. `why_pending` is the reason why vectors are missing, "" if none are or they are being
    made. `reranker` and `generator` are the configured ones, available or not; None for an invalid
    setting. `failed_files` could not be read by `ingest`. `languages` are those that the models cover;
    none if a model does not state its own. `change` is the change to another model that is under way.
    `settings_model` is the model of the settings where the store uses another. `uncompared` memories
    wait to be compared with earlier ones; `why_uncompared` is why none is, or "". `vector_cells` are the
    models whose vectors have a cache."""

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
    failed_files: int = 0
    languages: tuple[str, ...] = ()
    change: ModelChange | None = None
    settings_model: str | None = None
    uncompared: int = 0
    why_uncompared: str = ""
    vector_cells: Mapping[str, VectorCells] = NOTHING


class Embedded(NamedTuple):
    """What was embedded while a call waited for all of it, by it or by other processes, and what is left.
    `memories` have all their vectors now; `linked` ones had them before, and have links now. `failed`
    passages break the model, with their reasons in `failures`; `why_pending` is why the others wait."""

    passages: int
    memories: int
    linked: int
    model: str | None
    seconds: float
    pending: int
    failed: int
    failures: tuple[str, ...] = ()
    why_pending: str = ""


class Reindexed(NamedTuple):
    """What was rebuilt, the number of changes left for replicas, and their states.
    `note` states what a replica still stores that was deleted."""

    done: tuple[str, ...]
    left: int
    servers: tuple[ServerState, ...] = ()
    note: str = ""


class TierState(NamedTuple):
    """One database of a store: `state` is open, or lost with a `reason`; `own` is written to."""

    name: str
    path: str
    weight: float
    own: bool
    state: str
    reason: str = ""
    memories: int | None = None


class Session(NamedTuple):
    """One conversation: number of messages, times of the first and the last, owners."""

    session: str
    namespace: str
    messages: int
    first_at: datetime
    last_at: datetime
    owners: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()


class Covered(NamedTuple):
    """One file that `ingest` read: `state` is indexed, skipped or failed, with a `reason`."""

    path: str
    state: str
    reason: str = ""
    collection: str | None = None
    ids: tuple[str, ...] = ()
    size_bytes: int = 0


class Collection(NamedTuple):
    """A named group of memories, and the files and folders ingested into it.
    A shared one has `members`, each with a role: owner, writer or reader."""

    name: str
    memories: int
    documents: int
    folders: tuple[str, ...] = ()
    indexed_at: datetime | None = None
    shared: bool = False
    members: Mapping[str, str] = NOTHING


class Ingested(NamedTuple):
    """Result of one `ingest`, with pairs of path and reason.
    A file with a note is indexed, without what the note names."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    moved: int = 0
    removed: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


class Version(NamedTuple):
    """A memory as it was at some time, or as it is now.
    `changed_at` is when it became so, `by` is the user or agent who changed it, if known. `what`
    happened: created, edited, done, undone, superseded, restored or undo. `changed` has the fields
    that were changed, with their values in this version; the text is in `text`."""

    text: str
    changed_at: datetime
    by: str = ""
    what: str = "edited"
    title: str = ""
    changed: Mapping[str, Any] = NOTHING


class FeedbackGiven(NamedTuple):
    """Feedback on a result: accepted, modified or dismissed. `number` is for `undo`.
    `user` is None for the owner of the file; `tier` is the tier that stores it, where there are
    several."""

    number: int
    at: datetime
    query: str
    id: str
    action: str
    user: str | None = None
    tier: str | None = None


class Feedbacks(list[FeedbackGiven]):
    """List that `feedbacks` returns; `unasked` has the reason for each tier that is
    unavailable."""

    def __init__(self, given: Sequence[FeedbackGiven], unasked: Sequence[str] = ()) -> None:
        super().__init__(given)
        self.unasked = tuple(unasked)


class Learned(NamedTuple):
    """The weights of a profile after feedback, and the counts that they follow from.
    `needed` is the number of feedbacks from which weights move, None where the profile does not
    learn; `rate` is None without feedback. `shift` is how far the weight of the text has moved.
    `unasked` has the reason for each tier whose feedback is missing."""

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
    """Result of one export: number of entries, and of files by what was done.
    `kept` are pairs of a file that a user has changed, which was not overwritten, and the
    reason. `damaged` are pairs of a memory that could not be read, and the reason."""

    entries: int = 0
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    kept: tuple[tuple[str, str], ...] = ()
    damaged: tuple[tuple[str, str], ...] = ()


class BackedUp(NamedTuple):
    """A backup of a database: path, size and number of memories."""

    path: str
    bytes: int
    memories: int


class Restored(NamedTuple):
    """A backup that was put in place: the file, its size and number of memories, the backup, and the
    name that the earlier file has now (None: there was none)."""

    path: str
    bytes: int
    memories: int
    backup: str
    aside: str | None = None


class ImportedFile(NamedTuple):
    """What one file of another product had: counts of memories, and of what is no memory by reason."""

    path: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: int = 0
    left_out: Mapping[str, int] = NOTHING


class Imported(NamedTuple):
    """Result of one import; `failed` and `notes` are pairs of a place and a reason.
    What failed is not stored; what has a note is, except for what the note names."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


class ImportedFrom(NamedTuple):
    """Result of one import from another product: as `Imported`, with the counts of each file."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    files: tuple[ImportedFile, ...] = ()


class Extracted(NamedTuple):
    """Result of one `extract`: messages that were read, and the facts extracted from them.
    A fact that exists already is `folded` into the existing one. `rejected` counts facts by
    reason, `failures` messages; a message that failed stays a memory. `left` are messages not read
    yet, `given_up` those that failed too often and wait for `retry`. `outage` is the reason why
    the model was not called further."""

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
    """Result of `promote` or `demote`: where the memories were, and where they are now.
    `rows` of `tables` were compared by count and hash, and `searches` gave the same on both sides.
    `aside` is where the old database was put, None if it stayed. `servers` has the number of
    memories in each replica; `unfed` the reasons for those that are incomplete."""

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
    """One part of a score: its amount, and in `working` how it was calculated."""

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
    """Return a score as a sum; a remainder becomes one more part, `other`."""
    parts = [ScorePart(*part, tuple(workings.get(part[0], ()))) for part in amounts.items()]
    rest = score - sum(amounts.values())
    if abs(rest) > 1e-6:  # the precision at which scores are compared
        parts.append(ScorePart(OTHER, rest))
    return ScoreSum(tuple(parts), tuple(where))


def hits_by_source(results: Results) -> Mapping[str, int]:
    """Return the number of hits of each source; a hit of two sources counts for both.
    A source that only scored a hit afterwards does not count. Lists for several query variants
    count as one source."""
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
