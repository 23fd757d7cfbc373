"""Authenticate a request by API key or browser login, and limit the rate of requests."""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from hashlib import sha256
from typing import TYPE_CHECKING

from starlette.types import ASGIApp, Receive, Scope, Send

from scrubjay.surfaces.callers import UNRESTRICTED, OpenStores, Principal, principal_of
from scrubjay.surfaces.http.logins import Login, Logins, is_from_browser, login_secrets, origin_of
from scrubjay.surfaces.http.origin_check import is_protected, without_ipv6_mapping
from scrubjay.surfaces.http.problems import Problem, retry_after
from scrubjay.surfaces.http.settings import KEY_RATE
from scrubjay.surfaces.http.workers import Workers
from scrubjay.text.api_key_format import is_whole

if TYPE_CHECKING:
    from scrubjay.sharing.api_keys import Token

WRONG_PER_S = 5.0  # wrong keys from one address
LOGIN_PATH = "/session"  # needs no authentication: a browser logs in there
CACHE_S = 1.0  # a revoked key is refused after this time at the latest
_MAX_CACHED = 1000
_BURST_S = 2.0  # this many seconds' worth of requests may come at once
_MAX_CALLERS = 10_000  # the rate limiter forgets the caller that it has not seen for longest
_CHALLENGE = 'Bearer realm="scrubjay"'
_OWNER_HINT = (
    "the owner of the server has one in a file, and scrubjay serve printed the command that reads it;"
    " scrubjay key create NAME makes others"
)

FindCaller = Callable[[str | None], Principal | None]
"""Return the caller with this secret, or without one (None); None where access is refused."""


class ApiKeyLookup:
    """Finds callers by the owner's key and by the API keys in the database that is served.
    `own` is the owner. A caller without a key is `own`, too, but only on loopback, and only with
    `no_auth` or after `key open`, until the database requires a key. If `own` has a tenant, the
    server belongs to that tenant and refuses the keys of others."""

    def __init__(
        self,
        stores: OpenStores,
        *,
        loopback: bool,
        own: Principal = UNRESTRICTED,
        owner_key: str | None = None,
        no_auth: bool = False,
    ) -> None:
        self._stores = stores
        self._loopback = loopback
        self._own = own
        self._owner_hash = b"" if owner_key is None else _cache_key(owner_key)
        self._no_auth = no_auth
        self._required = False

    def __call__(self, secret: str | None) -> Principal | None:
        if secret is None:
            return self._own if self._loopback and not self.requires_key() else None
        if hmac.compare_digest(self._owner_hash, _cache_key(secret)):
            return self._own
        with self._stores.lend(UNRESTRICTED) as store:
            key = store.api_keys.find(secret)
        return principal_of(key) if key is not None and self._is_ours(key) else None

    def requires_key(self) -> bool:
        """True where requests need a key.
        Stays true for this server unless the database says otherwise: deleting the file, or
        putting an empty one in its place, must not open the server."""
        with self._stores.lend(UNRESTRICTED) as store:
            required = store.api_keys.asks()
        if required is None:
            return self._required or not self._no_auth
        self._required = required
        return required

    def asks_for_api_keys(self) -> bool:
        """True where the database has API keys, or had one: then users sign in with those."""
        with self._stores.lend(UNRESTRICTED) as store:
            return self._required or bool(store.api_keys.asks())

    def has_key(self) -> bool:
        with self._stores.lend(UNRESTRICTED) as store:
            return any(map(self._is_ours, store.api_keys.list()))

    def _is_ours(self, key: Token) -> bool:
        return self._own.tenant in (None, key.tenant)


