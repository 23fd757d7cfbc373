"""The reranker on this machine: the numbers one gets by hand, for any model and any text."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
import tiny_models as tiny
from model_hub import COMMIT, serving
from onnx import TensorProto

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models import Reranker
from scrubjay.models.download.hub import repo_folder
from scrubjay.models.rerank.cross_encoder import OnnxCrossEncoder
from scrubjay.runtime.progress import silent

QUERY = "blue key pot"
TEXTS = [
    "jay oak acorn",
    "key",
    "blue key blue pot",
    "pot " * 9,
    "river stone cloud lamp door tea book rain wind blue",
]
BY_HAND = [tiny.logistic(tiny.shared_logit(QUERY, text)) for text in TEXTS]
FILLER = "river stone cloud lamp"
REPO = "someone/reranker"

BAD_TEXTS = {
    "empty": "",
    "blank": " \n\t ",
    "NUL": "a\0b",
    "half a surrogate pair": "left \ud800 right",
    "emoji": "🐦🌰" * 50,
    "special tokens": "[CLS] [SEP] [PAD] [MASK] </s>",
    "marks only": "\u0301" * 40,
    "no spaces": "ภาษาไทยไม่มีวรรค" * 20,
    "a word of 100 KB": "k3y" * 33_000,
    "unknown words": "Ωμέγα " * 500,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.make(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def model(folder):
    return OnnxCrossEncoder(folder)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A model that reads 16 tokens: with a query of one word, 12 of the text."""
    return tiny.make(tmp_path_factory.mktemp("models") / "narrow", positions=16)


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
        }
        yield hub


def by_weight(query, texts, **how):
    return [tiny.logistic(tiny.weight_logit(query, text, **how)) for text in texts]


