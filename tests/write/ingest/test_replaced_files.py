"""A file that becomes a link or a pipe while its folder is read is not followed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs links and pipes")


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("Cars need oil.\n")
    (folder / "b.md").write_text("Boats need paint.\n")
    (tmp_path / "secret.md").write_text("The password is kettle.\n")
    return folder


def link(path: Path) -> None:
    path.symlink_to(path.parent.parent / "secret.md")


def pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(("put", "reason"), [(link, "link"), (pipe, "regular")])
def test_what_takes_the_place_of_a_file_is_not_read(
    words_only, folder, put: Callable[[Path], None], reason
):
    """Between finding a file and reading it, another user of the folder may replace it."""

    def replace(number: int, total: int, name: str) -> None:
        if not (folder / "b.md").is_symlink() and (folder / "b.md").is_file():
            (folder / "b.md").unlink()
            put(folder / "b.md")

    done = words_only.ingest(folder, progress=replace)

    assert done.added == 1
    ((path, why),) = done.failed
    assert (path, reason in why) == (str(folder / "b.md"), True)
    assert [one.text for one in words_only.ls()] == ["Cars need oil.\n"]


@pytest.mark.parametrize("through", ["itself", "a link"])
def test_a_folder_that_becomes_a_link_is_not_entered(words_only, folder, tmp_path, through):
    """Its files have the same paths as before, and are others."""
    (folder / "sub").mkdir()
    (folder / "sub" / "secret.md").write_text("Trains need rails.\n")
    root = folder
    if through == "a link":  # that of the person who names the folder
        root = tmp_path / "named"
        root.symlink_to(folder)

    def replace(number: int, total: int, name: str) -> None:
        if not (folder / "sub").is_symlink():
            (folder / "sub").rename(tmp_path / "aside")
            (folder / "sub").symlink_to(tmp_path)

    done = words_only.ingest(root, progress=replace)

    assert done.added == 2
    ((path, why),) = done.failed
    assert (path, "link" in why) == (str(root / "sub" / "secret.md"), True)
    assert not any("password" in one.text for one in words_only.ls())


def test_a_link_that_a_person_names_is_read(words_only, folder, tmp_path):
    """They chose it themselves."""
    (tmp_path / "named.md").symlink_to(folder / "a.md")

    assert words_only.ingest(tmp_path / "named.md").added == 1
