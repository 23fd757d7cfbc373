"""A text cut into parts: all of it, small enough, with the right lines."""

from __future__ import annotations

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.text.snippets import embedding_text
from scrubjay.text.tokens import estimate_tokens
from scrubjay.write.chunking import (
    ChunkSizes,
    split,
)

SOME = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "word ",
                "a longer sentence goes here. ",
                "\n",
                "\n\n",
                "# Heading\n",
                "日本語の文。",
                "x" * 90,
                " ",
            ]
        ),
        st.text(max_size=20),
    ),
    max_size=120,
).map("".join)
FORMATS = st.sampled_from(["text", "markdown", "rst", "pages", "chat"])


@given(text=SOME, format=FORMATS, most=st.sampled_from([20, 60, ChunkSizes().tokens]))
def test_every_visible_character_is_in_a_chunk(text, format, most):
    """Long text is split, never silently cut."""
    covered = set()
    for chunk in split(text, format, ChunkSizes(most, 25)):
        covered.update(range(chunk.start, chunk.stop))

    assert [
        at for at, letter in enumerate(text) if not letter.isspace() and at not in covered
    ] == []


@given(text=SOME, format=FORMATS, most=st.sampled_from([20, 60, ChunkSizes().tokens]))
def test_a_chunk_fits_and_has_something_in_it(text, format, most):
    """At most so many tokens by the estimate, beside what it repeats of the one before."""
    for chunk in split(text, format, ChunkSizes(most, 25)):
        passage = text[chunk.start : chunk.stop]
        repeated = passage[: ChunkSizes().overlap * 4]
        assert estimate_tokens(passage) <= most + estimate_tokens(repeated) + 1
        assert passage.strip() or not text.strip()


@given(text=SOME, format=FORMATS)
def test_lines_count_from_one_and_say_where_a_chunk_stands(text, format):
    """The first and the last line of what was cut out."""
    for chunk in split(text, format, ChunkSizes(30, 25)):
        assert chunk.first_line == text.count("\n", 0, chunk.start) + 1
        assert chunk.last_line == text.count("\n", 0, max(chunk.stop - 1, 0)) + 1


@given(text=SOME, format=FORMATS)
def test_chunks_are_numbered_in_order_and_go_forward(text, format):
    """Each begins and ends after the one before."""
    chunks = split(text, format, ChunkSizes(30, 25))

    assert [one.ordinal for one in chunks] == list(range(len(chunks)))
    assert chunks
    for before, after in pairwise(chunks):
        assert before.start < after.start <= before.stop or after.start >= before.stop
        assert before.stop < after.stop


def test_a_short_text_is_one_chunk():
    """With all of it."""
    assert [(one.start, one.stop) for one in split("a few words")] == [(0, 11)]


def test_neighbours_overlap_at_a_word():
    """So that a sentence across the cut is found from either side."""
    text = " ".join(f"word{n}" for n in range(600))
    chunks = split(text)

    assert len(chunks) > 3
    for before, after in pairwise(chunks):
        shared = before.stop - after.start
        assert ChunkSizes().overlap < shared <= ChunkSizes().overlap * 4
        assert text[after.start - 1] == " "


def test_markdown_is_cut_at_its_headings_with_the_trail_to_each():
    """A chunk knows the headings above it."""
    text = "intro\n# One\ntext\n## Deep\ntext\n# Two ##\ntext\n"

    chunks = split(text, "markdown")

    assert [one.heading for one in chunks] == ["", "One", "One › Deep", "Two"]
    assert [text[one.start : one.stop].split("\n")[0] for one in chunks] == [
        "intro",
        "# One",
        "## Deep",
        "# Two ##",
    ]


def test_a_heading_of_a_windows_file_has_no_carriage_return():
    """CRLF is not part of the heading."""
    assert [one.heading for one in split("# One\r\ntext\r\n# Two\r\n", "markdown")] == [
        "One",
        "Two",
    ]


@pytest.mark.parametrize("line", ["# a" + " " * 100_000 + "b", "# " + "#" * 100_000 + "x"])
def test_a_monstrous_heading_is_read_in_no_time(line):
    """No text makes the cutting take more than a moment."""
    started = process_time()
    split(line, "markdown")

    assert process_time() - started < 2


def test_headings_are_text_where_the_text_is_not_markdown():
    """A shell script's comments are not chapters."""
    assert [one.heading for one in split("# comment\necho")] == [""]


def test_a_wall_of_blanks_is_no_chunk():
    """A vector of nothing would be near to anything."""
    text = " " * 5000 + "word" + "\n" * 5000 + "end"

    assert all(text[one.start : one.stop].strip() for one in split(text))


def test_an_endless_word_is_cut():
    """A key or a line of base64 of 10,000 characters."""
    chunks = split("k" * 10_000)

    assert chunks[0].start == 0
    assert chunks[-1].stop == 10_000
    assert all(
        one.stop - one.start <= ChunkSizes().tokens * 4 + ChunkSizes().overlap * 4
        for one in chunks
    )


@pytest.mark.parametrize(
    ("text", "about"),
    [("", 0), ("word", 1), ("four words of text", 5), ("日本語", 3), ("Привет мир", 4)],
)
def test_tokens_are_estimated_by_script(text, about):
    """A character of an unspaced script is a token; four Latin letters are."""
    assert estimate_tokens(text) == about


@pytest.mark.parametrize(
    ("title", "heading", "context", "passage", "read"),
    [
        ("T", "H", "C", "text", "T\nH\nC\ntext"),
        ("T", "T", "", "text", "T\ntext"),
        ("", "", "", "text", "text"),
        ("Guide", "Guide", "", "# Guide\ntext", "# Guide\ntext"),
        ("Guide", "Setup", "", "## Setup\nnow", "Guide\n## Setup\nnow"),
    ],
)
def test_a_model_reads_title_heading_and_context_in_front(title, heading, context, passage, read):
    """R-11, GN-7: each once, and not again where the passage begins with it."""
    assert embedding_text(title, heading, context, passage) == read
