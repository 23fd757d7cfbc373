"""The page of HTTP says what is true: its examples run, and its limits are the limits."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from scrubjay.surfaces import opened
from scrubjay.surfaces.http import app, bodies, descriptors, mcp_sessions, settings
from scrubjay.surfaces.http import listen as serving
from scrubjay.surfaces.http import origin_check as guard
from scrubjay.surfaces.http import protocol as wire
from scrubjay.surfaces.http.auth import authenticate as known
from scrubjay.surfaces.http.auth import login_cookie as halves
from scrubjay.surfaces.http.auth import logins as sessions
from scrubjay.surfaces.verbs import kinds

PAGE = (Path(__file__).parents[3] / "docs" / "http.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```sh\n(curl .*?)\n```(?:\n```json\n(.*?)\n```)?", PAGE, re.M | re.S)


def part_of(answer, shown):
    """Whatever of an answer is shown on the page; of a text that is cut there, as much."""
    if isinstance(shown, str) and shown.endswith("…"):
        return f"{answer[: len(shown) - 1]}…"
    if not isinstance(shown, dict):
        return answer
    return {key: part_of(answer[key], one) for key, one in shown.items()}


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not here")
def test_every_example_runs_and_answers_what_it_shows(serve):
    """One after another, as somebody would try them."""
    client = serve()
    assert len(EXAMPLES) == 5
    for command, shown in EXAMPLES:
        words, shown = (
            one.replace("http://127.0.0.1:8765", client.url) for one in (command, shown)
        )
        done = subprocess.run(shlex.split(words), capture_output=True, check=True)
        answer = json.loads(done.stdout)
        expected = json.loads(shown or "{}")
        assert part_of(answer, expected) == expected
        if "explain" in command:
            assert [hit["id"] for hit in answer["hits"]] == ["tea"]
            assert answer["trace"]


@pytest.mark.parametrize(
    "line",
    [
        f"| body of a request | {settings.BODY_MB:g} MB |",
        f"| {settings.TOKEN_RATE:g}; without tokens any number |",
        f"| wrong tokens a second from one address | {known.WRONG_PER_S:g} |",
        f"| {app.THREADS}; {app.MOST_WAITING}, then 503 |",
        f"of one caller | {app.THREADS // 2}; {app.MOST_WAITING // 2}, then 503 |",
        f"| {mcp_sessions.MOST_OF_ONE} of one caller, {mcp_sessions.MOST_SESSIONS} in all |",
        f"| {mcp_sessions.IDLE_S / 60:g} minutes |",
        f"| {sessions.MOST_OF_ONE} of one token, {sessions.MOST_SESSIONS} in all; those unused",
        f"| {sessions.IDLE_S / 3600:g} hours; {sessions.LIFE_S / 86_400:g} days;"
        f" {sessions.LINK_S / 60:g} minutes |",
        f"do nothing for {sessions.IDLE_S / 3600:g} hours",
        f"once, within {sessions.LINK_S / 60:g} minutes",
        f"sends in `{halves.KEY_HEADER}`",
        f"| length of a query | {kinds.MOST_QUERY_CHARS:,} characters |",
        f"| time to wait for another who writes | {opened.WRITER_WAIT_S:g} s |",
        f"| open connections | {descriptors.MOST_CONNECTIONS}, or half of what `ulimit -n`",
        f"| {wire.HEAD_TIME_S:g} s; {bodies.BODY_TIME_S:g} s |",
        f"| time for a client that takes nothing of its answer | {wire.READING_TIME_S:g} s |",
        f"| {guard.LONGEST_PATH}; {guard.LONGEST_QUERY:,}; {guard.MOST_HEADER_BYTES:,} bytes |",
        f"| depth of JSON | {bodies.MOST_DEPTH} |",
        f"under way for up to {serving.FINISH_S} seconds",
        f"http://{settings.HOST}:{settings.PORT}",
    ],
)
def test_the_page_has_the_limits_of_the_code(line):
    """Each number stands in one place of the code."""
    assert line in PAGE
