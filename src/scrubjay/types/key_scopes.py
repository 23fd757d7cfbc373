"""What somebody who comes in through a door may do."""

from __future__ import annotations

READ, WRITE, ADMIN = SCOPES = ("read", "write", "admin")  # each may do what those before it may
