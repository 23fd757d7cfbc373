"""How the score of one hit came about: a sum with its working, written by the stages that ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scrubjay.search.pipeline import Stage, flat
from scrubjay.types import Hit, Step
from scrubjay.types.reports import ScoreSum, score_sum

_EQUAL = 1e-6  # the precision at which scores are compared


class Explanation:
    """The score of one hit so far. Stages call `made`, `add`, `multiply` and `note`, in their order.
    `scale` is the factor by which later stages multiplied the parts that `made` has listed. `later` are
    the steps that follow the one that is explained."""

    def __init__(self, hit: Hit) -> None:
        self.hit = hit
        self.scale = 1.0
        self.later: Sequence[Step] = ()
        self.amounts: dict[str, float] = dict(hit.why)
        self._workings: dict[str, list[str]] = {}
        self._legend = ""
        self._notes: list[str] = []

    def made(
        self,
        legend: str,
        workings: Mapping[str, Sequence[str]],
        amounts: Mapping[str, float] | None = None,
        *,
        kept: bool = True,
    ) -> None:
        """Begin the sum again: a stage has given the hit a new score, made of these parts.
        A working begins with a formula; further lines explain the figures in it. `legend` is the
        formula in words. `amounts` are what the formulas come to, where later stages may multiply
        them. With `kept=False` they are not in `hit.why`, which has other numbers under these
        names."""
        why, made = self.hit.why, amounts or {}
        scales = (why[name] / amount for name, amount in made.items() if amount and name in why)
        self.scale = next(scales, 1.0) if kept else 1.0
        self.amounts = dict(why if kept else made)
        self._legend, self._notes = legend, []
        self._workings = {name: list(lines) for name, lines in workings.items()}
        if abs(self.scale - 1) >= _EQUAL:
            self._prefix(f"{self.scale:.6f} × ", "scale × ")

    def add(self, name: str, working: str) -> None:
        """Explain a part that a stage added to the score, if the hit has it."""
        if name in self.hit.why and working:
            self._workings.setdefault(name, [working])

    def multiply(self, factor: float, words: str) -> None:
        """Multiply all parts by a number that `hit.why` does not contain, named by these words."""
        if factor != 1:
            self.amounts = {name: factor * amount for name, amount in self.amounts.items()}
            self._prefix(f"{factor:g} × ", f"{words} × ")

    def moved(self, name: str, why: str) -> None:
        """Explain a part that is the way from the score so far to another one, which `why` names."""
        if name in self.hit.why:
            before = self.before(name)
            after = f"{before + self.hit.why[name]:.6f}"
            self._workings.setdefault(name, [f"{after} - {before:.6f}", f"{after}: {why}"])

    def note(self, *lines: str) -> None:
        self._notes += lines

    def before(self, name: str) -> float:
        """Return the sum of the parts before this one: the score that its stage has found."""
        names = list(self.hit.why)
        return sum(self.hit.why[earlier] for earlier in names[: names.index(name)])

    def _prefix(self, factor: str, words: str) -> None:
        for lines in self._workings.values():
            lines[:1] = [factor + line for line in lines[:1]]
        self._legend = words + self._legend if self._legend else ""

    def sum(self) -> ScoreSum:
        legend = [f"each part: {self._legend}"] if self._legend else []
        return score_sum(self.hit.score, self.amounts, self._workings, [*legend, *self._notes])


def explain(hit: Hit, trace: tuple[Step, ...], stages: tuple[Stage, ...]) -> ScoreSum:
    """Let every stage that ran explain what it did to the score of a hit."""
    explainers = {part.name: getattr(part.function, "explain", None) for part in flat(stages)}
    explanation = Explanation(hit)
    steps = tuple(_steps(trace))
    for place, step in enumerate(steps, start=1):
        explainer = explainers.get(step.stage)
        if explainer is not None and step.lost is None:
            explanation.later = steps[place:]
            explainer(explanation, step)
    return explanation.sum()


def _steps(trace: tuple[Step, ...]) -> Iterator[Step]:
    for step in trace:
        yield step
        yield from _steps(step.branches)
