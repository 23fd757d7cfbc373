"""Graph view: layout, links, and navigation by mouse and keyboard."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
from browsing import Site
from playwright.sync_api import Page, expect

Box = dict[str, float]
SCRIPT = "<img src=x onerror=alert(1)>"
BOXES = """() => [...document.querySelectorAll(".node a text")].map((one) => {
  const { left, right, top, bottom } = one.getBoundingClientRect();
  return { left, right, top, bottom };
})"""


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """A town whose streets are linked: hub, three around it, one behind; and one with sixty around."""
    store = _site.store
    for id, text in (
        ("hub", "market square"),
        ("old", "wooden bridge"),
        ("inn", "tavern lamp"),
        ("mill", f"windmill {SCRIPT}"),
        ("far", "lighthouse keeper"),
        ("alone", "zeppelin"),
    ):
        store.add(text, id=id)
    store.link("hub", "old", 0.9, "supersedes")
    store.link("hub", "inn", 0.5)
    store.link("hub", "mill", 0.7, "feeds_on")
    store.link("mill", "far", 0.8)
    store.add("crowd centre", id="crowd")
    store.add_many({"id": f"one{n}", "text": f"{n}a {n}b {n}c visitor"} for n in range(60))
    for n in range(60):
        store.link("crowd", f"one{n}", 0.5)
    store.pending(wait=True)
    return _site


def opened(site: Site, path: str, **options: object) -> Page:
    """Open a graph, and wait until it is drawn."""
    page = site.open(path, **{"viewport": {"width": 1000, "height": 800}} | options)
    expect(page.locator(".node.middle")).to_be_attached()
    return page


def test_links_are_drawn_as_they_are_and_said_in_a_table(site: Site):
    page = opened(site, "#/graph?id=hub")
    expect(page.get_by_role("heading", level=1)).to_have_text("market square")
    expect(page.get_by_role("link", name="Map", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    expect(page.locator(".middle text")).to_have_text("market square")
    assert (
        "windmill <img src=x onerror=alert(1)>"
        in page.locator("[data-id=mill] a text").text_content()
    )
    high = page.locator("svg.twigs").bounding_box()
    rings = [one.bounding_box() for one in page.locator(".ring").all()]
    assert rings
    assert all(
        high["y"] < one["y"] and one["y"] + one["height"] < high["y"] + high["height"]
        for one in rings
    )
    drawn = page.locator("path.edge[data-b]")
    edge = drawn.and_(page.locator("[data-a=hub][data-b=old]"))
    expect(edge).to_have_attribute("marker-end", "url(#twig-arrow)")
    assert float(edge.get_attribute("stroke-width") or 0) == pytest.approx(1 + 3 * 0.9)
    assert edge.get_attribute("stroke-dasharray") is None  # by hand
    like = [one for one in site.store.surroundings("hub").edges if one.made == "likeness"]
    assert drawn.and_(page.locator("[stroke-dasharray='1.5 5']")).count() == len(like)
    assert drawn.count() == len(site.store.surroundings("hub").edges)
    assert {"supersedes", "feeds on"} <= set(page.locator("text.kind").all_text_contents())
    page.get_by_text("As a table").click()
    old = page.get_by_role("row", name="wooden bridge")
    expect(old).to_contain_text("superseded by: market square (0.90, added manually)")
    mill = page.get_by_role("row").filter(
        has_text="feeds on: market square (0.70, added manually)"
    )
    expect(mill.get_by_role("link")).to_have_text(f"windmill {SCRIPT}")
    assert site.axe(page) == []
    mill.get_by_role("button").click()
    expect(page.get_by_role("dialog")).to_contain_text(SCRIPT)


def test_a_click_or_enter_walks_on_and_back_comes_back(site: Site):
    page = opened(site, "#/graph?id=hub")
    page.locator("[data-id=mill] a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"windmill {SCRIPT}")
    expect(page.locator("[data-id=far]")).to_be_attached()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("market square")
    page.locator(".middle a").focus()
    page.keyboard.press("ArrowRight")
    chosen = page.locator(".node:focus-within").get_attribute("data-id")
    assert chosen in {one.id for one in site.store.surroundings("hub").nodes[1:]}
    assert page.locator("path.lit").count() > 0
    page.keyboard.press("o")
    expect(page.get_by_role("dialog")).to_contain_text(site.store.get(chosen).text)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"id={chosen}$"))
    expect(page.locator(".middle a")).to_be_focused()
    page.keyboard.press("3")
    expect(page).to_have_url(re.compile(f"id={chosen}&depth=3$"))
    expect(page.get_by_role("button", name="3")).to_have_attribute("aria-pressed", "true")
    around = site.store.surroundings(chosen, depth=3).nodes
    expect(page.locator(".node")).to_have_count(len(around))


def cover(one: Box, other: Box) -> bool:
    """True where two boxes lie on each other."""
    beside = one["right"] <= other["left"] or other["right"] <= one["left"]
    return not beside and one["top"] < other["bottom"] and other["top"] < one["bottom"]


def test_fifty_around_one_do_not_cover_each_other_on_a_screen_or_a_phone(site: Site):
    page = opened(site, "#/graph?id=crowd")
    assert page.locator(".node").count() == 51
    expect(page.get_by_role("status").filter(has_text="not drawn")).to_contain_text("50 memories")
    for width in (1000, 360):
        page.set_viewport_size({"width": width, "height": 740})
        expect(
            page.locator(f"svg.twigs[width='{width - (34 if width > 640 else 18)}']")
        ).to_be_attached()
        boxes = page.evaluate(BOXES)
        assert len(boxes) == 51
        assert all(box["left"] >= 0 and box["right"] <= width for box in boxes)
        assert [pair for pair in combinations(boxes, 2) if cover(*pair)] == []
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_memory_is_found_by_typing_and_one_without_links_or_gone_is_explained(site: Site):
    page = site.open("#/graph")
    box = page.get_by_role("searchbox", name="Find a memory")
    expect(box).to_be_focused()
    site.forgive("422")
    box.fill("tea " * 25_000)
    expect(page.locator(".choices")).to_contain_text("at most 20,000 characters")
    box.fill("wooden brid")  # which was replaced
    expect(page.locator(".choices")).to_contain_text("wooden bridge")
    box.fill("")
    page.keyboard.type("lighthouse kee", delay=5)
    expect(page.locator(".choices a").first).to_have_text("lighthouse keeper")
    page.keyboard.press("Escape")
    expect(page.locator(".choices")).to_be_hidden()
    expect(box).not_to_be_focused()
    expect(box).to_have_value("lighthouse kee")
    page.keyboard.press("/")
    expect(page.locator(".choices a").first).to_have_text("lighthouse keeper")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("lighthouse keeper")
    expect(box).to_have_value("")
    page.keyboard.press("o")
    expect(page.get_by_role("dialog").locator(".stored")).to_have_text("lighthouse keeper")
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)  # it was about the page before
    page.go_forward()
    site.forgive("404")
    page.goto(site.url + "#/graph?id=nobody")
    expect(page.get_by_role("heading", level=1)).to_have_text("Memory not found")
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("lighthouse keeper")
    for one in site.store.surroundings("alone").edges:
        site.store.unlink(one.a, one.b)
    page.goto(site.url + "#/graph?id=alone")
    expect(page.locator(".notice")).to_contain_text("This memory has no links yet.")
