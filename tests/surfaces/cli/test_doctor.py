"""doctor looks at everything, fixes nothing, and names the command that would."""

from __future__ import annotations

import os
import sqlite3
import sys
from importlib import import_module
from pathlib import Path

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay import config
from scrubjay.models.bundled import PACKAGE
from scrubjay.models.download import pull
from scrubjay.ops.doctor import Finding
from scrubjay.ops.doctor import installation as doctor
from scrubjay.ops.doctor.run import examine
from scrubjay.runtime.command_hints import to_embed


def finding(component: str, db: str | Path | None = None) -> Finding:
    found = examine(config.load(db=None if db is None else str(db)))
    return next(one for one in found if one.component == component)


@pytest.fixture
def store(tmp_path) -> Path:
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=False) as opened:
        opened.add("The kettle whistles")
    return path


def test_a_healthy_installation_has_nothing_failed(store):
    """Python, SQLite with FTS5, the packages and the store are all well."""
    states = {one.component: one.state for one in examine(config.load(db=str(store)))}
    assert "failed" not in states.values()
    for part in ("python", "sqlite", "PyStemmer", "numpy", "store", "integrity", "writing"):
        assert states[part] == "ok", part


def test_a_store_that_is_not_there_is_missing_and_stays_so(tmp_path):
    """Looking creates nothing, neither file nor folder."""
    db = tmp_path / "nowhere" / "notes.db"
    one = finding("store", db)
    assert one.state == "missing"
    assert one.fix.endswith(f' {db.parent} && scrubjay add "…" --db {db}')
    assert list(tmp_path.iterdir()) == [tmp_path / "home"]


def test_a_default_store_that_is_not_there_is_made_with_its_folder():
    """By the plain command."""
    assert finding("store").fix == 'scrubjay add "…"'


@pytest.fixture
def tiers(tmp_path, monkeypatch) -> dict[str, Path]:
    """Settings with a tier that is written to, and three others, all well."""
    paths = {name: tmp_path / f"{name}.db" for name in ("project", "team", "handbook", "wiki")}
    for path in paths.values():
        with scrubjay.open(path, embedder=False) as opened:
            opened.add_many({"text": f"{path} knows {number} kettles"} for number in range(300))
    settings = tmp_path / "scrubjay.toml"
    settings.write_text("[tiers]\n" + "".join(f"{name} = '{name}.db'\n" for name in paths))
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(settings))
    return paths


