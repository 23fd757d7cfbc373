"""The shapes that pass through scrubjay: data only, no behaviour beyond reading itself.

They are named tuples: to define one takes a tenth of the time of a dataclass, and a keyword search
from a cold shell pays for every definition. `one._replace(score=1.0)` gives a changed copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scrubjay.types.reports import ScoreSum

DEFAULT_NAMESPACE = "default"
NOTHING: Mapping[str, Any] = MappingProxyType({})
DONE_SUFFIX = "_done"  # of the type of a task that is done
SEVERITIES = ("critical", "warning", "suggestion")
NEAR_DUPLICATE = "near_duplicate"  # the kind of link between memories that say nearly the same
SHARED_PREFIX = "collection:"  # begins the namespaces of shared collections
OWNER, WRITER, READER = ROLES = ("owner", "writer", "reader")  # of members of shared collections


class Link(NamedTuple):
    """An edge as written by hand: to which memory, how strong, of what kind."""

    to: str
    strength: float = 1.0
    kind: str = "related"


class Neighbor(NamedTuple):
    """A memory reached over links; `score` is the product of strengths along the best path.

    `updated_us` is its age, in microseconds since 1970.
    """

    id: str
    score: float
    depth: int = 1
    updated_us: int = 0


class Memory(NamedTuple):
    """One thing remembered: a sentence, a message, or a whole document.

    `event_time` is when what it speaks of happened, or begins, and `event_until` when that is over.
    """

    text: str
    id: str = ""
    title: str = ""
    type: str = "fact"
    topics: tuple[str, ...] = ()
    namespace: str = DEFAULT_NAMESPACE
    collection: str | None = None
    session: str | None = None
    role: str | None = None
    owner: str | None = None
    agent: str | None = None
    severity: str | None = None
    domain: str | None = None
    context: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    event_time: datetime | None = None
    event_until: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    source: str | None = None
    metadata: Mapping[str, Any] = NOTHING
    links: tuple[Link, ...] = ()
    content_hash: str = ""
    language: str = ""


class Chunk(NamedTuple):
    """A part of a memory's text that gets a vector of its own. Lines count from 1."""

    ordinal: int
    start: int
    stop: int
    first_line: int
    last_line: int
    heading: str = ""


