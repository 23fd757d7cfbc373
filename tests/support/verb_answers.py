"""Whether an answer is what its committed schema says, and can be written as JSON."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from referencing import Registry, Resource

from scrubjay.surfaces import schemas
from scrubjay.surfaces.verbs import Verb

SCHEMAS = schemas.load()
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
VALIDATORS = {
    name: jsonschema.Draft202012Validator(schema, registry=REGISTRY)
    for name, schema in SCHEMAS.items()
}


def check_answer(verb: Verb, answer: object) -> None:
    """Fail where an answer is not what was promised."""
    VALIDATORS[verb.answer].validate(json.loads(json.dumps(answer, allow_nan=False)))
    json.dumps(answer, ensure_ascii=False).encode()  # no half characters
