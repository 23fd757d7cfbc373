"""Times: parse ISO text, time zones and durations; convert to stored microseconds."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from scrubjay.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MIN_MILLISECONDS = 1e11  # as seconds that is the year 5138, as milliseconds 1973

_MAX_TIME_CHARS = 200  # with the name of a zone; the patterns below take the square of the length
_MAX_ZONE_CHARS = 100  # three times the longest name there is

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}

When = datetime | date | str


class LocalZone(tzinfo):
    """The time zone of this machine, with its daylight saving, from the operating system.

    Python gives the current offset, which is wrong for last winter; zoneinfo needs the name of the zone and
    takes longer to import than a search.
    """

    def utcoffset(self, moment: datetime | None, /) -> timedelta | None:
        """Return the offset of a local time from UTC."""
        return None if moment is None else _system_offset(moment.replace(tzinfo=None))

    def dst(self, moment: datetime | None, /) -> timedelta | None:
        """Return None: the part of the offset that is daylight saving is unknown."""
        return None

    def tzname(self, moment: datetime | None, /) -> str:
        """Return the name of the zone."""
        return "local"

    def fromutc(self, moment: datetime, /) -> datetime:
        """Return a UTC time in local time; of an hour that comes twice, the right one."""
        offset = _system_offset(moment.replace(tzinfo=UTC))
        local = moment + (offset or timedelta(0))
        return local if self.utcoffset(local) == offset else local.replace(fold=1)


def _system_offset(moment: datetime) -> timedelta | None:
    try:
        return moment.astimezone().utcoffset()
    except (OSError, OverflowError, ValueError):  # Windows has no years before 1970
        return datetime.now().astimezone().utcoffset()


_LOCAL = LocalZone()


def system_clock() -> datetime:
    """Return the current time in the zone of this machine; a store accepts any other clock."""
    return datetime.now(UTC).astimezone(_LOCAL)


def clock_in(zone: str) -> Callable[[], datetime]:
    """Return a clock in a named time zone, or in that of this machine for an empty name."""
    if not zone:
        return system_clock
    found = time_zone(zone, "timezone")
    return lambda: datetime.now(found)


def time_zone(name: str, what: str) -> tzinfo:
    """Return the time zone of a name such as Europe/Berlin; the error suggests a similar name."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

    if (
        len(name) > _MAX_ZONE_CHARS
    ):  # zoneinfo imports a package per slash, until the stack is full
        raise InvalidInput(
            f"{what} is {name[:_MAX_ZONE_CHARS]!r}… with {len(name)} characters, which is not a time zone;"
            " give a name such as Europe/Berlin"
        )
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # Europe is a folder, ../x is not a name
        known = available_timezones()
    if not known:  # on Windows without that package
        raise InvalidInput(
            f"{what} is {name!r}, but this machine has no time zones; `pip install tzdata` installs them"
        )
    from difflib import get_close_matches

    cities = {zone.rpartition("/")[2].lower(): zone for zone in sorted(known, reverse=True)}
    names = {zone.lower(): zone for zone in known} | cities
    wanted = name.strip().replace(" ", "_").lower()
    similar = get_close_matches(wanted, names, 1) or get_close_matches(
        wanted.rpartition("/")[2], cities, 1
    )
    raise InvalidInput(
        f"{what} is {name!r}, which is not a time zone;"
        f" {f'did you mean {names[similar[0]]}?' if similar else 'give a name such as Europe/Berlin'}"
    )


def micros(moment: datetime) -> int:
    """Return the exact microseconds since 1970."""
    return span_micros(moment - _EPOCH)


def span_micros(span: timedelta) -> int:
    """Return the exact microseconds of a span of time."""
    return span // _MICROSECOND


def moment(us: int | None) -> datetime | None:
    """Return the datetime of stored microseconds."""
    return None if us is None else _EPOCH + timedelta(microseconds=us)


def from_timestamp(value: float) -> datetime | None:
    """Read seconds or milliseconds since 1970; None outside the years 1 to 9999."""
    try:
        return _EPOCH + timedelta(
            seconds=value / 1000 if abs(value) >= _MIN_MILLISECONDS else value
        )
    except (OverflowError, ValueError):
        return None


def parse(value: When | None, name: str, *, end_of_day: bool = False) -> datetime | None:
    """Read a datetime, a date or an ISO string; naive means UTC, a date its first or last moment."""
    read = parse_zoned(value, name, end_of_day=end_of_day)
    return None if read is None else read.astimezone(UTC)


def parse_bound(
    value: When | None, name: str, now: Callable[[], datetime], *, end_of_day: bool = False
) -> datetime | None:
    """Read a time as `parse` does, or words such as "last week": its first or last moment."""
    try:
        return parse(value, name, end_of_day=end_of_day)
    except InvalidInput as wrong:
        if not isinstance(value, str):
            raise
        from scrubjay.text.dates import window_named

        window = window_named(value.strip(), now())
        if window is None:
            words = "words such as yesterday, last week or 3 days ago are accepted as well"
            raise InvalidInput(f"{wrong}; {words}") from None
        return window.ends - timedelta(microseconds=1) if end_of_day else window.begins


