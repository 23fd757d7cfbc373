"""Matching in Postgres: which parts of memories contain a term in a scope, and what a field weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, log2
from typing import NamedTuple

from scrubjay.storage.database import Clause, Connection, Database
from scrubjay.storage.postgres.words import tsquery
from scrubjay.storage.sql.keyword_ranking import FIELDS
from scrubjay.storage.sql.scope import EVERYTHING, where
from scrubjay.types import Scope, Term

HELD = "(w.main @@ ?::tsquery OR w.ident @@ ?::tsquery)"


class FieldWeights(NamedTuple):
    """Weights of fields as `ts_rank_cd` takes them for each vector: times `scale`, they are those given."""

    main: str
    ident: str
    scale: float

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> FieldWeights:
        # Postgres takes no weight above 1. A power of two loses nothing.
        scale = 2.0 ** ceil(log2(max(1.0, *(weight_of(field, weights) for field in FIELDS))))
        title, text, topics, context, ident = (weight_of(one, weights) / scale for one in FIELDS)
        return cls(_array(text, text, context, title), _array(ident, 0, 0, topics), scale)

    @property
    def rank(self) -> str:
        """SQL for `ts_rank_cd` of a part for one tsquery, which is an argument twice."""
        return (
            f"ts_rank_cd({self.main}, w.main, ?::tsquery)"
            f" + ts_rank_cd({self.ident}, w.ident, ?::tsquery)"
        )


def weight_of(field: str, weights: Mapping[str, float]) -> float:
    return float(weights.get(field, 1.0))


def _array(unlabelled: float, ahead: float, second: float, first: float) -> str:
    """Return the weights of the labels D, C, B and A in the syntax of Postgres."""
    return f"'{{{unlabelled},{ahead},{second},{first}}}'::real[]"


def in_scope(scope: Scope, db: Database) -> Clause:
    condition, arguments = where(scope, db)
    if condition == EVERYTHING:
        return Clause("", ())
    seen = f" AND EXISTS (SELECT 1 FROM memories AS m WHERE m.n = w.memory AND {condition})"
    return Clause(seen, tuple(arguments))


class Matching(NamedTuple):
    """What one search matches, in its scope."""

    db: Connection
    of: Database
    scope: Clause

    def finds(self, term: Term) -> bool:
        held, _ = self.of.holding(term)
        condition, arguments = self.scope
        statement = f"SELECT 1 FROM ({held.sql}) AS w WHERE TRUE{condition} LIMIT 1"
        return self.db.execute(statement, (*held.arguments, *arguments)).fetchone() is not None

    def holding(self, terms: Sequence[Term]) -> Clause:
        """Return the condition that a part contains any of these terms."""
        wanted = " | ".join(filter(None, (tsquery(term, self.of.codec) for term in terms)))
        return Clause(HELD + self.scope.sql, (wanted, wanted, *self.scope.arguments))
