"""Stored text is text: script, markup, a megabyte, right-to-left, emoji and control characters."""

from __future__ import annotations

import pytest
from browsing import Site
from playwright.sync_api import Page, expect

EVIL = '<script>window.hurt = 1</script><img src=x onerror="window.hurt = 2"> harmless'
MARKUP = '"><b onclick=hurt()>bold</b>'
ARABIC = "الشاي الأخضر 😀👩‍👩‍👧 مشروب"
COMBINED = "Zo\u0308e\u0301 n\u0303 ͟"
CONTROL = "a\x00b\x07c\x1b[31md\x7f\x85 \u202eoverride"
LONG = "Lorem megabyte " * 66_000 + "the very end"


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """What a page might trip over."""
    add = _site.store.add
    add(
        EVIL,
        id="evil",
        title=MARKUP,
        topics=[MARKUP],
        source=f"/n/{MARKUP}",
        namespace="<i>n</i>",
        metadata={"<u>k</u>": MARKUP},
    )
    add(ARABIC, id="rtl", title=ARABIC)
    add(COMBINED, id="combined")
    add(CONTROL, id="control")
    add(LONG, id="long")
    return _site


def unhurt(page: Page) -> None:
    """Fail where a part of a text became a part of the page."""
    assert page.evaluate("window.hurt") is None
    assert page.locator("main script, main img, main b, dialog b, dialog img, main i").count() == 0


def test_markup_is_shown_as_it_is_written_everywhere(site: Site):
    page = site.open("#/search?q=harmless+bold")
    card = page.locator("article[data-id=evil]")
    expect(card).to_contain_text(EVIL)
    expect(card.locator("h3")).to_contain_text(MARKUP)
    expect(card.locator(".about")).to_contain_text(MARKUP)
    expect(card.locator(".path")).to_have_text(f"/n/{MARKUP}:1")
    assert card.locator("mark").all_inner_texts() == ["bold", "harmless"]
    card.get_by_role("button", name=MARKUP).click()
    expect(page.locator(".narrowed")).to_contain_text(MARKUP)
    expect(page.locator(".outcome")).to_contain_text("1 hit")
    unhurt(page)
    card.get_by_role("button", name="Edit").click()
    form = page.get_by_role("dialog", name="Edit")
    expect(form.get_by_label("Text", exact=True)).to_have_value(EVIL)
    unhurt(page)
    page.keyboard.press("Escape")
    card.locator("h3 a").click()
    shown = page.get_by_role("dialog", name=MARKUP)
    expect(shown.locator("dl")).to_contain_text("<u>k</u>")
    unhurt(page)


def test_a_megabyte_is_a_passage_then_a_part_and_all_when_asked(site: Site):
    page = site.open("#/search?q=megabyte")
    card = page.locator("article[data-id=long]")
    expect(card.get_by_role("button", name="Show all")).to_be_visible()
    assert len(card.inner_text()) < 1000
    card.get_by_role("button", name="Show all").click()
    expect(card.locator(".rest .hint")).to_have_text("29,991 of 990,012 characters")
    card.locator("h3 a").click()
    shown = page.get_by_role("dialog")
    expect(shown.locator(".hint").first).to_have_text("29,991 of 990,012 characters")
    more = shown.get_by_role("button", name="Show more")
    while more.count():
        more.click()
    assert shown.locator(".whole").evaluate("node => node.textContent") == LONG
    assert shown.locator("mark").count() == 2000  # more would hold up the page
    shown.get_by_role("button", name="Edit").click()
    form = page.get_by_role("dialog", name="Edit")
    expect(form).to_contain_text("The text has 990,012 characters.")
    expect(form.get_by_role("button", name="Edit the text anyway")).to_be_visible()
    expect(form.locator("textarea[name=text]")).to_have_count(0)
    form.get_by_label("Collection").fill("large")
    form.get_by_role("button", name="Store").click()
    expect(page.locator(".toast")).to_contain_text("Changed: collection.")
    assert (site.store.get("long").text, site.store.get("long").collection) == (LONG, "large")


def test_other_scripts_keep_their_direction_and_controls_are_pictures(site: Site):
    page = site.open("#/search?q=الشاي")
    card = page.locator("article[data-id=rtl]")
    text = card.locator(".stored")
    expect(text).to_have_text(ARABIC)
    assert text.evaluate("node => getComputedStyle(node).direction") == "rtl"
    expect(text.locator("mark")).to_have_text("الشاي")
    page.fill("#q", "Zoë")
    combined = page.locator("article[data-id=combined] h3 a")
    assert combined.evaluate("node => node.textContent") == COMBINED
    control = page.locator("article[data-id=control] h3 a")
    expect(control).to_contain_text("a␀b␇c␛[31md␡� ")
    control.click()
    expect(page.get_by_role("dialog").locator(".stored")).to_contain_text("a␀b␇c␛[31md␡� ")
    assert site.axe(page) == []
