"""BM25 keyword search in Postgres: which memories are ranked, and how.

`ts_rank_cd` of one token, or of one phrase, is the sum of the weights of its occurrences. From that the
formula of FTS5 gives the same scores, and the tokens are the same: so a store ranks the same in both
databases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from scrubjay.storage.codec import Codec
from scrubjay.storage.database import Clause, Connection, Database
from scrubjay.storage.postgres import cover_density, words
from scrubjay.storage.postgres.matching import HELD, FieldWeights, Matching, in_scope, weight_of
from scrubjay.storage.postgres.words import COUNTED, run_query, tsquery
from scrubjay.storage.sql import keyword_ranking as ranking
from scrubjay.storage.sql.keyword_index import Indexed, indexed
from scrubjay.storage.sql.keyword_ranking import FIELDS, K1, B, fts5_idf, idf, rarity_of
from scrubjay.storage.sql.scope import where
from scrubjay.types import RankedList, Scope, Term

_OTHER = "(o.main @@ ?::tsquery OR o.ident @@ ?::tsquery)"
# How often a part contains a run of tokens.
_OFTEN = "{rank} AS often{at}"
# Rounded, because a weight such as 1.2 is not exact in the four bytes that Postgres gives it.
_SUMMED = "round(sum(often{at})::float8 * {scale} * 1e5) / 1e5 AS often{at}"
_BM25 = "?::float8 * often{at} * {k1_more} / (often{at} + longer)"
_SCORED = (
    "WITH found AS (SELECT w.memory, w.length, {found} FROM word_parts AS w WHERE {candidates}),"
    " counted AS (SELECT memory, {k1} * ({one_less_b} + {b} * length / ?::float8) AS longer, {counted}"
    " FROM found GROUP BY memory, length),"
    " scored AS (SELECT memory, {score} AS score, {held} AS held FROM counted)"
)
ALL = Clause(" SELECT memory, score, held FROM scored", ())
_BEST = (
    ", ordered AS (SELECT memory, score, held,"
    " score + CASE WHEN held >= ?::int THEN 1e6 ELSE 0 END AS place FROM scored)"
    " SELECT memory, score, held FROM ordered WHERE place >= coalesce("
    "(SELECT place FROM ordered ORDER BY place DESC LIMIT 1 OFFSET ?), 0) - 1e-6"
    " ORDER BY place DESC LIMIT ?"
)
_MIN_COUNTED = 0.001  # a field of less weight may contain a token and count as nothing
FEW = 1_000  # memories; ranking them all takes no longer than another round trip
_CLOSE = 2e-6  # scores that differ by less may be equal
MAX_CACHED = 10_000

Ranked = tuple[int, float, int]  # a memory, its score, and how many of the terms it contains


class PostgresKeyword(ranking.KeywordIndex):
    """The keyword index of one schema."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._commit = -1
        self._counted: dict[tuple[str | None, Term | None], int] = {}

    def _score(self, db: Connection, query: ranking.KeywordQuery) -> ranking.Scored:
        scope = query.scope
        counts = self._counts(db)
        index = counts.indexed
        mean = index.tokens / index.memories if index.tokens else 1.0
        bm25 = _Bm25(db, self._db.codec, query.weights, mean)
        matching = Matching(db, self._db, in_scope(scope, self._db))
        asked = Asked(matching, bm25, query.limit)
        terms = ranking.parts_of_the_unknown(matching.finds, query.terms)
        small = index.memories <= ranking.SMALL_STORE
        memories, held = index.memories, counts.held(terms)
        many = sum(held) > ranking.MANY
        if scope.reader is not None and not (many and ranking.selects(scope)):
            # As in SQLite: otherwise scores would reveal what others have stored.
            small, memories = True, counts.seen(scope.reader)
            held = counts.held(terms, scope.reader)
        is_large = index.memories > ranking.SMALL_STORE
        elsewhere = partial(self._rank_elsewhere, asked, query) if is_large else _nowhere
        if small:
            idfs = [idf(rarity_of(memories, n)) for n in held]
            return _score_small(asked, terms, idfs, elsewhere)
        return _score_large(asked, terms, counts, query.every_first, elsewhere)

    def _rank_elsewhere(
        self,
        asked: Asked,
        query: ranking.KeywordQuery,
        terms: Sequence[Term],
        runs: Sequence[Run],
        *,
        each_form: bool,
    ) -> list[Ranked] | None:
        """Rank with the help of another index; None where this database has to do it alone."""
        return None

    def search_by_cover_density(
        self, terms: Sequence[Term], scope: Scope, limit: int, weights: Mapping[str, float]
    ) -> RankedList:
        with self._db.read() as db:
            matching = Matching(db, self._db, in_scope(scope, self._db))
            known = ranking.parts_of_the_unknown(matching.finds, terms)
            found = self._cover_density_elsewhere(matching, known, scope, weights, limit)
            if found is None:
                found = cover_density.rank(matching, known, weights, limit)
            return found

    def _cover_density_elsewhere(
        self,
        matching: Matching,
        terms: Sequence[Term],
        scope: Scope,
        weights: Mapping[str, float],
        limit: int,
    ) -> RankedList | None:
        """Rank with the help of another index; None where this database has to do it alone."""
        return None

    def rarity(self, term: Term) -> float:
        with self._db.read() as db:
            counts = self._counts(db)
            return idf(rarity_of(counts.indexed.memories, counts.held([term])[0]))

    def _counts(self, db: Connection) -> Counts:
        """Return the counts cached since the last commit; inside a write, none."""
        if self._db.in_write:
            self._db.write_gathered()
            return Counts(db, self._db, indexed(db), {})
        index = indexed(db)
        if index.commit != self._commit or len(self._counted) > MAX_CACHED:
            # A new dict: another thread may still fill the old one with older counts.
            self._counted, self._commit = {}, index.commit
        return Counts(db, self._db, index, self._counted)


