"""Servers that go away in the middle of a run of searches: what is answered, how soon, and then."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

import psycopg
import pytest
from clocks import Clock
from fakes import HashingEmbedder
from tools.servers import FalkorDB, Postgres, Qdrant, Server

import scrubjay
from scrubjay.storage.postgres import login
from scrubjay.storage.replicas import worker as replica_worker

TIMEOUT_S = 1.0
SLACK_S = 10.0  # of a machine that does six other things
PATIENCE_S = 60.0
TEXTS = {
    "launch": "The launch of the rocket is in May",
    "fuel": "The rocket burns methane and oxygen",
    "party": "After the launch there is a party with cake",
}


class Answer(NamedTuple):
    """One search: what it said, or how it failed, and how long that took."""

    ids: tuple[str, ...]
    degraded: tuple[str, ...]
    error: Exception | None
    took_s: float


class Searches:
    """Threads that search all the time."""

    def __init__(self, store: scrubjay.Store, threads: int = 3) -> None:
        self._store = store
        self._stopping = threading.Event()
        self.answers: list[Answer] = []
        self._threads = [threading.Thread(target=self._go_on) for _ in range(threads)]

    def _go_on(self) -> None:
        while not self._stopping.is_set():
            began = time.monotonic()
            ids: tuple[str, ...] = ()
            degraded: tuple[str, ...] = ()
            error: Exception | None = None
            try:
                found = self._store.search("rocket launch", profile="novamem")
                ids, degraded = tuple(hit.id for hit in found), found.degraded
            except Exception as raised:  # noqa: BLE001 - whatever it is, the test tells
                error = raised
            self.answers.append(Answer(ids, degraded, error, time.monotonic() - began))
            time.sleep(0.01)

    def more(self, holds: Callable[[Answer], bool], count: int = 6) -> list[Answer]:
        """Wait for so many more answers of a kind, and return all that came meanwhile."""
        start = len(self.answers)

        def enough() -> bool:
            return sum(map(holds, self.answers[start:])) >= count

        until(enough, lambda: self.answers[-3:])
        return self.answers[start:]

    def __enter__(self) -> Searches:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)


def until(holds: Callable[[], bool], shown: Callable[[], object] = lambda: "") -> None:
    """Wait for something that another thread does."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, shown()
        time.sleep(0.01)


def whole(answer: Answer) -> bool:
    """True for an answer that lacks nothing."""
    return answer.error is None and answer.degraded == ()


