"""HTML pages, converted to Markdown without scripts and menus."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from scrubjay.documents import Document, Target, Unreadable
from scrubjay.documents.markup import path_target
from scrubjay.text.analysis import valid_unicode
from scrubjay.text.front_matter import split_topics

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

PACKAGES = ("bs4", "markdownify")
_DROPPED = ("script", "style", "noscript", "template", "svg", "nav", "title", "iframe")
_INSTRUCTION = re.compile(r"<\?[^>]*>?")
_LONG_SPACE = re.compile(r"[ \t\r\n]{201,}")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_BLOCKS = frozenset(
    """address article aside blockquote div dl fieldset footer form h1 h2 h3 h4 h5 h6 header hr main
    nav ol p pre section table ul""".split()
)
# Elements whose end tag may be left out, and the elements that end them.
_ENDED_BY = {
    "p": _BLOCKS,
    "li": frozenset(("li",)),
    "dt": frozenset(("dt", "dd")),
    "dd": frozenset(("dt", "dd")),
    "td": frozenset(("td", "th", "tr", "tbody", "tfoot")),
    "th": frozenset(("td", "th", "tr", "tbody", "tfoot")),
    "tr": frozenset(("tr", "tbody", "tfoot")),
    "thead": frozenset(("tbody", "tfoot")),
    "tbody": frozenset(("tbody", "tfoot")),
    "option": frozenset(("option", "optgroup")),
    "head": frozenset(("body",)),
}


def read_html(markup: str) -> Document:
    """Return a page as Markdown, with its title, keywords and links."""
    soup = _soup(markup)
    text = valid_unicode(_markdown(soup).replace("\0", ""))
    if not text.strip():
        raise Unreadable("empty", failed=False)
    return Document(
        text,
        title=valid_unicode(_title(soup)),
        format="markdown",
        topics=tuple(dict.fromkeys(map(valid_unicode, _keywords(soup)))),
        targets=tuple(dict.fromkeys(_links(soup))),
    )


def _soup(markup: str) -> BeautifulSoup:
    if "<" not in markup:  # BeautifulSoup would take it for a file name and warn
        markup = f"<p>{markup}"
    from bs4.exceptions import ParserRejectedMarkup

    try:
        soup: BeautifulSoup = _parser()(_simplify(markup), "html.parser")
    except ParserRejectedMarkup:
        raise Unreadable("not readable HTML", failed=True) from None
    return soup


def _simplify(markup: str) -> str:
    """Remove unclosed declarations and comments, which make the standard library's parser slow."""
    markup = _INSTRUCTION.sub(" ", "".join(_outside_comments(markup))).replace("<![", "<! ")
    last = markup.rfind(">") + 1
    return markup[:last] + markup[last:].replace("<", "&lt;")


def _outside_comments(markup: str) -> Iterator[str]:
    at = 0
    while (start := markup.find("<!--", at)) >= 0:
        stop = markup.find("-->", start + 2)  # `<!-->` is a complete comment
        if stop < 0:
            break
        yield markup[at:start]
        at = stop + 3
    yield markup[at:].replace("<!--", " ")


def _markdown(soup: BeautifulSoup) -> str:
    try:
        text = str(_converter().convert_soup(soup))
    except (RecursionError, ValueError):
        # Nested too deeply, or an invalid number: only the words.
        text = soup.get_text("\n", strip=True)
    return _BLANK_LINES.sub("\n\n", text).strip() + "\n"


def _title(soup: BeautifulSoup) -> str:
    for name in ("title", "h1"):
        found = soup.find(name)
        words = " ".join(found.get_text(" ").split()) if found is not None else ""
        if words:
            return words
    return ""


def _keywords(soup: BeautifulSoup) -> Iterator[str]:
    for meta in soup.find_all("meta", content=True):
        if str(meta.get("name", "")).lower() == "keywords":
            yield from split_topics(str(meta["content"]))


def _links(soup: BeautifulSoup) -> Iterator[Target]:
    links = (valid_unicode(str(link["href"])) for link in soup.find_all("a", href=True))
    return filter(None, map(path_target, links))


@cache
def _parser() -> Any:
    """Return a BeautifulSoup class that adds the end tags that HTML lets a writer omit."""
    from bs4 import BeautifulSoup

    class Soup(BeautifulSoup):
        def handle_starttag(
            self, name: str, namespace: Any, nsprefix: Any, attrs: Any, *rest: Any, **named: Any
        ) -> Any:
            while self.currentTag is not None and name in _ENDED_BY.get(self.currentTag.name, ()):
                self.handle_endtag(self.currentTag.name)
            # markdownify makes a thousand cells of a cell with colspan=1000.
            narrow = {key: value for key, value in attrs.items() if key != "colspan"}
            return super().handle_starttag(name, namespace, nsprefix, narrow, *rest, **named)

        def endData(self, containerClass: Any = None) -> None:  # noqa: N802, N803 overrides
            # The time of markdownify grows with the square of a run of spaces.
            text = "".join(self.current_data)
            self.current_data = [_LONG_SPACE.sub(lambda run: run[0][:200], text)] if text else []
            super().endData(containerClass)

    return Soup


@cache
def _converter() -> Any:
    from markdownify import ATX, MarkdownConverter

    class Converter(MarkdownConverter):
        def convert_img(self, element: Any, text: str, parent_tags: Any) -> str:
            return str(element.get("alt", "")).strip()

    def nothing(self: Any, element: Any, text: str, parent_tags: Any) -> str:
        return ""

    for name in _DROPPED:
        setattr(Converter, f"convert_{name}", nothing)
    return Converter(
        heading_style=ATX, bullets="-", escape_asterisks=False, escape_underscores=False
    )
