"""GN-2: whatever a model answers is read for what it holds, or is Unavailable."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scrubjay.errors import Unavailable
from scrubjay.search.expansion import Expansion
from scrubjay.search.expansion.parse import parse
from scrubjay.search.expansion.prompts import EXAMPLES
from scrubjay.text.analysis import normalize, words

WHOLE = Expansion(("alpha beta", "gamma"), ("what is alpha",), "Alpha is the first letter.")
JSON = json.dumps(WHOLE._asdict())
PRETTY = json.dumps(WHOLE._asdict(), indent=2)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(JSON, id="JSON"),
        pytest.param(PRETTY, id="pretty"),
        pytest.param(f"Sure! Here you go:\n\n{JSON}\n\nHope it {{helps}}!", id="prose around"),
        pytest.param(f"```json\n{PRETTY}\n```", id="fence"),
        pytest.param(f"<think>\nA draft: {{'lexical': ['x y']}}\n</think>\n\n{JSON}", id="thoughts"),
        pytest.param(f"I look for {{'lexical': ['x y']}}. </think>{JSON}", id="half a tag"),
        pytest.param(f'{{"note": "a {{}}"}} and {JSON} or {{"lexical": ["no"]}}', id="several objects"),
        pytest.param(f'{{"lexical": [], "semantic": ["..."], "hyde": "string"}}\n{JSON}', id="a template"),
        pytest.param(f'{{ "oops, never closed\n{JSON}', id="a stray brace and quote"),
        pytest.param(f'{{"result": {{"expansion": {JSON}}}}}', id="wrapped"),
        pytest.param(f"[{JSON}]", id="in a list"),
        pytest.param(JSON.replace('"', "'"), id="single quotes"),
        pytest.param(JSON.replace('"', "“", 1).replace('"', "”", 1), id="curly quotes"),
        pytest.param(JSON.replace("]", ",]").replace("}", ",}"), id="trailing commas"),
        pytest.param(JSON.replace('", "', '" "'), id="missing commas"),
        pytest.param(JSON.replace("is the", "is\nthe"), id="a raw newline"),
        pytest.param(JSON.replace("is the", "is\x00\x07 the"), id="control characters"),
        pytest.param(JSON.replace('"gamma"', '"gamma", // the third\n'), id="a comment"),
        pytest.param(re.sub(r'"(\w+)":', r"\1:", JSON), id="bare keys"),
        pytest.param(JSON.replace('"gamma"]', '"gamma", "ALPHA  Beta", "gamma "]'), id="duplicates"),
        pytest.param(JSON.replace('"gamma"', '"...", "gamma", "", null, "<query 2>"'), id="placeholders"),
        pytest.param(
            JSON.replace("lexical", "Keywords").replace("semantic", "VEC").replace("hyde", "Passage"),
            id="other keys",
        ),
        pytest.param(
            JSON.replace("lexical", "lexical_queries")
            .replace("semantic", "semantic-queries")
            .replace("hyde", "HyDE passage"),
            id="longer keys",
        ),
        pytest.param(
            JSON.replace("lexical", "lex").replace("semantic", "variants").replace("hyde", "hypothetical"),
            id="shorter keys",
        ),
        pytest.param(JSON.replace('["alpha beta", "gamma"]', '"alpha beta, gamma"'), id="by comma"),
        pytest.param(JSON.replace('["alpha beta", "gamma"]', r'"alpha beta\ngamma"'), id="by line"),
        pytest.param(JSON.replace('["what is alpha"]', '"what is alpha"'), id="a string, no list"),
        pytest.param(JSON.replace('"Alpha', '["Alpha').replace('letter."', 'letter."]'), id="hyde list"),
        pytest.param(JSON.replace('"alpha', '"1. alpha').replace('"gamma', '"2) gamma'), id="numbers"),
        pytest.param(JSON.replace('"alpha', '"- alpha').replace('"gamma', '"• gamma'), id="bullets"),
        pytest.param(
            JSON.replace('"alpha beta"', '{"query": "alpha beta", "why": "it fits"}').replace(
                '"gamma"', '{"text": "gamma", "weight": 0.5}'
            ),
            id="objects in the list",
        ),
        pytest.param(
            JSON.replace('["alpha beta", "gamma"]', '{"1": "alpha beta", "2": "gamma"}'), id="a dict"
        ),
        pytest.param(
            "lex: alpha beta\nlex: gamma\nvec: what is alpha\nhyde: Alpha is the first letter.",
            id="lines",
        ),
        pytest.param(
            "Here they are.\n\n**Lexical queries (for BM25):**\n- alpha beta\n- gamma\n\n"
            "## Semantic queries:\n1. what is alpha\n\n**HyDE:**\nAlpha is the\nfirst letter.\n",
            id="headings",
        ),
        pytest.param(
            "lexical:\n  - alpha beta\n  - gamma\nsemantic: [what is alpha]\n"
            "hyde: >\n  Alpha is the first letter.",
            id="YAML",
        ),
    ],
)  # fmt: skip
def test_habits_of_models_are_understood(answer):
    """GN-2: what is clearly meant is read, however it is written."""
    assert parse(answer) == WHOLE


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"lexical": ["a b", "c d"], "semantic": ["e f', Expansion(("a b", "c d"))),
        ('{"lexical": ["a b", "c d"', Expansion(("a b", "c d"))),
        ('{"lexical": ["a b", "c d', Expansion(("a b",))),
        ('{"result": {"lexical": ["a b"], "sem', Expansion(("a b",))),
        ('```json\n{"lexical": ["a b"],\n "hyde": "Short cu', Expansion(("a b",))),
        (
            '{"hyde": "The first sentence is whole. The second is cut of',
            Expansion(hyde="The first sentence is whole."),
        ),
        (
            '{"hyde": "One sentence that is so long that its end was never rea',
            Expansion(hyde="One sentence that is so long that its end was never"),
        ),
        (
            '{"hyde": "配置文件缺少必填项时会报错。请添加缺少的条目或者设置默认',
            Expansion(hyde="配置文件缺少必填项时会报错。"),
        ),
        (
            '{"hyde": "配置文件缺少必填项时程序会立即停止并且报告错误的位',
            Expansion(hyde="配置文件缺少必填项时程序会立即停止并且报告错误的"),
        ),
        (
            '{"hyde": "\\u0627\\u0644\\u062a\\u0637\\u0628\\u064a\\u0642 \\u0642\\u064a\\u062f'
            " \\u0627\\u0644\\u062a\\u0634\\u063a\\u064a\\u0644 \\u0627\\u0644\\u0622\\u0646"
            " \\u0641\\u064a \\u06",
            Expansion(hyde="التطبيق قيد التشغيل الآن"),
        ),
    ],
)  # fmt: skip
def test_half_an_answer_keeps_what_is_complete(answer, expected):
    """GN-2: a token limit cuts in the middle of a word; a cut variant would be another query."""
    assert parse(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"lexical": ["the "force" flag", "x"]}', ('the "force" flag', "x")),
        ("{'lexical': ['don't panic', 'users' data']}", ("don't panic", "users' data")),
        (r'{"lexical": ["\"exact phrase\" -docker"]}', ('"exact phrase" -docker',)),
        (r'{"lexical": ["C:\\temp \d+"]}', (r"C:\temp \d+",)),
        ('{"lexical": ["2. Weltkrieg Ende", "-docker build"]}', ("2. Weltkrieg Ende", "-docker build")),
        ('{"Stichwörter": ["Größe ändern", "größe  ÄNDERN"]}', ("Größe ändern",)),
        ('{"lexical": ["部署 应用", "发布\\u3000程序"]}', ("部署 应用", "发布 程序")),
        ('{"lexical": ["نشر التطبيق"]}', ("نشر التطبيق",)),
        ('{"lexical": ["\\ud83d\\ude80 launch", "\\ud83d lost"]}', ("🚀 launch", "? lost")),
        ('{"lexical": "部署、发布"}', ("部署", "发布")),
        ('{"lexical": "\\"a, b\\" c"}', ('"a, b" c',)),
        ('{"lexical": ["a" , "b" ], ...}', ("a", "b")),
        ('{"lexical": ["a\u202eb"]}', ("a b",)),
    ],
)  # fmt: skip
def test_items_are_taken_as_meant(answer, expected):
    """GN-2: quotes, negations, escapes and other scripts come through."""
    assert parse(answer).lexical == expected


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   \n",
        "I'm sorry, I cannot help with that.",
        "To deploy the app: first build it, then push it.",
        "<think>Let me see. {'lexical': ['a draft']} Hmm",
        "{}",
        '{"lexical": [], "semantic": [], "hyde": ""}',
        '{"lexical": ["...", "string", "<keyword 1>", "query 2"], "hyde": "…"}',
        '{"type": "object", "properties": {"lexical": {"type": "array", "items": {"type": "string"}}}}',
        '{"answer": "42"}',
        '{"lexical": [1, 2, null, true',
        json.dumps(EXAMPLES[0]._asdict()),
        json.dumps(EXAMPLES[1]._asdict(), ensure_ascii=False),
        json.dumps({"hyde": EXAMPLES[2].hyde})[:120],
        "\ud800",
    ],
)
def test_an_answer_without_a_variant_is_unavailable(answer):
    """GN-2: prose, templates, our own example and drafts are no expansion; the error shows the answer."""
    with pytest.raises(Unavailable, match="answer") as raised:
        parse(answer)

    assert answer[:20].strip().replace("\ud800", "?") in str(raised.value).replace("\\'", "'")


def test_of_very_many_variants_the_first_are_kept():
    """GN-2: each variant is a search of its own."""
    many = [f"variant of mine {number}" for number in range(200)]
    answer = json.dumps({"lexical": many, "semantic": many, "hyde": "x. " * 5_000})

    found = parse(answer)

    assert found.lexical == tuple(many[:5])
    assert found.semantic == tuple(many[:5])
    assert len(found.hyde) == 2_000
    assert parse(answer, most_lexical=1, most_semantic=0).lexical == tuple(many[:1])
    assert parse(answer, most_semantic=0).semantic == ()


def test_a_variant_that_is_too_long_ends_with_a_word():
    """GN-2: some models write an essay for a keyword."""
    (item,) = parse(json.dumps({"lexical": ["word " * 1_000]})).lexical

    assert item == " ".join(["word"] * 60)


@pytest.mark.parametrize(
    "answer",
    [
        "{" * 1_000_000,
        "[" * 1_000_000,
        '{"a":' * 200_000,
        '{"' * 500_000,
        '{"lexical": ["' + '"' * 1_000_000,
        '{"lexical": ["' + "\\" * 1_000_000,
        '{"lexical": [' + "a," * 500_000,
        '{"lexical": [' + '" ' * 500_000,
        "{'" + "a' " * 300_000,
        "lex: \n" * 200_000,
        " " * 1_000_000 + "x",
        "-" * 1_000_000,
        "a:" * 500_000,
        "<think>" * 150_000,
    ],
    ids=range(14),
)
def test_a_megabyte_of_nonsense_is_soon_over(answer):
    """GN-2: bounded work; a pattern that tries every way would not come back within this test's life."""
    try:
        found = parse(answer)
    except Unavailable:
        return

    assert len(found.lexical) <= 5


