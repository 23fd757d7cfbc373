"""`say`, `sessions`, and messages among what `get`, `ls`, `query` and `status` show."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest


@pytest.fixture
def talk(shell):
    """A shell with a conversation of three turns."""
    for role, text in (
        ("user", "Where is the wedding?"),
        ("assistant", "In Lisbon."),
        ("user", "See you there"),
    ):
        assert shell("say", text, "--session", "plans", "--role", role, "--owner", "ann").code == 0
    return shell


class TestCognis:
    def test_explain_says_that_all_vectors_were_compared(self, talk):
        """CG-1, CG-3: the vector list and immediate recall, in a small store."""
        talk("remember", "The wedding cake is ordered")
        asked = ("query", "wedding", "--profile", "cognis", "--session", "plans", "--explain")

        out = " ".join(talk(*asked).out.split())

        assert "vector(shortlist=200) compared: all 1 vectors, whole; not short ones" in out
        assert "immediate(shortlist=200) compared: all 3 vectors, whole; not short ones" in out

    def test_the_shortlist_cuts_the_vector_list(self, shell):
        """CG-1, CG-10: by name, in a small store too."""
        for n in range(5):
            shell("remember", f"allergic to shrimp {n}")
        asked = ("query", "seafood harm", "--profile", "cognis", "--json")

        found = shell(*asked, "--set", "shortlist_size=2").json

        assert found["counts"]["vector"] == len(found["hits"]) == 2
        assert shell(*asked).json["counts"]["vector"] == 5

    def test_what_was_said_yesterday_is_scored_like_any_timed_question(self, shell):
        """CG-7: over all lists, so that what another day said may follow."""
        now = datetime.now().astimezone()
        for days, text in (
            (1, "dinner was late"),
            (1, "I say hello"),
            (30, "say it to all of us now"),
        ):
            at = (now - timedelta(days=days)).isoformat()
            shell("say", text, "--session", "s", "--at", at)

        found = shell("query", "what did I say yesterday?", "--profile", "cognis", "--json").json

        assert found["counts"]["vector"]
        assert found["counts"]["keyword"]
        assert {hit["text"] for hit in found["hits"]} >= {"dinner was late", "I say hello"}
        assert "say it to all of us now" in {hit["text"] for hit in found["hits"]}
        for hit in found["hits"]:
            lists = (("vector", 0.7), ("keyword", 0.3))
            ranks = sum(
                w * 11 / (10 + hit["found"][n]["rank"]) for n, w in lists if n in hit["found"]
            )
            fits = 0.0 if "all" in hit["text"] else 1.0
            assert hit["score"] == pytest.approx(0.6 * ranks + 0.4 * fits, abs=1e-5)


class TestSay:
    def test_a_message_is_kept_and_its_id_is_said(self, shell):
        """With everything that was typed about it."""
        said = shell(
            *("say", "Good", "morning", "--session", "monday", "--role", "host"),
            *("--at", "2026-05-03T08:00+02:00", "--owner", "ann", "--agent", "bell"),
        )
        assert said.code == 0
        assert said.out.startswith("stored ")
        assert "in monday  found by keyword and by meaning" in said.out

        (kept,) = shell("ls", "--json", "--session", "monday").json["memories"]
        assert (kept["text"], kept["type"], kept["role"]) == ("Good morning", "message", "host")
        assert (kept["owner"], kept["agent"]) == ("ann", "bell")
        assert kept["created_at"] == kept["updated_at"] == "2026-05-03T06:00:00+00:00"

    def test_lines_of_json_are_a_message_each(self, shell):
        """What a line does not say, the options do."""
        lines = [
            {"role": "user", "content": "one", "at": "2026-01-02"},
            {"text": "two", "session": "other"},
            {"role": "assistant", "text": "three\nlines"},
        ]
        text = "\n\n".join(map(json.dumps, lines)) + "\n"

        said = shell("say", "-", "--session", "s", "--role", "guest", stdin=text)
        assert "stored 3 messages in s, other" in said.out

        shown = shell("say", "--json", "-", "--session", "s", stdin=text).json
        assert [(one["role"], one["session"]) for one in shown["messages"]] == [
            ("user", "s"),
            ("user", "other"),
            ("assistant", "s"),
        ]
        assert shown["messages"][2]["text"] == "three\nlines"
        kept = shell("ls", "--json", "--session", "other").json["memories"]
        assert {one["role"] for one in kept} == {"guest", "user"}

    @pytest.mark.parametrize("text", ["a plain\ntext", "5\n", '"quoted"'])
    def test_anything_else_is_one_message(self, shell, text):
        assert shell("say", "-", "--session", "s", stdin=text).code == 0
        assert [one["text"] for one in shell("ls", "--json").json["memories"]] == [text]

    @pytest.mark.parametrize(
        ("words", "stdin", "why"),
        [
            (["x"], "", "scrubjay: session is missing; give a text such as 'monday'"),
            (["-", "--session", "s"], "", "scrubjay: text is empty"),
            (["x", "--session", "s", "--at", "noon"], "", "scrubjay: at is 'noon'; give an ISO"),
            (["-", "--session", "s"], '{"text": "a"}\nb', "line 2 of standard input is no JSON"),
            (["-", "--session", "s"], '{"text": "a"}\n5', "line 2 of standard input is no mess"),
            (["-", "--session", "s"], '{"text": "a"}\n{"text": ""}', "message 2: text is empty"),
            (["-", "--session", "s"], "{not json\n", "line 1 of standard input is no JSON"),
            (
                ["-", "--session", "s"],
                '[{"text": "a"},\n {"text" "b"}]',
                "line 2 of standard input",
            ),
            (
                ["-", "--session", "s"],
                "{not\n" + '{"text": "a"}',
                "line 1 of standard input is no",
            ),
            (["-", "--session", "s"], "[1, 2]\n{}", "line 1 of standard input is no message"),
            (["-", "--session", "s"], '[{"text": "a"}, 5]', "message 2: 5 is not a message"),
            (["-", "--session", "s"], '{"txet": "a"}', "did you mean 'text'?"),
        ],
    )
    def test_what_is_wrong_is_said_and_nothing_is_stored(self, shell, words, stdin, why):
        """Exit code 2, as for any wrong usage."""
        said = shell("say", *words, stdin=stdin)

        assert said.code == 2
        assert why in said.err
        assert shell("ls").code == 3

    def test_a_time_that_has_not_come_is_reported(self, shell):
        said = shell("say", "x", "--session", "s", "--at", "9999-01-01")

        assert said.code == 0
        assert "9999-01-01T00:00:00+00:00, which is in the future" in said.err

    @pytest.mark.parametrize("mark", ["", "\ufeff", " \n"])
    @pytest.mark.parametrize("indent", [None, 2])
    def test_a_list_and_a_printed_object_are_read(self, shell, mark, indent):
        """With a byte-order mark, too."""
        two = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
        shell("say", "-", "--session", "s", stdin=mark + json.dumps(two, indent=indent))
        shell("say", "-", "--session", "s", stdin=mark + json.dumps({"text": "three"}, indent=2))

        kept = shell("ls", "--json", "--session", "s").json["memories"]
        assert [one["text"] for one in kept] == ["one", "two", "three"]

    def test_a_mark_of_byte_order_is_no_part_of_a_text(self, shell):
        shell("say", "-", "--session", "s", stdin="\ufeffhello")
        assert [one["text"] for one in shell("ls", "--json").json["memories"]] == ["hello"]

    def test_a_time_holds_for_all_lines_without_one(self, shell):
        text = '{"text": "a"}\n{"text": "b", "timestamp": 1700000000}\n{"text": "c"}'
        shell("say", "-", "--session", "s", "--at", "2026-01-02", stdin=text)

        kept = shell("ls", "--json", "--session", "s").json["memories"]
        assert [(one["text"], one["created_at"][:10]) for one in kept] == [
            ("b", "2023-11-14"),
            ("a", "2026-01-02"),
            ("c", "2026-01-02"),
        ]

    def test_a_call_of_a_tool_alone_is_not_kept(self, shell):
        said = shell(
            *("say", "-", "--session", "s"),
            stdin='{"role": "assistant", "content": null, "tool_calls": [{}]}',
        )
        assert (said.code, said.out) == (0, "No message was stored.\n")
        assert "message 1: without a text, with tool_calls: not stored" in said.err

    def test_without_a_model_it_is_found_all_the_same(self, bare_shell):
        said = bare_shell("say", "zebra", "--session", "s", "--no-embed")

        assert said.out.rstrip().endswith("found by keyword and by meaning; better vectors follow")
        assert bare_shell("search", "zebra", "--session", "s").code == 0


class TestShown:
    def test_sessions_newest_first(self, talk):
        talk("say", "Hello", "--session", "older", "--at", "2020-01-01", "--agent", "bell")

        head, *rows = talk("sessions").out.splitlines()

        assert head.split() == ["session", "messages", "first", "last", "owner", "agent"]
        assert [row.split()[:2] for row in rows] == [["plans", "3"], ["older", "1"]]
        assert rows[0].rstrip().endswith("ann")
        assert rows[1].rstrip().endswith("bell")
        listed = talk("sessions", "--json", "--owner", "ann").json["sessions"]
        assert [(one["session"], one["messages"]) for one in listed] == [("plans", 3)]
        assert talk("sessions", "--agent", "nobody").code == 3

    def test_a_hit_with_the_turns_around_it(self, talk):
        """Under the message, a line each; in JSON as its context."""
        shown = talk("query", "wedding", "--session", "plans").out
        block = next(one for one in shown.split("\n\n") if "In Lisbon." in one.splitlines()[0])

        assert [line.strip() for line in block.splitlines()[2:]] == [
            "│ user: Where is the wedding?",
            "│ …",
            "│ user: See you there",
        ]
        hits = talk("query", "--json", "wedding", "--session", "plans").json["hits"]
        assert {hit["text"]: hit["context"] for hit in hits}["In Lisbon."] == (
            "user: Where is the wedding?\n…\nuser: See you there"
        )
        assert "user: Where is the wedding?" in talk("query", "--md", "lisbon").out

    def test_get_with_turns_around(self, talk):
        """In the order of the conversation; nothing is shown twice."""
        found = talk("ls", "--json", "--session", "plans").json["memories"]
        ids = {one["text"]: one["id"] for one in found}
        middle, last = ids["In Lisbon."], ids["See you there"]

        alone = talk("get", "--json", middle).json["memories"]
        assert [one["text"] for one in alone] == ["In Lisbon."]
        shown = talk("get", "--json", middle, last, "--around", "1").json["memories"]
        assert [one["text"] for one in shown] == [
            "Where is the wedding?",
            "In Lisbon.",
            "See you there",
        ]
        assert "message · assistant in plans · 20" in talk("get", middle).out
        talk("add", "A note", "--id", "note")
        assert "A note" in talk("get", "note", "--around", "2").out
        assert talk("get", middle, "--around", "-1").code == 2

    def test_who_said_it_where_and_when_is_on_one_line(self, shell, monkeypatch):
        """In the time zone of the settings, wherever a message is shown."""
        monkeypatch.setenv("SCRUBJAY_TIMEZONE", "Asia/Tokyo")
        shell(
            *("say", "The zebra sleeps", "--session", "zoo", "--role", "guide"),
            *("--at", "2026-01-02T20:00Z", "--owner", "ann", "--agent", "bell"),
        )
        (id_,) = (one["id"] for one in shell("ls", "--json").json["memories"])
        said = "guide in zoo · 2026-01-03 05:00 · "
        assert f"message · {said}" in shell("search", "zebra").out
        assert "ago · of ann · with bell · " in shell("search", "zebra").out
        assert said in shell("search", "zebra", "--md").out
        assert f"message · {said}" in shell("get", id_).out
        assert said in shell("ls").out
        assert len(shell("ls").out.splitlines()) == 1
        assert "2026-01-03 05:00, " in shell("sessions").out

    def test_a_session_is_forgotten_after_a_yes(self, talk):
        talk("say", "Elsewhere", "--session", "b")

        asked = talk("forget", "--session", "plans")
        assert asked.code == 2
        assert "Where is the wedding?" in asked.err
        assert len(talk("ls", "--json").json["memories"]) == 4
        assert talk("forget", "--session", "plans", "--yes").out == "forgot 3 memories\n"
        assert [one["text"] for one in talk("ls", "--json").json["memories"]] == ["Elsewhere"]
        assert talk("forget", "--session", "plans", "--query", "x").code == 2

    def test_a_session_is_exported(self, talk):
        talk("say", "Elsewhere", "--session", "b")

        lines = talk("export", "--session", "b").out.splitlines()
        assert [json.loads(line)["text"] for line in lines] == ["Elsewhere"]

    def test_only_of_an_owner_or_an_agent(self, talk):
        talk("say", "Of ben", "--session", "b", "--owner", "ben", "--agent", "bell")

        assert len(talk("ls", "--json", "--owner", "ann").json["memories"]) == 3
        assert len(talk("ls", "--json", "--agent", "bell").json["memories"]) == 1
        assert talk("search", "lisbon", "--owner", "ben").code == 3
        assert talk("search", "lisbon", "--owner", "ann").code == 0
        assert talk("search", "ben", "--agent", "bell").code == 0

    def test_status_has_a_line_of_them(self, talk):
        assert "messages     3 in 1 session" in talk("status").out
        state = talk("status", "--json").json
        assert (state["messages"], state["sessions"]) == (3, 1)

    def test_status_without_any_has_none(self, shell):
        shell("add", "A note")
        assert "messages" not in shell("status").out
