"""`hits`, `--weights` and whole projects at the shell."""

from __future__ import annotations

import pytest


@pytest.fixture
def stocked(shell):
    """Two memories of a project, one elsewhere."""
    shell("add", "The kettle whistles", "--id", "kettle", "--namespace", "house/kitchen")
    shell("add", "The kettle of the guests", "--id", "guests", "--namespace", "house/hall")
    shell("add", "A teapot", "--id", "teapot")
    return shell


def found(outcome):
    return {hit["id"] for hit in outcome.json["hits"]}


def test_hits_are_charted_by_tier_and_by_hour(stocked):
    """NM-7: as many as were returned."""
    empty = stocked("hits")
    assert empty.code == 3
    assert "No search was counted" in empty.out

    for _ in range(2):
        stocked("query", "kettle", "--profile", "novamem", "--weights", "keyword=1")
    shown = stocked("hits")

    head, row, _, columns, hour = shown.out.splitlines()
    assert head == "2 searches, results by source"
    assert row.split()[:2] == ["keyword", "4"]
    assert columns.split() == ["hour", "searches", "keyword"]
    assert hour.split()[2:] == ["2", "4"]
    assert stocked("hits", "--json").json["tiers"] == {"keyword": 4}
    assert stocked("hits", "--since", "2999-01-01").code == 3
    assert "hits         keyword 4 in 2 searches" in stocked("status").out


def test_weights_are_given_as_numbers_or_by_name(stocked):
    """NM-4."""
    by_name = stocked("query", "kettle", "--profile", "novamem", "--weights", "exact_id", "--json")
    by_number = stocked(
        "query", "kettle", "--profile", "novamem", "--weights", "keyword=1, vector=0", "--json"
    )

    assert found(by_name) == found(by_number) == {"kettle", "guests"}
    assert all(set(hit["why"]) == {"keyword"} for hit in by_name.json["hits"])
    whole = stocked("query", "kettle", "--profile", "novamem", "--json").json["hits"]
    assert all(set(hit["why"]) == {"keyword", "vector", "graph"} for hit in whole)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("keyword", "there is no pattern of weights 'keyword'; give keyword=1 at the shell, "),
        ("keyword=1,keyword=2", "--weights gives keyword twice"),
        ("keywrod=1", "did you mean 'keyword'?"),
        ("keyword=much", "--weights 'keyword=much' is not of the form NAME=NUMBER"),
        ("keyword=-1", "give a number of 0 or more"),
        ("keyword=0", "one of them must be above 0"),
    ],
)
def test_wrong_weights_are_wrong_usage(stocked, typed, said):
    """NM-4: one sentence, and nothing is searched."""
    outcome = stocked("query", "kettle", "--profile", "novamem", f"--weights={typed}")

    assert outcome.code == 2
    assert said in outcome.err


def test_other_profiles_take_no_weights(stocked):
    """They would be ignored."""
    outcome = stocked("query", "kettle", "--weights", "exact_id")

    assert outcome.code == 2
    assert "use profile novamem" in outcome.err


def test_a_project_is_searched_listed_and_forgotten(stocked):
    """NM-5: `house/` is all of it."""
    assert found(stocked("search", "kettle", "--namespace", "house/", "--json")) == {
        "kettle",
        "guests",
    }
    assert "teapot" not in stocked("ls", "--namespace", "house/").out
    assert "2 memories" in stocked("landscape", "--namespace", "house/").out
    lost = stocked("search", "kettle", "--namespace", "huose/")
    assert lost.code == 3
    assert "did you mean 'house/'?" in lost.out

    stocked("forget", "--query", "kettle", "--namespace", "house/", "--yes")

    assert found(stocked("search", "kettle teapot", "--json")) == {"teapot"}


def test_the_explanation_shows_raw_and_normalised_scores_and_weights(stocked):
    """R-7, NM-4."""
    shown = stocked(
        "query", "kettle whistles", "--profile", "novamem", "--weights", "keyword=0.5", "--explain"
    ).out

    assert "keyword 0.500000 = 0.5 × 1.000000" in shown
    assert "keyword 0.000000 = 0.5 × 0.000000" in shown
    assert "weight: 0.5" in shown


def test_the_explanation_of_a_store_in_postgres_shows_ranks_of_postgres(shell, postgres_url):
    """NM-2, R-7: 2 of 4 words, one of them the id, are 2 / ln 5; 1 of 5 is 1 / ln 6."""
    for id_, text in (("a", "amber amber copper"), ("b", "amber and three others")):
        shell("--db", postgres_url, "add", text, "--id", id_)
    asked = ("query", "amber", "--profile", "novamem", "--weights", "exact_id", "--explain")

    shown = shell("--db", postgres_url, *asked).out

    assert "ranked_by: ts_rank_cd" in shown
    assert "keyword #1 (raw 1.242670)" in shown
    assert "keyword #2 (raw 0.558111)" in shown


def test_what_waits_for_its_links_is_in_the_status(stocked, monkeypatch):
    """NM-8: and how to have them made."""
    monkeypatch.setattr("scrubjay.write.auto_links.AutoLinks.link_next", lambda *_: 0)
    stocked("query", "kettle", "--profile", "novamem")

    status = stocked("status")

    assert "3 memories not linked yet; to link them: scrubjay embed" in status.out
