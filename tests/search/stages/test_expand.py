"""When a language model is asked, what becomes of its answer, and what is kept."""

from __future__ import annotations

import json

import pytest
from clocks import Clock
from fakes import HashingEmbedder, ScriptedGenerator
from traces import steps

import scrubjay
from scrubjay import InvalidInput
from scrubjay.models.breaker import MemoryNotes
from scrubjay.models.guard import GuardedEmbedder, GuardedGenerator
from scrubjay.search.expansion import prompts
from scrubjay.search.pipeline import Kit, Run, advance
from scrubjay.search.stages.expand import borrow_words, rephrase, skipped_strong, strong_signal
from scrubjay.search.stages.understand import embed_query, keywords
from scrubjay.text.query_syntax import parse_query
from scrubjay.types import Query, RankedList, Row

SAYS = '{"lexical": ["boat harbour"], "semantic": ["where ships lie"], "hyde": "Ships lie here."}'


class Scored:
    """A keyword index in which these BM25 scores are found, and that keeps what it was asked."""

    def __init__(self, *scores):
        self.scores = scores
        self.asked = []

    def search(self, terms, scope, limit, weights, *, every_first):
        self.asked.append((terms, scope, limit))
        rows = (Row(f"m{n}", score) for n, score in enumerate(self.scores[:limit]))
        return RankedList("keyword", tuple(rows))


def strong(*scores, half=2.0, **numbers):
    """True when such scores of a quick keyword search are a clear answer."""
    return strong_signal(half=half, **numbers)(Run(Query("q"), Kit(keyword=Scored(*scores))))


class TestStrongSignal:
    @pytest.mark.parametrize(
        ("scores", "clear"),
        [
            # s = b / (b + 2): 10.5 / 12.5 = 0.84; 10.49 / 12.49 = 0.83987…
            ((10.5,), True),
            ((10.49,), False),
            ((1000.0,), True),
            ((0.5,), False),
            ((), False),
            # 4.6666 / 6.6666 = 0.699997, a gap of 0.140003; 4.6668 / 6.6668 = 0.700006.
            ((10.5, 4.6666), True),
            ((10.5, 4.6668), False),
            # 18 / 20 = 0.9; 6.3 / 8.3 = 0.7590, a gap of 0.1410; 6.4 / 8.4 = 0.7619: 0.1381.
            ((18.0, 6.3), True),
            ((18.0, 6.4), False),
            ((18.0, 18.0), False),
            # However high: two that are both sure are no clear answer.
            ((500.0, 400.0), False),
        ],
    )
    def test_a_high_first_far_ahead_of_the_second(self, scores, clear):
        """GN-1: at least 0.84, and 0.14 ahead; a second that is absent counts as 0."""
        assert strong(*scores) is clear

    def test_exactly_the_edge_is_enough(self):
        """GN-1: both bounds belong to it; 7/8 and 3/4 are exact."""
        assert strong(7.0, 3.0, half=1.0, score=0.875, gap=0.125)
        assert not strong(7.0, 3.0, half=1.0, score=0.8751, gap=0.125)
        assert not strong(7.0, 3.0, half=1.0, score=0.875, gap=0.1251)

    def test_the_score_is_absolute(self):
        """GN-1: two queries with the same lead, of which one is weak, are told apart."""
        assert strong(20.0, 4.0)
        assert not strong(2.0, 0.4)  # min-max inside the query would give both 1.0

    @pytest.mark.parametrize("half", [0.5, 1.0, 2.0, 8.0])
    def test_half_is_the_score_that_counts_as_one_half(self, half):
        """GN-1: b / (b + half); 0.84 is reached at 5.25 times of it."""
        assert strong(half, half=half, score=0.5)
        assert not strong(0.999 * half, half=half, score=0.5)
        assert strong(5.2501 * half, half=half)
        assert not strong(5.2499 * half, half=half)

    def test_five_are_looked_at_with_the_words_and_the_scope_of_the_query(self):
        """GN-1, R-3: a quick search; a filter binds it too."""
        index = Scored(20.0)
        run = keywords()(Run(Query("ferry -boat"), Kit(keyword=index)))

        assert strong_signal()(run)

        ((terms, scope, limit),) = index.asked
        assert (terms, limit) == (run.query.words, 5)
        assert scope.lacks

    @pytest.mark.parametrize("numbers", [{"top": 0}, {"half": 0}, {"half": -1}])
    def test_numbers_that_cannot_work_are_refused(self, numbers):
        """One sentence."""
        with pytest.raises(InvalidInput, match="strong_signal"):
            strong(1.0, **numbers)

    def test_the_trace_says_that_it_was_skipped(self):
        """GN-1: `skipped_strong` is a step of its own."""
        _, step = advance(skipped_strong(), Run(Query("q")))

        assert step.stage == "skipped_strong"
        assert "no expansion is needed" in step.notes["reason"]


