"""Passages of hits within a budget of tokens: whole texts and whole parts of them, best first.

Half of the budget is for the hits: each gets its whole text if it is short, or the part that was found.
The rest goes to the paragraphs around the best hit, then to hits that did not fit before, the paragraphs
around them, and the turns around messages. Parts of one document that meet become one passage, so that no
line is there twice. Only where not even the part of the best hit fits, it is cut, at the end of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import splice
from scrubjay.text.lines import LineCounter
from scrubjay.text.passage_tags import format_passage
from scrubjay.text.recall_tags import OWN_TURN, own_turn, recalled_spans, without_recalled
from scrubjay.text.tokens import Size, size_of
from scrubjay.text.units import (
    last_stop,
    next_start,
    next_stop,
    sentence_start,
    sentence_stop,
    trimmed,
)
from scrubjay.times import event_text, to_the_minute
from scrubjay.types import Hit
from scrubjay.types.passages import Passage

_SHORT_CHARS = 2_000  # a longer text is shown in parts
_PART_CHARS = 800  # of a long text of which no part was found
_LEAST_CUT_CHARS = 20
_BREAK = Size(1)  # the line break after a passage


class _Part(NamedTuple):
    """A part of a text, and the rank of the best hit that shows it."""

    start: int
    stop: int
    rank: int


def choose(hits: Iterable[Hit], tokens: int, now: datetime) -> tuple[Passage, ...]:
    """Return passages that fit into a budget, tags included, in the order of the hits."""
    if type(tokens) is not int or tokens < 1:
        raise InvalidInput(f"tokens is {tokens!r}; give a whole number of 1 or more")
    documents = _documents(hits, now)
    if not documents:
        return ()
    budget, best = _Budget(tokens), documents[0]
    if not _shows(
        budget, best, next(iter(best.hits))
    ):  # others that are shorter are not worth more
        return _cut(best, tokens)
    by_rank = dict(sorted((rank, one) for one in documents for rank in one.hits))
    budget.tokens = tokens // 2
    left = [rank for rank, one in by_rank.items() if not _shows(budget, one, rank)]
    budget.tokens = tokens
    _grow(budget, [best])
    for rank in left:
        _shows(budget, by_rank[rank], rank)
    shown = [document for document in documents if document.parts]
    _grow(budget, shown)
    _add_turns(budget, shown)
    parts = sorted((part.rank, part) for document in shown for part in document.parts)
    return tuple(by_rank[rank].passage(part) for rank, part in parts)


class _Document:
    """One text with its hits by rank, and the parts of it that are shown."""

    def __init__(self, rank: int, hit: Hit, now: datetime) -> None:
        self.text = hit.text
        self.hits = {rank: hit}
        self.parts: tuple[_Part, ...] = ()
        self.used = Size()
        self.turns: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
        self._now = now
        self._content = trimmed(hit.text, 0, len(hit.text))
        self._lines = LineCounter(hit.text)
        self._sizes: dict[tuple[str, int], tuple[int, Size]] = {}

    @property
    def first(self) -> Hit:
        return next(iter(self.hits.values()))

    @cached_property
    def _recalled(self) -> list[tuple[int, int]]:
        """Where the text repeats what was recalled before: if shown, it would grow at each turn."""
        spans = recalled_spans(self.text)
        if self.first.type != "message" and not without_recalled(self.text).strip():
            return []  # a note about recall tags
        return spans

    def shown(self, start: int, stop: int) -> str:
        gone = [
            (max(first, start) - start, min(last, stop) - start, " ")
            for first, last in self._recalled
            if first < stop and last > start
        ]
        part = self.text[start:stop]
        return splice(part, gone).strip() if gone else part

    def parts_of(self, rank: int) -> list[tuple[int, int]]:
        """Return what to show of a hit, the first that fits: the whole text if short, what was found."""
        whole = (0, len(self.text))
        found = self.found(rank)
        return [whole, found] if len(self.text) <= _SHORT_CHARS else [found]

    def found(self, rank: int) -> tuple[int, int]:
        """Return the part that was found, from the beginning to the end of a sentence."""
        hit, text = self.hits[rank], self.text
        start, stop = hit.span or self._place_of(hit.snippet)
        start, stop = min(start, len(text)), min(stop, len(text))
        start = sentence_start(text, start)
        return start, max(sentence_stop(text, stop), start)

    def best(self, rank: int) -> tuple[int, int]:
        """Return the whole text if it is short, else what was found from its best sentence on."""
        if len(self.text) <= _SHORT_CHARS:
            return 0, len(self.text)
        start, stop = self.found(rank)
        at = self._place_of(self.hits[rank].snippet)[0]
        return sentence_start(self.text, at) if start < at < stop else start, stop

    def _place_of(self, snippet: str) -> tuple[int, int]:
        core = snippet.strip("…").strip()
        at = self.text.find(core) if core else -1
        return (at, at + len(core)) if at >= 0 else (0, _PART_CHARS)

    def joined(self, parts: Iterable[_Part]) -> tuple[_Part, ...]:
        """Return parts in the order of the text; those that meet become one."""
        apart: list[_Part] = []
        for part in sorted(parts):
            last = apart[-1] if apart else None
            if last is None or self.text[last.stop : part.start].strip():
                apart.append(part)
            else:
                stop, rank = max(last.stop, part.stop), min(last.rank, part.rank)
                apart[-1] = _Part(last.start, stop, rank)
        return tuple(apart)

    def size(self, parts: Iterable[_Part]) -> Size:
        """Return the size of parts with their tags; what is shown is never larger."""
        total = Size()
        for part in parts:
            tag = size_of(format_passage(self.passage(part, text="")))
            total = total.plus(tag).plus(self._size(part.start, part.stop)).plus(_BREAK)
        return total

    def _size(self, start: int, stop: int) -> Size:
        """Return the size of a range, from that of the range it has grown from: a long text is read once."""
        above, below = self._sizes.get(("from", start)), self._sizes.get(("to", stop))
        if above is not None and above[0] <= stop:
            size = above[1].plus(size_of(self.text[above[0] : stop]))
        elif below is not None and below[0] >= start:
            size = below[1].plus(size_of(self.text[start : below[0]]))
        else:
            size = size_of(self.text[start:stop])
        self._sizes["from", start], self._sizes["to", stop] = (stop, size), (start, size)
        return size

    def passage(self, part: _Part, text: str | None = None) -> Passage:
        hit, zone = self.hits[part.rank], self._now.tzinfo or UTC
        start, stop = trimmed(self.text, part.start, part.stop)
        is_whole = (start, stop) == self._content
        lines = (self._lines.at(start), self._lines.at(max(stop - 1, start)))
        stored = hit.created_at or hit.updated_at
        newer = hit.change_dates.get(hit.superseded_by) if hit.superseded_by else None
        return Passage(
            id=hit.id,
            text=self.shown(start, stop) if text is None else text,
            score=hit.score,
            ids=self._ids_in(part),
            type=hit.type,
            title=hit.title,
            topics=hit.topics,
            namespace=hit.namespace,
            source=hit.source,
            lines=lines if hit.source or not is_whole else None,
            page=hit.page,
            heading="" if is_whole else hit.heading,
            role=hit.role,
            session=hit.session,
            stored=to_the_minute(stored, zone) if stored else "",
            event=event_text(hit.event_time, hit.event_until, zone) if hit.event_time else "",
            validity=_validity(hit, self._now),
            stale=hit.stale,
            supersedes=hit.supersedes,
            superseded_by=hit.superseded_by,
            superseded_at=to_the_minute(newer, zone) if newer else "",
            near_duplicates=hit.near_duplicates,
            before=self.turns[0],
            after=self.turns[1],
            complete=is_whole,
        )

    def _ids_in(self, part: _Part) -> tuple[str, ...]:
        """Return the hits of which a part shows what was found, the best first."""
        own = [self.hits[part.rank].id]
        for rank in self.hits if len(self.hits) > 1 else ():
            start, stop = self.found(rank)
            if part.start < stop and start < part.stop:
                own.append(self.hits[rank].id)
        return tuple(dict.fromkeys(own))


class _Budget:
    """How many tokens there are, and what is used of them."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self._used = Size()

    def takes(self, document: _Document, parts: Iterable[_Part]) -> bool:
        """Show these parts of a document instead of the present ones, if they fit."""
        joined = document.joined(parts)
        size = document.size(joined)
        used = self._used.minus(document.used).plus(size)
        if used.tokens > self.tokens:
            return False
        self._used, document.used, document.parts = used, size, joined
        return True

    def takes_turns(
        self, document: _Document, before: tuple[str, ...], after: tuple[str, ...]
    ) -> bool:
        """Show these turns around a message, if they fit."""
        used = self._used.plus(size_of("".join(f"{turn}\n" for turn in (*before, *after))))
        if used.tokens > self.tokens:
            return False
        self._used, document.turns = used, (before, after)
        return True


