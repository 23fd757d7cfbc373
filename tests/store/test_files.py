"""Memories as files: paths, edits, versions, folders, search."""

from __future__ import annotations

import pytest
from residue import residues

import scrubjay
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.storage.sql.files import SqlMemoryFiles

PLAN = "/memories/plan.md"


@pytest.fixture
def files(words_only):
    return words_only.files


def test_memories_always_exists_and_is_empty_at_first(files):
    """Issue 27, item 3."""
    assert files.view("/memories").splitlines()[1:] == ["0B\t/memories"]
    assert files.paths() == []


def test_a_file_is_viewed_with_line_numbers_and_a_folder_as_a_listing(files):
    """Issue 27, item 3: `view` of product.md."""
    files.create(PLAN, "buy tea\nbuy milk")
    files.create("/memories/people/anna.md", "Anna")
    files.create("/memories/people/far/away/bob.md", "Bob")

    assert files.view(PLAN).splitlines()[1:] == ["     1\tbuy tea", "     2\tbuy milk"]
    assert files.view(PLAN, lines=(2, -1)).splitlines()[1:] == ["     2\tbuy milk"]
    assert files.view().splitlines()[1:] == [
        "23B\t/memories",
        "7B\t/memories/people/",
        "4B\t/memories/people/anna.md",
        "3B\t/memories/people/far/",
        "16B\t/memories/plan.md",
    ]
    assert files.paths("/memories/people") == [
        "/memories/people/anna.md",
        "/memories/people/far/away/bob.md",
    ]


def test_edits_return_the_text_the_version_and_the_line_that_changed(files):
    """Issue 27, item 3: `str_replace` and `insert` of product.md."""
    made = files.create(PLAN, "buy tea\nbuy milk\n")
    replaced = files.str_replace(PLAN, "milk", "bread")
    inserted = files.insert(PLAN, 1, "drink it")

    assert (made.text, made.version) == ("buy tea\nbuy milk\n", 1)
    assert (replaced.text, replaced.version, replaced.line) == ("buy tea\nbuy bread\n", 2, 2)
    assert (inserted.text, inserted.version) == ("buy tea\ndrink it\nbuy bread\n", 3)
    assert files.read(PLAN) == inserted._replace(line=0)
    assert made.id == inserted.id


@pytest.mark.parametrize(
    "path",
    [
        "notes.md",
        "/etc/passwd",
        "/memoriesX",
        "/memories/../outside",
        "/memories/a/../b",
        "/memories/..",
        "/memories/a\\..\\..\\b",
        "/memories/a\nb",
        "/memories/" + "x" * 600,
        "",
        5,
    ],
)
def test_a_path_outside_memories_is_refused_by_every_verb(files, path):
    """Issue 27, item 3: also with `..` inside."""
    for call in (
        lambda: files.create(path, "x"),
        lambda: files.view(path),
        lambda: files.read(path),
        lambda: files.write(path, "x"),
        lambda: files.str_replace(path, "a", "b"),
        lambda: files.insert(path, 0, "a"),
        lambda: files.delete(path),
        lambda: files.rename(path, PLAN),
        lambda: files.search("x", path),
        lambda: files.history(path),
        lambda: files.undo(path),
    ):
        with pytest.raises(InvalidInput, match=r"(?i)path"):
            call()
    files.create(PLAN, "x")
    with pytest.raises(InvalidInput, match=r"(?i)path"):
        files.rename(PLAN, path)
    assert files.paths() == [PLAN]


def test_two_forms_of_a_path_are_one_file(files):
    files.create("/memories//a/./b.md", "x")

    assert files.paths() == ["/memories/a/b.md"]
    with pytest.raises(InvalidInput, match="already exists"):
        files.create("/memories/a/b.md/", "y")


def test_a_file_is_no_folder_and_a_folder_no_file(files):
    files.create("/memories/a", "x")
    files.create("/memories/folder/b", "x")

    for taken in ("/memories/a/below", "/memories/folder", "/memories"):
        with pytest.raises(InvalidInput):
            files.create(taken, "y")
        with pytest.raises(InvalidInput):
            files.rename("/memories/a", taken)
    with pytest.raises(InvalidInput, match="itself"):
        files.rename("/memories/folder", "/memories/folder/deeper")
    with pytest.raises(InvalidInput, match="not a file"):
        files.read("/memories/folder")
    assert files.paths() == ["/memories/a", "/memories/folder/b"]


