"""`scrubjay doctor`: check each component, and name the command that fixes what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "degraded", "failed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one component, and the command that fixes it, if there is one."""

    component: str
    state: State
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """What `--repair` changed in a component, would change, or why it could not."""

    component: str
    state: Literal["repaired", "failed", "planned"]
    detail: str