def parse_zoned(value: When | None, name: str, *, end_of_day: bool = False) -> datetime | None:
    """Read a time as `parse` does, and keep its time zone."""
    if value is None:
        return None
    if isinstance(value, str):
        value = _from_iso(value.strip(), name)
    if not isinstance(value, date):
        raise InvalidInput(
            f"{name} is {value!r}; give a datetime or an ISO string like 2026-05-03"
        )
    if not isinstance(value, datetime):
        value = datetime.combine(value, time.max if end_of_day else time.min)
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(
            f"{name} is {value}; in UTC that lies outside the years 1 to 9999"
        ) from None
    return value


def _from_iso(text: str, name: str) -> datetime | date:
    if len(text) > _MAX_TIME_CHARS:
        raise InvalidInput(
            f"{name} has {len(text)} characters; give an ISO date or time like 2026-05-03 or"
            " 2026-05-03T14:30+02:00"
        )
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text)
        except ValueError:
            continue
    zoned = re.fullmatch(r"(\d\S*(?: \d\S*?)?)(?:\s*\[([^\[\]]+)\]|\s+([A-Za-z]\S*))", text)
    if zoned:
        return _in_zone(zoned[1], zoned[2] or zoned[3], name)
    offset = re.search(r"\d:?\d\d[^+-]*([+-]\d\d(?::?\d\d)?)$", text)
    hint = f" (and {offset[1]} is not an offset from UTC)" if offset and "T" in text else ""
    raise InvalidInput(
        f"{name} is {text!r}; give an ISO date or time like 2026-05-03, 2026-05-03T14:30+02:00"
        f" or 2026-05-03T14:30[Europe/Berlin]{hint}"
    )


def _in_zone(text: str, zone: str, name: str) -> datetime:
    """Read a time followed by the name of its zone; if it also has an offset, the offset decides."""
    read = _from_iso(text, name)
    if not isinstance(read, datetime):
        read = datetime.combine(read, time.min)
    there = time_zone(zone, f"the zone of {name}")
    try:
        return read.astimezone(there) if read.tzinfo else read.replace(tzinfo=there)
    except OverflowError:
        raise InvalidInput(
            f"{name} is {text}; in {zone} that lies outside the years 1 to 9999"
        ) from None


def is_valid(begins: datetime | None, ends: datetime | None, now: datetime) -> bool:
    """True when now lies in a window; its end is exclusive, and either end may be missing."""
    return (begins is None or begins <= now) and (ends is None or now < ends)


def duration(value: object, name: str) -> timedelta:
    """Read a timedelta, or a text such as 12h, 30d or 2w (hours, days, weeks)."""
    expected = "give hours, days or weeks, such as 12h, 30d or 2w"
    if isinstance(value, str):
        read = re.fullmatch(r"([0-9]+)\s*([hdw])", value.strip().lower())
        if read is None:  # months and years differ in length, and m may mean minutes
            raise InvalidInput(f"{name} is {value!r}; {expected}")
        try:
            value = timedelta(**{_UNITS[read[2]]: int(read[1])})
        except (OverflowError, ValueError):  # Python does not read numbers of thousands of digits
            raise InvalidInput(f"{name} is {value!r}, which is too long; {expected}") from None
    if not isinstance(value, timedelta) or value < timedelta(0):
        raise InvalidInput(f"{name} is {value!r}; {expected}")
    return value


def format_span(begins: datetime, over: datetime | None) -> str:
    """Return a short form of a span of time: a year, a month, a day, or its first and last day."""
    first = begins.date()
    if over is None or over <= begins:
        return first.isoformat()
    last = (over - timedelta(microseconds=1)).date()
    if begins.day == 1 and over.day == 1:
        months = (over.year - begins.year) * 12 + over.month - begins.month
        if months == 12 and begins.month == 1:
            return f"{begins.year:04d}"
        if months == 1:
            return f"{begins.year:04d}-{begins.month:02d}"
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def in_zone(moment: datetime, zone: tzinfo) -> datetime:
    """Return a time in a zone; one at the ends of the calendar stays as it is."""
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError):
        return moment


def to_the_minute(moment: datetime, zone: tzinfo) -> str:
    """Return a date with its time of day and the offset from UTC, in a zone."""
    return in_zone(moment, zone).isoformat(timespec="minutes")


def event_text(begins: datetime, over: datetime | None, zone: tzinfo) -> str:
    """Return when an event is: days, months or years where it is whole ones, in the zone or in UTC;
    else the time of day as well."""
    for where in (zone, UTC):
        first = in_zone(begins, where)
        last = None if over is None else in_zone(over, where)
        if all(one.time() == time.min for one in (first, last) if one is not None):
            return format_span(first, last)
    until = f" to {to_the_minute(over, zone)}" if over is not None and over > begins else ""
    return f"{to_the_minute(begins, zone)}{until}"
