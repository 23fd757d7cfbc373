"""Text of the verbs that a command runs directly: one function for each verb, named like it.

Each takes the result, the arguments of the command, the screen and the store, and prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scrubjay.store import Store
from scrubjay.surfaces.render import facts
from scrubjay.surfaces.render import memories as memory_lists
from scrubjay.surfaces.render.layout import bar, cut, pad, table, width
from scrubjay.surfaces.render.results import plural
from scrubjay.surfaces.render.terminal import Screen, err, one_line, out, path_line
from scrubjay.types import Memories

if TYPE_CHECKING:
    from argparse import Namespace

    from scrubjay.surfaces.verbs.feedback import Feedback
    from scrubjay.surfaces.verbs.share import Collections, Members, Published, Topics
    from scrubjay.types.reports import Collection, FeedbackGiven, Hits, Learned, Session, Status

_COLLECTION_HEAD = ("name", "memories", "documents", "last indexed", "folders", "members")
_QUERY_COLUMNS = 10  # at least
_WIDE = 80
_MOST_HOURS = 24
_CELLS = 24


def with_head(rows: Sequence[tuple[str, ...]], screen: Screen) -> str:
    head, *lines = table(rows)
    return "\n".join((screen.bold(head), *lines))


def status(state: Status, args: Namespace, screen: Screen, store: Store) -> None:
    from scrubjay.surfaces.render.reports import status_text

    out(status_text(state, screen, args.db))


def sessions(found: list[Session], args: Namespace, screen: Screen, store: Store) -> None:
    if not found:
        out("No session matches; this begins one: scrubjay say TEXT --session NAME")
        return
    now = facts.here()
    rows: list[tuple[str, ...]] = [("session", "messages", "first", "last", "owner", "agent")]
    for session in found:
        times = [
            f"{facts.stamp(at, now)}, {facts.age(at, now)}"
            for at in (session.first_at, session.last_at)
        ]
        people = [one_line(", ".join(names)) for names in (session.owners, session.agents)]
        rows.append((one_line(session.session), f"{session.messages:,}", *times, *people))
    out(with_head(rows, screen))


def expiring(found: Memories, args: Namespace, screen: Screen, store: Store) -> None:
    if found:
        out(memory_lists.memories(found, screen, ends=True))
        out(screen.dim("to extend one: scrubjay update ID --valid-until DATE"))
    elif args.expired:
        out("No memory has expired.")
    else:
        out(f"Nothing expires within {args.within or '30d'}.")


def topics(result: Topics, args: Namespace, screen: Screen, store: Store) -> None:
    if not result.topics:
        out("There is no topic yet; this adds one: scrubjay add TEXT --topic TOPIC")
        return
    rows = ((one_line(topic), f"{count:,}") for topic, count in result.topics.items())
    out(with_head([("topic", "memories"), *rows], screen))


def rename_topic(result: Topics, args: Namespace, screen: Screen, store: Store) -> None:
    _renamed(args.old, args.new, result.memories, screen)


def _renamed(old: str, new: str, memories: int, screen: Screen) -> None:
    names = f"{one_line(old)} to {one_line(new)}"
    out(f"{screen.green('renamed')} {names}  {screen.dim(plural(memories, 'memory'))}")


def collections(result: Collections, args: Namespace, screen: Screen, store: Store) -> None:
    if result.collections:
        head, *lines = collection_rows(result.collections)
        out("\n".join((screen.bold(head), *lines)))
    else:
        out("There is no collection yet; this creates one: scrubjay ingest PATH")
        out("and this creates one to share: scrubjay collections create NAME")


def collection_rows(known: Sequence[Collection]) -> list[str]:
    """Return the lines of a table of collections; the members only if one is shared."""
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
    return table([row if shared else row[:-1] for row in (_COLLECTION_HEAD, *rows)])


def create_collection(result: Collections, args: Namespace, screen: Screen, store: Store) -> None:
    from shlex import quote

    name = args.name.strip()
    out(f"{screen.green('created')} {one_line(name)}")
    out(screen.dim(f"invite people with: scrubjay share {quote(name)} NAME"))


def rename_collection(result: Collections, args: Namespace, screen: Screen, store: Store) -> None:
    _renamed(args.name, args.new_name, result.memories, screen)


def remove_collection(result: Collections, args: Namespace, screen: Screen, store: Store) -> None:
    note = screen.dim("the files themselves are kept")
    out(f"{screen.green('removed')} {plural(result.memories, 'memory')}  {note}")


def members(result: Members, args: Namespace, screen: Screen, store: Store) -> None:
    if result.done != "listed":
        out(f"{screen.green(result.done)} {one_line(result.collection)}")
    rows = ((one_line(person), role) for person, role in result.members.items())
    out(with_head([("person", "role"), *rows], screen))


share = unshare = members


def publish(result: Published, args: Namespace, screen: Screen, store: Store) -> None:
    name = one_line(result.collection)
    if result.copy is None:
        out(f"{screen.green('unpublished')} {result.id} from {name}")
    else:
        out(f"{screen.green('published')} {result.id} in {name}")
        out(memory_lists.memories([result.copy], screen))


unpublish = publish


def feedback(result: Feedback, args: Namespace, screen: Screen, store: Store) -> None:
    out(f"{screen.green(result.done)} {one_line(args.id)}")


def feedbacks(result: Feedback, args: Namespace, screen: Screen, store: Store) -> None:
    listed = result.feedback
    if not listed:
        out('There is no feedback yet; this adds one: scrubjay feedback accepted ID --query "…"')
        return
    several = any(one.tier for one in listed)
    titles = ("number", *(("tier",) if several else ()), "when", "action", "memory")
    # Without the time of day there is more room for the query.
    when = "%Y-%m-%d" if screen.width < _WIDE else "%Y-%m-%d %H:%M"
    rows = table([(*titles, ""), *((*_feedback_row(one, several, when), "") for one in listed)])
    column = max(map(width, rows)) + 2
    room = max(screen.width - column, _QUERY_COLUMNS)
    queries = ("query", *(cut(one_line(one.query), room) for one in listed))
    head, *lines = (pad(row, column) + query for row, query in zip(rows, queries, strict=True))
    out("\n".join((screen.bold(head), *lines)))


def _feedback_row(one: FeedbackGiven, several: bool, when: str) -> tuple[str, ...]:
    tier = (one_line(one.tier or ""),) if several else ()
    return (str(one.number), *tier, one.at.strftime(when), one.action, one_line(one.id))


def undo_feedback(result: Feedback, args: Namespace, screen: Screen, store: Store) -> None:
    (gone,) = result.feedback
    out(f"{screen.green('removed')} {gone.number}: {gone.action} {one_line(gone.id)}")


def reset_feedback(result: Feedback, args: Namespace, screen: Screen, store: Store) -> None:
    text = f"{screen.green('removed')} {plural(result.total, 'feedback')}"
    tiers = {tier.name: tier for tier in store.tiers()}
    if len(tiers) > 1:
        this = args.tier or next(tier.name for tier in tiers.values() if tier.own)
        others = ", ".join(f"--of {one_line(name)}" for name in tiers if name != this)
        text += f" of tier {one_line(this)}, {one_line(tiers[this].path)}; others: {others}"
    out(text)


def freeze_weights(result: Feedback, args: Namespace, screen: Screen, store: Store) -> None:
    out(f"{screen.green(result.done)}: {result.note}")


thaw_weights = freeze_weights


def weights(learned: Learned, args: Namespace, screen: Screen, store: Store) -> None:
    if learned.weights:
        rows = [
            (name, f"{weight:.3f}", f"{learned.base[name]:.3f}")
            for name, weight in learned.weights.items()
        ]
        out(with_head([("weight", "now", "before learning"), *rows], screen))
    else:
        out(f"The profile {learned.profile} has no weights.")
    out(_learned_from(learned))
    for why in learned.unasked:
        err(f"scrubjay: not counted: {one_line(why)}")


def _learned_from(learned: Learned) -> str:
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


def hits(counted: Hits, args: Namespace, screen: Screen, store: Store) -> None:
    if not counted.searches:
        out("No search was counted; only profile novamem counts: query TEXT --profile novamem")
        return
    most = max(counted.tiers.values(), default=0) or 1
    chart: list[tuple[Any, ...]] = [
        (one_line(source), f"{count:,}", bar(count / most, _CELLS))
        for source, count in counted.tiers.items()
    ]
    title = screen.bold(f"{plural(counted.searches, 'search')}, results by source")
    out("\n".join((title, *table(chart), "")))
    now, sources = facts.here(), list(counted.tiers)
    rows = [("hour", "searches", *map(one_line, sources))]
    for hour in counted.hours[-_MOST_HOURS:]:
        counts = (f"{hour.tiers.get(source, 0):,}" for source in sources)
        rows.append((facts.stamp(hour.at, now), f"{hour.searches:,}", *counts))
    out(with_head(rows, screen))
    if (more := len(counted.hours) - _MOST_HOURS) > 0:
        out(screen.dim(f"… and {more:,} hours before; --json has all"))
