"""SV-4 at the shell: `--tier`, the settings, and the list of tiers."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from layered import layered

import scrubjay
from scrubjay.search.profiles import _BUILT_IN

NAMES = ("agent", "project", "team")


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A file for each tier, each with an entry of its own and one that all have."""
    monkeypatch.setitem(_BUILT_IN, "layered", layered)
    paths = {name: str(tmp_path / f"{name}.db") for name in NAMES}
    for name, path in paths.items():
        with scrubjay.open(path, embedder=False) as store:
            store.add(f"the boiler of the {name}", id=f"{name}-entry")
            store.add(f"the {name} knows the boiler", id="shared")
    return paths


def options(files, *names):
    return [word for name in names for word in ("--tier", f"{name}={files[name]}")]


def query(shell, *words):
    done = shell("query", "boiler", "--profile", "layered", "--json", *words)
    return {(hit["id"], hit["tier"]): hit["score"] for hit in done.json["hits"]}


def test_query_searches_every_tier_and_says_whose_a_hit_is(bare_shell, files):
    """In text, in Markdown and in JSON."""
    named = options(files, *NAMES)

    assert query(bare_shell, *named) == {
        ("agent-entry", "agent"): 1.0,
        ("shared", "agent"): 1.0,
        ("project-entry", "project"): 0.8,
        ("team-entry", "team"): 0.6,
    }
    shown = bare_shell("query", "boiler", "--profile", "layered", *named).out
    assert "fact · just now · tier team · team-entry" in shown
    pasted = bare_shell("query", "boiler", "--profile", "layered", "--md", *named).out
    assert "tier team · score 0.600" in pasted


def test_a_store_alone_shows_no_tier(bare_shell, files):
    """There is nothing to tell apart."""
    shown = bare_shell("query", "boiler", "--profile", "layered", "--db", files["team"]).out

    assert "tier" not in shown


def test_any_other_name_is_a_vault_with_a_priority(bare_shell, files, tmp_path):
    """After the last @, if a number follows; 0.5 otherwise."""
    odd = tmp_path / "a@b.db"
    os.rename(files["team"], odd)

    assert query(
        bare_shell,
        *("--db", files["agent"]),
        *("--tier", f"docs={files['project']}@0.7"),
        *("--tier", f"odd={odd}"),
    ) == {
        ("agent-entry", "agent"): 1.0,
        ("shared", "agent"): 1.0,
        ("project-entry", "docs"): 0.7,
        ("team-entry", "odd"): 0.5,
    }


def test_a_broken_tier_is_a_note_and_nothing_is_made(bare_shell, files, tmp_path):
    """A command that only reads makes no file, not even that of the highest tier."""
    os.unlink(files["agent"])
    Path(files["team"]).write_text("no database " * 100)
    before = sorted(os.listdir(tmp_path))

    done = bare_shell("query", "boiler", "--profile", "layered", *options(files, *NAMES))

    assert done.code == 0
    assert "project-entry" in done.out
    words = " ".join(done.out.split())
    assert f"note: tier agent: there is no file {files['agent']}" in words
    assert f"note: tier team: {files['team']} is not a scrubjay store" in words
    assert sorted(os.listdir(tmp_path)) == before


def test_get_finds_an_entry_of_any_tier(bare_shell, files):
    """By the beginning of its id; what is missing says which tier may have it."""
    named = options(files, *NAMES)

    assert "the boiler of the team" in bare_shell("get", "team-e", *named).out
    assert "the agent knows the boiler" in bare_shell("get", "shared", *named).out
    Path(files["team"]).write_text("no database " * 100)
    done = bare_shell("get", "team-entry", "shared", *named)
    assert done.code == 3
    assert "the agent knows" in done.out
    assert "there is no memory with the id 'team-entry'" in done.err
    assert "tier team: " in done.err
    told = bare_shell("get", "team-entry", "--json", *named).json
    assert told["missing"] == ["team-entry"]
    assert told["unasked"][0].startswith("tier team: ")


def test_tiers_lists_them_with_their_state(bare_shell, files):
    """Weight, count, file, which one is written to, and what is wrong."""
    Path(files["team"]).write_text("no database " * 100)
    named = [*options(files, *NAMES), "--tier", f"docs={files['team']}x@0.25"]

    done = bare_shell("tiers", *named)

    rows = [line.split() for line in done.out.splitlines()[1:5]]
    assert rows == [
        ["agent", "1", "2", files["agent"], "(written", "to)"],
        ["project", "0.8", "2", files["project"]],
        ["team", "0.6", "–", files["team"]],
        ["docs", "0.25", "–", f"{files['team']}x"],
    ]
    words = " ".join(done.out.split())
    assert f"team is lost: {files['team']} is not a scrubjay store" in words
    assert f"docs is lost: there is no file {files['team']}x" in words
    told = bare_shell("tiers", "--json", *named).json["tiers"]
    assert [(one["name"], one["state"], one["memories"]) for one in told] == [
        ("agent", "open", 2),
        ("project", "open", 2),
        ("team", "lost", None),
        ("docs", "lost", None),
    ]


