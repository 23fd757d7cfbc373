"""Searching by keys and by mouse: what is asked is in the address, what is found is marked and weighed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from browsing import Site
from fakes import BrokenEmbedder

COMMA = "drinks, hot"


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """A kitchen's worth of memories, one of them too long for a card."""
    add = _site.store.add
    aged = {"created_at": datetime.now(UTC) - timedelta(days=22)}
    add("Prefers green tea to coffee", id="tea", type="preference", topics=["drinks"], **aged)
    add("Descale the kettle", id="kettle", title="The kettle", type="task", topics=[COMMA])
    add("Green paint, emoji 😀😀 then teas", id="paint", namespace="home", source="/n/paint.md")
    add("Oolong tea. " * 300 + "The end of the book.", id="book", title="Teas", type="note")
    for n in range(25):
        add(f"Week {n} in the garden", id=f"week{n}", collection="diary", topics=["garden"])
    _site.store.pending(wait=True)
    return _site


def ids(page: Page) -> list[str]:
    """Return the memories that are shown, in order."""
    return page.locator("article.card").evaluate_all("all => all.map((one) => one.dataset.id)")


def answered(page: Page, text: str) -> None:
    """Wait until an answer begins with such a number of hits."""
    expect(page.locator(".outcome")).to_contain_text(text)
    expect(page.locator(".search-answer")).to_have_attribute("aria-busy", "false")


