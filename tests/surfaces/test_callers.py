"""Who asks through a door, and the stores that are open for them."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import scrubjay
from scrubjay.errors import NotFound, StoreError
from scrubjay.surfaces.callers import OpenStores, Principal, principal_of

TENANTS = ("acme", "globex", None)


class Place:
    """Opens stores of one place, and knows which are open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.opened: list[tuple[str | None, str | None]] = []

    def __call__(self, who: Principal) -> scrubjay.Store:
        self.opened.append((who.tenant, who.user))
        return scrubjay.open(self.path, tenant=who.tenant, user=who.user, embedder=False)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "notes.db")


def test_a_scope_allows_what_is_below_it():
    assert [Principal(scopes=("write",)).may(one) for one in ("read", "write", "admin")] == [
        True,
        True,
        False,
    ]
    assert Principal(scopes=("read", "admin")).may("write")
    assert not Principal(scopes=()).may("read")


def test_a_scope_that_is_not_known_allows_nothing():
    """A newer scrubjay may have made the token, or somebody wrote into the file."""
    assert not Principal(scopes=("owner",)).may("read")
    assert Principal(scopes=("owner", "read")).may("read")
    assert not Principal().may("owner")


def test_a_store_has_its_tokens_once(place):
    """Who asks for them with each request does not try each time to note a use."""
    with scrubjay.open(place.path, embedder=False) as store:
        assert store.api_keys is store.api_keys


def test_a_token_makes_a_principal(place):
    with scrubjay.open(place.path, embedder=False) as store:
        made = store.api_keys.create("ci", scopes=["write"], tenant="acme", user="ann")
    assert principal_of(made.token) == Principal("ci", ("write",), "acme", "ann")


def test_tokens_of_the_same_tenant_and_person_share_a_store(place):
    """What they may do is asked elsewhere; two of other tenants or persons never share one."""
    stores = OpenStores(place)
    with (
        stores.lend(Principal("a", ("read",), "acme", "ann")) as one,
        stores.lend(Principal("b", ("admin",), "acme", "ann")) as two,
        stores.lend(Principal("c", ("read",), "acme", "ben")) as three,
        stores.lend(Principal("d", ("read",), "globex", "ann")) as four,
    ):
        assert one is two
        assert len({id(each) for each in (one, three, four)}) == 3
    assert stores.open_now == [("acme", "ann"), ("acme", "ben"), ("globex", "ann")]
    stores.close()


def test_the_one_unused_for_longest_is_closed_and_none_that_is_lent(place):
    """More than the most are open while they are in use."""
    stores = OpenStores(place, max_open=2)
    lent = {name: ExitStack() for name in "abc"}
    first, second, third = [
        one.enter_context(stores.lend(Principal(tenant=name))) for name, one in lent.items()
    ]
    assert len(stores.open_now) == 3
    for one in (first, second, third):
        assert one.ls() == []
    for each in lent.values():
        each.close()
    assert stores.open_now == [("b", None), ("c", None)]
    with pytest.raises(StoreError, match="closed"):
        first.ls()
    with stores.lend(Principal(tenant="b")) as again:
        assert again is second
    with stores.lend(Principal(tenant="d")):
        pass
    assert stores.open_now == [("b", None), ("d", None)]
    stores.close()


def test_after_closing_nobody_gets_a_store_and_what_is_lent_is_closed_when_it_comes_back(place):
    stores = OpenStores(place)
    with stores.lend(Principal(tenant="idle")) as idle:
        pass
    with stores.lend(Principal()) as store:
        stores.close()
        with pytest.raises(StoreError, match="closed"):
            idle.ls()
        store.add("What was asked for before is still done", id="last")
        with pytest.raises(StoreError, match="the server is stopping"), stores.lend(Principal()):
            pass
    with pytest.raises(StoreError, match="closed"):
        store.ls()
    stores.close()
    with scrubjay.open(place.path, embedder=False) as after:
        assert after.get("last").id == "last"


