"""Entries out of a store and into one: every field comes back, and what is wrong is named."""

from __future__ import annotations

import io
import json
import os
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from fakes import HashingEmbedder
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from places import ROOT

import scrubjay
from scrubjay import InvalidInput, Link, Memory, NotFound
from scrubjay.types import NEAR_DUPLICATE
from scrubjay.write.fields import draft
from scrubjay.write.import_export import front_matter as entry_yaml
from scrubjay.write.import_export.format import (
    file_name,
    from_line,
    from_markdown,
    to_line,
    to_markdown,
)

# What breaks writers of YAML and of lines, one way or another.
HOSTILE = [
    *("---", "...", "+++", "- a", "a: b", "a #b", "#a", "no", "~", "null", "1.10", "0x1f", "1e5"),
    *("2026-05-03", "12:30:00", "<<", "=", "!!str", "&a", "*a", "|", ">", "%a", "@a", "`a`"),
    *("\ttab", " lead", "trail ", "a\rb", "a\r\nb\r\n", "a\u2028b\u2029c\x85d", "\ufeffa"),
    *("a\n---\nb", "a\n  ---\nb", "a\n\n", "\n\na", "a\n \nb", "a\n\tb", "a\n  b\nc", "'", '"'),
    *(
        "{a: b}",
        "[a, b]",
        "a, b",
        "\x1b[2J\x07",
        "\x7f\x9f",
        "🐦\U0001f468\u200d\U0001f469",
        "日本語",
    ),
    *(
        "e\u0301",
        "é",
        "\\n",
        "\\",
        "a\x00b",
        "x" * 3000,
        "---\nid: other\n---\n\nb",
        "\ufffe\uffff",
    ),
]
TEXT = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=3).map("\n".join),
)
NAME = st.one_of(
    st.sampled_from([one for one in HOSTILE if one.strip().isprintable() and len(one) < 500]),
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12),
)
MAYBE = st.none() | TEXT
WHEN = st.none() | st.datetimes(
    datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)
) | st.dates().map(lambda day: datetime(day.year, day.month, day.day, tzinfo=UTC))  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def entries(draw):
    """Any memory that `add` takes, as it takes it."""
    begins, length = draw(WHEN), draw(st.none() | st.timedeltas(timedelta(microseconds=1)))
    ends = None
    if begins is not None and length is not None:
        try:
            ends = begins + length
        except OverflowError:
            ends = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    text = draw(TEXT)
    assume(text.strip())
    return {
        "text": text,
        "title": draw(TEXT),
        "type": draw(NAME),
        "topics": draw(st.lists(NAME, max_size=4)),
        "collection": draw(st.none() | NAME),
        "session": draw(MAYBE),
        "role": draw(MAYBE),
        "owner": draw(MAYBE),
        "agent": draw(MAYBE),
        "severity": draw(st.sampled_from([None, "critical", "warning", "suggestion"])),
        "domain": draw(MAYBE),
        "context": draw(TEXT),
        "source": draw(MAYBE),
        "created_at": draw(WHEN),
        "updated_at": draw(WHEN),
        "event_time": draw(WHEN),
        "valid_from": begins,
        "valid_until": ends,
        "metadata": draw(st.dictionaries(TEXT, JSON, max_size=3)),
    }


IDS = st.lists(
    TEXT.map(lambda one: one[:512].strip()).filter(bool), min_size=1, max_size=4, unique=True
)


def fill(store, ids, made, links):
    """Add the entries under these ids and link them; leave out what `add` itself refuses."""
    for id_, one in zip(ids, made, strict=False):
        try:
            store.add(**one, id=id_)
        except InvalidInput:
            assume(False)
    there = [one.id for one in store.ls()]
    for a, b, strength, kind in links:
        if (left := there[a % len(there)]) != (right := there[b % len(there)]):
            store.link(left, right, strength, kind)
    return there


LINKS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 3),
        st.floats(0, 1, exclude_min=True),
        st.sampled_from(["related", "no", "a: b", "2026-05-03"]),
    ),
    max_size=4,
)


