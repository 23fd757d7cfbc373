"""The verdict on the first hit: the same in every interface, and in the same words."""

from __future__ import annotations

import pytest

import scrubjay
from scrubjay.surfaces.mcp import compact, text
from scrubjay.surfaces.mcp.default_tools import DEFAULT_TOOLS
from scrubjay.surfaces.render.facts import verdict_words
from scrubjay.surfaces.verbs.table import VERBS
from scrubjay.types import VERDICTS

CODE = "E_CACHE_4417 means that two workers warm the same shard"
ASKED = {"E_CACHE_4417": "likely", "E_CACHE_9999": "not stored"}


@pytest.fixture
def stored(shell):
    shell("add", CODE, "--id", "code")
    return shell


@pytest.fixture
def store():
    with scrubjay.open(":memory:", embedder=False) as opened:
        opened.add(CODE, id="code")
        yield opened


@pytest.mark.parametrize(("query", "verdict"), ASKED.items())
def test_the_shell_prints_it_below_the_hits(stored, query, verdict):
    """Noise is not presented as an answer, and no hit is removed."""
    said = stored("search", query).out
    answer = stored("search", query, "--json").json

    assert CODE in said
    assert (
        f"1 hit · {verdict_words(verdict)} (confidence {answer['confidence']:.2f}) · keyword 1"
        in said
    )
    assert answer["verdict"] == verdict


@pytest.mark.parametrize(("query", "verdict"), ASKED.items())
def test_servers_answer_with_it(store, query, verdict):
    """The library, HTTP and MCP, as text and structured."""
    given = {"query": query, "mode": "keyword"}
    answer = VERBS["search"].call(store, given)
    [tool] = [tool for tool in DEFAULT_TOOLS if tool.name == "memory_search"]
    structured = compact.results(answer, given)

    assert store.search(query, mode="keyword").verdict == answer["verdict"] == verdict
    assert structured["verdict"] == verdict
    assert "verdict" in tool.output_schema["properties"]
    assert f": {verdict_words(verdict)}." in text.results(structured, given).splitlines()[0]
    context = VERBS["context"].call(store, {"question": query})
    assert context["verdict"] == verdict
    assert verdict_words(verdict) in text.context(context, {"question": query})


def test_a_profile_without_confidence_says_nothing(store):
    """No number, no words."""
    answer = VERBS["search"].call(store, {"query": "E_CACHE_4417", "profile": "gno"})

    assert (answer["confidence"], answer["verdict"]) == (None, None)
    said = text.results(compact.results(answer, {"query": "q"}), {"query": "q"})
    assert not any(verdict_words(verdict) in said for verdict in VERDICTS)
