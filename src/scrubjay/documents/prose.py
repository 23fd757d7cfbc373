"""Links and tags in the prose of a Markdown text; what stands in code is neither."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from scrubjay.documents import Target
from scrubjay.text.markdown import lines_outside_code

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


def tags_and_targets(text: str) -> tuple[list[str], list[Target]]:
    """Return the `#tags` of a text and what it links to, each once, in the order of the text."""
    tags: dict[str, None] = {}
    targets: dict[Target, None] = {}
    for paragraph in _paragraphs(text):
        if "#" not in paragraph and "[" not in paragraph:
            continue
        prose = _without_code(paragraph)
        targets.update(dict.fromkeys(_targets(prose)))
        tags.update(dict.fromkeys(_tags(prose)))
    return list(tags), list(targets)


def path_target(written: str) -> Target | None:
    """Return the file that a link names, without its fragment; None when it leads elsewhere."""
    bare = written.strip()
    if _EXTERNAL.match(bare):
        return None
    path = unquote(re.split("[#?]", bare, maxsplit=1)[0]).strip()
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


def _targets(prose: str) -> Iterator[Target]:
    """Yield wiki links, links and definitions, in the order of the text."""
    found: list[tuple[int, Target | None]] = []
    for match in _WIKI.finditer(prose):
        page = match[1].rstrip("\\").strip()
        found.append((match.start(), Target("wiki", page) if page else None))
    for pattern in (_INLINE, _DEFINITION):
        found.extend(
            (match.start(), path_target(match[1] or match[2] or ""))
            for match in pattern.finditer(prose)
        )
    yield from (target for _, target in sorted(found, key=lambda one: one[0]) if target)


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
    """Blank what stands between runs of backticks of the same length."""
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
