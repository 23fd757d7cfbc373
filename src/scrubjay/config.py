"""Settings: a file, then the environment, then arguments; the later wins.

The file is `scrubjay.toml` in the user's configuration folder, or wherever SCRUBJAY_CONFIG points:

    db = "~/notes.db"                        # or postgres://user@host/database
    vectors = "qdrant://host:6333/notes"     # where they are not in the store itself
    graph = "falkordb://host:6379/notes"
    tenant = "acme"
    default_profile = "mine"
    chunk_tokens = 200
    chunk_overlap_tokens = 25
    timezone = "Europe/Berlin"
    short_turn_chars = 300
    reranker = "http://localhost:8012/v1/rerank#bge-reranker-v2-m3"
    generator = "http://localhost:11434/v1#qwen3:1.7b"

    [tiers]
    project = "~/vaults/project.db"
    handbook = { path = "~/handbook.db", priority = 0.7 }

    [profile.mine]
    base = "default"
    rrf = { k = 30 }

    [server]                                 # of `scrubjay serve`
    port = 8765

Relative paths begin at the folder of that file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.types import NOTHING

# Measured: docs/decisions/007-passages.md.
CHUNK_TOKENS = 200
CHUNK_OVERLAP_TOKENS = 25
SHORT_TURN_CHARS = 300
DEFAULT_EMBEDDER = "all-MiniLM-L6-v2"
DEFAULT_RERANKER = "late"
DEFAULT_GENERATOR = "none"
TIMEOUT_S = 10.0
BUILT_IN_TIERS = ("agent", "project", "team")
PRIORITY = 0.5  # of a connected vault
BUILT_IN_PROFILES = ("default", "gno", "gnosis", "vault", "cognis", "novamem")
_LONGEST_SHORT_TURN = 10_000
_TEXTS = (
    "db",
    "vectors",
    "graph",
    "tenant",
    "user",
    "default_profile",
    "embedder",
    "reranker",
    "reranker_dialect",
    "reranker_api_key_env",
    "generator",
    "generator_api_key_env",
    "timezone",
)
_NUMBERS = ("chunk_tokens", "chunk_overlap_tokens")
_CHARS = ("short_turn_chars",)
_SECONDS = ("reranker_timeout_s", "generator_timeout_s")
_KEYS = (*_TEXTS, *_NUMBERS, *_CHARS, *_SECONDS)
_TABLES = ("profile", "tiers", "server")


class TierSetting(NamedTuple):
    """A database to search: `priority` is what a connected vault counts, None for a built-in tier."""

    name: str
    path: str
    priority: float | None = None


def tier_setting(name: str, path: object, priority: object = None) -> TierSetting:
    """Return how a tier is found and what it counts; refuse what cannot be a file or a priority."""
    place = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if isinstance(place, str) and "://" in place:
        raise InvalidInput(
            f"the tier {name!r} is a server, {_shown(place)}; give the path of a file: only a store's"
            " own place can be a server"
        )
    if not isinstance(place, str) or not place.strip() or "\0" in place or place == ":memory:":
        raise InvalidInput(f"the tier {name!r} is {path!r}; give the path of its file")
    place = os.path.abspath(os.path.expanduser(place))
    if priority is None:
        return TierSetting(name, place)
    if isinstance(priority, bool) or not isinstance(priority, int | float):
        priority = f"{priority!r}"
    elif 0 < priority <= 1:
        return TierSetting(name, place, float(priority))
    raise InvalidInput(
        f"the priority of {name!r} is {priority}; give a number above 0 and at most 1,"
        f" {PRIORITY:g} is usual"
    )


class Access(NamedTuple):
    """Which model is asked, and how: a name or an address, its key, how long it may take."""

    spec: str
    api_key: str = ""
    timeout_s: float = TIMEOUT_S
    dialect: str = ""

    @property
    def shown(self) -> str:
        """The name or address, without what an address may hide: a login, a query with a key."""
        return _shown(self.spec)

    def __repr__(self) -> str:
        key = "…" if self.api_key else ""
        return f"Access({self.shown!r}, api_key={key!r}, timeout_s={self.timeout_s:g})"


class Settings(NamedTuple):
    """What a user has set, resolved.

    `db_chosen` is True where anybody named the store; `db_given` is what this call itself named.
    """

    db: str
    profile: str = "default"
    embedder: str = DEFAULT_EMBEDDER
    reranker: Access = Access(DEFAULT_RERANKER)
    generator: Access = Access(DEFAULT_GENERATOR)
    chunk_tokens: int = CHUNK_TOKENS
    chunk_overlap_tokens: int = CHUNK_OVERLAP_TOKENS
    short_turn_chars: int = SHORT_TURN_CHARS
    offline: bool = False
    config_file: str = ""
    profiles: Mapping[str, Mapping[str, Any]] = NOTHING
    user: str | None = None
    tiers: tuple[TierSetting, ...] = ()
    db_chosen: bool = False
    db_given: str | None = None
    timezone: str = ""
    vectors: str | None = None
    graph: str | None = None
    tenant: str | None = None
    server: Mapping[str, Any] = NOTHING

    def __repr__(self) -> str:
        shown = (
            f"{name}={(_shown(one) if isinstance(one, str) else one)!r}"
            for name, one in self._asdict().items()
        )
        return f"Settings({', '.join(shown)})"


def _shown(place: str) -> str:
    """Return a place without its login, where it is an address; anything else as it is."""
    if "://" not in place:
        return place
    from scrubjay.text.urls import strip_credentials

    return strip_credentials(place)


class Typed(NamedTuple):
    """What the command line says of every command's store; it wins over file and environment."""

    vectors: str | None = None
    graph: str | None = None
    tenant: str | None = None


