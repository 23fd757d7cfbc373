"""Lists the licences of the dependencies, and fails on one that is unknown or copyleft and not accepted.

`python -m tools.licences` checks the dependencies of the package and of its extras, with everything that
they install in turn, as far as it is installed here; `--all` prints those, too. `docs/licences.md`
contains the table of the direct ones. Licences are read from the metadata of the installed packages.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"

PACKAGES = PROJECT.parent / "packages"

PERMISSIVE = frozenset(
    "0BSD Apache-2.0 BSD BSD-2-Clause BSD-3-Clause CC0-1.0 CNRI-Python HPND ISC MIT MIT-0 MIT-CMU"
    " PSF-2.0 Python-2.0 Unlicense Zlib".split()
)
COPYLEFT = frozenset(
    "AGPL-3.0-only AGPL-3.0-or-later EPL-2.0 GPL-2.0-only GPL-2.0-or-later GPL-3.0-only"
    " GPL-3.0-or-later LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-later MPL-2.0".split()
)


class Accepted(NamedTuple):
    """A licence with conditions on copies, and why the package may be used all the same."""

    licence: str
    why: str


_WEAK = "weak copyleft, on changes to its own files; it is used unchanged and not distributed with scrubjay"
_LGPL = (
    "weak copyleft; an optional extra that users install themselves, used unchanged through its"
    " interface, and replaceable"
)
# Copyleft licences, each accepted for one package.
ACCEPTED: Mapping[str, Accepted] = {
    "certifi": Accepted("MPL-2.0", _WEAK),
    "pathspec": Accepted("MPL-2.0", _WEAK),
    "psycopg": Accepted("LGPL-3.0-only", _LGPL),
    "psycopg-binary": Accepted("LGPL-3.0-only", _LGPL),
    "psycopg-pool": Accepted("LGPL-3.0-only", _LGPL),
    "tqdm": Accepted("MPL-2.0 AND MIT", _WEAK),
}
# Packages whose metadata says nothing, or that are not installed on every system.
STATED: Mapping[str, str] = {
    "onnxruntime-gpu": "MIT",
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
    "tzdata": "Apache-2.0",
}
# Other spellings in metadata.
_SPELLINGS = {
    "apache": "Apache-2.0",
    "apache 2": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache-2.0 license": "Apache-2.0",
    "bsd license": "BSD",
    "3-clause bsd license": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense",
}


class Dependency(NamedTuple):
    """A package that scrubjay names: `extras` are those that install it; none for the package itself."""

    name: str
    versions: str
    licence: str
    extras: tuple[str, ...]
    marker: str = ""  # the systems on which it is installed


def main() -> None:
    """Check every licence; print the table, or with `--all` every package that is installed."""
    direct = list(dependencies())
    installed = {one.name: one.licence for one in direct} | dict(_closure(_named()))
    installed |= dict(packages())
    if "--all" in sys.argv[1:]:
        for name, licence in sorted(installed.items()):
            print(f"{name:45} {licence or 'unknown'}")
    else:
        table()
    if wrong := list(problems(installed)):
        sys.exit("\n".join(wrong))


def table() -> None:
    """Print the direct dependencies as a table of the docs, and why copyleft ones are accepted."""
    print("| package | versions | licence | installed by |\n|---|---|---|---|")
    direct = list(dependencies())
    for one in direct:
        where = ", ".join(f"`{extra}`" for extra in one.extras) or "always"
        where += f" (if {one.marker})" if one.marker else ""
        versions = one.versions.replace("|", "\\|") or "any"
        print(f"| {one.name} | {versions} | {one.licence or 'unknown'} | {where} |")
    print("\nAccepted, with the reason:\n")
    for name, accepted in ACCEPTED.items():
        print(f"- {name} ({accepted.licence}): {accepted.why}.")


def problems(licences: Mapping[str, str]) -> Iterator[str]:
    """Name each package whose licence is unknown, or copyleft and not accepted."""
    for name, licence in sorted(licences.items()):
        accepted = ACCEPTED.get(name)
        if not licence:
            yield f"{name}: its licence is unknown; look it up, and add it to STATED in tools/licences.py"
        elif not is_permissive(licence) and (accepted is None or accepted.licence != licence):
            yield (
                f"{name}: {licence} is not permissive; replace the package, or accept it with a"
                " reason in tools/licences.py"
            )


def dependencies() -> Iterator[Dependency]:
    """Yield what pyproject.toml names, the package's own first, then those of the extras."""
    found: dict[str, tuple[Requirement, list[str]]] = {}
    for extra, requirement in _named():
        extras = found.setdefault(canonicalize_name(requirement.name), (requirement, []))[1]
        if extra:
            extras.append(extra)
    for name in sorted(found, key=lambda name: (bool(found[name][1]), name)):
        requirement, extras = found[name]
        versions = ", ".join(sorted(map(str, requirement.specifier), reverse=True))
        marker = str(requirement.marker or "").replace('"', "'")
        yield Dependency(name, versions, licence_of(name), tuple(extras), marker)


