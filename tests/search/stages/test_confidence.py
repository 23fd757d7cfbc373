"""Confidence: the probability that the first hit answers, and the verdict in words."""

from __future__ import annotations

import json
from math import exp
from pathlib import Path

import pytest
from traces import steps

import scrubjay
from scrubjay.search.stages.confidence import weights_of_all
from scrubjay.types import Results

MODES = ("keyword", "fast", "default", "thorough", "vector")
HELD_OUT = Path(__file__).parents[2] / "data" / "confidence.jsonl"
CODES = {
    "type": "FST_ERR_CTP_INVALID_TYPE: the content type must be a string or a pattern",
    "large": "FST_ERR_CTP_BODY_TOO_LARGE: the body of the request is above the limit",
    "route": "FST_ERR_DUPLICATED_ROUTE: the method is already declared for this path",
    "hook": "FST_ERR_HOOK_INVALID_TYPE: the name of a hook must be a string",
}
NOTES = {
    "seafood": "Oriel must never eat shrimp, crab or mussels",
    "bike": "The blue bicycle has a slow puncture in the back tyre.",
    "boiler": "The boiler in the cellar needs a pressure between 1.5 and 2 bar.",
    "soup": "Grandma's leek soup: sweat two leeks in butter, add a litre of stock, cook 20 minutes.",
    "rent": "The rent for the studio is 840 euros and is due on the third of each month.",
    "vet": "Dr. Okafor vaccinated the cat in February; the next shot is due in a year.",
    "deploy": "Deployments to production happen on Tuesdays and Thursdays before noon.",
    "postgres": "The billing service stores its data in Postgres, on port 5433.",
    "tabs": "Prefers tabs over spaces and hates trailing commas",
    "flight": "Our flight to Lisbon leaves on 14 June at 06:25 from gate B12.",
    "piano": "Lena has piano lessons with Mr. Havel every Wednesday at four.",
    "wifi": "The guest wifi at the cabin is called pinecone, the router is under the stairs.",
    "logs": "Application logs are kept for thirty days and then deleted by a nightly job.",
    "coffee": "Maya drinks her coffee black, without sugar.",
    "insurance": "The car is insured with Helvetia until the end of October.",
    "garden": "Tomatoes went into the greenhouse on 2 May, the beans follow in two weeks.",
    "backup": "Backups run every night at two and are copied to the office in Graz.",
    "review": "Every pull request needs two approvals, one of them from the platform team.",
    "shoes": "Tom wears shoe size 43 and always needs wide ones.",
    "book": "The book club reads Middlemarch until the end of August.",
}
ANSWERED = {
    "which seafood is forbidden for Oriel?": "seafood",
    "what is wrong with the blue bicycle?": "bike",
    "what pressure does the boiler need?": "boiler",
    "how do I cook the leek soup?": "soup",
    "how much is the rent for the studio?": "rent",
    "who vaccinated the cat?": "vet",
    "on which days do deployments to production happen?": "deploy",
    "which port does Postgres of the billing service use?": "postgres",
    "tabs or spaces?": "tabs",
    "when does the flight to Lisbon leave?": "flight",
    "who gives Lena piano lessons?": "piano",
    "what is the guest wifi at the cabin called?": "wifi",
    "how long are application logs kept?": "logs",
    "how does Maya drink her coffee?": "coffee",
    "until when is the car insured?": "insurance",
    "when did the tomatoes go into the greenhouse?": "garden",
    "at what time do the backups run?": "backup",
    "how many approvals does a pull request need?": "review",
    "which shoe size does Tom wear?": "shoes",
    "which book does the book club read?": "book",
}
UNANSWERED = (
    "who won the chess tournament?",
    "what is the capital of Mongolia?",
    "which dentist does Ann see?",
    "how tall is the lighthouse?",
    "what did the plumber charge us?",
    "when does the swimming pool open?",
    "where did we park at the airport in Oslo?",
    "which insulin does grandfather take?",
    "what is the salary of the new designer?",
    "who directed the film we saw at Christmas?",
    "what is the IBAN of the landlord?",
    "how many sheep does uncle Pete have?",
    "which framework does the mobile app use?",
    "when was the roof repaired?",
    "where is the spare key of the boat?",
    "what is the name of Julia's horse?",
    "which vaccine did the puppy miss?",
    "how do I reset the alarm system?",
    "who is the notary for the will?",
    "which yarn is the blanket made of?",
)


