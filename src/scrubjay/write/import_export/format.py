"""An entry as text: a Markdown file with front matter, or one line of JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time
from hashlib import sha256
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.text.markdown import first_heading, front_matter
from scrubjay.types import Link, Memory
from scrubjay.write.fields import DERIVED
from scrubjay.write.import_export.front_matter import dump, load

# What a person looks for comes first; the context may be long, so it comes last.
_ORDER = (
    "id title type topics severity domain valid_from valid_until created_at updated_at event_time"
    " event_until namespace collection session role owner agent source links metadata context text"
).split()
# JSON lines have the order of the class.
_FIELDS = ("id", *(name for name in Memory._fields if name not in ("id", *DERIVED)))
# In the vault profile, an entry's text is its description, and its topics are its tags.
_ALIASES = {"description": "text", "tags": "topics"}
_DEFAULTS = Memory("")._asdict()
_FENCE = "---"
_FIELD = re.compile(r"(\w+):(?:\s|$)")
_BELOW_A_FIELD = re.compile(r"\s|-\s|#|$")
_HASH_DIGITS = 16
_MARK = re.compile(rf"^# as exported: ([0-9a-f]{{{_HASH_DIGITS}}})$", re.M)
# Terminals may obey these even inside JSON, and some readers end a line at the last three.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}

ENDING = ".md"
# Lower case only: on some file systems A.md and a.md are one file, and two ids must not be.
_PLAIN_ID = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9_-])?")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")  # names that Windows reserves
_MOST_NAME_BYTES = 120


# -- JSON lines -------------------------------------------------------------------------------


def to_line(memory: Memory) -> str:
    """Return a memory as JSON on one line, without the line feed."""
    return json.dumps(_fields_of(memory), ensure_ascii=False).translate(_ESCAPED)


def from_line(line: str) -> dict[str, Any]:
    """Read a line of JSON into the arguments of `add`."""
    try:
        fields = json.loads(line)
    except RecursionError:
        raise InvalidInput("the line is nested too deeply to be read") from None
    except ValueError as error:
        raise InvalidInput(f"the line is not JSON: {error}; write one object per line") from None
    if not isinstance(fields, dict):
        raise InvalidInput('the line is not a JSON object; write it as {"text": "…"}')
    return _arguments(fields)


def _fields_of(memory: Memory) -> dict[str, Any]:
    """Return the fields of a memory as JSON values, without defaults and derived fields."""
    values = {name: getattr(memory, name) for name in _FIELDS}
    return {
        name: _plain(value)
        for name, value in values.items()
        if name in ("text", "id") or value != _DEFAULTS[name]
    }


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [item._asdict() if isinstance(item, Link) else item for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def _arguments(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields by the names that `add` has; refuse an unknown name."""
    given: dict[str, Any] = {}
    written: dict[str, str] = {}
    for key, value in fields.items():
        name = _ALIASES.get(key, key)
        if name in DERIVED:
            continue
        if name not in _FIELDS:
            raise InvalidInput(_unknown(key))
        if name in given:
            raise InvalidInput(f"{written[name]} and {key} are the same field; remove one of them")
        given[name], written[name] = value, key
    return given


def _unknown(key: str) -> str:
    from difflib import get_close_matches

    names = (*_FIELDS, *_ALIASES)
    near = get_close_matches(key.lower(), names, 1)
    hint = f"did you mean {near[0]}?" if near else f"its fields are {', '.join(names)}."
    return f"an entry has no field {key!r}; {hint} Put your own fields under metadata"


# -- Markdown ---------------------------------------------------------------------------------


def to_markdown(memory: Memory) -> str:
    """Return the file of a memory; `from_markdown` reads every field of it back."""
    fields = _fields_of(memory)
    # Editors and version control treat a file with a zero byte as binary.
    body = "" if "\0" in memory.text else fields.pop("text")
    front = {}
    for name in _ORDER:
        if name in fields:
            value = getattr(memory, name)
            if isinstance(value, datetime):
                fields[name] = _shortest(value, name)
            elif name == "links":
                fields[name] = list(map(_short_link, memory.links))
            front["tags" if name == "topics" else name] = fields[name]
    return f"{_FENCE}\n{dump(front)}{_FENCE}\n\n{body}\n"


