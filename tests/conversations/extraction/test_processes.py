"""Several processes that draw facts from one file, and some that are killed: nothing lost, nothing twice."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from clocks import NOON

import scrubjay

pytestmark = pytest.mark.slow

WORKER = Path(__file__).with_name("worker.py")
SESSIONS, TURNS = 6, 30


@pytest.fixture
def path(tmp_path):
    """A file with conversations that nobody has read."""
    file = tmp_path / "talk.db"
    with scrubjay.open(file, embedder=False, generator=False) as store:
        store.add_many(
            {
                "text": f"I like thing{s * TURNS + n}",
                "type": "message",
                "session": f"s{s}",
                "created_at": NOON + timedelta(minutes=n),
            }
            for s in range(SESSIONS)
            for n in range(TURNS)
        )
    return file


def start(path):
    """Start a reader and wait until it has the store open."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    return process


def assert_drawn_once(path):
    """Each message is there, gave one fact, and that fact has this one span."""
    with (
        scrubjay.open(path, embedder=False, generator=False) as store,
        store._context.db.read() as db,
    ):
        assert store.status().types == {"message": SESSIONS * TURNS, "fact": SESSIONS * TURNS}
        (wrong,) = db.execute(
            "SELECT count(*) FROM memories AS m WHERE m.type = 'message' AND 1 <>"
            " (SELECT count(*) FROM spans AS s WHERE s.message = m.n)"
        ).fetchone()
        assert wrong == 0
        states = db.execute(
            "SELECT outcome, leased_until_s, count(*) FROM extractions GROUP BY 1, 2"
        )
        assert states.fetchall() == [("facts", 0.0, SESSIONS * TURNS)]


def test_two_processes_share_the_work(path):
    """Both end, and every message was read by one of them."""
    readers = [start(path), start(path)]
    for reader in readers:
        out, err = reader.communicate(timeout=60)
        assert (out, err) == ("done\n", "")

    assert_drawn_once(path)


def test_kills_lose_nothing_and_nothing_is_drawn_twice(path):
    """Complaint 8: kill -9 in the middle; the next process goes on when the claims have run out."""
    chance = random.Random(1)
    for _ in range(5):
        process = start(path)
        time.sleep(chance.uniform(0.0, 0.08))
        process.kill()
        process.communicate()
    out, err = start(path).communicate(timeout=60)
    assert (out, err) == ("done\n", "")

    assert_drawn_once(path)
