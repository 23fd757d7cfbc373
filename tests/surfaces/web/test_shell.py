"""Header, keys, themes, and a server that stops answering and comes back."""

from __future__ import annotations

import pytest
from browsing import Site
from playwright.sync_api import Page, expect

import scrubjay

VIEWS = {"s": "Search", "c": "Compare", "m": "Map", "h": "Health"}
ANYTHING_REFUSED = r"status of 401|ERR_CONNECTION|ERR_EMPTY"


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    _site.store.add("The kettle whistles at six", id="kettle")
    return _site


def background(page: Page) -> str:
    found = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert isinstance(found, str)
    return found


def test_the_views_are_reached_by_keys(site: Site):
    """Each has a title and a mark in the navigation, and who hears the page is told of the new view."""
    page = site.open("#/nowhere")
    expect(page).to_have_title("Search · scrubjay")
    assert page.url == f"{site.url}#/search"
    page.goto(f"{site.url}#/constructor")  # which every object has
    expect(page).to_have_url(f"{site.url}#/search")
    assert page.locator("nav a").all_inner_texts() == list(VIEWS.values())
    for key, name in reversed(VIEWS.items()):
        page.locator("nav a").first.focus()  # a field would take the keys as text
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_title(f"{name} · scrubjay")
        expect(page.locator("nav [aria-current=page]")).to_have_text(name)
        expect(page.locator("main > section:visible")).to_have_count(1)
        assert page.evaluate("document.getElementById('main').contains(document.activeElement)")
    page.go_back()
    expect(page).to_have_title("Compare · scrubjay")
    page.reload()
    expect(page).to_have_title("Compare · scrubjay")


def test_who_goes_by_tab_may_skip_what_stands_above(site: Site):
    page = site.open("#/health")  # a view with a box to type in begins there
    expect(page).to_have_title("Health · scrubjay")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    assert page.url == f"{site.url}#/health"


def test_the_keys_are_listed_and_can_be_switched_off(site: Site):
    """WCAG 2.1.4: who speaks to a computer may not want single keys."""
    page = site.open("#/health")
    expect(page).to_have_title("Health · scrubjay")
    page.locator("nav a").first.focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    rows = dialog.get_by_role("row").all_inner_texts()
    assert any(row.split() == ["g", "c", "Go", "to", "Compare"] for row in rows)
    assert any(row.split() == ["n", "Add", "a", "memory"] for row in rows)
    assert site.axe(page) == []
    dialog.get_by_label("Enable single-key shortcuts").uncheck()
    dialog.locator("h2").click()
    expect(dialog).to_have_count(1)
    page.mouse.click(5, 300)  # outside, where nothing that was typed is lost
    expect(dialog).to_have_count(0)
    page.keyboard.press("?")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(dialog).to_have_count(0)
    expect(page).to_have_title("Health · scrubjay")
    page.get_by_role("button", name="Keys").click()  # the button does what the key did
    dialog.get_by_label("Enable single-key shortcuts").check()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page).to_have_title("Compare · scrubjay")


def test_light_and_dark_by_the_system_and_by_choice(site: Site):
    """A choice is kept; without one the page is as the system says."""
    page = site.open("#/health", color_scheme="dark")
    dark = background(page)
    page.emulate_media(color_scheme="light")
    light = background(page)
    assert (light, dark) == ("rgb(246, 247, 249)", "rgb(20, 23, 28)")
    button = page.get_by_role("button", name="Theme")
    seen = [background(page)]
    for _ in range(
        3
    ):  # each click changes what is seen, and takes the place of what was said before
        button.click()
        seen.append(background(page))
    assert seen == [light, dark, light, dark]
    expect(page.locator(".toast")).to_have_text("Theme: dark✕")
    page.reload()
    expect(page).to_have_title("Health · scrubjay")
    assert background(page) == dark


