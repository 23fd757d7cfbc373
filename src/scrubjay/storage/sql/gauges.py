"""What a server is asked for every few seconds: how much is in a store, and how much still waits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scrubjay.storage.database import Database


class Gauges(NamedTuple):
    """Counts of one database, whoever's they are; `behind` is what each server has yet to be told."""

    memories: int
    pending: int
    behind: Mapping[str, int]


def gauges(db: Database) -> Gauges:
    """Count rows, and nothing that needs a model or a server."""
    with db.read() as connection:
        memories, pending = connection.execute(
            "SELECT (SELECT count(*) FROM memories), (SELECT count(*) FROM wanting)"
        ).fetchone()
        behind = connection.execute(
            "SELECT p.tier, count(o.n) FROM projections AS p LEFT JOIN outbox AS o ON o.tier = p.tier"
            " GROUP BY p.tier ORDER BY p.tier"
        ).fetchall()
    return Gauges(int(memories), int(pending), {tier: int(count) for tier, count in behind})
