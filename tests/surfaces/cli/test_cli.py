"""The shell from end to end: what each command says, does and returns."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import scrubjay
from scrubjay.runtime.command_hints import to_embed, to_fetch
from scrubjay.surfaces import cli
from scrubjay.surfaces.cli.main_help import MAIN_HELP
from scrubjay.surfaces.cli.parser import COMMANDS, help_of, make_main_help

OK, FAILED, USAGE, NOTHING = 0, 1, 2, 3


@pytest.fixture
def stocked(shell):
    """A shell with three memories."""
    for name, text, kind, topic in (
        ("pump-night", "The pump restarts at night when pressure falls.", "fact", "pumps"),
        ("tea", "Prefers green tea in the afternoon.", "preference", "drinks"),
        ("err", "E_CACHE_4417 means two workers warm one shard.", "fact", "errors"),
    ):
        done = shell("add", text, "--id", name, "--type", kind, "--topic", topic)
        assert (done.code, done.err) == (OK, "")
    return shell


# --- adding -----------------------------------------------------------------------------------


def test_add_says_that_a_text_is_stored_and_how_it_is_found(shell):
    """The id is there, and that both ways of finding it work."""
    done = shell("add", "Prefers", "green", "tea", "--id", "tea")
    assert done.code == OK
    assert done.out == "stored tea  found by keyword and by meaning\n"
    assert shell("get", "tea", "--json").json["memories"][0]["text"] == "Prefers green tea"


def test_remember_reads_standard_input_for_a_dash(shell):
    """A text of many lines is stored as it came."""
    done = shell("remember", "-", "--json", stdin="one\n  two\n")
    assert done.json["memory"]["text"] == "one\n  two\n"
    assert done.json["embedded"] is True


def test_add_takes_every_field_it_offers(shell):
    """What is given is what is stored."""
    words = "--title T --type task --topic a --topic b --namespace n --collection c"
    more = "--session s --source http://x --at 2026-05-03"
    memory = shell("add", "text", "--json", *words.split(), *more.split()).json["memory"]
    assert memory["title"] == "T"
    assert memory["type"] == "task"
    assert memory["topics"] == ["a", "b"]
    assert (memory["namespace"], memory["collection"], memory["session"]) == ("n", "c", "s")
    assert memory["source"] == "http://x"
    assert memory["created_at"] == "2026-05-03T00:00:00+00:00"


def test_add_of_a_folder_reads_it_and_says_so(shell, tmp_path):
    """`scrubjay add ./notes` is what a person types first."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Alpha\n\nThe first letter.\n", encoding="utf-8")
    done = shell("add", str(notes))
    assert done.code == OK
    assert "as files" in done.err
    assert "1 new" in done.out
    assert shell("search", "letter", "--json").json["hits"][0]["title"] == "Alpha"


def test_add_with_text_takes_a_path_for_words(shell, tmp_path, monkeypatch):
    """A word that happens to be a file's name can still be remembered."""
    (tmp_path / "README").write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert shell("add", "--text", "README", "--json").json["memory"]["text"] == "README"


def test_words_beside_a_path_are_words(shell, tmp_path, monkeypatch):
    """Only when every argument is there as a file is it read as files."""
    (tmp_path / "README").write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    text = shell("add", "README", "is", "outdated", "--json").json["memory"]["text"]
    assert text == "README is outdated"


def test_no_embed_leaves_the_vectors_and_names_the_command_that_makes_them(shell):
    """The text is found at once."""
    done = shell("add", "The kettle whistles", "--no-embed")
    assert done.code == OK
    assert done.out.endswith("found by keyword and by meaning; better vectors follow\n")
    assert "scrubjay embed" in done.err
    assert shell("status", "--json").json["pending"] == 1
    assert shell("search", "kettle").code == OK


def test_without_a_model_and_network_the_text_is_stored_and_the_line_says_what_to_do(bare_shell):
    """Nothing is lost, and nothing waits for a network that is forbidden."""
    done = bare_shell("add", "The kettle whistles")
    assert done.code == OK
    assert "vectors are pending" in done.err
    assert "SCRUBJAY_OFFLINE" in done.err
    assert f"to make them now: {to_embed(model_is_here=False)}" in done.err
    assert bare_shell("search", "kettle").code == OK
    status = bare_shell("status")
    assert "SCRUBJAY_OFFLINE forbids fetching it" in status.out
    assert f"to make them now: {to_embed(model_is_here=False)}" in status.out
    why = bare_shell("status", "--json").json["why_pending"]
    assert why.endswith(f"fetch it with: {to_fetch()}")
    assert bare_shell("add", "A lid", "--json").json["why_pending"] == why


