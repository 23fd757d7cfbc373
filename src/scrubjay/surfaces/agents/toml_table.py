"""Edit TOML in place: append a table, or remove it again.

A table may stand at the end of any file, so nothing else is touched, and comments stay. The result is parsed
before it is written. A library that keeps comments would be one more dependency, for an append.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from scrubjay.errors import InvalidInput


def parse(text: str) -> dict[str, Any]:
    """Return the values of a text; InvalidInput names the line where it is not TOML."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(str(error)) from error


def append_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """Return a text with a table at its end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(path)}]"]
    # Texts and lists of texts are written as in JSON.
    lines += (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join(lines) + newline


def remove_table(text: str, path: Sequence[str]) -> str:
    """Return a text without a table, and without the blank line before it."""
    name = r"\s*\.\s*".join(f"[\"']?{re.escape(part)}[\"']?" for part in path)
    header = re.compile(rf"(?:(?<=\n)\r?\n)?^[ \t]*\[\s*{name}\s*\][^\n]*\n?", re.MULTILINE)
    found = header.search(text)
    if found is None:
        raise InvalidInput(f"there is no table [{'.'.join(path)}] on lines of its own")
    following = re.compile(r"^[ \t]*(?:\[|#|\r?$)", re.MULTILINE).search(text, found.end())
    return text[: found.start()] + (text[following.start() :] if following else "")
