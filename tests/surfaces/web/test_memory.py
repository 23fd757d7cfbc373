"""Memory dialog: read, add, edit, forget and give feedback, by keyboard and mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Site
from playwright.sync_api import Locator, Page, expect

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


def test_a_memory_is_opened_by_its_address_leads_to_others_and_is_done(site: Site):
    page = site.open("#/search?id=kettle", permissions=["clipboard-read", "clipboard-write"])
    dialog(page, "The kettle")
    shown = page.get_by_role("dialog")
    expect(shown.locator(".stored")).to_have_text("Descale the kettle")
    linked = shown.locator(".links .linked").all_inner_texts()
    assert sorted(linked) == ["Buys at the harbour", "Prefers green tea to coffee"]
    shown.get_by_role("button", name="Prefers green tea to coffee", exact=True).click()
    expect(shown.locator(".stored")).to_have_text("Prefers green tea to coffee")
    versions = shown.locator("table tbody tr")
    assert versions.nth(0).locator("td").all_inner_texts()[1:] == ["edited", "type: fact"]
    assert versions.nth(1).locator("td").all_inner_texts()[1:] == ["created", ""]
    assert site.axe(page) == []
    shown.get_by_role("button", name="Back").click()
    expect(shown.locator(".stored")).to_have_text("Descale the kettle")
    expect(shown.get_by_role("link", name="Graph")).to_have_attribute("href", "#/graph?id=kettle")
    shown.get_by_role("button", name="Copy link").click()
    toast(page, "Link copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.url == site.url + "#/search?id=kettle"
    shown.get_by_role("button", name="Done", exact=True).click()
    shown.get_by_role("button", name="Not done").click()
    expect(shown.get_by_role("button", name="Done", exact=True)).to_be_visible()
    expect(shown.locator("table tbody tr")).to_have_count(3)
    shown.get_by_role("button", name="Undo the last change").click()
    toast(page, "Undone: type.")
    expect(shown.get_by_role("button", name="Not done")).to_be_visible()
    expect(shown.locator("table tbody tr")).to_have_count(4)
    site.store.update("kettle", text="Descale the big kettle", type="task")
    page.reload()
    expect(shown.locator(".stored")).to_have_text("Descale the big kettle")
    expect(shown.locator(".version")).to_have_text("Descale the kettle")
    shown.get_by_role("button", name="Undo the last change").click()
    toast(page, "Undone: text, type.")
    expect(shown.locator(".stored")).to_have_text("Descale the kettle")
    site.store.undone("kettle")
    assert site.store.get("kettle").type == "task"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(site.url + "#/search")


def test_enter_opens_and_back_closes_and_the_focus_comes_back(site: Site):
    page = site.open("#/search?q=harbour")
    expect(page.locator("article.card").first).to_have_attribute("data-id", "shop")
    page.keyboard.press("j")
    expect(page.locator("article[data-id=shop]")).to_be_focused()
    page.keyboard.press("Enter")
    shown = dialog(page)
    assert page.url.endswith("#/search?q=harbour&id=shop")
    expect(shown.locator("mark")).to_have_text("harbour")
    expect(shown.locator("dl")).to_contain_text("/n/shop.md")
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("article[data-id=shop]")).to_be_focused()
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
    expect(page.get_by_role("alert")).to_contain_text("This memory was forgotten")
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
    toast(page, "Stored “Sailing” as fact. It is found by word")
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
    expect(form).to_contain_text("Your draft was restored")
    assert form.get_by_label("Title").input_value() == "Where to buy"
    page.keyboard.press("Escape")
    toast(page, "The draft is kept")
    dialog(page).get_by_role("button", name="Edit").click()
    form = dialog(page, "Edit")
    form.get_by_role("button", name="Cancel").click()
    sure = page.get_by_role("dialog", name="Discard your changes?")
    sure.get_by_role("button", name="Cancel").click()
    form.get_by_label("Type").fill("fact")
    form.get_by_role("button", name="Store").click()
    expect(page.get_by_role("dialog", name="Where to buy")).to_be_visible()
    kept = site.store.get("shop")
    assert (kept.title, kept.source, kept.owner) == ("Where to buy", "/n/shop.md", "ann")
    page.get_by_role("dialog").get_by_role("button", name="Edit").click()
    form = dialog(page, "Edit")
    assert "Your draft was restored" not in form.inner_text()
    form.get_by_label("Title").fill("")
    form.get_by_role("button", name="Store").click()
    expect(page.get_by_role("dialog", name="Memory")).to_be_visible()
    assert site.store.get("shop").title == ""
    toast(page, "Changed: title.").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("dialog", name="Where to buy")).to_be_visible()
    toast(page, "Change undone.")
    kept = site.store.get("shop")
    assert (kept.title, kept.source, kept.owner) == ("Where to buy", "/n/shop.md", "ann")
    site.store.update("shop", title="")


def test_two_memories_are_connected_and_parted_with_a_way_back(site: Site):
    page = site.open("#/search?id=shop")
    shown = dialog(page)
    rows = shown.locator(".links li")
    expect(rows).to_have_text(["The kettlerelated, 1Unlink"])
    shown.get_by_role("button", name="Link…").click()
    form = page.get_by_role("dialog", name="Link to another memory")
    expect(form.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("green tea")
    expect(form.locator(".choices a").first).to_have_text("Prefers green tea to coffee")
    page.keyboard.press("Enter")
    expect(form).to_contain_text("Link to: Prefers green tea to coffee")
    form.get_by_label("Kind of link").fill("supersedes")
    form.get_by_label("Strength").fill("2")
    site.forgive("422")
    page.keyboard.press("Enter")
    expect(form.get_by_role("alert")).to_contain_text("strength is 2; it must be")
    form.get_by_label("Strength").fill("0.5")
    page.keyboard.press("Enter")
    tea = "Prefers green tea to coffeesupersedes, 0.50Unlink"
    expect(rows).to_have_text(["The kettlerelated, 1Unlink", tea])
    assert [tuple(one) for one in site.store.get("tea").links if one.to == "shop"] == [
        ("shop", 0.5, "superseded by")
    ]
    toast(page, "Linked to").get_by_role("button", name="Undo").click()
    expect(rows).to_have_text(["The kettlerelated, 1Unlink"])
    shown.get_by_role("button", name="Unlink The kettle, related").click()
    expect(rows).to_have_count(0)
    toast(page, "Unlinked. They will not be linked by similarity again")
    assert site.store.get("shop").links == ()
    toast(page, "Unlinked.").get_by_role("button", name="Undo").click()
    expect(rows).to_have_text(["The kettlerelated, 1Unlink"])
    assert [tuple(one) for one in site.store.get("shop").links] == [("kettle", 1.0, "related")]


def test_a_message_stands_among_its_turns_and_an_edit_is_not_put_back_over_a_later_one(site: Site):
    texts = ["Where do we eat?", "At the harbour.", "For six, on 5 May?", "Yes."]
    for at, text in enumerate(texts):
        role = "assistant" if at % 2 else "user"
        moment = f"2026-03-01T10:0{at}Z"
        site.store.add(
            text, id=f"m{at}", type="message", session="dinner", role=role, created_at=moment
        )
    page = site.open("#/search?id=m2")
    shown = dialog(page)
    turns = shown.locator(".turns li")
    expect(turns).to_have_text(
        [
            "userWhere do we eat?",
            "assistantAt the harbour.",
            "user (this message)For six, on 5 May?",
            "assistantYes.",
        ]
    )
    fields = shown.locator("dl")
    expect(fields).to_contain_text("Event time5 May 2026, 00:00 to 6 May 2026, 00:00")
    expect(fields).to_contain_text("given or found in the text")
    shown.get_by_role("button", name="Edit").click()
    form = dialog(page, "Edit")
    form.get_by_label("Text", exact=True).fill("For six, on 7 May?")
    form.get_by_label("Topics").fill("meals")
    page.keyboard.press("Control+Enter")
    expect(fields).to_contain_text("Event time7 May 2026")
    noted = toast(page, "Changed: text, topics. It is found by word")
    site.store.update("m2", title="Dinner")
    noted.get_by_role("button", name="Undo").click()
    toast(page, "It was changed again since then, so nothing was undone.")
    kept = site.store.get("m2")
    assert (kept.text, kept.title, kept.topics) == ("For six, on 7 May?", "Dinner", ("meals",))
    turns.nth(3).get_by_role("button").click()
    expect(turns.nth(3)).to_have_attribute("aria-current", "true")
    expect(shown.locator(".stored").first).to_have_text("Yes.")
    shown.get_by_role("link", name="The whole conversation").click()
    expect(page).to_have_url(site.url + "#/search?session=dinner")
    expect(page.locator("article.card")).to_have_count(4)
    site.store.forget([f"m{at}" for at in range(4)])


def test_a_document_opens_at_its_passage_and_says_that_its_file_stays(site: Site, tmp_path: Path):
    before = "".join(f"Line {at} of many about ropes.\n\n" for at in range(600))
    file = tmp_path / "harbour.md"
    file.write_text(
        f"# Ropes\n\n{before}# Birds\n\nThe kingfisher nests here.\n\n# Rest\n\nEnd.\n"
    )
    site.store.ingest(file)
    site.store.pending(wait=True)
    page = site.open("#/search?q=kingfisher")
    page.locator("article.card h3 a").first.click()
    shown = page.get_by_role("dialog")
    passage = shown.get_by_role("group", name="Passage found by the search")
    expect(passage).to_be_in_viewport()
    expect(passage).to_contain_text("Lines 1203–1206: found here")
    expect(passage.locator("mark")).to_have_text("kingfisher")
    text = passage.locator(".stored")
    assert text.evaluate("node => node.textContent.trim()").startswith("# Birds")
    assert "monospace" in text.evaluate("node => getComputedStyle(node).fontFamily")
    shown.get_by_role("button", name="Show earlier text").click()
    wholly = "nodes => nodes.map((node) => node.textContent).join('')"
    assert shown.locator(".stored").evaluate_all(wholly) == file.read_text()
    shown.get_by_role("button", name="Edit").click()
    form = dialog(page, "Edit")
    expect(form).to_contain_text("When the file changes, the next ingest replaces")
    form.get_by_role("button", name="Cancel").click()
    shown.get_by_role("button", name="Forget").click()
    asked = page.get_by_role("dialog", name="Forget “")
    expect(asked).to_contain_text("The file is not changed")
    expect(asked).to_contain_text("There is no Undo.")
    asked.get_by_role("button", name="Forget").click()
    said = toast(page, "Forgotten. The file is not changed")
    expect(said.get_by_role("button", name="Undo")).to_have_count(0)


def test_forgetting_is_asked_and_can_be_taken_back(site: Site):
    page = site.open("#/search?q=harbour")
    expect(page.locator("article[data-id=shop]")).to_be_visible()
    before = site.store.get("shop")
    page.keyboard.press("j")
    page.keyboard.press("x")
    asked = page.get_by_role("dialog", name="Forget “Buys at the harbour”?")
    expect(asked.get_by_role("button", name="Cancel")).to_be_focused()
    expect(asked).to_contain_text("You can undo this for some seconds")
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
    toast(page, "without its history")
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
    toast(page, "only the profile vault, from 30 feedbacks on (1 so far)").get_by_role(
        "button", name="Undo"
    ).click()
    expect(card.get_by_role("button", name="Did not help")).to_have_attribute(
        "aria-pressed", "false"
    )
    assert list(site.store.feedbacks()) == []
    for key, name in (("m", "Helped, changed"), ("d", "Did not help")):
        card.focus()
        page.keyboard.press(key)
        expect(card.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
    [kept] = site.store.feedbacks()
    assert kept.action == "dismissed"
    card.focus()
    page.keyboard.press("d")
    expect(card.get_by_role("button", name="Did not help")).to_have_attribute(
        "aria-pressed", "false"
    )
    assert list(site.store.feedbacks()) == []
    card.focus()
    page.keyboard.press("e")
    expect(page.get_by_role("dialog").get_by_role("textbox", name="Text")).to_be_visible()


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
    expect(page.get_by_role("dialog")).to_have_count(1)  # no confirmation to discard changes
    shown.get_by_role("button", name="Edit").click()
    form.get_by_label("Title").fill("Post")
    form.get_by_role("button", name="Store").click()
    toast(page, "Changed: title.")
    assert site.store.get("post").text == "By e-mail\r\nor by fax"
    site.store.forget(["post"])


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
    assert shown.locator(".actions").inner_text().split() == ["Graph", "Copy", "link"]
    expect(shown.locator(".links .linked")).to_have_text("The kettle")
    expect(shown.get_by_role("button", name="Unlink")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("article[data-id=tea]")).to_be_visible()
    assert page.locator("article[data-id=tea] .actions").inner_text().split() == ["Why"]
    for key in "jxea":
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
