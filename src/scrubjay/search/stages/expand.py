"""Query expansion: variants of a query from a language model or from the stored texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import Unavailable
from scrubjay.search.expansion import MOST_QUERY_CHARS, Expansion
from scrubjay.search.pipeline import Run, limits, stage
from scrubjay.search.stages.fuse import gather
from scrubjay.search.stages.recall import by_meaning, by_word
from scrubjay.text.analysis import (
    STOP_WORDS,
    fold,
    is_unspaced,
    stem,
    stemmer_for,
    valid_unicode,
    words,
)
from scrubjay.text.languages import detect
from scrubjay.text.query_syntax import folded_stop_words, parse_query
from scrubjay.times import micros
from scrubjay.types import RankedList, Term, Variant

if TYPE_CHECKING:
    from scrubjay.models.guard import GuardedGenerator
    from scrubjay.storage.sql.keyword_ranking import KeywordIndex

_KIND = "expansion"
# Limits of `borrow_words`.
_MOST_CHARS = 4000  # of a text whose best passage is unknown
_MOST_OF_ONE = 3  # how often a word counts in one text
_SHORTEST = 3
_LOOKED_UP = 6  # words whose rarity is looked up, for each that is borrowed


@stage
@limits(top="1 or more", half="above 0")
def strong_signal(
    run: Run, *, top: int = 5, score: float = 0.84, gap: float = 0.14, half: float = 1.0
) -> bool:
    """True when words alone give a clear answer: a high first score, far ahead of the second.
    A BM25 score b counts as b / (b + half), which is comparable between queries: `half` is the
    BM25 score that counts as one half. A missing second counts as 0."""
    found = by_word(run, run.query.words, top)
    strengths = [row.score / (row.score + half) for row in found.rows]
    first, second = (*strengths, 0.0, 0.0)[:2]
    return first >= score and first - second >= gap


@stage
def skipped_strong(run: Run) -> Run:
    """Note in the trace that expansion was not needed."""
    return run.noting(reason="one keyword hit stands out: no expansion is needed")


@stage
@limits(lexical="between 0 and 5", semantic="between 0 and 5", time_limit_s="above 0")
def rephrase(
    run: Run,
    *,
    lexical: int = 3,
    semantic: int = 3,
    least_cosine: float = 0.3,
    time_limit_s: float = 10,
) -> Run:
    """Ask the generator for lexical and semantic variants and a hypothetical answer; cache them.
    The cache is shared by all processes; its key has the query, model, language and prompt
    version."""
    generator = run.kit.need("generator")
    query = valid_unicode(run.query.text)[:MOST_QUERY_CHARS]
    if not run.query.words:
        return run.noting(reason="the query has no words to rephrase")
    # Detected from the query alone: a German question to English notes is still German.
    language = run.query.language or detect(query)
    made, cached = _expansion(run, generator, query, language, lexical, semantic, time_limit_s)
    made, changes = _guarded(run, made, query, language, least_cosine)
    made = made._replace(lexical=made.lexical[:lexical], semantic=made.semantic[:semantic])
    run = run._replace(query=run.query._replace(variants=_variants(run, made)))
    return run.noting(model=generator.name, kept=cached, **made._asdict(), changes=changes)


def _expansion(
    run: Run,
    generator: GuardedGenerator,
    query: str,
    language: str,
    lexical: int,
    semantic: int,
    time_limit_s: float,
) -> tuple[Expansion, bool]:
    """Return the generator's answer, and whether it came from the cache."""
    import json
    from hashlib import sha256

    from scrubjay.search.expansion.parse import parse
    from scrubjay.search.expansion.prompts import PROMPT_VERSION, SCHEMA, prompt_for

    # The scope is part of the key: a cached answer must not reveal what others have asked.
    scope = (run.query.scope.reader, run.query.scope.namespaces)
    parts = (generator.key, language, PROMPT_VERSION, lexical, semantic, query, scope)
    key = sha256(json.dumps(parts).encode()).hexdigest()  # a digest, since a query may be private
    notes = run.kit.notes
    cached = notes.get(_KIND, key) if notes is not None else None
    if cached:
        table = json.loads(cached)
        return Expansion(tuple(table["lexical"]), tuple(table["semantic"]), table["hyde"]), True
    made = generator.complete(
        prompt_for(query, language, lexical=lexical, semantic=semantic),
        schema=SCHEMA,
        within_s=time_limit_s,
        read=parse,
    )
    if notes is not None and run.kit.clock is not None:
        notes.put(_KIND, key, json.dumps(made._asdict()), micros(run.kit.clock()))
    return made, False


