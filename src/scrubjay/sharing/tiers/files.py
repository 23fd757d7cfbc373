"""Databases of a store: its own and those of other tiers, opened when needed and again after a loss."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from scrubjay.config import BUILT_IN_TIERS, SHORT_TURN_CHARS, TierSetting, tier_setting
from scrubjay.errors import InvalidInput, NotFound, StoreError
from scrubjay.runtime.closing import close_all
from scrubjay.search.pipeline import Tier
from scrubjay.search.tables import Tables
from scrubjay.storage.sqlite.connection import WAIT_S, SqliteDatabase
from scrubjay.storage.sqlite.errors import has_no_room
from scrubjay.storage.sqlite.location import is_read_only, same_file
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

# A locked highest tier gets less time than a write: other tiers can answer.
OPENING_WAIT_S = 5.0


class Reached(NamedTuple):
    """A tier as it is now: its tables, or the reason why it cannot be read."""

    tier: Tier
    path: str
    tables: Tables | None = None


class TierFile:
    """One database file of a store. `made_by` is the command that creates it, if opening does not."""

    def __init__(
        self, setting: TierSetting, person: str | None, *, own: bool = False, made_by: str = ""
    ) -> None:
        self.setting = setting
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
        self._own = self._tables = tables
        self._looked = _look(self.path)

    def reached(self) -> Reached:
        """Return its tables as they are now, opened again after a loss, or the reason why not."""
        try:
            tables = self.tables()
        except StoreError as lost:
            return Reached(self.tier._replace(lost=str(lost)), self.path)
        return Reached(self.tier._replace(kit=tables.kit), self.path, tables)

    def tables(self) -> Tables:
        """Return its tables; StoreError says why it cannot be read."""
        with self._opening:
            if self._closed:
                raise StoreError(f"{self.path} is closed; open it again with scrubjay.open()")
            tables = next(filter(None, map(self._well, (self._own, self._tables))), None)
            if tables is None:
                self._tables = None
                looked = _look(self.path)
                self.check_made()
                tables = self._tables = open_existing(self.path, self.person)
                self._looked = looked
        # A locked file is reported here, once, and not in each stage of a search.
        tables.db.ping()
        return tables

    def check_made(self) -> None:
        """Refuse to open a file that only another command creates."""
        if self.made_by and self.path != ":memory:" and not os.path.exists(self.path):
            raise StoreError(f"there is no file {self.path} yet; create it with: {self.made_by}")

    def _well(self, tables: Tables | None) -> Tables | None:
        """Return the tables if their file is still the same and can still be read."""
        if tables is None or tables.db.path == ":memory:":
            return tables
        try:
            tables.db.check_same()
        except StoreError:
            return None
        looked = _look(self.path)
        if tables.db.failed or (looked != self._looked and tables.db.frozen):
            return None
        if looked == self._looked:
            return tables
        # SQLite may have everything in memory, and answer from a file that was overwritten.
        from scrubjay.storage.sqlite.existing import ExistingDatabase

        ExistingDatabase(self.path).close()
        self._looked = looked
        return tables

    def close(self) -> None:
        with self._opening:
            self._closed = True
            if self._tables is not None and self._tables is not self._own:
                self._tables.db.close()


class TierFiles:
    """All databases of a store. A change of connections counts for the next search.

    Without an own one (its path is empty) the others are only read.
    """

    def __init__(
        self, own: TierFile, others: Sequence[TierFile] = (), *, given: bool = False
    ) -> None:
        self.own = own
        self._given = given
        self._changing = threading.Lock()
        self._set((own, *others) if own.path else tuple(others))

    def _set(self, files: tuple[TierFile, ...]) -> None:
        self._files = files
        # Attributes, since every search reads them.
        self.several = any(file is not self.own for file in files)
        self.named = self._given or self.several  # by names, also a single one given as a tier

    def reached(self) -> list[Reached]:
        return [file.reached() for file in self.in_order()]

    def in_order(self) -> list[TierFile]:
        return _in_order(self._files)

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
            check_apart([*(file.setting for file in self._files), setting])
            try:
                added.tables()
            except StoreError:
                added.close()
                raise
            self._set((*self._files, added))

    def disconnect(self, name: str) -> None:
        if name == self.own.tier.name and self.several:
            raise InvalidInput(f"{name!r} is the store's own file; close the store instead")
        with self._changing:
            left = tuple(file for file in self._files if file.tier.name != name or file.tier.own)
            removed = len(left) < len(self._files)
            self._set(left)
            # Not closed here: a search that has begun still reads it, and releases it at its end.
        if not removed:
            others = [file.tier.name for file in self.in_order() if not file.tier.own]
            raise NotFound(
                f"no tier is called {name!r}; the tiers are: {', '.join(others) or 'none'}"
            )

    def states(self, sees: Scope) -> list[TierState]:
        """Return the state of every tier, the highest first, with the number of memories seen there."""
        return [state_of(tier, sees) for tier in self.reached()]

    def close(self) -> None:
        close_all(file.close for file in self._files)


def state_of(tier: Reached, sees: Scope) -> TierState:
    """Return the state of a tier, with the number of memories that a caller sees there."""
    from scrubjay.search.stages.tiers import weight_of
    from scrubjay.types.reports import TierState

    count, lost = None, tier.tier.lost
    try:
        if tier.tables is not None:
            count = sum(tier.tables.records.counts("type", sees).values())
    except StoreError as damaged:  # it opens, and is damaged further inside
        lost = str(damaged)
    state = "open" if lost is None else "lost"
    place = (tier.tier.name, tier.path, weight_of(tier.tier), tier.tier.own)
    return TierState(*place, state, lost or "", count)


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
    """Open a store's own database, and return it with the others.

    Without a path it is the highest tier. If that cannot be opened, the next one that can is read in its
    place, and every write is refused with the reason. An own file that another command creates
    (`made_by`) is not created here; with neither a path nor a tier there is none.
    """
    tenant = None if tenant is None else check_tenant(tenant)
    if path is not None and is_server_url(path):
        from scrubjay.storage.postgres.connection import PostgresDatabase
        from scrubjay.text.urls import POSTGRES, parse_server_url

        login, schema = parse_server_url(path, POSTGRES, "the store"), tenant_schema(tenant)
        server = PostgresDatabase(login, schema=schema, short_turn_chars=short_turn_chars)
        tables = _filled(server, person, servers)
        files = known_files(server.path, given, person)
        files.own.take(tables)
        return tables, files
    if path is not None:
        path = tenant_file(path, tenant)
    else:
        given = [setting._replace(path=tenant_file(setting.path, tenant)) for setting in given]
    files = known_files(path, given, person, made_by=made_by)
    own = files.own
    others = [file.setting for file in files.in_order() if file is not own]
    if not own.path:
        return _stand_in(person, f"it has no file yet; create it with: {made_by}", others), files
    try:
        own.check_made()
        wait_s = OPENING_WAIT_S if path is None and others else WAIT_S
        tables = _open_file(path or own.path, person, servers, wait_s, short_turn_chars)
    except StoreError as lost:
        if not others or (path is not None and made_by is None):
            raise
        name = f"tier {own.tier.name}"
        why = f"the {name} could not be opened: {lost}; repair it and open the store again"
        return _stand_in(person, why, others, f"{name}: {lost}"), files
    own.take(tables)
    return tables, files


def known_files(
    path: str | None,
    given: Sequence[TierSetting],
    person: str | None,
    *,
    made_by: str | None = None,
) -> TierFiles:
    check_apart(given)
    files = _in_order([TierFile(setting, person) for setting in given])
    mine = _own_of(path, [file.setting for file in files])
    own = TierFile(mine, person, own=True, made_by=made_by or "")
    return TierFiles(own, [file for file in files if file.setting is not mine], given=bool(given))


def _in_order(files: Sequence[TierFile]) -> list[TierFile]:
    if len(files) < 2:  # a single database needs no further import
        return list(files)
    from scrubjay.search.stages.tiers import rank

    return sorted(files, key=lambda file: rank(file.tier))


def _own_of(path: str | None, settings: Sequence[TierSetting]) -> TierSetting:
    """Return the tier that is written to: of the path, or the highest built-in one, or no file."""
    if path is None:
        mine = (setting for setting in settings if setting.name in BUILT_IN_TIERS)
        return next(mine, TierSetting("agent", "", 1.0))
    for setting in settings:
        if same_file(setting.path, path):
            return setting
    agents = any(setting.name == "agent" for setting in settings)
    place = path if path == ":memory:" else os.path.abspath(path)
    if is_server_url(path):
        from scrubjay.text.urls import strip_credentials

        place = strip_credentials(path, keep_user=True)
    return TierSetting("own" if agents else "agent", place, 1.0)


def _open_file(
    path: str, person: str | None, servers: ReplicaAddresses, wait_s: float, short_turn_chars: int
) -> Tables:
    """Open a store's own file; one that cannot be written, and no log beside it, is only read."""
    try:
        db = SqliteDatabase(path, wait_s=wait_s, short_turn_chars=short_turn_chars)
        return _filled(db, person, servers)
    except StoreError as error:
        if has_no_room(error.__cause__):
            return _open_on_full_disk(path, person, error)
        if path == ":memory:" or not is_read_only(path):
            raise
    return open_existing(
        path,
        person,
        f"{path} is read-only: this user cannot write to the file or to its folder, and"
        " nothing was written",
    )


