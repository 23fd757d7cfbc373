"""The OpenAPI description of `/v1`, made from the table of verbs and the committed schemas."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from scrubjay._version import __version__
from scrubjay.surfaces.http.problems import MEDIA_TYPE, SCHEMA, SORTS
from scrubjay.surfaces.http.v1 import JSON_TYPE, methods_of
from scrubjay.surfaces.verbs import schema_of
from scrubjay.surfaces.verbs.table import VERBS
from scrubjay.types.key_scopes import SCOPES

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json
    from scrubjay.surfaces.verbs import Param, Verb

FIGURES = "figures"  # the schema of what is no verb: it is of the server, not of a store
_COMPONENTS = "#/components/schemas/"
_REFERENCE = re.compile(r"(?:urn:scrubjay:(?P<file>\w+))?(?:#(?:/\$defs/(?P<part>\w+))?)?")
_TOLD = """Memory and search: the same verbs, parameters and JSON as the library and the shell's `--json`.

Every verb is asked by `POST /v1/VERB` with a JSON object; one that only reads also by `GET`. Parameters may
stand in the address as well, such as `?explain=1`. Errors are `application/problem+json` (RFC 9457)."""


@cache
def document() -> str:
    """Return the description as JSON."""
    return json.dumps(description(), ensure_ascii=False)


def description() -> Json:
    """Return the description as data."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "scrubjay", "version": __version__, "description": _TOLD},
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {}],
        "paths": {
            **{f"/v1/{verb.name}": _path(verb) for verb in VERBS.values()},
            "/v1/figures": {"get": _figures()},
        },
        "components": {
            "schemas": {**_schemas(), "problem": SCHEMA},
            "responses": _problems(),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": f"From `scrubjay token create`, with a scope: {', '.join(SCOPES)}."
                    " A server on loopback whose store has no token asks for none.",
                }
            },
        },
    }


def _path(verb: Verb) -> Json:
    methods = [one.lower() for one in methods_of(verb) if one != "HEAD"]
    return {method: _operation(verb, method) for method in methods}


def _operation(verb: Verb, method: str) -> Json:
    made: Json = {
        "operationId": verb.name if method == "post" else f"{verb.name}_by_{method}",
        "summary": verb.told,
        "description": f"Needs the scope `{verb.scope}`.",
        "responses": _responses(verb.answer),
    }
    if method == "post":
        made["requestBody"] = {
            "required": any(one.required for one in verb.params),
            "content": {JSON_TYPE: {"schema": schema_of(verb.params, all_forms=True)}},
        }
    else:
        made["parameters"] = [_in_address(one) for one in verb.params]
    return made


def _figures() -> Json:
    return {
        "operationId": "figures",
        "summary": "Say how searches have gone since the server began, and what the open stores hold.",
        "description": "For those who see all that is served, as `/metrics` is.",
        "responses": _responses(FIGURES),
    }


def _responses(answer: str) -> Json:
    problems = {str(one): {"$ref": f"#/components/responses/{one}"} for one in _statuses()}
    schema = {"$ref": f"{_COMPONENTS}{answer}"}
    return {
        "200": {"description": "The answer.", "content": {JSON_TYPE: {"schema": schema}}},
        **problems,
    }


def _in_address(param: Param) -> Json:
    told: Json = {
        "name": param.name,
        "in": "query",
        "required": param.required,
        "description": param.told,
    }
    if "object" in str(param.kind.schema):  # as JSON, in one piece
        return {**told, "content": {JSON_TYPE: {"schema": param.kind.schema}}}
    return {**told, "schema": param.kind.whole_schema}


def _statuses() -> list[int]:
    return sorted({one.status for one in SORTS.values()})


def _problems() -> Json:
    told: dict[int, list[str]] = {}
    for one in SORTS.values():
        told.setdefault(one.status, []).append(one.title)
    return {
        str(status): {
            "description": "; or: ".join(titles),
            "content": {MEDIA_TYPE: {"schema": {"$ref": f"{_COMPONENTS}problem"}}},
        }
        for status, titles in told.items()
    }


def _schemas() -> Json:
    """Return the committed schemas of the answers, each of their parts under a name of its own."""
    found: Json = {}
    wanted = {FIGURES, *(verb.answer for verb in VERBS.values())}
    while missing := sorted(wanted - set(found)):
        name = missing[0]
        text = files("scrubjay.surfaces.schemas").joinpath(f"{name}.json").read_text("utf-8")
        schema = json.loads(text)
        parts = schema.pop("$defs", {})
        for key in ("$schema", "$id"):
            schema.pop(key, None)
        for key, part in ((name, schema), *((f"{name}.{one}", parts[one]) for one in parts)):
            found[key] = _pointing(part, name, wanted)
    return found


def _pointing(schema: Any, file: str, wanted: set[str]) -> Any:
    """Return a schema whose references point into the description; note which files they name."""
    if isinstance(schema, list):
        return [_pointing(one, file, wanted) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _pointing(one, file, wanted) for key, one in schema.items()}
    if isinstance(target := schema.get("$ref"), str):
        match = _REFERENCE.fullmatch(target)
        assert match is not None, f"{file}.json refers to {target}"
        there, part = match["file"] or file, match["part"]
        wanted.add(there)
        made["$ref"] = f"{_COMPONENTS}{there}.{part}" if part else f"{_COMPONENTS}{there}"
    return made
