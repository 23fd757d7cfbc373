"""SV-4: tiers are separate databases. One search over all; each may fail by itself; one version of an id."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fakes import HashingEmbedder
from layered import layered
from places import DATA
from traces import steps

import scrubjay
from scrubjay import InvalidInput, NotFound, StoreError
from scrubjay.runtime.command_hints import pending_vectors
from scrubjay.search.pipeline import Kit, Run, Tier, search
from scrubjay.search.profiles import _BUILT_IN
from scrubjay.search.stages.present import check_files, mark_near_duplicates
from scrubjay.search.stages.tiers import TIER_WEIGHTS, by_tier, tiers
from scrubjay.sharing.tiers import files as tier_files
from scrubjay.storage.schema import SCHEMA_VERSION
from scrubjay.storage.sqlite import existing as sqlite_existing
from scrubjay.types import Query, Scope

NAMES = ("agent", "project", "team")


@pytest.fixture(autouse=True)
def searching(monkeypatch):
    """A profile that searches every tier, and short waits."""
    monkeypatch.setitem(_BUILT_IN, "layered", layered)
    monkeypatch.setattr(tier_files, "OPENING_WAIT_S", 0.2)
    monkeypatch.setattr(sqlite_existing, "WAIT_S", 0.2)


@pytest.fixture
def files(tmp_path):
    """A file for each tier, with an entry of its own and one that all have."""
    paths = {name: str(tmp_path / name / "vault.db") for name in NAMES}
    for name, path in paths.items():
        os.mkdir(os.path.dirname(path))
        with scrubjay.open(path, embedder=False) as store:
            store.add(f"the boiler of the {name}", id=f"{name}-entry")
            store.add(f"the {name} knows the boiler", id="shared")
    return paths


@pytest.fixture
def opened(clock):
    """Open a store that is closed at the end of the test."""
    stores = []

    def open_(path=None, **more):
        stores.append(scrubjay.open(path, **{"embedder": False, "clock": clock, **more}))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


def found(store, query="boiler", **more):
    """What a search over all tiers brings: id, tier, score."""
    return [
        (hit.id, hit.tier, hit.score) for hit in store.search(query, profile="layered", **more)
    ]


def lost(store, query="boiler"):
    """What a search says of tiers that could not be asked."""
    degraded = store.search(query, profile="layered").degraded
    return [one for one in degraded if one.startswith("tier ")]


def snapshot(*paths):
    """Every file of these folders with its bytes, but for the empty log that reading makes meanwhile."""
    return {
        str(one): one.read_bytes()
        for path in paths
        for one in sorted(Path(path).parent.rglob("*"))
        if one.is_file()
        and one.suffix != ".db-shm"
        and (one.stat().st_size or "wal" not in one.suffix)
    }


class TestSearch:
    def test_every_tier_answers_and_counts_by_its_weight(self, files, opened):
        """SV-4: weights 1.0, 0.8, 0.6; the highest tier's version of an id is the one shown."""
        store = opened(tiers=files)

        hits = found(store)

        assert sorted(hits, key=lambda hit: (-hit[2], hit[0])) == [
            ("agent-entry", "agent", 1.0),
            ("shared", "agent", 1.0),
            ("project-entry", "project", 0.8),
            ("team-entry", "team", 0.6),
        ]
        assert [score for *_, score in hits] == [1.0, 1.0, 0.8, 0.6]

    def test_a_connected_vault_counts_its_priority(self, files, opened):
        """SV-4: any number of connected vaults; 0.5 where none is said."""
        store = opened(files["agent"])
        store.connect(files["project"], name="handbook", priority=0.9)
        store.connect(files["team"], name="wiki")

        assert {(id_, tier): score for id_, tier, score in found(store)} == {
            ("agent-entry", "agent"): 1.0,
            ("shared", "agent"): 1.0,
            ("project-entry", "handbook"): 0.9,
            ("team-entry", "wiki"): 0.5,
        }

    def test_a_priority_can_stand_above_a_built_in_tier(self, files, opened):
        """SV-4: the version of the higher weight wins, connected or not."""
        store = opened(tiers={"agent": files["agent"], "team": files["team"]})
        store.connect(files["project"], name="handbook", priority=0.7)
        store.forget("shared")

        assert ("shared", "handbook", 0.7) in found(store)

    def test_a_store_alone_has_no_tier_and_the_weight_one(self, files, opened):
        """SV-4: whatever its file is called."""
        store = opened(files["team"])

        assert {(tier, score) for _, tier, score in found(store)} == {(None, 1.0)}

    def test_the_version_of_the_highest_tier_wins_where_only_a_lower_one_matches(
        self, files, opened
    ):
        """SV-4: always, even if it was not found by the query, and has the lower score."""
        store = opened(tiers=files)
        store.update("shared", text="nothing about heating at all")

        hit = next(one for one in store.search("boiler", profile="layered") if one.id == "shared")

        assert (hit.tier, hit.text) == ("agent", "nothing about heating at all")
        assert (hit.found, hit.score) == ({}, 0.1)

    def test_filters_bind_the_version_that_wins(self, files, opened):
        """R-3: where they leave it out, no other version of the id is shown."""
        with scrubjay.open(files["team"], embedder=False) as team:
            team.update("shared", type="decision")
        store = opened(tiers=files)

        assert found(store, types="decision") == []

    def test_what_is_no_longer_valid_in_one_tier_is_not_taken_from_another(
        self, files, opened, clock
    ):
        """SV-9: each file has its own windows; the store's own has none here."""
        with scrubjay.open(files["project"], embedder=False, clock=clock) as project:
            project.update("project-entry", valid_until="2020-01-01")
            project.add("the boiler in its time", id="now", valid_from="2020-01-01")
        with scrubjay.open(files["team"], embedder=False, clock=clock) as team:
            team.update("team-entry", valid_from="2090-01-01")
        store = opened(tiers=files)

        assert {id_ for id_, *_ in found(store)} == {"agent-entry", "shared", "now"}
        assert {id_ for id_, *_ in found(store, include_expired=True)} == {
            "agent-entry",
            "shared",
            "now",
            "project-entry",
            "team-entry",
        }

    def test_a_version_that_has_expired_hides_those_below_it(self, files, opened, clock):
        """SV-9, SV-4: the highest version says that it is over."""
        store = opened(tiers=files)
        store.update("shared", valid_until="2020-01-01")

        assert "shared" not in {id_ for id_, *_ in found(store)}

    def test_a_phrase_is_looked_for_in_every_tier(self, files, opened):
        """Words are asked for instead only where no tier has the phrase."""
        store = opened(tiers=files)

        results = store.search('boiler "of the team"', profile="layered")

        assert [hit.id for hit in results] == ["team-entry"]
        assert not any("phrase" in one for one in results.degraded)

    def test_stems_follow_the_languages_of_every_tier(self, files, opened):
        """A query is understood in a language that only another tier holds."""
        with scrubjay.open(files["team"], embedder=False) as team:
            team.add(
                "Die Häuser wurden gestern verkauft, und niemand weiß warum sie leer standen.",
                id="deutsch",
            )
        store = opened(tiers=files)

        assert [hit.id for hit in store.search("welches Haus wurde verkauft", profile="layered")][
            :1
        ] == ["deutsch"]

    def test_a_person_sees_their_own_of_every_file(self, files, opened):
        """What others may not see is no version of anything to them."""
        with scrubjay.open(files["project"], embedder=False, user="ann") as ann:
            ann.add("the boiler of ann", id="anns")
        store = opened(tiers=files, user="ann")

        assert found(store) == [("anns", "project", 0.8)]

    def test_hits_are_read_in_their_own_file(self, files, opened):
        """A passage of another tier's text is cut out of that text."""
        long = "\n\n".join(f"Section {n} is about item {n}. " * 40 for n in range(20))
        with scrubjay.open(files["team"], embedder=False) as team:
            team.add(f"{long}\n\nThe zeppelin lands at noon.", id="long")
        store = opened(tiers=files)

        (hit,) = store.search("zeppelin", profile="layered")

        assert "zeppelin lands" in hit.snippet
        assert hit.tier == "team"

    def test_vectors_of_all_tiers_are_searched_by_one_model(self, files, opened):
        """SV-12; a tier without vectors of the model says how many passages that leaves out."""
        model = HashingEmbedder(meanings={"furnac": "boiler"})
        for name in ("agent", "project"):
            with scrubjay.open(files[name], embedder=model) as one:
                one.pending()
        store = opened(tiers=files, embedder=model)

        results = store.search("furnace", profile="layered")

        assert {(hit.id, hit.tier) for hit in results} == {
            ("agent-entry", "agent"),
            ("project-entry", "project"),
            ("shared", "agent"),
        }
        assert all(hit.cosine for hit in results)
        assert (
            "tier team: 2 passages have no vector of hashing-256;"
            f" {pending_vectors(files['team'])}"
        ) in results.degraded

    def test_the_trace_has_a_step_for_each_tier(self, files, opened):
        """R-7: with its weight, its own steps and what came out; lists hold a row a memory."""
        store = opened(tiers=files)

        results = store.search("boiler", profile="layered")
        trace = {step.stage: step for step in steps(results)["tiers"].branches}

        assert list(trace) == ["tier agent", "tier project", "tier team"]
        assert [step.notes["weight"] for step in trace.values()] == [1.0, 0.8, 0.6]
        assert [step.came_out for step in trace.values()] == [2, 1, 1]
        inner = [one.stage for one in trace["tier team"].branches]
        assert inner == ["recall", "union", "load", "look_up"]
        assert results.counts["keyword"] == 4
        weights = steps(results)["tier_weight"].notes["weights"]
        assert weights == {"agent": 1.0, "project": 0.8, "team": 0.6}

    def test_every_tier_is_asked_for_as_much_as_a_store_alone(self, files, opened):
        """SV-4: a large team does not crowd out a small agent, nor the other way round."""
        for path in files.values():
            with scrubjay.open(path, embedder=False) as one:
                one.add_many({"text": f"boiler number {n} of {path}"} for n in range(40))
        store = opened(tiers=files)

        results = store.search("boiler", profile="layered", limit=100)
        trace = {step.stage: step for step in steps(results)["tiers"].branches}

        for name in NAMES:  # the limit, where that is more than the depth of 30
            sources = {one.stage: one for one in trace[f"tier {name}"].branches[0].branches}
            assert sources["keyword"].came_out == 42
        assert len(results) == 100

    def test_many_searches_at_once_do_not_wait_for_each_other_for_ever(self, files, opened):
        """A tier waits for its sources, which have threads of their own."""
        model = HashingEmbedder()
        store = opened(tiers=files, embedder=model)
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(len(found(store))), daemon=True)
            for _ in range(24)
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join(60)

        assert answers == [4] * 24

    def test_links_and_stale_files_are_looked_up_in_the_tier_of_each_hit(
        self, files, opened, tmp_path
    ):
        """`by_tier` gives each candidate the stores of its own file, and leaves the order."""
        note = tmp_path / "note.md"
        note.write_text("# Boiler\n\nThe boiler is serviced in May.\n")
        with scrubjay.open(files["team"], embedder=False) as team:
            team.ingest(note)
            team.link("team-entry", "shared", kind="near_duplicate")
        note.write_text("# Boiler\n\nThe boiler is gone.\n")
        store = opened(tiers=files)
        stages = (*layered().stages, by_tier(stages=(mark_near_duplicates(), check_files())))
        kit = store._context.kit(layered(), store._context.tiers_of(layered()))

        results = search(Query("boiler"), "layered", stages, kit)

        assert [hit.score for hit in results] == [1.0, 1.0, 0.8, 0.6, 0.6]
        hits = {hit.id: hit for hit in results}
        assert hits["team-entry"].near_duplicates == ("shared",)
        assert [hit.stale for hit in results if hit.source] == ["stale"]
        assert results.counts["changed_files"] == 1

    def test_another_profile_says_that_it_searched_one_file(self, files, opened):
        """R-6: what could not be searched is named."""
        store = opened(tiers=files)

        results = store.search("boiler", profile="default", mode="keyword")

        assert {hit.tier for hit in results} == {None}
        assert {hit.id for hit in results} == {"agent-entry", "shared"}
        (said,) = (one for one in results.degraded if "only" in one)
        assert files["agent"] in said
        assert "profile vault searches every tier" in said

    def test_a_weight_that_is_given_leaves_the_others_as_they_are(self, files, opened):
        """SV-4: those of the profile, which may have changed some itself."""
        store = opened(tiers=files)

        hits = found(store, overrides={"tiers.weights": {"project": 0.5}})

        assert {tier: score for _, tier, score in hits} == {
            "agent": 1.0,
            "project": 0.5,
            "team": 0.6,
        }
        changed = layered().with_overrides({"tiers": {"weights": {"team": 0.3}}})
        again = changed.with_overrides({"tiers.weights": {"project": 0.5}})
        (stage,) = (one for one in again.stages if one.name == "tiers")
        assert stage.numbers["weights"] == {"agent": 1.0, "project": 0.5, "team": 0.3}

    def test_a_weight_that_is_missing_or_out_of_bounds_is_refused(self, files, opened):
        """With what would be right; a name that means nothing is not passed over."""
        store = opened(tiers=files)
        for weights, says in (
            ({"projct": 0.5}, "names 'projct'; it is for agent, project, team"),
            ({"team": 0}, "it must be above 0"),
            ({"team": 1.5}, "it must be above 0"),
            (0.5, "a table such as {agent = 1, project = 0.8, team = 0.6}"),
        ):
            with pytest.raises(InvalidInput, match=re.escape(says)):
                store.search("boiler", profile="layered", overrides={"tiers.weights": weights})
        part = tiers(find=(), read=(), weights={"agent": 1.0})
        with pytest.raises(InvalidInput, match="no weight for the tier 'team'; all of them are"):
            part(Run(Query("x"), Kit(tiers=(Tier("team", lost="gone"),))))

    def test_the_trace_names_what_a_higher_version_hides(self, files, opened):
        """R-7: in the step of the tier that has it, ten ids and how many more."""
        store = opened(tiers=files)
        trace = {
            step.stage: step.notes
            for step in steps(store.search("boiler", profile="layered"))["tiers"].branches
        }
        assert "shadowed" not in trace["tier agent"]
        assert trace["tier project"]["shadowed"] == ["shared"]
        assert trace["tier team"]["shadowed"] == ["shared"]

        many = [{"text": f"boiler {n}", "id": f"many-{n:02}"} for n in range(12)]
        store.add_many(many)
        with scrubjay.open(files["team"], embedder=False) as team:
            team.add_many(many)
        results = store.search("boiler", profile="layered")
        (team_step,) = (
            one for one in steps(results)["tiers"].branches if one.stage == "tier team"
        )
        assert len(team_step.notes["shadowed"]) == 11
        assert team_step.notes["shadowed"][-1] == "3 more"


