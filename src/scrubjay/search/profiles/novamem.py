"""novamem: words, meaning and links side by side, each stretched over 0..1, added up by weight.

After `seeds/novamem.txt`; the rows are NM-1 to NM-9 of the requirements. How the three become one score
is in `stages/min_max.py`.
"""

from __future__ import annotations

from scrubjay.search.pipeline import Stage, recall
from scrubjay.search.stages.graph import graph
from scrubjay.search.stages.min_max import clamp, min_max
from scrubjay.search.stages.present import (
    at_least,
    check_files,
    count_hits,
    load,
    mark_near_duplicates,
    passages,
    top,
)
from scrubjay.search.stages.recall import any_word, fan_out, namespaces, vector
from scrubjay.search.stages.understand import embed_query, keywords

# Most questions are other words for what is stored; but identifiers must be found, and between equals
# the one with the stronger links is meant.
WEIGHTS = {"keyword": 0.3, "vector": 0.6, "graph": 0.1}
# What stands around a text, or around a turn in its conversation, says less of it than its own words.
FIELDS = {"title": 1.0, "topics": 1.0, "context": 0.5, "ident": 1.0}
ROWS = 64


def novamem() -> tuple[Stage, ...]:
    """Three tiers that know nothing of each other, and one score of all."""
    return (
        keywords(),
        namespaces(),
        fan_out(times=2),
        embed_query(),
        recall(
            sources=(
                any_word(depth=ROWS, times=1, weights=FIELDS).named("keyword"),
                vector(depth=ROWS),
                graph(seeds=10, steps=2, depth=ROWS, weights=FIELDS),
            )
        ),
        clamp(name="vector", low=0.0, high=1.0),
        min_max(weights=WEIGHTS),
        at_least(),
        top(),
        mark_near_duplicates(),
        load(),
        passages(),
        check_files(),
        count_hits(),
    )


MODES = {"default": novamem()}
SUMMARIES = {"default": "words, meaning and links, each over its own range, weighed .3, .6, .1"}
