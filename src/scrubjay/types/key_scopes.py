"""Scopes of an API key."""

from __future__ import annotations

READ, WRITE, ADMIN = SCOPES = ("read", "write", "admin")  # each includes those before it
