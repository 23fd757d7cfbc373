"""Collections that people share: who sees, who writes, who invites, and what goes wrong."""

from __future__ import annotations

import pytest
from fakes import HashingEmbedder, ScriptedGenerator

import scrubjay
from scrubjay import InvalidInput, NotFound
from scrubjay.storage.sql import keyword_ranking
from scrubjay.types import Scope, Term

WAYS = [
    {"mode": "keyword"},
    {"mode": "vector"},
    {"mode": "fast"},
    {},
    {"mode": "thorough"},
    {"profile": "gno"},
    {"profile": "gno", "mode": "thorough"},
    {"profile": "gnosis"},
    {"profile": "gnosis", "mode": "deep"},
]


@pytest.fixture
def people(tmp_path, clock):
    """Opens the same file for whoever is named; None is who owns the file."""
    opened = {}

    def of(user):
        if user not in opened:
            opened[user] = scrubjay.open(
                tmp_path / "team.db", user=user, embedder=HashingEmbedder(), clock=clock
            )
        return opened[user]

    yield of
    for store in opened.values():
        store.close()


@pytest.fixture
def team(people):
    """Ann owns `team`, Ben writes in it, Cem reads it; Dora does not belong to it."""
    ann = people("ann")
    ann.create_collection("team")
    ann.share("team", "ben", "writer")
    ann.share("team", "cem")
    return ann, people("ben"), people("cem"), people("dora")


def found(store, query, **how):
    return [hit.id for hit in store.search(query, **how)]


class TestSeeing:
    @pytest.mark.parametrize("way", WAYS, ids=str)
    def test_a_search_spans_ones_own_and_every_collection_without_being_asked(self, team, way):
        """GS-5: nothing has to be named; who does not belong to a collection finds nothing of it."""
        ann, ben, cem, dora = team
        ann.add("the boiler room key hangs behind the door", id="key", topics=["boiler"])
        shared = ann.publish("key", "team").id
        ann.add("the boiler is hers alone", id="hers", topics=["boiler"])
        cem.add("the boiler hums, says cem", id="his", topics=["boiler"])
        ann.pending()

        assert set(found(ann, "boiler room key", **way)) == {"key", "hers"}
        assert found(ben, "boiler room key", **way) == [shared]
        assert set(found(cem, "boiler room key", **way)) == {shared, "his"}
        assert found(dora, "boiler room key", **way) == []

    def test_a_collection_can_be_named_to_search_it_alone(self, team):
        """Then the copy in it is found by its own id."""
        ann, *_ = team
        ann.add("the boiler is old", id="mine")
        copy = ann.publish("mine", "team")
        ann.add("the boiler is hers", id="hers")

        assert found(ann, "boiler", collection="team") == [copy.id]
        assert found(ann, "boiler", namespace=copy.namespace) == [copy.id]
        assert set(found(ann, "boiler", namespace="user:ann")) == {"mine", "hers"}

    def test_whoever_is_removed_sees_nothing_from_that_moment_on(self, team):
        """GS-5: membership is asked of the store in each query; no store has to be opened anew."""
        ann, ben, cem, _ = team
        copy = ann.publish(ann.add("the boiler is old").id, "team")
        for store in (ben, cem):
            assert found(store, "boiler") == [copy.id]

        ann.unshare("team", "cem")
        assert found(cem, "boiler") == found(cem, "boiler", profile="gnosis") == []
        assert cem.ls() == []
        assert cem.collections() == []
        with pytest.raises(NotFound):
            cem.get(copy.id)
        assert found(ben, "boiler") == [copy.id]

        ann.share("team", "cem")
        assert found(cem, "boiler") == [copy.id]

    def test_the_trace_says_which_collections_were_spanned(self, team):
        """R-7: a search explains where it looked."""
        ann, *_, dora = team
        ann.add("the boiler is old")
        step = next(
            s for s in ann.search("boiler", profile="gnosis").trace if s.stage == "fan_out"
        )
        assert step.notes["collections"] == ("team",)
        step = next(
            s for s in dora.search("boiler", profile="gnosis").trace if s.stage == "fan_out"
        )
        assert step.notes == {}

    def test_who_owns_the_file_sees_each_text_once(self, people, team):
        """One person's own file: everything, and a published memory by its own id."""
        ann, *_ = team
        ann.add("the boiler is old", id="mine")
        ann.publish("mine", "team")

        assert found(people(None), "boiler") == ["mine"]
        assert len(people(None).ls()) == 2

    def test_a_list_names_members_counts_and_what_is_empty(self, team):
        """Everybody in a collection sees who else is; a label of one's own is no shared collection."""
        ann, ben, _, dora = team
        ann.add("x", collection="drafts")

        drafts, shared = ann.collections()
        assert (drafts.name, drafts.shared, drafts.members) == ("drafts", False, {})
        assert (shared.name, shared.shared, shared.memories) == ("team", True, 0)
        assert shared.members == {"ann": "owner", "ben": "writer", "cem": "reader"}
        assert [one.name for one in ben.collections()] == ["team"]
        assert ben.members("team") == shared.members
        assert dora.collections() == []


