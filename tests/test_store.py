"""Every verb of the library, as product.md names them."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from threading import Thread
from time import perf_counter

import numpy as np
import pytest
from clocks import NOON
from fakes import HashingEmbedder

import scrubjay
from scrubjay import InvalidInput, Link, Memory, NotFound, StoreError, Unavailable

EVERY_FIELD = {
    "id": "decision-7",
    "title": "Queue",
    "type": "decision",
    "topics": ("queues", "back end"),
    "namespace": "work",
    "collection": "minutes",
    "session": "monday",
    "role": "assistant",
    "owner": "ada",
    "agent": "planner",
    "severity": "warning",
    "domain": "infrastructure",
    "context": "weekly meeting",
    "created_at": datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    "updated_at": datetime(2026, 2, 3, tzinfo=UTC),
    "event_time": datetime(2025, 12, 24, tzinfo=UTC),
    "valid_from": datetime(2026, 1, 1, tzinfo=UTC),
    "valid_until": datetime(2027, 1, 1, tzinfo=UTC),
    "source": "minutes.md",
    "metadata": {"ticket": 7, "tags": ["a", None, 1.5], "Ключ": "значение"},
}


class TestAdd:
    def test_every_field_comes_back_as_it_was_given(self, memory):
        """Verbatim first: what is stored is what was said."""
        memory.add("  We chose the queue.\r\n\tNUL \0 and 😀  ", **EVERY_FIELD)

        found = memory.get("decision-7")

        assert found.text == "  We chose the queue.\r\n\tNUL \0 and 😀  "
        assert {name: getattr(found, name) for name in EVERY_FIELD} == EVERY_FIELD

    def test_what_add_returns_is_what_get_returns(self, memory):
        """The answer of `add` can be relied upon."""
        assert memory.get(memory.add("a fact", **EVERY_FIELD).id) == memory.add(
            "a fact", **EVERY_FIELD
        )

    def test_defaults_are_a_fact_in_the_default_namespace_at_the_clocks_time(self, memory):
        """Only the text is needed; R-8: time comes from the injected clock."""
        kept = memory.add("Prefers Python for back ends")

        assert (kept.type, kept.namespace, kept.topics) == ("fact", "default", ())
        assert (kept.created_at, kept.updated_at) == (NOON, NOON)

    def test_updated_at_defaults_to_created_at(self, memory):
        """An imported memory is as old as it says."""
        kept = memory.add("said long ago", created_at="2020-01-01")

        assert kept.updated_at == kept.created_at == datetime(2020, 1, 1, tzinfo=UTC)

    def test_an_id_is_made_from_the_content(self, tmp_path, memory, clock):
        """R-8: two stores built alike have the same ids, whatever the path."""
        with scrubjay.open(tmp_path / "other.db", embedder=False, clock=clock) as other:
            assert other.add("the same words").id == memory.add("the same words").id

    def test_the_same_text_is_the_same_memory(self, memory):
        """Re-adding normalised text, type and namespace returns what is there, topics united."""
        first = memory.add("Tea at four", topics=["tea"])
        again = memory.add("  Tea \n at  four ", topics=["Time"])

        assert again.id == first.id
        assert again.text == "Tea at four"
        assert memory.get(first.id).topics == ("tea", "time")
        assert memory.status().memories == 1

    @pytest.mark.parametrize(
        "different", [{"type": "decision"}, {"namespace": "other"}, {"id": "mine"}]
    )
    def test_another_type_namespace_or_id_is_another_memory(self, memory, different):
        """Only the same text, type and namespace folds."""
        first = memory.add("Tea at four")

        assert memory.add("Tea at four", **different).id != first.id
        assert memory.status().memories == 2

    def test_messages_are_never_folded(self, memory):
        """Somebody who says "yes" three times said it three times."""
        ids = {memory.add("yes", type="message", session="s").id for _ in range(3)}

        assert len(ids) == 3
        assert len(memory.search("yes")) == 3

    def test_a_given_id_is_an_upsert(self, memory, clock):
        """The new text replaces the old in the record and in both indexes; creation stays."""
        memory.add("The port is 5432", id="port", topics=["db"])
        clock.advance(days=1)
        memory.add("The socket is local", id="port")

        found = memory.get("port")
        assert (found.text, found.topics) == ("The socket is local", ())
        assert (found.created_at, found.updated_at) == (NOON, NOON + timedelta(days=1))
        assert memory.status().memories == 1
        assert len(memory.search("5432", mode="keyword")) == 0
        assert memory.search("local socket", mode="vector")[0].cosine > 0.7
        assert memory.status().models["hashing-256"] == 1

    @pytest.mark.parametrize(
        ("given", "meant"),
        [
            ("2026-05-03T14:30:00+02:00", datetime(2026, 5, 3, 12, 30, tzinfo=UTC)),
            ("2026-05-03T12:30:00Z", datetime(2026, 5, 3, 12, 30, tzinfo=UTC)),
            ("2026-05-03T12:30", datetime(2026, 5, 3, 12, 30, tzinfo=UTC)),
            ("2026-05-03", datetime(2026, 5, 3, tzinfo=UTC)),
            (datetime(2026, 5, 3, 12, 30), datetime(2026, 5, 3, 12, 30, tzinfo=UTC)),
            (date(2026, 5, 3), datetime(2026, 5, 3, tzinfo=UTC)),
            (
                datetime(2026, 5, 3, 1, tzinfo=timezone(timedelta(hours=-8))),
                datetime(2026, 5, 3, 9, tzinfo=UTC),
            ),
            ("1066-10-14", datetime(1066, 10, 14, tzinfo=UTC)),
        ],
    )
    def test_times_are_datetimes_dates_or_iso_strings_and_naive_means_utc(
        self, memory, given, meant
    ):
        """One moment, however it is written."""
        kept = memory.add("an event", event_time=given)

        assert memory.get(kept.id).event_time == meant

    def test_links_are_made_with_the_memory(self, memory):
        """Ids, pairs and Link objects are all taken."""
        for one in "abc":
            memory.add(f"note {one}", id=one)
        memory.add("hub", id="hub", links=["a", ("b", 0.5), Link("c", 0.25, "cites")])

        assert memory.get("hub").links == (Link("a"), Link("b", 0.5), Link("c", 0.25, "cites"))
        assert memory.get("b").links == (Link("hub", 0.5),)

    def test_a_link_to_nothing_stores_nothing(self, memory):
        """The memory and its links are one transaction."""
        with pytest.raises(NotFound, match="'nowhere'"):
            memory.add("dangling", id="x", links=["nowhere"])

        assert memory.get_many(["x"]).missing == ("x",)

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"text": ""}, "text is empty"),
            ({"text": " \n\t "}, "text is empty"),
            ({"text": 7}, "must be a text"),
            ({"text": "half a \ud83d pair"}, "surrogate"),
            ({"text": "x", "type": ""}, "type is ''"),
            ({"text": "x", "type": "  "}, "type is ''"),
            ({"text": "x", "namespace": "a\nb"}, "namespace"),
            ({"text": "x", "topics": [1]}, "topic is 1; it must be a text"),
            ({"text": "x", "topics": 5}, "list of texts"),
            ({"text": "x", "created_at": "yesterday"}, "ISO date"),
            ({"text": "x", "created_at": 5}, "ISO"),
            ({"text": "x", "created_at": "0001-01-01T00:00+10:00"}, "outside the years"),
            ({"text": "x", "valid_from": "2026-02-01", "valid_until": "2026-01-01"}, "swap them"),
            ({"text": "x", "metadata": {"when": object()}}, "JSON"),
            ({"text": "x", "metadata": ["a"]}, "mapping"),
            ({"text": "x", "links": ["a", 0.5]}, "neither an id nor"),
            ({"text": "x", "links": [("a", 2.0)]}, "strength is 2.0"),
            ({"text": "x", "links": [{"target": "a"}]}, "neither an id nor"),
            ({"text": "x", "links": "a"}, "list of ids"),
            ({"text": "x", "id": "i" * 600}, "600 characters"),
            ({"text": "x", "titel": "y"}, "no field 'titel'"),
        ],
    )
    def test_bad_input_is_one_sentence_and_stores_nothing(self, memory, given, says):
        """What was wrong, and what would be right; the store is untouched."""
        with pytest.raises(InvalidInput, match=says):
            memory.add_many([{"text": "good before"}, given])

        assert memory.status().memories == 0


class TestAddMany:
    def test_mappings_and_memories_come_back_in_order(self, memory):
        """A mapping has the fields of `add`; a Memory is one."""
        kept = memory.add_many(
            [{"text": "one", "type": "decision"}, Memory("two", id="2"), {"text": "one"}]
        )

        assert [(one.text, one.type) for one in kept] == [
            ("one", "decision"),
            ("two", "fact"),
            ("one", "fact"),
        ]
        assert kept[1].id == "2"

    def test_more_than_a_batch_is_stored_whole(self, words_only):
        """An iterable of any length; here 1,203 from a generator."""
        kept = words_only.add_many({"text": f"fact number {n}"} for n in range(1203))

        assert [one.text for one in kept] == [f"fact number {n}" for n in range(1203)]
        assert words_only.status().memories == 1203

    def test_doubles_inside_one_batch_fold(self, memory):
        """The second sees the first, though neither is committed yet."""
        first, second = memory.add_many([{"text": "twice"}, {"text": " twice "}])

        assert first.id == second.id


class TestUpdate:
    def test_only_the_named_fields_change(self, memory, clock):
        """The rest stays, links too; `updated_at` moves to the clock."""
        memory.add("other", id="other")
        memory.add("The build takes long", **EVERY_FIELD, links=["other"])
        later = clock.advance(days=3)

        memory.update("decision-7", text="The build is quick", topics=["speed"])

        found = memory.get("decision-7")
        kept = {k: v for k, v in EVERY_FIELD.items() if k not in ("topics", "updated_at")}
        assert {name: getattr(found, name) for name in kept} == kept
        assert (found.text, found.topics) == ("The build is quick", ("speed",))
        assert found.updated_at == later
        assert found.links == (Link("other"),)

    def test_both_indexes_follow(self, memory):
        """The old words find nothing any more, the new ones do; by word and by meaning."""
        memory.add("the red car", id="a")
        memory.update("a", text="a green bicycle")

        assert len(memory.search("red car", mode="keyword")) == 0
        assert memory.search("bicycle", mode="keyword")[0].id == "a"
        assert memory.search("automobile", mode="vector")[0].cosine < 0.3
        assert memory.search("green bicycle", mode="vector")[0].cosine > 0.9

    def test_a_change_that_no_model_reads_costs_no_vector(self, memory, embedder):
        """New topics, an upsert of the same text: found under both, and not embedded again."""
        memory.add("the red car", id="a")
        memory.pending(wait=True)
        calls = embedder.calls
        memory.update("a", topics=["garage"])
        memory.add("the red car", id="a", topics=["garage"], owner="ada")

        assert memory.pending(wait=True) == 0
        assert embedder.calls == calls
        assert [hit.id for hit in memory.search("garage", mode="keyword", owner="ada")] == ["a"]
        assert memory.search("automobile", mode="vector", topics=["garage"])[0].cosine > 0.4

    def test_a_new_title_is_read_by_the_model(self, memory):
        """R-11: title and context are part of what is embedded."""
        memory.add("it needs oil", id="a")
        memory.pending(wait=True)
        memory.update("a", title="automobile")

        assert memory.search("car", mode="vector")[0].cosine > 0.4

    def test_none_means_the_default(self, memory):
        """A field is emptied by None; a creation time cannot be."""
        memory.add("x", id="a", title="T", created_at="2020-01-01")

        after = memory.update("a", title=None, created_at=None)

        assert (after.title, after.created_at) == ("", datetime(2020, 1, 1, tzinfo=UTC))

    def test_an_unknown_id_or_field_is_refused(self, memory):
        """One sentence each, and nothing changed."""
        memory.add("x", id="a")

        with pytest.raises(NotFound, match="'b'"):
            memory.update("b", text="y")
        with pytest.raises(InvalidInput, match="no field 'texte'"):
            memory.update("a", texte="y")
        with pytest.raises(InvalidInput, match="text is empty"):
            memory.update("a", text=" ")
        assert memory.get("a").text == "x"


SECRETS = {
    "text": "Zanzibarquartz lies beneath the kiosk",
    "title": "Xylophonetitle",
    "topics": ["wombattopic"],
    "context": "Ocelotcontext",
    "source": "platypussource.md",
    "metadata": {"quokkakey": "lemurvalue"},
    "id": "narwhalident",
    "owner": "ferretowner",
    "session": "gibbonsession",
    "collection": "marmotcollection",
}
UNIQUE = (
    "zanzibarquartz kiosk xylophonetitl wombattopic ocelotcontext platypussource quokkakey lemurvalue"
    " narwhalident ferretowner gibbonsession marmotcollection tapirquery badgerkind"
).split()


class TestForget:
    def test_nothing_is_left_behind_in_any_table_or_byte(self, tmp_path, memory):
        """No word of text, title, topics, context, metadata, id, feedback or link: not in a table,

        not in the file, not in its log. Complaint 19: a forgotten memory is gone.
        """
        memory.add("stays here", id="stays")
        memory.add(**SECRETS)
        memory.update("narwhalident", text="Zanzibarquartz again, near the kiosk. " * 40)
        memory.link("stays", "narwhalident", kind="badgerkind")
        memory.feedback("tapirquery", "narwhalident", "accepted")
        assert memory.pending(wait=True) == 0
        path = tmp_path / "notes.db"
        assert b"zanzibarquartz" in _bytes(path).lower()  # the search below can find it

        assert memory.forget("narwhalident") == 1

        left = _bytes(path).lower()
        assert [word for word in UNIQUE if word.encode() in left] == []
        with sqlite3.connect(path) as db:
            rows = {
                table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("memories", "chunks", "vectors", "words", "topics", "edges")
            }
            assert rows == {
                "memories": 1,
                "chunks": 1,
                "vectors": 1,
                "words": 1,
                "topics": 0,
                "edges": 0,
            }
            assert db.execute("SELECT count(*) FROM wanting").fetchone() == (0,)
            assert db.execute("SELECT count(*) FROM feedback").fetchone() == (0,)
        db.close()
        assert memory.get("stays").links == ()
        assert [hit.id for hit in memory.search("zanzibarquartz stays")] == ["stays"]

    def test_while_another_process_has_the_file_open(self, tmp_path, memory):
        """An idle reader elsewhere does not keep the text alive in the log."""
        with scrubjay.open(tmp_path / "notes.db", embedder=False) as other:
            memory.add(**SECRETS)
            assert len(other.search("zanzibarquartz")) == 1

            memory.forget("narwhalident")

            assert b"anzibarquartz" not in _bytes(tmp_path / "notes.db")
            assert len(other.search("zanzibarquartz")) == 0

    def test_several_at_once_or_none(self, memory):
        """An unknown id is an error, and then nothing at all is removed."""
        for one in "abc":
            memory.add(f"note {one}", id=one)

        with pytest.raises(NotFound, match="'x'"):
            memory.forget(["a", "x"])
        assert memory.status().memories == 3
        assert memory.forget(["a", "b", "a"]) == 2
        assert [one.id for one in memory.ls()] == ["c"]

    def test_the_same_text_can_be_told_again(self, memory):
        """Forgetting is not a ban."""
        kept = memory.add("the red car")
        memory.forget(kept.id)
        memory.add("the red car")

        assert [hit.id for hit in memory.search("automobile", mode="vector")] == [kept.id]


def _bytes(path: Path) -> bytes:
    files = (path, path.with_name(path.name + "-wal"))
    return b"".join(file.read_bytes() for file in files if file.exists())


class TestGet:
    def test_a_missing_one_raises(self, memory):
        """NotFound names the id."""
        with pytest.raises(NotFound, match="'nope'"):
            memory.get("nope")

    def test_many_gives_those_there_in_order_and_names_the_missing(self, memory):
        """`missing` is a field of the list."""
        for one in "abc":
            memory.add(f"note {one}", id=one)

        found = memory.get_many(["c", "x", "a", "y"])

        assert [one.id for one in found] == ["c", "a"]
        assert found.missing == ("x", "y")

    def test_thousands_at_once(self, words_only):
        """More ids than SQLite takes arguments in one statement."""
        ids = [one.id for one in words_only.add_many({"text": f"n {n}"} for n in range(1500))]

        assert [one.id for one in words_only.get_many(ids * 30)] == ids * 30


class TestLinks:
    def test_neighbors_are_scored_by_the_best_path(self, memory):
        """A path is the product of its strengths; links are walked both ways."""
        for one in "abcd":
            memory.add(f"note {one}", id=one)
        memory.link("a", "b", 0.9)
        memory.link("c", "b", 0.8)
        memory.link("a", "c", 0.5)
        memory.link("c", "d", 0.5, kind="cites")

        near = memory.neighbors("a", depth=2)

        assert [(one.id, round(one.score, 6), one.depth) for one in near] == [
            ("b", 0.9, 1),
            ("c", 0.72, 2),
            ("d", 0.25, 2),
        ]
        assert [one.id for one in memory.neighbors("a")] == ["b", "c"]
        assert [one.id for one in memory.neighbors("a", depth=3, limit=1)] == ["b"]

    def test_a_link_again_changes_its_strength(self, memory):
        """One link of a kind between two memories, whichever end is named first."""
        memory.add("a", id="a")
        memory.add("b", id="b")
        memory.link("a", "b", 0.4)
        memory.link("b", "a", 0.7)

        assert memory.get("a").links == (Link("b", 0.7),)
        assert memory.status().links == 1

    def test_unlink_removes_one_kind_or_all(self, memory):
        """It returns how many there were."""
        memory.add("a", id="a")
        memory.add("b", id="b")
        for kind in ("related", "cites", "refutes"):
            memory.link("a", "b", kind=kind)

        assert memory.unlink("b", "a", kind="cites") == 1
        assert memory.unlink("a", "b") == 2
        assert memory.unlink("a", "b") == 0
        assert memory.neighbors("a") == []

    @pytest.mark.parametrize(
        ("call", "says"),
        [
            (lambda m: m.link("a", "a"), "itself"),
            (lambda m: m.link("a", "b", 0), "strength is 0"),
            (lambda m: m.link("a", "b", 1.5), "strength is 1.5"),
            (lambda m: m.link("a", "b", float("nan")), "strength is nan"),
            (lambda m: m.link("a", "b", True), "strength is True"),
            (lambda m: m.link("a", "b", kind=" "), "kind is empty"),
            (lambda m: m.neighbors("a", depth=4), "1, 2 or 3"),
        ],
    )
    def test_bad_links_are_refused(self, memory, call, says):
        """One sentence each."""
        memory.add("a", id="a")
        memory.add("b", id="b")

        with pytest.raises(InvalidInput, match=says):
            call(memory)
        assert memory.status().links == 0

    def test_unknown_ids_are_not_found(self, memory):
        """In every verb that takes one."""
        memory.add("a", id="a")
        for call in (
            lambda: memory.link("a", "x"),
            lambda: memory.unlink("x", "a"),
            lambda: memory.neighbors("x"),
            lambda: memory.feedback("q", "x", "accepted"),
        ):
            with pytest.raises(NotFound, match="'x'"):
                call()


class TestFeedback:
    def test_it_is_stored(self, memory, tmp_path, clock):
        """Query, memory, action and time; any text is a query."""
        memory.add("a", id="a")
        memory.feedback('"NEAR( \ud800', "a", "modified")

        with sqlite3.connect(tmp_path / "notes.db") as db:
            rows = db.execute("SELECT query, action, at_us FROM feedback").fetchall()
        db.close()
        assert rows == [('"NEAR( ?', "modified", int(clock().timestamp() * 1_000_000))]
        assert memory.status().feedback == 1

    def test_another_action_is_refused(self, memory):
        """The three that there are stand in the message."""
        memory.add("a", id="a")

        with pytest.raises(InvalidInput, match="accepted, modified, dismissed"):
            memory.feedback("q", "a", "liked")


class TestUsers:
    @pytest.fixture
    def two(self, tmp_path):
        """Ada and Bob on one file."""
        path = tmp_path / "shared.db"
        with (
            scrubjay.open(path, user="ada", embedder=HashingEmbedder()) as ada,
            scrubjay.open(path, user="bob", embedder=HashingEmbedder()) as bob,
        ):
            yield ada, bob

    def test_each_sees_only_their_own(self, two):
        """Complaint 28: no verb shows or changes what belongs to another user."""
        ada, bob = two
        hers = ada.add("the password is swordfish", topics=["secret"])
        bob.add("bob likes fish")

        assert [hit.namespace for hit in bob.search("password swordfish fish")] == ["user:bob"]
        for mode in ("keyword", "vector"):
            assert hers.id not in [hit.id for hit in bob.search("swordfish", mode=mode)]
        assert bob.ls(topics="secret") == []
        assert bob.get_many([hers.id]).missing == (hers.id,)
        assert bob.status().memories == 1
        assert bob.status().namespaces == {"user:bob": 1}
        for call in (
            lambda: bob.get(hers.id),
            lambda: bob.update(hers.id, text="mine now"),
            lambda: bob.forget(hers.id),
            lambda: bob.neighbors(hers.id),
            lambda: bob.feedback("q", hers.id, "accepted"),
            lambda: bob.resolve(hers.id),
            lambda: bob.resolve(hers.id[:6]),
        ):
            with pytest.raises(NotFound):
                call()
        assert ada.get(hers.id).text == "the password is swordfish"

    @pytest.mark.parametrize("asked", [{"namespace": "user:ada"}, {"namespaces": ["user:ada"]}])
    def test_asking_for_anothers_namespace_gives_nothing(self, two, asked):
        """R-3: a wider filter cannot widen what a user may see."""
        ada, bob = two
        ada.add("swordfish")

        assert len(bob.search("swordfish", **asked)) == 0
        assert len(ada.search("swordfish", **asked)) == 1

    def test_the_same_id_of_another_user_is_not_overwritten(self, two):
        """An upsert reaches only what its caller may see."""
        ada, bob = two
        ada.add("hers", id="note")

        with pytest.raises(InvalidInput, match="'note' is taken"):
            bob.add("his", id="note")
        assert ada.get("note").text == "hers"

    def test_nothing_can_be_linked_to_what_is_not_seen(self, two):
        """Neither when adding nor later."""
        ada, bob = two
        ada.add("hers", id="hers")
        bob.add("his", id="his")

        with pytest.raises(NotFound):
            bob.add("spy", id="spy", links=["hers"])
        with pytest.raises(NotFound):
            bob.link("his", "hers")
        assert ada.get("hers").links == ()

    def test_a_link_across_users_is_seen_by_neither(self, two, tmp_path):
        """The owner of the file may make one; a user is not shown the other's id."""
        ada, bob = two
        ada.add("hers", id="hers")
        bob.add("his", id="his")
        with scrubjay.open(tmp_path / "shared.db", embedder=False) as owner:
            owner.link("hers", "his")
            assert owner.get("hers").links == (Link("his"),)

        assert ada.get("hers").links == ()
        assert bob.neighbors("his") == []
        assert ada.update("hers", text="still hers").text == "still hers"

    def test_the_same_text_of_two_users_is_two_memories(self, two):
        """Folding never crosses a namespace."""
        ada, bob = two
        assert ada.add("yes we can").id != bob.add("yes we can").id

    def test_writing_into_another_namespace_is_refused(self, two):
        """The sentence names the user's own."""
        with pytest.raises(InvalidInput, match="user:bob"):
            two[1].add("x", namespace="user:ada")

    def test_without_a_user_everything_is_seen(self, two, tmp_path):
        """One person's own file."""
        two[0].add("swordfish of ada")
        two[1].add("swordfish of bob")
        with scrubjay.open(tmp_path / "shared.db", embedder=False) as owner:
            assert len(owner.search("swordfish")) == 2

    @pytest.mark.parametrize("user", ["", "  ", "a\nb"])
    def test_a_user_needs_a_printable_name(self, tmp_path, user):
        """Or it could not be shown."""
        with pytest.raises(InvalidInput, match="printable"):
            scrubjay.open(tmp_path / "x.db", user=user)


