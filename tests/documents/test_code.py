"""Where the parts of a text begin."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrubjay.documents.code import grammars, has_parser, outline

PYTHON = """import os

# What a store is.
@decorated(
    1,
)
class Store:
    limit = 1  # not a heading

    def add(self):
        def inner(): ...

    # é: directly above
    @property
    async def size(self): ...


def main(): ...
"""
CODE = {
    "javascript": (
        "/** doc */\nexport class A {\n  add() {}\n}\nexport const f = () => {};\nconst x = 1;\n",
        [(0, 1, "class A"), (2, 2, "method add"), (4, 1, "function f")],
    ),
    "typescript": (
        "@C({\n  a: 1 })\nexport class A {\n  b(): void {}\n}\ninterface I {}\ntype T = {}\n",
        [(0, 1, "class A"), (3, 2, "method b"), (5, 1, "interface I"), (6, 1, "type T")],
    ),
    "tsx": ("export const C = () => <b/>;\n", [(0, 1, "function C")]),
    "go": (
        "package x\n// S is\ntype S struct {}\n\nfunc (s *S) Add() {}\n",
        [(1, 1, "type S"), (4, 1, "func (s *S) Add")],
    ),
    "rust": (
        "/// doc\n#[derive(Debug)]\nstruct S;\nimpl fmt::D for S {\n    fn a() {}\n}\nmod x;\n",
        [(0, 1, "struct S"), (3, 1, "impl fmt::D for S"), (4, 2, "fn a")],
    ),
    "java": (
        "/** doc */\n@B\nclass A {\n  @Override\n  void add() {}\n  A() {}\n}\n",
        [(0, 1, "class A"), (3, 2, "method add"), (5, 2, "constructor A")],
    ),
    "c": (
        "struct a { int b; };\nstruct a x;\n/* doc */\nstatic char *get(int a)\n{\n}\n",
        [(0, 1, "struct a"), (2, 1, "function get")],
    ),
    "cpp": (
        "namespace n {\ntemplate <class T>\nclass A {\n  int& b() { }\n};\n}\nvoid n::A::c() {}\n",
        [
            (0, 1, "namespace n"),
            (1, 2, "class A"),
            (3, 3, "function b"),
            (6, 1, "function n::A::c"),
        ],
    ),
    "csharp": (
        "namespace N {\n  [X]\n  class A {\n    void B() {}\n  }\n}\n",
        [(0, 1, "namespace N"), (1, 2, "class A"), (3, 3, "method B")],
    ),
    "ruby": (
        "# doc\nmodule M\n  class A\n    def b; end\n  end\nend\n",
        [(0, 1, "module M"), (2, 2, "class A"), (3, 3, "def b")],
    ),
    "php": (
        "<?php\n/** doc */\nclass A {\n  function b() {}\n}\nfunction c() {}\n",
        [(1, 1, "class A"), (3, 2, "function b"), (5, 1, "function c")],
    ),
    "bash": ("x=1\n# doc\nf() {\n  :\n}\n", [(1, 1, "function f")]),
}


def heads(text, format_):
    """Line, level and text of each heading; each begins a line."""
    found = list(outline(text, format_))
    assert all(one.start == 0 or text[one.start - 1] == "\n" for one in found)
    return [(text.count("\n", 0, one.start), one.level, one.text) for one in found]


class TestCode:
    def test_a_definition_begins_with_what_stands_above_it(self):
        """Decorators and comments; a function inside a function is its own matter."""
        assert heads(PYTHON, "python") == [
            (2, 1, "class Store"),
            (9, 2, "def add"),
            (12, 2, "def size"),
            (17, 1, "def main"),
        ]

    @pytest.mark.parametrize("language", CODE)
    def test_every_language_has_its_own_words(self, language):
        """Classes, functions, types."""
        text, found = CODE[language]
        assert heads(text, language) == found

    def test_every_grammar_is_tested(self):
        """Here, all of them are installed."""
        assert {"python", *CODE} == set(grammars())
        assert all(has_parser(language) for language in grammars())

    def test_a_syntax_error_does_not_matter(self):
        """What stands before and after it is found."""
        text = "def a(): pass\n\nx = = 3 ]]\n\ndef b(): pass\n"
        assert [text for _, _, text in heads(text, "python")] == ["def a", "def b"]

    @pytest.mark.parametrize("nonsense", ["/*\n", "(", "(\n", "<a>", "x" * 6000, "\\\n", "a=\n"])
    @pytest.mark.parametrize("language", ["python", "javascript", "c"])
    def test_nonsense_gets_no_outline_and_takes_no_time(self, language, nonsense):
        """A parser would try every way to make sense of it."""
        started = time.process_time()

        assert heads(nonsense * (60_000 // len(nonsense)), language) == []
        assert time.process_time() - started < 3

    @settings(max_examples=50, deadline=None)
    @given(st.sampled_from(sorted(grammars())), st.text(max_size=300))
    def test_any_text_has_an_outline_or_none(self, language, text):
        """Half a surrogate pair, too."""
        assert heads(text + "\ud800\n", language) is not None


class TestOthers:
    def test_restructured_text_has_levels_by_first_appearance(self):
        """An overline makes a style of its own; a table or a transition is no heading."""
        text = (
            "=====\nTitle\n=====\n\nPart\n====\n\nSub\n---\n\nPart two\n========\n\n----\n\n"
            "two lines\nof text\n-------\n\n===  ===\na    b\n===  ===\n"
        )
        assert heads(text, "rst") == [
            (0, 1, "Title"),
            (4, 2, "Part"),
            (7, 3, "Sub"),
            (10, 2, "Part two"),
        ]

    def test_markdown_has_its_headings(self):
        """The same as ever."""
        assert heads("# A\n\nB\n---\n", "markdown") == [(0, 1, "A"), (2, 2, "B")]

    @pytest.mark.parametrize("format_", ["text", "pages", "chat", "kotlin", "yaml", ""])
    def test_other_texts_have_none(self, format_):
        """Whatever they look like."""
        assert heads("# A\n\nTitle\n=====\n\nclass B: pass\n", format_) == []
