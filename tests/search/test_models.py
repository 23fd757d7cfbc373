"""The models that help a search, from end to end: which are asked, how often, and what if they fail."""

from __future__ import annotations

import json
import math
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import endpoints
import numpy as np
import pytest
from endpoints import EXPANSION, Answer, EndpointServer, chat, results
from fakes import HashingEmbedder, ScriptedGenerator, ScriptedReranker, TokenEmbedder
from places import DATA

import scrubjay
from scrubjay import InvalidInput, Unavailable
from scrubjay.runtime.command_hints import pending_vectors
from scrubjay.storage.sqlite import connection as sqlite

SAYS = '{"lexical": ["harbour boat"], "semantic": ["where ships lie"], "hyde": "Ships lie here."}'
SCHEMA_2 = DATA / "schema-2.db"


def notes(count=12):
    return [
        {"id": f"d{n:02}", "text": f"The boat of town{n} lies in the {'old ' * (n % 3)}harbour."}
        for n in range(count)
    ]


@pytest.fixture
def server():
    with EndpointServer() as running:
        yield running


@pytest.fixture
def opened(tmp_path, clock):
    """Open a stocked store of the gno profile; every model but the words is off unless given."""
    stores = []

    def make(documents=None, *, name="gno.db", **models):
        models = {"embedder": False, "reranker": False, "generator": False} | models
        store = scrubjay.open(tmp_path / name, profile="gno", clock=clock, **models)
        stores.append(store)
        store.add_many(notes() if documents is None else documents)
        store.pending(wait=True)
        return store

    yield make
    for one in stores:
        one.close()


def scored(found):
    return [(hit.id, hit.score) for hit in found]


def lost(found, stage):
    """The reasons that a stage gave."""
    return [one.partition(": ")[2] for one in found.degraded if one.startswith(f"{stage}: ")]


def flat(results_):
    """Every step, those inside others too."""

    def walk(some):
        for step in some:
            yield step
            yield from walk(step.branches)

    return list(walk(results_.trace))


def step_of(found, name):
    return next(step for step in flat(found) if step.stage == name)


def even(query, texts):
    return [0.5] * len(texts)


class Rude:
    def __float__(self):
        raise OSError("no number today")


BAD_SCORES = {
    "too few": lambda query, texts: [0.5],
    "too many": lambda query, texts: [0.5] * 99,
    "NaN": lambda query, texts: [math.nan] * len(texts),
    "inf": lambda query, texts: [math.inf] * len(texts),
    "above 1": lambda query, texts: [7.0] * len(texts),
    "below 0": lambda query, texts: [-0.2] * len(texts),
    "strings": lambda query, texts: ["good"] * len(texts),
    "None": lambda query, texts: None,
    "Nones": lambda query, texts: [None] * len(texts),
    "rude numbers": lambda query, texts: [Rude()] * len(texts),
    "too great": lambda query, texts: [10**400] * len(texts),
    "two columns": lambda query, texts: np.zeros((len(texts), 2)),
    "RuntimeError": lambda query, texts: RuntimeError("CUDA error"),
    "MemoryError": lambda query, texts: MemoryError(),
    "KeyError": lambda query, texts: KeyError("results"),
    "SystemExit": lambda query, texts: SystemExit(1),
    "Unavailable": lambda query, texts: Unavailable("no GPU"),
    "InvalidInput": lambda query, texts: InvalidInput("too long"),
    "StoreError": lambda query, texts: scrubjay.StoreError("not ours"),
}


