"""Map view by mouse, keyboard and touch: drawing, opening, and the position of a query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from browsing import Site
from fakes import HashingEmbedder
from playwright.sync_api import Browser, Page, expect

import scrubjay
from scrubjay.errors import Unavailable

SIZE = {"width": 1000, "height": 800}
WORDS = "tea kettle rocket fuel car garden rose river bread oven train ticket piano chess wool ink"
SEEN = """async ([points, id]) => {
  const { Plane } = await import("/ui/map/plane.js");
  const [plane, canvas] = [new Plane(), document.querySelector("canvas")];
  plane.settle(points);
  plane.resize(canvas.clientWidth, canvas.clientHeight);
  plane.look(new URLSearchParams(location.hash.split("?")[1]).get("at"));
  const point = points.find((one) => one.id === id);
  return plane.toScreen(point.x, point.y);
}"""
PIXEL = """([x, y]) => {
  const canvas = document.querySelector("canvas");
  const ratio = canvas.width / canvas.clientWidth;
  return [...canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data.slice(0, 3)];
}"""
COLOUR = """(name) => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(${name})`;
  const found = getComputedStyle(probe).color.match(/\\d+/g).slice(0, 3).map(Number);
  probe.remove();
  return found;
}"""


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """Three subjects, of several types and ages; two of the roses say the same."""
    now = datetime.now(UTC)
    add = _site.store.add
    own = "amber birch cedar delta ember flint grove".split()
    for n in range(6):
        made: Any = {"created_at": now - timedelta(days=20 * n)}
        kettle = f"kettle boils {own[n]} {own[n + 1]} {n}a {n}b"
        add(kettle, id=f"kettle{n}", topics=["kitchen"], **made)
        rocket = f"rocket fuel {own[n]} {n}c {n}d {n}e"
        add(rocket, id=f"rocket{n}", topics=["space"], type="note", **made)
    add("roses need pruning in spring", id="rose0", title="Roses 0")
    add("roses need pruning autumn bed1", id="rose1", title="Roses 1")
    add("roses need pruning autumn bed2", id="rose2", title="Roses 2")
    _site.store.pending(wait=True)
    return _site


def opened(site: Site, path: str = "#/map", **options: Any) -> Page:
    """Open the map, and wait until it is drawn."""
    page = site.open(path, **{"viewport": SIZE} | options)
    expect(page.locator(".legend li").first).to_be_visible()
    return page


def place(page: Page, site: Site, id: str) -> tuple[float, float]:
    """Return where a memory is on the canvas now, in pixels."""
    points = [{"id": one.id, "x": one.x, "y": one.y} for one in site.store.map().points]
    x, y = page.evaluate(SEEN, [points, id])
    return x, y


def pixel(page: Page, at: tuple[float, float]) -> list[int]:
    """Return the colour that is drawn there."""
    page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    found: list[int] = page.evaluate(PIXEL, at)
    return found


def on_page(page: Page, at: tuple[float, float]) -> tuple[float, float]:
    """Return a place of the canvas as a place of the page."""
    box = page.locator("canvas").bounding_box()
    assert box is not None
    return box["x"] + at[0], box["y"] + at[1]


def legend(page: Page) -> list[str]:
    """Return the entries of the legend with their counts."""
    return [" ".join(one.split()) for one in page.locator(".legend .entry").all_inner_texts()]


def test_points_have_the_colour_of_their_topic_type_or_age_in_light_and_dark(site: Site):
    page = opened(site, color_scheme="light")
    expect(page.locator(".standing")).to_have_text("15 memories drawn. ")  # too few to be judged
    expect(page.locator("aside h2").last).to_have_text("By first topic")
    assert legend(page) == ["kitchen 6", "space 6", "no topic 3"]
    kettle, rocket = place(page, site, "kettle0"), place(page, site, "rocket0")
    light = [page.evaluate(COLOUR, name) for name in ("--c1", "--c2")]
    assert [pixel(page, kettle), pixel(page, rocket)] == light
    page.emulate_media(color_scheme="dark")
    dark = [page.evaluate(COLOUR, name) for name in ("--c1", "--c2")]
    assert [pixel(page, kettle), pixel(page, rocket)] == dark != light
    page.keyboard.press("t")  # from what the system says to light
    assert pixel(page, kettle) == light[0]
    assert site.axe(page) == []
    page.keyboard.press("c")
    expect(page).to_have_url(re.compile("#/map.by=type$"))
    expect(page.locator(".legend")).to_contain_text("fact")
    assert legend(page) == ["fact 9", "note 6"]
    page.get_by_role("button", name="Age").click()
    expect(page.locator(".legend")).to_contain_text("the last day")
    assert legend(page) == [
        "the last day 5",
        "the last month 2",
        "the last quarter 6",
        "the last year 2",
    ]
    page.go_back()
    page.go_back()
    expect(page.locator(".legend")).to_contain_text("kitchen")


def test_pointing_names_a_memory_and_a_click_opens_it(site: Site):
    page = opened(site)
    page.mouse.move(*on_page(page, place(page, site, "rose0")))
    expect(page.locator(".tip strong")).to_have_text("Roses 0")
    page.mouse.click(*on_page(page, place(page, site, "rocket2")))
    expect(page.get_by_role("dialog")).to_contain_text("rocket fuel cedar")
    expect(page).to_have_url(re.compile("#/map.id=rocket2$"))
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("#/map$"))
    page.go_forward()
    expect(page.get_by_role("dialog")).to_contain_text("rocket fuel cedar")
    page.get_by_role("dialog").get_by_role("button", name="Close").focus()
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".under")).to_contain_text("rocket fuel cedar")
    expect(page.get_by_role("link", name="Links")).to_have_attribute("href", "#/graph?id=rocket2")
    page.mouse.click(*on_page(page, place(page, site, "rose2")))
    here = page.get_by_role("region", name="At this position").get_by_role("button")
    expect(here).to_contain_text(["Roses 1", "Roses 2"])
    expect(here.first).to_be_focused()
    here.last.click()
    expect(page.get_by_role("dialog")).to_contain_text("autumn bed2")
    page.reload()  # what is open is in the address, and closing it there leaves the map
    expect(page.get_by_role("dialog")).to_contain_text("autumn bed2")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("#/map$"))


def test_dragging_moves_and_the_wheel_zooms_and_the_address_keeps_it(site: Site):
    page = opened(site)
    before = place(page, site, "rose0")
    page.mouse.move(*on_page(page, (60, 60)))
    page.mouse.down()
    page.mouse.move(*on_page(page, (100, 90)))
    page.mouse.up()
    page.wait_for_url("**at=*")
    after = place(page, site, "rose0")
    assert after == pytest.approx((before[0] + 40, before[1] + 30), abs=2)
    page.mouse.move(*on_page(page, after))
    page.mouse.wheel(0, -700)
    page.wait_for_url("**4.06")
    assert place(page, site, "rose0") == pytest.approx(after, abs=4)  # what is pointed at stays
    again = opened(site, page.url.removeprefix(site.url))
    again.mouse.click(*on_page(again, after))
    expect(again.get_by_role("dialog")).to_contain_text("roses need pruning in spring")
    page.get_by_role("button", name="Show all").click()
    page.wait_for_url(re.compile("#/map$"))
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_url("**1.40")


def test_keys_go_from_point_to_point(site: Site):
    page = opened(site)
    page.keyboard.press("m")
    expect(page.get_by_role("application", name="Map of the memories")).to_be_focused()
    page.keyboard.press("ArrowRight")
    said = page.locator(".under [aria-live=polite] strong")
    seen = {said.inner_text()}
    for key in ["ArrowUp"] * 4 + ["ArrowDown"] * 12 + ["ArrowLeft"] * 4 + ["ArrowUp"] * 8:
        page.keyboard.press(key)
        seen.add(said.inner_text())
    assert seen >= {"Roses 1", "Roses 2"}, "two on one spot are both reached"
    assert len(seen) > 6
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text(said.inner_text())
    page.keyboard.press("Escape")
    expect(page.locator("canvas")).to_be_focused()
    page.keyboard.press("+")
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_url("**1.40")
    page.keyboard.press("0")
    page.wait_for_url(re.compile("#/map$"))
    page.keyboard.press("Escape")
    expect(page.locator(".under strong")).to_have_count(0)


def test_a_query_lands_among_what_is_nearest(site: Site):
    page = opened(site)
    page.keyboard.press("/")
    page.keyboard.type("boils kettle delta ember", delay=5)
    page.keyboard.press("Escape")  # out of the box; the query stays
    expect(page.get_by_role("searchbox")).to_have_value("boils kettle delta ember")
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    near = page.locator("ol.listed li")
    expect(near).to_have_count(10)
    expect(near.first).to_contain_text("kettle boils delta ember")
    expect(page).to_have_url(re.compile("q=boils.kettle.delta.ember$"))
    landed = site.store.map(query="boils kettle delta ember").landing
    assert landed is not None
    assert landed.nearest[0] == "kettle3"
    assert near.nth(1).inner_text().startswith("kettle boils ")
    near.first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("kettle boils delta ember")
    page.keyboard.press("Escape")
    page.get_by_role("searchbox").fill("?!")
    expect(page.locator(".notice")).to_have_text(
        "The query has no place on the map: it contains no word"
    )
    page.get_by_role("searchbox").fill("")
    expect(page.locator(".notice")).to_have_count(0)
    expect(near).to_have_count(0)


SAID = """async () => {
  const { drawCoverage } = await import("/ui/map/sidebar.js");
  const line = document.createElement("p");
  drawCoverage(line, { memories: 52000, left_out: 2, kept: 0.336 }, 10000);
  return line.textContent;
}"""


def test_the_legend_hides_groups_and_filters_narrow_what_is_asked(site: Site):
    page = opened(site)
    kettle = place(page, site, "kettle0")
    ground = page.evaluate(COLOUR, "--sheet")
    assert pixel(page, kettle) != ground
    page.get_by_role("switch", name="kitchen").press("Space")
    expect(page.get_by_role("switch", name="kitchen")).not_to_be_checked()
    expect(page.get_by_role("switch", name="kitchen")).to_be_focused()
    assert pixel(page, kettle) == ground
    page.get_by_role("button", name="Only space").click()
    page.get_by_text("In view").click()
    expect(page.locator("aside details li")).to_have_count(6)
    page.get_by_role("button", name="Show all groups").click()
    expect(page.locator("aside details li")).to_have_count(15)
    page.get_by_text("Filters").click()
    page.get_by_label("Topics").select_option("space")
    expect(page.locator(".standing")).to_contain_text("6 memories drawn.")
    page.get_by_label("Types").select_option("fact")
    expect(page.locator(".notice")).to_contain_text("No memory matches these filters.")
    page.get_by_role("button", name="Remove filter space").click()
    expect(page.locator(".standing")).to_contain_text("9 memories drawn.")
    assert page.url.endswith("#/map?types=fact")
    assert page.evaluate(SAID) == (
        "10,000 of 52,000 memories drawn (a sample). 2 are not embedded yet and not drawn. "
        "Close points are similar memories. Accuracy: "
        "of each memory's ten nearest, 34 % are among the fifty points nearest to it."
    )


def test_two_fingers_zoom_and_a_second_tap_opens(site: Site):
    page = opened(site, has_touch=True, is_mobile=True, viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    at = on_page(page, place(page, site, "kettle0"))
    page.touchscreen.tap(*at)
    expect(page.locator(".tip strong")).to_have_text("kettle boils amber birch 0a 0b")
    assert page.get_by_role("dialog").count() == 0
    page.touchscreen.tap(*at)
    expect(page.get_by_role("dialog")).to_contain_text("kettle boils amber birch 0a 0b")
    page.get_by_role("dialog").get_by_role("button", name="Close").tap()
    touch = page.context.new_cdp_session(page)
    x, y = on_page(page, (150, 150))
    for kind, apart in (("touchStart", 20), ("touchMove", 30), ("touchMove", 60), ("touchEnd", 0)):
        fingers = [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        shown = [] if kind == "touchEnd" else fingers
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": shown})
    page.wait_for_url("**at=*")
    assert float(page.url.split("%2C")[-1]) == pytest.approx(3, rel=0.05)
    assert page.get_by_role("dialog").count() == 0


class Gone(HashingEmbedder):
    """The model of before, whose server does not answer now."""

    def embed(self, *_: Any, **__: Any) -> Any:
        """Fail."""
        raise Unavailable("the model does not answer; start it")


def test_a_page_that_is_open_sees_what_changed_and_says_what_is_missing(site: Site):
    page = opened(site)
    site.store.forget("rose2")
    page.get_by_role("searchbox").fill("rocket")
    expect(page.locator(".standing")).to_contain_text("14 memories drawn.")
    page.wait_for_url("**q=rocket")
    site.forgive("422")
    page.get_by_role("searchbox").fill("rocket " * 15_000)
    expect(page.locator(".notice")).to_contain_text("at most 20,000 characters")
    expect(page.get_by_role("searchbox")).to_have_value("rocket " * 15_000)
    page.get_by_role("searchbox").fill("rocket")
    expect(page.locator(".notice")).to_have_count(0)
    page.wait_for_url("**q=rocket")
    before = site.embedder
    try:
        serve_with(site, Gone(meanings=before._meanings))
        with scrubjay.open(site.db, embedder=False) as other:
            other.add("has no vector yet")
        page.reload()
        expect(page.locator(".notice")).to_contain_text("The query has no place on the map: ")
        expect(page.locator(".standing")).to_contain_text(
            "14 memories drawn. 1 is not embedded yet and not drawn."
        )
        serve_with(site, False)
        site.forgive("503")
        page.reload()
        expect(page.locator(".notice")).to_contain_text(
            "No map can be drawn: there is no embedder"
        )
        link = page.get_by_role("link", name="Search by keyword instead")
        expect(link).to_have_attribute("href", "#/search?q=rocket")
    finally:
        serve_with(site, before)


def serve_with(site: Site, embedder: Any) -> None:
    """Let a server with another model take the place of the one that runs."""
    site.stop()
    site.embedder = embedder
    site.start()


@pytest.fixture(scope="module")
def large(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """10,000 memories with their vectors."""
    one = Site(browser, tmp_path_factory.mktemp("large") / "notes.db")
    word = WORDS.split()
    one.store.add_many(
        {"id": f"m{n}", "text": f"{word[n % 16]} {word[n // 16 % 16]} {word[n // 256 % 16]} number {n}",
         "topics": [word[n % 16]]}
        for n in range(10_000)
    )  # fmt: skip
    one.store.pending(wait=True)
    yield one
    one.close()


FRAMES = """async () => {
  const { Painter } = await import("/ui/map/paint.js");
  const [paint, took] = [Painter.prototype.paint, []];
  Painter.prototype.paint = function (given) {
    const began = performance.now();
    paint.call(this, given);
    this.context.getImageData(0, 0, 1, 1);
    took.push(performance.now() - began);
  };
  const canvas = document.querySelector("canvas");
  const at = (type, clientX) => {
    canvas.dispatchEvent(new PointerEvent(type, { pointerId: 9, clientX, clientY: 300 }));
  };
  at("pointerdown", 200);
  for (let x = 220; x < 280; x += 4) {
    at("pointermove", x);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
  at("pointerup", 280);
  Painter.prototype.paint = paint;
  return Math.min(...took); // the least: others are at work on the machine
}"""


def test_ten_thousand_memories_are_drawn_moved_and_opened(large: Site):
    page = large.open("#/search", viewport=SIZE)
    with page.expect_response("**/v1/map", timeout=60_000) as answer:
        page.get_by_role("link", name="Map").click()
    points = answer.value.json()["points"]
    expect(page.locator(".standing")).to_contain_text("10,000 memories drawn.")
    assert legend(page)[-1] == "9 other topics 5,625"
    assert page.evaluate(FRAMES) < 16  # ms, what a screen of 60 Hz leaves
    piled = Counter((one["x"], one["y"]) for one in points)
    wanted = next(one["id"] for one in points if piled[one["x"], one["y"]] == 1)
    page.mouse.move(*on_page(page, page.evaluate(SEEN, [points, wanted])))
    for _ in range(3):
        page.mouse.wheel(0, -700)
    page.wait_for_url("**60.00")
    page.mouse.click(*on_page(page, page.evaluate(SEEN, [points, wanted])))
    expect(page.get_by_role("dialog")).to_contain_text(f"number {wanted[1:]}")
    large.settle()
