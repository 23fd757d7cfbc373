"""HTTP errors as problem+json (RFC 9457): one shape of body for every error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.render.redaction import error_message
from scrubjay.types import NOTHING

MEDIA_TYPE = "application/problem+json"
RETRY_S = 2  # sent as Retry-After where the real delay is not known


class ProblemType(NamedTuple):
    """Status and title of one type of problem."""

    status: int
    title: str


PROBLEM_TYPES = {
    "malformed": ProblemType(400, "The request cannot be parsed"),
    "no-token": ProblemType(401, "A valid API key is required"),
    "not-allowed": ProblemType(403, "The API key does not allow this"),
    "other-origin": ProblemType(403, "Requests from other sites are refused"),
    "not-found": ProblemType(404, "Not found"),
    "method": ProblemType(405, "Method not allowed"),
    "too-slow": ProblemType(408, "The request did not arrive in time"),
    "too-large": ProblemType(413, "The request is too large"),
    "large-answer": ProblemType(413, "The answer is too large"),
    "too-long": ProblemType(414, "The URL is too long"),
    "not-json": ProblemType(415, "The body must be JSON"),
    "wrong-host": ProblemType(421, "Unknown host name"),
    "invalid": ProblemType(422, "Invalid input"),
    "too-many": ProblemType(429, "Too many requests"),
    "large-head": ProblemType(431, "The headers are too large"),
    "failed": ProblemType(500, "Internal server error"),
    "unavailable": ProblemType(503, "The database is unavailable"),
    "busy": ProblemType(503, "The server is busy"),
}


class Problem(Exception):
    """An error response. `name` is a key of PROBLEM_TYPES, `detail` one sentence for the client."""

    def __init__(self, name: str, detail: str, headers: Mapping[str, str] = NOTHING) -> None:
        super().__init__(detail)
        self.name = name
        self.detail = detail
        self.headers = headers

    @property
    def status(self) -> int:
        return PROBLEM_TYPES[self.name].status

    def body(self, request_id: str) -> Json:
        return {
            "type": f"urn:scrubjay:problem:{self.name}",
            "title": PROBLEM_TYPES[self.name].title,
            "status": self.status,
            "detail": self.detail,
            "instance": f"urn:scrubjay:request:{request_id}",
        }


SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {"enum": [f"urn:scrubjay:problem:{name}" for name in PROBLEM_TYPES]},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "minLength": 1, "description": "What to do, in a sentence."},
        "instance": {"type": "string", "description": "The request id, as in the server's log."},
    },
}


def retry_after(seconds: float = RETRY_S) -> dict[str, str]:
    """Return a Retry-After header, in whole seconds."""
    return {"Retry-After": str(max(1, -int(-seconds // 1)))}


def problem_of(error: ScrubjayError, *, is_admin: bool) -> Problem:
    """Return the problem for one of our errors; only an admin sees paths and addresses in it."""
    message = error_message(error, is_admin=is_admin)
    if isinstance(error, InvalidInput):
        return Problem("invalid", message)
    if isinstance(error, NotFound):
        hint = "; /v1/ls lists the ids" if error.of == "memory" else ""
        return Problem("not-found", f"{message}{hint}")
    return Problem("unavailable", message, retry_after())
