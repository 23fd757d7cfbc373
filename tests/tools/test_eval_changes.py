"""The figures of `python -m evals changes`: what comes first, and whether confidence is a probability."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from evals import changes


def world(root):
    """A world of two notes, of which the second replaces the first, and three questions."""
    folder = root / "01-pool"
    folder.mkdir(parents=True)
    about = {"role": None, "session": None, "type": "fact", "speaker": "Ann"}
    notes = [
        {
            "id": "m1",
            "text": "The pool opens at 9:00",
            "metadata": {"date": "2025-01-02T08:00:00"},
        },
        {
            "id": "m2",
            "text": "The pool opens at 7:30",
            "metadata": {"date": "2025-05-02T08:00:00"},
        },
    ]
    questions = [
        ("q1", "when does the pool open", "current", ["m1"]),
        ("q2", "wann öffnet das Bad", "current:cross", ["m1"]),
        ("q3", "who cleans the windows", "not_stored", []),
    ]
    rows = [{**note, "title": "", "metadata": {**about, **note["metadata"]}} for note in notes]
    asked = [
        {
            "id": id_,
            "text": text,
            "metadata": {"category": kind, "as_of": "2025-06-01", "stale": stale, "tempting": []},
        }
        for id_, text, kind, stale in questions
    ]
    for name, lines in (("corpus", rows), ("queries", asked)):
        content = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(content, encoding="utf-8")
    (folder / "qrels.tsv").write_text("q\td\tg\nq1\tm2\t2\nq2\tm2\t2\n", encoding="utf-8")
    return root


def test_a_world_is_asked_on_the_day_of_its_questions(tmp_path, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "potion-base-8M")
    figures = changes.measure(changes.read_worlds(world(tmp_path)), "default")

    assert set(figures.first_right) == {"current", "current, across languages"}
    assert len(figures.stale_first) == 2
    assert [is_stored for _, _, is_stored in figures.sure] == [True, False]
    shown = changes.table({"default": figures})
    assert "| current: right first | 1 |" in shown
    assert "| an outdated one first | 2 |" in shown


def test_a_question_about_a_time_is_asked_again_with_as_of(tmp_path, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "potion-base-8M")
    (one,) = changes.read_worlds(world(tmp_path))
    asked = replace(
        one.questions[0],
        text="when did the pool open in March 2025?",
        kind="as_of",
        grades={"m1": 2},
        stale=frozenset(),
    )

    figures = changes.measure([replace(one, questions=[asked])], "default")

    assert figures.first_right["as_of, with as_of"] == [True]
    assert changes.named_moment(replace(asked, text="when does it open?")) is None
    assert "| as_of, with as_of: right first | 1 | 1.000 |" in changes.table({"default": figures})


def test_an_area_counts_ties_as_half():
    assert changes.area([(0.9, True), (0.1, False)]) == 1
    assert changes.area([(0.5, True), (0.5, False)]) == 0.5
    assert changes.area([(0.1, True), (0.9, False)]) == 0


def test_calibration_is_the_distance_from_the_share_that_is_right():
    assert changes.calibration_error([(0.75, True)] * 3 + [(0.75, False)]) == pytest.approx(0)
    assert changes.calibration_error([(0.95, False)] * 4) == pytest.approx(0.95)
