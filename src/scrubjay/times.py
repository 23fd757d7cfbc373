"""Moments in time: aware datetimes inside, ISO text and microseconds at the edges."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from scrubjay.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}

When = datetime | date | str


def system_clock() -> datetime:
    """Return the present moment; a store takes any other clock instead."""
    return datetime.now(UTC)


def micros(moment: datetime) -> int:
    """Return microseconds since 1970, exactly."""
    return whole_us(moment - _EPOCH)


def whole_us(span: timedelta) -> int:
    """Return the microseconds of a span of time, exactly."""
    return span // timedelta(microseconds=1)


def moment(us: int | None) -> datetime | None:
    """Return the datetime of stored microseconds."""
    return None if us is None else _EPOCH + timedelta(microseconds=us)


def parse(value: When | None, name: str, *, end_of_day: bool = False) -> datetime | None:
    """Read a datetime, a date or an ISO string; naive means UTC, a bare date its first moment or last."""
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
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(
            f"{name} is {value}; in UTC that lies outside the years 1 to 9999"
        ) from None


def _from_iso(text: str, name: str) -> datetime | date:
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text)
        except ValueError:
            continue
    raise InvalidInput(
        f"{name} is {text!r}; give an ISO date or time like 2026-05-03 or 2026-05-03T14:30+02:00"
    )


def is_valid(begins: datetime | None, ends: datetime | None, now: datetime) -> bool:
    """True when now lies in a window: its first moment is in it, its last is not; an end may be missing."""
    return (begins is None or begins <= now) and (ends is None or now < ends)


def duration(value: object, name: str) -> timedelta:
    """Read a timedelta, or a text such as 12h, 30d or 2w: hours, days, weeks."""
    right = "give hours, days or weeks, such as 12h, 30d or 2w"
    if isinstance(value, str):
        read = re.fullmatch(r"([0-9]+)\s*([hdw])", value.strip().lower())
        if read is None:  # months and years are not all alike, and m may be minutes
            raise InvalidInput(f"{name} is {value!r}; {right}")
        try:
            value = timedelta(**{_UNITS[read[2]]: int(read[1])})
        except (OverflowError, ValueError):  # Python reads no number of thousands of digits
            raise InvalidInput(
                f"{name} is {value!r}, which is longer than time; {right}"
            ) from None
    if not isinstance(value, timedelta) or value < timedelta(0):
        raise InvalidInput(f"{name} is {value!r}; {right}")
    return value
