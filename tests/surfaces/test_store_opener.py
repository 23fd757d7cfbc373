"""Stores that a door opens: one copy of each model, loaded while searches go on by word."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gated import PATIENCE_S, GatedEmbedder, GatedReranker, install
from places import SUPPORT

import scrubjay
from scrubjay.errors import StoreError, Unavailable
from scrubjay.runtime import backoff
from scrubjay.runtime.command_hints import to_fetch
from scrubjay.runtime.paths import cache_dir
from scrubjay.runtime.worker import STOP_S
from scrubjay.surfaces.callers import OpenStores, Principal, store_opener

MODELS = cache_dir()
LOADING = "embed_query: gated is being loaded; searched by static vectors"
ANA, BEN = Principal(user="ana"), Principal(user="ben")


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that another thread does."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with two memories and no vectors; the embedder of the settings is the gated one."""
    path = str(tmp_path / "served.db")
    with scrubjay.open(path, embedder=False, user="ana") as store:
        store.add("The car is in the garage", id="car")
        store.add("Rain is forecast for Sunday", id="rain")
    install(tmp_path / "site", monkeypatch)
    monkeypatch.delenv("SCRUBJAY_OFFLINE", raising=False)
    return path


@pytest.fixture
def stores(place: str) -> Iterator[OpenStores]:
    """What a server opens."""
    made = OpenStores(store_opener(place, None))
    yield made
    for one in (*GatedEmbedder.made, *GatedReranker.made):
        one.gate.set()
    made.close()


def model() -> GatedEmbedder:
    """The only one that was made."""
    (one,) = GatedEmbedder.made
    return one


def test_searches_are_by_word_until_the_model_is_loaded_and_by_meaning_from_then_on(
    stores: OpenStores,
):
    """Complaint 1: nothing waits for a model, what is missing is said, and nobody starts it anew."""
    with stores.lend(ANA) as store:
        until(lambda: model().loads == 1)  # from the opening on
        found = store.search("car")
        assert found[0].id == "car"
        assert LOADING in found.degraded
        assert store.search("automobile")[0].id == "car"  # by static vectors
        model().gate.set()
        until(lambda: store.search("automobile").degraded == ())
        found = store.search("automobile")
        assert [hit.id for hit in found][:1] == ["car"]
        assert found[0].cosine is not None
    assert model().loads == 1


def test_every_store_has_the_same_model(stores: OpenStores):
    """Complaint 4: one copy of the weights, however many tenants and people ask."""
    with stores.lend(ANA) as hers, stores.lend(BEN) as his:
        assert hers is not his
        model().gate.set()
        for store in (hers, his):
            until(lambda store=store: store.search("car").degraded == ())
        inner = [store._context.embedding.embedder.inner for store in (hers, his)]  # type: ignore[union-attr]
        assert inner == [model(), model()]
    assert model().loads == 1


def test_stores_opened_at_the_same_moment_share_the_model_too(stores: OpenStores):
    """Two people may be the first."""
    together = threading.Barrier(8)

    def ask(n: int) -> int:
        together.wait(PATIENCE_S)
        with stores.lend(Principal(user=f"person-{n}")) as store:
            return len(store.search("anything").degraded)

    with ThreadPoolExecutor(8) as threads:
        assert min(threads.map(ask, range(8))) >= 1
    assert model().loads <= 1
    model().gate.set()
    until(lambda: model().loaded)


def test_sixteen_threads_search_while_the_model_is_loaded(stores: OpenStores):
    """Each answer is by word with the reason, or by meaning; none fails and none is empty."""
    stopping = threading.Event()
    answers: list[scrubjay.Results] = []

    def go_on() -> None:
        while not stopping.is_set():
            with stores.lend(ANA) as store:
                answers.append(store.search("car"))

    with ThreadPoolExecutor(16) as threads:
        running = [threads.submit(go_on) for _ in range(16)]
        try:
            until(lambda: len(answers) > 48)
            before = len(answers)
            model().gate.set()
            until(lambda: any(not one.degraded for one in answers))
        finally:
            stopping.set()
        for one in running:
            one.result()
    assert all(one[0].id == "car" for one in answers)
    # While one of them makes the static vectors, the others also say that passages have none yet.
    assert all(one.degraded[0].startswith(LOADING) for one in answers[:before])
    assert model().loads == 1


