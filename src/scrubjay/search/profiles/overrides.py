"""Overrides of a profile for one search: numbers such as `rrf.k = 30`, dropped stages, weights.
They come from a call, from `--set` or from the settings file, and are checked before a search
runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Part, flat, is_parts
from scrubjay.text.validation import did_you_mean

if TYPE_CHECKING:
    from scrubjay.search.profiles import Profile

_MOST = 1e9  # larger numbers make no sense, and their sums overflow
# By the type of a value, the annotations of numbers that take it; bool stands before int, its base.
_ALLOWED: Mapping[type, tuple[str, ...]] = {
    type(None): ("None",),
    bool: ("bool",),
    str: ("str",),
    int: ("int", "float"),
    float: ("float",),
}
_WORDS = {"int": "a whole number", "float": "a number", "str": "a text", "bool": "true or false"}
FUSE = "min_max"
PATTERNS: Mapping[str, Mapping[str, float]] = {
    "exact_id": {"keyword": 1.0, "vector": 0.0, "graph": 0.0},
    "semantic": {"vector": 1.0, "keyword": 0.0, "graph": 0.0},
    "roaming": {"vector": 0.5, "graph": 0.5, "keyword": 0.0},
}
_BY_VECTOR = ("vector", "graph")  # sources that need the vector of the query


def nested(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return overrides as stage -> numbers, from either `{"rrf.k": 30}` or `{"rrf": {"k": 30}}`."""
    out: dict[str, Any] = {}
    for key, value in overrides.items():
        stage, dot, number = str(key).partition(".")
        dropped = not dot and value is False
        if stage in out and (dropped or out[stage] is False):
            raise InvalidInput(f"{stage} is both dropped and changed; give only one of the two")
        if dot:
            out.setdefault(stage, {})[number] = value
        elif dropped:
            out[stage] = False
        elif isinstance(value, Mapping):
            out[stage] = {**out.get(stage, {}), **value}
        else:
            raise InvalidInput(
                f"override {key} = {value!r} has no number; write {key}.NUMBER=VALUE,"
                f" or {key}=false to drop the stage"
            )
    return out


def addressed(overrides: Mapping[str, Any], settings: Mapping[str, str]) -> dict[str, Any]:
    """Return overrides with each setting of a profile replaced by the number that it stands for."""
    out: dict[str, Any] = {}
    given: dict[str, str] = {}
    for key, value in overrides.items():
        place = settings.get(str(key), str(key))
        is_number = isinstance(value, str | int | float) and value is not False
        if settings and "." not in place and is_number:
            raise InvalidInput(
                f"there is no setting {key!r}{did_you_mean(place, settings)}; there are"
                f" {', '.join(settings)}, and the numbers of stages, such as {next(iter(settings.values()))}"
            )
        if place in given and out[place] != value:
            raise InvalidInput(f"{given[place]} and {key} are the same setting; give only one")
        out[place] = value
        given[place] = str(key)
    return out


def parse_sets(sets: Iterable[str]) -> dict[str, Any]:
    """Parse `--set` arguments such as `rrf.k=30`, `keyword.weights={title=2}`, `passages=false`.
    The profile checks their names later."""
    import tomllib

    out: dict[str, Any] = {}
    for argument in sets:
        key, equals, value = argument.partition("=")
        if not equals or not key.strip():
            raise InvalidInput(f"--set {argument!r} is not of the form stage.number=value")
        try:
            out[key.strip()] = tomllib.loads(f"value = {value.strip()}")["value"]
        except tomllib.TOMLDecodeError:
            out[key.strip()] = value.strip()
    return out


