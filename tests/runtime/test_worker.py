"""Background workers: they start when woken, end when idle, and stop before the process does."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from places import SUPPORT

from scrubjay import Unavailable
from scrubjay.runtime.worker import Worker, call_within

SOON_S = 20.0


class Steps:
    """A step that counts its calls and returns what it is given, then None."""

    def __init__(self, *pauses):
        self.pauses = list(pauses)
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return self.pauses.pop(0) if self.pauses else None


class TestWorker:
    def test_it_works_until_nothing_is_left_and_then_its_thread_ends(self):
        steps = Steps(0.0, 0.0)
        worker = Worker("test", steps)
        assert not worker.running
        worker.wake()
        assert worker.join(SOON_S)
        assert (steps.calls, worker.running) == (3, False)

    def test_it_starts_again(self):
        steps = Steps()
        worker = Worker("test", steps)
        for calls in (1, 2, 3):
            worker.wake()
            assert worker.join(SOON_S)
            assert steps.calls == calls

    def test_a_wake_ends_a_pause(self):
        steps = Steps(600.0)
        worker = Worker("test", steps)
        worker.wake()
        while not steps.calls:
            time.sleep(0.001)
        worker.wake()
        assert worker.join(SOON_S)
        assert steps.calls == 2

    def test_a_wake_during_a_step_is_not_lost(self):
        """What is written while the worker looks for the last time is looked for again."""
        entered, leave, calls = threading.Event(), threading.Event(), []

        def step():
            calls.append(1)
            entered.set()
            assert leave.wait(SOON_S)

        worker = Worker("test", step)
        worker.wake()
        assert entered.wait(SOON_S)
        worker.wake()
        leave.set()
        assert worker.join(SOON_S)
        assert len(calls) == 2

    def test_stop_ends_a_pause_and_no_step_follows(self):
        steps = Steps(600.0)
        worker = Worker("test", steps)
        worker.wake()
        while not steps.calls:
            time.sleep(0.001)
        assert worker.stop(SOON_S)
        worker.wake()
        assert (steps.calls, worker.running) == (1, False)
        assert worker.stop(SOON_S)

    def test_stop_ends_the_delay_before_the_first_step(self):
        steps = Steps()
        worker = Worker("test", steps, delay_s=600.0)
        worker.wake()
        assert worker.stop(SOON_S)
        assert steps.calls == 0

    def test_a_wake_does_not_shorten_the_delay(self):
        steps = Steps()
        worker = Worker("test", steps, delay_s=0.2)
        worker.wake()
        worker.wake()
        assert steps.calls == 0
        assert worker.join(SOON_S)
        assert steps.calls == 1

    def test_stop_reports_a_step_that_does_not_end(self):
        entered, leave = threading.Event(), threading.Event()

        def step():
            entered.set()
            leave.wait(SOON_S)

        worker = Worker("test", step)
        worker.wake()
        assert entered.wait(SOON_S)
        assert not worker.stop(0.01)
        leave.set()
        assert worker.stop(SOON_S)

    def test_a_step_may_stop_its_own_worker(self):
        worker = Worker("test", lambda: (worker.stop(), 0.0)[1])
        worker.wake()
        assert worker.join(SOON_S)

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_after_an_error_the_next_wake_starts_another_thread(self):
        calls = []

        def step():
            calls.append(1)
            if len(calls) == 1:
                raise RuntimeError("a defect")

        worker = Worker("test", step)
        worker.wake()
        worker.join(SOON_S)
        while worker.running:
            time.sleep(0.001)
        worker.wake()
        assert worker.join(SOON_S)
        assert len(calls) == 2


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


class TestCallWithin:
    def test_it_returns_what_the_call_returns(self):
        """None is an answer too."""
        assert call_within(5, lambda: "yes", "it") == "yes"
        assert call_within(5, lambda: None, "it") is None

    def test_it_raises_what_the_call_raises(self):
        """In the thread that waits."""
        with pytest.raises(KeyError, match="gone"):
            call_within(5, lambda: {}["gone"], "it")

    def test_a_call_that_takes_longer_is_given_up(self):
        """It says after how long; the call may go on, its answer is dropped."""
        ends = threading.Event()
        try:
            with pytest.raises(Unavailable, match=r"^it did not answer within 0\.05 s$"):
                call_within(0.05, ends.wait, "it")
        finally:
            ends.set()

    def test_it_does_not_keep_the_process_from_ending(self):
        """The thread is a daemon."""
        ends = threading.Event()
        with pytest.raises(Unavailable):
            call_within(0.01, ends.wait, "it")
        waiting = [one for one in threading.enumerate() if one.name == "scrubjay-call"]
        assert waiting
        assert all(one.daemon for one in waiting)
        ends.set()

    def test_the_same_thread_is_asked_again(self):
        """A model may set up much in each thread: torch takes longer for that than for reading."""
        first = call_within(5, threading.get_ident, "it")
        assert {call_within(5, threading.get_ident, "it") for _ in range(20)} == {first}

    def test_a_thread_that_never_came_back_is_not_waited_for(self):
        """Another one does the next call, and the lost one serves again when it is free."""
        ends, began = threading.Event(), []

        def hang():
            began.append(threading.get_ident())
            ends.wait()

        with pytest.raises(Unavailable):
            call_within(0.05, hang, "it")
        assert call_within(5, threading.get_ident, "it") != began[0]
        ends.set()

    @pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
    def test_what_would_end_the_process_is_a_failure_of_the_model_only(self, error):
        """A panic in a tokenizer written in Rust is no Exception, nor is `sys.exit` in a plug-in."""

        def call():
            raise error

        with pytest.raises(Unavailable, match=f"it failed: {type(error).__name__}"):
            call_within(5, call, "it")

    def test_many_at_once(self):
        """Each waits for its own."""
        answers = {}

        def ask(number):
            answers[number] = call_within(10, lambda: time.sleep(0.01) or number, "it")

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

        assert answers == {number: number for number in range(20)}