class TestStages:
    def test_without_tiers_the_stages_run_on_the_store_itself(self, opened, tmp_path):
        """Their steps are the branches of the trace."""
        store = opened(tmp_path / "one.db")
        store.add("the boiler", id="a")

        results = store.search("boiler", profile="layered")

        assert [(hit.id, hit.tier) for hit in results] == [("a", None)]
        inner = [step.stage for step in steps(results)["tiers"].branches]
        assert inner == ["recall", "union", "load", "look_up"]

    def test_if_no_tier_answers_the_search_fails_and_says_why(self):
        """Nothing is not an answer."""
        kit = Kit(tiers=(Tier("agent", lost="it is gone"), Tier("team", lost="so is this")))
        part = tiers(find=(), read=(), weights=TIER_WEIGHTS)

        with pytest.raises(StoreError) as raised:
            part(Run(Query("x"), kit))

        assert "tier agent: it is gone; tier team: so is this" in str(raised.value)

    def test_a_tier_whose_windows_cannot_be_read_is_lost_by_itself(self, words_only):
        """As with any other error of its database."""

        class Broken:
            def last_change_us(self, now_us):
                raise StoreError("its index is damaged")

        words_only.add("the boiler", id="a")
        good = words_only._context.tables.kit
        kit = Kit(tiers=(Tier("agent", good), Tier("team", good._replace(windows=Broken()))))
        query = Query("boiler", Scope(valid_us=1))
        part = tiers(find=(), read=(), weights=TIER_WEIGHTS)

        agent, team = part(Run(query, kit)).branches

        assert (agent.lost, team.lost) == (None, "its index is damaged")


