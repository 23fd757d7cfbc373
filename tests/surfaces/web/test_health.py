"""Health view: hits per source over time, load of the server, pending work, and doctor."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from urllib.request import Request, urlopen

import pytest
from browsing import Site
from clocks import NOON, Clock
from fakes import BrokenEmbedder
from playwright.sync_api import Page, expect
from prometheus_client.parser import text_string_to_metric_families

import scrubjay
from scrubjay.surfaces.callers import Principal

# Two hours ahead of UTC in May: the axis must say the reader's time, and not the server's.
BERLIN = {"timezone_id": "Europe/Berlin", "locale": "de-DE"}
HITS = "section[aria-labelledby]:has(> h2:text-is('Hits per source'))"
DOCTOR = "section[aria-labelledby]:has(> h2:text-is('Doctor'))"


@pytest.fixture(scope="module")
def site(_site: Site) -> Site:
    """A store that was searched ten days ago, and twice at ten and once at twelve o'clock."""
    clock = Clock(NOON - timedelta(days=10))
    with scrubjay.open(_site.db, embedder=_site.embedder, clock=clock) as store:
        store.count_every_search()
        store.add("a red car", id="a", type="fact", topics=["cars"], collection="garage")
        store.add("a blue car", id="b", topics=["cars", "<b>paint"], namespace="project/jay")
        store.add("bread of the day", id="c", valid_until=datetime.now(UTC) + timedelta(days=3))
        store.pending()
        store.search("bread", profile="novamem", weights="exact_id")
        clock.now = NOON - timedelta(hours=2)
        store.search("car", profile="novamem", weights="exact_id")
        store.search("car", profile="novamem", weights="exact_id")
        clock.now = NOON
        store.search("red car", profile="default", limit=2)
    return _site


def opened(site: Site, path: str = "#/health", **options: object) -> Page:
    """Open Health at half past twelve, when everything has been looked at."""
    page = site.open(path, **{**BERLIN, **options})
    expect(page.get_by_text("Examined at")).to_be_visible()
    page.clock.set_fixed_time(NOON + timedelta(minutes=30))
    page.keyboard.press("r")
    expect(page.get_by_title("3 May 2026, 14:30")).to_have_text("as of 14:30")
    return page


def readout(page: Page) -> str:
    return page.locator(f"{HITS} .readout").inner_text()


def ask(site: Site, path: str, given: object = None) -> str:
    """Ask the server from beside the page, with the owner's key."""
    body = None if given is None else json.dumps(given).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {site.owner_key}"}
    request = Request(site.url + path, body, headers)
    with urlopen(request, timeout=60) as answer:
        return str(answer.read().decode())


def test_hits_of_each_tier_are_read_hour_by_hour_with_keys(site: Site):
    """NM-7: in the reader's time, gaps as zero, the hour that is not over marked."""
    page = opened(site)
    plot = page.locator(f"{HITS} .plot")
    assert readout(page) == "The last 24 hours, 3 searches: keyword 6 · vector 2"
    assert page.locator(f"{HITS} .legend").all_inner_texts() == ["keyword\n6\nvector\n2"]

    plot.focus()
    page.keyboard.press("End")
    assert readout(page) == "Sun 3 May, 14:00–15:00 so far, 1 search: keyword 2 · vector 2"
    page.keyboard.press("ArrowLeft")
    assert readout(page) == "Sun 3 May, 13:00–14:00, 0 searches: nothing"
    page.keyboard.press("ArrowLeft")
    assert readout(page) == "Sun 3 May, 12:00–13:00, 2 searches: keyword 4"
    assert plot.get_attribute("aria-valuetext") == readout(page)
    assert (plot.get_attribute("aria-valuenow"), plot.get_attribute("aria-valuemax")) == (
        "22",
        "24",
    )
    page.keyboard.press("Home")
    assert readout(page).startswith("Sat 2 May, 15:00–16:00")
    page.keyboard.press("Escape")
    assert readout(page).startswith("The last 24 hours")
    assert page.locator(f"{HITS} svg .open").count() == 1
    assert page.locator(f"{HITS} svg title").text_content() == (
        "Hits per source, the last 24 hours: " + readout(page)
    )

    page.locator(f"{HITS} summary").focus()
    page.keyboard.press("Enter")
    rows = page.locator(f"{HITS} tbody tr")
    assert rows.count() == 24
    assert rows.nth(0).locator("th, td").all_inner_texts() == [
        "Sun 3 May, 14:00–15:00 so far", "1", "2", "2",
    ]  # fmt: skip
    assert rows.nth(2).locator("td").all_inner_texts() == ["2", "4", "0"]


