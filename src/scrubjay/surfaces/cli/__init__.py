"""Command line interface: parse the arguments, run one command, report errors.

Nothing heavy is imported here: a cold keyword search pays for SQLite and little else.
"""

from __future__ import annotations

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from importlib import import_module

from scrubjay import config
from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.surfaces.cli.parser import UsageError, parse, record
from scrubjay.surfaces.render import terminal
from scrubjay.surfaces.render.terminal import Screen, err

OK, FAILED, USAGE, NOTHING_FOUND, INTERRUPTED = 0, 1, 2, 3, 130
_KEPT = "stored data is kept, run the command again to continue"


def main(argv: list[str] | None = None) -> int:
    # A garbage collection every 700 objects takes a twentieth of a cold search.
    gc.set_threshold(50_000, 10, 10)
    terminal.speak_utf8()
    words = sys.argv[1:] if argv is None else argv
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:  # close the pipe, which has no reader, without an error at exit
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return OK
    except KeyboardInterrupt as interrupt:
        err(f"\nscrubjay: interrupted; {str(interrupt) or _KEPT}")
        return INTERRUPTED
    return code


def _run(words: list[str]) -> int:
    as_json = "--json" in words[: words.index("--")] if "--" in words else "--json" in words
    try:
        args = parse(words)
        as_json = as_json and args.command != "mcp"  # its standard output carries the protocol
        config.typed = config.Typed(args.vectors, args.graph, args.tenant)
        return command(args.command)(args, terminal.screen_of(sys.stdout))
    except SystemExit as left:  # after --help and --version
        return left.code if isinstance(left.code, int) else USAGE
    except ScrubjayError as error:
        return _report(error, as_json)
    finally:
        config.typed = config.Typed()  # a caller of this function may open other stores


def command(name: str) -> Callable[[Namespace, Screen], int]:
    module, _, function = record(name).run.partition(":")
    commands = import_module(f"scrubjay.surfaces.cli.{module}")
    run: Callable[[Namespace, Screen], int] = getattr(commands, function)
    return run


def _report(error: ScrubjayError, as_json: bool) -> int:
    message = str(error)
    if isinstance(error, NotFound) and error.of == "memory":
        message += "; `scrubjay ls` lists the ids"
    if as_json:
        from scrubjay.surfaces.render.json import dumps, failure

        terminal.out(dumps(failure(error, message)))
    if isinstance(error, UsageError):
        err(terminal.clean(error.usage))
    err(f"scrubjay: {terminal.one_line(message)}")
    if isinstance(error, InvalidInput):
        return USAGE
    return NOTHING_FOUND if isinstance(error, NotFound) else FAILED
