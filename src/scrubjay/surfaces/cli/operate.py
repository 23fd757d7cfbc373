"""`doctor`, `verify`, `tiers`, `profiles` and `models`; the first three need no store that can be opened."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from scrubjay.config import Access, Settings
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.models.bundled import (
    ENCODER,
    LICENCE,
    RANKER,
    RANKER_WINDOW,
    BundledCard,
    BundledModel,
    find_bundled,
    how_to_install,
    not_installed,
)
from scrubjay.models.download.pull import ModelCard
from scrubjay.models.registry import CARDS, known_models, load_embedder, load_reranker
from scrubjay.models.registry import card_of as card_named
from scrubjay.runtime.command_hints import to_type
from scrubjay.runtime.progress import ProgressBar
from scrubjay.store import Store
from scrubjay.surfaces.cli import common
from scrubjay.surfaces.cli.common import FAILED, settings_of
from scrubjay.surfaces.cli.vectors import (
    card_of,
    embed_pending,
    fetch_model,
    fetch_multilingual,
    fetch_reranker,
    has_chosen,
    is_bundled,
)
from scrubjay.surfaces.render import json as shapes
from scrubjay.surfaces.render.facts import plural, size
from scrubjay.surfaces.render.layout import indent, table
from scrubjay.surfaces.render.reports import (
    change_text,
    findings_text,
    pruned_text,
    repairs_text,
    verified_text,
    with_head,
)
from scrubjay.surfaces.render.terminal import Screen, one_line, out
from scrubjay.surfaces.verbs.operate import tiers_json


def doctor(args: Namespace, screen: Screen) -> int:
    """Check every part; fail if one failed, not if one is merely missing."""
    from scrubjay.ops.doctor.repair import repair
    from scrubjay.ops.doctor.run import examine, unreadable

    repairs = None
    try:
        settings = settings_of(args)
        if args.dry_run and not args.repair:
            raise InvalidInput("--dry-run goes with --repair: it shows what a repair would do")
        if args.repair:
            repairs = repair(settings, dry_run=args.dry_run)
        findings = examine(settings)
    except InvalidInput as error:
        findings = [unreadable(error)]
    shape = shapes.findings(findings, repairs)
    if args.json:
        out(shapes.dumps(shape))
    else:
        if repairs:
            out(f"{repairs_text(repairs, screen)}\n")
        out(findings_text(findings, screen))
    return int(not shape["ok"])


def verify(args: Namespace, screen: Screen) -> int:
    """Check the whole store; fail if anything is wrong."""
    from scrubjay.ops.repair.run import verify_store

    settings = settings_of(args)
    with ProgressBar("verifying") as bar:
        found = verify_store(settings, bar)
    if args.json:
        shape: dict[str, Any] = shapes.plain(found)
        out(shapes.dumps({"ok": not found.problems, **shape}))
    else:
        out(verified_text(found, screen, to_type("doctor --repair", settings.db_given)))
    return FAILED if found.problems else 0


def tiers(args: Namespace, screen: Screen) -> int:
    tiers = common.tier_states(args.db, args.user, args.tiers)
    if args.json:
        out(shapes.dumps(tiers_json(tiers)))
        return 0
    rows = [("tier", "weight", "memories", "file")]
    for tier in tiers:
        count = "–" if tier.memories is None else f"{tier.memories:,}"
        mark = "  (written to)" if tier.own and tier.state == "open" else ""
        rows.append((one_line(tier.name), f"{tier.weight:g}", count, one_line(tier.path) + mark))
    out(with_head(rows, screen))
    for tier in tiers:
        if tier.reason:
            why = one_line(f"{tier.name} is {tier.state}: {tier.reason}")
            out(screen.yellow(indent(why, screen.width, 0)))
    return 0


def profiles(args: Namespace, screen: Screen) -> int:
    from scrubjay.search.profiles import get, names

    if args.name is None and args.sets:
        raise InvalidInput("--set changes one profile: scrubjay profiles NAME --set rrf.k=30")
    if args.name is None:
        known = [get(name) for name in names()]
    else:
        known = [common.profile_of(args.name, common.parse_overrides(args.sets))]
    if args.json:
        out(shapes.dumps(shapes.profiles(known)))
    elif args.name is not None:
        (chosen,) = known
        stages = "\n".join(indent(str(part), screen.width, 2) for part in chosen.stages)
        out(f"{screen.bold(chosen.name)}  {one_line(chosen.summary)}\n{stages}")
        if chosen.settings:
            out(screen.dim("settings by name, for --set as well:"))
            out("\n".join(table([("", *setting) for setting in chosen.settings.items()])))
    else:
        configured = settings_of(args).profile
        rows = [
            ("*" if profile.name == configured else " ", profile.name, one_line(profile.summary))
            for profile in known
        ]
        hint = screen.dim("* is configured; stages and numbers of one: scrubjay profiles NAME")
        out("\n".join((*table(rows), hint)))
    return 0


def models(args: Namespace, screen: Screen) -> int:
    from scrubjay.ops.doctor.model_of_store import with_model_of_store

    settings = with_model_of_store(settings_of(args))
    made = left = 0
    if args.action == "calibrate":
        return _calibrate(args, screen)
    if args.action in ("use", "prune"):
        return _change_model(args, screen)
    if args.wait:
        raise InvalidInput("--wait goes with use: it builds the index of the new model now")
    if args.action == "pull" and _is_of_the_hub(args.name) and args.name != settings.embedder:
        _pull_from_hub(settings.reranker._replace(spec=args.name))
    elif args.action == "pull":
        made, left = _pull(args, settings)
    return _list(settings, made, left, args.json, screen)


def _pull(args: Namespace, settings: Settings) -> tuple[int, int]:
    """Download a model; return how many vectors were made with it, and how many are left."""
    from scrubjay.models.download.pull import USE_MULTILINGUAL, pull

    if not args.name and _is_there(settings):
        with common.open_store(args.db) as store:
            if has_chosen(store):
                return _embed_all(store, settings)
    configured = card_of(settings)
    wanted = card_named(args.name) if args.name else configured
    if args.name == USE_MULTILINGUAL.name:
        pull(USE_MULTILINGUAL)
        return 0, 0
    if is_bundled(args.name or settings.embedder):
        _check_installed(args.name or settings.embedder)
        if args.name and args.name != settings.embedder:
            return 0, 0
    elif args.name and wanted is None and args.name != settings.embedder:
        names = ", ".join((ENCODER.name, RANKER, *CARDS, USE_MULTILINGUAL.name))
        raise InvalidInput(
            f"there is no model {args.name!r}; the models are: {names}, and those of the"
            " model hub (owner/name)"
        )
    if wanted is not None:
        pull(wanted)
    elif why := fetch_model(settings):
        raise Unavailable(why)
    elif not _has_work(settings):
        # Neither a model to download nor a vector to make.
        raise InvalidInput(
            f"{settings.embedder} is not downloaded by scrubjay; name a model that is"
        )
    fetch_reranker(settings)
    if not args.name:
        fetch_multilingual(settings)
    if wanted != configured or not _is_there(settings):
        return 0, 0
    with common.open_store(args.db) as store:
        return _embed_all(store, settings)


def _has_work(settings: Settings) -> bool:
    """True when the model is here or was fetched, or there may be vectors to make with it."""
    name = settings.embedder
    return is_bundled(name) or _is_of_the_hub(name) or _is_there(settings)


def _check_installed(name: str) -> None:
    """Raise Unavailable for a model of scrubjay-models that is not here: it is not downloaded alone."""
    if find_bundled(name.partition("/")[0]) is None:
        raise Unavailable(not_installed(name))


def _embed_all(store: Store, settings: Settings) -> tuple[int, int]:
    before = store.status()
    left = embed_pending(store, settings, further=True)
    return max(before.pending + before.failed - left, 0), left


def _change_model(args: Namespace, screen: Screen) -> int:
    """Change the model of the store, or remove the indexes that are not in use."""
    if args.action == "use" and not args.name:
        raise InvalidInput("name the model: scrubjay models use NAME")
    with common.open_store(args.db) as store:
        if args.action == "prune":
            pruned = store.prune_models(args.name)
            freed = sum(index.size_bytes for index in pruned)
            shape = {"pruned": shapes.plain(pruned), "freed_bytes": freed}
            out(shapes.dumps(shape) if args.json else pruned_text(pruned))
            return 0
        with ProgressBar("embedding") as bar:
            change = store.use_model(args.name, wait=args.wait, progress=bar)
    out(shapes.dumps(shapes.plain(change)) if args.json else change_text(change, screen, args.db))
    return FAILED if args.wait and change.state != "in_use" else 0


def _pull_from_hub(access: Access) -> None:
    """Download a model of the hub and load it once: as a reranker or, if it is none, as an embedder."""
    from scrubjay.models.rerank.cross_encoder import OnnxCrossEncoder
    from scrubjay.models.rerank.pairs import NoCrossEncoder

    try:
        reranker = load_reranker(access)
    except NotFound as error:
        raise InvalidInput(str(error)) from error
    if not isinstance(reranker, OnnxCrossEncoder):
        raise InvalidInput(f"{access.shown} is not downloaded: it runs elsewhere")
    try:
        reranker.load()
    except NoCrossEncoder:
        load_embedder(access.spec).embed(["memory"])


def _calibrate(args: Namespace, screen: Screen) -> int:
    """Measure the speed of the configured reranker, which decides how many results a search reranks."""
    with common.open_store(args.db) as store:
        speed_ms = store.calibrate()
    settings = settings_of(args)
    name = settings.reranker.shown if settings.reranker_named else RANKER
    if args.json:
        out(shapes.dumps({"reranker": name, "ms_per_1000_chars": round(speed_ms, 3)}))
    else:
        out(f"{one_line(name)} reads 1,000 characters in {speed_ms:.1f} ms")
        out(screen.dim("stored: every search reranks as many results as fit its time limit"))
    return 0


def _is_there(settings: Settings) -> bool:
    try:
        common.check_exists(settings)
    except NotFound:
        return False
    return True


def _is_of_the_hub(name: str | None) -> bool:
    """True for `owner/name`; a built-in model may have its precision after a slash."""
    plain = card_named(str(name)) is not None or is_bundled(str(name))
    return bool(name) and "/" in str(name) and not plain


def _list(settings: Settings, made: int, left: int, as_json: bool, screen: Screen) -> int:
    known = known_models()
    chosen: ModelCard | BundledCard | None = card_of(settings)
    if settings.embedder in (ENCODER.name, ENCODER.index):
        chosen = ENCODER
    ranker, reranker = find_bundled(RANKER), settings.reranker.shown
    if as_json:
        listed: list[dict[str, Any]] = [
            {
                "name": state.card.name,
                "configured": state.card == chosen,
                "cached": state.cached,
                "path": str(state.path),
                "dims": state.card.dims,
                "window": state.card.window,
                "size_bytes": state.size,
                "licence": state.card.licence,
            }
            for state in known
        ]
        helpers = {"reranker": reranker, "generator": settings.generator.shown}
        out(shapes.dumps({"models": listed, **helpers, "made": made, "pending": left}))
        return 0
    rows = [
        (
            "*" if state.card == chosen else " ",
            state.card.name,
            "here" if state.cached else "not here",
            size(state.size) if state.size else "–",
            f"{state.card.dims} dims, {state.card.window} tokens, {state.card.licence}",
            one_line(str(state.path) if state.cached else _how_to_get(state.card.name)),
        )
        for state in known
    ]
    rows.insert(1, _ranker_row(ranker, is_chosen=reranker == RANKER))
    out("\n".join((*table(rows), screen.dim("* is configured"))))
    if chosen is None:
        out(f"embedder   {one_line(settings.embedder_access.shown)}")
    by_default = (
        "" if settings.reranker_named or ranker is None else f"; {RANKER} for gno and gnosis"
    )
    out(f"reranker   {one_line(reranker)}{by_default}")
    out(f"generator  {one_line(settings.generator.shown)}")
    if made:
        out(f"made {plural(made, 'vector')} in {one_line(settings.db)}")
    return 0


def _how_to_get(name: str) -> str:
    return how_to_install() if is_bundled(name) else f"scrubjay models pull {name}"


def _ranker_row(
    files: BundledModel | None, *, is_chosen: bool
) -> tuple[str, str, str, str, str, str]:
    """Return the row of the bundled reranker, which is no embedder and has no dimensions."""
    mark, about = "*" if is_chosen else " ", f"reranker, {RANKER_WINDOW} tokens, {LICENCE}"
    if files is None:
        return mark, RANKER, "not here", "–", about, how_to_install()
    return mark, RANKER, "here", size(files.size), about, one_line(str(files.graph.parent))
