"""Unit tests of the web UI's pure modules, run by `node --test` without a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).parent / "unit"
TIME_OUT_S = 120


@pytest.fixture(autouse=True)
def nothing_wrong() -> None:
    """Replace the check of the browser's console: these tests need neither browser nor server."""


def test_the_pure_modules_pass_their_unit_tests():
    """Skipped only without Node on a developer's machine; in CI a missing Node is an error."""
    node = shutil.which("node")
    if node is None and "CI" not in os.environ:
        pytest.skip("node is not installed")
    assert node, "node is not installed"
    run = subprocess.run(
        [node, "--test", *sorted(map(str, UNIT.glob("*.test.mjs")))],
        capture_output=True,
        text=True,
        timeout=TIME_OUT_S,
        check=False,
        env={**os.environ, "TZ": "Europe/Berlin"},  # a zone with days of 23 and 25 hours
    )
    assert run.returncode == 0, run.stdout + run.stderr
