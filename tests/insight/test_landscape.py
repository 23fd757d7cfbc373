"""What is stored, in a stated number of tokens."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from clocks import Clock
from hypothesis import given, settings
from hypothesis import strategies as st

import scrubjay
from scrubjay import InvalidInput
from scrubjay.insight.landscape import LEAST_TOKENS

LISTED = {
    "preferences": "preference",
    "tasks": "task",
    "summaries": "summary",
    "decisions": "decision",
}


def check_sums(seen, stored):
    """Everything that is stored is either shown or counted as left out, and the text fits."""
    types = Counter(one.type for one in stored)
    topics = Counter(topic for one in stored for topic in one.topics)
    left = seen.left_out

    assert len(seen.text) <= 4 * seen.tokens
    assert seen.token_estimate == -(-len(seen.text) // 4) <= seen.tokens
    assert seen.memories == len(stored)
    assert len(seen.types) + left.get("types", 0) == len(types)
    assert seen.types.items() <= types.items()
    assert len(seen.topics) + left.get("topics", 0) == len(topics)
    assert seen.topics.items() <= topics.items()
    for section, type_ in LISTED.items():
        shown = getattr(seen, section)
        assert len(shown) + left.get(section, 0) == types[type_]
        assert {one.id for one in shown} <= {one.id for one in stored if one.type == type_}
        assert seen.text.count("\n- ") >= len(shown)
    assert all(count > 0 for count in left.values())


class TestText:
    def test_it_says_what_is_here_and_in_which_words_to_ask_for_it(self, words_only, clock):
        """Newest first, one line each, with day, id and topics; what is done is not open."""
        words_only.add("Prefers tea", id="tea", type="preference", topics=["kitchen"])
        clock.advance(days=1)
        words_only.add("Prefers\n  Python", id="py", type="preference", topics=["code", "kitchen"])
        words_only.add("Renew the certificate", id="cert", type="task")
        words_only.add("Buy leaves", id="leaves", type="task")
        words_only.done("leaves")
        words_only.add("Deploys go out on Tuesdays", id="tue", type="decision", topics=["code"])
        words_only.add("Talked about tea", id="talk", type="summary")
        words_only.add("Port 5433", id="port")

        seen = words_only.landscape()

        assert seen.text == "\n".join(
            (
                "7 memories: preference (2), decision (1), fact (1), summary (1), task (1),"
                " task_done (1)",
                "Topics to search by: code (2), kitchen (2)",
                "Preferences:",
                "- 2026-05-04 [py] Prefers Python (code, kitchen)",
                "- 2026-05-03 [tea] Prefers tea (kitchen)",
                "Open tasks:",
                "- 2026-05-04 [cert] Renew the certificate",
                "Latest summaries:",
                "- 2026-05-04 [talk] Talked about tea",
                "Latest decisions:",
                "- 2026-05-04 [tue] Deploys go out on Tuesdays (code)",
            )
        )
        assert seen.left_out == {}
        assert [one.id for one in seen.preferences] == ["py", "tea"]
        assert seen.preferences[0] == ("py", "Prefers Python", clock(), ("code", "kitchen"), True)
        assert list(seen.topics.items()) == [("code", 2), ("kitchen", 2)]
        check_sums(seen, words_only.ls())

    def test_an_empty_store_says_what_to_do(self, words_only):
        """In one sentence, even in the least budget; a namespace with nothing in it is the same."""
        seen = words_only.landscape(tokens=LEAST_TOKENS)

        assert "scrubjay add TEXT" in seen.text
        assert "\n" not in seen.text
        assert (seen.memories, seen.types, seen.topics, seen.left_out) == (0, {}, {}, {})
        check_sums(seen, [])
        words_only.add("x")
        assert words_only.landscape(tokens=LEAST_TOKENS, namespace="none") == seen

    def test_the_same_store_gives_the_same_text(self, words_only, tmp_path, clock):
        """In whatever order it was written."""
        rows = [
            {"id": f"t{n}", "text": f"Do {n}", "type": "task", "topics": [f"p{n % 7}"]}
            for n in range(60)
        ]
        words_only.add_many(rows)
        with scrubjay.open(tmp_path / "b.db", embedder=False, clock=clock) as other:
            other.add_many(reversed(rows))

            assert words_only.landscape(tokens=200) == other.landscape(tokens=200)

    @pytest.mark.parametrize("tokens", [0, -1, 10, LEAST_TOKENS - 1, 60.0, True, "100", None])
    def test_a_budget_too_small_for_anything_is_refused(self, words_only, tokens):
        """With the least that is right."""
        with pytest.raises(InvalidInput, match="a whole number of 50 or more"):
            words_only.landscape(tokens=tokens)

    def test_a_huge_budget_is_no_error(self, words_only):
        """It shows everything."""
        words_only.add_many({"text": f"Do {n}", "type": "task"} for n in range(300))

        assert len(words_only.landscape(tokens=10**30).tasks) == 300


class TestSharing:
    def test_what_one_section_does_not_need_goes_to_the_others(self, words_only):
        """Tasks alone have all the room; beside many topics they have a half."""
        words_only.add_many({"text": f"Do thing {n}", "type": "task"} for n in range(300))
        alone = words_only.landscape()
        words_only.add("x", topics=[f"a topic of no great meaning {n}" for n in range(300)])
        beside = words_only.landscape()

        assert alone.token_estimate > 0.95 * 800
        assert beside.token_estimate > 0.95 * 800
        assert 0.4 * len(alone.tasks) < len(beside.tasks) < 0.6 * len(alone.tasks)
        assert len(beside.topics) > 30

    def test_every_section_has_a_part(self, words_only):
        """However much there is of another."""
        for type_, count in (*((type_, 30) for type_ in LISTED.values()), ("task", 500)):
            words_only.add_many(
                {"text": f"{type_} {n} " + "word " * 50, "type": type_, "topics": [f"{type_}{n}"]}
                for n in range(count)
            )
        seen = words_only.landscape()

        check_sums(seen, words_only.ls(limit=1000))
        sizes = [len(getattr(seen, section)) for section in LISTED]
        assert min(sizes) >= 3
        assert max(sizes) <= 2 * min(sizes)
        assert len(seen.topics) >= 20
        # Where not all can be shown, what is shown says enough to be understood.
        assert min(len(one.text) for one in seen.tasks) > 60

    def test_texts_are_cut_before_one_is_left_out(self, words_only):
        """Preferences: all if they fit."""
        words_only.add_many(
            {"text": f"Likes {n} " + "very long words " * 20, "type": "preference"}
            for n in range(8)
        )
        seen = words_only.landscape(tokens=300)

        assert len(seen.preferences) == 8
        assert seen.left_out == {}
        assert not any(one.complete for one in seen.preferences)
        assert all(line.endswith("…") for line in seen.text.splitlines()[2:])

    def test_what_is_left_out_is_the_oldest_and_is_counted(self, words_only, clock):
        """And the rarest topics."""
        for n in range(80):
            words_only.add(f"Do {n}", id=f"t{n}", type="task", topics=[f"topic {n}", f"p{n % 9}"])
            clock.advance(hours=1)
        seen = words_only.landscape(tokens=200)

        shown = len(seen.tasks)
        assert 2 < shown < 40
        assert [one.id for one in seen.tasks] == [f"t{79 - n}" for n in range(shown)]
        assert seen.left_out["tasks"] == 80 - shown
        assert f"\n… and {80 - shown} more" in seen.text
        assert list(seen.topics.items())[:9] == list(words_only.topics(limit=9).items())
        assert f" … and {89 - len(seen.topics)} more\n" in seen.text

    def test_where_nothing_fits_there_is_a_number(self, words_only):
        """Fifty tokens are enough to say how many there are of each."""
        for type_ in LISTED.values():
            words_only.add_many(
                {"text": f"{type_} {n} " + "x" * 300, "type": type_, "topics": [f"{type_} {n}"]}
                for n in range(20)
            )
        seen = words_only.landscape(tokens=LEAST_TOKENS)

        check_sums(seen, words_only.ls(limit=100))
        for line in ("Preferences: 20", "Open tasks: 20", "Latest summaries: 20"):
            assert line in seen.text.splitlines()

    def test_a_text_in_several_places_is_shown_once(self, tmp_path):
        """GS-6: the caller's own copy stands for all, and no copy counts as left out."""
        with scrubjay.open(tmp_path / "x.db", user="ada", embedder=False) as ada:
            ada.add("Prefers tea", id="tea", type="preference")
            for name in ("a-team", "z-team"):
                ada.create_collection(name)
                ada.publish("tea", name)
            ada.add("Prefers milk", id="milk", type="preference")
            seen = ada.landscape()

        assert {one.id for one in seen.preferences} == {"tea", "milk"}
        assert seen.types == {"preference": 4}
        assert seen.left_out == {}

    def test_a_task_that_is_done_is_not_open_because_others_see_a_copy(self, tmp_path):
        """One's own copy says how far one is."""
        with scrubjay.open(tmp_path / "x.db", user="ada", embedder=False) as ada:
            ada.create_collection("team")
            ada.add("Sweep the chimney", id="chimney", type="task")
            ada.publish("chimney", "team")
            assert [one.id for one in ada.landscape().tasks] == ["chimney"]
            ada.done("chimney")
            assert ada.landscape().tasks == ()
            ada.share("team", "ben")
            with scrubjay.open(tmp_path / "x.db", user="ben", embedder=False) as ben:
                assert [one.text for one in ben.landscape().tasks] == ["Sweep the chimney"]

    def test_preferences_gain_by_what_topics_do_not_get(self, words_only):
        """Half a rule is worse than none, and there are always more topics."""
        for number in range(8):
            rule = f"Rule {number}: never merge on a Friday without a second pair of eyes on it"
            words_only.add(rule, type="preference", topics=[f"t{number}-{n}" for n in range(40)])
        seen = words_only.landscape(tokens=600)

        assert [one.complete for one in seen.preferences] == [True] * 8
        assert seen.left_out.keys() == {"topics"}


