"""`update` at the shell, and what `add` and `expiring` say of it."""

from __future__ import annotations

import pytest


@pytest.fixture
def stocked(shell):
    shell(
        *("add", "The kettle whistles", "--id", "kettle", "--title", "Kettle", "--tag", "kitchen"),
        *("--severity", "warning", "--domain", "home", "--valid-until", "2199-01-01"),
    )
    return shell


def now(shell):
    (found,) = shell("get", "kettle", "--json").json["memories"]
    return found


def test_what_is_given_changes_and_the_rest_stays(stocked):
    """By the beginning of its id; the line of the memory as it is now is shown."""
    before = now(stocked)

    done = stocked("update", "kett", "--valid-until", "2199-12-31")

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("kettle  Kettle")
    assert "2199-12-31" in done.out
    after = now(stocked)
    assert after["valid_until"] == "2199-12-31T23:59:59.999999+00:00"
    assert {**after, "updated_at": 0, "valid_until": 0} == {
        **before,
        "updated_at": 0,
        "valid_until": 0,
    }
    assert after["updated_at"] > before["updated_at"]


def test_every_option_changes_its_field(stocked):
    """And JSON gives the memory as it is stored."""
    done = stocked(
        *("update", "kettle", "--json", "--text", "The kettle sings", "--title", "Song"),
        *("--type", "decision", "--topic", "music", "--tag", "tea", "--severity", "critical"),
        *("--domain", " stage ", "--context", "At five", "--valid-from", "2026-01-01"),
        *("--source", "the cook"),
    )

    memory = done.json["memory"]
    assert memory == now(stocked)
    assert [memory[name] for name in ("text", "title", "type", "topics", "severity")] == [
        *("The kettle sings", "Song", "decision"),
        ["music", "tea"],
        "critical",
    ]
    assert [memory[name] for name in ("domain", "context", "source")] == [
        *("stage", "At five", "the cook")
    ]
    assert memory["valid_from"] == "2026-01-01T00:00:00+00:00"
    assert (done.json["embedded"], done.json["pending"]) == (True, 0)
    assert stocked("vsearch", "sings", "--json").json["hits"][0]["id"] == "kettle"


def test_an_empty_value_takes_a_field_away(stocked):
    """A window, a severity, a domain, a title, all topics."""
    stocked(
        *("update", "kettle", "--valid-until", "", "--severity", "", "--domain", ""),
        *("--title", "", "--topic", ""),
    )

    after = now(stocked)
    assert [after[name] for name in ("valid_until", "severity", "domain", "title", "topics")] == [
        *(None, None, None, ""),
        [],
    ]


def test_topics_are_added_beside_those_that_are_there(stocked):
    """Or beside those that are given in their place."""
    stocked("update", "kettle", "--add-topic", "tea", "--add-tag", "Kitchen")
    assert now(stocked)["topics"] == ["kitchen", "tea"]

    stocked("update", "kettle", "--topic", "a", "--add-topic", "b")
    assert now(stocked)["topics"] == ["a", "b"]


def test_a_dash_reads_the_text(stocked):
    """From standard input."""
    stocked("update", "kettle", "--text", "-", stdin="The kettle is\nsilent\n")

    assert now(stocked)["text"] == "The kettle is\nsilent\n"


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["kettle"], 2, "no change was given; name one, such as a text after the id"),
        (["kettle", "--severity", "high"], 2, "it must be one of critical"),
        (["kettle", "--type", ""], 2, "--type is empty"),
        (["kettle", "--text", " "], 2, "text is empty"),
        (["kettle", "--valid-from", "2200-01-01"], 2, "valid_until"),
        (["teapot", "--title", "T"], 3, "teapot"),
    ],
)
def test_what_cannot_be_is_named_and_nothing_changes(stocked, words, code, says):
    """With what would be right."""
    before = now(stocked)

    done = stocked("update", *words)

    assert done.code == code
    assert says in done.err
    assert now(stocked) == before


def test_expiring_says_how_to_extend(stocked):
    """Below the list; nothing where there is none."""
    stocked("update", "kettle", "--valid-until", "2020-01-01")

    lines = stocked("expiring", "--expired").out.splitlines()

    assert lines[-1] == "to extend one: scrubjay update ID --valid-until DATE"
    assert len(lines) == 2
    assert "update" not in stocked("expiring").out


def test_add_says_when_it_replaces(stocked):
    """What has the id is gone, with its title and its tags: no small thing."""
    assert stocked("add", "The kettle leaks", "--id", "kettle").out.startswith("replaced kettle")
    assert stocked("add", "The pan", "--id", "pan").out.startswith("stored pan")
    assert now(stocked)["title"] == ""


def test_the_same_text_again_takes_over_what_is_given(stocked):
    """At the shell as in the library."""
    stocked("add", "The kettle whistles", "--domain", "ship", "--severity", "critical")

    after = now(stocked)
    assert (after["domain"], after["severity"], after["title"]) == ("ship", "critical", "Kettle")


def test_a_file_that_was_edited_by_hand_is_kept_by_export(stocked, tmp_path):
    """It is named, the exit code is 1, and `--force` replaces it."""
    out = tmp_path / "out"
    stocked("export", "--md", str(out))
    mine = (out / "kettle.md").read_text().replace("warning", "high")
    (out / "kettle.md").write_text(mine)

    done = stocked("export", "--md", str(out))

    assert done.code == 1
    first, second = done.out.splitlines()
    assert first == f"{out}  1 entry: 1 kept"
    assert second.startswith(f"  {out / 'kettle.md'}: changed by hand, and import would refuse it")
    assert (out / "kettle.md").read_text() == mine
    assert stocked("export", "--md", str(out), "--force").out == f"{out}  1 entry: 1 written\n"


def test_what_only_another_tier_has_is_not_replaced(bare_shell, tmp_path, monkeypatch):
    """SV-4: the other tiers are only read; neither `add` nor `update` changes them."""
    for name in ("mine", "team"):
        bare_shell("add", f"Of the {name}", "--id", name, "--db", str(tmp_path / f"{name}.db"))
    files = "".join(f"{name} = '{tmp_path / name}.db'\n" for name in ("mine", "team"))
    (tmp_path / "settings.toml").write_text(f"[tiers]\n{files}")
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(tmp_path / "settings.toml"))
    own = bare_shell("status", "--json").json["path"]
    theirs = "mine" if "team.db" in own else "team"

    refused = bare_shell("update", theirs, "--title", "T")
    assert refused.code != 0
    assert f"{theirs}.db" in refused.err
    done = bare_shell("add", "Another", "--id", theirs, "--no-embed")
    assert done.out.startswith(f"stored {theirs}")
    again = bare_shell("add", "Another one", "--id", theirs, "--no-embed")
    assert again.out.startswith(f"replaced {theirs}")
