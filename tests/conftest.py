"""A home of its own for every test, a clock that stands still, and a model that needs no weights."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent / "support"))  # tests in any folder import these
sys.path.insert(1, str(Path(__file__).parent.parent))  # and the servers in tools

import bundled
from clocks import Clock
from fakes import HashingEmbedder
from running import running
from tools.servers import FalkorDB, Postgres, Qdrant

import scrubjay
from scrubjay.models import NoteReader
from scrubjay.models.bundled import READER, find_bundled
from scrubjay.models.registry import load_reader

# Tests see no package scrubjay-models, installed or not, unless they ask for it (bundled_models).
WITHOUT_MODELS = str(Path(__file__).parent / "support" / "without_models")
sys.path.insert(0, WITHOUT_MODELS)
PYTHONPATH = (WITHOUT_MODELS, *filter(None, [os.environ.get("PYTHONPATH")]))
os.environ["PYTHONPATH"] = os.pathsep.join(PYTHONPATH)  # for the processes that they start

# No test finds the model process of this machine, or leaves one; those that need one make their own.
os.environ["SCRUBJAY_SHARED_MODELS"] = "0"

# A store on a busy machine is slow now and then; that is no reason to fail.
settings.register_profile(
    "scrubjay",
    deadline=None,
    derandomize="CI" in os.environ,  # a check of a change fails by that change alone
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("scrubjay")


SERVERS = {"postgres", "qdrant", "falkordb"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a server or a browser, so that `make test-fast` can leave it out."""
    for item in items:
        needs = set(getattr(item, "fixturenames", ()))
        if needs & SERVERS:
            item.add_marker("server")
        if "browser" in needs:
            item.add_marker("browser")


@pytest.fixture(autouse=True)
def nobody_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of the person who runs the tests, and no store of theirs."""
    mine = ("DB", "USER", "PROFILE", "CONFIG", "EMBEDDER", "VECTORS", "GRAPH", "TENANT")
    mine += ("POSTGRES_PASSWORD", "QDRANT_API_KEY", "FALKORDB_PASSWORD")
    for role in ("RERANKER", "GENERATOR"):
        mine += (role, f"{role}_API_KEY", f"{role}_TIMEOUT_S", f"{role}_DIALECT")
    about = ("API_KEY", "TIMEOUT_S", "QUERY_PROMPT", "TEXT_PROMPT", "POOLING", "WINDOW", "DIMS")
    mine += ("DEVICE", *(f"EMBEDDER_{name}" for name in about))
    for name in mine:
        monkeypatch.delenv(f"SCRUBJAY_{name}", raising=False)
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)  # a worker of pytest-xdist has it
    monkeypatch.setenv("SCRUBJAY_HOME", str(tmp_path / "home"))


@pytest.fixture
def bundled_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package scrubjay-models of this checkout, for this process and those that it starts."""
    yield from bundled.install(tmp_path / "installed", monkeypatch)


@pytest.fixture
def reader(bundled_models: Path) -> NoteReader:
    """The reader of notes, of the package scrubjay-models of this checkout."""
    if find_bundled(READER) is None:
        pytest.skip("this checkout has no reader of notes in packages/scrubjay-models")
    return load_reader()


@pytest.fixture
def clock() -> Clock:
    """Noon on 3 May 2026, until a test moves it."""
    return Clock()


@pytest.fixture
def embedder() -> HashingEmbedder:
    """A model for which "car" and "automobile" mean the same."""
    return HashingEmbedder(meanings={"automobil": "car"})


@pytest.fixture
def memory(tmp_path: Path, clock: Clock, embedder: HashingEmbedder) -> Iterator[scrubjay.Store]:
    """An empty store in a file, with the fixed model and the fixed clock."""
    with scrubjay.open(tmp_path / "notes.db", embedder=embedder, clock=clock) as store:
        yield store


@pytest.fixture
def words_only(tmp_path: Path, clock: Clock) -> Iterator[scrubjay.Store]:
    """An empty store in a file, without any model."""
    with scrubjay.open(tmp_path / "words.db", embedder=False, clock=clock) as store:
        yield store


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL with pgvector."""
    yield from running(Postgres)


@pytest.fixture(scope="session")
def qdrant() -> Iterator[Qdrant]:
    """A Qdrant."""
    yield from running(Qdrant)


@pytest.fixture(scope="session")
def falkordb() -> Iterator[FalkorDB]:
    """A FalkorDB."""
    yield from running(FalkorDB)


NUMBERS = count(1)


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """The address of an empty database of the test's own."""
    name = f"test_{next(NUMBERS)}"
    postgres.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    yield postgres.url_of(name)
    postgres.start()  # where the test stopped it
    postgres.resume()
    postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


EMPTYING = """
DO $$ DECLARE one text; BEGIN
  SET LOCAL search_path = scrubjay, public;
  FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'scrubjay' AND tablename <> 'meta'
    ORDER BY tablename <> 'memories'
  LOOP EXECUTE format('DELETE FROM %I', one); END LOOP;
  DELETE FROM meta WHERE key NOT IN ('schema', 'commits');
  DELETE FROM outbox;
  INSERT INTO keys VALUES ('store', uuid_send(gen_random_uuid()));
  DROP SCHEMA IF EXISTS another CASCADE;
END $$
"""


@pytest.fixture(scope="session")
def made_postgres_url(postgres: Postgres) -> str:
    """The address of a database in which a store was made."""
    from scrubjay.storage.postgres.connection import PostgresDatabase
    from scrubjay.text.urls import POSTGRES, parse_server_url

    postgres.execute("CREATE DATABASE made TEMPLATE template0")
    url = postgres.url_of("made")
    made = PostgresDatabase(parse_server_url(url, POSTGRES, "store"))
    assert made.vectors is not None  # which makes its table
    made.close()
    return url


@pytest.fixture
def emptied_postgres_url(postgres: Postgres, made_postgres_url: str) -> Iterator[str]:
    """The address of a store of nothing: to empty its tables is far quicker than to make them."""
    yield made_postgres_url
    postgres.execute(EMPTYING, database="made")


@pytest.fixture
def qdrant_url(qdrant: Qdrant) -> Iterator[str]:
    """The address of a collection of the test's own, which is not there yet."""
    name = f"test_{next(NUMBERS)}"
    yield f"{qdrant.url}/{name}"
    qdrant.start()
    qdrant.resume()
    qdrant.drop(f"{name}-")


@pytest.fixture
def falkordb_url(falkordb: FalkorDB) -> Iterator[str]:
    """The address of a graph of the test's own, which is not there yet."""
    yield f"{falkordb.url}/test_{next(NUMBERS)}"
    falkordb.start()
    falkordb.resume()
