"""Lines of a text: ranges, ids with ranges, and what lies outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scrubjay
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.text.lines import LineCounter, cut_lines, parse_range, split_id


@pytest.mark.parametrize(
    ("given_range", "read"),
    [("10-40", (10, 40)), ("7", (7, 7)), ("3-", (3, None)), (" 1 - 2 ", (1, 2))],
)
def test_a_range_has_a_first_and_a_last_line(given_range, read):
    assert parse_range(given_range) == read


@pytest.mark.parametrize("wrong", ["", "-", "-4", "1-2-3", "a", "1.5", "1:2", "٣"])
def test_what_is_no_range_is_refused(wrong):
    with pytest.raises(InvalidInput, match="lines"):
        cut_lines("x", "one\ntwo\nthree", *parse_range(wrong))


@pytest.mark.parametrize(
    ("given_id", "parts"),
    [
        ("abc:10-40", ("abc", "10-40")),
        ("a:b:7", ("a:b", "7")),
        ("abc:3-", ("abc", "3-")),
        ("abc", ("abc", "")),
        (":3", (":3", "")),
        ("abc:x", ("abc:x", "")),
    ],
)
def test_an_id_may_end_with_a_range(given_id, parts):
    assert split_id(given_id) == parts


@given(st.lists(st.sampled_from(["a", "", "b\r", "  c "]), min_size=1), st.data())
def test_pieces_make_the_whole(lines, data):
    text = "\n".join(lines)
    count = cut_lines("x", text).total
    first = data.draw(st.integers(1, count))
    last = data.draw(st.integers(first, count + 3))
    part = cut_lines("x", text, first, last)
    assert part.text.split("\n") == text.split("\n")[first - 1 : part.last]
    assert (part.first, part.last) == (first, min(last, count))


@given(st.text("ab\n", min_size=1), st.data())
def test_the_line_of_a_place_is_counted_in_any_order(text, data):
    counter = LineCounter(text)
    for at in data.draw(st.lists(st.integers(0, len(text)))):
        assert counter.at(at) == text.count("\n", 0, at) + 1


def test_a_store_returns_lines_of_a_memory():
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add("one\ntwo\nthree\n", id="n")
        assert store.lines("n", 2) == ("n", "two\nthree", 2, 3, 3)
        assert store.lines("n", 2, 2).text == "two"
        assert store.lines("n").total == 3
        with pytest.raises(InvalidInput, match="3 lines"):
            store.lines("n", 4)
        with pytest.raises(NotFound):
            store.lines("nobody", 1)
