"""Status: counts of what a store contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.storage.schema import SCHEMA_VERSION
from scrubjay.storage.sql.messages import SqlMessages
from scrubjay.storage.sql.overview import SqlCounts
from scrubjay.storage.sql.vectors import MAX_TRIES
from scrubjay.storage.sqlite.cache.notes import notes
from scrubjay.storage.sqlite.rotations import SqliteRotations
from scrubjay.types.reports import Drawing, ShortVectors, Status, VectorCells

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrubjay.conversations.extraction.run import Extraction
    from scrubjay.search.models import SearchModels
    from scrubjay.storage.database import Database
    from scrubjay.storage.sql.records import SqlRecords
    from scrubjay.types import Scope
    from scrubjay.write.embedding import Embedding


def status(
    path: str, db: Database, records: SqlRecords, embedding: Embedding, scope: Scope, feedback: int
) -> Status:
    """Count what a caller may see; sizes are of the whole file."""
    types, counts = records.counts("type", scope), SqlCounts(db)
    model = embedding.embedder.name if embedding.embedder is not None else None
    models, chunks = counts.vectors(scope), counts.rows("chunks", scope)
    left, failed = counts.queued(model, MAX_TRIES, scope) if model else (0, 0)
    if model and model not in models:  # it has not been used yet: every chunk needs its vector
        left = chunks
    return Status(
        path=path,
        schema=SCHEMA_VERSION,
        memories=sum(types.values()),
        documents=types.get("document", 0),
        messages=types.get("message", 0),
        sessions=SqlMessages(db).count_sessions(scope),
        chunks=chunks,
        links=counts.rows("edges", scope),
        feedback=feedback,
        namespaces=records.counts("namespace", scope),
        types=types,
        collections=records.counts("collection", scope),
        model=model,
        models=models,
        short_vectors=_short_vectors(db, embedding),
        pending=left - failed,
        failed=failed,
        failures=tuple(embedding.queue.failures(model)) if model else (),
        size_bytes=db.size_bytes,
        unlinked=embedding.unlinked(scope),
        uncompared=embedding.uncompared(scope),
        why_pending=embedding.why_pending() if left > failed else "",
        languages=embedding.languages(),
        vector_cells=_vector_cells(db),
    )


def _short_vectors(db: Database, embedding: Embedding) -> dict[str, ShortVectors]:
    """Return, by model, how its vectors are shortened, or why they are not."""
    rotations, mine = SqliteRotations(db), embedding.embedder
    found: dict[str, ShortVectors] = {}
    for model, dims in rotations.models().items():
        if not dims:  # it has no vector yet
            continue
        prefixes = mine.matryoshka if mine is not None and mine.name == model else ()
        why_not, fitted = rotations.why_not(model, prefixes), rotations.of(model)
        found[model] = ShortVectors(dims, why_not=why_not)
        if fitted is not None:
            names = ("short_dims", "shortlist", "recall", "trials", "fitted_on")
            values = {name: getattr(fitted, name) for name in names}
            found[model] = found[model]._replace(**values)
    return found


def _vector_cells(db: Database) -> dict[str, VectorCells]:
    """Return, by model, what its cache has."""
    with db.read() as reading:
        names = dict(reading.execute("SELECT n, name FROM models").fetchall())
        known = notes(reading)
    return {
        names[n]: VectorCells(
            note.rows, note.cells, note.probed, note.recall, note.trials, note.size_bytes
        )
        for n, note in sorted(known.items())
        if type(names.get(n)) is str
    }


def drawing(db: Database, find_model: Callable[[], Extraction], scope: Scope) -> Drawing:
    """Return how many messages wait for extraction, if a language model is configured."""
    from scrubjay.storage.sql.extractions import SqlExtractions

    try:
        model = find_model().model
    except (InvalidInput, Unavailable):  # `doctor` reports why
        return Drawing()
    queue = SqlExtractions(db)
    failures = queue.failures(scope)
    return Drawing(model, queue.waiting(scope), sum(failures.values()), failures)


def named(
    find: Callable[[], SearchModels], embedding: Embedding, *, bundled: bool
) -> tuple[str | None, str | None]:
    """Return the names of the reranker and the generator."""
    embedder = embedding.embedder
    try:
        return find().names(embedder is not None and embedder.token_dims > 0, bundled=bundled)
    except InvalidInput:  # `doctor` reports why
        return None, None


def model_of_settings(embedding: Embedding) -> str | None:
    """Return the model that the settings name, where the store has chosen another."""
    from scrubjay.config import DEFAULT_EMBEDDER, load
    from scrubjay.write.model_choice import find_embedder

    own = embedding.switch.chosen()[0] if embedding.follows else None
    if own is None or load().embedder == DEFAULT_EMBEDDER:
        return None
    try:
        configured = find_embedder(None, None, None)
    except InvalidInput:  # `doctor` reports why
        return None
    name = None if configured is None else configured.embedder.name
    return None if name == own.name else name
