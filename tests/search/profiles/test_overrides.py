"""One address for every number: `rrf.k = 30`, checked before anything runs."""

from __future__ import annotations

import pytest

from scrubjay import InvalidInput
from scrubjay.search import profiles
from scrubjay.search.profiles.overrides import nested, parse_sets


def number(profile, stage, name):
    (part,) = [one for one in profiles.flat(profile.stages) if one.name == stage]
    return part.numbers[name]


class TestNested:
    @pytest.mark.parametrize(
        "given", [{"rrf.k": 30}, {"rrf": {"k": 30}}, {"rrf": {"k": 20}, "rrf.k": 30}]
    )
    def test_two_ways_to_write_the_same(self, given):
        """Flat as on the command line, nested as in TOML; the later wins."""
        assert nested(given) == {"rrf": {"k": 30}}

    def test_false_leaves_a_stage_out(self):
        """A stage that is not in the list is off."""
        assert nested({"passages": False, "rrf.k": 1}) == {"passages": False, "rrf": {"k": 1}}

    def test_a_stage_alone_names_no_number(self):
        """The sentence shows how it is written."""
        with pytest.raises(InvalidInput, match=r"rrf\.NUMBER=VALUE"):
            nested({"rrf": 30})

    @pytest.mark.parametrize(
        "both", [{"rrf": False, "rrf.k": 3}, {"rrf.k": 3, "rrf": False}], ids=["first", "last"]
    )
    def test_dropped_and_changed_at_once_is_refused(self, both):
        """In whichever order."""
        with pytest.raises(InvalidInput, match="dropped"):
            nested(both)


class TestSets:
    @pytest.mark.parametrize(
        ("words", "meant"),
        [
            (["rrf.k=30"], {"rrf": {"k": 30}}),
            (["rrf.k = 30.5"], {"rrf": {"k": 30.5}}),
            (["rrf.k=30", "pool.size=5"], {"rrf": {"k": 30}, "pool": {"size": 5}}),
            (["keyword.weights={title=2}"], {"keyword": {"weights": {"title": 2}}}),
            (["passages=false"], {"passages": False}),
            (["x.name=plain text"], {"x": {"name": "plain text"}}),
            ([], {}),
        ],
    )
    def test_a_value_is_read_as_toml_else_as_text(self, words, meant):
        """No quotes are needed for a word."""
        assert nested(parse_sets(words)) == meant

    @pytest.mark.parametrize("word", ["rrf.k", "=3", ""])
    def test_another_form_is_refused(self, word):
        """It shows the right one."""
        with pytest.raises(InvalidInput, match=r"stage\.number=value"):
            parse_sets([word])


class TestChecked:
    def test_a_number_is_replaced_and_the_rest_stays(self):
        """Also inside `recall`, where the sources are."""
        changed = profiles.get("default", {"rrf.k": 30, "keyword": {"depth": 7}})

        assert number(changed, "rrf", "k") == 30
        assert number(changed, "keyword", "depth") == 7
        assert number(changed, "vector", "depth") == number(
            profiles.get("default"), "vector", "depth"
        )
        assert [one.name for one in changed.stages] == [
            one.name for one in profiles.get("default").stages
        ]

    def test_the_profile_itself_is_not_changed(self):
        """The next search has the old numbers again."""
        profiles.get("default", {"rrf.k": 30})

        assert number(profiles.get("default"), "rrf", "k") == 60

    def test_a_stage_or_a_source_is_dropped(self):
        """By name, at any depth."""
        changed = profiles.get("default", {"passages": False, "vector": False})

        assert not changed.uses("passages")
        assert not changed.uses("vector")
        assert changed.uses("keyword")

    @pytest.mark.parametrize(
        ("overrides", "says"),
        [
            ({"rff.k": 30}, r"no stage 'rff' \(did you mean 'rrf'\?\)"),
            ({"pasages": False}, r"no stage 'pasages' \(did you mean 'passages'\?\)"),
            ({"pool.sise": 30}, r"no number 'sise' \(did you mean 'size'\?\)"),
            ({"top.size": 30}, "no number 'size'; it has no numbers"),
            ({"rrf.k": "sixty"}, "rrf.k is 'sixty'; it must be a number"),
            ({"rrf.k": True}, "rrf.k is True; it must be a number"),
            ({"rrf.k": float("nan")}, "rrf.k is nan"),
            ({"rrf.k": None}, "rrf.k is None"),
            ({"pool.size": 2.5}, "pool.size is 2.5; it must be a whole number"),
            ({"keyword.weights": {"title": "much"}}, "it must be a table such as"),
            ({"keyword.weights": 3}, "it must be a table"),
            ({"recall.sources": "keyword"}, "the stages in it are keyword, vector"),
            ({"rerank.depth": 5}, "the stages in it are by_tokens, configured, late_interaction"),
        ],
    )
    def test_what_does_not_fit_is_refused_with_the_nearest_name(self, overrides, says):
        """Before anything runs, and with what would be right."""
        with pytest.raises(InvalidInput, match=says):
            profiles.get("default", overrides)

    def test_an_override_reaches_the_search_and_its_trace(self, memory):
        """R-7: the numbers shown are the numbers used."""
        memory.add("port 5433")

        found = memory.search("port", overrides={"rrf.k": 7, "passages.width_chars": 10})

        steps = {step.stage: step for step in found.trace}
        assert steps["rrf"].numbers["k"] == 7
        assert steps["passages"].numbers == {"width_chars": 10}
        assert memory.search("port", overrides={"passages": False})[0].snippet == ""

    def test_a_wrong_override_changes_nothing_in_the_store(self, memory):
        """It is refused before the store is asked."""
        memory.add("port 5433")
        with pytest.raises(InvalidInput, match="did you mean 'rrf'"):
            memory.search("port", overrides={"rff.k": 1})
        assert len(memory.search("port")) == 1
