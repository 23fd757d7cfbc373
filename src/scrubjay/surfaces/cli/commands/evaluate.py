"""`eval`: questions whose answers are known, asked in one way or several, and measured."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.ops.eval import questions as judged
from scrubjay.ops.eval.run import Answers, Measured, against, check_limit
from scrubjay.ops.eval.run import evaluate as measured
from scrubjay.runtime.progress import ProgressBar
from scrubjay.surfaces.cli.session import (
    embed_pending,
    fetch_model,
    fetch_reranker,
    open_store,
    overrides_of,
    profile_of,
    settings_of,
)
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.layout import cut, table
from scrubjay.surfaces.render.terminal import err, one_line, out

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from scrubjay.ops.eval.run import Asked
    from scrubjay.store import Store
    from scrubjay.surfaces.render.terminal import Screen

_FAILED = 1
_QUERY_COLUMNS = 60
_REASONS = 3


def evaluate(args: Namespace, screen: Screen) -> int:
    """Ask every question with every profile; fails where one is below `--at-least`."""
    settings = settings_of(args)
    names = args.profiles or [settings.profile]
    overrides = overrides_of(args.sets)
    # A typing error is said before anything is read or fetched.
    chosen = [profile_of(name, overrides) for name in names]
    for name in names:
        check_limit(args.limit, name)
    if args.at_least is not None and not 0 <= args.at_least <= 1:
        raise InvalidInput(f"--at-least is {args.at_least:g}; it must be from 0 to 1")
    questions = judged.read(Path(args.questions))
    with _asked_of(args) as store:
        if any(one.uses("embed_query") for one in chosen):
            # What is embedded while it is asked would be found by the later profiles alone.
            embed_pending(store, settings)
            fetch_model(settings)
        if any(one.uses("cross_encoder") for one in chosen):
            fetch_reranker(settings)
        answers = Answers(store, questions)
        found = []
        for name in names:
            with ProgressBar(f"asking {name}") as bar:
                found.append(
                    measured(
                        store,
                        questions,
                        name,
                        answers=answers,
                        limit=args.limit,
                        overrides=overrides,
                        progress=bar,
                    )
                )
    _show(found, answers.missing, args, screen)
    low = [one for one in found if args.at_least is not None and one.ndcg < args.at_least]
    for one in low:
        err(f"scrubjay: {one.profile} has {one.ndcg:.4f}, which is less than {args.at_least:g}")
    return _FAILED if low else 0


@contextmanager
def _asked_of(args: Namespace) -> Iterator[Store]:
    """Open the store that the questions are about: the named one, or one made of their own corpus."""
    folder = Path(args.questions)
    if not judged.has_corpus(folder):
        if args.keep:
            raise InvalidInput(f"--keep is for a folder with {judged.CORPUS}; {folder} has none")
        with open_store(args.db, args.user) as store:
            yield store
        return
    if args.db:
        raise InvalidInput(
            f"{folder} brings its own {judged.CORPUS}, of which a store is made: leave --db out;"
            " --keep FILE keeps that store"
        )
    with (
        tempfile.TemporaryDirectory(prefix="scrubjay-eval-") as made,
        open_store(args.keep or os.path.join(made, "corpus.db"), make=True) as store,
    ):
        texts = judged.memories(folder)
        if store.status().memories not in (0, len(store.get_many(one["id"] for one in texts))):
            raise InvalidInput(f"{args.keep} holds other memories; give --keep a new file")
        store.add_many(texts)
        yield store


def _show(
    found: Sequence[Measured], missing: Sequence[str], args: Namespace, screen: Screen
) -> None:
    if args.json:
        from scrubjay.surfaces.render.json import dumps

        profiles = [_shape(one, found[0]) for one in found]
        questions = len(found[0].asked)
        out(
            dumps(
                {
                    "questions": questions,
                    "limit": args.limit,
                    "missing": list(missing),
                    "profiles": profiles,
                }
            )
        )
    else:
        out("\n".join(_lines(found, args, screen)))
    for name in missing[:5]:
        err(f"scrubjay: {one_line(name)} should be found and is not stored: it counts as missed")
    if len(missing) > 5:
        err(f"scrubjay: and {len(missing) - 5:,} more that are not stored; --json names all")
    for one in found:
        reasons = list(one.degraded.items())
        for why, times in reasons[:_REASONS]:
            err(f"scrubjay: {one.profile}, {render.plural(times, 'search')}: {one_line(why)}")
        if len(reasons) > _REASONS:
            err(f"scrubjay: {one.profile}: and {len(reasons) - _REASONS} more; --json has all")


def _shape(one: Measured, first: Measured) -> dict[str, object]:
    better, worse = against(first, one)
    return {
        **one._asdict(),
        "asked": [asked._asdict() for asked in one.asked],
        "better": better,
        "worse": worse,
    }


def _lines(found: Sequence[Measured], args: Namespace, screen: Screen) -> Iterator[str]:
    at = f"@{args.limit}"
    rows: list[tuple[str, ...]] = [("profile", f"nDCG{at}", f"Recall{at}", f"MRR{at}", "")]
    for one in found:
        better, worse = against(found[0], one)
        beside = "" if one is found[0] else f"better on {better}, worse on {worse}"
        values = [f"{of:.3f}" for of in (one.ndcg, one.recall, one.mrr)]
        rows.append((one.profile, *values, beside))
    yield render.plural(len(found[0].asked), "question")
    head, *lines = table(rows)
    yield screen.bold(head)
    yield from lines
    for one in found:
        missed = sorted(
            (asked for asked in one.asked if None in asked.places.values()),
            key=lambda asked: asked.ndcg,
        )
        if missed and args.misses > 0:
            yield ""
            yield screen.bold(
                f"{one.profile} missed something in {render.plural(len(missed), 'question')}"
            )
            yield from (_missed(asked, args.limit) for asked in missed[: args.misses])
            if len(missed) > args.misses:
                yield screen.dim(f"… and {len(missed) - args.misses:,} more; --misses shows them")


def _missed(asked: Asked, limit: int) -> str:
    gone = [one_line(name) for name, place in asked.places.items() if place is None]
    named = ", ".join(gone[:3]) + (f" and {len(gone) - 3:,} more" if len(gone) > 3 else "")
    return (
        f"  {cut(one_line(asked.query), _QUERY_COLUMNS)}\n    not among the first {limit}: {named}"
    )
