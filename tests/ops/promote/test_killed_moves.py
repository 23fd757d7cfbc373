"""A move that is killed before any of its steps: one store accepts writes, and another run finishes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import scrubjay
from scrubjay.errors import NotFound, StoreError
from scrubjay.ops.promote import run as promoting
from scrubjay.ops.promote.run import demote, parse_place, promote

MOVES = Path(__file__).with_name("killed_moves.py")
IDS = {"kettle", "teapot", "harbour"}

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the moves are forked")
Kill = Callable[..., str]


@pytest.fixture(autouse=True)
def one_query(monkeypatch):
    monkeypatch.setattr(promoting, "QUERIES", 1)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with three memories."""
    path = tmp_path_factory.mktemp("small") / "notes.db"
    with scrubjay.open(path, embedder=False) as store:
        for id_ in IDS:
            store.add(f"The {id_} is remembered", id=id_)
    return path


@pytest.fixture(scope="module")
def kill() -> Iterator[Kill]:
    """Run a move in another process, which is killed before a step; return what it printed."""
    with subprocess.Popen(
        [sys.executable, str(MOVES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, said = process.stdin, process.stdout

        def run(*words: object) -> str:
            asked.write("\t".join(map(str, words)) + "\n")
            asked.flush()
            return said.readline().strip()

        yield run
        asked.close()


class Case(NamedTuple):
    """A store of a tenant of its own, on its way from `source` to `target`."""

    move: Callable[..., object]
    source: str
    target: str
    tenant: str

    def accepts(self, place: str, id_: str) -> bool:
        """True if a new memory is stored in a place; False if it says that there is none."""
        try:
            with scrubjay.open(place, embedder=False, tenant=self.tenant) as store:
                store.add(f"{id_} is added", id=id_)
        except StoreError as error:
            return "move" not in str(error)
        return True

    def finish(self) -> bool:
        """Run the move again; False if others had finished it."""
        try:
            self.move(self.source, self.target, tenant=self.tenant)
        except NotFound as error:
            return "its memories were moved to" not in str(error)
        return True

    def check_moved(self, ids: set[str]) -> None:
        with scrubjay.open(self.target, embedder=False, tenant=self.tenant) as store:
            assert {memory.id for memory in store.ls(limit=100)} == ids
        assert not self.accepts(self.source, "late")
        target = parse_place(self.target, self.tenant)
        assert target.record() is None
        if os.path.isdir(folder := os.path.dirname(self.target)):
            assert not [name for name in os.listdir(folder) if "filling" in name]


def started(job: str, small: Path, folder: Path, url: str, tenant: str) -> Case:
    folder.mkdir()
    notes = str(folder / "notes.db")
    if job == "promote":
        shutil.copy(small, folder / f"notes.{tenant}.db")
        return Case(promote, notes, url, tenant)
    with scrubjay.open(url, embedder=False, tenant=tenant) as store:
        store.add_many({"text": f"The {id_} is remembered", "id": id_} for id_ in IDS)
    return Case(demote, url, notes, tenant)


def steps_of(kill: Kill, case: Case) -> list[int]:
    """Run a move to its end; return which of its steps differ from the step before or after them."""
    *names, end = kill(case.move.__name__, *case[1:], "list").split(" | ")
    assert end == "done"
    around = zip(names, [None, *names], [*names[1:], None], strict=False)
    steps = [n for n, (name, *others) in enumerate(around) if others != [name, name]]
    assert len(steps) > 8
    return steps


def kill_before(kill: Kill, case: Case, step: int) -> None:
    assert kill(case.move.__name__, *case[1:], step) == "killed"


@pytest.mark.slow
@pytest.mark.parametrize("job", ["promote", "demote"])
def test_one_store_accepts_writes_after_any_kill(job, small, tmp_path, postgres_url, kill):
    """Issue 21: opened at either side, no memory is lost, and another run finishes."""
    for step in steps_of(kill, started(job, small, tmp_path / "all", postgres_url, "all")):
        case = started(job, small, tmp_path / f"s{step}", postgres_url, f"s{step}")
        kill_before(kill, case, step)
        sides = (case.source, case.target) if step % 2 else (case.target, case.source)
        accepted = {f"new{n}" for n, place in enumerate(sides) if case.accepts(place, f"new{n}")}
        if not accepted and case.accepts(case.target, "again"):  # the other side has finished it
            accepted = {"again"}
        assert len(accepted) == 1, f"killed before step {step}"
        case.finish()
        case.check_moved(IDS | accepted)


@pytest.mark.slow
@pytest.mark.parametrize("job", ["promote", "demote"])
def test_another_run_finishes_after_the_source_was_retired(
    job, small, tmp_path, postgres_url, kill
):
    """Issue 21: no one has opened either side in between."""
    finished = []
    for step in steps_of(kill, started(job, small, tmp_path / "all", postgres_url, "all"))[-5::2]:
        case = started(job, small, tmp_path / f"s{step}", postgres_url, f"s{step}")
        kill_before(kill, case, step)
        retired = parse_place(case.source, case.tenant).note() is not None
        if case.finish() and retired:
            finished.append(step)
        case.check_moved(IDS)
    assert finished
