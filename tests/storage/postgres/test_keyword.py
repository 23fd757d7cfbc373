"""Words in Postgres: the same matches, scores and order as in SQLite, however long a text is."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from backends import Sqlite, a_memory, asking, pieces

from scrubjay.storage.postgres import keyword as postgres_keyword
from scrubjay.storage.postgres import words as postgres_words
from scrubjay.storage.postgres.connection import PostgresDatabase
from scrubjay.storage.sql import keyword_ranking
from scrubjay.storage.sql.keyword_index import indexed
from scrubjay.storage.sql.records import SqlRecords
from scrubjay.text.urls import POSTGRES, parse_server_url
from scrubjay.types import Scope, Term

EVERYTHING = Scope()
WORDS = "amber bronze copper don't 15% a_b c:d x&y !z 日本語 naïve re-edit back\\slash".split()


class InPostgres:
    """A store in a database of its own."""

    def __init__(self, url):
        self.db = PostgresDatabase(parse_server_url(url, POSTGRES, "store"))
        self.records = SqlRecords(self.db)
        self.keyword = self.db.keyword


@pytest.fixture
def postgres_store(postgres_url):
    opened = InPostgres(postgres_url)
    yield opened
    opened.db.close()


@pytest.fixture
def both(postgres_store, tmp_path):
    embedded = Sqlite(str(tmp_path / "notes.db"))
    yield embedded, postgres_store
    embedded.close()


def put(stores, *memories):
    for store in stores:
        with store.records.transaction():
            for one in memories:
                store.records.put(one, pieces(one.text))


def found(store, terms, scope=EVERYTHING, limit=50, weights=None, **options):
    answer = store.keyword.search(terms, scope, limit, weights or {}, **options)
    return [(row.id, round(row.score, 9)) for row in answer.rows], round(answer.best, 9)


def ids(store, *terms, scope=EVERYTHING):
    return {id_ for id_, _ in found(store, terms, scope)[0]}


def chosen(chance, most):
    return " ".join(chance.choices(WORDS, range(len(WORDS), 0, -1), k=chance.randint(0, most)))


def corpus(chance, count):
    return [
        a_memory(
            f"m{n:03}",
            chosen(chance, 90) + " end",
            hours=n % 7,
            title=chosen(chance, 4),
            topics=tuple(dict.fromkeys(chance.choices(WORDS, k=n % 3))),
            context=chosen(chance, 8) if n % 2 else "",
            type="message" if n % 5 == 0 else "note",
            namespace=("default", "user:ann", "user:bob")[n % 3],
        )
        for n in range(count)
    ]


def a_term(chance, tokens):
    def run():
        start = chance.randrange(len(tokens) - 4)
        taken = list(tokens[start : start + chance.choice((1, 1, 1, 2, 3))])
        if chance.random() < 0.2:
            taken[-1] = taken[-1][:2] + "*"
        return tuple(taken)

    return Term(tuple(dict.fromkeys(run() for _ in range(chance.choice((1, 1, 2))))))


@pytest.mark.parametrize("small", [True, False], ids=["small-store", "large-store"])
def test_matches_scores_and_order_are_those_of_sqlite(both, monkeypatch, small):
    """NM-2: words, phrases, beginnings and forms, under every weight and filter, over many parts."""
    for name, most in (("POSITIONS", 50), ("ALIKE", 12), ("AHEAD", 6)):  # so that texts are cut
        monkeypatch.setattr(postgres_words, f"MAX_{name}", most)
    if not small:
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
        monkeypatch.setattr(postgres_keyword, "FEW", 0)
    chance = random.Random(7)
    memories = corpus(chance, 90)
    put(both, *memories)
    embedded, server = both
    with embedded.db.read() as db:
        lines = db.execute("SELECT text || ' ' || title FROM words").fetchall()
    tokens = " ".join(line for (line,) in lines).split()
    weights = ({}, {"title": 3.0, "text": 1.2, "topics": 2.0, "context": 0.3, "ident": 0.0})
    scopes = (
        EVERYTHING,
        Scope(types=("note",)),
        Scope(reader="ann"),
        Scope(holds=(a_term(chance, tokens),)),
        Scope(lacks=(a_term(chance, tokens)._replace(unless=("-edit",)),)),
    )

    compared = 0
    for at in range(60):
        terms = [a_term(chance, tokens) for _ in range(chance.randint(1, 3))]
        asked = (terms, scopes[at % len(scopes)], chance.choice((3, 50)), weights[at % 2])
        every = bool(at % 3)

        right = found(embedded, *asked, every_first=every)

        assert found(server, *asked, every_first=every) == right
        assert server.keyword.rarity(terms[0]) == embedded.keyword.rarity(terms[0])
        compared += len(right[0])
    assert compared > 500
    with server.db.read() as db:
        assert db.execute("SELECT max(part) FROM word_parts").fetchone()[0] > 2


# One vector of a whole memory: A to D are the title, the topics, the context, and text and id.
BY_SQL = """
SELECT m.id, ts_rank_cd('{0.4, 0.3, 0.6, 0.9}', v.vector::tsvector, v.query::tsquery, 1) AS score
FROM (SELECT unnest(%(n)s::bigint[]) AS n, unnest(%(vectors)s::text[]) AS vector, %(query)s AS query)
  AS v JOIN scrubjay.memories AS m ON m.n = v.n
