"""`extract`: let the configured language model draw facts from the messages that wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.runtime.command_hints import to_type
from scrubjay.surfaces.cli.session import make_vectors, open_store, settings_of
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import Extracted


def extract(args: Namespace, screen: Screen) -> int:
    """Read what waits, and say what came of it; fails where the model failed, or is out."""
    from scrubjay.runtime.progress import ProgressBar

    with open_store(args.db, args.user) as store:
        with ProgressBar("extracting") as bar:
            done = store.extract(session=args.session, retry=args.retry, progress=bar)
        if done.added or done.updated or done.superseded:
            make_vectors(store, settings_of(args), later=False)
    if args.json:
        from scrubjay.surfaces.render.json import dumps, plain

        out(dumps(plain(done)))
    else:
        out(_said(done, screen, args.db))
    if done.outage:
        err(f"scrubjay: {one_line(done.outage)}")
    return int(bool(done.outage or done.failed))


def _said(done: Extracted, screen: Screen, db: str | None) -> str:
    from scrubjay.storage.sql.extractions import MAX_TRIES

    facts = [
        f"{count:,} {what}"
        for what, count in (
            ("added", done.added),
            ("updated", done.updated),
            ("superseded", done.superseded),
            ("known already", done.folded),
        )
        if count
    ]
    lines = [
        f"{screen.bold('read')} {render.plural(done.messages, 'message')};"
        f" facts: {', '.join(facts) or 'none'}"
    ]
    for title, reasons in (("rejected", done.rejected), ("failed", done.failures)):
        lines += [
            f"  {screen.yellow(title)} {count:,}: {one_line(why)}"
            for why, count in reasons.items()
        ]
    if done.failed:
        lines.append("  What failed stays a memory, as it was said.")
    if done.given_up:
        again = to_type("extract --retry", db)
        lines.append(
            f"  {render.plural(done.given_up, 'message')} given up after {MAX_TRIES} tries;"
            f" tries again: {again}"
        )
    if done.left:
        lines.append(
            f"  {render.plural(done.left, 'message')} left; reads them: {to_type('extract', db)}"
        )
    return "\n".join(lines)
