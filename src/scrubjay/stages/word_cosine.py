"""How alike a query and a text are by all their words: the cosine of their TF-IDF weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scrubjay.errors import StoreError
from scrubjay.pipeline import Kit, Run
from scrubjay.text import readable
from scrubjay.tfidf import Bag, Counted, cosine, idfs, joined
from scrubjay.types import Candidate, Term


def word_cosines(run: Run) -> tuple[dict[tuple[str | None, str], float], list[str]]:
    """Return the TF-IDF cosine of each candidate with the query, and which tiers were not counted.

    Every tier's counts are summed first: how rare a word is must mean the same in all of them, or the
    same entry would score otherwise in a small vault than in a large one. A beginning (`retr*`) asks
    each entry for its own tokens so begun, each once.
    """
    kits: dict[str | None, Kit] = {tier.name: tier.kit for tier in run.kit.tiers if not tier.lost}
    kits = kits or {None: run.kit}
    text = readable(run.query.meaning or run.query.text)
    held: dict[tuple[str | None, str], Bag] = {}
    asked: dict[str, Mapping[str, int]] = {}
    uncounted: list[str] = []
    for name, kit in kits.items():
        terms, here = kit.need("terms"), _of_tier(run.pool, name)
        if not here:
            continue
        try:
            bags = terms.bags([one.id for one in here])
        except StoreError as error:
            uncounted.append(f"tier {name}: {error}")
            continue
        held |= {(name, id_): bag for id_, bag in bags.items()}
        for language in {bag.language for bag in bags.values()} - asked.keys():
            asked[language] = terms.asked(text, language)
    tokens = {token for bag in held.values() for token in bag.tokens}
    tokens.update(*asked.values())
    counts: list[Counted] = []
    for name, kit in kits.items():
        try:
            counts.append(kit.need("terms").counted(tokens, run.query.scope))
        except StoreError as error:
            uncounted.append(f"tier {name}: {error}")
    rarities = idfs(joined(counts))
    beginnings = _beginnings(run.query.words)
    alike = {
        key: cosine(
            {**_begun(beginnings, bag.tokens), **asked[bag.language]}, bag.tokens, rarities
        )
        for key, bag in held.items()
    }
    return alike, list(dict.fromkeys(uncounted))


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


def _of_tier(pool: Iterable[Candidate], name: str | None) -> list[Candidate]:
    return [one for one in pool if one.tier == name]
