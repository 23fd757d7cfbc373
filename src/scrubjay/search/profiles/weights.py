"""The weights of one call: a mapping or the name of a pattern, checked, in place of a profile's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.search.profiles import Profile
from scrubjay.search.profiles.overrides import flat
from scrubjay.search.stages.min_max import check_weights
from scrubjay.text.validation import did_you_mean

FUSE = "min_max"
PATTERNS: Mapping[str, Mapping[str, float]] = {
    "exact_id": {"keyword": 1.0, "vector": 0.0, "graph": 0.0},
    "semantic": {"vector": 1.0, "keyword": 0.0, "graph": 0.0},
    "roaming": {"vector": 0.5, "graph": 0.5, "keyword": 0.0},
}
_BY_VECTOR = ("vector", "graph")  # what needs the vector of the query


def weighed(profile: Profile, given: object) -> Profile:
    """Return a profile with other weights; a list without any is left out, and nobody asks for it."""
    (fuse,) = (part for part in flat(profile.stages) if part.name == FUSE)
    weights = weights_of(given, tuple(fuse.numbers["weights"]))
    changes: dict[str, Any] = {f"{FUSE}.weights": weights}
    idle = [name for name, weight in weights.items() if not weight]
    changes |= {name: False for name in idle if profile.uses(name)}
    if profile.uses("embed_query") and not any(weights.get(name) for name in _BY_VECTOR):
        changes["embed_query"] = False
    return profile.with_overrides(changes)


def weights_of(given: object, known: tuple[str, ...]) -> dict[str, float]:
    """Return the weight of every known list, 0 for those left out; refuse what makes no sense."""
    one = known[0]
    such_as = f"{one}=1 at the shell, {{{one!r}: 1}} in Python, or {', '.join(PATTERNS)}"
    if isinstance(given, str):
        if given not in PATTERNS:
            raise InvalidInput(
                f"there is no pattern of weights {given!r}{did_you_mean(given, PATTERNS)}; give {such_as}"
            )
        given = PATTERNS[given]
    if not isinstance(given, Mapping):
        raise InvalidInput(f"weights is {given!r}; give {such_as}")
    for name in given:
        if name not in known:
            raise InvalidInput(
                f"there is no weight for {name!r}{did_you_mean(str(name), known)}; there are"
                f" {', '.join(known)}"
            )
    weights = {name: given.get(name, 0.0) for name in known}
    check_weights(weights=weights)
    return {name: float(weight) for name, weight in weights.items()}


def parse_weights(text: str) -> str | dict[str, float]:
    """Read `--weights`: `keyword=1,vector=0`, or the name of a pattern."""
    if "=" not in text:
        return text.strip()
    weights: dict[str, float] = {}
    for one in text.split(","):
        name, _, number = (part.strip() for part in one.partition("="))
        if name in weights:
            raise InvalidInput(f"--weights gives {name} twice; give each list one weight")
        try:
            weights[name] = float(number)
        except ValueError as error:
            raise InvalidInput(
                f"--weights {one.strip()!r} is not of the form NAME=NUMBER, such as keyword=1"
            ) from error
    return weights
