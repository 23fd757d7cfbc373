"""What is committed works on every machine."""

from __future__ import annotations

import re
import subprocess

import pytest
from places import ROOT

# Spelled in two halves, so that this file does not find itself.
MACHINE_PATHS = re.compile(
    "|".join((r"/ro" r"ot/", r"/ho" r"me/\w+/", r"/Us" r"ers/\w+/", r"/wo" r"rk/"))
)
INDEX_OPTIONS = re.compile(
    r"--(extra-)?index" r"-url|PIP_INDEX" r"_URL|\bUV_INDEX" r"|--find" r"-links"
)
TEXT = {".py", ".md", ".toml", ".txt", ".json", ".yml", ".yaml", ".cfg", ".sh", ""}


def tracked():
    """The text files that git knows, or would if they were added."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is not a git checkout")
    files = [ROOT / name for name in listed.split("\0") if name]
    return [one for one in files if one.is_file() and one.suffix in TEXT]


def lines_with(pattern):
    found = []
    for file in tracked():
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        found += [
            f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
            for number, line in enumerate(lines, 1)
            if pattern.search(line)
        ]
    return found


def test_no_file_names_a_path_of_one_machine():
    """Somebody's home folder, or the folder this checkout happens to lie in."""
    assert lines_with(MACHINE_PATHS) == []
    here = str(ROOT.parent)
    if len(here) > 4:
        assert lines_with(re.compile(re.escape(here + "/"))) == []


def test_no_file_names_a_package_index():
    """Which index is used is the user's own setting."""
    assert lines_with(INDEX_OPTIONS) == []


def test_no_store_but_those_for_the_migrations_is_committed():
    """A store may hold what somebody remembers."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    names = listed.stdout.decode().split("\0")

    stores = [one for one in names if one.endswith(".db")]
    assert stores == ["tests/data/schema-1.db", "tests/data/schema-2.db"]
