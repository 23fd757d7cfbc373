"""One memory in the page: read, added, changed, forgotten and judged, by keys and by mouse."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from browsing import Site
from scrubjay.errors import NotFound


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """Three memories that are linked, and one that stands alone."""
    add = _site.store.add
    add("Prefers green tea to coffee", id="tea", type="preference", topics=["drinks"])
    add("Descale the kettle", id="kettle", title="The kettle", type="task", links=["tea"])
    add("Buys at the harbour", id="shop", source="/n/shop.md", links=["kettle"], owner="ann")
    add("Is soon gone", id="gone")
    _site.store.update("tea", type="fact")
    _site.store.pending(wait=True)
    return _site


def dialog(page: Page, name: str = "") -> Locator:
    """Return the dialog that is open, once it is filled."""
    found = page.get_by_role("dialog", name=name) if name else page.get_by_role("dialog")
    expect(found.locator("form, dl, .actions").first).to_be_visible()
    return found


def twice(button: Locator) -> None:
    """Click two times at once, as a hand does that is used to double clicks."""
    button.evaluate("one => { one.click(); one.click(); }")


def toast(page: Page, text: str) -> Locator:
    """Wait for what is said at the edge."""
    found = page.locator(".toast", has_text=text).last
    expect(found).to_be_visible()
    return found


def test_a_memory_is_opened_by_its_address_and_leads_to_others(site: Site):
    page = site.open("#/search?id=kettle")
    dialog(page, "The kettle")
    shown = page.get_by_role("dialog")
    expect(shown.locator(".stored")).to_have_text("Descale the kettle")
    linked = shown.locator("ul button").all_inner_texts()
    assert sorted(linked) == ["Buys at the harbour", "Prefers green tea to coffee"]
    shown.get_by_role("button", name="Prefers green tea").click()
    expect(shown.locator(".stored")).to_have_text("Prefers green tea to coffee")
    history = shown.locator("table tbody td").all_inner_texts()
    assert history[1:] == ["type", "preference", "fact"]
    assert site.axe(page) == []
    shown.get_by_role("button", name="Back").click()
    expect(shown.locator(".stored")).to_have_text("Descale the kettle")
    expect(shown.get_by_role("link", name="Graph")).to_have_attribute("href", "#/graph?id=kettle")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(site.url + "#/search")


def test_enter_opens_and_back_closes_and_the_focus_comes_back(site: Site):
    page = site.open("#/search?q=harbour")
    expect(page.locator("article.card").first).to_have_attribute("data-id", "shop")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    shown = dialog(page)
    assert page.url.endswith("#/search?q=harbour&id=shop")
    expect(shown.locator("mark")).to_have_text("harbour")
    expect(shown.locator("dl")).to_contain_text("/n/shop.md")
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("o")
    dialog(page)
    page.keyboard.press("Escape")
    expect(page.locator("article[data-id=shop]")).to_be_focused()
    expect(page).to_have_url(site.url + "#/search?q=harbour")


def test_a_memory_that_is_gone_says_so_and_leaves_the_list(site: Site):
    site.forgive("404")
    page = site.open("#/search?q=soon+gone")
    expect(page.locator("article[data-id=gone]")).to_be_visible()
    site.store.forget(["gone"])
    page.locator("article[data-id=gone] h3 a").click()
    expect(page.get_by_role("alert")).to_contain_text("This memory is no longer stored")
    expect(page.locator("article[data-id=gone]")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("article.card").first).to_be_visible()


def test_a_memory_is_added_by_keys_alone(site: Site):
    page = site.open("#/search?q=harbour")
    expect(page.locator("article.card").first).to_be_visible()
    page.keyboard.press("n")
    form = dialog(page, "New memory")
    expect(form.get_by_label("Text", exact=True)).to_be_focused()
    page.keyboard.type("Sails on Sundays")
    page.keyboard.press("Tab")
    page.keyboard.type("Sailing")
    form.get_by_label("Topics").fill("boats, big\nsea")
    assert site.axe(page) == []
    page.keyboard.press("Control+Enter")
    toast(page, "Stored")
    expect(dialog(page, "Sailing").locator(".stored")).to_have_text("Sails on Sundays")
    [stored] = [one for one in site.store.ls() if one.title == "Sailing"]
    assert (stored.text, stored.type, stored.topics) == (
        "Sails on Sundays",
        "fact",
        ("boats, big", "sea"),
    )
    site.store.forget([stored.id])


def test_what_is_refused_stays_in_the_form_and_so_does_a_draft(site: Site):
    site.forgive("422")
    page = site.open("#/search?id=shop")
    dialog(page).get_by_role("button", name="Edit").click()
    form = dialog(page, "Edit")
    form.get_by_label("Type").fill("")
    form.get_by_label("Title").fill("Where to buy")
    form.get_by_role("button", name="Store").click()
    expect(form.get_by_role("alert")).to_have_text("type is empty; every memory has one")
    expect(form.get_by_label("Type")).to_be_focused()
    assert form.get_by_label("Title").input_value() == "Where to buy"
    page.reload()
    dialog(page).get_by_role("button", name="Edit").click()
    form = dialog(page, "Edit")
    expect(form).to_contain_text("not stored is here again")
    assert form.get_by_label("Title").input_value() == "Where to buy"
    page.keyboard.press("Escape")
    toast(page, "kept as a draft")
    dialog(page).get_by_role("button", name="Edit").click()
    form = dialog(page, "Edit")
    form.get_by_role("button", name="Cancel").click()
    sure = page.get_by_role("dialog", name="Throw away what you wrote?")
    sure.get_by_role("button", name="Cancel").click()
    form.get_by_label("Type").fill("fact")
    form.get_by_role("button", name="Store").click()
    expect(page.get_by_role("dialog", name="Where to buy")).to_be_visible()
    kept = site.store.get("shop")
    assert (kept.title, kept.source, kept.owner) == ("Where to buy", "/n/shop.md", "ann")
    page.get_by_role("dialog").get_by_role("button", name="Edit").click()
    form = dialog(page, "Edit")
    assert "here again" not in form.inner_text()
    form.get_by_label("Title").fill("")
    form.get_by_role("button", name="Store").click()
    expect(page.get_by_role("dialog", name="Memory")).to_be_visible()
    assert site.store.get("shop").title == ""


def test_forgetting_is_asked_and_can_be_taken_back(site: Site):
    page = site.open("#/search?q=harbour")
    expect(page.locator("article[data-id=shop]")).to_be_visible()
    before = site.store.get("shop")
    page.keyboard.press("j")
    page.keyboard.press("x")
    asked = page.get_by_role("dialog", name="Forget “Buys at the harbour”?")
    expect(asked.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert site.store.get("shop") == before
    twice(page.locator("article[data-id=shop]").get_by_role("button", name="Forget"))
    asked.get_by_role("button", name="Forget").click()
    expect(page.locator("article[data-id=shop]")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)
    with pytest.raises(NotFound):
        site.store.get("shop")
    toast(page, "Forgotten.").get_by_role("button", name="Undo").click()
    toast(page, "Its history cannot come back")
    expect(page.locator("article[data-id=shop]")).to_be_visible()
    assert site.store.get("shop") == before


def test_feedback_is_one_key_or_one_click_and_is_taken_back(site: Site):
    page = site.open("#/search?q=green+tea")
    card = page.locator("article[data-id=tea]")
    expect(card).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("a")
    expect(card.get_by_role("button", name="Helped", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    card.get_by_role("button", name="Did not help").click()
    expect(card.get_by_role("button", name="Did not help")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(card.get_by_role("button", name="Helped", exact=True)).to_have_attribute(
        "aria-pressed", "false"
    )
    [kept] = site.store.feedbacks()
    assert (kept.query, kept.id, kept.action) == ("green tea", "tea", "dismissed")
    twice(card.get_by_role("button", name="Helped, changed"))
    expect(card.get_by_role("button", name="Helped, changed")).to_have_attribute(
        "aria-pressed", "true"
    )
    card.get_by_role("button", name="Did not help").click()
    expect(card.get_by_role("button", name="Did not help")).to_have_attribute(
        "aria-pressed", "true"
    )
    assert [one.action for one in site.store.feedbacks()] == ["dismissed"]
    toast(page, "It counts in the profile vault alone, from 30 on (1 so far)").get_by_role(
        "button", name="Undo"
    ).click()
    expect(card.get_by_role("button", name="Did not help")).to_have_attribute(
        "aria-pressed", "false"
    )
    assert list(site.store.feedbacks()) == []


def test_line_ends_of_others_are_no_change_and_hyphens_are_marked(site: Site):
    """A browser has other line ends than a file, and a pattern reads a hyphen its own way."""
    site.store.add("By e-mail\r\nor by fax", id="post")
    page = site.open("#/search?q=e-mail")
    page.locator("article[data-id=post] h3 a").click()
    shown = dialog(page, "Memory")
    assert shown.locator("mark").all_inner_texts() == ["e-mail"]
    twice(shown.get_by_role("button", name="Edit"))
    form = page.get_by_role("dialog", name="Edit")
    expect(form).to_have_count(1)
    form.get_by_role("button", name="Cancel").click()
    expect(form).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(1)  # nobody is asked whether to throw it away
    shown.get_by_role("button", name="Edit").click()
    form.get_by_label("Title").fill("Post")
    form.get_by_role("button", name="Store").click()
    toast(page, "Stored")
    assert site.store.get("post").text == "By e-mail\r\nor by fax"
    site.store.forget(["post"])


def test_a_task_is_done_and_not_done(site: Site):
    page = site.open("#/search?id=kettle")
    shown = dialog(page)
    shown.get_by_role("button", name="Done", exact=True).click()
    shown.get_by_role("button", name="Not done").click()
    expect(shown.get_by_role("button", name="Done", exact=True)).to_be_visible()
    expect(shown.locator("table tbody tr")).to_have_count(2)
    assert site.store.get("kettle").type == "task"


def test_who_may_only_read_is_offered_nothing_else(site: Site):
    page = site.open("#/search")
    page.route(
        "**/session",
        lambda one: one.fulfill(json={"signed_in": True, "name": "r", "scopes": ["read"]}),
    )
    page.goto(site.url + "#/search?q=green+tea&id=tea")
    page.reload()
    shown = dialog(page)
    expect(shown.get_by_role("link", name="Graph")).to_be_visible()
    assert shown.locator(".actions").inner_text().split() == ["Graph", "Link"]
    page.keyboard.press("Escape")
    expect(page.locator("article[data-id=tea]")).to_be_visible()
    assert page.locator("article[data-id=tea] .actions").inner_text().split() == ["Why"]
    for key in "jxea":
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