class TestRoundTrip:
    @settings(max_examples=80)
    @given(IDS, st.lists(entries(), min_size=4, max_size=4), LINKS)
    def test_markdown_gives_every_field_back(self, tmp_path_factory, ids, made, links):
        """SV-1: export, import into an empty store: the same; and export again: the same files."""
        folder, again = tmp_path_factory.mktemp("a"), tmp_path_factory.mktemp("b")
        with scrubjay.open(":memory:", embedder=False) as one:
            there = fill(one, ids, made, links)
            assert one.export_md(folder).written == len(there)
            with scrubjay.open(":memory:", embedder=False) as other:
                done = other.import_entries(folder)
                assert (done.added, done.failed, done.notes) == (len(there), (), ())
                for id_ in there:
                    assert exact(other.get(id_)) == exact(one.get(id_))
                other.export_md(again)
                assert contents(again) == contents(folder)
                assert other.import_entries(folder).unchanged == len(there)

    @settings(max_examples=50)
    @given(IDS, st.lists(entries(), min_size=4, max_size=4), LINKS)
    def test_lines_of_json_give_every_field_back(self, ids, made, links):
        """SV-1: the same through a stream."""
        with scrubjay.open(":memory:", embedder=False) as one:
            there = fill(one, ids, made, links)
            lines = io.StringIO()
            assert one.export_jsonl(lines).entries == len(there)
            assert lines.getvalue().count("\n") == len(lines.getvalue().splitlines()) == len(there)
            with scrubjay.open(":memory:", embedder=False) as other:
                done = other.import_entries(io.StringIO(lines.getvalue()))
                assert (done.added, done.failed, done.notes) == (len(there), (), ())
                for id_ in there:
                    assert exact(other.get(id_)) == exact(one.get(id_))
                again = io.StringIO()
                other.export_jsonl(again)
                assert again.getvalue() == lines.getvalue()

    @settings(max_examples=150)
    @given(entries())
    def test_the_file_of_an_entry_is_text_that_any_reader_of_yaml_takes(self, made):
        """Whatever is in it: the front matter is one mapping, and its texts are texts."""
        import yaml

        try:
            memory = draft({**made, "id": "x"})
        except InvalidInput:
            assume(False)
        written = to_markdown(memory)
        found = yaml.safe_load(written[4 : written.index("\n---\n") + 1])
        assert found.get("title", "") == memory.title
        assert found.get("context", "") == memory.context
        assert found.get("domain") == memory.domain
        assert [str(one) for one in found.get("tags", [])] == list(memory.topics)
        assert draft(from_markdown(written, "stem"))._replace(metadata={}) == memory._replace(
            metadata={}
        )

    @pytest.mark.parametrize("text", HOSTILE, ids=ascii)
    def test_no_text_is_too_odd(self, text):
        """As description, as title, as context, as a name in the metadata, in both forms."""
        if not text.strip():
            return
        memory = draft(
            {"text": text, "id": "x", "title": text, "context": text, "metadata": {text: [text]}}
        )

        for back in (from_markdown(to_markdown(memory), "s"), from_line(to_line(memory))):
            assert draft(back) == memory

    def test_the_slow_reader_of_yaml_reads_the_same(self, monkeypatch):
        """Where PyYAML was built without its C library."""
        import yaml

        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
        entry_yaml._loader.cache_clear()
        try:
            for text in filter(str.strip, HOSTILE):
                fields = {"text": "t", "id": "x", "context": text, "topics": ["a?", "b, c"]}
                memory = draft({**fields, "metadata": {text[:100]: [text, 1.5]}})
                assert draft(from_markdown(to_markdown(memory), "s")) == memory
        finally:
            entry_yaml._loader.cache_clear()

    @pytest.mark.parametrize(
        "value", [{"k" * 2000: 1}, [[]], [{}], {"a": []}, 2**80, -0.0, 1e-300]
    )
    def test_no_metadata_is_too_odd(self, value):
        """Long names, empty lists, large numbers; and so deep that YAML would not be read."""
        deep: object = "bottom"
        for _ in range(60):
            deep = {"down": [deep]}
        for given_ in ({"a": value}, {"a": deep}):
            memory = draft({"text": "t", "id": "x", "metadata": given_})

            back = draft(from_markdown(to_markdown(memory), "s"))

            assert json.dumps(back.metadata) == json.dumps(given_)

    def test_a_megabyte_comes_back(self, words_only, tmp_path):
        """As a description, and as a context."""
        large = "a line of some words, and one more: #1\n" * 27_000
        words_only.add(large, id="large", context=large)
        words_only.export_md(tmp_path / "out")
        with scrubjay.open(":memory:", embedder=False) as other:
            other.import_entries(tmp_path / "out")

            assert other.get("large") == words_only.get("large")

    def test_times_are_kept_to_the_microsecond(self, words_only, clock, tmp_path):
        """SV-9: the decay goes by `updated_at`, so an import must not make an entry new."""
        words_only.add("x", id="x", updated_at="2024-02-29T23:59:59.000001-05:00")
        words_only.export_md(tmp_path / "out")
        clock.advance(days=30)
        with scrubjay.open(":memory:", embedder=False, clock=clock) as other:
            other.import_entries(tmp_path / "out")

            assert other.get("x").updated_at == datetime(2024, 3, 1, 4, 59, 59, 1, tzinfo=UTC)
            assert other.get("x").created_at == datetime(2026, 5, 3, 12, tzinfo=UTC)


def exact(memory):
    """A memory so that 1, 1.0 and True differ, and 0.0 and -0.0."""
    return memory._replace(metadata=json.dumps(memory.metadata))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


ODD_IDS = [
    *(
        "..",
        ".",
        "../../etc/passwd",
        "a/b",
        "a\\b",
        "/abs",
        "C:\\x",
        "CON",
        "con",
        "con.txt",
        "nul",
    ),
    *("lpt1.md", "a.", "a ", "a..", ".hidden", "-", "~", "x~y", "é", "e\u0301", "ß", "ss", "SS"),
    *(
        "A",
        "a",
        "Ａ",
        "日本",
        "🐦",
        "x" * 255,
        "x" * 512,
        "日" * 400,
        "a\nb",
        "a\0b",
        "a:b",
        "a*?b",
    ),
    *("entry", "con~a3dbc4b644a9a2c5", "İ", "i\u0307", "ǅ", "ﬁ", "fi", "aux.c", "com9", "com10"),
]


