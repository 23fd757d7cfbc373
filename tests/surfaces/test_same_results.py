"""One search through the library, the shell, MCP and HTTP: the same hits, order, scores and reasons."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

import scrubjay
from scrubjay.runtime.paths import cache_dir
from scrubjay.surfaces.cli import main
from scrubjay.surfaces.render.json import results

pytestmark = [pytest.mark.model, pytest.mark.slow]

WAIT_S = 120.0

TEXTS = (
    ("pref-python", "Mara prefers Python for back ends and Elm for pages", "preference"),
    ("pref-tea", "Mara drinks green tea in the morning, never coffee", "preference"),
    ("dec-queue", "We decided to move the job queue from Redis to Postgres", "decision"),
    ("dec-release", "Releases happen on Tuesdays, because support is complete then", "decision"),
    ("err-4417", "E_CACHE_4417 means that two workers warm the same shard", "fact"),
    ("backup", "Backups of the main database run at two in the night", "fact"),
    ("restore", "A restore from the nightly copy takes about forty minutes", "fact"),
    ("task-cert", "Renew the certificate of the mail server before June", "task"),
    ("lisbon", "The team meets in Lisbon in the second week of May", "fact"),
    ("sum-may", "Summary of May: the queue moved, the cache errors are gone", "summary"),
    ("allergy", "Oriel must never eat shrimp, crab or mussels", "fact"),
    ("deploy", "Deployments need two approvals and a green pipeline", "fact"),
)
PARTS = (
    "which language for the server?",
    "E_CACHE_4417",
    "when do we release?",
    "who is allergic to seafood?",
    "what happened to the job queue?",
)
# Every profile and mode, with filters, limits, weights and numbers of their own: 10 ways of 5 questions.
WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"mode": "fast", "limit": 3},
    {"mode": "keyword", "types": ["fact", "decision"]},
    {"mode": "vector", "topics": ["work"]},
    {"mode": "thorough", "min_score": 0.05},
    {"profile": "gno", "overrides": {"rrf": {"k": 30}}},
    {"profile": "gnosis", "limit": 5},
    {"profile": "vault", "domain": "ops", "tags": ["cache"]},
    {"profile": "cognis", "since": "2026-01-01", "until": "2026-12-31"},
    {"profile": "novamem", "weights": {"keyword": 0.2, "vector": 0.7, "graph": 0.1}},
)
MODELS = cache_dir()
CASES = [{"query": query, **way} for way in WAYS for query in PARTS]


class Seen(NamedTuple):
    """What must be the same through every door."""

    hits: list[tuple[str, float, dict[str, float]]]
    stages: list[tuple[Any, ...]]
    counts: dict[str, int]
    profile: str
    confidence: float | None
    verdict: str | None
    degraded: list[str]


def seen(shape: dict[str, Any]) -> Seen:
    return Seen(
        [(hit["id"], hit["score"], hit["why"]) for hit in shape.get("hits", [])],
        [_step(one) for one in shape["trace"]],
        {name: count for name, count in shape.get("counts", {}).items() if count},
        shape["profile"],
        shape.get("confidence"),
        shape.get("verdict"),
        shape.get("degraded", []),
    )


def _step(step: dict[str, Any]) -> tuple[Any, ...]:
    """What a stage did, without its time."""
    return (
        step["stage"],
        step.get("went_in", 0),
        step.get("came_out", 0),
        step.get("lost"),
        [_step(one) for one in step.get("branches", [])],
    )


@pytest.fixture(autouse=True)
def models(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of this machine, as the fixtures of the module have it."""
    monkeypatch.setenv("SCRUBJAY_CACHE", MODELS)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("one-answer") / "notes.db"
    with scrubjay.open(path, profile="novamem") as store:
        for n, (id_, text, kind) in enumerate(TEXTS):
            store.add(
                text,
                id=id_,
                type=kind,
                topics=["work"] if n % 3 else ["home", "work"],
                domain="ops" if n % 2 else None,
                created_at=f"2026-0{1 + n % 6}-{10 + n}T09:00:00Z",
            )
        store.link("dec-queue", "sum-may", 0.9)
        assert store.pending() == 0
    return path


@pytest.fixture(scope="module")
def from_library(db: Path) -> list[Seen]:
    with scrubjay.open(db) as store:
        return [
            seen(
                results(
                    store.search(**case),
                    mode=case.get("mode", "default"),
                    explain=True,
                    full=False,
                )
            )
            for case in CASES
        ]


