"""Verbs of search, and the commands `search`, `vsearch`, `query` and `landscape`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.store import Store
from scrubjay.surfaces.verbs import READ, Command, Given, Param, params, verb
from scrubjay.surfaces.verbs.kinds import (
    FLAG,
    MAPPING,
    NAME,
    QUERY,
    SEARCH_LIMIT,
    TEXT,
    TEXTS,
    Kind,
    from_json,
    is_number,
    number,
    whole,
)

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json

LEAST_TOKENS, MOST_TOKENS = 50, 100_000
_TOKENS = 800
SEARCH_TOKENS = 2_000  # of passages, where an agent searches without a limit of its own
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
            and all(is_number(weight) and weight >= 0 for weight in value.values())
        )
    ),
    from_json,
)
_SCORE = number("a number of 0 or more", {"minimum": 0}, lambda value: value >= 0)
_TOKENS_PARAM = Param(
    "tokens",
    whole(LEAST_TOKENS, MOST_TOKENS),
    f"maximum number of tokens of four characters each, {LEAST_TOKENS} or more",
    default=_TOKENS,
    usage="--tokens N",
)
_PASSAGE_TOKENS = Param(
    "tokens",
    whole(LEAST_TOKENS, MOST_TOKENS),
    f"also return whole passages of at most this many tokens together, {LEAST_TOKENS} or more",
)
_TOKENS_ALIASES = {"max_tokens": "tokens", "token_budget": "tokens"}

_QUERY = Param(
    "query", QUERY, "the text to search for; every text is valid", required=True, usage="query..."
)
_PROFILE = Param(
    "profile", NAME, "the profile: default, gnosis, gno, vault, cognis, novamem or your own"
)
_MODE = Param("mode", NAME, "a mode of the profile, such as fast or keyword")
_LIMIT = params.limit(kind=SEARCH_LIMIT)
_MIN_SCORE = Param(
    "min_score", _SCORE, "drop results with a lower score, such as 0.2", usage="--min-score SCORE"
)
_TAGS = Param("tags", TEXTS, "tags that raise a result (profile vault)", usage="--tag TAG")
_DOMAIN = Param("domain", NAME, "a domain that raises a result (profile vault)")
_EXPLAIN = Param("explain", FLAG, "show how each stage scored the results")
_FULL = Param("full", FLAG, "whole texts instead of passages of long ones")
_JSON_ONLY = ("query", "explain", "full", "tokens")


@contextmanager
def named() -> Iterator[None]:
    """Report an unknown profile as wrong input, as the CLI does: no memory is missing."""
    try:
        yield
    except NotFound as unknown:
        raise InvalidInput(str(unknown)) from unknown


@verb(
    READ,
    "results",
    _QUERY,
    _PROFILE,
    _MODE,
    _LIMIT,
    *params.FILTERS,
    *params.filters("only_domain"),
    _MIN_SCORE,
    Param("overrides", MAPPING, "numbers of stages, such as {'rrf': {'k': 30}}"),
    _TAGS,
    _DOMAIN,
    Param("weights", _WEIGHTS, "weights of the sources (profile novamem)"),
    *params.filters("include_expired as_of history"),
    _EXPLAIN,
    _FULL,
    _PASSAGE_TOKENS,
    aliases=params.FILTER_ALIASES
    | params.LIMIT_ALIASES
    | _TOKENS_ALIASES
    | {"q": "query", "text": "query", "search": "query", "question": "query"}
    | {"threshold": "min_score", "minScore": "min_score"},
)
def search(store: Store, given: Given) -> Json:
    """Find memories by keyword, meaning, topic, link and time."""
    return search_with_passages(store, given, None)


def search_with_passages(store: Store, given: Given, usual_tokens: int | None) -> Json:
    """Search, with passages of `usual_tokens` where the caller gives no number and wants no full texts.
    Previews are enough without passages."""
    from scrubjay.surfaces.render.json import results

    asked = {name: value for name, value in given.items() if name not in _JSON_ONLY}
    with named():
        found = store.search(given["query"], **asked)
    full = given.get("full", False)
    has_previews = any(hit.band for hit in found)
    return results(
        found,
        mode=given.get("mode", "default"),
        explain=given.get("explain", False),
        full=full,
        tokens=given.get("tokens", None if full or has_previews else usual_tokens),
    )


@verb(
    READ,
    "context",
    Param("question", QUERY, "the question to answer (default: an overview)"),
    _TOKENS_PARAM,
    _PROFILE,
    _MODE,
    _LIMIT._replace(help="maximum number of results (default: as many as could fit)"),
    *params.FILTERS,
    aliases=params.FILTER_ALIASES
    | params.LIMIT_ALIASES
    | _TOKENS_ALIASES
    | {"query": "question", "q": "question", "text": "question", "topic_query": "question"}
    | {"budget": "tokens"},
)
def context(store: Store, given: Given) -> Json:
    """Return what is stored on a question, or an overview of everything, as text for a prompt."""
    from scrubjay.surfaces.context import overview_context, question_context

    rest = dict(given)
    question, tokens = rest.pop("question", ""), rest.pop("tokens", _TOKENS)
    if question.strip():
        with named():
            return question_context(store, question, tokens, rest)
    if others := [name for name in rest if name != "namespace"]:
        raise InvalidInput(
            f"{others[0]} needs a question; without one, context takes tokens and namespace"
        )
    return overview_context(store, tokens, rest.get("namespace"))


@verb(
    READ,
    "landscape",
    _TOKENS_PARAM,
    params.NAMESPACE,
    aliases={"project": "namespace", **_TOKENS_ALIASES},
    found=lambda seen: seen.memories,
)
def landscape(store: Store, given: Given) -> Any:
    """Return an overview of what is stored: types, topics, preferences, open tasks, decisions."""
    return store.landscape(**given)


_SEARCH_OPTIONS = (
    _QUERY._replace(help="the text to search for; - reads standard input"),
    _LIMIT._replace(
        help="maximum number of results (default: 10; gnosis: 32; vault: more if few match)"
    ),
    _EXPLAIN,
    _FULL,
    Param("files", FLAG, "print paths with line numbers, for scripts"),
    Param("md", FLAG, "print Markdown"),
    Param(
        "compact",
        FLAG,
        "print a table with a line for each hit, counts and topics; as an array with --json",
    ),
    Param(
        "context",
        whole(LEAST_TOKENS, MOST_TOKENS),
        f"print whole passages for a prompt, of at most this many tokens together ({SEARCH_TOKENS})",
        usage="--context [TOKENS]",
    ),
    _PROFILE._replace(help="the profile; see: scrubjay profiles"),
    params.SETS,
    _MIN_SCORE,
    Param(
        "weights",
        TEXT,
        "weights of keyword, vector, graph, or exact_id, semantic, roaming (profile novamem)",
        usage="--weights NAME=NUMBER,…",
    ),
    *params.filters(
        "only_domain namespace collection types topics session owner agent since until"
    ),
    *params.filters("include_expired as_of history"),
)
_MODES = (
    _MODE._replace(help="a mode of the profile"),
    Param("fast", FLAG, "mode fast: no reranking"),
    Param("thorough", FLAG, "mode thorough: more candidates, and query expansion if configured"),
    Param("deep", FLAG, "mode deep: everything about a subject (profile gnosis)"),
    Param("scan", FLAG, "mode scan: only the beginning of each entry (profile vault)"),
)
COMMANDS = (
    Command(
        "search",
        "search by keyword; needs no model",
        (*_SEARCH_OPTIONS, _TAGS, _DOMAIN),
        run="search:search",
    ),
    Command("vsearch", "search by meaning", _SEARCH_OPTIONS, run="search:search"),
    Command(
        "query",
        "search by keyword and meaning together",
        (
            *_SEARCH_OPTIONS,
            _TAGS,
            _DOMAIN,
            *_MODES,
            Param("no_expand", FLAG, "do not ask the language model for query variants"),
            Param("no_rerank", FLAG, "do not rerank the best results"),
            params.TIERS,
        ),
        run="search:search",
        exclusive=(tuple(param.name for param in _MODES),),
    ),
    Command(
        "landscape",
        "print an overview of what is stored, for the start of a conversation",
        (
            Param(
                "question", TEXTS, "print what is stored on this instead", usage="[question...]"
            ),
            _TOKENS_PARAM,
            params.NAMESPACE,
        ),
        run="search:landscape",
    ),
)
