"""Modes: what each way to search costs beside keyword search."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

import scrubjay
from bench.corpus import DIMS, Corpus, Vectors, generate
from bench.late import PASSAGES, choice, sizes, writing
from bench.measure import QUIET_S, cpu_s, disk_bytes, middle
from bench.report import Row, times
from bench.systems import LIMIT, fill_scrubjay, open_scrubjay

if TYPE_CHECKING:
    from scrubjay.models.embed.local import OnnxEmbedder

FAST_GOAL = 3.0
LATE_GOAL_MS = 60.0
_SENTENCES = 5
_CHARS = 796  # 199 tokens by the estimate that cuts passages: one passage a document

Say = Callable[[str], None]
T = TypeVar("T")


class Way(NamedTuple):
    """One way to search: a profile with its mode, and what is changed in it."""

    profile: str
    overrides: Mapping[str, Any] | None = None


KEYWORD = "`default:keyword`"
FAST = "`default:fast`"
SHALLOW = f"`default` with {PASSAGES} passages instead of 64"
DEFAULT = "`default` (64 passages)"
GNO_KEYWORD = "`gno:keyword`"
GNO_FAST = "`gno:fast`"
GNO = f"`gno` ({PASSAGES} passages)"
WAYS = {
    KEYWORD: Way("default:keyword"),
    "`default:vector`": Way("default:vector"),
    FAST: Way("default:fast"),
    SHALLOW: Way("default", {"late_interaction.depth": PASSAGES}),
    DEFAULT: Way("default"),
    GNO_KEYWORD: Way("gno:keyword"),
    "`gno:vector`": Way("gno:vector"),
    GNO_FAST: Way("gno:fast"),
    GNO: Way("gno"),
}


class Plan(NamedTuple):
    """How much is measured."""

    documents: int = 10_000
    real: int = 200
    queries: int = 40
    rounds: int = 2
    choices: int = 8


class _Watched:
    """The real model, and the CPU seconds that it took since `spent_s` was set to 0; no tokens."""

    def __init__(self, model: OnnxEmbedder) -> None:
        self.name = model.name
        self.dims = model.dims
        self.languages = model.languages
        self.spent_s = 0.0
        self._model = model

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """Return the model's vectors."""
        return self._timed(lambda: self._model.embed(texts, as_query=as_query))

    def _timed(self, call: Callable[[], T]) -> T:
        # Of the process: most of a model's work is done by threads of onnxruntime.
        began = time.process_time()
        answer = call()
        self.spent_s += time.process_time() - began
        return answer


class _WatchedTokens(_Watched):
    """The same with token vectors."""

    def __init__(self, model: OnnxEmbedder) -> None:
        super().__init__(model)
        self.token_dims = model.token_dims
        self.rotation = model.rotation

    def tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[Vectors]:
        """Return the model's token vectors."""
        return self._timed(lambda: self._model.tokens(texts, as_query=as_query))

    def embed_with_tokens(
        self, texts: Sequence[str], *, as_query: bool = False
    ) -> tuple[Vectors, list[Vectors]]:
        """Return both, from one pass."""
        return self._timed(lambda: self._model.embed_with_tokens(texts))


def measure(home: Path, say: Say, *, quick: bool) -> list[Row]:
    """Return all rows about modes; the stores are made below `home`."""
    from scrubjay.models.embed.local import OnnxEmbedder
    from scrubjay.models.guard import is_ready
    from scrubjay.text.tokens import estimate_tokens

    model = OnnxEmbedder()
    if not is_ready(model):
        return [Row("modes", "the model is not here: scrubjay models pull")]
    plan = Plan(1_000, 20, 8, 1, 1) if quick else Plan()
    home.mkdir(parents=True, exist_ok=True)
    corpus = generate(plan.documents * _SENTENCES)
    real = _real_passages(plan.real)
    made_up = list(_made_up(corpus, plan.documents - len(real)))
    tokens = [*map(model.count_tokens, real), *map(estimate_tokens, made_up)]
    say(f"modes: filling a store with {plan.documents:,} documents")
    without, whole = _fill(home / "modes.db", [*real, *made_up], tokens, model)
    say(f"modes: asking {plan.queries} questions in {len(WAYS)} ways")
    queries = corpus.queries[: plan.queries]
    found = _modes(home / "modes.db", queries, model, plan)
    say("modes: late interaction, made anew and stored")
    found += choice(home / "modes.db", queries[: plan.choices], model, plan.real)
    found += sizes(real, without, whole, plan.documents, model)
    say(f"modes: writing {len(real)} passages with token vectors and without")
    return [*found, writing(home, real, model, _Watched(model))]


def _made_up(corpus: Corpus, count: int) -> Iterable[str]:
    for row in range(count):
        several = " ".join(corpus.texts[row * _SENTENCES : (row + 1) * _SENTENCES])
        yield several[:_CHARS].rpartition(" ")[0]


def _real_passages(count: int) -> list[str]:
    """Return passages that people wrote, as a store cuts them: those of Python's own reference."""
    from pydoc_data.topics import topics

    from scrubjay.write.chunking import split

    # Typographic quotes would make the estimate cut shorter passages.
    text = "\n\n".join(topics.values()).encode("ascii", "ignore").decode()
    cut = [text[one.start : one.stop].strip() for one in split(text)]
    # A few would be cut again, alone in a document, because a heading stands in them.
    long = [one for one in dict.fromkeys(cut) if len(one) > _CHARS * 0.85 and len(split(one)) == 1]
    return random.Random(count).sample(long, count)


