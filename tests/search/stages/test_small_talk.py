"""Small talk in a search, with the real model: it is found, below what says something."""

from __future__ import annotations

import pytest

import scrubjay

TALK = ("Nice to meet you!", "Noted.", "haha ok, thanks!", "Got it 👍", "Danke dir!", "Alles klar")
SAID = (
    "I met Ann at the climbing hall in May.",
    "The port of the database is 5433.",
    "Our bakery orders go through Meister Lenz.",
    "The note about the boiler is in the blue folder.",
    "Noted: the gate code is 7714",
    "Anna bedankt sich mit Kuchen.",
)
MODES = ("default", "fast", "thorough")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A conversation, half of it small talk, embedded by the model of the package."""
    path = tmp_path_factory.mktemp("talk") / "notes.db"
    with scrubjay.open(path) as store:
        for number, (said, talk) in enumerate(zip(SAID, TALK, strict=True)):
            store.add_message(said, session=f"s{number}")
            store.add_message(talk, session=f"s{number}", role="assistant")
        store.add("Thanks", title="Name of the song at the end")
        store.pending(wait=True)
        yield store


def texts(found):
    return [hit.text for hit in found]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "query",
    ["who did I meet?", "what was noted about the gate?", "who gets thanks?", "is it ok to call?"],
)
def test_small_talk_ranks_below_what_says_something(told, query, mode):
    """The best hits are of another kind, and `why` adds up."""
    found = told.search(query, mode=mode, limit=20)

    ranks = [text in TALK for text in texts(found)]
    assert found.hits
    assert not ranks[0]
    for hit in found:
        assert ("small_talk" in hit.why) is (hit.text in TALK)
        assert sum(hit.why.values()) == pytest.approx(hit.score, abs=1e-6)


def test_without_the_stage_small_talk_comes_first(told):
    """The reason for the stage: "who did I meet" is nearest to a greeting."""
    query = "nice to meet everyone, who was it that I did meet?"
    off = told.search(query, overrides={"small_talk": False}, limit=20)
    on = told.search(query, limit=20)

    assert texts(off)[0] == "Nice to meet you!"
    assert texts(on)[0] == "I met Ann at the climbing hall in May."
    assert set(texts(on)) == set(texts(off))


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("noted", "Noted."),
        ("got it", "Got it 👍"),
        ("nice to meet you", "Nice to meet you!"),
        ('who said "nice to meet you"?', "Nice to meet you!"),
        ("Danke dir", "Danke dir!"),
    ],
)
def test_a_query_that_is_small_talk_or_quotes_it_finds_it(told, query, first):
    """Nothing is taken from what was asked for."""
    found = told.search(query)

    assert first in texts(found)[:2]
    assert not any("small_talk" in hit.why for hit in found if hit.text == first)


def test_a_title_makes_a_short_text_content(told):
    """Only the text alone, and no title, can be small talk."""
    hit = told.search("which song at the end?")[0]

    assert hit.text == "Thanks"
    assert "small_talk" not in hit.why


def test_the_share_is_a_number_of_the_profile_and_is_explained(told):
    """`--set small_talk.share=0.5` takes half."""
    query = "what was noted about the gate?"
    whole = {hit.id: hit for hit in told.search(query, overrides={"small_talk": False}, limit=20)}
    half = told.search(query, overrides={"small_talk.share": 0.5}, limit=20)

    lowered = [hit for hit in half if "small_talk" in hit.why]
    assert lowered
    for hit in lowered:
        assert hit.score == pytest.approx(whole[hit.id].score / 2, abs=1e-6)
        part = next(one for one in half.explain(hit).parts if one.name == "small_talk")
        assert part.working == (f"-0.5 × {whole[hit.id].score:.6f}",)
    with pytest.raises(scrubjay.InvalidInput, match="share"):
        told.search(query, overrides={"small_talk.share": 2})


def test_a_postgres_store_knows_its_short_texts(postgres_url):
    """The same SQL: short texts without a title."""
    with scrubjay.open(postgres_url, embedder=False) as store:
        store.add_many(
            [
                {"text": "thanks!", "id": "talk"},
                {"text": "thanks go to Ann", "id": "said"},
                {"text": "thanks", "title": "A song", "id": "titled"},
                {"text": f"thanks {'for the cake ' * 9}", "id": "long"},
            ]
        )
        found = store.search("who gets thanks")

    assert {hit.id for hit in found} == {"talk", "said", "titled", "long"}
    assert [hit.id for hit in found if "small_talk" in hit.why] == ["talk"]
    assert found[-1].id == "talk"