class TestStatus:
    def test_it_counts(self, memory, tmp_path):
        """Memories by type, namespace and collection; vectors by model; the file's size."""
        memory.add_many(
            [
                {"text": "a", "id": "a"},
                {"text": "b", "id": "b", "type": "decision", "namespace": "work"},
                {"text": "word " * 900, "type": "document", "collection": "notes"},
            ]
        )
        memory.link("a", "b")
        memory.feedback("q", "a", "accepted")
        assert memory.pending(wait=True) == 0

        state = memory.status()

        assert state.path == str(tmp_path / "notes.db")
        assert (state.memories, state.documents, state.links, state.feedback) == (3, 1, 1, 1)
        assert state.types == {"decision": 1, "document": 1, "fact": 1}
        assert state.namespaces == {"default": 2, "work": 1}
        assert state.collections == {"notes": 1}
        assert state.chunks > 5
        assert (state.model, state.models) == ("hashing-256", {"hashing-256": state.chunks})
        assert (state.pending, state.failed, state.failures) == (0, 0, ())
        assert state.size_bytes >= (tmp_path / "notes.db").stat().st_size

    def test_without_a_model(self, words_only):
        """Nothing is pending where nothing is wanted."""
        words_only.add("a")

        state = words_only.status()

        assert (state.model, state.models, state.pending) == (None, {}, 0)


