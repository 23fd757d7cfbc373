"""Test sets on disk: corpus.jsonl, queries.jsonl, qrels.tsv; some have one folder a conversation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Part:
    """One corpus with its own questions. Sets of conversations have many, searched each on its own."""

    set_name: str
    folder: Path

    @property
    def name(self) -> str:
        """The set, and the part where there are several."""
        return (
            f"{self.set_name}/{self.folder.name}"
            if self.folder.name != self.set_name
            else self.set_name
        )

    def documents(self) -> list[dict[str, Any]]:
        """The corpus."""
        return list(_lines(self.folder / "corpus.jsonl"))

    def questions(self) -> list[dict[str, Any]]:
        """The questions that have judgements."""
        judged = self.judgements()
        return [one for one in _lines(self.folder / "queries.jsonl") if one["id"] in judged]

    def judgements(self) -> dict[str, dict[str, float]]:
        """For each question, the grade of each judged document."""
        grades: dict[str, dict[str, float]] = {}
        with (self.folder / "qrels.tsv").open(encoding="utf-8") as file:
            next(file)
            for line in file:
                question, document, grade = line.rstrip("\n").split("\t")
                grades.setdefault(question, {})[document] = float(grade)
        return {q: of for q, of in grades.items() if any(grade > 0 for grade in of.values())}

    def fingerprint(self) -> str:
        """Changes when the corpus does."""
        return hashlib.sha256((self.folder / "corpus.jsonl").read_bytes()).hexdigest()[:16]


def find(root: Path, wanted: list[str]) -> dict[str, list[Part]]:
    """Return the sets below a folder, by name; `wanted` narrows them by prefix."""
    sets: dict[str, list[Part]] = {}
    for corpus in sorted(root.rglob("corpus.jsonl")):
        folder = corpus.parent
        below = folder.relative_to(root).parts
        # Languages are sets of their own; conversations are parts of one.
        name = "/".join(below) if below[0] in ("xquad", "tldr") else below[0]
        if not wanted or any(name.startswith(one) for one in wanted):
            sets.setdefault(name, []).append(Part(name, folder))
    return sets


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)