class TestNames:
    def test_every_id_has_a_name_of_its_own_on_every_file_system(self):
        """Where letters are folded, where accents are taken apart, on Windows: none is another's."""
        names = [file_name(id_) for id_ in ODD_IDS]
        folded = {unicodedata.normalize("NFD", name.casefold()).casefold() for name in names}

        assert len(folded) == len(ODD_IDS)
        for name in names:
            assert len(name.encode()) <= 150
            assert name.endswith(".md")
            assert not set(name) & set('<>:"/\\|?*\0\n ')
            assert name[0] not in ".-~"
            base = name.partition(".")[0]
            assert base not in ("con", "prn", "aux", "nul", "com9", "lpt1")

    @given(TEXT)
    @example("..")
    def test_no_name_leads_out_of_the_folder(self, id_):
        """Whatever the id is."""
        name = file_name(id_)

        assert os.path.basename(name) == name
        assert name not in (".md", "..md")
        assert file_name(id_) == name

    @pytest.mark.parametrize(
        ("id_", "name"),
        [("retry-limit", "retry-limit.md"), ("doc-0123456789ab", "doc-0123456789ab.md")],
    )
    def test_a_plain_id_is_its_own_name(self, id_, name):
        """A person looks for it so."""
        assert file_name(id_) == name
        assert file_name(f"{id_}/x").startswith(f"{id_}-x~")

    def test_all_of_them_can_be_written_and_read(self, words_only, tmp_path):
        """In one folder, and nothing is written beside it."""
        for number, id_ in enumerate(one for one in ODD_IDS if one == one.strip()):
            words_only.add(f"text {number}", id=id_)
        words_only.export_md(tmp_path / "in" / "out")

        assert os.listdir(tmp_path / "in") == ["out"]
        with scrubjay.open(":memory:", embedder=False) as other:
            other.import_entries(tmp_path / "in" / "out")
            assert {one.id: one.text for one in other.ls(limit=500)} == {
                one.id: one.text for one in words_only.ls(limit=500)
            }