def test_it_fits_a_phone(site: Site):
    """360 pixels: nothing to scroll sideways, and every button large enough for a finger."""
    page = site.open("#/search", viewport={"width": 360, "height": 740}, has_touch=True)
    expect(page).to_have_title("Search · scrubjay")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    sizes = page.evaluate(
        "[...document.querySelectorAll('header button, header nav a')].filter((one) => one.offsetParent)"
        ".map((one) => one.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 24
    assert page.locator("header.top").evaluate("one => one.offsetHeight") < 110  # two rows
    expect(page.get_by_role("button", name="Keys")).to_be_hidden()  # a touch device
    page.get_by_role("button", name="notes.db").click()
    menu = page.get_by_role("dialog", name="You and this store")
    menu.get_by_role("button", name="Open in another browser").click()
    link = menu.locator("code").inner_text()
    assert site.axe(page) == []
    menu.get_by_role("button", name="Theme").click()
    expect(page.locator(".toast")).to_contain_text("Theme: dark")
    assert menu.locator("dt, dd").all_inner_texts() == [
        "Store", "notes.db",
        "Signed in", "by a link, without an API key",
        "User", "none: you see the memories of all users",
        "You may", "everything, including administration of the server",
        "Server", f"scrubjay {scrubjay.__version__}",
    ]  # fmt: skip
    assert link.startswith(f"{site.url}#/signin?code=")
    assert site.logins.use_link_code(link.partition("code=")[2])
    page.evaluate("document.querySelector('dialog').close()")
    assert site.axe(page) == []


def test_a_browser_that_keeps_nothing_is_told_what_the_page_needs(site: Site):
    """Where site data is blocked, reading `localStorage` is an error already."""
    page = site.watched(site.browser.new_context().new_page())
    blocked = "get() { throw new DOMException('denied', 'SecurityError'); }"
    page.add_init_script(f"Object.defineProperty(window, 'localStorage', {{ {blocked} }})")
    page.goto(site.url)
    expect(page.get_by_role("alert")).to_contain_text("blocks cookies and site data")
    said = """async (days) => (await import("/ui/app/format.js"))
        .age(new Date(Date.now() - days * 86400000).toISOString())"""
    ages = [page.evaluate(said, days) for days in (0, 1.9, 10, 913)]
    assert ages == ["just now", "1 day ago", "1 week ago", "2 years ago"]  # as the shell says it


def test_a_server_that_goes_away_and_comes_back(site: Site):
    """The view stays on the screen. After a restart the login is gone, and the web UI asks to sign in."""
    site.forgive(ANYTHING_REFUSED)
    page = site.open("#/search?q=kettle")
    expect(page).to_have_title("Search · scrubjay")
    site.stop()
    page.evaluate("import('/ui/app/api.js').then((api) => api.call('status').catch(() => null))")
    expect(page.locator("#away")).to_contain_text("The server does not answer")
    expect(page.locator("main > section:visible")).to_have_count(1)
    site.start()
    expect(page.get_by_text("The server is back.")).to_be_visible()
    expect(page.locator("#away")).to_be_hidden()
    assert page.url == f"{site.url}#/search?q=kettle"

    site.stop()
    site.start(forget=True)
    page.evaluate("import('/ui/app/api.js').then((api) => api.call('status').catch(() => null))")
    expect(page).to_have_title("Sign in · scrubjay")
    expect(page.locator(".notice[role=alert]")).to_have_text(
        "You are no longer signed in: the server was restarted, or you were inactive for too long."
    )
    page.goto(f"{site.url}#/signin?code={site.logins.new_link_code()}")
    expect(page).to_have_title("Search · scrubjay")
    assert page.url == f"{site.url}#/search?q=kettle"


def test_an_answer_that_is_not_scrubjays_is_said_so(site: Site):
    """As from a proxy that wants a password: nothing is shown as if it were an answer."""
    page = site.open("#/search")
    expect(page).to_have_title("Search · scrubjay")
    page.route("**/session", lambda route: route.fulfill(status=200, body="<html>log in</html>"))
    page.reload()
    expect(page.locator("#fault")).to_contain_text("may not come from scrubjay")
    expect(page.locator("main > section")).to_have_count(0)
    page.unroute("**/session")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("main > section:visible")).to_have_count(1)
    expect(page.locator("#fault")).to_have_count(0)
