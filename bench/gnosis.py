"""gnosis: what its two store lookups cost, its skip path, and how many pairs are reranked here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import scrubjay
from bench.corpus import DIMS, Corpus, generate
from bench.measure import cpu_s, middle
from bench.report import Row
from bench.systems import BATCH, Precomputed, add_vectors, fill_scrubjay

if TYPE_CHECKING:
    from scrubjay.storage.sqlite.connection import SqliteDatabase
    from scrubjay.types import Scope

LOOKUP_GOAL_MS = 3.0
SHARES = {"everywhere": 1.0, "common": 0.5, "usual": 0.1, "seldom": 0.01}
_RARE = 20_000
_FEW = 4
_READ = 300

Say = Callable[[str], None]
Call = Callable[[int], object]


class Plan(NamedTuple):
    """How much is measured."""

    memories: int = 100_000
    rounds: int = 3
    skips: int = 20
    questions: int = 8


def measure(home: Path, say: Say, *, reranker: Path | None, quick: bool) -> list[Row]:
    """Return all rows about gnosis; the stores are made below `home`."""
    plan = Plan(10_000, 1, 5, 2) if quick else Plan()
    home.mkdir(parents=True, exist_ok=True)
    say(f"gnosis: filling a store with {plan.memories:,} memories")
    corpus = generate(plan.memories)
    path = home / "gnosis.db"
    _fill(path, corpus)
    say("gnosis: looking up")
    rows = _lookups(path, corpus, plan)
    rows.append(_skipped(path, corpus, plan))
    say(f"gnosis: reading {_READ} memories with the model, then reranking")
    return [*rows, *_reranked(home / "read.db", corpus, reranker, plan)]


def _fill(path: Path, corpus: Corpus) -> None:
    """Write memories of two people with one to five topics, some of them very common, and vectors."""
    chance = np.random.default_rng(len(corpus.texts))
    names = list(SHARES)
    drawn = chance.random((len(corpus.texts), len(names))) < list(SHARES.values())
    rare = np.minimum(chance.zipf(1.3, len(corpus.texts)), _RARE)
    with scrubjay.open(str(path), embedder=False) as store:
        for start in range(0, len(corpus.texts), BATCH):
            store.add_many(
                {
                    "text": corpus.texts[row],
                    "namespace": "user:ann" if row % 2 else "user:ben",
                    "topics": [*(names[at] for at in np.flatnonzero(drawn[row])), f"r{rare[row]}"],
                }
                for row in range(start, min(start + BATCH, len(corpus.texts)))
            )
        for row in range(_FEW):
            store.add(f"{corpus.queries[row]} It is so.", namespace="few")
    add_vectors(path, (*corpus.vectors, *corpus.query_vectors[:_FEW]))


def _lookups(path: Path, corpus: Corpus, plan: Plan) -> list[Row]:
    """Time each lookup alone: the CPU of its thread, the median of fifty queries, after a warm-up."""
    from scrubjay.storage.sqlite.connection import SqliteDatabase
    from scrubjay.types import Scope

    with closing(SqliteDatabase(str(path))) as db:
        scopes = {"everything": Scope(), "a user's half": Scope(namespaces=("user:ann",))}
        calls = _calls(db, corpus, scopes)
        quietest = dict.fromkeys(calls, float("inf"))
        for call in calls.values():
            call(0)
        for _ in range(plan.rounds):
            for what, call in calls.items():
                # Each query is another one than before: of the same, the scan would be known.
                spent_ms = [_thread_ms(partial(call, at)) for at in range(len(corpus.queries))]
                quietest[what] = min(quietest[what], middle(spent_ms))
        rows = []
        for what, ms in quietest.items():
            goal_ms = LOOKUP_GOAL_MS * (2 if what.startswith("both") else 1)
            goal = f"under {goal_ms:.0f} ms"
            rows.append(Row(f"{what}, CPU", f"{ms:.2f} ms", goal, ms < goal_ms))
    return [*rows, *_floor(plan)]


def _calls(db: SqliteDatabase, corpus: Corpus, scopes: Mapping[str, Scope]) -> dict[str, Call]:
    """Return each lookup as a call with the number of a query."""
    from scrubjay.search.stages.topics import keywords_in
    from scrubjay.storage.sql.topics import SqlTopics
    from scrubjay.storage.sqlite.vectors import SqliteVector

    vectors = SqliteVector(db)
    topics = SqlTopics(db, vectors)
    model, asked = Precomputed.name, corpus.query_vectors

    def nearest(scope: Scope, limit: int, at: int) -> object:
        return vectors.search(asked[at], model, scope, limit)

    def tagged(words: str, scope: Scope, limit: int, at: int) -> object:
        keywords = keywords_in(words.format(corpus.queries[at]))
        return topics.search(keywords, asked[at], model, scope, limit)

    def without(words: str, scope: Scope, limit: int, at: int) -> object:
        return topics.search(keywords_in(words), None, None, scope, limit)

    def both(words: str, scope: Scope, limit: int, at: int) -> object:
        nearest(scope, limit * 4 // 3, at)
        return tagged(words, scope, limit, at)

    calls: dict[str, Call] = {}
    for limit in (64, 256):
        for name, scope in scopes.items():
            calls[f"vector lookup of {limit}, {name}"] = partial(nearest, scope, limit)
    kinds = {"a rare topic": "r777", "a question with a rare topic": "{} r777"}
    kinds |= {f"a topic of {share:.0%} of all": name for name, share in SHARES.items()}
    for limit in (48, 192):
        for kind, words in kinds.items():
            for name, scope in scopes.items():
                calls[f"topic lookup of {limit}, {kind}, {name}"] = partial(
                    tagged, words, scope, limit
                )
        calls[f"topic lookup of {limit}, a topic of 100% of all, without a vector, everything"] = (
            partial(without, "everywhere", scopes["everything"], limit)
        )
    for limit in (48, 192):
        calls[f"both lookups of one query ({limit * 4 // 3} and {limit}, a topic of 100%)"] = (
            partial(both, "everywhere", scopes["everything"], limit)
        )
    return calls


def _floor(plan: Plan) -> list[Row]:
    """Time the scan that every exact vector lookup has to make, and reading its bytes once."""
    import simsimd

    chance = np.random.default_rng(plan.memories)
    codes = chance.integers(-127, 128, (plan.memories, DIMS), dtype=np.int8)
    query, small = codes[:1].copy(), codes[:1000].copy()

    def scan(rows: Any, times: int = 1) -> None:
        for _ in range(times):
            simsimd.cdist(query, rows, metric="dot", out_dtype="f32")

    again = plan.memories // len(small)
    whole_ms = middle([_thread_ms(partial(scan, codes)) for _ in range(30)])
    cached_ms = middle([_thread_ms(partial(scan, small, again)) for _ in range(30)])
    read_ms = middle([_thread_ms(codes.view(np.uint64).max) for _ in range(30)])
    return [
        Row(
            f"of that, the scan of {plan.memories:,} int8 vectors ({codes.nbytes / 1e6:.1f} MB)",
            f"{whole_ms:.2f} ms; {cached_ms:.2f} ms if they were in the"
            f" processor's cache; to read them once and do nothing takes {read_ms:.2f} ms",
        )
    ]


def _thread_ms(do: Callable[[], object]) -> float:
    began = time.thread_time()
    do()
    return 1000 * (time.thread_time() - began)


def _skipped(path: Path, corpus: Corpus, plan: Plan) -> Row:
    """Search where only four memories may be seen: the reranker is skipped."""
    queries = corpus.queries[: plan.skips]
    embedder = Precomputed(corpus.queries, corpus.query_vectors)
    with scrubjay.open(str(path), embedder=embedder, profile="gnosis") as store:

        def ask(query: str) -> None:
            answer = store.search(query, namespace="few")
            if len(answer) != _FEW or answer.counts["reranked"]:
                raise RuntimeError(f"{len(answer)} hits, {answer.counts}")

        for query in queries:
            ask(query)
        spent_ms = [1000 * cpu_s(partial(ask, query)) for query in queries]
    what = (
        f"`gnosis` with {_FEW} candidates, reranking skipped, without the query's embedding, CPU"
    )
    return Row(what, f"{middle(spent_ms):.1f} ms", "under 40 ms", middle(spent_ms) < 40)


def _reranked(path: Path, corpus: Corpus, reranker: Path | None, plan: Plan) -> list[Row]:
    """Say how many pairs are read in each mode, by late interaction and by a cross-encoder."""
    from scrubjay.models.embed.local import OnnxEmbedder
    from scrubjay.models.guard import is_ready

    model = OnnxEmbedder()
    if not is_ready(model):
        return [Row("pairs reranked", "the model is not here: scrubjay models pull")]
    with scrubjay.open(str(path), embedder=model) as store:
        fill_scrubjay(store, corpus.texts[:_READ])
    ways: list[tuple[str, str, Mapping[str, Any]]] = [("late interaction", "late", {})]
    if reranker is not None:
        ways.append((f"a cross-encoder ({_weight(reranker)})", str(reranker), {}))
        for deadline_ms in (2000, 350):
            name = f"the same within {deadline_ms} ms (R-12)"
            ways.append((name, str(reranker), {"cross_encoder.deadline_ms": deadline_ms}))
    queries = corpus.queries[: plan.questions]
    return [
        _pairs(path, model, name, chosen, mode, overrides, queries)
        for name, chosen, overrides in ways
        for mode in ("standard", "deep")
    ]


def _pairs(
    path: Path,
    model: Any,
    name: str,
    chosen: str,
    mode: str,
    overrides: Mapping[str, Any],
    queries: Sequence[str],
) -> Row:
    counts: list[int] = []
    spent_ms: list[float] = []
    with scrubjay.open(str(path), embedder=model, reranker=chosen, profile="gnosis") as store:
        for query in (
            queries[0],
            *queries,
        ):  # the first one loads the model and measures its speed

            def ask(query: str = query) -> None:
                answer = store.search(query, mode=mode, overrides=overrides or None)
                if answer.degraded:
                    raise RuntimeError(f"{name}: {answer.degraded}")
                counts.append(answer.counts["reranked"])

            spent_ms.append(1000 * cpu_s(ask))
    what = f"`gnosis:{mode}`, pairs reranked by {name}"
    return Row(
        what, f"{middle(counts[1:]):.0f}; the search takes {middle(spent_ms[1:]):.0f} ms of CPU"
    )


def _weight(folder: Path) -> str:
    largest = max(file.stat().st_size for file in folder.glob("*.onnx"))
    return f"weights of {largest / 1e6:.0f} MB"
