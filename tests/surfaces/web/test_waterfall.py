"""Waterfall chart of the stages of a search, and its text for screen readers."""

from __future__ import annotations

from typing import Any

import pytest
from browsing import Site
from playwright.sync_api import Page

DRAW = """async (given) => {
  const { waterfall } = await import("/ui/search/waterfall.js");
  const answer = given.trace ? given : await (await import("/ui/app/api.js")).call("search", given);
  document.getElementById("main").replaceChildren(waterfall(answer));
  return answer;
}"""
ROWS = """() => [...document.querySelectorAll(".waterfall details")].map((one) => {
  const [track, bar] = [".track", ".bar"].map((what) => one.querySelector(what).getBoundingClientRect());
  const text = (what) => one.querySelector(what).textContent;
  return {
    stage: one.dataset.stage, took: text(".took"), flow: text(".flow .visually-hidden"),
    left: (bar.left - track.left) / track.width, width: bar.width / track.width, px: bar.width,
    inside: bar.right <= track.right + 0.5,
    below: bar.top >= one.querySelector("b").getBoundingClientRect().bottom,
  };
})"""


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """A store with enough to narrow down."""
    _site.store.add_many({"text": f"the harbour of {n} is open", "id": f"h{n}"} for n in range(30))
    _site.store.pending()
    return _site


def settled(site: Site, **options: Any) -> Page:
    """A page whose own search has come to rest, and takes neither place nor focus any more."""
    page = site.open(**options)
    page.locator("article.card").first.wait_for()
    return page


def walked(steps: list[Any], depth: int = 0) -> list[tuple[int, Any]]:
    return [pair for one in steps for pair in ((depth, one), *walked(one["branches"], depth + 1))]


def test_every_stage_is_a_bar_where_and_as_long_as_it_ran(site: Site):
    """R-7: names, counts and times as the trace has them, on one axis, tiny stages still seen."""
    page = settled(site, viewport={"width": 1200, "height": 900})
    answer = page.evaluate(DRAW, {"query": "harbour open", "explain": True, "limit": 5})

    rows, steps = page.evaluate(ROWS), [one for _, one in walked(answer["trace"])]
    assert [row["stage"] for row in rows] == [one["stage"] for one in steps]
    start = steps[0]["at_us"]
    ends = [(one["at_us"] - start) / 1000 + one["took_ms"] for one in steps]
    length_ms = max(answer["took_ms"], *ends)
    for row, one in zip(rows, steps, strict=True):
        assert row["width"] == pytest.approx(
            max(one["took_ms"] / length_ms, 3 / (row["px"] / row["width"])), abs=0.005
        )
        began = (one["at_us"] - start) / 1000 / length_ms
        assert row["left"] == pytest.approx(began, abs=0.01)
        assert row["inside"]
        counts = (one["went_in"], one["came_out"])
        assert row["flow"] == (
            "{} in, {} out".format(*counts) if any(counts) else "no candidates yet"
        )
    top = next(row for row in rows if row["stage"] == "top")
    assert top["flow"] == "30 in, 5 out"
    within = page.get_by_role("list", name="Within recall").locator("details")
    recall = next(one for one in answer["trace"] if one["stage"] == "recall")
    assert within.evaluate_all("all => all.map((one) => one.dataset.stage)") == [
        one["stage"] for one in recall["branches"]
    ]
    assert f"{len(steps)} stages" in page.locator(".waterfall .total").inner_text()
    assert site.axe(page) == []


def test_a_stage_opens_by_key_and_says_its_numbers(site: Site):
    """R-7: what is short in the row is complete below it; on a phone the bar goes below the name."""
    page = settled(site, viewport={"width": 360, "height": 800})
    page.evaluate(DRAW, {"query": "harbour", "explain": True, "profile": "gno"})

    rrf = page.locator("details[data-stage=rrf]")
    rrf.locator("summary").focus()
    page.keyboard.press("Enter")
    assert "{keyword: 2, vector: 2, lexical: 1, semantic: 1, hyde: 1.4}" in rrf.inner_text()
    page.get_by_role("button", name="Open all").click()
    assert page.locator(".waterfall details:not([open])").count() == 0
    assert "all-MiniLM" not in page.locator("main").inner_text()
    assert all(row["below"] for row in page.evaluate(ROWS))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert site.axe(page) == []


def test_what_was_lost_is_said_in_words(site: Site):
    """Of the whole answer and of the stage, which is marked by more than its colour."""
    page = settled(site)
    answer = page.evaluate(DRAW, {"query": "harbour", "explain": True})
    answer["degraded"] = ["searched by word alone: the model <b>does not</b> answer"]
    answer["trace"][-1]["lost"] = "the file is away"

    page.evaluate(DRAW, answer)
    assert page.locator(".waterfall .notice").inner_text() == (
        "⚠ Incomplete: searched by word alone: the model <b>does not</b> answer"
    )
    assert page.locator(".waterfall .loss").inner_text() == "⚠ Failed: the file is away"
    assert page.locator(".row.lost").count() == 1