@pytest.fixture(scope="module")
def url(db: Path) -> Iterator[str]:
    serving = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "scrubjay",
            "serve",
            "--json",
            "--no-auth",
            "--port",
            "0",
            "--db",
            str(db),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"SCRUBJAY_OFFLINE": "1"},
    )
    try:
        assert serving.stdout is not None
        yield json.loads(serving.stdout.readline())["url"]
    finally:
        serving.terminate()
        serving.wait(WAIT_S)
        serving.stdout.close()


def test_there_are_fifty_different_searches(from_library: list[Seen]) -> None:
    """And most find something, in more than one way."""
    assert len(CASES) == len({json.dumps(case, sort_keys=True) for case in CASES}) == 50
    assert sum(bool(one.hits) for one in from_library) >= 45
    assert len({one.profile for one in from_library}) == 10
    assert all(one.hits[0][2] for one in from_library if one.hits)


def test_the_shell_gives_the_answer_of_the_library(db: Path, from_library: list[Seen]) -> None:
    for case, expected in zip(CASES, from_library, strict=True):
        printed = io.StringIO()
        with redirect_stdout(printed):
            code = main([*_words(case), "--json", "--explain", "--db", str(db)])
        assert code == (0 if expected.hits else 3)
        _check(case, seen(json.loads(printed.getvalue())), expected)


def test_http_gives_the_answer_of_the_library(url: str, from_library: list[Seen]) -> None:
    def ask(case: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{url}/v1/search?explain=1",
            json.dumps(case).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            return json.load(answer)

    deadline = time.monotonic() + WAIT_S
    while ask(CASES[0])["degraded"] and time.monotonic() < deadline:
        time.sleep(0.05)  # the model is being loaded
    for case, expected in zip(CASES, from_library, strict=True):
        _check(case, seen(ask(case)), expected)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_mcp_gives_the_answer_of_the_library(
    db: Path, url: str, from_library: list[Seen], transport: str
) -> None:
    """What is left out of structured content is what is null or empty."""
    command = ["-m", "scrubjay", "mcp", "--db", str(db)]
    env = dict(os.environ) | {"SCRUBJAY_OFFLINE": "1"}
    stdio = StdioServerParameters(command=sys.executable, args=command, env=env)

    async def ask_all() -> list[Seen]:
        place: Any = stdio_client(stdio) if transport == "stdio" else f"{url}/mcp"
        async with Client(place) as client:

            async def ask(case: dict[str, Any]) -> dict[str, Any]:
                answer = await client.call_tool("memory_search", {**case, "explain": True})
                assert not answer.is_error, answer.content
                return dict(answer.structured_content)

            deadline = time.monotonic() + WAIT_S
            while (await ask(CASES[0])).get("degraded") and time.monotonic() < deadline:
                await asyncio.sleep(0.05)
            return [seen(await ask(case)) for case in CASES]

    for case, got, expected in zip(CASES, asyncio.run(ask_all()), from_library, strict=True):
        _check(case, got, expected)


def _check(case: dict[str, Any], got: Seen, expected: Seen) -> None:
    """The age of a memory goes on between two searches: that much scores may differ."""
    assert [hit[:1] for hit in got.hits] == [hit[:1] for hit in expected.hits], case
    for (_, score, why), (_, wanted, reasons) in zip(got.hits, expected.hits, strict=True):
        assert score == pytest.approx(wanted, abs=1e-5), case
        assert list(why) == list(reasons), case
        assert why == pytest.approx(reasons, abs=1e-5), case
    assert got[1:4] == expected[1:4], case
    assert got.confidence == pytest.approx(expected.confidence, abs=1e-5), case
    assert got.verdict == expected.verdict, case
    assert got.degraded == expected.degraded, case


def _words(case: dict[str, Any]) -> list[str]:
    """Return what is typed for a search."""
    words = ["query", case["query"]]
    for name, value in case.items():
        if name == "mode":
            if value in ("keyword", "vector"):
                words[0] = {"keyword": "search", "vector": "vsearch"}[value]
            else:
                words.append(f"--{value}")
        elif name == "overrides":
            words += ["--set", "rrf.k=30"]
        elif name == "weights":
            words += ["--weights", ",".join(f"{tier}={number}" for tier, number in value.items())]
        elif name in ("types", "topics", "tags"):
            words += [word for one in value for word in (f"--{name[:-1]}", one)]
        elif name != "query":
            words += [f"--{name.replace('_', '-')}", str(value)]
    return words
