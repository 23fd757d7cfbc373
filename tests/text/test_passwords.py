"""A password in an address is in no message, no line at the shell and no repr."""

from __future__ import annotations

from pathlib import Path

import pytest

import scrubjay
from scrubjay import config
from scrubjay.surfaces.cli import main
from scrubjay.text.urls import strip_credentials

SECRET = "s3cr3tpw"
URL = f"postgres://me:{SECRET}@127.0.0.1:9/db"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (URL, "postgres://127.0.0.1:9/db"),
        (f"me:{SECRET}@host/db", "host/db"),
        (f"postgres://me:1/{SECRET}@host/db", "postgres://host/db"),
        (f"postgres://me:1@{SECRET}?#/@host/db", "postgres://host/db"),
        (f"postgres://host/db?password={SECRET}", "postgres://host/db"),
        (f"http://me:{SECRET}@host/v1?key={SECRET}#org/model", "http://host/v1#org/model"),
        (f"https://me:{SECRET}@host/ai/@cf/x#@cf/model", "https://host/ai/@cf/x#@cf/model"),
        (f"a: --tier b=postgres://me:{SECRET}@h/d", "a: --tier b=postgres://h/d"),
        ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
    ],
)
def test_an_address_is_shown_without_its_login(given: str, shown: str):
    """Whatever signs the password holds; the name of a model may hold an @."""
    assert strip_credentials(given) == shown


@pytest.mark.parametrize("sign", ["/", "?", "#"])
def test_a_password_with_a_sign_that_ends_it_is_refused(sign: str):
    """It would be a port and the name of a database, which is shown."""
    with pytest.raises(scrubjay.InvalidInput, match="write %2F for /") as said:
        scrubjay.open(f"postgres://me:12{sign}{SECRET}@127.0.0.1/db")
    assert SECRET not in str(said.value)


def test_no_message_of_the_library_has_it(tmp_path: Path):
    """A server is no tier, nothing to be connected and nothing to be read; a scheme is missing."""
    with scrubjay.open(tmp_path / "n.db", embedder=False) as store:
        for call in (
            lambda: scrubjay.open(tmp_path / "m.db", tiers={"project": URL}),
            lambda: scrubjay.open(tmp_path / "m.db", vectors=f"me:{SECRET}@127.0.0.1/db"),
            lambda: scrubjay.open(URL + "\0"),
            lambda: store.connect(URL, name="handbook"),
            lambda: store.ingest(URL),
        ):
            with pytest.raises(scrubjay.InvalidInput) as said:
                call()
            assert SECRET not in str(said.value)
            assert "127.0.0.1" in str(said.value)


@pytest.mark.parametrize(
    "words",
    [
        ["--db", URL, "tiers"],
        ["--db", URL, "tiers", "--json"],
        ["--db", URL, "get", "some", "--tier", "project=p.db"],
        ["get", "some", "--tier", f"project={URL}"],
        ["search", "x", "--tier", f"project={URL}"],
        ["ingest", URL],
        ["--vectors", f"me:{SECRET}@127.0.0.1/c", "add", "x"],
    ],
)
def test_no_line_of_the_shell_has_it(words: list[str], capsys: pytest.CaptureFixture[str]):
    """But where the server is it says."""
    main(words)
    shown = capsys.readouterr()
    assert SECRET not in shown.out + shown.err
    assert "127.0.0.1" in shown.out + shown.err


def test_a_server_that_does_not_answer_is_a_lost_tier(capsys: pytest.CaptureFixture[str]):
    """What it said is the reason, and nothing of a file or a folder."""
    assert main(["--db", URL, "tiers"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "– postgres://me@127.0.0.1:9/db" in shown
    assert "agent is lost: postgres://me@127.0.0.1:9/db does not answer" in shown
    assert "mkdir" not in shown


def test_a_command_of_one_store_is_named(capsys: pytest.CaptureFixture[str]):
    """Also where options stand before it."""
    assert main(["--user", "ann", "status", "--tier", f"project={URL}"]) == 2
    said = capsys.readouterr().err
    assert SECRET not in said
    assert "status works on one" in said


def test_no_repr_of_settings_has_it():
    """Logs and tracebacks show these."""
    assert SECRET not in repr(config.load(db=URL, vectors=f"qdrant://:{SECRET}@h/c"))
