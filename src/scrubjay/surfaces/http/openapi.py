"""OpenAPI description of `/v1`, generated from the verbs and the committed schemas."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from scrubjay._version import __version__
from scrubjay.surfaces import schemas as committed_schemas
from scrubjay.surfaces.http.problems import MEDIA_TYPE, PROBLEM_TYPES, SCHEMA
from scrubjay.surfaces.http.v1 import JSON_TYPE, methods_of
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import Param, Verb, schema_of
from scrubjay.surfaces.verbs.table import VERBS
from scrubjay.types.key_scopes import SCOPES

FIGURES = "figures"  # not a verb: it belongs to the server, not to a store
_COMPONENTS = "#/components/schemas/"
_REFERENCE = re.compile(r"(?:urn:scrubjay:(?P<file>\w+))?(?:#(?:/\$defs/(?P<part>\w+))?)?")
_DESCRIPTION = """Memory and search, with the verbs and JSON of the library and of the CLI's `--json`.

Call a verb by `POST /v1/VERB` with a JSON object, or by `GET` if it only reads. Parameters may also be in
the query string, such as `?explain=1`. Errors are `application/problem+json` (RFC 9457)."""


@cache
def document() -> str:
    return json.dumps(description(), ensure_ascii=False)


def description() -> Json:
    return {
        "openapi": "3.1.0",
        "info": {"title": "scrubjay", "version": __version__, "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {}],
        "paths": {
            **{f"/v1/{verb.name}": _path(verb) for verb in VERBS.values()},
            "/v1/figures": {
                "get": {
                    "operationId": "figures",
                    "summary": "Return search times and counts since the server started, and counts of"
                    " the open stores.",
                    "description": "For callers that may see all data of the server, like `/metrics`.",
                    "responses": _responses(FIGURES),
                }
            },
        },
        "components": {
            "schemas": {**_schemas(), "problem": SCHEMA},
            "responses": _problems(),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": f"From `scrubjay key create`, with a scope: {', '.join(SCOPES)}."
                    " A server on loopback whose database has no API key requires none.",
                }
            },
        },
    }


def _path(verb: Verb) -> Json:
    methods = [method.lower() for method in methods_of(verb) if method != "HEAD"]
    return {method: _operation(verb, method) for method in methods}


def _operation(verb: Verb, method: str) -> Json:
    made: Json = {
        "operationId": verb.name if method == "post" else f"{verb.name}_by_{method}",
        "summary": verb.help,
        "description": f"Needs the scope `{verb.scope}`.",
        "responses": _responses(verb.answer),
    }
    if method == "post":
        made["requestBody"] = {
            "required": any(param.required for param in verb.params),
            "content": {JSON_TYPE: {"schema": schema_of(verb.params, all_forms=True)}},
        }
    else:
        made["parameters"] = [_query_parameter(param) for param in verb.params]
    return made


def _responses(answer: str) -> Json:
    statuses = sorted({problem.status for problem in PROBLEM_TYPES.values()})
    problems = {str(status): {"$ref": f"#/components/responses/{status}"} for status in statuses}
    content = {JSON_TYPE: {"schema": {"$ref": f"{_COMPONENTS}{answer}"}}}
    return {"200": {"description": "The answer.", "content": content}, **problems}


def _query_parameter(param: Param) -> Json:
    shape: Json = {
        "name": param.name,
        "in": "query",
        "required": param.required,
        "description": param.description,
    }
    if "object" in str(param.kind.schema):  # as one JSON value
        return {**shape, "content": {JSON_TYPE: {"schema": param.kind.schema}}}
    return {**shape, "schema": param.kind.whole_schema}


def _problems() -> Json:
    by_status: dict[int, list[str]] = {}
    for problem in PROBLEM_TYPES.values():
        by_status.setdefault(problem.status, []).append(problem.title)
    return {
        str(status): {
            "description": "; or: ".join(titles),
            "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_COMPONENTS}problem"}}},
        }
        for status, titles in by_status.items()
    }


def _schemas() -> Json:
    """Return the committed schemas of the answers, each of their parts under its own name."""
    schemas: Json = {}
    committed = committed_schemas.load()
    wanted = {FIGURES, *(verb.answer for verb in VERBS.values())}
    while missing := sorted(wanted - set(schemas)):
        name = missing[0]
        schema = committed[name]
        parts = schema.pop("$defs", {})
        for key in ("$schema", "$id"):
            schema.pop(key, None)
        for key, part in ((name, schema), *((f"{name}.{part}", parts[part]) for part in parts)):
            schemas[key] = _with_references(part, name, wanted)
    return schemas


def _with_references(schema: Any, file: str, wanted: set[str]) -> Any:
    """Return a schema whose references point into the description; add the files they name to `wanted`."""
    if isinstance(schema, list):
        return [_with_references(item, file, wanted) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _with_references(value, file, wanted) for key, value in schema.items()}
    if isinstance(target := schema.get("$ref"), str):
        match = _REFERENCE.fullmatch(target)
        assert match is not None, f"{file}.json refers to {target}"
        there, part = match["file"] or file, match["part"]
        wanted.add(there)
        made["$ref"] = f"{_COMPONENTS}{there}.{part}" if part else f"{_COMPONENTS}{there}"
    return made
