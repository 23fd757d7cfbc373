"""The benchmark of a million memories: its corpus, its plot, and that a killed run goes on."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np
import pytest
from bench import million, natural
from bench.million_systems import SCRUBJAY, content_words
from bench.natural import Natural
from bench.plot import Line, Panel, svg

SIZE = 250


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(natural, "PART", 100)
    made = Natural(tmp_path / "corpus", SIZE)
    made.make()
    return made


def test_a_part_that_is_missing_is_drawn_again_as_it_was(corpus):
    before = [(part.first, part.texts, part.vectors.tobytes()) for part in corpus.parts()]
    (corpus.folder / "texts-0001.json").unlink()
    corpus.make()
    after = [(part.first, part.texts, part.vectors.tobytes()) for part in corpus.parts()]
    assert after == before
    assert [first for first, *_ in before] == [0, 100, 200]
    assert len({text for _, texts, _ in before for text in texts}) == SIZE


def test_words_are_as_frequent_as_in_text_and_the_nearest_are_exact(corpus):
    texts = [text for part in corpus.parts() for text in part.texts]
    vectors = np.vstack([part.vectors for part in corpus.parts()])
    words = [word.lower() for text in texts for word in text.rstrip(".").split()]
    assert 0.03 < words.count("the") / len(words) < 0.08
    assert sum(words.count(word) == 1 for word in {*words}) > len({*words}) / 2
    asked = corpus.questions()
    best = np.argsort(-(asked.vectors @ vectors.T), axis=1, kind="stable")[:, :10]
    assert asked.nearest == best.tolist()


def test_a_store_goes_on_where_its_filling_was_killed(corpus, tmp_path):
    """What was committed is not written again, and nothing is missing or there twice."""
    home = tmp_path / "store"
    home.mkdir()
    first = SCRUBJAY.fill(home, corpus)
    first.add(next(corpus.parts()))
    first.finish()
    second = SCRUBJAY.fill(home, corpus)
    assert second.count() == 100
    for part in corpus.parts(second.count()):
        second.add(part)
    second.finish()
    assert second.count() == SIZE
    asking = SCRUBJAY.open(home)
    questions = corpus.questions()
    for kind in SCRUBJAY.kinds:
        found = asking.ask(kind, questions.texts[0], questions.vectors[0])
        assert len(found) == len({*found}) == 10
        if kind == "vector":
            assert found == [str(n) for n in questions.nearest[0]]


def test_what_is_measured_is_not_measured_again(corpus, tmp_path, monkeypatch):
    """Only the missing figure starts a child process."""
    home = tmp_path / "kept"
    home.mkdir()
    asked = {"cpu_s": [0.001], "wall_s": [0.001], "ids": [["1"]], "peak": 1}
    opened = {"open_s": [0.1, 0.1], "first_answer_s": [0.2, 0.2]}
    noted = {"build": {"cpu_s": 1.0, "wall_s": 1.0}, "disk": 1, "open": opened, "keyword": asked}
    kept = home / f"scrubjay-{SIZE}.json"
    kept.write_text(json.dumps({**noted, "vector": asked}))
    started = []

    class Done:
        stdout = json.dumps(asked)

    def child(command):
        started.append(command[3])
        return 0.0, Done()

    monkeypatch.setattr(million, "child_s", child)
    assert million._measured(home, SCRUBJAY, corpus, lambda line: None)["hybrid"] == asked
    assert started == ["hybrid"]
    assert json.loads(kept.read_text())["hybrid"] == asked


def test_the_plot_has_a_line_for_each_system_and_a_point_for_each_size():
    lines = [Line("ours", [(1e4, 2.0), (1e5, 20.0)]), Line("a & b", [(1e4, 3.0)])]
    drawn = ElementTree.fromstring(svg("CPU", [Panel("keyword", lines), Panel("empty", [])]))
    name = "{http://www.w3.org/2000/svg}"
    assert len(drawn.findall(f".//{name}polyline")) == 2
    assert len(drawn.findall(f"./{name}g//{name}circle")) == 3
    assert "a & b" in [text.text for text in drawn.findall(f"{name}text")]


def test_stop_words_are_left_out_for_systems_that_would_search_them():
    assert content_words("what is the kettle_2 of Ann?") == ["kettle_2", "Ann"]
