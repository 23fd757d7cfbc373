"""The cognis profile on real SQLite, row by row of its requirements."""

from __future__ import annotations

from datetime import timedelta
from math import exp

import pytest
from clocks import NOON
from fakes import BrokenEmbedder, HashingEmbedder

import scrubjay
from scrubjay import InvalidInput
from scrubjay.search import profiles
from scrubjay.search.profiles import cognis

DAY = timedelta(days=1)


@pytest.fixture
def model():
    """For this model "car" and "automobile" mean the same."""
    return HashingEmbedder(meanings={"automobil": "car"})


@pytest.fixture
def memory(tmp_path, clock, model):
    """An empty store that is searched as cognis does."""
    with scrubjay.open(tmp_path / "c.db", profile="cognis", embedder=model, clock=clock) as store:
        yield store


def ids(found):
    return [hit.id for hit in found]


def texts(found):
    return [hit.text for hit in found]


class TestScores:
    def test_the_score_is_the_sum_of_both_ranks(self, memory):
        """CG-4: .70 (k+1)/(k+rank_v) + .30 (k+1)/(k+rank_b); in `why`, each part."""
        old = NOON - 400 * DAY
        memory.add("a red car", id="both", created_at=old)
        memory.add("an automobile, red", id="meaning", created_at=old)
        memory.add(
            "car insurance papers and a long list of other things", id="far", created_at=old
        )
        memory.pending()

        found = {hit.id: hit for hit in memory.search("red car")}

        for hit in found.values():
            vector, keyword = hit.found.get("vector"), hit.found.get("keyword")
            parts = {
                "vector": 0.7 * 11 / (10 + vector.rank) if vector else 0.0,
                "keyword": 0.3 * 11 / (10 + keyword.rank) if keyword else 0.0,
            }
            assert {name: hit.why.get(name, 0.0) for name in parts} == pytest.approx(parts)
            assert hit.score == pytest.approx(sum(hit.why.values()), abs=1e-6)
        assert found["both"].score == pytest.approx(1.0, abs=1e-6)
        assert found["meaning"].why["vector"] > 0

    def test_what_is_less_alike_than_the_threshold_leaves_the_vector_list(self, memory):
        """CG-10: 0.3 by itself; a word can still have found it."""
        memory.add("car boat lake tree stone river cloud bread paper glass music chair", id="a")
        memory.pending()

        (hit,) = memory.search("car")
        assert hit.found.keys() == {"keyword"}
        (hit,) = memory.search("car", overrides={"similarity_threshold": 0.1})
        assert 0.1 < hit.found["vector"].score < 0.3

    @pytest.mark.parametrize(
        ("age_s", "added"), [(0, 0.25), (120, 0.25 / exp(1)), (600, 0.25 / exp(5))]
    )
    def test_what_is_new_gains(self, memory, age_s, added):
        """CG-5: + 0.25 exp(-age / 120)."""
        memory.add("a red car", created_at=NOON - timedelta(seconds=age_s))
        memory.pending()

        (hit,) = memory.search("red automobile")

        assert hit.why["recency"] == pytest.approx(added)
        assert hit.score == pytest.approx(1.0 + added, abs=1e-6)

    def test_words_answer_where_there_is_no_model(self, tmp_path, clock):
        """R-6: the vector list gives 0, and the answer says why."""
        with scrubjay.open(
            tmp_path / "w.db", profile="cognis", embedder=BrokenEmbedder(), clock=clock
        ) as store:
            store.add("a red car", created_at=NOON - DAY)
            found = store.search("red")

        assert found[0].score == pytest.approx(0.3, abs=1e-6)
        assert any("broken" in reason for reason in found.degraded)

    def test_one_call_of_the_model_serves_both_passes_and_both_sources(self, memory, model):
        """CG-1, CG-3: the short vector is the first part of the same one."""
        memory.add("a red car", created_at=NOON - DAY)
        memory.add_message("a blue car", session="s")
        memory.pending()
        calls = model.calls

        assert len(memory.search("automobile", session="s")) == 2

        assert model.calls == calls + 1

    def test_stems_are_matched(self, memory):
        """CG-2: the English Snowball stemmer stands for Porter's."""
        memory.add("she parked both cars", id="a", created_at=NOON - DAY)

        assert ids(memory.search("parking")) == ["a"]


