"""Small files that take a parser minutes, gigabytes or its stack."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from samples import docx

_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def pdf_of_forms(depth: int = 6, fan: int = 12) -> bytes:
    """A PDF of 3 KB: a page draws a form twelve times, which draws another twelve times, and so on."""
    forms = []
    for level in range(depth):
        last = level == depth - 1
        body = _words(20) if last else b"/X%d Do " % (level + 1) * fan
        forms.append(
            b"<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >>"
            b" /XObject << /X%d %d 0 R >> >> /Length %d >>\nstream\n%s\nendstream"
            % (level + 1, level + 6, len(body), body)
        )
    return _pdf(b"<< /Length 6 >>\nstream\n/X0 Do\nendstream", forms)


def pdf_of_streams(words: int = 5_000_000) -> bytes:
    """A PDF of 1.5 KB whose only page is packed twice: 95 MB of operators."""
    packed = zlib.compress(zlib.compress(_words(words), 9), 9)
    head = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>" % len(packed)
    return _pdf(head + b"\nstream\n" + packed + b"\nendstream")


def pdf_of_itself() -> bytes:
    """A PDF whose tree of pages contains itself, and whose form draws itself."""
    form = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X0 5 0 R >> >>"
        b" /Length 6 >>\nstream\n/X0 Do\nendstream"
    )
    content = b"<< /Length 6 >>\nstream\n/X0 Do\nendstream"
    return _pdf(content, [form]).replace(b"/Kids [6 0 R]", b"/Kids [2 0 R]")


def pdf_of_pages(pages: int = 4000) -> bytes:
    """A PDF whose pages all have the same content: 4,000 times the words of one."""
    return _pdf(
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(_words(5000)), _words(5000)), pages=pages
    )


def docx_of_runs(runs: int = 1_000_000) -> bytes:
    """A Word document of 57 KB: a paragraph of a million runs."""
    return docx("<w:p>" + "<w:r><w:t>x</w:t></w:r>" * runs + "</w:p>")


def docx_of_tables(depth: int = 30_000) -> bytes:
    """A Word document with a table in a table in a table."""
    return docx("<w:tbl><w:tr><w:tc>" * depth + "</w:tc></w:tr></w:tbl>" * depth)


def docx_that_claims(unpacked: int = 10_000_000_000) -> bytes:
    """A Word document whose list of contents says how large its XML is when unpacked."""
    whole = io.BytesIO(docx("x" * 100))
    with zipfile.ZipFile(whole) as package:
        size = package.getinfo("word/document.xml").file_size
    data = whole.getvalue()
    at = data.rindex(b"word/document.xml") - 22  # the size in the central directory
    assert struct.unpack("<L", data[at : at + 4]) == (size,)
    return data[:at] + struct.pack("<L", min(unpacked, 2**32 - 2)) + data[at + 4 :]


def docx_of_entities() -> bytes:
    """A Word document whose entities stand for a billion words."""
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    text = docx("&e9;")
    with zipfile.ZipFile(io.BytesIO(text)) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    head = f'<!DOCTYPE x [<!ENTITY e0 "words ">{entities}]>'.encode()
    parts["word/document.xml"] = head + parts["word/document.xml"]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, part in parts.items():
            package.writestr(name, part)
    return out.getvalue()


def html_of_tags(tags: int = 190_000) -> bytes:
    """A page with an element in an element in an element."""
    return b"<div>" * tags + b"words"


def _words(count: int) -> bytes:
    return b"BT /F1 12 Tf 72 720 Td " + b"(words) Tj 0 -1 Td " * count + b"ET"


def _pdf(content: bytes, forms: list[bytes] | None = None, pages: int = 1) -> bytes:
    """A PDF of pages with the same content; its forms are the objects from 5 on."""
    forms = forms or []
    names = b" ".join(b"/X%d %d 0 R" % (n, n + 5) for n in range(len(forms)))
    first = 5 + len(forms)
    kids = b" ".join(b"%d 0 R" % (first + n) for n in range(pages))
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 3 0 R >> /XObject << %s >> >> >>" % names
    )
    tree = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages)
    root = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects = [root, tree, _FONT, content, *forms, *[page] * pages]
    out, places = bytearray(b"%PDF-1.5\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return bytes(out) + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, len(out))
    )
