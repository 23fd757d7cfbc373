"""The files of a store: its own, and those of other tiers, opened when asked for and again once lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.config import BUILT_IN_TIERS, SHORT_TURN_CHARS, TierSetting, tier_setting
from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.search.pipeline import Tier
from scrubjay.search.tables import Tables
from scrubjay.storage.sqlite.connection import WAIT_S, SqliteDatabase
from scrubjay.storage.sqlite.location import same_file
from scrubjay.text.urls import (
    NO_REPLICAS,
    ReplicaAddresses,
    check_tenant,
    is_server_url,
    tenant_file,
    tenant_schema,
)
from scrubjay.text.validation import check_name

if TYPE_CHECKING:
    from scrubjay.storage.database import Database
    from scrubjay.types import Scope
    from scrubjay.types.reports import TierState

# A highest tier that somebody has locked is not waited for as long as a write is: others can answer.
OPENING_WAIT_S = 5.0


class Reached(NamedTuple):
    """A tier as it is now: its stores, or why it cannot be asked."""

    tier: Tier
    path: str
    tables: Tables | None = None


class TierFile:
    """One database file of a store. `made_by` is what a person types to make it, where we do not."""

    def __init__(
        self,
        setting: TierSetting,
        person: str | None,
        *,
        own: bool = False,
        made_by: str | None = None,
    ) -> None:
        self.person = person
        self.path = setting.path
        self.tier = Tier(setting.name, priority=setting.priority, own=own, path=setting.path)
        self.made_by = made_by
        self._own: Tables | None = None
        self._tables: Tables | None = None
        self._looked = _look(setting.path)
        self._opening = threading.Lock()
        self._closed = False

    def take(self, tables: Tables) -> None:
        """Use the stores that the store itself has opened."""
        self._own = self._tables = tables
        self._looked = _look(self.path)

    def reached(self) -> Reached:
        """Return its stores as they are now, opened anew where they were lost; or say why not."""
        try:
            tables = self.tables()
        except StoreError as lost:
            return Reached(self.tier._replace(lost=str(lost)), self.path)
        return Reached(self.tier._replace(kit=tables.kit), self.path, tables)

    def tables(self) -> Tables:
        """Return its stores; StoreError says why it cannot be asked."""
        with self._opening:
            if self._closed:
                raise StoreError(f"{self.path} is closed; open it again with scrubjay.open()")
            tables = next(filter(None, map(self._well, (self._own, self._tables))), None)
            if tables is None:
                self._tables = None
                looked = _look(self.path)
                self._refuse_unmade()
                tables = self._tables = open_existing(self.path, self.person)
                self._looked = looked
        # A file that is locked says so here, once, and not to each stage of a search.
        tables.db.ping()
        return tables

    def _refuse_unmade(self) -> None:
        """Say how an own file is made that never was there."""
        if self.made_by is not None and not os.path.exists(self.path):
            raise StoreError(not_made(self.path, self.made_by))

    def _well(self, tables: Tables | None) -> Tables | None:
        """Return stores whose file is still the same and can still be read."""
        if tables is None or tables.db.path == ":memory:":
            return tables
        db = tables.db
        try:
            db.check_same()
        except StoreError:
            return None
        if db.failed:
            return None
        looked = _look(self.path)
        if looked == self._looked:
            return tables
        if db.frozen:
            return None
        # SQLite may have all it needs in memory, and answer from a file that was overwritten.
        from scrubjay.storage.sqlite.existing import ExistingDatabase

        ExistingDatabase(self.path).close()
        self._looked = looked
        return tables

    def close(self) -> None:
        """Close the file, unless it is the store's own, which the store closes."""
        with self._opening:
            self._closed = True
            if self._tables is not None and self._tables is not self._own:
                self._tables.db.close()


