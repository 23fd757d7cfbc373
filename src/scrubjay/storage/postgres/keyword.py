"""Words in Postgres: which memories are looked at, and how those are ranked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from scrubjay.storage.database import Clause, Connection, Database
from scrubjay.storage.postgres import token_vectors
from scrubjay.storage.postgres.bm25 import ALL, Bm25, Run, Scored, best
from scrubjay.storage.postgres.counts import Counting, PostgresCounts, narrowing
from scrubjay.storage.postgres.token_vectors import asked
from scrubjay.storage.postgres.words import Indexed
from scrubjay.storage.sql import keyword_ranking
from scrubjay.storage.sql.keyword_ranking import (
    K1,
    MOST_TIES,
    Scores,
    best_of,
    complete_first,
    fts5_idf,
    idf,
    parts_of_the_unknown,
    rarity_of,
    selects,
)
from scrubjay.types import RankedList, Scope, Term

_HELD = "(w.main @@ ?::tsquery OR w.ident @@ ?::tsquery)"
_OTHER = "(o.main @@ ?::tsquery OR o.ident @@ ?::tsquery)"
FEW = 1_000  # memories, to rank all of which takes no longer than another journey
_CLOSE = 2e-6  # more than two scores may differ by and still be equal


class _Ask(NamedTuple):
    """One search: what narrows it, what scores, and how deep it goes."""

    db: Connection
    of: Database
    narrowing: Clause
    bm25: Bm25
    limit: int

    def finds(self, term: Term) -> bool:
        """True when anything in reach holds a term."""
        held, _ = self.of.holding(term)
        narrowed, arguments = self.narrowing
        statement = f"SELECT 1 FROM ({held.sql}) AS w WHERE TRUE{narrowed} LIMIT 1"
        return self.db.execute(statement, (*held.arguments, *arguments)).fetchone() is not None

    def holding(self, terms: Sequence[Term]) -> Clause:
        """Return the condition that a part holds any of some terms."""
        wanted = " | ".join(filter(None, (asked(term, self.of.codec) for term in terms)))
        return Clause(_HELD + self.narrowing.sql, (wanted, wanted, *self.narrowing.arguments))

    def of_holding(self, terms: Sequence[Term]) -> Clause:
        """Return the condition that a part is of a memory that holds any of some terms."""
        held = self.holding(terms)
        picked = f"SELECT w.memory FROM word_parts AS w WHERE {held.sql}"
        return Clause(f"w.memory = ANY(ARRAY({picked}))", held.arguments)

    def of_complete(self, terms: Sequence[Term]) -> Clause:
        """Return the condition that a part is of a memory that holds every term, the rarest first."""
        each = [wanted for term in terms for wanted in [asked(term, self.of.codec)] * 2]
        at_once = " AND ".join([_HELD] * len(terms))
        # Those that hold all in one part Postgres finds without a look at any other. Only a long
        # memory has several parts.
        longer = min(token_vectors.MOST_POSITIONS, token_vectors.MOST_ALIKE)
        spread = (
            f" AND EXISTS (SELECT 1 FROM word_parts AS o WHERE o.memory = w.memory AND {_OTHER})"
        )
        narrowed, given = self.narrowing
        picked = (
            f"SELECT w.memory FROM word_parts AS w WHERE {at_once}{narrowed} UNION"
            f" SELECT w.memory FROM word_parts AS w WHERE w.length > {longer} AND {_HELD}"
            f"{spread * (len(terms) - 1)}{narrowed}"
        )
        return Clause(f"w.memory = ANY(ARRAY({picked}))", (*each, *given, *each, *given))


class PostgresKeyword:
    """The keyword index of one schema."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._counts = PostgresCounts(db)

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
            counting = self._counts.at(db)
            index = counting.indexed
            bm25 = Bm25(db, self._db.codec, weights, _mean(index))
            ask = _Ask(db, self._db, narrowing(scope, self._db), bm25, limit)
            terms = parts_of_the_unknown(ask.finds, terms)
            small = index.memories <= keyword_ranking.SMALL_STORE
            memories, held = index.memories, counting.held(terms)
            many = sum(held) > keyword_ranking.MANY
            if scope.reader is not None and not (many and selects(scope)):
                # As in SQLite: otherwise scores would tell of what others have stored.
                small, memories = True, counting.seen(scope.reader)
                held = counting.held(terms, scope.reader)
            if small:
                idfs = [idf(rarity_of(memories, count)) for count in held]
                scores, complete = _small(ask, terms, idfs)
            else:
                scores, complete, idfs = _large(ask, terms, counting, every_first)
            ranked = complete_first(scores, complete) if every_first else list(scores.items())
            return best_of(db, ranked, limit, idfs)

    def rarity(self, term: Term) -> float:
        """Return the weight of a term that a small store ranks by."""
        if self._db.in_write:
            self._db.write_gathered()
        with self._db.read() as db:
            counting = self._counts.at(db)
            return idf(rarity_of(counting.indexed.memories, counting.held([term])[0]))


