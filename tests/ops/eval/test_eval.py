"""Questions whose answers are known: how they are read, and what they measure."""

from __future__ import annotations

import json
from math import log2

import pytest

import scrubjay
from scrubjay import InvalidInput
from scrubjay.ops.eval.questions import Question, has_corpus, memories, read
from scrubjay.ops.eval.run import Answers, against, evaluate


@pytest.fixture
def store(words_only):
    words_only.add("tea is green", id="tea")
    words_only.add("paint is green and thick", id="paint")
    words_only.add("the harbour is open", id="harbour")
    return words_only


def lines(path, *given):
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in given))
    return path


class TestReading:
    def test_names_or_names_with_grades(self, tmp_path):
        path = lines(
            tmp_path / "q.jsonl",
            {"query": "green?", "expect": ["tea", "paint"]},
            "",
            {"id": "7", "query": "open?", "expect": {"harbour": 2, "tea": 0}},
            {"query": "one", "expect": "tea"},
        )
        assert read(path) == [
            Question("green?", {"tea": 1.0, "paint": 1.0}),
            Question("open?", {"harbour": 2.0, "tea": 0.0}),
            Question("one", {"tea": 1.0}),
        ]

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("{", r"q\.jsonl:2: not JSON .*write \{"),
            ("[1]", "2: not a JSON object"),
            ({"query": " ", "expect": ["tea"]}, "2: `query` must be a text"),
            ({"expect": ["tea"]}, "2: `query` must be a text"),
            ({"query": "x"}, "2: `expect` must be ids or paths"),
            ({"query": "x", "expect": []}, "2: `expect` must be"),
            ({"query": "x", "expect": [3]}, "2: `expect` must be"),
            ({"query": "x", "expect": {"tea": "much"}}, "2: `expect` must be"),
            ({"query": "x", "expect": {"tea": 0}}, "2: `expect` must be"),
            ({"query": "x", "expect": {"tea": -1}}, "2: `expect` must be"),
            ('{"query": "x", "expect": {"tea": NaN}}', "2: `expect` must be"),
            ({"query": "x", "expect": {"tea": True}}, "2: `expect` must be"),
            (f'{{"query": "x", "expect": {{"tea": 1{"0" * 400}}}}}', "2: `expect` must be"),
            ("[" * 100_000, "2: not JSON"),
            ({"query": "x", "expected": ["tea"]}, "2: unknown field 'expected'"),
        ],
    )
    def test_a_wrong_line_is_named_with_what_would_be_right(self, tmp_path, line, said):
        good = {"query": "x", "expect": ["tea"]}
        with pytest.raises(InvalidInput, match=said):
            read(lines(tmp_path / "q.jsonl", good, line))

    def test_what_is_no_file_of_questions(self, tmp_path):
        with pytest.raises(InvalidInput, match=r"there is no .*q\.jsonl; give a file with lines"):
            read(tmp_path / "q.jsonl")
        with pytest.raises(InvalidInput, match="no questions"):
            read(lines(tmp_path / "q.jsonl", ""))
        (tmp_path / "q.jsonl").write_bytes(b"\xff\xfe")
        with pytest.raises(InvalidInput, match="UTF-8"):
            read(tmp_path / "q.jsonl")

    def test_a_folder_as_public_sets_have_it(self, tmp_path):
        """With or without a line of names above the grades; `_id` is the same as `id`."""
        lines(
            tmp_path / "corpus.jsonl",
            {"_id": "d1", "title": "Tea", "text": "green\u2028leaves"},
            {"_id": "d2.md", "title": "Paint", "text": " "},
        )
        lines(tmp_path / "queries.jsonl", {"_id": "q1", "text": "a"}, {"id": "q2", "text": "b"})
        lines(tmp_path / "qrels.tsv", "query-id\tcorpus-id\tscore", "q1\td1\t2", "q2\td1\t0")
        assert has_corpus(tmp_path)
        assert read(tmp_path) == [Question("a", {"d1": 2.0})]  # the other has no good answer
        first, second = memories(tmp_path)
        assert (first["id"], first["title"], first["text"]) == ("d1", "Tea", "green\u2028leaves")
        assert (second["text"], second["metadata"]) == ("Paint", {"format": "markdown"})

        (tmp_path / "qrels").mkdir()
        (tmp_path / "qrels.tsv").rename(tmp_path / "qrels" / "test.tsv")
        lines(tmp_path / "qrels" / "test.tsv", "query\tdocument\tgrade", "q2\td1\t1")
        assert read(tmp_path) == [Question("b", {"d1": 1.0})]
        lines(tmp_path / "qrels" / "test.tsv", "q1\td1\t-1", "q2\td1\t1\n")
        assert read(tmp_path) == [Question("b", {"d1": 1.0})]
        lines(tmp_path / "qrels" / "test.tsv", "q9\td1\t1")
        with pytest.raises(InvalidInput, match=r"no question of .* has a good answer in qrels"):
            read(tmp_path)
        lines(tmp_path / "qrels" / "test.tsv", "q2\td1\tnan")
        with pytest.raises(InvalidInput, match=r"test\.tsv:1: .*question, text and grade"):
            read(tmp_path)
        lines(tmp_path / "qrels" / "test.tsv", "q2\td1\t1", "q2 d1 1")
        with pytest.raises(InvalidInput, match=r"test\.tsv:2: .*question, text and grade"):
            read(tmp_path)

    def test_a_text_that_is_none(self, tmp_path):
        lines(tmp_path / "corpus.jsonl", {"id": "1", "text": None, "title": "Tea"})
        assert memories(tmp_path)[0]["text"] == "Tea"
        lines(tmp_path / "corpus.jsonl", {"id": "1", "text": "x"}, {"id": "2", "title": 7})
        with pytest.raises(InvalidInput, match=r"corpus\.jsonl:2: `title` must be a text"):
            memories(tmp_path)

    def test_a_folder_without_questions_says_where_there_are_some(self, tmp_path):
        (tmp_path / "one").mkdir()
        lines(tmp_path / "one" / "queries.jsonl", {"id": "1", "text": "a"})
        with pytest.raises(
            InvalidInput, match=r"no queries\.jsonl in .*; these folders have one: one$"
        ):
            read(tmp_path)