class TestWriting:
    def test_what_names_a_collection_is_written_there(self, team):
        """`collection=` with a shared one is the shared one, for every member who may write."""
        _, ben, cem, _ = team
        kept = ben.add("the lift is out of order", collection="team")

        assert (kept.namespace, kept.collection) == ("collection:team", "team")
        assert found(cem, "lift") == [kept.id]

    def test_the_same_text_in_a_collection_is_one_memory(self, team):
        """Deduplication is by namespace, and a collection is one."""
        ann, ben, *_ = team
        kept = ann.add("the lift is out", collection="team", topics=["lift"])
        again = ben.add("the lift  is out", namespace="collection:team", topics=["stairs"])
        assert (again.id, again.topics) == (kept.id, ("lift", "stairs"))
        assert ann.add("the lift is out").id != kept.id

    def test_a_reader_changes_nothing(self, team):
        """Each verb that writes says which role it takes and whom to ask, and nothing is changed."""
        ann, _, cem, _ = team
        kept = ann.add("the lift is out", id="lift", collection="team", topics=["lift"])
        ann.add("the boiler is old", id="boiler", collection="team")
        cem.add("cem's own", id="own")
        for call in (
            lambda: cem.add("graffiti", collection="team"),
            lambda: cem.add("graffiti", namespace="collection:team"),
            lambda: cem.publish("own", "team"),
            lambda: cem.unpublish("lift", "team"),
            lambda: cem.update("lift", text="mine now"),
            lambda: cem.done("lift"),
            lambda: cem.forget("lift"),
            lambda: cem.forget(["own", "lift"]),
            lambda: cem.link("lift", "boiler"),
            lambda: cem.share("team", "dora"),
            lambda: cem.unshare("team", "ben"),
            lambda: cem.rename_collection("team", "mine"),
            lambda: cem.remove_collection("team"),
        ):
            with pytest.raises(InvalidInput, match=r"you are a reader of .*'team'.* ask ann"):
                call()
        with pytest.raises(InvalidInput, match="'lift' is taken"):
            cem.add("graffiti", id="lift")
        with pytest.raises(NotFound, match="no memory has the topic 'lift'"):
            cem.rename_topic("lift", "elevator")
        assert ann.get("lift") == kept
        assert ann.members("team") == {"ann": "owner", "ben": "writer", "cem": "reader"}
        assert {one.id for one in cem.ls()} == {"lift", "boiler", "own"}

    def test_a_reader_links_their_own_to_what_they_read(self, team):
        """Such a link is seen by whoever sees both ends: by the reader alone."""
        ann, _, cem, _ = team
        ann.add("the lift is out", id="lift", collection="team")
        cem.add("call the lift company", id="call")
        cem.link("call", "lift")

        assert [one.id for one in cem.neighbors("lift")] == ["call"]
        assert ann.neighbors("lift") == []
        assert cem.unlink("lift", "call") == 1

    def test_a_writer_writes_but_does_not_invite(self, team):
        """The role is one of three steps."""
        ann, ben, *_ = team
        ann.add("the lift is out", id="lift", collection="team", type="task")
        assert ben.done("lift").type == "task_done"
        assert ben.update("lift", text="the lift runs again").text == "the lift runs again"
        assert ann.get("lift").collection == "team"
        for call in (
            lambda: ben.share("team", "dora"),
            lambda: ben.unshare("team", "cem"),
            lambda: ben.rename_collection("team", "ours"),
            lambda: ben.remove_collection("team"),
        ):
            with pytest.raises(InvalidInput, match=r"you are a writer .* owner .* ask ann"):
                call()
        assert ben.forget("lift") == 1
        assert ann.ls() == []

    def test_a_memory_moves_into_a_collection_and_out_of_it(self, team):
        """`update` with another collection moves it; one's own label is one's own namespace again."""
        ann, _, cem, _ = team
        ann.add("the lift is out", id="lift")
        assert ann.update("lift", collection="team").namespace == "collection:team"
        assert found(cem, "lift") == ["lift"]
        assert ann.update("lift", collection="drafts").namespace == "user:ann"
        assert found(cem, "lift") == []

    def test_another_label_leaves_a_memory_in_its_namespace(self, people):
        """Who owns the file sorts memories of any namespace."""
        owner = people(None)
        owner.create_collection("team")
        owner.add("x", id="x", namespace="work")
        assert owner.update("x", collection="team").namespace == "work"
        owner.add("y", id="y")
        assert owner.update("y", collection="drafts").namespace == "default"
        assert owner.update("y", collection="team").namespace == "collection:team"
        assert owner.update("y", namespace="work", collection="drafts").collection == "drafts"

    def test_a_folder_is_read_into_a_shared_collection(self, team, tmp_path):
        """Documents are for everybody in it; whoever had them read brings them up to date."""
        ann, ben, cem, dora = team
        notes = tmp_path / "notes"
        notes.mkdir()
        (notes / "lift.md").write_text("# The lift\n\nIt stops at every floor.\n", "utf-8")
        ann.ingest(notes, collection="team")

        assert len(found(cem, "lift floor", mode="keyword")) == 1
        assert found(dora, "lift floor") == []
        assert cem.coverage()[0].path == str(notes / "lift.md")
        assert dora.coverage() == []
        (notes / "roof.md").write_text("# The roof\n\nIt leaks.\n", "utf-8")
        assert cem.ingest().added == ben.ingest().added == 0
        assert ann.ingest().added == 1
        assert len(found(cem, "roof leaks", mode="keyword")) == 1
        (team_now,) = cem.collections()
        assert (team_now.documents, team_now.folders) == (2, (str(notes),))

    def test_what_others_follow_is_not_read_with_ones_own_rights(self, team, tmp_path):
        """Ben may name Ann's folder, but her next run must not read it for him."""
        ann, ben, *_ = team
        private = tmp_path / "private"
        private.mkdir()
        ben.ingest(private, collection="team")
        (private / "diary.md").write_text("# Diary\n\nDear diary.\n", "utf-8")
        assert ann.ingest().added == 0
        assert ben.ls() == []

    def test_files_that_were_left_out_are_named_to_writers_only(self, team, tmp_path):
        """Their names may say more than the files that were read."""
        ann, ben, cem, _ = team
        notes = tmp_path / "notes"
        notes.mkdir()
        (notes / "lift.md").write_text("# The lift\n", "utf-8")
        (notes / "divorce.bin").write_bytes(b"\x00\x01")
        ann.ingest(notes, collection="team")
        assert {one.state for one in ben.coverage()} == {"indexed", "skipped"}
        assert {one.state for one in cem.coverage()} == {"indexed"}

    def test_a_role_that_ends_in_the_middle_ends_the_writing(self, team, tmp_path):
        """It is asked for in the transaction that writes, not when the call began."""
        ann, ben, *_ = team

        def items():
            yield {"text": "first", "collection": "team"}
            ann.unshare("team", "ben")

        with pytest.raises(InvalidInput, match="open for one user"):
            ben.add_many(items())
        ann.share("team", "ben", "writer")
        pages = tmp_path / "pages"
        pages.mkdir()
        (pages / "a.md").write_text("# A page\n", "utf-8")
        with pytest.raises(NotFound, match="was removed"):
            ben.ingest(
                pages,
                collection="team",
                progress=lambda *_: ann.collections() and ann.remove_collection("team"),
            )
        assert ann.ls() == []
        ann.create_collection("team")
        assert ann.ls() == []

    def test_a_memory_that_is_replaced_by_its_id_stays_where_it_is(self, team):
        """Who corrects a memory of the team does not take it away from the team."""
        ann, ben, *_ = team
        ann.add("the lift is out", id="lift", collection="team")
        assert ben.add("the lift runs again", id="lift").namespace == "collection:team"
        assert ann.get("lift").text == "the lift runs again"

    def test_nobody_finds_out_by_guessing_an_id(self, tmp_path):
        """Ids of people's memories are made with a secret of the store: the same text, another id."""
        made = []
        for name in ("a.db", "b.db"):
            with scrubjay.open(tmp_path / name, user="ann", embedder=False) as ann:
                made.append(ann.add("I was diagnosed").id)
                assert ann.add("I was  diagnosed").id == made[-1]
        assert made[0] != made[1]


