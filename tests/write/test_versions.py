"""Versions of a memory: what it was before each change, and taking changes back."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime, timedelta

import pytest
from clocks import NOON

import scrubjay
from scrubjay import InvalidInput, NotFound
from scrubjay.types.reports import Version

TUESDAY = datetime(2026, 5, 5, tzinfo=UTC)


def texts(store, id_="a"):
    return [version.text for version in store.history(id_)]


def happened(store, id_="a"):
    return [version.what for version in store.history(id_)]


class TestHistory:
    def test_a_memory_that_was_never_changed_has_one_version(self, words_only):
        """It is the memory as it is."""
        words_only.add("one", id="a", title="T", created_at=TUESDAY)

        assert words_only.history("a") == [Version("one", TUESDAY, "", "created", "T")]

    def test_update_keeps_what_was_there_before(self, words_only, clock):
        """Newest first; text, title and the values of the other fields that changed."""
        words_only.add("one", id="a", title="T")
        clock.advance(hours=1)
        words_only.update("a", text="two", topics=["x"], valid_until=TUESDAY)
        clock.advance(hours=1)
        words_only.update("a", title="U")

        now, between, first = words_only.history("a")
        assert now == Version("two", clock(), "", "edited", "U", {"title": "U"})
        hour = timedelta(hours=1)
        changed = {"topics": ("x",), "valid_until": TUESDAY}
        assert between == Version("two", NOON + hour, "", "edited", "T", changed)
        assert first == Version("one", NOON, "", "created", "T")

    def test_an_update_that_changes_nothing_is_no_version(self, words_only):
        words_only.add("one", id="a", topics=["x"])
        words_only.update("a", text="one", topics=["X"])

        assert happened(words_only) == ["created"]

    def test_add_with_the_same_id_keeps_the_earlier_text(self, words_only):
        """And every field that it replaced; the same text again is no version."""
        words_only.add("one", id="a", topics=["x"], metadata={"n": 1})
        words_only.add("two", id="a", agent="cursor")
        words_only.add("two", id="a", agent="cursor")

        now, first = words_only.history("a")
        assert (now.text, now.by, first.text) == ("two", "cursor", "one")
        assert now.changed == {"topics": (), "metadata": {}, "agent": "cursor"}
        before = words_only.undo("a")
        assert (before.text, before.topics, before.agent) == ("one", ("x",), None)
        assert before.metadata == {"n": 1}

    def test_the_same_text_with_another_title_is_a_version(self, words_only):
        id_ = words_only.add("one").id
        words_only.add("one", title="T")

        assert [version.title for version in words_only.history(id_)] == ["T", ""]

    def test_done_and_undone_are_versions(self, words_only):
        """By `done`, or by an update of the type."""
        words_only.add("x", id="a", type="task")
        words_only.done("a")
        words_only.update("a", type="task")
        words_only.update("a", type="note")

        assert happened(words_only) == ["edited", "undone", "done", "created"]

    def test_a_clock_that_goes_back_does_not_change_the_order(self, words_only, clock):
        """The order is that of writing."""
        words_only.add("one", id="a")
        clock.advance(hours=-1)
        words_only.update("a", text="two")
        clock.advance(hours=-1)
        words_only.update("a", text="three")

        assert texts(words_only) == ["three", "two", "one"]
        assert words_only.undo("a").text == "two"

    def test_an_import_is_a_version(self, words_only, tmp_path):
        """An entry that was edited by hand replaces the memory of its id."""
        words_only.add("one", id="a")
        words_only.export_md(tmp_path / "out")
        words_only.update("a", text="two")
        words_only.import_entries(tmp_path / "out")

        assert texts(words_only) == ["one", "two", "one"]

    def test_a_changed_file_is_none(self, words_only, tmp_path):
        """Documents would fill the store; changes by hand before it are gone with the text."""
        note = tmp_path / "note.md"
        note.write_text("# One\n\nfirst")
        words_only.ingest(note)
        (document,) = words_only.ls()
        words_only.update(document.id, topics=["x"])
        assert happened(words_only, document.id) == ["edited", "created"]
        note.write_text("# One\n\nsecond")
        assert words_only.ingest(note).updated == 1

        (version,) = words_only.history(document.id)
        assert "second" in version.text
        with pytest.raises(NotFound, match="no change to undo"):
            words_only.undo(document.id)

    def test_forget_removes_every_version(self, words_only):
        """A new memory of that id begins anew."""
        words_only.add("one", id="a")
        words_only.update("a", text="two")
        words_only.forget("a")
        with words_only._context.db.read() as db:
            assert db.execute("SELECT count(*) FROM versions").fetchone() == (0,)
        words_only.add("three", id="a")

        assert texts(words_only) == ["three"]

    def test_an_unknown_id_is_an_error(self, words_only):
        for verb in (words_only.history, words_only.undo):
            with pytest.raises(NotFound, match="no memory has the id 'nope'"):
                verb("nope")


class TestUndo:
    def test_it_takes_the_last_change_back_and_then_the_one_before(self, memory, clock):
        """Text, title and other fields; a search finds the earlier text again."""
        memory.add("The port is 5433", id="a", topics=["db"])
        memory.update("a", text="The port is 6000", title="Port")
        memory.done("a")
        clock.advance(hours=1)

        first = memory.undo("a")
        assert (first.text, first.type, first.updated_at) == ("The port is 6000", "fact", clock())
        second = memory.undo("a")
        assert (second.text, second.title, second.topics) == ("The port is 5433", "", ("db",))
        assert second == memory.get("a")
        memory.pending()
        assert [hit.text for hit in memory.search("5433")] == ["The port is 5433"]
        with pytest.raises(NotFound, match="no change to undo"):
            memory.undo("a")

    def test_it_is_a_version_itself_so_that_nothing_is_lost(self, words_only):
        """What was taken back is still there to read."""
        words_only.add("one", id="a")
        words_only.update("a", text="two")
        words_only.undo("a")

        assert happened(words_only) == ["undo", "edited", "created"]
        assert texts(words_only) == ["one", "two", "one"]

    def test_after_it_a_new_change_is_the_first_to_be_undone(self, words_only):
        """Changes are undone in the opposite order, each one once."""
        words_only.add("one", id="a")
        words_only.update("a", text="two")
        words_only.update("a", text="three")
        words_only.undo("a")
        words_only.update("a", text="four")

        assert [words_only.undo("a").text for _ in range(2)] == ["two", "one"]
        with pytest.raises(NotFound, match="no change to undo"):
            words_only.undo("a")

    def test_times_are_exactly_what_they_were(self, words_only, clock):
        """An event time is not derived again from the earlier text."""
        words_only.add("Meet Ann tomorrow", id="a", event_time=TUESDAY)
        first = words_only.get("a")
        clock.advance(days=7)
        words_only.update("a", text="Meet Ann yesterday", event_time=None, created_at=clock())
        assert words_only.get("a").event_time != TUESDAY

        assert words_only.undo("a")._replace(updated_at=first.updated_at) == first

    def test_links_and_other_fields_stay(self, words_only):
        words_only.add_many([{"text": "one", "id": "a"}, {"text": "other", "id": "b"}])
        words_only.update("a", text="two")
        words_only.link("a", "b")

        assert [link.to for link in words_only.undo("a").links] == ["b"]

    def test_a_message_is_extracted_again(self, words_only):
        words_only.add_message("I live in Berlin", session="s")
        (message,) = words_only.ls()
        words_only.update(message.id, text="I live in Bonn")

        assert words_only.undo(message.id).text == "I live in Berlin"

    def test_odd_characters_come_back(self, words_only):
        odd = 'nul \0, escape \x1a1, quote " and \\ and \ud83d\udc0d'.encode(
            "utf-16", "surrogatepass"
        ).decode("utf-16")
        words_only.add(odd, id="a", metadata={"k": [1, 1.0, True, None]})
        words_only.update("a", text="plain", metadata={"k": [1, 1, 1, None]})

        assert (words_only.undo("a").text, words_only.get("a").metadata) == (
            odd,
            {"k": [1, 1.0, True, None]},
        )


@pytest.fixture
def people(tmp_path, clock):
    """Ann owns the collection `team`, Ben writes in it, Cem reads it."""
    opened = [
        scrubjay.open(tmp_path / "team.db", user=user, embedder=False, clock=clock)
        for user in ("ann", "ben", "cem")
    ]
    ann = opened[0]
    ann.create_collection("team")
    ann.share("team", "ben", "writer")
    ann.share("team", "cem")
    yield opened
    for store in opened:
        store.close()


class TestPeople:
    def test_each_version_names_who_wrote_it(self, people):
        """In a personal namespace that is its user."""
        ann, ben, cem = people
        ann.add("one", id="a", collection="team")
        ben.update("a", text="two")
        ann.add("mine", id="m")

        assert [version.by for version in cem.history("a")] == ["ben", "ann"]
        assert [version.by for version in ann.history("m")] == ["ann"]

    def test_a_reader_sees_versions_and_undoes_nothing(self, people):
        ann, _, cem = people
        ann.add("one", id="a", collection="team")
        ann.update("a", text="two")

        assert texts(cem) == ["two", "one"]
        with pytest.raises(InvalidInput, match="you are a reader"):
            cem.undo("a")
        assert texts(ann) == ["two", "one"]

    def test_another_user_finds_neither(self, people):
        """R-5: another's memory does not exist, and has no history."""
        ann, ben, _ = people
        ann.add("one", id="a")
        ann.update("a", text="two")
        for verb in (ben.history, ben.undo):
            with pytest.raises(NotFound):
                verb("a")

    def test_what_was_private_stays_private_when_it_moves_to_a_collection(self, people):
        """Others see the versions from then on, and cannot undo the move."""
        ann, ben, _ = people
        ann.add("a secret", id="a")
        ann.update("a", text="still a secret")
        ann.update("a", text="for all", collection="team")
        ben.update("a", text="for all of us")

        assert texts(ann) == ["for all of us", "for all", "still a secret", "a secret"]
        assert texts(ben) == ["for all of us", "for all"]
        then = {"a": ("for all", "")}
        long_ago = NOON - timedelta(days=9)
        at = ben._context.tables.versions.wordings_at(["a"], long_ago, ben._context.sees)
        assert at == then
        assert ben.undo("a").text == "for all"
        with pytest.raises(InvalidInput, match="namespace"):
            ben.undo("a")
        assert ann.undo("a").namespace == "user:ann"
        assert texts(ann)[0] == "still a secret"

    def test_a_move_to_a_collection_that_was_left_is_not_undone(self, people):
        """Who may not write there any more cannot put a memory there."""
        ann, ben, _ = people
        ben.add("one", id="a", collection="team")
        ben.update("a", namespace="user:ben", collection=None)
        ann.unshare("team", "ben")
        with pytest.raises(InvalidInput, match="namespace"):
            ben.undo("a")
        assert ben.get("a").namespace == "user:ben"