class TestTime:
    @pytest.fixture
    def filled(self, memory):
        memory.add("dinner with Anna at the harbour", id="then", created_at=NOON - 8 * DAY)
        memory.add(
            "dinner with Anna at the station", id="now", created_at=NOON - timedelta(hours=1)
        )
        memory.add("dinner with Anna on the hill", id="long ago", created_at=NOON - 300 * DAY)
        memory.pending()
        return memory

    def test_a_timed_query_prefers_its_time(self, filled):
        """CG-7: 0.6 rrf + 0.4 temporal relevance + recency. NOON is Sunday, 3 May 2026."""
        found = {hit.id: hit for hit in filled.search("dinner with Anna last week")}

        assert ids(filled.search("dinner with Anna last week"))[0] == "then"
        assert found["then"].why["temporal"] == pytest.approx(0.4)
        assert found["long ago"].why["temporal"] == 0.0
        for hit in found.values():
            ranks = sum(
                weight * 11 / (10 + hit.found[name].rank)
                for name, weight in (("vector", 0.7), ("keyword", 0.3))
                if name in hit.found
            )
            age_s = (NOON - hit.created_at).total_seconds()
            assert hit.score == pytest.approx(
                0.6 * ranks + hit.why["temporal"] + 0.25 * exp(-age_s / 120), abs=1e-6
            )

    def test_another_query_is_not_blended(self, filled):
        """CG-7: without time words nothing is temporal."""
        assert all("temporal" not in hit.why for hit in filled.search("dinner with Anna"))

    def test_what_it_speaks_of_comes_before_when_it_was_said(self, memory):
        """CG-7: said today of last March, found by last March."""
        memory.add("we moved the office on 12 March 2026", id="told", created_at=NOON - DAY)
        memory.add("we moved the office chairs", id="chairs", created_at=NOON - DAY)
        memory.pending()

        found = memory.search("what about the office in March?")

        assert ids(found)[0] == "told"
        assert found[0].event_time.isoformat().startswith("2026-03-12")
        assert found[0].why["temporal"] == pytest.approx(0.4)

    @pytest.fixture
    def said(self, memory):
        memory.add("the plumber comes at nine", id="y1", created_at=NOON - 1.0 * DAY)
        memory.add("I say hello to the plumber", id="y2", created_at=NOON - 1.2 * DAY)
        old = "they say much of other things: lake tree stone river cloud bread paper glass music"
        memory.add(old, id="old", created_at=NOON - 20 * DAY)
        memory.pending()
        return memory

    ALONE = ("what did I say yesterday?", "Was habe ich gestern gesagt?", "yesterday")

    @pytest.mark.parametrize("query", ALONE)
    def test_in_the_default_a_question_of_time_alone_finds_what_was_said_then(self, said, query):
        """Who asks what was said yesterday names no word of it: all of it, and nothing else."""
        found = said.search(query, profile="default")

        assert ids(found) == ["y1", "y2"]
        assert found.degraded == ()

    @pytest.mark.parametrize("query", ALONE)
    def test_a_question_of_time_alone_is_scored_as_any_timed_one(self, said, query):
        """CG-7: by the same formula over the same lists; other days may follow."""
        found = said.search(query)

        assert {*ids(found)[:2]} == {"y1", "y2"}
        assert ids(found)[2:] == (["old"] if "say" in query else [])
        for hit in found:
            lists = (("vector", 0.7), ("keyword", 0.3))
            ranks = sum(w * 11 / (10 + hit.found[n].rank) for n, w in lists if n in hit.found)
            fits = 1.0 if hit.id != "old" else 0.0
            assert hit.score == pytest.approx(0.6 * ranks + 0.4 * fits, abs=1e-6)
        if "say" in query:
            assert {"vector", "keyword"} <= {name for hit in found for name in hit.found}
        assert found.degraded == ()

    def test_the_day_before_does_not_fit_like_the_day_itself(self, memory):
        """CG-7: it ends where the window begins, and lies outside all the same."""
        for day in (4, 5, 6, 7, 8):
            memory.add(f"met Tom on {day} April", id=f"{day}", created_at=NOON - DAY)
        memory.pending()

        found = {hit.id: hit.why["temporal"] for hit in memory.search("Tom on 6 April")}

        assert found == pytest.approx({"4": 0, "5": 0, "6": 0.4, "7": 0, "8": 0})

    def test_the_month_before_does_not_fit_like_the_month_itself(self, memory):
        """CG-7: of April, one of 30 days, 30 March begins two days before."""
        memory.add("met Tom in March", id="march", created_at=NOON - DAY)
        memory.add("met Tom on 30 March", id="day", created_at=NOON - DAY)
        memory.add("met Tom in April", id="april", created_at=NOON - DAY)
        memory.pending()

        found = {hit.id: hit.why["temporal"] for hit in memory.search("Tom in April")}

        assert found == pytest.approx({"march": 0, "day": 0.4 * 28 / 30, "april": 0.4})

    @pytest.mark.parametrize("profile", ["cognis", "default"])
    def test_words_of_the_time_are_not_searched_for(self, memory, profile):
        """ "Last week" in another text is no match; in quotes it is."""
        memory.add("the plumber came", id="right", created_at=NOON - 8 * DAY)
        memory.add("my last week of holidays", id="wrong", created_at=NOON - 300 * DAY)
        memory.pending()

        found = memory.search("plumber last week", profile=profile)

        assert ids(found)[0] == "right"
        assert all("keyword" not in hit.found for hit in found if hit.id == "wrong")
        assert "wrong" in ids(memory.search('plumber "last week"', profile=profile))

    @pytest.mark.parametrize("query", ["Christmas", "March 2020", "2020-03-05", "5 March 2020"])
    def test_a_date_alone_is_still_looked_for_by_word(self, memory, query):
        """A note that names a date was most often not written on it."""
        memory.add(f"The harbour was closed: {query}", id="named", event_time="2001-01-01")
        memory.add("The harbour was open", id="other", event_time="2001-01-01")
        memory.pending()

        for profile in ("default", "cognis"):
            assert ids(memory.search(query, profile=profile))[0] == "named"

    def test_a_question_for_a_month_finds_what_is_of_it_and_what_names_it(self, memory):
        """The default, too: both are answers."""
        memory.add("we moved house", id="then", created_at="2026-03-10")
        memory.add("the March budget is tight", id="named", created_at="2025-01-10")
        memory.add("tea is hot", id="neither", created_at="2025-01-10")
        memory.pending()

        assert set(ids(memory.search("what happened in March?", profile="default"))[:2]) == {
            "then",
            "named",
        }

    def test_what_lasted_is_found_by_any_day_of_it(self, memory):
        """CG-7: a month that a memory speaks of holds the fifth of it."""
        memory.add("we hiked a lot", id="april", event_time="2026-04-01", event_until="2026-05-01")
        memory.add("we swam", id="march", event_time="2026-03-01", event_until="2026-04-01")

        found = memory.search("what did we do on 5 April?")

        assert ids(found) == ["april"]
        assert found[0].why["temporal"] == pytest.approx(0.4)

    def test_the_zone_of_the_clock_says_when_a_day_begins(self, tmp_path, model):
        """CG-6: 23:30 UTC is already tomorrow in Berlin."""
        from zoneinfo import ZoneInfo

        now = NOON.astimezone(ZoneInfo("Europe/Berlin"))
        with scrubjay.open(
            tmp_path / "z.db", profile="cognis", embedder=model, clock=lambda: now
        ) as store:
            store.add("call the bank", id="late", created_at="2026-05-01T22:30:00+00:00")
            store.add("call the bank again", id="before", created_at="2026-05-01T21:30:00+00:00")
            store.pending()
            found = {hit.id: hit.why["temporal"] for hit in store.search("bank gestern")}

        assert found["late"] == pytest.approx(0.4)
        assert 0 < found["before"] < 0.4

    def test_the_trace_says_which_time_was_understood(self, filled):
        """R-7: with the words that gave it."""
        steps = {step.stage: step for step in filled.search("dinner last week").trace}

        assert steps["time_range"].notes["said"] == "last week"
        assert steps["time_range"].notes["begins"].startswith("2026-04-20")


