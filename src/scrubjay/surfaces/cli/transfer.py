"""`export`, `backup`, `restore`, `reindex`, `promote` and `demote`."""

from __future__ import annotations

import io
import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from shlex import quote
from typing import Any, TextIO

from scrubjay.config import Settings
from scrubjay.errors import InvalidInput
from scrubjay.runtime.command_hints import to_type
from scrubjay.runtime.progress import ProgressBar
from scrubjay.store import Store
from scrubjay.surfaces.cli.common import FAILED, NOTHING_FOUND, open_store, options_of, settings_of
from scrubjay.surfaces.render.facts import counted, plural, size
from scrubjay.surfaces.render.json import dumps, plain, reasons
from scrubjay.surfaces.render.reports import behind
from scrubjay.surfaces.render.terminal import Screen, err, one_line, out, path_line
from scrubjay.text import urls
from scrubjay.types.reports import Exported, Moved, Reindexed

_MOST_SHOWN = 20  # of each kind; --json lists all


def export(args: Namespace, screen: Screen) -> int:
    if args.to is not None:
        _set_form(args)
    elif args.path is not None:
        _choose_form(args)
    if args.prune and args.md is None:
        raise InvalidInput("--prune goes with --md: it deletes Markdown files of removed entries")
    place = args.md or (None if args.jsonl in ("-", None) else args.jsonl)
    lines = io.StringIO()
    with open_store(args.db, args.user, embed=False) as store:
        done = _export(store, args, place, lines if args.json else sys.stdout)
    if args.json:
        form = "md" if args.md else (args.to or "jsonl") if place else "json"
        memories = None if place else _written(lines.getvalue(), args.to)
        shape = reasons(plain(done), "kept")
        shape["damaged"] = [{"id": id_, "reason": why} for id_, why in done.damaged]
        out(dumps({"form": form, "path": place, **shape, "memories": memories}))
    elif place:
        counts = [(done.written, "written"), (done.unchanged, "unchanged")]
        counts += [(done.removed, "removed"), (len(done.kept), "kept")]
        entries, files = plural(done.entries, "entry"), counted(counts)
        what = f"{entries}: {files}" if args.md is not None and files else entries
        head = f"{screen.bold(path_line(place))}  {what}"
        out("\n".join((head, *listed(done.kept, screen.red))))
    if done.damaged:
        skipped = plural(len(done.damaged), "memory")
        err(
            f"scrubjay: damaged and not exported: {skipped};"
            f" run: {to_type('doctor --repair', args.db)}"
        )
        err("\n".join(listed(done.damaged, screen.red)))
    if done.kept or done.damaged:
        return FAILED
    return 0 if done.entries else NOTHING_FOUND


def _written(text: str, form: str | None) -> list[Any]:
    if form == "mem0":
        return [plain(one) for one in json.loads(text)["results"]]
    return [plain(json.loads(line)) for line in text.split("\n") if line]


def _set_form(args: Namespace) -> None:
    """Set where to write in the form of `--to`."""
    if args.to != "md":
        args.jsonl = args.path
    elif args.path in (None, "-"):
        raise InvalidInput("--to md writes a folder; name it: scrubjay export --to md DIR")
    else:
        args.md = args.path


def _choose_form(args: Namespace) -> None:
    """Set `--jsonl` or `--md` for a path without an option, if its name tells which is meant."""
    if args.md is not None or args.jsonl is not None:
        raise InvalidInput("give one place to export to: a path, --jsonl FILE or --md DIR")
    if args.path == "-" or args.path.lower().endswith(".jsonl"):
        args.jsonl = args.path
    elif os.path.isdir(args.path) or args.path.endswith(("/", os.sep)):
        args.md = args.path
    else:
        raise InvalidInput(
            f"{args.path!r} is neither a folder nor a .jsonl file; for JSON lines use"
            f" --jsonl {quote(args.path)}, for Markdown files --md {quote(args.path)}"
        )


def _export(store: Store, args: Namespace, place: str | None, stream: TextIO) -> Exported:
    how = options_of(args)
    write = store.export_mem0 if args.to == "mem0" else store.export_jsonl
    # Lines that go to the same terminal would be mixed with a progress bar.
    if place is None and (args.json or sys.stdout.isatty()):
        return write(stream, **how)
    with ProgressBar("exporting") as bar:
        how["progress"] = bar
        if place is None:
            return write(stream, **how)
        if args.md is None:
            return write(args.jsonl, force=args.force, **how)
        return store.export_md(args.md, force=args.force, prune=args.prune, **how)


def listed(files: Sequence[tuple[str, str]], paint: Callable[[str], str]) -> list[str]:
    shown = [f"  {paint(path_line(path))}: {one_line(why)}" for path, why in files[:_MOST_SHOWN]]
    more = len(files) - len(shown)
    return [*shown, f"  … and {plural(more, 'other')}: --json lists all"] if more else shown


