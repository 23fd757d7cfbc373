"""Verbs of memories as files; and their command."""

from __future__ import annotations

from scrubjay.store import Store
from scrubjay.surfaces.render import json as render
from scrubjay.surfaces.render.json import Json
from scrubjay.surfaces.verbs import READ, WRITE, Action, Command, Given, Param, verb
from scrubjay.surfaces.verbs.kinds import COUNT, NAME, QUERY, TEXT
from scrubjay.surfaces.verbs.params import LIMIT_ALIASES, YES, limit
from scrubjay.text.lines import parse_range
from scrubjay.types.files import ROOT, File

_PATH = Param("path", NAME, "a path, such as /memories/notes.md", required=True, usage="path")
_ANY_PATH = _PATH._replace(help="a file or a folder", required=False, default=ROOT, usage="[path]")
_TEXT = Param("text", TEXT, "the text; on the command line - reads standard input", required=True)
_VERSION = Param("version", COUNT, "only if the file is at this version", usage="--version N")
# Those of Anthropic's memory tool.
_TEXT_ALIASES = {"file_text": "text", "content": "text", "insert_text": "text"}


def _shape(file: File) -> Json:
    shape: Json = render.plain(file._asdict())
    return shape


@verb(
    READ,
    "file_view",
    _ANY_PATH,
    Param("lines", NAME, "only these lines, such as 10-40; they count from 1"),
)
def view_file(store: Store, given: Given) -> Json:
    """Return a file with line numbers, or the listing of a folder."""
    path, lines = given.get("path", ROOT), None
    if given.get("lines"):
        first, last = parse_range(given["lines"])
        lines = (first, -1 if last is None else last)
    return {"path": path, "text": store.files.view(path, lines=lines)}


@verb(
    READ,
    "results",
    Param("query", QUERY, "the text to search for", required=True, usage="query"),
    Param("prefix", NAME, "only files below this path", default=ROOT, usage="[prefix]"),
    limit(),
    aliases=LIMIT_ALIASES | {"q": "query", "path": "prefix"},
)
def search_files(store: Store, given: Given) -> Json:
    """Find files by keyword and meaning."""
    return render.results(store.files.search(**given), mode="default", explain=False, full=False)


@verb(READ, "history", _PATH)
def file_history(store: Store, given: Given) -> Json:
    """Return the versions of a file, newest first."""
    file = store.files.read(given["path"])
    return render.listing("versions", store.files.history(given["path"]), id=file.id)


@verb(WRITE, "file", _PATH, _TEXT._replace(usage="text"), aliases=_TEXT_ALIASES)
def create_file(store: Store, given: Given) -> Json:
    """Create a file; one that exists is not changed."""
    return _shape(store.files.create(**given))


@verb(WRITE, "file", _PATH, _TEXT._replace(usage="text"), _VERSION, aliases=_TEXT_ALIASES)
def write_file(store: Store, given: Given) -> Json:
    """Replace the whole text of a file, or create it."""
    return _shape(store.files.write(**given))


@verb(
    WRITE,
    "file",
    _PATH,
    Param("old", TEXT, "a text that is in the file once", required=True, usage="old"),
    Param("new", TEXT, "the text to put there", required=True, usage="new"),
    _VERSION,
    aliases={"old_str": "old", "new_str": "new"},
)
def replace_in_file(store: Store, given: Given) -> Json:
    """Replace a text in a file."""
    return _shape(store.files.str_replace(**given))


@verb(
    WRITE,
    "file",
    _PATH,
    Param(
        "line", COUNT, "insert after this line; 0: at the beginning", required=True, usage="line"
    ),
    _TEXT._replace(usage="text"),
    _VERSION,
    aliases={"insert_line": "line", **_TEXT_ALIASES},
)
def insert_in_file(store: Store, given: Given) -> Json:
    """Insert lines into a file."""
    return _shape(store.files.insert(**given))


@verb(
    WRITE,
    "files_changed",
    Param("old", NAME, "a file or a folder", required=True, usage="old"),
    Param("new", NAME, "its new path", required=True, usage="new"),
    _VERSION,
    aliases={"old_path": "old", "new_path": "new", "path": "old"},
)
def rename_file(store: Store, given: Given) -> Json:
    """Move a file, or a folder with its files; versions move along."""
    return {"path": given["new"], "files": store.files.rename(**given), "done": "renamed"}


@verb(WRITE, "files_changed", _PATH, _VERSION)
def delete_file(store: Store, given: Given) -> Json:
    """Delete a file, or a folder with its files, permanently, with all versions."""
    return {"path": given["path"], "files": store.files.delete(**given), "done": "deleted"}


@verb(WRITE, "file", _PATH)
def undo_file(store: Store, given: Given) -> Json:
    """Take the last change of a file back."""
    return _shape(store.files.undo(**given))


COMMANDS = (
    Command(
        "files",
        "keep memories as text files below /memories: view, edit, search them",
        actions={
            "view": Action(view_file),
            "search": Action(search_files),
            "history": Action(file_history),
            "create": Action(create_file),
            "write": Action(write_file),
            "replace": Action(replace_in_file),
            "insert": Action(insert_in_file),
            "rename": Action(rename_file),
            "delete": Action(delete_file, (YES,)),
            "undo": Action(undo_file),
        },
        default_action="view",
        run="files:files",
        description="Keep memories as text files with paths below /memories. Each change is a version, and"
        " every search finds files, too. `scrubjay files` lists them.",
    ),
)
