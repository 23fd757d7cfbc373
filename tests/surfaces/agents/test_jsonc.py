"""JSON with comments, edited in place."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.agents.jsonc import parse, remove_member, set_member

NOTE = re.compile(r"// note \d+|/\* last \*/")
PATH = ("mcpServers", "scrubjay")
ENTRY = {"command": "/bin/scrubjay", "args": ["mcp", "--db", "a [ x ].db"], "env": {}}
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FLOATS | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
SERVERS = st.dictionaries(st.text().filter(lambda name: name != "scrubjay"), VALUES, max_size=3)
SETTINGS = st.dictionaries(st.text(max_size=4), VALUES, max_size=3) | st.builds(
    lambda rest, servers: {**rest, "mcpServers": servers},
    st.dictionaries(st.text(max_size=4), VALUES, max_size=3),
    SERVERS,
)


def written(value, indent, newline, comments):
    """JSON in some layout, with a comment after each line that may have one, and trailing commas."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if indent is not None and comments and "\u2028" not in text:
        lines = [f"{line} // note {n}" for n, line in enumerate(text.split("\n"))]
        text = "\n".join(["// first", *lines, "/* last */", ""])
    return text.replace("\n", newline)


@given(
    SETTINGS,
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_only_the_member_is_added_and_removed(settings, indent, newline, comments):
    """Issue 27, item 1: every character of the file stays, in any layout, with comments."""
    text = written(settings, indent, newline, comments)
    expected = {**settings, "mcpServers": {**settings.get("mcpServers", {}), "scrubjay": ENTRY}}

    added = set_member(text, PATH, ENTRY)
    assert parse(added).value == expected
    rest = iter(added)
    assert all(character in rest for character in text), "a character was lost"
    assert set_member(added, PATH, ENTRY) == added

    removed = remove_member(added, PATH)
    assert parse(removed).value == {**settings, "mcpServers": settings.get("mcpServers", {})}
    assert NOTE.findall(removed) == NOTE.findall(text)
    if settings.get("mcpServers"):
        assert removed == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "scrubjay": 1\n  }\n}\n'),
        ("{}", '{\n  "mcpServers": {\n    "scrubjay": 1\n  }\n}'),
        ('{"a":1}', '{"a":1, "mcpServers": {"scrubjay": 1}}'),
        ('{"mcpServers":{}}', '{"mcpServers":{"scrubjay": 1}}'),
        (
            '{\n\t"mcpServers": {}\n}\n',
            '{\n\t"mcpServers": {\n\t\t"scrubjay": 1\n\t}\n}\n',
        ),
        (
            '{\n  "mcpServers": {\n    "a": {}, // mine\n  },\n}',
            '{\n  "mcpServers": {\n    "a": {}, // mine\n    "scrubjay": 1,\n  },\n}',
        ),
        (
            '{\n  "mcpServers": {\n    "a": {} // mine\n    // "b": {}\n  }\n}',
            '{\n  "mcpServers": {\n    "a": {}, // mine\n    "scrubjay": 1\n    // "b": {}\n  }\n}',
        ),
        (
            '{\n  "mcpServers": { // none yet\n  }\n}',
            '{\n  "mcpServers": { // none yet\n    "scrubjay": 1\n  }\n}',
        ),
    ],
)
def test_a_member_is_written_as_the_file_is(before, after):
    """Issue 27, item 1: indentation, trailing commas and one-line files are kept as they are."""
    assert set_member(before, PATH, 1) == after


def test_a_value_is_replaced_in_its_place():
    text = '{\n  "mcpServers": {\n    "scrubjay": {"command": "old"}, // ours\n    "b": 2\n  }\n}'

    changed = set_member(text, PATH, 1)
    assert changed == text.replace('{"command": "old"}', "1")
    assert remove_member(text, PATH) == text.replace(
        '    "scrubjay": {"command": "old"}, // ours\n', ""
    )


@given(st.text(alphabet='{}[]",: \n/*ab\\u0é1.-eE+tfn') | st.text())
def test_what_json_accepts_is_read_alike_and_nothing_crashes(text):
    """Issue 27, item 1: settings that are not valid JSON are named, with line and column."""
    try:
        expected = json.loads(text)
    except ValueError:
        with suppress(InvalidInput):  # comments and trailing commas are read
            parse(text)
        return
    if "Infinity" not in text and "NaN" not in text:
        assert parse(text).value == expected


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{"a": }', "line 1, column 7"),
        ('{"a": 1} x', "line 1, column 10"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 1 /* never', "does not end"),
        ("[" * 100_000, "deep"),
        ("1" * 5000, "cannot be read"),
    ],
)
def test_an_error_says_where(text, where):
    with pytest.raises(InvalidInput, match=where):
        parse(text)
