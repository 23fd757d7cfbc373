"""Files of an ONNX model: a repository of the model hub or a folder, and the numbers they state."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.models.download.hub import WantedFile, fetch_repo, parse_repo, repo_is_here
from scrubjay.runtime.progress import Progress

# Full precision first; of several exports always the same one is taken.
GRAPH = WantedFile(
    "ONNX export of the model",
    (
        "model.onnx",
        "onnx/model.onnx",
        "onnx/model_quantized.onnx",
        "onnx/model_int8.onnx",
        "onnx/model_uint8.onnx",
        "onnx/model_fp16.onnx",
        "model_quantized.onnx",
        "model_int8.onnx",
    ),
    beside=("_data", ".data"),
)
WANTED = (
    GRAPH,
    WantedFile("tokenizer", ("tokenizer.json",)),
    WantedFile("configuration", ("config.json",), optional=True),
    WantedFile("configuration of the tokenizer", ("tokenizer_config.json",), optional=True),
)
# Kinds of model that count positions from the number of the padding token plus one.
OFFSET_TYPES = frozenset(
    "camembert data2vec-text longformer mpnet roberta roberta-prelayernorm"
    " xlm-roberta xlm-roberta-xl xmod".split()
)


class ModelFiles:
    """The files of one model, by `owner/name[@revision]` or by its folder.
    A string is a folder when it cannot be a repository, such as `./models/mine`."""

    def __init__(
        self,
        source: str | Path,
        wanted: Sequence[WantedFile] = WANTED,
        *,
        progress: Progress | None = None,
    ) -> None:
        self.source = str(source)
        self.folder = _folder_of(source)
        """The folder of a model that is not from the hub; it is absolute."""
        self._wanted = wanted
        self._progress = progress

    @property
    def address(self) -> str:
        """The repository or the folder, the same from any working directory."""
        return self.source if self.folder is None else str(self.folder)

    def are_here(self) -> bool:
        """True when nothing has to be downloaded; reads no large file."""
        if self.folder is None:
            return repo_is_here(self.source, self._wanted)
        return not self._missing(self.folder)

    def get(self) -> Path:
        """Return the folder with all files, downloading what is missing, or raise Unavailable."""
        if self.folder is None:
            return fetch_repo(self.source, self._wanted, progress=self._progress)
        if not self.folder.is_dir():
            raise Unavailable(f"There is no folder {self.folder}")
        if missing := self._missing(self.folder):
            raise Unavailable(f"{self.folder} has no {' and no '.join(map(str, missing))}")
        return self.folder

    def paths(self) -> list[Path]:
        """Return the files that the model is made of, downloading what is missing."""
        folder = self.get()
        names = [name for want in self._wanted for name in want.names]
        # Weights may be in a file beside the graph, of a name that the graph states.
        beside = [path for name in GRAPH.names for path in folder.glob(f"{name}?*")]
        return [*filter(Path.is_file, (folder / name for name in names)), *sorted(beside)]

    def _missing(self, folder: Path) -> list[WantedFile]:
        return [
            want
            for want in self._wanted
            if not want.optional and not any((folder / name).is_file() for name in want.names)
        ]


def is_path(source: str) -> bool:
    """Tell a path from `owner/name`, whatever folders exist in the working directory."""
    return source.startswith((".", "~", "/")) or "\\" in source or ":" in source


def _folder_of(source: str | Path) -> Path | None:
    if isinstance(source, str) and not is_path(source):
        try:
            parse_repo(source)
        except InvalidInput as error:
            raise InvalidInput(f"{error}; write a folder as ./name") from None
        return None
    return Path(os.path.abspath(os.path.expanduser(source)))


def chosen_graph(folder: Path) -> str:
    """Return the export that is used, such as `onnx/model.onnx`."""
    return next(name for name in GRAPH.names if (folder / name).is_file())


def read_window(model: dict[str, Any], tokenizer: dict[str, Any], limits: Sequence[int]) -> int:
    """Return the tokens a model reads at once, special ones included, by its configuration files."""
    positions, pad_id = count(model.get("max_position_embeddings")), read_pad_id(model)
    if positions is not None and model.get("model_type") in OFFSET_TYPES:
        positions -= 1 + (1 if pad_id is None else pad_id)
    stated = (positions, count(tokenizer.get("model_max_length")))
    return min([*limits, *(limit for limit in stated if limit is not None)])


def read_pad_id(model: dict[str, Any]) -> int | None:
    return count(model.get("pad_token_id"))


def count(value: object) -> int | None:
    """Return a whole number from a file; None for anything else."""
    return value if type(value) is int and value >= 0 else None


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; None where there is no such file."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Unavailable(f"{path} cannot be read: {error}") from error


def read_table(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one where the file has none."""
    content = read_json(path)
    return content if isinstance(content, dict) else {}
