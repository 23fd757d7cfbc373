"""Power cuts, replayed: record what a process wrote and synced, and rebuild what a disk may hold then.

At the moment of a cut a disk holds all that was synced. Of what was written since the last sync of a file,
each sector may be there or not, in any order. A name that was made, moved or removed since the last sync of
a folder may be there or not, in their order.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.soak.calls import Call, Mode, read_record
from tools.soak.commands import Command, Series, copies_of, states_of
from tools.soak.forks import Request
from tools.soak.rounds import Bench, Outcome
from tools.soak.states import States, copy_problems, problems

COMMANDS = 14
CUTS_PER_RECORD = 25
SECTOR = 512


@dataclass
class Disk:
    """The files of a recorded process: what is safe on the disk, and what was not synced yet."""

    data: dict[int, bytearray] = field(default_factory=lambda: defaultdict(bytearray))
    names: dict[str, int] = field(default_factory=dict)
    unsynced: dict[int, list[Call]] = field(default_factory=lambda: defaultdict(list))
    unsynced_names: list[Call] = field(default_factory=list)

    def take(self, call: Call) -> None:
        """Follow one call."""
        if call.kind in "wt":
            self.unsynced[call.inode].append(call)
        elif call.kind == "s":
            for write in self.unsynced.pop(call.inode, []):
                apply(self.data[call.inode], write)
        elif call.kind == "d":
            for change in self.unsynced_names:
                rename(self.names, change)
            self.unsynced_names = []
        elif call.kind in "crlu":
            self.unsynced_names.append(call)

    def cut(self, chance: random.Random, folder: Path, root: Path) -> None:
        """Write what the disk may hold after a cut now into a folder."""
        names = dict(self.names)
        for change in self.unsynced_names[: chance.randint(0, len(self.unsynced_names))]:
            rename(names, change)
        files: dict[int, bytearray] = {}
        for inode in set(names.values()):
            files[inode] = bytearray(self.data.get(inode, b""))
            for write in survivors(self.unsynced.get(inode, []), chance):
                apply(files[inode], write)
        for name, inode in names.items():
            path = folder / Path(name).relative_to(root)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[inode])


def apply(data: bytearray, call: Call) -> None:
    """Carry out a write or a truncation."""
    if call.kind == "t":
        del data[call.offset :]
        data.extend(bytes(call.offset - len(data)))
        return
    data.extend(bytes(max(0, call.offset - len(data))))
    data[call.offset : call.offset + len(call.data)] = call.data


def rename(names: dict[str, int], call: Call) -> None:
    """Carry out a change of names."""
    if call.kind == "u":
        names.pop(call.name, None)
    elif call.kind == "c":
        names[call.name] = call.inode
    else:
        inode = names.pop(call.name, 0) if call.kind == "r" else names.get(call.name, 0)
        names[call.data.decode()] = inode or call.inode


def survivors(writes: Sequence[Call], chance: random.Random) -> list[Call]:
    """Choose what of the unsynced writes reached the disk: all, none, some, or some sectors."""
    how = chance.choice(("none", "all", "some", "sectors"))
    if how == "none":
        return []
    if how == "all":
        return list(writes)
    kept: list[Call] = []
    for write in writes:
        if how == "some" or write.kind == "t":
            kept += [write] if chance.random() < 0.5 else []
            continue
        for start in range(0, len(write.data), SECTOR):
            if chance.random() < 0.5:
                piece = write.data[start : start + SECTOR]
                kept.append(write._replace(offset=write.offset + start, data=piece))
    return kept


def power_cuts(bench: Bench) -> Outcome:
    """Record series of commands, and cut the power at random calls of each."""
    if bench.forks.library is None:
        return Outcome(skipped="needs Linux and a C compiler")
    chance = random.Random(bench.seed)
    outcome = Outcome()
    while bench.more(outcome.tried) and not outcome.problems:
        folder = bench.folder / f"record{outcome.tried}"
        (folder / "db").mkdir(parents=True)
        series = Series(chance.randrange(1 << 30), folder / "input")
        commands = [command for command, _ in zip(series, range(COMMANDS), strict=False)]
        words = [[*command.words, "--db", str(folder / "db" / "notes.db")] for command in commands]
        log = folder / "record"
        ended = bench.forks.run(Request(words, mode=Mode.RECORD, root=str(folder), log=str(log)))
        if ended.codes != [0] * len(commands):
            outcome.problems.append(f"the commands failed undisturbed: {ended.err[-500:]}")
            break
        outcome.acknowledged += len(commands)
        outcome.kinds.update(command.verb for command in commands)
        cut_record(bench, outcome, folder, commands, chance)
    return outcome


def cut_record(
    bench: Bench, outcome: Outcome, folder: Path, commands: list[Command], chance: random.Random
) -> None:
    """Cut one record at several calls, and check what each cut left."""
    record = list(read_record(folder / "record"))
    moments = sorted(chance.randint(1, len(record)) for _ in range(CUTS_PER_RECORD))
    disk, begun, done, at = Disk(), 0, 0, 0
    for number, moment in enumerate(moments):
        for call in record[at:moment]:
            if call.kind == "m":
                what, which = call.name.split()[:2]
                begun, done = (
                    (int(which) + 1, done) if what == "begin" else (begun, int(which) + 1)
                )
            else:
                disk.take(call)
        at = moment
        left = folder / f"cut{number}"
        left.mkdir()
        disk.cut(chance, left, folder)
        found = after_cut(left, folder, commands, begun, done)
        outcome.tried += 1
        if found:
            outcome.problems += [f"cut at call {moment} of {len(record)}: {one}" for one in found]
            return
        if not bench.more(outcome.tried):
            return


def after_cut(
    left: Path, folder: Path, commands: list[Command], begun: int, done: int
) -> list[str]:
    """Return what is wrong with the store and its copies after a cut."""
    states = states_of(commands, begun, done)
    place = left / "db" / "notes.db"
    if not place.exists():
        return [] if not done else ["the file is gone"]
    if not done and not place.stat().st_size:
        return []  # cut while the store was made
    copies: dict[Path, States] = {}
    known = copies_of((one, states_of(commands, n, n)) for n, one in enumerate(commands[:begun]))
    for path, then in known.items():
        moved = left / path.relative_to(folder)
        states.values[("copy", str(moved))] = states.values.pop(("copy", str(path)))
        copies[moved] = then
    return problems(place, states) + copy_problems(states, copies)
