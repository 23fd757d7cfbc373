"""Growth from 10,000 to a million memories, beside peers; results are kept, so that a killed run goes on.

Each figure comes from a child process of its own: a build, a cold open, each kind of search. A figure that
is there is not measured again; `--fresh NAME` forgets those of one system.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.hybrid import overlap
from bench.measure import child_s, disk_bytes, middle, percentile
from bench.million_systems import KINDS, PEERS, Kind, Peer
from bench.natural import Natural
from bench.plot import Line, Panel, svg
from bench.report import Row, size, times

SIZES = (10_000, 100_000, 1_000_000)
_OPENS = 5
_MILLION = 1_000_000
# The goals.
_MOST_TIMES = {
    ("keyword", "tantivy", _MILLION): 2.0,
    ("hybrid", "lancedb", _MILLION): 1 / 3,
    ("hybrid", "lancedb", 10_000): 1 / 4,
    ("hybrid", "chromadb", 10_000): 1 / 4,
}
_MOST_HYBRID_S = 0.06
_MOST_OPEN_S = 0.5
_MOST_BYTES = 700e6
_MOST_WEIGHT = 1.2
_LEAST_RECALL = 0.99

Say = Callable[[str], None]
Measured = Mapping[str, Any]


def measure(
    home: Path, say: Say, sizes: Sequence[int], fresh: Sequence[str], *, alone: bool
) -> tuple[list[Row], str]:
    """Return all rows and the plot; what is kept in `home` is used again."""
    known = [peer.name for peer in PEERS]
    if unknown := [name for name in fresh if name not in (*known, "all")]:
        raise SystemExit(f"there is no system {unknown[0]}; there are: all, {', '.join(known)}")
    found: dict[tuple[str, int], Measured] = {}
    raw: dict[int, int] = {}
    peers = [peer for peer in PEERS if find_spec(peer.package) and not (alone and peer.most)]
    for count in sizes:
        corpus = Natural(home / f"corpus-{count}", count)
        say(f"{count:,} memories: the corpus")
        corpus.make()
        raw[count] = corpus.raw_bytes()
        for peer in peers[:1] if alone else peers:
            if peer.most is not None and count > peer.most:
                continue
            if peer.name in fresh or "all" in fresh:
                _forget(home, peer, count)
            found[peer.name, count] = _measured(home, peer, corpus, say)
    wanted = {count: Natural(home / f"corpus-{count}", count).questions() for count in sizes}
    rows = []
    for count in sizes:
        here = {peer: found[peer.name, count] for peer in peers if (peer.name, count) in found}
        nearest = [[str(number) for number in line] for line in wanted[count].nearest]
        rows += _rows(here, count, raw[count], nearest)
    return rows, _plot(found, peers, sizes)


def notes() -> str:
    """Say how each system was used."""
    return "\n".join(f"- {peer.name}: {peer.how}." for peer in PEERS if find_spec(peer.package))


def _forget(home: Path, peer: Peer, count: int) -> None:
    kept = home / f"stores-{count}"
    shutil.rmtree(kept / peer.folder, ignore_errors=True)
    for file in (*kept.glob(f"{peer.folder}.*"), *home.glob(f"{peer.folder}-{count}.json")):
        file.unlink()


def _measured(home: Path, peer: Peer, corpus: Natural, say: Say) -> Measured:
    """Measure what is missing of one system at one size."""
    kept = home / f"{peer.folder}-{corpus.size}.json"
    noted: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    store = home / f"stores-{corpus.size}" / peer.folder

    def child(what: str) -> tuple[float, Measured]:
        command = [sys.executable, "-m", "bench.million_child", what, peer.folder]
        spent, done = child_s([*command, str(corpus.folder), str(corpus.size), str(store)])
        answer: Measured = json.loads(done.stdout.splitlines()[-1])
        return spent, answer

    def note(name: str, value: object) -> None:
        noted[name] = value
        noted["measured"] = f"{datetime.now(UTC):%Y-%m-%d}"
        draft = kept.with_suffix(".draft")
        draft.write_text(json.dumps(noted))
        draft.replace(kept)

    if "build" not in noted:
        say(f"{corpus.size:,} memories: filling {peer.name}")
        _, built = child("build")
        note("build", built)
        note("disk", disk_bytes(store))
    if "open" not in noted:
        say(f"{corpus.size:,} memories: opening {peer.name}")
        opened = [child("open")[1] for _ in range(_OPENS)]
        names = ("open_s", "first_answer_s")
        note(
            "open",
            {name: [middle([one[name][at] for one in opened]) for at in (0, 1)] for name in names},
        )
    for kind in peer.kinds:
        if kind not in noted:
            say(f"{corpus.size:,} memories: {kind} search in {peer.name}")
            note(kind, child(kind)[1])
    return noted


def _rows(
    found: Mapping[Peer, Measured], count: int, raw: int, nearest: Sequence[list[str]]
) -> list[Row]:
    at = f"{count // 1000}k" if count < _MILLION else f"{count / 1e6:g}M"
    rows = []
    for peer, one in found.items():
        rows += [_filled(peer, one, count, raw, at), _opened(peer, one, count, at)]
    own = found[PEERS[0]]
    for kind in KINDS:
        for peer, one in found.items():
            if kind in one:
                rows.append(_asked(peer, one[kind], own[kind], kind, count, nearest, at))
    return rows


def _filled(peer: Peer, one: Measured, count: int, raw: int, at: str) -> Row:
    built, weight = one["build"], one["disk"] / raw
    figure = (
        f"{count / built['cpu_s']:,.0f} memories a second of CPU,"
        f" {count / built['wall_s']:,.0f} a second of wall time; {size(one['disk'] / count)} each"
    )
    if "vector" not in peer.kinds:
        return Row(f"{at}: {peer.name}, filled with text alone", figure)
    figure += f", {times(weight)} the raw text and float32 vectors"
    what = f"{at}: {peer.name}, filled with text and vectors"
    if peer is not PEERS[0]:
        return Row(what, figure)
    return Row(what, figure, f"at most {_MOST_WEIGHT}x the raw data", weight <= _MOST_WEIGHT)


def _opened(peer: Peer, one: Measured, count: int, at: str) -> Row:
    (cpu_s, wall_s), (first_cpu_s, first_s) = one["open"]["open_s"], one["open"]["first_answer_s"]
    figure = (
        f"{_ms(cpu_s)} CPU ({_ms(wall_s)} wall); with the first answer {_ms(first_cpu_s)}"
        f" ({_ms(first_s)} wall)"
    )
    what = f"{at}: {peer.name}, cold open"
    if peer is PEERS[0] and count >= _MILLION:
        return Row(what, figure, f"at most {_MOST_OPEN_S} s of CPU", cpu_s <= _MOST_OPEN_S)
    return Row(what, figure)


def _asked(
    peer: Peer,
    asked: Measured,
    own: Measured,
    kind: Kind,
    count: int,
    nearest: Sequence[list[str]],
    at: str,
) -> Row:
    p50, p95 = (percentile(asked["cpu_s"], share) for share in (0.5, 0.95))
    figure = f"{_ms(p50)} CPU p50, {_ms(p95)} p95, {_ms(middle(asked['wall_s']))} wall p50"
    ratio = percentile(own["cpu_s"], 0.5) / p50
    if peer is not PEERS[0]:
        figure += f"; scrubjay takes {times(ratio)}"
    if kind == "vector":
        figure += f"; recall@10 {overlap(asked['ids'], nearest):.3f}"
    if asked["peak"]:
        figure += f"; peak memory {size(asked['peak'])}"
    goal, met = "", None
    most = _MOST_TIMES.get((kind, peer.package, count))
    if most is not None:
        goal, met = f"scrubjay takes at most {most:.2g}x", ratio <= most
    elif peer is PEERS[0] and kind == "hybrid" and count >= _MILLION:
        goal = f"at most {_ms(_MOST_HYBRID_S)} CPU and {size(_MOST_BYTES)}"
        met = p50 <= _MOST_HYBRID_S and (asked["peak"] or 0) <= _MOST_BYTES
    elif peer is PEERS[0] and kind == "vector":
        goal, met = (
            f"recall at least {_LEAST_RECALL}",
            overlap(asked["ids"], nearest) >= _LEAST_RECALL,
        )
    return Row(f"{at}: {kind}, {peer.name}", figure, goal, met)


def _plot(
    found: Mapping[tuple[str, int], Measured], peers: Sequence[Peer], sizes: Sequence[int]
) -> str:
    panels = []
    for kind in KINDS:
        lines = []
        for peer in peers:
            points = [
                (count, 1e3 * percentile(found[peer.name, count][kind]["cpu_s"], 0.5))
                for count in sizes
                if kind in found.get((peer.name, count), {})
            ]
            if points:
                lines.append(Line(peer.name, points))
        panels.append(Panel(f"{kind}: CPU p50, ms", lines))
    return svg("CPU of a search by number of memories", panels)


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms" if seconds < 0.1 else f"{1e3 * seconds:,.0f} ms"
