"""People at the shell: `--user`, `collections create`, `share`, `unshare`, `publish`, `unpublish`."""

from __future__ import annotations

import pytest

OK, FAILED, USAGE, NOTHING = 0, 1, 2, 3


@pytest.fixture
def team(shell):
    """Ann owns a collection in which Ben reads; she has one memory of her own."""
    shell("collections", "create", "team", "--user", "ann")
    shell("share", "team", "ben", "--user", "ann")
    shell("add", "The boiler is old", "--id", "boiler", "--user", "ann", "--topic", "boiler")
    return shell


def found(shell, who, *words):
    return [hit["id"] for hit in shell("search", *words, "--user", who, "--json").json["hits"]]


def test_a_published_memory_is_found_by_everybody_in_the_collection(team):
    """GS-5: `search` spans one's own and the collections; a copy folds into one's own."""
    assert found(team, "ben", "boiler") == []
    done = team("publish", "boil", "team", "--user", "ann", "--json").json
    copy = done["copy"]["id"]

    assert (done["id"], done["collection"], done["done"]) == ("boiler", "team", "published")
    assert found(team, "ben", "boiler") == [copy]
    assert found(team, "ann", "boiler") == ["boiler"]
    assert found(team, "dora", "boiler") == []

    said = team("unpublish", "boiler", "team", "--user", "ann")
    assert (said.code, said.out) == (OK, "unpublished boiler from team\n")
    assert found(team, "ben", "boiler") == []


def test_publishing_shows_the_copy(team):
    """By its own id, which others see."""
    said = team("publish", "boiler", "team", "--user", "ann")
    assert said.code == OK
    assert said.out.startswith("published boiler in team\n")
    assert "The boiler is old" in said.out


def test_the_user_of_the_settings_is_the_one_who_asks(team, monkeypatch, tmp_path):
    """The environment and the settings file name them, `--user` has the last word."""
    team("publish", "boiler", "team", "--user", "ann")
    monkeypatch.setenv("SCRUBJAY_USER", "dora")
    assert team("ls").code == NOTHING
    assert team("ls", "--user", "ben").code == OK
    monkeypatch.setenv("SCRUBJAY_USER", "")
    assert team("ls").code == USAGE
    monkeypatch.delenv("SCRUBJAY_USER")
    file = tmp_path / "scrubjay.toml"
    file.write_text('user = "dora"\n', "utf-8")
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
    assert team("ls").code == NOTHING


def test_members_are_listed_with_their_roles(team):
    """After each change, and on demand."""
    said = team("share", "team", "cem", "--role", "writer", "--user", "ann")
    assert [line.split() for line in said.out.splitlines()] == [
        ["shared", "team"],
        ["person", "role"],
        ["ann", "owner"],
        ["cem", "writer"],
        ["ben", "reader"],
    ]
    assert team("unshare", "team", "cem", "--user", "cem", "--json").json["members"] == {
        "ann": "owner",
        "ben": "reader",
    }
    said = team("collections", "members", "team", "--user", "ben")
    assert [line.split() for line in said.out.splitlines()][1:] == [
        ["ann", "owner"],
        ["ben", "reader"],
    ]


def test_inviting_again_keeps_a_role_unless_another_is_named(team):
    """Nobody is made less by a command that says nothing of roles."""
    team("share", "team", "ben", "--role", "writer", "--user", "ann")
    said = team("share", "team", "ben", "--user", "ann", "--json").json
    assert said["members"]["ben"] == "writer"


def test_what_is_written_for_others_says_so(team):
    """And what is one's own does not."""
    said = team("add", "The lift is out", "--collection", "team", "--user", "ann")
    assert " in team, which you share " in said.out
    said = team("add", "A label of hers", "--collection", "drafts", "--user", "ann")
    assert "which you share" not in said.out
    assert "in team" in team("search", "lift", "--user", "ben").out


def test_the_list_of_collections_names_who_shares_them(team):
    """In a column that is there only where somebody does."""
    team("add", "A label of her own", "--collection", "drafts", "--user", "ann")
    head, drafts, shared = team("collections", "--user", "ann").out.splitlines()
    assert head.split()[-1] == "members"
    assert drafts.split() == ["drafts", "1", "0"]
    assert shared.split() == ["team", "0", "0", "ann", "(owner),", "ben", "(reader)"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["share", "team", "eve", "--role", "boss"], USAGE, "one of owner, writer, reader"),
        (["share", "nowhere", "eve"], NOTHING, "no shared collection 'nowhere'"),
        (["unshare", "team", "ann"], USAGE, "ann is the last owner"),
        (["unshare", "team", "eve"], NOTHING, "'eve' is not a member"),
        (["publish", "nothing", "team"], NOTHING, "no memory has the id 'nothing'"),
        (["unpublish", "boiler", "team"], NOTHING, "boiler is not published in"),
        (["collections", "create", "team"], USAGE, "'team' exists"),
        (["collections", "create"], USAGE, "scrubjay collections create NAME"),
        (["collections", "members", "nowhere"], NOTHING, "no shared collection 'nowhere'"),
        (["share", "team"], USAGE, "the following arguments are required: person"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(team, words, code, says):
    """One sentence, the right exit code, nothing done."""
    said = team(*words, "--user", "ann")
    assert said.code == code
    assert says in said.err
    assert team("collections", "members", "team", "--user", "ann", "--json").json["members"] == {
        "ann": "owner",
        "ben": "reader",
    }


def test_a_stranger_learns_nothing(team):
    """The same words for a collection of others and for none."""
    said = [
        team("collections", "members", name, "--user", "dora").err.replace(name, "NAME")
        for name in ("team", "nowhere")
    ]
    assert said[0] == said[1]