class TestTiers:
    def about(self, name: str) -> list[tuple[str, str, str]]:
        found = examine(config.load())
        return [
            (one.state, one.detail, one.fix) for one in found if one.component == f"tier {name}"
        ]

    def test_each_is_examined_and_the_command_names_its_file(self, tiers):
        """The vectors of a tier are made in its own file; that which is written to is the store."""
        (well, vectors) = self.about("team")

        assert well[0] == "ok"
        assert str(tiers["team"]) in well[1]
        assert vectors[0] == "degraded"
        assert vectors[1] == "vectors: 300 are pending: found by keyword and by static vectors"
        assert vectors[2] == to_embed(str(tiers["team"]), model_is_here=False)
        assert "SCRUBJAY_OFFLINE=0" in vectors[2]
        assert self.about("project") == []
        assert str(tiers["project"]) in finding("store").detail

    @pytest.mark.parametrize("share", [2, 3, 20])
    def test_one_that_is_damaged_inside_failed_with_a_rescue(self, tiers, share):
        """Whether it opens like any other, or not even that."""
        content = bytearray(tiers["team"].read_bytes())
        content[len(content) // share :] = bytes(len(content) - len(content) // share)
        tiers["team"].write_bytes(content)

        ((state, detail, fix),) = (one for one in self.about("team") if one[0] == "failed")

        assert f"{tiers['team']} is damaged" in detail
        assert fix == f"scrubjay doctor --repair --db {tiers['team']}"
        assert state == "failed"
        assert {state for state, _, _ in self.about("wiki")} == {"ok", "degraded"}

    def test_one_that_is_not_there_or_of_an_older_scrubjay_says_what_helps(self, tiers):
        """Nothing is made or brought up to date by looking."""
        tiers["handbook"].unlink()
        with sqlite3.connect(tiers["wiki"]) as db:
            db.execute("PRAGMA user_version = 2")
        db.close()

        ((state, detail, fix),) = self.about("handbook")
        assert (state, f"there is no file {tiers['handbook']}" in detail) == ("missing", True)
        assert "scrubjay.toml" in fix
        assert fix.endswith(f'scrubjay add "…" --db {tiers["handbook"]}')
        ((state, detail, _),) = self.about("wiki")
        assert state == "failed"
        assert f"scrubjay status --db {tiers['wiki']}" in detail
        assert not tiers["handbook"].exists()

    def test_a_store_that_is_named_is_examined_alone(self, tiers, monkeypatch):
        """By --db, or by SCRUBJAY_DB."""
        named = {one.component for one in examine(config.load(db=str(tiers["team"])))}
        monkeypatch.setenv("SCRUBJAY_DB", str(tiers["team"]))
        by_environment = {one.component for one in examine(config.load())}

        assert not any(one.startswith("tier ") for one in named | by_environment)


def test_examining_changes_nothing(store):
    """Not one byte of the file."""
    before = store.read_bytes()
    examine(config.load(db=str(store)))
    assert store.read_bytes() == before


def test_a_store_in_use_can_be_named_by_a_relative_path(store, monkeypatch):
    """The log beside it is compared with the file."""
    monkeypatch.chdir(store.parent)
    with scrubjay.open(store, embedder=False) as opened:
        opened.add("The kettle sings")
        assert finding("store", store.name).state == "ok"


def test_a_file_that_is_no_database_failed(tmp_path):
    """And the finding names the file."""
    path = tmp_path / "letter.db"
    path.write_text("Dear SQLite, this is not one of yours.\n" * 100)
    one = finding("store", path)
    assert one.state == "failed"
    assert str(path) in one.detail


def test_a_database_of_another_program_failed(tmp_path):
    """It is left alone."""
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs (x)")
    assert finding("store", path).state == "failed"
    assert "another program" in finding("store", path).detail


def test_a_newer_schema_failed_with_the_upgrade_command(store):
    """The fix is for this very Python."""
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA user_version = 9999")
    one = finding("store", store)
    assert one.state == "failed"
    assert one.fix.endswith("-m pip install --upgrade scrubjay")


def test_a_folder_in_place_of_the_store_failed(tmp_path):
    """SQLite would only say that it cannot open it."""
    assert finding("store", tmp_path).state == "failed"


def test_a_damaged_page_is_found_and_a_rescue_named(store):
    """quick_check reads the whole file."""
    with scrubjay.open(store, embedder=False) as opened:
        opened.add_many([{"text": f"memory number {number} " * 20} for number in range(200)])
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(store.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 8192] = b"\xaa" * 8192
    store.write_bytes(content)
    states = [one for one in examine(config.load(db=str(store))) if one.state == "failed"]
    assert states, "the damage went unseen"
    assert states[0].component in ("store", "integrity")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everything")
def test_a_store_that_cannot_be_written_failed(store):
    """With the command that allows it."""
    store.chmod(0o444)
    assert finding("writing", store).fix == f"chmod u+w {store}"


def test_a_store_that_the_user_may_not_write_failed(store, monkeypatch):
    """The same, as the system would say it to an ordinary user."""
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != store)
    assert finding("writing", store).state == "failed"


def test_pending_vectors_are_counted(store):
    """A model is known to the file and owes a vector."""
    with scrubjay.open(store) as opened:
        opened.pending(wait=False)
    one = finding("vectors", store)
    assert (one.state, one.fix) == ("degraded", to_embed(str(store), model_is_here=False))
    assert one.detail.startswith("1 ")


@pytest.mark.parametrize(
    ("module", "package", "state"),
    [("numpy", "numpy", "missing"), ("Stemmer", "PyStemmer", "failed")],
)
def test_a_package_that_does_not_load_is_named_with_its_command(
    monkeypatch, module, package, state
):
    """Only word search cannot do without its package."""

    def without(name: str) -> object:
        if name == module:
            raise ImportError(f"No module named {name!r}")
        return import_module(name)

    monkeypatch.setattr(doctor.importlib, "import_module", without)
    one = finding(package)
    assert one.state == state
    assert one.fix == f"{sys.executable} -m pip install {package}"