def test_what_is_written_meanwhile_gets_its_vector_without_another_call(stores: OpenStores):
    """The memory is found by word and by static vectors at once, by the model's when it is there."""
    with stores.lend(ANA) as store:
        store.add("The automobile has a flat tyre", id="tyre")
        assert store.search("tyre")[0].id == "tyre"
        assert store.pending(wait=False) == 3
        model().gate.set()
        until(lambda: store.pending(wait=False) == 0)
        assert {hit.id for hit in store.search("car").hits[:2]} == {"car", "tyre"}


def test_to_wait_for_vectors_is_to_wait_for_the_model(stores: OpenStores):
    """Whoever asks for that wants it; with a limit, it holds."""
    with stores.lend(ANA) as store:
        assert store.pending(timeout_s=0.05) == 2
        threading.Timer(0.05, model().gate.set).start()
        assert store.pending() == 0


def test_a_reranker_is_loaded_in_the_background_too(
    stores: OpenStores, monkeypatch: pytest.MonkeyPatch
):
    """Until then results are ranked without it, and one copy serves everybody."""
    monkeypatch.setenv("SCRUBJAY_RERANKER", "gated")
    with stores.lend(ANA) as hers, stores.lend(BEN) as his:
        model().gate.set()
        assert hers.pending() == 0
        (reranker,) = GatedReranker.made
        found = hers.search("car")
        assert found.degraded == ("cross_encoder: gated-pairs is being loaded; ranked without it",)
        assert found[0].rerank_score != 0.875
        reranker.gate.set()
        for store in (hers, his):
            until(lambda store=store: store.search("car").degraded == ())
        assert hers.search("car")[0].rerank_score == 0.875
    assert GatedReranker.made == [reranker]


def test_a_failure_is_told_and_another_try_made_after_a_rest(
    stores: OpenStores, monkeypatch: pytest.MonkeyPatch
):
    """A model that cannot be loaded leaves a search by word, and is not asked all the time."""
    with stores.lend(ANA) as store:
        model().failing = Unavailable("its disk is gone")
        model().gate.set()
        until(lambda: "its disk is gone" in store.search("car").degraded[0])
        found = store.search("car")
        assert found[0].id == "car"
        assert found.degraded[0].startswith(
            "embed_query: gated cannot be loaded: its disk is gone"
        )
        assert "; it is tried again in 30 s; searched by static vectors" in found.degraded[0]
        for _ in range(5):
            store.search("car")
        assert model().loads == 1
        _let_time_pass(monkeypatch, 31)
        until(lambda: store.search("car").degraded[0].find("tried again in 60 s") > 0)
        assert model().loads == 2
        model().failing = None
        _let_time_pass(monkeypatch, 31 + 61)
        until(lambda: store.search("car").degraded == ())