def test_a_long_thought_does_not_hide_the_answer():
    """GN-2: a model may think for a megabyte first."""
    assert parse(f"<think>{'hm, {x} ' * 150_000}</think>{JSON}") == WHOLE


KEYS = (
    "lexical",
    "lex:",
    "vec: ",
    "hyde",
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    ":",
    ",",
    "\\",
    "\n",
    "- ",
)
anything = st.one_of(
    st.text(max_size=200),
    st.lists(st.one_of(st.sampled_from(KEYS), st.text(max_size=4)), max_size=60).map("".join),
)


@given(anything)
@example('{"lexical": ["\ud800"]}')
@example('{"hyde": "\\')
@settings(deadline=None, max_examples=150)
def test_any_string_parses_within_the_limits_or_is_unavailable(answer):
    """GN-2: no answer is an error of ours."""
    try:
        found = parse(answer, most_lexical=2, most_semantic=3, most_chars=20, most_hyde_chars=30)
    except Unavailable:
        return

    assert any(found)
    assert len(found.lexical) <= 2
    assert len(found.semantic) <= 3
    assert len(found.hyde) <= 30
    for item in (*found.lexical, *found.semantic):
        assert 0 < len(item) <= 20
        assert item.isprintable() or not item.isascii()
        item.encode()