def from_markdown(text: str, stem: str) -> dict[str, Any]:
    """Read a file into the arguments of `add`; `stem` is the title if the file has none. One line
    feed after the front matter and one at the end belong to the file, not to the text."""
    if text.startswith(f"{_FENCE}\r\n"):
        # We write plain line feeds: the file was made or converted on Windows.
        text = text.replace("\r\n", "\n")
    block, start = front_matter(text)
    first = text.partition("\n")[0].strip()
    if not start and first == _FENCE:
        raise InvalidInput("the front matter is not closed; end it with a line of ---")
    if not start and _has_lost_its_opening(text):
        raise InvalidInput("the front matter has no first line of ---; put one above it")
    if not start:
        body = text.removesuffix("\n")
        return {"text": body, "title": first_heading(body) or stem}
    if first != _FENCE:
        raise InvalidInput("the front matter is TOML; write it as YAML between two lines of ---")
    given = _arguments(load(block))
    links = given.get("links")
    given["links"] = list(map(_with_number, links)) if isinstance(links, list) else links or ()
    body = text[start:].removeprefix("\n").removesuffix("\n")
    if given.get("text") is None:
        given["text"] = body
    elif body.strip():
        raise InvalidInput(
            "the description is both in the front matter and below it; remove one of them"
        )
    return given


def id_in(text: str) -> str | None:
    """Return the id in the front matter of a file, if it is the file of an entry."""
    block, _ = front_matter(text)
    try:
        id_ = load(block).get("id") if block else None
    except InvalidInput:
        return None
    return id_ if isinstance(id_, str) else None


def _has_lost_its_opening(text: str) -> bool:
    """True for lines of fields at the very beginning that only a closing --- follows. One line
    above --- is a heading of Markdown, and may have a colon in it."""
    names: set[str] = set()
    for number, line in enumerate(text.split("\n")):
        if line.rstrip() == _FENCE:
            known = names & {*_FIELDS, *_ALIASES}
            return "id" in known or len(known) > 1
        field = _FIELD.match(line)
        if field:
            names.add(field[1])
        elif number == 0 or not _BELOW_A_FIELD.match(line):
            return False
    return False


def _shortest(value: datetime, name: str) -> date:
    """Return a day for a time that is exactly one; `valid_until` a day includes that day."""
    at = value.astimezone(UTC)
    return at.date() if at.time() == (time.max if name == "valid_until" else time.min) else at


def _short_link(link: Link) -> str | dict[str, Any]:
    default = Link(link.to)
    if link == default:
        return link.to
    return {k: v for k, v in link._asdict().items() if k == "to" or v != getattr(default, k)}


def _with_number(link: Any) -> Any:
    """Return a link with its strength as a number: front matter gives texts."""
    with suppress(ValueError):
        if isinstance(link, dict) and isinstance(link.get("strength"), str):
            return {**link, "strength": float(link["strength"])}
        if isinstance(link, list) and len(link) > 1 and isinstance(link[1], str):
            return [link[0], float(link[1]), *link[2:]]
    return link


# -- the mark of an export --------------------------------------------------------------------
# A comment with a hash of the file shows whether a person has changed it since the export. Times
# would not do: a link or a renamed topic changes an entry without changing its `updated_at`.


def marked(text: str) -> str:
    """Return the file of an entry with its mark at the end of the front matter."""
    block, _ = front_matter(text)
    at = text.index("\n") + 1 + len(block)
    return f"{text[:at]}# as exported: {_hash(text)}\n{text[at:]}"


def is_as_exported(text: str) -> bool:
    """True for a file as `marked` made it; converted line ends do not count as a change."""
    text = _plain_line_ends(text)
    block, _ = front_matter(text)
    marks = list(_MARK.finditer(block))
    if not marks or block[marks[-1].end() :] != "\n":
        return False
    at = text.index("\n") + 1
    first, last = at + marks[-1].start(), at + len(block)
    return _hash(text[:first] + text[last:]) == marks[-1][1]


def has_mark(text: str) -> bool:
    """True when a file was exported once, even if it was changed since."""
    return bool(_MARK.search(_plain_line_ends(text)))


def _plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n") if text.partition("\n")[0].endswith("\r") else text


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:_HASH_DIGITS]


# -- file names -------------------------------------------------------------------------------


def file_name(id_: str) -> str:
    """Return the file name of an id, safe on every file system: the id, or a readable part and a
    hash. A plain id has no tilde, so no other id gets its name."""
    if _PLAIN_ID.fullmatch(id_) and not _DEVICES.match(id_):
        return id_ + ENDING
    folded = unicodedata.normalize("NFC", id_.casefold())
    words = "".join(letter if letter.isalnum() else "-" for letter in folded)
    short = re.sub("-+", "-", words).encode()[:_MOST_NAME_BYTES].decode(errors="ignore").strip("-")
    return f"{short or 'entry'}~{_hash(id_)}{ENDING}"