def test_a_span_is_chosen_with_the_mouse_and_stands_in_the_address(site: Site):
    """NM-7: days of the reader's calendar; Back takes the choice back."""
    page = opened(site)
    page.get_by_role("button", name="30 days").click()
    page.wait_for_url("**/#/health?span=30d")
    expect(page.locator(f"{HITS} .readout")).to_have_text(
        "The last 30 days, 4 searches: keyword 7 · vector 2"
    )
    box = page.locator(f"{HITS} .plot").bounding_box()
    assert box is not None
    right, middle = box["x"] + box["width"] - 8, box["y"] + 80
    bar = (box["width"] - 46 - 8) / 30
    page.mouse.move(right - 10.5 * bar, middle)
    assert readout(page) == "Thu 23 Apr, 1 search: keyword 1"
    page.mouse.click(right - 0.5 * bar, middle)
    assert readout(page) == "Sun 3 May so far, 3 searches: keyword 6 · vector 2"

    page.get_by_role("button", name="7 days").click()
    expect(page.get_by_role("button", name="7 days")).to_have_attribute("aria-pressed", "true")
    page.locator(f"{HITS} summary").click()
    rows = page.locator(f"{HITS} tbody tr")
    expect(rows).to_have_count(28)
    assert rows.nth(0).inner_text().split("\t") == [
        "Sun 3 May, 12:00–18:00 so far", "3", "6", "2",
    ]  # fmt: skip
    begin = """async ([span, now]) => (await import("/ui/health/buckets.js"))
        .bars(span, Date.parse(now)).map((one) => new Date(one.from).toISOString().slice(5, 16))"""
    twice = page.evaluate(begin, ["24h", "2026-10-25T01:30:00Z"])  # the second half past two
    assert twice[-3:] == ["10-24T23:00", "10-25T00:00", "10-25T01:00"]
    quarters = page.evaluate(begin, ["7d", "2026-10-25T12:00:00Z"])
    assert quarters[-4:] == ["10-24T16:00", "10-24T22:00", "10-25T05:00", "10-25T11:00"]
    page.go_back()
    expect(page.get_by_role("button", name="30 days")).to_have_attribute("aria-pressed", "true")


def test_a_tenant_is_chosen(site: Site):
    """NM-7: hits of each tenant whose store is open; those of others are not mixed in."""
    with site._stores.lend(Principal(tenant="acme")) as store:
        store.add("a green car", id="g")
        store.pending()
        store.search("car", profile="novamem", weights="exact_id")
    page = site.open("#/health")
    tenant = page.get_by_label("Tenant", exact=True)
    expect(tenant).to_be_visible()
    assert tenant.locator("option").all_inner_texts() == ["My store", "Tenant acme"]
    tenant.select_option("acme")
    page.wait_for_url("**/#/health?tenant=acme")
    expect(page.locator(f"{HITS} .readout")).to_have_text("The last 24 hours: keyword 1")
    table = page.get_by_role("table", name="Tenants")
    assert table.locator("tbody tr").all_inner_texts() == [
        "without a tenant\t3\t0\t0", "acme\t1\t0\t0",
    ]  # fmt: skip