@pytest.mark.parametrize("package", ["numpy", "onnxruntime"])
def test_without_vector_support_every_check_answers(
    bundled_models, tmp_path, monkeypatch, package
):
    """GN-15: a store with vectors is examined, and what keyword search needs is well."""
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=HashingEmbedder()) as opened:
        opened.add("The kettle whistles")
        opened.pending()
    monkeypatch.setitem(sys.modules, package, None)  # an import of it fails

    found = {one.component: one for one in examine(config.load(db=str(path)))}

    assert found[package].state == "missing"
    assert found[package].fix == f"{sys.executable} -m pip install {package}"
    assert found[PACKAGE].state == "missing"
    assert f"pip install {package}" in found[PACKAGE].detail
    assert found["rows"].state == ("missing" if package == "numpy" else "ok")
    assert {found[name].state for name in ("sqlite", "store", "integrity", "writing")} == {"ok"}


def test_a_model_that_is_not_here_is_missing(monkeypatch):
    """With the command that fetches it; forbidden, the command says so."""
    assert finding("model").state == "missing"
    assert "scrubjay models pull" in finding("model").fix
    assert finding("network").state == "degraded"
    monkeypatch.delenv("SCRUBJAY_OFFLINE")
    assert finding("model").fix == "scrubjay models pull"
    assert finding("network").state == "ok"


def test_a_damaged_model_failed():
    """The right length is not enough: the checksum decides."""
    where = pull.folder(pull.MINILM)
    where.mkdir(parents=True)
    for file in pull.MINILM.files:
        with (where / file.name).open("wb") as opened:
            opened.truncate(file.size)
    one = finding("model")
    assert (one.state, one.fix) == ("failed", "scrubjay models pull")
    assert "model.safetensors" in one.detail


def test_the_command_shows_every_part_and_fails_only_where_one_failed(shell, tmp_path):
    """0 when nothing failed, 1 otherwise; the fix stands under the part."""
    done = shell("doctor")
    assert done.code == 0, done.out
    assert "missing" in done.out
    assert 'fix: scrubjay add "…"' in done.out
    path = tmp_path / "letter.db"
    path.write_text("not a database, but long enough to be looked at as one\n" * 100)
    failed = shell("doctor", "--db", str(path), "--json")
    assert failed.code == 1
    assert failed.json["ok"] is False


def test_files_that_cannot_be_read_are_named_with_the_command_that_helps(monkeypatch):
    """GN-15: each missing part is shown, and what to type."""
    assert finding("files").state == "ok"
    there = doctor._is_there
    monkeypatch.setattr(doctor, "_is_there", lambda name: name != "pypdfium2" and there(name))

    lost = finding("files")

    assert (lost.state, lost.detail) == ("degraded", "packages are missing for: PDF")
    assert "scrubjay[files]" in lost.fix


def test_what_mcp_and_server_need_is_optional(monkeypatch, bare_shell):
    """The line says which command needs it and what to type; nothing failed."""
    assert (finding("mcp").state, finding("server").state) == ("ok", "ok")
    there = doctor._is_there
    monkeypatch.setattr(doctor, "_is_there", lambda name: name != "uvicorn" and there(name))

    lost = finding("server")

    assert (lost.state, lost.detail) == ("missing", "optional: `scrubjay serve` needs uvicorn")
    assert "scrubjay[server]" in lost.fix
    assert finding("mcp").state == "ok"
    assert bare_shell("doctor").code == 0


def test_a_profile_of_the_settings_file_that_cannot_be_built_is_named(
    bare_shell, tmp_path, monkeypatch
):
    """With the table to correct; a search by another profile would not have said it."""
    file = tmp_path / "settings.toml"
    file.write_text('[profile.mine]\nbase = "cognis"\nvector_wieght = 0.2\n', encoding="utf-8")
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))

    found = bare_shell("doctor", "--json").json["findings"]

    (wrong,) = (
        one for one in found if one["component"] == "settings" and one["state"] == "failed"
    )
    assert "vector_weight" in wrong["detail"]
    assert wrong["fix"] == f"correct [profile.mine] in {file}"


def test_onnxruntime_leaves_nothing_in_an_empty_home(tmp_path):
    """It writes an id of the device when it is imported, unless it is told before."""
    import os
    import subprocess
    import sys

    env = {**os.environ, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    for name in ("XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY"):
        env.pop(name, None)
    env["SCRUBJAY_DB"] = str(tmp_path / "a.db")
    subprocess.run([sys.executable, "-m", "scrubjay", "doctor"], env=env, capture_output=True)

    assert not list(tmp_path.rglob("*onnxruntime*"))
