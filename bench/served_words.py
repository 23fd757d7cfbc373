"""Keyword search in Postgres with candidates from Qdrant, beside Postgres alone, on texts and questions
of a folder of test sets: are the ten ids the same, in the same order, and at what cost?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evals.sets import find

from bench.measure import percentile
from bench.report import Row, times
from bench.served import Machines
from bench.servers import Say
from bench.systems import BATCH, LIMIT

_PROFILES = ("default", "novamem")
_MAX_QUESTIONS = 200
_MIN_TEXTS = 400


class _Asked(NamedTuple):
    ids: list[list[str]]
    wall_s: list[float]


def measure(folder: Path, say: Say, *, quick: bool) -> list[Row]:
    """Return rows for the largest part of each set, and for all of these together."""
    from scrubjay.storage.sql import keyword_ranking

    # Smaller stores are searched by Postgres alone; here they are ranked as larger ones are.
    keyword_ranking.SMALL_STORE = 0
    rows: list[Row] = []
    together: tuple[list[Any], list[str]] = [], []
    most = 20 if quick else _MAX_QUESTIONS
    with Machines() as machines:

        def compare(name: str, texts: Sequence[Any], questions: Sequence[str]) -> None:
            say(f"words: {name}, {len(texts):,} texts, {len(questions)} questions")
            found = _set(machines, f"words_{len(rows)}", texts, questions)
            rows.extend(_row(name, len(texts), *one) for one in found)
            say("\n".join(row.markdown() for row in rows[-len(found) :]))

        for name, parts in find(folder, []).items():
            part = max(parts, key=lambda one: (one.folder / "corpus.jsonl").stat().st_size)
            texts = [{**one, "id": f"{name} {one['id']}"} for one in part.documents()]
            questions = [one["text"] for one in part.questions()]
            texts = [one for one in texts if one["text"].strip()]
            if len(texts) >= _MIN_TEXTS and questions:
                compare(name, texts, questions[:most])
                together[0].extend(texts)
                together[1].extend(questions[: most // 5])
        compare("all of these together", *together)
    return rows


def _set(
    machines: Machines, name: str, documents: Sequence[Any], questions: Sequence[str]
) -> list[tuple[str, _Asked, _Asked]]:
    import scrubjay

    url = machines.postgres.url_of(name)
    machines.postgres.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    server = f"{machines.qdrant.url}/{name}?timeout_s=60"
    with (
        scrubjay.open(url, vectors=server, embedder=False, reranker=False) as listed,
        scrubjay.open(url, embedder=False, reranker=False) as alone,
    ):
        for start in range(0, len(documents), BATCH):
            listed.add_many(
                {"id": str(one["id"]), "text": one["text"], "title": one.get("title") or None}
                for one in documents[start : start + BATCH]
            )
        listed.pending(wait=True)
        return [
            (profile, _ask(listed, questions, profile), _ask(alone, questions, profile))
            for profile in _PROFILES
        ]


def _ask(store: Any, questions: Sequence[str], profile: str) -> _Asked:
    mode = "keyword" if profile == "default" else None
    ids: list[list[str]] = []
    wall_s: list[float] = []
    for question in questions:
        began = time.perf_counter()
        found = store.search(question, profile=profile, mode=mode, limit=LIMIT)
        wall_s.append(time.perf_counter() - began)
        ids.append([hit.id for hit in found])
    return _Asked(ids, wall_s)


def _row(name: str, count: int, profile: str, listed: _Asked, alone: _Asked) -> Row:
    pairs = list(zip(listed.ids, alone.ids, strict=True))
    same = sum(a == b for a, b in pairs) / len(pairs)
    alike = sum({*a} == {*b} for a, b in pairs) / len(pairs)
    cost = percentile(listed.wall_s, 0.5) / percentile(alone.wall_s, 0.5)
    return Row(
        f"{name}, {count:,} texts, {len(pairs)} questions, `{profile}`: candidates from Qdrant beside"
        " Postgres alone",
        f"the same ten ids {alike:.1%}, in the same order {same:.1%}; wall p50 {times(cost)}",
        "at least 95 %",
        alike >= 0.95,
    )