typed = Typed()


def load(
    db: str | None = None,
    profile: str | None = None,
    user: str | None = None,
    *,
    vectors: str | None = None,
    graph: str | None = None,
    tenant: str | None = None,
) -> Settings:
    if db is not None and (not db.strip() or "\0" in db):
        raise InvalidInput(
            f"{_shown(db)!r} is not a path; give a file, or nothing for the default store"
        )
    elsewhere = Typed(vectors, graph, tenant)
    file = os.environ.get("SCRUBJAY_CONFIG") or _default_file()
    table = _read(file)
    env = os.environ
    chunk_tokens, overlap_tokens = _chunk_sizes(table)
    tiers = _tiers(file, table.get("tiers", {}))
    named = db or env.get("SCRUBJAY_DB")
    if named:  # one store, and no more than that
        tiers = ()
    chosen = named or (_beside(file, table["db"]) if table.get("db") else None)
    return Settings(
        db=os.path.expanduser(chosen or _highest(tiers) or _default_db()),
        profile=profile
        or env.get("SCRUBJAY_PROFILE")
        or table.get("default_profile")
        or "default",
        embedder=env.get("SCRUBJAY_EMBEDDER") or table.get("embedder") or DEFAULT_EMBEDDER,
        reranker=_access(table, "reranker", DEFAULT_RERANKER),
        generator=_access(table, "generator", DEFAULT_GENERATOR),
        chunk_tokens=chunk_tokens,
        chunk_overlap_tokens=overlap_tokens,
        short_turn_chars=check_short_turn(_whole(table, "short_turn_chars", SHORT_TURN_CHARS)),
        offline=offline(),
        config_file=file,
        profiles=table.get("profile", {}),
        server=table.get("server", {}),
        tiers=tiers,
        db_chosen=bool(chosen),
        db_given=db,
        vectors=_server("vectors", table, elsewhere.vectors, db),
        graph=_server("graph", table, elsewhere.graph, db),
        tenant=_named("tenant", table, elsewhere.tenant),
        timezone=_timezone(env.get("SCRUBJAY_TIMEZONE") or table.get("timezone") or ""),
        # An empty name is a wrong one, not none at all: it must not open everything.
        user=next(
            (
                one
                for one in (user, env.get("SCRUBJAY_USER"), table.get("user"))
                if one is not None
            ),
            None,
        ),
    )


def _named(name: str, table: Mapping[str, Any], given: str | None) -> str | None:
    """Return what is named by argument, at the shell, in the environment or in the file."""
    if given is not None:
        return given
    return getattr(typed, name) or os.environ.get(f"SCRUBJAY_{name.upper()}") or table.get(name)


