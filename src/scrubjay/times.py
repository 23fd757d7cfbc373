"""Moments in time: aware datetimes inside, ISO text and microseconds at the edges."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from scrubjay.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

When = datetime | date | str


def system_clock() -> datetime:
    """Return the present moment; a store takes any other clock instead."""
    return datetime.now(UTC)


def micros(moment: datetime) -> int:
    """Return microseconds since 1970, exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


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
