"""Settings: a file, overridden by environment variables, overridden by arguments.

The file is `scrubjay.toml` in the user's configuration folder, or the file that SCRUBJAY_CONFIG names:

    db = "~/notes.db"                        # or postgres://user@host/database
    vectors = "qdrant://host:6333/notes"     # replicas, if any
    graph = "falkordb://host:6379/notes"
    tenant = "acme"
    default_profile = "mine"
    chunk_tokens = 200
    chunk_overlap_tokens = 25
    timezone = "Europe/Berlin"
    short_turn_chars = 300
    file_timeout_s = 30
    file_memory_mb = 1000
    embedder = "intfloat/multilingual-e5-small"  # auto: the model of the store's index
    multilingual = "use-multilingual-3"      # or none
    device = "auto"
    reranker = "http://localhost:8012/v1/rerank#bge-reranker-v2-m3"
    generator = "http://localhost:11434/v1#qwen3:1.7b"

    [tiers]
    project = "~/vaults/project.db"
    handbook = { path = "~/handbook.db", priority = 0.7 }

    [profile.mine]
    base = "default"
    rrf = { k = 30 }

    [server]                                 # for `scrubjay serve`
    port = 8765

Relative paths start at the folder of that file.
"""

# No annotations of __future__: see scrubjay.types.

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput, StoreError
from scrubjay.types import NOTHING

# Measured: docs/decisions/007-passages.md.
CHUNK_TOKENS = 200
CHUNK_OVERLAP_TOKENS = 25
SHORT_TURN_CHARS = 300
FILE_TIMEOUT_S = 30.0
FILE_MEMORY_MB = 1000
DEFAULT_EMBEDDER = (
    "auto"  # that of the store's index; for a new store, the best one that is installed
)
DEFAULT_MULTILINGUAL = "use-multilingual-3"
DEFAULT_RERANKER = "late"
DEFAULT_GENERATOR = "none"
TIMEOUT_S = 10.0
DEVICES = ("auto", "cpu", "cuda", "coreml", "directml")
POOLINGS = ("mean", "cls", "max", "lasttoken", "weightedmean", "mean_sqrt_len")
BUILT_IN_TIERS = ("agent", "project", "team")
PRIORITY = 0.5  # of a connected vault
BUILT_IN_PROFILES = ("default", "gno", "gnosis", "vault", "cognis", "novamem")
_MAX_SHORT_TURN = 10_000
_TEXTS = tuple(
    "db vectors graph tenant user default_profile embedder embedder_api_key_env"
    " embedder_query_prompt embedder_text_prompt embedder_pooling multilingual device reranker"
    " reranker_dialect reranker_api_key_env generator generator_api_key_env timezone".split()
)
_CHUNK_SIZES = ("chunk_tokens", "chunk_overlap_tokens")
_NUMBERS = (
    *(*_CHUNK_SIZES, "short_turn_chars", "file_timeout_s", "file_memory_mb"),
    *("embedder_timeout_s", "embedder_window", "embedder_dims"),
    *("reranker_timeout_s", "generator_timeout_s"),
)
_KEYS = (*_TEXTS, *_NUMBERS)
_NAMES = (*_KEYS, "profile", "tiers", "server")


class TierSetting(NamedTuple):
    """A database to search; `priority` is the weight of a connected vault, None for a built-in tier."""

    name: str
    path: str
    priority: float | None = None


def tier_setting(name: str, path: object, priority: object = None) -> TierSetting:
    """Return a checked tier; InvalidInput for a path or priority that cannot be used."""
    place = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if isinstance(place, str) and "://" in place:
        raise InvalidInput(
            f"the tier {name!r} is on a server, {_shown(place)}; give the path of a file: only the"
            " store's own database can be on a server"
        )
    if not isinstance(place, str) or not place.strip() or "\0" in place or place == ":memory:":
        raise InvalidInput(f"the tier {name!r} has the path {path!r}; give the path of a file")
    place = os.path.abspath(os.path.expanduser(place))
    if priority is None:
        return TierSetting(name, place)
    if isinstance(priority, bool) or not isinstance(priority, int | float):
        priority = f"{priority!r}"
    elif 0 < priority <= 1:
        return TierSetting(name, place, float(priority))
    raise InvalidInput(
        f"the priority of {name!r} is {priority}; give a number above 0 and at most 1 ({PRIORITY:g})"
    )


