"""Markdown: front matter, tags and links."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from scrubjay.documents import Target
from scrubjay.documents.read import read
from scrubjay.text.markdown import headings


def one(text):
    """The document of a Markdown text."""
    (document,) = read("note.md", text.encode())
    return document


def path(text):
    return Target("path", text)


def wiki(text):
    return Target("wiki", text)


NOTE = """---
title: "Garden: the plan"
tags: [Plants, '#home/garden', 2024]
keywords: soil, water
aliases: [Plan, Beds]
date: 2024-05-03
lastmod: 2024-06-01T10:00:00+02:00
nested: {a: [1, .inf, null]}
---
# Heading

See [[Roses#Care|the roses]] and ![[bed.png]], also [soil](../soil%20types.md#clay "Soil").
Tagged #spring and #area/topic, not #123 nor #1a2b3c, nor http://x.org/#frag.
"""


class TestFrontMatter:
    def test_a_note_says_of_itself_what_it_is(self):
        """Title, topics, dates, aliases; its text is kept as it is."""
        note = one(NOTE)

        assert (note.text, note.title, note.format) == (NOTE, "Garden: the plan", "markdown")
        assert note.topics == (
            *("Plants", "home/garden", "2024", "soil", "water"),
            *("spring", "area/topic"),
        )
        assert note.created_at == datetime(2024, 5, 3, tzinfo=UTC)
        assert note.updated_at == datetime(2024, 6, 1, 8, tzinfo=UTC)
        assert note.metadata["aliases"] == ["Plan", "Beds"]
        assert note.metadata["front_matter"]["nested"] == {"a": [1, "inf", None]}
        assert note.targets == (wiki("Roses"), wiki("bed.png"), path("../soil types.md"))

    def test_toml_between_plus_signs_is_read_too(self):
        """As Hugo writes it."""
        note = one(
            '+++\ntitle = "Hugo"\ntags = ["a", "b"]\ndate = 2024-05-03T10:00:00Z\n+++\n# H\n'
        )

        assert (note.title, note.topics) == ("Hugo", ("a", "b"))
        assert note.created_at == datetime(2024, 5, 3, 10, tzinfo=UTC)

    def test_broken_yaml_is_read_line_by_line(self):
        """A colon in a title is the usual mistake."""
        note = one("---\ntitle: Notes: part 2\ntags: [#a, b\n---\ntext\n")

        assert (note.title, note.topics) == ("Notes: part 2", ("a", "b"))

    @pytest.mark.parametrize(
        "front",
        [
            "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]",
            "a: " + "[" * 20_000,
            "a: !!python/object/apply:os.system [ls]",
            "a: !!timestamp x",
            "a: 2024-99-99",
            "a: 0x" + "f" * 20_000,
            "big: " + "x" * 70_000,
            "- a\n- b",
            "\x01: \x02",
        ],
        ids=["bomb", "deep", "object", "tag", "date", "int", "large", "list", "control"],
    )
    def test_front_matter_that_is_none_costs_only_itself(self, front):
        """Aliases grow without bound, tags build objects: they are never loaded."""
        note = one(f"---\n{front}\n---\n# Heading\n")

        assert note.title == "Heading"
        assert len(json.dumps(dict(note.metadata))) < 50_000

    @pytest.mark.parametrize("date", ["soon", "99", "[1]", "0001-01-01T00:00:00+14:00", "true"])
    def test_a_date_that_is_none_is_left_out(self, date):
        """The file's own time is then used."""
        assert one(f"---\ndate: {date}\n---\nx").created_at is None


class TestTopics:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("tags: a b", ("a", "b")),
            ("tag: 'one thing, another'", ("one thing", "another")),
            ("topics:\n  - '#x'\n  - x\n  - y", ("x", "y")),
            ("categories: [true, {a: b}, z]", ("z",)),
        ],
    )
    def test_topics_come_as_list_or_as_words(self, text, found):
        """Each once; what is no word is left out."""
        assert one(f"---\n{text}\n---\nx").topics == found

    def test_a_hash_in_code_or_in_a_heading_is_no_tag(self):
        """Nor one inside a word."""
        text = "# A #b\n`#c` ``x ` #d`` a#e\n```\n#f\n```\n~~~\n#g\n~~~\n#real\n[[P #h]]\n"
        assert one(text).topics == ("real",)


class TestLinks:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("[a](<my file.md>)", [path("my file.md")]),
            ("[a](b(1).md 'title')", [path("b(1).md")]),
            ("[a]: ref.md\n[^1]: note\n[b]: <x y.md>", [path("ref.md"), path("x y.md")]),
            ("[a](#here) [b](https://x.org) [c](mailto:a@b) [d](//x) [[#up]]", []),
            ("`[a](b.md)` `[[C]]`\n\n```\n[[D]]\n```", []),
            ("one ` tick\n\n[[A]] ` another", [wiki("A")]),
            ("| [[A\\|shown]] |", [wiki("A")]),
            ("[[A]] [x](b.md) [[A]]", [wiki("A"), path("b.md")]),
            ("[a](b.md?x=1#y)", [path("b.md")]),
        ],
    )
    def test_links_lead_to_files_and_pages(self, text, found):
        """Each once, in the order of the text; what leads outside or stands in code is none."""
        assert list(one(text).targets) == found


class TestHeadings:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("Title\n=====\n\nPart\n---\ntext", [(0, 1, "Title"), (13, 2, "Part")]),
            ("two\nlines\n---\n", []),
            ("- item\n---\n", []),
            ("a | b\n--- | ---\n", []),
            ("\n---\ntext\n", []),
            ("# A\nB\n===\n", [(0, 1, "A"), (4, 1, "B")]),
            ("````\n```\n# x\n````\n# y\n", [(18, 1, "y")]),
            ("```code``` here\n# y\n", [(16, 1, "y")]),
        ],
    )
    def test_a_line_under_a_line_makes_a_heading(self, text, found):
        """When that line is a paragraph of its own; a longer fence holds shorter ones."""
        assert [tuple(heading) for heading in headings(text)] == found
