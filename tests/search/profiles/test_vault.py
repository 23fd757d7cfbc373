"""The vault profile on real SQLite, row by row of its requirements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

import pytest
from clocks import NOON
from fakes import HashingEmbedder
from sklearn.feature_extraction.text import TfidfVectorizer

import scrubjay
from scrubjay.text.analysis import tokens

SIGNALS = ["semantic", "vector", "severity", "temporal_decay", "tag_overlap", "domain_match"]
KEYWORD_ONLY = dict.fromkeys(SIGNALS, 0.15) | {"semantic": 0.40, "vector": 0.0}
WITH_VECTORS = dict.fromkeys(SIGNALS, 0.15) | {"semantic": 0.25}


@pytest.fixture
def vault(tmp_path, clock):
    """An empty vault, searched by word alone."""
    with scrubjay.open(tmp_path / "v.db", profile="vault", embedder=False, clock=clock) as store:
        yield store


@pytest.fixture
def hybrid(tmp_path, clock):
    """An empty vault with a model for which "car" and "automobile" mean the same."""
    model = HashingEmbedder(meanings={"automobil": "car"})
    path = tmp_path / "h.db"
    with scrubjay.open(path, profile="vault", embedder=model, clock=clock) as store:
        yield store


def weighed(hit, weights):
    return sum(weights[name] * hit.why[name] for name in SIGNALS)


class TestTwoPasses:
    LONG = "Retry with exponential backoff and jitter. " * 20

    @pytest.fixture
    def filled(self, vault):
        vault.add(
            self.LONG,
            id="retry-001",
            title="Retry",
            context="Three outages began with a retry storm.",
            topics=["network", "retry"],
            type="pattern",
            severity="warning",
            domain="operations",
            valid_until=NOON + timedelta(days=50),
        )
        for number in range(5):
            vault.add(f"Never retry request number {number} without a limit")
        return vault

    def test_a_scan_is_light(self, filled):
        """SV-1: id, title, score, type, domain, tags, 120 characters, token estimate; no more text."""
        found = {hit.id: hit for hit in filled.search("retry backoff", mode="scan")}
        hit = found["retry-001"]

        assert (hit.title, hit.type, hit.domain) == ("Retry", "pattern", "operations")
        assert hit.topics == ("network", "retry")
        assert hit.snippet == hit.text == self.LONG[:120]
        assert (hit.complete, hit.context) == (False, "")
        assert hit.token_estimate == len(self.LONG) / 4
        assert hit.score > 0

    def test_full_has_the_whole_entry_and_the_breakdown(self, filled):
        """SV-1: whole entry, score and breakdown per signal."""
        hit = next(one for one in filled.search("retry backoff", mode="full") if one.title)

        assert hit.text == self.LONG
        assert hit.context == "Three outages began with a retry storm."
        assert (hit.severity, hit.valid_until) == ("warning", NOON + timedelta(days=50))
        assert list(hit.why) == SIGNALS

    def test_both_find_the_same_and_so_does_the_profile_by_itself(self, filled):
        """SV-1: a scan is the same search, shown otherwise."""
        answers = [filled.search("retry backoff", mode=mode) for mode in ("scan", "full", None)]

        assert len({tuple((hit.id, hit.score) for hit in found) for found in answers}) == 1

    def test_the_chosen_are_loaded_by_their_ids(self, filled):
        """SV-1: then load the chosen ids, several at a time."""
        chosen = [hit.id for hit in filled.search("retry", mode="scan")][:3]

        loaded = filled.get_many([*chosen, "gone"])

        assert [one.id for one in loaded] == chosen
        assert loaded.missing == ("gone",)

    def test_an_ingested_entry_shows_its_description(self, vault, tmp_path):
        """SV-1: `text` is the description, without the front matter of the file; so is the estimate."""
        front = "---\ntitle: Retry\nseverity: warning\ntags: [network]\n---\n\n"
        said = "Retry with backoff, and never without a limit."
        (tmp_path / "retry.md").write_text(f"{front}{said}", "utf-8")
        vault.ingest(tmp_path / "retry.md")

        (hit,) = vault.search("backoff")
        (scanned,) = vault.search("backoff", mode="scan")

        assert (hit.text, hit.title, hit.severity) == (said, "Retry", "warning")
        assert (scanned.text, scanned.snippet) == (said, said)
        assert hit.token_estimate == scanned.token_estimate == -(-len(said) // 4)


class TestFields:
    def test_a_word_counts_by_the_field_it_stands_in(self, vault):
        """SV-2: title 10, id 5, description 3, tags 2, context 1."""
        rest = {"text": "alpha beta gamma", "title": "delta", "context": "epsilon"}
        vault.add(**{**rest, "context": "kestrel"}, id="five", topics=["zeta"])
        vault.add(**rest, id="four", topics=["kestrel"])
        vault.add(**{**rest, "text": "kestrel beta gamma"}, id="three", topics=["zeta"])
        vault.add(**rest, id="kestrel", topics=["zeta"])
        vault.add(**{**rest, "title": "kestrel"}, id="one", topics=["zeta"])

        found = vault.search("kestrel").hits
        ranks = {hit.found["keyword"].rank: hit.id for hit in found}

        assert [ranks[rank] for rank in sorted(ranks)] == [
            "one",
            "kestrel",
            "three",
            "four",
            "five",
        ]

    @pytest.mark.parametrize(
        ("stored", "asked"),
        [
            ("authentication", "authenticating"),  # stems
            ("Kraftwerk Überholung", "uberholung"),  # folding
            ("verification", "VERIFICATIONS"),
        ],
    )
    def test_words_are_stemmed_and_folded(self, vault, stored, asked):
        """SV-2: Porter stemming, Unicode folding."""
        kept = vault.add(stored)

        assert [hit.id for hit in vault.search(asked)] == [kept.id]


class TestQuery:
    def test_stop_words_and_single_letters_are_dropped(self, vault):
        """SV-3: "how does JWT validation work" searches jwt, validation, work."""
        found = vault.search("how does JWT validation work a b")
        (step,) = [step for step in found.trace if step.stage == "keywords"]

        assert found.terms[:3] == ("jwt", "valid", "work")
        kept = {"jwt": "jwt", "valid": "validation", "work": "work"}
        for word in kept.values():
            vault.add(f"about {word} and nothing else")
        vault.add("b is the second letter")
        hits = vault.search("how does JWT validation work b")
        assert sorted(hit.text for hit in hits) == sorted(
            f"about {word} and nothing else" for word in kept.values()
        )
        assert step.numbers["least_chars"] == 2

    def test_a_letter_alone_is_searched_if_there_is_nothing_else(self, vault):
        """SV-3: R is a language; an empty answer would help nobody."""
        kept = vault.add("Written in R for the statistics")

        assert [hit.id for hit in vault.search("R")] == [kept.id]

    @pytest.mark.parametrize(
        ("text", "asked"),
        [
            ("Проверка подписи токена", "проверка"),
            ("認証トークンの検証", "検証"),
            ("令牌验证", "验"),
            ("التحقق من الرمز", "الرمز"),
            ("επαλήθευση υπογραφής", "υπογραφή"),
            ("टोकन सत्यापन", "सत्यापन"),
            ("การตรวจสอบโทเค็น", "โทเค็น"),
            ("토큰 검증", "검증"),
        ],
    )
    def test_terms_keep_letters_of_every_script(self, vault, text, asked):
        """SV-3: in every script, one character too where words are not set apart."""
        kept = vault.add(text)
        vault.add("something else entirely")

        assert [hit.id for hit in vault.search(asked)] == [kept.id]

    def test_any_word_is_enough_and_none_has_to_be_there(self, vault):
        """SV-3: joined by OR, ranked by BM25 alone: what holds more words is not lifted for that."""
        vault.add_many({"text": f"nothing of the kind {n}"} for n in range(30))
        vault.add("owl", id="title", title="owl owl")
        vault.add(f"{'word ' * 60} owl heron", id="both")

        ranks = {hit.id: hit.found["keyword"].rank for hit in vault.search("owl heron lynx")}

        assert ranks == {"title": 1, "both": 2}


class TestOverfetch:
    @pytest.fixture
    def many(self, vault):
        vault.add_many({"text": f"the lamp of room {number}"} for number in range(200))
        return vault

    @pytest.mark.parametrize(
        ("limit", "fetched"), [(1, 30), (5, 30), (10, 30), (11, 33), (40, 120)]
    )
    def test_three_times_the_limit_is_fetched_at_least_thirty(self, many, limit, fetched):
        """SV-5: 3 x limit, at least 30."""
        found = many.search("lamp", limit=limit)

        assert (found.counts["keyword"], len(found)) == (fetched, limit)

    def test_without_a_limit_at_least_fifty(self, many):
        """SV-11: and the guard does not hold: fifty are not fewer than fifty."""
        found = many.search("lamp")

        assert (found.counts["keyword"], len(found)) == (50, 10)


class TestScore:
    def test_it_is_the_weighted_sum_by_word_alone(self, vault, clock):
        """SV-6, SV-8, SV-9: each signal by hand, and their sum."""
        vault.add(
            "limit the rate of requests",
            id="a",
            severity="critical",
            domain="security",
            topics=["api", "limits"],
        )
        vault.add("the rate of decay", id="b", domain="physics")
        clock.advance(days=365)
        vault.add("rate your meal", id="c", severity="warning")

        found = vault.search("rate", tags=["api"], domain="security")
        hits = {hit.id: hit for hit in found}

        assert list(hits["a"].why) == SIGNALS
        assert hits["a"].why["severity"] == 1.0
        assert hits["b"].why["severity"] == 0.4
        assert hits["c"].why["severity"] == 0.7
        assert hits["a"].why["temporal_decay"] == pytest.approx(0.5, abs=1e-12)
        assert hits["c"].why["temporal_decay"] == 1.0
        assert hits["a"].why["tag_overlap"] == 0.5
        assert hits["b"].why["tag_overlap"] == 0.0
        assert (hits["a"].why["domain_match"], hits["b"].why["domain_match"]) == (1.0, 0.0)
        assert all(hit.why["vector"] == 0.0 for hit in hits.values())
        for hit in found:
            assert hit.score == pytest.approx(weighed(hit, KEYWORD_ONLY), abs=1e-6)
        assert all(one.score >= other.score for one, other in pairwise(found))

    def test_it_is_the_weighted_sum_with_vectors(self, hybrid):
        """SV-6: the second set of weights applies when the query got a vector."""
        hybrid.add("the car stands in the yard", id="car")
        hybrid.add("an automobile needs oil", id="automobile")
        hybrid.pending()

        found = hybrid.search("car")
        hits = {hit.id: hit for hit in found}

        assert set(hits) == {"car", "automobile"}
        assert hits["automobile"].why["semantic"] == 0.0
        assert hits["automobile"].why["vector"] == pytest.approx(hits["automobile"].cosine)
        assert hits["automobile"].why["vector"] > 0.3
        for hit in found:
            assert hit.score == pytest.approx(weighed(hit, WITH_VECTORS), abs=1e-6)

    def test_an_entry_without_a_vector_has_none_to_count(self, tmp_path, clock):
        """SV-6: it scores 0 there, under the weights with vectors."""

        class Choosy(HashingEmbedder):
            def embed(self, texts: Sequence[str], *, as_query: bool = False):
                if any("unreadable" in text for text in texts):
                    raise scrubjay.Unavailable("cannot read that")
                return super().embed(texts, as_query=as_query)

        path = tmp_path / "v.db"
        with scrubjay.open(path, profile="vault", embedder=Choosy(), clock=clock) as store:
            store.add("a readable lamp", id="with")
            store.pending()
            store.add("an unreadable lamp", id="without")
            hits = {hit.id: hit for hit in store.search("lamp")}

        assert hits["with"].why["vector"] > 0
        assert hits["without"].why["vector"] == 0.0
        assert hits["without"].score == pytest.approx(weighed(hits["without"], WITH_VECTORS))

    def test_semantic_is_the_tf_idf_cosine_of_scikit_learn(self, vault):
        """SV-7: title, description, context and tags, raw counts, smooth IDF; to 1e-9."""
        entries = [
            {"title": "Rate limit", "text": "limit limit requests", "topics": ["api"]},
            {"title": "Signature", "text": "check the signature first", "context": "rate rate"},
            {"text": "request signature rate limit api lamp"},
            {"text": "nothing of the kind"},
        ]
        for number, entry in enumerate(entries):
            vault.add(**entry, id=f"e{number}")
        fields = [
            " ".join(
                (one.get("title", ""), one["text"], one.get("context", ""), *one.get("topics", ()))
            )
            for one in entries
        ]
        model = TfidfVectorizer(analyzer=lambda one: tokens(one, "en"), smooth_idf=True)
        matrix = model.fit_transform(fields).toarray()
        asked = model.transform(["rate of the api limit"]).toarray()[0]

        hits = {hit.id: hit for hit in vault.search("rate of the api limit")}

        assert set(hits) == {"e0", "e1", "e2"}
        for id_, hit in hits.items():
            expected = float(matrix[int(id_[1:])] @ asked)
            assert hit.why["semantic"] == pytest.approx(expected, abs=1e-9)

    def test_decay_is_that_of_the_time_that_is_searched(self, vault):
        """SV-9: an entry that was a year old and valid then is scored as such, not as it is now."""
        day, year_ago = timedelta(days=1), NOON - timedelta(days=365)
        vault.add("an old lamp", id="old", created_at=NOON - timedelta(days=730))
        window = {"valid_from": year_ago - 90 * day, "valid_until": year_ago + 10 * day}
        vault.add("a lamp of that time", id="valid", created_at=year_ago, **window)

        then = {hit.id: hit.why["temporal_decay"] for hit in vault.search("lamp", as_of=year_ago)}
        now = {hit.id: hit.why["temporal_decay"] for hit in vault.search("lamp")}

        assert then == pytest.approx({"old": 0.5, "valid": 10 / 100 / 0.25})
        assert now == pytest.approx({"old": 0.25})

    def test_a_domain_scores_and_only_domain_filters(self, vault):
        """SV-8: `domain=` scores; `only_domain=` leaves out."""
        vault.add("a lamp for the desk", id="light", domain="light")
        vault.add("a lamp for the darkroom", id="photo", domain="photo")

        assert {hit.id for hit in vault.search("lamp", domain="photo")} == {"light", "photo"}
        assert vault.search("lamp", domain="photo")[0].id == "photo"
        assert [hit.id for hit in vault.search("lamp", only_domain="light")] == ["light"]

    @pytest.mark.parametrize("stored", ["Élan Vital", "élan  vital", " ÉLAN VITAL "])
    @pytest.mark.parametrize("asked", ["élan vital", "  ÉLAN VITAL", "E\u0301lan Vital"])
    @pytest.mark.parametrize("path", ["keyword", "memory", "vector"])
    def test_a_domain_is_the_same_in_any_case(self, hybrid, stored, asked, path):
        """SV-8, R-3: by words, among memories and by vectors; what is stored keeps its case."""
        text = "an automobile" if path == "vector" else "a car"
        type_ = "message" if path == "memory" else "fact"
        hybrid.add(text, id="same", domain=stored, type=type_)
        hybrid.add(f"{text} too", id="other", domain="élan vitale", type=type_)
        hybrid.add(f"{text} as well", id="none", type=type_)
        hybrid.pending()

        (hit,) = hybrid.search("car", only_domain=asked)

        assert (hit.id, hit.domain) == ("same", stored.strip())
        assert path in hit.found
        assert hybrid.search("car", domain=asked, only_domain=asked)[0].why["domain_match"] == 1.0

    def test_the_default_profile_and_tiers_filter_alike(self, tmp_path, clock):
        """R-3: one filter, whatever searches, and in whichever file."""
        own, team = tmp_path / "own.db", tmp_path / "team.db"
        for path, domain in ((own, "Ümlaut"), (team, "ÜMLAUT")):
            with scrubjay.open(path, embedder=False, clock=clock) as store:
                store.add("a lamp", id=path.stem, domain=domain)
                store.add("a lamp of another kind", id=f"{path.stem}-2", domain="umlaut")
        with scrubjay.open(own, embedder=False, clock=clock, tiers={"team": team}) as both:
            assert {
                hit.id for hit in both.search("lamp", profile="vault", only_domain="ümlaut")
            } == {
                "own",
                "team",
            }
            for mode in ("default", "keyword"):
                found = both.search("lamp", profile="default", mode=mode, only_domain="ümlaut")
                assert [hit.id for hit in found] == ["own"]


class TestBeginnings:
    """`retr*` counts as the words that an entry has for it."""

    @pytest.fixture
    def lamps(self, vault):
        vault.add("retry retries with jitter", id="a")
        vault.add("retrieval of documents and more", id="b")
        vault.add("nothing of the kind", id="c")
        return vault

    def test_they_count_as_the_words_so_begun(self, lamps):
        """SV-7: as if each entry had been asked for its own words, once each."""
        begun = {hit.id: hit.why["semantic"] for hit in lamps.search("retr*")}

        assert begun["a"] == lamps.search("retry", limit=1)[0].why["semantic"] > 0
        assert begun["b"] == lamps.search("retrieval", limit=1)[0].why["semantic"] > 0
        assert "c" not in begun

    def test_beside_other_words_they_add_to_them(self, lamps):
        """SV-7: the same as the word itself."""
        begun = lamps.search("retr* jitter")[0].why["semantic"]

        assert begun == lamps.search("retry jitter")[0].why["semantic"]

    def test_a_beginning_of_which_only_the_stem_is_stored_counts(self, lamps):
        """SV-7: the index holds stems, and "retries" begins otherwise than "retri"."""
        (hit,) = lamps.search("retrie* -document")

        assert hit.id == "a"
        assert hit.why["semantic"] == lamps.search("retry", limit=1)[0].why["semantic"]

    def test_how_many_are_asked_for_changes_no_score(self, lamps):
        """R-2: a score is the entry's own, whatever else was found."""
        every = {hit.id: hit.score for hit in lamps.search("retr*")}
        (best,) = lamps.search("retr*", limit=1)

        assert every[best.id] == best.score

    def test_a_phrase_counts_as_its_words(self, lamps):
        """SV-7: the quotes bind, and the words are compared."""
        (quoted,) = lamps.search('"retry retries"')

        assert quoted.why["semantic"] == lamps.search("retry retries")[0].why["semantic"] > 0


