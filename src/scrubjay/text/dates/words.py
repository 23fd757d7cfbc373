"""The words of time, English and German: a class of one letter each, and what the word is worth.

Months       M, m that is also a name or a verb and needs a neighbour, y that needs a closer one
Days         D weekday, 0 several of it, R today and its neighbours, r morgen, G tonight,
             B part of a day, C holiday
Lengths      w week, a year, U any other unit, 1 moment, S season, c decade, q quarter with its number
Numbers      Z word, h half, k article, Q ordinal (N, 3, Y and O are in digits, see `tokens`)
Which one    L last, P past, X next, T this, E early or late in it
Small words  I in, H im, p during, n on, f of, t the, u German articles, ~ about, j now, d every, K week no.
Near         J just, l recently, 6 earlier; 4 other and 5 Zeit, in "the other day", "in letzter Zeit"
Ends         A ago, V vor, s since, v before, z after, 2 until, o to, F from, b between, & and
"""

from __future__ import annotations

from functools import cache
from typing import Any

Known = dict[str, tuple[str, Any]]

MORNING, NOON, AFTERNOON, EVENING, NIGHT = (5, 12), (11, 14), (12, 18), (18, 24), (18, 30)

_MONTHS = {
    "M": "january januar janner|february februar|marz||||||september|october oktober|november|"
    "december dezember",
    "m": "|||april|mai|june juni|july juli|august||||",
    "y": "jan|feb|march mar|apr|may|jun|jul|aug|sep sept|oct okt|nov|dec dez",
}
_WEEKDAYS = (
    "monday montag|tuesday dienstag tues tue|wednesday mittwoch|thursday donnerstag thurs thu|"
    "friday freitag fri|saturday samstag sonnabend|sunday sonntag"
)
_PARTS = {
    "morning vormittag fruh": MORNING,
    "noon midday mittag": NOON,
    "afternoon nachmittag": AFTERNOON,
    "evening abend": EVENING,
    "night nacht": NIGHT,
}
_UNITS = {
    "minute": "minute minutes minuten",
    "hour": "hour hours stunde stunden",
    "day": "day days tag tage tagen tages",
    "week": "week weeks woche wochen",
    "fortnight": "fortnight fortnights",
    "weekend": "weekend weekends wochenende wochenendes wochenenden",
    "month": "month months monat monate monaten monats",
    "quarter": "quarter quarters quartal quartals quartale quartalen",
    "year": "year years jahr jahre jahren jahres",
}
_RELATIVE = {
    -2: "vorgestern",
    -1: "yesterday gestern",
    0: "today heute",
    1: "tomorrow",
    2: "ubermorgen",
}
_NUMBERS = (
    "one|two zwei|three drei|four vier|five funf|six sechs|seven sieben|eight acht|nine neun|ten zehn|"
    "eleven elf|twelve zwolf|thirteen dreizehn|fourteen vierzehn|fifteen funfzehn|sixteen sechzehn|"
    "seventeen siebzehn|eighteen achtzehn|nineteen neunzehn|twenty zwanzig"
)
_SOME: dict[tuple[float, float], str] = {
    (2, 3): "couple paar",
    (2, 5): "few einige einigen wenige wenigen",
}
_SOME |= {
    (3, 7): "several mehrere mehreren",
    (30, 30): "thirty dreissig",
    (90, 90): "ninety neunzig",
    (1.5, 1.5): "anderthalb eineinhalb",
    (2.5, 2.5): "zweieinhalb",
    (3.5, 3.5): "dreieinhalb",
}
_ORDINALS = (
    "first erste ersten erster|second zweite zweiten zweiter|third dritte dritten dritter|"
    "fourth vierte vierten vierter|fifth funfte funften|sixth sechste sechsten|"
    "seventh siebte siebten|eighth achte achten|ninth neunte neunten|tenth zehnte zehnten|"
    "eleventh elfte elften|twelfth zwolfte zwolften"
)
_WHICH = {
    ("L", -1): "last previous letzt- vorig- vergangen-",
    ("L", -2): "vorletzt-",
    ("P", -1): "past",
    ("X", 1): "next coming upcoming nachst- kommend-",
    ("X", 2): "ubernachst-",
    ("T", 0): "this current dies- aktuell-",
    ("E", 0): "early beginning start anfang beginn",
    ("E", 1): "mid middle mitte",
    ("E", 2): "late end ende",
}
_SEASONS = {
    3: "spring fruhling fruhjahr",
    6: "summer sommer",
    9: "autumn fall herbst",
    12: "winter",
}
_HOLIDAYS = {
    "christmas": "christmas xmas weihnachten weihnachtsfest",
    "christmas eve": "heiligabend",
    "new year's eve": "silvester",
    "new year": "neujahr neujahrstag",
    "easter": "easter ostern",
    "easter sunday": "ostersonntag",
    "easter monday": "ostermontag",
    "good friday": "karfreitag",
    "pentecost": "pentecost pfingsten",
    "halloween": "halloween",
}
_RECENT = {
    "recently": "recently lately neulich kurzlich unlangst letztens kurzem",
    "today": "vorhin",
}
_DECADES = {50: "fifties", 60: "sixties", 70: "seventies", 80: "eighties", 90: "nineties"}
_SMALL = {
    "k": "a an ein eine einem einer einen",
    "I": "in",
    "H": "im",
    "p": "during within over throughout wahrend innerhalb by",
    "n": "on at am",
    "f": "of",
    "t": "the",
    "u": "der die das dem den des zum zur",
    "~": "about around roughly approximately etwa ungefahr circa",
    "j": "now jetzt",
    "J": "just right gerade eben soeben",
    "6": "earlier",
    "4": "other",
    "5": "zeit",
    "h": "half halbe halben halber halbes",
    "1": "moment moments seconds sekunde sekunden augenblick augenblicke augenblicken",
    "K": "kw kalenderwoche",
    "A": "ago",
    "V": "vor",
    "s": "since seit ab",
    "v": "before",
    "z": "after nach",
    "2": "until till bis through",
    "o": "to",
    "F": "from von vom",
    "b": "between zwischen",
    "&": "and und",
    "r": "morgen",
    "G": "tonight",
    "W": "new",
    "e": "eve",
    "d": "every each good black guten jeden jede jedes jedem eines",
}
# A text with none of these words has no expression, unless in digits; a unit needs one beside it.
_TELLING = "MmyDRrGCcqKAl6"
_UNITS_ALONE = "UwaBS015"
_BESIDE = "LPXTAVIHsnpEFQ4"
# "Just" tells of a time beside these words only; a text may be full of it.
SPEECH = frozenset(
    "say says said saying tell tells told telling mention mentioned mentioning ask asked asking talk"
    " talked talking discuss discussed discussing explain explained sagen sagte gesagt erzahlt erzahlte"
    " erwahnt erwahnte gefragt fragte besprochen gesprochen gemeint erklart".split()
)
_ENDINGS = ("e", "en", "er", "es", "em")


