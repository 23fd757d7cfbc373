"""How fast memories come in: written one batch after the other, promoted, told to servers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bench.corpus import Corpus
from bench.report import Row, times
from bench.served import Way
from bench.systems import Precomputed, fill_scrubjay


class Rate(NamedTuple):
    """So many memories in so many seconds."""

    memories: int
    seconds: float

    def beside(self, other: Rate) -> float:
        """How many times as fast as another."""
        return (self.memories / self.seconds) / (other.memories / other.seconds)


def written(way: Way, corpus: Corpus, *, links: bool) -> Rate:
    """Write memories into an empty store, until all have their vectors and every server knows them."""
    embedder = Precomputed(
        [*corpus.texts, *corpus.queries], np.vstack([corpus.vectors, corpus.query_vectors])
    )
    with way.open(embedder, "novamem" if links else "default") as store:
        # The first search of `novamem` has every memory linked from then on; and what is imported
        # late is imported now.
        store.search(corpus.queries[0])
        took_s = seconds(lambda: fill_scrubjay(store, corpus.texts))
        return Rate(len(corpus.texts), took_s)


def fed(way: Way, corpus: Corpus) -> Rate:
    """Let the servers of a store know of everything; and what is fitted to many vectors, is."""
    with way.open(Precomputed(corpus.queries, corpus.query_vectors)) as store:
        left: list[int] = []
        took_s = seconds(lambda: left.append(store.pending(wait=True)))
    if left != [0]:
        raise RuntimeError(f"{way.name}: {left[0]} are left")
    return Rate(len(corpus.texts), took_s)


def rows(
    plain: Sequence[tuple[Way, Rate]],
    linked: Sequence[tuple[Way, Rate]],
    promoted: Rate,
    told: Sequence[tuple[Way, Rate]],
) -> list[Row]:
    """Set every rate beside that of the file, which is the first of each."""
    found = []
    for kind, rates in (("", plain), (", linked to their nearest", linked)):
        (own, least), *others = rates
        for way, rate in others:
            what = f"{rate.memories:,} memories written{kind}, every server told: {way.name}"
            ratio = times(rate.beside(least))
            found.append(Row(f"{what} beside {own.name}, memories a second", ratio))
    embedded = plain[0][1]
    found.append(
        Row(
            f"`promote` of {promoted.memories:,} memories with links to Postgres, checked, beside"
            " writing into a file, memories a second",
            times(promoted.beside(embedded)),
        )
    )
    for way, rate in told:
        what = f"Qdrant and FalkorDB told of {rate.memories:,} memories that are in"
        truth = way.name.partition(",")[0]
        found.append(
            Row(
                f"{what} {truth}, beside writing into a file, memories a second",
                times(rate.beside(embedded)),
            )
        )
    return found


def seconds(do: Callable[[], object]) -> float:
    """Wall seconds of a call."""
    began = time.perf_counter()
    do()
    return time.perf_counter() - began