def test_every_change_is_a_version_and_is_taken_back_one_by_one(files, clock):
    """Issue 27, item 3: history and undo, of texts and of names."""
    files.create(PLAN, "one")
    clock.advance(minutes=1)
    files.str_replace(PLAN, "one", "two")
    files.rename(PLAN, "/memories/done/plan.md")
    assert files.read("/memories/done/plan.md").version == 3

    versions = files.history("/memories/done/plan.md")
    assert [version.text for version in versions] == ["two", "two", "one"]
    assert files.undo("/memories/done/plan.md").path == PLAN
    assert files.undo(PLAN).text == "one"
    with pytest.raises(NotFound, match="no change"):
        files.undo(PLAN)


def test_a_name_that_is_taken_by_now_is_not_taken_back(files):
    files.create(PLAN, "old")
    files.rename(PLAN, "/memories/old.md")
    files.create(PLAN, "new")

    with pytest.raises(InvalidInput, match="another file"):
        files.undo("/memories/old.md")
    assert files.paths() == ["/memories/old.md", PLAN]
    assert (files.read("/memories/old.md").text, files.read(PLAN).text) == ("old", "new")


def test_of_two_editors_both_are_kept_where_they_do_not_touch(tmp_path):
    """Issue 27, item 3: the second one fails where the first has replaced what it read."""
    with (
        scrubjay.open(tmp_path / "a.db", embedder=False) as one,
        scrubjay.open(tmp_path / "a.db", embedder=False) as other,
    ):
        one.files.create(PLAN, "tea\nmilk\n")
        one.files.str_replace(PLAN, "tea", "coffee")
        assert other.files.str_replace(PLAN, "milk", "bread").text == "coffee\nbread\n"
        with pytest.raises(InvalidInput, match="did not appear"):
            other.files.str_replace(PLAN, "tea", "water")


def test_with_a_version_only_the_text_that_was_read_is_changed(files):
    """Issue 27, item 3: compare-and-set."""
    read = files.create(PLAN, "tea\n")
    files.insert(PLAN, 1, "milk")

    for change in (
        lambda: files.write(PLAN, "all new", version=read.version),
        lambda: files.str_replace(PLAN, "tea", "x", version=read.version),
        lambda: files.insert(PLAN, 0, "x", version=read.version),
        lambda: files.delete(PLAN, version=read.version),
        lambda: files.rename(PLAN, "/memories/x", version=read.version),
        lambda: files.write(PLAN, "all new", version=0),
    ):
        with pytest.raises(InvalidInput, match="at version 2"):
            change()
    assert files.write(PLAN, "all new", version=2).version == 3
    assert files.write("/memories/new.md", "x", version=0).version == 1
    with pytest.raises(NotFound):
        files.write("/memories/third.md", "x", version=1)


def test_the_version_that_is_read_is_that_of_the_text(tmp_path, monkeypatch):
    """Issue 27, item 3: also where the file is changed while it is read."""
    with (
        scrubjay.open(tmp_path / "a.db", embedder=False) as one,
        scrubjay.open(tmp_path / "a.db", embedder=False) as other,
    ):
        one.files.create(PLAN, "first")
        counted = SqlMemoryFiles.changes

        def after_a_write(table, id_):
            monkeypatch.setattr(SqlMemoryFiles, "changes", counted)
            other.files.write(PLAN, "second")
            return counted(table, id_)

        monkeypatch.setattr(SqlMemoryFiles, "changes", after_a_write)
        read = one.files.read(PLAN)
        assert (read.text, read.version) in (("first", 1), ("second", 2))


def test_a_text_that_is_there_twice_or_not_at_all_is_not_replaced(files):
    files.create(PLAN, "tea\ntea\n")

    with pytest.raises(InvalidInput, match="lines: 1, 2"):
        files.str_replace(PLAN, "tea", "milk")
    with pytest.raises(InvalidInput, match="empty"):
        files.str_replace(PLAN, "", "milk")
    assert files.read(PLAN).version == 1


def test_a_deleted_file_is_gone_with_its_versions(words_only):
    """Issue 27, item 3: as with `forget`; a folder is deleted with what is in it."""
    files = words_only.files
    kept = files.create("/memories/b.md", "kept")
    gone = files.create("/memories/a/one.md", "secret")
    files.create("/memories/a/two.md", "secret, too")

    assert files.delete("/memories/a") == 2
    with pytest.raises(NotFound):
        words_only.get(gone.id)
    with pytest.raises(NotFound):
        files.delete("/memories/a")
    assert [one.id for one in words_only.ls()] == [kept.id]


