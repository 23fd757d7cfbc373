"""Messages of a session: kept as they were said, in order, found there at once, refused as a whole."""

from __future__ import annotations

import logging
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from clocks import NOON

import scrubjay
from scrubjay import InvalidInput, NotFound
from scrubjay.search import profiles

MINUTE = timedelta(minutes=1)


def texts(memories):
    return [one.text for one in memories]


def conversation(store, session):
    """Every turn of a session, in the order of the conversation."""
    first, *_ = store.ls(session=session)
    return texts(store.around(first.id, 100))


class TestOne:
    def test_it_is_a_memory_of_type_message_with_all_that_was_said_of_it(self, words_only):
        """Its time is when it was said, not when it was stored."""
        at = datetime(2026, 5, 1, 9, 30, tzinfo=timezone(timedelta(hours=2)))

        kept = words_only.add_message(
            "  Where is the key?\n", session="hall", role="guest", at=at, owner="ann", agent="bell"
        )

        assert kept == words_only.get(kept.id)
        assert kept.text == "  Where is the key?\n"
        said = (kept.type, kept.session, kept.role, kept.owner, kept.agent)
        assert said == ("message", "hall", "guest", "ann", "bell")
        assert kept.created_at == kept.updated_at == at
        assert kept.context == ""

    def test_without_a_time_it_is_said_now_and_by_the_user(self, words_only):
        kept = words_only.add_message("Hello", session="s")

        assert (kept.created_at, kept.updated_at, kept.role) == (NOON, NOON, "user")

    def test_the_same_words_again_are_another_message(self, words_only):
        """A message is never folded."""
        first, second = (words_only.add_message("ok", session="s") for _ in range(2))

        assert first.id != second.id
        assert conversation(words_only, "s") == ["ok", "ok"]

    def test_a_megabyte_is_stored_whole(self, words_only):
        """And its last word is found."""
        text = "word " * 209_716 + "zebra"
        assert len(text) > 1_000_000

        kept = words_only.add_message(text, session="s")
        words_only.add_message("short", session="s")

        assert words_only.get(kept.id).text == text
        assert [hit.id for hit in words_only.search("zebra", session="s")] == [kept.id]

    def test_add_with_the_type_does_the_same(self, words_only):
        """There is one kind of message, whichever verb wrote it."""
        words_only.add_message("Where is the key?", session="s")
        kept = words_only.add("Under the zebra", type="message", session="s", role="user")

        assert texts(words_only.around(kept.id, 1)) == ["Where is the key?", "Under the zebra"]
        assert set(texts(words_only.search("zebra", session="s"))) == {
            "Where is the key?",
            "Under the zebra",
        }


