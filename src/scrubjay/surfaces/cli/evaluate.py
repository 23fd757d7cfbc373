"""`eval`: search for questions whose answers are known, with one or several profiles, and measure."""

from __future__ import annotations

import os
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from scrubjay.errors import InvalidInput
from scrubjay.ops.eval import questions as question_files
from scrubjay.ops.eval.run import Answers, Asked, Measured, against, check_limit
from scrubjay.ops.eval.run import evaluate as measure
from scrubjay.runtime.progress import ProgressBar
from scrubjay.store import Store
from scrubjay.surfaces.cli import common
from scrubjay.surfaces.cli.common import open_store, warn
from scrubjay.surfaces.cli.vectors import embed_pending, fetch_model, fetch_reranker
from scrubjay.surfaces.render.facts import plural
from scrubjay.surfaces.render.json import dumps
from scrubjay.surfaces.render.layout import cut
from scrubjay.surfaces.render.reports import with_head
from scrubjay.surfaces.render.terminal import Screen, one_line, out

_QUERY_COLUMNS = 60
_MOST_REASONS = 3
_MOST_MISSING = 5


def evaluate(args: Namespace, screen: Screen) -> int:
    settings = common.settings_of(args)
    names = args.profiles or [settings.profile]
    overrides = common.parse_overrides(args.sets)
    # A typing error is reported before anything is read or downloaded.
    profiles = [common.profile_of(name, overrides) for name in names]
    for name in names:
        check_limit(args.limit, name)
    if args.at_least is not None and not 0 <= args.at_least <= 1:
        raise InvalidInput(f"--at-least is {args.at_least:g}; it must be from 0 to 1")
    questions = question_files.read(Path(args.questions))
    with _store_of(args) as store:
        if any(profile.uses("embed_query") for profile in profiles):
            # Vectors made during the measurement would help only the later profiles.
            embed_pending(store, settings)
            fetch_model(settings, store)
        if any(profile.uses("cross_encoder") for profile in profiles):
            fetch_reranker(settings)
        answers = Answers(store, questions)
        ask = partial(measure, store, questions, answers=answers, limit=args.limit)
        measured = []
        for name in names:
            with ProgressBar(f"measuring {name}") as bar:
                measured.append(ask(name, overrides=overrides, progress=bar))
    _show(measured, answers.missing, args, screen)
    low = [one for one in measured if args.at_least is not None and one.ndcg < args.at_least]
    warn(f"{one.profile} has {one.ndcg:.4f}, which is less than {args.at_least:g}" for one in low)
    return common.FAILED if low else 0


@contextmanager
def _store_of(args: Namespace) -> Iterator[Store]:
    """Open the store of the questions: the named one, or one made from their own corpus."""
    folder, corpus = Path(args.questions), question_files.CORPUS
    if not question_files.has_corpus(folder):
        if args.keep:
            raise InvalidInput(f"--keep is for a folder with {corpus}; {folder} has none")
        with open_store(args.db, args.user) as store:
            yield store
        return
    if args.db:
        raise InvalidInput(
            f"{folder} has its own {corpus}, from which a store is made: leave --db out;"
            " --keep FILE keeps that store"
        )
    with (
        tempfile.TemporaryDirectory(prefix="scrubjay-eval-") as made,
        open_store(args.keep or os.path.join(made, "corpus.db"), make=True) as store,
    ):
        texts = question_files.memories(folder)
        if store.status().memories not in (0, len(store.get_many(text["id"] for text in texts))):
            raise InvalidInput(f"{args.keep} holds other memories; give --keep a new file")
        store.add_many(texts)
        yield store


def _show(measured: list[Measured], missing: list[str], args: Namespace, screen: Screen) -> None:
    first = measured[0]
    if args.json:
        profiles = [_shape(one, first) for one in measured]
        shape = {"questions": len(first.asked), "limit": args.limit, "missing": missing}
        out(dumps({**shape, "profiles": profiles}))
    else:
        out("\n".join(_lines(measured, args, screen)))
    unstored = [f"{name} is expected but not stored: it counts as missed" for name in missing]
    _warn_first(_MOST_MISSING, unstored, "and {:,} more that are not stored; --json names all")
    for one in measured:
        name = one.profile
        reasons = [f"{name}, {plural(n, 'search')}: {why}" for why, n in one.degraded.items()]
        _warn_first(_MOST_REASONS, reasons, f"{name}: and {{}} more; --json has all")


def _warn_first(most: int, reasons: list[str], more: str) -> None:
    left = len(reasons) - most
    warn([*reasons[:most], more.format(left)] if left > 0 else reasons)


def _shape(one: Measured, first: Measured) -> dict[str, object]:
    better, worse = against(first, one)
    asked = [asked._asdict() for asked in one.asked]
    return {**one._asdict(), "asked": asked, "better": better, "worse": worse}


def _lines(measured: Sequence[Measured], args: Namespace, screen: Screen) -> Iterator[str]:
    at = f"@{args.limit}"
    rows: list[tuple[str, ...]] = [("profile", f"nDCG{at}", f"Recall{at}", f"MRR{at}", "")]
    for one in measured:
        better, worse = against(measured[0], one)
        compared = "" if one is measured[0] else f"better on {better}, worse on {worse}"
        figures = (f"{figure:.3f}" for figure in (one.ndcg, one.recall, one.mrr))
        rows.append((one.profile, *figures, compared))
    yield plural(len(measured[0].asked), "question")
    yield with_head(rows, screen)
    for one in measured:
        misses = [asked for asked in one.asked if None in asked.places.values()]
        misses.sort(key=lambda asked: asked.ndcg)
        if misses and args.misses > 0:
            title = f"{one.profile} missed answers of {plural(len(misses), 'question')}"
            yield f"\n{screen.bold(title)}"
            yield from (_miss(asked, args.limit) for asked in misses[: args.misses])
            if len(misses) > args.misses:
                yield screen.dim(f"… and {len(misses) - args.misses:,} more; --misses shows them")


def _miss(asked: Asked, limit: int) -> str:
    missed = [one_line(name) for name, place in asked.places.items() if place is None]
    names = ", ".join(missed[:3]) + (f" and {len(missed) - 3:,} more" if len(missed) > 3 else "")
    query = cut(one_line(asked.query), _QUERY_COLUMNS)
    return f"  {query}\n    not among the first {limit}: {names}"
