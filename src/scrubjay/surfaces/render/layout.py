"""Layout of text in terminal columns: CJK characters take two, combining accents none."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import category, east_asian_width

from scrubjay.surfaces.render.terminal import OPEN, SHUT

_WIDEST = 48  # columns of a cell; one long name would push others off the screen
_FULL, _EMPTY = "█", "░"


def width(text: str) -> int:
    if text.isascii() and OPEN not in text:
        return len(text)
    return sum(_columns(letter) for letter in text)


def cut(text: str, columns: int) -> str:
    """Return the beginning of a one-line text that fits, with an ellipsis where it was cut."""
    if width(text) <= columns:
        return text
    return _pieces(text, columns - 1)[0].rstrip() + "…"


def pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def wrap(text: str, columns: int) -> list[str]:
    """Break a text into lines that fit: at spaces, and inside a word only when it is too long."""
    columns = max(columns, 8)
    lines: list[str] = []
    for paragraph in text.splitlines():
        line, used = "", 0
        for word in paragraph.split():
            size = width(word)
            if used and used + 1 + size <= columns:
                line, used = f"{line} {word}", used + 1 + size
                continue
            if used:
                lines.append(line)
            *broken, line = _pieces(word, columns) if size > columns else [word]
            lines.extend(broken)
            used = width(line)
        lines.append(line)
    return _whole_marks(lines)


def lines_of(text: str, columns: int) -> list[str]:
    parts: list[str] = []
    for line in text.split("\n"):
        line = line.expandtabs(4).rstrip()
        parts += [line] if width(line) <= columns else wrap(line, columns)
    return _whole_marks(parts)


def indent(text: str, columns: int, by: int) -> str:
    return "\n".join(" " * by + line for line in wrap(text, columns - by))


def bar(share: float, cells: int = 8) -> str:
    """Draw a share of 0..1 as a bar; more than 0 fills at least one cell."""
    full = max(round(min(max(share, 0.0), 1.0) * cells), int(share > 0))
    return _FULL * full + _EMPTY * (cells - full)


def table(rows: Sequence[tuple[str, ...]], *, gap: int = 2) -> list[str]:
    """Align rows into columns; very wide cells are cut, except in the last column."""
    if not rows:
        return []
    rows = [(*(cut(cell, _WIDEST) for cell in row[:-1]), row[-1]) for row in rows]
    widths = [max(width(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    return [
        (" " * gap)
        .join((*(pad(cell, size) for cell, size in zip(row, widths, strict=False)), row[-1]))
        .rstrip()
        for row in rows
    ]


def _columns(letter: str) -> int:
    if letter < "\x7f":
        return 0 if letter < " " else 1
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in ("W", "F") else 1


def _pieces(word: str, columns: int) -> list[str]:
    """Break one long word, such as a line of Chinese or a URL, where the line is full."""
    pieces, start, used = [], 0, 0
    for place, letter in enumerate(word):
        size = _columns(letter)
        if used + size > columns:
            pieces.append(word[start:place])
            start, used = place, 0
        used += size
    pieces.append(word[start:])
    return pieces


def _whole_marks(lines: list[str]) -> list[str]:
    """Close a mark at the end of a line and open it again on the next."""
    inside = False
    whole = []
    for line in lines:
        shown = OPEN + line if inside else line
        opened, shut = shown.rfind(OPEN), shown.rfind(SHUT)
        inside = opened > shut
        whole.append(shown + SHUT if inside else shown)
    return whole
