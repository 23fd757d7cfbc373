"""The demo shows what it promises, and says so when it cannot."""

from __future__ import annotations

import pytest

from scrubjay.surfaces.cli import demo as command
from scrubjay.surfaces.cli.demo import QUESTIONS, SAMPLES
from scrubjay.text.analysis import terms, tokens


def test_the_samples_are_many_kinds_of_things_and_no_two_alike():
    """Facts, preferences, decisions and tasks, each once."""
    assert len(SAMPLES) == 24
    assert {sample.type for sample in SAMPLES} == {"fact", "preference", "decision", "task"}
    assert len({sample.text for sample in SAMPLES}) == 24


def test_the_first_question_shares_no_word_with_its_answer():
    """Found by meaning or not at all."""
    question = QUESTIONS[0]
    assert question.shares_no_word
    assert set(terms(question.text)).isdisjoint(tokens(question.answer))


def test_the_second_question_is_an_identifier_with_a_twin():
    """One digit apart: only the exact one may come first."""
    assert QUESTIONS[1].text in QUESTIONS[1].answer
    assert sum("E_CACHE_44" in sample.text for sample in SAMPLES) == 2


def test_the_demo_answers_both_questions_and_explains_them(shell, tmp_path):
    """Hits, their sums, the stages, and a last line that says it worked."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Kettles\n\nA kettle whistles.\n", encoding="utf-8")
    done = shell("demo", "--docs", str(docs))
    assert done.code == 0, done.out + done.err
    assert done.err == ""
    assert "Stored 24 memories" in done.out
    assert "Read 1 document in" in done.out
    assert done.out.count("in → out") == 2
    assert "Both answers came first." in done.out


def test_a_second_run_on_a_kept_store_embeds_nothing_again(shell, embedder, tmp_path):
    """Quick, because what is there is not made again: only the questions are read."""
    kept = str(tmp_path / "a folder" / "demo.db")
    assert shell("demo", "--keep", kept).code == 0
    before = embedder.calls
    assert shell("demo", "--keep", kept).code == 0
    assert embedder.calls - before == len(QUESTIONS)
    assert shell("status", "--db", kept, "--json").json["memories"] == 24


def test_the_demo_touches_no_store_of_the_user(shell, home):
    """It lives in a temporary folder."""
    assert shell("demo").code == 0
    assert list(home.rglob("*.db")) == []


def test_without_a_model_static_vectors_find_by_meaning(bare_shell):
    """No download is needed to show what it does."""
    done = bare_shell("demo")
    assert done.code == 0
    assert "Oriel" in done.out


def test_a_wrong_answer_is_said(shell, monkeypatch):
    """It checks itself."""
    monkeypatch.setattr(command, "_is_right", lambda question, found: False)
    done = shell("demo")
    assert done.code == 1
    assert done.err.count("scrubjay: the demo failed") == 2
    assert "Both answers" not in done.out


@pytest.mark.model
def test_with_the_real_model_both_answers_come_first(bare_shell, real_model):
    """What `make demo` shows."""
    done = bare_shell("demo", "--json")
    assert done.code == 0, done.err
    assert [one["passed"] for one in done.json["questions"]] == [True, True]
    assert done.json["questions"][0]["results"]["hits"][0]["found"].keys() == {"vector", "late"}
