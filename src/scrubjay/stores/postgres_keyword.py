"""Words in Postgres: BM25 over tokens that text.py made, counted by `ts_rank_cd`.

Of one token, or of one phrase, `ts_rank_cd` is the sum of the weights of its occurrences. From that
the formula of FTS5 gives the same scores, and the tokens are the same: so a store ranks alike
wherever it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log2
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.stores import keyword_ranking
from scrubjay.stores.database import Clause, Connection, Database
from scrubjay.stores.keyword_ranking import (
    K1,
    MOST_TIES,
    B,
    Scores,
    best_of,
    complete_first,
    fts5_idf,
    idf,
    parts_of_the_unknown,
    rarity_of,
    selects,
)
from scrubjay.stores.postgres_words import Indexed, indexed
from scrubjay.stores.scope_sql import EVERYTHING, where
from scrubjay.stores.token_vectors import run_asked, run_counted
from scrubjay.types import RankedList, Scope, Term

if TYPE_CHECKING:
    pass

# What every branch of a search gives: the part's memory, and how often it holds one run of tokens.
_RUN = (
    "SELECT ?::int AS term, ?::int AS run, ?::float8 AS idf, w.memory, w.length,"
    " ts_rank_cd({main}, w.main, ?::tsquery) + ts_rank_cd({ident}, w.ident, ?::tsquery) AS often"
    " FROM word_parts AS w WHERE (w.main @@ ?::tsquery OR w.ident @@ ?::tsquery){narrowed}"
)
# Rounded, because a weight such as 1.2 is not quite that in the four bytes that Postgres gives it.
_SCORED = (
    "WITH found AS ({runs}), counted AS ("
    "SELECT term, idf, memory, length, round(sum(often)::float8 * {scale} * 1e5) / 1e5 AS often"
    " FROM found GROUP BY term, run, idf, memory, length"
    "), terms AS ("
    "SELECT memory, term, {of_runs}(idf * often * {k1_more}"
    " / (often + {k1} * ({one_less_b} + {b} * length / ?::float8))) AS score"
    " FROM counted GROUP BY memory, term"
    "), scored AS ("
    "SELECT memory, sum(score) AS score, count(*) AS held FROM terms GROUP BY memory)"
)
_ALL = " SELECT memory, score, held FROM scored"
# Complete ones first; with all that tie with the last, for age and id to decide between them.
_BEST = (
    ", ordered AS (SELECT memory, score, held,"
    " score + CASE WHEN held >= ?::int THEN 1e6 ELSE 0 END AS place FROM scored)"
    " SELECT memory, score, held FROM ordered WHERE place >= coalesce("
    "(SELECT place FROM ordered ORDER BY place DESC LIMIT 1 OFFSET ?), 0) - 1e-6"
    " ORDER BY place DESC LIMIT ?"
)


class _Run(NamedTuple):
    """One run of neighbouring tokens that is asked for: of which term, and its weight."""

    term: int
    tokens: tuple[str, ...]
    idf: float


class _Ask(NamedTuple):
    """One search: what narrows it, how fields weigh, and how deep it goes."""

    db: Connection
    of: Database
    narrowing: Clause
    weights: Mapping[str, float]
    limit: int

    def counts(self, terms: Sequence[Term], narrowing: Clause | None = None) -> list[int]:
        """Count the memories that hold each term, of all or of some."""
        narrowed, arguments = narrowing or Clause("", ())
        counting: list[str] = []
        given: list[object] = []
        for term in terms:
            held, _ = self.of.holding(term)
            counting.append(
                f"(SELECT count(DISTINCT w.memory) FROM ({held.sql}) AS w WHERE TRUE{narrowed})"
            )
            given += (*held.arguments, *arguments)
        return list(self.db.execute(f"SELECT {', '.join(counting)}", given).fetchone())

    def finds(self, term: Term) -> bool:
        """True when anything in reach holds a term."""
        held, _ = self.of.holding(term)
        narrowed, arguments = self.narrowing
        statement = f"SELECT 1 FROM ({held.sql}) AS w WHERE TRUE{narrowed} LIMIT 1"
        return self.db.execute(statement, (*held.arguments, *arguments)).fetchone() is not None

    def score(
        self, runs: Sequence[_Run], index: Indexed, of_runs: str, best: Clause
    ) -> list[tuple[int, float, int]]:
        """Score what holds any of the runs: the memory, its score, how many of the terms it holds."""
        # Postgres takes no weight above 1. By a power of two nothing is lost.
        scale = 2.0 ** ceil(log2(max(1.0, *map(self._weight, keyword_ranking.FIELDS))))
        title, text, topics, context, ident = (
            self._weight(field) / scale for field in keyword_ranking.FIELDS
        )
        branch = _RUN.format(
            main=_array(text, text, context, title),
            ident=_array(ident, 0, 0, topics),
            narrowed=self.narrowing.sql,
        )
        given: list[object] = []
        for at, run in enumerate(runs):
            counted = run_counted(run.tokens, self.of.codec)
            wanted = run_asked(run.tokens, self.of.codec)
            given += (run.term, at, run.idf, counted, counted, wanted, wanted)
            given += self.narrowing.arguments
        scored = _SCORED.format(
            runs=" UNION ALL ".join([branch] * len(runs)),
            scale=scale,
            of_runs=of_runs,
            k1=K1,
            k1_more=K1 + 1,
            b=B,
            one_less_b=1 - B,
        )
        mean = index.tokens / index.memories if index.tokens else 1.0
        return self.db.execute(scored + best.sql, (*given, mean, *best.arguments)).fetchall()

    def _weight(self, field: str) -> float:
        return float(self.weights.get(field, 1.0))


class PostgresKeyword:
    """The keyword index of one schema."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def search(
        self,
        terms: Sequence[Term],
        scope: Scope,
        limit: int,
        weights: Mapping[str, float],
        *,
        every_first: bool = True,
    ) -> RankedList:
        """Return the memories that hold any of the terms, by BM25; by default after those that hold all."""
        if not terms:
            return RankedList("keyword")
        if self._db.in_write:
            self._db.write_gathered()
        with self._db.read() as db:
            ask = _Ask(db, self._db, self._narrowing(scope), weights, limit)
            terms = parts_of_the_unknown(ask.finds, terms)
            index = indexed(db)
            small = index.memories <= keyword_ranking.SMALL_STORE
            memories, held = index.memories, ask.counts(terms)
            many = sum(held) > keyword_ranking.MANY
            if scope.reader is not None and not (many and selects(scope)):
                # As in SQLite: otherwise scores would tell of what others have stored.
                seen = self._narrowing(Scope(reader=scope.reader))
                small, memories, held = True, self._seen(db, scope), ask.counts(terms, seen)
            rarities = [rarity_of(memories, count) for count in held]
            if small:
                idfs = [idf(rarity) for rarity in rarities]
                scores, complete = _small(ask, terms, idfs, index)
            else:
                scores, complete, idfs = _large(ask, terms, rarities, index, every_first)
            ranked = complete_first(scores, complete) if every_first else list(scores.items())
            return best_of(db, ranked, limit, idfs)

    def rarity(self, term: Term) -> float:
        """Return the weight of a term that a small store ranks by."""
        if self._db.in_write:
            self._db.write_gathered()
        with self._db.read() as db:
            (held,) = _Ask(db, self._db, Clause("", ()), {}, 0).counts([term])
            return idf(rarity_of(indexed(db).memories, held))

    def _narrowing(self, scope: Scope) -> Clause:
        """Return what narrows `w.memory` to a scope."""
        condition, arguments = where(scope, self._db)
        if condition == EVERYTHING:
            return Clause("", ())
        seen = f" AND EXISTS (SELECT 1 FROM memories AS m WHERE m.n = w.memory AND {condition})"
        return Clause(seen, tuple(arguments))

    def _seen(self, db: Connection, scope: Scope) -> int:
        """Count what a person may see."""
        condition, arguments = where(Scope(reader=scope.reader), self._db)
        counting = f"SELECT count(*) FROM memories AS m WHERE {condition}"
        return int(db.execute(counting, arguments).fetchone()[0])


