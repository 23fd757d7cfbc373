"""The embedder on this machine: the right numbers, whole texts, no surprises."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

from scrubjay.errors import NotFound, Unavailable
from scrubjay.models import TokenEmbedder, registry
from scrubjay.models.download.pull import MINILM, folder
from scrubjay.models.embed.local import OnnxEmbedder
from scrubjay.models.registry import known_models, load_embedder
from scrubjay.runtime.paths import cache_dir

ROOT = Path(__file__).parents[3]
JAY = "A scrub jay remembers where it hid each acorn."
FOX = "The quick brown fox jumps over the lazy dog."
FACT = "The spare key is under the blue flowerpot."

# From a forward pass in double precision that shares no code with this one: torch, the
# safetensors file, and the model's definition.
POOLED = {
    FOX: [0.0439335, 0.0589344, 0.0481784, 0.0775481, 0.0267444],
    "hi": [-0.0904762, 0.0404396, 0.0239057, 0.0589480, -0.0228823],
    JAY: [0.0269865, 0.1112873, 0.0122418, 0.0378873, 0.0309986],
}
FIRST_TOKEN_OF_JAY = [-0.0060684, 0.0609307, -0.0028313, 0.0115120]

BAD_TEXTS = {
    "empty": "",
    "blank": " \n\t ",
    "NUL": "a\0b",
    "only NUL": "\0",
    "half a surrogate pair": "left \ud800 right",
    "emoji": "🐦🌰" * 50,
    "special tokens": "[CLS] [SEP] [PAD] [MASK]",
    "marks only": "\u0301" * 40,
    "right to left": "مرحبا بالعالم",
    "no spaces": "ภาษาไทยไม่มีวรรค" * 20,
    "one long word": "k3y" * 3000,
}


@pytest.fixture(scope="module")
def model():
    return OnnxEmbedder()


def long_text(words=2000):
    """A text far beyond the window, in sentences of ten words."""
    sentences = [
        f"Sentence {number} tells of oak trees, wind and quiet mornings."
        for number in range(words)
    ]
    return " ".join(sentences[: words // 10])


@pytest.mark.model
@pytest.mark.parametrize("text", POOLED)
def test_the_vector_is_the_reference_vector(model, text):
    """Mean pooling and unit length, as the model's authors define it."""
    (vector,) = model.embed([text])

    assert vector[:5] == pytest.approx(POOLED[text], abs=2e-6)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


@pytest.mark.model
def test_token_vectors_are_the_words_without_the_special_tokens(model):
    """One unit vector a word piece: the marks of start and end are not among them."""
    (tokens,) = model.tokens([JAY])

    assert tokens.shape == (model.count_tokens(JAY), model.dims)
    assert tokens[0, :4] == pytest.approx(FIRST_TOKEN_OF_JAY, abs=2e-6)
    assert np.linalg.norm(tokens, axis=1) == pytest.approx(1, abs=1e-6)


@pytest.mark.model
def test_encode_gives_both_from_one_pass(model):
    """The same numbers as the two separate calls."""
    texts = [JAY, "hi", long_text(600)]

    pooled, tokens = model.embed_with_tokens(texts)

    assert np.array_equal(pooled, model.embed(texts))
    for expected, actual in zip(model.tokens(texts), tokens, strict=True):
        assert np.array_equal(expected, actual)


@pytest.mark.model
def test_a_text_with_related_meaning_is_nearer_than_one_with_related_words(model):
    """The reason to have a model at all."""
    question, answer, decoy = model.embed(
        [
            "how do I get my money back",
            "Refunds are issued within fourteen days of return.",
            "How I got my back pain under control.",
        ]
    )

    assert question @ answer > question @ decoy


