"""Import old module names: each is an alias of the module that replaced it."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

# Names that the docs of earlier versions show.
MOVED = {
    "scrubjay.access": "scrubjay.sharing.api_keys",
    "scrubjay.evaluating": "scrubjay.ops.eval.run",
    "scrubjay.judged": "scrubjay.ops.eval.questions",
    "scrubjay.pipeline": "scrubjay.search.pipeline",
    "scrubjay.profiles": "scrubjay.search.profiles",
    "scrubjay.promoting": "scrubjay.ops.promote.run",
    "scrubjay.recalled": "scrubjay.text.recall_tags",
    "scrubjay.service": "scrubjay.store",
    "scrubjay.stages": "scrubjay.search.stages",
    "scrubjay.timewords": "scrubjay.text.dates",
}


def new_name(name: str) -> str | None:
    moved = ".".join(name.split(".")[:2])
    return MOVED[moved] + name.removeprefix(moved) if moved in MOVED else None


# No subclass of importlib.abc, whose import takes longer than opening a database.
class _OldNames:
    """Imports the new module under its old name, so that both names are the same module."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        if new_name(fullname) is None:
            return None
        return ModuleSpec(fullname, self, is_package=False)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(str(new_name(spec.name)))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's spec: the import replaced it by that of the old name."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Make old names importable. The finder goes first: a moved package would load its modules twice."""
    if not any(isinstance(finder, _OldNames) for finder in sys.meta_path):
        sys.meta_path.insert(0, _OldNames())
