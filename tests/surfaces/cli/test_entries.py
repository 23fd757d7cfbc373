"""Entries of a vault at the shell: what they have beyond a memory, in every form of an answer."""

from __future__ import annotations

import re

import pytest

from scrubjay.surfaces.render import markdown
from scrubjay.surfaces.render import memories as stored
from scrubjay.surfaces.render.terminal import Screen
from scrubjay.types import Memory

LONG = "Retry with backoff and jitter. " * 100


@pytest.fixture
def vault(bare_shell):
    """Two entries, a long one and a short one of two lines."""
    bare_shell(
        *("add", "Check the signature\n  before any claim", "--id", "jwt-001", "--title", "JWT"),
        *("--severity", "critical", "--domain", "Security", "--topic", "auth", "--no-embed"),
        *("--context", "Three libraries accepted none.", "--valid-until", "2999-12-31"),
    )
    bare_shell("add", LONG, "--id", "retry-001", "--title", "Backoff", "--no-embed")
    return bare_shell


def query(shell, *words):
    return shell("query", *words, "--profile", "vault").out


class TestWhatAnEntryHas:
    @pytest.mark.parametrize(
        "words",
        [
            ["get", "jwt-001"],
            ["get", "jwt-001", "--md"],
            ["query", "signature", "--profile", "vault"],
            ["query", "signature", "--profile", "vault", "--md"],
        ],
        ids=" ".join,
    )
    def test_every_form_shows_it(self, vault, words):
        """SV-1: severity, domain, tags, context and until when it is valid."""
        shown = vault(*words).out

        for said in ("critical", "Security", "auth", "valid until 2999-12-31"):
            assert f"{said} ·" in shown or f"· {said}" in shown
        assert "context: Three libraries accepted none." in shown

    def test_ls_shows_severity_and_domain(self, vault, monkeypatch):
        """On a narrow screen, too."""
        monkeypatch.setenv("COLUMNS", "60")

        assert "fact · critical · Security" in vault("ls").out

    def test_get_says_of_which_tier_each_is(self, vault, tmp_path):
        """SV-4: in words, in Markdown and in JSON; of one file nothing is said."""
        team = str(tmp_path / "team.db")
        vault("add", "Theirs", "--id", "theirs", "--db", team, "--no-embed")
        own = vault("status", "--json").json["path"]
        tiers = ("--tier", f"agent={own}", "--tier", f"team={team}")

        assert "· tier team · theirs" in vault("get", "theirs", *tiers).out
        assert "· tier team · `theirs`" in vault("get", "theirs", *tiers, "--md").out
        both = vault("get", "theirs", "jwt-001", *tiers, "--json").json
        assert both["tiers"] == {"theirs": "team", "jwt-001": "agent"}
        assert vault("get", "jwt-001", "--json").json["tiers"] == {}
        assert "tier" not in vault("get", "jwt-001").out

    def test_what_is_stored_cannot_command_the_terminal(self):
        """Nor can a context or a domain."""
        evil = "\x1b[2J\u202e*x*"
        one = Memory("text", id="m", context=evil, domain=evil, severity=evil)
        shown = stored.memory(one, Screen(), tier=evil) + markdown.memory(one, tier=evil)
        shown += stored.memories([one], Screen())

        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "\\*x\\*" in shown


