"""Run all checks, on the settings or on an open store. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scrubjay.config import Settings, TierSetting, load
from scrubjay.errors import InvalidInput
from scrubjay.ops.doctor import Finding
from scrubjay.ops.doctor.database import (
    UNREAD,
    check_database,
    check_postgres,
    check_replicas,
    check_tiers,
    replica_findings,
    unread_files,
)
from scrubjay.ops.doctor.disk import check_disk
from scrubjay.ops.doctor.embedder import index_of
from scrubjay.ops.doctor.installation import check_configuration, check_packages
from scrubjay.ops.doctor.model_of_store import with_model_of_store
from scrubjay.ops.doctor.permissions import check_permissions
from scrubjay.runtime.command_hints import to_type
from scrubjay.text.urls import is_server_url

if TYPE_CHECKING:
    from scrubjay.store import Store

_MOST_FILES = 2000  # as many as a search checks; with more, each search reports on its own hits


def examine(settings: Settings) -> list[Finding]:
    settings = with_model_of_store(settings)
    indexed = settings._replace(embedder=index_of(settings))
    return [
        *check_packages(),
        *check_database(indexed),
        *check_permissions(settings),
        *check_tiers(indexed),
        *check_replicas(settings),
        *check_disk(settings),
        *check_configuration(settings),
    ]


def examine_store(store: Store) -> list[Finding]:
    """Check an open store and, for the owner of the whole database, the installation.
    A caller with a tenant or a user learns about their store, and nothing about the machine."""
    try:
        settings = _settings_of(store)
    except InvalidInput as error:
        return [*_check_open(store, None), unreadable(error)]
    findings = [*_check_open(store, settings), *_check_documents(store, settings.db_given)]
    if store.tenant is None and store._context.permissions.user is None:
        disk, permissions = check_disk(settings), check_permissions(settings)
        embedder = store._context.embedding.embedder
        machine = (*permissions, *disk, *check_configuration(settings, embedder))
        findings = [*check_packages(), *findings, *machine]
    else:
        # Damaged rows are named by the ids of their memories, which may be those of others.
        findings = [one for one in findings if one.component != "rows"]
    if store.unembedded() is None:
        findings = [one for one in findings if not _needs_embedder(one)]
        detail = "the store was opened without an embedder: keyword search only"
        findings.append(Finding("model", "degraded", detail))
    return findings


def unreadable(error: InvalidInput) -> Finding:
    return Finding("settings", "failed", str(error), "correct the file, then: scrubjay doctor")


def _check_documents(store: Store, db: str | None) -> Iterator[Finding]:
    changed = store._context.folders.changed(_MOST_FILES)
    if changed:
        files = "1 file has" if changed == 1 else f"{changed:,} files have"
        detail = f"{files} changed or disappeared since ingestion"
        yield Finding("documents", "degraded", detail, to_type("ingest", db))
    yield from unread_files(store._context.folders.count_failed(), db)


def _needs_embedder(finding: Finding) -> bool:
    is_of_a_tier = finding.detail.startswith("vectors: ")
    return finding.component in ("model", "embedding", "vectors") or is_of_a_tier


def _settings_of(store: Store) -> Settings:
    """Return the current settings, with what this store was opened with in their place."""
    settings = load(profile=store.profile)
    embedder = store._context.embedding.embedder
    return settings._replace(
        db=store.path,
        db_given=None if store.path == settings.db else store.path,
        tenant=None,  # the path is the tenant's own already
        embedder=settings.embedder if embedder is None else embedder.name,
        tiers=tuple(
            TierSetting(file.tier.name, file.path, file.tier.priority)
            for file in store._context.tiers.in_order()
            if not file.tier.own
        ),
    )


def _check_open(store: Store, settings: Settings | None) -> Iterator[Finding]:
    if is_server_url(store.path):
        from scrubjay.storage.postgres.connection import PostgresDatabase

        db = store._context.db
        if isinstance(db, PostgresDatabase):
            yield check_postgres(lambda: (db.address, db.schema))
    elif settings is not None:
        # Files that could not be read are counted for the caller, below.
        yield from (one for one in check_database(settings) if one.component != UNREAD)
    if settings is not None:
        yield from check_tiers(settings)
    yield from replica_findings(store.servers())
