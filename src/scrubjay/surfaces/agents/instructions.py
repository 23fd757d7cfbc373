"""Lines in CLAUDE.md or AGENTS.md that make an agent use its memory, between two markers."""

from __future__ import annotations

import re

BEGIN = (
    "<!-- scrubjay: begin. `scrubjay connect` wrote these lines; with --undo it removes them. -->"
)
END = "<!-- scrubjay: end -->"
LINES = """\
## Memory

You have a long-term memory in the tools `memory_*`.

- Before you start a task, call `memory_context` with the task as the question.
- When a decision is made, a preference is stated or a problem is solved, store it with `memory_store`.
- When the user corrects a memory, call `memory_update`; when they want it gone, `memory_forget`."""
_BLOCK = re.compile(r"<!-- scrubjay: begin.*?<!-- scrubjay: end -->\r?\n?", re.DOTALL)


def has_lines(text: str) -> bool:
    return _BLOCK.search(text) is not None


def with_lines(text: str) -> str:
    """Return a text with the lines: in the place of earlier ones, else at its end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = f"{BEGIN}\n{LINES}\n{END}\n".replace("\n", newline)
    if has_lines(text):
        return _BLOCK.sub(lambda _: block, text, count=1)
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + block


def without_lines(text: str) -> str:
    """Return a text without the lines and without the blank line before them."""
    found = _BLOCK.search(text)
    if found is None:
        return text
    before, after = text[: found.start()], text[found.end() :]
    for blank in ("\r\n\r\n", "\n\n"):
        if before.endswith(blank):
            before = before[: -len(blank) // 2]
            break
    return before + after
