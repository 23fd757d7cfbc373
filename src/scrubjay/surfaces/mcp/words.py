"""Small words that every answer is made of."""

from __future__ import annotations


def ids_of(ids: list[str]) -> str:
    """Return ids on one line."""
    return ", ".join(" ".join(one.split()) for one in ids)


def count_of(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def lines_of(*lines: str) -> str:
    """Return lines as one text."""
    return "\n".join(lines)
