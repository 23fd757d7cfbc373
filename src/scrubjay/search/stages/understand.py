"""Query analysis: the terms, the vector and the time of a query, before any index is searched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timezone, tzinfo
from functools import cache
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeVar

from scrubjay.errors import StoreError, Unavailable
from scrubjay.search.pipeline import Run, asks_no_store, limits, stage
from scrubjay.text.analysis import STOP_WORDS, fold, has_terms, is_unspaced, valid_unicode, words
from scrubjay.text.query_syntax import ParsedQuery, parse_query
from scrubjay.types import NOTHING, Term

if TYPE_CHECKING:
    from scrubjay.models.guard import GuardedEmbedder
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.text.dates import Window

T = TypeVar("T")
# What is still required when no text contains everything, and the warning for the results.
_LOOSER = (
    (("beginning",), "no text holds the phrase; its words were searched instead"),
    ((), "no text holds what must be there; its words were searched instead"),
)


@stage
@limits(most="1 or more", least_chars="1 or more")
def keywords(run: Run, *, most: int = 64, least_chars: int = 1) -> Run:
    """Split the query into stems of its language, phrases, negations and prefixes; drop stop words.
    Phrases, negations and prefixes narrow the scope, so they apply to every source. Words of
    fewer than `least_chars` characters are dropped if there are others; in a script without
    spaces between words, one character is a word."""
    if run.query.only_time:  # the query asks for a time and nothing else
        return run
    asked, instead = _findable(run, most)
    return _asking(run, asked, least_chars).warning(_unusual(asked, most) or instead)


@stage
@asks_no_store
@limits(most="1 or more", least_chars="1 or more")
def split_query(run: Run, *, most: int = 64, least_chars: int = 1) -> Run:
    """Split the query into keywords, phrases, negations and prefixes, before the store is asked."""
    asked = parse_query(_searched_text(run), (), most)
    return _asking(run, asked, least_chars).warning(_unusual(asked, most))


@stage
def adapt_query(run: Run) -> Run:
    """Stem the keywords in the languages of the store, and adapt the query to what it contains.
    A phrase that no text contains is searched by its words, and texts that wait for the model by a
    static vector. The numbers are those of `keywords` and `embed_query`, which ran before."""
    split, embedded = _numbers_of(run, "keywords"), _numbers_of(run, "embed_query")
    if split:
        asked, instead = _findable(run, split["most"])
        run = _asking(run, asked, split["least_chars"]).warning(instead)
    return _with_stored_texts(run, embedded["most_chars"]) if embedded else run


def _numbers_of(run: Run, stage_name: str) -> Mapping[str, Any]:
    return next((step.numbers for step in run.trace if step.stage == stage_name), NOTHING)


def _unusual(asked: ParsedQuery, most: int) -> str:
    """Return a warning for a query that is not searched as it is written."""
    if not (asked.words or asked.holds):
        return "the query has no searchable term: give at least one word"
    if asked.wanted > most:
        return f"only the first {most} of {asked.wanted} terms were searched"
    if asked.literal:
        return "a query with negations only is searched literally; add a word to search for"
    return ""


def _asking(run: Run, asked: ParsedQuery, least_chars: int) -> Run:
    query = run.query._replace(
        # Required terms also score: a phrase that occurs twice is worth more.
        words=(*_long_enough(asked.words, least_chars), *asked.holds),
        terms=asked.tokens,
        meaning=asked.meaning,
        language=asked.language,
        scope=run.query.scope._replace(holds=asked.holds, lacks=asked.lacks),
    )
    run = run._replace(query=query).noting(terms=asked.tokens)
    return run.noting(language=asked.language) if asked.language else run


def _long_enough(words: tuple[Term, ...], least_chars: int) -> tuple[Term, ...]:
    def is_long(term: Term) -> bool:
        return any(len(token) >= least_chars or is_unspaced(token) for token in term.tokens)

    return tuple(filter(is_long, words)) or words


def _findable(run: Run, most: int) -> tuple[ParsedQuery, str]:
    """Search the words of a phrase or prefix that no text contains, if there are other words; warn."""
    text = _searched_text(run)
    stored = _each(run, methodcaller("languages"))
    languages = tuple(dict.fromkeys(language for several in stored for language in several))
    asked, warning = parse_query(text, languages, most), ""
    if not asked.words or (run.kit.records is None and not run.kit.tiers):
        return asked, ""
    for bind, instead in _LOOSER:
        scope = run.query.scope._replace(holds=asked.holds, lacks=asked.lacks)
        if not asked.holds or any(_each(run, methodcaller("any_visible", scope))):
            break
        asked, warning = parse_query(text, languages, most, bind), instead
    return asked, warning


def _searched_text(run: Run) -> str:
    return valid_unicode(run.query.subject or run.query.text)


def _each(run: Run, ask: Callable[[SqlRecords], T]) -> Iterator[T]:
    """Query the records of every tier, or of the only database; a failing tier is reported by `tiers`."""
    if not run.kit.tiers and run.kit.records is not None:
        yield ask(run.kit.records)
    for tier in run.kit.tiers:
        if tier.kit.records is not None:
            try:
                yield ask(tier.kit.records)
            except StoreError:
                continue


@stage
@limits(most_chars="1 or more")
def embed_query(run: Run, *, most_chars: int = 4000) -> Run:
    """Embed the query with the model of the store."""
    return _with_stored_texts(_embedded(run, most_chars), most_chars)


@stage
@asks_no_store
@limits(most_chars="1 or more")
def embed_first(run: Run, *, most_chars: int = 4000) -> Run:
    """Embed the query with the model of the store, before the store is asked."""
    return _embedded(run, most_chars)


def _embedded(run: Run, most_chars: int) -> Run:
    text = _embedded_text(run)
    if run.query.only_time or not has_terms(text):
        return run  # a vector of punctuation would match something, and mean nothing
    embedder = run.kit.need("embedder")
    if run.kit.tokens is None:
        vector, tokens = embedder.embed([text[:most_chars]], as_query=True)[0], None
    else:
        vectors, of_texts = embedder.encode([text[:most_chars]], as_query=True)
        vector, tokens = vectors[0], of_texts[0] if of_texts else None
    if not (abs(float(vector @ vector)) > 0):
        raise Unavailable(f"{embedder.name} returned a vector without direction for this query")
    query = run.query._replace(vector=vector, tokens=tokens)
    run = run._replace(query=query).noting(model=embedder.name)
    cut = f"only the first {most_chars} characters were embedded" if len(text) > most_chars else ""
    return run.warning(run.kit.why_not.get("embedder", ""), cut)


def _embedded_text(run: Run) -> str:
    return valid_unicode(run.query.meaning or run.query.text)


def _with_stored_texts(run: Run, most_chars: int) -> Run:
    """Compare the language of the query with those of the model, and embed it for texts without a vector."""
    embedder = run.kit.embedder
    if run.query.vector is None or embedder is None:
        return run
    known = getattr(embedder, "languages", ())
    foreign = bool(known and run.query.language and run.query.language not in known)
    run = run._replace(query=run.query._replace(foreign=foreign))
    if foreign:
        run = run.noting(foreign=f"{run.query.language} is not among {', '.join(known)}")
    run, unread = _with_static(run, embedder, _embedded_text(run)[:most_chars])
    return run.warning(unread)


def _with_static(run: Run, embedder: GuardedEmbedder, text: str) -> tuple[Run, str]:
    """Embed the query for texts that wait for the embedder, too; warn of those that have no vector."""
    # With tiers, each tier reports its own.
    index = None if run.kit.tiers else run.kit.vectors
    waiting = index.missing(embedder.name, run.query.scope) if index is not None else 0
    static = run.kit.static
    if static is not None and static is not embedder and (waiting or run.kit.tiers):
        vector = static.embed([text], as_query=True)[0]
        run = run._replace(query=run.query._replace(static=vector)).noting(static=static.name)
    if not waiting:
        return run, ""
    many = "1 passage is" if waiting == 1 else f"{waiting:,} passages are"
    if run.query.static is not None:
        return run, f"{many} not embedded by {embedder.name} yet; static vectors find them"
    return run, f"{many} not embedded yet; results may miss some of them"


@stage
def timed(run: Run) -> bool:
    """True when the query names a time."""
    return run.query.window is not None


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
def time_range(run: Run, *, only: bool = True) -> Run:
    """Find the time that a query names ("last week"), by the caller's clock and time zone.

    Words relative to now are then not searched for, unless they are quoted or the query has no others;
    dates still are. With `only`, a query that asks for nothing but a time ("what did I say
    yesterday?") finds memories of that time and no others; one for a date ("what happened in
    March?"), also those that name it.
    """
    from scrubjay.text.dates import window_of, without

    now = run.kit.need("clock")()
    window = window_of(run.query.text, now)
    if window is None:
        return run
    rest = without(run.query.text, window)
    quoted = '"' in run.query.text
    alone = not quoted and _asks_for_nothing(rest)
    from_now = counts_from_now(window)
    query = run.query._replace(
        window=window,
        subject=rest if from_now and not quoted else "",
        only_time=only and alone and from_now,
        whole_window=alone and (from_now or bool(rest.strip(" ?!."))),
    )
    begins, ends = (_there(moment, now.tzinfo) for moment in window[:2])
    run = run._replace(query=query).noting(said=window.said, begins=begins, ends=ends)
    return run.noting(zone=name) if (name := _name_of(now)) else run


def counts_from_now(window: Window) -> bool:
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
    return all(fold(word) in _grammar() for word in words(subject))


@cache
def _grammar() -> frozenset[str]:
    from scrubjay.text.languages import stop_words

    return frozenset(map(fold, (*_WHATEVER, *STOP_WORDS, *stop_words("de"))))
