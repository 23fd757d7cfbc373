"""PDF as text, pages separated by form feeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from threading import Lock
from typing import Any

from scrubjay.documents import Document, Unreadable
from scrubjay.text.analysis import valid_unicode

PACKAGES = ("pypdfium2",)
MAX_PAGES = 20_000
_PDFIUM = Lock()  # PDFium has global state and must not be called from two threads
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
_NO_TITLE = re.compile(
    r"(?:untitled|unknown|title|none|null|document\d*|microsoft word|slide 1|powerpoint presentation)\W*$"
    r"|.*[/\\]|.*\.(?:docx?|pdf|tex|dvi|indd|pptx?|xlsx?|rtf|odt|txt|html?|qxd|ps)$|\W*$",
    re.I,
)
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?\s*(?:Z|([+-])(\d\d)'?(\d\d)?)?"
)


def read_pdf(data: bytes) -> Document:
    """Return the text of a PDF, with title and dates from its metadata."""
    import pypdfium2

    with _PDFIUM:
        try:
            with pypdfium2.PdfDocument(data) as pdf:
                pages, metadata = list(_pages(pdf)), pdf.get_metadata_dict()
        except pypdfium2.PdfiumError as error:
            raise _unreadable(error) from None
    text = "\n\f".join(pages)
    if not text.strip():
        raise Unreadable("no text in it: scanned pages need OCR first", failed=False)
    return Document(
        text,
        title=sensible_title(metadata.get("Title", "")),
        format="pages",
        created_at=_moment(metadata.get("CreationDate", "")),
        updated_at=_moment(metadata.get("ModDate", "")),
        metadata={"pages": len(pages)},
    )


def sensible_title(raw: str) -> str:
    """Return a title that a person wrote; programs write file names and `untitled`."""
    words = " ".join(_CONTROL.sub(" ", valid_unicode(raw)).split())
    words = words.removeprefix("Microsoft Word - ").removeprefix("PowerPoint Presentation - ")
    return "" if _NO_TITLE.match(words) else words


def _pages(pdf: Any) -> Iterator[str]:
    import pypdfium2

    count = len(pdf)
    if count > MAX_PAGES:
        raise Unreadable(f"not a readable PDF: it claims {count} pages", failed=True)
    failures = 0
    for number in range(count):
        try:
            with closing(pdf[number]) as page, closing(page.get_textpage()) as text:
                yield _tidy(str(text.get_text_bounded()))
        except pypdfium2.PdfiumError:
            failures += 1
            yield ""  # a broken page does not cost the others
    if failures and failures == count:
        raise Unreadable("not a readable PDF: no page of it can be loaded", failed=True)


def _tidy(text: str) -> str:
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return valid_unicode(_CONTROL.sub("", unified)).rstrip()


def _unreadable(error: Exception) -> Unreadable:
    words = str(error)
    if "password" in words.lower():
        return Unreadable("locked with a password; save it without one first", failed=True)
    inner = re.search(r"PDFium: ([^)]*?)\.?\)", words)  # the useful part of the message
    why = (inner[1] if inner else words).strip(". ").lower() or "damaged"
    return Unreadable(f"not a readable PDF: {why}", failed=True)


def _moment(raw: str) -> datetime | None:
    """Read a PDF date, such as D:20240131093000+02'00'; naive means UTC, None if it is invalid."""
    found = _DATE.match(raw.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second = (
        int(part) if part else default
        for part, default in zip(found.groups()[:6], (0, 1, 1, 0, 0, 0), strict=True)
    )
    ahead = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0))
    try:
        zone = timezone(-ahead if found[7] == "-" else ahead)
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
