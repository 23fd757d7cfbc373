"""Catalogue of all stages by name, for profiles in TOML, the docs and the checks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType
from typing import Any

from scrubjay.search import pipeline, stages
from scrubjay.search.pipeline import Part

_MODULES = [
    pipeline,
    *(
        import_module(f"{stages.__name__}.{module.name}")
        for module in iter_modules(stages.__path__)
        if module.name != "catalogue"
    ),
]
STAGES: dict[str, Callable[..., Part[Any]]] = {
    name: make
    for module in _MODULES
    for name, make in vars(module).items()
    # The decorator `stage` marks its factories so.
    if isinstance(make, FunctionType) and hasattr(make, "__wrapped__")
}
