"""Tense of the clause that a date stands in: past, future, or not shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

_DATE = "\0"  # stands for the expression among the words
_STOPS = frozenset(",;:()…")
_SMALL = frozenset(
    "and und the a an den dem der die das next on am in im at zum zur of vom".split()
)
_PREPOSITIONS = frozenset("am im in at zum zur of vom".split())
_MOVED_TO = frozenset(("to", "until", "till", "auf"))
_BOOKED_FOR = frozenset(("for", "fur"))
_STARTS = frozenset("by starting beginning".split())
_THANKS = frozenset("thanks thank thx sorry danke dank merci entschuldigung tschuldigung".split())
# With one of these, a German participle is past; alone it is not: "ich habe am Samstag Zeit".
_PERFECT = frozenset("hab habe hast hat haben habt bin bist ist sind seid".split())
_PREFIX = "(?:an|ab|auf|aus|bei|ein|mit|nach|vor|weg|zu|zuruck)?"
_PARTICIPLE = re.compile(
    rf"(?:\w{{0,7}}ge\w{{2,}}|{_PREFIX}(?:be|ver|er|ent|zer|miss|uber|unter)\w{{2,}}|\w+ier)(?:t|en)"
)
_NO_PARTICIPLE = re.compile(
    r".*(?:[hk]eit|ungen|innen)|geplant|gebucht|verabredet|eingeladen|geoffnet|geschlossen|besetzt"
    r"|beschaftigt|verhindert|gegen|wegen|fragen|sagen|tagen|morgen|liegen|.*zeiten|ersten|besten"
    r"|gesamt|ge(?:richt|sicht|biet|burt|schaft|wicht|dicht)|unterricht|ange(?:meldet|setzt|dacht)"
)
# At the end of a note without a verb: "Tom am Montag getroffen".
_BARE_PARTICIPLE = re.compile(r"\w{0,7}ge\w{3,}(?:t|en)|\w+iert")
_PRETERITE = re.compile(r"\w+ierten?|(?!bekannte|bereite|bedeute)(?:be|ver|er|ent|zer)\w{2,}te")
_AFTER_ER = frozenset("er sie es man".split())
_OF_ER = re.compile(r"(?!heute|bitte|letzte|erste|nachste|beste|mochte)\w{3,}te")
_TO_INFINITIVE = re.compile(r"(?:an|ab|auf|aus|ein|mit|nach|vor|weg|zuruck|los)zu\w+e?n|zu")
_ENGLISH_PARTICIPLE = re.compile(r"\w{2,}en|been|done|gone|come|become|run|put|cut|set|let")
_HAVE = frozenset("have has ve had having".split())
_HAD = frozenset("hatte hatten hattest".split())
_SUBJECTS = frozenset("i we he she they ich du er wir man".split())
_PASSIVE = frozenset("will ll shall gonna be get gets getting".split())
_BEFORE_INFINITIVE = frozenset("to do does don doesn didn".split())
_BEFORE_NOUN = frozenset("the a an my our your his her their its this that".split())
_BE = frozenset("is are am m re".split())


class Tense(NamedTuple):
    """Which way a date lies: 1 the future, -1 the past, 0 not shown; clear if no other way is possible."""

    way: int
    is_clear: bool


class _Clause(NamedTuple):
    """Words up to the next comma, conjunction or subject; `join` is how firmly what is before is cut off."""

    words: list[str]
    join: int


_UNKNOWN = Tense(0, True)
_PRONOUN, _CONJUNCTION, _STOP = 1, 2, 3


def tense_in_query(before: Sequence[str], after: Sequence[str]) -> Tense:
    """Return the tense of a query: it is about the past, unless it asks for plans."""
    known, words = _words(), (*before, *after)
    is_past = known["future_in_queries"].isdisjoint(words)
    return Tense(-1 if is_past or not known["past_in_queries"].isdisjoint(words) else 1, True)


def tense_of(before: Sequence[str], after: Sequence[str]) -> Tense:
    """Return the tense of a sentence where it names a date.

    The clause that contains the date decides. If that has no verb, the clause that it is least cut off
    from does, but such a verb says less: "5 May, he wants the blue one".
    """
    words = [*before, _DATE, *after]
    is_german = before[-1:] == ["am"] or not _words()["german"].isdisjoint(words)
    moved = _moved_to(before, words)
    if moved:
        return moved
    if not _STARTS.isdisjoint(before[-1:]):  # I've agreed to finish it by 30 June
        return _UNKNOWN
    clauses = _joined(_split(words), is_german=is_german)
    place = next(n for n, clause in enumerate(clauses) if _DATE in clause.words)
    own = _tense(clauses[place].words, is_german=is_german)
    if own:
        return own
    if is_german and place and (infinitive := _infinitive(clauses[place], clauses[place - 1])):
        return infinitive
    is_subordinate = not _words()["subordinate"].isdisjoint(clauses[place].words[:1])
    if is_subordinate or not _SUBJECTS.isdisjoint(clauses[place].words):
        return _UNKNOWN  # it has a verb, one in the present that is not known
    for other, join in _nearest(clauses, place):
        found = _tense(clauses[other].words, is_german=is_german)
        if found:
            return _from_neighbor(found, clauses[place].words, join)
    return _UNKNOWN


@cache
def _words() -> dict[str, frozenset[str]]:
    with open(os.path.join(os.path.dirname(__file__), "tense.txt"), encoding="utf-8") as file:
        text = re.sub(r"(?m)^#.*\n", "", file.read())
    lists = (part.partition(":") for part in text.split("\n\n") if part.strip())
    return {name.strip(): frozenset(words.split()) for name, _, words in lists}


def _moved_to(before: Sequence[str], words: Sequence[str]) -> Tense | None:
    """Return the tense of a date that something was moved to, booked for, or that thanks are for."""
    near = [word for word in before[-3:] if word not in _SMALL - _PREPOSITIONS]
    last = near[-1] if near else ""
    if last in _BOOKED_FOR:
        return Tense(1, False) if _THANKS.isdisjoint(before[-4:]) else Tense(-1, False)
    is_moved = last in _MOVED_TO and not _words()["moved"].isdisjoint(words)
    return Tense(1, True) if is_moved else None


def _split(words: Sequence[str]) -> list[_Clause]:
    known = _words()
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
            _verbs(clause.words, is_german=is_german)
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
    found = list(_verbs(words, is_german=is_german))
    shown = [(at, tense) for at, tense in found if tense.way] or found
    if not shown:
        last = next((word for word in reversed(words) if word != _DATE), "")
        is_bare = is_german and _BARE_PARTICIPLE.fullmatch(last) and _is_participle(last)
        return Tense(-1, False) if is_bare else None
    date = words.index(_DATE) if _DATE in words else len(words)
    ahead = [one for one in shown if one[0] < date]
    if ahead and not is_german:
        return ahead[-1][1]
    tense = min(shown, key=lambda one: (abs(one[0] - date), one[0]))[1]
    of_subject = not ahead and any(word not in _SMALL for word in words[:date])
    return tense._replace(is_clear=False) if of_subject else tense


def _verbs(words: Sequence[str], *, is_german: bool) -> Iterator[tuple[int, Tense]]:
    """Yield place and tense of what shows the tense of a clause."""
    tell = _german if is_german else _english
    for at in range(len(words)):
        tense = tell(words, at)
        if tense:
            yield at, tense


def _german(words: Sequence[str], at: int) -> Tense | None:
    word, known = words[at], _words()
    if word in known["german_future"]:
        return Tense(-1, True) if "worden" in words else Tense(1, True)
    if word in known["german_plans"]:  # ich hätte kommen sollen
        return Tense(1, False) if _HAD.isdisjoint(words) else Tense(-1, True)
    if word in known["english_only"]:
        return None
    if word in known["past"] or word in known["german_past"] or _PRETERITE.fullmatch(word):
        return Tense(-1, True)
    if _OF_ER.fullmatch(word) and not _AFTER_ER.isdisjoint(words[max(0, at - 1) : at + 2]):
        return Tense(-1, True)  # er joggte
    if word in _PERFECT:
        return Tense(-1, True) if any(map(_is_participle, words)) else _UNKNOWN
    return _UNKNOWN if word in known["german_present"] else None


def _is_participle(word: str) -> bool:
    return bool(_PARTICIPLE.fullmatch(word)) and not _NO_PARTICIPLE.fullmatch(word)


def _english(words: Sequence[str], at: int) -> Tense | None:
    word, known = words[at], _words()
    earlier, follows = words[max(0, at - 3) : at], words[at + 1 : at + 2]
    if word in known["future"] or (word == "won" and follows == ["'"]):
        return Tense(1, True)
    if word in known["modals"]:  # could have come
        return Tense(-1, True) if not _HAVE.isdisjoint(follows) else Tense(1, False)
    if word == "going" and "to" in follows and not _BE.isdisjoint(earlier):
        return Tense(1, True)
    if word in known["plans"]:
        return Tense(1, False)
    if word == "to" and not known["asked"].isdisjoint(words[max(0, at - 4) : at]):
        return Tense(1, False)  # she asked me to come on Friday
    is_past = word in known["past"] or word in known["english_only"]
    if is_past and not _BEFORE_INFINITIVE.isdisjoint(earlier[-1:]):  # to quit, didn't let
        return None
    if not is_past and (not _BEFORE_NOUN.isdisjoint(earlier[-1:]) or follows == ["by"]):
        return None  # the moved talk, a talk hosted by Ann
    if is_past or (word.endswith("ed") and len(word) > 4 and word not in known["not_past"]):
        if not _HAVE.isdisjoint(earlier):
            return _perfect(word, earlier)
        # It will be closed on Saturday, I'll get paid on Friday.
        if not _PASSIVE.isdisjoint(earlier):
            return Tense(1, True)
        if not is_past and not _BE.isdisjoint(earlier[-2:]):  # is closed
            return _UNKNOWN
        if word in known["arranged"] and _is_of_event(words[at + 1 :]):
            return _UNKNOWN
        # Had to move it on 10 July; recommended the talk on 10 July.
        return Tense(-1, "to" not in follows and not _is_of_event(words[at + 1 :]))
    if not _HAVE.isdisjoint(earlier) and _ENGLISH_PARTICIPLE.fullmatch(word):
        return _perfect(word, earlier)
    is_am = (word == "am" and "i" in earlier) or (word in ("m", "re") and "'" in earlier[-1:])
    return _UNKNOWN if is_am or word in known["present"] else None


def _perfect(word: str, earlier: Sequence[str]) -> Tense:
    """Return the tense of an English perfect, which goes with no date: "I've accepted a job on 1 June"."""
    return _UNKNOWN if word == "got" else Tense(-1, "had" in earlier)


def _is_of_event(after: Sequence[str]) -> bool:
    """True when the words between a verb and a date name an event: invited us to a party on Friday."""
    between = after[: after.index(_DATE)] if _DATE in after else ()
    return sum(word not in _words()["small"] for word in between) > 0


def _infinitive(clause: _Clause, main: _Clause) -> Tense | None:
    """Return the tense of a German clause with zu, by what the main clause says of it."""
    if not any(_TO_INFINITIVE.fullmatch(word) for word in clause.words):
        return None
    is_done = not _words()["done"].isdisjoint(main.words)
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


def _from_neighbor(found: Tense, words: Sequence[str], join: int) -> Tense:
    """Return what the verb of another clause says of a date."""
    content = [word for word in words if word not in _SMALL and word != _DATE]
    has_preposition = len(words) > 1 and not content  # On 5 May, he will …
    if join < _STOP or has_preposition:
        return found
    return _UNKNOWN if found.way > 0 else Tense(found.way, False)
