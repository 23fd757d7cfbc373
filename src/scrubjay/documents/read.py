"""Read a file into documents: choose the reader by the file's name, and decode its bytes."""

from __future__ import annotations

import codecs
import os
import re
from contextlib import suppress
from functools import cache
from importlib.util import find_spec

from scrubjay.documents import Document, Unreadable, docx, html, pdf
from scrubjay.documents.chat import read_chat
from scrubjay.documents.code import has_parser
from scrubjay.documents.markup import read_markdown, read_rst

INSTALL = 'pip install "scrubjay[files]"'
# Raised when a reader returns other documents for the same bytes: stored files are then read again.
_VERSION = 1
_LATER_VERSIONS = {"markdown": 1}  # added for single readers
_NEEDS = {"html": html.PACKAGES, "pdf": pdf.PACKAGES, "docx": docx.PACKAGES}

_HEAD_BYTES = 8192
_DECLARED = re.compile(
    rb"""charset\s*=\s*["']?\s*([\w.:-]+)|encoding\s*=\s*["']([\w.:-]+)["']""", re.I
)
# Browsers read these two as cp1252. Other codecs of Python (`unicode_escape`, `zip`) are not charsets.
_AS_BROWSERS = {"iso8859-1": "cp1252", "ascii": "cp1252"}
_CHARSETS = re.compile(
    r"iso8859-\d+|cp125\d|cp866|cp874|cp932|cp949|koi8-[ru]|gb2312|gbk|gb18030|big5|big5hkscs"
    r"|shift_jis|euc_jp|euc_kr|iso2022_jp|tis-620|mac-\w+"
)


def reader_of(path: str) -> str:
    """Return the reader of a path with its version; if that changes, the file is read again."""
    kind = kind_of(path)
    if not _is_installed(kind):
        return f"{kind}/0"
    return f"{kind}/{_VERSION + _LATER_VERSIONS.get(kind, 0)}{'+tree-sitter' if has_parser(kind) else ''}"


def read(path: str, data: bytes) -> list[Document]:
    """Return the documents in a file; raise Unreadable, and nothing else, if there are none."""
    if is_binary_name(path):
        raise Unreadable("binary, not text", failed=False)
    kind = kind_of(path)
    if not data.strip():
        raise Unreadable("empty", failed=False)
    if not _is_installed(kind):
        raise Unreadable(f"needs: {INSTALL}", failed=True)
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
    is_code = kind not in _tables()["readers"].values()
    return [Document(text, format=kind if is_code else "text")]


def is_foreign(path: str, data: bytes) -> bool:
    """True when a library parses the file, which may take any amount of time and memory."""
    kind = kind_of(path)
    return kind in _NEEDS and _is_installed(kind) and bool(data.strip())


def kind_of(path: str) -> str:
    """Return the reader of a path, or the language of a code file; `text` for an unknown name."""
    name, extension = _name_and_extension(path)
    tables = _tables()
    for table, key in (("names", name), ("readers", extension), ("languages", extension)):
        if key in tables[table]:
            return tables[table][key]
    return "text"


def is_binary_name(path: str) -> bool:
    """True when the extension is that of an image, sound, archive, program …"""
    return _name_and_extension(path)[1] in _tables()["binary"]


def _name_and_extension(path: str) -> tuple[str, str]:
    name = os.path.basename(path).lower()
    return name, name.rpartition(".")[2] if "." in name else ""


@cache
def _tables() -> dict[str, dict[str, str]]:
    """Return the tables of `extensions.txt`: the kind of each extension or name."""
    tables: dict[str, dict[str, str]] = {}
    table: dict[str, str] = {}
    kind = ""
    with open(os.path.join(os.path.dirname(__file__), "extensions.txt"), encoding="utf-8") as file:
        for line in file:
            if line[0] == "[":
                table = tables.setdefault(line.strip("[]\n"), {})
            elif line[0] != "#" and line.strip():
                before, colon, words = line.rpartition(": ")
                kind = before if colon else kind
                table.update(dict.fromkeys(words.split(), kind))
    return tables


@cache
def _is_installed(kind: str) -> bool:
    return all(find_spec(package) is not None for package in _NEEDS.get(kind, ()))


def decode(data: bytes) -> str:
    """Return UTF-8 text, or UTF-16 with a BOM; raise Unreadable for anything else and for empty text."""
    if not _is_utf16(data) and b"\0" in data:
        raise Unreadable("binary, not text", failed=False)
    try:
        text = data.decode("utf-16" if _is_utf16(data) else "utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8 text; convert it first", failed=True) from None
    if "\0" in text:
        raise Unreadable("binary, not text", failed=False)
    return _not_empty(text)


def decode_html(data: bytes) -> str:
    """Return the text of an HTML page in the charset that it declares, unless it has a BOM."""
    declared = None if _is_utf16(data) else _declared(data[:_HEAD_BYTES])
    if declared is not None and b"\0" not in data:
        with suppress(UnicodeError):
            return _not_empty(data.decode(declared))
    return decode(data)


def _is_utf16(data: bytes) -> bool:
    return data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _not_empty(text: str) -> str:
    if not text.strip():
        raise Unreadable("empty", failed=False)
    return text


def _declared(head: bytes) -> str | None:
    found = _DECLARED.search(head)
    if found is None:
        return None
    label = (found[1] or found[2]).decode("ascii", "replace")
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    name = _AS_BROWSERS.get(name, name)
    return name if _CHARSETS.fullmatch(name) else None
