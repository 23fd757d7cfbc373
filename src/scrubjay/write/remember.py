"""From what a caller gives to what is stored: checked, named, hashed, folded, written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.storage.sql.records import language_of
from scrubjay.storage.sql.scope import PEOPLES
from scrubjay.text.analysis import label, normalise
from scrubjay.text.validation import MOST_NAME_CHARS, check_text, checked_name
from scrubjay.times import parse, parse_there
from scrubjay.types import DEFAULT_NAMESPACE, SEVERITIES, Link, Memory, Scope
from scrubjay.write.chunking import split
from scrubjay.write.event_time import dated
from scrubjay.write.fold import folded

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.write.context import Shelf

_FIELDS = Memory._fields
_TIMES = ("updated_at", "event_time", "event_until", "valid_from", "valid_until")
_TEXTS = (
    "id title type namespace collection session role owner agent severity domain context source"
).split()
_DERIVED = ("content_hash", "language")
_EVERYTHING = Scope()


def draft(given: Mapping[str, Any]) -> Memory:
    """Check what a caller gave and return it as a memory without an id of its own yet.

    Its `created_at` is left in the time zone it was given with: what it says of yesterday is meant there.
    """
    unknown = [key for key in given if key not in _FIELDS]
    if unknown:
        raise InvalidInput(
            f"a memory has no field {unknown[0]!r}; its fields are"
            f" {', '.join(one for one in _FIELDS if one not in _DERIVED)}"
        )
    values = {k: v for k, v in given.items() if v is not None and k not in _DERIVED}
    for name in ("text", *_TEXTS):
        check_text(name, values.get(name, ""))
    for name in _TIMES:
        # Who says that something holds until a day means that day, too.
        values[name] = parse(values.get(name), name, end_of_day=name == "valid_until")
    values["created_at"] = parse_there(values.get("created_at"), "created_at")
    if "severity" in values:
        values["severity"] = severity_of(values["severity"])
    if "domain" in values:  # a space around it would make it another domain
        values["domain"] = values["domain"].strip() or None
    if not normalise(values.get("text", "")):
        raise InvalidInput("text is empty; give the sentence or document to remember")
    if "collection" in values:
        values["collection"] = checked_name("collection", values["collection"], "notes")
    for name in ("type", "namespace"):
        values[name] = checked_name(
            name, values.get(name, {"type": "fact"}.get(name, DEFAULT_NAMESPACE))
        )
    if values["namespace"].endswith("/") and not values["namespace"].startswith(PEOPLES):
        raise InvalidInput(
            f"namespace is {values['namespace']!r}, which stands for all of a project; write into one"
            f" of it, such as {values['namespace'] + 'notes'!r}"
        )
    values["id"] = values.get("id", "").strip()
    for name in ("id", "session", "owner", "agent"):
        if len(values.get(name, "")) > MOST_NAME_CHARS:
            raise InvalidInput(
                f"{name} has {len(values[name])} characters; at most {MOST_NAME_CHARS}"
            )
    values["topics"] = topics_of(values.get("topics", ()))
    values["links"] = links_of(values.get("links", ()))
    values["metadata"] = _metadata(values.get("metadata", {}))
    values["content_hash"] = content_hash(values["text"])
    _check_window(values["valid_from"], values["valid_until"])
    return Memory(**values)


def severity_of(given: str) -> str | None:
    """Return a severity in its one form, nothing for an empty one; refuse what is none."""
    severity = given.strip().casefold()
    if severity and severity not in SEVERITIES:
        raise InvalidInput(f"severity is {given!r}; it must be one of {', '.join(SEVERITIES)}")
    return severity or None


def _check_window(begins: datetime | None, ends: datetime | None) -> None:
    if begins and ends and ends <= begins:
        raise InvalidInput(
            f"valid_until is {ends.isoformat()} and valid_from {begins.isoformat()}: the window ends"
            " before it begins; swap them, or leave one out"
        )


class Remembered(NamedTuple):
    """A memory as it is stored now, and whether it, or what it replaces, was there before."""

    memory: Memory
    known: bool


def remember(shelf: Shelf, memory: Memory, visible: Scope, changeable: Scope) -> Remembered:
    """Store one memory inside the caller's transaction; return it, and whether it was there.

    With an id it replaces the memory of that id. Without one, the same text, type and namespace is
    the same memory, which takes over what else is given; messages are never folded. What the caller
    may not change is not replaced, and what they may not see is not linked.
    """
    records, now = shelf.records, shelf.clock()
    before: Memory | None = None
    if memory.id:
        before = replaced(records, memory.id, changeable)
    elif memory.type != "message":
        same = records.same(memory.content_hash, memory.type, memory.namespace)
        if same is not None:
            kept = records.get([same], Scope())[same]
            merged = folded(kept, memory, now.astimezone(UTC))
            if merged is kept and not memory.links:
                return Remembered(kept, known=True)
            merged = merged._replace(links=memory.links)
            return Remembered(store(shelf, merged, visible)._replace(links=()), known=True)
    updated = memory.updated_at or memory.created_at or now
    memory = dated(memory, now, before)._replace(updated_at=updated.astimezone(UTC))
    if not memory.id:
        memory = memory._replace(id=new_id(records, memory, only_one=memory.type != "message"))
    return Remembered(store(shelf, memory, visible), known=before is not None)


def replaced(records: SqlRecords, id_: str, changeable: Scope) -> Memory | None:
    """Return the memory that an id replaces, if any; refuse one that the caller may not change."""
    before = records.get([id_], _EVERYTHING).get(id_)
    if before and not records.get([id_], changeable):
        raise InvalidInput(f"id {id_!r} is taken in another namespace; give another id")
    return before


def store(shelf: Shelf, memory: Memory, visible: Scope = _EVERYTHING) -> Memory:
    """Write a finished memory, its chunks and its links; return it with the language it is in."""
    records, format = shelf.records, str(memory.metadata.get("format", "text"))
    memory = memory._replace(language=language_of(memory))
    records.put(memory, split(memory.text, format, shelf.cutting))
    known = records.get([link.to for link in memory.links], visible)
    for link in memory.links:
        if link.to == memory.id:
            raise InvalidInput(f"{memory.id} cannot be linked to itself; leave it out of links")
        if link.to not in known:
            raise NotFound(f"links names {link.to!r}, but no memory has that id")
        shelf.graph.link(memory.id, link.to, link.strength, link.kind)
    return memory


def content_hash(text: str) -> str:
    """Return the hash under which two texts count as the same."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()


