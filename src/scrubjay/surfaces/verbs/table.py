"""All verbs, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.verbs import Verb, checked
from scrubjay.surfaces.verbs.finding import SEARCH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrubjay.service import Store
    from scrubjay.surfaces.shapes import Json

VERBS: dict[str, Verb] = {one.name: one for one in (SEARCH,)}


def ask(store: Store, verb: Verb, given: Mapping[str, object]) -> Json:
    """Do what a verb says with what was given, once that is checked."""
    return verb.call(store, checked(verb.name, verb.params, verb.aliases, given))
