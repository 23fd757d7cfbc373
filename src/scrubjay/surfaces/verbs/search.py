"""The verbs of finding: a search, and what an agent is told before it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.surfaces.verbs import READ, Given, Param, Verb
from scrubjay.surfaces.verbs.kinds import (
    FLAG,
    LIMIT,
    MAPPING,
    NAME,
    QUERY,
    TEXTS,
    TIME,
    Kind,
    from_json,
    number,
    whole,
)
from scrubjay.surfaces.verbs.plain_json import is_number

if TYPE_CHECKING:
    from scrubjay.store import Store
    from scrubjay.surfaces.render.json import Json

LEAST_TOKENS, MOST_TOKENS = 50, 100_000
TOKENS = whole(LEAST_TOKENS, MOST_TOKENS)
_TOKENS = 800
_WEIGHTS = Kind(
    "an object of numbers of 0 or more, or the name of a pattern",
    {
        "anyOf": [
            {"type": "string"},
            {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
        ]
    },
    lambda value: (
        isinstance(value, str)
        or (
            isinstance(value, Mapping)
            and all(is_number(one) and one >= 0 for one in value.values())
        )
    ),
    from_json,
)
_SCORE = number("a number of 0 or more", {"minimum": 0}, lambda value: value >= 0)

# Names that people know from other memories.
WHOSE = {"user_id": "owner", "user": "owner", "agent_id": "agent", "project": "namespace"}
WHERE = WHOSE | {"session_id": "session", "run_id": "session", "thread_id": "session"}
MANY = {"k": "limit", "top_k": "limit", "n": "limit", "max_results": "limit", "page_size": "limit"}
_FILTERED = (
    WHERE
    | {"type": "types", "topic": "topics", "container_tag": "namespace"}
    | {"category": "topics", "categories": "topics"}
    | {"after": "since", "before": "until", "date_from": "since", "date_to": "until"}
    | {"dateStart": "since", "dateEnd": "until", "includeNamespaces": "namespaces"}
)

_HOW = (
    Param("profile", NAME, "which engine: default, gnosis, gno, vault, cognis, novamem"),
    Param("mode", NAME, "how thoroughly: the profile's own word, such as fast or keyword"),
)
FILTERS = (
    Param("namespace", NAME, "only there; `project/` is all of a project"),
    Param("namespaces", TEXTS, "only in these"),
    Param("collection", NAME, "only in this collection"),
    Param("topics", TEXTS, "any of these"),
    Param("types", TEXTS, "any of these, such as fact, preference, decision"),
    Param("owner", NAME, "only what is of this person"),
    Param("agent", NAME, "only what is of this agent"),
    Param("since", TIME, "stored or said not before that day or moment"),
    Param("until", TIME, "stored or said not after that day or moment"),
    Param("session", NAME, "only of this conversation"),
)
SEARCH_PARAMS = (
    Param("query", QUERY, "what to look for; any text is a legal query", required=True),
    *_HOW,
    Param("limit", LIMIT, "at most so many hits"),
    *FILTERS,
    Param("only_domain", NAME, "only of this domain"),
    Param("min_score", _SCORE, "no hit below it"),
    Param("overrides", MAPPING, "numbers of the profile's stages, such as {'rrf': {'k': 30}}"),
    Param("tags", TEXTS, "the query's own tags, which score (vault)"),
    Param("domain", NAME, "the query's own domain, which scores (vault)"),
    Param("weights", _WEIGHTS, "weights of the tiers (novamem)"),
    Param("include_expired", FLAG, "what is not valid now, too"),
    Param("explain", FLAG, "with the trace of every stage"),
    Param("full", FLAG, "long texts whole, not as a passage"),
)
_SHAPING = ("query", "explain", "full")


@contextmanager
def named() -> Iterator[None]:
    """Let a profile of a wrong name be wrong input, as at the shell: no memory is missing."""
    try:
        yield
    except NotFound as unknown:
        raise InvalidInput(str(unknown)) from unknown


def search(store: Store, given: Given) -> Json:
    """Search, and return what `--json` of the shell prints."""
    from scrubjay.surfaces.render.json import results

    asked = {name: value for name, value in given.items() if name not in _SHAPING}
    with named():
        found = store.search(given["query"], **asked)
    return results(
        found,
        mode=given.get("mode", "default"),
        explain=given.get("explain", False),
        full=given.get("full", False),
    )


SEARCH = Verb(
    "search",
    "Find memories by word, meaning, topic, link and time.",
    READ,
    SEARCH_PARAMS,
    "results",
    search,
    _FILTERED
    | MANY
    | {"q": "query", "text": "query", "search": "query", "question": "query"}
    | {"threshold": "min_score", "minScore": "min_score"},
)

_CONTEXT_PARAMS = (
    Param("question", QUERY, "what the answer is for; without one, what is stored at all"),
    Param("tokens", TOKENS, f"at most so many, at four characters each ({_TOKENS})"),
    *_HOW,
    Param("limit", LIMIT, "of at most so many hits; by itself as many as could fit"),
    *FILTERS,
)


def context(store: Store, given: Given) -> Json:
    """Return the best hits on a question as text for a prompt; without a question the landscape."""
    from scrubjay.surfaces.context import overview_context, question_context

    rest = dict(given)
    question, tokens = rest.pop("question", ""), rest.pop("tokens", _TOKENS)
    if question.strip():
        with named():
            return question_context(store, question, tokens, rest)
    if others := [name for name in rest if name != "namespace"]:
        raise InvalidInput(
            f"{others[0]} goes with a question; without one, context takes tokens and namespace"
        )
    return overview_context(store, tokens, rest.get("namespace"))


CONTEXT = Verb(
    "context",
    "Say what is stored on a question, or at all, as text for a prompt, in a number of tokens.",
    READ,
    _CONTEXT_PARAMS,
    "context",
    context,
    _FILTERED
    | MANY
    | {"query": "question", "q": "question", "text": "question", "topic_query": "question"}
    | {"max_tokens": "tokens", "token_budget": "tokens", "budget": "tokens"},
)
