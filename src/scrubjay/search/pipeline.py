"""The engine: a profile's stages folded over one run, each leaving a trace.

A stage is a function from a Run (and its own numbers) to a Run.
The `stage` decorator turns such a function into a factory: calling it with numbers gives a Stage
that a profile can list, print, compare and override. Sources (Run -> RankedList) and the tests
used by `when` (Run -> bool) are made the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter, time_ns
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.search.results import results_of
from scrubjay.types import NOTHING, Candidate, Query, RankedList, Results, Step

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from datetime import datetime

    from scrubjay.models.breaker import Notes
    from scrubjay.models.guard import GuardedEmbedder, GuardedGenerator, GuardedReranker
    from scrubjay.storage.protocols import KeywordIndex
    from scrubjay.storage.sql.collections import SqlCopies
    from scrubjay.storage.sql.feedback import SqlFeedback
    from scrubjay.storage.sql.files import SqlFiles
    from scrubjay.storage.sql.graph import SqlGraph
    from scrubjay.storage.sql.messages import SqlTimeline
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.scope import SqlValidity
    from scrubjay.storage.sql.topics import SqlTopics
    from scrubjay.storage.sql.vectors import SqlTokenVectors, SqlVectors
    from scrubjay.storage.sql.words import SqlTermCounts

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")
# The parts of a kit that are of one database; the others serve all of a search.
OF_A_FILE = (
    "records",
    "keyword",
    "vectors",
    "graph",
    "tokens",
    "files",
    "topics",
    "copies",
    "terms",
    "feedback",
    "windows",
    "moments",
)


class Kit(NamedTuple):
    """The stores and models of a search. Any may be missing; `why_not` then says why and what to do.

    `absent` names those that a user has chosen and that are not here all the same; `corpus` is True
    when queries are to be expanded from the texts that are stored. `tiers` are all databases of the
    search, this one too; there are none where it is the only one.
    """

    records: SqlRecords | None = None
    keyword: KeywordIndex | None = None
    vectors: SqlVectors | None = None
    graph: SqlGraph | None = None
    tokens: SqlTokenVectors | None = None
    files: SqlFiles | None = None
    notes: Notes | None = None
    embedder: GuardedEmbedder | None = None
    reranker: GuardedReranker | None = None
    generator: GuardedGenerator | None = None
    corpus: bool | None = None
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

    def inside(self, tier: Tier) -> Kit:
        """Return the kit for a search of one tier: its stores, and the models and clock of this one."""
        stores = {name: getattr(tier.kit, name) for name in OF_A_FILE}
        return self._replace(**stores, tiers=())

    def need(self, part: str) -> Any:
        """Return a component, or raise Unavailable with the reason why it is not there."""
        component = getattr(self, part)
        if component is None:
            raise Unavailable(self.why_not.get(part, f"no {part} is configured"))
        return component


class Tier(NamedTuple):
    """One database of several: its name, its stores, or why it cannot be asked.

    `priority` is that of a connected vault; the others have the weight that a profile gives their name.
    `own` is True for the one that is written to. `path` is its file.
    """

    name: str
    kit: Kit = Kit()
    priority: float | None = None
    lost: str | None = None
    own: bool = False
    path: str = ""


class Run(NamedTuple):
    """One search under way. `notes` is what the current stage has to say for the trace."""

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

    def noting(self, **notes: Any) -> Run:
        """Return this run with more to say about the stage that is running."""
        return self._replace(notes={**self.notes, **notes})

    def ranked(self, pool: Sequence[Candidate]) -> Run:
        """Return this run with these candidates, in the one order of results."""
        return self._replace(pool=tuple(sorted(pool, key=lambda one: one.order)))

    @property
    def size(self) -> int:
        """How many candidates there are, or, before there ever were any, how many rows were found."""
        return len(self.pool) if self.pooled else sum(len(one.rows) for one in self.lists)


class Part(Generic[T]):
    """A function with its numbers, ready to run: what `stage` makes and profiles list."""

    __slots__ = ("function", "name", "numbers")

    def __init__(self, function: Callable[..., T], numbers: Mapping[str, Any], name: str) -> None:
        self.function = function
        self.numbers = numbers
        self.name = name

    def __call__(self, run: Run) -> T:
        """Run the function on one run."""
        return self.function(run, **self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and (
            (self.function, self.numbers, self.name) == (other.function, other.numbers, other.name)
        )

    def __hash__(self) -> int:
        return hash((self.function, self.name))

    def named(self, name: str) -> Part[T]:
        """Return the same part under another name, for a stage that a profile uses twice."""
        return Part(self.function, self.numbers, name)

    def with_numbers(self, numbers: Mapping[str, Any]) -> Part[T]:
        """Return the same part with some numbers replaced."""
        kept = getattr(self.function, "keeps_the_rest_of", ())
        tables = {key: {**self.numbers[key], **numbers[key]} for key in kept if key in numbers}
        return Part(self.function, {**self.numbers, **numbers, **tables}, self.name)

    def __str__(self) -> str:
        told = {key: value for key, value in self.numbers.items() if value != ()}
        shown = ", ".join(f"{key}={_show(value)}" for key, value in told.items())
        return f"{self.name}({shown})"


def _show(value: object) -> str:
    if isinstance(value, tuple) and value and all(isinstance(one, Part) for one in value):
        return "[" + ", ".join(str(one) for one in value) + "]"
    return str(value) if isinstance(value, Part) else repr(value)


Stage = Part[Run]
Source = Part[RankedList]
Test = Part[bool]
Fan = Part[tuple[Source, ...]]


def stage(function: Callable[Concatenate[Run, P], T]) -> Callable[P, Part[T]]:
    """Turn a function of a run and numbers into a factory of parts; mypy checks the numbers."""

    def make(*args: P.args, **numbers: P.kwargs) -> Part[T]:
        if args:
            raise InvalidInput(f"{function.__name__} takes its numbers by name")
        return Part(function, {**(function.__kwdefaults__ or {}), **numbers}, function.__name__)

    make.__name__ = function.__name__
    make.__doc__ = function.__doc__
    make.__wrapped__ = function  # type: ignore[attr-defined]  # the docs read names and types here
    return make


def checked_by(check: Callable[P, None]) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Let a profile that lists this stage check its numbers when it is built, not when it is searched.

    Stands below `@stage`; the check takes the same numbers, by name, and raises InvalidInput.
    """

    def attach(function: Callable[..., T]) -> Callable[..., T]:
        function.check_numbers = check  # type: ignore[attr-defined]
        return function

    return attach


