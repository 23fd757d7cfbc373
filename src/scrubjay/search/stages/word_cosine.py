"""How alike a query and a text are by all their words: the cosine of their TF-IDF weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from scrubjay.errors import StoreError
from scrubjay.search.pipeline import Kit, Run
from scrubjay.text.analysis import valid_unicode
from scrubjay.text.tfidf import Bag, cosine, idfs, merge_counts
from scrubjay.types import Term

if TYPE_CHECKING:
    from scrubjay.storage.sql.words import SqlTermCounts

T = TypeVar("T")
Key = tuple[str | None, str]  # a tier, and an id in it


def word_cosines(run: Run) -> tuple[dict[Key, float], list[str]]:
    """Return the TF-IDF cosine of each candidate with the query, and which tiers were not counted.

    Every tier's counts are summed first: how rare a word is must mean the same in all of them, or the
    same entry would score otherwise in a small vault than in a large one. A beginning (`retr*`) asks
    each entry for its own tokens so begun, each once.
    """
    uncounted: dict[str, None] = {}
    text = valid_unicode(run.query.meaning or run.query.text)
    held: dict[Key, Bag] = {}
    asked: dict[str, Mapping[str, int]] = {}
    indexes = _indexes(run.kit)
    for name, index in indexes.items():
        ids = [one.id for one in run.pool if one.tier == name]
        bags = _ask(name, uncounted, partial(index.bags, ids)) if ids else None
        for id_, bag in (bags or {}).items():
            held[name, id_] = bag
            if bag.language not in asked:
                asked[bag.language] = index.asked(text, bag.language)
    tokens = {token for bag in held.values() for token in bag.tokens}
    tokens.update(*asked.values())
    counts = [
        _ask(name, uncounted, partial(index.counted, tokens, run.query.scope))
        for name, index in indexes.items()
    ]
    rarities = idfs(merge_counts(filter(None, counts)))
    beginnings = _beginnings(run.query.words)
    alike = {
        key: cosine(
            {**_begun(beginnings, bag.tokens), **asked[bag.language]}, bag.tokens, rarities
        )
        for key, bag in held.items()
    }
    return alike, list(uncounted)


def _indexes(kit: Kit) -> dict[str | None, SqlTermCounts]:
    """Return the counts of every tier that can be asked, or of the store alone."""
    tiers = [tier for tier in kit.tiers if not tier.lost]
    return {tier.name: tier.kit.need("terms") for tier in tiers} or {None: kit.need("terms")}


def _ask(tier: str | None, uncounted: dict[str, None], question: Callable[[], T]) -> T | None:
    """Ask one tier; where it cannot answer now, note that, and the others count."""
    try:
        return question()
    except StoreError as error:
        if tier is None:
            raise
        uncounted[f"tier {tier}: {error}"] = None
        return None


def _beginnings(terms: Iterable[Term]) -> set[str]:
    """Return the tokens of a query's beginnings: with a star, and the stems of words so begun."""
    begun = (term.tokens for term in terms if any(map(_is_beginning, term.tokens)))
    return {token for tokens in begun for token in tokens}


def _is_beginning(token: str) -> bool:
    return len(token) > 1 and token.endswith("*")


def _begun(beginnings: set[str], bag: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens of an entry that the beginnings stand for, each once."""
    first = tuple(token[:-1] for token in beginnings if _is_beginning(token))
    return {token: 1 for token in bag if token.startswith(first) or token in beginnings}
