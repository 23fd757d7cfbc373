"""Browser logins: kept in memory, sent as cookie and key, started and ended at `/session`. A login
has two secrets. A browser sends a cookie to every port of a host, so the cookie alone must not be
enough. The web UI stores the other one, the key, where no site on another port can read it."""

from __future__ import annotations

import hmac
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from scrubjay._version import __version__
from scrubjay.surfaces.callers import UNRESTRICTED, OpenStores, Principal
from scrubjay.surfaces.http.problems import Problem
from scrubjay.surfaces.http.request_input import check_json_type, parse_object, read_body
from scrubjay.surfaces.http.workers import Workers
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import ADMIN
from scrubjay.text.urls import is_server_url
from scrubjay.types.key_scopes import SCOPES

if TYPE_CHECKING:
    from scrubjay.surfaces.http.auth import Authenticator

IDLE_S = 12 * 3600.0  # since the last request
LIFETIME_S = 7 * 24 * 3600.0  # since the start: a web UI left open sends requests for ever
MAX_LOGINS = 1000
MAX_LOGINS_PER_KEY = 50  # so that one key cannot end the logins of others
LINK_S = 600
KEY_HEADER = "X-Scrubjay-Page"
_MAX_LINKS = 100
_SECRET_BYTES = 32
_MAX_BODY_BYTES = 4096
_EXPECTED = 'send {"code": …} from a link, or {"token": "sj_…"}'
_TOO_LARGE = f"a login has at most {_MAX_BODY_BYTES} bytes; {_EXPECTED}"
_NOT_SIGNED_IN = Principal(scopes=())
# Every current browser sends one of these with a request of a page. Not Sec-Fetch-Mode: Node.js sends it
# for programs.
_BROWSER_HEADERS = (b"origin", b"sec-fetch-site", b"sec-fetch-dest")


class LoginSecrets(NamedTuple):
    """What a browser gets: a cookie that no script reads, and a key that no other port reads."""

    cookie: str
    key: str

    def __repr__(self) -> str:
        return "LoginSecrets()"


class Login(NamedTuple):
    """One login. `secret` is the key it was started with, None if by the link of a server without one."""

    id: bytes
    secret: str | None
    key_hash: bytes
    started_s: float
    used_s: float

    def __repr__(self) -> str:
        return "Login()"


class Logins:
    """The logins and one-time links of one server, by the hashes of their secrets.
    They end with the process. Used by the thread of the event loop only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logins: OrderedDict[bytes, Login] = OrderedDict()  # least recently used first
        self._links: OrderedDict[bytes, float] = OrderedDict()  # code hash to end of validity

    def new_link_code(self) -> str:
        """Return a code that starts one login, within LINK_S seconds."""
        code = secrets.token_urlsafe(_SECRET_BYTES)
        self._links[_hash(code)] = self._clock() + LINK_S
        while len(self._links) > _MAX_LINKS:
            self._links.popitem(last=False)
        return code

    def use_link_code(self, code: str) -> bool:
        """Invalidate a code; False if it was used before, has expired or never existed."""
        return self._links.pop(_hash(code), 0.0) > self._clock()

    def start(self, secret: str | None) -> LoginSecrets:
        """Start a login by an API key or, with None, by a link; ends the oldest beyond the limits."""
        new = LoginSecrets(*(secrets.token_urlsafe(_SECRET_BYTES) for _ in range(2)))
        self._remove_idle()
        same = [login.id for login in self._logins.values() if login.secret == secret]
        for id in same[: max(0, len(same) + 1 - MAX_LOGINS_PER_KEY)]:
            del self._logins[id]
        while len(self._logins) >= MAX_LOGINS:
            self._logins.popitem(last=False)
        id, now = _hash(new.cookie), self._clock()
        self._logins[id] = Login(id, secret, _hash(new.key), now, now)
        return new

    def find(self, cookies: Iterable[str], key: str) -> Login | None:
        """Return the login with this key and one of these cookies, and record that it was used.
        There may be several cookies of one name: another server on this host can set one, too."""
        self._remove_idle()
        key_hash, now = _hash(key), self._clock()
        for id in map(_hash, cookies):
            login = self._logins.get(id)
            if login is not None and hmac.compare_digest(login.key_hash, key_hash):
                if now - login.started_s >= LIFETIME_S:
                    self.end(login)
                    continue
                self._logins[id] = login._replace(used_s=now)
                self._logins.move_to_end(id)
                return login
        return None

    def end(self, login: Login) -> None:
        """End a login; harmless if it has ended already."""
        self._logins.pop(login.id, None)

    def _remove_idle(self) -> None:
        now = self._clock()
        while self._logins:
            id, oldest = next(iter(self._logins.items()))
            if now - oldest.used_s < IDLE_S:
                return
            del self._logins[id]


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def is_from_browser(scope: Scope) -> bool:
    return any(name in _BROWSER_HEADERS for name, _ in scope["headers"])


def login_secrets(scope: Scope) -> tuple[list[str], str]:
    """Return the cookies of a request that may belong to a login, and the key ('' without one)."""
    name, headers = _cookie_name(scope), Headers(scope=scope)
    keys = headers.getlist(KEY_HEADER)
    pairs = [pair for header in headers.getlist("cookie") for pair in header.split(";")]
    named = (pair.strip().partition("=") for pair in pairs)
    cookies = [value for cookie, _, value in named if cookie == name]
    return cookies, keys[0] if len(keys) == 1 else ""


def origin_of(scope: Scope) -> str:
    """Return the origin of the web UI, as the browser reports it; otherwise by plain HTTP."""
    headers = Headers(scope=scope)
    return headers.get("origin") or f"http://{headers.getlist('host')[-1]}"


def _cookie_name(scope: Scope) -> str:
    """Return the cookie's name, with the port: servers on one host share its cookies."""
    # OriginCheck has parsed this header before.
    port = urlsplit(f"//{Headers(scope=scope).getlist('host')[-1]}").port
    return f"scrubjay-{port or 'web'}"