INSIDE = {
    "namespace": "mine",
    "collection": "notes",
    "topics": ["garage"],
    "type": "pattern",
    "session": "s1",
    "owner": "ann",
    "agent": "bot",
    "domain": "driving",
    "created_at": NOON - timedelta(days=1),
}
OUTSIDE = {
    "namespace": "other",
    "collection": "attic",
    "topics": ["kitchen"],
    "type": "fact",
    "session": "s2",
    "owner": "ben",
    "agent": "cat",
    "domain": "cooking",
    "created_at": NOON - timedelta(days=9),
}
FILTERS = {
    "namespace": {"namespace": "mine"},
    "collection": {"collection": "notes"},
    "topics": {"topics": ["garage"]},
    "type": {"types": ["pattern"]},
    "session": {"session": "s1"},
    "owner": {"owner": "ann"},
    "agent": {"agent": "bot"},
    "domain": {"only_domain": "driving"},
    "created_at": {"since": NOON - timedelta(days=2)},
}


class TestVectorRecall:
    @pytest.mark.parametrize("field", FILTERS)
    def test_no_filter_leaks_through_it(self, hybrid, field):
        """SV-12, R-3: entries found only by vectors join under the same filters."""
        hybrid.add("an automobile", id="inside", **INSIDE)
        left_out = {**INSIDE, field: OUTSIDE[field]}
        hybrid.add("this automobile", id="outside", **left_out)
        hybrid.pending()
        assert {hit.id for hit in hybrid.search("car")} == {"inside", "outside"}

        found = hybrid.search("car", **FILTERS[field])

        assert [hit.id for hit in found] == ["inside"]
        assert "keyword" not in found[0].found

    def test_neither_do_windows_negations_and_phrases(self, hybrid):
        """SV-9, SV-12: expired, not yet valid, excluded by a word: not by vectors either."""
        hybrid.add("an automobile", id="now")
        hybrid.add("old automobile", id="over", valid_until=NOON)
        hybrid.add("new automobile", id="to come", valid_from=NOON + timedelta(seconds=1))
        hybrid.pending()

        assert [hit.id for hit in hybrid.search("car")] == ["now"]
        everything = hybrid.search("car", include_expired=True)
        assert {hit.id for hit in everything} == {"now", "over", "to come"}
        assert {hit.id for hit in hybrid.search("car -old", include_expired=True)} == {
            "now",
            "to come",
        }

    def test_new_entries_are_embedded_a_hundred_at_a_time_and_once(self, tmp_path, clock):
        """SV-12: batches of 100; title, description and context only; none that has a vector."""

        class Listening(HashingEmbedder):
            def __init__(self):
                super().__init__()
                self.seen: list[list[str]] = []

            def embed(self, texts: Sequence[str], *, as_query: bool = False):
                if not as_query:
                    self.seen.append(list(texts))
                return super().embed(texts)

        model, path = Listening(), tmp_path / "v.db"
        with scrubjay.open(path, embedder=False, clock=clock) as store:
            store.add_many(
                {"text": f"entry {n}", "title": "T", "context": "C", "topics": ["hidden"]}
                for n in range(250)
            )
        with scrubjay.open(path, profile="vault", embedder=model, clock=clock) as store:
            store.pending()
            sizes = [len(batch) for batch in model.seen]
            assert (sum(sizes), max(sizes)) == (250, 100)
            read = [text for batch in model.seen for text in batch]
            assert all("T" in text and "C" in text and "entry" in text for text in read)
            assert not any("hidden" in text for text in read)
            store.add("one more")
            store.pending()
            assert model.seen[-1] == ["one more"]


