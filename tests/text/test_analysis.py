"""Words out of text: what is stored and what is asked are split alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrubjay.text.analysis import (
    STOP_WORDS,
    fold,
    is_valid_unicode,
    normalize,
    terms,
    tokens,
    valid_unicode,
)
from scrubjay.text.snippets import highlight, snippet

ANY = st.text(max_size=200)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Running dogs", ["run", "dog"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("rm -rf", ["rm", "-rf", "rf"]),
        ("foo.bar", ["foo.bar", "foo", "bar"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("camelCase", ["camelcas", "camel", "case"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("v1.2.3", ["v1.2.3", "v1", "2", "3"]),
        ("1,000,000", ["1000000"]),
        ("Noor's", ["noor"]),
        ("__init__", ["__init__", "init"]),
        ("", []),
        ("!?…", []),
        ("___", []),
        ("検索", ["検", "索", "検索"]),
        ("日", ["日"]),
        ("Straße", ["strass"]),
        ("Ünïcödé", ["unicod"]),
        ("книгами", ["книг"]),
        ("🎉", ["🎉"]),
        ("\u05b0", []),
    ],
)
def test_tokens(text, found):
    """A plain word is its stem; an identifier itself and its parts; unspaced scripts pairs."""
    assert tokens(text) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("how does JWT validation work", ("jwt", "valid", "work")),
        ("to be or not to be", ("to", "be", "or", "not")),
        ("the the the", ("the",)),
        ("port PORT ports", ("port",)),
        ("検索", ("検索",)),
        ("?!", ()),
    ],
)
def test_terms_leave_out_stop_words_unless_there_is_nothing_else(query, found):
    """Distinct, in the order of the query."""
    assert terms(query) == found


@given(ANY)
def test_whatever_is_asked_for_is_indexed_under_the_same_token(text):
    """A query finds the very text it was copied from: nothing is split in two ways."""
    assert set(terms(text)) <= set(tokens(text))


@given(ANY)
def test_a_token_can_be_written_into_the_index(text):
    """No token is empty, and none holds a character that cannot be stored."""
    for token in tokens(valid_unicode(text)):
        assert token.strip()
        assert is_valid_unicode(token)
        assert len(token) <= 256


@given(st.text("abcXYZ0189_.-+#' ", max_size=40))
def test_plain_words_are_split_alike_in_any_company(text):
    """A letter with an accent elsewhere in the text changes nothing for the other words."""
    assert tokens(f"{text} é") == [*tokens(text), "e"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("STRASSE", "straße"),
        ("Café", "CAFE"),
        ("Αθήνα", "ΑΘΗΝΑ"),
        ("ＦＵＬＬ", "full"),
        ("ﬁne", "FINE"),
    ],
)
def test_folding_ignores_case_width_and_accents(one, other):
    """One word, however it is written."""
    assert fold(one) == fold(other)


@given(ANY)
def test_normalising_twice_changes_nothing(text):
    """It is a normal form; spaces and composition do not matter, letters do."""
    once = normalize(text)

    assert normalize(once) == once
    assert normalize(f"  {text}\n") == once
    assert "  " not in once


def test_composed_and_decomposed_letters_are_the_same_text():
    """é and é."""
    assert normalize("cafe\u0301") == normalize("caf\u00e9")
    assert tokens("cafe\u0301") == tokens("caf\u00e9") == ["cafe"]
    assert normalize("Tea") != normalize("tea")


@given(st.text(st.characters(categories=["Cs", "L"])))
def test_any_string_can_be_made_readable(text):
    """Halves of surrogate pairs are replaced, all else stays."""
    assert is_valid_unicode(valid_unicode(text))
    valid_unicode(text).encode()
    if is_valid_unicode(text):
        assert valid_unicode(text) == text


WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta,", "x"]), max_size=300).map(
    " ".join
)


@given(
    text=st.one_of(WORDS, st.text(max_size=600)), wanted=st.sampled_from(["gamma", "x", "zebra"])
)
def test_a_snippet_is_a_stretch_of_the_text_that_holds_a_wanted_word(text, wanted):
    """Not longer than asked for, verbatim, and with a match in it if the text has one."""
    shown = snippet(text, terms(wanted), 80)

    assert shown.strip("…").strip() in text
    assert len(shown) <= 82 or shown == text
    if wanted in tokens(text):
        assert wanted in tokens(shown)
    if len(text) <= 80:
        assert shown == text


def test_a_snippet_shows_the_place_with_the_most_wanted_words():
    """Not merely the first match."""
    text = "apple " + "filler " * 60 + "apple banana cherry " + "filler " * 60

    assert "banana cherry" in snippet(text, terms("apple banana cherry"), 100)
    assert snippet(text, terms("apple banana cherry"), 100).startswith("…")


def test_marking_finds_other_forms_of_a_word():
    """What the index matched is what the eye is shown."""
    assert (
        highlight("He runs; RUNNING is fun.", terms("run"), "[", "]")
        == "He [runs]; [RUNNING] is fun."
    )


def test_stop_words_are_folded_themselves():
    """Or they would never match."""
    assert all(fold(word) == word for word in STOP_WORDS)
