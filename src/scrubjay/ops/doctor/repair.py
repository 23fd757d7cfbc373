"""`scrubjay doctor --repair`: fix what can be fixed without losing anything."""

from __future__ import annotations

from scrubjay.config import Settings
from scrubjay.ops.doctor import Repair
from scrubjay.ops.doctor.permissions import repair_permissions
from scrubjay.ops.repair.run import repair_store


def repair(settings: Settings, *, dry_run: bool = False) -> list[Repair]:
    """Repair the store and the permissions; with `dry_run`, list what would be done to the store."""
    repairs = list(repair_store(settings, dry_run=dry_run))
    return repairs if dry_run else [*repairs, *repair_permissions(settings)]