class TestLs:
    def test_newest_first_under_filters(self, memory, clock):
        """Limit and offset page through."""
        for n in range(5):
            memory.add(f"note {n}", id=f"n{n}", topics=["even" if n % 2 == 0 else "odd"])
            clock.advance(hours=1)

        assert [one.id for one in memory.ls()] == ["n4", "n3", "n2", "n1", "n0"]
        assert [one.id for one in memory.ls(limit=2, offset=1)] == ["n3", "n2"]
        assert [one.id for one in memory.ls(topics=["EVEN"])] == ["n4", "n2", "n0"]

    def test_an_id_is_resolved_from_its_beginning(self, memory):
        """Four characters or more, if only one begins so."""
        memory.add("a", id="abcdef")
        memory.add("b", id="abcdxy")

        assert memory.resolve("abcde") == "abcdef"
        assert memory.resolve("abcdef") == "abcdef"
        with pytest.raises(InvalidInput, match="abcdef, abcdxy"):
            memory.resolve("abcd")
        with pytest.raises(NotFound):
            memory.resolve("abc")


class TestClosing:
    def test_twice_is_fine(self, tmp_path, embedder):
        """So is closing inside `with`."""
        for path in (tmp_path / "a.db", ":memory:"):
            with scrubjay.open(path, embedder=embedder) as store:
                store.add("a")
                store.close()
                store.close()

    @pytest.mark.parametrize("place", ["file", ":memory:"])
    @pytest.mark.parametrize(
        "call",
        [
            lambda m: m.add("x"),
            lambda m: m.get("x"),
            lambda m: m.search("x"),
            lambda m: m.search("x", mode="keyword"),
            lambda m: m.update("x", text="y"),
            lambda m: m.forget("x"),
            lambda m: m.link("x", "y"),
            lambda m: m.status(),
            lambda m: m.pending(wait=True),
            lambda m: m.ls(),
        ],
    )
    def test_use_after_close_says_so(self, tmp_path, embedder, place, call):
        """StoreError, with what to do; and closing again is still fine."""
        store = scrubjay.open(
            place if place == ":memory:" else tmp_path / "a.db", embedder=embedder
        )
        store.add("x", id="x")
        store.close()

        with pytest.raises(StoreError, match=r"is closed; open it again with scrubjay\.open"):
            call(store)
        store.close()

    def test_what_was_written_is_there_and_embedded_after_a_plain_close(self, tmp_path, embedder):
        """A script that adds and ends leaves nothing undone."""
        with scrubjay.open(tmp_path / "a.db", embedder=embedder) as store:
            store.add("the red car")
        with scrubjay.open(tmp_path / "a.db", embedder=embedder) as store:
            assert store.pending(wait=False) == 0
            assert store.search("automobile", mode="vector")[0].cosine > 0.4


