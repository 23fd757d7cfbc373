"""The reader of notes: what a newer note does to an older one, and which note answers a question."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from datetime import UTC, datetime

import pytest

from scrubjay import InvalidInput, Unavailable
from scrubjay.models import Answers, NoteReader, Passage, Relation
from scrubjay.models.guard import GuardedNoteReader
from scrubjay.models.reader import MOST_NOTES, OnnxReader
from scrubjay.models.registry import load_reader

MAY, JUNE = datetime(2025, 5, 3, tzinfo=UTC), datetime(2025, 6, 9, tzinfo=UTC)
PAIRS = [
    ("The staging database listens on port 5432", "Staging now listens on port 5433"),
    ("The deadline is 3 March", "The deadline was moved to 10 March"),
    (
        "My dog is called Rex",
        "Rex was at the vet today and slept all afternoon on his old blanket",
    ),
    ("x", "y" * 5000),
    ("", "😀 [SEP] [CLS] \ud800"),
]


def passages(pairs):
    return [(Passage(old, MAY), Passage(new, JUNE)) for old, new in pairs]


class TestRelations:
    def test_a_new_value_replaces_and_a_further_fact_does_not(self, reader):
        port, deadline, dog, *_ = reader.relations(passages(PAIRS))

        assert port.replaces > 0.3
        assert deadline.replaces > 0.5
        assert dog.replaces < 0.3
        assert dog.other > dog.replaces

    def test_each_is_a_distribution(self, reader):
        for relation in reader.relations(passages(PAIRS)):
            assert isinstance(relation, Relation)
            assert sum(relation) == pytest.approx(1)
        assert reader.relations([]) == []

    def test_a_result_does_not_depend_on_what_is_read_with_it(self, reader):
        """Nor on the order."""
        together = reader.relations(passages(PAIRS))
        alone = [relation for pair in passages(PAIRS) for relation in reader.relations([pair])]

        assert together == alone
        assert reader.relations(passages(PAIRS[::-1])) == together[::-1]

    def test_notes_without_a_date_are_read(self, reader):
        (relation,) = reader.relations([(Passage(PAIRS[0][0], None), Passage(PAIRS[0][1], None))])
        assert relation.replaces > 0.3


class TestAnswers:
    NOTES = (
        Passage("Rex is afraid of thunder", MAY),
        Passage("The staging database listens on port 5433", JUNE),
        Passage("The cafeteria closes at two", MAY),
    )

    def test_the_note_that_answers_has_the_highest_probability(self, reader):
        found = reader.answers("Which port is the staging database on?", JUNE, self.NOTES)

        assert isinstance(found, Answers)
        assert max(found.notes) == found.notes[1] > 0.5
        assert found.none + sum(found.notes) == pytest.approx(1)

    def test_the_order_of_the_notes_does_not_matter(self, reader):
        """They are read oldest first, whatever order they are given in."""
        apart = [self.NOTES[0], self.NOTES[1]._replace(at=JUNE)]
        one = reader.answers("Which port?", JUNE, apart)
        other = reader.answers("Which port?", JUNE, apart[::-1])

        assert one.none == other.none
        assert one.notes == other.notes[::-1]

    def test_no_notes_and_too_many_notes_are_read(self, reader):
        assert reader.answers("Which port?", JUNE, []).none == pytest.approx(1)
        found = reader.answers("Which port?", JUNE, self.NOTES * 4)
        assert len(found.notes) == 12
        assert found.notes[MOST_NOTES:] == (0.0,) * (12 - MOST_NOTES)


class TestLoading:
    def test_it_is_one_for_the_process_and_loaded_at_first_use(self, reader):
        assert load_reader() is reader
        assert isinstance(reader, NoteReader)
        fresh = OnnxReader(reader._graph, reader._tokenizer_file)
        assert not fresh.is_loaded
        fresh.load()
        assert fresh.is_loaded

    def test_threads_may_share_it(self, reader):
        found = []
        threads = [
            threading.Thread(target=lambda: found.append(reader.relations(passages(PAIRS))))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [reader.relations(passages(PAIRS))] * 4

    def test_without_the_package_it_says_how_to_install_it(self):
        with pytest.raises(Unavailable, match="scrubjay-models"):
            load_reader()

    def test_a_broken_file_is_unavailable(self, tmp_path):
        (tmp_path / "model.onnx").write_bytes(b"no graph")
        broken = OnnxReader(tmp_path / "model.onnx", tmp_path / "tokenizer.json")
        with pytest.raises(Unavailable):
            broken.load()

    def test_onnxruntime_is_imported_with_the_model_only(self):
        code = "import sys, scrubjay.models.reader; sys.exit('onnxruntime' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0


class Says:
    """A reader with fixed answers."""

    name = "says"

    def __init__(self, relations=(), answers=None):
        self._relations, self._answers = relations, answers

    def relations(self, pairs):
        return self._relations

    def answers(self, question, asked_at, notes):
        return self._answers


class TestGuard:
    PAIR = (passages(PAIRS[:1])[0],)

    @pytest.mark.parametrize(
        "relations",
        [
            [],
            [(0.5, 0.5)],
            [(2, 0, 0, 0, 0)],
            [(float("nan"), 0, 0, 0, 0)],
            [("a",) * 5],
            7,
            [None],
        ],
    )
    def test_wrong_relations_are_unavailable(self, relations):
        with pytest.raises(Unavailable):
            GuardedNoteReader(Says(relations)).relations(self.PAIR)

    @pytest.mark.parametrize(
        "answers", [None, (0.5, ()), (0.5, (0.1, 0.2)), (2.0, (0.0,)), (0.1, (float("inf"),)), 3]
    )
    def test_wrong_answers_are_unavailable(self, answers):
        with pytest.raises(Unavailable):
            GuardedNoteReader(Says(answers=answers)).answers("?", MAY, [Passage("a", MAY)])

    def test_right_ones_pass(self):
        says = GuardedNoteReader(Says([(1, 0, 0, 0, 0)], (0.25, [0.75])))

        assert says.relations(self.PAIR) == [Relation(1, 0, 0, 0, 0)]
        assert says.relations([]) == []
        assert says.answers("?", MAY, [Passage("a", MAY)]) == Answers(0.25, (0.75,))

    def test_what_has_no_such_methods_is_refused(self):
        with pytest.raises(InvalidInput, match="answers"):
            GuardedNoteReader(object())
