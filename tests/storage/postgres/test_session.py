"""Statements of SQLite in the spelling of Postgres."""

from __future__ import annotations

import pytest

from scrubjay.storage.postgres.session import translate


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("SELECT a FROM t WHERE b = ? AND c = ?", "SELECT a FROM t WHERE b = %s AND c = %s"),
        ("SELECT '?' WHERE a LIKE 'x%' AND b = ?", "SELECT '?' WHERE a LIKE 'x%%' AND b = %s"),
        ("SELECT 'it''s ? of' , ?", "SELECT 'it''s ? of' , %s"),
        ("SELECT 5 % 3, ?", "SELECT 5 %% 3, %s"),
        ("WHERE owner IS ? AND x IS NULL", "WHERE owner IS NOT DISTINCT FROM %s AND x IS NULL"),
        (
            "INSERT OR IGNORE INTO t (a) VALUES (?)",
            "INSERT INTO t (a) VALUES (%s) ON CONFLICT DO NOTHING",
        ),
        ("FROM memories AS m NOT INDEXED WHERE n = ?", "FROM memories AS m  WHERE n = %s"),
        ("FROM t INDEXED BY t_by_a WHERE +a = ?", "FROM t  WHERE a = %s"),
        ("SELECT a + b, (+c) FROM t", "SELECT a + b, (c) FROM t"),
        ("WHERE m.n IN () OR a NOT IN ()", "WHERE FALSE OR TRUE"),
        ("LIMIT -1 OFFSET ?", "LIMIT ALL OFFSET %s"),
        ("FROM a CROSS JOIN b AS x ON x.n = a.n", "FROM a JOIN b AS x ON x.n = a.n"),
        ("FROM a CROSS JOIN b AS x WHERE TRUE", "FROM a CROSS JOIN b AS x WHERE TRUE"),
        ("SELECT group_concat(m.n) FROM m", "SELECT string_agg(m.n::text, ',') FROM m"),
    ],
)
def test_what_differs_is_spelled_as_postgres_reads_it(written, spoken):
    """Quoted texts stay as they are, and what is the same is not touched."""
    assert translate(written).sql == spoken


def test_numbered_places_take_their_argument_wherever_they_stand():
    """`?2` before `?1`, and one of them twice."""
    spoken = translate("SELECT ?2, ?1, ?2")
    assert spoken.sql == "SELECT %s, %s, %s"
    assert spoken.arguments(["a", "b"]) == ["b", "a", "b"]


def test_plain_places_take_their_arguments_in_order():
    assert translate("SELECT ?, ?").arguments(("a", "b")) == ("a", "b")