def break_missing(path):
    os.unlink(path)


def break_garbage(path):
    Path(path).write_bytes(b"no database at all, " * 100)


def break_foreign(path):
    os.unlink(path)
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE something (x)")
    other.close()


def break_newer(path):
    _version(path, SCHEMA_VERSION + 1)


def break_older(path):
    _version(path, SCHEMA_VERSION - 1)


def break_analyzer(path):
    with sqlite3.connect(path) as file:
        file.execute("UPDATE meta SET value = 0 WHERE key = 'analyzer'")
    file.close()


def break_empty(path):
    Path(path).write_bytes(b"")


def break_middle(path):
    """Leave the first pages as they are, so that it looks like a store."""
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[: len(data) // 3] + bytes(len(data) - len(data) // 3))


def break_memories(path):
    """Damage the tables of memories and of feedback, with their indexes, and nothing that opening reads."""
    with sqlite3.connect(path) as file:
        pages = file.execute(
            "SELECT rootpage FROM sqlite_schema"
            " WHERE tbl_name IN ('memories', 'feedback') AND rootpage"
        ).fetchall()
        (size,) = file.execute("PRAGMA page_size").fetchone()
    file.close()
    data = bytearray(Path(path).read_bytes())
    for (page,) in pages:
        data[(page - 1) * size : page * size] = bytes(size)
    Path(path).write_bytes(data)


def break_folder(path):
    os.unlink(path)
    os.mkdir(path)


def _version(path, version):
    with sqlite3.connect(path) as file:
        file.execute(f"PRAGMA user_version = {version}")
    file.close()


BREAKS = {
    "missing": (break_missing, "no file"),
    "garbage": (break_garbage, "not an SQLite database"),
    "foreign": (break_foreign, "of another program"),
    "newer": (break_newer, "newer scrubjay"),
    "older": (break_older, "scrubjay status --db"),
    "analyzer": (break_analyzer, "scrubjay status --db"),
    "empty": (break_empty, "is an empty file"),
    "folder": (break_folder, "is a folder"),
}

# An own file that is not there or of an older scrubjay is made or brought up to date, as ever.
OWN_BREAKS = ("garbage", "foreign", "newer", "folder")
LOCKER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
if sys.argv[2] == "delete":
    db.execute("PRAGMA journal_mode = DELETE").fetchone()
else:
    db.execute("PRAGMA locking_mode = EXCLUSIVE").fetchone()
db.execute("BEGIN EXCLUSIVE")
db.execute("UPDATE meta SET value = value")
print("locked", flush=True)
sys.stdin.readline()
db.execute("ROLLBACK")
db.close()
"""


class Locked:
    """Another process that keeps everybody out of a file."""

    def __init__(self, path, how="exclusive"):
        self._process = subprocess.Popen(
            [sys.executable, "-c", LOCKER, path, how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout.readline() == "locked\n"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.communicate("\n", timeout=30)


class TestBrokenTiers:
    @pytest.mark.parametrize("kind", BREAKS)
    @pytest.mark.parametrize("name", ["project", "team"])
    def test_a_lower_tier_that_is_broken_is_named_and_the_others_answer(
        self, files, opened, name, kind
    ):
        """R-6: nothing is made or changed there, and it is back as soon as it is well."""
        path, (break_it, says) = files[name], BREAKS[kind]
        shutil.copy(path, f"{path}.good")
        break_it(path)
        before = snapshot(path)
        store = opened(tiers=files)

        hits = found(store)

        assert {tier for _, tier, _ in hits} == set(NAMES) - {name}
        (reason,) = lost(store)
        assert reason.startswith(f"tier {name}: ")
        assert says in reason
        assert path in reason
        assert snapshot(path) == before
        _restore(path)
        assert {tier for _, tier, _ in found(store)} == set(NAMES)
        assert lost(store) == []

    @pytest.mark.parametrize("kind", OWN_BREAKS)
    def test_a_highest_tier_that_is_broken_is_named_and_nothing_is_written(
        self, files, opened, kind
    ):
        """What was meant for it lands nowhere else; it is searched again as soon as it is well."""
        path, (break_it, says) = files["agent"], BREAKS[kind]
        shutil.copy(path, f"{path}.good")
        break_it(path)
        before = snapshot(*files.values())
        store = opened(tiers=files)

        assert {(id_, tier) for id_, tier, _ in found(store)} == {
            ("project-entry", "project"),
            ("shared", "project"),
            ("team-entry", "team"),
        }
        (reason,) = lost(store)
        assert reason.startswith("tier agent: ")
        assert says in reason
        for write in writes(store):
            with pytest.raises(StoreError, match="the tier agent could not be opened") as refused:
                write()
            assert says in str(refused.value)
        assert snapshot(*files.values()) == before
        _restore(path)
        assert {tier for _, tier, _ in found(store)} == set(NAMES)

    @pytest.mark.parametrize("name", NAMES)
    def test_a_tier_that_is_damaged_inside_is_named_and_the_others_answer(
        self, files, opened, name
    ):
        """It opens like any other, so the search itself finds it out, wherever that is."""
        path = files[name]
        shutil.copy(path, f"{path}.good")
        break_middle(path)
        store = opened(tiers=files, embedder=HashingEmbedder())

        assert {tier for _, tier, _ in found(store)} == set(NAMES) - {name}
        assert any(f"tier {name}: {path} is damaged" in one for one in lost(store))

    @pytest.mark.parametrize("name", ["project", "team"])
    def test_every_verb_goes_on_without_a_tier_that_is_damaged_inside(self, files, opened, name):
        """R-6: what another tier has is read there, and the damaged one is named."""
        for path in files.values():
            with scrubjay.open(path, embedder=False) as one:
                one.feedback("boiler", "shared", "accepted")
        other = "team" if name == "project" else "project"
        break_memories(files[name])
        store = opened(tiers=files)
        says = f"tier {name}: {files[name]} is damaged"

        assert store.get(f"{other}-entry").text == f"the boiler of the {other}"
        found_ = store.get_many([f"{other}-entry", f"{name}-entry"])
        assert [one.id for one in found_] == [f"{other}-entry"]
        assert found_.missing == (f"{name}-entry",)
        assert found_.tiers == {f"{other}-entry": other}
        (unasked,) = found_.unasked
        assert unasked.startswith(says)
        assert store.resolve(f"{other}-e") == f"{other}-entry"
        with pytest.raises(NotFound, match=re.escape(says)):
            store.get(f"{name}-entry")
        states = {one.name: one for one in store.tiers()}
        assert [one.state for one in states.values()].count("open") == 2
        assert (states[name].state, states[name].memories) == ("lost", None)
        assert f"{files[name]} is damaged" in states[name].reason
        given = store.feedbacks()
        assert {one.tier for one in given} == {"agent", other}
        assert given.unasked[0].startswith(says)
        learned = store.learned("vault")
        assert learned.accepted == 2
        assert learned.unasked[0].startswith(says)
        assert store.expiring().unasked[0].startswith(says)

    def test_an_own_file_that_is_damaged_inside_is_an_error(self, files, opened):
        """What it holds is not to be taken from another tier in silence; the list says how it is."""
        break_memories(files["agent"])
        store = opened(tiers=files)

        with pytest.raises(StoreError, match="is damaged"):
            store.get("team-entry")
        assert [one.state for one in store.tiers()] == ["lost", "open", "open"]

    @pytest.mark.parametrize("how", ["delete", "exclusive"])
    @pytest.mark.parametrize("name", NAMES)
    def test_a_tier_that_is_locked_when_the_store_is_opened(self, files, opened, name, how):
        """The others answer; when the lock is gone, so does this one."""
        with Locked(files[name], how):
            store = opened(tiers=files)
            assert {tier for _, tier, _ in found(store)} == set(NAMES) - {name}
            (reason,) = lost(store)
            assert reason.startswith(f"tier {name}: {files[name]}: another process")
            if name == "agent":
                with pytest.raises(StoreError, match="the tier agent could not be opened"):
                    store.add("for the agent only")
        assert {tier for _, tier, _ in found(store)} == set(NAMES)

    @pytest.mark.parametrize("name", ["agent", "team"])
    def test_a_tier_that_is_locked_between_two_searches(self, files, opened, name):
        """The next search says so; the one after the lock has it again.

        The own file cannot be locked so: while a log is in use, readers are never kept out.
        """
        for path in files.values():
            with sqlite3.connect(path) as file:
                file.execute("PRAGMA journal_mode = DELETE").fetchone()
            file.close()
        store = opened(files["project"], tiers=files)
        assert {tier for _, tier, _ in found(store)} == set(NAMES)
        with Locked(files[name], "delete"):
            assert {tier for _, tier, _ in found(store)} == set(NAMES) - {name}
        assert {tier for _, tier, _ in found(store)} == set(NAMES)

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.skipif(os.name == "nt", reason="a file that is open cannot be deleted there")
    def test_a_tier_that_is_deleted_between_two_searches(self, files, opened, name):
        """The next search says so, makes nothing, and finds a file that is put back."""
        store, path = opened(tiers=files), files[name]
        assert {tier for _, tier, _ in found(store)} == set(NAMES)
        shutil.move(path, f"{path}.good")
        for end in ("-wal", "-shm"):
            Path(path + end).unlink(missing_ok=True)

        assert {tier for _, tier, _ in found(store)} == set(NAMES) - {name}

        (reason,) = lost(store)
        assert f"tier {name}: there is no file {path}" in reason
        assert not os.path.exists(path)
        if name == "agent":
            with pytest.raises(StoreError, match="no longer exists"):
                store.add("into nothing")
        shutil.copy(f"{path}.good", path)
        assert {tier for _, tier, _ in found(store)} == set(NAMES)
        assert lost(store) == []

    @pytest.mark.parametrize("name", NAMES)
    def test_a_tier_that_is_overwritten_between_two_searches(self, files, opened, name):
        """What SQLite remembers of a file is no answer from it."""
        store, path = opened(tiers=files), files[name]
        found(store)
        good = Path(path).read_bytes()
        Path(path).write_bytes(b"rubbish " * (len(good) // 8))

        assert {tier for _, tier, _ in found(store)} == set(NAMES) - {name}

        Path(path).write_bytes(good)
        assert {tier for _, tier, _ in found(store)} == set(NAMES)

    def test_if_no_tier_can_be_opened_that_is_an_error_with_every_reason(self, files):
        """And nothing was made."""
        for path in files.values():
            break_garbage(path)
        before = snapshot(*files.values())

        with pytest.raises(StoreError) as raised:
            scrubjay.open(tiers=files)

        for name in NAMES:
            assert f"tier {name}: {files[name]} is not a scrubjay store" in str(raised.value)
        assert snapshot(*files.values()) == before

    def test_a_missing_tier_below_is_not_made(self, tmp_path, opened):
        """Only the highest one is."""
        files = {name: tmp_path / f"{name}.db" for name in NAMES}
        store = opened(tiers=files)
        store.add("the boiler")

        assert len(found(store)) == 1
        assert len(lost(store)) == 2
        store.close()
        assert [one.name for one in tmp_path.glob("*.db*")] == ["agent.db"]

    def test_an_older_tier_is_not_migrated_until_somebody_asks(self, files, opened, tmp_path):
        """The command that the reason names is the one that helps."""
        old = DATA / "schema-2.db"
        shutil.copy(old, files["team"])
        store = opened(tiers=files)

        assert "scrubjay status --db" in lost(store)[0]
        assert Path(files["team"]).read_bytes() == old.read_bytes()
        scrubjay.open(files["team"], embedder=False).close()
        assert lost(store) == []

    def test_searching_leaves_every_other_file_as_it_was(self, files, opened):
        """Byte for byte, and nothing beside it once the store is closed."""
        before = snapshot(files["project"], files["team"])
        store = opened(tiers=files)
        found(store)
        store.get("team-entry")
        store.tiers()
        store.close()

        assert snapshot(files["project"], files["team"]) == before
        assert os.listdir(os.path.dirname(files["team"])) == ["vault.db"]


def _restore(path):
    for end in ("-wal", "-shm"):
        Path(path + end).unlink(missing_ok=True)
    if os.path.isdir(path):
        os.rmdir(path)
    shutil.copy(f"{path}.good", path)


def writes(store):
    """Every verb that writes, on what the other tiers hold."""
    folder = os.path.dirname(store.path)
    return (
        lambda: store.add("new"),
        lambda: store.add_many([{"text": "new"}]),
        lambda: store.ingest(folder),
        lambda: store.update("shared", text="changed"),
        lambda: store.done("shared"),
        lambda: store.undone("shared"),
        lambda: store.forget("shared"),
        lambda: store.link("shared", "project-entry"),
        lambda: store.unlink("shared", "project-entry"),
        lambda: store.rename_topic("a", "b"),
        lambda: store.create_collection("crew"),
        lambda: store.share("crew", "ann"),
        lambda: store.unshare("crew", "ann"),
        lambda: store.publish("shared", "crew"),
        lambda: store.unpublish("shared", "crew"),
        lambda: store.feedback("boiler", "shared", "accepted"),
    )


@pytest.mark.skipif(os.name == "nt", reason="permissions are another matter there")
class TestReadOnly:
    @pytest.fixture
    def shelf(self, files):
        """A folder that nobody may write, with a file of the team in it."""
        # Not in the folder of the test, which is its user's alone.
        with TemporaryDirectory() as above:
            os.chmod(above, 0o755)
            folder = Path(above) / "shelf"
            folder.mkdir()
            path = folder / "team.db"
            shutil.copy(files["team"], path)
            path.chmod(0o444)
            folder.chmod(0o555)
            yield str(path)
            folder.chmod(0o755)

    @pytest.fixture
    def nobody(self, shelf, files):
        """Be somebody whom permissions bind."""
        if os.geteuid():
            yield
            return
        # Whoever that is may not read where Python is: all modules have to be here before.
        with scrubjay.open(":memory:", embedder=False) as store:
            store.connect(files["team"], name="warm")
            found(store)
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    def test_a_file_in_a_folder_that_cannot_be_written_is_searched(self, shelf, nobody):
        """A team's vault may be out of everybody's reach but its keeper's."""
        with scrubjay.open(":memory:", embedder=False) as store:
            store.connect(shelf, name="shelf")

            assert {(id_, tier) for id_, tier, _ in found(store)} == {
                ("team-entry", "shelf"),
                ("shared", "shelf"),
            }
            assert os.listdir(os.path.dirname(shelf)) == ["team.db"]

    @pytest.fixture
    def log(self, shelf):
        """What somebody has written and nobody has moved into the file yet."""
        folder = Path(shelf).parent
        folder.chmod(0o755)
        Path(f"{shelf}-wal").write_bytes(b"x" * 5000)
        folder.chmod(0o555)

    def test_what_is_still_in_a_log_is_not_left_out_in_silence(self, shelf, log, nobody):
        """A file that cannot be read whole is lost, and says what to do."""
        with (
            scrubjay.open(":memory:", embedder=False) as store,
            pytest.raises(StoreError, match="last writes are still in"),
        ):
            store.connect(shelf, name="shelf")

    def test_what_is_written_later_is_not_left_out_in_silence_either(self, shelf, nobody):
        """It was opened as one that nobody changes, and somebody does."""
        with scrubjay.open(":memory:", embedder=False) as store:
            store.connect(shelf, name="shelf")
            assert lost(store) == []
            self.written_meanwhile(shelf)

            (reason,) = lost(store)

            assert "last writes are still in" in reason

    def written_meanwhile(self, shelf):
        """Let its keeper write without closing it."""
        mine = os.geteuid()
        if not os.getuid():
            os.seteuid(0)
        try:
            folder = Path(shelf).parent
            folder.chmod(0o755)
            Path(f"{shelf}-wal").write_bytes(b"x" * 5000)
            folder.chmod(0o555)
        finally:
            os.seteuid(mine)


class TestOpening:
    def test_the_highest_tier_is_the_one_that_is_written(self, files, opened):
        """Without a path; the others stay as they are."""
        store = opened(tiers={"team": files["team"], "project": files["project"]})
        store.add("the boiler is new", id="new")

        assert store.path == files["project"]
        assert ("new", "project", 0.8) in found(store)

    def test_a_path_that_is_no_tier_stands_above_all(self, files, opened, tmp_path):
        """It is the agent's where no other file is, and has the weight 1."""
        alone = opened(tmp_path / "a.db", tiers={"team": files["team"]})
        beside = opened(tmp_path / "b.db", tiers=files)
        for store in (alone, beside):
            store.add("my own boiler", id="shared")

        assert ("shared", "agent", 1.0) in found(alone)
        assert ("shared", "own", 1.0) in found(beside)

    def test_a_path_that_is_a_tier_is_that_tier(self, files, opened):
        """However it is spelt; a higher one keeps its version."""
        spelt = os.path.join(os.path.dirname(files["team"]), "..", "team", "vault.db")
        store = opened(spelt, tiers=files)

        assert [(one.name, one.own) for one in store.tiers()] == [
            ("agent", False),
            ("project", False),
            ("team", True),
        ]
        assert ("shared", "agent", 1.0) in found(store)

    def test_a_relative_path_stays_the_same_file(self, files, opened, tmp_path, monkeypatch):
        """Whatever folder the process goes to meanwhile."""
        monkeypatch.chdir(os.path.dirname(files["agent"]))
        team = os.path.relpath(files["team"])
        store = opened("vault.db", tiers={"team": team})
        monkeypatch.chdir(tmp_path)

        store.add("the boiler hums", id="hums")
        assert {tier for _, tier, _ in found(store)} == {"agent", "team"}
        assert lost(store) == []

    def test_a_path_may_be_in_memory(self, files, opened):
        """Notes that nobody keeps, over a vault that somebody does."""
        store = opened(":memory:", tiers={"team": Path(files["team"])})
        store.add("the boiler is loud", id="note")

        assert {(id_, tier) for id_, tier, _ in found(store)} == {
            ("note", "agent"),
            ("team-entry", "team"),
            ("shared", "team"),
        }

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ({"boss": "x.db"}, "unknown tier 'boss'; the tiers are agent, project, team"),
            ({"boss": "x.db"}, "connect(path, name='boss', priority=0.5)"),
            ({"team": ""}, "give the path of a file"),
            ({"team": 7}, "give the path of a file"),
            ({"team": ":memory:"}, "give the path of a file"),
            ({"team": "http://x/y"}, "is on a server"),
            ({"team": "x.db", "agent": "./x.db"}, "a file can be one tier only"),
            ("team", "give a mapping"),
        ],
    )
    def test_tiers_that_cannot_be(self, given, says, tmp_path, monkeypatch):
        """Before anything is made."""
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InvalidInput) as refused:
            scrubjay.open(tiers=given)
        assert says in str(refused.value)
        assert list(tmp_path.iterdir()) == []

    def test_settings_name_tiers_for_a_store_that_is_not_named(
        self, files, opened, tmp_path, monkeypatch
    ):
        """A path, and tiers given by hand, are without those of the settings."""
        settings = tmp_path / "scrubjay.toml"
        settings.write_text(
            f"[tiers]\nproject = '{files['project']}'\n"
            f"docs = {{ path = '{files['team']}', priority = 0.7 }}\n"
        )
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(settings))

        store = opened()
        assert [(one.name, one.weight, one.own) for one in store.tiers()] == [
            ("project", 0.8, True),
            ("docs", 0.7, False),
        ]
        assert [one.name for one in opened(files["agent"]).tiers()] == ["agent"]
        assert [one.name for one in opened(tiers={"team": files["team"]}).tiers()] == ["team"]

    def test_a_store_of_the_environment_is_without_the_tiers_of_the_settings(
        self, files, opened, tmp_path, monkeypatch
    ):
        """SCRUBJAY_DB names one file, as a path does; `db` of the settings stands beside its tiers."""
        settings = tmp_path / "scrubjay.toml"
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(settings))
        settings.write_text(f"[tiers]\nteam = '{files['team']}'\n")
        monkeypatch.setenv("SCRUBJAY_DB", files["agent"])
        assert [one.path for one in opened().tiers()] == [files["agent"]]

        monkeypatch.delenv("SCRUBJAY_DB")
        settings.write_text(f"db = '{files['agent']}'\n[tiers]\nteam = '{files['team']}'\n")
        assert [(one.name, one.own) for one in opened().tiers()] == [
            ("agent", True),
            ("team", False),
        ]

    def test_relative_paths_of_the_settings_begin_at_their_file(
        self, files, opened, tmp_path, monkeypatch
    ):
        """Wherever a command is typed, they are the same files."""
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")
        (tmp_path / "scrubjay.toml").write_text(
            "db = 'agent/vault.db'\n[tiers]\nteam = 'team/vault.db'\n"
            "docs = { path = './project/vault.db', priority = 0.7 }\n"
        )
        monkeypatch.setenv("SCRUBJAY_CONFIG", "../scrubjay.toml")

        named = {one.name: one.path for one in opened().tiers()}

        assert named.keys() == {"agent", "team", "docs"}
        assert os.path.samefile(named["agent"], files["agent"])
        assert named["team"] == files["team"]
        assert named["docs"] == files["project"]

    def test_the_folder_of_a_written_tier_of_the_settings_is_made(
        self, opened, tmp_path, monkeypatch
    ):
        """As that of the default store is; a folder that was named in the call is not."""
        vault = tmp_path / "far" / "away" / "project.db"
        (tmp_path / "scrubjay.toml").write_text(f"[tiers]\nproject = '{vault}'\nteam = 't.db'\n")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(tmp_path / "scrubjay.toml"))

        opened().add("the boiler")

        assert vault.exists()
        with pytest.raises(StoreError, match="there is no folder"):
            scrubjay.open(tiers={"agent": tmp_path / "else" / "agent.db"})
        assert not (tmp_path / "else").exists()

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("tiers = 3", "tiers must be a table"),
            ("[tiers]\nteam = 3", "must be a path, or"),
            ("[tiers]\ndocs = { priority = 1 }", "must be a path, or"),
            ("[tiers]\ndocs = { path = 'x', weight = 1 }", "must be a path, or"),
            ("[tiers]\ndocs = { path = 'x', priority = 0 }", "above 0 and at most 1"),
            ("[tiers]\nteam = { path = 'x', priority = 0.4 }", "cannot have a priority"),
        ],
    )
    def test_settings_that_cannot_be(self, text, says, tmp_path, monkeypatch):
        """A sentence with what would be right."""
        (tmp_path / "scrubjay.toml").write_text(text)
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(tmp_path / "scrubjay.toml"))
        with pytest.raises(InvalidInput) as refused:
            scrubjay.open(":memory:")
        assert says in str(refused.value)


