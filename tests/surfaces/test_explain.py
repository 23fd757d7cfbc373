"""What `--explain` prints can be worked out again with a pencil."""

from __future__ import annotations

import re

import pytest

import scrubjay
from fakes import ScriptedGenerator, ScriptedReranker, TokenEmbedder
from scrubjay.surfaces.explain import reasons

TEXTS = [f"the harbour of {name} is open on mondays" for name in "abcdefghijklmnopqrstuvwxyz"]
VARIANTS = (
    '{"lexical": ["harbour mondays"], "semantic": ["open port"], "hyde": "The harbour is open"}'
)
# `name amount = working`; the last line of a hit has no name.
WORKING = re.compile(r"^(?:\S+ )?(\d+\.\d+) = (.+)$")


def worked_out(working):
    """Do the sum: digits, signs and brackets only."""
    plain = working.replace("×", "*")
    assert re.fullmatch(r"[\d.e()*/+\- ]+", plain), working
    return eval(plain)


@pytest.fixture
def store(tmp_path, clock):
    reranker = ScriptedReranker(lambda _query, texts: [0.9 - n / 50 for n in range(len(texts))])
    with scrubjay.open(
        tmp_path / "notes.db",
        embedder=TokenEmbedder(),
        clock=clock,
        reranker=reranker,
        generator=ScriptedGenerator(VARIANTS),
    ) as opened:
        opened.add_many({"text": text, "id": f"n{n}"} for n, text in enumerate(TEXTS))
        opened.add("the harbour is closed on mondays", id="closed")
        opened.pending()
        yield opened


@pytest.mark.parametrize(
    ("profile", "mode"),
    [
        *(("gno", mode) for mode in ("default", "fast", "thorough", "keyword", "vector")),
        *(("default", mode) for mode in ("default", "fast", "thorough", "keyword", "vector")),
    ],
)
def test_every_line_is_a_sum_that_comes_out(store, profile, mode):
    """R-7: for each hit, the reranked ones and those beyond, every part and the whole."""
    found = store.search("is the harbour closed on mondays", profile=profile, mode=mode, limit=25)

    assert len(found) == 25
    assert found.degraded == ()
    for hit in found:
        _, total, *lines = reasons(hit, found)
        parts = [float(one) for one in re.findall(r"(\d+\.\d{6}) [a-z]", total.partition("=")[2])]
        assert sum(parts) == pytest.approx(hit.score, abs=5e-6)
        assert len(lines) >= len(hit.why)
        for line in lines:
            amount, working = WORKING.match(line).groups()
            assert worked_out(working) == pytest.approx(float(amount), abs=2e-5, rel=2e-5), line
