"""What every store says of changes: which memory replaced which, and what detection needs."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from backends import a_memory, pieces

from scrubjay.storage.changes import Compared, SqlChanges
from scrubjay.times import micros
from scrubjay.types import Scope

EVERYTHING = Scope()
NOW = micros(datetime(2026, 5, 3, tzinfo=UTC))
MODEL = "fixed-2"


@pytest.fixture
def changes(backend):
    """Four memories, each a month later than the one before; z belongs to somebody else."""
    for month, id_ in enumerate("abcd", start=1):
        put(backend, id_, month)
    put(backend, "z", 5, namespace="theirs")
    return SqlChanges(backend.db)


def put(backend, id_, month, text="text", **fields):
    memory = a_memory(id_, **fields)
    at = datetime(2026, month, 1, tzinfo=UTC)
    memory = memory._replace(text=f"{text} {id_}", content_hash=f"{text} {id_}", created_at=at)
    backend.records.put(memory, pieces(f"{text} {id_}"))


def embed(backend, *ids):
    backend.activate(MODEL, 2)
    backend.embed(MODEL, {id_: [np.array([1, 0], np.float32)] for id_ in ids})


def detect(changes, new, old, strength=0.9):
    """Queue everything, and say that one memory updates another."""
    [of] = [one for one in changes.waiting(MODEL, 100) if one.id == new]
    return changes.put([Compared(of, {old: strength})], NOW)


def pairs(changes, ids, scope=EVERYTHING, valid_us=NOW):
    return {(one.new, one.old) for one in changes.around(ids, scope, valid_us)}


class TestLinks:
    def test_a_store_without_such_links_says_so(self, backend, changes):
        """Other links do not count."""
        backend.graph.link("a", "b", 1.0, "related")
        assert changes.is_empty()

        backend.graph.link("b", "a", 1.0, "supersedes")
        assert not changes.is_empty()

    def test_a_chain_is_followed_both_ways(self, backend, changes):
        """From any of its memories."""
        for new, old in ("ba", "cb", "dc"):
            backend.graph.link(new, old, 1.0, "supersedes")

        for id_ in "abcd":
            assert pairs(changes, [id_]) == {("b", "a"), ("c", "b"), ("d", "c")}
        assert pairs(changes, ["z"]) == set()

    def test_a_circle_ends(self, backend, changes):
        """Each link once."""
        for new, old in ("ba", "cb", "ac"):
            backend.graph.link(new, old, 1.0, "supersedes")

        assert pairs(changes, ["a"]) == {("b", "a"), ("c", "b"), ("a", "c")}

    def test_only_what_the_scope_sees_is_followed(self, backend, changes):
        """A memory of somebody else, and one that was stored later than asked for."""
        backend.graph.link("b", "a", 1.0, "supersedes")
        backend.graph.link("z", "b", 1.0, "supersedes")
        mine = Scope(namespaces=("default",))

        assert pairs(changes, ["a"], mine) == {("b", "a")}
        assert pairs(changes, ["a"], Scope(until=datetime(2026, 1, 15, tzinfo=UTC))) == set()

    def test_what_is_not_valid_yet_replaces_nothing(self, backend, changes):
        """Until it begins."""
        put(backend, "b", 2, valid_from=datetime(2026, 6, 1, tzinfo=UTC))
        backend.graph.link("b", "a", 1.0, "supersedes")

        assert pairs(changes, ["a"]) == set()
        assert pairs(changes, ["a"], valid_us=micros(datetime(2026, 6, 2, tzinfo=UTC))) == {
            ("b", "a")
        }

    def test_links_are_listed_latest_first(self, backend, changes):
        """With their kind, strength and maker; since a time, and only those that are seen."""
        backend.graph.link("b", "a", 0.4, "updates", NOW - 5)
        backend.graph.link("z", "d", 1.0, "supersedes", NOW)

        [last, first] = changes.changes(EVERYTHING)
        assert (last.new, last.old, last.kind, last.by_hand) == ("z", "d", "supersedes", True)
        assert (first.new, first.old, first.strength) == ("b", "a", 0.4)
        assert micros(first.made_at) == NOW - 5
        assert [one.new for one in changes.changes(EVERYTHING, NOW - 4)] == ["z"]
        assert [one.new for one in changes.changes(Scope(namespaces=("default",)))] == ["b"]

    def test_a_link_that_says_no_time_was_made_with_its_newer_memory(self, backend, changes):
        """Of a store that is older than the column."""
        backend.graph.link("b", "a", 1.0, "supersedes")

        assert changes.changes(EVERYTHING)[0].made_at == datetime(2026, 2, 1, tzinfo=UTC)

    def test_the_name_from_the_other_end_is_understood(self, backend, changes):
        """By link, unlink, and where links are shown."""
        backend.graph.link("a", "b", 0.7, "updated by")

        assert [link.kind for link in backend.graph.links("b", EVERYTHING)] == ["updates"]
        assert [link.kind for link in backend.graph.links("a", EVERYTHING)] == ["updated by"]
        assert backend.graph.unlink("a", "b", "updated by") == 1


class TestDetection:
    @pytest.fixture(autouse=True)
    def activated(self, backend, changes):
        changes.activate()
        embed(backend, *"abcdz")

    def test_memories_are_compared_oldest_first(self, backend, changes):
        """All that were there, and each new one once it has a vector."""
        put(backend, "e", 6)

        assert [one.id for one in changes.waiting(MODEL, 3)] == ["a", "b", "c"]
        assert changes.left(MODEL) == 5
        assert changes.left(MODEL, most=2) == 2
        assert changes.left(MODEL, Scope(namespaces=("theirs",))) == 1
        embed(backend, "e")
        assert changes.left(MODEL) == 6

    def test_a_memory_that_was_compared_is_not_compared_again(self, backend, changes):
        """Until its text changes: then its detected links are gone, those by hand stay."""
        backend.graph.link("c", "a", 1.0, "supersedes")
        assert detect(changes, "b", "a") == 1
        assert changes.compared(list("ab")) == {"b"}
        [change] = [one for one in changes.changes(EVERYTHING) if one.kind == "updates"]
        assert (change.new, change.old, change.strength, change.by_hand) == ("b", "a", 0.9, False)

        put(backend, "a", 1, text="another")

        assert [one.kind for one in changes.changes(EVERYTHING)] == ["supersedes"]
        assert changes.compared(list("ab")) == {"b"}

    def test_a_result_for_a_text_that_has_changed_is_not_stored(self, backend, changes):
        """The memory waits to be compared again."""
        [of] = [one for one in changes.waiting(MODEL, 9) if one.id == "b"]
        put(backend, "b", 2, text="another")

        assert changes.put([Compared(of, {"a": 0.9})], NOW) == 0
        assert changes.compared(["b"]) == set()

    @pytest.mark.parametrize("old", ["c", "b", "z"])
    def test_no_memory_updates_a_later_one_itself_or_one_of_somebody_else(self, changes, old):
        """Whatever a detector says; it counts as compared."""
        assert detect(changes, "b", old) == 0
        assert changes.changes(EVERYTHING) == []
        assert changes.compared(["b"]) == {"b"}

    def test_a_later_memory_may_update_one_that_arrives_after_it(self, changes):
        """Old memories are imported, too."""
        [of] = [one for one in changes.waiting(MODEL, 9) if one.id == "a"]
        changes.put([Compared(of, {}, {"c": 0.8})], NOW)

        assert [one[:4] for one in changes.changes(EVERYTHING)] == [("c", "a", "updates", 0.8)]

    @pytest.mark.parametrize("kind", ["updates", None])
    def test_a_link_that_was_removed_is_not_made_again(self, backend, changes, kind):
        """Not even after the text changed; a link by hand is."""
        detect(changes, "b", "a")
        assert backend.graph.unlink("b", "a", kind) == 1
        assert changes.refused(["a"]) == changes.refused(["b"]) == {frozenset("ab")}

        put(backend, "b", 2, text="another")
        embed(backend, "b")
        assert detect(changes, "b", "a") == 0

        backend.graph.link("b", "a", 0.9, "updates")
        assert changes.refused(["a"]) == set()
        assert changes.changes(EVERYTHING)[0].by_hand

    def test_a_pair_may_be_refused_before_it_is_compared(self, backend, changes):
        """The detection of a moment later respects it."""
        assert backend.graph.unlink("a", "b", "updates") == 0
        assert detect(changes, "b", "a") == 0

    @pytest.mark.parametrize(("new", "old"), ["ba", "ab"])
    def test_a_link_by_hand_is_left_alone(self, backend, changes, new, old):
        """In either direction."""
        backend.graph.link(new, old, 1.0, "supersedes")

        assert detect(changes, "b", "a") == 0
        assert [one.kind for one in changes.changes(EVERYTHING)] == ["supersedes"]

    def test_a_memory_that_moves_is_compared_again(self, backend, changes):
        """Its links to memories of its former namespace are gone."""
        detect(changes, "b", "a")
        put(backend, "b", 2, namespace="theirs")

        assert changes.changes(EVERYTHING) == []
        assert changes.compared(["b"]) == set()

    def test_a_forgotten_memory_takes_its_changes_along(self, backend, changes):
        """Links, place in the queue and refusals."""
        detect(changes, "b", "a")
        backend.graph.unlink("c", "b", "updates")
        backend.records.delete(["b"])

        assert changes.is_empty()
        assert changes.refused(list("abc")) == set()