class TestMany:
    def test_mappings_pairs_and_what_chat_programs_write(self, words_only):
        """What a message does not say itself, the arguments do."""
        kept = words_only.add_messages(
            [
                ("user", "one"),
                ["assistant", "two"],
                {"role": "system", "content": "three", "session": "other", "owner": "ben"},
                {"text": "four", "agent": "x", "at": None},
            ],
            session="s",
            owner="ann",
            agent="bot",
        )

        assert [(one.text, one.role, one.session, one.owner, one.agent) for one in kept] == [
            ("one", "user", "s", "ann", "bot"),
            ("two", "assistant", "s", "ann", "bot"),
            ("three", "system", "other", "ben", "bot"),
            ("four", "user", "s", "ann", "x"),
        ]
        assert kept.warnings == ()

    def test_none_are_none(self, words_only):
        assert words_only.add_messages([], session="s") == []

    def test_those_without_times_keep_their_order(self, words_only):
        """One moment for all; the order of writing decides."""
        said = [f"turn {n}" for n in range(700)]  # more than one transaction

        kept = words_only.add_messages([("user", one) for one in said], session="s")

        assert {one.created_at for one in kept} == {NOON}
        assert texts(words_only.around(kept[500].id, 2)) == said[498:503]

    def test_order_is_by_time_and_then_by_writing(self, words_only, clock):
        """CG-3: a message that arrives late stands where it was said."""
        words_only.add_message("third", session="s", at=NOON + 2 * MINUTE)
        words_only.add_message("first", session="s", at=NOON)
        words_only.add_message("second", session="s", at=NOON + MINUTE)
        words_only.add_message("second and a half", session="s", at=NOON + MINUTE)
        words_only.add_message("elsewhere", session="t", at=NOON + MINUTE)
        words_only.add_message("of somebody else", session="s", at=NOON, owner="ann")

        assert conversation(words_only, "s") == [
            "first",
            "second",
            "second and a half",
            "third",
        ]

    def test_one_without_a_time_stands_where_it_was_given(self, words_only):
        """Between timed ones it has the time of the one before; before all, of the one after."""
        early, late = NOON - timedelta(days=2), NOON - timedelta(days=1)
        kept = words_only.add_messages(
            [
                {"text": "a"},
                {"text": "b", "at": early},
                {"text": "x", "session": "other"},
                {"text": "c"},
                {"text": "d", "at": late},
                {"text": "e"},
            ],
            session="s",
        )

        assert [one.created_at for one in kept] == [early, early, NOON, early, late, late]
        assert conversation(words_only, "s") == list("abcde")

    def test_one_of_the_future_is_stored_and_reported(self, words_only, caplog):
        """More than a minute ahead of the clock is odd, but it is what was said of it."""
        ahead = NOON + timedelta(days=1)

        kept = words_only.add_messages(
            [
                {"text": "soon", "at": NOON + timedelta(seconds=59)},
                {"text": "later", "at": ahead},
            ],
            session="s",
        )
        assert [one.created_at for one in kept] == [NOON + timedelta(seconds=59), ahead]
        (why,) = kept.warnings
        assert "message 2" in why
        assert ahead.isoformat() in why
        assert "future" in why

        with caplog.at_level(logging.WARNING):
            words_only.add_message("much later", session="s", at="9999-12-31")
        assert "9999-12-31" in caplog.text
        assert conversation(words_only, "s") == ["soon", "later", "much later"]


GOOD = {"role": "user", "text": "fine", "session": "s"}
BAD = [
    ({"text": " \n", "session": "s"}, "text is empty"),
    ({"text": "...", "session": "s"}, None),
    ({"session": "s"}, "text is empty"),
    ({"text": 5, "session": "s"}, "text is 5"),
    ({"text": "x"}, "session is missing; give a text such as 'monday'"),
    ({"text": "x", "session": " "}, "session is missing"),
    ({"text": "x", "session": 7}, "session is 7"),
    ({"text": "x", "session": "s", "role": ["user"]}, "role is ['user']"),
    ({"text": "x", "session": "s", "role": ""}, "role is missing; give a text such as 'user'"),
    ({"text": "x", "content": "y", "session": "s"}, "both text and content"),
    ({"text": "x", "session": "s", "time": 1}, "a message has no field 'time'"),
    ({"text": "x", "session": "s", "at": "teatime"}, "at is 'teatime'; give an ISO date"),
    (
        {"text": "x", "session": "s", "at": "2026-05-03T10:00 Mars/Olympus"},
        "zone of at is 'Mars/Olympus'",
    ),
    ({"text": "x", "session": "s", "at": "2026-05-03T10:00+25:00"}, "at is '2026"),
    ({"text": "x", "session": "s", "at": "2026-02-30"}, "at is '2026-02-30'"),
    ({"text": "x", "session": "s", "owner": 3}, "owner is 3"),
    ("just a text", "'just a text' is not a message"),
    (("user", "x", "y"), "is not a message"),
    (None, "None is not a message"),
]


class TestRefused:
    @pytest.mark.parametrize(("message", "why"), BAD, ids=[str(one) for one, _ in BAD])
    def test_nothing_is_stored_and_the_number_is_said(self, words_only, message, why):
        """All of a batch is checked before any of it is written, however many there are."""
        if why is None:
            assert words_only.add_messages([message])[0].text == "..."
            return
        with pytest.raises(InvalidInput) as refused:
            words_only.add_messages([*[GOOD] * 600, message, GOOD])

        assert str(refused.value).startswith("message 601: ")
        assert why in str(refused.value)
        assert str(refused.value).endswith("; nothing was stored")
        assert words_only.ls() == []

    @pytest.mark.parametrize("given", ["hello", {"text": "x"}, 5, None])
    def test_what_is_no_list(self, words_only, given):
        with pytest.raises(InvalidInput, match="give a list of messages"):
            words_only.add_messages(given, session="s")

    def test_one_alone(self, words_only):
        with pytest.raises(InvalidInput, match=r"^text is empty"):
            words_only.add_message("", session="s")
        with pytest.raises(TypeError):
            words_only.add_message("x")

    def test_turns_around_what_is_no_turn(self, words_only):
        fact = words_only.add("The key is brass")
        lone = words_only.add("no session", type="message")
        for one in (fact, lone):
            with pytest.raises(InvalidInput, match="not a message"):
                words_only.around(one.id)
        with pytest.raises(NotFound):
            words_only.around("nobody")
        for turns in (-1, 101, "2", True):
            with pytest.raises(InvalidInput, match="give a whole number of 0 to 100"):
                words_only.around(fact.id, turns)