class CallerCache:
    """Callers by the hash of their secret, for a second: a lookup a request took longer than a search.
    Holds accepted callers only, so that a new key works at once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._entries: OrderedDict[bytes, tuple[float, Principal]] = OrderedDict()

    def get(self, secret: str | None) -> Principal | None:
        entry = self._entries.get(_cache_key(secret))
        return None if entry is None or self.clock() - entry[0] >= CACHE_S else entry[1]

    def put(self, secret: str | None, looked_up_s: float, caller: Principal) -> None:
        """Store a caller with the time at which the lookup began."""
        key = _cache_key(secret)
        self._entries[key] = (looked_up_s, caller)
        self._entries.move_to_end(key)
        while len(self._entries) > _MAX_CACHED:
            self._entries.popitem(last=False)


def _cache_key(secret: str | None) -> bytes:
    return b"" if secret is None else sha256(secret.encode("utf-8", "surrogatepass")).digest()


class RateLimiter:
    """Token bucket for each caller; unlimited without a rate."""

    def __init__(self, per_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._capacity = max(1.0, (per_s or 0.0) * _BURST_S)
        self._clock = clock
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, caller: Hashable) -> float:
        """Count a request and return 0, or return the seconds to wait until one is allowed."""
        if self._per_s is None:
            return 0.0
        now = self._clock()
        left, then = self._buckets.pop(caller, (self._capacity, now))
        left = min(self._capacity, left + (now - then) * self._per_s)
        wait_s = 0.0 if left >= 1.0 else (1.0 - left) / self._per_s
        self._buckets[caller] = (left if wait_s else left - 1.0, now)
        if len(self._buckets) > _MAX_CALLERS:
            self._buckets.popitem(last=False)
        return wait_s


class Authenticator:
    """Finds the caller of a request, and limits the rate of wrong keys.
    A link signs a browser in with `owner_key`, or without a key where there is none."""

    def __init__(
        self, find: FindCaller, workers: Workers, logins: Logins, owner_key: str | None = None
    ) -> None:
        self.owner_key = owner_key
        self._find = find
        self._workers = workers
        self._logins = logins
        self._cache = CallerCache()
        self._wrong = RateLimiter(WRONG_PER_S)

    async def authenticate(self, scope: Scope) -> Principal:
        """Return the caller of a request; a Problem that says what to do where access is refused."""
        secret = _secret_in(scope)
        if secret is not None:
            return await self.by_key(secret, scope)
        if (caller := await self.by_login(scope)) is not None:
            return caller
        caller = await self.find(None)
        if caller is None:
            own = "" if self.owner_key is None else f"; {_OWNER_HINT}"
            raise _unauthorized(
                f"this server requires an API key: send Authorization: Bearer API_KEY{own}"
            )
        if is_from_browser(scope):
            # Programs on this machine need no key. Every web site open in a browser there is another matter.
            raise _unauthorized(
                f"a browser has to be signed in or to send an API key; {login_hint(scope)}"
            )
        return caller

    async def by_key(self, secret: str, scope: Scope) -> Principal:
        """Return the caller with this API key; a Problem for a wrong one."""
        whole = is_whole(secret)
        # Looked up however many wrong keys came before: behind a proxy all clients have one address, and
        # one that sends junk must not lock out the others.
        caller = await self.find(secret) if whole else None
        if caller is not None:
            return caller
        detail = (
            "the API key is not valid here: it is unknown, revoked, expired or for another tenant"
            if whole
            else "the API key is not valid: it is mistyped or cut short"
        )
        raise self.wrong_secret(scope, detail)

    async def by_login(self, scope: Scope) -> Principal | None:
        """Return the caller of a browser login; None without one, a Problem if it has ended."""
        cookies, key = login_secrets(scope)
        if not key:
            return None
        login = self._logins.find(cookies, key)
        if login is None:
            has_links = await self.find(self.owner_key) is not None
            hint = login_hint(scope) if has_links else "sign in with an API key"
            raise _unauthorized(
                "you are no longer signed in: the server was restarted, or you were inactive for too"
                f" long; {hint}"
            )
        return await self._caller_of(login)

    async def find(self, secret: str | None) -> Principal | None:
        """Return the caller with this secret, or without one, as of a second ago at most."""
        if (cached := self._cache.get(secret)) is not None:
            return cached
        now_s = self._cache.clock()
        caller = await self._workers.do(lambda: self._find(secret))
        if caller is not None:
            self._cache.put(secret, now_s, caller)
        return caller

    def wrong_secret(self, scope: Scope, detail: str) -> Problem:
        """Return the problem for a wrong secret, or 429 where too many came from that address."""
        if wait_s := self._wrong.take(without_ipv6_mapping((scope.get("client") or ("",))[0])):
            return _too_many("too many wrong API keys came from your address", wait_s)
        return _unauthorized(detail, ', error="invalid_token"')

    async def _caller_of(self, login: Login) -> Principal:
        caller = await self.find(login.secret)
        if caller is None:
            self._logins.end(login)
            raise _unauthorized(
                "this server requires an API key now; sign in with one"
                if login.secret is None
                else "the API key of this login was revoked or has expired; sign in with another"
            )
        return caller


class AuthMiddleware:
    """Authenticates requests to protected paths, before their body is read, and limits their rate.
    The caller is at `request.state.principal`."""

    def __init__(
        self, app: ASGIApp, authenticator: Authenticator, rate_per_s: float | None
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._with_key = RateLimiter(KEY_RATE if rate_per_s is None else rate_per_s)
        self._without_key = RateLimiter(rate_per_s)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        if is_protected(path) and path != LOGIN_PATH:
            caller = await self._authenticator.authenticate(scope)
            scope.setdefault("state", {})["principal"] = caller
            limiter = self._with_key if caller.name else self._without_key
            if wait_s := limiter.take((caller.name, caller.tenant, caller.user)):
                raise _too_many("you send more requests than this server allows", wait_s)
        await self._app(scope, receive, send)


def login_hint(scope: Scope) -> str:
    command = f"scrubjay signin {origin_of(scope)}"
    return f"open the link that scrubjay serve printed, or get a new one: {command}"


def _secret_in(scope: Scope) -> str | None:
    """Return the API key of a request, None without one; another scheme than Bearer is refused."""
    given: list[bytes] = [value for name, value in scope["headers"] if name == b"authorization"]
    if not given:
        return None
    scheme, _, secret = given[0].decode("latin-1").strip().partition(" ")
    if len(given) > 1 or scheme.lower() != "bearer" or not secret.strip():
        raise _unauthorized("the Authorization header is not valid: send Bearer API_KEY")
    return secret.strip()


def _unauthorized(detail: str, challenge: str = "") -> Problem:
    return Problem("no-token", detail, {"WWW-Authenticate": f"{_CHALLENGE}{challenge}"})


def _too_many(why: str, wait_s: float) -> Problem:
    return Problem("too-many", f"{why}; wait {max(wait_s, 0.1):.1f} seconds", retry_after(wait_s))
