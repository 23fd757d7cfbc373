"""Links that documents make in their own text: written by hand in a file, walked as edges."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import scrubjay
from scrubjay.write.ingest import run as module


class Vault:
    """A folder and a store that follows it."""

    def __init__(self, store, folder):
        self.store = store
        self.folder = folder
        self._time = 1_900_000_000

    def write(self, **files):
        """Write files by name, `sub__note` for `sub/note.md`, and read the folder."""
        for name, text in files.items():
            self.put(name.replace("__", "/") + ".md", text)
        return self.read()

    def put(self, name, text):
        """Write one file, each time a little later."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self._time += 1
        os.utime(path, (self._time, self._time))

    def read(self):
        done = self.store.ingest(self.folder)
        assert done.failed == ()
        return done

    def names(self):
        return {
            one.id: Path(one.source).relative_to(self.folder).with_suffix("").as_posix()
            for one in self.store.ls(limit=1000)
        }

    def id(self, name):
        return next(id_ for id_, held in self.names().items() if held == name)

    def links(self, name):
        """The documents that one is linked with, by name, as `get` gives them."""
        names = self.names()
        return sorted(names[one.to] for one in self.store.get(self.id(name)).links)


@pytest.fixture
def vault(tmp_path):
    (tmp_path / "vault").mkdir()
    with scrubjay.open(":memory:", embedder=False) as store:
        yield Vault(store, tmp_path / "vault")


class TestWikiLinks:
    @pytest.mark.parametrize(
        "link",
        [
            "[[Blue Car]]",
            "[[blue car]]",
            "[[BLUE CAR|that one]]",
            "[[Blue Car#Engine]]",
            "[[Blue Car^block]]",
            "[[Blue Car.md]]",
            "![[Blue Car]]",
            "[[garage/Blue Car]]",
            "[[garage/blue car.md|it]]",
            "[[/garage/Blue Car]]",
            "[[./garage/Blue Car]]",
            "[[The Blue One]]",
            "[[the  blue one]]",
            "[[Old Bess]]",
            "[[azure/blue]]",
            "| [[Blue Car\\|in a table]] |",
        ],
    )
    def test_a_page_is_found_by_name_path_title_or_other_name(self, vault, link):
        """In any letters."""
        vault.put(
            "garage/Blue Car.md",
            "---\ntitle: The Blue One\naliases: [Old Bess, azure/blue]\n---\nIt is blue.\n",
        )
        vault.put("red car.md", "another")
        vault.write(note=f"See {link}.")

        assert vault.links("note") == ["garage/Blue Car"]
        assert vault.links("garage/Blue Car") == ["note"]

    @pytest.mark.parametrize(
        "text",
        ["`[[car]]`", "```\n[[car]]\n```", "[[cars]]", "[[x/car]]", "[[]]", "[[#car]]", "[car]"],
    )
    def test_what_is_no_link_to_a_page_makes_none(self, vault, text):
        """Code, other names, other folders, nothing."""
        vault.write(car="it", note=text)

        assert vault.links("note") == []

    def test_a_page_does_not_link_to_itself(self, vault):
        """Neither by its name nor by its title."""
        vault.write(note="# Title\n\n[[note]] [[Title]] [it](note.md)")

        assert vault.links("note") == []

    def test_of_several_pages_of_a_name_the_one_beside_it(self, vault):
        """Else the one least deep, else the first."""
        vault.write(a__x="1", b__x="2", b__c__x="3", b__note="[[x]]", note="[[x]]")
        assert (vault.links("b/note"), vault.links("note")) == (["b/x"], ["a/x"])

        vault.write(x="4")
        assert vault.links("note") == ["x"]

        (vault.folder / "b" / "x.md").unlink()
        vault.read()
        assert vault.links("b/note") == ["x"]

    @pytest.mark.parametrize("name", ["meeting.notes", "v1.2.beta", "v1.2", "node.js", "a.b"])
    def test_a_name_with_dots_is_a_name(self, vault, name):
        """It looks as if it had an ending; also when the file comes later, under another title."""
        vault.put("note.md", f"[[{name}]] and [[sub/{name}]]")
        vault.read()
        vault.put(f"sub/{name}.md", "# Something else\n")
        vault.read()

        assert vault.links("note") == [f"sub/{name}"]


