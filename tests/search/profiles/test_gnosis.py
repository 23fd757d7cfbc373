"""The gnosis profile from end to end: meaning and topics, one pass of a reranker, previews."""

from __future__ import annotations

import json
from datetime import timedelta
from math import exp

import pytest
from clocks import NOON
from fakes import HashingEmbedder, ScriptedReranker, TokenEmbedder
from traces import steps

import scrubjay
from scrubjay import InvalidInput, Unavailable
from scrubjay.models.guard import GuardedEmbedder
from scrubjay.search import profiles
from scrubjay.search.profiles.gnosis import band
from scrubjay.storage.sqlite.connection import TolerantConnection

QUERY = "postgres backup"
LONG = "Postgres backups go to the second bucket every night at two. " + (
    "The job dumps one schema after another, packs each, and checks that it can be read. " * 5
)

# What the reranker says of each memory that it is asked about; of all others 0.01.
ABOUT_BACKUPS = {
    "nightly": ("fact", 0.90, LONG),
    "taste": ("preference", 0.60, "I prefer nightly dumps to hourly ones."),
    "march": ("summary", 0.50, "Backups in March: moved to the second bucket, keys renewed."),
    "weekly": ("preference_done", 0.64, "Weekly dumps are enough for me."),
    "job": ("task_done", 0.70, "Set up the dump job on the new host."),
    "restore": ("result", 0.80, "The restore test took 14 minutes."),
    "harper": ("fact", 0.008, "Harper keeps the keys of the backup."),
}
# By hand: the reranker's score, the floor, the factor.
RIGHT = {
    "nightly": 0.90,
    "taste": 0.75,  # 0.60 x 1.25
    "march": 0.65,  # 0.50 x 1.3
    "weekly": 0.56,  # 0.64 x 1.25 x 0.7
    "job": 0.49,  # 0.70 x 0.7
    "restore": 0.48,  # 0.80 x 0.6
    "harper": 0.15,  # one of two words: 0.30 / 2, instead of 0.008
}
OTHERS = """The ferry leaves at nine on weekdays.|Lena is allergic to hazelnuts.
The printer on the second floor jams on thick paper.|Our style guide wants sentence case in titles.
The landlord reads the meters in January.|The espresso machine wants descaling every month.
Feature flags live in one file, sorted by name.|The office key hangs behind the door.
We chose Rust for the parser.|The newsletter goes out on the first Friday.
Ana speaks Portuguese and some Finnish.|Invoices are due within thirty days.
The old laptop has a cracked hinge.|Meeting notes go to the shared folder.
The test suite takes nine minutes.|Blue is the colour of the autumn campaign.
The bicycle shed has a code lock.|Milo prefers to be called in the afternoon.
The roof terrace closes at ten.|Traffic doubles in the week before Christmas.
The search page shows ten hits at first.|The plants need water on Mondays.
We do not deploy on Fridays.|The logo may not be stretched.
Customs forms need the tariff number.|The intern starts in September.
Dark mode came with the second release.|The heating was serviced in October.
The tax adviser is called Brandt.|Lunch is at half past twelve.
The wiki moved to a new address.|Error pages carry the number of the request.
The coffee is from a roaster in Ghent.""".replace("\n", "|").split("|")


def memories():
    """Forty: seven that have to do with backups, and what else a small firm remembers."""
    about = [
        {"id": id_, "type": type_, "text": text, "topics": ["postgres"] if n % 2 else ["backup"]}
        for n, (id_, (type_, _, text)) in enumerate(ABOUT_BACKUPS.items())
    ]
    others = [{"id": f"o{n:02}", "text": text} for n, text in enumerate(OTHERS)]
    return [
        {**one, "created_at": NOON - timedelta(hours=n)} for n, one in enumerate(about + others)
    ]


def by_script(query, texts):
    """The scores of the table above, for that query; all others are about something else."""
    said = {text: score for _, score, text in ABOUT_BACKUPS.values()}
    return [said.get(text, 0.01) if query == QUERY else 0.01 for text in texts]