class Shelf:
    """Records in these languages."""

    def __init__(self, *held):
        self.held = held

    def languages(self):
        return self.held


def asked(text, *, generator, notes=None, held=("", "en"), embedder=None, **numbers):
    """Rephrase one query; return the run afterwards, and the step."""
    clock = Clock()
    kit = Kit(
        records=Shelf(*held),
        notes=notes or MemoryNotes(),
        embedder=GuardedEmbedder(embedder) if embedder else None,
        generator=GuardedGenerator(generator, MemoryNotes(), clock),
        clock=clock,
    )
    # As `keywords` does, but without a store to look phrases up in.
    read = parse_query(text, held)
    query = Query(
        text,
        words=(*read.words, *read.holds),
        terms=read.tokens,
        meaning=read.meaning,
        language=read.language,
    )
    run = Run(query, kit)
    if embedder:
        run, _ = advance(embed_query(), run)
    return advance(rephrase(**numbers), run)


class TestVariants:
    def test_an_answer_becomes_lists_to_search(self):
        """GN-2: lexical ones have words, the others a vector, HyDE the one of a document."""
        model = HashingEmbedder()
        run, step = asked("old ferry harbour", generator=ScriptedGenerator(SAYS), embedder=model)

        kinds = [(one.kind, one.text) for one in run.query.variants]
        assert kinds == [
            ("lexical", "boat harbour"),
            ("semantic", "where ships lie"),
            ("hyde", "Ships lie here."),
        ]
        assert [term.tokens for term in run.query.variants[0].words] == [("boat",), ("harbour",)]
        assert run.query.variants[1].vector == pytest.approx(model.embed(["where ships lie"])[0])
        assert run.query.variants[2].vector == pytest.approx(model.embed(["Ships lie here."])[0])
        assert step.lost is None
        assert step.notes["lexical"] == ("boat harbour",)
        assert step.notes["hyde"] == "Ships lie here."
        assert (step.notes["model"], step.notes["kept"]) == ("scribe", False)

    def test_hyde_is_embedded_as_a_document_and_variants_as_queries(self):
        """GN-2: a made-up answer stands for a document."""
        said = []

        class Sided(HashingEmbedder):
            def embed(self, texts, *, as_query=False):
                said.append((tuple(texts), as_query))
                return super().embed(texts, as_query=as_query)

        asked("old harbour", generator=ScriptedGenerator(SAYS), embedder=Sided())

        assert said[-2:] == [(("where ships lie",), True), (("Ships lie here.",), False)]

    def test_without_a_vector_of_the_query_only_words_are_searched(self):
        """GN-15: no embedding model; lexical variants are as good as before."""
        run, step = asked("old harbour", generator=ScriptedGenerator(SAYS))

        assert [one.kind for one in run.query.variants] == ["lexical"]
        assert step.lost is None

    @pytest.mark.parametrize(("lexical", "semantic"), [(0, 0), (1, 2), (5, 5)])
    def test_no_more_than_was_asked_for(self, lexical, semantic):
        """GN-2: two hundred variants are not two hundred searches."""
        many = {
            "lexical": [f"harbour word{n}" for n in range(200)],
            "semantic": [f"sentence number {n}" for n in range(200)],
            "hyde": "Ships.",
        }
        run, _ = asked(
            "old harbour",
            generator=ScriptedGenerator(json.dumps(many)),
            embedder=HashingEmbedder(),
            lexical=lexical,
            semantic=semantic,
        )

        kinds = [one.kind for one in run.query.variants]
        assert kinds == ["lexical"] * lexical + ["semantic"] * semantic + ["hyde"]

    def test_what_the_guardrails_did_is_in_the_trace(self):
        """GN-5: what was added, and what was dropped and why."""
        says = json.dumps({"lexical": ["find E0502 elsewhere", "unrelated banana"], "hyde": ""})
        run, step = asked(
            'borrow "two times" E0502 -lifetime',
            generator=ScriptedGenerator(says),
            embedder=HashingEmbedder(),
        )

        (kept,) = run.query.variants
        assert kept.text == 'find E0502 elsewhere "two times" -lifetime'
        changes = " ".join(step.notes["changes"])
        assert 'added "two times" -lifetime' in changes
        assert "'unrelated banana' dropped: no word in common" in changes
        assert "is under 0.3" in changes

    def test_a_query_without_words_asks_nobody(self):
        """There is nothing to rephrase."""
        scribe = ScriptedGenerator(SAYS)
        run, step = asked("???", generator=scribe)

        assert run.query.variants == ()
        assert scribe.prompts == []
        assert "no words" in step.notes["reason"]

    @pytest.mark.parametrize(
        "numbers",
        [{"lexical": 6}, {"lexical": -1}, {"semantic": 9}, {"time_limit_s": 0}],
    )
    def test_numbers_that_cannot_work_are_refused(self, numbers):
        """Before anything is asked."""
        with pytest.raises(InvalidInput, match=r"rephrase\.\w+ is "):
            asked("old harbour", generator=ScriptedGenerator(SAYS), **numbers)


