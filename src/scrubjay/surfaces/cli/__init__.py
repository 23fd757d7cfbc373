"""`scrubjay` at the shell: read the command line, run one command, say how it went.

Nothing heavy is imported here: a keyword search from a cold shell pays for SQLite and little else.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from scrubjay import config
from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.surfaces.cli.parser import UsageError, parse
from scrubjay.surfaces.render.terminal import clean, err, one_line, out, screen_of, speak_utf8

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from scrubjay.surfaces.render.terminal import Screen

    Command = Callable[[Namespace, Screen], int]

OK, FAILED, USAGE, NOTHING_FOUND, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    # Looking for garbage every 700 objects is a twentieth of a search from a cold shell.
    gc.set_threshold(50_000, 10, 10)
    speak_utf8()
    words = sys.argv[1:] if argv is None else argv
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _leave_quietly()
        return OK
    except KeyboardInterrupt:
        err("\nscrubjay: interrupted; what was stored stays, run it again to go on")
        return INTERRUPTED
    return code


def _run(words: list[str]) -> int:
    as_json = "--json" in words[: words.index("--")] if "--" in words else "--json" in words
    try:
        args = parse(words)
        as_json = (
            as_json and args.command != "mcp"
        )  # whose standard output is the wire of its client
        config.typed = config.Typed(args.vectors, args.graph, args.tenant)
        return command(args.command)(args, screen_of(sys.stdout))
    except SystemExit as left:  # argparse leaves after --help and --version
        return left.code if isinstance(left.code, int) else USAGE
    except ScrubjayError as error:
        return _explain_failure(error, as_json)
    finally:
        config.typed = config.Typed()  # whoever calls this as a function may open other stores


def command(name: str) -> Command:
    """Return the function behind a command, importing no other."""
    match name:
        case "add" | "remember":
            from scrubjay.surfaces.cli.commands.write import add as chosen
        case "update":
            from scrubjay.surfaces.cli.commands.update import update as chosen
        case "say":
            from scrubjay.surfaces.cli.commands.say import say as chosen
        case "sessions":
            from scrubjay.surfaces.cli.commands.sessions import sessions as chosen
        case "ingest":
            from scrubjay.surfaces.cli.commands.ingest import ingest as chosen
        case "search" | "vsearch" | "query":
            from scrubjay.surfaces.cli.commands.find import find as chosen
        case "get":
            from scrubjay.surfaces.cli.commands.read import get as chosen
        case "ls":
            from scrubjay.surfaces.cli.commands.read import ls as chosen
        case "collections":
            from scrubjay.surfaces.cli.commands.collections import collections as chosen
        case "share" | "unshare":
            from scrubjay.surfaces.cli.commands.share import share as chosen
        case "publish" | "unpublish":
            from scrubjay.surfaces.cli.commands.share import publish as chosen
        case "topics":
            from scrubjay.surfaces.cli.commands.topics import topics as chosen
        case "landscape":
            from scrubjay.surfaces.cli.commands.landscape import landscape as chosen
        case "done" | "undone":
            from scrubjay.surfaces.cli.commands.done import done as chosen
        case "extract":
            from scrubjay.surfaces.cli.commands.extract import extract as chosen
        case "forget":
            from scrubjay.surfaces.cli.commands.forget import forget as chosen
        case "expiring":
            from scrubjay.surfaces.cli.commands.expiring import expiring as chosen
        case "feedback":
            from scrubjay.surfaces.cli.commands.feedback import feedback as chosen
        case "weights":
            from scrubjay.surfaces.cli.commands.weights import weights as chosen
        case "link":
            from scrubjay.surfaces.cli.commands.link import link as chosen
        case "export":
            from scrubjay.surfaces.cli.commands.transfer import export as chosen
        case "backup":
            from scrubjay.surfaces.cli.commands.backup import backup as chosen
        case "import":
            from scrubjay.surfaces.cli.commands.transfer import import_ as chosen
        case "promote" | "demote":
            from scrubjay.surfaces.cli.commands.promote import move as chosen
        case "profiles":
            from scrubjay.surfaces.cli.commands.profiles import profiles as chosen
        case "tiers":
            from scrubjay.surfaces.cli.commands.tiers import tiers as chosen
        case "status":
            from scrubjay.surfaces.cli.commands.inspect import status as chosen
        case "hits":
            from scrubjay.surfaces.cli.commands.hits import hits as chosen
        case "reindex":
            from scrubjay.surfaces.cli.commands.reindex import reindex as chosen
        case "doctor":
            from scrubjay.surfaces.cli.commands.inspect import doctor as chosen
        case "eval":
            from scrubjay.surfaces.cli.commands.evaluate import evaluate as chosen
        case "models":
            from scrubjay.surfaces.cli.commands.models import models as chosen
        case "token":
            from scrubjay.surfaces.cli.commands.token import token as chosen
        case "serve":
            from scrubjay.surfaces.cli.commands.serve import serve as chosen
        case "demo":
            from scrubjay.surfaces.cli.commands.demo import demo as chosen
        case "mcp":
            from scrubjay.surfaces.cli.commands.mcp import mcp as chosen
        case _:
            raise InvalidInput(f"There is no command {name!r}; see: scrubjay --help")
    return chosen


def _explain_failure(error: ScrubjayError, as_json: bool) -> int:
    """Write one line for the person, and JSON where a program listens; return the exit code."""
    said = str(error)
    if isinstance(error, NotFound) and error.of == "memory":
        said += "; `scrubjay ls` lists the ids"
    if as_json:
        from scrubjay.surfaces.render.json import dumps, failure

        out(dumps(failure(error, said)))
    if isinstance(error, UsageError):
        err(clean(error.usage))
    err(f"scrubjay: {one_line(said)}")
    if isinstance(error, InvalidInput):
        return USAGE
    return NOTHING_FOUND if isinstance(error, NotFound) else FAILED


def _leave_quietly() -> None:
    """Close a pipe that nobody reads any more without a complaint at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    raise SystemExit(main())