def checked(part: Part[Any], numbers: Mapping[str, Any]) -> None:
    """Refuse a number that the stage does not have, or a value of the wrong type."""
    inside = [inner.name for inner in flat((part,)) if inner is not part]
    own = [key for key, value in part.numbers.items() if not is_parts(value)]
    kinds = {key: str(part.function.__annotations__[key]) for key in own}
    for key, value in numbers.items():
        if key not in kinds:
            has = ", ".join(kinds) or "no numbers of its own"
            of = f"; the stages in it are {', '.join(inside)}" if inside else ""
            raise InvalidInput(
                f"stage {part.name} has no number {key!r}{did_you_mean(key, kinds)}; it has {has}{of}"
            )
        if not _fits(value, kinds[key]):
            must = _expected(kinds[key], part.numbers[key])
            raise InvalidInput(f"{part.name}.{key} is {value!r}; it must be {must}")


def _fits(value: object, kind: str) -> bool:
    options = {option.strip().partition("[")[0] for option in kind.split("|")}
    if isinstance(value, Mapping):
        inside = all(isinstance(key, str) and _fits(of, "float") for key, of in value.items())
        return bool(value) and "Mapping" in options and inside
    if isinstance(value, int | float) and not abs(value) <= _MOST:
        return False
    fitting = (kinds for type_, kinds in _ALLOWED.items() if isinstance(value, type_))
    return not options.isdisjoint(next(fitting, ()))


def _expected(kind: str, usual: object) -> str:
    example = usual if isinstance(usual, Mapping) and usual else {"keyword": 0.5}
    table = ", ".join(f"{name} = {number:g}" for name, number in example.items())
    options = [option.strip() for option in kind.split("|") if option.strip() != "None"]
    return " or ".join(_WORDS.get(option, f"a table such as {{{table}}}") for option in options)


def weighed(profile: Profile, given: object) -> Profile:
    """Return a profile with other weights; a source with weight 0 is not searched."""
    (fuse,) = (part for part in flat(profile.stages) if part.name == FUSE)
    weights = weights_of(given, tuple(fuse.numbers["weights"]))
    idle = [name for name, weight in weights.items() if not weight]
    if not any(weights.get(name) for name in _BY_VECTOR):
        idle.append("embed_query")
    dropped = {name: False for name in idle if profile.uses(name)}
    return profile.with_overrides({f"{FUSE}.weights": weights, **dropped})


def weights_of(given: object, known: tuple[str, ...]) -> dict[str, float]:
    """Return the weight of every known list, 0 for those not given; refuse invalid weights."""
    from scrubjay.search.stages.min_max import check_weights

    first = known[0]
    such_as = f"{first}=1 at the shell, {{{first!r}: 1}} in Python, or {', '.join(PATTERNS)}"
    if isinstance(given, str):
        if given not in PATTERNS:
            raise InvalidInput(
                f"there is no pattern of weights {given!r}{did_you_mean(given, PATTERNS)}; give {such_as}"
            )
        given = PATTERNS[given]
    if not isinstance(given, Mapping):
        raise InvalidInput(f"weights is {given!r}; give {such_as}")
    if unknown := [name for name in given if name not in known]:
        hint = did_you_mean(str(unknown[0]), known)
        has = ", ".join(known)
        raise InvalidInput(f"there is no weight for {unknown[0]!r}{hint}; there are {has}")
    weights = {name: given.get(name, 0.0) for name in known}
    check_weights(weights=weights)
    return {name: float(weight) for name, weight in weights.items()}


def parse_weights(text: str) -> str | dict[str, float]:
    """Parse `--weights`: `keyword=1,vector=0`, or the name of a pattern."""
    if "=" not in text:
        return text.strip()
    weights: dict[str, float] = {}
    for item in text.split(","):
        name, _, number = (part.strip() for part in item.partition("="))
        if name in weights:
            raise InvalidInput(f"--weights gives {name} twice; give each list one weight")
        try:
            weights[name] = float(number)
        except ValueError as error:
            raise InvalidInput(
                f"--weights {item.strip()!r} is not of the form NAME=NUMBER, such as keyword=1"
            ) from error
    return weights
