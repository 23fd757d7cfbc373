"""Changes are detected in the background: a later memory that says something else about the same matter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from clocks import Clock
from fakes import BrokenEmbedder, HashingEmbedder

import scrubjay
from scrubjay.models.registry import load_reader

UPDATES = [
    ("The staging database runs on port 5432", "The staging database now runs on port 5433"),
    ("The release deadline is 3 March", "The release deadline was moved to 10 March"),
    ("I work as a designer at Acme", "I left Acme and now work at Globex"),
    (
        "The API rate limit is 100 requests per minute",
        "We raised the API rate limit to 500 requests per minute",
    ),
    ("My favourite editor is Vim", "I switched from Vim to Helix as my editor"),
    (
        "Bob is the owner of the billing service",
        "Carla has taken over the billing service from Bob",
    ),
    (
        "My gym membership costs 40 euros a month",
        "My gym raised the membership to 55 euros a month",
    ),
    ("The project is written in Python 3.9", "The project was upgraded to Python 3.12"),
    (
        "The budget for the offsite is 5,000 euros",
        "The offsite budget was cut to 3,000 euros",
    ),
    (
        "Our main customer contact at Initech is Peter",
        "Peter has left Initech; our contact there is now Samir",
    ),
    ("The server rack is in room 204", "The server rack was moved to room 310"),
    ("The heating is set to 21 degrees", "The heating was turned down to 19 degrees for good"),
]
NO_UPDATES = [
    ("My dog is called Rex", "Rex was at the vet today"),
    ("I live in Berlin", "I spent the weekend in Hamburg with friends"),
    (
        "The checkout database runs on port 6000",
        "The analytics database runs on port 7000",
    ),
    (
        "The weekly sync is on Tuesday at 10",
        "This week's sync is cancelled because of the holiday",
    ),
    (
        "The tax return is due on 31 July",
        "Everybody asked about the tax return in the meeting",
    ),
    ("I like tea", "I like coffee, too"),
    ("Anna's phone number is 0171 555 201", "Ben's phone number is 0160 333 777"),
    (
        "We use Jenkins for continuous integration",
        "Jenkins was down for an hour this morning",
    ),
    ("Dora is the owner of the search service", "Dora fixed a bug in the search service"),
    ("Backups are kept for 30 days", "Backups are stored in the Frankfurt region"),
    ("Max is vegetarian", "Max is allergic to peanuts"),
    ("My sister lives in Oslo", "My brother lives in Bergen"),
]
EXPECTED = {(f"{n}new", f"{n}old") for n in range(len(UPDATES))}
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def store(tmp_path, reader, monkeypatch):
    """A store with the bundled models, and nothing in it."""
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    with scrubjay.open(tmp_path / "notes.db", clock=Clock(START + timedelta(days=400))) as store:
        yield store


def days(n):
    return START + timedelta(days=n)


def tell(store, *texts, first=0, **fields):
    """Store texts a month apart; their ids are their places."""
    store.add_many(
        {"text": text, "id": f"{n}", "created_at": days(30 * n), **fields}
        for n, text in enumerate(texts, start=first)
    )
    assert store.pending(timeout_s=120) == 0


def found(store, least=0.5):
    """The links from which a search puts the older memory below the newer one."""
    return {(one.new, one.old) for one in store.changes() if one.strength >= least}


class TestWhatIsFound:
    def test_twelve_updates_are_found_and_twelve_others_are_left(self, store):
        """All of them in one store, with one another as neighbors."""
        pairs = [("u", UPDATES), ("n", NO_UPDATES)]
        store.add_many(
            {"text": text, "id": f"{kind}{n}{which}", "created_at": days(n + 60 * later)}
            for kind, those in pairs
            for n, (old, new) in enumerate(those)
            for later, (which, text) in enumerate((("old", old), ("new", new)))
        )
        assert store.pending(timeout_s=120) == 0

        assert found(store) == {(f"u{n}new", f"u{n}old") for n in range(len(UPDATES))}
        for change in store.changes():
            assert (change.kind, change.by_hand) == ("updates", False)
            assert 0.3 <= change.strength <= 1
            assert change.made_at == days(400)

    def test_turns_of_a_dialogue_need_more_evidence(self, store):
        """They lean on their neighbors, and speak of the same matters again and again."""
        said = [
            "Anna lives in Berlin",
            "How nice",
            "Tea?",
            "Yes, please",
            "Anna has a flat in Porto",
        ]
        store.add_messages(
            {"text": text, "session": "chat", "role": "user", "at": days(n)}
            for n, text in enumerate(said)
        )
        assert store.pending(timeout_s=120) == 0
        assert store.changes() == []

        store.add_messages({"text": said[n], "session": f"s{n}", "at": days(n)} for n in (0, 4))
        assert store.pending(timeout_s=120) == 0
        assert len(store.changes()) == 1

    def test_a_chain_is_linked_step_by_step(self, store):
        tell(
            store,
            "The server rack is in room 204",
            "The server rack was moved to room 310",
            "The server rack was moved to room 415",
        )
        assert {("1", "0"), ("2", "1")} <= found(store)

    def test_a_return_to_the_first_state_updates_the_second(self, store):
        tell(
            store,
            "Bob is the owner of the billing service",
            "Carla has taken over the billing service from Bob",
            "Bob has taken over the billing service from Carla again",
        )
        assert {("1", "0"), ("2", "1")} <= found(store)

    def test_a_temporary_state_replaces_nothing_for_good(self, store):
        tell(
            store,
            "The office is on the third floor",
            "For the painters' sake we work on the fifth floor until Friday",
        )
        assert found(store) == set()

    def test_an_older_memory_that_is_stored_late_is_updated_by_the_later_one(self, store):
        """The time of creation decides, not the order of writing."""
        old, new = UPDATES[1]
        store.add(new, id="new", created_at=days(60))
        store.pending()
        store.add(old, id="old", created_at=days(0))
        assert store.pending(timeout_s=120) == 0

        assert found(store) == {("new", "old")}

    def test_a_search_asks_what_holds_now(self, store):
        """The link is used as soon as it is there."""
        tell(store, *UPDATES[8])
        hits = store.search("What is the budget for the offsite?").hits

        assert hits[0].id == "1"
        assert "0" in hits[0].supersedes or hits[1].superseded_by == "1"


class TestWhatIsNotCompared:
    @pytest.mark.parametrize(
        "fields",
        [
            {"type": "document"},
            {"namespace": "elsewhere"},
            {"created_at": days(0)},
            {"text": "x" * 900 + " The release deadline was moved to 10 March" + " y" * 100},
            {"text": "Was the release deadline moved to 10 March?"},
            {"owner": "ann"},
            {"role": "assistant"},
            {"text": "The release deadline is 3 March!", "type": "decision"},
        ],
    )
    def test_another_place_speaker_or_kind(self, store, fields):
        old, new = UPDATES[1]
        store.add(old, id="old", created_at=days(0), owner="bob", role="user")
        store.add_many([{"text": new, "id": "new", "created_at": days(9), **fields}])
        assert store.pending(timeout_s=120) == 0

        assert found(store) == set()

    def test_messages_of_one_breath(self, store):
        old, new = UPDATES[1]
        store.add_message(old, session="s", at=START)
        store.add_message(new, session="s", at=START + timedelta(seconds=5))
        store.add_message(new.replace("10", "12"), session="s", at=START + timedelta(days=5))
        assert store.pending(timeout_s=120) == 0

        olds = {store.get(change.old).text for change in store.changes()}
        assert old in olds
        assert len({change.new for change in store.changes()}) == 1

    def test_few_pairs_are_read_however_many_are_near(self, store, reader, monkeypatch):
        """A hundred like memories are not compared with a hundred each."""
        read = []
        relations = type(reader).relations

        def counted(self, pairs):
            read.extend(pairs)
            return relations(self, pairs)

        monkeypatch.setattr(type(reader), "relations", counted)
        tell(store, *(f"The rack number {n} is in room {n + 200}" for n in range(60)))

        assert 0 < len(read) <= 2 * 60


class TestTombstones:
    def test_a_link_that_was_removed_is_not_made_again(self, store):
        tell(store, *UPDATES[1])
        assert store.unlink("1", "0", kind="updates") == 1
        store.update("1", text="The release deadline was moved to 12 March")
        store.update("0", text="The release deadline is 4 March")
        assert store.pending(timeout_s=120) == 0

        assert found(store) == set()

    def test_a_changed_text_is_compared_again(self, store):
        tell(store, UPDATES[1][0], "Nobody knows when the museum opens")
        assert found(store) == set()
        store.update("1", text=UPDATES[1][1])
        assert store.pending(timeout_s=120) == 0
        assert found(store) == {("1", "0")}

        store.update("1", text="Nobody knows when the museum opens")
        assert store.pending(timeout_s=120) == 0
        assert found(store) == set()

    def test_a_link_by_hand_stays(self, store):
        store.add(UPDATES[1][0], id="0", created_at=days(0))
        store.add(UPDATES[1][1], id="1", created_at=days(30))
        store.link("1", "0", kind="supersedes")
        assert store.pending(timeout_s=120) == 0

        assert [change.by_hand for change in store.changes()] == [True]

    def test_what_is_forgotten_is_in_no_queue(self, store):
        tell(store, *UPDATES[1])
        store.forget("0")
        assert found(store) == set()
        assert store.pending(wait=False) == 0


WORKS = """
import sys, time, scrubjay
from scrubjay.storage.changes import SqlChanges
put = SqlChanges.put
def put_and_stop(self, *arguments):
    put(self, *arguments)
    print("put", flush=True)
    time.sleep(120)