class TestMemories:
    def test_they_stand_at_half_among_the_entries(self, vault):
        """SV-13: searched by the same engine, merged at 0.5, sorted by score."""
        vault.add(
            "deploy on Friday is forbidden", id="rule", severity="critical", topics=["deploy"]
        )
        vault.add("we talked about the deploy for an hour", id="said", type="message")
        vault.add("a deploy of little interest " + "filler " * 80, id="weak")

        found = vault.search("deploy friday", tags=["deploy"])

        assert [hit.id for hit in found] == ["rule", "said", "weak"]
        said = found[1]
        assert said.score == 0.5
        assert said.why["memory"] == 0.5
        assert found[0].score > 0.5 > found[2].score

    def test_they_do_not_displace_entries(self, vault):
        """SV-13: searched separately, so that a long chat leaves room for what was learned from it."""
        vault.add_many({"text": f"deploy deploy {n}", "type": "message"} for n in range(300))
        vault.add(
            f"deploy {'with many more words ' * 30}",
            id="entry",
            severity="critical",
            domain="release",
            topics=["release"],
        )

        found = vault.search("deploy", limit=10, domain="release", tags=["release"])

        assert found[0].id == "entry"
        assert found.counts == {**found.counts, "keyword": 1, "memory": 30}

    def test_filters_bind_them(self, vault):
        """R-3: a namespace, a type, a session."""
        vault.add("deploy now", id="mine", type="message", session="s1")
        vault.add("deploy then", id="other", type="message", session="s2")
        vault.add("deploy never", id="entry", session="s1")

        assert [hit.id for hit in vault.search("deploy", session="s1", types=["message"])] == [
            "mine"
        ]
        assert {hit.id for hit in vault.search("deploy", session="s1")} == {"mine", "entry"}
        assert [hit.id for hit in vault.search("deploy", types=["fact"])] == ["entry"]


