"""What is stored, in a stated number of tokens: what an agent wants to know before it asks.

First what is there is counted and the newest of it read, then it is put into the budget. The sections
share that evenly, and what one does not need goes to the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import normalize
from scrubjay.text.snippets import preview
from scrubjay.types import NOTHING, Memory

if TYPE_CHECKING:
    from datetime import datetime

    from scrubjay.storage.sql.collections import SqlCopies
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.topics import SqlTopics
    from scrubjay.types import Scope

LEAST_TOKENS = 50
_CHARS_A_TOKEN = 4
_SHORTEST_LINE_CHARS = len("- 2026-05-03 [a] b\n")
# How much of a text is shown, and of how many of its topics the names: the most with which every line
# fits; else as many as fit of the third, or of the last where not one of those does.
_WIDTHS = ((200, 3), (120, 3), (80, 3), (40, 0))
_BEGINNING_CHARS = 2000  # of a longer text no more is looked at
_MOST_NAME_CHARS = 64
# In the order of the text: what a section is called, the type of its memories, and its title.
_LISTED = (
    ("preferences", "preference", "Preferences"),
    ("tasks", "task", "Open tasks"),
    ("summaries", "summary", "Latest summaries"),
    ("decisions", "decision", "Latest decisions"),
)
_EMPTY = "Nothing is stored here yet; a first memory comes from add(TEXT), or scrubjay add TEXT."


class Noted(NamedTuple):
    """A memory in short, as a landscape shows it; `complete` says that `text` is all of it."""

    id: str
    text: str
    at: datetime | None
    topics: tuple[str, ...] = ()
    complete: bool = True


class Landscape(NamedTuple):
    """What is stored, in `tokens` at most: `text` is to be read, the other fields say the same.

    They hold what the text shows; `left_out` says how many more there are, for each that has more.
    """

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


class Known(NamedTuple):
    """What a store holds, before it is put into a budget: counts, most first, and memories, newest first.

    `newest` has them by type, without copies of others, of which there are as many as `folded` says;
    where these are fewer than `types` counts, the others were not read.
    """

    types: Mapping[str, int]
    topics: Mapping[str, int]
    newest: Mapping[str, Sequence[Memory]]
    folded: Mapping[str, int] = NOTHING


def landscape(
    records: SqlRecords, topics: SqlTopics, copies: SqlCopies, scope: Scope, tokens: int
) -> Landscape:
    """Say what a caller may see, in at most so many tokens."""
    check_tokens(tokens)
    types = records.counts("type", scope)
    most = tokens * _CHARS_A_TOKEN // _SHORTEST_LINE_CHARS
    newest = {
        type_: records.scan(scope._replace(types=(type_,)), min(most, types[type_]))
        for _, type_, _ in _LISTED
        if type_ in types
    }
    ids = [one.id for read in newest.values() for one in read]
    # A published task that is done by now is open in the collection still: one's own copy counts.
    stand_ins = copies.representatives(ids, scope)
    own = {
        type_: [one for one in read if one.id not in stand_ins or stand_ins[one.id].id == one.id]
        for type_, read in newest.items()
    }
    folded = {type_: len(newest[type_]) - len(read) for type_, read in own.items()}
    return drawn(Known(types, topics.counts(scope), own, folded), tokens)


def check_tokens(tokens: object) -> None:
    if type(tokens) is not int or tokens < LEAST_TOKENS:
        raise InvalidInput(
            f"tokens is {tokens!r}; it must be a whole number of {LEAST_TOKENS} or more"
        )


def drawn(known: Known, tokens: int) -> Landscape:
    """Put what is known into the budget; a token is taken for four characters, as in a hit."""
    memories = sum(known.types.values())
    if not memories:
        estimate = -(-len(_EMPTY) // _CHARS_A_TOKEN)
        return Landscape(tokens, estimate, 0, {}, {}, (), (), (), (), {}, _EMPTY)
    sections = list(_sections(known, memories))
    filled = _shared(sections, tokens * _CHARS_A_TOKEN)
    text = "\n".join(filled[one.name].text for one in sections if filled[one.name].text)
    shown: defaultdict[str, Sequence[Any]] = defaultdict(tuple)
    shown.update((name, one.shown) for name, one in filled.items())
    left = {one.name: one.total - len(shown[one.name]) for one in sections}
    return Landscape(
        tokens=tokens,
        token_estimate=-(-len(text) // _CHARS_A_TOKEN),
        memories=memories,
        types=dict(shown["types"]),
        topics=dict(shown["topics"]),
        preferences=tuple(shown["preferences"]),
        tasks=tuple(shown["tasks"]),
        summaries=tuple(shown["summaries"]),
        decisions=tuple(shown["decisions"]),
        left_out={name: count for name, count in left.items() if count},
        text=text,
    )


class _Form(NamedTuple):
    """How a section is written: before, between and after its entries; `bare` where none of them fits."""

    head: str
    glue: str
    rest: str
    bare: str


class _Entry(NamedTuple):
    line: str
    what: Any


class _Section(NamedTuple):
    """Entries that belong together, `total` with those that were not read; each version is shorter."""

    name: str
    form: _Form
    total: int
    versions: Sequence[Sequence[_Entry]]


class _Filled(NamedTuple):
    text: str
    shown: Sequence[Any]


def _sections(known: Known, memories: int) -> Iterator[_Section]:
    """Yield what there is something to say about, in the order of the text."""
    stored = f"{memories:,} memories" if memories > 1 else "1 memory"
    inline = (", ", " … and {:,} more")
    yield _Section(
        "types", _Form(f"{stored}: ", *inline, stored), len(known.types), [_counted(known.types)]
    )
    if known.topics:
        title, count = "Topics to search by: ", len(known.topics)
        form = _Form(title, *inline, f"{title}{count:,}")
        yield _Section("topics", form, count, [_counted(known.topics)])
    for name, type_, title in _LISTED:
        read = known.newest.get(type_)
        if not read:
            continue
        once = _once(read)
        # Others may have forgotten some since they were counted.
        read_in_all = len(read) + known.folded.get(type_, 0)
        count = max(known.types.get(type_, 0) - read_in_all, 0) + len(once)
        form = _Form(f"{title}:\n", "\n", "\n… and {:,} more", f"{title}: {count:,}")
        begun = [(one, *_beginning(one.text)) for one in once]
        versions = [[_noted(*one, *width) for one in begun] for width in _WIDTHS]
        yield _Section(name, form, count, versions)


def _counted(counts: Mapping[str, int]) -> list[_Entry]:
    return [_Entry(f"{_name(key)} ({count:,})", (key, count)) for key, count in counts.items()]


def _once(read: Iterable[Memory]) -> list[Memory]:
    """Return each text once, where different people have said the same."""
    kept: dict[str, Memory] = {}
    for one in read:
        kept.setdefault(one.content_hash, one)
    return list(kept.values())


def _beginning(text: str) -> tuple[str, bool]:
    """Return how a text begins, on one line, and whether that is all of it."""
    stripped = text.strip()
    return normalize(stripped[:_BEGINNING_CHARS]), len(stripped) <= _BEGINNING_CHARS


def _noted(
    memory: Memory, begins: str, is_all: bool, width_chars: int, most_topics: int
) -> _Entry:
    """Return a memory as a line; the id comes before the text, which may run from right to left."""
    text = preview(begins, width_chars)
    complete = is_all and text == begins
    at = memory.updated_at or memory.created_at
    day = f"{at.date().isoformat()} " if at else ""
    topics = [_name(one) for one in memory.topics[:most_topics]]
    topics += ["…"] if topics and len(memory.topics) > most_topics else []
    about = f" ({', '.join(topics)})" if topics else ""
    line = f"- {day}[{_name(memory.id)}] {text}{'' if complete else '…'}{about}"
    return _Entry(line, Noted(memory.id, text, at, memory.topics, complete))


def _name(given: str) -> str:
    """Return a name on one line; a very long one would take the place of all others."""
    name = normalize(given)
    return name if len(name) <= _MOST_NAME_CHARS else f"{name[: _MOST_NAME_CHARS - 1]}…"


def _shared(sections: Sequence[_Section], chars: int) -> dict[str, _Filled]:
    """Fill the sections: first those that need less than an equal part, then topics, then from the last.

    What a section leaves is for those that are filled after it; so the first lists of the text gain by it.
    """
    needs = {one.name: len(_whole(one, one.versions[0])) for one in sections}
    waiting = list(sections)
    filled: dict[str, _Filled] = {}
    while waiting:
        room = chars // len(waiting)
        least = min(waiting, key=lambda one: needs[one.name])
        # Topics are many, and half a preference is worse than none: so these gain by what others leave.
        topics = [one for one in waiting if one.name == "topics"]
        one = least if needs[least.name] <= room else (topics or waiting)[-1]
        filled[one.name] = _filled(one, room)
        chars -= len(filled[one.name].text) + 1  # and a line break
        waiting.remove(one)
    return filled


def _filled(section: _Section, room: int) -> _Filled:
    """Write a section: everything if there is room for that, else what comes first."""
    for entries in section.versions[: max(len(section.versions) - 1, 1)]:
        if len(entries) == section.total and len(whole := _whole(section, entries)) <= room:
            return _Filled(whole, [one.what for one in entries])
    shown: list[_Entry] = []
    for entries in section.versions[-2:]:
        shown = shown or _first(section, entries, room)
    text = _whole(section, shown)
    return _Filled(text if len(text) <= room else "", [one.what for one in shown])


def _first(section: _Section, entries: Iterable[_Entry], room: int) -> list[_Entry]:
    """Return the first entries that fit together; only what is too long by itself is passed over."""
    form, chosen = section.form, list[_Entry]()
    room -= len(form.head) - len(form.glue) + len(form.rest.format(section.total))
    for entry in entries:
        size = len(entry.line) + len(form.glue)
        if size <= room:
            chosen.append(entry)
            room -= size
        elif chosen:
            break
    return chosen


def _whole(section: _Section, entries: Sequence[_Entry]) -> str:
    if not entries:
        return section.form.bare
    head, glue, rest, _ = section.form
    left = section.total - len(entries)
    return head + glue.join(one.line for one in entries) + (rest.format(left) if left else "")