@pytest.fixture
def opened(tmp_path, clock):
    """Open a stocked store of the gnosis profile, with these models; closed when the test ends."""
    stores = []

    def make(stock=None, **models):
        models = {"embedder": HashingEmbedder(), "reranker": False, "generator": False} | models
        store = scrubjay.open(
            tmp_path / f"gnosis{len(stores)}.db", profile="gnosis", clock=clock, **models
        )
        stores.append(store)
        store.add_many(memories() if stock is None else stock)
        if models["embedder"] is not False:
            assert store.pending(wait=True) == 0
        return store

    yield make
    for one in stores:
        one.close()


@pytest.fixture
def reader():
    return ScriptedReranker(by_script)


def ids(results):
    return [hit.id for hit in results]


def synthetic(hit):
    """GS-12 from the ranks alone: what a hit scores that no reranker has read; a fact's."""
    places = {name: hit.found[name] for name in ("vector", "topics") if name in hit.found}
    x = sum(1 / (60 + place.rank) for place in places.values()) / (2 / 61 * 1.4)
    if "vector" in places:
        x *= 0.5 + 0.5 * places["vector"].score
    return 0.40 + 0.30 / (1 + exp(-10 * (x - 0.4)))


class TestTheAnswer:
    def test_every_score_can_be_computed_by_hand(self, opened, reader):
        """GS-10, GS-11, GS-13, R-2: in this order, and 33 others below the floor of 0.03."""
        results = opened(reranker=reader).search(QUERY)

        assert {hit.id: hit.score for hit in results} == pytest.approx(RIGHT)
        assert ids(results) == list(RIGHT)
        assert results.degraded == ()
        assert results.counts["candidates"] == results.counts["reranked"] == 40

    def test_the_parts_of_a_score_add_up(self, opened, reader):
        """R-7: what the reranker said, and what each stage made of it."""
        why = {hit.id: dict(hit.why) for hit in opened(reranker=reader).search(QUERY)}

        assert why["nightly"] == {"rerank": 0.90}
        assert why["taste"] == pytest.approx({"rerank": 0.60, "preference": 0.15})
        assert why["weekly"] == pytest.approx({"rerank": 0.64, "preference": 0.16, "_done": -0.24})
        assert why["restore"] == pytest.approx({"rerank": 0.80, "result": -0.32})
        assert why["harper"] == pytest.approx({"rerank": 0.008, "keyword_floor": 0.142})
        assert {id_: sum(of.values()) for id_, of in why.items()} == pytest.approx(RIGHT)

    def test_the_reranker_reads_whole_texts_in_one_call(self, opened, reader):
        """GS-9: the whole pool, best fused first, as long as the texts are."""
        book = {"id": "book", "text": "A postgres backup. " * 1000, "topics": ["postgres"]}
        store = opened([*memories(), book], reranker=reader)

        results = store.search(QUERY)

        ((query, texts),) = reader.asked
        assert query == QUERY
        assert len(texts) == 41
        assert store.get("book").text in texts
        assert results.counts["reranked"] == 41
        assert steps(results)["cross_encoder"].numbers["deadline_ms"] is None

    def test_the_title_is_read_and_counts_as_text(self, opened):
        """GS-9, GS-11: what is only in the title is read by the reranker, and found by the floor."""
        reader = ScriptedReranker(lambda _, texts: [0.008] * len(texts))
        titled = {
            "id": "connection",
            "title": "Postgres connection string",
            "text": "host=db.internal port=5432 user=app",
        }
        store = opened([*memories()[7:], titled], reranker=reader)

        results = store.search("postgres")

        assert {hit.id: hit.score for hit in results} == {"connection": 0.30}
        assert results[0].why == pytest.approx({"rerank": 0.008, "keyword_floor": 0.292})
        ((_, texts),) = reader.asked
        assert "Postgres connection string\nhost=db.internal port=5432 user=app" in texts
        half = store.search("postgres password")
        assert [(hit.id, hit.score) for hit in half] == [("connection", 0.15)]

    def test_a_title_that_begins_the_text_is_read_once(self, opened):
        """GS-9: a heading is the title of its document."""
        reader = ScriptedReranker(lambda _, texts: [0.5] * len(texts))
        note = {"id": "note", "title": "Backups", "text": "# Backups\n\nEvery night at two."}
        opened([*memories(), note], reranker=reader).search(QUERY)

        ((_, texts),) = reader.asked
        assert "# Backups\n\nEvery night at two." in texts

    def test_lists_are_fused_by_rank(self, opened, reader):
        """GS-3, GS-7, GS-8: 1 / (60 + rank), a preference's times 1.3, in the order that is read."""
        store = opened(reranker=reader)
        results = store.search(QUERY, overrides={"verdict": False, "at_least.score": 0.0})
        factors = {"preference": 1.3, "preference_done": 1.3, "summary": 1.4}
        after = {"taste": 1.25, "weekly": 1.25 * 0.7, "march": 1.3, "job": 0.7, "restore": 0.6}

        for hit in results:
            fused = sum(
                1 / (60 + place.rank) for place in hit.found.values() if place.rank is not None
            )
            fused *= factors.get(hit.type, 1.0)
            held = sum(word in hit.text.lower().rstrip(".").split() for word in QUERY.split())
            right = max(fused, 0.15 * held) * after.get(hit.id, 1.0)
            assert hit.score == pytest.approx(right, abs=1e-6)

    def test_a_preference_survives_the_cut(self, opened, reader):
        """GS-8: 48th of its list it would be cut off; 1.3 / 108 is more than 1 / 93."""
        near = [{"id": f"v{n:02}", "text": f"zebra stripes v{n}"} for n in range(64)]
        tagged = [
            {"id": f"t{n:02}", "text": f"unrelated thing t{n}", "topics": ["zebra"]}
            for n in range(48)
        ]
        stock = [
            {**one, "created_at": NOON - timedelta(hours=n)}
            for n, one in enumerate([*near, *tagged])
        ]

        def read_last(**changes):
            store = opened([*stock[:-1], {**stock[-1], **changes}], reranker=reader)
            results = store.search("zebra stripes")
            assert results.counts["candidates"] == 112
            assert results.counts["reranked"] == 64
            return stock[-1]["text"] in reader.asked[-1][1]

        assert read_last(type="preference")
        assert not read_last(type="fact")

    def test_filters_bind_both_lists(self, opened, reader):
        """R-3: by meaning and by topic."""
        store = opened(reranker=reader)
        store.add("A postgres backup of mine.", id="mine", namespace="me", topics=["postgres"])
        store.pending(wait=True)

        results = store.search(QUERY, namespace="me")

        assert ids(results) == ["mine"]
        assert (results.counts["vector"], results.counts["topics"]) == (1, 1)


