"""A model that reads the first hits: what it may change, and what it may not."""

from __future__ import annotations

import pytest
from clocks import Clock
from sums import assert_comes_out

import scrubjay
from scrubjay.storage.changes import Compared

WIKI = {
    "alpha": ("The wiki runs on the host alpha, and Ann looks after it", "2025-01-10"),
    "beta": ("The wiki moved to the host beta", "2025-06-10"),
}
ASKED = "which host has the wiki"


class Reads:
    """A reader that always gives the same probabilities by text, and keeps what it was asked."""

    name = "reads"

    def __init__(self, none=0.0, **chances):
        self.none, self.chances, self.asked = none, chances, []

    def answers(self, question, asked_at, notes):
        self.asked.append((question, asked_at, [note.text for note in notes]))
        names = {text: id_ for id_, (text, _) in WIKI.items()}
        return self.none, [self.chances.get(names.get(note.text, ""), 0.0) for note in notes]

    def relations(self, pairs):
        raise NotImplementedError


class Broken(Reads):
    name = "broken"

    def __init__(self, answer):
        self.answer = answer

    def answers(self, question, asked_at, notes):
        return self.answer


class TakesQuestions(Reads):
    """It takes a text that asks the same for the answer."""

    def answers(self, question, asked_at, notes):
        none, chances = super().answers(question, asked_at, notes)
        return none, [
            0.9 if note.text.endswith("?") else chance
            for note, chance in zip(notes, chances, strict=True)
        ]


@pytest.fixture
def wiki(tmp_path, embedder):
    """Two hosts of a wiki, of which detection takes the later one for a probable update."""
    with scrubjay.open(tmp_path / "n.db", embedder=embedder, clock=Clock()) as store:
        for id_, (text, created) in WIKI.items():
            store.add(text, id=id_, created_at=created)
        store.add("The host of the party brings a cake", id="cake", created_at="2025-02-01")
        store.pending()
        changes = store._context.tables.changes
        changes.activate()
        waiting = {one.id: one for one in changes.waiting(embedder.name, 10)}
        assert changes.put([Compared(waiting["beta"], {"alpha": 0.9})], 0) == 1
        yield store


def order(results):
    return [hit.id for hit in results if hit.id in WIKI]


def read_by(store, reader):
    store._context.use_reader(reader)
    return reader


