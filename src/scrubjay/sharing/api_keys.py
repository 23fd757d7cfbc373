"""Tokens of those who come in through a door: made, listed, revoked, and found by their secret.

The store keeps the hash of a secret alone. A store without a tenant may have tokens of any tenant, which
is what a server for many needs; a tenant's own store has tokens of that tenant alone, so that whoever may
write there cannot make one for somebody else's.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.sharing.permissions import person_named
from scrubjay.storage.sql.api_keys import ApiKeyRow, SqlApiKeys
from scrubjay.text.api_key_format import PREFIX, is_whole, new_secret
from scrubjay.text.urls import check_tenant
from scrubjay.text.validation import check_name, did_you_mean
from scrubjay.times import duration, micros, moment, parse
from scrubjay.types.key_scopes import READ, SCOPES

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.store import Store

_HOW_LONG = "give hours, days or weeks, such as 12h, 90d or 2w, or a date, such as"
_USED_EVERY_US = 3_600_000_000  # a search must not become a write each time
_BUSY_S = 0.2


class Token(NamedTuple):
    """Who may come in: what they may do, in whose store, as whom, and until when.

    Without a tenant it is the store's own; without a user everything in it is seen.
    """

    name: str
    scopes: tuple[str, ...]
    tenant: str | None = None
    user: str | None = None
    created_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None


class Created(NamedTuple):
    """A new token, and its secret, which nobody can show again."""

    token: Token
    secret: str

    def __repr__(self) -> str:
        """Show everything but the secret."""
        return f"Created({self.token!r})"


class Access:
    """The tokens of one store."""

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
        """Make a token. Its end is a moment or a time from now, such as 90d; without one it has none."""
        row = ApiKeyRow(
            _checked_name(name),
            " ".join(_checked_scopes(scopes)),
            self._checked_tenant(tenant),
            None if user is None else person_named(user),
            micros(self._clock()),
            self._end_us(expires),
        )
        secret = new_secret()
        if not self._rows.add(row, _digest(secret)):
            raise InvalidInput(
                f"there is a token {row.name!r} already; give another name, or revoke it first"
            )
        return Created(_token(row), secret)

    def list(self) -> list[Token]:
        """Return every token by name, those that have expired, too."""
        return [_token(row) for row in self._rows.all()]

    def any(self) -> bool:
        """True when there is a token, even an expired one."""
        return not self._rows.is_empty()

    def asks(self) -> bool | None:
        """True when nobody comes in without a token; None where there never was one.

        A door does not open by itself: not when a token ends, nor when the last one is revoked.
        """
        return True if not self._rows.is_empty() else self._rows.required()

    def open_door(self) -> None:
        """Let whoever is on this machine in without a token again; InvalidInput while there is one."""
        if not self._rows.allow_without():
            there = ", ".join(row.name for row in self._rows.all())
            raise InvalidInput(f"there are tokens; revoke them first, each by its name: {there}")

    def revoke(self, name: str) -> None:
        """Remove a token: from now on nobody comes in with it. Without any, nobody comes in at all."""
        name = _checked_name(name)
        if not self._rows.delete(name):
            there = [row.name for row in self._rows.all()]
            raise NotFound(
                f"there is no token {name!r}{did_you_mean(name, there)}; `scrubjay token list` lists them"
            )

    def find(self, secret: str) -> Token | None:
        """Return the token of a secret; None for one that is expired, revoked, or never was.

        It is looked up by its hash, so how long that takes says nothing about the secrets there are.
        """
        if not is_whole(secret):
            return None
        row = self._rows.by_hash(_digest(secret))
        now_us = micros(self._clock())
        if row is None or (row.expires_us is not None and row.expires_us <= now_us):
            return None
        self._note_use(row, now_us)
        return _token(row)

    def _note_use(self, row: ApiKeyRow, now_us: int) -> None:
        """Write down that a token was used, about once an hour, and only where that is easily done."""
        with self._noting:
            last_us = max(row.last_used_us or 0, self._noted.get(row.name, 0))
            if self._db.frozen or now_us - last_us < _USED_EVERY_US:
                return
            self._noted[row.name] = now_us  # one that cannot be written is not tried again at once
        try:
            self._rows.mark_used(row.name, now_us, _BUSY_S)
        except StoreError:  # busy, or nobody may write here: the caller came to read
            return

    def _checked_tenant(self, tenant: str | None) -> str | None:
        if tenant is None:
            return self._tenant
        tenant = check_tenant(tenant)
        if self._tenant not in (None, tenant):
            raise InvalidInput(
                f"this is the store of tenant {self._tenant}, which keeps tokens of its own alone; one"
                f" for {tenant} belongs in the store without a tenant"
            )
        return tenant

    def _end_us(self, expires: datetime | timedelta | str | None) -> int | None:
        """Return when a token ends; what lies in the past would be a token that never worked."""
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
                    f"expires is {expires!r}; {_HOW_LONG} {now.year + 1}-01-31"
                ) from None
        if ends is None or ends <= now:
            raise InvalidInput(
                f"expires is {expires!r}, which is over already; give a time to come, such as 90d or"
                f" {now.year + 1}-01-31"
            )
        return micros(ends)


def access_of(store: Store) -> Access:
    """Return the tokens that are kept in a store: the same each time, as it knows what it has noted."""
    return store.api_keys


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _checked_name(name: str) -> str:
    """Refuse a secret given by mistake, without repeating it: names are stored and shown."""
    name = check_name("the name of a token", name, "laptop")
    if name.startswith(PREFIX):
        raise InvalidInput(
            f"the name of a token begins with {PREFIX}, as secrets do; give its name, such as laptop"
        )
    return name


def _checked_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    given = [scopes] if isinstance(scopes, str) else list(scopes)
    for one in given:
        if one not in SCOPES:
            hint = did_you_mean(str(one), SCOPES)
            raise InvalidInput(f"there is no scope {one!r}{hint}; scopes are {', '.join(SCOPES)}")
    if not given:
        raise InvalidInput(f"a token needs a scope: {', '.join(SCOPES)}")
    return tuple(one for one in SCOPES if one in given)


def _token(row: ApiKeyRow) -> Token:
    return Token(
        row.name,
        tuple(row.scopes.split()),
        row.tenant,
        row.person,
        moment(row.created_us),
        moment(row.expires_us),
        moment(row.last_used_us),
    )
