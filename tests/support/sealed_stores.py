"""Sealed stores for tests: `scrubjay.open(key=…)` refuses a key until all parts of a store can be sealed."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

from scrubjay.sharing.tiers import files
from scrubjay.storage.sealed import opening
from scrubjay.storage.sealed.codec import SealedCodec
from scrubjay.storage.sealed.key_sources import Secret, secret_of
from scrubjay.storage.sealed.primitives import Argon2
from scrubjay.storage.sqlite.connection import SqliteDatabase
from scrubjay.store import Store

FAST = Argon2(64, 1, 1)


def sealed_database(path: str, secret: Secret, **options: Any) -> SqliteDatabase:
    """Open a sealed file, or make one."""
    codec = SealedCodec()
    db = SqliteDatabase(path, codec=codec, **options)
    try:
        if opening.is_sealed(db):
            opening.unlock(db, codec, secret)
        else:
            opening.seal_new(db, codec, secret, FAST)
    except BaseException:
        db.close()
        raise
    return db


def open_sealed(path: Path, key: str | bytes = b"k" * 32, **options: Any) -> Store:
    """Open a whole store on such a file."""

    def database(path: str, **given: Any) -> SqliteDatabase:
        return sealed_database(path, secret_of(key), **given)

    with patch.object(files, "SqliteDatabase", database):
        return Store(str(path), **options)