def test_what_is_added_again_is_said_to_be_known(shell):
    """The id is that of the first."""
    first = shell("add", "The kettle whistles", "--json").json
    assert first["known"] == []
    id_ = first["memory"]["id"]
    assert shell("add", "The kettle whistles", "--json").json["known"] == [id_]
    assert shell("add", "The kettle whistles").out.startswith(f"already stored: {id_}")


def test_an_unknown_id_is_told_with_the_command_that_lists_them(shell):
    """The library's own sentence names no door."""
    shell("add", "The kettle whistles")
    gone = shell("update", "nobody", "--title", "x", "--json")
    assert gone.code == NOTHING
    assert gone.err.endswith("no memory has the id 'nobody'; `scrubjay ls` lists the ids\n")
    assert gone.json["error"]["message"] in gone.err


# --- ingesting --------------------------------------------------------------------------------


def test_ingest_follows_changes_and_removals(shell, tmp_path):
    """Only what changed is read again; what is gone is forgotten."""
    (tmp_path / "notes").mkdir()
    first, second = tmp_path / "notes" / "a.md", tmp_path / "notes" / "b.txt"
    first.write_text("# Alpha\n\nkettle\n", encoding="utf-8")
    second.write_text("bravo teapot\n", encoding="utf-8")
    folder = str(tmp_path / "notes")
    counts = ("added", "updated", "unchanged", "removed")

    def ingest() -> tuple[int, ...]:
        one = shell("ingest", folder, "--json").json["ingested"][0]
        return tuple(one[count] for count in counts)

    assert ingest() == (2, 0, 0, 0)
    assert ingest() == (0, 0, 2, 0)
    first.write_text("# Alpha\n\nsamovar\n", encoding="utf-8")
    second.unlink()
    assert ingest() == (0, 1, 0, 1)
    assert shell("search", "teapot").code == NOTHING
    assert shell("search", "samovar").code == OK


# --- finding ----------------------------------------------------------------------------------


def test_search_finds_by_word_and_shows_the_passage(stocked):
    """The headline, the facts about it, and what it was found among."""
    done = stocked("search", "pumps")
    assert done.code == OK
    assert " 1  The pump restarts at night when pressure falls." in done.out
    assert "fact · pumps · just now · pump-night" in done.out
    assert re.search(
        r"1 hit · [a-z ]+ \(confidence 0\.\d\d\) · keyword 1 · profile default:keyword", done.out
    )


def test_vsearch_finds_by_meaning_alone(shell):
    """The fake model takes allergic and shrimp for the same."""
    shell("add", "No shrimp for Oriel", "--id", "oriel")
    shell("add", "The pump restarts at night", "--id", "pump")
    found = shell("vsearch", "allergic", "--json").json
    assert found["hits"][0]["id"] == "oriel"
    assert list(found["hits"][0]["found"]) == ["vector"]
    assert found["mode"] == "vector"


def test_query_uses_both_lists(stocked):
    """Words and meaning together, and the counts say so."""
    found = stocked("query", "pump at night", "--json").json
    assert found["hits"][0]["id"] == "pump-night"
    assert set(found["hits"][0]["found"]) == {"keyword", "vector"}
    assert found["degraded"] == []


@pytest.mark.parametrize("mode", ["fast", "thorough"])
def test_query_takes_its_modes_as_options(stocked, mode):
    """--fast is --mode fast."""
    by_option = stocked("query", "pump", f"--{mode}", "--json").json
    by_name = stocked("query", "pump", "--mode", mode, "--json").json
    assert by_option["mode"] == mode == by_name["mode"]
    assert [hit["id"] for hit in by_option["hits"]] == [hit["id"] for hit in by_name["hits"]]


def test_query_without_a_model_answers_by_word_and_says_what_is_missing(bare_shell):
    """A missing piece degrades the answer; it never fails it."""
    bare_shell("add", "The kettle whistles", "--no-embed")
    found = bare_shell("query", "kettle", "--json")
    assert found.code == OK
    assert found.json["hits"][0]["text"] == "The kettle whistles"
    assert found.json["degraded"]
    assert "note: " in bare_shell("query", "kettle").out


