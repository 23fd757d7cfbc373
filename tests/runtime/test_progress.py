"""A bar on a terminal; elsewhere silence, or lines of a task with a unit."""

import io

from scrubjay.runtime.progress import ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_drawn_on_a_terminal_and_wiped_at_the_end():
    """It shows share and amount, and leaves an empty line behind."""
    screen = Terminal()

    with ProgressBar("weights", in_bytes=True, stream=screen) as bar:
        bar(1_500_000, 3_000_000)

    assert "weights [############------------]  50%  1.5 MB of 3.0 MB" in screen.getvalue()
    assert screen.getvalue().endswith(" \r")


def test_nothing_is_written_where_there_is_no_terminal():
    """Logs and pipes stay clean."""
    stream = io.StringIO()

    with ProgressBar("weights", stream=stream) as bar:
        bar(1, 2)

    assert stream.getvalue() == ""


def test_a_bar_without_a_total_counts():
    """A server that does not say how long the file is still shows life."""
    screen = Terminal()

    ProgressBar("memories", stream=screen)(1234, 0)

    assert "memories 1,234" in screen.getvalue()


def test_the_last_step_is_always_drawn():
    """Quick steps are left out, the end never is."""
    screen = Terminal()
    bar = ProgressBar("memories", stream=screen)

    for done in range(101):
        bar(done, 100)

    assert "100 of 100" in screen.getvalue()
    assert screen.getvalue().count("\r") < 20


class Moments:
    """A clock that a test moves."""

    def __init__(self):
        self.now_s = 100.0

    def __call__(self):
        return self.now_s


def steps(bar, moments, *counts, total, seconds):
    """Report each count, `seconds` after the one before."""
    for count in counts:
        bar(count, total)
        moments.now_s += seconds


def test_a_unit_brings_rate_and_time_left():
    """Of the last half minute; none is shown before it is known."""
    screen, moments = Terminal(), Moments()
    bar = ProgressBar("embedding", unit="passages", stream=screen, clock=moments)
    steps(bar, moments, 0, 100, 200, total=1200, seconds=2.0)

    first, second, third = screen.getvalue().split("\r")[1:]
    assert first == "embedding [----------------]   0%  0 of 1,200 passages"
    assert second == "embedding [#---------------]   8%  100 of 1,200 passages, 50/s, 22 s left"
    assert third == "embedding [###-------------]  17%  200 of 1,200 passages, 50/s, 20 s left"


def test_a_bar_never_wraps():
    """A wrapped line could not be erased: the bar gets shorter, and is left out where it has no room."""
    screen, moments = Terminal(), Moments()
    bar = ProgressBar("embedding", unit="passages", stream=screen, clock=moments)
    steps(bar, moments, 0, 6_000, 12_345, total=123_456, seconds=60.0)
    steps(bar, moments, 1_000_000, total=12_345_678, seconds=60.0)

    *_, shorter, none = (line.rstrip() for line in screen.getvalue().split("\r"))
    assert (
        shorter
        == "embedding [#--------]  10%  12,345 of 123,456 passages, 106/s, 17 min 31 s left"
    )
    assert none == "embedding   8%  1,000,000 of 12,345,678 passages, 16,461/s, 11 min 29 s left"


def test_without_a_terminal_a_unit_brings_lines_now_and_then():
    """The first after five seconds, then one at each tenth; none at the end."""
    stream, moments = io.StringIO(), Moments()
    bar = ProgressBar("embedding", unit="passages", stream=stream, clock=moments)
    steps(bar, moments, *range(101), total=100, seconds=1.0)

    lines = stream.getvalue().splitlines()
    assert lines[0] == "scrubjay: embedding: 5 of 100 passages, 1/s, 1 min 35 s left"
    assert [int(line.split()[2]) for line in lines] == [5, *range(10, 100, 10)]


def test_a_slow_task_writes_a_line_every_half_minute():
    stream, moments = io.StringIO(), Moments()
    bar = ProgressBar("embedding", unit="passages", stream=stream, clock=moments)
    steps(bar, moments, *range(31), total=10_000, seconds=4.0)

    written = [int(line.split()[2]) for line in stream.getvalue().splitlines()]
    assert written == [2, 10, 18, 26]  # after 8 s, and 32 s after the line before


def test_a_quick_task_writes_no_line():
    stream, moments = io.StringIO(), Moments()
    bar = ProgressBar("embedding", unit="passages", stream=stream, clock=moments)
    steps(bar, moments, *range(101), total=100, seconds=0.04)
    assert stream.getvalue() == ""


def test_no_stream_at_all_is_no_error(monkeypatch):
    """As under pythonw."""
    monkeypatch.setattr("sys.stderr", None)
    with ProgressBar("embedding", unit="passages") as bar:
        bar(1, 2)
    assert (bar.done, bar.total) == (1, 2)