def backup(args: Namespace, screen: Screen) -> int:
    with open_store(args.db, args.user, embed=False) as store, ProgressBar("copying") as bar:
        done = store.backup(args.path, force=args.force, progress=bar)
    path, memories = screen.bold(path_line(done.path)), plural(done.memories, "memory")
    out(dumps(plain(done)) if args.json else f"{path}  {memories}, {size(done.bytes)}")
    return 0


def restore(args: Namespace, screen: Screen) -> int:
    from scrubjay.ops.restore import restore as put_in_place

    settings = settings_of(args)
    # The tenant has a file of its own in the store's folder; a file given with --to is meant as it is.
    path, tenant = (settings.db, settings.tenant) if args.to is None else (args.to, None)
    with ProgressBar("copying") as bar:
        done = put_in_place(args.backup, path, tenant=tenant, progress=bar)
    if args.json:
        out(dumps(plain(done)))
        return 0
    memories, backup = plural(done.memories, "memory"), path_line(done.backup)
    lines = [
        f"{screen.bold('restored')}  {path_line(done.path)}: {memories}, {size(done.bytes)}, from {backup}"
    ]
    if done.aside is not None:
        lines.append(f"  the earlier file is {path_line(done.aside)} now")
    out("\n".join(lines))
    return 0


def reindex(args: Namespace, screen: Screen) -> int:
    with open_store(args.db, args.user, embed=False) as store, ProgressBar("sending") as bar:
        done = store.reindex(args.what, drop=args.drop, progress=bar)
    out(dumps(plain(done)) if args.json else _reindexed(done, args.what, screen))
    return int(done.left > 0)


def _reindexed(done: Reindexed, what: str | None, screen: Screen) -> str:
    if not done.done:
        note = one_line(done.note) if done.note else "its data is deleted"
        return f"the replica of {what} receives no more changes; {note}"
    lines = [screen.yellow(behind(server)) for server in done.servers if server.behind]
    return "\n".join((f"rebuilt: {', '.join(done.done)}", *lines))


def move(args: Namespace, screen: Screen) -> int:
    from scrubjay.ops.promote.run import demote, promote

    settings = settings_of(args)
    with ProgressBar("copying") as bar:
        done = (promote if args.command == "promote" else demote)(
            settings.db,
            args.to,
            keep=args.keep,
            tenant=settings.tenant,
            vectors=settings.vectors,
            graph=settings.graph,
            progress=bar,
        )
    if args.json:
        out(dumps(plain(done)))
    else:
        lines = _moved(done, args.command, screen)
        out("\n".join((*lines, *_new_settings(settings._replace(db=args.to)))))
    return FAILED if done.unfed else 0


def _moved(done: Moved, command: str, screen: Screen) -> list[str]:
    source, target = path_line(done.source), path_line(done.target)
    lines = [
        f"{screen.bold(f'{command}d')}  {source} → {target}",
        f"  {plural(done.memories, 'memory')}: {done.rows:,} rows in {done.tables} tables are the"
        f" same by count and hash, {done.searches:,} searches found the same",
    ]
    if done.aside is None:
        lines.append(f"  {source} was kept, as a copy: what is added there stays there")
    else:
        remove = f'DROP SCHEMA "{done.aside}" CASCADE'  # of Postgres
        if command == "promote":
            remove = f"{'del' if os.name == 'nt' else 'rm'} {quote(done.aside)}"
        aside = path_line(done.aside)
        lines.append(f"  the old store is {aside} now; to delete it: {path_line(remove)}")
    lines += (
        f"  {replica}: {plural(count, 'memory')} on the server"
        for replica, count in done.servers.items()
        if replica not in done.unfed
    )
    lines += (
        screen.yellow(f"  {replica}: not complete yet: {one_line(why)}")
        for replica, why in done.unfed.items()
    )
    return lines


def _new_settings(settings: Settings) -> list[str]:
    """Return how to name the moved store, as options and in the settings, without passwords."""
    kinds = {"db": urls.POSTGRES, "vectors": urls.QDRANT, "graph": urls.FALKORDB}
    named: dict[str, str] = {}
    for name in (*kinds, "tenant"):
        place = getattr(settings, name)
        if place is not None and urls.is_server_url(place):
            place = urls.parse_server_url(place, kinds[name], "").shown
        elif name == "db":
            place = os.path.abspath(os.path.expanduser(place))
        if place is not None:
            named[name] = path_line(place)
    options = " ".join(f"--{name} {quote(place)}" for name, place in named.items())
    lines = [f"  from now on: {options}", "  or in scrubjay.toml:"]
    quoted = ((name, json.dumps(place, ensure_ascii=False)) for name, place in named.items())
    return [*lines, *(f"    {name} = {place}" for name, place in quoted)]