class Moody(HashingEmbedder):
    """Fails in the way it is told to; recovers when `how` is None."""

    def __init__(self, how=None, poison=None, name="moody"):
        super().__init__(dims=32)
        self.name = name
        self.how = how
        self.poison = poison

    def embed(self, texts, *, as_query=False):
        if self.poison and any(self.poison in text for text in texts):
            raise RuntimeError("cannot read this")
        answer = super().embed(texts, as_query=as_query)
        match self.how:
            case "raises":
                raise RuntimeError("CUDA is out of memory")
            case "unavailable":
                raise Unavailable("the server is down; start it")
            case "exits":
                raise MemoryError
            case "nan":
                return np.full_like(answer, np.nan)
            case "inf":
                return answer * np.inf
            case "wide":
                return np.hstack([answer, answer])
            case "short":
                return answer[:-1]
            case "flat":
                return answer.ravel()
            case "none":
                return None
            case "words":
                return [["a"] * 32 for _ in texts]
        return answer


WAYS = ["raises", "unavailable", "exits", "nan", "inf", "wide", "short", "flat", "none", "words"]


class TestFailingEmbedder:
    @pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
    @pytest.mark.parametrize("how", WAYS)
    def test_text_is_never_lost_and_meaning_comes_back_later(self, tmp_path, how):
        """R-6, complaint 8: a broken model is named in `degraded`; words answer; nothing is lost."""
        model = Moody(how)
        with scrubjay.open(tmp_path / "a.db", embedder=model) as store:
            kept = store.add("the staging database moved")
            assert store.pending(wait=True) == 1
            found = store.search("staging database")

            assert [hit.id for hit in found] == [kept.id]
            assert any("moody" in reason or "server" in reason for reason in found.degraded)
            assert any(reason.startswith("embed_query: ") for reason in found.degraded)
            assert store.status().pending == 1

            model.how = None
            assert store.pending(wait=True) == 0
            healed = store.search("staging database")
            assert healed.degraded == ()
            assert healed[0].cosine > 0.5

    def test_it_recovers_by_itself_with_the_next_add(self, tmp_path):
        """After an outage, what is added is found by meaning by the next search again."""
        model = Moody("raises")
        with scrubjay.open(tmp_path / "a.db", embedder=model) as store:
            store.add("written during the outage")
            store.pending(wait=True)
            model.how = None
            store.add("written after the outage")
            store._context.embedding._worker.thread.join(10)
            for n in range(20):
                added = store.add(f"fresh memory number {n}")
                found = store.search(f"fresh memory number {n}", mode="vector")
                assert found[0].id == added.id, n
            assert store.pending(wait=False) == 0

    def test_one_poison_text_does_not_block_the_others(self, tmp_path):
        """It is set aside after three tries and counted as failed, with the reason."""
        model = Moody(poison="poison")
        with scrubjay.open(tmp_path / "a.db", embedder=model) as store:
            store.add_many({"text": f"harmless text {n}"} for n in range(120))
            store.add("a poison text", id="poison")
            store.add_many({"text": f"further text {n}"} for n in range(120))

            assert store.pending(wait=True) == 1

            state = store.status()
            assert (state.models, state.pending, state.failed) == ({"moody": 240}, 0, 1)
            assert state.failures == ("moody failed: RuntimeError: cannot read this",)
            assert store.search("poison", mode="keyword")[0].id == "poison"
            assert "further text 7" in [hit.text for hit in store.search("further text 7")]

    def test_a_model_with_the_wrong_width_for_its_name_is_refused(self, tmp_path):
        """Vectors of 32 and 64 dimensions under one name cannot be compared."""
        with scrubjay.open(tmp_path / "a.db", embedder=Moody()) as store:
            store.add("a")
        wide = HashingEmbedder(64)
        wide.name = "moody"
        with (
            scrubjay.open(tmp_path / "a.db", embedder=wide) as store,
            pytest.raises(InvalidInput, match="32 dimensions"),
        ):
            store.search("a")

    def test_an_object_that_is_no_embedder_is_refused(self, tmp_path):
        """It says what is needed."""
        with (
            scrubjay.open(tmp_path / "a.db", embedder=object()) as store,
            pytest.raises(InvalidInput, match="name, dims and embed"),
        ):
            store.add("a")