def test_the_settings_name_tiers_for_every_command(bare_shell, files, tmp_path, monkeypatch):
    """What is added goes into the highest; --db is one file and no more."""
    settings = tmp_path / "settings.toml"
    settings.write_text(
        f"[tiers]\nproject = '{files['project']}'\nteam = '{files['team']}'\n"
        f"docs = {{ path = '{files['agent']}', priority = 0.9 }}\n"
    )
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(settings))
    bare_shell("add", "a boiler of ours", "--id", "ours", "--no-embed")

    assert query(bare_shell) == {
        ("agent-entry", "docs"): 0.9,
        ("shared", "docs"): 0.9,
        ("ours", "project"): 0.8,
        ("project-entry", "project"): 0.8,
        ("team-entry", "team"): 0.6,
    }
    assert query(bare_shell, "--db", files["team"]) == {
        ("team-entry", None): 1.0,
        ("shared", None): 1.0,
    }
    assert "ours" in bare_shell("ls").out
    assert files["project"] in bare_shell("status").out
    refused = bare_shell("forget", "team-entry", "--yes")
    assert refused.code == 2
    assert "team" in refused.err


def test_what_is_meant_for_a_broken_tier_lands_nowhere(bare_shell, files, tmp_path, monkeypatch):
    """`add` fails with the reason, and the other files stay as they are."""
    Path(files["agent"]).write_text("no database " * 100)
    settings = tmp_path / "settings.toml"
    settings.write_text(f"[tiers]\nagent = '{files['agent']}'\nteam = '{files['team']}'\n")
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(settings))
    before = Path(files["team"]).read_bytes()

    done = bare_shell("add", "a secret of the agent", "--no-embed")

    assert done.code == 1
    assert f"the tier agent could not be opened: {files['agent']}" in done.err
    assert Path(files["team"]).read_bytes() == before


@pytest.mark.parametrize(
    ("tier", "says"),
    [
        ("team", "not of the form NAME=FILE"),
        ("=x.db", "not of the form NAME=FILE"),
        ("team=", "not of the form NAME=FILE"),
        ("team=x.db@0.7", "cannot have a priority"),
        ("docs=x.db@0", "above 0 and at most 1"),
        ("docs=x.db@1.01", "above 0 and at most 1"),
        ("own=x.db", "cannot name a tier"),
    ],
)
def test_a_tier_that_cannot_be_is_wrong_usage(bare_shell, tier, says):
    """One sentence with what would be right."""
    done = bare_shell("tiers", "--tier", tier)

    assert done.code == 2
    assert says in done.err


