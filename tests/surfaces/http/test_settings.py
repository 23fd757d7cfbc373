"""How a server is set up: command line, environment, file."""

from __future__ import annotations

import pytest

from scrubjay.errors import InvalidInput
from scrubjay.surfaces.http.settings import ServerSettings, server_settings


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(monkeypatch):
    """What nobody says is usual."""
    monkeypatch.setenv("SCRUBJAY_SERVER_PORT", "2")
    monkeypatch.setenv("SCRUBJAY_SERVER_ALLOW_HOSTS", "a.example, b.example")
    table = {"port": 3, "max_body_mb": 0.5, "host": "0.0.0.0", "tools": "full"}

    assert server_settings({}, {}).port == 2
    found = server_settings(table, {"port": "1", "host": None, "rate_per_s": "50/s"})
    assert found == ServerSettings("0.0.0.0", 1, "full", ("a.example", "b.example"), 50.0, 0.5)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"prt": 1}, "[server] has no 'prt' (did you mean 'port'?)"),
        ({"port": 65536}, "here.toml: port is 65536"),
        ({"port": True}, "port is True"),
        ({"port": -1}, "0 for a free one"),
        ({"host": ""}, "host is ''"),
        ({"host": "a\nb"}, "host is 'a\\nb'"),
        ({"rate_per_s": 0}, "above 0"),
        ({"rate_per_s": "many"}, "such as 50"),
        ({"max_body_mb": float("nan")}, "above 0"),
        ({"max_body_mb": 2000}, "1024"),
        ({"tools": "some"}, "one of default"),
        ({"allow_hosts": 5}, "names"),
        ({"allow_hosts": ["a", 5]}, "a name"),
    ],
)
def test_what_cannot_be_a_setting_is_refused_saying_where_it_stands(table, said):
    """And what would be right."""
    with pytest.raises(InvalidInput) as refused:
        server_settings(table, {}, "here.toml")

    assert said in str(refused.value)


def test_the_settings_file_has_a_table_for_the_server(bare_shell, tmp_path, monkeypatch):
    """A wrong one is refused before anything listens."""
    file = tmp_path / "scrubjay.toml"
    monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
    file.write_text("server = 5\n", encoding="utf-8")
    no_table = bare_shell("serve")
    file.write_text("[server]\nport = 99999\n", encoding="utf-8")
    no_port = bare_shell("serve")

    assert (no_table.code, "[server]" in no_table.err) == (2, True)
    assert (no_port.code, f"{file}: port is 99999" in no_port.err) == (2, True)
