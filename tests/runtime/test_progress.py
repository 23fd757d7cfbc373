"""A bar on a terminal, silence elsewhere."""

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
