"""The device of local models: chosen by setting, the CPU where a GPU does not work, and never in silence."""

from __future__ import annotations

import logging
import sys

import numpy as np
import onnxruntime
import pytest
import tiny_embedders as tiny

from scrubjay.config import device, load
from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models import device as devices
from scrubjay.models.device import CPU, PROVIDERS, choose_device
from scrubjay.models.registry import load_embedder

TEXTS = ["jay oak acorn", "key"]


class FakeRuntime:
    """onnxruntime with more providers than this machine has; `works` are those that open a session."""

    def __init__(self, monkeypatch, *available, works=()):
        self.asked = []
        session = onnxruntime.InferenceSession

        def fake_session(source, options, providers):
            self.asked.append(providers)
            if providers[0] in works:
                opened = session(source, options, providers=[CPU])
                opened.get_providers = lambda: providers
                return opened
            if providers[0] == "DmlExecutionProvider":
                raise RuntimeError("no adapter")
            return session(source, options, providers=[CPU])

        monkeypatch.setattr(onnxruntime, "InferenceSession", fake_session)
        monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [*available, CPU])
        monkeypatch.setattr(
            onnxruntime, "preload_dlls", lambda: sys.stdout.write("not found"), raising=False
        )


@pytest.fixture
def folder(tmp_path):
    return str(tiny.make(tmp_path / "tiny"))


def test_without_a_gpu_it_is_the_cpu_as_before(folder):
    embedder = load_embedder(folder)
    embedder.load()
    assert embedder.device == "cpu"
    assert choose_device().why.startswith("device = auto")


def test_the_setting_is_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_DEVICE", "tpu")
    with pytest.raises(InvalidInput, match="coreml"):
        load()
    monkeypatch.delenv("SCRUBJAY_DEVICE")
    file = tmp_path / "scrubjay.toml"
    file.write_text('device = "cpu"\n', encoding="utf-8")
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
    assert (device(), load().device) == ("cpu", "cpu")


@pytest.mark.parametrize("name", ["cuda", "coreml", "directml"])
def test_a_chosen_device_that_is_missing_is_an_error_with_what_to_do(folder, monkeypatch, name):
    monkeypatch.setenv("SCRUBJAY_DEVICE", name)
    with pytest.raises(Unavailable) as caught:
        load_embedder(folder).embed(TEXTS)
    assert PROVIDERS[name] in str(caught.value)
    if name == "cuda":
        assert 'pip install "scrubjay[cuda]"' in str(caught.value)


@pytest.mark.parametrize("name", ["cuda", "coreml", "directml"])
def test_a_chosen_device_is_used(folder, monkeypatch, name, capsys):
    """With the CPU behind it, for the parts of a graph that it cannot run; nothing is printed."""
    runtime = FakeRuntime(monkeypatch, PROVIDERS[name], works=[PROVIDERS[name]])
    monkeypatch.setenv("SCRUBJAY_DEVICE", name)
    embedder = load_embedder(folder)
    embedder.embed(TEXTS)
    assert runtime.asked == [[PROVIDERS[name], CPU]]
    assert embedder.device == name
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["cuda", "directml"])
def test_a_chosen_device_that_does_not_work_is_an_error(folder, monkeypatch, name):
    """onnxruntime raises for one, and uses the CPU in silence for the other."""
    FakeRuntime(monkeypatch, PROVIDERS[name])
    monkeypatch.setenv("SCRUBJAY_DEVICE", name)
    with pytest.raises(Unavailable, match=f"cannot run on the device {name}"):
        load_embedder(folder).embed(TEXTS)


@pytest.mark.parametrize("name", ["cuda", "directml"])
def test_auto_takes_a_gpu_that_works(folder, monkeypatch, name):
    FakeRuntime(monkeypatch, PROVIDERS[name], works=[PROVIDERS[name]])
    embedder = load_embedder(folder)
    embedder.load()
    assert embedder.device == name


@pytest.mark.parametrize("name", ["cuda", "directml"])
def test_auto_falls_back_to_the_cpu_with_a_line_in_the_log(folder, monkeypatch, name, caplog):
    plain = load_embedder(folder).embed(TEXTS)
    FakeRuntime(monkeypatch, PROVIDERS[name])
    with caplog.at_level(logging.WARNING, logger=devices.__name__):
        embedder = load_embedder(folder)
        vectors = embedder.embed(TEXTS)
    assert embedder.device == "cpu"
    assert "runs on the CPU" in caplog.text
    assert np.array_equal(vectors, plain)


def test_auto_leaves_coreml_alone(folder, monkeypatch):
    """Every wheel for macOS has it, and it may compute in 16 bits."""
    runtime = FakeRuntime(monkeypatch, PROVIDERS["coreml"], works=[PROVIDERS["coreml"]])
    load_embedder(folder).load()
    assert runtime.asked == [[CPU]]


def test_the_cpu_is_asked_for_alone(folder, monkeypatch):
    runtime = FakeRuntime(monkeypatch, PROVIDERS["cuda"], works=[PROVIDERS["cuda"]])
    monkeypatch.setenv("SCRUBJAY_DEVICE", "cpu")
    load_embedder(folder).load()
    assert runtime.asked == [[CPU]]
