"""Settings: a file, then the environment, then arguments; what cannot work is refused with what would."""

from __future__ import annotations

import pytest

import scrubjay
from scrubjay import InvalidInput, config

LONG = "One sentence of a long text follows another. " * 60


@pytest.fixture
def settings_file(tmp_path, monkeypatch):
    """Write the settings file of this user."""
    file = tmp_path / "scrubjay.toml"
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
    return lambda text: file.write_text(text, encoding="utf-8")


def chunks_of(text):
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add(text)
        return store.status().chunks


def test_the_size_of_passages_is_a_setting(settings_file, monkeypatch):
    """The file says how long, the environment overrules it."""
    settings_file("chunk_tokens = 300\nchunk_overlap_tokens = 10\n")
    assert (config.load().chunk_tokens, config.load().chunk_overlap_tokens) == (300, 10)
    few = chunks_of(LONG)

    monkeypatch.setenv("SCRUBJAY_CHUNK_TOKENS", "50")
    assert config.load().chunk_tokens == 50
    assert chunks_of(LONG) > 4 * few


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("chunk_tokens = 5", "chunk_tokens is 5; give 20 or more"),
        ("chunk_tokens = -200", "chunk_tokens is -200; give a whole number such as"),
        ("chunk_tokens = 'many'", "chunk_tokens is 'many'; give a whole number such as"),
        ("chunk_tokens = 1.5", "chunk_tokens is 1.5; give a whole number such as"),
        ("chunk_overlap_tokens = true", "chunk_overlap_tokens is True; give a whole number"),
        (
            "chunk_tokens = 100\nchunk_overlap_tokens = 60",
            "chunk_overlap_tokens is 60; give at most half of chunk_tokens (50)",
        ),
    ],
)
def test_a_size_that_cannot_work_is_refused(settings_file, text, says):
    """Before anything is opened, and with what would be right."""
    settings_file(text)
    with pytest.raises(InvalidInput) as refused:
        scrubjay.open(":memory:")
    assert says in str(refused.value)
