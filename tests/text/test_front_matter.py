"""What a document's front matter says of it as an entry: taken, followed, and never a reason to fail."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import scrubjay
from scrubjay.text.front_matter import MAX_FIELD_CHARS


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
        (f"context: {'x' * (MAX_FIELD_CHARS + 1)}", "first 2,000 characters"),
    ],
)
def test_nonsense_is_left_out_and_noted(put, words_only, front, says):
    """Other people's files may say anything: the document is found, and keeps what it said."""
    found, notes = put(f"{front}\ntitle: Kept")

    assert len(notes) == 1
    assert says in notes[0]
    assert (found.title, found.severity, found.domain) == ("Kept", None, None)
    assert (found.valid_from, found.valid_until) == (None, None)
    assert len(found.context) <= MAX_FIELD_CHARS
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

    assert notes == [f"{key} is not a field of an entry; did you mean {meant}?"]
    assert (found.severity, found.valid_until) == (None, None)


def test_names_of_their_own_are_not_noted(put):
    """People write what they like in front."""
    _, notes = put("content: a\nslug: b\ndate: 2026-01-01\nversion: 1\nseries: c\ndescription: d")

    assert notes == []


class TestWords:
    def test_names_of_fields_are_no_words_and_other_values_are(self, put, words_only):
        """SV-7: title, description, context and tags; what has no field of its own is found by its value."""
        put("severity: critical\ntags: [network]\nauthor: Jane Oriel\nseen: {where: [Kiel]}")

        assert len(words_only.search("severity", mode="keyword")) == 0
        assert len(words_only.search("author", mode="keyword")) == 0
        for word in ("telling", "network", "oriel", "kiel"):
            assert len(words_only.search(word, mode="keyword")) == 1

    def test_an_entry_counts_the_same_words_added_and_ingested(self, words_only, tmp_path):
        """SV-7: the same description, the same cosine."""
        entry = {"title": "Kettle", "topics": ["tea"], "severity": "critical", "domain": "home"}
        words_only.add("kettle entry body", id="k1", **entry)
        words_only.export_md(tmp_path / "out")
        with scrubjay.open(tmp_path / "other.db", embedder=False) as other:
            other.ingest(tmp_path / "out")
            (ingested,) = other.search("kettle body", profile="vault")
        (added,) = words_only.search("kettle body", profile="vault")

        assert ingested.why["semantic"] == pytest.approx(added.why["semantic"], abs=1e-9)
        assert (ingested.id, ingested.text.strip()) == ("k1", "kettle entry body")


class TestIds:
    @pytest.fixture
    def notes(self, tmp_path):
        folder = tmp_path / "ids"
        folder.mkdir()
        return folder

    def write(self, path, front, text="Telling words."):
        path.write_text(f"---\n{front}\n---\n\n{text}\n", encoding="utf-8")

    def test_a_document_has_the_id_that_it_asks_for(self, words_only, notes):
        """SV-1: entries with an id, through `ingest`; what is exported comes back under its id."""
        self.write(notes / "a.md", "id: auth-jwt-001\nseverity: critical")
        words_only.ingest(notes)

        assert words_only.get("auth-jwt-001").severity == "critical"
        assert words_only.search("telling")[0].id == "auth-jwt-001"

    def test_it_keeps_it_when_it_changes_and_when_it_moves(self, words_only, notes):
        """The file is followed as any other."""
        self.write(notes / "a.md", "id: one")
        words_only.ingest(notes)
        self.write(notes / "a.md", "id: one", "Other words, and more of them.")
        assert words_only.ingest(notes).updated == 1
        (notes / "a.md").rename(notes / "b.md")
        moved = words_only.ingest(notes)

        assert (moved.moved, moved.notes) == (1, ())
        assert [one.id for one in words_only.ls()] == ["one"]
        assert words_only.get("one").source.endswith("b.md")

    def test_another_id_is_another_document(self, words_only, notes):
        """The one of the old id is gone."""
        self.write(notes / "a.md", "id: one")
        words_only.ingest(notes)
        self.write(notes / "a.md", "id: two", "Telling words, again.")
        words_only.ingest(notes)

        assert [one.id for one in words_only.ls()] == ["two"]

    def test_an_id_that_is_taken_is_left_to_its_owner(self, words_only, notes):
        """Nothing is overwritten, by a file or by the second of two; a note says what it is called."""
        words_only.add("Said by hand", id="one")
        self.write(notes / "a.md", "id: one")
        self.write(notes / "b.md", "id: two")
        self.write(notes / "c.md", "id: two", "Something else.")

        done = words_only.ingest(notes)

        assert words_only.get("one").text == "Said by hand"
        assert words_only.get("two").source.endswith("b.md")
        assert len(words_only.ls()) == 4
        assert [why.split(";")[0] for _, why in done.notes] == [
            "its id 'one' belongs to another memory",
            "its id 'two' belongs to another memory",
        ]
        again = words_only.ingest(notes)
        assert (again.unchanged, again.notes) == (3, ())

    @pytest.mark.parametrize("given", ["[a, b]", "true", "''", '"x\\u0007y"', "{a: b}", "x" * 600])
    def test_what_cannot_be_an_id_is_none(self, words_only, notes, given):
        """Other people's files may say anything."""
        self.write(notes / "a.md", f"id: {given}")

        assert words_only.ingest(notes).failed == ()
        assert words_only.ls()[0].id.startswith("doc-")

    def test_what_was_exported_is_found_under_its_id(self, words_only, notes, tmp_path):
        """Export, then ingest elsewhere."""
        words_only.add("Check the valve", id="valve/1", severity="warning", domain="boiler")
        words_only.export_md(notes)
        with scrubjay.open(tmp_path / "other.db", embedder=False) as other:
            other.ingest(notes)
            found = other.get("valve/1")
        assert (found.severity, found.domain) == ("warning", "boiler")
