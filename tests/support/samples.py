"""Files made by hand: the smallest PDF and DOCX that their readers take for real ones."""

from __future__ import annotations

import io
import zipfile

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def pdf(*pages: str, info: str = "", trailer: str = "", count: int | None = None) -> bytes:
    """A PDF with a line of text a line; `info` is the inside of its properties."""
    objects = ["", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>", f"<< {info} >>"]
    kids = []
    for page in pages:
        lines = " ".join(f"({line}) Tj 0 -20 Td" for line in page.split("\n") if line)
        stream = f"BT /F1 12 Tf 72 720 Td {lines} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[0] = "<< /Type /Catalog /Pages 2 0 R >>"
    total = len(kids) if count is None else count
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {total} >>"
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    return (
        f"{out}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R {trailer} >>\n"
        f"startxref\n{len(out)}\n%%EOF\n"
    ).encode("latin-1")


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of a Word document."""
    about = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{about}<w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, core: str = "", more: dict[str, bytes] | None = None) -> bytes:
    """A Word document; `core` is the inside of its properties."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{_OFFICE}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
        "docProps/core.xml": f"<cp:coreProperties>{core}</cp:coreProperties>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in parts.items():
            package.writestr(name, text)
        for name, data in (more or {}).items():
            package.writestr(name, data)
    return out.getvalue()
