"""What replaced what, in every interface: hits, lists, filters, and taking it back."""

from __future__ import annotations

import pytest

import scrubjay
from scrubjay.surfaces.mcp import compact, text
from scrubjay.surfaces.mcp.default_tools import DEFAULT_TOOLS
from scrubjay.surfaces.verbs.table import VERBS

ALPHA, BETA = "The wiki runs on the host alpha", "The wiki moved to the host beta"


@pytest.fixture
def wiki():
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add(ALPHA, id="alpha", created_at="2025-01-10")
        store.add(BETA, id="beta", created_at="2025-06-10")
        yield store


@pytest.fixture
def stored(shell):
    shell("add", ALPHA, "--id", "alpha", "--at", "2025-01-10")
    shell("add", BETA, "--id", "beta", "--at", "2025-06-10")
    shell("link", "beta", "alpha", "--kind", "supersedes")
    return shell


class TestTheShell:
    @pytest.mark.parametrize("command", ["search", "vsearch", "query"])
    def test_a_hit_says_what_it_replaced(self, stored, command):
        """With the day on which that was stored."""
        said = stored(command, "wiki host").out
        assert "replaces alpha (2025-01-10)" in said
        assert ALPHA not in said
        hits = stored(command, "wiki host", "--json").json["hits"]
        [beta] = [hit for hit in hits if hit["id"] == "beta"]
        assert (beta["supersedes"], beta["superseded_by"]) == (["alpha"], None)
        assert beta["change_dates"] == {"alpha": "2025-01-10T00:00:00+00:00"}

    @pytest.mark.parametrize("command", ["search", "vsearch", "query"])
    def test_history_shows_both_and_which_may_be_outdated(self, stored, command):
        """The newer one first."""
        said = stored(command, "wiki host alpha", "--history").out
        assert said.index(BETA) < said.index(ALPHA)
        assert "may be outdated since 2025-06-10, see beta" in said
        assert "see beta" in stored(command, "wiki", "--history", "--md").out

    @pytest.mark.parametrize("command", ["search", "vsearch", "query"])
    def test_as_of_searches_what_was_stored_then(self, stored, command):
        """A date, or words of time."""
        assert ALPHA in stored(command, "wiki host", "--as-of", "2025-03-01").out
        assert stored(command, "wiki host", "--as-of", "2024-12-31").code == 3
        assert "nothing was stored" in stored(command, "wiki", "--as-of", "2024-12-31").out
        assert BETA in stored(command, "wiki host", "--as-of", "yesterday").out
        assert stored(command, "wiki host", "--as-of", "soonish").code == 2

    def test_the_summary_counts_what_is_superseded(self, stored):
        """Only where something is."""
        assert "1 superseded" in stored("search", "wiki host").out
        assert "superseded" not in stored("search", "wiki", "--as-of", "2025-03-01").out

    def test_explain_shows_the_place_it_took(self, stored):
        """As a part of the score."""
        said = stored("search", "host alpha", "--explain").out
        assert "the place of alpha" in said
        assert "fold(strong=0.8, weak=0.5" in said

    def test_changes_are_listed_and_taken_back(self, stored):
        """With both texts, and by whom they were made."""
        said = stored("changes").out
        assert "supersedes · by hand" in said
        assert said.index(BETA) < said.index(ALPHA)
        assert stored("changes", "--since", "2999-01-01").code == 3

        assert "no longer linked" in stored("unlink", "beta", "alpha").out
        assert stored("unlink", "beta", "alpha").code == 3
        assert stored("changes").code == 3
        stored("link", "beta", "alpha", "--kind", "updates", "--strength", "0.6")
        assert stored("unlink", "beta", "alpha", "--kind", "supersedes").code == 3
        [change] = stored("changes", "--json").json["changes"]
        assert (change["new"], change["old"], change["kind"]) == ("beta", "alpha", "updates")
        assert (change["strength"], change["by_hand"]) == (0.6, True)

    def test_many_replaced_memories_are_counted(self, stored):
        """Three are named."""
        for n in range(5):
            stored(
                "add", f"The wiki host number {n}", "--id", f"host{n}", "--at", f"2025-02-0{n + 1}"
            )
            stored("link", "beta", f"host{n}", "--kind", "supersedes")
        said = " ".join(stored("search", "wiki host").out.split())
        assert (
            "replaces host4 (2025-02-05), host3 (2025-02-04), host2 (2025-02-03) and 3 earlier"
            in said
        )


class TestTheServers:
    def test_the_verbs_take_the_same(self, wiki):
        """HTTP and MCP call these."""
        wiki.link("beta", "alpha", kind="supersedes")
        search = VERBS["search"]

        def ids(**asked):
            return [
                hit["id"] for hit in search.call(wiki, {"query": "wiki host", **asked})["hits"]
            ]

        assert ids() == ["beta"]
        assert ids(history=True) == ["beta", "alpha"]
        assert ids(as_of="2025-03-01") == ["alpha"]
        [change] = VERBS["changes"].call(wiki, {})["changes"]
        assert (change["new"], change["old"]) == ("beta", "alpha")
        VERBS["unlink"].call(wiki, {"a": "beta", "b": "alpha"})
        assert VERBS["changes"].call(wiki, {})["changes"] == []

    def test_an_agent_reads_both_in_few_words(self, wiki):
        """Eight tools; no dates that it did not ask for."""
        assert len(DEFAULT_TOOLS) == 8
        wiki.link("beta", "alpha", 0.6, kind="updates")
        [tool] = [tool for tool in DEFAULT_TOOLS if tool.name == "memory_search"]
        given = {"query": "wiki host alpha"}
        answer = compact.results(tool.verb.call(wiki, given), given)
        old = next(hit for hit in answer["hits"] if hit["id"] == "alpha")
        assert old["superseded_by"] == "beta"
        assert "change_dates" not in old
        assert "may be outdated: see beta" in text.results(answer, given)
        wiki.link("beta", "alpha", kind="supersedes")
        answer = compact.results(tool.verb.call(wiki, given), given)
        assert "replaces alpha" in text.results(answer, given)


def test_a_change_is_shown_with_a_memory(wiki):
    """From both ends, by its own name."""
    wiki.link("beta", "alpha", 0.6, kind="updates")
    assert [(link.to, link.kind) for link in wiki.get("beta").links] == [("alpha", "updates")]
    assert [(link.to, link.kind) for link in wiki.get("alpha").links] == [("beta", "updated by")]
    graph = wiki.surroundings("alpha")
    assert [(edge.a, edge.b, edge.kind, edge.made) for edge in graph.edges] == [
        ("beta", "alpha", "updates", "hand")
    ]
