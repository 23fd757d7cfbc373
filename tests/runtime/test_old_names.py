"""Module names of earlier versions still work."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from scrubjay.runtime.old_names import MOVED


@pytest.mark.parametrize(("old", "new"), MOVED.items())
def test_an_old_name_is_the_same_module(old, new):
    """Classes of both names are one class, so that isinstance and except keep working."""
    assert importlib.import_module(old) is importlib.import_module(new)


def test_modules_of_a_moved_package_are_not_loaded_twice():
    """`scrubjay.stages.fuse` and the module that it became are one; imported first, in a new process."""
    code = (
        "from scrubjay.stages.fuse import rrf as old; import scrubjay.stages, scrubjay.pipeline;"
        "from scrubjay.search.stages.fuse import rrf as new; from scrubjay.profiles.gnosis import band;"
        "import scrubjay.search.stages.fuse as module;"
        "assert old is new; assert module.__spec__.name == 'scrubjay.search.stages.fuse'; print('ok')"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "ok\n"


def test_a_name_that_never_was_is_not_found():
    """The usual error for any other name."""
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("scrubjay.nothing_of_the_kind")
