"""JSON schemas of what commands print with `--json` and verbs return, in folders by group of verbs."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def load() -> dict[str, dict[str, Any]]:
    """Return every schema by its name."""
    folders = [folder for folder in files(__name__).iterdir() if folder.is_dir()]
    return {
        file.name.removesuffix(".json"): json.loads(file.read_text("utf-8"))
        for folder in folders
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".json")
    }