class TestMeasuring:
    def test_places_and_measures(self, store):
        """Worked out by hand: tea comes first, paint second, and the harbour is not asked for."""
        asked = [
            Question("green tea", {"tea": 1.0, "paint": 1.0}),
            Question("green tea", {"paint": 1.0}),
            Question("green tea", {"harbour": 1.0, "tea": 0.0}),
        ]
        found = evaluate(store, asked, "default:keyword")
        assert [dict(one.places) for one in found.asked] == [
            {"tea": 1, "paint": 2},
            {"paint": 2},
            {"harbour": None},
        ]
        second = 1 / log2(3)
        assert [one.ndcg for one in found.asked] == pytest.approx([1.0, second, 0.0])
        assert [one.recall for one in found.asked] == [1.0, 1.0, 0.0]
        assert [one.mrr for one in found.asked] == [1.0, 0.5, 0.0]
        assert found.ndcg == pytest.approx((1 + second) / 3)
        assert (found.recall, found.mrr) == (pytest.approx(2 / 3), 0.5)

        one = evaluate(store, asked, "default:keyword", limit=1)
        assert one.asked[1].places == {"paint": None}
        assert against(found, one) == (0, 1)  # with one hit tea is still the best that there is
        assert against(one, found) == (1, 0)

    def test_a_file_is_named_by_its_path(self, store, tmp_path):
        for name in ("a/deploy.md", "b/deploy.md", "a/tea.md"):
            path = tmp_path / "notes" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {name}\n\nWe deploy on Tuesdays.\n")
        store.ingest(tmp_path / "notes")
        whole = str(tmp_path / "notes" / "b" / "deploy.md")
        asked = [Question("deploy", {"a/deploy.md": 1.0, whole: 1.0, "tea.md": 1.0})]
        places = evaluate(store, asked, "default:keyword").asked[0].places
        assert sorted(places.values()) == [1, 2, 3]
        with pytest.raises(InvalidInput, match=r"'deploy.md' could be .*a/deploy.md or .*b/dep"):
            Answers(store, [Question("deploy", {"deploy.md": 1.0})])

    def test_each_question_has_names_of_its_own(self, store, tmp_path):
        """One file by two names and by its id, in three questions and in one, is found each time."""
        path = tmp_path / "notes" / "deploy.md"
        path.parent.mkdir()
        path.write_text("We deploy on Tuesdays.\n")
        store.ingest(path.parent)
        (id_,) = (hit.id for hit in store.search("deploy", mode="keyword"))
        names = ("deploy.md", "notes/deploy.md", id_)
        asked = [Question("deploy", {name: 1.0}) for name in names]
        asked.append(Question("deploy", dict.fromkeys(names, 1.0)))
        asked.append(Question("deploy", {id_: 1.0, "deploy.md": 2.0}))
        found = evaluate(store, asked, "default:keyword")
        assert (found.ndcg, found.recall, found.mrr) == (1.0, 1.0, 1.0)
        assert [dict(one.places) for one in found.asked] == [
            *({name: 1} for name in names),
            {"deploy.md": 1},
            {"deploy.md": 1},
        ]

    def test_what_is_worse_than_nothing_is_no_answer(self, store):
        asked = [Question("green tea", {"tea": -5.0, "paint": 1.0})]
        assert evaluate(store, asked, "default:keyword").ndcg == pytest.approx(1 / log2(3))
        with pytest.raises(InvalidInput, match="no expected answer"):
            evaluate(store, [], "default:keyword")

    def test_what_is_not_stored_is_said_and_counts_as_missed(self, store):
        asked = [Question("green tea", {"tea": 1.0, "gone": 1.0})]
        answers = Answers(store, asked)
        assert answers.missing == ["gone"]
        found = evaluate(store, asked, "default:keyword", answers=answers)
        assert (found.recall, dict(found.asked[0].places)) == (0.5, {"tea": 1, "gone": None})
        with pytest.raises(InvalidInput, match="neither 'gone' nor any other is an id or a file"):
            Answers(store, [Question("green tea", {"gone": 1.0})])

    def test_nothing_of_it_is_counted_among_the_searches_of_people(self, clock, embedder):
        """NM-7: and links are there before the first question is asked."""
        with scrubjay.open(":memory:", embedder=embedder, clock=clock) as store:
            store.add_many({"text": f"boat {n} in the harbour", "id": f"b{n}"} for n in range(9))
            found = evaluate(store, [Question("boat 3", {"b3": 1.0})], "novamem")
            assert (found.asked[0].places, found.degraded) == ({"b3": 1}, {})
            assert store.status().unlinked == 0
            assert store.hits().searches == 0

    def test_what_searches_went_without_is_counted(self, store):
        asked = [Question("green tea", {"tea": 1.0})] * 3
        (times,) = evaluate(store, asked, "default").degraded.values()
        assert times == 3
        with pytest.raises(InvalidInput, match="limit is 0; with profile default it must"):
            evaluate(store, asked, "default", limit=0)