class FileLimits(NamedTuple):
    """Limits for reading one file of a foreign format; larger files get more time."""

    timeout_s: float = FILE_TIMEOUT_S
    memory_mb: int = FILE_MEMORY_MB


class Access(NamedTuple):
    """Access to a model: its name or URL, API key, time-out and dialect."""

    spec: str
    api_key: str = ""
    timeout_s: float = TIMEOUT_S
    dialect: str = ""

    @property
    def shown(self) -> str:
        """The name or URL, without credentials."""
        return _shown(self.spec)

    def __repr__(self) -> str:
        key = "…" if self.api_key else ""
        return f"Access({self.shown!r}, api_key={key!r}, timeout_s={self.timeout_s:g})"


class EmbedderAccess(NamedTuple):
    """Access to an embedder: its name, folder or URL, and what the settings say about it.
    None for a prompt, "" for the pooling and 0 for a number: as the model's own files say."""

    spec: str
    api_key: str = ""
    timeout_s: float = TIMEOUT_S
    query_prompt: str | None = None
    text_prompt: str | None = None
    pooling: str = ""
    window: int = 0
    dims: int = 0

    @property
    def shown(self) -> str:
        """The name, folder or URL, without credentials."""
        return _shown(self.spec)

    def __repr__(self) -> str:
        key = "…" if self.api_key else ""
        return f"EmbedderAccess({self.shown!r}, api_key={key!r}, timeout_s={self.timeout_s:g})"


class Settings(NamedTuple):
    """The resolved settings.
    `db_chosen` is True if any setting names the database; `db_given` is the argument of this call;
    `reranker_named` is True if any setting names the reranker."""

    db: str
    profile: str = "default"
    embedder: str = DEFAULT_EMBEDDER
    embedder_access: EmbedderAccess = EmbedderAccess(DEFAULT_EMBEDDER)
    multilingual: str = DEFAULT_MULTILINGUAL
    device: str = "auto"
    reranker: Access = Access(DEFAULT_RERANKER)
    reranker_named: bool = False
    generator: Access = Access(DEFAULT_GENERATOR)
    chunk_tokens: int = CHUNK_TOKENS
    chunk_overlap_tokens: int = CHUNK_OVERLAP_TOKENS
    short_turn_chars: int = SHORT_TURN_CHARS
    file_timeout_s: float = FILE_TIMEOUT_S
    file_memory_mb: int = FILE_MEMORY_MB
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
            f"{name}={(_shown(value) if isinstance(value, str) else value)!r}"
            for name, value in self._asdict().items()
        )
        return f"Settings({', '.join(shown)})"


def _shown(place: str) -> str:
    """Return a URL without credentials; anything else unchanged."""
    if "://" not in place:
        return place
    from scrubjay.text.urls import strip_credentials

    return strip_credentials(place)


class Typed(NamedTuple):
    """Command line options that every command has; they override file and environment."""

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
            f"{_shown(db)!r} is not a path; give a file, or nothing for the default database"
        )
    from scrubjay.runtime.paths import data_dir

    env = os.environ
    file, table = _settings_file()
    embedding = _embedder_access(file, table, None)
    chunk_tokens, overlap_tokens = check_chunk_sizes(
        _whole(table, "chunk_tokens", CHUNK_TOKENS),
        _whole(table, "chunk_overlap_tokens", CHUNK_OVERLAP_TOKENS),
    )
    limits = check_file_limits(
        env.get("SCRUBJAY_FILE_TIMEOUT_S") or table.get("file_timeout_s", FILE_TIMEOUT_S),
        _whole(table, "file_memory_mb", FILE_MEMORY_MB),
    )
    tiers = _tiers(file, table.get("tiers", {}))
    named = db or env.get("SCRUBJAY_DB")
    if named:  # only that database
        tiers = ()
    chosen = named or (_resolved(file, table["db"]) if table.get("db") else None)
    paths = {tier.name: tier.path for tier in tiers}
    highest = next((paths[name] for name in BUILT_IN_TIERS if name in paths), None)
    users = (user, env.get("SCRUBJAY_USER"), table.get("user"))
    profiles = (profile, env.get("SCRUBJAY_PROFILE"), table.get("default_profile"), "default")
    return Settings(
        db=os.path.expanduser(chosen or highest or os.path.join(data_dir(), "memory.db")),
        profile=next(filter(None, profiles)),
        embedder=embedding.spec,
        embedder_access=embedding,
        multilingual=env.get("SCRUBJAY_MULTILINGUAL")
        or table.get("multilingual")
        or DEFAULT_MULTILINGUAL,
        device=_device(table),
        reranker=_access(table, "reranker", DEFAULT_RERANKER),
        reranker_named=bool(env.get("SCRUBJAY_RERANKER") or table.get("reranker")),
        generator=_access(table, "generator", DEFAULT_GENERATOR),
        chunk_tokens=chunk_tokens,
        chunk_overlap_tokens=overlap_tokens,
        short_turn_chars=check_short_turn(_whole(table, "short_turn_chars", SHORT_TURN_CHARS)),
        file_timeout_s=limits.timeout_s,
        file_memory_mb=limits.memory_mb,
        offline=offline(),
        config_file=file,
        profiles=table.get("profile", {}),
        server=table.get("server", {}),
        tiers=tiers,
        db_chosen=bool(chosen),
        db_given=db,
        vectors=_server("vectors", table, vectors, db),
        graph=_server("graph", table, graph, db),
        tenant=_named("tenant", table, tenant),
        timezone=_timezone(env.get("SCRUBJAY_TIMEZONE") or table.get("timezone") or ""),
        # An empty name is invalid, and not the same as no name: it must not give access to everything.
        user=next((name for name in users if name is not None), None),
    )


