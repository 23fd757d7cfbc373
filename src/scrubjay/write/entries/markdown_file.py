"""An entry as a Markdown file: its fields in front, its description below, each as it is stored."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.markdown import first_heading, front_matter
from scrubjay.types import Link, Memory
from scrubjay.write.entries import yaml as entry_yaml
from scrubjay.write.entries.fields import ALSO, FIELDS, fields_of, given_from
from scrubjay.write.entries.yaml import Plain

# What a person looks for first stands first; the context may be long, so it stands last.
_ORDER = (
    "id title type topics severity domain valid_from valid_until created_at updated_at event_time"
    " event_until namespace collection session role owner agent source links metadata context text"
).split()
_OPENING = "---"
_FIELD = re.compile(r"(\w+):(?:\s|$)")
_BELOW_A_FIELD = re.compile(r"\s|-\s|#|$")


def to_markdown(memory: Memory) -> str:
    """Return the file of a memory; `from_markdown` gives every field of it back."""
    found = fields_of(memory)
    # Editors and version control take a file with a zero byte for no text.
    body = "" if "\0" in memory.text else found.pop("text")
    front = {}
    for name in _ORDER:
        if name in found:
            front["tags" if name == "topics" else name] = _written(memory, name, found[name])
    return f"{_OPENING}\n{entry_yaml.dump(front)}{_OPENING}\n\n{body}\n"


def from_markdown(text: str, stem: str) -> dict[str, Any]:
    """Return what `add` takes out of a file's text; `stem` is its title where nothing else says one.

    One line's end after the front matter, and one at the end, are the file's and not the text's.
    """
    if text.startswith(f"{_OPENING}\r\n"):
        # We write plain line feeds: it was made, or converted, where lines end otherwise.
        text = text.replace("\r\n", "\n")
    block, start = front_matter(text)
    first = text.partition("\n")[0].strip()
    if not start and first == _OPENING:
        raise InvalidInput("the front matter is not closed; end it with a line of ---")
    if not start and _has_lost_its_opening(text):
        raise InvalidInput("the front matter has no first line of ---; put one above it")
    if not start:
        body = text.removesuffix("\n")
        return {"text": body, "title": first_heading(body) or stem}
    if first != _OPENING:
        raise InvalidInput("the front matter is TOML; write it as YAML between two lines of ---")
    given = given_from(entry_yaml.load(block))
    given["links"] = _links(given.get("links"))
    body = text[start:].removeprefix("\n").removesuffix("\n")
    if given.get("text") is None:
        given["text"] = body
    elif body.strip():
        raise InvalidInput("the description is in the front matter and below it; keep one of them")
    return given


def _has_lost_its_opening(text: str) -> bool:
    """True for lines of fields at the very beginning that only a closing --- follows.

    One line above --- is a heading of Markdown, and may have a colon in it.
    """
    names: set[str] = set()
    for number, line in enumerate(text.split("\n")):
        if line.rstrip() == _OPENING:
            known = names & {*FIELDS, *ALSO}
            return "id" in known or len(known) > 1
        field = _FIELD.match(line)
        if field:
            names.add(field[1])
        elif number == 0 or not _BELOW_A_FIELD.match(line):
            return False
    return False


def id_in(text: str) -> str | None:
    """Return the id that a file gives itself, if it is the file of an entry."""
    block, _ = front_matter(text)
    try:
        found = entry_yaml.load(block).get("id") if block else None
    except InvalidInput:
        return None
    return found if isinstance(found, str) else None


def _written(memory: Memory, name: str, value: Any) -> Any:
    if name == "links":
        return [_link(one) for one in memory.links]
    moment = getattr(memory, name)
    return _moment(moment, name == "valid_until") if isinstance(moment, datetime) else value


def _moment(moment: datetime, until: bool) -> Plain:
    """Return a time as short as it can be read again: a whole day is a date."""
    at = moment.astimezone(UTC)
    if at.time() == (time.max if until else time.min):
        return Plain(at.date().isoformat())
    return Plain(at.replace(tzinfo=None).isoformat() + "Z")


def _link(link: Link) -> str | dict[str, Any]:
    usual = Link(link.to)
    if link == usual:
        return link.to
    differs = {k: v for k, v in link._asdict().items() if v != getattr(usual, k)}
    return {"to": link.to, **differs}


def _links(found: Any) -> Any:
    """Return links with their strengths as numbers: front matter gives texts."""
    if not isinstance(found, list):
        return found or ()
    return [_strong(one) for one in found]


def _strong(one: Any) -> Any:
    if isinstance(one, dict) and isinstance(one.get("strength"), str):
        return {**one, "strength": _number(one["strength"])}
    if isinstance(one, list) and len(one) > 1 and isinstance(one[1], str):
        return [one[0], _number(one[1]), *one[2:]]
    return one


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
