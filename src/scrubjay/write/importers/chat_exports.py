"""Exports of chats, `conversations.json`: in a folder, in the ZIP as it was downloaded, or alone."""

from __future__ import annotations

import fnmatch
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from scrubjay.documents import Unreadable
from scrubjay.documents.chat import Conversation, conversation_of
from scrubjay.errors import InvalidInput
from scrubjay.write.importers.json_list import entries_in
from scrubjay.write.importers.record import Broken, Item, LeftOut, Record

_NAMES = "conversations*.json"  # ChatGPT splits large exports into conversations-000.json, -001 …
_ZIP, _INSIDE = ".zip", ".zip/"
_ROLES = {"human": "user"}
CountOthers = Callable[[dict[str, Any], Conversation], int]


def exported_files(path: str) -> list[str]:
    """Return the files with conversations at a path; one of a ZIP is `FILE.zip/MEMBER`."""
    if os.path.isdir(path):
        found = [
            os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
        ]
    elif path.lower().endswith(_ZIP):
        try:
            with zipfile.ZipFile(path) as archive:
                found = [f"{path}/{name}" for name in archive.namelist()]
        except (zipfile.BadZipFile, OSError) as error:
            raise InvalidInput(
                f"{path} cannot be read as a ZIP file ({error}); download it again"
            ) from error
    else:
        return [path]
    found = sorted(one for one in found if fnmatch.fnmatch(os.path.basename(one), _NAMES))
    if not found:
        raise InvalidInput(f"there is no {_NAMES} in {path}; give the export as it was downloaded")
    return found


def conversations_in(
    path: str,
    format: str,
    key: str,
    kind: type[dict[str, Any]] | type[list[Any]],
    others: CountOthers,
    why: str,
) -> Iterator[Item]:
    """Yield the messages of every conversation; each has its messages under `key`, in a `kind`. How many
    of them are not among those is what `others` returns, and `why` is the reason."""
    with _opened(path) as file:
        for entry in entries_in(file, path):
            if isinstance(entry, Broken):
                yield entry
                continue
            given = entry.value.get(key)
            if not isinstance(given, kind):
                yield Broken(entry.where, f"not a conversation of {format}: it has no {key!r}")
                continue
            readable = _readable(given)
            if len(readable) < len(given):
                count = len(given) - len(readable)
                yield Broken(
                    entry.where, f"{count} messages of the conversation have another form"
                )
            found = conversation_of({**entry.value, key: readable}) or Conversation([])
            yield from _messages(entry.where, format, found)
            for _ in range(others(entry.value, found)):
                yield LeftOut(why)


def _readable(given: dict[str, Any] | list[Any]) -> dict[str, Any] | list[Any]:
    """Return the messages that have the form of their export; a tree is a mapping."""
    if isinstance(given, dict):
        return {id_: node for id_, node in given.items() if isinstance(node, dict)}
    return [one for one in given if isinstance(one, dict) and isinstance(one.get("sender"), str)]


def _messages(where: str, format: str, found: Conversation) -> Iterator[Item]:
    if not found.id and found.messages:
        yield Broken(where, "the conversation has no id")
        return
    at = found.created_at
    for number, message in enumerate(found.messages, 1):
        at = message.at or at  # one without a time is as old as the one before
        fields = {
            "text": message.text,
            "type": "message",
            "role": _ROLES.get(message.speaker, message.speaker),
            "session": found.id,
            "agent": format,
            "created_at": at,
            "updated_at": at,
            "metadata": {"conversation": " ".join(found.title.split())},
        }
        yield Record(where, message.id or f"{found.id}:{number}", fields)


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    head, inside, member = path.partition(_INSIDE)
    if not inside or os.path.exists(path):
        with open(path, "rb") as file:
            yield file
        return
    try:
        with zipfile.ZipFile(head + _ZIP) as archive, archive.open(member) as file:
            yield file
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise Unreadable(f"the ZIP file cannot be read: {error}", failed=True) from error
