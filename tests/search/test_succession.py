"""Which memory replaced which, without circles, and an order among them."""

from __future__ import annotations

from datetime import UTC, datetime

from scrubjay.search.succession import Order, succession
from scrubjay.types.changes import Replacement


def link(pair, strength=1.0, by_hand=True):
    """`ba` says that b, stored a month after a, replaced it."""
    new, old = pair
    at = [datetime(2026, ord(id_) - 96, 1, tzinfo=UTC) for id_ in pair]
    kind = "supersedes" if by_hand else "updates"
    return Replacement(new, old, kind, strength, by_hand, *at)


def line(*pairs, least=0.5):
    return succession(
        [link(pair) if isinstance(pair, str) else link(*pair) for pair in pairs], least
    )


class TestSuccession:
    def test_a_chain_ends_at_its_last_memory(self):
        """Whatever the order of the links."""
        found = line("ba", "dc", "cb")

        assert found.ends("a", "abcd") == ["d"]
        assert found.ends("a", "abc") == ["c"]
        assert found.ends("d", "abcd") == []
        assert found.latest_of(found.older["d"]) == ["c", "b", "a"]

    def test_a_circle_ends_at_its_newest_memory(self):
        """Of two, of three, and with a memory before and after it."""
        assert line("ba", "ab").ends("a", "ab") == ["b"]
        assert line("ba", "ab").ends("b", "ab") == []
        three = line("ac", "cb", "ba")
        assert [three.ends(id_, "abc") for id_ in "abc"] == [["c"], ["c"], []]
        more = line("ba", "cb", "bc", "dc")
        assert [more.ends(id_, "abcd") for id_ in "abcd"] == [["d"], ["d"], ["d"], []]

    def test_two_successors_both_stand_for_what_they_replaced(self):
        """The latest first."""
        assert line("ba", "ca").ends("a", "abc") == ["c", "b"]

    def test_a_link_by_hand_refutes_a_detected_one(self):
        """In the other direction."""
        found = line("ab", ("ba", 0.9, False))
        assert found.ends("b", "ab") == ["a"]

    def test_weak_links_do_not_count(self):
        """Below the least strength; a stricter succession has fewer links."""
        found = line(("ba", 0.4, False), ("cb", 0.6, False), ("dc", 0.9, False))
        assert "a" not in found.newer
        assert found.ends("b", "bcd") == ["d"]
        assert found.within(0.8).ends("b", "bcd") == []
        assert found.within(0.8).ends("c", "bcd") == ["d"]


class TestOrder:
    def test_the_better_of_both_places_is_that_of_the_higher_one(self):
        """The other one stands where it was, or just below."""
        order = Order()
        order.add("b", "a")
        placed = order.placed({"a": 0.9, "b": 0.1, "x": 0.5}, 0.01)
        assert placed == {"a": 0.89, "b": 0.9, "x": 0.5}
        assert order.placed({"a": 0.1, "b": 0.9}, 0.01) == {"a": 0.1, "b": 0.9}

    def test_a_contradiction_is_ignored(self):
        """What was said first counts."""
        order = Order()
        for high, low in ("ba", "cb", "ac"):
            order.add(high, low)
        placed = order.placed(dict.fromkeys("abc", 0.5), 0.1)
        assert sorted("abc", key=placed.__getitem__) == ["a", "b", "c"]
