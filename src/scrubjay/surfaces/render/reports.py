"""Reports as text for a person: results of verbs, the findings of doctor, and work that is waiting.

`cli/verbs.py` calls the function that is named like the verb, with the result, the arguments of the command,
the screen and the store.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from scrubjay.runtime.command_hints import pending_vectors, to_type
from scrubjay.store import Store
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render import memories as memory_lists
from scrubjay.surfaces.render.facts import plural
from scrubjay.surfaces.render.layout import bar, cut, indent, pad, table, width
from scrubjay.surfaces.render.terminal import Screen, err, one_line, path_line
from scrubjay.surfaces.verbs.feedback import Feedback
from scrubjay.surfaces.verbs.read import Versions
from scrubjay.surfaces.verbs.share import Collections, Members, Published, Topics
from scrubjay.types import Memories
from scrubjay.types import reports as types

if TYPE_CHECKING:
    from scrubjay.ops.doctor import Finding, Repair
    from scrubjay.ops.repair import Verified
    from scrubjay.types import changes as change_types

_MOST_IDS = 10
_MARKS = {"ok": "✓", "missing": "·", "degraded": "!", "failed": "✗"}
_COLLECTION_HEAD = ("name", "memories", "documents", "last indexed", "folders", "members")
_TEXT_COLUMNS = 60
_QUERY_COLUMNS = 10  # at least
_WIDE = 80
_MOST_HOURS = 24
_CELLS = 24


def with_head(rows: Sequence[tuple[str, ...]], screen: Screen) -> str:
    head, *lines = table(rows)
    return "\n".join((screen.bold(head), *lines))


def changes(
    found: Sequence[change_types.Change], args: Namespace, screen: Screen, store: Store
) -> str:
    if not found:
        return "No memory was taken to replace another one."
    ids = dict.fromkeys(id_ for change in found for id_ in (change.new, change.old))
    known = {memory.id: memory for memory in store.get_many(ids)}

    def shown(id_: str) -> str:
        memory = known.get(id_)
        text = facts.headline(memory.title, memory.text) if memory else ""
        return f"{one_line(id_)}  {cut(text, _TEXT_COLUMNS)}"

    blocks = []
    for change in found:
        made = f"{change.made_at:%Y-%m-%d %H:%M}" if change.made_at else ""
        how = "by hand" if change.by_hand else f"detected, strength {change.strength:.2f}"
        blocks += [
            screen.dim(" · ".join(filter(None, (made, change.kind, how)))),
            f"  new  {shown(change.new)}",
            f"  old  {shown(change.old)}",
        ]
    return "\n".join(blocks)


def sessions(found: list[types.Session], args: Namespace, screen: Screen, store: Store) -> str:
    if not found:
        return "No session matches; this begins one: scrubjay say TEXT --session NAME"
    now = facts.here()
    rows: list[tuple[str, ...]] = [("session", "messages", "first", "last", "owner", "agent")]
    for session in found:
        moments = (session.first_at, session.last_at)
        times = [f"{facts.stamp(at, now)}, {facts.age(at, now)}" for at in moments]
        people = [one_line(", ".join(names)) for names in (session.owners, session.agents)]
        rows.append((one_line(session.session), f"{session.messages:,}", *times, *people))
    return with_head(rows, screen)


def expiring(found: Memories, args: Namespace, screen: Screen, store: Store) -> str:
    if found:
        hint = screen.dim("to extend one: scrubjay update ID --valid-until DATE")
        return f"{memory_lists.memories(found, screen, ends=True)}\n{hint}"
    if args.expired:
        return "No memory has expired."
    return f"Nothing expires within {args.within or '30d'}."


def topics(result: Topics, args: Namespace, screen: Screen, store: Store) -> str:
    if not result.topics:
        return "There is no topic yet; this adds one: scrubjay add TEXT --topic TOPIC"
    rows = ((one_line(topic), f"{count:,}") for topic, count in result.topics.items())
    return with_head([("topic", "memories"), *rows], screen)


def rename_topic(
    result: Topics | Collections, args: Namespace, screen: Screen, store: Store
) -> str:
    is_topic = isinstance(result, Topics)
    old, new = (args.old, args.new) if is_topic else (args.name, args.new_name)
    names = f"{one_line(old)} to {one_line(new)}"
    return f"{screen.green('renamed')} {names}  {screen.dim(plural(result.memories, 'memory'))}"


def collections(result: Collections, args: Namespace, screen: Screen, store: Store) -> str:
    if result.collections:
        return with_head(collection_rows(result.collections), screen)
    return (
        "There is no collection yet; this creates one: scrubjay ingest PATH\n"
        "and this creates one to share: scrubjay collections create NAME"
    )


def collection_rows(known: Sequence[types.Collection]) -> list[tuple[str, ...]]:
    """Return the rows of a table of collections; the members only if one is shared."""
    now = datetime.now(UTC)
    shared = any(collection.shared for collection in known)
    rows = [
        (
            one_line(collection.name),
            f"{collection.memories:,}",
            f"{collection.documents:,}",
            facts.age(collection.indexed_at, now),
            ", ".join(map(path_line, collection.folders)),
            ", ".join(f"{one_line(who)} ({role})" for who, role in collection.members.items()),
        )
        for collection in known
    ]
    return [row if shared else row[:-1] for row in (_COLLECTION_HEAD, *rows)]


def create_collection(result: Collections, args: Namespace, screen: Screen, store: Store) -> str:
    from shlex import quote

    name = args.name.strip()
    hint = screen.dim(f"invite people with: scrubjay share {quote(name)} NAME")
    return f"{screen.green('created')} {one_line(name)}\n{hint}"


def remove_collection(result: Collections, args: Namespace, screen: Screen, store: Store) -> str:
    note = screen.dim("the files themselves are kept")
    return f"{screen.green('removed')} {plural(result.memories, 'memory')}  {note}"


def members(result: Members, args: Namespace, screen: Screen, store: Store) -> str:
    rows = ((one_line(person), role) for person, role in result.members.items())
    text = with_head([("person", "role"), *rows], screen)
    done = f"{screen.green(result.done)} {one_line(result.collection)}"
    return text if result.done == "listed" else f"{done}\n{text}"


def publish(result: Published, args: Namespace, screen: Screen, store: Store) -> str:
    name = one_line(result.collection)
    if result.copy is None:
        return f"{screen.green('unpublished')} {result.id} from {name}"
    copy = memory_lists.memories([result.copy], screen)
    return f"{screen.green('published')} {result.id} in {name}\n{copy}"


def feedback(result: Feedback, args: Namespace, screen: Screen, store: Store) -> str:
    return f"{screen.green(result.done)} {one_line(args.id)}"


def feedbacks(result: Feedback, args: Namespace, screen: Screen, store: Store) -> str:
    if not result.feedback:
        return 'There is no feedback yet; this adds one: scrubjay feedback accepted ID --query "…"'
    several = any(one.tier for one in result.feedback)
    # Without the time of day there is more room for the query.
    when = "%Y-%m-%d" if screen.width < _WIDE else "%Y-%m-%d %H:%M"
    rows: list[tuple[str, ...]] = [("number", "tier", "when", "action", "memory", "")]
    for one in result.feedback:
        tier, at = one_line(one.tier or ""), one.at.strftime(when)
        rows.append((str(one.number), tier, at, one.action, one_line(one.id), ""))
    lines = table([row if several else (row[0], *row[2:]) for row in rows])
    column = max(map(width, lines)) + 2
    room = max(screen.width - column, _QUERY_COLUMNS)
    queries = ("query", *(cut(one_line(one.query), room) for one in result.feedback))
    head, *below = (pad(line, column) + query for line, query in zip(lines, queries, strict=True))
    return "\n".join((screen.bold(head), *below))


def history(result: Versions, args: Namespace, screen: Screen, store: Store) -> str:
    return memory_lists.versions(result.versions, screen)


def undo_feedback(result: Feedback, args: Namespace, screen: Screen, store: Store) -> str:
    (gone,) = result.feedback
    return f"{screen.green('removed')} {gone.number}: {gone.action} {one_line(gone.id)}"


def reset_feedback(result: Feedback, args: Namespace, screen: Screen, store: Store) -> str:
    text = f"{screen.green('removed')} {plural(result.total, 'feedback')}"
    tiers = {tier.name: tier for tier in store.tiers()}
    if len(tiers) == 1:
        return text
    this = args.tier or next(tier.name for tier in tiers.values() if tier.own)
    others = ", ".join(f"--of {one_line(name)}" for name in tiers if name != this)
    return f"{text} of tier {one_line(this)}, {one_line(tiers[this].path)}; others: {others}"


def freeze_weights(result: Feedback, args: Namespace, screen: Screen, store: Store) -> str:
    return f"{screen.green(result.done)}: {result.note}"


def weights(learned: types.Learned, args: Namespace, screen: Screen, store: Store) -> str:
    for why in learned.unasked:
        err(f"scrubjay: not counted: {one_line(why)}")
    if not learned.weights:
        return f"The profile {learned.profile} has no weights.\n{_learned_from(learned)}"
    rows = [
        (name, f"{weight:.3f}", f"{learned.base[name]:.3f}")
        for name, weight in learned.weights.items()
    ]
    text = with_head([("weight", "now", "before learning"), *rows], screen)
    return f"{text}\n{_learned_from(learned)}"


def _learned_from(learned: types.Learned) -> str:
    if learned.needed is None:
        return f"profile {learned.profile}, which does not learn from feedback"
    given = learned.accepted + learned.modified + learned.dismissed
    rate = "" if learned.rate is None else f" · rate {learned.rate:.3f}"
    text = (
        f"profile {learned.profile} · {learned.accepted} accepted, {learned.modified} modified,"
        f" {learned.dismissed} dismissed{rate} · shift {learned.shift:+.3f}"
    )
    if learned.frozen:
        return f"{text}\nfrozen: they stay as they are until `scrubjay feedback thaw`"
    if given < learned.needed:
        more = plural(learned.needed - given, "feedback")
        return f"{text}\n{more} more until the weights move (from {learned.needed} on)"
    return text


def hits(counted: types.Hits, args: Namespace, screen: Screen, store: Store) -> str:
    if not counted.searches:
        return "No search was counted; only profile novamem counts: query TEXT --profile novamem"
    most = max(counted.tiers.values(), default=0) or 1
    chart = [
        (one_line(source), f"{count:,}", bar(count / most, _CELLS))
        for source, count in counted.tiers.items()
    ]
    title = screen.bold(f"{plural(counted.searches, 'search')}, results by source")
    now, sources = facts.here(), list(counted.tiers)
    rows = [("hour", "searches", *map(one_line, sources))]
    for hour in counted.hours[-_MOST_HOURS:]:
        counts = (f"{hour.tiers.get(source, 0):,}" for source in sources)
        rows.append((facts.stamp(hour.at, now), f"{hour.searches:,}", *counts))
    more = len(counted.hours) - _MOST_HOURS
    hint = [screen.dim(f"… and {more:,} hours before; --json has all")] if more > 0 else []
    return "\n".join((title, *table(chart), "", with_head(rows, screen), *hint))


def waiting(state: types.Status, db: str | None) -> Iterator[str]:
    for server in state.servers:
        if server.behind:
            yield f"{behind(server)}; the next command sends them once it answers"
    if state.unlinked:
        yield _unlinked(state, db)


def behind(server: types.ServerState) -> str:
    why = f" ({one_line(server.reason)})" if server.reason else ""
    changes = plural(server.behind, "change")
    return f"{server.tier}: {one_line(server.place)} lacks {changes}{why}"


def _unlinked(state: types.Status, db: str | None) -> str:
    text = f"{plural(state.unlinked, 'memory')} not linked yet"
    if state.pending:
        return f"{text}; links follow the vectors"
    if any(server.tier == "vectors" and server.behind for server in state.servers):
        return f"{text}; links follow when the vector replica has all changes"
    return f"{text}; to link them: {to_type('embed', db)}"


def status(state: types.Status, args: Namespace, screen: Screen, store: Store) -> str:
    messages = f"{state.messages:,} in {plural(state.sessions, 'session')}"
    contents = f"{plural(state.documents, 'document')}, {plural(state.chunks, 'chunk')}"
    searches = f"{_counts(state.hits)} in {plural(state.searches, 'search')}"
    rows = [
        ("store", f"{one_line(state.path)} ({facts.size(state.size_bytes)})"),
        ("memories", f"{state.memories:,} ({contents})"),
        ("messages", messages if state.messages else ""),
        ("types", _counts(state.types)),
        ("namespaces", _counts(state.namespaces)),
        ("collections", _counts(state.collections)),
        ("links", f"{state.links:,}"),
        ("feedback", f"{state.feedback:,}"),
        ("model", _model(state)),
        ("change", _change(state.change, args.db) if state.change else ""),
        ("reranker", one_line(state.reranker or "none")),
        ("generator", one_line(state.generator or "none")),
        ("languages", _languages(state.languages)),
        ("vectors", _counts(state.models)),
        *(("short", _short(*pair)) for pair in state.short_vectors.items()),
        *(("cells", _cells(*pair)) for pair in state.vector_cells.items()),
        ("pending", f"{state.pending:,}{_pending_hint(state, args.db)}"),
        *(("server", _server(server)) for server in state.servers),
        ("failed", f"{state.failed:,}"),
        ("unread", _unread(state, args.db) if state.failed_files else ""),
        ("unlinked", _unlinked(state, args.db) if state.unlinked else ""),
        ("changes", _uncompared(state)),
        ("extraction", _extraction(state, args.db)),
        ("hits", searches if state.searches else ""),
    ]
    lines = [f"{screen.bold(pad(name, 11))}  {text}" for name, text in rows if text]
    lines += [screen.yellow(indent(one_line(why), screen.width, 2)) for why in state.failures]
    return "\n".join(lines)


def _uncompared(state: types.Status) -> str:
    """Say how many memories may still turn out to update others, or why that is not found out."""
    if not state.uncompared:
        return f"not detected: {one_line(state.why_uncompared)}" if state.why_uncompared else ""
    text = f"{plural(state.uncompared, 'memory')} not compared with earlier ones yet"
    return f"{text}: {one_line(state.why_uncompared)}" if state.why_uncompared else text


def _languages(covered: Sequence[str]) -> str:
    return f"by meaning: {', '.join(covered)}; others by their words" if covered else ""


def _model(state: types.Status) -> str:
    if state.settings_model is None:
        return one_line(state.model or "none: keyword search only")
    own = f"{state.model}, chosen by the store; the settings name {state.settings_model}"
    return one_line(own)


def _change(change: types.ModelChange, db: str | None) -> str:
    failed = f", {change.failed:,} failed" if change.failed else ""
    text = (
        f"to {one_line(change.model)}: {change.done:,} of {plural(change.total, 'chunk')}{failed}"
    )
    why = f"; {one_line(change.reason)}" if change.reason else ""
    return f"{text}{why}; to build it now: {to_type('embed', db)}"


def change_text(change: types.ModelChange, screen: Screen, db: str | None) -> str:
    """Say which model a store uses now, or how far the index of the next one is."""
    name = one_line(change.model)
    if change.state == "building":
        until = one_line(change.before or "no model")
        hint = f"every process that has the store open builds it; until then {until} answers"
        return f"changing {_change(change, db)}\n{screen.dim(hint)}"
    if change.before in (None, change.model):
        return f"the store uses {name}"
    kept = f"the index of {one_line(change.before or '')} is kept; to remove it: "
    left = change.total - change.done
    more = f"; {plural(left, 'chunk')} still to embed" if left else ""
    return f"the store uses {name} now{more}\n{screen.dim(kept + to_type('models prune', db))}"


def pruned_text(pruned: Sequence[types.PrunedModel]) -> str:
    if not pruned:
        return "no index is unused"
    return "\n".join(
        f"removed {one_line(index.model)}: {plural(index.vectors, 'vector')},"
        f" {facts.size(index.size_bytes)}"
        for index in pruned
    )


def _pending_hint(state: types.Status, db: str | None) -> str:
    if not state.pending:
        return ""
    if not state.why_pending:
        return f"; {pending_vectors(db)}"
    # The reason names a command for the default store; this one names the right store.
    why = one_line(state.why_pending).partition("; fetch it with: ")[0]
    return f"; {why}; {pending_vectors(db, model_is_here=False)}"


def _unread(state: types.Status, db: str | None) -> str:
    files = plural(state.failed_files, "file")
    return (
        f"{files} could not be read; to list them: {to_type('ls --coverage --state failed', db)}"
    )


def _server(server: types.ServerState) -> str:
    if server.dropped:
        refill = f"to fill it again, run: scrubjay reindex {server.tier}"
        return f"{server.tier} at {one_line(server.place)}, dropped; {refill}"
    if server.behind:
        return behind(server)
    return f"{server.tier} at {one_line(server.place)}, up to date"


def _short(model: str, short: types.ShortVectors) -> str:
    if short.recall is None:
        return f"{one_line(model)}: none, {one_line(short.why_not)}"
    return (
        f"{one_line(model)}: {short.short_dims} of {short.dims} numbers, shortlist"
        f" {short.shortlist}, recall {short.recall:.3f} in {short.trials} trials, fitted on"
        f" {short.fitted_on:,} vectors" + (f"; {short.why_not}" if short.why_not else "")
    )


def _cells(model: str, its: types.VectorCells) -> str:
    cache = f"cache of {facts.size(its.cache_bytes)} with {its.vectors:,} vectors"
    if not its.probed:
        return f"{one_line(model)}: none, all vectors are compared; {cache}"
    return (
        f"{one_line(model)}: the nearest {its.probed:,} of {its.cells:,} are compared, recall"
        f" {its.recall:.3f} in {its.trials} trials; {cache}"
    )


def _extraction(state: types.Status, db: str | None) -> str:
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


def repairs_text(repairs: Sequence[Repair], screen: Screen) -> str:
    paint = {"repaired": screen.green, "failed": screen.red, "planned": screen.yellow}
    column = max(width(repair.component) for repair in repairs)
    return "\n".join(
        f"{paint[repair.state](pad(repair.state, 10))}  {screen.bold(pad(repair.component, column))}"
        f"  {one_line(repair.detail)}"
        for repair in repairs
    )


def verified_text(verified: Verified, screen: Screen, fix: str) -> str:
    """Return what is wrong with a store, the memories concerned, and the command that repairs it."""
    memories = facts.plural(verified.memories, "memory")
    if not verified.problems:
        return f"{screen.green('ok')}  {memories}: {', '.join(verified.checks)}"
    lines = [f"{screen.red('damaged')}  {one_line(verified.path)}  {memories}"]
    column = max(width(problem.check) for problem in verified.problems)
    for problem in verified.problems:
        name = screen.bold(pad(problem.check, column))
        lines.append(f"  {name}  {problem.count:,} {one_line(problem.detail)}")
        if problem.ids:
            shown = ", ".join(map(one_line, problem.ids[:_MOST_IDS]))
            more = " …" if len(problem.ids) > _MOST_IDS else ""
            lines.append(f"  {' ' * column}  {screen.dim(shown + more)}")
        lines.append(f"  {' ' * column}  {screen.dim(f'a repair {problem.repair}')}")
    return "\n".join((*lines, f"to repair: {fix}"))


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
    counts = ((sum(found.state == state for found in findings), state) for state in _MARKS)
    return "\n".join((*lines, screen.dim(facts.counted(counts))))


# Verbs whose results read the same.
rename_collection = rename_topic
share = unshare = members
unpublish = publish
thaw_weights = freeze_weights
