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


EMBEDDER = """
embedder = "owner/name"
embedder_timeout_s = 3
embedder_api_key_env = "THEIR_KEY"
embedder_query_prompt = "q: "
embedder_text_prompt = ""
embedder_pooling = "cls"
embedder_window = 300
embedder_dims = 128
"""


def test_what_the_file_says_about_its_embedder_is_for_that_one_only(settings_file, monkeypatch):
    """Another one, by argument or by environment, gets neither its key nor its prompts."""
    settings_file(EMBEDDER)
    monkeypatch.setenv("THEIR_KEY", "secret")
    theirs = config.EmbedderAccess("owner/name", "secret", 3.0, "q: ", "", "cls", 300, 128)
    assert config.load().embedder_access == config.embedder_access() == theirs
    assert "secret" not in repr(config.load())

    assert config.embedder_access("other/name") == config.EmbedderAccess("other/name", timeout_s=3)
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "third/name")
    monkeypatch.setenv("SCRUBJAY_EMBEDDER_API_KEY", "mine")
    monkeypatch.setenv("SCRUBJAY_EMBEDDER_DIMS", "64")
    expected = config.EmbedderAccess("third/name", "mine", 3.0, dims=64)
    assert config.load().embedder_access == expected
    assert config.load().embedder == "third/name"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("embedder_pooling = 'median'", "lasttoken"),
        ("embedder_window = -5", "embedder_window"),
        ("embedder_dims = 'many'", "embedder_dims"),
        ("embedder_timeout_s = 0", "embedder_timeout_s"),
        ("embedder_api_key = 'sk-1'", "embedder_api_key_env"),
        ("device = 'tpu'", "directml"),
        ("embedder = 5", "text"),
    ],
)
def test_a_setting_of_the_embedder_that_cannot_work_is_refused(settings_file, text, says):
    """A key itself is not a setting: files are copied and shared."""
    settings_file(text)
    with pytest.raises(InvalidInput, match=says):
        config.load()


def test_a_folder_of_the_file_starts_at_the_folder_of_the_file(settings_file, tmp_path):
    settings_file('embedder = "./models/mine"')
    assert config.load().embedder == str(tmp_path / "models" / "mine")
