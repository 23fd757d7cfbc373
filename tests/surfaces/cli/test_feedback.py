"""`feedback`, `weights` and `expiring` at the shell, and how it shows what is not valid."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

import scrubjay


@pytest.fixture
def stocked(shell):
    """Two memories."""
    shell("add", "The kettle whistles", "--id", "kettle")
    shell("add", "The teapot is cracked", "--id", "teapot")
    return shell


def give(shell, *actions, id="kettle"):
    for action in actions:
        assert shell("feedback", action, id, "--query", "what whistles?").code == 0


class TestFeedback:
    def test_it_is_given_by_the_beginning_of_an_id_and_listed(self, stocked):
        """SV-10: accepted, modified and dismissed, with number, moment, memory and query."""
        said = stocked("feedback", "accepted", "kett", "--query", "what whistles?")
        give(stocked, "dismissed", id="teapot")

        listed = stocked("feedback", "list")

        assert (said.code, said.out) == (0, "accepted kettle\n")
        head, first, second = listed.out.splitlines()
        assert head.split() == ["number", "when", "action", "memory", "query"]
        assert re.fullmatch(
            r"2 +\d{4}-\d\d-\d\d \d\d:\d\d +dismissed +teapot +what whistles\?", first
        )
        assert re.fullmatch(
            r"1 +\d{4}-\d\d-\d\d \d\d:\d\d +accepted +kettle +what whistles\?", second
        )
        assert len(stocked("feedback", "list", "-n", "1", "--json").json["feedback"]) == 1

    @pytest.mark.parametrize("columns", [60, 72, 100])
    def test_the_list_fits_the_screen(self, stocked, monkeypatch, columns):
        """The query is cut, and nothing else is."""
        monkeypatch.setenv("COLUMNS", str(columns))
        question = "which of the kettles on the stove whistles the loudest in the morning?"
        stocked("feedback", "dismissed", "teapot", "--query", question)

        head, line = stocked("feedback", "list").out.splitlines()

        assert len(line) <= columns
        assert re.match(r"1 +\d{4}-\d\d-\d\d.* dismissed +teapot +which of the", line)
        assert head.index("query") == line.index("which")

    def test_the_status_counts_it(self, stocked):
        """In words as in JSON."""
        give(stocked, "accepted", "dismissed")

        assert re.search(r"^feedback +2$", stocked("status").out, re.MULTILINE)

    def test_it_is_taken_back_one_by_one_or_all_at_once(self, stocked):
        """SV-10: the last, the one that is named, then all; that wants a yes."""
        give(stocked, "accepted", "modified", "dismissed", "dismissed")

        assert stocked("feedback", "undo").out == "removed 4: dismissed kettle\n"
        assert stocked("feedback", "undo", "1").out == "removed 1: accepted kettle\n"
        refused = stocked("feedback", "reset")
        assert (refused.code, refused.out) == (2, "")
        assert "to remove it add: --yes" in refused.err
        assert stocked("feedback", "reset", keyboard="n\n").code == 2
        assert stocked("feedback", "reset", "--json").json["done"] == "nothing"
        assert stocked("status", "--json").json["feedback"] == 2
        assert stocked("feedback", "reset", keyboard="y\n").out == "removed 2 feedbacks\n"
        assert stocked("feedback", "reset", "--yes").out == "removed 0 feedbacks\n"
        empty = stocked("feedback", "list")
        assert (empty.code, "There is no feedback yet" in empty.out) == (3, True)
        assert stocked("feedback", "undo").code == 3

    def test_a_person_has_feedback_of_their_own(self, stocked):
        """What Ann thinks is not for Ben to read."""
        stocked("add", "The kettle is Ann's", "--id", "anns", "--user", "ann")
        stocked("feedback", "accepted", "anns", "--query", "kettle", "--user", "ann")

        assert stocked("feedback", "list", "--user", "ann").code == 0
        assert stocked("feedback", "list", "--user", "ben").code == 3
        assert stocked("feedback", "list", "--json").json["feedback"][0]["user"] == "ann"

    @pytest.mark.parametrize(
        ("words", "right"),
        [
            (["accepted", "kettle"], "scrubjay feedback accepted ID --query TEXT"),
            (["accepted", "--query", "q"], "scrubjay feedback accepted ID --query TEXT"),
            (["accepted", "kettle", "--query", ""], "scrubjay feedback accepted ID --query TEXT"),
            (
                ["accepted", "kettle", "--query", "  "],
                "scrubjay feedback accepted ID --query TEXT",
            ),
            (["liked", "kettle"], "invalid choice"),
            (["list", "kettle"], "usage: scrubjay feedback list"),
            (["undo", "kettle"], "'kettle', which is no number"),
            (["undo", "0"], "number is 0"),
            (["undo", "--query", "q"], "--query goes with accepted"),
            (["undo", "-n", "3"], "--limit goes with list"),
            (["undo", "--yes"], "--yes goes with reset"),
            (["list", "-n", "0"], "limit is 0"),
        ],
    )
    def test_wrong_usage_says_what_would_be_right(self, stocked, words, right):
        """With the exit code of wrong usage."""
        said = stocked("feedback", *words)

        assert said.code == 2
        assert right in said.err

    def test_an_unknown_result_is_not_found(self, stocked):
        """As everywhere."""
        assert stocked("feedback", "accepted", "nothing-there", "--query", "q").code == 3

    def test_weights_freeze_and_thaw(self, stocked):
        """SV-10: 30 accepted move the weight of the text by .15; frozen, they stay there."""
        give(stocked, *["accepted"] * 30)

        said = stocked("feedback", "freeze").out
        give(stocked, *["dismissed"] * 30)

        assert said == "frozen: the weights stay as they are, +0.150 for the text\n"
        assert stocked("feedback", "freeze").out == said
        assert "follow the feedback again" in stocked("feedback", "thaw").out
        assert stocked("feedback", "thaw").out == "thawed: the weights were not frozen\n"
        assert "+0.000" in stocked("feedback", "freeze").out


class TestTiers:
    def test_it_goes_into_the_file_of_its_entry_and_is_taken_back_there(
        self, bare_shell, tmp_path
    ):
        """SV-10: per vault; `--of` says which file's, the list shows it."""
        own, team = str(tmp_path / "own.db"), str(tmp_path / "team.db")
        bare_shell("add", "The boiler of mine", "--id", "mine", "--db", own, "--no-embed")
        bare_shell("add", "The boiler of theirs", "--id", "theirs", "--db", team, "--no-embed")

        def both(*words):
            return bare_shell(*words, "--db", own, "--tier", f"team={team}")

        for id_ in ("mine", "theirs"):
            assert both("feedback", "accepted", id_, "--query", "boiler").code == 0

        listed = both("feedback", "list").out

        assert re.search(r"^1 +team +.* theirs +boiler$", listed, re.MULTILINE)
        alone = bare_shell("feedback", "list", "--json", "--db", own).json["feedback"]
        assert [one["id"] for one in alone] == ["mine"]
        assert both("weights", "--json").json["accepted"] == 2
        both("feedback", "undo", "1", "--of", "team")
        assert bare_shell("feedback", "list", "--db", team).code == 3
        both("feedback", "accepted", "theirs", "--query", "boiler")
        assert both("feedback", "reset", "--yes").out == (
            f"removed 1 feedback of tier agent, {own}; others: --of team\n"
        )
        assert both("weights", "--json").json["accepted"] == 1
        gone = both("feedback", "reset", "--yes", "--of", "team").out
        assert gone.startswith(f"removed 1 feedback of tier team, {team};")
        assert both("weights", "--json").json["accepted"] == 0
        said = both("feedback", "list", "--of", "team")
        assert (said.code, "--of goes with undo and reset" in said.err) == (2, True)


