"""The package scrubjay-models: its wheel, its encoder and its ranker."""

from __future__ import annotations

import subprocess
import sys
import zipfile

import numpy as np
import pytest
from bundled import MODELS, PACKAGE
from places import ROOT

from scrubjay.config import Access
from scrubjay.errors import Unavailable
from scrubjay.models.bundled import ENCODER, RANKER, find_bundled
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.models.registry import default_embedder, load_embedder, load_reranker

NAMES = (ENCODER.name, RANKER)
MOST_BYTES = 60_000_000
SENTENCES = (
    "How do I restore a backup of the database?",
    "Postgres was chosen because pgvector keeps vectors and rows in one transaction.",
    "The certificate of the mail server expires on the first of June.",
    "git rebase --interactive lets you squash several commits into one.",
    "Water boils at a lower temperature on a high mountain.",
    "The patient was advised to drink more water and to rest for a week.",
    "A scrub jay remembers where it hid each acorn.",
    "The invoice of March has not been paid yet, and a reminder was sent.",
    "Set the environment variable PATH in your shell's profile.",
    "The museum is closed on Mondays, except on public holidays.",
)
# The first numbers of the vector of the scrub jay.
FIRST = (0.00191208, 0.06159186, 0.01136533, 0.00702734, 0.01047436, 0.03203409)
ANSWERS = {
    "How do I undo the last commit?": "git reset --soft HEAD~1 takes back the last commit and keeps"
    " the changes.",
    "When does the museum open?": "The museum opens at ten in the morning and is closed on Mondays.",
    "Which database did we choose?": "We chose Postgres because pgvector keeps vectors and rows"
    " together.",
    "What is the capital of France?": "Paris has been the capital of France since the tenth century.",
    "How is high blood pressure treated?": "Treatment of hypertension begins with less salt, more"
    " exercise, and drugs such as diuretics.",
    "Where is the log file of the server?": "The server writes its log to /var/log/jay/server.log.",
    "Who wrote Hamlet?": "Hamlet is a tragedy by William Shakespeare, written around 1600.",
    "How many legs does a spider have?": "Spiders are arachnids and have eight legs.",
    "How do I list all files, also hidden ones?": "ls -a lists every file in a folder, also those"
    " whose name begins with a dot.",
    "Why is the sky blue?": "Air scatters short waves of light more than long ones, so the sky looks"
    " blue.",
}


@pytest.fixture
def encoder(bundled_models):
    return load_embedder(ENCODER.name)


@pytest.fixture
def ranker(bundled_models):
    return load_reranker(Access(RANKER))


class TestThePackage:
    @pytest.mark.slow
    def test_its_wheel_has_the_models_and_their_entry_points(self, tmp_path):
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        subprocess.run([*command, "--wheel-dir", tmp_path, PACKAGE], check=True, timeout=300)

        (wheel,) = tmp_path.glob("scrubjay_models-*.whl")
        assert wheel.stat().st_size <= MOST_BYTES
        with zipfile.ZipFile(wheel) as files:
            names = files.namelist()
            points = next(name for name in names if name.endswith("entry_points.txt"))
            stated = files.read(points).decode()
        for name in ("encoder/model.onnx", "ranker/model.onnx", "tokenizer.json", "py.typed"):
            assert f"scrubjay_models/{name}" in names
        assert stated.startswith("[scrubjay.models]")
        assert all(name in stated for name in NAMES)
        assert {"LICENSE", "NOTICE"} <= {name.rpartition("/")[2] for name in names}

    def test_one_function_finds_each_model_and_the_tokenizer_that_they_share(self, bundled_models):
        found = [find_bundled(name) for name in NAMES]

        assert [files.graph.parent.name for files in found] == ["encoder", "ranker"]
        assert {files.tokenizer for files in found} == {MODELS / "tokenizer.json"}
        assert {files.version for files in found} == {"scrubjay-models 0.1.0"}
        assert find_bundled("scrubjay-painter-1") is None

    def test_nothing_is_found_where_it_is_not_installed(self):
        assert [find_bundled(name) for name in NAMES] == [None, None]
        assert default_embedder() == "all-MiniLM-L6-v2"

    def test_a_model_that_is_not_installed_says_how_to_get_it(self):
        embedder = load_embedder(ENCODER.name)

        assert not embedder.is_here()
        with pytest.raises(Unavailable, match="pip install"):
            embedder.embed(["tea"])
        with pytest.raises(Unavailable, match="pip install"):
            load_reranker(Access(RANKER))

    def test_its_readme_has_a_card_for_each_model(self):
        card = (PACKAGE / "README.md").read_text(encoding="utf-8")

        for said in (*NAMES, "Apache-2.0", "SQuAD", "CC BY-SA 4.0", "MedQuAD", "CC BY 4.0"):
            assert said in card
        assert "Apache License" in (PACKAGE / "LICENSE").read_text(encoding="utf-8")
        assert (ROOT / "training").is_dir()


class TestTheEncoder:
    def test_gives_the_vectors_that_stored_ones_are_compared_with(self, encoder):
        """Other weights need another name: an index must not have vectors of both."""
        (vector,) = encoder.embed([SENTENCES[6]])

        assert encoder.name == "scrubjay-encoder-1/int8"
        assert (vector.shape, vector.dtype) == ((384,), np.float32)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        assert vector[: len(FIRST)] == pytest.approx(FIRST, abs=2e-3)

    def test_gives_a_text_the_same_vector_beside_any_other(self, encoder):
        """Its scales are fixed, and do not come from the texts of one call."""
        texts = [*SENTENCES, "a", "many words of one long text " * 80]
        vectors, tokens = encoder.embed_with_tokens(texts)

        for number, text in enumerate(texts):
            alone, of_tokens = encoder.embed_with_tokens([text])
            assert (alone[0] == vectors[number]).all()
            assert (of_tokens[0] == tokens[number]).all()

    def test_gives_token_vectors_that_the_store_keeps_in_48_dimensions(self, encoder):
        _, (tokens,) = GuardedEmbedder(encoder).encode(["where is the acorn?"])

        assert tokens.shape[1] == 48

    @pytest.mark.model
    def test_is_close_to_the_model_it_was_distilled_from(self, encoder):
        teacher = load_embedder("all-MiniLM-L6-v2")
        cosines = (encoder.embed(SENTENCES) * teacher.embed(SENTENCES)).sum(axis=1)

        assert cosines.mean() > 0.9
        assert cosines.min() > 0.8


class TestTheRanker:
    def test_finds_the_answer_of_each_question(self, ranker):
        passages = list(ANSWERS.values())
        for question, answer in ANSWERS.items():
            scores = ranker.score(question, passages)
            assert passages[int(np.argmax(scores))] == answer
            assert all(0 <= score <= 1 for score in scores)

    def test_gives_a_pair_the_same_score_beside_any_other(self, ranker):
        question, passages = "Who wrote Hamlet?", [*ANSWERS.values(), "to be or not to be " * 150]

        together = ranker.score(question, passages)
        assert together == [ranker.score(question, [passage])[0] for passage in passages]

    def test_is_the_same_object_for_all_stores_of_a_process(self, ranker):
        assert load_reranker(Access(RANKER)) is ranker
        assert ranker.name == RANKER