def _small(
    ask: _Ask, terms: Sequence[Term], idfs: Sequence[float], index: Indexed
) -> tuple[Scores, set[int]]:
    """Rank by our own weights; of several forms of a term, the one that says most counts."""
    runs = [
        _Run(at, run, weight)
        for at, (term, weight) in enumerate(zip(terms, idfs, strict=True))
        for run in term.any_of
    ]
    rows = ask.score(runs, index, "max", Clause(_ALL, ()))
    return {n: score for n, score, _ in rows}, {n for n, _, held in rows if held == len(terms)}


def _large(
    ask: _Ask, terms: Sequence[Term], rarities: Sequence[float], index: Indexed, every_first: bool
) -> tuple[Scores, set[int], list[float]]:
    """Rank as FTS5 does: each form of a term by a weight of its own, and all of them count."""
    forms = [(at, run) for at, term in enumerate(terms) for run in term.any_of]
    several = [(at, run) for at, run in forms if len(terms[at].any_of) > 1]
    counts = ask.counts([Term((run,)) for _, run in several]) if several else []
    of_form = dict(zip(several, counts, strict=True))
    rarest = list(rarities)
    runs = []
    for at, run in forms:
        rarity = rarities[at]
        if (at, run) in of_form:
            rarity = rarity_of(index.memories, of_form[at, run])
        runs.append(_Run(at, run, fts5_idf(rarity)))
    for at, term in enumerate(terms):
        held = [count for run in term.any_of if (count := of_form.get((at, run)))]
        rarest[at] = rarity_of(index.memories, min(held)) if held else rarities[at]
    wanted = len(terms) if every_first else 0
    best = Clause(_BEST, (wanted or len(terms) + 1, ask.limit - 1, ask.limit + MOST_TIES))
    rows = ask.score(runs, index, "sum", best)
    complete = {n for n, _, held in rows if held == len(terms)} if every_first else set()
    if len(complete) >= ask.limit:
        rows = [row for row in rows if row[0] in complete]
    idfs = [fts5_idf(rarity) for rarity in rarest]
    return {n: score for n, score, _ in rows}, complete, idfs


def _array(unlabelled: float, ahead: float, second: float, first: float) -> str:
    """Return weights as Postgres takes them: of D, C, B and A."""
    return f"'{{{unlabelled},{ahead},{second},{first}}}'::real[]"
