"""`query --context` and `get --lines`: passages for a prompt, and parts of a text."""

from __future__ import annotations

import pytest

from scrubjay.text.tokens import estimate_tokens

TEXT = "\n\n".join(f"In year {n} the jay hid acorns below oak number {n}." for n in range(99))


@pytest.fixture
def oaks(shell, tmp_path):
    """A shell with a document and a short memory."""
    (tmp_path / "oaks.txt").write_text(TEXT)
    shell("ingest", str(tmp_path / "oaks.txt"))
    shell("add", "The jay likes oak best", "--id", "likes", "--at", "2026-05-03T10:15Z")
    return shell


@pytest.mark.parametrize("command", ["search", "query"])
@pytest.mark.parametrize("tokens", [50, 500, 5_000])
def test_passages_are_printed_within_a_budget(oaks, command, tokens):
    """And nothing else on standard output, so that it can be piped into a prompt."""
    said = oaks(command, "oak number 42", "--context", str(tokens))
    assert said.code == 0
    assert said.out.startswith("<recalled id=")
    assert said.out.rstrip().endswith("</recalled>")
    assert estimate_tokens(said.out.rstrip("\n")) <= tokens
    assert ("number 42." in said.out) or tokens == 50


def test_the_budget_may_be_left_out(oaks):
    said = oaks("query", "what does the jay like", "--context")
    assert 'stored="2026-05-03T' in said.out
    assert "The jay likes oak best</recalled>" in said.out
    assert estimate_tokens(said.out) <= 2_000


def test_json_has_the_passages_beside_the_hits(oaks):
    shape = oaks("search", "oak number 42", "--context", "500", "--json").json
    assert shape["passages"][0]["id"] == shape["hits"][0]["id"]
    assert shape["passages"][0]["text"] in TEXT
    assert "passages" not in oaks("search", "oak", "--json").json


def test_nothing_found_is_code_3(oaks):
    said = oaks("search", "zeppelin", "--context")
    assert (said.code, said.out) == (3, "")


@pytest.mark.parametrize("options", [("--context", "49"), ("--context", "--md")])
def test_a_wrong_budget_or_form_is_refused(oaks, options):
    said = oaks("search", "oak", *options)
    assert said.code == 2
    assert "--context" in said.err


def test_lines_are_printed_with_their_numbers(oaks, tmp_path):
    """By option, or at the end of the id."""
    id_ = oaks("search", "oak number 42", "--json").json["hits"][0]["id"]
    said = oaks("get", id_, "--lines", "3-5")
    assert said.out.splitlines()[0] == f"{tmp_path / 'oaks.txt'}: lines 3 to 5 of 197"
    assert said.out.splitlines()[1:] == TEXT.split("\n")[2:5]
    assert oaks("get", f"{id_}:3-5").out == said.out
    assert oaks("get", f"{id_[:10]}:3-5").out == said.out
    memory = oaks("get", f"{id_}:197-", "--json").json["memories"][0]
    assert (memory["lines"], memory["line_count"]) == ([197, 197], 197)
    assert memory["text"] == TEXT.split("\n")[-1]


@pytest.mark.parametrize(
    ("lines", "says"), [("3", "has 1 line"), ("a-b", "10-40"), ("0", "from 1")]
)
def test_lines_that_are_not_there_are_refused(oaks, lines, says):
    said = oaks("get", "likes", "--lines", lines)
    assert said.code == 2
    assert says in said.err


def test_an_unknown_id_with_lines_is_reported_as_it_was_given(oaks):
    said = oaks("get", "nobody:1-2")
    assert said.code == 3
    assert "nobody" in said.err