def _guarded(
    run: Run, made: Expansion, query: str, language: str, least_cosine: float
) -> tuple[Expansion, tuple[str, ...]]:
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
    languages = tuple(records.languages()) if records is not None else ()
    lexical = []
    for text in made.lexical:
        asked = parse_query(text, languages)
        lexical.append(Variant("lexical", text, words=(*asked.words, *asked.holds)))
    return (
        *(variant for variant in lexical if variant.words),
        *_with_vectors(run, "semantic", made.semantic, as_query=True),
        # The hypothetical answer is embedded as a document: it stands for one.
        *_with_vectors(run, "hyde", [made.hyde] if made.hyde else [], as_query=False),
    )


def _with_vectors(
    run: Run, kind: str, texts: Sequence[str], *, as_query: bool
) -> Iterator[Variant]:
    """Embed variants in one call; none where the query itself has no vector."""
    if not texts or run.query.vector is None or run.kit.embedder is None:
        return
    vectors = run.kit.embedder.embed(texts, as_query=as_query)
    for text, vector in zip(texts, vectors, strict=True):
        yield Variant(kind, text, vector=vector)


class _Word(NamedTuple):
    """A stem in the first texts: its number, the number of texts with it, its usual spelling."""

    total: int
    texts: int
    spelling: str


@stage
@limits(texts="1 or more", borrowed="1 or more", shared_by="1 or more")
def borrow_words(run: Run, *, texts: int = 5, borrowed: int = 8, shared_by: int = 2) -> Run:
    """Add a lexical variant: the query with the most telling words that the first hits share.
    This is pseudo-relevance feedback; it needs no language model."""
    index: KeywordIndex = run.kit.need("keyword")
    if not run.query.words:
        return run
    found = _words_of(_first_texts(run, texts), own=set(run.query.terms))
    shared = {stem: word for stem, word in found.items() if word.texts >= shared_by}
    often = sorted(shared, key=lambda stem: (-shared[stem].total * shared[stem].texts, stem))
    worth = {
        stem: shared[stem].total * index.rarity(Term(((stem,),)))
        for stem in often[: _LOOKED_UP * borrowed]
    }
    best = sorted(worth, key=lambda stem: (-worth[stem], stem))[:borrowed]
    if not best:
        return run.noting(reason="the first texts share no further word")
    added = tuple(shared[stem].spelling for stem in best)
    asked = parse_query(" ".join(added), tuple(run.kit.need("records").languages()))
    text = " ".join((run.query.text, *added))
    made = Variant("lexical", text, words=(*run.query.words, *asked.words))
    query = run.query._replace(variants=(*run.query.variants, made))
    return run._replace(query=query).noting(borrowed=added)


def _words_of(texts: Iterable[tuple[str, str]], own: set[str]) -> dict[str, _Word]:
    counts: Counter[str] = Counter()
    holding: Counter[str] = Counter()
    spellings: dict[str, Counter[str]] = {}
    for text, language in texts:
        stems, ignored = stemmer_for(language), STOP_WORDS | folded_stop_words(language)
        here: Counter[str] = Counter()
        for word in words(text):
            # Numbers, options and other marks identify a text; they are not its subject.
            if len(word) < _SHORTEST or not word.isalpha() or is_unspaced(word):
                continue
            if fold(word) in ignored:
                continue
            token = stem(word, stems)
            if token not in own and not token.isdigit():
                here[token] += 1
                spellings.setdefault(token, Counter())[word] += 1
        holding.update(here.keys())
        counts.update({token: min(count, _MOST_OF_ONE) for token, count in here.items()})
    return {
        token: _Word(
            count, holding[token], min(spellings[token], key=lambda w: (-spellings[token][w], w))
        )
        for token, count in counts.items()
    }


def _first_texts(run: Run, texts: int) -> Iterator[tuple[str, str]]:
    """Yield the first passages of a quick search by word and meaning, with their language."""
    lists = [by_word(run, run.query.words, texts)]
    if run.query.vector is not None and run.kit.vectors is not None and run.kit.embedder:
        near = by_meaning(run, run.query.vector, texts)
        lists.append(RankedList("vector", near.rows))
    first = sorted(
        gather(tuple(lists)),
        key=lambda candidate: (
            -sum(1 / (60 + (at.rank or 0)) for at in candidate.found.values()),
            candidate.id,
        ),
    )[:texts]
    records = run.kit.need("records")
    memories = records.get([candidate.id for candidate in first], run.query.scope)
    chunks = records.chunks(
        (candidate.id, candidate.best_chunk)
        for candidate in first
        if candidate.best_chunk is not None
    )
    for candidate in first:
        memory, chunk = (
            memories.get(candidate.id),
            chunks.get((candidate.id, candidate.best_chunk or 0)),
        )
        if memory is not None:
            passage = memory.text[chunk.start : chunk.stop] if chunk else memory.text
            yield passage[:_MOST_CHARS], memory.language
