"""Read questions with known answers from files.
Either JSON lines, `{"query": …, "expect": ["id", …]}`, about an existing store; or a folder in the
format of public test sets: `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
GRADES = ("qrels.tsv", "qrels/test.tsv")
_MOST_GRADE = 1e6
_LINE = '{"query": "when do we deploy?", "expect": ["release-days"]}'


class Question(NamedTuple):
    """A query, and the grade of each expected answer by its id or path."""

    text: str
    grades: Mapping[str, float]


def read(path: Path) -> list[Question]:
    """Return the questions that have an answer, from JSON lines or a folder."""
    if not path.exists():
        raise InvalidInput(f"there is no {path}; give a file with lines such as {_LINE}")
    questions = list(_of_folder(path) if path.is_dir() else _of_file(path))
    if not questions:
        raise InvalidInput(f"{path} has no questions; write lines such as {_LINE}")
    return questions


def has_corpus(path: Path) -> bool:
    return (path / CORPUS).is_file()


def memories(folder: Path) -> list[dict[str, Any]]:
    """Return the corpus of a folder as `add_many` takes it; all of one date, so that none is newer."""
    return [_memory(place, document) for place, document in objects(folder / CORPUS)]


def judgements(folder: Path) -> dict[str, dict[str, float]]:
    """Return the grades of the judged texts, for each question that has a good answer."""
    path = next((folder / name for name in GRADES if (folder / name).is_file()), None)
    if path is None:
        raise InvalidInput(
            f"there is no {GRADES[0]} in {folder}; write question, text, grade, separated by tabs"
        )
    grades: dict[str, dict[str, float]] = {}
    for number, line in enumerate(_text(path).splitlines(), 1):
        cells = line.split("\t")
        if not line.strip() or (number == 1 and cells[2:] and _is_heading(cells[2])):
            continue
        if len(cells) != 3 or not _is_number(cells[2]):
            raise InvalidInput(
                f"{path}:{number}: the line must be question, text and grade, separated by tabs"
            )
        # Some sets grade a text that is worse than nothing with -1: it is not an answer either.
        grades.setdefault(cells[0], {})[cells[1]] = max(float(cells[2]), 0.0)
    return {name: of for name, of in grades.items() if any(grade > 0 for grade in of.values())}


def queries(folder: Path) -> dict[str, str]:
    return {
        _id(place, query): _nonempty(place, query.get("text"), "text")
        for place, query in objects(folder / QUERIES)
    }


def _of_folder(folder: Path) -> Iterator[Question]:
    if not (folder / QUERIES).is_file():
        below = sorted(file.parent.name for file in folder.glob(f"*/{QUERIES}"))
        more = f"; these folders have one: {', '.join(below[:5])}" if below else ""
        raise InvalidInput(f"there is no {QUERIES} in {folder}{more}")
    grades, texts = judgements(folder), queries(folder)
    if grades.keys().isdisjoint(texts):
        raise InvalidInput(f"no question of {folder / QUERIES} has a good answer in {GRADES[0]}")
    for name, text in texts.items():
        if name in grades:
            yield Question(text, grades[name])


def _of_file(path: Path) -> Iterator[Question]:
    for place, line in objects(path):
        unknown = [name for name in line if name not in ("query", "expect", "id")]
        if unknown:
            raise InvalidInput(f"{place}: unknown field {unknown[0]!r}; write {_LINE}")
        query = _nonempty(place, line.get("query"), "query")
        yield Question(query, _expected(place, line.get("expect")))


def _expected(place: str, given: object) -> dict[str, float]:
    """Read ids, or ids with grades: 2 is better than 1, and 0 is not an answer."""
    if isinstance(given, str):
        given = [given]
    if isinstance(given, list) and given and all(isinstance(id_, str) and id_ for id_ in given):
        return {str(id_): 1.0 for id_ in given}
    if isinstance(given, dict) and _are_grades(given.values()):
        return {name: float(grade) for name, grade in given.items()}
    raise InvalidInput(
        f"{place}: `expect` must be ids or paths of files, in quotes, such as"
        ' ["release-days", "notes/deploy.md"], or {"release-days": 2, "notes/deploy.md": 1}'
    )


def _memory(place: str, document: dict[str, Any]) -> dict[str, Any]:
    id_, text, title = _id(place, document), document.get("text"), document.get("title")
    for given, name in ((text, "text"), (title, "title")):
        if given is not None and not isinstance(given, str):
            raise InvalidInput(f"{place}: `{name}` must be a text")
    return {
        "id": id_,
        "title": title or None,
        "text": text if text and text.strip() else (title or "(empty)"),
        "created_at": "2026-01-01",
        "metadata": {"format": "markdown"} if id_.endswith(".md") else {},
    }


def _id(place: str, line: dict[str, Any]) -> str:
    return _nonempty(place, line.get("id", line.get("_id")), "id")


def _nonempty(place: str, given: object, name: str) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidInput(f"{place}: `{name}` must be a text that is not empty")
    return given


def objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each object of a file of JSON lines, with its path and line number."""
    for number, line in enumerate(_text(path).split("\n"), 1):  # U+2028 does not end a line
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{place}: not JSON ({error}); write {_LINE}") from error
        if not isinstance(value, dict):
            raise InvalidInput(f"{place}: not a JSON object; write {_LINE}")
        yield place, value


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text ({error.reason})") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error


def _are_grades(given: Collection[object]) -> bool:
    grades = [one for one in given if type(one) in (int, float) and 0 <= one <= _MOST_GRADE]  # type: ignore[operator]
    return any(grades) and len(grades) == len(given)


def _is_heading(text: str) -> bool:
    return text.isalpha() and text.lower() not in ("nan", "inf", "infinity")


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False
