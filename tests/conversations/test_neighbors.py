"""A short turn is indexed, embedded and shown with the turns around it; whatever is done to those."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from clocks import NOON, Clock
from fakes import HashingEmbedder, TokenEmbedder

import scrubjay
from scrubjay import InvalidInput
from scrubjay.text.analysis import tokens
from scrubjay.text.snippets import embedding_text

SHORT = 40
WORDS = [f"word{n}" for n in range(40)]


def opened(path=":memory:", embedder=False, **more):
    return scrubjay.Store(
        str(path), embedder=embedder, clock=Clock(), short_turn_chars=SHORT, **more
    )


def clipped(text):
    """The first words of a text, by a rule of this test's own."""
    if len(text) <= SHORT:
        return text
    kept = ""
    for word in text.split(" "):
        longer = f"{kept} {word}".strip()
        if len(longer) > SHORT:
            return kept
        kept = longer
    return kept


def conversation(one):
    return (one.namespace, one.session, one.owner or "", one.agent or "")


def neighbours(store, shown=clipped):
    """What stands around each memory, worked out from a plain list of all of them."""
    with store._context.db.read() as db:
        numbers = dict(db.execute("SELECT id, n FROM memories"))
    every = store.ls(limit=10_000)
    said = {one.id: "" for one in every}
    turns = [one for one in every if one.type == "message" and one.session is not None]
    turns.sort(key=lambda one: (conversation(one), one.created_at, numbers[one.id]))
    for place, one in enumerate(turns):
        beside = [turns[at] for at in (place - 1, place + 1) if 0 <= at < len(turns)]
        if len(one.text) <= SHORT:
            shown_beside = [
                shown(two.text) for two in beside if conversation(two) == conversation(one)
            ]
            said[one.id] = "\n".join(filter(None, shown_beside))
    return {one.id: (one, said[one.id]) for one in every}


def words(store):
    """The rows of the keyword index, by id."""
    with store._context.db.read() as db:
        rows = db.execute(
            "SELECT m.id, w.title, w.text, w.topics, w.context FROM words AS w"
            " JOIN memories AS m ON m.n = w.rowid"
        ).fetchall()
    return {id_: lines for id_, *lines in rows}


def vectors(store):
    with store._context.db.read() as db:
        rows = db.execute(
            "SELECT m.id, v.vector FROM vectors AS v JOIN chunks AS c ON c.n = v.chunk"
            " JOIN memories AS m ON m.n = c.memory"
        ).fetchall()
    return {id_: np.frombuffer(vector, "<f4") for id_, vector in rows}


def terms(store):
    with store._context.db.read() as db:
        return Counter(
            {(token, place): n for token, place, n in db.execute("SELECT * FROM terms")}
        )


def line(text, language):
    return " ".join(" ".join(tokens(text, language)).split())


def assert_words_fit(store):
    """Every row of the index, and the counts, are those of a plain look at the memories."""
    rows, counted = words(store), Counter()
    known = neighbours(store)
    assert rows.keys() == known.keys()
    for id_, (one, around) in known.items():
        context = "\n".join(filter(None, (one.context, around)))
        fields = (one.title, one.text, " ".join(one.topics), context)
        assert rows[id_] == [line(field, one.language) for field in fields]
        counted.update((token, one.namespace) for token in {"", *" ".join(rows[id_]).split()})
    assert terms(store) == counted


def assert_vectors_fit(store, model):
    """Every vector is of what a model would read now."""
    made = vectors(store)
    known = neighbours(store, shown=lambda text: text if len(text) <= SHORT else "")
    assert made.keys() == known.keys()
    for id_, (one, around) in known.items():
        context = "\n".join(filter(None, (one.context, around)))
        alone, among = model.embed(
            [embedding_text(one.title, "", said, one.text) for said in (one.context, context)]
        )
        right = (alone + among) / np.linalg.norm(alone + among)
        assert np.allclose(made[id_], right, atol=1e-6)