class TestModes:
    @pytest.fixture
    def many(self):
        """300 memories, all with the topic and the word."""
        return [
            {"id": f"m{n:03}", "text": f"zebra number n{n}", "topics": ["zebra"]}
            for n in range(300)
        ]

    @pytest.mark.parametrize(
        ("mode", "limit", "size", "by_topic"),
        [("standard", 32, 64, 48), ("deep", 100, 256, 192)],
    )
    def test_each_mode_has_its_numbers(self, opened, many, mode, limit, size, by_topic):
        """GS-1, GS-3: pool, lists and results; whatever limit is asked for."""
        reader = ScriptedReranker(lambda query, texts: [0.5] * len(texts))
        store = opened(many, reranker=reader)

        for asked in (1, None, limit):
            results = store.search("zebra number", mode=mode, limit=asked)
            assert len(results) == (asked or limit)
            assert (results.counts["vector"], results.counts["topics"]) == (size, by_topic)
            assert results.counts["reranked"] == size == len(reader.asked[-1][1])
            assert results.counts["candidates"] >= size
            assert "limit_cut_from" not in results.counts
        cut = store.search("zebra number", mode=mode, limit=limit + 1)
        assert (len(cut), cut.counts["limit_cut_from"]) == (limit, limit + 1)

    def test_standard_is_the_default(self):
        """GS-1: the same list of stages, and the same limits."""
        bare, named = profiles.get("gnosis"), profiles.get("gnosis", mode="standard")

        assert bare.stages == named.stages == profiles.get("gnosis:standard").stages
        assert (bare.limit, bare.most) == (named.limit, named.most) == (32, 32)

    @pytest.mark.parametrize("query", ["zebra", "what about the zebra", "zebra -number"])
    def test_deep_needs_two_keywords(self, opened, many, reader, query):
        """GS-1: and says what to do instead, before anything is asked."""
        store = opened(many[:10], reranker=reader)

        with pytest.raises(InvalidInput, match="keywords"):
            store.search(query, mode="deep")
        assert reader.asked == []
        assert len(store.search(query, mode="standard").trace) > 0

    def test_deep_gives_the_first_five_whole(self, opened):
        """GS-14: standard three."""
        stock = [{"id": f"m{n}", "text": f"zebra number n{n} " + "x " * 200} for n in range(8)]
        store = opened(stock, reranker=ScriptedReranker(lambda _, texts: [0.9] * len(texts)))

        for mode, whole in (("standard", 3), ("deep", 5)):
            results = store.search("zebra number", mode=mode)
            assert [hit.complete for hit in results] == [True] * whole + [False] * (8 - whole)


