"""What a query means before any store is asked: its words, and its vector."""

from __future__ import annotations

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.pipeline import Run, stage
from scrubjay.text import readable, terms


@stage
def keywords(run: Run, *, most: int = 64) -> Run:
    """Split the query into stems, without stop words unless it has nothing else."""
    if most < 1:
        raise InvalidInput(f"keywords.most is {most}; it must be 1 or more")
    found = terms(readable(run.query.text))
    run = run._replace(query=run.query._replace(terms=found[:most])).noting(terms=found[:most])
    if not found:
        return run.noting(warning="the query has no searchable term: give at least one word")
    if len(found) > most:
        return run.noting(warning=f"only the first {most} of {len(found)} terms were searched")
    return run


@stage
def embed_query(run: Run, *, most_chars: int = 4000) -> Run:
    """Turn the query into a vector of the store's model."""
    if most_chars < 1:
        raise InvalidInput(f"embed_query.most_chars is {most_chars}; it must be 1 or more")
    text = readable(run.query.text)
    if not terms(text):
        return run  # a vector of punctuation would find something, and mean nothing
    embedder = run.kit.need("embedder")
    vector = embedder.embed([text[:most_chars]], as_query=True)[0]
    if not (abs(float(vector @ vector)) > 0):
        raise Unavailable(f"{embedder.name} gave a vector without direction for this query")
    run = run._replace(query=run.query._replace(vector=vector)).noting(model=embedder.name)
    warnings = []
    if len(text) > most_chars:
        warnings.append(f"only the first {most_chars} characters were embedded")
    index = run.kit.vectors
    waiting = index.missing(embedder.name, run.query.scope) if index is not None else 0
    if waiting:
        warnings.append(f"{waiting} passages still wait for their vector")
    return run.noting(warning="; ".join(warnings)) if warnings else run
