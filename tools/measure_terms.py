"""Measure what it takes to count tokens exactly, and to read the counts.

    python -m tools.measure_terms [WRITTEN [READ]]

WRITTEN short memories (20,000 unless told) are added and 1,000 of them forgotten, with and without
counting, in turn. Then a store of READ memories (100,000) is searched by word and asked for counts.
Times are CPU time, the least of several rounds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.corpus import generate

import scrubjay
from scrubjay.storage.sql import words as sql_words
from scrubjay.storage.sql.words import TermChanges, count_terms
from scrubjay.text.tfidf import cosine, idfs
from scrubjay.types import Scope

ROUNDS = 5
FORGOTTEN = 1000
TOKENS = 2000
BAGS = 150


class Uncounted(TermChanges):
    """Takes note of nothing."""

    def gain(self, lines: Iterable[str], namespace: str) -> None:
        """Leave a memory uncounted."""

    lose = gain


def took_ms(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def least_ms(work: Callable[[], object]) -> float:
    """Return how long something takes at best."""
    return min(took_ms(work) for _ in range(ROUNDS))


def written(texts: Sequence[str], path: Path) -> tuple[float, float]:
    """Return how long it takes to add memories, and to forget some of them."""
    with scrubjay.open(path, embedder=False) as store:
        given = [{"text": text, "id": str(n)} for n, text in enumerate(texts)]
        added_ms = took_ms(lambda: store.add_many(given))
        some = [str(n) for n in range(0, len(texts), max(1, len(texts) // FORGOTTEN))]
        return added_ms, took_ms(lambda: store.forget(some[:FORGOTTEN]))


def measure_writing(texts: Sequence[str], folder: Path) -> None:
    """Print how long it takes with and without counting."""
    found: dict[str, list[tuple[float, float]]] = {"without": [], "with": []}
    for n in range(ROUNDS):
        for kind, rows in found.items():
            vars(sql_words)["TermChanges"] = TermChanges if kind == "with" else Uncounted
            rows.append(written(texts, folder / f"{kind}{n}.db"))
    print(f"| {len(texts):,} memories | without counting | with | ratio |\n|---|---|---|---|")
    for place, what in enumerate(("add, ms", f"forget {FORGOTTEN:,}, ms")):
        without, with_ = (min(row[place] for row in rows) for rows in found.values())
        print(f"| {what} | {without:,.0f} | {with_:,.0f} | {with_ / without:.2f} |", flush=True)


def measure_reading(texts: Sequence[str], queries: Sequence[str], path: Path) -> None:
    """Print how long searches and looks at the counts take."""
    with scrubjay.open(path, embedder=False) as store:
        made = store.add_many({"text": text} for text in texts)
        some = [one.id for one in made[:: max(1, len(made) // BAGS)]][:BAGS]
        terms = store._context.tables.terms
        bags = terms.bags(some)
        more = terms.bags([one.id for one in made[: 10 * BAGS]])
        tokens = list({token: None for bag in (bags | more).values() for token in bag.tokens})
        weights = idfs(terms.counted(tokens, Scope()))
        asked = terms.query_tokens(queries[0], "en")

        def count() -> None:
            with store._context.db.write() as db:
                count_terms(db)

        search_ms = sum(
            least_ms(lambda query=query: store.search(query, mode="keyword"))  # type: ignore[misc]
            for query in queries
        ) / len(queries)
        print(f"| {len(texts):,} memories | ms | of a keyword search |\n|---|---|---|")
        for what, ms in (
            ("keyword search", search_ms),
            (
                f"counts of {len(tokens[:TOKENS]):,} tokens",
                least_ms(lambda: terms.counted(tokens[:TOKENS], Scope())),
            ),
            (f"bags of {len(some)}", least_ms(lambda: terms.bags(some))),
            (
                f"cosines of {len(some)}",
                least_ms(lambda: [cosine(asked, bag.tokens, weights) for bag in bags.values()]),
            ),
            ("count everything anew", least_ms(count)),
        ):
            print(f"| {what} | {ms:,.2f} | {ms / search_ms:.2f} |", flush=True)


def main() -> None:
    """Print both tables."""
    sizes = [int(size) for size in sys.argv[1:]]
    to_write, to_read = (*sizes, *(20_000, 100_000)[len(sizes) :])
    with TemporaryDirectory() as folder:
        measure_writing(generate(to_write).texts, Path(folder))
        corpus = generate(to_read)
        measure_reading(corpus.texts, corpus.queries, Path(folder) / "read.db")


if __name__ == "__main__":
    main()
