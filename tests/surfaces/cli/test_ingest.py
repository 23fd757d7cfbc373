"""`ingest`: what it says about the files it read, left out, and met again."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrubjay.surfaces.cli.ingest import counts, left_out
from scrubjay.surfaces.render.terminal import Screen
from scrubjay.types.reports import Ingested

OK, FAILED, USAGE, NOTHING = 0, 1, 2, 3
PLAIN = Screen(width=80)


@pytest.fixture
def notes(tmp_path) -> Path:
    """A folder with two notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Alpha\n\nThe kettle whistles.\n", encoding="utf-8")
    (folder / "b.txt").write_text("The teapot is cracked.\n", encoding="utf-8")
    return folder


def test_without_a_path_every_known_folder_is_brought_up_to_date(shell, notes, tmp_path):
    """Nobody has to remember what was read."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("# Charlie\n\nA samovar hums.\n", encoding="utf-8")
    shell("ingest", str(notes))
    shell("ingest", str(other))
    (notes / "a.md").write_text("# Alpha\n\nThe kettle is silent now.\n", encoding="utf-8")
    (other / "c.md").unlink()

    done = shell("ingest")

    assert done.code == OK, done.err
    assert done.out == f"{notes}, {other}  1 changed, 1 unchanged, 1 removed\n"
    assert shell("search", "silent").code == OK
    assert shell("search", "samovar").code == NOTHING


def test_without_a_path_json_has_no_path(shell, notes):
    """It was everything; null says so."""
    shell("ingest", str(notes))

    done = shell("ingest", "--json")

    assert done.code == OK
    assert [one["path"] for one in done.json["ingested"]] == [None]
    assert done.json["ingested"][0]["unchanged"] == 2


@pytest.mark.parametrize("before", [[], ["add", "a text without a file"]])
def test_without_a_path_and_without_a_known_folder_it_says_what_to_type(shell, home, before):
    """An empty store is not made to find that out."""
    if before:
        shell(*before)

    done = shell("ingest")

    assert done.code == USAGE
    assert "scrubjay ingest PATH" in done.err
    assert bool(list(home.rglob("*.db"))) is bool(before)


def test_a_file_that_moved_is_counted_as_moved(shell, notes):
    """It keeps its id, and nothing is new or gone."""
    shell("ingest", str(notes))
    before = shell("search", "kettle", "--json").json["hits"][0]
    (notes / "a.md").rename(notes / "renamed.md")

    done = shell("ingest", str(notes))

    after = shell("search", "kettle", "--json").json["hits"][0]
    assert done.out == f"{notes}  1 moved, 1 unchanged\n"
    assert after["id"] == before["id"]
    assert after["source"].endswith("renamed.md")


def test_failed_files_come_before_skipped_ones(shell, notes):
    """What a person has to mend stands first."""
    (notes / "a-photo.md").write_bytes(b"\x80\x81\x00\x01" * 100)
    (notes / "latin.md").write_bytes("caf\xe9 au lait".encode("latin-1"))
    lines = shell("ingest", str(notes)).out.splitlines()

    places = [next(at for at, line in enumerate(lines) if name in line)
              for name in ("latin.md", "a-photo.md")]  # fmt: skip
    assert places == sorted(places)


def test_a_folder_of_photos_does_not_fill_the_screen(shell, notes):
    """Ten are named, the others are counted, and the command that lists them is there."""
    for number in range(100):
        (notes / f"photo{number:03}.md").write_bytes(b"\x80\x81\x00\x01" * 100)

    lines = shell("ingest", str(notes)).out.splitlines()

    assert lines[0] == f"{notes}  2 new, 100 skipped"
    assert len(lines) == 12
    assert lines[-1] == "  … and 90 more: scrubjay ls --coverage"


def test_ten_of_each_kind_are_shown_and_the_rest_counted_together():
    """Failed ones first, whatever their number."""
    done = Ingested(
        skipped=tuple((f"/s{number}", "binary") for number in range(30)),
        failed=tuple((f"/f{number}", "corrupt") for number in range(12)),
    )

    lines = left_out(done, PLAIN, "my notes.db")

    assert [line.split(":")[0].strip() for line in lines[:10]] == [f"/f{n}" for n in range(10)]
    assert lines[10] == "  /s0: binary"
    assert lines[20:] == ["  … and 22 more: scrubjay ls --coverage --db 'my notes.db'"]


def test_ten_or_fewer_are_all_shown():
    """No line counts nothing."""
    done = Ingested(skipped=tuple((f"/s{number}", "binary") for number in range(10)))

    assert len(left_out(done, PLAIN, None)) == 10


def test_a_path_keeps_its_spaces_and_commands_no_terminal():
    """It can be copied, and it is one line."""
    done = Ingested(failed=(("/a  b\n\x1b[2J.md", "corrupt"),))

    assert left_out(done, PLAIN, None) == ["  /a  b␊␛[2J.md: corrupt"]


def test_the_counts_name_what_happened_and_nothing_else():
    """Zeros are not worth a word."""
    assert counts(Ingested(added=1, moved=2)) == "1 new, 2 moved"
    assert counts(Ingested(unchanged=12345)) == "12,345 unchanged"
    assert counts(Ingested()) == "nothing to read"


@pytest.mark.parametrize(
    "word", ["report.pdf", "Letter.DOCX", "chat.jsonl", "page.html", "setup.py", "conf.toml"]
)
def test_a_file_that_is_not_there_is_not_remembered_as_a_text(shell, word):
    """`add report.pdf` with a typing error must not become a memory."""
    done = shell("add", word)

    assert done.code == USAGE
    assert f"there is no file or folder {word}" in done.err
    assert shell("add", "--text", word).code == OK


@pytest.mark.parametrize("word", ["Node.js", "pump", "v1.2.3"])
def test_a_word_with_a_point_is_still_a_word(shell, word):
    """Only what looks like a file is taken for one."""
    assert shell("add", word).code == OK


def test_an_answer_says_which_file_changed_and_how_to_read_it_again(shell, notes, tmp_path):
    """In the hit itself, and counted below with the command for this store."""
    db = str(tmp_path / "my.db")
    shell("ingest", str(notes), "--db", db)
    (notes / "a.md").write_text("# Alpha\n\nThe kettle is silent, at last.\n", encoding="utf-8")

    out = shell("search", "kettle", "--db", db).out
    (notes / "a.md").unlink()
    gone = shell("search", "kettle", "--db", db).out

    assert "    stale: changed since it was ingested" in out.splitlines()
    refresh = f"scrubjay ingest --db {db}"
    said = f"note: 1 file changed since it was indexed: {refresh}"
    assert " ".join(out.split()).endswith(said)
    assert "    missing: the file does not exist" in gone.splitlines()
    assert shell(*refresh.split()[1:]).code == OK
    assert shell("search", "kettle", "--db", db).code == NOTHING


def test_an_answer_shows_the_section_it_comes_from(shell, notes):
    """After the path, without the title."""
    filler = "\n\n".join(f"Paragraph {number} about nothing. " * 8 for number in range(12))
    text = f"# Alpha\n\n{filler}\n\n## Care\n\n### Oil\n\nGrease the spindle.\n\n{filler}\n"
    (notes / "a.md").write_text(text, encoding="utf-8")
    shell("ingest", str(notes))

    out = " ".join(shell("search", "spindle").out.split())

    assert " · Care › Oil · doc-" in out
    assert shell("search", "spindle", "--json").json["hits"][0]["heading"].endswith("Care › Oil")