def _documents(hits: Iterable[Hit], now: datetime) -> list[_Document]:
    """Return the texts of hits, each once; what was said twice are two messages."""
    documents: dict[tuple[str, str], _Document] = {}
    for rank, hit in enumerate(hits):
        key = ("message", hit.id) if hit.type == "message" else ("", hit.text)
        if key in documents:
            documents[key].hits[rank] = hit
        else:
            documents[key] = _Document(rank, hit, now)
    return [one for one in documents.values() if one.shown(0, len(one.text)).strip()]


def _shows(budget: _Budget, document: _Document, rank: int) -> bool:
    """Show a hit, if its whole text or what was found fits."""
    found = (_Part(start, stop, rank) for start, stop in document.parts_of(rank))
    return any(budget.takes(document, (*document.parts, part)) for part in found)


def _grow(budget: _Budget, documents: Sequence[_Document]) -> None:
    """Add what stands around the parts of documents, a paragraph at a time, as far as it fits."""
    growing = [(document, down) for document in documents for down in (True, False)]
    while growing:
        growing = [(one, down) for one, down in growing if _grows(budget, one, down=down)]


def _grows(budget: _Budget, document: _Document, *, down: bool) -> bool:
    """Add the next paragraph on one side of each part; False where none is left or fits."""
    grown = False
    for rank in [part.rank for part in document.parts]:
        part = next((part for part in document.parts if part.rank == rank), None)
        if part is None:  # it has met another one
            continue
        others = [other for other in document.parts if other is not part]
        if down:
            wider = part._replace(stop=next_stop(document.text, part.stop))
        else:
            wider = part._replace(start=next_start(document.text, part.start))
        if wider != part and budget.takes(document, (*others, wider)):
            grown = True
    return grown


