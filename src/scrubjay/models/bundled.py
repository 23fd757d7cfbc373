"""Models of the package scrubjay-models: found by name, with nothing to download.

The package names its models by entry points of the group `scrubjay.models`: a name, and the folder with
its model.onnx. The tokenizer is in that folder, or beside it where several models share one.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

log = logging.getLogger(__name__)

GROUP = "scrubjay.models"
PACKAGE = "scrubjay-models"
RANKER = "scrubjay-ranker-1"
READER = "scrubjay-reader-1"
RANKER_WINDOW = 256  # tokens of a pair that it was trained on
LICENCE = "Apache-2.0"


@dataclass(frozen=True, slots=True)
class BundledCard:
    """What is known of a bundled embedder before it is loaded."""

    name: str
    dims: int
    window: int
    token_dims: int
    languages: tuple[str, ...] = ("en",)
    licence: str = LICENCE

    @property
    def index(self) -> str:
        """The name of its index: vectors of different precision are never mixed."""
        return f"{self.name}/int8"


ENCODER = BundledCard("scrubjay-encoder-1", dims=384, window=256, token_dims=48)


class BundledModel(NamedTuple):
    """The files of a model in an installed package."""

    graph: Path
    tokenizer: Path
    version: str
    """The package with its version, such as `scrubjay-models 0.1.0`."""

    @property
    def size(self) -> int:
        return self.graph.stat().st_size + self.tokenizer.stat().st_size


@cache
def find_bundled(name: str) -> BundledModel | None:
    """Return the files of a bundled model, such as `scrubjay-reader-1`; None where it is not installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:  # of this package only: reading the entry points of all packages takes a tenth of a second
        package = distribution(PACKAGE)
        for point in package.entry_points.select(group=GROUP, name=name):
            return _files_in(Path(point.load()), f"{PACKAGE} {package.version}")
    except PackageNotFoundError:
        return None
    except (ImportError, AttributeError, TypeError) as error:
        log.warning("%s of %s cannot be found: %s", name, PACKAGE, error)
    return None


def _files_in(folder: Path, version: str) -> BundledModel | None:
    graph = folder / "model.onnx"
    tokenizers = (place / "tokenizer.json" for place in (folder, folder.parent))
    tokenizer = next((file for file in tokenizers if file.is_file()), None)
    if tokenizer is None or not graph.is_file():
        return None
    return BundledModel(graph, tokenizer, version)


def not_installed(name: str) -> str:
    """Return why a bundled model cannot answer, and how to install it."""
    return (
        f"{name} comes with the package {PACKAGE}, which is not installed; in a checkout of scrubjay:"
        f" {how_to_install()}"
    )


def how_to_install() -> str:
    return f"pip install ./packages/{PACKAGE}"
