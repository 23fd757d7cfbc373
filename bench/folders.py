"""Folders to be read: Markdown notes, Python source, HTML pages and PDF, from one seed."""

from __future__ import annotations

import random
import sysconfig
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

FILES = 10_000
SUBFOLDERS = 200
_LINES_OF_A_PAGE = 50
_CHARS_OF_A_LINE = 90


@dataclass(frozen=True, slots=True)
class Folder:
    """Files of one kind, with the words of each for a peer that only has to index them."""

    kind: str
    path: Path
    files: list[Path]
    texts: list[str]

    @property
    def bytes(self) -> int:
        """What their words weigh; a file may be packed, or hold more than words."""
        return sum(len(text.encode()) for text in self.texts)


def make(home: Path, sentences: Sequence[str], size: int) -> list[Folder]:
    """Write a folder of each kind, of about so many bytes of text."""
    return [
        _written("Markdown", ".md", home, _bodies(sentences, size), markdown),
        _source(home, size),
        _written("HTML", ".html", home, _bodies(sentences, size), _html),
        _written("PDF", ".pdf", home, _bodies(sentences, size), _pdf),
    ]


def notes(home: Path, sentences: Sequence[str], count: int, chars: int) -> None:
    """Write so many notes into sub-folders, beside a .gitignore; no two are the same."""
    home.mkdir(parents=True)
    (home / ".gitignore").write_text("*.tmp\nbuild/\n/private/\n!keep.tmp\n", encoding="utf-8")
    chosen = random.Random(count)
    for number in range(count):
        folder = home / f"part-{number * SUBFOLDERS // FILES:03}"
        folder.mkdir(exist_ok=True)
        text = markdown(number, _body(chosen, sentences, chars))
        (folder / f"note-{number:05}.md").write_text(text, encoding="utf-8")


def markdown(number: int, body: Sequence[str]) -> str:
    """Return a note with front matter, a heading every few paragraphs, a tag and two links."""
    lines = [f"---\ntitle: Note {number}\ntags: [bench, part{number % 20}]\n---\n# Note {number}"]
    for at, paragraph in enumerate(body):
        if at % 4 == 0:
            lines.append(f"## {paragraph[:30].strip()}")
        lines.append(paragraph)
    lines.append(f"See [[Note {number // 2}]] and [this](note-{number // 3:05}.md). #bench")
    return "\n\n".join(lines) + "\n"


def _bodies(sentences: Sequence[str], size: int) -> list[list[str]]:
    chosen = random.Random(size)
    chars = 8_000
    return [_body(chosen, sentences, chars) for _ in range(max(1, size // chars))]


def _body(chosen: random.Random, sentences: Sequence[str], chars: int) -> list[str]:
    """Return paragraphs of four sentences each, about so many characters in all."""
    each = sum(map(len, sentences[:1000])) // len(sentences[:1000])
    picked = chosen.choices(sentences, k=max(1, chars // each))
    return [" ".join(picked[at : at + 4]) for at in range(0, len(picked), 4)]


def _written(
    kind: str,
    ending: str,
    home: Path,
    bodies: Iterable[list[str]],
    form: Callable[[int, Sequence[str]], str | bytes],
) -> Folder:
    folder = home / kind.lower()
    folder.mkdir(parents=True)
    files, texts = [], []
    for number, body in enumerate(bodies):
        made = form(number, body)
        file = folder / f"note-{number:05}{ending}"
        file.write_bytes(made.encode() if isinstance(made, str) else made)
        files.append(file)
        texts.append("\n\n".join(body))
    return Folder(kind, folder, files, texts)


def _source(home: Path, size: int) -> Folder:
    """Copy modules of the standard library: code that people wrote."""
    library = Path(sysconfig.get_paths()["stdlib"])
    folder = home / "python"
    folder.mkdir(parents=True)
    files: list[Path] = []
    texts: list[str] = []
    taken = 0
    for module in sorted(library.rglob("*.py")):
        if taken > size:
            break
        if {"site-packages", "test", "tests", "lib2to3"} & {*module.parts}:
            continue
        text = module.read_text(encoding="utf-8", errors="replace")
        copy = folder / module.relative_to(library)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
        files.append(copy)
        texts.append(text)
        taken += len(text)
    return Folder("Python", folder, files, texts)


def _html(number: int, body: Sequence[str]) -> str:
    words = "\n".join(f'<p class="text">{one} <a href="other.html">more</a></p>' for one in body)
    menu = "".join(f'<li><a href="note-{one:05}.html">{one}</a></li>' for one in range(10))
    return (
        f"<!doctype html><html><head><title>Note {number}</title><script>start()</script></head>"
        f"<body><nav><ul>{menu}</ul></nav><h1>Note {number}</h1>\n{words}\n</body></html>\n"
    )


def _pdf(number: int, body: Sequence[str]) -> bytes:
    """Return the least that is a PDF: one font, packed pages of plain lines."""
    lines = [
        part[at : at + _CHARS_OF_A_LINE]
        for part in body
        for at in range(0, len(part), _CHARS_OF_A_LINE)
    ]
    pages = [lines[at : at + _LINES_OF_A_PAGE] for at in range(0, len(lines), _LINES_OF_A_PAGE)]
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, page in enumerate(pages):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
            b" /Resources << /Font << /F 3 0 R >> >>"
            b" /Contents %d 0 R >>" % (5 + 2 * at)
        )
        objects.append(_stream(page))
    return _assembled(objects)


def _stream(page: Sequence[str]) -> bytes:
    shown = "\n".join(f"({one.translate(_ESCAPED)}) Tj T*" for one in page)
    packed = zlib.compress(f"BT /F 10 Tf 40 800 Td 14 TL\n{shown}\nET".encode("latin-1"))
    head = b"<< /Length %d /Filter /FlateDecode >>" % len(packed)
    return head + b"\nstream\n" + packed + b"\nendstream"


def _assembled(objects: Sequence[bytes]) -> bytes:
    """Return the objects, numbered, with the table of where each begins."""
    made = bytearray(b"%PDF-1.4\n")
    places = []
    for number, one in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n" % number + one + b"\nendobj\n"
    table = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % place for place in places)
    made += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(made + b"startxref\n%d\n%%%%EOF\n" % table)


_ESCAPED = str.maketrans({"(": r"\(", ")": r"\)", "\\": r"\\"})