class TestReranker:
    @pytest.mark.parametrize("kind", BAD_SCORES)
    @pytest.mark.parametrize("profile", ["gno", "default"])
    def test_one_that_lies_or_fails_costs_its_own_part_only(self, opened, kind, profile, clock):
        """R-6: fusion is left, `degraded` says so; it rests, and is asked again after that."""
        judge = ScriptedReranker(BAD_SCORES[kind])
        store = opened(reranker=judge)
        without = {"rerank": False}
        fusion = scored(store.search("old harbour", profile=profile, overrides=without))

        first = store.search("old harbour", profile=profile)
        second = store.search("old harbour", profile=profile)

        assert scored(first) == scored(second) == fusion
        assert len(judge.asked) == 1
        assert len(lost(first, "cross_encoder")) == 1
        assert "scripted is paused for another 30 s" in lost(second, "cross_encoder")[0]
        assert all(hit.rerank_score is None for hit in first)
        clock.advance(seconds=31)
        store.search("old harbour", profile=profile)
        assert len(judge.asked) == 2
        clock.advance(seconds=31)  # now it rests for a minute
        store.search("old harbour", profile=profile)
        assert len(judge.asked) == 2

    @pytest.mark.parametrize(
        "answer",
        [
            lambda query, texts: np.full(len(texts), 0.25, np.float32),
            lambda query, texts: (0.25 for _ in texts),
            lambda query, texts: tuple(0.25 for _ in texts),
            lambda query, texts: iter([0.25] * len(texts)),
        ],
        ids=["array", "generator", "tuple", "iterator"],
    )
    def test_any_row_of_numbers_is_taken(self, opened, answer):
        """An array, a generator object."""
        found = opened(reranker=ScriptedReranker(answer)).search("old harbour")

        assert lost(found, "cross_encoder") == []
        assert {hit.rerank_score for hit in found} == {0.25}

    def test_success_after_a_failure_begins_anew(self, opened, clock):
        """The next failure rests for half a minute again."""
        script = [RuntimeError("one"), RuntimeError("two"), None, RuntimeError("three")]
        judge = ScriptedReranker(lambda query, texts: script.pop(0) or even(query, texts))
        store = opened(reranker=judge)
        waits = (0, 31, 61, 0, 29, 2)
        asked = []
        for wait_s in waits:
            clock.advance(seconds=wait_s)
            script.append(None)
            store.search("old harbour")
            asked.append(len(judge.asked))

        assert asked == [1, 2, 3, 4, 4, 5]

    def test_rests_double_up_to_ten_minutes(self, opened, clock):
        """30, 60, 120, 240, 480, 600, 600 seconds."""
        judge = ScriptedReranker(lambda query, texts: None)
        store = opened(reranker=judge)
        for asked, rest_s in enumerate((30, 60, 120, 240, 480, 600, 600), start=1):
            store.search("harbour")
            clock.advance(seconds=rest_s - 1)
            store.search("harbour")
            assert len(judge.asked) == asked
            clock.advance(seconds=1)

    def test_one_that_hangs_is_given_up_and_the_hits_are_there(self, opened):
        """R-12: the hard limit, named in `degraded`."""
        ends = threading.Event()
        judge = ScriptedReranker(lambda query, texts: ends.wait() and None)
        store = opened(reranker=judge)
        try:
            found = store.search("old harbour", overrides={"cross_encoder": {"give_up_s": 0.05}})
            again = store.search("old harbour")
        finally:
            ends.set()

        assert len(found) == 10
        assert lost(found, "cross_encoder") == ["scripted did not answer within 0.05 s"]
        assert "paused" in lost(again, "cross_encoder")[0]
        assert len(judge.asked) == 1

    def test_a_callers_own_is_called_once_a_search(self, opened):
        """R-12: exactly one score() call, no calibration."""
        judge = ScriptedReranker(even)
        store = opened(reranker=judge)
        for n in range(3):
            store.search(f"old harbour town{n}")

        assert [len(texts) for _, texts in judge.asked] == [12, 12, 12]

    def test_it_is_not_asked_where_nothing_was_found(self, opened):
        """An empty pool."""
        judge = ScriptedReranker(even)

        assert len(opened(reranker=judge).search("zanzibar")) == 0
        assert judge.asked == []

    def test_an_attribute_of_ours_by_chance_does_no_harm(self, opened):
        """A model with a `card` of its own is no model that we would fetch."""
        judge = ScriptedReranker(even)
        judge.card = {"licence": "MIT"}
        found = opened(reranker=judge).search("old harbour")

        assert lost(found, "cross_encoder") == []
        assert len(judge.asked) == 1


BAD_TEXTS = {
    "None": None,
    "bytes": EXPANSION.encode(),
    "dict": json.loads(EXPANSION),
    "prose": "I am afraid I cannot help with that.",
    "nothing": "",
    "HTML": "<html><body>Welcome!</body></html>",
    "a number": "42",
    "another shape": '{"answer": ["harbour"]}',
    "OSError": OSError("connection reset"),
    "SystemExit": SystemExit(1),
    "NotFound": scrubjay.NotFound("model"),
}