def test_nothing_found_is_code_three(stocked):
    """A script can tell an empty answer from a failure."""
    done = stocked("search", "zeppelin")
    assert done.code == NOTHING
    assert done.out.startswith("Nothing found for “zeppelin”.")
    assert stocked("search", "zeppelin", "--json").json["hits"] == []


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        (["--type", "preference"], {"tea"}),
        (["--topic", "errors", "--topic", "drinks"], {"err", "tea"}),
        (["--namespace", "elsewhere"], set()),
        (["--since", "2100-01-01"], set()),
        (["--until", "2000-01-01"], set()),
        (["--collection", "none"], set()),
        (["--session", "none"], set()),
    ],
)
def test_filters_bind(stocked, filters, ids):
    """What a filter excludes is not returned by any path."""
    found = stocked("query", "pump tea cache", "--json", *filters)
    assert {hit["id"] for hit in found.json["hits"]} == ids
    assert found.code == (OK if ids else NOTHING)


def test_limit_means_limit(stocked):
    """-n is the most that is shown."""
    assert len(stocked("query", "pump tea cache", "-n", "2", "--json").json["hits"]) == 2


def test_min_score_drops_what_scores_less(stocked):
    """The score shown is the score cut by."""
    scores = [hit["score"] for hit in stocked("query", "pump", "--json").json["hits"]]
    cut = scores[0] - 1e-9
    left = stocked("query", "pump", "--json", "--min-score", str(cut)).json["hits"]
    assert [hit["score"] for hit in left] == [score for score in scores if score >= cut]


def test_set_changes_a_number_and_the_trace_shows_it(stocked):
    """--set rrf.k=30 reaches the stage."""
    found = stocked("query", "pump", "--json", "--explain", "--set", "rrf.k=30").json
    numbers = {step["stage"]: step["numbers"] for step in found["trace"]}
    assert numbers["rrf"]["k"] == 30


def test_explain_shows_stages_lists_and_the_sum(stocked):
    """Everything needed to recompute the score by hand."""
    out = stocked("query", "pump", "--explain").out
    assert "in → out" in out
    assert "rrf(k=60" in out
    assert "found: keyword #1 (raw " in out
    assert "score: " in out


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "'; DROP TABLE memories; --",
        "rm -rf /",
        "C++",
        "NEAR(",
        "a AND OR NOT",
        "*",
        "🙂",
        "nul \x00 here",
        "x" * 100_000,
        "шлюз 漢字 שלום ไทย",
        "col:umn",
        "\ud800 half a pair",
        "^$(){}[]",
    ],
)
@pytest.mark.parametrize("command", ["search", "vsearch", "query"])
def test_every_string_is_a_legal_query(stocked, command, query):
    """No input is a syntax error."""
    done = stocked(command, "--", query)
    assert done.code in (OK, NOTHING), done.err
    assert done.err == ""


def test_a_query_without_a_searchable_term_says_so(stocked):
    """It is not silently emptied."""
    done = stocked("search", "--", "?!...")
    assert done.code == NOTHING
    assert "no searchable term" in done.out


def test_a_query_can_come_from_standard_input(stocked):
    """For what no command line would carry."""
    assert stocked("search", "-", stdin="pump\n").code == OK


# --- reading ----------------------------------------------------------------------------------


def test_get_shows_a_text_as_it_was_given(shell):
    """Every line, every space."""
    shell("add", "-", "--id", "poem", stdin="one\n    two\n")
    out = shell("get", "poem").out
    assert out.endswith("\n\none\n    two\n")


def test_get_takes_the_beginning_of_an_id(stocked):
    """Four letters are enough where they say which."""
    assert stocked("get", "pump", "--json").json["memories"][0]["id"] == "pump-night"


def test_get_shows_what_is_there_and_names_what_is_not(stocked):
    """One missing id does not hide the others."""
    done = stocked("get", "tea", "nothing-of-that-name", "--json")
    assert done.code == NOTHING
    assert [one["id"] for one in done.json["memories"]] == ["tea"]
    assert done.json["missing"] == ["nothing-of-that-name"]
    assert "nothing-of-that-name" in done.err


def test_an_ambiguous_beginning_is_wrong_usage(shell):
    """Guessing could show, or forget, the wrong one."""
    for end in ("one", "two"):
        shell("add", f"text {end}", "--id", f"same-{end}")
    done = shell("get", "same")
    assert done.code == USAGE
    assert "same" in done.err


