"""Blocks of postings: what is written is read, by `array` and by numpy, and damage is noticed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.storage.sqlite.postings import bulk, merging, pages, tables
from scrubjay.storage.sqlite.postings.arithmetic import Norm, Plain
from scrubjay.storage.sqlite.postings.blocks import (
    MAX_POSTINGS,
    DamagedBlock,
    blocks_of,
    decode,
    encode,
    without,
)
from scrubjay.storage.sqlite.postings.vectors import Vectors

COUNTS = st.tuples(*[st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 1 << 33))] * 5)
LENGTHS = st.one_of(st.integers(1, 255), st.integers(1, 1 << 33))
POSTINGS = st.dictionaries(
    st.one_of(st.integers(1, 600), st.integers(1, 1 << 40)),
    st.tuples(COUNTS, LENGTHS),
    min_size=1,
    max_size=40,
).map(lambda found: [(n, *found[n]) for n in sorted(found)])
NORM = Norm((3.0, 1.0, 2.0, 0.5, 0.0), 10.0)


@given(POSTINGS)
def test_what_is_written_is_read(postings):
    """R-9: gaps, counts and lengths of any size."""
    block = encode(postings)

    assert decode(block).postings == postings
    assert (block.first, block.last, block.size) == (
        postings[0][0],
        postings[-1][0],
        len(postings),
    )


@given(st.lists(POSTINGS, min_size=1, max_size=4))
def test_numpy_reads_the_same_as_lists(several):
    """R-9: blocks of different widths at once."""
    blocks = [encode(postings) for postings in several]

    plain, vectors = Plain().decode(blocks, NORM), Vectors().decode(blocks, NORM)

    read = sorted(zip(*(column.tolist() for column in vectors), strict=True))
    right = sorted(zip(*plain, strict=True))
    assert len(read) == len(right)
    for one, other in zip(read, right, strict=True):
        assert one == pytest.approx(other)


@given(st.lists(st.lists(POSTINGS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_numpy_joins_blocks_as_lists_do(groups):
    """R-9: the same postings, in as many blocks."""
    apart = [
        [encode([(n * 4 + at, *rest) for n, *rest in part]) for at, part in enumerate(group)]
        for group in groups
    ]

    by_lists, by_numpy = merging._joined(apart), bulk.joined(apart)

    assert [[decode(one).postings for one in group] for group in by_numpy] == [
        [decode(one).postings for one in group] for group in by_lists
    ]


@given(
    st.dictionaries(
        st.integers(1, 1 << 40),
        st.lists(st.text('abé "', max_size=12), min_size=5, max_size=5),
        min_size=1,
        max_size=30,
    )
)
def test_numpy_makes_the_segment_that_lists_make(lines):
    """R-9: the same tokens, in the same order, with the same postings."""
    rows = [(n, *lines[n]) for n in sorted(lines)]

    by_lists, by_numpy = tables.segment_of(rows), bulk.segment_of(rows)

    assert held(by_numpy) == held(by_lists)


def held(written):
    """The postings by token."""
    of_pages, blocks = written
    found = [one for page in of_pages for one in pages.decode(page.data).postings()]
    assert found == sorted(found)
    for page in of_pages:
        tokens = list(pages.decode(page.data).postings())
        assert page.token == tokens[0][0]
        assert [pages.find(page.data, token) for token, _ in tokens] == [of for _, of in tokens]
        assert pages.find(page.data, "none") == []
    large = {}
    for token, block in blocks:
        large.setdefault(token, []).extend(decode(block).postings)
    return {**dict(found), **large}


TOKENS = st.dictionaries(st.text("abcé", min_size=1, max_size=3), POSTINGS, min_size=1, max_size=9)


@given(st.lists(TOKENS, min_size=1, max_size=4), st.sets(st.text("abcé", max_size=2)))
def test_numpy_unites_pages_as_lists_do(several, apart):
    """R-9: the same tokens on pages, and the same in blocks."""
    written = [
        pages.encode(
            [(token, [(4 * n + at, *rest) for n, *rest in of[token]]) for token in sorted(of)]
        ).data
        for at, of in enumerate(several)
    ]

    by_lists, by_numpy = merging._united(written, apart), bulk.united(written, apart)

    assert held(by_lists) == held(by_numpy)
    assert {token for token, _ in by_lists[1]} == {token for token, _ in by_numpy[1]}


@given(TOKENS, st.data())
def test_what_is_taken_out_of_a_page_is_gone_with_its_tokens(of, data):
    """Of a token that no memory holds any more, nothing stays in the bytes."""
    page = pages.encode([(token, of[token]) for token in sorted(of)])
    gone = {
        token: set(data.draw(st.lists(st.sampled_from([0, *(n for n, *_ in of[token])]))))
        for token in of
    }
    right = {
        token: kept
        for token in of
        if (kept := [one for one in of[token] if one[0] not in gone[token]])
    }

    left = pages.without(page, gone)

    assert (held(([left], [])) if left is not None else {}) == right


@given(TOKENS, st.text("abcé", max_size=2))
def test_a_page_is_parted_at_a_token(of, token):
    """What is before it, and the rest."""
    page = pages.encode([(token, of[token]) for token in sorted(of)])

    parts = pages.parts(page, token)

    assert held((parts, [])) == of
    assert [part.token < token for part in parts] == sorted(
        {one < token for one in of}, reverse=True
    )


@given(st.integers(0, 10**4), st.integers(1, 255))
def test_a_changed_byte_of_a_page_is_noticed(at, change):
    """Wherever it is."""
    page = pages.encode([(f"t{n}", [(n + 1, (0, 1, 0, 0, 0), 9)]) for n in range(100, 150)])
    changed = bytearray(page.data)
    changed[at % len(changed)] ^= change

    with pytest.raises(DamagedBlock):
        pages.decode(bytes(changed))


def test_a_text_that_repeats_a_word_thousands_of_times_is_counted():
    """R-9: with numpy, whose counts have a limit, too."""
    rows = [(1, "", "hey " * 5000, "", "", "one"), (2, "hey", "you", None, "", "two")]

    assert held(bulk.segment_of(rows))["hey"] == [
        (1, (0, 5000, 0, 0, 0), 5001),
        (2, (1, 0, 0, 0, 0), 3),
    ]


def test_a_large_block_is_written_as_small_ones_are_by_numpy_and_lists():
    """R-9: past the largest size of a block, with different counts."""
    postings = [(3 * n, (n % 3, 1, 0, 0, n % 2), n % 900 + 1) for n in range(1, 9000)]

    (made,) = bulk.joined([[encode([one]) for one in postings]])

    assert [block.size for block in made] == [block.size for block in blocks_of(postings)]
    assert [one for block in made for one in decode(block).postings] == postings


def test_many_postings_need_several_blocks():
    """No block has more than the most."""
    postings = [(n, (0, 1, 0, 0, 0), 7) for n in range(1, 2 * MAX_POSTINGS + 2)]

    blocks = blocks_of(postings)

    assert [block.size for block in blocks] == [MAX_POSTINGS, MAX_POSTINGS, 1]
    assert [one for block in blocks for one in decode(block).postings] == postings


@given(st.integers(0, 99), st.integers(1, 255))
def test_a_changed_byte_of_a_large_block_is_noticed(at, change):
    """By every search. `verify` compares small ones with their lines."""
    block = encode([(n, (0, n % 2, 0, 0, 0), n % 7 + 1) for n in range(1, 100)])
    changed = bytearray(block.body)
    changed[at] ^= change

    for read in (decode, lambda one: Vectors().decode([one], NORM)):
        with pytest.raises(DamagedBlock):
            read(block._replace(body=bytes(changed)))


@pytest.mark.parametrize("arithmetic", [Plain(), Vectors()], ids=["lists", "numpy"])
def test_a_block_that_is_cut_off_or_missing_is_damage_when_it_is_searched(arithmetic):
    """Never a silent loss of hits."""
    block = encode([(n, (0, n % 3 + 1, 0, 0, 0), 9) for n in range(1, 50)])

    for body in (block.body[:-1], b"", block.body + b"\0"):
        with pytest.raises(DamagedBlock):
            arithmetic.decode([block._replace(body=body)], NORM)
    for head in (b"", block.head[:5], b"\xff" * len(block.head)):
        with pytest.raises(DamagedBlock):
            arithmetic.decode([block._replace(head=head)], NORM)
    with pytest.raises(DamagedBlock):
        arithmetic.decode([block._replace(span=block.span + 1)], NORM)


@given(POSTINGS, st.data())
def test_what_is_taken_out_is_gone_and_the_rest_stays(postings, data):
    """One memory, several, all of them, or one that is not there."""
    numbers = [n for n, _, _ in postings]
    gone = set(data.draw(st.lists(st.sampled_from([*numbers, 0]), min_size=1, max_size=3)))

    left = without(encode(postings), gone)

    assert [one for block in left for one in decode(block).postings] == [
        posting for posting in postings if posting[0] not in gone
    ]