class TierFiles:
    """All files of a store. What is connected or not changes at once, and for the next search.

    Without an `own` one, whose path is empty, the others are only read.
    """

    def __init__(
        self, own: TierFile, others: Sequence[TierFile] = (), *, given: bool = False
    ) -> None:
        self.own = own
        self._given = given
        self._files = (own, *others) if own.path else tuple(others)
        self._changing = threading.Lock()

    @property
    def several(self) -> bool:
        """True when there is more than the store's own file."""
        return any(one is not self.own for one in self._files)

    @property
    def named(self) -> bool:
        """True when tiers count by their names: there are several, or the only one was given as a tier."""
        return self._given or self.several

    def reached(self) -> list[Reached]:
        """Return every tier as it is now, the highest first."""
        return [one.reached() for one in self.in_order()]

    def in_order(self) -> list[TierFile]:
        """Return the files, the highest tier first."""
        if len(self._files) < 2:  # a store alone needs to import no more
            return list(self._files)
        from scrubjay.search.stages.tiers import rank

        return sorted(self._files, key=lambda one: rank(one.tier))

    def connect(self, path: str | os.PathLike[str], name: str, priority: float) -> None:
        """Add a tier whose file can be read now; refuse a name or a file that is a tier already."""
        name = check_name("name", name, "handbook")
        if name in (*BUILT_IN_TIERS, "own"):
            raise InvalidInput(
                f"{name!r} is not a name for a connected tier; agent, project and team are given as"
                " open(tiers={…})"
            )
        setting = tier_setting(name, path, priority)
        if not os.path.exists(setting.path):
            raise NotFound(f"{setting.path} does not exist; connect takes an existing file")
        added = TierFile(setting, self.own.person)
        with self._changing:
            check_apart([*(one_of(file) for file in self._files), setting])
            try:
                added.tables()
            except StoreError:
                added.close()
                raise
            self._files = (*self._files, added)

    def disconnect(self, name: str) -> None:
        """Stop searching a tier; the store's own database cannot be disconnected."""
        if name == self.own.tier.name and self.several:
            raise InvalidInput(f"{name!r} is the store's own file; close the store instead")
        with self._changing:
            left = tuple(file for file in self._files if file.tier.name != name or file.tier.own)
            removed, self._files = len(left) < len(self._files), left
            # Not closed here: a search that has begun still reads it, and releases it at its end.
        if not removed:
            others = [file.tier.name for file in self.in_order() if not file.tier.own]
            raise NotFound(
                f"no tier is called {name!r}; the tiers are: {', '.join(others) or 'none'}"
            )

    def states(self, sees: Scope) -> list[TierState]:
        """Return the state of every tier, the highest first, with the number of memories seen there."""
        states = []
        for tier in self.reached():
            try:
                states.append(state_of(tier, sees))
            except StoreError as damaged:  # it opens, and is damaged further inside
                lost = tier.tier._replace(lost=str(damaged))
                states.append(state_of(Reached(lost, tier.path), sees))
        return states

    def close(self) -> None:
        """Close every file but the store's own."""
        for one in self._files:
            one.close()


def state_of(tier: Reached, sees: Scope) -> TierState:
    """Return the state of a tier, with the number of memories that a caller sees there."""
    from scrubjay.search.stages.tiers import weight_of
    from scrubjay.types.reports import TierState

    counts = None if tier.tables is None else tier.tables.records.counts("type", sees)
    return TierState(
        tier.tier.name,
        tier.path,
        weight_of(tier.tier),
        tier.tier.own,
        "open" if tier.tier.lost is None else "lost",
        tier.tier.lost or "",
        None if counts is None else sum(counts.values()),
    )


def open_own(
    path: str | None,
    given: Sequence[TierSetting],
    person: str | None,
    *,
    made_by: str | None = None,
    short_turn_chars: int = SHORT_TURN_CHARS,
    tenant: str | None = None,
    servers: ReplicaAddresses = NO_REPLICAS,
) -> tuple[Tables, TierFiles]:
    """Open a store's own file, and know the others.

    Without a path it is the highest tier. Where that cannot be opened, the next one that can be takes
    its place for reading, and every write is refused with the reason. An own file that is made by
    another command is not made here; with neither a path nor a tier there is none.
    """
    made = Making(
        person, short_turn_chars, None if tenant is None else check_tenant(tenant), servers
    )
    if path is not None and is_server_url(path):
        return _on_a_server(path, given, made)
    if path is not None:
        path = tenant_file(path, made.tenant)
    elif made.tenant is not None:
        given = [one._replace(path=tenant_file(one.path, made.tenant)) for one in given]
    files = known_files(path, given, person, made_by=made_by)
    mine = one_of(files.own)
    others = [one_of(one) for one in files.in_order() if not one.tier.own]
    if not mine.path:
        return _stand_in(
            person, f"there is no file for it yet; makes one: {made_by}", others
        ), files
    try:
        if made_by is not None and mine.path != ":memory:" and not os.path.exists(mine.path):
            raise StoreError(not_made(mine.path, made_by))
        wait_s = OPENING_WAIT_S if path is None and others else WAIT_S
        tables = _opened(path or mine.path, made, wait_s)
    except StoreError as lost:
        if not others or (path is not None and made_by is None):
            raise
        why = f"the tier {mine.name} could not be opened: {lost}; open the store again once it can be"
        return _stand_in(person, why, others, [f"tier {mine.name}: {lost}"]), files
    files.own.take(tables)
    return tables, files


