"""JSON lines of a file, one at a time: a broken or endless line does not stop the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from scrubjay.write.importers.record import Broken

_MOST_BYTES = 64 * 1024 * 1024  # of a line: transcripts contain whole images


class Line(NamedTuple):
    """One object and its place, `FILE:LINE`."""

    where: str
    number: int
    value: dict[str, Any]


def lines_of(path: str) -> Iterator[Line | Broken]:
    """Yield the objects of a file, and the lines that are none."""
    with open(path, "rb") as file:
        number = 0
        while data := file.readline(_MOST_BYTES):
            number += 1
            where, whole = f"{path}:{number}", data.endswith(b"\n")
            if not whole and len(data) == _MOST_BYTES:
                while data and not data.endswith(b"\n"):
                    data = file.readline(_MOST_BYTES)
                yield Broken(where, f"the line has more than {_MOST_BYTES // 1024**2} MB")
            elif data.strip():
                yield _parsed(where, number, data, whole=whole)


def _parsed(where: str, number: int, data: bytes, *, whole: bool) -> Line | Broken:
    try:
        value = json.loads(data.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError:
        return Broken(where, "not UTF-8 text")
    except RecursionError:
        return Broken(where, "nested too deeply to be read")
    except ValueError as error:
        if not whole:
            return Broken(
                where, "the file ends in the middle of this line; import it again when whole"
            )
        return Broken(where, f"not JSON: {error}")
    if not isinstance(value, dict):
        return Broken(where, "not a JSON object")
    return Line(where, number, value)
