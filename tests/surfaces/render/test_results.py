"""What people see: laid out, highlighted, explained, and never in command of the terminal."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest

from scrubjay.search.explanation import explain
from scrubjay.search.stages.fuse import rrf, weigh
from scrubjay.surfaces.render import facts, markdown
from scrubjay.surfaces.render import json as shapes
from scrubjay.surfaces.render import memories as stored
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.layout import bar, cut, indent, table, width, wrap
from scrubjay.surfaces.render.terminal import OPEN, SHUT, Screen, clean, one_line, screen_of
from scrubjay.types import Found, Hit, Link, Memory, Results, Step

NOW = datetime(2026, 5, 3, 12, 0, tzinfo=UTC)
PLAIN = Screen(width=80)
COLOUR = Screen(width=80, colour=True)


def hit(**changed) -> Hit:
    fields = {
        "id": "m1",
        "score": 1.5,
        "text": "The pump restarts at night.",
        "type": "fact",
        "topics": ("pumps", "night"),
        "updated_at": NOW - timedelta(days=3),
        "snippet": "The pump restarts at night.",
        "why": {"keyword": 2.0, "vector": -0.5},
        "found": {"keyword": Found(1, 9.0), "vector": Found(4, 0.25)},
    }
    return Hit(**(fields | changed))


def answer(*hits: Hit, **changed) -> Results:
    fields = {
        "query": "pump",
        "profile": "default",
        "hits": hits,
        "counts": {"keyword": 12, "vector": 64, "returned": len(hits)},
        "took_ms": 3.21,
        "terms": ("pump",),
    }
    return Results(**(fields | changed))


def explained(one: Hit, *trace: Step) -> Results:
    """Results whose stages explain the score of this hit."""
    stages = (rrf(), weigh(weights={}))
    return answer(one, trace=trace, explain=lambda hit: explain(hit, trace, stages))


def test_a_hit_shows_rank_words_bar_score_type_topics_age_and_id():
    """One look says what was found, how good it is and how old."""
    first, second, *_ = render.results(answer(hit()), PLAIN, explain=False, now=NOW).splitlines()
    assert first.startswith(" 1  The pump restarts at night.")
    assert first.endswith("████████ 1.500")
    assert second.strip() == "fact · pumps, night · 3 days ago · m1"


def test_a_long_untitled_memory_is_shown_once_in_a_column_beside_the_bar():
    """Its first words are the headline, and the rest goes on below."""
    text = " ".join(f"word{number}" for number in range(24))
    shown = render.results(answer(hit(text=text, snippet=text)), PLAIN, explain=False, now=NOW)
    first, second, third, about, *_ = shown.splitlines()
    assert first.startswith(" 1  word0 ")
    assert first.endswith("████████ 1.500")
    assert " ".join((first[4:63], second, third)).split() == text.split()
    assert about.strip().startswith("fact · ")


def test_a_very_long_passage_is_shortened_with_an_ellipsis():
    """Four lines are enough to recognise it; get shows it all."""
    text = "word " * 400
    shown = render.results(answer(hit(text=text, snippet=text)), PLAIN, explain=False, now=NOW)
    assert shown.splitlines()[3].endswith("word …")
    assert "fact" in shown.splitlines()[4]


def test_a_short_memory_is_not_shown_twice():
    """The headline is the whole text, so no passage follows it."""
    text = render.results(answer(hit()), PLAIN, explain=False, now=NOW)
    assert text.count("The pump restarts at night.") == 1


def test_a_document_shows_its_title_its_passage_and_where_it_is():
    """path:first-last is the form that editors open."""
    one = hit(title="Night shift", source="docs/night.md", lines=(12, 20))
    text = render.results(answer(one), PLAIN, explain=False, now=NOW)
    assert " 1  Night shift" in text
    assert "docs/night.md:12-20" in text
    assert "    The pump restarts at night." in text.splitlines()


def test_a_passage_shows_the_headings_above_it_after_its_path():
    """Without the title, which stands above."""
    one = hit(title="Night", source="/n/a.md", lines=(3, 9), heading="Night › Care › Oil")
    text = render.results(answer(one), PLAIN, explain=False, now=NOW)
    assert "/n/a.md:3-9 · Care › Oil · m1" in " ".join(text.split())
    alone = hit(title="Night", source="/n/a.md", lines=(3, 9), heading="Night")
    text = render.results(answer(alone), PLAIN, explain=False, now=NOW)
    assert "/n/a.md:3-9 · m1" in text


def test_a_passage_on_a_page_shows_the_page_and_no_lines():
    """The lines of a PDF are nowhere to be seen."""
    one = hit(source="/n/report.pdf", lines=(80, 90), page=3)
    text = render.results(answer(one), PLAIN, explain=False, now=NOW)
    assert "/n/report.pdf, page 3 · m1" in text
    assert "80" not in text


@pytest.mark.parametrize(
    ("stale", "said"),
    [
        ("stale", "stale: changed since it was ingested"),
        ("missing", "missing: the file does not exist"),
    ],
)
def test_a_file_that_is_not_what_was_read_is_named_in_words(stale, said):
    """On a line of its own, that nobody overlooks."""
    text = render.results(answer(hit(stale=stale)), PLAIN, explain=False, now=NOW)
    assert f"    {said}" in text.splitlines()


@pytest.mark.parametrize(
    ("changed", "db", "said"),
    [
        (1, None, "note: 1 file changed since it was indexed: scrubjay ingest"),
        (3, None, "note: 3 files changed since they were indexed: scrubjay ingest"),
        (
            3,
            "a b.db",
            "note: 3 files changed since they were indexed: scrubjay ingest --db 'a b.db'",
        ),
    ],
)
def test_changed_files_are_counted_with_the_command_that_reads_them(changed, db, said):
    """For the store that was asked, and at the very end."""
    found = answer(hit(), counts={"keyword": 1, "checked_files": 9, "changed_files": changed})
    text = render.results(found, Screen(width=110), explain=False, db=db, now=NOW)
    assert text.splitlines()[-1] == said


def test_files_that_were_checked_are_no_list_of_hits():
    """The summary names lists, and no note is made of nothing."""
    found = answer(hit(), counts={"keyword": 12, "checked_files": 9, "changed_files": 0})
    text = render.results(found, PLAIN, explain=False, now=NOW)
    assert text.splitlines()[-1] == "1 hit · keyword 12 · profile default · 3 ms"


def test_matched_words_stand_out_in_every_form_on_a_colour_terminal():
    """The terms are stems: pump marks pumps as well."""
    one = hit(text="Two pumps, one pump.", snippet="Two pumps, one pump.")
    text = render.results(answer(one), COLOUR, explain=False, now=NOW)
    assert "\x1b[1;4mpumps\x1b[0m" in text
    assert "\x1b[1;4mpump\x1b[0m." in text


def test_without_colour_there_is_not_one_escape_character():
    """A file or a pipe gets text and nothing else."""
    text = render.results(answer(hit(), hit(id="m2")), PLAIN, explain=True, now=NOW)
    assert "\x1b" not in text
    assert OPEN not in text
    assert SHUT not in text


def test_scores_above_one_are_measured_by_the_best_and_others_by_one():
    """A cosine of 0.5 is half a bar even when nothing better was found."""
    strong = render.results(answer(hit(score=4.0), hit(score=2.0)), PLAIN, explain=False, now=NOW)
    weak = render.results(answer(hit(score=0.5)), PLAIN, explain=False, now=NOW)
    assert "████████ 4.000" in strong
    assert "████░░░░ 2.000" in strong
    assert "████░░░░ 0.500" in weak


def test_what_an_answer_lacks_stands_under_it_in_words():
    """A degraded answer says so, and why."""
    found = answer(hit(), degraded=("vector: no model is here; run scrubjay models pull",))
    text = render.results(found, PLAIN, explain=False, now=NOW)
    assert text.splitlines()[-1] == "note: vector: no model is here; run scrubjay models pull"
    assert "1 hit · keyword 12, vector 64 · profile default · 3 ms" in text


def test_nothing_found_is_said_with_the_query():
    """An empty answer is an answer."""
    text = render.results(answer(), PLAIN, explain=False, now=NOW)
    assert text.splitlines()[0] == "Nothing found for “pump”."


def test_an_empty_answer_says_what_its_profile_noted_as_searched():
    """GS-13: the second line, and in Markdown the second paragraph."""
    trace = (Step("previews", 0.1, notes={"nothing_found": "vector 64; none good enough"}),)
    text = render.results(answer(trace=trace), PLAIN, explain=False, now=NOW)
    assert text.splitlines()[1] == "Searched: vector 64; none good enough."
    assert "\n\nSearched: vector 64; none good enough." in markdown.results(
        answer(trace=trace), whole=False
    )


@pytest.mark.parametrize(
    ("band", "score", "shown"),
    [
        ("excellent", 1.0, "100 excellent"),
        ("excellent", 0.30, " 30 excellent"),
        ("good", 0.2999, " 29 good"),
        ("good", 0.29, " 29 good"),
        ("weak", 0.15, " 15 weak"),
        ("unread", 0.48, " 48 unread"),
        (None, 0.30, "0.300"),
        (None, 0.2999, "0.300"),
    ],
)
def test_a_score_is_shown_as_its_profile_means_it(band, score, shown):
    """GS-16: of 100 where it has a band, never rounded into a better one."""
    found = answer(hit(score=score, band=band))
    text = render.results(found, PLAIN, explain=False, now=NOW)
    assert text.splitlines()[0].endswith(f" {shown}")
    assert f"score {shown.strip()} · " in markdown.results(found, whole=False)


@pytest.mark.parametrize(
    ("band", "complete", "shown"),
    [("good", False, "at night. …"), ("good", True, "at night."), (None, False, "at night.")],
)
def test_a_preview_that_is_not_the_whole_text_says_so(band, complete, shown):
    """GS-14: the flag as an ellipsis; other profiles put their own where they cut."""
    found = answer(hit(complete=complete, band=band))
    first = render.results(found, PLAIN, explain=False, now=NOW).splitlines()[0]
    assert first[4:].partition("  ")[0].endswith(shown)
    assert markdown.results(found, whole=False).endswith(shown)
    assert markdown.results(found, whole=True).endswith("at night.")


def test_bars_stand_in_one_column_whatever_the_band():
    """GS-16: a short word leaves room after it, not before."""
    found = answer(hit(score=0.9), hit(score=0.1, id="m2"), profile="gnosis")
    heads = [line for line in render.results(found, PLAIN, explain=False, now=NOW).splitlines()
             if line.startswith((" 1", " 2"))]  # fmt: skip
    assert len({line.index("█") for line in heads}) == 1


def test_an_explained_hit_adds_up_to_its_score():
    """R-7: ranks and raw scores of each list, and the sum."""
    trace = (
        Step("keywords", 0.1, {"most": 64}, 0, 0, {"terms": ("pump",)}),
        Step(
            "recall",
            2.0,
            {},
            0,
            76,
            branches=(
                Step("keyword", 1.0, {"depth": 64}, 0, 12),
                Step("vector", 0.5, {"depth": 64}, lost="no model"),
            ),
        ),
        Step(
            "weigh",
            0.2,
            {"weights": {"keyword": 0.5, "vector": 0.5}},
            76,
            64,
            {
                "keyword": {"weight": 0.75, "of": 13.5, "best_possible": 16.0},
                "vector": {"weight": 0.25, "of": 0.5, "best_possible": 1.0},
                "strength": 0.78125,
                "times": 1.25,
                "evidence": {
                    "keyword": {"score": 9.0, "share": 0.5625, "power": 0.5},
                    "vector": {"score": 0.125, "share": 0.125, "power": 1.0},
                },
            },
        ),
    )
    one = hit(score=0.78125, why={"keyword": 0.625, "vector": 0.15625})
    text = render.results(explained(one, *trace), PLAIN, explain=True, now=NOW)
    lines = [line.strip() for line in text.splitlines()]
    assert "found: keyword #1 (raw 9.000000) · vector #4 (raw 0.250000)" in lines
    assert "score: 0.781250 = 0.625000 keyword + 0.156250 vector" in lines
    assert "keyword 0.625000 = 1.250000 × 0.75 × 9.000000 / 13.500000" in lines
    assert "vector 0.156250 = 1.250000 × 0.25 × 0.250000 / 0.500000" in lines
    text = " ".join(text.split())
    assert "0.781250 = 1 - (1 - 0.562500^0.5) × (1 - 0.125000): that strength" in text
    assert "0.562500 = 9.000000 / 16.000000: what the one that leads scores by its words" in text
    assert "lost: no model" in lines
    assert any(line.endswith("0 → 12      keyword(depth=64)") for line in lines)


def test_reciprocal_ranks_are_written_out():
    """R-1: weight / (k + rank) with the numbers of this search."""
    one = hit(score=1 / 61 + 1 / 64, why={"rrf_keyword": 1 / 61, "rrf_vector": 1 / 64})
    fused = explained(one, Step("rrf", 0.1, {"k": 60, "weights": None}, 76, 70))
    text = render.results(fused, PLAIN, explain=True, now=NOW)
    assert "rrf_keyword 0.016393 = 1 / (60 + 1)" in text
    assert "rrf_vector 0.015625 = 1 / (60 + 4)" in text


def test_parts_that_are_no_sum_are_shown_as_steps():
    """A multiplier is not added to anything."""
    one = hit(score=0.6, why={"fused": 0.5, "boost": 1.2})
    text = render.results(answer(one), PLAIN, explain=True, now=NOW)
    assert "score: 0.600000 after fused 0.500000, boost 1.200000" in text


@pytest.mark.parametrize(
    "evil",
    ["\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "a\rb", "a\x08b", "\x7f", "\u202egnp.exe", "\x00"],
)
def test_stored_text_cannot_command_the_terminal(evil):
    """Escape sequences, returns, backspaces and direction overrides are shown or dropped."""
    one = hit(text=evil, snippet=evil, title=evil, topics=(evil,), source=evil, heading=evil)
    shown = render.results(answer(one, query=evil), PLAIN, explain=True, now=NOW)
    shown += stored.memory(Memory(evil, id=evil, title=evil, source=evil), PLAIN, NOW)
    shown += stored.memories([Memory(evil, id=evil)], PLAIN, NOW)
    assert not [letter for letter in shown if letter != "\n" and not letter.isprintable()]


def test_lines_and_tabs_of_a_text_are_kept_when_it_is_shown_in_full():
    """get shows a text as it was given."""
    shown = stored.memory(Memory("a\n\tb\r\nc", id="m1"), PLAIN, NOW)
    assert shown.endswith("\n\na\n\tb\nc")


def test_json_escapes_what_a_terminal_would_obey():
    """C0 and C1 controls are written as escapes that mean the same."""
    text = shapes.dumps({"text": "\x1b[2J\x9b\x7f é 漢"})
    assert text.splitlines()[1].strip() == '"text": "\\u001b[2J\\u009b\\u007f é 漢"'


def test_json_of_an_answer_has_no_trace_unless_asked():
    """The trace is long; --explain asks for it."""
    found = answer(hit(), trace=(Step("keywords", 0.1),))
    assert "trace" not in shapes.results(found, mode="default", explain=False, full=True)
    shape = shapes.results(found, mode="default", explain=True, full=True)
    assert shape["trace"][0]["stage"] == "keywords"
    assert shape["hits"][0]["found"]["vector"] == {"rank": 4, "score": 0.25}


def test_numbers_that_json_does_not_know_become_null():
    """NaN and infinity would make the document unreadable."""
    assert shapes.plain({"a": float("nan"), "b": float("inf"), "c": 1.5}) == {
        "a": None,
        "b": None,
        "c": 1.5,
    }


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("שלום", 4), ("🙂", 2), (f"{OPEN}a{SHUT}", 1)],
)
def test_width_is_what_people_see(text, columns):
    """CJK and emoji are two columns wide, accents and marks none."""
    assert width(text) == columns


@pytest.mark.parametrize(
    "text", ["word " * 40, "漢字仮名" * 30, "x" * 300, "שלום עולם " * 20, "🙂" * 60, "a 漢 " * 50]
)
def test_wrapped_lines_fit_and_lose_nothing(text):
    """Every script wraps at the width, and every letter is still there."""
    lines = wrap(text, 30)
    assert max(map(width, lines)) <= 30
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_mark_that_is_broken_over_lines_ends_on_each_line():
    """A style must not leak into the margin of the next line."""
    lines = wrap(f"{OPEN}{'漢' * 30}{SHUT} end", 20)
    assert all(line.count(OPEN) == line.count(SHUT) for line in lines)
    assert sum(line.count(OPEN) for line in lines) == 3


def test_long_text_is_cut_with_an_ellipsis():
    """A headline never wraps."""
    assert cut("a long headline", 8) == "a long…"
    assert cut("漢字仮名", 5) == "漢字…"
    assert cut("short", 8) == "short"


def test_indent_moves_each_line():
    """What belongs to a hit hangs under it."""
    assert indent("one two three", 12, 4) == "    one two\n    three"


@pytest.mark.parametrize(
    ("share", "drawn"),
    [(0, "░░░░"), (0.01, "█░░░"), (0.5, "██░░"), (1, "████"), (7, "████"), (-1, "░░░░")],
)
def test_a_bar_shows_a_share(share, drawn):
    """Anything above nothing shows; nothing overflows."""
    assert bar(share, 4) == drawn


def test_a_table_aligns_what_is_wide():
    """Columns are counted as seen, not as letters."""
    assert table([("漢", "x"), ("abc", "y")]) == ["漢   x", "abc  y"]


@pytest.mark.parametrize(
    ("score", "shown"),
    [(0.0, "0.000"), (-1e-9, "0.000"), (0.0325, "0.033"), (0.5, "0.500"), (-2.5, "-2.500")],
)
def test_a_score_has_three_places(score, shown):
    """And nothing is minus zero."""
    assert render.number(score) == shown


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(hours=5), "5 hours ago"),
        (timedelta(days=8), "1 week ago"),
        (timedelta(days=400), "1 year ago"),
        (timedelta(days=-2), "on 2026-05-05"),
    ],
)
def test_age_is_said_in_the_unit_a_person_would_use(before, said):
    """And a moment to come is a date."""
    assert facts.age(NOW - before, NOW) == said


def test_a_memory_shows_its_links():
    """get shows what else there is to look at."""
    shown = stored.memory(Memory("a", id="m1", links=(Link("m2", 0.5, "cause"),)), PLAIN, NOW)
    assert shown.splitlines()[-1] == "links: m2 (cause 0.5)"


def test_cleaning_leaves_ordinary_text_alone():
    """Scripts, emoji and joiners are not controls."""
    text = "naïve שלום 漢字 👩‍👩‍👧 Zürich\n\tok"
    assert clean(text) == text
    assert one_line(" a \n b\t") == "a b"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_need_a_terminal_and_no_veto(monkeypatch):
    """NO_COLOR wins, and so does a pipe."""
    assert screen_of(Terminal()).colour is True
    assert screen_of(io.StringIO()).colour is False
    monkeypatch.setenv("NO_COLOR", "1")
    assert screen_of(Terminal()).colour is False


def test_width_follows_columns_within_reason(monkeypatch):
    """Lines longer than a person reads are not used."""
    for columns, used in (("60", 60), ("500", 110), ("5", 32)):
        monkeypatch.setenv("COLUMNS", columns)
        assert screen_of(io.StringIO()).width == used


def test_what_others_see_says_in_which_collection_it_is():
    """One's own says nothing."""
    shared = hit(collection="house", namespace="collection:house")
    own = hit(collection="house", namespace="user:ann")
    assert "in house" in render.results(answer(shared), PLAIN, explain=False, now=NOW)
    assert "in house" not in render.results(answer(own), PLAIN, explain=False, now=NOW)


def test_one_long_name_does_not_push_a_table_off_the_screen():
    """It is cut; the last column may run on."""
    first, second = table([("x" * 500, "1"), ("y", "2" * 100)])
    assert len(first) < 60
    assert second.endswith("2" * 100)


def test_counts_of_conversations_are_in_words_and_only_where_there_are_any():
    """A list of nothing, and nothing left out, are not worth a word."""
    counts = {"keyword": 2, "immediate": 0, "moment": 3, "same": 2, "echoes": 0}
    text = render.results(answer(hit(), counts=counts), PLAIN, explain=False, now=NOW)
    assert "· keyword 2, 3 of that time, 2 near-duplicates left out ·" in text
