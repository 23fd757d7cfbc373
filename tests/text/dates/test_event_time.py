"""What a memory speaks of is stored beside when it was said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from clocks import Clock

import scrubjay

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 5, 6, 0, 30, tzinfo=BERLIN)  # still the fifth in UTC


@pytest.fixture
def clock():
    return Clock(NOW)


@pytest.fixture
def memory(clock):
    with scrubjay.open(":memory:", embedder=False, clock=clock) as store:
        yield store


def day(year, month, number, zone=BERLIN):
    """A local day as its first moment and the first after it."""
    begins = datetime(year, month, number, tzinfo=zone)
    return begins, datetime.combine(begins + timedelta(days=1), begins.timetz())


def event(memory):
    return memory.event_time, memory.event_until


def test_an_event_in_the_text_is_stored_in_the_zone_of_the_clock(memory):
    """CG-7: we met on 5 May is about that day, whenever it is said."""
    kept = memory.add("We met on 5 May in Rome")

    assert event(kept) == event(memory.get(kept.id)) == day(2026, 5, 5)
    assert memory.get(kept.id).created_at == NOW
    assert kept.created_at.tzinfo is kept.event_time.tzinfo is UTC


def test_yesterday_is_seen_from_when_it_was_said(memory):
    """CG-7: from `created_at`, in the offset it was given with; without an offset that is UTC."""
    texts = [
        {"text": "Yesterday it rained", "created_at": "2024-03-01T00:30-08:00"},
        {"text": "Yesterday it snowed", "created_at": "2024-03-01T23:30[America/Los_Angeles]"},
        {"text": "Yesterday it hailed", "created_at": "2024-03-01T23:30"},
        {"text": "Yesterday it poured"},
    ]
    there = ZoneInfo("America/Los_Angeles")

    kept = memory.add_many(texts)

    assert [event(one) for one in kept] == [
        day(2024, 2, 29, there),
        day(2024, 2, 29, there),
        day(2024, 2, 29, UTC),
        day(2026, 5, 5),
    ]
    assert kept[0].created_at == datetime(2024, 3, 1, 8, 30, tzinfo=UTC)
    assert kept[0].created_at.tzinfo is UTC


@pytest.mark.parametrize("type", ["fact", "message", "task", "note"])
def test_every_type_but_a_document_speaks_of_one_time(memory, type):
    """CG-7: a document speaks of many."""
    assert event(memory.add("Yesterday it rained", type=type)) == day(2026, 5, 5)
    assert event(memory.add("Yesterday it rained", type="document")) == (None, None)


def test_what_is_given_stays_and_without_time_words_there_is_none(memory):
    """CG-7: nothing is made up."""
    given = datetime(2020, 1, 1, tzinfo=UTC)

    assert event(memory.add("It rained yesterday", event_time=given)) == (given, None)
    assert event(memory.add("It snowed today", event_until=given)) == (None, given)
    assert event(memory.add("She likes tea")) == (None, None)


def test_the_same_text_again_leaves_the_event_where_it_was(memory, clock):
    """Said again a week later it is the same memory, and nothing is written."""
    first = memory.add("Yesterday it rained")
    clock.advance(days=7)

    again = memory.add("Yesterday it rained")
    assert (again.id, event(again), again.updated_at) == (first.id, day(2026, 5, 5), NOW)

    again = memory.add("Yesterday it rained", event_time="2026-05-12")
    assert again.event_time == datetime(2026, 5, 12, tzinfo=UTC)
    assert (again.updated_at, again.updated_at.tzinfo) == (clock(), UTC)


def test_what_replaces_a_memory_is_seen_from_when_that_was_said(memory, clock):
    """With an id, it keeps its creation, and yesterday with it."""
    memory.add("Yesterday it rained", id="weather")
    clock.advance(days=7)

    assert event(memory.add("Yesterday it snowed", id="weather")) == day(2026, 5, 5)


def test_a_changed_text_or_time_changes_the_event(memory):
    """CG-7: unless the event was given."""
    kept = memory.add("We met on 5 May")

    assert event(memory.update(kept.id, title="Rome")) == day(2026, 5, 5)
    assert event(memory.update(kept.id, text="We met on 3 May")) == day(2026, 5, 3)
    assert event(memory.update(kept.id, created_at="2024-06-01T10:00+02:00")) == day(2024, 5, 3)
    assert event(memory.update(kept.id, text="We met")) == (None, None)
    assert event(memory.update(kept.id, text="We met on 2 May")) == day(2024, 5, 2)


def test_an_event_that_was_given_stays_until_it_is_taken_back(memory):
    """CG-7: None means what the words say."""
    given = datetime(2020, 1, 1, tzinfo=UTC)
    kept = memory.add("We met on 5 May", event_time=given)

    assert event(memory.update(kept.id, text="We met on 3 May")) == (given, None)
    assert event(memory.update(kept.id, event_time=None)) == day(2026, 5, 3)
    assert event(memory.update(kept.id, event_time=given)) == (given, None)
    assert event(memory.update(kept.id, type="document", event_time=None)) == (None, None)


def test_an_event_goes_out_and_in_again(memory, clock, tmp_path):
    """What was derived in one zone is not derived anew in another."""
    kept = memory.add("We met yesterday", id="met")
    memory.export_md(tmp_path / "out")
    clock.now = clock.now.astimezone(ZoneInfo("Asia/Tokyo")) + timedelta(days=9)

    with scrubjay.open(":memory:", embedder=False, clock=clock) as other:
        assert other.import_entries(tmp_path / "out").added == 1
        assert event(other.get("met")) == event(kept)
        assert other.import_entries(tmp_path / "out").unchanged == 1
    assert memory.import_entries(tmp_path / "out").unchanged == 1


def test_an_entry_without_times_is_unchanged_when_it_comes_again(memory, clock, tmp_path):
    """Its yesterday is that of the day on which it came first."""
    file = tmp_path / "met.md"
    file.write_text("---\nid: met\n---\nWe met yesterday\n", encoding="utf-8")
    assert memory.import_entries(file).added == 1
    clock.advance(days=3)

    assert memory.import_entries(file).unchanged == 1
    assert event(memory.get("met")) == day(2026, 5, 5)