def licence_of(name: str) -> str:
    """Return the licence of a package as an SPDX expression; "" if it is unknown."""
    if stated := STATED.get(canonicalize_name(name)):
        return stated
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        return ""
    if expression := metadata.get_all("License-Expression"):
        return str(expression[0])
    stated = "".join(metadata.get_all("License") or ())
    if _is_expression(stated):
        return stated
    classified = [
        str(one).rpartition(" :: ")[2]
        for one in metadata.get_all("Classifier") or ()
        if str(one).startswith("License :: ") and not str(one).endswith("OSI Approved")
    ]
    # A field of several lines is the text of a licence.
    for several in (stated.split(",") if "\n" not in stated else [], classified):
        ids = [_spdx(one) for one in several]
        if ids and all(ids):
            return " AND ".join(sorted(set(ids)))
    return ""


def is_permissive(expression: str) -> bool:
    """True when an SPDX expression leaves a choice of permissive licences alone."""
    words = re.findall(r"\(|\)|[^\s()]+", re.sub(r"\s+WITH\s+\S+", "", expression))
    logic = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    return _all_of(logic.get(word) or str(word in PERMISSIVE) for word in words)


def _all_of(words: Iterable[str]) -> bool:
    """Evaluate True and False with and, or and brackets; AND binds more strongly than OR."""
    left = list(words)

    def alternatives() -> bool:
        value = together()
        while left and left[0] == "or":
            left.pop(0)
            value = together() or value
        return value

    def together() -> bool:
        value = one()
        while left and left[0] == "and":
            left.pop(0)
            value = one() and value
        return value

    def one() -> bool:
        word = left.pop(0) if left else "False"
        if word != "(":
            return word == "True"
        value = alternatives()
        if left:
            left.pop(0)
        return value

    return alternatives() and not left


def _is_expression(stated: str) -> bool:
    words = re.findall(r"[^\s()]+", stated)
    return bool(words) and all(word in (*PERMISSIVE, *COPYLEFT, "AND", "OR") for word in words)


def _spdx(stated: str) -> str:
    stated = stated.strip()
    known = {**{one.casefold(): one for one in PERMISSIVE | COPYLEFT}, **_SPELLINGS}
    return known.get(stated.casefold(), "")


def models() -> None:
    """Print the table of models: the licence of each, and what brings it."""
    from scrubjay.models import registry
    from scrubjay.models.bundled import ENCODER, LICENCE, PACKAGE, RANKER

    rows = [
        (registry.STATIC, "MIT", "the package scrubjay"),
        (ENCODER.name, ENCODER.licence, f"the package {PACKAGE}"),
        (RANKER, LICENCE, f"the package {PACKAGE}"),
        *(
            (state.card.name, state.card.licence, "a download")
            for state in registry.known_models()
            if state.card != ENCODER
        ),
    ]
    print("\n| model | licence | comes with |\n|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print()


def packages() -> Iterator[tuple[str, str]]:
    """Yield the other distributions of this repository, with the licence that each states."""
    for file in sorted(PACKAGES.glob("*/pyproject.toml")):
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        yield project["name"], project["license"]


@cache
def _project() -> Mapping[str, list[Requirement]]:
    """Return the requirements by extra; "" has those of the package itself."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(one) for one in several] for extra, several in groups.items()}


def _named() -> Iterator[tuple[str, Requirement]]:
    for extra, several in _project().items():
        for requirement in several:
            if requirement.name != "scrubjay":  # `all` names the other extras
                yield extra, requirement


def _closure(named: Iterable[tuple[str, Requirement]]) -> Iterator[tuple[str, str]]:
    """Yield every package that these install on this system, with its licence."""
    todo = [requirement for _, requirement in named]
    seen: set[tuple[str, str]] = set()
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in seen or (found := _installed(name)) is None:
                continue
            seen.add((name, extra))
            if not extra:
                yield name, licence_of(name)
            todo += [
                needed
                for needed in map(Requirement, found.requires or ())
                if needed.marker is None or needed.marker.evaluate({"extra": extra})
            ]


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