def _server(name: str, table: Mapping[str, Any], given: str | None, db: str | None) -> str | None:
    """Return the server of a tier; "none" is none. One is meant for the store named in the same place.

    Whoever names another store for one call must not have it told to the company's server.
    """
    if db is not None:
        found = given if given is not None else getattr(typed, name)
    elif os.environ.get("SCRUBJAY_DB"):
        found = _named(name, {}, given)
    else:
        found = _named(name, table, given)
    return None if found == "none" else found


def _tiers(file: str, table: object) -> tuple[TierSetting, ...]:
    """Return the databases of the settings file: a path each, or a table with path and priority."""
    if not isinstance(table, dict):
        raise InvalidInput(f"{file}: tiers is a table of its own: [tiers]")
    found = []
    for name, given in table.items():
        one = given if isinstance(given, dict) else {"path": given}
        if set(one) - {"path", "priority"} or not isinstance(one.get("path"), str):
            raise InvalidInput(
                f"{file}: the tier {name} must be a path, or {{ path = FILE, priority = {PRIORITY:g} }}"
            )
        found.append(named_tier(name, _beside(file, one["path"]), one.get("priority")))
    return tuple(found)


def _beside(file: str, path: str) -> str:
    """Return a path of the settings file: a relative one begins at that file's folder.

    From the current folder it would be another store in every folder.
    """
    path = os.path.expanduser(path)
    if not path.strip() or path == ":memory:" or "://" in path:
        return path
    return os.path.join(os.path.dirname(os.path.abspath(file)), path)


def _highest(tiers: tuple[TierSetting, ...]) -> str | None:
    paths = {one.name: one.path for one in tiers}
    return next((paths[name] for name in BUILT_IN_TIERS if name in paths), None)


def named_tier(name: str, path: str, priority: object = None) -> TierSetting:
    """Return a tier by its name: agent, project and team have weights, any other has a priority."""
    if name == "own" or not name.isprintable():
        raise InvalidInput(
            f"{name!r} cannot be the name of a tier; give another, such as handbook"
        )
    if name not in BUILT_IN_TIERS:
        return tier_setting(name, path, PRIORITY if priority is None else priority)
    if priority is not None:
        raise InvalidInput(
            f"the tier {name!r} has no priority of its own; `--set tiers.weights=` changes its weight"
        )
    return tier_setting(name, path)


def offline() -> bool:
    """Say whether the user forbade the network (`SCRUBJAY_OFFLINE=1`)."""
    return os.environ.get("SCRUBJAY_OFFLINE", "").strip().lower() not in ("", "0", "false", "no")


def _access(table: Mapping[str, Any], role: str, usual: str) -> Access:
    """Return how the model of a role is reached, from the environment or the file.

    The file names the variable that holds a key, never the key itself: files are copied and shared.
    """
    env = os.environ
    if env.get(f"SCRUBJAY_{role.upper()}"):  # key and dialect of the file are for the file's model
        table = {key: value for key, value in table.items() if key == f"{role}_timeout_s"}
    variable = table.get(f"{role}_api_key_env") or f"SCRUBJAY_{role.upper()}_API_KEY"
    given = env.get(f"SCRUBJAY_{role.upper()}_TIMEOUT_S") or table.get(f"{role}_timeout_s")
    return Access(
        spec=env.get(f"SCRUBJAY_{role.upper()}") or table.get(role) or usual,
        api_key=env.get(variable, ""),
        timeout_s=TIMEOUT_S if given is None else _seconds(f"{role}_timeout_s", given),
        dialect=env.get(f"SCRUBJAY_{role.upper()}_DIALECT") or table.get(f"{role}_dialect", ""),
    )


def _timezone(name: str) -> str:
    """Refuse a time zone that does not exist; the name of nothing is that of this machine."""
    if name:
        from scrubjay.times import time_zone

        time_zone(name, "timezone")
    return name


def _seconds(name: str, given: object) -> float:
    try:
        seconds = float(str(given))
    except ValueError:
        seconds = 0.0
    if isinstance(given, bool) or not 0 < seconds <= 3600:
        raise InvalidInput(f"{name} is {given!r}; give seconds above 0, {TIMEOUT_S:g} is usual")
    return seconds