class TestPublishing:
    def test_a_copy_is_the_same_but_for_its_place(self, team, clock):
        """Text, type, topics and times are those of the memory."""
        ann, ben, *_ = team
        mine = ann.add("we deploy on Fridays", id="deploy", type="decision", topics=["deploy"])
        clock.advance(hours=1)
        copy = ann.publish("deploy", "team")

        assert copy == mine._replace(id=copy.id, namespace="collection:team", collection="team")
        assert copy.id != "deploy"
        assert ben.get(copy.id) == copy
        assert ben.topics() == {"deploy": 1}

    def test_publishing_twice_says_where_it_is_already(self, team):
        """By the same person, by another with the same text, and from inside the collection."""
        ann, ben, *_ = team
        ann.add("we deploy on Fridays", id="deploy")
        copy = ann.publish("deploy", "team")
        ben.add("we deploy  on Fridays", id="his")
        for store, id_, says in (
            (ann, "deploy", f"deploy is in .* already, as {copy.id}; .* unpublish it first"),
            (ann, copy.id, f"{copy.id} is in the collection 'team' already"),
            (ben, "his", f"the same text is in .* already, as {copy.id}"),
        ):
            with pytest.raises(InvalidInput, match=says):
                store.publish(id_, "team")
        assert len(ann.ls(collection="team")) == 1

    def test_a_copy_stays_as_it_is_when_the_memory_changes(self, team):
        """What is said later in private stays private, until it is published anew."""
        ann, ben, *_ = team
        ann.add("we deploy on Fridays", id="deploy")
        ann.publish("deploy", "team")
        ann.update("deploy", text="we deploy on Fridays, but Ben must not know")

        assert [hit.text for hit in ben.search("deploy")] == ["we deploy on Fridays"]
        assert len(found(ann, "deploy")) == 2
        with pytest.raises(InvalidInput, match="unpublish it first"):
            ann.publish("deploy", "team")

    @pytest.mark.parametrize("by_copy", [False, True])
    def test_unpublishing_takes_the_copy_away_and_leaves_the_memory(self, team, by_copy):
        """By either id; afterwards it can be published again."""
        ann, ben, *_ = team
        ann.add("we deploy on Fridays", id="deploy")
        copy = ann.publish("deploy", "team")
        ann.unpublish(copy.id if by_copy else "deploy", "team")

        assert found(ben, "deploy") == []
        assert found(ann, "deploy") == ["deploy"]
        assert ann.publish("deploy", "team").text == "we deploy on Fridays"

    def test_unpublishing_what_is_not_published(self, team):
        """Elsewhere, not at all, or written there in the first place."""
        ann, *_ = team
        ann.create_collection("board")
        ann.add("we deploy on Fridays", id="deploy")
        ann.publish("deploy", "team")
        ann.add("the lift is out", id="lift", collection="team")
        with pytest.raises(NotFound, match="deploy is not published in the collection 'board'"):
            ann.unpublish("deploy", "board")
        with pytest.raises(InvalidInput, match="`forget` removes it"):
            ann.unpublish("lift", "team")
        with pytest.raises(NotFound, match="no memory has the id"):
            ann.unpublish("nowhere", "team")

    def test_forgetting_takes_the_published_copies_along(self, team):
        """What is forgotten is found by nobody, in any collection where its author may write."""
        ann, ben, *_ = team
        ann.create_collection("board")
        ann.add("we deploy on Fridays", id="deploy")
        ann.publish("deploy", "team")
        ann.publish("deploy", "board")

        assert ann.forget("deploy") == 1
        assert ben.ls() == ann.ls() == []

    def test_a_copy_of_a_copy_goes_with_the_memory_too(self, team):
        """Wherever its author may write."""
        ann, ben, *_ = team
        ann.create_collection("board")
        ann.share("board", "ben")
        ann.add("we deploy on Fridays", id="deploy")
        first = ann.publish("deploy", "team").id
        ann.publish(first, "board")
        ann.forget("deploy")
        assert ben.ls() == []

    def test_a_copy_stays_where_its_author_only_reads_by_now(self, team):
        """To see is not enough to take away."""
        ann, ben, *_ = team
        ben.add("we deploy on Fridays", id="deploy")
        copy = ben.publish("deploy", "team").id
        ann.share("team", "ben", "reader")
        ben.forget("deploy")
        assert [one.id for one in ben.ls()] == [copy]

    def test_what_is_private_about_a_memory_stays_behind(self, team):
        """Its session, and what it is linked to."""
        ann, ben, *_ = team
        ann.add("hers", id="hers")
        ann.add("we deploy on Fridays", id="deploy", session="s1", links=["hers"])
        copy = ben.get(ann.publish("deploy", "team").id)
        assert (copy.session, copy.links) == (None, ())
        assert [link.to for link in ann.get(copy.id).links] == []

    def test_two_people_may_publish_the_same_message(self, team):
        """Messages are never folded."""
        ann, ben, *_ = team
        for number, store in enumerate((ann, ben)):
            store.add("aye", id=f"m{number}", type="message")
            store.publish(f"m{number}", "team")
        assert len(ann.ls(collection="team")) == 2

    def test_a_copy_that_its_author_may_no_longer_touch_stays(self, team):
        """Who has left a collection cannot reach into it any more."""
        ann, ben, *_ = team
        ben.add("we deploy on Fridays", id="deploy")
        copy = ben.publish("deploy", "team")
        ann.unshare("team", "ben")
        assert ben.forget("deploy") == 1

        assert [one.id for one in ann.ls()] == [copy.id]
        ann.add("we deploy on Fridays", id="mine")
        with pytest.raises(InvalidInput, match="already"):
            ann.publish("mine", "team")

    @pytest.mark.parametrize(
        "touch",
        [
            lambda ben, copy: ben.add("we deploy on  Fridays", collection="team"),
            lambda ben, copy: ben.update(copy, text="we deploy on Fridays, says Ben"),
            lambda ben, copy: ben.done(copy),
        ],
        ids=["says the same", "rewrites", "marks as done"],
    )
    def test_what_others_have_touched_is_no_longer_its_authors_to_take_away(self, team, touch):
        """Nothing acknowledged is lost: Ben's word stays when Ann forgets hers."""
        ann, ben, *_ = team
        ann.add("we deploy on Fridays", id="deploy")
        copy = ann.publish("deploy", "team").id
        touch(ben, copy)
        kept = ben.get(copy)
        assert ann.forget("deploy") == 1

        assert ben.get(copy) == kept
        with pytest.raises(InvalidInput, match="not published there"):
            ann.unpublish(copy, "team")

    def test_what_is_not_seen_cannot_be_published(self, team):
        """Not even by its id."""
        ann, ben, *_ = team
        ann.add("hers", id="hers")
        with pytest.raises(NotFound, match="no memory has the id 'hers'"):
            ben.publish("hers", "team")