class Counts(NamedTuple):
    """How many memories contain a term, cached until the next commit.

    Counting takes longer than ranking: Postgres visits each memory. The counts of table `terms` are of
    other tokens: there `don't` is one, and the words of an id are none.
    """

    db: Connection
    of: Database
    indexed: Indexed
    cache: dict[tuple[str | None, Term | None], int]

    def held(self, terms: Sequence[Term], reader: str | None = None) -> list[int]:
        missing = [term for term in dict.fromkeys(terms) if (reader, term) not in self.cache]
        seen = in_scope(Scope(reader=reader), self.of)
        selects: list[str] = []
        arguments: list[object] = []
        for term in missing:
            held, _ = self.of.holding(term)
            selects.append(
                f"(SELECT count(DISTINCT w.memory) FROM ({held.sql}) AS w WHERE TRUE{seen.sql})"
            )
            arguments += (*held.arguments, *seen.arguments)
        if missing:
            row = self.db.execute(f"SELECT {', '.join(selects)}", arguments).fetchone()
            self.cache.update(
                ((reader, term), count) for term, count in zip(missing, row, strict=True)
            )
        return [self.cache[reader, term] for term in terms]

    def seen(self, reader: str) -> int:
        if (reader, None) not in self.cache:
            condition, arguments = where(Scope(reader=reader), self.of)
            statement = f"SELECT count(*) FROM memories AS m WHERE {condition}"
            (self.cache[reader, None],) = self.db.execute(statement, arguments).fetchone()
        return self.cache[reader, None]


class Asked(NamedTuple):
    """One search: what it matches, its scoring and its limit."""

    matching: Matching
    bm25: _Bm25
    limit: int

    def of_holding(self, terms: Sequence[Term]) -> Clause:
        held = self.matching.holding(terms)
        picked = f"SELECT w.memory FROM word_parts AS w WHERE {held.sql}"
        return Clause(f"w.memory = ANY(ARRAY({picked}))", held.arguments)

    def of_complete(self, terms: Sequence[Term]) -> Clause:
        """Return the condition that a part is of a memory that contains every term, rarest first."""
        each = [wanted for term in terms for wanted in [tsquery(term, self.bm25.codec)] * 2]
        in_one_part = " AND ".join([HELD] * len(terms))
        # Postgres finds memories that contain all terms in one part without reading any other. Only a
        # long memory has several parts.
        longer = min(words.MAX_POSITIONS, words.MAX_ALIKE)
        spread = (
            f" AND EXISTS (SELECT 1 FROM word_parts AS o WHERE o.memory = w.memory AND {_OTHER})"
        )
        condition, given = self.matching.scope
        picked = (
            f"SELECT w.memory FROM word_parts AS w WHERE {in_one_part}{condition} UNION"
            f" SELECT w.memory FROM word_parts AS w WHERE w.length > {longer} AND {HELD}"
            f"{spread * (len(terms) - 1)}{condition}"
        )
        return Clause(f"w.memory = ANY(ARRAY({picked}))", (*each, *given, *each, *given))


class Run(NamedTuple):
    """A run of neighbouring tokens: the index of its term, and its weight."""

    term: int
    tokens: tuple[str, ...]
    idf: float


