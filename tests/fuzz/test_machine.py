"""A store against a dictionary: whatever is done in whatever order, both hold the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from clocks import Clock
from fakes import HashingEmbedder
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

import scrubjay
from scrubjay.storage.sqlite.postings.check import damage_of
from scrubjay.text.analysis import normalize, tokens

WORDS = ("apple", "banana", "cherry", "C++", "日本", "don't")
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
TOPICS = st.lists(st.sampled_from(["red", "green"]), max_size=2, unique=True)


class StoreMachine(RuleBasedStateMachine):
    """Runs the verbs of a store side by side with their meaning in plain Python."""

    ids = Bundle("ids")

    @initialize()
    def open(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "notes.db"
        self.clock = Clock()
        self.store = self._open()
        self.texts: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.links: dict[frozenset[str], float] = {}

    def _open(self):
        return scrubjay.open(self.path, embedder=HashingEmbedder(16), clock=self.clock)

    @rule(target=ids, text=TEXT, topics=TOPICS)
    def add(self, text, topics):
        same = [id_ for id_, (held, _) in self.texts.items() if normalize(held) == text]
        kept = self.store.add(text, topics=topics)
        if kept.id in self.texts:
            before = self.texts[kept.id]
            assert kept.id in same
            assert kept.text == before[0]
            self.texts[kept.id] = (before[0], tuple(dict.fromkeys((*before[1], *topics))))
            return multiple()
        assert same == []
        self.texts[kept.id] = (text, tuple(topics))
        return kept.id

    @rule(text=TEXT, topics=TOPICS, number=st.integers(0, 3))
    def put(self, text, topics, number):
        self.store.add(text, id=f"given{number}", topics=topics)
        self.texts[f"given{number}"] = (text, tuple(topics))

    @rule(id_=ids, text=TEXT)
    def update(self, id_, text):
        self.store.update(id_, text=text)
        self.texts[id_] = (text, self.texts[id_][1])

    @rule(id_=consumes(ids))
    def forget(self, id_):
        assert self.store.forget(id_) == 1
        del self.texts[id_]
        self.links = {pair: s for pair, s in self.links.items() if id_ not in pair}
        with pytest.raises(scrubjay.NotFound):
            self.store.get(id_)

    @rule(a=ids, b=ids, strength=st.sampled_from([0.25, 0.5, 1.0]))
    def link(self, a, b, strength):
        if a == b:
            with pytest.raises(scrubjay.InvalidInput):
                self.store.link(a, b, strength)
            return
        self.store.link(a, b, strength)
        self.links[frozenset((a, b))] = strength

    @rule(a=ids, b=ids)
    def unlink(self, a, b):
        held = 1 if self.links.pop(frozenset((a, b)), None) else 0
        assert self.store.unlink(a, b, "related") == held

    @rule(word=st.sampled_from(WORDS), topic=st.sampled_from([None, "red"]))
    def search(self, word, topic):
        right = {
            id_
            for id_, (text, topics) in self.texts.items()
            if word in text.split() and (topic is None or topic in topics)
        }
        found = self.store.search(word, mode="keyword", limit=100, topics=topic)
        assert {hit.id for hit in found} == right
        both = self.store.search(word, limit=100, topics=topic)
        unknown = topic and not any(topic in topics for _, topics in self.texts.values())
        assert bool(both.degraded) == bool(unknown)  # nothing has that topic, which is said
        seen = {hit.id for hit in both}
        may = {id_ for id_, (_, topics) in self.texts.items() if topic in (None, *topics)}
        assert right <= seen <= may

    @rule()
    def open_again(self):
        self.store.close()
        self.store = self._open()

    @rule(hours=st.integers(1, 100))
    def wait(self, hours):
        self.clock.advance(hours=hours)

    @invariant()
    def holds_the_same(self):
        if not hasattr(self, "store"):
            return
        assert {one.id: (one.text, one.topics) for one in self.store.ls(limit=1000)} == self.texts

    def teardown(self):
        if not hasattr(self, "store"):
            return
        links = {
            frozenset((id_, link.to)): link.strength
            for id_ in self.texts
            for link in self.store.get(id_).links
            if link.kind == "related"
        }
        assert links == self.links
        assert self.store.pending(wait=True) == 0
        state = self.store.status()
        near = self._near_duplicates()
        assert (state.memories, state.links) == (len(self.texts), len(self.links) + len(near))
        assert state.models.get("hashing-16", 0) == state.chunks
        self._indexes_agree()
        self.store.close()
        self.folder.cleanup()

    def _near_duplicates(self):
        """Every link that was made between texts that are alike, all of them still that."""
        near = {
            frozenset((id_, link.to)): link.strength
            for id_ in self.texts
            for link in self.store.get(id_).links
            if link.kind == "near_duplicate"
        }
        model = HashingEmbedder(16)
        for (a, b), strength in near.items():
            one, other = model.embed([self.texts[a][0], self.texts[b][0]])
            assert normalize(self.texts[a][0]) != normalize(self.texts[b][0])
            assert strength == pytest.approx(min(float(one @ other), 1.0), abs=1e-5)
            assert strength >= 0.95 - 1e-6
        return near

    def _indexes_agree(self):
        with self.store._context.db.write() as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            self.store._context.db.write_gathered()
            assert damage_of(db, filled=True) == ""
            rows = db.execute(
                "SELECT m.id, m.text, w.text FROM memories AS m LEFT JOIN words AS w ON w.rowid = m.n"
            ).fetchall()
            assert {(id_, " ".join(tokens(text))) for id_, text, _ in rows} == {
                (id_, indexed) for id_, _, indexed in rows
            }
            assert db.execute("SELECT count(*) FROM words").fetchone() == (len(rows),)


TestStore = StoreMachine.TestCase
TestStore.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
