"""Headings and front matter."""

import pytest

from scrubjay.documents.markup import read_markdown
from scrubjay.text.markdown import front_matter, headings
from scrubjay.write.chunking import split


def heads(text):
    return [(one.level, one.text) for one in headings(text)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("# Plain", [(1, "Plain")]),
        ("### Closed ###", [(3, "Closed")]),
        ("# Learn C#", [(1, "Learn C#")]),
        ("# C#", [(1, "C#")]),
        ("#hashtag", []),
        ("####### seven", []),
        ("#", []),
        ("# ###", []),
    ],
)
def test_a_heading_is_up_to_six_hashes_and_a_space(line, found):
    """Closing hashes count only after a space."""
    assert heads(line) == found


def test_a_hash_in_a_code_block_is_no_heading():
    """Nor one in the front matter."""
    text = "---\n# note: x\n---\n# Real\n```sh\n# comment\n~~~\n# still code\n```\n## Next\n"
    assert heads(text) == [(1, "Real"), (2, "Next")]


def test_siblings_after_a_skipped_level_do_not_nest():
    """The trail above a chunk holds only headings that stand above it."""
    chunks = split("# A\none\n### C\ntwo\n### D\nthree\n## B\nfour\n", "markdown")
    assert [chunk.heading for chunk in chunks] == ["A", "A › C", "A › D", "A › B"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('---\ntitle: "From the front"\n---\n# Heading\n', "From the front"),
        ("---\ntags: [a]\n---\n# Heading\n", "Heading"),
        ("---\n\n# Heading\n\ntitle: nope\n", "Heading"),
        ("no heading at all\n", ""),
    ],
)
def test_a_title_is_the_front_matter_s_else_the_first_heading(text, found):
    """A rule that opens a text and is never closed is not front matter."""
    assert read_markdown(text).title == found


def test_front_matter_ends_where_the_text_begins():
    """Its own lines are given back without the rules around them."""
    text = "---\na: 1\nb: 2\n---\nText\n"
    block, goes_on = front_matter(text)
    assert (block, text[goes_on:]) == ("a: 1\nb: 2\n", "Text\n")
