"""The words of a query in a text: marked, counted, and cut out, never a letter lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scrubjay
from scrubjay.text.analysis import terms, tokens
from scrubjay.text.query_syntax import parse_query
from scrubjay.text.snippets import count_matches, highlight, snippet

GERMAN = "Im Sommer wurden die alten Häuser am Hafen von der Stadt renoviert."
CHINESE = "他在北京大学的图书馆里检索关于GPT模型的文件，然后回家。"


@pytest.mark.parametrize(
    ("text", "asked", "language", "marked"),
    [
        ("running dogs run", ("run",), "", "[running] dogs [run]"),
        (GERMAN, ("haus",), "de", GERMAN.replace("Häuser", "[Häuser]")),
        (GERMAN, ("haus",), "", GERMAN),
        ("the configuration of it", ("config*",), "", "the [configuration] of it"),
        (
            "the configuration of it",
            ("configuratio*", "configur"),
            "",
            "the [configuration] of it",
        ),
        ("мы нашли книги там", ("книг",), "ru", "мы нашли [книги] там"),
        ("calls get_user_name() now", ("user",), "", "calls [get_user_name]() now"),
        ("run rm -rf build", ("-rf",), "", "run rm [-rf] build"),
        ("C++ and C#", ("c#",), "", "C++ and [C#]"),
        (CHINESE, ("北京", "京大", "大学"), "zh", CHINESE.replace("北京大学", "[北京大学]")),
        (CHINESE, ("gpt",), "zh", CHINESE.replace("GPT", "[GPT]")),
        (CHINESE, ("模型", "文件"), "zh", CHINESE.replace("模型的文件", "[模型]的[文件]")),
        ("日本語を検索する", ("索",), "ja", "日本語を検[索]する"),
        ("party 🎉 tonight", ("🎉",), "", "party [🎉] tonight"),
        ("nothing", (), "", "nothing"),
        ("", ("x",), "", ""),
    ],
)
def test_what_answers_a_term_is_marked(text, asked, language, marked):
    """In the language of the text; in a script without spaces only the characters asked for."""
    assert highlight(text, asked, "[", "]", language) == marked


def test_an_inflected_word_is_marked_in_the_answer_itself():
    """GN-6, end to end: the terms of the answer and the language of the hit are enough to mark by."""
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add(GERMAN)
        found = store.search("Haus", mode="keyword")

    assert "[Häuser]" in highlight(found[0].snippet, found.terms, "[", "]", found[0].language)


PIECES = (
    "alpha",
    "Häuser",
    "北京大学",
    "GPT模型",
    "ไทย",
    "किताब",
    "-rf",
    "C++",
    "a.b",
    " ",
    "\n",
    "🎉",
    "ｶﾞ",
    "́",
)
TEXT = st.one_of(
    st.text(max_size=120), st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
)
ASKED = st.lists(
    st.sampled_from(
        ["alpha", "alp*", "haus", "北京", "模型", "型", "gpt", "-rf", "ガ", "🎉", "किता*", "*"]
    )
)
LANGUAGE = st.sampled_from(["", "de", "zh", "ru", "vi"])


@given(text=TEXT, asked=ASKED, language=LANGUAGE)
def test_marking_never_loses_a_character(text, asked, language):
    """Without the marks it is the text again."""
    marked = highlight(text, tuple(asked), "\ue000", "\ue001", language)

    if "\ue000" not in text and "\ue001" not in text:
        assert marked.replace("\ue000", "").replace("\ue001", "") == text
        assert marked.count("\ue000") == marked.count("\ue001")
        assert "\ue000\ue001" not in marked


@given(text=TEXT, asked=ASKED, language=LANGUAGE)
def test_something_is_marked_exactly_where_something_matches(text, asked, language):
    """Counting and marking agree."""
    marked = highlight(text, tuple(asked), "\ue000", "\ue001", language)

    if "\ue000" not in text:
        assert ("\ue000" in marked) == any(count_matches([text], tuple(asked), language))


@given(TEXT.filter(lambda text: len(text.split()) > 0), LANGUAGE)
def test_a_text_holds_all_of_its_own_words(text, language):
    """Asked as it is stored."""
    asked = terms(text, language)

    assert set(asked) <= set(tokens(text, language))
    assert any(count_matches([text], asked, language)) == bool(asked)


@given(text=TEXT, asked=ASKED, width=st.integers(1, 60), language=LANGUAGE)
def test_a_snippet_is_a_stretch_of_the_text(text, asked, width, language):
    """Verbatim, not longer than asked for."""
    shown = snippet(text, tuple(asked), width, language)

    assert shown == text or shown.strip("…").strip() in text
    assert shown == text or len(shown) <= width + 2


def test_matches_counts_distinct_terms():
    """A beginning counts once, however many words begin so."""
    assert count_matches(["config configure configuration"], ("config*",)) == [1]
    assert count_matches(
        ["red red kettle", "blue", "", "a red one"], ("red", "kettl", "blue")
    ) == [
        2,
        1,
        0,
        1,
    ]
    assert count_matches([GERMAN], ("haus", "hauser"), "de") == [1]


def test_a_snippet_shows_the_inflected_word_and_the_begun_one():
    """In the language of the text."""
    long = "Der Hund schläft den ganzen Tag. " * 30 + GERMAN + " Und so weiter und so fort." * 30

    assert "Häuser" in snippet(long, ("haus",), 100, "de")
    assert "renoviert" in snippet(long, ("renov*",), 100, "de")


def test_a_snippet_finds_the_place_inside_a_run_without_spaces():
    """A Chinese text may have no space for pages."""
    long = "无关内容" * 200 + "北京大学" + "其他文字" * 200

    asked = parse_query("北京大学").tokens

    assert "北京大学" in snippet(long, asked, 80, "zh")
