"""Search pipeline: run the stages of a profile one after the other, with a trace of each.

A stage is a function from a Run and named numbers to a Run. The `stage` decorator turns it into a
factory: calling that with numbers gives a Stage, which a profile can list, print, compare and
override. Sources (Run -> RankedList) and the tests of `when` (Run -> bool) are made the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter, time_ns
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

from scrubjay.errors import InvalidInput, ScrubjayError, TimedOut, Unavailable
from scrubjay.text.analysis import content_hash
from scrubjay.types import NOTHING, Candidate, Hit, Memory, Query, RankedList, Results, Row, Step

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from datetime import datetime

    from scrubjay.models.breaker import Notes
    from scrubjay.models.guard import (
        GuardedEmbedder,
        GuardedGenerator,
        GuardedNoteReader,
        GuardedReranker,
    )
    from scrubjay.search.explanation import Explanation
    from scrubjay.storage.changes import SqlChanges
    from scrubjay.storage.sql.collections import SqlCopies
    from scrubjay.storage.sql.feedback import SqlFeedback
    from scrubjay.storage.sql.files import SqlFiles
    from scrubjay.storage.sql.graph import SqlGraph
    from scrubjay.storage.sql.keyword_ranking import KeywordIndex
    from scrubjay.storage.sql.messages import SqlTimeline
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.scope import SqlValidity
    from scrubjay.storage.sql.topics import SqlTopics
    from scrubjay.storage.sql.vectors import SqlTokenVectors, SqlVectors
    from scrubjay.storage.sql.versions import SqlVersions
    from scrubjay.storage.sql.words import SqlTermCounts
    from scrubjay.types.changes import Replacement
    from scrubjay.types.reports import ScoreSum

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., Any])
Errors = tuple[type[ScrubjayError], ...]
# By these one source is lost, and the others answer. In other stages a database that is too slow fails the
# search: without its records there are no hits.
SOURCE_ERRORS: Errors = (Unavailable, TimedOut)
# The fields of a Kit that belong to one database. The others are shared by all tiers of a search.
PER_DATABASE = (
    *("records", "keyword", "vectors", "graph", "tokens", "files"),
    *("topics", "copies", "terms", "feedback", "windows", "moments", "changes", "versions"),
)


class Kit(NamedTuple):
    """Stores and models of a search. Each may be missing; `why_not` then has the reason and the fix.

    `absent` names the models that the user has chosen but that cannot be used now. `corpus` is True
    when queries are expanded from the stored texts. `bundled_reranker` is there for profiles that use
    it where the user has chosen none. `extracts` is True where a language model reads messages.
    `static` embeds at once what `embedder` has not embedded yet. `multilingual` returns the model for
    other languages, or why it cannot answer. `tiers` lists all databases of the search, this one
    included; it is empty where there is one only.
    """

    records: SqlRecords | None = None
    keyword: KeywordIndex | None = None
    vectors: SqlVectors | None = None
    graph: SqlGraph | None = None
    tokens: SqlTokenVectors | None = None
    files: SqlFiles | None = None
    notes: Notes | None = None
    embedder: GuardedEmbedder | None = None
    static: GuardedEmbedder | None = None
    multilingual: Callable[[], tuple[GuardedEmbedder | None, str]] | None = None
    reranker: GuardedReranker | None = None
    bundled_reranker: GuardedReranker | None = None
    generator: GuardedGenerator | None = None
    corpus: bool | None = None
    extracts: bool = False
    clock: Callable[[], datetime] | None = None
    absent: tuple[str, ...] = ()
    why_not: Mapping[str, str] = NOTHING
    topics: SqlTopics | None = None
    copies: SqlCopies | None = None
    terms: SqlTermCounts | None = None
    feedback: SqlFeedback | None = None
    tiers: tuple[Tier, ...] = ()
    windows: SqlValidity | None = None
    moments: SqlTimeline | None = None
    changes: SqlChanges | None = None
    versions: SqlVersions | None = None
    reader: GuardedNoteReader | None = None

    def inside(self, tier: Tier) -> Kit:
        """Return the kit of one tier: its stores with the models and the clock of this kit."""
        stores = {name: getattr(tier.kit, name) for name in PER_DATABASE}
        return self._replace(**stores, tiers=())

    def need(self, part: str) -> Any:
        """Return a store or model, or raise Unavailable with the reason why it is missing."""
        found = getattr(self, part)
        if found is None:
            raise Unavailable(self.why_not.get(part, f"no {part} is configured"))
        return found


class Tier(NamedTuple):
    """One of several databases: its name and its stores, or in `lost` why it cannot be searched.

    `priority` is the weight of a connected vault; other tiers have the weight that the profile gives
    to their name. `own` marks the database that is written to. `path` is its file.
    """

    name: str
    kit: Kit = Kit()
    priority: float | None = None
    lost: str | None = None
    own: bool = False
    path: str = ""


class Run(NamedTuple):
    """State of one search. `notes` are what the current stage adds to the trace.

    `pooled` is True once there were candidates. `replaced` says which memories around the candidates
    replaced which, `folded` are the candidates that gave their place to another, `reading` is the
    probability by id that a memory answers the question, oldest first ("" for none of them), and
    `readings` whether the newer one of a pair comes first, where a model has read them.
    """

    query: Query
    kit: Kit = Kit()
    lists: tuple[RankedList, ...] = ()
    pool: tuple[Candidate, ...] = ()
    trace: tuple[Step, ...] = ()
    notes: Mapping[str, Any] = NOTHING
    branches: tuple[Step, ...] = ()
    confidence: float | None = None
    counts: Mapping[str, int] = NOTHING
    pooled: bool = False
    replaced: tuple[Replacement, ...] = ()
    folded: Mapping[str, Candidate] = NOTHING
    reading: Mapping[str, float] = NOTHING
    readings: Mapping[Any, bool] = NOTHING

    def noting(self, **notes: Any) -> Run:
        """Return this run with more notes of the current stage."""
        return self._replace(notes={**self.notes, **notes})

    def counting(self, **counts: int) -> Run:
        """Return this run with more counts for the results."""
        return self._replace(counts={**self.counts, **counts})

    def warning(self, *warnings: str) -> Run:
        """Return this run with more warnings for the results; empty ones are left out."""
        joined = "; ".join(filter(None, (self.notes.get("warning"), *warnings)))
        return self.noting(warning=joined) if joined else self

    def with_rows(self, name: str, change: Callable[[tuple[Row, ...]], Iterable[Row]]) -> Run:
        """Return this run with the rows of one list changed."""
        changed = (
            ranked._replace(rows=tuple(change(ranked.rows))) if ranked.name == name else ranked
            for ranked in self.lists
        )
        return self._replace(lists=tuple(changed))

    def holding(self, pool: Iterable[Candidate]) -> Run:
        """Return this run with these candidates, in their order."""
        return self._replace(pool=tuple(pool))

    def ranked(self, pool: Iterable[Candidate]) -> Run:
        """Return this run with these candidates, best first."""
        return self.holding(sorted(pool, key=lambda candidate: candidate.order))

    @property
    def size(self) -> int:
        """Number of candidates, or of rows in all lists before there are candidates."""
        return len(self.pool) if self.pooled else sum(len(ranked.rows) for ranked in self.lists)


class Part(Generic[T]):
    """A function with its numbers, ready to run: made by `stage`, listed by profiles."""

    __slots__ = ("function", "name", "numbers")

    def __init__(self, function: Callable[..., T], numbers: Mapping[str, Any], name: str) -> None:
        self.function = function
        self.numbers = numbers
        self.name = name

    def __call__(self, run: Run) -> T:
        """Call the function with a run."""
        return self.function(run, **self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and (
            (self.function, self.numbers, self.name) == (other.function, other.numbers, other.name)
        )

    def __hash__(self) -> int:
        return hash((self.function, self.name))

    def check(self) -> Part[T]:
        """Return this part; refuse numbers outside the limits of its stage."""
        for name, rule in getattr(self.function, "number_limits", {}).items():
            given = self.numbers[name]
            values = given.values() if isinstance(given, Mapping) else (given,)
            if not all(value is None or _RULES[rule](value) for value in values):
                raise InvalidInput(f"{self.name}.{name} is {given!r}; it must be {rule}")
        if hasattr(self.function, "check_numbers"):
            self.function.check_numbers(**self.numbers)
        return self

    def named(self, name: str) -> Part[T]:
        """Return the same part under another name, for a profile that uses a stage twice."""
        return Part(self.function, self.numbers, name)

    def with_numbers(self, numbers: Mapping[str, Any]) -> Part[T]:
        """Return the same part with some numbers replaced."""
        merged = getattr(self.function, "merged_tables", ())
        tables = {key: {**self.numbers[key], **numbers[key]} for key in merged if key in numbers}
        return Part(self.function, {**self.numbers, **numbers, **tables}, self.name)

    def __str__(self) -> str:
        shown = (f"{key}={_show(value)}" for key, value in self.numbers.items() if value != ())
        return f"{self.name}({', '.join(shown)})"


def _show(value: object) -> str:
    if isinstance(value, tuple) and value and is_parts(value):
        return "[" + ", ".join(map(str, value)) + "]"
    return str(value) if isinstance(value, Part) else repr(value)


def is_parts(value: object) -> bool:
    """True for the stages inside a stage (maybe none): the trace shows them as branches."""
    inner = value if isinstance(value, tuple) else (value,)
    return all(isinstance(part, Part) for part in inner)


def flat(stages: tuple[Part[Any], ...]) -> Iterator[Part[Any]]:
    """Yield every stage of a list, each followed by the sources and stages inside it."""
    for part in stages:
        yield part
        for value in part.numbers.values():
            inner = value if isinstance(value, tuple) else (value,)
            yield from flat(tuple(part for part in inner if isinstance(part, Part)))


Stage = Part[Run]
Source = Part[RankedList]
Test = Part[bool]
Fan = Part[tuple[Source, ...]]


def stage(function: Callable[Concatenate[Run, P], T]) -> Callable[P, Part[T]]:
    """Turn a function of a run and numbers into a factory of parts; mypy checks the numbers."""

    def make(*args: P.args, **numbers: P.kwargs) -> Part[T]:
        if args:
            raise InvalidInput(f"{function.__name__} takes its numbers by name")
        given = {**(function.__kwdefaults__ or {}), **numbers}
        return Part(function, given, function.__name__).check()

    make.__name__ = function.__name__
    make.__doc__ = function.__doc__
    make.__wrapped__ = function  # type: ignore[attr-defined]  # the docs read names and types here
    return make


def _mark(name: str, value: object) -> Callable[[F], F]:
    def attach(function: F) -> F:
        setattr(function, name, value)
        return function

    return attach


_RULES: Mapping[str, Callable[[float], bool]] = {
    "0 or more": lambda number: number >= 0,
    "1 or more": lambda number: number >= 1,
    "above 0": lambda number: number > 0,
    "above 0 and at most 1": lambda number: 0 < number <= 1,
    "between 0 and 1": lambda number: 0 <= number <= 1,
    "between -1 and 1": lambda number: -1 <= number <= 1,
    "between 0 and 5": lambda number: 0 <= number <= 5,
    "0 or more and below 1": lambda number: 0 <= number < 1,
}


def limits(**rules: str) -> Callable[[F], F]:
    """Check numbers of a stage by these rules when a profile is built; in tables, every value.

    Stands below `@stage`, as the decorators that follow do.
    """
    return _mark("number_limits", rules)


def checked_by(check: Callable[..., None]) -> Callable[[F], F]:
    """Check the numbers of a stage, given by name, with a function that raises InvalidInput."""
    return _mark("check_numbers", check)


def explained_by(explain: Callable[[Explanation, Step], None]) -> Callable[[F], F]:
    """Let a stage explain what it did to the score of a hit; called only for an explanation."""
    return _mark("explain", explain)


def asks_no_store(function: F) -> F:
    """Let a stage at the beginning of a profile run before the search asks any store for anything."""
    return _mark("asks_no_store", True)(function)


def merges_tables(*names: str) -> Callable[[F], F]:
    """Let an override of one of these tables replace only the keys that it names."""
    return _mark("merged_tables", names)


def summed(candidate: Candidate, why: Mapping[str, float]) -> Candidate:
    """Return a candidate with a new score: the sum of these parts."""
    return candidate._replace(score=sum(why.values()), why=why)


def by_score(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return rows in the order of a list: score to six places, then newer, then id."""
    return tuple(sorted(rows, key=lambda row: (-round(row.score, 6), -row.updated_us, row.id)))