def test_ls_lists_and_filters(stocked):
    """One line a memory."""
    assert len(stocked("ls").out.splitlines()) == 3
    found = stocked("ls", "--type", "preference", "--json").json["memories"]
    assert [one["id"] for one in found] == ["tea"]
    pages = [stocked("ls", "-n", "1", "--offset", str(at), "--json").json for at in range(3)]
    assert {page["memories"][0]["id"] for page in pages} == {"pump-night", "tea", "err"}


def test_ls_of_an_empty_store_says_how_to_begin(shell):
    """And nothing found is code three."""
    done = shell("ls")
    assert done.code == NOTHING
    assert "scrubjay add" in done.err


@pytest.mark.parametrize(
    "command", ["search", "vsearch", "query", "ls", "get", "status", "forget"]
)
def test_looking_never_makes_a_store(shell, tmp_path, command):
    """A typing error in --db leaves no file behind, and says what makes one."""
    there = tmp_path / "typo.db"
    words = [] if command in ("ls", "status") else ["something"]
    done = shell(command, *words, "--db", str(there))
    assert done.code == NOTHING
    assert f"there is no {there}" in done.err
    assert not there.exists()


# --- forgetting and linking -------------------------------------------------------------------


def test_forget_by_id_removes_several(stocked):
    """Off a terminal nobody is asked."""
    done = stocked("forget", "tea", "pump-night")
    assert done.code == OK
    assert done.out == "forgot 2 memories\n"
    assert [one["id"] for one in stocked("ls", "--json").json["memories"]] == ["err"]


@pytest.mark.parametrize(("answer", "left"), [("y\n", 2), ("n\n", 3), ("\n", 3), ("", 3)])
def test_forget_asks_on_a_terminal(stocked, answer, left):
    """Only a yes is a yes."""
    done = stocked("forget", "tea", keyboard=answer)
    assert "for good? [y/N]" in done.err
    assert done.code == (OK if left == 2 else USAGE)
    assert len(stocked("ls", "--json").json["memories"]) == left


def test_forget_by_query_shows_first_and_wants_a_yes(stocked):
    """By word only: meaning always finds something."""
    shown = stocked("forget", "--query", "pump")
    assert shown.code == USAGE
    assert "pump-night" in shown.err
    assert "--yes" in shown.err
    assert len(stocked("ls", "--json").json["memories"]) == 3
    done = stocked("forget", "--query", "pump", "--yes", "--json")
    told = {"forgotten": 1, "matched": ["pump-night"], "facts": [], "missing": []}
    assert done.json == {**told, "done": True}
    assert stocked("search", "pump").code == NOTHING


def test_forget_of_an_unknown_id_is_code_three_and_forgets_the_others(stocked):
    """What can be done is done, and the rest is named."""
    done = stocked("forget", "tea", "nothing-of-that-name")
    assert done.code == NOTHING
    assert "nothing-of-that-name" in done.err
    assert stocked("get", "tea").code == NOTHING


@pytest.mark.parametrize("words", [[], ["tea", "--query", "tea"]])
def test_forget_wants_ids_or_a_query(stocked, words):
    """Not neither, and not both."""
    assert stocked("forget", *words).code == USAGE


def test_links_are_made_shown_and_taken_away(stocked):
    """A link leads from both ends."""
    assert stocked("link", "tea", "pump-night", "--strength", "0.5").code == OK
    near = stocked("link", "--show", "tea", "--json").json["neighbors"]
    assert [(one["id"], one["score"], one["depth"]) for one in near] == [("pump-night", 0.5, 1)]
    assert stocked("link", "pump-night", "--show").out.startswith("0.50  related  tea  ")
    assert stocked("link", "--unlink", "tea", "pump-night").code == OK
    assert stocked("link", "tea").code == NOTHING


@pytest.mark.parametrize("words", [["tea", "--unlink"], ["tea", "err", "--show"]])
def test_link_says_what_it_wants(stocked, words):
    """Two to take apart, one to show."""
    assert stocked("link", *words).code == USAGE


# --- looking ----------------------------------------------------------------------------------