class TestBadInput:
    @pytest.mark.parametrize(
        "verb",
        [
            lambda store, name: store.members(name),
            lambda store, name: store.share(name, "eve"),
            lambda store, name: store.unshare(name, "ann"),
            lambda store, name: store.publish("own", name),
            lambda store, name: store.unpublish("own", name),
            lambda store, name: store.rename_collection(name, "mine"),
            lambda store, name: store.remove_collection(name),
        ],
    )
    def test_a_collection_that_is_not_yours_is_not_there(self, team, verb):
        """The answer is the same for one that exists and one that does not, word for word."""
        *_, dora = team
        dora.add("dora's own", id="own")
        said = []
        for name in ("team", "nowhere"):
            with pytest.raises(NotFound) as refused:
                verb(dora, name)
            said.append(str(refused.value).replace(name, "NAME"))
        assert said[0] == said[1]

    def test_searching_and_labelling_do_not_tell_either(self, team):
        """The name of others' collection is a label of one's own like any other."""
        ann, _, _, dora = team
        ann.add("the lift is out", collection="team")
        for name in ("team", "nowhere"):
            empty = dora.search("lift", collection=name)
            assert (len(empty), len(empty.degraded)) == (0, 1)
            assert f"there is no collection {name!r}" in empty.degraded[0]
            kept = dora.add(f"dora's {name}", collection=name)
            assert (kept.namespace, kept.collection) == ("user:dora", name)
            with pytest.raises(InvalidInput, match="open for one user"):
                dora.add("x", namespace=f"collection:{name}")
        assert {one.namespace for one in ann.ls()} == {"collection:team"}

    @pytest.mark.parametrize("role", ["admin", "", "Owner", None, 7])
    def test_an_unknown_role_names_the_right_ones(self, team, role):
        """And nobody gets any."""
        ann, *_ = team
        with pytest.raises(InvalidInput, match="one of owner, writer, reader"):
            ann.share("team", "eve", role)
        assert "eve" not in ann.members("team")

    @pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 513, 7, None, "\ud800"])
    def test_a_name_has_to_be_one(self, team, name):
        """Of a collection and of a person."""
        ann, *_ = team
        for call in (
            lambda: ann.create_collection(name),
            lambda: ann.share("team", name),
            lambda: ann.unshare("team", name),
            lambda: ann.share(name, "eve"),
            lambda: ann.rename_collection("team", name),
        ):
            with pytest.raises(
                InvalidInput, match=r"printable|at most 512|must be a text|surrogate"
            ):
                call()
        assert [one.name for one in ann.collections()] == ["team"]

    def test_the_last_owner_stays(self, team):
        """Neither removed, nor gone, nor made less; with a second owner the first may go."""
        ann, ben, *_ = team
        for call in (
            lambda: ann.unshare("team", "ann"),
            lambda: ann.share("team", "ann", "writer"),
        ):
            with pytest.raises(InvalidInput, match=r"ann is the last owner of .*'team'"):
                call()
        assert ann.members("team")["ann"] == "owner"
        ann.share("team", "ben", "owner")
        assert ann.unshare("team", "ann") == {"ben": "owner", "cem": "reader"}
        with pytest.raises(NotFound):
            ann.members("team")
        ben.share("team", "ann", "owner")
        assert ann.unshare("team", "ben") == {"ann": "owner", "cem": "reader"}

    def test_whoever_wants_to_leave_may(self, team):
        """A reader needs nobody's leave for that; who is not in cannot be removed."""
        ann, _, cem, _ = team
        assert "cem" not in cem.unshare("team", "cem")
        with pytest.raises(NotFound, match="'cem' is not a member"):
            ann.unshare("team", "cem")

    def test_a_name_is_given_once(self, team):
        """To whoever came first; one's own label is a name, too."""
        ann, _, _, dora = team
        dora.add("x", collection="drafts")
        for store, name in ((ann, "team"), (dora, "team"), (dora, "drafts")):
            with pytest.raises(InvalidInput, match=f"'{name}' exists"):
                store.create_collection(name)
        assert ann.create_collection("drafts").members == {"ann": "owner"}

    def test_an_invitation_does_not_capture_what_one_writes_for_oneself(self, people, team):
        """A label of one's own and a shared collection of that name: nothing is guessed."""
        *_, dora = team
        cem = people("cem")
        cem.add("dear diary", id="one", collection="diary")
        dora.create_collection("diary")
        dora.share("diary", "cem", "writer")
        for call in (
            lambda: cem.add("i dislike dora", collection="diary"),
            lambda: cem.rename_collection("diary", "mine"),
            lambda: cem.remove_collection("diary"),
        ):
            with pytest.raises(InvalidInput, match=r"two collections 'diary'.*user:cem.*or"):
                call()
        cem.update("one", text="dear diary, again")
        cem.add("for me alone", collection="diary", namespace="user:cem")
        cem.add("for dora, too", collection="diary", namespace="collection:diary")

        assert [one.text for one in dora.ls()] == ["for dora, too"]
        with pytest.raises(InvalidInput, match="needs an owner"):
            cem.remove_collection("diary", namespace="collection:diary")
        assert cem.rename_collection("diary", "mine", namespace="user:cem") == 2
        assert cem.add("no longer in doubt", collection="diary").namespace == "collection:diary"
        assert cem.remove_collection("mine") == 2
        assert len(dora.ls()) == 2

    def test_status_counts_only_what_one_sees(self, people, team):
        """GS-5: chunks, vectors, links and feedback of others are not counted."""
        ann, _, cem, dora = team
        for store in (ann, people(None)):
            store.add("a", id=f"a-{id(store)}", links=[])
        ann.add("the boiler is old", id="x", collection="team")
        ann.add("the boiler is hers", id="y", links=["x"])
        ann.feedback("boiler", "y", "accepted")
        ann.pending()
        state = dora.status()
        assert (state.memories, state.chunks, state.links, state.feedback) == (0, 0, 0, 0)
        assert state.models == {"hashing-256": 0}
        state = cem.status()
        assert (state.memories, state.chunks, state.links, state.feedback) == (1, 1, 0, 0)
        assert (state.models, state.pending) == ({"hashing-256": 1}, 0)
        assert ann.status().links == 1

    def test_a_namespace_of_a_collection_is_not_made_by_writing(self, people):
        """Who owns the file may write everywhere, but a collection is made by its own verb."""
        owner = people(None)
        with pytest.raises(InvalidInput, match="create_collection"):
            owner.add("x", namespace="collection:team")
        owner.create_collection("team")
        assert owner.add("x", namespace="collection:team").collection == "team"
        assert owner.share("team", "ann", "owner") == {"ann": "owner"}
        assert len(people("ann").ls()) == 1