def test_figures_are_those_of_metrics(site: Site):
    """Searches, degraded ones and stages are counted as /metrics counts them."""
    for query in ("car", "bread", "red"):
        ask(site, "v1/search", {"query": query, "mode": "keyword"})
    ask(site, "v1/search", {"query": "car", "profile": "novamem"})
    page = site.open("#/health")
    panel = page.locator("section:has(> h2:text-is('Queries per hour'))")
    expect(panel.locator(".legend")).to_be_visible()
    page.locator("summary", has_text="faster stage").click()
    counted: Counter[str] = Counter()
    stages: dict[str, int] = {}
    for family in text_string_to_metric_families(ask(site, "metrics")):
        for sample in family.samples:
            counted[sample.name] += int(sample.value)
            if sample.name == "scrubjay_stage_seconds_count":
                stages[sample.labels["stage"]] = int(sample.value)

    whole, degraded = (int(one) for one in panel.locator(".legend b").all_inner_texts())
    assert whole + degraded == counted["scrubjay_searches_total"] >= 4
    assert degraded == counted["scrubjay_degraded_searches_total"] < whole
    assert panel.locator(".readout").inner_text().startswith(f"{whole + degraded} searches since")
    rows = [
        row.locator("th, td").all_inner_texts() for row in page.locator(".stages tbody tr").all()
    ]
    shown = {row[0]: int(row[4]) for row in rows}
    assert shown.pop("whole search") == whole + degraded
    assert shown == stages
    assert all(row[2].endswith(" ms") and row[3].endswith(" ms") for row in rows)
    widths = page.locator(".stages .times rect").evaluate_all(
        "all => all.map((one) => Number(one.getAttribute('width')))"
    )
    assert max(widths) <= 100


def test_doctor_says_what_is_wrong_and_the_command_that_mends_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    """By keyboard; a command is copied, with and without the clipboard's permission."""
    page = opened(site, permissions=["clipboard-read", "clipboard-write"])
    expect(page.locator(".verdict")).to_have_text("✓No problems found.")
    monkeypatch.setenv("SCRUBJAY_GENERATOR", "http://127.0.0.1:9/v1#small")
    examine = page.get_by_role("button", name="Examine now")
    examine.focus()
    finding = page.locator(f"{DOCTOR} .findings > li").first
    # The look before may still be examining, without the generator; a second one waits for its end.
    for _ in range(20):
        page.keyboard.press("Enter")
        expect(examine).not_to_have_attribute("aria-disabled", "true", timeout=30_000)
        if "generator" in finding.inner_text():
            break
    expect(finding).to_contain_text("generator")
    expect(examine).to_be_focused()
    assert finding.locator(".state").inner_text().split() == ["!", "degraded"]
    assert "no answer at 127.0.0.1:9" in finding.inner_text()
    assert finding.locator(".command p").inner_text() == "start the server, then:"
    assert finding.locator("pre").inner_text() == "scrubjay doctor"
    expect(page.locator(".verdict")).to_have_text("!1 problem found.")

    copy = finding.get_by_role("button")
    page.keyboard.press("Tab")
    expect(copy).to_be_focused()
    page.keyboard.press("Enter")
    expect(copy).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "scrubjay doctor"
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    copy.click()
    page.wait_for_function("getSelection().toString() === 'scrubjay doctor'")
    expect(copy).to_have_text("Copied")

    expect(page.locator(".wanting pre")).to_have_text("scrubjay doctor")
    page.locator(".wanting li > button").click()
    expect(page.locator(f"{DOCTOR} h2")).to_be_focused()
    assert site.axe(page) == []
    monkeypatch.delenv("SCRUBJAY_GENERATOR")
    page.get_by_role("button", name="Refresh").click()  # which asks doctor again
    expect(page.locator(".verdict")).to_have_text("✓No problems found.")


@pytest.fixture
def add_one(site: Site) -> Iterator[Callable[[], object]]:
    """Add a memory that is gone again after the test."""
    yield lambda: site.store.add("a car that came later", id="later", topics=["cars"])
    site.store.forget("later")