def _set_cookie(scope: Scope, value: str) -> dict[str, str]:
    """Return the header that sets the cookie, or with '' removes it."""
    words = [f"{_cookie_name(scope)}={value}", "Path=/", "HttpOnly", "SameSite=Strict"]
    if origin_of(scope).startswith("https:"):
        words.append("Secure")
    if not value:
        words.append("Max-Age=0")
    return {"Set-Cookie": "; ".join(words)}


def web_ui_url(url: str, code: str = "") -> str:
    """Return the URL of the web UI; with a code, one that signs in the browser that opens it.
    The code follows the #, which no browser sends: it appears in no log."""
    return f"{url}/#/signin?code={code}" if code else f"{url}/"


class LoginEndpoints(NamedTuple):
    """`/session` and `/session/link`."""

    authenticator: Authenticator
    logins: Logins
    stores: OpenStores
    workers: Workers

    async def session(self, request: Request) -> Response:
        """Return who is signed in (GET), sign in (POST) or out (DELETE)."""
        if request.method == "POST":
            return await self._sign_in(request)
        if request.method == "DELETE":
            self._end_login(request)
            return Response(status_code=204, headers=_set_cookie(request.scope, ""))
        return JSONResponse(await self._state(request))

    async def _state(self, request: Request) -> Json:
        caller, why, database = None, None, None
        try:
            caller = await self.authenticator.by_login(request.scope)
        except Problem as problem:  # not signed in is an answer here, not an error
            if problem.name != "no-token":
                raise
            why = problem.detail
        if caller is not None:
            database = await self.workers.do(partial(self._database_name, caller), caller)
        who = caller or _NOT_SIGNED_IN
        return {
            "signed_in": caller is not None,
            "why": why,
            "name": who.name,
            "scopes": [scope for scope in SCOPES if who.may(scope)],
            "tenant": who.tenant,
            "user": who.user,
            "store": database,
            "version": __version__,
            "asks_for_token": await self._asks_for_api_key(),
        }

    async def _asks_for_api_key(self) -> bool:
        """True where users sign in with API keys, False where a link of the owner does."""
        if await self.authenticator.find(None) is not None:
            return False
        if self.authenticator.owner_key is None:
            return True
        return await self.workers.do(self._has_api_keys)

    def _has_api_keys(self) -> bool:
        with self.stores.lend(UNRESTRICTED) as store:
            return bool(store.api_keys.asks())

    async def _sign_in(self, request: Request) -> Response:
        check_json_type(request)
        given = parse_object(await read_body(request, _MAX_BODY_BYTES, too_large=_TOO_LARGE))
        match given:
            case {"code": str(code)} if len(given) == 1:
                await self._check_code(request, code)
                new = self.logins.start(self.authenticator.owner_key)
            case {"token": str(secret)} if len(given) == 1:
                await self.authenticator.by_key(secret.strip(), request.scope)
                new = self.logins.start(secret.strip())
            case _:
                raise Problem("invalid", f"the body is not a login; {_EXPECTED}")
        self._end_login(request)  # the one that this browser had before
        return JSONResponse({"key": new.key}, headers=_set_cookie(request.scope, new.cookie))

    async def _check_code(self, request: Request, code: str) -> None:
        # Before the code is used: a database that fails must not use it up.
        has_links = await self.authenticator.find(self.authenticator.owner_key) is not None
        if not self.logins.use_link_code(code):
            raise self.authenticator.wrong_secret(
                request.scope,
                f"this link was used before or is older than {LINK_S / 60:g} minutes; restart the"
                f" server, or get another: scrubjay signin {origin_of(request.scope)}",
            )
        if not has_links:
            raise self.authenticator.wrong_secret(
                request.scope, "this server requires an API key now; sign in with one"
            )

    def _end_login(self, request: Request) -> None:
        if (login := self.logins.find(*login_secrets(request.scope))) is not None:
            self.logins.end(login)

    def _database_name(self, caller: Principal) -> str:
        """Return the name of the file or of the database on its server, without where it is."""
        with self.stores.lend(caller) as store:
            place = store.path
        return urlsplit(place).path.strip("/") if is_server_url(place) else os.path.basename(place)

    async def link(self, request: Request) -> Response:
        """Return another one-time login link, for the owner."""
        caller: Principal = request.state.principal
        if not caller.may(ADMIN):
            raise Problem("not-allowed", f"a login link grants full access; it needs {ADMIN}")
        # A link signs in as the owner, whom an API key of a tenant or a user must not become.
        if caller.name or await self.authenticator.find(self.authenticator.owner_key) is None:
            detail = "this server requires an API key; open the web UI and sign in with one"
            raise Problem("invalid", detail)
        page = web_ui_url(origin_of(request.scope), self.logins.new_link_code())
        return JSONResponse({"page": page, "expires_in_s": LINK_S})
