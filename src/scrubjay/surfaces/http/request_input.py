"""Read the input of a request: method, body of limited size and time, unambiguous JSON, query string."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.verbs import Verb
from scrubjay.surfaces.verbs.kinds import MOST_DEPTH

BODY_TIMEOUT_S = 30.0  # for the whole body, so that one byte now and then holds no connection
_MAX_QUERY_FIELDS = 1000


class ClientGone(Exception):
    """The client disconnected before its request was answered."""


def check_method(request: Request, methods: tuple[str, ...]) -> Response | None:
    """Return the answer to OPTIONS, None for an allowed method; raise a Problem for any other."""
    allow = {"Allow": ", ".join((*methods, "OPTIONS"))}
    if request.method == "OPTIONS":
        return Response(status_code=204, headers=allow)
    if request.method not in methods:
        use = " or ".join(methods)
        raise Problem(
            "method", f"{request.method[:20]} is not supported for this path; use {use}", allow
        )
    return None


async def read_body(
    request: Request, max_bytes: int, timeout_s: float = BODY_TIMEOUT_S, *, too_large: str = ""
) -> bytes:
    """Return the body; refuse one that is too large, before reading it where possible, or too slow."""
    refused = Problem(
        "too-large",
        too_large
        or f"the body is larger than {max_bytes / 1e6:g} MB, the limit of this server; send less at once,"
        " or raise the limit with scrubjay serve --max-body-mb",
    )
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > max_bytes:
        raise refused
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            async for part in request.stream():
                body += part
                if len(body) > max_bytes:
                    raise refused
    except TimeoutError:
        detail = f"the body did not arrive within {timeout_s:g} seconds; send it faster or less"
        raise Problem("too-slow", detail, {"Connection": "close"}) from None
    except ClientDisconnect:
        raise ClientGone from None
    return bytes(body)


def check_json_type(request: Request) -> None:
    """Refuse a body that is not declared as JSON: a form on a web site cannot declare that."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        state = f"is {media_type[:80]!r}" if media_type else "is missing"
        raise Problem("not-json", f"Content-Type {state}; send Content-Type: application/json")
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise Problem("not-json", f"Content-Encoding is {encoding[:80]!r}; send plain JSON")


def has_no_body(request: Request) -> bool:
    """True when the headers announce no body."""
    headers = request.headers
    return (
        "content-type" not in headers
        and "transfer-encoding" not in headers
        and headers.get("content-length", "0").strip() == "0"
    )


def parse_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body; an empty body counts as {}."""
    if not body.strip():
        return {}
    try:
        parsed = loads_unambiguous(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _malformed(f"byte {error.start} of the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _malformed(f"the body is not JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise _malformed(f"the body is nested more than {MOST_DEPTH} levels deep") from None
    except ValueError as error:  # a number with thousands of digits
        raise _malformed(f"the body cannot be parsed: {str(error)[:200]}") from None
    if not isinstance(parsed, dict):
        raise _malformed("the body must be a JSON object, such as {}")
    return parsed


def loads_unambiguous(body: str | bytes) -> Any:
    """Parse JSON, which must have no duplicate keys and no NaN."""
    return json.loads(body, object_pairs_hook=_unique, parse_constant=_refuse_constant)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name in counts if counts[name] > 1)
        raise _malformed(f"the body has the key {twice[:80]!r} twice; send it once")
    return result


def _refuse_constant(name: str) -> object:
    raise _malformed(f"the body contains {name}, which is not JSON; send a number or leave it out")


def _malformed(detail: str) -> Problem:
    return Problem("malformed", detail)


def query_parameters(query_string: bytes, verb: Verb) -> dict[str, object]:
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MAX_QUERY_FIELDS,
        )
    except UnicodeError:
        raise _malformed("the query string is not percent-encoded UTF-8") from None
    except ValueError:
        detail = f"the query string has more than {_MAX_QUERY_FIELDS} parameters"
        raise _malformed(detail) from None
    texts: dict[str, list[str]] = {}
    for name, value in pairs:
        texts.setdefault(name, []).append(value)
    kinds = {param.name: param.kind for param in verb.params}
    given: dict[str, object] = {}
    for name, values in texts.items():
        kind = kinds.get(name) or kinds.get(verb.aliases.get(name, name))
        given[name] = values[-1] if kind is None else kind.read(values)
    return given


def merge_parameters(body: Mapping[str, Any], query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of body and query string together; refuse one that is in both."""
    if both := sorted(set(body) & set(query)):
        raise _malformed(f"{both[0][:80]!r} is in the body and in the query string; send it once")
    return {**body, **query}
