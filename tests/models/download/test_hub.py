"""Files of any repository come from the hub once, checked, and are known again afterwards."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys

import pytest
from model_hub import COMMIT, serving

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.download.hub import (
    MANIFEST,
    WantedFile,
    fetch_repo,
    parse_repo,
    repo_folder,
    repo_is_here,
)
from scrubjay.runtime.progress import silent

REPO = "someone/reranker"
WEIGHTS = bytes(range(256)) * 4000
SETTINGS = b'{"hidden": 1}'
WANTED = (
    WantedFile("graph", ("model.onnx", "onnx/model.onnx"), beside=("_data",)),
    WantedFile("settings", ("config.json",)),
    WantedFile("words", ("words.txt",), optional=True),
)
SECRET = "hf_do-not-tell-anyone"


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub with one repository, and an empty cache."""
    for name in ("SCRUBJAY_OFFLINE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.repos[REPO] = {"onnx/model.onnx": WEIGHTS, "config.json": SETTINGS}
        yield hub


def fetch(repo=REPO, wanted=WANTED, **changes):
    return fetch_repo(repo, wanted, **{"progress": silent} | changes)


def test_the_files_lie_in_the_cache_as_in_the_repository(hub, tmp_path):
    """Under owner, name and revision; the note beside them says commit and checksums."""
    into = fetch()

    assert into == tmp_path / "cache" / "models" / "hub" / "someone--reranker" / "main"
    assert (into / "onnx" / "model.onnx").read_bytes() == WEIGHTS
    assert (into / "config.json").read_bytes() == SETTINGS
    note = json.loads((into / MANIFEST).read_text())
    assert (note["repo"], note["revision"], note["commit"]) == (REPO, "main", COMMIT)
    assert note["files"] == {
        "onnx/model.onnx": {"sha256": hashlib.sha256(WEIGHTS).hexdigest(), "size": len(WEIGHTS)},
        "config.json": {"sha256": hashlib.sha256(SETTINGS).hexdigest(), "size": len(SETTINGS)},
    }
    assert note["absent"] == ["model.onnx", "onnx/model.onnx_data", "words.txt"]


def test_all_files_are_of_the_commit_at_which_the_first_was(hub):
    """A branch that moves between two files gives no mixture: main is asked for only once."""
    fetch()
    hub.revisions.remove("main")  # everything that is asked for from here on must name the commit
    (repo_folder(REPO) / "config.json").unlink()

    assert (fetch() / "config.json").read_bytes() == SETTINGS


def test_the_second_open_needs_no_network(hub, monkeypatch):
    """Nothing is asked, also of what the repository does not have."""
    fetch()
    hub.asked.clear()
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")

    fetch()

    assert hub.asked == []
    assert repo_is_here(REPO, WANTED)


def test_a_cache_of_an_earlier_version_is_found(hub):
    """Decision 021: files and manifest lie where our own client put them, and nothing is asked."""
    into = repo_folder(REPO)
    (into / "onnx").mkdir(parents=True)
    files = {"onnx/model.onnx": WEIGHTS, "config.json": SETTINGS}
    for name, body in files.items():
        (into / name).write_bytes(body)
    manifest = {
        "repo": REPO,
        "revision": "main",
        "commit": COMMIT,
        "files": {
            name: {"sha256": hashlib.sha256(body).hexdigest(), "size": len(body)}
            for name, body in files.items()
        },
        "absent": ["model.onnx", "onnx/model.onnx_data", "words.txt"],
    }
    (into / "fetched.json").write_text(json.dumps(manifest))

    assert repo_is_here(REPO, WANTED)
    assert fetch() == into
    assert hub.asked == []


def test_the_hub_client_is_imported_only_to_download():
    """Decision 021: its import takes as long as many searches."""
    code = (
        "import sys, scrubjay.models.download.hub, scrubjay.models.download.wheel,"
        " scrubjay.models.rerank.cross_encoder, scrubjay.write.embedding;"
        " sys.exit('huggingface_hub' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_what_is_not_here_is_not_here(hub):
    """Before the fetch, after it with other wishes, and with a file cut short."""
    assert not repo_is_here(REPO, WANTED)
    fetch()
    assert not repo_is_here(REPO, [*WANTED, WantedFile("more", ("more.txt",))])
    (repo_folder(REPO) / "config.json").write_bytes(SETTINGS[:-1])
    assert not repo_is_here(REPO, WANTED)


@pytest.mark.parametrize("damage", [lambda body: body[:-7], lambda body: b"\xff" + body[1:]])
@pytest.mark.parametrize("name", ["onnx/model.onnx", "config.json"])
def test_a_damaged_file_is_noticed_and_fetched_again(hub, caplog, name, damage):
    """Large ones and small ones, cut short or with a wrong byte; the other stays as it is."""
    path = fetch() / name
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    hub.asked.clear()

    with caplog.at_level(logging.WARNING):
        fetch()

    assert path.read_bytes() == whole
    assert set(hub.of("GET")) == {name}
    assert "damaged" in caplog.text


def test_damage_without_network_is_unavailable(hub, monkeypatch):
    """A wrong byte is never used."""
    path = fetch() / "onnx" / "model.onnx"
    path.write_bytes(WEIGHTS[::-1])
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")

    with pytest.raises(Unavailable, match=r"not complete in .* SCRUBJAY_OFFLINE"):
        fetch()


def test_offline_never_asks(hub, monkeypatch):
    """The error says what to do, and no folder is made."""
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")

    with pytest.raises(Unavailable, match="SCRUBJAY_OFFLINE forbids fetching; unset it, or copy"):
        fetch()

    assert hub.asked == []
    assert not repo_folder(REPO).exists()


def test_a_damaged_note_is_made_again_without_fetching(hub):
    """The hub says what the files are, and they are that."""
    into = fetch()
    (into / MANIFEST).write_text('{"files": [')
    hub.asked.clear()

    fetch()

    assert hub.of("GET") == []
    assert repo_is_here(REPO, WANTED)


def test_an_interrupted_download_goes_on_where_it_stopped(hub):
    """Only the missing bytes are asked for."""
    hub.dies_after = [300_000]

    fetch()

    ranges = [one.range for one in hub.asked if one.host == "store"]
    assert ranges == ["", "bytes=300000-"]
    assert (repo_folder(REPO) / "onnx" / "model.onnx").read_bytes() == WEIGHTS


def test_half_of_a_file_from_another_day_is_gone_on_with(hub):
    """The first try fails and keeps what came; the second brings the rest."""
    hub.dies_after = [300_000, *[0] * 20]
    with pytest.raises(Unavailable, match="broke off"):
        fetch()
    hub.dies_after = []
    hub.asked.clear()

    fetch()

    assert [one.range for one in hub.asked if one.host == "store"] == ["bytes=300000-"]
    assert (repo_folder(REPO) / "onnx" / "model.onnx").read_bytes() == WEIGHTS


@pytest.mark.parametrize("name", ["onnx/model.onnx", "config.json"])
def test_a_file_with_another_checksum_is_not_kept(hub, name):
    """SHA-256 where the hub states it, the name that git gives the content otherwise."""
    hub.spoils = True
    wanted = [WantedFile("it", (name,))]

    with pytest.raises(Unavailable, match="checksum"):
        fetch(wanted=wanted)

    assert not (repo_folder(REPO) / name).exists()
    assert not repo_is_here(REPO, wanted)


def test_a_mirror_that_states_nothing_will_do(hub):
    """What came is noted, so damage is still noticed later."""
    hub.says_nothing = True
    into = fetch()
    (into / "config.json").write_bytes(b"{}")

    fetch()

    assert (into / "config.json").read_bytes() == SETTINGS
    assert (into / "onnx" / "model.onnx").read_bytes() == WEIGHTS


def test_a_revision_is_a_folder_of_its_own(hub):
    """By `@` in the name or by argument; branches with a slash, too."""
    hub.revisions |= {"v2", "refs/pr/1"}

    assert fetch(f"{REPO}@v2") == repo_folder(f"{REPO}@v2")
    assert fetch(f"{REPO}@refs/pr/1").name == "refs--pr--1"
    assert not repo_is_here(REPO, WANTED)
    assert repo_is_here(f"{REPO}@v2", WANTED)


def test_a_revision_that_is_none_is_named(hub):
    """It is not mistaken for a missing file."""
    with pytest.raises(Unavailable, match="someone/reranker has no revision 'v9'"):
        fetch(f"{REPO}@v9")


def test_all_missing_files_are_named_before_anything_is_fetched(hub):
    """One sentence with every name that was tried, and no large file in vain."""
    hub.repos[REPO] = {"model.onnx": WEIGHTS, "pytorch_model.bin": WEIGHTS}
    wanted = [*WANTED, WantedFile("tokenizer", ("tokenizer.json", "vocab.json"))]

    with pytest.raises(
        Unavailable,
        match=r"has no settings \(config\.json\) and no tokenizer \(tokenizer\.json or vocab\.json\)",
    ):
        fetch(wanted=wanted)

    assert hub.of("GET") == []


def test_what_lies_beside_a_file_comes_along(hub):
    """Weights too large for the graph are in a file of their own."""
    hub.repos[REPO]["onnx/model.onnx_data"] = b"w" * 1000

    assert (fetch() / "onnx" / "model.onnx_data").read_bytes() == b"w" * 1000


@pytest.mark.parametrize("repo", [REPO, "no/such"])
def test_a_closed_repository_asks_for_a_token(hub, repo):
    """Gated, private and unknown ones look alike from outside."""
    hub.gated_by = SECRET

    with pytest.raises(Unavailable, match=rf"does not show {repo} \(401\).*set HF_TOKEN"):
        fetch(repo)


def test_a_token_opens_a_closed_repository_and_stays_with_the_hub(hub, monkeypatch):
    """It goes along on the hub's own redirections, never to the host of the large files."""
    hub.gated_by = SECRET
    monkeypatch.setenv("HF_TOKEN", f" {SECRET}\n")

    assert (fetch() / "config.json").read_bytes() == SETTINGS

    at_hub = {one.authorization for one in hub.asked if one.host == "hub"}
    at_store = {one.authorization for one in hub.asked if one.host == "store"}
    assert (at_hub, at_store) == ({f"Bearer {SECRET}"}, {""})


@pytest.mark.parametrize("given", [SECRET, f"{SECRET}\nX-Evil: 1", f"{SECRET}é", f"{SECRET} x"])
def test_a_token_is_never_shown(hub, monkeypatch, caplog, given):
    """Neither a wrong one nor one that cannot be sent appears in an error or in the log."""
    hub.gated_by = "another"
    monkeypatch.setenv("HF_TOKEN", given)

    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable, match="HF_TOKEN") as raised:
        fetch()

    told, error = caplog.text, raised.value
    while error is not None:
        told += repr(error)
        error = error.__cause__ or error.__context__
    assert SECRET not in told


@pytest.mark.parametrize(
    "repo",
    "|model|a/b/c|../b|a/..|a/../../b|/a/b|a\\b|a/b@|a/b@../c|a/b@-c|a--b/c|a/b--c|a/b c|a/b?c"
    "|a/b#c|C:/b|a/b\n|https://hub/a/b|a/b@c@d|a/b.|-a/b|a/b@x--y".split("|"),
)
def test_what_is_no_repository_is_refused(hub, repo):
    """The error says how one is written; nothing is asked and nothing is made."""
    for verb in (fetch, parse_repo, repo_folder, lambda one: repo_is_here(one, WANTED)):
        with pytest.raises(InvalidInput, match="owner/name or owner/name@revision"):
            verb(repo)
    assert hub.asked == []


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "a\\x", "C:x", "", "a//x", ".x"])
def test_a_file_outside_the_repository_is_refused(hub, name):
    """No path leads out of the folder."""
    with pytest.raises(InvalidInput, match="file of a repository"):
        fetch(wanted=[WantedFile("it", (name,))])


