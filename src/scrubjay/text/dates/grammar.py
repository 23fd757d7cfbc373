"""Which classes of tokens in a row are a time expression; the letters are explained in `words`."""

from __future__ import annotations

import re
from functools import cache

SOME = r"~?(?:hk|kh|Z&kh|k?[N3YZ]f?|k)"
_UNIT = "[wUa]"
_MONTH = r"[Mmy]\.?"
# A month that is also a name, a verb or cut short is one after these words only.
_AFTER = "(?<=[IHpsvzV2FfELXbu])"
# The year of a month or a day, when it is counted from now: two years ago, last year.
COUNTED_YEAR = rf"(?:{SOME}a(?:&kh)?A|V{SOME}a|[LXT]a)"
_YEAR = rf"(?:,?f?Y|f?[tu]aY|f?[tu]?{COUNTED_YEAR})"
_AGO = rf"(?:{SOME}{_UNIT}(?:&kh)?A|V{SOME}{_UNIT})"
_WEEKS_AGO = rf"(?:{SOME}wA|V{SOME}w)"
_DATE = (
    r"(?:D[,.]?[tu]?)?(?:"
    rf"(?:Of?|N\.f?|Nf)u?{_MONTH}|(?:N|Qf?)[Mm]\.?|Qfy|(?<=[nF2])Ny|Ny(?!_)"
    r"|[Mm]\.?t?[NO]|y\.?(?:t?O|N(?!_))|(?<=[nF2sbo&])yN)"
)

# In this order: of two that begin at the same token the first is taken.
_FORMS = (
    ("iso", r"i"),
    ("dots", r"(?:D,?[tu]?)?(?:(?<=[nF2suvzVbo&,])|(?<=D)|(?<=^))g(?:u?[LXT]a)?|g(?=[2o]u?g)"),
    ("slash", r"(?:D,?)?x"),
    ("date", rf"{_DATE}{_YEAR}?"),
    ("nth", rf"[QOL](?:[wU]|D)[fIH]t?{_MONTH}{_YEAR}?"),
    (
        "dated",
        rf"(?:{COUNTED_YEAR}|H?aY|(?<=[IH])Y),?(?:[nF]?[tu]?(?:{_DATE}|g)|[IH]t?E?{_MONTH}|[IH]t?S|[nIH_]?[tu]?(?:C[eU]?|q)|E{_MONTH}|M)",
    ),
    ("day_ago", rf"{_AGO},?R|R,?{_AGO}"),
    ("day_ahead", rf"{SOME}{_UNIT}F[Rr]|R,?I{SOME}{_UNIT}|(?<![nud])r,?I{SOME}{_UNIT}"),
    ("weekday_ago", rf"n?DB?,?{_WEEKS_AGO}|{_WEEKS_AGO},?n?DB?|{SOME}0A|V{SOME}0"),
    ("weekday_ahead", rf"n?DB?,?I{SOME}w|I{SOME}w,?nDB?|{SOME}wF[tu]?DB?"),
    ("ago", _AGO),
    ("just", rf"{SOME}[1Q]A|V{SOME}1|J?Jj|jJ|JJ|J"),
    ("recent", rf"6R|6T{_UNIT}|t4U|I[tu]?L5|V?l|6"),
    ("ahead", rf"(?:I{SOME}{_UNIT}|{SOME}{_UNIT}Fj)"),
    ("rolling", rf"s{SOME}{_UNIT}(?![Afvz])|[LP]~?[N3YZh]{_UNIT}|P{_UNIT}|(?<=[Ip]t)L{_UNIT}"),
    ("weekday_in", r"n?D(?:,|fu?)?t?[LXT]w|[LXT]w,?n?D"),
    ("part", rf"E(?:f|o|I)?[tu]?(?:[LXT]{_UNIT}|[LXT]?{_MONTH}{_YEAR}?|Y)"),
    ("unit", rf"[LXT]{_UNIT}|t?w[vz][LX]"),
    ("weekend", r"(?<=n)U|(?<=[np]t)U"),
    ("relative", r"U[vz][Rr]|R[Br]|rB|R|(?<![nud])r"),
    ("tonight", r"G|[TL]B"),
    ("weekday", r"[LXT]DB?|(?<![dk])DB?"),
    ("holiday", rf"[LXT]?(?:Wa[eU]|Ce|CU|C){_YEAR}?"),
    (
        "month",
        rf"[LX]{_MONTH}|T[Mm]|{_MONTH}[,f]?Y|M\.?{_YEAR}|m{_YEAR}|{_AFTER}[my]\.?{_YEAR}|M|{_AFTER}[my]|(?<=[st]E)[my]|(?<=[fEs]u)[my]",
    ),
    ("season", rf"[LXT]S{_YEAR}?|It?S(?:{_YEAR}|(?!f))|HS{_YEAR}?|S{_YEAR}"),
    ("quarter", rf"q{_YEAR}?|[QO]U(?:[fIH]?Y|{_YEAR})|KN{_YEAR}?"),
    ("decade", r"I?[tuE]c|c"),
    ("year", rf"(?:(?<=[IHpsvzV2FfbE])|(?<=[VIpFs][tu]))(?:t?aY|Y(?!{_UNIT}))|HaY"),
    ("of_month", r"ntO(?![fMmyUwa_])"),
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
    return re.compile(rf"(?:{SOME}{_UNIT}|[tu]?D|[tu]?{_UNIT})[vz]t?(?=[tunNOMmyDigxC])")


@cache
def openings() -> re.Pattern[str]:
    """Return the pattern of what stands before an expression and leaves one end of it open."""
    return re.compile(r"[svzV2][tun]?$")
