"""Connect an agent: add `scrubjay mcp` to its settings and lines to its instructions, and take both back.

Nothing is written before every file is read and its new text is checked: parsed, it has to equal the earlier
one but for our entry. Each file is replaced in one step, and a copy of it is kept beside it. What was
written is recorded, so that only that is taken back: an entry that its owner made or changed stays.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.runtime.paths import data_dir
from scrubjay.runtime.private_files import HAS_MODES, make_private_folder, replacing
from scrubjay.surfaces.agents import jsonc, toml_table
from scrubjay.surfaces.agents.instructions import has_lines, with_lines, without_lines
from scrubjay.surfaces.agents.places import Agent, Entry

NAME = "scrubjay"  # of the MCP server, in the settings of every agent
BACKUP = ".before-scrubjay"
_RECORD = "connected.json"
_BOM = b"\xef\xbb\xbf"
STATES = ("connected", "not connected", "by hand", "unreadable")
CONNECTED, NOT_CONNECTED, BY_HAND, UNREADABLE = STATES
_PROGRAM = re.compile(r"(?:^|[/\\])scrubjay(?:\.exe)?$")


class Edit(NamedTuple):
    """A file before and after; None where there is none."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def change(self) -> str:
        if self.before == self.after:
            return "unchanged"
        return "created" if self.before is None else "removed" if self.after is None else "changed"

    def diff(self) -> str:
        """Return what would change, as a unified diff."""
        old, new = (
            (text or b"").decode("utf-8", "replace").splitlines(keepends=True)
            for text in (self.before, self.after)
        )
        lines = difflib.unified_diff(old, new, self.path, self.path, n=2)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


class Connection(NamedTuple):
    """What was done, or would be, with an agent, and its state then. By hand: it has an entry for scrubjay
    that `connect` did not write, or that was changed since; it is not touched."""

    agent: Agent
    state: str
    edits: tuple[Edit, ...]


def connect(agent: Agent, command: Sequence[str], *, dry_run: bool = False) -> Connection:
    """Add the entry and the instructions; what is there already is not written again."""
    if not agent.is_present:
        raise NotFound(
            f"{agent.title} is not on this machine: there is no {agent.signs[0]}; start it once, then"
            " connect it"
        )
    entry, record = agent.entry(command), _read_record()
    known = record.get(agent.name, {})
    before = _read(agent.settings)
    settings = _settings(agent, before)
    found = settings.entry
    state, after = CONNECTED, before
    if found is None or (found != entry and found == known.get("entry")):
        after = _bytes(_with_entry(agent, settings, entry), before)
    elif found != entry:
        if not _runs_scrubjay(found):
            raise InvalidInput(
                f"{agent.settings} has a server named {NAME!r} that does not run scrubjay; rename or"
                " remove it, then connect again"
            )
        state = BY_HAND
    edits = [Edit(agent.settings, before, after)]
    ours = {agent.settings: found is not None}
    if agent.instructions is not None:
        old = _read(agent.instructions)
        text = _text(old, agent.instructions)
        new = with_lines(text)
        edits.append(Edit(agent.instructions, old, old if new == text else _bytes(new, old)))
        ours[agent.instructions] = has_lines(text)
    if not dry_run:
        earlier = {path: mark for path, mark in known.get("files", {}).items() if ours.get(path)}
        marks = {**earlier, **_marks(edits, earlier)}
        if found is None and agent.settings in marks:
            marks[agent.settings]["made_key"] = settings.lacks_key
        record[agent.name] = {"entry": entry if state == CONNECTED else None, "files": marks}
        _write([*edits, _edit_of_record(record)], [e.path for e in edits if e.path not in earlier])
    return Connection(agent, state, tuple(edits))