class TestWhateverIsStored:
    def test_ten_thousand_topics_fit(self, words_only):
        """As many as there is room for, the rest a number."""
        words_only.add_many(
            {"text": f"{n}", "topics": [f"topic {n * 100 + m}" for m in range(100)]}
            for n in range(100)
        )
        words_only.add("y", topics=["topic 77"])
        seen = words_only.landscape()

        check_sums(seen, words_only.ls(limit=200))
        assert next(iter(seen.topics.items())) == ("topic 77", 2)
        assert len(seen.topics) > 100
        assert len(seen.topics) + seen.left_out["topics"] == 10_000

    def test_long_names_hide_no_other(self, words_only):
        """The longest topic, type and id are cut in the text and whole in the fields."""
        words_only.add("a", id="i" * 512, type="task", topics=["t" * 512])
        words_only.add("b", id="b", type="y" * 512, topics=["t" * 512, "short"])
        words_only.add("c", id="c", type="task")
        seen = words_only.landscape(tokens=200)

        check_sums(seen, words_only.ls())
        assert list(seen.topics) == ["t" * 512, "short"]
        assert "short (1)" in seen.text
        assert "t" * 64 not in seen.text
        assert {one.id for one in seen.tasks} == {"i" * 512, "c"}
        assert "y" * 512 in seen.types

    def test_what_fits_nowhere_is_passed_over(self, words_only, clock):
        """An id of 512 characters on the newest task hides no older one."""
        words_only.add("x", topics=[f"a topic {n}" for n in range(50)])
        words_only.add("Second", id="b", type="task")
        clock.advance(days=1)
        words_only.add("First " * 20, id="i" * 512, type="task")
        seen = words_only.landscape(tokens=LEAST_TOKENS)

        check_sums(seen, words_only.ls())
        assert [one.id for one in seen.tasks] == ["b"]
        assert seen.text.endswith("- 2026-05-03 [b] Second\n… and 1 more")

    @pytest.mark.parametrize(
        "text",
        [
            "x" * 1_000_000,
            "many words " * 100_000,
            " \n" * 100_000 + "at last",
            "first" + " " * 100_000 + "last",
            "👩‍👩‍👧‍👦" * 5_000,
            "שלום עולם\u202e " * 5_000,
            "one\r\ntwo\u2028three\x85four\x0cfive\x1dsix",
            "- [other] Open tasks:\nPreferences:\n- x",
        ],
        ids=["letters", "words", "spaces", "gap", "emoji", "right-to-left", "breaks", "forged"],
    )
    def test_any_text_is_one_line(self, words_only, text):
        """A stored text cannot look like a section or push out the others."""
        words_only.add(text, id="odd", type="preference")
        words_only.add("Prefers tea", id="tea", type="preference")
        words_only.add("Renew", id="renew", type="task")
        seen = words_only.landscape(tokens=150)

        check_sums(seen, words_only.ls())
        assert [line[:8] for line in seen.text.splitlines()] == [
            "3 memori", "Preferen", "- 2026-0", "- 2026-0", "Open tas", "- 2026-0",
        ]  # fmt: skip
        assert {one.id for one in seen.preferences} == {"odd", "tea"}
        odd = next(one for one in seen.preferences if one.id == "odd")
        assert odd.complete is (odd.text == " ".join(text.split()))

    @given(
        rows=st.lists(
            st.fixed_dictionaries(
                {
                    "text": st.text(
                        st.characters(exclude_categories=["Cs"]), min_size=1, max_size=300
                    ).map(lambda text: f"x{text}"),
                    "type": st.sampled_from([*LISTED.values(), "task_done", "fact", "é" * 200]),
                    "topics": st.lists(
                        st.sampled_from(["a", "b b", "🦜", "שלום", "long " * 100, "topic, too"]),
                        max_size=6,
                    ),
                    "created_at": st.datetimes(),
                }
            ),
            max_size=40,
        ),
        tokens=st.integers(LEAST_TOKENS, 1500),
    )
    @settings(max_examples=60)
    def test_the_budget_holds_and_the_counts_add_up(self, rows, tokens):
        """For any store and any budget."""
        with scrubjay.open(":memory:", embedder=False, clock=Clock()) as store:
            stored = store.add_many({**row, "id": f"m{n}"} for n, row in enumerate(rows))
            seen = store.landscape(tokens=tokens)
            # Two equal texts of one type are shown once, so they are stored once here.
            if len({(one.content_hash, one.type) for one in stored}) == len(stored):
                check_sums(seen, stored)
            assert len(seen.text) <= 4 * tokens
            assert seen == store.landscape(tokens=tokens)


