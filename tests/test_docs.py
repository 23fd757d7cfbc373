"""Docs: everything is documented, every example runs, every link leads to a heading."""

import os
import re
import shlex
import tomllib
from inspect import signature

import mcp  # noqa: F401  # it keeps the standard error that it finds when it is imported: a real one
import pytest
from places import ROOT

from scrubjay.config import (
    _KEYS,
    CHUNK_OVERLAP_TOKENS,
    CHUNK_TOKENS,
    SHORT_TURN_CHARS,
    load,
)
from scrubjay.runtime.paths import cache_dir
from scrubjay.search import profiles
from scrubjay.search.stages.catalogue import STAGES
from scrubjay.store import Store
from scrubjay.surfaces.cli import main
from scrubjay.surfaces.cli.parser import COMMANDS

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
MODELS = cache_dir()
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language):
    """Every fenced block of a language, with its page and a name for the test."""
    found = []
    for page in PAGES:
        texts = [body for kind, body in FENCE.findall(page.read_text("utf-8")) if kind == language]
        found += [
            pytest.param(body, id=f"{page.relative_to(ROOT)}:{n}")
            for n, body in enumerate(texts, 1)
        ]
    return found


@pytest.fixture
def at_home(tmp_path, monkeypatch):
    """An empty home folder, with the model in the cache."""
    for name in [name for name in os.environ if name.startswith("SCRUBJAY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SCRUBJAY_HOME", str(tmp_path))
    monkeypatch.setenv("SCRUBJAY_CACHE", MODELS)
    monkeypatch.chdir(tmp_path)


@pytest.mark.model
@pytest.mark.parametrize("code", blocks("python"))
def test_every_python_example_runs_and_prints_what_it_says(code, at_home, capsys):
    """A comment after a print is its output."""
    names = {"__name__": "example"}
    try:
        exec(compile(code, "example", "exec"), names)
    finally:
        if hasattr(names.get("memory"), "close"):
            names["memory"].close()
    printed = capsys.readouterr().out.splitlines()
    promised = re.findall(r"print\(.*\)  # (.+)$", code, re.MULTILINE)
    for line in promised:
        assert line in printed


@pytest.mark.model
@pytest.mark.parametrize("session", blocks("console"))
def test_every_shell_example_prints_what_it_shows(session, at_home, capsys):
    """Only times may differ."""
    for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        program, *words = shlex.split(command)
        assert program == "scrubjay"
        assert main(words) == 0
        assert without_times(capsys.readouterr().out) == without_times(shown)


def without_times(text):
    return re.sub(r"\d+ ms", "N ms", text).strip()


def test_every_command_has_its_help_in_the_reference():
    """The page has no command that was removed."""
    page = (ROOT / "docs/cli.md").read_text("utf-8")
    assert re.findall(r"^## scrubjay (\w+)$", page, re.MULTILINE) == list(COMMANDS)


def test_every_parameter_of_search_is_documented():
    """On the page of the library."""
    page = (ROOT / "docs" / "library.md").read_text("utf-8")
    (listed,) = re.findall(r"^`search\((.*)\)`$", page, re.MULTILINE)
    documented = [parameter.partition("=")[0] for parameter in listed.split(", ")]
    assert set(documented) - {"*"} == set(signature(Store.search).parameters) - {"self"}


def test_every_stage_is_in_the_catalogue():
    """The table of stages is generated from the code."""
    page = (ROOT / "docs/how-search-works.md").read_text("utf-8")
    for name in STAGES:
        assert f"| `{name}` |" in page


def test_every_stage_that_a_profile_uses_can_be_named_in_toml():
    """A stage outside the catalogue would have no docs and no address."""
    for name in profiles.built_in():
        for part in profiles.flat(profiles.get(name).stages):
            assert part.function.__name__ in STAGES


def test_every_profile_is_documented():
    """By name, on the page that compares profiles and on its own page."""
    choice = (ROOT / "docs/which-profile.md").read_text("utf-8")
    for name in profiles.built_in():
        page = (ROOT / f"docs/profiles/{name.partition(':')[0]}.md").read_text("utf-8")
        assert f"`{name}`" in choice
        assert f"`{name}`" in page


# What was decided for a profile, by the ids of the requirements.
DECIDED = {
    "gno": "GN-1 GN-6 GN-9 GN-10 GN-11",
    "vault": "SV-3 SV-4 SV-8 SV-9 SV-10 SV-11",
    "cognis": "CG-4 CG-5 CG-6 CG-7 CG-9",
    "novamem": "NM-2 NM-3",
}


@pytest.mark.parametrize("name", [one for one in profiles.built_in() if ":" not in one])
def test_every_profile_says_first_what_differs_from_its_document(name):
    """What is missing, or nothing, and what was decided where the document leaves it open."""
    page = (ROOT / f"docs/profiles/{name}.md").read_text("utf-8")
    title, section = re.split(r"^## (.+)$", page, flags=re.MULTILINE)[1:3]

    assert title == "What differs from the document"
    missing, found, decided = section.partition("\nDecided")
    assert found
    assert re.match(r"\s+Missing(: nothing\.|:\n\n- )", missing)
    assert "\n- " in decided
    wanted = DECIDED.get(name, "").split()
    assert set(wanted) <= set(re.findall(r"[A-Z]{2}-\d+", decided))
    for line in re.findall(r"^- .+$", section, re.MULTILINE) if wanted else ():
        assert re.search(r"\(([A-Z]{2}-\d+(, )?)+\)$", line), line


def test_every_setting_and_variable_is_documented():
    """Settings in the file, and each variable that the code reads."""
    page = (ROOT / "docs/library.md").read_text("utf-8")
    code = "".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    for name in (*_KEYS, *set(re.findall(r"SCRUBJAY_[A-Z]+(?:_[A-Z]+)*\b(?!_)", code))):
        assert f"`{name}`" in page


def test_the_commented_settings_file_names_every_setting_and_is_valid(tmp_path, monkeypatch):
    """Without the comment signs it can be loaded; each default is the one of the code."""
    text = (ROOT / "docs/scrubjay.toml").read_text("utf-8")
    assert tomllib.loads(text) == {}
    used = re.sub(r"^# (?=\w+ =|\[)", "", text, flags=re.MULTILINE)
    given = tomllib.loads(used)
    assert set(_KEYS) - {"profile"} <= given.keys()
    file = tmp_path / "scrubjay.toml"
    file.write_text(used, "utf-8")
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
    settings = load()
    assert (settings.profile, settings.user, settings.tenant) == ("default", "ann", "acme")
    assert settings.chunk_tokens == CHUNK_TOKENS
    assert settings.chunk_overlap_tokens == CHUNK_OVERLAP_TOKENS
    assert settings.short_turn_chars == SHORT_TURN_CHARS


def test_the_readme_fits_two_screens():
    """What it is, a picture, install, one minute of use, what to rely on, where to go next."""
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 90


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_between_pages_leads_somewhere(page):
    """Relative links point at existing files, and at existing headings in them."""
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            assert file.exists(), target
            assert not anchor or anchor in anchors(file.read_text("utf-8")), target


def anchors(text):
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
