"""Parts of the docs that are printed from the code, for cog: page and code cannot drift apart."""

from __future__ import annotations

from typing import Any

from scrubjay.search import profiles
from scrubjay.search.pipeline import Part, flat, is_parts
from scrubjay.search.stages.catalogue import STAGES
from scrubjay.surfaces.cli.parser import COMMANDS, help_of, make_main_help


def profile_table() -> None:
    """Print every built-in profile with its summary."""
    print("| profile | what it does |\n|---|---|")
    for name in profiles.built_in():
        print(f"| `{name}` | {profiles.get(name).summary} |")


def mode_table(profile: str) -> None:
    """Print the modes of one profile."""
    print("| mode | what it does |\n|---|---|")
    for name in profiles.built_in():
        if name.partition(":")[0] == profile:
            print(f"| `{name}` | {profiles.get(name).summary} |")


def stage_list(name: str) -> None:
    """Print the stages of a profile in order, with their numbers and what each does."""
    print("| stage | numbers | what it does |\n|---|---|---|")
    for part in flat(profiles.get(name).stages):
        print(f"| `{part.name}` | {_numbers(part)} | {_first_line(part)} |")


def catalogue() -> None:
    """Print every stage there is, with its numbers and their usual values."""
    print("| stage | numbers | what it does |\n|---|---|---|")
    for name, make in sorted(STAGES.items()):
        function = make.__wrapped__  # type: ignore[attr-defined]  # set by the stage decorator
        defaults = function.__kwdefaults__ or {}
        numbers = [
            f"`{key}={defaults[key]!r}`" if key in defaults else f"`{key}`"
            for key in function.__annotations__
            if key not in ("run", "return")
        ]
        print(f"| `{name}` | {', '.join(numbers)} | {(function.__doc__ or '').splitlines()[0]} |")


def help_of_all_commands() -> None:
    """Print the help of the command line, then of each command."""
    print(f"```text\n{make_main_help()}\n```")
    for name in COMMANDS:
        print(f"\n## scrubjay {name}\n\n```text\n{help_of(name)}\n```")


def main_help() -> None:
    """Print the help that lists all commands, as a constant of Python."""
    print(f'MAIN_HELP = """\\\n{make_main_help()}"""')


def verb_table() -> None:
    """Print every verb of HTTP and MCP, the scope it needs and its parameters."""
    from scrubjay.surfaces.verbs.table import VERBS

    print("| verb | scope | what it does | parameters |\n|---|---|---|---|")
    for verb in VERBS.values():
        takes = ", ".join(
            f"**`{one.name}`**" if one.required else f"`{one.name}`" for one in verb.params
        )
        print(f"| `{verb.name}` | {verb.scope} | {verb.help} | {takes} |")


def problem_table() -> None:
    """Print every problem that the HTTP API returns."""
    from scrubjay.surfaces.http.problems import PROBLEM_TYPES

    print("| status | type | title |\n|---|---|---|")
    for name, sort in PROBLEM_TYPES.items():
        print(f"| {sort.status} | `urn:scrubjay:problem:{name}` | {sort.title} |")


def mcp_tool_table() -> None:
    """Print the default tools of MCP, with what each takes."""
    from scrubjay.surfaces.mcp.toolsets import tools_of

    print("| tool | scope | takes | what it does |\n|---|---|---|---|")
    for one in tools_of("default"):
        schema = one.input_schema()
        must = schema.get("required", ())
        takes = ", ".join(
            f"**`{name}`**" if name in must else f"`{name}`" for name in schema["properties"]
        )
        told = " ".join(one.description.split(". ")[0].split()).rstrip(".")
        print(f"| `{one.name}` | {one.verb.scope} | {takes or 'nothing'} | {told}. |")


def mcp_other_tools() -> None:
    """Print the names of the tools that only the full set has."""
    from scrubjay.surfaces.mcp.toolsets import tools_of

    default = {one.name for one in tools_of("default")}
    others = [one.name for one in tools_of("full") if one.name not in default]
    print(", ".join(f"`{name}`" for name in others) + ".")


def _numbers(part: Part[Any]) -> str:
    shown = {key: value for key, value in part.numbers.items() if not is_parts(value)}
    return ", ".join(f"`{part.name}.{key}={value!r}`" for key, value in shown.items())


def _first_line(part: Part[Any]) -> str:
    return (part.function.__doc__ or "").splitlines()[0]
