"""Word documents (DOCX), converted to Markdown."""

from __future__ import annotations

import lzma
import re
import struct
import zipfile
import zlib
from html import unescape
from io import BytesIO
from typing import Any
from xml.parsers.expat import ExpatError

from scrubjay.documents import Document, Unreadable
from scrubjay.documents.html import read_html
from scrubjay.documents.pdf import sensible_title
from scrubjay.text.analysis import valid_unicode
from scrubjay.text.front_matter import parse_date, split_topics

PACKAGES = ("mammoth", "bs4", "markdownify")
MAX_BYTES = 200_000_000  # unpacked, in total
MAX_XML_BYTES = 40_000_000  # of XML, which takes about twenty times its size when parsed
_CORE = "docProps/core.xml"
_OLD_FORMAT = b"\xd0\xcf\x11\xe0"
# Raised by zipfile, expat and mammoth when a part is damaged or is not what its name says.
# RuntimeError: an encrypted part, an unknown compression, endless nesting.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, ExpatError, EOFError, OSError),
    *(LookupError, ValueError, AttributeError, TypeError, RuntimeError),
)


def read_docx(data: bytes) -> Document:
    """Return a Word document as Markdown, with title, keywords and dates from its properties."""
    if data.startswith(_OLD_FORMAT):
        raise Unreadable("locked with a password, or an old .doc; save it as .docx", failed=True)
    try:
        core = _checked(data)
        markup = _html(data)
    except _DAMAGED as error:
        raise Unreadable(f"not a readable DOCX: {_why(error)}", failed=True) from None
    body = read_html(markup)
    return body._replace(
        title=sensible_title(_property(core, "dc:title")) or body.title,
        topics=tuple(dict.fromkeys(split_topics(_property(core, "cp:keywords")))),
        created_at=parse_date(_property(core, "dcterms:created")),
        updated_at=parse_date(_property(core, "dcterms:modified")),
    )


def _checked(data: bytes) -> str:
    """Return the core properties; refuse a package that is too large when unpacked."""
    with zipfile.ZipFile(BytesIO(data)) as package:
        parts = package.infolist()
        xml = sum(part.file_size for part in parts if part.filename.endswith((".xml", ".rels")))
        if sum(part.file_size for part in parts) > MAX_BYTES or xml > MAX_XML_BYTES:
            raise Unreadable("not a readable DOCX: too large when unpacked", failed=True)
        if _CORE not in package.namelist():
            return ""
        return package.read(_CORE).decode("utf-8", "replace")


def _html(data: bytes) -> str:
    import mammoth

    def alt_text(image: Any) -> list[Any]:
        return [mammoth.html.text(image.alt_text)] if image.alt_text else []

    return str(mammoth.convert_to_html(BytesIO(data), convert_image=alt_text).value)


def _property(core: str, name: str) -> str:
    # Without an XML parser, which would expand the entities of the document.
    found = re.search(rf"<{name}(?:\s[^<>]*)?>([^<]*)</{name}>", core)
    return valid_unicode(unescape(found[1])).strip() if found else ""


def _why(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, zipfile.BadZipFile):
        return "not a zip file" if "not a zip" in str(error) else "damaged zip file"
    return "damaged"