class TestScores:
    def test_are_those_computed_by_hand(self, model):
        """One logit goes through the logistic function; the order is that of the texts."""
        scores = model.score(QUERY, TEXTS)

        assert scores == pytest.approx(BY_HAND, abs=1e-6)
        assert all(isinstance(score, float) for score in scores)
        assert scores[3] == max(scores)

    def test_of_two_labels_are_the_probability_of_the_second(self, tmp_path):
        """Softmax over the numbers 1 and logit."""
        model = OnnxCrossEncoder(tiny.make(tmp_path, labels=2))

        expected = []
        for text in TEXTS:
            powers = np.exp([1.0, tiny.shared_logit(QUERY, text)])
            expected.append(powers[1] / powers.sum())
        assert model.score(QUERY, TEXTS) == pytest.approx(expected, abs=1e-6)

    @pytest.mark.parametrize(
        ("names", "flipped"),
        [
            ({"0": "relevant", "1": "irrelevant"}, True),
            ({"0": "not_relevant", "1": "Relevant"}, False),
            ({"0": "LABEL_0", "1": "LABEL_1"}, False),
            ({"0": "yes", "1": "true"}, False),
            (["relevant"], False),
        ],
    )
    def test_mind_the_name_of_a_label(self, tmp_path, names, flipped):
        """Where exactly one says that it means relevance, that one counts."""
        tiny.make(tmp_path, labels=2)
        plain = OnnxCrossEncoder(tmp_path).score(QUERY, TEXTS)
        tiny.save_config(tmp_path, max_position_embeddings=64, id2label=names)

        scores = np.array(OnnxCrossEncoder(tmp_path).score(QUERY, TEXTS))

        assert scores == pytest.approx(1 - np.array(plain) if flipped else plain, abs=1e-9)

    def test_come_without_segments(self, tmp_path):
        """A graph that declares no token_type_ids is given none."""
        model = OnnxCrossEncoder(tiny.make(tmp_path, segments=False))

        assert model.score(QUERY, TEXTS) == pytest.approx(by_weight(QUERY, TEXTS), abs=1e-6)

    @pytest.mark.parametrize(
        "kind", [TensorProto.INT32, TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64]
    )
    def test_come_whatever_type_the_graph_wants(self, tmp_path, kind):
        """Inputs are given in the declared types."""
        model = OnnxCrossEncoder(tiny.make(tmp_path, integers=kind))

        assert model.score(QUERY, TEXTS) == pytest.approx(BY_HAND, abs=1e-6)

    def test_use_the_template_of_the_tokenizer(self, tmp_path):
        """One that puts two separators between the texts is not given one."""
        folder = tiny.make(tmp_path, segments=False, offset=2, positions=66)

        scores = OnnxCrossEncoder(folder).score(QUERY, TEXTS)

        assert scores == pytest.approx(by_weight(QUERY, TEXTS, separators=3), abs=1e-6)

    def test_are_logits_whatever_activation_the_configuration_names(self, folder, tmp_path):
        """That one is applied by another library, after the graph."""
        shutil.copytree(folder, tmp_path / "copy")
        tiny.save_config(
            tmp_path / "copy",
            max_position_embeddings=64,
            sbert_ce_default_activation_function="torch.nn.modules.activation.Sigmoid",
        )

        scores = OnnxCrossEncoder(tmp_path / "copy").score(QUERY, TEXTS)

        assert scores == pytest.approx(BY_HAND, abs=1e-6)

    @pytest.mark.parametrize(
        "how",
        [
            {},
            {"segments": False},
            {"segments": False, "mask": False},
            {"segments": False, "quantized": True},
        ],
        ids=["segments", "weights", "no mask", "quantized as it runs"],
    )
    def test_do_not_depend_on_the_texts_beside(self, tmp_path, how):
        """Alone, in a batch, in another order: also where padding or scale would tell."""
        model = OnnxCrossEncoder(tiny.make(tmp_path, **how))
        texts = [*TEXTS, "", *(" ".join(tiny.WORDS[: n % 16]) + " jay" * n for n in range(60))]

        together = np.array(model.score(QUERY, texts))

        alone = np.array([model.score(QUERY, [text])[0] for text in texts])
        assert np.abs(together - alone).max() < 1e-5
        assert np.abs(together - model.score(QUERY, texts[::-1])[::-1]).max() < 1e-5

    def test_of_no_texts_are_none(self, tmp_path):
        """Nothing is loaded for them, either."""
        assert OnnxCrossEncoder(tmp_path / "nowhere").score(QUERY, []) == []

    @pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS)
    def test_exist_for_any_string(self, model, narrow, text):
        """As text and as query, in a wide and in a narrow window."""
        for one in (model, OnnxCrossEncoder(narrow)):
            scores = [*one.score(QUERY, [text, "key"]), *one.score(text, ["key", text, ""])]

            assert all(0 <= score <= 1 for score in scores)
            assert scores[1] == pytest.approx(BY_HAND[1], abs=1e-6)

    def test_are_not_moved_by_words_that_look_like_separators(self, model):
        """A text cannot pretend that its rest is a text of its own."""
        plain, posing = model.score(QUERY, ["blue key", "blue [SEP] [CLS] key"])

        assert posing == pytest.approx(plain, abs=1e-6)

    def test_that_are_no_numbers_are_unavailable(self, tmp_path, monkeypatch):
        """A broken model never puts a text first."""
        monkeypatch.setattr(tiny, "WEIGHTS", np.full_like(tiny.WEIGHTS, np.nan))
        model = OnnxCrossEncoder(tiny.make(tmp_path / "broken", segments=False))

        with pytest.raises(Unavailable, match="broken gave a score that is not a number"):
            model.score(QUERY, TEXTS)

    def test_are_the_same_from_many_threads(self, folder):
        """Eight threads that start on an unloaded model get the scores of one."""
        fresh = OnnxCrossEncoder(folder)
        found = {}

        def work(number):
            found[number] = fresh.score(QUERY, TEXTS)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert all(found[number] == pytest.approx(BY_HAND, abs=1e-6) for number in range(8))


