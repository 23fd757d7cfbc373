"""What the other processes of these tests do: `python workers.py JOB PATH NAME …`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from fakes import HashingEmbedder

import scrubjay
from scrubjay.write import embed_worker


def say(*words: object) -> None:
    """Tell the test something it can rely on: it is out of this process before we go on."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def write(path: str, name: str, count: str) -> None:
    """Add so many memories, one by one, and acknowledge each after `add` has returned."""
    with scrubjay.open(path, embedder=HashingEmbedder(32)) as store:
        say("ready")
        for n in range(int(count)):
            say("added", store.add(f"{name} wrote note{n} about {name}x{n}").id)


def fast_write(path: str, name: str, count: str) -> None:
    """Add so many memories in batches of ten."""
    with scrubjay.open(path, embedder=HashingEmbedder(32)) as store:
        say("ready")
        for start in range(0, int(count), 10):
            store.add_many(
                {"text": f"{name} wrote note{n} about {name}x{n}"}
                for n in range(start, start + 10)
            )
            say("batch", start)


def edit(path: str, name: str, count: str) -> None:
    """Once told to begin, insert so many lines into one file of the store, and change each of them."""
    with scrubjay.open(path, embedder=False) as store:
        say("ready")
        sys.stdin.readline()
        for n in range(int(count)):
            store.files.insert("/memories/plan.md", 0, f"{name}x{n} todo")
            store.files.str_replace("/memories/plan.md", f"{name}x{n} todo", f"{name}x{n} done")
            say("edited", n)


def search(path: str, *names: str) -> None:
    """Search without a pause until told to stop; every answer must hold what was found before."""
    import threading

    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    with scrubjay.open(path, embedder=HashingEmbedder(32)) as store:
        say("ready")
        searches, seen = 0, 0
        while not stop.is_set():
            for mode in ("keyword", "vector", "default"):
                found = store.search(f"{names[0]} wrote", mode=mode, limit=1000)
                if mode == "keyword":
                    assert len(found) >= seen, f"{seen} were found before, now {len(found)}"
                    seen = len(found)
                searches += 1
        say("searches", searches)


def churn(path: str, name: str) -> None:
    """Add, update, link and forget for ever; acknowledge what must hold from then on."""
    embed_worker.LEASE_S = (
        1.0  # so that the test need not wait until a dead process's claims run out
    )
    with scrubjay.open(path, embedder=HashingEmbedder(32)) as store:
        say("ready")
        n, last = 0, None
        while True:
            kept = store.add(f"{name} keeps note{n}", topics=[name], links=[last] if last else [])
            say("added", kept.id)
            if n % 3 == 1:
                say("updating", kept.id)
                store.update(kept.id, text=f"{name} changed note{n} twice")
                say("updated", kept.id)
            if n % 4 == 3:
                say("forgetting", kept.id)
                store.forget(kept.id)
                say("forgot", kept.id)
                kept = None
            last = kept.id if kept else None
            n += 1


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