class TestNoEmbedder:
    def test_words_answer_and_the_answer_says_what_is_missing(self, words_only):
        """R-6: `embedder=False` degrades a hybrid search, by word it is whole."""
        words_only.add("Prefers Python for back ends")

        hybrid = words_only.search("python")
        assert len(hybrid) == 1
        assert any("embedder=False" in reason for reason in hybrid.degraded)
        assert words_only.search("python", mode="keyword").degraded == ()
        assert words_only.pending(wait=True) == 0


class TestModelChange:
    def test_a_new_model_embeds_everything_again_and_vectors_are_never_mixed(self, tmp_path):
        """Complaint 11: the old vectors stay apart; going back costs nothing."""
        path = tmp_path / "a.db"
        first, second = Moody(name="first"), Moody(name="second")
        with scrubjay.open(path, embedder=first) as store:
            store.add_many({"text": f"memory number {n}"} for n in range(30))
            store.pending(wait=True)
        with scrubjay.open(path, embedder=second) as store:
            assert store.status().pending == 30
            assert store.pending(wait=False) == 30
            assert store.pending(wait=True) == 0
            assert store.status().models == {"first": 30, "second": 30}
            assert store.status().model == "second"
            store.add("only for the second")
            store.pending(wait=True)
            assert store.status().models == {"first": 30, "second": 31}
        with scrubjay.open(path, embedder=first) as store:
            assert store.pending(wait=False) == 1
            before = first.calls
            store.pending(wait=True)
            assert first.calls == before + 1

    def test_while_the_new_model_is_not_through_no_old_vector_is_searched(self, tmp_path):
        """A query vector of one model is never compared with vectors of another."""
        path = tmp_path / "a.db"
        with scrubjay.open(path, embedder=Moody(name="first")) as store:
            store.add("the staging database", id="a")
            store.pending(wait=True)
        broken = Moody(name="second", poison="staging")
        with scrubjay.open(path, embedder=broken) as store:
            store.pending(wait=True)
            found = store.search("database", mode="vector", overrides={})
            assert all(hit.cosine is None for hit in found)


