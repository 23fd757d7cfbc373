"""Entries of a vault as an agent gets them: a scan to choose from, whole entries with their signals."""

from __future__ import annotations

import pytest

from scrubjay.surfaces.mcp import compact

SIGNALS = ["semantic", "vector", "severity", "temporal_decay", "tag_overlap", "domain_match"]
LONG = "Retry with exponential backoff and jitter. " * 70
CONTEXT = "Three outages began with a retry storm."
ASKED = {"query": "how to retry", "profile": "vault", "tags": ["payments"], "domain": "billing"}


@pytest.fixture
def client(asked, store):
    store.add(
        LONG,
        id="retry-001",
        title="Backoff",
        context=CONTEXT,
        topics=["network", "retry"],
        type="pattern",
        severity="warning",
        domain="operations",
    )
    store.add(
        "Never retry a payment without an idempotency key",
        id="pay-001",
        title="Payments",
        topics=["payments"],
        type="rule",
        severity="critical",
        domain="billing",
    )
    store.pending()
    return asked


def line_of(words: str, id_: str) -> str:
    (line,) = [line for line in words.splitlines() if f'id="{id_}"' in line]
    return line


class TestScan:
    def test_each_entry_has_what_is_needed_to_choose(self, client):
        """SV-1: id, title, score, type, domain, tags, 120 characters and a token estimate; no breakdown."""
        answer = client.call("memory_search", **ASKED, mode="scan")
        hits = {hit["id"]: hit for hit in answer["hits"]}
        long = hits["retry-001"]

        assert (long["title"], long["type"], long["domain"]) == (
            "Backoff",
            "pattern",
            "operations",
        )
        assert long["topics"] == ["network", "retry"]
        assert long["snippet"] == LONG[:120]
        assert [hit["token_estimate"] for hit in (long, hits["pay-001"])] == [
            -(-len(LONG) // 4),
            12,
        ]
        assert hits["pay-001"]["score"] > long["score"] > 0
        for hit in answer["hits"]:
            assert not {"text", "why", "context"} & set(hit)

    def test_the_text_has_the_estimates_too(self, client):
        """SV-1: for a model that reads only the text, with what to do next."""
        words = client.told("memory_search", **ASKED, mode="scan")
        long = line_of(words, "retry-001")

        assert f"~{-(-len(LONG) // 4)} tokens" in long
        assert "~12 tokens" in line_of(words, "pay-001")
        for part in ('type="pattern"', 'title="Backoff"', 'domain="operations"', "network, retry"):
            assert part in long
        assert f">{LONG[:120]}<" in long
        assert "memory_get" in words.splitlines()[-1]

    def test_neither_full_nor_tokens_make_a_scan_longer(self, client):
        """SV-1: a beginning is never given out as the whole text."""
        for more in ({"full": True}, {"tokens": 500}):
            hits = client.call("memory_search", **ASKED, **more, mode="scan")["hits"]
            assert all("text" not in hit and len(hit["snippet"]) <= 120 for hit in hits)

    def test_the_chosen_are_loaded_by_their_ids(self, client):
        """SV-1: an agent scans, chooses by score and tokens, and loads those."""
        hits = client.call("memory_search", **ASKED, mode="scan")["hits"]
        chosen = [hit["id"] for hit in hits if hit["token_estimate"] > 100]
        (loaded,) = client.call("memory_get", ids=chosen)["memories"]

        assert chosen == ["retry-001"]
        assert (loaded["text"], loaded["context"]) == (LONG, CONTEXT)
        words = client.told("memory_get", ids=chosen)
        assert 'severity="warning" domain="operations"' in words
        assert f"Context: {CONTEXT}" in words

    def test_a_profile_of_ones_own_scans_alike(self, client, home, monkeypatch):
        """SV-1: by what the search did, not by what the profile is called."""
        file = home / "s.toml"
        file.write_text('[profile.brief]\nbase = "vault:scan"\n', encoding="utf-8")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))

        hits = client.call("memory_search", **{**ASKED, "profile": "brief"})["hits"]

        assert sorted(hit["token_estimate"] for hit in hits) == [12, -(-len(LONG) // 4)]


class TestFull:
    @pytest.mark.parametrize("mode", [{}, {"mode": "full"}])
    def test_entries_are_whole_with_the_breakdown(self, client, store, mode):
        """SV-1: whole entry, score and breakdown per signal, as the library has them."""
        answer = client.call("memory_search", **ASKED, **mode)
        library = {hit.id: hit for hit in store.search(**ASKED)}

        assert len(answer["hits"]) == 2
        for hit in answer["hits"]:
            own = library[hit["id"]]
            assert hit["text"] == own.text
            assert hit["score"] == pytest.approx(own.score, abs=1e-5)
            assert list(hit["why"]) == SIGNALS
            assert hit["why"] == pytest.approx(dict(own.why), abs=1e-5)
        (long,) = [hit for hit in answer["hits"] if hit["id"] == "retry-001"]
        assert (long["context"], long["severity"]) == (CONTEXT, "warning")

    @pytest.mark.parametrize("more", [{}, {"tokens": 500}])
    def test_the_text_has_the_breakdown_too(self, client, more):
        """SV-1: for a model that reads only the text; within a budget of tokens as well."""
        words = client.told("memory_search", **ASKED, **more)

        assert words.count("severity 1, temporal_decay 1, tag_overlap 1, domain_match 1") == 1
        assert words.count("severity 0.7, temporal_decay 1, tag_overlap 0, domain_match 0") == 1
        if not more:
            assert words.count("jitter.") == 70
            assert CONTEXT in words

    def test_an_agent_may_know_the_arguments(self, client):
        """SV-8: tags and domain of a query, and what an entry needs, are in the schemas."""
        schemas = {one.name: one.input_schema for one in client.list_tools().tools}

        assert {"tags", "domain", "mode"} <= set(schemas["memory_search"]["properties"])
        assert {"severity", "domain"} <= set(schemas["memory_store"]["properties"])


class TestRoom:
    def test_entries_that_do_not_fit_are_named(self, client, store):
        """SV-1: whole as far as there is room for texts, and the rest by a passage."""
        for n in range(12):
            store.add(f"retry {n} " + "with much patience " * 200, id=f"big-{n:02}")
        store.pending()

        answer = client.call_tool("memory_search", {"query": "retry", "profile": "vault"})
        hits = answer.structured_content["hits"]
        short = [hit["id"] for hit in hits if "snippet" in hit]

        assert sum(len(hit.get("text", "")) for hit in hits) <= compact.MAX_TEXT_CHARS
        assert short
        assert all(id_ in answer.content[0].text.splitlines()[-1] for id_ in short)


class TestNumberOfResults:
    def test_a_small_corpus_is_shown_whole_unless_a_limit_is_given(self, asked, store):
        """SV-11: by full-text hits alone; the agent gave no limit."""
        store.add_many({"text": f"lamp {n}", "id": f"l{n}"} for n in range(30))
        store.add_many({"text": f"boat {n}"} for n in range(60))
        store.pending()

        shown = asked.call("memory_search", query="lamp", profile="vault", mode="scan")["hits"]
        cut = asked.call("memory_search", query="lamp", profile="vault", mode="scan", limit=10)

        assert {f"l{n}" for n in range(30)} <= {hit["id"] for hit in shown}
        assert len(cut["hits"]) == 10
