"""`update`: change what is given of a memory; the rest stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.cli.session import make_vectors, open_store, settings_of, words_of
from scrubjay.surfaces.render import memories as stored
from scrubjay.surfaces.render.terminal import out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen

_FIELDS = "title type severity domain context valid_from valid_until source".split()


def update(args: Namespace, screen: Screen) -> int:
    """Change one memory and show it as it is now; an empty value takes a field away."""
    changes = _changes(args)
    settings = settings_of(args)
    with open_store(args.db, args.user, embed=not args.no_embed) as store:
        id_ = store.resolve(args.id)
        if args.add_topic is not None:
            topics = changes.get("topics", store.get(id_).topics)
            changes["topics"] = [*topics, *args.add_topic]
        memory = store.update(id_, **changes)
        left = make_vectors(store, settings, later=args.no_embed)
        why = store.why_unembedded()
    if args.json:
        from scrubjay.surfaces.render.json import dumps
        from scrubjay.surfaces.render.json_memories import added

        out(dumps(added(memory, left, why)))
    else:
        out(stored.memories([memory], screen, ends=True))
    return 0


def _changes(args: Namespace) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for name in _FIELDS:
        given = getattr(args, name)
        if given == "" and name == "type":
            raise InvalidInput("--type is empty; every memory has one, such as fact")
        if given is not None:
            changes[name] = given or None
    if args.topic is not None:
        changes["topics"] = args.topic
    if args.text is not None:
        changes["text"] = words_of([args.text])
    if not changes and args.add_topic is None:
        raise InvalidInput("nothing to change was given; name it, as in --valid-until 2027-12-31")
    return changes
