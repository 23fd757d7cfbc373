"""gno and gnosis rerank with the bundled cross-encoder where nobody chooses a reranker."""

from __future__ import annotations

import pytest
import tiny_models

import scrubjay
from scrubjay.models.bundled import RANKER
from scrubjay.models.guard import GuardedReranker

NOTES = {
    "hamlet": "Hamlet is a tragedy by William Shakespeare, written around 1600.",
    "spider": "Spiders are arachnids and have eight legs.",
    "museum": "The museum opens at ten in the morning and is closed on Mondays.",
    "paris": "Paris has been the capital of France since the tenth century.",
    "sky": "Air scatters short waves of light more than long ones, so the sky looks blue.",
    "undo": "git reset --soft HEAD~1 takes back the last commit and keeps the changes.",
}
QUESTION = "how many legs does a spider have?"


@pytest.fixture
def store(tmp_path, embedder):
    with scrubjay.open(tmp_path / "notes.db", embedder=embedder) as store:
        for id_, text in NOTES.items():
            store.add(text, id=id_, type="document")
        store.pending()
        yield store


def steps(results):
    def flat(trace):
        for step in trace:
            yield step
            yield from flat(step.branches)

    return {step.stage: step for step in flat(results.trace)}


@pytest.mark.parametrize("profile", ["gno", "gnosis", "gnosis:deep"])
def test_the_bundled_reranker_reads_the_candidates(store, bundled_models, profile):
    results = store.search("spider legs question", profile=profile)

    read = steps(results)["bundled_cross_encoder"]
    assert read.notes["by"] == RANKER
    assert (results[0].id, results.degraded) == ("spider", ())
    assert results[0].rerank_score > 0.5


@pytest.mark.parametrize("profile", ["default", "vault", "cognis", "gno:fast"])
def test_other_profiles_do_not_use_it(store, bundled_models, profile):
    found = steps(store.search(QUESTION, profile=profile))

    assert {"bundled_cross_encoder", "cross_encoder"}.isdisjoint(found)


@pytest.mark.parametrize("named", ["late", "none"])
def test_a_setting_comes_before_it(store, bundled_models, monkeypatch, named):
    monkeypatch.setenv("SCRUBJAY_RERANKER", named)

    assert "bundled_cross_encoder" not in steps(store.search(QUESTION, profile="gno"))


def test_a_reranker_of_the_settings_comes_before_it(store, bundled_models, tmp_path, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_RERANKER", str(tiny_models.make(tmp_path / "tiny")))
    found = steps(store.search(QUESTION, profile="gno"))

    assert "bundled_cross_encoder" not in found
    assert found["cross_encoder"].notes["by"] == "tiny"


def test_a_store_that_was_opened_without_a_reranker_has_none(tmp_path, embedder, bundled_models):
    with scrubjay.open(tmp_path / "notes.db", embedder=embedder, reranker=False) as store:
        store.add(NOTES["spider"])

        assert "bundled_cross_encoder" not in steps(store.search(QUESTION, profile="gno"))


def test_by_its_name_it_reranks_in_every_profile(store, bundled_models, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_RERANKER", RANKER)
    results = store.search(QUESTION)

    assert steps(results)["cross_encoder"].notes["by"] == RANKER
    assert results[0].id == "spider"


def test_a_search_goes_on_where_it_is_named_and_not_installed(store, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_RERANKER", RANKER)
    results = store.search(QUESTION, profile="gno")

    assert results[0].id == "spider"
    assert any("scrubjay-models" in reason for reason in results.degraded)


def test_gno_and_gnosis_use_token_vectors_where_it_is_not_installed(store):
    found = steps(store.search("spider legs question", profile="gno"))

    assert "late_interaction" in found
    assert "bundled_cross_encoder" not in found


def test_a_slow_machine_reads_fewer_passages(store, bundled_models, monkeypatch):
    """R-12: the measured speed decides the depth before the first passage is read."""
    monkeypatch.setattr(GuardedReranker, "ms_per_1000_chars", lambda self, within_s: 5000.0)
    results = store.search("spider legs question", profile="gno")

    assert steps(results)["bundled_cross_encoder"].notes["pairs"] == 2
    assert any("passages were reranked" in reason for reason in results.degraded)


@pytest.mark.parametrize("mode", ["standard", "deep"])
def test_gnosis_reads_all_candidates_however_slow_the_machine(
    store, bundled_models, monkeypatch, mode
):
    """GS-9: no deadline applies unless the caller sets one."""
    monkeypatch.setattr(GuardedReranker, "ms_per_1000_chars", lambda self, within_s: 5000.0)
    asked = {"query": "spider legs question", "profile": "gnosis", "mode": mode}
    found = store.search(**asked)
    hasty = store.search(**asked, overrides={"bundled_cross_encoder.deadline_ms": 2000})

    assert (found.counts["reranked"], found.degraded) == (len(NOTES), ())
    assert hasty.counts["reranked"] == 2
    assert "no more fit into 2000 ms" in hasty.degraded[0]


@pytest.mark.parametrize("named", [None, RANKER])
def test_a_question_in_another_language_is_not_scored(store, bundled_models, monkeypatch, named):
    """To an English model its words are single letters."""
    store.add("Spinnen haben acht Beine und sind keine Insekten", id="spinne")
    if named:
        monkeypatch.setenv("SCRUBJAY_RERANKER", named)
    found = steps(store.search("wie viele Beine haben die Spinnen?", profile="gno"))

    assert "bundled_cross_encoder" not in found
    assert "by" not in found.get("cross_encoder", found["rerank"]).notes


def test_its_speed_is_measured_once_and_stored(store, bundled_models):
    store.search(QUESTION, profile="gno")
    measured = store._context.models.bundled_reranker()

    assert measured.ms_per_1000_chars(10) > 0
    assert store.calibrate() > 0


def test_the_status_of_a_store_names_it_where_its_profile_uses_it(
    tmp_path, embedder, bundled_models
):
    reranker = {}
    for profile in ("gno", "gnosis", "default"):
        with scrubjay.open(tmp_path / "n.db", embedder=embedder, profile=profile) as store:
            reranker[profile] = store.status().reranker

    assert (reranker["gno"], reranker["gnosis"]) == (RANKER, RANKER)
    assert reranker["default"] != RANKER
