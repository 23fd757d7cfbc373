"""What `scrubjay verify` and `scrubjay doctor --repair` must say and do about a damaged file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scrubjay
from scrubjay.errors import ScrubjayError
from tools.soak.embedder import SoakEmbedder
from tools.soak.forks import Ended, Forks

if TYPE_CHECKING:
    from tools.soak.bit_flips import Damaged

MORE = " more"  # a list of ids names the first, and counts the others
UNNAMED = (MORE, "others may be lost")


def check_verify(forks: Forks, damaged: Damaged) -> list[str]:
    """`verify` names each memory whose text was altered; where the file itself is damaged, that."""
    ended = forks.command("verify", "--json", "--db", str(damaged.path))
    if wrong := how(ended, "verify"):
        return wrong
    altered = damaged.altered()
    if not altered:
        return []
    if ended.codes == [0]:
        return [f"`verify` found nothing, but these are altered: {', '.join(altered)}"]
    problems = json.loads(ended.out)["problems"] if ended.out else []
    named = {id_ for problem in problems for id_ in problem["ids"]}
    if any(problem["check"] == "file" for problem in problems) or not problems:
        return []
    return [
        f"`verify` did not name {id_}, which is altered" for id_ in altered if id_ not in named
    ]


def check_repair(forks: Forks, damaged: Damaged) -> list[str]:
    """A repair brings back what was not hit, reports what it lost or altered, and keeps the file."""
    before = damaged.path.read_bytes()
    ended = forks.command("doctor", "--repair", "--json", "--db", str(damaged.path))
    if wrong := how(ended, "doctor --repair"):
        return wrong
    repairs: list[dict[str, Any]] = json.loads(ended.out)["repairs"]
    found = kept(damaged.path, before, repairs)
    try:
        with scrubjay.open(damaged.path, embedder=SoakEmbedder()) as store:
            there = {one.id: one.text for one in store.ls(limit=100_000)}
    except ScrubjayError as error:
        if all(damaged.may_be_lost(id_) for id_ in damaged.whole.texts):
            return found
        return [*found, f"the repaired store does not open: {error}"]
    found += wrong_memories(damaged, there, repairs)
    if not found and forks.command("verify", "--db", str(damaged.path)).codes != [0]:
        found.append("`verify` still finds damage after the repair")
    return found


def kept(path: Path, before: bytes, repairs: list[dict[str, Any]]) -> list[str]:
    """The damaged file is still there, byte for byte, where another took its place."""
    aside = path.with_name(f"{path.name}.damaged")
    replaced = any(one["component"] == "store" and one["state"] == "repaired" for one in repairs)
    if replaced and not aside.exists():
        return ["the damaged file is gone"]
    if replaced and aside.read_bytes() != before:
        return ["the damaged file was changed"]
    return []


def wrong_memories(
    damaged: Damaged, there: dict[str, str], repairs: list[dict[str, Any]]
) -> list[str]:
    """Compare what a repaired store holds with what was stored, and with what the repair said."""
    whole = damaged.whole
    said = " ".join(one["detail"] for one in repairs)
    failed = " ".join(one["detail"] for one in repairs if one["state"] == "failed")
    found = []
    for id_, text in whole.texts.items():
        hit = damaged.may_be_lost(id_)
        if there.get(id_) == text:
            continue
        if not hit:
            now = "altered" if id_ in there else "missing"
            found.append(f"memory {id_} was not hit, and is {now} after the repair")
        elif id_ in there and not (id_ in said or MORE in said):
            found.append(f"memory {id_} is altered after the repair, which did not say so")
        # The index of the ids is where the repair reads which memories there should be.
        elif (
            id_ not in there
            and not whole.index & damaged.hit
            and not any(words in failed for words in (id_, *UNNAMED))
        ):
            found.append(f"memory {id_} is lost, which the repair did not say")
    for id_, text in there.items():
        if id_ in whole.texts or text in whole.texts.values():
            continue
        if id_ in whole.forgotten:
            found.append(f"memory {id_} was forgotten, and is back after the repair")
        elif not (id_ in said or MORE in said):
            found.append(f"memory {id_} was never stored, and the repair did not say so")
    return found


def how(ended: Ended, command: str) -> list[str]:
    if ended.traceback:
        return [f"`{command}` ended with a traceback:\n{ended.traceback}"]
    if ended.hung or not ended.codes:
        return [f"`{command}` did not end: signal {ended.signal}"]
    return []