def attempt(
    part: Part[T], run: Run, otherwise: T, forgiven: Errors = (Unavailable,)
) -> tuple[T, Step]:
    """Run and time one part. An error that is forgiven, as Unavailable is everywhere, is noted in its
    step."""
    at_us, started = time_ns() // 1000, perf_counter()
    try:
        out, lost = part(run), None
    except forgiven as error:
        out, lost = otherwise, str(error)
    took_ms = (perf_counter() - started) * 1000
    return out, Step(part.name, took_ms, part.numbers, lost=lost, at_us=at_us)


@stage
def recall(run: Run, *, sources: tuple[Source, ...], per_variant: tuple[Fan, ...] = ()) -> Run:
    """Search all sources at the same time; one that is unavailable gives an empty list and a reason.

    `per_variant` adds a source for each variant of the query that expansion made.
    """
    every = (*sources, *(source for fan in per_variant for source in fan(run)))

    def ask(source: Source) -> tuple[RankedList, Step]:
        ranked, step = attempt(source, run, RankedList(source.name, searched=False), SOURCE_ERRORS)
        notes = {
            "ranked_by": ranked.ranked_by,
            "compared": ranked.compared,
            "warning": ranked.warning,
        }
        step = step._replace(notes={name: note for name, note in notes.items() if note})
        return ranked._replace(name=source.name), step._replace(came_out=len(ranked.rows))

    # Imported late: a keyword search from a cold shell has one source and needs no threads.
    if len(every) < 2:
        answers = [ask(source) for source in every]
    else:
        from scrubjay.runtime.worker import thread_pool

        answers = together(ask, every, thread_pool("recall"))
    return run._replace(
        lists=(*run.lists, *(ranked for ranked, _ in answers)),
        branches=tuple(step for _, step in answers),
    )