class TestReading:
    def test_the_older_memory_stays_where_it_answers_the_question(self, wiki):
        """A partial update: the host moved, who looks after the wiki did not change."""
        assert order(wiki.search("who looks after the wiki")) == ["beta"]
        read_by(wiki, Reads(none=0.05, alpha=0.94, beta=0.01))
        found = wiki.search("who looks after the wiki")
        assert order(found) == ["alpha", "beta"]

    def test_the_newer_memory_replaces_the_older_where_it_answers(self, wiki):
        """The strong update folds the older memory under the newer one, as without a reader."""
        read_by(wiki, Reads(none=0.05, alpha=0.05, beta=0.9))
        found = wiki.search(ASKED)
        assert order(found) == ["beta"]
        assert found[0].supersedes == ("alpha",)

    def test_a_memory_that_is_itself_a_question_answers_nothing(self, wiki):
        wiki.add("Which host has the wiki?", id="question", created_at="2025-05-01")
        wiki.pending()
        assert wiki.search(ASKED)[0].id == "question"
        read_by(wiki, TakesQuestions(none=0.05, beta=0.4))
        assert wiki.search(ASKED)[0].id == "beta"

    def test_a_link_by_hand_is_never_overruled(self, wiki):
        """Superseded memories never rank above their successor."""
        wiki.link("beta", "alpha", kind="supersedes")
        read_by(wiki, Reads(alpha=1.0, beta=0.0))
        found = wiki.search("who looks after the wiki")
        assert order(found) == ["beta"]

    def test_it_reads_the_question_the_time_and_the_texts(self, wiki):
        """All of the first hits, whether they are linked or not."""
        reader = read_by(wiki, Reads(alpha=0.5, beta=0.5))
        wiki.search(ASKED)
        [(question, at, texts)] = reader.asked
        assert question == ASKED
        assert at == Clock()()
        assert {text for text, _ in WIKI.values()} <= set(texts)

    def test_a_question_about_a_time_reads_nothing_that_was_stored_later(self, wiki):
        reader = read_by(wiki, Reads(alpha=0.5, beta=0.5))
        wiki.search("which host had the wiki in March 2025")
        [(question, at, texts)] = reader.asked
        assert WIKI["alpha"][0] in texts
        assert WIKI["beta"][0] not in texts
        # It is asked as if it were the end of March: the month is no part of the question then.
        assert question == "which host had the wiki"
        assert (at.year, at.month) in {(2025, 3), (2025, 4)}

    def test_for_a_question_about_a_time_later_memories_stand_below_what_was_read(self, wiki):
        """Also one that has all words of the question, where what was read has hardly any."""
        wiki.add("which host had the wiki: zeta", id="zeta", created_at="2025-09-01")
        wiki.pending()
        question = "which host had the wiki in March 2025"
        read_by(wiki, Reads(none=0.9))
        found = [hit.id for hit in wiki.search(question)]
        assert found.index("zeta") > found.index("alpha")
        assert found.index("zeta") > found.index("cake")

    @pytest.mark.parametrize("asked", ["who looks after the wiki", "the wiki in March 2025"])
    def test_its_part_of_a_score_is_a_sum_that_comes_out(self, wiki, asked):
        """R-7: from the score so far to that of the place which the memory got, step by step."""
        wiki.add("which wiki: zeta, in March 2025", id="zeta", created_at="2025-09-01")
        wiki.pending()
        read_by(wiki, Reads(none=0.05, alpha=0.94, beta=0.01))
        found = wiki.search(asked)

        assert {"alpha", "zeta"} <= {hit.id for hit in found}
        assert "read" in {name for hit in found for name in hit.why}
        assert_comes_out(found)
        for hit in found:
            so_far = 0.0
            for part in found.explain(hit).parts:
                if part.name in ("read", "holds"):
                    assert part.working[0] == f"{so_far + part.amount:.6f} - {so_far:.6f}"
                    assert part.working[1].startswith(f"{so_far + part.amount:.6f}: ")
                elif part.name == "time" and part.amount:
                    assert f" × {so_far:.6f} × (1 - " in part.working[0]
                so_far += part.amount

    @pytest.mark.parametrize("ask", [{"history": True}, {"mode": "keyword"}, {"profile": "gno"}])
    def test_history_words_alone_and_other_profiles_are_not_read(self, wiki, ask):
        reader = read_by(wiki, Reads(alpha=1.0))
        wiki.search(ASKED, **ask)
        assert reader.asked == []

    def test_hits_that_nothing_replaced_are_not_read(self, wiki):
        """An ordinary search does not pay for it."""
        reader = read_by(wiki, Reads(alpha=1.0))
        wiki.forget("beta")
        assert order(wiki.search(ASKED)) == ["alpha"]
        assert reader.asked == []

    def test_scores_stay_those_of_the_search_in_a_new_order(self, wiki):
        """Nothing is invented: the memories that were read exchange their scores."""
        before = {
            hit.id: hit.score for hit in wiki.search("who looks after the wiki", history=True)
        }
        read_by(wiki, Reads(none=0.05, alpha=0.94, beta=0.01))
        found = wiki.search("who looks after the wiki")
        assert found[0].score == pytest.approx(max(before.values()), abs=1e-4)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)

    @pytest.mark.parametrize(
        "answer",
        [None, 0.5, (0.5,), (0.5, [1.0]), (float("nan"), [0.1, 0.1, 0.1]), (0, ["a"] * 3)],
    )
    def test_a_reader_that_fails_is_reported_and_the_rules_decide(self, wiki, answer):
        read_by(wiki, Broken(answer))
        found = wiki.search(ASKED)
        assert order(found) == ["beta"]
        assert any("read_first" in note for note in found.degraded)

    @pytest.mark.parametrize("weights", [{"reed": 1.0}, {"": 1.0}])
    def test_an_unknown_part_of_the_order_is_refused(self, wiki, weights):
        with pytest.raises(scrubjay.InvalidInput, match="parts"):
            wiki.search(ASKED, overrides={"order_read.present": weights})
