"""`embed`: embed everything that is pending, with progress, and report what was done."""

from __future__ import annotations

from argparse import Namespace

from scrubjay.config import DEFAULT_EMBEDDER, Settings
from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.runtime.command_hints import to_embed
from scrubjay.runtime.pace import duration
from scrubjay.store import Store
from scrubjay.surfaces.cli.common import FAILED, open_store, settings_of, warn
from scrubjay.surfaces.cli.vectors import embedding_progress, fetch_model
from scrubjay.surfaces.render import json as shapes
from scrubjay.surfaces.render.facts import plural
from scrubjay.surfaces.render.reports import waiting
from scrubjay.surfaces.render.terminal import Screen, err, one_line, out
from scrubjay.types.reports import Embedded

_OFF = ("none", "off", "false")
_NOTHING_YET = "nothing is embedded yet"


def embed(args: Namespace, screen: Screen) -> int:
    settings = settings_of(args)
    _check_embedder(settings)
    with open_store(args.db, args.user) as store:
        if store.pending(wait=False):
            _fetch(settings, store)
        done = _embed_all(store, settings)
        replicas = list(waiting(store.status(), settings.db_given))
    out(shapes.dumps(shapes.plain(done)) if args.json else _sentence(done, screen))
    left = done.pending + done.failed
    if left:
        again = f"the next run tries {'it' if left == 1 else 'them'} again"
        err(f"scrubjay: {again}: {to_embed(settings.db_given)}")
    warn(replicas)
    return FAILED if left else 0


def _check_embedder(settings: Settings) -> None:
    if settings.embedder.lower() in _OFF:
        raise InvalidInput(
            f"the setting embedder is {settings.embedder!r}, so there is no model to embed with; set"
            f" SCRUBJAY_EMBEDDER, or embedder in scrubjay.toml, to one such as {DEFAULT_EMBEDDER}"
        )


def _fetch(settings: Settings, store: Store) -> None:
    try:
        why = fetch_model(settings, store)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_to_resume(_NOTHING_YET, settings)) from None
    if why is not None:
        command = to_embed(settings.db_given, model_is_here=False)
        raise Unavailable(f"{why}; nothing is embedded; to embed, run: {command}")


def _embed_all(store: Store, settings: Settings) -> Embedded:
    with embedding_progress() as bar:
        try:
            return store.embed(progress=bar)
        except KeyboardInterrupt:  # the caller prints its text
            raise KeyboardInterrupt(_to_resume(_so_far(bar.done, bar.total), settings)) from None


def _so_far(done: int, total: int) -> str:
    if not done:
        return _NOTHING_YET
    return f"{done:,} of {plural(total, 'passage')} {'is' if total == 1 else 'are'} embedded"


def _to_resume(done: str, settings: Settings) -> str:
    return f"{done}; the next run resumes: {to_embed(settings.db_given)}"


def _sentence(done: Embedded, screen: Screen) -> str:
    """Return what was done in one line."""
    model = one_line(done.model or "")
    left = done.pending + done.failed
    passages = plural(done.passages, "passage")
    if left:
        of = f"{done.passages:,} of {plural(done.passages + left, 'passage')}"
        took = f"with {model} in {duration(done.seconds)}"
        return f"{screen.yellow('embedded')} {of} {took}; {_left(done)}"
    if done.passages:
        what = f"{passages} of {plural(done.memories, 'memory')}" if done.memories else passages
        took = f"with {model} in {duration(done.seconds)}"
        return f"{screen.green('embedded')} {what} {took}; nothing is pending"
    every = f"every passage is embedded with {model}"
    if done.linked:
        return f"{screen.green('linked')} {plural(done.linked, 'memory')}; {every}"
    return f"nothing was pending: {every}"


def _left(done: Embedded) -> str:
    """Return how many passages are left, and why."""
    parts = []
    if done.pending:
        why = one_line(done.why_pending)
        parts.append(f"{done.pending:,} {'is' if done.pending == 1 else 'are'} pending: {why}")
    if done.failed:
        parts.append(f"{done.failed:,} failed: {one_line('; '.join(done.failures))}")
    return "; ".join(parts)
