"""How every test is run: in two processes, in a folder in memory that is gone afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

from tools import run_tests

TWO = """
import os, pytest, tempfile

@pytest.mark.parametrize("n", range(40))
def test_one(n, tmp_path):
    with open({told!r}, "a") as told:
        print(os.environ["PYTEST_XDIST_WORKER"], tempfile.gettempdir(), tmp_path, file=told)
    assert n != 17, "seventeen"
"""


def test_it_runs_in_two_processes_and_says_and_leaves_what_pytest_does(tmp_path: Path):
    """The exit status and the closing line are pytest's; a failure is shown with its reason."""
    told = tmp_path / "told"
    (tmp_path / "test_two.py").write_text(TWO.format(told=str(told)), "utf-8")
    plain = ("-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:hypothesispytest")
    here = ("-c", os.devnull, f"--rootdir={tmp_path}", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "tools.run_tests", *plain, *here],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "AssertionError: seventeen" in done.stdout
    assert " 1 failed, 39 passed in " in done.stdout.splitlines()[-1]
    lines = [line.split() for line in told.read_text("utf-8").splitlines()]
    assert {worker for worker, _, _ in lines} == {"gw0", "gw1"}
    in_memory = run_tests.has_room(run_tests.IN_MEMORY)
    for _, temporary, folder in lines:
        assert Path(folder).is_relative_to(temporary)
        assert Path(temporary).is_relative_to(run_tests.IN_MEMORY) or not in_memory
        assert not (in_memory and Path(temporary).exists())


def test_memory_is_used_only_where_there_is_plenty(tmp_path: Path, monkeypatch):
    """No such folder, and one with too little room, are both left alone."""
    assert not run_tests.has_room(tmp_path / "nowhere")
    monkeypatch.setattr(run_tests, "LEAST_FREE_BYTES", 1 << 60)
    assert not run_tests.has_room(tmp_path)


@pytest.mark.skipif(not hasattr(os, "ST_NOEXEC"), reason="only Linux says so")
def test_a_folder_where_nothing_may_be_run_is_not_used(tmp_path: Path, monkeypatch):
    """The programs of a server may have to be copied there."""
    monkeypatch.setattr(run_tests, "LEAST_FREE_BYTES", 1)
    assert run_tests.has_room(tmp_path)
    room = os.statvfs(tmp_path)

    class Closed:
        f_bavail, f_frsize = room.f_bavail, room.f_frsize
        f_flag = room.f_flag | os.ST_NOEXEC

    monkeypatch.setattr(os, "statvfs", lambda _: Closed)
    assert not run_tests.has_room(tmp_path)


FAILS_ONCE = """
from pathlib import Path

def test_once():
    seen = Path(__file__).with_name("seen")
    if not seen.exists():
        seen.touch()
        raise AssertionError

def test_always():
    assert {holds}
"""


@pytest.mark.slow
@pytest.mark.parametrize(("holds", "status"), [(True, 0), (False, 1)])
def test_a_failure_runs_once_more_alone(tmp_path, holds, status):
    (tmp_path / "test_it.py").write_text(FAILS_ONCE.format(holds=holds), "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tools.run_tests", "--retry-alone", "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.fspath(ROOT)},
        capture_output=True,
        text=True,
    )

    assert done.returncode == status, done.stdout
    assert "once more, alone:\n  test_it.py::" in done.stdout
    assert ("beside other tests only" in done.stdout) == holds
