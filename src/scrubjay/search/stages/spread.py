"""One search over all that a person may see: their own memories, and every collection they are in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, stage
from scrubjay.types import DEFAULT_NAMESPACE, RankedList, Row


@stage
def namespaces(run: Run, *, most: int = 50) -> Run:
    """Note which namespaces are searched: those that were named, or all with something to see.

    More than `most` are not listed. Where nothing is stored yet, it is `default`.
    """
    if most < 1:
        raise InvalidInput(f"namespaces.most is {most}; it must be 1 or more")
    asked, records = run.query.scope.namespaces, run.kit.records
    if asked is not None:
        seen = asked
    else:
        seen = () if records is None else tuple(records.namespaces(run.query.scope, most + 1))
        seen = seen or (DEFAULT_NAMESPACE,)
    run = run.noting(namespaces=seen[:most])
    return run.noting(more="not all of them are listed") if len(seen) > most else run


@stage
def fan_out(run: Run, *, times: float = 2) -> Run:
    """Ask each source for `times` as much where collections may hold copies of what is found.

    Copies of one text fold into one row, and the list is cut back to the length that was asked for;
    while copies still take the place of other texts, the source is asked for twice as much again.
    """
    if times < 1:
        raise InvalidInput(f"fan_out.times is {times}; it must be 1 or more")
    spanned = tuple(run.kit.copies.spanned(run.query.scope)) if run.kit.copies else ()
    if not spanned:
        return run
    return run._replace(query=run.query._replace(fetch=times)).noting(collections=spanned)


def different(run: Run, ask: Callable[[int], RankedList], depth: int) -> RankedList:
    """Return so many rows of different texts; `ask` gives as many rows as it is told."""
    copies, most = run.kit.copies, ceil(depth * run.query.fetch)
    if copies is None or run.query.fetch <= 1:
        return ask(depth)
    while True:
        found = ask(most)
        stand_ins = copies.stand_ins([row.id for row in found.rows], run.query.scope)
        rows = folded(found.rows, stand_ins)
        if len(rows) >= depth or len(found.rows) < most:
            return found._replace(rows=rows[:depth])
        most *= 2


def folded(rows: tuple[Row, ...], stand_ins: Mapping[str, Row]) -> tuple[Row, ...]:
    """Keep one row a text: that of the memory which stands for all its copies, or the place of the first.

    A memory that is in the list keeps its own place there, so that copies change nothing in the order.
    """
    listed = {row.id for row in rows}
    kept: dict[str, Row] = {}
    for row in rows:
        stands = stand_ins.get(row.id)
        if stands is None or stands.id == row.id:
            kept[row.id] = row
        elif stands.id not in listed and stands.id not in kept:
            # The passage is the same: so is the text.
            kept[stands.id] = row._replace(id=stands.id, updated_us=stands.updated_us)
    return tuple(kept.values())