class TestNames:
    def test_a_collection_gets_another_name_and_keeps_everybody(self, team):
        """Memories, folders and members stay; the old name is free for another one."""
        ann, ben, cem, _ = team
        ann.add("the lift is out", id="lift", collection="team")
        assert ann.rename_collection("team", "house") == 1

        assert found(cem, "lift", collection="house") == ["lift"]
        assert ben.add("the roof leaks", collection="house").namespace == "collection:team"
        ann.create_collection("team")
        other = ann.add("the new team", collection="team")
        assert other.namespace == "collection:team 2"
        assert {one.id for one in cem.ls()} == {one.id for one in ann.ls(collection="house")}
        with pytest.raises(InvalidInput, match="already"):
            ann.rename_collection("house", "team")

    def test_a_taken_name_is_refused_without_a_word_on_whose_it_is(self, team):
        """A name is taken or free; nothing else is told."""
        _, _, _, dora = team
        dora.create_collection("hers")
        with pytest.raises(InvalidInput, match="the name 'team' is taken"):
            dora.rename_collection("hers", "team")
        assert list(dora.members("hers")) == ["dora"]

    def test_a_removed_collection_is_gone_with_all_that_was_in_it(self, team):
        """Originals stay with their authors."""
        ann, ben, *_ = team
        ben.add("we deploy on Fridays", id="deploy")
        ben.publish("deploy", "team")
        ann.add("the lift is out", collection="team")
        assert ann.remove_collection("team") == 2

        assert [one.id for one in ben.ls()] == ["deploy"]
        assert ann.ls() == ann.collections() == ben.collections() == []
        assert ann.create_collection("team").members == {"ann": "owner"}

    @pytest.mark.parametrize("how", ["by namespace", "by a label with spaces"])
    def test_nothing_of_a_removed_collection_is_left_to_whoever_takes_its_name(
        self, people, team, tmp_path, how
    ):
        """Whatever it was called there: memories, folders, what was left out."""
        ann, *_, dora = team
        ann.add("the secret plan", collection="team")
        if how == "by namespace":
            notes = tmp_path / "notes"
            notes.mkdir()
            (notes / "salary.md").write_text("# Salaries\n", "utf-8")
            ann.ingest(notes, namespace="collection:team")
            assert {one.collection for one in ann.ls()} == {"team"}
            assert ann.remove_collection("team") == 2
        else:
            ann.add("a label", collection=" team ")
            assert ann.remove_collection("team") == 2
        dora.create_collection("team")
        assert dora.ls() == dora.coverage() == []
        assert [one.folders for one in dora.collections()] == [()]

    def test_a_namespace_that_holds_anything_is_not_given_to_a_new_collection(self, people):
        """A store may be older than collections."""
        owner = people(None)
        with owner._context.db.write() as db:
            db.execute("INSERT INTO collections VALUES ('collection:x', 'x', 0)")
        owner.add("from before", namespace="collection:x")
        with owner._context.db.write() as db:
            db.execute("DELETE FROM collections")
        ann = people("ann")
        ann.create_collection("x")
        assert ann.ls() == []

    def test_a_namespace_has_to_be_a_text(self, team):
        """A list of one would pass by the check of roles."""
        _, ben, *_ = team
        for call in (
            lambda: ben.rename_collection("team", "z", namespace=["collection:team"]),
            lambda: ben.remove_collection("team", namespace=["collection:team"]),
        ):
            with pytest.raises(InvalidInput, match="it must be a text"):
                call()
        with pytest.raises(NotFound, match="namespace 'user:ann'"):
            ben.remove_collection("team", namespace="user:ann")

    def test_a_user_is_known_without_the_spaces_around_the_name(self, people, team):
        """The same person, however they are typed."""
        ann, *_ = team
        ann.share("team", "  eve ", "writer")
        assert people("eve ").members("team")["eve"] == "writer"


