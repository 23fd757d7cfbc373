"""What the other processes of these tests do: `python workers.py JOB …`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

import scrubjay
from scrubjay.ops.promote import mirror as mirroring
from scrubjay.ops.promote.run import demote, promote
from scrubjay.storage.postgres.mirror import PostgresMirror
from scrubjay.storage.sqlite.backup import SqliteMirror


def say(*words: object) -> None:
    """Tell the test something it can rely on: it is out of this process before we go on."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def move(job: str, source: str, target: str) -> None:
    """Move a store in small steps, and say of each that it is done; wait before the source is retired."""
    mirroring.PAGE = 10
    mirroring._PAGES = {}

    def wait(_: object, moved_to: str, mark: int, aside: str) -> None:
        say("complete", moved_to)
        time.sleep(60)

    for kind in (SqliteMirror, PostgresMirror):
        kind.retire = wait  # type: ignore[method-assign]

    (promote if job == "promote" else demote)(
        source, target, progress=lambda done, total, table: say("step", done, total, table)
    )


def write(path: str) -> None:
    """Add memories one by one until that is refused, and acknowledge each."""
    with scrubjay.open(path, embedder=False, user="ann") as store:
        say("ready")
        try:
            for n in range(100_000):
                say("added", store.add(f"live{n} is remembered while all is moved").id)
        except scrubjay.StoreError as error:
            say("refused", error)


if __name__ == "__main__":
    name, *given = sys.argv[1:]
    write(*given) if name == "write" else move(name, *given)
