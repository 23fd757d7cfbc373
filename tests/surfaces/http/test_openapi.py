"""What the OpenAPI description says is what the running server does."""

from __future__ import annotations

import jsonschema
import schemathesis
from hypothesis import Phase, settings
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.specs.openapi import checks

from scrubjay.surfaces.http.openapi import description
from scrubjay.surfaces.http.problems import PROBLEM_TYPES
from scrubjay.surfaces.verbs.table import VERBS

load_all_checks()
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    checks.unsupported_method,
]
# Without a language model there is nothing to extract with, and without vectors no map: 503 is right.
NEEDS_A_MODEL = ("extract", "map")
# Of an object within a list, what is null or blank is left out, where the schema would have it refused.
TAKES_MORE = ("add_many", "add_messages")

schema = schemathesis.openapi.from_dict(description())
# Its systematic cases are thousands of requests, among them a thousand messages at once.
schema.config.phases.coverage.enabled = False
refused = schema.config.checks.negative_data_rejection
refused.expected_statuses = [*refused.expected_statuses, "413", "414", "431"]


@schema.parametrize()
@settings(max_examples=6, phases=[Phase.explicit, Phase.generate], deadline=None, derandomize=True)
def test_the_server_does_what_its_description_says(case, shared):
    """Whatever is sent: a status that is described, a body of its schema, wrong data refused."""
    verb = case.path.rpartition("/")[2]
    left_out = (not_a_server_error,) if verb in NEEDS_A_MODEL else ()
    left_out += (checks.negative_data_rejection,) if verb in TAKES_MORE else ()

    answer = case.call(base_url=shared.url)

    case.validate_response(answer, checks=[one for one in CHECKS if one not in left_out])


def test_every_verb_is_described_and_nothing_else():
    """What only reads by two methods, the rest by one; figures are of the server, and no verb."""
    paths = description()["paths"]

    assert set(paths.pop("/v1/figures")) == {"get"}
    assert [path.removeprefix("/v1/") for path in paths] == list(VERBS)
    for name, verb in VERBS.items():
        methods = {"get", "post"} if verb.scope == "read" else {"post"}
        assert set(paths[f"/v1/{name}"]) == methods
        for operation in paths[f"/v1/{name}"].values():
            assert operation["summary"] == verb.help
            problems = {str(one.status) for one in PROBLEM_TYPES.values()}
            assert set(operation["responses"]) == {"200", *problems}


def test_every_reference_of_the_description_leads_somewhere():
    """The committed schemas name each other by urn, which a client could not follow."""
    told = description()
    jsonschema.Draft202012Validator.check_schema({"$defs": told["components"]["schemas"]})

    def references(value):
        if isinstance(value, dict):
            yield from [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            for one in value.values():
                yield from references(one)
        elif isinstance(value, list):
            for one in value:
                yield from references(one)

    found = set(references(told))
    assert len(found) > 20
    for one in found:
        place = told
        for part in one.removeprefix("#/").split("/"):
            place = place[part]


def test_the_description_is_served(shared):
    """As JSON, as it is made."""
    assert shared.get("/v1/openapi.json").json == description()
