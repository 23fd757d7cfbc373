"""`--compact`: a table with a line for each hit, the counts, and the topics."""

from __future__ import annotations

import json
import re

import pytest

import scrubjay

LONG = "The ferry to the island leaves at nine. " + "In winter it leaves an hour later. " * 8


@pytest.fixture
def ferry(shell):
    """A shell with four memories, so few that none is reranked, and one that has a title."""
    shell("add", LONG, "--id", "times", "--topic", "ferry", "--topic", "island")
    shell("add", "Two tickets, paid", "--id", "paid", "--title", "Ferry booking", "--type", "task")
    shell("add", "I like the upper deck\nof the ferry", "--id", "deck", "--topic", "ferry")
    shell("add", "The kettle whistles", "--id", "kettle")
    return shell


def test_a_line_for_each_hit_counts_and_topics(ferry):
    """GS-15, GS-16: scores and cosines of 100, the same as those of the array."""
    said = ferry("query", "ferry island", "--profile", "gnosis", "--compact")
    head, *lines = said.out.splitlines()
    rows, summary, topics = ferry(
        *("query", "ferry island", "--profile", "gnosis", "--compact", "--json")
    ).json

    assert said.code == 0
    assert re.split(r"  +", head) == [
        *("score", "cosine", "type", "changed", "complete", "id", "topics", "preview")
    ]
    assert len(rows) == 4
    assert lines[4:] == [summary, "Topics: ferry (2), island (1)"]
    assert summary == "Reranked 0 of 4, returned 4"
    assert topics == [["ferry", 2], ["island", 1]]
    for line, (id_, preview, cosine, score, type_, _, own_topics, complete) in zip(
        lines, rows, strict=False
    ):
        cells = re.split(r"  +", line.strip())
        points, band = cells[0].split()
        assert (int(points), band) == (int(score), "unread")
        assert int(cells[1]) == int(cosine)
        assert cells[2] == type_
        assert cells[4:6] == ["yes" if complete else "no", id_]
        assert cells[6:-1] == ([", ".join(own_topics)] if own_topics else [])
        assert cells[-1].removeprefix("Ferry booking: ") == " ".join(preview.split())
    assert [row[-1] for row in rows if row[0] == "times"] == [False]
    assert any(line.endswith("Ferry booking: Two tickets, paid") for line in lines)


def test_the_array_is_that_of_the_library(ferry, embedder):
    """GS-15: `Results.compact()`, on one line."""
    said = ferry("query", "ferry island", "--profile", "gnosis", "--compact", "--json")
    with scrubjay.open(None, embedder=embedder) as store:
        right = store.search("ferry island", profile="gnosis").compact()

    assert json.loads(said.out) == right
    assert said.out.count("\n") == 1


def test_what_the_results_lack_is_on_standard_error(ferry):
    said = ferry(
        *("query", "ferry", "--profile", "gnosis", "--compact", "--type", "Task", "--json")
    )
    assert (said.code, said.json) == (3, [[], "Reranked 0 of 0, returned 0", []])
    assert "there is no type 'Task'" in said.err


def test_nothing_found_says_what_was_searched(ferry):
    """GS-13: in the table, too."""
    said = ferry("query", "ferry", "--profile", "gnosis", "--compact", "--min-score", "0.99")

    assert said.code == 3
    assert said.out.splitlines() == [
        "Nothing found for “ferry”.",
        "Searched: vector 4, topics 2; 4 candidates, none of them good enough.",
        "Reranked 0 of 4, returned 0",
    ]


@pytest.mark.parametrize("command", ["search", "vsearch", "query"])
def test_every_profile_has_a_compact_form(ferry, command):
    """GS-15: without bands where the profile has none."""
    said = ferry(command, "ferry", "--compact", "-n", "1")

    head, row, summary, *_ = said.out.splitlines()
    assert head.startswith("score  ")
    assert re.match(r" ?\d\d\d?  ", row)
    assert summary.endswith(", returned 1")


@pytest.mark.parametrize(
    "other", [["--md"], ["--files"], ["--explain"], ["--full"], ["--context"]]
)
def test_another_form_beside_it_is_refused(ferry, other):
    said = ferry("query", "ferry", "--compact", *other)

    assert (said.code, said.out) == (2, "")
    assert "--compact" in said.err