def test_profiles_lists_and_marks_the_one_in_force(shell, monkeypatch):
    """The star is where the setting points."""
    monkeypatch.setenv("SCRUBJAY_PROFILE", "default:fast")
    lines = shell("profiles").out.splitlines()
    assert next(line.split()[1] for line in lines if line.startswith("*")) == "default:fast"
    assert any(line.split()[0] == "default" for line in lines)


def test_profiles_shows_the_stages_of_one_with_overrides(shell):
    """What is printed is what would run."""
    out = shell("profiles", "default", "--set", "rrf.k=7").out
    assert "rrf(k=7" in out
    stages = shell("profiles", "default", "--json").json["profiles"][0]["stages"]
    assert next(one for one in stages if one["name"] == "rrf")["numbers"]["k"] == 60


def test_status_counts(stocked):
    """Memories, types, vectors of the model, nothing pending."""
    state = stocked("status", "--json").json
    assert state["memories"] == 3
    assert state["types"] == {"fact": 2, "preference": 1}
    assert state["models"] == {"hashing-256": 3}
    assert state["pending"] == 0
    assert "memories     3" in stocked("status").out


def test_status_names_the_reranker_and_the_generator(stocked, monkeypatch):
    """Those that are configured, here or not; doctor says what is wrong with one."""
    assert "reranker     none\ngenerator    none" in stocked("status").out
    monkeypatch.setenv("SCRUBJAY_RERANKER", "cross-encoder/ms-marco-MiniLM-L6-v2")
    monkeypatch.setenv("SCRUBJAY_GENERATOR", "http://127.0.0.1:9/v1#qwen3:1.7b")
    state = stocked("status", "--json").json
    assert (state["reranker"], state["generator"]) == (
        "cross-encoder/ms-marco-MiniLM-L6-v2",
        "qwen3:1.7b",
    )
    monkeypatch.setenv("SCRUBJAY_RERANKER", "no such thing")
    monkeypatch.setenv("SCRUBJAY_GENERATOR", "corpus")
    assert stocked("status", "--json").json["reranker"] is None


def test_status_shows_how_good_short_vectors_are(stocked, monkeypatch):
    """CG-1: or why there are none yet."""
    assert (
        "short        hashing-256: none, fitted when there are 20,000 vectors"
        in stocked("status").out
    )

    monkeypatch.setattr("scrubjay.storage.sqlite.vectors.MIN_ROTATED", 3)
    with scrubjay.open(stocked("status", "--json").json["path"]) as store:  # with the same model
        store.pending(wait=True)
    said = "64 of 256 numbers, shortlist 200, recall 1.000 in 3 trials, fitted on 3 vectors"
    assert f"short        hashing-256: {said}" in stocked("status").out
    shown = stocked("status", "--json").json["short_vectors"]["hashing-256"]
    assert (shown["recall"], shown["fitted_on"], shown["why_not"]) == (1.0, 3, "")


def test_models_lists_what_can_be_fetched(bare_shell):
    """The configured one has a star, and the command that fetches it beside it."""
    out = bare_shell("models").out
    (row,) = (line for line in out.splitlines() if line.startswith("*  "))
    assert row.split()[:4] == ["*", "all-MiniLM-L6-v2", "not", "here"]
    assert "scrubjay models pull all-MiniLM-L6-v2" in out
    listed = bare_shell("models", "--json").json["models"]
    one = next(one for one in listed if one["name"] == "all-MiniLM-L6-v2")
    assert (one["configured"], one["cached"], one["dims"]) == (True, False, 384)


def test_models_pull_obeys_offline(bare_shell):
    """SCRUBJAY_OFFLINE never tries."""
    done = bare_shell("models", "pull")
    assert done.code == FAILED
    assert "SCRUBJAY_OFFLINE" in done.err


# --- the command line itself ------------------------------------------------------------------


def test_db_works_before_and_after_the_command(shell, tmp_path):
    """And the default store stays out of it."""
    db = str(tmp_path / "other.db")
    assert shell("--db", db, "add", "The kettle whistles").code == OK
    assert shell("search", "kettle", "--db", db).code == OK
    assert shell("--db", db, "search", "kettle").code == OK
    assert shell("search", "kettle").code == NOTHING


def test_json_works_before_the_command(stocked):
    """As --db does."""
    assert stocked("--json", "search", "pump").json["hits"][0]["id"] == "pump-night"


def test_version_and_help_leave_with_success(shell):
    """And say which scrubjay this is."""
    assert shell("--version").out.startswith("scrubjay 0.")
    assert "exit codes" in shell("--help").out
    assert "--min-score" in shell("query", "--help").out


