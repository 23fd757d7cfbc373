"""`models`: list models, download one, measure the speed of the reranker."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from scrubjay.config import Access, Settings
from scrubjay.errors import InvalidInput, NotFound
from scrubjay.surfaces.cli.session import check_exists, open_store, settings_of
from scrubjay.surfaces.cli.vectors import card_of, embed_pending, fetch_reranker
from scrubjay.surfaces.render.json import Json, dumps
from scrubjay.surfaces.render.layout import table
from scrubjay.surfaces.render.results import plural, size
from scrubjay.surfaces.render.terminal import Screen, one_line, out

if TYPE_CHECKING:
    from scrubjay.models.download.pull import ModelCard
    from scrubjay.models.registry import ModelState


def models(args: Namespace, screen: Screen) -> int:
    settings = settings_of(args)
    made = left = 0
    if args.action == "calibrate":
        return _calibrate(args, screen)
    if args.action == "pull" and args.name and "/" in args.name and not _is_card(args.name):
        _pull_reranker(settings.reranker._replace(spec=args.name))
    elif args.action == "pull":
        from scrubjay.models.download.pull import pull

        configured = card_of(settings)
        wanted = _card(args.name) if args.name else configured
        if wanted is not None:
            pull(wanted)
        elif not _is_there(settings):  # neither a model to download nor a vector to make
            raise InvalidInput(
                f"{settings.embedder} is not downloaded by scrubjay; name a model that is"
            )
        fetch_reranker(settings)
        if wanted == configured:
            made, left = _embed(settings, args.db)
    return _list(settings, made, left, args.json, screen)


def _pull_reranker(access: Access) -> None:
    from scrubjay.models.registry import load_reranker
    from scrubjay.models.rerank.cross_encoder import OnnxCrossEncoder

    try:
        reranker = load_reranker(access)
    except NotFound as error:
        raise InvalidInput(str(error)) from error
    if not isinstance(reranker, OnnxCrossEncoder):
        raise InvalidInput(f"{access.shown} is not downloaded: it runs elsewhere")
    reranker.load()


def _calibrate(args: Namespace, screen: Screen) -> int:
    """Measure the speed of the configured reranker, which decides how many results a search reranks."""
    with open_store(args.db) as store:
        speed_ms = store.calibrate()
    name = settings_of(args).reranker.shown
    if args.json:
        out(dumps({"reranker": name, "ms_per_1000_chars": round(speed_ms, 3)}))
    else:
        out(f"{one_line(name)} reads 1,000 characters in {speed_ms:.1f} ms")
        out(screen.dim("stored: every search reranks as many results as fit its time limit"))
    return 0


def _embed(settings: Settings, db: str | None) -> tuple[int, int]:
    if not _is_there(settings):
        return 0, 0
    with open_store(db) as store:
        before = store.status()
        left = embed_pending(store, settings)
    return max(before.pending + before.failed - left, 0), left


def _is_there(settings: Settings) -> bool:
    try:
        check_exists(settings)
    except NotFound:
        return False
    return True


def _is_card(name: str) -> bool:
    """True for a built-in model, with or without its precision; others with a slash are of the hub."""
    from scrubjay.models.registry import CARDS

    return name.partition("/")[0] in CARDS


def _card(name: str) -> ModelCard:
    from scrubjay.models.registry import CARDS

    if not _is_card(name):
        raise InvalidInput(f"there is no model {name!r}; the models are: {', '.join(CARDS)}")
    return CARDS[name.partition("/")[0]]


def _list(settings: Settings, made: int, left: int, as_json: bool, screen: Screen) -> int:
    from scrubjay.models.registry import known_models

    known = known_models()
    chosen = card_of(settings)
    if as_json:
        shapes = [_shape(state, configured=state.card == chosen) for state in known]
        helpers = {"reranker": settings.reranker.shown, "generator": settings.generator.shown}
        out(dumps({"models": shapes, **helpers, "made": made, "pending": left}))
        return 0
    rows = [
        (
            "*" if state.card == chosen else " ",
            state.card.name,
            "here" if state.cached else "not here",
            size(state.card.size),
            f"{state.card.dims} dims, {state.card.window} tokens, {state.card.licence}",
            one_line(str(state.path))
            if state.cached
            else f"scrubjay models pull {state.card.name}",
        )
        for state in known
    ]
    out("\n".join(table(rows)))
    out(screen.dim("* is configured"))
    out(f"reranker   {one_line(settings.reranker.shown)}")
    out(f"generator  {one_line(settings.generator.shown)}")
    if made:
        out(f"made {plural(made, 'vector')} in {one_line(settings.db)}")
    return 0


def _shape(state: ModelState, *, configured: bool) -> Json:
    card = state.card
    return {
        "name": card.name,
        "configured": configured,
        "cached": state.cached,
        "path": str(state.path),
        "dims": card.dims,
        "window": card.window,
        "size_bytes": card.size,
        "licence": card.licence,
    }
