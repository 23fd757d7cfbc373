"""What holds now, and what held before: the default profile, from links to hits."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest
from clocks import Clock
from sums import worked_out
from traces import steps

import scrubjay

MODES = ("keyword", "fast", "default", "thorough", "vector")
WIKI = {
    "alpha": ("The wiki runs on the host alpha", "2025-01-10"),
    "beta": ("The wiki moved to the host beta", "2025-06-10"),
    "gamma": ("The wiki moved on to the host gamma", "2025-11-10"),
}


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path, embedder):
    place = tmp_path / "n.db"
    if request.param == "postgres":
        place = request.getfixturevalue("emptied_postgres_url")
    with scrubjay.open(place, embedder=embedder, clock=Clock()) as opened:
        yield opened


@pytest.fixture
def wiki(store):
    """Three hosts of a wiki, not linked yet, and another text."""
    for id_, (text, created) in WIKI.items():
        store.add(text, id=id_, created_at=created)
    store.add("The host of the party brings a cake", id="cake", created_at="2025-02-01")
    store.pending()
    return store


def chain(store, *strengths):
    """Link the three hosts: by hand, or as detection does with these strengths."""
    ids = list(WIKI)
    for n, (old, new) in enumerate(itertools.pairwise(ids)):
        if strengths:
            store.link(new, old, strengths[n], kind="updates")
        else:
            store.link(new, old, kind="supersedes")
    return store


def ids(results):
    return [hit.id for hit in results]


def order(results):
    """The ids of the hosts, in the order of their hits."""
    return [hit.id for hit in results if hit.id in WIKI]


class TestTheDefaultProfile:
    @pytest.mark.parametrize("mode", MODES)
    def test_what_was_replaced_gives_its_place_to_its_successor(self, wiki, mode):
        """A chain of three: one hit, which names the others, newest first."""
        chain(wiki)
        found = wiki.search("the host of the wiki", mode=mode)

        assert order(found) == ["gamma"]
        assert found[0].id == "gamma"
        assert found[0].supersedes == ("beta", "alpha")
        assert found[0].superseded_by is None
        assert found[0].change_dates["alpha"] == datetime(2025, 1, 10, tzinfo=UTC)
        assert found.counts["superseded"] == 2

    @pytest.mark.parametrize("mode", MODES)
    def test_the_successor_takes_the_better_place_whatever_its_own(self, store, mode):
        """It comes in where no list has found it, with the score of what it replaced."""
        store.add("The boiler needs a pressure of two bar", id="old", created_at="2025-01-01")
        store.add("Since the repair it is three", id="new", created_at="2025-03-01")
        store.add("The pressure of the tyre", id="tyre", created_at="2025-01-01")
        store.pending()
        before = store.search("boiler pressure", mode=mode)
        store.link("new", "old", kind="supersedes")
        after = store.search("boiler pressure", mode=mode)

        assert before[0].id == "old"
        assert after[0].id == "new"
        assert "old" not in ids(after)
        assert after[0].score == before[0].score
        assert after.confidence > 0.8 * before.confidence
        parts = after.explain(after[0]).parts
        assert sum(part.amount for part in parts) == pytest.approx(after[0].score, abs=1e-6)
        [holds] = [part for part in parts if part.name == "holds"]
        place = before[0].score
        assert worked_out(holds.working[0]) == pytest.approx(holds.amount, abs=2e-6)
        assert holds.working[1].startswith(f"{place:.6f}: the place of old, which scored")
        assert after[0].why["holds"] == pytest.approx(holds.amount)

    def test_a_probable_update_leaves_the_older_one_below(self, wiki):
        """It says what may have replaced it."""
        chain(wiki, 0.6, 0.9)
        found = wiki.search("the host alpha of the wiki")

        assert order(found) == ["gamma", "alpha"]
        by_id = {hit.id: hit for hit in found}
        assert by_id["gamma"].supersedes == ("beta",)
        assert by_id["alpha"].superseded_by == "gamma"
        assert by_id["alpha"].score < by_id["gamma"].score
        assert ids(found) == [hit.id for hit in sorted(found, key=lambda hit: -hit.score)]

    def test_an_improbable_update_changes_nothing(self, wiki):
        """The same hits with the same scores as without it."""
        before = wiki.search("the host alpha of the wiki")
        chain(wiki, 0.4, 0.3)
        after = wiki.search("the host alpha of the wiki")

        assert [(hit.id, hit.score) for hit in after] == [(hit.id, hit.score) for hit in before]
        assert not any(hit.supersedes or hit.superseded_by for hit in after)

    def test_the_strengths_are_numbers_of_the_profile(self, wiki):
        """As every number."""
        chain(wiki, 0.6, 0.6)
        found = wiki.search("the host of the wiki", overrides={"fold.strong": 0.6})
        assert order(found) == ["gamma"]

    def test_a_store_without_such_links_is_not_asked_further(self, wiki):
        """One query; no rule is read."""
        wiki.link("alpha", "beta")
        trace = steps(wiki.search("the host of the wiki"))
        assert "replaced" in trace
        assert "tense" not in trace
        assert "fold" not in trace

    def test_a_circle_ends_at_the_newest(self, wiki):
        """Each replaced by another."""
        chain(wiki)
        wiki.link("alpha", "gamma", kind="supersedes")
        assert order(wiki.search("the host of the wiki")) == ["gamma"]

    def test_what_comes_back_is_a_hit_again(self, wiki):
        """First alpha, then beta, then alpha again, said by a third memory."""
        wiki.add("The wiki is back on the host alpha", id="again", created_at="2026-02-01")
        for new, old in (("beta", "alpha"), ("again", "beta")):
            wiki.link(new, old, kind="supersedes")
        [hit] = [hit for hit in wiki.search("the host alpha") if "alpha" in hit.text]
        assert hit.id == "again"
        assert hit.supersedes == ("beta", "alpha")

    def test_a_forgotten_successor_hides_nothing(self, wiki):
        """Its predecessor is a hit again."""
        chain(wiki)
        wiki.forget("gamma")
        assert order(wiki.search("the host of the wiki")) == ["beta"]
        wiki.forget("beta")
        [hit] = [hit for hit in wiki.search("the host of the wiki") if hit.id == "alpha"]
        assert hit.superseded_by is None

    def test_a_link_that_is_removed_hides_nothing(self, wiki):
        """`unlink` takes it back."""
        chain(wiki)
        assert wiki.unlink("gamma", "beta", kind="supersedes") == 1
        assert set(order(wiki.search("the host of the wiki"))) == {"gamma", "beta"}

    def test_a_successor_that_a_filter_excludes_replaces_nothing(self, wiki):
        """The older one stays, and names it."""
        chain(wiki)
        wiki.update("gamma", type="note")
        found = wiki.search("the host of the wiki", types=["fact"])
        assert order(found) == ["beta"]
        assert found[0].superseded_by == "gamma"
        assert found[0].supersedes == ("alpha",)

    def test_a_phrase_is_in_every_hit(self, wiki):
        """Also where the memory with it was replaced."""
        chain(wiki)
        found = wiki.search('"host alpha"')
        assert ids(found) == ["alpha"]
        assert found[0].superseded_by == "gamma"

    def test_an_ended_successor_hides_nothing_that_is_found(self, wiki):
        """It is hidden itself; the older one says what replaced it."""
        chain(wiki)
        wiki.update("gamma", valid_until="2026-01-01")
        found = wiki.search("the host of the wiki")
        assert order(found) == ["beta"]
        assert found[0].superseded_by == "gamma"

    def test_a_successor_that_is_not_valid_yet_replaces_nothing(self, wiki):
        """Until then the older one holds."""
        chain(wiki)
        wiki.update("gamma", valid_from="2030-01-01")
        found = wiki.search("the host of the wiki")
        assert order(found) == ["beta"]
        assert found[0].superseded_by is None


class TestQuestionsAboutThePast:
    @pytest.mark.parametrize(
        ("question", "expected"),
        [
            ("What was the previous host of the wiki?", ["beta", "alpha", "gamma"]),
            ("What was originally the host of the wiki?", ["alpha", "beta", "gamma"]),
            ("On which host did the wiki run in July 2025?", ["beta", "alpha", "gamma"]),
            ("host of the wiki before June 2025", ["alpha", "beta", "gamma"]),
            ("How has the host of the wiki changed?", ["gamma", "beta", "alpha"]),
            ("Auf welchem Host lief das Wiki früher?", ["beta", "alpha", "gamma"]),
            ("Which host has the wiki now, not the old host?", ["gamma"]),
            ("On which host is the wiki today?", ["gamma"]),
            ("the host of the wiki since March 2025", ["gamma"]),
        ],
    )
    def test_the_state_asked_for_comes_first(self, wiki, question, expected):
        """Nothing is dropped."""
        chain(wiki)
        assert order(wiki.search(question)) == expected

    def test_an_earlier_state_that_no_list_has_found_comes_in(self, store):
        """At the place of what replaced it; no more than the profile says."""
        store.add("We take a quarter turn of the valve", id="old", created_at="2025-01-01")
        store.add("The boiler needs three bar", id="new", created_at="2025-03-01")
        store.link("new", "old", kind="supersedes")
        asked = {"query": "What did the boiler previously need?", "mode": "keyword"}
        assert ids(store.search(**asked)) == ["old", "new"]
        assert ids(store.search(**asked, overrides={"fold.most": 0})) == ["new"]


class TestHistoryAndAsOf:
    @pytest.mark.parametrize("mode", MODES)
    def test_with_history_all_are_hits_the_newest_first(self, wiki, mode):
        """Whatever the question says, and however well an older one matches."""
        chain(wiki)
        found = wiki.search("previous host alpha of the wiki", mode=mode, history=True)
        assert order(found) == ["gamma", "beta", "alpha"]
        assert [hit.superseded_by for hit in found if hit.id in WIKI] == [None, "gamma", "gamma"]

    @pytest.mark.parametrize(
        ("as_of", "expected", "names"),
        [
            ("2025-01-31", ["alpha"], ()),
            ("2025-06-10", ["beta"], ("alpha",)),
            ("2025-12-01", ["gamma"], ("beta", "alpha")),
        ],
    )
    def test_later_memories_replaced_nothing_then(self, wiki, as_of, expected, names):
        """Nor do they name themselves."""
        chain(wiki)
        found = wiki.search("the host of the wiki", as_of=as_of)
        assert order(found) == expected
        [hit] = [hit for hit in found if hit.id in WIKI]
        assert (hit.supersedes, hit.superseded_by) == (names, None)

    def test_what_ended_is_found_with_history_below_what_replaced_it(self, wiki):
        """The end of validity hides it otherwise."""
        chain(wiki)
        wiki.update("beta", valid_until="2025-11-10")
        assert order(wiki.search("the host of the wiki")) == ["gamma"]
        found = wiki.search("the host beta of the wiki", history=True)
        assert order(found) == ["gamma", "beta", "alpha"]


class TestOtherCallers:
    def test_other_profiles_drop_nothing(self, wiki):
        """They are as documented."""
        chain(wiki)
        for profile in ("gnosis", "gno", "vault", "cognis", "novamem"):
            found = wiki.search("the host of the wiki", profile=profile)
            assert set(order(found)) == set(WIKI), profile

    def test_a_memory_that_the_caller_may_not_see_replaces_nothing(self, tmp_path, clock):
        """It is not even named."""
        path = tmp_path / "n.db"
        with scrubjay.open(path, embedder=False, user="ann", clock=clock) as ann:
            old = ann.add("The door code is 1234", created_at="2025-01-01").id
            ann.create_collection("home")
            ann.share("home", "bob")
            ann.publish(old, "home")
        with scrubjay.open(path, embedder=False, user="ann", clock=clock) as ann:
            new = ann.add("The door code became 5678", created_at="2025-02-01").id
            [copy] = [hit.id for hit in ann.search("door code", collection="home", mode="keyword")]
            ann.link(new, copy, kind="supersedes")
        with scrubjay.open(path, embedder=False, user="bob", clock=clock) as bob:
            [hit] = bob.search("door code", mode="keyword")
            assert (hit.id, hit.superseded_by) == (copy, None)
            assert bob.changes() == []