class TestOfChatPrograms:
    def test_content_in_parts_is_joined_and_others_are_named(self, words_only):
        parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, "b"]
        stored = words_only.add_messages([{"role": "user", "content": parts}], session="s")

        assert texts(stored) == ["a\nb"]
        assert stored.warnings == ("message 1: stored without a part of type image_url",)

    def test_what_says_nothing_is_left_out(self, words_only):
        stored = words_only.add_messages(
            [
                {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c"}]},
                {"role": "tool", "content": "12 °C", "tool_call_id": "c", "name": "weather"},
            ],
            session="s",
        )
        assert [(one.role, one.text) for one in stored] == [("tool", "12 °C")]
        assert stored.warnings == (
            "message 1: without a text, with tool_calls: not stored",
            "message 2: without a text, with a part of type tool_use: not stored",
            "message 3: stored without tool_call_id, name",
        )
        assert words_only.add_messages([{"content": None, "tool_calls": []}], session="s") == []

    def test_many_with_the_same_fields_make_one_warning(self, words_only):
        many = [{"text": str(n), "id": str(n)} for n in range(7)]
        stored = words_only.add_messages(many, session="s")
        assert stored.warnings == ("messages 1, 2, 3, 4, 5 and 2 more: stored without id",)

    @pytest.mark.parametrize("name", ["at", "timestamp", "created_at", "created"])
    @pytest.mark.parametrize(
        "at", [1_700_000_000, 1_700_000_000_000, 1.7e9, "2023-11-14T22:13:20Z"]
    )
    def test_times_by_other_names_and_as_numbers(self, words_only, name, at):
        (stored,) = words_only.add_messages([{"text": "x", name: at}], session="s")
        assert stored.created_at.isoformat() == "2023-11-14T22:13:20+00:00"

    @pytest.mark.parametrize(
        ("message", "why"),
        [
            ({"text": "x", "rol": "user"}, "no field 'rol' .did you mean 'role'"),
            ({"text": "x", "at": 1e300}, "seconds since 1970"),
            ({"text": "x", "at": True}, "at is True"),
            ({"text": "x", "at": 5, "created": 6}, "at and created are two times"),
            ({"content": None}, "text is empty"),
            ({"content": []}, "text is empty"),
        ],
    )
    def test_what_is_wrong_is_refused(self, words_only, message, why):
        with pytest.raises(InvalidInput, match=why):
            words_only.add_messages([message], session="s")


class TestInOrder:
    def test_a_session_is_listed_as_it_was_said(self, words_only):
        """By time, then by the order of writing; the latest where there are more."""
        turns = [f"turn {n}" for n in range(8)]
        words_only.add_messages([("user", one) for one in turns], session="s")
        words_only.add_message("before all", session="s", at="2020-01-01")

        assert texts(words_only.ls(session="s")) == ["before all", *turns]
        assert texts(words_only.ls(session="s", limit=2)) == turns[-2:]
        assert texts(words_only.ls(session="s", limit=2, offset=2)) == turns[-4:-2]
        assert texts(words_only.ls(limit=1, types="message"))[0] in turns


class TestParted:
    def test_a_turn_without_the_owner_of_the_one_before_is_named(self, words_only):
        """Once: the next such turn has a neighbour."""
        assert words_only.add_messages([("user", "a")], session="s", owner="ann").warnings == ()
        first = words_only.add_messages([("user", "b")], session="s")
        again = words_only.add_messages([("user", "c")], session="s")

        (why,) = first.warnings
        assert "no owner" in why
        assert "'ann'" in why
        assert "not neighbors" in why
        assert again.warnings == ()

    def test_within_a_call_and_by_agent(self, words_only):
        stored = words_only.add_messages(
            [{"text": "a"}, {"text": "b", "agent": "bell"}, {"text": "c", "session": "t"}],
            session="s",
        )
        (why,) = stored.warnings
        assert why.startswith(
            "message 2 has the agent 'bell', the message before it in session s has none"
        )

    def test_two_names_are_no_slip(self, words_only):
        words_only.add_message("a", session="s", owner="ann")
        assert words_only.add_messages([("user", "b")], session="s", owner="ben").warnings == ()


class TestFound:
    @pytest.mark.parametrize("name", profiles.built_in())
    def test_at_once_by_word_in_its_session(self, words_only, name):
        """CG-3: before any vector is made, in every profile that has words at all."""
        words_only.add_message("The zebra sleeps at the station", session="here")
        words_only.add_message("The zebra sleeps at the harbour", session="there")
        profile = profiles.get(name)
        if not (profile.uses("keyword") or profile.uses("scan")):
            pytest.skip("it searches without words")

        found = words_only.search("zebra", session="here", profile=name)

        assert texts(found) == ["The zebra sleeps at the station"]

    def test_owner_and_agent_are_scopes(self, words_only):
        """R-3: in searches and in lists."""
        for owner, agent in (("ann", "bell"), ("ann", "lamp"), ("ben", "bell")):
            words_only.add_message(
                f"zebra of {owner} and {agent}", session=owner + agent, owner=owner, agent=agent
            )
        for asked, count in (
            ({"owner": "ann"}, 2),
            ({"agent": "bell"}, 2),
            ({"owner": "ben", "agent": "bell"}, 1),
            ({"owner": "ben", "agent": "lamp"}, 0),
            ({"session": "annlamp"}, 1),
        ):
            assert len(words_only.search("zebra", **asked)) == count
            assert len(words_only.ls(**asked)) == count

    def test_people_do_not_see_the_sessions_of_others(self, tmp_path):
        """A session of the same name in another namespace is another session."""
        path = tmp_path / "a.db"
        with (
            scrubjay.open(path, embedder=False, user="ann") as ann,
            scrubjay.open(path, embedder=False, user="ben") as ben,
        ):
            ann.add_messages([("user", "one"), ("user", "two zebra")], session="s")
            mine = ben.add_message("three", session="s")

            assert texts(ben.around(mine.id)) == ["three"]
            assert [(one.namespace, one.messages) for one in ben.sessions()] == [("user:ben", 1)]
            assert (ben.status().messages, ben.status().sessions) == (1, 1)
            assert len(ben.search("zebra")) == 0


class TestSessions:
    def test_newest_first_with_how_much_and_whose(self, words_only):
        """First and last are when something was said, in whatever order it was written."""
        words_only.add_message("b", session="old", at="2026-01-03", owner="ann", agent="x")
        words_only.add_message("a", session="old", at="2026-01-01", owner="ben")
        words_only.add_message("c", session="new", at="2026-01-02")
        words_only.add_message("d", session="new", at="2026-02-02", agent="x")
        words_only.add("no message", session="notes")

        new, old = words_only.sessions()

        days = [datetime(2026, month, day, tzinfo=UTC) for month, day in ((1, 1), (1, 3))]
        assert old == ("old", "default", 2, *days, ("ann", "ben"), ("x",))
        assert (new.session, new.messages, new.owners, new.agents) == ("new", 2, (), ("x",))
        assert words_only.sessions(owner="ann") == [
            old._replace(messages=1, first_at=days[1], owners=("ann",))
        ]
        assert [one.session for one in words_only.sessions(limit=1, offset=1)] == ["old"]
        assert words_only.sessions(agent="nobody") == []
        with pytest.raises(InvalidInput, match="at least 1 and 0"):
            words_only.sessions(limit=0)

    def test_status_counts_them(self, words_only):
        words_only.add_messages([("user", "a"), ("user", "b")], session="one")
        words_only.add_message("c", session="two", at=date(2026, 1, 1))
        words_only.add("a message of no session", type="message")

        state = words_only.status()

        assert (state.messages, state.sessions) == (4, 2)
