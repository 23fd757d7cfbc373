"""What may be typed: every command with its options."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn

from scrubjay._version import __version__
from scrubjay.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

# What argparse says would be translated, and what we say would not; and to look for a translation
# takes a twentieth of a search from a cold shell.
argparse._ = str  # type: ignore[attr-defined]

COMMANDS = {
    "add": "remember a text, or read files and folders",
    "remember": "the same as add",
    "update": "change what is given of a memory; the rest stays",
    "say": "keep a message of a conversation",
    "ingest": "read files and folders, and follow their changes",
    "search": "find by word (no model needed)",
    "vsearch": "find by meaning",
    "query": "find by word and meaning together",
    "get": "show memories in full",
    "ls": "list what is stored",
    "sessions": "list the conversations",
    "collections": "list the collections, make one to share, rename one, or remove one",
    "share": "invite somebody into a collection, or change their role",
    "unshare": "remove somebody from a collection, or leave it",
    "publish": "copy a memory into a shared collection",
    "unpublish": "take a published copy away again",
    "topics": "list the topics, or rename one",
    "landscape": "say what is stored, in few words, for an agent that begins",
    "done": "mark memories as done",
    "undone": "take the mark away again",
    "extract": "draw facts from messages, with the configured language model",
    "forget": "remove memories for good",
    "expiring": "list what is soon no longer valid, or what is not already",
    "feedback": "say what became of a result, list what was said, or take it back",
    "weights": "show what feedback has made of the weights",
    "link": "connect two memories, or show what is connected",
    "export": "write memories as Markdown files, or as lines of JSON",
    "import": "take in what export wrote, or what you wrote yourself",
    "backup": "copy the whole store into another file, while it is in use",
    "promote": "move the store from its file to Postgres, while it is in use",
    "demote": "move the store from Postgres into a file, while it is in use",
    "profiles": "list the ways of searching, with their numbers",
    "tiers": "list the databases that are searched together, and how each is",
    "status": "say what is stored and what is pending",
    "hits": "say which tier found what, by the hour",
    "reindex": "make indexes anew from what is stored, here and on servers",
    "doctor": "examine every part and say how to fix what is not well",
    "eval": "measure how well questions of yours find what they should",
    "models": "list the models, fetch one, or measure the reranker's speed",
    "token": "make, list or revoke the tokens of those who ask a server, or do without",
    "demo": "show scrubjay on sample memories, in a store of its own",
    "serve": "serve the store over HTTP, and to agents, until Ctrl-C",
    "mcp": "serve the store to an agent, as tools over standard input and output",
}
_EXITS = "exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing found"


class UsageError(InvalidInput):
    """The command line does not parse; `usage` shows what would."""

    def __init__(self, message: str, usage: str) -> None:
        if "://" in message:  # what was typed is repeated
            from scrubjay.text.urls import strip_credentials

            message = strip_credentials(message)
        super().__init__(message)
        self.usage = usage


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of leaving, so that one place writes errors."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(_with_nearest(message), self.format_usage().strip())


def _with_nearest(message: str) -> str:
    """Return a message with the word that was probably meant, where one of several was to be typed."""
    wrong, choose, choices = message.partition(" (choose from ")
    if not choose:
        return message
    from scrubjay.text.validation import did_you_mean

    word = wrong.rpartition("invalid choice: ")[2].strip("'\"")
    known = [one.strip(" ')") for one in choices.split(",")]
    return f"{wrong}{did_you_mean(word, known)}{choose}{choices}"


class _Help(argparse.HelpFormatter):
    # A given width keeps argparse from importing shutil for each option that is added.
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=88, max_help_position=26)


def parse(argv: list[str]) -> argparse.Namespace:
    """Read a command line; raises UsageError, or leaves after --help and --version."""
    # Two dozen parsers take five milliseconds to build, one takes half of one.
    asked = argv[0] if argv and argv[0] in COMMANDS else None
    try:
        return build(asked).parse_args(argv)
    except UsageError as error:
        if "--within: expected one argument" in str(error):  # -3d looks like an option
            hint = "give hours, days or weeks, such as 12h, 30d or 2w; nothing below 0"
            raise UsageError(f"--within takes one time; {hint}", error.usage) from None
        text_is_missing = ("unrecognized arguments: -", "required: query", "required: text")
        if "--" in argv or not any(said in str(error) for said in text_is_missing):
            raise
        hint = "; write -- before a text that begins with a dash"
        if "unrecognized arguments: --tier" in str(error):
            command = next((word for word in argv if word in COMMANDS), "this")
            hint = f"; {command} works on one file: name it with --db"
        raise UsageError(f"{error}{hint}", error.usage) from None


def build(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of every command, or of `only` one, to start faster."""
    parser = _Parser(
        prog="scrubjay",
        description="Memory and search: store what was said, find it by word and by meaning.",
        epilog=_EXITS,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"scrubjay {__version__}")
    _where(parser, None)
    parser.add_argument("--user", metavar="NAME", default=None, help="who asks (SCRUBJAY_USER)")
    parser.add_argument("--json", action="store_true", default=False, help="answer in JSON")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, prog="scrubjay", parser_class=_Parser
    )
    for name in COMMANDS if only is None else (only,):
        purpose = COMMANDS[name]
        command = commands.add_parser(
            name, help=purpose, description=purpose, formatter_class=_Help, allow_abbrev=False
        )
        _common(command)
        options_of(name)(command)
    return parser


