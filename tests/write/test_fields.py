"""What can be done: the status of a memory is in its type."""

from __future__ import annotations

import pytest

import scrubjay
from scrubjay import InvalidInput, NotFound


class TestDone:
    def test_a_task_becomes_done_and_open_again(self, words_only, clock):
        """The time of the change is the time of the memory."""
        words_only.add("Renew the licence", id="a", type="task", topics=["paper"])
        began = clock()
        clock.advance(hours=1)
        done = words_only.done("a")
        assert (done.type, done.text, done.topics) == (
            "task_done",
            "Renew the licence",
            ("paper",),
        )
        assert done.created_at == began
        assert done.updated_at == clock()
        assert words_only.get("a") == done

        clock.advance(hours=1)
        assert words_only.undone("a").type == "task"
        assert [(one.what, one.changed_at, one.changed) for one in words_only.history("a")] == [
            ("undone", clock(), {"type": "task"}),
            ("done", done.updated_at, {"type": "task_done"}),
            ("created", began, {}),
        ]

    @pytest.mark.parametrize("type_", ["task", "fact", "preference", "to do", "aufgabe", "仕事"])
    def test_any_type_can_be_done(self, words_only, type_):
        """There is no list of types."""
        words_only.add("x", id="a", type=type_)
        assert words_only.done("a").type == f"{type_}_done"
        assert words_only.undone("a").type == type_

    def test_twice_is_no_error_and_changes_nothing(self, words_only, clock):
        """Neither the memory nor its history."""
        words_only.add("x", id="a", type="task")
        once = words_only.done("a")
        clock.advance(hours=1)
        assert words_only.done("a") == once
        assert len(words_only.history("a")) == 2
        again = words_only.undone("a")
        assert words_only.undone("a") == again
        assert len(words_only.history("a")) == 3

    def test_links_and_vectors_stay(self, memory):
        """Only the type is another."""
        memory.add("one", id="a", type="task")
        memory.add("two", id="b")
        memory.link("a", "b")
        memory.pending()
        assert [link.to for link in memory.done("a").links] == ["b"]
        assert memory.pending(wait=False) == 0
        assert memory.status().types == {"fact": 1, "task_done": 1}

    def test_the_same_task_can_be_set_again(self, words_only):
        """What is done does not stand in the way of doing it once more."""
        first = words_only.add("Water the plants", type="task")
        words_only.done(first.id)
        second = words_only.add("Water the plants", type="task")
        assert second.id != first.id
        words_only.done(second.id)
        assert words_only.status().types == {"task_done": 2}

    def test_an_unknown_id_is_an_error(self, words_only):
        """In the words of every verb."""
        for verb in (words_only.done, words_only.undone, words_only.history):
            with pytest.raises(NotFound, match="no memory has the id 'nope'"):
                verb("nope")


def test_a_user_marks_only_their_own(tmp_path, clock):
    """R-5: another's memory is not there, and its history is not told."""
    path = tmp_path / "a.db"
    with (
        scrubjay.open(path, embedder=False, clock=clock, user="ada") as ada,
        scrubjay.open(path, embedder=False, clock=clock, user="ben") as ben,
    ):
        ben.add("b", id="b", type="task")
        for verb in (ada.done, ada.undone, ada.history):
            with pytest.raises(NotFound):
                verb("b")
        assert ben.get("b").type == "task"
        assert ben.done("b").type == "task_done"


@pytest.mark.parametrize(
    ("type_", "says"),
    [
        ("_done", "name the task, such as 'task_done'"),
        ("  ", "give a printable name such as 'fact'"),
        ("ta\x00sk", "give a printable name such as 'fact'"),
        ("x" * 513, "513 characters"),
    ],
)
def test_a_type_that_cannot_be_is_refused(words_only, type_, says):
    """When it is added and when it is changed."""
    words_only.add("there already", id="a")
    with pytest.raises(InvalidInput, match=says):
        words_only.add("x", type=type_)
    with pytest.raises(InvalidInput, match=says):
        words_only.update("a", type=type_)
    assert words_only.get("a").type == "fact"
    assert words_only.status().memories == 1


def test_a_type_too_long_to_be_marked_is_refused_whole(words_only):
    """The memory stays as it was."""
    words_only.add("x", id="a", type="t" * 510)
    with pytest.raises(InvalidInput, match="at most 512"):
        words_only.done("a")
    assert words_only.get("a").type == "t" * 510
    assert len(words_only.history("a")) == 1


def test_two_that_mark_the_same_leave_one_change(tmp_path, clock):
    """The look and the change are one transaction."""
    from concurrent.futures import ThreadPoolExecutor

    path = tmp_path / "a.db"
    with (
        scrubjay.open(path, embedder=False, clock=clock) as one,
        scrubjay.open(path, embedder=False, clock=clock) as two,
    ):
        one.add("x", id="a", type="task")
        with ThreadPoolExecutor(8) as threads:
            marked = list(threads.map(lambda store: store.done("a"), [one, two] * 8))
        assert {memory.type for memory in marked} == {"task_done"}
        assert len(one.history("a")) == 2
