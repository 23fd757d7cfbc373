"""What those who do not run a server are told of it."""

from __future__ import annotations

from scrubjay.errors import InvalidInput, NotFound, StoreError, Unavailable
from scrubjay.surfaces.render.redaction import NEEDS_ADMIN, SEE_LOG, error_message, redact

STATUS = {
    "path": "postgres://ann@db.internal/notes",
    "memories": 3,
    "failures": ["http://10.0.0.5:8080 does not answer"],
    "extraction": {"failures": {"10.0.0.5 is gone": 2, "so is 10.0.0.6": 1}},
    "servers": [
        {
            "tier": "vectors",
            "place": "qdrant://10.0.0.7:6333/notes",
            "behind": 1,
            "reason": "gone",
        },
        {"tier": "graph", "place": "falkordb://10.0.0.8:6379/g", "behind": 0, "reason": ""},
    ],
}


def test_of_servers_their_kind_is_told_and_that_there_is_a_reason():
    """And nothing of what was given is changed."""
    told = redact(STATUS, "status", is_admin=False)

    assert told["path"] == "postgres"
    assert [one["place"] for one in told["servers"]] == ["qdrant", "falkordb"]
    assert [one["reason"] for one in told["servers"]] == [NEEDS_ADMIN, ""]
    assert told["failures"] == [NEEDS_ADMIN]
    assert told["extraction"]["failures"] == {NEEDS_ADMIN: 3}
    assert told["memories"] == 3
    assert not any(one in repr(told) for one in ("10.0.0", "internal", "ann"))
    assert redact(STATUS, "status", is_admin=True) is STATUS
    assert STATUS["path"] == "postgres://ann@db.internal/notes"


def test_what_is_stored_is_not_touched():
    """A memory may have a place, and a reason; only answers about the store itself are looked at."""
    memory = {"memories": [{"metadata": {"path": "attic/box", "reason": "because"}}]}
    assert redact(memory, "memories", is_admin=False) == memory


def test_an_error_says_what_was_wrong_with_the_question_to_anybody():
    """What the store says is for those who run it."""
    for error in (InvalidInput("give a number"), NotFound("there is no x")):
        assert error_message(error, is_admin=False) == str(error)
    for error in (StoreError("/var/a.db is gone"), Unavailable("10.0.0.5 is gone")):
        assert error_message(error, is_admin=True) == str(error)
        assert (
            error_message(error, is_admin=False)
            == f"the store cannot be read or written now; {SEE_LOG}"
        )