def _named(name: str, table: Mapping[str, Any], given: str | None) -> str | None:
    """Return a setting from the argument, the command line, the environment or the file."""
    if given is not None:
        return given
    return getattr(typed, name) or os.environ.get(f"SCRUBJAY_{name.upper()}") or table.get(name)


def _server(name: str, table: Mapping[str, Any], given: str | None, db: str | None) -> str | None:
    """Return the URL of a replica, None for "none".
    It belongs to the database that is named in the same place: a call with another database must
    not send its memories to the replica of the settings."""
    if db is not None:
        url = given if given is not None else getattr(typed, name)
    else:
        url = _named(name, {} if os.environ.get("SCRUBJAY_DB") else table, given)
    return None if url == "none" else url


def _tiers(file: str, table: object) -> tuple[TierSetting, ...]:
    """Return the tiers of the settings file: a path each, or a table with path and priority."""
    if not isinstance(table, dict):
        raise InvalidInput(f"{file}: tiers must be a table: [tiers]")
    tiers = []
    for name, given in table.items():
        tier = given if isinstance(given, dict) else {"path": given}
        if set(tier) - {"path", "priority"} or not isinstance(tier.get("path"), str):
            raise InvalidInput(
                f"{file}: the tier {name} must be a path, or {{ path = FILE, priority = {PRIORITY:g} }}"
            )
        tiers.append(named_tier(name, _resolved(file, tier["path"]), tier.get("priority")))
    return tuple(tiers)


def _resolved(file: str, path: str) -> str:
    """Return a path of the settings file; a relative one starts at the folder of that file.
    Resolved from the current folder it would be another database in every folder."""
    path = os.path.expanduser(path)
    if not path.strip() or path == ":memory:" or "://" in path:
        return path
    return os.path.join(os.path.dirname(os.path.abspath(file)), path)


def named_tier(name: str, path: str, priority: object = None) -> TierSetting:
    """Return a tier; only tiers other than agent, project and team may have a priority."""
    if name == "own" or not name.isprintable():
        raise InvalidInput(f"{name!r} cannot name a tier; give another name, such as handbook")
    if name not in BUILT_IN_TIERS:
        return tier_setting(name, path, PRIORITY if priority is None else priority)
    if priority is not None:
        raise InvalidInput(
            f"the tier {name!r} cannot have a priority; `--set tiers.weights=` changes its weight"
        )
    return tier_setting(name, path)


def offline() -> bool:
    """True if the user has forbidden network access (`SCRUBJAY_OFFLINE=1`)."""
    return os.environ.get("SCRUBJAY_OFFLINE", "").strip().lower() not in ("", "0", "false", "no")


def _access(table: Mapping[str, Any], role: str, default: str) -> Access:
    """Return the access to the model of a role, from the environment or the file.
    The file names the variable that has the API key, never the key: files are copied and shared."""
    env, variable = os.environ, f"SCRUBJAY_{role.upper()}"
    if env.get(variable):  # key and dialect of the file are for the file's model
        table = {key: value for key, value in table.items() if key == f"{role}_timeout_s"}
    timeout_s = env.get(f"{variable}_TIMEOUT_S") or table.get(f"{role}_timeout_s")
    return Access(
        spec=env.get(variable) or table.get(role) or default,
        api_key=env.get(table.get(f"{role}_api_key_env") or f"{variable}_API_KEY", ""),
        timeout_s=TIMEOUT_S if timeout_s is None else _seconds(f"{role}_timeout_s", timeout_s),
        dialect=env.get(f"{variable}_DIALECT") or table.get(f"{role}_dialect", ""),
    )


