"""Which classes of tokens in a row are a time expression; the letters are explained in `words`."""

from __future__ import annotations

import re
from functools import cache

_SOME = r"~?(?:k?[N3YZ]f?|k)"
_UNIT = "[wU]"
_MONTH = r"[Mmy]\.?"
# A month that is also a name, a verb or cut short is one after these words only.
_AFTER = "(?<=[IHpsvzV2FfELXbu])"

# In this order: of two that begin at the same token the first is taken.
_FORMS = (
    ("iso", r"i"),
    ("dots", r"(?:D,?[tu]?)?(?:(?<=[nF2suvzVbo&,])|(?<=D)|(?<=^))g|g(?=[2o]u?g)"),
    ("slash", r"(?:D,?)?x"),
    (
        "date",
        r"(?:D[,.]?[tu]?)?(?:"
        rf"(?:Of?|N\.f?|Nf)u?{_MONTH}|(?:N|Qf?)[Mm]\.?|Qfy|(?<=[nF2])Ny|Ny(?!_)"
        r"|[Mm]\.?t?[NO]|y\.?(?:t?O|N(?!_))|(?<=[nF2sbo&])yN)(?:,?f?Y)?",
    ),
    ("nth", rf"[QOL](?:{_UNIT}|D)[fIH]t?{_MONTH}(?:f?Y)?"),
    ("ago", rf"~?{_SOME}{_UNIT}A|V{_SOME}{_UNIT}"),
    ("ahead", rf"(?:I{_SOME}{_UNIT}|{_SOME}{_UNIT}Fj)"),
    ("rolling", rf"s{_SOME}{_UNIT}(?![Afvz])|[LP]~?[N3YZ]{_UNIT}|P{_UNIT}|(?<=[Ip]t)L{_UNIT}"),
    ("weekday_in", r"n?D(?:,|fu?)?t?[LXT]w|[LXT]w,?n?D"),
    ("part", rf"E(?:f|o|I)?[tu]?(?:[LXT]{_UNIT}|[LXT]?{_MONTH}(?:f?Y)?|Y)"),
    ("unit", rf"[LXT]{_UNIT}|t?w[vz][LX]"),
    ("weekend", r"(?<=n)U|(?<=[np]t)U"),
    ("relative", r"U[vz][Rr]|R[Br]|rB|R|(?<![nud])r"),
    ("tonight", r"G|[TL]B"),
    ("weekday", r"[LXT]DB?|(?<![dk])DB?"),
    ("holiday", r"[LXT]?(?:WU[eU]|Ce|CU|C)(?:f?Y)?"),
    (
        "month",
        rf"[LX]{_MONTH}|T[Mm]|{_MONTH}[,f]?Y|M|{_AFTER}[my]|(?<=[st]E)[my]|(?<=[fEs]u)[my]",
    ),
    ("season", r"[LXT]S(?:f?Y)?|It?S(?:fY|Y|(?!f))|HS(?:Y)?|Sf?Y"),
    ("quarter", r"q(?:f?Y)?|[QO]U[fIH]?Y|KN(?:Y)?"),
    ("decade", r"I?[tuE]c|c"),
    ("year", rf"(?:(?<=[IHpsvzV2FfbE])|(?<=[VIpFs][tu]))(?:t?UY|Y(?!{_UNIT}))|HUY"),
    ("of_month", r"ntO(?![fMmyU_])"),
)
_TELLING = "(?=[^_|,.!'&])"  # most tokens are passed by at once
# Inside a range also what alone would be too little: a day, a month's name, a year.
_SHORT = (("day", r"[NO]\.?"), ("short_month", _MONTH), ("short_year", "Y"))
NEEDS_FROM = ("short_month", "short_year")


@cache
def form() -> re.Pattern[str]:
    """Return the pattern of one expression; the name of its group says which."""
    named = "|".join(f"(?P<{name}>{pattern})" for name, pattern in _FORMS)
    return re.compile(f"{_TELLING}(?:{named})")


@cache
def in_range() -> re.Pattern[str]:
    """Return the pattern of one end of a range."""
    named = "|".join(f"(?P<{name}>{pattern})" for name, pattern in (*_FORMS, *_SHORT))
    return re.compile(f"{_TELLING}(?:{named})")


@cache
def beside() -> re.Pattern[str]:
    """Return the pattern of what stands before an expression and means a time next to it."""
    return re.compile(rf"(?:{_SOME}{_UNIT}|[tu]?D|[tu]?{_UNIT})[vz]t?(?=[tunNOMmyDigxC])")


@cache
def openings() -> re.Pattern[str]:
    """Return the pattern of what stands before an expression and leaves one end of it open."""
    return re.compile(r"[svzV2][tun]?$")