@cache
def known() -> Known:
    """Return what every word stands for; umlauts are written a, o, u, and again ae, oe, ue."""
    table: Known = {}
    for kind, names in _MONTHS.items():
        _number(table, kind, names)
    _number(table, "Q", _ORDINALS)
    for number, names in enumerate(_NUMBERS.split("|"), 1):
        _put(table, "Z", (number, number), names)
    for some, names in _SOME.items():
        _put(table, "Z", some, names)
    for number, names in enumerate(_WEEKDAYS.split("|")):
        _put(table, "D", (number, None), names)
        full, german = names.split()[:2]
        _put(table, "0", number, f"{full}s {german}en")
        for parts, hours in (*_PARTS.items(), ("morgen", MORNING)):
            made = [f"{day}{part}" for day in names.split() for part in parts.split()]
            _put(table, "D", (number, hours), " ".join(made))
    for parts, hours in _PARTS.items():
        _put(table, "B", hours, parts)
    for unit, names in _UNITS.items():
        _put(table, {"week": "w", "fortnight": "w", "year": "a"}.get(unit, "U"), unit, names)
    for (kind, value), names in _WHICH.items():
        for name in names.split():
            stem = name.removesuffix("-")
            ends = _ENDINGS if stem != name else ("",)
            _put(table, kind, value, " ".join(stem + end for end in ends))
    for kind, values in (("R", _RELATIVE), ("S", _SEASONS), ("c", _DECADES)):
        for worth, names in values.items():
            _put(table, kind, worth, names)
    for recent, names in _RECENT.items():
        _put(table, "l", recent, names)
    for holiday, names in _HOLIDAYS.items():
        _put(table, "C", holiday, names)
    for kind, names in _SMALL.items():
        _put(table, kind, 1, names)
    for quarter in range(1, 5):
        _put(table, "q", quarter, f"q{quarter}")
    return table


def may_tell(words: list[str]) -> bool:
    """True when an expression can be among these words; in digits there may still be one."""
    telling, units, beside, just, said = _gates()
    if not telling.isdisjoint(words):
        return True
    if not just.isdisjoint(words) and not said.isdisjoint(words):
        return True
    return not units.isdisjoint(words) and not beside.isdisjoint(words)


@cache
def _gates() -> tuple[frozenset[str], ...]:
    telling, units, beside, just, now = (
        frozenset(word for word, (kind, _) in known().items() if kind in kinds)
        for kinds in (_TELLING, _UNITS_ALONE, _BESIDE, "J", "j")
    )
    return telling, units, beside, just, SPEECH | now | {"eben", "soeben"}


def _number(table: Known, kind: str, names: str) -> None:
    for number, same in enumerate(names.split("|"), 1):
        _put(table, kind, number, same)


_WITH_UMLAUT = {
    "janner": "jaenner",
    "marz": "maerz",
    "fruh": "frueh",
    "fruhling": "fruehling",
    "fruhjahr": "fruehjahr",
    "ubermorgen": "uebermorgen",
    "funf": "fuenf",
    "zwolf": "zwoelf",
    "nachst": "naechst",
    "ubernachst": "uebernaechst",
    "wahrend": "waehrend",
    "ungefahr": "ungefaehr",
    "kurzlich": "kuerzlich",
    "unlangst": "unlaengst",
}


def _put(table: Known, kind: str, value: Any, names: str) -> None:
    for name in names.split():
        table[name] = (kind, value)
        for plain, written in _WITH_UMLAUT.items():
            if plain in name:
                table[name.replace(plain, written)] = (kind, value)
