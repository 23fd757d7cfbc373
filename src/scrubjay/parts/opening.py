"""Which file a store is opened on, and which others are searched with it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.config import BUILT_IN_TIERS, TierSetting, tier_setting
from scrubjay.errors import InvalidInput, StoreError

if TYPE_CHECKING:
    from scrubjay.config import Settings


def tiers_given(tiers: Mapping[str, str | os.PathLike[str]]) -> tuple[TierSetting, ...]:
    """Return the built-in tiers that a caller names; refuse other names."""
    if not isinstance(tiers, Mapping):
        raise InvalidInput(f"tiers is {tiers!r}; give a mapping such as {{'project': 'p.db'}}")
    for name in tiers:
        if name not in BUILT_IN_TIERS:
            raise InvalidInput(
                f"there is no tier {name!r}; the tiers are {', '.join(BUILT_IN_TIERS)}; any other is"
                f" added to the open store: connect(path, name={name!r}, priority=0.5)"
            )
    return tuple(tier_setting(name, path) for name, path in tiers.items())


def own_path(
    settings: Settings, path: str | None, tiers: Sequence[TierSetting], *, named_here: bool
) -> str | None:
    """Return the store's own file, or None where it is the highest tier.

    A path wins. Tiers that were `named_here`, by argument, win over a file of the environment or the
    settings; tiers of the settings stand beside a file of the settings.
    """
    if path is not None:
        return settings.db
    has_tier = any(one.name in BUILT_IN_TIERS for one in tiers)
    return None if has_tier and (named_here or not settings.db_chosen) else settings.db


def make_folder(folder: str) -> None:
    """Make the folder of the user's own store: the default one, or that of the settings."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be made ({error.strerror}); name a store elsewhere,"
            " or set SCRUBJAY_HOME"
        ) from error