NOTHING = re.compile(
    r"(?i)\W*(|\w+ )(string|quer|variant|keyword|passage|placeholder|none|null|n/a)"
)


def _is_item(text: str) -> bool:
    starts_like_a_list = re.match(r"[-*•–·]|\(?\d", text)
    return bool(
        text
        and words(text.replace("_", ""))
        and not starts_like_a_list
        and not NOTHING.match(text)
    )


plain = st.text(
    st.one_of(
        st.characters(exclude_categories=("C", "Zl", "Zp")),
        st.sampled_from("\"'{}[]:,\\ -#/ابتثäöü部署应用\U0001f680"),
    ),
    min_size=1,
    max_size=40,
).map(normalize)
items = st.lists(plain.filter(_is_item), max_size=5, unique_by=str.casefold).map(tuple)
expansions = st.builds(
    Expansion, items, items, st.one_of(st.just(""), plain.filter(_is_item))
).filter(any)


@given(expansions, st.booleans(), st.sampled_from([None, 1]))
@example(Expansion((), (), "D"), True, None)
@settings(deadline=None, max_examples=150)
def test_valid_json_is_read_as_it_is(expansion, ascii_only, indent):
    """GN-2: being lenient with the wrong does not cost the right anything."""
    answer = json.dumps(expansion._asdict(), ensure_ascii=ascii_only, indent=indent)

    assert parse(answer) == expansion


