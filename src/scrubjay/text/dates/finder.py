"""Find the time expressions of a text, and choose the one that it speaks of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial

from scrubjay.text.dates import Window, tokens
from scrubjay.text.dates.absolute import ABSOLUTE
from scrubjay.text.dates.calendar import Context, Span, closing, in_utc
from scrubjay.text.dates.relative import RELATIVE, next_to
from scrubjay.text.dates.tense import tense_in_query, tense_of
from scrubjay.text.dates.verbs import Tense

_OPEN_DAYS = 365  # how far back "before 5 May" reaches
_SENTENCE_TOKENS = 30  # on each side, for the tense
_RESOLVERS = RELATIVE | ABSOLUTE
_MATCHED = "|"
_ARTICLE_CLASSES = ("t", "u", "n")
_JOINTS = re.compile("[tun,]?([&2o])(?:[tun](?!D))?")
_GERMAN = frozenset(
    "der die das und ist ich am im vom zum bis seit war haben hatte wir mit auf für von den dem".split()
)

_Found = tuple[Span, int, int]


def find_window(text: str, lower: str, now: datetime, *, is_query: bool) -> Window | None:
    """Return the narrowest range of time in a text, the first of equal ones; None without any."""
    read = tokens.tokenize(text, lower)
    if now.tzinfo is None:
        now = now.replace(tzinfo=UTC)
    found = list(_Finder(read, now, is_query=is_query).spans())
    if not found:
        return None
    span, start, end = min(found, key=lambda each: (each[0].ends - each[0].begins, each[1]))
    return Window(span.begins, span.ends, read.text_between(start, end))


class _Finder:
    """The expressions of one text, seen from one moment."""

    def __init__(self, read: tokens.Tokens, now: datetime, *, is_query: bool) -> None:
        self._tokens = read
        self._classes = read.classes
        self._now = now
        self._zone = now.tzinfo or UTC
        self._is_query = is_query

    def spans(self) -> Iterator[_Found]:
        """Yield the time of each expression: ranges, then times next to another, then single ones."""
        for find in (self._ranges, self._anchored, self._single):
            for span, start, end in find():
                yield span, start, end
                covered = _MATCHED * (end - start)
                self._classes = self._classes[:start] + covered + self._classes[end:]

    def _ranges(self) -> Iterator[_Found]:
        if not any(kind in self._classes for kind in "bo2"):
            return
        for first in tokens.expression_pattern(range_end=True).finditer(self._classes):
            has_article = self._before(first.start()) in _ARTICLE_CLASSES
            start = first.start() - has_article
            opening = self._before(start)
            joint = _JOINTS.match(self._classes, first.end())
            if joint is None or (opening == "b") != (joint[1] == "&"):
                continue
            is_opened = opening in ("b", "F")
            if not is_opened and first.lastgroup in tokens.NEED_FROM:
                continue
            last = tokens.expression_pattern(range_end=is_opened).match(self._classes, joint.end())
            span = last and self._joined(first, last)
            if last and span:
                yield span, (start - 1 if is_opened else first.start()), last.end()

    def _joined(self, first: re.Match[str], last: re.Match[str]) -> Span | None:
        """Return the range from one expression to another; the last completes the first."""
        ends = self._resolved(last)
        if ends is None:
            return None
        day = ends.begins.astimezone(self._zone).date()
        begins = self._resolved(first, not_after=day)
        if begins is None or begins.begins >= ends.ends:
            return None
        return Span(begins.begins, ends.ends)

    def _anchored(self) -> Iterator[_Found]:
        for match in tokens.ANCHORED.finditer(self._classes):
            other = tokens.expression_pattern().match(self._classes, match.end())
            anchor = other and self._resolved(other)
            if other and anchor:
                span = self._checked(partial(next_to, self._expression(match), anchor, self._zone))
                if span:
                    yield span, match.start(), other.end()

    def _single(self) -> Iterator[_Found]:
        for match in tokens.expression_pattern().finditer(self._classes):
            start, end = match.span()
            opening = tokens.OPENING.search(self._classes, max(0, start - 2), start)
            word = opening[0][0] if opening else ""
            span = self._resolved(match, is_deadline=word == "2", is_since=word == "s")
            if span and opening and match.lastgroup != "rolling":
                start = opening.start()
                span = self._checked(partial(self._opened, span, word))
            elif span and self._before(start) == "F" and self._classes[end : end + 1] == "n":
                start, end = start - 1, end + 1  # from Monday on
                span = self._checked(partial(self._opened, span, "s"))
            if span:
                yield span, start, end

    def _before(self, at: int) -> str:
        return self._classes[max(0, at - 1) : at]

    def _resolved(
        self,
        match: re.Match[str],
        not_after: date | None = None,
        *,
        is_deadline: bool = False,
        is_since: bool = False,
    ) -> Span | None:
        before, after = self._sentence(*match.span())
        if is_since:  # it has begun, whatever the verb: since Monday my back hurts
            tense = Tense(-1, True)
        elif self._is_query and not is_deadline:
            tense = tense_in_query(before, after)
        else:
            tense = tense_of(before, after)
        context = Context(
            self._now,
            self._zone,
            tense.way or int(is_deadline),
            tense.is_clear,
            self._is_query,
            match.lastgroup == "slash" and not _GERMAN.isdisjoint((*before, *after)),
            not_after,
            before,
            after,
        )
        resolver = _RESOLVERS[str(match.lastgroup)]
        return self._checked(lambda: resolver(self._expression(match), context))

    def _checked(self, make: Callable[[], Span | None]) -> Span | None:
        """Return a span in UTC; None for an invalid date, such as 30 February, or one out of range."""
        try:
            span = make()
        except (ValueError, OverflowError):
            return None
        if span is None:
            return None
        span = Span(*(in_utc(moment, self._zone) for moment in span))
        return span if span.begins < span.ends else None

    def _opened(self, span: Span, opening: str) -> Span:
        """Return a span with one end open: since A, after A, before A, until A."""
        now = self._now.astimezone(UTC)
        far = timedelta(days=_OPEN_DAYS)
        if opening == "s":
            return Span(span.begins, closing(now)) if span.begins < now else span
        if opening == "z":
            return Span(span.ends, closing(now) if span.ends <= now else span.ends + far)
        if opening in "vV":
            return Span(span.begins - far, span.begins)
        return Span(now if span.ends > now else span.ends - far, span.ends)

    def _expression(self, match: re.Match[str]) -> tokens.Expression:
        part = slice(*match.span())
        return tokens.Expression(match[0], self._tokens.values[part], self._tokens.words[part])

    def _sentence(self, start: int, end: int) -> tuple[list[str], list[str]]:
        before = self._tokens.classes[max(0, start - _SENTENCE_TOKENS) : start]
        after = self._tokens.classes[end : end + _SENTENCE_TOKENS]
        left = start - len(before) + 1 + max(before.rfind("."), before.rfind("!"))
        ends = [at for at in (after.find("."), after.find("!")) if at >= 0]
        right = end + min(ends, default=len(after))
        return self._tokens.words[left:start], self._tokens.words[end:right]
