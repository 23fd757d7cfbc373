"""Fetches what the servers of the tests need: `python -m tools.servers`."""

from __future__ import annotations

from tools.servers.programs import install

for missing in install():
    print(f"servers: {missing} Its tests are skipped.")
