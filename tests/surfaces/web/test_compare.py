"""One query in two ways, side by side."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

import pytest
from browsing import Site
from playwright.sync_api import Page, Route, expect

ASKED = "#/compare?q=harbour+mondays&a=default:keyword&b=default:vector"
LINES = """() => [...document.querySelectorAll(".line")].map((one) => {
  const middle = (side) => {
    const hit = document.querySelector(`.hit[data-side=${side}][data-id="${one.dataset.id}"]`);
    const box = hit.getBoundingClientRect();
    return box.top + box.height / 2;
  };
  const path = one.querySelector("path"), box = path.ownerSVGElement.getBoundingClientRect();
  const [from, to] = [0, path.getTotalLength()].map((at) => path.getPointAtLength(at).y + box.top);
  const off = Math.max(Math.abs(from - middle("a")), Math.abs(to - middle("b")));
  return {id: one.dataset.id, off};
})"""


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """Texts that words and vectors put into different orders."""
    texts = {
        "one": "harbour",
        "two": "the harbour is open on mondays and on no other day of the week, they say",
        "three": "mondays, mondays: nothing but mondays at the harbour",
        "four": "a boat in the harbour of a town with a long name and many houses in it",
        "five": "on mondays the shop is closed",
        "six": "automobile <script>alert(1)</script> harbour",
    }
    _site.store.add_many({"text": text, "id": id} for id, text in texts.items())
    _site.store.pending()
    return _site


def ids(page: Page, side: str) -> list[str]:
    hits = page.locator(f".hit[data-side={side}]")
    return hits.evaluate_all("all => all.map((one) => one.dataset.id)")


def ranks(site: Site, mode: str, **more: Any) -> list[str]:
    found = site.store.search("harbour mondays", mode=mode, limit=10, **more)
    return [hit.id for hit in found]


def address(page: Page) -> dict[str, list[str]]:
    return parse_qs(page.url.partition("?")[2])


def settled(page: Page) -> None:
    expect(page.locator(".found")).to_have_attribute("aria-busy", "false")


def test_two_columns_say_who_moved_and_lines_join_them(site: Site):
    """Each side is what a search of its own gives; signs, words, lines and figures fit the ranks."""
    page = site.open(ASKED, viewport={"width": 1100, "height": 900})
    settled(page)

    left, right = ranks(site, "keyword"), ranks(site, "vector")
    assert (ids(page, "a"), ids(page, "b")) == (left, right)
    assert left != right
    for id in right:
        moved = left.index(id) - right.index(id) if id in left else None
        sign = {None: "only here", 0: "="}.get(
            moved
        ) or f"{'▲' if moved > 0 else '▼'} {abs(moved)}"
        badge = page.locator(f".hit[data-side=b][data-id={id}] .badge [aria-hidden]")
        assert badge.inner_text() == sign
    name = page.locator(f".hit[data-side=b][data-id={right[0]}]").inner_text()
    was = left.index(right[0]) + 1
    assert (f"up {was - 1}, from rank {was} to 1" if was > 1 else "rank 1 on both sides") in name
    common = set(left) & set(right)
    lines = page.evaluate(LINES)
    assert {one["id"] for one in lines} == common
    assert max(one["off"] for one in lines) < 2
    assert (
        f"{len(common)} of {max(len(left), len(right))}" in page.locator(".likeness").inner_text()
    )
    page.locator(".hit[data-side=a][data-id=two]").hover()
    lit = page.locator(".hit.lit:visible, .line.lit").all()
    assert [one.get_attribute("data-id") for one in lit] == ["two"] * 3
    assert site.axe(page) == []

    page.set_viewport_size({"width": 800, "height": 700})
    page.wait_for_function(f"({LINES})().every((one) => one.off < 2)")
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.locator(".side .hits").first.is_hidden()
    rows = page.locator(".merged .hit:visible")
    assert rows.count() == len(set(left) | set(right))
    both = page.locator(f".merged .hit[data-id={right[0]}] .ranks").inner_text().split()
    assert [both[1], both[-1]] == [str(was), "1"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert site.axe(page) == []


def test_it_goes_by_keys_and_by_address(site: Site):
    """j, k, h, l and Enter; the focus lights the twin; swapping and settings are in the address."""
    page = site.open(ASKED, permissions=["clipboard-read", "clipboard-write"])
    says = "export const openMemory = async (id) => { globalThis.shown = id; };"
    page.route(
        "**/ui/memory/memory.js",
        lambda one: one.fulfill(body=says, content_type="text/javascript"),
    )
    page.reload()
    settled(page)

    left, right = ids(page, "a"), ids(page, "b")
    page.locator("body").focus()
    for key in "jjkjl":
        page.keyboard.press(key)
    focused = "[document.activeElement.dataset.side, document.activeElement.dataset.id]"
    assert page.evaluate(focused) == ["b", left[1]]
    lit = page.locator(".hit.lit:visible, .line.lit")
    assert {one.get_attribute("data-id") for one in lit.all()} == {left[1]}
    assert lit.count() == 3
    page.keyboard.press("Enter")
    assert page.evaluate("globalThis.shown") == left[1]
    page.keyboard.press("h")
    assert page.evaluate(focused) == ["a", left[1]]
    page.keyboard.press("y")
    why = page.get_by_role("dialog").locator("h3")
    rank = right.index(left[1]) + 1
    expect(why.and_(page.get_by_text("Left:"))).to_have_text(
        f"Left: default:keyword, rank 2 of {len(left)}"
    )
    expect(why.and_(page.get_by_text("Right:"))).to_have_text(
        f"Right: default:vector, rank {rank} of {len(right)}"
    )
    expect(page.locator("dialog .found-by").first).to_contain_text(
        f"Found by its words (2nd of {len(left)})"
    )
    expect(page.locator("dialog .found-by").last).to_contain_text("Found by its meaning (")
    assert site.axe(page) == []
    page.keyboard.press("Escape")
    assert page.evaluate(focused) == ["a", left[1]]

    page.get_by_role("button", name="Swap the sides").click()
    expect(page.get_by_role("heading", name="Left: default:vector")).to_be_visible()
    settled(page)
    assert address(page)["a"] == ["default:vector"]
    assert (ids(page, "a"), ids(page, "b")) == (right, left)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url

    more = page.get_by_label("Right: change a setting")
    more.fill("at_least.score=0.7, weigh.least={keyword=0.9}")
    more.press("Enter")
    expect(page.locator("h2 .chip").first).to_have_text("at_least.score=0.7")
    assert address(page)["bset"] == ["at_least.score=0.7", "weigh.least={keyword=0.9}"]
    settled(page)
    assert ids(page, "b") == ranks(
        site,
        "keyword",
        overrides={"at_least": {"score": 0.7}, "weigh": {"least": {"keyword": 0.9}}},
    )
    assert 0 < len(ids(page, "b")) < len(left)
    onward = page.locator(".side[data-side=b]").get_by_role("link", name="Search with this")
    assert parse_qs((onward.get_attribute("href") or "").partition("?")[2])["overrides"] == [
        "at_least.score=0.7",
        'weigh.least={"keyword":0.9}',
    ]
    offered = page.locator("fieldset[data-side=b] option").evaluate_all(
        "all => all.map((one) => one.value)"
    )
    assert {"weigh.weights={keyword=1}", "rrf.k=60"} & set(offered)
    more.fill("weigh.weights.keyword=0.9")
    more.press("Enter")
    chip = page.locator("h2 .chip").last
    expect(chip).to_contain_text("weigh.weights={keyword=0.9")
    settled(page)
    assert page.get_by_role("alert").filter(has_text="This search failed").count() == 0


def test_choosing_before_asking_keeps_the_focus(site: Site):
    page = site.open("#/compare")
    expect(page.get_by_role("searchbox", name="Query")).to_be_focused()
    way = page.locator("fieldset[data-side=a] select")
    expect(way.locator("option[value=gno]")).to_have_count(1)
    way.focus()
    way.select_option("gno")
    expect(page).to_have_url(re.compile("a=gno"))
    expect(way).to_have_value("gno")
    expect(way).to_be_focused()


def test_what_was_found_stays_until_the_next_is_there(site: Site):
    page = site.open(ASKED)
    settled(page)
    before = ids(page, "a"), ids(page, "b")
    page.evaluate("() => { window.stood = document.querySelector('.hit') }")
    held: dict[str, Route] = {}
    page.route("**/v1/search", lambda one: held.update({one.request.post_data_json["mode"]: one}))
    page.get_by_label("Query").fill("automobile")
    expect(page.locator(".found.former")).to_have_attribute("aria-busy", "true")
    while len(held) < 2:
        page.wait_for_timeout(50)
    page.wait_for_timeout(1_000)  # longer than one side is waited for
    assert (ids(page, "a"), ids(page, "b")) == before
    assert page.evaluate("() => window.stood.isConnected")

    held["keyword"].continue_()
    expect(page.locator("[data-side=b]").get_by_text("Searching…")).to_be_visible()
    expect(page.locator(".found")).not_to_have_class(re.compile("former"))
    assert ids(page, "a") == ["six"]
    held["vector"].continue_()
    settled(page)
    assert ids(page, "b")[0] == "six"


def test_one_side_may_be_wrong(site: Site):
    """A setting that is not there is said in its column; the other answers; taking it away mends it."""
    page = site.open(f"{ASKED}&aset=fan_out.times%3D2&aset=rrf.kk%3D3&limit=3")
    expect(page.get_by_role("alert").filter(has_text="no number 'kk'")).to_be_visible()
    settled(page)
    assert (ids(page, "a"), len(ids(page, "b"))) == ([], 3)
    assert page.locator(".likeness").inner_text() == ""
    errors = site.pages[-1][1]
    assert all("422" in one for one in errors)  # Chromium logs what the column says
    errors.clear()

    expect(page.get_by_role("alert").last).to_contain_text(
        "weigh.weights={keyword=0.9, vector=0.5}"
    )
    expect(page.locator(".refused")).to_have_text("rrf.kk=3 ✕")
    page.get_by_role("button", name="Remove rrf.kk=3, which was refused").click()
    expect(page.locator(".line").first).to_be_attached()
    assert address(page)["aset"] == ["fan_out.times=2"]
    expect(page.locator(".refused")).to_have_count(0)
    page.get_by_text("Filters").click()
    page.get_by_label("Types").select_option("fact")
    expect(page.get_by_role("button", name="Remove types: fact")).to_be_visible()
    assert address(page)["types"] == ["fact"]
    page.get_by_label("Query").fill("automobile")
    page.get_by_label("Query").press("Escape")
    expect(page.get_by_label("Query")).to_have_value("automobile")
    expect(page.get_by_label("Query")).not_to_be_focused()
    expect(page.locator(".hit[data-side=a]")).to_have_count(1)
    assert address(page)["q"] == ["automobile"]
    assert "<script>alert(1)</script>" in page.locator(".hit[data-side=a]").inner_text()
    page.get_by_label("Query").fill("")
    expect(page.get_by_text("Type a query above.")).to_be_visible()