@given(expansions, st.booleans(), st.sampled_from([None, 1]), st.floats(0, 1))
@example(Expansion(("{'lexical': ['x']}, more",), (), "lex: a"), False, None, 0.6)
@settings(deadline=None, max_examples=200)
def test_a_cut_answer_invents_nothing(expansion, ascii_only, indent, share):
    """GN-2: wherever it is cut, what is read was in the whole answer; only the passage gets shorter."""
    answer = json.dumps(expansion._asdict(), ensure_ascii=ascii_only, indent=indent)
    try:
        found = parse(answer[: int(len(answer) * share)])
    except Unavailable:
        return

    assert found.lexical == expansion.lexical[: len(found.lexical)]
    assert found.semantic == expansion.semantic[: len(found.semantic)]
    assert expansion.hyde.startswith(found.hyde)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_every_place_to_cut_an_answer_is_safe(ascii_only):
    """GN-2: all of them, for an answer with all that can be cut in two."""
    whole = Expansion(
        ('"größe_max" -docker', "C:\\temp\\x 🚀", "{'lexical': ['x']}"),
        ("如何部署「应用」?", "كيف أنشر التطبيق"),
        'Set "größe_max" in C:\\temp. Then 🚀 start it, and wait until 部署 is done 🚀🚀🚀🚀🚀🚀🚀🚀.',
    )
    answer = json.dumps(whole._asdict(), ensure_ascii=ascii_only)
    so_far = 0
    for end in range(len(answer)):
        try:
            found = parse(answer[:end])
        except Unavailable:
            assert end < answer.index("-docker") + len("-docker") + 1
            continue
        assert found.lexical == whole.lexical[: len(found.lexical)]
        assert found.semantic == whole.semantic[: len(found.semantic)]
        assert whole.hyde.startswith(found.hyde)
        assert len(found.lexical) >= so_far
        so_far = len(found.lexical)
    assert so_far == 3
