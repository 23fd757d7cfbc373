"""A server that is gone costs one wait, and then none until it is back."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from itertools import pairwise

import pytest

from scrubjay import InvalidInput, MissingExtra, Unavailable
from scrubjay.storage.replicas.breaker import Breaker

REST_S = 0.02
PATIENCE_S = 60.0


def wait_until(holds):
    """Wait for something that another thread does."""
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, "it never happened"
        time.sleep(0.005)


class Echo:
    """A TCP server that answers each connection with a word, or hangs."""

    def __init__(self):
        self.hangs = False
        self.asked = 0
        self._held = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.asked += 1
            if self.hangs:
                self._held.append(connection)
            else:
                connection.sendall(b"here")
                connection.close()

    def ask(self):
        """What a client does: connect, and read within a time-out."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=0.2) as connection:
                return connection.recv(10)
        except OSError as error:
            raise Unavailable(f"the server on {self.port} said {type(error).__name__}") from None

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._held:
            one.close()
        self._thread.join()


@pytest.fixture
def echo():
    """A server that answers."""
    server = Echo()
    yield server
    server.close()


@contextmanager
def breaker(ping, **options):
    """A breaker that is closed at the end, and leaves no thread."""
    made = Breaker("test", ping, **options)
    try:
        yield made
    finally:
        made.close()
    assert not [one for one in threading.enumerate() if one.name == "scrubjay-ping-test"]


def test_while_it_answers_every_call_is_made(echo):
    with breaker(echo.ask) as stands_before:
        assert [stands_before.call(echo.ask) for _ in range(3)] == [b"here"] * 3
        assert (echo.asked, stands_before.reason) == (3, "")


def test_a_server_that_hangs_is_asked_once(echo):
    """NM-6: the first call waits for the time-out; the others are told at once, with the reason."""
    with breaker(echo.ask, rest_s=60) as stands_before:
        echo.hangs = True
        with pytest.raises(Unavailable, match=r"said TimeoutError$"):
            stands_before.call(echo.ask)
        for _ in range(100):
            with pytest.raises(Unavailable, match=r"said TimeoutError; .*answers$"):
                stands_before.call(echo.ask)
        assert echo.asked == 1


def test_it_notices_when_the_server_is_back(echo):
    """NM-6: without a restart, and without a call; and when it goes again, that is noticed too."""
    with breaker(echo.ask, rest_s=REST_S) as stands_before:
        for _ in range(2):
            echo.hangs = True
            with pytest.raises(Unavailable):
                stands_before.call(echo.ask)
            before = echo.asked
            wait_until(lambda before=before: echo.asked > before)
            assert stands_before.reason.endswith("said TimeoutError")
            echo.hangs = False
            wait_until(lambda: not stands_before.reason)
            assert stands_before.call(echo.ask) == b"here"


def test_who_waited_for_the_server_is_told_that_it_is_back(echo):
    """NM-6: once for each time, when calls are made again; not while it is gone, nor at the end."""
    reasons = []
    with breaker(echo.ask, rest_s=REST_S) as stands_before:
        stands_before.on_back = lambda: reasons.append(stands_before.reason)
        for times in (1, 2):
            echo.hangs = True
            with pytest.raises(Unavailable):
                stands_before.call(echo.ask)
            assert len(reasons) == times - 1
            echo.hangs = False
            wait_until(lambda times=times: len(reasons) == times)
        assert reasons == ["", ""]
        echo.hangs = True
        with pytest.raises(Unavailable):
            stands_before.call(echo.ask)
    assert len(reasons) == 2


def test_a_server_that_answers_pings_and_nothing_else_rests_longer_each_time():
    """Who is told that it is back may ask at once, and find that it is not."""
    began = []

    def fails():
        began.append(time.monotonic())
        raise Unavailable("no")

    with breaker(lambda: None, rest_s=0.03, max_rest_s=0.12) as stands_before:

        def again():
            with pytest.raises(Unavailable):
                stands_before.call(fails)

        stands_before.on_back = again
        again()
        wait_until(lambda: len(began) >= 6)
    rests = [after - before for before, after in pairwise(began)]
    for rest, least in zip(rests, (0.03, 0.06, 0.12, 0.12, 0.12), strict=False):
        assert rest >= least * 0.9


def test_it_pings_less_and_less_often():
    """Each rest is twice the one before, up to the longest."""
    times = []

    def ping():
        times.append(time.monotonic())
        raise Unavailable("still gone")

    with breaker(ping, rest_s=0.03, max_rest_s=0.12) as stands_before:
        with pytest.raises(Unavailable):
            stands_before.call(ping)
        wait_until(lambda: len(times) >= 6)
    rests = [after - before for before, after in pairwise(times)]
    # No rest is shorter than it should be; on a busy machine one may well be longer.
    for rest, least in zip(rests, (0.03, 0.06, 0.12, 0.12, 0.12), strict=False):
        assert rest >= least * 0.9


def test_other_errors_are_not_the_servers():
    """What was asked wrongly, or cannot be asked for want of a package, says nothing of the server."""

    def wrong():
        raise InvalidInput("wrong")

    def missing():
        raise MissingExtra("a package", "pip install it")

    with breaker(wrong) as stands_before:
        for function, kind in ((wrong, InvalidInput), (missing, MissingExtra)) * 2:
            with pytest.raises(kind):
                stands_before.call(function)
        assert stands_before.reason == ""


def test_a_server_that_answers_but_will_not_do_is_asked_again():
    """So that the next call can say why."""

    def gone():
        raise Unavailable("gone")

    def wrong():
        raise InvalidInput("an old version")

    with breaker(wrong, rest_s=REST_S) as stands_before:
        with pytest.raises(Unavailable):
            stands_before.call(gone)
        wait_until(lambda: not stands_before.reason)
        with pytest.raises(InvalidInput, match="old version"):
            stands_before.call(wrong)


def test_many_threads_at_once_share_one_ping(echo):
    """Sixteen callers while the server goes and comes: each is answered or told, and none hangs."""
    outcomes = []
    stop = threading.Event()
    with breaker(echo.ask, rest_s=REST_S) as stands_before:

        def calls():
            while not stop.is_set():
                try:
                    outcomes.append(stands_before.call(echo.ask))
                except Unavailable as error:
                    outcomes.append(str(error))
                    time.sleep(0.001)

        threads = [threading.Thread(target=calls) for _ in range(16)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            wait_until(lambda: outcomes[-1:] == [b"here"])
            echo.hangs = True
            wait_until(lambda: stands_before.reason)
            assert sum(one.name == "scrubjay-ping-test" for one in threading.enumerate()) == 1
            echo.hangs = False
            wait_until(lambda: not stands_before.reason)
        stop.set()
        for thread in threads:
            thread.join()
    told = [one for one in outcomes if one != b"here"]
    assert told
    assert all("said TimeoutError" in one for one in told)


def test_a_closed_one_starts_no_thread_and_forgets_its_own():
    """Also when it is closed twice, or while the server is gone."""

    def gone():
        raise Unavailable("gone")

    with breaker(gone, rest_s=60) as stands_before:
        with pytest.raises(Unavailable):
            stands_before.call(gone)
        stands_before.close()
        stands_before.close()
        with pytest.raises(Unavailable, match=r"gone$"):
            stands_before.call(gone)
        assert not [one for one in threading.enumerate() if one.name == "scrubjay-ping-test"]
