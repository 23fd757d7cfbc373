"""Time in a search: the time that a query names, memories of that time, and recency."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from math import exp, log
from typing import TYPE_CHECKING

from scrubjay.search.pipeline import Run, explained_by, limits, stage
from scrubjay.times import micros
from scrubjay.types import Candidate, Memory, RankedList

if TYPE_CHECKING:
    from scrubjay.search.explanation import Explanation
    from scrubjay.text.dates import Window
    from scrubjay.types import Step

# Texts contain March, 1969 and Christmas, but a text of last week does not contain "last week".
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
    """Find the time that a query names ("last week"), by the caller's clock and time zone.

    Words relative to now are then not searched for, unless they are quoted; dates still are. If no
    other word is left to search for ("what did I say yesterday?"), the results are memories of that
    time; for a date ("what happened in March?"), also those that name it.
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
    begins, ends = (_there(moment, now.tzinfo) for moment in window[:2])
    run = run.noting(said=window.said, begins=begins, ends=ends)
    name = _name_of(now)
    return run.noting(zone=name) if name else run


def _counts_from_now(window: Window) -> bool:
    """True for "last week" and "tomorrow", not for "in May" or "1968"."""
    return bool(_FROM_NOW.search(window.said)) and not _DATED.search(window.said)


def _name_of(now: datetime) -> str | None:
    """Return the name of a clock's time zone; None for an offset, which the times show themselves."""
    zone = now.tzinfo or UTC
    if isinstance(zone, timezone) and zone is not UTC:
        return None
    return getattr(zone, "key", None) or zone.tzname(now)


def _there(moment: datetime, zone: tzinfo | None) -> str:
    """Return a moment in a time zone, or in UTC at the ends of the calendar."""
    try:
        return moment.astimezone(zone or UTC).isoformat()
    except OverflowError:
        return moment.isoformat()


# Words that ask for anything that happened, beside the stop words.
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
    from scrubjay.text.analysis import fold, words

    return all(fold(word) in _grammar() for word in words(subject))


@lru_cache(maxsize=1)
def _grammar() -> frozenset[str]:
    from scrubjay.text.analysis import STOP_WORDS, fold
    from scrubjay.text.languages import stop_words

    return frozenset(map(fold, (*_WHATEVER, *STOP_WORDS, *stop_words("de"))))


@stage
@limits(depth="1 or more")
def moment(run: Run, *, depth: int = 64, only: bool = False) -> RankedList:
    """Memories of the time that the query names, the latest first.

    With `only`, for queries that ask for the whole of that time and nothing else.
    """
    window = run.query.window
    if window is None or (only and not run.query.whole_window):
        return RankedList("moment")
    moments = run.kit.need("moments")
    most = max(depth, run.query.limit)
    found: RankedList = moments.between(
        micros(window.begins), micros(window.ends), run.query.scope, most
    )
    return found


def _explain_time_blend(explanation: Explanation, step: Step) -> None:
    time = step.numbers["time"]
    if "temporal" in explanation.hit.why:
        fits = explanation.hit.why["temporal"] / time if time else 0.0
        explanation.add("temporal", f"{time:g} × {fits:.6f}")
    if explanation.scale != 1:
        explanation.note(
            f"{explanation.scale:.6f}: the scale; what ranks count where the query names a time"
        )


@stage
@limits(ranks="0 or more", time="0 or more", unknown="between 0 and 1")
@explained_by(_explain_time_blend)
def time_blend(run: Run, *, ranks: float = 0.6, time: float = 0.4, unknown: float = 0.5) -> Run:
    """Where the query names a time, score by `ranks` x score + `time` x how well the time fits.

    The fit is 1 inside the window and falls in a straight line to 0 over one more length of the window
    on both sides. A memory without a time has the fit `unknown`.
    """
    window = run.query.window
    if window is None:
        return run
    pool = []
    for candidate in run.pool:
        fits = unknown if candidate.memory is None else fit(candidate.memory, window, unknown)
        why = {name: ranks * part for name, part in candidate.why.items()}
        why["temporal"] = time * fits
        pool.append(candidate._replace(score=sum(why.values()), why=why))
    return run.ranked(pool)


