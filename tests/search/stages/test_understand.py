"""A query's words and its vector, before any store is asked."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from backends import asking
from fakes import BrokenEmbedder, HashingEmbedder

from scrubjay import InvalidInput, Unavailable
from scrubjay.search.pipeline import Kit, Run
from scrubjay.search.stages.recall import keyword, look_up, nothing_searched, vector
from scrubjay.search.stages.understand import embed_query, keywords
from scrubjay.types import Candidate, Found, Query, RankedList, Row, Scope, Term


def asked(text, **kit):
    return Run(Query(text), Kit(**kit))


class TestKeywords:
    def test_stems_without_stop_words(self):
        """SV-3's example, with stems."""
        after = keywords()(asked("how does JWT validation work"))

        assert after.query.terms == ("jwt", "valid", "work")
        assert after.notes["terms"] == after.query.terms
        assert "warning" not in after.notes

    def test_a_query_without_a_term_says_so(self):
        """Never silently empty."""
        after = keywords()(asked("?!"))

        assert after.query.terms == ()
        assert "no searchable term" in after.notes["warning"]

    def test_a_long_query_says_what_was_left_out(self):
        """The first ones are searched."""
        after = keywords(most=3)(asked("alpha beta gamma delta epsilon"))

        assert after.query.terms == ("alpha", "beta", "gamma")
        assert after.notes["warning"] == "only the first 3 of 5 terms were searched"

    def test_half_a_surrogate_pair_does_not_stop_it(self):
        """Every string is a legal query."""
        assert keywords()(asked("port \ud83d 5433")).query.terms == ("port", "5433")

    def test_the_first_terms_are_distinct_ones(self):
        """A word said often leaves room for the others."""
        after = keywords(most=2)(asked("alpha alpha Alpha beta"))

        assert after.query.terms == ("alpha", "beta")
        assert "warning" not in after.notes

    def test_what_binds_goes_into_the_scope_and_scores(self):
        """GN-6: every source searches under it; the filters that were there stay."""
        run = asked('tea "red kettle" -milk')
        run = run._replace(query=run.query._replace(scope=Scope(namespaces=("mine",))))

        after = keywords()(run).query

        assert after.scope.namespaces == ("mine",)
        assert after.scope.holds == (Term((("red", "kettl"),)),)
        assert [one.any_of for one in after.scope.lacks] == [(("milk",),)]
        assert after.words == (*asking("tea"), *after.scope.holds)
        assert after.terms == ("tea", "red", "kettl")
        assert after.meaning.split() == ["tea", "red", "kettle"]

    @pytest.mark.parametrize("sign", ["-w{}", "w{}*", '"w{} x"'])
    def test_of_what_binds_the_first_so_many_are_kept_too(self, sign):
        """And the answer says so: a thousand conditions are no query."""
        after = keywords(most=5)(asked("tea " + " ".join(sign.format(n) for n in range(1000))))

        assert len(after.query.scope.holds) + len(after.query.scope.lacks) == 5
        assert after.notes["warning"] == "only the first 5 of 1000 terms were searched"

    def test_a_phrase_that_no_text_holds_is_searched_by_word(self):
        """GN-6: only beside other words, and only the phrase; the answer says so."""

        class Records:
            asked: ClassVar = []

            def languages(self):
                return ("en",)

            def any_visible(self, scope):
                self.asked.append(scope)
                return all(one.any_of[0][0].endswith("*") for one in scope.holds)

        after = keywords()(asked('tea "red kettle" cup* -milk', records=Records()))

        assert [one.tokens for one in after.query.scope.holds] == [("cup*",)]
        assert len(after.query.scope.lacks) == 1
        assert after.query.terms == ("tea", "red", "kettl", "cup*")
        assert "its words were searched instead" in after.notes["warning"]
        assert len(Records.asked) == 2
        assert len(keywords()(asked('"red kettle"', records=Records())).query.scope.holds) == 1

    def test_the_language_of_a_query_is_noted(self):
        """R-7: where the store holds more than English."""

        class Records:
            def languages(self):
                return ("de", "en")

        after = keywords()(asked("Wo stehen die alten Häuser?", records=Records()))

        assert after.notes["language"] == after.query.language == "de"