class TestWeights:
    def test_a_profile_that_does_not_learn_says_so(self, stocked):
        """With the weights that it has, now and before."""
        lines = stocked("weights", "--profile", "default").out.splitlines()

        assert lines[0].split() == ["weight", "now", "before", "learning"]
        assert lines[1].split() == ["keyword", "0.500", "0.500"]
        assert lines[-1] == "profile default, which does not learn from feedback"
        bare = stocked("weights", "--profile", "gnosis").out
        assert bare.startswith("The profile gnosis has no weights.")

    def test_an_unknown_profile_is_wrong_usage(self, stocked):
        """With the nearest name."""
        said = stocked("weights", "--profile", "defualt")

        assert (said.code, "did you mean 'default'?" in said.err) == (2, True)

    def test_they_are_shown_now_and_before_with_what_they_follow_from(self, stocked):
        """SV-10: each weight, the counts and the rate; by itself of the profile that learns."""
        give(stocked, *["accepted"] * 27)

        few = stocked("weights").out.splitlines()
        give(stocked, *["dismissed"] * 3)
        enough = stocked("weights").out.splitlines()

        assert few[1].split() == ["semantic", "0.250", "0.250"]
        assert few[-1] == "3 feedbacks more until the weights move (from 30 on)"
        assert enough[1].split() == ["semantic", "0.370", "0.250"]
        assert {tuple(line.split()[1:]) for line in enough[2:7]} == {("0.126", "0.150")}
        assert enough[7] == (
            "profile vault · 27 accepted, 0 modified, 3 dismissed · rate 0.900 · shift +0.120"
        )
        stocked("feedback", "freeze")
        assert stocked("weights").out.splitlines()[-1].startswith("frozen: ")

    def test_without_a_model_static_vectors_stand_in(self, bare_shell):
        """SV-6: all six, as with a model; five are for a store without an embedder."""
        bare_shell("add", "The kettle whistles", "--id", "kettle", "--no-embed")

        shown = bare_shell("weights", "--json").json

        assert shown["weights"] == shown["base"]
        assert shown["weights"]["semantic"] == 0.25
        assert "vector" in shown["weights"]