class TestPathLinks:
    @pytest.mark.parametrize(
        ("source", "link"),
        [
            ("note", "[x](sub/page.md)"),
            ("note", "[x](sub/page)"),
            ("note", "[x](./sub/page.md#part)"),
            ("note", "[x](<sub/page.md> 'title')"),
            ("note", "![x](sub%2Fpage.md)"),
            ("note", "[x][1]\n\n[1]: sub/page.md"),
            ("sub/note", "[x](page.md)"),
            ("other/note", "[x](../sub/page.md)"),
            ("other/deep/note", "[x](../../sub/page)"),
        ],
    )
    def test_a_path_is_relative_to_the_document(self, vault, source, link):
        """With or without its ending."""
        vault.put("page.md", "the wrong one")
        vault.put("sub/page.md", "the right one")
        vault.put(f"{source}.md", link)
        vault.read()

        assert vault.links(source) == ["sub/page"]

    @pytest.mark.parametrize(
        "link",
        ["[x](page.txt)", "[x](../page.md)", "[x](https://page.md)", "[x](#page)", "[x](mailto:page)"],
    )  # fmt: skip
    def test_a_path_that_leads_elsewhere_makes_no_link(self, vault, link):
        """Out of the folder, to the net, to itself."""
        vault.write(page="it", note=link)

        assert vault.links("note") == []

    @pytest.mark.parametrize("page", ["guide/index.md", "guide/README.md"])
    @pytest.mark.parametrize("link", ["[x](guide/)", "[x](guide)", "[x](./guide/)"])
    def test_a_folder_is_its_page(self, vault, link, page):
        """Also when that comes later."""
        vault.write(note=link)
        vault.put(page, "# Welcome\n")
        vault.read()

        assert vault.links("note") == [page.removesuffix(".md")]


class TestComingAndGoing:
    LINKS = pytest.mark.parametrize("link", ["[[page]]", "[x](page.md)", "[x](page)"])

    @LINKS
    def test_to_a_page_that_comes_later(self, vault, link):
        """The document itself is not read again."""
        vault.write(note=link)
        assert vault.links("note") == []

        done = vault.write(page="here I am")

        assert (done.added, done.unchanged) == (1, 1)
        assert vault.links("note") == ["page"]

    @LINKS
    def test_to_a_page_that_is_removed_and_restored(self, vault, link):
        """As often as it happens."""
        vault.write(note=link, page="here I am")
        for _ in range(2):
            (vault.folder / "page.md").unlink()
            vault.read()
            assert vault.links("note") == []
            vault.write(page="here I am again")
            assert vault.links("note") == ["page"]

    def test_to_a_page_that_moves(self, vault):
        """A name is found where it is; a path is broken until it is written anew."""
        vault.write(wiki="[[page]]", path="[x](page.md)", page="here I am")
        (vault.folder / "sub").mkdir()
        (vault.folder / "page.md").rename(vault.folder / "sub" / "page.md")

        assert vault.read().moved == 1
        assert (vault.links("wiki"), vault.links("path")) == (["sub/page"], [])

        (vault.folder / "sub" / "page.md").rename(vault.folder / "page.md")
        vault.read()
        assert vault.links("page") == ["path", "wiki"]

        (vault.folder / "page.md").rename(vault.folder / "other.md")
        vault.read()
        assert vault.links("other") == []

    def test_from_a_page_that_moves(self, vault):
        """Its paths are relative to where it is now."""
        vault.write(a__page="in a", b__page="in b", a__note="[x](page.md) [[page]]")
        assert vault.links("a/note") == ["a/page"]
        (vault.folder / "a" / "note.md").rename(vault.folder / "b" / "note.md")

        assert vault.read().moved == 1
        assert vault.links("b/note") == ["b/page"]
        assert vault.links("a/page") == []

    def test_to_a_title_that_changes(self, vault):
        """The old one leads nowhere, the new one does."""
        vault.write(x="# Cars\n", old="[[Cars]]", new="[[Boats]]")
        assert vault.links("x") == ["old"]

        vault.write(x="# Boats\n")

        assert vault.links("x") == ["new"]

    def test_to_a_title_that_another_page_takes_over(self, vault):
        """Of two, one is chosen; when it changes its mind, the other."""
        vault.write(a="# Cars\n", z="# Cars\n", note="[[Cars]]")
        assert vault.links("note") == ["a"]

        vault.write(a="# Boats\n")

        assert vault.links("note") == ["z"]

    def test_a_link_that_is_taken_out_of_the_text(self, vault):
        """Goes; the others stay."""
        vault.write(note="[[a]] [[b]]", a="a", b="b")
        vault.write(note="[[b]]")
        assert vault.links("note") == ["b"]

        vault.write(note="no links")
        assert vault.links("b") == []

    def test_to_a_page_that_is_ignored_from_now_on(self, vault):
        """It is as if it were gone."""
        vault.write(note="[[page]]", page="page")
        (vault.folder / ".ignore").write_text("page.md\n")
        vault.read()
        assert vault.links("note") == []

        (vault.folder / ".ignore").unlink()
        vault.read()
        assert vault.links("note") == ["page"]

    def test_pages_in_folders_that_are_read_one_after_the_other(self, vault, tmp_path):
        """A name leads from one to the other, whichever came first."""
        other = tmp_path / "other"
        other.mkdir()
        (other / "page.md").write_text("[[note]] [x](../vault/note.md)")
        vault.write(note="[[page]] [x](../other/page.md)")
        assert vault.links("note") == []

        vault.store.ingest(other)

        (link,) = vault.store.get(vault.store.ls(collection="vault")[0].id).links
        assert vault.store.get(link.to).collection == "other"

    def test_a_run_that_was_cut_short_is_made_good(self, vault, monkeypatch):
        """Documents were written, links were not yet; nothing changes any more."""
        vault.write(gone="[[page]]")

        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(module.IngestRun, "finish", interrupt)
            with pytest.raises(KeyboardInterrupt):
                vault.write(note="[[page]]", page="page", gone="no link")
        assert vault.links("note") == []

        assert vault.read().unchanged == 3
        assert vault.links("page") == ["note"]
        assert vault.store._context.shelf.targets.are_resolved("default")