class TestPending:
    def test_wait_blocks_until_everything_is_embedded(self, memory):
        """It returns how many are left, and tells how far it is."""
        memory.add_many({"text": f"memory number {n}"} for n in range(250))
        seen: list[tuple[int, int]] = []

        assert memory.pending(wait=True, progress=lambda *at: seen.append(at)) == 0
        assert memory.status().models == {"hashing-256": 250}
        assert seen[-1][0] == seen[-1][1]
        assert memory.pending(wait=False) == 0

    def test_what_a_killed_process_left_is_resumed_by_a_search(self, tmp_path, embedder):
        """More than a search waits for is at least begun by it: nobody has to ask."""
        path = tmp_path / "a.db"
        with scrubjay.open(path, embedder=Moody("raises", name="hashing-256")) as store:
            store._context._chosen.embedder.dims = 256
            store.add_many({"text": f"memory number {n}"} for n in range(300))
        with scrubjay.open(path, embedder=embedder) as store:
            assert store.pending(wait=False) == 300
            store.search("memory")
            for _ in range(500):
                if store.pending(wait=False) == 0:
                    break
                store._context.embedding._worker.thread.join(0.05)
            assert store.pending(wait=False) == 0

    def test_a_search_does_not_wait_for_what_another_process_claimed(self, tmp_path, embedder):
        """That process may be slow, or dead: its lease runs out by itself."""
        path = tmp_path / "a.db"
        with scrubjay.open(path, embedder=embedder) as store:
            store.add("embedded already", id="old")
            store.pending(wait=True)
        with scrubjay.open(path, embedder=False) as store:
            store.add("claimed by somebody else", id="new")
        with scrubjay.open(path, embedder=embedder) as store:
            assert len(store._context.embedding.queue.claim("hashing-256", 10, 30.0)) == 1
            started = perf_counter()
            found = store.search("embedded somebody")
            assert perf_counter() - started < 15  # half of the lease
            assert {hit.id for hit in found} == {"old", "new"}
            (reason,) = found.degraded
            assert reason.startswith("embed_query: 1 passage is not embedded yet")
            assert store.pending(wait=False) == 1