def _mean(index: Indexed) -> float:
    return index.tokens / index.memories if index.tokens else 1.0


def _small(ask: _Ask, terms: Sequence[Term], idfs: Sequence[float]) -> tuple[Scores, set[int]]:
    """Rank by our own weights; of several forms of a term, the one that says most counts."""
    runs = [
        Run(at, run, weight)
        for at, (term, weight) in enumerate(zip(terms, idfs, strict=True))
        for run in term.any_of
    ]
    rows = ask.bm25.score(runs, ask.holding(terms), ALL, each_form=False)
    return {n: score for n, score, _ in rows}, {n for n, _, held in rows if held == len(terms)}


def _large(
    ask: _Ask, terms: Sequence[Term], counting: Counting, every_first: bool
) -> tuple[Scores, set[int], list[float]]:
    """Rank as FTS5 does: each form of a term by a weight of its own, and all of them count."""
    forms = [(at, run) for at, term in enumerate(terms) for run in term.any_of]
    of_form = counting.held([Term((run,)) for _, run in forms])
    memories = counting.indexed.memories
    runs = [
        Run(at, run, fts5_idf(rarity_of(memories, held)))
        for (at, run), held in zip(forms, of_form, strict=True)
    ]
    held = counting.held(terms)
    # The best that a term can give is what its rarest form gives; one that none holds gives nothing.
    idfs = [
        max(
            (
                run.idf
                for run, count in zip(runs, of_form, strict=True)
                if run.term == at and count
            ),
            default=fts5_idf(rarity_of(memories, held[at])),
        )
        for at in range(len(terms))
    ]
    wanted = len(terms) if every_first else len(terms) + 1  # more than any memory holds
    rows = _ranked(ask, terms, runs, held, wanted)
    complete = {n for n, _, count in rows if count == wanted}
    if len(complete) >= ask.limit:
        rows = [row for row in rows if row[0] in complete]
    return {n: score for n, score, _ in rows}, complete, idfs


def _ranked(
    ask: _Ask, terms: Sequence[Term], runs: Sequence[Run], held: Sequence[int], wanted: int
) -> list[Scored]:
    """Rank the fewest memories among which the best must be."""
    rarest_first = sorted(range(len(terms)), key=held.__getitem__)
    in_order = [terms[at] for at in rarest_first]
    taken = best(ask.limit, MOST_TIES, wanted)
    if sum(held) <= FEW:
        return ask.bm25.score(runs, ask.holding(terms), taken, each_form=True)
    if len(terms) == wanted > 1 and held[rarest_first[0]] >= ask.limit:
        rows = ask.bm25.score(runs, ask.of_complete(in_order), taken, each_form=True)
        if len(rows) >= ask.limit:
            return rows
    for few, most_of_others in _telling(runs, rarest_first, held, ask.limit):
        rows = ask.bm25.score(runs, ask.of_holding(in_order[:few]), taken, each_form=True)
        if len(rows) >= ask.limit:
            _, score, count = rows[ask.limit - 1]
            if count == wanted or score > most_of_others + _CLOSE:
                return rows
    return ask.bm25.score(runs, ask.holding(terms), taken, each_form=True)


def _telling(
    runs: Sequence[Run], rarest_first: Sequence[int], held: Sequence[int], limit: int
) -> Iterator[tuple[int, float]]:
    """Yield how many of the rarest terms may decide, and the most that all others can give.

    A run gives less than its weight times K1 + 1, and about its weight where a memory of usual length
    holds it once. What holds only common words need not be looked at where that is not enough.
    """
    total, reach, tried = sum(held), 0, limit // 2
    for few, last in enumerate(rarest_first[:-1], 1):
        reach += held[last]
        first = rarest_first[:few]
        others = (K1 + 1) * sum(run.idf for run in runs if run.term not in first)
        usual = min(run.idf for run in runs if run.term in first)
        # A scope may leave too few, and then more are tried: twice as many, or all.
        if usual > others and 2 * tried <= reach <= total / 2:
            tried = reach
            yield few, others