def _chunk_sizes(table: Mapping[str, Any]) -> tuple[int, int]:
    """Return how large a chunk is and how much it repeats, from the environment or the file."""
    sizes = []
    for name, usual in zip(_NUMBERS, (CHUNK_TOKENS, CHUNK_OVERLAP_TOKENS), strict=True):
        sizes.append(_whole(table, name, usual))
    return check_chunk_sizes(*sizes)


def _whole(table: Mapping[str, Any], name: str, usual: int) -> object:
    """Return a number from the environment or the file; what is none comes back as it is."""
    given = os.environ.get(f"SCRUBJAY_{name.upper()}") or table.get(name, usual)
    return int(given) if str(given).isdecimal() else given


def check_short_turn(chars: object) -> int:
    """Refuse what is no length of a turn; 0 lets every turn stand alone."""
    if type(chars) is not int or not 0 <= chars <= _LONGEST_SHORT_TURN:
        raise InvalidInput(
            f"short_turn_chars is {chars!r}; give a whole number of 0 to {_LONGEST_SHORT_TURN},"
            f" {SHORT_TURN_CHARS} is usual"
        )
    return chars


def check_chunk_sizes(tokens: object, overlap: object) -> tuple[int, int]:
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
    unknown = sorted(set(table) - {*_KEYS, *_TABLES})
    if unknown:
        known = ", ".join((*_KEYS, *_TABLES))
        from scrubjay.text.validation import did_you_mean

        meant = did_you_mean(unknown[0], (*_KEYS, *_TABLES))
        raise InvalidInput(f"{file}: unknown setting {unknown[0]!r}{meant}; known are {known}")
    for key in _TEXTS:
        if not isinstance(table.get(key, ""), str):
            raise InvalidInput(f"{file}: {key} must be a text")
    if not isinstance(table.get("server", {}), dict):
        raise InvalidInput(f"{file}: server is a table of its own: [server]")
    profiles = table.get("profile", {})
    hidden = [
        name for name in BUILT_IN_PROFILES if isinstance(profiles, dict) and name in profiles
    ]
    if hidden:
        raise InvalidInput(
            f"{file}: [profile.{hidden[0]}] would hide the built-in one; give it a name of its own and"
            ' set default_profile = "NAME"'
        )
    if not isinstance(profiles, dict) or any(
        not isinstance(one, dict) for one in profiles.values()
    ):
        raise InvalidInput(f"{file}: a profile is a table of its own, such as [profile.mine]")


def _default_file() -> str:
    from scrubjay.runtime.paths import config_dir

    return os.path.join(config_dir(), "scrubjay.toml")


def _default_db() -> str:
    from scrubjay.runtime.paths import data_dir

    return os.path.join(data_dir(), "memory.db")


def tiers_given(tiers: Mapping[str, str | os.PathLike[str]]) -> tuple[TierSetting, ...]:
    """Return the tiers that a caller names; refuse other names than the built-in ones."""
    if not isinstance(tiers, Mapping):
        raise InvalidInput(f"tiers is {tiers!r}; give a mapping such as {{'project': 'p.db'}}")
    for name in tiers:
        if name not in BUILT_IN_TIERS:
            raise InvalidInput(
                f"there is no tier {name!r}; the tiers are {', '.join(BUILT_IN_TIERS)}; connect any other"
                f" to the open store: connect(path, name={name!r}, priority=0.5)"
            )
    return tuple(tier_setting(name, path) for name, path in tiers.items())


def own_path(
    settings: Settings, path: str | None, tiers: Sequence[TierSetting], *, named_here: bool
) -> str | None:
    """Return the store's own file, or None where it is the highest tier.

    A path wins. Tiers given as an argument (`named_here`) win over a file of the environment or the
    settings; tiers of the settings are searched beside a file of the settings.
    """
    if path is not None:
        return settings.db
    has_tier = any(tier.name in BUILT_IN_TIERS for tier in tiers)
    return None if has_tier and (named_here or not settings.db_chosen) else settings.db


def make_folder(folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot create the folder {folder} ({error.strerror}); name a store elsewhere,"
            " or set SCRUBJAY_HOME"
        ) from error
