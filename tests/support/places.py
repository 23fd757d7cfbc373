"""Folders of the repository that tests read from."""

from __future__ import annotations

from pathlib import Path

SUPPORT = Path(__file__).parent
DATA = SUPPORT.parent / "data"
ROOT = SUPPORT.parent.parent
