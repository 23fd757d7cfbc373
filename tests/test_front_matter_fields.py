"""What a document's front matter says of it as an entry: taken, followed, and never a reason to fail."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scrubjay.documents.front_entry import MOST_CHARS


@pytest.fixture
def put(words_only, tmp_path):
    """Write a note with this front matter, read it, and return what became of it."""
    notes = tmp_path / "notes"
    notes.mkdir()

    def note(front, text="Telling words."):
        (notes / "note.md").write_text(f"---\n{front}\n---\n\n{text}\n", encoding="utf-8")
        done = words_only.ingest(notes)
        assert done.failed == ()
        (found,) = words_only.ls()
        return found, [why for _, why in done.notes]

    return note


def test_the_fields_of_an_entry_are_read(put, words_only):
    """SV-1: severity, domain, context and the window; in capitals, too."""
    found, notes = put(
        "Severity: Warning\ndomain: backend\ncontext: |\n  Seen twice.\n  In May.\n"
        "valid_from: 2026-01-01T10:00+02:00\nvalid_until: 2026-12-31"
    )

    assert notes == []
    assert (found.severity, found.domain, found.context) == (
        *("warning", "backend"),
        "Seen twice.\nIn May.\n",
    )
    assert found.valid_from == datetime(2026, 1, 1, 8, tzinfo=UTC)
    assert found.valid_until == datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert [hit.severity for hit in words_only.search("telling", only_domain="backend")] == [
        "warning"
    ]
    assert len(words_only.search("telling", only_domain="frontend")) == 0


def test_a_document_that_holds_until_a_day_holds_on_that_day(put, words_only, clock):
    """SV-9: and not on the next."""
    put("valid_until: 2026-05-03")

    assert len(words_only.search("telling")) == 1
    clock.advance(hours=12)
    assert len(words_only.search("telling")) == 0
    assert len(words_only.search("telling", include_expired=True)) == 1


def test_what_changes_in_front_changes_the_fields(put, words_only):
    """The document follows its file; what is gone from it is gone."""
    first, _ = put("severity: warning\ndomain: backend\nvalid_until: 2020-01-01")
    second, _ = put("severity: critical")

    assert second.id == first.id
    assert (second.severity, second.domain, second.valid_until) == ("critical", None, None)
    assert len(words_only.search("telling")) == 1


@pytest.mark.parametrize(
    ("front", "says"),
    [
        ("severity: high", "severity is 'high', not one of critical, warning, suggestion"),
        ("severity: 3", "severity is 3, not one of"),
        ("valid_from: someday", "valid_from is 'someday', not an ISO date"),
        ("valid_until: 20261231", "valid_until is 20261231, not an ISO date"),
        ("valid_until: [a]", "valid_until is ['a'], not an ISO date"),
        ("domain: [a, b]", "domain is ['a', 'b'], not a text"),
        ("context: {a: b}", "context is {'a': 'b'}, not a text"),
        (f"domain: [{'x' * 500}]", "x…, not a text"),
        ("valid_from: 2026-02-01\nvalid_until: 2026-01-01", "valid_until is not after valid_from"),
        (f"context: {'x' * (MOST_CHARS + 1)}", "context is long; its first 2,000 characters"),
    ],
)
def test_nonsense_is_left_out_and_noted(put, words_only, front, says):
    """Other people's files may say anything: the document is found, and keeps what it said."""
    found, notes = put(f"{front}\ntitle: Kept")

    assert len(notes) == 1
    assert says in notes[0]
    assert (found.title, found.severity, found.domain) == ("Kept", None, None)
    assert (found.valid_from, found.valid_until) == (None, None)
    assert len(found.context) <= MOST_CHARS
    assert found.metadata["front_matter"].keys() == {
        *(line.split(":")[0] for line in front.split("\n")),
        "title",
    }
    assert len(words_only.search("telling")) == 1


@pytest.mark.parametrize("front", ["severity:", "domain: ''", "valid_until: ''", "context: null"])
def test_an_empty_field_is_none_and_no_matter(put, front):
    """A template that nobody filled in."""
    found, notes = put(front)

    assert notes == []
    assert (found.severity, found.domain, found.valid_until, found.context) == (
        None,
        None,
        None,
        "",
    )


def test_a_note_is_said_when_the_file_is_read(put, words_only, tmp_path):
    """A file that is as it was is not read again, and has nothing to say."""
    put("severity: high")

    assert words_only.ingest(tmp_path / "notes").notes == ()


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("severty", "severity"),
        ("domains", "domain"),
        ("validUntil", "valid_until"),
        ("valid-from", "valid_from"),
        ("contxt", "context"),
    ],
)
def test_a_name_that_is_nearly_a_field_is_noted(put, key, meant):
    """The document is read all the same."""
    found, notes = put(f"{key}: warning")

    assert notes == [f"{key} is no field of an entry; did you mean {meant}?"]
    assert (found.severity, found.valid_until) == (None, None)


def test_names_of_their_own_are_not_noted(put):
    """People write what they like in front."""
    _, notes = put("content: a\nslug: b\ndate: 2026-01-01\nversion: 1\nseries: c\ndescription: d")

    assert notes == []