class TestWindows:
    """GS-9: of a text beyond the window the best window counts, as one pair."""

    def test_the_best_window_counts(self, narrow):
        """A match at the end of a long text scores as that window alone, not as all of them."""
        model = OnnxCrossEncoder(narrow)
        text = f"{'oak ' * 40} . river key . {'tea ' * 2}"

        (score,) = model.score("key", [text])

        assert score == pytest.approx(tiny.logistic(tiny.shared_logit("key", "key")), abs=1e-6)
        assert model.score("key", ["oak " * 40]) == pytest.approx([tiny.logistic(-1)], abs=1e-6)

    def test_a_text_that_fits_to_the_token_is_one_window(self, narrow):
        """Three special tokens and one of the query leave twelve."""
        model = OnnxCrossEncoder(narrow)

        fits, too_long = model.score("key", ["key " * 12, "key " * 13])

        assert fits == pytest.approx(tiny.logistic(0.5 * 12 - 1), abs=1e-6)
        assert too_long <= fits

    def test_the_query_keeps_at_most_half(self, narrow):
        """Beyond that it is cut: its beginning is read, and so is the text."""
        model = OnnxCrossEncoder(narrow)
        query = "key " * 4 + "oak " * 500

        found, cut_off, other = model.score(query, ["key", "acorn", "oak"])

        assert found == pytest.approx(tiny.logistic(0.5 * 4 - 1), abs=1e-6)
        assert cut_off == pytest.approx(tiny.logistic(-1), abs=1e-6)
        assert 0.2 < other < found

    @pytest.mark.parametrize("words", [100, 300_000], ids=["ten windows", "a megabyte"])
    def test_of_very_many_windows_some_are_read_spread_over_the_text(self, narrow, words):
        """The first and the last are among them, so are some of the middle; the rest is not."""
        lines = ["oak"] * words
        scores = {}
        for name, at in {"first": 0, "last": words - 1}.items():
            told = lines.copy()
            told[at] = "key"
            (scores[name],) = OnnxCrossEncoder(narrow).score("key", [" ".join(told)])
        everywhere = " ".join("key" if at % 3 == 0 else "oak" for at in range(words))
        found = OnnxCrossEncoder(narrow, most_windows=1).score("key", [everywhere])

        once = tiny.logistic(tiny.shared_logit("key", "key"))
        assert scores == pytest.approx({"first": once, "last": once}, abs=1e-6)
        assert found == pytest.approx([tiny.logistic(0.5 * 4 - 1)], abs=1e-6)

    def test_the_number_of_windows_is_bounded(self, narrow):
        """What only the second window says is not read where two are allowed."""
        text = f"{'oak ' * 12}. {'tea ' * 4}key {'tea ' * 4}. {'oak ' * 200}"

        two = OnnxCrossEncoder(narrow, most_windows=2).score("key", [text])
        all_of_them = OnnxCrossEncoder(narrow, most_windows=99).score("key", [text])

        assert two == pytest.approx([tiny.logistic(-1)], abs=1e-6)
        assert all_of_them == pytest.approx([tiny.logistic(-0.5)], abs=1e-6)

    @pytest.mark.parametrize(
        ("config", "tokenizer_config", "most"),
        [
            ({"max_position_embeddings": 16}, {}, 512),
            ({"max_position_embeddings": 16}, {"model_max_length": 10**30}, 512),
            ({"max_position_embeddings": 512}, {"model_max_length": 16}, 512),
            ({}, {"model_max_length": 16}, 512),
            ({}, {}, 16),
            ({"max_position_embeddings": None}, {"model_max_length": "many"}, 16),
            ({"max_position_embeddings": 18, "model_type": "xlm-roberta"}, {}, 512),
            (
                {"max_position_embeddings": 18, "model_type": "mpnet", "pad_token_id": 1},
                {"model_max_length": 512},
                512,
            ),
        ],
    )
    def test_the_window_is_the_smallest_that_any_file_names(
        self, tmp_path, config, tokenizer_config, most
    ):
        """One token more would be an error of the graph, one less would score otherwise."""
        tiny.make(tmp_path, positions=16)
        tiny.save_config(tmp_path, **config)
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(tokenizer_config))
        model = OnnxCrossEncoder(tmp_path, most_tokens=most)

        assert model.score("key", ["key " * 40, "key " * 12]) == pytest.approx(
            [tiny.logistic(0.5 * 12 - 1)] * 2, abs=1e-6
        )

    def test_a_model_that_counts_positions_from_two_reads_two_tokens_less(self, tmp_path):
        """514 positions are 512 tokens where the first is number 2."""
        folder = tiny.make(tmp_path, segments=False, positions=18, offset=2)

        scores = OnnxCrossEncoder(folder).score("key", ["key " * 11, "key " * 40])

        expected = tiny.logistic(tiny.weight_logit("key", "key " * 11, separators=3))
        assert scores == pytest.approx([expected] * 2, abs=1e-6)

    def test_a_window_without_room_is_unavailable(self, tmp_path):
        """The error says how large it is."""
        model = OnnxCrossEncoder(tiny.make(tmp_path, positions=4))

        with pytest.raises(Unavailable, match="a window of 4 tokens has no room"):
            model.score(QUERY, TEXTS)


