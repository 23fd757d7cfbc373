"""One kind of attack: what was tried, what was lost, and how to repeat it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tools.soak.forks import Forks


@dataclass
class Bench:
    """Where a round works, and until when."""

    folder: Path
    forks: Forks
    seed: int
    until: float
    tries: int | None = None

    def more(self, tried: int) -> bool:
        """Whether another try fits: until the time is up, or as often as was asked for."""
        if self.tries is not None:
            return tried < self.tries
        return time.monotonic() < self.until


@dataclass
class Outcome:
    """What a round did and found."""

    tried: int = 0
    acknowledged: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    skipped: str = ""


@dataclass(frozen=True)
class Round:
    """An attack by its name; `run` repeats it exactly for the same seed and number of tries."""

    name: str
    what: str
    unit: str
    run: Callable[[Bench], Outcome]
    share: float = 1.0
