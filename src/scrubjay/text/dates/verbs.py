"""Verbs of a clause, English and German, and the tense that each of them shows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

DATE = "\0"  # stands for the expression among the words
SMALL = frozenset(
    "and und the a an den dem der die das next on am in im at zum zur of vom".split()
)
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
# Forms of the present that end like a past: ich warte, ich begleite.
_PRESENT_TE = (
    r"(?:be|ver|er)?achte|\w*(?:arbeite|bete|beute|biete|breite|deute|faste|halte|haupte|hute|koste|laste"
    r"|leiste|leite|miete|mute|nichte|poste|rate|reite|richte|schalte|starte|statte|taste|teste|tote|trete"
    r"|walte|warte|zichte)"
)
_PRETERITE = re.compile(
    rf"\w+ierten?|(?!bekannte$|(?:{_PRESENT_TE})$)(?:be|ver|er|ent|zer)\w{{2,}}te"
)
_AFTER_ER = frozenset("er sie es man".split())
_NO_VERBS_TE = "heute|bitte|mochte|sollte|letzte|erste|nachste|beste"
_OF_ER = re.compile(rf"(?!{_NO_VERBS_TE})\w{{3,}}te")
# After a date in front stands the verb: "Am Montag hupte jemand".
_SECOND_TE = re.compile(rf"(?!{_NO_VERBS_TE}|(?:{_PRESENT_TE})$)\w{{3,}}te")
_ENGLISH_PARTICIPLE = re.compile(r"\w{2,}en|been|done|gone|come|become|run|put|cut|set|let")
_HAVE = frozenset("have has ve had having".split())
_HAD = frozenset("hatte hatten hattest haette haetten haettest".split())
# With a participle or a second modal verb these did not happen; alone they are still possible.
_UNREAL = frozenset("haette haetten haettest waere waeren waerst".split())
_MODAL_INFINITIVES = frozenset("sollen konnen mussen durfen wollen".split())
SUBJECTS = frozenset("i we he she they ich du er wir man".split())
_PASSIVE = frozenset("will ll shall gonna be get gets getting".split())
_BEFORE_INFINITIVE = frozenset("to do does don doesn didn".split())
_BEFORE_NOUN = frozenset("the a an my our your his her their its this that".split())
_BE = frozenset("is are am m re".split())
# Not far in front of these verbs, or right in front of them, stands no subject of a past.
_BASE_AFTER = (
    _BEFORE_INFINITIVE | _BE | _PASSIVE | frozenset("you please and or not t all just".split())
)
_SEEN = frozenset("heard noticed saw".split())


class Tense(NamedTuple):
    """Which way a date lies: 1 the future, -1 the past, 0 not shown; clear if no other way is possible."""

    way: int
    is_clear: bool


UNKNOWN = Tense(0, True)


@cache
def words_of_tense() -> dict[str, frozenset[str]]:
    """Return the lists of `tense.txt`, by name."""
    with open(os.path.join(os.path.dirname(__file__), "tense.txt"), encoding="utf-8") as file:
        text = re.sub(r"(?m)^#.*\n", "", file.read())
    lists = (part.partition(":") for part in text.split("\n\n") if part.strip())
    return {name.strip(): frozenset(words.split()) for name, _, words in lists}


def verbs_in(words: Sequence[str], *, is_german: bool) -> Iterator[tuple[int, Tense]]:
    """Yield place and tense of what shows the tense of a clause."""
    tell = _german if is_german else _english
    for at in range(len(words)):
        tense = tell(words, at)
        if tense:
            yield at, tense


def _german(words: Sequence[str], at: int) -> Tense | None:
    word, known = words[at], words_of_tense()
    if word in known["german_future"]:
        return Tense(-1, True) if "worden" in words else Tense(1, True)
    if word in _UNREAL:
        is_over = any(map(_is_participle, words)) or not _MODAL_INFINITIVES.isdisjoint(words)
        return Tense(-1, True) if is_over else Tense(1, False)
    if word in known["german_plans"]:  # ich hätte kommen sollen
        return Tense(1, False) if _HAD.isdisjoint(words) else Tense(-1, True)
    if word in known["english_only"]:
        return None
    if words[max(0, at - 1) : at] == [DATE] and at < 3 and _SECOND_TE.fullmatch(word):
        return Tense(-1, True)
    if word in known["past"] or word in known["german_past"] or _PRETERITE.fullmatch(word):
        return Tense(-1, True)
    if _OF_ER.fullmatch(word) and not _AFTER_ER.isdisjoint(words[max(0, at - 1) : at + 2]):
        return Tense(-1, True)  # er joggte
    if word in _PERFECT:
        return Tense(-1, True) if any(map(_is_participle, words)) else UNKNOWN
    return UNKNOWN if word in known["german_present"] else None


def _is_participle(word: str) -> bool:
    return bool(_PARTICIPLE.fullmatch(word)) and not _NO_PARTICIPLE.fullmatch(word)


def is_bare_past(word: str) -> bool:
    """True for a German participle that ends a note without a verb."""
    return bool(_BARE_PARTICIPLE.fullmatch(word)) and _is_participle(word)


def _english(words: Sequence[str], at: int) -> Tense | None:
    word, known = words[at], words_of_tense()
    earlier, follows = words[max(0, at - 3) : at], words[at + 1 : at + 2]
    if word in known["future"] or (word == "won" and follows == ["'"]):
        return None if _is_will(word, follows) else Tense(1, True)
    if word in known["modals"]:  # could have come
        return Tense(-1, True) if not _HAVE.isdisjoint(follows) else Tense(1, False)
    if word == "going" and "to" in follows and not _BE.isdisjoint(earlier):
        return Tense(1, True)
    if word in known["plans"]:
        return Tense(1, False)
    if word == "to" and not known["asked"].isdisjoint(words[max(0, at - 4) : at]):
        return Tense(1, False)  # she asked me to come on Friday
    if word in known["past_or_base"] and _HAVE.isdisjoint(earlier):
        return Tense(-1, True) if _has_subject(words[:at]) else None
    is_past = word in known["past"] or word in known["english_only"]
    if is_past and not _BEFORE_INFINITIVE.isdisjoint(earlier[-1:]):  # to quit, didn't let
        return None
    if not is_past and (not _BEFORE_NOUN.isdisjoint(earlier[-1:]) or follows == ["by"]):
        return None  # the moved talk, a talk hosted by Ann
    if is_past or (word.endswith("ed") and len(word) > 4 and word not in known["not_past"]):
        if not _HAVE.isdisjoint(earlier):
            return _perfect(word, earlier)
        # It will be closed on Saturday, I'll get paid on Friday.
        if not _PASSIVE.isdisjoint(earlier) and not _is_will(earlier[-1], [word]):
            return Tense(1, True)
        if not is_past and not _BE.isdisjoint(earlier[-2:]):  # is closed
            return UNKNOWN
        if word in known["arranged"] and _is_of_event(words[at + 1 :]):
            return UNKNOWN
        # Had to move it on 10 July; recommended the talk on 10 July.
        return Tense(-1, "to" not in follows and not _is_of_event(words[at + 1 :]))
    if not _HAVE.isdisjoint(earlier) and _ENGLISH_PARTICIPLE.fullmatch(word):
        return _perfect(word, earlier)
    is_am = (word == "am" and "i" in earlier) or (word in ("m", "re") and "'" in earlier[-1:])
    return UNKNOWN if is_am or word in known["present"] else None


def _is_will(word: str, follows: Sequence[str]) -> bool:
    """True for the name: Will sent the draft."""
    return word == "will" and not words_of_tense()["past"].isdisjoint(follows)


def _has_subject(before: Sequence[str]) -> bool:
    """True for "he put" and "the pipe burst"; not for "let me put", "to put" and "the kids put"."""
    last, known = before[-1] if before else DATE, words_of_tense()
    if not _BASE_AFTER.isdisjoint(before[-3:]):
        return False
    if any(not known[name].isdisjoint(before) for name in ("future", "modals", "plans", "asked")):
        return False
    is_noun = last in _BEFORE_NOUN or last in SMALL  # of which the verb would be a part: the cut
    return last.isalpha() and not is_noun and not last.endswith("s")


def _perfect(word: str, earlier: Sequence[str]) -> Tense:
    """Return the tense of an English perfect, which goes with no date: "I've accepted a job on 1 June"."""
    return UNKNOWN if word == "got" else Tense(-1, "had" in earlier)


def _is_of_event(after: Sequence[str]) -> bool:
    """True when the words between a verb and a date name an event: invited us to a party on Friday."""
    between = after[: after.index(DATE)] if DATE in after else ()
    return sum(word not in words_of_tense()["small"] for word in between) > 0


def is_report(verb: str, later: str) -> bool:
    """True for verbs as in "I heard the shop opens", where the second one has the date; not in "I heard
    him play"."""
    return verb in words_of_tense()["reports"] and (
        verb not in _SEEN or later.endswith("s") or later in _BE
    )
