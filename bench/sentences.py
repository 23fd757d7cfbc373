"""Real sentences: of a folder of text, or of the docstrings that every Python brings along.

Made-up vectors lie in round clusters, and a rotation has nothing to find in those.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.corpus import Vectors

CACHE = Path(".cache") / "bench"
_LEAST_CHARS = 25
_MOST_CHARS = 240
_LEAST_WORDS = 5
_AT_ONCE = 256
_ENOUGH = 2
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])|\n\s*\n|\n\s*[-*:>]")
_TEXT = (".txt", ".md", ".rst")


def sentences(count: int, folder: Path | None) -> list[str]:
    """Return so many different sentences, or as many as there are; the same files give the same."""
    seen: dict[str, str] = {}
    for text in _of_folder(folder) if folder is not None else _of_python():
        if folder is None and len(seen) >= _ENOUGH * count:  # to read every package takes minutes
            break
        for one in _END.split(text):
            line = " ".join(one.split())
            if _is_prose(line):
                seen.setdefault(line.casefold(), line)
    # In an order that follows from the words: neighbours in a file would be queries about each other.
    found = sorted(seen.values(), key=lambda line: hashlib.sha256(line.encode()).digest())
    return found[:count]


def embedded(texts: list[str]) -> Vectors:
    """Return the vectors of our own model, made once and kept below `.cache`."""
    from scrubjay.models.embed.local import OnnxEmbedder

    model = OnnxEmbedder()
    digest = hashlib.sha256("\n".join([model.name, *texts]).encode()).hexdigest()[:16]
    kept = CACHE / f"vectors-{len(texts)}-{digest}.npy"
    if kept.exists():
        found: Vectors = np.load(kept)
        return found
    vectors = np.empty((len(texts), model.dims), np.float32)
    # By length: a batch is as wide as its longest text.
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    for start in range(0, len(order), _AT_ONCE):
        batch = order[start : start + _AT_ONCE]
        vectors[batch] = model.embed([texts[at] for at in batch])
        if start // _AT_ONCE % 40 == 0:
            print(f"embedded {start:,} of {len(texts):,}", file=sys.stderr, flush=True)
    kept.parent.mkdir(parents=True, exist_ok=True)
    half = kept.with_suffix(".part.npy")
    np.save(half, vectors)
    half.replace(kept)
    return vectors


def _is_prose(line: str) -> bool:
    letters = sum(one.isalpha() or one == " " for one in line)
    return (
        _LEAST_CHARS <= len(line) <= _MOST_CHARS
        and len(line.split()) >= _LEAST_WORDS
        and letters >= 0.85 * len(line)
    )


def _of_folder(folder: Path) -> Iterator[str]:
    """Texts of a folder: whole files, or every text in lines of JSON."""
    for file in sorted(folder.rglob("*")):
        if file.suffix in _TEXT:
            yield file.read_text(encoding="utf-8", errors="replace")
        elif file.suffix == ".jsonl":
            with file.open(encoding="utf-8") as lines:
                for line in lines:
                    yield from _strings(json.loads(line))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


def _of_python() -> Iterator[str]:
    """Docstrings of the standard library and of what is installed beside it."""
    roots = dict.fromkeys(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
    for root in roots:
        for file in sorted(Path(root).rglob("*.py")):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # old packages have odd escapes
                    tree = ast.parse(file.read_bytes())
            except (SyntaxError, ValueError, RecursionError):
                continue  # some are there to be wrong: tests of parsers
            for node in ast.walk(tree):
                if isinstance(
                    node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
                ):
                    said = ast.get_docstring(node)
                    if said:
                        yield said