def test_typing_searches_and_keys_go_through_what_was_found(site: Site):
    page = site.open("#/search", color_scheme="dark")
    expect(page.locator("#q")).to_be_focused()
    page.locator("#q").press_sequentially("green teas", delay=5)
    answered(page, "10 hits in ")
    assert ids(page)[:2] == ["tea", "paint"]
    assert page.url.endswith("#/search?q=green+teas")
    marked = page.locator("article[data-id=paint] mark").all_inner_texts()
    assert marked == ["Green", "teas"]  # behind two emoji, which JavaScript counts as four
    assert page.locator("article[data-id=tea] mark").all_inner_texts() == ["green", "tea"]
    page.keyboard.press("ArrowDown")
    expect(page.locator("article[data-id=tea]")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("article[data-id=paint]")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    expect(page.locator("article.card").last).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("oolong")
    page.keyboard.press("Enter")
    answered(page, "hit")
    expect(page.locator("article.card").first).to_have_attribute("data-id", "book")
    assert site.axe(page) == []


def test_a_score_is_a_figure_and_a_share_of_the_best(site: Site):
    page = site.open("#/search?q=green+tea&limit=2")
    answered(page, "2 hits")
    first, second = (float(one) for one in page.locator(".figure").all_inner_texts())
    assert 1 >= first > second > 0
    widths = page.locator(".share > span").evaluate_all("all => all.map((one) => one.style.width)")
    assert widths[0] == "100%"
    assert float(widths[1].rstrip("%")) == pytest.approx(100 * second / first, abs=1)
    card = page.locator("article[data-id=paint]")
    expect(card.locator(".path")).to_have_text("/n/paint.md:1")
    expect(card.locator(".about")).to_contain_text("under home")
    assert "confidence 0.9" in page.locator(".outcome").inner_text()
    assert page.locator(".sure").inner_text().endswith(": high")


def test_what_is_asked_is_in_the_address_and_back_takes_it_back(site: Site):
    page = site.open("#/search?q=kettle")
    answered(page, "hit")
    page.locator("article[data-id=kettle]").get_by_role("button", name=COMMA).click()
    answered(page, "1 hit")
    assert page.url.endswith("#/search?q=kettle&topics=drinks%2C+hot")  # one topic, not two
    expect(page.locator(".narrowing .active")).to_have_text("(1 on)")
    page.get_by_label("Profile").select_option("gnosis")
    expect(page.locator(".figure")).to_have_text("48 unread")
    assert page.locator("#mode option").all_inner_texts() == ["usual", "standard", "deep"]
    page.go_back()
    expect(page.locator("#profile")).to_have_value("")
    page.get_by_role("button", name=f"Remove Topics: {COMMA}").click()
    answered(page, "10 hits")
    page.locator("details.narrowing > summary").click()
    page.get_by_label("Types").fill("preference\ntask")
    page.get_by_label("Least score").click()
    answered(page, "2 hits")
    page.get_by_role("textbox", name="Numbers of the stages").fill("rrf.k")
    page.get_by_label("Least score").click()
    expect(page.get_by_role("alert")).to_have_text(
        "“rrf.k” is no number of a stage; write it as rrf.k=30."
    )
    page.get_by_role("textbox", name="Numbers of the stages").fill("rrf.k=30")
    page.get_by_label("Least score").click()
    answered(page, "2 hits")
    assert page.evaluate("new URLSearchParams(location.hash.split('?')[1]).getAll('types')") == [
        "preference",
        "task",
    ]


def test_an_old_answer_never_comes_over_a_new_one(site: Site):
    page = site.open("#/search?q=kettle")
    answered(page, "hit")
    held: list[Route] = []
    page.route(
        "**/v1/search",
        lambda one: held.append(one) if "slow" in one.request.post_data else one.continue_(),
    )
    page.fill("#q", "slow green tea")
    expect(page.locator(".search-answer")).to_have_attribute("aria-busy", "true")
    assert ids(page)[0] == "kettle"  # stays, dimmed, and says so
    page.fill("#q", "oolong")
    answered(page, "hit")
    assert ids(page)[0] == "book"
    for one in held:
        one.abort()
    assert page.url.endswith("q=oolong")


def test_what_was_typed_last_does_not_follow_into_the_next_view(site: Site):
    page = site.open("#/search?q=tea")
    answered(page, "hits")
    page.clock.install()
    page.locator("#q").press("s")
    page.evaluate("location.hash = '#/map'")
    page.clock.run_for(1000)
    expect(page.get_by_role("searchbox", name="Query")).to_be_visible()
    assert page.url.endswith("#/map")


def test_a_query_of_100_kb_is_refused_in_words_and_stays_in_the_box(site: Site):
    site.forgive("422")  # Chromium writes it to the console
    page = site.open("#/search")
    expect(page.locator(".overview")).to_be_visible()
    page.fill("#q", "tea " * 25_000)
    expect(page.get_by_role("alert")).to_contain_text("at most 20,000 characters")
    assert len(page.input_value("#q")) == 100_000
    page.fill("#q", "green tea")
    answered(page, "hit")


def test_nothing_found_says_what_to_try(site: Site):
    page = site.open("#/search?q=garde+xyzzy&mode=keyword&types=task")
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    tries = page.locator(".nothing").inner_text()
    assert "Types: task" in tries
    assert "garden 25" in tries
    assert "drinks" not in tries  # no beginning in common
    page.locator(".nothing").get_by_role("button", name="garden").click()
    expect(page.get_by_role("heading", name="Newest that fit the filters")).to_be_visible()
    expect(page.locator(".search-answer")).to_contain_text("Nothing stored fits the filters.")
    page.get_by_role("button", name="Remove Types: task").click()
    expect(page.locator("article.card")).to_have_count(20)


def test_without_a_query_it_shows_what_is_stored(site: Site):
    page = site.open("#/search")
    expect(page.locator("article.card")).to_have_count(20)
    assert ids(page)[0] == "week24"
    assert "29 memories" in page.locator("aside").inner_text()
    page.get_by_role("button", name="More").evaluate("one => { one.click(); one.click(); }")
    expect(page.locator("article.card")).to_have_count(29)
    expect(page.get_by_role("button", name="More")).to_have_count(0)
    expect(page.locator("article[data-id=week4]")).to_be_focused()
    page.locator("aside").get_by_role("button", name="drinks, hot").click()
    expect(page.locator("article.card")).to_have_count(1)
    assert ids(page) == ["kettle"]
    assert site.axe(page) == []


def test_how_and_why_are_shown_by_keys(site: Site):
    page = site.open("#/search?q=tea&limit=2")
    answered(page, "2 hits")
    expect(page.locator("article[data-id=tea] time")).to_have_text("3 weeks ago")
    page.keyboard.press("w")
    expect(page.locator(".answer .waterfall")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("y")
    expect(page.locator("article.card .sum")).to_have_count(1)
    page.keyboard.press("w")
    expect(page.locator(".answer .waterfall")).to_have_count(0)
    page.locator("article.card").nth(1).get_by_text("Why").click()
    expect(page.locator("article.card .sum")).to_have_count(2)


def test_it_works_on_a_phone(site: Site):
    page = site.open(
        "#/search?q=green+tea", viewport={"width": 360, "height": 740}, has_touch=True
    )
    answered(page, "hits")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    expect(page.locator(".lists").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("article[data-id=tea] h3 a").tap()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert page.get_by_role("dialog").bounding_box()["width"] <= 360
    page.get_by_role("button", name="Close").tap()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(site.url + "#/search?q=green+tea")


def test_without_a_model_it_finds_by_word_and_says_so(site: Site, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(site.embedder, "embed", BrokenEmbedder().embed)
    page = site.open("#/search?q=oolong+submarine+volcano+xylophone")
    expect(page.locator(".answer .said")).to_contain_text("the broken model does not answer")
    assert ids(page) == ["book"]
    expect(page.locator(".sure")).to_contain_text("low: it may not be stored, or in other words")