class TestGuard:
    @pytest.mark.parametrize(("there", "shown"), [(20, 10), (21, 21), (49, 49), (60, 10)])
    def test_all_of_a_few_are_shown(self, vault, there, shown):
        """SV-11: fewer than 50 hits, and the limit would drop more than half."""
        vault.add_many({"text": f"lamp {number}"} for number in range(there))

        assert len(vault.search("lamp")) == shown
        assert len(vault.search("lamp", limit=10)) == 10

    @pytest.mark.parametrize(("there", "all_shown"), [(20, False), (21, True), (49, True)])
    def test_hits_of_vectors_are_not_counted(self, hybrid, there, all_shown):
        """SV-11: sixty more that only vectors find make no corpus large, nor a small one of twenty."""
        lamps = [f"l{number}" for number in range(there)]
        hybrid.add_many({"text": f"lamp {id_}", "id": id_} for id_ in lamps)
        hybrid.add_many({"text": f"boat {number}"} for number in range(60))
        hybrid.pending()

        found = hybrid.search("lamp")
        shown = {hit.id for hit in found}

        assert (found.counts["keyword"], found.counts["vector"]) == (there, 50)
        assert (shown >= set(lamps)) is all_shown
        assert len(found) >= 50 if all_shown else len(found) == 10
        assert len(hybrid.search("lamp", limit=10)) == 10

    def test_a_large_corpus_is_cut_with_vectors_too(self, hybrid):
        """SV-11: fifty full-text hits are not fewer than fifty."""
        hybrid.add_many({"text": f"lamp {number}"} for number in range(50))
        hybrid.pending()

        assert len(hybrid.search("lamp")) == 10

    def test_few_full_text_hits_among_many_by_vector_are_cut(self, hybrid):
        """SV-11: three hits lose nothing to a limit of ten, though vectors find thirty."""
        hybrid.add_many({"text": f"lamp {number}"} for number in range(3))
        hybrid.add_many({"text": f"boat {number}"} for number in range(27))
        hybrid.pending()

        assert len(hybrid.search("lamp")) == 10


