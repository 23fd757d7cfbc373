"""Profiles by name: ours, the user's own, and what is refused."""

from __future__ import annotations

import os

import pytest

import scrubjay
from scrubjay import InvalidInput, NotFound
from scrubjay.config import load
from scrubjay.search import profiles
from scrubjay.search.pipeline import recall
from scrubjay.search.profiles import Profile
from scrubjay.search.stages.catalogue import STAGES
from scrubjay.search.stages.fuse import rrf
from scrubjay.search.stages.recall import keyword


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Write a settings file and point at it."""

    def write(text):
        file = tmp_path / "settings.toml"
        file.write_text(text, encoding="utf-8")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
        return file

    return write


def number(profile, stage, name):
    (part,) = [one for one in profiles.flat(profile.stages) if one.name == stage]
    return part.numbers[name]


class TestOurs:
    @pytest.mark.parametrize("name", profiles.names())
    def test_every_profile_is_made_of_known_stages(self, name):
        """The catalogue knows each, and says what it does."""
        profile = profiles.get(name)

        assert profile.name == name
        assert profile.summary
        assert {one.function.__name__ for one in profiles.flat(profile.stages)} <= STAGES.keys()
        assert all(make.__doc__ for make in STAGES.values())

    @pytest.mark.parametrize("mode", ["fast", "thorough", "keyword", "vector"])
    def test_a_mode_is_a_profile_of_its_own(self, mode):
        """`mode="fast"` and `profile="default:fast"` are the same."""
        by_mode, by_name = profiles.get("default", mode=mode), profiles.get(f"default:{mode}")

        assert (by_mode.name, by_mode.stages) == (by_name.name, by_name.stages)
        assert profiles.get("default", mode="default").stages == profiles.get("default").stages

    def test_a_keyword_search_needs_no_model(self):
        """GN-14: words alone."""
        assert not profiles.get("default", mode="keyword").uses("embed_query")
        assert not profiles.get("default", mode="keyword").uses("vector")

    def test_an_unknown_profile_or_mode_names_the_known_ones(self, memory):
        """With the nearest name."""
        with pytest.raises(
            NotFound, match=r"'defualt' \(did you mean 'default'\?\); known are default"
        ):
            memory.search("x", profile="defualt")
        with pytest.raises(InvalidInput, match="no mode 'quick'; its modes are default, fast"):
            memory.search("x", mode="quick")


class TestChecks:
    def test_the_same_stage_twice_needs_a_name_of_its_own(self):
        """Or an override could not say which one is meant."""
        with pytest.raises(InvalidInput, match=r"lists rrf twice.*\.named"):
            Profile("mine", (rrf(k=1), rrf(k=2)))
        with pytest.raises(InvalidInput, match="lists keyword twice"):
            Profile("mine", (recall(sources=(keyword(), keyword())),))
        assert Profile("mine", (rrf(k=1), rrf(k=2).named("again"))).uses("again")


class TestBuiltOnce:
    def test_a_profile_is_built_once_with_the_same_overrides(self):
        """One object for all searches; other numbers give another one."""
        assert profiles.get("default") is profiles.get("default", mode="default")
        assert profiles.get("default", {"rrf.k": 7}) is profiles.get("default", {"rrf.k": 7})
        assert number(profiles.get("default", {"rrf.k": 8}), "rrf", "k") == 8
        assert type(number(profiles.get("default", {"rrf.k": 7.0}), "rrf", "k")) is float

    def test_a_table_that_the_caller_changes_later_changes_no_profile(self):
        """The profile has its own copy."""
        weights = {"title": 2.0}
        first = profiles.get("default", {"keyword": {"weights": weights}})
        weights["title"] = 3.0

        assert number(first, "keyword", "weights") == {"title": 2.0}
        again = profiles.get("default", {"keyword": {"weights": {"title": 2.0}}})
        assert number(again, "keyword", "weights") == {"title": 2.0}

    def test_a_changed_settings_file_is_read_again(self, configured):
        """A profile of the file follows the file."""
        configured("[profile.mine]\nrrf = { k = 7 }\n")
        assert number(profiles.get("mine"), "rrf", "k") == 7

        configured("[profile.mine]\nrrf = { k = 70 }\n")
        assert number(profiles.get("mine"), "rrf", "k") == 70

    def test_many_overrides_do_not_fill_the_memory(self):
        """The cache of one profile is bounded."""
        base = profiles.get("default:keyword")
        for k in range(200):
            base.with_overrides({"rrf.k": k})

        assert len(base._changed) <= 64


class TestUsersOwn:
    def test_a_profile_of_the_settings_file_is_a_base_and_its_changes(self, configured, memory):
        """Searchable by name, listed, and explained under it."""
        configured(
            '[profile.mine]\nbase = "default:keyword"\nrrf = { k = 7 }\npassages = false\n'
            "keyword = { depth = 9, weights = { title = 3 } }\n"
        )
        memory.add("port 5433")

        mine = profiles.get("mine")
        assert (mine.name, number(mine, "rrf", "k")) == ("mine", 7)
        assert number(mine, "keyword", "weights") == {"title": 3}
        assert not mine.uses("passages")
        assert not mine.uses("vector")
        assert "mine" in profiles.names()
        found = memory.search("port", profile="mine")
        assert (found.profile, len(found)) == ("mine", 1)

    def test_the_base_is_default_where_none_is_named_and_may_be_ones_own(self, configured):
        """Changes add up."""
        configured('[profile.a.rrf]\nk = 7\n[profile.b]\nbase = "a"\npool = { size = 5 }\n')

        b = profiles.get("b", {"rrf.k": 8})

        assert number(profiles.get("b"), "rrf", "k") == 7
        assert (number(b, "rrf", "k"), number(b, "pool", "size")) == (8, 5)
        assert b.uses("vector")

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("[profile.mine]\nrff = { k = 7 }", "did you mean 'rrf'"),
            ("[profile.mine]\nrrf = { kay = 7 }", "no number 'kay'"),
            ('[profile.mine]\nrrf = { k = "x" }', "must be a number"),
            ('[profile.mine]\nbase = "nobody"', "base 'nobody'"),
            ('[profile.mine]\nbase = "mine"', "its own base"),
            ('[profile.mine]\nbase = "b"\n[profile.b]\nbase = "mine"', "its own base"),
            ("profile = 3", "profile must be a table"),
            ("[profile]\nmine = 3", "profile must be a table"),
            ("dbb = 'x'", r"unknown setting 'dbb' \(did you mean 'db'\?\); .* db, "),
            ("db = 3", "db must be a text"),
            ("not toml at all", "TOML"),
        ],
    )
    def test_a_mistake_in_the_file_is_one_sentence(self, configured, text, says):
        """That names the file or the profile, and what would be right."""
        configured(text)

        with pytest.raises(InvalidInput, match=says) as caught:
            profiles.get("mine")
        assert "\n" not in str(caught.value).split("TOML")[0]

    def test_a_file_that_is_named_but_not_there_is_an_error(self, monkeypatch, tmp_path):
        """Silence would mean other settings than those one believes in."""
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(tmp_path / "nowhere.toml"))

        with pytest.raises(InvalidInput, match=r"SCRUBJAY_CONFIG names .*nowhere\.toml"):
            load()


class TestPrecedence:
    def test_an_argument_beats_the_environment_beats_the_file_beats_the_default(
        self, configured, monkeypatch, tmp_path
    ):
        """The later wins, for each setting by itself."""
        assert (load().profile, load().embedder) == ("default", "auto")
        assert load().db == str(tmp_path / "home" / "memory.db")

        configured('db = "file.db"\ndefault_profile = "f"\nembedder = "fe"\n[profile.f]\n')
        beside = os.path.join(os.path.dirname(os.environ["SCRUBJAY_CONFIG"]), "file.db")
        assert (load().db, load().profile, load().embedder) == (beside, "f", "fe")

        monkeypatch.setenv("SCRUBJAY_DB", "env.db")
        monkeypatch.setenv("SCRUBJAY_PROFILE", "e")
        assert (load().db, load().profile, load().embedder) == ("env.db", "e", "fe")

        given = load(db="arg.db", profile="a")
        assert (given.db, given.profile, given.embedder) == ("arg.db", "a", "fe")

    def test_the_default_profile_is_used_by_a_search_that_names_none(self, configured, tmp_path):
        """And a call may name another."""
        configured('default_profile = "mine"\n[profile.mine]\nbase = "default:keyword"\n')
        with scrubjay.open(tmp_path / "a.db", embedder=False) as store:
            store.add("port")
            assert store.search("port").profile == "mine"
            assert store.search("port", profile="default").profile == "default"

    def test_a_settings_file_in_the_users_folder_is_found(self, tmp_path):
        """Without any variable."""
        (tmp_path / "home").mkdir()
        (tmp_path / "home" / "scrubjay.toml").write_text('embedder = "other"\n')

        assert load().embedder == "other"

    def test_a_tilde_is_the_users_home(self, configured, monkeypatch, tmp_path):
        """As people write it."""
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        configured('db = "~/notes.db"')

        assert load().db == str(tmp_path / "notes.db").replace("/notes.db", "/notes.db")