class TestGenerator:
    @pytest.mark.parametrize("kind", BAD_TEXTS)
    @pytest.mark.parametrize("profile", ["gno", "default"])
    def test_one_that_fails_means_no_expansion(self, opened, kind, profile, clock):
        """GN-2, R-6: the answer is that without it; it rests, and is asked again after that."""
        scribe = ScriptedGenerator(BAD_TEXTS[kind])
        store = opened(generator=scribe)
        asked = {"profile": profile, "mode": "thorough"}
        plain = scored(store.search("old harbour", **asked, overrides={"expand": False}))

        first = store.search("old harbour", **asked)
        second = store.search("another harbour", **asked)

        assert scored(first) == plain
        assert len(lost(first, "rephrase")) == 1
        assert "scribe is paused for another 30 s" in lost(second, "rephrase")[0]
        assert len(second) == 10
        assert len(scribe.prompts) == 1
        clock.advance(seconds=31)
        store.search("old harbour", **asked)
        assert len(scribe.prompts) == 2

    @pytest.mark.parametrize(
        "said",
        [
            f"Sure!\n{SAYS}\nHope that helps.",
            f"```json\n{SAYS}\n```",
            f"<think>hm</think>{SAYS}",
            "lex: harbour boat\nvec: where ships lie\nhyde: Ships lie here.",
            SAYS[:-3],
        ],
        ids=["prose", "fenced", "thinking", "lines", "half"],
    )
    def test_a_models_habits_are_forgiven(self, opened, said):
        """GN-2: validated, tolerant."""
        store = opened(embedder=HashingEmbedder(), generator=ScriptedGenerator(said))

        found = store.search("old harbour", mode="thorough")

        assert found.counts["lexical:1"] > 0
        assert lost(found, "rephrase") == []

    def test_two_hundred_variants_are_three_of_each(self, opened):
        """GN-2: no flood of searches."""
        many = {
            "lexical": [f"harbour word{n}" for n in range(200)],
            "semantic": [f"sentence {n}" for n in range(200)],
            "hyde": "Ships. " * 5000,
        }
        store = opened(embedder=HashingEmbedder(), generator=ScriptedGenerator(json.dumps(many)))

        found = store.search("old harbour", mode="thorough")

        lists = [name for name in found.counts if ":" in name]
        assert len(lists) == 7
        assert len(step_of(found, "rephrase").notes["hyde"]) <= 2000

    def test_variants_in_another_language_do_no_harm(self, opened):
        """GN-5: a keyword variant without a word in common is dropped; the answer stands."""
        says = json.dumps(
            {"lexical": ["港口 旧", "alter Hafen"], "semantic": ["古い港"], "hyde": ""}
        )
        store = opened(embedder=HashingEmbedder(), generator=ScriptedGenerator(says))

        found = store.search("old harbour", mode="thorough")

        assert len(found) == 10
        assert step_of(found, "rephrase").notes["lexical"] == ()
        assert lost(found, "rephrase") == []

    def test_one_that_hangs_is_given_up(self, opened):
        """GN-2: a time limit."""
        ends = threading.Event()

        class Stuck(ScriptedGenerator):
            def complete(self, prompt, *, schema=None):
                self.prompts.append(prompt)
                ends.wait()

        scribe = Stuck("")
        store = opened(generator=scribe)
        short = {"rephrase": {"time_limit_s": 0.05}}
        try:
            found = store.search("old harbour", mode="thorough", overrides=short)
            store.search("old harbour", mode="thorough")
        finally:
            ends.set()

        assert lost(found, "rephrase") == ["scribe did not answer within 0.05 s"]
        assert len(found) == 10
        assert len(scribe.prompts) == 1


def closed_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


