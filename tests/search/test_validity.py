"""Windows of validity, end to end: stored dates, an injected clock, every profile and every path."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from clocks import NOON, Clock
from fakes import HashingEmbedder
from traces import steps

import scrubjay
from scrubjay import InvalidInput
from scrubjay.search import profiles

TEXT = "The boiler in the {} needs a pressure of two bar"
# What each of these is at noon of 3 May 2026; `valid` says what a search may show.
WINDOWS = {
    "always": (None, None),
    "inside": ("2026-05-01", "2026-05-31"),
    "begun": ("2026-05-03T12:00:00Z", None),
    "today": (None, "2026-05-03"),
    "over": ("2026-04-01", "2026-05-02"),
    "just-over": (None, "2026-05-03T12:00:00Z"),
    "early": ("2026-05-03T12:00:01Z", None),
    "far": ("2030-01-01", "2031-01-01"),
}
VALID = {"always", "inside", "begun", "today"}


@pytest.fixture(scope="module", params=["words", "vectors"])
def windows(request, tmp_path_factory):
    """A memory for each window; found by every word, every topic and every direction."""
    path = tmp_path_factory.mktemp("windows") / "notes.db"
    model = HashingEmbedder() if request.param == "vectors" else False
    with scrubjay.open(path, embedder=model, generator="corpus", clock=Clock()) as store:
        store.add_many(
            {
                "text": TEXT.format(id_),
                "id": id_,
                "topics": ["boiler", "pressure"],
                "valid_from": begins,
                "valid_until": ends,
            }
            for id_, (begins, ends) in WINDOWS.items()
        )
        store.pending()
        yield store


def ids(found):
    return {hit.id for hit in found}


class TestEveryProfile:
    @pytest.mark.parametrize("profile", profiles.built_in())
    def test_only_what_is_valid_now_is_found(self, windows, profile):
        """SV-9: nothing expired, nothing that is yet to begin; the first moment is in, the last is out."""
        found = windows.search("boiler pressure", profile=profile, limit=20)

        # Without a model there is nothing for a search by meaning alone to find.
        assert ids(found) == VALID or (not found.hits and not windows._context.embedding.embedder)

    @pytest.mark.parametrize("profile", profiles.built_in())
    def test_all_are_found_where_they_are_asked_for(self, windows, profile):
        """SV-9: `include_expired` shows them, with their windows; so they would have been found above."""
        found = windows.search("boiler pressure", profile=profile, limit=20, include_expired=True)

        if windows._context.embedding.embedder or found.hits:
            assert ids(found) == set(WINDOWS)
            over = next(hit for hit in found if hit.id == "over")
            assert over.valid_from == datetime(2026, 4, 1, tzinfo=UTC)
            assert over.valid_until == datetime(2026, 5, 2, 23, 59, 59, 999999, tzinfo=UTC)

    @pytest.mark.parametrize("profile", profiles.built_in())
    @pytest.mark.parametrize(
        "asked",
        [
            {"topics": ["boiler"]},
            {"types": ["fact"]},
            {"namespace": "default"},
            {"since": "2020-01-01"},
            {"limit": 1},
        ],
        ids=lambda asked: next(iter(asked)),
    )
    def test_no_other_filter_opens_a_way_round(self, windows, profile, asked):
        """SV-9, SV-12: with every filter beside it, in every list that was asked."""
        found = windows.search("boiler pressure", profile=profile, **asked)

        assert ids(found) <= VALID
        for name, count in found.counts.items():
            if name in ("keyword", "vector", "topics"):
                assert count <= len(VALID), name


class TestEveryPath:
    def test_words_are_not_borrowed_from_what_is_over(self, tmp_path, clock):
        """Expansion from the stored texts reads only what may be found."""
        with scrubjay.open(
            tmp_path / "n.db", embedder=False, clock=clock, generator="corpus"
        ) as store:
            for n in (1, 2):
                store.add(f"Deploying pushes the container {n}", id=f"now{n}")
                store.add(
                    f"Deploying wants the zeppelin {n}", id=f"old{n}", valid_until="2026-05-01"
                )
            said = {"overrides": {"strong_signal.score": 1.0}, "profile": "gno:thorough"}

            now = steps(store.search("deploy", **said))["borrow_words"]
            all_ = steps(store.search("deploy", include_expired=True, **said))["borrow_words"]

        assert "zeppelin" not in now.notes["borrowed"]
        assert "zeppelin" in all_.notes["borrowed"]

    @pytest.mark.parametrize("profile", ["default", "gno", "gnosis", "vault"])
    def test_a_near_duplicate_that_is_over_is_not_named(self, memory, profile):
        """It is linked and stored; a search that shows it names it."""
        memory.add("the car needs a new tyre", id="now", topics=["tyre"])
        memory.add(
            "the car needs a new, tyre", id="old", topics=["tyre"], valid_until="2026-05-01"
        )
        memory.pending()
        assert [link.to for link in memory.get("now").links] == ["old"]

        (hit,) = memory.search("car tyre", profile=profile)
        both = memory.search("car tyre", profile=profile, include_expired=True)

        assert (hit.id, hit.near_duplicates) == ("now", ())
        named = {one.id: one.near_duplicates for one in both}
        assert named == {"now": ("old",), "old": ("now",)}

    @pytest.mark.parametrize("profile", ["default", "gno", "gnosis", "vault"])
    @pytest.mark.parametrize("who_is_over", ["own", "copy"])
    def test_a_copy_that_is_valid_stands_for_one_that_is_over(
        self, tmp_path, clock, embedder, profile, who_is_over
    ):
        """A shared collection may hold the same text with another window, in either direction."""
        with scrubjay.open(tmp_path / "t.db", user="ann", embedder=embedder, clock=clock) as ann:
            ann.create_collection("crew")
            own = ann.add("The boiler key hangs behind the door", topics=["boiler"]).id
            copy = ann.publish(own, "crew").id
            ann.pending()
            both = {"own": own, "copy": copy}
            over = both.pop(who_is_over)
            ann.update(over, valid_until="2026-05-01")
            ann.pending()

            assert ids(ann.search("boiler key", profile=profile)) == set(both.values())
            ann.update(*both.values(), valid_until="2026-05-01")
            assert ids(ann.search("boiler key", profile=profile)) == set()
            shown = ann.search("boiler key", profile=profile, include_expired=True)
            assert ids(shown) == {own}

    @pytest.mark.parametrize("mode", ["full", "scan"])
    def test_each_tier_has_windows_of_its_own(self, tmp_path, clock, embedder, mode):
        """SV-4, SV-9: where this file has no window at all, those of another bind all the same."""
        team = tmp_path / "team.db"
        with scrubjay.open(team, embedder=embedder, clock=clock) as store:
            store.add("The boiler of the team", id="over", valid_until="2026-05-01")
            store.add("The boiler of the house", id="soon", valid_from=NOON + timedelta(hours=1))
            store.pending()
        own = tmp_path / "own.db"
        with scrubjay.open(own, tiers={"team": team}, embedder=embedder, clock=clock) as store:
            store.add("The boiler of mine", id="mine")
            store.pending()

            def found(**asked):
                return ids(store.search("boiler", profile="vault", mode=mode, **asked))

            assert found() == {"mine"}
            assert found(include_expired=True) == {"mine", "over", "soon"}
            clock.advance(hours=1)
            assert found() == {"mine", "soon"}

    def test_phrases_and_negations_bind_beside_it(self, windows):
        """The scope of a query is one condition."""
        found = windows.search('"pressure of two bar" -kitchen', mode="keyword", limit=20)

        assert ids(found) == VALID


class TestTimePasses:
    @pytest.mark.parametrize("profile", ["default", "default:vector", "gno", "gnosis", "vault"])
    def test_a_window_that_ends_or_begins_takes_effect_at_the_next_search(
        self, memory, clock, profile
    ):
        """SV-9: nobody writes in between, so whatever is kept of the last search must not answer."""
        memory.add(
            "boiler one", id="one", topics=["boiler"], valid_until=NOON + timedelta(hours=1)
        )
        memory.add("boiler two", id="two", topics=["boiler"], valid_from=NOON + timedelta(hours=2))
        memory.pending()

        def found():
            return ids(memory.search("boiler", profile=profile))

        assert found() == {"one"}
        clock.now = NOON + timedelta(hours=1) - timedelta(microseconds=1)
        assert found() == {"one"}
        clock.now = NOON + timedelta(hours=1)
        assert found() == set()
        clock.now = NOON + timedelta(hours=2) - timedelta(microseconds=1)
        assert found() == set()
        clock.now = NOON + timedelta(hours=2)
        assert found() == {"two"}
        clock.now = NOON
        assert found() == {"one"}  # a clock that is set back

    def test_sets_are_kept_while_nothing_begins_or_ends(self, memory, clock):
        """Which memories are seen is not read anew for each moment: that takes longer than the search."""
        memory.add("boiler one", id="one", valid_until=NOON + timedelta(hours=1))
        memory.add("boiler two", id="two", valid_until="2026-05-01")
        memory.pending()
        kept = memory._context.tables.vectors.sets._cached

        memory.search("boiler", mode="vector")
        before = dict(kept)
        clock.advance(minutes=59)
        memory.search("boiler", mode="vector")
        assert before.keys() == kept.keys()
        assert all(before[key] is kept[key] for key in before)

        clock.advance(minutes=1)
        memory.search("boiler", mode="vector")
        assert len(kept) == len(before) + 1

    def test_without_any_window_nothing_is_narrowed(self, memory, clock):
        """Who has none pays for none."""
        memory.add("boiler one", id="one")

        assert memory._context.tables.windows.last_change_us(0) is None
        assert ids(memory.search("boiler")) == {"one"}

    @pytest.mark.parametrize("hours", [-12, 0, 5.5, 14])
    def test_the_time_zone_of_the_clock_does_not_matter(self, tmp_path, hours):
        """The same moment, however it is written, by the clock and in the window."""
        zone = timezone(timedelta(hours=hours))
        clock = Clock(NOON.astimezone(zone))
        with scrubjay.open(tmp_path / "z.db", embedder=False, clock=clock) as store:
            store.add("boiler one", id="one", valid_until=(NOON + timedelta(hours=1)).isoformat())
            store.add("boiler two", id="two", valid_until="2026-05-03T13:59:59+02:00")
            store.add("boiler three", id="three", valid_from="2026-05-03T12:00:00")  # UTC

            assert ids(store.search("boiler")) == {"one", "three"}
            clock.advance(hours=1)
            assert ids(store.search("boiler")) == {"three"}

    def test_a_bare_date_means_that_day_included(self, words_only, clock):
        """SV-9: until the 3rd is until its last moment, in UTC; from the 3rd is from its first."""
        words_only.add("boiler one", id="one", valid_until="2026-05-03")
        words_only.add("boiler two", id="two", valid_from="2026-05-04")

        clock.now = datetime(2026, 5, 3, 23, 59, 59, tzinfo=UTC)
        assert ids(words_only.search("boiler")) == {"one"}
        clock.now = datetime(2026, 5, 4, tzinfo=UTC)
        assert ids(words_only.search("boiler")) == {"two"}

    def test_a_window_can_be_changed_and_lifted(self, words_only):
        """`update` with None takes an end away."""
        words_only.add("boiler", id="b", valid_from="2026-04-01", valid_until="2026-05-01")
        assert ids(words_only.search("boiler")) == set()

        lifted = words_only.update("b", valid_until=None)

        assert lifted.valid_until is None
        assert lifted.valid_from == datetime(2026, 4, 1, tzinfo=UTC)
        assert ids(words_only.search("boiler")) == {"b"}
        words_only.update("b", valid_from="2026-06-01")
        assert ids(words_only.search("boiler")) == set()
        assert words_only.update("b", title="T").valid_from is not None  # the rest stays
        words_only.update("b", valid_from=None)
        assert ids(words_only.search("boiler")) == {"b"}

    def test_to_say_again_what_is_over_makes_it_valid(self, words_only):
        """The same text is the same memory: it must not be acknowledged and never found."""
        kept = words_only.add("The boiler is broken", valid_until="2026-05-01").id

        again = words_only.add("The boiler is  broken")

        assert (again.id, again.valid_until) == (kept, None)
        assert ids(words_only.search("boiler")) == {kept}

    def test_to_say_again_what_is_valid_changes_no_window_unless_one_is_given(self, words_only):
        """A window that is given takes the place of the other."""
        kept = words_only.add("The boiler is broken", valid_until="2026-06-01")

        assert words_only.add("The boiler is broken").valid_until == kept.valid_until
        longer = words_only.add("The boiler is broken", valid_until="2026-07-01")
        assert longer.id == kept.id
        assert words_only.get(kept.id).valid_until == longer.valid_until
        assert longer.valid_until > kept.valid_until


class TestWhatOnlyLooks:
    def test_get_and_ls_show_everything(self, windows):
        """What is stored is not hidden from who asks for it by name."""
        assert windows.get("over").id == "over"
        assert {one.id for one in windows.ls()} == set(WINDOWS)

    def test_a_landscape_has_only_what_is_valid(self, words_only, clock):
        """Neither in its counts nor in its lists; when time passes, it follows."""
        words_only.add("Prefers tea", id="tea", type="preference", topics=["drinks"])
        words_only.add(
            "Prefers coffee",
            id="coffee",
            type="preference",
            topics=["beans"],
            valid_until="2026-05-02",
        )
        words_only.add("Water the plants", id="task", type="task", valid_from="2026-05-04")

        seen = words_only.landscape()

        assert (seen.memories, [one.id for one in seen.preferences], seen.tasks) == (
            1,
            ["tea"],
            (),
        )
        assert dict(seen.topics) == {"drinks": 1}
        assert "coffee" not in seen.text
        clock.advance(days=1)
        assert [one.id for one in words_only.landscape().tasks] == ["task"]


class TestExpiring:
    @pytest.fixture
    def due(self, words_only):
        """Windows that end at several distances, one that begins later, one without an end."""
        for id_, days in (("later", 20), ("soon", 1), ("far", 40), ("over", -1), ("long", -50)):
            words_only.add(f"boiler {id_}", id=id_, valid_until=NOON + timedelta(days=days))
        words_only.add(
            "boiler next",
            id="next",
            valid_from=NOON + timedelta(days=2),
            valid_until=NOON + timedelta(days=5),
        )
        words_only.add("boiler open", id="open", valid_from="2026-01-01")
        return words_only

    @pytest.mark.parametrize(
        ("within", "found"),
        [
            (None, ["soon", "next", "later"]),
            ("30d", ["soon", "next", "later"]),
            ("24h", ["soon"]),
            ("23h", []),
            ("1w", ["soon", "next"]),
            ("480 H", ["soon", "next", "later"]),
            (timedelta(days=40), ["soon", "next", "later", "far"]),
            ("0d", []),
            (timedelta.max, ["soon", "next", "later", "far"]),
        ],
    )
    def test_the_soonest_end_comes_first(self, due, within, found):
        """What is valid now, or begins later; what is over has expired."""
        assert [one.id for one in due.expiring(within)] == found

    def test_what_is_over_is_listed_latest_first(self, due, clock):
        """All of it, or what ended within so long; the last moment itself is over."""
        assert [one.id for one in due.expiring(expired=True)] == ["over", "long"]
        assert [one.id for one in due.expiring("30d", expired=True)] == ["over"]
        clock.advance(days=1)
        assert [one.id for one in due.expiring(expired=True)] == ["soon", "over", "long"]
        assert [one.id for one in due.expiring("30d")] == ["next", "later"]

    @pytest.mark.parametrize("wrong", ["6m", "30", "d", "-3d", "", "3 fortnights", 30, "1e3d"])
    def test_another_unit_is_refused(self, due, wrong):
        """Months are not all alike, and a bare number has none."""
        with pytest.raises(InvalidInput, match="such as 12h, 30d or 2w"):
            due.expiring(wrong)

    def test_a_time_that_is_too_long_is_refused(self, due):
        """Not a traceback."""
        with pytest.raises(InvalidInput, match="too long"):
            due.expiring("9" * 30 + "w")
        with pytest.raises(InvalidInput, match="such as 12h"):
            due.expiring(timedelta(days=-1))

    def test_a_person_sees_only_theirs(self, tmp_path, clock):
        """And what is in collections that they belong to."""
        path = tmp_path / "team.db"
        with (
            scrubjay.open(path, user="ann", embedder=False, clock=clock) as ann,
            scrubjay.open(path, user="ben", embedder=False, clock=clock) as ben,
        ):
            ann.add("boiler", id="hers", valid_until="2026-05-10")

            assert [one.id for one in ann.expiring()] == ["hers"]
            assert ben.expiring() == []
