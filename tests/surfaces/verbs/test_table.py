"""The table of verbs is whole, says what it takes, and lets nothing else through."""

from __future__ import annotations

import inspect

import jsonschema
import pytest
from verb_answers import SCHEMAS

import scrubjay
from scrubjay.errors import InvalidInput
from scrubjay.store.files import Files
from scrubjay.surfaces.verbs import checked, schema_of
from scrubjay.surfaces.verbs.table import LEFT_OUT, VERBS, ask
from scrubjay.types.key_scopes import SCOPES

# The table of the library that product.md promises.
PROMISED = (
    "add add_many ingest search get get_many update forget link unlink neighbors feedback status"
    " close add_message add_messages create_collection share unshare publish unpublish connect"
    " landscape weights pending"
).split()

# Verbs that are put together from what a store gives, or are not about one store.
NO_METHODS = {"context", "profiles", "doctor"}
# Verbs that are methods of `Store.files`, by the name there.
OF_FILES = {
    "view_file": "view",
    "search_files": "search",
    "file_history": "history",
    "create_file": "create",
    "write_file": "write",
    "replace_in_file": "str_replace",
    "insert_in_file": "insert",
    "rename_file": "rename",
    "delete_file": "delete",
    "undo_file": "undo",
}


def refused(name: str, given: dict[str, object]) -> str:
    verb = VERBS[name]
    with pytest.raises(InvalidInput) as wrong:
        checked(verb.name, verb.params, verb.aliases, given)
    return str(wrong.value)


def test_every_method_of_a_store_is_a_verb_or_left_out_for_a_reason():
    """A new method is put into one of the two on purpose."""
    public = {name for name in dir(scrubjay.Store) if not name.startswith("_")}

    assert set(LEFT_OUT) <= public
    assert public - set(LEFT_OUT) == set(VERBS) - NO_METHODS - OF_FILES.keys()
    assert not set(LEFT_OUT) & set(VERBS)


def test_what_is_promised_is_there():
    assert set(PROMISED) <= set(VERBS) | set(LEFT_OUT)
    assert set(PROMISED) - set(VERBS) == {"ingest", "close", "connect"}


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_described(name):
    """Its scope is known, its answer has a committed schema, and its parameters make a schema."""
    verb = VERBS[name]

    assert verb.scope in SCOPES
    assert verb.answer in SCHEMAS
    assert verb.help.endswith(".")
    for all_forms in (False, True):
        jsonschema.Draft202012Validator.check_schema(schema_of(verb.params, all_forms=all_forms))


@pytest.mark.parametrize("name", VERBS)
def test_an_alias_is_of_a_parameter_and_is_none_itself(name):
    """A name that the verb has itself never means another."""
    verb = VERBS[name]
    names = {one.name for one in verb.params}

    assert not names & set(verb.aliases)
    assert set(verb.aliases.values()) <= names


# What a verb takes that the store's method does not: what shapes the answer, and pages of it.
OVER_A_WIRE = {
    "search": {"explain", "full", "tokens"},
    "expiring": {"limit"},
    "coverage": {"limit", "offset"},
    "get": {"lines", "history", "changes"},
    "get_many": {"lines", "history", "changes"},
}
NOT_OVER_A_WIRE = {"self", "progress"}


@pytest.mark.parametrize("name", sorted(set(VERBS) - NO_METHODS - OF_FILES.keys() - {"update"}))
def test_parameters_have_the_names_of_the_library(name):
    """Who knows the one knows the other."""
    own = set(inspect.signature(getattr(scrubjay.Store, name)).parameters) - NOT_OVER_A_WIRE
    taken = {one.name for one in VERBS[name].params}

    assert taken - OVER_A_WIRE.get(name, set()) == own


@pytest.mark.parametrize(("name", "method"), OF_FILES.items())
def test_verbs_of_files_take_what_the_library_takes(name, method):
    own = set(inspect.signature(getattr(Files, method)).parameters) - {"self", "mode"}

    assert {one.name for one in VERBS[name].params} == own


