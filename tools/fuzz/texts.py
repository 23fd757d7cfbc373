"""Query syntax and time words: any text is legal, an answer is ordered, a range has a length."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import scrubjay
from scrubjay import times
from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import valid_unicode
from scrubjay.text.dates import events_in, window_of, without
from scrubjay.text.query_syntax import parse_query
from tools.fuzz.target import Check, Target, text_of

_HELD: tuple[tuple[str, ...], ...] = ((), ("en", "de", ""), ("ja", "en"), ("ga", "id", "ru"))
_MOST = 5
_NOW = (
    datetime(2026, 5, 3, 12, tzinfo=UTC),
    datetime(2026, 3, 29, 2, 30, tzinfo=ZoneInfo("Europe/Berlin")),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, tzinfo=ZoneInfo("Pacific/Auckland")),
)


@contextmanager
def _queries() -> Iterator[Check]:
    """Parse a text as a query for stores of several languages, and search with it."""
    with scrubjay.open(":memory:", embedder=False, clock=lambda: _NOW[0]) as store:
        store.add_many(
            {"text": text}
            for text in ("notes about C++ and rm -rf", "日本語の検索", "Der Bericht", "don't x.y")
        )

        def check(data: bytes) -> None:
            text = text_of(data)
            for held in _HELD:
                parsed = parse_query(valid_unicode(text), held, _MOST)
                assert all(len(part) <= _MOST for part in parsed[:3]), parsed
                assert not parsed.words or parsed.wanted, parsed
            results = store.search(text, mode="keyword")
            assert results.query == text
            scores = [hit.score for hit in results]
            assert scores == sorted(scores, reverse=True), scores

        yield check


@contextmanager
def _times() -> Iterator[Check]:
    """Look for time words in a text, and read it as a time, as a zone and as a duration."""

    def check(data: bytes) -> None:
        text = text_of(data)
        for now in _NOW:
            for found in (window_of(text, now), events_in(text, now)):
                if found is not None:
                    assert found.begins < found.ends, found
                    assert found.begins.tzinfo is UTC, found
                    assert found.said.strip(), found
                    without(text, found)
                    times.format_span(found.begins, found.ends)
        _read_times(text)

    yield check


def _read_times(text: str) -> None:
    for end_of_day in (False, True):
        try:
            read = times.parse(text, "at", end_of_day=end_of_day)
        except InvalidInput:
            continue
        assert read is not None
        assert times.parse(read.isoformat(), "at") == read
        assert times.moment(times.micros(read)) == read
    with suppress(InvalidInput):
        assert times.duration(text, "it") >= timedelta(0)
    if text.startswith("["):  # the error suggests a similar name, which takes a while
        with suppress(InvalidInput):
            times.time_zone(text[1:], "it")


QUERIES = Target(
    "query",
    _queries,
    ("text/query_syntax.py", "text/analysis.py", "storage/sqlite/keyword.py"),
    (
        b"notes about C++",
        b'"rm -rf" -build note*',
        "検索「日本」 -語 「".encode(),
        "don’t x.y _a_ “quoted words” „so“ «c»".encode(),
        b"-only -negations",
        b"what did the report say about the third quarter and the budget",
    ),
    (
        '"',
        "-",
        "*",
        "“",
        "”",
        "„",
        "«",
        "»",
        "「",
        "」",
        "NEAR(",
        "AND",
        "\0",
        "C++",
        "検索",
        " -",
    ),
    grows=True,
)
TIMES = Target(
    "time",
    _times,
    (
        *("times.py", "text/dates/__init__.py", "text/dates/finder.py", "text/dates/tokens.py"),
        *("text/dates/absolute.py", "text/dates/relative.py", "text/dates/calendar.py"),
    ),
    (
        b"what did I do last week",
        b"since Monday until 3 May 2026",
        "vor drei Tagen, am Montagabend und im Frühjahr".encode(),
        b"two days before Christmas 2024 I will go",
        b"between 1.2.2024 and 05/06/2025",
        b"2026-05-03T14:30[Europe/Berlin]",
        b"2026-05-03 14:30 +02:00",
        b"the last 3 months of the 90s, Q3, first weekend of June",
        b"from 2 to 5 March, the second Tuesday in April",
        b"12h",
        b"[America/Argentina/Buenos_Aires",
    ),
    (
        *("last", "next", "this", "ago", "in", "since", "until", "before", "after", "between"),
        *("from", "to", "day", "days", "week", "month", "year", "hour", "weekend", "quarter"),
        *("Monday", "friday", "May", "january", "summer", "yesterday", "tomorrow", "tonight"),
        *("vor", "seit", "bis", "nach", "letzte", "naechsten", "Tagen", "Woche", "gestern"),
        *("Christmas", "Easter", "two", "third", "half", "-01-", "T00:00", "Z", "+02:00", "[UTC]"),
        *("9999", "0001", "the", "of", "will", "was", "morning", "evening", "decade", "90s"),
    ),
    grows=True,
)