@pytest.mark.parametrize("endpoint", ["nonsense", "http://", "http://127.0.0.1:1"])
def test_a_hub_that_is_none_is_unavailable(hub, monkeypatch, endpoint):
    """A mistyped HF_ENDPOINT or a closed port is one sentence."""
    monkeypatch.setenv("HF_ENDPOINT", endpoint)

    with pytest.raises(Unavailable, match="cannot be reached"):
        fetch()


def test_a_cache_that_cannot_be_written_is_named(hub, tmp_path, monkeypatch):
    """An unusable folder is one sentence, not a traceback of the operating system."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "file"))

    with pytest.raises(Unavailable, match="cannot be stored"):
        fetch()
    assert not repo_is_here(REPO, WANTED)


def test_a_lock_that_cannot_be_opened_is_not_waited_for(hub):
    """Half an hour is for another process, not for a folder in the lock's place."""
    os.makedirs(repo_folder(REPO) / "fetch.lock")

    with pytest.raises(Unavailable, match=r"fetch\.lock"):
        fetch()


def test_progress_is_reported_up_to_the_whole(hub):
    """The callback sees bytes done and bytes in all."""
    seen = []

    fetch(wanted=WANTED[:1], progress=lambda done, total: seen.append((done, total)))

    assert seen[-1] == (len(WEIGHTS), len(WEIGHTS))
