"""Markdown and reStructuredText: title, topics, links and front matter. The text stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import unquote

from scrubjay.documents import Document, Target
from scrubjay.text import front_matter
from scrubjay.text.front_matter import first_value, parse_date, split_topics
from scrubjay.text.markdown import Heading, first_heading, lines_outside_code

_WIKI = re.compile(r"\[\[([^\[\]\n|#^]*)(?:[#^][^\[\]\n|]*)?(?:\|[^\[\]\n]*)?\]\]")
_INLINE = re.compile(
    r"""\]\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*))"""
    r"""(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)"""
)
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\]\n]+\]:[ \t]*(?:<([^<>\n]*)>|([^\s<>]+))", re.M)
_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_COLOUR = re.compile(r"(?=.*\d)(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
_HEADING = re.compile(r"#{1,6}[ \t]")
_BACKTICKS = re.compile(r"`+")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t\r]*$")
_MIN_SHORT_UNDERLINE = 4  # docutils accepts an underline that is too short from this length on
_RST_FIELD = re.compile(
    r"^[ \t]*:(?:tags|tag|keywords|topics|categories):[ \t]*(\S[^\n]*)$", re.M | re.I
)
_RST_DOC = re.compile(r":doc:`([^`<>\n]*)(?:<([^`<>\n]*)>)?`")
_RST_EMBEDDED = re.compile(r"`[^`<>]*<([^`<>\s]+)>`__?")
_RST_TARGET = re.compile(r"^\.\. _[^:\n]+:[ \t]+(\S+)[ \t\r]*$", re.M)


def read_markdown(text: str) -> Document:
    """Return the document of a Markdown text, with the values of its front matter and its prose."""
    front = front_matter.parse_front_matter(text)
    tags, targets = tags_and_targets(text)
    aliases = _aliases(front)
    fields, notes = front_matter.entry_fields(front)
    return Document(
        text,
        title=front_matter.title_in(front) or first_heading(text),
        format="markdown",
        topics=tuple(dict.fromkeys((*front_matter.topics_in(front), *tags))),
        targets=tuple(targets),
        created_at=parse_date(first_value(front, front_matter.CREATED_KEYS)),
        updated_at=parse_date(first_value(front, front_matter.UPDATED_KEYS)),
        metadata=({"front_matter": front} if front else {})
        | ({"aliases": aliases} if aliases else {}),
        fields=fields,
        notes=tuple(notes),
        id=front_matter.id_in(front),
    )


def _aliases(front: dict[str, object]) -> list[str]:
    given = next((front[key] for key in ("aliases", "alias") if front.get(key)), None)
    if isinstance(given, str):
        given = given.split(",")
    return [*split_topics(given), *split_topics([front.get("permalink")])]


def tags_and_targets(text: str) -> tuple[list[str], list[Target]]:
    """Return the `#tags` and the link targets of a text, each once, in order; code has neither."""
    tags: dict[str, None] = {}
    targets: dict[Target, None] = {}
    for paragraph in _paragraphs(text):
        if "#" not in paragraph and "[" not in paragraph:
            continue
        prose = _without_code(paragraph)
        targets.update(dict.fromkeys(_in_order(prose, _LINKS)))
        tags.update(dict.fromkeys(_tags(prose)))
    return list(tags), list(targets)


def path_target(written: str) -> Target | None:
    """Return the file that a link names, without its fragment; None for a link to elsewhere."""
    link = written.strip()
    if _EXTERNAL.match(link):
        return None
    path = unquote(re.split("[#?]", link, maxsplit=1)[0]).strip()
    return Target("path", path) if path else None


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for _, line in lines_outside_code(text):
        if line.strip():
            lines.append(line)
        elif lines:
            yield "".join(lines)
            lines.clear()
    if lines:
        yield "".join(lines)


def _in_order(text: str, links: _LinkReaders) -> Iterator[Target]:
    found = [
        (match.start(), read(match)) for pattern, read in links for match in pattern.finditer(text)
    ]
    yield from (target for _, target in sorted(found, key=itemgetter(0)) if target)


def _wiki_target(match: re.Match[str]) -> Target | None:
    page = match[1].rstrip("\\").strip()
    return Target("wiki", page) if page else None


def _link_target(match: re.Match[str]) -> Target | None:
    return path_target(match[1] or match[2] or "")


def _tags(prose: str) -> Iterator[str]:
    if "#" not in prose:
        return
    for line in _WIKI.sub(" ", prose).splitlines():
        if _HEADING.match(line):
            continue
        for match in _TAG.finditer(line):
            tag = match[1].strip("/-")
            if any(letter.isalpha() for letter in tag) and not _COLOUR.fullmatch(tag):
                yield tag


def _without_code(paragraph: str) -> str:
    """Return a paragraph without what stands between runs of backticks of the same length."""
    runs = [(match.start(), match.end()) for match in _BACKTICKS.finditer(paragraph)]
    later: dict[int, list[int]] = {}  # the numbers of the runs of a length, last first
    for number in range(len(runs) - 1, -1, -1):
        start, stop = runs[number]
        later.setdefault(stop - start, []).append(number)
    parts: list[str] = []
    at = number = 0
    while number < len(runs):
        start, stop = runs[number]
        same = later[stop - start]
        while same and same[-1] <= number:
            same.pop()
        number = same[-1] if same else number
        if same:
            parts.append(paragraph[at:start])
            at = runs[number][1]
        number += 1
    return " ".join([*parts, paragraph[at:]])


class _Line(NamedTuple):
    start: int
    text: str

    @property
    def adornment(self) -> str:
        """The line, if it is one repeated mark, else ""."""
        line = self.text.rstrip()
        return line if line and _ADORNMENT.match(self.text) else ""


def read_rst(text: str) -> Document:
    first = next(rst_headings(text), None)
    topics = dict.fromkeys(
        one for match in _RST_FIELD.finditer(text) for one in split_topics(match[1])
    )
    return Document(
        text,
        title=first.text if first else "",
        format="rst",
        topics=tuple(topics),
        targets=tuple(dict.fromkeys(_in_order(text, _RST_LINKS))),
    )


def rst_headings(text: str) -> Iterator[Heading]:
    """Yield the headings; their level is the order in which the adornment first appeared."""
    levels: dict[tuple[str, bool], int] = {}
    above = title = _Line(0, "")
    for line in _lines(text):
        under = line.adornment
        if under and _is_title(title, under, above):
            lined_over = above.adornment == under
            level = levels.setdefault((under[0], lined_over), len(levels) + 1)
            yield Heading(above.start if lined_over else title.start, level, title.text.strip())
            line = _Line(line.start, "")  # an underline is not the overline of what follows
        above, title = title, line


def _is_title(title: _Line, under: str, above: _Line) -> bool:
    """True when a line is a heading, given its underline and the line above it."""
    words = title.text.strip()
    long_enough = len(under) >= min(len(words), _MIN_SHORT_UNDERLINE)
    if not words or title.adornment or not long_enough:
        return False
    if above.adornment:
        return above.adornment == under
    return not above.text.strip() and not title.text[0].isspace()


def _rst_doc_target(match: re.Match[str]) -> Target | None:
    page = (match[2] or match[1]).strip()
    named = page if page.endswith((".rst", ".md", ".txt")) else f"{page}.rst"
    return Target("path", named) if page else None


def _hyperlink_target(match: re.Match[str]) -> Target | None:
    """Return the file that a hyperlink names; one that ends with `_` names another target."""
    return None if match[1].endswith("_") else path_target(match[1])


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start, line)
        start += len(line) + 1


_LinkReaders = tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Target | None]], ...]
_LINKS = ((_WIKI, _wiki_target), (_INLINE, _link_target), (_DEFINITION, _link_target))
_RST_HYPERLINKS = ((pattern, _hyperlink_target) for pattern in (_RST_EMBEDDED, _RST_TARGET))
_RST_LINKS = ((_RST_DOC, _rst_doc_target), *_RST_HYPERLINKS)
