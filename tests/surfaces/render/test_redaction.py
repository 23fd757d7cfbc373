"""What those who do not run a server are told of it."""

from __future__ import annotations

from scrubjay.errors import InvalidInput, NotFound, StoreError, Unavailable
from scrubjay.surfaces.render.redaction import ADMINS_KNOW, LOG_SAYS, said_of, shown

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
    told = shown(STATUS, "status", told_all=False)

    assert told["path"] == "postgres"
    assert [one["place"] for one in told["servers"]] == ["qdrant", "falkordb"]
    assert [one["reason"] for one in told["servers"]] == [ADMINS_KNOW, ""]
    assert told["failures"] == [ADMINS_KNOW]
    assert told["extraction"]["failures"] == {ADMINS_KNOW: 3}
    assert told["memories"] == 3
    assert not any(one in repr(told) for one in ("10.0.0", "internal", "ann"))
    assert shown(STATUS, "status", told_all=True) is STATUS
    assert STATUS["path"] == "postgres://ann@db.internal/notes"


def test_what_is_stored_is_not_touched():
    """A memory may have a place, and a reason; only answers about the store itself are looked at."""
    memory = {"memories": [{"metadata": {"path": "attic/box", "reason": "because"}}]}
    assert shown(memory, "memories", told_all=False) == memory


def test_an_error_says_what_was_wrong_with_the_question_to_anybody():
    """What the store says is for those who run it."""
    for error in (InvalidInput("give a number"), NotFound("there is no x")):
        assert said_of(error, told_all=False) == str(error)
    for error in (StoreError("/var/a.db is gone"), Unavailable("10.0.0.5 is gone")):
        assert said_of(error, told_all=True) == str(error)
        assert (
            said_of(error, told_all=False)
            == f"the store cannot be read or written now; {LOG_SAYS}"
        )