class TestSmartSkip:
    FOUR = memories()[:1] + memories()[6:9]  # of no type that is multiplied

    def test_fewer_than_five_candidates_are_not_reranked(self, opened, reader):
        """GS-12: synthetic scores, nothing given whole, and no loss to speak of."""
        results = opened(self.FOUR, reranker=reader).search(QUERY)

        assert reader.asked == []
        assert len(results) == 4
        for hit in results:
            assert hit.score == pytest.approx(synthetic(hit), abs=1e-6)
            assert hit.rerank_score is None
            assert hit.why == {"synthetic": pytest.approx(hit.score, abs=1e-6)}
        assert [hit.complete for hit in results if hit.id == "nightly"] == [False]
        assert results.degraded == ()
        assert steps(results)["rerank"].notes == {
            "test": "fewer_than(candidates=5)",
            "held": True,
        }
        assert results.compact()[1] == "Reranked 0 of 4, returned 4"

    def test_five_are_and_deep_never_skips(self, opened, reader):
        """GS-12: one more, or the other mode."""
        store = opened(self.FOUR, reranker=reader)
        store.search(QUERY, mode="deep")
        assert len(reader.asked) == 1

        store.add("One more.")
        store.pending(wait=True)
        store.search(QUERY)
        assert [len(texts) for _, texts in reader.asked] == [4, 5]

    def test_a_summary_is_lifted_to_0_70_at_most(self, opened):
        """GS-12, GS-10: the cap for what no reranker has read."""
        stock = [
            {"id": "s", "text": QUERY, "type": "summary", "topics": ["postgres", "backup"]},
            {"id": "d", "text": QUERY, "type": "summary_done", "topics": ["postgres"]},
        ]
        results = opened(stock).search(QUERY)

        assert {hit.id: hit.score for hit in results} == pytest.approx({"s": 0.70, "d": 0.49})


class TestWithoutAReranker:
    @pytest.mark.parametrize("mode", ["standard", "deep"])
    @pytest.mark.parametrize("broken", [True, False])
    def test_synthetic_scores_serve_and_the_answer_says_so(self, opened, mode, broken):
        """GS-12, R-6: none at all, or one that does not answer."""
        gone = ScriptedReranker(lambda query, texts: Unavailable("it is down; start it"))
        results = opened(reranker=gone if broken else False).search(QUERY, mode=mode)

        stage = "cross_encoder: it is down" if broken else "late_interaction: "
        assert any(one.startswith(stage) for one in results.degraded)
        assert all(hit.rerank_score is None for hit in results)
        assert all(0.28 <= hit.score <= 0.70 for hit in results)
        assert not any(hit.complete for hit in results if len(hit.text) > 200)
        for hit in results:
            if hit.type == "fact":
                assert hit.score == pytest.approx(synthetic(hit), abs=1e-6)
        assert results.compact()[1] == f"Reranked 0 of 40, returned {len(results)}"

    def test_stored_token_vectors_stand_in_for_it(self, opened):
        """GS-9, R-6: late interaction, since no reranker was chosen; scores in 0..1."""
        results = opened(embedder=TokenEmbedder(), reranker=None).search(QUERY)

        assert results.degraded == ()
        assert results.counts["reranked"] == 40
        assert (results[0].id, results[0].score) == ("nightly", pytest.approx(1, abs=0.01))
        assert all(0 <= hit.rerank_score <= 1 for hit in results)

    def test_without_vectors_topics_alone_answer(self, opened, reader):
        """R-6: each piece may be missing."""
        results = opened(embedder=False, reranker=reader).search(QUERY)

        assert ids(results) == list(RIGHT)
        assert {hit.cosine for hit in results} == {None}
        assert any(one.startswith("embed_query: ") for one in results.degraded)

    def test_the_second_look_can_be_left_out(self, opened, reader):
        """R-7: by its one name; that is the caller's wish, and nothing is lost."""
        results = opened(reranker=reader).search(QUERY, overrides={"rerank": False})

        assert reader.asked == []
        assert len(results) == 32
        assert results[0].score <= 0.70
        assert results.degraded == ()


