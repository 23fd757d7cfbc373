"""Landscape: overview of a store within a token budget, for an agent that has not searched yet.

Sections share the budget evenly; what one does not need goes to the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import normalize
from scrubjay.text.snippets import preview
from scrubjay.types import Memory

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.storage.sql.collections import SqlCopies
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.topics import SqlTopics
    from scrubjay.types import Scope

LEAST_TOKENS = 50
_CHARS_A_TOKEN = 4
_SHORTEST_LINE_CHARS = len("- 2026-05-03 [a] b\n")
# Maximum characters of a text and maximum topics: the first with which every line fits; otherwise as many
# lines as fit with the third, or with the last where not one fits with that.
_WIDTHS = ((200, 3), (120, 3), (80, 3), (40, 0))
_BEGINNING_CHARS = 2000  # the rest of a longer text is not read
_MOST_NAME_CHARS = 64
# In the order of the text: the name of a section, the type of its memories, and its title.
_LISTED = (
    ("preferences", "preference", "Preferences"),
    ("tasks", "task", "Open tasks"),
    ("summaries", "summary", "Latest summaries"),
    ("decisions", "decision", "Latest decisions"),
)
_EMPTY = "Nothing is stored here yet; a first memory comes from add(TEXT), or scrubjay add TEXT."


class Noted(NamedTuple):
    """A memory as a landscape shows it; `complete` is True when `text` is the whole text."""

    id: str
    text: str
    at: datetime | None
    topics: tuple[str, ...] = ()
    complete: bool = True


class Landscape(NamedTuple):
    """Overview of a store in at most `tokens`: `text`, and its contents as fields. `left_out` is the
    number of those that are not shown, for each field that has more."""

    tokens: int
    token_estimate: int
    memories: int
    types: Mapping[str, int]
    topics: Mapping[str, int]
    preferences: tuple[Noted, ...]
    tasks: tuple[Noted, ...]
    summaries: tuple[Noted, ...]
    decisions: tuple[Noted, ...]
    left_out: Mapping[str, int]
    text: str

    def __str__(self) -> str:
        return self.text


def landscape(
    records: SqlRecords, topics: SqlTopics, copies: SqlCopies, scope: Scope, tokens: int
) -> Landscape:
    """Return the overview of what a scope may see; a token is taken as four characters, as in a hit."""
    check_tokens(tokens)
    types = records.counts("type", scope)
    most = tokens * _CHARS_A_TOKEN // _SHORTEST_LINE_CHARS
    newest = {
        type_: records.scan(scope._replace(types=(type_,)), min(most, types[type_]))
        for _, type_, _ in _LISTED
        if type_ in types
    }
    ids = [memory.id for read in newest.values() for memory in read]
    # A published task that is done by now is still open in the collection: the caller's own copy counts.
    shown_as = {id_: row.id for id_, row in copies.representatives(ids, scope).items()}
    memories = sum(types.values())
    if not memories:
        estimate = -(-len(_EMPTY) // _CHARS_A_TOKEN)
        return Landscape(tokens, estimate, 0, {}, {}, (), (), (), (), {}, _EMPTY)
    counted = f"{memories:,} memories" if memories > 1 else "1 memory"
    sections = [_counts("types", counted, types)]
    if by_topic := topics.counts(scope):
        sections.append(_counts("topics", "Topics to search by", by_topic))
    for name, type_, title in _LISTED:
        own = [one for one in newest.get(type_, ()) if shown_as.get(one.id, one.id) == one.id]
        if own:
            # Others may have deleted some since they were counted.
            unread = max(types.get(type_, 0) - len(newest[type_]), 0)
            sections.append(_list(name, title, own, unread))
    return _render(sections, memories, tokens)


def check_tokens(tokens: object) -> None:
    if type(tokens) is not int or tokens < LEAST_TOKENS:
        raise InvalidInput(
            f"tokens is {tokens!r}; it must be a whole number of {LEAST_TOKENS} or more"
        )


def _render(sections: Sequence[_Section], memories: int, tokens: int) -> Landscape:
    filled = _shared(sections, tokens * _CHARS_A_TOKEN)
    text = "\n".join(filter(None, (filled[section.name][0] for section in sections)))
    shown: defaultdict[str, Sequence[Any]] = defaultdict(tuple)
    shown.update((name, what) for name, (_, what) in filled.items())
    left = {section.name: section.total - len(shown[section.name]) for section in sections}
    return Landscape(
        tokens=tokens,
        token_estimate=-(-len(text) // _CHARS_A_TOKEN),
        memories=memories,
        types=dict(shown["types"]),
        topics=dict(shown["topics"]),
        **{name: tuple(shown[name]) for name, _, _ in _LISTED},
        left_out={name: count for name, count in left.items() if count},
        text=text,
    )


_Entry = tuple[str, Any]  # a line, and what it shows


class _Section(NamedTuple):
    """A section: text before, between and after its entries; `bare` where none of them fits.
    `total` includes entries that were not read, and each version is shorter."""

    name: str
    head: str
    glue: str
    rest: str
    bare: str
    total: int
    versions: Sequence[Sequence[_Entry]]


def _counts(name: str, title: str, counts: Mapping[str, int]) -> _Section:
    """Return a section on one line: names, each with its count."""
    bare = title if name == "types" else f"{title}: {len(counts):,}"
    entries = [(f"{_name(key)} ({count:,})", (key, count)) for key, count in counts.items()]
    return _Section(name, f"{title}: ", ", ", " … and {:,} more", bare, len(counts), [entries])


def _list(name: str, title: str, memories: Sequence[Memory], unread: int) -> _Section:
    """Return a section of memories, a line each; of equal texts, the first is listed."""
    once: dict[str, Memory] = {}
    for memory in memories:
        once.setdefault(memory.content_hash, memory)
    count, form = unread + len(once), (f"{title}:\n", "\n", "\n… and {:,} more")
    begun = [(one, normalize(one.text.strip()[:_BEGINNING_CHARS])) for one in once.values()]
    versions = [[_noted(*one, *width) for one in begun] for width in _WIDTHS]
    return _Section(name, *form, f"{title}: {count:,}", count, versions)


def _noted(memory: Memory, begins: str, width_chars: int, most_topics: int) -> _Entry:
    """Return a memory as a line; the id comes before the text, which may run from right to left."""
    text = preview(begins, width_chars)
    complete = len(memory.text.strip()) <= _BEGINNING_CHARS and text == begins
    at = memory.updated_at or memory.created_at
    day = f"{at.date().isoformat()} " if at else ""
    topics = [_name(one) for one in memory.topics[:most_topics]]
    topics += ["…"] if topics and len(memory.topics) > most_topics else []
    about = f" ({', '.join(topics)})" if topics else ""
    line = f"- {day}[{_name(memory.id)}] {text}{'' if complete else '…'}{about}"
    return line, Noted(memory.id, text, at, memory.topics, complete)


def _name(given: str) -> str:
    """Return a name on one line, shortened: a very long one would displace all others."""
    name = normalize(given)
    return name if len(name) <= _MOST_NAME_CHARS else f"{name[: _MOST_NAME_CHARS - 1]}…"


def _shared(sections: Sequence[_Section], chars: int) -> dict[str, tuple[str, list[Any]]]:
    """Fill the sections: first those that need less than an equal part, then topics, then from the
    last. What a section leaves is for those filled after it, so the first lists of the text gain."""
    needs = {one.name: len(_whole(one, one.versions[0])) for one in sections}
    waiting = list(sections)
    filled: dict[str, tuple[str, list[Any]]] = {}
    while waiting:
        room = chars // len(waiting)
        least = min(waiting, key=lambda one: needs[one.name])
        # Topics are many, and half a preference is worse than none: preferences get what others leave.
        topics = [one for one in waiting if one.name == "topics"]
        one = least if needs[least.name] <= room else (topics or waiting)[-1]
        filled[one.name] = text, _ = _filled(one, room)
        chars -= len(text) + 1  # and a line break
        waiting.remove(one)
    return filled


def _filled(section: _Section, room: int) -> tuple[str, list[Any]]:
    """Return the text of a section and what it shows: every entry if all fit, or the first ones."""
    for entries in section.versions[: max(len(section.versions) - 1, 1)]:
        if len(entries) == section.total and len(whole := _whole(section, entries)) <= room:
            return whole, [what for _, what in entries]
    shown: list[_Entry] = []
    for entries in section.versions[-2:]:
        shown = shown or _first(section, entries, room)
    text = _whole(section, shown)
    return text if len(text) <= room else "", [what for _, what in shown]


def _first(section: _Section, entries: Iterable[_Entry], room: int) -> list[_Entry]:
    """Return the first entries that fit together, without leading ones that are too long alone."""
    chosen = list[_Entry]()
    room -= len(section.head) - len(section.glue) + len(section.rest.format(section.total))
    for entry in entries:
        size = len(entry[0]) + len(section.glue)
        if size <= room:
            chosen.append(entry)
            room -= size
        elif chosen:
            break
    return chosen


def _whole(section: _Section, entries: Sequence[_Entry]) -> str:
    if not entries:
        return section.bare
    left = section.total - len(entries)
    lines = section.glue.join(line for line, _ in entries)
    return section.head + lines + (section.rest.format(left) if left else "")
