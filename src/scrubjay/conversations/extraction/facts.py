"""Store extracted facts: add them, make them more precise, end those that are no longer true.

Each fact has spans: the messages that say it. Its metadata names the message that its text is from.
Forgetting a message forgets the facts that only this message says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from scrubjay.conversations.extraction import Fact, KnownFact
from scrubjay.conversations.extraction.guardrails import share_a_word
from scrubjay.storage.sql.extractions import Span
from scrubjay.storage.sql.versions import RESTORED, SUPERSEDED
from scrubjay.text.analysis import fold_text
from scrubjay.text.query_syntax import parse_query
from scrubjay.times import micros
from scrubjay.types import Memory, Scope
from scrubjay.types.files import NOT_NOTES
from scrubjay.write.fields import draft
from scrubjay.write.remember import new_id, remember, write_memory

if TYPE_CHECKING:
    from scrubjay.storage.sql.collections import SqlCopies
    from scrubjay.storage.sql.extractions import SqlSpans
    from scrubjay.storage.sql.keyword_ranking import KeywordIndex
    from scrubjay.write.context import WriteContext

SUPERSEDES = "supersedes"  # the kind of link from a fact to the one it ended
_MOST_KNOWN = 12
_MOST_CANDIDATES = 200  # some belong to other people, or were written by hand
_MOST_QUERY_CHARS = 4_000
_EVERYTHING = Scope()
_FROM_MESSAGE = ("namespace", "collection", "owner", "agent")


class Facts(NamedTuple):
    """The tables that facts are in."""

    context: WriteContext
    spans: SqlSpans
    keyword: KeywordIndex
    copies: SqlCopies

    def known(self, message: Memory, text: str) -> list[KnownFact]:
        """Return extracted facts that a text may change: first by its words, then the latest. A
        message about moving to Munich need not mention Berlin."""
        scope = self._same_people(message)._replace(
            types=("fact",), valid_us=micros(self.context.clock())
        )
        by_word = self._search(text, scope, message)
        latest = _of_same_people(self.context.records.scan(scope, _MOST_CANDIDATES), message)
        facts = {fact.id: fact.text for fact in (*by_word, *latest) if is_extracted(fact)}
        return [KnownFact(*fact) for fact in list(facts.items())[:_MOST_KNOWN]]

    def put(self, fact: Fact, message: Memory) -> str:
        """Store a fact inside the caller's transaction; return the count of `Extracted` it adds to."""
        said_at = message.created_at or self.context.clock()
        old = self._replaced(fact, message)
        same = self._same(fact.text, message)
        if same is None and old is not None and fact.action == "update":
            if said_at < _latest(old):  # a later message was more precise already
                self._add_span(old.id, fact, message)
                return "folded"
            self._rewrite(old, fact, message, said_at)
            return "updated"
        new = same or self._add(fact, message, said_at)
        self._add_span(new.id, fact, message)
        if same is not None and same.valid_until is not None and same.valid_until <= said_at:
            self._end(same, None)  # it was true, was not for a while, and is true again
        if old is None or old.id == new.id:
            return "added" if same is None else "folded"
        if said_at >= _latest(old):
            self._end(old, said_at)
            self._link(new.id, old.id)
        elif same is None:  # messages come in any order: the latest one is true
            self._end(new, old.created_at)
            self._link(old.id, new.id)
        return "superseded"

    def _link(self, new: str, old: str) -> None:
        self.context.graph.link(new, old, 1.0, SUPERSEDES, micros(self.context.clock()))

    def texts_of(self, message: str) -> list[str]:
        """Return the current texts of the facts that a message says."""
        facts = self._get(self.spans.facts_of([message]))
        return [fact.text for fact in facts.values()]

    def only_of(self, messages: Collection[str]) -> list[str]:
        """Return the ids of the facts that only these messages say."""
        facts = self._get(self.spans.facts_of(list(messages)))
        return [
            id_
            for id_, fact in facts.items()
            if is_extracted(fact) and all(one.message in messages for one in self.spans.of(id_))
        ]

    def forget_messages(self, messages: Collection[str]) -> list[str]:
        """Detach facts from these messages; return the facts that no other message says.

        A fact that such a fact superseded becomes valid again. If the text of another fact is from one
        of the messages, it gets the text of the latest other message. Earlier texts are deleted: they
        may be from one of the messages.
        """
        orphans = self.only_of(messages)
        self._revive_superseded(orphans)
        for id_, fact in self._get(self.spans.facts_of(list(messages))).items():
            if not is_extracted(fact) or id_ in orphans:
                continue
            if fact.metadata["message"] in messages:
                *_, last = (span for span in self.spans.of(id_) if span.message not in messages)
                self._set_text(fact, last)
            self.context.versions.delete_texts(id_)
        return orphans

    def _revive_superseded(self, deleted: Collection[str]) -> None:
        """Make facts valid again that only deleted facts superseded."""
        graph = self.context.graph
        for id_ in dict.fromkeys(
            old for new in deleted for old in graph.linked_from(new, SUPERSEDES)
        ):
            if id_ in deleted or not set(graph.linking_to(id_, SUPERSEDES)) <= set(deleted):
                continue
            fact = self._get([id_])[id_]
            changes = self.context.versions.of(id_, _EVERYTHING)
            end = next((change for change in changes if "valid_until" in change.earlier), None)
            # An end that was changed by hand since is meant.
            if fact.valid_until is None or end is None or end.what != SUPERSEDED:
                continue
            self._end(fact, end.earlier["valid_until"])

    def unlink_superseding(self, id_: str) -> None:
        """Remove the links of the facts that superseded a fact."""
        for new in self.context.graph.linking_to(id_, SUPERSEDES):
            self.context.graph.unlink(new, id_, SUPERSEDES)

    def _replaced(self, fact: Fact, message: Memory) -> Memory | None:
        """Return the fact that another updates or supersedes; it may have been deleted meanwhile."""
        if fact.action == "add":
            return None
        scope = self._same_people(message)._replace(types=("fact",))
        old = self.context.records.get([fact.id], scope).get(fact.id)
        # An update loses the old text: so both must be about the same.
        if old is not None and fact.action == "update" and not share_a_word(old.text, fact.text):
            return None
        return old

    def _same(self, text: str, message: Memory) -> Memory | None:
        """Return a memory of the same owner and agent with the same text, if there is one."""
        scope = self._same_people(message)._replace(not_types=("message", *NOT_NOTES))
        folded = fold_text(text)
        found = self._search(text, scope, message)
        return next((memory for memory in found if fold_text(memory.text) == folded), None)

    def _search(self, text: str, scope: Scope, message: Memory) -> list[Memory]:
        records = self.context.records
        query = parse_query(text[:_MOST_QUERY_CHARS], records.languages(), bind=())
        rows = self.keyword.search(
            query.words, scope, _MOST_CANDIDATES, {}, every_first=False
        ).rows
        found = records.get([row.id for row in rows], scope)
        return _of_same_people([found[row.id] for row in rows if row.id in found], message)

    def _get(self, ids: Collection[str]) -> dict[str, Memory]:
        found = self.context.records.get(list(ids), _EVERYTHING)
        return {id_: found[id_] for id_ in ids if id_ in found}

    def _same_people(self, message: Memory) -> Scope:
        return Scope(namespaces=(message.namespace,), owner=message.owner, agent=message.agent)

    def _add(self, fact: Fact, message: Memory, said_at: datetime) -> Memory:
        memory = draft(
            {
                "text": fact.text,
                "type": "fact",
                **{name: getattr(message, name) for name in _FROM_MESSAGE},
                "created_at": said_at,
                "metadata": self._origin(message.id, fact.start, fact.stop),
            }
        )
        # With an id, it is not merged with the same words of another person.
        memory = memory._replace(id=new_id(self.context.records, memory))
        return remember(self.context, memory, _EVERYTHING, _EVERYTHING).memory

    def _rewrite(self, old: Memory, fact: Fact, message: Memory, said_at: datetime) -> None:
        span = Span(message.id, fact.start, fact.stop, fact.text)
        self._set_text(old, span, updated_at=said_at)
        self.copies.detach([old.id])
        self.spans.add(old.id, span)

    def _set_text(self, fact: Memory, span: Span, **changes: Any) -> None:
        """Give a fact the text of a span; its event time is derived again from the new text."""
        given = {**fact._asdict(), "text": span.text, "links": (), **changes}
        given |= {"event_time": None, "event_until": None}
        given["metadata"] = {**fact.metadata, **self._origin(*span[:3])}
        remember(self.context, draft(given), _EVERYTHING, _EVERYTHING)

    def _end(self, fact: Memory, at: datetime | None) -> None:
        """Set the end of a fact's validity, None for no end; skip a fact that begins later."""
        if at is not None and fact.valid_from is not None and at <= fact.valid_from:
            return
        what = RESTORED if at is None else SUPERSEDED
        write_memory(self.context, fact._replace(valid_until=at, links=()), what=what)
        self.copies.detach([fact.id])

    def _add_span(self, id_: str, fact: Fact, message: Memory) -> None:
        self.spans.add(id_, Span(message.id, fact.start, fact.stop, fact.text))

    def _origin(self, message: str, start: int, stop: int) -> dict[str, object]:
        """Return the metadata that says where the text of a fact is from."""
        origin: dict[str, object] = {"message": message, "span": [start, stop]}
        stored = self._get([message]).get(message)
        return origin | ({"session": stored.session} if stored and stored.session else {})


def is_extracted(memory: Memory) -> bool:
    """True for a fact that a model extracted from a message."""
    return memory.type == "fact" and isinstance(memory.metadata.get("message"), str)


def _of_same_people(memories: Iterable[Memory], message: Memory) -> list[Memory]:
    """Return those with a message's owner and agent; a scope without an owner sees everyone's."""
    people = (message.owner, message.agent)
    return [memory for memory in memories if (memory.owner, memory.agent) == people]


def _latest(fact: Memory) -> datetime:
    return max(moment for moment in (fact.created_at, fact.updated_at) if moment)
