"""What was done, and how the store is, in few words for the model that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrubjay.surfaces.mcp.phrases import count_of, ids_of, lines_of, one_line

if TYPE_CHECKING:
    from scrubjay.surfaces.render.json import Json
    from scrubjay.surfaces.verbs import Given

_COUNTED = {
    "memories": "memory",
    "documents": "document",
    "messages": "message",
    "sessions": "session",
    "links": "link",
    "feedback": "feedback",
}


def stored(answer: Json, _: Given) -> str:
    """Say under which ids something is kept, what was known, and how it can be found by now."""
    several = answer.get("memories") or answer.get("messages") or [answer["memory"]]
    known = answer.get("known", ())
    ids = list(dict.fromkeys(one["id"] for one in several))
    new = [one for one in ids if one not in known]
    lines = [f"Stored {ids_of(new)}; {_found(answer)}."] if new else []
    if known:
        kept = ids_of([one for one in ids if one in known])
        lines.append(
            f"Known already, and kept once: {kept}. What was new about it was added; {_found(answer)}."
        )
    return lines_of(*lines, *map(one_line, answer.get("warnings", ())))


def changed(answer: Json, _: Given) -> str:
    """Say what was changed, and how it can be found by now."""
    return f"Changed {ids_of([answer['memory']['id']])}; {_found(answer)}."


def _found(answer: Json) -> str:
    """Say how what was written can be found by now, and why not by meaning where that is so."""
    if answer.get("embedded"):
        return "found by word and by meaning"
    if "pending" not in answer:
        return "found by word; no model is used here"
    if "why_pending" in answer:
        return f"found by word, and not yet by meaning: {one_line(answer['why_pending'])}"
    return "found by word, and by meaning in a moment"


def forgotten(answer: Json, _: Given) -> str:
    """Say what is gone, and what was not there."""
    gone = answer.get("matched", [])
    lines = [f"Forgotten for good: {ids_of(gone)}." if gone else "Nothing was forgotten."]
    if answer.get("facts"):
        lines.append(f"With them went facts that nothing else said: {ids_of(answer['facts'])}.")
    if answer.get("missing"):
        lines.append(f"Not there: {ids_of(answer['missing'])}.")
    return lines_of(*lines)


def feedback(answer: Json, _: Given) -> str:
    """Say what was noted."""
    return f"Noted: {answer['done']}."


def status(answer: Json, _: Given) -> str:
    """Say how much is stored, with what model, and what is not well."""
    counts = ", ".join(
        count_of(answer[many], one, many) for many, one in _COUNTED.items() if answer.get(many)
    )
    lines = [f"{counts or 'Nothing is stored yet'}. Model: {answer.get('model') or 'none'}."]
    if answer.get("pending") or answer.get("failed"):
        lines.append(
            f"Vectors pending: {answer.get('pending', 0)}, failed: {answer.get('failed', 0)}."
        )
    if "why_pending" in answer:
        lines.append(f"They wait: {one_line(answer['why_pending'])}.")
    lines += [one_line(why) for why in answer.get("failures", ())]
    lines += [
        one_line(
            f"{one['tier']} at {one['place']}: {one['behind']} behind {one.get('reason', '')}"
        )
        for one in answer.get("servers", ())
    ]
    return lines_of(*lines)
