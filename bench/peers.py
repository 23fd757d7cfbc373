"""The peers, each used the way its own documentation recommends for a local hybrid search."""

from __future__ import annotations

from importlib.util import find_spec

from bench.chroma import CHROMA, CHROMA_REGEX
from bench.lance import LANCEDB, LANCEDB_INDEXED, LANCEDB_REFINED
from bench.systems import SCRUBJAY, System

PEERS = (LANCEDB, LANCEDB_INDEXED, LANCEDB_REFINED, CHROMA, CHROMA_REGEX)
SYSTEMS = {system.name: system for system in (SCRUBJAY, *PEERS)}


def installed(system: System) -> bool:
    """Say whether the package of a system can be imported, without importing it."""
    return find_spec(system.package) is not None
