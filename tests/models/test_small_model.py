"""A real small model behind a real server: llama.cpp with the 135 million parameters of SmolLM2."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest
from small_model import weights

import scrubjay
from scrubjay.models.endpoint import endpoint
from scrubjay.models.generate.remote import RemoteGenerator

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp has no wheel here"
    ),
]

SERVE = """
import sys
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 1024
params.warmup = False
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
"""One thread: those of llama.cpp wait for each other by spinning, which a busy machine punishes."""


def strings(most):
    return {"type": "array", "items": {"type": "string", "maxLength": 24}, "maxItems": most}


# Small limits, so that a small model ends soon.
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "lexical": strings(2),
        "semantic": strings(2),
        "hyde": {"type": "string", "maxLength": 80},
    },
    "required": ["lexical", "semantic", "hyde"],
    "additionalProperties": False,
}
PROMPT = (
    "Rewrite this search query for a search engine: where did the jay hide its acorns?\n"
    "Answer in JSON with lexical (two lists of keywords), semantic (two questions with the same"
    " meaning) and hyde (one sentence that answers it)."
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the server listens; it has a process of its own, since it cannot be stopped in ours."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-c", SERVE, str(weights())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            said = process.stdout.readline().strip()
            assert said.startswith("http://127.0.0.1:"), log.read_text(errors="replace")[-2000:]
            yield said
        finally:
            process.kill()


def test_a_real_model_answers_by_the_schema(address):
    """GN-2: the server holds the model to the three keys."""
    remote = RemoteGenerator(endpoint(f"{address}/v1#smollm2", timeout_s=300), most_tokens=200)

    answer = json.loads(remote.complete(PROMPT, schema=SCHEMA))

    assert answer.keys() == {"lexical", "semantic", "hyde"}
    assert isinstance(answer["hyde"], str)
    assert all(isinstance(one, str) for one in [*answer["lexical"], *answer["semantic"]])


def test_a_real_model_answers_in_prose_and_without_a_name(address):
    """A server with one model needs no name for it."""
    remote = RemoteGenerator(endpoint(address, timeout_s=300), most_tokens=12)

    assert remote.complete("Say hello to the jay.").strip()
    assert remote.name == address.removeprefix("http://")


def test_a_search_is_expanded_by_a_real_model(address, tmp_path):
    """GN-2, GN-4: what it writes is nonsense, but it is read, guarded, searched and kept."""
    remote = RemoteGenerator(endpoint(f"{address}/v1#smollm2", timeout_s=300), most_tokens=120)
    with scrubjay.open(tmp_path / "notes.db", embedder=False, generator=remote) as store:
        store.add("The jay hid its acorns below the old oak", id="oak")
        store.add("Lunch is at noon", id="lunch")
        first, second = (
            store.search(
                "where did the jay hide acorns",
                profile="gno",
                mode="thorough",
                overrides={"strong_signal.score": 1.0, "rephrase.time_limit_s": 300},
            )
            for _ in range(2)
        )

    steps = [
        step
        for found in (first, second)
        for expand in found.trace
        for variants in expand.branches
        for step in variants.branches
        if step.stage == "rephrase"
    ]
    assert [hit.id for hit in first] == [hit.id for hit in second] == ["oak"]
    if steps[0].lost:  # on another processor it may write nothing that is of use
        assert "paused" in steps[1].lost
    else:
        assert [step.notes["kept"] for step in steps] == [False, True]
        assert any(steps[0].notes[kind] for kind in ("lexical", "semantic", "hyde"))


def test_the_nonsense_of_a_real_model_loses_no_message(address, tmp_path):
    """Complaint 17: whatever it draws is said in the conversation, and every message is there."""
    remote = RemoteGenerator(endpoint(f"{address}/v1#smollm2", timeout_s=300), most_tokens=120)
    said = ["I am Ann and I live in Berlin.", "My sister has two cats.", "Thanks!"]
    with scrubjay.open(tmp_path / "talk.db", embedder=False, generator=remote) as store:
        # A small context and little time: shorter answers than a person would let it write.
        store._context.models._generator.patient = lambda: store._context.models._generator
        for text in said:
            store.add(text, type="message", session="talk")
        done = store.extract()

        assert sorted(one.text for one in store.ls(types="message")) == sorted(said)
        assert done.messages + done.failed == 3 or done.outage
        drawn = store.ls(types="fact")
        assert len(drawn) == done.added
        for fact in drawn:
            start, stop = fact.metadata["span"]
            assert store.get(fact.metadata["message"]).text[start:stop]