def test_a_scope_that_names_a_reader_binds_every_index(people, team):
    """GS-5: each index binds membership in its own query; none of them relies on another to filter."""
    ann, _, cem, dora = team
    kept = ann.add("the boiler is old", id="boiler", collection="team", topics=["boiler"])
    ann.add("the boiler is hers", id="hers", topics=["boiler"])
    ann.link("boiler", "hers")
    ann.pending()
    vector = HashingEmbedder().embed(["boiler"])[0]
    seen = {}
    for store, name in ((ann, "ann"), (cem, "cem"), (dora, "dora")):
        scope = Scope(reader=name)
        asked = (Term((("boiler",),)),)
        seen[name] = (
            {row.id for row in store._context.tables.keyword.search(asked, scope, 9, {}).rows},
            {
                row.id
                for row in store._context.tables.vectors.search(
                    vector, "hashing-256", scope, 9
                ).rows
            },
            {
                row.id
                for row in store._context.tables.topics.search(
                    ["boiler"], None, None, scope, 9
                ).rows
            },
            set(store._context.tables.records.get(["boiler", "hers"], scope)),
            {one.id for one in store._context.tables.graph.walk(["boiler"], scope, 1, None)},
        )
    assert seen == {
        "ann": (*[{"boiler", "hers"}] * 4, {"hers"}),
        "cem": (*[{"boiler"}] * 4, set()),
        "dora": (set(),) * 5,
    }
    assert kept.namespace == "collection:team"
    assert set(ann._context.tables.records.get(["boiler"], Scope(writer="ben"))) == {"boiler"}
    assert set(ann._context.tables.records.get(["boiler"], Scope(writer="cem"))) == set()