@pytest.mark.model
def test_a_vector_does_not_depend_on_its_neighbours(model):
    """Alone, in a batch, in another order: the same vector, so an index never drifts."""
    texts = [JAY, "hi", FOX, long_text(900), "", *(f"note {'and more ' * n}" for n in range(60))]

    together = model.embed(texts)

    alone = np.concatenate([model.embed([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    assert np.abs(together - model.embed(texts[::-1])[::-1]).max() < 1e-5


@pytest.mark.model
def test_the_end_of_a_long_text_is_not_cut(model):
    """A fact after 2,000 words moves the vector, lies in a window and is among the tokens."""
    plain = long_text()
    told = f"{plain} {FACT}"

    windows = model.split(told)

    assert not model.fits(told)
    assert any(FACT in told[window.start : window.end] for window in windows)
    assert model.embed([plain])[0] @ model.embed([told])[0] < 0.9999
    flowerpot = model.tokens(["flowerpot"])[0].T
    without, with_it = (rows @ flowerpot for rows in model.tokens([plain, told]))
    assert with_it.max() > without.max() + 0.1


@pytest.mark.model
def test_the_vector_of_a_long_text_is_the_average_of_its_windows(model):
    """By number of tokens, and of length one again."""
    text = long_text()
    pieces = [text[window.start : window.end] for window in model.split(text)]
    weights = np.array([model.count_tokens(piece) + 2 for piece in pieces])

    average = (model.embed(pieces) * weights[:, None]).sum(axis=0)

    expected = average / np.linalg.norm(average)
    assert model.embed([text])[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.model
@pytest.mark.parametrize(
    "text",
    [
        long_text(),
        long_text().replace(". ", ".\n\n"),
        "oak" * 20_000,
        "橡树的松鸦记得每一颗橡子。" * 200,
        "\n".join(BAD_TEXTS.values()) * 5,
        "a" * 99 + " " + "b" * 2000,
    ],
    ids=["sentences", "paragraphs", "one word", "Chinese", "everything bad", "long words"],
)
def test_windows_cover_the_text_and_each_fits(model, text):
    """From the first character to the last, no gap, a little shared, each within the window."""
    windows = model.split(text)

    assert windows[0].start == 0
    assert windows[-1].end == len(text)
    for before, after in itertools.pairwise(windows):
        assert before.start < after.start <= before.end < after.end
    for window in windows:
        assert model.fits(text[window.start : window.end])


@pytest.mark.model
def test_windows_end_at_sentences_where_there_are_any(model):
    """A cut inside a sentence costs its meaning."""
    text = long_text()

    for window in model.split(text)[:-1]:
        assert text[: window.end].rstrip().endswith(".")


@pytest.mark.model
def test_a_text_that_fits_is_one_window(model):
    """The whole of it, blanks included."""
    (window,) = model.split(f"  {JAY}\n")

    assert (window.start, window.end) == (0, len(JAY) + 3)
    assert window.tokens == model.count_tokens(JAY) == 11


@pytest.mark.model
@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_any_string_has_a_vector(model, text):
    """No exception, no NaN, length one, and as many token vectors as tokens."""
    pooled, (tokens,) = model.embed_with_tokens([text])

    assert np.isfinite(pooled).all()
    assert np.linalg.norm(pooled) == pytest.approx(1, abs=1e-5)
    assert np.isfinite(tokens).all()
    assert (len(tokens) > 0) == (model.count_tokens(text) > 0)


@pytest.mark.model
def test_a_megabyte_is_split_in_seconds(model):
    """The chunker may hand over a whole book."""
    text = long_text(200_000)[:1_000_000]

    windows = model.split(text)

    assert len(windows) > 500
    assert windows[-1].end == len(text) == 1_000_000


@pytest.mark.model
def test_no_texts_are_no_vectors(model):
    """An empty batch keeps its shape."""
    assert model.embed([]).shape == (0, 384)
    assert model.tokens([]) == []


@pytest.mark.model
def test_threads_share_one_model():
    """Eight threads that start on an unloaded model get the vectors of one."""
    fresh = OnnxEmbedder()
    found = {}

    def work(number):
        found[number] = fresh.embed([JAY, f"note {number % 2}"])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(np.array_equal(found[number], found[number % 2]) for number in range(8))


@pytest.mark.model
def test_a_graph_that_does_not_load_is_unavailable():
    """What onnxruntime raises stays behind the boundary, and off the terminal."""

    class Broken(OnnxEmbedder):
        def _graph(self):
            return b"not a graph"

    with pytest.raises(Unavailable, match="cannot load all-MiniLM-L6-v2/fp32"):
        Broken().embed([JAY])


@pytest.mark.model
def test_the_shipped_graph_is_what_the_tool_builds(tmp_path):
    """Nobody edits the graph by hand."""
    built = tmp_path / "minilm.onnx"

    subprocess.run([sys.executable, ROOT / "tools" / "build_graph.py", built], check=True)

    shipped = ROOT / "src" / "scrubjay" / "models" / "embed" / "minilm.onnx"
    assert shipped.read_bytes() == built.read_bytes()
    assert len(shipped.read_bytes()) < 50_000


def test_without_the_model_and_offline_the_embedder_is_unavailable(tmp_path, monkeypatch):
    """Making one costs nothing; using it says what is missing."""
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path))
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    model = load_embedder("all-MiniLM-L6-v2")

    with pytest.raises(Unavailable, match="SCRUBJAY_OFFLINE"):
        model.embed([JAY])


def test_the_name_says_model_and_precision():
    """Both names find it; the index is keyed by the longer."""
    for name in ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2/fp32"):
        model = load_embedder(name)
        assert (model.name, model.dims) == ("all-MiniLM-L6-v2/fp32", 384)
        assert isinstance(model, TokenEmbedder)


def test_an_unknown_model_is_not_found_and_the_known_ones_are_named():
    """The error helps to choose."""
    with pytest.raises(NotFound, match=r"'word2vec'.*all-MiniLM-L6-v2"):
        load_embedder("word2vec")


def test_an_installed_package_can_bring_a_model(monkeypatch):
    """An entry point that names a callable is enough."""
    point = EntryPoint("theirs", "scrubjay.models.embed.local:OnnxEmbedder", registry.GROUP)
    monkeypatch.setattr(registry, "_plugins", lambda group: {"theirs": point})

    assert isinstance(load_embedder("theirs"), OnnxEmbedder)


def test_a_package_that_brings_a_broken_model_is_named(monkeypatch):
    """The error says which, and what it wanted to load."""
    point = EntryPoint("theirs", "no_such_package:Model", registry.GROUP)
    monkeypatch.setattr(registry, "_plugins", lambda group: {"theirs": point})

    with pytest.raises(Unavailable, match=r"theirs \(no_such_package:Model\) cannot load"):
        load_embedder("theirs")


def test_the_list_of_models_says_which_are_here(tmp_path, monkeypatch):
    """For the shell and the doctor, without reading the weights."""
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path))

    _, state, _ = known_models()

    assert (state.card, state.cached, state.path) == (MINILM, False, folder(MINILM))


def test_importing_the_embedder_imports_no_library_of_numbers():
    """A keyword search from the shell pays for none of them."""
    code = (
        "import sys, scrubjay.models.registry, scrubjay.models.embed.local\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'urllib.request'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.model
def test_the_runtime_is_kept_from_reporting_home(tmp_path):
    """Nothing but our own cache appears in a home: no device id, no queue of events."""
    home = tmp_path / "home"
    home.mkdir()
    code = "from scrubjay.models.embed.local import OnnxEmbedder; OnnxEmbedder().embed(['a'])"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ORT_", "CI", "XDG_"))}
    kept |= {"HOME": str(home), "SCRUBJAY_CACHE": cache_dir()}
    subprocess.run([sys.executable, "-c", code], env=kept, check=True)
    assert list(home.rglob("*")) == []