def test_every_command_has_help_and_a_function():
    """The list of commands, their options and their functions agree."""
    assert len(COMMANDS) == 54
    for name in COMMANDS:
        assert "--db" in help_of(name)
        assert callable(cli.command(name))


@pytest.mark.parametrize("words", [[], ["help"], ["--help"]])
def test_without_a_command_all_of_them_are_listed(shell, words):
    """On standard output, by group."""
    done = shell(*words)
    assert (done.code, done.err) == (OK, "")
    listed = {line.split()[0] for line in done.out.splitlines() if line.startswith("  ")}
    assert set(COMMANDS) <= listed
    assert [line for line in ("Write:", "Search:", "Operate:") if line in done.out.splitlines()]


def test_help_takes_a_command(shell):
    """As git does."""
    assert shell("help", "query").out == shell("query", "--help").out
    assert shell("help", "qurey").code == USAGE


def _not_a_database(path: Path) -> list[str]:
    path.write_text("a letter, not a database, and long enough to be read as a header\n" * 20)
    return ["search", "x", "--db", str(path)]


def _newer(path: Path) -> list[str]:
    import scrubjay

    scrubjay.open(str(path), embedder=False).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 9999")
    return ["search", "x", "--db", str(path)]


def _foreign(path: Path) -> list[str]:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs (x)")
    return ["add", "x", "--db", str(path)]


def _latin(path: Path) -> list[str]:
    path.with_suffix(".md").write_bytes("caf\xe9 au lait".encode("latin-1"))
    return ["ingest", str(path.with_suffix(".md"))]


def _binary(path: Path) -> list[str]:
    path.with_suffix(".md").write_bytes(b"\x80\x81\x00\x01" * 100)
    return ["ingest", str(path.with_suffix(".md"))]


