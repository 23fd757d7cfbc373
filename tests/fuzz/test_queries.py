"""No string is a syntax error, and none is silently emptied."""

from __future__ import annotations

import pytest
from fakes import HashingEmbedder
from hypothesis import example, given, settings
from hypothesis import strategies as st

import scrubjay
from scrubjay.text.analysis import STOP_WORDS, fold, terms, tokens, valid_unicode
from scrubjay.text.languages import stop_words
from scrubjay.text.query_syntax import parse_query

MODES = ("keyword", "vector", "default", "fast", "thorough")
NASTY = (
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff alone",
    '"',
    '""',
    '"unclosed',
    'say "hello" twice',
    "NEAR(",
    "NEAR(a b, 5)",
    "a NEAR b",
    "AND OR NOT",
    "title:x",
    "{title text} : x",
    "-title : x",
    "*",
    "pre*",
    "^start",
    "a + b",
    "rm -rf /",
    "C++",
    "C#",
    ".NET",
    "health.base",
    "pre-edit",
    "don't",
    "’",
    "'; DROP TABLE memories; --",
    "%_[]\\",
    "1,000,000",
    "😀",
    "👩‍👩‍👧",
    "مرحبا",
    "שָׁלוֹם",
    "\u05b0",
    "a.\u05b0\u05b1",
    "日本語の検索",
    "ภาษาไทย",
    "हिन्दी",
    "한국어",
    "ﷺ",
    "\u200d",
    "\ufeff",
    "İstanbul",
    "ﬁne",
    "_",
    "__init__",
    "_____",
    "\U0010ffff",
    "the",
    "to be or not to be",
    '-"',
    '-""',
    '-"a" -b',
    "-note",
    "note -note",
    "note* -note*",
    '"note" -"note"',
    '"C++ and"',
    "“note” „about“ «C++»",
    "-",
    "--",
    "-*",
    "*-",
    '"*"',
    '"-"',
    '"_"',
    "_*",
    "-_*",
    "“",
    "「検索」",
    "検索* -日本",
    "関「日本」連",
    "`rm -rf` *bold* _it_",
    "-a" * 40,
    "a -" * 40,
)
# Every kind of character that means something to a tokenizer or to FTS5, beside all of Unicode.
MARKS = "\"'*^+-():{}[]\\/|&~<>=!?#@$%,.;_ \t\n\0ab1Zßçé日本ำ\u05b0\u0301\u200d😀\ud83d"
ANY = st.text(st.one_of(st.characters(), st.characters(categories=["Cs"])), max_size=80)
MARKED = st.text(st.sampled_from(MARKS), max_size=40)


@pytest.fixture(scope="module")
def store():
    """A small store with something to find, and a model."""
    with scrubjay.open(":memory:", embedder=HashingEmbedder(32)) as opened:
        opened.add_many({"text": f"note {n} about C++ and rm -rf"} for n in range(5))
        opened.pending(wait=True)
        yield opened


def check(store, query):
    """Ask in every mode: an answer comes, is ordered, and says so when there was nothing to search for."""
    searchable = bool(terms(valid_unicode(query)) or parse_query(valid_unicode(query)).holds)
    for mode in MODES:
        results = store.search(query, mode=mode)
        scores = [hit.score for hit in results]
        assert scores == sorted(scores, reverse=True)
        assert results.query == query
        told = any("no searchable term" in reason for reason in results.degraded)
        assert told == (not searchable)
        if not searchable:
            assert len(results) == 0


@pytest.mark.parametrize("query", NASTY)
def test_every_nasty_string_is_a_legal_query(store, query):
    """Complaint 14: symbols neither crash nor vanish without a word."""
    check(store, query)


@settings(max_examples=150)
@given(query=st.one_of(ANY, MARKED))
def test_any_string_is_a_legal_query(store, query):
    """Full Unicode, halves of surrogate pairs, NUL and every mark that FTS5 knows."""
    check(store, query)


@pytest.mark.parametrize(
    "huge",
    [
        "word " * 20_000,
        "x" * 100_000,
        '"' * 100_000,
        "(NEAR " * 20_000,
        "日本" * 50_000,
        "a.b-" * 25_000,
        '"' + "word " * 20_000,
        '"' + "x" * 100_000,
        '"' + "word " * 20_000 + '"',
        " ".join(f"-w{n}" for n in range(15_000)),
        " ".join(f"w{n}*" for n in range(15_000)),
        ".".join(f"w{n}" for n in range(15_000)),
    ],
)
def test_a_hundred_kilobytes_are_a_legal_query(store, huge):
    """And where only a part was searched, the answer says so."""
    results = store.search(huge)

    if parse_query(huge).wanted > 64:
        assert any("only the first 64 of" in reason for reason in results.degraded)
    if terms(huge):
        assert any("only the first 4000 characters" in reason for reason in results.degraded)


