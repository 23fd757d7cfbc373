"""Find the time expressions of a text and choose the one it speaks of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial

from scrubjay.text.dates import Window
from scrubjay.text.dates.counted import COUNTED
from scrubjay.text.dates.dates import DATES
from scrubjay.text.dates.grammar import NEEDS_FROM, beside, form, in_range, openings
from scrubjay.text.dates.near import NEAR
from scrubjay.text.dates.relative import RELATIVE, next_to
from scrubjay.text.dates.seen import Said, Seen
from scrubjay.text.dates.spans import Span, in_utc
from scrubjay.text.dates.tense import lean
from scrubjay.text.dates.tokens import Tokens, tokens_of

_OPEN_DAYS = 365  # how far back "before 5 May" reaches
_SENTENCE = 30  # tokens on each side that may tell the tense
_RESOLVERS = RELATIVE | COUNTED | NEAR | DATES
_MATCHED = "|"
_ARTICLES = ("t", "u", "n")
_JOINTS = re.compile("[tun,]?([&2o])(?:[tun](?!D))?")
_GERMAN = frozenset(
    "der die das und ist ich am im vom zum bis seit war haben hatte wir mit auf für von den dem".split()
)


def found(text: str, now: datetime, *, is_query: bool) -> Window | None:
    """Return the narrowest range of time in a text, the first of equal ones; None without any."""
    tokens = tokens_of(text)
    if tokens is None:
        return None
    if now.tzinfo is None:
        now = now.replace(tzinfo=UTC)
    spans = list(_Finder(tokens, now, is_query=is_query).spans())
    if not spans:
        return None
    span, start, end = min(spans, key=lambda one: (one[0].ends - one[0].begins, one[1]))
    return Window(span.begins, span.ends, tokens.said(start, end))


class _Finder:
    """The expressions of one text, seen from one moment."""

    def __init__(self, tokens: Tokens, now: datetime, *, is_query: bool) -> None:
        self._tokens = tokens
        self._classes = tokens.classes
        self._now = now
        self._zone = now.tzinfo or UTC
        self._is_query = is_query

    def spans(self) -> Iterator[tuple[Span, int, int]]:
        """Give every expression that means something: with two ends, next to another, then alone."""
        for passing in (self._with_two_ends, self._next_to_others, self._alone):
            for span, start, end in passing():
                yield span, start, end
                covered = _MATCHED * (end - start)
                self._classes = self._classes[:start] + covered + self._classes[end:]

    def _with_two_ends(self) -> Iterator[tuple[Span, int, int]]:
        if not any(kind in self._classes for kind in "bo2"):
            return
        for first in in_range().finditer(self._classes):
            start = first.start() - (
                self._classes[max(0, first.start() - 1) : first.start()] in _ARTICLES
            )
            opening = self._classes[max(0, start - 1) : start]
            joint = _JOINTS.match(self._classes, first.end())
            if joint is None or (opening == "b") != (joint[1] == "&"):
                continue
            is_opened = opening in ("b", "F")
            if not is_opened and first.lastgroup in NEEDS_FROM:
                continue
            last = (in_range() if is_opened else form()).match(self._classes, joint.end())
            span = last and self._joined(first, last)
            if last and span:
                yield span, (start - 1 if is_opened else first.start()), last.end()

    def _joined(self, first: re.Match[str], last: re.Match[str]) -> Span | None:
        """Return the range from one expression to another; what the first leaves out the last says."""
        ends = self._resolved(last)
        if ends is None:
            return None
        day = ends.begins.astimezone(self._zone).date()
        begins = self._resolved(first, not_after=day)
        if begins is None or begins.begins >= ends.ends:
            return None
        return Span(begins.begins, ends.ends)

    def _next_to_others(self) -> Iterator[tuple[Span, int, int]]:
        for match in beside().finditer(self._classes):
            other = form().match(self._classes, match.end())
            anchor = other and self._resolved(other)
            if other and anchor:
                span = self._checked(partial(next_to, self._said(match), anchor, self._zone))
                if span:
                    yield span, match.start(), other.end()

    def _alone(self) -> Iterator[tuple[Span, int, int]]:
        for match in form().finditer(self._classes):
            start, end = match.span()
            opening = openings().search(self._classes, max(0, start - 2), start)
            is_deadline = opening is not None and opening[0][0] == "2"
            is_since = opening is not None and opening[0][0] == "s"
            span = self._resolved(match, is_deadline=is_deadline, is_since=is_since)
            if span and opening and match.lastgroup != "rolling":
                start = opening.start()
                span = self._checked(partial(self._opened, span, self._classes[start]))
            elif (
                span
                and self._classes[max(0, start - 1) : start] == "F"
                and (self._classes[end : end + 1] == "n")
            ):  # from Monday on
                start, end = start - 1, end + 1
                span = self._checked(partial(self._opened, span, "s"))
            if span:
                yield span, start, end

    def _resolved(
        self,
        match: re.Match[str],
        not_after: date | None = None,
        *,
        is_deadline: bool = False,
        is_since: bool = False,
    ) -> Span | None:
        before, after = self._sentence(*match.span())
        leaning, is_sure = lean(before, after, is_query=self._is_query and not is_deadline)
        if is_since:  # it began, whatever the verb says: since Monday my back hurts
            leaning, is_sure = -1, True
        seen = Seen(
            self._now,
            self._zone,
            leaning or int(is_deadline),
            is_sure,
            self._is_query,
            match.lastgroup == "slash" and not _GERMAN.isdisjoint((*before, *after)),
            not_after,
            before,
            after,
        )
        resolver = _RESOLVERS[str(match.lastgroup)]
        return self._checked(lambda: resolver(self._said(match), seen))

    def _checked(self, make: Callable[[], Span | None]) -> Span | None:
        """Return a span in UTC; None for what is no date, such as 30 February, or outside of time."""
        try:
            span = make()
        except (ValueError, OverflowError):
            return None
        if span is None:
            return None
        span = Span(*(in_utc(one, self._zone) for one in span))
        return span if span.begins < span.ends else None

    def _opened(self, span: Span, opening: str) -> Span:
        """Return a span with one end open: since A, after A, before A, until A."""
        now = self._now.astimezone(UTC)
        closing = now.replace(second=0, microsecond=0) + timedelta(minutes=1)
        far = timedelta(days=_OPEN_DAYS)
        if opening == "s":
            return Span(span.begins, closing) if span.begins < now else span
        if opening == "z":
            return Span(span.ends, closing if span.ends <= now else span.ends + far)
        if opening in "vV":
            return Span(span.begins - far, span.begins)
        return Span(now if span.ends > now else span.ends - far, span.ends)

    def _said(self, match: re.Match[str]) -> Said:
        part = slice(*match.span())
        return Said(match[0], self._tokens.values[part], self._tokens.words[part])

    def _sentence(self, start: int, end: int) -> tuple[list[str], list[str]]:
        """Return the words of the sentence before and after an expression."""
        before = self._tokens.classes[max(0, start - _SENTENCE) : start]
        after = self._tokens.classes[end : end + _SENTENCE]
        left = start - len(before) + 1 + max(before.rfind("."), before.rfind("!"))
        right = end + min(
            (n for n in (after.find("."), after.find("!")) if n >= 0), default=len(after)
        )
        return self._tokens.words[left:start], self._tokens.words[end:right]
