"""Facts drawn from messages, as they are stored: added, made more precise, ended by what came later.

A fact knows its words: `spans` has every message that says it, its metadata the one that its text is
from. Who forgets a message forgets what only that message says.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.conversations.extraction import Fact, Known
from scrubjay.conversations.extraction.guardrails import share_a_word
from scrubjay.storage.sql.extractions import Span
from scrubjay.text.analysis import fold_text
from scrubjay.text.query_syntax import parse_query
from scrubjay.times import micros
from scrubjay.types import Memory, Scope
from scrubjay.write.fields import draft
from scrubjay.write.remember import new_id, remember, write_memory

if TYPE_CHECKING:
    from scrubjay.storage.protocols import KeywordIndex
    from scrubjay.storage.sql.collections import SqlCopies
    from scrubjay.storage.sql.extractions import SqlSpans
    from scrubjay.storage.sql.records import SqlHistory
    from scrubjay.write.context import WriteContext

SUPERSEDES = "supersedes"  # the kind of link from a fact to the one it ended
_MOST_KNOWN = 12
_LOOKED_AT = 200  # some are other people's, or were written by hand
_MOST_ASKED_CHARS = 4_000
_EVERYTHING = Scope()


class Facts(NamedTuple):
    """Where facts are kept."""

    shelf: WriteContext
    spans: SqlSpans
    history: SqlHistory
    keyword: KeywordIndex
    copies: SqlCopies

    def known(self, message: Memory, said: str) -> list[Known]:
        """Return facts drawn before that what was said may change: by its words, then the latest.

        Who moves to Munich need not say a word of Berlin.
        """
        scope = self._beside(message)._replace(
            types=("fact",), valid_us=micros(self.shelf.clock())
        )
        by_word = self._found(said, scope, message)
        latest = _of_same(self.shelf.records.scan(scope, _LOOKED_AT), message)
        drawn = {one.id: one.text for one in (*by_word, *latest) if is_drawn(one)}
        return [Known(*one) for one in list(drawn.items())[:_MOST_KNOWN]]

    def keep(self, fact: Fact, message: Memory) -> str:
        """Store a fact inside the caller's transaction; return which count of `Extracted` it is."""
        said = message.created_at or self.shelf.clock()
        old = self._old(fact, message)
        there = self._same(fact.text, message)
        if there is None and old is not None and fact.action == "update":
            if said < _latest(old):  # what was said since is more precise already
                self._note(old.id, fact, message)
                return "folded"
            self._rewrite(old, fact, message, said)
            return "updated"
        new = there or self._add(fact, message, said)
        self._note(new.id, fact, message)
        if there is not None and there.valid_until is not None and there.valid_until <= said:
            self._end(there, None)  # it was so, was otherwise, and is so again
        if old is None or old.id == new.id:
            return "added" if there is None else "folded"
        if said >= _latest(old):
            self._end(old, said)
            self.shelf.graph.link(new.id, old.id, 1.0, SUPERSEDES)
        elif there is None:  # turns come in any order: what was said last holds
            self._end(new, old.created_at)
            self.shelf.graph.link(old.id, new.id, 1.0, SUPERSEDES)
        return "superseded"

    def said_by(self, message: str) -> list[str]:
        """Return the facts that a message says, as their texts are now."""
        ids = self.spans.facts_of([message])
        return [one.text for one in self.shelf.records.get(ids, _EVERYTHING).values()]

    def only_of(self, messages: Collection[str]) -> list[str]:
        """Return the facts drawn from these messages that no other message says, by id."""
        ids = self.spans.facts_of(list(messages))
        stored = self.shelf.records.get(ids, _EVERYTHING)
        return [
            id_
            for id_ in ids
            if is_drawn(stored[id_]) and all(one.message in messages for one in self.spans.of(id_))
        ]

    def lose(self, messages: Collection[str]) -> list[str]:
        """Take these messages out of what they say; return the facts that nobody else says.

        What such a fact superseded holds again. Where the text of another is from one of them, what the
        last of the others says takes its place. Earlier texts are forgotten: they may be from a message
        that goes.
        """
        gone = self.only_of(messages)
        self._hold_again(gone)
        for id_ in self.spans.facts_of(list(messages)):
            fact = self.shelf.records.get([id_], _EVERYTHING)[id_]
            if not is_drawn(fact) or id_ in gone:
                continue
            self.history.delete(id_, "text")
            if fact.metadata["message"] in messages:
                *_, last = (one for one in self.spans.of(id_) if one.message not in messages)
                given = fact._asdict() | {"text": last.text, "links": ()}
                given |= {"event_time": None, "event_until": None}
                given["metadata"] = {**fact.metadata, **self._origin(*last[:3])}
                remember(self.shelf, draft(given), _EVERYTHING, _EVERYTHING)
        return gone

    def _hold_again(self, gone: Collection[str]) -> None:
        """Undo what facts that go did to those they superseded, unless others did the same since."""
        graph = self.shelf.graph
        for id_ in dict.fromkeys(
            old for new in gone for old in graph.linked_from(new, SUPERSEDES)
        ):
            if id_ in gone or not set(graph.linking_to(id_, SUPERSEDES)) <= set(gone):
                continue
            fact = self.shelf.records.get([id_], _EVERYTHING)[id_]
            ends = [one for one in self.history.of(id_) if one[1] == "valid_until"]
            # Who has changed the end by hand since meant it.
            if fact.valid_until is None or not ends or ends[-1][3] != fact.valid_until.isoformat():
                continue
            before = ends[-1][2]
            self._end(fact, datetime.fromisoformat(before) if before else None)

    def _old(self, fact: Fact, message: Memory) -> Memory | None:
        """Return the fact that another speaks of, as it is now; it may have gone meanwhile."""
        if fact.action == "add":
            return None
        scope = self._beside(message)._replace(types=("fact",))
        old = self.shelf.records.get([fact.id], scope).get(fact.id)
        # What a rewritten fact said is gone: so it must be about the same.
        if old is not None and fact.action == "update" and not share_a_word(old.text, fact.text):
            return None
        return old

    def _same(self, text: str, message: Memory) -> Memory | None:
        """Return the memory that says just this, if there is one of the same owner and agent."""
        scope = self._beside(message)._replace(not_types=("message", "document"))
        wanted = fold_text(text)
        return next(
            (one for one in self._found(text, scope, message) if fold_text(one.text) == wanted),
            None,
        )

    def _found(self, text: str, scope: Scope, message: Memory) -> list[Memory]:
        records = self.shelf.records
        asked = parse_query(text[:_MOST_ASKED_CHARS], records.languages(), bind=())
        rows = self.keyword.search(asked.words, scope, _LOOKED_AT, {}, every_first=False).rows
        found = records.get([row.id for row in rows], scope)
        return _of_same([found[row.id] for row in rows if row.id in found], message)

    def _beside(self, message: Memory) -> Scope:
        return Scope(namespaces=(message.namespace,), owner=message.owner, agent=message.agent)

    def _add(self, fact: Fact, message: Memory, said: datetime) -> Memory:
        memory = draft(
            {
                "text": fact.text,
                "type": "fact",
                "namespace": message.namespace,
                "collection": message.collection,
                "owner": message.owner,
                "agent": message.agent,
                "created_at": said,
                "metadata": self._origin(message.id, fact.start, fact.stop),
            }
        )
        # With an id of its own: the same words of somebody else are somebody else's.
        memory = memory._replace(id=new_id(self.shelf.records, memory))
        return remember(self.shelf, memory, _EVERYTHING, _EVERYTHING).memory

    def _rewrite(self, old: Memory, fact: Fact, message: Memory, said: datetime) -> None:
        given = old._asdict() | {"text": fact.text, "links": (), "updated_at": said}
        # They were read from the earlier text.
        given |= {"event_time": None, "event_until": None}
        given["metadata"] = {
            **old.metadata, **self._origin(message.id, fact.start, fact.stop)
        }  # fmt: skip
        remember(self.shelf, draft(given), _EVERYTHING, _EVERYTHING)
        self.copies.detach([old.id])
        self._note(old.id, fact, message)
        self.history.add(old.id, micros(self.shelf.clock()), "text", old.text, fact.text)

    def _end(self, fact: Memory, at: datetime | None) -> None:
        """Let a fact hold until then, or for good; what begins only later is left as it is."""
        if at is not None and fact.valid_from is not None and at <= fact.valid_from:
            return
        before, after = fact.valid_until, at
        write_memory(self.shelf, fact._replace(valid_until=at, links=()))
        self.copies.detach([fact.id])
        times = [moment.isoformat() if moment else "" for moment in (before, after)]
        self.history.add(fact.id, micros(self.shelf.clock()), "valid_until", *times)

    def _note(self, id_: str, fact: Fact, message: Memory) -> None:
        self.spans.add(id_, Span(message.id, fact.start, fact.stop, fact.text))

    def _origin(self, message: str, start: int, stop: int) -> dict[str, object]:
        """Return where the text of a fact is from, as its metadata says it."""
        origin: dict[str, object] = {"message": message, "span": [start, stop]}
        stored = self.shelf.records.get([message], _EVERYTHING).get(message)
        return origin | ({"session": stored.session} if stored and stored.session else {})


def is_drawn(memory: Memory) -> bool:
    """True for a fact that a model drew from a message, and nobody wrote by hand."""
    return memory.type == "fact" and isinstance(memory.metadata.get("message"), str)


def _of_same(found: Sequence[Memory], message: Memory) -> list[Memory]:
    """Return what is of a message's owner and agent; a scope without an owner sees everybody's."""
    whose = (message.owner, message.agent)
    return [one for one in found if (one.owner, one.agent) == whose]


def _latest(fact: Memory) -> datetime:
    """Return when a fact was said last."""
    times: Sequence[datetime] = [one for one in (fact.created_at, fact.updated_at) if one]
    return max(times)
