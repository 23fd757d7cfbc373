"""The timing of gnosis with models on a GPU, with models that need none."""

from __future__ import annotations

import pytest

from tools import time_gpu


@pytest.mark.slow
def test_every_way_to_search_is_timed_and_has_its_pairs(capsys):
    """GS-18: 64 pairs in standard, 256 in deep, none where reranking is skipped."""
    time_gpu.main(["--quick", "--stand-in"])

    table, _, machine = capsys.readouterr().out.partition("\n\n")
    lines = [line.split(" | ") for line in table.splitlines()[2:]]
    searched = [line for line in lines if "`gnosis`" in line[0]]
    assert [line[0].split(", ")[1:3] for line in searched] == [
        ["standard", "64 pairs"],
        ["deep", "256 pairs"],
        ["skip", "0 pairs"],
    ] * 2
    assert all(float(line[1].removesuffix(" ms")) > 0 for line in searched)
    assert "models without weights" in machine
