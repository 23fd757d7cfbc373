"""What `import scrubjay` offers is exactly what product.md names."""

from __future__ import annotations

import inspect
import subprocess
import sys

import scrubjay

NAMES = """Hit InvalidInput Link Locked Memory MissingExtra Neighbor NotFound Results ScrubjayError Store
StoreError Unavailable __version__ open""".split()


def test_the_public_names_are_these_and_no_others():
    """A name is public because it is meant to be, and sorted so that a diff is one line."""
    assert scrubjay.__all__ == sorted(NAMES)
    assert all(hasattr(scrubjay, name) for name in NAMES)


def test_importing_scrubjay_brings_its_modules_along():
    """They are imported when used: programs that wrote `scrubjay.types.Hit` go on working."""
    code = (
        "import sys, scrubjay; assert 'scrubjay.store' not in sys.modules; scrubjay.config.load;"
        "assert scrubjay.types.Hit is scrubjay.Hit; from scrubjay import *; Store, open;"
        "assert {'Store', 'open'} <= set(dir(scrubjay))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not hasattr(scrubjay, "store_of_nothing")


def test_open_takes_the_path_first_and_the_rest_by_name():
    """None means the configured one, everywhere."""
    path, *rest = inspect.signature(scrubjay.open).parameters.values()

    assert (path.name, path.default) == ("path", None)
    assert all(one.kind is one.KEYWORD_ONLY for one in rest)
    assert {"profile", "embedder", "reranker", "generator", "clock", "user"} <= {
        one.name for one in rest
    }


def test_add_takes_the_fields_of_the_contract():
    """The text first, all else by name."""
    first, text, *rest = inspect.signature(scrubjay.Store.add).parameters.values()

    assert (first.name, text.name) == ("self", "text")
    assert all(one.kind is one.KEYWORD_ONLY for one in rest)
    assert [one.name for one in rest] == (
        "id title type topics namespace collection session role owner agent severity domain context"
        " created_at updated_at event_time event_until valid_from valid_until source metadata links"
    ).split()


def test_every_verb_is_a_documented_method():
    """Those of product.md that there are so far."""
    for verb in (
        "add add_many ingest search get get_many update forget link unlink neighbors feedback"
        " landscape weights connect pending status close export_md export_jsonl import_entries"
    ).split():
        assert inspect.getdoc(getattr(scrubjay.Store, verb)), verb


def test_a_hit_has_the_fields_of_the_contract(memory):
    """And reads like an object."""
    memory.add("port 5433", topics=["db"], severity="warning", domain="infra")
    (hit,) = memory.search("port")
    for name in (
        "id score text title type topics namespace domain severity tier created_at updated_at source"
        " lines stale snippet complete token_estimate cosine rerank_score why"
    ).split():
        assert hasattr(hit, name), name
    assert (hit.severity, hit.domain, hit.topics) == ("warning", "infra", ("db",))
    assert (hit.snippet, hit.complete, hit.token_estimate) == ("port 5433", True, 3)


def test_results_are_a_sequence_with_an_explanation(memory):
    """Iterates over hits, has a length, truth and an index."""
    memory.add("port 5433")
    found, nothing = memory.search("port"), memory.search("zebra", mode="keyword")

    assert [*found] == list(found.hits) == [found[0]]
    assert (len(found), len(nothing)) == (1, 0)
    assert (bool(found), bool(nothing)) == (True, False)
    for name in "hits counts topics degraded trace took_ms confidence".split():
        assert hasattr(found, name), name


def test_every_error_is_a_scrubjay_error():
    """One base; bad input is a ValueError besides, a missing extra is forgivable."""
    for name in (
        "NotFound",
        "InvalidInput",
        "Unavailable",
        "MissingExtra",
        "Locked",
        "StoreError",
    ):
        assert issubclass(getattr(scrubjay, name), scrubjay.ScrubjayError)
    assert issubclass(scrubjay.InvalidInput, ValueError)
    assert issubclass(scrubjay.MissingExtra, scrubjay.Unavailable)
    extra = scrubjay.MissingExtra("qdrant", "pip install 'scrubjay[qdrant]'")
    assert str(extra).endswith("Install it with: pip install 'scrubjay[qdrant]'")
