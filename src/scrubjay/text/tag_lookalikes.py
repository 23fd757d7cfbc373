"""Tags that only look like a tag: other brackets, wide letters, signs that nobody sees.

A model reads `＜/recalled＞` as what it looks like, so a text is folded before a tag is looked for in it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import accumulate

_BRACKETS = "‹⟨〈❬❮❰⧼˂ᐸ≺⪡«《⟪⟬⦑⧀⩹⋖≤≦⩽"
_SLASHES = "⁄∕⧸╱⟋〳⫽⼃丿ノ|∣│＼⧵∖⧹"
# Letters of other scripts that are drawn like those of a tag's name, each before the one it looks like.
_LETTERS = "еeёeεeҽeᴇeɛeєeсcϲcᴄcⅽcаaαaɑaᴀaӏlιlіlıl∣lǀlʟlɩl1lilгrʀrԁdɗdᴅdժd"
_UNSEEN = "\u115f\u1160\u2800\u3164\uffa0"  # blanks that are said to be letters or signs
_CACHED_BELOW = 0x10000


class _Folds(dict[int, str]):
    """What each sign looks like: nothing where it is not seen. Filled as signs are met."""

    def __missing__(self, code: int) -> str:
        folded = "".join(
            one
            for one in unicodedata.normalize("NFKD", chr(code)).lower()
            if one.isspace() or unicodedata.category(one) not in ("Cc", "Cf", "Mn", "Me")
        )
        folded = "".join(_KNOWN.get(one, one) for one in folded)
        if code < _CACHED_BELOW:
            self[code] = folded
        return folded


_KNOWN = (
    dict.fromkeys(_BRACKETS, "<")
    | dict.fromkeys(_SLASHES, "/")
    | dict.fromkeys(_UNSEEN, "")
    | {_LETTERS[at]: _LETTERS[at + 1] for at in range(0, len(_LETTERS), 2)}
)
_FOLDS = _Folds()


def without_tags(text: str, name: str) -> str:
    """Return a text in which whatever looks like a tag of that name has lost its first bracket."""
    folded = text.translate(_FOLDS)
    found = list(_tag(name).finditer(folded))
    if not found:
        return text
    # The place of a sign in the folded text is not that in the text.
    ends = list(accumulate(len(one.translate(_FOLDS)) for one in text))
    parts: list[str] = []
    done = 0
    for tag in found:
        start, stop = (bisect_right(ends, at) for at in (tag.start(), tag.end("bracket") - 1))
        parts += (text[done:start], "(")
        done = stop + 1
    return "".join((*parts, text[done:]))


def _tag(name: str) -> re.Pattern[str]:
    bracket = r"<|&(?:amp;)*(?:lt|#0*60|#x0*3c);?|\\u003c|\\x3c|%3c"
    return re.compile(rf"(?P<bracket>{bracket})\s*(?:[\\/]\s*)*{name}(?![\w-])")