class TestWhole:
    def test_a_short_entry_is_shown_whole_with_its_lines(self, vault):
        """SV-1: `full`, the default, answers with whole entries; nothing is said twice."""
        shown = query(vault, "claim", "-n", "1")

        assert "    Check the signature\n      before any claim\n" in shown
        assert shown.count("signature") == 1
        assert "scrubjay get" not in shown

    def test_a_long_one_up_to_a_bound_and_says_how_to_read_on(self, vault):
        """2,000 characters; the command is for the same store."""
        shown = query(vault, "backoff")

        assert 1900 < len(" ".join(shown.partition("…")[0].split())) < 2100
        assert "    the whole: scrubjay get retry-001\n" in shown
        path = vault("status", "--json").json["path"]
        elsewhere = " ".join(query(vault, "backoff", "--db", path).split())
        assert f"get retry-001 --db {path}" in elsewhere
        pasted = query(vault, "backoff", "--md")
        assert "· the whole: `scrubjay get retry-001`" in pasted
        assert 60 < pasted.count("jitter") < 70

    @pytest.mark.parametrize("profile", ["vault", "default", "gno:keyword"])
    def test_full_shows_all_of_a_text_once_in_place_of_the_passage(self, vault, profile):
        """In every profile."""
        shown = vault("query", "backoff", "--profile", profile, "--full").out

        assert shown.count("jitter") == 100
        assert "…" not in shown
        assert "the whole" not in shown

    def test_other_profiles_show_passages(self, vault):
        """As before, and no context."""
        shown = vault("query", "backoff", "--profile", "default").out

        assert shown.count("jitter") < 15
        assert "context" not in vault("query", "signature", "--profile", "default").out

    def test_a_long_document_is_shown_by_its_passage(self, vault, tmp_path):
        """Its beginning would not say why it was found."""
        filler = "\n\n".join(f"Paragraph {n} speaks of the weather." for n in range(200))
        file = tmp_path / "book.md"
        file.write_text(f"# Book\n\n{filler}\n\nThe zeppelin lands.\n", encoding="utf-8")
        vault("ingest", str(file), "--no-embed")

        shown = query(vault, "zeppelin")

        assert "The zeppelin lands." in shown
        assert "Paragraph 3 " not in shown
        assert "the whole: scrubjay get" in shown

    def test_a_file_is_shown_without_its_front_matter(self, vault, tmp_path):
        """What stands there is shown beside it."""
        file = tmp_path / "entry.md"
        file.write_text("---\nseverity: warning\n---\nThe dynamo hums.\n", encoding="utf-8")
        vault("ingest", str(file), "--no-embed")

        shown = query(vault, "dynamo")

        assert "The dynamo hums." in shown
        assert "severity:" not in shown
        assert "· warning ·" in " ".join(shown.split())  # a long path breaks the line


class TestFull:
    """The mode `full`, by its name: nothing is left out."""

    @pytest.mark.parametrize("form", [[], ["--md"]])
    def test_the_whole_entry_is_shown(self, vault, form):
        """SV-1: however long it is, and in Markdown too."""
        shown = query(vault, "backoff", "--mode", "full", *form)

        assert shown.count("jitter") == 100
        assert "the whole:" not in shown

    def test_json_has_the_whole_entry_and_the_breakdown(self, vault):
        """SV-1: in the default mode as well, which is full."""
        for mode in ([], ["--mode", "full"]):
            found = vault("query", "backoff", "-n1", "--profile", "vault", *mode, "--json").json
            (hit,) = found["hits"]
            assert (hit["text"], found["entries"]) == (LONG, "whole")
            assert list(hit["why"]) == [
                *("semantic", "vector", "severity"),
                *("temporal_decay", "tag_overlap", "domain_match"),
            ]

    @pytest.mark.parametrize("form", [[], ["--md"], ["--mode", "full"], ["--full"]])
    def test_the_breakdown_stands_beside_each_entry(self, vault, form):
        """SV-1: the six signals, without --explain; in a scan they do not matter."""
        asked = ("signature", "-n1", "--tag", "auth", "--domain", "security")
        shown = " ".join(query(vault, *asked, *form).replace("\\", "").split())

        signals = r"semantic 0\.\d{3} · vector 0\.\d{3} · severity 1\.000 · temporal_decay 1\.000"
        assert re.search(signals + r" · tag_overlap 1\.000 · domain_match 1\.000", shown)
        assert "tag_overlap" not in query(vault, *asked, "--scan")

    def test_what_is_no_entry_has_its_fixed_score(self, vault):
        """SV-13: a message is not scored by signals."""
        vault("say", "the signature was discussed", "--session", "s")

        shown = query(vault, "signature")

        assert shown.count("memory 0.500") == 1
        assert shown.count("severity") == 2  # of the two entries


