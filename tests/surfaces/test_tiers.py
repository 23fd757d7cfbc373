"""SV-4 at the shell: `--tier`, the settings, and the list of tiers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import scrubjay
from layered import layered
from scrubjay.profiles import _BUILT_IN

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
    assert "of the tier team" in refused.err


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
        ("team=x.db@0.7", "has no priority of its own"),
        ("docs=x.db@0", "above 0 and at most 1"),
        ("docs=x.db@1.01", "above 0 and at most 1"),
        ("own=x.db", "cannot be the name of a tier"),
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
    assert "there is a tier 'team' already" in twice.err
    assert "a file can be one tier only" in same.err
