"""What commands share: settings, the open store, profiles, options, confirmation, warnings."""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import scrubjay
from scrubjay import config
from scrubjay.config import Settings, TierSetting
from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.runtime.command_hints import ADD, to_make, to_type
from scrubjay.search import profiles
from scrubjay.search.profiles import Profile
from scrubjay.sharing.permissions import check_user
from scrubjay.sharing.tiers.files import known_files, state_of
from scrubjay.storage.sqlite.location import check_path
from scrubjay.store import Store
from scrubjay.surfaces.render.terminal import err, one_line
from scrubjay.surfaces.verbs.params import FILTER_NAMES
from scrubjay.surfaces.verbs.search import named
from scrubjay.text import urls
from scrubjay.text.urls import is_server_url
from scrubjay.times import clock_in
from scrubjay.types import Scope

if TYPE_CHECKING:
    from scrubjay.types.reports import TierState

FAILED, USAGE, NOTHING_FOUND = 1, 2, 3
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)")


def settings_of(args: Namespace) -> Settings:
    return config.load(db=args.db, profile=getattr(args, "profile", None))


def open_store(
    db: str | None,
    user: str | None = None,
    *,
    embed: bool = True,
    make: bool = False,
    tiers: list[str] | None = None,
) -> Store:
    """Open the given or the configured store; without `embed` it makes no vectors.

    Without a user, here or in the settings, everything is visible. Only a command that writes may `make`
    a store: a typing error in --db must not leave a file behind. `tiers` are the `--tier` options.
    """
    settings = config.load(db=db, user=user)
    if tiers or (settings.tiers and db is None):
        return _open_tiers(settings, db, _parse_tiers(tiers), embed=embed, make=make)
    if not make:
        check_exists(settings)
    return scrubjay.open(db, user=settings.user, embedder=None if embed else False)


def check_exists(settings: Settings) -> None:
    """Raise NotFound if there is no store, without creating a file or a schema."""
    if is_server_url(settings.db):
        from scrubjay.storage.postgres.existing import require_store

        url = urls.parse_server_url(settings.db, urls.POSTGRES, "the store")
        require_store(url, urls.tenant_schema(settings.tenant))
        return
    path = urls.tenant_file(settings.db, settings.tenant)
    if path == ":memory:" or os.path.exists(path):
        return
    if os.path.isdir(os.path.dirname(path)) or settings.db_given:
        # Otherwise the folder of the default store is created when it is needed.
        check_path(path)
    raise _not_stored(path)


def _not_stored(path: str) -> NotFound:
    return NotFound(f"nothing is stored yet: there is no {path}; `scrubjay add` creates it")


def _parse_tiers(options: list[str] | None) -> tuple[TierSetting, ...]:
    """Parse `--tier` options: `team=FILE`, or `handbook=FILE@0.7` for a vault with a priority."""
    tiers = []
    for option in options or ():
        name, equals, path = (part.strip() for part in option.partition("="))
        if not equals or not name or not path:
            forms = "NAME=FILE or NAME=FILE@PRIORITY"
            raise InvalidInput(f"--tier {option!r} is not of the form {forms}")
        file, at, number = path.rpartition("@")  # a path may contain an @ as well
        if at and _NUMBER.fullmatch(number):
            tiers.append(config.named_tier(name, file, float(number)))
        else:
            tiers.append(config.named_tier(name, path))
    return tuple(tiers)


def _open_tiers(
    settings: Settings, db: str | None, named: tuple[TierSetting, ...], *, embed: bool, make: bool
) -> Store:
    """Open several databases as one store; a command that only reads creates none of them."""
    own, tiers, made_by = _tier_files(settings, db, named, make=make)
    if db is not None and own is not None and made_by and not os.path.exists(own):
        raise _not_stored(own)
    return Store(
        own,
        tiers=tiers,
        made_by=made_by,
        profile=settings.profile,
        embedder=None if embed else False,
        clock=clock_in(settings.timezone),
        user=settings.user,
        tenant=settings.tenant,
        vectors=settings.vectors,
        graph=settings.graph,
        chunk_tokens=settings.chunk_tokens,
        chunk_overlap_tokens=settings.chunk_overlap_tokens,
        short_turn_chars=settings.short_turn_chars,
        file_timeout_s=settings.file_timeout_s,
        file_memory_mb=settings.file_memory_mb,
    )


