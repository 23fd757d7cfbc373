"""One measurement in a process of its own: `python -m bench.million_child WHAT SYSTEM CORPUS SIZE FOLDER`.

It prints one line of JSON. What it imports and holds is counted for this system alone.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from bench.million_systems import BY_NAME, Kind, Peer
from bench.natural import Natural

WARM_UP = 8
ROUNDS = 2


def main(what: str, system: str, corpus: str, size: str, folder: str) -> None:
    """Build, open or ask."""
    natural, peer, home = Natural(Path(corpus), int(size)), BY_NAME[system], Path(folder)
    if what == "build":
        measured: Mapping[str, object] = _build(peer, natural, home)
    elif what == "open":
        measured = _open(peer, natural, home)
    else:
        measured = _ask(peer, natural, home, next(kind for kind in peer.kinds if kind == what))
    print(json.dumps(measured))


def _build(peer: Peer, natural: Natural, home: Path) -> Mapping[str, object]:
    """Fill a store, or go on; the seconds of an earlier, killed run are added up in `spent`."""
    home.mkdir(parents=True, exist_ok=True)
    noted = home.with_suffix(".spent")
    spent = json.loads(noted.read_text()) if noted.exists() else [0.0, 0.0]
    cpu, wall = time.process_time(), time.perf_counter()
    filling = peer.fill(home, natural)
    done = filling.count()
    for part in natural.parts(done):
        if part.first < done:  # it was killed within a part, which this system commits at once
            raise RuntimeError(f"{home} has {done} memories, which is no whole part: delete it")
        filling.add(part)
        total = [spent[0] + time.process_time() - cpu, spent[1] + time.perf_counter() - wall]
        noted.write_text(json.dumps(total))
        print(f"{peer.name}: {part.first + len(part.texts):,}", file=sys.stderr, flush=True)
    filling.finish()
    total = [spent[0] + time.process_time() - cpu, spent[1] + time.perf_counter() - wall]
    return {"cpu_s": total[0], "wall_s": total[1]}


def _open(peer: Peer, natural: Natural, home: Path) -> Mapping[str, object]:
    """Open a store and have the first question answered."""
    questions = natural.questions()
    began_cpu, began = time.process_time(), time.perf_counter()
    asking = peer.open(home)
    opened = time.process_time() - began_cpu, time.perf_counter() - began
    asking.ask(peer.kinds[0], questions.texts[0], questions.vectors[0])
    answered = time.process_time() - began_cpu, time.perf_counter() - began
    return {"open_s": opened, "first_answer_s": answered}


def _ask(peer: Peer, natural: Natural, home: Path, kind: Kind) -> Mapping[str, object]:
    from bench.measure import peak_bytes

    questions = natural.questions()
    asking = peer.open(home)
    pairs = list(zip(questions.texts, questions.vectors, strict=True))
    for text, vector in pairs[:WARM_UP]:
        asking.ask(kind, text, vector)
    cpu_s: list[float] = []
    wall_s: list[float] = []
    ids: list[list[str]] = []
    for turn in range(ROUNDS * len(pairs)):
        text, vector = pairs[turn % len(pairs)]
        wall, cpu = time.perf_counter(), time.process_time()
        found = asking.ask(kind, text, vector)
        cpu_s.append(time.process_time() - cpu)
        wall_s.append(time.perf_counter() - wall)
        if turn < len(pairs):
            ids.append(found)
    return {"cpu_s": cpu_s, "wall_s": wall_s, "ids": ids, "peak": peak_bytes()}


if __name__ == "__main__":
    main(*sys.argv[1:])