def embedder_access(spec: str | None = None) -> EmbedderAccess:
    """Return the access to an embedder, by default that of the settings."""
    file, table = _settings_file()
    return _embedder_access(file, table, spec)


def device() -> str:
    """Return the device that local models run on, one of DEVICES."""
    return _device(_settings_file()[1])


def _settings_file() -> tuple[str, dict[str, Any]]:
    from scrubjay.runtime.paths import config_dir

    file = os.environ.get("SCRUBJAY_CONFIG") or os.path.join(config_dir(), "scrubjay.toml")
    return file, _read(file)


def _embedder_access(file: str, table: Mapping[str, Any], given: str | None) -> EmbedderAccess:
    """Return the access to the given embedder, or to that of the environment or the file.
    What the file says about its embedder, such as the API key, is for that embedder only."""
    env, own = os.environ, table.get("embedder") or DEFAULT_EMBEDDER
    own = os.path.normpath(_resolved(file, own)) if own.startswith((".", "~")) else own
    spec = given or env.get("SCRUBJAY_EMBEDDER") or own
    about = table if spec in (own, table.get("embedder")) else {}

    def text(name: str) -> str | None:
        return env.get(f"SCRUBJAY_{name.upper()}", about.get(name))

    def number(name: str) -> int:
        value = _whole(about, name, 0)
        if type(value) is not int or not 0 <= value <= 1_000_000:
            raise InvalidInput(f"{name} is {value!r}; give a whole number such as 512")
        return value

    pooling = text("embedder_pooling") or ""
    if pooling and pooling not in POOLINGS:
        raise InvalidInput(f"embedder_pooling is {pooling!r}; give one of {', '.join(POOLINGS)}")
    limit = "embedder_timeout_s"
    timeout_s = env.get("SCRUBJAY_EMBEDDER_TIMEOUT_S") or table.get(limit, TIMEOUT_S)
    return EmbedderAccess(
        spec=spec,
        api_key=env.get(about.get("embedder_api_key_env") or "SCRUBJAY_EMBEDDER_API_KEY", ""),
        timeout_s=_seconds(limit, timeout_s),
        query_prompt=text("embedder_query_prompt"),
        text_prompt=text("embedder_text_prompt"),
        pooling=pooling,
        window=number("embedder_window"),
        dims=number("embedder_dims"),
    )


def _device(table: Mapping[str, Any]) -> str:
    given = str(os.environ.get("SCRUBJAY_DEVICE") or table.get("device") or DEVICES[0])
    if given not in DEVICES:
        raise InvalidInput(f"device is {given!r}; give one of {', '.join(DEVICES)}")
    return given


def _timezone(name: str) -> str:
    """Return a time zone that exists; "" is that of this machine."""
    if name:
        from scrubjay.times import time_zone

        time_zone(name, "timezone")
    return name


def _seconds(name: str, given: object, default: float = TIMEOUT_S) -> float:
    try:
        seconds = float(str(given))
    except ValueError:
        seconds = 0.0
    if isinstance(given, bool) or not 0 < seconds <= 3600:
        raise InvalidInput(f"{name} is {given!r}; give seconds above 0 (default: {default:g})")
    return seconds


def _whole(table: Mapping[str, Any], name: str, default: int) -> object:
    """Return a whole number from the environment or the file; anything else unchanged."""
    given = os.environ.get(f"SCRUBJAY_{name.upper()}") or table.get(name, default)
    return int(given) if str(given).isdecimal() else given


def check_short_turn(chars: object) -> int:
    """Return a valid maximum length of short turns; with 0 no turn gets context."""
    if type(chars) is not int or not 0 <= chars <= _MAX_SHORT_TURN:
        raise InvalidInput(
            f"short_turn_chars is {chars!r}; give a whole number from 0 to {_MAX_SHORT_TURN}"
            f" (default: {SHORT_TURN_CHARS})"
        )
    return chars


