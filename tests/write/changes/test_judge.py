"""Judge of changes: plain notes of the kind that people and agents write every day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from scrubjay.models import Passage, Relation
from scrubjay.types import Memory
from scrubjay.write.changes import judge
from scrubjay.write.changes.detection import LEAST

JANUARY, MARCH = datetime(2026, 1, 3, tzinfo=UTC), datetime(2026, 3, 3, tzinfo=UTC)
UNSURE = Relation(0.25, 0.05, 0.2, 0.1, 0.4)
UPDATES = [
    ("Anna lives in Berlin", "Anna moved to Porto last week"),
    ("Anna lives in Berlin", "Anna lives in Porto now"),
    ("I live in Berlin", "We moved to Porto last week"),
    ("Standup is at 9:30", "Standup moves to 10"),
    ("The CEO is Maria Lopez", "Tom Wieland took over as CEO"),
    ("Alice likes tea", "Alice prefers coffee now"),
    ("The API rate limit is 100 a minute", "The API rate limit is 250 a minute"),
    ("Meeting is on Tuesday at 3pm", "Meeting moved to Wednesday at 4pm"),
    ("My phone number is 555-1234", "My new number is 555-9876"),
    ("We deploy on Fridays", "We deploy on Tuesdays now"),
    ("The project uses MySQL", "The project switched to PostgreSQL"),
    ("Wir nutzen Postgres 15", "Seit gestern läuft Postgres 17"),
]
OTHERS = [
    ("Anna lives in Berlin", "This week Anna works from Madrid"),
    ("Anna lives in Berlin", "Anna is thinking about moving to Porto"),
    ("The API of billing listens on port 80", "The API of search listens on port 81"),
    ("Ben lives in Rome", "Anna moved to Porto"),
    ("We deploy on Fridays", "This Friday there is no deployment"),
    ("Standup is at 9:30", "Standup was short today"),
    ("Prefers dark mode", "Asked about dark mode in the meeting"),
]


def pair(old, new):
    return judge.Pair(
        Memory(old, id=old, created_at=JANUARY), Memory(new, id=new, created_at=MARCH)
    )


def strength(reader, old, new):
    one = pair(old, new)
    said = reader.relations([tuple(Passage(note.text, note.created_at) for note in one)])
    [found] = judge.strengths([one], said)
    return found


@pytest.mark.parametrize(("old", "new"), UPDATES)
def test_a_plain_update_is_linked(reader, old, new):
    assert strength(reader, old, new) >= LEAST


@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_a_passing_state_a_plan_and_another_entity_are_not(reader, old, new):
    assert strength(reader, old, new) < LEAST


def test_of_two_older_memories_the_one_that_shares_more_is_updated():
    staging = pair("Staging listens on 5432", "Staging now listens on 5433")
    checkout = pair("Checkout listens on 6000", "Staging now listens on 5433")
    alone, beside = (
        judge.strengths(pairs, [UNSURE] * len(pairs))[-1]
        for pairs in ([checkout], [staging, checkout])
    )
    assert beside < alone


@pytest.mark.parametrize(
    ("plain", "signed"),
    [
        ("The office is in Leipzig", "The office is in Leipzig until Friday"),
        ("Ben works at Globex", "Ben might work at Globex"),
        ("Ben works at Globex", "This week Ben works at Globex"),
    ],
)
def test_words_of_passing_states_and_plans_speak_against_an_update(plain, signed):
    """Whatever the reader says."""
    old = "The office is in Hamburg" if "office" in plain else "Ben works at Acme"
    [first] = judge.strengths([pair(old, plain)], [UNSURE])
    [second] = judge.strengths([pair(old, signed)], [UNSURE])
    assert second < first


def test_words_of_change_speak_for_an_update():
    [plain] = judge.strengths([pair("Ben works at Acme", "Ben works at Globex")], [UNSURE])
    [now] = judge.strengths([pair("Ben works at Acme", "Ben works at Globex now")], [UNSURE])
    assert now > plain


def test_without_pairs_there_is_nothing_to_judge():
    assert judge.strengths([], []) == []
