"""Recall tags: `<recalled id="…">` around text that a search gave to an agent.

When an agent repeats such text in a message, it is not indexed or extracted again. The tags are recognized
as written, inside JSON, escaped for HTML or Markdown, and in a quotation.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate

from scrubjay.errors import InvalidInput
from scrubjay.text.analysis import splice
from scrubjay.times import format_span
from scrubjay.types import Hit

_NAME = "recalled"
# The attributes do not matter: agents write down what they saw as they remember it.
_TAG = re.compile(
    rf"(?:<|&lt;|&#0*60;|&#x0*3c;|\\u003c)\s{{0,3}}(?P<closing>\\?/\s{{0,3}})?{_NAME}(?![\w-])",
    re.IGNORECASE,
)
_TAG_END = re.compile(r"[^<>\n]{0,40}?(?:>|&gt;|&#0*62;|&#x0*3e;|\\u003e)", re.IGNORECASE)
# An empty line, also of a quotation or as JSON writes it.
_EMPTY_LINE = re.compile(r"\n[^\S\n]*(?:>[^\S\n]*)*(?=\n)|\\n\\n")
_LONG_CHARS = 2_000
_MIN_CUT_CHARS = 20
OWN_TURN = "…"  # stands for the message itself in its context
_TURN_SEPARATOR = " / "


def wrap_recalled(
    text: str, id: str, attributes: Mapping[str, str] = {}, *, keep_lines: bool = False
) -> str:
    """Return a text inside a recall tag, on one line unless `keep_lines`; tags inside lose their bracket."""
    inner = without_tags(text if keep_lines else " ".join(text.split()))
    written = "".join(
        f' {name}="{_escaped(without_tags(value))}"' for name, value in attributes.items()
    )
    return f'<{_NAME} id="{_escaped(id)}"{written}>{inner}</{_NAME}>'


def recalled_spans(text: str) -> list[tuple[int, int]]:
    """Return where recalled text stands, tags included, in order and without overlaps.

    A nested tag is part of the outer one. An unclosed tag ends with its paragraph. A closing tag alone
    is a span.
    """
    spans: list[tuple[int, int]] = []
    unclosed: list[tuple[int, int]] = []
    for tag in _TAG.finditer(text):
        after = _TAG_END.match(text, tag.end())
        end = after.end() if after else tag.end()
        if not tag["closing"]:
            unclosed.append((tag.start(), tag.end()))
        else:
            spans.append((unclosed.pop()[0] if unclosed else tag.start(), end))
    if unclosed:
        ends = [*(line.start() for line in _EMPTY_LINE.finditer(text)), len(text)]
        spans += [(start, ends[bisect_left(ends, end)]) for start, end in unclosed]
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def without_recalled(text: str) -> str:
    spans = recalled_spans(text)
    return splice(text, ((*span, " ") for span in spans)).strip() if spans else text


def blank_recalled(text: str) -> str:
    """Return a text of the same length with blanks for its recalled parts, so that positions still hold."""
    if _NAME not in text.lower():
        return text
    spans = recalled_spans(text)
    return splice(text, ((start, stop, " " * (stop - start)) for start, stop in spans))


def format_hits(hits: Iterable[Hit], most_chars: int | None = None) -> str:
    """Return hits as tagged lines for a prompt, best first, as many as fit into `most_chars`."""
    return "\n".join(fit_hits(hits, most_chars).values())


def fit_hits(hits: Iterable[Hit], most_chars: int | None = None) -> dict[str, str]:
    """Return the tagged line of each hit that fits, by id, best first.

    A message has its role and, if it is short, the turns around it. A long text is shortened to its
    snippet. Recalled parts of a text are left out. If the first line is too long, it is cut.
    """
    if most_chars is not None and (type(most_chars) is not int or most_chars < 1):
        raise InvalidInput(f"most_chars is {most_chars!r}; give a whole number of 1 or more")
    lines: dict[str, str] = {}
    left = most_chars
    for hit in hits:
        text = _own_text(hit)
        if not text:  # a message that contains only recalled text
            continue
        dates = _dates(hit)
        line = wrap_recalled(_with_turns(hit, text), hit.id, dates)
        if left is not None and len(line) > left:
            line = wrap_recalled(text, hit.id, dates)
        if left is not None and len(line) > left:
            room = left - len(wrap_recalled("", hit.id, dates)) - 1
            if not lines and room >= _MIN_CUT_CHARS:
                lines[hit.id] = wrap_recalled(text[:room].rstrip() + "…", hit.id, dates)
            break
        lines[hit.id] = line
        left = None if left is None else left - len(line) - 1
    return lines


def _dates(hit: Hit) -> dict[str, str]:
    moment = hit.created_at or hit.updated_at
    name = "said" if hit.type == "message" else "stored"
    dates = {name: moment.date().isoformat()} if moment else {}
    if hit.event_time:
        dates["event"] = format_span(hit.event_time, hit.event_until)
    return dates


def _own_text(hit: Hit) -> str:
    # Without the recalled parts: they would otherwise grow each time they are repeated.
    text = without_recalled(hit.text)
    if len(text) > _LONG_CHARS:
        text = without_recalled(hit.snippet) or text[:_LONG_CHARS]
    if hit.type == "message":
        return f"{hit.role}: {text}" if text.strip() and hit.role else text
    return text or hit.text  # a note may be about recall tags


def own_turn(hit: Hit) -> str:
    """Return a message as its neighbours show it, on one line."""
    text = " ".join(without_recalled(hit.text).split())
    return f"{hit.role}: {text}" if hit.role else text


def _with_turns(hit: Hit, text: str) -> str:
    lines = hit.context.split("\n")
    if hit.type != "message" or OWN_TURN not in lines:
        return text
    own = lines.index(OWN_TURN)
    turns = [text if at == own else without_recalled(line) for at, line in enumerate(lines)]
    # Of a turn that only repeated search results, nothing but the role is left.
    return _TURN_SEPARATOR.join(turn for turn in turns if turn.strip() and not turn.endswith(":"))


def _escaped(value: str) -> str:
    for sign, entity in (("&", "&amp;"), ('"', "&quot;"), ("<", "&lt;"), (">", "&gt;")):
        value = value.replace(sign, entity)
    return " ".join(value.split())


# Lookalikes: other brackets, wide letters, invisible characters. A model reads `＜/recalled＞` as a
# closing tag, so a text is folded before it is searched for tags.
_LETTERS = (
    "еeёeεeҽeᴇeɛeєeсcϲcᴄcⅽcаaαaɑaᴀaӏlιlіlıl∣lǀlʟlɩl1lilгrʀrԁdɗdᴅdժd"  # each before its lookalike
)
_LOOKALIKES = (
    dict.fromkeys("‹⟨〈❬❮❰⧼˂ᐸ≺⪡«《⟪⟬⦑⧀⩹⋖≤≦⩽", "<")
    | dict.fromkeys("⁄∕⧸╱⟋〳⫽⼃丿ノ|∣│＼⧵∖⧹", "/")
    | dict.fromkeys("\u115f\u1160\u2800\u3164\uffa0", "")  # blanks with the category of letters
    | dict(zip(_LETTERS[::2], _LETTERS[1::2], strict=True))
)
_LOOKALIKE_TAG = re.compile(
    r"(?P<bracket><|&(?:amp;)*(?:lt|#0*60|#x0*3c);?|\\u003c|\\x3c|%3c)"
    rf"\s*(?:[\\/]\s*)*{_NAME}(?![\w-])"
)


class _Folds(dict[int, str]):
    """What each character looks like; nothing for an invisible one. Filled on demand."""

    def __missing__(self, code: int) -> str:
        folded = "".join(
            _LOOKALIKES.get(one, one)
            for one in unicodedata.normalize("NFKD", chr(code)).lower()
            if one.isspace() or unicodedata.category(one) not in ("Cc", "Cf", "Mn", "Me")
        )
        if code < 0x10000:
            self[code] = folded
        return folded


_FOLDS = _Folds()


def without_tags(text: str) -> str:
    """Return a text in which whatever looks like a recall tag has lost its bracket."""
    tags = list(_LOOKALIKE_TAG.finditer(text.translate(_FOLDS)))
    if not tags:
        return text
    # Positions in the folded text differ from those in the text.
    ends = list(accumulate(len(one.translate(_FOLDS)) for one in text))
    starts_and_ends = ((tag.start(), tag.end("bracket") - 1) for tag in tags)
    places = ((bisect_right(ends, a), bisect_right(ends, z) + 1, "(") for a, z in starts_and_ends)
    return splice(text, places)


# The names of these functions in `scrubjay.recalled`, the module's name in earlier versions.
mark, spans, without = wrap_recalled, recalled_spans, without_recalled
