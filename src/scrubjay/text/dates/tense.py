"""Tense of the clause that a date stands in: past, future, or not shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scrubjay.text.dates.verbs import (
    DATE,
    SMALL,
    SUBJECTS,
    UNKNOWN,
    Tense,
    is_bare_past,
    is_report,
    verbs_in,
    words_of_tense,
)

_STOPS = frozenset(",;:()…")
_PREPOSITIONS = frozenset("am im in at zum zur of vom".split())
_MOVED_TO = frozenset(("to", "until", "till", "auf"))
_BOOKED_FOR = frozenset(("for", "fur"))
_STARTS = frozenset("by starting beginning".split())
_THANKS = frozenset("thanks thank thx sorry danke dank merci entschuldigung tschuldigung".split())
_TO_INFINITIVE = re.compile(r"(?:an|ab|auf|aus|ein|mit|nach|vor|weg|zuruck|los)zu\w+e?n|zu")
_SINCE = frozenset(("since", "seit"))
_ARTICLE = re.compile(
    r"(?:unser|mein|dein|sein|ihr|eur|dies|jen|ein)(?:e[mnrs]?)?|my|your|our|his|her|its|their|this|that"
)


class _Clause(NamedTuple):
    """Words up to the next comma, conjunction or subject; `join` is how firmly what is before is cut off."""

    words: list[str]
    join: int


_PRONOUN, _CONJUNCTION, _STOP = 1, 2, 3


def tense_in_query(before: Sequence[str], after: Sequence[str]) -> Tense:
    """Return the tense of a query: it is about the past, unless it asks for plans."""
    known, words = words_of_tense(), (*before, *after)
    is_past = known["future_in_queries"].isdisjoint(words)
    return Tense(-1 if is_past or not known["past_in_queries"].isdisjoint(words) else 1, True)


def tense_of(before: Sequence[str], after: Sequence[str]) -> Tense:
    """Return the tense of a sentence where it names a date.

    The clause that contains the date decides. If that has no verb, the clause that it is least cut off
    from does, but such a verb says less: "5 May, he wants the blue one".
    """
    words = [*before, DATE, *after]
    is_german = before[-1:] == ["am"] or not words_of_tense()["german"].isdisjoint(words)
    moved = _moved_to(before, words)
    if moved:
        return moved
    if not _STARTS.isdisjoint(before[-1:]):  # I've agreed to finish it by 30 June
        return UNKNOWN
    clauses = _joined(_split(words), is_german=is_german)
    place = next(n for n, clause in enumerate(clauses) if DATE in clause.words)
    if _is_since(clauses[place].words):
        return Tense(-1, True)
    own = _tense(clauses[place].words, is_german=is_german)
    if own:
        return own
    if is_german and place and (infinitive := _infinitive(clauses[place], clauses[place - 1])):
        return infinitive
    is_subordinate = not words_of_tense()["subordinate"].isdisjoint(clauses[place].words[:1])
    if is_subordinate or not SUBJECTS.isdisjoint(clauses[place].words):
        return UNKNOWN  # it has a verb, one in the present that is not known
    for other, join in _nearest(clauses, place):
        found = _tense(clauses[other].words, is_german=is_german)
        if found:
            is_next = abs(other - place) == 1
            return _from_neighbor(found, clauses[place].words, join, is_next=is_next)
    return UNKNOWN


def _moved_to(before: Sequence[str], words: Sequence[str]) -> Tense | None:
    """Return the tense of a date that something was moved to, booked for, or that thanks are for."""
    near = [word for word in before[-3:] if word not in SMALL - _PREPOSITIONS]
    last = near[-1] if near else ""
    if last in _BOOKED_FOR:
        return Tense(1, False) if _THANKS.isdisjoint(before[-4:]) else Tense(-1, False)
    is_moved = last in _MOVED_TO and not words_of_tense()["moved"].isdisjoint(words)
    return Tense(1, True) if is_moved else None


def _split(words: Sequence[str]) -> list[_Clause]:
    known = words_of_tense()
    clauses, join = [_Clause([], _STOP)], _STOP
    for word in words:
        if word in _STOPS:
            join = _STOP
        elif word in known["conjunctions"]:
            join = max(join, _CONJUNCTION)
        elif word.removesuffix("'s") in known["subjects"]:
            join = max(join, _PRONOUN)
        if join and clauses[-1].words:
            clauses.append(_Clause([], join))
        if word not in _STOPS:
            clauses[-1].words.append(word)
            join = 0
    return clauses


def _joined(clauses: list[_Clause], *, is_german: bool) -> list[_Clause]:
    """Join what "and" does not make a clause: "I worked on Friday and Saturday"."""
    joined = clauses[:1]
    for clause in clauses[1:]:
        is_part = clause.join == _CONJUNCTION and not any(
            verbs_in(clause.words, is_german=is_german)
        )
        if is_part and clause.words[0] in ("and", "or", "und", "oder"):
            joined[-1].words.extend(clause.words)
        else:
            joined.append(clause)
    return joined


def _tense(words: Sequence[str], *, is_german: bool) -> Tense | None:
    """Return the tense that a clause shows; None without a verb.

    In English the last verb before the date counts, in German, where half of it stands at the end, the
    nearest one. The date of what the verb speaks of is not clear: "my flight on 8 May was cancelled".
    """
    found = list(verbs_in(words, is_german=is_german))
    shown = [(at, tense) for at, tense in found if tense.way] or found
    if not shown:
        last = next((word for word in reversed(words) if word != DATE), "")
        return Tense(-1, False) if is_german and is_bare_past(last) else None
    date = words.index(DATE) if DATE in words else len(words)
    ahead = [one for one in shown if one[0] < date]
    if ahead and not is_german:
        at, tense = ahead[-1]
        later = [words[n] for n, _ in found if at < n < date]
        return UNKNOWN if later and is_report(words[at], later[-1]) else tense
    tense = min(shown, key=lambda one: (abs(one[0] - date), one[0]))[1]
    of_subject = not ahead and any(word not in SMALL for word in words[:date])
    return tense._replace(is_clear=False) if of_subject else tense


def _is_since(words: Sequence[str]) -> bool:
    """True for a clause that begins "since the accident on Monday": it has happened, whatever follows.
    Two words more could be a verb: since the discount ends on Monday."""
    first, *between = words[: words.index(DATE)] or [""]
    named = [word for word in between if not (word in SMALL or _ARTICLE.fullmatch(word))]
    return first in _SINCE and len(named) == 1 and named[0].isalpha()


def _infinitive(clause: _Clause, main: _Clause) -> Tense | None:
    """Return the tense of a German clause with zu, by what the main clause says of it."""
    if not any(_TO_INFINITIVE.fullmatch(word) for word in clause.words):
        return None
    is_done = not words_of_tense()["done"].isdisjoint(main.words)
    return Tense(-1, False) if is_done else Tense(1, False)


def _nearest(clauses: Sequence[_Clause], place: int) -> Iterator[tuple[int, int]]:
    """Yield the other clauses, the least cut off first, each with how firmly it is."""
    ways: list[tuple[int, int, int]] = []
    for step in (-1, 1):
        join, other = 0, place + step
        while 0 <= other < len(clauses):
            join = max(join, clauses[max(other, other - step)].join)
            ways.append((join, abs(other - place), other))
            other += step
    yield from ((other, join) for join, _, other in sorted(ways))


def _from_neighbor(found: Tense, words: Sequence[str], join: int, *, is_next: bool) -> Tense:
    """Return what the verb of another clause says of a date."""
    content = [word for word in words if word not in SMALL and word != DATE]
    has_preposition = len(words) > 1 and not content  # On 5 May, he will …
    if join < _STOP or has_preposition:
        # On 5 May they blew it, so we will hire no more: "will" is of another day.
        is_same = is_next and not content
        return found._replace(is_clear=found.is_clear and (is_same or found.way < 0))
    return UNKNOWN if found.way > 0 else Tense(found.way, False)