BAD = {
    "no command": (USAGE, "COMMAND", lambda path: ["--user", "ann"]),
    "unknown command": (USAGE, "search", lambda path: ["serch", "x"]),
    "unknown option": (USAGE, "--limt", lambda path: ["search", "x", "--limt", "3"]),
    "dash query": (USAGE, "write -- before", lambda path: ["search", "-x"]),
    "limit no number": (USAGE, "invalid int", lambda path: ["search", "x", "-n", "many"]),
    "limit of zero": (USAGE, "limit", lambda path: ["search", "x", "-n", "0"]),
    "unknown profile": (USAGE, "default", lambda path: ["query", "x", "--profile", "defualt"]),
    "unknown mode": (USAGE, "thorough", lambda path: ["query", "x", "--mode", "slow"]),
    "unknown stage": (USAGE, "rrf", lambda path: ["query", "x", "--set", "rff.k=3"]),
    "unknown number": (USAGE, "it has k", lambda path: ["query", "x", "--set", "rrf.kay=3"]),
    "wrong value": (USAGE, "number", lambda path: ["query", "x", "--set", "rrf.k=sixty"]),
    "wrong set": (USAGE, "stage.number=value", lambda path: ["query", "x", "--set", "rrf"]),
    "unknown shown profile": (USAGE, "default", lambda path: ["profiles", "nope"]),
    "unknown id": (NOTHING, "nope", lambda path: ["get", "nope"]),
    "unknown link": (NOTHING, "nope", lambda path: ["link", "nope", "nada"]),
    "unknown model": (USAGE, "all-MiniLM-L6-v2", lambda path: ["models", "pull", "gpt"]),
    "empty text": (USAGE, "text", lambda path: ["add", "  "]),
    "empty type": (USAGE, "type", lambda path: ["add", "x", "--type", ""]),
    "bad time": (USAGE, "ISO", lambda path: ["search", "x", "--since", "yesterdayish"]),
    "bad moment": (USAGE, "ISO", lambda path: ["add", "x", "--at", "soon"]),
    "no such file": (USAGE, "missing.md", lambda path: ["ingest", str(path / "missing.md")]),
    "binary file": (FAILED, "binary, not text", _binary),
    "other encoding": (FAILED, "not UTF-8", _latin),
    "not a database": (FAILED, "not a scrubjay store", _not_a_database),
    "newer schema": (FAILED, "newer scrubjay", _newer),
    "foreign database": (FAILED, "another program", _foreign),
    "store is a folder": (FAILED, "folder", lambda path: ["ls", "--db", str(path.parent)]),
    "no folder": (FAILED, "folder", lambda path: ["ls", "--db", str(path / "deep" / "x.db")]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_sentence_and_a_code(shell, tmp_path, case):
    """It names what would be right, on standard error, and as JSON for programs."""
    code, named, make = BAD[case]
    shell("add", "something to begin with")
    words = make(tmp_path / "bad.db")
    done = shell(*words)
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    assert named in done.err + done.out
    assert not done.err or done.err.splitlines()[-1].startswith("scrubjay: ")
    as_json = shell(*words, "--json")
    assert as_json.code == code
    if case not in ("unknown id", "binary file", "other encoding"):  # these answer in part
        assert set(as_json.json["error"]) == {"kind", "message"}
        assert as_json.json["error"]["message"] in done.err.replace("\n", " ")


def test_bad_input_leaves_the_store_untouched(stocked, home):
    """The file is the same, byte for byte."""
    db = next(home.rglob("*.db"))

    def content() -> bytes:
        with sqlite3.connect(db) as opened:
            return "\n".join(opened.iterdump()).encode()

    before = content()
    for words in (["add", ""], ["add", "x", "--type", ""], ["forget", "nope"]):
        assert stocked(*words).code != OK
    assert content() == before


def test_ctrl_c_is_130(shell, monkeypatch):
    """As shells expect."""

    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "command", interrupted)
    assert shell("ls").code == 130


# --- in a process of its own ------------------------------------------------------------------


def run(*words: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, encoding="utf-8", **more
    )


HEAVY = ("numpy", "onnxruntime", "tokenizers", "importlib.metadata", "concurrent.futures",
         "shutil", "logging", "tomllib", "urllib.request", "dataclasses", "inspect", "pathlib",
         "hashlib", "socket", "subprocess", "random", "tempfile", "scrubjay.models.registry",
         "scrubjay.store.write", "scrubjay.types.reports")  # fmt: skip
# A help needs no store, no parser and no settings.
NOT_FOR_HELP = ("sqlite3", "argparse", "scrubjay.config", "scrubjay.store", "scrubjay.types",
                "scrubjay.surfaces.verbs", *HEAVY)  # fmt: skip


@pytest.fixture
def small_store(tmp_path) -> str:
    db = str(tmp_path / "cold.db")
    done = run("-m", "scrubjay", "add", "The kettle whistles", "--no-embed", "--db", db)
    assert done.returncode == OK, done.stderr
    return db


@pytest.mark.slow
def test_a_cold_keyword_search_imports_nothing_heavy(small_store):
    """numpy alone costs more than the whole search."""
    code = (
        "import sys\nfrom scrubjay.surfaces.cli import main\n"
        f"code = main(['search', 'kettle', '--db', {small_store!r}])\n"
        f"print(code, [name for name in {HEAVY} if name in sys.modules])"
    )
    done = run("-c", code)
    assert done.stdout.splitlines()[-1] == "0 []", done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["--help"], ["--version"]])
def test_help_opens_nothing(words):
    """It is a text that is ready: parser and records take three times as long as Python itself."""
    code = (
        "import sys\nfrom scrubjay.surfaces.cli import main\n"
        f"code = main({words})\n"
        f"print(code, [name for name in {NOT_FOR_HELP} if name in sys.modules])"
    )
    assert run("-c", code).stdout.splitlines()[-1] == "0 []"


def test_the_help_that_is_ready_is_that_of_the_records():
    """`make docs` prints it again where a record changed."""
    assert make_main_help() == MAIN_HELP


@pytest.mark.slow
def test_the_command_ends_quickly_and_completely():
    """It does not take the interpreter down, but does what was to be done at the end."""
    code = (
        "import atexit, sys\nfrom scrubjay.surfaces.cli import main\n"
        "atexit.register(print, 'at the end')\n"
        "sys.argv = ['scrubjay', 'get', 'x', '--db', 'missing.db']\n"
        "sys.stdout.write('kept ')\nmain()\nprint('not reached')"
    )
    done = run("-c", code)
    assert (done.returncode, done.stdout) == (3, "kept at the end\n")