def test_it_looks_again_by_itself_and_leaves_the_reader_where_they_are(
    site: Site, add_one: Callable[[], object]
):
    """Every half minute, not in a hidden tab, and not after leaving."""
    page = site.open("#/health", viewport={"width": 900, "height": 500}, timezone_id="UTC")
    expect(page.get_by_text("Examined at")).to_be_visible()
    page.clock.install(time=NOON)
    page.keyboard.press("r")
    expect(page.get_by_title("3 May 2026, 12:00")).to_be_visible()
    link = page.get_by_role("link", name="cars")
    link.focus()
    link.scroll_into_view_if_needed()
    before = link.bounding_box()
    assert page.evaluate("scrollY") > 0
    add_one()
    page.clock.run_for(31_000)
    expect(page.locator(".tally li", has=link)).to_contain_text("3")
    expect(link).to_be_focused()
    assert link.bounding_box() == before  # it stays where it was looked at, whatever grew above it

    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    hidden = (
        "Object.defineProperty(document, 'visibilityState', {{ value: '{}', configurable: true }})"
    )
    page.evaluate(hidden.format("hidden"))
    page.clock.run_for(120_000)
    assert asked == []
    page.evaluate(hidden.format("visible"))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_title("3 May 2026, 12:02")).to_be_visible()
    page.evaluate("location.hash = '#/map'")
    expect(page.locator("section.health")).to_be_hidden()
    asked.clear()
    page.clock.run_for(120_000)
    assert [one for one in asked if one.endswith("/v1/hits")] == []


def test_what_is_stored_can_be_searched_from_here_and_stays_while_the_server_is_away(site: Site):
    """Topics, collections, types and namespaces lead to a search; what they hold is text."""
    page = opened(site)
    links = {one.inner_text(): one.get_attribute("href") for one in page.locator(".tally a").all()}
    assert links["cars"] == "#/search?topics=cars"
    assert links["<b>paint"] == "#/search?topics=%3Cb%3Epaint"
    assert links["garage"] == "#/search?collection=garage"
    assert links["project/jay"] == "#/search?namespace=project%2Fjay"
    assert links["fact"] == "#/search?types=fact"
    assert page.locator("dt:text-is('Memories') + dd").inner_text() == "3"
    assert page.locator("dt:text-is('embedder') + dd").inner_text().startswith("hashing-256")
    expect(page.get_by_text("No pending work.")).to_be_visible()
    behind = {"tier": "vectors", "place": "", "behind": 2, "reason": ""}
    lost = {"tier": "graph", "place": "", "behind": 1, "reason": "it does not answer"}
    told = page.evaluate(
        """async ([status, ready, findings]) => (await import("/ui/health/state.js"))
            .problemsOf({ status, ready, findings }).map((one) => [one.state, one.says])""",
        [
            {**json.loads(ask(site, "v1/status")), "servers": [behind, lost]},
            {"degraded": ["graph", "vectors", "writes"]},
            [{"component": "graph server", "state": "failed", "detail": "of old", "fix": ""}],
        ],
    )
    assert told == [
        ["degraded", "The vectors replica is 2 changes behind."],
        ["failed", "The graph replica cannot be updated: it does not answer"],
        ["failed", "The store cannot be written."],
    ]
    told = page.evaluate(
        """async (status) => (await import("/ui/health/state.js"))
            .problemsOf({ status, ready: { degraded: ["graph", "new"] } })
            .map((one) => [one.state, one.says])""",
        json.loads(ask(site, "v1/status")),
    )
    assert told == [  # what is asked last may be whole again
        ["degraded", "The graph replica was behind a moment ago."],
        ["degraded", "Degraded: new."],
    ]
    fetch = "scrubjay models pull"
    missing = {"state": "missing", "fix": fetch}
    told = page.evaluate(
        """async ([status, ready, findings]) => (await import("/ui/health/state.js"))
            .problemsOf({ status, ready, findings }).map((one) => [one.state, one.says, one.fix])""",
        [
            {**json.loads(ask(site, "v1/status")), "pending": 3, "why_pending": "it is not here"},
            {"degraded": ["embedder", "reranker", "writes"]},
            [
                {"component": "vectors", "detail": "3 are pending", **missing},
                {"component": "model", "detail": "MiniLM is not in models", **missing},
                {"component": "reranker", "detail": "on MiniLM", **missing},
            ],
        ],
    )
    so = "searches use keywords only, 3 passages are not embedded yet, results are not reranked"
    assert told == [  # one cause, and what has another
        ["missing", f"The model MiniLM is not in models: {so}.", fetch],
        ["failed", "The store cannot be written.", ""],
    ]
    assert page.get_by_role("link", name="bread of the day").get_attribute("href") == (
        "#/search?id=c"
    )

    site.forgive("ERR_CONNECTION|ERR_EMPTY_RESPONSE")
    site.stop()
    try:
        page.keyboard.press("r")
        expect(page.locator("#away")).to_be_visible()
        assert readout(page) == "The last 24 hours, 3 searches: keyword 6 · vector 2"
        assert page.get_by_text("as of 14:30").is_visible()
        assert page.locator("dt:text-is('Memories') + dd").inner_text() == "3"
    finally:
        site.start()


