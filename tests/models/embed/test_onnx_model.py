"""Embedders of the hub and of folders: the numbers one gets by hand, as the model's own files say."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest
import tiny_embedders as tiny
import tiny_models
from model_hub import COMMIT, serving
from tiny_embedders import DIMS, TABLE, rows, unit

from scrubjay.config import EmbedderAccess
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.models import TokenEmbedder
from scrubjay.models.download.hub import repo_folder
from scrubjay.models.embed.families import family_of
from scrubjay.models.embed.local import OnnxEmbedder
from scrubjay.models.embed.onnx_model import OnnxModelEmbedder
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.models.registry import load_embedder

TEXTS = ["jay oak acorn", "key", "blue key blue pot"]
REPO = "someone/embedder"


def by_hand(how, texts=TEXTS):
    return np.stack([unit(how(rows(*text.split()))) for text in texts])


def mean(found):
    return found.mean(axis=0)


@pytest.fixture
def folder(tmp_path):
    return tiny.make(tmp_path / "tiny")


@pytest.fixture
def hub(folder, tmp_path, monkeypatch):
    """A hub with the tiny model, and an empty cache."""
    for name in ("SCRUBJAY_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.repos[REPO] = {
            "onnx/model.onnx": (folder / "model.onnx").read_bytes(),
            "tokenizer.json": (folder / "tokenizer.json").read_bytes(),
            "config.json": (folder / "config.json").read_bytes(),
            "1_Pooling/config.json": b'{"pooling_mode_cls_token": true}',
        }
        yield hub


@pytest.mark.model
def test_minilm_in_a_folder_gives_the_vectors_of_the_built_in_one(tmp_path):
    """Windows, pooling and token vectors, read from the files of sentence-transformers."""
    theirs, ours = load_embedder(str(tiny.lay_out_minilm(tmp_path / "MiniLM"))), OnnxEmbedder()
    assert isinstance(theirs, TokenEmbedder)
    texts = ["A scrub jay hid it.", "hi", "", "Sentences about oak trees. " * 200]

    vectors, tokens = theirs.embed_with_tokens(texts)
    expected, expected_tokens = ours.embed_with_tokens(texts)

    assert (theirs.dims, theirs.token_dims, theirs.config.window) == (384, 384, 256)
    assert np.abs(vectors - expected).max() < 1e-5
    for some, others in zip(tokens, expected_tokens, strict=True):
        assert some.shape == others.shape
        assert np.abs(some - others).max(initial=0) < 1e-5


@pytest.mark.model
def test_the_built_in_model_keeps_its_name():
    """It is the key of every index that exists."""
    assert load_embedder("all-MiniLM-L6-v2").name == "all-MiniLM-L6-v2/fp32"
    assert load_embedder("all-MiniLM-L6-v2/fp32").name == "all-MiniLM-L6-v2/fp32"


class TestPooling:
    @pytest.mark.parametrize(
        ("mode", "how"),
        [
            ("mean_tokens", mean),
            ("cls_token", lambda found: found[0]),
            ("max_tokens", lambda found: found.max(axis=0)),
            ("lasttoken", lambda found: found[-1]),
            ("mean_sqrt_len_tokens", lambda found: found.sum(axis=0) / len(found) ** 0.5),
            (
                "weightedmean_tokens",
                lambda found: np.average(found, axis=0, weights=range(1, len(found) + 1)),
            ),
        ],
    )
    def test_is_that_of_the_file(self, folder, mode, how):
        """Special tokens count, padding does not, whatever stands beside a text."""
        tiny.say_pooling(folder, mode)
        embedder = load_embedder(str(folder))

        assert embedder.embed(TEXTS) == pytest.approx(by_hand(how), abs=1e-6)

    def test_of_two_modes_is_both_side_by_side(self, folder):
        tiny.say_pooling(folder, "cls_token", pooling_mode_mean_tokens=True)
        embedder = load_embedder(str(folder))
        both = by_hand(lambda found: np.concatenate([found[0], mean(found)]))

        assert embedder.embed(TEXTS) == pytest.approx(both, abs=1e-6)
        assert (embedder.dims, embedder.token_dims) == (2 * DIMS, 0)

    def test_of_a_family_is_known_without_a_file(self, tmp_path):
        """bge takes the first token, and its files for ONNX often do not say so."""
        folder = tiny.make(tmp_path / "bge-small-en-v1.5")

        found = load_embedder(str(folder)).embed(TEXTS)

        assert found == pytest.approx(by_hand(lambda found: found[0]), abs=1e-6)

    def test_of_the_settings_comes_first(self, folder, monkeypatch):
        """And is part of the name, because it changes every vector."""
        tiny.say_pooling(folder, "cls_token")
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_POOLING", "max")
        embedder = load_embedder(str(folder))

        expected = by_hand(lambda found: found.max(axis=0))
        assert embedder.embed(TEXTS) == pytest.approx(expected, abs=1e-6)
        assert embedder.name.endswith("[pooling=max]")

    def test_of_an_unknown_kind_is_refused(self, folder):
        tiny.say_pooling(folder, "x", pooling_mode="median")
        with pytest.raises(Unavailable, match=r"median.*embedder_pooling"):
            load_embedder(str(folder)).embed(TEXTS)

    def test_inside_the_graph_is_used_as_it_is(self, tmp_path):
        """`sentence_embedding` has everything behind it already, a Dense module included."""
        folder = tiny.make(tmp_path / "pooled", sentence=True)
        tiny.say_modules(folder, "Transformer", "Pooling", "Dense", "Normalize")
        embedder = load_embedder(str(folder))

        assert embedder.embed(TEXTS) == pytest.approx(-by_hand(lambda found: found[0]), abs=1e-6)
        assert embedder.token_dims == DIMS

    def test_without_a_dense_module_that_the_model_needs_is_refused(self, folder):
        tiny.say_modules(folder, "Transformer", "Pooling", "Dense", "Normalize")
        with pytest.raises(Unavailable, match=r"Dense.*sentence_embedding"):
            load_embedder(str(folder)).embed(TEXTS)


class TestPrompts:
    def test_are_those_of_the_file(self, folder):
        """Each in front of its own kind of text; the tokens of the prompt are no tokens of the text."""
        tiny.say_prompts(folder, "blue ", "green ")
        embedder = load_embedder(str(folder))

        texts, queries = embedder.embed(["key"]), embedder.embed(["key"], as_query=True)
        (tokens,) = embedder.tokens(["key oak"])

        assert texts[0] == pytest.approx(unit(mean(rows("green", "key"))), abs=1e-6)
        assert queries[0] == pytest.approx(unit(mean(rows("blue", "key"))), abs=1e-6)
        assert tokens == pytest.approx(
            np.stack([unit(one) for one in rows("key", "oak")[1:-1]]), abs=1e-6
        )

    def test_that_do_not_count_are_left_out_of_the_mean(self, folder):
        tiny.say_pooling(folder, "mean_tokens", include_prompt=False)
        tiny.say_prompts(folder, "blue ", "")
        embedder = load_embedder(str(folder))

        (query,) = embedder.embed(["key"], as_query=True)

        assert query == pytest.approx(unit(mean(rows("key")[1:])), abs=1e-6)
        assert embedder.embed(["key"])[0] == pytest.approx(unit(mean(rows("key"))), abs=1e-6)

    def test_of_the_settings_come_first(self, folder, monkeypatch):
        """That of texts changes the name of the index, that of queries does not."""
        tiny.say_prompts(folder, "blue ", "green ")
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_QUERY_PROMPT", "river ")
        plain = load_embedder(str(folder)).name
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_TEXT_PROMPT", "")
        embedder = load_embedder(str(folder))

        assert embedder.embed(["key"])[0] == pytest.approx(unit(mean(rows("key"))), abs=1e-6)
        (query,) = embedder.embed(["key"], as_query=True)
        assert query == pytest.approx(unit(mean(rows("river", "key"))), abs=1e-6)
        assert embedder.name == f'{plain}[text_prompt=""]'

    def test_of_a_file_by_a_default_name(self, folder):
        tiny.write_json(
            folder / "config_sentence_transformers.json",
            {"prompts": {"clustering": "stone "}, "default_prompt_name": "clustering"},
        )
        (vector,) = load_embedder(str(folder)).embed(["key"])

        assert vector == pytest.approx(unit(mean(rows("stone", "key"))), abs=1e-6)

    @pytest.mark.parametrize(
        ("name", "query", "text"),
        [
            ("intfloat/multilingual-e5-small", "query: ", "passage: "),
            ("intfloat/e5-base-v2", "query: ", "passage: "),
            ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching", ""),
            ("BAAI/bge-m3", "", ""),
            ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
            ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
            ("Snowflake/snowflake-arctic-embed-m", "Represent this", ""),
            ("Qwen/Qwen3-Embedding-0.6B", "Instruct: ", ""),
            ("intfloat/multilingual-e5-large-instruct", "Instruct: ", ""),
            ("sentence-transformers/all-mpnet-base-v2", "", ""),
            ("someone/never-heard-of", "", ""),
        ],
    )
    def test_of_a_family_are_known_without_a_file(self, name, query, text):
        family = family_of(name)
        assert family.query_prompt.startswith(query)
        assert bool(family.query_prompt) == bool(query)
        assert family.text_prompt == text

    def test_of_a_family_are_used_where_the_file_has_empty_ones(self, tmp_path):
        """Newer versions of sentence-transformers write empty prompts for every model."""
        folder = tiny.make(tmp_path / "multilingual-e5-small")
        tiny.say_prompts(folder, "", "")

        config = load_embedder(str(folder)).config

        assert (config.query_prompt, config.text_prompt) == ("query: ", "passage: ")

    def test_that_fill_the_window_are_refused(self, folder, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_TEXT_PROMPT", "key " * 64)
        with pytest.raises(Unavailable, match="no room"):
            load_embedder(str(folder)).embed(["jay"])


class TestGraphs:
    @pytest.mark.parametrize(
        "inputs",
        [
            ("input_ids",),
            ("input_ids", "attention_mask", "token_type_ids"),
        ],
    )
    def test_get_the_inputs_they_ask_for(self, tmp_path, inputs):
        embedder = load_embedder(str(tiny.make(tmp_path, inputs=inputs)))
        assert embedder.embed(TEXTS) == pytest.approx(by_hand(mean), abs=1e-6)

    def test_get_positions(self, tmp_path):
        """Counted from 0, for each text."""
        folder = tiny.make(tmp_path, inputs=("input_ids", "attention_mask", "position_ids"))
        expected = by_hand(lambda found: mean(found + np.arange(len(found))[:, None]))

        assert load_embedder(str(folder)).embed(TEXTS) == pytest.approx(expected, abs=1e-6)

    def test_that_quantize_as_they_run_see_one_text_at_a_time(self, tmp_path):
        embedder = load_embedder(str(tiny.make(tmp_path, quantized=True)))
        assert embedder.embed(TEXTS) == pytest.approx(by_hand(mean), abs=1e-6)
        assert embedder._loaded.graph.runs_alone

    def test_may_name_their_output_otherwise(self, tmp_path):
        embedder = load_embedder(str(tiny.make(tmp_path, output="token_vectors")))
        assert embedder.embed(TEXTS) == pytest.approx(by_hand(mean), abs=1e-6)

    def test_that_ask_for_more_are_refused(self, tmp_path):
        inputs = ("input_ids", "attention_mask", "task_id")
        with pytest.raises(Unavailable, match="asks for task_id"):
            load_embedder(str(tiny.make(tmp_path, inputs=inputs))).embed(TEXTS)

    def test_of_a_reranker_are_refused(self, tmp_path):
        """With the setting where it belongs."""
        with pytest.raises(Unavailable, match=r"not an embedder.*reranker ="):
            load_embedder(str(tiny_models.make(tmp_path))).embed(TEXTS)

    def test_that_give_no_numbers_are_unavailable(self, tmp_path):
        guarded = GuardedEmbedder(load_embedder(str(tiny.make(tmp_path, nan=True))))
        with pytest.raises(Unavailable, match="not numbers"):
            guarded.embed(TEXTS)


class TestWindow:
    def test_is_the_least_of_what_is_stated(self, folder):
        tiny.write_json(folder / "sentence_bert_config.json", {"max_seq_length": 12})
        assert load_embedder(str(folder)).config.window == 12

    def test_of_long_texts_is_averaged_by_tokens(self, folder):
        """Nothing is cut off: the last word of a text counts."""
        tiny.write_json(folder / "sentence_bert_config.json", {"max_seq_length": 6})
        embedder = load_embedder(str(folder))

        (long,) = embedder.embed(["jay oak acorn key pot blue green river"])
        (other,) = embedder.embed(["jay oak acorn key pot blue green stone"])

        assert long @ other < 0.9999
        assert np.linalg.norm(long) == pytest.approx(1, abs=1e-6)

    def test_of_the_settings_comes_first(self, folder, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_WINDOW", "9")
        embedder = load_embedder(str(folder))
        assert embedder.config.window == 9
        assert embedder.name.endswith("[window=9]")


class TestDimensions:
    def test_are_known_when_the_model_is_loaded(self, folder):
        embedder = load_embedder(str(folder))
        assert embedder.dims == 0
        embedder.load()
        assert (embedder.dims, embedder.token_dims) == (DIMS, DIMS)

    def test_can_be_cut(self, folder, monkeypatch):
        """The beginning of a vector, as a unit vector; its name says so."""
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_DIMS", "3")
        embedder = load_embedder(str(folder))

        expected = np.stack([unit(mean(rows(*text.split()))[:3]) for text in TEXTS])
        assert embedder.embed(TEXTS) == pytest.approx(expected, abs=1e-6)
        assert (embedder.dims, embedder.token_dims) == (3, 0)
        assert embedder.name.endswith("[dims=3]")

    def test_cannot_be_more_than_there_are(self, folder, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_EMBEDDER_DIMS", "512")
        with pytest.raises(Unavailable, match=r"512.*have 8"):
            load_embedder(str(folder)).embed(TEXTS)

    @pytest.mark.parametrize("file", ["config.json", "config_sentence_transformers.json"])
    @pytest.mark.parametrize("name", ["matryoshka_dims", "matryoshka_dimensions"])
    def test_at_which_vectors_can_be_cut_are_read(self, folder, file, name):
        tiny.write_json(folder / file, {name: [8, 4, 2, 99, "x"]})
        embedder = load_embedder(str(folder))
        embedder.load()
        assert embedder.matryoshka == (2, 4, 8)


class TestFolder:
    def test_that_is_not_there(self, tmp_path):
        embedder = load_embedder(str(tmp_path / "gone"))
        with pytest.raises(Unavailable, match="no folder"):
            embedder.embed(TEXTS)

    @pytest.mark.parametrize(
        ("lost", "says"), [("model.onnx", "ONNX export"), ("tokenizer.json", "tokenizer.json")]
    )
    def test_that_is_incomplete_is_named_with_what_is_missing(self, folder, lost, says):
        (folder / lost).unlink()
        with pytest.raises(Unavailable, match=says):
            load_embedder(str(folder)).embed(TEXTS)

    @pytest.mark.parametrize(
        ("file", "says"), [("tokenizer.json", "tokenizer"), ("config.json", "config.json")]
    )
    def test_with_a_damaged_file_is_named(self, folder, file, says):
        (folder / file).write_text("{", encoding="utf-8")
        with pytest.raises(Unavailable, match=says):
            load_embedder(str(folder)).embed(TEXTS)

    def test_of_the_same_name_elsewhere_is_another_model(self, tmp_path):
        """Their vectors are never mixed; the folders above are in no name."""
        one, two = (load_embedder(str(tmp_path / place / "onnx")) for place in ("e5", "bge"))
        assert one.name != two.name
        assert one.name.startswith("./onnx#")
        assert load_embedder(str(tmp_path / "e5" / "onnx")).name == one.name

    def test_of_the_settings_file_starts_at_that_file(self, folder, tmp_path, monkeypatch):
        file = tmp_path / "scrubjay.toml"
        file.write_text('embedder = "./tiny"\nembedder_dims = 4\n', encoding="utf-8")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
        from scrubjay.config import load

        embedder = load_embedder(load().embedder)

        assert embedder.embed(TEXTS).shape == (3, 4)

    @pytest.mark.parametrize("spec", ["./x", "../x", "~/x", "/x/y", "C:\\models\\x", "C:/x"])
    def test_is_told_from_a_repository_by_its_form(self, spec):
        assert isinstance(load_embedder(spec), OnnxModelEmbedder)


class TestHub:
    def test_gives_the_same_vectors_and_asks_only_once(self, hub, monkeypatch):
        """Afterwards no network is needed."""
        embedder = load_embedder(REPO)
        assert not embedder.is_here()

        first = embedder.embed(TEXTS)
        asked = len(hub.asked)
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        second = load_embedder(REPO).embed(TEXTS)

        assert first == pytest.approx(by_hand(lambda found: found[0]), abs=1e-6)
        assert np.array_equal(first, second)
        assert len(hub.asked) == asked
        assert embedder.name == REPO

    def test_at_a_revision(self, hub):
        embedder = load_embedder(f"{REPO}@{COMMIT}")
        embedder.fetch()
        assert embedder.is_here()
        assert repo_folder(f"{REPO}@{COMMIT}").is_dir()

    def test_offline_and_not_here(self, hub, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        with pytest.raises(Unavailable, match="SCRUBJAY_OFFLINE"):
            load_embedder(REPO).embed(TEXTS)
        assert hub.asked == []

    def test_without_an_export_is_said_before_anything_is_downloaded(self, hub):
        del hub.repos[REPO]["onnx/model.onnx"]
        with pytest.raises(Unavailable, match="no ONNX export"):
            load_embedder(REPO).embed(TEXTS)
        assert hub.of("GET") == []

    def test_without_the_repository(self, hub):
        with pytest.raises(Unavailable, match="does not exist"):
            load_embedder("someone/else").embed(TEXTS)


class TestNames:
    def test_that_are_unknown_come_with_a_suggestion_and_all_forms(self):
        with pytest.raises(NotFound) as caught:
            load_embedder("multilingual-e5-smal")
        said = str(caught.value)
        assert "did you mean 'intfloat/multilingual-e5-small'?" in said
        for form in ("owner/name", "./name", "http://", "gemini#", "all-MiniLM-L6-v2"):
            assert form in said

    def test_close_to_the_built_in_one(self):
        with pytest.raises(NotFound, match="did you mean 'all-MiniLM-L6-v2'"):
            load_embedder("all-minilm-l6-v2")

    def test_that_no_repository_can_have(self):
        with pytest.raises(InvalidInput, match="owner/name"):
            load_embedder("a/b--c")

    def test_of_long_prompts_are_short(self):
        access = EmbedderAccess("a/b", text_prompt="long " * 50, dims=64)
        name = OnnxModelEmbedder(access).name
        assert name.startswith("a/b[dims=64, text_prompt=")
        assert len(name) < 50


def test_creating_one_imports_nothing_heavy(tmp_path):
    """A store that is opened for a keyword search does not pay for a model."""
    code = (
        "import sys\nfrom scrubjay.models.registry import load_embedder\n"
        "load_embedder('intfloat/multilingual-e5-small'), load_embedder('./x')\n"
        "load_embedder('http://localhost:1/v1#m'), load_embedder('gemini#gemini-embedding-001')\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'huggingface_hub', 'urllib.request'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_weights_beside_the_graph_are_found(folder, tmp_path):
    """A folder may be moved."""
    moved = tmp_path / "moved"
    shutil.move(folder, moved)
    assert load_embedder(str(moved)).embed(["key"])[0] @ unit(mean(TABLE[[2, 7, 3]])) > 0.99