class TestFolders:
    def test_a_model_is_made_without_looking(self, tmp_path):
        """Neither file nor network is needed before the first text."""
        model = OnnxCrossEncoder(tmp_path / "nowhere")

        assert isinstance(model, Reranker)
        assert (model.name, model.graph, model.is_here()) == ("nowhere", "", False)

    def test_a_folder_may_be_given_as_text(self, folder, tmp_path, monkeypatch):
        """Absolute, or from here with a dot; the name is the folder's."""
        monkeypatch.chdir(folder.parent)

        for source in (str(folder), "./tiny", os.path.join(".", "tiny", "")):
            model = OnnxCrossEncoder(source)
            assert (model.name, model.is_here()) == ("tiny", True)

    def test_a_folder_here_is_not_mistaken_for_a_repository(self, folder, tmp_path, monkeypatch):
        """`owner/name` is the hub's, wherever one stands."""
        shutil.copytree(folder, tmp_path / "someone" / "reranker")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))

        assert not OnnxCrossEncoder(REPO).is_here()
        assert OnnxCrossEncoder(f"./{REPO}").is_here()

    @pytest.mark.parametrize("source", ["", "reranker", "a/b/c", "a/../b", "a/b@"])
    def test_what_is_neither_is_refused(self, source):
        """The error says how each is written."""
        with pytest.raises(InvalidInput, match=r"owner/name@revision.*folder"):
            OnnxCrossEncoder(source)

    @pytest.mark.parametrize("counts", [{"most_tokens": 0}, {"most_windows": 0}])
    def test_counts_start_at_one(self, folder, counts):
        """None at all is refused when the model is made, not when it is asked."""
        with pytest.raises(InvalidInput, match="at least 1"):
            OnnxCrossEncoder(folder, **counts)

    def test_of_several_exports_always_the_same_is_taken(self, tmp_path):
        """Full precision before quantized; `graph` says which it was."""
        order = ["onnx/model_int8.onnx", "onnx/model_quantized.onnx", "onnx/model.onnx"]
        for graph in [*order, "model.onnx"]:
            tiny.make(tmp_path, graph=graph)
            model = OnnxCrossEncoder(tmp_path)
            model.load()

            assert model.graph == graph
            assert model.score(QUERY, TEXTS) == pytest.approx(BY_HAND, abs=1e-6)

    def test_every_missing_file_is_named(self, tmp_path):
        """With all names under which a graph is looked for."""
        with pytest.raises(
            Unavailable,
            match=r"no ONNX export of the model \(model\.onnx or onnx/.*no tokenizer \(tokenizer\.json",
        ):
            OnnxCrossEncoder(tmp_path).load()

    def test_neither_configuration_is_needed(self, folder, tmp_path):
        """Graph and tokenizer are enough."""
        for name in ("model.onnx", "tokenizer.json"):
            shutil.copy(folder / name, tmp_path)

        assert OnnxCrossEncoder(tmp_path).score(QUERY, TEXTS) == pytest.approx(BY_HAND, abs=1e-6)

    @pytest.mark.parametrize(
        ("name", "content", "says"),
        [
            ("model.onnx", b"not a graph", r"onnxruntime cannot load .*\(model\.onnx\)"),
            ("model.onnx", b"", r"onnxruntime cannot load .*\(model\.onnx\)"),
            ("tokenizer.json", b"{}", r"The tokenizer .*tokenizer\.json cannot be read"),
            ("tokenizer.json", b"\xff\xfe", r"The tokenizer .*tokenizer\.json cannot be read"),
            ("config.json", b'{"max', r"config\.json cannot be read"),
            ("tokenizer_config.json", b"\xff", r"tokenizer_config\.json cannot be read"),
        ],
    )
    def test_a_broken_file_is_named(self, folder, tmp_path, capfd, name, content, says):
        """What the libraries raise stays behind the boundary, and off the terminal."""
        shutil.copytree(folder, tmp_path / "copy")
        (tmp_path / "copy" / name).write_bytes(content)

        with pytest.raises(Unavailable, match=says):
            OnnxCrossEncoder(tmp_path / "copy").score(QUERY, TEXTS)
        assert capfd.readouterr() == ("", "")

    def test_a_graph_cut_short_is_unavailable(self, folder, tmp_path):
        """As after a copy that was broken off."""
        shutil.copytree(folder, tmp_path / "copy")
        graph = tmp_path / "copy" / "model.onnx"
        graph.write_bytes(graph.read_bytes()[:-200])

        with pytest.raises(Unavailable, match="onnxruntime cannot load"):
            OnnxCrossEncoder(tmp_path / "copy").load()

    def test_an_embedding_model_is_told_apart(self, tmp_path):
        """Before the first text, by the shape of what it gives."""
        model = OnnxCrossEncoder(tiny.make_embedder(tmp_path / "vectors"))

        with pytest.raises(
            Unavailable, match=r"vectors is not a cross-encoder.*made for reranking"
        ):
            model.load()

    def test_three_labels_are_no_score(self, tmp_path):
        """Nobody could say which of them means relevance."""
        with pytest.raises(Unavailable, match="not one or two logits a pair"):
            OnnxCrossEncoder(tiny.make(tmp_path, labels=3)).load()

    def test_a_graph_that_wants_more_is_told_apart(self, tmp_path):
        """The inputs that it wants are named."""
        tiny.make(tmp_path)
        graph = (tmp_path / "model.onnx").read_bytes()
        (tmp_path / "model.onnx").write_bytes(graph.replace(b"token_type_ids", b"other_type_ids"))

        with pytest.raises(Unavailable, match="input_ids, attention_mask, other_type_ids"):
            OnnxCrossEncoder(tmp_path).load()

    def test_a_graph_that_fails_on_a_pair_is_unavailable(self, tmp_path):
        """Here: the configuration promises more positions than there are."""
        tiny.make(tmp_path / "liar", positions=8)
        tiny.save_config(tmp_path / "liar", max_position_embeddings=64)

        with pytest.raises(Unavailable, match="onnxruntime failed on liar"):
            OnnxCrossEncoder(tmp_path / "liar").score(QUERY, ["key " * 30])


