"""Hits of a search of the past, with the words that they had then."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from clocks import Clock
from fakes import HashingEmbedder

import scrubjay
from scrubjay.search import profiles

LONG = "".join(f"Line {n} says nothing of it.\n\n" for n in range(1, 60))


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    clock = Clock(datetime(2026, 1, 10, tzinfo=UTC))
    path = tmp_path_factory.mktemp("wordings") / "notes.db"
    with scrubjay.open(path, embedder=HashingEmbedder(), generator="corpus", clock=clock) as store:
        store.add("The boiler pressure is two bar", id="boiler", title="Cellar", topics=["boiler"])
        store.add(f"{LONG}The boiler pressure was low.\n", id="long", topics=["boiler"])
        store.add("Boiler pressure is checked in spring", id="same", topics=["boiler"])
        clock.advance(days=30)
        store.update("boiler", text="The boiler pressure is three bar", title="Attic")
        store.update("long", text="Nothing of the boiler pressure is left")
        clock.advance(days=30)
        store.pending()
        yield store


@pytest.mark.parametrize("profile", profiles.built_in())
class TestEveryProfile:
    def test_a_hit_has_the_words_of_the_time_that_is_searched(self, store, profile):
        """Text, title, snippet and lines; the others have those of now."""
        then = {
            hit.id: hit
            for hit in store.search("boiler pressure", profile=profile, as_of="2026-01-20")
        }
        assert (then["boiler"].text, then["boiler"].title) == (
            "The boiler pressure is two bar",
            "Cellar",
        )
        assert then["boiler"].snippet == "The boiler pressure is two bar"
        assert then["boiler"].lines == (1, 1)
        assert then["same"].text == "Boiler pressure is checked in spring"
        assert not store.search("boiler", as_of="2026-01-20").degraded

    def test_the_snippet_of_a_long_text_is_from_its_best_passage(self, store, profile):
        found = store.search("boiler pressure", profile=profile, as_of="2026-01-20")
        hit = next(hit for hit in found if hit.id == "long")
        if profile == "vault:scan":  # shows beginnings only
            assert hit.text.startswith("Line 1 ")
            return

        assert hit.text.startswith("Line 1 ")
        assert "pressure was low" in hit.snippet
        first, last = hit.lines
        assert first > 50
        assert last == 119
        assert "pressure was low" in "\n".join(hit.text.splitlines()[first - 1 : last])

    def test_a_search_of_now_has_the_present_words_and_no_such_stage(self, store, profile):
        found = store.search("boiler pressure", profile=profile)

        assert {hit.text for hit in found if hit.id == "boiler"} == {
            "The boiler pressure is three bar"
        }
        assert "as_worded" not in [step.stage for step in found.trace]


def test_after_the_change_the_new_words_are_shown(store):
    hits = {hit.id: hit for hit in store.search("boiler pressure", as_of="2026-03-01")}

    assert hits["boiler"].title == "Attic"
