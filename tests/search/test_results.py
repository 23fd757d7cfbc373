"""What an answer shows: the passage, the lines, whether the file is still the same, whose rows."""

import time

import pytest
from fakes import HashingEmbedder

import scrubjay
from scrubjay.errors import InvalidInput
from scrubjay.storage.sql import words as sql_words

DULL = "This paragraph talks about nothing in particular, at some length. "
FILLER = "\n\n".join(f"{n}. {DULL * 6}" for n in range(40))


@pytest.fixture
def store():
    with scrubjay.open(":memory:", embedder=HashingEmbedder()) as opened:
        yield opened


def test_a_word_hit_in_a_long_text_shows_the_passage_that_holds_the_word(store):
    """With its lines, in every mode: who asked for a word wants to see it."""
    text = f"# Long\n\n{FILLER}\n\nThe vault in Reykjavik opens at nine.\n\n{FILLER}\n"
    store.add(text, id="long")
    line = text[: text.index("Reykjavik")].count("\n") + 1
    for mode in ("keyword", "vector", "default"):
        hit = store.search("Reykjavik", mode=mode)[0]
        assert "Reykjavik" in hit.snippet
        assert hit.lines is not None
        assert hit.lines[0] <= line <= hit.lines[1]
        assert not hit.complete


def test_a_document_says_when_its_file_has_changed_or_gone(store, tmp_path):
    """The result itself is marked, not only the status."""
    file = tmp_path / "kettle.md"
    file.write_text("# Kettle\n\nIt whistles at noon.\n")
    store.ingest(file)
    assert store.search("kettle")[0].stale is None
    file.write_text("# Kettle\n\nIt whistles at one o'clock.\n")
    assert store.search("kettle")[0].stale == "stale"
    file.unlink()
    assert store.search("kettle")[0].stale == "missing"


@pytest.mark.parametrize(
    "empty", [{"namespaces": []}, {"types": []}, {"topics": []}, {"topics": [" "]}]
)
def test_a_filter_that_is_given_but_empty_lets_nothing_through(store, empty):
    """R-3: None is no limit; an empty list of what may be seen is nothing, never everything."""
    store.add("The kettle whistles", topics=["kitchen"])
    assert len(store.search("kettle")) == 1
    for mode in ("keyword", "vector", "default"):
        assert len(store.search("kettle", mode=mode, **empty)) == 0


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_an_empty_path_is_refused_and_not_the_default_store(path, tmp_path, monkeypatch):
    """Think of --db "$DB" with DB unset."""
    monkeypatch.setenv("SCRUBJAY_HOME", str(tmp_path))
    with pytest.raises(InvalidInput, match="not a path"):
        scrubjay.open(path)
    assert list(tmp_path.iterdir()) == []


def test_the_same_message_may_be_said_a_thousand_times(store):
    """Messages are never folded, and the thousandth costs no more than the first."""
    started = time.process_time()
    store.add_many({"text": "ok", "type": "message"} for _ in range(1500))
    assert time.process_time() - started < 20
    assert len(store.ls(limit=2000)) == 1500


def test_equal_vectors_are_ranked_by_age(store):
    """R-5: among many equals the newest come first, also by meaning alone."""
    store.add_many(
        {
            "text": "ok",
            "type": "message",
            "id": f"m{n:04}",
            "created_at": f"2026-01-01T{n // 60:02}:{n % 60:02}",
        }
        for n in range(600)
    )
    store.pending()
    found = store.search("ok", mode="vector", limit=5)
    assert [hit.id for hit in found] == ["m0599", "m0598", "m0597", "m0596", "m0595"]


def test_a_store_that_was_once_large_ranks_like_one_that_never_was(store):
    """R-8: what was forgotten leaves no trace in the scores."""
    texts = ["red kettle on the stove", "blue kettle in the garden shed", "green teapot"]
    store.add_many({"text": text} for text in texts)
    before = [(hit.text, hit.score) for hit in store.search("kettle", mode="keyword")]
    many = store.add_many({"text": f"filler number {n}"} for n in range(2100))
    store.forget([one.id for one in many])
    assert [(hit.text, hit.score) for hit in store.search("kettle", mode="keyword")] == before


