"""novamem: words, meaning and links side by side, each stretched over 0..1 and added up by weight.
After `seeds/novamem.txt`; the rows are NM-1 to NM-9 of the requirements. The score is calculated
in `stages/min_max.py`."""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, recall
from scrubjay.search.stages import graph, min_max, present, understand
from scrubjay.search.stages import recall as sources

# Most questions use other words than the stored text; but identifiers must be found, and of two equal
# memories the one with stronger links is preferred.
WEIGHTS = {"keyword": 0.3, "vector": 0.6, "graph": 0.1}
# The context of a text, or of a message in its conversation, counts less than its own words.
FIELDS = {"title": 1.0, "topics": 1.0, "context": 0.5, "ident": 1.0}
ROWS = 64
RANKING = sources.COVER_DENSITY  # Postgres: ts_rank_cd; SQLite has none, so BM25 there


def novamem() -> tuple[Stage, ...]:
    """Search three independent sources, and make one score of them."""
    return (
        understand.keywords(),
        sources.namespaces(),
        sources.fan_out(times=2),
        understand.embed_query(),
        recall(
            sources=(
                sources.any_word(depth=ROWS, times=1, weights=FIELDS, ranking=RANKING).named(
                    "keyword"
                ),
                sources.vector(depth=ROWS),
                graph.graph(seeds=10, steps=2, depth=ROWS, weights=FIELDS, ranking=RANKING),
            )
        ),
        min_max.clamp(name="vector", low=0.0, high=1.0),
        min_max.min_max(weights=WEIGHTS),
        present.at_least(),
        present.top(),
        present.mark_near_duplicates(),
        present.load(),
        present.passages(),
        present.check_files(),
        present.count_hits(),
    )


MODES = {"default": novamem()}
SUMMARIES = {"default": "words, meaning and links, each over its own range, weighed .3, .6, .1"}
