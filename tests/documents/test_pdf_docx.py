"""PDF and DOCX, whole and damaged."""

from __future__ import annotations

import time
import zipfile
from datetime import UTC, datetime

import pytest
from samples import docx, paragraph, pdf

from scrubjay.documents import Unreadable
from scrubjay.documents.read import read


def reason(path, data):
    """Why a file is left out, and whether somebody would have wanted it in."""
    with pytest.raises(Unreadable) as left_out:
        read(path, data)
    return left_out.value.reason, left_out.value.failed


class TestPdf:
    def test_pages_are_apart_by_form_feeds(self):
        """An empty page counts."""
        info = "/Title (On birds) /CreationDate (D:20240131093000+02'00') /ModDate (D:2025)"
        (paper,) = read("a.pdf", pdf("One\nline", "", "Three", info=info))

        assert paper.text == "One\nline\n\f\n\fThree"
        assert (paper.title, paper.format) == ("On birds", "pages")
        assert paper.created_at == datetime(2024, 1, 31, 7, 30, tzinfo=UTC)
        assert paper.updated_at == datetime(2025, 1, 1, tzinfo=UTC)
        assert paper.metadata == {"pages": 3}

    @pytest.mark.parametrize(
        "title", ["untitled", "Microsoft Word - thesis.doc", "C:\\\\\\\\x", "a.tex", "", "..."]
    )
    def test_a_title_that_a_program_wrote_is_none(self, title):
        """The file's name says more."""
        assert read("a.pdf", pdf("x", info=f"/Title ({title})"))[0].title == ""

    @pytest.mark.parametrize("date", ["soon", "D:20249999", "D:0000", "D:2024+99'99'"])
    def test_a_date_that_is_none_is_left_out(self, date):
        """The file's own time is then used."""
        assert read("a.pdf", pdf("x", info=f"/CreationDate ({date})"))[0].created_at is None

    def test_scanned_pages_have_no_text(self):
        """Nobody can read them here; that is no failure."""
        assert reason("a.pdf", pdf("", "")) == (
            "no text in it: scanned pages need OCR first",
            False,
        )

    def test_a_password_is_said(self):
        """With what can be done about it."""
        locked = (
            f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'61' * 32}> /U <{'62' * 32}> >>"
        )
        data = pdf("secret", trailer=f"{locked} /ID [<00> <00>]")

        assert reason("a.pdf", data) == ("locked with a password; save it without one first", True)

    @pytest.mark.parametrize("data", [b"%PDF-1.4\n", b"not a pdf", pdf("x")[:100]])
    def test_a_damaged_one_is_a_failure(self, data):
        """In the words of PDFium."""
        assert reason("a.pdf", data) == ("not a readable PDF: data format error", True)

    def test_cut_anywhere_it_is_read_or_refused(self):
        """Never anything else."""
        whole = pdf("One", "Two")
        for stop in range(1, len(whole), 7):
            assert_read_or_refused("a.pdf", whole[:stop])

    def test_pages_that_are_only_claimed_cost_nothing(self):
        """A number in a file is no proof."""
        started = time.process_time()
        assert_read_or_refused("a.pdf", pdf("x", count=2_000_000_000))
        assert time.process_time() - started < 5


BODY = paragraph("Intro", "Heading1") + paragraph("Some words.")


class TestDocx:
    def test_a_document_becomes_markdown(self):
        """With its properties."""
        core = (
            "<dc:title>On &amp; off</dc:title><cp:keywords>a; b</cp:keywords>"
            '<dcterms:created xsi:type="dcterms:W3CDTF">2024-05-03T10:00:00Z</dcterms:created>'
        )
        (document,) = read("a.docx", docx(BODY, core))

        assert document.text == "# Intro\n\nSome words.\n"
        assert (document.title, document.format) == ("On & off", "markdown")
        assert document.topics == ("a", "b")
        assert document.created_at == datetime(2024, 5, 3, 10, tzinfo=UTC)

    def test_without_a_title_the_first_heading_is_taken(self):
        """As in a page."""
        assert read("a.docx", docx(BODY))[0].title == "Intro"

    @pytest.mark.parametrize(
        ("data", "why"),
        [
            (b"words", "not a readable DOCX: not a zip file"),
            (docx(BODY)[:300], "not a readable DOCX: not a zip file"),
            (docx("<w:p>"), "not a readable DOCX: damaged"),
            (docx("<w:p>" * 5_000 + "</w:p>" * 5_000), "not a readable DOCX: nested too deeply"),
            (
                b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
                "locked with a password, or an old .doc; save it as .docx",
            ),
        ],
        ids=["text", "cut", "xml", "deep", "ole"],
    )
    def test_a_damaged_one_is_a_failure(self, data, why):
        """With what is wrong with it."""
        assert reason("a.docx", data) == (why, True)

    def test_an_empty_one_is_empty(self):
        """A failure it is not."""
        assert reason("a.docx", docx("")) == ("empty", False)

    @pytest.mark.parametrize("name", ["word/media/image.bin", "word/document2.xml"])
    def test_a_bomb_is_not_unpacked(self, name):
        """What it would take is written in the zip file."""
        data = docx(BODY, more={name: bytes(201_000_000)})

        assert len(data) < 300_000
        assert reason("a.docx", data) == ("not a readable DOCX: too large when unpacked", True)

    def test_cut_or_changed_anywhere_it_is_read_or_refused(self):
        """Never anything else."""
        whole = docx(BODY)
        for place in range(0, len(whole), 5):
            assert_read_or_refused("a.docx", whole[:place])
            assert_read_or_refused("a.docx", whole[:place] + b"\xff" + whole[place + 1 :])

    def test_a_zip_file_of_another_kind_is_refused(self, tmp_path):
        """There is no document in it."""
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as package:
            package.writestr("a.txt", "words")

        data = (tmp_path / "a.zip").read_bytes()
        assert reason("a.docx", data) == ("not a readable DOCX: damaged", True)


def assert_read_or_refused(path, data):
    try:
        documents = read(path, data)
    except Unreadable:
        return
    assert all(one.text.strip() for one in documents)
