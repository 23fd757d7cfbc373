"""Plain technical English: words that make a sentence hard to read are not used."""

from __future__ import annotations

import re

import pytest
from places import ROOT

AVOIDED = re.compile(
    r"\b(whoever|somebody|nobody|anybody|everybody|anew|so many|be told|(?:is|are) told|is let"
    r"|has yet to|yet to be|who asks)\b",
    re.IGNORECASE,
)
# Prompts whose wording was measured, reasons that are stored, sample texts and program output.
QUOTED = {
    "src/scrubjay/conversations/extraction/prompt.py",
    "src/scrubjay/conversations/extraction/guardrails.py",
    "src/scrubjay/search/stages/present.py",
    "src/scrubjay/surfaces/cli/demo.py",
    "docs/extraction.md",
}
FILES = [
    *(ROOT / "src").rglob("*.py"),
    *(ROOT / "src").rglob("*.js"),
    *(ROOT / "docs").rglob("*.md"),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
]


@pytest.mark.parametrize("folder", ["src", "docs", "README.md", "CONTRIBUTING.md"])
def test_text_uses_plain_words(folder):
    """Names, messages, help and docs say who does what."""
    found = []
    for file in FILES:
        name = file.relative_to(ROOT).as_posix()
        if name.split("/")[0] != folder or name in QUOTED:
            continue
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if AVOIDED.search(line):
                found.append(f"{name}:{number}: {line.strip()}")
    assert found == []


def test_the_check_sees_a_word():
    """A test that cannot fail proves nothing."""
    assert AVOIDED.search("Whoever opens the store is told so")
    assert not AVOIDED.search("as many as fit")