@pytest.fixture(scope="module")
def notes():
    with scrubjay.open(":memory:") as store:
        store.add_many({"id": id_, "text": text} for id_, text in NOTES.items())
        store.pending(wait=True)
        yield store


@pytest.fixture(scope="module")
def codes():
    with scrubjay.open(":memory:") as store:
        store.add_many({"id": id_, "text": text} for id_, text in CODES.items())
        store.pending(wait=True)
        yield store


class TestVerdict:
    @pytest.mark.parametrize(
        ("confidence", "verdict"),
        [
            (None, None),
            (0.0, "not stored"),
            (0.29, "not stored"),
            (0.3, "unsure"),
            (0.59, "unsure"),
            (0.6, "likely"),
            (0.99, "likely"),
        ],
    )
    def test_it_is_the_confidence_in_words(self, confidence, verdict):
        assert Results("q", "default", confidence=confidence).verdict == verdict

    @pytest.mark.parametrize("mode", ["keyword", "default"])
    def test_without_hits_nothing_is_stored(self, memory, mode):
        """The store has texts, and none of them is near; or all of them score too low."""
        memory.add("The kettle whistles", id="k")
        memory.pending()
        nothing = memory.search("zzzz", mode="keyword")
        too_low = memory.search("kettle", mode=mode, min_score=1.1)

        for results in (nothing, too_low):
            assert (len(results), results.confidence, results.verdict) == (0, 0.0, "not stored")

    def test_other_profiles_have_none(self, memory):
        memory.add("The kettle whistles", id="k")
        memory.pending()
        for profile in ("gno", "gnosis", "vault", "cognis", "novamem"):
            results = memory.search("kettle", profile=profile)
            assert len(results) == 1
            assert (results.confidence, results.verdict) == (None, None)


class TestTheNumber:
    @pytest.mark.parametrize("mode", MODES)
    def test_it_depends_on_no_limit_and_is_never_certain(self, memory, mode):
        memory.add_many({"text": f"The kettle number {n} whistles"} for n in range(12))
        memory.pending()
        wide = memory.search("which kettle whistles?", mode=mode)
        narrow = memory.search("which kettle whistles?", mode=mode, limit=1)

        assert 0 < wide.confidence < 1
        assert narrow.confidence == wide.confidence

    @pytest.mark.parametrize("mode", MODES)
    def test_more_words_of_the_question_raise_it(self, words_only, mode):
        words_only.add("The kettle in the attic whistles at noon", id="k")
        words_only.add("Rain on the roof", id="r")
        more = words_only.search("kettle attic noon", mode=mode)
        less = words_only.search("kettle zeppelin xylophone", mode=mode)

        assert more[0].id == less[0].id == "k"
        assert more.confidence > less.confidence

    def test_an_identifier_that_is_stored_nowhere_lowers_it(self, words_only):
        words_only.add("E_CACHE_4417 means that two workers warm the same shard", id="e")
        words_only.add("E_QUEUE_1200 means that a worker is stuck", id="q")
        stored = words_only.search("E_CACHE_4417", mode="keyword")
        absent = words_only.search("E_CACHE_9999", mode="keyword")

        assert stored.confidence > 0.6
        assert absent[0].id == "e"
        assert absent.verdict == "not stored"

    def test_every_feature_is_shown_with_its_weight(self, words_only):
        """They add up to the probability."""
        words_only.add("The kettle whistles", id="k")
        results = words_only.search("kettle", mode="keyword")
        notes = steps(results)["confidence"].notes
        total = notes["bias"] + sum(p["value"] * p["weight"] for p in notes["parts"].values())

        assert notes["sum"] == pytest.approx(total)
        assert results.confidence == notes["probability"]
        assert any("answers the query" in line for line in results.explain(results[0]).where)

    def test_a_successor_has_the_evidence_of_what_it_replaced(self, words_only):
        """It answers, though it has no word of the question."""
        words_only.add("The wiki runs on the host alpha", id="alpha", created_at="2025-01-10")
        words_only.add("Everything moved to beta", id="beta", created_at="2025-06-10")
        before = words_only.search("host of the wiki", mode="keyword")
        words_only.link("beta", "alpha", kind="supersedes")
        after = words_only.search("host of the wiki", mode="keyword")

        assert (before[0].id, after[0].id) == ("alpha", "beta")
        assert after.confidence == pytest.approx(before.confidence, abs=0.15)

    def test_the_words_of_a_time_need_not_be_stored(self, words_only):
        """A question about a time is answered by what held then, which seldom says the date itself."""
        words_only.add("Anna lives in Berlin", created_at="2026-01-03")
        words_only.add("The ferry leaves at nine", created_at="2026-01-04")
        dated = words_only.search("where did Anna live on 1 February 2026?")
        parts = steps(dated)["confidence"].notes["parts"]
        assert not {"code_unseen", "code_missing", "word_unseen"} & parts.keys()

    def test_dropping_the_stage_leaves_no_confidence(self, words_only):
        words_only.add("The kettle whistles", id="k")
        results = words_only.search("kettle", mode="keyword", overrides={"confidence": False})

        assert (results.confidence, results.verdict) == (None, None)