class TestExpiring:
    @pytest.fixture
    def dated(self, shell, tmp_path):
        """Memories with windows in a store of its own."""
        path = str(tmp_path / "dated.db")
        now = datetime.now(UTC)
        with scrubjay.open(path, embedder=None) as store:
            store.add("boiler over", id="over", valid_until="2001-02-03")
            store.add("boiler early", id="early", valid_from="2999-01-01")
            store.add("boiler soon", id="soon", valid_until=now + timedelta(days=10, hours=1))
            store.add("boiler today", id="today", valid_until=now + timedelta(hours=2))
            store.add("boiler always", id="always")

        def run(command, *words):
            return shell(command, "--db", path, *words)

        return run

    def test_it_lists_what_ends_soon_and_until_when(self, dated):
        """Soonest first; the day, and with its time what ends within one."""
        said = dated("expiring", "--within", "2w")

        first, second, _how_to_extend = said.out.splitlines()
        assert said.code == 0
        assert re.search(
            r"^today .*boiler today .*valid until \d{4}-\d\d-\d\d \d\d:\d\d UTC", first
        )
        assert re.search(r"^soon .*valid until \d{4}-\d\d-\d\d ·", second)
        assert [
            one["id"] for one in dated("expiring", "--within", "3h", "--json").json["memories"]
        ] == ["today"]

    def test_it_lists_what_is_over(self, dated):
        """And says so where nothing is."""
        assert "expired after 2001-02-03" in dated("expiring", "--expired").out
        nothing = dated("expiring", "--expired", "--within", "30d")
        assert (nothing.code, nothing.out) == (3, "No memory has expired.\n")
        nothing = dated("expiring", "--within", "1h")
        assert (nothing.code, nothing.out) == (3, "Nothing expires within 1h.\n")

    @pytest.mark.parametrize("columns", [40, 60])
    def test_the_date_is_whole_on_a_narrow_screen(self, shell, monkeypatch, tmp_path, columns):
        """The title gives way. Of what has not begun, too, the end is shown."""
        monkeypatch.setenv("COLUMNS", str(columns))
        path, now = str(tmp_path / "narrow.db"), datetime.now(UTC)
        begins, ends = now + timedelta(days=2), now + timedelta(days=9)
        with scrubjay.open(path, embedder=None) as store:
            store.add("a boiler " * 20, id="b", valid_from=begins, valid_until=ends)
            store.add("over " * 20, id="o", valid_until="2001-02-03")

        line, longer = shell("expiring", "--db", path).out.splitlines()
        over, _ = shell("expiring", "--expired", "--db", path).out.splitlines()

        assert longer == "to extend one: scrubjay update ID --valid-until DATE"

        assert line.split("…")[1].strip() == f"valid until {ends:%Y-%m-%d}"
        assert over.split("…")[1].strip() == "expired after 2001-02-03"
        assert max(len(line), len(over)) <= columns
        shown = shell("get", "b", "--db", path).out
        assert f"valid from {begins:%Y-%m-%d} until {ends:%Y-%m-%d}" in " ".join(shown.split())

    def test_a_time_below_nothing_is_wrong_usage(self, dated):
        """What begins with a dash looks like an option, and is not called one."""
        said = dated("expiring", "--within", "-3d")

        assert said.code == 2
        assert "--within takes one time; give hours, days or weeks, such as 12h" in said.err

    def test_another_unit_is_wrong_usage(self, dated):
        """Is 6m six months or six minutes?"""
        said = dated("expiring", "--within", "6m")

        assert (said.code, "such as 12h, 30d or 2w" in said.err) == (2, True)

    @pytest.mark.parametrize("command", ["search", "vsearch", "query"])
    def test_a_search_shows_what_is_not_valid_only_where_it_is_asked_to(self, dated, command):
        """SV-9: `--include-expired`, and then each of them is marked."""
        plain = dated(command, "boiler", "--json").json
        shown = dated(command, "boiler", "--include-expired").out

        assert {hit["id"] for hit in plain["hits"]} == {"soon", "today", "always"}
        assert "expired after 2001-02-03" in shown
        assert "valid from 2999-01-01" in shown
        assert "valid from 2999-01-01" in dated(command, "boiler", "--include-expired", "--md").out
        assert "expired after" not in dated(command, "boiler").out

    def test_get_and_ls_mark_what_is_not_valid(self, dated):
        """They show it all the same."""
        listed = dated("ls").out

        assert re.search(r"over .*expired after 2001-02-03", listed)
        assert re.search(r"early .*valid from 2999-01-01", listed)
        assert "expired after 2001-02-03" in dated("get", "over").out
        assert "expired after 2001-02-03" in dated("get", "over", "--md").out
        assert "valid until" in dated("get", "soon").out
        assert "valid" not in dated("get", "always").out

    def test_forget_finds_what_is_over(self, dated):
        """Who wants to be rid of a word wants to be rid of all of it."""
        said = dated("forget", "--query", "boiler", "--yes", "--json").json

        assert set(said["matched"]) == {"over", "early", "soon", "today", "always"}