PIECES = (
    *('"', "“", "”", "„", "«", "»", "「", "」", "-", "--", "*", " ", " ", " ", "`", "(", ")", "."),
    *("note", "about", "C++", "rm", "-rf", "notes", "zebra", "検索", "日", "ไทย", "5", "_", "x.y"),
)
SIGNS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@settings(max_examples=100)
@given(query=SIGNS)
def test_any_string_of_signs_is_a_legal_query(store, query):
    """GN-6: quotes, dashes, stars and words in any order, in every mode."""
    check(store, query)


@settings(max_examples=100)
@given(query=SIGNS, most=st.integers(1, 6))
def test_no_more_is_searched_for_than_allowed(store, query, most):
    """And where something was left out, or nothing could be searched for, the answer says so."""
    results = store.search(query, mode="keyword", overrides={"keywords.most": most})
    asked = parse_query(query)

    searched = parse_query(query, most=most)
    assert len(searched.words) <= most
    assert len(searched.holds) <= most
    assert len(searched.lacks) <= most
    if max(len(asked.words), len(asked.holds), len(asked.lacks)) > most:
        assert results.degraded


WORD = st.text(st.characters(categories=["L", "N", "M", "So", "Pc"]), min_size=1, max_size=12)


def joined(word: str, noise: str) -> bool:
    """Whether what follows a word closes a quotation that it opened, so that both are one phrase."""
    apart = {*parse_query(valid_unicode(word)).holds, *parse_query(valid_unicode(noise)).holds}
    return not apart.issuperset(parse_query(valid_unicode(f"{word} {noise}")).holds)


@settings(max_examples=150)
@given(word=st.one_of(WORD, st.sampled_from(NASTY)), noise=st.one_of(ANY, MARKED))
@example(word="don't", noise="'")
@example(word="C++", noise="-")
@example(word="ﷺ", noise="")
@example(word="rf", noise="rm -")
@example(word="ﱞ", noise="")
@example(word="ő", noise="0")
@example(word='"unclosed', noise='0"')
@example(word="a㐀AAņē➔", noise="")
def test_a_stored_word_of_the_query_is_found(word, noise):
    """Never silently emptied: whatever stands around it, a searchable word finds its text."""
    word = valid_unicode(word)
    asked = terms(word)
    if not asked or not word.strip() or not terms(f"{word} {valid_unicode(noise)}")[:64]:
        return
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add("nothing to see here")
        stored = store.add(f"before {word} after")
        dropped = STOP_WORDS | set(map(fold, stop_words(stored.language)))
        assert set(asked) <= set(tokens(f"before {word} after"))
        for query in (word, f"{word} {noise}", f"({word})", f'"{word}"', f"\n{word}?"):
            if set(asked).isdisjoint(terms(valid_unicode(query))[:64]) or fold(word) in dropped:
                continue
            if parse_query(valid_unicode(query)).lacks:
                continue  # it asked for texts without a word
            if query == f"{word} {noise}" and joined(word, noise):
                continue  # it asked for a phrase that stands nowhere
            found = store.search(query, mode="keyword", limit=5)
            assert stored.id in [hit.id for hit in found], (query, found.degraded)


def test_a_phrase_of_mixed_scripts_is_found_in_a_text_of_another_language():
    """Found by the test above: the text is taken for Latvian, whose words are not stemmed."""
    with scrubjay.open(":memory:", embedder=False) as store:
        stored = store.add("before a㐀AAņē➔ after")

        assert [hit.id for hit in store.search('"a㐀AAņē➔"')] == [stored.id]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("run rm -rf build first", "rm -rf"),
        ("written in C++", "c++"),
        ("written in C#", "C#"),
        ("see health.base for more", "health.base"),
        ("see health.base for more", "base"),
        ("a pre-edit hook", "pre-edit"),
        ("a pre-edit hook", "edit"),
        ("it doesn't work on Noor's machine", "noor"),
        ("it doesn't work on Noor’s machine", "Noor's"),
        ("calls get_user_name()", "get_user_name"),
        ("calls get_user_name()", "user name"),
        ("calls getUserName()", "getusername"),
        ("calls getUserName()", "user"),
        ("version v1.2.3 is out", "v1.2.3"),
        ("1,000 items", "1000"),
        ("mail ada@example.org", "ada@example.org"),
        ("naïve café", "naive cafe"),
        ("ΑΘΗΝΑ", "αθήνα"),
        ("Straße", "STRASSE"),
        ("日本語を検索する", "検索"),
        ("日本語を検索する", "本"),
        ("ภาษาไทยง่าย", "ไทย"),
        ("한국어를 검색", "한국어"),
        ("мы нашли книги", "книга"),
        ("वह किताब पढ़ता है", "किताब"),
        ("שָׁלוֹם לכולם", "שלום"),
        ("مَرحَبا بكم", "مرحبا"),
        ("party 🎉 tonight", "🎉"),
        ("running quickly", "run"),
        ("ＦＵＬＬ width", "full"),
    ],
)
def test_words_of_many_scripts_and_shapes_are_found(text, query):
    """Complaints 12 and 14: identifiers, signs and ten scripts."""
    with scrubjay.open(":memory:", embedder=False) as store:
        store.add("something else entirely")
        kept = store.add(text)

        assert [hit.id for hit in store.search(query, mode="keyword")] == [kept.id]
