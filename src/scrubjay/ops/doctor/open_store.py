"""What an examination says of a store that is open: of its own place, whatever the settings name by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.config import load
from scrubjay.errors import InvalidInput
from scrubjay.ops.doctor.finding import Finding
from scrubjay.ops.doctor.run import configured, installed, unreadable
from scrubjay.ops.doctor.servers import postgres_at, told
from scrubjay.ops.doctor.store import own_store, tiers
from scrubjay.runtime.command_hints import to_type
from scrubjay.sharing.tiers.files import one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrubjay.config import Settings
    from scrubjay.store import Store

_OF_A_MODEL = ("model", "vectors")
_MOST_FILES = 2000  # as many as a search looks at; of more, each search tells of its own hits


def examine_store(store: Store) -> list[Finding]:
    """Look at an open store and, for who owns the whole of it, at the installation that serves it.

    Whoever is bound to a tenant or a person learns of their store, and nothing of the machine.
    """
    try:
        settings = _settings_of(store)
    except InvalidInput as error:
        return [*_place(store, None), unreadable(error)]
    found = [*_place(store, settings), *_documents(store, settings.db_given)]
    if store.tenant is None and store._caller.user is None:
        found = [*installed(), *found, *configured(settings)]
    if store.unembedded() is None:
        found = [one for one in found if not _is_of_a_model(one)]
        found.append(Finding("model", "degraded", "the store was opened without: search by word"))
    return found


def _documents(store: Store, given: str | None) -> Iterator[Finding]:
    """Tell of files that are no longer what was read, as a search does."""
    changed = store._following.changed(_MOST_FILES)
    if changed:
        are = "1 file is" if changed == 1 else f"{changed:,} files are"
        detail = f"{are} no longer what was read: changed, or gone"
        yield Finding("documents", "degraded", detail, to_type("ingest", given))


def _is_of_a_model(one: Finding) -> bool:
    return one.component in _OF_A_MODEL or one.detail.startswith("vectors: ")  # those of a tier


def _settings_of(store: Store) -> Settings:
    """Return the settings that hold now, with what this store was opened with in their place."""
    settings = load(profile=store.profile)
    embedder = store._embedding.embedder
    others = (one for one in store._tiers.in_order() if not one.tier.own)
    return settings._replace(
        db=store.path,
        db_given=None if store.path == settings.db else store.path,
        tenant=None,  # the path is the tenant's own already
        embedder=settings.embedder if embedder is None else embedder.name,
        tiers=tuple(one_of(one) for one in others),
    )


def _place(store: Store, settings: Settings | None) -> Iterator[Finding]:
    from scrubjay.text.urls import is_server_url

    if is_server_url(store.path):
        from scrubjay.storage.postgres.connection import PostgresDatabase

        db = store._db
        if isinstance(db, PostgresDatabase):
            yield postgres_at(lambda: (db.address, db.schema))
    elif settings is not None:
        yield from own_store(settings)
    if settings is not None:
        yield from tiers(settings)
    yield from told(store.servers())
