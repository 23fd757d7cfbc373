"""What commands share: the store of this call, the model it wants, the vectors it still owes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import scrubjay
from scrubjay import config
from scrubjay.errors import InvalidInput, NotFound, StoreError, Unavailable
from scrubjay.runtime.command_hints import ADD, to_fetch, to_make, to_type
from scrubjay.surfaces.render.terminal import err, one_line
from scrubjay.text.urls import is_server_url, tenant_file

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

    from scrubjay.config import Settings, TierSetting
    from scrubjay.models.download.pull import ModelCard
    from scrubjay.search.profiles import Profile
    from scrubjay.sharing.tiers.files import Reached
    from scrubjay.store import Store
    from scrubjay.types.reports import TierState


def settings_of(args: Namespace) -> Settings:
    """Return the settings in force: file, then environment, then this command line."""
    return config.load(db=args.db, profile=getattr(args, "profile", None))


def open_store(
    db: str | None,
    user: str | None = None,
    *,
    embed: bool = True,
    make: bool = False,
    tiers: list[str] | None = None,
) -> Store:
    """Open the store that was named, or the configured one; without `embed`, make no vectors.

    Without a user, here or in the settings, everything is seen. Only a command that writes may `make`
    a store: a typing error in --db must not leave a file behind. `tiers` are the `--tier` options.
    """
    settings = config.load(db=db, user=user)
    if tiers or (settings.tiers and db is None):
        from scrubjay.surfaces.cli.options.tiers import tiers_of

        return _with_tiers(settings, db, tiers_of(tiers), embed=embed, make=make)
    if not make:
        check_there(settings)
    return scrubjay.open(db, user=settings.user, embedder=None if embed else False)


def check_there(settings: Settings) -> None:
    """NotFound where there is no store yet: to look for one makes neither a file nor a schema."""
    if is_server_url(settings.db):
        from scrubjay.storage.postgres.existing import require_store
        from scrubjay.text.urls import POSTGRES, parse_server_url, tenant_schema

        require_store(
            parse_server_url(settings.db, POSTGRES, "the store"), tenant_schema(settings.tenant)
        )
        return
    path = tenant_file(settings.db, settings.tenant)
    if path == ":memory:" or os.path.exists(path):
        return
    from scrubjay.storage.sqlite.location import check_path

    if settings.db_given:  # the folder of the default store is made when it is needed
        check_path(path)
    raise NotFound(f"nothing is stored yet: there is no {path}; `scrubjay add` makes it")


def _with_tiers(
    settings: Settings,
    db: str | None,
    named: tuple[TierSetting, ...],
    *,
    embed: bool,
    make: bool,
) -> Store:
    """Open several files as one store; of those that only read, none is made."""
    from scrubjay.store import Store
    from scrubjay.times import clock_in

    own, joined, made_by = _files_of(settings, db, named, make=make)
    if db is not None and own is not None and made_by and not os.path.exists(own):
        raise NotFound(f"nothing is stored yet: there is no {own}; `scrubjay add` makes it")
    return Store(
        own,
        tiers=joined,
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
    )


def _files_of(
    settings: Settings, db: str | None, named: tuple[TierSetting, ...], *, make: bool
) -> tuple[str | None, tuple[TierSetting, ...], str | None]:
    """Return the own file of a call, its tiers, and how the own one is made where that is not now.

    A default store that is not there yet has nothing to be searched: it is left out.
    """
    from scrubjay.config import BUILT_IN_TIERS, make_folder, own_path

    joined = named or settings.tiers
    own = own_path(settings, db, joined, named_here=bool(named))
    if own is not None and is_server_url(own):
        return own, joined, None
    configured = db is None and (own is not None or not named)
    if make:
        if configured:  # the settings say where the store is to be, so its folder is made, too
            make_folder(os.path.dirname(os.path.abspath(own or settings.db)))
        return own, joined, None
    if configured:
        if joined and own is not None and not settings.db_chosen and not os.path.exists(own):
            own = None
        return own, joined, to_type(ADD)
    highest = (one.path for tier in BUILT_IN_TIERS for one in joined if one.name == tier)
    return own, joined, to_make(own or next(highest))


def tier_states(db: str | None, user: str | None, tiers: list[str] | None) -> list[TierState]:
    """Return how each tier of a call is, even where none of them can be opened."""
    try:
        with open_store(db, user, embed=False, tiers=tiers) as store:
            return store.tiers()
    except (NotFound, StoreError) as lost:  # each says for itself why
        from scrubjay.sharing.permissions import person_named
        from scrubjay.sharing.tiers.files import known_files, state_of
        from scrubjay.surfaces.cli.options.tiers import tiers_of
        from scrubjay.types import Scope

        settings = config.load(db=db, user=user)
        person = None if settings.user is None else person_named(settings.user)
        own, joined, made_by = _files_of(settings, db, tiers_of(tiers), make=False)
        files = known_files(own, joined, person, made_by=made_by)
        reached = [_or_its_server(one, str(lost)) for one in files.reached()]
        files.close()
        return [state_of(one._replace(tables=None), Scope()) for one in reached]


def _or_its_server(one: Reached, lost: str) -> Reached:
    """Say of a store on a server why that could not be opened; a file has said it itself."""
    return one._replace(tier=one.tier._replace(lost=lost)) if is_server_url(one.path) else one


def overrides_of(sets: list[str] | None) -> Mapping[str, Any] | None:
    """Read the `--set` options; without any, their parser is not even imported."""
    if not sets:
        return None
    from scrubjay.search.profiles.overrides import parse_sets

    return parse_sets(sets)


def profile_of(
    name: str, overrides: Mapping[str, Any] | None, *, mode: str | None = None
) -> Profile:
    """Return a profile that was named on the command line; a wrong name there is wrong usage."""
    from scrubjay.search.profiles import get

    try:
        return get(name, overrides, mode=mode)
    except NotFound as error:
        raise InvalidInput(str(error)) from error


def words_of(words: list[str]) -> str:
    """Join what was typed into one text; a lone dash reads standard input."""
    if words != ["-"]:
        return " ".join(words)
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"Standard input is not text in UTF-8 ({error.reason})") from error


def card_of(settings: Settings) -> ModelCard | None:
    """Return the card of the configured model, or None where it is not one that we fetch."""
    from scrubjay.models.registry import CARDS, DEFAULT

    wanted = settings.embedder or DEFAULT
    return CARDS.get(wanted.partition("/")[0])


def _to_pull(settings: Settings) -> str:
    """Return the command that makes vectors; where the model is not here and may not come, it may by it."""
    from scrubjay.models.download.pull import is_cached

    card = card_of(settings)
    if card is None or is_cached(card):
        return to_type("models pull", settings.db_given)
    return to_fetch(settings.db_given)


def fetch_model(settings: Settings) -> str | None:
    """Get the configured model here if that is allowed; return why not where it fails.

    The bar is drawn on a terminal only. A search goes on without the model, by keyword.
    """
    from scrubjay.models.download.pull import is_cached, pull

    card = card_of(settings)
    if card is None or is_cached(card):
        return None
    if settings.offline:
        return f"the model {card.name} is not here and SCRUBJAY_OFFLINE forbids fetching it"
    if not sys.stderr.isatty():  # where no bar is drawn, a word says why it takes a while
        err(f"scrubjay: fetching {card.name}, once")
    try:
        pull(card)
    except Unavailable as error:
        return str(error)
    return None


def fetch_reranker(settings: Settings) -> str | None:
    """Get the configured reranker here if it is one that is fetched; return why not where it fails."""
    from scrubjay.models.registry import LATE, NONE, is_ready, load_reranker
    from scrubjay.models.rerank.cross_encoder import OnnxCrossEncoder

    spec = settings.reranker.spec
    if settings.offline or spec in (LATE, NONE) or "://" in spec:
        return None
    try:
        reranker = load_reranker(settings.reranker)
        if not is_ready(reranker) and isinstance(reranker, OnnxCrossEncoder):
            if not sys.stderr.isatty():
                err(f"scrubjay: fetching {reranker.name}, once")
            reranker.load()
    except (NotFound, Unavailable) as error:
        err(f"scrubjay: {one_line(str(error))}")
        return str(error)
    return None


def embed_pending(store: Store, settings: Settings) -> int:
    """Make the vectors that are still owed; return how many are left, saying why if any are.

    Links, and what servers have yet to be told, are made and told as well; what of it waits is said.
    """
    if not store.pending(wait=False):
        return 0
    from scrubjay.runtime.progress import ProgressBar

    why = fetch_model(settings)
    if why is None:
        with ProgressBar("embedding") as bar:
            if not store.pending(wait=True, progress=bar):
                return 0
    state = store.status()
    left = state.pending + state.failed
    if left:
        why = why or "; ".join(state.failures) or "the model does not answer"
        err(f"scrubjay: stored and found by word; vectors are pending: {one_line(why)}")
        err(f"scrubjay: this makes them: {_to_pull(settings)}")
    from scrubjay.surfaces.cli.waiting import waiting

    for line in waiting(state, settings.db_given):
        err(f"scrubjay: {line}")
    return left


def make_vectors(store: Store, settings: Settings, *, later: bool) -> int | None:
    """Make the vectors; return how many are left, or None where they were not even counted."""
    if not later:
        return embed_pending(store, settings)
    pull = _to_pull(settings)
    err(f"scrubjay: the vectors are left for later; this makes them: {pull}")
    return None