def _common(command: argparse.ArgumentParser) -> None:
    # SUPPRESS: an option not given here must not undo the same option before the command.
    _where(command, argparse.SUPPRESS)
    command.add_argument(
        "--user", metavar="NAME", default=argparse.SUPPRESS, help="who asks (SCRUBJAY_USER)"
    )
    command.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="answer in JSON"
    )


def _where(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Name the store, and the servers of its tiers."""
    for names, of, told in (
        (("--db", "--store"), "PLACE", "the store: a file or postgres://… (SCRUBJAY_DB)"),
        (("--vectors",), "URL", "qdrant://host:6333/collection (SCRUBJAY_VECTORS)"),
        (("--graph",), "URL", "falkordb://host:6379/graph (SCRUBJAY_GRAPH)"),
        (("--tenant",), "NAME", "whose store, of several in one place (SCRUBJAY_TENANT)"),
    ):
        parser.add_argument(*names, metavar=of, default=default, help=told)


def _ingest(command: argparse.ArgumentParser) -> None:
    command.add_argument("path", nargs="*", help="files and folders (all that were read before)")
    command.add_argument("--watch", action="store_true", help="keep up with changes, until Ctrl-C")
    from scrubjay.surfaces.cli.options.find import places
    from scrubjay.surfaces.cli.options.write import no_embed

    places(command)
    no_embed(command)


def _get(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", nargs="+", help="ids, or the first four or more letters of them")
    command.add_argument("--md", action="store_true", help="answer in Markdown, to paste")
    command.add_argument(
        "--around",
        type=int,
        metavar="N",
        default=None,
        help="with messages: so many turns before and after",
    )
    from scrubjay.surfaces.cli.options.tiers import tier_option

    tier_option(command)


def _ls(command: argparse.ArgumentParser) -> None:
    command.description = (
        "List what is stored, newest first; with --session, the latest of a conversation in the"
        " order in which it was said."
    )
    from scrubjay.surfaces.cli.options.conversations import speakers
    from scrubjay.surfaces.cli.options.find import ONLY_THERE, places

    places(command, ONLY_THERE)
    command.add_argument("--type", action="append", metavar="TYPE", help="repeatable")
    command.add_argument("--topic", action="append", metavar="TOPIC", help="any of; repeatable")
    command.add_argument("--session", default=None, help="only what was said there")
    speakers(command, "only what is of this person", "only what is of this agent")
    command.add_argument(
        "-n", "--limit", type=int, default=None, help="at most so many (50; --coverage: all)"
    )
    command.add_argument("--offset", type=int, default=0, help="skip so many of the newest")
    command.add_argument(
        "--coverage",
        action="store_true",
        help="the files that ingest met, and what became of them",
    )
    command.add_argument(
        "--state", choices=("indexed", "skipped", "failed"), default=None, help="with --coverage"
    )


def _collections(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "action",
        nargs="?",
        choices=("list", "create", "members", "rename", "remove"),
        default="list",
    )
    command.add_argument("name", nargs="?", default=None, help="which one, for all but list")
    command.add_argument("new_name", nargs="?", default=None, help="with rename: its new name")
    command.add_argument(
        "--namespace", default=None, help="with rename, remove: which of two of the same name"
    )
    command.add_argument("--yes", action="store_true", help="with remove: do not ask")


def _share(command: argparse.ArgumentParser) -> None:
    _unshare(command)
    command.add_argument(
        "--role",
        default=None,
        help="reader sees, writer also writes, owner also invites (reader, or as before)",
    )


def _unshare(command: argparse.ArgumentParser) -> None:
    command.add_argument("collection", help="its name; `collections create` makes one")
    command.add_argument("person", help="who, as in --user")


def _publish(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", help="a memory, or the first four or more letters of its id")
    command.add_argument("collection", help="a shared collection in which you may write")


def _topics(command: argparse.ArgumentParser) -> None:
    command.add_argument("action", nargs="?", choices=("list", "rename"), default="list")
    command.add_argument("old", nargs="?", default=None, help="which one to rename")
    command.add_argument("new", nargs="?", default=None, help="its new name, or one to join")
    command.add_argument("--namespace", default=None, help="with list: only there")
    command.add_argument("-n", "--limit", type=int, default=None, help="at most so many (all)")


def _landscape(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "question", nargs="*", help="only what is stored on this, as marked text for a prompt"
    )
    command.add_argument(
        "--tokens", type=int, default=800, metavar="N", help="at most so many, 50 or more (800)"
    )
    command.add_argument("--namespace", default=None, help="only what is there")


def _done(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", nargs="+", help="ids, or the first four or more letters of them")


def _forget(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", nargs="*", help="ids, or the first four or more letters of them")
    command.add_argument("--query", default=None, help="what these words find, shown first")
    command.add_argument("--session", default=None, help="all that was said there, shown first")
    command.add_argument("-n", "--limit", type=int, default=10, help="with --query: so many (10)")
    command.add_argument("--namespace", default=None, help="with --query or --session: only there")
    command.add_argument("--yes", action="store_true", help="do not ask")


def _link(command: argparse.ArgumentParser) -> None:
    command.add_argument("id", help="a memory")
    command.add_argument("other", nargs="?", default=None, help="the one to connect it with")
    command.add_argument("--kind", default=None, help="what connects them (related)")
    command.add_argument("--strength", type=float, default=1.0, help="0 to 1 (1)")
    what = command.add_mutually_exclusive_group()
    what.add_argument("--unlink", action="store_true", help="take the connection away")
    what.add_argument("--show", action="store_true", help="show what is connected")
    command.add_argument("--depth", type=int, default=1, help="with --show: steps away (1)")


def _hits(command: argparse.ArgumentParser) -> None:
    command.add_argument("--since", metavar="TIME", default=None, help="a date or an ISO time")


def _profiles(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", nargs="?", default=None, help="show its stages and numbers")
    command.add_argument(
        "--set", action="append", dest="sets", metavar="STAGE.NUMBER=VALUE", help="repeatable"
    )


def _models(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "action", nargs="?", choices=("list", "pull", "calibrate"), default="list"
    )
    command.add_argument("name", nargs="?", default=None, help="which model (the configured one)")


def _demo(command: argparse.ArgumentParser) -> None:
    command.add_argument("--docs", metavar="DIR", default=None, help="a folder to read as well")
    command.add_argument("--keep", metavar="FILE", default=None, help="keep the store there")


def _nothing_more(command: argparse.ArgumentParser) -> None:
    """Take no option beyond those of every command."""


def options_of(name: str) -> Callable[[argparse.ArgumentParser], None]:
    """Return what adds the options of a command, importing no other's."""
    match name:
        case "add" | "remember":
            from scrubjay.surfaces.cli.options.write import add_options as chosen
        case "update":
            from scrubjay.surfaces.cli.options.write import update_options as chosen
        case "reindex":
            from scrubjay.surfaces.cli.options.reindex import reindex as chosen
        case "say":
            from scrubjay.surfaces.cli.options.conversations import say_options as chosen
        case "sessions":
            from scrubjay.surfaces.cli.options.conversations import sessions_options as chosen
        case "search":
            from scrubjay.surfaces.cli.options.find import search_options as chosen
        case "vsearch":
            from scrubjay.surfaces.cli.options.find import vsearch_options as chosen
        case "query":
            from scrubjay.surfaces.cli.options.find import query_options as chosen
        case "expiring":
            from scrubjay.surfaces.cli.options.feedback import expiring_options as chosen
        case "feedback":
            from scrubjay.surfaces.cli.options.feedback import feedback_options as chosen
        case "weights":
            from scrubjay.surfaces.cli.options.feedback import weights_options as chosen
        case "export":
            from scrubjay.surfaces.cli.options.transfer import export as chosen
        case "backup":
            from scrubjay.surfaces.cli.options.transfer import backup as chosen
        case "import":
            from scrubjay.surfaces.cli.options.transfer import import_ as chosen
        case "promote":
            from scrubjay.surfaces.cli.options.promote import promote_options as chosen
        case "demote":
            from scrubjay.surfaces.cli.options.promote import demote_options as chosen
        case "eval":
            from scrubjay.surfaces.cli.options.eval import eval_options as chosen
        case "extract":
            from scrubjay.surfaces.cli.options.extract import extract_options as chosen
        case "token":
            from scrubjay.surfaces.cli.options.api_keys import token_options as chosen
        case "tiers":
            from scrubjay.surfaces.cli.options.tiers import tier_option as chosen
        case "serve":
            from scrubjay.surfaces.cli.options.serve import serve_options as chosen
        case "mcp":
            from scrubjay.surfaces.cli.options.mcp import mcp_options as chosen
        case _:
            return _OPTIONS.get(name, _nothing_more)
    return chosen


_OPTIONS = {
    "ingest": _ingest,
    "get": _get,
    "ls": _ls,
    "collections": _collections,
    "share": _share,
    "unshare": _unshare,
    "publish": _publish,
    "unpublish": _publish,
    "topics": _topics,
    "landscape": _landscape,
    "done": _done,
    "undone": _done,
    "forget": _forget,
    "link": _link,
    "hits": _hits,
    "profiles": _profiles,
    "models": _models,
    "demo": _demo,
}
