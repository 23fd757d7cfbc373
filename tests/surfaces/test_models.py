"""`models` and `doctor`: the reranker and the generator, named, here, and answering or not."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import jsonschema
import pytest

import scrubjay
from endpoints import EndpointServer
from scrubjay import InvalidInput, config
from scrubjay.doctor import examine
from tiny_models import make


@pytest.fixture
def reranker(tmp_path, monkeypatch):
    """A real, tiny cross-encoder in a folder, chosen by the environment."""
    folder = make(tmp_path / "tiny")
    monkeypatch.setenv("SCRUBJAY_RERANKER", str(folder))
    return folder


def finding(component, **settings):
    found = examine(config.load()._replace(**settings))
    return next(one for one in found if one.component == component)


def nobody():
    """An address where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1#small"


class TestModels:
    def test_the_list_names_the_reranker_and_the_generator(self, shell, monkeypatch):
        """Late interaction and none, until somebody chooses."""
        assert shell("models", "--json").json["reranker"] == "late"
        assert shell("models", "--json").json["generator"] == "none"
        monkeypatch.setenv("SCRUBJAY_GENERATOR", "http://localhost:1/v1#small")
        assert "generator  http://localhost:1/v1#small" in shell("models").out

    def test_calibrate_measures_the_reranker_and_keeps_it_in_the_store(self, shell, reranker):
        """R-12: the depth of a search comes from this number, until it is measured again."""
        shell("add", "The kettle whistles")
        printed = shell("models", "calibrate", "--json").json

        schema = Path(scrubjay.__file__).parent / "surfaces" / "schemas" / "calibrate.json"
        jsonschema.validate(printed, json.loads(schema.read_text(encoding="utf-8")))
        assert printed["ms_per_1000_chars"] > 0
        assert "reads a thousand characters in" in shell("models", "calibrate").out

    def test_there_is_nothing_to_calibrate_without_a_reranker(self, shell):
        """It says which setting chooses one."""
        shell("add", "The kettle whistles")
        outcome = shell("models", "calibrate")

        assert outcome.code == 1
        assert "SCRUBJAY_RERANKER" in outcome.err

    def test_pull_refuses_what_no_hub_could_have(self, shell):
        """A path with a slash that is neither a folder nor a name of the hub."""
        outcome = shell("models", "pull", "no/such/folder")

        assert outcome.code == 2
        assert "owner/name" in outcome.err

    def test_a_search_with_a_model_that_is_not_here_says_how_to_fetch_it(self, shell, monkeypatch):
        """GN-15: the shell fetches it where it may; offline it may not, and the search goes on."""
        monkeypatch.setenv("SCRUBJAY_RERANKER", "someone/some-reranker")
        shell("add", "The kettle whistles", "--no-embed")
        found = shell("query", "kettle", "--json").json

        assert [hit["text"] for hit in found["hits"]] == ["The kettle whistles"]
        (said,) = [one for one in found["degraded"] if "some-reranker" in one]
        assert "SCRUBJAY_OFFLINE forbids fetching it" in said