def _open_on_full_disk(path: str, person: str | None, full: StoreError) -> Tables:
    """Open a file for reading, or raise `full` if the last writes are still in its log."""
    why = f"the disk was full when {path} was opened, and nothing was written; free some space and open it"
    try:
        return open_existing(path, person, f"{why} again")
    except StoreError:
        raise full from full.__cause__


def _filled(db: Database, person: str | None, servers: ReplicaAddresses) -> Tables:
    """Open the tables of a database; close it if that fails."""
    try:
        tables = Tables(db, person, servers)
        tables.index_again()
    except BaseException:
        db.close()
        raise
    db.wait_s = WAIT_S
    return tables


def _stand_in(
    person: str | None, why: str, others: Sequence[TierSetting], *reasons: str
) -> Tables:
    """Open the first other tier that can be read; it refuses every write."""
    for setting in others:
        try:
            return open_existing(setting.path, person, f"nothing is written: {why}")
        except StoreError as error:
            reasons = (*reasons, f"tier {setting.name}: {error}")
    raise StoreError(f"none of the tiers can be opened: {'; '.join(reasons)}")


def open_existing(path: str, person: str | None, why_not_written: str | None = None) -> Tables:
    """Open a file without migrating it; StoreError says what to do if that is needed."""
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


def check_apart(settings: Sequence[TierSetting]) -> None:
    for place, setting in enumerate(settings):
        for other in settings[:place]:
            if setting.name == other.name:
                raise InvalidInput(
                    f"a tier {setting.name!r} exists already: {other.path}; give another name"
                )
            if same_file(setting.path, other.path):
                raise InvalidInput(
                    f"{setting.path} is already the tier {other.name!r}; a file can be one tier only"
                )


def _look(path: str) -> tuple[int, int] | None:
    """Return the time and size of a file, which change when it is written; None without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