class TestBrief:
    def test_a_scan_has_what_is_needed_to_choose(self, vault):
        """SV-1: id, title, score, type, domain, tags, 120 characters and a token estimate."""
        asked = ("query", "backoff", "-n1", "--profile", "vault", "--scan", "--json")
        (hit,) = vault(*asked).json["hits"]
        shown = " ".join(query(vault, "signature", "--scan").split())

        assert (hit["snippet"], hit["token_estimate"]) == (LONG[:120], -(-len(LONG) // 4))
        for part in ("JWT", "0.", "fact · auth", "critical · Security", "~10 tokens · jwt-001"):
            assert part in shown
        pasted = query(vault, "signature", "--scan", "--md")
        for part in (
            "JWT",
            "score 0.",
            "fact · auth · critical · Security",
            "~10 tokens · `jwt-001`",
        ):
            assert part in pasted

    def test_a_profile_of_ones_own_shows_what_reading_costs(self, vault, home, monkeypatch):
        """SV-1: by what the search did, not by what the profile is called."""
        file = home / "s.toml"
        file.write_text('[profile.brief]\nbase = "vault:scan"\n', encoding="utf-8")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))

        for way in (["--profile", "brief"], ["--profile", "vault", "--scan"]):
            shown = vault("query", "backoff", *way).out
            assert "· ~775 tokens · retry-001" in " ".join(shown.split())
            assert " …\n" in shown
        assert "tokens" not in query(vault, "backoff")


class TestByWord:
    def test_search_leaves_the_vectors_out(self, vault):
        """SV-6: by word alone, with the weights that go with it; nothing is missed."""
        done = vault("search", "signature", "--profile", "vault", "--tag", "auth", "--explain")
        asked = vault(
            "search", "signature", "--profile", "vault", "--domain", "security", "--json"
        )

        assert done.code == 0
        assert "tag_overlap 0.150000 = 0.15 × 1.000000" in " ".join(done.out.split())
        assert "note:" not in done.out
        assert asked.json["hits"][0]["why"]["domain_match"] == 1.0
        assert (asked.json["mode"], asked.json["degraded"]) == ("keyword", [])

    def test_vsearch_says_that_it_cannot(self, vault):
        """And what can."""
        done = vault("vsearch", "signature", "--profile", "vault")

        assert done.code == 2
        assert "cannot search by meaning alone" in done.err
        assert "scrubjay query --profile vault" in done.err

    def test_neither_can_a_profile_that_asks_no_word(self, vault):
        """gnosis has vectors and topics."""
        done = vault("search", "signature", "--profile", "gnosis")

        assert (done.code, "cannot search by keyword alone" in done.err) == (2, True)

    def test_tags_go_with_a_profile_that_takes_them(self, vault):
        """Which is named; by meaning alone there is none."""
        assert "use profile vault" in vault("search", "signature", "--tag", "auth").err
        assert "--tag" not in vault("vsearch", "--help").out
        assert "--tag" in vault("search", "--help").out


def test_a_stage_with_many_numbers_is_wrapped_under_itself(vault, monkeypatch):
    """A call of 300 letters is not for a screen of 60."""
    monkeypatch.setenv("COLUMNS", "60")

    shown = vault("query", "backoff", "--profile", "vault", "--scan", "--explain").out

    lines = shown.partition("stage\n")[2].partition("\n\n")[0].splitlines()
    assert max(map(len, lines)) <= 60
    first = next(place for place, line in enumerate(lines) if " signals(" in line)
    column = lines[first].index("signals(")
    assert lines[first + 1].startswith(" " * (column + 4))
    assert "with_vectors={semantic: 0.25," in " ".join(shown.split())
