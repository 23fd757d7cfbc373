"""Models that one process of a user runs for the others, with real processes, sockets and signals."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
import tiny_embedders as tiny

from scrubjay.errors import Unavailable
from scrubjay.models import Passage
from scrubjay.models.process import caller as calling
from scrubjay.models.process import place as placing
from scrubjay.models.process.caller import status
from scrubjay.models.process.place import Place, connect, make_folder, place
from scrubjay.models.registry import load_bundled_reranker, load_embedder
from scrubjay.models.shared import SharedModels
from scrubjay.ops.doctor.installation import check_packages

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="models are shared on Unix only"),
]

PATIENCE_S = 30.0
NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
TEXTS = ["car", "house car", "tree"]
SERVE = """
import sys
from scrubjay.models.process.place import Place
from scrubjay.models.process.server import serve
serve(Place(*sys.argv[1:3]), float(sys.argv[3]))
"""


@pytest.fixture
def folder(tmp_path):
    """A model that is loaded in no time."""
    return str(tiny.make(tmp_path / "tiny"))


@pytest.fixture
def fresh(tmp_path, monkeypatch) -> Iterator[None]:
    """A process that may share models, in a cache of the test's own; what it started ends with it."""
    monkeypatch.setenv("SCRUBJAY_SHARED_MODELS", "1")
    monkeypatch.setenv("SCRUBJAY_CACHE", str(tmp_path / "cache"))
    caller = calling._Caller()
    monkeypatch.setattr(calling, "_caller", caller)
    calling.start_when_needed()
    yield
    caller.hang_up()
    for child in caller.children:
        child.kill()
        child.wait()


def is_here(model) -> bool:
    """True for a model that was loaded in this process."""
    return model._loaded is not None


def in_this_process(folder):
    """Return the vectors and the token vectors that the model gives in this process."""
    model = load_embedder(folder)
    model._wanted = None
    return model.embed_with_tokens(TEXTS)


def stop(pid: int) -> None:
    """Stop a process that this one started, and wait until it stands still."""
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)


def eventually(is_true) -> None:
    """Wait until something is true, up to what only a hang would take."""
    until = time.monotonic() + PATIENCE_S
    while not is_true():
        assert time.monotonic() < until
        time.sleep(0.005)


def test_a_model_runs_in_the_model_process_and_gives_the_same_vectors(fresh, folder):
    """Vectors and token vectors are those of the same model in this process, bit by bit."""
    model = load_embedder(folder)
    model.load()
    vectors, tokens = model.embed_with_tokens(TEXTS)

    own, own_tokens = in_this_process(folder)
    assert not is_here(model)
    assert np.array_equal(vectors, own)
    assert np.array_equal(model.embed(["car"], as_query=True), own[:1])
    assert all(map(np.array_equal, tokens, own_tokens))
    assert (model.dims, model.token_dims, model.device) == (tiny.DIMS, tiny.DIMS, "cpu")
    assert status()["models"] == [model.name]