def together(ask: Callable[[A], T], items: Sequence[A], threads: Executor) -> list[T]:
    """Call a function for all items at the same time, for the first in this thread; keep the order."""
    first, *others = items
    waiting = [threads.submit(ask, item) for item in others]
    return [ask(first), *(future.result() for future in waiting)]


@stage
def when(
    run: Run, *, test: Test, then: tuple[Stage, ...], otherwise: tuple[Stage, ...] = ()
) -> Run:
    """Run one list of stages or the other, depending on a test of the run."""
    held = test(run)
    run, steps = in_order(then if held else otherwise, run)
    return run.noting(test=str(test), held=held)._replace(branches=steps)


@stage
def group(run: Run, *, stages: tuple[Stage, ...]) -> Run:
    """Run several stages under one name, so that an override can drop them together."""
    run, steps = in_order(stages, run)
    return run._replace(branches=steps)


def in_order(stages: tuple[Stage, ...], run: Run) -> tuple[Run, tuple[Step, ...]]:
    """Run stages one after the other; return the last run and a step for each."""
    steps = []
    for part in stages:
        run, step = advance(part, run)
        steps.append(step)
    return run, tuple(steps)


@stage
def configured(run: Run, *, part: str) -> bool:
    """True when there is a component of this kind, such as a reranker, or the user has chosen one."""
    return getattr(run.kit, part) is not None or part in run.kit.absent


