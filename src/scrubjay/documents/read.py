"""The bytes of a file into documents: by the file's name to the reader of its format."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from scrubjay.documents import Document, Unreadable, docx, html, pdf
from scrubjay.documents.chat import read_chat
from scrubjay.documents.code import has_parser
from scrubjay.documents.decode import decode, decode_html
from scrubjay.documents.kinds import is_binary_name, is_code, kind_of
from scrubjay.documents.prose import tags_and_targets
from scrubjay.documents.rst import read_rst
from scrubjay.text.front_matter import (
    created_in,
    entry_fields,
    id_in,
    parse_front_matter,
    split_topics,
    title_in,
    topics_in,
    updated_in,
)
from scrubjay.text.markdown import first_heading

INSTALL = 'pip install "scrubjay[files]"'
# Raised when a reader gives other documents for the same bytes: stored ones are then read again.
_VERSION = 1
_LATER = {"markdown": 1}  # of one reader alone
_NEEDS = {"html": html.PACKAGES, "pdf": pdf.PACKAGES, "docx": docx.PACKAGES}


def reader_of(path: str) -> str:
    """Return the reader of a path with its version; another string than before means: read it again."""
    kind = kind_of(path)
    if not _is_installed(kind):
        return f"{kind}/0"
    return f"{kind}/{_VERSION + _LATER.get(kind, 0)}{'+tree-sitter' if has_parser(kind) else ''}"


def read(path: str, data: bytes) -> list[Document]:
    """Return the documents in a file; raise Unreadable, and nothing else, with the reason for none."""
    if is_binary_name(path):
        raise Unreadable("binary, not text", failed=False)
    kind = kind_of(path)
    if not data.strip():
        raise Unreadable("empty", failed=False)
    if not _is_installed(kind):
        raise Unreadable(f"needs: {INSTALL}", failed=True)
    return _read(kind, data)


def _read(kind: str, data: bytes) -> list[Document]:
    match kind:
        case "pdf":
            return [pdf.read_pdf(data)]
        case "docx":
            return [docx.read_docx(data)]
        case "html":
            return [html.read_html(decode_html(data))]
    text = decode(data)
    match kind:
        case "markdown":
            return [read_markdown(text)]
        case "rst":
            return [read_rst(text)]
        case "chat":
            return read_chat(text)
    return [Document(text, format=kind if is_code(kind) else "text")]


def read_markdown(text: str) -> Document:
    """Return the document of a Markdown text, as it is, with what its front matter and its prose say."""
    front = parse_front_matter(text)
    tags, targets = tags_and_targets(text)
    aliases = _aliases(front)
    fields, notes = entry_fields(front)
    return Document(
        text,
        title=title_in(front) or first_heading(text),
        format="markdown",
        topics=tuple(dict.fromkeys((*topics_in(front), *tags))),
        targets=tuple(targets),
        created_at=created_in(front),
        updated_at=updated_in(front),
        metadata=({"front_matter": front} if front else {})
        | ({"aliases": aliases} if aliases else {}),
        fields=fields,
        notes=tuple(notes),
        id=id_in(front),
    )


def _aliases(front: dict[str, object]) -> list[str]:
    given = next((front[key] for key in ("aliases", "alias") if front.get(key)), None)
    if isinstance(given, str):
        given = given.split(",")
    return list(split_topics(given))


@cache
def _is_installed(kind: str) -> bool:
    return all(find_spec(package) is not None for package in _NEEDS.get(kind, ()))