def test_a_phone_shows_it_without_scrolling_sideways(site: Site):
    """360 px wide, by touch, and dark; axe finds nothing serious."""
    narrow = {"width": 360, "height": 740}
    page = opened(site, viewport=narrow, has_touch=True, is_mobile=True, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    box = page.locator(f"{HITS} .plot").bounding_box()
    assert box is not None
    page.touchscreen.tap(box["x"] + box["width"] - 12, box["y"] + 60)
    expect(page.locator(f"{HITS} .readout")).to_contain_text("14:00–15:00 so far, 1 search")
    assert page.locator(f"{HITS} .plot svg").evaluate("one => one.clientWidth") == box["width"]
    assert site.axe(page) == []


@pytest.fixture
def without_a_model(site: Site) -> Iterator[Site]:
    """The same store behind a model that does not answer."""
    good = site.embedder
    site.stop()
    site.embedder = BrokenEmbedder()  # type: ignore[assignment]
    site.start()
    yield site
    site.stop()
    site.embedder = good
    site.start()


def test_what_waits_is_said_with_its_reason(without_a_model: Site):
    """The sentence at the top says what wants attention, and why."""
    ask(without_a_model, "v1/search", {"query": "car"})
    page = without_a_model.open("#/health")
    why = "the broken model does not answer; start it"
    expect(page.locator(".wanting li").first).to_contain_text(
        f"3 passages are not embedded yet: {why}"
    )
    waits = page.locator("section:has(> h2:text-is('Pending work'))")
    expect(waits).to_contain_text("3 passages are not embedded yet.")
    expect(page.locator(".wanting")).to_contain_text("1 of 1 search since")
    expect(page.locator(".wanting")).to_contain_text("ran without: the query's vector (1)")


@pytest.fixture
def reader(site: Site) -> Iterator[str]:
    """The token of a person who may read; afterwards the store asks for none again."""
    access = site.store.api_keys
    yield access.create("ann", scopes=("read",), user="ann").secret
    access.revoke("ann")
    access.open_door()


def test_who_may_read_only_is_not_shown_what_is_of_the_server(site: Site, reader: str):
    """Figures of the whole server and doctor are left out, the first with a sentence."""
    site.forgive("403")
    page = site.open("#/health", token=reader)
    expect(page.get_by_text("figures of the whole server")).to_be_visible()
    expect(page.get_by_text("No pending work.")).to_be_visible()
    assert page.locator("dt:text-is('reranker') + dd").inner_text() == "none"
    assert page.locator("dt:text-is('generator') + dd").inner_text() == "none"
    for hidden in ("Queries per hour", "Time of each stage", "Tenants", "Doctor"):
        expect(page.get_by_role("heading", name=hidden, exact=True)).to_be_hidden()
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url.rpartition("/")[2]))
    with page.expect_response("**/v1/weights"):
        page.keyboard.press("r")
    assert "status" in asked
    assert "figures" not in asked
    assert "doctor" not in asked