def advance(part: Stage, run: Run) -> tuple[Run, Step]:
    """Run one stage and complete its step with counts and notes."""
    after, step = attempt(part, run, otherwise=run)
    after = after._replace(pooled=run.pooled or bool(after.pool))
    step = step._replace(
        went_in=run.size,
        came_out=after.size,
        notes=after.notes,
        branches=after.branches,
        numbers={key: value for key, value in step.numbers.items() if not is_parts(value)},
    )
    return after._replace(notes={}, branches=()), step


def through(stages: Iterable[Stage], run: Run) -> Run:
    """Run stages one after the other, with a step of each in the trace."""
    for part in stages:
        after, step = advance(part, run)
        run = after._replace(trace=(*after.trace, step))  # a stage may read the trace so far
    return run


def search(
    query: Query,
    profile: str,
    stages: tuple[Stage, ...],
    kit: Kit,
    trace: tuple[Step, ...] = (),
) -> Results:
    """Run the stages of a profile and return the results with a trace of each stage.
    `trace` has the steps of the first stages, where they have run already."""
    started = perf_counter()
    run = through(stages[len(trace) :], Run(query, kit, trace=trace))
    took_ms = (perf_counter() - started) * 1000 + sum(step.took_ms for step in trace)
    hits = tuple(_hit(candidate, candidate.memory) for candidate in run.pool if candidate.memory)
    topics = Counter(topic for hit in hits for topic in hit.topics)
    listed = {ranked.name: len(ranked.rows) for ranked in run.lists}
    return Results(
        query=run.query.text,
        profile=profile,
        hits=hits,
        counts={**listed, **run.counts, "returned": len(hits)},
        topics=dict(sorted(topics.items(), key=lambda pair: (-pair[1], pair[0]))),
        degraded=tuple(dict.fromkeys((*_degradations(run.trace), *_alterations(run)))),
        trace=run.trace,
        took_ms=took_ms,
        confidence=run.confidence if hits or run.confidence is None else 0.0,
        terms=run.query.terms,
        explain=partial(_explain, stages, run.trace),
        now=kit.clock() if kit.clock else None,
    )


