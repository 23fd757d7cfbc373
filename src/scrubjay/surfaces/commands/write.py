"""`add` and `ingest`: first the text, committed; then its vectors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces import render
from scrubjay.surfaces.session import (
    MAKES_VECTORS,
    embed_pending,
    open_store,
    settings_of,
    words_of,
)
from scrubjay.surfaces.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.config import Settings
    from scrubjay.service import Store
    from scrubjay.surfaces.terminal import Screen
    from scrubjay.types import Ingested


def add(args: Namespace, screen: Screen) -> int:
    """Remember a text; where every argument is a file or folder, read those instead."""
    if not args.as_text and all(os.path.exists(word) for word in args.text):
        _refuse_options_of_texts(args)
        # os.path: pathlib is not worth its import for one question.
        named = ", ".join(map(one_line, args.text))
        err(f"scrubjay: reading {named} as files (--text remembers the words instead)")
        return _ingest(args, args.text, screen)
    if not args.as_text and len(args.text) == 1 and _looks_like_a_path(args.text[0]):
        raise InvalidInput(
            f"there is no file or folder {args.text[0]}; --text remembers the words themselves"
        )
    settings = settings_of(args)
    with open_store(args.db, embed=not args.no_embed, make=True) as store:
        memory = store.add(
            words_of(args.text),
            id=args.id,
            title=args.title or "",
            type="fact" if args.type is None else args.type,
            topics=args.topic or (),
            namespace=args.namespace,
            collection=args.collection,
            session=args.session,
            source=args.source,
            created_at=args.at,
        )
        left = _vectors(store, settings, later=args.no_embed)
    if args.json:
        from scrubjay.surfaces.shapes import dumps, plain

        shape = {"memory": plain(memory), "stored": True, "keyword_indexed": True}
        out(dumps({**shape, "embedded": left == 0, "pending": left}))
        return 0
    state = "stored, found by word and by meaning" if left == 0 else "stored, found by word"
    out(f"{screen.green('remembered')} {render.short_id(memory.id)}  {screen.dim(state)}")
    return 0


def _looks_like_a_path(word: str) -> bool:
    begins = word.startswith(("./", "../", "~/", "/", ".\\", "..\\"))
    return not any(map(str.isspace, word)) and (begins or word.endswith((".md", ".txt")))


def _refuse_options_of_texts(args: Namespace) -> None:
    """Say which option would be ignored: a file has its own title, type and time."""
    for name in ("id", "title", "type", "topic", "session", "source", "at"):
        if getattr(args, name):
            raise InvalidInput(
                f"--{name} does not go with files; --text remembers the words instead"
            )


def ingest(args: Namespace, screen: Screen) -> int:
    """Read files and folders; what has not changed is not read again."""
    return _ingest(args, args.path, screen)


def _ingest(args: Namespace, paths: list[str], screen: Screen) -> int:
    settings = settings_of(args)
    with open_store(args.db, embed=not args.no_embed, make=True) as store:
        done = [(path, _read(store, path, args.collection, args.namespace)) for path in paths]
        left = _vectors(store, settings, later=args.no_embed)
    failed = any(one.failed or _in_vain(one) for _, one in done)
    if args.json:
        from scrubjay.surfaces.shapes import dumps, ingested

        out(dumps({"ingested": [ingested(path, one) for path, one in done], "pending": left}))
        return int(failed)
    for path, one in done:
        out(f"{screen.bold(one_line(path))}  {_counts(one)}")
        for where, why in (*one.skipped, *one.failed):
            out(f"  {screen.yellow(one_line(where))}: {one_line(why)}")
    return int(failed)


def _read(store: Store, path: str, collection: str | None, namespace: str | None) -> Ingested:
    from scrubjay.progress import ProgressBar

    with ProgressBar("reading") as bar:
        return store.ingest(
            path,
            collection=collection,
            namespace=namespace,
            progress=lambda done, total, _: bar(done, total),
        )


def _vectors(store: Store, settings: Settings, *, later: bool) -> int | None:
    """Make the vectors; return how many are left, or None where they were not even counted."""
    if not later:
        return embed_pending(store, settings)
    err(f"scrubjay: the vectors are left for later; this makes them: {MAKES_VECTORS}")
    return None


def _in_vain(done: Ingested) -> bool:
    """Say whether everything that was named was left out."""
    return bool(done.skipped) and not (
        done.added or done.updated or done.unchanged or done.removed
    )


def _counts(done: Ingested) -> str:
    counts = [
        (done.added, "new"),
        (done.updated, "changed"),
        (done.unchanged, "unchanged"),
        (done.removed, "removed"),
        (len(done.skipped), "skipped"),
        (len(done.failed), "failed"),
    ]
    return ", ".join(f"{count:,} {what}" for count, what in counts if count) or "nothing to read"
