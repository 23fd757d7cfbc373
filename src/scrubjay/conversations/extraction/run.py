"""From messages to facts: turns are claimed, a language model is asked, and what is sound is stored.

The messages are safe before this begins, and stay as they are whatever the model answers. What comes
of a few turns is written in one transaction, and only while they are still ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.conversations.extraction import MOST_TURN_CHARS, Answer, Fact, Rejected, Turn
from scrubjay.conversations.extraction.guardrails import covered, guarded
from scrubjay.conversations.extraction.prompt import SCHEMA, prompt_for
from scrubjay.conversations.extraction.read import read
from scrubjay.errors import NotFound, Unavailable
from scrubjay.storage.sql.extractions import FACTS, FAILED, NOTHING, PARTLY, Limits
from scrubjay.text.languages import detect
from scrubjay.text.recall_tags import without_recalled
from scrubjay.times import micros
from scrubjay.types.reports import Extracted

if TYPE_CHECKING:
    from scrubjay.conversations.extraction.facts import Facts
    from scrubjay.models.guard import GuardedGenerator
    from scrubjay.storage.sql.extractions import Claim, SqlExtractions
    from scrubjay.types import Memory, Scope

Progress = Callable[[int, int], None]

TIME_LIMIT_S = 120.0  # for one answer; a model with a limit of its own keeps to that
SETTLED_S = 120.0
_LEASE_SLACK_S = 60.0
_REFUSALS = (400, 413, 422)  # a server that is well, and will not take these turns


class _Read(NamedTuple):
    """Turns that were read: each by number with its message, and what became of the answer."""

    messages: dict[int, Memory]
    silent: tuple[str, ...] = ()
    before: tuple[Memory, ...] = ()
    facts: tuple[Fact, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    junk: str = ""


class Extraction:
    """Draws facts from the messages of one store with one model."""

    def __init__(
        self,
        queue: SqlExtractions,
        facts: Facts,
        generator: GuardedGenerator,
        changeable: Scope,
        stored: Callable[[], None],
    ) -> None:
        self._queue = queue
        self._facts = facts
        self._records = facts.shelf.records
        self._clock = facts.shelf.clock
        self._generator = generator
        self._changeable = changeable
        self._stored = stored
        self.model = generator.name
        self.claimed: Claim | None = None

    def run(
        self,
        *,
        session: str | None = None,
        retry: bool = False,
        settled: bool = False,
        progress: Progress | None = None,
        stopping: Callable[[], bool] = bool,
    ) -> Extracted:
        """Read every message that waits, each once; with `settled`, only what is not said just now.

        It ends early where the model is out.
        """
        scope = self._changeable._replace(session=session)
        if session is not None and not self._queue.has_messages(scope):
            raise NotFound(
                f"no message is of the session {session!r}; `scrubjay sessions` lists them"
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
            except Unavailable as gone:
                outage = str(gone)
                self._queue.release(claim, outage)
                break
            finally:
                self.claimed = None
            passed_over |= self._write(claim, was_read, done, rejected, failures)
            if progress:
                progress(min(done["messages"] + sum(failures.values()), total), total)
        if done["added"] or done["updated"] or done["superseded"]:
            self._stored()
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
        """Give back what is being read: its reader has no more time."""
        if (claim := self.claimed) is not None:
            self._queue.release(claim)

    def waiting(self, scope: Scope) -> int:
        """Return how many messages wait to be read."""
        return self._queue.waiting(scope)

    def next_due(self) -> datetime | None:
        """Return when the oldest message that waits is settled; None where none waits."""
        from datetime import timedelta

        from scrubjay.times import moment

        said = moment(self._queue.oldest_waiting_us())
        return None if said is None else said + timedelta(seconds=SETTLED_S)

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
        """Let the model read some turns; raises Unavailable where it is out."""
        held = self._records.get((*claim.turns, *claim.context), self._changeable)
        before = [held[id_] for id_ in claim.context if id_ in held]
        asked = [held[id_] for id_ in claim.turns if id_ in held]
        context = [_turn(number, one) for number, one in enumerate(before, 1)]
        messages = dict(enumerate(asked, len(before) + 1))
        turns = [_turn(number, one) for number, one in messages.items()]
        telling = [turn for turn in turns if without_recalled(turn.text).strip()]
        silent = tuple(messages[turn.number].id for turn in turns if turn not in telling)
        messages = {turn.number: messages[turn.number] for turn in telling}
        if not telling:
            return _Read(messages, silent, tuple(before))
        said = "\n".join(without_recalled(turn.text) for turn in telling)
        known = self._facts.known(asked[0], said)
        try:
            first = asked[0]  # all are of one owner and agent
            answer = self._generator.complete(
                prompt_for(
                    telling, context, known, detect(said), first.owner or "", first.agent or ""
                ),
                schema=SCHEMA,
                within_s=TIME_LIMIT_S,
                read=read,
            )
        except Unavailable as gone:
            if getattr(gone, "status", None) not in _REFUSALS:
                raise
            answer = Answer(junk=str(gone))
        names = {
            name for one in (*before, *asked) for name in (one.owner, one.agent, one.role) if name
        }
        facts, rejected = guarded(answer, telling, context, known, sorted(names))
        return _Read(messages, silent, tuple(before), tuple(facts), tuple(rejected), answer.junk)

    def _write(
        self,
        claim: Claim,
        was_read: _Read,
        done: Counter[str],
        rejected: Counter[str],
        failures: Counter[str],
    ) -> set[str]:
        """Store what came of some turns, all or nothing; return what is not to be asked again now."""
        now_us = micros(self._clock())
        with self._records.transaction():
            if not self._is_still(claim, was_read):
                self._queue.release(claim)
                return set(claim.turns)
            counts = Counter(
                self._facts.keep(fact, was_read.messages[fact.turn]) for fact in was_read.facts
            )
            outcomes = dict.fromkeys(was_read.silent, (NOTHING, ""))
            outcomes |= {
                message.id: _outcome(number, message, was_read, self._facts.said_by(message.id))
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

    def _is_still(self, claim: Claim, was_read: _Read) -> bool:
        """True when these turns are ours, and they and those before them are as they were read."""
        if not self._queue.is_held(claim):
            return False
        read = (*was_read.messages.values(), *was_read.before)
        now = self._records.get(
            (*claim.turns, *(one.id for one in was_read.before)), self._changeable
        )
        return all(id_ in now for id_ in claim.turns) and all(
            one.id in now and _as_read(now[one.id]) == _as_read(one) for one in read
        )


def _as_read(one: Memory) -> tuple[str | None, ...]:
    """Return what decides whose facts these are, and what they may say."""
    return (one.text, one.type, one.namespace, one.session, one.role, one.owner, one.agent)


def _turn(number: int, message: Memory) -> Turn:
    return Turn(number, " ".join((message.role or "user").split()), message.text)


def _outcome(
    number: int, message: Memory, was_read: _Read, facts: Sequence[str]
) -> tuple[str, str]:
    """Return what became of one message, and why if it failed.

    Facts stand for a message only if all of it was read, nothing that was offered of it was rejected,
    and they hold every word of it that tells something: otherwise it stays a memory beside them.
    """
    if was_read.junk:
        return FAILED, was_read.junk
    accepted = sum(fact.turn == number for fact in was_read.facts)
    reasons = [one.reason for one in was_read.rejected if one.turn == number]
    if accepted:
        whole = len(without_recalled(message.text)) <= MOST_TURN_CHARS
        stand = whole and not reasons and covered(message.text, facts)
        return (FACTS if stand else PARTLY), ""
    if not was_read.facts:  # what names no turn may have been about any
        reasons += [one.reason for one in was_read.rejected if one.turn == 0]
    return (FAILED, reasons[0]) if reasons else (NOTHING, "")