def known_files(
    path: str | None,
    given: Sequence[TierSetting],
    person: str | None,
    *,
    made_by: str | None = None,
) -> TierFiles:
    """Return the files of a store without opening any."""
    check_apart(given)
    settings = _sorted(given)
    mine = _own_of(path, settings)
    own = TierFile(mine, person, own=True, made_by=made_by)
    others = [TierFile(one, person) for one in settings if one is not mine]
    return TierFiles(own, others, given=bool(given))


def not_made(path: str, made_by: str) -> str:
    """Say that an own file is not there yet, and what makes it."""
    return f"there is no file {path} yet; this makes it: {made_by}"


def _sorted(given: Sequence[TierSetting]) -> list[TierSetting]:
    if not given:  # a store alone again
        return []
    from scrubjay.search.stages.tiers import rank

    return sorted(given, key=lambda one: rank(Tier(one.name, priority=one.priority)))


def _own_of(path: str | None, settings: Sequence[TierSetting]) -> TierSetting:
    """Return the tier that is written to: the highest built-in one, or that of a path.

    Where there is neither it has no path.
    """
    if path is None:
        mine = (one for one in settings if one.name in BUILT_IN_TIERS)
        return next(mine, TierSetting("agent", "", 1.0))
    for one in settings:
        if same_file(one.path, path):
            return one
    agents = any(one.name == "agent" for one in settings)
    place = path if path == ":memory:" else os.path.abspath(path)
    if is_server_url(path):
        from scrubjay.text.urls import strip_credentials

        place = strip_credentials(path)
    return TierSetting("own" if agents else "agent", place, 1.0)


class Making(NamedTuple):
    """How an own store is opened: for whom, and which of its tiers are on servers."""

    person: str | None
    short_turn_chars: int
    tenant: str | None
    servers: ReplicaAddresses


def _opened(path: str, made: Making, wait_s: float) -> Tables:
    return _filled(
        SqliteDatabase(path, wait_s=wait_s, short_turn_chars=made.short_turn_chars), made
    )


def _filled(db: Database, made: Making) -> Tables:
    """Give a database its tables; close it where that fails."""
    try:
        tables = Tables(db, made.person, made.servers)
        tables.index_again()
    except BaseException:
        db.close()
        raise
    db.wait_s = WAIT_S
    return tables


def _on_a_server(url: str, given: Sequence[TierSetting], made: Making) -> tuple[Tables, TierFiles]:
    """Open a store that Postgres keeps. Other tiers can be files beside it."""
    from scrubjay.storage.postgres.connection import PostgresDatabase
    from scrubjay.text.urls import POSTGRES, parse_server_url

    schema = tenant_schema(made.tenant)
    db = PostgresDatabase(
        parse_server_url(url, POSTGRES, "the store"),
        schema=schema,
        short_turn_chars=made.short_turn_chars,
    )
    tables = _filled(db, made)
    agents = any(one.name == "agent" for one in given)
    own = TierFile(TierSetting("own" if agents else "agent", db.path, 1.0), made.person, own=True)
    files = TierFiles(own, [TierFile(one, made.person) for one in given], given=bool(given))
    own.take(tables)
    return tables, files


def _stand_in(
    person: str | None, why: str, others: Sequence[TierSetting], lost: Sequence[str] = ()
) -> Tables:
    """Open the first other tier that can be read; nothing may land there by mistake."""
    reasons = list(lost)
    for one in others:
        try:
            return open_existing(
                one.path, person, why_not_written=f"nothing is written, because {why}"
            )
        except StoreError as error:
            reasons.append(f"tier {one.name}: {error}")
    raise StoreError(f"none of the tiers can be opened: {'; '.join(reasons)}")


def open_existing(path: str, person: str | None, *, why_not_written: str | None = None) -> Tables:
    """Open a file as it is; StoreError says what to do about one that cannot be used so."""
    from scrubjay.storage.sqlite.existing import ExistingDatabase, outdated

    db = ExistingDatabase(path, why_not_written=why_not_written)
    try:
        tables = Tables(db, person)
        if not tables.is_current():
            raise StoreError(outdated(path))
    except BaseException:
        db.close()
        raise
    return tables


def one_of(file: TierFile) -> TierSetting:
    """Return how a file was named."""
    return TierSetting(file.tier.name, file.path, file.tier.priority)


def check_apart(settings: Sequence[TierSetting]) -> None:
    """Refuse two tiers of one name, or of one file."""
    for place, one in enumerate(settings):
        for other in settings[:place]:
            if one.name == other.name:
                raise InvalidInput(
                    f"there is a tier {one.name!r} already: {other.path}; give another name"
                )
            if same_file(one.path, other.path):
                raise InvalidInput(
                    f"{one.path} is the tier {other.name!r} already; a file can be one tier only"
                )


def _look(path: str) -> tuple[int, int] | None:
    """Return what changes when a file is written, or None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
