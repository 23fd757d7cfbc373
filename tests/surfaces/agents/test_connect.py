"""`scrubjay connect`: settings of agents are edited, kept, and given back."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from scrubjay.surfaces.agents import jsonc
from scrubjay.surfaces.agents.places import Machine, agents
from scrubjay.surfaces.cli import connect as cli
from scrubjay.surfaces.verbs.connect import AGENTS

WITH_MODES = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
SERVERS = """\
{
  // my servers
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "files"]}, // keep
  },
  "theme": "dark"
}
"""


@pytest.fixture(autouse=True)
def machine(home, monkeypatch):
    """A Linux machine with every agent on it."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    found = Machine("linux", str(home), os.environ)
    monkeypatch.setattr(cli, "this_machine", lambda: found)
    monkeypatch.setattr(cli, "_program", lambda: ["/opt/bin/scrubjay"])
    for agent in agents(found).values():
        Path(agent.signs[0]).mkdir(parents=True, exist_ok=True)
    return found


@pytest.fixture
def cursor(home):
    return home / ".cursor" / "mcp.json"


def snapshot(home):
    """Every file below the home folder, without those of scrubjay itself."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and home / "data" not in path.parents
    }


def entry_of(agent):
    """The entry in the settings as the agent reads them, and the command that it starts."""
    text = Path(agent.settings).read_text("utf-8-sig")
    values = tomllib.loads(text) if agent.settings.endswith(".toml") else jsonc.parse(text).value
    entry = values[agent.key]["scrubjay"]
    words = entry["command"]
    return entry, words if isinstance(words, list) else [words, *entry["args"]]


@pytest.mark.parametrize("name", AGENTS)
def test_each_agent_is_connected_twice_alike_and_given_back(bare_shell, machine, home, name):
    """Issue 27, item 1: files that were not there are gone again, all others are as they were."""
    before = snapshot(home)
    agent = agents(machine)[name]

    assert bare_shell("connect", name).code == 0
    _, words = entry_of(agents(machine)[name])
    assert words == ["/opt/bin/scrubjay", "mcp"]
    if agent.instructions is not None:
        assert "memory_context" in Path(agent.instructions).read_text("utf-8")
    connected = snapshot(home)
    again = bare_shell("connect", name)
    assert "nothing was changed" in again.out
    assert snapshot(home) == connected

    assert bare_shell("connect", name, "--undo").code == 0
    assert snapshot(home) == before
    assert "nothing was changed" in bare_shell("connect", name, "--undo").out


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["", "\n\n"])
def test_what_was_there_is_kept_and_comes_back_byte_for_byte(
    bare_shell, machine, home, name, newline, ending
):
    """Issue 27, item 1: comments, order, layout, line ends, a byte order mark."""
    agent = agents(machine)[name]
    text = '# mine\n[mcp_servers.files]\ncommand = "npx" # keep'
    if not agent.settings.endswith(".toml"):
        text = SERVERS.replace("mcpServers", agent.key).strip()
    content = (
        b"\xef\xbb\xbf" * (name == "cursor") + (text + ending).replace("\n", newline).encode()
    )
    Path(agent.settings).parent.mkdir(parents=True, exist_ok=True)
    Path(agent.settings).write_bytes(content)
    if agent.instructions is not None:
        Path(agent.instructions).parent.mkdir(parents=True, exist_ok=True)
        Path(agent.instructions).write_bytes(
            ("# My rules" + ending).replace("\n", newline).encode()
        )
    before = snapshot(home)

    assert bare_shell("connect", name).code == 0
    changed = Path(agent.settings).read_bytes()
    assert entry_of(agent)[1] == ["/opt/bin/scrubjay", "mcp"]
    kept = iter(changed)
    assert all(byte in kept for byte in content)
    assert (b"\r\n" in changed) == (newline == "\r\n") or not ending
    assert Path(agent.settings + ".before-scrubjay").read_bytes() == content

    assert bare_shell("connect", name, "--undo").code == 0
    assert snapshot(home) == before


def test_what_its_owner_changed_since_stays_when_it_is_undone(bare_shell, machine, home):
    """Issue 27, item 1: only our lines go."""
    for name in ("cursor", "codex"):
        agent = agents(machine)[name]
        assert bare_shell("connect", name).code == 0
        path = Path(agent.settings)
        added = '\n[tui]\ntheme = "x" # new\n'
        text = path.read_text("utf-8")
        if name == "cursor":
            added = ',\n  "theme": "dark" // new\n}\n'
            text = text.rstrip().removesuffix("}").rstrip()
        path.write_text(text + added, "utf-8")
        if agent.instructions:
            with open(agent.instructions, "a", encoding="utf-8") as file:
                file.write("\n# Later\n")
        assert bare_shell("connect", name, "--undo").code == 0
    assert (home / ".cursor" / "mcp.json").read_text() == '{\n  "theme": "dark" // new\n}\n'
    assert tomllib.loads((home / ".codex" / "config.toml").read_text()) == {"tui": {"theme": "x"}}
    assert (home / ".codex" / "AGENTS.md").read_text() == "\n# Later\n"


def test_another_database_replaces_our_entry_and_is_given_back(bare_shell, cursor, tmp_path):
    """Issue 27, item 1: an entry of ours that is out of date is written again."""
    cursor.write_text(SERVERS)
    bare_shell("connect", "cursor")
    assert (
        bare_shell("connect", "cursor", "--db", str(tmp_path / "p.db"), "--user", "ann").code == 0
    )

    entry = jsonc.parse(cursor.read_text()).value["mcpServers"]["scrubjay"]
    assert entry["args"] == ["mcp", "--db", str(tmp_path / "p.db"), "--user", "ann"]
    assert bare_shell("connect", "cursor", "--undo").code == 0
    assert cursor.read_text() == SERVERS
    assert sorted(path.name for path in cursor.parent.iterdir()) == ["mcp.json"]


def test_a_dry_run_shows_the_changes_and_writes_nothing(bare_shell, home, cursor):
    """Issue 27, item 1."""
    cursor.write_text(SERVERS)
    before = snapshot(home)

    shown = bare_shell("connect", "cursor", "--dry-run")
    assert shown.code == 0
    assert '+    "scrubjay": {' in shown.out
    assert "-" not in {line[:1] for line in shown.out.splitlines()[2:]}
    assert snapshot(home) == before
    bare_shell("connect", "codex")
    connected = snapshot(home)
    assert "-[mcp_servers.scrubjay]" in bare_shell("connect", "codex", "--undo", "--dry-run").out
    assert snapshot(home) == connected


def test_json_names_the_files_and_their_copies(bare_shell, cursor):
    cursor.write_text(SERVERS)
    done = bare_shell("connect", "cursor", "--json").json

    (file,) = done["files"]
    assert (done["state"], file["change"]) == ("connected", "changed")
    assert Path(file["backup"]).read_text() == SERVERS
    (file,) = bare_shell("connect", "cursor", "--json").json["files"]
    assert (file["change"], file["backup"]) == ("unchanged", None)


def test_the_list_says_who_is_here_and_connected(bare_shell, home, cursor):
    """Issue 27, item 1: by their settings folders."""
    (home / ".config" / "zed").rmdir()
    bare_shell("connect", "cursor")
    (home / ".gemini" / "settings.json").write_text("{")
    (home / ".claude.json").write_text('{"mcpServers": {"scrubjay": {"command": "scrubjay"}}}')

    listed = bare_shell("connect", "--list", "--json").json
    states = {one["agent"]: (one["present"], one["state"]) for one in listed["agents"]}
    assert [*states] == [*AGENTS]
    assert states["zed"] == (False, "not connected")
    assert states["cursor"] == (True, "connected")
    assert states["gemini"] == (True, "unreadable")
    assert states["claude-code"] == (True, "by hand")
    assert "cursor" in bare_shell("connect").out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"mcpServers": {', "not valid JSON"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3"),
        ("[]", "mcpServers"),
        ('{"mcpServers": []}', "mcpServers"),
        ('{"mcpServers": null}', "mcpServers"),
        ('{"mcpServers": {"scrubjay": {"command": "node", "args": ["bird.js"]}}}', "does not run"),
        ('{"mcpServers": {"scrubjay": 5}}', "does not run"),
        ("\xff\xfe{}".encode("latin-1"), "UTF-8"),
    ],
)
def test_settings_that_cannot_be_used_are_named_and_stay(bare_shell, home, cursor, text, said):
    """Issue 27, bad input: a clear message, and no file is touched."""
    cursor.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = snapshot(home)

    refused = bare_shell("connect", "cursor")
    assert (refused.code, refused.out) == (2, "")
    assert said in refused.err
    assert str(cursor) in refused.err
    assert snapshot(home) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[mcp_servers\n", "not valid TOML"),
        ("mcp_servers = 5\n", "mcp_servers"),
        ('mcp_servers = {files = {command = "x"}}\n', "by hand"),
        ('[mcp_servers.scrubjay]\ncommand = "bird"\n', "does not run"),
    ],
)
def test_so_are_settings_in_toml_and_the_instructions_stay_too(bare_shell, home, text, said):
    """Issue 27, bad input: of two files, none is written where one cannot be."""
    (home / ".codex" / "config.toml").write_text(text)
    (home / ".codex" / "AGENTS.md").write_text("# My rules\n")
    before = snapshot(home)

    refused = bare_shell("connect", "codex")
    assert refused.code == 2
    assert said in refused.err
    assert snapshot(home) == before


def test_an_agent_that_is_not_here_is_not_connected(bare_shell, home):
    """Issue 27, bad input."""
    (home / ".cursor").rmdir()

    refused = bare_shell("connect", "cursor")
    assert refused.code == 3
    assert "not on this machine" in refused.err
    assert not (home / ".cursor").exists()
    assert bare_shell("connect", "emacs").code == 2


def test_an_entry_made_by_hand_is_left_alone(bare_shell, home):
    """Issue 27, bad input: `claude mcp add` made it."""
    text = '{"mcpServers": {"scrubjay": {"command": "scrubjay", "args": ["mcp", "--db", "x"]}}}'
    (home / ".claude.json").write_text(text)

    done = bare_shell("connect", "claude-code")
    assert done.code == 0
    assert "by hand" in done.err
    undone = bare_shell("connect", "claude-code", "--undo")
    assert undone.code == 1
    assert "by hand" in undone.err
    assert (home / ".claude.json").read_text() == text
    assert not (home / ".claude" / "CLAUDE.md").exists()


def test_an_entry_of_ours_that_was_changed_is_left_alone(bare_shell, cursor):
    bare_shell("connect", "cursor")
    changed = cursor.read_text().replace('"mcp"', '"mcp", "--tools", "full"')
    cursor.write_text(changed)

    assert "by hand" in bare_shell("connect", "cursor").err
    assert bare_shell("connect", "cursor", "--undo").code == 1
    assert cursor.read_text() == changed


@WITH_MODES
def test_a_read_only_file_is_not_replaced(bare_shell, home, cursor):
    """Issue 27, bad input: replacing it would work, since its folder is writable."""
    cursor.write_text(SERVERS)
    cursor.chmod(0o444)
    before = snapshot(home)

    refused = bare_shell("connect", "cursor")
    assert refused.code == 1
    assert "read-only" in refused.err
    assert snapshot(home) == before


@WITH_MODES
def test_of_two_files_the_first_is_given_back_where_the_second_cannot_be_written(
    bare_shell, home, monkeypatch
):
    """Issue 27, bad input: a full disk, or a folder that is read-only."""
    (home / ".codex" / "config.toml").write_text("# mine\n")
    before = snapshot(home)
    from scrubjay.surfaces.agents import connect

    write = connect._replace

    def failing(path, content):
        if path.endswith("AGENTS.md"):
            raise OSError(28, "No space left on device", path)
        write(path, content)

    monkeypatch.setattr(connect, "_replace", failing)
    refused = bare_shell("connect", "codex")
    assert refused.code == 1
    assert "No space left" in refused.err
    assert snapshot(home) == before


@WITH_MODES
def test_a_link_stays_a_link_and_the_mode_stays(bare_shell, home, cursor):
    """Issue 27, bad input: settings in a folder of dotfiles."""
    real = home / "dotfiles" / "cursor.json"
    real.parent.mkdir()
    real.write_text(SERVERS)
    real.chmod(0o640)
    cursor.symlink_to(real)

    assert bare_shell("connect", "cursor").code == 0
    assert cursor.is_symlink()
    assert "scrubjay" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert bare_shell("connect", "cursor", "--undo").code == 0
    assert cursor.is_symlink()
    assert real.read_text() == SERVERS


def test_the_store_of_this_shell_is_that_of_the_agent(bare_shell, machine, home, monkeypatch):
    """Issue 27, item 1: a desktop program does not have the variables of a shell."""
    monkeypatch.setenv("SCRUBJAY_DB", str(home / "mine.db"))
    monkeypatch.setenv("SCRUBJAY_USER", "ann")

    assert bare_shell("connect", "opencode").code == 0
    words = entry_of(agents(machine)["opencode"])[1]
    assert words[1:] == ["mcp", "--db", str(home / "mine.db"), "--user", "ann"]


def test_a_password_is_not_written_into_the_settings_of_an_agent(bare_shell, home):
    before = snapshot(home)

    refused = bare_shell("connect", "cursor", "--db", "postgres://ann:secret@db/notes")
    assert refused.code == 2
    assert "secret" not in refused.err + refused.out
    assert snapshot(home) == before


def test_each_platform_has_its_paths():
    """Issue 27, item 1: Windows, macOS, Linux, and the variables of the agents."""

    def paths(platform, **env):
        found = agents(Machine(platform, "/h", env)).values()
        return {agent.name: agent.settings.replace(os.sep, "/") for agent in found}

    linux, mac = paths("linux"), paths("darwin")
    windows = paths("win32", APPDATA="R")
    same = {
        "claude-code": "/h/.claude.json",
        "codex": "/h/.codex/config.toml",
        "cursor": "/h/.cursor/mcp.json",
        "windsurf": "/h/.codeium/windsurf/mcp_config.json",
        "opencode": "/h/.config/opencode/opencode.json",
        "gemini": "/h/.gemini/settings.json",
    }
    library = "/h/Library/Application Support"
    assert linux == {
        **same,
        "claude-desktop": "/h/.config/Claude/claude_desktop_config.json",
        "vscode": "/h/.config/Code/User/mcp.json",
        "zed": "/h/.config/zed/settings.json",
    }
    assert mac == {
        **same,
        "claude-desktop": f"{library}/Claude/claude_desktop_config.json",
        "vscode": f"{library}/Code/User/mcp.json",
        "zed": "/h/.config/zed/settings.json",
    }
    assert windows == {
        **same,
        "claude-desktop": "R/Claude/claude_desktop_config.json",
        "vscode": "R/Code/User/mcp.json",
        "zed": "R/Zed/settings.json",
    }
    moved = paths("linux", CLAUDE_CONFIG_DIR="/c", CODEX_HOME="/x", XDG_CONFIG_HOME="/g")
    assert moved["claude-code"] == "/c/.claude.json"
    assert moved["codex"] == "/x/config.toml"
    assert moved["opencode"] == "/g/opencode/opencode.json"


def test_opencode_keeps_the_file_that_it_has(bare_shell, home):
    settings = home / ".config" / "opencode" / "opencode.jsonc"
    settings.write_text('{\n  // mine\n  "theme": "x"\n}\n')

    assert bare_shell("connect", "opencode").code == 0
    assert "// mine" in settings.read_text()
    assert json.dumps("local") in settings.read_text()
    assert not settings.with_name("opencode.json").exists()