class TestExport:
    def test_only_what_is_set_is_written(self, words_only, tmp_path):
        """A person reads it: the fields in an order that makes sense, no defaults, dates as dates."""
        words_only.add("The other one", id="other", created_at="2026-02-01")
        words_only.add(
            "Retry at most three times.",
            id="retry-limit",
            title="Retries need a limit",
            topics=["HTTP", "retries"],
            severity="warning",
            domain="backend",
            context="Seen in two outages.\nBoth in May.",
            created_at="2026-02-01",
            updated_at="2026-03-01T10:30",
            valid_from="2026-01-01",
            valid_until="2026-12-31",
            links=["other"],
        )
        words_only.export_md(tmp_path / "out")

        assert (tmp_path / "out" / "retry-limit.md").read_text("utf-8") == (
            "---\n"
            "id: retry-limit\n"
            "title: Retries need a limit\n"
            "tags: [http, retries]\n"
            "severity: warning\n"
            "domain: backend\n"
            "valid_from: 2026-01-01\n"
            "valid_until: 2026-12-31\n"
            "created_at: 2026-02-01\n"
            "updated_at: 2026-03-01T10:30:00Z\n"
            "links: [other]\n"
            "context: |-\n"
            "  Seen in two outages.\n"
            "  Both in May.\n"
            "# as exported: ad1fb7137e6a10bd\n"
            "---\n"
            "\n"
            "Retry at most three times.\n"
        )

    def test_again_only_what_changed_is_written(self, words_only, tmp_path):
        """A file that is as it was is not touched; one of an entry that is gone stays until asked."""
        for number in range(3):
            words_only.add(f"text {number}", id=f"e{number}")
        words_only.export_md(tmp_path)
        before = (tmp_path / "e0.md").stat()
        words_only.add("text one", id="e1")
        words_only.forget("e2")

        assert words_only.export_md(tmp_path)[:4] == (2, 1, 1, 0)
        assert (tmp_path / "e0.md").stat().st_mtime_ns == before.st_mtime_ns
        assert (tmp_path / "e1.md").read_text().endswith("\n\ntext one\n")
        assert (tmp_path / "e2.md").exists()

    def test_what_is_gone_is_removed_when_asked_and_nothing_else(self, words_only, tmp_path):
        """A note of one's own stays, and so does an entry under another name."""
        words_only.add("text", id="e1")
        words_only.add("text two", id="e2")
        words_only.export_md(tmp_path)
        (tmp_path / "README.md").write_text("# Mine\n")
        (tmp_path / "copy.md").write_text((tmp_path / "e2.md").read_text())
        (tmp_path / "e9.md").write_text("---\ntitle: no id\n---\n")
        words_only.forget("e2")

        assert words_only.export_md(tmp_path, prune=True).removed == 1
        left = {one for one in os.listdir(tmp_path) if one.endswith(".md")}
        assert left == {"README.md", "copy.md", "e1.md", "e9.md"}

    def test_a_file_that_is_no_entry_is_not_overwritten(self, words_only, tmp_path):
        """And nothing is written before that is known."""
        out = tmp_path / "out"
        out.mkdir()
        words_only.add("text", id="aaa")
        words_only.add("text two", id="readme")
        (out / "readme.md").write_text("# Mine\n")

        with pytest.raises(InvalidInput, match=r"readme\.md in .*out are not files"):
            words_only.export_md(out)
        assert contents(out) == {"readme.md": b"# Mine\n"}

        assert words_only.export_md(out, force=True).written == 2
        assert b"text two" in (out / "readme.md").read_bytes()

    def test_the_file_of_another_entry_is_not_overwritten(self, words_only, tmp_path):
        """By hand somebody gave it another id."""
        words_only.add("text", id="aaa")
        (tmp_path / "aaa.md").write_text("---\nid: bbb\n---\n\nOther.\n")

        with pytest.raises(InvalidInput, match="not files"):
            words_only.export_md(tmp_path)

    def test_a_link_in_the_folder_is_replaced_and_not_followed(self, words_only, tmp_path):
        """Nothing outside the folder is ever written."""
        out, secret = tmp_path / "out", tmp_path / "secret.md"
        out.mkdir()
        secret.write_text("---\nid: aaa\n---\n\nMine.\n")
        try:
            (out / "aaa.md").symlink_to(secret)
        except OSError:
            pytest.skip("no links here")
        words_only.add("text", id="aaa")
        words_only.export_md(out)

        assert secret.read_text().endswith("Mine.\n")
        assert (out / "aaa.md").read_text().endswith("\n\ntext\n")
        assert not (out / "aaa.md").is_symlink()

    def test_a_write_that_fails_leaves_the_old_file(self, words_only, tmp_path, monkeypatch):
        """It is written beside, and takes the place at the end."""
        out = tmp_path / "out"
        words_only.add("text", id="aaa")
        words_only.export_md(out)
        before = contents(out)
        words_only.add("text two", id="aaa")

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "replace", full)
        with pytest.raises(scrubjay.StoreError, match="No space left"):
            words_only.export_md(out)
        assert contents(out) == before

    def test_an_empty_path_is_not_the_folder_one_is_in(self, words_only):
        """A variable that was never set must not fill it with files."""
        for export in (words_only.export_md, words_only.export_jsonl):
            with pytest.raises(InvalidInput, match="path is empty"):
                export("")

    def test_a_place_that_is_no_folder_is_named(self, words_only, tmp_path):
        """Before anything else."""
        (tmp_path / "file").write_text("x")
        words_only.add("text", id="aaa")

        with pytest.raises(InvalidInput, match="file cannot be written"):
            words_only.export_md(tmp_path / "file")

    def test_a_file_of_lines_is_replaced_only_if_it_is_one(self, words_only, tmp_path):
        """One's own letters stay."""
        words_only.add("text", id="aaa")
        letter = tmp_path / "letter.jsonl"
        letter.write_text('{"dear": "Ann"}\n')

        with pytest.raises(InvalidInput, match="does not contain entries"):
            words_only.export_jsonl(letter)
        assert words_only.export_jsonl(letter, force=True).entries == 1
        words_only.add("text two", id="bbb")
        assert words_only.export_jsonl(letter).entries == 2
        assert len(letter.read_text().splitlines()) == 2

    def test_filters_choose(self, words_only, tmp_path):
        """Namespace, type, topic, collection, as in `ls`."""
        words_only.add("a", id="a", topics=["red"])
        words_only.add("b", id="b", type="decision", namespace="work")
        words_only.add("c", id="c", collection="notes")

        def ids(**how):
            lines = io.StringIO()
            words_only.export_jsonl(lines, **how)
            return [json.loads(line)["id"] for line in lines.getvalue().splitlines()]

        assert ids() == ["a", "b", "c"]
        assert ids(topics="RED") == ["a"]
        assert ids(types=["decision"]) == ["b"]
        assert ids(namespace="work") == ["b"]
        assert ids(collection="notes") == ["c"]
        assert ids(namespace="none") == []

    def test_expired_entries_are_exported_as_well(self, words_only):
        """A backup that leaves out what is not valid today would lose it."""
        words_only.add("old", id="old", valid_until="2020-01-01")
        lines = io.StringIO()

        assert words_only.export_jsonl(lines).entries == 1

    def test_near_duplicates_are_not_written(self, memory, tmp_path):
        """A store with a model finds its own; written, they would outlive the texts."""
        memory.add("the red car is in the long garage", id="a")
        memory.add("the red automobile is in the long garage", id="b")
        memory.pending()
        assert [link.kind for link in memory.get("a").links] == [NEAR_DUPLICATE]
        memory.link("a", "b", 0.5)

        memory.export_md(tmp_path)

        assert "near" not in (tmp_path / "a.md").read_text()
        with scrubjay.open(":memory:", embedder=HashingEmbedder()) as other:
            other.import_entries(tmp_path)
            assert Link("b", 0.5) in other.get("a").links

    def test_progress_counts_entries(self, words_only, tmp_path):
        """To the end, there and back."""
        for number in range(3):
            words_only.add(f"text {number}", id=f"e{number}")
        there, back = [], []
        words_only.export_md(tmp_path / "out", progress=lambda *at: there.append(at))
        words_only.import_entries(tmp_path / "out", progress=lambda *at: back.append(at[:2]))

        assert there == [(0, 3, "e0"), (1, 3, "e1"), (2, 3, "e2"), (3, 3, "")]
        assert back == [(0, 3), (1, 3), (2, 3), (3, 3)]