def test_words_are_indexed_again_when_the_rules_for_words_change(tmp_path, monkeypatch):
    """R-11: one keyword index a store, made by one set of rules."""
    file = tmp_path / "a.db"
    with scrubjay.open(file, embedder=False) as store:
        store.add("The kettle whistles", topics=["kitchen"])
    monkeypatch.setattr(sql_words, "ANALYZER_VERSION", 99)
    monkeypatch.setitem(sql_words._CURRENT, "analyzer", 99)
    monkeypatch.setattr(sql_words, "make_tokens", lambda word, _: (word + "x",))
    with scrubjay.open(file, embedder=False) as store:
        with store._context.db.read() as db:
            assert db.execute("SELECT text FROM words").fetchall() == [("Thex kettlex whistlesx",)]
        assert len(store.ls(topics=["kitchen"])) == 1


def test_the_first_score_is_the_strength_of_its_evidence(store):
    """A word that stands once in a long text is evidence, gibberish is not."""
    store.add(f"{FILLER} xylophonist", id="long")
    store.add_many({"text": f"short memory {n}"} for n in range(30))
    assert store.search("xylophonist", mode="keyword")[0].score > 0.15
    assert store.search("qqqqq", mode="keyword").confidence == 0
    assert store.search("short memory 7")[0].score > 0.8


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"weigh.weights": {}}, "must be a table"),
        ({"weigh.weights": {"keyword": 0}}, "one above 0"),
        ({"weigh.weights": {"keyword": 1e300}}, "must be a table"),
        ({"keyword.weights": {"nosuch": 1}}, "the fields are"),
        ({"keyword.weights": {"text": -1}}, "0 or more"),
        ({"keywords.most": 0}, "1 or more"),
        ({"embed_query.most_chars": -1}, "1 or more"),
        ({"passages.width_chars": 0}, "1 or more"),
        (
            {"keyword": False, "vector": False, "languages": False, "moment": False},
            "no source left",
        ),
        ({"load": False}, "cannot be dropped"),
    ],
)
def test_an_override_that_would_mean_nothing_is_refused(store, overrides, said):
    """Rather than giving scores of zero without a word."""
    store.add("The kettle whistles")
    with pytest.raises(InvalidInput, match=said):
        store.search("kettle", overrides=overrides)


def test_a_test_inside_a_stage_cannot_be_left_out():
    """It decides what another stage does."""
    with pytest.raises(InvalidInput, match="cannot be dropped"):
        scrubjay.search.profiles.get("default:vector", {"nothing_searched": False})


@pytest.mark.parametrize("given", [{"tags": ["a"]}, {"domain": "a"}, {"weights": {"keyword": 1}}])
def test_what_a_profile_cannot_score_is_refused(store, given):
    """Nothing is ignored silently."""
    with pytest.raises(InvalidInput, match="has no stage that takes"):
        store.search("kettle", **given)


def test_a_memory_comes_with_its_links(store):
    """From get, get_many and update alike; never to itself."""
    a, b = store.add("one"), store.add("two")
    store.link(a.id, b.id, 0.5)
    assert [link.to for link in store.get(a.id).links] == [b.id]
    assert [link.to for link in store.get_many([b.id])[0].links] == [a.id]
    assert [link.to for link in store.update(a.id, title="One").links] == [b.id]
    with pytest.raises(InvalidInput, match="itself"):
        store.add("self", id="self", links=["self"])


def test_waiting_on_purpose_gives_failures_another_chance(tmp_path):
    """A text that broke a model is tried again when somebody waits for it."""

    class Moody(HashingEmbedder):
        angry = True

        def embed(self, texts, *, as_query=False):
            if self.angry and any("poison" in text for text in texts):
                raise RuntimeError("no")
            return super().embed(texts)

    model = Moody()
    with scrubjay.open(tmp_path / "a.db", embedder=model) as store:
        store.add("poison")
        assert store.pending() == 1
        assert store.status().failed == 1
        model.angry = False
        assert store.pending() == 0
