"""default: words, meaning and single tokens, each compared with the best score of its list."""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, configured, group, recall, when
from scrubjay.search.stages import (
    confidence,
    expand,
    fuse,
    holds,
    languages,
    present,
    reading,
    rerank,
    small_talk,
    timing,
    understand,
)
from scrubjay.search.stages import recall as sources

# The context of a text, or of a message in its conversation, counts less than its own words.
FIELDS = {"title": 1.0, "topics": 1.0, "context": 0.5, "ident": 1.0}
# A cross-encoder gives nearly only high or low scores, so it counts half as much.
WEIGHTS = {"keyword": 0.5, "vector": 0.5, "late": 0.5, "cross_encoder": 0.25, "moment": 0.5}
# An English model reads other languages letter by letter, so its scores count less.
FOREIGN = {"keyword": 0.7, "vector": 0.3, "cross_encoder": 0.25, "moment": 0.5}
# A multilingual model reads many of them, less exactly than the main model reads English.
LANGUAGES = {
    "keyword": 0.55,
    "languages": 0.4,
    "vector": 0.2,
    "cross_encoder": 0.25,
    "moment": 0.5,
}
LEAST = {
    "keyword": 0.2,
    "vector": 0.3,
    "late": 0.3,
    "languages": 0.3,
    "across": 0.3,
    "cross_encoder": 0.5,
}
# One word in a long text has a small share of the best possible score, but it does match.
POWERS = {"keyword": 0.5, "vector": 1.0}
# Spread of the cosines of passages unrelated to a query, less what passages of one text have in common;
# measured in docs/decisions/016-conversations.md.
SPREAD = {"vector": 0.05, "late": 0.05}

# For queries that ask for a time and nothing else.
_THEN = timing.moment(depth=64, only=True)
_SCORE: tuple[Stage, ...] = (
    languages.separate_languages(),
    fuse.weigh(
        weights=WEIGHTS,
        least=LEAST,
        powers=POWERS,
        foreign=FOREIGN,
        languages=LANGUAGES,
        across=0.9,
        spread=SPREAD,
    ),
)
# Far enough below any text about the query, and still found where nothing else is.
_SMALL_TALK = small_talk.small_talk(share=0.9)
_BY_TIME = when(
    test=understand.timed(),
    then=(present.load().named("read"), timing.in_time(share=0.25, by_text=0.05)),
).named("by_time")
# An update of at least this strength replaces the older memory; a weaker one only ranks above it.
STRONG, WEAK = 0.8, 0.5


# Fitted on small worlds of notes that the model did not learn from (decision 040).
READ_NOW = {"read": 0.8, "score": 1.2, "replaces_first": 1.8, "newest": 0.3}
READ_THEN = {"read": 1.0, "score": 1.4, "newest": 1.5}
READ_PAST = {"read": 0.7, "score": 1.3, "replaced_by_first": 1.4, "newest": -1.2}


def holding(*read: Stage) -> tuple[Stage, ...]:
    """Put what holds now in the place of what it replaced, where candidates were replaced at all."""
    fold = holds.fold(strong=STRONG, weak=WEAK, most=4)
    then = (holds.tense(), *read, fold)
    return (holds.replaced(), when(test=holds.any_replaced(), then=then).named("holds"))


_READ = when(
    test=holds.reads(),
    then=(
        reading.read_first(link=0.3, most=8, chars=400),
        reading.order_read(present=READ_NOW, past=READ_PAST, then=READ_THEN),
    ),
).named("by_reader")
_SHOW: tuple[Stage, ...] = (
    confidence.confidence(chars=8000, least=0.001),
    present.at_least(),
    present.top(),
    present.mark_near_duplicates(),
    present.load(),
    present.around(turns=1),
    present.passages(),
    present.check_files(),
)


_FIND: tuple[Stage, ...] = (
    understand.time_range(),
    understand.keywords(),
    sources.fan_out(times=2),
    understand.embed_query(),
    languages.embed_languages(),
    recall(
        sources=(
            sources.keyword(depth=64, weights=FIELDS),
            sources.vector(depth=64),
            languages.languages(depth=64),
            _THEN,
        )
    ),
    fuse.rrf(k=60),
    present.pool(size=64),
    sources.look_up(),
    present.count_passages(),
)


