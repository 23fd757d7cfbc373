"""`/session`: who is signed in at the page, how one signs in and out, and `/session/link`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response

from scrubjay._version import __version__
from scrubjay.surfaces.http.auth.login_cookie import halves_of, origin_of, set_cookie
from scrubjay.surfaces.http.auth.logins import LINK_S
from scrubjay.surfaces.http.bodies import check_json_type, object_of, read_body
from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.http.v1 import allow, not_by
from scrubjay.surfaces.verbs import ADMIN
from scrubjay.text.urls import is_server_url
from scrubjay.types.key_scopes import SCOPES

if TYPE_CHECKING:
    from starlette.requests import Request

    from scrubjay.surfaces.callers import OpenStores, Principal
    from scrubjay.surfaces.http.auth.authenticate import Known
    from scrubjay.surfaces.http.auth.logins import Sessions
    from scrubjay.surfaces.http.workers import Workers
    from scrubjay.surfaces.render.json import Json

_METHODS = ("GET", "HEAD", "POST", "DELETE")
_MOST_BYTES = 4096
_GIVE = 'give {"code": …} of a link, or {"token": "sj_…"}'


def page_at(url: str, code: str = "") -> str:
    """Return where the page is; with a code, so that whoever opens it is signed in.

    The code stands behind the #, which no browser sends: it is in no log.
    """
    return f"{url}/#/signin?code={code}" if code else f"{url}/"


class SessionPage:
    """`/session`."""

    def __init__(
        self, known: Known, sessions: Sessions, stores: OpenStores, workers: Workers
    ) -> None:
        self._known = known
        self._sessions = sessions
        self._stores = stores
        self._workers = workers

    async def __call__(self, request: Request) -> Response:
        """Say who is signed in, or sign somebody in or out."""
        request.scope["route_name"] = "/session"
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": allow(_METHODS)})
        if request.method == "POST":
            return await self._sign_in(request)
        if request.method == "DELETE":
            return self._sign_out(request)
        if request.method in _METHODS:
            return JSONResponse(await self._told(request))
        raise not_by(request.method, _METHODS)

    async def _told(self, request: Request) -> Json:
        who, why = None, None
        try:
            who = await self._known.signed_in(request.scope)
        except Problem as problem:  # nobody is signed in, which is an answer here
            if problem.sort != "no-token":
                raise
            why = problem.detail
        return {
            "signed_in": who is not None,
            "why": why,
            "name": who.name if who else "",
            "scopes": [one for one in SCOPES if who and who.may(one)],
            "tenant": who.tenant if who else None,
            "user": who.user if who else None,
            "store": await self._workers.do(lambda: self._name_of(who), who) if who else None,
            "version": __version__,
            "asks_for_token": await self._known.found(None) is None,
        }

    async def _sign_in(self, request: Request) -> Response:
        check_json_type(request)
        given = object_of(await _read(request))
        match given:
            case {"code": str(code)} if len(given) == 1:
                await self._check_code(request, code)
                halves = self._sessions.begin(None)
            case {"token": str(token)} if len(given) == 1:
                await self._known.with_token(token.strip(), request.scope)
                halves = self._sessions.begin(token.strip())
            case _:
                raise Problem("invalid", f"this does not say who signs in; {_GIVE}")
        self._end(request)  # what this browser had before
        headers = {"Set-Cookie": set_cookie(request.scope, halves.cookie)}
        return JSONResponse({"key": halves.key}, headers=headers)

    async def _check_code(self, request: Request, code: str) -> None:
        # Asked before the link is used up: a store that does not answer would use it up for nothing.
        is_open = await self._known.found(None) is not None
        if not self._sessions.take(code):
            raise self._known.wrong(
                request.scope,
                f"this link was used before, or is older than {LINK_S / 60:g} minutes; start the server"
                f" anew, or get another: curl -X POST {origin_of(request.scope)}/session/link",
            )
        if not is_open:
            raise self._known.wrong(
                request.scope, "this server asks for a token now; sign in with one"
            )

    def _sign_out(self, request: Request) -> Response:
        self._end(request)
        return Response(status_code=204, headers={"Set-Cookie": set_cookie(request.scope, "")})

    def _end(self, request: Request) -> None:
        if (session := self._sessions.find(*halves_of(request.scope))) is not None:
            self._sessions.end(session)

    def _name_of(self, who: Principal) -> str:
        with self._stores.lend(who) as store:
            return short_name(store.path)


class LinkPage:
    """`/session/link`: a further link that signs somebody in once."""

    def __init__(self, known: Known, sessions: Sessions) -> None:
        self._known = known
        self._sessions = sessions

    async def __call__(self, request: Request) -> Response:
        """Make a link, for whoever runs the server."""
        request.scope["route_name"] = "/session/link"
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": allow(("POST",))})
        if request.method != "POST":
            raise not_by(request.method, ("POST",))
        who: Principal = request.state.principal
        if not who.may(ADMIN):
            raise Problem("not-allowed", f"a link lets somebody do everything; it needs {ADMIN}")
        if await self._known.found(None) is None:
            said = "this server asks for a token; open the page and sign in with one"
            raise Problem("invalid", said)
        url = origin_of(request.scope)
        return JSONResponse({"page": page_at(url, self._sessions.link()), "expires_in_s": LINK_S})


async def _read(request: Request) -> bytes:
    try:
        return await read_body(request, _MOST_BYTES)
    except Problem as problem:
        if problem.sort != "too-large":
            raise
        said = f"who signs in sends {_MOST_BYTES} bytes at most; {_GIVE}"
        raise Problem("too-large", said) from None


def short_name(place: str) -> str:
    """Return the name of a store without where it is: that of its file, or of its database."""
    return urlsplit(place).path.strip("/") if is_server_url(place) else os.path.basename(place)
