"""Commands for error messages: what a user can type to fix a problem."""

from __future__ import annotations

import os

ADD = 'add "…"'


def to_type(words: str, db: str | None = None) -> str:
    if db is not None and "://" in db:
        # Without the password: the command is shown, and stored in the shell's history.
        from scrubjay.text.urls import strip_credentials

        db = strip_credentials(db, keep_user=True)
    return f"scrubjay {words}" if db is None else f"scrubjay {words} --db {_quoted(db)}"


def to_fetch(db: str | None = None, model: str = "") -> str:
    """Return the command that downloads a model; it overrides SCRUBJAY_OFFLINE for itself."""
    return _online(to_type(f"models pull {model}".rstrip(), db))


def to_embed(db: str | None = None, *, model_is_here: bool = True) -> str:
    """Return the command that makes the pending vectors; it downloads a model that is missing."""
    command = to_type("embed", db)
    return command if model_is_here else _online(command)


def _online(command: str) -> str:
    """Return a command with the network allowed for it, if SCRUBJAY_OFFLINE forbids it."""
    from scrubjay.config import offline

    if not offline():
        return command
    override = "set SCRUBJAY_OFFLINE=0& " if os.name == "nt" else "SCRUBJAY_OFFLINE=0 "
    return override + command


def pending_vectors(db: str | None = None, *, model_is_here: bool = True) -> str:
    """Say what makes the pending vectors by itself, and which command makes them now."""
    from scrubjay.config import offline

    now = f"to make them now: {to_embed(db, model_is_here=model_is_here)}"
    if not model_is_here and offline():
        return now
    return f"the next `add` or `ingest` to this store makes them; {now}"


def to_make(path: str) -> str:
    """Return the command that creates a store at a path, and its folder, which no command creates."""
    folder = os.path.dirname(os.path.abspath(path))
    if "://" in path or os.path.isdir(folder):
        return to_type(ADD, path)
    make_folder = "mkdir" if os.name == "nt" else "mkdir -p"
    return f"{make_folder} {_quoted(folder)} && {to_type(ADD, path)}"


def _quoted(path: str) -> str:
    from shlex import quote

    return quote(path)