class TestSessions:
    @pytest.fixture
    def talking(self, memory):
        memory.add("Anna prefers window seats", id="known", owner="anna", created_at=NOON - DAY)
        self.here = memory.add_message("The code word is swordfish", session="here", owner="anna")
        self.there = memory.add_message(
            "Another code word is marlin", session="there", owner="anna"
        )
        return memory

    def test_a_message_is_found_in_its_session_the_moment_it_is_said(self, talking):
        """CG-3: by word, before any vector is made."""
        found = talking.search("code word", session="here", owner="anna")

        assert ids(found) == [self.here.id]
        assert (found[0].type, found[0].session, found[0].role) == ("message", "here", "user")
        assert found[0].why["recency"] == pytest.approx(0.25)

    def test_it_is_found_by_meaning_when_its_vector_is_there(self, memory):
        """CG-3: immediate recall, merged into the vector list by cosine."""
        said = memory.add_message("an automobile", session="here")
        memory.pending()

        found = memory.search("car", session="here")

        assert ids(found) == [said.id]
        assert found[0].found["vector"].rank == 1
        assert found.counts["immediate"] == 1

    def test_without_a_session_no_raw_message_is_searched(self, talking):
        """CG-9: memories are, of all sessions."""
        talking.pending()

        assert ids(talking.search("code word", owner="anna")) == []
        assert ids(talking.search("window seats", owner="anna")) == ["known"]
        assert ids(talking.search("window seats", owner="anna", session="there")) == ["known"]

    def test_messages_of_another_session_are_not_searched(self, talking):
        """CG-9: raw messages only in the current session."""
        talking.pending()

        assert ids(talking.search("code word", session="there", owner="anna")) == [self.there.id]
        assert self.here.id not in ids(talking.search("swordfish", session="there"))

    def test_a_message_is_a_memory_of_all_sessions_when_it_has_settled(self, talking, clock):
        """CG-9: without a language model the turn itself, as it was said, is the memory."""
        talking.pending()
        clock.advance(seconds=119)
        assert ids(talking.search("swordfish", owner="anna")) == []

        clock.advance(seconds=1)

        assert texts(talking.search("swordfish", owner="anna")) == ["The code word is swordfish"]
        assert ids(talking.search("swordfish", session="there")) == [self.here.id]

    def test_owner_and_agent_bind_both_sources(self, talking, clock):
        """CG-9, R-3: of this owner and agent alone, before and after it has settled."""
        talking.add_message("my code word is tuna", session="here", owner="bob", agent="x")
        talking.pending()
        for _ in range(2):
            assert ids(talking.search("tuna", session="here", owner="anna")) == []
            assert len(talking.search("tuna", session="here", owner="bob", agent="x")) == 1
            assert ids(talking.search("tuna", session="here", owner="bob", agent="y")) == []
            clock.advance(minutes=5)

    def test_both_sources_are_of_one_scale(self, memory, clock):
        """CG-9: a message that lies nearer than a memory stands before it."""
        memory.add(
            "a red car, and many other things on four wheels", id="m", created_at=NOON - DAY
        )
        said = memory.add_message("a red car", session="s", at=NOON - timedelta(hours=5))
        clock.advance(seconds=1)
        memory.pending()

        found = memory.search("red automobile", session="s")

        assert [hit.id for hit in found] == [said.id, "m"]
        assert [hit.found["vector"].rank for hit in found] == [1, 2]

    def test_the_same_said_twice_is_shown_once(self, memory):
        """CG-8, CG-9: deduplicated over both sources."""
        memory.add("Anna lives in Rome", id="m", created_at=NOON - DAY)
        memory.add_message("anna lives in Rome!", session="s")
        memory.pending()

        found = memory.search("where in Rome is Anna", session="s")

        assert len(found) == 1
        assert found.counts["same"] == 1

    def test_an_echo_of_the_query_is_dropped(self, memory):
        """CG-8: the question itself, said a moment ago in this session, is no answer to it."""
        memory.add("Anna lives in Rome", id="m", created_at=NOON - DAY)
        memory.add_message("Where does Anna live?", session="s")
        memory.pending()

        assert ids(memory.search("where does Anna live", session="s")) == ["m"]

    def test_the_answer_counts_what_has_not_settled(self, talking):
        """What is not searched is said."""
        steps = {step.stage: step for step in talking.search("code", owner="anna").trace}

        assert steps["over_sessions"].notes["unsettled"] == 2


