"""Profiles: named lists of stages, with one address such as `rrf.k` for every number in them.
`profiles.get("default:fast")` returns a built-in profile, one of the settings file, or one that an
installed package registers under the entry-point group `scrubjay.profiles`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from functools import cache, partial
from itertools import takewhile
from typing import Any

from scrubjay.errors import InvalidInput, NotFound
from scrubjay.search.pipeline import Part, Stage, flat
from scrubjay.text.validation import did_you_mean
from scrubjay.types import NOTHING

GROUP = "scrubjay.profiles"
_NEEDED = {
    **dict.fromkeys(("recall", "tiers"), "it brings the candidates"),
    **dict.fromkeys(("rrf", "min_max", "similarity", "union"), "it makes one pool of the lists"),
    "signals": "it makes the scores",
    "load": "a hit without it has no text",
}
_MOST_CACHED = 64  # changed versions of one profile


class Profile:
    """A way to search: its stages in order, its default limit and the highest limit it allows.
    A profile does not change once it is built, and is shared by all searches."""

    def __init__(
        self,
        name: str,
        stages: tuple[Stage, ...],
        summary: str = "",
        *,
        limit: int = 10,
        most: int = 1000,
        settings: Mapping[str, str] = NOTHING,
    ) -> None:
        parts = list(flat(stages))
        names = [part.name for part in parts]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidInput(
                f"profile {name} lists {', '.join(twice)} twice; name one of them with .named(...)"
            )
        for part in parts:
            part.check()
        self.used = frozenset(names)  # an attribute: a search reads it a dozen times
        self.early = tuple(takewhile(_asks_no_store, stages))
        self._changed: dict[bytes, Profile] = {}
        self.name = name
        self.stages = stages
        self.summary = summary
        self.limit = limit
        self.most = most
        self.settings = settings

    def uses(self, name: str) -> bool:
        return name in self.used

    def with_overrides(self, overrides: Mapping[str, Any]) -> Profile:
        """Return this profile with numbers replaced (`rrf.k`) or stages dropped (`rerank = false`).
        A profile may have settings: its own names for some of its numbers."""
        import marshal

        try:  # in version 2 equal values give equal bytes; unusual types are refused and not cached
            key = marshal.dumps(dict(overrides), 2)
        except ValueError:
            return self._with_overrides(overrides)
        changed = self._changed.get(key)
        if changed is None:
            # A copy: the caller may change its tables later.
            changed = self._with_overrides(marshal.loads(key))
            if len(self._changed) >= _MOST_CACHED:
                self._changed.clear()
            self._changed[key] = changed
        return changed

    def _with_overrides(self, overrides: Mapping[str, Any]) -> Profile:
        from scrubjay.search.profiles.overrides import addressed, checked, nested

        known = {part.name: part for part in flat(self.stages)}
        for key, value in overrides.items():
            if key not in known and key not in self.settings and not isinstance(value, Mapping):
                _refuse_setting_of_others(self.name, str(key))
        wanted = nested(addressed(overrides, self.settings))
        for name, numbers in wanted.items():
            if name not in known:
                raise InvalidInput(
                    f"profile {self.name} has no stage {name!r}{did_you_mean(name, known)};"
                    f" it has {', '.join(known)}"
                )
            if numbers is not False:
                checked(known[name], numbers)
            elif name in _NEEDED:
                raise InvalidInput(
                    f"stage {name} cannot be dropped from {self.name}: {_NEEDED[name]}"
                )
        stages = _override(self.stages, wanted)
        left = {part.name: part for part in flat(stages)}
        for name, numbers in wanted.items():
            if numbers is False and name in left:
                raise InvalidInput(f"{name} decides what another stage does; it cannot be dropped")
        for part in left.values():
            if part.numbers.get("sources") == ():
                raise InvalidInput(f"{part.name} has no source left in {self.name}")
        limits = {"limit": self.limit, "most": self.most}
        return Profile(self.name, stages, self.summary, **limits, settings=self.settings)

    def named(self, name: str, summary: str) -> Profile:
        renamed = copy(self)
        renamed.name, renamed.summary, renamed._changed = name, summary, {}
        return renamed


def _asks_no_store(part: Stage) -> bool:
    return getattr(part.function, "asks_no_store", False)


def _override(stages: tuple[Part[Any], ...], wanted: Mapping[str, Any]) -> tuple[Part[Any], ...]:
    changed = []
    for part in stages:
        numbers = wanted.get(part.name, {})
        if numbers is False:
            continue
        inside = {
            key: _override(value, wanted)
            for key, value in part.numbers.items()
            if isinstance(value, tuple) and any(isinstance(inner, Part) for inner in value)
        }
        changed.append(part.with_numbers({**inside, **numbers}))
    return tuple(changed)


def _refuse_setting_of_others(name: str, key: str) -> None:
    others = [other for other in _MODES if "." not in key and key in _BUILT_IN[other]().settings]
    if others:
        raise InvalidInput(
            f"{key} is a setting of profile {' and '.join(others)}, not of {name};"
            f" choose it with profile= (--profile {others[0]})"
        )


def built_in() -> tuple[str, ...]:
    return tuple(_BUILT_IN)


def names() -> tuple[str, ...]:
    """Return the names of all profiles, modes as `profile:mode`; built-in ones first."""
    from scrubjay.config import load

    return (*_BUILT_IN, *load().profiles)


@cache
def built_in_profile(name: str, mode: str | None) -> Profile | None:
    """Return a built-in profile in one of its modes; None for any other name."""
    known = name if mode in (None, "default") else f"{name}:{mode}"
    return _BUILT_IN[known]() if known in _BUILT_IN else None


def get(
    name: str, overrides: Mapping[str, Any] | None = None, *, mode: str | None = None
) -> Profile:
    for given in (name, mode):
        if given is not None and not isinstance(given, str):
            raise InvalidInput(
                f"{given!r} is not a profile or mode; known are {', '.join(names())}"
            )
    if mode is not None and mode != "default":
        known = tuple(_MODES.get(name, ()))[1:]
        if mode not in known and name in names():
            modes = ", ".join(("default", *known))
            others = [other for other, its in _MODES.items() if mode in its and other != name]
            hint = f"; {mode} is a mode of {' and '.join(others)}" if others else ""
            raise InvalidInput(f"profile {name} has no mode {mode!r}; its modes are {modes}{hint}")
        name = f"{name}:{mode}" if mode in known else name
    found = _BUILT_IN[name]() if name in _BUILT_IN else _users(name, ()) or _plugin(name)
    if found is None:
        raise NotFound(
            f"there is no profile {name!r}{did_you_mean(name, names())}; known are {', '.join(names())}"
        )
    return found.with_overrides(overrides) if overrides else found


def _users(name: str, under: tuple[str, ...]) -> Profile | None:
    from scrubjay.config import load

    settings = load()
    table = settings.profiles.get(name)
    if table is None:
        return None
    changes = dict(table)
    base = changes.pop("base", "default")
    if base == name or base in under:
        raise InvalidInput(f"profile {name} in {settings.config_file} is its own base")
    built = _BUILT_IN[base]() if base in _BUILT_IN else _users(str(base), (*under, name))
    if built is None:
        raise InvalidInput(
            f"profile {name} in {settings.config_file} has base {base!r}, which does not exist;"
            f" known are {', '.join(names())}"
        )
    summary = f"{base} with changes from the settings file"
    return built.with_overrides(changes).named(name, summary)


def _plugin(name: str) -> Profile | None:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        found: Profile = point.load()()
        return found
    return None


@cache
def _of_module(profile: str, mode: str) -> Profile:
    """Build a built-in profile in one mode, once; its module is imported only now."""
    from importlib import import_module

    module = import_module(f"scrubjay.search.profiles.{profile}")
    name = profile if mode == "default" else f"{profile}:{mode}"
    stages, summary = module.MODES[mode], module.SUMMARIES[mode]
    settings = getattr(module, "SETTINGS", NOTHING)
    if not hasattr(module, "LIMITS"):
        return Profile(name, stages, summary, settings=settings)
    # The default limit of these modes is also the highest.
    limit = module.LIMITS[mode]
    return Profile(name, stages, summary, limit=limit, most=limit, settings=settings)


_MODES = {
    "default": ("default", "fast", "thorough", "keyword", "vector"),
    "gno": ("default", "fast", "thorough", "keyword", "vector"),
    "gnosis": ("default", "standard", "deep"),
    "vault": ("default", "full", "scan"),
    "cognis": ("default",),
    "novamem": ("default",),
}
_BUILT_IN: dict[str, Callable[[], Profile]] = {
    profile if mode == "default" else f"{profile}:{mode}": partial(_of_module, profile, mode)
    for profile, modes in _MODES.items()
    for mode in modes
}
