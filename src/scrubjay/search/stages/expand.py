"""Other ways to ask the same, from a language model: only where words alone have no clear answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.search.expansion import MOST_QUERY_CHARS, Expansion
from scrubjay.search.pipeline import Run, stage
from scrubjay.search.stages.recall import by_word
from scrubjay.text.analysis import valid_unicode
from scrubjay.text.languages import detect
from scrubjay.text.query_syntax import parse_query
from scrubjay.times import micros
from scrubjay.types import Variant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrubjay.models.guard import GuardedGenerator

_KIND = "expansion"


@stage
def strong_signal(
    run: Run, *, top: int = 5, score: float = 0.84, gap: float = 0.14, half: float = 1.0
) -> bool:
    """True when words alone have a clear answer: a high first score, far ahead of the second.

    A BM25 score b counts as b / (b + half), which means the same for every query: `half` is the BM25
    score that counts as one half. A second that is not there counts as 0.
    """
    if top < 1 or half <= 0:
        raise InvalidInput(f"strong_signal has top {top} and half {half}; 1 or more, and above 0")
    found = by_word(run, run.query.words, top)
    strengths = [row.score / (row.score + half) for row in found.rows]
    first, second = (*strengths, 0.0, 0.0)[:2]
    return first >= score and first - second >= gap


@stage
def skipped_strong(run: Run) -> Run:
    """Say in the trace that expansion was not needed."""
    return run.noting(reason="one keyword hit stands out: no expansion is needed")


@stage
def rephrase(
    run: Run,
    *,
    lexical: int = 3,
    semantic: int = 3,
    least_cosine: float = 0.3,
    time_limit_s: float = 10,
) -> Run:
    """Ask the generator for lexical variants, semantic variants and a made-up answer; keep its answer.

    The same query of the same model, language and prompt is asked once, whichever process asks.
    """
    for name, number in (("lexical", lexical), ("semantic", semantic)):
        if not 0 <= number <= 5:
            raise InvalidInput(f"rephrase.{name} is {number}; it must be between 0 and 5")
    if not time_limit_s > 0:
        raise InvalidInput(f"rephrase.time_limit_s is {time_limit_s}; it must be above 0")
    generator = run.kit.need("generator")
    query = valid_unicode(run.query.text)[:MOST_QUERY_CHARS]
    if not run.query.words:
        return run.noting(reason="the query has no words to rephrase")
    # From the text, whatever the store holds: a German question to English notes is still German.
    language = run.query.language or detect(query)
    made, kept = _expansion(run, generator, query, language, lexical, semantic, time_limit_s)
    made, said = _true_to(run, made, query, language, least_cosine)
    made = made._replace(lexical=made.lexical[:lexical], semantic=made.semantic[:semantic])
    run = run._replace(query=run.query._replace(variants=_variants(run, made)))
    return run.noting(model=generator.name, kept=kept, **made._asdict(), changes=said)


def _expansion(
    run: Run,
    generator: GuardedGenerator,
    query: str,
    language: str,
    lexical: int,
    semantic: int,
    time_limit_s: float,
) -> tuple[Expansion, bool]:
    """Return the generator's answer, and whether it was kept from an earlier search."""
    import json

    from scrubjay.search.expansion.parse import parse
    from scrubjay.search.expansion.prompts import PROMPT_VERSION, SCHEMA, prompt_for

    # By what the caller sees, too: nobody learns from a kept answer what others have asked.
    seen = (run.query.scope.reader, run.query.scope.namespaces)
    key = _key(generator.key, language, PROMPT_VERSION, lexical, semantic, query, seen)
    notes = run.kit.notes
    kept = notes.get(_KIND, key) if notes is not None else None
    if kept:
        return _from_json(kept), True
    made = generator.complete(
        prompt_for(query, language, lexical=lexical, semantic=semantic),
        schema=SCHEMA,
        within_s=time_limit_s,
        read=parse,
    )
    if notes is not None and run.kit.clock is not None:
        notes.put(_KIND, key, json.dumps(made._asdict()), micros(run.kit.clock()))
    return made, False


def _key(*parts: object) -> str:
    """Return the key of a kept answer: a digest, since a query may be private."""
    import json
    from hashlib import sha256

    return sha256(json.dumps(parts).encode()).hexdigest()


def _from_json(kept: str) -> Expansion:
    import json

    table = json.loads(kept)
    return Expansion(tuple(table["lexical"]), tuple(table["semantic"]), table["hyde"])


def _true_to(
    run: Run, made: Expansion, query: str, language: str, least_cosine: float
) -> tuple[Expansion, tuple[str, ...]]:
    """Drop and mend what strays from the query."""
    from scrubjay.search.expansion.guardrails import guarded

    def cosine(text: str) -> float | None:
        if run.query.vector is None or run.kit.embedder is None:
            return None
        try:
            return float(run.kit.embedder.embed([text], as_query=True)[0] @ run.query.vector)
        except Unavailable:
            return None

    return guarded(made, query, language=language, cosine=cosine, least_cosine=least_cosine)


def _variants(run: Run, made: Expansion) -> tuple[Variant, ...]:
    """Give each variant the words or the vector that it is searched with."""
    records = run.kit.records
    held = tuple(records.languages()) if records is not None else ()
    by_word = []
    for text in made.lexical:
        asked = parse_query(text, held)
        by_word.append(Variant("lexical", text, words=(*asked.words, *asked.holds)))
    # A made-up answer is embedded as a document is: it stands for one.
    by_meaning = (
        *_with_vectors(run, "semantic", made.semantic, as_query=True),
        *_with_vectors(run, "hyde", [made.hyde] if made.hyde else [], as_query=False),
    )
    return (*(one for one in by_word if one.words), *by_meaning)


def _with_vectors(
    run: Run, kind: str, texts: Sequence[str], *, as_query: bool
) -> Iterator[Variant]:
    """Embed in one pass; where the query itself has no vector, nothing is compared with any."""
    if not texts or run.query.vector is None or run.kit.embedder is None:
        return
    vectors = run.kit.embedder.embed(texts, as_query=as_query)
    for text, vector in zip(texts, vectors, strict=True):
        yield Variant(kind, text, vector=vector)
