"""Whatever a file holds: documents that can be stored, or a reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples import docx, paragraph, pdf

from scrubjay.documents import Unreadable
from scrubjay.documents.code import outline
from scrubjay.documents.read import read

WHOLE = {
    "a.md": b"---\ntitle: x\ntags: [a, b]\ndate: 2024-01-01\n---\n# A\n[[b]] [c](d.md) `#e` #f\n",
    "b.md": b"+++\ntitle = 'x'\ntags = ['a']\n+++\nA\n===\n```py\n#x\n```\n",
    "a.html": b"<html><title>x</title><table><tr><td colspan=3>a<p>b<ol start=2><li>c</ol></table>",
    "a.rst": b"=====\nTitle\n=====\n\nSub\n---\n:tags: a\n:doc:`x <y>`\n",
    "a.pdf": pdf("One", "Two", info="/Title (x) /CreationDate (D:2024)"),
    "a.docx": docx(paragraph("A", "Heading1") + paragraph("b"), "<dc:title>x</dc:title>"),
    "a.json": json.dumps([{"role": "user", "content": [{"type": "text", "text": "x"}]}]).encode(),
    "b.json": json.dumps(
        [{"mapping": {"a": {"parent": None, "message": {"author": {"role": "user"}}}}}]
    ).encode(),
    "a.jsonl": b'{"ts":"1","user":"a","text":"b"}\n{"type":"user","message":{"role":"user"}}\n',
    "a.py": b"# c\n@d\nclass A:\n    def b(self): pass\n",
    "a.rs": b"/// x\nimpl A for B { fn c() {} }\n",
    "a.unknown": b"words\n",
}
PATHS = st.sampled_from(sorted(WHOLE))


def check(path, data):
    """Read, and look at what came out as a caller would."""
    try:
        documents = read(path, data)
    except Unreadable as left_out:
        assert left_out.reason  # noqa: PT017
        return
    assert documents
    assert len({one.name for one in documents}) == len(documents)
    for one in documents:
        one.text.encode()
        json.dumps([one.title, one.name, one.topics, one.targets, dict(one.metadata)])
        "".join((one.title, *one.topics, *(target.text for target in one.targets))).encode()
        starts = [heading.start for heading in outline(one.text, one.format)]
        assert one.text.strip()
        assert starts == sorted(starts)
        assert all(moment is None or moment.tzinfo for moment in (one.created_at, one.updated_at))


@pytest.mark.parametrize("path", WHOLE)
def test_the_samples_are_read(path):
    """They are not what the following tests refuse."""
    assert read(path, WHOLE[path]) if path != "b.json" else True
    check(path, WHOLE[path])


@settings(max_examples=200, deadline=3000)
@given(PATHS, st.binary(max_size=200))
@example("a.html", b"<")
@example("a.html", b"a/b.html")
@example("a.html", b"http://x.org")
@example("a.html", b"<h" + b"1" * 5000 + b">x")
@example("a.json", b'"\\ud800"')
def test_random_bytes_are_read_or_refused(path, data):
    """Within three seconds, and nothing warns."""
    check(path, data)


@settings(max_examples=300, deadline=3000)
@given(PATHS, st.integers(0, 2000), st.integers(0, 20), st.binary(max_size=8))
def test_changed_files_are_read_or_refused(path, place, gone, put):
    """Cut, overwritten, longer."""
    whole = WHOLE[path]
    place %= len(whole)
    check(path, whole[:place] + put + whole[place + gone :])


@settings(max_examples=200, deadline=3000)
@given(st.sampled_from(["a.md", "a.html", "a.rst", "a.py"]), st.text(max_size=300))
def test_random_text_is_read_or_refused(path, text):
    """In any script, with any sign."""
    check(path, text.encode())


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                """mapping current_node message messages author role content parts parent sender text
            chat_messages ts user type payload title name id user_profile timestamp""".split()
            ),
            inner | st.sampled_from(["user", "text", "a"]),
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=3000)
@given(JSON, st.booleans())
@example({"message": {"role": []}}, False)
@example([{"role": "user", "content": [{"type": []}]}], False)
def test_any_json_is_a_conversation_or_text(value, in_lines):
    """Known keys with unknown values are no reason to fail."""
    text = json.dumps(value)
    check(
        "a.jsonl" if in_lines else "a.json",
        f"{text}\n{text}".encode() if in_lines else text.encode(),
    )
