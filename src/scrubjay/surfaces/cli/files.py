"""`files`: memories as text files."""

from __future__ import annotations

from argparse import Namespace

from scrubjay.surfaces.cli import common
from scrubjay.surfaces.cli.common import open_store, text_of
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.json import dumps
from scrubjay.surfaces.render.terminal import Screen, clean, err, one_line, out
from scrubjay.text.memory_paths import show_change

_MAKING = ("create_file", "write_file")


def files(args: Namespace, screen: Screen) -> int:
    verb = args.verb
    given = {param.name: getattr(args, param.name) for param in verb.params}
    given = {name: value for name, value in given.items() if value is not None}
    if "text" in given:
        given["text"] = text_of([given["text"]])
    if verb.name == "search_files":
        return _search(args, screen)
    with open_store(args.db, args.user, make=verb.name in _MAKING) as store:
        if verb.name == "file_history" and not args.json:
            from scrubjay.surfaces.render.memories import versions

            out(versions(store.files.history(args.path), screen))
            return 0
        if verb.name == "delete_file" and not common.confirmed(
            args, f"Delete {one_line(args.path)} with all versions for good?"
        ):
            if args.json:
                out(dumps({"path": args.path, "files": 0, "done": "kept"}))
            err("scrubjay: nothing was deleted; to delete it add: --yes")
            return common.USAGE
        answer = verb.run(store, given)
    if args.json:
        out(dumps(answer))
    elif verb.name == "view_file":
        out(clean(answer["text"]))
    elif "files" in answer:
        count = facts.plural(answer["files"], "file")
        out(f"{screen.green(answer['done'])} {one_line(answer['path'])}  {screen.dim(count)}")
    else:
        version = screen.dim(f"version {answer['version']}")
        out(f"{screen.green('stored')} {one_line(answer['path'])}  {version}")
        if answer["line"]:
            out(clean(show_change(answer["text"], answer["line"])))
    return 0


def _search(args: Namespace, screen: Screen) -> int:
    with open_store(args.db, args.user) as store:
        found = store.files.search(args.query, args.prefix, limit=args.limit)
    if args.json:
        from scrubjay.surfaces.render.json import results

        out(dumps(results(found, mode="default", explain=False, full=False)))
    else:
        from scrubjay.surfaces.render import results as render

        out(render.results(found, screen, explain=False, whole=False, db=args.db))
    return 0 if len(found) else common.NOTHING_FOUND
