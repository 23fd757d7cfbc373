"""Ten processes on one store: writers, readers, a server and a watched folder, some of them killed.

The seed repeats the commands of each process, not how they meet.
"""

from __future__ import annotations

import json
import random
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tools.soak.commands import WORDS, Series
from tools.soak.forks import Ended, Forks, Request
from tools.soak.rounds import Bench, Outcome
from tools.soak.states import Key, States, Value, problems

WRITERS = 5
READERS = 3
APART = 1_000_000  # the numbers of two writers
KILLED = 0.25  # the share of the commands that write
LONGEST_S = 0.5
LIFE_S = (1.0, 4.0)  # of the server and of the process that watches
HTTP_TIMEOUT_S = 30.0
VERBS = (
    "add",
    "add",
    "update",
    "forget",
    "link",
    "feedback",
    "key",
    "import",
    "ingest",
    "reindex",
)
READS = (
    ["search", "kettle harbour"],
    ["query", "the lantern of the orchard"],
    ["ls"],
    ["export"],
    ["status"],
    ["verify"],
)
NOTHING_FOUND = 3


@dataclass
class Shared:
    """What the processes of a round share: the store, the count of kills, and what was found wrong."""

    bench: Bench
    place: Path
    outcome: Outcome = field(default_factory=Outcome)
    states: States = field(default_factory=States)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def more(self) -> bool:
        return self.bench.more(self.outcome.tried) and not self.outcome.problems

    def begin(self, effects: dict[Key, Value]) -> None:
        with self.lock:
            self.states.begin(effects)

    def done(self, effects: dict[Key, Value]) -> None:
        with self.lock:
            self.states.done(effects)
            self.outcome.acknowledged += 1

    def ended(self, ended: Ended, words: Iterable[str], wrong: Iterable[int] = ()) -> None:
        """Note how a command ended; an exit code may be wrong where it was not killed."""
        how = " ".join(words)[:100]
        with self.lock:
            if ended.signal:
                self.outcome.tried += 1
                self.outcome.kinds[how.split()[0]] += 1
            if ended.traceback:
                self.outcome.problems.append(f"`{how}` ended with a traceback:\n{ended.traceback}")
            elif ended.hung:
                self.outcome.problems.append(f"`{how}` did not end")
            elif not ended.signal and ended.codes[0] in wrong:
                said = (ended.err or ended.out)[-300:]
                self.outcome.problems.append(f"`{how}` ended with {ended.codes[0]}: {said}")


def processes(bench: Bench) -> Outcome:
    """Let ten processes work until the time is up; then look what is there."""
    shared = Shared(bench, bench.folder / "notes.db")
    chance = random.Random(bench.seed)
    seeds = [chance.randrange(1 << 30) for _ in range(WRITERS + READERS + 2)]
    jobs: list[Callable[[Shared, Forks, int, Path], None]] = [write] * WRITERS
    jobs += [read] * READERS + [serve, watch]
    with ExitStack() as opened:
        threads = []
        for number, (job, seed) in enumerate(zip(jobs, seeds, strict=True)):
            folder = bench.folder / f"process{number}"
            folder.mkdir()
            forks = opened.enter_context(Forks(folder, None))
            threads.append(threading.Thread(target=job, args=(shared, forks, seed, folder)))
        # The store is made first: a reader of none would find nothing.
        bench.forks.command("add", "--text", "the first document0", "--db", str(shared.place))
        shared.done({("document", "document0"): ""})
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    outcome = shared.outcome
    if not outcome.problems:
        outcome.problems += problems(shared.place, shared.states)
    return outcome


def write(shared: Shared, forks: Forks, seed: int, folder: Path) -> None:
    """Run commands that write, and kill some of them."""
    chance = random.Random(seed)
    first = APART * (1 + int(folder.name.removeprefix("process")))
    series = Series(seed, folder / "input", first)
    while shared.more():
        command = series.next(chance.choice(VERBS))
        after_s = chance.uniform(0, LONGEST_S) if chance.random() < KILLED else None
        effects = dict(command.effects)
        shared.begin(effects)
        ended = forks.run(
            Request([[*command.words, "--db", str(shared.place)]], kill_after_s=after_s)
        )
        if ended.codes == [0]:
            shared.done(effects)
        # What it needs may be missing, where the command that writes it was killed: then it says so.
        shared.ended(ended, command.words, wrong=(1,))


def read(shared: Shared, forks: Forks, seed: int, folder: Path) -> None:
    """Run commands that read; none may fail because others write."""
    chance = random.Random(seed)
    while shared.more():
        words = chance.choice(READS)
        ended = forks.run(Request([[*words, "--db", str(shared.place)]]))
        shared.ended(ended, words, wrong=(1, 2))


def serve(shared: Shared, forks: Forks, seed: int, folder: Path) -> None:
    """Kill servers, and start others, while requests are sent to them."""
    chance = random.Random(seed)
    path = folder / "socket"
    ending = threading.Event()
    client = threading.Thread(target=ask, args=(shared, path, ending))
    client.start()
    words = ["serve", "--socket", str(path), "--db", str(shared.place)]
    while shared.more():
        shared.ended(
            forks.run(Request([words], kill_after_s=chance.uniform(*LIFE_S))), words, wrong=(1, 2)
        )
        path.unlink(missing_ok=True)
    ending.set()
    client.join()


def ask(shared: Shared, path: Path, ending: threading.Event) -> None:
    """Add memories over HTTP, one after another, and note those that were acknowledged."""
    number = 0
    while not ending.is_set():
        number += 1
        id_, text = f"h{number}", f"sent{number} of the {WORDS[number % len(WORDS)]}"
        effects: dict[Key, Value] = {("memory", id_): text}
        shared.begin(effects)
        if post(path, {"id": id_, "text": text}):
            shared.done(effects)
        else:
            ending.wait(0.05)


class UnixConnection(HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=HTTP_TIMEOUT_S)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(HTTP_TIMEOUT_S)
        self.sock.connect(self._path)


def post(path: Path, memory: dict[str, str]) -> bool:
    """Send a memory; True if the server acknowledged it."""
    connection = UnixConnection(path)
    try:
        body = json.dumps(memory)
        connection.request("POST", "/v1/add", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
    except (OSError, HTTPException):  # the server was killed, or does not listen yet
        return False
    finally:
        connection.close()
    return answer.status in (200, 201)


def watch(shared: Shared, forks: Forks, seed: int, folder: Path) -> None:
    """Kill processes that watch a folder while files are written there; in the end all are read."""
    chance = random.Random(seed)
    notes = folder / "notes"
    notes.mkdir()
    words = ["ingest", str(notes), "--watch", "--db", str(shared.place)]
    number = 0
    while shared.more():
        forks.begin(Request([words], kill_after_s=chance.uniform(*LIFE_S)))
        ending = threading.Event()
        writer = threading.Thread(target=write_notes, args=(shared, notes, number, ending))
        writer.start()
        shared.ended(forks.end(), words, wrong=(1, 2))
        ending.set()
        writer.join()
        number += 1
    ended = forks.command("ingest", str(notes), "--db", str(shared.place))
    shared.ended(ended, words, wrong=(1, 2))
    for path in notes.iterdir():
        shared.done({("document", path.stem): ""})


def write_notes(shared: Shared, notes: Path, number: int, ending: threading.Event) -> None:
    """Write a file now and then."""
    count = 0
    while not ending.wait(0.2):
        count += 1
        name = f"watched{number}x{count}"
        shared.begin({("document", name): ""})
        (notes / f"{name}.md").write_text(f"{name} lies near the {name}\n", "utf-8")
