"""What `--explain` prints can be worked out again with a pencil."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta

import pytest
from clocks import NOON
from fakes import HashingEmbedder, ScriptedGenerator, ScriptedReranker, TokenEmbedder
from sums import assert_comes_out, worked_out

import scrubjay
from scrubjay.search.profiles import built_in
from scrubjay.surfaces.render.explain import reasons
from scrubjay.surfaces.render.json import results

TEXTS = [f"the harbour of {name} is open on mondays" for name in "abcdefghijklmnopqrstuvwxyz"]
VARIANTS = (
    '{"lexical": ["harbour mondays"], "semantic": ["open port"], "hyde": "The harbour is open"}'
)


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
        ("novamem", "default"),
    ],
)
def test_every_line_is_a_sum_that_comes_out(store, profile, mode):
    """R-7: for each hit, the reranked ones and those beyond, every part and the whole."""
    found = store.search("is the harbour closed on mondays", profile=profile, mode=mode, limit=25)

    assert len(found) == 25
    assert found.degraded == ()
    assert_comes_out(found)
    assert all(len(reasons(hit, found)) >= 2 + len(hit.why) for hit in found)


def test_the_shares_of_fusion_and_reranker_are_those_of_the_profile(store):
    """R-7, GN-11: 75/25, 60/40 or 40/60, and both best scores that they are divided by."""
    found = store.search("is the harbour closed on mondays", profile="gno", limit=25)

    (fused,) = (one.notes["best"] for one in found.trace if one.stage == "over_best")
    (blended,) = (one.notes["best"] for one in found.trace if one.stage == "normalize")
    shares = Counter()
    for hit in found:
        said = "\n".join(reasons(hit, found))
        read = re.search(rf"^rerank \S+ = (\S+) × \S+ / {blended:.6f}$", said, re.M)
        ranks = re.search(
            rf"^\S+ = (\S+) / {fused:.6f} / {blended:.6f}: the scale;"
            ".* over the best fused score and the best blended one$",
            said,
            re.M,
        )
        shares[ranks[1], read and read[1]] += 1
    assert shares == {("0.75", "0.25"): 3, ("0.6", "0.4"): 7, ("0.4", "0.6"): 10, ("0.4", None): 5}


def test_the_strength_is_worked_out_and_every_figure_is_named(store):
    """R-7: from the evidence up, without a figure that is explained by itself."""
    found = store.search("closed harbour tavern", limit=25)
    hit = found[3]

    _, _, *lines = reasons(hit, found)
    said = dict(re.findall(r"^(\d\.\d{6})(?: = [^:]+)?: (.+)$", "\n".join(lines), re.M))
    (weighed,) = (one.notes for one in found.trace if one.stage == "weigh")
    scale, strength = f"{weighed['times']:.6f}", f"{weighed['strength']:.6f}"

    assert f"{found[0].score:.6f}" == strength
    assert re.search(
        f"^{scale}[^:]*: the scale; the strength of the evidence", "\n".join(lines), re.M
    )
    first = found[0].found
    root = f"{first['keyword'].score / weighed['keyword']['best_possible']:.6f}"
    cosine = f"{first['vector'].score:.6f}"
    assert f"{strength} = 1 - (1 - {root}^0.5) × (1 - {cosine}): that strength" in "\n".join(lines)
    assert (
        said[root] == "what the one that leads scores by its words, over the best possible score"
    )
    assert (
        said[cosine]
        == "what the one that leads scores by its meaning; 1 would be the best possible"
    )
    assert not [line for line in lines if re.match(r"(\d\.\d+) = \1 / 1\.0+\b", line)]


@pytest.mark.parametrize("profile", ["default", "default:fast", "default:vector", "cognis"])
@pytest.mark.parametrize("query", ["harbour open", "what of the harbour last week"])
def test_time_and_many_passages_come_out_too(store, profile, query):
    """R-7, CG-4, CG-5, CG-7: what time takes or gives, and what many passages gain by chance."""
    page = "\n\n".join(f"Paragraph {n} on the harbour and its tides. " * 12 for n in range(9))
    store.add(page, id="page", type="document", created_at=NOON - timedelta(days=90))
    store.add("the harbour was open", id="then", created_at=NOON - timedelta(days=8))
    store.add("is the harbour open?", id="now", created_at=NOON - timedelta(seconds=90))
    store.pending()

    found = store.search(
        query, profile=profile.partition(":")[0], limit=40, mode=profile.partition(":")[2] or None
    )

    assert {"page", "then", "now"} <= {hit.id for hit in found}
    assert_comes_out(found)
    if "week" in query:
        assert {"time", "temporal"} & set(found[-1].why)


@pytest.mark.parametrize("way", built_in())
def test_the_parts_that_json_gives_add_up_in_every_profile(store, way):
    """R-7: the amounts are the score, each is its working, and they are those of the shell."""
    profile, _, mode = way.partition(":")
    store.add("the harbour on mondays, she prefers", id="liked", type="preference")
    found = store.search("is the harbour closed on mondays", profile=profile, mode=mode or None)

    shape = results(found, mode=mode, explain=True, full=False)
    assert len(shape["hits"]) >= 10
    for hit, told in zip(found, shape["hits"], strict=True):
        parts = told["sum"]["parts"]
        assert sum(one["amount"] for one in parts) == pytest.approx(hit.score, abs=6e-7)
        for one in parts:
            if one["working"]:
                amount = worked_out(one["working"][0])
                assert amount == pytest.approx(one["amount"], abs=2e-5, rel=2e-5), one
        said = reasons(hit, found)
        assert told["sum"]["where"] == said[len(said) - len(told["sum"]["where"]) :]
    assert "sum" not in results(found, mode=mode, explain=False, full=False)["hits"][0]


@pytest.mark.parametrize("read", [True, False])
def test_verdicts_floors_and_factors_come_out(tmp_path, clock, read):
    """R-7, GS-10, GS-11, GS-12: what types gain or lose, and what words raise, with a pencil."""
    scores = [0.9, 0.7, 0.5, 0.3, 0.1, 0.05, 0.02]
    reranker = ScriptedReranker(lambda _query, texts: scores[: len(texts)]) if read else None
    with scrubjay.open(
        tmp_path / "n.db", embedder=HashingEmbedder(), clock=clock, reranker=reranker
    ) as store:
        types = (
            "preference",
            "summary",
            "result",
            "result_done",
            "task_done",
            "fact",
            "preference",
        )
        for number, type_ in enumerate(types):
            store.add(f"the harbour opens on day {number}", id=f"v{number}", type=type_)
        store.pending()
        found = store.search("which harbour opens on mondays", profile="gnosis", limit=20)

    assert_comes_out(found)
    parts = {name for hit in found for name in hit.why}
    assert parts > {"preference", "summary", "result", "_done"}
    assert ({"rerank", "keyword_floor"} if read else {"synthetic"}) <= parts
    lines = {line for hit in found for line in reasons(hit, found)}
    assert sum(" = (1.25 - 1) × " in line for line in lines) >= 1
    assert any(" = (0.7 - 1) × " in line for line in lines)