class TestSettings:
    NAMES = (
        "vector_weight bm25_weight rrf_k similarity_threshold shortlist_size"
        " recency_boost_weight recency_time_constant_s"
    ).split()
    VALUES = (0.70, 0.30, 10, 0.3, 200, 0.25, 120)

    @staticmethod
    def number(profile, address):
        stage, _, name = address.partition(".")
        parts = {part.name: part for part in profiles.flat(profile.stages)}
        return parts[stage].numbers[name]

    @pytest.mark.parametrize(("name", "value"), list(zip(NAMES, VALUES, strict=True)))
    def test_each_has_the_value_of_the_document_and_can_be_set_by_name(self, name, value):
        """CG-10."""
        place = cognis.SETTINGS[name]

        assert self.number(profiles.get("cognis"), place) == value
        assert self.number(profiles.get("cognis", {name: 1}), place) == 1

    def test_the_shortlist_is_as_long_as_its_size(self, memory):
        """CG-1, CG-10: in a store of any size, the nearest by meaning; words find others."""
        for n in range(9):
            memory.add(f"a car {'and a lake ' * n}", id=f"{n}", created_at=NOON - DAY)
        memory.pending()

        found = memory.search("automobile", overrides={"shortlist_size": 3})

        assert ids(found) == ["0", "1", "2"]
        assert found.counts["vector"] == 3
        assert memory.search("automobile").counts["vector"] > 3

    def test_the_shortlist_is_a_whole_number(self):
        """CG-10: shortlist_size."""
        assert (
            self.number(profiles.get("cognis", {"shortlist_size": 50}), "vector.shortlist") == 50
        )
        with pytest.raises(InvalidInput, match="whole number"):
            profiles.get("cognis", {"shortlist_size": 0.5})

    def test_the_old_name_is_accepted(self, memory):
        """CG-5, CG-10: a time constant that was called a half-life; the same number, the same meaning."""
        memory.add("a red car", created_at=NOON - timedelta(seconds=60))
        memory.pending()

        (old,) = memory.search("red car", overrides={"recency_half_life_seconds": 60})
        (new,) = memory.search("red car", overrides={"recency_time_constant_s": 60})

        assert old.why["recency"] == new.why["recency"] == pytest.approx(0.25 / exp(1))

    def test_both_names_with_two_values_are_refused(self):
        """CG-10: which is meant?"""
        both = {"recency_half_life_seconds": 60, "recency_time_constant_s": 30}
        with pytest.raises(InvalidInput, match="same setting"):
            profiles.get("cognis", both)

    def test_an_unknown_one_is_refused_with_the_nearest(self):
        """CG-10: a typing error is not a silent default."""
        with pytest.raises(InvalidInput, match="did you mean 'vector_weight'"):
            profiles.get("cognis", {"vector_wieght": 0.5})

    def test_a_profile_of_the_settings_file_takes_them(self, tmp_path, monkeypatch):
        """CG-10: under [profile.mine]."""
        file = tmp_path / "scrubjay.toml"
        file.write_text('[profile.mine]\nbase = "cognis"\nrrf_k = 15\n', encoding="utf-8")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))

        assert self.number(profiles.get("mine"), "by_rank.k") == 15
        assert self.number(profiles.get("mine", {"rrf_k": 5}), "by_rank.k") == 5
