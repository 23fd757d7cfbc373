"""Our language detection beside py3langid's: the table of decision 006.

    pip install --target PACKAGES py3langid
    pip download --no-deps django && unzip Django-*.whl -d DJANGO
    SCRUBJAY_EVAL_DATA=…/eval PYTHONPATH=PACKAGES python -m tools.compare_detectors DJANGO

Sentences are Django's translations of at least four words, every second one: the others (`--even`)
are what the lists were improved on. Questions and documents are those of the test sets.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evals.sets import find

from scrubjay.text.languages import _BLOCKS, detect, word_lists

# Catalogues that are not simply named by their language, and what they are in.
LOCALES = {"zh_Hans": "zh", "zh_Hant": "zh", "nb": "no", "nn": "no", "sr_Latn": "sr"}
SKIPPED = {"ckb"}  # Kurdish in Arabic letters; what py3langid calls Kurdish is in Latin ones
SETS = {"xquad/ar": "ar", "xquad/en": "en", "xquad/zh": "zh", "tldr/de": "de"}
SURE = 0.5  # py3langid always answers; it is also counted with its less probable answers as unsure
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]?|%[a-z%]|\{[^}]*\}|<[^>]*>|&\w+;|\\.")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")

Detector = Callable[[str], str]


class Sample(NamedTuple):
    """A text, its language, and the rows of the table that count it."""

    text: str
    language: str
    rows: tuple[str, ...]


class Count(NamedTuple):
    """How often a detector was right, wrong and unsure."""

    right: int = 0
    wrong: int = 0
    unsure: int = 0

    def plus(self, found: str, language: str) -> Count:
        """Return the count with one answer more."""
        if not found:
            return self._replace(unsure=self.unsure + 1)
        if found == language:
            return self._replace(right=self.right + 1)
        return self._replace(wrong=self.wrong + 1)


def catalogue(path: Path) -> Iterator[tuple[str, str]]:
    """Yield original and translation of each message of a .po file; of plurals, the first."""
    for entry in path.read_text(encoding="utf-8").split("\n\n"):
        if "#, fuzzy" in entry:
            continue
        parts: dict[str, str] = {}
        key = ""
        for line in entry.splitlines():
            if match := re.match(r'(msg\w+(?:\[\d\])?) "(.*)"$', line):
                key = match[1]
                parts[key] = match[2]
            elif line.startswith('"') and key:
                parts[key] += line[1:-1]
        if parts.get("msgid"):  # the catalogue's own header has none
            yield parts["msgid"], parts.get("msgstr", parts.get("msgstr[0]", ""))


def length(text: str) -> int:
    """Return how many words a text has; two characters are one where no spaces are written."""
    letters = len(UNSPACED.findall(text))
    return letters // 2 if letters > len(text) / 3 else len(text.split())


def sentences(root: Path, *, odd: bool) -> Iterator[Sample]:
    """Yield the translations that are sentences, each once in a language."""
    seen: set[tuple[str, str]] = set()
    places: dict[str, int] = {}
    for path in sorted(root.rglob("locale/*/LC_MESSAGES/django.po")):
        locale = path.parts[-3]
        language = LOCALES.get(locale, locale)
        for original, translated in catalogue(path):
            # English is what the German catalogue translates from.
            pairs = [(locale, language, translated)] if translated != original else []
            pairs += [("en", "en", original)] if locale == "de" else []
            for name, code, raw in pairs:
                text = " ".join(PLACEHOLDER.sub(" ", raw).split())
                words = length(text)
                if "_" in language or locale in SKIPPED or words < 4 or (name, text) in seen:
                    continue
                seen.add((name, text))
                places[name] = places.get(name, 0) + 1
                if places[name] % 2 == odd:
                    yield Sample(text, code, (name, f"{'4-6' if words < 7 else '7+'} words"))


def judged(root: Path) -> Iterator[Sample]:
    """Yield the questions and documents of the test sets."""
    for name, code in SETS.items():
        for part in find(root, [name]).get(name, []):
            for question in part.questions():
                yield Sample(question["text"], code, (f"{name}, questions",))
            for document in part.documents():
                yield Sample(document["text"], code, (f"{name}, documents",))


def peer(least: float) -> Detector:
    """Return py3langid, unsure where its answer is less probable than this."""
    model: Any = importlib.import_module("py3langid.langid")
    identifier = model.LanguageIdentifier.from_model_file(model.MODEL_FILE, norm_probs=True)

    def classify(text: str) -> str:
        code, probability = identifier.classify(text)
        return "" if probability < least else LOCALES.get(code, code)

    return classify


def knows(language: str) -> bool:
    """True when we could give this answer."""
    return language in word_lists() or language in {name for _, name in _BLOCKS} | {"ja", "zh"}


def count(samples: list[Sample], detector: Detector) -> dict[str, Count]:
    """Return a detector's counts for each row; languages that we do not know are one row."""
    rows: dict[str, Count] = {}
    for text, language, names in samples:
        found = detector(text)
        for name in names if knows(language) else ("languages without a list",):
            rows[name] = rows.get(name, Count()).plus(found, language)
    return rows


def seconds(detectors: list[Detector], texts: list[str]) -> list[float]:
    """Return the time of each over the texts: in turns, the best of fifteen, as machines are shared."""
    best = [float("inf")] * len(detectors)
    for _ in range(15):
        for at, detector in enumerate(detectors):
            began = time.perf_counter()
            for text in texts:
                detector(text)
            best[at] = min(best[at], time.perf_counter() - began)
    return best


def first_answer(statement: str) -> float:
    """Return the time from import to the first answer in a fresh process, the best of five."""
    program = f"import time; began = time.perf_counter(); {statement}; print(time.perf_counter() - began)"
    command = [sys.executable, "-c", program]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="compare_detectors", description=__doc__)
    parser.add_argument("django", type=Path, help="a folder with Django's catalogues below it")
    parser.add_argument("--even", action="store_true", help="the half that was developed on")
    given = parser.parse_args(arguments)
    samples = list(sentences(given.django, odd=not given.even))
    if data := os.environ.get("SCRUBJAY_EVAL_DATA"):
        samples += judged(Path(data))
    theirs = peer(0.0)
    counts = [count(samples, detector) for detector in (detect, theirs, peer(SURE))]
    each = "right | wrong | unsure"
    print(f"| | texts | ours: {each} | py3langid: {each} | py3langid, p >= {SURE}: {each} |")
    print("|---|---" + "|---" * 9 + "|")
    for name in sorted(counts[0], key=lambda one: (len(one) > 7, one)):
        cells = [str(number) for of in counts for number in of[name]]
        print(f"| {name} | {sum(counts[0][name])} | " + " | ".join(cells) + " |")
    english = [one.text for one in samples if one.language == "en"][:100]
    ask = "detect('where are the keys')"
    ours_first = first_answer(f"from scrubjay.text.languages import detect; {ask}")
    theirs_first = first_answer(f"from py3langid import classify as detect; {ask}")
    print(
        f"\nfirst answer, import included: py3langid takes {theirs_first / ours_first:.1f} x ours"
    )
    ours_each, theirs_each = seconds([detect, theirs], english)
    print(f"an English sentence: py3langid takes {theirs_each / ours_each:.1f} x ours")


if __name__ == "__main__":
    main()
