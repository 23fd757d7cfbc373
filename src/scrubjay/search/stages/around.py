"""What was said around a message that was found: a short turn is understood by its neighbours."""

from __future__ import annotations

from scrubjay.errors import InvalidInput
from scrubjay.search.pipeline import Run, stage
from scrubjay.text.snippets import preview
from scrubjay.types import Candidate, Memory

_ITSELF = "…"


@stage
def around(run: Run, *, turns: int = 1) -> Run:
    """Show, with each short message that was found, so many turns before it and after it.

    They become its context, a line each, as `role: text`; the line “…” stands for the message itself.
    """
    if turns < 1:
        raise InvalidInput(f"around.turns is {turns}; it must be 1 or more")
    records = run.kit.records
    if records is None:
        return run
    most_chars = records.short_turn_chars
    short = [one.id for one in run.pool if one.memory and _is_short(one.memory, most_chars)]
    # A turn may lack a word that was asked for; every other filter binds it.
    scope = run.query.shown._replace(holds=(), lacks=())
    said = records.around(short, turns, scope) if short else {}
    if not said:
        return run

    def told(one: Candidate) -> Candidate:
        if one.memory is None or one.id not in said:
            return one
        before, after = ([_line(turn, most_chars) for turn in side] for side in said[one.id])
        if not before and not after:
            return one
        lines = filter(None, (one.memory.context, *before, _ITSELF, *after))
        return one._replace(memory=one.memory._replace(context="\n".join(lines)))

    return run._replace(pool=tuple(map(told, run.pool))).noting(told=len(said))


def _is_short(memory: Memory, most_chars: int) -> bool:
    return memory.type == "message" and len(memory.text) <= most_chars


def _line(turn: Memory, most_chars: int) -> str:
    """Return a turn as one line, no longer than what is read of it with its neighbour."""
    text = " ".join(turn.text.split())
    shown = preview(text, most_chars)
    cut = "" if shown == text else " …"
    return f"{turn.role or 'somebody'}: {shown}{cut}"
