"""What held at a time, and what no longer holds: `as_of` and `history`, in every profile."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from clocks import Clock
from fakes import HashingEmbedder

import scrubjay
from scrubjay import InvalidInput
from scrubjay.search import profiles

# A memory for each month in which it was stored; the validity of one ends, of another begins.
STORED = {
    "january": {"created_at": "2026-01-15T12:00:00Z"},
    "february": {"created_at": "2026-02-15T12:00:00Z", "valid_until": "2026-03-20"},
    "march": {"created_at": "2026-03-15T12:00:00Z", "valid_from": "2026-04-10"},
    "april": {"created_at": "2026-04-15T12:00:00Z"},
}


@pytest.fixture(scope="module", params=["words", "vectors"])
def stored(request, tmp_path_factory):
    model = HashingEmbedder() if request.param == "vectors" else False
    path = tmp_path_factory.mktemp("as-of") / "notes.db"
    with scrubjay.open(path, embedder=model, generator="corpus", clock=Clock()) as store:
        store.add_many(
            {
                "text": f"The boiler needs a pressure of two bar since {id_}",
                "id": id_,
                "topics": ["boiler", "pressure"],
                **times,
            }
            for id_, times in STORED.items()
        )
        store.link("april", "january", kind="supersedes")
        store.pending()
        yield store


def found(store, **asked):
    """The ids of the hits; None where a search by meaning has no model."""
    results = store.search("boiler pressure", limit=20, **asked)
    model = store._context.embedding.embedder
    return None if not results.hits and not model else {hit.id for hit in results}


@pytest.mark.parametrize("profile", profiles.built_in())
class TestEveryProfile:
    @pytest.mark.parametrize(
        ("as_of", "expected"),
        [
            ("2026-02-01", {"january"}),
            ("2026-03-16", {"january", "february"}),
            (date(2026, 4, 12), {"january", "march"}),
            (datetime(2026, 4, 12, tzinfo=UTC), {"january", "march"}),
            ("2026-03-20T23:59:59Z", {"january", "february"}),
            ("2026-03-21T00:00:00Z", {"january"}),
        ],
    )
    def test_a_search_as_of_a_time_finds_what_was_stored_and_valid_then(
        self, stored, profile, as_of, expected
    ):
        """Nothing later, nothing that had ended, nothing that had yet to begin."""
        assert found(stored, profile=profile, as_of=as_of) in (expected, None)

    def test_a_date_means_the_end_of_its_day(self, stored, profile):
        """As `until` does."""
        assert found(stored, profile=profile, as_of="2026-01-15") in ({"january"}, None)
        assert not stored.search("boiler pressure", profile=profile, as_of="2026-01-14")

    def test_a_time_before_everything_finds_nothing_and_says_so(self, stored, profile):
        """In `degraded`."""
        results = stored.search("boiler pressure", profile=profile, as_of="1999-01-01")

        assert not results.hits
        assert any(note.startswith("as_of: nothing was stored") for note in results.degraded)

    def test_a_time_in_the_future_is_now(self, stored, profile):
        """The same hits with the same scores."""
        now = stored.search("boiler pressure", profile=profile)
        later = stored.search("boiler pressure", profile=profile, as_of="2999-01-01")

        assert [hit[:2] for hit in later] == [hit[:2] for hit in now]

    def test_history_finds_what_no_longer_holds(self, stored, profile):
        """What was superseded, and what is not valid now; as of a time, too."""
        assert found(stored, profile=profile, history=True) in (set(STORED), None)
        at = found(stored, profile=profile, history=True, as_of="2026-04-12")
        assert at in ({"january", "february", "march"}, None)


def test_words_of_time_are_accepted(stored):
    """As in `since` and `until`: the last moment of last month."""
    by_word = {"mode": "keyword", "history": True}
    assert found(stored, as_of="last month", **by_word) == set(STORED)
    assert found(stored, as_of="in February", **by_word) == {"january", "february"}


def test_the_earlier_of_until_and_as_of_counts(stored):
    """Both limit what was stored."""
    both = {"mode": "keyword", "history": True}
    assert found(stored, until="2026-02-20", as_of="2026-03-16", **both) == {
        "january",
        "february",
    }
    assert found(stored, until="2026-03-16", as_of="2026-01-20", **both) == {"january"}


@pytest.mark.parametrize(
    ("asked", "noun"),
    [
        ({"as_of": "soonish"}, "as_of"),
        ({"as_of": 7}, "as_of"),
        ({"history": "yes"}, "history"),
        ({"history": None}, "history"),
    ],
)
def test_other_values_are_refused(stored, asked, noun):
    with pytest.raises(InvalidInput, match=noun):
        stored.search("boiler", **asked)
