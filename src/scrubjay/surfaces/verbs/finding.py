"""The verb of searching, as every door offers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.verbs import READ, Given, Param, Verb
from scrubjay.surfaces.verbs.kinds import FLAG, MAPPING, NUMBER, TEXT, TEXTS, TIME, WHOLE, Kind

if TYPE_CHECKING:
    from scrubjay.service import Store
    from scrubjay.surfaces.shapes import Json

_WEIGHTS = Kind(
    "an object of numbers, or the name of a pattern",
    {"type": ["object", "string"]},
    lambda value: isinstance(value, str | dict),
    MAPPING.read,
)

SEARCH_PARAMS = (
    Param("query", TEXT, "what to look for; any text is a legal query", required=True),
    Param("profile", TEXT, "which engine: default, gnosis, gno, vault, cognis, novamem"),
    Param("mode", TEXT, "how thoroughly: the profile's own word, such as fast or keyword"),
    Param("limit", WHOLE, "at most so many hits"),
    Param("namespace", TEXT, "only there; `project/` is all of a project"),
    Param("namespaces", TEXTS, "only in these"),
    Param("collection", TEXT, "only in this collection"),
    Param("topics", TEXTS, "any of these"),
    Param("types", TEXTS, "any of these, such as fact, preference, decision"),
    Param("owner", TEXT, "only what is of this person"),
    Param("agent", TEXT, "only what is of this agent"),
    Param("since", TIME, "not before that day or moment"),
    Param("until", TIME, "not after that day or moment"),
    Param("session", TEXT, "only of this conversation"),
    Param("only_domain", TEXT, "only of this domain"),
    Param("min_score", NUMBER, "no hit below it"),
    Param("overrides", MAPPING, "numbers of the profile's stages, such as {'rrf': {'k': 30}}"),
    Param("tags", TEXTS, "the query's own tags, which score (vault)"),
    Param("domain", TEXT, "the query's own domain, which scores (vault)"),
    Param("weights", _WEIGHTS, "weights of the tiers (novamem)"),
    Param("include_expired", FLAG, "what is not valid now, too"),
    Param("explain", FLAG, "with the trace of every stage"),
    Param("full", FLAG, "long texts whole, not as a passage"),
)
_SHAPING = ("query", "explain", "full")


def search(store: Store, given: Given) -> Json:
    """Search, and return what `--json` of the shell prints."""
    from scrubjay.surfaces.shapes import results

    asked = {name: value for name, value in given.items() if name not in _SHAPING}
    found = store.search(given["query"], **asked)
    return results(
        found,
        mode=given.get("mode") or "default",
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
    {"q": "query", "text": "query", "search": "query", "k": "limit", "top_k": "limit"}
    | {"n": "limit", "max_results": "limit", "type": "types", "topic": "topics"}
    | {"after": "since", "before": "until", "session_id": "session", "user_id": "owner"}
    | {"agent_id": "agent", "project": "namespace", "threshold": "min_score"}
    | {"minScore": "min_score", "includeNamespaces": "namespaces"},
)
