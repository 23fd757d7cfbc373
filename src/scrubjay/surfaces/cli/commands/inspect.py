"""`status` and `doctor`: what is stored, what works, and what to type where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.errors import InvalidInput
from scrubjay.runtime.command_hints import to_fetch, to_type
from scrubjay.surfaces.cli.session import open_store, settings_of
from scrubjay.surfaces.cli.waiting import unlinked, untold
from scrubjay.surfaces.render import results as render
from scrubjay.surfaces.render.json import dumps, plain
from scrubjay.surfaces.render.layout import indent, pad, width
from scrubjay.surfaces.render.terminal import one_line, out

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping

    from scrubjay.ops.doctor import Finding
    from scrubjay.surfaces.render.terminal import Screen
    from scrubjay.types.reports import ServerState, ShortVectors, Status

_MARKS = {"ok": "✓", "missing": "·", "degraded": "!", "failed": "✗"}


def status(args: Namespace, screen: Screen) -> int:
    """Show the counts, the models, what is pending and how large the store is."""
    with open_store(args.db, args.user) as store:
        state = store.status()
    out(dumps(plain(state)) if args.json else _status(state, screen, args.db))
    return 0


def doctor(args: Namespace, screen: Screen) -> int:
    """Examine every part; fails where a part failed, not where one is merely missing."""
    from scrubjay.ops.doctor.run import examine, unreadable
    from scrubjay.surfaces.render.json_lists import findings as shape

    try:
        findings = examine(settings_of(args))
    except InvalidInput as error:
        findings = [unreadable(error)]
    failed = any(one.state == "failed" for one in findings)
    if args.json:
        out(dumps(shape(findings)))
    else:
        out(_findings(findings, screen))
    return int(failed)


def _status(state: Status, screen: Screen, db: str | None) -> str:
    rows = [
        ("store", f"{one_line(state.path)} ({render.size(state.size_bytes)})"),
        (
            "memories",
            f"{state.memories:,} ({render.plural(state.documents, 'document')},"
            f" {render.plural(state.chunks, 'chunk')})",
        ),
        (
            "messages",
            f"{state.messages:,} in {render.plural(state.sessions, 'session')}"
            if state.messages
            else "",
        ),
        ("types", _counted(state.types)),
        ("namespaces", _counted(state.namespaces)),
        ("collections", _counted(state.collections)),
        ("links", f"{state.links:,}"),
        ("feedback", f"{state.feedback:,}"),
        ("model", one_line(state.model or "none: search by word only")),
        ("reranker", one_line(state.reranker or "none")),
        ("generator", one_line(state.generator or "none")),
        ("vectors", _counted(state.models)),
        *(("short", _short(*one)) for one in state.short_vectors.items()),
        (
            "pending",
            f"{state.pending:,}" + (f"; {_makes_them(state, db)}" if state.pending else ""),
        ),
        *(("server", _server(one)) for one in state.servers),
        ("failed", f"{state.failed:,}"),
        (
            "unlinked",
            unlinked(state, db) if state.unlinked else "",
        ),
        ("extraction", _extraction(state, db)),
        (
            "hits",
            f"{_counted(state.hits)} in {render.plural(state.searches, 'search')}"
            if state.searches
            else "",
        ),
    ]
    lines = [
        f"{screen.bold(name)}  {text}"
        for name, text in ((pad(name, 11), text) for name, text in rows if text)
    ]
    lines += [screen.yellow(indent(one_line(why), screen.width, 2)) for why in state.failures]
    return "\n".join(lines)


def _makes_them(state: Status, db: str | None) -> str:
    """Say which command makes the vectors, and before that, what they wait for."""
    if not state.why_pending:
        return f"makes them: {to_type('models pull', db)}"
    why = one_line(state.why_pending)
    # The reason has a command for the usual store; of another one, the command names it.
    return f"{why.partition('; fetch it with: ')[0]}; makes them: {to_fetch(db)}"


def _server(one: ServerState) -> str:
    if not one.behind:
        return f"{one.tier} at {one_line(one.place)}, which knows everything"
    return untold(one)


def _short(model: str, short: ShortVectors) -> str:
    """Say how good the short vectors of a model are, or why there are none."""
    if short.recall is None:
        return f"{one_line(model)}: none, {one_line(short.why_not)}"
    return (
        f"{one_line(model)}: {short.short_dims} of {short.dims} numbers, shortlist"
        f" {short.shortlist}, recall {short.recall:.3f} in {short.trials} trials, fitted on"
        f" {short.fitted_on:,} vectors" + (f"; {short.why_not}" if short.why_not else "")
    )


def _extraction(state: Status, db: str | None) -> str:
    """Say what a language model still has to read; nothing where there is no model, or no message."""
    its = state.extraction
    if its.model is None or not state.types.get("message"):
        return ""
    waiting = f"; reads them: {to_type('extract', db)}" if its.waiting else ""
    why = ", ".join(f"{count:,} {one_line(reason)}" for reason, count in its.failures.items())
    failed = f"; {its.failed:,} failed and stay as they were said: {why}" if its.failed else ""
    failed += f"; tries them again: {to_type('extract --retry', db)}" if its.failed else ""
    wait = "waits" if its.waiting == 1 else "wait"
    messages = render.plural(its.waiting, "message")
    return f"{messages} {wait} for {one_line(its.model)}{waiting}{failed}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(name)} {count:,}" for name, count in counts.items())


def _findings(findings: list[Finding], screen: Screen) -> str:
    paint = {"ok": screen.green, "degraded": screen.yellow, "failed": screen.red}
    column = max(width(one.component) for one in findings)
    lines = []
    for one in findings:
        mark = paint.get(one.state, screen.dim)(f"{_MARKS[one.state]} {pad(one.state, 8)}")
        lines.append(f"{mark}  {screen.bold(pad(one.component, column))}  {one_line(one.detail)}")
        if one.fix:
            lines.append(f"{' ' * (column + 14)}fix: {one.fix}")
    counts = [(state, sum(one.state == state for one in findings)) for state in _MARKS]
    summary = ", ".join(f"{count} {state}" for state, count in counts if count)
    return "\n".join((*lines, screen.dim(summary)))