BAD_HTTP = {
    "401": (endpoints.UNAUTHORISED, "401"),
    "404": (endpoints.NOT_FOUND, "404"),
    "429": (endpoints.BUSY, "429"),
    "500": (endpoints.BROKEN, "500"),
    "HTML": (endpoints.WEB_PAGE, ""),
    "hangs": (endpoints.HANGS, "1.5 s"),
    "drips": (endpoints.DRIPS, "1.5 s"),
    "cut off": (endpoints.CUT, ""),
    "elsewhere": (endpoints.ELSEWHERE, ""),
    "prose": (chat("I cannot."), ""),
    "not JSON": (Answer('{"choices": ['), ""),
    "empty": (endpoints.EMPTY, ""),
    "null": (Answer("null"), ""),
}
BAD_RESULTS = {
    "too few": results(),
    "NaN": Answer('{"results": [{"index": 0, "relevance_score": NaN}]}'),
    "strings": results("good"),
    "nulls": results(None),
    "twice": Answer({"results": [{"index": 0, "relevance_score": 1}] * 2}),
}


class TestEndpoints:
    """Configured by the environment; a real server on a port of this machine."""

    @pytest.fixture
    def configured(self, server, monkeypatch):
        """Name the server as this role, with a time limit that a busy machine keeps."""

        def set_(role, url=None):
            monkeypatch.setenv(f"SCRUBJAY_{role}", f"{url or server.url}#tiny")
            monkeypatch.setenv(f"SCRUBJAY_{role}_TIMEOUT_S", "1.5")
            monkeypatch.setenv(f"SCRUBJAY_{role}_API_KEY", "sk-secret")

        return set_

    @pytest.mark.parametrize("kind", BAD_HTTP)
    def test_a_generator_that_fails(self, opened, server, configured, clock, kind):
        """GN-2: the search answers and says why, without the key; the next does not ask at once."""
        configured("GENERATOR")
        answer, says = BAD_HTTP[kind]
        server.answers = [answer]
        store = opened(generator=None)

        first = store.search("old harbour", mode="thorough")
        asked = len(server.requests)
        second = store.search("old harbour", mode="thorough")

        assert len(first) == len(second) == 10
        assert says in lost(first, "rephrase")[0]
        assert "paused" in lost(second, "rephrase")[0]
        assert len(server.requests) == asked > 0
        assert "sk-secret" not in repr((first.degraded, second.degraded, first.trace))
        server.answers = []
        server.says = SAYS
        clock.advance(seconds=31)
        third = store.search("old harbour", mode="thorough")
        assert lost(third, "rephrase") == []
        assert third.counts["lexical:1"] > 0

    @pytest.mark.parametrize("kind", [*BAD_HTTP, *BAD_RESULTS])
    def test_a_reranker_that_fails(self, opened, server, configured, clock, kind):
        """R-6: the same for a reranker; it is measured when it is well again."""
        configured("RERANKER")
        server.answers = [BAD_HTTP[kind][0] if kind in BAD_HTTP else BAD_RESULTS[kind]]
        store = opened(reranker=None)
        fusion = scored(store.search("old harbour", mode="fast"))

        first = store.search("old harbour")
        asked = len(server.requests)
        second = store.search("old harbour")

        assert scored(first) == scored(second) == fusion
        assert len(lost(first, "cross_encoder")) == 1
        assert "paused" in lost(second, "cross_encoder")[0]
        assert len(server.requests) == asked > 0
        assert "sk-secret" not in repr((first.degraded, second.degraded, first.trace))
        server.answers = []
        clock.advance(seconds=31)
        third = store.search("old harbour")
        assert lost(third, "cross_encoder") == []
        assert third.counts["reranked"] == 12

    @pytest.mark.parametrize("role", ["RERANKER", "GENERATOR"])
    def test_a_server_that_is_down(self, opened, configured, role):
        """R-6: nobody listens there; one sentence names the address."""
        url = f"http://127.0.0.1:{closed_port()}"
        configured(role, url)
        store = opened(reranker=None, generator=None)

        found = store.search("old harbour", mode="thorough")

        stage = {"RERANKER": "cross_encoder", "GENERATOR": "rephrase"}[role]
        assert len(found) == 10
        assert url in lost(found, stage)[0]

    def test_speed_is_measured_once_and_every_store_on_the_file_knows_it(
        self, opened, server, configured, tmp_path, clock
    ):
        """R-12: two requests of a fixed sample, then one a search, in whichever store object."""
        configured("RERANKER")
        opened(reranker=None).search("old harbour")
        sizes = [len(one.json["documents"]) for one in server.requests]
        with scrubjay.open(tmp_path / "gno.db", profile="gno", clock=clock, embedder=False) as two:
            found = two.search("old harbour")

        assert sizes == [1, 8, 12]
        assert [len(one.json["documents"]) for one in server.requests[3:]] == [12]
        assert step_of(found, "cross_encoder").notes["ms_per_1000_chars"] > 0

    @staticmethod
    def set_speed(store, speed_ms):
        """Put down another measurement."""
        with store._context.db.write() as db:
            db.execute("UPDATE kept SET value = ? WHERE kind = 'speed'", (str(speed_ms),))

    def test_depth_follows_from_the_stored_speed_and_from_no_luck(
        self, opened, server, configured
    ):
        """R-12, GN-10: 12 texts count as 200 characters each; at 1,000 ms a thousand, 2 s are 10 of them,
        and `degraded` says so."""
        configured("RERANKER")
        pairs = []
        for name in ("one.db", "two.db"):
            store = opened(reranker=None, name=name)
            store.search("old harbour")
            self.set_speed(store, 1000)
            server.answers = []
            for wait_s in (0.0, 0.15, 0.0):  # a slow answer changes nothing
                server.answers = [lambda asked, s=wait_s: slowed(server, asked, s)]
                found = store.search("old harbour")
                pairs.append(
                    (found.counts["reranked"], len(server.requests[-1].json["documents"]))
                )
                assert lost(found, "cross_encoder") == [
                    "10 of 12 passages were reranked: no more fit into 2000 ms"
                ]
                step = step_of(found, "cross_encoder")
                assert (step.notes["pairs"], step.notes["of"]) == (10, 12)
                assert step.notes["ms_per_1000_chars"] == 1000
            server.answers = []

        assert pairs == [(10, 10)] * 6

    def test_calibrate_measures_anew_and_keeps_it(self, opened, server, configured):
        """R-12: `Store.calibrate()`; later searches go by that."""
        configured("RERANKER")
        store = opened(reranker=None)
        store.search("old harbour")
        self.set_speed(store, 50_000)
        assert store.search("old harbour").counts["reranked"] == 1

        speed_ms = store.calibrate()

        found = store.search("old harbour")
        assert 0 < speed_ms < 50_000
        assert found.counts["reranked"] == 12
        noted = step_of(found, "cross_encoder").notes["ms_per_1000_chars"]
        assert noted == pytest.approx(speed_ms, abs=2e-3, rel=1e-3)

    def test_nobody_is_measured_while_the_server_rests(self, opened, server, configured):
        """R-6: one failed measurement is one failure."""
        configured("RERANKER")
        server.answers = [endpoints.BROKEN]
        store = opened(reranker=None)
        store.search("old harbour")
        asked = len(server.requests)
        store.search("old harbour")

        assert len(server.requests) == asked


