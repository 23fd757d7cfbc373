"""The same text again, without an id: the memory that is there takes over what is given with it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

TEXT = "Retry at most three times."
FIRST = {
    "title": "Retries",
    "topics": ["http"],
    "domain": "web",
    "severity": "warning",
    "context": "Two outages.",
    "source": "a meeting",
    "event_time": "2026-01-02",
    "metadata": {"times": 1, "by": "ann"},
}
LATER = {
    "title": "Retries need a limit",
    "domain": "backend",
    "severity": "critical",
    "context": "Three outages.",
    "source": "a review",
    "event_time": datetime(2026, 2, 3, tzinfo=UTC),
}


@pytest.mark.parametrize("name", LATER)
def test_a_field_that_is_given_is_taken_over_and_the_others_stay(words_only, clock, name):
    """Also by what is stored, not only by what is returned; it is changed, and of now."""
    first = words_only.add(TEXT, **FIRST)
    clock.advance(days=1)

    again = words_only.add(f"  {TEXT} ", **{name: LATER[name]})

    assert again == words_only.get(first.id)
    assert again == first._replace(**{name: LATER[name]}, updated_at=clock())


def test_a_field_that_it_did_not_have_is_taken_over(words_only):
    """And found by it."""
    kept = words_only.add(TEXT)
    words_only.add(TEXT, domain="backend", severity="critical", collection="rules")

    (hit,) = words_only.search("retry", only_domain="backend")
    assert (hit.id, hit.severity) == (kept.id, "critical")
    assert words_only.get(kept.id).collection == "rules"


def test_to_say_the_same_again_changes_nothing(words_only, clock):
    """Not even its age, whether everything is given again or nothing."""
    first = words_only.add(TEXT, **FIRST, valid_until="2027-01-01")
    clock.advance(days=1)

    assert words_only.add(TEXT, **FIRST, valid_until="2027-01-01") == first
    assert words_only.add(TEXT) == first
    assert words_only.add(TEXT, created_at="2020-01-01") == first
    assert words_only.get(first.id) == first


def test_names_in_the_metadata_are_added(words_only):
    """One that is given again is replaced; a truth is not a number."""
    kept = words_only.add(TEXT, **FIRST)
    words_only.add(TEXT, metadata={"times": True, "seen": "may"})

    metadata = words_only.get(kept.id).metadata
    assert metadata == {"times": True, "by": "ann", "seen": "may"}
    assert metadata["times"] is True


def test_a_time_that_is_given_is_that_of_the_change(words_only, clock):
    """When it was first said stays."""
    first = words_only.add(TEXT)
    clock.advance(days=9)
    again = words_only.add(TEXT, domain="web", updated_at="2026-05-04")

    assert (again.created_at, again.updated_at) == (
        first.created_at,
        datetime(2026, 5, 4, tzinfo=UTC),
    )


def test_who_said_it_first_and_where_it_is_stay(words_only):
    """They would no longer find it as theirs."""
    first = words_only.add(TEXT, owner="ann", agent="a", session="s", role="user", collection="c")

    again = words_only.add(
        TEXT, owner="ben", agent="b", session="t", role="assistant", collection="d"
    )

    assert again == first


def test_what_is_taken_over_is_found_by_meaning(memory):
    """The vectors are made of the new title, not of the old."""
    memory.add(TEXT, title="Bananas")
    memory.pending()
    memory.add(TEXT, title="automobile")
    assert memory.pending() == 0

    (hit,) = memory.search("car", mode="vector")
    assert hit.title == "automobile"
    assert hit.cosine > memory.search("bananas", mode="vector")[0].cosine


def test_a_domain_has_no_spaces_around_it(words_only):
    """With them it would be another, which nobody finds; nothing but spaces is none."""
    words_only.add("one", id="one", domain=" Python \n", severity=" Warning ")

    assert (words_only.get("one").domain, words_only.get("one").severity) == ("Python", "warning")
    assert len(words_only.search("one", only_domain="Python")) == 1
    assert words_only.update("one", domain="  ").domain is None
