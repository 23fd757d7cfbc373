"""Command line interface: parse the arguments, run one command, report errors.

Nothing heavy is imported here: `scrubjay --help` prints a text that is ready, and a cold keyword search
pays for SQLite and little else.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from scrubjay._version import __version__
from scrubjay.errors import InvalidInput, NotFound, ScrubjayError
from scrubjay.surfaces.render import terminal
from scrubjay.surfaces.render.terminal import Screen, err

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

OK, FAILED, USAGE, NOTHING_FOUND, INTERRUPTED = 0, 1, 2, 3, 130
_KEPT = "stored data is kept, run the command again to continue"


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code; the words are those of the process, or `argv`."""
    # A garbage collection every 700 objects takes a twentieth of a cold search.
    gc.set_threshold(50_000, 10, 10)
    code = _main(argv)
    if argv is None:
        _leave(code)
    return code


def _leave(code: int) -> None:
    """End the process without taking the interpreter down, which takes a fifth of a cold search.

    What was registered to be done at the end is done. Where threads still run, or a profiler, the
    interpreter ends as usual: it knows how to wait for them.
    """
    threading = sys.modules.get("threading")
    is_watched = sys.flags.dev_mode or sys.getprofile() or sys.gettrace()
    if is_watched or (threading is not None and threading.active_count() > 1):
        return
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # the interpreter reports it as usual
        return
    os._exit(code)


def _main(argv: list[str] | None) -> int:
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
    if words in ([], ["help"], ["-h"], ["--help"]):
        from scrubjay.surfaces.cli.main_help import MAIN_HELP

        terminal.out(MAIN_HELP)
        return OK
    if words == ["--version"]:
        terminal.out(f"scrubjay {__version__}")
        return OK
    return _run_command(words)


def _run_command(words: list[str]) -> int:
    from scrubjay import config
    from scrubjay.surfaces.cli.parser import parse

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
    from scrubjay.surfaces.cli.parser import record

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
    if usage := getattr(error, "usage", ""):  # of a command line that does not parse
        err(terminal.clean(usage))
    err(f"scrubjay: {terminal.one_line(message)}")
    if isinstance(error, InvalidInput):
        return USAGE
    return NOTHING_FOUND if isinstance(error, NotFound) else FAILED
