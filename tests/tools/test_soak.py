"""The short form of `make soak`, and that it sees what is lost."""

from __future__ import annotations

import os

import pytest
from running import skip
from tools.servers import CannotRun
from tools.soak import power_cuts
from tools.soak.__main__ import ROUNDS, main, soak
from tools.soak.bit_flips import Damaged, Whole, check_searches
from tools.soak.embedder import SoakEmbedder
from tools.soak.repaired import wrong_memories

import scrubjay

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the commands run in forks"),
]
SEED = 1
TRIES = {
    "kills": 60,
    "io-errors": 40,
    "power-cuts": 100,
    "bit-flips": 12,
    "processes": 20,
    "servers": 8,
}
MARKS = {"servers": pytest.mark.server}


def test_every_attack_has_a_short_form():
    assert [one.name for one in ROUNDS] == list(TRIES)


@pytest.mark.parametrize(
    "attack",
    [pytest.param(one, id=one.name, marks=MARKS.get(one.name, ())) for one in ROUNDS],
)
def test_nothing_acknowledged_is_lost(attack, tmp_path):
    [(_, outcome)] = soak([attack], 0, SEED, TRIES[attack.name], tmp_path)

    if outcome.skipped and attack.name == "servers":
        skip(CannotRun(outcome.skipped))
    assert outcome.problems == []
    assert outcome.skipped or (outcome.tried >= TRIES[attack.name] and outcome.acknowledged > 10)


def test_a_disk_that_does_not_sync_is_noticed_and_the_repeating_command_printed(
    monkeypatch, capsys
):
    take = power_cuts.Disk.take
    monkeypatch.setattr(
        power_cuts.Disk, "take", lambda disk, call: None if call.kind == "s" else take(disk, call)
    )

    status = main(["--only", "power-cuts", "--seed", "1", "--tries", "60"])

    printed = capsys.readouterr().out
    if "skipped" not in printed:
        assert status == 1
        assert "python -m tools.soak --only power-cuts --seed 1 --tries" in printed


def test_what_a_repair_lost_or_altered_without_a_word_is_noticed(tmp_path):
    texts = {
        "kept": "the kettle",
        "near": "the harbour",
        "gone": "the lantern",
        "hit": "the violin",
    }
    pages = {
        "kept": frozenset({5}),
        "near": frozenset({5}),
        "gone": frozenset({6}),
        "hit": frozenset({6}),
    }
    numbers = dict.fromkeys(texts, 1)
    whole = Whole(b"", 8192, texts, numbers, pages, frozenset({4}), frozenset({"old"}))
    damaged = Damaged(whole, tmp_path / "notes.db", b"", frozenset({6}))
    there = {"kept": "the kettle", "hit": "the vi\x00lin", "old": "forgotten"}

    found = wrong_memories(damaged, there, [])

    assert [one.split(" ")[1] for one in found] == ["near", "gone", "hit", "old"]
    said = [
        {"component": "memories", "state": "failed", "detail": "lost: gone, near; altered: hit"}
    ]
    assert [one.split(" ")[1] for one in wrong_memories(damaged, there, said)] == ["near", "old"]


def test_a_flipped_bit_that_a_search_does_not_name_is_noticed(tmp_path):
    path = tmp_path / "notes.db"
    with scrubjay.open(path, embedder=SoakEmbedder()) as store:
        store.add("the kettle in the harbour", id="m1")
    whole = Whole(
        b"", 8192, {"m1": "the kettle in the harbor"}, {"m1": 1}, {}, frozenset(), frozenset()
    )

    assert "m1" in check_searches(whole, path)[0]
