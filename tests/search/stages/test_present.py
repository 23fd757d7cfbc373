"""What a reader gets to see: how many, above what score, which passage."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from backends import asking
from hypothesis import given
from hypothesis import strategies as st

from scrubjay import InvalidInput
from scrubjay.search.pipeline import Kit, Run
from scrubjay.search.stages.present import _line, at_least, check_files, passages, pool, top
from scrubjay.types import Candidate, Chunk, Memory, Query, Scope


def run(*scores, limit=10, min_score=None, terms=()):
    candidates = tuple(Candidate(f"m{n}", score=score) for n, score in enumerate(scores))
    return Run(Query("q", limit=limit, min_score=min_score, terms=terms), pool=candidates)


def left(after):
    return [one.score for one in after.pool]


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(1, 40), st.integers(1, 40))
def test_the_pool_keeps_so_many_or_as_many_as_were_asked_for(scores, size, limit):
    """R-3: a small pool never makes an answer shorter than its limit."""
    assert left(pool(size=size)(run(*scores, limit=limit))) == scores[: max(size, limit)]


def test_a_pool_of_nothing_is_refused():
    """At least one."""
    with pytest.raises(InvalidInput, match=r"pool\.size is 0"):
        pool(size=0)(run(0.5))


@given(st.lists(st.floats(0, 1), max_size=30), st.integers(1, 40))
def test_top_keeps_the_first_so_many(scores, limit):
    """R-3: limit means limit."""
    assert left(top()(run(*scores, limit=limit))) == scores[:limit]


def test_at_least_drops_what_scores_below():
    """What scores exactly as much stays, also where only the shown places are equal."""
    assert left(at_least()(run(0.9, 0.5, 0.4999999, 0.49, min_score=0.5))) == [0.9, 0.5, 0.4999999]
    assert left(at_least()(run(0.9, 0.0))) == [0.9, 0.0]
    assert left(at_least()(run(0.9, -0.1, min_score=0.0))) == [0.9]


TEXT = "A first line.\n" + "filler " * 60 + "\nthe harbour is closed\n" + "filler " * 60


def shown(memory, chunk=None, terms=("harbour",), width=80):
    one = Candidate("a", memory=memory, chunk=chunk)
    asked = Run(Query("q", terms=terms), pool=(one,))
    return passages(width_chars=width)(asked).pool[0]


def test_a_snippet_is_cut_around_the_words_of_the_query():
    """And marked as a part of the whole."""
    one = shown(Memory(TEXT))

    assert "harbour is closed" in one.snippet
    assert (one.snippet[0], one.snippet[-1], one.complete) == ("…", "…", False)


def test_a_snippet_comes_from_the_best_chunk():
    """R-4: the chunk that was remembered."""
    one = shown(Memory(TEXT), Chunk(0, 0, 13, 1, 1))

    assert (one.snippet, one.complete) == ("A first line.", False)


def test_a_short_text_is_shown_whole():
    """`complete` says so."""
    one = shown(Memory("the harbour"))

    assert (one.snippet, one.complete) == ("the harbour", True)


def test_without_a_record_there_is_nothing_to_show():
    """It was deleted meanwhile."""
    assert shown(None).snippet == ""


class File(NamedTuple):
    """One document of a file that is now in some state."""

    path: str
    memory: str
    now: str | None = None
    size: int = 1
    mtime_ns: int = 1

    def state(self):
        return self.now


class Files:
    """Remembers how it was asked."""

    def __init__(self, *files):
        self.files = files
        self.asked = []

    def is_empty(self):
        return not self.files

    def count(self):
        return len(self.files)

    def visible(self, scope):
        self.asked.append(scope)
        return list(self.files)

    def of(self, ids):
        self.asked.append(list(ids))
        return {one.memory: one for one in self.files if one.memory in ids}


class TestCheckFiles:
    FILES = (
        File("/a.md", "m0"),
        File("/b.md", "m1", "stale"),
        File("/c.md", "m2", "missing"),
        File("/d.md", "m3", "stale"),
        File("/chat.json", "m4", "stale"),
        File("/chat.json", "m5", "stale"),
    )

    def checked(self, files, *, most=2000, scope=Scope()):  # noqa: B008  # a value, never changed
        pool = tuple(
            Candidate(one, memory=Memory("text", source=None if one == "note" else "file"))
            for one in ("m0", "m1", "m2", "note")
        )
        return check_files(most=most)(Run(Query("q", scope), Kit(files=files), pool=pool))

    def test_every_file_is_counted_once_and_hits_are_marked(self):
        """Two documents of one file are one file; what is not from a file is not marked."""
        after = self.checked(Files(*self.FILES))

        assert [one.stale for one in after.pool] == [None, "stale", "missing", None]
        assert after.counts == {"checked_files": 5, "changed_files": 4}

    def test_above_so_many_only_the_files_of_the_hits_are_looked_at(self):
        """A folder of a million files is not asked about for one search."""
        files = Files(*self.FILES)

        after = self.checked(files, most=5)

        assert files.asked == [["m0", "m1", "m2"]]
        assert [one.stale for one in after.pool] == [None, "stale", "missing", None]
        assert after.counts == {"checked_files": 3, "changed_files": 2}

    def test_the_limit_itself_is_not_above_it(self):
        """As many as `most` are all looked at."""
        assert self.checked(Files(*self.FILES), most=6).counts["checked_files"] == 5

    def test_only_files_that_the_caller_may_see_are_counted(self):
        """R-3: under the filters, but whether or not they hold the phrase."""
        files = Files(*self.FILES)
        scope = Scope(namespaces=("mine",), holds=tuple(asking("a")), lacks=tuple(asking("b")))

        self.checked(files, scope=scope)

        assert files.asked == [Scope(namespaces=("mine",))]

    def test_without_files_there_is_nothing_to_say(self):
        """No counts at all."""
        assert self.checked(Files()).counts == {}
        assert self.checked(None).counts == {}

    @pytest.mark.parametrize("mode", ["keyword", "vector", "default"])
    def test_end_to_end_the_answer_says_how_many_files_changed(self, memory, tmp_path, mode):
        """Also when none of the changed files is a hit, and whatever the query excludes."""
        folder = tmp_path / "folder"
        folder.mkdir()
        for name in ("kettle", "teapot", "cup"):
            (folder / f"{name}.md").write_text(f"# {name.title()}\n\nA {name} of tin.\n")
        memory.ingest(folder)
        memory.pending(wait=True)
        assert memory.search("kettle", mode=mode).counts["changed_files"] == 0

        (folder / "cup.md").write_text("# Cup\n\nA cup of porcelain.\n")
        (folder / "teapot.md").unlink()

        found = memory.search('"kettle of tin" -porcelain', mode=mode)
        assert [(hit.title, hit.stale) for hit in found] == [("Kettle", None)]
        assert (found.counts["checked_files"], found.counts["changed_files"]) == (3, 2)
        states = {hit.title: hit.stale for hit in memory.search("tin", mode=mode)}
        assert states == {"Kettle": None, "Cup": "stale", "Teapot": "missing"}

        few = memory.search("kettle", mode="keyword", overrides={"check_files.most": 1})
        assert (few.counts["checked_files"], few.counts["changed_files"]) == (1, 0)


def test_a_message_without_a_role_is_shown_without_a_speaker():
    """An unknown speaker has no name."""
    said = Memory(id="a", text="We met\nhere")

    assert _line(said, 80) == "We met here"
    assert _line(said._replace(role="user"), 80) == "user: We met here"
