"""`eval` at the shell."""

from __future__ import annotations

import json

import pytest

import scrubjay


@pytest.fixture
def questions(tmp_path, shell):
    """Two that words find, and one that they do not."""
    shell("add", "Oriel must never eat shrimp", "--id", "oriel")
    shell("add", "The ferry leaves at nine", "--id", "ferry")
    shell("add", "Kettles whistle when they boil", "--id", "kettle")
    path = tmp_path / "questions.jsonl"
    asked = [
        {"query": "when does the ferry leave?", "expect": ["ferry"]},
        {"query": "what whistles?", "expect": {"kettle": 2, "ferry": 0}},
        {"query": "who has allergies?", "expect": ["oriel"]},
    ]
    path.write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    return str(path)


def test_profiles_are_measured_side_by_side(shell, questions):
    """The second finds by meaning what the first does not find by word."""
    told = shell(
        "eval", questions, "--profile", "default:keyword", "--profile", "default", "-n", "3"
    )
    assert (told.code, told.err) == (0, "")
    assert told.out == (
        "3 questions\n"
        "profile          nDCG@3  Recall@3  MRR@3\n"
        "default:keyword  0.667   0.667     0.667\n"
        "default          1.000   1.000     1.000  better on 1, worse on 0\n"
        "\n"
        "default:keyword missed answers of 1 question\n"
        "  who has allergies?\n"
        "    not among the first 3: oriel\n"
    )
    assert "missed" not in shell("eval", questions, "--misses", "0").out


def test_json_has_every_question(shell, questions):
    shape = shell("eval", questions, "--profile", "default:keyword", "--json").json
    (one,) = shape["profiles"]
    assert (shape["questions"], shape["limit"], shape["missing"]) == (3, 10, [])
    assert [asked["places"] for asked in one["asked"]] == [
        {"ferry": 1},
        {"kettle": 1},
        {"oriel": None},
    ]


def test_it_fails_below_a_figure(shell, questions):
    """So that a build can keep what was reached."""
    words = ("eval", questions, "--profile", "default:keyword")
    assert shell(*words, "--at-least", "0.66").code == 0
    told = shell(*words, "--at-least", "0.7")
    assert told.code == 1
    assert told.err == "scrubjay: default:keyword has 0.6667, which is less than 0.7\n"


def test_a_folder_brings_its_own_corpus(shell, tmp_path):
    """In a store of its own, which is gone afterwards, or kept; the user's is not touched."""
    folder = tmp_path / "set"
    folder.mkdir()
    texts = [{"id": "1", "text": "green tea"}, {"id": "2", "text": "a red car"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, texts)))
    (folder / "queries.jsonl").write_text(json.dumps({"id": "q", "text": "tea"}))
    (folder / "qrels.tsv").write_text("q\t1\t1\n")
    told = shell("eval", str(folder))
    assert (told.code, told.out.splitlines()[2].split()) == (0, ["default", *["1.000"] * 3])
    assert shell("status").code == 3  # nothing is stored yet
    kept = tmp_path / "kept.db"
    assert shell("eval", str(folder), "--keep", str(kept)).out == told.out
    assert shell("status", "--db", str(kept), "--json").json["memories"] == 2
    assert shell("eval", str(folder), "--keep", str(kept)).out == told.out

    shell("add", "a note", "--db", str(kept))
    refused = shell("eval", str(folder), "--keep", str(kept))
    assert (refused.code, "holds other memories; give --keep a new file" in refused.err) == (
        2,
        True,
    )
    assert shell("status", "--db", str(kept), "--json").json["memories"] == 3
    refused = shell("eval", str(folder), "--db", str(kept))
    assert refused.code == 2
    assert "leave --db out; --keep FILE keeps that store" in refused.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere.jsonl"], 2, "there is no nowhere.jsonl; give a file with lines such as"),
        (["{q}", "--profile", "defualt"], 2, "default"),
        (["{q}", "--set", "rrf.kk=3"], 2, "kk"),
        (["{q}", "-n", "0"], 2, "limit is 0; with profile default it must be 1 to 1000"),
        (["{q}", "-n", "1001"], 2, "limit is 1001; with profile default it must be 1 to 1000"),
        (["{q}", "--at-least", "nan"], 2, "--at-least is nan; it must be from 0 to 1"),
        (["{q}", "--at-least", "2"], 2, "--at-least is 2; it must be from 0 to 1"),
        (["{q}", "--keep", "x.db"], 2, "--keep is for a folder with corpus.jsonl"),
    ],
)
def test_bad_input_is_told_what_would_be_right(shell, questions, words, code, said):
    told = shell("eval", *(word.format(q=questions) for word in words))
    assert (told.code, told.out) == (code, "")
    assert said in told.err


def test_what_has_no_vector_yet_gets_one_before_anything_is_asked(shell, questions, home):
    """Else the first profile finds less than the second, because it was the first."""
    shell("forget", "oriel", "--yes")
    with scrubjay.open(home / "data" / "memory.db", embedder=False) as store:
        store.add_many({"text": f"filler {n}"} for n in range(300))
        store.add("Oriel must never eat shrimp", id="oriel")
    words = ("eval", questions, "--misses", "0", "--profile", "default:vector")
    rows = shell(*words, "--profile", "default:vector").out.splitlines()[2:4]
    assert [row.split()[:2] for row in rows] == [["default:vector", "1.000"]] * 2


def test_what_is_not_stored_is_said(shell, questions):
    shell("forget", "oriel", "--yes")
    told = shell("eval", questions, "--profile", "default:keyword", "--misses", "0")
    assert told.code == 0
    assert told.err == ("scrubjay: oriel is expected but not stored: it counts as missed\n")
