"""The shell with an embedder by name: downloaded once, used by add and search, and reported."""

from __future__ import annotations

import pytest
import tiny_embedders as tiny
import tiny_models
from model_hub import serving

REPO, RERANKER = "someone/embedder", "someone/reranker"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub with a tiny embedder and a tiny reranker, and the network to reach it."""
    monkeypatch.delenv("SCRUBJAY_OFFLINE")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        made = {REPO: tiny.make(tmp_path / "one"), RERANKER: tiny_models.make(tmp_path / "two")}
        for repo, folder in made.items():
            names = ("model.onnx", "tokenizer.json", "config.json")
            hub.repos[repo] = {name: (folder / name).read_bytes() for name in names}
        yield hub


def test_an_embedder_of_the_hub_is_downloaded_used_and_reported(hub, bare_shell, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", REPO)
    missing = {one["component"]: one for one in bare_shell("doctor", "--json").json["findings"]}
    assert missing["model"]["fix"] == "scrubjay models pull"

    assert bare_shell("models", "pull").code == 0
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    assert bare_shell("add", "blue key", "--id", "key").code == 0
    assert bare_shell("add", "green river", "--id", "river").code == 0
    found = bare_shell("vsearch", "key", "--json").json

    assert found["hits"][0]["id"] == "key"
    assert f"embedder   {REPO}" in bare_shell("models").out
    told = {one["component"]: one for one in bare_shell("doctor", "--json").json["findings"]}
    assert told["vectors"]["detail"] == "none is pending"
    assert "8 dimensions" in told["embedding"]["detail"]


def test_pull_takes_any_repository(hub, bare_shell):
    """A reranker as before, and an embedder that no setting names yet."""
    assert bare_shell("models", "pull", REPO).code == 0
    assert bare_shell("models", "pull", RERANKER).code == 0
    assert "onnx" in " ".join(hub.of("GET"))


def test_offline_and_not_here_the_search_says_so(bare_shell, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", REPO)
    done = bare_shell("add", "blue key", "--id", "key")
    assert done.code == 0
    assert "SCRUBJAY_OFFLINE" in done.err
    assert bare_shell("search", "key", "--json").json["hits"][0]["id"] == "key"


def test_an_unknown_name_lists_the_forms(bare_shell, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "bge-m4")
    done = bare_shell("add", "blue key")
    assert done.code != 0
    assert "did you mean 'BAAI/bge-m3'" in done.err


def test_lengths_that_are_none_are_refused_by_every_command(shell, embedder):
    """CG-1: `matryoshka = True` of an embedder that the settings name is wrong input, no TypeError."""
    embedder.matryoshka = True

    for words in (["add", "blue key"], ["query", "key"]):
        done = shell(*words)
        assert (done.code, "whole numbers" in done.err) == (2, True)


def test_lengths_are_no_setting(bare_shell, home, monkeypatch):
    """CG-1: they are the model's own; the message names the settings that there are."""
    file = home / "s.toml"
    file.write_text("matryoshka = true\n", encoding="utf-8")
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))

    done = bare_shell("add", "blue key")

    assert (done.code, "unknown setting 'matryoshka'" in done.err) == (2, True)
    assert "embedder_dims" in done.err
