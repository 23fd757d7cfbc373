"""A tenant has a store of its own, which no other tenant sees."""

from __future__ import annotations

from pathlib import Path

import pytest

import scrubjay
from scrubjay.surfaces.cli import main


def test_tenants_of_one_place_do_not_see_each_other(tmp_path: Path):
    place = tmp_path / "notes.db"
    with (
        scrubjay.open(place, tenant="acme", embedder=False) as acme,
        scrubjay.open(place, tenant="globex", embedder=False) as globex,
        scrubjay.open(place, embedder=False) as nobodys,
    ):
        acme.add("the launch is in May", id="launch")
        globex.add("the launch is in June", id="launch")
        assert [hit.text for hit in acme.search("launch")] == ["the launch is in May"]
        assert [hit.text for hit in globex.search("launch")] == ["the launch is in June"]
        assert len(nobodys.search("launch")) == 0
        assert acme.forget("launch") == 1
        assert globex.get("launch").text == "the launch is in June"
    assert {one.name for one in tmp_path.glob("*.db")} == {
        "notes.db", "notes.acme.db", "notes.globex.db",
    }  # fmt: skip


def test_a_tenant_is_named_at_the_shell_and_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    place = str(tmp_path / "notes.db")
    with scrubjay.open(place, tenant="acme", embedder=False) as acme:
        acme.add("the launch is in May")
    assert main(["search", "launch", "--db", place, "--tenant", "acme", "--json"]) == 0
    monkeypatch.setenv("SCRUBJAY_TENANT", "acme")
    assert main(["search", "launch", "--db", place]) == 0
    assert main(["search", "launch", "--db", place, "--tenant", "globex"]) == 3
    assert f"there is no {tmp_path / 'notes.globex.db'}" in capsys.readouterr().err


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path):
    with pytest.raises(scrubjay.InvalidInput, match="such as acme"):
        scrubjay.open(tmp_path / "notes.db", tenant="../other", embedder=False)
    assert list(tmp_path.glob("**/*.db")) == []


def test_to_read_from_postgres_makes_nothing(
    postgres_url: str, capsys: pytest.CaptureFixture[str]
):
    """As with a file that is not there; the tenants that are there are named, the nearest first."""
    import psycopg

    assert main(["ls", "--db", postgres_url]) == 3
    assert f"there is no store in {postgres_url}; `scrubjay add`" in capsys.readouterr().err
    for tenant in ("zeta", "acme"):
        scrubjay.open(postgres_url, tenant=tenant, embedder=False).close()
    for words in (["ls"], ["search", "launch"], ["status"], ["reindex", "words"]):
        assert main(["--db", postgres_url, "--tenant", "acmee", *words]) == 3
        said = capsys.readouterr().err
        assert (
            f"there is no store in {postgres_url}#scrubjay_acmee; tenants are: acme, zeta;" in said
        )
    assert main(["--db", postgres_url, "--tenant", "acme", "ls"]) == 3
    assert "there is no" not in capsys.readouterr().err
    with psycopg.connect(postgres_url) as connection:
        rows = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'scrub%'")
        assert {name for (name,) in rows} == {"scrubjay_acme", "scrubjay_zeta"}
