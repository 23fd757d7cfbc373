"""A question in one language finds texts in another, by multilingual vectors; words leave that sum."""

from __future__ import annotations

import sqlite3

import pytest

import scrubjay
from scrubjay.models.registry import multilingual_embedder
from scrubjay.surfaces.cli import main

TEXTS = {
    "shrimp": "Oriel must never eat shrimp, crab or mussels, because she is allergic to all of them.",
    "mortgage": "The mortgage for the house is due on the third day of each month.",
    "violin": "Die Geigenstunde ist jeden Dienstag um vier Uhr bei Frau Lehmann in der Musikschule.",
    "train": "Der Zug nach Porto fährt am Freitag um neun Uhr vom zweiten Gleis ab.",
}
ASKED = {
    "Wer darf keine Meeresfrüchte essen?": "shrimp",
    "谁对海鲜过敏？": "shrimp",
    "Wann müssen wir das Haus bezahlen?": "mortgage",
    "when is the music lesson?": "violin",
    "when does the train leave?": "train",
    "¿Cuándo es la clase de música?": "violin",
}


def filled(path, **options):
    store = scrubjay.open(path, **options)
    store.add_many({"id": id_, "text": text} for id_, text in TEXTS.items())
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with filled(tmp_path_factory.mktemp("languages") / "notes.db") as store:
        store.pending(wait=True)
        yield store


@pytest.mark.model
class TestAcross:
    @pytest.mark.parametrize(("question", "right"), ASKED.items(), ids=ASKED.values())
    @pytest.mark.parametrize("mode", ["default", "fast", "vector"])
    def test_the_right_text_comes_first(self, store, question, right, mode):
        results = store.search(question, mode=mode)

        assert results[0].id == right
        assert results.degraded == ()

    def test_a_text_in_another_language_has_that_part_alone(self, store):
        hits = {hit.id: hit for hit in store.search("Wer darf keine Meeresfrüchte essen?")}

        assert set(hits["shrimp"].why) == {"across"}
        assert {"keyword", "languages"} >= set(hits["train"].why) - {"vector", "late"}
        for hit in hits.values():
            assert hit.score == pytest.approx(sum(hit.why.values()), abs=1e-6)

    def test_it_is_explained(self, store, capsys):
        assert main(["query", "谁对海鲜过敏？", "--explain", "--db", store.status().path]) == 0

        assert "across" in capsys.readouterr().out

    def test_the_five_documented_profiles_do_not_use_it(self, store):
        for profile in ("gno", "gnosis", "vault", "cognis", "novamem"):
            results = store.search("谁对海鲜过敏？", profile=profile)

            assert "languages" not in results.counts
            assert all("across" not in hit.why for hit in results)

    def test_texts_written_meanwhile_are_found(self, store):
        store.add("Le chat dort toujours sur le canapé rouge dans le salon.", id="cat")
        try:
            assert store.search("where does the cat sleep?")[0].id == "cat"
        finally:
            store.forget("cat")


@pytest.mark.model
def test_an_english_store_asked_in_english_does_without(tmp_path):
    with scrubjay.open(tmp_path / "notes.db") as store:
        store.add(TEXTS["shrimp"])
        store.pending(wait=True)
        results = store.search("who is allergic to seafood?")

    assert results.counts["languages"] == 0
    assert results[0].why.keys() <= {"keyword", "vector", "late"}


@pytest.mark.model
def test_a_text_in_the_language_of_the_question_wins_over_its_translation(tmp_path):
    with scrubjay.open(tmp_path / "notes.db") as store:
        store.add("Der Vertrag mit dem Lieferanten endet im Oktober nächsten Jahres.", id="de")
        store.add("The contract with the supplier ends in October of next year.", id="en")
        store.pending(wait=True)

        assert store.search("Wann endet der Vertrag mit dem Lieferanten?")[0].id == "de"
        assert store.search("when does the contract with the supplier end?")[0].id == "en"


class TestWithout:
    """Without the model, or where the settings leave it out."""

    @pytest.fixture(autouse=True)
    def offline(self, monkeypatch, tmp_path):
        multilingual_embedder.cache_clear()  # one may be loaded in this process
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))
        yield
        multilingual_embedder.cache_clear()

    def test_words_go_on_and_the_answer_says_what_is_missing(self, tmp_path):
        with filled(tmp_path / "notes.db") as store:
            results = store.search("Wann ist die Geigenstunde in der Musikschule?")

        assert results[0].id == "violin"
        assert any("compared by their words" in reason for reason in results.degraded)

    def test_the_setting_none_leaves_it_out(self, tmp_path, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_MULTILINGUAL", "none")
        path = tmp_path / "notes.db"
        with filled(path) as store:
            results = store.search("Wann ist die Geigenstunde?")

        assert results[0].id == "violin"
        assert not any("compared by their words" in reason for reason in results.degraded)
        with sqlite3.connect(path) as db:
            roles = {role for (role,) in db.execute("SELECT role FROM models")}
        assert roles == {"main", "static"}

    def test_a_name_that_is_wrong_is_refused(self, tmp_path, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_MULTILINGUAL", "no-such-model")

        with pytest.raises(scrubjay.InvalidInput, match="multilingual"):
            filled(tmp_path / "notes.db")