@pytest.mark.parametrize(
    "way", [{"mode": "keyword"}, {"profile": "gno", "mode": "keyword"}], ids=str
)
@pytest.mark.parametrize("large", [False, True])
def test_no_score_tells_what_others_have_stored(people, team, monkeypatch, way, large):
    """GS-5: how rare a word is is counted among what one sees; a number cannot be guessed digit by digit."""
    if large:
        monkeypatch.setattr(keyword_ranking, "SMALL_STORE", 0)
    ann, ben, *_ = team
    ann.add("the safe opens with 73415928 and nothing else")
    for guess in ("7341", "7342"):
        ben.add(f"ctl {guess}x zq", id=guess)
    ben.add("the weather is fine today and nothing else")
    scores = [ben.search(f"{guess}* ctl", **way, limit=2)[0].score for guess in ("7341", "7342")]
    assert scores[0] == scores[1]
    phrases = [
        [hit.score for hit in ben.search(f"safe {number} weather", **way)]
        for number in ("73415928", "73415929")
    ]
    assert phrases[0] == phrases[1]


def test_an_expansion_that_was_kept_for_one_is_made_anew_for_another(tmp_path, clock):
    """GN-4, GS-5: nobody learns from a kept answer what others have asked."""
    says = '{"lexical": ["kettle tea"], "semantic": ["hot water"], "hyde": "The kettle boils."}'
    scribe = ScriptedGenerator(says)
    asked = []
    for who in ("ann", "ann", "ben"):
        with scrubjay.open(
            tmp_path / "x.db",
            user=who,
            embedder=HashingEmbedder(),
            generator=scribe,
            clock=clock,
        ) as store:
            store.add("the kettle is on", id=f"kettle-of-{who}")
            store.search("what boils in the kitchen?", profile="gno", mode="thorough")
            asked.append(len(scribe.prompts))
    assert asked == [1, 1, 2]