def disconnect(agent: Agent, command: Sequence[str], *, dry_run: bool = False) -> Connection:
    """Remove what `connect` added. A file that was not changed since is again what it was, byte for byte."""
    record = _read_record()
    known = record.get(agent.name, {"entry": agent.entry(command)})
    marks = known.get("files", {})
    before = _read(agent.settings)
    settings = _settings(agent, before)
    state, edits = NOT_CONNECTED, list[Edit]()
    if settings.entry is not None and settings.entry != known.get("entry"):
        state = BY_HAND
    elif settings.entry is not None:
        mark = marks.get(agent.settings, {})
        after = _as_it_was(agent.settings, before, mark)
        if after is _CHANGED:
            text = _without_entry(agent, settings, made_key=bool(mark.get("made_key")))
            after = _bytes(text, before)
        edits.append(Edit(agent.settings, before, after))
    path = agent.instructions
    old = None if path is None else _read(path)
    if path is not None and old is not None and has_lines(_text(old, path)):
        new = _as_it_was(path, old, marks.get(path, {}))
        if new is _CHANGED:
            new = _bytes(without_lines(_text(old, path)), old)
        edits.append(Edit(path, old, new))
    if not dry_run:
        record.pop(agent.name, None)
        _write([*edits, _edit_of_record(record)])
        for edit in edits:
            _drop_backup(edit)
    return Connection(agent, state, tuple(edits))


def state_of(agent: Agent) -> str:
    """Return whether an agent is connected, as far as its settings can be read."""
    try:
        found = _settings(agent, _read(agent.settings)).entry
    except (InvalidInput, Unavailable):
        return UNREADABLE
    if found is None or not _runs_scrubjay(found):
        return NOT_CONNECTED
    return CONNECTED if found == _read_record().get(agent.name, {}).get("entry") else BY_HAND


# -- settings -----------------------------------------------------------------------------------


class _Settings(NamedTuple):
    """The text of settings, their values, and our entry among them, None if it is not there."""

    text: str
    values: dict[str, Any]
    entry: Any
    lacks_key: bool


def _is_toml(agent: Agent) -> bool:
    return agent.settings.endswith(".toml")


def _parsed(agent: Agent, text: str) -> Any:
    if not text.strip():
        return {}
    return toml_table.parse(text) if _is_toml(agent) else jsonc.parse(text).value


def _settings(agent: Agent, content: bytes | None) -> _Settings:
    text = _text(content, agent.settings)
    try:
        values = _parsed(agent, text)
    except InvalidInput as wrong:
        form = "TOML" if _is_toml(agent) else "JSON"
        raise InvalidInput(
            f"{agent.settings} is not valid {form} ({wrong}); it was not changed: correct it, then try"
            " again"
        ) from wrong
    servers = values.get(agent.key, {}) if isinstance(values, dict) else None
    if not isinstance(servers, dict):
        raise InvalidInput(
            f"{agent.settings} has no object of servers in {agent.key}, but something else; it was not"
            " changed"
        )
    return _Settings(text, values, servers.get(NAME), agent.key not in values)


def _with_entry(agent: Agent, settings: _Settings, entry: Entry) -> str:
    servers = {**settings.values.get(agent.key, {}), NAME: entry}
    expected = {**settings.values, agent.key: servers}
    path = (agent.key, NAME)
    if not _is_toml(agent):
        return _checked(agent, jsonc.set_member(settings.text, path, entry), expected)
    has_one = settings.entry is not None
    rest = toml_table.remove_table(settings.text, path) if has_one else settings.text
    return _checked(agent, toml_table.append_table(rest, path, entry), expected)


def _without_entry(agent: Agent, settings: _Settings, *, made_key: bool) -> str:
    servers = {k: v for k, v in settings.values[agent.key].items() if k != NAME}
    expected = {**settings.values, agent.key: servers}
    path: tuple[str, ...] = (agent.key, NAME)
    if not servers and (made_key or _is_toml(agent)):  # in TOML it has no lines of its own
        del expected[agent.key]
        path = path if _is_toml(agent) else path[:1]
    remove = toml_table.remove_table if _is_toml(agent) else jsonc.remove_member
    return _checked(agent, remove(settings.text, path), expected)


def _checked(agent: Agent, text: str, expected: Any) -> str:
    """Return a new text, if it differs from the earlier one in our entry alone."""
    try:
        found = _parsed(agent, text)
    except InvalidInput:
        found = None
    if found != expected:
        raise InvalidInput(
            f"{agent.settings} is written in a way that cannot be edited without changing more of it; it"
            f" was not changed: edit {agent.key}.{NAME} there by hand"
        )
    return text