WORDINGS = [
    (-1, "one", "T"),
    (0, "one", "T"),
    (1, "one", "T"),
    (2, "two", "T"),
    (3, "two", "U"),
    (5, "one", "U"),
]


@pytest.fixture(params=["file", "postgres"])
def anywhere(request, tmp_path, clock):
    """An empty store in a file, and one in Postgres."""
    place = tmp_path / "a.db"
    if request.param == "postgres":
        place = request.getfixturevalue("postgres_url")
    with scrubjay.open(place, embedder=False, clock=clock) as store:
        yield store


def wordings(store, at, ids=("a",)):
    return store._context.tables.versions.wordings_at(ids, at, store._context.sees)


def test_the_text_and_title_at_a_time(anywhere, clock):
    """Only those that were not the present ones; in both databases, and in the same calls."""
    anywhere.add("one", id="a", title="T")
    anywhere.add("stays", id="b")
    for changes in ({"topics": ["x"]}, {"text": "two"}, {"title": "U"}, {}, {"text": "one"}):
        clock.advance(hours=1)
        anywhere.update("a", **changes)

    for hours, text, title in WORDINGS:
        at = NOON + timedelta(hours=hours)
        found = wordings(anywhere, at, ["a", "b", "nothing-there", "a"])
        assert found.get("a", ("one", "U")) == (text, title)
        assert "b" not in found
    assert wordings(anywhere, clock()) == {}
    assert happened(anywhere) == ["edited", "edited", "edited", "edited", "created"]
    assert [anywhere.undo("a").text for _ in range(3)] == ["two", "two", "one"]
    anywhere.forget("a")
    assert wordings(anywhere, NOON) == {}


