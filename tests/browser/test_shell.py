"""What stands around every view."""

from __future__ import annotations

from browsing import Site


def test_the_page_has_its_name_and_its_views(site: Site):
    page = site.open("#/nowhere")
    page.wait_for_function("document.title === 'Search · scrubjay'")
    assert page.locator("nav a").all_inner_texts() == ["Search", "Compare", "Map", "Health"]
    assert site.axe(page) == []
