"""Questions whose answers are known, as files: to measure how well a search finds them.

Either lines of JSON, `{"query": …, "expect": ["id", …]}`, about a store that is there; or a folder as public
test sets have it: `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
GRADES = ("qrels.tsv", "qrels/test.tsv")
_MOST = 1e6
_LINE = '{"query": "when do we deploy?", "expect": ["release-days"]}'


class Question(NamedTuple):
    """What is asked, and what should be found: how good each answer is, by its name."""

    text: str
    grades: Mapping[str, float]


def read(path: Path) -> list[Question]:
    """Return the questions of a file of JSON lines, or of a folder, that have an answer."""
    if not path.exists():
        raise InvalidInput(f"there is no {path}; give a file with lines such as {_LINE}")
    found = list(_of_folder(path) if path.is_dir() else _of_file(path))
    if not found:
        raise InvalidInput(f"{path} holds no question; a line is {_LINE}")
    return found


def has_corpus(path: Path) -> bool:
    """True for a folder that brings the texts along that are to be found."""
    return (path / CORPUS).is_file()


def memories(folder: Path) -> list[dict[str, Any]]:
    """Return the corpus of a folder as `add_many` takes it; all of one age, so that none is newer."""
    return [_memory(place, one) for place, one in objects(folder / CORPUS)]


def judgements(folder: Path) -> dict[str, dict[str, float]]:
    """Return how good each judged text is, for each question that has a good one."""
    path = next((folder / name for name in GRADES if (folder / name).is_file()), None)
    if path is None:
        raise InvalidInput(f"there is no {GRADES[0]} in {folder}: question, text, grade, by tabs")
    grades: dict[str, dict[str, float]] = {}
    for number, line in enumerate(_text(path).splitlines(), 1):
        cells = line.split("\t")
        if not line.strip() or (number == 1 and cells[2:] and _is_heading(cells[2])):
            continue
        if len(cells) != 3 or not _is_number(cells[2]):
            raise InvalidInput(f"{path}:{number}: it must be question, text and grade, by tabs")
        # Some sets say -1 of what is worse than nothing; it is no answer either way.
        grades.setdefault(cells[0], {})[cells[1]] = max(float(cells[2]), 0.0)
    return {name: of for name, of in grades.items() if any(grade > 0 for grade in of.values())}


def queries(folder: Path) -> dict[str, str]:
    """Return the questions of a folder, by their names."""
    return {
        _name(place, one): _words(place, one.get("text"), "text")
        for place, one in objects(folder / QUERIES)
    }


def _of_folder(folder: Path) -> Iterator[Question]:
    if not (folder / QUERIES).is_file():
        below = sorted(one.parent.name for one in folder.glob(f"*/{QUERIES}"))
        more = f"; these have one: {', '.join(below[:5])}" if below else ""
        raise InvalidInput(f"there is no {QUERIES} in {folder}{more}")
    judged, asked = judgements(folder), queries(folder)
    if not judged.keys() & asked.keys():
        raise InvalidInput(f"no question of {folder / QUERIES} has a good answer in {GRADES[0]}")
    for name, text in asked.items():
        if name in judged:
            yield Question(text, judged[name])


def _of_file(path: Path) -> Iterator[Question]:
    for place, one in objects(path):
        unknown = [name for name in one if name not in ("query", "expect", "id")]
        if unknown:
            raise InvalidInput(f"{place}: there is no field {unknown[0]!r}; a line is {_LINE}")
        yield Question(
            _words(place, one.get("query"), "query"), _expected(place, one.get("expect"))
        )


def _expected(place: str, given: object) -> dict[str, float]:
    """Read names, or names with grades: 2 is better than 1, and 0 is not an answer."""
    if isinstance(given, str):
        given = [given]
    if isinstance(given, list) and given and all(isinstance(one, str) and one for one in given):
        return {str(one): 1.0 for one in given}
    if isinstance(given, dict) and _are_grades(given.values()):
        return {name: float(grade) for name, grade in given.items()}
    raise InvalidInput(
        f"{place}: `expect` must be ids or paths of files, in quotes, such as"
        ' ["release-days", "notes/deploy.md"], or {"release-days": 2, "notes/deploy.md": 1}'
    )


def _memory(place: str, document: dict[str, Any]) -> dict[str, Any]:
    name, text, title = _name(place, document), document.get("text"), document.get("title")
    for given, what in ((text, "text"), (title, "title")):
        if given is not None and not isinstance(given, str):
            raise InvalidInput(f"{place}: `{what}` must be a text")
    return {
        "id": name,
        "title": title or None,
        "text": text if text and text.strip() else (title or "(empty)"),
        "created_at": "2026-01-01",
        "metadata": {"format": "markdown"} if name.endswith(".md") else {},
    }


def _name(place: str, one: dict[str, Any]) -> str:
    return _words(place, one.get("id", one.get("_id")), "id")


def _words(place: str, given: object, what: str) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidInput(f"{place}: `{what}` must be a text that is not empty")
    return given


def objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each object of a file of JSON lines, with where it stands."""
    for number, line in enumerate(_text(path).split("\n"), 1):  # U+2028 in a text ends no line
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            one = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{place}: this is no JSON ({error}); a line is {_LINE}") from error
        if not isinstance(one, dict):
            raise InvalidInput(f"{place}: this is no object; a line is {_LINE}")
        yield place, one


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not text in UTF-8 ({error.reason})") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error


def _are_grades(given: Collection[object]) -> bool:
    numbers = [one for one in given if type(one) in (int, float) and 0 <= one <= _MOST]  # type: ignore[operator]
    return any(numbers) and len(numbers) == len(given)


def _is_heading(text: str) -> bool:
    return text.isalpha() and text.lower() not in ("nan", "inf", "infinity")


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
