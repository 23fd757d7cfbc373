"""Text of longer reports: the status of a store, the findings of doctor, and work that is waiting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from scrubjay.runtime.command_hints import to_fetch, to_type
from scrubjay.surfaces.render.layout import indent, pad, width
from scrubjay.surfaces.render.results import plural, size
from scrubjay.surfaces.render.terminal import Screen, one_line

if TYPE_CHECKING:
    from scrubjay.ops.doctor import Finding
    from scrubjay.types.reports import ServerState, ShortVectors, Status

_MARKS = {"ok": "✓", "missing": "·", "degraded": "!", "failed": "✗"}


def waiting(state: Status, db: str | None) -> Iterator[str]:
    for server in state.servers:
        if server.behind:
            yield f"{behind(server)}; the next command sends them once it answers"
    if state.unlinked:
        yield unlinked(state, db)


def behind(server: ServerState) -> str:
    why = f" ({one_line(server.reason)})" if server.reason else ""
    changes = plural(server.behind, "change")
    return f"{server.tier}: {one_line(server.place)} lacks {changes}{why}"


def unlinked(state: Status, db: str | None) -> str:
    text = f"{plural(state.unlinked, 'memory')} not linked yet"
    if state.pending:
        return f"{text}; links follow the vectors"
    if any(server.tier == "vectors" and server.behind for server in state.servers):
        return f"{text}; links follow when the vector replica has all changes"
    return f"{text}; to link them: {to_type('models pull', db)}"


def status_text(state: Status, screen: Screen, db: str | None) -> str:
    messages = f"{state.messages:,} in {plural(state.sessions, 'session')}"
    contents = f"{plural(state.documents, 'document')}, {plural(state.chunks, 'chunk')}"
    rows = [
        ("store", f"{one_line(state.path)} ({size(state.size_bytes)})"),
        ("memories", f"{state.memories:,} ({contents})"),
        ("messages", messages if state.messages else ""),
        ("types", _counts(state.types)),
        ("namespaces", _counts(state.namespaces)),
        ("collections", _counts(state.collections)),
        ("links", f"{state.links:,}"),
        ("feedback", f"{state.feedback:,}"),
        ("model", one_line(state.model or "none: keyword search only")),
        ("reranker", one_line(state.reranker or "none")),
        ("generator", one_line(state.generator or "none")),
        ("vectors", _counts(state.models)),
        *(("short", _short(*pair)) for pair in state.short_vectors.items()),
        ("pending", f"{state.pending:,}{_pending_hint(state, db)}"),
        *(("server", _server(server)) for server in state.servers),
        ("failed", f"{state.failed:,}"),
        ("unlinked", unlinked(state, db) if state.unlinked else ""),
        ("extraction", _extraction(state, db)),
        ("hits", f"{_counts(state.hits)} in {plural(state.searches, 'search')}"
         if state.searches else ""),
    ]  # fmt: skip
    lines = [f"{screen.bold(pad(name, 11))}  {text}" for name, text in rows if text]
    lines += [screen.yellow(indent(one_line(why), screen.width, 2)) for why in state.failures]
    return "\n".join(lines)


def _pending_hint(state: Status, db: str | None) -> str:
    if not state.pending:
        return ""
    if not state.why_pending:
        return f"; to make them: {to_type('models pull', db)}"
    # The reason names a command for the default store; this one names the right store.
    why = one_line(state.why_pending).partition("; fetch it with: ")[0]
    return f"; {why}; to make them: {to_fetch(db)}"


def _server(server: ServerState) -> str:
    if server.behind:
        return behind(server)
    return f"{server.tier} at {one_line(server.place)}, up to date"


def _short(model: str, short: ShortVectors) -> str:
    if short.recall is None:
        return f"{one_line(model)}: none, {one_line(short.why_not)}"
    return (
        f"{one_line(model)}: {short.short_dims} of {short.dims} numbers, shortlist"
        f" {short.shortlist}, recall {short.recall:.3f} in {short.trials} trials, fitted on"
        f" {short.fitted_on:,} vectors" + (f"; {short.why_not}" if short.why_not else "")
    )


def _extraction(state: Status, db: str | None) -> str:
    """Return what the language model still has to read; nothing without a model or a message."""
    its = state.extraction
    if its.model is None or not state.types.get("message"):
        return ""
    text = f"{plural(its.waiting, 'message')} waiting for {one_line(its.model)}"
    if its.waiting:
        text += f"; to read them: {to_type('extract', db)}"
    if its.failed:
        why = ", ".join(f"{count:,} {one_line(reason)}" for reason, count in its.failures.items())
        text += f"; {its.failed:,} failed and stay as they were said: {why}"
        text += f"; to retry: {to_type('extract --retry', db)}"
    return text


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(name)} {count:,}" for name, count in counts.items())


def findings_text(findings: Sequence[Finding], screen: Screen) -> str:
    paint = {"ok": screen.green, "degraded": screen.yellow, "failed": screen.red}
    column = max(width(finding.component) for finding in findings)
    lines = []
    for finding in findings:
        state = f"{_MARKS[finding.state]} {pad(finding.state, 8)}"
        mark = paint.get(finding.state, screen.dim)(state)
        name = screen.bold(pad(finding.component, column))
        lines.append(f"{mark}  {name}  {one_line(finding.detail)}")
        if finding.fix:
            lines.append(f"{' ' * (column + 14)}fix: {finding.fix}")
    counts = [(state, sum(found.state == state for found in findings)) for state in _MARKS]
    summary = ", ".join(f"{count} {state}" for state, count in counts if count)
    return "\n".join((*lines, screen.dim(summary)))