def test_update_takes_the_fields_of_add():
    assert [one.name for one in VERBS["update"].params if one.required] == ["id"]
    assert {one.name for one in VERBS["update"].params} == {
        one.name for one in VERBS["add"].params
    }


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("search", {}, "search needs query"),
        ("search", {"query": None}, "search needs query"),
        ("search", {"query": 5}, "query is 5; it must be a text"),
        ("search", {"query": "x", "limt": 5}, "did you mean 'limit'"),
        ("search", {"query": "x", "limit": 0}, "whole number of 1 or more"),
        ("search", {"query": "x", "limit": -1}, "whole number of 1 or more"),
        ("search", {"query": "x", "limit": 10**5000}, "bits; at most 64"),
        ("search", {"query": "x", "limit": True}, "whole number of 1 or more"),
        ("search", {"query": "x", "limit": 2.5}, "whole number of 1 or more"),
        ("search", {"query": "x", "min_score": float("nan")}, "holds nan, which is no number"),
        ("search", {"query": "x", "min_score": float("inf")}, "holds inf, which is no number"),
        ("search", {"query": "x", "q": "y"}, "query and q mean the same"),
        ("search", {"query": "\ud800"}, "half of a surrogate pair"),
        ("search", {"query": "x", "types": ["a", 5]}, "it must be a list of texts"),
        ("search", {"query": "x", "topics": ["a"] * 101}, "at most 100"),
        ("ls", {"offset": -1}, "whole number of 0 to 10000000"),
        ("get", {"id": ""}, "it must be a text of 1 to 512"),
        ("get", {"id": "x" * 513}, "it must be a text of 1 to 512"),
        ("get_many", {"ids": ["x", None]}, "an id, or a list of ids"),
        ("forget", {"id": []}, "an id, or a list of ids, 1 to 1000"),
        ("forget", {"id": ["x"] * 1001}, "an id, or a list of ids, 1 to 1000"),
        ("neighbors", {"id": "x", "depth": 4}, "whole number of 1 to 3"),
        ("add", {"text": " "}, "a text that is not empty"),
        ("add", {"text": "x", "severity": "high"}, "one of critical, warning, suggestion"),
        ("add", {"text": "x", "links": [5]}, "a list of at most 100 ids"),
        ("add", {"text": "x", "links": [{"strength": 1}]}, r"links[0]: it needs to"),
        ("add", {"text": "x", "links": [{"to": "y", "strength": 2}]}, "at most 1"),
        ("add", {"text": "x", "metadata": []}, "it must be an object"),
        ("add_many", {"memories": []}, "a list of at most 10000 texts, or objects"),
        ("add_many", {"memories": [{"text": "x"}] * 10_001}, "a list of at most 10000 texts"),
        ("add_many", {"memories": [{"text": "x"}, {"text": 5}]}, "memories[1]: text is 5"),
        ("add_many", {"memories": [{"text": "x", "tpye": "y"}]}, "did you mean 'type'"),
        ("context", {"tokens": 49}, "whole number of 50 to 100000"),
        (
            "feedback",
            {"query": "x", "id": "y", "action": "liked"},
            "accepted, modified, dismissed",
        ),
        ("pending", {"timeout_s": 61}, "0 to 60"),
        ("collections", {"name": "x"}, "it takes: none"),
    ],
)
def test_what_is_wrong_is_said_with_what_would_be_right(name, given, said):
    assert said in refused(name, given)


def test_what_is_nested_without_end_is_refused():
    """Before anything walks into it that would fall."""
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]

    assert "more than 32 levels" in refused("add", {"text": "x", "metadata": {"deep": deep}})
    assert "more than 32 levels" in refused("add_many", {"memories": [{"text": deep}]})
    while isinstance(deep, list):  # one by one: Python would fall over it, too
        deep = deep.pop()


def test_a_wrong_value_is_not_said_back_at_length():
    assert len(refused("search", {"query": ["x" * 100_000]})) < 200
    assert len(refused("search", {"query": "x", "y" * 100_000: 1})) < 1000


def test_only_an_object_is_taken(words_only):
    with pytest.raises(InvalidInput, match="takes an object"):
        ask(words_only, VERBS["status"], ["x"])  # type: ignore[arg-type]


def test_forms_that_are_taken_are_taken():
    """Commas for a list, a whole number as JSON writes it elsewhere, null for nothing, known names."""
    verb = VERBS["search"]
    given = {"q": "x", "topics": "a, b,", "top_k": 5.0, "project": "p/", "mode": None}

    taken = checked(verb.name, verb.params, verb.aliases, given)

    assert taken == {"query": "x", "topics": ["a", "b"], "limit": 5, "namespace": "p/"}
    assert type(taken["limit"]) is int
    get_many = VERBS["get_many"]
    assert checked("get_many", get_many.params, {}, {"ids": "a, b"}) == {"ids": ["a, b"]}


def test_the_schema_with_all_forms_takes_them():
    shape = schema_of(VERBS["search"].params, all_forms=True)
    fits = jsonschema.Draft202012Validator(shape)

    assert fits.is_valid({"query": "x", "topics": "a,b", "mode": None, "limit": 5})
    assert fits.is_valid({"query": "x", "topics": ["a"]})
    assert not fits.is_valid({"query": None})
    assert fits.is_valid({"query": "x", "limit": 1001})  # cut by the profile
    assert not fits.is_valid({"query": "x", "limit": 0})
    assert not fits.is_valid({"query": "x", "limt": 5})