def fast() -> tuple[Stage, ...]:
    """Words and meaning in parallel, with lists of the same length."""
    return (*_FIND, *_SCORE, _SMALL_TALK, _BY_TIME, *holding(_READ), *_SHOW)


def reranking(depth: int, pairs: int) -> Stage:
    """Rerank with stored token vectors, and with a reranker if one is configured."""
    by_tokens = when(
        test=configured(part="tokens"),
        then=(rerank.late_interaction(depth=depth, floor=rerank.UNRELATED),),
    )
    by_pairs = when(
        test=configured(part="reranker").named("reranker_chosen"),
        then=(rerank.cross_encoder(depth=pairs, chars=1000, deadline_ms=1000),),
    )
    return group(stages=(by_tokens.named("by_tokens"), by_pairs.named("by_pairs"))).named("rerank")


def hybrid() -> tuple[Stage, ...]:
    """Like fast, and rerank the best."""
    scored = (reranking(depth=64, pairs=32), *_SCORE, _SMALL_TALK, _BY_TIME)
    return (*_FIND, *scored, *holding(_READ), *_SHOW)


def thorough(depth: int = 256) -> tuple[Stage, ...]:
    """Longer lists, and variants of the query where a language model is configured."""
    return (
        understand.time_range(),
        understand.keywords(),
        sources.fan_out(times=2),
        understand.embed_query(),
        languages.embed_languages(),
        group(
            stages=(
                when(
                    test=configured(part="generator").named("generator_chosen"),
                    then=(expand.rephrase(),),
                ).named("by_generator"),
                when(
                    test=configured(part="corpus").named("corpus_chosen"),
                    then=(expand.borrow_words(),),
                ).named("by_corpus"),
            )
        ).named("expand"),
        recall(
            sources=(
                sources.keyword(depth=depth, weights=FIELDS),
                sources.vector(depth=depth),
                languages.languages(depth=depth),
                _THEN,
            ),
            per_variant=(
                sources.lexical(times=2),
                sources.semantic(times=2),
                sources.hyde(times=2),
            ),
        ),
        fuse.rrf(k=60, weights={"lexical": 0.5, "semantic": 0.5, "hyde": 0.7}),
        present.pool(size=depth),
        sources.look_up(),
        present.count_passages(),
        reranking(depth=depth, pairs=64),
        *_SCORE,
        _SMALL_TALK,
        _BY_TIME,
        *holding(_READ),
        *_SHOW,
    )


def by_word(depth: int = 64) -> tuple[Stage, ...]:
    """Words alone: no model and no numpy, a few milliseconds from a cold shell."""
    return (
        understand.keywords(),
        sources.fan_out(times=2),
        recall(sources=(sources.keyword(depth=depth, weights=FIELDS),)),
        fuse.rrf(k=60),
        *_SCORE,
        *holding(),
        *_SHOW,
    )


def by_meaning(depth: int = 64) -> tuple[Stage, ...]:
    """Vectors alone, or words where the query has no vector."""
    return (
        understand.time_range(),
        understand.keywords(),
        sources.fan_out(times=2),
        understand.embed_query(),
        languages.embed_languages(),
        recall(sources=(sources.vector(depth=depth), languages.languages(depth=depth))),
        when(
            test=sources.nothing_searched(),
            then=(
                recall(sources=(sources.keyword(depth=depth, weights=FIELDS),)).named(
                    "words_instead"
                ),
            ),
        ),
        fuse.rrf(k=60),
        present.count_passages(),
        *_SCORE,
        _BY_TIME,
        *holding(_READ),
        *_SHOW,
    )


MODES = {
    "default": hybrid(),
    "fast": fast(),
    "thorough": thorough(),
    "keyword": by_word(),
    "vector": by_meaning(),
}
SUMMARIES = {
    "default": "words, meaning and single tokens, weighed",
    "fast": "words and meaning, without a second look",
    "thorough": "deeper lists, and a language model's variants where one is configured",
    "keyword": "words alone",
    "vector": "meaning alone",
}
