"""The public API as a user writes it; mypy checks it, nothing runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import scrubjay
from scrubjay import Hit, Link, Memory, Neighbor, Results, Store
from scrubjay.search.pipeline import Stage, recall
from scrubjay.search.stages.fuse import rrf
from scrubjay.search.stages.recall import keyword
from scrubjay.types.reports import Hits


class MyEmbedder:
    """A model of one's own needs no base class."""

    name = "mine"
    dims = 3

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> NDArray[np.float32]:
        """Return one vector a text."""
        return np.ones((len(texts), self.dims), dtype=np.float32)


class MyReranker:
    """So does a reranker."""

    name = "mine"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score a text."""
        return [0.5 for _ in texts]


class MyGenerator:
    """And a generator."""

    name = "mine"

    def complete(self, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        """Return an answer."""
        return prompt


def clock() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


def opening() -> None:
    """A path, a text, nothing; a model as object, name, False."""
    stores: list[Store] = [
        scrubjay.open(),
        scrubjay.open("notes.db"),
        scrubjay.open(Path("notes.db"), embedder=False),
        scrubjay.open(":memory:", profile="default", embedder="all-MiniLM-L6-v2"),
        scrubjay.open(
            None,
            embedder=MyEmbedder(),
            reranker=MyReranker(),
            generator=MyGenerator(),
            clock=clock,
            user="ada",
        ),
    ]
    for one in stores:
        one.close()


def writing(memory: Store) -> None:
    """Every field by its name; times in three forms; links in three forms."""
    kept: Memory = memory.add(
        "Prefers Python for back ends",
        id="python",
        type="preference",
        topics=["python", "backend"],
        created_at="2026-05-03",
        updated_at=datetime(2026, 5, 3, tzinfo=UTC),
        event_time=date(2026, 5, 3),
        metadata={"ticket": 7},
        links=["a", ("b", 0.5), Link("c", 0.5, "cites")],
    )
    many: list[Memory] = memory.add_many([{"text": "one"}, Memory("two"), kept])
    said: Memory = memory.add_message("Hello", session="s", role="user", at=date(2026, 5, 3))
    talk: list[Memory] = memory.add_messages([("user", "Hi"), {"content": "Ho"}], session="s")
    turns: list[Memory] = [*memory.around(said.id, turns=2), *memory.ls(session="s"), *talk]
    ended: list[datetime] = [one.last_at for one in memory.sessions(owner="ada")]
    assert turns or ended
    changed: Memory = memory.update(kept.id, text="Prefers Go")
    removed: int = memory.forget([one.id for one in many])
    removed += memory.forget(changed.id)
    memory.link("a", "b", strength=0.5, kind="cites")
    cut: int = memory.unlink("a", "b")
    memory.feedback("python", "a", "accepted")
    weighed: float = memory.weights("default")["keyword"] + memory.learned().shift
    undone: int = memory.undo_feedback(memory.feedbacks(limit=1)[0].number).number
    ending: list[Memory] = [*memory.expiring("30d"), *memory.expiring(timedelta(days=2))]
    assert weighed + undone + len(ending)
    left: int = memory.pending(wait=True)
    added: int = memory.ingest("notes", collection="work").added
    assert removed + cut + left + added


def reading(memory: Store) -> str:
    """What comes back has types all the way down."""
    results: Results = memory.search(
        "which language?",
        profile="default",
        mode="fast",
        limit=5,
        namespaces=["default"],
        topics=["python"],
        types="preference",
        since="2026-01-01",
        until=datetime.now(UTC),
        min_score=0.2,
        overrides={"rrf.k": 30, "passages": False},
    )
    for hit in results:
        shown: Hit = hit
        score: float = shown.score
        cosine: float | None = shown.cosine
        why: dict[str, float] = dict(shown.why)
        lines: tuple[int, int] | None = shown.lines
        assert score or cosine or why or lines
    reasons: tuple[str, ...] = results.degraded
    stages: list[str] = [step.stage for step in results.trace]
    found = memory.get_many(["a", "b"])
    missing: tuple[str, ...] = found.missing
    texts: list[str] = [one.text for one in found]
    memory.search("a", profile="novamem", weights={"keyword": 1, "vector": 0.5})
    memory.search("a", profile="novamem", weights="roaming", namespace="project/")
    counted: Hits = memory.hits(since="2026-05-03")
    by_tier: Mapping[str, int] = counted.hours[0].tiers
    near: list[Neighbor] = memory.neighbors("a", depth=2, limit=5)
    size: int = memory.status().memories
    moved: tuple[int, int] = (memory.export_md("out").written, memory.import_entries("out").added)
    assert moved or near or by_tier or size or missing or len(results) or reasons or stages
    return memory.get("a").text + results[0].id + texts[0]


def listing() -> list[Stage]:
    """A stage's numbers are checked before anything runs: a wrong name or kind is a type error."""
    rrf(k="sixty")  # type: ignore[arg-type]
    rrf(kay=60)  # type: ignore[call-arg]
    recall(sources=(rrf(k=60),))  # type: ignore[arg-type]
    return [recall(sources=(keyword(depth=10),)), rrf(k=30, weights={"keyword": 2.0})]


def failing(memory: Store) -> str | None:
    """Errors are caught by name."""
    try:
        with memory as opened:
            opened.get("nobody")
    except scrubjay.NotFound as error:
        return str(error)
    except scrubjay.MissingExtra as error:
        return error.command
    except (scrubjay.InvalidInput, scrubjay.Unavailable, scrubjay.ScrubjayError):
        return None
    return None


def tiers(memory: Store) -> None:
    """Paths in two forms; a vault by name."""
    scrubjay.open(tiers={"project": "p.db", "team": Path("t.db")}).close()
    memory.connect(Path("handbook.db"), name="handbook", priority=0.7)
    names: list[str] = [one.name for one in memory.tiers()]
    memory.disconnect(names[0])
