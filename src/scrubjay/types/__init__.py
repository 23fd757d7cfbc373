"""Data types of scrubjay: named tuples without behavior.
Defining one takes a tenth of the time of a dataclass, and a cold keyword search pays for every
definition. `hit._replace(score=1.0)` returns a changed copy."""

# Without the annotations of __future__: a named tuple compiles each annotation that is a text, which is
# half of what it costs to define one.

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from scrubjay.types.passages import Passage
    from scrubjay.types.reports import ScoreSum

DEFAULT_NAMESPACE = "default"
NOTHING: Mapping[str, Any] = MappingProxyType({})
DONE_SUFFIX = "_done"  # ends the type of a finished task
TEXT_PARTS = ("text", "input_text", "output_text")  # the parts of a message in chat APIs with text
SEVERITIES = ("critical", "warning", "suggestion")
NEAR_DUPLICATE = "near_duplicate"  # kind of link between memories with nearly the same text
SHARED_PREFIX = "collection:"  # of the namespaces of shared collections
LIKELY, UNSURE, NOT_STORED = VERDICTS = ("likely", "unsure", "not stored")
LEAST_LIKELY, LEAST_UNSURE = 0.6, 0.3  # the lowest confidence of these verdicts
OWNER, WRITER, READER = ROLES = ("owner", "writer", "reader")  # of members of shared collections


class Link(NamedTuple):
    """A link as given by a caller: target id, strength, kind."""

    to: str
    strength: float = 1.0
    kind: str = "related"


class Neighbor(NamedTuple):
    """A memory reached over links; `score` is the product of strengths along the best path.
    `updated_us` is the time of its last change, in microseconds since 1970."""

    id: str
    score: float
    depth: int = 1
    updated_us: int = 0


class Memory(NamedTuple):
    """A stored text: a sentence, a message, or a whole document.
    `event_time` is when the event in the text happened or begins, `event_until` when it ends."""

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
    """A part of a memory's text with its own vector. Lines count from 1."""

    ordinal: int
    start: int
    stop: int
    first_line: int
    last_line: int
    heading: str = ""