def test_nothing_of_a_deleted_file_is_left_in_the_files_of_the_store(words_only, tmp_path):
    """Issue 27, item 3: as after `forget`, while the store is open; also what it was before."""
    texts = ["the first wording of a secret", "another wording of the same secret"]
    words_only.files.create(PLAN, texts[0])
    words_only.files.write(PLAN, texts[1])
    words_only.files.delete(PLAN)

    assert residues(tmp_path, texts, []) == []


def test_an_empty_file_is_a_file(memory):
    """Agents create a file first and fill it later."""
    made = memory.files.create(PLAN, "")
    assert memory.pending(wait=True, timeout_s=30) == 0
    assert memory.files.view(PLAN).splitlines()[1:] == ["     1\t"]
    assert memory.files.insert(PLAN, 0, "tea").text == "tea\n"
    assert memory.files.undo(PLAN).text == ""
    assert memory.get(made.id).text == ""
    with pytest.raises(InvalidInput, match="text is empty"):
        memory.add("")


def test_files_of_equal_text_are_two_files(files):
    one = files.create("/memories/a.md", "same")
    other = files.create("/memories/b.md", "same")

    assert one.id != other.id


def test_files_are_found_by_meaning_by_word_and_by_name_in_one_folder(memory):
    """Issue 27, item 3: hybrid search with a prefix."""
    memory.add("an automobile that is no file")
    memory.files.create("/memories/garage/red.md", "an automobile")
    memory.files.create("/memories/garage/tools.md", "a hammer")
    memory.files.create("/memories/house.md", "an automobile, too")
    memory.pending(wait=True, timeout_s=30)

    def found(query, prefix="/memories"):
        return {hit.source for hit in memory.files.search(query, prefix)}

    assert {"/memories/garage/red.md", "/memories/house.md"} <= found("car")
    assert None not in found("car")
    assert "/memories/garage/red.md" in found("car", "/memories/garage")
    assert "/memories/house.md" not in found("car", "/memories/garage")
    assert found("hammer", "/memories/garage/tools.md") == {"/memories/garage/tools.md"}
    assert memory.files.search("tools.md")[0].source == "/memories/garage/tools.md"
    with pytest.raises(NotFound):
        memory.files.search("car", "/memories/missing")


def test_each_user_has_files_of_their_own(tmp_path):
    """Issue 27, item 3: nobody sees, edits or overwrites those of others."""
    path = tmp_path / "people.db"
    with (
        scrubjay.open(path, embedder=False, user="ann") as ann,
        scrubjay.open(path, embedder=False, user="ben") as ben,
    ):
        ann.files.create(PLAN, "of ann")
        assert ben.files.paths() == []
        ben.files.create(PLAN, "of ben")

        assert (ann.files.read(PLAN).text, ben.files.read(PLAN).text) == ("of ann", "of ben")
        assert [hit.text for hit in ben.files.search("of")] == ["of ben"]


def test_a_file_has_no_event_time_of_its_own(words_only):
    """A list of appointments is not one event."""
    made = words_only.files.create(PLAN, "dentist on 3 May 2026")

    assert words_only.get(made.id).event_time is None


def test_files_survive_an_export_and_an_import(words_only, tmp_path):
    """Issue 27, item 3: also an empty one."""
    words_only.files.create("/memories/a/tea.md", "green")
    words_only.files.create("/memories/empty.md", "")
    words_only.export_jsonl(tmp_path / "all.jsonl")

    with scrubjay.open(tmp_path / "other.db", embedder=False) as other:
        other.import_entries(tmp_path / "all.jsonl")
        assert other.files.paths() == ["/memories/a/tea.md", "/memories/empty.md"]
        assert other.files.read("/memories/a/tea.md").text == "green"


@pytest.mark.server
def test_files_are_the_same_in_postgres(postgres_url):
    """Issue 27, item 3."""
    with scrubjay.open(postgres_url, embedder=False) as store:
        store.files.create(PLAN, "tea\n")
        store.files.insert(PLAN, 1, "milk")
        store.files.rename(PLAN, "/memories/a/plan.md")

        assert store.files.read("/memories/a/plan.md").text == "tea\nmilk\n"
        assert store.files.read("/memories/a/plan.md").version == 3
        assert [hit.source for hit in store.files.search("milk", "/memories/a")] == [
            "/memories/a/plan.md"
        ]
        assert store.files.undo("/memories/a/plan.md").path == PLAN