def _cut(document: _Document, tokens: int) -> tuple[Passage, ...]:
    """Return as many sentences of what was found as fit, with a brief tag; none where that is too little."""
    rank = next(iter(document.hits))
    start, stop = document.best(rank)
    bare = document.passage(_Part(start, stop, rank), text="")._replace(cut=True, brief=True)
    room = min(stop - start, 4 * tokens - len(format_passage(bare)))
    while room >= min(_LEAST_CUT_CHARS, stop - start):
        end = stop if room == stop - start else last_stop(document.text, start, room)
        passage = document.passage(_Part(start, end, rank))
        passage = passage._replace(cut=end < stop, brief=True)
        excess = size_of(format_passage(passage)).tokens - tokens
        if excess <= 0:
            return (passage,) if passage.text.strip() else ()
        room = min(end - start - 1, room - excess)
    return ()


def _add_turns(budget: _Budget, documents: Sequence[_Document]) -> None:
    """Add the turns around messages that are not shown yet."""
    messages = [document for document in documents if document.first.type == "message"]
    said = {own_turn(document.first) for document in messages}
    for document in messages:
        lines = document.first.context.split("\n")
        if OWN_TURN not in lines:
            continue
        own = lines.index(OWN_TURN)
        before, after = (_unsaid(side, said) for side in (lines[:own], lines[own + 1 :]))
        if (before or after) and budget.takes_turns(document, before, after):
            said.update(before, after)


def _unsaid(lines: Sequence[str], said: set[str]) -> tuple[str, ...]:
    turns = (without_recalled(line).strip() for line in lines)
    return tuple(
        turn
        for turn in turns
        # Of a turn that only repeated search results, nothing but the role is left.
        if turn
        and not turn.endswith(":")
        and not any(one.startswith(turn.removesuffix(" …")) for one in said)
    )


def _validity(hit: Hit, now: datetime) -> str:
    if hit.valid_until is not None:
        is_over = hit.valid_until <= now
        words = "no longer valid since" if is_over else "valid until"
        return f"{words} {hit.valid_until.date()}"
    if hit.valid_from is not None and hit.valid_from > now:
        return f"not valid before {hit.valid_from.date()}"
    return ""
