"""Tokens, in every database that holds records."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from backends import Backend, opened
from clocks import NOON, Clock

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.sharing.api_keys import Access, Token
from scrubjay.storage.sqlite import existing as sqlite_existing
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.storage.sqlite.existing import ExistingDatabase
from scrubjay.text.api_key_format import is_whole, new_secret


@pytest.fixture(params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest):
    store = opened(request.param, request)
    yield store
    store.close()


@pytest.fixture
def access(backend: Backend, clock: Clock) -> Access:
    return Access(backend.db, clock)


def last_used(access: Access) -> Any:
    return [one.last_used_at for one in access.list()]


def test_a_token_is_found_by_its_secret_until_it_is_revoked(access, backend, clock):
    """By anybody who has the database open, too; others of a like name stay."""
    assert not access.any()
    ci = access.create("ci", scopes=["write", "read"], tenant="acme", user=" ann ")
    assert access.create("ci 2").token.scopes == ("read",)
    wanted = Token("ci", ("read", "write"), "acme", "ann", NOON)
    assert ci.token == wanted
    with closing(backend.again()) as elsewhere:
        assert Access(elsewhere.db, clock).find(ci.secret) == wanted
    assert [one.name for one in access.list()] == ["ci", "ci 2"]
    access.revoke("ci")
    assert access.find(ci.secret) is None
    assert access.any()
    with pytest.raises(NotFound, match=r"no API key 'ci 3' \(did you mean 'ci 2'\?\)"):
        access.revoke("ci 3")


def test_a_token_ends_at_its_end_and_the_door_stays_shut(access, clock):
    """The moment itself is over; who counts on the token does not find an open door instead."""
    made = access.create("ci", expires=timedelta(hours=2))
    clock.now = NOON + timedelta(hours=2, microseconds=-1)
    assert access.find(made.secret) is not None
    clock.now += timedelta(microseconds=1)
    assert access.find(made.secret) is None
    assert access.any()


@pytest.mark.parametrize(
    ("expires", "ends"),
    [
        ("90d", NOON + timedelta(days=90)),
        ("12H", NOON + timedelta(hours=12)),
        ("2026-05-03", datetime(2026, 5, 3, 23, 59, 59, 999999, tzinfo=UTC)),
        ("2026-06-01T00:00+02:00", datetime(2026, 5, 31, 22, tzinfo=UTC)),
        (None, None),
    ],
)
def test_an_end_is_a_time_from_now_or_a_moment(access, expires, ends):
    """A day is over when it is over."""
    assert access.create("ci", expires=expires).token.expires_at == ends
    assert access.list()[0].expires_at == ends


def test_the_use_is_noted_once_an_hour(access, backend, clock):
    """A search does not become a write each time."""
    made = access.create("ci")
    assert last_used(access) == [None]
    access.find(made.secret)
    assert last_used(access) == [NOON]
    with backend.db.read() as db:
        (before,) = db.execute("SELECT last_used_us FROM access").fetchone()
    for minutes in (1, 30, 59):
        clock.now = NOON + timedelta(minutes=minutes)
        assert access.find(made.secret) is not None
    with backend.db.read() as db:
        assert db.execute("SELECT last_used_us FROM access").fetchone() == (before,)
    clock.now = NOON + timedelta(minutes=60)
    access.find(made.secret)
    assert last_used(access) == [clock.now]


def test_a_busy_store_finds_tokens_all_the_same(access, backend, clock):
    """When it was used is lost then, and not tried again with each request."""
    made = access.create("ci")
    with closing(backend.again()) as other, other.db.write():
        for _ in range(3):
            found = access.find(made.secret)
            assert found is not None
            assert found.name == "ci"
    access.find(made.secret)
    assert last_used(access) == [None]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"name": " "}, "printable name"),
        ({"name": "a\nb"}, "printable name"),
        ({"name": "x" * 600}, "at most 512"),
        ({"name": "ci", "scopes": ["raed"]}, r"no scope 'raed' \(did you mean 'read'\?\)"),
        ({"name": "ci", "scopes": []}, "needs a scope"),
        ({"name": "ci", "scopes": [3]}, "no scope 3"),
        ({"name": "ci", "tenant": "../x"}, "such as acme"),
        ({"name": "ci", "user": ""}, "printable name"),
        ({"name": "ci", "expires": "0d"}, "in the past"),
        ({"name": "ci", "expires": "2020-01-01"}, "in the past"),
        ({"name": "ci", "expires": "soon"}, "or a date"),
        ({"name": "ci", "expires": "99999999d"}, "longer than time"),
        ({"name": "taken"}, "'taken' exists"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_made(access, given, says):
    access.create("taken")
    with pytest.raises(InvalidInput, match=says):
        access.create(**given)
    assert [one.name for one in access.list()] == ["taken"]


def test_a_tenants_own_store_keeps_tokens_of_that_tenant_alone(backend, clock):
    """Whoever writes there cannot make one for somebody else."""
    access = Access(backend.db, clock, "acme")
    assert access.create("a").token.tenant == "acme"
    assert access.create("b", tenant="acme").token.tenant == "acme"
    with pytest.raises(InvalidInput, match=r"store of tenant acme.*globex"):
        access.create("c", tenant="globex")


def test_a_secret_is_whole_or_mistyped():
    """One wrong, missing or further letter is told from one that was revoked; so are other tokens."""
    secret = new_secret()
    assert is_whole(secret)
    assert len({new_secret() for _ in range(100)}) == 100
    for at in range(len(secret)):
        other = "A" if secret[at] != "A" else "B"
        assert not is_whole(secret[:at] + other + secret[at + 1 :])
    for wrong in (secret[:-1], f"{secret}A", f"{secret}\n", f" {secret}", secret[3:], "", "sj_"):
        assert not is_whole(wrong)
    assert not is_whole("sj_" + "ü" * 48)


def test_neither_a_secret_nor_more_than_its_hash_is_shown(access, backend):
    """Not in what is printed of it by mistake, and not in the database."""
    made = access.create("ci")
    assert made.secret not in repr(made)
    assert made.secret not in f"{made} {made.token} {access.list()}"
    with backend.db.read() as db:
        row = db.execute("SELECT * FROM access").fetchone()
    assert made.secret[3:] not in repr(row)


@pytest.mark.parametrize("frozen", [False, True])
def test_a_store_that_only_reads_finds_tokens_and_notes_nothing(
    tmp_path, clock, monkeypatch, frozen
):
    """Be it that nobody may write there, or that the file is one that nobody changes."""
    path = str(tmp_path / "a.db")
    with closing(SqliteDatabase(path)) as db:
        secret = Access(db, clock).create("ci").secret
    before = Path(path).read_bytes()
    if frozen:
        monkeypatch.setattr(sqlite_existing, "_MODES", ("mode=ro&immutable=1",))
    with closing(ExistingDatabase(path, why_not_written="it is another's")) as db:
        assert db.frozen is frozen
        access = Access(db, clock)
        found = access.find(secret)
        assert found is not None
        assert (found.name, last_used(access)) == ("ci", [None])
    assert Path(path).read_bytes() == before