def test_two_tiers_of_one_name_or_one_file_are_refused(bare_shell, files):
    """Which of the two would win is not to be guessed."""
    twice = bare_shell("tiers", *options(files, "team"), "--tier", f"team={files['agent']}")
    same = bare_shell("tiers", *options(files, "team"), "--tier", f"docs={files['team']}")

    assert (twice.code, same.code) == (2, 2)
    assert "a tier 'team' exists" in twice.err
    assert "a file can be one tier only" in same.err


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Write the settings file."""

    def write(text):
        (tmp_path / "settings.toml").write_text(text)
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(tmp_path / "settings.toml"))

    return write


EXAMPLE = """
[tiers]
project = "~/vaults/project.db"
team = "srv/team.db"
handbook = { path = "~/handbook.db", priority = 0.7 }
"""


def test_the_settings_of_the_documentation_work_from_the_first_command(
    bare_shell, settings, home, tmp_path
):
    """The list says how each tier is before any is there; `add` makes the folder of the one it writes."""
    settings(EXAMPLE)
    before = bare_shell("tiers")
    told = bare_shell("tiers", "--json").json["tiers"]

    assert before.code == 0
    assert [(one["name"], one["state"]) for one in told] == [
        ("project", "lost"),
        ("handbook", "lost"),
        ("team", "lost"),
    ]
    vault = home / "vaults" / "project.db"
    assert told[0]["reason"] == f'there is no file {vault} yet; create it with: scrubjay add "…"'
    assert not vault.parent.exists()
    doctor = bare_shell("doctor", "--json").json["findings"]
    (own,) = (one for one in doctor if one["component"] == "store")
    assert own["fix"] == 'scrubjay add "…"'

    assert bare_shell("add", "the boiler is ours", "--no-embed").code == 0

    assert vault.exists()
    assert not (tmp_path / "srv").exists()
    states = {one["name"]: one["state"] for one in bare_shell("tiers", "--json").json["tiers"]}
    assert states == {"project": "open", "handbook": "lost", "team": "lost"}


def test_tiers_that_are_all_broken_are_listed_all_the_same(bare_shell, files, tmp_path):
    """As is a store alone that is not there; nothing is made."""
    for path in files.values():
        Path(path).write_text("no database " * 100)

    done = bare_shell("tiers", "--json", *options(files, *NAMES))

    assert done.code == 0
    reasons = {one["name"]: one["reason"] for one in done.json["tiers"]}
    assert list(reasons) == list(NAMES)
    assert all("not a scrubjay store" in one for one in reasons.values())
    nowhere = tmp_path / "no folder" / "x.db"
    (alone,) = bare_shell("tiers", "--json", "--db", str(nowhere)).json["tiers"]
    assert (alone["name"], alone["state"]) == ("agent", "lost")
    assert alone["reason"].endswith(f"&& scrubjay add \"…\" --db '{nowhere}'")
    (default,) = bare_shell("tiers", "--json").json["tiers"]
    assert default["reason"].endswith('create it with: scrubjay add "…"')


def test_a_default_store_that_is_not_there_is_left_out_of_the_search(
    bare_shell, files, home, settings
):
    """Nothing is stored there: the vaults answer, without a word; once it is there it is the agent."""
    vault = ["--tier", f"handbook={files['team']}@0.7"]
    done = bare_shell("query", "boiler", "--profile", "layered", "--json", *vault)

    assert {(hit["id"], hit["tier"]) for hit in done.json["hits"]} == {
        ("team-entry", "handbook"),
        ("shared", "handbook"),
    }
    assert not any("agent" in one for one in done.json["degraded"])
    assert "the boiler of the team" in bare_shell("get", "team-entry", *vault).out
    assert bare_shell("weights", *vault).err == ""
    assert not (home / "data").exists()

    bare_shell("add", "a boiler of mine", "--id", "mine", "--no-embed")
    assert query(bare_shell, *vault)["mine", "agent"] == 1.0


def test_nothing_is_written_into_a_vault_for_want_of_a_store(bare_shell, files):
    """The reason says what makes one."""
    vault = ["--tier", f"handbook={files['team']}@0.7"]
    before = Path(files["team"]).read_bytes()

    done = bare_shell("feedback", "accepted", "team-entry", "--query", "boiler", *vault)

    assert done.code == 1
    assert 'create it with: scrubjay add "…"' in done.err
    assert Path(files["team"]).read_bytes() == before


def test_expiring_lists_every_tier(bare_shell, files):
    """With whose each is, in text and in JSON."""
    for name in ("agent", "team"):
        with scrubjay.open(files[name], embedder=False) as store:
            until = datetime.now(UTC) + timedelta(days=9)
            store.update(f"{name}-entry", valid_until=until)
    named = options(files, *NAMES)

    shown = bare_shell("expiring", *named)
    told = bare_shell("expiring", "--json", *named).json

    assert shown.code == 0
    assert "tier agent" in shown.out
    assert "tier team" in shown.out
    assert told["tiers"] == {"agent-entry": "agent", "team-entry": "team"}
    Path(files["team"]).write_text("no database " * 100)
    assert "scrubjay: tier team: " in bare_shell("expiring", *named).err


def test_a_command_of_one_file_says_so_where_a_tier_is_named(bare_shell, files):
    """And not that a text may begin with a dash."""
    done = bare_shell("ls", *options(files, "team"))

    assert done.code == 2
    assert "ls works on one database: name it with --db" in done.err
    assert "write --" not in done.err
    assert "write --" in bare_shell("ls", "--zebra", "x").err


def test_what_makes_vectors_names_the_store_in_use(shell, files, tmp_path):
    """`--no-embed`, `status`; and the command it names makes them, and says how many."""
    added = shell("add", "x", "--no-embed", "--db", files["team"])
    embed = f"scrubjay embed --db {files['team']}"
    assert f"to make them now: {embed}" in added.err
    assert f"to make them now: {embed}" in shell("status", "--db", files["team"]).out

    assert "embedded 3 passages" in shell("embed", "--db", files["team"]).out
    shell("add", "y", "--no-embed", "--db", files["team"])
    done = shell("models", "pull", "--db", files["team"])

    assert f"made 1 vector in {files['team']}" in " ".join(done.out.split())
    again = shell("models", "pull", "--db", files["team"], "--json").json
    assert (again["made"], again["pending"]) == (0, 0)


def test_another_tiers_entry_is_changed_by_naming_its_file(bare_shell, files, settings):
    """The refusal says how."""
    settings(f"[tiers]\nagent = '{files['agent']}'\nteam = '{files['team']}'\n")

    refused = bare_shell("forget", "team-entry", "--yes")

    assert f"--db {files['team']}" in refused.err
    assert bare_shell("forget", "team-entry", "--yes", "--db", files["team"]).code == 0


def test_a_weight_is_set_at_the_shell_by_naming_that_one(bare_shell, files):
    """The others stay."""
    named = options(files, *NAMES)

    hits = query(bare_shell, *named, "--set", "tiers.weights={project = 0.5}")

    assert hits["project-entry", "project"] == 0.5
    assert (hits["agent-entry", "agent"], hits["team-entry", "team"]) == (1.0, 0.6)
