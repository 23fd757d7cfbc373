"""doctor reports which files other users can access, and --repair takes that access away."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import scrubjay
from scrubjay import config
from scrubjay.ops.doctor import Finding
from scrubjay.ops.doctor.permissions import check_permissions, repair_permissions
from scrubjay.ops.doctor.run import examine, examine_store

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="Windows has access lists instead of modes"
)
FOREIGN_GROUP = 54321


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """The folder of scrubjay in a home, with a store in it."""
    monkeypatch.delenv("SCRUBJAY_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with scrubjay.open(embedder=False) as store:
        store.add("The kettle whistles")
    return tmp_path / "data" / "scrubjay"


def wide(db: Path | None = None) -> dict[str, Finding]:
    """Return what others can access, by name."""
    found = list(check_permissions(config.load(db=None if db is None else str(db))))
    assert {one.component for one in found} == {"permissions"}
    return {
        Path(one.detail.partition(" access to ")[2].partition(" (mode")[0]).name: one
        for one in found
        if one.state != "ok"
    }


def repair(db: Path | None = None) -> list[tuple[str, str]]:
    settings = config.load(db=None if db is None else str(db))
    return [(one.state, one.detail) for one in repair_permissions(settings)]


def test_what_scrubjay_creates_needs_no_repair(home):
    """Whatever the umask was."""
    assert wide() == {}
    assert repair() == []


def test_each_wide_file_and_folder_is_reported_and_repaired(home):
    """The store, its logs and copies, those of tenants, and the folder; nothing else that is there."""
    ours = ("memory.db", "memory.db-wal", "memory.db.promoted", "memory.acme.db", "serve.key")
    for name in (*ours, "notes.md"):
        (home / name).touch()
        (home / name).chmod(0o644)
    home.chmod(0o755)

    found = wide()
    assert found.keys() == {"scrubjay", *ours}
    assert {one.fix for one in found.values()} == {"scrubjay doctor --repair"}
    assert {one.state for one in found.values()} == {"degraded"}
    assert f"{home / 'memory.db'} (mode 644)" in found["memory.db"].detail

    assert {state for state, _ in repair()} == {"repaired"}

    assert wide() == {}
    assert {mode(home / name) for name in ours} == {0o600}
    assert (mode(home), mode(home / "notes.md")) == (0o700, 0o644)


@pytest.mark.parametrize("name", ["serve.key", "serve.header"])
def test_a_key_that_others_could_read_is_to_be_replaced(home, name):
    """`serve` refuses it because others may know it; with the mode repaired they still do."""
    (home / name).touch()
    (home / name).chmod(0o644)
    advice = f"others may know the key: delete {home / 'serve.key'}"

    assert advice in wide()[name].detail
    ((state, detail),) = repair()
    assert (state, advice in detail) == ("repaired", True)


def test_a_store_elsewhere_is_checked_and_its_folder_is_not(tmp_path):
    """The folder of a path that was given belongs to the user, and may be their home."""
    folder = tmp_path / "notes"
    folder.mkdir()
    folder.chmod(0o755)
    with scrubjay.open(folder / "notes.db", embedder=False) as store:
        store.add("The kettle whistles")
        (folder / "notes.db").chmod(0o640)
        (folder / "notes.db-wal").chmod(0o604)

        found = wide(folder / "notes.db")
        assert found.keys() == {"notes.db", "notes.db-wal"}
        assert found["notes.db"].fix == f"scrubjay doctor --repair --db {folder / 'notes.db'}"
        repair(folder / "notes.db")

        assert wide(folder / "notes.db") == {}
        assert mode(folder) == 0o755
        assert store.get(store.add("It still whistles").id) is not None


def test_a_link_to_a_store_is_followed_to_the_file(tmp_path):
    """The link itself has no mode."""
    (tmp_path / "disk").mkdir()
    scrubjay.open(tmp_path / "disk" / "notes.db", embedder=False).close()
    (tmp_path / "disk" / "notes.db").chmod(0o644)
    (tmp_path / "link.db").symlink_to(tmp_path / "disk" / "notes.db")

    assert wide(tmp_path / "link.db").keys() == {"notes.db"}
    repair(tmp_path / "link.db")

    assert mode(tmp_path / "disk" / "notes.db") == 0o600


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may choose any group")
def test_a_group_that_was_given_a_file_keeps_it(home):
    """The group shares the store on purpose; everyone else does not."""
    (home / "memory.db").chmod(0o664)
    os.chown(home / "memory.db", -1, FOREIGN_GROUP)
    assert wide().keys() == {"memory.db"}

    repair()

    assert mode(home / "memory.db") == 0o660
    (finding,) = check_permissions(config.load())
    assert (finding.state, str(FOREIGN_GROUP) in finding.detail) == ("ok", True)
    assert repair() == []


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ('db = "postgres://ann:secret@host/notes"', {"scrubjay.toml"}),
        ('db = "postgres://ann@host/notes"', set()),
        ('generator = "http://localhost:11434/v1#qwen3:1.7b"', set()),
    ],
)
def test_settings_are_private_if_they_have_a_password(home, tmp_path, line, names):
    """Settings without one may be public."""
    settings = tmp_path / "config" / "scrubjay" / "scrubjay.toml"
    settings.parent.mkdir(parents=True, mode=0o700)
    settings.write_text(line + "\n")
    settings.chmod(0o644)

    assert wide().keys() == names
    repair()

    assert mode(settings) == (0o600 if names else 0o644)


def test_tiers_are_not_reported(home, tmp_path):
    """A tier is there to be shared."""
    team = tmp_path / "team.db"
    scrubjay.open(team, embedder=False).close()
    team.chmod(0o664)
    settings = config.load()._replace(tiers=(config.TierSetting("team", str(team)),))

    assert [one.state for one in check_permissions(settings)] == ["ok"]


def test_what_cannot_be_changed_is_reported(home, monkeypatch):
    """With the reason of the system."""
    (home / "memory.db").chmod(0o644)

    def refuse(path: str, removed: int) -> None:
        raise PermissionError(1, "Operation not permitted", path)

    monkeypatch.setattr("scrubjay.ops.doctor.permissions.restrict", refuse)

    ((state, detail),) = repair()
    assert state == "failed"
    assert detail.endswith("memory.db keeps mode 644: Operation not permitted")


def test_the_check_is_part_of_doctor_for_the_owner_only(home):
    """A caller with a user learns nothing about the machine."""
    with scrubjay.open(embedder=False) as store, scrubjay.open(user="ann", embedder=False) as anns:
        assert "permissions" in {one.component for one in examine(config.load())}
        assert "permissions" in {one.component for one in examine_store(store)}
        assert "permissions" not in {one.component for one in examine_store(anns)}
