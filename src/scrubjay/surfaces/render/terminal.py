"""Terminal: its width and colours, and text without control characters."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NamedTuple, TextIO

# Marks around a matched word while a text is being laid out. Stored text cannot contain them:
# `clean` runs first, and a terminal never sees them.
OPEN, SHUT = "\x01", "\x02"

_DEFAULT_WIDTH = 88
_WIDEST = 110  # longer lines are hard to read
_NARROWEST = 32

# An escape sequence in a stored text could move the cursor, rename the window or paste a command.
# C0 controls become their visible pictures; C1 controls and text-direction overrides have none.
_NEUTRAL: dict[int, str] = {code: chr(0x2400 + code) for code in range(32) if code not in (9, 10)}
_NEUTRAL |= dict.fromkeys(range(0x80, 0xA0), "\ufffd")
_NEUTRAL |= {0x7F: "\u2421", 0x2028: "\n", 0x2029: "\n"}
_NEUTRAL |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "")


def clean(text: str) -> str:
    return text.replace("\r\n", "\n").translate(_NEUTRAL)


def one_line(text: str) -> str:
    """Return clean text with every run of white space made a single space."""
    return " ".join(clean(text).split())


def path_line(path: str) -> str:
    """Return a clean path on one line, with its spaces: a script may open it."""
    return clean(path).replace("\n", "\u240a")


class Screen(NamedTuple):
    """Width and colours of the output for a person."""

    width: int = _DEFAULT_WIDTH
    colour: bool = False

    def bold(self, text: str) -> str:
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        return self._paint("2", text)

    def green(self, text: str) -> str:
        return self._paint("32", text)

    def yellow(self, text: str) -> str:
        return self._paint("33", text)

    def red(self, text: str) -> str:
        return self._paint("31", text)

    def marked(self, text: str) -> str:
        """Turn the marks around matched words into bold and underlined, or drop them."""
        if not self.colour:
            return text.replace(OPEN, "").replace(SHUT, "")
        return text.replace(OPEN, "\x1b[1;4m").replace(SHUT, "\x1b[0m")

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def screen_of(stream: TextIO) -> Screen:
    """Look at a stream: colours only on a terminal, and never against NO_COLOR."""
    terminal = stream.isatty()
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    wish = os.environ.get("COLUMNS", "")
    columns = int(wish) if wish.isdigit() else 0
    if terminal and not columns:
        # A pseudo-terminal may have no size, and a stream no file.
        with suppress(OSError, ValueError):
            columns = os.get_terminal_size(stream.fileno()).columns
    width = max(_NARROWEST, min(columns or _DEFAULT_WIDTH, _WIDEST))
    return Screen(width, colour=terminal and not plain)


def speak_utf8() -> None:
    """Read and write UTF-8, whatever the code page of the console is."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(encoding="utf-8", errors="strict" if stream is sys.stdin else "replace")


def out(text: str) -> None:
    """Write one block to standard output; commands print only by this."""
    sys.stdout.write(text + "\n")


def err(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