def test_a_store_that_could_not_be_opened_is_tried_again(place):
    """Its failure is whose it was, and leaves nothing behind."""
    place.path.write_text("a letter, not a database\n" * 100)
    stores = OpenStores(place)
    with pytest.raises(StoreError, match="not an SQLite"), stores.lend(Principal()):
        pass
    assert stores.open_now == []
    place.path.unlink()
    with stores.lend(Principal()) as store:
        assert store.ls() == []
    assert len(place.opened) == 2
    stores.close()


def test_to_look_at_an_open_store_opens_none(place):
    """As the figures of a server do; nor does it count as a use."""
    stores = OpenStores(place, max_open=1)
    with stores._lend_open(("acme", None)) as none:
        assert none is None
    with stores.lend(Principal(tenant="acme")) as store, stores._lend_open(("acme", None)) as seen:
        assert seen is store
    with ExitStack() as lent, stores._lend_open(("acme", None)) as seen:
        lent.enter_context(stores.lend(Principal(tenant="globex")))
        assert seen.ls() == []  # lent, so not closed
    assert stores.open_now == [("globex", None)]
    stores.close()


def test_many_threads_at_once(place):
    """One opening a tenant, every write kept, no store closed under anybody; 200 requests, 4 tenants."""
    stores = OpenStores(place, max_open=2)
    start = threading.Barrier(8)

    def ask(n: int) -> None:
        if n < 8:
            start.wait()
        with stores.lend(Principal(tenant=f"t{n % 4}")) as store:
            store.add(f"request {n}", id=f"r{n}")
            assert store.get(f"r{n}").text == f"request {n}"

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(ask, range(200)))
    assert len(stores.open_now) <= 2
    for tenant in range(4):
        with stores.lend(Principal(tenant=f"t{tenant}")) as store:
            assert store.status().memories == 50
    stores.close()


def test_first_requests_of_one_tenant_open_one_store(place):
    stores = OpenStores(place)
    start = threading.Barrier(8)

    def ask(_: int) -> int:
        start.wait()
        with stores.lend(Principal(tenant="acme")) as store:
            return id(store)

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(ask, range(8)))) == 1
    assert place.opened == [("acme", None)]
    stores.close()


@pytest.mark.parametrize(
    ("where", "seed"), [("file", 0), ("file", 1), ("file", 2), ("postgres", 0)]
)
def test_a_token_never_sees_what_is_of_another_tenant_or_person(where, seed, tmp_path, request):
    """Random memories of every tenant and person with the same words and ids: each sees exactly its own."""
    path = tmp_path / "notes.db" if where == "file" else request.getfixturevalue("postgres_url")
    dice = random.Random(seed)
    place = Place(path)
    stores = OpenStores(place, max_open=2)
    with scrubjay.open(path, embedder=False) as kept:
        access = kept.api_keys
        secrets = {
            (tenant, user): access.create(
                f"{tenant}-{user}", scopes=["write"], tenant=tenant, user=user
            ).secret
            for tenant in TENANTS
            for user in ("ann", "ben")
        }
        mine: dict[tuple[str | None, str], dict[str, str]] = {key: {} for key in secrets}
        for n in range(40):
            tenant, user = dice.choice(list(secrets))
            text = f"the kettle of {tenant} and {user}, number {n}"
            found = access.find(secrets[tenant, user])
            assert found is not None
            with stores.lend(principal_of(found)) as store:
                mine[tenant, user][store.add(text).id] = text
        everything = {id_ for ids in mine.values() for id_ in ids}
        for key, secret in secrets.items():
            found = access.find(secret)
            assert found is not None
            with stores.lend(principal_of(found)) as store:
                assert {one.id: one.text for one in store.ls(limit=100)} == mine[key]
                hits = store.search("kettle number", mode="keyword", limit=40)
                assert {hit.id: hit.text for hit in hits} == mine[key]
                others = sorted(everything - mine[key].keys())
                assert list(store.get_many(others)) == []
                for id_ in dice.sample(others, 3):
                    with pytest.raises(NotFound):
                        store.forget(id_)
    stores.close()