class TestPeople:
    @pytest.fixture
    def people(self, tmp_path, clock):
        opened = {}

        def of(user, file="team.db"):
            key = (user, file)
            if key not in opened:
                path = tmp_path / file
                opened[key] = scrubjay.open(path, user=user, embedder=False, clock=clock)
            return opened[key]

        yield of
        for store in opened.values():
            store.close()

    def test_an_export_holds_what_the_person_may_see_and_no_more(self, people, tmp_path):
        """Not the memories of others, nor the links to them."""
        ann, ben = people("ann"), people("ben")
        ann.create_collection("house")
        ann.share("house", "ben")
        ann.add("Ann's own secret", id="secret")
        ann.add("The boiler key", id="key", collection="house", links=["secret"])
        ben.add("Ben's tea", id="tea")

        ben.export_md(tmp_path / "ben")
        lines = io.StringIO()
        ben.export_jsonl(lines)

        everything = b"".join(contents(tmp_path / "ben").values()).decode() + lines.getvalue()
        assert sorted(contents(tmp_path / "ben")) == ["key.md", "tea.md"]
        assert "secret" not in everything
        ben.export_md(tmp_path / "none", namespace="user:ann")
        assert contents(tmp_path / "none") == {}

    def test_an_id_of_somebody_else_is_refused(self, people, tmp_path):
        """And stays what it was; the others are imported. A rehearsal says the same."""
        ann, ben = people("ann"), people("ben")
        ann.add("Ann's", id="mine")
        (tmp_path / "mine.md").write_text("---\nid: mine\n---\n\nBen's now\n")
        (tmp_path / "same.md").write_text("---\nid: mine2\n---\n\nBen's\n")

        for rehearsal in (True, False):
            done = ben.import_entries(
                tmp_path / "mine.md", tmp_path / "same.md", dry_run=rehearsal
            )

            assert (done.added, done.changed, done.unchanged) == (1, 0, 0)
            ((where, why),) = done.failed
            assert where.endswith("mine.md")
            assert "'mine' is taken" in why
        assert ann.get("mine").text == "Ann's"
        assert ben.get("mine2").namespace == "user:ben"

    def test_an_equal_entry_of_somebody_else_is_refused_as_well(self, people, tmp_path):
        """To say that it is unchanged would say what it says."""
        ann, ben = people("ann"), people("ben")
        ann.add("Ann's", id="mine")
        ann.export_md(tmp_path / "out")
        text = (tmp_path / "out" / "mine.md").read_text().replace("namespace: user:ann\n", "")
        (tmp_path / "mine.md").write_text(text)

        for rehearsal in (True, False):
            assert len(ben.import_entries(tmp_path / "mine.md", dry_run=rehearsal).failed) == 1

    def test_entries_of_another_person_are_refused_unless_they_are_placed(self, people, tmp_path):
        """The namespace in a file is no way into it."""
        people("ann").add("Ann's", id="mine")
        people("ann").export_md(tmp_path / "out")

        ben = people("ben", "other.db")
        assert "for one user" in ben.import_entries(tmp_path / "out").failed[0][1]
        assert ben.import_entries(tmp_path / "out", namespace="user:ben").added == 1
        assert ben.get("mine").namespace == "user:ben"

    def test_a_reader_of_a_collection_cannot_import_into_it(self, people, tmp_path):
        """A writer can, and it stays there."""
        ann = people("ann")
        ann.create_collection("house")
        ann.share("house", "ben", "reader")
        (tmp_path / "key.md").write_text("---\nid: key\ncollection: house\n---\n\nThe key\n")

        assert "a writer" in people("ben").import_entries(tmp_path / "key.md").failed[0][1]
        assert ann.import_entries(tmp_path / "key.md").added == 1
        assert ann.get("key").namespace == "collection:house"
        ann.share("house", "ben", "writer")
        (tmp_path / "key.md").write_text("---\nid: key\n---\n\nThe new key\n")
        assert people("ben").import_entries(tmp_path / "key.md").changed == 1
        assert (ann.get("key").text, ann.get("key").collection) == ("The new key", "house")

    def test_a_collection_that_is_another_here_is_refused(self, people, tmp_path):
        """Its namespace may be that of other people; say where it goes."""
        ann = people("ann")
        ann.create_collection("house")
        ann.rename_collection("house", "home")
        ann.add("The key", id="key", collection="home")
        ann.export_md(tmp_path / "out")
        there = people("ann", "other.db")

        for name in (None, "house"):
            if name:
                there.create_collection(name)
            done = there.import_entries(tmp_path / "out")
            assert "--collection" in done.failed[0][1]
        assert there.import_entries(tmp_path / "out", collection="house").added == 1
        assert there.get("key").namespace == "collection:house"

    def test_what_is_unchanged_stays_a_copy(self, people, tmp_path):
        """A published copy goes with its memory, also after both were imported as they are."""
        ann = people("ann")
        ann.create_collection("house")
        ann.add("The boiler key", id="key")
        ann.publish("key", "house")
        ann.export_md(tmp_path / "out")

        assert ann.import_entries(tmp_path / "out").unchanged == 2
        ann.forget("key")
        assert ann.ls() == []


