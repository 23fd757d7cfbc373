"""What goes wrong through HTTP, as RFC 9457 has it: one body for every error, with a sentence that helps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.surfaces.render.redaction import said_of
from scrubjay.types import NOTHING

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json

MEDIA_TYPE = "application/problem+json"
RETRY_S = 2  # what a client is told to wait where we cannot know


class Sort(NamedTuple):
    """A sort of problem: the status that goes with it, and its title."""

    status: int
    title: str


SORTS = {
    "malformed": Sort(400, "The request cannot be read"),
    "no-token": Sort(401, "A valid token is needed"),
    "not-allowed": Sort(403, "The token does not allow this"),
    "other-origin": Sort(403, "Another site may not ask"),
    "not-found": Sort(404, "Nothing is there"),
    "method": Sort(405, "Not by this method"),
    "too-slow": Sort(408, "The request did not arrive in time"),
    "too-large": Sort(413, "The request is too large"),
    "too-long": Sort(414, "The address is too long"),
    "not-json": Sort(415, "The body must be JSON"),
    "wrong-host": Sort(421, "This server has another name"),
    "invalid": Sort(422, "The input cannot be used"),
    "too-many": Sort(429, "Too many requests"),
    "large-head": Sort(431, "The headers are too large"),
    "failed": Sort(500, "The server failed"),
    "unavailable": Sort(503, "Something that is needed does not answer"),
    "busy": Sort(503, "The server is busy"),
}


class Problem(Exception):
    """An answer that is an error; `detail` is one sentence for whoever asked."""

    def __init__(self, sort: str, detail: str, headers: Mapping[str, str] = NOTHING) -> None:
        super().__init__(detail)
        self.sort = sort
        self.detail = detail
        self.headers = headers

    @property
    def status(self) -> int:
        """The status of the answer."""
        return SORTS[self.sort].status

    def body(self, request_id: str) -> Json:
        """Return the problem as JSON."""
        return {
            "type": f"urn:scrubjay:problem:{self.sort}",
            "title": SORTS[self.sort].title,
            "status": self.status,
            "detail": self.detail,
            "instance": f"urn:scrubjay:request:{request_id}",
        }


SCHEMA: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["type", "title", "status", "detail", "instance"],
    "properties": {
        "type": {"enum": [f"urn:scrubjay:problem:{name}" for name in SORTS]},
        "title": {"type": "string"},
        "status": {"type": "integer", "minimum": 400, "maximum": 599},
        "detail": {"type": "string", "minLength": 1, "description": "What to do, in a sentence."},
        "instance": {"type": "string", "description": "The request's id, as in the server's log."},
    },
}


def retry(after_s: float = RETRY_S) -> dict[str, str]:
    """Return the header that says when to come again, in whole seconds."""
    return {"Retry-After": str(max(1, -int(-after_s // 1)))}


def problem_of(error: ScrubjayError, *, told_all: bool) -> Problem:
    """Return the problem that an error of ours is.

    `told_all` is for somebody who runs the server, who may know of its files and other servers.
    """
    if isinstance(error, InvalidInput):
        return Problem("invalid", str(error))
    if isinstance(error, NotFound):
        where = "; /v1/ls lists the ids" if error.of == "memory" else ""
        return Problem("not-found", f"{error}{where}")
    return Problem("unavailable", said_of(error, told_all=told_all), retry())