def _fill(
    path: Path, texts: Sequence[str], tokens: Sequence[int], model: OnnxEmbedder
) -> tuple[int, int]:
    """Write documents, then random vectors, then random token vectors; return the last two sizes."""
    from scrubjay.storage.sql.vectors import SqlEmbeddingQueue, SqlTokenVectors
    from scrubjay.storage.sqlite.connection import SqliteDatabase
    from scrubjay.storage.sqlite.vectors import SqliteVector

    with open_scrubjay(path, False) as store:
        fill_scrubjay(store, texts)
    rng = np.random.default_rng(len(texts))
    with closing(SqliteDatabase(str(path))) as db:
        SqlEmbeddingQueue(db).activate(model.name, model.dims, model.token_dims)
        with db.read() as reader:
            chunks = [n for (n,) in reader.execute("SELECT n FROM chunks ORDER BY n")]
        if len(chunks) != len(texts):
            raise RuntimeError(f"{len(texts)} documents became {len(chunks)} passages")
        vectors = _units(rng, len(chunks), DIMS)
        SqliteVector(db).add(model.name, list(zip(chunks, vectors, strict=True)))
    without = disk_bytes(path)
    rows = _units(rng, 20_000, model.token_dims)
    with closing(SqliteDatabase(str(path))) as db:
        SqlTokenVectors(db).add(
            model.name,
            [
                (chunk, _stretch(rng, rows, count))
                for chunk, count in zip(chunks, tokens, strict=True)
            ],
        )
    return without, disk_bytes(path)


def _units(rng: np.random.Generator, rows: int, dims: int) -> Vectors:
    drawn = rng.standard_normal((rows, dims), dtype=np.float32)
    units: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return units


def _stretch(rng: np.random.Generator, rows: Vectors, count: int) -> Vectors:
    start = int(rng.integers(len(rows) - count))
    return rows[start : start + count]


def _modes(path: Path, queries: Sequence[str], model: OnnxEmbedder, plan: Plan) -> list[Row]:
    """Ask every question in every way in turns, and compare the medians with those of keyword search."""
    watched = _WatchedTokens(model)
    all_s: dict[str, list[float]] = {name: [] for name in WAYS}
    own_s: dict[str, list[float]] = {name: [] for name in WAYS}
    shuffled = random.Random(plan.rounds)
    with scrubjay.open(str(path), embedder=watched) as store:

        def ask(name: str, query: str) -> Any:
            way = WAYS[name]
            return store.search(query, profile=way.profile, overrides=way.overrides, limit=LIMIT)

        for query in queries:  # so that files and words are in memory
            for name in WAYS:
                _check(WAYS[name], ask(name, query))
        time.sleep(QUIET_S)
        for query in [*queries] * plan.rounds:
            # Whoever asks first pays for what the others find in memory: each is first at times.
            for name in shuffled.sample(list(WAYS), len(WAYS)):
                watched.spent_s = 0.0
                spent_s = cpu_s(partial(ask, name, query))
                all_s[name].append(spent_s)
                own_s[name].append(spent_s - watched.spent_s)
    return _compared(all_s, own_s)


def _check(way: Way, answer: Any) -> None:
    """Refuse to time a search that left something out."""
    late = any("late" in hit.found for hit in answer)
    if answer.degraded or not len(answer) or late != (way.profile in ("default", "gno")):
        raise RuntimeError(f"{way}: {len(answer)} hits; {answer.degraded}")


def _compared(
    all_s: Mapping[str, Sequence[float]], own_s: Mapping[str, Sequence[float]]
) -> list[Row]:
    one_s = middle(all_s[KEYWORD])
    found = [Row(f"{KEYWORD}, CPU", "1")]
    for name in WAYS:
        if name != KEYWORD:
            whole, own = (times(middle(costs[name]) / one_s) for costs in (all_s, own_s))
            shown = whole if "keyword" in name else f"{whole}, without the query's embedding {own}"
            found.append(Row(f"{name}, CPU beside {KEYWORD}", shown))
    for fast, keyword in ((FAST, KEYWORD), (GNO_FAST, GNO_KEYWORD)):
        ratio = middle(own_s[fast]) / middle(own_s[keyword])
        what = f"{fast} without the query's embedding, CPU beside {keyword}"
        found.append(Row(what, times(ratio), f"at most {FAST_GOAL:.0f}x", ratio <= FAST_GOAL))
    for name, fast in ((SHALLOW, FAST), (DEFAULT, FAST), (GNO, GNO_FAST)):
        pairs = zip(own_s[name], own_s[fast], strict=True)
        more_ms = 1000 * middle([ours - theirs for ours, theirs in pairs])
        what = f"{name} beyond {fast}, without the query's embedding, CPU of this machine"
        goal = f"at most {LATE_GOAL_MS:.0f} ms"
        found.append(Row(what, f"{more_ms:.1f} ms", goal, more_ms <= LATE_GOAL_MS))
    return found