class TestImport:
    def write(self, folder, **files):
        for name, text in files.items():
            (folder / f"{name}.md").write_bytes(text.encode())
        return folder

    def test_an_entry_written_by_hand(self, words_only, tmp_path):
        """SV-1: the fields of an entry, in any order, dates as people write them, and no more."""
        self.write(
            tmp_path,
            jwt="---\nseverity: Critical\ndomain: 1.10\ntitle: no\nid: jwt\n"
            "tags:\n  - Auth\n  - 2026\n"
            "valid_from: 2026-01-01\nvalid_until: 2026-12-31 # included\n"
            "updated_at: 2026-02-03 04:05:06+02:00\n"
            "metadata:\n  seen: 2026-05-03\n  times: 3\n---\n\nCheck the audience.\n",
        )
        assert words_only.import_entries(tmp_path / "jwt.md") == (1, 0, 0, (), ())

        found = words_only.get("jwt")
        assert found.text == "Check the audience."
        assert (found.title, found.severity, found.domain) == ("no", "critical", "1.10")
        assert found.topics == ("auth", "2026")
        assert found.valid_from == datetime(2026, 1, 1, tzinfo=UTC)
        assert found.valid_until == datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
        assert found.updated_at == datetime(2026, 2, 3, 2, 5, 6, tzinfo=UTC)
        assert found.metadata == {"seen": "2026-05-03", "times": 3}

    def test_the_example_of_the_docs_is_a_file_as_we_write_it(self):
        """To the letter."""
        page = (ROOT / "docs/entries.md").read_text("utf-8")
        shown = page.split("```markdown\n")[1].split("```")[0]

        assert to_markdown(draft(from_markdown(shown, "stem"))) == shown

    @pytest.mark.parametrize(
        ("text", "title"),
        [("# A heading\n\nText.\n", "A heading"), ("Text alone.\n", "note"), ("Text.", "note")],
    )
    def test_a_file_without_front_matter_is_an_entry(self, words_only, tmp_path, text, title):
        """Its title is its first heading, else the name of the file."""
        self.write(tmp_path, note=text)
        words_only.import_entries(tmp_path / "note.md")

        (found,) = words_only.ls()
        assert (found.text, found.title) == (text.removesuffix("\n"), title)

    def test_line_ends_of_windows_are_the_files_and_not_the_texts(self, words_only, tmp_path):
        """A file that an editor or version control converted is the entry that it was."""
        words_only.add("one\ntwo\n", id="e1", context="three\nfour")
        words_only.export_md(tmp_path / "out")
        file = tmp_path / "out" / "e1.md"
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))

        assert words_only.import_entries(tmp_path / "out").unchanged == 1

    def test_a_folder_is_read_with_what_is_below_it(self, words_only, tmp_path):
        """Markdown only, hidden ones not."""
        for name in ("a.md", "deep/er/B.MD", "c.txt", ".hidden.md", ".git/d.md"):
            path = tmp_path / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"text of {name}\n")

        assert words_only.import_entries(tmp_path / "in").added == 2
        assert {one.title for one in words_only.ls()} == {"a", "B"}

    @pytest.mark.parametrize(
        ("front", "says"),
        [
            ("severity: high", "severity is 'high'; it must be one of critical, warning"),
            ("valid_from: 2026-05-01\nvalid_until: 2026-04-01", "valid_until"),
            ("sevrity: warning", "no field 'sevrity'; did you mean severity?"),
            ("tag: x", "did you mean tags?"),
            ("wholly_other: x", "its fields are id, text, title"),
            ("wholly_other: x", "description, tags. Put your own fields under metadata"),
            ("created_at: the other day", "created_at is 'the other day'; give an ISO date"),
            ("valid_until: 2026-02-30", "valid_until is '2026-02-30'; give an ISO date"),
            ("title: [a, b]", "title is ['a', 'b']; it must be a text"),
            ("title: a: b", "not YAML: mapping values are not allowed"),
            ("title: a\ntitle: b", "has title twice"),
            ("tags: [a]\ntopics: [b]", "tags and topics are the same field"),
            ("a: &x [1]\nb: *x", "has anchors, tags"),
            ("- a\n- b", "has no field names"),
            ("metadata: words", "metadata is 'words'; give a mapping"),
            ("links: [{to: x, strength: much}]", "strength is 'much'; it must be above 0"),
            ("links: other", "links is 'other'; give a list"),
            ("id: x\nlinks: [x]", "linked to itself"),
            ("type: _done", "name the task"),
            ("description: here", "in the front matter and below it"),
            ("topics: " + "x" * 600, "topic has 600 characters; at most 512"),
        ],
    )
    def test_what_is_wrong_is_named_and_the_others_are_taken(
        self, words_only, tmp_path, front, says
    ):
        """Each bad file with its reason and what would be right; a rehearsal says the same."""
        self.write(
            tmp_path, bad=f"---\n{front}\n---\n\nText.\n", good="---\nid: good\n---\nFine.\n"
        )

        for rehearsal in (True, False):
            done = words_only.import_entries(
                tmp_path / "bad.md", tmp_path / "good.md", dry_run=rehearsal
            )

            assert done.added == 1
            ((where, why),) = done.failed
            assert where == str(tmp_path / "bad.md")
            assert says in why
        assert [one.id for one in words_only.ls()] == ["good"]

    @pytest.mark.parametrize(
        ("data", "says"),
        [
            (b"\xff\xfe\x00", "not UTF-8"),
            (b"caf\xe9 text", "not UTF-8 text; convert it first"),
            (b"", "empty"),
            (b"a\0b", "binary"),
            (b"---\nid: x\n---\n\n  \n", "text is empty"),
            (b"---\nid: x\nno end\n", "the front matter is not closed; end it with a line of ---"),
            (b"+++\nid = 1\n+++\ntext", "is TOML; write it as YAML"),
        ],
    )
    def test_files_that_are_no_entries_are_named(self, words_only, tmp_path, data, says):
        """Whatever bytes they hold."""
        (tmp_path / "bad.md").write_bytes(data)

        ((_, why),) = words_only.import_entries(tmp_path / "bad.md").failed
        assert says in why

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ("{", "not JSON"),
            ("[1]", 'not a JSON object; write it as {"text"'),
            ('{"text": "x", "topic": ["a"]}', "did you mean topics?"),
            ('{"text": 1}', "text is 1; it must be a text"),
            ('{"title": "x"}', "text is empty"),
            ('{"text": "x", "severity": "high"}', "must be one of"),
            ("[" * 100_000, "nested too deeply"),
        ],
    )
    def test_lines_that_are_no_entries_are_named_by_their_number(
        self, words_only, tmp_path, line, says
    ):
        """Blank lines count, and are no entries."""
        file = tmp_path / "some.jsonl"
        file.write_text(f'{{"text": "one"}}\n\n{line}\n{{"text": "two", "tags": "a, b"}}\n')

        done = words_only.import_entries(file)

        assert done.added == 2
        ((where, why),) = done.failed
        assert where == f"{file}:3"
        assert says in why
        assert {one.topics for one in words_only.ls()} == {(), ("a", "b")}

    def test_a_line_that_is_not_utf_8_is_named_and_the_others_are_taken(self, words_only):
        """From a file or a stream of bytes; a mark at the beginning is no matter."""
        lines = b'\xef\xbb\xbf{"text": "one"}\n{"text": "\xff"}\r\n{"text": "two"}'

        done = words_only.import_entries(io.BytesIO(lines))

        assert done.added == 2
        assert done.failed == (("-:2", "not UTF-8 text; convert it first"),)

    def test_a_stream_of_texts_ends_where_it_cannot_be_read(self, words_only):
        """And says so."""
        stream = io.TextIOWrapper(io.BytesIO(b'{"text": "\xff"}\n'), encoding="utf-8")

        assert words_only.import_entries(stream).failed == (
            ("-:1", "not UTF-8 text; convert it first"),
        )

    @pytest.mark.parametrize(
        ("name", "says"),
        [
            ("nowhere", "there is no file or folder"),
            ("x.pdf", "neither Markdown"),
            ("", "no file"),
        ],
    )
    def test_what_cannot_be_meant_is_refused_at_once(self, words_only, tmp_path, name, says):
        """Before anything is imported."""
        (tmp_path / "x.pdf").write_text("x")
        (tmp_path / "good.md").write_text("good")

        with pytest.raises(InvalidInput, match=says):
            words_only.import_entries(
                tmp_path / "good.md", str(tmp_path / name) if name else "", dry_run=False
            )
        assert words_only.ls() == []
        with pytest.raises(InvalidInput, match="nothing to import"):
            words_only.import_entries()

    def test_a_folder_without_entries_is_named(self, words_only, tmp_path):
        """Nothing there is not the same as nothing new."""
        (tmp_path / "empty").mkdir()

        done = words_only.import_entries(tmp_path / "empty")

        assert done.failed == (
            (str(tmp_path / "empty"), "this folder has no Markdown files (.md)"),
        )

    def test_an_id_that_two_files_give_is_that_of_the_first(self, words_only, tmp_path):
        """A copied file whose id nobody changed would replace the other."""
        self.write(tmp_path, a="---\nid: x\n---\n\nOne.\n", b="---\nid: x\n---\n\nTwo.\n")

        done = words_only.import_entries(tmp_path / "a.md", tmp_path / "b.md")

        assert done.added == 1
        assert "has the same id" in done.failed[0][1]
        assert words_only.get("x").text == "One."

    def test_an_id_replaces_and_without_one_the_same_text_is_the_same(self, words_only, tmp_path):
        """As with `add`; and twice in one import is once."""
        self.write(tmp_path, a="---\nid: a\n---\nOne.\n", b="Two.\n", c="Two.\n")
        files = [tmp_path / f"{name}.md" for name in "abc"]

        assert words_only.import_entries(*files, dry_run=True)[:3] == (2, 0, 1)
        assert words_only.import_entries(*files)[:3] == (2, 0, 1)
        assert words_only.import_entries(*files)[:3] == (0, 0, 3)
        self.write(tmp_path, a="---\nid: a\n---\nOne more.\n", b="---\ntags: [new]\n---\n\nTwo.\n")
        assert words_only.import_entries(*files, dry_run=True)[:3] == (0, 2, 1)
        assert words_only.import_entries(*files)[:3] == (0, 2, 1)
        assert words_only.get("a").text == "One more."
        assert len(words_only.ls()) == 2

    def test_links_may_lead_to_files_that_come_later(self, words_only, tmp_path):
        """And to memories that are here; one that leads nowhere is noted, not fatal."""
        words_only.add("here", id="here")
        self.write(
            tmp_path,
            a="---\nid: a\nlinks: [z, {to: here, strength: 0.5, kind: causes}, gone]\n---\n\nA.\n",
            z="---\nid: z\nlinks:\n  - [a, 0.25, near]\n---\n\nZ.\n",
        )
        files = [tmp_path / "a.md", tmp_path / "z.md"]

        for rehearsal in (True, False):
            done = words_only.import_entries(*files, dry_run=rehearsal)
            assert (done.added, done.failed) == (2, ())
            assert done.notes == (
                (
                    str(tmp_path / "a.md"),
                    "no memory has the id 'gone'; imported without this link",
                ),
            )
        assert set(words_only.get("a").links) == {
            Link("z"),
            Link("z", 0.25, "near"),
            Link("here", 0.5, "causes"),
        }
        assert words_only.import_entries(*files)[:3] == (0, 0, 2)
        words_only.unlink("a", "here")
        assert words_only.import_entries(*files, dry_run=True)[:3] == (0, 1, 1)
        assert words_only.import_entries(*files)[:3] == (0, 1, 1)

    def test_a_rehearsal_writes_nothing(self, words_only, tmp_path):
        """Neither entries nor links."""
        words_only.add("b", id="b")
        self.write(tmp_path, a="---\nid: a\nlinks: [b]\n---\n\nA.\n", b="---\nid: b\n---\n\nB.\n")
        before = words_only.status()

        done = words_only.import_entries(tmp_path / "a.md", tmp_path / "b.md", dry_run=True)

        assert done[:3] == (1, 1, 0)
        assert words_only.get("b").text == "b"
        assert words_only.status()._replace(size_bytes=0) == before._replace(size_bytes=0)
        with pytest.raises(NotFound):
            words_only.get("a")

    def test_a_number_that_became_a_truth_is_a_change(self, words_only, tmp_path):
        """For Python 1 and True are equal; whoever reads the metadata is told apart."""
        words_only.add("x", id="x", metadata={"flag": 1})
        words_only.export_md(tmp_path / "out")
        file = tmp_path / "out" / "x.md"
        file.write_text(file.read_text().replace("flag: 1", "flag: true"))

        assert words_only.import_entries(file).changed == 1
        assert words_only.get("x").metadata["flag"] is True

    def test_more_than_a_batch_is_imported(self, words_only, tmp_path):
        """And found at once, by word."""
        lines = "".join(
            json.dumps({"id": f"e{n}", "text": f"word{n}", "links": ["e0"] if n else []}) + "\n"
            for n in range(1100)
        )
        (tmp_path / "many.jsonl").write_text(lines)

        assert words_only.import_entries(tmp_path / "many.jsonl").added == 1100
        assert words_only.search("word1099")[0].id == "e1099"
        assert len(words_only.get("e0").links) == 1099

    def test_what_was_imported_gets_vectors(self, memory, tmp_path):
        """As what was added."""
        (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "the red automobile"}\n')
        memory.import_entries(tmp_path / "a.jsonl")
        assert memory.pending() == 0

        assert memory.search("car", mode="vector")[0].id == "a"

    def test_a_document_is_a_memory_of_its_own_afterwards(self, words_only, tmp_path):
        """With its passages and its source, but no longer tied to the file."""
        notes = tmp_path / "notes"
        notes.mkdir()
        (notes / "a.md").write_text("# A\n\nSee [[B]].\n")
        (notes / "b.md").write_text("# B\n\nTelling words.\n")
        words_only.ingest(notes)
        words_only.export_md(tmp_path / "out")
        with scrubjay.open(":memory:", embedder=False) as other:
            assert other.import_entries(tmp_path / "out").added == 2

            hit = other.search("telling")[0]
            assert (hit.type, hit.source, hit.lines) == ("document", str(notes / "b.md"), (1, 3))
            assert [link.kind for link in other.get(hit.id).links] == ["link"]
            assert other.coverage() == []
            (notes / "b.md").unlink()
            assert other.search("telling")[0].stale is None

    def test_memories_with_derived_fields_are_taken(self, words_only):
        """What a program has as a `Memory` it can write as JSON; what is derived is made anew."""
        line = json.dumps({**Memory("text", id="x")._asdict(), "metadata": {}, "language": "fr"})
        words_only.import_entries(io.StringIO(line))

        assert words_only.get("x").language != "fr"
        assert words_only.get("x").content_hash != ""
