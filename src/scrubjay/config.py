"""Settings: a file, then the environment, then arguments; the later wins.

The file is `scrubjay.toml` in the user's configuration folder, or wherever SCRUBJAY_CONFIG points:

    db = "~/notes.db"
    default_profile = "mine"
    chunk_tokens = 200
    chunk_overlap_tokens = 25

    [profile.mine]
    base = "default"
    rrf = { k = 30 }
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput
from scrubjay.types import NOTHING

# Measured: docs/decisions/007-passages.md.
CHUNK_TOKENS = 200
CHUNK_OVERLAP_TOKENS = 25
DEFAULT_EMBEDDER = "all-MiniLM-L6-v2"
_TEXTS = ("db", "default_profile", "embedder")
_NUMBERS = ("chunk_tokens", "chunk_overlap_tokens")
_KEYS = (*_TEXTS, *_NUMBERS)


class Settings(NamedTuple):
    """What a user has set, resolved."""

    db: str
    profile: str = "default"
    embedder: str = DEFAULT_EMBEDDER
    chunk_tokens: int = CHUNK_TOKENS
    chunk_overlap_tokens: int = CHUNK_OVERLAP_TOKENS
    offline: bool = False
    config_file: str = ""
    profiles: Mapping[str, Mapping[str, Any]] = NOTHING


def load(db: str | None = None, profile: str | None = None) -> Settings:
    """Read the settings that hold now."""
    if db is not None and (not db.strip() or "\0" in db):
        raise InvalidInput(f"{db!r} is not a path; give a file, or nothing for the default store")
    file = os.environ.get("SCRUBJAY_CONFIG") or _default_file()
    table = _read(file)
    env = os.environ
    chunk_tokens, overlap_tokens = _chunk_sizes(table)
    return Settings(
        db=os.path.expanduser(db or env.get("SCRUBJAY_DB") or table.get("db") or _default_db()),
        profile=profile
        or env.get("SCRUBJAY_PROFILE")
        or table.get("default_profile")
        or "default",
        embedder=env.get("SCRUBJAY_EMBEDDER") or table.get("embedder") or DEFAULT_EMBEDDER,
        chunk_tokens=chunk_tokens,
        chunk_overlap_tokens=overlap_tokens,
        offline=offline(),
        config_file=file,
        profiles=table.get("profile", {}),
    )


def offline() -> bool:
    """Say whether the user forbade the network (`SCRUBJAY_OFFLINE=1`)."""
    return os.environ.get("SCRUBJAY_OFFLINE", "").strip().lower() not in ("", "0", "false", "no")


def _chunk_sizes(table: Mapping[str, Any]) -> tuple[int, int]:
    """Return how large a chunk is and how much it repeats, from the environment or the file."""
    sizes = []
    for name, usual in zip(_NUMBERS, (CHUNK_TOKENS, CHUNK_OVERLAP_TOKENS), strict=True):
        given = os.environ.get(f"SCRUBJAY_{name.upper()}") or table.get(name, usual)
        sizes.append(int(given) if str(given).isdecimal() else given)
    return check_chunk_sizes(*sizes)


def check_chunk_sizes(tokens: object, overlap: object) -> tuple[int, int]:
    """Refuse sizes of chunks that cannot work."""
    for name, given in zip(_NUMBERS, (tokens, overlap), strict=True):
        if type(given) is not int or given < 0:
            raise InvalidInput(f"{name} is {given!r}; give a whole number such as {CHUNK_TOKENS}")
    assert isinstance(tokens, int)
    assert isinstance(overlap, int)
    if not 20 <= tokens <= 100_000:
        raise InvalidInput(f"chunk_tokens is {tokens}; give 20 or more, {CHUNK_TOKENS} is usual")
    if overlap > tokens // 2:
        raise InvalidInput(
            f"chunk_overlap_tokens is {overlap}; give at most half of chunk_tokens ({tokens // 2})"
        )
    return tokens, overlap


def _read(file: str) -> dict[str, Any]:
    if not os.path.exists(file):
        if os.environ.get("SCRUBJAY_CONFIG"):
            raise InvalidInput(f"SCRUBJAY_CONFIG names {file}, which is not there")
        return {}
    import tomllib

    try:
        with open(file, "rb") as opened:
            table = tomllib.load(opened)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(f"{file} cannot be read as TOML: {error}") from error
    _check(file, table)
    return table


def _check(file: str, table: dict[str, Any]) -> None:
    unknown = sorted(set(table) - {*_KEYS, "profile"})
    if unknown:
        known = ", ".join((*_KEYS, "profile"))
        raise InvalidInput(f"{file}: unknown setting {unknown[0]!r}; known are {known}")
    for key in _TEXTS:
        if not isinstance(table.get(key, ""), str):
            raise InvalidInput(f"{file}: {key} must be a text")
    profiles = table.get("profile", {})
    if isinstance(profiles, dict) and "default" in profiles:
        raise InvalidInput(
            f"{file}: [profile.default] would hide the built-in one; give it a name of its own and"
            ' set default_profile = "NAME"'
        )
    if not isinstance(profiles, dict) or any(
        not isinstance(one, dict) for one in profiles.values()
    ):
        raise InvalidInput(f"{file}: a profile is a table of its own, such as [profile.mine]")


def _default_file() -> str:
    from scrubjay.paths import config_dir

    return os.path.join(config_dir(), "scrubjay.toml")


def _default_db() -> str:
    from scrubjay.paths import data_dir

    return os.path.join(data_dir(), "memory.db")