class TestWhoAsks:
    def test_a_user_sees_only_their_own(self, tmp_path, clock):
        """R-5: nothing of another is shown or counted."""
        path = tmp_path / "a.db"
        with (
            scrubjay.open(path, embedder=False, clock=clock, user="ada") as ada,
            scrubjay.open(path, embedder=False, clock=clock, user="ben") as ben,
        ):
            ada.add("Prefers tea", id="tea", type="preference", topics=["kitchen"])
            ben.add("Prefers gin", id="gin", type="preference", topics=["secret"])
            ben.add("Rob a bank", id="bank", type="task")

            seen = ada.landscape()
            assert (seen.memories, seen.types) == (1, {"preference": 1})
            assert (seen.topics, seen.tasks) == ({"kitchen": 1}, ())
            assert [one.id for one in seen.preferences] == ["tea"]
            assert ada.landscape(namespace="user:ben").memories == 0
            assert ben.landscape(namespace="user:ben").memories == 2

    def test_a_namespace_narrows(self, words_only):
        """Counts and lists alike."""
        words_only.add("a", id="a", type="task", topics=["x"])
        words_only.add("b", id="b", type="task", topics=["x", "y"], namespace="work")
        seen = words_only.landscape(namespace="work")

        assert (seen.memories, seen.topics) == (1, {"x": 1, "y": 1})
        assert [one.id for one in seen.tasks] == ["b"]
        assert words_only.landscape().topics == {"x": 2, "y": 1}
        with pytest.raises(InvalidInput, match="namespace is 7"):
            words_only.landscape(namespace=7)


def test_it_needs_no_numpy(tmp_path):
    """It is the first thing that an agent asks for."""
    path = str(tmp_path / "a.db")
    with scrubjay.open(path, embedder=False) as store:
        store.add("Renew", type="task", topics=["tls"])
    code = (
        "import sys, scrubjay\n"
        "with scrubjay.open(sys.argv[1]) as store: print(store.landscape().text)\n"
        "assert 'numpy' not in sys.modules, 'numpy'"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, encoding="utf-8"
    )
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.startswith("1 memory: task (1)\nTopics to search by: tls (1)\n")


def test_a_landscape_prints_as_its_text(words_only):
    """What is pasted into a prompt is what `str` gives."""
    words_only.add("Prefers tea", type="preference", topics=["tea"])
    seen = words_only.landscape()
    assert str(seen) == seen.text
    assert "Prefers tea" in f"{seen}"
