"""TF-IDF by hand and beside scikit-learn."""

from __future__ import annotations

import random
from collections import Counter
from math import log, sqrt

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import scrubjay
from scrubjay.text.analysis import tokens
from scrubjay.text.tfidf import TokenCounts, cosine, idf, idfs, merge_counts
from scrubjay.types import Scope

WORDS = (
    "apple apples running ran don't pre-edit foo_bar camelCase v1.2.3 C++ naïve café Straße "
    "Häuser база данных сервер сервера πόλη πόλεις 日本語 東京都 数据库 데이터베이스 ฐานข้อมูล "
    "قاعدة البيانات ﷺ נתונים डेटाबेस தரவு the of and 42 1,000 user@host --force"
).split()
LANGUAGES = ("", "en", "de", "fr", "ru", "ja", "zh", "ar")


def documents(many, seed):
    """Random texts of words in many scripts, a few of them far commoner than others."""
    rng = random.Random(seed)
    made = [*WORDS, *(f"word{n}" for n in range(300))]
    weights = [1 / (place + 1) for place in range(len(made))]
    rng.shuffle(made)
    return [" ".join(rng.choices(made, weights, k=rng.randint(1, 40))) for _ in range(many)]


def split(text, language=""):
    return " ".join(tokens(text, language)).split()


class TestByHand:
    def test_idf_is_the_smoothed_logarithm_plus_one(self):
        """SV-7: ln((N+1)/(df+1)) + 1."""
        assert idf(9, 4) == log(10 / 5) + 1
        assert idf(9, 9) == 1.0
        assert idf(0, 0) == 1.0
        assert idfs(TokenCounts(9, {"a": 4, "b": 9})) == {"a": log(2) + 1, "b": 1.0}

    def test_a_cosine_of_raw_counts_times_idf(self):
        """SV-7: two tokens, one of them twice, worked out on paper."""
        weights = {"a": 2.0, "b": 1.0, "c": 3.0}

        # (2·2·1·2 + 1·1·4·1) / (√(4² + 1²) · √(2² + 4² + 3²))
        expected = (8 + 4) / (sqrt(17) * sqrt(29))
        assert cosine({"a": 2, "b": 1}, {"a": 1, "b": 4, "c": 1}, weights) == pytest.approx(
            expected, abs=1e-15
        )

    def test_nothing_is_like_nothing(self):
        """An empty side, nothing in common, or nothing that any memory holds: 0."""
        weights = {"a": 2.0, "b": 1.0}

        assert cosine({}, {"a": 1}, weights) == 0.0
        assert cosine({"a": 1}, {}, weights) == 0.0
        assert cosine({}, {}, weights) == 0.0
        assert cosine({"a": 1}, {"b": 1}, weights) == 0.0
        assert cosine({"unheard": 1}, {"unheard": 1}, weights) == 0.0

    def test_what_no_memory_holds_does_not_make_a_query_less_like_what_it_finds(self):
        """As in scikit-learn, a token without an IDF is left out of the length, too."""
        assert cosine({"a": 1, "unheard": 5}, {"a": 3}, {"a": 1.7}) == 1.0

    def test_the_order_of_the_tokens_changes_not_one_bit(self):
        """Sums are exact; a text is like itself by 1.0, and never by more."""
        rng = random.Random(3)
        weights = {f"t{n}": rng.uniform(1, 12) for n in range(200)}
        for _ in range(50):
            asked = {token: rng.randint(1, 9) for token in rng.sample(sorted(weights), 30)}
            bag = {token: rng.randint(1, 9) for token in rng.sample(sorted(weights), 90)}
            turned = dict(rng.sample(sorted(bag.items()), len(bag)))

            assert cosine(asked, turned, weights) == cosine(asked, bag, weights)
            assert cosine(bag, asked, weights) == cosine(asked, bag, weights)
            assert cosine(bag, turned, weights) == 1.0

    def test_counts_of_several_databases_are_added(self):
        """The IDF of several tiers is that of one database with all of their memories."""
        one, two = TokenCounts(3, {"a": 2, "b": 1}), TokenCounts(5, {"b": 4, "c": 5})

        assert merge_counts([one, two]) == TokenCounts(8, {"a": 2, "b": 5, "c": 5})
        assert merge_counts([]) == TokenCounts(0, {})


class TestBesideScikitLearn:
    def test_idf_and_cosine_are_the_same(self):
        """SV-7: smooth_idf, raw counts, on the same tokens of many scripts, to 1e-9."""
        texts, queries = documents(300, 1), documents(30, 2)
        theirs = TfidfVectorizer(
            analyzer=split, smooth_idf=True, norm="l2", sublinear_tf=False
        ).fit(texts)
        bags = [Counter(split(text)) for text in texts]
        held_by = Counter(token for bag in bags for token in bag)

        ours = idfs(TokenCounts(len(texts), held_by))

        expected = dict(zip(theirs.get_feature_names_out(), theirs.idf_, strict=True))
        assert ours.keys() == expected.keys()
        assert ours == pytest.approx(expected, abs=1e-9)
        likeness = (theirs.transform(queries) @ theirs.transform(texts).T).toarray()
        for query, row in zip(queries, likeness, strict=True):
            asked = Counter(split(query))
            assert [cosine(asked, bag, ours) for bag in bags] == pytest.approx(row, abs=1e-9)
        assert likeness.max() > 0.5
        assert likeness.min() == 0.0

    def test_a_store_gives_the_same_from_its_own_counts(self):
        """SV-7: title, text, context and topics together, each in its language, ids left out."""
        rng = random.Random(4)
        texts = iter(documents(2000, 5))
        with scrubjay.open(":memory:", embedder=False) as store:
            store.add_many(
                {
                    "text": next(texts),
                    "title": next(texts)[:60],
                    "context": next(texts)[:80],
                    "topics": rng.sample(WORDS, 2),
                    "id": f"identifier{n}",
                    "namespace": rng.choice(("default", "work")),
                }
                for n in range(300)
            )
            memories = store.ls(limit=1000)
            said = {
                one.id: [
                    token
                    for field in (one.title, one.text, " ".join(one.topics), one.context)
                    for token in split(field, one.language)
                ]
                for one in memories
            }
            theirs = TfidfVectorizer(analyzer=said.get).fit(said)
            found = theirs.transform(said)
            terms = store._context.tables.terms
            bags = {id_: bag.tokens for id_, bag in terms.bags(list(said)).items()}
            assert bags == {id_: Counter(held) for id_, held in said.items()}
            for language in LANGUAGES:
                query = next(texts)
                asked = terms.query_tokens(query, language)
                assert asked == Counter(split(query, language))
                counted = terms.counted(
                    {*asked, *(t for bag in bags.values() for t in bag)}, Scope()
                )
                weights = idfs(counted)
                assert weights == pytest.approx(
                    dict(zip(theirs.get_feature_names_out(), theirs.idf_, strict=True)), abs=1e-9
                )
                said["query"] = split(query, language)
                row = (theirs.transform(["query"]) @ found.T).toarray()[0]
                ours = [cosine(asked, bags[id_], weights) for id_ in bags]
                place = {id_: at for at, id_ in enumerate(said)}
                assert ours == pytest.approx([row[place[id_]] for id_ in bags], abs=1e-9)
                assert max(ours) > 0