if "stop" in sys.argv:
    SqlChanges.put = put_and_stop
with scrubjay.open(sys.argv[1]) as store:
    store.pending(timeout_s=120)
    print("done", flush=True)
"""


class TestProcesses:
    def fill(self, path):
        with scrubjay.open(path, clock=Clock(days(400))) as store:
            store._context.embedding.changes = None  # a process that ends before it compares
            store.add_many(
                {"text": text, "id": f"{n}{which}", "created_at": days(n + 60 * later)}
                for n, (old, new) in enumerate(UPDATES)
                for later, (which, text) in enumerate((("old", old), ("new", new)))
            )
            store.pending(further=False)
            store._context.tables.changes.activate()

    def work(self, path, *how):
        return subprocess.Popen(
            [sys.executable, "-c", WORKS, str(path), *how],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def test_two_processes_make_the_same_links(self, tmp_path, reader, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        path = tmp_path / "notes.db"
        self.fill(path)
        both = [self.work(path) for _ in range(2)]
        assert [process.communicate(timeout=300)[0].split()[-1] for process in both] == [
            "done",
            "done",
        ]
        with scrubjay.open(path) as store:
            assert store.pending(wait=False) == 0
            assert found(store) == EXPECTED

    def test_what_a_killed_process_left_is_compared_by_the_next(
        self, tmp_path, reader, monkeypatch
    ):
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        path = tmp_path / "notes.db"
        self.fill(path)
        process = self.work(path, "stop")
        assert process.stdout.readline() == "put\n"
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with scrubjay.open(path) as store:
            assert 0 < store.status().uncompared < 2 * len(UPDATES)
            assert store.pending(timeout_s=120) == 0
            assert found(store) == EXPECTED


class TestWithoutTheModel:
    def test_nothing_is_queued_and_the_status_says_so(self, tmp_path):
        with scrubjay.open(tmp_path / "a.db", embedder=HashingEmbedder()) as store:
            store.add("The deadline is 3 March")
            store.add("The deadline is 10 March")
            assert store.pending() == 0
            state = store.status()
            assert (state.uncompared, store.changes()) == (0, [])
            assert "scrubjay-models" in state.why_uncompared

    def test_the_model_that_comes_later_compares_what_is_stored(
        self, tmp_path, monkeypatch, request
    ):
        with scrubjay.open(tmp_path / "a.db", embedder=HashingEmbedder()) as store:
            tell(store, "the release deadline is 3 march", "the release deadline is 10 march now")
        request.getfixturevalue("reader")
        with scrubjay.open(tmp_path / "a.db", embedder=HashingEmbedder()) as store:
            assert store.pending(timeout_s=120) == 0
            assert store.status().why_uncompared == ""
            assert found(store) == {("1", "0")}

    def test_another_profile_does_not_look_for_changes(self, tmp_path, reader):
        with scrubjay.open(
            tmp_path / "a.db", embedder=HashingEmbedder(), profile="gnosis"
        ) as store:
            store.add("The deadline is 3 March")
            assert store.pending() == 0
            assert store._context.embedding.changes is None
            assert store.status().why_uncompared == ""

    def test_a_model_that_fails_stops_the_work_with_a_reason(self, tmp_path, reader, monkeypatch):
        with scrubjay.open(tmp_path / "a.db", embedder=HashingEmbedder()) as store:
            with monkeypatch.context() as broken:
                broken.setattr(type(load_reader()), "relations", BrokenEmbedder().embed)
                store.add("the release deadline is 3 march", id="0", created_at=days(0))
                store.add("the release deadline is 10 march now", id="1", created_at=days(9))
                assert store.pending(timeout_s=60) > 0
                assert store.status().why_uncompared
                assert store.status().uncompared > 0
            assert store.pending(timeout_s=60) == 0
            assert found(store) == {("1", "0")}


def test_postgres_finds_the_same(postgres_url, reader, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    with scrubjay.open(postgres_url, clock=Clock(days(400))) as store:
        tell(store, *UPDATES[1], *NO_UPDATES[3])
        assert found(store) == {("1", "0")}
