"""`key` (also `token`): API keys of those who may call a server.

A tenant that is typed is the tenant of a key. The key is stored in the database without a tenant, where
`serve` looks for it, with --tenant or without. If the settings name a tenant, the store of that tenant has
its own keys.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from scrubjay import config
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.cli.common import NOTHING_FOUND, open_store
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.json import dumps, plain
from scrubjay.surfaces.render.reports import with_head
from scrubjay.surfaces.render.terminal import Screen, err, one_line, out
from scrubjay.types.key_scopes import READ

if TYPE_CHECKING:
    from scrubjay.sharing.api_keys import Access, Token

# The first key of a store, and the first after `key open`, change what its servers accept.
_NOW_REQUIRED = (
    "from now on servers of this store refuse requests without a key, also with --no-auth and on a"
    " Unix socket, and the web UI asks for a key; the owner's key stays valid"
)


def key(args: Namespace, screen: Screen) -> int:
    if args.action == "open" and (args.tenant or args.user):
        raise InvalidInput("`key open` takes neither --tenant nor --user; it is for all callers")
    config.typed = config.typed._replace(tenant=None)
    with open_store(args.db, embed=False, make=args.action == "create") as store:
        return _ACTIONS[args.action](store.api_keys, args, screen)


def _create(keys: Access, args: Namespace, screen: Screen) -> int:
    was_required = keys.asks()
    made = keys.create(
        args.name,
        scopes=args.scopes or (READ,),
        tenant=args.tenant,
        user=config.load(db=args.db, user=args.user).user,
        expires=args.expires,
    )
    if args.json:
        return _print_json("created", [made.token], secret=made.secret)
    out(made.secret)
    sys.stdout.flush()  # before the lines about it
    its = made.token
    about = [
        ("may", " and ".join(its.scopes)),
        ("in the store of tenant", its.tenant or ""),
        ("as", one_line(its.user or "")),
        ("until", facts.stamp(its.expires_at, facts.here())),
    ]
    text = ", ".join(f"{name} {value}" for name, value in about if value)
    err(f"scrubjay: created the API key {one_line(its.name)}: {text}")
    err("scrubjay: it is shown this once; send it as `Authorization: Bearer …`")
    if not was_required:
        err(f"scrubjay: {_NOW_REQUIRED}")
    return 0


def _matching(keys: Access, args: Namespace) -> list[Token]:
    return [
        found
        for found in keys.list()
        if args.tenant in (None, found.tenant) and args.user in (None, found.user)
    ]


def _revoke(keys: Access, args: Namespace, screen: Screen) -> int:
    name = args.name.strip()
    revoked = [found for found in _matching(keys, args) if found.name == name]
    if not revoked and any(found.name == name for found in keys.list()):
        see = to_type("key list")
        raise NotFound(f"the API key {name!r} is of another tenant or user; see: {see}")
    keys.revoke(name)
    if args.json:
        _print_json("revoked", revoked)
    else:
        out(f"{screen.green('revoked')} {one_line(name)}")
    if not keys.any():
        err(f"scrubjay: that was the last one; {_still_required(args)}")
    return 0


def _still_required(args: Namespace) -> str:
    create, open_ = to_type("key create NAME", args.db), to_type("key open", args.db)
    return (
        f"servers still require a key and accept only the owner's. To create one: {create}. To"
        f" allow callers on this machine without a key: {open_}"
    )


def _open(keys: Access, args: Namespace, screen: Screen) -> int:
    keys.open_door()
    if args.json:
        return _print_json("opened", [])
    out(f"{screen.green('opened')}: on loopback a server requires no API key")
    return 0


def _list(keys: Access, args: Namespace, screen: Screen) -> int:
    found = _matching(keys, args)
    if args.json:
        _print_json("listed", found)
    elif found:
        now = facts.here()
        titles = ("name", "may", "tenant", "user", "created", "last used", "expires")
        out(with_head([titles, *(_row(one, now) for one in found)], screen))
    else:
        create = to_type("key create NAME --scope read", args.db)
        out(f"No API key matches; this creates one: {create}")
        if keys.asks() and not args.tenant and not args.user:
            err(f"scrubjay: there was one; {_still_required(args)}")
    return 0 if found else NOTHING_FOUND


def _row(found: Token, now: datetime) -> tuple[str, ...]:
    expired = found.expires_at is not None and found.expires_at <= now
    return (
        one_line(found.name),
        ", ".join(found.scopes),
        found.tenant or "-",
        one_line(found.user or "-"),
        facts.stamp(found.created_at, now) or "-",
        facts.stamp(found.last_used_at, now) or "never",
        (facts.stamp(found.expires_at, now) or "never") + (" (expired)" if expired else ""),
    )


def _print_json(done: str, keys: Sequence[Token], **more: str) -> int:
    out(dumps({"done": done, "tokens": plain(keys), **more}))
    return 0


_ACTIONS = {"create": _create, "list": _list, "revoke": _revoke, "open": _open}
