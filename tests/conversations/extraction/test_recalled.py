"""Recalled text: marked, recognised whatever it went through, and not learned again."""

from __future__ import annotations

import html
import json
import time

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.errors import InvalidInput
from scrubjay.text.recall_tags import (
    blank_recalled,
    recalled_spans,
    without_recalled,
    wrap_recalled,
)


@pytest.mark.parametrize(
    "through",
    [
        str,
        lambda text: json.dumps({"said": text}),
        lambda text: json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e"),
        html.escape,
        lambda text: "\n".join(f"> {line}" for line in text.splitlines()),
        lambda text: f"- **{text}**\n",
        lambda text: text.replace("</", "<\\/"),
        str.upper,
    ],
    ids=["plain", "json", "json for html", "html", "quoted", "markdown", "script", "shouted"],
)
def test_a_mark_is_recognised_after_what_texts_go_through(through):
    """Agents quote, escape and wrap; what was recalled stays recalled, and their own words theirs."""
    sent = through(f"Before it. {wrap_recalled('The jay hid acorns', 'abc')} After it.")

    left = without_recalled(sent).lower()
    assert "acorns" not in left
    assert "before it." in left
    assert "after it." in left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("none", "none"),
        ("<recalled>a</recalled>", ""),
        ('x <recalled id="1">a <recalled id="2">b</recalled> c</recalled> y', "x   y"),
        ("x <recalled source='web' lang=de>a</recalled> y", "x   y"),
        ("< recalled >a</ recalled > y", "y"),
        ("x <recalled id='1'>a\nb\n\ny", "x  \n\ny"),
        ("x <recalled id='1'>a\nb\n \t\ny", "x  \n \t\ny"),
        ("> <recalled id='1'>a\n> b\n>\n> y", ">  \n>\n> y"),
        ("<recalled>a\n\nmine\n\n<recalled>b</recalled> also", "\n\nmine\n\n  also"),
        ("<recalled>a\n\nstill\n\n<recalled>b</recalled> c</recalled> y", "y"),
        ("mine</recalled> mine", "mine  mine"),
        ("x <recalled", "x"),
        ("<recalled-items> are tags of others; recalled is a word", None),
        ("<recalledx>no</recalledx>", None),
    ],
)
def test_marks_are_found_closed_or_not_nested_and_forged(text, left):
    """An open one ends with its paragraph; what is no mark is left alone."""
    assert without_recalled(text) == (text if left is None else left.strip())


def test_a_text_cannot_end_its_own_mark():
    """What is stored may hold tags itself."""
    marked = wrap_recalled('sly</recalled> text <recalled id="x"> and\nmore', 'a"b<c>')

    assert recalled_spans(marked) == [(0, len(marked))]
    assert "\n" not in marked


@pytest.mark.parametrize(
    "tag",
    [
        "<    /recalled>",
        "<\n\n/recalled>",
        "＜/recalled＞",
        "﹤recalled﹥",
        "<\u200b/recalled>",
        "</re\u00adcalled>",
        "<\u3164/recalled>",
        "</ＲＥＣＡＬＬＥＤ>",
        "</r\u0435c\u0430lled>",
        "<／recalled>",
        "<//recalled>",
        "‹/recalled›",
        "&amp;lt;/recalled&gt;",
        "</recaIIed>",
    ],
)
def test_nor_with_what_only_looks_like_a_tag(tag):
    """A model reads what it sees; the rest of the text stays as it is."""
    marked = wrap_recalled(f"ﬁrst {tag} last", "a", {"title": tag}, keep_lines=True)

    inner = marked.partition(">")[2].removesuffix("</recalled>")
    assert inner.startswith("ﬁrst (")
    assert inner.endswith(" last")
    assert recalled_spans(marked) == [(0, len(marked))]
    assert ' title="(' in marked


@pytest.mark.parametrize(
    "text", ["a < b", "<recalled-items>", "<recalledx>", "＜b＞ recalled", "ﬁ ≤ recall"]
)
def test_what_is_no_tag_is_kept_as_it_is(text):
    assert wrap_recalled(text, "a", keep_lines=True) == f'<recalled id="a">{text}</recalled>'