class Monkey:
    """Says, changes and forgets things in two sessions, at random and out of order."""

    def __init__(self, store, seed):
        self.store = store
        self.rng = random.Random(seed)
        self.done = Counter()

    def text(self):
        return " ".join(self.rng.choices(WORDS, k=self.rng.choice((1, 2, 3, 12))))

    def at(self):
        return NOON + timedelta(minutes=self.rng.randint(0, 12))

    def session(self):
        return self.rng.choice("st")

    def any_id(self):
        return self.rng.choice(self.store.ls(limit=1000)).id

    def say(self):
        who = self.rng.choice((None, "ann"))
        self.store.add_message(self.text(), session=self.session(), at=self.at(), owner=who)

    def say_several(self):
        said = [
            {"text": self.text(), "session": self.session(), "at": self.at()}
            for _ in range(self.rng.randint(2, 5))
        ]
        self.store.add_messages(said)

    def add(self):
        self.store.add(self.text(), type=self.rng.choice(("fact", "message")), context="own")

    def replace(self):
        self.store.add(
            self.text(),
            id=self.any_id(),
            type=self.rng.choice(("fact", "message", "message")),
            session=self.rng.choice(("s", "t", None)),
            created_at=self.at(),
        )

    def change(self):
        fields = {
            "text": self.text(),
            "session": self.session(),
            "created_at": self.at(),
            "namespace": self.rng.choice(("default", "other")),
            "type": self.rng.choice(("message", "message", "fact")),
            "context": self.rng.choice(("", "some context")),
            "title": self.rng.choice(("", "a title")),
            "topics": self.rng.choices(("red", "green"), k=self.rng.randint(0, 2)),
        }
        wanted = self.rng.sample(sorted(fields), self.rng.randint(1, 3))
        self.store.update(self.any_id(), **{name: fields[name] for name in wanted})

    def rename_topic(self):
        self.store.rename_topic("red", "green")
        self.store.rename_topic("green", "red")

    def forget(self):
        self.store.forget([self.any_id() for _ in range(self.rng.randint(1, 3))])

    def several(self):
        """Several things in one transaction."""
        with self.store._context.tables.records.transaction():
            for _ in range(3):
                self.act(("say", "change", "forget", "replace"))

    def act(self, names):
        name = self.rng.choice(names)
        try:
            getattr(self, name)()
            self.done[name] += 1
        except (InvalidInput, scrubjay.NotFound, IndexError):
            self.done["in vain"] += 1


ALL = (
    *("say", "say", "say", "say_several", "add", "replace"),
    *("change", "change", "change", "rename_topic", "forget", "several"),
)


@pytest.mark.parametrize("seed", range(4))
def test_the_words_are_right_after_anything(tmp_path, seed):
    """Compared with a plain look at all memories, and with an index made anew."""
    path = tmp_path / "a.db"
    with opened(path) as store:
        monkey = Monkey(store, seed)
        for _ in range(6):
            for _ in range(25):
                monkey.act(ALL)
            assert_words_fit(store)
        assert min(monkey.done[name] for name in ("say", "change", "forget", "several")) > 3
        before = words(store), terms(store)
        with store._context.db.write() as db:
            db.execute("UPDATE words SET text = 'other', context = 'rules'")
            db.execute("UPDATE meta SET value = 1 WHERE key = 'analyzer'")

    with opened(path) as store:
        assert (words(store), terms(store)) == before


@pytest.mark.parametrize("seed", range(3))
def test_the_vectors_are_right_after_anything(seed):
    """Once nothing is pending: of each memory's own words and its neighbours of now."""
    model = HashingEmbedder(64)
    with opened(embedder=model) as store:
        monkey = Monkey(store, seed)
        for _ in range(4):
            for _ in range(15):
                monkey.act(ALL)
            assert store.pending() == 0
            assert_vectors_fit(store, model)
        assert len(vectors(store)) > 5


