"""Prints the files and functions that one call passes through, in order, with the count of files last.

`python -m tools.walk search` or `python -m tools.walk add`; `--write` puts both into
`docs/architecture.md`. The store is a file with a few memories that
are embedded; the call is the second of its kind, so that what is loaded once is not counted. Threads are
not followed: `add` is shown up to its commit, and vectors are made after that.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import scrubjay

PACKAGE = Path(scrubjay.__file__).parent
PAGE = Path(__file__).resolve().parent.parent / "docs" / "architecture.md"
VERBS = ("search", "add")
NOTES = (
    "Oriel must never eat shrimp, crab or mussels",
    "E_CACHE_4417 means that two workers warm the same shard",
    "The database moved to Postgres 16 in March",
    "Prefers Python for back ends",
)


def main(arguments: list[str]) -> int:
    """Print one walk; the exit status says whether the call was known."""
    if arguments == ["--write"]:
        for verb in VERBS:
            write(verb, report(walk(verb)))
    elif len(arguments) == 1 and arguments[0] in VERBS:
        print(report(walk(arguments[0])))
    else:
        print("usage: python -m tools.walk search|add|--write", file=sys.stderr)
        return 2
    return 0


def write(verb: str, printed: str) -> None:
    """Replace what the page says of a walk, between its two comments."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- walk {verb} -->\n", "<!-- end -->"
    before, _, rest = page.partition(begin)
    after = rest[rest.index(end) :]
    PAGE.write_text(f"{before}{begin}```text\n{printed}\n```\n{after}", encoding="utf-8")


def walk(verb: str) -> list[tuple[str, str]]:
    """Return each (file, function) of the package that one call enters, once each, in order."""
    with (
        tempfile.TemporaryDirectory() as folder,
        scrubjay.open(Path(folder) / "notes.db") as store,
    ):
        store.add_many([{"text": text} for text in NOTES])
        store.pending()
        calls: dict[str, Callable[[str], object]] = {"search": store.search, "add": store.add}
        call = calls[verb]
        call("which database do we use?")
        return entered(lambda: call("who is allergic to seafood?"))


def entered(call: Callable[[], object]) -> list[tuple[str, str]]:
    """Run a call and return the functions of the package that it enters in this thread."""
    seen: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code: CodeType = frame.f_code
            file = Path(code.co_filename)
            if file.is_relative_to(PACKAGE) and not code.co_name.startswith("<"):
                name = file.relative_to(PACKAGE).as_posix()
                seen.setdefault((name, code.co_qualname))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


def report(steps: list[tuple[str, str]]) -> str:
    """Return the walk as text: a line for each file, in the order of first entry, with its functions."""
    by_file: dict[str, list[str]] = {}
    for file, function in steps:
        by_file.setdefault(file, []).append(function)
    lines = [f"{file}: {', '.join(functions)}" for file, functions in by_file.items()]
    return "\n".join([*lines, f"{len(by_file)} files, {len(steps)} functions"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
