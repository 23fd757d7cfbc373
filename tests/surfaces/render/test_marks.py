"""Where the words of a query stand in a hit, as a page colours them."""

from __future__ import annotations

from pathlib import Path

from fakes import HashingEmbedder

import scrubjay
from scrubjay.surfaces.render.json import results


def _marked(text: str, places: list[list[int]]) -> list[str]:
    """Cut the marked words out as JavaScript would: in units of UTF-16."""
    units = text.encode("utf-16-le")
    return [units[2 * start : 2 * stop].decode("utf-16-le") for start, stop in places]


def test_words_are_marked_in_every_form_and_behind_emoji(tmp_path: Path):
    with scrubjay.open(tmp_path / "a.db", embedder=HashingEmbedder()) as store:
        store.add("😀😀 drinking teas, e.g. green tea", title="👩‍👩‍👧 Tea")
        store.add("新しい自転車を買った")
        found = store.search("drinks tea")
        [hit, *_] = results(found, mode="default", explain=True, full=False)["hits"]
        other = store.search("自転車", mode="keyword")
        [run] = results(other, mode="keyword", explain=True, full=False)["hits"]
        unasked = results(found, mode="default", explain=False, full=False)["hits"][0]
    assert _marked(hit["snippet"], hit["marks"]["snippet"]) == ["drinking", "teas", "tea"]
    assert _marked(hit["title"], hit["marks"]["title"]) == ["Tea"]
    assert _marked(run["snippet"], run["marks"]["snippet"]) == ["自転車"]
    assert "marks" not in unasked