def check_file_limits(timeout_s: object, memory_mb: object) -> FileLimits:
    """Return valid limits for reading a file; below 100 MB ordinary files would fail."""
    if type(memory_mb) is not int or not 100 <= memory_mb <= 1_000_000:
        raise InvalidInput(
            f"file_memory_mb is {memory_mb!r}; give a whole number of megabytes, 100 or more"
            f" (default: {FILE_MEMORY_MB})"
        )
    return FileLimits(_seconds("file_timeout_s", timeout_s, FILE_TIMEOUT_S), memory_mb)


def check_chunk_sizes(tokens: object, overlap: object) -> tuple[int, int]:
    for name, given in zip(_CHUNK_SIZES, (tokens, overlap), strict=True):
        if type(given) is not int or given < 0:
            raise InvalidInput(f"{name} is {given!r}; give a whole number such as {CHUNK_TOKENS}")
    assert isinstance(tokens, int) and isinstance(overlap, int)  # noqa: PT018
    if not 20 <= tokens <= 100_000:
        raise InvalidInput(f"chunk_tokens is {tokens}; give 20 or more (default: {CHUNK_TOKENS})")
    if overlap > tokens // 2:
        raise InvalidInput(
            f"chunk_overlap_tokens is {overlap}; give at most half of chunk_tokens ({tokens // 2})"
        )
    return tokens, overlap


def _read(file: str) -> dict[str, Any]:
    if not os.path.exists(file):
        if os.environ.get("SCRUBJAY_CONFIG"):
            raise InvalidInput(f"SCRUBJAY_CONFIG names {file}, which does not exist")
        return {}
    import tomllib

    try:
        with open(file, "rb") as opened:
            table = tomllib.load(opened)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise InvalidInput(f"{file} is not valid TOML: {error}") from error
    _check(file, table)
    return table


def _check(file: str, table: dict[str, Any]) -> None:
    if unknown := sorted(set(table) - set(_NAMES)):
        from scrubjay.text.validation import did_you_mean

        hint, known = did_you_mean(unknown[0], _NAMES), ", ".join(_NAMES)
        raise InvalidInput(
            f"{file}: unknown setting {unknown[0]!r}{hint}; the settings are {known}"
        )
    for key in _TEXTS:
        if not isinstance(table.get(key, ""), str):
            raise InvalidInput(f"{file}: {key} must be a text")
    if not isinstance(table.get("server", {}), dict):
        raise InvalidInput(f"{file}: server must be a table: [server]")
    profiles = table.get("profile", {})
    if not isinstance(profiles, dict) or not all(isinstance(p, dict) for p in profiles.values()):
        raise InvalidInput(f"{file}: a profile must be a table, such as [profile.mine]")
    for name in BUILT_IN_PROFILES:
        if name in profiles:
            raise InvalidInput(
                f"{file}: [profile.{name}] has the name of a built-in profile; choose another name and"
                ' set default_profile = "NAME"'
            )


def tiers_given(tiers: Mapping[str, str | os.PathLike[str]]) -> tuple[TierSetting, ...]:
    """Return the tiers of a caller, which must have built-in names."""
    if not isinstance(tiers, Mapping):
        raise InvalidInput(f"tiers is {tiers!r}; give a mapping such as {{'project': 'p.db'}}")
    for name in tiers:
        if name not in BUILT_IN_TIERS:
            raise InvalidInput(
                f"unknown tier {name!r}; the tiers are {', '.join(BUILT_IN_TIERS)}; connect any other"
                f" to the open store: connect(path, name={name!r}, priority=0.5)"
            )
    return tuple(tier_setting(name, path) for name, path in tiers.items())


def own_path(
    settings: Settings, path: str | None, tiers: Sequence[TierSetting], *, named_here: bool
) -> str | None:
    """Return the path of the store's own database, or None if that is the highest tier.
    A path comes first, then tiers given as an argument (`named_here`), then the database of the
    environment or the settings; tiers of the settings are searched together with that."""
    if path is not None:
        return settings.db
    has_tier = any(tier.name in BUILT_IN_TIERS for tier in tiers)
    return None if has_tier and (named_here or not settings.db_chosen) else settings.db


def make_folder(folder: str) -> None:
    """Create the folder of a database, for this user only."""
    from scrubjay.runtime.private_files import make_private_folder

    try:
        make_private_folder(folder)
    except OSError as error:
        raise StoreError(
            f"cannot create the folder {folder} ({error.strerror}); give another path for the"
            " database, or set SCRUBJAY_HOME"
        ) from error
