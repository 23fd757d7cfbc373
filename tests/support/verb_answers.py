"""Whether an answer is what its committed schema says, and can be written as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry, Resource

from scrubjay.surfaces import schemas as schemas_folder
from scrubjay.surfaces.verbs import Verb

FOLDER = Path(str(schemas_folder.__path__[0]))
SCHEMAS = {
    file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.json")
}
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