class Interrupted(HashingEmbedder):
    """Something happens while it reads, the first few times."""

    def __init__(self):
        super().__init__(64)
        self.happens = []

    def embed(self, texts, *, as_query=False):
        made = super().embed(texts, as_query=as_query)
        if self.happens:
            self.happens.pop(0)()
        return made


def test_a_neighbour_that_arrives_while_the_model_reads_is_in_the_end_read():
    """And one that is forgotten then is not."""
    model = Interrupted()
    with opened(embedder=model) as store:
        secret = store.add_message("secret", session="s", at=NOON + timedelta(minutes=5)).id
        store.pending()
        model.happens += [
            lambda: store.add_message("between", session="s", at=NOON + timedelta(minutes=1)),
            lambda: store.forget(secret),
            lambda: store.add_message("last", session="s", at=NOON + timedelta(minutes=9)),
        ]
        store.add_message("first", session="s", at=NOON)

        assert store.pending() == 0
        assert model.happens == []
        assert_vectors_fit(store, model)
        assert_words_fit(store)


class TestTokens:
    def test_they_are_of_the_turn_alone_and_its_vector_is_not(self):
        """Late interaction looks at what the turn itself says."""
        model = TokenEmbedder(64)
        with opened(embedder=model) as store:
            store.add_messages([("user", "apple"), ("user", "banana")], session="s")
            store.add("a fact")
            assert store.pending() == 0
            assert_vectors_fit(store, model)
            assert {text for texts in model.encoded for text in texts} == {
                "apple",
                "banana",
                "a fact",
            }
            read = sum(map(len, model.encoded))

            store.add_message("cherry", session="s")
            assert store.pending() == 0
            assert_vectors_fit(store, model)
            assert sum(map(len, model.encoded)) == read + 2  # banana again, for its vector


class TestSearch:
    def test_a_short_answer_is_found_by_the_question_and_shown_with_it(self, memory):
        """Before and after, as lines; the line of dots is the message itself."""
        memory.add_messages(
            [
                ("user", "Where will the wedding be?"),
                ("assistant", "In Lisbon."),
                ("user", "Great,\n see you there!"),
                ("user", "And who brings the cake?"),
            ],
            session="s",
        )
        memory.pending()

        hits = {hit.text: hit for hit in memory.search("wedding", session="s")}

        assert hits["In Lisbon."].context == (
            "user: Where will the wedding be?\n…\nuser: Great, see you there!"
        )
        assert hits["Where will the wedding be?"].context == "…\nassistant: In Lisbon."
        assert memory.get(hits["In Lisbon."].id).context == ""  # it is stored nowhere

    def test_a_long_message_and_a_fact_are_shown_alone(self, words_only):
        words_only.add_message("Hello", session="s")
        words_only.add_message("zebra " * 100, session="s")
        words_only.add("A zebra in a note", session="s", context="as given")

        hits = {hit.text: hit.context for hit in words_only.search("zebra", session="s")}

        assert hits["zebra " * 100] == ""
        assert hits["A zebra in a note"] == "as given"

    def test_of_a_long_neighbour_only_the_beginning_is_shown(self, words_only):
        words_only.add_message("begin " + "again " * 200, session="s")
        words_only.add_message("zebra", session="s")

        hit = words_only.search("zebra", session="s")[0]

        assert hit.context.startswith("user: begin again")
        assert hit.context.endswith("again …\n…")
        assert len(hit.context) < 320

    def test_more_turns_by_the_number_of_the_stage(self, words_only):
        words_only.add_messages([("user", one) for one in "abcde"], session="s")

        def context(turns):
            found = words_only.search("c", session="s", overrides={"around": {"turns": turns}})
            return next(hit for hit in found if hit.text == "c").context

        assert context(2).split("\n") == ["user: a", "user: b", "…", "user: d", "user: e"]
        with pytest.raises(InvalidInput, match=r"around\.turns is 0; it must be 1 or more"):
            context(0)

    def test_what_was_forgotten_is_found_nowhere(self, memory):
        """Neither by itself nor by the turns beside it, and not shown with them."""
        memory.add_message("Where?", session="s")
        secret = memory.add_message("Behind the walrus", session="s")
        memory.add_message("Thanks", session="s")
        memory.pending()
        assert len(memory.search("walrus", mode="keyword")) == 3

        memory.forget(secret.id)

        assert len(memory.search("walrus", mode="keyword")) == 0
        assert not any("walrus" in " ".join(lines) for lines in words(memory).values())
        assert memory.pending() == 0
        shown = memory.search("thanks where", session="s")
        assert len(shown) == 2
        assert not any("walrus" in hit.context for hit in shown)

    def test_it_is_in_no_free_space_of_the_file_either(self, tmp_path):
        """The words of a forgotten message go from the rows of its neighbours for good."""
        path = tmp_path / "a.db"
        with opened(path) as store:
            for n in range(30):
                store.add_message(f"filler number {n}", session="s")
            secret = store.add_message("behind the walrusqx", session="s")
            store.add_message("thanks", session="s")
            assert b"walrusqx" in path.read_bytes() + (tmp_path / "a.db-wal").read_bytes()
            store.forget(secret.id)
        assert b"walrusqx" not in path.read_bytes()

    @pytest.mark.parametrize("who", ["owner", "agent"])
    def test_a_filter_neither_shows_nor_finds_by_what_it_excludes(self, words_only, who):
        """R-3: turns of another owner or agent are no neighbours, though the session is the same."""
        words_only.add_message("What colour is the zebra?", session="s", **{who: "ann"})
        words_only.add_message("Striped", session="s", **{who: "ben"})
        words_only.add_message("And the giraffe?", session="s", **{who: "ben"})

        assert list(words_only.search("zebra", session="s", **{who: "ben"})) == []
        (hit, *_) = words_only.search("striped", session="s", **{who: "ben"})
        assert hit.context == "…\nuser: And the giraffe?"


