"""Time in a search: what a query says of it, what happened then, and what was said just now."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, checked_by, stage
from scrubjay.times import micros
from scrubjay.types import Candidate, Memory, RankedList

if TYPE_CHECKING:
    from scrubjay.text.dates import Window


# Texts name March, 1969 and Christmas; none that is of last week says "last week".
_DATED = re.compile(
    r"\d{4}|\d[./-]\d|\b(?:jan|feb|mar|mär|maer|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)",
    re.IGNORECASE,
)
_FROM_NOW = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|ago|last|this|next|past|now|just|moment|earlier|heute|gestern"
    r"|vorgestern|morgen|übermorgen|uebermorgen|vor|letzt\w*|vorig\w*|vergangen\w*|dies\w*|nächst\w*"
    r"|naechst\w*|kommend\w*|gerade|eben|vorhin)\b",
    re.IGNORECASE,
)


@stage
def time_range(run: Run) -> Run:
    """Find the time that a query speaks of ("last week"), by the caller's clock and in its zone.

    Words that count from now are no longer searched for, unless they stand in quotes; dates still are.
    Where no other word asks for anything ("what did I say yesterday?"), what happened then is the
    answer; of a date ("what happened in March?"), what names it as well.
    """
    from scrubjay.text.dates import window_of, without

    clock = run.kit.need("clock")
    now = clock()
    window = window_of(run.query.text, now)
    if window is None:
        return run
    rest = without(run.query.text, window)
    quoted = '"' in run.query.text
    alone = not quoted and _asks_for_nothing(rest)
    from_now = _counts_from_now(window)
    query = run.query._replace(
        window=window,
        subject=rest if from_now and not quoted else "",
        only_time=alone and from_now,
        whole_window=alone and (from_now or bool(rest.strip(" ?!."))),
    )
    run = run._replace(query=query)
    begins, ends = (_there(one, now.tzinfo) for one in window[:2])
    run = run.noting(said=window.said, begins=begins, ends=ends)
    name = _name_of(now)
    return run.noting(zone=name) if name else run


def _counts_from_now(window: Window) -> bool:
    """True of "last week" and "tomorrow", not of "in May" or "1968"."""
    return bool(_FROM_NOW.search(window.said)) and not _DATED.search(window.said)


def _name_of(now: datetime) -> str | None:
    """Return the name of the zone of a clock; an offset has none, and the times say it themselves."""
    zone = now.tzinfo or UTC
    if isinstance(zone, timezone) and zone is not UTC:
        return None
    return getattr(zone, "key", None) or zone.tzname(now)


def _there(moment: datetime, zone: tzinfo | None) -> str:
    """Return a moment in a zone; at the ends of the calendar, where it has none, in UTC."""
    try:
        return moment.astimezone(zone or UTC).isoformat()
    except OverflowError:
        return moment.isoformat()


# Who asks for these asks for whatever there was; beside them, only words of grammar.
_WHATEVER = frozenset(
    """
    say said saying tell told talk talked talking speak spoke spoken mention mentioned discuss discussed
    ask asked happen happened happening go going went do doing done anything everything something thing
    things remember remind show list find search memory memories message messages conversation
    sagen sagte gesagt erzählen erzählt sprechen gesprochen reden geredet erwähnt fragen gefragt
    passiert passierte geschehen geschah los machen gemacht getan tun alles etwas was zeigen zeig
    erinnern erinnere suche finde nachricht nachrichten gespräch
    habe hast habt bin bist du dir dich mir mich uns euch mein meine unser unsere denn mal da
    """.split()
)


def _asks_for_nothing(subject: str) -> bool:
    """True when a query has no word but those of grammar and those that ask for whatever there was."""
    from scrubjay.text.analysis import fold, words

    return all(fold(word) in _grammar() for word in words(subject))


@lru_cache(maxsize=1)
def _grammar() -> frozenset[str]:
    from scrubjay.text.analysis import STOP_WORDS, fold
    from scrubjay.text.languages import stop_words

    return frozenset(map(fold, (*_WHATEVER, *STOP_WORDS, *stop_words("de"))))


@stage
def moment(run: Run, *, depth: int = 64, only: bool = False) -> RankedList:
    """What happened, or was said, in the time that the query speaks of, the latest first.

    Who asks what was said yesterday names no word of it. With `only`, for such questions alone.
    """
    if depth < 1:
        raise InvalidInput(f"moment.depth is {depth}; it must be 1 or more")
    window = run.query.window
    if window is None or (only and not run.query.whole_window):
        return RankedList("moment")
    moments = run.kit.need("moments")
    most = max(depth, run.query.limit)
    found: RankedList = moments.between(
        micros(window.begins), micros(window.ends), run.query.scope, most
    )
    return found


def _check_blend(*, ranks: float, time: float, unknown: float) -> None:
    if ranks < 0 or time < 0 or not 0 <= unknown <= 1:
        raise InvalidInput(
            f"time_blend has ranks {ranks}, time {time} and unknown {unknown}; the first two must be"
            " 0 or more, and unknown between 0 and 1"
        )


@stage
@checked_by(_check_blend)
def time_blend(run: Run, *, ranks: float = 0.6, time: float = 0.4, unknown: float = 0.5) -> Run:
    """Where the query speaks of a time, score by `ranks` x score + `time` x how well the time fits.

    It fits by 1 inside the window and falls in a straight line to 0 over one more length of the window
    on both sides; a memory without any time fits by `unknown`.
    """
    window = run.query.window
    if window is None:
        return run
    pool = []
    for one in run.pool:
        fits = unknown if one.memory is None else fit(one.memory, window, unknown)
        why = {name: ranks * part for name, part in one.why.items()}
        why["temporal"] = time * fits
        pool.append(one._replace(score=sum(why.values()), why=why))
    return run.ranked(pool)


@stage
def timed(run: Run) -> bool:
    """True when the query speaks of a time."""
    return run.query.window is not None


def _check_share(*, share: float, by_text: float) -> None:
    for name, number in (("share", share), ("by_text", by_text)):
        if not 0 <= number <= 1:
            raise InvalidInput(f"in_time.{name} is {number}; it must be between 0 and 1")


@stage
@checked_by(_check_share)
def in_time(run: Run, *, share: float = 0.25, by_text: float = 0.05) -> Run:
    """Take up to a share of the score from what has nothing to do with the time asked for.

    A memory fits by what it speaks of or by when it was said, whichever is nearer. A date near which
    nothing was said ("libraries of the late 1960s") is one that texts name, so their words find it: no
    more than `by_text` is taken then. Where none fits at all, all scores stay.
    """
    window = run.query.window
    if window is None:
        return run
    fits = {one.id: _either(one.memory, window) for one in run.pool if one.memory}
    if not any(fits.values()):
        return run.noting(fits=0)
    said = any(_when_said(one.memory, window) for one in run.pool if one.memory)
    taken = share if said or _counts_from_now(window) else by_text
    pool = []
    for one in run.pool:
        less = one.score * taken * (1 - fits.get(one.id, 0.0))
        pool.append(one._replace(score=one.score - less, why={**one.why, "time": 0.0 - less}))
    run = run.ranked(pool).noting(taken=taken)
    return run._replace(confidence=run.pool[0].score if run.confidence is not None else None)


def _either(memory: Memory, window: Window) -> float:
    return max(fit(memory, window), _when_said(memory, window))


def _when_said(memory: Memory, window: Window) -> float:
    return fit(memory._replace(event_time=None), window)


def fit(memory: Memory, window: Window, unknown: float = 0.5) -> float:
    """Return how well the time of a memory fits a window: of what it speaks of, else when it was said."""
    begins = memory.event_time or memory.created_at
    if begins is None:
        return unknown
    ends = (memory.event_until or begins) if memory.event_time else begins
    gap = max(begins - window.ends, window.begins - ends, timedelta(0))
    return max(0.0, 1 - gap / (window.ends - window.begins))


def _check_recency(*, weight: float, time_constant_s: float) -> None:
    if weight < 0 or not time_constant_s > 0:
        raise InvalidInput(
            f"recency has weight {weight} and time_constant_s {time_constant_s}; the weight must be"
            " 0 or more, and the constant above 0"
        )


@stage
@checked_by(_check_recency)
def recency(run: Run, *, weight: float = 0.25, time_constant_s: float = 120) -> Run:
    """Add `weight` x e^(-age / time_constant_s): what was said a moment ago is meant more often."""
    now = run.kit.need("clock")()
    pool = []
    for one in run.pool:
        boost = weight * exp(-_age_s(one, now) / time_constant_s)
        pool.append(one._replace(score=one.score + boost, why={**one.why, "recency": boost}))
    return run.ranked(pool)


def _age_s(candidate: Candidate, now: datetime) -> float:
    said = candidate.memory.created_at if candidate.memory else None
    # A clock may be behind that of who wrote it.
    return max((now - said).total_seconds(), 0.0) if said else float("inf")