def keeps_the_rest_of(*names: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Let a table given for one of these numbers change what it names, and no more.

    Stands below `@stage`.
    """

    def attach(function: Callable[..., T]) -> Callable[..., T]:
        function.keeps_the_rest_of = names  # type: ignore[attr-defined]
        return function

    return attach


def attempt(part: Part[T], run: Run, otherwise: T) -> tuple[T, Step]:
    """Run one part, time it, and turn a lost tier into a note instead of a failure."""
    at_us, started = time_ns() // 1000, perf_counter()
    try:
        out, lost = part(run), None
    except Unavailable as gone:  # the only error a search forgives
        out, lost = otherwise, str(gone)
    took_ms = (perf_counter() - started) * 1000
    return out, Step(part.name, took_ms, part.numbers, lost=lost, at_us=at_us)


@stage
def recall(run: Run, *, sources: tuple[Source, ...], per_variant: tuple[Fan, ...] = ()) -> Run:
    """Ask every source at the same time; one that is lost gives an empty list and a reason.

    `per_variant` add a source for each variant of the query that expansion brought.
    """
    asked = (*sources, *(source for fan in per_variant for source in fan(run)))

    def ask(source: Source) -> tuple[RankedList, Step]:
        found, step = attempt(source, run, RankedList(source.name, searched=False))
        if found.warning:
            step = step._replace(notes={"warning": found.warning})
        return found._replace(name=source.name), step._replace(came_out=len(found.rows))

    # Imported here: a keyword search from a cold shell has one source and needs no threads.
    if len(asked) < 2:
        answers = [ask(source) for source in asked]
    else:
        from scrubjay.runtime.worker import recall_pool

        answers = together(ask, asked, recall_pool())
    return run._replace(
        lists=(*run.lists, *(found for found, _ in answers)),
        branches=tuple(step for _, step in answers),
    )


def together(ask: Callable[[A], T], asked: Sequence[A], threads: Executor) -> list[T]:
    """Ask for everything at the same time, the first in this thread; answers are in order."""
    first, *others = asked
    waiting = [threads.submit(ask, one) for one in others]
    return [ask(first), *(one.result() for one in waiting)]


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
    """Run several stages under one name, so that they can be left out together."""
    run, steps = in_order(stages, run)
    return run._replace(branches=steps)


def in_order(stages: tuple[Stage, ...], run: Run) -> tuple[Run, tuple[Step, ...]]:
    """Run stages one after the other; return what came out, and a step for each."""
    steps: tuple[Step, ...] = ()
    for part in stages:
        run, step = advance(part, run)
        steps = (*steps, step)
    return run, steps


@stage
def configured(run: Run, *, part: str) -> bool:
    """True when the user has chosen a component of this kind, such as a reranker, here or not."""
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


def is_parts(value: object) -> bool:
    """True for stages inside a stage, of which there may be none: the trace shows them as branches."""
    return isinstance(value, Part) or (
        isinstance(value, tuple) and all(isinstance(one, Part) for one in value)
    )


def search(query: Query, profile: str, stages: tuple[Stage, ...], kit: Kit) -> Results:
    """Fold the stages over one run, keeping a trace of each."""
    started = perf_counter()
    run = Run(query, kit)
    for part in stages:
        after, step = advance(part, run)
        run = after._replace(trace=(*after.trace, step))
    return results_of(run, profile, took_ms=(perf_counter() - started) * 1000)
