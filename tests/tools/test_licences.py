"""Every dependency has a known licence, and one with conditions on copies is accepted with a reason."""

from __future__ import annotations

import subprocess
import sys

import pytest
from places import ROOT
from tools.licences import ACCEPTED, dependencies, is_permissive, licence_of, problems

from tools import licences


def test_the_dependencies_as_they_are_pass():
    ended = subprocess.run(
        [sys.executable, "-m", "tools.licences", "--all"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "numpy" in ended.stdout


def test_each_dependency_of_the_project_is_listed():
    found = {one.name: one for one in dependencies()}
    assert found["numpy"].extras == ()
    assert found["mcp"].extras == ("mcp", "server")
    assert found["mcp"].versions == ">=2.3, <3"
    assert found["psycopg"].licence == "LGPL-3.0-only"
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    assert [name for name in found if f"| {name} |" not in page] == []


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("MIT", True),
        ("BSD-3-Clause AND MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-3.0-only OR Apache-2.0", True),
        ("(GPL-3.0-only OR MIT) AND ISC", True),
        ("(GPL-3.0-only OR MIT) AND MPL-2.0", False),
        ("MIT OR GPL-3.0-only AND MPL-2.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("something new", False),
        ("", False),
    ],
)
def test_expressions(expression: str, expected: bool):
    assert is_permissive(expression) is expected


def test_what_is_unknown_or_copyleft_is_named():
    found = list(
        problems({"good": "MIT", "odd": "", "viral": "GPL-3.0-only", "psycopg": "LGPL-3.0-only"})
    )
    assert [one.partition(":")[0] for one in found] == ["odd", "viral"]


def test_an_accepted_package_that_changes_its_licence_is_named():
    (found,) = problems({"pathspec": "AGPL-3.0-only"})
    assert "AGPL-3.0-only" in found


def test_a_package_that_is_not_installed_is_unknown():
    assert licence_of("a-package-of-nobody") == ""
    assert all(one.why for one in ACCEPTED.values())
    assert set(licences.STATED) <= {one.name for one in dependencies()}