def slowed(server, asked, wait_s):
    """What the server says by itself, later."""
    return Answer(server._rank(asked).body, wait_s=wait_s)


ASK = """
import json, sys
import scrubjay
with scrubjay.open(sys.argv[1], embedder=False) as store:
    found = store.search(sys.argv[2], profile="gno", mode="thorough")
    print(json.dumps([len(found), found.degraded]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("role", "stage"), [("RERANKER", "cross_encoder"), ("GENERATOR", "rephrase")]
)
def test_another_process_does_not_wait_for_what_has_just_failed(
    opened, server, tmp_path, role, stage
):
    """R-6: the failure is in the file; the second process sends no request."""
    opened().close()
    server.answers = [endpoints.BROKEN]
    env = {**os.environ, f"SCRUBJAY_{role}": f"{server.url}#tiny"}
    said, asked = [], []
    for query in ("old harbour", "another harbour"):
        done = subprocess.run(
            [sys.executable, "-c", ASK, str(tmp_path / "gno.db"), query],
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        said.append(json.loads(done.stdout))
        asked.append(len(server.requests))

    assert [count for count, _ in said] == [10, 10]
    assert asked[0] == asked[1] > 0
    first, second = ([one for one in why if one.startswith(stage)] for _, why in said)
    assert "500" in first[0]
    assert "is paused for another" in second[0]


class TestFile:
    """What is kept is kept if it can be; a search never fails for it."""

    def test_a_file_that_another_process_writes_to(self, opened, tmp_path):
        """GN-4: the answer is there, only not kept; the next search asks again."""
        scribe = ScriptedGenerator(SAYS)
        store = opened(generator=scribe)
        writer = sqlite3.connect(tmp_path / "gno.db")
        writer.execute("BEGIN IMMEDIATE")
        found = store.search("old harbour", mode="thorough")
        writer.rollback()
        writer.close()

        assert found.counts["lexical:1"] > 0
        assert lost(found, "rephrase") == []
        store.search("old harbour", mode="thorough")
        store.search("old harbour", mode="thorough")
        assert len(scribe.prompts) == 2

    def test_a_file_that_cannot_be_written(self, opened, tmp_path, clock, monkeypatch):
        """GN-2, GN-4: expansion and reranking work; nothing is kept."""
        opened().close()
        before = (tmp_path / "gno.db").read_bytes()
        real = sqlite3.connect
        monkeypatch.setattr(
            sqlite.sqlite3,
            "connect",
            lambda path, **more: real(f"{Path(path).as_uri()}?mode=ro", uri=True, **more),
        )
        with scrubjay.open(
            tmp_path / "gno.db",
            profile="gno",
            clock=clock,
            embedder=False,
            generator=ScriptedGenerator(SAYS),
            reranker=ScriptedReranker(even),
        ) as store:
            found = store.search("old harbour", mode="thorough")

        assert found.counts["reranked"] == 12
        assert found.counts["lexical:1"] > 0
        assert (tmp_path / "gno.db").read_bytes() == before

    def test_a_store_in_memory(self, clock):
        """All of it works without a file."""
        with scrubjay.open(
            ":memory:",
            profile="gno",
            clock=clock,
            embedder=TokenEmbedder(),
            generator=ScriptedGenerator(SAYS),
        ) as store:
            store.add_many(notes())
            store.pending(wait=True)
            found = store.search("old harbour", mode="thorough")

        assert found.degraded == ()
        assert all(hit.rerank_score is not None for hit in found)


class TestChoosing:
    @pytest.mark.parametrize(
        ("chosen", "names"),
        [
            ({}, ("late", None)),
            ({"reranker": False, "generator": "corpus"}, (None, "corpus")),
            ({"embedder": HashingEmbedder()}, (None, None)),  # has no token vectors
            ({"embedder": False}, (None, None)),
            (
                {"reranker": ScriptedReranker(even), "generator": ScriptedGenerator(SAYS)},
                ("scripted", "scribe"),
            ),
        ],
    )
    def test_status_names_what_was_chosen(self, chosen, names):
        """Whether or not it is here: doctor says that."""
        with scrubjay.open(":memory:", **{"embedder": TokenEmbedder(), **chosen}) as store:
            state = store.status()
            assert (state.reranker, state.generator) == names

    def test_a_callers_failure_is_the_callers(self, opened, tmp_path, clock):
        """Another store on the same file with an object of the same name is not told to wait."""
        bad, good = ScriptedReranker(lambda query, texts: None), ScriptedReranker(even)
        opened(reranker=bad).search("old harbour")
        with scrubjay.open(
            tmp_path / "gno.db", profile="gno", clock=clock, embedder=False, reranker=good
        ) as store:
            assert store.search("old harbour").counts["reranked"] == 12

    def test_a_callers_own_can_be_measured_on_request(self, opened):
        """R-12: `calibrate` by hand; then the deadline counts."""
        judge = ScriptedReranker(even)
        store = opened(reranker=judge)

        assert store.calibrate() > 0
        assert [len(texts) for _, texts in judge.asked] == [1, 8]
        found = store.search("old harbour")
        assert "ms_per_1000_chars" in step_of(found, "cross_encoder").notes

    @pytest.mark.parametrize("reranker", [False, None, "late", "none"], ids=str)
    def test_nothing_to_measure_says_so(self, opened, reranker):
        """Unavailable, with what to do."""
        with pytest.raises(Unavailable, match="no reranker"):
            opened(reranker=reranker).calibrate()

    @pytest.mark.parametrize("given", ["no such thing", "ftp://x", "http://"])
    @pytest.mark.parametrize("role", ["reranker", "generator"])
    def test_a_name_that_is_none_is_wrong_input(self, opened, role, given):
        """Not a missing memory, and not a crash; said when the store is opened."""
        with pytest.raises(InvalidInput):
            opened(**{role: given})

    def test_an_object_that_is_none_is_wrong_input(self, opened):
        """It says what it needs."""
        with pytest.raises(InvalidInput, match="it needs name and score"):
            opened(reranker=object()).search("old harbour")

    def test_a_wrong_setting_is_said_by_the_searches_that_need_it(self, opened, monkeypatch):
        """A fast search loads no model, and so does not even read its name."""
        monkeypatch.setenv("SCRUBJAY_RERANKER", "no such thing")
        store = opened(reranker=None)

        assert len(store.search("old harbour", mode="fast")) == 10
        with pytest.raises(InvalidInput, match="There is no reranker 'no such thing'"):
            store.search("old harbour")

    def test_none_and_late_by_name(self, opened):
        """`none` is no second look; `late` the one by token vectors."""
        late = opened(embedder=TokenEmbedder(), reranker="late").search("old harbour")
        none = opened(name="b.db", embedder=TokenEmbedder(), reranker="none").search("old harbour")

        assert late.degraded == ()
        assert all(hit.rerank_score is not None for hit in late)
        assert all(hit.rerank_score is None for hit in none)
        assert len(lost(none, "late_interaction")) == 1

    def test_a_model_that_is_not_here_is_named_with_the_command(self, opened, monkeypatch):
        """GN-15: a search never fetches one; and offline it says that."""
        store = opened(reranker="owner/model")

        said = lost(store.search("old harbour"), "cross_encoder")

        assert said == [
            "owner/model is not on this machine yet; fetch it with: scrubjay models pull owner/model"
        ]
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        assert "SCRUBJAY_OFFLINE forbids" in lost(store.search("harbour"), "cross_encoder")[0]


def token_rows(store):
    with store._context.db.read() as db:
        return db.execute("SELECT count(*) FROM tokens").fetchone()[0]


class Lying(HashingEmbedder):
    """Good vectors, and token vectors that are not."""

    def __init__(self, lie):
        super().__init__(16)
        self.name = "lying"
        self._lie = lie

    def tokens(self, texts, *, as_query=False):
        made = self._lie(len(texts))
        if isinstance(made, Exception):
            raise made
        return made


class TestLateInteraction:
    def test_tokens_are_made_with_the_vectors_in_one_pass(self, opened):
        """`encode` is called once a batch, and nothing else is."""
        model = TokenEmbedder()
        store = opened(embedder=model, reranker=None)

        assert sorted(text for batch in model.encoded for text in batch) == sorted(
            one["text"] for one in notes()
        )
        assert model.calls == len(model.encoded)
        assert token_rows(store) == 12

    def test_they_go_with_the_memory(self, opened):
        """`forget` leaves nothing behind."""
        store = opened(embedder=TokenEmbedder(), reranker=None)

        store.forget(["d00", "d05"])

        assert token_rows(store) == 10

    def test_a_passage_that_did_not_change_keeps_them(self, opened):
        """Only a new text is read."""
        model = TokenEmbedder()
        store = opened(embedder=model, reranker=None)
        before = len(model.encoded)
        store.update("d00", topics=["boats"])
        assert store.pending(wait=True) == 0
        assert len(model.encoded) == before

        store.update("d00", text="A new harbour.")

        assert store.pending(wait=True) == 0
        assert model.encoded[before:] == [["A new harbour."]]
        assert token_rows(store) == 12

    def test_the_score_is_maxsim_of_the_best_passage(self, opened):
        """Tokens that are near to themselves only: the share of the query's words that stand there."""
        store = opened(embedder=TokenEmbedder(), reranker=None)

        found = store.search("old harbour town3 zanzibar", limit=12)

        for hit in found:
            words = hit.text.lower().replace(".", "").split()
            share = sum(word in words for word in ("old", "harbour", "town3", "zanzibar")) / 4
            above = max(share - 0.38, 0) / 0.62  # counted from what unrelated texts have
            assert hit.rerank_score == pytest.approx(above, abs=0.005)
        assert found.degraded == ()

    @pytest.mark.parametrize(
        ("gone", "reason"),
        [
            (8, None),
            (
                9,
                f"9 of 12 passages have no token vectors yet; {pending_vectors()}",
            ),
        ],
    )
    def test_a_few_missing_ones_are_made_on_the_spot(self, opened, gone, reason):
        """Up to eight; more is not waited for, and said."""
        model = TokenEmbedder()
        store = opened(embedder=model, reranker=None)
        whole = scored(store.search("old harbour", limit=12))
        with store._context.db.write() as db:
            db.execute(
                "DELETE FROM tokens WHERE chunk IN (SELECT chunk FROM tokens LIMIT ?)", (gone,)
            )

        found = store.search("old harbour", limit=12)

        if reason is None:
            assert found.degraded == ()
            assert scored(found) == whole
        else:
            assert lost(found, "late_interaction") == [reason]
            assert scored(found) == scored(store.search("old harbour", mode="fast", limit=12))

    @pytest.mark.parametrize(
        "lie",
        [
            lambda count: [np.zeros((2, 16), np.float32)] * (count + 1),
            lambda count: [np.zeros((2, 16), np.float32)] * (count - 1),
            lambda count: [np.zeros((2, 15), np.float32)] * count,
            lambda count: [np.zeros(16, np.float32)] * count,
            lambda count: [np.full((2, 16), np.nan, np.float32)] * count,
            lambda count: [np.full((2, 16), np.inf, np.float32)] * count,
            lambda count: RuntimeError("no tokens today"),
        ],
        ids=["too many", "too few", "narrow", "flat", "NaN", "inf", "raises"],
    )
    def test_a_model_whose_tokens_lie_still_gives_vectors(self, opened, lie):
        """R-6: words and meaning work; only the closer look is lost."""
        store = opened(embedder=Lying(lie), reranker=None)

        found = store.search("old harbour")

        assert store.status().models == {"lying": 12}
        assert len(found) == 10
        assert all("vector" in hit.found for hit in found)
        assert lost(found, "late_interaction") == ["the query has no token vectors"]
        assert token_rows(store) == 0

    def test_token_vectors_of_any_length_are_compared_by_direction(self, opened):
        """A foreign model need not scale them: a long one is not near to everything."""

        class Long(TokenEmbedder):
            def tokens(self, texts, *, as_query=False):
                return [rows * 50 for rows in super().tokens(texts)]

        store = opened(embedder=Long(), reranker=None)
        plain = opened(name="b.db", embedder=TokenEmbedder(), reranker=None)

        one, two = (each.search("old harbour", limit=12) for each in (store, plain))
        assert scored(one) == scored(two)

    def test_another_width_of_the_same_model_costs_the_closer_look_only(
        self, opened, tmp_path, clock
    ):
        """R-6: a newer version of it made the tokens of the file anew; the older goes on."""

        class Narrow(TokenEmbedder):
            token_dims = 128
            rotation = np.eye(256, 128, dtype=np.float32)

        store = opened(embedder=TokenEmbedder(), reranker=None)
        with scrubjay.open(
            tmp_path / "gno.db", profile="gno", clock=clock, embedder=Narrow()
        ) as newer:
            assert newer.pending(wait=True) == 0
            assert lost(newer.search("old harbour"), "late_interaction") == []
            found = store.search("old harbour")

        assert len(found) == 10
        assert "another width" in lost(found, "late_interaction")[0]

    def test_a_store_of_an_older_version_gets_tokens_and_keeps_its_vectors(self, tmp_path):
        """A file of schema 2, opened with the same model that now gives tokens."""
        path = Path(shutil.copy(SCHEMA_2, tmp_path / "old.db"))
        db = sqlite3.connect(path)
        before = db.execute("SELECT chunk, vector FROM vectors ORDER BY chunk").fetchall()
        db.close()
        assert before

        class Fixed8(TokenEmbedder):
            def __init__(self):
                super().__init__(8)
                self.name = "fixed-8"

        model = Fixed8()
        with scrubjay.open(path, embedder=model, profile="gno") as store:
            assert store.pending(wait=False) == len(before)
            assert store.pending(wait=True) == 0
            assert token_rows(store) == len(before)
            found = store.search("Häuser am Hafen")
            assert lost(found, "late_interaction") == []
        db = sqlite3.connect(path)
        after = db.execute("SELECT chunk, vector FROM vectors ORDER BY chunk").fetchall()
        db.close()

        assert after == before
        assert sum(map(len, model.encoded)) >= len(before)