def _tier_files(
    settings: Settings, db: str | None, named: tuple[TierSetting, ...], *, make: bool
) -> tuple[str | None, tuple[TierSetting, ...], str | None]:
    """Return the own file, the tiers, and the command that creates the own file if this one does not.

    A default store that does not exist yet is left out: it holds nothing to search.
    """
    tiers = named or settings.tiers
    own = config.own_path(settings, db, tiers, named_here=bool(named))
    if own is not None and is_server_url(own):
        return own, tiers, None
    configured = db is None and (own is not None or not named)
    if make:
        if configured:  # the settings name the file, so its folder is created too
            config.make_folder(os.path.dirname(os.path.abspath(own or settings.db)))
        return own, tiers, None
    if configured:
        if tiers and own is not None and not settings.db_chosen and not os.path.exists(own):
            own = None
        return own, tiers, to_type(ADD)
    highest = (tier.path for name in config.BUILT_IN_TIERS for tier in tiers if tier.name == name)
    return own, tiers, to_make(own or next(highest))


def tier_states(db: str | None, user: str | None, tiers: list[str] | None) -> list[TierState]:
    try:
        with open_store(db, user, embed=False, tiers=tiers) as store:
            return store.tiers()
    except (NotFound, StoreError) as error:  # each tier reports its own reason
        settings = config.load(db=db, user=user)
        person = None if settings.user is None else check_user(settings.user)
        own, joined, made_by = _tier_files(settings, db, _parse_tiers(tiers), make=False)
        files = known_files(own, joined, person, made_by=made_by)
        reached = [tier._replace(tables=None) for tier in files.reached()]
        files.close()
        reached = [
            tier._replace(tier=tier.tier._replace(lost=str(error)))  # a file has its own reason
            if is_server_url(tier.path)
            else tier
            for tier in reached
        ]
        return [state_of(tier, Scope()) for tier in reached]


def parse_overrides(sets: list[str] | None) -> Mapping[str, Any] | None:
    """Parse the `--set` options; without any, their parser is not imported."""
    if not sets:
        return None
    from scrubjay.search.profiles.overrides import parse_sets

    return parse_sets(sets)


def profile_of(
    name: str, overrides: Mapping[str, Any] | None = None, *, mode: str | None = None
) -> Profile:
    with named():
        return profiles.get(name, overrides, mode=mode)


def text_of(words: list[str]) -> str:
    if words != ["-"]:
        return " ".join(words)
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"Standard input is not text in UTF-8 ({error.reason})") from error


def options_of(args: Namespace, names: Iterable[str] = FILTER_NAMES) -> dict[str, Any]:
    """Return those of the named options that the command has; by default the filters."""
    return {name: getattr(args, name) for name in names if hasattr(args, name)}


def resolve_ids(store: Store, given: list[str]) -> tuple[list[str], list[str]]:
    ids, missing = [], []
    for prefix in given:
        try:
            ids.append(store.resolve(prefix))
        except NotFound:
            missing.append(prefix)
    return list(dict.fromkeys(ids)), missing


def confirmed(args: Namespace, question: str) -> bool:
    """Return whether a person confirms a deletion; --yes does, and off a terminal nothing else does."""
    if args.yes:
        return True
    if args.json or not sys.stdin.isatty():
        return False
    err(f"{question} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def warn(reasons: Iterable[str]) -> None:
    for reason in reasons:
        err(f"scrubjay: {one_line(reason)}")


def warn_missing(ids: Iterable[str]) -> None:
    warn(f"there is no memory with the id {one_line(id_)!r}; see: scrubjay ls" for id_ in ids)
