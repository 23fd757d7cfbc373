"""`/v1/VERB`: every verb of the table, asked with a JSON object or, where it only reads, by address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.http.bodies import (
    check_json_type,
    has_no_body,
    merged,
    object_of,
    query_of,
    read_body,
)
from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.render.json import line
from scrubjay.surfaces.render.redaction import shown
from scrubjay.surfaces.verbs import ADMIN, READ
from scrubjay.surfaces.verbs.table import VERBS, ask

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from scrubjay.surfaces.callers import OpenStores, Principal
    from scrubjay.surfaces.http.workers import Workers
    from scrubjay.surfaces.verbs import Verb

JSON_TYPE = "application/json"


def methods_of(verb: Verb) -> tuple[str, ...]:
    """Return how a verb may be asked: what changes something, never by an address alone."""
    return ("GET", "HEAD", "POST") if verb.scope == READ else ("POST",)


class Asking:
    """Asks the store of whoever asks."""

    def __init__(self, stores: OpenStores, workers: Workers, most_bytes: int) -> None:
        self._stores = stores
        self._workers = workers
        self._most_bytes = most_bytes

    async def __call__(self, request: Request) -> Response:
        """Answer one request to `/v1/VERB`."""
        from starlette.responses import Response

        verb = verb_named(request.path_params["verb"])
        request.scope["route_name"] = f"/v1/{verb.name}"
        methods = methods_of(verb)
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": allow(methods)})
        if request.method not in methods:
            raise not_by(request.method, methods)
        who: Principal = request.state.principal
        if not who.may(verb.scope):
            raise Problem(
                "not-allowed",
                f"{verb.name} needs the scope {verb.scope}; the token {who.name!r} has"
                f" {', '.join(who.scopes) or 'none'}",
                {"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{verb.scope}"'},
            )
        given = merged(
            await self._body_of(request, verb), query_of(request.scope["query_string"], verb)
        )
        text = await self._workers.do(lambda: self._ask(who, verb, given), who)
        return Response(text, media_type=JSON_TYPE)

    async def _body_of(self, request: Request, verb: Verb) -> dict[str, object]:
        if request.method == "POST" and not (verb.scope == READ and has_no_body(request)):
            check_json_type(request)
            return object_of(await read_body(request, self._most_bytes))
        if await read_body(request, self._most_bytes):
            raise Problem("malformed", f"a {request.method} has no body; send it by POST")
        return {}

    def _ask(self, who: Principal, verb: Verb, given: dict[str, object]) -> str:
        with self._stores.lend(who) as store:
            answer = ask(store, verb, given)
        return line(shown(answer, verb.answer, told_all=who.may(ADMIN)))


def verb_named(name: str) -> Verb:
    """Return a verb; a Problem with the nearest name where there is none."""
    if name in VERBS:
        return VERBS[name]
    from scrubjay.text.validation import nearest

    shown = name[:80]
    raise Problem(
        "not-found",
        f"there is no verb {shown!r}{nearest(shown, VERBS)}; the verbs are: {', '.join(VERBS)}",
    )


def not_by(method: str, methods: tuple[str, ...]) -> Problem:
    """Return the problem of a method that leads nowhere here."""
    return Problem(
        "method",
        f"{method[:20]} is not for this path; use {' or '.join(methods)}",
        {"Allow": allow(methods)},
    )


def allow(methods: tuple[str, ...]) -> str:
    """Return the methods of a path as a header has them."""
    return ", ".join((*methods, "OPTIONS"))