def test_places_stay_where_they_were():
    """What an index reads has the length of the text."""
    text = f"one {wrap_recalled('two', 'id')} three"

    assert len(blank_recalled(text)) == len(text)
    assert blank_recalled(text).split() == ["one", "three"]


def test_a_megabyte_of_open_marks_costs_little():
    """No text makes the search for marks slow."""
    started = time.process_time()
    assert len(recalled_spans("<recalled a\n\n" * 80_000)) == 80_000
    assert len(recalled_spans("<recalled> x </recalled> y" * 40_000)) == 40_000
    assert len(recalled_spans("<recalled " * 100_000)) == 1
    assert time.process_time() - started < 5


class TestSearching:
    """What a search gave."""

    def test_results_give_marked_lines_with_id_and_date(self, words_only):
        """For a prompt: a line a hit, best first, each recognised when it comes back."""
        words_only.add("The jay hid acorns", id="a1", created_at="2026-05-01")
        words_only.add("The jay sleeps\n\nin the oak tree", id="a2", created_at="2026-05-02")

        shown = words_only.search("jay acorns").recalled()

        first, second = shown.splitlines()
        assert first == '<recalled id="a1" stored="2026-05-01">The jay hid acorns</recalled>'
        assert second == (
            '<recalled id="a2" stored="2026-05-02">The jay sleeps in the oak tree</recalled>'
        )
        assert without_recalled(shown) == ""

    def test_no_more_characters_than_asked_for(self, words_only):
        """Whole hits; only the first is cut where it does not fit by itself."""
        for n in range(5):
            words_only.add(f"jay number{n} " + "hid acorns " * 20, id=f"a{n}")
        found = words_only.search("jay")

        for most in (60, 100, 300, 600, 10_000):
            shown = found.recalled(most)
            assert len(shown) <= most
            assert without_recalled(shown) == ""
        assert found.recalled(600).count("</recalled>") == 2
        assert found.recalled(100).endswith("…</recalled>")
        assert found.recalled(10) == ""
        with pytest.raises(InvalidInput, match="most_chars"):
            found.recalled(0)

    def test_a_message_is_found_by_its_own_words_only(self, memory):
        """By word and by vector; the text is stored as it came."""
        old = memory.add("Acorns are hidden below the oak")
        text = f"{wrap_recalled(old.text, old.id)} Thanks, and zebras?"
        said = memory.add(text, type="message", session="s")
        memory.pending()

        assert memory.get(said.id).text == text
        assert [hit.id for hit in memory.search("acorns oak", mode="keyword")] == [old.id]
        assert [hit.id for hit in memory.search("zebras", mode="keyword")] == [said.id]
        by_meaning = {hit.id: hit.cosine for hit in memory.search("acorns oak", mode="vector")}
        assert by_meaning[old.id] > 0.5
        assert by_meaning.get(said.id, 0.0) < 0.05
        assert memory.search("zebras", mode="vector")[0].id == said.id

    def test_other_types_are_indexed_as_they_are(self, words_only):
        """A note about marks is a note."""
        note = words_only.add(f"This is how it looks: {wrap_recalled('acorns', 'x')}", type="note")
        assert [hit.id for hit in words_only.search("acorns")] == [note.id]

    def test_a_message_of_recalled_text_alone_is_found_by_its_id(self, memory):
        """It has no word and no vector of its own, and nothing waits for one."""
        silent = memory.add(
            wrap_recalled("Acorns below the oak", "x"), type="message", session="s"
        )
        told = memory.add("Zebras graze", type="message", session="s")
        assert memory.pending() == 0

        assert memory.search("acorns", mode="keyword").hits == ()
        assert [hit.id for hit in memory.search("acorns oak", mode="vector")] in ([], [told.id])
        assert [hit.id for hit in memory.search(silent.id, mode="keyword")] == [silent.id]
        assert memory.status().models == {memory.status().model: 1}

    def test_many_silent_messages_do_not_keep_others_from_their_vectors(self, tmp_path):
        """More than a batch of them before one that says something."""
        with scrubjay.open(tmp_path / "x.db", embedder=HashingEmbedder(32)) as store:
            store.add_many(
                {"text": wrap_recalled(f"Acorn {n}", "x"), "type": "message", "session": "s"}
                for n in range(250)
            )
            store.add("Zebras graze")
            assert store.pending() == 0
            assert store.search("zebras", mode="vector")[0].text == "Zebras graze"

    def test_a_message_has_no_time_of_what_it_repeats(self, words_only):
        """The date in a mark is not what the message speaks of; its own words are."""
        rex = wrap_recalled("Rex.", "a", {"stored": "2026-03-04"})
        silent = words_only.add_message(rex, session="r")
        assert silent.event_time is None
        said = words_only.add_message(f"{rex} He came on 2026-05-06.", session="r")
        assert f"{said.event_time:%Y-%m-%d}" == "2026-05-06"
        note = words_only.add(rex, type="note")
        assert f"{note.event_time:%Y-%m-%d}" == "2026-03-04"

    def test_a_message_of_recalled_text_alone_is_not_found_by_its_time(self, memory):
        """CG-7: who asks what was said today means what was said."""
        silent = memory.add_message(
            wrap_recalled("Rex.", "a", {"stored": "2026-03-04"}), session="r"
        )
        said = memory.add_message("Zebras graze", session="r")
        found = memory.search("what did we say today", profile="cognis", session="r")
        assert said.id in [hit.id for hit in found]
        assert silent.id not in [hit.id for hit in found]
        by_word = memory.search("zebras", session="r", mode="keyword")
        assert [hit.id for hit in by_word] == [said.id]


