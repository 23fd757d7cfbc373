"""What an examination says of one part: how it is, and the command that would make it well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "missing", "degraded", "failed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: how it is, and the command that would make it well, if there is one."""

    component: str
    state: State
    detail: str
    fix: str = ""
