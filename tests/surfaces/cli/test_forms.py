"""The other forms of an answer: `--files` for scripts, `--md` to paste."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from scrubjay.surfaces.render import markdown
from scrubjay.surfaces.render.facts import file_lines as files
from scrubjay.types import Hit, Memory, Results

OK, FAILED, USAGE, NOTHING = 0, 1, 2, 3
NOW = datetime(2026, 5, 3, 12, 0, tzinfo=UTC)


def hit(**changed) -> Hit:
    fields = {"id": "m1", "score": 0.8125, "text": "The pump restarts.", "updated_at": NOW}
    return Hit(**(fields | changed))


def answer(*hits: Hit, **changed) -> Results:
    return Results(
        **({"query": "pump", "profile": "default", "hits": hits, "terms": ("pump",)} | changed)
    )


@pytest.fixture
def stocked(shell, tmp_path, monkeypatch):
    """A shell beside a folder with a note, and a memory by hand."""
    notes = tmp_path / "notes"
    notes.mkdir()
    text = "# Night shift\n\nThe pump restarts\nat *night*.\n\n## Care\n\nOil it weekly.\n"
    (notes / "a.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shell("ingest", "notes")
    shell("add", "Pump <b>seals</b> are in drawer 4", "--id", "seals", "--source", "http://x/y")
    return shell


# --- --files ----------------------------------------------------------------------------------


def test_files_are_one_line_each_with_lines_and_ids_where_there_is_no_file(stocked):
    """Nothing else is on standard output, and nothing on the other."""
    done = stocked("search", "pump", "--files")

    assert done.code == OK
    first, second = sorted(done.out.splitlines())
    assert first.startswith("notes/a.md:1-")
    assert second == "seals"
    assert done.err == ""


def test_a_file_outside_the_current_folder_has_its_whole_path(stocked, tmp_path, monkeypatch):
    """A script that runs elsewhere opens it all the same."""
    (tmp_path / "notes2").mkdir()  # begins with the same letters, and is not inside
    monkeypatch.chdir(tmp_path / "notes2")

    assert f"{tmp_path}/notes/a.md:1-" in stocked("search", "pump", "--files").out


def test_a_file_with_several_hits_is_there_once_by_its_best():
    """A script would open it twice."""
    found = answer(
        hit(source="/n/chat.json", lines=(40, 44)),
        hit(id="m2", source="/n/b.md", lines=(3, 3)),
        hit(id="m3", source="/n/chat.json", lines=(1, 2)),
    )

    assert files(found) == ["/n/chat.json:40-44", "/n/b.md:3"]


def test_a_page_is_not_written_as_a_line():
    """An editor would open the wrong place."""
    assert files(answer(hit(source="/n/report.pdf", page=3, lines=(80, 90)))) == ["/n/report.pdf"]


def test_a_path_is_one_line_and_keeps_its_spaces():
    """Whatever the file is called."""
    assert files(answer(hit(source="/n/a  b\n\x1b[2J.md"))) == ["/n/a  b␊␛[2J.md"]


def test_files_of_nothing_is_empty_and_code_three(stocked):
    """A loop over it does nothing."""
    done = stocked("search", "zeppelin", "--files")

    assert (done.code, done.out) == (NOTHING, "")


def test_what_an_answer_lacks_goes_to_the_person_not_to_the_script(bare_shell):
    """A degraded answer says so in every form."""
    bare_shell("add", "The kettle whistles", "--no-embed", "--id", "kettle")

    done = bare_shell("query", "kettle", "--files")

    assert done.out == "kettle\n"
    assert done.err.startswith("scrubjay: ")


# --- --md -------------------------------------------------------------------------------------


def test_markdown_has_a_heading_the_place_the_score_and_the_passage_with_its_words(stocked):
    """Ready to paste, with a way back to the file."""
    done = stocked("search", "restarts", "--md")

    heading, empty, about, _, *quoted = done.out.splitlines()
    assert done.code == OK
    assert (heading, empty) == ("## 1. Night shift", "")
    assert about.startswith("`notes/a.md:1-")
    assert " · score 0." in about
    assert "> The pump **restarts**  " in quoted
    assert "> at \\*night\\*." in quoted


def test_markdown_of_a_memory_by_hand_shows_its_first_words_and_its_id():
    """Untitled, it is known by what it says."""
    shown = markdown.results(answer(hit()), whole=False)

    assert shown == ("## 1. The pump restarts.\n\nscore 0.812 · `m1`\n\n> The **pump** restarts.")


def test_full_markdown_quotes_the_whole_text():
    """And a passage otherwise."""
    one = hit(text="First line.\n\nThe pump restarts.", snippet="The pump restarts.")

    assert "First" not in markdown.results(answer(one), whole=False)
    assert markdown.results(answer(one), whole=True).endswith(
        "> First line.\n>\n> The **pump** restarts."
    )


def test_markdown_says_section_page_and_that_the_file_is_gone():
    """As the answer on a terminal does."""
    one = hit(source="/n/r.pdf", title="R", page=3, heading="R › Care_x", stale="missing")

    about = markdown.results(answer(one), whole=False).splitlines()[2]

    assert about == (
        "`/n/r.pdf, page 3` · Care\\_x · score 0.812 · `m1` · missing: the file does not exist"
    )


def test_markdown_of_nothing_says_so(stocked):
    """With the query, escaped."""
    done = stocked("search", "--md", "zeppelin_*")

    assert done.code == NOTHING
    assert done.out.startswith("Nothing found for “zeppelin\\_\\*”.")


def test_markdown_says_what_the_answer_lacks():
    """Below it, and how many files changed."""
    found = answer(hit(), degraded=("vector: no model",), counts={"changed_files": 1})

    assert markdown.results(found, whole=False, db="n.db").endswith(
        "\n\nnote: vector: no model"
        "\n\nnote: 1 file changed since it was indexed: scrubjay ingest --db n.db"
    )


EVIL = [
    "# not a heading",
    "- not a list",
    "+ nor this",
    "1. nor this",
    "12) nor this",
    "> no quote",
    "a\n===",
    "a\n---",
    "***",
    "    no code\n\tno code either",
    "```\nno fence\n```",
    "~~~\nno fence\n~~~",
    "*a* _b_ **c** __d__ ~~e~~ `f`",
    "[a](http://x) ![b](http://y) [c]: http://z",
    "<script>alert(1)</script> <!-- x --> <https://x>",
    "https://x.org/a_b_c and www.x_y.org",
    "&lt;b&gt; &amp; &#42;",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "a\n:-",
    "back\\slash \\* \\",
    "$x_1$ and $$y$$",
    "line  \nbreak\\\nkept",
    "snake_case C++ C# foo.bar() 🙂🙂",
    "漢字仮名 naïve",
]


@pytest.mark.parametrize("text", EVIL)
@pytest.mark.parametrize("terms", [(), ("head", "snake_case", "🙂", "漢字", "code", "c++")])
def test_markdown_and_html_in_a_memory_stay_text(text, terms):
    """An independent reader of Markdown sees one quote, with the same letters and no other markup."""
    found = answer(hit(text=text, snippet=text), terms=terms)
    parser = MarkdownIt("gfm-like", {"linkify": False, "html": True})

    tokens = parser.parse(markdown.results(found, whole=True))

    opened = {token.type for token in tokens}
    inner = [token for token in tokens if token.type == "inline"][2:]
    kinds = {child.type for token in inner for child in token.children}
    words = "\n".join(
        "".join("\n" if child.type == "hardbreak" else child.content for child in token.children)
        for token in inner
    )
    assert opened == {
        "heading_open", "heading_close", "paragraph_open", "paragraph_close",
        "blockquote_open", "blockquote_close", "inline",
    }  # fmt: skip
    assert kinds <= {"text", "text_special", "hardbreak", "strong_open", "strong_close"}
    assert words.replace("\u00a0", " ").split() == text.split()
    assert words.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a/b.md", "`a/b.md`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a``b", "```a``b```")],
)
def test_a_path_with_backticks_stays_one_span(text, shown):
    """The fence is longer than any inside."""
    assert markdown.code(text) == shown


def test_neighbouring_matches_share_one_pair_of_stars():
    """Four stars in a row mean something else."""
    shown = markdown.results(answer(hit(text="🙂🙂 ok"), terms=("🙂",)), whole=True)

    assert shown.endswith("> **🙂🙂** ok")


def test_get_shows_memories_in_markdown(stocked):
    """Each under its heading, as quotes."""
    done = stocked("get", "seals", "--md")

    assert done.code == OK
    assert done.out == (
        "## Pump \\<b\\>seals\\</b\\> are in drawer 4\n\nfact · `http://x/y` · `seals`\n\n"
        "> Pump \\<b\\>seals\\</b\\> are in drawer 4\n"
    )


def test_a_memory_in_markdown_keeps_its_lines():
    """Two spaces end a line; an empty one parts paragraphs."""
    assert markdown.memory(Memory("a\nb\n\nc", id="m1", title="T")) == (
        "## T\n\nfact · `m1`\n\n> a  \n> b\n>\n> c"
    )


# --- one form at a time -----------------------------------------------------------------------


@pytest.mark.parametrize("command", ["search", "vsearch", "query"])
@pytest.mark.parametrize(
    "forms", [["--json", "--files"], ["--json", "--md"], ["--files", "--md"]], ids=" ".join
)
def test_two_forms_of_one_answer_are_refused(stocked, command, forms):
    """None is ignored silently."""
    done = stocked(command, "pump", *forms)

    assert done.code == USAGE
    assert "--json, --files and --md are three forms of output; choose one" in done.err


@pytest.mark.parametrize(
    "words", [["--files", "--explain"], ["--md", "--explain"], ["--files", "--full"]], ids=" ".join
)
def test_a_form_that_has_no_place_for_an_option_refuses_it(stocked, words):
    """Nothing is ignored silently."""
    assert stocked("search", "pump", *words).code == USAGE


def test_get_in_two_forms_is_refused(stocked):
    """As a search is."""
    assert stocked("get", "seals", "--json", "--md").code == USAGE