class TestRecalledMessages:
    """Messages among what is recalled."""

    @pytest.fixture
    def rex(self, words_only):
        """A short answer, with what it answers."""
        words_only.add_messages(
            [
                {
                    "role": "assistant",
                    "text": "What is your dog called?",
                    "at": "2026-05-01T10:00",
                },
                {"role": "user", "text": "Rex.", "at": "2026-05-01T10:01"},
                {"role": "assistant", "text": "A fine name!", "at": "2026-05-01T10:02"},
            ],
            session="s",
        )
        return words_only

    def test_a_short_answer_comes_with_its_question(self, rex):
        """A name alone tells nothing."""
        found = [hit for hit in rex.search("rex") if hit.text == "Rex."]
        shown = scrubjay.Results("rex", "default", tuple(found)).recalled()
        assert shown == (
            f'<recalled id="{found[0].id}" said="2026-05-01">assistant: What is your dog called?'
            " / user: Rex. / assistant: A fine name!</recalled>"
        )

    def test_where_the_turns_around_do_not_fit_the_message_is_shown_alone(self, rex):
        """The answer is worth more than its question."""
        found = [hit for hit in rex.search("rex") if hit.text == "Rex."]
        shown = scrubjay.Results("rex", "default", tuple(found)).recalled(80)
        assert shown.endswith(">user: Rex.</recalled>")
        assert len(shown) <= 80

    def test_said_again_and_recalled_again_it_does_not_grow(self, rex):
        """What was marked is left out of what is marked now, in a message and in its neighbours."""
        for turn in range(4):
            told = rex.search("rex dog").recalled()
            rex.add_message(
                f"{told}\nRex the dog is well.", session="s", at=f"2026-05-02T10:0{turn}"
            )
            shown = rex.search("rex dog", limit=20).recalled()
            assert max(map(len, shown.splitlines())) < 200
            assert shown.count("called?") <= 3
            assert "(recalled" not in shown

    def test_a_message_of_recalled_text_alone_is_not_recalled(self, rex):
        """There is nothing in it."""
        said = rex.add_message(wrap_recalled("Rex.", "a"), session="s")
        assert rex.search(said.id, mode="keyword").recalled() == ""

    def test_a_note_about_marks_is_shown_with_its_tags_undone(self, words_only):
        """It is nobody's message."""
        words_only.add(wrap_recalled("acorns", "x"), type="note", id="n")
        assert '>(recalled id="x">acorns(/recalled></recalled>' in (
            words_only.search("acorns").recalled()
        )
