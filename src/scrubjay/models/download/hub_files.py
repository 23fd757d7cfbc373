"""What is wanted of a repository of the model hub, and the note of what was fetched of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scrubjay.models.download.checksum import sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOTE = "fetched.json"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file of a repository, under the first of these names that the repository has.

    `beside` are endings of files that lie next to it where it needs them, as `_data` for weights.
    """

    what: str
    names: tuple[str, ...]
    beside: tuple[str, ...] = ()
    optional: bool = False

    def __str__(self) -> str:
        return f"{self.what} ({' or '.join(self.names)})"


@dataclass(frozen=True, slots=True)
class Noted:
    """A file as it was when it came."""

    sha256: str
    size: int


@dataclass(slots=True)
class Note:
    """What was fetched, of which commit, and which names that commit does not have."""

    commit: str = ""
    files: dict[str, Noted] = field(default_factory=dict)
    absent: set[str] = field(default_factory=set)

    def needs(self, wanted: Sequence[Wanted]) -> list[str] | None:
        """Return the files that stand for the wanted ones; None where that is not known of all."""
        known = [self._stands_for(want) for want in wanted]
        if any(names is None for names in known):
            return None
        return [name for names in known for name in names or ()]

    def _stands_for(self, want: Wanted) -> list[str] | None:
        chosen = next((name for name in want.names if name in self.files), None)
        if chosen is None:
            return [] if want.optional and self.absent.issuperset(want.names) else None
        beside = [chosen + ending for ending in want.beside]
        if any(name not in self.files and name not in self.absent for name in beside):
            return None
        return [chosen, *(name for name in beside if name in self.files)]


def is_complete(folder: Path, wanted: Sequence[Wanted]) -> bool:
    """Say whether every wanted file is here in its full length."""
    note = read_note(folder)
    needed = note.needs(wanted)
    return needed is not None and all(
        (folder / name).is_file() and (folder / name).stat().st_size == note.files[name].size
        for name in needed
    )


def is_intact(folder: Path, wanted: Sequence[Wanted]) -> bool:
    """Say whether every wanted file is here, byte for byte as it was fetched."""
    note = read_note(folder)
    needed = note.needs(wanted)
    return needed is not None and all(
        (folder / name).is_file() and sha256_of(folder / name) == note.files[name].sha256
        for name in needed
    )


def read_note(folder: Path) -> Note:
    """Return the note of a folder; one that is missing or damaged says nothing."""
    import json

    try:
        said = json.loads((folder / NOTE).read_bytes())
        files = {
            str(name): Noted(str(file["sha256"]), int(file["size"]))
            for name, file in said["files"].items()
        }
        return Note(str(said["commit"]), files, {str(name) for name in said["absent"]})
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return Note()


def write_note(folder: Path, note: Note, *, repo: str, revision: str) -> None:
    """Put the note beside the files, whole or not at all."""
    import json

    said = {
        "repo": repo,
        "revision": revision,
        "commit": note.commit,
        "files": {
            name: {"sha256": file.sha256, "size": file.size} for name, file in note.files.items()
        },
        "absent": sorted(note.absent),
    }
    part = folder / f"{NOTE}.part"
    part.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
    part.replace(folder / NOTE)
