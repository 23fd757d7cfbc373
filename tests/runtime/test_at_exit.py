"""A process that ends without closing its store, while a model reads in the background."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from places import SUPPORT

ENDING = """
import sys, threading, time
sys.path.insert(0, sys.argv[2])
import scrubjay
from fakes import HashingEmbedder

begun = threading.Event()

class Slow(HashingEmbedder):
    texts_at_once = 1

    def embed(self, texts, *, as_query=False):
        print("begun", flush=True)
        begun.set()
        time.sleep(0.2)
        made = super().embed(texts, as_query=as_query)
        print("ended", flush=True)
        return made

store = scrubjay.open(sys.argv[1], embedder=Slow())
store.add_many({"text": f"pump {n}"} for n in range(100))
begun.wait()
"""


def test_what_a_model_reads_is_finished_and_no_more_is_begun(tmp_path: Path):
    """A thread that came back from onnxruntime in a process that was ending ended it with SIGABRT."""
    tests = str(SUPPORT)
    done = subprocess.run(
        [sys.executable, "-c", ENDING, str(tmp_path / "n.db"), tests],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = done.stdout.split()
    assert told.count("begun") == told.count("ended")
    assert 1 <= told.count("ended") < 50
