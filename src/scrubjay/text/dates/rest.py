"""What a query asks for apart from its time."""

from __future__ import annotations

import re
import unicodedata

_PREPOSITIONS = (
    "in|on|at|by|of|for|from|since|during|over|within|about|around|until|till|through|throughout"
    "|am|im|an|zu|zum|zur|ab|seit|von|vom|bis|für|fuer|während|waehrend|aus|um"
)
_ARTICLES = "the|der|die|das|dem|den|des"
_LEADING = re.compile(rf"(?:^|(?<=\s))(?:{_PREPOSITIONS})\s+(?:(?:{_ARTICLES})\s+)?$", re.I)
_ARTICLE = re.compile(rf"(?:^|(?<=\s))(?:{_ARTICLES})\s+$", re.I)
_SPACE_BEFORE_SIGN = re.compile(r"\s+([?!.,;:])")


def rest_of(text: str, said: str) -> str:
    """Return a text without some of its words, the prepositions before them, and double spaces."""
    text, said = (unicodedata.normalize("NFC", one) for one in (text, said))
    found = re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text)
    if not said or found is None:
        return " ".join(text.split())
    before, after = text[: found.start()], text[found.end() :]
    left = _LEADING.sub("", before)
    if left == before and not re.match(
        r"\s*\w", after
    ):  # of "the January release" the article stays
        left = _ARTICLE.sub("", before)
    folded = _SPACE_BEFORE_SIGN.sub(r"\1", " ".join(f"{left} {after}".split()))
    return folded.lstrip(",;:.-– ") if not left.strip() else folded
