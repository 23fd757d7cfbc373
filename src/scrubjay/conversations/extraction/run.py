"""Extract facts: claim messages, ask a language model, check its answer, store what is accepted.

Messages are stored before this begins and never change, whatever the model answers. The facts of a few
messages are written in one transaction, and only while the lease on these messages is ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.conversations.extraction import MOST_TURN_CHARS, Answer, Fact, Rejected, Turn
from scrubjay.conversations.extraction.guardrails import check_facts, is_covered
from scrubjay.conversations.extraction.prompt import SCHEMA, parse_answer, prompt_for
from scrubjay.errors import NotFound, Unavailable
from scrubjay.storage.sql.extractions import FACTS, FAILED, NOTHING, PARTLY, Limits
from scrubjay.text.languages import detect
from scrubjay.text.recall_tags import without_recalled
from scrubjay.times import micros, moment
from scrubjay.types.reports import Extracted

if TYPE_CHECKING:
    from scrubjay.conversations.extraction.facts import Facts
    from scrubjay.models.guard import GuardedGenerator
    from scrubjay.runtime.progress import Progress
    from scrubjay.storage.sql.extractions import Claim, SqlExtractions
    from scrubjay.types import Memory, Scope

TIME_LIMIT_S = 120.0  # for one answer; a model with its own limit uses that
SETTLED_S = 120.0
_LEASE_SLACK_S = 60.0
_REFUSALS = (400, 413, 422)  # the server works, but does not accept these messages


class _Read(NamedTuple):
    """Messages that a model read, by their numbers in the prompt, and the checked answer."""

    messages: dict[int, Memory]
    silent: tuple[str, ...] = ()  # ids of messages without text of their own
    context: tuple[Memory, ...] = ()
    facts: tuple[Fact, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    invalid: str = ""


@dataclass(eq=False)
class Extraction:
    """Extracts facts from the messages of one store with one model."""

    _queue: SqlExtractions
    _facts: Facts
    _generator: GuardedGenerator
    _changeable: Scope
    _on_stored: Callable[[], None]
    claimed: Claim | None = None

    def __post_init__(self) -> None:
        self._records, self._clock = self._facts.context.records, self._facts.context.clock
        self.model = self._generator.name

    def run(
        self,
        *,
        session: str | None = None,
        retry: bool = False,
        settled: bool = False,
        progress: Progress | None = None,
        stopping: Callable[[], bool] = bool,
    ) -> Extracted:
        """Read every waiting message once; with `settled`, skip the most recent ones. It ends
        early when the model is unavailable."""
        scope = self._changeable._replace(session=session)
        if session is not None and not self._queue.has_messages(scope):
            raise NotFound(
                f"there is no session {session!r}; list sessions with `scrubjay sessions`"
            )
        if retry:
            self._queue.retry(scope)
        total = self._queue.waiting(scope)
        done: Counter[str] = Counter()
        rejected: Counter[str] = Counter()
        failures: Counter[str] = Counter()
        passed_over: set[str] = set()
        outage = ""
        while not stopping():
            claim = self._claim(scope, settled, passed_over)
            if claim is None:
                break
            self.claimed = claim
            try:
                was_read = self._ask(claim)
            except Unavailable as error:
                outage = str(error)
                self._queue.release(claim, outage)
                break
            finally:
                self.claimed = None
            passed_over |= self._write(claim, was_read, done, rejected, failures)
            if progress:
                progress(min(done["messages"] + sum(failures.values()), total), total)
        if done["added"] or done["updated"] or done["superseded"]:
            self._on_stored()
        return Extracted(
            **done,
            rejected=dict(rejected.most_common()),
            failed=sum(failures.values()),
            failures=dict(failures.most_common()),
            left=self._queue.waiting(scope),
            outage=outage,
            given_up=sum(self._queue.failures(scope).values()),
        )

    def release(self) -> None:
        """Give back the messages that are being read, so that another process can read them."""
        if (claim := self.claimed) is not None:
            self._queue.release(claim)

    def next_due(self) -> datetime | None:
        """Return when the oldest waiting message is settled; None where none waits."""
        said_at = moment(self._queue.oldest_waiting_us())
        return None if said_at is None else said_at + timedelta(seconds=SETTLED_S)

    def _claim(self, scope: Scope, settled: bool, passed_over: set[str]) -> Claim | None:
        own_s = getattr(self._generator.inner, "timeout_s", None)
        limit_s = max(TIME_LIMIT_S, own_s if isinstance(own_s, int | float) else 0.0)
        now_us = micros(self._clock())
        return self._queue.claim(
            scope,
            self.model,
            now_us,
            limit_s + _LEASE_SLACK_S,
            Limits(),
            now_us - int(SETTLED_S * 1_000_000) if settled else None,
            passed_over,
        )

    def _ask(self, claim: Claim) -> _Read:
        """Have the model read some messages; raises Unavailable when it does not answer."""
        stored = self._records.get((*claim.turns, *claim.context), self._changeable)
        before = [stored[id_] for id_ in claim.context if id_ in stored]
        asked = [stored[id_] for id_ in claim.turns if id_ in stored]
        context = [_turn(number, message) for number, message in enumerate(before, 1)]
        messages = dict(enumerate(asked, len(before) + 1))
        turns = [
            turn
            for number, message in messages.items()
            if without_recalled((turn := _turn(number, message)).text).strip()
        ]
        spoken = {turn.number: messages[turn.number] for turn in turns}
        silent = tuple(message.id for number, message in messages.items() if number not in spoken)
        if not turns:
            return _Read(spoken, silent, tuple(before))
        text = "\n".join(without_recalled(turn.text) for turn in turns)
        first = asked[0]  # all are of one owner and agent
        known = self._facts.known(first, text)
        try:
            answer = self._generator.complete(
                prompt_for(
                    turns, context, known, detect(text), first.owner or "", first.agent or ""
                ),
                schema=SCHEMA,
                within_s=TIME_LIMIT_S,
                read=parse_answer,
            )
        except Unavailable as error:
            if getattr(error, "status", None) not in _REFUSALS:
                raise
            answer = Answer(invalid=str(error))
        people = {name for one in stored.values() for name in (one.owner, one.agent, one.role)}
        names = sorted(filter(None, people))
        facts, rejected = check_facts(answer, turns, context, known, names)
        checked = (tuple(facts), tuple(rejected), answer.invalid)
        return _Read(spoken, silent, tuple(before), *checked)

    def _write(
        self,
        claim: Claim,
        was_read: _Read,
        done: Counter[str],
        rejected: Counter[str],
        failures: Counter[str],
    ) -> set[str]:
        """Store the facts of some messages, all or none; return the messages not to ask about again."""
        now_us = micros(self._clock())
        with self._records.transaction():
            if not self._is_unchanged(claim, was_read):
                self._queue.release(claim)
                return set(claim.turns)
            counts = Counter(
                self._facts.put(fact, was_read.messages[fact.turn]) for fact in was_read.facts
            )
            outcomes = dict.fromkeys(was_read.silent, (NOTHING, ""))
            outcomes |= {
                message.id: _outcome(number, message, was_read, self._facts.texts_of(message.id))
                for number, message in was_read.messages.items()
            }
            for id_, (outcome, reason) in outcomes.items():
                self._queue.finish(id_, outcome, self.model, reason, now_us)
        failed = {id_: reason for id_, (outcome, reason) in outcomes.items() if outcome == FAILED}
        done.update(counts)
        done["messages"] += len(outcomes) - len(failed)
        rejected.update(one.reason for one in was_read.rejected)
        failures.update(failed.values())
        return set(failed)

    def _is_unchanged(self, claim: Claim, was_read: _Read) -> bool:
        """True when the lease is still ours, and no message has changed since it was read."""
        if not self._queue.is_held(claim):
            return False
        ids = (*claim.turns, *(message.id for message in was_read.context))
        now = self._records.get(ids, self._changeable)
        return all(id_ in now for id_ in claim.turns) and all(
            message.id in now and _fields_read(now[message.id]) == _fields_read(message)
            for message in (*was_read.messages.values(), *was_read.context)
        )


def _fields_read(message: Memory) -> tuple[str | None, ...]:
    """Return the fields that decide whose facts these are, and what they may say."""
    people = (message.role, message.owner, message.agent)
    return (message.text, message.type, message.namespace, message.session, *people)


def _turn(number: int, message: Memory) -> Turn:
    return Turn(number, " ".join((message.role or "user").split()), message.text)


def _outcome(
    number: int, message: Memory, was_read: _Read, facts: Sequence[str]
) -> tuple[str, str]:
    """Return the outcome for one message, and the reason if it failed.

    Facts replace a message only if all of it was read, none of its facts was rejected, and they contain
    every word of it that is no stop word. Otherwise it stays a memory beside them.
    """
    if was_read.invalid:
        return FAILED, was_read.invalid
    has_facts = any(fact.turn == number for fact in was_read.facts)
    reasons = [one.reason for one in was_read.rejected if one.turn == number]
    if has_facts:
        is_whole = len(without_recalled(message.text)) <= MOST_TURN_CHARS
        replaces = is_whole and not reasons and is_covered(message.text, facts)
        return (FACTS if replaces else PARTLY), ""
    if not was_read.facts:  # a rejected fact without a turn may have been about any message
        reasons += [one.reason for one in was_read.rejected if one.turn == 0]
    return (FAILED, reasons[0]) if reasons else (NOTHING, "")
