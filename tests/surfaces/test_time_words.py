"""Words such as yesterday as bounds of a search: in the library, the CLI, HTTP and MCP alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

import scrubjay
from scrubjay.errors import InvalidInput
from scrubjay.surfaces.verbs.table import VERBS
from scrubjay.times import parse_bound

NOW = datetime(2026, 5, 6, 12, tzinfo=ZoneInfo("Europe/Berlin"))  # a Wednesday


def bound(text: str, **how: bool) -> datetime | None:
    return parse_bound(text, "since", lambda: NOW, **how)


@pytest.mark.parametrize(
    ("words", "begins", "last_day"),
    [
        ("yesterday", "2026-05-05", "2026-05-05"),
        ("last week", "2026-04-27", "2026-05-03"),
        ("3 days ago", "2026-05-03", "2026-05-03"),
        ("letzte Woche", "2026-04-27", "2026-05-03"),
        ("March", "2026-03-01", "2026-03-31"),
        ("2025", "2025-01-01", "2025-12-31"),
    ],
)
def test_words_are_a_range_in_the_zone_of_the_clock(words, begins, last_day):
    """`since` takes its first moment, `until` its last, as with a date."""
    first = datetime.fromisoformat(begins).replace(tzinfo=NOW.tzinfo)
    over = (datetime.fromisoformat(last_day) + timedelta(days=1)).replace(tzinfo=NOW.tzinfo)

    assert bound(words) == first
    assert bound(words, end_of_day=True) == over.astimezone(UTC) - timedelta(microseconds=1)


@pytest.mark.parametrize("words", ["soon", "banana yesterday", "2 weeks", "", "yesterday at tea"])
def test_other_words_are_refused_with_what_would_be_right(words):
    """A text that is more than a time is a mistake: half of it would be ignored."""
    with pytest.raises(InvalidInput, match=r"ISO date .* words such as yesterday, last week"):
        bound(words)


@pytest.fixture
def notes():
    """Three notes, of two years ago, of yesterday and of today."""
    with scrubjay.open(":memory:", embedder=False, clock=lambda: NOW) as store:
        store.add("the old kettle", id="old", created_at="2024-05-05")
        store.add("the kettle of yesterday", id="yesterday", created_at="2026-05-05T12:00Z")
        store.add("the new kettle", id="new", created_at="2026-05-06T09:00Z")
        yield store


@pytest.mark.parametrize(
    ("bounds", "found"),
    [
        ({"since": "yesterday"}, {"yesterday", "new"}),
        ({"until": "yesterday"}, {"old", "yesterday"}),
        ({"until": "last week"}, {"old"}),
        ({"since": "yesterday", "until": "yesterday"}, {"yesterday"}),
    ],
)
def test_library_and_servers_understand_them(notes, bounds, found):
    """HTTP and MCP call the verb."""
    assert {hit.id for hit in notes.search("kettle", **bounds)} == found
    verb = VERBS["search"]
    hits = verb.call(notes, {"query": "kettle", **bounds})["hits"]
    assert {hit["id"] for hit in hits} == found


def test_their_schemas_allow_words():
    """A client that checks its arguments sends them."""
    for name in ("search", "context", "map", "hits"):
        (since,) = (param for param in VERBS[name].params if param.name == "since")
        assert since.kind.schema == {"type": "string"}


def test_the_count_of_hits_takes_them(notes):
    """`hits` has the same option."""
    notes.hits(since="last week")
    with pytest.raises(InvalidInput, match="words such as yesterday"):
        notes.hits(since="whenever")


def test_the_shell_takes_them(shell):
    """What was added now was added since yesterday."""
    shell("add", "The kettle whistles")

    assert shell("search", "kettle", "--since", "yesterday").code == 0
    assert shell("search", "kettle", "--until", "last week").code == 3
    wrong = shell("search", "kettle", "--since", "whenever")
    assert wrong.code == 2
    assert "words such as yesterday" in wrong.err
