"""How many memories hold each token: exact, whatever is done, by whomever, and however it ends."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from clocks import Clock
from places import DATA

import scrubjay
from scrubjay import InvalidInput, NotFound
from scrubjay.storage.sql import words as sql_terms
from scrubjay.storage.sql.words import count_terms
from scrubjay.text.analysis import tokens
from scrubjay.text.tfidf import TokenCounts
from scrubjay.types import Scope

WORDS = (
    "apple apples running don't pre-edit foo_bar camelCase C++ naïve Häuser Straße база сервера "
    "πόλη 日本語 東京都 데이터베이스 ฐานข้อมูล قاعدة ﷺ נתונים the of 42 user@host --force"
).split()
NAMESPACES = ("default", "work", "home")
TOPICS = ("red", "green", "dark blue", "don't", "日本")
COLLECTIONS = ("notes", "letters")


def terms_of(store):
    return store._context.tables.terms


def held(memory):
    """The tokens of a memory, by the rules of text.py alone."""
    fields = (memory.title, memory.text, " ".join(memory.topics), memory.context)
    return {t for field in fields for t in " ".join(tokens(field, memory.language)).split()}


def expected(store):
    """What the table must hold: all memories read one by one and counted."""
    return Counter(
        (token, memory.namespace)
        for memory in store.ls(limit=100_000)
        for token in ("", *held(memory))
    )


def table(store):
    with store._context.db.read() as db:
        return {(token, place): n for token, place, n in db.execute("SELECT * FROM terms")}


def assert_exact(store):
    """The table is what plain counting gives, and what a rebuild gives."""
    before = table(store)
    assert before == dict(expected(store))
    with store._context.db.write() as db:
        db.execute("UPDATE terms SET held_by = held_by + 7")
        count_terms(db)
    assert table(store) == before


class Monkey:
    """Does anything that a store can do to a memory, at random."""

    def __init__(self, store, seed):
        self.store = store
        self.rng = random.Random(seed)
        self.ids = []
        self.done = Counter()
        store.create_collection("team")

    def some(self, of, most):
        return self.rng.choices(of, k=self.rng.randint(0, most))

    def fields(self):
        """Some fields of a memory, with random words in them."""
        words = [*WORDS, *(f"word{n}" for n in range(60))]
        fields = {
            "title": " ".join(self.some(words, 3)),
            "text": " ".join((self.rng.choice(words), *self.some(words, 8))),
            "context": " ".join(self.some(words, 3)),
            "topics": self.some(TOPICS, 3),
            "namespace": self.rng.choice(NAMESPACES),
            "collection": self.rng.choice((None, *COLLECTIONS)),
        }
        wanted = self.rng.sample(sorted(fields), self.rng.randint(1, len(fields)))
        return {name: fields[name] for name in wanted if fields[name] is not None}

    def memory(self):
        return {"text": self.rng.choice(WORDS), **self.fields()}

    def add(self):
        self.ids.append(self.store.add(**self.memory()).id)

    def add_several(self):
        made = self.store.add_many(self.memory() for _ in range(self.rng.randint(2, 5)))
        self.ids += (one.id for one in made)

    def replace(self):
        self.ids.append(self.store.add(**self.memory(), id=f"mine{self.rng.randint(0, 40)}").id)

    def update(self):
        self.store.update(self.rng.choice(self.ids), **self.fields())

    def forget(self):
        self.store.forget(self.rng.sample(self.ids, min(len(self.ids), self.rng.randint(1, 4))))

    def rename_topic(self):
        self.store.rename_topic(*self.rng.choices((*TOPICS, "new"), k=2))

    def publish(self):
        self.ids.append(self.store.publish(self.rng.choice(self.ids), "team").id)

    def unpublish(self):
        self.store.unpublish(self.rng.choice(self.ids), "team")

    def rename_collection(self):
        self.store.rename_collection(*self.rng.choices(COLLECTIONS, k=2))

    def remove_collection(self):
        self.store.remove_collection(self.rng.choice(COLLECTIONS))

    def act(self):
        """Do one thing; what the store refuses is done in vain."""
        often = {"add": 50, "add_several": 5, "replace": 30, "update": 70, "forget": 40}
        often |= {"rename_topic": 2, "publish": 20, "unpublish": 20, "rename_collection": 1}
        often["remove_collection"] = 1
        (name,) = self.rng.choices(list(often), list(often.values()))
        try:
            getattr(self, name)()
            self.done[name] += 1
        except (InvalidInput, NotFound, IndexError):
            self.done["in vain"] += 1
        self.ids = self.ids[-400:]


def test_it_is_exact_after_ten_thousand_random_operations():
    """SV-7: compared with plain counting and with a rebuild, every thousand and at the end."""
    with scrubjay.open(":memory:", embedder=False, clock=Clock()) as store:
        monkey = Monkey(store, seed=7)
        for _ in range(10):
            for _ in range(1000):
                monkey.act()
            assert_exact(store)
        assert len(store.ls(limit=100_000)) > 100
        assert min(monkey.done[name] for name in ("add", "replace", "update", "forget")) > 500
        assert min(monkey.done[name] for name in ("publish", "unpublish", "rename_topic")) > 20
        assert monkey.done["remove_collection"] > 5
        assert monkey.done["in vain"] < 5000


class TestCounts:
    def test_all_that_the_owner_of_the_file_may_see(self, tmp_path):
        """N and df are sums over namespaces; a token of nobody is left out."""
        with scrubjay.open(tmp_path / "a.db", embedder=False) as store:
            store.add("red apple apple", namespace="work")
            store.add("red brick", title="An apple", namespace="home")
            store.add("green leaf")
            every = Scope(namespaces=("work",), types=("task",), collection="none")

            found = terms_of(store).counted(["red", "appl", "leaf", "unheard"], every)

            assert found == TokenCounts(3, {"red": 2, "appl": 2, "leaf": 1})
            assert terms_of(store).counted([], Scope()) == TokenCounts(3, {})

    def test_thousands_of_tokens_at_once(self):
        """More than SQLite takes arguments of in one statement on every machine."""
        with scrubjay.open(":memory:", embedder=False) as store:
            store.add_many({"text": " ".join(f"w{n}x{m}" for m in range(50))} for n in range(100))
            asked = [f"w{n}x{m}" for n in range(100) for m in range(50)]

            found = terms_of(store).counted(asked, Scope())

            assert found == TokenCounts(100, dict.fromkeys(asked, 1))

    def test_bags_of_unknown_ids_are_left_out_and_ids_are_no_words(self):
        """A bag has how often each token stands in title, text, topics and context."""
        with scrubjay.open(":memory:", embedder=False) as store:
            store.add("go, go!", id="gopher", title="Go", topics=["go home"], context="gone")

            assert terms_of(store).bags(["gopher", "nobody"]) == {
                "gopher": (store.get("gopher").language, {"go": 4, "home": 1, "gone": 1})
            }
            assert terms_of(store).bags([]) == {}
            assert terms_of(store).query_tokens("Go go!", "en") == {"go": 2}
            assert terms_of(store).query_tokens("", "en") == {}

    def test_what_is_written_is_counted_before_it_is_committed(self):
        """Who asks inside a transaction sees what it has written."""
        with scrubjay.open(":memory:", embedder=False) as store:
            store.add("kept for ever")
            with store._context.tables.records.transaction():
                store.add("a lone walrus")
                assert terms_of(store).counted(["walrus"], Scope()) == TokenCounts(
                    2, {"walrus": 1}
                )
                store.add("a second walrus")
            assert terms_of(store).counted(["walrus"], Scope()) == TokenCounts(3, {"walrus": 2})
            assert_exact(store)

    def test_an_id_given_twice_is_forgotten_once(self):
        """The same memory in two parts of a long list must not be subtracted twice."""
        with scrubjay.open(":memory:", embedder=False) as store:
            ids = [one.id for one in store.add_many({"text": f"n {n}"} for n in range(600))]
            assert store._context.tables.records.delete([*ids[:550], *ids[:550]]) == 550
            assert_exact(store)


class TestPeople:
    def test_nobody_is_told_what_others_have_stored(self, tmp_path):
        """SV-7: N and df are of what a person may see, with and without filters."""
        path = tmp_path / "a.db"
        with (
            scrubjay.open(path, embedder=False, user="ada") as ada,
            scrubjay.open(path, embedder=False, user="bob") as bob,
        ):
            ada.add("the secret is 4711")
            bob.add("bob likes walnuts")
            asked = ["secret", "4711", "walnut"]
            sees = bob._context.permissions.sees

            assert terms_of(bob).counted(asked, sees) == TokenCounts(1, {"walnut": 1})
            assert terms_of(bob).counted(
                asked, sees._replace(namespaces=("user:ada",))
            ) == TokenCounts(1, {"walnut": 1})

            ada.create_collection("team")
            ada.publish(ada.add("walnuts for the team").id, "team")
            assert terms_of(bob).counted(asked, sees) == TokenCounts(1, {"walnut": 1})
            ada.share("team", "bob")
            assert terms_of(bob).counted(asked, sees) == TokenCounts(2, {"walnut": 2})
            ada.unshare("team", "bob")
            assert terms_of(bob).counted(asked, sees) == TokenCounts(1, {"walnut": 1})


class TestForgotten:
    def test_its_words_are_not_in_the_table_any_more(self, tmp_path):
        """SV-7: neither those of a forgotten memory, nor of a text or a topic that was changed."""
        with scrubjay.open(tmp_path / "a.db", embedder=False) as store:
            store.add("walruses swim in the sea", id="a", topics=["polar"])
            store.add("walruses sing", id="b", topics=["arctic"])
            store.forget("a")
            left = {"", "walrus", "sing", "arctic"}
            assert table(store).keys() == {(token, "default") for token in left}
            store.update("b", text="they sing", namespace="zoo")
            left = left - {"walrus"} | {"they"}
            assert table(store).keys() == {(token, "zoo") for token in left}
            store.rename_topic("arctic", "cold sea")
            left = left - {"arctic"} | {"cold", "sea"}
            assert table(store).keys() == {(token, "zoo") for token in left}
            assert_exact(store)

    def test_they_are_not_in_the_free_space_of_the_file_either(self, tmp_path):
        """A page that is split keeps a copy of the rows that moved, which no deletion overwrites."""
        path, rng = tmp_path / "a.db", random.Random(0)

        def word(letters, least, most):
            return "".join(rng.choices(letters, k=rng.randint(least, most)))

        rare = [word("klmnopqrstuvwxyz", 11, 11) + "0" for _ in range(60)]
        with scrubjay.open(path, embedder=False) as store:
            made = []
            for one in rare:
                store.add_many(
                    {"text": " ".join(word("abcdefghij", 3, 8) for _ in range(12))}
                    for _ in range(30)
                )
                made.append(store.add(f"{one} and the rest").id)
            assert table(store).keys() > {(one, "default") for one in rare}
            store.forget(made)
        kept = path.read_bytes()
        assert [one for one in rare if one.encode() in kept] == []

    def test_an_emptied_store_has_an_empty_table(self):
        """Not even the count of its memories stays, as 0."""
        with scrubjay.open(":memory:", embedder=False) as store:
            store.forget([store.add("one thing").id, store.add("another", namespace="x").id])

            assert table(store) == {}
            assert terms_of(store).counted(["thing"], Scope()) == TokenCounts(0, {})


class TestFailures:
    def test_a_batch_that_fails_leaves_the_counts_as_they_were(self, tmp_path):
        """A rollback drops what was gathered, and the next write does not bring it."""
        with scrubjay.open(tmp_path / "a.db", embedder=False) as store:
            store.add("the first", id="first")
            before = table(store)
            with pytest.raises(NotFound):
                store.add_many([{"text": "never stored"}, {"text": "x", "links": ["nobody"]}])
            assert table(store) == before

            def fails():
                with store._context.tables.records.transaction():
                    store.add("lost words")
                    store.forget("first")
                    store.update(store.add("other words").id, namespace="elsewhere")
                    terms_of(store).counted(["lost"], Scope())  # written already, inside the write
                    store.add("lost again")
                    raise KeyError

            with pytest.raises(KeyError):
                fails()
            assert table(store) == before
            store.add("the second")
            assert_exact(store)

    def test_a_table_that_cannot_be_written_takes_the_memory_with_it(self, tmp_path):
        """Both are one transaction: never one without the other."""
        with scrubjay.open(tmp_path / "a.db", embedder=False) as store:
            store.add("the first", id="first")
            with store._context.db.write() as db:
                db.execute(
                    "CREATE TRIGGER full BEFORE INSERT ON terms WHEN new.token = 'poison'"
                    " BEGIN SELECT raise(ABORT, 'no'); END"
                )
            with pytest.raises(scrubjay.StoreError):
                store.add("a poison")
            assert [one.id for one in store.ls()] == ["first"]
            assert_exact(store)


WRITER = """
import random, sys
import scrubjay
path, name, seed = sys.argv[1:]
rng = random.Random(int(seed))
with scrubjay.open(path, embedder=False) as store:
    sys.stdin.readline()
    ids = []
    for n in range(60):
        words = " ".join(rng.choices(("red", "green", "blue", "日本語", name), k=4))
        ids.append(store.add(f"{words} {n}", topics=[name, "both"]).id)
        if n % 3 == 0:
            store.update(rng.choice(ids), text=f"{words} again {n}", namespace=rng.choice("ab"))
        if n % 5 == 0:
            store.forget(ids.pop(rng.randrange(len(ids))))
        if n % 20 == 19:
            store.rename_topic(name, f"{name} {n}")