def test_a_store_without_a_path_is_the_users_own(tmp_path, monkeypatch):
    """Its folder is made; nothing is written into the working one."""
    monkeypatch.setenv("SCRUBJAY_HOME", str(tmp_path / "nest"))

    with scrubjay.open(embedder=False) as store:
        store.add("a")

    assert (tmp_path / "nest" / "memory.db").exists()


def test_threads_that_end_take_their_connections_with_them(words_only):
    """A server that answers each request in a thread of its own does not run out of files."""
    words_only.add("port 5433")
    for _ in range(30):
        worker = Thread(target=words_only.search, args=("port",))
        worker.start()
        worker.join()

    assert len(words_only._context.db._connections) <= 3
    assert len(words_only.search("port")) == 1


def test_threads_share_one_store(memory):
    """Eight threads add and search at once; nothing is lost and nothing raises."""
    from concurrent.futures import ThreadPoolExecutor

    def work(number):
        for n in range(10):
            memory.add(f"thread {number} wrote note {n}")
            assert len(memory.search(f"thread {number}", limit=100)) > n

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))

    assert memory.status().memories == 80
    assert memory.pending(wait=True) == 0


@pytest.mark.skipif(os.name == "nt", reason="a file that is open cannot be deleted there")
def test_no_empty_file_is_made_where_somebody_took_ours_away(tmp_path):
    """A thread that comes later would read from an empty one, in which nothing is and nobody has a token."""
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=False) as store, ThreadPoolExecutor(1) as another:
        store.add("one")
        for file in tmp_path.glob("notes.db*"):
            file.unlink()

        with pytest.raises(StoreError, match="no longer exists"):
            another.submit(store.ls).result(60)
        assert not path.exists()
