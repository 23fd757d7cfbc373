"""`/v1/VERB`: every verb, by POST with a JSON object; verbs that only read also by GET."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from scrubjay.surfaces.callers import OpenStores, Principal
from scrubjay.surfaces.http import request_input
from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.http.workers import Workers
from scrubjay.surfaces.render.json import line
from scrubjay.surfaces.render.redaction import redact
from scrubjay.surfaces.verbs import ADMIN, READ, Verb
from scrubjay.surfaces.verbs.table import VERBS, ask

JSON_TYPE = "application/json"


def methods_of(verb: Verb) -> tuple[str, ...]:
    """Return the HTTP methods of a verb: GET only where it changes nothing."""
    return ("GET", "HEAD", "POST") if verb.scope == READ else ("POST",)


class VerbEndpoint(NamedTuple):
    """Calls verbs on the store of the caller."""

    stores: OpenStores
    workers: Workers
    max_bytes: int
    max_answer_bytes: int

    async def answer(self, request: Request) -> Response:
        verb = _verb_named(request.path_params["verb"])
        request.scope["route_name"] = f"/v1/{verb.name}"
        if (options := request_input.check_method(request, methods_of(verb))) is not None:
            return options
        caller: Principal = request.state.principal
        if not caller.may(verb.scope):
            raise Problem(
                "not-allowed",
                f"{verb.name} needs the scope {verb.scope}; the API key {caller.name!r} has"
                f" {', '.join(caller.scopes) or 'none'}",
                {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{verb.scope}"'},
            )
        body = await self._read_body(request, verb)
        query = request_input.query_parameters(request.scope["query_string"], verb)
        given = request_input.merge_parameters(body, query)
        answer = await self.workers.do(lambda: self._call(caller, verb, given), caller)
        return Response(answer, media_type=JSON_TYPE)

    async def _read_body(self, request: Request, verb: Verb) -> dict[str, object]:
        may_be_missing = verb.scope == READ and request_input.has_no_body(request)
        has_object = request.method == "POST" and not may_be_missing
        if has_object:
            request_input.check_json_type(request)
        body = await request_input.read_body(request, self.max_bytes)
        if body and not has_object:
            raise Problem("malformed", f"a {request.method} request has no body; use POST")
        return request_input.parse_object(body)

    def _call(self, caller: Principal, verb: Verb, given: dict[str, object]) -> bytes:
        with self.stores.lend(caller) as store:
            answer = ask(store, verb, given)
            answer = redact(answer, verb.answer, is_admin=caller.may(ADMIN), store=store)
        body = line(answer).encode()
        if len(body) > self.max_answer_bytes:
            raise _too_large(verb, len(body), self.max_answer_bytes)
        return body


def _too_large(verb: Verb, size: int, max_bytes: int) -> Problem:
    """Return the problem of an answer over the limit, with how to ask for less."""
    names = {param.name for param in verb.params}
    if verb.scope != READ:
        how = "the call was carried out, but its answer is not sent; read the result in parts"
    elif {"limit", "offset"} <= names:
        how = "read it in pages: a smaller limit, then offset for the next page"
    elif "limit" in names:
        how = "use a smaller limit, or more filters"
    elif "ids" in names:
        how = "ask for fewer ids at once"
    else:
        how = "ask for less"
    return Problem(
        "large-answer",
        f"the answer has {size / 1e6:.1f} MB, and at most {max_bytes / 1e6:g} MB are sent; {how}. The"
        " server's --max-answer-mb changes the limit",
    )


def _verb_named(name: str) -> Verb:
    if name in VERBS:
        return VERBS[name]
    from scrubjay.text.validation import did_you_mean

    short = name[:80]
    raise Problem(
        "not-found",
        f"no verb {short!r}{did_you_mean(short, VERBS)}; the verbs are: {', '.join(VERBS)}",
    )