@pytest.mark.model
class TestWithTheModel:
    @pytest.mark.parametrize("mode", ["default", "fast", "keyword"])
    def test_a_code_that_does_not_exist_is_not_stored(self, codes, mode):
        absent = codes.search("FST_ERR_CTP_DOES_NOT_EXIST", mode=mode)
        stored = codes.search("FST_ERR_CTP_INVALID_TYPE", mode=mode)

        assert absent.verdict == "not stored"
        assert stored[0].id == "type"
        assert stored.verdict == "likely"

    def test_a_paraphrase_in_a_small_store_is_no_noise(self):
        """The example of the README: no word in common, and right."""
        with scrubjay.open(":memory:") as store:
            store.add(
                "Prefers Python for back ends", type="preference", topics=["python", "backend"]
            )
            results = store.search("which language for the server?")

        assert results.verdict in ("unsure", "likely")

    @pytest.mark.parametrize("mode", ["default", "fast"])
    def test_answered_questions_have_more_than_half_on_average(self, notes, mode):
        found = {question: notes.search(question, mode=mode) for question in ANSWERED}

        assert {question: each[0].id for question, each in found.items()} == ANSWERED
        assert sum(each.confidence for each in found.values()) / len(found) > 0.5

    @pytest.mark.parametrize("mode", ["default", "fast", "keyword"])
    def test_unanswered_questions_have_less_than_a_third_on_average(self, notes, mode):
        found = [notes.search(question, mode=mode) for question in UNANSWERED]

        assert sum(each.confidence for each in found) / len(found) < 0.3


def test_the_probability_is_calibrated_on_questions_that_were_not_fitted():
    """Ten bins of equal width: in each, as many first hits are right as the numbers say."""
    lines = HELD_OUT.read_text(encoding="utf-8").splitlines()
    bins: dict[int, list[float]] = {}
    for example in map(json.loads, lines):
        probability = _probability(weights_of_all()[example["kind"]], example["features"])
        bins.setdefault(min(int(10 * probability), 9), []).append(probability - example["right"])
    error = sum(abs(sum(inside)) for inside in bins.values()) / len(lines)

    assert len(lines) == 900
    assert error <= 0.1


def _probability(weights, features):
    total = weights["bias"] + sum(weights.get(name, 0) * each for name, each in features.items())
    return 1 / (1 + exp(-total))
