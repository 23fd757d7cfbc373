"""`connect`: let an agent use the store."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace
from importlib.util import find_spec

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.agents import connect as agents
from scrubjay.surfaces.agents.connect import BACKUP, BY_HAND, Connection, Edit
from scrubjay.surfaces.agents.places import agents as known_agents
from scrubjay.surfaces.agents.places import this_machine
from scrubjay.surfaces.cli import common
from scrubjay.surfaces.render.json import Json, dumps
from scrubjay.surfaces.render.reports import with_head
from scrubjay.surfaces.render.terminal import Screen, clean, out, path_line
from scrubjay.text.urls import is_server_url, strip_credentials


def connect(args: Namespace, screen: Screen) -> int:
    if args.agent is None or args.list:
        if args.agent is not None or args.undo or args.dry_run:
            raise InvalidInput(
                "name one agent, such as: scrubjay connect cursor; --list goes alone and lists all"
            )
        return _list(args, screen)
    agent, command = known_agents(this_machine())[args.agent], _command(args)
    act = agents.disconnect if args.undo else agents.connect
    done = act(agent, command, dry_run=args.dry_run)
    if args.json:
        out(dumps(_shape(done, args)))
    elif args.dry_run:
        out(clean("".join(edit.diff() for edit in _changed(done))) or "Nothing would change.")
    else:
        _report(done, args, screen)
    _warn(done, args)
    return common.FAILED if args.undo and done.state == BY_HAND else 0


def _command(args: Namespace) -> list[str]:
    """Return the command that starts the MCP server: with full paths, since desktop programs have no PATH
    of a shell."""
    words = [*_program(), "mcp"]
    # An agent may be started without the environment of this shell.
    chosen = {
        name: getattr(args, name) or os.environ.get(f"SCRUBJAY_{name.upper()}") or None
        for name in ("db", "vectors", "graph", "tenant", "user")
    }
    db = chosen.pop("db")
    if db is not None:
        if strip_credentials(db) != db:
            raise InvalidInput(
                "the URL of the database has a password, which would stand in the settings of the agent;"
                " leave it out, and set SCRUBJAY_POSTGRES_PASSWORD or the settings file of scrubjay"
            )
        is_path = db != ":memory:" and not is_server_url(db)
        words += ["--db", os.path.abspath(os.path.expanduser(db)) if is_path else db]
    for name, value in chosen.items():
        words += [] if value is None else [f"--{name}", value]
    return words


def _program() -> list[str]:
    name = "scrubjay.exe" if os.name == "nt" else "scrubjay"
    beside = os.path.join(os.path.dirname(sys.executable), name)
    if os.path.isfile(beside):
        return [beside]
    found = shutil.which("scrubjay")
    return [os.path.abspath(found)] if found else [sys.executable, "-m", "scrubjay"]


def _changed(done: Connection) -> list[Edit]:
    return [edit for edit in done.edits if edit.before != edit.after]


def _shape(done: Connection, args: Namespace) -> Json:
    files = [
        {
            "path": edit.path,
            "change": edit.change,
            "backup": _backup(edit, args),
            "diff": edit.diff() if args.dry_run else None,
        }
        for edit in done.edits
    ]
    return {
        "agent": done.agent.name,
        "state": done.state,
        "files": files,
        "dry_run": args.dry_run,
    }


def _backup(edit: Edit, args: Namespace) -> str | None:
    made = edit.change == "changed" and not args.undo and not args.dry_run
    return edit.path + BACKUP if made else None


def _report(done: Connection, args: Namespace, screen: Screen) -> None:
    changed = _changed(done)
    if not changed:
        words = "not connected" if args.undo else "already connected"
        out(f"{done.agent.title} is {words}; nothing was changed")
        return
    out(f"{screen.green('disconnected' if args.undo else 'connected')} {done.agent.title}")
    for edit in changed:
        backup = _backup(edit, args)
        note = f"  {screen.dim('before: ' + path_line(backup))}" if backup else ""
        out(f"  {edit.change}  {path_line(edit.path)}{note}")
    what = "no longer starts" if args.undo else "starts"
    out(screen.dim(f"restart {done.agent.title}: then it {what} scrubjay"))


def _warn(done: Connection, args: Namespace) -> None:
    if done.state == BY_HAND:
        common.warn(
            [
                f"{done.agent.settings} has an entry for scrubjay that was made or changed by hand; it was"
                " left as it is"
            ]
        )
    elif not args.undo and find_spec("mcp") is None:
        common.warn(['the MCP server needs a package: pip install "scrubjay[mcp]"'])


def _list(args: Namespace, screen: Screen) -> int:
    found = [(agent, agents.state_of(agent)) for agent in known_agents(this_machine()).values()]
    if args.json:
        shape = [
            {
                "agent": agent.name,
                "title": agent.title,
                "present": agent.is_present,
                "state": state,
                "settings": agent.settings,
                "instructions": agent.instructions,
            }
            for agent, state in found
        ]
        out(dumps({"agents": shape}))
        return 0
    rows = [
        (
            agent.name,
            "yes" if agent.is_present else "no",
            state if agent.is_present else "",
            path_line(agent.settings),
        )
        for agent, state in found
    ]
    out(with_head([("agent", "present", "state", "settings"), *rows], screen))
    return 0