"""

KILLED = """
import os, sys
import scrubjay
from scrubjay.storage.sql import words as sql_terms

real = sql_terms.count_terms
def die(db):
    real(db)
    os._exit(9)

sql_terms.count_terms = die
scrubjay.open(sys.argv[1], embedder=False)
"""


@pytest.mark.slow
class TestProcesses:
    def test_two_that_write_at_once_end_up_exact(self, tmp_path):
        """SV-7: the counts are in the file, and each transaction changes them from where they are."""
        path = tmp_path / "a.db"
        scrubjay.open(path, embedder=False).close()
        both = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(path), name, str(seed)],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for seed, name in enumerate(("ann", "ben"))
        ]
        for one in both:
            one.stdin.write("go\n")
            one.stdin.flush()
        assert [one.communicate(timeout=120)[1] for one in both] == ["", ""]
        with scrubjay.open(path, embedder=False) as store:
            assert len(store.ls(limit=1000)) > 80
            assert_exact(store)

    def test_a_killed_fill_starts_again(self, tmp_path):
        """All of it is one transaction with the note that it was done."""
        old = Path(shutil.copy(DATA / "schema-1.db", tmp_path / "old.db"))
        assert subprocess.run([sys.executable, "-c", KILLED, str(old)], timeout=60).returncode == 9
        db = sqlite3.connect(old)
        assert db.execute("SELECT count(*) FROM terms").fetchone() == (0,)
        db.close()

        with scrubjay.open(old, embedder=False) as store:
            assert terms_of(store).counted(["stage"], Scope()).memories == 3
            assert_exact(store)


class TestOlder:
    @pytest.mark.parametrize("name", ["schema-1.db", "schema-2.db"])
    def test_a_store_of_an_older_version_is_counted_once(self, tmp_path, monkeypatch, name):
        """When it is opened for the first time, and not again."""
        old = Path(shutil.copy(DATA / name, tmp_path / "old.db"))
        with scrubjay.open(old, embedder=False) as store:
            assert len(table(store)) > 5
            assert_exact(store)
            store.add("a later walrus")
            assert_exact(store)
        monkeypatch.setattr(sql_terms, "count_terms", lambda db: pytest.fail("counted again"))
        with scrubjay.open(old, embedder=False) as store:
            assert terms_of(store).counted(["walrus"], Scope()).held_by == {"walrus": 1}

    def test_other_rules_of_words_are_counted_anew(self, tmp_path):
        """A store whose words were made by other rules is indexed again, and so counted again."""
        path = tmp_path / "a.db"
        with scrubjay.open(path, embedder=False) as store:
            store.add("two walruses", topics=["sea"])
            store.add("one walrus", namespace="zoo")
            right = table(store)
            with store._context.db.write() as db:
                db.execute("UPDATE words SET text = 'walruses'")
                db.execute("UPDATE terms SET token = 'walruses' WHERE token = 'walrus'")
                db.execute("UPDATE meta SET value = 1 WHERE key = 'analyzer'")

        with scrubjay.open(path, embedder=False) as store:
            assert table(store) == right
            assert_exact(store)
            assert [one.text for one in store.search("walrus").hits] != []