ENGLISH = "where do the old ferries lie in the harbour at night?"
GERMAN = "Wo liegen die alten Fähren in der Nacht im Hafen?"
CHINESE = "旧渡轮晚上停在港口的什么地方"
FRENCH = "Où sont les vieux bateaux dans le port pendant la nuit ?"
HEADS = {
    "en": "Write English",
    "de": "Du hilfst einer Suchmaschine",
    "multilingual": "same language",
}


class TestLanguage:
    @pytest.mark.parametrize(
        "held", [("",), ("en",), ("", "en"), ("de", "en", "zh", "fr")], ids=str
    )
    @pytest.mark.parametrize(
        ("query", "prompt", "code"),
        [
            (ENGLISH, "en", ""),
            (GERMAN, "de", ""),
            (CHINESE, "multilingual", "zh"),
            (FRENCH, "multilingual", "fr"),
        ],
        ids=["en", "de", "zh", "fr"],
    )
    def test_the_prompt_fits_the_language_of_the_query(self, query, prompt, code, held):
        """GN-3: English, German, or the one for all others; whatever the store holds."""
        scribe = ScriptedGenerator(SAYS)
        asked(query, generator=scribe, held=held)

        (read,) = scribe.prompts
        assert HEADS[prompt] in read
        assert not any(head in read for name, head in HEADS.items() if name != prompt)
        assert query in read
        if code:
            assert f"ISO 639-1: {code}" in read

    @pytest.mark.parametrize("query", ["ls", "E0502", "Hafen", "xyzzy foo"])
    def test_short_queries_fall_back_safely(self, query):
        """GN-3: no language is guessed from a word; the prompt asks for the query's own."""
        scribe = ScriptedGenerator(SAYS)
        asked(query, generator=scribe)

        assert HEADS["multilingual"] in scribe.prompts[0]
        assert "ISO 639-1" not in scribe.prompts[0]


class TestKept:
    def test_the_same_query_is_asked_once(self):
        """GN-4: the second search takes the kept answer, guarded anew."""
        scribe, notes = ScriptedGenerator(SAYS), MemoryNotes()
        first, _ = asked("old harbour", generator=scribe, notes=notes)
        second, step = asked("old harbour", generator=scribe, notes=notes)

        assert len(scribe.prompts) == 1
        assert step.notes["kept"] is True
        assert first.query.variants == second.query.variants

    @pytest.mark.parametrize(
        "other",
        [
            {"text": "old harbours"},
            {"name": "another"},
            {"version": 99},
            {"lexical": 2},
        ],
        ids=str,
    )
    def test_another_query_model_prompt_or_count_is_asked_anew(self, other, monkeypatch):
        """GN-4: the key has them all."""
        notes, calls = MemoryNotes(), []

        def ask(text="old harbour", name="scribe", version=1, **more):
            monkeypatch.setattr(prompts, "PROMPT_VERSION", version)
            scribe = ScriptedGenerator(SAYS, name=name)
            asked(text, generator=scribe, notes=notes, **more)
            calls.append(len(scribe.prompts))

        ask()
        ask()
        ask(**other)

        assert calls == [1, 0, 1]

    def test_a_query_that_is_taken_for_another_language_is_asked_anew(self):
        """GN-4: where a few words could be of two languages, what the store holds decides."""
        notes = MemoryNotes()
        calls = []
        for held in (("en",), ("de", "en"), ("de", "en")):
            scribe = ScriptedGenerator(SAYS)
            asked("Boote in der Nacht", generator=scribe, notes=notes, held=held)
            calls.append((len(scribe.prompts), HEADS["de"] in "".join(scribe.prompts)))

        assert calls == [(1, False), (1, True), (0, False)]

    def test_the_key_does_not_show_the_query(self):
        """A query may be private; what is kept is by digest."""
        notes = MemoryNotes()
        asked("my secret harbour", generator=ScriptedGenerator(SAYS), notes=notes)

        (key,) = notes._texts
        assert key[0] == "expansion"
        assert len(key[1]) == 64
        assert "secret" not in key[1]

    def test_a_failed_answer_is_not_kept(self):
        """GN-2, GN-4: prose is not what the next search should get."""
        notes = MemoryNotes()
        _, step = asked("old harbour", generator=ScriptedGenerator("I cannot."), notes=notes)

        assert step.lost is not None
        assert notes.get("expansion", "x") is None
        assert not notes._texts


