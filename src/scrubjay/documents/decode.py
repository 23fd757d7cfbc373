"""Bytes into text, or the reason why they are none."""

from __future__ import annotations

import codecs
import re

from scrubjay.documents import Unreadable

_LOOK_AT_BYTES = 8192
_DECLARED = re.compile(
    rb"""charset\s*=\s*["']?\s*([\w.:-]+)|encoding\s*=\s*["']([\w.:-]+)["']""", re.I
)
# Browsers read these two as Windows does; other codecs of Python (`unicode_escape`, `zip`) are no charsets.
_AS_BROWSERS = {"iso8859-1": "cp1252", "ascii": "cp1252"}
_CHARSETS = re.compile(
    r"iso8859-\d+|cp125\d|cp866|cp874|cp932|cp949|koi8-[ru]|gb2312|gbk|gb18030|big5|big5hkscs"
    r"|shift_jis|euc_jp|euc_kr|iso2022_jp|tis-620|mac-\w+"
)


def decode(data: bytes) -> str:
    """Return UTF-8 text, or UTF-16 with its mark; raise Unreadable for anything else, and for nothing."""
    return _not_empty(_unicode(data))


def decode_html(data: bytes) -> str:
    """Return the text of a page, in the charset it declares when it is not Unicode by its mark."""
    declared = None if _is_utf16(data) else _declared(data[:_LOOK_AT_BYTES])
    if declared is None or b"\0" in data:
        return decode(data)
    try:
        return _not_empty(data.decode(declared))
    except UnicodeError:
        return decode(data)


def _unicode(data: bytes) -> str:
    if not _is_utf16(data) and b"\0" in data:
        raise Unreadable("binary, not text", failed=False)
    try:
        text = data.decode("utf-16" if _is_utf16(data) else "utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8 text; convert it first", failed=True) from None
    if "\0" in text:
        raise Unreadable("binary, not text", failed=False)
    return text


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
