"""The page of HTTP says what is true: its examples run, and its limits are the limits."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from scrubjay.surfaces import callers
from scrubjay.surfaces.http import (
    app,
    auth,
    listen,
    logins,
    mcp_mount,
    origin_check,
    request_input,
    settings,
)
from scrubjay.surfaces.owner_key import ensure_owner_key
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
    """One after another, as a reader would try them, with the header of the owner's key."""
    owner = ensure_owner_key()
    client = serve(owner_key=owner.secret)
    assert len(EXAMPLES) == 5
    for command, shown in EXAMPLES:
        words, shown = (
            one.replace("http://127.0.0.1:8765", client.url) for one in (command, shown)
        )
        assert "-H @$HEADER " in words
        words = words.replace("$HEADER", owner.header_path)
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
        f"| an answer of `/v1` | {settings.ANSWER_MB:g} MB, then 413 |",
        f"| {settings.KEY_RATE:g}; of the owner and without keys no limit |",
        f"| wrong keys per second from one address | {auth.WRONG_PER_S:g} |",
        f"| {app.THREADS}; {app.MAX_QUEUED}, then 503 |",
        f"of one caller | {app.THREADS // 2}; {app.MAX_QUEUED // 2}, then 503 |",
        f"| {mcp_mount.MAX_SESSIONS_PER_CALLER} of one caller, {mcp_mount.MAX_SESSIONS} in all |",
        f"| {mcp_mount.IDLE_S / 60:g} minutes |",
        f"| {logins.MAX_LOGINS_PER_KEY} of one key, {logins.MAX_LOGINS} in all; the one unused",
        f"| {logins.IDLE_S / 3600:g} hours; {logins.LIFETIME_S / 86_400:g} days;"
        f" {logins.LINK_S / 60:g} minutes |",
        f"do nothing for {logins.IDLE_S / 3600:g} hours",
        f"once, within {logins.LINK_S / 60:g} minutes",
        f"sends in `{logins.KEY_HEADER}`",
        f"| length of a query | {kinds.MOST_QUERY_CHARS:,} characters |",
        f"| time to wait for another writer | {callers.WRITER_WAIT_S:g} s |",
        f"| open connections | {listen.MAX_CONNECTIONS}, or half of what `ulimit -n`",
        f"| {listen.HEADER_TIMEOUT_S:g} s; {request_input.BODY_TIMEOUT_S:g} s |",
        f"| time for a client that does not read its answer | {listen.WRITE_TIMEOUT_S:g} s |",
        f"| {origin_check.MAX_PATH_BYTES}; {origin_check.MAX_QUERY_BYTES:,};"
        f" {origin_check.MAX_HEADER_BYTES:,} bytes |",
        f"| depth of JSON | {request_input.MOST_DEPTH} |",
        f"in progress within {listen.SHUTDOWN_S} seconds",
        f"http://{settings.HOST}:{settings.PORT}",
    ],
)
def test_the_page_has_the_limits_of_the_code(line):
    """Each number stands in one place of the code."""
    assert line in PAGE
