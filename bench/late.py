"""Late interaction done three ways: token vectors made anew, kept in memory, or stored."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import scrubjay
from bench.corpus import DIMS, Vectors
from bench.measure import cpu_s, middle
from bench.report import Row, size, times

if TYPE_CHECKING:
    from scrubjay.models import Embedder
    from scrubjay.models.embed.local import OnnxEmbedder
    from scrubjay.text.token_vectors import TokenCodes

PASSAGES = 20
_WRITTEN_AT_ONCE = 20
_SETS = 8
_STORED = "stored, 48 numbers of four bits a token, read from SQLite"
_ANEW = "made by the model for each query"
_KEPT = "made by the model unless in memory, {} % there"

Place = tuple[str, int]


def choice(path: Path, queries: Sequence[str], model: OnnxEmbedder, real: int) -> list[Row]:
    """Score 20 passages by tokens that are made anew, kept in memory, or stored."""
    from scrubjay.models.guard import GuardedEmbedder
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.storage.sql.vectors import SqlTokenVectors
    from scrubjay.storage.sqlite.connection import SqliteDatabase
    from scrubjay.text.token_vectors import max_sim, pack, unpack
    from scrubjay.types import Scope

    guarded = GuardedEmbedder(model)
    costs: dict[str, list[float]] = {}
    chosen = random.Random(len(queries))
    with closing(SqliteDatabase(str(path))) as db:
        records, index = SqlRecords(db), SqlTokenVectors(db)

        def stored(places: Sequence[Place]) -> Mapping[Place, TokenCodes]:
            return index.of(model.name, places)

        def anew(places: Sequence[Place]) -> Mapping[Place, TokenCodes]:
            memories = records.get([id_ for id_, _ in places], Scope())
            rows = guarded.encode([memories[id_].text for id_, _ in places])[1] or []
            codes = (unpack(pack(one), one.shape[1]) for one in rows)
            return dict(zip(places, codes, strict=True))

        def kept(
            cache: dict[Place, TokenCodes], places: Sequence[Place]
        ) -> dict[Place, TokenCodes]:
            lacking = [place for place in places if place not in cache]
            if lacking:
                cache.update(anew(lacking))
            return cache

        def scored(
            asked: Vectors,
            places: Sequence[Place],
            way: Callable[[], Mapping[Place, TokenCodes]],
        ) -> list[float]:
            codes = way()
            return max_sim(asked, [codes[place] for place in places])

        for query in queries:
            asked = (guarded.encode([query])[1] or [])[0]
            for number in range(_SETS):
                places = [(str(one), 0) for one in chosen.sample(range(real), PASSAGES)]
                full = dict(stored(places))
                half = {place: full[place] for place in places[: PASSAGES // 2]}
                ways: dict[str, Callable[[], Mapping[Place, TokenCodes]]] = {
                    _STORED: partial(stored, places),
                    _KEPT.format(100): partial(kept, full, places),
                }
                if not number:  # these take far longer: once a query is enough
                    ways[_KEPT.format(50)] = partial(kept, half, places)
                    ways[_KEPT.format(0)] = partial(kept, {}, places)
                    ways[_ANEW] = partial(anew, places)
                for name in chosen.sample(list(ways), len(ways)):
                    spent_s = cpu_s(partial(scored, asked, places, ways[name]))
                    costs.setdefault(name, []).append(spent_s)
    one_s = middle(costs[_STORED])
    names = (_ANEW, *(_KEPT.format(share) for share in (0, 50, 100)))
    what = f"late interaction over {PASSAGES} passages, CPU: token vectors"
    return [
        Row(f"{what} {_STORED}", "1"),
        *(
            Row(f"{what} {name}, beside stored", times(middle(costs[name]) / one_s))
            for name in names
        ),
    ]


def sizes(
    real: Sequence[str], without: int, whole: int, documents: int, model: OnnxEmbedder
) -> list[Row]:
    """Say what token vectors weigh, by themselves and in the file."""
    from scrubjay.text.token_vectors import pack

    counts = [model.count_tokens(text) for text in real]
    widths = {
        dims: middle([len(pack(np.ones((count, dims), np.float32))) for count in counts])
        for dims in (32, 48, 64)
    }
    shown = ", ".join(f"{dims} dimensions {size(weight)}" for dims, weight in widths.items())
    text = middle([len(one.encode()) for one in real])
    return [
        Row(
            f"token vectors of a passage of {middle(counts):.0f} tokens (median), four bits a number",
            f"{shown}; its float32 vector {size(4 * DIMS)}, its text {size(text)}",
        ),
        Row(
            f"file size of {documents:,} documents: token vectors of {model.token_dims}"
            " dimensions beside none",
            f"{whole / without - 1:+.0%} ({size(without)} without, {size(whole)} with)",
        ),
    ]


def writing(home: Path, real: Sequence[str], model: OnnxEmbedder, bare: Embedder) -> Row:
    """Embed and store real passages with token vectors and without, a block each in turns.

    `bare` is the same model without tokens.
    """
    ratios = []
    with (
        scrubjay.open(str(home / "tokens.db"), embedder=model) as tokens,
        scrubjay.open(str(home / "vectors.db"), embedder=bare) as vectors,
    ):
        for start in range(0, len(real), _WRITTEN_AT_ONCE):
            block = [{"text": one} for one in real[start : start + _WRITTEN_AT_ONCE]]
            turns = (tokens, vectors) if start // _WRITTEN_AT_ONCE % 2 else (vectors, tokens)
            spent_s = {store: cpu_s(partial(_write, store, block)) for store in turns}
            ratios.append(spent_s[tokens] / spent_s[vectors])
    what = f"writing {len(real)} passages, embedding counted, CPU: with token vectors beside none"
    return Row(what, times(middle(ratios)))


def _write(store: Any, block: Sequence[Mapping[str, str]]) -> None:
    store.add_many(block)
    if store.pending(wait=True):
        raise RuntimeError("passages were left without a vector")
