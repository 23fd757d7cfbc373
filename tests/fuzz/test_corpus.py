"""The inputs that `make fuzz` kept, replayed; and that it sees what is wrong."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from tools.fuzz.arcs import line_coverage, smallest
from tools.fuzz.growth import grows
from tools.fuzz.hunt import Hunt
from tools.fuzz.target import CORPUS, read_corpus, write_corpus
from tools.fuzz.targets import TARGETS

MOST_BYTES = 200_000


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda one: one.name)
def test_every_kept_input_is_answered(target):
    """No error but our own, and what was imported comes back from an export."""
    inputs = read_corpus(target.name)

    assert inputs
    with target.open() as check:
        for data in (*target.seeds, *inputs):
            check(data)


def test_the_corpus_is_small_and_of_known_targets():
    files = list(CORPUS.iterdir())

    assert {file.stem for file in files} == set(TARGETS)
    assert sum(file.stat().st_size for file in files) < MOST_BYTES


def test_any_bytes_are_kept_as_they_are(tmp_path):
    inputs = [b"", b"\n", bytes(range(256)), "検索".encode(), b"\xed\xa0\x80"]

    write_corpus("any", inputs, tmp_path)

    assert read_corpus("any", tmp_path) == inputs


def test_a_failure_is_written_once_with_its_shortest_input(tmp_path):
    def check(data):
        if b"x" in data:
            raise KeyError(data)

    target = TARGETS["query"]._replace(open=lambda: nullcontext(check))
    hunt = Hunt(target, tmp_path)
    for data in (b"a", b"axa", b"x", b"axx"):
        hunt(data)

    [found] = [one for one in tmp_path.iterdir() if one.suffix != ".txt"]
    assert found.read_bytes() == b"x"
    assert "KeyError" in found.with_suffix(".txt").read_text()


def test_time_that_grows_faster_than_an_input_is_noticed():
    def quadratic(data):
        sum(1 for _ in range(len(data) ** 2 // 25))

    assert list(grows(quadratic, b"ab"))
    assert not list(grows(len, b"ab"))


def test_only_inputs_that_reach_something_new_are_kept():
    target = TARGETS["chat"]

    kept = smallest(target, [b"[]", b"[ ]", b'[{"role": "user", "content": "x"}]'], 1000)

    assert kept == [b"[]", b'[{"role": "user", "content": "x"}]']
    run, lines = line_coverage(target, kept)
    assert 0 < run < lines
