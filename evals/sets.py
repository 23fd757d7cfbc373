"""Test sets on disk: corpus.jsonl, queries.jsonl, qrels.tsv; some have one folder a conversation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrubjay.ops.eval.questions import CORPUS, QUERIES, judgements, objects


@dataclass(frozen=True)
class Part:
    """One corpus with its own questions. Sets of conversations have many, searched each on its own."""

    set_name: str
    folder: Path
    asks: Path | None = None  # the folder of the questions, where it is another one

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
        return [one for _, one in objects(self.folder / CORPUS)]

    def questions(self) -> list[dict[str, Any]]:
        """The questions that have judgements."""
        judged = self.judgements()
        asked = [one for _, one in objects((self.asks or self.folder) / QUERIES)]
        return [one for one in asked if one["id"] in judged]

    def judgements(self) -> dict[str, dict[str, float]]:
        """For each question, the grade of each judged document."""
        return judgements(self.folder)

    def fingerprint(self) -> str:
        """Changes when the corpus does."""
        return hashlib.sha256((self.folder / CORPUS).read_bytes()).hexdigest()[:16]


def find(root: Path, wanted: list[str]) -> dict[str, list[Part]]:
    """Return the sets below a folder, by name; `wanted` narrows them by prefix."""
    sets: dict[str, list[Part]] = {}
    for corpus in sorted(root.rglob(CORPUS)):
        folder = corpus.parent
        below = folder.relative_to(root).parts
        # Languages are sets of their own; conversations are parts of one.
        name = "/".join(below) if below[0] in ("xquad", "tldr") else below[0]
        if not wanted or any(name.startswith(one) for one in wanted):
            sets.setdefault(name, []).append(Part(name, folder))
    return sets


def across_languages(root: Path) -> dict[str, list[Part]]:
    """Return the sets of the same texts in several languages, each asked in every other language."""
    languages = [parts[0] for name, parts in find(root, ["xquad/"]).items()]
    return {
        f"{asked.folder.name} question, {texts.folder.name} text": [
            Part(texts.set_name, texts.folder, asked.folder)
        ]
        for texts in languages
        for asked in languages
        if texts != asked
    }
