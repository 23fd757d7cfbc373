"""Explanation of a score: its parts add up, for every profile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from browsing import Site
from fakes import BrokenEmbedder, ScriptedGenerator, ScriptedReranker, TokenEmbedder

import scrubjay
from scrubjay.search.profiles import built_in
from scrubjay.surfaces.render.explain import reasons
from scrubjay.surfaces.render.json import results

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
VARIANTS = (
    '{"lexical": ["harbour mondays"], "semantic": ["open port"], "hyde": "The harbour is open"}'
)
QUERIES = ("is the harbour open on mondays", "what of the harbour last week")
OVERRIDES = {"gno": {"rrf.k": 7}, "default": {"rerank": False}, "cognis": {"by_rank.k": 2},
             "novamem": {"min_max.weights": {"keyword": 0.7, "vector": 0.2, "graph": 0.1}},
             "vault": {"signals.half_life_days": 3}, "gnosis": {"keyword_floor.floor": 0.9}}  # fmt: skip
DRAW = """async (answers) => {
  const { scoreSum } = await import("/ui/search/sum.js");
  const main = document.getElementById("main");
  return answers.map((answer) => answer.hits.map((hit) => {
    const drawn = scoreSum(hit, answer);
    main.replaceChildren(drawn);
    const text = (of, what) => [...of.querySelectorAll(what)].map((one) => one.textContent);
    return {
      parts: [...drawn.querySelectorAll("[data-part]")].map((one) => ({
        name: one.dataset.part, amount: text(one, ".amount")[0],
        working: text(drawn, `[data-worked="${one.dataset.part}"] .working`),
        from: one.querySelector(".bar").getBoundingClientRect().left,
        to: one.querySelector(".bar").getBoundingClientRect().right,
        down: one.querySelector(".bar").classList.contains("down"),
      })),
      total: text(drawn, ".final .amount")[0],
      end: drawn.querySelector(".bar.final").getBoundingClientRect().right,
      told: text(drawn, ".found-by")[0], whole: text(drawn, ".whole")[0], where: text(drawn, ".where"),
      lists: [...drawn.querySelectorAll("[data-list]")].map(
        (one) => [one.dataset.list, ...text(one, ".rank, .number")]),
    };
  }));
}"""


def filled(store: scrubjay.Store) -> scrubjay.Store:
    """What every stage has something to do with: types, ages, links, severities, messages."""
    texts = [f"the harbour of {name} is open on mondays" for name in "abcdefghijkl"]
    store.add_many({"text": text, "id": f"n{n}"} for n, text in enumerate(texts))
    store.add("The harbour, she prefers it on mondays", id="p", type="preference", topics=["port"])
    store.add("Summary: the harbour was open", id="s", type="summary", severity="critical")
    store.add("Result of the harbour survey", id="r", type="result_done", severity="warning")
    store.add("The harbour was open last week", id="w", created_at=NOW - timedelta(days=7))
    store.add("The harbour and its tides. " * 300, id="d", type="document")
    store.link("n0", "s", 0.7)
    store.add_messages([{"role": "user", "text": "Is the harbour open?"}], session="talk")
    store.feedback("harbour", "n1", "accepted")
    store.pending()
    return store


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[scrubjay.Store]]:
    """One store with every model, and one whose model does not answer."""
    folder: Path = tmp_path_factory.mktemp("sums")
    scores = ScriptedReranker(lambda _, texts: [0.9 - n / 50 for n in range(len(texts))])
    with (
        scrubjay.open(folder / "rich.db", embedder=TokenEmbedder(), clock=lambda: NOW,
                      reranker=scores, generator=ScriptedGenerator(VARIANTS)) as rich,
        scrubjay.open(folder / "bare.db", embedder=BrokenEmbedder(), clock=lambda: NOW) as bare,
    ):  # fmt: skip
        yield [filled(rich), filled(bare)]


def searched(store: scrubjay.Store, way: str, query: str, **more: Any) -> Any:
    profile, _, mode = way.partition(":")
    found = store.search(query, profile=profile, mode=mode or None, limit=10, **more)
    return found, results(found, mode=mode, explain=True, full=False)


def number(text: str) -> Decimal:
    return Decimal(text.replace("−", "-"))


@pytest.mark.parametrize("profile", ["default", "gno", "gnosis", "vault", "cognis", "novamem"])
def test_the_drawn_parts_add_up_to_the_score(
    site: Site, stores: list[scrubjay.Store], profile: str
):
    """R-7: in all modes, with and without models, with changed settings; figures and bars."""
    ways = [way for way in built_in() if way.partition(":")[0] == profile]
    asked = [searched(store, way, query) for store in stores for way in ways for query in QUERIES]
    asked += [
        searched(store, profile, QUERIES[0], overrides=OVERRIDES[profile]) for store in stores
    ]
    page = site.open()

    drawn = page.evaluate(DRAW, [shape for _, shape in asked])

    hits = [
        (hit, found, picture)
        for (found, _), pictures in zip(asked, drawn, strict=True)
        for hit, picture in zip(found.hits, pictures, strict=True)
    ]
    assert len(hits) > 40
    for hit, found, picture in hits:
        amounts = [number(part["amount"]) for part in picture["parts"]]
        assert sum(amounts) == number(picture["total"]), (found.profile, hit.id)
        assert float(number(picture["total"])) == pytest.approx(hit.score, abs=5.01e-4)
        total, _, exact = picture["whole"].replace("−", "-").partition(" = ")
        assert total == f"{hit.score:.6f}"
        terms = re.findall(r"(- |^-)?(\d+\.\d{6})", exact)
        assert sum(Decimal(f"{sign[:1]}{figures}") for sign, figures in terms) == Decimal(total)
        assert "other" not in {part["name"] for part in picture["parts"]}
        assert_steps_meet(picture, amounts)
        said = " ".join(reasons(hit, found))
        assert all(line.partition(" = ")[2] in said for part in picture["parts"]
                   for line in part["working"])  # fmt: skip
        assert picture["where"] == list(found.explain(hit).where) != []
        assert {one[0] for one in picture["lists"] if one[2] != "–"} == set(hit.found)


def assert_steps_meet(picture: Any, amounts: list[Decimal]) -> None:
    """Each bar begins where the one before it ended, and the last ends where the score does."""
    at = None
    for part, amount in zip(picture["parts"], amounts, strict=True):
        assert part["down"] == (amount < 0)
        begins, ends = (part["to"], part["from"]) if amount < 0 else (part["from"], part["to"])
        assert at is None or begins == pytest.approx(at, abs=2.5)
        at = ends
    assert at == pytest.approx(picture["end"], abs=3)


def test_a_score_is_told_with_its_lists_and_its_working(site: Site, stores: list[scrubjay.Store]):
    """R-7: what each part is, where each list had it, and the lists that did not."""
    page = site.open()
    vault = searched(stores[0], "vault", "harbour tides")[1]
    gno = searched(stores[0], "gno", "harbour mondays")[1]

    first, second = (pictures[0] for pictures in page.evaluate(DRAW, [vault, gno]))

    severity = vault["hits"][0]["why"]["severity"]
    parts = {part["name"]: part["working"] for part in first["parts"]}
    assert parts["severity"] == [f"severity {0.15 * severity:.6f} = 0.15 × {severity:.6f}"]
    assert second["parts"][0]["name"] == "rrf_keyword"
    assert " / (60 + " in second["parts"][0]["working"][0]
    assert "the scale; the share that ranks have in this score" in second["where"][1]
    keyword = gno["hits"][0]["found"]["keyword"]
    lists = {name: (rank, raw) for name, rank, raw in second["lists"]}
    assert lists["keyword"] == (
        f"#{keyword['rank']} of {gno['counts']['keyword']}",
        f"{keyword['score']:.3f}",
    )
    found, counts = gno["hits"][0]["found"], gno["counts"]
    assert (found["keyword"]["rank"], found["vector"]["rank"]) == (1, 1)
    assert second["told"] == (
        f"Found by its words (first of {counts['keyword']}) and its meaning (first of"
        f" {counts['vector']}). Then read by the reranker."
    )
    assert first["told"].startswith("Found by its words (first of ")
    assert ", not by the source “memory”." in first["told"]
    assert ["memory", "not among its 1", "–"] in first["lists"]
    assert site.axe(page) == []
