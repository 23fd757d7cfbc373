"""The short form of `make soak`, and that it sees what is lost."""

from __future__ import annotations

import os

import pytest
from tools.soak import power_cuts
from tools.soak.__main__ import ROUNDS, main, soak

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the commands run in forks"),
]
SEED = 1
TRIES = {"kills": 60, "io-errors": 40, "power-cuts": 100}


@pytest.mark.parametrize(
    "attack", [one for one in ROUNDS if one.name in TRIES], ids=lambda one: one.name
)
def test_nothing_acknowledged_is_lost(attack, tmp_path):
    [(_, outcome)] = soak([attack], 0, SEED, TRIES[attack.name], tmp_path)

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
