"""Three people of the boathouse on one file: each with memories of their own, and what they share."""

from __future__ import annotations

import json

import pytest
from clocks import NOON
from places import DATA

import scrubjay
from scrubjay.models.registry import DEFAULT, load_embedder

pytestmark = pytest.mark.model

FILE = DATA / "workshop.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
# The first half year, and everything that is shared.
STORY = {row["id"]: row for row in ROWS[:130] + [row for row in ROWS if row.get("shared")]}
PEOPLE = {"nadia": "owner", "jonas": "writer", "priya": "writer"}
QUESTIONS = (
    "who is the harbour master?",
    "harper",
    "where does the booking database run?",
    "which postgres host is for reporting?",
    "how do guests start the electric boat?",
    "what did we decide about payments?",
    "life jackets by weight",
    "opening hours of the season",
    "insurance policy of the boats",
)


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """Everybody writes down their own; what the team should know is published in `boathouse`."""
    folder = tmp_path_factory.mktemp("team")
    model = load_embedder(DEFAULT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCRUBJAY_HOME", str(folder / "home"))
        stores = {
            who: scrubjay.open(
                folder / "team.db",
                user=who,
                profile="gnosis",
                embedder=model,
                generator=False,
                clock=lambda: NOON,
            )
            for who in (*PEOPLE, "stranger")
        }
        nadia = stores["nadia"]
        nadia.create_collection("boathouse")
        for who, role in PEOPLE.items():
            nadia.share("boathouse", who, role)
            stores[who].add_many(
                {
                    **{name: row[name] for name in ("id", "type", "topics", "text")},
                    "created_at": row["created"],
                }
                for row in STORY.values()
                if row["by"] == who
            )
        for row in STORY.values():
            if row.get("shared"):
                stores[row["by"]].publish(row["id"], "boathouse")
        assert nadia.pending(wait=True) == 0
        yield stores
        for store in stores.values():
            store.close()


def may_read(who):
    return {row["text"] for row in STORY.values() if row["by"] == who or row.get("shared")}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("mode", ["standard", "deep"])
def test_each_finds_their_own_and_what_is_shared_and_nothing_else(team, question, mode):
    """GS-5, GS-6: every hit is theirs to read, and none is there twice."""
    if mode == "deep" and question == "harper":
        question = "harper harbour"
    for who in PEOPLE:
        found = team[who].search(question, mode=mode)
        texts = [hit.text for hit in found]
        assert texts
        assert set(texts) <= may_read(who)
        assert len(texts) == len(set(texts))
        # One's own copy stands for the one in the collection.
        own = {row["text"]: id_ for id_, row in STORY.items() if row["by"] == who}
        assert all(hit.id == own[hit.text] for hit in found if hit.text in own)
    assert len(team["stranger"].search(question, mode=mode)) == 0


def test_what_one_knows_and_publishes_the_others_find(team):
    """GS-5: Priya wrote down which server is which; Jonas asks."""
    question, right = "read-only replica for the monthly figures", STORY["fact-pg-report"]["text"]
    asked = team["jonas"].search(question, types=["fact"])[0]
    known = team["priya"].search(question, types=["fact"])[0]

    assert (asked.text, asked.collection) == (right, "boathouse")
    assert asked.namespace == "collection:boathouse"
    assert (known.id, known.collection) == ("fact-pg-report", None)


def test_what_one_keeps_stays_with_them(team):
    """GS-5: everybody knows who Harper is, only Nadia has the number."""
    number = STORY["fact-harper-phone"]["text"]

    assert number in [hit.text for hit in team["nadia"].search("harper")]
    for who in ("jonas", "priya"):
        texts = [hit.text for hit in team[who].search("harper")]
        assert STORY["fact-harper-role"]["text"] in texts
        assert number not in texts


def test_the_same_candidates_are_weighed_with_and_without_the_collection(team):
    """GS-6: Nadia's own texts stand in the same order, whether or not the collection is searched."""
    nadia = team["nadia"]
    mine = {row["text"] for row in STORY.values() if row["by"] == "nadia"}
    for question in QUESTIONS:
        alone = nadia.search(question, namespace="user:nadia")
        spread = nadia.search(question)
        both = [hit.id for hit in spread if hit.text in mine]
        assert both == [hit.id for hit in alone if hit.id in set(both)]


def test_the_landscape_is_of_what_one_may_see(team):
    """Counts and topics of one's own and of the collection."""
    jonas = team["jonas"].landscape(tokens=2000)
    shared = sum(bool(row.get("shared")) for row in STORY.values())
    own = sum(row["by"] == "jonas" for row in STORY.values())

    assert jonas.memories == shared + own
    assert "boathouse" in team["nadia"].landscape(tokens=2000).topics
    assert "0172 555 0148" not in jonas.text
    assert team["stranger"].landscape().memories == 0
