"""`models use` and `models prune` in the shell, with plug-ins, folders and the hub."""

from __future__ import annotations

import os

import jsonschema
import pytest
import switch_models
import tiny_embedders as tiny
from switch_models import Cars

from scrubjay.surfaces import schemas


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    switch_models.install(tmp_path / "plug-ins", monkeypatch)
    monkeypatch.setenv("SCRUBJAY_MULTILINGUAL", "none")


def component(shell, name):
    found = shell("doctor", "--json").json["findings"]
    return next((one["detail"] for one in found if one["component"] == name), "")


def test_a_store_changes_its_model(bare_shell):
    bare_shell("add", "The automobile stands behind the barn", "--id", "barn")
    bare_shell("add", "Oda keeps the lighthouse", "--id", "oda")
    Cars.left = 1
    begun = bare_shell("models", "use", "cars", "--json")
    jsonschema.validate(begun.json, schemas.load()["model_change"])
    assert (begun.code, begun.json["state"], begun.json["before"]) == (0, "building", "cats")
    assert "to cars: 0 of 2 chunks" in bare_shell("status").out
    assert bare_shell("status", "--json").json["change"]["model"] == "cars"
    assert "cars" in component(bare_shell, "choice")
    refused = bare_shell("models", "use", "third")
    assert refused.code == 2
    assert "models prune cars" in refused.err
    failed = bare_shell("models", "use", "cars", "--wait")
    assert failed.code == 1
    assert "the model rests" in failed.out
    assert bare_shell("vsearch", "lighthouse", "--json").json["hits"][0]["id"] == "oda"

    Cars.left = None
    done = bare_shell("models", "use", "cars", "--wait")
    assert (done.code, done.out.splitlines()[0]) == (0, "the store uses cars now")
    assert bare_shell("vsearch", "car", "--json").json["hits"][0]["id"] == "barn"
    assert "cars, chosen by the store; the settings name cats" in bare_shell("status").out
    assert component(bare_shell, "vectors") == "none is pending"
    assert bare_shell("add", "An automobile ferry", "--id", "ferry", "--json").json["embedded"]
    assert bare_shell("models", "use", "cars").out.splitlines()[0] == "the store uses cars"
    assert (
        bare_shell("models", "use", "cats")
        .out.splitlines()[0]
        .startswith("the store uses cats now")
    )
    bare_shell("models", "pull")

    pruned = bare_shell("models", "prune", "--json").json
    jsonschema.validate(pruned, schemas.load()["pruned"])
    assert [one["model"] for one in pruned["pruned"]] == ["cars"]
    assert "no index is unused" in bare_shell("models", "prune").out
    assert bare_shell("verify").code == 0


def test_adding_does_not_build_the_next_index_and_pull_does(bare_shell, monkeypatch):
    for n in range(5):
        bare_shell("add", f"harbour {n}")
    Cars.left = 0
    bare_shell("models", "use", "cars")
    Cars.left = None
    monkeypatch.setenv("SLOW_MODEL_S", "1")  # three steps, in which a busy machine adds one memory
    bare_shell("add", "one more harbour")
    assert bare_shell("status", "--json").json["model"] == "cats"

    monkeypatch.delenv("SLOW_MODEL_S")
    bare_shell("models", "pull")
    assert bare_shell("status", "--json").json["model"] == "cars"


def test_a_folder_is_found_from_everywhere(bare_shell, tmp_path, monkeypatch):
    tiny.make(tmp_path / "mine")
    bare_shell("add", "blue key", "--id", "key")
    bare_shell("add", "green river", "--id", "river")
    monkeypatch.chdir(tmp_path)
    assert bare_shell("models", "use", "./mine", "--wait").code == 0
    monkeypatch.chdir("/")

    assert bare_shell("status", "--json").json["model"].startswith("./mine#")
    assert bare_shell("vsearch", "key", "--json").json["hits"][0]["id"] == "key"


def test_settings_that_change_vectors_stay_with_the_choice(bare_shell, tmp_path, monkeypatch):
    tiny.make(tmp_path / "mine")
    bare_shell("add", "blue key", "--id", "key")
    monkeypatch.setenv("SCRUBJAY_EMBEDDER_DIMS", "4")
    assert bare_shell("models", "use", str(tmp_path / "mine"), "--wait").code == 0
    monkeypatch.delenv("SCRUBJAY_EMBEDDER_DIMS")

    assert bare_shell("status", "--json").json["model"].endswith("[dims=4]")
    found = bare_shell("vsearch", "key", "--json").json
    assert (found["hits"][0]["id"], found["degraded"]) == ("key", [])


@pytest.mark.parametrize("lost", ["model.onnx", "tokenizer.json"])
def test_an_incomplete_folder_changes_nothing(bare_shell, tmp_path, lost):
    os.unlink(tiny.make(tmp_path / "mine") / lost)
    bare_shell("add", "Oda keeps the lighthouse", "--id", "oda")
    before = bare_shell("status", "--json").json["models"]
    refused = bare_shell("models", "use", str(tmp_path / "mine"))

    assert refused.code == 1
    assert lost in refused.err
    assert bare_shell("status", "--json").json["models"] == before
    assert bare_shell("vsearch", "lighthouse", "--json").json["hits"][0]["id"] == "oda"


def test_wrong_words(bare_shell):
    bare_shell("add", "Oda keeps the lighthouse")
    assert bare_shell("models", "use").code == 2
    assert bare_shell("models", "--wait").code == 2
    assert bare_shell("models", "prune", "cats").code == 2
    assert bare_shell("models", "use", "broken").code == 1
    assert bare_shell("models", "use", "cars", "--db", "nowhere.db").code == 3
    assert not os.path.exists("nowhere.db")
