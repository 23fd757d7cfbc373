"""Entries that a person edits: an edit is taken in, never written over, and a slip is named."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scrubjay.write.import_export import front_matter as entry_yaml
from scrubjay.write.import_export.format import is_as_exported, marked

RETRY = "---\ndomain: web\ntitle: Retries\n---\n\nRetry three times.\n"


@pytest.fixture
def out(words_only, tmp_path):
    """A folder into which two entries were exported."""
    words_only.add("Retry three times.", id="retry", severity="warning", topics=["http"])
    words_only.add("Close what you open.", id="close")
    words_only.export_md(tmp_path / "out")
    return tmp_path / "out"


def edit(file, old, new):
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


class TestImport:
    def test_an_edited_file_without_an_id_changes_its_memory(self, words_only, tmp_path):
        """Its text is the same, so it is the same; a rehearsal says so, too."""
        file = tmp_path / "retry.md"
        file.write_text(RETRY)
        assert words_only.import_entries(file).added == 1
        file.write_text(RETRY.replace("web", "backend\nseverity: critical"))

        assert words_only.import_entries(file, dry_run=True)[:3] == (0, 1, 0)
        assert words_only.import_entries(file)[:3] == (0, 1, 0)
        (found,) = words_only.ls()
        assert (found.domain, found.severity, found.title) == ("backend", "critical", "Retries")
        assert words_only.import_entries(file)[:3] == (0, 0, 1)

    def test_two_files_of_one_text_that_say_different_things_are_noted(self, words_only, tmp_path):
        """The second is what the memory says; each import would change it twice, without a word."""
        (tmp_path / "a.md").write_text(RETRY)
        (tmp_path / "b.md").write_text(RETRY.replace("web", "backend"))
        (tmp_path / "c.md").write_text(RETRY.replace("web", "backend"))

        for rehearsal in (True, False):
            done = words_only.import_entries(tmp_path, dry_run=rehearsal)
            assert done[:3] == (1, 1, 1)
            ((where, why),) = done.notes
            assert where == str(tmp_path / "b.md")
            assert f"{tmp_path / 'a.md'} has the same text" in why
        assert words_only.ls()[0].domain == "backend"

    def test_the_name_of_a_file_is_no_title_that_was_given(self, words_only, tmp_path):
        """A file without front matter does not rename a memory of the same text."""
        words_only.add("Retry three times.", id="retry", title="Retries")
        (tmp_path / "note.md").write_text("Retry three times.\n")

        assert words_only.import_entries(tmp_path / "note.md")[:3] == (0, 0, 1)
        assert words_only.get("retry").title == "Retries"

    def test_an_edit_without_updated_at_is_of_now(self, words_only, clock, tmp_path):
        """SV-9: its age goes by `updated_at`. A new one is as old as its creation, by the contract."""
        file = tmp_path / "e.md"
        file.write_text("---\nid: e\ncreated_at: 2024-01-01\n---\n\nOne.\n")
        words_only.import_entries(file)
        assert words_only.get("e").updated_at == datetime(2024, 1, 1, tzinfo=UTC)
        clock.advance(days=1)

        assert words_only.import_entries(file).unchanged == 1
        assert words_only.get("e").updated_at == datetime(2024, 1, 1, tzinfo=UTC)
        edit(file, "One.", "Two.")
        words_only.import_entries(file)
        found = words_only.get("e")
        assert (found.created_at, found.updated_at) == (
            datetime(2024, 1, 1, tzinfo=UTC),
            clock(),
        )

    @pytest.mark.parametrize("slow", [False, True])
    @pytest.mark.parametrize(
        ("front", "says"),
        [
            ("id: x\ntags: [jwt, auth\ndomain: a\ntitle: t", "the list that begins in line 3"),
            ("id: x\ntags: [jwt, auth", "is not closed; end it with ]"),
            ("links:\n  - {to: a\nid: x", "the mapping that begins in line 3 is not closed"),
            ('id: x\ntitle: "a\ndomain: b', "the text in quotes that begins in line 3"),
            ("id: x\ntitle: a: b\ndomain: c", "in line 3; put the value in quotes"),
        ],
    )
    def test_what_is_not_closed_is_named_where_it_begins(self, monkeypatch, front, says, slow):
        """Not where the reader of YAML notices it; by the reader without a C library, too."""
        import yaml

        if slow:
            monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
        entry_yaml._loader.cache_clear()
        try:
            with pytest.raises(ValueError, match="not YAML") as raised:
                entry_yaml.load(front + "\n")
        finally:
            entry_yaml._loader.cache_clear()
        assert says in str(raised.value)

    @pytest.mark.parametrize(
        "text",
        [
            "id: jwt\ntitle: Tokens\ntags:\n- a\ncontext: |\n  Seen.\n\n# why\n---\n\nText.\n",
            "title: Tokens\r\nseverity: warning\r\n---\r\n\r\nText.\r\n",
            "id: jwt\nunheard_of: 1\n---\nText.\n",
        ],
    )
    def test_front_matter_that_lost_its_first_line_is_no_text(self, words_only, tmp_path, text):
        """It would be stored as the description, fields and all."""
        (tmp_path / "a.md").write_bytes(text.encode())

        done = words_only.import_entries(tmp_path / "a.md")

        assert done.failed == (
            (
                str(tmp_path / "a.md"),
                "the front matter has no first line of ---; put one above it",
            ),
        )

    @pytest.mark.parametrize(
        "text",
        [
            "title: a heading\n---\n\nText.\n",
            "Note: read this\nSource: a book\n---\nText.\n",
            "Some words.\nid: x\n---\nText.\n",
            "id: x\ntitle: y\n",
            "id: x\nsome words\n---\n",
        ],
    )
    def test_other_lines_with_a_colon_are_text(self, words_only, tmp_path, text):
        """A heading of Markdown is a line above ---."""
        (tmp_path / "a.md").write_text(text)

        assert words_only.import_entries(tmp_path / "a.md").added == 1
        assert words_only.ls()[0].text == text.removesuffix("\n")

    def test_of_two_files_with_one_id_the_one_called_after_it_is_taken(self, words_only, tmp_path):
        """The other is a copy, though its name comes first."""
        folder = tmp_path / "in"
        folder.mkdir()
        (folder / "a-copy.md").write_text("---\nid: retry\n---\n\nThe copy.\n")
        (folder / "retry.md").write_text("---\nid: retry\n---\n\nThe entry.\n")

        done = words_only.import_entries(folder)

        assert (done.added, len(done.failed)) == (1, 1)
        assert done.failed[0][0] == str(folder / "a-copy.md")
        assert f"{folder / 'retry.md'} has the same id" in done.failed[0][1]
        assert words_only.get("retry").text == "The entry."

    def test_where_neither_is_called_after_it_the_first_is_taken_and_named(
        self, words_only, tmp_path
    ):
        """A file that has the name and another id is no reason to refuse one."""
        (tmp_path / "a.md").write_text("---\nid: retry\n---\n\nOne.\n")
        (tmp_path / "b.md").write_text("---\nid: retry\n---\n\nTwo.\n")
        (tmp_path / "retry.md").write_text("---\nid: other\n---\n\nThree.\n")

        done = words_only.import_entries(tmp_path)

        assert done.added == 2
        ((where, why),) = done.failed
        assert where == str(tmp_path / "b.md")
        assert f"{tmp_path / 'a.md'} has the same id" in why


class TestExport:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("three", "four"),
            ("severity: warning\n", ""),
            ("[http]", "[http, mine]"),
            ("---\n\n", "links: [close]\n---\n\n"),
        ],
    )
    def test_an_edit_that_was_not_imported_is_kept_and_named(self, words_only, out, old, new):
        """Also when the store has changed since; the other files are written."""
        edit(out / "retry.md", old, new)
        mine = (out / "retry.md").read_bytes()
        words_only.update("retry", domain="web")
        words_only.update("close", domain="files")

        done = words_only.export_md(out)

        assert done[:4] == (2, 1, 0, 0)
        ((where, why),) = done.kept
        assert where == str(out / "retry.md")
        assert "import it first, or replace it with force (--force)" in why
        assert (out / "retry.md").read_bytes() == mine
        assert "domain: files" in (out / "close.md").read_text()

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("severity: warning", "severity: high", "it must be one of"),
            ("tags: [http]", "tags: [http", "is not closed"),
            ("---\nid", "id", "no first line of ---"),
        ],
    )
    def test_a_file_that_import_refuses_is_kept(self, words_only, out, old, new, says):
        """With the reason; what is not ours is still no matter of ours."""
        edit(out / "retry.md", old, new)
        mine = (out / "retry.md").read_bytes()

        ((where, why),) = words_only.export_md(out).kept

        assert where == str(out / "retry.md")
        assert says in why
        assert (out / "retry.md").read_bytes() == mine

    def test_an_edit_that_was_imported_is_written_as_we_write_it(self, words_only, out):
        """Nothing of it is lost, and the next edit is seen again."""
        edit(out / "retry.md", "tags: [http]", "tags: [HTTP]  # mine\nlinks: [close]")
        edit(out / "retry.md", "three", "four")
        words_only.import_entries(out)

        done = words_only.export_md(out)

        assert done.kept == ()
        assert "four" in (out / "retry.md").read_text()
        assert is_as_exported((out / "retry.md").read_text())
        assert words_only.export_md(out).unchanged == 2

    def test_what_changed_in_the_store_alone_is_written(self, words_only, out):
        """Topics, links and a text, though the clock stands still; converted line ends are no edit."""
        words_only.rename_topic("http", "web")
        words_only.link("retry", "close")
        (out / "close.md").write_bytes((out / "close.md").read_bytes().replace(b"\n", b"\r\n"))
        words_only.add("Close it.", id="close")

        assert words_only.export_md(out)[1:] == (2, 0, 0, (), ())
        assert "tags: [web]" in (out / "retry.md").read_text()

    def test_force_replaces_an_edit(self, words_only, out):
        """Who says so wants it."""
        edit(out / "retry.md", "three", "four")

        assert words_only.export_md(out, force=True)[1:] == (1, 1, 0, (), ())
        assert "three" in (out / "retry.md").read_text()

    def test_an_edited_file_of_an_entry_that_is_gone_is_not_pruned(self, words_only, out):
        """It is all that is left of it."""
        edit(out / "retry.md", "three", "four")
        words_only.forget(["retry", "close"])
        words_only.add("New.", id="new")

        done = words_only.export_md(out, prune=True)

        assert (done.entries, done.removed) == (1, 1)
        assert [where for where, _ in done.kept] == [str(out / "retry.md")]
        assert (out / "retry.md").exists()
        assert words_only.export_md(out, prune=True, force=True).removed == 1

    def test_a_file_written_by_hand_is_kept_until_it_is_imported(self, words_only, out):
        """It was never exported, so all of it is a person's."""
        words_only.add("From the store.", id="mine")
        (out / "mine.md").write_text("---\nid: mine\n---\n\nBy hand.\n")

        assert len(words_only.export_md(out).kept) == 1
        words_only.import_entries(out / "mine.md")
        assert words_only.export_md(out).kept == ()


def test_a_mark_is_of_the_whole_file():
    """A letter more, anywhere, and it is not as it was."""
    text = marked("---\nid: x\n---\n\n# as exported: 0123456789abcdef\n")

    assert is_as_exported(text)
    assert is_as_exported(text.replace("\n", "\r\n"))
    for at in range(len(text)):
        assert not is_as_exported(f"{text[:at]}x{text[at:]}")