class TestHub:
    def test_a_model_of_the_hub_comes_by_its_name(self, hub):
        """Fetched at first use into the cache; the choice of graph is told."""
        model = OnnxCrossEncoder(REPO, progress=silent)
        assert (model.name, model.is_here(), hub.asked) == (REPO, False, [])

        assert model.score(QUERY, TEXTS) == pytest.approx(BY_HAND, abs=1e-6)

        assert (model.graph, model.is_here()) == ("onnx/model.onnx", True)
        assert (repo_folder(REPO) / "onnx" / "model.onnx").is_file()

    def test_the_second_open_needs_no_network(self, hub, monkeypatch):
        """`is_here` says so beforehand, and asks nobody itself."""
        OnnxCrossEncoder(REPO, progress=silent).load()
        hub.asked.clear()
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        again = OnnxCrossEncoder(REPO)

        assert again.is_here()
        assert again.score(QUERY, TEXTS) == pytest.approx(BY_HAND, abs=1e-6)
        assert hub.asked == []

    def test_a_commit_can_be_pinned(self, hub):
        """The name keeps it."""
        model = OnnxCrossEncoder(f"{REPO}@{COMMIT}", progress=silent)
        model.load()

        assert model.name == f"{REPO}@{COMMIT}"
        assert repo_folder(f"{REPO}@{COMMIT}").is_dir()
        assert not OnnxCrossEncoder(REPO).is_here()

    def test_a_repository_without_an_export_says_what_is_missing(self, hub):
        """Weights of another library are not enough."""
        hub.repos[REPO] = {"model.safetensors": b"weights", "tokenizer.json": b"{}"}

        with pytest.raises(
            Unavailable, match=r"someone/reranker has no ONNX export of the model \(model\.onnx or"
        ):
            OnnxCrossEncoder(REPO, progress=silent).load()

    def test_a_gated_repository_asks_for_a_token(self, hub):
        """The variable is named."""
        hub.gated_by = "token"

        with pytest.raises(Unavailable, match="set HF_TOKEN"):
            OnnxCrossEncoder(REPO, progress=silent).score(QUERY, TEXTS)

    def test_offline_without_the_model_is_unavailable(self, hub, monkeypatch):
        """Nobody is asked."""
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")

        with pytest.raises(Unavailable, match="SCRUBJAY_OFFLINE forbids fetching"):
            OnnxCrossEncoder(REPO).score(QUERY, TEXTS)
        assert hub.asked == []

    def test_a_failed_load_is_tried_again(self, hub):
        """The model that could not be had is had when the hub is back."""
        model = OnnxCrossEncoder(REPO, progress=silent)
        hub.dies_after = [10, *[0] * 20]
        with pytest.raises(Unavailable, match="broke off"):
            model.load()
        hub.dies_after = []

        assert model.score(QUERY, TEXTS) == pytest.approx(BY_HAND, abs=1e-6)


def test_importing_the_reranker_imports_no_library_of_numbers():
    """A keyword search from the shell pays for none of them."""
    code = (
        "import sys, scrubjay.models.rerank.cross_encoder\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'urllib.request'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
