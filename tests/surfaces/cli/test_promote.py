"""`promote` and `demote` at the shell."""

from __future__ import annotations

from contextlib import closing

from scrubjay.storage.move_record import MoveRecord, begin
from scrubjay.storage.sqlite.connection import SqliteDatabase


def test_a_store_is_promoted_and_demoted(shell, postgres_url, tmp_path):
    """What was moved and compared is said, with what to type from now on; a password never is."""
    notes = tmp_path / "notes.db"
    shell("add", "The kettle whistles", "--id", "kettle", "--db", str(notes))
    secret = postgres_url.replace("postgres@", "postgres:hush@")

    up = shell("promote", "--db", str(notes), "--to", secret)

    assert (up.code, up.err) == (0, "")
    assert "promoted  " in up.out
    assert "1 memory: " in up.out
    assert "are the same by count and hash" in up.out
    assert f"the old store is {notes}.promoted now" in up.out
    assert f"to delete it: rm {notes}.promoted" in up.out
    assert f"from now on: --db {postgres_url}\n" in up.out
    assert f'    db = "{postgres_url}"' in up.out
    assert "hush" not in up.out
    refused = shell("add", "too late", "--db", str(notes))
    assert refused.code == 1
    assert "were moved to postgres://" in refused.err
    assert shell("search", "kettle", "--db", postgres_url, "--json").json["hits"][0]["id"] == (
        "kettle"
    )

    down = shell("demote", "--db", postgres_url, "--to", str(tmp_path / "back.db"), "--keep")

    assert down.code == 0
    assert "was kept, as a copy" in down.out
    assert shell("search", "whistles", "--db", str(tmp_path / "back.db")).code == 0
    gone = shell("demote", "--db", postgres_url, "--to", str(tmp_path / "last.db"))
    assert 'to delete it: DROP SCHEMA "scrubjay.demoted" CASCADE' in gone.out
    assert f"from now on: --db {tmp_path / 'last.db'}\n" in gone.out


def test_a_wrong_place_is_refused(shell, tmp_path):
    """Exit codes tell wrong usage, nothing found and a failure apart."""
    notes = str(tmp_path / "notes.db")
    for words, code, said in (
        (("promote",), 2, "the following arguments are required: --to"),
        (("promote", "--to", "postgres://127.0.0.1:1/x"), 3, "there is no store in"),
        (("demote", "--to", notes), 2, "promote"),
    ):
        outcome = shell(*words, "--db", notes)
        assert outcome.code == code
        assert said in outcome.err
    shell("add", "something", "--db", notes)
    outcome = shell("promote", "--to", "postgres://127.0.0.1:1/x", "--db", notes)
    assert outcome.code == 1
    assert "does not answer" in outcome.err


def test_a_server_that_is_not_told_all_is_a_failure(shell, postgres_url, tmp_path):
    """The store is moved; what is missing is named, and the exit code says so."""
    notes = str(tmp_path / "notes.db")
    shell("add", "something", "--db", notes)
    shell("add", "something", "--db", notes, "--tenant", "acme")
    outcome = shell(
        *("promote", "--db", notes, "--to", postgres_url, "--tenant", "acme"),
        *("--graph", "falkordb://:hush@127.0.0.1:1/x"),
    )
    assert outcome.code == 1
    assert "graph: not complete yet: " in outcome.out
    typed = f"--db {postgres_url} --graph falkordb://127.0.0.1:1/x --tenant acme"
    assert f"from now on: {typed}\n" in outcome.out
    assert '    tenant = "acme"' in outcome.out
    assert "hush" not in outcome.out
    assert shell(*typed.split(), "search", "something").code == 0


def test_commands_that_read_name_the_move_that_is_unfinished(shell, tmp_path):
    """Not that nothing is stored yet: the memories are elsewhere."""
    with closing(SqliteDatabase(str(tmp_path / "notes.db.filling"))) as copy:
        begin(copy, MoveRecord(1, "postgres://h/db", "scrubjay demote --db postgres://h/db"))
    for words in (("search", "kettle"), ("add", "kettle"), ("status",)):
        outcome = shell(*words, "--db", str(tmp_path / "notes.db"))
        assert outcome.code == 1
        assert "postgres://h/db is being moved here" in outcome.err
        assert "scrubjay demote --db postgres://h/db" in outcome.err
    assert not (tmp_path / "notes.db").exists()
    examined = shell("doctor", "--db", str(tmp_path / "notes.db"))
    assert examined.code == 1
    assert "postgres://h/db is being moved here" in examined.out


def test_doctor_names_the_place_of_a_moved_store(shell, postgres_url, tmp_path):
    """Its note is not a damaged database, and nothing is missing."""
    notes = str(tmp_path / "notes.db")
    shell("add", "something", "--db", notes)
    shell("promote", "--db", notes, "--to", postgres_url)
    assert f"were moved to {postgres_url}" in shell("doctor", "--db", notes).out
    shell("demote", "--db", postgres_url, "--to", notes)
    assert f"were moved to {notes}" in shell("doctor", "--db", postgres_url).out