WHERE v.vector::tsvector @@ v.query::tsquery ORDER BY m.id
"""


def quoted(token):
    return "'" + token.replace("\\", "\\\\") + "'"


def separated(line):
    """Return the tokens of a line; a quote separates two, as in FTS5."""
    return line.replace("'", " ").split()


def one_vector(title, topics, context, text, ident):
    """Return all fields as one token vector, with a gap between two."""
    marks, at = [], 0
    for line, label in ((title, "A"), (topics, "B"), (context, "C"), (text, ""), (ident, "")):
        for token in separated(line):
            at += 1
            marks.append(f"{quoted(token)}:{at}{label}")
        at += 1
    return " ".join(marks)


def as_query(term):
    runs = []
    for run in term.any_of:
        tokens = [
            f"{quoted(one[:-1])}:*" if one.endswith("*") and len(one) > 1 else quoted(one)
            for one in separated(" ".join(run))
        ]
        runs.append(" <-> ".join(tokens))
    return " | ".join(runs)


@pytest.mark.parametrize("parts", [1, 4], ids=["one-part", "several-parts"])
def test_cover_density_is_the_ts_rank_cd_of_the_whole_memory(postgres_store, monkeypatch, parts):
    """NM-2: any tokens, phrases, beginnings and forms; and a text of many parts as if it were one."""
    if parts > 1:
        for name, most in (("POSITIONS", 50), ("ALIKE", 12), ("AHEAD", 6)):
            monkeypatch.setattr(postgres_words, f"MAX_{name}", most)
    chance = random.Random(9)
    put([postgres_store], *corpus(chance, 90))
    fields = "title, topics, context, text, ident"
    with postgres_store.db.read() as db:
        lines = db.execute(f"SELECT rowid, {fields} FROM words").fetchall()
        assert db.execute("SELECT max(part) + 1 FROM word_parts").fetchone()[0] >= parts
    given = {"n": [n for n, *_ in lines], "vectors": [one_vector(*line) for _, *line in lines]}
    tokens = " ".join(line[3] for line in lines).split()
    weights = {"title": 0.9, "topics": 0.6, "context": 0.3, "text": 0.4, "ident": 0.4}

    for _ in range(40):
        terms = [a_term(chance, tokens) for _ in range(chance.randint(1, 3))]
        if parts > 1:  # at a seam a phrase counts beside a token inside it; elsewhere it does not
            terms = [Term(tuple((run[-1],) for run in term.any_of)) for term in terms]
        given["query"] = " | ".join(map(as_query, terms))
        with postgres_store.db.read() as db:
            right = dict(db.connection.execute(BY_SQL.encode(), given).fetchall())

        rows = postgres_store.keyword.search_by_cover_density(terms, EVERYTHING, 200, weights).rows

        assert {row.id: row.score for row in rows} == pytest.approx(right, abs=2e-6, rel=1e-5)
        assert list(rows) == sorted(rows, key=lambda row: (-row.score, -row.updated_us, row.id))
        few = postgres_store.keyword.search_by_cover_density(terms, EVERYTHING, 5, weights)
        assert few.rows == rows[:5]


def test_no_token_is_read_as_syntax(postgres_store):
    """Neither where it is looked for, nor where it must or must not be, nor where it is written."""
    tokens = [
        "\\",
        "'",
        "a'b",
        '"',
        "&",
        "|",
        "!",
        "(",
        ":*",
        "a:b",
        "<->",
        "*",
        "?",
        "%s",
        "\0",
        "日",
    ]
    both = (a_memory("a", "tent " + " pole ".join(tokens)), a_memory("b", "tent"))
    put([postgres_store], *both)

    for token in tokens:
        term = Term(((token,), ("pole", token), (token, "pole*")), unless=(token,))
        assert ids(postgres_store, Term((("tent",),)), term) == {"a", "b"}, token
        ranked = postgres_store.keyword.search_by_cover_density([term], EVERYTHING, 9, {})
        assert {row.id for row in ranked.rows} == ids(postgres_store, term), token
        for scope in (Scope(holds=(term,)), Scope(lacks=(term,))):
            assert ids(postgres_store, *asking("tent"), scope=scope) <= {"a", "b"}, token


def test_a_long_text_is_searched_to_its_end(both):
    """Postgres itself leaves out what stands beyond the 16,383rd place, and the 256th of a word."""
    filler = [f"f{n}" for n in range(29_000)]
    for at in range(100, 29_000, 60):
        filler[at] = "often"
    filler[14_990:15_010] = [f"seam{n}" for n in range(20)]
    filler[-1] = "last"
    put(both, a_memory("long", " ".join(filler)), a_memory("short", "often last"))
    seams = [Term(((f"seam{n}", f"seam{n + 1}", f"seam{n + 2}"),)) for n in range(18)]

    for terms in (asking("last"), asking("often"), asking("seam3"), [Term((("f28998", "last"),))]):
        embedded, server = (found(store, terms) for store in both)
        assert server == embedded
        assert "long" in {id_ for id_, _ in server[0]}
    assert found(both[1], seams) == found(both[0], seams)


def test_a_word_of_any_length_can_be_stored(postgres_store):
    """Postgres takes none above 2,046 bytes."""
    put([postgres_store], a_memory("a", "tent " + "x-" + "é" * 5_000 + " " + "日" * 5_000))

    assert ids(postgres_store, *asking("tent")) == {"a"}


def test_what_is_noted_of_the_index_is_what_it_holds(postgres_store):
    """BM25 needs the number of memories and of their tokens; both are noted, not counted."""
    store = postgres_store
    words = store.db.words

    def noted():
        with store.db.read() as db:
            counted = db.execute("SELECT count(*), coalesce(sum(length), 0) FROM words").fetchone()
            assert tuple(indexed(db)[:2]) == tuple(counted)
            return counted

    put([store], *(a_memory(f"m{n}", "one two three " * n, topics=("x",)) for n in range(1, 6)))
    assert noted()[0] == 5
    put([store], a_memory("m5", "shorter"))
    with store.db.write() as db:
        (n,) = db.execute("SELECT n FROM memories WHERE id = 'm1'").fetchone()
        words.put_topics([(n, ("much", "longer", "topics"), "")])
        words.put_context(n, "some context", "")
    noted()
    assert ids(store, *asking("longer")) == ids(store, *asking("context")) == {"m1"}
    with suppress(KeyboardInterrupt), store.db.write():
        words.delete([n])
        raise KeyboardInterrupt
    assert noted()[0] == 5
    store.records.delete(["m1", "m2"])
    assert noted()[0] == 3
    with store.db.write():
        words.clear()
    assert tuple(noted()) == (0, 0)


def test_a_search_inside_a_write_sees_what_was_written(postgres_store):
    """As SQLite does, counts and all."""
    with postgres_store.db.write():
        put([postgres_store], a_memory("a", "amber"))
        assert ids(postgres_store, *asking("amber")) == {"a"}
        assert postgres_store.keyword.rarity(asking("amber")[0]) > 0


def test_common_words_are_passed_over_only_where_they_cannot_decide(both, monkeypatch):
    """NM-2: rare words first, then all; whatever the scope leaves, ids, order and scores are SQLite's."""
    monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    monkeypatch.setattr(postgres_keyword, "FEW", 0)
    monkeypatch.setattr(postgres_words, "MAX_ALIKE", 8)  # so that some have several parts
    chance = random.Random(3)
    words = [f"w{n}" for n in range(60)]
    put(
        both,
        *(
            a_memory(
                f"m{n}",
                " ".join(chance.choices(words, [1 / (at + 1) for at in range(60)], k=12 + n % 30)),
                hours=n % 5,
                namespace=("default", "rarely")[n % 20 == 0],
            )
            for n in range(300)
        ),
    )
    embedded, server = both

    for at in range(80):
        terms = asking(
            *{f"w{int(60 * chance.random() ** 2)}" for _ in range(chance.randint(2, 5))}
        )
        scope = Scope(namespaces=("rarely",)) if at % 4 == 0 else EVERYTHING
        asked = (terms, scope, chance.choice((2, 6, 20)))
        every = bool(at % 3)

        right = found(embedded, *asked, every_first=every)

        assert found(server, *asked, every_first=every) == right, terms


