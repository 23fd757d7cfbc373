"""Kill commands at a call that changes a file, or let such a call fail; then look what is there."""

from __future__ import annotations

import errno
import random
from pathlib import Path

from tools.soak.calls import Mode
from tools.soak.commands import Command, Series, copies_of
from tools.soak.forks import Ended, Request
from tools.soak.rounds import Bench, Outcome
from tools.soak.states import States, copy_problems, problems

CHECK_EVERY = 8
NEW_STORE_EVERY = 60
UNDISTURBED = (
    0.4  # the share of commands that run to their end, so that there is something to lose
)
FAILED = 1  # the exit code of a command that could not do its work
LONGEST_S = 0.4  # where calls cannot be watched, a command is killed within this time
ERRORS = (errno.EIO, errno.ENOSPC)


def kills(bench: Bench) -> Outcome:
    """Kill each command before a random call."""
    return disturb(bench, (Mode.KILL,))


def io_errors(bench: Bench) -> Outcome:
    """Let a random call fail, once or from then on, as a broken or a full disk does."""
    if bench.forks.library is None:
        return Outcome(skipped="needs Linux and a C compiler")
    return disturb(bench, (Mode.FAIL, Mode.FAIL_ON))


def disturb(bench: Bench, modes: tuple[Mode, ...]) -> Outcome:
    """Run series of commands, disturb most of them, and check the store now and then."""
    chance = random.Random(bench.seed)
    outcome = Outcome()
    usual: dict[str, int] = {}
    while bench.more(outcome.tried) and not outcome.problems:
        folder = bench.folder / f"store{outcome.tried}"
        (folder / "db").mkdir(parents=True)
        place = folder / "db" / "notes.db"
        series = Series(chance.randrange(1 << 30), folder / "input")
        states = States()
        before: list[tuple[Command, States]] = []
        for number, command in enumerate(series):
            if number == NEW_STORE_EVERY or not bench.more(outcome.tried):
                break
            before.append((command, states.copy()))
            calm = number < 2 or chance.random() < UNDISTURBED
            mode = Mode.COUNT if calm else chance.choice(modes)
            at = chance.randint(1, usual.get(command.verb, 100))
            ended = run(bench, command, folder, mode, at, chance)
            if not ended.signal:
                usual[command.verb] = max(ended.calls, 1)
            follow(outcome, states, command, ended, mode)
            if outcome.problems:
                break
            if number % CHECK_EVERY == CHECK_EVERY - 1:
                outcome.problems += problems(place, states)
        outcome.problems += problems(place, states)
        outcome.problems += copy_problems(states, copies_of(before))
    return outcome


def run(
    bench: Bench, command: Command, folder: Path, mode: Mode, at: int, chance: random.Random
) -> Ended:
    """Run a command and disturb it; where calls cannot be watched it is killed after some time."""
    words = [*command.words, "--db", str(folder / "db" / "notes.db")]
    if bench.forks.library is None:
        after_s = chance.uniform(0, LONGEST_S) if mode is Mode.KILL else None
        return bench.forks.run(Request([words], kill_after_s=after_s))
    # A backup lies beside the input, so all of the folder is watched.
    error = chance.choice(ERRORS)
    return bench.forks.run(Request([words], mode=mode, at=at, root=str(folder), error=error))


def follow(outcome: Outcome, states: States, command: Command, ended: Ended, mode: Mode) -> None:
    """Note what a command may have changed, and how it ended."""
    states.begin(command.effects)
    if ended.codes == [0]:
        states.done(command.effects)
        outcome.acknowledged += 1
    if mode is not Mode.COUNT and (ended.signal or ended.codes != [0]):
        outcome.tried += 1
        outcome.kinds[command.verb] += 1
    how = " ".join(command.words)[:100]
    if ended.traceback:
        outcome.problems.append(f"`{how}` ended with a traceback:\n{ended.traceback}")
    elif ended.hung:
        outcome.problems.append(f"`{how}` did not end")
    elif (
        mode is Mode.COUNT and ended.codes == [FAILED] and (not command.of or command.of.exists())
    ):
        outcome.problems.append(f"`{how}` failed undisturbed: {ended.err[-300:]}")