TEXTS = (
    "Deploying the service: push the container to the registry, then run the pipeline.",
    "Our deploy runs the pipeline and pushes a container image to the registry.",
    "The registry keeps every container image that a pipeline ever made.",
    "Lunch is at noon, and the canteen serves soup.",
    "The harbour is closed on Mondays.",
)


@pytest.fixture
def store(tmp_path, clock):
    """A store whose queries are expanded from its own texts."""
    with scrubjay.open(
        tmp_path / "notes.db", embedder=False, clock=clock, generator="corpus"
    ) as opened:
        for number, text in enumerate(TEXTS):
            opened.add(text, id=str(number))
        yield opened


def thorough(store, query, **given):
    given = {"overrides": {"strong_signal.score": 1.0}, **given}
    return store.search(query, profile="gno", mode="thorough", **given)


def step(found, name):
    return steps(found).get(name)


def test_a_text_without_any_word_of_the_query_is_found_by_what_the_first_texts_share(store):
    """GN-2 without a language model: two texts speak of deploying, a third of what they speak of."""
    plain = [hit.id for hit in store.search("deploy", profile="gno", mode="fast")]
    found = thorough(store, "deploy")

    assert set(plain) == {"0", "1"}
    assert {hit.id for hit in found} == {"0", "1", "2"}
    borrowed = set(step(found, "borrow_words").notes["borrowed"])
    assert {"container", "pipeline", "registry"} <= borrowed
    assert found.counts["lexical:1"] == 3
    assert step(found, "rephrase") is None


def test_a_word_of_one_text_alone_is_not_borrowed(store):
    """`shared_by` says in how many it must be."""
    borrowed = step(thorough(store, "deploy"), "borrow_words").notes["borrowed"]

    assert "service" not in borrowed
    assert not {"the", "to", "and", "then", "deploy"} & set(borrowed)


def test_what_is_borrowed_stays_inside_the_scope(store):
    """R-3: negations and filters bind the variant too."""
    assert {hit.id for hit in thorough(store, "deploy -image")} == {"0"}
    assert {hit.id for hit in thorough(store, "deploy", types=["decision"])} == set()


def test_nothing_shared_means_no_variant(store):
    """And a note that says so."""
    found = thorough(store, "harbour")

    assert [hit.id for hit in found] == ["4"]
    assert "lexical:1" not in found.counts
    assert "share no further word" in step(found, "borrow_words").notes["reason"]


def test_the_default_profile_borrows_in_thorough_only(store):
    """And only where the corpus was chosen."""
    assert step(store.search("deploy", mode="thorough"), "borrow_words") is not None
    assert step(store.search("deploy"), "borrow_words") is None
    assert store.search("deploy", mode="thorough").degraded == (
        "embed_query: there is no embedder: the store was opened with embedder=False",
    )


def test_the_same_store_borrows_the_same_words(store):
    """R-8: whatever the order of counting."""
    first, second = (
        step(thorough(store, "deploy"), "borrow_words").notes["borrowed"] for _ in range(2)
    )

    assert first == second


@pytest.mark.parametrize("number", ["texts", "borrowed", "shared_by"])
def test_numbers_below_one_are_refused(store, number):
    """With what would be right."""
    with pytest.raises(InvalidInput, match=f"borrow_words.{number} is 0; it must be 1 or more"):
        thorough(
            store, "deploy", overrides={f"borrow_words.{number}": 0, "strong_signal.score": 1.0}
        )
    assert borrow_words().numbers[number] >= 1


def test_stop_words_with_marks_are_not_borrowed(tmp_path):
    """German ones, which are compared without their dots."""
    with scrubjay.open(tmp_path / "de.db", embedder=False, generator="corpus") as opened:
        for place in ("Hafen", "Markt"):
            opened.add(
                f"Die Anmeldung für den {place} können wir über das Formular bei der Stadt machen"
            )
        found = thorough(opened, "Anmeldung")

    borrowed = {one.lower() for one in step(found, "borrow_words").notes["borrowed"]}
    assert {"formular", "stadt"} <= borrowed
    assert not {"für", "können", "über", "das", "wir"} & borrowed