def test_another_process_uses_the_same_one_and_loads_nothing(fresh, folder):
    """A process that runs one command finds the model process, and does not import onnxruntime."""
    load_embedder(folder).load()
    asked = (
        "import sys; from scrubjay.models.registry import load_embedder;"
        "from scrubjay.models.process import caller;"
        f"load_embedder({folder!r}).embed(['car']);"
        "print(caller.ask({'call': 'status'}).result['pid'], 'onnxruntime' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == [str(status()["pid"]), "False"]


def test_a_model_that_is_loaded_elsewhere_is_ready_at_once(fresh, folder):
    """An agent that starts beside others answers its first search with the model."""
    other = load_embedder(folder)
    other.load()
    models = SharedModels()
    loader = models.embedder(folder)
    loader.begin()

    assert loader.ready()
    assert not is_here(loader.model)


def test_doctor_names_the_model_process(fresh, folder):
    """It says what runs there and for how many, and starts none itself."""

    def said() -> str:
        (found,) = [one for one in check_packages() if one.component == "model process"]
        assert found.state == "ok"
        return found.detail

    assert said().startswith("none runs")
    model = load_embedder(folder)
    model.load()
    assert f"{status()['pid']} runs {model.name} for 0 processes" in said()  # of others


def test_a_process_that_runs_one_command_starts_none(fresh, folder):
    """It loads the model itself, and leaves no process behind."""
    calling._caller.starts = False
    model = load_embedder(folder)
    model.embed(TEXTS)

    assert is_here(model)
    assert status() is None


def test_with_the_setting_0_nothing_is_shared(fresh, folder, monkeypatch):
    """SCRUBJAY_SHARED_MODELS=0 loads models as before."""
    monkeypatch.setenv("SCRUBJAY_SHARED_MODELS", "0")
    model = load_embedder(folder)
    model.load()

    assert is_here(model)
    assert not os.path.exists(place().folder)


def test_a_model_process_that_is_killed_in_the_middle_of_a_request_is_replaced(fresh, folder):
    """Another one is elected, and the request that was under way is answered."""
    model = load_embedder(folder)
    model.load()
    killed = status()["pid"]
    stop(killed)  # it cannot answer before it is killed
    found: list[np.ndarray] = []
    asking = threading.Thread(target=lambda: found.append(model.embed(TEXTS)))
    asking.start()
    eventually(lambda: not calling._caller._idle)
    os.kill(killed, signal.SIGKILL)
    asking.join(PATIENCE_S)

    assert np.array_equal(found[0], in_this_process(folder)[0])
    assert not is_here(model)
    assert status()["pid"] != killed


def test_a_model_process_that_does_not_answer_is_not_waited_for(fresh, folder, monkeypatch):
    """One that hangs is silent, and then the model runs here."""
    model = load_embedder(folder)
    model.load()
    monkeypatch.setattr(calling, "_SILENCE_S", 0.2)
    stop(status()["pid"])

    assert np.array_equal(model.embed(TEXTS), in_this_process(folder)[0])
    assert is_here(model)


def test_one_that_works_for_long_says_so_and_is_waited_for(fresh, monkeypatch):
    """While an answer is computed, the other side hears that, and goes on waiting."""
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(calling, "_SILENCE_S", 0.3)
    from scrubjay.models.process.messages import BEAT, receive, send

    def work() -> None:
        receive(theirs)
        for _ in range(4):
            time.sleep(0.1)
            theirs.sendall(BEAT)
        send(theirs, {"result": "done"})

    threading.Thread(target=work, daemon=True).start()
    assert calling._caller._exchange(ours, {"call": "status"}).result == "done"
    calling.hang_up()
    theirs.close()


def test_of_several_that_start_at_once_one_stays(fresh, folder):
    """The lock of the name elects one; the others end without an error."""
    at = place()
    make_folder(at)
    command = [sys.executable, "-c", SERVE, *at, "20"]
    started = [subprocess.Popen(command) for _ in range(3)]
    try:
        eventually(lambda: sum(one.poll() == 0 for one in started) == 2)
        (left,) = [one for one in started if one.poll() is None]
        assert status()["pid"] == left.pid
    finally:
        for one in started:
            one.kill()
            one.wait()


def test_it_ends_when_no_process_is_connected(fresh):
    """No process is left behind, and neither is its socket."""
    at = place()
    make_folder(at)
    one = subprocess.Popen([sys.executable, "-c", SERVE, *at, "0.3"])
    calling._caller.starts = False
    eventually(lambda: status() is not None)
    time.sleep(0.6)
    assert one.poll() is None  # this process is connected
    calling.hang_up()

    assert one.wait(PATIENCE_S) == 0
    assert not os.path.lexists(at.socket)


def test_where_no_socket_can_be_the_model_runs_here(fresh, folder, tmp_path, monkeypatch):
    """A path that is too long, or a folder that cannot be created: nothing is started."""
    (tmp_path / "file").touch()
    for cache in (tmp_path / ("long" * 30), tmp_path / "file"):
        monkeypatch.setenv("SCRUBJAY_CACHE", str(cache))
        model = load_embedder(folder)
        model.load()

        assert is_here(model)
    assert calling._caller.children == []


def test_what_is_not_our_socket_is_not_used(fresh, folder, caplog):
    """A file in the place of the socket stays as it is, and the model runs here."""
    at = place()
    make_folder(at)
    with open(at.socket, "w") as file:
        file.write("mine")
    model = load_embedder(folder)
    model.load()

    assert is_here(model)
    assert "is not a socket of this user" in caplog.text
    with open(at.socket) as file:
        assert file.read() == "mine"


@pytest.mark.parametrize("change", ["open to others", "of another user", "a link"])
def test_a_folder_that_is_not_private_is_not_used(fresh, folder, tmp_path, change):
    """Others could put a socket there; nothing is connected to, and the model runs here."""
    at = place()
    make_folder(at)
    if change == "open to others":
        os.chmod(at.folder, 0o777)
    elif change == "a link":
        os.rename(at.folder, tmp_path / "moved")
        os.symlink(tmp_path / "moved", at.folder)
    elif os.getuid() == 0:
        os.chown(at.folder, 12345, 12345)
    else:
        pytest.skip("only root can give a folder away")
    model = load_embedder(folder)
    model.load()

    assert is_here(model)
    assert os.listdir(at.folder) == []


def test_a_process_of_another_user_is_refused(monkeypatch):
    """The system says whose process is at the other end, where it can."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert placing.check_peer(ours) in (0, os.getpid())
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        with pytest.raises(placing.Refused, match="user"):
            placing.check_peer(ours)


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\x00\x00\x02\x00\x00",
        b"\x00\x00\x00\x02\x00\x00\x00\x00[]",
        b"\x00\x00\x00\x02\x00\x00\x00\x00{}",
        b"\x00\x00\x00\x06\x00\x00\x00\x00[[[[[[",
        b"\xff" * 64,
        b'\x00\x00\x00\x10\x00\x00\x00\x00{"model": null}\n',
        b'\x00\x00\x00\x10\x00\x00\x00\x00{"model"',
    ],
)
def test_garbage_and_half_a_message_end_one_connection_only(serving, sent):
    """It is refused, and the process goes on answering others."""
    with connect(serving) as sock:
        sock.sendall(sent)
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(PATIENCE_S)
        try:
            answer = sock.recv(4096)
        except ConnectionResetError:
            answer = b""
    assert answer == b"" or b"refused" in answer

    with connect(serving) as sock:
        reply = calling._Caller()._exchange(sock, {"call": "status"})
    assert reply.result["pid"] == os.getpid()


@pytest.mark.parametrize(
    "request_",
    [
        {"model": {"role": "reader", "files": "x"}, "call": "load", "arguments": {}},
        {"model": {"role": "shell", "files": "x"}, "call": "load", "arguments": {}},
        {
            "model": {"role": "embedder", "spec": "http://x/v1#y", "files": "x"},
            "call": "load",
            "arguments": {},
        },
        {
            "model": {"role": "embedder", "spec": "potion-base-8M", "files": "x"},
            "call": "load",
            "arguments": {},
        },
        {"model": {"role": "embedder", "files": "x"}, "call": "load", "arguments": {}},
    ],
)
def test_what_is_not_a_local_model_is_not_loaded_for_others(serving, request_):
    """No model on a server, no plug-in, nothing without its files: the asking process gets no answer."""
    caller = calling._Caller()
    with connect(serving) as sock:
        with pytest.raises((calling.BadMessage, Unavailable)):
            caller._exchange(sock, request_)
        caller.hang_up()


@pytest.fixture
def serving(fresh) -> Iterator[Place]:
    """A model process in a thread of this process."""
    from scrubjay.models.process.server import _Server

    at = place()
    make_folder(at)
    thread = threading.Thread(target=_Server(at, 0.1).run)
    holding: list[socket.socket] = []
    thread.start()
    eventually(lambda: (sock := connect(at)) is not None and holding.append(sock) is None)
    yield at
    calling.hang_up()
    holding[0].close()
    thread.join(PATIENCE_S)


def test_a_model_with_other_files_is_not_answered_for(fresh, folder, tmp_path):
    """A process that has other files under the same name gets no vectors of the wrong ones."""
    model = load_embedder(folder)
    model.load()
    tiny.make(tmp_path / "other", sentence=True)
    (tmp_path / "other" / "model.onnx").replace(tmp_path / "tiny" / "model.onnx")
    changed = load_embedder(folder)
    changed.load()

    own = in_this_process(folder)[0]
    assert np.array_equal(changed.embed(TEXTS), own)
    assert not np.array_equal(model.embed(TEXTS), own)


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (placing, "__version__", "9.9.9"),
        (placing, "PROTOCOL", 99),
        (placing, "_PACKAGE", "/elsewhere"),
        (placing, "default_threads", lambda: 64),
        (placing, "device", lambda: "cuda"),
    ],
)
def test_what_must_be_equal_is_part_of_the_name(fresh, monkeypatch, module, name, value):
    """Another version, device or number of cores has a model process of its own."""
    before = place()
    monkeypatch.setattr(module, name, value)

    assert place().folder == before.folder
    assert place().name != before.name


def test_the_device_of_the_settings_is_that_of_the_model_process(fresh, folder, monkeypatch):
    """A device that this machine does not have is the same error as without sharing."""
    monkeypatch.setenv("SCRUBJAY_DEVICE", "directml")
    with pytest.raises(Unavailable, match="DmlExecutionProvider"):
        load_embedder(folder).load()


@pytest.mark.model
def test_reranker_and_reader_say_the_same_there(fresh, bundled_models, reader):
    """Scores, relations and probabilities, with the dates of the notes."""
    notes = [Passage("I live in Rome", NOON), Passage("I moved to Paris", NOON + timedelta(9))]
    asked = "where do I live?", NOON + timedelta(30), [*notes, Passage("no date", None)]
    ranker = load_bundled_reranker()
    there = (
        ranker.score("where?", ["in Rome", "no \ud800"]),
        reader.relations([(notes[0], notes[1])]),
        reader.answers(*asked),
    )
    assert not is_here(ranker)
    assert not is_here(reader)
    ranker._wanted = reader._wanted = None

    assert ranker.score("where?", ["in Rome", "no \ud800"]) == there[0]
    assert reader.relations([(notes[0], notes[1])]) == there[1]
    assert reader.answers(*asked) == there[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_connections_of_its_own(fresh, folder):
    """Two processes never read answers from one connection."""
    model = load_embedder(folder)
    model.load()
    inherited = [sock.fileno() for sock in calling._caller._idle]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # no assertion here: it must end without running pytest's own end
        try:
            os.write(writing, model.embed(["tree"]).tobytes())
        finally:
            os._exit(0 if not set(inherited) & {s.fileno() for s in calling._caller._idle} else 1)
    own = model.embed(["car"])
    _, code = os.waitpid(child, 0)
    os.close(writing)
    theirs = np.frombuffer(os.read(reading, 4096), np.float32)
    os.close(reading)

    assert code == 0
    expected = in_this_process(folder)[0]
    assert np.array_equal(own[0], expected[0])
    assert np.array_equal(theirs, expected[2])
