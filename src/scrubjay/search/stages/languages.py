"""Other languages: a second vector finds texts whose language is not that of the question."""

from __future__ import annotations

from collections.abc import Sequence

from scrubjay.search.pipeline import Run, limits, stage
from scrubjay.search.stages.recall import different, enough
from scrubjay.text.analysis import has_terms, valid_unicode
from scrubjay.types import ACROSS, LANGUAGES, Across, Candidate, RankedList


@stage
@limits(most_chars="1 or more")
def embed_languages(run: Run, *, most_chars: int = 4000) -> Run:
    """Embed the query with the multilingual model, where the main model does not support the language
    of the query or of some texts."""
    text = valid_unicode(run.query.meaning or run.query.text)
    main, records = run.kit.embedder, run.kit.records
    if run.query.only_time or main is None or records is None or not has_terms(text):
        return run
    held = [language for language in records.languages() if language]
    spoken = _language_of(text, held, main.languages)
    foreign = {one for one in (*held, spoken) if one and one not in main.languages}
    if not main.languages or not foreign or run.kit.multilingual is None:
        return run
    embedder, why_not = run.kit.multilingual()
    if embedder is None:
        named = ", ".join(sorted(foreign))
        return run.warning(
            f"texts and questions in {named} are compared by their words: {why_not}"
        )
    (vector,) = embedder.embed([text[:most_chars]], as_query=True)
    query = run.query._replace(
        across=Across(vector, embedder.name, spoken),
        foreign=bool(spoken) and spoken not in main.languages,
    )
    return run._replace(query=query).noting(model=embedder.name, language=spoken)


def _language_of(text: str, held: Sequence[str], supported: Sequence[str]) -> str:
    """Return the language of a query, among those of the store or those that its script decides.
    One that is unclear is that of the store, if all texts are in one language, which is none that the
    main model supports."""
    from scrubjay.text.languages import detect

    found = detect(text, {*held, "en"}) or detect(text)
    only = held[0] if len(held) == 1 and held[0] not in supported else ""
    return found or only


@stage
@limits(depth="1 or more", times="1 or more")
def languages(run: Run, *, depth: int = 64, times: float = 1) -> RankedList:
    """Memories of any language whose best chunk is nearest to the query's multilingual vector."""
    across = run.query.across
    if across is None:
        return RankedList(LANGUAGES, searched=False)
    search, scope = run.kit.need("vectors").search, run.query.scope
    found = different(
        run,
        lambda most: search(across.vector, across.model, scope, most),
        enough(run, depth, times),
    )
    return found._replace(name=LANGUAGES)


@stage
def separate_languages(run: Run) -> Run:
    """Judge a text in another language than the query by the multilingual vector alone: words and an
    English model do not match across languages."""
    across, main = run.query.across, run.kit.embedder
    if across is None or not across.language or not run.pool:
        return run
    records = run.kit.need("records")
    written = records.languages_of([candidate.id for candidate in run.pool])
    supported = main is not None and across.language in main.languages

    def differs(candidate: Candidate) -> bool:
        if language := written.get(candidate.id, ""):
            return bool(language != across.language)
        # A text whose language is unclear: by its words, if it has any of the query's.
        return not supported and "keyword" not in candidate.found

    def judged(candidate: Candidate) -> Candidate:
        near = candidate.found.get(LANGUAGES)
        if near is None or not differs(candidate):
            return candidate
        return candidate._replace(found={ACROSS: near})

    pool = tuple(map(judged, run.pool))
    count = sum(ACROSS in candidate.found for candidate in pool)
    return run.holding(pool).noting(language=across.language, across=count)
