"""Other users of the machine: a server answers the owner's key and API keys, and nobody else."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

import scrubjay
from scrubjay.surfaces.callers import Principal
from scrubjay.surfaces.http.auth import CACHE_S, ApiKeyLookup
from scrubjay.surfaces.http.settings import ServerSettings
from scrubjay.surfaces.owner_key import ensure_owner_key
from scrubjay.text.api_key_format import new_secret

from .conftest import WAIT_S, Client, validate
from .test_load import BOTH, initialize

OWNER = new_secret()


@pytest.fixture
def open_client(serve):
    """A client without a key at a server that has an owner."""
    return serve(owner_key=OWNER)


@pytest.fixture
def owner(open_client):
    return Client(open_client.url, OWNER)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/status", None),
        ("GET", "/v1/ls", None),
        ("POST", "/v1/search", {"query": "x"}),
        ("POST", "/v1/add", {"text": "x"}),
        ("POST", "/v1/forget", {"id": "x"}),
        ("GET", "/v1/openapi.json", None),
        ("GET", "/v1/figures", None),
        ("GET", "/metrics", None),
        ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        ("POST", "/session/link", None),
    ],
)
def test_a_local_program_without_the_key_is_refused(open_client, method, path, body):
    """And is told what to do, but neither the key nor where it is."""
    answer = open_client.ask(method, path, body)

    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "Authorization: Bearer" in answer.problem
    assert "scrubjay serve printed" in answer.problem
    assert OWNER not in answer.problem
    assert "/" not in answer.problem.replace("/v1", "")


def test_health_and_the_static_page_need_no_key(open_client):
    """The data of the page does."""
    for path in ("/livez", "/readyz", "/", "/ui/icon.svg", "/session"):
        assert open_client.get(path).status == 200
    page = open_client.get("/", Accept="text/html")
    assert page.status == 200
    for script in re.findall(r'(?:src|href)="/(ui/[^"]+)"', page.body.decode()):
        assert open_client.get(f"/{script}").status == 200
    told = open_client.get("/session").json
    assert (told["signed_in"], told["asks_for_token"], told["store"]) == (False, False, None)


def test_the_key_does_everything(owner):
    assert owner.post("/v1/add", {"text": "mine", "id": "mine"}).status == 200
    assert owner.get("/v1/get?id=mine").json["memories"][0]["text"] == "mine"
    assert owner.get("/v1/doctor").status in (200, 405)
    assert owner.post("/v1/forget", {"id": "mine"}).status == 200
    assert owner.get("/metrics").status == 200
    assert Client(owner.url, new_secret()).get("/v1/status").status == 401
    assert Client(owner.url, OWNER[:-1]).get("/v1/status").status == 401


def test_the_key_has_no_rate_limit_unless_one_is_set(owner, serve):
    """Without a key there was none, either."""
    assert {owner.get("/v1/profiles?name=gno").status for _ in range(250)} == {200}
    slow = Client(serve(owner_key=OWNER, rate_per_s=0.05).url, OWNER)
    assert [slow.get("/v1/status").status for _ in range(2)] == [200, 429]


def signed_in(client, page):
    """The headers of a browser that opened a link."""
    own = {"Origin": client.url, "Sec-Fetch-Site": "same-origin"}
    answer = client.ask("POST", "/session", {"code": page.partition("code=")[2]}, own)
    assert answer.status == 200
    own |= {"Cookie": answer.headers["set-cookie"].partition(";")[0]}
    return own | {"X-Scrubjay-Page": answer.json["key"]}


def test_a_link_of_the_owner_signs_in_and_goes_on_beside_api_keys(open_client, owner, db):
    link = owner.ask("POST", "/session/link").json
    validate("login_link", link)
    own = signed_in(open_client, link["page"])
    assert open_client.ask("GET", "/v1/status", headers=own).status == 200
    assert open_client.ask("POST", "/session/link", headers=own).status == 200

    with scrubjay.open(db, embedder=False) as store:
        admin = store.api_keys.create("admin", scopes=["admin"], tenant="acme").secret
        reader = store.api_keys.create("reader", scopes=["read"]).secret
    time.sleep(CACHE_S)
    assert open_client.ask("GET", "/v1/status", headers=own).status == 200
    assert owner.ask("POST", "/session/link").status == 200
    assert open_client.get("/session").json["asks_for_token"] is True
    # A link is for the owner: an API key of a tenant must not become the owner by it.
    assert Client(owner.url, admin).ask("POST", "/session/link").status == 422
    assert Client(owner.url, reader).ask("POST", "/session/link").status == 403
    assert Client(owner.url, reader).get("/v1/status").status == 200
    assert Client(owner.url, reader).post("/v1/forget", {"id": "x"}).status == 403


def test_mcp_follows_the_same_rule(stores):
    from scrubjay.surfaces.http.app import ServerContext
    from scrubjay.surfaces.http.mcp_mount import principal_in, threads_of
    from scrubjay.surfaces.http.metrics import Monitoring
    from scrubjay.surfaces.mcp.server import make_server

    from .conftest import served

    find = ApiKeyLookup(stores, loopback=True, owner_key=OWNER)
    made = ServerContext.create(stores, find, ServerSettings(), Monitoring(), owner_key=OWNER)
    mcp = make_server(stores, principal_in, "default", threads_of(made.workers))
    with served(made._replace(mcp=mcp)) as client:
        assert client.post("/mcp", initialize(), Accept=BOTH).status == 401
        owner = Client(client.url, OWNER)
        assert owner.post("/mcp", initialize(), Accept=BOTH).status == 200


def test_key_open_answers_without_a_key_until_the_store_is_another(stores, db):
    """An empty file in the place of the store does not inherit that it was open."""
    find = ApiKeyLookup(stores, loopback=True, owner_key=OWNER)
    assert find(None) is None
    with scrubjay.open(db, embedder=False) as store:
        store.api_keys.open_door()
        assert find(None) == Principal()
        with store._context.db.write() as connection:
            connection.execute("DELETE FROM meta WHERE key = 'asks_for_tokens'")
        assert store.api_keys.asks() is None
        assert find(None) is None


def test_without_auth_the_key_is_still_accepted(stores, db):
    """It is in the settings of agents."""
    find = ApiKeyLookup(stores, loopback=True, owner_key=OWNER, no_auth=True)
    assert find(None) == find(OWNER) == Principal()
    with scrubjay.open(db, embedder=False) as store:
        store.api_keys.create("first")
    assert find(None) is None
    assert find(OWNER) == Principal()


def test_nobody_gets_in_without_a_key_from_other_machines(stores, db):
    find = ApiKeyLookup(stores, loopback=False, owner_key=OWNER, no_auth=True)
    assert find(None) is None
    assert find("") is None
    assert find(OWNER) == Principal()
    assert ApiKeyLookup(stores, loopback=True)(None) is None
    assert ApiKeyLookup(stores, loopback=True)("") is None


def test_a_server_writes_its_key_and_prints_the_command_that_reads_it(process, bare_shell):
    """The same key after a restart; no secret is printed, or in the arguments of a process."""
    running = process()
    owner = running.owner()
    secret = owner.headers["Authorization"].split()[1]
    key_file = Path(running.key_file)
    assert key_file.name == "serve.key"
    if os.name != "nt":
        assert key_file.stat().st_mode & 0o777 == 0o600
    assert Client(owner.url).get("/v1/status").status == 401
    assert owner.get("/v1/status").status == 200

    link = bare_shell("signin", owner.url)
    as_json = bare_shell("signin", owner.url, "--json")
    assert link.code == 0
    validate("login_link", as_json.json)
    for page in (running.page, link.out.strip(), as_json.json["page"]):
        own = signed_in(Client(owner.url), page)
        assert owner.ask("GET", "/session", headers=own).json["scopes"][-1] == "admin"

    command = re.search(r"^try it: (curl .*)$", running.said(), re.M)
    assert command is not None
    assert secret not in running.said()
    assert "--no-auth" not in command[1]
    if shutil.which("curl"):
        done = subprocess.run([*shlex.split(command[1]), "-sf"], capture_output=True, check=True)
        assert b'"memories"' in done.stdout

    running.popen.send_signal(signal.SIGTERM)
    running.popen.wait(WAIT_S)
    again = process().client()
    assert Client(again.url, secret).get("/v1/status").status == 200


def test_no_auth_is_an_option_a_setting_and_key_open(process, bare_shell, db):
    assert process("--no-auth").client().get("/v1/status").status == 200
    assert not Path(os.environ["SCRUBJAY_HOME"], "serve.key").exists()
    running = process(env={"SCRUBJAY_SERVER_NO_AUTH": "1"})
    assert running.client().get("/v1/status").status == 200
    assert "try it: curl http://" in running.said()
    assert bare_shell("token", "open", "--db", str(db)).code == 0
    assert process().client().get("/v1/status").status == 200


def test_signin_says_what_is_wrong(bare_shell, process):
    """No server, another machine, a server of another user."""
    gone = bare_shell("signin", "http://127.0.0.1:9")
    assert (gone.code, "scrubjay serve" in gone.err) == (1, True)
    for url in ("https://127.0.0.1:1", "http://example.org", "http://10.0.0.1:8765", "http://["):
        away = bare_shell("signin", url)
        assert (away.code, "on this machine" in away.err) == (2, True)
    other = process(env={"SCRUBJAY_HOME": str(Path(os.environ["SCRUBJAY_HOME"]) / "other")})
    refused = bare_shell("signin", other.client().url)
    assert (refused.code, "requires an API key" in refused.err) == (1, True)


def test_no_auth_on_other_addresses_is_refused(bare_shell, db):
    refused = bare_shell("serve", "--no-auth", "--host", "0.0.0.0", "--port", "0", "--db", str(db))
    assert (refused.code, "--no-auth" in refused.err) == (2, True)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no permission bits")
def test_a_server_does_not_start_with_a_key_that_others_may_know(process, bare_shell, db):
    """Unless the store has API keys: then it does without the owner's."""
    key = ensure_owner_key()
    os.chmod(key.path, 0o644)

    refused = bare_shell("serve", "--port", "0", "--db", str(db))
    assert (refused.code, "other users" in refused.err) == (1, True)
    assert key.secret not in refused.err

    secret = bare_shell("key", "create", "laptop", "--db", str(db)).out.strip()
    running = process()
    client = running.client()
    assert Client(client.url, secret).get("/v1/status").status == 200
    assert Client(client.url, key.secret).get("/v1/status").status == 401
    assert "without the owner's key" in running.said()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can be another user")
def test_another_user_reads_and_forgets_nothing(process):
    """A process of another account: it can connect, and gets 401 for everything that is data."""
    owner = process().owner()
    assert owner.post("/v1/add", {"text": "mine", "id": "mine"}).status == 200
    child = os.fork()
    if child == 0:
        os.setgid(65534)
        os.setuid(65534)
        them = Client(owner.url)
        tried = [
            them.get("/v1/ls").status,
            them.post("/v1/forget", {"id": "mine"}).status,
            them.ask("POST", "/session/link").status,
            them.get("/livez").status,
        ]
        os._exit(0 if tried == [401, 401, 401, 200] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert owner.get("/v1/get?id=mine").status == 200