def _degradations(steps: tuple[Step, ...]) -> Iterator[str]:
    """Yield each reason why results may be missing something, in the order of the stages."""
    for step in steps:
        for reason in (step.lost, step.notes.get("warning")):
            if reason:
                yield f"{step.stage}: {reason}"
        yield from _degradations(step.branches)


def _alterations(run: Run) -> Iterator[str]:
    """Yield for each database which hits do not match the hash of their text.

    Only the hits are compared: to hash every candidate would take longer than the search.
    """
    altered = [one for one in run.pool if one.memory is not None and _is_altered(one.memory)]
    for tier in run.kit.tiers or (Tier("", run.kit),) if altered else ():
        ids = [one.id for one in altered if not run.kit.tiers or one.tier == tier.name]
        if ids and tier.kit.records is not None:
            yield f"content: {tier.kit.records.altered_note(ids)}"


def _is_altered(memory: Memory) -> bool:
    return bool(memory.content_hash) and memory.content_hash != content_hash(memory.text)


def _explain(stages: tuple[Stage, ...], trace: tuple[Step, ...], hit: Hit) -> ScoreSum:
    from scrubjay.search.explanation import explain  # only an explanation needs it

    return explain(hit, trace, stages)


# A hit has these fields from its candidate and its memory, under the same names.
_OF_CANDIDATE = tuple(name for name in Hit._fields if name in Candidate._fields)
_OF_MEMORY = tuple(name for name in Hit._fields if name in Memory._fields)


def _hit(candidate: Candidate, memory: Memory) -> Hit:
    vector, chunk = candidate.found.get("vector"), candidate.chunk
    text = memory.text if candidate.description is None else candidate.description
    page = span = None
    if chunk and candidate.description is None and not candidate.brief:
        span = (chunk.start, chunk.stop)
    if chunk and memory.metadata.get("format") == "pages":  # each page begins with a form feed
        page = memory.text.count("\f", 0, chunk.start) + 1
    fields = {name: getattr(candidate, name) for name in _OF_CANDIDATE}
    fields |= {name: getattr(memory, name) for name in _OF_MEMORY}
    fields |= {
        # Rounded as the order of candidates is, so that scores never rise down the list.
        "score": round(candidate.score, 6),
        "text": candidate.snippet if candidate.brief else text,
        "context": "" if candidate.brief else memory.context,
        "lines": (chunk.first_line, chunk.last_line) if chunk else None,
        "page": page,
        "span": span,
        "heading": chunk.heading if chunk else "",
        "token_estimate": -(-len(text) // 4),
        "cosine": vector.score if vector else None,
    }
    return Hit(**fields)