class Term(NamedTuple):
    """One term of a query: any of these runs of adjacent tokens; a token with * is a prefix.
    `parts` are searched separately where no text contains the whole. A negated term does not
    exclude texts that contain a token of `unless`."""

    any_of: tuple[tuple[str, ...], ...]
    parts: tuple[tuple[tuple[str, ...], ...], ...] = ()
    unless: tuple[str, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        runs = (*self.any_of, *(run for part in self.parts for run in part))
        return tuple(token for run in runs for token in run)


class Spoken(NamedTuple):
    """Visibility of raw messages: those of `session`, and those that count as memories.
    A message counts as a memory if it was sent at `settled_us` or earlier, unless a language model
    extracted facts from it, which replace it. With `only_read`, it does not count before that model
    has read it, or has failed for good."""

    session: str | None
    settled_us: int
    only_read: bool = False


class Scope(NamedTuple):
    """Filters and permissions of one search, bound by every index; None means no limit.
    `reader` is a user: their namespace and collections are visible. `writer` is a user: only what
    they may change is visible. The database checks memberships in the same query. Memories not
    valid at `valid_us` are hidden. `spoken` states which raw messages are visible."""

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
        """True without any filter: an index then need not query the records."""
        return self == _EVERYTHING


_EVERYTHING = Scope()


class Filters(NamedTuple):
    """Filters of a caller, unchecked; `Permissions.narrowed` makes a Scope of them.
    `namespace` and `namespaces` add up. `topics` selects memories with any of them. Times are
    datetimes, ISO texts or words such as yesterday."""

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
    ids: Sequence[str] | None = None


class Variant(NamedTuple):
    """A variant of the query: `kind` is lexical (searched by its words), semantic or hyde."""

    kind: str
    text: str
    words: tuple[Term, ...] = ()
    vector: Any = None


# The list of the multilingual model, and the score by it of a text in another language than the query.
LANGUAGES, ACROSS = "languages", "across"


class Across(NamedTuple):
    """A query for texts of any language: its multilingual vector, the model, and its own language."""

    vector: Any
    model: str
    language: str


class Query(NamedTuple):
    """A query with its scope and the results of the stages that analyze it.
    `limited` is True if the caller gave the limit; no list is shorter than `least`. `tags` and
    `domain` affect scores where a profile has a stage for them; `shift` is how far feedback moves
    the weight of the text. `window` is the time that the query names, if any, and `subject` the
    query without it; `only_time` is True if the query contains nothing else, `whole_window` if it
    asks for all of that time. `spoken` states which raw messages may be shown. `static` is the
    query's static vector, for texts that the embedder has not embedded yet. `as_of` is the time whose
    state is searched, None for now; with `history`, superseded memories are hits of their own.
    `tense` says which state the query asks for: present, past, first, then or history."""

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
    static: Any = None
    across: Across | None = None
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
    as_of: datetime | None = None
    history: bool = False
    tense: str = "present"

    @property
    def shown(self) -> Scope:
        """The scope of what may be shown: no messages that are newer than the search."""
        return self.scope if self.spoken is None else self.scope._replace(spoken=self.spoken)


class Row(NamedTuple):
    """A row of a ranked list: memory id, raw score (higher is better), best chunk, last change."""

    id: str
    score: float
    chunk: int | None = None
    updated_us: int = 0


class RankedList(NamedTuple):
    """The result of one source, best first, one row a memory.
    `best` is the highest score possible for this query; `searched` is False if the source was
    unavailable. `warning` states what the source had to omit, `ranked_by` how the database ranked,
    where databases differ in that, `compared` which vectors made a shortlist."""

    name: str
    rows: tuple[Row, ...] = ()
    searched: bool = True
    best: float = 1.0
    warning: str = ""
    ranked_by: str = ""
    compared: str = ""


class Found(NamedTuple):
    """Place of a candidate in one list; `rank` is None if its score was looked up afterwards."""

    rank: int | None
    score: float


class Candidate(NamedTuple):
    """A memory that may become a hit; each stage that changes the score adds its part to `why`.
    A `description` is shown instead of the text; a `brief` candidate shows its snippet. `passages`
    is the number of its chunks, where they were counted."""

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
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    change_dates: Mapping[str, datetime] = NOTHING
    band: str | None = None

    @property
    def order(self) -> tuple[float, int, str]:
        """Sort key of results: score to six places, then newer, then id."""
        return (-round(self.score, 6), -self.updated_us, self.id)


class Step(NamedTuple):
    """Trace of one stage: numbers, time, counts of candidates, and the reason for a failure in
    `lost`.
    `at_us` is when it began, in microseconds since 1970."""

    stage: str
    took_ms: float
    numbers: Mapping[str, Any] = NOTHING
    went_in: int = 0
    came_out: int = 0
    notes: Mapping[str, Any] = NOTHING
    lost: str | None = None
    branches: "tuple[Step, ...]" = ()
    at_us: int = 0


class Hit(NamedTuple):
    """One result. `why` has the parts of the score, `found` rank and raw score in every list.
    `near_duplicates` are ids of memories with nearly the same text, nearest first. `passages` is
    the number of its chunks, where they were counted. `supersedes` are the ids of memories that it
    replaces, newest first; `superseded_by` is the id of one that may replace it; `change_dates` says
    when these were created. `span` are the characters of `text` between which `lines` stand. `band`
    says in a word how good the score is, where the profile has bands."""

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
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    change_dates: Mapping[str, datetime] = NOTHING
    span: tuple[int, int] | None = None
    band: str | None = None


class Results:
    """The results of one search: hits best first, counts, trace, and what was degraded."""

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
        explain: "Callable[[Hit], ScoreSum] | None" = None,
        now: datetime | None = None,
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
        self._now = now  # of the store, in its time zone

    @property
    def verdict(self) -> str | None:
        """Whether the first hit answers the query, in words: "likely", "unsure" or "not stored"; None
        where the profile measures no confidence."""
        if self.confidence is None:
            return None
        if self.confidence >= LEAST_LIKELY:
            return LIKELY
        return UNSURE if self.confidence >= LEAST_UNSURE else NOT_STORED

    @property
    def summary(self) -> str:
        """How many of how many different candidates were reranked, and how many are returned."""
        read = sum(hit.rerank_score is not None for hit in self.hits)
        reranked = self.counts.get("reranked", read)
        candidates = self.counts.get("candidates", max(reranked, len(self.hits)))
        return f"Reranked {reranked} of {candidates}, returned {len(self.hits)}"

    @property
    def searched(self) -> str:
        """What was searched, where nothing was found and the profile says that; otherwise empty."""
        return "; ".join(filter(None, (step.notes.get("nothing_found") for step in self.trace)))

    def explain(self, hit: Hit) -> "ScoreSum":
        """Return the parts that add up to the score of a hit, and how each was calculated."""
        from scrubjay.types.reports import score_sum

        return self._explain(hit) if self._explain else score_sum(hit.score, hit.why)

    def compact(self) -> list[Any]:
        """Return `[results, counts, topics]` as plain JSON values, short for a language model.
        A result is id, preview, cosine, score, type, time, topics and whether the preview is the
        whole text; cosine (None where vectors did not find it) and score are in 0..100."""
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
        return [rows, self.summary, [[topic, count] for topic, count in self.topics.items()]]

    def passages(self, tokens: int) -> "tuple[Passage, ...]":
        """Return whole passages of the hits within a budget of tokens, best first.
        A short text is shown whole, of a long one the part that was found with as much around it as
        fits. The budget includes the tags that `recalled` writes."""
        from scrubjay.text.passages import choose

        return choose(self.hits, tokens, self._now or datetime.now(UTC))

    def recalled(self, most_chars: int | None = None, *, tokens: int | None = None) -> str:
        """Return the hits as marked text for a prompt.
        With `tokens`, as whole passages, each with source, lines, date and time; else a line each with
        its id and date, in at most `most_chars` characters. A message that repeats such text is
        stored, but no fact is extracted from it again."""
        if tokens is not None:
            if most_chars is not None:
                raise InvalidInput("recalled takes most_chars or tokens, not both")
            from scrubjay.text.passage_tags import format_passages

            return format_passages(self.passages(tokens))
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
    """The messages that `add_messages` stored.
    `warnings` report parts of a message that were not stored, times in the future, and turns that
    do not follow the previous one."""

    def __init__(self, stored: Sequence[Memory], warnings: Sequence[str] = ()) -> None:
        super().__init__(stored)
        self.warnings = tuple(warnings)


class Stored(list[Memory]):
    """The memories that `add_many` stored; `known` are the ids that existed before.
    Those have the same text, type and namespace, or the given id."""

    def __init__(self, stored: Sequence[Memory], known: Sequence[str] = ()) -> None:
        super().__init__(stored)
        self.known = tuple(known)


class Memories(list[Memory]):
    """The memories that `get_many` found; `missing` are the ids that do not exist.
    `unasked` has the reason for each tier that could not be searched for those. `tiers` has the
    tier of each id, where there are several."""

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