class TestByHand:
    def test_a_link_by_hand_stays_whatever_the_text_says(self, vault):
        """With its strength; also one that the text makes as well, from either end."""
        vault.write(a="[[b]]", b="b", c="c")
        a, b, c = map(vault.id, "abc")
        vault.store.link(a, c, 0.5)
        vault.store.link(b, a, 0.3, kind="link")

        vault.write(a="[[b]] once more [[c]]")
        links = {(one.to, one.strength, one.kind) for one in vault.store.get(a).links}
        assert links == {(b, 0.3, "link"), (c, 0.5, "related"), (c, 1.0, "link")}

        vault.write(a="nothing")
        links = {(one.to, one.strength, one.kind) for one in vault.store.get(a).links}
        assert links == {(b, 0.3, "link"), (c, 0.5, "related")}

    def test_one_of_the_same_kind_and_direction_stays_too(self, vault):
        """The text may say the same: the hand goes before."""
        vault.write(a="[[b]]", b="b")
        vault.store.link(vault.id("a"), vault.id("b"), 0.3, kind="link")
        vault.write(a="[[b]] again")
        vault.write(a="nothing")

        assert [one.strength for one in vault.store.get(vault.id("b")).links] == [0.3]


class TestWalking:
    def test_two_that_link_to_each_other_are_linked_once(self, vault):
        """From either side; and when one stops, they still are."""
        vault.write(a="[[b]]", b="[[a]] [[A]] [x](a.md)")
        assert (vault.links("a"), vault.links("b")) == (["b"], ["a"])

        vault.write(a="nothing")
        assert (vault.links("a"), vault.links("b")) == (["b"], ["a"])

        vault.write(b="nothing")
        assert (vault.links("a"), vault.links("b")) == ([], [])

    def test_neighbors_walks_them(self, vault):
        """Both ways, as far as is asked."""
        vault.write(a="[[b]]", b="[[c]]", c="c", d="[[c]]")
        names = vault.names()

        def reached(name, depth):
            found = vault.store.neighbors(vault.id(name), depth=depth)
            return {(names[one.id], one.depth) for one in found}

        assert reached("a", 1) == {("b", 1)}
        assert reached("a", 3) == {("b", 1), ("c", 2), ("d", 3)}
        assert reached("c", 1) == {("b", 1), ("d", 1)}

    def test_never_across_namespaces(self, tmp_path, words_only):
        """Nor across users, though the files are the same."""
        for name, text in (("one/a.md", "[[b]]"), ("two/b.md", "[[a]] [x](../one/a.md)")):
            (tmp_path / name).parent.mkdir()
            (tmp_path / name).write_text(text)
        words_only.ingest(tmp_path / "one", namespace="x")
        words_only.ingest(tmp_path / "two", namespace="y")
        assert [one.links for one in map(words_only.get, all_ids(words_only))] == [(), ()]

        words_only.ingest(tmp_path / "two", namespace="x")

        assert sorted(len(words_only.get(one).links) for one in all_ids(words_only)) == [0, 1, 1]

    def test_users_have_links_of_their_own(self, tmp_path):
        """In one file."""
        folder = tmp_path / "vault"
        folder.mkdir()
        (folder / "a.md").write_text("[[b]]")
        (folder / "b.md").write_text("b")
        with (
            scrubjay.open(tmp_path / "s.db", user="ada", embedder=False) as ada,
            scrubjay.open(tmp_path / "s.db", user="bob", embedder=False) as bob,
        ):
            ada.ingest(folder)
            bob.ingest(folder)
            for one in (ada, bob):
                ((link,), (back,)) = (one.get(id_).links for id_ in all_ids(one))
                assert {link.to, back.to} == set(all_ids(one))


def all_ids(store):
    return [one.id for one in store.ls()]
