"""What each verb answers, by value, on a real store; every answer fits its committed schema."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from fakes import HashingEmbedder
from verb_answers import check_answer

import scrubjay
from scrubjay.errors import InvalidInput, NotFound, Unavailable
from scrubjay.surfaces.verbs.table import VERBS, ask

Ask = Callable[..., Any]


def asking(store: scrubjay.Store) -> Ask:
    def run(name: str, /, **given: Any) -> Any:
        answer = ask(store, VERBS[name], given)
        check_answer(VERBS[name], answer)
        return answer

    return run


@pytest.fixture
def told(words_only) -> Ask:
    """A store with two memories, asked as over a wire."""
    run = asking(words_only)
    run("add", content="The kettle whistles", id="kettle", tags=["kitchen"])
    run("add", text="The teapot is cracked", id="teapot", type="task", links=["kettle"])
    return run


def ids(answer: Any) -> list[str]:
    return [one["id"] for one in answer["memories"]]


def test_add_answers_with_what_is_stored(told):
    memory = told("get", memory_id="teapot")["memories"][0]

    assert (memory["text"], memory["type"]) == ("The teapot is cracked", "task")
    assert memory["links"] == [{"to": "kettle", "strength": 1.0, "kind": "related"}]


def test_without_a_model_nothing_is_said_to_be_embedded(told):
    """Nor is anything pending: nobody is going to make a vector."""
    answer = told("add", text="A spoon")

    assert (answer["stored"], answer["embedded"], answer["pending"]) == (True, False, None)


def test_add_does_not_wait_for_vectors(tmp_path):
    """It answers while the model is at work, and says that the vector is still owed."""
    go_on = threading.Event()

    class Slow(HashingEmbedder):
        def embed(self, texts, *, as_query=False):
            assert go_on.wait(60)
            return super().embed(texts, as_query=as_query)

    with scrubjay.open(tmp_path / "slow.db", embedder=Slow()) as store:
        run = asking(store)
        first = run("add", text="The kettle whistles")
        assert (first["embedded"], first["pending"]) == (False, 1)
        go_on.set()
        assert run("pending", timeout_s=60) == {"pending": 0}
        again = run("add", text="The kettle whistles")
        assert (again["embedded"], again["pending"]) == (True, 0)


def test_many_are_stored_in_order_or_none_is(told):
    answer = told("add_many", entries=[{"text": "One"}, {"content": "Two", "id": "two"}])
    assert [one["text"] for one in answer["memories"]] == ["One", "Two"]

    with pytest.raises(InvalidInput, match=r"memories\[1\]: text is 5"):
        told("add_many", memories=[{"text": "Three"}, {"text": 5}])
    assert told("search", query="Three", mode="keyword")["hits"] == []


def test_search_is_the_search_of_the_library(told, words_only):
    answer = told("search", q="kettle", explain=True)
    found = words_only.search("kettle")

    assert [(one["id"], one["score"]) for one in answer["hits"]] == [
        (one.id, one.score) for one in found
    ]
    assert [one["stage"] for one in answer["trace"]] == [one.stage for one in found.trace]
    assert "trace" not in told("search", query="kettle")


def test_a_wrong_profile_is_wrong_input(told):
    """Nothing that was asked for is missing: a name is misspelt."""
    for name in ("search", "context"):
        with pytest.raises(InvalidInput, match="nope"):
            told(name, query="kettle", profile="nope")
    with pytest.raises(InvalidInput, match="nope"):
        told("weights", profile="nope")


def test_get_says_what_is_missing(told):
    assert ids(told("get_many", ids=["teapot", "nothing", "kettle"])) == ["teapot", "kettle"]
    assert told("get_many", ids="nothing")["missing"] == ["nothing"]
    with pytest.raises(NotFound, match="nothing"):
        told("get", id="nothing")


def test_ls_has_pages_and_filters(told):
    assert ids(told("ls", topic="kitchen")) == ["kettle"]
    everything = ids(told("ls"))
    assert sorted(everything) == ["kettle", "teapot"]
    assert ids(told("ls", limit=1, offset=1)) == everything[1:]


def test_update_changes_what_is_given(told):
    """Null is nothing given, an empty text takes a field away."""
    told("update", id="kettle", title="Kettle", domain="home", valid_until="2027-01-01")
    answer = told("update", id="kettle", domain="", valid_until="", title=None, topics=["tea"])

    memory = answer["memory"]
    assert (memory["title"], memory["domain"], memory["valid_until"]) == ("Kettle", None, None)
    assert memory["topics"] == ["tea"]
    for wrong in ({}, {"type": ""}, {"text": ""}, {"text": None}):
        with pytest.raises(InvalidInput):
            told("update", id="kettle", **wrong)


def test_forget_names_what_is_not_there(told):
    answer = told("forget", id=["teapot", "nothing", "teapot"])

    assert answer == {
        "forgotten": 1,
        "matched": ["teapot"],
        "facts": [],
        "missing": ["nothing"],
        "done": True,
    }
    assert told("forget", memory_id="kettle")["forgotten"] == 1
    assert ids(told("ls")) == []
    again = told("forget", id="kettle")
    assert (again["forgotten"], again["missing"]) == (0, ["kettle"])


def test_done_and_undone_are_marked_and_kept(told):
    assert told("done", id="teapot")["changed"] == ["teapot"]
    assert told("done", id="teapot")["changed"] == []
    assert told("undone", id="teapot")["memories"][0]["type"] == "task"
    versions = told("history", id="teapot")["versions"]
    assert [(one["what"], one["changed"]) for one in versions] == [
        ("undone", {"type": "task"}),
        ("done", {"type": "task_done"}),
        ("created", {}),
    ]
    assert told("get", id="teapot")["history"] == {}
    assert told("get", id="teapot", history=True)["history"] == {"teapot": versions}


def test_undo_takes_the_last_change_back(told):
    """And says which fields that changed back."""
    told("update", id="kettle", text="The kettle is cold", title="Kettle")
    undone = told("undo", id="kettle")
    assert undone["changed"] == ["text", "title"]
    assert undone["memory"]["text"] == told("get", id="kettle")["memories"][0]["text"]
    assert undone["memory"]["title"] == ""
    with pytest.raises(NotFound, match="no change to undo"):
        told("undo", id="kettle")
    with pytest.raises(NotFound):
        told("undo", id="nothing-there")


def test_links_are_made_walked_and_taken_away(told):
    told("unlink", a="kettle", b="teapot")
    assert told("neighbors", id="kettle")["neighbors"] == []
    assert told("link", **{"from": "kettle", "to": "teapot"}, strength=0.5, kind="near") == {
        "id": "kettle",
        "other": "teapot",
        "done": "linked",
        "neighbors": [],
    }
    assert told("neighbors", id="teapot", depth=2)["neighbors"] == [
        {"id": "kettle", "score": 0.5, "depth": 1, "kinds": ["near"]}
    ]


def test_messages_are_kept_in_their_sessions(told):
    one = told("add_message", text="Tea?", session_id="monday", at="2026-05-03T08:00")
    more = told(
        "add_messages",
        messages=[{"role": "assistant", "content": "Yes"}, {"role": "user", "text": "Good"}],
        session="monday",
    )
    assert [one["role"] for one in (*one["messages"], *more["messages"])] == [
        "user",
        "assistant",
        "user",
    ]
    assert told("sessions")["sessions"][0]["messages"] == 3
    middle = more["messages"][0]["id"]
    assert [one["text"] for one in told("around", id=middle, turns=1)["memories"]] == [
        "Tea?",
        "Yes",
        "Good",
    ]
    with pytest.raises(InvalidInput, match="message 2"):
        told("add_messages", session="x", messages=[{"text": "a"}, {"text": "b", "rle": "user"}])


def test_feedback_is_given_listed_and_taken_back(told):
    assert told("feedback", query="tea", id="kettle", action="accepted")["done"] == "accepted"
    told("feedback", query="cups", id="teapot", action="dismissed")
    assert [one["query"] for one in told("feedbacks")["feedback"]] == ["cups", "tea"]
    assert told("undo_feedback")["feedback"][0]["query"] == "cups"
    weights = told("weights", profile="vault")
    assert (weights["accepted"], weights["dismissed"], weights["frozen"]) == (1, 0, False)
    assert told("freeze_weights")["done"] == "frozen"
    assert told("weights", profile="vault")["frozen"] is True
    assert told("thaw_weights")["done"] == "thawed"
    assert told("reset_feedback")["count"] == 1


def test_collections_are_made_shared_and_removed(told):
    assert told("create_collection", name="crew")["collections"][0]["name"] == "crew"
    assert told("share", name="crew", user="ann", role="owner")["members"] == {"ann": "owner"}
    assert told("share", name="crew", user="ben")["members"]["ben"] == "reader"
    assert told("unshare", name="crew", user="ben")["members"] == {"ann": "owner"}
    copy = told("publish", id="kettle", name="crew")["copy"]
    assert (copy["text"], copy["collection"]) == ("The kettle whistles", "crew")
    assert told("members", collection="crew")["members"] == {"ann": "owner"}
    assert told("unpublish", id="kettle", name="crew")["copy"] is None
    renamed = told("rename_collection", name="crew", new_name="team")
    assert [one["name"] for one in renamed["collections"]] == ["team"]
    told("publish", id="teapot", name="team")
    removed = told("remove_collection", name="team")
    assert (removed["done"], removed["memories"], removed["collections"]) == ("removed", 1, [])
    assert told("collections")["collections"] == []


def test_topics_are_listed_and_renamed(told):
    assert told("topics")["topics"] == [{"topic": "kitchen", "memories": 1}]
    renamed = told("rename_topic", old="kitchen", new="cooking")
    assert (renamed["topics"], renamed["memories"]) == ([{"topic": "cooking", "memories": 1}], 1)


def test_what_expires_is_listed(told):
    told("update", id="kettle", valid_until="2026-05-10")
    told("update", id="teapot", valid_until="2026-05-01")
    assert ids(told("expiring", within="2w")) == ["kettle"]
    assert ids(told("expiring", expired=True)) == ["teapot"]


def test_the_store_says_how_it_is(told, words_only):
    status = told("status")
    assert (status["memories"], status["links"], status["model"]) == (2, 1, None)
    assert told("pending", wait=False) == {"pending": 0}
    assert told("servers") == {"servers": []}
    assert [one["path"] for one in told("tiers")["tiers"]] == [words_only.path]
    told("search", query="kettle", profile="novamem")
    assert told("hits")["searches"] == 1
    assert told("reindex", what="words")["done"] == ["words"]
    assert told("coverage")["counts"] == {"indexed": 0, "skipped": 0, "failed": 0}
    assert told("landscape", tokens=100)["memories"] == 2
    profile = told("profiles", name="default", overrides={"rrf": {"k": 30}})["profiles"][0]
    assert [one["numbers"]["k"] for one in profile["stages"] if one["name"] == "rrf"] == [30]
    assert len(told("profiles")["profiles"]) > 5
    with pytest.raises(Unavailable):
        told("extract")


def test_context_is_what_fits_on_a_question(told):
    """The best first, with their ids, in the budget, and how many were left out is said."""
    told("add_many", memories=[{"text": f"The kettle number {n} whistles" * 4} for n in range(20)])
    answer = told("context", question="kettle", tokens=200)

    assert answer["question"] == "kettle"
    assert 0 < answer["token_estimate"] <= 200
    assert len(answer["text"]) <= 800
    assert answer["text"].count("<recalled ") == len(answer["ids"]) > 1
    hits = told("search", query="kettle", limit=10)["hits"]
    assert answer["ids"] == [one["id"] for one in hits][: len(answer["ids"])]
    assert answer["left_out"] == 10 - len(answer["ids"])
    assert answer["confidence"] is not None
    assert any("embedder" in why for why in answer["degraded"])


def test_context_without_a_question_is_the_landscape(told):
    told("add", text="Likes green tea", type="preference", id="tea")
    answer = told("context", tokens=300)

    assert answer["text"] == told("landscape", tokens=300)["text"]
    assert (answer["question"], answer["ids"]) == (None, ["tea", "teapot"])
    with pytest.raises(InvalidInput, match="question"):
        told("context", topics=["kitchen"])


def test_a_person_sees_only_what_is_theirs(tmp_path):
    """Complaint 28: the verbs ask the store of one person, and have no way around it."""
    with scrubjay.open(tmp_path / "two.db", embedder=False, user="ann") as anns:
        kept = asking(anns)("add", text="Ann's secret")["memory"]["id"]
    with scrubjay.open(tmp_path / "two.db", embedder=False, user="ben") as bens:
        run = asking(bens)
        assert run("search", query="secret", namespace="user/ann")["hits"] == []
        assert run("get_many", ids=[kept])["missing"] == [kept]
        assert run("forget", id=kept)["missing"] == [kept]
        for name in ("get", "history", "neighbors", "around", "done"):
            with pytest.raises(NotFound):
                run(name, id=kept)
        with pytest.raises((NotFound, InvalidInput)):
            run("add", text="Mine now", id=kept)


# What the shell prints with --json, and what the verb answers.
SAME = [
    (["get", "kettle"], "get", {"id": "kettle"}),
    (["ls"], "ls", {}),
    (["topics"], "topics", {}),
    (["link", "--show", "kettle"], "neighbors", {"id": "kettle"}),
    (["landscape"], "landscape", {}),
    (["landscape", "kettle"], "context", {"question": "kettle"}),
    (["sessions"], "sessions", {}),
    (["collections"], "collections", {}),
    (["weights", "--profile", "vault"], "weights", {"profile": "vault"}),
    (["profiles", "gno"], "profiles", {"name": "gno"}),
    (["expiring"], "expiring", {}),
    (["feedback", "list"], "feedbacks", {}),
    (["ls", "--coverage"], "coverage", {}),
    (["tiers"], "tiers", {}),
    (["hits"], "hits", {}),
    (["done", "teapot"], "done", {"id": "teapot"}),
]


@pytest.mark.parametrize(("words", "name", "given"), SAME, ids=[" ".join(one[0]) for one in SAME])
def test_a_verb_answers_as_the_shell_prints(tmp_path, capsys, monkeypatch, words, name, given):
    from scrubjay.surfaces.cli import main

    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    path = str(tmp_path / "same.db")
    with scrubjay.open(path) as store:
        store.add("The kettle whistles", id="kettle", topics=["kitchen"])
        store.add("The teapot is cracked", id="teapot", type="task_done", links=["kettle"])
        store.add_message("Tea?", session="monday")
    capsys.readouterr()
    main([*words, "--json", "--db", path])
    printed = json.loads(capsys.readouterr().out)
    with scrubjay.open(path) as store:
        assert asking(store)(name, **given) == printed


def test_a_map_and_where_a_query_lands(memory):
    """By the names that people know, and without the points where a page has them."""
    run = asking(memory)
    run("add", text="The kettle whistles", id="kettle", topics=["kitchen"])
    run("add", text="A rocket", id="rocket", type="task")
    run("pending")
    whole = run("map", q="kettle")

    assert [(one["id"], one["type"], one["topic"]) for one in whole["points"]] == [
        ("kettle", "fact", "kitchen"),
        ("rocket", "task", None),
    ]
    assert whole["landing"]["nearest"][0] == "kettle"
    assert whole["kept"] is None
    short = run("map", query="kettle", points=False)
    assert (short["points"], short["state"]) == ([], whole["state"])
    assert short["landing"] == whole["landing"]
    assert len(run("map", type="task", top_k=1)["points"]) == 1


def test_a_map_needs_a_model(told):
    with pytest.raises(Unavailable, match="no map"):
        told("map")


def test_the_graph_around_a_memory(told):
    answer = told("surroundings", memory_id="kettle", hops=2)

    assert [(one["id"], one["depth"]) for one in answer["nodes"]] == [("kettle", 0), ("teapot", 1)]
    assert answer["edges"] == [
        {"a": "teapot", "b": "kettle", "kind": "related", "strength": 1.0, "made": "hand"}
    ]
    with pytest.raises(NotFound):
        told("surroundings", id="nowhere")


def test_doctor_examines_the_store_that_is_open(told, words_only):
    """In the shape of the shell's, of this store and no other."""
    answer = told("doctor")
    found = {one["component"]: one for one in answer["findings"]}

    assert answer["ok"] is True
    assert words_only.path in found["store"]["detail"]
    assert found["integrity"]["state"] == found["python"]["state"] == "ok"
    assert found["model"]["state"] == "degraded"
