"""The caller who stores a memory is told at once which earlier one it probably updates or repeats."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import scrubjay
from scrubjay.surfaces.mcp import compact, text
from scrubjay.surfaces.mcp.default_tools import DEFAULT_TOOLS
from scrubjay.surfaces.verbs.table import VERBS

OLD, NEW = "The release deadline is 3 March", "The release deadline was moved to 10 March"
AGAIN = "Deadline of the release: 3 March"
TOOLS = {tool.name: tool for tool in DEFAULT_TOOLS}


@pytest.fixture
def notes(tmp_path, reader, monkeypatch):
    monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
    with scrubjay.open(tmp_path / "notes.db") as store:
        store.add(OLD, id="old", created_at="2026-01-05")
        store.add("The museum is closed on Mondays", id="museum", created_at="2026-01-05")
        yield store


def told(store, name, **given):
    tool = TOOLS[name]
    return tool.to_text(tool.compact(tool.verb.call(store, given), given), given)


class TestStoring:
    def test_the_library_says_it_when_it_is_asked(self, notes):
        """Before the main model has read the new text."""
        stored = notes.add_many([{"text": NEW, "id": "new"}])
        [likely] = notes.likely_changes(stored)

        assert likely[:3] == ("new", "old", "updates")
        assert likely.strength >= 0.3
        assert likely.old_at == datetime(2026, 1, 5, tzinfo=UTC)
        assert notes.likely_changes(notes.add_many([{"text": "Rex eats no fish"}])) == []

    def test_the_verbs_of_http_and_mcp_say_it(self, notes):
        answer = VERBS["add"].call(notes, {"text": NEW, "id": "new"})
        assert [(one["new"], one["old"]) for one in answer["likely_changes"]] == [("new", "old")]
        many = VERBS["add_many"].call(notes, {"memories": [{"text": "Rex eats no fish"}]})
        assert many["likely_changes"] == []

    def test_an_agent_reads_one_sentence(self, notes):
        said = told(notes, "memory_store", text=NEW, id="new")
        assert "new probably updates old of 2026-01-05." in said
        assert "probably" not in told(notes, "memory_store", text="Rex eats no fish")
        assert "probably" not in told(notes, "memory_store", text=OLD)  # it is there already

    def test_the_shell_prints_a_line(self, bare_shell, reader):
        bare_shell("add", OLD, "--id", "old", "--at", "2026-01-05")
        assert "probably updates old (2026-01-05)" in bare_shell("add", NEW, "--id", "new").out
        [likely] = bare_shell("add", f"{NEW} at noon", "--json").json["likely_changes"][:1]
        assert likely["kind"] in ("updates", "repeats")

    def test_what_the_shell_stores_is_compared_before_it_ends(self, bare_shell, reader):
        """No process stays open after it."""
        bare_shell("add", OLD, "--id", "old", "--at", "2026-01-05")
        bare_shell("add", NEW, "--id", "new")
        [change] = bare_shell("changes", "--json").json["changes"]
        assert (change["new"], change["old"], change["by_hand"]) == ("new", "old", False)

    def test_without_the_model_nothing_is_said(self, tmp_path, monkeypatch):
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        with scrubjay.open(tmp_path / "a.db") as store:
            store.add(OLD, id="old", created_at="2026-01-05")
            assert store.likely_changes(store.add_many([{"text": NEW}])) == []


class TestChangesOfAMemory:
    def test_memory_get_lists_what_replaced_what(self, notes):
        notes.add(NEW, id="new")
        notes.link("new", "old", 0.7, kind="updates")
        notes.link("museum", "old", kind="related")
        for id_ in ("new", "old"):
            given = {"ids": [id_], "changes": True}
            shape = TOOLS["memory_get"].verb.call(notes, given)
            assert [(one["new"], one["old"]) for one in shape["changes"]] == [("new", "old")]
            answer = compact.memories(shape, given)
            assert "new updates old (by hand)." in text.memories(answer, given)
        given = {"ids": ["museum"], "changes": True}
        assert TOOLS["memory_get"].verb.call(notes, given)["changes"] == []
        assert "changes" not in TOOLS["memory_get"].verb.call(notes, {"ids": ["old"]})

    def test_memory_update_takes_a_wrong_one_back_for_good(self, notes):
        notes.add(NEW, id="new")
        assert notes.pending(timeout_s=120) == 0
        assert [(one.new, one.old) for one in notes.changes()] == [("new", "old")]

        given = {"id": "new", "unlink": "old"}
        shape = TOOLS["memory_update"].verb.call(notes, given)
        assert shape["unlinked"] == 1
        assert "does not update old" in text.changed(compact.stored(shape, given), given)
        notes.update("new", text="The release deadline was moved to 11 March")
        assert notes.pending(timeout_s=120) == 0
        assert notes.changes() == []

    def test_unlink_goes_with_no_other_field(self, notes):
        with pytest.raises(scrubjay.InvalidInput, match="unlink"):
            TOOLS["memory_update"].verb.call(notes, {"id": "new", "unlink": "old", "text": "x"})
        with pytest.raises(scrubjay.NotFound):
            TOOLS["memory_update"].verb.call(notes, {"id": "old", "unlink": "nothing"})
