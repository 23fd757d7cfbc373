"""`scrubjay token`: who may ask a server for what is stored."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import scrubjay
from scrubjay.text.api_key_format import is_whole


def tokens(shell, *words):
    return shell("token", "list", "--json", *words).json["tokens"]


def test_standard_output_is_the_secret_and_nothing_else(shell, home):
    """`TOKEN=$(scrubjay token create ci)` works; what it is for is said to the person."""
    made = shell("token", "create", "ci", "--scope", "write", "--user", "ann", "--expires", "90d")
    assert made.code == 0
    assert is_whole(made.out.removesuffix("\n"))
    assert made.out.strip() not in made.err
    assert "API key ci: may write, as ann, until" in made.err
    assert "shown this once" in made.err
    with scrubjay.open(None) as store:
        found = store.api_keys.find(made.out.strip())
    assert (found.name, found.scopes, found.tenant, found.user) == ("ci", ("write",), None, "ann")
    left = found.expires_at - datetime.now(UTC)
    assert timedelta(days=89, hours=23) < left <= timedelta(days=90)


def test_the_first_key_says_that_requests_without_one_are_refused(shell):
    """As does the first after `key open`; a second key changes nothing, and says nothing of it."""
    says = "refuse requests without a key"
    assert says in shell("key", "create", "ci").err
    assert says not in shell("key", "create", "cd").err
    shell("key", "revoke", "cd")
    assert "accept only the owner's" in shell("key", "revoke", "ci").err
    assert says not in shell("key", "create", "again").err
    shell("key", "revoke", "again")
    assert shell("key", "open").code == 0
    assert says in shell("key", "create", "ci").err


def test_a_tenant_says_whose_store_a_token_opens_and_where_it_is_kept_is_another_thing(
    shell, tmp_path
):
    """It is kept in the store without a tenant: the one that a server for many opens."""
    place = str(tmp_path / "notes.db")
    made = shell("token", "create", "ci", "--tenant", "acme", "--db", place)
    assert "in the store of tenant acme" in made.err
    assert [one.name for one in tmp_path.glob("*.db")] == ["notes.db"]
    shell("token", "create", "own", "--db", place)
    assert {one["name"]: one["tenant"] for one in tokens(shell, "--db", place)} == {
        "ci": "acme",
        "own": None,
    }
    assert [one["name"] for one in tokens(shell, "--db", place, "--tenant", "acme")] == ["ci"]
    assert tokens(shell, "--db", place, "--tenant", "globex") == []
    refused = shell("token", "revoke", "ci", "--tenant", "globex", "--db", place)
    assert (refused.code, "of another tenant" in refused.err) == (3, True)
    assert shell("token", "revoke", "ci", "--tenant", "acme", "--db", place).code == 0


def test_a_configured_tenant_has_tokens_of_its_own(shell, tmp_path, monkeypatch):
    """For a server of that tenant alone; it cannot make one for another."""
    monkeypatch.setenv("SCRUBJAY_TENANT", "acme")
    place = str(tmp_path / "notes.db")
    assert shell("token", "create", "ci", "--db", place).code == 0
    assert [one.name for one in tmp_path.glob("*.db")] == ["notes.acme.db"]
    assert tokens(shell, "--db", place)[0]["tenant"] == "acme"
    refused = shell("token", "create", "x", "--tenant", "globex", "--db", place)
    assert refused.code == 2
    assert "holds keys of that tenant alone" in refused.err


def test_a_configured_person_gets_tokens_of_their_own(shell, monkeypatch):
    """Whoever is ann at the shell is ann with the token, and does not see more."""
    monkeypatch.setenv("SCRUBJAY_USER", "ann")
    shell("token", "create", "ci")
    assert tokens(shell)[0]["user"] == "ann"


def test_the_list_says_what_each_may_and_when_it_ends(shell, home):
    """Without a secret, and the ones that are over as well."""
    secret = shell("token", "create", "ci", "--scope", "read", "--scope", "admin").out.strip()
    shell("token", "create", "old", "--expires", "1h")
    db = next(home.rglob("*.db"))
    with scrubjay.open(db, embedder=False) as store, store._context.db.write() as connection:
        connection.execute("UPDATE access SET expires_us = 5 WHERE name = 'old'")
    listed = shell("token", "list")
    head, ci, old = listed.out.splitlines()
    assert head.split() == "name may tenant user created last used expires".split()
    assert ci.split()[:5] == ["ci", "read,", "admin", "-", "-"]
    assert ci.split()[-2:] == ["never", "never"]
    assert old.endswith("(expired)")
    assert secret not in listed.out + shell("token", "list", "--json").out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["create"], "usage: scrubjay token"),
        (["revoke"], "usage: scrubjay token"),
        (["list", "ci"], "usage: scrubjay token"),
        (["open", "ci"], "usage: scrubjay token"),
        (["open", "--tenant", "acme"], "for all callers"),
        (["create", "ci", "--expires", "tomorrow"], "or a date, such as"),
        (["create", "ci", "--expires", "soon"], "such as 12h, 90d or 2w"),
        (["create", "ci", "--scope", "wriet"], "did you mean 'write'?"),
        (["create", "ci", "--expires", "2020-01-01"], "in the past"),
        (["create", "ci", "--tenant", "A B"], "such as acme"),
        (["revoke", "ci", "--scope", "read"], "goes with create"),
        (["crate", "ci"], "did you mean 'create'?"),
    ],
)
def test_wrong_usage_says_what_would_be_right(shell, home, words, says):
    failed = shell("token", *words)
    assert (failed.code, says in failed.err, failed.out) == (2, True, "")


def test_to_list_or_revoke_makes_no_store(shell, home):
    for words in (["list"], ["revoke", "ci"], ["open"]):
        assert shell("token", *words).code == 3
    assert list(home.rglob("*.db")) == []
    shell("add", "x")
    assert (shell("token", "list").code, shell("token", "revoke", "ci").code) == (3, 3)


def test_without_the_last_token_a_server_goes_on_asking_until_it_is_told(shell, tmp_path):
    """To revoke is no way to let everybody in; the way is said, and refused while there are tokens."""
    place = str(tmp_path / "notes.db")
    shell("token", "create", "a", "--db", place)
    shell("token", "create", "b", "--db", place)
    assert "first: a, b" in shell("token", "open", "--db", place).err
    assert "last" not in shell("token", "revoke", "a", "--db", place).err

    revoked = shell("token", "revoke", "b", "--db", place)

    opens = f"scrubjay key open --db {place}"
    assert "that was the last one; servers still require" in revoked.err
    assert opens in revoked.err
    assert opens in shell("token", "list", "--db", place).err
    assert asks(place) is True
    opened = shell("token", "open", "--db", place)
    assert (opened.code, "no API key" in opened.out) == (0, True)
    assert asks(place) is False
    assert shell("token", "list", "--db", place).err == ""
    assert shell("token", "open", "--json", "--db", place).json == {"done": "opened", "tokens": []}
    shell("token", "create", "c", "--db", place)
    assert asks(place) is True


def asks(place):
    with scrubjay.open(place, embedder=False) as store:
        return store.api_keys.asks()


def test_that_a_server_asks_moves_with_the_store(shell, tmp_path, postgres_url):
    """In a backup, to Postgres and back; one that never had a token does not ask."""
    place, copy, back = (str(tmp_path / f"{one}.db") for one in ("notes", "copy", "back"))
    shell("add", "The kettle whistles", "--db", place)
    assert asks(place) is None
    shell("token", "create", "ci", "--db", place)
    shell("token", "revoke", "ci", "--db", place)

    shell("backup", copy, "--db", place)
    assert shell("promote", "--db", place, "--to", postgres_url).code == 0
    assert (asks(copy), asks(postgres_url)) == (True, True)
    assert shell("demote", "--db", postgres_url, "--to", back).code == 0
    assert asks(back) is True


def test_a_secret_is_in_no_file_export_status_or_message(shell, home, tmp_path):
    """Only its hash is: the bytes of every file that a store leaves behind are searched."""
    secret = shell("token", "create", "ci").out.strip()
    shell("add", "The kettle whistles", "--id", "kettle")
    shell("export", "--jsonl", str(tmp_path / "out.jsonl"))
    with scrubjay.open(None) as store:
        assert store.api_keys.find(secret) is not None
        files = [one for one in home.rglob("*") if one.is_file()]
        read = b"".join(one.read_bytes() for one in [*files, tmp_path / "out.jsonl"])
    said = "".join(
        shell(*words).out
        for words in (["status"], ["status", "--json"], ["ls"], ["token", "list"], ["doctor"])
    )
    assert b"kettle" in read
    assert secret[3:].encode() not in read + said.encode()
    assert "access" not in (tmp_path / "out.jsonl").read_text("utf-8")
    for action in ("create", "revoke"):  # given as a name by mistake, it is not repeated either
        mistyped = shell("token", action, secret)
        assert (mistyped.code, secret in mistyped.err) == (2, False)


def test_a_secret_is_not_in_a_dump_of_postgres(postgres_url):
    """Every row of every table, as text."""
    import psycopg

    with scrubjay.open(postgres_url, embedder=False) as store:
        store.add("The kettle whistles")
        secret = store.api_keys.create("ci").secret
    with psycopg.connect(postgres_url) as db:
        tables = db.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'scrubjay'"
        ).fetchall()
        dump = "".join(
            str(row)
            for (table,) in tables
            for row in db.execute(f'SELECT t::text FROM scrubjay."{table}" AS t')  # type: ignore[arg-type]
        )
    assert "kettle whistles" in dump
    assert "ci" in dump
    assert secret[3:] not in dump


def test_tokens_move_with_the_store(shell, tmp_path, postgres_url):
    """To Postgres and back; a place that has tokens alone is not overwritten."""
    place = str(tmp_path / "notes.db")
    shell("add", "The kettle whistles", "--db", place)
    secret = shell("token", "create", "ci", "--db", place).out.strip()
    assert shell("promote", "--db", place, "--to", postgres_url).code == 0
    with scrubjay.open(postgres_url, embedder=False) as store:
        assert store.api_keys.find(secret).name == "ci"
    taken = str(tmp_path / "taken.db")
    shell("token", "create", "mine", "--db", taken)
    assert "holds other memories" in shell("demote", "--db", postgres_url, "--to", taken).err
    back = str(tmp_path / "back.db")
    assert shell("demote", "--db", postgres_url, "--to", back).code == 0
    with scrubjay.open(back, embedder=False) as store:
        assert store.api_keys.find(secret).name == "ci"


def test_in_a_process_of_its_own_with_a_pipe(tmp_path: Path):
    """As in a script: one line on standard output."""
    command = [
        sys.executable,
        "-m",
        "scrubjay",
        "token",
        "create",
        "ci",
        "--db",
        str(tmp_path / "a.db"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert is_whole(done.stdout.rstrip("\n"))
    again = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=60)
    assert again.returncode == 2
    assert "already" in json.loads(again.stdout)["error"]["message"]