class TestEmptyAnswers:
    def test_nothing_good_enough_says_what_was_searched(self, opened, reader):
        """GS-13: forty were looked at; a signal, not a failure."""
        results = opened(reranker=reader).search("quantum chromodynamics")

        assert len(results) == 0
        assert results.counts == {
            "vector": 40,
            "topics": 0,
            "candidates": 40,
            "reranked": 40,
            "returned": 0,
        }
        assert steps(results)["previews"].notes["nothing_found"] == (
            "vector 40, topics 0; 40 candidates, none of them good enough"
        )
        assert results.compact() == [[], "Reranked 40 of 40, returned 0", []]

    def test_an_empty_store_and_an_empty_query_are_answered(self, opened, reader):
        """R-6: nothing was read."""
        assert len(opened([], reranker=reader).search(QUERY)) == 0
        assert len(opened(reranker=reader).search("")) == 0
        assert reader.asked == []


class TestCompact:
    def test_a_table_a_line_and_the_topics(self, opened, reader):
        """GS-14, GS-15: plain values that any program can read."""
        results = opened(reranker=reader).search(QUERY, limit=3)

        rows, line, topics = json.loads(json.dumps(results.compact()))

        nightly, taste, _ = rows
        cosine = round(100 * results[0].cosine, 1)
        assert nightly == [
            *("nightly", LONG, cosine, 90.0),
            *("fact", "2026-05-03T12:00:00+00:00", ["backup"], True),
        ]
        assert taste[3:] == [75.0, "preference", "2026-05-03T11:00:00+00:00", ["postgres"], True]
        assert line == "Reranked 40 of 40, returned 3"
        assert topics == [["backup", 2], ["postgres", 1]]

    def test_the_time_is_that_of_the_last_change(self, opened, reader, clock):
        """GS-15: as results of equal scores are sorted."""
        store = opened(reranker=reader)
        clock.advance(days=1)
        store.update("nightly", topics=["bucket"])
        store.pending(wait=True)

        assert store.search(QUERY).compact()[0][0][5] == "2026-05-04T12:00:00+00:00"

    def test_a_long_preview_is_cut_and_says_so(self, opened):
        """GS-14: `text` is always whole."""
        store = opened(reranker=ScriptedReranker(lambda _, texts: [0.5] * len(texts)))

        (row,) = (row for row in store.search(QUERY).compact()[0] if row[0] == "nightly")
        assert (LONG.startswith(row[1]), len(row[1]) <= 200, row[-1]) == (True, True, False)
        assert LONG[len(row[1])] == " "

    @pytest.mark.parametrize("profile", ["default", "default:keyword", "gno", "gno:fast"])
    def test_every_profile_has_one(self, opened, reader, profile):
        """GS-15: scores in 0..100, no cosine where vectors did not find it."""
        found = opened(reranker=reader).search(QUERY, profile=profile)

        rows, line, _ = json.loads(json.dumps(found.compact()))

        assert [row[0] for row in rows] == ids(found)
        assert all(0 <= row[3] <= 100 and (row[2] is None or 0 <= row[2] <= 100) for row in rows)
        assert line.endswith(f", returned {len(found)}")


@pytest.mark.parametrize(
    ("score", "name"),
    [
        (1.0, "excellent"),
        (0.30, "excellent"),
        (0.299999, "good"),
        (0.30 * (2 / 3), "good"),
        (0.199999, "weak"),
        (0.0, "weak"),
    ],
)
def test_scores_have_bands(score, name):
    """GS-16: 30 and over, 20 to 30, under 20."""
    assert band(score) == name