def test_if_the_clock_went_back_the_text_written_last_counts(anywhere, clock):
    """Of those until then."""
    anywhere.add("one", id="a")
    clock.advance(hours=5)
    anywhere.update("a", text="two")
    clock.advance(hours=-2)
    anywhere.update("a", text="three")

    assert wordings(anywhere, NOON + timedelta(hours=4)) == {}
    assert wordings(anywhere, NOON + timedelta(hours=2)) == {"a": ("one", "")}


def test_versions_of_many_memories_at_once(words_only, clock):
    """More than one statement takes."""
    ids = [f"m{n}" for n in range(1500)]
    words_only.add_many({"id": id_, "text": f"old {id_}"} for id_ in ids)
    clock.advance(hours=1)
    words_only.add_many({"id": id_, "text": f"new {id_}"} for id_ in ids)

    found = wordings(words_only, NOON, ids)
    assert {id_: wording.text for id_, wording in found.items()} == {
        id_: f"old {id_}" for id_ in ids
    }


def _update(place, name, count):
    with scrubjay.open(place, embedder=False) as store:
        for n in range(count):
            store.update("a", text=f"{name} {n}")


def test_two_processes_that_update_the_same_memory_lose_nothing(anywhere):
    """Every text is a version, in the order of writing."""
    anywhere.add("first", id="a")
    context = multiprocessing.get_context("spawn")
    names = ("anna", "bert")
    others = [context.Process(target=_update, args=(anywhere.path, name, 15)) for name in names]
    for other in others:
        other.start()
    for other in others:
        other.join(120)
        assert other.exitcode == 0

    found = texts(anywhere)
    assert len(found) == 31
    for name in names:
        assert [text for text in found if text.startswith(name)] == [
            f"{name} {n}" for n in reversed(range(15))
        ]
    assert anywhere.undo("a").text == found[1]