@stage
def timed(run: Run) -> bool:
    """True when the query names a time."""
    return run.query.window is not None


def _explain_in_time(explanation: Explanation, step: Step) -> None:
    change, taken = explanation.hit.why.get("time", 0.0), step.notes.get("taken", 0.0)
    before = explanation.hit.score - change
    fits = 1 + change / (before * taken) if before and taken else 1.0
    explanation.add("time", f"-{taken:g} × {before:.6f} × (1 - {fits:.6f})" if change else "0")


@stage
@limits(share="between 0 and 1", by_text="between 0 and 1")
@explained_by(_explain_in_time)
def in_time(run: Run, *, share: float = 0.25, by_text: float = 0.05) -> Run:
    """Take up to a share of the score from memories that do not fit the time the query names.

    The fit is that of the event or of when it was said, whichever is better. A date near which nothing
    was said ("libraries of the late 1960s") occurs in texts, so words find it: no more than `by_text`
    is taken then. Where no memory fits, all scores stay.
    """
    window = run.query.window
    if window is None:
        return run
    fits = {
        candidate.id: _either(candidate.memory, window)
        for candidate in run.pool
        if candidate.memory
    }
    if not any(fits.values()):
        return run.noting(fits=0)
    said = any(_when_said(candidate.memory, window) for candidate in run.pool if candidate.memory)
    taken = share if said or _counts_from_now(window) else by_text
    pool = []
    for candidate in run.pool:
        less = candidate.score * taken * (1 - fits.get(candidate.id, 0.0))
        pool.append(
            candidate._replace(
                score=candidate.score - less, why={**candidate.why, "time": 0.0 - less}
            )
        )
    run = run.ranked(pool).noting(taken=taken)
    return run._replace(confidence=run.pool[0].score if run.confidence is not None else None)


def _either(memory: Memory, window: Window) -> float:
    return max(fit(memory, window), _when_said(memory, window))


def _when_said(memory: Memory, window: Window) -> float:
    return fit(memory._replace(event_time=None), window)


def fit(memory: Memory, window: Window, unknown: float = 0.5) -> float:
    """Return how well a memory fits a window: by the time of its event, else by when it was said."""
    begins = memory.event_time or memory.created_at
    if begins is None:
        return unknown
    ends = (memory.event_until or begins) if memory.event_time else begins
    gap = max(begins - window.ends, window.begins - ends, timedelta(0))
    return max(0.0, 1 - gap / (window.ends - window.begins))


def _explain_recency(explanation: Explanation, step: Step) -> None:
    weight, constant_s = step.numbers["weight"], step.numbers["time_constant_s"]
    added = explanation.hit.why.get("recency", 0.0)
    decay = "0"  # so long ago that nothing is left
    if added and weight:
        age_s = max(0.0, -log(added / weight) * constant_s)
        decay = f"e^(-{age_s:.1f} s / {constant_s:g} s)"
    explanation.add("recency", f"{weight:g} × {decay}")


@stage
@limits(weight="0 or more", time_constant_s="above 0")
@explained_by(_explain_recency)
def recency(run: Run, *, weight: float = 0.25, time_constant_s: float = 120) -> Run:
    """Add `weight` x e^(-age / time_constant_s): what was said a moment ago is wanted more often."""
    now = run.kit.need("clock")()
    pool = []
    for candidate in run.pool:
        boost = weight * exp(-_age_s(candidate, now) / time_constant_s)
        pool.append(
            candidate._replace(
                score=candidate.score + boost, why={**candidate.why, "recency": boost}
            )
        )
    return run.ranked(pool)


def _age_s(candidate: Candidate, now: datetime) -> float:
    said = candidate.memory.created_at if candidate.memory else None
    # The clock may be behind that of the writer.
    return max((now - said).total_seconds(), 0.0) if said else float("inf")