def test_that_a_model_cannot_come_is_in_the_log_once(
    stores: OpenStores, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Whoever reads the log of a server learns of it without a search; one line is enough."""
    with stores.lend(ANA) as store:
        assert store._context.shared_models is not None
        assert store._context.shared_models.failed() == []  # it is being loaded
        model().failing = Unavailable("its disk\nis gone")
        model().gate.set()
        until(
            lambda: (
                store._context.shared_models is not None
                and store._context.shared_models.failed() == ["embedder"]
            )
        )
        _let_time_pass(monkeypatch, 31)
        until(lambda: store.search("car").degraded[0].find("tried again in 60 s") > 0)
        model().failing = None
        _let_time_pass(monkeypatch, 31 + 61)
        until(lambda: store.search("car").degraded == ())
        assert store._context.shared_models.failed() == []
    lines = [one.getMessage() for one in caplog.records if one.name.endswith("models.shared")]
    assert lines == ["searches go on without gated: its disk is gone"]


def test_whatever_a_model_raises_is_a_reason(stores: OpenStores):
    """Foreign code that breaks breaks no search."""
    with stores.lend(ANA) as store:
        model().failing = ZeroDivisionError("in a plug-in")
        model().gate.set()
        until(lambda: "ZeroDivisionError: in a plug-in" in store.search("car").degraded[0])


def test_a_model_that_is_not_here_is_fetched_and_one_put_here_needs_no_rest(stores: OpenStores):
    """`scrubjay models pull` in another window ends the rest."""
    with stores.lend(ANA) as store:
        until(lambda: model().loads == 1)
        model().failing, model().files_here = Unavailable("no network"), False
        model().gate.set()
        until(lambda: "no network" in store.search("car").degraded[0])
        assert (
            "; fetch it with: scrubjay models pull; searched by static vectors"
            in (store.search("car").degraded[0])
        )
        assert (model().loads, model().fetched) == (1, 0)
        model().failing, model().files_here = None, True
        until(lambda: store.search("car").degraded == ())


def test_while_it_is_fetched_a_search_says_so(place: str, monkeypatch: pytest.MonkeyPatch):
    """The first search on a new machine does not wait for a download."""
    monkeypatch.setattr(
        GatedEmbedder, "is_here", lambda self: self.fetched > 0 and self.gate.is_set()
    )
    stores = OpenStores(store_opener(place, None))
    with stores.lend(ANA) as store:
        until(lambda: model().fetched == 1)
        found = store.search("car")
        assert found[0].id == "car"
        assert "embed_query: gated is being fetched; searched by static vectors" in found.degraded
        assert model().loads == 0
        model().gate.set()
        until(lambda: store.search("car").degraded == ())
    stores.close()


def test_offline_nothing_is_fetched_and_the_reason_is_that(
    place: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """SCRUBJAY_OFFLINE holds in a server as it does elsewhere; what comes by hand is used."""
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    here = threading.Event()
    monkeypatch.setattr(GatedEmbedder, "is_here", lambda self: here.is_set())
    stores = OpenStores(store_opener(place, None))
    with stores.lend(ANA) as store:
        found = store.search("car")
        assert found[0].id == "car"
        assert (
            "embed_query: gated is not here, and SCRUBJAY_OFFLINE forbids fetching it; fetch it with:"
            f" {to_fetch()}"
        ) in found.degraded
        assert (
            store.status().why_pending
            == f"gated is not here, and SCRUBJAY_OFFLINE forbids fetching it; fetch it with: {to_fetch()}"
        )
        assert (model().fetched, model().loads) == (0, 0)
        assert store._context.shared_models is not None
        assert store._context.shared_models.failed() == ["embedder"]
        assert caplog.text.count("gated: it is not here, and SCRUBJAY_OFFLINE forbids") == 1
        model().gate.set()
        here.set()
        until(lambda: store.search("car").degraded == ())
        assert model().fetched == 0
    stores.close()


def test_who_never_searches_by_meaning_loads_nothing(place: str, monkeypatch: pytest.MonkeyPatch):
    """A profile of words alone has no use for a model; one search by meaning begins to load it."""
    monkeypatch.setenv("SCRUBJAY_PROFILE", "default:keyword")
    stores = OpenStores(store_opener(place, None))
    with stores.lend(ANA) as store:
        assert store.search("car").degraded == ()
        assert [one.loads for one in GatedEmbedder.made] in ([], [0])
        assert LOADING in store.search("car", profile="default").degraded
        model().gate.set()
        until(lambda: store.search("car", profile="default").degraded == ())
    stores.close()


def test_to_close_waits_for_no_model(stores: OpenStores):
    """A store in which was written is closed at once; its vectors are made by who opens it next."""
    with stores.lend(ANA) as store:
        store.add("The automobile has a flat tyre", id="tyre")
        assert LOADING in store.search("tyre").degraded
    began = time.monotonic()
    stores.close()
    assert time.monotonic() - began < STOP_S
    assert not model().loaded


def test_a_wrong_setting_is_told_by_the_search_and_not_by_the_opening(
    place: str, monkeypatch: pytest.MonkeyPatch
):
    """What needs no model goes on."""
    monkeypatch.setenv("SCRUBJAY_EMBEDDER", "nosuch")
    stores = OpenStores(store_opener(place, None))
    with stores.lend(ANA) as store:
        assert store.search("car", mode="keyword")[0].id == "car"
        with pytest.raises(scrubjay.InvalidInput, match="nosuch"):
            store.search("car")
    stores.close()


def test_in_the_library_a_search_waits_for_the_model(place: str):
    """Nothing changes where nobody else is kept waiting: the plug-in loads at its first text."""
    with scrubjay.open(place) as store:
        threading.Timer(0.2, lambda: model().gate.set()).start()
        found = store.search("automobile")
        waits = (
            "embed_query: 2 passages are not embedded"  # unless they were faster than the search
        )
        assert all(one.startswith(waits) for one in found.degraded)
        assert store.pending() == 0
        assert store.search("automobile")[0].id == "car"


def _let_time_pass(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the clock of rests be ahead."""
    now = time.monotonic

    class Ahead:
        monotonic = staticmethod(lambda: now() + seconds)

    monkeypatch.setattr(backoff, "time", Ahead)


def _run(code: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    tests = str(SUPPORT)
    home = {key: value for key, value in os.environ.items() if key != "SCRUBJAY_EMBEDDER"}
    return subprocess.run(
        [sys.executable, "-c", code, tests, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**home, "SCRUBJAY_CACHE": MODELS, **more},
    )


ENDING = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from scrubjay.surfaces.callers import OpenStores, Principal
from scrubjay.surfaces.callers import store_opener

stores = OpenStores(store_opener(sys.argv[2], None))
with stores.lend(Principal()) as store:
    print(len(store.search("car")), *store.search("car").degraded, flush=True)
"""


@pytest.mark.model
def test_a_process_that_ends_while_the_model_is_read_ends_well(place: str):
    """A thread that came back from onnxruntime in a process that was ending ended it with SIGABRT."""
    for _ in range(2):
        done = _run(ENDING, place)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("2 ")


def test_a_process_that_ends_during_a_download_does_not_wait_for_it(place: str, tmp_path: Path):
    """What is here of the file stays, for the next time; nothing is written to stderr."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as deaf:
        began = time.monotonic()
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        done = _run(ENDING, place, HF_ENDPOINT=address, SCRUBJAY_CACHE=str(tmp_path / "empty"))
        assert time.monotonic() - began < 20
    assert (done.returncode, done.stderr) == (0, "")
    assert "all-MiniLM-L6-v2/fp32 is being fetched; searched by static vectors" in done.stdout


REAL = """
import json, sys, threading, time
sys.path.insert(0, sys.argv[1])
from concurrent.futures import ThreadPoolExecutor
from scrubjay.surfaces.callers import OpenStores, Principal
from scrubjay.surfaces.callers import store_opener

stores = OpenStores(store_opener(sys.argv[2], None))
with stores.lend(Principal()) as all_of_it, stores.lend(Principal(user="ana")) as hers:
    first = all_of_it.search("car")
    all_of_it.pending()
    end = time.monotonic() + 60
    while all_of_it.search("vehicle").degraded and time.monotonic() < end:
        time.sleep(0.05)
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(lambda n: all_of_it.search("vehicle"), range(32)))
    sessions = {id(one._context.embedding.embedder.inner._parts()[1]) for one in (all_of_it, hers)}
    print(json.dumps({
        "first": [[hit.id for hit in first], first.degraded],
        "later": [[hit.id for hit in answers[0]][0], answers[0][0].cosine, answers[0].degraded],
        "alike": len({tuple((hit.id, hit.score) for hit in one) for one in answers}),
        "sessions": len(sessions),
    }))
stores.close()
"""


@pytest.mark.model
def test_the_real_model_is_loaded_once_and_used_when_it_is_there(place: str):
    """Complaints 1 and 4, with the model of the settings that nobody set."""
    done = _run(REAL, place)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    ids, degraded = told["first"]
    assert ids[0] == "car"
    assert "embed_query: all-MiniLM-L6-v2/fp32 is being loaded; searched by static vectors" in degraded
    best, cosine, degraded = told["later"]
    assert (best, degraded) == ("car", [])
    assert cosine > 0.3
    assert (told["alike"], told["sessions"]) == (1, 1)


def test_the_folder_of_a_place_that_is_named_is_made_but_not_those_above_it(tmp_path: Path):
    """A client starts `scrubjay mcp --db .scrubjay/project.db`, and nobody made the folder before."""
    stores = OpenStores(store_opener(str(tmp_path / ".scrubjay" / "project.db"), None))
    with stores.lend(Principal()) as store:
        assert store.add("one").id
    stores.close()
    assert (tmp_path / ".scrubjay" / "project.db").exists()
    mistyped = OpenStores(store_opener(str(tmp_path / "typing" / "eror" / "project.db"), None))
    with pytest.raises(StoreError, match="there is no folder"), mistyped.lend(Principal()):
        pass
    mistyped.close()
    assert not (tmp_path / "typing").exists()


def test_who_asks_is_the_one_of_the_settings_where_nobody_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """As for every command: what is somebody else's is not seen."""
    monkeypatch.setenv("SCRUBJAY_USER", "ana")
    stores = OpenStores(store_opener(str(tmp_path / "notes.db"), None))
    with stores.lend(ANA) as hers, stores.lend(BEN) as his, stores.lend(Principal()) as whose:
        hers.add("Of ana", id="a")
        his.add("Of ben", id="b")
        assert [one.id for one in whose.ls()] == ["a"]
    stores.close()