def test_what_another_process_stores_counts_in_the_next_search(postgres_store, postgres_url):
    """How many hold a word is kept only until somebody commits."""
    put([postgres_store], a_memory("a", "amber"), a_memory("b", "bronze"))
    (amber,) = asking("amber")
    before = postgres_store.keyword.rarity(amber)
    seen = found(postgres_store, [amber], Scope(reader="ann"))
    other = InPostgres(postgres_url)
    put([other], a_memory("c", "amber", namespace="user:ann"))
    other.db.close()

    assert postgres_store.keyword.rarity(amber) < before
    assert seen[0] == []
    assert [id_ for id_, _ in found(postgres_store, [amber], Scope(reader="ann"))[0]] == ["c"]


def test_a_common_word_outweighs_a_rare_one_that_says_little(both, monkeypatch):
    """Ten long texts name the rare word once; short ones that say nothing but the other are better."""
    monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    monkeypatch.setattr(postgres_keyword, "FEW", 0)
    long = [a_memory(f"long{n}", "rare " + "filler " * 150) for n in range(10)]
    short = [a_memory(f"short{n}", "usual usual usual") for n in range(75)]
    put(both, *long, *short, *(a_memory(f"other{n}", "something else") for n in range(215)))

    embedded, server = (found(store, asking("rare", "usual"), limit=4) for store in both)

    assert server == embedded
    assert {id_[:5] for id_, _ in server[0]} == {"short"}