def new_id(records: SqlRecords, memory: Memory, *, only_one: bool = False) -> str:
    """Return a short id made from the content, so that equal stores have equal ids.

    Of one that is the `only_one` with its content, nobody has to count the others.

    Where people have namespaces, a secret of the store is in it: who can guess what another has stored
    must not find out by asking for its id.
    """
    place = records.secret(memory.namespace) + memory.namespace
    seed = "\0".join((place, memory.type, memory.session or "", memory.content_hash))
    # The same message may be said a thousand times: begin where the last one ended.
    content = (memory.content_hash, memory.type, memory.namespace)
    said = 0 if only_one else records.times_stored(*content)
    for attempt in range(said, said + 1_000_000):
        digest = hashlib.sha256(f"{seed}\0{attempt}".encode()).digest()
        made = "".join(_ID_LETTERS[byte & 31] for byte in digest[:12])
        if not records.holds(made):
            return made
    raise InvalidInput("this text is stored a million times already; give ids of your own")


_ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # no i, l, o, u: nothing to misread


def topics_of(given: object, name: str = "topics") -> tuple[str, ...]:
    """Return topics folded to one form: lower case, single spaces, no doubles."""
    if isinstance(given, str):
        given = given.split(",")
    if not isinstance(given, Iterable):
        raise InvalidInput(f"{name} is {given!r}; give a list of texts")
    topics: dict[str, None] = {}
    one = name.removesuffix("s")
    for topic in given:
        if normalise(check_text(one, topic)):
            topics[checked_name(one, label(topic), "python")] = None
    return tuple(topics)


def links_of(given: object) -> tuple[Link, ...]:
    """Return links from ids, (id, strength) pairs, mappings or Link objects."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InvalidInput(f"links is {given!r}; give a list of ids or of (id, strength) pairs")
    return tuple(_link(one) for one in given)


def _link(one: object) -> Link:
    if isinstance(one, Link):
        link = one
    elif isinstance(one, str):
        link = Link(one)
    elif isinstance(one, Mapping) and {"to"} <= one.keys() <= {"to", "strength", "kind"}:
        link = Link(**one)
    elif isinstance(one, Sequence) and 2 <= len(one) <= 3:
        link = Link(*one)
    else:
        raise InvalidInput(f"link {one!r} is neither an id nor an (id, strength) pair")
    check_strength(link.strength)
    check_text("link", link.to)
    checked_name("kind", link.kind)
    return link


def check_strength(strength: object) -> None:
    """Refuse a strength outside 0..1."""
    if (
        isinstance(strength, bool)
        or not isinstance(strength, int | float)
        or not 0 < strength <= 1
    ):
        raise InvalidInput(f"strength is {strength!r}; it must be above 0 and at most 1")


def _metadata(given: object) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"metadata is {given!r}; give a mapping")
    try:
        plain = json.loads(json.dumps(dict(given), ensure_ascii=False, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"metadata cannot be written as JSON: {error}") from error
    check_text("metadata", json.dumps(plain, ensure_ascii=False))
    return dict(plain)