@pytest.fixture
def served(
    postgres_url: str,
    qdrant_url: str,
    falkordb_url: str,
    embedder: HashingEmbedder,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[scrubjay.Store]:
    """A store on all three servers, that looks often whether one is back."""
    monkeypatch.setattr(replica_worker, "REST_S", 0.2)
    with scrubjay.open(
        postgres_url,
        vectors=f"{qdrant_url}?timeout_s={TIMEOUT_S}",
        graph=f"{falkordb_url}?timeout_s={TIMEOUT_S}",
        profile="novamem",
        embedder=embedder,
        clock=clock,
    ) as store:
        for id_, text in TEXTS.items():
            store.add(text, id=id_)
        store.link("launch", "fuel", 0.8)
        until(lambda: store.pending() == 0, store.servers)
        for tier in (store._context.tables.vectors, store._context.tables.graph):
            tier.breaker._rest_s = 0.2  # type: ignore[union-attr]
        yield store


@pytest.mark.parametrize("how", ["stop", "kill", "pause"])
@pytest.mark.parametrize("tier", ["vectors", "graph"])
def test_answers_go_on_without_a_tier_and_with_it_when_it_is_back(
    served: scrubjay.Store, qdrant: Qdrant, falkordb: FalkorDB, tier: str, how: str
):
    """NM-6: in the middle of a run of searches; nobody starts anything anew, and nothing is lost."""
    server: Server = qdrant if tier == "vectors" else falkordb
    said = "did not answer within 1 s" if how == "pause" else "cannot be reached"
    name = {"vectors": "vector", "graph": "graph"}[tier]

    def named(answer: Answer) -> bool:
        return any(
            one.startswith(f"{name}: ") and f":{server.port}/" in one and said in one
            for one in answer.degraded
        )

    with Searches(served) as searches:
        before = searches.more(whole)
        # In good order may take long: a Qdrant waits for its clients, which keep their connections.
        going = threading.Thread(target=getattr(server, how))
        going.start()
        try:
            lost = searches.more(named)
            if how == "stop":
                server.kill()
                going.join(PATIENCE_S)
            served.add("The rocket is called Nightjar", id="name")
            served.link("name", "party", 0.9)
            searches.more(lambda answer: named(answer) and "name" in answer.ids)
            state = {one.tier: one for one in served.servers()}
            assert state[tier].behind > 0
            until(lambda: said in {one.tier: one for one in served.servers()}[tier].reason)
        finally:
            going.join(PATIENCE_S)
            server.resume() if how == "pause" else server.start()
        after = searches.more(whole)
    assert [answer.error for answer in searches.answers if answer.error] == []
    assert all({"launch", "fuel"} <= {*answer.ids} for answer in (*before, *lost, *after))
    assert max(answer.took_s for answer in searches.answers) < 3 * TIMEOUT_S + SLACK_S
    assert {one.behind for one in served.servers()} == {0}
    by_meaning = served.search("Nightjar", profile="novamem", weights={"vector": 1})
    by_link = served.search("Nightjar", profile="novamem", weights={"graph": 1})
    assert (by_meaning.degraded, by_link.degraded) == ((), ())
    assert by_meaning[0].id == "name"
    assert "party" in {hit.id for hit in by_link}


class Deaf:
    """A server that takes connections, counts them, and never answers."""

    def __init__(self) -> None:
        self.reached = 0
        self._held: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            try:
                taken, _ = self._listener.accept()
            except OSError:
                return
            self.reached += 1
            self._held.append(taken)

    def close(self) -> None:
        """Let everybody go."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(PATIENCE_S)
        for one in self._held:
            one.close()


@pytest.fixture
def deaf() -> Iterator[Deaf]:
    """A server that never answers."""
    listening = Deaf()
    yield listening
    listening.close()


@pytest.mark.parametrize("tier", ["vectors", "graph"])
def test_a_server_that_never_answers_is_not_hammered(
    memory: scrubjay.Store, deaf: Deaf, embedder: HashingEmbedder, clock: Clock, tier: str
):
    """NM-6: one time-out, then none: forty searches reach it as seldom as one does."""
    kind = {"vectors": "qdrant", "graph": "falkordb"}[tier]
    url = f"{kind}://127.0.0.1:{deaf.port}/notes?timeout_s=0.5"
    for id_, text in TEXTS.items():
        memory.add(text, id=id_)
    with scrubjay.open(
        memory.path,
        embedder=embedder,
        clock=clock,
        **{tier: url},  # type: ignore[arg-type]
    ) as store:
        for part in (store._context.tables.vectors, store._context.tables.graph):
            if hasattr(part, "breaker"):
                part.breaker._rest_s = part.breaker._max_rest_s = PATIENCE_S
        first = store.search("rocket launch", profile="novamem")
        assert {hit.id for hit in first} >= {"launch", "fuel"}
        assert any("did not answer within 0.5 s" in one for one in first.degraded)
        reached, told = deaf.reached, time.monotonic()
        for _ in range(40):
            again = store.search("rocket launch", profile="novamem")
            assert any("did not answer" in one for one in again.degraded)
        # All that may still come is from who has something to tell it, which rests longer each time.
        most_told = 2 + (time.monotonic() - told) / replica_worker.REST_S
        assert deaf.reached - reached <= most_told
        assert deaf.reached < 20


@pytest.mark.parametrize("tier", ["vectors", "graph"])
def test_a_tier_that_was_not_there_at_first_is_used_once_it_is(
    tmp_path_factory: pytest.TempPathFactory,
    qdrant: Qdrant,
    falkordb: FalkorDB,
    qdrant_url: str,
    falkordb_url: str,
    embedder: HashingEmbedder,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    tier: str,
):
    """NM-6: to open a store needs none of its tiers; searches say what they went without."""
    monkeypatch.setattr(replica_worker, "REST_S", 0.2)
    server: Server = qdrant if tier == "vectors" else falkordb
    server.stop()
    with scrubjay.open(
        tmp_path_factory.mktemp("late") / "notes.db",
        vectors=qdrant_url,
        graph=falkordb_url,
        profile="novamem",
        embedder=embedder,
        clock=clock,
    ) as store:
        for part in (store._context.tables.vectors, store._context.tables.graph):
            part.breaker._rest_s = 0.2  # type: ignore[union-attr]
        for id_, text in TEXTS.items():
            store.add(text, id=id_)
        found = store.search("rocket launch")
        assert {hit.id for hit in found} >= {"launch", "fuel"}
        assert any(f":{server.port}/" in one for one in found.degraded)
        server.start()
        until(lambda: store.search("rocket launch").degraded == ())
        # It answers before it has been told all: the links last, which are made of the vectors.
        weights = {"vector" if tier == "vectors" else "graph": 1}
        until(
            lambda: (
                {hit.id for hit in store.search("rocket launch", weights=weights)} == set(TEXTS)
            )
        )


def test_links_that_waited_for_the_vectors_are_made_once_these_are_back(
    served: scrubjay.Store, qdrant: Qdrant
):
    """NM-6: nobody has to search first. Qdrant was told all before the searches asked it again."""
    served.search("rocket", profile="novamem")  # from now on memories are linked by likeness
    assert served.pending() == 0
    served._context.tables.vectors.breaker._rest_s = 3.0  # type: ignore[union-attr]
    qdrant.kill()
    served.add("The rocket is called Nightjar", id="name")
    assert any("cannot be reached" in one for one in served.search("rocket").degraded)
    qdrant.start()
    until(lambda: {one.behind for one in served.servers()} == {0})
    until(lambda: served.status().unlinked == 0)
    until(lambda: served.neighbors("name") != [])


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_without_postgres_there_is_one_clear_error_and_then_answers_again(
    served: scrubjay.Store, postgres: Postgres, how: str
):
    """NM-6: only the records being down is fatal, to the call and not to the open store."""
    expected = served.search("rocket launch").hits
    getattr(postgres, how)()
    try:
        for call in (
            lambda: served.search("rocket launch"),
            lambda: served.add("The rocket is called Nightjar"),
            lambda: served.get("launch"),
        ):
            began = time.monotonic()
            with pytest.raises(scrubjay.StoreError) as raised:
                call()
            assert time.monotonic() - began < 5 * TIMEOUT_S + SLACK_S
            said = str(raised.value)
            assert f"postgres://postgres@127.0.0.1:{postgres.port}/test_" in said
            assert "check that Postgres runs" in said
            assert "\n" not in said
    finally:
        postgres.start()
    assert served.search("rocket launch").hits == expected
    served.add("The rocket is called Nightjar", id="name")
    assert served.pending() == 0
    found = served.search("Nightjar")
    assert (found[0].id, found.degraded) == ("name", ())


@pytest.mark.parametrize(
    ("table", "lost"),
    [("word_parts", "keyword"), ("embeddings", "vector"), ("edges", "graph")],
)
def test_a_source_that_postgres_stops_is_missed_and_the_others_answer(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, table: str, lost: str
):
    """NM-6: a tier that times out degrades the answer; without the records themselves there is none."""

    def open_store() -> scrubjay.Store:
        return scrubjay.open(postgres_url, profile="novamem", embedder=HashingEmbedder())

    with open_store() as store:
        store.add("The kettle whistles", id="kettle")
        store.add("The kettle is red", id="red")
        assert store.pending() == 0
        whole = store.search("kettle")
    monkeypatch.setattr(login, "_STATEMENT_S", 2.0)
    with open_store() as hasty, psycopg.connect(postgres_url) as other:
        other.execute(f"LOCK TABLE scrubjay.{table} IN ACCESS EXCLUSIVE MODE".encode())
        found = hasty.search("kettle")
        other.rollback()
        again = hasty.search("kettle")
        other.execute("LOCK TABLE scrubjay.memories IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(scrubjay.StoreError, match="took too long"):
            hasty.search("kettle")

    assert {hit.id for hit in found} == {"kettle", "red"}
    assert all(lost not in hit.found for hit in found)
    assert any(
        reason.startswith(f"{lost}: ") and "took too long" in reason for reason in found.degraded
    )
    assert (again.hits, again.degraded) == (whole.hits, ())


def test_postgres_started_anew_between_two_searches_is_not_noticed(
    served: scrubjay.Store, postgres: Postgres
):
    """Connections that broke are made anew before anybody is told."""
    expected = served.search("rocket launch").hits
    for _ in range(2):
        postgres.stop()
        postgres.start()
        assert served.search("rocket launch").hits == expected
        served.update("party", text="After the launch there is a party with cake")
        assert served.get("party").text.endswith("cake")