class TestRefused:
    def test_an_unknown_severity(self, vault):
        """SV-8: told with those that there are; nothing is stored."""
        with pytest.raises(scrubjay.InvalidInput, match="critical, warning, suggestion"):
            vault.add("a lamp", severity="high")
        assert vault.status().memories == 0

    def test_a_window_that_ends_before_it_begins(self, vault):
        """SV-9: told with both ends; nothing is stored or changed."""
        kept = vault.add("a lamp")
        window = {"valid_from": "2026-05-02", "valid_until": "2026-05-01"}

        with pytest.raises(scrubjay.InvalidInput, match="valid_until"):
            vault.add("another lamp", **window)
        with pytest.raises(scrubjay.InvalidInput, match="valid_until"):
            vault.update(kept.id, **window)
        assert vault.status().memories == 1
        assert vault.get(kept.id).valid_until is None

    def test_tags_and_domain_where_nothing_scores_them(self, vault):
        """A profile without signals says so instead of ignoring them."""
        for given in ({"tags": ["a"]}, {"domain": "b"}):
            with pytest.raises(scrubjay.InvalidInput, match="no stage that takes"):
                vault.search("lamp", profile="default", **given)


class TestWrongArguments:
    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"domain": ["x"]}, r"domain is \['x'\]; it must be a text"),
            ({"tags": 5}, "tags is 5; give a list of texts"),
            ({"tags": [5]}, "tag is 5; it must be a text"),
            ({"tags": 0}, "tags is 0"),
            ({"only_domain": ["x"]}, "only_domain is"),
            ({"only_domain": 5}, "only_domain is 5; it must be a text"),
            ({"include_expired": "no"}, "include_expired is 'no'; it must be True or False"),
            ({"include_expired": None}, "include_expired is None"),
            *(
                ({name: wrong}, f"{name} is")
                for name in ("owner", "agent", "session", "collection", "namespace")
                for wrong in (["x"], 5)
            ),
        ],
    )
    def test_the_argument_that_is_wrong_is_named(self, vault, given, said):
        """With what would be right, and before anything is asked."""
        with pytest.raises(scrubjay.InvalidInput, match=said):
            vault.search("retry", **given)

    def test_a_profile_without_tags_names_one_that_takes_them(self, vault):
        """SV-8: `tags=` and `domain=` are of the vault profile."""
        for given in ({"tags": ["x"]}, {"domain": "x"}):
            with pytest.raises(scrubjay.InvalidInput, match="use profile vault"):
                vault.search("retry", profile="default", **given)
