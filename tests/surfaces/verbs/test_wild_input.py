"""Whatever comes over a wire is answered or refused in words: no other error gets out of a verb."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verb_answers import check_answer

import scrubjay
from scrubjay.errors import ScrubjayError
from scrubjay.surfaces.verbs import Verb
from scrubjay.surfaces.verbs.table import VERBS, ask

IDS = ("kettle", "teapot", "said-1")
NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)


def deep() -> Any:
    """A list in a list in a list: deeper than Python can write, or read, by itself."""
    found: Any = "bottom"
    for _ in range(2000):
        found = [found]
    return found


TEXTS = st.one_of(
    st.text(max_size=20),
    st.text(alphabet="a\x00\ud800\u200d\u202e%_*\"'()- \n,", max_size=12),
    st.sampled_from(
        [
            *IDS,
            *("team", "default", "crew/", "fact", "vault", "novamem", "keyword", "words", "30d"),
            *("2026-05-03", "0001-01-01T00:00+14:00", "9999-12-31T23:59-12:00", "99999999d"),
            *("accepted", "owner", "task_done", "_done", "x" * 600, "user/ann", "shared/1"),
        ]
    ),
)
NUMBERS = st.one_of(
    st.integers(),
    st.floats(),
    st.sampled_from([0, 1, -1, 2, 3, 50, 5.0, 2**31, 2**63, 2**64, -(10**400), 1e308]),
    st.builds(lambda: 10**5000),  # which Python does not write out
)
SMALL = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
JSON = st.recursive(
    SMALL,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=8,
)
FIELD_NAMES = (
    "text",
    "id",
    "content",
    "links",
    "to",
    "topics",
    "metadata",
    "at",
    "role",
    "session",
)
OBJECTS = st.dictionaries(st.sampled_from(FIELD_NAMES), st.one_of(JSON, TEXTS), max_size=4)
VALUES = st.one_of(
    JSON,
    TEXTS,
    st.lists(OBJECTS, max_size=3),
    OBJECTS,
    st.builds(deep),
    st.builds(dict, x=st.builds(deep)),
)
OVERRIDES = st.dictionaries(
    st.sampled_from(
        ["rrf", "rrf.k", "rerank", "keyword", "keyword.weights", "recall", "nope", "k"]
    ),
    st.one_of(SMALL, st.dictionaries(st.sampled_from(["k", "weights", "x"]), JSON, max_size=2)),
    max_size=2,
)


def right(verb: Verb, name: str) -> st.SearchStrategy[Any]:
    """Return values of which some are right, so that the store itself is reached, too."""
    name = verb.aliases.get(name, name)
    if name in ("id", "ids", "a", "b"):
        return st.sampled_from([*IDS, [*IDS]])
    if name in ("overrides", "weights"):
        return OVERRIDES
    if name in ("timeout_s", "wait"):
        return st.sampled_from([0, False])
    schema = next(one.kind.schema for one in verb.params if one.name == name)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema.get("type") == "integer":
        return st.integers(schema["minimum"], min(schema.get("maximum", 60), 60))
    if schema.get("type") == "boolean":
        return st.booleans()
    if schema.get("type") == "array" and schema["items"].get("type") == "object":
        text = st.fixed_dictionaries({"text": TEXTS})
        return st.lists(st.builds(lambda one, more: {**more, **one}, text, OBJECTS), max_size=3)
    return TEXTS


@pytest.fixture(scope="module")
def store():
    with scrubjay.open(":memory:", embedder=False, generator=False, clock=lambda: NOW) as opened:
        opened.create_collection("team")
        yield opened


def fill(store: scrubjay.Store) -> None:
    """Put back what an earlier example has forgotten."""
    if len(store.get_many(IDS)) < len(IDS):
        store.add("The kettle whistles", id="kettle", topics=["kitchen"])
        store.add("The teapot is cracked", id="teapot", type="task")
        store.add("Good morning", id="said-1", type="message", session="monday")


@pytest.mark.parametrize("name", VERBS)
def test_no_input_makes_a_verb_fail_in_another_way_than_with_a_sentence(store, name):
    """An answer of the described shape, or an error of ours."""
    verb = VERBS[name]
    names = [one.name for one in verb.params]
    wild = st.fixed_dictionaries(
        {}, optional={one: st.one_of(right(verb, one), VALUES) for one in (*names, *verb.aliases)}
    )
    tame = st.fixed_dictionaries(
        {one.name: right(verb, one.name) for one in verb.params if one.required},
        optional={one.name: right(verb, one.name) for one in verb.params if not one.required},
    )
    odd = st.dictionaries(TEXTS, VALUES, max_size=2)

    @settings(max_examples=25 if names else 3, deadline=None, database=None)
    @given(st.one_of(tame, wild, odd))
    def answered(asked):
        fill(store)
        asked = {**asked, **({"wait": False} if name == "pending" else {})}
        try:
            answer = ask(store, verb, asked)
        except ScrubjayError as refused:
            said = str(refused)
        else:
            check_answer(verb, answer)
            said = "answered"
        assert 0 < len(said) < 20_000

    answered()
