"""A change of the model is killed at any point, or made by several processes at once; nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import switch_models

import scrubjay

TESTS = Path(__file__).parents[1]
MEMORIES = 60
ODA = "who keeps a lighthouse?"
KILLED_AT = """
import os, signal, scrubjay
from scrubjay.storage import model_switch
whole = model_switch.SqlModelSwitch._make_main
def killed(self, db, row):
    if {after}: whole(self, db, row)
    os.kill(os.getpid(), signal.SIGKILL)
model_switch.SqlModelSwitch._make_main = killed
with scrubjay.open({path!r}) as store:
    store.use_model("cars", wait=True)
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A store of sixty-one memories that `cats` has read."""
    switch_models.install(tmp_path / "plug-ins", monkeypatch)
    monkeypatch.setenv("SCRUBJAY_MULTILINGUAL", "none")
    source = str(Path(scrubjay.__file__).parents[1])
    parts = (str(tmp_path / "plug-ins"), str(TESTS / "support"), source)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(parts))
    with scrubjay.open(tmp_path / "notes.db") as store:
        store.add("Oda keeps the lighthouse", id="oda")
        store.add_many({"text": f"harbour {n} and pier {n}"} for n in range(MEMORIES))
        store.pending()
    return str(tmp_path / "notes.db")


def start(path, slow_s, *words):
    command = [sys.executable, "-m", "scrubjay", "models", *words, "--db", path]
    env = {**os.environ, "SLOW_MODEL_S": str(slow_s)}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def done(store):
    change = store.status().change
    return None if change is None else change.done


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def assert_changed(path):
    with scrubjay.open(path) as store:
        state = store.status()
        assert (state.model, state.change, state.pending) == ("cars", None, 0)
        assert state.models["cars"] == state.models["cats"] == state.chunks == MEMORIES + 1
        found = store.search(ODA, mode="vector")
        assert (found[0].id, found.degraded) == ("oda", ())


@pytest.mark.slow  # the leases of killed processes run out
def test_a_killed_build_is_resumed(path):
    with scrubjay.open(path, embedder="cats") as store:  # does not help
        for _ in range(2):
            builder = start(path, 0.05, "use", "cars", "--wait")
            before = done(store) or 0
            wait_for(lambda before=before: (done(store) or 0) > before + 5)
            builder.send_signal(signal.SIGKILL)
            builder.communicate()
            assert 5 < done(store) < MEMORIES
            assert store.search(ODA, mode="vector")[0].id == "oda"
        store.add("a text of meanwhile", id="later")
        store.forget("later")
        store.pending()

    finished = start(path, 0, "use", "cars", "--wait")
    finished.communicate()
    assert finished.returncode == 0
    assert_changed(path)


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_the_change_over_leaves_the_old_index_in_use(path, after):
    program = KILLED_AT.format(path=path, after=after)
    assert subprocess.run([sys.executable, "-c", program]).returncode == -signal.SIGKILL

    with scrubjay.open(path, embedder="cats") as store:  # does not finish it
        assert (done(store), store.status().change.model) == (MEMORIES + 1, "cars")
    with scrubjay.open(path) as store:
        assert store.search(ODA, mode="vector")[0].id == "oda"
        store.pending()
    assert_changed(path)


def test_two_processes_build_one_index(path):
    with scrubjay.open(path) as store:
        one = start(path, 0.05, "use", "cars", "--wait")
        two = start(path, 0.05, "use", "cars", "--wait")
        answers = 0
        while one.poll() is None or two.poll() is None:
            found = store.search(ODA, mode="vector")
            assert (found[0].id, found.degraded) == ("oda", ())
            answers += 1
        assert (one.wait(), two.wait()) == (0, 0), one.stderr.read() + two.stderr.read()
        assert answers > 5
        assert store.search(ODA, mode="vector")[0].id == "oda"
        wait_for(lambda: store.status().model == "cars")
    for process in (one, two):
        process.communicate()
    assert_changed(path)


def test_two_processes_cannot_change_to_different_models(path):
    one = start(path, 0.05, "use", "cars", "--wait")
    with scrubjay.open(path, embedder="cats") as store:
        wait_for(lambda: done(store) is not None)
    other = start(path, 0, "use", "third", "--wait")
    _, err = other.communicate()
    one.communicate()

    assert (one.returncode, other.returncode) == (0, 2)
    assert b"cars" in err
    assert_changed(path)


def test_an_index_that_is_pruned_while_it_is_built_ends_the_build(path):
    builder = start(path, 0.05, "use", "cars", "--wait")
    with scrubjay.open(path, embedder="cats") as store:
        wait_for(lambda: (done(store) or 0) > 5)
        (gone,) = store.prune_models("cars")
        _, err = builder.communicate(timeout=60)

        assert (builder.returncode, b"models prune" in err) == (1, True)
        assert gone.vectors > 5
        assert set(store.status().models) & {"cars"} == set()
        assert store.search(ODA, mode="vector")[0].id == "oda"