class TestBands:
    def test_every_hit_has_its_band(self, opened, reader):
        """GS-16: by its final score."""
        bands = {hit.id: hit.band for hit in opened(reranker=reader).search(QUERY)}

        assert bands == {**dict.fromkeys(RIGHT, "excellent"), "harper": "weak"}

    def test_a_guess_has_none(self, opened, reader):
        """GS-16, GS-12: 0.70 without a reranker is not as good as 0.70 by one."""
        store = opened(TestSmartSkip.FOUR, reranker=reader)

        assert {hit.band for hit in store.search(QUERY)} == {"unread"}
        assert {hit.band for hit in store.search(QUERY, profile="default")} == {None}

    def test_a_profile_of_the_settings_has_those_of_its_base(
        self, opened, reader, tmp_path, monkeypatch
    ):
        """GS-16: whatever its name is."""
        settings = tmp_path / "scrubjay.toml"
        settings.write_text('[profile.mine]\nbase = "gnosis"\nrrf.k = 30\n')
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(settings))
        found = opened(reranker=reader).search(QUERY, profile="mine")

        assert found[0].band == "excellent"


@pytest.mark.parametrize("query", [QUERY, '"postgres backup" -hourly', "wo liegen die Backups?"])
def test_no_store_is_asked_before_the_query_is_split_and_embedded(opened, monkeypatch, query):
    """GS-2: neither for candidates nor for languages, collections, validity or the model in use."""
    asked = []

    class Watched(HashingEmbedder):
        def embed(self, texts, *, as_query=False):
            asked.append("embed" if as_query else "write")
            return super().embed(texts, as_query=as_query)

    store = opened(embedder=Watched())
    store.add("Die Sicherung liegt im Keller, und der Schlüssel hängt neben der Tür.")
    store.create_collection("team")
    store.publish("nightly", "team")
    store.pending(wait=True)
    execute = TolerantConnection.execute
    asked.clear()
    monkeypatch.setattr(
        TolerantConnection,
        "execute",
        lambda self, sql, *given: (asked.append("store"), execute(self, sql, *given))[1],
    )

    found = store.search(query)

    assert asked[0] == "embed"
    assert asked.count("embed") == 1
    assert "store" in asked
    first, second, *_ = found.trace
    assert (first.stage, second.stage) == ("keywords", "embed_query")
    assert first.notes["terms"]


def test_a_query_is_embedded_again_when_the_store_has_changed_its_model(opened, monkeypatch):
    """GS-2: the vector is of the model by which the texts are compared."""
    store = opened()
    embedding = store._context.embedding
    other = GuardedEmbedder(HashingEmbedder(dims=64))
    prepare = embedding.prepare_search

    def follow(**given):
        prepare(**given)
        embedding.embedder = other
        embedding.on_switch()

    monkeypatch.setattr(embedding, "prepare_search", follow)
    found = store.search(QUERY)

    names = [step.stage for step in found.trace]
    assert names.count("embed_query") == 1
    assert found.trace[names.index("embed_query")].notes["model"] == "hashing-64"


def test_the_query_is_understood_before_any_store_is_asked(opened):
    """GS-2, GS-3: its words and its vector are there when the two lists are asked, side by side."""
    asked = []

    class Watched(TokenEmbedder):
        def embed(self, texts, *, as_query=False):
            asked.append("embed" if as_query else "write")
            return super().embed(texts, as_query=as_query)

        def embed_with_tokens(self, texts, *, as_query=False):
            asked.append("embed" if as_query else "write")
            return super().embed(texts), self.tokens(texts)

    found = opened(embedder=Watched()).search(QUERY, profile="gnosis")
    names = [step.stage for step in found.trace]
    recall = found.trace[names.index("recall")]

    assert asked.count("embed") == 1
    assert names[:5] == ["keywords", "embed_query", "adapt_query", "fan_out", "recall"]
    assert [branch.stage for branch in recall.branches] == ["vector", "topics"]
    assert [branch.numbers["depth"] for branch in recall.branches] == [64, 48]


def test_a_language_that_the_model_does_not_know_is_said_where_scores_are_a_guess(tmp_path):
    """GS-12: without a reranker's word `degraded` says so, also where late interaction stands aside."""

    class English(TokenEmbedder):
        languages = ("en",)

    question = "wie lange dauert die Lieferung nach Hamburg und was kostet sie?"
    with scrubjay.open(tmp_path / "x.db", embedder=English()) as store:
        for number in range(6):
            store.add(f"Die Lieferung {number} nach Hamburg dauert lange.", topics=["lieferung"])
        store.pending()
        found = store.search(question, profile="gnosis")

    assert {hit.rerank_score for hit in found} == {None}
    assert found.degraded == (
        "verdict: no reranker has read the texts: hashing-256 does not support de",
    )
