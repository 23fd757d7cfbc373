"""Bytes into documents: which reader, which text, and why not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from scrubjay.documents import Document, Target, Unreadable
from scrubjay.documents import code as code_module
from scrubjay.documents import read as read_module
from scrubjay.documents.read import is_binary_name, read, reader_of


def reason(path, data):
    """Why a file is left out, and whether somebody would have wanted it in."""
    with pytest.raises(Unreadable) as left_out:
        read(path, data)
    return left_out.value.reason, left_out.value.failed


class TestWhichReader:
    @pytest.mark.parametrize(
        ("path", "reader"),
        [
            ("a/Notes.MD", "markdown/2"),
            ("x.htm", "html/1"),
            ("x.PDF", "pdf/1"),
            ("x.docx", "docx/1"),
            ("x.rst", "rst/1"),
            ("x.jsonl", "chat/1"),
            ("x.unknown", "text/1"),
            ("README", "text/1"),
            ("x.py", "python/1+tree-sitter"),
            ("x.kt", "kotlin/1"),
            ("Makefile", "make/1"),
            ("deep.d/Dockerfile", "dockerfile/1"),
            ("CMakeLists.txt", "cmake/1"),
        ],
    )
    def test_the_name_decides(self, path, reader):
        """Upper or lower case."""
        assert reader_of(path) == reader

    def test_without_an_extra_the_reader_is_another_one(self, monkeypatch):
        """So that its files are read again when the extra comes."""
        missing(monkeypatch)

        assert [reader_of(f"x.{one}") for one in ("pdf", "docx", "html", "py", "md")] == [
            *("pdf/0", "docx/0", "html/0", "python/1", "markdown/2")
        ]

    def test_a_missing_extra_is_named_with_the_command_that_installs_it(self, monkeypatch):
        """Somebody would have wanted the file in."""
        missing(monkeypatch)

        assert reason("x.pdf", b"%PDF") == ('needs: pip install "scrubjay[files]"', True)
        (document,) = read("x.py", b"def f(): pass\n")
        assert document == Document("def f(): pass\n", format="python")

    def test_readers_are_not_imported_before_they_are_needed(self):
        """A search from a cold shell pays for none of them."""
        extras = "bs4 markdownify mammoth pypdfium2 tree_sitter yaml"
        program = (
            "import sys, scrubjay.documents.read, scrubjay.documents.code\n"
            f"print([one for one in {extras.split()} if one in sys.modules])"
        )

        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

        assert (done.stdout, done.stderr) == ("[]\n", "")

    def test_binary_names_need_not_be_opened(self):
        """Pictures, archives, databases."""
        assert all(map(is_binary_name, ("a.PNG", "b/c.zip", "x.sqlite", "y.pyc", "z.woff2")))
        assert not any(map(is_binary_name, ("a.md", "png", "x.py", "zip/readme", "a.unknown")))
        assert reason("a.png", b"text") == ("binary, not text", False)


def missing(monkeypatch):
    """Make all optional packages as if they were not installed."""
    monkeypatch.setattr(read_module, "_is_installed", lambda kind: kind not in read_module._NEEDS)
    monkeypatch.setattr(code_module, "_is_installed", lambda package: False)


class TestText:
    @pytest.mark.parametrize(
        ("data", "text"),
        [
            ("Größe\r\n".encode(), "Größe\r\n"),
            ("\ufeffGröße".encode(), "Größe"),
            ("Größe".encode("utf-16"), "Größe"),
            ("\ufeffGröße".encode("utf-16-be"), "Größe"),
        ],
        ids=["utf-8", "bom", "utf-16-le", "utf-16-be"],
    )
    @pytest.mark.parametrize("path", ["a.txt", "a.md", "a.py", "a.json", "a.rst", "LICENSE"])
    def test_unicode_is_kept_as_it_is(self, path, data, text):
        """Without its mark."""
        assert [one.text for one in read(path, data)] == [text]

    @pytest.mark.parametrize("path", ["a.txt", "a.md", "a.py", "a.json", "a.rst", "a.unknown"])
    @pytest.mark.parametrize(
        ("data", "why"),
        [
            (b"", ("empty", False)),
            (b" \r\n\t", ("empty", False)),
            ("\ufeff \n".encode(), ("empty", False)),
            (b"a\0b", ("binary, not text", False)),
            ("Größe".encode("latin-1"), ("not UTF-8 text; convert it first", True)),
            (b"\xff\xfea", ("not UTF-8 text; convert it first", True)),
            (b"\xff\xfe\0\0a\0\0\0", ("binary, not text", False)),
        ],
        ids=["nothing", "spaces", "bom", "nul", "latin-1", "half utf-16", "utf-32"],
    )
    def test_what_is_no_text_says_why(self, path, data, why):
        """The same words for every kind of text."""
        assert reason(path, data) == why

    def test_code_is_verbatim_with_its_language(self):
        """Its title is the caller's, who knows the file's name."""
        assert read("a.kt", b"class A\n") == [Document("class A\n", format="kotlin")]
        assert read("a.csv", b"a,b\n") == [Document("a,b\n")]


class TestRestructuredText:
    def test_title_topics_and_links(self):
        """The text is kept as it is."""
        text = (
            ":tags: red, green\n\nTitle\n=====\n\nSee :doc:`the guide <../guide>`, :doc:`api`, :ref:`x`,\n"
            "`more <more.rst>`_ and `out <https://x.org>`_ and `named <other_>`_.\n\n.. _a: b.rst#c\n"
        )
        (document,) = read("a.rst", text.encode())

        assert (document.text, document.title, document.format) == (text, "Title", "rst")
        assert document.topics == ("red", "green")
        assert [one.text for one in document.targets] == [
            *("../guide.rst", "api.rst", "more.rst", "b.rst")
        ]


PAGE = """<?xml version="1.0"?><!DOCTYPE html>
<html><head><title>The  page</title><meta name="Keywords" content="red, green">
<script>var script = 1;</script><style>.style {}</style></head>
<body><nav><a href="menu.html">menu</a></nav><!-- comment -->
<h1>Head &amp; line</h1><p>One <b>bold</b> word.<p>Two <a href="other%20page.html#x">words</a>.
<ul><li>first<li>second</ul><pre>code  here</pre><img src="data:xyz" alt="a cat">
<a href="https://x.org">out</a><svg><text>svg</text></svg></body></html>
"""


class TestHtml:
    def test_a_page_becomes_markdown(self):
        """Without scripts, menus and comments; ends that nobody wrote are no nesting."""
        (page,) = read("a.html", PAGE.encode())

        assert page.text == (
            "# Head & line\n\nOne **bold** word.\n\nTwo [words](other%20page.html#x).\n\n"
            "- first\n- second\n\n```\ncode  here\n```\n\na cat\n[out](https://x.org)\n"
        )
        assert (page.title, page.format, page.topics) == ("The page", "markdown", ("red", "green"))
        assert Target("path", "other page.html") in page.targets
        assert not any("x.org" in one.text for one in page.targets)

    def test_the_first_heading_is_the_title_of_a_page_without_one(self):
        """Else there is none."""
        assert read("a.html", b"<h1>A <i>b</i></h1>x")[0].title == "A b"
        assert read("a.html", b"words only")[0] == Document("words only\n", format="markdown")

    @pytest.mark.parametrize(
        "data",
        [
            "<meta charset='iso-8859-1'><p>Größe €".encode("cp1252"),
            "<meta charset=iso-2022-jp><p>Größe €".encode(),  # not what it says
            "<meta charset=unicode_escape><p>Größe €".encode(),
            "<p>Größe €".encode("utf-16"),
        ],
        ids=["declared", "wrong", "no charset", "utf-16"],
    )
    def test_the_declared_charset_is_used_when_it_is_true(self, data):
        """Else the page is read as Unicode."""
        assert read("a.html", data)[0].text == "Größe €\n"

    def test_japanese_pages_of_old_are_read(self):
        """In the charset that they declare."""
        data = "<meta charset=shift_jis><p>日本語".encode("shift_jis")
        assert read("a.htm", data)[0].text == "日本語\n"

    def test_nesting_without_end_leaves_the_words(self):
        """Deeper than Python can follow."""
        data = b"<div>" * 100_000 + b"words" + b"</div>" * 100_000
        assert read("a.html", data)[0].text == "words\n"

    @pytest.mark.parametrize("piece", ["<!--", "<![CDATA[", "<a ", "<a a='", "</", "<?x", "<!x"])
    def test_what_never_ends_is_read_in_a_moment(self, piece):
        """The parser of the standard library would begin again at every one."""
        (page,) = read("a.html", b"words " + piece.encode() * 50_000)
        assert page.text.startswith("words")

    @pytest.mark.parametrize("data", [b"<script>x</script>", b"<?xml version='1.0'?><root/>"])
    def test_a_page_without_words_is_empty(self, data):
        """And nothing warns of XML."""
        assert reason("a.html", data) == ("empty", False)

    def test_half_a_character_is_replaced(self):
        """Nothing leaves a reader that cannot be stored."""
        read("a.html", b"<h1>a&#xd800;b</h1>")[0].text.encode()