class _Bm25(NamedTuple):
    """Scores memories, given the weights of fields and the mean number of tokens."""

    db: Connection
    codec: Codec
    weights: Mapping[str, float]
    mean: float

    def score(
        self, runs: Sequence[Run], candidates: Clause, taken: Clause, *, each_form: bool
    ) -> list[Ranked]:
        """Score the parts `w` that meet a condition; of a term's forms each counts, or only the best.

        All parts of a memory that contain a run must meet it. Runs are in the order of terms.
        """
        of_fields = FieldWeights.of(self.weights)
        lightest = min(weight_of(field, self.weights) for field in FIELDS)
        all_counted = lightest >= _MIN_COUNTED
        found: list[str] = []
        counted: list[str] = []
        given: list[object] = []
        for at, run in enumerate(runs):
            found.append(_OFTEN.format(at=at, rank=of_fields.rank))
            counted.append(_SUMMED.format(at=at, scale=of_fields.scale))
            given += [run_query(run.tokens, self.codec, COUNTED)] * 2
            if not all_counted:
                found.append(f"{HELD} AS held{at}")
                counted.append(f"bool_or(held{at}) AS held{at}")
                given += [run_query(run.tokens, self.codec)] * 2
        scores: list[str] = []
        held: list[str] = []
        for _, forms in groupby(range(len(runs)), key=lambda at: runs[at].term):
            places = list(forms)
            each = [_BM25.format(at=at, k1_more=K1 + 1) for at in places]
            scores.append(" + ".join(each) if each_form else f"greatest({', '.join(each)})")
            holds = (f"often{at} > 0" if all_counted else f"held{at}" for at in places)
            held.append(f"({' OR '.join(holds)})::int")
        statement = _SCORED.format(
            found=", ".join(found),
            candidates=candidates.sql,
            counted=", ".join(counted),
            k1=K1,
            b=B,
            one_less_b=1 - B,
            score=" + ".join(scores),
            held=" + ".join(held),
        )
        given += (*candidates.arguments, self.mean, *(run.idf for run in runs), *taken.arguments)
        return self.db.execute(statement + taken.sql, given).fetchall()


# Ranks runs elsewhere, if that is possible.
_Elsewhere = Callable[..., list[Ranked] | None]


def _nowhere(terms: Sequence[Term], runs: Sequence[Run], *, each_form: bool) -> None:
    return None


def _score_small(
    query: Asked, terms: Sequence[Term], idfs: Sequence[float], elsewhere: _Elsewhere
) -> ranking.Scored:
    """Rank by our own weights; of several forms of a term, the best counts."""
    runs = [
        Run(at, run, weight)
        for at, (term, weight) in enumerate(zip(terms, idfs, strict=True))
        for run in term.any_of
    ]
    rows = elsewhere(terms, runs, each_form=False)
    if rows is None:
        rows = query.bm25.score(runs, query.matching.holding(terms), ALL, each_form=False)
    complete = {n for n, _, held in rows if held == len(terms)}
    return ranking.Scored({n: score for n, score, _ in rows}, complete, idfs)


def _score_large(
    query: Asked,
    terms: Sequence[Term],
    counts: Counts,
    every_first: bool,
    elsewhere: _Elsewhere,
) -> ranking.Scored:
    """Rank as FTS5 does: each form of a term has its own weight, and all of them count."""
    forms = [(at, run) for at, term in enumerate(terms) for run in term.any_of]
    of_form = counts.held([Term((run,)) for _, run in forms])
    memories = counts.indexed.memories
    runs = [
        Run(at, run, fts5_idf(rarity_of(memories, held)))
        for (at, run), held in zip(forms, of_form, strict=True)
    ]
    held = counts.held(terms)
    # A term gives at most what its rarest form gives; a form that no memory contains gives nothing.
    stored = [run for run, count in zip(runs, of_form, strict=True) if count]
    idfs = [
        max(
            (run.idf for run in stored if run.term == at),
            default=fts5_idf(rarity_of(memories, count)),
        )
        for at, count in enumerate(held)
    ]
    wanted = len(terms) if every_first else len(terms) + 1  # more than any memory contains
    rows = elsewhere(terms, runs, each_form=True)
    if rows is None:
        rows = _rank(query, terms, runs, held, wanted)
    complete = {n for n, _, count in rows if count == wanted}
    if len(complete) >= query.limit:
        rows = [row for row in rows if row[0] in complete]
    return ranking.Scored({n: score for n, score, _ in rows}, complete, idfs)


def _rank(
    query: Asked, terms: Sequence[Term], runs: Sequence[Run], held: Sequence[int], wanted: int
) -> list[Ranked]:
    """Rank the fewest memories that must include the best."""
    rarest_first = sorted(range(len(terms)), key=held.__getitem__)
    in_order = [terms[at] for at in rarest_first]
    limit = query.limit
    taken = Clause(_BEST, (wanted, limit - 1, limit + ranking.MOST_TIES))
    if sum(held) <= FEW:
        return query.bm25.score(runs, query.matching.holding(terms), taken, each_form=True)
    if len(terms) == wanted > 1 and held[rarest_first[0]] >= limit:
        rows = query.bm25.score(runs, query.of_complete(in_order), taken, each_form=True)
        if len(rows) >= limit:
            return rows
    for few, most_of_others in _deciding(runs, rarest_first, held, limit):
        rows = query.bm25.score(runs, query.of_holding(in_order[:few]), taken, each_form=True)
        if len(rows) >= limit:
            _, score, count = rows[limit - 1]
            if count == wanted or score > most_of_others + _CLOSE:
                return rows
    return query.bm25.score(runs, query.matching.holding(terms), taken, each_form=True)


def _deciding(
    runs: Sequence[Run], rarest_first: Sequence[int], held: Sequence[int], limit: int
) -> Iterator[tuple[int, float]]:
    """Yield how many of the rarest terms may decide, and the most that all others can add.

    A run adds less than its weight times K1 + 1, and about its weight where a memory of mean length
    contains it once. Memories with only common words are skipped where that is not enough.
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
