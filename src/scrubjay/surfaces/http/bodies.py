"""What comes in with a request: a body of bounded size, in time, as JSON that means one thing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.verbs.plain_json import MOST_DEPTH

if TYPE_CHECKING:
    from starlette.requests import Request

    from scrubjay.surfaces.verbs import Verb

BODY_TIME_S = 30.0  # for all of it: a byte now and then must not hold a place for ever
_MOST_FIELDS = 1000


class ClientGone(Exception):
    """Whoever asked hung up before the request was complete."""


async def read_body(request: Request, most_bytes: int, time_s: float = BODY_TIME_S) -> bytes:
    """Return the body; refuse one that is too large before it is read, and one that never ends."""
    from starlette.requests import ClientDisconnect

    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > most_bytes:
        raise _too_large(most_bytes)
    read = bytearray()
    try:
        async with asyncio.timeout(time_s):
            async for part in request.stream():
                read += part
                if len(read) > most_bytes:
                    raise _too_large(most_bytes)
    except TimeoutError:
        said = f"the body did not arrive within {time_s:g} seconds; send it faster, or less of it"
        raise Problem("too-slow", said, {"Connection": "close"}) from None
    except ClientDisconnect:
        raise ClientGone from None
    return bytes(read)


def _too_large(most_bytes: int) -> Problem:
    return Problem(
        "too-large",
        f"the body has more than {most_bytes / 1e6:g} MB, the most that this server takes; send less"
        " at once, or let it take more: scrubjay serve --max-body-mb",
    )


def check_json_type(request: Request) -> None:
    """Refuse a body that does not say that it is JSON: a form of a web page cannot say so."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        named = f"is {kind[:80]!r}" if kind else "is missing"
        raise Problem("not-json", f"Content-Type {named}; send Content-Type: application/json")
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        raise Problem("not-json", f"Content-Encoding is {coding[:80]!r}; send plain JSON")


def has_no_body(request: Request) -> bool:
    """True for a request that announces no body, of no type: its address says everything."""
    named = request.headers
    return (
        "content-type" not in named
        and "transfer-encoding" not in named
        and named.get("content-length", "0").strip() == "0"
    )


def object_of(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body; nothing at all stands for an empty one."""
    if not body.strip():
        return {}
    try:
        read = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_number
        )
    except UnicodeDecodeError as error:
        raise _malformed(f"byte {error.start} of the body is not UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _malformed(f"the body is not JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise _malformed(f"the body is nested more than {MOST_DEPTH} deep") from None
    except ValueError as error:  # thousands of digits
        raise _malformed(f"the body cannot be read: {str(error)[:200]}") from None
    if not isinstance(read, dict):
        raise _malformed("the body must be a JSON object, such as {}")
    return read


def check_keys(body: bytes) -> None:
    """Refuse JSON that could mean two things; what is no JSON at all is for somebody else to refuse."""
    try:
        json.loads(body, object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _malformed(f"the body names {name[:80]!r} twice; give it once")
            seen.add(name)
    return made


def _no_number(name: str) -> object:
    raise _malformed(f"the body holds {name}, which is not JSON; leave it out, or give a number")


def _malformed(said: str) -> Problem:
    return Problem("malformed", said)


def query_of(query_string: bytes, verb: Verb) -> dict[str, object]:
    """Return what the address says after its question mark, as values of the verb's parameters."""
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MOST_FIELDS,
        )
    except UnicodeError:
        raise _malformed("the address holds bytes that are not UTF-8, percent-encoded") from None
    except ValueError:
        raise _malformed(f"the address names more than {_MOST_FIELDS} parameters") from None
    texts: dict[str, list[str]] = {}
    for name, value in pairs:
        texts.setdefault(name, []).append(value)
    kinds = {one.name: one.kind for one in verb.params}
    given: dict[str, object] = {}
    for name, values in texts.items():
        kind = kinds.get(verb.aliases.get(name, name) if name not in kinds else name)
        given[name] = values[-1] if kind is None else kind.read(values)
    return given


def merged(body: Mapping[str, Any], query: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the body and the address say together; they must not say the same thing twice."""
    if both := sorted(set(body) & set(query)):
        raise _malformed(f"{both[0][:80]!r} is in the body and in the address; give it once")
    return {**body, **query}