class Term(NamedTuple):
    """One thing a query asks for: any of these runs of neighbouring tokens; a token with * is a beginning.

    `parts` are asked for, each by itself, where the whole is nowhere. A negated term spares the texts
    that hold a token of `unless`.
    """

    any_of: tuple[tuple[str, ...], ...]
    parts: tuple[tuple[tuple[str, ...], ...], ...] = ()
    unless: tuple[str, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token of it."""
        runs = (*self.any_of, *(run for part in self.parts for run in part))
        return tuple(token for run in runs for token in run)


class Spoken(NamedTuple):
    """Which raw messages are seen: those of a session, and those that are memories by themselves.

    A message is that when it was said at `settled_us` or before, unless a language model drew facts
    from it, which then stand for it.
    """

    session: str | None
    settled_us: int


class Scope(NamedTuple):
    """What a search may see. Every index binds it in its own query language; None means no limit.

    `reader` is a person, who sees their own namespace and the collections they belong to; `writer` is
    one who sees what they may change. Who belongs to what is asked of the store in the same query.
    `valid_us` is a moment: what is not yet, or no longer, valid then is not seen. `spoken` says which
    raw messages are seen.
    """

    namespaces: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    topics: tuple[str, ...] | None = None
    collection: str | None = None
    session: str | None = None
    owner: str | None = None
    agent: str | None = None
    domain: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    holds: tuple[Term, ...] = ()
    lacks: tuple[Term, ...] = ()
    reader: str | None = None
    writer: str | None = None
    not_types: tuple[str, ...] | None = None
    valid_us: int | None = None
    spoken: Spoken | None = None

    @property
    def everything(self) -> bool:
        """True when nothing is filtered, so an index may skip asking the records."""
        return self == _EVERYTHING


_EVERYTHING = Scope()


class Filters(NamedTuple):
    """The filters that a caller gives, unchecked; `Permissions.narrowed` makes a Scope of them.

    `namespace` and `namespaces` add up. `topics` selects memories with any of them. Times are datetimes
    or ISO texts.
    """

    namespace: str | None = None
    namespaces: Sequence[str] | None = None
    collection: str | None = None
    topics: Sequence[str] | str | None = None
    types: Sequence[str] | str | None = None
    owner: str | None = None
    agent: str | None = None
    session: str | None = None
    since: date | str | None = None
    until: date | str | None = None
    only_domain: str | None = None


class Variant(NamedTuple):
    """Another way to ask the same: `kind` is lexical (searched by its words), semantic or hyde."""

    kind: str
    text: str
    words: tuple[Term, ...] = ()
    vector: Any = None


class Query(NamedTuple):
    """What was asked, by whom it may be answered, and what the understanding stages made of it.

    `limited` says that the limit is the caller's own; no list is shorter than `least`. `tags` and
    `domain` score, where a profile has a stage for them; `shift` is how far feedback moves the weight
    of the text. `window` is the time that the query speaks of, if any, and `subject` the query without
    it; `only_time` says that nothing else is asked for, `whole_window` that all of that time is.
    `spoken` says which raw messages may be shown.
    """

    text: str
    scope: Scope = _EVERYTHING
    limit: int = 10
    min_score: float | None = None
    words: tuple[Term, ...] = ()
    terms: tuple[str, ...] = ()
    meaning: str = ""
    language: str = ""
    foreign: bool = False
    vector: Any = None
    tokens: Any = None
    variants: tuple[Variant, ...] = ()
    fetch: float = 1.0
    limited: bool = True
    least: int = 0
    tags: tuple[str, ...] = ()
    domain: str | None = None
    shift: float = 0.0
    window: Any = None
    subject: str = ""
    only_time: bool = False
    whole_window: bool = False
    spoken: Spoken | None = None

    @property
    def shown(self) -> Scope:
        """What may be shown in the end: the scope, and of messages no fresher ones than when it began."""
        return self.scope if self.spoken is None else self.scope._replace(spoken=self.spoken)


class Row(NamedTuple):
    """One line of a ranked list: a memory, its raw score (higher is better), its best chunk, its age."""

    id: str
    score: float
    chunk: int | None = None
    updated_us: int = 0


class RankedList(NamedTuple):
    """What one way of searching brought back, best first, one row a memory.

    `best` is the highest score that any text could have had for this query; `searched` is False when
    the source could not be asked. `warning` says what it had to do without.
    """

    name: str
    rows: tuple[Row, ...] = ()
    searched: bool = True
    best: float = 1.0
    warning: str = ""


class Found(NamedTuple):
    """Where a candidate stood in one list. `rank` is None when its score was looked up afterwards."""

    rank: int | None
    score: float


class Candidate(NamedTuple):
    """A memory on its way to becoming a hit; every stage that touches the score leaves its part in `why`.

    Where it has a `description`, that is shown in place of its text; a `brief` one shows its snippet.
    `passages` is how many chunks it has, where they were counted.
    """

    id: str
    score: float = 0.0
    updated_us: int = 0
    best_chunk: int | None = None
    found: Mapping[str, Found] = NOTHING
    why: Mapping[str, float] = NOTHING
    memory: Memory | None = None
    chunk: Chunk | None = None
    snippet: str = ""
    complete: bool = False
    stale: str | None = None
    rerank_score: float | None = None
    near_duplicates: tuple[str, ...] = ()
    tier: str | None = None
    tier_weight: float = 1.0
    brief: bool = False
    description: str | None = None
    passages: int | None = None

    @property
    def order(self) -> tuple[float, int, str]:
        """The one order of results: score to six places, then newer, then id."""
        return (-round(self.score, 6), -self.updated_us, self.id)


class Step(NamedTuple):
    """What one stage did: its numbers, its time, what went in and came out, what was lost.

    `at_us` is when it began, in microseconds since 1970.
    """

    stage: str
    took_ms: float
    numbers: Mapping[str, Any] = NOTHING
    went_in: int = 0
    came_out: int = 0
    notes: Mapping[str, Any] = NOTHING
    lost: str | None = None
    branches: tuple[Step, ...] = ()
    at_us: int = 0


class Hit(NamedTuple):
    """One result. `why` holds each contribution; `found` the rank and raw score in every list.

    `near_duplicates` are the ids of memories that say nearly the same, nearest first. `passages` is how
    many it has, where that counted.
    """

    id: str
    score: float
    text: str
    title: str = ""
    type: str = "fact"
    topics: tuple[str, ...] = ()
    namespace: str = DEFAULT_NAMESPACE
    collection: str | None = None
    domain: str | None = None
    severity: str | None = None
    tier: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    source: str | None = None
    lines: tuple[int, int] | None = None
    page: int | None = None
    heading: str = ""
    language: str = ""
    stale: str | None = None
    snippet: str = ""
    complete: bool = False
    token_estimate: int = 0
    cosine: float | None = None
    rerank_score: float | None = None
    why: Mapping[str, float] = NOTHING
    found: Mapping[str, Found] = NOTHING
    near_duplicates: tuple[str, ...] = ()
    context: str = ""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    session: str | None = None
    role: str | None = None
    event_time: datetime | None = None
    event_until: datetime | None = None
    passages: int | None = None
    owner: str | None = None
    agent: str | None = None


class Results:
    """The answer to one search: hits best first, and everything needed to trust or question them."""

    def __init__(
        self,
        query: str,
        profile: str,
        hits: tuple[Hit, ...] = (),
        *,
        counts: Mapping[str, int] = NOTHING,
        topics: Mapping[str, int] = NOTHING,
        degraded: tuple[str, ...] = (),
        trace: tuple[Step, ...] = (),
        took_ms: float = 0.0,
        confidence: float | None = None,
        terms: tuple[str, ...] = (),
        explain: Callable[[Hit], ScoreSum] | None = None,
    ) -> None:
        self.query = query
        self.profile = profile
        self.hits = hits
        self.counts = counts
        self.topics = topics
        self.degraded = degraded
        self.trace = trace
        self.took_ms = took_ms
        self.confidence = confidence
        self.terms = terms
        self._explain = explain

    def explain(self, hit: Hit) -> ScoreSum:
        """Return the parts that add up to the score of a hit, and how each came about."""
        from scrubjay.types.reports import score_sum

        return self._explain(hit) if self._explain else score_sum(hit.score, hit.why)

    def compact(self) -> list[Any]:
        """Return `[results, counts, topics]` for a reader who pays by the word; plain JSON values.

        A result is id, preview, cosine, score, type, time, topics and whether the preview is the whole
        text; cosine (None where vectors did not find it) and score are in 0..100.
        """
        rows = [
            [
                hit.id,
                hit.snippet,
                None if hit.cosine is None else _of_100(hit.cosine),
                _of_100(hit.score),
                hit.type,
                moment.isoformat() if (moment := hit.updated_at or hit.created_at) else None,
                list(hit.topics),
                hit.complete,
            ]
            for hit in self.hits
        ]
        read = sum(hit.rerank_score is not None for hit in self.hits)
        reranked = self.counts.get("reranked", read)
        candidates = self.counts.get("candidates", max(reranked, len(rows)))
        line = f"Reranked {reranked} of {candidates}, returned {len(rows)}"
        return [rows, line, [[topic, count] for topic, count in self.topics.items()]]

    def recalled(self, most_chars: int | None = None) -> str:
        """Return the hits as marked text for a prompt, a line each with its id and date.

        A message that repeats such a line is stored as it is, but the line is not learned again.
        """
        from scrubjay.text.recall_tags import format_hits

        return format_hits(self.hits, most_chars)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, position: int) -> Hit:
        return self.hits[position]

    def __repr__(self) -> str:
        return f"Results({self.query!r}, {self.profile!r}, {len(self.hits)} hits)"


def _of_100(score: float) -> float:
    return round(100 * min(max(score, 0.0), 1.0), 1)


class Messages(list[Memory]):
    """What `add_messages` returns: the messages as they are stored, and in `warnings` what is odd.

    That is what was not kept of a message, a time that has not come yet, and a turn that is no neighbour
    of the one before it.
    """

    def __init__(self, stored: Sequence[Memory], warnings: Sequence[str] = ()) -> None:
        super().__init__(stored)
        self.warnings = tuple(warnings)


class Stored(list[Memory]):
    """What `add_many` returns: the memories as they are stored, and in `known` the ids that were there.

    Those are of the same text, type and namespace, or had the id that was given.
    """

    def __init__(self, stored: Sequence[Memory], known: Sequence[str] = ()) -> None:
        super().__init__(stored)
        self.known = tuple(known)


class Memories(list[Memory]):
    """What `get_many` returns: the memories that are there, and the ids that are not in `missing`.

    `unasked` says of each tier that may hold those why it could not be asked. `tiers` says by id which
    tier a memory is of, where there are several.
    """

    def __init__(
        self,
        found: Sequence[Memory],
        missing: Sequence[str] = (),
        unasked: Sequence[str] = (),
        tiers: Mapping[str, str] = NOTHING,
    ) -> None:
        super().__init__(found)
        self.missing = tuple(missing)
        self.unasked = tuple(dict.fromkeys(unasked))
        self.tiers = tiers
