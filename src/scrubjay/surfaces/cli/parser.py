"""Command line parser, built from the table of commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from scrubjay._version import __version__
from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.main_help import MAIN_HELP
from scrubjay.surfaces.render.terminal import out
from scrubjay.text.urls import strip_credentials
from scrubjay.text.validation import did_you_mean

if TYPE_CHECKING:
    from scrubjay.surfaces.verbs import Action, Command, Param

# argparse would look up a translation of its messages; that takes a twentieth of a cold search.
argparse._ = str  # type: ignore[attr-defined]

# Help group, module of `surfaces.verbs` with the records, commands. Only the module of the command that is
# called is imported.
_INDEX = (
    ("Write", "write", "add remember update undo say ingest import extract done undone forget"),
    ("Search", "search", "search vsearch query landscape"),
    ("Read", "read", "get history ls sessions expiring changes export"),
    ("Organise", "files", "files"),
    ("Organise", "share", "topics collections"),
    ("Organise", "read", "link unlink"),
    ("Organise", "feedback", "feedback weights"),
    ("Share", "share", "share unshare publish unpublish key token"),
    ("Connect", "connect", "connect"),
    ("Operate", "operate", "status doctor verify hits profiles tiers reindex backup restore"),
    ("Operate", "operate", "promote demote models embed eval demo serve signin mcp"),
)
COMMANDS = {name: module for _, module, names in _INDEX for name in names.split()}
_PURPOSE = (
    "Memory and hybrid search for AI agents: store texts, find them by keyword and by meaning."
)
_EXIT_CODES = "exit codes: 0 ok, 1 failed, 2 wrong usage, 3 nothing found"
_USAGE = "usage: scrubjay [--db PLACE] [--json] COMMAND ..."
# Options of every command: spelling, metavar, help.
_COMMON = (
    (("--db", "--store"), "PLACE", "the database: a file or postgres://… (SCRUBJAY_DB)"),
    (("--vectors",), "URL", "a replica: qdrant://host:6333/collection (SCRUBJAY_VECTORS)"),
    (("--graph",), "URL", "a replica: falkordb://host:6379/graph (SCRUBJAY_GRAPH)"),
    (("--tenant",), "NAME", "the tenant, if several share a database (SCRUBJAY_TENANT)"),
    (("--user",), "NAME", "the user who calls (SCRUBJAY_USER)"),
)
_UNRECOGNIZED = "unrecognized arguments: "
_WITH_VALUE = {spelling for spellings, _, _ in _COMMON for spelling in spellings}


class UsageError(InvalidInput):
    """The command line does not parse; `usage` shows what would."""

    def __init__(self, message: str, usage: str) -> None:
        if "://" in message:  # the message repeats what was typed
            message = strip_credentials(message)
        super().__init__(message)
        self.usage = usage


class _Parser(argparse.ArgumentParser):
    """Raise instead of exiting, so that one place prints errors."""

    def error(self, message: str) -> NoReturn:
        message = _with_nearest(message, self._option_string_actions)
        raise UsageError(message, self.format_usage().strip())


def _with_nearest(message: str, options: Iterable[str]) -> str:
    """Suggest the option or the value that a mistyped one is similar to."""
    if message.startswith(f"{_UNRECOGNIZED}--tier"):  # not mistyped: `_explained` says more
        return message
    if message.startswith(_UNRECOGNIZED):
        typed = (word.partition("=")[0] for word in message.split() if word.startswith("-"))
        return message + next(filter(None, (did_you_mean(word, options) for word in typed)), "")
    wrong, choose, choices = message.partition(" (choose from ")
    if not choose:
        return message
    word = wrong.rpartition("invalid choice: ")[2].strip("'\"")
    known = [choice.strip(" ')") for choice in choices.split(",")]
    return f"{wrong}{did_you_mean(word, known)}{choose}{choices}"


class _Help(argparse.HelpFormatter):
    # With a given width, argparse does not import shutil for each option.
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=88, max_help_position=26)


def parse(argv: list[str]) -> argparse.Namespace:
    name, rest = _split(argv)
    command = record(name)
    try:
        args = build(command).parse_args(rest)
    except UsageError as error:
        raise _explained(error, name, rest) from None
    args.command, args.record = name, command
    _choose_action(command, args)
    return args


def _split(argv: list[str]) -> tuple[str, list[str]]:
    place = 0
    while place < len(argv):
        word = argv[place]
        if word in COMMANDS:
            return word, argv[:place] + argv[place + 1 :]
        if word in ("help", "-h", "--help"):
            raise _exit_with(help_of(argv[place + 1]) if argv[place + 1 :] else MAIN_HELP)
        if word == "--version":
            raise _exit_with(f"scrubjay {__version__}")
        option, equals, _ = word.partition("=")
        if option in _WITH_VALUE:
            place += 1 if equals else 2
        elif word == "--json":
            place += 1
        elif word.startswith("-"):
            message = _with_nearest(
                f"{_UNRECOGNIZED}{word}", (*_WITH_VALUE, "--json", "--version")
            )
            after = "; options of a command stand after the command"
            raise UsageError(message if "did you mean" in message else message + after, _USAGE)
        else:
            raise _unknown(word)
    if argv:
        raise UsageError("the following arguments are required: COMMAND", _USAGE)
    raise _exit_with(MAIN_HELP)


def _unknown(word: str) -> UsageError:
    hint = f"{did_you_mean(word, COMMANDS)}; see: scrubjay --help"
    return UsageError(f"there is no command {word!r}{hint}", _USAGE)


def _exit_with(text: str) -> SystemExit:
    out(text)
    return SystemExit(0)


def _explained(error: UsageError, command: str, words: list[str]) -> UsageError:
    """Add what would be right to messages of argparse that do not tell."""
    message = str(error)
    if "--within: expected one argument" in message:  # -3d looks like an option
        hint = "give hours, days or weeks, such as 12h, 30d or 2w; nothing below 0"
        return UsageError(f"--within takes one time; {hint}", error.usage)
    if "did you mean" in message:
        return error
    if command == "update" and message.startswith(_UNRECOGNIZED) and "arguments: -" not in message:
        return UsageError(f"{message}; the new text stands right after the id", error.usage)
    text_is_missing = ("unrecognized arguments: -", "required: query", "required: text")
    if "--" in words or not any(part in message for part in text_is_missing):
        return error
    hint = "; write -- before a text that begins with a dash"
    if "unrecognized arguments: --tier" in message:
        hint = f"; {command} works on one database: name it with --db"
    return UsageError(f"{message}{hint}", error.usage)


def record(name: str) -> Command:
    module = import_module(f"scrubjay.surfaces.verbs.{COMMANDS[name]}")
    command: Command = next(command for command in module.COMMANDS if command.name == name)
    return command


def make_main_help() -> str:
    """Return the help that lists all commands, from their records; `main_help` has it ready."""
    lines, last = [_USAGE, "", _PURPOSE], ""
    for group, _, names in _INDEX:
        if group != last:
            lines += ["", f"{group}:"]
        lines += [f"  {name:<12} {record(name).help}" for name in names.split()]
        last = group
    lines += ["", "options, before or after the command:"]
    lines += [f"  {f'{names[0]} {metavar}':<17} {text}" for names, metavar, text in _COMMON]
    lines += [f"  {'--json':<17} print JSON", f"  {'--version':<17} print the version"]
    return "\n".join((*lines, "", "Help on a command: scrubjay COMMAND --help", _EXIT_CODES))


def help_of(name: str) -> str:
    if name not in COMMANDS:
        raise _unknown(name)
    return build(record(name)).format_help().strip()


def build(command: Command) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=f"scrubjay {command.name}",
        description=command.description or f"{command.help[0].upper()}{command.help[1:]}.",
        formatter_class=_Help,
        allow_abbrev=False,
    )
    groups = {}
    for names in command.exclusive:
        groups.update(dict.fromkeys(names, parser.add_mutually_exclusive_group()))
    own: tuple[Param, ...] = ()
    if _has_words(command):
        _add_actions(parser, command)
    elif command.actions:
        own = _params(command.actions[""])
    for param in (*own, *command.params):
        _add(groups.get(param.name, parser), param)
    common = parser.add_argument_group("common options")
    for spellings, metavar, text in _COMMON:
        common.add_argument(*spellings, metavar=metavar, default=None, help=text)
    common.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _has_words(command: Command) -> bool:
    return bool(command.actions) and "" not in command.actions


def _params(action: Action) -> tuple[Param, ...]:
    # The word of the action is the value of a parameter of that name: feedback accepted ID.
    return tuple(p for p in (*action.verb.params, *action.params) if p.name != "action")


def _options(command: Command) -> dict[str, tuple[Param, list[str]]]:
    """Return the options of all actions by name, each with the words of the actions that have it."""
    found: dict[str, tuple[Param, list[str]]] = {}
    for word, action in command.actions.items():
        for param in _params(action):
            if not _is_positional(param):
                found.setdefault(param.name, (param, []))[1].append(word)
    return found


def _is_positional(param: Param) -> bool:
    return bool(param.usage) and not param.usage.startswith("-")


def dest(param: Param) -> str:
    """Return the attribute of a parameter; `user` is that of the common option."""
    return "person" if param.name == "user" else param.name


def _spellings(param: Param) -> tuple[list[str], str | None]:
    words = param.usage.split() or [f"--{param.name.replace('_', '-')}"]
    flags = [word for word in words if word.startswith("-")]
    return flags, words[-1] if words[-1] not in flags else None


def _add(parser: Any, param: Param, text: str = "", *, merged: bool = False) -> None:
    """Add one parameter to a parser; of one that several actions share, the default comes later."""
    schema = param.kind.schema
    kind = schema.get("type")
    how: dict[str, Any] = {"help": (text or param.description).replace("%", "%%")}
    if kind in ("integer", "number"):
        how["type"] = int if kind == "integer" else float
    if not merged and param.default is not None:
        how["default"] = param.default
    if _is_positional(param):
        name = param.usage.strip("[].")
        repeated, optional = "..." in param.usage, param.usage.startswith("[")
        if repeated or optional:
            how["nargs"] = ("*" if optional else "+") if repeated else "?"
        if "enum" in schema:
            how["choices"] = schema["enum"]
        else:
            how["metavar"] = name
        parser.add_argument(dest(param), **how)
        return
    flags, metavar = _spellings(param)
    if kind == "boolean":
        how["action"] = "store_true"
    else:
        how["metavar"] = metavar
        if metavar and metavar.startswith("["):  # its value may be left out
            how |= {"metavar": metavar.strip("[]"), "nargs": "?", "const": True}
        if kind == "array":
            how |= {"action": "append", "help": f"{how['help']} (repeatable)"}
        elif "enum" in schema and metavar is None:
            how["choices"] = schema["enum"]
    parser.add_argument(*flags, dest=param.name, required=param.required and not merged, **how)


def _add_actions(parser: argparse.ArgumentParser, command: Command) -> None:
    """Add the word of the action, then the arguments and options of all actions.

    They are in one parser, so that options may stand anywhere; `_choose_action` checks that they fit.
    """
    optional = {"nargs": "?", "default": command.default_action} if command.default_action else {}
    parser.add_argument("action", choices=tuple(command.actions), **optional)  # type: ignore[arg-type]
    slots: dict[int, list[tuple[str, Param]]] = {}
    for word, action in command.actions.items():
        for place, param in enumerate(filter(_is_positional, _params(action))):
            slots.setdefault(place, []).append((word, param))
    for place, uses in slots.items():
        names = dict.fromkeys(param.usage.strip("[].") for _, param in uses)
        words: dict[str, list[str]] = {}
        for word, param in uses:
            words.setdefault(param.description, []).append(word)
        told = "; ".join(f"{', '.join(those)}: {text}" for text, those in words.items())
        parser.add_argument(f"slot{place}", nargs="?", metavar="|".join(names), help=told)
    for param, having in _options(command).values():
        _add(parser, param, f"{', '.join(having)}: {param.description}", merged=True)


def _choose_action(command: Command, args: argparse.Namespace) -> None:
    """Set `args.verb`, name the arguments of the action, and refuse those of other actions."""
    if not _has_words(command):
        args.verb = command.actions[""].verb if command.actions else None
        return
    action = command.actions[args.action]
    args.verb = action.verb
    params, usage = _params(action), _usage(command, args.action)
    own = {param.name for param in params}
    for name, (param, words) in _options(command).items():
        if name not in own and getattr(args, name) not in (None, False):
            option, fits = _spellings(param)[0][-1], " and ".join(words)
            raise InvalidInput(f"{option} goes with {fits}: {_usage(command, words[0])} {option}")
    slots = [value for name, value in sorted(vars(args).items()) if name.startswith("slot")]
    values: list[str] = [value for value in slots if value is not None]
    arguments = [param for param in params if _is_positional(param)]
    needed = sum(param.required for param in arguments)
    missing = [param for param in params if param.required and param not in arguments]
    if not needed <= len(values) <= len(arguments) or any(
        not (getattr(args, param.name) or "").strip() for param in missing
    ):
        raise InvalidInput(f"too few or too many arguments; usage: {usage}")
    for param, value in zip(arguments, values, strict=False):  # the last may be left out
        whole = param.kind.schema.get("type") == "integer"
        if whole and not value.isdecimal():
            raise InvalidInput(f"{param.name} is {value!r}, which is no number; usage: {usage}")
        setattr(args, dest(param), int(value) if whole else value)
    for param in params:
        if getattr(args, dest(param), None) is None:
            setattr(args, dest(param), param.default)


def _usage(command: Command, word: str) -> str:
    params = _params(command.actions[word])
    arguments = [param.usage.upper() for param in params if _is_positional(param)]
    options = [param.usage for param in params if param.required and not _is_positional(param)]
    return " ".join(("scrubjay", command.name, word, *arguments, *options))
