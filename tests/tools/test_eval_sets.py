"""Test sets of `python -m evals`."""

from __future__ import annotations

import json

from evals.sets import across_languages, find


def test_across_languages_the_questions_are_those_of_the_other_language(tmp_path):
    """Judgements are those of the texts: ids are the same in all languages."""
    for language, text, question in (("de", "Der Hafen", "wo?"), ("en", "The port", "where?")):
        folder = tmp_path / "xquad" / language
        folder.mkdir(parents=True)
        lines = {"corpus": {"id": "p1", "text": text}, "queries": {"id": "q1", "text": question}}
        for name, line in lines.items():
            (folder / f"{name}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
        (folder / "qrels.tsv").write_text(
            "query-id\tcorpus-id\tscore\nq1\tp1\t1\n", encoding="utf-8"
        )

    pairs = across_languages(tmp_path)

    assert list(pairs) == ["en question, de text", "de question, en text"]
    ((part,),) = [pairs["de question, en text"]]
    assert [one["text"] for one in part.documents()] == ["The port"]
    assert [one["text"] for one in part.questions()] == ["wo?"]
    assert part.judgements() == {"q1": {"p1": 1.0}}
    # The index of the texts serves every language of the questions.
    (own,) = find(tmp_path, ["xquad/en"])["xquad/en"]
    assert (part.name, part.fingerprint()) == (own.name, own.fingerprint())