def test_undo_of_a_memory_that_another_process_forgot(tmp_path):
    """It is not there any more."""
    with (
        scrubjay.open(tmp_path / "a.db", embedder=False) as one,
        scrubjay.open(tmp_path / "a.db", embedder=False) as other,
    ):
        one.add("one", id="a")
        one.update("a", text="two")
        other.forget("a")
        for verb in (one.undo, one.history):
            with pytest.raises(NotFound, match="no memory has the id 'a'"):
                verb("a")


def test_an_earlier_version_that_is_damaged_is_left_out(words_only):
    """The others are shown."""
    words_only.add("one", id="a")
    words_only.update("a", text="two")
    words_only.update("a", text="three")
    with words_only._context.db.write() as db:
        db.execute("UPDATE versions SET earlier = '{\"text\": ' WHERE n = 2")

    assert texts(words_only) == ["three", "one"]


def test_versions_follow_a_backup_and_a_move_to_postgres_and_back(tmp_path, postgres_url, clock):
    """With who changed what, and what can be undone."""
    from scrubjay.ops.promote.run import demote, promote

    place, copy, back = (tmp_path / name for name in ("a.db", "copy.db", "back.db"))
    with scrubjay.open(place, embedder=False, clock=clock, user="ann") as store:
        store.add("one \x1a0 \0", id="a")
        store.update("a", text="two", topics=["x"])
        store.update("a", text="three")
        store.undo("a")
        expected = store.history("a")
    with scrubjay.open(place, embedder=False) as store:
        store.backup(copy)
    promote(place, postgres_url)
    with scrubjay.open(postgres_url, embedder=False, clock=clock, user="ann") as store:
        assert store.history("a") == expected
    demote(postgres_url, back)
    for moved in (copy, back):
        with scrubjay.open(moved, embedder=False, clock=clock, user="ann") as store:
            assert store.history("a") == expected
            assert store.undo("a").text == "one \x1a0 \0"