class TestOlder:
    def test_messages_of_a_version_that_knew_no_neighbours_get_them(self, tmp_path):
        """When the file is opened for the first time; their vectors are wanted anew."""
        path, model = tmp_path / "a.db", HashingEmbedder(64)
        with opened(path, embedder=model) as store:
            store.add_messages([("user", "apple"), ("user", "banana")], session="s")
            store.pending()
            with store._context.db.write() as db:
                db.execute("UPDATE words SET context = ''")
                db.execute("DELETE FROM meta WHERE key = 'turns'")
                db.execute("DELETE FROM terms")
                db.execute("DELETE FROM meta WHERE key = 'terms'")

        with opened(path, embedder=model) as store:
            assert_words_fit(store)
            assert store.pending(wait=False) == 2
            assert store.pending() == 0
            assert_vectors_fit(store, model)


class TestSetting:
    def test_from_the_file_the_environment_and_none(self, tmp_path, monkeypatch):
        """short_turn_chars: 300 unless something else is said."""
        with scrubjay.open(":memory:", embedder=False) as store:
            assert store._context.db.short_turn_chars == 300
        file = tmp_path / "scrubjay.toml"
        file.write_text("short_turn_chars = 100\n")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
        with scrubjay.open(":memory:", embedder=False) as store:
            assert store._context.db.short_turn_chars == 100
        monkeypatch.setenv("SCRUBJAY_SHORT_TURN_CHARS", "0")
        with scrubjay.open(":memory:", embedder=False) as store:
            assert store._context.db.short_turn_chars == 0

    @pytest.mark.parametrize("wrong", ["-1", "many", "10001", "1.5"])
    def test_what_cannot_be_is_refused(self, monkeypatch, wrong):
        monkeypatch.setenv("SCRUBJAY_SHORT_TURN_CHARS", wrong)
        with pytest.raises(InvalidInput, match=r"short_turn_chars .* 10000"):
            scrubjay.open(":memory:", embedder=False)
