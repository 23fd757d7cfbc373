"""Search view by keyboard and mouse: the query is in the address, hits are highlighted and scored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from browsing import Site
from fakes import BrokenEmbedder
from playwright.sync_api import Page, Route, expect

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
    said = [("user", "Where do we meet?"), ("assistant", "At the bridge."), ("user", "At noon.")]
    _site.store.add_messages(
        [{"role": role, "text": text, "at": aged["created_at"]} for role, text in said],
        session="plans",
    )
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


def test_a_score_is_a_figure_and_a_bar_that_is_full_at_one(site: Site):
    page = site.open("#/search?q=green+tea&limit=2")
    answered(page, "2 hits")
    first, second = (float(one) for one in page.locator(".figure").all_inner_texts())
    assert 1 >= first > second > 0
    widths = page.locator(".share > span").evaluate_all("all => all.map((one) => one.style.width)")
    assert [float(one.rstrip("%")) for one in widths] == pytest.approx(
        [100 * first, 100 * second], abs=0.1
    )
    card = page.locator("article[data-id=paint]")
    expect(card.locator(".path")).to_have_text("/n/paint.md:1")
    expect(card.locator(".about")).to_contain_text("under home")
    assert "(confidence 0." in page.locator(".sure").inner_text()


def test_what_is_asked_is_in_the_address_and_back_takes_it_back(site: Site):
    page = site.open("#/search?q=kettle")
    answered(page, "hit")
    page.locator("article[data-id=kettle]").get_by_role("button", name=COMMA).click()
    answered(page, "1 hit")
    assert page.url.endswith("#/search?q=kettle&topics=drinks%2C+hot")  # one topic, not two
    expect(page.locator(".narrowing .active")).to_have_text("(1 on)")
    assert page.locator("#limit option:checked").inner_text() == "10"
    expect(page.locator("#profile option:checked")).to_have_text("default (default of the store)")
    page.get_by_label("Profile").select_option("gnosis")
    expect(page.locator(".figure")).to_have_text("48 unread")
    assert page.locator("#mode option").all_inner_texts() == ["default", "standard", "deep"]
    assert page.locator("#limit option:checked").inner_text() == "32"  # as gnosis has it
    compare = page.get_by_role("link", name="Compare", exact=True).last
    expect(compare).to_have_attribute(
        "href", "#/compare?q=kettle&a=gnosis&b=gno&topics=drinks%2C+hot"
    )
    page.go_back()
    expect(page.locator("#profile")).to_have_value("")
    page.get_by_role("button", name=f"Remove Topics: {COMMA}").click()
    answered(page, "10 hits")
    page.locator("details.narrowing > summary").click()
    expect(page.locator("datalist option[value=plans]")).to_have_count(1)
    types = page.get_by_role("combobox", name="Types")
    types.fill("preference")
    types.press("Enter")
    answered(page, "1 hit")
    expect(types).to_have_value("")  # and a chip says it
    page.keyboard.type("task")
    page.keyboard.press("Enter")
    answered(page, "2 hits")
    settings = page.get_by_role("combobox", name="Settings")
    settings.fill("rrf.k")
    settings.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(
        "“rrf.k” is not a setting; write it as rrf.k=30."
    )
    page.get_by_role("button", name="Remove Settings: rrf.k").click()
    settings.fill("rrf.k=30, rerank=false")
    settings.press("Enter")
    expect(page.get_by_role("button", name="Remove Settings: rerank=false")).to_be_visible()
    answered(page, "2 hits")
    assert page.evaluate("new URLSearchParams(location.hash.split('?')[1]).getAll('types')") == [
        "preference",
        "task",
    ]
    said = [
        "rrf.k=30",
        "weights.keyword=1",
        "weights.title=2",
        "boost={title=2, text=1}",
        "x=word",
    ]
    read = "async (said) => (await import('/ui/app/settings.js')).parseSettings(said)"
    assert page.evaluate(read, said) == {
        "overrides": {"rrf.k": 30, "boost": {"title": 2, "text": 1}, "x": "word"},
        "weights": {"keyword": 1, "title": 2},
    }


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
    expect(page.locator(".old")).to_have_text("For: kettle")
    page.fill("#q", "oolong")
    answered(page, "hit")
    assert ids(page)[0] == "book"
    for one in held:
        one.abort()
    assert page.url.endswith("q=oolong")
    expect(page.locator(".old")).to_be_hidden()
    # As when the server comes back: the address, which is a little behind, is not written into the box.
    page.evaluate("""() => {
        const box = document.getElementById("q");
        box.value = "kettle";
        box.dispatchEvent(new InputEvent("input", {bubbles: true}));
        window.dispatchEvent(new HashChangeEvent("hashchange"));
    }""")
    expect(page.locator("article.card").first).to_have_attribute("data-id", "kettle")
    assert page.input_value("#q") == "kettle"
    assert page.url.endswith("q=kettle")


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
    expect(page.get_by_role("heading", name="Newest that match the filters")).to_be_visible()
    expect(page.locator(".search-answer")).to_contain_text("No stored memory matches the filters.")
    page.get_by_role("button", name="Remove Types: task").click()
    expect(page.locator("article.card")).to_have_count(20)


def test_without_a_query_it_shows_what_is_stored(site: Site):
    page = site.open("#/search")
    expect(page.locator("article.card")).to_have_count(20)
    assert ids(page)[0] == "week24"
    assert "32 memories, of them 3 messages" in page.locator("aside").inner_text()
    page.get_by_role("button", name="More").evaluate("one => { one.click(); one.click(); }")
    expect(page.locator("article.card")).to_have_count(32)
    expect(page.get_by_role("button", name="More")).to_have_count(0)
    expect(page.locator("article[data-id=week4]")).to_be_focused()
    page.locator("aside").get_by_role("button", name="drinks, hot").click()
    expect(page.locator("article.card")).to_have_count(1)
    assert ids(page) == ["kettle"]
    assert site.axe(page) == []
    page.locator("aside").get_by_role("link", name="plans").click()
    expect(page.get_by_role("heading", name="The conversation plans")).to_be_visible()
    expect(page.locator("article.card")).to_have_count(3)
    said = page.locator("article.card").all_inner_texts()
    assert [one.split("\n")[0] for one in said] == [
        "Where do we meet?",
        "At the bridge.",
        "At noon.",
    ]
    assert "said by assistant" in said[1]
    page.fill("#q", "bridge")
    answered(page, "hit")
    page.get_by_role("button", name="Remove Session: plans").click()
    card = page.locator("article.card", has_text="At the bridge.")
    card.get_by_role("link", name="plans").click()
    expect(page).to_have_url(site.url + "#/search?session=plans")


def test_what_was_stored_or_forgotten_shows_at_once(site: Site):
    page = site.open("#/search")
    expect(page.locator("article.card")).to_have_count(20)
    page.get_by_role("button", name="Add a memory").click()
    page.get_by_label("Text", exact=True).fill("Bought a new teapot")
    page.keyboard.press("Control+Enter")
    expect(page.locator("aside")).to_contain_text("33 memories")
    assert page.locator("article.card h3").first.inner_text() == "Bought a new teapot"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator("article.card").first.get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(page.locator("aside")).to_contain_text("32 memories")
    assert ids(page)[0] == "week24"


def test_how_and_why_are_shown_by_keys(site: Site):
    site.store.feedback("tea", "tea", "modified")
    page = site.open("#/search?q=tea&limit=2")
    answered(page, "2 hits")
    expect(page.locator("article[data-id=tea] time")).to_have_text("3 weeks ago")
    pressed = page.locator("article [aria-pressed=true]")
    assert pressed.all_inner_texts() == ["Helped, changed"]  # as was said before, elsewhere
    why = page.locator("article.card").first.get_by_role("button", name="Why")
    page.keyboard.press("w")
    expect(page.locator(".answer .waterfall")).to_have_count(1)
    page.keyboard.press("j")
    place = why.bounding_box()
    page.keyboard.press("y")
    expect(page.locator("article.card .sum")).to_have_count(1)
    assert why.bounding_box() == place  # nothing jumps from under the pointer
    page.keyboard.press("w")
    expect(page.locator(".answer .waterfall")).to_have_count(0)
    page.locator("article.card").nth(1).get_by_role("button", name="Why").click()
    expect(page.locator("article.card .sum")).to_have_count(2)


def test_it_works_on_a_phone(site: Site):
    page = site.open(
        "#/search?q=green+tea", viewport={"width": 390, "height": 844}, has_touch=True
    )
    answered(page, "hits")
    assert page.locator("article.card").first.bounding_box()["y"] < 844 / 2
    page.set_viewport_size({"width": 360, "height": 740})
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.get_by_role("button", name="Why").first.tap()
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
    expect(page.locator(".answer .notice")).to_contain_text("the broken model does not answer")
    assert ids(page) == ["book"]
    expect(page.locator(".sure")).to_contain_text("probably not stored")


def test_a_hit_links_to_what_it_replaced_and_to_what_may_have_replaced_it(site: Site):
    """With the day on which that was stored."""
    store = site.store
    store.add("The wiki runs on alpha", id="alpha", created_at="2025-01-10")
    store.add("The wiki runs on beta", id="beta", created_at="2025-06-10")
    store.link("beta", "alpha", kind="supersedes")
    store.pending(wait=True)
    page = site.open("#/search?q=wiki+runs+on")
    card = page.locator("article[data-id=beta]")
    expect(card).to_contain_text("replaces alpha (2025-01-10)")
    expect(page.locator("article[data-id=alpha]")).to_have_count(0)
    store.unlink("beta", "alpha")
    store.link("beta", "alpha", 0.6, kind="updates")
    page.reload()
    expect(page.locator("article[data-id=alpha]")).to_contain_text(
        "may be outdated, see beta (2025-06-10)"
    )
    store.forget(["alpha", "beta"])
