"""Random people in random collections: whatever they do, nobody sees a row that is not theirs to see."""

from __future__ import annotations

import tempfile
from pathlib import Path

from clocks import Clock
from fakes import TokenEmbedder
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import scrubjay
from scrubjay import InvalidInput, NotFound

PEOPLE = ("ann", "ben", "cem")
NAMES = ("red", "green")
WORDS = ("apple", "banana", "cherry", "damson")
ROLES = ("owner", "writer", "reader")
WAYS = (
    ("default", "keyword"),
    ("default", "vector"),
    ("default", None),
    ("default", "thorough"),
    ("gno", None),
    ("gnosis", None),
    ("gnosis", "deep"),
)

person = st.sampled_from(PEOPLE)
name = st.sampled_from(NAMES)
text = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
pick = st.integers(0, 10_000)


class Memberships(RuleBasedStateMachine):
    """Runs the verbs of sharing side by side with their meaning in plain Python.

    `places` has the home of each memory, a person or a collection; `roles` who may do what there.
    """

    @initialize()
    def open(self):
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "team.db"
        self.stores = {
            who: scrubjay.open(path, user=who, embedder=TokenEmbedder(32), clock=Clock())
            for who in PEOPLE
        }
        self.roles: dict[str, dict[str, str]] = {}
        self.places: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.copies: dict[str, str] = {}
        self.labels: dict[str, str | None] = {}

    def sees(self, who, least="reader"):
        """Return the ids that a person may see, or change."""
        allowed = ROLES[: ROLES.index(least) + 1]
        return {
            id_
            for id_, place in self.places.items()
            if place == who or self.roles.get(place, {}).get(who) in allowed
        }

    def may(self, who, place, least):
        return self.roles.get(place, {}).get(who) in ROLES[: ROLES.index(least) + 1]

    def labelled(self, who, name):
        """True when a person has memories of their own under this name."""
        own = {self.labels.get(id_) for id_, place in self.places.items() if place == who}
        return name in own

    def one_of(self, ids, number):
        return sorted(ids)[number % len(ids)] if ids else None

    @rule(who=person, name=name)
    def create(self, who, name):
        if name in self.roles or self.labelled(who, name):
            self.refused(lambda: self.stores[who].create_collection(name))
        else:
            self.stores[who].create_collection(name)
            self.roles[name] = {who: "owner"}

    @rule(who=person, other=person, name=name, role=st.sampled_from(ROLES))
    def share(self, who, other, name, role):
        here = self.roles.get(name, {})
        owners = [one for one in here if here[one] == "owner"]
        if self.may(who, name, "owner") and (role == "owner" or owners != [other]):
            here[other] = role
            assert self.stores[who].share(name, other, role) == here
        else:
            self.refused(lambda: self.stores[who].share(name, other, role))

    @rule(who=person, other=person, name=name)
    def unshare(self, who, other, name):
        here = self.roles.get(name, {})
        owners = [one for one in here if here[one] == "owner"]
        allowed = self.may(who, name, "owner") or (who == other and who in here)
        if allowed and other in here and owners != [other]:
            del here[other]
            assert self.stores[who].unshare(name, other) == here
        else:
            self.refused(lambda: self.stores[who].unshare(name, other))

    @rule(who=person, text=text, into=st.none() | name, topic=st.sampled_from(WORDS))
    def add(self, who, text, into, topic):
        role = self.roles.get(into, {}).get(who)
        if role == "reader" or (role and self.labelled(who, into)):
            self.refused(lambda: self.stores[who].add(text, collection=into))
            return
        kept = self.stores[who].add(text, collection=into, topics=[topic])
        place = into if self.may(who, into, "writer") else who
        same = [id_ for id_, home in self.places.items() if home == place]
        assert kept.id in self.places or text not in [self.texts[id_] for id_ in same]
        self.copies.pop(kept.id, None)  # it is said there, too
        if kept.id not in self.places:
            self.labels[kept.id] = into
        self.places[kept.id] = place
        self.texts[kept.id] = text

    @rule(who=person, number=pick, name=name)
    def publish(self, who, number, name):
        id_ = self.one_of(self.places, number)
        if id_ is None:
            return
        there = [self.texts[one] for one, place in self.places.items() if place == name]
        again = [copy for copy, of in self.copies.items() if of == id_]
        published = any(self.places.get(copy) == name for copy in again)
        if (
            id_ in self.sees(who)
            and self.may(who, name, "writer")
            and self.texts[id_] not in there
            and not published
        ):
            copy = self.stores[who].publish(id_, name)
            self.places[copy.id], self.texts[copy.id] = name, self.texts[id_]
            self.copies[copy.id] = id_
        else:
            self.refused(lambda: self.stores[who].publish(id_, name))

    @rule(who=person, number=pick, name=name)
    def unpublish(self, who, number, name):
        copy = self.one_of(self.copies, number)
        if copy is None:
            return
        of, place = self.copies[copy], self.places[copy]
        if place == name and self.may(who, name, "writer"):
            self.stores[who].unpublish(copy, name)
            self.gone(copy)
        elif place != name or of not in self.sees(who):
            self.refused(lambda: self.stores[who].unpublish(copy, name))

    @rule(who=person, number=pick)
    def forget(self, who, number):
        id_ = self.one_of(self.places, number)
        if id_ is None:
            return
        if id_ not in self.sees(who, "writer"):
            self.refused(lambda: self.stores[who].forget(id_))
            return
        assert self.stores[who].forget(id_) == 1
        reach = self.sees(who, "writer")
        for copy in [copy for copy, of in self.copies.items() if of == id_]:
            if copy in reach:
                self.gone(copy)
            else:
                del self.copies[copy]
        self.gone(id_)

    @rule(who=person, number=pick, text=text)
    def update(self, who, number, text):
        id_ = self.one_of(self.places, number)
        if id_ is None:
            return
        if id_ in self.sees(who, "writer"):
            self.stores[who].update(id_, text=text)
            self.texts[id_] = text
            self.copies.pop(id_, None)
        else:
            self.refused(lambda: self.stores[who].update(id_, text=text))

    @rule(who=person, a=pick, b=pick)
    def link(self, who, a, b):
        first, second = self.one_of(self.places, a), self.one_of(self.places, b)
        if first is None or first == second:
            return
        reach = self.sees(who, "writer")
        if {first, second} <= self.sees(who) and reach & {first, second}:
            self.stores[who].link(first, second)
        else:
            self.refused(lambda: self.stores[who].link(first, second))

    @rule(who=person, name=name)
    def remove(self, who, name):
        if self.may(who, name, "owner") and not self.labelled(who, name):
            inside = [id_ for id_, place in self.places.items() if place == name]
            assert self.stores[who].remove_collection(name) == len(inside)
            for id_ in inside:
                self.gone(id_)
            del self.roles[name]
        elif who in self.roles.get(name, {}):
            self.refused(lambda: self.stores[who].remove_collection(name))

    def gone(self, id_):
        del self.places[id_], self.texts[id_]
        self.copies = {c: of for c, of in self.copies.items() if id_ not in (c, of)}

    def refused(self, call):
        """Expect one of the two errors that a caller gets; the invariants tell if anything was done."""
        try:
            call()
        except (InvalidInput, NotFound):
            return
        raise AssertionError("this should have been refused")

    @invariant()
    def nobody_sees_what_is_not_theirs(self):
        """GS-5: by no verb, no profile and no mode."""
        if not hasattr(self, "stores"):
            return
        for who, store in self.stores.items():
            seen = self.sees(who)
            assert {one.id for one in store.ls(limit=1000)} == seen
            assert {one.id for one in store.get_many(self.places)} == seen
            assert store.status().memories == len(seen)
            assert {one.name for one in store.collections() if one.shared} == {
                name for name, here in self.roles.items() if who in here
            }
            for id_ in seen:
                assert {one.id for one in store.neighbors(id_, depth=3)} <= seen

    @rule(who=person, way=st.sampled_from(WAYS), asked=st.sampled_from(WORDS), more=text)
    def search(self, who, way, asked, more):
        """GS-5, GS-6: what is found is theirs to see, and no text is there twice."""
        profile, mode = way
        store, seen = self.stores[who], self.sees(who)
        for one in self.stores.values():
            one.pending()
        found = store.search(f"{asked} {more} fruit", profile=profile, mode=mode, limit=100)
        ids = [hit.id for hit in found]
        assert set(ids) <= seen, f"{who} was shown {set(ids) - seen}"
        own = {self.texts[id_] for id_ in seen if self.places[id_] == who}
        for hit in found:
            # One's own copy stands for all others.
            assert self.places[hit.id] == who or self.texts[hit.id] not in own
        shared = [hit.text for hit in found if self.places[hit.id] != who]
        assert len(shared) == len(set(shared))
        wanted = {self.texts[id_] for id_ in seen if asked in self.texts[id_].split()}
        if mode == "keyword":
            assert wanted <= {hit.text for hit in found}

    def teardown(self):
        for store in getattr(self, "stores", {}).values():
            store.close()
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestMemberships = Memberships.TestCase
TestMemberships.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
