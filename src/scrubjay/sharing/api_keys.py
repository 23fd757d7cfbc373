"""API keys of a store: created, listed, revoked, and found by their secret.

The store contains the hash of a secret alone. A store without a tenant may hold keys of every tenant, as a
server for many tenants needs. A tenant's own store holds keys of that tenant alone, so that a caller who can
write there cannot create a key for another tenant.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.sharing.permissions import check_user
from scrubjay.storage.sql.api_keys import ApiKeyRow, SqlApiKeys
from scrubjay.text.api_key_format import PREFIX, is_whole, new_secret
from scrubjay.text.urls import check_tenant
from scrubjay.text.validation import check_name, did_you_mean
from scrubjay.times import duration, micros, moment, parse
from scrubjay.types.key_scopes import READ, SCOPES

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.store import Store

_EXAMPLES = "give hours, days or weeks, such as 12h, 90d or 2w, or a date, such as"
_USED_EVERY_US = 3_600_000_000  # a search must not become a write each time
_BUSY_S = 0.2


class ApiKey(NamedTuple):
    """What a caller may do, in which tenant's store, as which user, and until when."""

    name: str
    scopes: tuple[str, ...]
    tenant: str | None = None
    user: str | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None


class Created(NamedTuple):
    """A new key and its secret, which cannot be shown again."""

    token: ApiKey
    secret: str

    def __repr__(self) -> str:
        return f"Created({self.token!r})"


class ApiKeys:
    """The API keys of one store."""

    def __init__(
        self, db: Database, clock: Callable[[], datetime], tenant: str | None = None
    ) -> None:
        self._db = db
        self._rows = SqlApiKeys(db)
        self._clock = clock
        self._tenant = tenant
        self._noted: dict[str, int] = {}
        self._noting = threading.Lock()

    def create(
        self,
        name: str,
        *,
        scopes: Iterable[str] = (READ,),
        tenant: str | None = None,
        user: str | None = None,
        expires: datetime | timedelta | str | None = None,
    ) -> Created:
        """Create a key. It expires at a moment or after a time such as 90d, or never."""
        row = ApiKeyRow(
            _check_key_name(name),
            " ".join(_check_scopes(scopes)),
            self._check_tenant(tenant),
            None if user is None else check_user(user),
            micros(self._clock()),
            self._end_us(expires),
        )
        secret = new_secret()
        if not self._rows.add(row, _digest(secret)):
            raise InvalidInput(
                f"an API key {row.name!r} exists already; give another name, or revoke it first"
            )
        return Created(_key(row), secret)

    def list(self) -> list[ApiKey]:
        return [_key(row) for row in self._rows.all()]

    def any(self) -> bool:
        return not self._rows.is_empty()

    def asks(self) -> bool | None:
        """True when callers need a key, even after the last was revoked; None if none ever was."""
        return True if not self._rows.is_empty() else self._rows.required()

    def open_door(self) -> None:
        """Allow callers on this machine without a key again; InvalidInput while there are keys."""
        if not self._rows.allow_without():
            names = ", ".join(row.name for row in self._rows.all())
            raise InvalidInput(f"there are API keys; revoke each by its name first: {names}")

    def revoke(self, name: str) -> None:
        name = _check_key_name(name)
        if not self._rows.delete(name):
            hint = did_you_mean(name, [row.name for row in self._rows.all()])
            raise NotFound(f"there is no API key {name!r}{hint}; `scrubjay key list` lists all")

    def find(self, secret: str) -> ApiKey | None:
        """Return the key of a secret; None if it is expired, revoked or unknown.
        The lookup is by hash, so its time reveals nothing about existing secrets.
        """
        if not is_whole(secret):
            return None
        row = self._rows.by_hash(_digest(secret))
        now_us = micros(self._clock())
        if row is None or (row.expires_us is not None and row.expires_us <= now_us):
            return None
        self._note_use(row, now_us)
        return _key(row)

    def _note_use(self, row: ApiKeyRow, now_us: int) -> None:
        """Store when a key was used, about once an hour, if that needs no waiting."""
        with self._noting:
            last_us = max(row.last_used_us or 0, self._noted.get(row.name, 0))
            if self._db.frozen or now_us - last_us < _USED_EVERY_US:
                return
            self._noted[row.name] = now_us  # a failed write is not repeated at once
        try:
            self._rows.mark_used(row.name, now_us, _BUSY_S)
        except StoreError:  # busy or read-only: the caller came to read
            return

    def _check_tenant(self, tenant: str | None) -> str | None:
        if tenant is None:
            return self._tenant
        tenant = check_tenant(tenant)
        if self._tenant not in (None, tenant):
            raise InvalidInput(
                f"this is the store of tenant {self._tenant} and holds keys of that tenant alone;"
                f" create a key for {tenant} in the store without a tenant"
            )
        return tenant

    def _end_us(self, expires: datetime | timedelta | str | None) -> int | None:
        """Return when a key expires; refuse a moment in the past."""
        if expires is None:
            return None
        now = self._clock()
        if isinstance(expires, timedelta) or (
            isinstance(expires, str) and re.fullmatch(r"\s*[0-9]+\s*[hdwHDW]\s*", expires)
        ):
            span = duration(expires, "expires")
            try:
                ends: datetime | None = now + span
            except OverflowError:
                raise InvalidInput(
                    f"expires is {expires!r}, which is longer than time; leave it out for no end"
                ) from None
        else:
            try:
                ends = parse(expires, "expires", end_of_day=True)
            except InvalidInput:
                raise InvalidInput(
                    f"expires is {expires!r}; {_EXAMPLES} {now.year + 1}-01-31"
                ) from None
        if ends is None or ends <= now:
            raise InvalidInput(
                f"expires is {expires!r}, which is in the past; give a later time, such as 90d or"
                f" {now.year + 1}-01-31"
            )
        return micros(ends)


def access_of(store: Store) -> ApiKeys:
    """The older name of `Store.api_keys`."""
    return store.api_keys


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _check_key_name(name: str) -> str:
    """Refuse a secret given by mistake, without repeating it: names are stored and shown."""
    name = check_name("the name of an API key", name, "laptop")
    if name.startswith(PREFIX):
        raise InvalidInput(
            f"the name of an API key begins with {PREFIX}, as secrets do; give its name, such as laptop"
        )
    return name


def _check_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    given = [scopes] if isinstance(scopes, str) else list(scopes)
    for scope in given:
        if scope not in SCOPES:
            hint = did_you_mean(str(scope), SCOPES)
            raise InvalidInput(
                f"there is no scope {scope!r}{hint}; scopes are {', '.join(SCOPES)}"
            )
    if not given:
        raise InvalidInput(f"an API key needs a scope: {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in given)


def _key(row: ApiKeyRow) -> ApiKey:
    times = (moment(row.created_us), moment(row.expires_us), moment(row.last_used_us))
    return ApiKey(row.name, tuple(row.scopes.split()), row.tenant, row.person, *times)


# The names of earlier versions.
Access = ApiKeys
Token = ApiKey
