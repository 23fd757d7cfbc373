"""What is fuzzed: a name, a check of one input, inputs to begin with, and words to build others from."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "fuzz" / "corpus"

Check = Callable[[bytes], None]


class Target(NamedTuple):
    """A target: `open` provides its check, which raises when the project did something wrong.

    `parts` are the files, relative to the package, whose lines count as its coverage. `renewed` is the
    number of inputs after which it is opened again, because its store fills up. With `grows`, inputs are
    also repeated until they are long, to see whether time grows faster than length.
    """

    name: str
    open: Callable[[], AbstractContextManager[Check]]
    parts: tuple[str, ...]
    seeds: tuple[bytes, ...]
    words: tuple[str, ...] = ()
    renewed: int = 1_000_000
    grows: bool = False
    max_bytes: int = 600


def text_of(data: bytes) -> str:
    """Return any bytes as text; bytes that are not UTF-8 become halves of surrogate pairs."""
    return data.decode("utf-8", "surrogateescape")


def read_corpus(name: str, folder: Path = CORPUS) -> list[bytes]:
    """Return the kept inputs of a target."""
    file = folder / f"{name}.jsonl"
    if not file.exists():
        return []
    lines = file.read_text(encoding="ascii").splitlines()
    return [json.loads(line).encode("utf-8", "surrogateescape") for line in lines]


def write_corpus(name: str, inputs: list[bytes], folder: Path = CORPUS) -> int:
    """Keep inputs, each as a line of JSON; return the size of the file."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{json.dumps(text_of(one))}\n" for one in inputs)
    return (folder / f"{name}.jsonl").write_text(text, encoding="ascii", newline="\n")