class TestDoctor:
    def test_without_a_setting_late_interaction_reranks(self):
        """GN-15: the provider that is always there."""
        found = finding("reranker")

        assert (found.state, found.fix) == ("ok", "")
        assert "late interaction on the token vectors of all-MiniLM-L6-v2" in found.detail

    def test_a_reranker_that_is_switched_off_is_named_with_the_way_back(self):
        """GN-15: no reranker means fusion."""
        found = finding("reranker", reranker=config.Access("none"))

        assert found.state == "degraded"
        assert "order of fusion" in found.detail
        assert found.fix.endswith("SCRUBJAY_RERANKER='late'")

    def test_a_model_of_the_hub_that_is_not_here_comes_with_the_command(self):
        """Nothing is fetched by looking."""
        found = finding("reranker", reranker=config.Access("someone/some-reranker"))

        assert (found.state, found.fix) == (
            "missing",
            "scrubjay models pull someone/some-reranker",
        )

    def test_a_reranker_in_a_folder_is_well(self, reranker):
        """It needs no network."""
        assert finding("reranker").state == "ok"

    def test_no_generator_is_fine_and_says_how_to_have_one(self):
        """GN-15: no LLM means no expansion."""
        found = finding("generator")

        assert found.state == "ok"
        assert "queries are not expanded" in found.detail
        assert "SCRUBJAY_GENERATOR='http://localhost:11434/v1#qwen3:1.7b'" in found.detail

    @pytest.mark.parametrize("role", ["reranker", "generator"])
    def test_an_address_is_tried_but_nothing_is_asked_there(self, role):
        """A server that is up is well; one that is down is named with its address."""
        with EndpointServer() as server:
            up = finding(role, **{role: config.Access(f"{server.url}#small")})
            assert server.requests == []
        down = finding(role, **{role: config.Access(nobody())})

        assert (up.state, down.state) == ("ok", "degraded")
        assert "nobody answers at 127.0.0.1:" in down.detail
        assert down.fix == "start the server, then: scrubjay doctor"

    @pytest.mark.parametrize("role", ["reranker", "generator"])
    def test_a_name_that_means_nothing_is_failed(self, role):
        """With what would be right."""
        found = finding(role, **{role: config.Access("nonsense")})

        assert found.state == "failed"
        assert "http://localhost:" in found.detail

    def test_a_model_that_failed_lately_is_named(self, tmp_path, monkeypatch):
        """What searches leave alone, doctor says."""
        monkeypatch.setenv("SCRUBJAY_GENERATOR", nobody())
        with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
            store.add("The kettle whistles")
            assert len(store.search("what whistles", profile="gno", mode="thorough")) == 1
        found = examine(config.load(db=str(tmp_path / "notes.db")))

        (outage,) = [one for one in found if one.component == "outage"]
        assert outage.state == "degraded"
        assert "generator" in outage.detail


class TestSettings:
    def test_a_model_is_reached_as_file_and_environment_say(self, tmp_path, monkeypatch):
        """The environment wins; the key comes from the variable that the file names."""
        file = tmp_path / "scrubjay.toml"
        file.write_text(
            'reranker = "http://one/rerank#a"\nreranker_dialect = "tei"\n'
            'reranker_timeout_s = 3\nreranker_api_key_env = "MY_KEY"\n'
            'generator = "http://two/v1#b"\n',
            encoding="utf-8",
        )
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
        monkeypatch.setenv("MY_KEY", "secret")
        monkeypatch.setenv("SCRUBJAY_GENERATOR", "http://three/v1#c")
        monkeypatch.setenv("SCRUBJAY_GENERATOR_TIMEOUT_S", "2.5")
        settings = config.load()

        assert settings.reranker == ("http://one/rerank#a", "secret", 3.0, "tei")
        assert settings.generator == ("http://three/v1#c", "", 2.5, "")
        assert "secret" not in repr(settings)

    @pytest.mark.parametrize("given", ["0", "-1", "soon", "nan", "1e9"])
    def test_a_time_limit_is_a_number_of_seconds(self, monkeypatch, given):
        """Anything else is refused when settings are read."""
        monkeypatch.setenv("SCRUBJAY_RERANKER_TIMEOUT_S", given)
        with pytest.raises(InvalidInput, match="give seconds above 0, 10 is usual"):
            config.load()

    @pytest.mark.parametrize("role", ["reranker", "generator"])
    def test_a_wrong_name_is_refused_with_what_would_be_right(self, tmp_path, monkeypatch, role):
        """An argument at once; a setting by the first search that wants it, not by a keyword search."""
        for wrong in ("nonsense", object()):
            with pytest.raises(InvalidInput, match=r"There is no|it needs name and"):
                scrubjay.open(tmp_path / "notes.db", embedder=False, **{role: wrong})
        monkeypatch.setenv(f"SCRUBJAY_{role.upper()}", "nonsense")
        with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
            store.add("The kettle whistles")
            assert len(store.search("kettle", mode="keyword")) == 1
            with pytest.raises(InvalidInput, match="There is no"):
                store.search("kettle", profile="gno", mode="thorough")
