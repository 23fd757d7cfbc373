"""Overrides: `rrf.k = 30`, from a call, a `--set` or the settings file, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Part, is_parts
from scrubjay.text.validation import did_you_mean

_MOST = 1e9  # larger numbers mean nothing here, and their sums overflow


def nested(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return overrides as stage -> numbers, from either `{"rrf.k": 30}` or `{"rrf": {"k": 30}}`."""
    out: dict[str, Any] = {}
    for key, value in overrides.items():
        stage, dot, number = str(key).partition(".")
        dropped = not dot and value is False
        if stage in out and (dropped or out[stage] is False):
            raise InvalidInput(f"{stage} is dropped and changed at once; say one of the two")
        if dot:
            out.setdefault(stage, {})[number] = value
        elif dropped:
            out[stage] = False
        elif isinstance(value, Mapping):
            out[stage] = {**out.get(stage, {}), **value}
        else:
            raise InvalidInput(
                f"override {key} = {value!r} names no number; write it as {key}.NUMBER=VALUE,"
                f" or {key}=false to leave the stage out"
            )
    return out


def addressed(overrides: Mapping[str, Any], settings: Mapping[str, str]) -> dict[str, Any]:
    """Return overrides with every setting of a profile written as the number that it stands for."""
    out: dict[str, Any] = {}
    said: dict[str, str] = {}
    for key, value in overrides.items():
        place = settings.get(str(key), str(key))
        if (
            settings
            and "." not in place
            and isinstance(value, str | int | float)
            and value is not False
        ):
            raise InvalidInput(
                f"there is no setting {key!r}{did_you_mean(place, settings)}; there are"
                f" {', '.join(settings)}, and the numbers of stages, such as {next(iter(settings.values()))}"
            )
        if place in said and out[place] != value:
            raise InvalidInput(
                f"{said[place]} and {key} are the same setting; give one of them a value"
            )
        out[place] = value
        said[place] = str(key)
    return out


def parse_sets(sets: Iterable[str]) -> dict[str, Any]:
    """Read `--set` arguments such as `rrf.k=30`, `keyword.weights={title=2}`, `passages=false`.

    What they name is looked up when a profile takes them.
    """
    import tomllib

    out: dict[str, Any] = {}
    for one in sets:
        key, equals, value = one.partition("=")
        if not equals or not key.strip():
            raise InvalidInput(f"--set {one!r} is not of the form stage.number=value")
        try:
            out[key.strip()] = tomllib.loads(f"value = {value.strip()}")["value"]
        except tomllib.TOMLDecodeError:
            out[key.strip()] = value.strip()
    return out


def checked(part: Part[Any], numbers: Mapping[str, Any]) -> None:
    """Refuse a number that the stage does not have, or a value of another kind."""
    kinds = {key: str(part.function.__annotations__[key]) for key in part.numbers}
    inside = [one.name for one in flat((part,)) if one is not part]
    kinds = {key: kind for key, kind in kinds.items() if not is_parts(part.numbers[key])}
    for key, value in numbers.items():
        if key not in kinds:
            has = ", ".join(kinds) or "no numbers of its own"
            of = f"; the stages in it are {', '.join(inside)}" if inside else ""
            raise InvalidInput(
                f"stage {part.name} has no number {key!r}{did_you_mean(key, kinds)}; it has {has}{of}"
            )
        if not _fits(value, kinds[key]):
            must = _said(kinds[key], part.numbers[key])
            raise InvalidInput(f"{part.name}.{key} is {value!r}; it must be {must}")


def flat(stages: tuple[Part[Any], ...]) -> Iterator[Part[Any]]:
    """Every stage of a list, followed by the sources and stages inside it."""
    for part in stages:
        yield part
        for value in part.numbers.values():
            inner = value if isinstance(value, tuple) else (value,)
            yield from flat(tuple(one for one in inner if isinstance(one, Part)))


def _fits(value: object, kind: str) -> bool:
    options = [one.strip() for one in kind.split("|")]
    if value is None:
        return "None" in options
    if isinstance(value, bool):
        return "bool" in options
    if isinstance(value, int | float) and not abs(value) <= _MOST:
        return False
    if isinstance(value, int):
        return "int" in options or "float" in options
    if isinstance(value, float):
        return "float" in options
    if isinstance(value, str):
        return "str" in options
    if isinstance(value, Mapping):
        return (
            bool(value)
            and any(one.startswith("Mapping") for one in options)
            and all(isinstance(key, str) and _fits(inner, "float") for key, inner in value.items())
        )
    return False


def _said(kind: str, usual: object) -> str:
    example = usual if isinstance(usual, Mapping) and usual else {"keyword": 0.5}
    table = ", ".join(f"{name} = {number:g}" for name, number in example.items())
    words = {
        "int": "a whole number",
        "float": "a number",
        "str": "a text",
        "bool": "true or false",
    }
    options = [one.strip() for one in kind.split("|") if one.strip() != "None"]
    return " or ".join(words.get(one, f"a table such as {{{table}}}") for one in options)
