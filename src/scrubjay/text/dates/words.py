"""Words of time: the class and the value of each word, read from `words.txt`."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

# "Just" means a time only next to these words; a text may be full of it.
SPEECH = frozenset(
    "say says said saying tell tells told telling mention mentioned mentioning ask asked asking talk"
    " talked talking discuss discussed discussing explain explained sagen sagte gesagt erzahlt erzahlte"
    " erwahnt erwahnte gefragt fragte besprochen gesprochen gemeint erklart".split()
)
_ENDINGS = ("e", "en", "er", "es", "em")
# Without one of these classes there is no time expression, except in digits; a unit needs one beside it.
_ALONE, _UNITS, _BESIDE_UNITS = "MmyDRrGCcqKAl6", "UwaBS015", "LPXTAVIHsnpEFQ4"
_WITHOUT_UMLAUTS = str.maketrans("äöü", "aou")
_UMLAUTS_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_FILE = os.path.join(os.path.dirname(__file__), "words.txt")

WordTable = dict[str, tuple[str, Any]]


@cache
def known_words() -> WordTable:
    """Return the class and the value of every word in `words.txt`, in each of its spellings."""
    table: WordTable = {}
    with open(_FILE, encoding="utf-8") as lines:
        rows = [line.split() for line in lines if line.strip() and line[0] != "#"]
    parts = [(_value(value), words) for kind, value, *words in rows if kind == "B"]
    for kind, written, *words in rows:
        value = _value(written)
        if kind == "Z" and not isinstance(value, tuple):
            value = (value, value)
        if kind == "D":
            _add(table, "0", value, [f"{words[0]}s", f"{words[1]}en"])
            for hours, names in [*parts, (parts[0][0], ["morgen"])]:
                _add(table, "D", (value, hours), [day + name for day in words for name in names])
            value = (value, None)
        _add(table, kind, value, words)
    return table


def _value(written: str) -> Any:
    if "," in written:
        return tuple(int(number) for number in written.split(","))
    try:
        return float(written) if "." in written else int(written)
    except ValueError:
        return written.replace("_", " ")


def _add(table: WordTable, kind: str, value: Any, words: list[str]) -> None:
    for word in words:
        stem = word.removesuffix("-")
        for ending in _ENDINGS if stem != word else ("",):
            form = stem + ending
            table[form.translate(_WITHOUT_UMLAUTS)] = (kind, value)
            if not form.isascii():
                table[form.translate(_UMLAUTS_SPELLED_OUT)] = (kind, value)


@cache
def time_words() -> tuple[frozenset[str], ...]:
    """Return words that mean a time alone, units, words that mean one beside a unit, just, and speech."""
    alone, units, beside, just, now = (
        frozenset(word for word, (kind, _) in known_words().items() if kind in kinds)
        for kinds in (_ALONE, _UNITS, _BESIDE_UNITS, "J", "j")
    )
    return alone, units, beside, just, SPEECH | now | {"eben", "soeben"}