class TestConnecting:
    @pytest.mark.parametrize("kind", BREAKS)
    def test_a_file_that_cannot_be_read_is_refused_at_once(self, files, opened, kind):
        """And the store is as it was."""
        store = opened(files["agent"])
        BREAKS[kind][0](files["team"])
        before = snapshot(files["team"])

        says = "does not exist" if kind == "missing" else BREAKS[kind][1]
        with pytest.raises(NotFound if kind == "missing" else StoreError, match=says):
            store.connect(files["team"], name="wiki")

        assert [one.name for one in store.tiers()] == ["agent"]
        assert {tier for _, tier, _ in found(store)} == {None}
        assert snapshot(files["team"]) == before

    def test_a_file_that_is_locked_is_refused_at_once(self, files, opened):
        """Without a long wait."""
        store = opened(files["agent"])
        with Locked(files["team"]), pytest.raises(StoreError, match="another process"):
            store.connect(files["team"], name="wiki")
        store.connect(files["team"], name="wiki")

    def test_names_files_and_priorities_that_cannot_be(self, files, opened, tmp_path):
        """InvalidInput says what would be right; nothing is connected."""
        store = opened(files["agent"])
        store.connect(files["project"], name="docs")
        link = tmp_path / "another-name.db"
        os.symlink(files["project"], link)
        cases = [
            ({"path": files["team"], "name": "docs"}, "a tier 'docs' exists"),
            ({"path": files["project"], "name": "more"}, "is already the tier 'docs'"),
            ({"path": link, "name": "more"}, "is already the tier 'docs'"),
            ({"path": files["agent"], "name": "more"}, "is already the tier 'agent'"),
            ({"path": files["team"], "name": "team"}, "not a name for a connected tier"),
            ({"path": files["team"], "name": " "}, "printable name"),
            ({"path": files["team"], "name": "x", "priority": 0}, "above 0 and at most 1"),
            ({"path": files["team"], "name": "x", "priority": 1.1}, "above 0 and at most 1"),
            ({"path": files["team"], "name": "x", "priority": True}, "above 0 and at most 1"),
            (
                {"path": files["team"], "name": "x", "priority": float("nan")},
                "above 0 and at most 1",
            ),
        ]
        for given, says in cases:
            with pytest.raises(InvalidInput) as refused:
                store.connect(given.pop("path"), **given)
            assert says in str(refused.value)
        assert [one.name for one in store.tiers()] == ["agent", "docs"]

    def test_disconnected_is_searched_no_more(self, files, opened):
        """The store is alone again; an unknown name, and the own file, are refused."""
        store = opened(files["agent"])
        store.connect(files["team"], name="wiki")
        with pytest.raises(NotFound, match="tiers are: wiki"):
            store.disconnect("docs")
        with pytest.raises(InvalidInput, match="the store's own file"):
            store.disconnect("agent")

        store.disconnect("wiki")

        assert {tier for _, tier, _ in found(store)} == {None}
        with pytest.raises(NotFound, match="tiers are: none"):
            store.disconnect("wiki")

    def test_tiers_are_told_with_what_they_hold_or_lack(self, files, opened):
        """The highest first, with state, weight and count."""
        break_garbage(files["team"])
        store = opened(tiers=files)

        agent, project, team = store.tiers()

        assert agent == ("agent", files["agent"], 1.0, True, "open", "", 2)
        assert project == ("project", files["project"], 0.8, False, "open", "", 2)
        assert (team.state, team.memories) == ("lost", None)
        assert "not an SQLite database" in team.reason

    def test_threads_search_while_another_connects_and_disconnects(self, files, opened):
        """A search has all of a tier or nothing of it, and never an error."""
        store = opened(files["agent"])
        stop, failures, seen = threading.Event(), [], set()

        def search():
            try:
                while not stop.is_set():
                    results = store.search("boiler", profile="layered")
                    seen.add(tuple(sorted(hit.id for hit in results)))
                    assert not any(one.startswith("tier") for one in results.degraded)
            except (AssertionError, scrubjay.ScrubjayError) as error:
                failures.append(error)

        threads = [threading.Thread(target=search) for _ in range(2)]
        for one in threads:
            one.start()
        for _ in range(20):
            store.connect(files["team"], name="wiki")
            store.connect(files["project"], name="docs", priority=0.4)
            store.disconnect("wiki")
            store.disconnect("docs")
        stop.set()
        for one in threads:
            one.join()

        assert failures == []
        alone = ("agent-entry", "shared")
        assert seen <= {
            alone,
            tuple(sorted((*alone, "team-entry"))),
            tuple(sorted((*alone, "project-entry"))),
            tuple(sorted((*alone, "project-entry", "team-entry"))),
        }

    def test_closing_closes_every_file(self, files):
        """Nothing is left beside them, and the store says that it is closed."""
        store = scrubjay.open(tiers=files, embedder=False)
        found(store)
        store.close()
        store.close()

        for _ in range(2):  # the second time, nothing may have been opened again
            with pytest.raises(StoreError, match="is closed"):
                found(store)
        assert [one for path in files.values() for one in os.listdir(os.path.dirname(path))] == [
            "vault.db"
        ] * 3


