"""`add`: first the text, committed; then its vectors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.session import make_vectors, open_store, settings_of, words_of
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.terminal import err, one_line, out
from scrubjay.types import SHARED_PREFIX

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen

# What `ingest` reads and people name without a folder. No .js: who remembers Node.js means the thing.
_ENDINGS = (
    *(".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".pdf", ".docx", ".json", ".jsonl"),
    *(".py", ".java", ".go", ".rs", ".c", ".h", ".cpp", ".rb", ".sh", ".toml", ".yaml", ".yml"),
)


def add(args: Namespace, screen: Screen) -> int:
    """Remember a text; where every argument is a file or folder, read those instead."""
    if not args.as_text and all(os.path.exists(word) for word in args.text):
        _refuse_options_of_texts(args)
        # os.path: pathlib is not worth its import for one question.
        named = ", ".join(map(one_line, args.text))
        err(f"scrubjay: reading {named} as files (--text remembers the words instead)")
        from scrubjay.surfaces.cli.commands.ingest import read

        return read(args, args.text, screen)
    if not args.as_text and len(args.text) == 1 and _looks_like_a_path(args.text[0]):
        raise InvalidInput(
            f"there is no file or folder {args.text[0]}; --text remembers the words themselves"
        )
    settings = settings_of(args)
    with open_store(args.db, args.user, embed=not args.no_embed, make=True) as store:
        given = {
            "text": words_of(args.text),
            "id": args.id,
            "title": args.title,
            "type": args.type,
            "topics": args.topic,
            "namespace": args.namespace,
            "collection": args.collection,
            "session": args.session,
            "severity": args.severity,
            "domain": args.domain,
            "context": args.context,
            "valid_from": args.valid_from,
            "valid_until": args.valid_until,
            "source": args.source,
            "created_at": args.at,
        }
        kept = store.add_many([given])
        (memory,) = kept
        left = make_vectors(store, settings, later=args.no_embed)
        why = store.why_unembedded()
    if args.json:
        from scrubjay.surfaces.render.json import dumps
        from scrubjay.surfaces.render.json_memories import added

        out(dumps(added(memory, left, why, kept.known)))
        return 0
    state = "stored, found by word and by meaning" if left == 0 else "stored, found by word"
    shared = memory.namespace.startswith(SHARED_PREFIX)
    place = f" in {one_line(memory.collection or '')}, which you share" if shared else ""
    before = "replaced" if args.id else "known already:"
    done = screen.green(before if kept.known else "remembered")
    out(f"{done} {facts.short_id(memory.id)}{place}  {screen.dim(state)}")
    return 0


def _looks_like_a_path(word: str) -> bool:
    begins = word.startswith(("./", "../", "~/", "/", ".\\", "..\\"))
    return not any(map(str.isspace, word)) and (begins or word.lower().endswith(_ENDINGS))


def _refuse_options_of_texts(args: Namespace) -> None:
    """Say which option would be ignored: a file has its own title, type and time."""
    names = "id title type topic session severity domain context valid_from valid_until source at"
    for name in names.split():
        if getattr(args, name):
            raise InvalidInput(
                f"--{name.replace('_', '-')} does not go with files; --text remembers the words instead"
            )