def _runs_scrubjay(entry: Any) -> bool:
    """True for an entry that starts scrubjay, or that names a server by its URL."""
    if not isinstance(entry, dict):
        return False
    words = [entry.get("command"), entry.get("args")]
    flat = [word for one in words for word in (one if isinstance(one, list) else [one])]
    return "url" in entry or any(
        isinstance(word, str) and _PROGRAM.search(word) is not None for word in flat
    )


# -- files --------------------------------------------------------------------------------------


_CHANGED = b"changed since"  # compared by identity


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error


def _text(content: bytes | None, path: str) -> str:
    try:
        return (content or b"").removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is not text in UTF-8 (byte {error.start}); not changed"
        ) from error


def _bytes(text: str, before: bytes | None) -> bytes:
    mark = _BOM if before is not None and before.startswith(_BOM) else b""
    return mark + text.encode("utf-8")


def _write(edits: Sequence[Edit], backed_up: Collection[str] = ()) -> None:
    """Write every edit; none if one of the files is read-only or has changed meanwhile.

    Beside each of the files in `backed_up`, a copy of it is kept.
    """
    edits = [edit for edit in edits if edit.before != edit.after]
    copies = [edit for edit in edits if edit.path in backed_up and edit.before is not None]
    for edit in edits:
        _check_writable(edit)
    done: list[Edit] = []
    try:
        for edit in copies:
            _replace(edit.path + BACKUP, edit.before)
        for edit in edits:
            _replace(edit.path, edit.after)
            done.append(edit)
    except OSError as error:
        for edit in reversed(done):
            _replace(edit.path, edit.before)
        for edit in copies:
            _replace(edit.path + BACKUP, None)
        raise Unavailable(
            f"{error.filename or edits[len(done)].path} cannot be written: {error.strerror}; nothing was"
            " changed"
        ) from error


def _check_writable(edit: Edit) -> None:
    if _read(edit.path) != edit.before:
        raise Unavailable(f"{edit.path} was changed by another program just now; try again")
    if edit.before is None:
        return
    found = os.stat(edit.path)
    if not found.st_mode & stat.S_IWUSR:
        raise Unavailable(f"{edit.path} is read-only; nothing was changed")
    if HAS_MODES and found.st_uid != os.geteuid():
        raise Unavailable(f"{edit.path} belongs to another user; nothing was changed")


def _replace(path: str, content: bytes | None) -> None:
    """Write a file in one step, or remove it. A link stays: what it leads to is written."""
    path = os.path.realpath(path)
    if content is None:
        with suppress(FileNotFoundError):
            os.unlink(path)
        return
    make_private_folder(os.path.dirname(path))
    with replacing(path) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _as_it_was(path: str, content: bytes | None, mark: Mapping[str, Any]) -> bytes | None:
    """Return a file as it was before it was edited; `_CHANGED` where it is not as the edit left it."""
    if not mark or _digest(content) != mark.get("after"):
        return _CHANGED
    if mark.get("before") is None:
        return None
    backup = _read(path + BACKUP)
    return backup if backup is not None and _digest(backup) == mark["before"] else _CHANGED


def _drop_backup(edit: Edit) -> None:
    """Remove the copy of a file that is again what it was."""
    if edit.after is not None and _read(edit.path + BACKUP) == edit.after:
        _replace(edit.path + BACKUP, None)


# -- the record of what was written ---------------------------------------------------------------


def _digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


def _marks(edits: Sequence[Edit], earlier: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `disconnect` needs to know of each file that was edited."""
    marks: dict[str, Any] = {}
    for edit in edits:
        if edit.before == edit.after:
            continue
        mark, after = earlier.get(edit.path), _digest(edit.after)
        if mark is None:
            marks[edit.path] = {"before": _digest(edit.before), "after": after}
        elif mark.get("after") == _digest(edit.before):
            marks[edit.path] = {**mark, "after": after}
        else:  # its owner has changed other parts: it will not be what it was
            marks[edit.path] = {"made_key": mark.get("made_key", False)}
    return marks


def _read_record() -> dict[str, Any]:
    """Return what was written, by agent; nothing where the record is missing or damaged."""
    content = _read(os.path.join(data_dir(), _RECORD))
    try:
        record = json.loads(content or b"{}")
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _edit_of_record(record: Mapping[str, Any]) -> Edit:
    path = os.path.join(data_dir(), _RECORD)
    return Edit(path, _read(path), json.dumps(record, indent=1).encode() if record else None)
