"""`models` and `doctor`: the reranker and the generator, named, here, and answering or not."""

from __future__ import annotations

import socket
import sqlite3
from contextlib import closing

import jsonschema
import pytest
from endpoints import EndpointServer
from tiny_models import make

import scrubjay
from scrubjay import InvalidInput, config
from scrubjay.models import registry
from scrubjay.ops.doctor import Finding
from scrubjay.ops.doctor.run import examine
from scrubjay.search import profiles
from scrubjay.surfaces import schemas


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

        jsonschema.validate(printed, schemas.load()["calibrate"])
        assert printed["ms_per_1000_chars"] > 0
        assert "reads 1,000 characters in" in shell("models", "calibrate").out

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
    def test_without_a_setting_late_interaction_reranks(self, monkeypatch):
        """GN-15: the provider that is there with the model, and as missing as that."""
        detail = "late interaction on the token vectors of all-MiniLM-L6-v2"
        found, model = finding("reranker"), finding("model")
        assert (found.state, found.fix) == ("missing", model.fix)
        assert found.detail == f"{detail}, which is not on this machine"
        monkeypatch.setattr("scrubjay.ops.doctor.installation.is_cached", lambda card: True)
        assert finding("reranker") == Finding("reranker", "ok", detail)

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
        assert "no answer at 127.0.0.1:" in down.detail
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

    def test_an_old_failure_is_forgotten(self, tmp_path):
        """Nothing rests longer than ten minutes."""
        with scrubjay.open(tmp_path / "notes.db", embedder=False) as store:
            store.add("The kettle whistles")
        with closing(sqlite3.connect(tmp_path / "notes.db")) as db, db:
            db.execute("INSERT INTO kept VALUES ('outage', 'generator x', '[1, 1, \"y\"]', 1)")
        found = examine(config.load(db=str(tmp_path / "notes.db")))

        assert not [one for one in found if one.component == "outage"]

    def test_a_folder_without_a_model_and_a_name_that_no_host_can_have(self, tmp_path):
        """No advice that cannot work, and no traceback."""
        empty = tmp_path / "empty"
        empty.mkdir()
        nobody_has = f"http://{'x' * 70}.example/v1#m"

        assert finding("reranker", reranker=config.Access(str(empty))).fix == ""
        assert finding("generator", generator=config.Access(nobody_has)).state == "degraded"


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
        with pytest.raises(InvalidInput, match="give seconds above 0"):
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

    def test_a_key_goes_only_where_the_settings_name_a_place(self, tmp_path, monkeypatch):
        """Not to the address of an argument, nor to one of the environment."""
        file = tmp_path / "scrubjay.toml"
        file.write_text(
            'reranker = "http://far.example/rerank"\nreranker_api_key_env = "MY_KEY"\n'
            'reranker_dialect = "tei"\n',
            encoding="utf-8",
        )
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
        monkeypatch.setenv("MY_KEY", "secret")
        with EndpointServer() as server:
            with scrubjay.open(":memory:", embedder=False, reranker=server.url) as store:
                store.add("The kettle whistles")
                store.search("kettle")
            assert server.requests
            assert all("secret" not in str(request) for request in server.requests)
            monkeypatch.setenv("SCRUBJAY_RERANKER", server.url)
            assert config.load().reranker == (server.url, "", 10.0, "")

    def test_what_an_address_hides_is_shown_nowhere(self, shell, monkeypatch):
        """A login, or a key in the query of a URL."""
        monkeypatch.setenv("SCRUBJAY_RERANKER", "http://me:PASSWD@host/rerank?key=SECRET#m")
        for shown in (shell("models").out, shell("models", "--json").out, repr(config.load())):
            assert "http://host/rerank#m" in shown
            assert "PASSWD" not in shown
            assert "SECRET" not in shown

    def test_offline_asks_no_other_machine(self, tmp_path, monkeypatch):
        """What is on this machine is asked all the same."""
        monkeypatch.setenv("SCRUBJAY_OFFLINE", "1")
        with EndpointServer() as server:
            with scrubjay.open(tmp_path / "a.db", embedder=False, reranker=server.url) as store:
                store.add("The kettle whistles")
                store.search("kettle")
            assert server.requests
        far = "http://far.example/rerank#m"
        with scrubjay.open(tmp_path / "b.db", embedder=False, reranker=far) as store:
            store.add("The kettle whistles")
            (_, said) = store.search("kettle").degraded
        assert said == (
            "cross_encoder: SCRUBJAY_OFFLINE forbids to ask http://far.example/rerank,"
            " another machine"
        )

    @pytest.mark.parametrize("name", ["default", "gno"])
    def test_a_profile_of_ours_cannot_be_hidden(self, tmp_path, monkeypatch, name):
        """It would be ignored, or worse."""
        file = tmp_path / "scrubjay.toml"
        file.write_text(f"[profile.{name}]\nrrf = {{ k = 3 }}\n", encoding="utf-8")
        monkeypatch.setenv("SCRUBJAY_CONFIG", str(file))
        with pytest.raises(InvalidInput, match="name of a built-in profile"):
            config.load()
        assert {one.partition(":")[0] for one in profiles.built_in()} == set(
            config.BUILT_IN_PROFILES
        )

    def test_the_folder_one_stands_in_does_not_change_what_a_name_means(
        self, tmp_path, monkeypatch
    ):
        """A cloned repository must not bring a model along under another's name."""
        make(tmp_path / "someone" / "model")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InvalidInput, match="There is no reranker ''"):
            scrubjay.open(":memory:", embedder=False, reranker="")
        with scrubjay.open(":memory:", embedder=False, reranker="someone/model") as store:
            store.add("The kettle whistles")
            assert any(
                "someone/model is not here" in one for one in store.search("kettle").degraded
            )

    def test_a_plug_in_that_does_not_load_costs_itself_only(self, monkeypatch):
        """R-6: whatever it raises; the other modes do not even look."""

        class Broken:
            name, value = "theirs", "their.module:make"

            def load(self):
                raise RuntimeError("a library is missing")

        monkeypatch.setattr(registry, "_plugins", lambda group: {"theirs": Broken()})
        with scrubjay.open(
            ":memory:", embedder=False, reranker="theirs", generator="theirs", profile="gno"
        ) as store:
            store.add("The kettle whistles")
            found = store.search("kettle", mode="thorough")
        assert len(found) == 1
        assert sum("a library is missing" in one for one in found.degraded) == 2

    def test_the_embedder_is_pulled_by_its_full_name_too(self, shell):
        """Its precision is no name of the hub."""
        outcome = shell("models", "pull", "all-MiniLM-L6-v2/fp32")

        assert "SCRUBJAY_OFFLINE" in outcome.err
        assert "hub" not in outcome.err
