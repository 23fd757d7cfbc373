"""`token`: who may ask a server for what is stored.

A tenant that is typed is the one that a token is for; the token is kept in the store without a tenant,
where `serve` looks for it, with --tenant or without. Where a tenant is configured, that one's own store has
tokens of its own.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrubjay import config
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.runtime.command_hints import to_type
from scrubjay.sharing.api_keys import access_of
from scrubjay.surfaces.cli.session import open_store
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render.layout import table
from scrubjay.surfaces.render.terminal import err, one_line, out
from scrubjay.types.key_scopes import READ

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from datetime import datetime

    from scrubjay.sharing.api_keys import Access, Token
    from scrubjay.surfaces.render.terminal import Screen

_NOTHING_FOUND = 3


def token(args: Namespace, screen: Screen) -> int:
    """Make, list or revoke tokens, or do without; of a new one, standard output is the secret alone."""
    _check(args)
    config.typed = config.typed._replace(tenant=None)
    making = args.action == "create"
    with open_store(args.db, embed=False, make=making) as store:
        access = access_of(store)
        if making:
            return _create(access, args)
        if args.action == "revoke":
            return _revoke(access, args, screen)
        if args.action == "open":
            return _open(access, args, screen)
        return _list(_chosen(access, args), args, screen, asks=bool(access.asks()))


def _check(args: Namespace) -> None:
    if args.action in ("list", "open") and args.name is not None:
        raise InvalidInput(f"`token {args.action}` takes no name; it is about every token")
    if args.action == "open" and (args.tenant or args.user):
        raise InvalidInput("`token open` takes neither --tenant nor --user; it is for everybody")
    if args.action in ("create", "revoke") and args.name is None:
        raise InvalidInput(f"which token? `scrubjay token {args.action} NAME`, such as laptop")
    if args.action != "create" and (args.scope or args.expires):
        raise InvalidInput(
            "--scope and --expires are for `token create`; another scope is another token"
        )


def _create(access: Access, args: Namespace) -> int:
    made = access.create(
        args.name,
        scopes=args.scope or (READ,),
        tenant=args.tenant,
        user=config.load(db=args.db, user=args.user).user,
        expires=args.expires,
    )
    if args.json:
        _print("created", [made.token], secret=made.secret)
        return 0
    out(made.secret)
    sys.stdout.flush()  # before what is said about it
    said = ", ".join(f"{name} {value}" for name, value in _facts(made.token) if value)
    err(f"scrubjay: made the token {one_line(made.token.name)}: {said}")
    err("scrubjay: it is shown this once; send it as `Authorization: Bearer …`")
    return 0


def _facts(one: Token) -> list[tuple[str, str]]:
    return [
        ("may", " and ".join(one.scopes)),
        ("in the store of tenant", one.tenant or ""),
        ("as", "" if one.user is None else one_line(one.user)),
        ("until", "" if one.expires_at is None else facts.stamp(one.expires_at, facts.here())),
    ]


def _chosen(access: Access, args: Namespace) -> list[Token]:
    """Return the tokens of the tenant and the person that were typed."""
    return [
        one
        for one in access.list()
        if args.tenant in (None, one.tenant) and args.user in (None, one.user)
    ]


def _revoke(access: Access, args: Namespace, screen: Screen) -> int:
    named = args.name.strip()
    gone = [one for one in _chosen(access, args) if one.name == named]
    if not gone and any(one.name == named for one in access.list()):
        raise NotFound(f"the token {named!r} is for somebody else; see: {to_type('token list')}")
    access.revoke(named)
    if args.json:
        _print("revoked", gone)
    else:
        out(f"{screen.green('revoked')} {one_line(named)}")
    if not access.any():
        err(f"scrubjay: that was the last one; {_still_asks(args)}")
    return 0


def _still_asks(args: Namespace) -> str:
    """Say what goes on without any token, and how it is ended."""
    anew, without = to_type("token create NAME", args.db), to_type("token open", args.db)
    return (
        f"a server goes on asking for tokens, so nobody comes in. This makes one: {anew}. This lets"
        f" whoever is on this machine in without: {without}"
    )


def _open(access: Access, args: Namespace, screen: Screen) -> int:
    """Let whoever is on the machine of a server in without a token."""
    access.open_door()
    if args.json:
        _print("opened", [])
    else:
        out(f"{screen.green('opened')}: on loopback a server asks for no token")
    return 0


def _list(found: Sequence[Token], args: Namespace, screen: Screen, *, asks: bool) -> int:
    if args.json:
        _print("listed", found)
    elif found:
        now = facts.here()
        titles = ("name", "may", "tenant", "user", "made", "last used", "ends")
        head, *lines = table([titles, *(_row(one, now) for one in found)])
        out("\n".join((screen.bold(head), *lines)))
    else:
        out(f"No token fits; this makes one: {to_type('token create NAME --scope read', args.db)}")
        if asks and not args.tenant and not args.user:
            err(f"scrubjay: there was one; {_still_asks(args)}")
    return 0 if found else _NOTHING_FOUND


def _row(one: Token, now: datetime) -> tuple[str, ...]:
    def when(at: datetime | None, never: str) -> str:
        return never if at is None else facts.stamp(at, now)

    ends = when(one.expires_at, "never")
    return (
        one_line(one.name),
        ", ".join(one.scopes),
        one.tenant or "-",
        one_line(one.user or "-"),
        when(one.created_at, "-"),
        when(one.last_used_at, "never"),
        f"{ends} (over)" if one.expires_at and one.expires_at <= now else ends,
    )


def _print(done: str, tokens: Sequence[Token], **more: str) -> None:
    from scrubjay.surfaces.render.json import dumps, plain

    out(dumps({"done": done, "tokens": plain(tokens), **more}))