class TestById:
    def test_an_id_is_found_in_any_tier_the_highest_first(self, files, opened):
        """SV-1: what a scan found is loaded by id, with the links that it has there."""
        with scrubjay.open(files["team"], embedder=False) as team:
            team.link("team-entry", "shared")
        store = opened(tiers=files)

        assert store.get("team-entry").links[0].to == "shared"
        assert store.get("shared").text == "the agent knows the boiler"
        got = store.get_many(["team-entry", "nowhere", "project-entry"])
        assert [one.id for one in got] == ["team-entry", "project-entry"]
        assert (got.missing, got.unasked) == (("nowhere",), ())
        assert store.resolve("team-e") == "team-entry"
        assert store.resolve("proj") == "project-entry"
        assert [one.id for one in store.neighbors("team-entry")] == ["shared"]
        assert store._context.lookup.holder("team-entry").tier.name == "team"
        assert store._context.lookup.holder("shared").tier.name == "agent"
        assert [one.id for one in store.ls()] == ["shared", "agent-entry"]

    def test_the_history_of_an_entry_is_that_of_its_tier(self, files, opened):
        """When it was done, and by which file."""
        with scrubjay.open(files["team"], embedder=False) as team:
            team.add("sweep", id="chore", type="task")
            team.done("chore")
        store = opened(tiers=files)

        assert [one.what for one in store.history("chore")] == ["done", "created"]

    def test_what_expires_is_of_every_tier_by_the_version_that_holds(self, files, opened, clock):
        """SV-9, SV-4: soonest first over all; a version below another says nothing."""
        now = clock()
        for name, days in (("agent", 6), ("project", 5), ("team", 4)):
            with scrubjay.open(files[name], embedder=False, clock=clock) as one:
                one.update(f"{name}-entry", valid_until=now + timedelta(days=days))
                if name != "agent":
                    one.update("shared", valid_until=now + timedelta(days=1))
        store = opened(tiers=files)

        found_ = store.expiring("30d")

        assert [one.id for one in found_] == ["team-entry", "project-entry", "agent-entry"]
        assert found_.tiers == {f"{name}-entry": name for name in NAMES}
        store.update("shared", valid_until=now + timedelta(days=2))
        assert [one.id for one in store.expiring("3d")] == ["shared"]
        assert [one.id for one in opened(files["team"]).expiring()] == ["shared", "team-entry"]
        clock.advance(days=9)
        over = store.expiring(expired=True)
        assert [one.id for one in over] == ["agent-entry", "project-entry", "team-entry", "shared"]

    def test_a_missing_id_says_which_tiers_could_not_be_asked(self, files, opened):
        """It may well be there."""
        break_garbage(files["team"])
        store = opened(tiers=files)

        assert store.get_many(["team-entry"]).unasked[0].startswith("tier team: ")
        for ask in (store.get, store.resolve, store._context.lookup.holder, store.history):
            with pytest.raises(NotFound, match="could not be searched: tier team"):
                ask("team-entry")

    def test_an_ambiguous_beginning_counts_all_tiers(self, files, opened):
        """And one id in several of them is one."""
        store = opened(tiers=files)
        store.add("x", id="team-events")

        with pytest.raises(InvalidInput, match="could be team-entry, team-events"):
            store.resolve("team-e")
        assert store.resolve("shar") == "shared"

    def test_what_another_tier_holds_is_not_changed_from_here(self, files, opened):
        """InvalidInput names the tier and its file; nothing changes in any."""
        store = opened(tiers=files)
        store.create_collection("crew")
        before = snapshot(files["team"])
        verbs = (
            lambda: store.update("team-entry", text="mine now"),
            lambda: store.done("team-entry"),
            lambda: store.forget("team-entry"),
            lambda: store.forget(["agent-entry", "team-entry"]),
            lambda: store.link("agent-entry", "team-entry"),
            lambda: store.unlink("agent-entry", "team-entry"),
            lambda: store.publish("team-entry", "crew"),
            lambda: store.unpublish("team-entry", "crew"),
        )
        for verb in verbs:
            with pytest.raises(InvalidInput, match="in the tier team") as refused:
                verb()
            assert f"--db {files['team']}" in str(refused.value)
        assert store.get("agent-entry")
        assert snapshot(files["team"])[files["team"]] == before[files["team"]]

    def test_a_version_below_another_is_not_changed_by_mistake(self, files, opened):
        """What one reads is the higher one; its fields must not land in the lower."""
        store = opened(files["team"], tiers=files)

        with pytest.raises(InvalidInput, match="in the tier agent"):
            store.update("shared", title="x")

    def test_an_own_version_is_added_over_that_of_another_tier(self, files, opened):
        """That is how one overrides what the team says."""
        store = opened(tiers=files)
        store.add("the boiler is ours", id="team-entry")

        assert store.get("team-entry").text == "the boiler is ours"
        assert ("team-entry", "agent", 1.0) in found(store)
        store.forget("team-entry")
        assert store.get("team-entry").text == "the boiler of the team"


def test_the_caller_of_a_tier_sees_what_that_file_lets_them(files, opened):
    """Membership is asked of the file that has the memory."""
    with scrubjay.open(files["team"], embedder=False) as team:
        team.create_collection("crew")
        team.share("crew", "ann")
        team.publish("team-entry", "crew")
    store = opened(files["agent"], tiers={"team": files["team"]}, user="ann")

    (hit,) = store.search("boiler", profile="layered")

    assert (hit.tier, hit.collection) == ("team", "crew")
    assert store._context.tables.records.ids(Scope(reader="ann")) == []