@pytest.mark.slow
def test_while_a_thread_runs_the_command_ends_as_python_does():
    """A thread that writes would be cut off."""
    code = (
        "import sys, threading\nfrom scrubjay.surfaces.cli import main\n"
        "gate = threading.Event()\n"
        "threading.Thread(target=lambda: (gate.wait(), print('written'))).start()\n"
        "sys.argv = ['scrubjay', '--version']\nmain()\ngate.set()"
    )
    done = run("-c", code)
    assert done.stdout.splitlines()[-1] == "written"


@pytest.mark.slow
def test_python_m_scrubjay_is_the_command(small_store):
    """The module and the script are one."""
    done = run("-m", "scrubjay", "search", "kettles", "--db", small_store)
    assert done.returncode == OK
    assert "The kettle whistles" in done.stdout


@pytest.mark.slow
def test_a_console_with_another_code_page_gets_utf_8(tmp_path):
    """No answer dies of a letter."""
    db = str(tmp_path / "wide.db")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert (
        run("-m", "scrubjay", "add", "漢字 ok", "--no-embed", "--db", db, env=env).returncode == OK
    )
    assert "漢字 ok" in run("-m", "scrubjay", "search", "ok", "--db", db, env=env).stdout


@pytest.mark.slow
def test_standard_input_that_is_not_text_is_refused(tmp_path):
    """One sentence, and nothing is stored."""
    words = [sys.executable, "-m", "scrubjay", "add", "-", "--db", str(tmp_path / "x.db")]
    done = subprocess.run(words, input=b"caf\xe9", capture_output=True)
    assert done.returncode == USAGE
    assert done.stderr.startswith(b"scrubjay: Standard input is not text in UTF-8")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="pipes close differently there")
def test_a_reader_that_leaves_is_no_error(small_store):
    """scrubjay ls | head -0."""
    command = f'"{sys.executable}" -m scrubjay ls --db "{small_store}" | true'
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# --- what a person expects --------------------------------------------------------------------


@pytest.mark.parametrize("word", ["./nosuchfile.md", "nosuchfile.md", "~/nowhere", "/no/where"])
def test_a_path_that_is_not_there_is_not_remembered_as_a_text(shell, word):
    """A typing error must not become a memory; --text says that it is one."""
    done = shell("add", word)
    assert done.code == USAGE
    assert "there is no file or folder" in done.err
    assert shell("add", "--text", word).code == OK


def test_options_of_texts_do_not_go_with_files(shell, tmp_path):
    """Nothing is ignored silently."""
    file = tmp_path / "a.md"
    file.write_text("# A\n")
    done = shell("add", str(file), "--topic", "x")
    assert done.code == USAGE
    assert "--topic does not go with files" in done.err


def test_long_texts_come_whole_only_when_asked_for(shell, tmp_path):
    """One hit must not fill the context of an agent."""
    text = "# Long\n\n" + "The pump restarts at night. " * 500
    file = tmp_path / "long.md"
    file.write_text(text)
    shell("ingest", str(file))
    hit = shell("search", "pump", "--json").json["hits"][0]
    assert len(hit["text"]) < 500
    assert not hit["complete"]
    assert shell("search", "pump", "--json", "--full").json["hits"][0]["text"] == text
    shown = " ".join(shell("search", "pump", "--full").out.split())
    assert shown.count("The pump restarts") == 500


def test_an_empty_db_is_refused(shell):
    """It is not the default store."""
    assert shell("add", "went where?", "--db", "").code == USAGE


def test_a_file_of_one_byte_is_not_overwritten(shell, tmp_path):
    """Whatever it is, it is not a store."""
    file = tmp_path / "x"
    file.write_bytes(b"x")
    assert shell("search", "a", "--db", str(file)).code == FAILED
    assert shell("add", "a", "--db", str(file)).code == FAILED
    assert file.read_bytes() == b"x"


def test_doctor_diagnoses_settings_that_cannot_be_read(shell, home):
    """It must work when parts are broken: that is its job."""
    (home / "data").mkdir(exist_ok=True)
    (home / "data" / "scrubjay.toml").write_text("not toml [")
    done = shell("doctor")
    assert done.code == FAILED
    assert "not valid TOML" in done.out


def test_a_new_collection_moves_files_that_did_not_change(shell, tmp_path):
    """The option is not ignored because the text is the same."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n")
    shell("ingest", str(tmp_path / "notes"))
    done = shell("ingest", str(tmp_path / "notes"), "--collection", "wiki")
    assert "1 changed" in done.out
    assert len(shell("ls", "--collection", "wiki", "--json").json["memories"]) == 1