class TestEmbedQuery:
    def test_a_model_reads_the_query_without_its_signs(self):
        """GN-6: what must not be there is not what the query means."""
        read = []

        class Watched(HashingEmbedder):
            def embed(self, texts, *, as_query=False):
                read.extend(texts)
                return super().embed(texts, as_query=as_query)

        run = keywords()(asked('tea "red kettle" cup* -milk'))
        embed_query()(run._replace(kit=Kit(embedder=Watched(8))))

        assert [text.split() for text in read] == [["tea", "red", "kettle", "cup"]]

    @pytest.mark.parametrize(
        ("languages", "language", "foreign"),
        [
            (("en",), "de", True),
            (("en", "de"), "de", False),
            (("en",), "", False),
            ((), "de", False),
            (None, "de", False),
        ],
    )
    def test_a_language_that_the_model_does_not_know_is_noted(self, languages, language, foreign):
        """A model that does not say what it knows is taken to know all."""
        model = HashingEmbedder(8)
        if languages is not None:
            model.languages = languages
        run = asked("etwas", embedder=model)

        after = embed_query()(run._replace(query=run.query._replace(language=language)))

        assert after.query.foreign is foreign
        assert ("foreign" in after.notes) is foreign

    def test_the_model_is_asked_once_as_a_query(self):
        """And named in the trace."""
        calls = []

        class Watched(HashingEmbedder):
            def embed(self, texts, *, as_query=False):
                calls.append((list(texts), as_query))
                return super().embed(texts, as_query=as_query)

        after = embed_query()(asked("red car", embedder=Watched(8)))

        assert calls == [(["red car"], True)]
        assert after.query.vector.shape == (8,)
        assert after.notes == {"model": "hashing-8"}

    def test_a_query_of_signs_has_no_vector(self):
        """It would find something, and mean nothing; the model is not even asked."""
        assert embed_query()(asked("?!", embedder=BrokenEmbedder())).query.vector is None

    def test_without_a_model_the_stage_is_lost(self):
        """R-6: with the reason of the kit."""
        kit = {"why_not": {"embedder": "fetch it"}}
        with pytest.raises(Unavailable, match="fetch it"):
            embed_query()(asked("car", **kit))

    def test_what_was_not_read_is_told(self):
        """Long queries, and memories that wait for their vector."""

        class Waiting:
            def missing(self, model, scope):
                return 7

        after = embed_query(most_chars=10)(
            asked("a long query about cars", embedder=HashingEmbedder(8), vectors=Waiting())
        )

        assert "only the first 10 characters" in after.notes["warning"]
        assert "7 passages" in after.notes["warning"]


class Index:
    """Remembers what it was asked for."""

    def __init__(self, *rows):
        self.rows = rows
        self.asked = None

    def search(self, *arguments, every_first=None, shortlist=None):
        self.asked = arguments if every_first is None else (*arguments, every_first)
        return RankedList("index", self.rows)

    def missing(self, model, scope):
        return 0


class TestSources:
    SCOPE = Scope(namespaces=("mine",))

    @pytest.mark.parametrize(("limit", "depth", "enough"), [(5, 64, 64), (100, 64, 100)])
    def test_an_index_is_asked_under_the_scope_and_deep_enough(self, limit, depth, enough):
        """R-3: the filters go into the index; a list is never shorter than the answer."""
        words, near, model = Index(), Index(), HashingEmbedder(8)
        asked = tuple(asking("a", "b"))
        query = Query("q", self.SCOPE, limit, words=asked, vector=np.ones(8))
        run = Run(query, Kit(keyword=words, vectors=near, embedder=model))

        keyword(depth=depth, weights={"title": 2.0})(run)
        vector(depth=depth)(run)

        assert words.asked == (asked, self.SCOPE, enough, {"title": 2.0}, True)
        assert near.asked[1:] == ("hashing-8", self.SCOPE, enough)

    def test_a_query_without_a_vector_is_not_searched(self):
        """So that fusion can tell "found nothing" from "did not look"."""
        run = Run(Query("q"), Kit(vectors=Index(), embedder=HashingEmbedder(8)))

        assert vector()(run).searched is False
        assert nothing_searched()(run._replace(lists=(vector()(run),))) is True
        assert nothing_searched()(run._replace(lists=(RankedList("keyword"),))) is False

    @pytest.mark.parametrize("source", [keyword, vector])
    def test_a_depth_of_nothing_is_refused(self, source):
        """At least one."""
        kit = Kit(keyword=Index(), vectors=Index(), embedder=HashingEmbedder(8))
        with pytest.raises(InvalidInput, match="depth is 0"):
            source(depth=0)(Run(Query("q", vector=np.ones(8)), kit))

    @pytest.mark.parametrize("source", [keyword, vector])
    def test_a_missing_index_is_a_lost_tier(self, source):
        """R-6."""
        with pytest.raises(Unavailable):
            source()(Run(Query("q", vector=np.ones(8))))


class TestLookUp:
    def test_what_only_words_found_gets_its_cosine(self):
        """Without a rank, under the scope, and with its best chunk; the others stay as they are."""
        near = Index(Row("a", 0.4, 3))
        pool = (
            Candidate("a", found={"keyword": Found(1, 2.0)}),
            Candidate("b", found={"vector": Found(1, 0.9)}, best_chunk=5),
            Candidate("c", found={"keyword": Found(2, 1.0)}),
        )
        query = Query("q", TestSources.SCOPE, vector=np.ones(8))
        run = Run(query, Kit(vectors=near, embedder=HashingEmbedder(8)), pool=pool)

        after = look_up()(run)

        assert near.asked[2] == Scope(namespaces=("mine",), ids=("a", "c"))
        assert after.pool[0].found == {"keyword": Found(1, 2.0), "vector": Found(None, 0.4)}
        assert after.pool[0].best_chunk == 3
        assert after.pool[1:] == pool[1:]
        assert after.notes == {"looked_up": 1}

    def test_without_a_query_vector_nothing_is_looked_up(self):
        """Words alone decide."""
        near = Index()
        pool = (Candidate("a", found={"keyword": Found(1, 2.0)}),)
        run = Run(Query("q"), Kit(vectors=near, embedder=HashingEmbedder(8)), pool=pool)

        assert look_up()(run).pool == pool
        assert near.asked is None
